//! Checks of noise on every record.

use dp_accounting::{Budget, Epsilon};
use dp_audit::Method;
use dp_audit::harness::{Check, Effort, Found};
use dp_cluster::Points;
use dp_cluster::coreset::PrivateCoreset;
use dp_cluster::distance::NoisedPoints;
use dp_mechanism::{Mechanism, Nearby, Source};
use rand::RngExt;

use crate::map::{budget, domain, pair_of, pairs};

pub(crate) fn checks() -> Vec<Check> {
    let check = |id: &str, mechanism: &str, method, run: fn(Effort) -> Found| {
        Check::new(id, mechanism, "within", method, run)
    };
    vec![
        check("noised-within", "NoisedPoints, a whole run", Method::Exact, |effort| {
            moves(effort, honest)
        }),
        check("noised-receipt", "NoisedPoints, receipt", Method::Ledger, receipts),
    ]
}

pub(crate) fn honest(
    plan: &NoisedPoints,
    points: &Points,
    draws: &mut dyn Source,
) -> Vec<PrivateCoreset> {
    vec![plan.replay(points.view(), draws).0]
}

/// Whole runs on records that move by up to `rho`, from next to nothing to beyond the box.
pub(crate) fn moves(
    effort: Effort,
    run: fn(&NoisedPoints, &Points, &mut dyn Source) -> Vec<PrivateCoreset>,
) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(127);
    for (dim, n) in
        effort.of([(1, 9), (2, 5), (7, 2), (50, 1)], [(1, 900), (2, 90), (7, 20), (50, 9)])
    {
        for which in [0, 2] {
            let public_box = domain(dim, which);
            let diagonal = public_box.diagonal();
            for rho in [1e-12 * diagonal, 1e-5, 0.05, 3.0, diagonal, 1e3 * diagonal] {
                let near = Nearby::new(rho).expect("above 0");
                let plan = NoisedPoints::new(public_box.clone(), near, n as u64, budget());
                let plan = plan.expect("valid");
                let claimed = plan.receipt().zcdp().expect("Gaussian").get();
                let others: Vec<f64> =
                    (0..(n - 1) * dim).map(|_| rng.random_range(-12.0..12.0)).collect();
                let mut all = pairs(&public_box, 2, rho, &mut rng);
                all.push([0, 1].map(|end| {
                    let ends = |i| if end == 0 { public_box.min(i) } else { public_box.max(i) };
                    (0..dim).map(ends).collect()
                }));
                // The corners are neighbours from the diagonal on.
                let kept = if rho >= diagonal { all.len() } else { all.len() - 1 };
                for pair in &all[..kept] {
                    let run = |points: &Points, draws: &mut dyn Source| run(&plan, points, draws);
                    let seen = pair_of(&others, pair, dim, run, &mut rng);
                    found.see(seen.rho() / claimed, || {
                        format!("{dim} dimensions, rho {rho}: {pair:?}")
                    });
                }
            }
        }
    }
    found
}

fn receipts(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(128);
    for i in 0..effort.of(300_usize, 5_000) {
        let epsilon = 10_f64.powf(rng.random_range(-2.0..1.5));
        let delta = 10_f64.powf(rng.random_range(-12.0..-1.0));
        let near = Nearby::new(10_f64.powf(rng.random_range(-9.0..4.0))).expect("valid");
        let budget = Budget::new(epsilon, delta).expect("valid");
        let plan = NoisedPoints::new(domain(1 + i % 9, 0), near, 9, budget).expect("valid");
        let receipt = plan.receipt();
        let spent = receipt.epsilon().map_or(f64::INFINITY, Epsilon::get);
        found.see(if receipt.within_budget() { spent / epsilon } else { f64::INFINITY }, || {
            format!("epsilon {epsilon}, delta {delta}")
        });
    }
    found
}

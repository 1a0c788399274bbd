//! Checks of DPM as a whole.

use dp_accounting::{Budget, Epsilon};
use dp_audit::{Method, compare};
use dp_cluster::dpm::{BudgetSplit, Dpm, IntervalSize};
use dp_geometry::{Points, PublicBox};
use dp_mechanism::{ChaCha20Rng, Draws, Mechanism, SecureDraws};
use rand::RngExt;

use super::check::{Check, Effort, Found};
use super::{gaps, mutants, splits};

pub(super) fn checks() -> Vec<Check> {
    let check = |id, mechanism, method, resolution, run| Check {
        id,
        crate_name: "dp-cluster",
        mechanism,
        relation: "add-remove",
        method,
        resolution,
        run,
    };
    let exact = super::TOLERANCE;
    vec![
        check("dpm-cut", "Dpm, the cut of a node", Method::Exact, exact, |effort| {
            splits::worst_cut(effort, 2, splits::honest)
        }),
        check("dpm-cut-1d", "Dpm, the cut in one dimension", Method::Exact, exact, |effort| {
            splits::worst_cut(effort, 1, splits::honest)
        }),
        check(
            "dpm-interval",
            "Dpm, the estimated interval size",
            Method::Exact,
            exact,
            gaps::estimated_interval,
        ),
        check("dpm-transcript", "Dpm, a whole run, zCDP", Method::Exact, exact, transcripts),
        check("dpm-receipt", "Dpm, receipt against budget", Method::Ledger, exact, receipts),
        check("dpm-cut-sampled", "Dpm, the cut as drawn", Method::Statistical, 1.25, |effort| {
            splits::sampled_cut(effort, splits::honest, mutants::with_printed_sensitivity)
        }),
    ]
}

/// Runs that release the same values on neighbouring sets: what all draws give away together, as a
/// share of what the receipt says. The worst transcripts are those on which the new point's own
/// path is long; they are met by running.
fn transcripts(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(40);
    for (dim, n) in effort.of([(1, 50), (2, 400), (5, 300)], [(1, 500), (2, 5_000), (10, 3_000)]) {
        let public_box = PublicBox::cube(dim, -10.0, 10.0).expect("valid");
        for settings in [
            Dpm::builder(public_box.clone(), Budget::new(8.0, 1e-6).expect("valid")).max_depth(4),
            Dpm::builder(public_box.clone(), Budget::new(1.0, 1e-6).expect("valid"))
                .interval_size(IntervalSize::Estimated),
            Dpm::builder(public_box.clone(), Budget::new(30.0, 1e-3).expect("valid"))
                .split(BudgetSplit::PAPER)
                .minimum_share(1e-6)
                .max_depth(6),
        ] {
            let dpm = settings.build().expect("valid settings");
            let claimed = dpm.receipt().zcdp().expect("all steps are zCDP").get();
            let run = |points: &Points, draws: &mut dyn Draws| dpm.run(points.view(), draws);
            for (name, without) in families(dim, n, &mut rng) {
                for added in added_points(dim, &mut rng) {
                    let more = [without.clone(), added.clone()].concat();
                    let [a, b] = [without.clone(), more]
                        .map(|coords| Points::new(coords, dim).expect("whole rows"));
                    // Outcomes typical of the set without the point, then of the set with it.
                    for (a, b) in [(&a, &b), (&b, &a)] {
                        let comparison = compare(run, a, b, &mut SecureDraws::new(&mut rng));
                        found.see(comparison.rho() / claimed, || {
                            format!("{name} in {dim} dimensions and {added:.2?}: {comparison:?}")
                        });
                    }
                }
            }
        }
    }
    found.witness.truncate(400);
    found
}

/// The adversarial library: empty, one point, copies, far outliers, lattices, records that are not
/// numbers.
fn families(dim: usize, n: usize, rng: &mut ChaCha20Rng) -> Vec<(&'static str, Vec<f64>)> {
    let two = (0..n).flat_map(|i| vec![if i % 2 == 0 { -5.0 } else { 5.0 }; dim]).collect();
    vec![
        ("nothing", vec![]),
        ("one point", vec![0.1; dim]),
        ("copies", vec![7.0; n * dim]),
        ("copies on a cut", vec![0.312_5; n * dim]),
        ("two places", two),
        ("random points", (0..n * dim).map(|_| rng.random_range(-12.0..12.0)).collect()),
        ("lattice points", (0..n * dim).map(|_| f64::from(rng.random_range(-4..4))).collect()),
        ("not numbers", vec![f64::NAN; n * dim]),
    ]
}

fn added_points(dim: usize, rng: &mut ChaCha20Rng) -> Vec<Vec<f64>> {
    vec![
        vec![-10.0; dim],
        vec![f64::INFINITY; dim],
        vec![0.0; dim],
        vec![f64::NAN; dim],
        (0..dim).map(|_| rng.random_range(-10.0..10.0)).collect(),
    ]
}

/// What receipts add up to, as a share of the budget asked for, over random settings.
fn receipts(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(41);
    for i in 0..effort.of(1_000_usize, 20_000) {
        let epsilon = 10_f64.powf(rng.random_range(-2.0..2.0));
        let delta = 10_f64.powf(rng.random_range(-15.0..-1.0));
        let mut share = || rng.random_range(0.01..0.3);
        let split = if i % 2 == 0 {
            BudgetSplit::Zcdp { interval: share(), counts: share(), cuts: share(), sums: share() }
        } else {
            BudgetSplit::Pure { interval: share(), counts: share(), cuts: share() }
        };
        let public_box = PublicBox::cube(1 + i % 7, 0.0, 1.0).expect("valid");
        let dpm = Dpm::builder(public_box, Budget::new(epsilon, delta).expect("valid"))
            .split(split)
            .interval_size(if i % 3 == 0 {
                IntervalSize::Estimated
            } else {
                IntervalSize::default()
            })
            .max_depth(1 + i % 14)
            .build()
            .expect("the shares leave something for the sums");
        let receipt = dpm.receipt();
        let spent = receipt.epsilon().map_or(f64::INFINITY, Epsilon::get);
        let over = !receipt.within_budget();
        found.see(if over { f64::INFINITY } else { spent / epsilon }, || {
            format!("epsilon {epsilon}, delta {delta}, {split:?}")
        });
    }
    found
}

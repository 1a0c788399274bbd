//! Checks of coresets made from centres.

use dp_accounting::{AddRemove, Budget, Epsilon};
use dp_audit::harness::{Check, Effort, Found};
use dp_audit::{Method, Window, exact_law};
use dp_cluster::coreset::{CoresetFromCentres, CoresetFromCentresSettings, WeightRule};
use dp_geometry::Points;
use dp_mechanism::Mechanism;
use rand::RngExt;

use crate::neighbours::replay;

pub(crate) fn checks() -> Vec<Check> {
    let check = |id: &str, mechanism: &str, method, run: fn(Effort) -> Found| {
        Check::new(id, mechanism, "add-remove", method, run)
    };
    vec![
        check("coreset-law", "CoresetFromCentres, small sets", Method::Exact, small),
        check("coreset-transcript", "CoresetFromCentres, a whole run", Method::Exact, transcripts),
        check("coreset-receipt", "CoresetFromCentres, receipt", Method::Ledger, receipts),
    ]
}

pub(crate) fn plan(centres: Vec<f64>, dim: usize, budget: Budget) -> CoresetFromCentres {
    let centres = Points::new(centres, dim).expect("whole rows");
    let rule = WeightRule::Simplex;
    CoresetFromCentres::new(centres, budget, CoresetFromCentresSettings { weight_rule: rule })
        .expect("valid settings")
}

/// The exact law of two weights, for up to three records and one more.
fn small(_effort: Effort) -> Found {
    const EPSILON: f64 = 0.8;
    let plan = plan(vec![0.0, 1.0], 1, Budget::new(EPSILON, 0.0).expect("valid"));
    let claimed = plan.receipt().pure().expect("a pure loss").get();
    let mut found = Found::claim(claimed);
    let law = |records: &[f64]| {
        let points = Points::new(records.to_vec(), 1).expect("whole rows");
        exact_law(Window::new(-12, 16), |draws| {
            let weights = plan.replay(points.view(), draws).0.weights().to_vec();
            weights.into_iter().map(f64::to_bits).collect::<Vec<_>>()
        })
        .under(AddRemove)
    };
    for records in [vec![], vec![0.2], vec![0.9], vec![0.5, 0.6], vec![f64::NAN, 0.0, 1.0]] {
        for added in [0.0, 1.0, 0.5, f64::NAN, f64::INFINITY] {
            let with = [records.as_slice(), &[added]].concat();
            let (a, b) = (law(&records), law(&with));
            let loss = a.pure_loss(&b).max(b.pure_loss(&a));
            found.see(loss, || format!("{records:?} and {added}"));
        }
    }
    found
}

/// Whole runs, as a share of what the receipt says, in the measure of the noise.
fn transcripts(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    for shape in effort.of([(1, 50), (3, 200)], [(2, 5_000), (40, 2_000)]) {
        let dim = shape.0;
        let centres: Vec<f64> = (0..8 * dim).map(|i| (i * 7 % 19) as f64 - 9.0).collect();
        for delta in [0.0, 1e-3] {
            let plan = plan(centres.clone(), dim, Budget::new(0.5, delta).expect("valid"));
            let receipt = plan.receipt();
            replay(
                effort,
                66,
                shape,
                |points, draws| plan.replay(points.view(), draws).0,
                |seen, text| {
                    let share = match receipt.pure() {
                        Some(claimed) => seen.pure_loss() / claimed.get(),
                        None => seen.rho() / receipt.zcdp().expect("Gaussian counts").get(),
                    };
                    found.see(share, text);
                },
            );
        }
    }
    found
}

fn receipts(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(67);
    for i in 0..effort.of(1_000_usize, 20_000) {
        let epsilon = 10_f64.powf(rng.random_range(-3.0..2.0));
        let delta = if i % 3 == 0 { 0.0 } else { 10_f64.powf(rng.random_range(-15.0..-1.0)) };
        let receipt = plan(vec![0.0], 1, Budget::new(epsilon, delta).expect("valid")).receipt();
        let spent = receipt.epsilon().map_or(f64::INFINITY, Epsilon::get);
        let over = !receipt.within_budget();
        found.see(if over { f64::INFINITY } else { spent / epsilon }, || {
            format!("epsilon {epsilon}, delta {delta}")
        });
    }
    found
}

//! Checks of the search for a box.

use dp_accounting::{Budget, Epsilon};
use dp_audit::Method;
use dp_audit::harness::{Check, Effort, Found};
use dp_cluster::private_box::{FoundBox, PrivateBox};
use dp_cluster::{Points, PublicBox};
use dp_mechanism::{Mechanism, Source};
use rand::RngExt;

use crate::neighbours::replay;

pub(crate) fn checks() -> Vec<Check> {
    let check = |id: &str, mechanism: &str, method, run: fn(Effort) -> Found| {
        Check::new(id, mechanism, "add-remove", method, run)
    };
    vec![
        check("private-box-transcript", "PrivateBox, a whole run", Method::Exact, |effort| {
            transcripts(effort, honest)
        }),
        check(
            "private-box-receipt",
            "PrivateBox, receipt against budget",
            Method::Ledger,
            receipts,
        ),
    ]
}

/// How the draws of a plan reach the source; a mutant puts something in between.
pub(crate) type Through = fn(&PrivateBox, &Points, &mut dyn Source) -> FoundBox;

/// The plan as it is.
pub(crate) fn honest(plan: &PrivateBox, points: &Points, draws: &mut dyn Source) -> FoundBox {
    plan.replay(points.view(), draws).0
}

/// What all draws of a run give away together, as a share of what the receipt says: in boxes that end at the records and far beyond them.
pub(crate) fn transcripts(effort: Effort, through: Through) -> Found {
    let mut found = Found::claim(1.0);
    for shape in effort.of([(1, 300), (2, 300), (5, 200)], [(1, 2_000), (3, 5_000), (40, 1_000)]) {
        for (half, epsilon) in [(10.0, 100.0), (10.0, 1.0), (11.0, 8.0), (1e6, 30.0)] {
            let public_box = PublicBox::cube(shape.0, -half, half).expect("valid");
            let budget = Budget::new(epsilon, 1e-6).expect("valid");
            let plan = PrivateBox::plan(public_box, budget).expect("valid settings");
            let claimed = plan.receipt().zcdp().expect("all steps are Gaussian").get();
            let run = |points: &Points, draws: &mut dyn Source| through(&plan, points, draws);
            replay(effort, 100, shape, run, |seen, text| found.see(seen.rho() / claimed, text));
        }
    }
    found
}

/// What receipts add up to, as a share of the budget asked for, over random settings.
fn receipts(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(101);
    for i in 0..effort.of(1_000_usize, 20_000) {
        let epsilon = 10_f64.powf(rng.random_range(-2.0..2.0));
        let delta = 10_f64.powf(rng.random_range(-15.0..-1.0));
        let public_box = PublicBox::cube(1 + i % 11, -1e12, 1e12).expect("valid");
        let budget = Budget::new(epsilon, delta).expect("valid");
        let receipt = PrivateBox::plan(public_box, budget).expect("valid settings").receipt();
        let spent = receipt.epsilon().map_or(f64::INFINITY, Epsilon::get);
        let over = !receipt.within_budget();
        found.see(if over { f64::INFINITY } else { spent / epsilon }, || {
            format!("epsilon {epsilon}, delta {delta}")
        });
    }
    found
}

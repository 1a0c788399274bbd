//! Checks of DP-Lloyd as a whole.

use dp_accounting::{Budget, Epsilon};
use dp_audit::harness::{Check, Effort, Found};
use dp_audit::{Method, compare};
use dp_cluster::dp_lloyd::{BudgetSplit, DpLloyd, DpLloydSettings};
use dp_geometry::{Points, PublicBox};
use dp_mechanism::{Mechanism, SecureSource, Source};
use rand::RngExt;

use crate::neighbours::{one_more, replay};

pub(crate) fn checks() -> Vec<Check> {
    let check = |id: &str, mechanism: &str, method, run: fn(Effort) -> Found| {
        Check::new(id, mechanism, "add-remove", method, run)
    };
    vec![
        check("lloyd-transcript", "DpLloyd, a whole run, zCDP", Method::Exact, transcripts),
        check("lloyd-pure", "DpLloyd, a whole run, pure", Method::Exact, pure),
        check("lloyd-far", "DpLloyd, far from the origin", Method::Exact, far),
        check("lloyd-flat", "DpLloyd, in a flat box", Method::Exact, flat),
        check("lloyd-receipt", "DpLloyd, receipt against budget", Method::Ledger, receipts),
    ]
}

pub(crate) fn plan(dim: usize, k: usize, split: BudgetSplit, iterations: usize) -> DpLloyd {
    let public_box = PublicBox::cube(dim, -10.0, 10.0).expect("valid");
    let budget = Budget::new(3.0, 1e-6).expect("valid");
    let settings = DpLloydSettings { split, iterations: Some(iterations), ..Default::default() };
    DpLloyd::new(public_box, k, budget, settings).expect("valid settings")
}

const SHAPES: [(usize, usize); 3] = [(1, 50), (2, 300), (6, 100)];
const DEEP_SHAPES: [(usize, usize); 3] = [(1, 2_000), (3, 5_000), (40, 1_000)];

/// What all draws of a run give away together, as a share of what the receipt says.
fn transcripts(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    for shape in effort.of(SHAPES, DEEP_SHAPES) {
        for k in [1, 4] {
            let plan = plan(shape.0, k, BudgetSplit::Joint, 3);
            let claimed = plan.receipt().zcdp().expect("all steps are zCDP").get();
            replay(
                effort,
                63,
                shape,
                |points, draws| plan.replay(points.view(), draws).0,
                |seen, text| {
                    found.see(seen.rho() / claimed, text);
                },
            );
        }
    }
    found
}

/// The same for the pure form: log ratios of all draws added up.
fn pure(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    for shape in effort.of(SHAPES, DEEP_SHAPES) {
        let plan = plan(shape.0, 4, BudgetSplit::Pure, 3);
        let claimed = plan.receipt().pure().expect("all steps are pure").get();
        replay(
            effort,
            64,
            shape,
            |points, draws| plan.replay(points.view(), draws).0,
            |seen, text| {
                found.see(seen.pure_loss() / claimed, text);
            },
        );
    }
    found
}

/// A box whose middle is rounded to one of its ends: a record at the other end must not weigh double.
fn far(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(71);
    let (min, max) = (1e16, 1e16 + 2.0);
    let public_box = PublicBox::cube(2, min, max).expect("valid");
    for split in [BudgetSplit::Joint, BudgetSplit::Pure] {
        let budget = Budget::new(3.0, 1e-6).expect("valid");
        let settings = DpLloydSettings { split, iterations: Some(2), ..Default::default() };
        let plan = DpLloyd::new(public_box.clone(), 1, budget, settings).expect("valid settings");
        let receipt = plan.receipt();
        for added in [min, max, f64::NAN, f64::INFINITY] {
            let without = vec![min; 40];
            let with = [without.as_slice(), &[added; 2]].concat();
            let [a, b] = [without, with].map(|c| Points::new(c, 2).expect("whole rows"));
            let run = |points: &Points, draws: &mut dyn Source| plan.replay(points.view(), draws).0;
            let seen = compare(&one_more(), run, &a, &b, &mut SecureSource::new(&mut rng));
            let share = match receipt.pure() {
                Some(claimed) => seen.pure_loss() / claimed.get(),
                None => seen.rho() / receipt.zcdp().expect("all steps are zCDP").get(),
            };
            found.see(share, || format!("{added} in a box at 1e16, {split:?}"));
        }
    }
    found
}

/// Boxes that are long along one axis: every coordinate has a sensitivity of its own.
fn flat(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(73);
    for widths in [[0.01, 10.0], [10.0, 0.01]] {
        let public_box = PublicBox::new(vec![0.0; 2], widths.to_vec()).expect("valid");
        for split in [BudgetSplit::Joint, BudgetSplit::Pure] {
            let budget = Budget::new(3.0, 1e-6).expect("valid");
            let settings = DpLloydSettings { split, iterations: Some(2), ..Default::default() };
            let plan =
                DpLloyd::new(public_box.clone(), 2, budget, settings).expect("valid settings");
            let receipt = plan.receipt();
            for added in [[0.0; 2], widths, [widths[0], 0.0], [f64::NAN, 1e30]] {
                let without: Vec<f64> = [[0.0; 2], widths].concat().repeat(10);
                let with = [without.as_slice(), &added].concat();
                let [a, b] = [without, with].map(|c| Points::new(c, 2).expect("whole rows"));
                let run =
                    |points: &Points, draws: &mut dyn Source| plan.replay(points.view(), draws).0;
                let seen = compare(&one_more(), run, &a, &b, &mut SecureSource::new(&mut rng));
                let share = match receipt.pure() {
                    Some(claimed) => seen.pure_loss() / claimed.get(),
                    None => seen.rho() / receipt.zcdp().expect("all steps are zCDP").get(),
                };
                found.see(share, || format!("{added:?} in a box of {widths:?}, {split:?}"));
            }
        }
    }
    found
}

/// What receipts add up to, as a share of the budget asked for, over random settings.
fn receipts(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(65);
    for i in 0..effort.of(1_000_usize, 20_000) {
        let epsilon = 10_f64.powf(rng.random_range(-2.0..2.0));
        let delta = 10_f64.powf(rng.random_range(-15.0..-1.0));
        let split = if i % 2 == 0 { BudgetSplit::Joint } else { BudgetSplit::Pure };
        let public_box = PublicBox::cube(1 + i % 11, 0.0, 1.0).expect("valid");
        let settings =
            DpLloydSettings { split, iterations: Some(1 + i % 20), ..Default::default() };
        let plan =
            DpLloyd::new(public_box, 2, Budget::new(epsilon, delta).expect("valid"), settings)
                .expect("valid settings");
        let receipt = plan.receipt();
        let spent = receipt.epsilon().map_or(f64::INFINITY, Epsilon::get);
        let over = !receipt.within_budget();
        found.see(if over { f64::INFINITY } else { spent / epsilon }, || {
            format!("epsilon {epsilon}, delta {delta}, {split:?}")
        });
    }
    found
}

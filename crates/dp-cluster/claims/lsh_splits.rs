//! Checks of LSH-Splits as a whole.

use dp_accounting::{Budget, Composition, Epsilon, Event};
use dp_audit::Method;
use dp_audit::harness::{Check, Effort, Found};
use dp_cluster::ClusterError;
use dp_cluster::lsh_splits::{BudgetSplit, Form, LshSplits, LshSplitsSettings};
use dp_geometry::PublicBall;
use dp_mechanism::Mechanism;
use rand::RngExt;

use crate::neighbours::replay;

pub(crate) fn checks() -> Vec<Check> {
    let check = |id: &str, mechanism: &str, method, run: fn(Effort) -> Found| {
        Check::new(id, mechanism, "add-remove", method, run)
    };
    vec![
        check("lsh-transcript", "LshSplits, a whole run", Method::Exact, transcripts),
        check("lsh-joint", "LshSplits, noise of a joint run", Method::Exact, joint),
        check("lsh-receipt", "LshSplits, receipt against budget", Method::Ledger, receipts),
    ]
}

pub(crate) fn plan(
    dim: usize,
    epsilon: f64,
    settings: LshSplitsSettings,
) -> Result<LshSplits, ClusterError> {
    let ball = PublicBall::new(vec![0.0; dim], 9.0).expect("valid");
    LshSplits::new(ball, 3, Budget::new(epsilon, 1e-6).expect("valid"), settings)
}

const SHAPES: [(usize, usize); 3] = [(1, 50), (2, 400), (5, 300)];
const DEEP_SHAPES: [(usize, usize); 3] = [(1, 2_000), (3, 10_000), (40, 3_000)];

/// What all draws of a run give away together, as a share of what the receipt says.
fn transcripts(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    for shape in effort.of(SHAPES, DEEP_SHAPES) {
        let dim = shape.0;
        let d = LshSplitsSettings { least_leaf: 0.01, ..Default::default() };
        let split = BudgetSplit::Gaussian { counts: 3.0, sums: 1.0 };
        for plan in [
            plan(dim, 8.0, LshSplitsSettings { depth: 6, ..Default::default() }),
            plan(dim, 60.0, LshSplitsSettings { split, ..d }),
            plan(dim, 30.0, LshSplitsSettings { form: Form::Published, ..d }),
        ] {
            let plan = plan.expect("valid settings");
            let claimed = plan.receipt().zcdp().expect("all steps are zCDP").get();
            replay(
                effort,
                60,
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

/// The joint form is claimed as a whole. Its counts and its sum, each against the noise that the
/// exact composition was computed for; and that composition against the budget.
fn joint(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let (count_noise, depth) = (20.0, 7);
    for shape in effort.of([(1, 50), (2, 400)], [(2, 2_000), (20, 3_000)]) {
        let settings = LshSplitsSettings {
            split: BudgetSplit::PAPER,
            depth,
            least_leaf: 0.01,
            ..Default::default()
        };
        let plan = plan(shape.0, 20.0, settings).expect("valid settings");
        let multiplier = plan.sum_noise_multiplier();
        let budget = plan.receipt().budget();
        let mix = Event::discrete_laplace(1.0 / (count_noise * multiplier), 1)
            .and_then(|count| Composition::new().with(count, depth as u64 + 1))
            .and_then(|counts| counts.with(Event::gaussian(multiplier)?, 1))
            .expect("in range");
        let spent = mix.epsilon(budget.delta()).upper() / budget.epsilon().get();
        found.see(spent, || format!("the composition at noise {multiplier}"));
        replay(
            effort,
            61,
            shape,
            |points, draws| plan.replay(points.view(), draws).0,
            |seen, text| {
                let (mut counts, mut of_sums) = (0, 0.0_f64);
                for step in seen.steps.iter().filter(|step| step.rho > 0.0) {
                    let loss = step.forward.max(step.backward);
                    if loss.is_infinite() {
                        // Gaussian: a coordinate of a sum. All of them together are as long as one record's part of one leaf.
                        of_sums += step.rho;
                    } else {
                        counts += 1;
                        found.see(loss * count_noise * multiplier, text);
                    }
                }
                // A record is in one count per level.
                let too_many = counts > depth + 1;
                let broken = too_many || seen.failed();
                let length = (2.0 * of_sums).sqrt() * multiplier;
                found.see(if broken { f64::INFINITY } else { length }, text);
            },
        );
    }
    found
}

/// What receipts add up to, as a share of the budget asked for, over random settings.
fn receipts(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(62);
    for i in 0..effort.of(1_000_usize, 20_000) {
        let epsilon = 10_f64.powf(rng.random_range(-2.0..2.0));
        let delta = 10_f64.powf(rng.random_range(-15.0..-1.0));
        let split = BudgetSplit::Gaussian {
            counts: rng.random_range(0.01..1.0),
            sums: rng.random_range(0.01..1.0),
        };
        let ball = PublicBall::new(vec![0.0; 1 + i % 7], 1.0).expect("valid");
        let settings = LshSplitsSettings { split, depth: 1 + i % 32, ..Default::default() };
        let plan = LshSplits::new(ball, 2, Budget::new(epsilon, delta).expect("valid"), settings)
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

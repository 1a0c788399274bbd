//! Checks of EM-MC: its choices exactly on tiny sets, their premises and the rest on larger ones.

use dp_accounting::{AddRemove, AnyRelation, Budget, Delta, Epsilon};
use dp_audit::harness::{Check, Effort, Found};
use dp_audit::{DrawKind, Law as OutputLaw, Method, Scripted, Window, exact_law, multisets};
use dp_cluster::ClusterError;
use dp_cluster::em_mc::{EmMc, EmMcSettings, Selection};
use dp_cluster::local_search::Objective;
use dp_geometry::{Points, PublicBox};
use dp_mechanism::{
    Certificate, CreditedRun, DiscreteGaussian, Draws, Geometric, Law, Mechanism, Part, Private,
    SecureSource, SelectionRule, Source, SparseScores,
};
use rand::RngExt;

use crate::dpm::{added_points, families};
use crate::neighbours::replay;

pub(crate) fn checks() -> Vec<Check> {
    let check = |id: &str, mechanism: &str, method, run: fn(Effort) -> Found| {
        Check::new(id, mechanism, "add-remove", method, run)
    };
    vec![
        check("em-mc-choices", "EmMc: all choices", Method::Exact, |effort| {
            choices(effort, honest)
        }),
        check("em-mc-approximate", "EmMc, choices without a sample", Method::Exact, approximate),
        check("em-mc-credit", "EmMc, what a record is credited", Method::Exact, credit),
        check("em-mc-steps", "EmMc, weights and means of a run", Method::Exact, steps),
        check("em-mc-receipt", "EmMc, receipt against budget", Method::Ledger, receipts),
    ]
}

pub(crate) fn plan(
    dim: usize,
    k: usize,
    budget: Budget,
    settings: EmMcSettings,
) -> Result<EmMc, ClusterError> {
    let public_box = PublicBox::cube(dim, -10.0, 10.0).expect("valid");
    EmMc::new(public_box, k, budget, settings)
}

/// A plan of two scales with three and five cells on a line, two choices each.
fn tiny() -> EmMc {
    let budget = Budget::new(4.0, 0.0).expect("valid");
    let settings = EmMcSettings {
        objective: Objective::KMedian,
        shifts: 1,
        finest_halvings: 2,
        picks_per_scale: Some(2),
        ..Default::default()
    };
    plan(1, 1, budget, settings).expect("valid settings")
}

/// What the choices cost by the receipt.
fn claimed_for_choices(plan: &EmMc) -> f64 {
    let receipt = plan.receipt();
    let dp_accounting::Step::Sequential { steps, .. } = receipt.spent() else {
        unreachable!("all steps are in sequence")
    };
    steps[0].pure().expect("a pure form").get()
}

/// How the choices of a run come about: the real ones, or those of a mutant.
pub(crate) type Choose = fn(&EmMc, &Points, &mut dyn Source) -> Vec<i64>;

/// Passes on secret coins and choices, notes the choices, and adds no noise to the rest, which is
/// checked on its own.
pub(crate) struct ChoicesOnly<'a> {
    pub(crate) draws: &'a mut dyn Source,
    pub(crate) chosen: Vec<i64>,
    /// The first choice with nothing left to cover.
    pub(crate) idle_from: Option<usize>,
}

impl Source for ChoicesOnly<'_> {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.draws.promised(relation);
    }

    fn draw(&mut self, law: Law<'_>) -> i64 {
        match law {
            Law::Noisy { value, .. } => value,
            Law::SparseChoice { scores, .. } => {
                if scores.listed().all(|listed| listed.1 == 0) {
                    self.idle_from.get_or_insert(self.chosen.len());
                }
                let chosen = self.draws.draw(law);
                self.chosen.push(chosen);
                chosen
            }
            law => self.draws.draw(law),
        }
    }

    fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
        self.draws.noisy_max(scores, noise)
    }

    fn noisy_vector(&mut self, _values: &mut [i64], _noise: DiscreteGaussian) {}
}

pub(crate) fn honest(plan: &EmMc, points: &Points, draws: &mut dyn Source) -> Vec<i64> {
    let mut only = ChoicesOnly { draws, chosen: Vec::new(), idle_from: None };
    plan.replay(points.view(), &mut only);
    only.chosen
}

/// Exact laws of all choices together, sample included, for sets of up to two records (deep: three)
/// and one more.
pub(crate) fn choices(effort: Effort, choose: Choose) -> Found {
    let plan = tiny();
    let mut found = Found::claim(claimed_for_choices(&plan));
    let places = [-9.0, -2.0, 9.0];
    let most = effort.of(2, 3);
    let sets = multisets(places.len(), most + 1);
    let laws: Vec<OutputLaw<Vec<i64>>> = sets
        .iter()
        .map(|set| {
            let records = set.iter().map(|&place| places[place]).collect();
            let points = Points::new(records, 1).expect("whole rows");
            exact_law(Window::none(), |draws| choose(&plan, &points, draws)).under(AddRemove)
        })
        .collect();
    for (set, without) in sets.iter().zip(&laws).filter(|(set, _)| set.len() <= most) {
        for added in 0..places.len() {
            let mut with = [set.as_slice(), &[added]].concat();
            with.sort_unstable();
            let with = sets.iter().position(|other| *other == with).expect("it was listed");
            let loss = without.pure_loss(&laws[with]).max(laws[with].pure_loss(without));
            found.see(loss, || format!("places {set:?} and {added}"));
        }
    }
    found
}

/// The approximate form on tiny sets: the exact delta at the epsilon of the receipt, as a share of its
/// delta; and in the direction of an added record the exact loss, as a share of the rate.
fn approximate(effort: Effort) -> Found {
    const EPSILON: f64 = 1.5;
    const DELTA: f64 = 0.02;
    let delta = Delta::new(DELTA).expect("valid");
    let choices = Part { name: "choices", share: 1.0, rounds: 5 };
    let epsilon = Epsilon::new(EPSILON).expect("valid");
    let run = CreditedRun::new(Certificate::Approximate { delta }, epsilon, &[choices]);
    let run = run.expect("in range");
    let selection = run.selection(0, SelectionRule::Exponential, 1).expect("in range");
    let mut found = Found::claim(1.0);
    // A record is in some of three cells; it is gone once one of these is chosen.
    let run = |records: &[usize], draws: &mut dyn Source| -> Vec<u64> {
        let mut left = records.to_vec();
        let choose = |_| {
            let count = |cell: u64| left.iter().filter(|set| **set >> cell & 1 == 1).count() as u64;
            let scores = SparseScores::new(4, (0..3).map(|cell| (cell, count(cell))));
            let chosen =
                selection.release_sparse(Private::new(&scores), &mut Draws::unplanned(draws));
            left.retain(|set| *set >> chosen & 1 == 0);
            chosen
        };
        (0..5).map(choose).collect()
    };
    let kinds = [0b001, 0b011, 0b111];
    for set in multisets(kinds.len(), effort.of(2, 4)) {
        let records: Vec<usize> = set.iter().map(|&kind| kinds[kind]).collect();
        let law = |records: &[usize]| {
            exact_law(Window::none(), |draws| run(records, draws)).without_receipt()
        };
        let without = law(&records);
        for added in kinds {
            let with = law(&[records.as_slice(), &[added]].concat());
            let added_loss = with.pure_loss(&without) / selection.rate();
            let delta = without.delta(&with, EPSILON).max(with.delta(&without, EPSILON)) / DELTA;
            found.see(added_loss.max(delta), || format!("{records:?} and {added}"));
        }
    }
    found
}

/// Notes the scores of every choice.
struct Scores<'a> {
    draws: &'a mut dyn Source,
    seen: Vec<(SparseScores, i64)>,
}

impl Source for Scores<'_> {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.draws.promised(relation);
    }

    fn draw(&mut self, law: Law<'_>) -> i64 {
        let drawn = self.draws.draw(law);
        if let Law::SparseChoice { scores, .. } = law {
            self.seen.push((scores.clone(), drawn));
        }
        drawn
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        self.draws.noisy_vector(values, noise);
    }

    fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
        self.draws.noisy_max(scores, noise)
    }
}

/// The premise of the guarantee: along the same choices, one record more raises every score by 0 or
/// 1, lowers none, and raises those of chosen cells by 1 in total at most.
fn credit(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(68);
    for (dim, n) in effort.of([(1, 60), (3, 300)], [(2, 3_000), (20, 2_000)]) {
        let budget = Budget::new(3.0, 1e-6).expect("valid");
        let selection = Selection::Approximate;
        let settings = EmMcSettings { selection, finest_halvings: 4, ..Default::default() };
        let plan = plan(dim, 3, budget, settings).expect("valid settings");
        for (name, without) in families(dim, n, &mut rng) {
            for added in added_points(dim, n, &mut rng) {
                let with = [without.as_slice(), &added].concat();
                let [a, b] = [without.clone(), with]
                    .map(|coords| Points::new(coords, dim).expect("whole rows"));
                let mut secure = SecureSource::new(&mut rng);
                let mut first = Scores { draws: &mut secure, seen: Vec::new() };
                plan.replay(a.view(), &mut first);
                let first = first.seen;
                let script = first.iter().map(|seen| seen.1).collect::<Vec<_>>();
                let mut scripted = Scripted::new(script.into_iter(), &mut secure);
                let mut second = Scores { draws: &mut scripted, seen: Vec::new() };
                plan.replay(b.view(), &mut second);
                let credited = credited(&first, &second.seen);
                found
                    .see(credited.unwrap_or(f64::INFINITY), || format!("{n}: {name}, {added:.2?}"));
            }
        }
    }
    found
}

/// What the chosen cells gain from the record; `None` where the premise is broken.
fn credited(without: &[(SparseScores, i64)], with: &[(SparseScores, i64)]) -> Option<f64> {
    if without.len() != with.len() {
        return None;
    }
    let mut total = 0.0;
    for ((without, chosen), (with, _)) in without.iter().zip(with) {
        let cells = without.listed().chain(with.listed()).map(|listed| listed.0);
        for cell in cells {
            let gain = with.score(cell).checked_sub(without.score(cell))?;
            if gain > 1 {
                return None;
            }
        }
        let chosen = u64::try_from(*chosen).ok()?;
        total += (with.score(chosen) - without.score(chosen)) as f64;
    }
    Some(total)
}

/// The weights and the means of whole runs, as a share of what the receipt says for them. The choices
/// are replayed, so that everything after them is compared.
fn steps(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    for shape in effort.of([(1, 60), (12, 200)], [(2, 3_000), (40, 2_000)]) {
        let budget = Budget::new(3.0, 1e-6).expect("valid");
        let selection = Selection::Approximate;
        let settings = EmMcSettings { selection, finest_halvings: 3, ..Default::default() };
        let plan = plan(shape.0, 3, budget, settings).expect("valid settings");
        let receipt = plan.receipt();
        let dp_accounting::Step::Sequential { steps, .. } = receipt.spent() else {
            unreachable!("all steps are in sequence")
        };
        let claims = [&steps[1], &steps[2]].map(|step| step.zcdp().expect("zCDP").get());
        replay(
            effort,
            69,
            shape,
            |points, draws| plan.replay(points.view(), draws).0,
            |seen, text| {
                // Weights have geometric noise, whose loss is bounded, and means normal noise, whose loss is not.
                let noisy = || seen.steps.iter().filter(|step| step.kind == DrawKind::Noisy);
                let of = |bounded: bool| -> f64 {
                    noisy().filter(|s| s.forward.is_finite() == bounded).map(|s| s.rho).sum()
                };
                let broken = seen.failed();
                let share = (of(true) / claims[0]).max(of(false) / claims[1]);
                found.see(if broken { f64::INFINITY } else { share }, text);
            },
        );
    }
    found
}

/// What receipts add up to, as a share of the budget asked for, over random settings.
fn receipts(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(70);
    for i in 0..effort.of(1_000_usize, 20_000) {
        let epsilon = 10_f64.powf(rng.random_range(-2.0..2.0));
        let delta = 10_f64.powf(rng.random_range(-15.0..-1.0));
        let selection = if i % 2 == 0 { Selection::Pure } else { Selection::Approximate };
        let split = dp_cluster::em_mc::BudgetSplit {
            cover: rng.random_range(0.02..0.4),
            weights: rng.random_range(0.02..0.4),
        };
        let settings = EmMcSettings { split, selection, ..Default::default() };
        let plan = plan(1, 1, Budget::new(epsilon, delta).expect("valid"), settings);
        let receipt = plan.expect("valid settings").receipt();
        let spent = receipt.epsilon().map_or(f64::INFINITY, Epsilon::get);
        let over = !receipt.within_budget();
        found.see(if over { f64::INFINITY } else { spent / epsilon }, || {
            format!("epsilon {epsilon}, delta {delta}, {split:?}")
        });
    }
    found
}

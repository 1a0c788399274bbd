//! Submodular maximisation without its sample, beyond the unit cube, without its cap on credit, and with
//! an end that shows.

use approx::assert_relative_eq;
use dp_accounting::{AddRemove, AnyRelation};
use dp_audit::{Law as OutputLaw, Window, exact_law};
use dp_combinatorial::submodular::{
    ContinuousGreedy, ContinuousGreedySettings, Coverage, Credits, Extension, Gains, Greedy,
    GreedySettings, LevelGains, Objective, Oracle,
};
use dp_mechanism::{DiscreteGaussian, Geometric, Law, Mechanism, SelectionRule, Source};

use crate::submodular::{
    LAST, claimed, coverage, last_sets_law, plan, probability_of_the_last_sets, uniform,
};
use dp_audit::harness::MutantCode;
use dp_audit::harness::toys::{Side, pure_loss_of_one_more};
use dp_audit::harness::{Effort, Found};

pub(super) fn code() -> [MutantCode; 4] {
    [
        ("M50", |_| everybody_takes_part(true), |_| everybody_takes_part(false)),
        ("M51", |effort| beyond_the_cube(effort, true), |effort| beyond_the_cube(effort, false)),
        ("M52", |effort| without_a_cap(effort, true), |effort| without_a_cap(effort, false)),
        ("M53", |effort| ends_when_done(effort, true), |effort| ends_when_done(effort, false)),
    ]
}

/// Nobody's coin is tossed.
struct AllKept<'a>(&'a mut dyn Source);

impl Source for AllKept<'_> {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.0.promised(relation);
    }

    fn draw(&mut self, law: Law<'_>) -> i64 {
        if let Law::Keep { .. } = law { 1 } else { self.0.draw(law) }
    }

    fn noisy_max(&mut self, _: &[i64], _: Geometric) -> (usize, i64) {
        unreachable!("no rule here has noisy scores")
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        self.0.noisy_vector(values, noise);
    }
}

/// Nobody, against one record in all sets but the last, claimed for both directions. By the formula, and
/// on the code, which has to agree.
fn everybody_takes_part(broken: bool) -> Found {
    let greedy = Greedy::new(
        uniform(LAST.1 as usize, LAST.0 as usize),
        1,
        plan_budget(),
        GreedySettings { rule: SelectionRule::Exponential, ..Default::default() },
    )
    .expect("valid settings");
    let claimed = claimed(&greedy.receipt());
    let law = |anybody: bool| -> OutputLaw<Vec<usize>> {
        if !broken {
            return last_sets_law(&greedy, anybody);
        }
        let record = (1_usize << (LAST.1 - LAST.0)) - 1;
        let records: &[usize] = if anybody { &[record] } else { &[] };
        let objective = coverage(LAST.1, records);
        exact_law(Window::none(), |draws| greedy.replay(&objective, &mut AllKept(draws)).0.elements)
    };
    let (nobody, somebody) = (law(false).under(AddRemove), law(true).under(AddRemove));
    let loss = nobody.pure_loss(&somebody).max(somebody.pure_loss(&nobody));
    let mut found = Found::claim(1.0);
    found.see(loss / claimed, || "nobody, and one in all sets but the last two".to_owned());
    if broken {
        let [nobody, somebody] = probability_of_the_last_sets(greedy.rate(), 1.0);
        let formula = (nobody / somebody).ln();
        assert_relative_eq!(loss, formula, max_relative = 1e-9);
    }
    found
}

fn plan_budget() -> dp_accounting::Budget {
    dp_accounting::Budget::new(1.0, 0.0).expect("valid")
}

/// Each record is in one set or none, so that its extension is the level of that set. With a step of .7
/// in place of one half, two steps go to a level of 1.4.
struct SingleSets {
    covered: Coverage,
    sets: Vec<Option<usize>>,
    step: i64,
}

/// A level of 1.
const ONE: u64 = 100;

impl Objective for SingleSets {
    fn elements(&self) -> usize {
        self.covered.elements()
    }

    fn most_credit(&self) -> u64 {
        1
    }

    fn records(&self) -> usize {
        self.sets.len()
    }

    fn start(&self, kept: &[bool]) -> Box<dyn Gains + '_> {
        self.covered.start(kept)
    }
}

impl Extension for SingleSets {
    fn level_credit(&self) -> u64 {
        ONE
    }

    fn start_levels(&self, kept: &[bool], _: u32) -> Box<dyn LevelGains + '_> {
        let mut gains = vec![0; self.elements()];
        for set in self.sets.iter().zip(kept).filter(|(_, kept)| **kept).filter_map(|(set, _)| *set)
        {
            gains[set] += self.step;
        }
        Box::new(Straight(gains))
    }
}

/// Gains that never change, since the extension is linear in each level.
struct Straight(Vec<i64>);

impl LevelGains for Straight {
    fn gains(&self) -> &[i64] {
        &self.0
    }

    fn raise(&mut self, _: usize) {}
}

fn beyond_the_cube(effort: Effort, broken: bool) -> Found {
    // As in the paper, ceil(1 / .7) = 2 steps. Many sets bring the loss close to its bound.
    const SETS: u32 = 20;
    let plan = ContinuousGreedy::new(
        uniform(SETS as usize, 1),
        Credits { most_credit: 1, level_credit: ONE },
        plan_budget(),
        ContinuousGreedySettings { steps: 2, roundings: 1, ..Default::default() },
    )
    .expect("valid settings");
    let claimed = claimed(&plan.receipt());
    pure_loss_of_one_more(Side::Both, claimed, (2, effort.of(1, 3)), |kinds| {
        let sets: Vec<Option<usize>> = kinds.iter().map(|&kind| (kind == 1).then_some(0)).collect();
        let bits: Vec<usize> = kinds.to_vec();
        let objective =
            SingleSets { covered: coverage(SETS, &bits), sets, step: if broken { 70 } else { 50 } };
        exact_law(Window::none(), |draws| plan.replay(&objective, draws).0.bases)
    })
}

/// An oracle whose values wander up and down between 0 and the most that was declared: a record of the
/// second kind gets 3 out of set 0 alone, nothing out of two sets, and 3 out of three with set 3 last.
const WANDERS: fn(&usize, &[usize]) -> u64 = |record, set| match set {
    [0] | [_, _, 3] if *record == 1 => 3,
    _ => 0,
};

/// The gains of single picks are cut, and their sum is not.
struct Uncapped<'a> {
    records: &'a [usize],
}

impl Objective for Uncapped<'_> {
    fn elements(&self) -> usize {
        ORACLE_SETS
    }

    fn most_credit(&self) -> u64 {
        3
    }

    fn records(&self) -> usize {
        self.records.len()
    }

    fn start(&self, kept: &[bool]) -> Box<dyn Gains + '_> {
        let kept = self.records.iter().zip(kept).filter(|(_, kept)| **kept);
        let records: Vec<usize> = kept.map(|(record, _)| *record).collect();
        let mut run = UncappedRun { records, picked: Vec::new(), gains: Vec::new() };
        run.measure();
        Box::new(run)
    }
}

const ORACLE_SETS: usize = 6;

struct UncappedRun {
    records: Vec<usize>,
    picked: Vec<usize>,
    gains: Vec<i64>,
}

impl UncappedRun {
    fn measure(&mut self) {
        let gain = |record: &usize, element: usize| {
            let with = [self.picked.as_slice(), &[element]].concat();
            WANDERS(record, &with).saturating_sub(WANDERS(record, &self.picked)).cast_signed()
        };
        let of = |element| self.records.iter().map(|record| gain(record, element)).sum();
        self.gains = (0..ORACLE_SETS).map(of).collect();
    }
}

impl Gains for UncappedRun {
    fn gains(&self) -> &[i64] {
        &self.gains
    }

    fn pick(&mut self, element: usize) {
        self.picked.push(element);
        self.measure();
    }
}

fn without_a_cap(effort: Effort, broken: bool) -> Found {
    let greedy = Greedy::new(uniform(ORACLE_SETS, 3), 3, plan_budget(), GreedySettings::default())
        .expect("valid settings");
    let claimed = claimed(&greedy.receipt());
    pure_loss_of_one_more(Side::Both, claimed, (2, effort.of(1, 3)), |records| {
        let uncapped = Uncapped { records };
        let capped = Oracle::new(records, ORACLE_SETS, 3, WANDERS).expect("valid");
        let objective: &dyn Objective = if broken { &uncapped } else { &capped };
        exact_law(Window::none(), |draws| greedy.replay(objective, draws).0)
    })
}

/// Counts the choices before the first in which nobody is left.
struct UntilDone<'a> {
    draws: &'a mut dyn Source,
    choices: usize,
    done: bool,
}

impl Source for UntilDone<'_> {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.draws.promised(relation);
    }

    fn draw(&mut self, law: Law<'_>) -> i64 {
        if let Law::Flip { scores, .. } = law {
            self.done |= scores.iter().all(|score| *score == 0);
            self.choices += usize::from(!self.done);
        }
        self.draws.draw(law)
    }

    fn noisy_max(&mut self, _: &[i64], _: Geometric) -> (usize, i64) {
        unreachable!("no rule here has noisy scores")
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        self.draws.noisy_vector(values, noise);
    }
}

/// Two picks out of three sets; the mutant keeps silent once everybody who takes part is covered.
fn ends_when_done(effort: Effort, broken: bool) -> Found {
    let greedy = plan(GreedySettings::default());
    let claimed = claimed(&greedy.receipt());
    pure_loss_of_one_more(Side::Both, claimed, (8, effort.of(1, 2)), |records| {
        let objective = coverage(3, records);
        exact_law(Window::none(), |draws| {
            let mut watched = UntilDone { draws, choices: 0, done: false };
            let mut chosen = greedy.replay(&objective, &mut watched).0.elements;
            if broken {
                chosen.truncate(watched.choices);
            }
            chosen
        })
    })
}

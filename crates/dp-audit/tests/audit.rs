//! Mechanisms that a stranger might write, right ones and broken ones.
#![allow(clippy::disallowed_methods, reason = "a test may look")]

use std::num::NonZeroU64;

use dp_accounting::{
    AddRemove, Budget, Covered, Delta, Epsilon, Loss, Receipt, Relation, ReplaceOne, Rho, Step,
    Within,
};
use dp_audit::{Audit, Findings, hostile};
use dp_mechanism::{
    Algorithm, Certificate, CreditedRun, Draws, GaussianSum, GeometricSum, NoisyCount, Part,
    Private, SelectionRule,
};

fn epsilon(x: f64) -> Epsilon {
    Epsilon::new(x).expect("valid")
}

fn count(x: f64) -> NoisyCount {
    NoisyCount::geometric(epsilon(x)).expect("positive")
}

/// A receipt of one relation, and what a run does: enough for the mechanisms below.
struct Toy<L, F> {
    relation: L,
    budget: Budget,
    spent: Step,
    run: F,
}

impl<L: Relation, O, F> Algorithm for Toy<L, F>
where
    F: Fn(Private<&[i64]>, &mut Draws<'_>) -> O,
{
    type Relation = L;
    type Data<'a> = &'a [i64];
    type Shape = ();
    type Output = O;
    type Error = ();

    fn cost(&self) -> Receipt<L> {
        Receipt::new("toy", self.relation, self.budget, self.spent.clone())
    }

    fn shape(_: &&[i64]) {}

    fn check(&self, (): &()) -> Result<(), ()> {
        Ok(())
    }

    fn run(&self, records: Private<&[i64]>, draws: &mut Draws<'_>) -> O {
        (self.run)(records, draws)
    }
}

fn audited<L: Relation, O: PartialEq + serde::Serialize>(
    audit: &Audit<i64>,
    relation: L,
    spent: Step,
    run: impl Fn(Private<&[i64]>, &mut Draws<'_>) -> O,
) -> Findings {
    let budget = Budget::new(3.0, 1e-6).expect("valid");
    audit.run(&Toy { relation, budget, spent, run }, |records, run| run(records))
}

fn hostile() -> Audit<i64> {
    Audit::new(hostile::integers())
}

fn of_count(count: &NoisyCount) -> Step {
    Step::spend("count", count.loss())
}

fn noisy_size(count: &NoisyCount, records: Private<&[i64]>, draws: &mut Draws<'_>) -> i64 {
    count.release(records.map(|records| records.len() as u64), &mut draws.leaf("count", 0))
}

#[test]
fn an_honest_count_stands_and_is_tight() {
    let count = count(0.7);
    let found = audited(&hostile(), AddRemove, of_count(&count), |records, draws| {
        noisy_size(&count, records, draws)
    });
    assert!(found.stands(), "{found}");
    // The Gaussian pair that covers a pure loss is more than geometric noise uses up.
    let mut stated = found.findings.iter().filter(|finding| !finding.measure.starts_with("mu"));
    assert!(stated.all(|finding| finding.tightness() > 0.99), "{found}");
    assert!(
        found.found().stands() && found.to_string().starts_with("toy under add-remove: stands")
    );
}

/// The histogram of two cells moves by one if a record comes or goes, and by two if it is another one.
#[test]
fn the_relation_of_the_receipt_says_who_is_a_neighbour() {
    let sum =
        GeometricSum::new(epsilon(0.5), NonZeroU64::new(1).expect("above 0")).expect("positive");
    let spent = Step::spend("histogram", sum.loss());
    let run = |records: Private<&[i64]>, draws: &mut Draws<'_>| {
        let cells = records.map(|records| {
            let below = i64::try_from(records.iter().filter(|x| **x < 1).count()).expect("few");
            vec![below, i64::try_from(records.len()).expect("few") - below]
        });
        sum.release(&cells.cells(2), &mut draws.leaf("histogram", 0))
    };
    let found = audited(&hostile(), AddRemove, spent.clone(), run);
    assert!(found.stands(), "{found}");
    let found = audited(&hostile(), ReplaceOne, spent, run);
    assert!(!found.stands() && (found.found().worst - 2.0).abs() < 1e-6, "{found}");
}

#[test]
fn a_zero_with_a_secret_sign_is_seen() {
    let count = count(0.5);
    let found = audited(&hostile(), AddRemove, of_count(&count), |records, draws| {
        let noisy = noisy_size(&count, records, draws);
        let odd = records.map(|records| records.len() % 2 == 1).exact();
        (noisy, if odd { -0.0 } else { 0.0 })
    });
    assert!(!found.stands() && found.found().worst.is_infinite(), "{found}");
}

/// Above 30 the exact number, which no run by chance and no data of this size would show.
#[test]
fn rare_branches_are_taken() {
    let count = count(0.9);
    for limit in [30, 10_000] {
        let found = audited(&hostile(), AddRemove, of_count(&count), |records, draws| {
            let noisy = noisy_size(&count, records, draws);
            if noisy > limit { records.map(<[i64]>::len).exact() } else { 0 }
        });
        assert!(!found.stands(), "above {limit}: {found}");
    }
}

#[test]
fn what_was_not_reached_has_not_passed() {
    let count = count(0.4);
    let spent =
        Step::sequential("both", vec![of_count(&count), Step::spend("never drawn", count.loss())]);
    let found =
        audited(&hostile(), AddRemove, spent, |records, draws| noisy_size(&count, records, draws));
    assert!(!found.stands() && !found.found().stands(), "{found}");
    assert_eq!(found.unreached_steps, ["both / never drawn"]);
    // Records that make no difference have shown nothing.
    let found = audited(&hostile(), AddRemove, of_count(&count), |_, draws| {
        count.release(0_u64, &mut draws.leaf("count", 0))
    });
    assert!(!found.stands() && found.to_string().contains("no two data sets differed"), "{found}");
}

#[test]
fn every_setting_is_audited_by_name() {
    let count = count(0.4);
    let settings = [("plain", 0), ("twice", 1)].map(|(name, more)| {
        let run = move |records: Private<&[i64]>, draws: &mut Draws<'_>| {
            let cells = records.map(|records| records.len() as u64 * (1 + more));
            count.release(cells, &mut draws.leaf("count", 0))
        };
        let budget = Budget::new(1.0, 0.0).expect("valid");
        (name.to_owned(), Toy { relation: AddRemove, budget, spent: of_count(&count), run })
    });
    let found = hostile().settings(settings, |records, run| run(records));
    let broken: Vec<&str> = found
        .findings
        .iter()
        .filter(|finding| !finding.found.stands())
        .map(|finding| finding.setting.as_str())
        .collect();
    assert!(!broken.is_empty() && broken.iter().all(|name| *name == "twice"), "{found}");
}

/// A crash is an output, and hostile integers bring it about.
#[test]
fn a_sum_that_overflows_is_a_loss() {
    let sum = GaussianSum::new(Rho::new(0.1).expect("valid")).expect("positive");
    let spent = Step::spend("sum", sum.loss());
    let sums = |clipped: bool| {
        let (sum, spent) = (&sum, spent.clone());
        audited(&hostile(), AddRemove, spent, move |records, draws| {
            let total = records.map(|records| {
                let add = |total: i64, x: &i64| {
                    if clipped {
                        total + x.clamp(&-3, &3)
                    } else {
                        total.checked_add(*x).expect("fits")
                    }
                };
                vec![records.iter().fold(0, add)]
            });
            sum.release(&total.cells(1), 9, &mut draws.leaf("sum", 0))
        })
    };
    let found = sums(true);
    assert!(found.stands() && found.found().worst > 0.99, "{found}");
    assert!(
        found.findings.iter().any(|finding| finding.measure == "rho by transcripts"),
        "{found}"
    );
    let found = sums(false);
    assert!(!found.stands() && found.found().worst.is_infinite(), "{found}");
}

/// Secret coins are summed over where that is possible; where it is not, the audit says that it saw nothing.
#[test]
fn secret_coins_need_an_exact_law() {
    let picks = Part { name: "picks", share: 1.0, rounds: 4 };
    let credited = CreditedRun::new(Certificate::Subsampled, epsilon(0.8), &[picks]);
    let credited = credited.expect("in range");
    let selection = credited.selection(0, SelectionRule::Exponential, 1).expect("in range");
    let run = |served: bool| {
        let (credited, selection) = (&credited, &selection);
        move |records: Private<&[i64]>, draws: &mut Draws<'_>| {
            let kept = credited.sample(records.map(<[i64]>::len), draws);
            let mut left = kept.zip(records).map(|(kept, records)| {
                let both = kept.into_iter().zip(records);
                both.filter(|(kept, _)| *kept).map(|(_, record)| *record).collect::<Vec<i64>>()
            });
            [(); 4].map(|()| {
                let scores = left.as_ref().map(|left| {
                    let count = |set| left.iter().filter(|record| **record == set).count();
                    (0..3).map(|set| i64::try_from(count(set)).expect("few")).collect::<Vec<i64>>()
                });
                let picked = selection.release(&scores.cells(3), draws).unwrap().index;
                let gone = i64::try_from(picked).expect("few");
                left.update(move |left| left.retain(|record| !served || *record != gone));
                picked
            })
        }
    };
    let of = |audit: Audit<i64>, served| audited(&audit, AddRemove, credited.step(), run(served));
    let small = || Audit::new([0, 1, 2]).sizes([0, 1]);
    let found = of(small(), true);
    assert!(found.stands(), "{found}");
    assert!(!of(small(), false).stands(), "records that are never served are credited without end");
    let found = of(Audit::new([0, 1, 2]).sizes([1, 20]), true);
    assert!(!found.stands() && found.to_string().contains("secret coins"), "{found}");
}

/// What leaks one time in seven at most, where the first number is at an end of the integers or far from its value, is seen in the few runs of one pair:
/// each run begins anew, and goes where none was before.
#[test]
fn each_side_of_a_first_draw_is_seen_in_a_handful_of_runs() {
    let count = count(0.5);
    let far = |noisy: i64| noisy.unsigned_abs() > 100 && noisy != i64::MAX && noisy != i64::MIN;
    let leaks: [&dyn Fn(i64) -> bool; 5] = [
        &|_| false,
        &|noisy| noisy == i64::MAX,
        &|noisy| noisy == i64::MIN,
        &|noisy| noisy > 0 && far(noisy),
        &|noisy| noisy < 0 && far(noisy),
    ];
    for (number, leaks) in leaks.iter().enumerate() {
        let audit = Audit::new([1_i64]).sizes([0]);
        let found = audited(&audit, AddRemove, of_count(&count), |records, draws| {
            let noisy = noisy_size(&count, records, draws);
            if leaks(noisy) { records.map(<[i64]>::len).exact() } else { 0 }
        });
        assert_eq!(found.stands(), number == 0, "{number}: {found}");
    }
}

/// A setting that refuses all data, or is never handed any, is no setting that stands, however well the others do.
#[test]
fn every_setting_is_looked_at() {
    struct Refusing(NoisyCount, bool);
    impl Algorithm for Refusing {
        type Relation = AddRemove;
        type Data<'a> = &'a [i64];
        type Shape = ();
        type Output = i64;
        type Error = ();
        fn cost(&self) -> Receipt<AddRemove> {
            let budget = Budget::new(1.0, 0.0).expect("valid");
            Receipt::new("toy", AddRemove, budget, of_count(&self.0))
        }
        fn shape(_: &&[i64]) {}
        fn check(&self, (): &()) -> Result<(), ()> {
            if self.1 { Err(()) } else { Ok(()) }
        }
        fn run(&self, records: Private<&[i64]>, draws: &mut Draws<'_>) -> i64 {
            noisy_size(&self.0, records, draws)
        }
    }
    let count = count(0.4);
    let of = |refuses: [bool; 2], times: usize| {
        let settings = refuses.map(|refuses| (format!("{refuses}"), Refusing(count, refuses)));
        Audit::new([1, 2]).settings(settings, |records, run| (0..times).for_each(|_| run(records)))
    };
    assert!(of([false; 2], 1).stands());
    for refuses in [[true, false], [false, true], [true; 2]] {
        let found = of(refuses, 1);
        assert!(!found.stands() && !found.found().stands(), "{found}");
        assert!(found.to_string().contains("true: nothing was compared"), "{found}");
    }
    for times in [0, 2] {
        let found = of([false; 2], times);
        assert!(
            !found.stands() && found.to_string().contains("hand the data over once"),
            "{found}"
        );
    }
}

/// A record may move by one: the caller says to where./// A record may move by one: the caller says to where.
#[test]
fn records_move_as_the_caller_says() {
    let sum =
        GeometricSum::new(epsilon(0.5), NonZeroU64::new(2).expect("above 0")).expect("positive");
    let spent = Step::spend("sum", sum.loss());
    let within = Within::new(2.0).expect("valid");
    let run = |records: Private<&[i64]>, draws: &mut Draws<'_>| {
        let total = records.map(|records| vec![records.iter().map(|x| x.clamp(&-50, &50)).sum()]);
        sum.release(&total.cells(1), &mut draws.leaf("sum", 0))
    };
    for (step, stands) in [(2, true), (3, false)] {
        let audit = Audit::new([0, 5, 9]).moves(move |x| vec![x + step, x - step]);
        let found = audited(&audit, within, spent.clone(), run);
        assert_eq!(found.stands(), stands, "{found}");
    }
    // Of several moves each is tried, be it the first or the last.
    for further in [[1, 3], [3, 1]] {
        let audit = Audit::new([0, 5, 9]).moves(move |x| further.map(|step| x + step).to_vec());
        let found = audited(&audit, within, spent.clone(), run);
        assert!(!found.stands(), "{further:?}: {found}");
    }
}

/// Losses of steps do not add up to a delta, but a run that looks at its data shows all the same: three counts with an approximate claim and far
/// too many outcomes for a law, of which one form spares the first if it is 0.
#[test]
fn an_approximate_claim_is_not_kept_by_a_run_that_looks() {
    let delta = Delta::new(1e-6).expect("valid");
    let together = Loss::Approximate { epsilon: epsilon(1.0), delta };
    let covered = Covered { name: "count".to_owned(), draws: Some(3) };
    let spent = || Step::spend_on("counts", together, vec![covered.clone()]);
    let count = count(0.3).among("count", together);
    let audit = Audit::new([0_i64, 7]).sizes([0, 1]);
    let unbounded = |spares: bool| {
        let found = audited(&audit, AddRemove, spent(), |values, draws| {
            let number = values.map(|values| values.len() as u64);
            let first = usize::from(spares && number.exact() == 0);
            (first..3).map(|_| count.release(number, draws)).collect::<Vec<_>>()
        });
        assert!(found.findings.iter().any(|one| one.measure.contains("by transcripts")), "{found}");
        found.findings.iter().any(|one| one.found.worst.is_infinite())
    };
    assert!(unbounded(true) && !unbounded(false));
}

/// What a mechanism of records does with one of them: refuses the data, or stops.
struct Touchy {
    count: NoisyCount,
    refuses: bool,
}

impl Algorithm for Touchy {
    type Relation = AddRemove;
    type Data<'a> = &'a [i64];
    type Shape = bool;
    type Output = i64;
    type Error = ();

    fn cost(&self) -> Receipt<AddRemove> {
        Receipt::new(
            "touchy",
            AddRemove,
            Budget::new(3.0, 0.0).expect("valid"),
            of_count(&self.count),
        )
    }

    fn shape(records: &&[i64]) -> bool {
        records.contains(&2)
    }

    fn check(&self, odd: &bool) -> Result<(), ()> {
        if *odd && self.refuses { Err(()) } else { Ok(()) }
    }

    fn run(&self, records: Private<&[i64]>, draws: &mut Draws<'_>) -> i64 {
        assert!(!records.map(Self::is_odd).exact(), "an odd record");
        noisy_size(&self.count, records, draws)
    }
}

impl Touchy {
    fn is_odd(records: &[i64]) -> bool {
        records.contains(&2)
    }
}

/// Both are outputs, which nobody pays for; all other pairs of data sets give nothing away.
#[test]
fn a_refusal_and_a_panic_that_depend_on_a_record_are_losses() {
    for refuses in [true, false] {
        let audit = Audit::new([1, 2]);
        let found = audit.run(&Touchy { count: count(0.5), refuses }, |records, run| run(records));
        assert!(!found.stands() && found.found().worst.is_infinite(), "{refuses}: {found}");
        let calm = Audit::new([1, 3]);
        let found = calm.run(&Touchy { count: count(0.5), refuses }, |records, run| run(records));
        assert!(found.stands(), "{refuses}: {found}");
    }
}

//! Checks of submodular maximisation: exact laws of whole runs on all tiny sets of records, the worst
//! case by its closed form, and what a record is credited on larger ones.

use dp_accounting::{AddRemove, Budget, Delta, Epsilon, Receipt, repeated_selection_loss};
use dp_audit::{Law as OutputLaw, Method, Window, exact_law};
use dp_combinatorial::submodular::{
    Chosen, ContinuousGreedy, ContinuousGreedySettings, Coverage, Credits, DenseFacilityLocation,
    FacilityLocation, Greedy, GreedySettings, Oracle, Partition, Rounded, Sampled, Uniform,
};
use dp_combinatorial::{Incidence, Sizes};
use dp_mechanism::{Certificate, ChaCha20Rng, Mechanism, SecureSource, SelectionRule, Source};
use rand::{RngExt, SeedableRng};

use dp_audit::harness::toys::{
    Side, for_each_one_more, nothing_of_who_is_left_out, pure_loss_of_one_more,
};
use dp_audit::harness::{Check, Effort, Found, added_loss};

pub(crate) fn checks() -> Vec<Check> {
    let check = |id: &str, mechanism: &str, method, run: fn(Effort) -> Found| {
        Check::new(id, mechanism, "add-remove", method, run)
    };
    vec![
        check("submodular-flip", "Greedy, CreditedSelection: coverage", Method::Exact, |e| {
            covered(&plan(by(SelectionRule::PermuteAndFlip)), Window::none(), e.of(2, 3))
        }),
        check("submodular-exponential", "Greedy with exponential choices", Method::Exact, |e| {
            covered(&plan(by(SelectionRule::Exponential)), Window::none(), e.of(2, 3))
        }),
        check("submodular-noisy-max", "Greedy with noisy gains", Method::Exact, |e| {
            covered(&plan(by(SelectionRule::NoisyMax)), Window::new(-1, 4), e.of(1, 2))
        }),
        check("submodular-composition", "Greedy by composition", Method::Exact, |e| {
            let composed = plan(under(Certificate::Composition));
            covered(&composed, Window::none(), e.of(2, 4))
        }),
        check("submodular-approximate", "Greedy: share of delta", Method::Exact, approximate),
        check("submodular-weights", "Greedy on weighted coverage", Method::Exact, weights),
        check("submodular-dense", "Greedy on a full table", Method::Exact, dense),
        check("submodular-facilities", "Greedy on facility location", Method::Exact, facilities),
        check("submodular-oracle", "Greedy on an erratic oracle", Method::Exact, oracle),
        check("submodular-last-sets", "Greedy in its worst case", Method::Exact, last_sets),
        check("submodular-continuous", "ContinuousGreedy on coverage", Method::Exact, continuous),
        check(
            "submodular-continuous-composition",
            "ContinuousGreedy by composition",
            Method::Exact,
            continuous_composition,
        ),
        check(
            "submodular-continuous-approximate",
            "ContinuousGreedy: share of delta",
            Method::Exact,
            continuous_approximate,
        ),
        check("submodular-sampled", "ContinuousGreedy on samples", Method::Exact, sampled),
        check("submodular-credit", "Greedy, what a record is credited", Method::Range, credit),
        check(
            "submodular-level-credit",
            "ContinuousGreedy, Credits: what a record is credited",
            Method::Range,
            level_credit,
        ),
        check(
            "submodular-left-out",
            "Greedy, ContinuousGreedy: a record that is not in the sample",
            Method::Exact,
            left_out,
        ),
        check(
            "submodular-receipt",
            "Greedy, ContinuousGreedy: receipts against budgets",
            Method::Ledger,
            receipts,
        ),
    ]
}

/// A record is the sets that hold it, as bits; there are eight kinds.
const SETS: u32 = 3;
const KINDS: usize = 1 << SETS;

fn budget() -> Budget {
    Budget::new(1.0, 0.0).expect("valid")
}

pub(crate) fn uniform(m: usize, k: usize) -> Uniform {
    Uniform::new(m, k).expect("k is at most m")
}

/// Two picks out of three sets.
pub(crate) fn plan(settings: GreedySettings) -> Greedy<Uniform> {
    Greedy::new(uniform(SETS as usize, 2), 1, budget(), settings).expect("valid settings")
}

fn by(rule: SelectionRule) -> GreedySettings {
    GreedySettings { rule, ..Default::default() }
}

fn under(certificate: Certificate) -> GreedySettings {
    GreedySettings { certificate: Some(certificate), ..Default::default() }
}

pub(crate) fn coverage(sets: u32, records: &[usize]) -> Coverage {
    let sets_of =
        |record: &usize| (0..sets).filter(|set| record >> set & 1 == 1).collect::<Vec<u32>>();
    let lists: Vec<Vec<u32>> = records.iter().map(sets_of).collect();
    let incidence = Incidence::from_slices(sets, lists.iter().map(Vec::as_slice));
    Coverage::new(incidence.expect("there are sets"))
}

pub(crate) fn claimed(receipt: &Receipt<AddRemove>) -> f64 {
    receipt.pure().expect("a pure form").get()
}

/// The loss over all sets of up to `most` records and one more, in its own units.
fn all_pairs<O: Ord>(
    claimed: f64,
    (kinds, most): (usize, usize),
    law: impl Fn(&[usize]) -> OutputLaw<O>,
) -> Found {
    let found = pure_loss_of_one_more(Side::Both, claimed, (kinds, most), law);
    Found { claimed, worst: found.worst * claimed, ..found }
}

fn covered(plan: &Greedy<Uniform>, window: Window, most: usize) -> Found {
    all_pairs(claimed(&plan.receipt()), (KINDS, most), |records| {
        let objective = coverage(SETS, records);
        exact_law(window, |draws| plan.replay(&objective, draws).0)
    })
}

/// The exact delta at the epsilon of the receipt, as a share of its delta; and the loss of an added
/// record against the rate, which bounds it.
fn approximate(effort: Effort) -> Found {
    let delta = Delta::new(0.02).expect("valid");
    let certificate = Certificate::Approximate { delta };
    let settings = GreedySettings { rule: SelectionRule::Exponential, ..under(certificate) };
    let budget = Budget::new(1.0, 0.02).expect("valid");
    let plan = Greedy::new(uniform(3, 3), 1, budget, settings).expect("valid settings");
    let epsilon = plan.receipt().epsilon().expect("within its delta").get();
    let mut found = Found::claim(1.0);
    let law = |records: &[usize]| {
        let objective = coverage(SETS, records);
        exact_law(Window::none(), |draws| plan.replay(&objective, draws).0)
    };
    for_each_one_more((KINDS, effort.of(2, 4)), law, |without, with, witness| {
        let worse = without.delta(with, epsilon).max(with.delta(without, epsilon)) / delta.get();
        found.see(worse.max(with.pure_loss(without) / plan.rate()), || witness.to_owned());
    });
    found
}

/// A record is its sets, then a weight of 0, 1, 2 or far more than declared.
fn weights(effort: Effort) -> Found {
    let plan =
        Greedy::new(uniform(3, 2), 2, budget(), GreedySettings::default()).expect("valid settings");
    all_pairs(claimed(&plan.receipt()), (4 * KINDS, effort.of(1, 2)), |records| {
        let sets: Vec<usize> = records.iter().map(|record| record % KINDS).collect();
        let weight = |user: usize| [0, 1, 2, u32::MAX][records[user] / KINDS];
        let incidence = coverage(SETS, &sets).incidence().clone();
        let objective = Coverage::weighted(incidence, weight, 2).expect("valid");
        exact_law(Window::none(), |draws| plan.replay(&objective, draws).0)
    })
}

/// The sizes of a release, and such that few records take every other way.
const EVERY_SIZE: fn() -> [Sizes; 3] = || [Sizes::default(), Sizes::small(1), Sizes::small(2)];

/// A record is its similarities of 0, 1 or far more than declared to three places, then one of 0 or 1 to the default.
fn dense(effort: Effort) -> Found {
    let plan =
        Greedy::new(uniform(3, 2), 3, budget(), GreedySettings::default()).expect("valid settings");
    let value = |record: usize, unit: usize| [0, 2, u16::MAX][record / unit % 3];
    let in_size = |sizes: Sizes| {
        all_pairs(claimed(&plan.receipt()), (54, effort.of(1, 2)), |records| {
            let rows = records.iter().flat_map(|&record| [1, 3, 9].map(|unit| value(record, unit)));
            let default = |user: usize| u16::from(records[user] >= 27);
            let table = DenseFacilityLocation::new(3, rows.collect(), default, 3).expect("valid");
            let table = table.with_sizes(sizes);
            exact_law(Window::none(), |draws| plan.replay(&table, draws).0)
        })
    };
    EVERY_SIZE().map(in_size).into_iter().reduce(Found::and).expect("there are sizes")
}

/// A record has a similarity of 0, 1 or 2 to each of three places; a partition says which may go
/// together.
fn facilities(effort: Effort) -> Found {
    let matroid = Partition::new(vec![0, 0, 1], vec![1, 1]).expect("valid");
    let plan =
        Greedy::new(matroid, 2, budget(), GreedySettings::default()).expect("valid settings");
    all_pairs(claimed(&plan.receipt()), (27, effort.of(1, 2)), |records| {
        let list = |record: &usize| {
            [(0, 1), (1, 3), (2, 9)].map(|(place, unit)| (place, bits(record / unit % 3)))
        };
        let lists: Vec<[(u32, u32); 3]> = records.iter().map(list).collect();
        let objective = FacilityLocation::new(3, lists.iter().map(|list| &list[..]), 2);
        let objective = objective.expect("valid");
        exact_law(Window::none(), |draws| plan.replay(&objective, draws).0)
    })
}

/// A record as 32 bits; all of them are small.
fn bits(record: usize) -> u32 {
    u32::try_from(record).expect("few sets")
}

/// A function that is neither monotone nor submodular, and larger than declared.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "oracles take their records by reference")]
fn erratic(record: &usize, set: &[usize]) -> u64 {
    [0, 3, 5, 1, 7, 2, 9, 4][(set.iter().fold(*record, |sum, element| 3 * sum + element + 1)) % 8]
}

fn oracle(effort: Effort) -> Found {
    let plan =
        Greedy::new(uniform(3, 2), 3, budget(), GreedySettings::default()).expect("valid settings");
    let in_size = |sizes: Sizes| {
        all_pairs(claimed(&plan.receipt()), (KINDS, effort.of(2, 3)), |records| {
            let objective = Oracle::new(records, 3, 3, erratic).expect("valid").with_sizes(sizes);
            exact_law(Window::none(), |draws| plan.replay(&objective, draws).0)
        })
    };
    EVERY_SIZE().map(in_size).into_iter().reduce(Found::and).expect("there are sizes")
}

/// How many picks there are in the worst case, out of how many sets.
pub(crate) const LAST: (u32, u32) = (2, 40);

/// Nobody, against one record that is in all sets but the last ones.
pub(crate) fn last_sets_law(plan: &Greedy<Uniform>, anybody: bool) -> OutputLaw<Vec<usize>> {
    let record = (1_usize << (LAST.1 - LAST.0)) - 1;
    let records: &[usize] = if anybody { &[record] } else { &[] };
    let objective = coverage(LAST.1, records);
    exact_law(Window::none(), |draws| plan.replay(&objective, draws).0.elements)
}

/// The probability of picking the last sets in their order, by the formula: each has weight 1 among
/// `m - i`, and with the record all others of them have weight `e^rate`.
pub(crate) fn probability_of_the_last_sets(rate: f64, kept: f64) -> [f64; 2] {
    let (picks, sets) = (f64::from(LAST.0), f64::from(LAST.1));
    let product = |weight: f64| -> f64 {
        let total = |i: u32| (sets - picks) * weight + picks - f64::from(i);
        (0..LAST.0).map(|i| total(i).recip()).product()
    };
    [product(1.0), kept * product(rate.exp()) + (1.0 - kept) * product(1.0)]
}

/// The pair that shows what a removed record gives away: with the sample it is within the claim, and the
/// code has the law of the formula.
fn last_sets(_: Effort) -> Found {
    let (picks, sets) = (LAST.0 as usize, LAST.1 as usize);
    let plan = Greedy::new(
        uniform(sets, picks),
        1,
        budget(),
        GreedySettings { rule: SelectionRule::Exponential, ..Default::default() },
    )
    .expect("valid settings");
    let claimed = claimed(&plan.receipt());
    let mut found = Found::claim(claimed);
    let [nobody, somebody] = [false, true].map(|anybody| last_sets_law(&plan, anybody));
    let sets: Vec<usize> = (sets - picks..sets).collect();
    let wanted = probability_of_the_last_sets(plan.rate(), -(-claimed).exp_m1());
    for (law, wanted) in [&nobody, &somebody].into_iter().zip(wanted) {
        let off = (law.probability(&sets) / wanted - 1.0).abs();
        found.see(if off < 1e-9 { 0.0 } else { f64::INFINITY }, || "not the formula".to_owned());
    }
    let [nobody, somebody] = [nobody, somebody].map(|law| law.under(AddRemove));
    let loss = nobody.pure_loss(&somebody).max(somebody.pure_loss(&nobody));
    found.see(loss, || "nobody, and one in all sets but the last two".to_owned());
    found
}

/// Two steps over a partition, the better of two roundings.
fn continuous(effort: Effort) -> Found {
    let matroid = Partition::new(vec![0, 0, 1], vec![1, 1]).expect("valid");
    let plan = ContinuousGreedy::new(
        matroid,
        Credits::ranked(1),
        budget(),
        ContinuousGreedySettings { steps: 2, roundings: 2, ..Default::default() },
    )
    .expect("valid settings");
    all_pairs(claimed(&plan.receipt()), (KINDS, effort.of(1, 2)), |records| {
        let objective = coverage(SETS, records);
        exact_law(Window::none(), |draws| plan.replay(&objective, draws).0)
    })
}

/// Every pick and the last choice pay for themselves, on all records.
fn continuous_composition(effort: Effort) -> Found {
    let matroid = Partition::new(vec![0, 0, 1], vec![1, 1]).expect("valid");
    let mut all = Found::claim(1.0);
    for rule in [SelectionRule::PermuteAndFlip, SelectionRule::Exponential] {
        let plan = ContinuousGreedy::new(
            matroid.clone(),
            Credits::ranked(1),
            budget(),
            ContinuousGreedySettings {
                certificate: Certificate::Composition,
                rule,
                steps: 2,
                roundings: 2,
                ..Default::default()
            },
        )
        .expect("valid settings");
        let claimed = claimed(&plan.receipt());
        all = all.and(pure_loss_of_one_more(
            Side::Both,
            claimed,
            (KINDS, effort.of(1, 2)),
            |records| {
                let objective = coverage(SETS, records);
                exact_law(Window::none(), |draws| plan.replay(&objective, draws).0)
            },
        ));
    }
    all
}

/// The exact delta at the epsilon of the receipt, as a share of its delta.
fn continuous_approximate(effort: Effort) -> Found {
    let delta = Delta::new(0.02).expect("valid");
    let plan = ContinuousGreedy::new(
        uniform(3, 2),
        Credits::ranked(1),
        Budget::new(1.0, 0.02).expect("valid"),
        ContinuousGreedySettings {
            certificate: Certificate::Approximate { delta },
            rule: SelectionRule::Exponential,
            steps: 2,
            roundings: 1,
            ..Default::default()
        },
    )
    .expect("valid settings");
    let epsilon = plan.receipt().epsilon().expect("within its delta").get();
    let each = repeated_selection_loss(budget().epsilon(), delta).expect("in range").get();
    let mut found = Found::claim(1.0);
    let law = |records: &[usize]| {
        let objective = coverage(SETS, records);
        exact_law(Window::none(), |draws| plan.replay(&objective, draws).0)
    };
    for_each_one_more((KINDS, effort.of(1, 2)), law, |without, with, witness| {
        let worse = without.delta(with, epsilon).max(with.delta(without, epsilon)) / delta.get();
        // What the proof starts from: an added record costs no more than one credit.
        found.see(worse.max(with.pure_loss(without) / each), || witness.to_owned());
    });
    found
}

fn public_samples(records: &[usize], samples: usize, sizes: Sizes) -> Sampled<'_, usize, Erratic> {
    let oracle = Oracle::new(records, 3, 3, erratic as Erratic).expect("valid");
    Sampled::new(oracle.with_sizes(sizes), samples, &mut ChaCha20Rng::seed_from_u64(9))
        .expect("valid")
}

type Erratic = fn(&usize, &[usize]) -> u64;

fn sampled(effort: Effort) -> Found {
    let plan = ContinuousGreedy::new(
        uniform(3, 1),
        Credits::sampled(3, 4),
        budget(),
        ContinuousGreedySettings { steps: 2, roundings: 1, ..Default::default() },
    )
    .expect("valid settings");
    let in_size = |sizes: Sizes| {
        all_pairs(claimed(&plan.receipt()), (KINDS, effort.of(1, 2)), |records| {
            let objective = public_samples(records, 4, sizes);
            exact_law(Window::none(), |draws| plan.replay(&objective, draws).0)
        })
    };
    EVERY_SIZE().map(in_size).into_iter().reduce(Found::and).expect("there are sizes")
}

/// Sets of the larger instances.
const FAMILY: u32 = 9;
/// The most that a place is worth there.
const MOST: u32 = 50;

/// Random records, as bits; a new one is in no set, in one, in some, and in all.
fn crowds(effort: Effort, check: u64) -> impl Iterator<Item = (Vec<usize>, ChaCha20Rng)> {
    let mut rng = effort.rng(check);
    (0..effort.of(25, 500)).flat_map(move |_| {
        let mut random = || rng.random_range(0..1_usize << FAMILY);
        let crowd: Vec<usize> = (0..random() % 40).map(|_| random() & random()).collect();
        let added = [0, 1 << 3, random(), (1 << FAMILY) - 1];
        let seed = rng.random();
        added.map(|record| {
            let all = [crowd.as_slice(), &[record]].concat();
            (all, ChaCha20Rng::seed_from_u64(seed))
        })
    })
}

/// Similarities from the bits of a record, some beyond what is declared.
fn places(records: &[usize]) -> FacilityLocation {
    let similarity = |record: usize, place: u32| bits(record).rotate_left(5 * place) % (MOST + 9);
    let lists: Vec<Vec<(u32, u32)>> = records
        .iter()
        .map(|&record| (0..FAMILY).map(|place| (place, similarity(record, place))).collect())
        .collect();
    FacilityLocation::new(FAMILY, lists.iter().map(Vec::as_slice), MOST).expect("valid")
}

fn blocks() -> Partition {
    Partition::new((0..FAMILY as usize).map(|i| i / 3).collect(), vec![2; 3]).expect("valid")
}

/// `ln(1 + e)`: what the sample of epsilon 1 leaves to be spent.
fn inner(receipt: &Receipt<AddRemove>) -> f64 {
    claimed(receipt).exp().ln_1p()
}

/// The same as a full table.
fn table(records: &[usize]) -> DenseFacilityLocation {
    let similarity = |record: usize, place: u32| bits(record).rotate_left(5 * place) % (MOST + 9);
    let rows = records.iter().flat_map(|&r| (0..FAMILY).map(move |place| similarity(r, place)));
    let rows = rows.map(|similarity| u16::try_from(similarity).expect("small")).collect();
    let most = u16::try_from(MOST).expect("small");
    DenseFacilityLocation::new(FAMILY as usize, rows, |_| 0, most).expect("valid")
}

/// Coverage with weights from the bits of a record, some beyond what is declared.
fn weighted(records: &[usize]) -> Coverage {
    let weight = |user: usize| bits(records[user]) % (MOST + 9);
    let incidence = coverage(FAMILY, records).incidence().clone();
    Coverage::weighted(incidence, weight, MOST).expect("valid")
}

/// The runs of [`credit`]: every objective, by every rule, in sizes of a release and in small ones.
fn each_greedy(
    effort: Effort,
    check: u64,
    mut see: impl FnMut(&[usize], &mut ChaCha20Rng, &str, &Run<Chosen>),
) {
    let rules =
        [SelectionRule::PermuteAndFlip, SelectionRule::Exponential, SelectionRule::NoisyMax];
    let plan = |most, rule| {
        Greedy::new(blocks(), most, budget(), GreedySettings { rule, ..Default::default() })
            .expect("valid settings")
    };
    let plans = rules.map(|rule| [plan(1, rule), plan(MOST.into(), rule)]);
    let called = |record: &usize, set: &[usize]| erratic(record, set) * 9;
    for (round, (all, mut rng)) in crowds(effort, check).enumerate() {
        let sizes = EVERY_SIZE()[round / 3 % 3];
        let [unit, most] = &plans[round % 3];
        let runs: [(&str, &Run<Chosen>); 5] = [
            ("coverage", &|records, draws| unit.replay(&coverage(FAMILY, records), draws).0),
            ("lists", &|records, draws| most.replay(&places(records), draws).0),
            ("table", &|records, draws| most.replay(&table(records).with_sizes(sizes), draws).0),
            ("weights", &|records, draws| most.replay(&weighted(records), draws).0),
            ("oracle", &|records, draws| {
                let oracle = Oracle::new(records, FAMILY as usize, MOST.into(), called);
                most.replay(&oracle.expect("valid").with_sizes(sizes), draws).0
            }),
        ];
        for (name, run) in runs {
            see(&all, &mut rng, name, run);
        }
    }
}

/// The same of [`level_credit`].
fn each_continuous(
    effort: Effort,
    check: u64,
    mut see: impl FnMut(&[usize], &mut ChaCha20Rng, &str, &Run<Rounded>),
) {
    let plan = |credits| {
        ContinuousGreedy::new(
            blocks(),
            credits,
            budget(),
            ContinuousGreedySettings { steps: 3, roundings: 2, ..Default::default() },
        )
        .expect("valid settings")
    };
    let [unit, most] = [plan(Credits::ranked(1)), plan(Credits::ranked(MOST))];
    for (all, mut rng) in crowds(effort, check) {
        let runs: [(&str, &Run<Rounded>); 3] = [
            ("coverage", &|records, draws| unit.replay(&coverage(FAMILY, records), draws).0),
            ("lists", &|records, draws| most.replay(&places(records), draws).0),
            ("weights", &|records, draws| most.replay(&weighted(records), draws).0),
        ];
        for (name, run) in runs {
            see(&all, &mut rng, name, run);
        }
    }
}

type Run<'a, O> = dyn Fn(&[usize], &mut dyn Source) -> O + 'a;

/// What the last record adds.
fn added<O: PartialEq>(all: &[usize], rng: &mut ChaCha20Rng, run: &Run<O>) -> f64 {
    let without = |draws: &mut dyn Source| run(&all[..all.len() - 1], draws);
    added_loss(&mut SecureSource::new(rng), without, |draws| run(all, draws))
}

fn credit(effort: Effort) -> Found {
    let mut found = Found::claim(inner(&plan(GreedySettings::default()).receipt()));
    each_greedy(effort, 111, |all, rng, name, run| {
        found.see(added(all, rng, run), || format!("{name}, the last of {all:?} added"));
    });
    found
}

fn level_credit(effort: Effort) -> Found {
    let mut found = Found::claim(inner(&plan(GreedySettings::default()).receipt()));
    each_continuous(effort, 112, |all, rng, name, run| {
        found.see(added(all, rng, run), || format!("{name}, the last of {all:?} added"));
    });
    found
}

/// Who is not in the sample leaves no trace in any draw.
fn left_out(effort: Effort) -> Found {
    let mut found = Found::claim(1e-9);
    let mut see = |none: bool, name: &str, all: &[usize]| {
        found
            .see(if none { 0.0 } else { f64::INFINITY }, || format!("{name}, the last of {all:?}"));
    };
    each_greedy(effort, 114, |all, rng, name, run| {
        see(nothing_of_who_is_left_out(all, &mut SecureSource::new(rng), run), name, all);
    });
    each_continuous(effort, 115, |all, rng, name, run| {
        see(nothing_of_who_is_left_out(all, &mut SecureSource::new(rng), run), name, all);
    });
    found
}

/// What receipts add up to, as a share of the budget asked for, over random settings.
fn receipts(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(113);
    for i in 0..effort.of(200_usize, 10_000) {
        let epsilon = 10_f64.powf(rng.random_range(-2.0..1.5));
        let delta = 10_f64.powf(rng.random_range(-12.0..-1.0));
        let budget = Budget::new(epsilon, delta).expect("valid");
        let m = rng.random_range(11..40);
        let (matroid, most) = (uniform(m, rng.random_range(1..m)), rng.random_range(1..1_000));
        let receipt = if i % 3 == 0 {
            let credits = Credits::ranked(most);
            ContinuousGreedy::new(
                matroid,
                credits,
                budget,
                ContinuousGreedySettings {
                    steps: rng.random_range(1..9),
                    roundings: rng.random_range(1..9),
                    rounding_share: rng.random_range(0.01..0.99),
                    ..Default::default()
                },
            )
            .expect("valid settings")
            .receipt()
        } else {
            let approximate = under(Certificate::Approximate { delta: budget.delta() });
            let settings = match i % 4 {
                0 => GreedySettings::default(),
                1 => by(SelectionRule::NoisyMax),
                2 => under(Certificate::Composition),
                _ => GreedySettings { rule: SelectionRule::Exponential, ..approximate },
            };
            Greedy::new(matroid, most.into(), budget, settings).expect("valid settings").receipt()
        };
        let spent = receipt.epsilon_at(budget.delta()).map_or(f64::INFINITY, Epsilon::get);
        found.see(spent / epsilon, || format!("epsilon {epsilon}, {receipt}"));
    }
    found
}

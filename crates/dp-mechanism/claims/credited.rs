//! Checks of credited runs: exact laws of selections, tests and counts on all tiny sets of records.

use dp_accounting::{Delta, Epsilon};
use dp_audit::{Law, Method, Window, exact_law, multisets};
use dp_mechanism::{
    Certificate, CreditedRun, Draws, Part, Private, SelectionRule, Source, SparseScores,
};

use dp_audit::harness::{Check, Effort, Found};

pub(super) fn checks() -> Vec<Check> {
    let check = |id: &str, mechanism: &str, run: fn(Effort) -> Found| {
        Check::new(id, mechanism, "add-remove", Method::Exact, run)
    };
    vec![
        check("credited-exponential", "CreditedRun: exponential selections", |effort| {
            subsampled(effort, SelectionRule::Exponential)
        }),
        check("credited-flip", "CreditedRun, CreditedSelection: permute-and-flip", |effort| {
            subsampled(effort, SelectionRule::PermuteAndFlip)
        }),
        check("credited-noisy-max", "CreditedRun: noisy maxima with their value", |effort| {
            subsampled(effort, SelectionRule::NoisyMax)
        }),
        check("credited-sparse", "CreditedSelection: sparse scores", sparse),
        check("credited-reports", "CreditedReports: threshold tests", tests),
        check("credited-parts", "CreditedRun: selections, then counts, on one sample", parts),
        check("credited-composition", "CreditedRun: composition", composition),
        check("credited-approximate", "CreditedRun: approximate, share of delta", approximate),
    ]
}

/// What a run releases: which candidate, and its noisy score if there is one.
type Released = Vec<(usize, i64)>;

/// A record is a set of candidates, as bits; it counts for these until one of them is chosen.
const CANDIDATES: usize = 3;
const EPSILON: f64 = 1.0;
/// Where noisy scores are followed to.
const WINDOW: (i64, i64) = (-1, 5);

fn run(certificate: Certificate, parts: &[Part]) -> CreditedRun {
    let epsilon = Epsilon::new(EPSILON).expect("valid");
    CreditedRun::new(certificate, epsilon, parts).expect("in range")
}

fn picks(share: f64, rounds: u64) -> Part {
    Part { name: "picks", share, rounds }
}

/// The records that take part.
fn sample(run: &CreditedRun, records: &[usize], draws: &mut Draws<'_>) -> Vec<usize> {
    let kept = run.sample(records.len(), draws).exact();
    records.iter().zip(kept).filter(|(_, kept)| *kept).map(|(record, _)| *record).collect()
}

/// Chooses `rounds` candidates; records leave once served.
fn select(
    run: &CreditedRun,
    rule: SelectionRule,
    rounds: u32,
    records: &[usize],
    draws: &mut dyn Source,
) -> (Released, Vec<usize>) {
    let selection = run.selection(0, rule, 1).expect("in range");
    let draws = &mut Draws::unplanned(draws);
    let mut left = sample(run, records, draws);
    let kept = left.clone();
    let mut released = Vec::new();
    for _ in 0..rounds {
        let selected = selection.release(&scores(&left), draws).expect("there are candidates");
        left.retain(|record| record >> selected.index & 1 == 0);
        released.push((selected.index, selected.noisy_score.unwrap_or(0)));
    }
    (released, kept)
}

fn scores(records: &[usize]) -> Vec<i64> {
    let count = |set: usize| records.iter().filter(|record| **record >> set & 1 == 1).count();
    (0..CANDIDATES).map(|set| i64::try_from(count(set)).expect("few")).collect()
}

/// The worst over all sets of up to `most` records and one more of any kind.
fn all_pairs<O: Ord>(
    claimed: f64,
    most: usize,
    law: impl Fn(&[usize]) -> Law<O>,
    worst: impl Fn(&Law<O>, &Law<O>) -> f64,
) -> Found {
    let kinds = (1 << CANDIDATES) - 1;
    let mut found = Found::claim(claimed);
    for set in multisets(kinds, most) {
        let records: Vec<usize> = set.iter().map(|kind| kind + 1).collect();
        let here = law(&records);
        for added in 1..=kinds {
            let there = law(&[records.as_slice(), &[added]].concat());
            found.see(worst(&here, &there), || format!("records {records:?} and {added}"));
        }
    }
    found
}

fn both_ways<O: Ord>(a: &Law<O>, b: &Law<O>) -> f64 {
    a.pure_loss(b).max(b.pure_loss(a))
}

fn claimed(run: &CreditedRun) -> f64 {
    run.step().pure().expect("a pure certificate").get()
}

fn subsampled(effort: Effort, rule: SelectionRule) -> Found {
    let run = run(Certificate::Subsampled, &[picks(1.0, 2)]);
    // With values there are many more outputs, and already few records are tight.
    let most = if rule == SelectionRule::NoisyMax { effort.of(1, 2) } else { effort.of(2, 3) };
    let window = Window::new(WINDOW.0, WINDOW.1);
    let law = |records: &[usize]| {
        exact_law(window, |draws| select(&run, rule, 2, records, draws).0).without_receipt()
    };
    all_pairs(claimed(&run), most, law, both_ways)
}

/// Choices among scores of which only those that are not zero are listed: the same law as with all of them in a row.
fn sparse(effort: Effort) -> Found {
    let run = run(Certificate::Subsampled, &[picks(1.0, 2)]);
    let selection = run.selection(0, SelectionRule::Exponential, 1).expect("in range");
    let choose = |records: &[usize], source: &mut dyn Source| {
        let draws = &mut Draws::unplanned(source);
        let mut left = sample(&run, records, draws);
        [(); 2].map(|()| {
            let listed = scores(&left).into_iter().map(i64::unsigned_abs).zip(0_u64..);
            let listed = listed.filter(|(score, _)| *score > 0).map(|(score, set)| (set, score));
            let scores = SparseScores::new(CANDIDATES as u64, listed);
            let chosen = selection.release_sparse(Private::new(&scores), draws);
            left.retain(|record| record >> chosen & 1 == 0);
            chosen
        })
    };
    let law = |records: &[usize]| {
        exact_law(Window::none(), |source| choose(records, source)).without_receipt()
    };
    let rule = SelectionRule::Exponential;
    let mut found = all_pairs(claimed(&run), effort.of(2, 3), law, both_ways);
    for records in [&[][..], &[1, 2, 6], &[7, 7, 4, 1]] {
        let dense = exact_law(Window::none(), |source| {
            let (released, _) = select(&run, rule, 2, records, source);
            [0, 1].map(|i| released[i].0 as u64)
        })
        .without_receipt();
        let strays = dense.iter().any(|(o, p)| (p - law(records).probability(o)).abs() > 1e-12);
        found.see(if strays { f64::INFINITY } else { 0.0 }, || format!("another law: {records:?}"));
    }
    found
}

/// Each candidate is tested against two thresholds; records leave when theirs is reported.
fn tests(effort: Effort) -> Found {
    let run = run(Certificate::Subsampled, &[picks(1.0, 6)]);
    let reports = run.reports(0, 1).expect("in range");
    let test = |records: &[usize], draws: &mut dyn Source| {
        let draws = &mut Draws::unplanned(draws);
        let mut left = sample(&run, records, draws);
        let mut released = Vec::new();
        for threshold in [2, 1] {
            for set in 0..CANDIDATES {
                if let Some(value) = reports.release(scores(&left)[set], threshold, draws) {
                    left.retain(|record| record >> set & 1 == 0);
                    released.push((set, value));
                }
            }
        }
        released
    };
    let window = Window::new(0, 3);
    let law = |records: &[usize]| exact_law(window, |draws| test(records, draws)).without_receipt();
    all_pairs(claimed(&run), effort.of(1, 2), law, both_ways)
}

/// Half for two choices, half for the count of each kind of record.
fn parts(effort: Effort) -> Found {
    let counts = Part { name: "counts", share: 0.5, rounds: 1 };
    let run = run(Certificate::Subsampled, &[picks(0.5, 2), counts]);
    let reports = run.reports(1, 1).expect("in range");
    let all = |records: &[usize], draws: &mut dyn Source| {
        let (released, kept) = select(&run, SelectionRule::PermuteAndFlip, 2, records, draws);
        // One cell for each of the records' number of candidates.
        let of_size = |size: u32| kept.iter().filter(|r| r.count_ones() == size).count() as u64;
        let draws = &mut Draws::unplanned(draws);
        let counts = [1, 2].map(|size| reports.count(of_size(size), draws));
        (released, counts)
    };
    let window = Window::new(-1, 4);
    let law = |records: &[usize]| exact_law(window, |draws| all(records, draws)).without_receipt();
    all_pairs(claimed(&run), effort.of(1, 2), law, both_ways)
}

fn composition(effort: Effort) -> Found {
    let run = run(Certificate::Composition, &[picks(1.0, 3)]);
    let law = |rule| {
        let run = &run;
        move |records: &[usize]| {
            exact_law(Window::none(), |draws| select(run, rule, 3, records, draws).0)
                .without_receipt()
        }
    };
    let most = effort.of(2, 4);
    let worst = |rule| all_pairs(claimed(&run), most, law(rule), both_ways);
    let (a, b) = (worst(SelectionRule::Exponential), worst(SelectionRule::PermuteAndFlip));
    let cases = a.cases + b.cases;
    Found { cases, ..if a.worst >= b.worst { a } else { b } }
}

/// The epsilon at which two laws are within delta of each other.
fn approximate(effort: Effort) -> Found {
    let delta = Delta::new(0.02).expect("valid");
    let run = run(Certificate::Approximate { delta }, &[picks(1.0, 5)]);
    let claimed = run.step().epsilon(delta).expect("approximate").get();
    let law = |records: &[usize]| {
        let rule = SelectionRule::Exponential;
        exact_law(Window::none(), |draws| select(&run, rule, 5, records, draws).0).without_receipt()
    };
    let epsilon = |a: &Law<Released>, b: &Law<Released>| {
        let within = |epsilon: f64| a.delta(b, epsilon).max(b.delta(a, epsilon)) <= delta.get();
        let (mut low, mut high) = (0.0, 4.0 * claimed);
        for _ in 0..50 {
            let middle = f64::midpoint(low, high);
            if within(middle) { high = middle } else { low = middle }
        }
        high
    };
    all_pairs(claimed, effort.of(1, 2), law, epsilon)
}

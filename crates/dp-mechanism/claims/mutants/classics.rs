//! Mistakes that have been made again and again with textbook mechanisms.

use std::collections::BTreeMap;

use dp_audit::{Law, Window, exact_law};
use dp_mechanism::{Coin, Ratio, Source};

use super::floats::{INTEGERS, TEXTBOOK, released_values};
use dp_audit::harness::toys::{count, for_each_one_more, laplace, ratio};
use dp_audit::harness::{Effort, Found, MutantCode};

pub(super) fn code() -> [MutantCode; 4] {
    [
        ("M16-sparse", |effort| sparse_vector(effort, 3), |effort| sparse_vector(effort, 1)),
        (
            "M16-maximum",
            |effort| noisy_maximum(effort, true),
            |effort| noisy_maximum(effort, false),
        ),
        (
            "M16-flip",
            |effort| concentrated_cost(effort, Choice::PermuteAndFlip),
            |effort| concentrated_cost(effort, Choice::Exponential),
        ),
        (
            "M16-float",
            |effort| released_values(effort, TEXTBOOK),
            |effort| released_values(effort, INTEGERS),
        ),
    ]
}

/// Sparse vector: half of the budget for the threshold, half for a query whose answer moves the
/// other way. Stops after `most_answers`; the noise of the threshold is never drawn again.
fn sparse_vector(effort: Effort, most_answers: usize) -> Found {
    const EPSILON: f64 = 2.0;
    let law = |queries: &[i64]| -> Law<Vec<bool>> {
        // The threshold is secret, but the exact law sums over it.
        exact_law(Window::new(-25, 25), |draws| {
            let threshold = draws.noisy(1, laplace(EPSILON / 2.0));
            let mut answers = Vec::new();
            for &query in queries {
                if answers.iter().filter(|above| **above).count() < most_answers {
                    answers.push(draws.exceeds(query, threshold, laplace(EPSILON / 4.0)));
                }
            }
            answers
        })
        .without_receipt()
    };
    let mut found = Found::claim(EPSILON);
    let mut see = |here: &[i64], there: &[i64]| {
        let loss = law(here).pure_loss(&law(there));
        found.see(loss, || format!("answers {here:?} and {there:?}"));
    };
    let all: Vec<[i64; 3]> = (0..8).map(|bits| [bits & 1, bits >> 1 & 1, bits >> 2 & 1]).collect();
    for here in &all {
        for there in &all {
            see(here, there);
        }
    }
    // Many queries that stay below and pin the threshold, then three that move the other way.
    let below = effort.of(6, 9);
    let family = |first, then| [vec![first; below], vec![then; 3]].concat();
    see(&family(1, 0), &family(0, 1));
    see(&family(0, 1), &family(1, 0));
    found
}

/// Noisy maximum of three counts that all grow with the data: which one, and perhaps its noisy
/// value.
fn noisy_maximum(_: Effort, with_value: bool) -> Found {
    const EPSILON: f64 = 2.0;
    const COUNTS: usize = 3;
    let of = |records: &[usize]| -> [i64; COUNTS] {
        std::array::from_fn(|i| count(records, |&&record| record >> i & 1 == 1))
    };
    let release = |counts: [i64; COUNTS], draws: &mut dyn Source| {
        let noisy = counts.map(|n| draws.noisy(n, laplace(EPSILON)));
        let best = (0..COUNTS).rev().max_by_key(|&i| noisy[i]).expect("three");
        (best, with_value.then_some(noisy[best]))
    };
    // The window ends where ties at its upper end have become too rare to matter.
    let law =
        |counts| exact_law(Window::new(-5, 15), |draws| release(counts, draws)).without_receipt();
    let mut laws = BTreeMap::new();
    for records in dp_audit::multisets(1 << COUNTS, 2) {
        let counts = of(&records);
        laws.entry(counts).or_insert_with(|| law(counts));
    }
    let mut found = Found::claim(EPSILON);
    for_each_one_more(
        (1 << COUNTS, 1),
        |records| laws[&of(records)].clone(),
        |a, b, witness| {
            found.see(a.pure_loss(b).max(b.pure_loss(a)), || witness.to_owned());
        },
    );
    found
}

/// How a score becomes a choice.
#[derive(Clone, Copy)]
enum Choice {
    PermuteAndFlip,
    Exponential,
}

/// Choices among two scores that one record moves by one each, either way. The claim is the
/// zero-concentrated cost of the exponential mechanism: `eta^2/8` for its range `eta = 2 rate`.
fn concentrated_cost(_: Effort, choice: Choice) -> Found {
    let rate = 1.0;
    let mut found = Found::claim((2.0 * rate) * (2.0 * rate) / 8.0);
    let law = |scores: [i64; 2]| {
        exact_law(Window::none(), |draws| match choice {
            Choice::Exponential => draws.choose(&scores, ratio(rate)),
            Choice::PermuteAndFlip => permute_and_flip(&scores, rate, draws),
        })
        .without_receipt()
    };
    for lead in 0..6 {
        for change in 0..9 {
            let (here, there) = ([lead, 0], [lead + change % 3 - 1, change / 3 - 1]);
            // In both directions and over a grid of orders.
            found.see(law(here).zcdp(&law(there)), || format!("scores {here:?} and {there:?}"));
        }
    }
    found
}

/// Candidates in random order; each is taken with probability `exp(-rate (best - score))`.
fn permute_and_flip(scores: &[i64], rate: f64, draws: &mut dyn Source) -> usize {
    let best = scores.iter().copied().max().expect("not empty");
    let mut left: Vec<usize> = (0..scores.len()).collect();
    loop {
        let uniform = vec![0; left.len()];
        let candidate = left.remove(draws.choose(&uniform, Ratio::new(1, 1).expect("valid")));
        let behind = best.abs_diff(scores[candidate]);
        // The coin that is on offer shows 1 with probability 1 - exp(-x).
        if behind == 0 || !draws.keep(Coin::OneMinusExp(ratio(rate * behind as f64))) {
            return candidate;
        }
    }
}

//! The proof is worth as much as its power: each of these slips must fail it, and the sampler
//! beside it, without the slip, must pass.

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};

use dp_noise::{
    Bits, DiscreteLaplace, Geometric, TimingSafeGeometric, bernoulli, bernoulli_exp,
    choose_exponentially, permute_and_flip,
};

use super::exact::{Interval, Tape, exp_minus};
use super::noise::{gaussian_law, geometric_law, laplace_law};
use super::{check, nonzero, ratio};

fn must_fail<T: Ord + Clone + Debug>(
    sampler: impl Fn(&mut Tape) -> T,
    probability: impl Fn(T) -> Interval,
) {
    let outcome = catch_unwind(AssertUnwindSafe(|| check("slip", sampler, probability)));
    assert!(outcome.is_err(), "the slip went unnoticed");
}

#[test]
fn biased_rejection_words_taken_modulo_n() {
    must_fail(|tape| tape.below(nonzero(16)) % 3, |_| Interval::ratio(1, 3));
}

#[test]
fn biased_rejection_the_high_half_without_a_redo() {
    must_fail(|tape| (tape.word() * 3) >> 4, |_| Interval::ratio(1, 3));
}

#[test]
fn missing_sign_redo_zero_is_too_likely() {
    let geometric = Geometric::new(ratio(1, 1)).expect("valid");
    must_fail(
        |tape| {
            let sign = if bernoulli(tape, 1, nonzero(2)) { -1 } else { 1 };
            sign * i128::try_from(geometric.sample(tape)).expect("small")
        },
        laplace_law(1, 1),
    );
}

#[test]
fn at_most_for_below_in_a_coin() {
    let p = |heads| Interval::ratio(if heads { 2 } else { 4 }, 6);
    must_fail(|tape| tape.below(nonzero(6)) <= 2, p);
    check("no slip", |tape: &mut Tape| bernoulli(tape, 2, nonzero(6)), p);
}

#[test]
fn at_most_for_below_in_a_truncation() {
    let laplace = DiscreteLaplace::new(ratio(1, 1)).expect("valid");
    let weight = |z: i128| exp_minus(z.unsigned_abs(), 1);
    let total = (-2..=2).map(weight).reduce(Interval::plus).expect("not empty");
    let within = |bound: u128| {
        move |tape: &mut Tape| {
            tape.retry(|tape| Some(laplace.sample(tape)).filter(|z| z.unsigned_abs() <= bound))
        }
    };
    must_fail(within(1), |z| weight(z).divided_by(total));
    check("no slip", within(2), |z| weight(z).divided_by(total));
}

#[test]
fn off_by_one_in_a_geometric() {
    let geometric = Geometric::new(ratio(3, 2)).expect("valid");
    must_fail(|tape| geometric.sample(tape) + 1, geometric_law(3, 2));
}

#[test]
fn off_by_one_in_the_digits() {
    // The sixth digit of seven is left out, which is wrong by less than e^-32 in total and by far
    // too little to see; the first, by half.
    let geometric = TimingSafeGeometric::new(ratio(1, 1)).expect("valid");
    must_fail(|tape| geometric.sample(tape) >> 1, geometric_law(1, 1));
}

#[test]
fn wrong_common_divisor_a_scale_is_halved() {
    let geometric = Geometric::new(ratio(3, 2)).expect("valid");
    must_fail(|tape| geometric.sample(tape), geometric_law(3, 4));
    must_fail(|tape| geometric.sample(tape), geometric_law(3, 1));
}

#[test]
fn laplace_proposals_accepted_unthinned_are_not_gaussian() {
    let laplace = DiscreteLaplace::new(ratio(2, 1)).expect("valid");
    must_fail(|tape| laplace.sample(tape), gaussian_law(1, 1));
}

#[test]
fn a_gaussian_thinned_about_the_wrong_centre() {
    let laplace = DiscreteLaplace::new(ratio(2, 1)).expect("valid");
    let thinned = |centre: u128| {
        // v = 1, t = 2: accept with exp(-(|y| - 1/2)^2 / 2) = exp(-(2|y| - 1)^2 / 8).
        move |tape: &mut Tape| {
            tape.retry(|tape| {
                let y = laplace.sample(tape);
                let distance = (2 * y.unsigned_abs()).abs_diff(centre);
                bernoulli_exp(tape, distance * distance, nonzero(8)).then_some(y)
            })
        }
    };
    must_fail(thinned(0), gaussian_law(1, 1));
    check("no slip", thinned(1), gaussian_law(1, 1));
}

#[test]
fn a_choice_is_not_a_permute_and_flip() {
    let scores = [0, 1, 1];
    let weight = |i: usize| exp_minus(u128::from(i == 0), 1);
    let total = (0..3).map(weight).reduce(Interval::plus).expect("not empty");
    let law = |i: usize| weight(i).divided_by(total);
    must_fail(|tape| permute_and_flip(tape, &scores, ratio(1, 1)).unwrap(), law);
    check(
        "no slip",
        |tape: &mut Tape| choose_exponentially(tape, &scores, ratio(1, 1)).unwrap(),
        law,
    );
}

#[test]
fn a_choice_with_one_look_is_off_by_the_strip() {
    // Weights e^-1 and 1 compared with a single word of four bits.
    let weight = |i: usize| exp_minus(u128::from(i == 0), 1);
    let total = weight(0).plus(weight(1));
    must_fail(
        |tape| usize::from(tape.word() >= 4), // e^-1 / (1 + e^-1) = 0.269 = 4.3 / 16
        |i| weight(i).divided_by(total),
    );
}

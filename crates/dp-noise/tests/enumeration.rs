//! Proof by enumeration: every sampler is run over every possible draw and its law compared with
//! the formula, in integer arithmetic with rigorous error bounds. No sampling error, no float.

mod exact;

use std::num::NonZero;

use dp_noise::{
    Bits, DiscreteGaussian, DiscreteLaplace, Geometric, Ratio, bernoulli, bernoulli_exp,
    choose_exponentially, uniform_by_words,
};
use exact::{Interval, ONE, Tape, enumerate, exp_minus};

fn nonzero(n: u128) -> NonZero<u128> {
    NonZero::new(n).expect("positive")
}

fn ratio(a: u128, b: u128) -> Ratio {
    Ratio::new(a, b).expect("valid")
}

/// The law found must agree with the formula for every output that was found, to within the mass
/// of the branches that were cut off.
fn check<T: Ord + Copy + std::fmt::Debug>(
    name: &str,
    sampler: impl Fn(&mut Tape) -> T,
    probability: impl Fn(T) -> Interval,
) {
    let law = enumerate(30, sampler);
    assert!(!law.found.is_empty(), "{name}: nothing was enumerated");
    assert!(law.unresolved <= ONE >> 20, "{name}: unresolved {:.1e}", law.unresolved_share());
    for (&output, &found) in &law.found {
        let p = probability(output);
        assert!(found <= p.high, "{name}: {output:?} is too likely: {found} > {}", p.high);
        assert!(p.low <= found + law.unresolved, "{name}: {output:?} is too rare");
    }
}

#[test]
fn uniform_is_uniform_for_every_word_of_three_to_six_bits() {
    fn uniform<const W: u32>(tape: &mut Tape, n: u64) -> u64 {
        let n = NonZero::new(n).expect("positive");
        uniform_by_words::<W, _>(tape, |tape| tape.below(nonzero(1 << W)), n)
    }
    for n in 1..=8 {
        check("3 bits", |t| uniform::<3>(t, n), |_| Interval::ratio(1, n.into()));
    }
    for n in [1, 3, 5, 11, 16, 31, 32, 63, 64] {
        check("6 bits", |t| uniform::<6>(t, n), |_| Interval::ratio(1, n.into()));
    }
}

#[test]
fn coins_have_their_probability() {
    for b in 1..=6 {
        for a in 0..=b {
            let p = |heads: bool| {
                if heads { Interval::ratio(a, b) } else { Interval::ratio(b - a, b) }
            };
            check("bernoulli", |tape| bernoulli(tape, a, nonzero(b)), p);
        }
    }
}

#[test]
fn exponential_coins_have_their_probability() {
    for b in 1..=6_u128 {
        for a in 0..=3 * b {
            let p = exp_minus(a, b);
            check(
                &format!("exp(-{a}/{b})"),
                |tape| bernoulli_exp(tape, a, nonzero(b)),
                |heads| if heads { p } else { p.complement() },
            );
        }
    }
}

#[test]
fn choices_have_their_probability() {
    let cases: [(&[i64], u128, u128); 5] = [
        (&[7], 1, 1),
        (&[0, 0, 0], 2, 1),
        (&[0, 1], 1, 2),
        (&[-3, 2, 2, 0], 1, 3),
        (&[5, 9], 0, 1),
    ];
    for (scores, a, b) in cases {
        let weight = |i: usize| exp_minus(u128::from(9_i64.abs_diff(scores[i])) * a, b);
        let total = (0..scores.len()).map(weight).reduce(Interval::plus).expect("not empty");
        check(
            &format!("choice {scores:?} at {a}/{b}"),
            |tape| choose_exponentially(tape, scores, ratio(a, b)),
            |i| weight(i).divided_by(total),
        );
    }
}

#[test]
fn geometric_noise_has_its_law() {
    for (t, s) in [(1, 3), (1, 2), (1, 1), (3, 2), (2, 1)] {
        let geometric = Geometric::new(ratio(t, s)).expect("valid");
        let law = |x: u128| exp_minus(x * s, t).times(exp_minus(s, t).complement());
        check(&format!("geometric {t}/{s}"), |tape| geometric.sample(tape), law);
    }
}

#[test]
fn laplace_noise_has_its_law() {
    for (t, s) in [(1, 3), (1, 2), (1, 1), (3, 2), (2, 1)] {
        let laplace = DiscreteLaplace::new(ratio(t, s)).expect("valid");
        let a = exp_minus(s, t);
        let law = |z: i128| {
            exp_minus(z.unsigned_abs() * s, t).times(a.complement()).divided_by(a.plus_one())
        };
        check(&format!("laplace {t}/{s}"), |tape| laplace.sample(tape), law);
    }
}

#[test]
fn gaussian_noise_has_its_law() {
    for (a, b) in [(1, 4), (1, 1), (2, 1)] {
        let gaussian = DiscreteGaussian::new(ratio(a, b)).expect("valid");
        let weight = |z: i128| exp_minus(z.unsigned_abs().pow(2) * b, 2 * a);
        // Beyond |z| = 24 the weights sum to less than 2^-200, below the error carried anyway.
        let total = (-24..=24).map(weight).reduce(Interval::plus).expect("not empty");
        let law = |z: i128| weight(z).divided_by(total);
        check(&format!("gaussian {a}/{b}"), |tape| gaussian.sample(tape), law);
    }
}

/// The proof is worth as much as its power: each of these slips must fail it.
mod slips {
    use super::*;

    fn must_fail<T: Ord + Copy + std::fmt::Debug + std::panic::RefUnwindSafe>(
        sampler: impl Fn(&mut Tape) -> T + std::panic::UnwindSafe,
        probability: impl Fn(T) -> Interval + std::panic::UnwindSafe,
    ) {
        let outcome = std::panic::catch_unwind(|| check("slip", sampler, probability));
        assert!(outcome.is_err(), "the slip went unnoticed");
    }

    #[test]
    fn words_taken_modulo_n_are_biased() {
        must_fail(|tape| tape.below(nonzero(16)) % 3, |_| Interval::ratio(1, 3));
    }

    #[test]
    fn zero_with_two_signs_is_too_likely() {
        let geometric = Geometric::new(ratio(1, 1)).expect("valid");
        let a = exp_minus(1, 1);
        must_fail(
            move |tape| {
                let sign = if tape.below(nonzero(2)) == 1 { -1 } else { 1 };
                sign * i128::try_from(geometric.sample(tape)).expect("small")
            },
            move |z| {
                let weight = exp_minus(z.unsigned_abs(), 1);
                weight.times(a.complement()).divided_by(a.plus_one())
            },
        );
    }

    #[test]
    fn at_most_for_below_is_biased() {
        must_fail(
            |tape| tape.below(nonzero(6)) <= 2,
            |heads| Interval::ratio(if heads { 2 } else { 4 }, 6),
        );
    }

    #[test]
    fn laplace_proposals_accepted_unthinned_are_not_gaussian() {
        let laplace = DiscreteLaplace::new(ratio(2, 1)).expect("valid");
        let weight = |z: i128| exp_minus(z.unsigned_abs().pow(2), 2);
        let total = (-24..=24).map(weight).reduce(Interval::plus).expect("not empty");
        must_fail(move |tape| laplace.sample(tape), move |z| weight(z).divided_by(total));
    }
}

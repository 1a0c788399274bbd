//! Uniform integers and coins.

use std::num::NonZero;

use dp_noise::{Bits, bernoulli, bernoulli_exp, reference, uniform_by_words};

use super::exact::{Interval, Tape, exp_minus};
use super::{check, check_all_words, nonzero};

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
            check("bernoulli", |tape: &mut Tape| bernoulli(tape, a, nonzero(b)), p);
        }
    }
}

#[test]
fn exponential_coins_have_their_probability() {
    for b in 1..=6_u128 {
        for a in 0..=3 * b {
            let p = exp_minus(a, b);
            let p = |heads| if heads { p } else { p.complement() };
            let name = format!("exp(-{a}/{b})");
            check_all_words!(&name, |tape| bernoulli_exp(tape, a, nonzero(b)), p);
            check(&name, |tape: &mut Tape| reference::bernoulli_exp(tape, a, nonzero(b)), p);
        }
    }
}

/// Arguments of many digits, where the 64-bit value is cut from wider numbers.
#[test]
fn exponential_coins_of_long_arguments_have_their_probability() {
    let shift = 57;
    for (a, b) in [(1, 3), (2, 1), (7, 5)] {
        let p = exp_minus(a, b);
        let p = |heads| if heads { p } else { p.complement() };
        let (a, b) = ((a << shift) * 3 + 1, (b << shift) * 3); // off by less than 2^-58
        let widen = |p: Interval| Interval { low: p.low - 32, high: p.high + 32 };
        check_all_words!("long", |tape| bernoulli_exp(tape, a, nonzero(b)), |heads| widen(p(
            heads
        )));
    }
}

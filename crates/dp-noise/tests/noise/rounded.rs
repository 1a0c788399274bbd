//! Rounded normal noise: its law, and slips in its parts that enumeration must catch. The sampler itself is enumerated where it is defined.

use dp_noise::{Bits, bernoulli, bernoulli_exp};
use num_bigint::BigInt;

use super::exact::{Interval, ONE, Tape, enumerate, exp_minus};
use super::nonzero;
use super::rounded_law::{BITS, integral, rounded_law};

#[test]
fn the_law_agrees_with_published_values() {
    // Phi(0.5) - Phi(-0.5) and Phi(1.5) - Phi(0.5), from tables of the normal distribution.
    for (z, share) in [(0, 0.382_924_922_548_026), (1, 0.241_730_337_457_129)] {
        let p = rounded_law(1, 1)(z);
        assert!((p.low as f64 / ONE as f64 - share).abs() < 1e-14, "{z}");
    }
    let total: u128 = (-40..=40).map(|z| rounded_law(7, 3)(z).low).sum();
    assert!(ONE - total < 1000);
}

/// Whether enumeration, down to `2^-12`, finds the law in the sampler. Less deep than the proof: slips are coarse.
fn agrees(sampler: impl Fn(&mut Tape) -> i128, law: impl Fn(i128) -> Interval) -> bool {
    let found = enumerate(26, sampler);
    assert!(found.unresolved <= ONE >> 12, "{:e}", found.unresolved_share());
    found.found.iter().all(|(&z, &mass)| {
        let p = law(z);
        mass <= p.high && p.low <= mass + found.unresolved
    })
}

/// The sampler once more, over cells of half an integer at variance `1/4`, so that `w = 1`, with a switch for each slip.
fn plain(tape: &mut Tape, slip: Slip) -> i128 {
    let negative = bernoulli(tape, 1, nonzero(2));
    let cell = tape.retry(|tape| {
        // Uniform cells, thinned by exp(-j^2 / 2): plain, and enough for a small variance.
        let cell = tape.below(nonzero(8));
        let weight = if slip == Slip::FarEndOfTheCell { (cell + 1).pow(2) } else { cell * cell };
        let near = bernoulli_exp(tape, weight, nonzero(2));
        (near && (slip == Slip::NoSecondFactor || below_all(tape, cell, slip))).then_some(cell)
    });
    let nearest = if slip == Slip::RoundedDown { cell / 2 } else { cell.div_ceil(2) };
    if slip == Slip::ZeroHasOneSign && nearest == 0 && negative {
        return 1;
    }
    let magnitude = i128::try_from(nearest).expect("small");
    if negative { -magnitude } else { magnitude }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Slip {
    None,
    NoSecondFactor,
    FarEndOfTheCell,
    RoundedDown,
    ZeroHasOneSign,
    AllSingle,
    AllPairs,
    EitherOfAPair,
    SNeverLast,
    OneMarkTooFew,
}

/// `A_j` at `w = 1`: single marks of mean `j`, pairs of mean 1/2.
fn below_all(tape: &mut Tape, cell: u128, slip: Slip) -> bool {
    let (mut single, mut pairs) = (poisson(tape, cell, 1), poisson(tape, 1, 2));
    match slip {
        Slip::AllSingle => (single, pairs) = (single + pairs, 0),
        Slip::AllPairs => (single, pairs) = (0, single + pairs),
        Slip::OneMarkTooFew => single = single.saturating_sub(1),
        _ => {}
    }
    let marks = single + 2 * pairs;
    let places = if slip == Slip::SNeverLast { marks.max(1) } else { marks + 1 };
    let before = tape.below(nonzero(places));
    let pairs = if slip == Slip::EitherOfAPair { 0 } else { pairs };
    (0..before).all(|i| bernoulli(tape, 2 * pairs.saturating_sub(i), nonzero(marks - i)))
}

/// A Poisson count below 24 by counting: `n` is proposed uniformly and kept in proportion to its probability over the largest.
fn poisson(tape: &mut Tape, a: u128, b: u128) -> u128 {
    tape.retry(|tape| {
        let n = tape.below(nonzero(24));
        // mean^n / n! over the largest of them, as a product of coins.
        let top = a / b;
        let kept = (n + 1..=top).all(|i| bernoulli(tape, i * b, nonzero(a)))
            && (top + 1..=n).all(|i| bernoulli(tape, a, nonzero(i * b)));
        kept.then_some(n)
    })
}

#[test]
fn every_slip_in_the_parts_is_caught() {
    assert!(agrees(|tape| plain(tape, Slip::None), rounded_law(1, 4)), "no slip");
    for slip in [
        Slip::NoSecondFactor,
        Slip::FarEndOfTheCell,
        Slip::RoundedDown,
        Slip::ZeroHasOneSign,
        Slip::AllSingle,
        Slip::AllPairs,
        Slip::EitherOfAPair,
        Slip::SNeverLast,
        Slip::OneMarkTooFew,
    ] {
        assert!(!agrees(|tape| plain(tape, slip), rounded_law(1, 4)), "{slip:?}");
    }
}

/// `A_0` at variance `w` is the mean of `exp(-s^2 / 2w)`, which the two integrals give too.
#[test]
fn the_integral_of_the_law_is_that_of_the_exponential() {
    // From 0 to 1/2 at v = 1/4: between 2^10 rectangles below and above, which differ by (1 - e^-1/2) / 2^11.
    let steps = 1024;
    let at = |i: u128| exp_minus(i * i, 2 * steps * steps);
    let below: u128 = (1..=steps).map(|i| at(i).low).sum::<u128>() / (2 * steps);
    let above: u128 = (0..steps).map(|i| at(i).high).sum::<u128>() / (2 * steps) + 1;
    let exact = u128::try_from((integral(1, 1, 4) * BigInt::from(ONE)) >> BITS).expect("positive");
    assert!(below <= exact && exact <= above && above - below < ONE / 5000);
}

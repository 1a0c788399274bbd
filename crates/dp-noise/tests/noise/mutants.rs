//! The published samplers written out once more, with a switch for every slip that is easy to make. Without a slip each passes the
//! enumeration, with any one of them it fails: that is the power of the proof, measured on the source and not on wrong formulas.

use std::num::NonZero;

use dp_noise::{Bits, Ratio, uniform_by_words};

use super::exact::{Interval, Tape, enumerate, exp_minus};
use super::noise::{gaussian_law, geometric_law, laplace_law};
use super::{nonzero, ratio};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slip {
    None,
    // The coin of probability exp(-a/b).
    EvenForOdd,
    SeriesStartsLate,
    NoFactorial,
    OneWholeStepTooMany,
    FractionForgotten,
    // The geometric variable.
    UniformUnthinned,
    UniformIncludesItsEnd,
    CountStartsAtOne,
    NotDivided,
    DividedUp,
    ScaleUpsideDown,
    WrongCommonDivisor,
    // The two-sided variable.
    NegativeZeroKept,
    BothZerosRedone,
    BiasedSign,
    // The Gaussian variable.
    CentreAtZero,
    NoTwoInTheDenominator,
    SquareForgotten,
    AcceptedTheOtherWay,
}

use Slip::None as NoSlip;

/// `exp(-a/b)` by von Neumann's series.
fn coin(tape: &mut Tape, a: u128, b: u128, slip: Slip) -> bool {
    let whole = a / b + u128::from(slip == Slip::OneWholeStepTooMany);
    for _ in 0..whole {
        if !fraction(tape, 1, 1, slip) {
            return false;
        }
    }
    slip == Slip::FractionForgotten || fraction(tape, a % b, b, slip)
}

fn fraction(tape: &mut Tape, a: u128, b: u128, slip: Slip) -> bool {
    tape.retry(|tape| {
        let mut k = if slip == Slip::SeriesStartsLate { 2 } else { 1 };
        while tape.below(nonzero(b)) < a
            && (slip == Slip::NoFactorial || tape.below(nonzero(k)) == 0)
        {
            k += 1;
        }
        Some((k % 2 == 1) != (slip == Slip::EvenForOdd))
    })
}

fn geometric(tape: &mut Tape, t: u128, s: u128, slip: Slip) -> u128 {
    let (t, s) = match slip {
        Slip::ScaleUpsideDown => (s, t),
        // 6/4 taken to lowest terms above the line only.
        Slip::WrongCommonDivisor => (t, 2 * s),
        _ => (t, s),
    };
    let u = tape.retry(|tape| {
        let u = tape.below(nonzero(t + u128::from(slip == Slip::UniformIncludesItsEnd)));
        (slip == Slip::UniformUnthinned || coin(tape, u, t, slip)).then_some(u)
    });
    let mut v = u128::from(slip == Slip::CountStartsAtOne);
    while coin(tape, 1, 1, slip) {
        v += 1;
    }
    match slip {
        Slip::NotDivided => u + t * v,
        Slip::DividedUp => (u + t * v).div_ceil(s),
        _ => (u + t * v) / s,
    }
}

fn laplace(tape: &mut Tape, t: u128, s: u128, slip: Slip) -> i128 {
    tape.retry(|tape| {
        let sides = if slip == Slip::BiasedSign { 3 } else { 2 };
        let negative = tape.below(nonzero(sides)) == 0;
        let magnitude = i128::try_from(geometric(tape, t, s, slip)).expect("small");
        let redo = magnitude == 0
            && (slip == Slip::BothZerosRedone || (negative && slip != Slip::NegativeZeroKept));
        (!redo).then_some(if negative { -magnitude } else { magnitude })
    })
}

fn gaussian(tape: &mut Tape, a: u128, b: u128, slip: Slip) -> i128 {
    let t = (a / b).isqrt() + 1;
    tape.retry(|tape| {
        let y = laplace(tape, t, 1, slip);
        let centre = if slip == Slip::CentreAtZero { 0 } else { a };
        let distance = (y.unsigned_abs() * t * b).abs_diff(centre);
        let square = if slip == Slip::SquareForgotten { distance } else { distance * distance };
        let two = if slip == Slip::NoTwoInTheDenominator { 1 } else { 2 };
        let accepted = coin(tape, square, two * a * b * t * t, slip);
        (accepted != (slip == Slip::AcceptedTheOtherWay)).then_some(y)
    })
}

/// Whether the law found can be the stated one: the rule of `check`, as a verdict.
fn passes<T: Ord + Clone>(
    sampler: impl Fn(&mut Tape) -> T,
    probability: impl Fn(T) -> Interval,
) -> bool {
    let law = enumerate(24, sampler);
    assert!(!law.found.is_empty() && law.unresolved_share() < 0.01, "too little was resolved");
    law.found.iter().all(|(output, &found)| {
        let p = probability(output.clone());
        found <= p.high && p.low <= found + law.unresolved
    })
}

#[test]
fn slips_in_the_coin() {
    let verdict = |a, b, slip| {
        passes(
            |tape| coin(tape, a, b, slip),
            |heads| {
                let p = exp_minus(a, b);
                if heads { p } else { p.complement() }
            },
        )
    };
    // 7/5 has a whole part and a fraction; without the factorial a whole step would never end.
    assert!(verdict(7, 5, NoSlip) && verdict(2, 5, NoSlip));
    for slip in [
        Slip::EvenForOdd,
        Slip::SeriesStartsLate,
        Slip::OneWholeStepTooMany,
        Slip::FractionForgotten,
    ] {
        assert!(!verdict(7, 5, slip), "{slip:?} went unnoticed");
    }
    assert!(!verdict(2, 5, Slip::NoFactorial), "the missing factorial went unnoticed");
}

#[test]
fn slips_in_the_geometric_variable() {
    let verdict = |slip| passes(|tape| geometric(tape, 3, 2, slip), geometric_law(3, 2));
    assert!(verdict(NoSlip));
    for slip in [
        Slip::UniformUnthinned,
        Slip::UniformIncludesItsEnd,
        Slip::CountStartsAtOne,
        Slip::NotDivided,
        Slip::DividedUp,
        Slip::ScaleUpsideDown,
        Slip::WrongCommonDivisor,
    ] {
        assert!(!verdict(slip), "{slip:?} went unnoticed");
    }
}

#[test]
fn slips_in_the_two_sided_variable() {
    let verdict = |slip| passes(|tape| laplace(tape, 1, 1, slip), laplace_law(1, 1));
    assert!(verdict(NoSlip));
    for slip in [Slip::NegativeZeroKept, Slip::BothZerosRedone, Slip::BiasedSign] {
        assert!(!verdict(slip), "{slip:?} went unnoticed");
    }
}

#[test]
fn slips_in_the_gaussian_variable() {
    let verdict = |slip| passes(|tape| gaussian(tape, 1, 1, slip), gaussian_law(1, 1));
    assert!(verdict(NoSlip));
    for slip in [
        Slip::CentreAtZero,
        Slip::NoTwoInTheDenominator,
        Slip::SquareForgotten,
        Slip::AcceptedTheOtherWay,
    ] {
        assert!(!verdict(slip), "{slip:?} went unnoticed");
    }
}

/// Rejection from words of four bits, at every `n`: the strip that must be redone is the remainder, no more and no less.
#[test]
fn slips_in_the_rejection() {
    let biased = |n: u128, redo: fn(u128, u128) -> bool| {
        !passes(
            |tape| {
                tape.retry(|tape| {
                    let product = u128::from(tape.word()) * n;
                    (!redo(product % 16, 16 % n)).then_some(product >> 4)
                })
            },
            |_| Interval::ratio(1, n),
        )
    };
    let caught = |redo| (2..=15).filter(|n| biased(*n, redo)).count();
    assert_eq!(caught(|low, strip| low < strip), 0, "no slip");
    // Powers of two need no redo; all others do.
    assert_eq!(caught(|_, _| false), 11, "no redo at all");
    assert!(caught(|low, strip| low <= strip) >= 3, "at most for below");
    assert!(caught(|low, strip| low + 1 < strip) >= 3, "off by one");
    let library = |n: u64| {
        let n = NonZero::new(n).expect("positive");
        passes(
            |tape: &mut Tape| uniform_by_words::<4, _>(tape, |tape| tape.word().into(), n),
            |_| Interval::ratio(1, n.get().into()),
        )
    };
    assert!((1..=16).all(library), "the library's");
}

/// Lowest terms are what the samplers divide by: a part left unreduced is another scale.
#[test]
fn slips_in_the_common_divisor() {
    let reduced: Ratio = ratio(6, 4);
    assert_eq!((reduced.numerator(), reduced.denominator().get()), (3, 2));
    let verdict = |t, s| passes(|tape| geometric(tape, t, s, NoSlip), geometric_law(6, 4));
    assert!(verdict(3, 2) && verdict(6, 4), "any terms of the same ratio will do");
    assert!(!verdict(3, 4), "only the numerator divided");
    assert!(!verdict(6, 2), "only the denominator divided");
    assert!(!verdict(2, 1), "divided by 3 and rounded");
}

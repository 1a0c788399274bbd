//! Bounds as values: a number that is certainly not below, or not above, what it stands for.
//!
//! Every operation rounds outward. NaN cannot be held: what is not known is infinite, on the side that claims nothing. An upper bound that
//! underflows stays above 0, so a 0 is only ever exact; and 0 times what is not known is 0, since a mass of 0 weighs nothing.
//!
//! `f64::max` and its kin drop a NaN in favour of the other number, which turns "not known" into a claim. The lints of this crate refuse them.
//! Numbers that only choose a route (an order, a step, where to look next) are compared by [`larger`] and the functions beside it, which keep a NaN.

use std::ops::{Add, Sub};

use crate::rounding::{UNIT, add_up, mul_up, sqrt_up};

/// The smallest positive number.
pub(crate) const LEAST: f64 = f64::from_bits(1);

/// Relative error of an elementary function, in units; taken on trust.
const ELEMENTARY: f64 = 4.0;

/// At least the true value.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) struct Upper(f64);

/// At most the true value.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) struct Lower(f64);

impl Upper {
    pub(crate) const ZERO: Self = Self(0.0);
    pub(crate) const ONE: Self = Self(1.0);
    pub(crate) const UNKNOWN: Self = Self(f64::INFINITY);

    /// A number that is known to be at least the true value; unknown if it is NaN.
    pub(crate) fn new(value: f64) -> Self {
        if value.is_nan() { Self::UNKNOWN } else { Self(value) }
    }

    /// A computed value that is off by at most `error`.
    pub(crate) fn near(value: f64, error: f64) -> Self {
        if error == 0.0 { Self::new(value) } else { Self::new(value + error).up() }
    }

    pub(crate) const fn get(self) -> f64 {
        self.0
    }

    pub(crate) fn is_known(self) -> bool {
        self.0 < f64::INFINITY
    }

    fn up(self) -> Self {
        Self(self.0.next_up())
    }

    /// Both bound the same value: the better one.
    pub(crate) fn or(self, other: Self) -> Self {
        if other.0 < self.0 { other } else { self }
    }

    /// A bound of the larger of two values.
    pub(crate) fn max(self, other: Self) -> Self {
        if other.0 > self.0 { other } else { self }
    }

    /// Of a product of two values that are not negative.
    pub(crate) fn times(self, other: Self) -> Self {
        if self.0 <= 0.0 || other.0 <= 0.0 {
            return Self::ZERO;
        }
        // Above 0, however small it is.
        Self::new(mul_up(self.0, other.0))
    }

    /// Of a value times a count.
    pub(crate) fn of_uses(self, count: f64) -> Self {
        if self.0 >= 0.0 { self.times(Self::new(count)) } else { Self::new(self.0 * count).up() }
    }

    /// Of the ratio of two values that are not negative.
    pub(crate) fn over(self, divisor: Lower) -> Self {
        if divisor.0 <= 0.0 {
            return Self::UNKNOWN;
        }
        if self.0 <= 0.0 { Self::ZERO } else { Self::new(self.0 / divisor.0).up() }
    }

    /// Of the root of a value that is not negative.
    pub(crate) fn sqrt(self) -> Self {
        Self::new(sqrt_up(self.0))
    }

    /// Of `e` to the value.
    pub(crate) fn exp(self) -> Self {
        if self.0 == f64::NEG_INFINITY {
            return Self::ZERO;
        }
        let power = libm::exp(self.0);
        Self::new(power + ELEMENTARY * UNIT * power).up()
    }

    /// Raised by `units` roundings, each relative or, next to 0, by half the smallest number.
    pub(crate) fn raised(self, units: f64) -> Self {
        if self.0 == 0.0 { self } else { Self::near(self.0, roundings(self.0, units)) }
    }

    /// Of a value that is known not to be negative.
    pub(crate) fn at_least_0(self) -> Self {
        self.max(Self::ZERO)
    }
}

impl Lower {
    pub(crate) const ZERO: Self = Self(0.0);
    pub(crate) const UNKNOWN: Self = Self(f64::NEG_INFINITY);

    /// A number that is known to be at most the true value; unknown if it is NaN.
    pub(crate) fn new(value: f64) -> Self {
        if value.is_nan() { Self::UNKNOWN } else { Self(value) }
    }

    /// A computed value that is off by at most `error`.
    pub(crate) fn near(value: f64, error: f64) -> Self {
        if error == 0.0 { Self::new(value) } else { Self::new(value - error).down() }
    }

    pub(crate) const fn get(self) -> f64 {
        self.0
    }

    fn down(self) -> Self {
        Self(self.0.next_down())
    }

    /// A bound of the larger of two values, and the better of two bounds of the same.
    pub(crate) fn max(self, other: Self) -> Self {
        if other.0 > self.0 { other } else { self }
    }

    /// Of a product of two values that are not negative.
    pub(crate) fn times(self, other: Self) -> Self {
        if self.0 <= 0.0 || other.0 <= 0.0 {
            return Self::ZERO;
        }
        Self::new(self.0 * other.0).down().at_least_0()
    }

    /// Of `e` to the value.
    pub(crate) fn exp(self) -> Self {
        let power = libm::exp(self.0);
        Self::near(power, ELEMENTARY * UNIT * power).at_least_0()
    }

    /// Lowered by `units` roundings, as [`Upper::raised`].
    pub(crate) fn lowered(self, units: f64) -> Self {
        if self.0 == 0.0 { self } else { Self::near(self.0, roundings(self.0, units)) }
    }

    /// Of a value that is known not to be negative.
    pub(crate) fn at_least_0(self) -> Self {
        self.max(Self::ZERO)
    }
}

/// What so many roundings of a value of about this size come to.
fn roundings(value: f64, units: f64) -> f64 {
    units * (UNIT * value.abs() + LEAST)
}

/// Both sides of one value. That they do not contradict each other is checked where they leave the crate, see [`Bound`](crate::Bound).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Between {
    pub(crate) lower: Lower,
    pub(crate) upper: Upper,
}

impl Between {
    pub(crate) const ZERO: Self = Self { lower: Lower::ZERO, upper: Upper::ZERO };

    /// A value that is not negative, of which nothing else is known.
    pub(crate) const ANY: Self = Self { lower: Lower::ZERO, upper: Upper::UNKNOWN };

    pub(crate) fn gap(self) -> f64 {
        if self.lower.0 == f64::INFINITY { 0.0 } else { self.upper.0 - self.lower.0 }
    }

    /// What two bounds of the same value say together.
    pub(crate) fn and(self, other: Self) -> Self {
        Self { lower: self.lower.max(other.lower), upper: self.upper.or(other.upper) }
    }

    /// Of the larger of two values.
    pub(crate) fn max(self, other: Self) -> Self {
        Self { lower: self.lower.max(other.lower), upper: self.upper.max(other.upper) }
    }
}

impl Add for Upper {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::new(add_up(self.0, other.0))
    }
}

impl Sub<Lower> for Upper {
    type Output = Self;
    fn sub(self, other: Lower) -> Self {
        Self::new(add_up(self.0, -other.0))
    }
}

impl Add for Lower {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::new(-add_up(-self.0, -other.0))
    }
}

impl Sub<Upper> for Lower {
    type Output = Self;
    fn sub(self, other: Upper) -> Self {
        Self::new(-add_up(-self.0, other.0))
    }
}

/// The sum of bounds.
pub(crate) fn total(items: impl IntoIterator<Item = Upper>) -> Upper {
    let mut total = Upper::ZERO;
    for item in items {
        total = total + item;
    }
    total
}

/// The larger of two numbers; NaN if either is.
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

/// The smaller of two numbers; NaN if either is.
pub(crate) fn smaller(a: f64, b: f64) -> f64 {
    if a.is_nan() || a < b { a } else { b }
}

/// `x` cut to `[low, high]`; NaN if it is.
pub(crate) fn within(x: f64, low: f64, high: f64) -> f64 {
    smaller(larger(x, low), high)
}

/// The largest of some numbers, `-infinity` if there are none; NaN if one is.
pub(crate) fn largest(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let mut most = f64::NEG_INFINITY;
    for x in numbers {
        most = larger(most, x);
    }
    most
}

/// The least of some numbers, infinite if there are none; NaN if one is.
pub(crate) fn least(numbers: impl IntoIterator<Item = f64>) -> f64 {
    -largest(numbers.into_iter().map(|x| -x))
}

/// The plain sum, for numbers whose rounding is counted elsewhere.
pub(crate) fn sum(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let mut total = 0.0;
    for x in numbers {
        total += x;
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    const NASTY: [f64; 12] = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        -1.0,
        0.0,
        LEAST,
        1e-200,
        0.1,
        1.0,
        700.5,
        1e200,
    ];

    #[test]
    fn nan_is_unknown_whatever_is_done() {
        for a in NASTY {
            for b in NASTY {
                let (x, y, low) = (Upper::new(a), Upper::new(b), Lower::new(b));
                let upper = [x + y, x - low, x.times(y), x.over(low), x.or(y), x.max(y), x.exp()];
                assert!(upper.iter().all(|bound| !bound.0.is_nan()), "{a} {b}: {upper:?}");
                let (x, y, up) = (Lower::new(a), Lower::new(b), Upper::new(b));
                let lower = [x + y, x - up, x.times(y), x.max(y), x.lowered(3.0)];
                assert!(lower.iter().all(|bound| !bound.0.is_nan()), "{a} {b}: {lower:?}");
            }
        }
        assert_eq!(Upper::new(f64::NAN), Upper::UNKNOWN);
        assert_eq!(Upper::near(1.0, f64::NAN), Upper::UNKNOWN);
        assert_eq!(Lower::new(f64::NAN), Lower::UNKNOWN);
        assert_eq!(Upper::UNKNOWN - Lower::new(f64::INFINITY), Upper::UNKNOWN);
    }

    #[test]
    fn only_an_exact_zero_is_zero() {
        assert!(Upper::new(1e-200).times(Upper::new(1e-200)).get() > 0.0);
        assert!(Upper::new(-1e4).exp().get() > 0.0);
        assert_eq!(Upper::new(f64::NEG_INFINITY).exp(), Upper::ZERO);
        assert_eq!(Upper::ZERO.times(Upper::UNKNOWN), Upper::ZERO);
        assert!(Lower::new(1e-200).times(Lower::new(1e-200)).get() <= 0.0);
    }

    #[test]
    fn overflow_is_unknown() {
        let most = Upper::new(f64::MAX);
        assert!(
            ![most + most, most.times(most), Upper::new(1e3).exp()].iter().any(|x| x.is_known())
        );
        assert_eq!(Upper::new(1.0).over(Lower::ZERO), Upper::UNKNOWN);
    }

    #[test]
    fn sums_and_products_enclose() {
        let tenth = 0.1_f64;
        assert!((Upper::new(tenth) + Upper::new(0.2)).get() >= 0.3);
        assert!((Lower::new(tenth) + Lower::new(0.2)).get() <= 0.300_000_000_000_000_04);
        let (up, low) =
            (Upper::new(tenth).times(Upper::new(3.0)), Lower::new(tenth).times(Lower::new(3.0)));
        assert!(low.get() < up.get());
    }

    /// Unlike `f64::max`.
    #[test]
    fn choices_keep_a_nan() {
        assert!(larger(f64::NAN, 1.0).is_nan() && larger(1.0, f64::NAN).is_nan());
        assert!(smaller(f64::NAN, 1.0).is_nan() && smaller(1.0, f64::NAN).is_nan());
        assert!(largest([1.0, f64::NAN, 2.0]).is_nan() && least([f64::NAN, 2.0]).is_nan());
        assert!(within(f64::NAN, 0.0, 1.0).is_nan());
        assert_eq!(largest([1.0, 3.0, 2.0]).to_bits(), 3.0_f64.to_bits());
        assert_eq!(least([2.0, 1.0, 3.0]).to_bits(), 1.0_f64.to_bits());
        assert_eq!(within(7.0, 0.0, 1.0).to_bits(), 1.0_f64.to_bits());
    }
}

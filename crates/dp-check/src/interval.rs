//! Intervals that hold the exact result of every operation.

use std::fmt;
use std::ops::{Add, Div, Mul, Neg, Sub};
use std::sync::LazyLock;

use num_bigint::BigInt;

use crate::big::{BITS, Big, Round};

/// All numbers from one end to the other; the exact value of what was computed is among them.
#[derive(Clone, Debug)]
pub struct Interval {
    pub(crate) lo: Big,
    pub(crate) hi: Big,
}

impl Interval {
    /// Exactly one float, which is finite.
    pub fn of(x: f64) -> Self {
        Self::point(Big::of(x))
    }

    /// A whole number.
    pub fn whole(x: u64) -> Self {
        Self::point(Big::new(BigInt::from(x), 0, Round::Down))
    }

    pub(crate) fn point(x: Big) -> Self {
        Self { lo: x.clone(), hi: x }
    }

    pub(crate) fn zero() -> Self {
        Self::of(0.0)
    }

    pub(crate) fn one() -> Self {
        Self::of(1.0)
    }

    /// The smallest interval that holds both.
    #[must_use]
    pub fn hull(&self, other: &Self) -> Self {
        Self {
            lo: self.lo.clone().min(other.lo.clone()),
            hi: self.hi.clone().max(other.hi.clone()),
        }
    }

    /// The larger of both numbers.
    #[must_use]
    pub fn max(&self, other: &Self) -> Self {
        Self {
            lo: self.lo.clone().max(other.lo.clone()),
            hi: self.hi.clone().max(other.hi.clone()),
        }
    }

    /// What is above 0 of it.
    #[must_use]
    pub fn positive_part(&self) -> Self {
        self.max(&Self::zero())
    }

    /// Certainly below a float.
    pub fn is_below(&self, x: f64) -> bool {
        x == f64::INFINITY || self.hi < Big::of(x)
    }

    /// Certainly above a float.
    pub fn is_above(&self, x: f64) -> bool {
        x == f64::NEG_INFINITY || self.lo > Big::of(x)
    }

    /// Perhaps above a float.
    pub fn reaches_above(&self, x: f64) -> bool {
        x != f64::INFINITY && self.hi > Big::of(x)
    }

    /// Perhaps below a float.
    pub fn reaches_below(&self, x: f64) -> bool {
        self.lo < Big::of(x)
    }

    /// Certainly above 0.
    pub fn is_positive(&self) -> bool {
        !self.lo.is_negative() && !self.lo.is_zero()
    }

    /// Certainly not above 0.
    pub(crate) fn is_nowhere_positive(&self) -> bool {
        self.hi.is_negative() || self.hi.is_zero()
    }

    /// About its middle, as a float; not a bound.
    pub fn approximate(&self) -> f64 {
        self.lo.add(&self.hi, Round::Down).scaled(-1).approximate()
    }

    /// About its width over its middle; not a bound.
    pub fn relative_width(&self) -> f64 {
        let width = self.hi.add(&self.lo.neg(), Round::Up);
        if width.is_zero() {
            return 0.0;
        }
        if !self.is_positive() {
            return f64::INFINITY;
        }
        width.div(&self.lo, Round::Up).approximate()
    }

    /// `self * 2^by`.
    #[must_use]
    pub(crate) fn scaled(&self, by: i64) -> Self {
        Self { lo: self.lo.scaled(by), hi: self.hi.scaled(by) }
    }

    /// The whole power by squaring.
    #[must_use]
    pub fn power(&self, mut n: u64) -> Self {
        let (mut square, mut result) = (self.clone(), Self::one());
        while n > 0 {
            if n & 1 == 1 {
                result = &result * &square;
            }
            square = &square * &square;
            n >>= 1;
        }
        result
    }

    /// The square root of numbers that are not negative.
    #[must_use]
    pub fn sqrt(&self) -> Self {
        assert!(!self.lo.is_negative(), "roots of numbers from 0 on");
        Self { lo: self.lo.sqrt(Round::Down), hi: self.hi.sqrt(Round::Up) }
    }

    /// `e^self`.
    #[must_use]
    pub fn exp(&self) -> Self {
        if self.lo == self.hi {
            return exp_of(&self.lo);
        }
        Self { lo: exp_of(&self.lo).lo, hi: exp_of(&self.hi).hi }
    }

    /// The natural logarithm of numbers above 0.
    #[must_use]
    pub fn ln(&self) -> Self {
        assert!(self.is_positive(), "logarithms of positive numbers");
        if self.lo == self.hi {
            return ln_of(&self.lo);
        }
        Self { lo: ln_of(&self.lo).lo, hi: ln_of(&self.hi).hi }
    }
}

impl Add for &Interval {
    type Output = Interval;
    fn add(self, other: Self) -> Interval {
        Interval { lo: self.lo.add(&other.lo, Round::Down), hi: self.hi.add(&other.hi, Round::Up) }
    }
}

impl Neg for &Interval {
    type Output = Interval;
    fn neg(self) -> Interval {
        Interval { lo: self.hi.neg(), hi: self.lo.neg() }
    }
}

impl Sub for &Interval {
    type Output = Interval;
    fn sub(self, other: Self) -> Interval {
        self + &-other
    }
}

impl Mul for &Interval {
    type Output = Interval;
    fn mul(self, other: Self) -> Interval {
        if !self.lo.is_negative() && !other.lo.is_negative() {
            return Interval {
                lo: self.lo.mul(&other.lo, Round::Down),
                hi: self.hi.mul(&other.hi, Round::Up),
            };
        }
        let ends = |round| {
            [
                (&self.lo, &other.lo),
                (&self.lo, &other.hi),
                (&self.hi, &other.lo),
                (&self.hi, &other.hi),
            ]
            .map(|(a, b)| a.mul(b, round))
        };
        let lo = ends(Round::Down).into_iter().min().expect("four products");
        Interval { lo, hi: ends(Round::Up).into_iter().max().expect("four products") }
    }
}

impl Div for &Interval {
    type Output = Interval;
    /// By numbers above 0.
    fn div(self, other: Self) -> Interval {
        let by = |end: &Big, round| {
            let shrinks = end.is_negative() == (round == Round::Up);
            // The larger divisor brings the quotient closer to 0.
            end.div(if shrinks { &other.hi } else { &other.lo }, round)
        };
        Interval { lo: by(&self.lo, Round::Down), hi: by(&self.hi, Round::Up) }
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let middle = self.approximate();
        if middle == 0.0 && !self.lo.is_zero() {
            write!(f, "2^{}", self.hi.top())
        } else {
            write!(f, "{middle:.17e} (width {:.1e})", self.relative_width())
        }
    }
}

/// `2 sum of z^(2n+1) / (2n+1)`, the logarithm of `(1 + z) / (1 - z)`, for `0 < z <= 1/3`.
fn atanh_doubled(z: &Interval) -> Interval {
    let square = z * z;
    let (mut power, mut sum, mut n) = (z.clone(), Interval::zero(), 1);
    while power.hi.top() > -signed_bits() - 8 {
        sum = &sum + &(&power / &Interval::whole(n));
        power = &power * &square;
        n += 2;
    }
    // What is left is at most the next power times 1 + 1/9 + 1/81 + ..
    sum.hi = sum.hi.add(&power.hi.scaled(1), Round::Up);
    sum.scaled(1)
}

fn signed_bits() -> i64 {
    crate::big::signed(BITS)
}

pub(crate) fn ln_2() -> &'static Interval {
    static VALUE: LazyLock<Interval> =
        LazyLock::new(|| atanh_doubled(&(&Interval::one() / &Interval::of(3.0))));
    &VALUE
}

/// Machin: `pi / 4 = 4 arctan(1/5) - arctan(1/239)`.
pub(crate) fn pi() -> &'static Interval {
    fn arctan_inverse(n: u64) -> Interval {
        let step = &Interval::one() / &Interval::whole(n * n);
        let (mut power, mut sum, mut k) =
            (&Interval::one() / &Interval::whole(n), Interval::zero(), 1);
        while power.hi.top() > -signed_bits() - 8 {
            let term = &power / &Interval::whole(k);
            sum = if k % 4 == 1 { &sum + &term } else { &sum - &term };
            power = &power * &step;
            k += 2;
        }
        // Terms alternate and fall: what is left is at most the next one.
        let rest = Interval { lo: power.hi.neg(), hi: power.hi };
        &sum + &rest
    }
    static VALUE: LazyLock<Interval> =
        LazyLock::new(|| (&arctan_inverse(5).scaled(2) - &arctan_inverse(239)).scaled(2));
    &VALUE
}

/// The exponential function of one number.
fn exp_of(x: &Big) -> Interval {
    const HALVINGS: i64 = 8;
    let quotient = &Interval::point(x.clone()) / ln_2();
    let whole = quotient.lo.nearest().expect("the exponent of a result fits into 60 bits");
    let multiple = Interval::point(Big::new(whole.into(), 0, Round::Down));
    let small = (&Interval::point(x.clone()) - &(&multiple * ln_2())).scaled(-HALVINGS);
    assert!(small.lo.top() <= -8 && small.hi.top() <= -8, "at most a half before the halvings");
    let (mut term, mut sum, mut n) = (Interval::one(), Interval::one(), 1);
    while term.lo.top().max(term.hi.top()) > -signed_bits() - 16 {
        term = &(&term * &small) / &Interval::whole(n);
        sum = &sum + &term;
        n += 1;
    }
    // Each further term is at most 2^-8 of the one before, so all of them are less than the last.
    let last = term.lo.neg().max(term.hi);
    sum = &sum + &Interval { lo: last.neg(), hi: last };
    for _ in 0..HALVINGS {
        sum = &sum * &sum;
    }
    sum.scaled(whole)
}

/// The natural logarithm of one number above 0.
fn ln_of(x: &Big) -> Interval {
    // x = 2^n m with m between 1/2 and 1, and m = e^guess (1 + t) with a tiny t.
    let n = x.top();
    let m = x.scaled(-n);
    let guess = Interval::of(m.approximate().ln());
    let t = &(&Interval::point(m) * &(-&guess).exp()) - &Interval::one();
    assert!(t.lo.top() <= -20 && t.hi.top() <= -20, "the guess is good to six digits");
    let (mut power, mut sum, mut k) = (t.clone(), Interval::zero(), 1);
    loop {
        let term = &power / &Interval::whole(k);
        sum = if k % 2 == 1 { &sum + &term } else { &sum - &term };
        power = &power * &t;
        k += 1;
        let size = power.lo.neg().max(power.hi.clone());
        if size.top() < -2 * signed_bits() || size.top() < sum.lo.top() - signed_bits() - 8 {
            // All further terms together are less than twice the next.
            sum = &sum + &Interval { lo: size.scaled(1).neg(), hi: size.scaled(1) };
            break;
        }
    }
    let shift = Interval::point(Big::of(n as f64));
    &(&guess + &sum) + &(&shift * ln_2())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digits(x: &Interval) -> String {
        format!("{:.15e}", x.approximate())
    }

    #[test]
    fn constants_and_functions() {
        assert_eq!(digits(pi()), "3.141592653589793e0");
        assert_eq!(digits(ln_2()), "6.931471805599453e-1");
        assert_eq!(digits(&Interval::one().exp()), "2.718281828459045e0");
        assert_eq!(digits(&Interval::of(-1e4).exp().ln()), "-1.000000000000000e4");
        for x in [1e-300, 1e-9, 0.3, 1.0, 1.0 + 1e-15, 7.0, 1e200] {
            let x = Interval::of(x);
            for back in [x.ln().exp(), &x.sqrt() * &x.sqrt(), &(&x / &pi().clone()) * pi()] {
                assert!(back.lo <= x.lo && back.hi >= x.hi, "{x} is not in {back}");
                assert!(back.relative_width() < 1e-70, "{back}");
            }
        }
        // e^a e^b = e^(a+b), for arguments that are reduced differently.
        for (a, b) in [(0.1, 0.7), (-3.0, 1e3), (1e-200, 2.0), (-0.25, 0.25)] {
            let (a, b) = (Interval::of(a), Interval::of(b));
            let difference = &(&a.exp() * &b.exp()) - &(&a + &b).exp();
            assert!(difference.lo.is_negative() && !difference.hi.is_negative(), "{a} {b}");
        }
    }

    /// Against fractions, whose operations are exact: `a/7 op b/7`.
    #[test]
    fn operations_enclose() {
        let seventh = |n: i64| {
            let size = &Interval::whole(n.unsigned_abs()) / &Interval::of(7.0);
            if n < 0 { -&size } else { size }
        };
        let exact = |n: i64, m: u64| {
            let (n, m) = (Interval::of(n as f64), Interval::whole(m));
            (n, m)
        };
        for a in -9..=9_i64 {
            for b in -9..=9_i64 {
                let holds = |got: Interval, n: i64, m: u64| {
                    // lo * m <= n <= hi * m, exactly.
                    let (n, m) = exact(n, m);
                    let back = &got * &m;
                    assert!(back.lo <= n.lo && back.hi >= n.hi, "{a} {b}");
                };
                holds(&seventh(a) + &seventh(b), a + b, 7);
                holds(&seventh(a) - &seventh(b), a - b, 7);
                holds(&seventh(a) * &seventh(b), a * b, 49);
                if b > 0 {
                    let quotient = &seventh(a) / &seventh(b);
                    holds(quotient, a, b.unsigned_abs());
                }
            }
        }
    }

    /// Only what holds for all numbers of an interval is certain; what holds for one of them may be.
    #[test]
    fn what_is_certain_is_so_at_both_ends() {
        let wide = Interval::of(1.0).hull(&Interval::of(3.0));
        let also = Interval::of(3.0).hull(&Interval::of(1.0));
        for x in [&wide, &also] {
            for (at, below, above, may_be_above, may_be_below) in [
                (0.5, false, true, true, false),
                (1.0, false, false, true, false),
                (2.0, false, false, true, true),
                (3.0, false, false, false, true),
                (4.0, true, false, false, true),
            ] {
                assert_eq!([x.is_below(at), x.is_above(at)], [below, above], "{at}");
                let may_be = [x.reaches_above(at), x.reaches_below(at)];
                assert_eq!(may_be, [may_be_above, may_be_below], "{at}");
            }
            assert!(x.is_below(f64::INFINITY) && x.is_above(f64::NEG_INFINITY));
            assert!(!x.reaches_above(f64::INFINITY) && x.is_positive());
        }
        let around = Interval::of(-1.0).hull(&wide);
        assert!(!around.is_positive() && !around.is_nowhere_positive());
        assert!((-&wide).is_nowhere_positive() && Interval::zero().is_nowhere_positive());
        assert!(
            around.positive_part().lo == Big::of(0.0) && around.positive_part().hi == Big::of(3.0)
        );
        let larger = around.max(&Interval::of(2.0));
        assert!(larger.lo == Big::of(2.0) && larger.hi == Big::of(3.0));
    }

    /// A function that rises takes the ends of an interval to the ends of its result.
    #[test]
    fn functions_of_wide_intervals_reach_both_ends() {
        let functions: [fn(&Interval) -> Interval; 4] =
            [Interval::exp, Interval::ln, Interval::sqrt, |x| x.power(3)];
        for (low, high) in [(0.25, 0.5), (0.5, 7.0), (3.0, 3.5)] {
            for (number, of) in functions.iter().enumerate() {
                let [low, high] = [low, high].map(Interval::of);
                let (found, below, above) = (of(&low.hull(&high)), of(&low), of(&high));
                assert!(found.lo == below.lo && found.hi == above.hi, "function {number}: {found}");
            }
        }
    }

    #[test]
    fn far_apart_numbers_are_not_lost() {
        let sum = &Interval::one() + &Interval::of(-1e4).exp();
        assert!(sum.is_above(1.0) || sum.lo == Big::of(1.0), "the low end may round to 1");
        assert!(sum.hi > Big::of(1.0));
        let difference = &Interval::one() - &Interval::of(-1e4).exp();
        assert!(difference.lo < Big::of(1.0) && difference.hi <= Big::of(1.0));
    }
}

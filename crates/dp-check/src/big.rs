//! Numbers `m 2^e` with an integer `m` of at most [`BITS`] bits, rounded down or up on request.

use std::cmp::Ordering;

use num_bigint::{BigInt, Sign};

/// Bits that a result keeps.
pub(crate) const BITS: u64 = 256;

/// Which way a result is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Round {
    Down,
    Up,
}

/// `m 2^e`, always finite.
#[derive(Clone, Debug, Default)]
pub(crate) struct Big {
    pub(crate) m: BigInt,
    pub(crate) e: i64,
}

/// `m / 2^by`, rounded.
fn shift_right(m: &BigInt, by: u64, round: Round) -> BigInt {
    // The shift of a negative number goes down, too.
    match round {
        Round::Down => m >> by,
        Round::Up => -(-m >> by),
    }
}

impl Big {
    pub(crate) fn new(m: BigInt, e: i64, round: Round) -> Self {
        let excess = m.bits().saturating_sub(BITS);
        if excess == 0 {
            return Self { m, e };
        }
        Self { m: shift_right(&m, excess, round), e: e + signed(excess) }
    }

    /// Exactly a finite float.
    pub(crate) fn of(x: f64) -> Self {
        assert!(x.is_finite(), "{x} is no number");
        let bits = x.to_bits();
        let exponent = (bits >> 52) & 0x7ff;
        let fraction = bits & ((1 << 52) - 1);
        let (m, e) = match exponent {
            0 => (fraction, -1074),
            _ => (fraction | (1 << 52), signed(exponent) - 1075),
        };
        let m = BigInt::from(m);
        Self { m: if x < 0.0 { -m } else { m }, e }
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.m.sign() == Sign::NoSign
    }

    pub(crate) fn is_negative(&self) -> bool {
        self.m.sign() == Sign::Minus
    }

    /// One more than the floor of the binary logarithm of the size.
    pub(crate) fn top(&self) -> i64 {
        if self.is_zero() { i64::MIN / 4 } else { self.e + signed(self.m.bits()) }
    }

    pub(crate) fn neg(&self) -> Self {
        Self { m: -&self.m, e: self.e }
    }

    /// `self * 2^by`, exactly.
    pub(crate) fn scaled(&self, by: i64) -> Self {
        Self { m: self.m.clone(), e: self.e + by }
    }

    pub(crate) fn add(&self, other: &Self, round: Round) -> Self {
        if other.is_zero() {
            return self.clone();
        }
        if self.is_zero() {
            return other.clone();
        }
        let (large, small) = if self.top() >= other.top() { (self, other) } else { (other, self) };
        if large.top() - small.top() > signed(2 * BITS) {
            // The small one is less than a unit of the padded large one: only its sign counts.
            let pad = BITS + 4;
            let unit = match (round, small.is_negative()) {
                (Round::Down, true) => -1,
                (Round::Up, false) => 1,
                _ => 0,
            };
            return Self::new((&large.m << pad) + unit, large.e - signed(pad), round);
        }
        let e = large.e.min(small.e);
        let at = |x: &Self| &x.m << u64::try_from(x.e - e).expect("e is the smaller exponent");
        Self::new(at(large) + at(small), e, round)
    }

    pub(crate) fn mul(&self, other: &Self, round: Round) -> Self {
        Self::new(&self.m * &other.m, self.e + other.e, round)
    }

    /// The quotient; `other` is above 0.
    pub(crate) fn div(&self, other: &Self, round: Round) -> Self {
        assert!(!other.is_zero() && !other.is_negative(), "divisors are positive");
        let pad = (BITS + 4 + other.m.bits()).saturating_sub(self.m.bits());
        let (dividend, e) = (&self.m << pad, self.e - other.e - signed(pad));
        let (quotient, rest) = (&dividend / &other.m, &dividend % &other.m);
        // Integer division goes towards 0.
        let unit = match (round, rest.sign()) {
            (Round::Down, Sign::Minus) => -1,
            (Round::Up, Sign::Plus) => 1,
            _ => 0,
        };
        Self::new(quotient + unit, e, round)
    }

    /// The root of a number that is not negative.
    pub(crate) fn sqrt(&self, round: Round) -> Self {
        let mut pad = (2 * BITS + 8).saturating_sub(self.m.bits());
        if (self.e - signed(pad)) % 2 != 0 {
            pad += 1;
        }
        let square = &self.m << pad;
        let mut root = square.sqrt();
        if round == Round::Up && &root * &root != square {
            root += 1;
        }
        Self::new(root, (self.e - signed(pad)) / 2, round)
    }

    /// A whole number at most 1/2 away, if it has at most 60 bits.
    pub(crate) fn nearest(&self) -> Option<i64> {
        if self.top() > 60 {
            return None;
        }
        // Halves go up.
        let doubled = match u64::try_from(self.e + 1) {
            Ok(by) => &self.m << by,
            Err(_) => shift_right(&self.m, (self.e + 1).unsigned_abs(), Round::Down),
        };
        i64::try_from((doubled + 1) >> 1).ok()
    }

    /// The nearest float or one next to it; for guesses and for printing, never for bounds.
    pub(crate) fn approximate(&self) -> f64 {
        let excess = self.m.bits().saturating_sub(60);
        let top = i64::try_from(shift_right(&self.m, excess, Round::Down)).expect("60 bits") as f64;
        let (mut x, mut e) = (top, (self.e + signed(excess)).clamp(-4000, 4000));
        // In steps, so that a subnormal result does not pass through 0.
        while e != 0 {
            let step = e.clamp(-500, 500);
            x *= 2.0_f64.powi(i32::try_from(step).expect("at most 500"));
            e -= step;
        }
        x
    }
}

impl PartialEq for Big {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Big {}

impl PartialOrd for Big {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Big {
    fn cmp(&self, other: &Self) -> Ordering {
        self.add(&other.neg(), Round::Down).m.sign().cmp(&Sign::NoSign)
    }
}

pub(crate) fn signed(x: u64) -> i64 {
    i64::try_from(x).expect("lengths are far below 2^63")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(n: i64) -> Big {
        Big { m: n.into(), e: 0 }
    }

    /// Multiplied back, a quotient that was rounded down is nowhere too large, and one that was rounded up nowhere too small: not by the last bit.
    #[test]
    fn quotients_are_rounded_to_their_side() {
        for (n, m) in (-60..=60).flat_map(|n| (1..=60).map(move |m| (n, m))) {
            let [down, up] = [Round::Down, Round::Up].map(|round| whole(n).div(&whole(m), round));
            let at = format!("{n} / {m}");
            assert!(down.mul(&whole(m), Round::Up) <= whole(n), "{at}");
            assert!(up.mul(&whole(m), Round::Down) >= whole(n), "{at}");
            // One of few parts of a whole is exact or it is not.
            let is_whole = (0..12).any(|by| (n << by) % m == 0);
            assert_eq!(down == up, is_whole, "{at}");
        }
    }

    #[test]
    fn roots_are_rounded_to_their_side() {
        for n in 0..600 {
            let [down, up] = [Round::Down, Round::Up].map(|round| whole(n).sqrt(round));
            assert!(down.mul(&down, Round::Up) <= whole(n), "{n}");
            assert!(up.mul(&up, Round::Down) >= whole(n), "{n}");
            assert_eq!(down == up, (0..25).any(|root| root * root == n), "{n}");
        }
    }

    #[test]
    fn halves_go_to_the_whole_number_above() {
        for (x, nearest) in [
            (0.4, 0),
            (0.5, 1),
            (1.5, 2),
            (-0.4, 0),
            (-0.5, 0),
            (-0.6, -1),
            (1e18, 1_000_000_000_000_000_000),
        ] {
            assert_eq!(Big::of(x).nearest(), Some(nearest), "{x}");
        }
        assert_eq!(Big::of(1e19).nearest(), None);
    }
}

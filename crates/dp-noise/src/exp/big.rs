//! Rigorous enclosures of `exp(-x)` to any number of bits. Off the hot path.

use num_bigint::BigUint;

use super::fixed::Strip;

/// A real in `[0, 1]`, times `2^bits`, lies between the two.
#[derive(Clone, Debug)]
pub(crate) struct Enclosure {
    pub(crate) low: BigUint,
    pub(crate) high: BigUint,
}

impl Enclosure {
    /// The same in units of `2^-64`, if this one is in units of `2^-(64 + guard)`.
    pub(crate) fn strip(&self, guard: u64) -> Strip {
        let low = u64::try_from(&self.low >> guard).unwrap_or(u64::MAX);
        let width = shift_up(self.high.clone(), guard) - low;
        Strip { low, width: u64::try_from(width).expect("an enclosure of many bits is narrow") }
    }
}

/// `exp(-numerator / denominator)` in units of `2^-bits`, to within a unit or two.
///
/// The argument is halved until it is below 1/16, summed as a series in fixed point, and squared
/// back. Every rounding goes outwards.
pub(crate) fn exp_minus(numerator: &BigUint, denominator: &BigUint, bits: u64) -> Enclosure {
    if *numerator == BigUint::ZERO {
        let one = BigUint::from(1_u32) << bits;
        return Enclosure { low: one.clone(), high: one };
    }
    if *numerator >= denominator * bits {
        return Enclosure { low: BigUint::ZERO, high: 1_u32.into() }; // exp(-bits) < 2^-bits
    }
    let halvings = (numerator / denominator).bits() + 4;
    // A squaring at most doubles an absolute error, so this leaves 2^-bits / 2^16.
    let working = bits + halvings + 28;
    let y = (numerator << working) / (denominator << halvings);
    let (sum, error) = series(&y, working);
    let (mut low, mut high) = (&sum - &error, sum + error);
    for _ in 0..halvings {
        low = (&low * &low) >> working;
        high = shift_up(&high * &high, working);
    }
    let cut = working - bits;
    Enclosure { low: low >> cut, high: shift_up(high, cut) }
}

/// `exp(-y)` and how far off it may be: less than 2 for each term, 1 for the argument, and less
/// than 1 for the terms left out.
fn series(y: &BigUint, working: u64) -> (BigUint, BigUint) {
    let one = BigUint::from(1_u32) << working;
    let (mut term, mut plus, mut minus) = (one.clone(), one, BigUint::ZERO);
    let mut k = 1_u32;
    while term != BigUint::ZERO {
        term = ((term * y) >> working) / k;
        if k % 2 == 1 {
            minus += &term;
        } else {
            plus += &term;
        }
        k += 1;
    }
    (plus - minus, BigUint::from(2 * k + 4))
}

/// `ceil(x / 2^shift)`.
pub(crate) fn shift_up(x: BigUint, shift: u64) -> BigUint {
    (x + ((BigUint::from(1_u32) << shift) - 1_u32)) >> shift
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Digits from the published expansion of e, one over it, and the tail identity.
    #[test]
    fn known_values_are_enclosed_tightly() {
        // floor(2^128 / e), from 1/e = 0.5E2D58D8B3BCDF1ABADEC7829054F90D... in base 16.
        let inverse_e = BigUint::from(0x5E2D_58D8_B3BC_DF1A_BADE_C782_9054_F90D_u128);
        let found = exp_minus(&1_u32.into(), &1_u32.into(), 128);
        assert!(found.low <= inverse_e && inverse_e <= found.high, "{found:?}");
        assert!(&found.high - &found.low <= 2_u32.into());
    }

    #[test]
    fn enclosures_are_narrow_and_nested() {
        for (a, b) in [(1_u32, 7_u32), (3, 1), (1, 1_000_000), (41, 2), (99, 1), (5, 3)] {
            let fine = exp_minus(&a.into(), &b.into(), 700);
            for bits in [3_u64, 8, 64, 200] {
                let coarse = exp_minus(&a.into(), &b.into(), bits);
                assert!(coarse.low.clone() << (700 - bits) <= fine.high, "exp(-{a}/{b})");
                assert!(fine.low <= coarse.high.clone() << (700 - bits), "exp(-{a}/{b})");
                assert!(coarse.high - coarse.low <= 2_u32.into(), "exp(-{a}/{b}) at {bits}");
            }
        }
    }

    /// `exp(-a/b) exp(-c/b) = exp(-(a + c)/b)` ties all arguments to each other.
    #[test]
    fn enclosures_multiply() {
        let of = |a: u32| exp_minus(&a.into(), &13_u32.into(), 300);
        for (a, c) in [(1, 1), (5, 90), (13, 26), (200, 7)] {
            let (x, y, z) = (of(a), of(c), of(a + c));
            assert!((x.low * y.low) >> 300 <= z.high);
            assert!(z.low <= shift_up(x.high * y.high, 300));
        }
    }
}

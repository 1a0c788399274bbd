//! The distribution function of the discrete Gaussian, enclosed to any number of bits.

use num_bigint::BigUint;

use crate::Ratio;
use crate::exp::{BLOCKS_PER_DEVIATION, Enclosure, exp_minus, shift_up};

/// Bits beyond a word that a table is computed to.
pub(super) const GUARD: u64 = 8;

/// `Pr[Z <= z]` in units of `2^-bits`.
pub(super) fn tail(variance: Ratio, z: i64, bits: u64) -> Enclosure {
    let one = BigUint::from(1_u32) << bits;
    let tails = tails(variance, bits);
    // Index 0 is Pr[Z <= -1]; beyond the last there is less than a unit.
    let at = |index: u64| {
        let found = usize::try_from(index).ok().and_then(|index| tails.get(index));
        found.cloned().unwrap_or(Enclosure { low: BigUint::ZERO, high: 1_u32.into() })
    };
    if z < 0 {
        return at(z.unsigned_abs() - 1);
    }
    let Enclosure { low, high } = at(z.unsigned_abs());
    Enclosure { low: &one - high, high: one - low }
}

/// `Pr[I <= i]` for the number `I = 0, 1, ..` of a block, with weights `exp(-i^2 / 512)`.
pub(crate) fn half_line(i: u64, bits: u64) -> Enclosure {
    let square = u128::from(BLOCKS_PER_DEVIATION * BLOCKS_PER_DEVIATION);
    let above = shares(Ratio::new(square, 1).expect("valid"), 1, bits);
    let above = usize::try_from(i).ok().and_then(|i| above.into_iter().nth(i));
    let Enclosure { low, high } =
        above.unwrap_or(Enclosure { low: BigUint::ZERO, high: 1_u32.into() });
    let one = BigUint::from(1_u32) << bits;
    Enclosure { low: &one - high, high: one - low }
}

/// `Pr[Z <= -j]` for `j = 1, 2, ...`, in units of `2^-bits`, until it is below a unit.
pub(super) fn tails(variance: Ratio, bits: u64) -> Vec<Enclosure> {
    shares(variance, 2, bits)
}

/// The weights of `j, j + 1, ..` together, among those of 0 and of so many sides of it.
fn shares(variance: Ratio, sides: u32, bits: u64) -> Vec<Enclosure> {
    let reach = reach(variance, bits);
    // Weights carry an error that grows as the square of their index, and are then summed.
    let working = bits + 3 * u64::from(64 - reach.leading_zeros()) + 16;
    let (weights, rest) = weights(variance, reach, working, bits);
    // Sums from the far end, so that the small come before the large.
    let mut sums = vec![Enclosure { low: BigUint::ZERO, high: rest }];
    for weight in weights.iter().rev() {
        let last = sums.last().expect("starts with one");
        sums.push(Enclosure { low: &last.low + &weight.low, high: &last.high + &weight.high });
    }
    sums.reverse();
    sums.pop(); // what is beyond the reach has no index of its own
    let centre = BigUint::from(1_u32) << working;
    let half = sums.first().expect("the reach is at least one");
    let total_low: BigUint = &centre + &half.low * sides;
    let total_high: BigUint = centre + &half.high * sides;
    let share = |sum: &Enclosure| Enclosure {
        low: (&sum.low << bits) / &total_high,
        high: (&sum.high << bits) / &total_low + 1_u32,
    };
    sums.iter().map(share).collect()
}

/// A `k` with `exp(-k^2 / (2v)) <= 2^-(bits + 16)`: then, because `k` is at least the square root
/// of `v <= 10^6`, all later weights together are below `v/k <= 2^10` times that.
fn reach(variance: Ratio, bits: u64) -> u64 {
    // k^2 >= 2 v ln(2) (bits + 16), with 7/10 for ln 2.
    let bound = variance.numerator() * 14 * u128::from(bits + 16);
    let square = bound / (10 * variance.denominator().get()) + 1;
    u64::try_from(square.isqrt() + 1).expect("a variance below 2^20 and few bits")
}

/// `exp(-k^2 / (2v))` for `k = 1..=reach` in units of `2^-working`, and a bound on the sum of the
/// rest, by two multiplications each: the ratio of neighbours is itself a geometric sequence.
fn weights(variance: Ratio, reach: u64, working: u64, bits: u64) -> (Vec<Enclosure>, BigUint) {
    let numerator = BigUint::from(variance.denominator().get());
    let twice = BigUint::from(variance.numerator()) << 1_u32;
    // From weight 0 to weight 1 the ratio is exp(-1/(2v)), and it falls by exp(-1/v) a step.
    let mut ratio = exp_minus(&numerator, &twice, working);
    let step = exp_minus(&(numerator << 1_u32), &twice, working);
    let times = |x: &Enclosure, y: &Enclosure| Enclosure {
        low: (&x.low * &y.low) >> working,
        high: shift_up(&x.high * &y.high, working),
    };
    let one = BigUint::from(1_u32) << working;
    let mut weight = Enclosure { low: one.clone(), high: one };
    let mut weights = Vec::new();
    for _ in 0..reach {
        weight = times(&weight, &ratio);
        ratio = times(&ratio, &step);
        weights.push(weight.clone());
    }
    // Less than 2^10 2^-(bits + 16); see `reach`.
    (weights, BigUint::from(1_u32) << (working - bits - 6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_enclose_their_values() {
        for (a, b) in [(1, 4), (7, 2), (900, 1)] {
            let variance = Ratio::new(a, b).expect("valid");
            let (weights, _) = weights(variance, reach(variance, 80), 160, 80);
            for (weight, k) in weights.iter().zip(1_u128..) {
                let truth = exp_minus(&(k * k * b).into(), &(2 * a).into(), 200);
                let (low, high) = (&weight.low << 40, &weight.high << 40);
                assert!(low <= truth.low && truth.high <= high, "{a}/{b} at {k}");
            }
        }
    }

    #[test]
    fn enclosures_are_narrow_nested_and_add_up() {
        for (a, b) in [(1, 4), (1, 1), (7, 2), (900, 1)] {
            let variance = Ratio::new(a, b).expect("valid");
            let fine = tails(variance, 300);
            for bits in [1, 3, 12, 80] {
                for (coarse, fine) in tails(variance, bits).iter().zip(&fine) {
                    assert!(&coarse.low << (300 - bits) <= fine.high, "{a}/{b} at {bits}");
                    assert!(fine.low <= &coarse.high << (300 - bits), "{a}/{b} at {bits}");
                    assert!(&coarse.high - &coarse.low <= 2_u32.into(), "{a}/{b} at {bits}");
                }
            }
            assert!(fine.last().expect("not empty").high <= 2_u32.into());
            // Pr[Z <= 0] - Pr[Z <= -1] = 1/S and Pr[Z <= -1] - Pr[Z <= -2] = exp(-b/(2a))/S.
            let (zero, one) = (tail(variance, 0, 300), tail(variance, -1, 300));
            let two = tail(variance, -2, 300);
            let first = exp_minus(&b.into(), &(2 * a).into(), 300);
            let product = ((zero.low - &one.low) * first.low) >> 300;
            let difference = &one.low - two.low;
            let off =
                if product > difference { product - difference } else { difference - product };
            assert!(off <= 8_u32.into(), "{a}/{b}: {off}");
        }
    }
}

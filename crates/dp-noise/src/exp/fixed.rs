//! `exp(-x)` to 64 bits with a proved error, by three table look-ups and a short series.

use crate::scaled::{Scaled, multiply_high};

use super::tables::{COARSE, FEW_POINTS, FINE, FIRST_BLOCK, UP_TO_BLOCK, WHOLE};

/// A real in `[0, 1]`, in units of `2^-64`, lies in `[low, low + width]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Strip {
    pub(crate) low: u64,
    pub(crate) width: u64,
}

/// [`fixed_exp_minus`] is off by at most this many units of `2^-64`: it stays below the truth by
/// less than 1 for each of three tables and three products, within 4 for the series.
const EXP_ERROR: u64 = 12;

/// `exp(-x)` for the real that `x` encloses.
///
/// The true argument is above the stored one by at most `x slack 2^-63` and the unit cut off by
/// the conversion; since `x exp(-x) < 1/2`, the exponential is below by at most `slack + 1` units.
pub(crate) fn exp_strip(x: Scaled) -> Strip {
    let Some(fixed) = x.fixed_point() else {
        return Strip { low: 0, width: 1 }; // exp(-64) < 2^-64
    };
    let below = EXP_ERROR + u64::from(x.slack()) + 1;
    Strip { low: fixed_exp_minus(fixed).saturating_sub(below), width: below + EXP_ERROR }
}

/// `exp(-k)` to the last bit but one, for walks over whole powers.
pub(crate) fn exp_minus_one_powers(k: usize) -> Strip {
    Strip { low: WHOLE.get(k).copied().unwrap_or(0), width: 1 }
}

/// `Pr[N <= n]` for a Poisson count `N` of mean `1 / FEW`, to the last bit but one.
pub(crate) fn few_points_below(n: u32) -> Strip {
    let low = FEW_POINTS.get(n as usize).copied();
    // Beyond the table less than a unit is left.
    Strip { low: low.unwrap_or(u64::MAX), width: 1 }
}

/// `Pr[I <= i]` for the number of a block, to the last bit but one.
#[inline]
pub(crate) fn up_to_block(i: u64) -> Strip {
    let low = usize::try_from(i).ok().and_then(|i| UP_TO_BLOCK.get(i).copied());
    // Beyond the table less than a unit is left.
    Strip { low: low.unwrap_or(u64::MAX), width: 1 }
}

/// A block such that reals which begin with these digits are not below the end of any before it.
#[inline]
pub(crate) fn first_block(digits: u64) -> u64 {
    FIRST_BLOCK[usize::from(digits.to_be_bytes()[0])].into()
}

/// `exp(-x / 2^64)` in units of `2^-64`, for `x < 64 * 2^64`.
#[allow(clippy::cast_possible_truncation, reason = "the digits of the argument are taken apart")]
fn fixed_exp_minus(x: u128) -> u64 {
    let fraction = x as u64;
    let whole = WHOLE[(x >> 64) as usize % 64];
    let coarse = COARSE[(fraction >> 58) as usize];
    let fine = FINE[(fraction >> 52) as usize % 64];
    // r < 2^-12, so that the fifth term of the series, r^5/120, is below 2^-66.
    let r = fraction & ((1 << 52) - 1);
    let square = multiply_high(r, r);
    let series = r - square / 2 + multiply_high(square, r) / 6 - multiply_high(square, square) / 24;
    multiply_high(multiply_high(whole, coarse), multiply_high(fine, u64::MAX - series))
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;
    use rand::{Rng, SeedableRng, rngs::ChaCha20Rng};

    use super::*;
    use crate::exp::exp_minus;
    use crate::table::half_line;

    /// Truth in units of `2^-64`, known to `2^-16` of a unit; returns how far off the fast form is.
    fn error(x: u128) -> u128 {
        let truth = exp_minus(&x.into(), &(BigUint::from(1_u32) << 64), 80);
        let found = BigUint::from(fixed_exp_minus(x)) << 16;
        let off = if found < truth.low { truth.high - &found } else { found - truth.low };
        u128::try_from(off >> 16).expect("small")
    }

    #[test]
    fn every_sixteen_bit_argument_is_within_the_error_bound() {
        let all = (0..1_u128 << 16).flat_map(|x| [x << 48, x << 52]);
        assert!(all.map(error).max() < Some(EXP_ERROR.into()));
    }

    #[test]
    fn random_arguments_and_those_at_table_edges_are_within_the_error_bound() {
        let mut rng = ChaCha20Rng::seed_from_u64(8);
        let random = (0..20_000)
            .map(|_| (u128::from(rng.next_u32() % 64) << 64) | u128::from(rng.next_u64()));
        let edges = (0..64_u128).flat_map(|i| {
            [i << 64, i << 58, i << 52].into_iter().flat_map(|x| [x, x + 1, x.saturating_sub(1)])
        });
        assert!(random.chain(edges).map(error).max() < Some(EXP_ERROR.into()));
    }

    /// So many binary digits are known of a truth, that something is left of `exp(-200)`: where a strip ends at 0, what is less than any word would be
    /// impossible.
    const DIGITS: u64 = 300;
    /// Of them, those below a unit of `2^-64`.
    const BELOW: u64 = DIGITS - 64;

    #[test]
    fn strips_hold_the_value_and_one_made_too_narrow_does_not() {
        let mut rng = ChaCha20Rng::seed_from_u64(9);
        let mut seen_outside = false;
        for _ in 0..20_000 {
            let a = u128::from(rng.next_u64() >> (rng.next_u32() % 64));
            let b = u128::from(rng.next_u64() >> (rng.next_u32() % 64)).max(1);
            let Some(x) = Scaled::ratio(a, b) else { continue };
            let strip = exp_strip(x);
            let truth = exp_minus(&a.into(), &b.into(), DIGITS);
            let low = BigUint::from(strip.low) << BELOW;
            let high = (BigUint::from(strip.low) + strip.width) << BELOW;
            assert!(low <= truth.high && truth.low <= high, "exp(-{a}/{b})");
            let narrow = (BigUint::from(strip.low) + EXP_ERROR) << BELOW;
            seen_outside |= narrow < truth.low;
        }
        assert!(seen_outside, "the check has no power");
    }

    /// Of an argument known so badly that this is more than the error of the exponential.
    #[test]
    fn strips_hold_the_exponential_of_all_that_the_argument_may_be() {
        let mut rng = ChaCha20Rng::seed_from_u64(10);
        let one = || Scaled::new(1).expect("positive");
        for _ in 0..2_000 {
            let n = u128::from(rng.next_u32() >> (rng.next_u32() % 32)).max(1);
            let near = Scaled::new(n).expect("positive");
            // A product with 1 changes nothing but the slack.
            let x = (0..200).fold(near, |x, _| x.times(one()));
            let divided = x.times(Scaled::new(1 << 28).expect("positive").recip());
            let stored = divided.fixed_point().expect("below 64");
            let unit = BigUint::from(1_u32) << 64_u32;
            let strip = exp_strip(divided);
            for more in [0, divided.slack()] {
                // x (1 + slack 2^-63), in units of 2^-127, and with what the conversion cut off.
                let cut = u128::from(more > 0);
                let end = BigUint::from(stored + cut) * ((BigUint::from(1_u32) << 63_u32) + more);
                let truth = exp_minus(&end, &(&unit << 63_u32), 80);
                assert!(BigUint::from(strip.low) << 16_u32 <= truth.low, "{n} and {more}");
                let high = (BigUint::from(strip.low) + strip.width) << 16_u32;
                assert!(truth.high <= high, "{n} and {more}");
            }
        }
    }

    #[test]
    fn ends_of_blocks_hold_their_value_and_no_block_is_passed_over() {
        for i in 0..170 {
            let (strip, truth) = (up_to_block(i), half_line(i, 80));
            assert!(BigUint::from(strip.low) << 16_u32 <= truth.low, "{i}");
            assert!(truth.high <= (BigUint::from(strip.low) + strip.width) << 16_u32, "{i}");
        }
        for digits in (0..256_u64).map(|digits| digits << 56) {
            let first = first_block(digits);
            let ends_before = first == 0 || up_to_block(first - 1).low < digits;
            assert!(ends_before && up_to_block(first).low >= digits, "{digits}");
        }
    }

    #[test]
    fn whole_powers_hold_their_value() {
        for k in 0..100_u32 {
            let strip = exp_minus_one_powers(k as usize);
            let truth = exp_minus(&k.into(), &1_u32.into(), DIGITS);
            assert!(BigUint::from(strip.low) << BELOW <= truth.high, "exp(-{k})");
            assert!(truth.low <= (BigUint::from(strip.low) + strip.width) << BELOW, "exp(-{k})");
        }
    }
}

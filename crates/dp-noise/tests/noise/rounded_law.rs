//! The law of rounded normal noise by a power series, which shares nothing with the sampler.

use num_bigint::{BigInt, BigUint};

use super::exact::{Interval, ONE};

/// Digits after the point below; of the terms added up none is above `e^80`, or `2^116`.
pub(crate) const BITS: u32 = 300;

/// The integral of `exp(-x^2 / 2v)` from 0 to `odd / 2`, for `v = a/b`, by its power series in big integers: no exponential, and
/// nothing of the sampler. Off by less than `2^-150`.
pub(crate) fn integral(odd: u128, a: u128, b: u128) -> BigInt {
    let mut term: BigInt = (BigInt::from(odd) << BITS) / 2;
    let (mut sum, mut k) = (term.clone(), 0_u32);
    while term.magnitude() > &BigUint::ZERO {
        k += 1;
        // -x^2 / (2 v k), with x = odd / 2.
        term = -term * (odd * odd) * b / (8 * a) / k;
        sum += &term / (2 * k + 1);
    }
    sum
}

/// `Phi((z + 1/2) / sqrt(v)) - Phi((z - 1/2) / sqrt(v))` for `v = a/b`, within two units.
pub(crate) fn rounded_law(a: u128, b: u128) -> impl Fn(i128) -> Interval {
    // From 10 standard deviations on there is less than 2^-75.
    let reach = 10 * ((a / b).isqrt() + 1);
    let half_line = integral(2 * reach + 1, a, b);
    move |z| {
        let z = z.unsigned_abs().min(reach);
        let low = if z == 0 { -integral(1, a, b) } else { integral(2 * z - 1, a, b) };
        let mass = integral(2 * z + 1, a, b) - low;
        let p: BigInt = mass * BigInt::from(ONE) / (&half_line * 2);
        let p = u128::try_from(p).expect("a probability");
        Interval { low: p.saturating_sub(2), high: p + 2 }
    }
}

//! The coin of probability `exp(-a/b)` from rational coins alone.
//!
//! Source: Canonne, Kamath, Steinke, "The Discrete Gaussian for Differential Privacy" (2020),
//! Algorithm 1; the series behind it is von Neumann's.

use std::num::NonZero;

use num_bigint::BigUint;

use crate::bits::uniform_below_big;
use crate::{Bits, bernoulli};

/// True with probability `exp(-numerator / denominator)`, exactly.
///
/// # Complexity
/// At most 1.6 rounds of 2.8 uniform draws on average, whatever the argument. Not timing-safe.
pub fn bernoulli_exp<B: Bits + ?Sized>(
    bits: &mut B,
    numerator: u128,
    denominator: NonZero<u128>,
) -> bool {
    // exp(-w - f) = exp(-1)^w exp(-f): stop at the first failure.
    let whole = numerator / denominator;
    for _ in 0..whole {
        if !bernoulli_exp_one(bits) {
            return false;
        }
    }
    bernoulli_exp_fraction(bits, numerator % denominator, denominator)
}

/// True with probability `exp(-1)`.
pub(crate) fn bernoulli_exp_one<B: Bits + ?Sized>(bits: &mut B) -> bool {
    bernoulli_exp_fraction(bits, 1, NonZero::<u128>::MIN)
}

/// `exp(-a/b)` for `a <= b`: with `N` the first `k` at which a coin of probability `a/(bk)` fails,
/// `Pr[N odd] = 1 - x + x^2/2! - ... = exp(-x)`.
///
/// The coin is the conjunction of one of `a/b` and one of `1/k`, so that `bk` is never formed.
fn bernoulli_exp_fraction<B: Bits + ?Sized>(bits: &mut B, a: u128, b: NonZero<u128>) -> bool {
    first_failure_is_odd(bits, |bits, k| bernoulli(bits, a, b) && bernoulli(bits, 1, k))
}

fn first_failure_is_odd<B: Bits + ?Sized>(
    bits: &mut B,
    coin: impl Fn(&mut B, NonZero<u128>) -> bool,
) -> bool {
    bits.retry(|bits| {
        let mut k = NonZero::<u128>::MIN;
        while coin(bits, k) {
            k = k.saturating_add(1);
        }
        Some(k.get() % 2 == 1)
    })
}

/// [`bernoulli_exp`] for numbers that do not fit in 128 bits.
pub(crate) fn bernoulli_exp_big<B: Bits + ?Sized>(
    bits: &mut B,
    numerator: &BigUint,
    denominator: &BigUint,
) -> bool {
    let mut whole = numerator / denominator;
    while whole != BigUint::ZERO {
        if !bernoulli_exp_one(bits) {
            return false;
        }
        whole -= 1_u32;
    }
    let fraction = numerator % denominator;
    first_failure_is_odd(bits, |bits, k| {
        uniform_below_big(bits, denominator) < fraction && bernoulli(bits, 1, k)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::{ONE, Tape, enumerate, exp_minus};

    /// The fallback beyond 128 bits is taken too rarely to be met by accident, so it is proved on
    /// numbers small enough to enumerate.
    #[test]
    fn the_big_exponential_coin_has_its_probability() {
        for (a, b) in [(0_u32, 1_u32), (1, 1), (1, 3), (2, 5), (7, 5), (5, 2)] {
            let law =
                enumerate(30, |tape: &mut Tape| bernoulli_exp_big(tape, &a.into(), &b.into()));
            let p = exp_minus(a.into(), b.into());
            let heads = law.found.get(&true).copied().unwrap_or(0);
            assert!(law.unresolved <= ONE >> 20, "exp(-{a}/{b}): {:.1e}", law.unresolved_share());
            assert!(heads <= p.high && p.low <= heads + law.unresolved, "exp(-{a}/{b})");
        }
    }
}

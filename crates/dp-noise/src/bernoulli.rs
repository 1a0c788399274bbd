//! Coins: rational probability, and probability `exp(-a/b)`.

use std::num::NonZero;

use crate::Bits;
use crate::lazy::exp_coin;
use crate::scaled::Scaled;

/// True with probability `numerator / denominator`, and always true from 1 on.
#[inline]
pub fn bernoulli<B: Bits + ?Sized>(
    bits: &mut B,
    numerator: u128,
    denominator: NonZero<u128>,
) -> bool {
    bits.retry(|bits| Some(bits.below(denominator) < numerator))
}

/// True with probability `exp(-numerator / denominator)`, exactly.
///
/// # Complexity
/// One word, compared with the probability computed to 64 bits; a second word with probability
/// below `2^-57`. The time depends on the two numbers, not on the answer.
///
/// # Source
/// Our own comparison of a lazily drawn uniform real; the plain form is
/// [`reference::bernoulli_exp`](crate::reference::bernoulli_exp).
#[inline]
pub fn bernoulli_exp<B: Bits + ?Sized>(
    bits: &mut B,
    numerator: u128,
    denominator: NonZero<u128>,
) -> bool {
    match Scaled::ratio(numerator, denominator.get()) {
        Some(near) => exp_coin(bits, near, || (numerator.into(), denominator.get().into())),
        None => true,
    }
}

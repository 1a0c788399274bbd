//! A random index with exponentially weighted probabilities.

use std::num::NonZero;

use super::coin::bernoulli_exp;
use crate::{Bits, NoiseError, Ratio};

/// Index `i` with probability proportional to `exp(rate * scores[i])`, exactly.
///
/// # Complexity
/// A uniform index is drawn until it is accepted with `exp(-rate * (max - score))`: about
/// `n / sum(exp(rate * (score - max)))` rounds, so at most `n`. Not timing-safe.
///
/// # Errors
/// [`NoiseError::NoScores`]. Their number is public.
pub fn choose_exponentially<B: Bits + ?Sized>(
    bits: &mut B,
    scores: &[i64],
    rate: Ratio,
) -> Result<usize, NoiseError> {
    let best = scores.iter().copied().max().ok_or(NoiseError::NoScores)?;
    let candidates = NonZero::new(scores.len() as u128).expect("not empty: it has a maximum");
    Ok(bits.retry(|bits| {
        let index = usize::try_from(bits.below(candidates)).expect("below a usize");
        let gap = best.abs_diff(scores[index]);
        accept(bits, gap, rate).then_some(index)
    }))
}

fn accept<B: Bits + ?Sized>(bits: &mut B, gap: u64, rate: Ratio) -> bool {
    let denominator = rate.denominator();
    match u128::from(gap).checked_mul(rate.numerator()) {
        Some(numerator) => bernoulli_exp(bits, numerator, denominator),
        // exp(-(g + h) rate) = exp(-g rate) exp(-h rate): halve the gap until the product fits.
        None => accept(bits, gap / 2, rate) && accept(bits, gap - gap / 2, rate),
    }
}

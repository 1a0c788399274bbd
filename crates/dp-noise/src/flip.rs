//! Permute-and-flip: a random index that favours high scores, by one coin per candidate.

use std::num::NonZero;

use num_bigint::BigUint;

use crate::lazy::exp_coin;
use crate::scaled::Scaled;
use crate::{Bits, NoiseError, Ratio};

/// Goes through the candidates in random order and takes the first whose coin of probability
/// `exp(-rate * (max - score))` comes up. A best candidate always stops it.
///
/// # Guarantee
/// For scores `q` and `q'` with `q'_i - q_i` in `[0, d]` for all `i`, or in `[-d, 0]` for all,
/// every index is at most `exp(rate * d)` times as likely under one as under the other. (It has the
/// law of [`noisy_max`](crate::noisy_max) with continuous one-sided exponential noise of scale
/// `1/rate`; the two-line proof there applies.) For changes in `[-d, d]` the factor is
/// `exp(2 rate d)`. The range is *not* bounded by that of the exponential choice: do not account
/// for it as one.
///
/// # Utility
/// The expected gap to the best score is never above that of
/// [`choose_exponentially`](crate::choose_exponentially) at the same rate, and up to half of it.
///
/// # Complexity
/// At most `n` coins of two words. Not timing-safe.
///
/// # Precision
/// Exact. The rate is used as given.
///
/// # Errors
/// [`NoiseError::NoScores`]. Their number is public.
///
/// # Source
/// R. McKenna and D. Sheldon, "Permute-and-Flip" (2020).
pub fn permute_and_flip<B: Bits + ?Sized>(
    bits: &mut B,
    scores: &[i64],
    rate: Ratio,
) -> Result<usize, NoiseError> {
    let best = scores.iter().copied().max().ok_or(NoiseError::NoScores)?;
    let near = Scaled::ratio(rate.numerator(), rate.denominator().get());
    let mut order: Vec<usize> = (0..scores.len()).collect();
    for visited in 0..order.len() {
        let left = NonZero::new((order.len() - visited) as u128).expect("some are left");
        let pick = visited + usize::try_from(bits.below(left)).expect("an index");
        order.swap(visited, pick);
        let gap = best.abs_diff(scores[order[visited]]);
        if accept(bits, gap, rate, near) {
            return Ok(order[visited]);
        }
    }
    unreachable!("a candidate with the best score is always taken")
}

/// True with probability `exp(-gap rate)`.
fn accept<B: Bits + ?Sized>(bits: &mut B, gap: u64, rate: Ratio, near: Option<Scaled>) -> bool {
    let Some((gap_near, rate_near)) = Scaled::new(gap.into()).zip(near) else {
        return true;
    };
    exp_coin(bits, gap_near.times(rate_near), || {
        (BigUint::from(gap) * rate.numerator(), rate.denominator().get().into())
    })
}

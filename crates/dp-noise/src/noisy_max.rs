//! Report noisy max with one-sided geometric noise on integer scores.

use crate::{Bits, Geometric, NoiseError};

/// The index of the largest of `scores[i] + X_i`, each `X_i` geometric; the lowest index of a tie.
///
/// # Guarantee
/// Let `b` be the scale and let all scores change in one direction, by at most `d`: `q'_i - q_i` in
/// `[0, d]` for all `i`. Then every index is at most `exp(d/b)` times as likely under `q` as under
/// `q'`, and the other way round. Proof: fix the other noises; index `i` wins iff `X_i >= c` for a
/// number `c` that depends on the others, and `c` changes by at most `d` while
/// `Pr[X >= c - d] <= exp(d/b) Pr[X >= c]`. For changes in `[-d, d]` the factor is `exp(2 d / b)`.
///
/// The noisy value of the winner must not be released on that ground alone: see
/// [`noisy_max_with_value`].
///
/// # Utility
/// Except with probability `beta` the score is within `b ln(n / beta)` of the best of `n`.
///
/// # Complexity
/// `n` draws of [`Geometric`], about 4.2 words each. Not timing-safe.
///
/// # Precision
/// Exact integers; a noisy score beyond `i128` saturates, which takes a noise above `2^126`.
///
/// # Errors
/// [`NoiseError::NoScores`]. Their number is public.
///
/// # Source
/// Dwork, Roth (2014), Claim 3.9, with one-sided noise; Ding et al. (2021) for its equality with
/// permute-and-flip in the continuous case.
pub fn noisy_max<B: Bits + ?Sized>(
    bits: &mut B,
    scores: &[i64],
    noise: Geometric,
) -> Result<usize, NoiseError> {
    Ok(noisy_max_with_value(bits, scores, noise)?.0)
}

/// The index of [`noisy_max`] together with the noisy score that won.
///
/// # Guarantee
/// **One direction only.** Let no score fall and none rise by more than `d`: `q'_i - q_i` in
/// `[0, d]`. Then every pair is at most `exp(d/b)` times as likely under `q'` as under `q`. Proof:
/// the pair `(i, v)` has probability
/// `Pr[X = v - q_i] * prod_c Pr[q_c + X_c < v, or = v if c > i]`; going from `q` to `q'` multiplies
/// the first factor by at most `exp(d/b)` and lowers every other one.
///
/// From `q'` to `q` nothing is bounded: a value below a score is impossible. Use it where only
/// added records count, for example inside a secret subsample.
///
/// # Complexity, Precision
/// As [`noisy_max`].
///
/// # Errors
/// As [`noisy_max`].
pub fn noisy_max_with_value<B: Bits + ?Sized>(
    bits: &mut B,
    scores: &[i64],
    noise: Geometric,
) -> Result<(usize, i128), NoiseError> {
    let noisy = scores.iter().map(|&score| {
        let noise = i128::try_from(noise.sample(bits)).unwrap_or(i128::MAX);
        i128::from(score).saturating_add(noise)
    });
    noisy
        .enumerate()
        .reduce(|best, next| if next.1 > best.1 { next } else { best })
        .ok_or(NoiseError::NoScores)
}

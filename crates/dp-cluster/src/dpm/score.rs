//! What makes a good cut: few points around it, about as many on either side.

use serde::{Deserialize, Serialize};

use crate::ClusterError;

/// The parameters of the score of a cut, `centreness + alpha * emptiness`.
///
/// With `n` the noisy count of the node, `r` the number of its points left of the cut and `m` the
/// number in the interval around it: emptiness is `1 - m / n`; centreness rises from 0 at `r = 0`
/// to `t` at `r = q n` and on to 1 at `r = n / 2`, and falls likewise on the other side.
///
/// # Source
/// The DPM paper, Definitions 4 to 6.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CutWeights {
    /// Centreness at the outer quantile; `2 q <= t <= 1`, so that the outer slope is the steeper.
    pub t: f64,
    /// The outer quantile; above 0 and below 1/2.
    pub q: f64,
    /// The weight of emptiness; at least 0 and at most 1000.
    pub alpha: f64,
}

impl Default for CutWeights {
    fn default() -> Self {
        Self { t: 0.3, q: 1.0 / 12.0, alpha: 5.0 }
    }
}

impl CutWeights {
    pub(super) fn checked(self) -> Result<CutScore, ClusterError> {
        let refuse = |name, got, want| Err(ClusterError::Setting { name, got, want });
        if !(self.q > 1e-3 && self.q < 0.499) {
            return refuse("q", self.q, "between 0.001 and 0.499");
        }
        if !(self.t >= 2.0 * self.q && self.t <= 1.0) {
            return refuse("t", self.t, "between 2 q and 1");
        }
        if !(self.alpha >= 0.0 && self.alpha <= 1000.0) {
            return refuse("alpha", self.alpha, "between 0 and 1000");
        }
        let outer = fixed(self.t / self.q);
        Ok(CutScore {
            outer,
            // t >= 2q makes this at most `outer`; the minimum guards the last bit.
            inner: fixed((1.0 - self.t) / (0.5 - self.q)).min(outer),
            emptiness: fixed(self.alpha),
            q: self.q,
        })
    }
}

/// The score times the noisy count, in units of `2^-16`: an integer.
///
/// The noisy count that divides the score also divides its range, so it cancels in the exponent:
/// the mechanism may work on `n * score`, whose range does not depend on `n` at all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CutScore {
    /// Slopes of centreness in the rank, outside and inside of the outer quantiles.
    outer: i64,
    inner: i64,
    /// Change of the emptiness term per point in the interval.
    emptiness: i64,
    q: f64,
}

#[allow(clippy::cast_possible_truncation, reason = "below 2^26 by the limits on the weights")]
fn fixed(x: f64) -> i64 {
    (x * 65_536.0) as i64
}

impl CutScore {
    /// Counts are capped here, which keeps every score within `i64`.
    pub(crate) const MAX_COUNT: i64 = 1 << 36;

    /// Range of the score change when one point is added or removed at a fixed noisy count.
    ///
    /// A point moves every rank by 0 or 1, and centreness is concave piecewise linear with slopes
    /// of at most `outer` in the rank: a change within `+-outer`. It moves the emptiness term of one
    /// interval per dimension by `-emptiness`. Together: within `[-outer - emptiness, outer]`.
    ///
    /// In one dimension the interval of the new point is the leftmost whose rank can move. If its
    /// centreness falls by `outer` it lies beyond the upper quantile, and so does everything to its
    /// right, whose scores fall as well: the range is `outer + emptiness`, or `2 outer` without it.
    pub(super) fn range(&self, dim: usize) -> u64 {
        let range = if dim == 1 {
            (2 * self.outer).max(self.outer + self.emptiness)
        } else {
            2 * self.outer + self.emptiness
        };
        range.unsigned_abs()
    }

    /// For a node of this noisy count; one value serves all its candidates.
    #[allow(clippy::cast_possible_truncation, reason = "below 2^62 by MAX_COUNT")]
    pub(super) fn at(&self, noisy_count: i64) -> NodeScore<'_> {
        let offset = (self.outer - self.inner) as f64 * self.q * noisy_count as f64;
        NodeScore { score: self, noisy_count, offset: offset.round() as i64 }
    }
}

/// [`CutScore`] at one noisy count, a public value.
pub(super) struct NodeScore<'a> {
    score: &'a CutScore,
    noisy_count: i64,
    /// Where the inner lines meet the axis.
    offset: i64,
}

impl NodeScore<'_> {
    /// The score of a cut with `rank` points to the left and `inside` points around it.
    ///
    /// The minimum of four lines with slopes of at most `outer` has slopes of at most `outer` for
    /// every rank, also beyond the noisy count; so the range above holds without any assumption on
    /// how far the noisy count is off.
    pub(super) fn of(&self, rank: u64, inside: u64) -> i64 {
        let CutScore { outer, inner, emptiness, .. } = *self.score;
        let left = capped(rank);
        let right = self.noisy_count - left;
        let centreness = (outer * left)
            .min(self.offset + inner * left)
            .min(self.offset + inner * right)
            .min(outer * right)
            .max(0);
        centreness + emptiness * (self.noisy_count - capped(inside))
    }
}

fn capped(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX).min(CutScore::MAX_COUNT)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Centreness in its own units.
    fn centreness(n: i64, rank: u64) -> f64 {
        let score = CutWeights::default().checked().expect("defaults are valid");
        let zero_emptiness = n * score.emptiness;
        (score.at(n).of(rank, 0) - zero_emptiness) as f64 / 65_536.0 / n as f64
    }

    #[test]
    fn centreness_takes_the_values_of_its_definition() {
        let n = 120_000;
        for (rank, want) in
            [(0, 0.0), (5_000, 0.15), (10_000, 0.3), (60_000, 1.0), (110_000, 0.3), (120_000, 0.0)]
        {
            let got = centreness(n, rank);
            assert!((got - want).abs() < 1e-4, "rank {rank}: {got}, want {want}");
        }
        assert!(
            centreness(n, 500_000).abs() < 1e-15,
            "ranks beyond the noisy count are not central"
        );
    }

    #[test]
    fn one_point_moves_the_score_within_its_range() {
        let score = CutWeights::default().checked().expect("defaults are valid");
        for n in [1, 2, 3, 7, 12, 100, 1_001] {
            let node = score.at(n);
            for rank in 0..2 * n.unsigned_abs() + 3 {
                for inside in 0..3 {
                    let here = node.of(rank, inside);
                    for (r, m) in [(rank + 1, inside), (rank, inside + 1), (rank + 1, inside + 1)] {
                        let change = node.of(r, m) - here;
                        assert!(change <= score.outer, "n {n}, rank {rank}");
                        assert!(change >= -score.outer - score.emptiness, "n {n}, rank {rank}");
                    }
                }
            }
        }
    }

    #[test]
    fn extreme_counts_do_not_overflow() {
        let weights = CutWeights { t: 1.0, q: 0.001_1, alpha: 1000.0 };
        let score = weights.checked().expect("at the limits");
        for n in [1, CutScore::MAX_COUNT] {
            for rank in [0, 1, u64::MAX] {
                assert!(score.at(n).of(rank, rank) < i64::MAX / 2);
            }
        }
    }
}

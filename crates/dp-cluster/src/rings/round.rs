//! The calibrated draws of one round: counts of all cells, then sums of groups.

use dp_accounting::{Mu, Step};
use dp_mechanism::{Cells, Draws, GaussianSum};

use super::groups::Group;
use crate::ClusterError;
use crate::recentring::clipped_to;
use crate::residual::UNITS;

/// The leaves of the receipt.
const COUNTS: &str = "counts of all cells";
const SUM: &str = "sum of one group";

/// Squared length of what a record adds to the sum of its group, at most: a residual of one radius.
pub(super) const LENGTH_SQUARED: u64 = (UNITS * UNITS).unsigned_abs();

#[derive(Clone, Debug, PartialEq)]
pub(super) struct RingRound {
    counts: GaussianSum,
    sums: GaussianSum,
}

impl RingRound {
    /// `count_weight` is what a record adds to a count, as a multiple of the longest residual.
    pub(super) fn new(mu: Mu, count_weight: f64) -> Result<Self, ClusterError> {
        let parts = mu.split(&[count_weight * count_weight, 1.0])?;
        Ok(Self { counts: GaussianSum::rounded(parts[0])?, sums: GaussianSum::rounded(parts[1])? })
    }

    /// A record is in one cell and in at most one group, so all groups together cost as much as one.
    pub(super) fn spent(&self, number: usize) -> Step {
        let sum = Step::spend(SUM, self.sums.loss());
        let steps =
            vec![Step::spend(COUNTS, self.counts.loss()), Step::parallel("groups", vec![sum])];
        Step::sequential(format!("ring round {number}"), steps)
    }

    /// Standard deviation of the noise in a cell's count, in records.
    pub(super) fn count_noise(&self) -> f64 {
        self.counts.noise_multiplier()
    }

    /// Standard deviation of the noise in each coordinate of a sum, in radii.
    pub(super) fn sum_noise(&self) -> f64 {
        self.sums.noise_multiplier()
    }

    /// To which part of the radius of their ring residuals of a group are clipped. The rings of a cluster that is far from all centres end at up to twice its
    /// distance, so that what is clipped off is how far centres are off in the next round; where noise is longer than that, it counts for more.
    pub(super) fn clip(&self, group: &Group, dim: usize) -> f64 {
        clipped_to(self.sum_noise() * (dim as f64).sqrt() / group.count)
    }

    /// The counts of all cells with noise, empty or not: one vector, which a record changes by 1 in one place.
    pub(super) fn noisy_counts(
        &self,
        number: usize,
        counts: &Cells<i64>,
        draws: &mut Draws<'_>,
    ) -> Vec<i64> {
        self.counts.release(counts, 1, &mut draws.leaf(COUNTS, number))
    }

    /// The sums of all groups with noise, whether they have records or not.
    pub(super) fn noisy_sums(
        &self,
        number: usize,
        sums: &Cells<i64>,
        dim: usize,
        draws: &mut Draws<'_>,
    ) -> Vec<i64> {
        let one = |(group, sum)| {
            self.sums.release(sum, LENGTH_SQUARED, &mut draws.part(SUM, number, group))
        };
        (0..).zip(sums.view().chunks(dim)).flat_map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As far as a mean is known: all of the radius where its noise has a tenth of it, and six tenths from four tenths on.
    #[test]
    fn residuals_are_clipped_short_where_the_noise_of_a_mean_is_long() {
        let round = RingRound::new(Mu::new(1.0).expect("valid"), 1.0).expect("valid");
        for dim in [1, 4, 100] {
            let noise = round.sum_noise() * (dim as f64).sqrt();
            for (part, clip) in [(0.01, 1.0), (0.1, 1.0), (0.2, 0.8), (0.4, 0.6), (9.0, 0.6)] {
                let group = Group { centre: 0, ring: 0, count: noise / part };
                assert!((round.clip(&group, dim) - clip).abs() < 1e-9, "{dim} {part}");
            }
        }
    }
}

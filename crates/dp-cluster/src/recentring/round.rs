//! The calibrated draws of one round: a radius, then one noisy vector per centre.

use dp_accounting::{Rho, Step};
use dp_mechanism::{Draws, ExponentialMechanism, GaussianSum};

use super::radius::{SCORE_RANGE, scores};
use super::sums::{COUNT_UNITS, LENGTH_SQUARED};
use crate::ClusterError;
use crate::dpm::eta;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Round {
    radius: ExponentialMechanism,
    sums: GaussianSum,
}

impl Round {
    pub(super) fn new(radius: Rho, sums: Rho) -> Result<Self, ClusterError> {
        let radius = ExponentialMechanism::by_range(eta(radius), SCORE_RANGE)?;
        Ok(Self { radius, sums: GaussianSum::new(sums)? })
    }

    /// A point is at one centre, so all centres together cost as much as one.
    pub(super) fn spent(&self, number: usize) -> Step {
        let one = Step::spend("sum and counts of one centre", self.sums.loss());
        let steps =
            vec![Step::spend("radius", self.radius.loss()), Step::parallel("centres", vec![one])];
        Step::sequential(format!("round {number}"), steps)
    }

    /// Standard deviation of the noise in each entry of a vector, in units.
    pub(super) fn noise(&self) -> f64 {
        self.sums.noise_multiplier() * (LENGTH_SQUARED as f64).sqrt()
    }

    /// Standard deviation of the noise in a count, in records.
    pub(super) fn count_noise(&self) -> f64 {
        self.noise() / COUNT_UNITS as f64
    }

    /// The radius within which about `target` points lie.
    pub(super) fn choose_radius(
        &self,
        radii: &[f64],
        distances: &[f64],
        target: i64,
        draws: &mut Draws<'_>,
    ) -> f64 {
        radii[self.radius.release(&scores(radii, distances, target), draws)]
    }

    /// Noise on the vectors of all centres, whether they have points or not.
    pub(super) fn add_noise(&self, vectors: &mut [i64], width: usize, draws: &mut Draws<'_>) {
        for vector in vectors.chunks_exact_mut(width) {
            let noisy = self.sums.release(&*vector, LENGTH_SQUARED, draws);
            vector.copy_from_slice(&noisy);
        }
    }
}

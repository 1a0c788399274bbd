//! The calibrated draws of one round: a radius, then one noisy vector per centre.

use dp_accounting::{Rho, Step};
use dp_mechanism::{Cells, Draws, ExponentialMechanism, GaussianSum, Private};

use super::radius::{SCORE_RANGE, scores};
use super::sums::{COUNT_UNITS, LENGTH_SQUARED};
use crate::ClusterError;
use crate::dpm::eta;
use crate::located::Located;

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

    /// The radius within which about `target` points lie, of these public ones; `number` is that of the round, from 0.
    pub(super) fn choose_radius(
        &self,
        number: usize,
        radii: &[f64],
        located: &Private<Located<'_>>,
        target: i64,
        draws: &mut Draws<'_>,
    ) -> f64 {
        let scores = located.as_ref().map(|located| scores(radii, &located.distances, target));
        let scores = scores.cells(radii.len());
        radii[self.radius.release(&scores, &mut draws.leaf("radius", number))]
    }

    /// The vectors of all centres with noise, whether they have points or not.
    pub(super) fn noisy_sums(
        &self,
        number: usize,
        vectors: &Cells<i64>,
        width: usize,
        draws: &mut Draws<'_>,
    ) -> Vec<i64> {
        let one = |(centre, vector)| {
            let draw = &mut draws.part("sum and counts of one centre", number, centre);
            self.sums.release(vector, LENGTH_SQUARED, draw)
        };
        (0..).zip(vectors.view().chunks(width)).flat_map(one).collect()
    }
}

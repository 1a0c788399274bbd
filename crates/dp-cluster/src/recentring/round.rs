//! The calibrated draws of one round: a radius, then one noisy vector per centre.

use dp_accounting::{Mu, Step};
use dp_mechanism::passes::Counted;
use dp_mechanism::{Draws, GaussianSum, NoisyCount};

use super::radius::{SEARCH_STEPS, steps_among, within};
use super::sums::{COUNT_UNITS, LENGTH_SQUARED};
use crate::ClusterError;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Round {
    /// The radius is found by halving the radii that are left, on noisy counts, so that one exact curve holds for all draws.
    radius: NoisyCount,
    sums: GaussianSum,
}

/// The leaf of one step of a search.
const WITHIN: &str = "count within a radius";

impl Round {
    pub(super) fn new(radius: Mu, sums: Mu) -> Result<Self, ClusterError> {
        let radius = NoisyCount::rounded(radius.split(&[1.0; SEARCH_STEPS])?[0])?;
        Ok(Self { radius, sums: GaussianSum::rounded(sums)? })
    }

    /// A point is at one centre, so all centres together cost as much as one.
    pub(super) fn spent(&self, number: usize) -> Step {
        let one = Step::spend("sum and counts of one centre", self.sums.loss());
        let radius =
            Step::sequential("radius", vec![Step::spend(WITHIN, self.radius.loss()); SEARCH_STEPS]);
        let steps = vec![radius, Step::parallel("centres", vec![one])];
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

    /// Standard deviation of the noise in a count within a radius, in records.
    pub(super) fn radius_noise(&self) -> f64 {
        self.radius.standard_deviation()
    }

    /// The radius within which about `target` points lie, of these public ones, at these places among them; `number` is that of the round,
    /// from 0.
    ///
    /// There are [`SEARCH_STEPS`] draws in any case: among fewer radii, each step has the mean of several.
    pub(super) fn choose_radius(
        &self,
        number: usize,
        (radii, among): (&[f64], &[usize]),
        counted: &Counted,
        target: i64,
        draws: &mut Draws<'_>,
    ) -> f64 {
        let within = counted.entries.view().into_private().map(within);
        let within = within.cells(radii.len());
        // The radius is in this range, ends included.
        let (mut low, mut high) = (0, among.len() - 1);
        let (steps, mut drawn) = (steps_among(among.len()), 0);
        for step in 0..steps {
            let middle = usize::midpoint(low, high);
            let exact = within.at(among[middle]).map(|&count| count);
            let mut beyond_target = 0;
            for _ in 0..(SEARCH_STEPS - drawn).div_ceil(steps - step) {
                let draw = &mut draws.leaf(WITHIN, number * SEARCH_STEPS + drawn);
                beyond_target += i128::from(self.radius.release(exact, draw)) - i128::from(target);
                drawn += 1;
            }
            if beyond_target < 0 {
                low = (middle + 1).min(high);
            } else {
                high = middle;
            }
        }
        radii[among[low]]
    }

    /// The vectors of all centres with noise, whether they have points or not.
    pub(super) fn noisy_sums(
        &self,
        number: usize,
        counted: &Counted,
        width: usize,
        draws: &mut Draws<'_>,
    ) -> Vec<i64> {
        let one = |(centre, vector)| {
            let draw = &mut draws.part("sum and counts of one centre", number, centre);
            self.sums.release(vector, LENGTH_SQUARED, draw)
        };
        (0..).zip(counted.entries.view().chunks(width)).flat_map(one).collect()
    }
}

//! How the budget is divided, and the calibrated primitives that follow.

use std::num::NonZeroU64;

use dp_accounting::{Delta, Epsilon, Step};
use dp_mechanism::{CellsRef, Draws, GaussianSum, GeometricSum, NoisyCount};
use serde::{Deserialize, Serialize};

use super::params::Asked;
use crate::ClusterError;
use crate::sized_sum::{SizedSum, UNITS, box_radius};
use crate::total_rho::total_mu;

/// How each iteration divides its part of the budget between sums and sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetSplit {
    /// One Gaussian noise on the sum with the size as one more coordinate, by the exact curve of all of them together; needs a delta.
    #[default]
    Joint,
    /// Two-sided geometric noise on every coordinate and on the size; needs no delta. The size gets
    /// `cbrt(4 d 0.225^2)` times the epsilon of a coordinate.
    Pure,
}

/// What one cluster of one iteration is released with.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Noise {
    Joint(GaussianSum),
    Pure { coordinates: Vec<GeometricSum>, size: NoisyCount },
}

/// Everything that DP-Lloyd draws with. The receipt is read off the same objects.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Primitives {
    pub(super) sized: SizedSum,
    pub(super) noise: Noise,
    pub(super) iterations: usize,
}

/// The ratio of shift and spread that the shares of the pure form are made for.
const SHIFT: f64 = 0.225;

impl Primitives {
    pub(super) fn calibrate(asked: &Asked) -> Result<Self, ClusterError> {
        let dim = asked.public_box.dim();
        let radius = box_radius(&asked.public_box);
        let sized = SizedSum::new(dim, radius);
        let (noise, iterations) = match asked.settings.split {
            BudgetSplit::Joint => {
                if asked.budget.delta() == Delta::ZERO {
                    let want = "above 0: the sums have Gaussian noise, unless the split is `Pure`";
                    return Err(ClusterError::Setting { name: "delta", got: 0.0, want });
                }
                let total = total_mu(asked.budget)?;
                let iterations = worthwhile(asked, total.get().recip());
                let each = total.split(&vec![1.0; iterations])?[0];
                (Noise::Joint(GaussianSum::rounded(each)?), iterations)
            }
            BudgetSplit::Pure => {
                let epsilon = asked.budget.epsilon().get();
                let iterations = worthwhile(asked, 2_f64.sqrt() * dim as f64 / epsilon);
                let (coordinate, size) = pure_shares(dim, epsilon, iterations);
                let coordinates = (0..dim).map(|i| {
                    let half = 0.5 * asked.public_box.width(i) / radius * UNITS as f64;
                    #[allow(
                        clippy::cast_possible_truncation,
                        clippy::cast_sign_loss,
                        reason = "between 0 and UNITS"
                    )]
                    let sensitivity = half.ceil() as u64;
                    let sensitivity = NonZeroU64::MIN.saturating_add(sensitivity);
                    GeometricSum::new(Epsilon::new(coordinate)?, sensitivity)
                        .map_err(ClusterError::from)
                });
                let coordinates = coordinates.collect::<Result<_, _>>()?;
                let size = NoisyCount::geometric(Epsilon::new(size)?)?;
                (Noise::Pure { coordinates, size }, iterations)
            }
        };
        Ok(Self { sized, noise, iterations })
    }

    /// The sum of one cluster of one iteration with noise, empty or not, and its noisy size.
    ///
    /// The last entry of a sum is the size; the pure form counts records, which is that entry over what one record adds to it.
    pub(super) fn release(
        &self,
        (iteration, cluster): (usize, u64),
        sum: CellsRef<'_, i64>,
        draws: &mut Draws<'_>,
    ) -> (Vec<i64>, f64) {
        match &self.noise {
            Noise::Joint(noise) => {
                let draw = &mut draws.part("sum and size of one cluster", iteration, cluster);
                let noisy = self.sized.release(sum, noise, draw);
                let size = self.sized.size(&noisy);
                (noisy, size)
            }
            Noise::Pure { coordinates, size } => {
                let dim = coordinates.len();
                let noisy =
                    coordinates.iter().zip(sum.chunks(1)).enumerate().map(|(i, (noise, x))| {
                        let draw = &mut draws.part("one coordinate", iteration * dim + i, cluster);
                        noise.release(x, draw)[0]
                    });
                let noisy = noisy.collect();
                let records = sum.into_private().map(|sum| self.sized.records(sum));
                let size = size.release(records, &mut draws.part("size", iteration, cluster));
                (noisy, size as f64)
            }
        }
    }

    /// Standard deviation of a noisy size, in records.
    pub(super) fn size_standard_deviation(&self) -> f64 {
        match &self.noise {
            Noise::Joint(noise) => self.sized.size_standard_deviation(noise),
            Noise::Pure { size, .. } => size.standard_deviation(),
        }
    }

    /// The itemised cost.
    pub(super) fn spent(&self) -> Step {
        let cluster = || match &self.noise {
            Noise::Joint(noise) => Step::spend("sum and size of one cluster", noise.loss()),
            Noise::Pure { coordinates, size } => {
                let sums =
                    coordinates.iter().map(|noise| Step::spend("one coordinate", noise.loss()));
                let size = Step::spend("size", size.loss());
                let sums = Step::sequential("sum", sums.collect());
                Step::sequential("sum and size of one cluster", vec![sums, size])
            }
        };
        let iteration = |i| Step::parallel(format!("iteration {i}"), vec![cluster()]);
        Step::sequential("all iterations", (1..=self.iterations).map(iteration).collect())
    }
}

/// Epsilon of one coordinate and of one size, in one iteration; `d` coordinates and one size, all
/// iterations together, make up `epsilon`.
fn pure_shares(dim: usize, epsilon: f64, iterations: usize) -> (f64, f64) {
    let dim = dim as f64;
    let size = (4.0 * dim * SHIFT * SHIFT).cbrt();
    // A little less, so that no rounding of a sum of losses can cross the budget.
    let each = epsilon * (1.0 - 1e-9) / iterations as f64 / (dim + size);
    (each, each * size)
}

/// As many iterations as keep the noise of a typical centre below a tenth of the radius, 2 to 7. A
/// function of public numbers only. `multiplier`: noise of a sum at one iteration, in radii.
fn worthwhile(asked: &Asked, multiplier: f64) -> usize {
    const UNKNOWN: usize = 5;
    if let Some(iterations) = asked.settings.iterations {
        return iterations;
    }
    let Some(records) = asked.settings.expected_records else { return UNKNOWN };
    let dim = asked.public_box.dim() as f64;
    let once = asked.k as f64 * dim.sqrt() * multiplier / (records.max(1) as f64);
    // The noise of a sum grows with the root of the iterations, or, pure, with their number.
    let ratio = 0.1 / once;
    let most = if asked.settings.split == BudgetSplit::Joint { ratio * ratio } else { ratio };
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "2 to 7")]
    let iterations = most.clamp(2.0, 7.0) as usize;
    iterations
}

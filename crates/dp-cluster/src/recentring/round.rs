//! One round: a radius, then a noisy sum of clipped residuals and noisy counts per centre.

use dp_accounting::{Rho, Step};
use dp_geometry::{PointsView, PublicBox};
use dp_mechanism::{Draws, ExponentialMechanism, GaussianSum};
use rayon::prelude::*;

use super::centres::Centres;
use super::locate::{CHUNK, clip_into};
use crate::ClusterError;
use crate::dpm::eta;
use crate::nearest::rounding_slack;

/// Units of the fixed-point grid per radius.
pub(super) const UNITS: i32 = 1 << 20;
/// What one point adds to a count, in the same units: `0.3` radii.
pub(super) const COUNT_UNITS: i32 = UNITS / 10 * 3;
/// Squared length of what one point adds to the joint vector of its centre, at most.
pub(super) const LENGTH_SQUARED: u64 =
    (UNITS as i64 * UNITS as i64 + COUNT_UNITS as i64 * COUNT_UNITS as i64) as u64;
/// Entries of the joint vector after the coordinates: points within the radius, points beyond it.
pub(super) const COUNTS: usize = 2;

/// A point counts as far beyond the radius from this many radii on.
const FAR: f64 = 1.5;

/// Radii per factor of two, and factors of two below the diagonal of the box.
const PER_OCTAVE: i32 = 8;
const OCTAVES: i32 = 20;

/// The calibrated draws of one round.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Round {
    pub(super) radius: ExponentialMechanism,
    pub(super) sums: GaussianSum,
}

impl Round {
    pub(super) fn new(radius: Rho, sums: Rho) -> Result<Self, ClusterError> {
        // One point more raises the number within r by 0 or 1, the former for small r, so each
        // distance from the target moves by -1, 0 or 1: a range of 2.
        let radius = ExponentialMechanism::by_range(eta(radius), 2)?;
        Ok(Self { radius, sums: GaussianSum::new(sums)? })
    }

    pub(super) fn spent(&self, number: usize) -> Step {
        let sum = Step::spend("sum and counts of one centre", self.sums.loss());
        let steps = vec![
            Step::spend("radius", self.radius.loss()),
            Step::parallel("centres", vec![sum]),
        ];
        Step::sequential(format!("round {number}"), steps)
    }

    /// Standard deviation of the noise in each entry of the joint vector, in units.
    pub(super) fn noise(&self) -> f64 {
        self.sums.noise_multiplier() * (LENGTH_SQUARED as f64).sqrt()
    }

    /// Standard deviation of the noise in a count, in records.
    pub(super) fn count_noise(&self) -> f64 {
        self.noise() / f64::from(COUNT_UNITS)
    }

    /// The radius within which about `target` points lie.
    pub(super) fn choose_radius(
        &self,
        radii: &[f64],
        distances: &[f64],
        target: i64,
        draws: &mut dyn Draws,
    ) -> f64 {
        let mut within = vec![0_i64; radii.len() + 1];
        for &distance in distances {
            within[radii.partition_point(|&r| r < distance)] += 1;
        }
        let mut count = 0;
        let pen = (super::centres::knob("pen", 0.002) * target as f64) as i64;
        let scores: Vec<i64> = within[..radii.len()]
            .iter()
            .zip(0..)
            .map(|(n, j)| {
                count += n;
                -(count - target).abs() - pen * j
            })
            .collect();
        radii[self.radius.release(&scores, draws)]
    }

    /// The joint vectors of all centres with noise, empty or not.
    pub(super) fn sum(
        &self,
        points: PointsView<'_>,
        public_box: &PublicBox,
        centres: &Centres,
        located: (&[u32], &[f64]),
        draws: &mut dyn Draws,
    ) -> Vec<i64> {
        let mut vectors = exact_sums(points, public_box, centres, located);
        for vector in vectors.chunks_exact_mut(points.dim() + COUNTS) {
            self.sums.release(vector, LENGTH_SQUARED, draws);
        }
        vectors
    }
}

/// The public radii to choose from, ascending up to the diagonal.
pub(super) fn radii(public_box: &PublicBox) -> Vec<f64> {
    let diagonal = public_box.diagonal();
    (0..=PER_OCTAVE * OCTAVES)
        .rev()
        .map(|i| diagonal * 2_f64.powf(-f64::from(i) / f64::from(PER_OCTAVE)))
        .collect()
}

fn exact_sums(
    points: PointsView<'_>,
    public_box: &PublicBox,
    centres: &Centres,
    (labels, distances): (&[u32], &[f64]),
) -> Vec<i64> {
    let dim = points.dim();
    let width = dim + COUNTS;
    let size = centres.len() * width;
    // At most one accumulator per thread and a fixed share of the rows each.
    let rows = points.len().div_ceil(rayon::current_num_threads()).max(CHUNK);
    points
        .coords()
        .par_chunks(rows * dim)
        .zip(labels.par_chunks(rows))
        .zip(distances.par_chunks(rows))
        .map(|((coords, labels), distances)| {
            let mut sums = vec![0_i64; size];
            let (mut clipped, mut units) = (vec![0.0; dim], vec![0_i32; dim]);
            for ((row, &label), &distance) in coords.chunks_exact(dim).zip(labels).zip(distances) {
                clip_into(public_box, row, &mut clipped);
                let label = label as usize;
                let radius = centres.others[label].radius;
                clip_residual(&clipped, centres.row(label), distance, radius, &mut units);
                let (residual, counts) = sums[label * width..][..width].split_at_mut(dim);
                for (sum, &unit) in residual.iter_mut().zip(&units) {
                    *sum += i64::from(unit);
                }
                counts[usize::from(distance > FAR * radius)] += i64::from(COUNT_UNITS);
            }
            sums
        })
        .reduce_with(|mut a, b| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
            a
        })
        .unwrap_or_else(|| vec![0; size])
}

/// `x - c`, scaled back to `radius` where it is longer, in units: never longer than [`UNITS`].
#[inline]
pub(super) fn clip_residual(x: &[f64], c: &[f64], distance: f64, radius: f64, units: &mut [i32]) {
    // The margin outweighs the rounding of the distance and of the products below; then rounding
    // towards zero can only shorten.
    let scale = f64::from(UNITS) * (1.0 - rounding_slack(x.len())) / distance.max(radius);
    for (unit, (x, c)) in units.iter_mut().zip(x.iter().zip(c)) {
        #[allow(clippy::cast_possible_truncation, reason = "towards zero, within 2^20")]
        {
            *unit = ((x - c) * scale) as i32;
        }
    }
}

//! How far residuals are clipped, and how much of a centre's way that hides.
//!
//! A sum of residuals clipped to a length has noise as long as that. On many axes the records of a cluster are all about as far from its middle, and
//! clipped to less than that they still say in which direction a centre is off: the noise gets shorter by as much as the way that is seen, and of
//! normal clusters it is known how much that is. Records of a skewed cluster say then where its median is, more or less, and not its mean. So residuals are
//! clipped short only where noise moves a centre further than that.

/// Noise of a mean, in radii, up to which residuals are clipped to the radius,
const SHORT_FROM: f64 = 0.1;
/// and from which on they are clipped to
const SHORT_AT: f64 = 0.4;
/// this part of it. In between the part falls with the logarithm of the noise. Measured.
const SHORTEST: f64 = 0.6;

/// To which part of the radius residuals are clipped, where the noise of their mean has this expected length in radii.
pub(crate) fn clipped_to(noise: f64) -> f64 {
    let along = (noise / SHORT_FROM).ln() / (SHORT_AT / SHORT_FROM).ln();
    1.0 - (1.0 - SHORTEST) * along.clamp(0.0, 1.0)
}

/// Deviations of a normal law over which it is summed, and steps in each of them.
const DEVIATIONS: i32 = 4;
const STEPS: i32 = 50;

/// How far the records of a normal cluster are from its middle, in radii.
pub(super) struct Lengths {
    /// Lengths with their shares, which add up to 1.
    shares: Vec<(f64, f64)>,
    /// What part of all directions is across that of a record: along its own, a record beyond the clip says nothing.
    across: f64,
}

impl Lengths {
    /// Where a radius has the `quantile` of the records within it.
    pub(super) fn new(dim: usize, quantile: f64) -> Self {
        // Squared lengths have a chi-squared law, whose cube root is nearly normal (Wilson and Hilferty).
        let variance = 2.0 / (9.0 * dim as f64);
        let length = |z: f64| (1.0 - variance + z * variance.sqrt()).max(1e-3).powf(1.5);
        let steps = (-DEVIATIONS * STEPS..=DEVIATIONS * STEPS)
            .map(|step| f64::from(step) / f64::from(STEPS));
        let mut shares: Vec<(f64, f64)> =
            steps.map(|z| (length(z), (-0.5 * z * z).exp())).collect();
        let all: f64 = shares.iter().map(|(_, share)| share).sum();
        let mut within = 0.0;
        let radius = shares.iter().find(|(_, share)| {
            within += share / all;
            within >= quantile
        });
        let radius = radius.map_or(length(f64::from(DEVIATIONS)), |(length, _)| *length);
        for (length, share) in &mut shares {
            (*length, *share) = (*length / radius, *share / all);
        }
        Self { shares, across: 1.0 - 1.0 / dim as f64 }
    }

    /// What a mean of residuals that are clipped to this part of the radius is multiplied by: the root of what would make up for clipping. All of
    /// that is too much, as records of centres that are still off are not as far as the radius has it: measured.
    pub(super) fn stretch(&self, clip: f64) -> f64 {
        self.passed_on(clip).sqrt().recip()
    }

    /// What part of a small way a mean of residuals moves that are clipped to this part of the radius.
    fn passed_on(&self, clip: f64) -> f64 {
        let of = |&(length, share): &(f64, f64)| {
            share * if length <= clip { 1.0 } else { self.across * clip / length }
        };
        self.shares.iter().map(of).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::residual::{UNITS, clip_residual};
    use crate::testing::{normal, rng};

    #[test]
    fn residuals_are_clipped_short_where_noise_is_long() {
        for (noise, part) in
            [(0.0, 1.0), (0.1, 1.0), (0.2, 0.8), (0.4, 0.6), (1e300, 0.6), (f64::INFINITY, 0.6)]
        {
            assert!((clipped_to(noise) - part).abs() < 1e-12, "{noise}: {}", clipped_to(noise));
        }
    }

    /// A centre a hundredth of a radius off, and the records of a normal cluster: their clipped mean moves by what is stated, within a
    /// fortieth in up to a hundred dimensions.
    #[test]
    fn what_clipping_passes_on_is_that_of_normal_clusters() {
        let mut rng = rng(8);
        for dim in [1, 2, 5, 20, 100] {
            let lengths = Lengths::new(dim, 0.8);
            let records: Vec<Vec<f64>> =
                (0..20_000).map(|_| (0..dim).map(|_| normal(&mut rng)).collect()).collect();
            let length = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
            let mut distances: Vec<f64> = records.iter().map(|x| length(x)).collect();
            distances.sort_by(f64::total_cmp);
            let radius = distances[16_000];
            for clip in [1.0, 0.8, 0.6, 0.3] {
                // The same records around both places, so that only the way is left.
                let mut mean = [0.0; 2];
                for (mean, off) in mean.iter_mut().zip([0.0, 0.01 * radius]) {
                    let mut centre = vec![0.0; dim];
                    centre[0] = -off;
                    for record in &records {
                        let from: Vec<f64> =
                            record.iter().zip(&centre).map(|(x, c)| x - c).collect();
                        let mut units = vec![0; dim];
                        clip_residual(record, &centre, length(&from), clip * radius, &mut units);
                        *mean += f64::from(units[0]) / UNITS as f64 * clip * radius;
                    }
                }
                let moved = (mean[1] - mean[0]) / records.len() as f64 / (0.01 * radius);
                let stated = lengths.passed_on(clip);
                assert!((moved - stated).abs() < 0.025, "{dim}, {clip}: {moved} for {stated}");
                let half = lengths.stretch(clip);
                assert!((half * half * stated - 1.0).abs() < 1e-9, "{dim}, {clip}: {half}");
            }
        }
    }
}

//! What a region's row is like before its own noisy values are seen, and after.

/// Scatters that are tried, as the share of a region's groups that go the same way together: 0 if each takes its size by itself, 1 if all
/// of them have the same size.
const CORRELATIONS: [f64; 6] = [0.0, 1e-3, 0.01, 0.03, 0.1, 0.4];
/// A lump of a region's row is seen where the deviation of a cell's noise is at most this share of it. Beyond, a row that follows the noise has lumps of its own
/// in other places, and most of its counts are wrong.
const LUMP: f64 = 0.5;
/// Steps of expectation and maximisation.
const STEPS: usize = 40;
/// Scatters that are less likely than that for a region do not count for it.
const UNLIKELY: f64 = 1e-3;

/// The logarithm of the likelihood of a region's noisy values for each scatter.
pub(super) type Likelihoods = [f64; CORRELATIONS.len()];

/// A region below a settled row.
///
/// Its groups of a size are expected in proportion to those above, with variances in proportion to the means, and they add up to its
/// public number of groups. So its cumulative row is a random walk that is tied down at both ends, seen through noise.
pub(super) struct Part<'a> {
    /// Its number of groups.
    pub(super) groups: i64,
    /// The row above, cumulative, at the steps at which it grows.
    pub(super) parent: &'a [i64],
    /// Means of the region's own values over the steps, and the variances of their noise.
    pub(super) means: &'a [f64],
    pub(super) variances: &'a [f64],
}

impl Part<'_> {
    /// Expected groups of the size of a step.
    fn expected(&self, step: usize) -> f64 {
        let before = if step == 0 { 0 } else { self.parent[step - 1] };
        let all = self.parent.last().copied().unwrap_or(0).max(1);
        self.groups as f64 * (self.parent[step] - before) as f64 / all as f64
    }

    /// How many sizes the row above is divided among, by Simpson's index.
    fn sizes(&self) -> f64 {
        let groups = (self.groups as f64).max(1.0);
        let shares = (0..self.means.len()).map(|step| self.expected(step) / groups);
        shares.map(|share| share * share).sum::<f64>().recip()
    }

    /// Whether noise hides what groups that are this much alike do. About that share of them goes the same way: those are the lumps of its row.
    fn hides(&self, correlation: f64) -> bool {
        let mean = self.variances.iter().sum::<f64>() / self.variances.len() as f64;
        mean > (LUMP * correlation * self.groups as f64).powi(2)
    }

    /// By how much groups scatter more than their mean, at this correlation.
    fn factor(&self, correlation: f64) -> f64 {
        1.0 + correlation * (self.groups as f64 - 1.0).max(0.0)
    }

    /// As [`filtered`](Self::filtered) for every scatter, side by side: none waits for another's divisions, and one logarithm serves several steps.
    pub(super) fn likelihoods(&self) -> Likelihoods {
        const SCATTERS: usize = CORRELATIONS.len();
        if self.groups == 0 {
            return Likelihoods::default();
        }
        let factors = CORRELATIONS.map(|correlation| self.factor(correlation));
        let (mut means, mut variances) = ([0.0; SCATTERS], [0.0; SCATTERS]);
        let (mut twice, mut spreads) = ([0.0; SCATTERS], [1.0; SCATTERS]);
        let last = self.means.len() - 1;
        for step in 0..=last {
            let expected = self.expected(step);
            let (value, noise) = self.seen(step);
            for scatter in 0..SCATTERS {
                let variance = variances[scatter] + factors[scatter] * expected;
                let spread = (variance + noise).max(1e-9);
                let off = value - means[scatter] - expected;
                let precision = 1.0 / spread;
                spreads[scatter] *= spread;
                twice[scatter] += off * off * precision;
                means[scatter] += expected + variance * precision * off;
                variances[scatter] = variance * noise * precision;
            }
            // Variances are below 2^128, so that products stay in range.
            if step % 4 == 3 || step == last {
                twice.iter_mut().zip(&spreads).for_each(|(twice, spread)| *twice += spread.ln());
                spreads = [1.0; SCATTERS];
            }
        }
        twice.map(|twice| -0.5 * twice)
    }

    /// What is seen of a step, and the variance of its noise. The end is known, and what was seen of it is noise.
    fn seen(&self, step: usize) -> (f64, f64) {
        if step + 1 == self.means.len() {
            (self.groups as f64, 0.0)
        } else {
            (self.means[step], self.variances[step])
        }
    }

    /// Kalman's filter along the row: `seen` gets, for each step, mean and variance given the values up to it. Returns the logarithm of
    /// the likelihood, but for a constant.
    fn filtered(&self, factor: f64, mut seen: impl FnMut(usize, f64, f64)) -> f64 {
        let (mut mean, mut variance, mut twice) = (0.0, 0.0, 0.0);
        let last = self.means.len() - 1;
        for step in 0..=last {
            let expected = self.expected(step);
            mean += expected;
            variance += factor * expected;
            let (value, noise) = self.seen(step);
            let spread = (variance + noise).max(1e-9);
            let off = value - mean;
            twice += spread.ln() + off * off / spread;
            mean += variance / spread * off;
            variance *= noise / spread;
            seen(step, mean, variance);
        }
        -0.5 * twice
    }

    /// Means and variances of the row given all values: Rauch's, Tung's and Striebel's smoother.
    fn smoothed(&self, factor: f64, out: &mut Vec<(f64, f64)>) {
        out.clear();
        self.filtered(factor, |_, mean, variance| out.push((mean, variance)));
        for step in (0..out.len() - 1).rev() {
            let expected = self.expected(step + 1);
            let (mean, variance) = out[step];
            let ahead = variance + factor * expected;
            let gain = if ahead > 0.0 { variance / ahead } else { 0.0 };
            let (next, of_next) = out[step + 1];
            out[step] = (
                mean + gain * (next - mean - expected),
                variance + gain * gain * (of_next - ahead),
            );
        }
    }
}

/// Likelihoods over the largest one, from their logarithms.
fn relative(logarithms: &Likelihoods) -> Likelihoods {
    let most = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    logarithms.map(|logarithm| (logarithm - most).exp())
}

/// How often each scatter occurs among the regions of a level: the nonparametric maximum likelihood estimate on a grid.
#[derive(Debug)]
pub(super) struct Scatter {
    shares: [f64; CORRELATIONS.len()],
}

impl Scatter {
    /// By expectation and maximisation from equal shares. Every step is a fixed order of sums, so that threads do not matter.
    pub(super) fn fitted(regions: &[&Likelihoods]) -> Self {
        let scatters = CORRELATIONS.len() as f64;
        let mut fit = Self { shares: [scatters.recip(); CORRELATIONS.len()] };
        let relative: Vec<Likelihoods> = regions.iter().map(|region| relative(region)).collect();
        for _ in 0..STEPS {
            // As if one region more had been seen of all scatters alike: none is ruled out by few regions.
            let mut sums = [scatters.recip(); CORRELATIONS.len()];
            for region in &relative {
                sums.iter_mut().zip(fit.posterior(region)).for_each(|(sum, p)| *sum += p);
            }
            let total: f64 = sums.iter().sum();
            fit.shares = sums.map(|sum| sum / total);
        }
        fit
    }

    /// How likely each scatter is for a region with these [`relative`] likelihoods.
    fn posterior(&self, relative: &Likelihoods) -> [f64; CORRELATIONS.len()] {
        let mut weights = self.shares;
        weights.iter_mut().zip(relative).for_each(|(weight, likelihood)| *weight *= likelihood);
        let total: f64 = weights.iter().sum();
        weights.map(|weight| weight / total)
    }

    /// Means and variances of a region's cumulative row given its noisy values, over all scatters.
    ///
    /// Where regions are so unlike that most of them lack most of the sizes, a bell around the share of the row above is no likely place
    /// for them: such a region keeps its own values, unless their noise is larger than its lumps.
    pub(super) fn drawn(&self, part: &Part<'_>, likelihoods: &Likelihoods) -> Vec<(f64, f64)> {
        let steps = part.means.len();
        if part.groups == 0 {
            return vec![(0.0, 1.0); steps];
        }
        let posterior = self.posterior(&relative(likelihoods));
        let sizes = part.sizes();
        let (mut first, mut second, mut total) = (vec![0.0; steps], vec![0.0; steps], 0.0);
        let mut row = Vec::with_capacity(steps);
        for (&correlation, &weight) in CORRELATIONS.iter().zip(&posterior) {
            if weight < UNLIKELY {
                continue;
            }
            if correlation * sizes <= 1.0 || part.hides(correlation) {
                part.smoothed(part.factor(correlation), &mut row);
            } else {
                row.clear();
                row.extend(part.means.iter().copied().zip(part.variances.iter().copied()));
            }
            total += weight;
            for (step, &(mean, variance)) in row.iter().enumerate() {
                first[step] += weight * mean;
                second[step] += weight * (mean * mean + variance);
            }
        }
        let cells = first.into_iter().zip(second);
        cells
            .map(|(first, second)| {
                let mean = first / total;
                (mean, (second / total - mean * mean).max(0.0))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::random;
    use rand::RngExt;

    #[test]
    fn likelihoods_are_those_of_the_filter_one_by_one() {
        let mut rng = random::generator(97);
        for steps in 1..40 {
            let parent: Vec<i64> = (1..=steps).map(|step| step * step * 5).collect();
            let means: Vec<f64> = parent.iter().map(|_| rng.random_range(-9.0..90.0)).collect();
            let variances: Vec<f64> = means.iter().map(|_| rng.random_range(0.1..1e6)).collect();
            let groups = rng.random_range(1..500);
            let part = Part { groups, parent: &parent, means: &means, variances: &variances };
            let found = part.likelihoods();
            for (found, correlation) in found.into_iter().zip(CORRELATIONS) {
                let one = part.filtered(part.factor(correlation), |_, _, _| {});
                assert!((found - one).abs() < 1e-9 * (1.0 + one.abs()), "{found} {one}");
            }
        }
    }

    /// A hundred groups, a tenth of which go the same way, in a row above that has forty sizes.
    #[test]
    fn a_region_keeps_its_own_values_only_where_noise_shows_its_lumps() {
        let scatter = Scatter { shares: [0.0, 0.0, 0.0, 0.0, 1.0, 0.0] };
        let parent: Vec<i64> = (1..=40).map(|step| 100 * step).collect();
        let means: Vec<f64> = (1..=40).map(|step| if step < 30 { 0.0 } else { 100.0 }).collect();
        let keeps = |deviation: f64| {
            let variances = vec![deviation * deviation; 40];
            let part = Part { groups: 100, parent: &parent, means: &means, variances: &variances };
            let drawn = scatter.drawn(&part, &part.likelihoods());
            let off = drawn.iter().zip(&means).map(|((mean, _), own)| (mean - own).abs());
            off.fold(0.0, f64::max) < 1e-6
        };
        assert!(keeps(1.0) && keeps(4.9));
        assert!(!keeps(5.1) && !keeps(50.0));
    }
}

//! Which of many small parts are one cluster, and which are background: released values only.

use crate::nearest::squared_distance;

/// What is near one centre.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) at: Vec<f64>,
    /// Noisy number of records.
    pub(super) count: f64,
    /// Variance of the noise in that.
    pub(super) count_variance: f64,
    /// Squared length of the noise in its place, as expected.
    pub(super) variance: f64,
    /// Mean squared distance of its records, noisy.
    pub(super) spread: f64,
    /// Standard deviation of the noise in that.
    pub(super) spread_noise: f64,
}

/// A part has more records than noise explains if there are so many standard deviations.
const CLEAR: f64 = 2.0;
/// Background has at most this share of all records.
const MOST_BACKGROUND: f64 = 0.25;
/// What one part's spread may differ from the usual one, as a factor: noise beyond that is shrunk.
const USUAL: f64 = 0.5;
/// A spread is at least this many standard deviations of its noise.
const LEAST: f64 = 0.25;

/// Noise that makes parts of one cluster look like two is this many standard deviations at most, in spreads
const SPREADS: f64 = 2.0;
/// or so much for each record: more would hide clusters that overlap;
const MOST_BY_SPREADS: f64 = 0.15;
/// and in counts.
const COUNTS: f64 = 2.0;
/// What background gains for each record: a cluster is clearly denser.
const CONTRAST: f64 = 0.3;

pub(super) struct Parts {
    all: Vec<Part>,
    half_dim: f64,
    /// What a cluster more has to gain.
    penalty: f64,
}

impl Parts {
    pub(super) fn new(mut all: Vec<Part>) -> Self {
        let dim = all.first().map_or(1, |part| part.at.len()) as f64;
        let records: f64 = all.iter().map(|part| part.count).sum();
        // Spreads are noisy: what noise explains is taken from the usual one.
        let usual = all.iter().map(|part| part.count * part.spread).sum::<f64>() / records;
        let usual = usual.max(f64::MIN_POSITIVE);
        for part in &mut all {
            let trust = 1.0 / (1.0 + (part.spread_noise / (USUAL * usual)).powi(2));
            part.spread = (trust * part.spread + (1.0 - trust) * usual)
                .max(LEAST * part.spread_noise)
                .max(f64::MIN_POSITIVE);
        }
        Self { all, half_dim: 0.5 * dim, penalty: (0.5 * dim + 1.0) * records.max(1.0).ln() }
    }

    /// The negative log-likelihood of the records of a part, as one normal cluster of many.
    fn score(&self, count: f64, spread: f64) -> f64 {
        let per_axis = spread / (2.0 * self.half_dim);
        let normal = std::f64::consts::TAU * std::f64::consts::E;
        count * (self.half_dim * (normal * per_axis).ln() - count.ln())
    }

    /// What noise in counts and spreads may make of the difference between two parts and one.
    fn allowance(&self, a: &Part, b: &Part) -> f64 {
        let noise = |part: &Part| self.half_dim * part.count * part.spread_noise / part.spread;
        let spreads = SPREADS * noise(a).hypot(noise(b));
        let counts = COUNTS * (a.count_variance + b.count_variance).sqrt();
        spreads.min(MOST_BY_SPREADS * (a.count + b.count)) + counts
    }

    /// Mean squared distance of two parts together, and how many records these have.
    fn together(a: &Part, b: &Part) -> (f64, f64) {
        let count = a.count + b.count;
        let apart = (squared_distance(&a.at, &b.at) - a.variance - b.variance).max(0.0);
        let within = (a.count * a.spread + b.count * b.spread) / count;
        (count, within + a.count * b.count / (count * count) * apart)
    }

    fn join(a: &Part, b: &Part) -> Part {
        let (count, spread) = Self::together(a, b);
        let (p, q) = (a.count / count, b.count / count);
        Part {
            at: a.at.iter().zip(&b.at).map(|(x, y)| p * x + q * y).collect(),
            count,
            count_variance: a.count_variance + b.count_variance,
            variance: p * p * a.variance + q * q * b.variance,
            spread,
            spread_noise: (a.count * a.spread_noise).hypot(b.count * b.spread_noise) / count,
        }
    }

    /// Leaves out parts whose records noise explains, but for the largest.
    fn without_noise(&mut self) {
        let most = self.all.iter().map(|part| part.count).fold(0.0, f64::max);
        self.all
            .retain(|part| part.count >= most || part.count > CLEAR * part.count_variance.sqrt());
    }

    /// Leaves out parts that are no denser than if their records were anywhere among all of them.
    fn without_background(&mut self) {
        let dim = 2.0 * self.half_dim;
        let records: f64 = self.all.iter().map(|part| part.count).sum();
        let mut volume = 0.0;
        for axis in 0..self.all[0].at.len() {
            let reach = |part: &Part| (3.0 * part.spread / dim).sqrt();
            let low = self.all.iter().map(|part| part.at[axis] - reach(part));
            let high = self.all.iter().map(|part| part.at[axis] + reach(part));
            let width = high.fold(f64::MIN, f64::max) - low.fold(f64::MAX, f64::min);
            volume += width.max(f64::MIN_POSITIVE).ln();
        }
        let score = |part: &Part| self.score(part.count, part.spread);
        let mut thinnest: Vec<usize> = (0..self.all.len()).collect();
        let sparse = |i: usize| score(&self.all[i]) / self.all[i].count;
        thinnest.sort_by(|&a, &b| sparse(b).total_cmp(&sparse(a)));
        let (mut gain, mut count) = (0.0, 0.0);
        let mut best = (0.0, 0);
        for (left_out, &i) in (1..self.all.len()).zip(&thinnest) {
            count += self.all[i].count;
            if count > MOST_BACKGROUND * records {
                break;
            }
            gain += score(&self.all[i]);
            let as_background = count * (volume - count.ln() - CONTRAST);
            if gain - as_background > best.0 {
                best = (gain - as_background, left_out);
            }
        }
        let mut keep = vec![true; self.all.len()];
        thinnest[..best.1].iter().for_each(|&i| keep[i] = false);
        let mut keep = keep.into_iter();
        self.all.retain(|_| keep.next().expect("one flag per part"));
    }

    /// What is left when no two parts are explained by one cluster.
    pub(super) fn clusters(mut self) -> Vec<Part> {
        self.without_noise();
        self.without_background();
        while self.all.len() > 1 {
            let own: Vec<f64> =
                self.all.iter().map(|part| self.score(part.count, part.spread)).collect();
            let mut cheapest = (0.0, None);
            for (j, b) in self.all.iter().enumerate() {
                for (i, a) in self.all[..j].iter().enumerate() {
                    let (count, spread) = Self::together(a, b);
                    let price = self.score(count, spread) - own[i] - own[j];
                    let price = price - self.allowance(a, b) - self.penalty;
                    // Per record: large parts do not go first for being large.
                    if price / count < cheapest.0 {
                        cheapest = (price / count, Some((i, j)));
                    }
                }
            }
            let Some((i, j)) = cheapest.1 else { break };
            self.all[i] = Self::join(&self.all[i], &self.all[j]);
            self.all.swap_remove(j);
        }
        self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(at: &[f64], count: f64, spread: f64) -> Part {
        let (count_variance, spread_noise) = (100.0, 0.01 * spread);
        Part { at: at.to_vec(), count, count_variance, variance: 0.0, spread, spread_noise }
    }

    fn counts(parts: Vec<Part>) -> Vec<i64> {
        let found = Parts::new(parts).clusters();
        let mut counts: Vec<i64> =
            found.iter().map(|part| crate::clustering::records(part.count)).collect();
        counts.sort_unstable();
        counts
    }

    /// Halves of a normal cluster are 1.6 deviations apart, and in one dimension have .36 of its variance.
    #[test]
    fn halves_of_a_cluster_are_one_and_clusters_are_not() {
        let halves =
            |apart: f64| [-0.5, 0.5].map(|side| part(&[side * apart, 0.0], 500.0, 1.36)).to_vec();
        assert_eq!(counts(halves(1.6)), [1000]);
        assert_eq!(counts(halves(6.0)), [500, 500]);
        let mut three = halves(1.6);
        three.push(part(&[12.0, 0.0], 20.0, 2.0));
        assert_eq!(counts(three.clone()), [1000], "twenty could be noise of ten");
        three[2] = part(&[12.0, 0.0], 90.0, 2.0);
        assert_eq!(counts(three), [90, 1000]);
    }

    #[test]
    fn background_is_no_cluster() {
        let mut parts = vec![part(&[0.0, 0.0], 5_000.0, 2.0), part(&[30.0, 10.0], 4_000.0, 2.0)];
        // Sixteen squares of a side of 25 with ten records a row of them each.
        for i in 0..16 {
            let at = [f64::from(i % 4) * 25.0 - 37.5, f64::from(i / 4) * 25.0 - 37.5];
            parts.push(part(&at, 60.0, 2.0 * 25.0 * 25.0 / 12.0));
        }
        assert_eq!(counts(parts), [4_000, 5_000]);
    }

    #[test]
    fn odd_parts_have_a_score() {
        let nothing = part(&[0.0], 1.0, 0.0);
        let one = Parts::new(vec![nothing.clone()]).clusters();
        assert_eq!(one.len(), 1);
        let same = Parts::new(vec![nothing; 9]).clusters();
        assert!((1..=9).contains(&same.len()) && same.iter().all(|part| part.at == [0.0]));
        let wide = Part { spread: -1e300, spread_noise: 1e300, ..part(&[1e70], 1.0, 1.0) };
        assert!(
            !Parts::new(vec![wide.clone(), part(&[-1e70], 1.0, 1.0), wide]).clusters().is_empty()
        );
    }
}

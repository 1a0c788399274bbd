//! What is made of noisy sizes, some of which are negative: post-processing.

use serde::{Deserialize, Serialize};

/// How noisy sizes become weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WeightRule {
    /// Negative sizes become zero. An empty centre keeps about 0.4 standard deviations on average,
    /// which adds up if many are empty.
    Clamp,
    /// Sizes that noise alone would reach only with probability 1 in 20 at any of the centres stay
    /// as they are, all others become zero. For many empty centres.
    #[default]
    Threshold,
    /// The nearest weights that are not negative and have the same sum as the noisy sizes (or are all
    /// zero if that is negative). Keeps the total unbiased.
    Simplex,
}

impl WeightRule {
    /// Weights from noisy sizes whose noise has this standard deviation.
    pub fn post_weights(self, noisy: &[i64], standard_deviation: f64) -> Vec<f64> {
        let clamped = || noisy.iter().map(|&size| (size as f64).max(0.0));
        match self {
            Self::Clamp => clamped().collect(),
            Self::Threshold => {
                // The two-sided exponential tail is the wider of the two kinds of noise.
                let tail = (noisy.len() as f64 / 0.05 / 2.0).ln() / std::f64::consts::SQRT_2;
                let least = standard_deviation * tail;
                clamped().map(|size| if size < least { 0.0 } else { size }).collect()
            }
            Self::Simplex => {
                let shift = simplex_shift(noisy);
                noisy.iter().map(|&size| (size as f64 - shift).max(0.0)).collect()
            }
        }
    }
}

/// The number that all sizes are lowered by before negative ones become zero, so that the sum stays.
fn simplex_shift(noisy: &[i64]) -> f64 {
    let mut sorted: Vec<f64> = noisy.iter().map(|&size| size as f64).collect();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let total: f64 = sorted.iter().sum();
    if total <= 0.0 {
        return f64::INFINITY;
    }
    let (mut sum, mut shift) = (0.0, 0.0);
    for (i, size) in sorted.iter().enumerate() {
        sum += size;
        let candidate = (sum - total) / (i + 1) as f64;
        if *size <= candidate {
            break;
        }
        shift = candidate;
    }
    shift
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    #[test]
    fn each_rule_does_what_it_says() {
        let noisy = [100, -20, 3, 0, 50];
        let weights = |rule: WeightRule| rule.post_weights(&noisy, 5.0);
        assert_eq!(weights(WeightRule::Clamp), [100.0, 0.0, 3.0, 0.0, 50.0]);
        // ln(50) / sqrt 2 = 2.77 standard deviations.
        assert_eq!(weights(WeightRule::Threshold), [100.0, 0.0, 0.0, 0.0, 50.0]);
        // 153 - 133 = 20 too much over (100, 50, 3) would take 3 below zero: 17 over two.
        assert_eq!(weights(WeightRule::Simplex), [91.5, 0.0, 0.0, 0.0, 41.5]);
        assert_eq!(WeightRule::Simplex.post_weights(&[-5, 2], 5.0), [0.0, 0.0]);
        assert_eq!(WeightRule::Simplex.post_weights(&[5, 7], 5.0), [5.0, 7.0]);
        assert!(WeightRule::Simplex.post_weights(&[], 5.0).is_empty());
    }

    /// Plain definition of a projection: nothing with the same sum is nearer.
    #[test]
    fn the_simplex_rule_is_a_projection() {
        for seed in 0..200_i64 {
            let noisy: Vec<i64> = (0..6).map(|i| (seed * 37 + i * i * 91) % 101 - 40).collect();
            let weights = WeightRule::Simplex.post_weights(&noisy, 1.0);
            let total: i64 = noisy.iter().sum();
            assert_abs_diff_eq!(weights.iter().sum::<f64>(), total.max(0) as f64, epsilon = 1e-9);
            assert!(weights.iter().all(|&w| w >= 0.0));
            if total <= 0 {
                continue;
            }
            let far = |weights: &[f64]| -> f64 {
                weights.iter().zip(&noisy).map(|(w, &x)| (w - x as f64).powi(2)).sum()
            };
            for (from, to) in (0..6).flat_map(|i| (0..6).map(move |j| (i, j))) {
                let moved = weights[from].min(0.01);
                let mut other = weights.clone();
                other[from] -= moved;
                other[to] += moved;
                assert!(far(&other) >= far(&weights) - 1e-9, "{noisy:?}: {from} to {to}");
            }
        }
    }
}

//! Probabilities of single draws, in `f64`: for comparison, never for a release.

use dp_mechanism::{DiscreteGaussian, Noise, Ratio};

pub(crate) fn ratio_to_f64(ratio: Ratio) -> f64 {
    ratio.numerator() as f64 / ratio.denominator().get() as f64
}

/// Log probability of every index of a choice with weights `exp(rate * score)`.
pub fn choice_log_probabilities(scores: &[i64], rate: Ratio) -> Vec<f64> {
    let best = scores.iter().copied().max().unwrap_or(0);
    let rate = ratio_to_f64(rate);
    let log_weight = |score: &i64| -(best.abs_diff(*score) as f64) * rate;
    let total: f64 = scores.iter().map(|score| log_weight(score).exp()).sum();
    scores.iter().map(|score| log_weight(score) - total.ln()).collect()
}

/// The law of integer noise.
pub(crate) enum NoiseLaw {
    /// With `a = exp(-1/b)` for scale `b`.
    Laplace { a: f64 },
    /// Probabilities of `0, 1, 2, ...` until they vanish.
    Gaussian { half: Vec<f64> },
}

impl NoiseLaw {
    pub(crate) fn new(noise: Noise) -> Self {
        match noise {
            Noise::Laplace(laplace) => {
                Self::Laplace { a: (-1.0 / ratio_to_f64(laplace.scale())).exp() }
            }
            Noise::Gaussian(gaussian) => Self::Gaussian { half: gaussian_half(gaussian) },
        }
    }

    pub(crate) fn probability(&self, z: i64) -> f64 {
        let z = z.unsigned_abs();
        match self {
            Self::Laplace { a } => (1.0 - a) / (1.0 + a) * a.powf(z as f64),
            Self::Gaussian { half } => {
                usize::try_from(z).ok().and_then(|z| half.get(z)).copied().unwrap_or(0.0)
            }
        }
    }

    /// `Pr[Z >= k]`.
    pub(crate) fn tail(&self, k: i64) -> f64 {
        if k <= 0 {
            return 1.0 - self.tail(1 - k);
        }
        match self {
            Self::Laplace { a } => a.powf(k as f64) / (1.0 + a),
            Self::Gaussian { half } => {
                let k = usize::try_from(k).unwrap_or(usize::MAX).min(half.len());
                half[k..].iter().rev().sum()
            }
        }
    }
}

fn gaussian_half(gaussian: DiscreteGaussian) -> Vec<f64> {
    let variance = ratio_to_f64(gaussian.variance());
    let weight = |z: f64| (-z * z / (2.0 * variance)).exp();
    // Weights underflow to zero before 39 standard deviations.
    let reach = (40.0 * variance.sqrt()).ceil() + 2.0;
    let positions = std::iter::successors(Some(0.0), |z| Some(z + 1.0));
    let weights: Vec<f64> = positions.take_while(|z| *z < reach).map(weight).collect();
    let total = weights[0] + 2.0 * weights[1..].iter().rev().sum::<f64>();
    weights.into_iter().map(|w| w / total).collect()
}

/// Rényi divergence of order `alpha` between discrete Gaussian noise and the same noise shifted by
/// `shift`, summed term by term.
pub fn gaussian_renyi_divergence(noise: DiscreteGaussian, shift: i64, alpha: f64) -> f64 {
    let variance = ratio_to_f64(noise.variance());
    let log_weight = |z: f64| -z * z / (2.0 * variance);
    #[allow(clippy::cast_possible_truncation, reason = "saturates far beyond any use")]
    let reach = (40.0 * variance.sqrt() + alpha * shift.unsigned_abs() as f64).ceil() as i64;
    let (mut total, mut sum) = (0.0, 0.0);
    for z in -reach..=reach {
        let (here, there) = (log_weight(z as f64), log_weight((z - shift) as f64));
        total += here.exp();
        sum += (alpha * here + (1.0 - alpha) * there).exp();
    }
    (sum / total).ln() / (alpha - 1.0)
}

#[cfg(test)]
mod tests {
    use dp_mechanism::DiscreteLaplace;

    use super::*;

    #[test]
    fn probabilities_and_tails_agree() {
        let variance = Ratio::new(7, 2).expect("valid");
        let scale = Ratio::new(5, 3).expect("valid");
        for noise in [
            Noise::Gaussian(DiscreteGaussian::new(variance).expect("positive")),
            Noise::Laplace(DiscreteLaplace::new(scale).expect("positive")),
        ] {
            let law = NoiseLaw::new(noise);
            for k in -6..=6 {
                let summed: f64 = (k..200).rev().map(|z| law.probability(z)).sum();
                assert!((law.tail(k) - summed).abs() < 1e-13, "{noise:?} from {k}");
            }
        }
    }

    #[test]
    fn shifted_gaussians_diverge_by_no_more_than_the_formula() {
        let noise = DiscreteGaussian::new(Ratio::new(4, 1).expect("valid")).expect("positive");
        for alpha in [1.5, 2.0, 8.0] {
            let divergence = gaussian_renyi_divergence(noise, 1, alpha);
            let bound = alpha / 8.0; // alpha shift^2 / (2 v)
            assert!(divergence <= bound * (1.0 + 1e-12) && divergence > 0.99 * bound);
        }
    }
}

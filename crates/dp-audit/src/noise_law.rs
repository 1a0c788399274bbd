//! Probabilities of single draws, in `f64`: for comparison, never for a release.

use dp_mechanism::{DiscreteGaussian, Noise, Ratio, ReportNoise, SparseScores};

use crate::numbers::{Floats, Numbers, ratio_to_f64};

/// Log probability of every index of a choice with weights `exp(rate * score)`.
pub fn choice_log_probabilities(scores: &[i64], rate: Ratio) -> Vec<f64> {
    let best = scores.iter().copied().max().unwrap_or(0);
    let rate = ratio_to_f64(rate);
    let log_weight = |score: &i64| -(best.abs_diff(*score) as f64) * rate;
    let total: f64 = scores.iter().map(|score| log_weight(score).exp()).sum();
    scores.iter().map(|score| log_weight(score) - total.ln()).collect()
}

/// Log ratio, `scores` over `others`, of every candidate that either lists, and of one that neither
/// does if there is any.
///
/// # Panics
/// If the numbers of candidates differ, which must be public.
pub fn sparse_choice_log_ratios(
    scores: &SparseScores,
    others: &SparseScores,
    rate: Ratio,
) -> Vec<f64> {
    let candidates = scores.candidates();
    assert_eq!(candidates, others.candidates(), "the number of candidates must be public");
    let rate = ratio_to_f64(rate);
    let log_total = |scores: &SparseScores| {
        let best = scores.listed().map(|listed| listed.1).max().unwrap_or(0);
        let weight = |score: u64| (rate * (score as f64 - best as f64)).exp();
        let listed = scores.listed().count() as u64;
        let sum: f64 = scores.listed().map(|listed| weight(listed.1)).sum();
        rate * best as f64 + (sum + (candidates - listed) as f64 * weight(0)).ln()
    };
    let shift = log_total(others) - log_total(scores);
    let mut union: Vec<u64> =
        scores.listed().chain(others.listed()).map(|listed| listed.0).collect();
    union.sort_unstable();
    union.dedup();
    let change =
        |&candidate: &u64| rate * (scores.score(candidate) as f64 - others.score(candidate) as f64);
    let mut ratios: Vec<f64> = union.iter().map(|candidate| change(candidate) + shift).collect();
    if (union.len() as u64) < candidates {
        ratios.push(shift);
    }
    ratios
}

/// The law of integer noise.
pub(crate) enum NoiseLaw<'n, N: Numbers> {
    /// `Pr[z]` proportional to `e^(-|z|/b)`; holds `1/b`.
    Laplace { numbers: &'n N, rate: Ratio },
    /// Probabilities of `0, 1, 2, ...` until they vanish.
    Gaussian { numbers: &'n N, half: Vec<N::P> },
}

impl<'n, N: Numbers> NoiseLaw<'n, N> {
    pub(crate) fn new(numbers: &'n N, noise: Noise) -> Self {
        match noise {
            Noise::Laplace(laplace) => {
                let rate = laplace.scale().recip().expect("scales are positive");
                Self::Laplace { numbers, rate }
            }
            Noise::Gaussian(gaussian) => {
                Self::Gaussian { numbers, half: numbers.gaussian_half(gaussian) }
            }
        }
    }

    pub(crate) fn probability(&self, z: i64) -> N::P {
        let z = z.unsigned_abs();
        match self {
            Self::Laplace { numbers, rate } => {
                let (one, a) = (numbers.integer(1), power(*numbers, *rate, 1));
                (one.clone() - a.clone()) / (one + a) * power(*numbers, *rate, z)
            }
            Self::Gaussian { numbers, half } => {
                let p = usize::try_from(z).ok().and_then(|z| half.get(z));
                p.cloned().unwrap_or_else(|| numbers.integer(0))
            }
        }
    }

    /// `Pr[Z >= k]`.
    pub(crate) fn tail(&self, k: i64) -> N::P {
        match self {
            Self::Laplace { numbers, .. } | Self::Gaussian { numbers, .. } if k <= 0 => {
                numbers.integer(1) - self.tail(1 - k)
            }
            Self::Laplace { numbers, rate } => {
                power(*numbers, *rate, k.unsigned_abs())
                    / (numbers.integer(1) + power(*numbers, *rate, 1))
            }
            Self::Gaussian { numbers, half } => {
                let k = usize::try_from(k).unwrap_or(usize::MAX).min(half.len());
                half[k..].iter().rev().fold(numbers.integer(0), |sum, p| sum + p.clone())
            }
        }
    }
}

impl NoiseLaw<'_, Floats> {
    /// `ln Pr[Z >= k]`, without underflow for Laplace noise.
    pub(crate) fn log_tail(&self, k: i64) -> f64 {
        match self {
            Self::Laplace { rate, .. } if k > 0 => {
                let rate = ratio_to_f64(*rate);
                -rate * k as f64 - (-rate).exp().ln_1p()
            }
            _ => self.tail(k).ln(),
        }
    }
}

/// `Pr[Z >= k]` of the noise of a report.
pub(crate) fn report_tail<N: Numbers>(numbers: &N, noise: ReportNoise, k: i64) -> N::P {
    match noise {
        ReportNoise::OneSided(geometric) => {
            let rate = geometric.scale().recip().expect("scales are positive");
            power(numbers, rate, k.max(0).unsigned_abs())
        }
        ReportNoise::TwoSided(laplace) => NoiseLaw::new(numbers, Noise::Laplace(laplace)).tail(k),
    }
}

/// `ln` of the probability that `value` plus noise is released as `released`, where values below
/// `threshold` are released as `threshold - 1`.
pub(crate) fn report_log_probability(
    value: i64,
    threshold: i64,
    noise: ReportNoise,
    released: i64,
) -> f64 {
    let (rate, z) = match noise {
        ReportNoise::OneSided(geometric) => (geometric.scale(), released - value),
        ReportNoise::TwoSided(laplace) => (laplace.scale(), released - value),
    };
    let rate = ratio_to_f64(rate.recip().expect("scales are positive"));
    let a = (-rate).exp();
    match noise {
        // Silence from its own tail, so that a small probability keeps its digits.
        ReportNoise::OneSided(_) if released < threshold => {
            (-(-rate * (threshold - value).max(0) as f64).exp_m1()).ln()
        }
        ReportNoise::TwoSided(laplace) if released < threshold => {
            NoiseLaw::new(&Floats, Noise::Laplace(laplace)).log_tail(value - threshold + 1)
        }
        ReportNoise::OneSided(_) if z < 0 => f64::NEG_INFINITY,
        ReportNoise::OneSided(_) => (-a).ln_1p() - rate * z as f64,
        ReportNoise::TwoSided(_) => ((1.0 - a) / (1.0 + a)).ln() - rate * z.abs() as f64,
    }
}

/// `e^(-rate n)`.
pub(crate) fn power<N: Numbers>(numbers: &N, rate: Ratio, n: u64) -> N::P {
    let n = Ratio::new(n.into(), 1).expect("64 bits");
    // Beyond what a ratio can hold the power is far below the smallest number there is.
    rate.checked_mul(n).map_or_else(|| numbers.integer(0), |x| numbers.exp_minus(x))
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
            let law = NoiseLaw::new(&Floats, noise);
            for k in -6..=6 {
                let summed: f64 = (k..200).rev().map(|z| law.probability(z)).sum();
                assert!((law.tail(k) - summed).abs() < 1e-13, "{noise:?} from {k}");
            }
        }
    }

    /// What a replay compares is what the tape enumerates.
    #[test]
    fn reports_have_the_same_probabilities_on_the_tape_and_in_a_replay() {
        use dp_mechanism::{Geometric, Law};

        let scale = Ratio::new(5, 3).expect("valid");
        for noise in [
            ReportNoise::OneSided(Geometric::new(scale).expect("positive")),
            ReportNoise::TwoSided(DiscreteLaplace::new(scale).expect("positive")),
        ] {
            for value in 0..6 {
                let threshold = 3;
                let law = crate::exact_law(crate::Window::new(0, 40), |draws| {
                    draws.draw(Law::Report { value, threshold, noise })
                });
                for released in 2..40 {
                    let log = report_log_probability(value, threshold, noise, released);
                    let off = (law.probability(&released) - log.exp()).abs();
                    assert!(off < 1e-12, "{noise:?}: {value} as {released}");
                }
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

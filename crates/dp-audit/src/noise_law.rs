//! Probabilities of single draws, in `f64`: for comparison, never for a release.

use std::cmp::Ordering;

use dp_mechanism::{DiscreteGaussian, Geometric, Noise, Ratio, ReportNoise, SparseScores};

use crate::numbers::{Floats, Numbers, ratio_to_f64};

/// Log probability of every index of a choice with weights `exp(rate * score)`.
pub fn choice_log_probabilities(scores: &[i64], rate: Ratio) -> Vec<f64> {
    let best = scores.iter().copied().max().unwrap_or(0);
    let rate = ratio_to_f64(rate);
    let log_weight = |score: &i64| -(best.abs_diff(*score) as f64) * rate;
    let total: f64 = scores.iter().map(|score| log_weight(score).exp()).sum();
    scores.iter().map(|score| log_weight(score) - total.ln()).collect()
}

/// The probability of every index of permute-and-flip to be reached, given that its own coin comes up: at
/// least one over their number.
///
/// In random order, `i` is reached if the coins of the candidates before it do not come up: with `s` others
/// before it, averaged over all sets of `s` of them, which elementary symmetric sums do.
fn reached<N: Numbers>(numbers: &N, coins: &[N::P]) -> Vec<N::P> {
    let of = |index: usize| {
        let mut sums = vec![numbers.integer(1)];
        for (_, coin) in coins.iter().enumerate().filter(|(other, _)| *other != index) {
            let missed = numbers.integer(1) - coin.clone();
            sums.push(numbers.integer(0));
            for size in (1..sums.len()).rev() {
                sums[size] = sums[size].clone() + sums[size - 1].clone() * missed.clone();
            }
        }
        // A given set of s others comes first, and i next: s! (m - 1 - s)! / m! = 1 / (m C(m - 1, s)).
        let others = u32::try_from(sums.len() - 1).expect("few candidates");
        let mut share = numbers.integer(1) / numbers.integer(others + 1);
        let mut total = numbers.integer(0);
        for (before, sum) in (0..).zip(sums) {
            total = total + sum * share.clone();
            if before < others {
                share = share * numbers.integer(before + 1) / numbers.integer(others - before);
            }
        }
        total
    };
    (0..coins.len()).map(of).collect()
}

/// Probability of every index of permute-and-flip.
pub(crate) fn flip_probabilities<N: Numbers>(
    numbers: &N,
    scores: &[i64],
    rate: Ratio,
) -> Vec<N::P> {
    let best = scores.iter().copied().max().expect("a choice has candidates");
    let coin = |score: &i64| power(numbers, rate, best.abs_diff(*score));
    let coins: Vec<N::P> = scores.iter().map(coin).collect();
    let reached = reached(numbers, &coins);
    reached.into_iter().zip(coins).map(|(reached, coin)| reached * coin).collect()
}

/// Log probability of every index of permute-and-flip with weights `exp(rate * score)`, without underflow.
///
/// # Complexity
/// Cubic in the number of candidates.
pub fn flip_log_probabilities(scores: &[i64], rate: Ratio) -> Vec<f64> {
    let best = scores.iter().copied().max().unwrap_or(0);
    let rate = ratio_to_f64(rate);
    let log_coins: Vec<f64> =
        scores.iter().map(|score| -(best.abs_diff(*score) as f64) * rate).collect();
    let coins: Vec<f64> = log_coins.iter().map(|log| log.exp()).collect();
    reached(&Floats, &coins)
        .iter()
        .zip(log_coins)
        .map(|(reached, log)| reached.ln() + log)
        .collect()
}

/// The probability that the noisy maximum is at `index` with the value `value`.
pub(crate) fn noisy_max_probability<N: Numbers>(
    numbers: &N,
    scores: &[i64],
    noise: Geometric,
    index: usize,
    value: i64,
) -> N::P {
    let tail = |k: i64| report_tail(numbers, ReportNoise::OneSided(noise), k);
    (0..).zip(scores).fold(numbers.integer(1), |product, (candidate, &score)| {
        let gap = value.saturating_sub(score);
        product
            * match candidate.cmp(&index) {
                // The lowest index wins a tie, so those before it must stay below.
                Ordering::Less => numbers.integer(1) - tail(gap),
                Ordering::Greater => numbers.integer(1) - tail(gap + 1),
                Ordering::Equal if gap < 0 => numbers.integer(0),
                Ordering::Equal => tail(gap) - tail(gap + 1),
            }
    })
}

/// The logarithm of the same, without underflow.
pub(crate) fn noisy_max_log_probability(
    scores: &[i64],
    noise: Geometric,
    index: usize,
    value: i64,
) -> f64 {
    let rate = ratio_to_f64(noise.scale().recip().expect("scales are positive"));
    let log_below =
        |gap: i64| if gap <= 0 { f64::NEG_INFINITY } else { (-(-rate * gap as f64).exp()).ln_1p() };
    let of = |(candidate, &score): (usize, &i64)| {
        let gap = value.saturating_sub(score);
        match candidate.cmp(&index) {
            Ordering::Less => log_below(gap),
            Ordering::Greater => log_below(gap + 1),
            Ordering::Equal if gap < 0 => f64::NEG_INFINITY,
            Ordering::Equal => log_below(1) - rate * gap as f64,
        }
    };
    scores.iter().enumerate().map(of).sum()
}

/// Whether a noisy maximum can be at `index` with this value at all.
pub(crate) fn is_possible_maximum(scores: &[i64], index: usize, value: i64) -> bool {
    scores.iter().enumerate().all(|(candidate, &score)| {
        // The lowest index wins a tie, so a score before it must be below the value.
        if candidate < index { score < value } else { score <= value }
    })
}

/// The probability that the noisy maximum is at `index` with a value of at least `from`, which is not
/// below any score.
///
/// With `w` the excess over `from`, all tails are powers of `a^w`: expand their product and sum.
pub(crate) fn noisy_max_tail<N: Numbers>(
    numbers: &N,
    scores: &[i64],
    noise: Geometric,
    index: usize,
    from: i64,
) -> N::P {
    let tail = |k: i64| report_tail(numbers, ReportNoise::OneSided(noise), k);
    let a = tail(1);
    // Coefficients of the product over the others of 1 - tail * x.
    let mut product = vec![numbers.integer(1)];
    for (other, &score) in scores.iter().enumerate().filter(|(other, _)| *other != index) {
        let tail = tail(from - score + i64::from(other > index));
        product.push(numbers.integer(0));
        for power in (1..product.len()).rev() {
            product[power] = product[power].clone() - product[power - 1].clone() * tail.clone();
        }
    }
    let mut sum = numbers.integer(0);
    let mut decay = a.clone();
    for coefficient in product {
        sum = sum + coefficient / (numbers.integer(1) - decay.clone());
        decay = decay * a.clone();
    }
    (numbers.integer(1) - a) * tail(from - scores[index]) * sum
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
            Noise::Rounded(rounded) => {
                Self::Gaussian { numbers, half: numbers.rounded_half(rounded) }
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

/// The unit of distance over which a noise thins out.
pub(crate) fn noise_scale(noise: Noise) -> f64 {
    match noise {
        Noise::Laplace(laplace) => ratio_to_f64(laplace.scale()),
        // Half a standard deviation, since it thins out so much faster.
        Noise::Gaussian(gaussian) => 0.5 * ratio_to_f64(gaussian.variance()).sqrt(),
        Noise::Rounded(rounded) => 0.5 * ratio_to_f64(rounded.variance()).sqrt(),
    }
}

/// The same of the noise of a report.
pub(crate) fn report_scale(noise: ReportNoise) -> f64 {
    match noise {
        ReportNoise::OneSided(geometric) => ratio_to_f64(geometric.scale()),
        ReportNoise::TwoSided(laplace) => ratio_to_f64(laplace.scale()),
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
        ReportNoise::OneSided(geometric) => (geometric.scale(), released.saturating_sub(value)),
        ReportNoise::TwoSided(laplace) => (laplace.scale(), released.saturating_sub(value)),
    };
    let rate = ratio_to_f64(rate.recip().expect("scales are positive"));
    let a = (-rate).exp();
    match noise {
        // Silence from its own tail, so that a small probability keeps its digits.
        ReportNoise::OneSided(_) if released < threshold => {
            (-(-rate * threshold.saturating_sub(value).max(0) as f64).exp_m1()).ln()
        }
        ReportNoise::TwoSided(laplace) if released < threshold => {
            NoiseLaw::new(&Floats, Noise::Laplace(laplace))
                .log_tail(value.saturating_sub(threshold).saturating_add(1))
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
    use approx::assert_abs_diff_eq;
    use dp_mechanism::{DiscreteLaplace, RoundedGaussian};

    use super::*;

    #[test]
    fn probabilities_and_tails_agree() {
        let variance = Ratio::new(7, 2).expect("valid");
        let scale = Ratio::new(5, 3).expect("valid");
        for noise in [
            Noise::Gaussian(DiscreteGaussian::new(variance).expect("positive")),
            Noise::Rounded(RoundedGaussian::new(variance).expect("positive")),
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

    /// Listed in both, in one or in neither, and all of them.
    #[test]
    fn sparse_choices_are_choices_among_all_scores() {
        let rate = Ratio::new(2, 5).expect("valid");
        let lists: [&[(u64, u64)]; 5] = [
            &[],
            &[(0, 3), (4, 1)],
            &[(4, 2), (5, 7)],
            &[(0, 1), (1, 1), (2, 9), (3, 2), (4, 5), (5, 1)],
            &[(1, 40)],
        ];
        let ends = |ratios: Vec<f64>| {
            let end = |fold: fn(f64, f64) -> f64| ratios.iter().copied().reduce(fold).expect("six");
            [end(f64::min), end(f64::max)]
        };
        for (a, b) in lists.iter().flat_map(|a| lists.map(|b| (a, b))) {
            let [a, b] = [a, b].map(|list| SparseScores::new(6, list.iter().copied()));
            let logs = |scores: &SparseScores| {
                let all: Vec<i64> = (0..6).map(|one| scores.score(one).cast_signed()).collect();
                choice_log_probabilities(&all, rate)
            };
            let plain = logs(&a).iter().zip(logs(&b)).map(|(p, q)| p - q).collect();
            let sparse = sparse_choice_log_ratios(&a, &b, rate);
            for (sparse, plain) in ends(sparse).into_iter().zip(ends(plain)) {
                assert_abs_diff_eq!(sparse, plain, epsilon = 1e-12);
            }
        }
    }

    #[test]
    fn permute_and_flip_averages_over_all_orders() {
        let (scores, rate) = ([3, 0, 2, 3], Ratio::new(2, 5).expect("valid"));
        let coin = |i: usize| (-0.4 * (3 - scores[i]) as f64).exp();
        let mut expected = [0.0; 4];
        let orders =
            (0..256).map(|code: usize| [code & 3, code >> 2 & 3, code >> 4 & 3, code >> 6]);
        let orders = orders.filter(|order| (0..4).all(|i| order.contains(&i)));
        for order in orders {
            let mut reached = 1.0 / 24.0;
            for i in order {
                expected[i] += reached * coin(i);
                reached *= 1.0 - coin(i);
            }
        }
        let found = flip_probabilities(&Floats, &scores, rate);
        assert!(found.iter().zip(expected).all(|(p, q)| (p - q).abs() < 1e-14), "{found:?}");
        let logs = flip_log_probabilities(&scores, rate);
        assert!(logs.iter().zip(expected).all(|(log, q)| (log.exp() - q).abs() < 1e-14));
    }

    #[test]
    fn noisy_maxima_are_those_of_all_noises() {
        let noise = Geometric::new(Ratio::new(3, 2).expect("valid")).expect("positive");
        let (scores, reach) = ([2_i64, 0, 2], 60);
        let mass = |x: i64| (1.0 - (-2.0_f64 / 3.0).exp()) * (-2.0 * x as f64 / 3.0).exp();
        let mut expected = std::collections::BTreeMap::new();
        for (x, y) in (0..reach).flat_map(|x| (0..reach).map(move |y| (x, y))) {
            for z in 0..reach {
                let noisy = [scores[0] + x, scores[1] + y, scores[2] + z];
                let best = noisy.into_iter().max().expect("three");
                let index = noisy.iter().position(|v| *v == best).expect("there is one");
                *expected.entry((index, best)).or_insert(0.0) += mass(x) * mass(y) * mass(z);
            }
        }
        let law =
            crate::exact_law(crate::Window::new(0, 40), |draws| draws.noisy_max(&scores, noise));
        for (released, p) in law.iter().filter(|(released, _)| released.1 < 40) {
            let plain = expected.get(released).copied().unwrap_or(0.0);
            assert!((p - plain).abs() < 1e-12, "{released:?}: {p} for {plain}");
            let (index, value) = *released;
            let one = noisy_max_probability(&Floats, &scores, noise, index, value);
            assert_abs_diff_eq!(one, p, epsilon = 1e-15);
        }
        for (index, value) in (0..3).flat_map(|i| (-1..40).map(move |v| (i, v))) {
            let p = noisy_max_probability(&Floats, &scores, noise, index, value);
            let log = noisy_max_log_probability(&scores, noise, index, value);
            assert!((log.exp() - p).abs() < 1e-14, "{index}, {value}");
            assert_eq!(p > 0.0, is_possible_maximum(&scores, index, value), "{index}, {value}");
        }
        for index in 0..3 {
            let beyond =
                (40..200).map(|value| noisy_max_probability(&Floats, &scores, noise, index, value));
            let told = law.iter().filter(|((i, value), _)| *i == index && *value >= 40);
            let off = told.map(|(_, p)| p).sum::<f64>() - beyond.sum::<f64>();
            assert!(off.abs() < 1e-15, "{index}: {off}");
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

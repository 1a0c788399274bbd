//! Samplers at full word size, against the distribution function in floating point.
//!
//! Null: the stated law. By Massart's form of the Dvoretzky-Kiefer-Wolfowitz inequality the
//! empirical distribution function of `n` draws stays within `sqrt(ln(2/ALPHA) / 2n)` of it except
//! with probability ALPHA: 0.0060 at the 200,000 draws used, with fixed seeds. Power: the control of
//! every test, a scale 5% larger or one score 2% off, lies beyond. Cells and tails are counted in more draws when the tests are
//! optimised, see [`CELL_DRAWS`]. Enumeration, in the tests `noise`, is the proof; this would see a fault that only 64-bit
//! words have.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "small whole numbers go to and from distribution functions"
)]

use dp_noise::{
    DiscreteGaussian, DiscreteLaplace, Geometric, PoissonSkips, Ratio, RoundedGaussian, SecureBits,
    TableGaussian, TimingSafeLaplace, choose_exponentially, insecure_reproducible, noisy_max,
    reference,
};

type Source<'a> = SecureBits<'a, dp_noise::ChaCha20Rng>;

const DRAWS: usize = 200_000;
const ALPHA: f64 = 1e-6;

fn ratio(a: u128, b: u128) -> Ratio {
    Ratio::new(a, b).expect("valid")
}

fn bound() -> f64 {
    ((2.0 / ALPHA).ln() / (2.0 * DRAWS as f64)).sqrt()
}

/// The largest distance of the empirical distribution function from `cdf`, at the values drawn and
/// just below them.
fn distance(seed: u64, sample: impl Fn(&mut Source<'_>) -> i64, cdf: impl Fn(f64) -> f64) -> f64 {
    let mut rng = insecure_reproducible(seed);
    let mut bits = SecureBits::new(&mut rng);
    let mut draws: Vec<i64> = (0..DRAWS).map(|_| sample(&mut bits)).collect();
    draws.sort_unstable();
    let mut worst = 0_f64;
    for group in draws.chunk_by(|a, b| a == b) {
        let before = draws.partition_point(|z| z < &group[0]);
        let share = |count: usize| count as f64 / DRAWS as f64;
        let z = group[0] as f64;
        worst = worst.max((share(before) - cdf(z - 1.0)).abs());
        worst = worst.max((share(before + group.len()) - cdf(z)).abs());
    }
    worst
}

fn laplace_cdf(scale: f64) -> impl Fn(f64) -> f64 {
    let a = (-1.0 / scale).exp();
    move |z| if z < 0.0 { a.powf(-z) / (1.0 + a) } else { 1.0 - a.powf(z + 1.0) / (1.0 + a) }
}

fn gaussian_cdf(variance: f64) -> impl Fn(f64) -> f64 {
    let reach = (12.0 * variance.sqrt()).ceil() as i64 + 1;
    let weight = |z: i64| (-(z as f64).powi(2) / (2.0 * variance)).exp();
    let mut sums: Vec<f64> = Vec::new();
    for z in -reach..=reach {
        sums.push(sums.last().copied().unwrap_or(0.0) + weight(z));
    }
    move |z| {
        let index = (z as i64 + reach).clamp(0, 2 * reach) as usize;
        sums[index] / sums[2 * reach as usize]
    }
}

/// Of the nearest integer to a normal variable: its law up to half an integer further. By the trapezoid rule in steps of 1/64 of a
/// standard deviation, which is off by less than `1e-5`.
fn rounded_cdf(variance: f64) -> impl Fn(f64) -> f64 {
    let density = |x: f64| (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let mut sums = vec![0.0];
    for i in -512..512 {
        let (left, right) = (f64::from(i) / 64.0, f64::from(i + 1) / 64.0);
        sums.push(sums[sums.len() - 1] + f64::midpoint(density(left), density(right)) / 64.0);
    }
    move |z| {
        let at = ((z + 0.5) / variance.sqrt()).clamp(-7.99, 7.99) * 64.0 + 512.0;
        let (index, part) = (at as usize, at.fract());
        sums[index] + part * (sums[index + 1] - sums[index])
    }
}

fn narrow(z: i128) -> i64 {
    i64::try_from(z).expect("a plausible draw")
}

fn agrees(
    name: &str,
    seed: u64,
    sample: impl Fn(&mut Source<'_>) -> i64,
    good: impl Fn(f64) -> f64,
    bad: impl Fn(f64) -> f64,
) {
    let found = distance(seed, &sample, good);
    assert!(found <= bound(), "{name}: {found} > {}", bound());
    let control = distance(seed, &sample, bad);
    assert!(control > bound(), "{name}: the control is within {control}");
}

#[test]
fn laplace_noise_follows_its_distribution_function() {
    for (seed, scale) in
        [(1, ratio(1, 1)), (2, ratio(123, 10)), (3, ratio(1000, 1)), (4, ratio(1 << 40, 1 << 20))]
    {
        let b = scale.numerator() as f64 / scale.denominator().get() as f64;
        let noise = DiscreteLaplace::new(scale).expect("valid");
        agrees(
            "default",
            seed,
            |bits| narrow(noise.sample(bits)),
            laplace_cdf(b),
            laplace_cdf(1.05 * b),
        );
        let noise = TimingSafeLaplace::new(scale).expect("valid");
        agrees(
            "digits",
            seed,
            |bits| narrow(noise.sample(bits)),
            laplace_cdf(b),
            laplace_cdf(1.05 * b),
        );
        let noise = reference::DiscreteLaplace::new(scale).expect("valid");
        agrees(
            "reference",
            seed,
            |bits| narrow(noise.sample(bits)),
            laplace_cdf(b),
            laplace_cdf(1.05 * b),
        );
    }
}

#[test]
fn gaussian_noise_follows_its_distribution_function() {
    for (seed, variance) in
        [(1, ratio(1, 1)), (2, ratio(150, 1)), (3, ratio(65_537, 256)), (4, ratio(1_000_000, 1))]
    {
        let v = variance.numerator() as f64 / variance.denominator().get() as f64;
        let noise = DiscreteGaussian::new(variance).expect("valid");
        agrees(
            "default",
            seed,
            |bits| narrow(noise.sample(bits)),
            gaussian_cdf(v),
            gaussian_cdf(1.1 * v),
        );
        let noise = RoundedGaussian::new(variance).expect("valid");
        agrees(
            "rounded",
            seed,
            |bits| narrow(noise.sample(bits)),
            rounded_cdf(v),
            rounded_cdf(1.1 * v),
        );
        let noise = TableGaussian::new(variance).expect("valid");
        agrees("table", seed, |bits| noise.sample(bits), gaussian_cdf(v), gaussian_cdf(1.1 * v));
    }
}

#[test]
fn choices_follow_their_distribution_function() {
    let scores: Vec<i64> = (0..40).map(|i| (i * i * 7) % 41).collect();
    let cdf = |scores: &[i64]| {
        let mut sums = vec![0.0];
        for &score in scores {
            sums.push(sums[sums.len() - 1] + (score as f64 / 10.0).exp());
        }
        move |z: f64| sums[(z + 1.0) as usize] / sums[sums.len() - 1]
    };
    let mut off = scores.clone();
    let best = (0..40).max_by_key(|&i| scores[i]).expect("not empty");
    off[best] += 2;
    let sample =
        |bits: &mut Source<'_>| choose_exponentially(bits, &scores, ratio(1, 10)).unwrap() as i64;
    agrees("choice", 5, sample, cdf(&scores), cdf(&off));
}

/// Two scores: `Pr[first wins] = Pr[X_2 - X_1 <= q_1 - q_2]`, a difference of two geometric
/// variables, which is discrete Laplace.
#[test]
fn noisy_max_follows_its_distribution_function() {
    let noise = Geometric::new(ratio(20, 1)).expect("valid");
    let cdf = |scale: f64| {
        let first = laplace_cdf(scale)(7.0);
        move |z: f64| {
            if z < 0.0 {
                0.0
            } else if z < 1.0 {
                first
            } else {
                1.0
            }
        }
    };
    let sample = |bits: &mut Source<'_>| noisy_max(bits, &[7, 0], noise).unwrap() as i64;
    agrees("noisy max", 6, sample, cdf(20.0), cdf(22.0));
}

#[test]
fn counts_of_samples_follow_the_binomial_law() {
    let binomial = |n: i32, p: f64| {
        let mut term = (1.0 - p).powi(n);
        let mut sums = vec![0.0, term];
        for k in 0..n {
            term *= f64::from(n - k) / f64::from(k + 1) * p / (1.0 - p);
            sums.push(sums[sums.len() - 1] + term);
        }
        move |z: f64| sums[(z + 1.0) as usize]
    };
    let skips = PoissonSkips::with_probability(ratio(1, 20)).expect("valid");
    let sample = |bits: &mut Source<'_>| skips.count(60, bits) as i64;
    agrees("rational", 7, sample, binomial(60, 0.05), binomial(60, 0.051));
    let skips = PoissonSkips::with_one_minus_exp(ratio(1, 10)).expect("valid");
    let sample = |bits: &mut Source<'_>| skips.count(60, bits) as i64;
    let p = -(-0.1_f64).exp_m1();
    agrees("exponential", 8, sample, binomial(60, p), binomial(60, 1.02 * p));
}

/// Draws of the tests below: ten million when optimised, and few enough for a debug build otherwise.
const CELL_DRAWS: usize = if cfg!(debug_assertions) { 300_000 } else { 10_000_000 };

/// Cells `-8 ..= 8` of the size of a step, and the two tails beyond.
const CELLS: usize = 19;

fn counts(seed: u64, step: i64, sample: impl Fn(&mut Source<'_>) -> i64) -> [f64; CELLS] {
    let mut rng = insecure_reproducible(seed);
    let mut bits = SecureBits::new(&mut rng);
    let mut counts = [0.0; CELLS];
    for _ in 0..CELL_DRAWS {
        let cell = sample(&mut bits).div_euclid(step).clamp(-9, 9) + 9;
        counts[cell as usize] += 1.0;
    }
    counts
}

/// Pearson's statistic against the cells that a distribution function gives.
fn chi_square(counts: &[f64; CELLS], step: i64, cdf: impl Fn(f64) -> f64) -> f64 {
    let n = CELL_DRAWS as f64;
    let edge = |cell: usize| ((cell as i64 - 9) * step - 1) as f64;
    (0..CELLS)
        .map(|cell| {
            let below = if cell == 0 { 0.0 } else { cdf(edge(cell)) };
            let above = if cell + 1 == CELLS { 1.0 } else { cdf(edge(cell + 1)) };
            let expected = n * (above - below);
            (counts[cell] - expected).powi(2) / expected
        })
        .sum()
}

/// Null: the stated law; the statistic is chi-square with 18 degrees of freedom, which exceeds 98 with probability at most 1e-9 (Laurent and
/// Massart, 2000, Lemma 1: `18 + 2 sqrt(18 x) + 2 x` is exceeded with at most `e^-x`; here `x = 20.7`). Every cell expects at
/// least 48 draws. At a thousand steps to a standard deviation the rounded law is the discrete one up to `1e-7`. Power: a scale off by `s` moves the statistic by about `n s^2`, so that the controls, 0.5% at 10^7 draws and 3% at
/// 300,000, lie beyond the limit. The outer cells are the tails: beyond 3.6 scales or standard deviations.
#[test]
fn cells_and_tails_hold_what_they_should() {
    const LIMIT: f64 = 98.0;
    let off = if cfg!(debug_assertions) { 1.03 } else { 1.005 };
    let verdict =
        |name: &str, seed: u64, sample: &dyn Fn(&mut Source<'_>) -> i64, laplace: bool| {
            let step = 400;
            let counts = counts(seed, step, sample);
            let cdf = |off: f64| -> Box<dyn Fn(f64) -> f64> {
                if laplace {
                    Box::new(laplace_cdf(1000.0 * off))
                } else {
                    Box::new(gaussian_cdf(1e6 * off * off))
                }
            };
            let found = chi_square(&counts, step, cdf(1.0));
            assert!(found <= LIMIT, "{name}: {found}");
            let control = chi_square(&counts, step, cdf(off));
            assert!(control > LIMIT, "{name}: the control is at {control}");
        };
    let laplace = DiscreteLaplace::new(ratio(1000, 1)).expect("valid");
    verdict("laplace", 11, &|bits| narrow(laplace.sample(bits)), true);
    let safe = TimingSafeLaplace::new(ratio(1000, 1)).expect("valid");
    verdict("digits", 12, &|bits| narrow(safe.sample(bits)), true);
    let gaussian = DiscreteGaussian::new(ratio(1_000_000, 1)).expect("valid");
    verdict("gaussian", 13, &|bits| narrow(gaussian.sample(bits)), false);
    let rounded = RoundedGaussian::new(ratio(1_000_000, 1)).expect("valid");
    verdict("rounded", 15, &|bits| narrow(rounded.sample(bits)), false);
    let table = TableGaussian::new(ratio(1_000_000, 1)).expect("valid");
    verdict("table", 14, &|bits| table.sample(bits), false);
}

//! Does the time of a draw tell its value? Welch's t between draws of small and of large values, in the manner of dudect.
//!
//! For every sampler the draws are split at the median of their size, which must be public for this to be a fair question. Times above
//! the 90th percentile of all draws are left out: they are interruptions. |t| below 4.5 is what equal times give on a quiet machine (Reparaz,
//! Balasch, Verbauwhede, 2017); a clear dependence grows with the root of the draws. It is a report: nothing is asserted, and
//! nothing here proves that a sampler is safe.

#![allow(clippy::print_stdout, reason = "a report is what this program is for")]

use std::hint::black_box;
use std::time::Instant;

use dp_noise::{
    ChaCha20Rng, DiscreteGaussian, DiscreteLaplace, Ratio, SecureBits, TableGaussian,
    TimingSafeGeometric, TimingSafeLaplace, insecure_reproducible,
};

const DRAWS: usize = 1_000_000;

/// Mean, variance of the mean.
fn mean(times: &[f64]) -> (f64, f64) {
    let n = times.len() as f64;
    let mean = times.iter().sum::<f64>() / n;
    let variance = times.iter().map(|t| (t - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, variance / n)
}

fn report(name: &str, draws: usize, sample: impl Fn(&mut SecureBits<'_, ChaCha20Rng>) -> u128) {
    let mut rng = insecure_reproducible(3);
    let mut bits = SecureBits::new(&mut rng);
    let mut seen: Vec<(u128, f64)> = (0..draws)
        .map(|_| {
            let start = Instant::now();
            let size = black_box(sample(&mut bits));
            (size, start.elapsed().as_secs_f64() * 1e9)
        })
        .collect();
    let mut times: Vec<f64> = seen.iter().map(|draw| draw.1).collect();
    times.sort_by(f64::total_cmp);
    let cut = times[draws / 10 * 9];
    let mut sizes: Vec<u128> = seen.iter().map(|draw| draw.0).collect();
    sizes.sort_unstable();
    let median = sizes[draws / 2];
    seen.retain(|draw| draw.1 <= cut);
    let (small, large): (Vec<_>, Vec<_>) = seen.iter().partition(|draw| draw.0 <= median);
    let of = |class: &[(u128, f64)]| mean(&class.iter().map(|draw| draw.1).collect::<Vec<_>>());
    if small.len() < 2 || large.len() < 2 {
        println!("{name:34} one class is empty");
        return;
    }
    let ((a, va), (b, vb)) = (of(&small), of(&large));
    let t = (a - b) / (va + vb).sqrt();
    println!("{name:34} small {a:7.1} ns   large {b:7.1} ns   t {t:8.1}");
}

fn main() {
    // `cargo test` and `cargo bench --test` run benches once, to see that they work.
    let quick = std::env::args().any(|argument| argument == "--test");
    let draws = if quick { 2000 } else { DRAWS };
    let ratio = |n: u128| Ratio::new(n, 1).expect("valid");
    println!("{draws} draws each; the time of the clock is in all of them");
    for scale in [1, 1000, 1_000_000] {
        let noise = TimingSafeGeometric::new(ratio(scale)).expect("valid");
        report(&format!("timing-safe geometric, scale {scale}"), draws, |b| noise.sample(b));
        let noise = TimingSafeLaplace::new(ratio(scale)).expect("valid");
        report(&format!("timing-safe laplace, scale {scale}"), draws, |b| {
            noise.sample(b).unsigned_abs()
        });
        let noise = DiscreteLaplace::new(ratio(scale)).expect("valid");
        report(&format!("laplace, scale {scale}"), draws, |b| noise.sample(b).unsigned_abs());
    }
    for sigma in [1, 1000] {
        let noise = TableGaussian::new(ratio(sigma * sigma)).expect("valid");
        report(&format!("table gaussian, sigma {sigma}"), draws, |b| {
            noise.sample(b).unsigned_abs().into()
        });
        let noise = DiscreteGaussian::new(ratio(sigma * sigma)).expect("valid");
        report(&format!("gaussian, sigma {sigma}"), draws, |b| noise.sample(b).unsigned_abs());
    }
}

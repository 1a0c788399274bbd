//! Nanoseconds per draw of every sampler, on the generator of a release.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use dp_noise::{
    Bits, ChaCha20Rng, DiscreteGaussian, DiscreteLaplace, Geometric, PoissonSkips, Ratio,
    RoundedGaussian, SecureBits, TableGaussian, TimingSafeLaplace, chacha_from_os,
    choose_exponentially, insecure_reproducible, noisy_max, permute_and_flip, reference,
};

const SCALES: [u32; 4] = [1, 10, 1000, 1_000_000];

fn ratio(a: u32, b: u32) -> Ratio {
    Ratio::new(a.into(), b.into()).expect("valid")
}

fn square(sigma: u32) -> Ratio {
    Ratio::new(u128::from(sigma).pow(2), 1).expect("valid")
}

fn per_draw<T>(
    c: &mut Criterion,
    group: &str,
    parameter: &str,
    mut sample: impl FnMut(&mut SecureBits<'_, ChaCha20Rng>) -> T,
) {
    let mut rng = insecure_reproducible(1);
    let mut bits = SecureBits::new(&mut rng);
    c.benchmark_group(group).bench_function(BenchmarkId::from_parameter(parameter), |b| {
        b.iter(|| black_box(sample(&mut bits)));
    });
}

fn source(c: &mut Criterion) {
    per_draw(c, "word", "chacha20", |bits| bits.word());
    let mut rng = chacha_from_os().expect("entropy");
    let mut bits = SecureBits::new(&mut rng);
    c.benchmark_group("word").bench_function("release", |b| b.iter(|| black_box(bits.word())));
}

fn laplace(c: &mut Criterion) {
    let scales = SCALES.map(|scale| (scale.to_string(), ratio(scale, 1)));
    for (name, scale) in scales.into_iter().chain([("12.3".to_owned(), ratio(123, 10))]) {
        let noise = DiscreteLaplace::new(scale).expect("valid");
        per_draw(c, "laplace", &name, |bits| noise.sample(bits));
        let noise = TimingSafeLaplace::new(scale).expect("valid");
        per_draw(c, "laplace-timing-safe", &name, |bits| noise.sample(bits));
        let noise = reference::DiscreteLaplace::new(scale).expect("valid");
        per_draw(c, "laplace-reference", &name, |bits| noise.sample(bits));
    }
}

fn gaussian(c: &mut Criterion) {
    for sigma in SCALES {
        let noise = DiscreteGaussian::new(square(sigma)).expect("valid");
        per_draw(c, "gaussian", &sigma.to_string(), |bits| noise.sample(bits));
        let noise = RoundedGaussian::new(square(sigma)).expect("valid");
        per_draw(c, "gaussian-rounded", &sigma.to_string(), |bits| noise.sample(bits));
        let noise = reference::DiscreteGaussian::new(square(sigma)).expect("valid");
        per_draw(c, "gaussian-reference", &sigma.to_string(), |bits| noise.sample(bits));
    }
    for sigma in &SCALES[..3] {
        let noise = TableGaussian::new(square(*sigma)).expect("valid");
        per_draw(c, "gaussian-table", &sigma.to_string(), |bits| noise.sample(bits));
    }
}

/// Squares beyond 128 bits: the plain form computes every acceptance in big integers.
fn big_integers(c: &mut Criterion) {
    let variance = Ratio::new(1 << 80, 1).expect("valid");
    let noise = reference::DiscreteGaussian::new(variance).expect("valid");
    per_draw(c, "gaussian-big-integers", "2^40", |bits| noise.sample(bits));
    let noise = DiscreteGaussian::new(variance).expect("valid");
    per_draw(c, "gaussian", "2^40", |bits| noise.sample(bits));
    let noise = RoundedGaussian::new(variance).expect("valid");
    per_draw(c, "gaussian-rounded", "2^40", |bits| noise.sample(bits));
}

fn construction(c: &mut Criterion) {
    let mut group = c.benchmark_group("construction");
    let (scale, variance) = (ratio(1000, 1), square(1000));
    group.bench_function("gaussian", |b| {
        b.iter(|| DiscreteGaussian::new(black_box(variance)));
    });
    group.bench_function("gaussian-rounded", |b| {
        b.iter(|| RoundedGaussian::new(black_box(variance)));
    });
    group.bench_function("laplace-timing-safe", |b| {
        b.iter(|| TimingSafeLaplace::new(black_box(scale)));
    });
    group.sample_size(10);
    group.bench_function("gaussian-table", |b| {
        b.iter(|| TableGaussian::new(black_box(variance)));
    });
}

fn choice(c: &mut Criterion) {
    let scores: Vec<i64> = (0..10_000).map(|i| (i * 7919) % 10_007).collect();
    let rate = ratio(1, 100);
    per_draw(c, "choice", "10000", |bits| {
        choose_exponentially(bits, &scores, rate).expect("there are scores")
    });
    per_draw(c, "permute-and-flip", "10000", |bits| {
        permute_and_flip(bits, &scores, rate).expect("there are scores")
    });
    let noise = Geometric::new(ratio(100, 1)).expect("valid");
    per_draw(c, "noisy-max", "10000", |bits| {
        noisy_max(bits, &scores, noise).expect("there are scores")
    });
}

fn subsample(c: &mut Criterion) {
    let skips = PoissonSkips::with_probability(ratio(1, 100)).expect("valid");
    per_draw(c, "subsample", "1000000 at 0.01", |bits| skips.count(1_000_000, bits));
}

fn quick() -> Criterion {
    Criterion::default()
        .sample_size(30)
        .warm_up_time(std::time::Duration::from_millis(300))
        .measurement_time(std::time::Duration::from_millis(800))
}

criterion_group! {
    name = benches;
    config = quick();
    targets = source, laplace, gaussian, big_integers, construction, choice, subsample
}
criterion_main!(benches);

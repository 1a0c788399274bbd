//! Submodular maximisation: coverage and facility location, with and without privacy.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use dp_accounting::Budget;
use dp_combinatorial::Incidence;
use dp_combinatorial::submodular::{
    ContinuousGreedy, ContinuousGreedySettings, Coverage, Credits, DenseFacilityLocation, Greedy,
    GreedySettings, Objective, Partition, Uniform, exact_greedy,
};
use dp_mechanism::{Certificate, ChaCha20Rng, Mechanism, SelectionRule};
use rand::{RngExt, SeedableRng};

/// A small instance when criterion only tries whether a benchmark runs.
fn size(full: u32) -> u32 {
    if std::env::args().any(|argument| argument == "--test") { full.div_ceil(100) } else { full }
}

/// Users with about ten sets each, few of the sets popular: ranks are uniform on a log scale.
fn incidence(users: u32, sets: u32) -> Incidence {
    let mut rng = ChaCha20Rng::seed_from_u64(0);
    let reach = f64::from(sets).ln();
    let mut lists: Vec<u32> = Vec::new();
    let mut ends = vec![0];
    for _ in 0..users {
        for _ in 0..rng.random_range(5..22) {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank")]
            lists.push(rng.random_range(0.0..reach).exp() as u32 - 1);
        }
        ends.push(lists.len());
    }
    Incidence::from_slices(sets, ends.windows(2).map(|end| &lists[end[0]..end[1]])).expect("sets")
}

fn budget() -> Budget {
    Budget::new(1.0, 1e-6).expect("valid")
}

/// Private greedy under all rules, the same without coins, and greedy without privacy.
fn picks(criterion: &mut Criterion, name: &str, objective: &dyn Objective, k: usize) {
    let mut group = criterion.benchmark_group(format!("submodular/{name}"));
    group.sample_size(10);
    let uniform = Uniform::new(objective.elements(), k).expect("k is small");
    group.bench_function(format!("not private, k={k}"), |bencher| {
        bencher.iter(|| exact_greedy(objective, &uniform));
    });
    let mut run = |name: &str, rule, certificate| {
        let greedy = Greedy::new(
            uniform,
            objective.most_credit(),
            budget(),
            GreedySettings { rule, certificate: Some(certificate) },
        )
        .expect("valid");
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        group.bench_function(format!("{name}, k={k}"), |bencher| {
            bencher.iter(|| greedy.simulate(black_box(objective), &mut rng).expect("it fits"));
        });
    };
    run("permute-and-flip", SelectionRule::PermuteAndFlip, Certificate::Subsampled);
    run("exponential", SelectionRule::Exponential, Certificate::Subsampled);
    run("noisy-max", SelectionRule::NoisyMax, Certificate::Subsampled);
    run("permute-and-flip without coins", SelectionRule::PermuteAndFlip, Certificate::Composition);
    group.finish();
}

fn coverage(criterion: &mut Criterion) {
    for (users, sets, k) in [(100_000, 1_000, 20), (1_000_000, 10_000, 20)] {
        let objective = Coverage::new(incidence(size(users), sets));
        picks(criterion, &format!("coverage {users} x {sets}"), &objective, k);
    }
}

fn facility_location(criterion: &mut Criterion) {
    let n = size(5_000);
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    let points: Vec<[f64; 2]> = (0..n).map(|_| [rng.random(), rng.random()]).collect();
    let mut table = Vec::new();
    for a in &points {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 2^16")]
        let similarity = |b: &[f64; 2]| {
            (60_000.0 * (-4.0 * ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)).sqrt()).exp())
                as u16
        };
        table.extend(points.iter().map(similarity));
    }
    let objective = DenseFacilityLocation::new(n as usize, table, |_| 0, 60_000).expect("valid");
    picks(criterion, "facility location 5000 x 5000", &objective, size(100) as usize);
}

fn continuous(criterion: &mut Criterion) {
    let objective = Coverage::new(incidence(size(100_000), 1_000));
    let matroid = Partition::new((0..1_000).map(|i| i / 50).collect(), vec![1; 20]).expect("valid");
    let plan = ContinuousGreedy::new(
        matroid,
        Credits::ranked(1),
        budget(),
        ContinuousGreedySettings::default(),
    );
    let (plan, mut rng) = (plan.expect("valid"), ChaCha20Rng::seed_from_u64(3));
    let mut group = criterion.benchmark_group("submodular/continuous greedy");
    group.sample_size(10);
    group.bench_function("coverage 100000 x 1000, 20 blocks, 4 steps", |bencher| {
        bencher.iter(|| plan.simulate(&objective, &mut rng).expect("it fits"));
    });
    group.finish();
}

criterion_group!(benches, coverage, facility_location, continuous);
criterion_main!(benches);

//! Set cover: building a family, greedy, and the private orders.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use dp_accounting::Budget;
use dp_combinatorial::Incidence;
use dp_combinatorial::set_cover::{
    SetCoverSelect, SetCoverSelectSettings, SetCoverThresholds, SetCoverThresholdsSettings,
    exact_greedy,
};
use dp_mechanism::{ChaCha20Rng, Mechanism, SelectionRule};
use rand::{RngExt, SeedableRng};

/// A small family when criterion only tries whether a benchmark runs.
fn size(full: u32) -> u32 {
    if std::env::args().any(|argument| argument == "--test") { full.div_ceil(100) } else { full }
}

/// The sets of users who are in ten random ones each.
fn lists(users: u32, sets: u32) -> Vec<[u32; 10]> {
    let mut rng = ChaCha20Rng::seed_from_u64(0);
    (0..users).map(|_| std::array::from_fn(|_| rng.random_range(0..sets))).collect()
}

fn orders(criterion: &mut Criterion, users: u32, sets: u32) {
    let mut group = criterion.benchmark_group(format!("set-cover/{users} x {sets}"));
    group.sample_size(10);
    let (users, sets) = (size(users), size(sets));
    let lists = lists(users, sets);
    let build = || Incidence::from_slices(sets, lists.iter().map(|list| &list[..])).expect("sets");
    group.bench_function("memberships", |bencher| bencher.iter(build));
    let family = build();
    group.bench_function("greedy", |bencher| bencher.iter(|| exact_greedy(black_box(&family))));
    let budget = Budget::new(1.0, 0.0).expect("valid");
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut rules = vec![("select", SelectionRule::PermuteAndFlip)];
    // It draws for every candidate in every step, to the end.
    if sets <= 1_000 {
        rules.push(("select by noisy maximum", SelectionRule::NoisyMax));
    }
    for (name, rule) in rules {
        let plan = SetCoverSelect::new(
            sets,
            budget,
            SetCoverSelectSettings { rule, ..Default::default() },
        )
        .expect("valid");
        group.bench_function(name, |bencher| {
            bencher.iter(|| plan.simulate(black_box(&family), &mut rng).expect("it fits"));
        });
    }
    let plan = SetCoverThresholds::new(sets, users, budget, SetCoverThresholdsSettings::default())
        .expect("valid");
    group.bench_function("thresholds", |bencher| {
        bencher.iter(|| plan.simulate(black_box(&family), &mut rng).expect("it fits"));
    });
    group.bench_function("thresholds in passes", |bencher| {
        bencher.iter(|| plan.simulate_stream(&mut black_box(&family), &mut rng));
    });
    group.finish();
}

fn all(criterion: &mut Criterion) {
    orders(criterion, 100_000, 1_000);
    orders(criterion, 1_000_000, 10_000);
}

criterion_group!(benches, all);
criterion_main!(benches);

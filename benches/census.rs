//! The census solvers on a generated nation: 1 + 52 + 3,144 regions, a thousand sizes.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use dp_census::RegionTree;
use dp_census::solve::{
    Problem, chain, cumulative, cumulative_top_down, edf, monotone_rows, star, top_down, tree,
};
use rand::rngs::ChaCha20Rng;
use rand::{Rng, RngExt, SeedableRng};
use rand_distr::{Distribution, LogNormal};

const GROUPS: i64 = 117_630_445;

/// How large a nation is.
#[derive(Clone, Copy)]
struct Scale {
    states: u32,
    counties: u32,
    sizes: usize,
}

/// The whole one, or a hundredth of it where benches only have to run (`-- --test`).
fn scale() -> Scale {
    if std::env::args().any(|argument| argument == "--test") {
        Scale { states: 6, counties: 200, sizes: 150 }
    } else {
        Scale { states: 52, counties: 3_144, sizes: 1_000 }
    }
}

/// True counts of a nation: unit sizes fall off as households do, county totals are log-normal.
struct Nation {
    tree: RegionTree,
    sizes: usize,
    counts: Vec<i64>,
}

impl Nation {
    fn new(scale: Scale) -> Self {
        let Scale { states, counties, sizes } = scale;
        let mut rng = ChaCha20Rng::seed_from_u64(7);
        let above = (0..states).map(|_| Some(0));
        let mut homes: Vec<u32> = (1..=states).collect();
        homes.extend((states..counties).map(|_| rng.random_range(1..=states)));
        homes.sort_unstable();
        let parents: Vec<_> =
            [None].into_iter().chain(above).chain(homes.into_iter().map(Some)).collect();
        let tree = RegionTree::from_parents(&parents).expect("every state has counties");
        let mut counts = vec![0; tree.len() * sizes];
        let law = LogNormal::new(0.0, 1.62).expect("valid");
        let weights: Vec<f64> = tree.leaves().map(|_| law.sample(&mut rng)).collect();
        let unit = GROUPS as f64 / weights.iter().sum::<f64>();
        for (leaf, weight) in tree.leaves().zip(weights) {
            let mut expected = weight * unit * 0.58;
            for cell in &mut counts[leaf * sizes..][..sizes] {
                #[expect(clippy::cast_possible_truncation, reason = "far below 2^53")]
                let count = (expected * rng.random_range(0.9..1.1)).round() as i64;
                *cell = count;
                expected *= 0.42;
            }
        }
        for _ in 0..50 {
            let leaf = rng.random_range(tree.leaves());
            counts[leaf * sizes + rng.random_range(0..sizes)] += 1;
        }
        for node in (0..tree.leaves().start).rev() {
            for child in tree.children(node) {
                (0..sizes).for_each(|s| counts[node * sizes + s] += counts[child * sizes + s]);
            }
        }
        Self { tree, sizes, counts }
    }

    fn groups(&self) -> i64 {
        self.counts[..self.sizes].iter().sum()
    }

    fn cumulative(&self) -> Vec<i64> {
        let rows = self.counts.chunks_exact(self.sizes);
        rows.flat_map(|row| {
            row.iter().scan(0, |sum, n| {
                *sum += n;
                Some(*sum)
            })
        })
        .collect()
    }
}

/// Two-sided geometric noise; the bench measures solvers, not samplers.
fn noisy(table: &[i64], scale: f64) -> Vec<i64> {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let geometric = |rng: &mut ChaCha20Rng| {
        let uniform = (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        #[expect(clippy::cast_possible_truncation, reason = "far below 2^53")]
        let value = (-(1.0 - uniform).ln() * scale).floor() as i64;
        value
    };
    table.iter().map(|n| n + geometric(&mut rng) - geometric(&mut rng)).collect()
}

fn solvers(criterion: &mut Criterion) {
    let nation = Nation::new(scale());
    let (groups, sizes, regions) = (nation.groups(), nation.sizes, &nation.tree);
    let cells = regions.len() * sizes;
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let mut group =
            criterion.benchmark_group(format!("census-{:.1e}/{threads} threads", cells as f64));
        group.sample_size(10);
        for eps in [0.1, 1.0] {
            let tables = [
                noisy(&chain::cumulate(regions, sizes, &nation.counts), 3.0 / eps),
                noisy(&nation.counts, 6.0 / eps),
                noisy(&nation.cumulative(), 3.0 / eps),
            ];
            let [chained, counts, cumulated] = tables
                .each_ref()
                .map(|table| Problem::new(regions, sizes, table, &[1; 3], groups).expect("valid"));
            let mut bench = |name: &str, solve: &(dyn Fn() + Sync)| {
                group.bench_function(format!("{name}/eps {eps}"), |bencher| {
                    bencher.iter(|| pool.install(solve));
                });
            };
            bench("chain", &|| drop(black_box(chain::solve(&chained))));
            bench("tree", &|| drop(black_box(tree::solve(&counts))));
            bench("top-down", &|| drop(black_box(top_down::solve(&counts))));
            bench("monotone rows and tree", &|| drop(black_box(monotone_rows::solve(&cumulated))));
            bench("cumulative and rounding", &|| {
                let real = cumulative::solve(&cumulated).rows;
                drop(black_box(edf::round(regions, &real, groups)));
            });
            bench("cumulative, level by level", &|| {
                drop(black_box(cumulative_top_down::solve(&cumulated, None)));
            });
        }
        group.finish();
    }
}

/// The root and the states alone: two levels, where the integers are exact.
fn star_of_states(criterion: &mut Criterion) {
    let nation = Nation::new(scale());
    let states: Vec<_> = [None].into_iter().chain((0..scale().states).map(|_| Some(0))).collect();
    let states = RegionTree::from_parents(&states).expect("a star");
    let cumulative = nation.cumulative();
    let table = noisy(&cumulative[..states.len() * nation.sizes], 20.0);
    let problem = Problem::new(&states, nation.sizes, &table, &[1; 2], nation.groups());
    let problem = problem.expect("valid");
    let name = format!("census-{:.1e}/star", (states.len() * nation.sizes) as f64);
    criterion.bench_function(&name, |bencher| {
        bencher.iter(|| star::solve(&problem));
    });
}

criterion_group!(benches, solvers, star_of_states);
criterion_main!(benches);

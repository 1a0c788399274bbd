//! The census solvers on a generated nation: 1 + 52 + 3,144 regions, a thousand sizes, one thread.

use criterion::{Criterion, criterion_group, criterion_main};
use dp_census::RegionTree;
use dp_census::solve::{Problem, chain, tree};
use rand::rngs::ChaCha20Rng;
use rand::{Rng, RngExt, SeedableRng};
use rand_distr::{Distribution, LogNormal};

const STATES: u32 = 52;
const COUNTIES: u32 = 3_144;
const GROUPS: i64 = 117_630_445;

/// True counts of a nation: unit sizes fall off as households do, county totals are log-normal.
struct Nation {
    tree: RegionTree,
    sizes: usize,
    counts: Vec<i64>,
}

impl Nation {
    fn new(sizes: usize) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(7);
        let states = (0..STATES).map(|_| Some(0));
        let mut homes: Vec<u32> = (1..=STATES).collect();
        homes.extend((STATES..COUNTIES).map(|_| rng.random_range(1..=STATES)));
        homes.sort_unstable();
        let parents: Vec<_> =
            [None].into_iter().chain(states).chain(homes.into_iter().map(Some)).collect();
        let tree = RegionTree::from_parents(&parents).expect("every state has counties");
        let mut counts = vec![0; tree.len() * sizes];
        let law = LogNormal::new(0.0, 1.62).expect("valid");
        let weights: Vec<f64> = tree.leaves().map(|_| law.sample(&mut rng)).collect();
        let unit = GROUPS as f64 / weights.iter().sum::<f64>();
        for (leaf, weight) in tree.leaves().zip(weights) {
            let mut expected = weight * unit * 0.58;
            for cell in &mut counts[leaf * sizes..][..sizes] {
                *cell = (expected * rng.random_range(0.9..1.1)).round() as i64;
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
        (-(1.0 - uniform).ln() * scale).floor() as i64
    };
    table.iter().map(|n| n + geometric(&mut rng) - geometric(&mut rng)).collect()
}

fn solvers(criterion: &mut Criterion) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread");
    let nation = Nation::new(1_000);
    let weights = [1; 3];
    let mut group = criterion.benchmark_group("census-3.2e6");
    group.sample_size(10);
    for eps in [0.1, 1.0] {
        let chained = chain::cumulate(&nation.tree, nation.sizes, &nation.counts);
        let inputs = [
            noisy(&chained, 3.0 / eps),
            noisy(&nation.counts, 6.0 / eps),
            noisy(&nation.cumulative(), 3.0 / eps),
        ];
        let [chained, counts, _cumulative] = inputs.each_ref().map(|table| {
            Problem::new(&nation.tree, nation.sizes, table, &weights, nation.groups())
                .expect("valid")
        });
        group.bench_function(format!("chain/eps {eps}"), |bencher| {
            bencher.iter(|| pool.install(|| chain::solve(&chained)));
        });
        group.bench_function(format!("tree/eps {eps}"), |bencher| {
            bencher.iter(|| pool.install(|| tree::solve(&counts)));
        });
    }
    group.finish();
}

criterion_group!(benches, solvers);
criterion_main!(benches);

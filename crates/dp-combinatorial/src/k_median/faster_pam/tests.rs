use dp_mechanism::ChaCha20Rng;
use rand::{RngExt, SeedableRng};

use super::search::{BLOCK, greedy, improve, scaled_clients};
use super::*;
use crate::k_median::faster_pam::caches::Caches;
use crate::k_median::metric::Width;

fn random_metric(nodes: usize, width: Width, rng: &mut ChaCha20Rng) -> Metric {
    let points: Vec<f64> = (0..2 * nodes).map(|_| rng.random_range(0.0..1.0)).collect();
    Metric::from_points_as(&points, 2, width, true).unwrap()
}

fn random_weights(nodes: usize, rng: &mut ChaCha20Rng) -> Vec<u64> {
    (0..nodes).map(|_| rng.random_range(0..20_u64).saturating_sub(8)).collect()
}

fn total(costs: Costs<'_>, clients: &[u32], weights: &[u32], centres: &[u32]) -> i64 {
    let nearest = nearest_costs(costs, clients, centres);
    nearest.iter().zip(weights).map(|(&c, &w)| i64::from(c) * i64::from(w)).sum()
}

/// The same search, with every swap of every candidate by its definition.
fn plain(costs: Costs<'_>, clients: &[u32], weights: &[u32], mut centres: Vec<u32>) -> Vec<u32> {
    let nodes = u32::try_from(costs.metric.nodes()).unwrap();
    let block = u32::try_from(BLOCK).unwrap();
    let (mut next, mut since_swap) = (0, 0);
    while since_swap < nodes {
        let now = total(costs, clients, weights, &centres);
        let end = nodes.min(next + block);
        let candidates = (next..end).filter(|c| !centres.contains(c));
        let swaps = candidates.flat_map(|c| (0..centres.len()).map(move |slot| (c, slot)));
        let change = |(candidate, slot): (u32, usize)| {
            let mut swapped = centres.clone();
            swapped[slot] = candidate;
            (total(costs, clients, weights, &swapped) - now, candidate, slot)
        };
        since_swap += end - next;
        if let Some((_, candidate, slot)) = swaps.map(change).min().filter(|swap| swap.0 < 0) {
            centres[slot] = candidate;
            since_swap = 0;
        }
        next = if end == nodes { 0 } else { end };
    }
    centres
}

#[test]
fn swaps_are_those_of_the_definition() {
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    for (case, (nodes, k)) in
        [(30, 1), (30, 2), (90, 5), (70, 69), (70, 70)].into_iter().enumerate()
    {
        for power in [Power::Median, Power::Means] {
            let width = if case % 2 == 0 { Width::Bits16 } else { Width::Bits24 };
            let metric = random_metric(nodes, width, &mut rng);
            let costs = Costs::new(&metric, power, Costs::SEARCH_BITS);
            let (clients, weights) = scaled_clients(&random_weights(nodes, &mut rng));
            // From a bad start, so that there is something to do.
            let start: Vec<u32> = (0..u32::try_from(k).unwrap()).collect();
            let mut caches = Caches::new(costs, &clients, &weights, start.clone());
            let settings = FasterPam::new(k, power);
            let (swaps, converged) = improve(&settings, costs, &clients, &mut caches);
            assert!(converged && (swaps > 0 || k > 60));
            assert_eq!(caches.centres, plain(costs, &clients, &weights, start));
            // What was kept up to date is what would be computed afresh.
            assert_eq!(caches, Caches::new(costs, &clients, &weights, caches.centres.clone()));
        }
    }
}

#[test]
fn the_greedy_start_takes_what_saves_most() {
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let metric = random_metric(60, Width::Bits16, &mut rng);
    let costs = Costs::new(&metric, Power::Median, Costs::SEARCH_BITS);
    let (clients, weights) = scaled_clients(&random_weights(60, &mut rng));
    let chosen = greedy(costs, 6, &clients, &weights);
    for count in 1..=6 {
        let before = &chosen[..count - 1];
        let cost = |node| total(costs, &clients, &weights, &[before, &[node]].concat());
        let best = (0..60).min_by_key(|&node| (cost(node), node)).unwrap();
        assert_eq!(chosen[count - 1], best);
    }
}

/// On 60 instances with 9 nodes, against all choices of centres: within the factors of the theorems,
/// and the best in most cases.
#[test]
fn local_optima_are_as_good_as_the_theorems_say() {
    let mut rng = ChaCha20Rng::seed_from_u64(6);
    let mut best_found = 0;
    for case in 0..60 {
        let (power, factor) =
            if case % 2 == 0 { (Power::Median, 5.0) } else { (Power::Means, 25.0) };
        let metric = random_metric(9, Width::Bits16, &mut rng);
        let weights = random_weights(9, &mut rng);
        let found = FasterPam::new(3, power).post_search(&metric, &weights).unwrap();
        let cost = |centres: &[u32]| exact_cost(&metric, power, &weights, centres);
        let triples = (0..9).flat_map(|a| (0..a).flat_map(move |b| (0..b).map(move |c| [a, b, c])));
        let best = triples.map(|centres| cost(&centres)).fold(f64::MAX, f64::min);
        assert!(found.converged && (found.cost - cost(&found.centres)).abs() < 1e-9);
        assert!(best <= found.cost && found.cost <= factor * best, "{} of {best}", found.cost);
        best_found += u32::from(found.cost <= best * (1.0 + 1e-9));
    }
    assert!(best_found >= 50, "{best_found}");
}

#[test]
fn edges_of_the_settings() {
    let mut rng = ChaCha20Rng::seed_from_u64(7);
    let metric = random_metric(50, Width::Bits16, &mut rng);
    let weights = random_weights(50, &mut rng);
    let search =
        |k, weights: &[u64]| FasterPam::new(k, Power::Median).post_search(&metric, weights);
    let all = search(50, &weights).unwrap();
    assert_eq!((all.centres.len(), all.cost), (50, 0.0));
    assert_eq!(search(3, &[0; 50]).unwrap().centres, [0, 1, 2]);
    // Weights at the end of the range are scaled down, not refused.
    let heavy: Vec<u64> = weights.iter().map(|&w| w << 55).collect();
    assert_eq!(search(4, &heavy).unwrap().centres, search(4, &weights).unwrap().centres);
    let cut = FasterPam::new(4, Power::Median).max_passes(0).post_search(&metric, &weights);
    assert!(!cut.unwrap().converged);
    let refused = |k, weights: &[u64]| search(k, weights).unwrap_err().to_string();
    assert_eq!(refused(0, &weights), "`k` must be at least 1, got 0");
    assert_eq!(refused(51, &weights), "`k` must be at most the number of nodes, got 51.0");
    assert_eq!(refused(4, &weights[1..]), "`weights` must be one per node, got 49.0");
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let mut rng = ChaCha20Rng::seed_from_u64(8);
    let metric = random_metric(2_500, Width::Bits16, &mut rng);
    let weights: Vec<u64> = (0..2_500).map(|_| rng.random_range(0..9)).collect();
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| FasterPam::new(8, Power::Means).post_search(&metric, &weights).unwrap())
    };
    assert_eq!(with(1), with(3));
}

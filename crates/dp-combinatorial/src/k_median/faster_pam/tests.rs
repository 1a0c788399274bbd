use dp_mechanism::ChaCha20Rng;
use rand::{RngExt, SeedableRng};

use super::blocks::{Blocks, LANES, by_neighbourhood};
use super::search::{BLOCK, greedy, improve, sample, scaled_clients};
use super::*;
use crate::k_median::faster_pam::caches::Caches;
use crate::k_median::metric::{Edge, Width};

fn random_metric(nodes: usize, width: Width, rng: &mut ChaCha20Rng) -> Metric {
    let points: Vec<f64> = (0..2 * nodes).map(|_| rng.random_range(0.0..1.0)).collect();
    Metric::from_points_as(&points, 2, width, true).unwrap()
}

fn random_weights(nodes: usize, rng: &mut ChaCha20Rng) -> Vec<u64> {
    (0..nodes).map(|_| rng.random_range(0..20_u64).saturating_sub(8)).collect()
}

/// Clients with their weights.
fn random_clients(nodes: usize, rng: &mut ChaCha20Rng) -> Vec<(u32, u32)> {
    let (clients, weights) = scaled_clients(&random_weights(nodes, rng));
    clients.into_iter().zip(weights).collect()
}

fn total(costs: Costs<'_>, clients: &[(u32, u32)], centres: &[u32]) -> i64 {
    let cost = |&(node, weight): &(u32, u32)| {
        let costs = centres.iter().map(|&centre| costs.of(costs.metric.between(centre, node)));
        i64::from(costs.min().unwrap()) * i64::from(weight)
    };
    clients.iter().map(cost).sum()
}

/// The same search, with every swap of every candidate by its definition.
fn plain(costs: Costs<'_>, clients: &[(u32, u32)], mut centres: Vec<u32>) -> Vec<u32> {
    let nodes = u32::try_from(costs.metric.nodes()).unwrap();
    let block = u32::try_from(BLOCK).unwrap();
    let (mut next, mut since_swap) = (0, 0);
    while since_swap < nodes {
        let now = total(costs, clients, &centres);
        let end = nodes.min(next + block);
        let candidates = (next..end).filter(|c| !centres.contains(c));
        let swaps = candidates.flat_map(|c| (0..centres.len()).map(move |slot| (c, slot)));
        let change = |(candidate, slot): (u32, usize)| {
            let mut swapped = centres.clone();
            swapped[slot] = candidate;
            (total(costs, clients, &swapped) - now, candidate, slot)
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
        [(30, 1), (30, 2), (220, 9), (90, 5), (70, 69), (70, 70)].into_iter().enumerate()
    {
        for power in [Power::Median, Power::Means] {
            let width = if case % 2 == 0 { Width::Bits16 } else { Width::Bits24 };
            let metric = random_metric(nodes, width, &mut rng);
            let costs = Costs::new(&metric, power, Costs::SEARCH_BITS);
            let mut clients = random_clients(nodes, &mut rng);
            by_neighbourhood(&metric, &mut clients);
            // From a bad start, so that there is something to do.
            let start: Vec<u32> = (0..u32::try_from(k).unwrap()).collect();
            let mut caches = Caches::new(costs, &clients, start.clone());
            let (swaps, converged) = improve(&FasterPam::new(k, power), &mut caches);
            assert!(converged && (swaps > 0 || k > 60));
            assert_eq!(caches.centres, plain(costs, &clients, start));
            // What was kept up to date is what would be computed afresh.
            assert_eq!(caches, Caches::new(costs, &clients, caches.centres.clone()));
        }
    }
}

/// No client of a block that is passed over would be served, not even as the second nearest; in a plane
/// most blocks are passed over.
#[test]
fn only_blocks_within_reach_matter() {
    let mut rng = ChaCha20Rng::seed_from_u64(9);
    let points: Vec<f64> = (0..1_200).map(|_| rng.random_range(0.0..1.0)).collect();
    let edges: Vec<Edge> =
        (1..600).map(|node| (node, rng.random_range(0..node), rng.random_range(1..9))).collect();
    let plane = |width, keep| Metric::from_points_as(&points, 2, width, keep).unwrap();
    let metrics = [
        plane(Width::Bits16, true),
        plane(Width::Bits24, false),
        Metric::from_points_as(&points, 6, Width::Bits24, true).unwrap(),
        Metric::from_graph(600, &edges, None).unwrap(),
    ];
    for (case, metric) in metrics.iter().enumerate() {
        for power in [Power::Median, Power::Means] {
            let costs = Costs::new(metric, power, Costs::SEARCH_BITS);
            let mut clients = random_clients(metric.nodes(), &mut rng);
            let mut sorted = clients.clone();
            by_neighbourhood(metric, &mut clients);
            let nodes: Vec<u32> = clients.iter().map(|&(node, _)| node).collect();
            let second: Vec<u32> = nodes
                .iter()
                .map(|&node| {
                    let cost = |centre| costs.of(metric.between(centre, node));
                    let mut costs: Vec<u32> = (0..12).map(cost).collect();
                    *costs.select_nth_unstable(1).1
                })
                .collect();
            let mut blocks = Blocks::new(metric, &nodes);
            blocks.set_reach(costs, &second);
            let (mut passed, mut buffer) = (0, Vec::new());
            for candidate in 0..u32::try_from(metric.nodes()).unwrap() {
                let near: Vec<usize> = blocks.near(metric, candidate, &mut buffer).collect();
                for (number, block) in nodes.chunks(LANES).enumerate() {
                    if near.contains(&number) {
                        continue;
                    }
                    passed += 1;
                    for (&node, &second) in block.iter().zip(&second[number * LANES..]) {
                        assert!(costs.of(metric.between(candidate, node)) >= second);
                    }
                }
            }
            let all = metric.nodes() * nodes.len().div_ceil(LANES);
            assert!(2 * passed > all || case > 1, "{passed} of {all}");
            // Nobody was lost in the ordering.
            clients.sort_unstable();
            sorted.sort_unstable();
            assert_eq!(clients, sorted);
        }
    }
}

#[test]
fn a_sample_has_its_share_of_every_stretch_of_clients() {
    let mut rng = ChaCha20Rng::seed_from_u64(10);
    let clients: Vec<(u32, u32)> =
        (0..9_000).map(|node| (node, rng.random_range(1..2_000))).collect();
    let sample = sample(&clients, 2_048);
    let weight = |all: &[(u32, u32)], below: u32| -> f64 {
        all.iter().filter(|&&(node, _)| node < below).map(|&(_, weight)| f64::from(weight)).sum()
    };
    assert_eq!(sample.iter().map(|&(_, parts)| parts).sum::<u32>(), 2_048);
    for below in (0..9_000).step_by(100) {
        let expected = weight(&clients, below) / weight(&clients, 9_000) * 2_048.0;
        let part = expected - weight(&sample, below);
        assert!((0.0..1.0).contains(&part), "{part} below {below}");
    }
}

/// So many clients that the start is found on a sample: as good as from the greedy start.
#[test]
fn a_start_from_a_sample_costs_nothing() {
    let mut rng = ChaCha20Rng::seed_from_u64(11);
    let metric = random_metric(4_500, Width::Bits16, &mut rng);
    let weights: Vec<u64> = (0..4_500).map(|_| rng.random_range(1..5)).collect();
    let settings = FasterPam::new(9, Power::Median);
    let found = settings.post_search(&metric, &weights).unwrap();
    let costs = Costs::new(&metric, Power::Median, Costs::SEARCH_BITS);
    let (clients, scaled) = scaled_clients(&weights);
    let mut clients: Vec<(u32, u32)> = clients.into_iter().zip(scaled).collect();
    by_neighbourhood(&metric, &mut clients);
    let mut caches = Caches::new(costs, &clients, greedy(costs, 9, &clients));
    improve(&settings, &mut caches);
    let greedy = exact_cost(&metric, Power::Median, &weights, &caches.centres).unwrap();
    assert!(found.converged && found.cost < 1.01 * greedy, "{} for {greedy}", found.cost);
}

#[test]
fn the_greedy_start_takes_what_saves_most() {
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let metric = random_metric(60, Width::Bits16, &mut rng);
    let costs = Costs::new(&metric, Power::Median, Costs::SEARCH_BITS);
    let clients = random_clients(60, &mut rng);
    let chosen = greedy(costs, 6, &clients);
    for count in 1..=6 {
        let before = &chosen[..count - 1];
        let cost = |node| total(costs, &clients, &[before, &[node]].concat());
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
        let cost = |centres: &[u32]| exact_cost(&metric, power, &weights, centres).unwrap();
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
    let cut = FasterPam { max_passes: 0, ..FasterPam::new(4, Power::Median) };
    let cut = cut.post_search(&metric, &weights);
    assert!(!cut.unwrap().converged);
    let refused = |k, weights: &[u64]| search(k, weights).unwrap_err().to_string();
    assert_eq!(refused(0, &weights), "k must be at least 1, got 0");
    assert_eq!(refused(51, &weights), "k must be at most the number of nodes, which is 50, got 51");
    assert_eq!(
        refused(4, &weights[1..]),
        "there must be as many weights as nodes, which are 50, got 49"
    );
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let mut rng = ChaCha20Rng::seed_from_u64(8);
    // So many that the start is found on a sample.
    let metric = random_metric(4_500, Width::Bits16, &mut rng);
    let weights: Vec<u64> = (0..4_500).map(|_| rng.random_range(1..9)).collect();
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| FasterPam::new(8, Power::Means).post_search(&metric, &weights).unwrap())
    };
    assert_eq!(with(1), with(3));
}

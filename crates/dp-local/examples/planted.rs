//! Planted clusters, measured: the cost of locally private centres over that of k-means, after each round, beside two trivial ways: the
//! centres of uniform points, for which nobody is asked, and clients who send their coordinates with Laplace noise.
//!
//! `cargo run --release -p dp-local --example planted -- [RUNS] [CLIENTS] [FIRST ROW] [LAST ROW] [ROUNDS] [FIRST SEED]`
#![allow(clippy::print_stdout, reason = "a program that prints what it measures")]

use dp_local::{LocalKMeans, LocalKMeansSettings, Points, PublicBox, Server};
use dp_mechanism::ChaCha20Rng;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Exp1, Normal};
use rayon::prelude::*;

const K: usize = 8;

/// Gaussian clusters in `[-1, 1]^d`, centres at least .5 apart; also the planted centres.
fn planted(
    n: usize,
    dim: usize,
    sd: f64,
    unequal: bool,
    rng: &mut ChaCha20Rng,
) -> (Points, Vec<f64>) {
    let mut centres: Vec<f64> = Vec::new();
    while centres.len() < K * dim {
        let new: Vec<f64> = (0..dim).map(|_| rng.random_range(-0.9..0.9)).collect();
        if centres.chunks_exact(dim).all(|centre| squared(centre, &new) >= 0.25) {
            centres.extend(new);
        }
    }
    let sizes: Vec<f64> = (1..=K).map(|i| if unequal { 1.0 / i as f64 } else { 1.0 }).collect();
    let total: f64 = sizes.iter().sum();
    let normal = Normal::new(0.0, sd).expect("positive");
    let mut coords = Vec::with_capacity(n * dim);
    for _ in 0..n {
        let mut left = rng.random::<f64>() * total;
        let at = sizes
            .iter()
            .position(|size| {
                left -= size;
                left < 0.0
            })
            .unwrap_or(0);
        for j in 0..dim {
            coords.push((centres[at * dim + j] + normal.sample(rng)).clamp(-1.0, 1.0));
        }
    }
    (Points::new(coords, dim).expect("whole rows"), centres)
}

fn squared(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum()
}

fn cost(points: &Points, centres: &[f64]) -> f64 {
    let dim = points.dim();
    let least = |row: &[f64]| {
        centres.chunks_exact(dim).map(|centre| squared(row, centre)).fold(f64::INFINITY, f64::min)
    };
    points.view().coords().par_chunks_exact(dim).map(least).sum()
}

/// Centres of uniform points.
fn nobody(dim: usize, rng: &mut ChaCha20Rng) -> Vec<f64> {
    let uniform = (0..4_000 * dim).map(|_| rng.random_range(-1.0..1.0)).collect();
    let uniform = Points::new(uniform, dim).expect("whole rows");
    let runs = (0..5).map(|_| {
        let start: Vec<f64> = (0..K * dim).map(|_| rng.random_range(-1.0..1.0)).collect();
        let found = (0..5).fold(start, |centres, _| lloyd(&uniform, &centres));
        (cost(&uniform, &found), found)
    });
    runs.min_by(|a, b| a.0.total_cmp(&b.0)).expect("five").1
}

/// The records as clients would send them with Laplace noise, clipped to the cube: all coordinates may change, each by 2.
fn noisy(points: &Points, epsilon: f64, rng: &mut ChaCha20Rng) -> Points {
    let scale = 2.0 * points.dim() as f64 / epsilon;
    let coords = points.view().coords().iter().map(|x| {
        let size: f64 = Exp1.sample(rng);
        let noise = if rng.random() { scale * size } else { -scale * size };
        (x + noise).clamp(-1.0, 1.0)
    });
    Points::new(coords.collect(), points.dim()).expect("whole rows")
}

/// Lloyd from the planted centres: what k-means++ finds at its best.
fn lloyd(points: &Points, start: &[f64]) -> Vec<f64> {
    let dim = points.dim();
    let mut centres = start.to_vec();
    for _ in 0..10 {
        let (mut sums, mut sizes) = (vec![0.0; centres.len()], vec![0.0_f64; K]);
        for row in points.view().rows() {
            let of = |at: usize| squared(row, &centres[at * dim..(at + 1) * dim]);
            let at = (0..K).min_by(|a, b| of(*a).total_cmp(&of(*b))).expect("some");
            sizes[at] += 1.0;
            (0..dim).for_each(|j| sums[at * dim + j] += row[j]);
        }
        for (x, (at, sum)) in centres.iter_mut().zip(sums.iter().enumerate()) {
            *x = sum / sizes[at / dim].max(1.0);
        }
    }
    centres
}

fn main() {
    let arguments: Vec<usize> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let runs = arguments.first().copied().unwrap_or(3) as u64;
    let n = arguments.get(1).copied().unwrap_or(1_000_000);
    let sets =
        [(2, 0.06, false), (3, 0.12, false), (4, 0.08, false), (4, 0.08, true), (10, 0.05, false)];
    let first = arguments.get(2).copied().unwrap_or(0);
    let last = arguments.get(3).copied().unwrap_or(sets.len() - 1);
    let first_seed = arguments.get(5).map_or(1_001, |seed| *seed as u64);
    let rounds = arguments.get(4).and_then(|rounds| u8::try_from(*rounds).ok()).unwrap_or(3);
    for &(dim, sd, unequal) in &sets[first..=last] {
        let mut rows = vec![Vec::new(); 3];
        let mut trivial = [0.0; 4];
        for run in 0..runs {
            let mut rng = ChaCha20Rng::seed_from_u64(first_seed + run);
            let (points, centres) = planted(n, dim, sd, unequal, &mut rng);
            let best = cost(&points, &lloyd(&points, &centres));
            let each = best * runs as f64;
            trivial[0] += cost(&points, &nobody(dim, &mut rng)) / each;
            for (sum, epsilon) in trivial[1..].iter_mut().zip([1.0, 2.0, 4.0]) {
                // From the planted centres, which nobody would know.
                let found = lloyd(&noisy(&points, epsilon, &mut rng), &centres);
                *sum += cost(&points, &found) / each;
            }
            for (row, epsilon) in rows.iter_mut().zip([1.0, 2.0, 4.0]) {
                let domain = PublicBox::cube(dim, -1.0, 1.0).expect("a box");
                let clients = u32::try_from(n).expect("clients");
                let plan = LocalKMeans::new(
                    domain,
                    K,
                    epsilon,
                    clients,
                    LocalKMeansSettings { rounds, ..Default::default() },
                )
                .expect("valid");
                let session = plan.session(run);
                let mut server = Server::new(session.clone());
                let mut ratios = Vec::new();
                while !server.is_finished() {
                    let record = |client: u32| Some(&points[client as usize]);
                    session.simulate_round(&mut server, record, &mut rng).expect("answers");
                    server.finish_round().expect("a round");
                    let found = server.centres().expect("a round is over");
                    ratios.push(cost(&points, found.centres.view().coords()) / best);
                }
                row.push((ratios, plan.cells_per_axis()));
            }
        }
        println!("nobody asked {:.2}; Laplace {:.2?}", trivial[0], &trivial[1..]);
        for (row, epsilon) in rows.iter().zip([1, 2, 4]) {
            let rounds = row[0].0.len();
            let mean = |t: usize| row.iter().map(|r| r.0[t]).sum::<f64>() / row.len() as f64;
            let worst = row.iter().map(|r| r.0[rounds - 1]).fold(0.0, f64::max);
            let means: Vec<String> = (0..rounds).map(|t| format!("{:.4}", mean(t))).collect();
            let kind = if unequal { "unequal" } else { "equal" };
            let finals: Vec<String> =
                row.iter().map(|r| format!("{:.3}", r.0[rounds - 1])).collect();
            println!(
                "d {dim} sd {sd} {kind} epsilon {epsilon} cells {} rounds {} worst {worst:.4} ({})",
                row[0].1,
                means.join(" "),
                finals.join(" ")
            );
        }
    }
}

//! What the constant-factor algorithms find, beside what is recommended: candidates for planted balls, re-centred starts, one search.
//!
//! `cargo run --release -p dp-cluster --example candidates -- [RUNS]`, or `-- RUNS PATH COLUMNS CLUSTERS` for DPM re-centred and the
//! recommended plan on a file (CSV with a header; the first columns are taken), in the box of its records.
#![allow(clippy::print_stdout, reason = "a program that prints what it measures")]

use std::error::Error;
use std::time::Instant;

use dp_cluster::kmeans::{KMeans, KMeansSettings};
use dp_cluster::metrics::squared_inertia;
use dp_cluster::private_centres::{PrivateCentres, PrivateCentresSettings};
use dp_cluster::private_kmeans::{PrivateKMeans, PrivateKMeansSettings};
use dp_cluster::private_local_search::{PrivateLocalSearch, PrivateLocalSearchSettings};
use dp_cluster::recentring::{DpmRecentred, DpmRecentredSettings, Recentred, Rounds, part_of};
use dp_cluster::stemmer_kaplan::{StemmerKaplan, StemmerKaplanSettings};
use dp_cluster::{Budget, ChaCha20Rng, Mechanism, Points, PublicBox};
use rand::{RngExt, SeedableRng};

const DIM: usize = 4;
const RADIUS: f64 = 0.02;

fn main() -> Result<(), Box<dyn Error>> {
    let runs = std::env::args().nth(1).map_or(Ok(10), |word| word.parse())?;
    let number = |at: usize| std::env::args().nth(at).and_then(|word| word.parse().ok());
    if let (Some(path), Some(columns), Some(k)) = (std::env::args().nth(2), number(3), number(4)) {
        return file(&path, columns, k, runs);
    }
    balls(runs)?;
    search()
}

/// Each record once, cost over that of k-means with the records in hand.
fn file(path: &str, columns: usize, k: usize, runs: u64) -> Result<(), Box<dyn Error>> {
    let text = std::fs::read_to_string(path)?;
    let mut coords = Vec::new();
    for line in text.lines().skip(1) {
        for field in line.split(',').take(columns) {
            coords.push(field.trim().parse::<f64>()?);
        }
    }
    let points = Points::new(coords, columns)?;
    let along = |j: usize| points.view().rows().map(move |row| row[j]).collect::<Vec<f64>>();
    let low = (0..columns).map(|j| along(j).into_iter().fold(f64::MAX, f64::min)).collect();
    let high = (0..columns).map(|j| along(j).into_iter().fold(f64::MIN, f64::max)).collect();
    let domain = PublicBox::new(low, high)?;
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let solver = KMeans::new(k, KMeansSettings::default())?;
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let found = solver.exact_fit(points.view(), None, &mut rng)?.centres;
        best = best.min(squared_inertia(points.view(), found.view())?);
    }
    for epsilon in [1.0, 2.0, 4.0] {
        let budget = Budget::new(epsilon, 1e-6)?;
        let (mut dpm, mut recommended) = (Vec::new(), Vec::new());
        for _ in 0..runs {
            let cost = |found: &Points| {
                squared_inertia(points.view(), found.view()).expect("alike") / best
            };
            let settings = DpmRecentredSettings { clusters: Some(k), ..Default::default() };
            let plan = DpmRecentred::new(domain.clone(), budget, settings)?;
            dpm.push(cost(&plan.simulate(points.view(), &mut rng)?.output.centres));
            let expected_records = Some(points.len() as u64);
            let settings = PrivateKMeansSettings { expected_records, ..Default::default() };
            let plan = PrivateKMeans::new(domain.clone(), k, budget, settings)?;
            recommended.push(cost(&plan.simulate(points.view(), &mut rng)?.output.centres));
        }
        let [dpm, recommended] = [&dpm, &recommended].map(|list| mean_and_worst(list));
        println!("epsilon {epsilon}: DPM re-centred {dpm:.4?}; recommended {recommended:.4?}");
    }
    Ok(())
}

/// Balls of this radius, with the centres.
fn planted(n: usize, k: usize, seed: u64) -> Result<(Points, Points), Box<dyn Error>> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut centres: Vec<f64> = Vec::new();
    while centres.len() < k * DIM {
        let new: Vec<f64> = (0..DIM).map(|_| rng.random_range(-0.9..0.9)).collect();
        let squared =
            |old: &[f64]| -> f64 { old.iter().zip(&new).map(|(a, b)| (a - b) * (a - b)).sum() };
        if centres.chunks_exact(DIM).all(|old| squared(old) >= 0.25) {
            centres.extend(new);
        }
    }
    let half = RADIUS / (DIM as f64).sqrt();
    let place = |at: usize| centres[at / DIM % k * DIM + at % DIM];
    let coords = (0..n * DIM).map(|at| place(at) + rng.random_range(-half..half)).collect();
    Ok((Points::new(coords, DIM)?, Points::new(centres, DIM)?))
}

fn mean_and_worst(list: &[f64]) -> (f64, f64) {
    let mean = list.iter().sum::<f64>() / list.len() as f64;
    (mean, list.iter().copied().fold(0.0, f64::max))
}

/// Five balls: how far the nearest candidate is from the worst of them, and the cost of re-centred starts over that of the planted centres.
fn balls(runs: u64) -> Result<(), Box<dyn Error>> {
    let cube = PublicBox::cube(DIM, -1.0, 1.0)?;
    for (n, epsilon) in [(100_000, 1.0), (100_000, 0.3), (20_000, 1.0), (20_000, 0.3)] {
        let budget = Budget::new(epsilon, 1e-6)?;
        let part = part_of(budget, 0.5)?;
        let (mut far, mut stated) = (Vec::new(), 0.0);
        let (mut paper, mut dpm) = (Vec::new(), Vec::new());
        for seed in 0..runs {
            let (points, centres) = planted(n, 5, 130_001 + seed)?;
            let mut rng = ChaCha20Rng::seed_from_u64(seed);
            let settings = PrivateCentresSettings { public_seed: seed, ..Default::default() };
            let plan = PrivateCentres::new(cube.clone(), 5, budget, settings)?;
            stated = plan.cell_diagonal(4);
            let found = plan.simulate(points.view(), &mut rng)?.output;
            let nearest = |ball: &[f64]| {
                let squared = |one: &[f64]| -> f64 {
                    one.iter().zip(ball).map(|(a, b)| (a - b) * (a - b)).sum()
                };
                found.points().rows().map(squared).fold(f64::INFINITY, f64::min).sqrt()
            };
            far.push(centres.view().rows().map(nearest).fold(0.0, f64::max));
            let best = squared_inertia(points.view(), centres.view())?;
            let cost = |found: &Points| {
                let none = found.is_empty();
                if none {
                    f64::INFINITY
                } else {
                    squared_inertia(points.view(), found.view()).expect("alike") / best
                }
            };
            let settings = StemmerKaplanSettings::default();
            let start = StemmerKaplan::new(cube.clone(), 5, part, settings)?;
            let plan = Recentred::new(start, cube.clone(), budget, Rounds::default(), Some(5))?;
            paper.push(cost(&plan.simulate(points.view(), &mut rng)?.output.centres));
            let settings = DpmRecentredSettings { clusters: Some(5), ..Default::default() };
            let plan = DpmRecentred::new(cube.clone(), budget, settings)?;
            dpm.push(cost(&plan.simulate(points.view(), &mut rng)?.output.centres));
        }
        println!("n {n} epsilon {epsilon}, {runs} runs, mean and worst:");
        println!(
            "  farthest ball from its candidate {:.4?}, stated {stated:.2}",
            mean_and_worst(&far)
        );
        println!(
            "  paper re-centred {:.4?}; DPM re-centred {:.4?}",
            mean_and_worst(&paper),
            mean_and_worst(&dpm)
        );
    }
    Ok(())
}

/// The whole of one choice among 500 candidates, of which none was looked at.
fn search() -> Result<(), Box<dyn Error>> {
    let cube = PublicBox::cube(DIM, -1.0, 1.0)?;
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let coords = (0..500 * DIM).map(|_| rng.random_range(-1.0..1.0)).collect();
    let candidates = Points::new(coords, DIM)?;
    let (points, _) = planted(100_000, 8, 7)?;
    let plan = PrivateLocalSearch::new(
        candidates,
        cube,
        8,
        Budget::new(1.0, 1e-6)?,
        PrivateLocalSearchSettings::default(),
    )?;
    for _ in 0..3 {
        let clock = Instant::now();
        let _ = plan.simulate(points.view(), &mut rng)?;
        println!("500 candidates, k 8, 100,000 records: {:.2} s", clock.elapsed().as_secs_f64());
    }
    Ok(())
}

//! What the planted clusters of `planted` do not show: small groups beside large ones, liars, the server alone, files of records.
//!
//! `cargo run --release -p dp-local --example limits -- hidden [RUNS]`, `-- liars [RUNS] [CLIENTS]`, `-- server [CLIENTS]`, `-- start [CLUSTERS]` or
//! `-- file PATH COLUMNS CLUSTERS [RUNS]` (CSV with a header; the first columns are taken).
#![allow(clippy::print_stdout, reason = "a program that prints what it measures")]

use std::collections::BTreeMap;
use std::error::Error;
use std::time::Instant;

use dp_local::{LocalKMeans, LocalKMeansSettings, Message, Points, PublicBox, RoundAnswer, Server};
use dp_mechanism::{ChaCha20Rng, Mechanism};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Normal};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, usual: usize| {
        arguments.get(at).and_then(|text| text.parse().ok()).unwrap_or(usual)
    };
    match arguments.first().map(String::as_str) {
        Some("hidden") => hidden(number(1, 10)),
        Some("liars") => liars(number(1, 10), number(2, 100_000)),
        Some("server") => server(number(1, 1_000_000)),
        Some("start") => start(number(1, 16)),
        Some("file") => {
            let path = arguments.get(1).ok_or("a path")?;
            file(path, number(2, 2), number(3, 8), number(4, 10))
        }
        _ => Err("hidden, liars, server, start or file".into()),
    }
}

fn gaussian(centre: [f64; 2], sd: f64, rng: &mut ChaCha20Rng) -> Result<[f64; 2], Box<dyn Error>> {
    let normal = Normal::new(0.0, sd)?;
    Ok(centre.map(|x| x + normal.sample(rng)))
}

/// A group far from a large one of no Gaussian shape, `k` = 2, where k-means has a centre at each: in how many runs a centre is at it, and in how many nothing is said of it while
/// both centres claim to be sure.
fn hidden(runs: usize) -> Result<(), Box<dyn Error>> {
    let small = [0.7, 0.7];
    for n in [100_000_u32, 1_000_000] {
        for (name, share) in [("square", 0.01), ("square", 0.03), ("ring", 0.01), ("ring", 0.03)] {
            for epsilon in [1.0, 2.0, 4.0] {
                let (mut found, mut silent) = (0, 0);
                for run in 0..runs as u64 {
                    let mut rng = ChaCha20Rng::seed_from_u64(70_001 + run);
                    let mut coords = Vec::new();
                    for _ in 0..n {
                        coords.extend(if rng.random::<f64>() < share {
                            gaussian(small, 0.05, &mut rng)?
                        } else if name == "square" {
                            [-0.4, -0.3].map(|x: f64| x + rng.random_range(-0.2..0.2))
                        } else {
                            let angle = rng.random_range(0.0..std::f64::consts::TAU);
                            gaussian(
                                [-0.3 + 0.2 * angle.cos(), -0.3 + 0.2 * angle.sin()],
                                0.04,
                                &mut rng,
                            )?
                        });
                    }
                    let points = Points::new(coords, 2)?;
                    let server = LocalKMeans::new(
                        PublicBox::cube(2, -1.0, 1.0)?,
                        2,
                        epsilon,
                        n,
                        LocalKMeansSettings::default(),
                    )?
                    .simulate(run, points.view(), &mut rng)?;
                    let centres = server.centres().ok_or("over")?;
                    let near = |row: &[f64]| (row[0] - small[0]).hypot(row[1] - small[1]) < 0.15;
                    let is_found = centres.centres.view().rows().any(near);
                    found += usize::from(is_found);
                    silent +=
                        usize::from(!is_found && centres.standard_errors.iter().all(|e| *e < 0.1));
                }
                println!(
                    "n {n} {name} {share} epsilon {epsilon}: found {found}, missed and sure {silent} of {runs}"
                );
            }
        }
    }
    Ok(())
}

/// Clients in Gaussian clusters, in turn, and the middles of these.
fn planted(
    n: u32,
    dim: usize,
    k: usize,
    rng: &mut ChaCha20Rng,
) -> Result<(Points, Vec<f64>), Box<dyn Error>> {
    let mut centres: Vec<Vec<f64>> = Vec::new();
    while centres.len() < k {
        let new: Vec<f64> = (0..dim).map(|_| rng.random_range(-0.9..0.9)).collect();
        let apart = |centre: &Vec<f64>| {
            centre.iter().zip(&new).map(|(x, y)| (x - y) * (x - y)).sum::<f64>() >= 0.16
        };
        if centres.iter().all(apart) {
            centres.push(new);
        }
    }
    let normal = Normal::new(0.0, 0.08)?;
    let mut coords = Vec::with_capacity(n as usize * dim);
    for i in 0..n as usize {
        coords.extend(centres[i % k].iter().map(|x| (x + normal.sample(rng)).clamp(-1.0, 1.0)));
    }
    Ok((Points::new(coords, dim)?, centres.concat()))
}

/// The most memory that the process has had, as far as the system says.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    line.unwrap_or("VmHWM: unknown").to_owned()
}

/// Four rounds in four dimensions, k 8: the whole in memory, then the server alone, from bytes that clients have sent.
fn server(clients: usize) -> Result<(), Box<dyn Error>> {
    let n = u32::try_from(clients)?;
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let (points, _) = planted(n, 4, 8, &mut rng)?;
    for epsilon in [1.0, 4.0] {
        let plan = LocalKMeans::new(
            PublicBox::cube(4, -1.0, 1.0)?,
            8,
            epsilon,
            n,
            LocalKMeansSettings::default(),
        )?;
        let clock = Instant::now();
        plan.simulate(1, points.view(), &mut rng)?;
        println!(
            "epsilon {epsilon}: clients and server {:.2} s, {}",
            clock.elapsed().as_secs_f64(),
            peak()
        );
        let session = plan.session(2);
        let mut server = Server::new(session.clone());
        let (mut counting, mut decoding) = (0.0, Vec::new());
        while !server.is_finished() {
            let question = server.question().clone();
            let round = question.round();
            let mut sent = Vec::new();
            for client in (0..n).filter(|client| session.round_of(*client) == round) {
                let answer = RoundAnswer::new(&session, &question, client)?;
                let record = Some(&points[client as usize]);
                let symbol = answer.simulate(record, &mut rng)?.output;
                let plan = plan.hash();
                let message = Message { plan, session: 2, round, client, symbol };
                sent.push(message.to_bytes(&session));
            }
            let clock = Instant::now();
            for bytes in &sent {
                server.receive(bytes)?;
            }
            counting += clock.elapsed().as_secs_f64();
            let clock = Instant::now();
            server.finish_round()?;
            decoding.push(clock.elapsed().as_secs_f64());
        }
        let all = counting + decoding.iter().sum::<f64>();
        println!(
            "epsilon {epsilon}: server alone {all:.2} s: receiving {counting:.2}, rounds {decoding:.2?}; {}, state {} bytes",
            peak(),
            server.to_bytes().len()
        );
    }
    Ok(())
}

/// Liars in every round: each sends the symbol that says most surely that it is at a place where nobody is. In how many runs a centre goes there, and what the honest clients'
/// clusters cost, as a multiple of what their middles do.
fn liars(runs: usize, clients: usize) -> Result<(), Box<dyn Error>> {
    let (n, dim, k) = (u32::try_from(clients)?, 2, 8);
    for epsilon in [1.0, 4.0] {
        let plan = LocalKMeans::new(
            PublicBox::cube(dim, -1.0, 1.0)?,
            k,
            epsilon,
            n,
            LocalKMeansSettings::default(),
        )?;
        for per_mille in [0, 1, 3, 10, 30, 100] {
            let liars = n / 1000 * per_mille;
            let (mut stolen, mut ratios) = (0, Vec::new());
            for run in 0..runs as u64 {
                let mut rng = ChaCha20Rng::seed_from_u64(80_001 + run);
                let (points, middles) = planted(n, dim, k, &mut rng)?;
                let free = (0..10_000).map(|_| [0; 2].map(|_: u8| rng.random_range(-1.0..1.0)));
                let away = |place: &[f64; 2]| nearest(place, &middles).1;
                let place = free.max_by(|a, b| away(a).total_cmp(&away(b))).ok_or("places")?;
                let centres = with_liars(&plan, &points, liars, &place, run, &mut rng)?;
                let honest = &points.view().coords()[liars as usize * dim..];
                let honest = Points::new(honest.to_vec(), dim)?;
                ratios.push(cost(&honest, &centres) / cost(&honest, &middles));
                stolen += usize::from(nearest(&place, &centres).1 < 0.15 * 0.15);
            }
            let mean = ratios.iter().sum::<f64>() / runs as f64;
            let worst = ratios.iter().copied().fold(0.0, f64::max);
            println!(
                "n {n} epsilon {epsilon} liars {} %: a centre there in {stolen} of {runs}, cost {mean:.3} / {worst:.3}",
                f64::from(per_mille) / 10.0
            );
        }
    }
    Ok(())
}

/// The centres of a session in which the first clients lie.
fn with_liars(
    plan: &LocalKMeans,
    points: &Points,
    liars: u32,
    place: &[f64],
    number: u64,
    rng: &mut ChaCha20Rng,
) -> Result<Vec<f64>, Box<dyn Error>> {
    let session = plan.session(number);
    let mut server = Server::new(session.clone());
    while !server.is_finished() {
        let question = server.question().clone();
        let round = question.round();
        // What an honest client there would say most often, by class: found by trying.
        let mut surest: BTreeMap<u32, u32> = BTreeMap::new();
        for client in (0..plan.clients()).filter(|client| session.round_of(*client) == round) {
            let answer = RoundAnswer::new(&session, &question, client)?;
            let class = session.class_of(client);
            let symbol = if client >= liars {
                answer.simulate(Some(&points[client as usize]), rng)?.output
            } else if let Some(known) = surest.get(&class) {
                *known
            } else {
                let mut tried: BTreeMap<u32, u32> = BTreeMap::new();
                for _ in 0..1_000 {
                    *tried.entry(answer.simulate(Some(place), rng)?.output).or_default() += 1;
                }
                let best = tried.into_iter().max_by_key(|(_, times)| *times).ok_or("tried")?.0;
                surest.insert(class, best);
                best
            };
            let plan = plan.hash();
            let message = Message { plan, session: number, round, client, symbol };
            server.receive(&message.to_bytes(&session))?;
        }
        server.finish_round()?;
    }
    Ok(server.centres().ok_or("over")?.centres.into_coords())
}

/// How long the first round takes to decode, and to go through all.
fn start(k: usize) -> Result<(), Box<dyn Error>> {
    for (dim, epsilon) in [(2, 1.0), (2, 4.0), (4, 1.0), (4, 4.0)] {
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        let n = 1_000_000;
        let (points, _) = planted(n, dim, k.min(if dim == 2 { 12 } else { 64 }), &mut rng)?;
        let plan = LocalKMeans::new(
            PublicBox::cube(dim, -1.0, 1.0)?,
            k,
            epsilon,
            n,
            LocalKMeansSettings::default(),
        )?;
        let session = plan.session(1);
        let mut server = Server::new(session.clone());
        let record = |client: u32| Some(&points[client as usize]);
        session.simulate_round(&mut server, record, &mut rng)?;
        let clock = Instant::now();
        server.finish_round()?;
        let centres = server.centres().ok_or("over")?.centres;
        let cost = cost(&points, centres.view().coords()) / f64::from(n) / dim as f64 / 0.0064;
        println!(
            "d {dim} k {k} epsilon {epsilon}, {} cells: {:.2} s; cost over variances {cost:.3}",
            plan.cells_per_axis(),
            clock.elapsed().as_secs_f64()
        );
    }
    Ok(())
}

fn squared(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum()
}

fn nearest(row: &[f64], centres: &[f64]) -> (usize, f64) {
    let all = centres.chunks_exact(row.len()).map(|centre| squared(row, centre)).enumerate();
    all.fold((0, f64::INFINITY), |best, one| if one.1 < best.1 { one } else { best })
}

fn cost(points: &Points, centres: &[f64]) -> f64 {
    points.view().rows().map(|row| nearest(row, centres).1).sum()
}

/// The best of twenty k-means++ with the records in hand, each until nothing moves.
fn solved(points: &Points, k: usize, rng: &mut ChaCha20Rng) -> Vec<f64> {
    let (dim, n) = (points.dim(), points.len());
    let mut best = (f64::INFINITY, Vec::new());
    for _ in 0..20 {
        let mut centres = points[rng.random_range(0..n)].to_vec();
        while centres.len() < k * dim {
            let apart: Vec<f64> =
                points.view().rows().map(|row| nearest(row, &centres).1).collect();
            let mut left = rng.random::<f64>() * apart.iter().sum::<f64>();
            let hit = apart.iter().position(|x| {
                left -= x;
                left < 0.0
            });
            centres.extend_from_slice(&points[hit.unwrap_or(0)]);
        }
        for _ in 0..500 {
            let before = centres.clone();
            let (mut sums, mut sizes) = (vec![0.0; centres.len()], vec![0.0_f64; k]);
            for row in points.view().rows() {
                let at = nearest(row, &centres).0;
                sizes[at] += 1.0;
                (0..dim).for_each(|j| sums[at * dim + j] += row[j]);
            }
            for (x, (at, sum)) in centres.iter_mut().zip(sums.iter().enumerate()) {
                *x = sum / sizes[at / dim].max(1.0);
            }
            if centres == before {
                break;
            }
        }
        let cost = cost(points, &centres);
        if cost < best.0 {
            best = (cost, centres);
        }
    }
    best.1
}

/// Records of a file in a box that fits, against k-means with them in hand, and against that of uniform points, which asks nobody.
fn file(path: &str, columns: usize, k: usize, runs: usize) -> Result<(), Box<dyn Error>> {
    let text = std::fs::read_to_string(path)?;
    let mut coords = Vec::new();
    for line in text.lines().skip(1) {
        for field in line.split(',').take(columns) {
            coords.push(field.trim().parse::<f64>()?);
        }
    }
    let points = Points::new(coords, columns)?;
    let along = |j: usize| points.view().rows().map(move |row| row[j]);
    let low: Vec<f64> = (0..columns).map(|j| along(j).fold(f64::MAX, f64::min)).collect();
    let high: Vec<f64> = (0..columns).map(|j| along(j).fold(f64::MIN, f64::max)).collect();
    let domain = PublicBox::new(low.clone(), high.clone())?;
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let best = cost(&points, &solved(&points, k, &mut rng));
    let uniform = (0..20_000).flat_map(|_| {
        low.iter().zip(&high).map(|(a, b)| rng.random_range(*a..*b)).collect::<Vec<f64>>()
    });
    let uniform = Points::new(uniform.collect(), columns)?;
    let nobody = cost(&points, &solved(&uniform, k, &mut rng)) / best;
    println!("{path}: {} records, k {k}; nobody asked {nobody:.3}", points.len());
    for epsilon in [1.0, 2.0, 4.0] {
        let n = u32::try_from(points.len())?;
        let plan = LocalKMeans::new(domain.clone(), k, epsilon, n, LocalKMeansSettings::default())?;
        let mut ratios = Vec::new();
        for run in 0..runs as u64 {
            let server = plan.simulate(90_001 + run, points.view(), &mut rng)?;
            let found = server.centres().ok_or("over")?;
            ratios.push(cost(&points, found.centres.view().coords()) / best);
        }
        let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
        println!(
            "epsilon {epsilon}: {mean:.3} / {:.3}",
            ratios.iter().copied().fold(0.0, f64::max)
        );
    }
    Ok(())
}

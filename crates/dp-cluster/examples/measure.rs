use dp_cluster::kmeans::KMeans;
use dp_cluster::lsh_splits::LshSplits;
use dp_cluster::metrics::squared_inertia;
use dp_cluster::recentring::{DpmRecentred, Recentred, Rounds, part_of};
use dp_cluster::rings::RingRounds;
use dp_cluster::{Budget, ChaCha20Rng, Mechanism, Points, PublicBall, PublicBox};
use rand::{RngExt, SeedableRng};
use std::time::Instant;

fn normal(rng: &mut ChaCha20Rng) -> f64 {
    let r = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
    r * (std::f64::consts::TAU * rng.random::<f64>()).cos()
}

struct Set {
    points: Points,
    bx: PublicBox,
    k: usize,
}

fn blobs(
    n: usize,
    d: usize,
    k: usize,
    range: f64,
    sd: f64,
    w: &[f64],
    seed: u64,
    wide: f64,
) -> Set {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let centres: Vec<f64> = (0..k * d).map(|_| rng.random_range(-range..range)).collect();
    let total: f64 = (0..k).map(|j| w[j % w.len()]).sum();
    let mut coords = Vec::new();
    for j in 0..k {
        let m = (n as f64 * w[j % w.len()] / total).round() as usize;
        for _ in 0..m {
            for i in 0..d {
                let x = centres[j * d + i] + sd * normal(&mut rng);
                coords.push(x.clamp(-range * 1.1, range * 1.1));
            }
        }
    }
    Set {
        points: Points::new(coords, d).unwrap(),
        bx: PublicBox::cube(d, -range * 1.1 * wide, range * 1.1 * wide).unwrap(),
        k,
    }
}

fn csv(path: &str, k: usize, lo: f64, hi: f64) -> Set {
    let text = std::fs::read_to_string(path).unwrap();
    let rows: Vec<Vec<f64>> =
        text.lines().map(|l| l.split(',').map(|x| x.trim().parse().unwrap()).collect()).collect();
    let d = rows[0].len();
    let bx = PublicBox::cube(d, lo, hi).unwrap();
    let coords = rows.into_iter().flatten().map(|x: f64| x.clamp(lo, hi)).collect();
    Set { points: Points::new(coords, d).unwrap(), bx, k }
}

fn set(name: &str, seed: u64) -> Set {
    let w = [100.0, 10.0, 1.0];
    match name {
        "unb5" => blobs(100_000, 5, 12, 100.0, 2.0, &w, seed, 1.0),
        "unb10" => blobs(100_000, 10, 12, 100.0, 2.0, &w, seed, 1.0),
        "unb30" => blobs(100_000, 30, 12, 100.0, 2.0, &w, seed, 1.0),
        "small10" => blobs(2_000, 10, 5, 100.0, 3.0, &[1.0], seed, 1.0),
        "small2" => blobs(2_000, 2, 5, 100.0, 5.0, &[1.0], seed, 1.0),
        "b50" => blobs(50_000, 50, 20, 100.0, 2.0, &[1.0], seed, 1.0),
        "b10" => blobs(30_000, 10, 20, 100.0, 2.0, &[1.0], seed, 1.0),
        "synth10" => blobs(100_000, 10, 64, 100.0, 1.0, &[1.0], seed, 1.0),
        "synth100" => blobs(100_000, 100, 64, 100.0, 1.0, &[1.0], seed, 1.0),
        "box1" => blobs(50_000, 5, 16, 100.0, 2.0, &[1.0], seed, 1.0),
        "box10" => blobs(50_000, 5, 16, 100.0, 2.0, &[1.0], seed, 10.0),
        "box100" => blobs(50_000, 5, 16, 100.0, 2.0, &[1.0], seed, 100.0),
        "box1000" => blobs(50_000, 5, 16, 100.0, 2.0, &[1.0], seed, 1000.0),
        "corner100" | "corner10" => {
            let s = blobs(50_000, 5, 16, 100.0, 2.0, &[1.0], seed, 1.0);
            let f = if name == "corner100" { 100.0 } else { 10.0 };
            Set { bx: PublicBox::cube(5, -110.0, -110.0 + 220.0 * f).unwrap(), ..s }
        }
        "column" => {
            let s = blobs(50_000, 5, 16, 100.0, 2.0, &[1.0], seed, 1.0);
            let mut c = s.points.into_coords();
            c.iter_mut().step_by(5).for_each(|x| *x *= 1000.0);
            let mut hi = vec![110.0; 5];
            hi[0] = 110_000.0;
            Set {
                points: Points::new(c, 5).unwrap(),
                bx: PublicBox::new(hi.iter().map(|x| -x).collect(), hi).unwrap(),
                k: s.k,
            }
        }
        "overlap" => blobs(20_000, 16, 26, 15.0, 6.0, &[1.0], seed, 2.0),
        "d1" => blobs(20_000, 1, 6, 100.0, 2.0, &[1.0], seed, 1.0),
        "s2d" => blobs(5_000, 2, 15, 100.0, 5.0, &[1.0], seed, 1.0),
        "n3d" => blobs(20_000, 3, 15, 100.0, 5.0, &[1.0], seed, 1.0),
        "tails" => {
            let s = blobs(50_000, 8, 10, 30.0, 1.0, &[1.0], seed, 10.0);
            let mut rng = ChaCha20Rng::seed_from_u64(seed + 1);
            let mut c = s.points.into_coords();
            for row in c.chunks_exact_mut(8).step_by(50) {
                let f = 1.0 + 3.0 * rng.random::<f64>().powi(3);
                row.iter_mut().for_each(|x| *x *= f);
            }
            Set { points: Points::new(c, 8).unwrap(), ..s }
        }
        "one" => blobs(50_000, 8, 1, 30.0, 1.0, &[1.0], seed, 3.0),
        other => {
            let (path, rest) = other.split_once(':').unwrap();
            let f: Vec<f64> = rest.split(':').map(|x| x.parse().unwrap()).collect();
            csv(path, f[0] as usize, f[1], f[2])
        }
    }
}

fn reference(s: &Set) -> f64 {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let fit = KMeans::builder(s.k)
        .restarts(3)
        .local_search_steps(2 * s.k.min(40))
        .build()
        .unwrap()
        .exact_fit(s.points.view(), None, &mut rng)
        .unwrap();
    fit.squared_inertia
}

fn run(s: &Set, algo: &str, b: Budget, seed: u64) -> Points {
    let mut rng = ChaCha20Rng::seed_from_u64(seed * 77 + 5);
    let pts = s.points.view();
    let ball = || PublicBall::around(&s.bx).unwrap();
    match algo {
        "D" => {
            DpmRecentred::builder(s.bx.clone(), b)
                .clusters(s.k)
                .build()
                .unwrap()
                .simulate(pts, &mut rng)
                .unwrap()
                .output
                .centres
        }
        "L" => {
            let start = LshSplits::builder(ball(), s.k, part_of(b, 0.3).unwrap())
                .public_seed(seed)
                .build()
                .unwrap();
            Recentred::new(start, s.bx.clone(), b, Rounds::default(), Some(s.k))
                .unwrap()
                .simulate(pts, &mut rng)
                .unwrap()
                .output
                .centres
        }
        "P" | "PR" | "PM" => {
            use dp_cluster::private_kmeans::{PrivateKMeans, Start};
            let mut plan = PrivateKMeans::builder(s.bx.clone(), s.k, b)
                .expected_records(s.points.len() as u64)
                .public_seed(seed);
            if algo == "PR" {
                plan = plan.start(Start::Rings);
            }
            if algo == "PM" {
                plan = plan.start(Start::Map);
            }
            plan.build().unwrap().simulate(pts, &mut rng).unwrap().output.centres
        }
        "S" => {
            RingRounds::builder(s.bx.clone(), s.k, part_of(b, 0.5).unwrap())
                .public_seed(seed)
                .build()
                .unwrap()
                .simulate(pts, &mut rng)
                .unwrap()
                .output
                .centres
        }
        "R0" => {
            RingRounds::builder(s.bx.clone(), s.k, b)
                .public_seed(seed)
                .build()
                .unwrap()
                .simulate(pts, &mut rng)
                .unwrap()
                .output
                .centres
        }
        _ => {
            // R or R:share:rounds
            let f: Vec<f64> = algo.split(':').skip(1).map(|x| x.parse().unwrap()).collect();
            let share = f.first().copied().unwrap_or(0.5);
            let ring_rounds = f.get(2).copied().unwrap_or(3.0) as usize;
            let rounds = f.get(1).copied().unwrap_or(3.0) as usize;
            let start = RingRounds::builder(s.bx.clone(), s.k, part_of(b, share).unwrap())
                .rounds(ring_rounds)
                .public_seed(seed)
                .build()
                .unwrap();
            let rounds =
                Rounds { shares: vec![1.0; rounds], settle: usize::MAX, ..Rounds::default() };
            Recentred::new(start, s.bx.clone(), b, rounds, Some(s.k))
                .unwrap()
                .simulate(pts, &mut rng)
                .unwrap()
                .output
                .centres
        }
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let (sets, algos, eps, runs, base) = (
        &args[1],
        &args[2],
        &args[3],
        args[4].parse::<u64>().unwrap(),
        args.get(5).map_or(1000, |x| x.parse::<u64>().unwrap()),
    );
    for name in sets.split(',') {
        let all: Vec<Set> = (0..runs).map(|i| set(name, base + i)).collect();
        let refs: Vec<f64> = all.iter().map(reference).collect();
        for e in eps.split(',') {
            let e: f64 = e.parse().unwrap();
            print!("{name:>9} eps {e:<4}");
            for algo in algos.split(',') {
                let start = Instant::now();
                let mut r: Vec<f64> = (0..runs as usize)
                    .map(|i| {
                        let s = &all[i];
                        let b = Budget::new(e, (s.points.len() as f64).powf(-1.5)).unwrap();
                        squared_inertia(s.points.view(), run(s, algo, b, base + i as u64).view())
                            / refs[i]
                    })
                    .collect();
                let t = start.elapsed().as_secs_f64() / runs as f64;
                let mean = r.iter().sum::<f64>() / runs as f64;
                r.sort_by(f64::total_cmp);
                print!("  {algo}: {mean:.4} [{:.3} {:.3}] {t:.2}s", r[r.len() / 2], r[r.len() - 1]);
            }
            println!();
        }
    }
}

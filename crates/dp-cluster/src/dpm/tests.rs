//! Settings, odd data, and the fast tree against a plain one.
#![allow(clippy::disallowed_methods, reason = "a test may look")]

use std::ops::ControlFlow;

use dp_accounting::{Budget, Epsilon};
use dp_geometry::{FixedPointGrid, Points, PublicBox};
use dp_mechanism::passes::Counted;
use dp_mechanism::{ChaCha20Rng, Draws, Mechanism, Private, SecureSource};
use rand::{RngExt, SeedableRng};

use super::bins::{Bins, cells_per_dimension};
use super::cell::Cell;
use super::tree::{Growth, Rows};
use super::{BudgetSplit, CutWeights, Dpm, DpmSettings, IntervalSize};
use crate::ClusterError;

fn rng(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

fn cube(dim: usize) -> PublicBox {
    PublicBox::cube(dim, -10.0, 10.0).expect("valid")
}

fn budget(epsilon: f64) -> Budget {
    Budget::new(epsilon, 1e-6).expect("valid")
}

fn planned(dim: usize, settings: DpmSettings) -> Result<Dpm, ClusterError> {
    Dpm::new(cube(dim), budget(1.0), settings)
}

/// `n` points around `2^dim` corners of a cube.
fn corners(n: usize, dim: usize, seed: u64) -> Points {
    let mut rng = rng(seed);
    let coords = (0..n * dim).map(|i| {
        let side = if (i / dim) >> (i % dim) & 1 == 1 { 5.0 } else { -5.0 };
        side + rng.random_range(-1.0..1.0)
    });
    Points::new(coords.collect(), dim).expect("whole rows")
}

#[test]
fn settings_out_of_range_are_refused_with_their_value() {
    let d = DpmSettings::default();
    let of = |settings| planned(2, settings);
    for (plan, want) in [
        (of(DpmSettings { max_depth: 0, ..d }), "max_depth must be between 1 and 14, got 0"),
        (of(DpmSettings { max_depth: 15, ..d }), "max_depth must be between 1 and 14, got 15"),
        (of(DpmSettings { max_depth: 64, ..d }), "max_depth must be between 1 and 14, got 64"),
        (
            of(DpmSettings { minimum_share: Some(0.0), ..d }),
            "minimum_share must be above 0 and below 1, got 0",
        ),
        (
            of(DpmSettings { minimum_share: Some(1.0), ..d }),
            "minimum_share must be above 0 and below 1, got 1",
        ),
        (
            of(DpmSettings { minimum_share: Some(f64::NAN), ..d }),
            "minimum_share must be above 0 and below 1, got NaN",
        ),
        (
            of(DpmSettings { interval_size: IntervalSize::Fixed { intervals: 1 }, ..d }),
            "intervals must be between 2 and 128, got 1",
        ),
        (
            of(DpmSettings { interval_size: IntervalSize::Fixed { intervals: 129 }, ..d }),
            "intervals must be between 2 and 128, got 129",
        ),
        (
            of(DpmSettings { weights: CutWeights { t: 0.1, ..CutWeights::default() }, ..d }),
            "t must be between 2 q and 1, got 0.1",
        ),
        (
            of(DpmSettings { weights: CutWeights { q: f64::NAN, ..CutWeights::default() }, ..d }),
            "q must be between 0.001 and 0.499, got NaN",
        ),
        (
            of(DpmSettings { weights: CutWeights { alpha: -1.0, ..CutWeights::default() }, ..d }),
            "alpha must be between 0 and 1000, got -1",
        ),
        (
            of(DpmSettings {
                split: BudgetSplit::Zcdp { interval: 0.0, counts: -1.0, cuts: 1.0, sums: 1.0 },
                ..d
            }),
            "counts must be a finite share above 0, got -1",
        ),
        (
            of(DpmSettings {
                split: BudgetSplit::Pure { interval: 0.0, counts: 0.9, cuts: 0.9 },
                ..d
            }),
            "interval + counts + cuts must be small enough to leave something for the sums, got 1.8",
        ),
        (
            Dpm::new(cube(2), Budget::new(1.0, 0.0).expect("a pure budget"), d),
            "delta must be above 0: the sums have Gaussian noise, got 0",
        ),
    ] {
        assert_eq!(plan.expect_err("out of range").to_string(), want);
    }
    for epsilon in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, 1e9] {
        assert!(Budget::new(epsilon, 1e-6).is_err(), "{epsilon}");
    }
    for delta in [-1e-9, 1.0, 2.0, f64::NAN] {
        assert!(Budget::new(1.0, delta).is_err(), "{delta}");
    }
}

#[test]
fn points_of_another_dimension_are_refused() {
    let dpm = planned(3, DpmSettings::default()).expect("valid");
    let error = dpm.simulate(corners(10, 2, 1).view(), &mut rng(1)).expect_err("wrong shape");
    assert_eq!(
        error.to_string(),
        "the points have 2 coordinates each, the public domain has 3 dimensions"
    );
}

/// Whatever the records, the release comes out whole, inside the box, with one count per centre.
#[test]
fn odd_data_is_released_like_any_other() {
    let [nan, inf] = [f64::NAN, f64::INFINITY];
    let cases: Vec<(&str, Vec<f64>)> = vec![
        ("empty", vec![]),
        ("one point", vec![1.0, 2.0]),
        ("all equal", vec![3.0; 2_000]),
        ("on the corners", (0..1_000).map(|i| if i % 3 == 0 { -10.0 } else { 10.0 }).collect()),
        ("outside", (0..1_000).map(|i| f64::from(i) * 1e6).collect()),
        ("not numbers", (0..1_000).map(|i| if i % 2 == 0 { nan } else { -inf }).collect()),
        ("huge", vec![f64::MAX, f64::MIN, 5e-324, -0.0]),
    ];
    for settings in [
        planned(2, DpmSettings::default()),
        planned(
            2,
            DpmSettings {
                interval_size: IntervalSize::Estimated,
                max_depth: 14,
                ..Default::default()
            },
        ),
        planned(
            2,
            DpmSettings {
                split: BudgetSplit::PAPER,
                minimum_share: Some(1e-9),
                max_depth: 6,
                ..Default::default()
            },
        ),
        Dpm::new(cube(2), budget(100.0), DpmSettings::default()),
        Dpm::new(cube(2), Budget::new(1e-4, 1e-12).expect("valid"), DpmSettings::default()),
    ] {
        let dpm = settings.expect("valid");
        for (name, coords) in &cases {
            let points = Points::new(coords.clone(), 2).expect("whole rows");
            let release = dpm.simulate(points.view(), &mut rng(3)).expect("the shape fits");
            let clustering = release.output;
            assert!(!clustering.counts.is_empty(), "{name}");
            assert_eq!(clustering.centres.len(), clustering.counts.len(), "{name}");
            assert!(clustering.centres.view().rows().all(|c| cube(2).contains(c)), "{name}");
            assert!(clustering.counts.iter().all(|&count| count >= 1), "{name}");
        }
    }
}

/// Bounds that are no binary fractions, where converting back can round outwards.
#[test]
fn centres_stay_inside_an_awkward_box() {
    let public_box = PublicBox::cube(1, -0.1, 0.3).expect("valid");
    let settings = DpmSettings { max_depth: 1, ..Default::default() };
    let dpm = Dpm::new(public_box.clone(), Budget::new(0.01, 1e-6).expect("valid"), settings)
        .expect("valid");
    let points = Points::new(vec![0.3; 3], 1).expect("whole rows");
    for seed in 0..200 {
        let release = dpm.simulate(points.view(), &mut rng(seed)).expect("the shape fits");
        assert!(release.output.centres.view().rows().all(|c| public_box.contains(c)), "{seed}");
    }
}

/// Budgets at which the noise of the sums no longer fits are refused when the plan is built.
#[test]
fn shares_too_small_to_carry_are_refused() {
    let tiny = Budget::new(1e-5, 1e-9).expect("valid");
    let error = Dpm::new(cube(1_000), tiny, DpmSettings { max_depth: 1, ..Default::default() });
    let message = error.expect_err("too much noise").to_string();
    assert!(message.contains("mu of a sum"), "{message}");
}

/// The tree has what its shares say, and the sums what a receipt then finds: through zCDP alone they would have 7 % more noise.
#[test]
fn sums_have_the_noise_of_one_exact_curve() {
    for epsilon in [0.1, 1.0, 4.0] {
        let dpm = Dpm::new(cube(2), budget(epsilon), DpmSettings::default()).expect("valid");
        let rho = dp_accounting::budget_to_zcdp(budget(epsilon)).expect("there is a delta");
        let through_zcdp = 1.0 / (2.0 * rho.get() * 0.785).sqrt();
        let share = dpm.sum_noise_multiplier() / through_zcdp;
        assert!((0.90..0.945).contains(&share), "{epsilon}: {share}");
        assert!(dpm.receipt().gaussian().is_some());
    }
}

#[test]
fn receipts_stay_within_the_budget_to_the_last_digit() {
    let mut rng = rng(4);
    for i in 0..1_000 {
        let epsilon = 10_f64.powf(rng.random_range(-2.0..2.0));
        let delta = 10_f64.powf(rng.random_range(-15.0..-1.0));
        let mut share = || rng.random_range(0.01..0.3);
        let split = if i % 2 == 0 {
            BudgetSplit::Zcdp { interval: share(), counts: share(), cuts: share(), sums: share() }
        } else {
            BudgetSplit::Pure { interval: share(), counts: share() / 10.0, cuts: share() }
        };
        let interval_size =
            if i % 3 == 0 { IntervalSize::Estimated } else { IntervalSize::default() };
        let budget = Budget::new(epsilon, delta).expect("valid");
        let settings =
            DpmSettings { split, interval_size, max_depth: 1 + i % 14, ..Default::default() };
        let dpm = Dpm::new(cube(1 + i % 5), budget, settings)
            .expect("there is something left for the sums");
        let receipt = dpm.receipt();
        assert!(receipt.within_budget(), "{receipt}");
        let spent = receipt.epsilon().map_or(0.0, Epsilon::get);
        assert!(spent > 0.999 * epsilon, "{receipt}");
    }
}

#[test]
fn the_answer_does_not_depend_on_the_number_of_threads() {
    let points = corners(5_000, 3, 5);
    let settings = DpmSettings { interval_size: IntervalSize::Estimated, ..Default::default() };
    let dpm = planned(3, settings).expect("valid");
    let release = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| dpm.simulate(points.view(), &mut rng(6)).expect("the shape fits"))
    };
    let json = |threads| serde_json::to_string(&release(threads)).expect("serialisable");
    assert_eq!(json(1), json(2));
    assert_eq!(json(1), json(7));
}

#[test]
fn plans_and_releases_survive_a_file() {
    let dpm = planned(2, DpmSettings { max_depth: 3, ..Default::default() }).expect("valid");
    let json = serde_json::to_string(&dpm).expect("serialisable");
    assert_eq!(serde_json::from_str::<Dpm>(&json).expect("own output"), dpm);
    let smuggled = json.replace("\"max_depth\":3", "\"max_depth\":64");
    let error = serde_json::from_str::<Dpm>(&smuggled).expect_err("checked on reading");
    assert!(error.to_string().contains("max_depth must be between 1 and 14, got 64"), "{error}");
    let release = dpm.simulate(corners(100, 2, 1).view(), &mut rng(1)).expect("the shape fits");
    let json = serde_json::to_string(&release).expect("serialisable");
    assert_eq!(
        serde_json::from_str::<dp_mechanism::Release<_, _>>(&json).expect("own output"),
        release
    );
}

/// Three levels for eight corners, a minimum well below their size, and a budget that leaves little
/// to chance.
#[test]
fn separated_clusters_are_found_with_their_sizes() {
    let points = corners(8_000, 3, 7);
    let settings = DpmSettings { max_depth: 3, minimum_share: Some(0.05), ..Default::default() };
    let dpm = Dpm::new(cube(3), budget(20.0), settings);
    let dpm = dpm.expect("valid");
    for seed in 0..20 {
        let release = dpm.simulate(points.view(), &mut rng(seed)).expect("the shape fits");
        let clustering = release.output;
        assert_eq!(clustering.counts.len(), 8, "seed {seed}");
        for (centre, count) in clustering.centres.view().rows().zip(&clustering.counts) {
            assert!(centre.iter().all(|x| (x.abs() - 5.0).abs() < 0.2), "{seed}: {centre:?}");
            assert!((count - 1_000).abs() < 40, "{seed}: {count}");
        }
    }
}

fn table(rows: u64, entries: Vec<i64>) -> Counted {
    let len = entries.len();
    Counted { rows: Private::new(rows), entries: Private::owned(entries).cells(len) }
}

/// The tree by the book: every node keeps its points and counts them again for every candidate.
#[test]
fn the_tree_equals_a_plain_one() {
    const INTERVALS: usize = 9;
    for dim in [1, 2, 5] {
        let points = corners(600, dim, 9);
        let settings = DpmSettings {
            interval_size: IntervalSize::Fixed { intervals: INTERVALS },
            max_depth: 4,
            ..Default::default()
        };
        let dpm = Dpm::new(cube(dim), budget(20.0), settings).expect("valid");
        let grid = FixedPointGrid::new(cube(dim), cells_per_dimension(INTERVALS)).expect("valid");
        let bins = Bins::new(points.view(), &grid, INTERVALS);
        let (mut fast_rng, mut plain_rng) = (rng(10), rng(10));
        let mut growth = Growth::new(&dpm.tree, 600, INTERVALS);
        let mut rows = Rows::new(points.view(), &growth.path).expect("a grid");
        let mut source = SecureSource::new(&mut fast_rng);
        let fast = loop {
            let level = dpm.tree.level(&growth);
            rows.follow(&level.path);
            let entries = rows.histograms(level.first, level.nodes);
            let counted = table(600, entries);
            match dpm.tree.grow(growth, &counted, &mut Draws::unplanned(&mut source)) {
                ControlFlow::Continue(more) => growth = more,
                ControlFlow::Break(grown) => break grown,
            }
        };
        let leaf_of = rows.leaves(&fast.path);
        let plain = plain_tree(&dpm, &bins, 600, &mut SecureSource::new(&mut plain_rng));
        assert!(plain.len() > 1, "nothing was cut in {dim} dimensions");
        assert_eq!(fast.leaves.len(), plain.len());
        for (number, (leaf, (cell, count, rows))) in fast.leaves.iter().zip(&plain).enumerate() {
            assert_eq!((&leaf.cell, leaf.noisy_count), (cell, *count));
            for &row in rows {
                assert_eq!(usize::from(leaf_of[row]), number);
            }
        }
        assert_eq!(plain.iter().map(|leaf| leaf.2.len()).sum::<usize>(), 600);
    }
}

type PlainLeaf = (Cell, i64, Vec<usize>);

fn plain_tree(
    dpm: &Dpm,
    bins: &Bins,
    total: i64,
    draws: &mut dyn dp_mechanism::Source,
) -> Vec<PlainLeaf> {
    let minimum = (total + 15) / 16;
    let (dim, intervals) = (bins.dim, bins.half_intervals / 2);
    let mut leaves = Vec::new();
    let mut nodes =
        vec![(Cell::whole(dim, bins.half_intervals), total, (0..bins.len()).collect::<Vec<_>>())];
    for level in 0..4 {
        let mut next = Vec::new();
        for (cell, count, rows) in nodes {
            let bin = |row: usize, i: usize| usize::from(bins.row(row)[i]);
            let within = |i: usize, low: usize, high: usize| {
                rows.iter().filter(|&&row| (low..high).contains(&bin(row, i))).count() as u64
            };
            let scores: Vec<i64> = (0..dim * intervals)
                .map(|candidate| {
                    let (i, j) = (candidate / intervals, candidate % intervals);
                    let inside = within(i, 2 * j, 2 * j + 2);
                    dpm.tree.score.at(count).of(within(i, 0, 2 * j + 1), inside)
                })
                .collect();
            let chosen =
                dpm.tree.cuts[level].release(&scores, &mut Draws::unplanned(draws)).unwrap();
            let (i, cut) = (chosen / intervals, 2 * (chosen % intervals) + 1);
            let (left, right): (Vec<_>, Vec<_>) = rows.iter().partition(|&&row| bin(row, i) < cut);
            let mut counted = |rows: &[usize]| {
                dpm.tree.count(level + 1, 0, rows.len() as u64, &mut Draws::unplanned(draws))
            };
            let (left_count, right_count) = (counted(&left), counted(&right));
            if left_count >= minimum && right_count >= minimum {
                let cells = cell.split(i, u16::try_from(cut).expect("small"));
                next.push((cells.0, left_count, left));
                next.push((cells.1, right_count, right));
            } else {
                leaves.push((cell, count, rows));
            }
        }
        nodes = next;
    }
    leaves.extend(nodes);
    leaves
}

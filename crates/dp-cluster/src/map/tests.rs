use std::ops::RangeInclusive;

use dp_accounting::{Budget, Receipt, Relation};
use dp_geometry::{Cloud, Points, PublicBox};
use dp_mechanism::{Mechanism, Nearby, Rule};

use super::*;
use crate::ClusterError;
use crate::kmeans::{KMeans, KMeansSettings};
use crate::metrics::squared_inertia;
use crate::testing::{adversarial, blobs, rng};

fn budget(epsilon: f64) -> Budget {
    Budget::new(epsilon, 1e-6).expect("valid")
}

fn square() -> PublicBox {
    PublicBox::cube(2, -10.0, 10.0).expect("valid")
}

fn near(rho: f64) -> Nearby<dp_mechanism::Coordinates> {
    Nearby::new(rho).expect("valid")
}

fn within_budget<R: Relation>(receipt: &Receipt<R>) -> bool {
    receipt.within_budget() && receipt.epsilon().is_some_and(|epsilon| epsilon.get() > 0.999)
}

/// The same clusters as without privacy, at the cost of that, for every relation and several `k` of one release.
#[test]
fn one_release_serves_every_k() {
    let (points, _) = blobs(20_000, 2, 5, 8.0, 3);
    let n = points.len() as u64;
    let mut rng = rng(7);
    let maps = [
        PrivateMap::add_remove(square(), budget(1.0), PrivateMapSettings::default())
            .expect("valid")
            .simulate(points.view(), &mut rng)
            .expect("fits")
            .output,
        PrivateMap::replace_one(square(), n, budget(1.0), PrivateMapSettings::default())
            .expect("valid")
            .simulate(points.view(), &mut rng)
            .expect("fits")
            .output,
        PrivateMap::within(square(), near(0.1), n, budget(1.0), PrivateMapSettings::default())
            .expect("valid")
            .simulate(points.view(), &mut rng)
            .expect("fits")
            .output,
    ];
    for map in maps {
        assert!((map.total() - 20_000.0).abs() < 500.0, "{}", map.total());
        for k in [2, 5, 9] {
            let settings =
                KMeansSettings { restarts: 3, local_search_steps: 20, ..Default::default() };
            let plain = KMeans::new(k, settings).expect("valid");
            let best =
                plain.exact_fit(points.view(), None, &mut rng).expect("finite").squared_inertia;
            let fit = map.kmeans(k, &mut rng).expect("valid");
            let ratio = squared_inertia(points.view(), fit.centres.view()).unwrap() / best;
            assert!(ratio < 1.1, "{k}: {ratio}");
            let clustering = map.clustering(k, &mut rng).expect("valid");
            assert!((clustering.counts.iter().sum::<i64>() - 20_000).abs() < 600);
        }
        assert_eq!(map.kmedian(5, &mut rng).expect("valid").centres.len(), 5);
    }
}

/// From a distance of the diagonal on, and in truth much earlier, protection is that of `ReplaceOne`, byte by byte; below, noise is never more.
#[test]
fn far_enough_is_replace_one_byte_by_byte() {
    let (points, _) = blobs(300, 2, 3, 8.0, 4);
    let settings = PrivateMapSettings { levels: Some(2..=4), ..Default::default() };
    let whole = PrivateMap::replace_one(square(), 300, budget(1.0), settings).expect("valid");
    let reference = whole.simulate(points.view(), &mut rng(1)).expect("fits").output;
    for rho in [square().diagonal(), 1e9, f64::MAX] {
        let settings = PrivateMapSettings { levels: Some(2..=4), ..Default::default() };
        let plan =
            PrivateMap::within(square(), near(rho), 300, budget(1.0), settings).expect("valid");
        assert_eq!(plan.levels(), whole.levels());
        assert_eq!(plan.simulate(points.view(), &mut rng(1)).expect("fits").output, reference);
    }
    let mut before = vec![0.0; 3];
    for rho in [1e-9, 0.001, 0.1, 0.5, 1.0, 2.0, 5.0, 40.0] {
        let settings = PrivateMapSettings { levels: Some(2..=4), ..Default::default() };
        let plan =
            PrivateMap::within(square(), near(rho), 300, budget(1.0), settings).expect("valid");
        for ((level, whole), before) in plan.levels().iter().zip(whole.levels()).zip(&mut before) {
            assert!(level.standard_deviation <= whole.standard_deviation);
            assert!(level.standard_deviation >= *before, "the noise grows with the distance");
            assert_eq!(level.change.rule == Rule::Replaced, level.change == whole.change);
            *before = level.standard_deviation;
        }
    }
}

#[test]
fn receipts_spend_the_budget_and_no_more() {
    assert!(within_budget(
        &PrivateMap::add_remove(square(), budget(1.0), PrivateMapSettings::default())
            .expect("valid")
            .receipt()
    ));
    assert!(within_budget(
        &PrivateMap::replace_one(square(), 9, budget(1.0), PrivateMapSettings::default())
            .expect("valid")
            .receipt()
    ));
    let plan =
        PrivateMap::within(square(), near(0.5), 9, budget(1.0), PrivateMapSettings::default())
            .expect("valid");
    assert!(within_budget(&plan.receipt()));
    assert_eq!(plan.receipt().relation().distance(), Some(0.5));
    // One Gaussian mechanism at epsilon 1 and delta 1e-6: 4.2247 times the change, on 5 levels of which each gets .75 of what the next
    // coarser one does.
    let levels = PrivateMap::replace_one(square(), 9, budget(1.0), PrivateMapSettings::default())
        .expect("valid")
        .levels();
    let all: f64 = (0..5).map(|finer| 0.75_f64.powi(finer)).sum();
    for (finer, level) in (0..5).zip(levels) {
        let expected = 4.2247 * (2.0 * all / 0.75_f64.powi(finer)).sqrt();
        assert!((level.standard_deviation - expected).abs() < 1e-3, "{finer}");
    }
}

#[test]
fn sizes_that_are_public_must_fit() {
    let (points, _) = blobs(30, 2, 3, 8.0, 4);
    let plan = |records| {
        let settings = PrivateMapSettings::default();
        PrivateMap::within(square(), near(0.5), records, budget(1.0), settings).expect("valid")
    };
    let refused = plan(29).simulate(points.view(), &mut rng(1)).expect_err("one is too many");
    assert_eq!(refused, ClusterError::Records { expected: 29, got: 30 });
    let plan = plan(31);
    let refused = plan.simulate(points.view(), &mut rng(1)).expect_err("one is missing");
    assert_eq!(refused, ClusterError::Records { expected: 31, got: 30 });
    assert_eq!(refused.to_string(), "the plan is made for 31 records, got 30");
    let line = Points::new(vec![0.0; 31], 1).expect("rows");
    let refused = plan.simulate(line.view(), &mut rng(1)).expect_err("one dimension");
    assert_eq!(refused, ClusterError::Dimension { expected: 2, got: 1 });
    assert!(
        PrivateMap::add_remove(square(), budget(1.0), PrivateMapSettings::default())
            .expect("valid")
            .simulate(points.view(), &mut rng(1))
            .is_ok()
    );
}

#[test]
fn bad_settings_are_refused_by_name() {
    let message = |plan: Result<PrivateMap<dp_accounting::AddRemove>, ClusterError>| {
        plan.expect_err("bad").to_string()
    };
    let cube = |dim| PublicBox::cube(dim, 0.0, 1.0).expect("valid");
    let plan = |dim, settings| PrivateMap::add_remove(cube(dim), budget(1.0), settings);
    assert_eq!(
        message(plan(
            2,
            PrivateMapSettings { levels: Some(RangeInclusive::new(4, 3)), ..Default::default() }
        )),
        "the coarsest level must be at most the finest, got 4"
    );
    assert!(
        message(plan(50, PrivateMapSettings::default()))
            .starts_with("(2^1 + 1)^50 vertices: there may be 8 dimensions")
    );
    assert!(
        message(plan(2, PrivateMapSettings { levels: Some(1..=17), ..Default::default() }))
            .starts_with("(2^17 + 1)^2 vertices")
    );
    assert!(
        message(PrivateMap::add_remove(
            cube(2),
            Budget::new(1.0, 0.0).expect("valid"),
            PrivateMapSettings::default()
        ))
        .starts_with("delta must be above 0")
    );
    let huge = PublicBox::cube(2, -1e80, 1e80).expect("valid");
    assert!(
        message(PrivateMap::add_remove(huge, budget(1.0), PrivateMapSettings::default()))
            .starts_with("the public box's extent")
    );
    let much = dp_accounting::Mu::new(1.0).expect("valid");
    assert_eq!(
        message(plan(2, PrivateMapSettings { spend: Some(much), ..Default::default() })),
        "mu to spend must be at most that of the budget, got 1"
    );
    assert!(
        message(plan(
            2,
            PrivateMapSettings { spend: Some(dp_accounting::Mu::ZERO), ..Default::default() }
        ))
        .contains("mu of a sum")
    );
    for dim in 1..=8 {
        assert!(plan(dim, PrivateMapSettings::default()).is_ok(), "{dim}");
    }
    let known = PrivateMapSettings { expected_records: Some(9), ..Default::default() };
    assert_eq!(
        PrivateMap::replace_one(cube(2), 9, budget(1.0), known).expect_err("bad").to_string(),
        "expected_records must be left out, as their number is public, got 9"
    );
    let whole = plan(2, PrivateMapSettings::default()).expect("valid");
    let file = serde_json::to_string(&whole).expect("plain");
    let read = |file: &str| serde_json::from_str::<PrivateMap<dp_accounting::AddRemove>>(file);
    assert_eq!(read(&file).expect("valid"), whole);
    for (good, bad) in [
        ("\"levels\":null", "\"levels\":{\"start\":7,\"end\":3}"),
        ("\"records\":null", "\"records\":9"),
        ("\"fit_steps\"", "\"fit\""),
    ] {
        assert!(file.contains(good) && read(&file.replacen(good, bad, 1)).is_err(), "{bad}");
    }
    assert!(serde_json::from_str::<PrivateMap<dp_accounting::ReplaceOne>>(&file).is_err());
}

/// Nothing fails on account of the data, and centres are in the box.
#[test]
fn odd_data_and_odd_sizes() {
    for dim in [1, 2, 3] {
        let cube = || PublicBox::cube(dim, -10.0, 10.0).expect("valid");
        for (name, points) in adversarial(dim, 40) {
            let n = points.len() as u64;
            let maps = [
                PrivateMap::add_remove(
                    cube(),
                    budget(1.0),
                    PrivateMapSettings { levels: Some(1..=2), ..Default::default() },
                )
                .expect("valid")
                .simulate(points.view(), &mut rng(1))
                .expect("fits")
                .output,
                PrivateMap::within(
                    cube(),
                    near(0.1),
                    n,
                    budget(1.0),
                    PrivateMapSettings { levels: Some(1..=2), ..Default::default() },
                )
                .expect("valid")
                .simulate(points.view(), &mut rng(1))
                .expect("fits")
                .output,
            ];
            for map in maps {
                assert!(map.fit().weights.iter().all(|w| *w >= 0.0 && w.is_finite()), "{name}");
                let sum: f64 = map.fit().weights.iter().sum();
                assert!((sum - map.total()).abs() <= 1e-9 * (1.0 + map.total()), "{name}");
                // More clusters than records, and more than vertices.
                for k in [1, 50, 200] {
                    let centres = map.kmeans(k, &mut rng(2)).expect("valid").centres;
                    assert_eq!(centres.len(), k, "{name}");
                    assert!(centres.view().rows().all(|c| cube().contains(c)), "{name}");
                }
            }
        }
    }
}

/// Without records the public size is 0, and the map says so.
#[test]
fn no_records() {
    let none = Points::new(vec![], 2).expect("rows");
    let plan = PrivateMap::replace_one(square(), 0, budget(1.0), PrivateMapSettings::default())
        .expect("valid");
    let map = plan.simulate(none.view(), &mut rng(1)).expect("fits").output;
    assert_eq!((map.total(), map.fit().weights.iter().sum::<f64>()), (0.0, 0.0));
    assert!(square().contains(&map.kmeans(1, &mut rng(1)).expect("valid").centres[0]));
    let far = PublicBox::cube(2, 5.0, 9.0).expect("valid");
    let plan = PrivateMap::replace_one(far.clone(), 0, budget(1.0), PrivateMapSettings::default())
        .expect("valid");
    let map = plan.simulate(none.view(), &mut rng(1)).expect("fits").output;
    let means = map.clustering(3, &mut rng(1)).expect("valid").centres;
    let medians = map.kmedian(3, &mut rng(1)).expect("valid").centres;
    for centres in [means, medians] {
        assert!(centres.view().rows().all(|centre| far.contains(centre)));
    }
}

#[test]
fn threads_and_order_do_not_matter() {
    let (points, _) = blobs(2_000, 3, 3, 8.0, 4);
    let cube = PublicBox::cube(3, -10.0, 10.0).expect("valid");
    let settings = PrivateMapSettings { levels: Some(1..=3), ..Default::default() };
    let plan = PrivateMap::within(cube, near(0.3), 2_000, budget(1.0), settings).expect("valid");
    let run = |points: &Points| plan.simulate(points.view(), &mut rng(5)).expect("fits").output;
    let reference = run(&points);
    for threads in [1, 2, 7] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        assert_eq!(pool.install(|| run(&points)), reference);
    }
    let backwards: Vec<f64> = points.view().rows().rev().flatten().copied().collect();
    assert_eq!(run(&Points::new(backwards, 3).expect("rows")), reference);
}

/// A map of a public 0 records has centres, but nobody near them.
#[test]
fn no_records_are_counted_where_there_are_none() {
    let settings = PrivateMapSettings::default();
    let plan = PrivateMap::within(square(), near(0.3), 0, budget(1.0), settings).expect("valid");
    let none = Points::new(vec![], 2).expect("rows");
    let map = plan.simulate(none.view(), &mut rng(1)).expect("fits").output;
    let clustering = map.clustering(4, &mut rng(2)).expect("valid");
    assert_eq!(clustering.counts, [0; 4]);
    assert!(clustering.centres.view().rows().all(|x| x.iter().all(|x| x.abs() <= 10.0)));
}

/// Parts of the records, in any order and through bytes, add up to the release of all, byte by byte; no records change nothing.
#[test]
fn counts_of_parts_make_the_release_of_all() {
    let (points, _) = blobs(900, 2, 3, 8.0, 4);
    let near = near(0.3);
    let settings = PrivateMapSettings { levels: Some(1..=3), ..Default::default() };
    let hidden = PrivateMap::add_remove(square(), budget(1.0), settings).expect("valid");
    let settings = PrivateMapSettings { levels: Some(1..=3), ..Default::default() };
    let moved = PrivateMap::within(square(), near, 900, budget(1.0), settings).expect("valid");
    let of = |range: std::ops::Range<usize>| {
        Points::new(points.view().coords()[2 * range.start..2 * range.end].to_vec(), 2)
            .expect("rows")
    };
    let parts = [of(0..1), of(1..500), of(500..500), of(500..900)];
    let sum = |order: [usize; 4], count: &dyn Fn(&Points) -> MapCounts| {
        let none = Points::new(vec![], 2).expect("rows");
        let mut all = count(&none);
        for part in order {
            let bytes = count(&parts[part]).to_bytes();
            all.merge(&MapCounts::from_bytes(&bytes).expect("whole")).expect("the same plan");
        }
        all
    };
    let count = |points: &Points| hidden.count(points.view()).expect("two dimensions");
    let all = sum([0, 1, 2, 3], &count);
    assert_eq!(all, count(&points));
    assert_eq!(all, sum([3, 1, 0, 2], &count));
    // (a + b) + c = a + (b + c)
    let [mut left, middle, _, right] = [0, 1, 2, 3].map(|i: usize| count(&parts[i]));
    let mut tail = middle.clone();
    tail.merge(&right).expect("the same plan");
    let mut nested = left.clone();
    nested.merge(&tail).expect("the same plan");
    left.merge(&middle).expect("the same plan");
    left.merge(&right).expect("the same plan");
    assert_eq!((&left, &nested), (&all, &all));
    let whole = hidden.simulate(points.view(), &mut rng(3)).expect("fits");
    let counted = hidden.clone().counted().simulate(&all, &mut rng(3)).expect("fits");
    assert_eq!((whole.output, whole.receipt), (counted.output, counted.receipt));
    let moved_counts = moved.count(points.view()).expect("two dimensions");
    let whole = moved.simulate(points.view(), &mut rng(3)).expect("fits").output;
    assert_eq!(
        whole,
        moved.clone().counted().simulate(&moved_counts, &mut rng(3)).expect("fits").output
    );
    // Counts of another plan, and of too few records where their number is public.
    assert_eq!(left.merge(&moved_counts), Err(ClusterError::OtherPlan));
    assert_eq!(left, all);
    let refused = hidden.counted().simulate(&moved_counts, &mut rng(3)).expect_err("another plan");
    assert_eq!(refused.to_string(), "the counts were made for another plan");
    let few = moved.count(parts[1].view()).expect("two dimensions");
    let refused = moved.clone().counted().simulate(&few, &mut rng(3)).expect_err("too few");
    assert_eq!(refused, ClusterError::Records { expected: 900, got: 499 });
    let line = Points::new(vec![0.0], 1).expect("rows");
    assert_eq!(moved.count(line.view()), Err(ClusterError::Dimension { expected: 2, got: 1 }));
}

/// Bytes that are cut, changed anywhere or of another version are refused; what is printed does not depend on records.
#[test]
fn damaged_counts_are_refused() {
    let settings = PrivateMapSettings { levels: Some(0..=1), ..Default::default() };
    let plan = PrivateMap::add_remove(square(), budget(1.0), settings).expect("valid");
    let (points, _) = blobs(30, 2, 3, 8.0, 4);
    let counts = plan.count(points.view()).expect("two dimensions");
    let bytes = counts.to_bytes();
    assert_eq!(MapCounts::from_bytes(&bytes), Ok(counts.clone()));
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        assert_eq!(MapCounts::from_bytes(&changed), Err(ClusterError::Damaged), "{at}");
        assert_eq!(MapCounts::from_bytes(&bytes[..at]), Err(ClusterError::Damaged), "{at}");
    }
    assert!(MapCounts::from_bytes(&[bytes.as_slice(), &[0]].concat()).is_err());
    // Whole, but with a sum below zero, the last one before the checksum.
    let mut negative = bytes[..bytes.len() - 8].to_vec();
    *negative.last_mut().expect("a sum") |= 0x80;
    negative.extend_from_slice(&super::counts::hash(&negative).to_le_bytes());
    assert_eq!(MapCounts::from_bytes(&negative), Err(ClusterError::Damaged));
    let none = plan.count(Points::new(vec![], 2).expect("rows").view()).expect("two dimensions");
    assert_eq!(format!("{none:?}"), format!("{counts:?}"));
}

/// Counts are released by the plan that they were made for: each side of the box and each setting that decides what is counted, or its
/// noise, is part of its number.
#[test]
fn plans_that_count_or_draw_otherwise_have_other_numbers() {
    let usual = PrivateMapSettings { levels: Some(0..=1), ..Default::default() };
    let plan = |sides: [f64; 4], epsilon, delta, settings| {
        let [a, b, c, d] = sides;
        let public_box = PublicBox::new(vec![a, b], vec![c, d]).expect("valid");
        let budget = Budget::new(epsilon, delta).expect("valid");
        PrivateMap::add_remove(public_box, budget, settings).expect("valid").hash()
    };
    let sides = [-1.0, -1.0, 1.0, 1.0];
    let mut all = vec![
        plan(sides, 1.0, 1e-6, usual.clone()),
        plan(sides, 1.1, 1e-6, usual.clone()),
        plan(sides, 1.0, 2e-6, usual.clone()),
        plan(sides, 1.0, 1e-6, PrivateMapSettings { levels: Some(0..=2), ..usual.clone() }),
        plan(sides, 1.0, 1e-6, PrivateMapSettings { levels: Some(1..=1), ..usual.clone() }),
        plan(sides, 1.0, 1e-6, PrivateMapSettings { expected_records: Some(500), ..usual.clone() }),
    ];
    for side in 0..4 {
        let mut moved = sides;
        moved[side] *= 1.5;
        all.push(plan(moved, 1.0, 1e-6, usual.clone()));
    }
    let (cube, budget) = (square(), budget(1.0));
    for records in [500, 501] {
        let plan = PrivateMap::replace_one(cube.clone(), records, budget, usual.clone());
        all.push(plan.expect("valid").hash());
    }
    for distance in [0.5, 0.75] {
        let near = Nearby::new(distance).expect("above 0");
        let plan = PrivateMap::within(cube.clone(), near, 500, budget, usual.clone());
        all.push(plan.expect("valid").hash());
    }
    let distinct: std::collections::BTreeSet<u64> = all.iter().copied().collect();
    assert_eq!(distinct.len(), all.len(), "{all:x?}");
}

/// A move by a distance counts as what it changes by the slope of the cloud's weights and their rounding, in whole units.
#[test]
fn what_a_move_changes_is_that_of_weights_and_their_rounding() {
    let settings = PrivateMapSettings { levels: Some(0..=4), ..Default::default() };
    let mut moved = 0;
    for rho in [1e-3, 0.01, 0.1] {
        let plan = PrivateMap::within(square(), near(rho), 500, budget(1.0), settings.clone());
        for level in plan.expect("valid").levels {
            let length = level.cloud.slope() * Cloud::UNITS as f64 * rho + level.cloud.slack();
            if level.change.rule == Rule::Moved {
                let tightness = (level.change.squared as f64).sqrt() / length;
                assert!((1.0..1.0 + 1e-5).contains(&tightness), "{rho}: {tightness}");
                moved += 1;
            }
        }
    }
    assert!(moved > 10, "{moved}");
}

/// Sums without noise give the weights back that made them; with noise, the fit on three vertices per axis is that of a search.
#[test]
fn the_fit_is_the_best_there_is() {
    use super::fit::{Measured, fit};
    let exact = |weights: [f64; 9]| {
        let [a, b, c, d, e, f, g, h, i] = weights;
        let middle = [a + 0.5 * b, b, c + 0.5 * b];
        assert!(middle[1] >= 0.0);
        // Level 0 has the corners: each row first, then the columns.
        let fold = |x: [f64; 3]| [x[0] + 0.5 * x[1], x[2] + 0.5 * x[1]];
        let rows = [fold([a, b, c]), fold([d, e, f]), fold([g, h, i])];
        let coarse: Vec<f64> =
            [0, 2].iter().flat_map(|&r| [0, 1].map(|s| rows[r][s] + 0.5 * rows[1][s])).collect();
        vec![
            Measured { level: 0, sums: coarse, precision: 2.0 },
            Measured { level: 1, sums: weights.to_vec(), precision: 0.5 },
        ]
    };
    let weights = [5.0, 0.0, 1.0, 0.0, 0.0, 7.0, 2.0, 0.0, 3.0];
    let found = fit(2, &exact(weights), 18.0, 5_000);
    assert!(found.gap <= 18e-6 && found.misfit < 1e-4, "{found:?}");
    assert!(found.weights.iter().zip(weights).all(|(a, b)| (a - b).abs() < 1e-2), "{found:?}");
    // Noise: no exchange between two vertices lowers the misfit by more than the gap.
    let mut noisy = exact(weights);
    noisy[1].sums = vec![-3.0, 4.0, 1.0, 0.5, -2.0, 6.0, 9.0, 0.0, -1.0];
    noisy[0].sums = vec![7.0, 2.0, -4.0, 11.0];
    let found = fit(2, &noisy, 18.0, 5_000);
    let misfit = |weights: &[f64]| fit_of(&noisy, weights);
    let least = misfit(&found.weights);
    assert!((least - found.misfit).abs() < 1e-9 && found.gap <= 18e-6);
    for (from, to) in (0..9).flat_map(|i| (0..9).map(move |j| (i, j))) {
        for share in [1e-3, 0.03, 0.5] {
            let mut other = found.weights.clone();
            let moved = share * other[from];
            other[from] -= moved;
            other[to] += moved;
            assert!(misfit(&other) >= least - found.gap, "{from} to {to}");
        }
    }
}

/// At a short distance coarse sums are worth a thousand times as much as fine ones; the certificate still comes below a millionth of the records.
#[test]
fn the_fit_is_certified_at_short_distances() {
    let (points, _) = blobs(5_000, 2, 12, 8.0, 3);
    for (rho, epsilon) in [(0.08, 1.0), (0.08, 0.1)] {
        let plan = PrivateMap::within(
            square(),
            near(rho),
            5_000,
            budget(epsilon),
            PrivateMapSettings::default(),
        );
        let map = plan.expect("valid").simulate(points.view(), &mut rng(1)).expect("fits").output;
        assert!(map.fit().gap <= 5e-3, "{rho}, {epsilon}: {}", map.fit().gap);
    }
}

fn fit_of(measured: &[super::fit::Measured], weights: &[f64]) -> f64 {
    super::pyramid::Pyramid::new(2, measured).misfit(measured, weights)
}

/// Files that no release wrote: another number of weights, weights that are none, more vertices than fit, and a part of another dimension.
#[test]
fn a_map_that_was_made_up_is_refused() {
    let plan = PrivateMap::add_remove(square(), budget(1.0), PrivateMapSettings::default());
    let plan = plan.expect("valid");
    let part = PublicBox::cube(2, -1.0, 1.0).expect("valid");
    for plan in [plan.finer_in(&part), plan] {
        let points = blobs(500, 2, 2, 8.0, 4).0;
        let map = plan.simulate(points.view(), &mut rng(8)).expect("fits").output;
        let whole = serde_json::to_value(&map).expect("plain");
        let read = |file: serde_json::Value| serde_json::from_value::<ReleasedMap>(file);
        assert_eq!(read(whole.clone()).expect("as written"), map);
        let refused = |pointer: &str, value: serde_json::Value, text: &str| {
            let mut other = whole.clone();
            *other.pointer_mut(pointer).expect("a field") = value;
            let error = read(other).expect_err(pointer).to_string();
            assert!(error.contains(text), "{error}");
        };
        let of_three = PublicBox::cube(3, -1.0, 1.0).expect("valid");
        let of_three = serde_json::to_value(of_three).expect("plain");
        refused("/finer", of_three, "2");
        refused("/level", 31.into(), "vertices");
        refused("/level", 1.into(), "there must be one weight per point");
        refused("/total", (-1.0).into(), "every weight must be a number");
        refused("/fit/weights/3", 1e80.into(), "every weight must be a number");
    }
}

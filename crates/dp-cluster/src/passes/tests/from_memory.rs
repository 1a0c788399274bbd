//! By passes as from memory.

use super::tables::refused_in_all_passes;
use super::*;

fn same<P>(plan: &P, points: &Points) -> u32
where
    P: ByPasses<Question = Question> + Clone,
    P: for<'a> Algorithm<
            Data<'a> = PointsView<'a>,
            Error = ClusterError,
            Output: PartialEq + std::fmt::Debug,
        >,
{
    let all = points.len().max(1);
    [1, 97, all].map(|rows| same_in_parts(plan, points, rows.min(all)))[0]
}

fn same_in_parts<P>(plan: &P, points: &Points, rows: usize) -> u32
where
    P: ByPasses<Question = Question> + Clone,
    P: for<'a> Algorithm<
            Data<'a> = PointsView<'a>,
            Error = ClusterError,
            Output: PartialEq + std::fmt::Debug,
        >,
{
    let direct = plan.simulate(points.view(), &mut rng(5)).expect("the shape fits").output;
    let (output, passes) = by_passes(plan, points.view(), rows);
    assert_eq!(output, direct, "{rows} rows a part");
    passes
}

#[test]
fn dpm_by_passes_is_dpm_from_memory() {
    for dim in [1, 3] {
        let points = records(700, dim);
        let settings = DpmSettings { max_depth: 4, ..Default::default() };
        let plan = |settings| Dpm::new(cube(dim), budget(), settings).expect("valid");
        // A pass per level that has nodes, and one for the sums.
        let passes = same(&plan(settings), &points);
        assert!((3..=5).contains(&passes), "{passes}");
        // One node per table, and an odd number of intervals.
        let interval_size = IntervalSize::Fixed { intervals: 9 };
        let plan = plan(DpmSettings { interval_size, counters: 1, ..settings });
        assert!(same(&plan, &points) > passes);
    }
}

#[test]
fn recentring_by_passes_is_that_from_memory() {
    for (dim, clusters) in [(1, None), (3, Some(8)), (3, Some(40))] {
        let points = records(700, dim);
        let settings = DpmRecentredSettings { max_depth: 4, clusters, ..Default::default() };
        let plan = DpmRecentred::new(cube(dim), budget(), settings);
        let passes = same(&plan.expect("valid"), &points);
        assert!((12 + 1..=12 + 4).contains(&passes), "{passes}");
    }
    let rounds = Rounds { merge_after: 9, ..Rounds::default() };
    let settings = DpmRecentredSettings { rounds, max_depth: 3, ..Default::default() };
    let plan = DpmRecentred::new(cube(2), budget(), settings);
    same(&plan.expect("valid"), &records(300, 2));
}

#[test]
fn a_map_by_a_pass_is_that_from_memory() {
    let points = records(300, 2);
    assert_eq!(
        same(
            &PrivateMap::add_remove(cube(2), budget(), PrivateMapSettings::default())
                .expect("valid"),
            &points
        ),
        1
    );
    // Where their number is hidden, it may be another one than was expected.
    let settings = PrivateMapSettings { expected_records: Some(299), ..Default::default() };
    let expects = PrivateMap::add_remove(cube(2), budget(), settings).expect("valid");
    assert_eq!(same(&expects, &points), 1);
    let near = Nearby::new(1.0).expect("above 0");
    let settings = PrivateMapSettings { levels: Some(1..=3), ..Default::default() };
    let within = PrivateMap::within(cube(2), near, 300, budget(), settings);
    let within = within.expect("valid");
    same(&within, &points);
    let passes = Passes::new(within).expect("has a table");
    let table = answer(passes.asked(), records(299, 2).view(), 100);
    assert_eq!(passes.check(&table), Err(TableError::OtherRows), "their number is public");
}

#[test]
fn a_search_for_a_box_by_passes_is_that_from_memory() {
    for half in [10.0, 1e5] {
        let wide = PublicBox::cube(3, -half, half).expect("valid");
        let plan = PrivateBox::plan(wide, budget()).expect("valid");
        assert_eq!(same(&plan, &records(700, 3)), 7);
    }
}

#[test]
fn ring_rounds_by_passes_are_those_from_memory() {
    // One pass for the number of records; a round in which nothing is seen has one.
    for (n, dim, k, passes) in [(700, 3, 8, 7..=7), (700, 2, 1, 7..=7), (3, 2, 4, 4..=7)] {
        let plan = RingRounds::new(cube(dim), k, budget(), RingRoundsSettings::default());
        let asked = same(&plan.expect("valid"), &records(n, dim));
        assert!(passes.contains(&asked), "{asked}");
    }
}

#[test]
fn lsh_splits_by_passes_is_that_from_memory() {
    let plan = |dim: usize, settings| {
        let ball = PublicBall::around(&cube(dim)).expect("valid");
        LshSplits::new(ball, 4, budget(), settings).expect("valid")
    };
    for form in [Form::Improved, Form::Published] {
        for (dim, depth) in [(1, 1), (3, 9), (5, 20)] {
            let settings = LshSplitsSettings { form, depth, least_leaf: 1.0, ..Default::default() };
            // A table of a million codes for each part.
            let n = if depth == 20 { 30 } else { 700 };
            assert_eq!(same(&plan(dim, settings), &records(n, dim)), 2);
        }
    }
    let deep = LshSplitsSettings { depth: 21, ..Default::default() };
    assert_eq!(Passes::new(plan(2, deep)).err(), Some(TableError::NoTable));
    let settings = LshSplitsSettings { depth: 6, ..Default::default() };
    assert_eq!(refused_in_all_passes(plan(2, settings), &records(900, 2)), 2);
}

/// What few records count, each of many counts as well: nothing changes beyond 2^16 or 2^17 of them, where memory has other ways than passes.
#[test]
fn many_records_are_counted_like_few() {
    let points = records(140_000, 2);
    let rows = 17_001;
    let settings = DpmRecentredSettings { clusters: Some(8), ..Default::default() };
    let plan = DpmRecentred::new(cube(2), budget(), settings).expect("valid");
    same_in_parts(&plan, &points, rows);
    let plan = RingRounds::new(cube(2), 8, budget(), RingRoundsSettings::default());
    same_in_parts(&plan.expect("valid"), &points, rows);
    let ball = PublicBall::around(&cube(2)).expect("valid");
    let plan = LshSplits::new(ball, 4, budget(), LshSplitsSettings::default()).expect("valid");
    same_in_parts(&plan, &points, rows);
    let settings = PrivateKMeansSettings { expected_records: Some(140_000), ..Default::default() };
    let plan = PrivateKMeans::new(cube(2), 8, budget(), settings).expect("valid");
    same_in_parts(&plan, &points, rows);
    let plan = PrivateMap::add_remove(cube(2), budget(), PrivateMapSettings::default());
    same_in_parts(&plan.expect("valid"), &points, rows);
}

/// Both starts, with and without a number of clusters, in boxes that fit and that do not.
#[test]
fn private_kmeans_by_passes_is_that_from_memory() {
    let mut starts = Vec::new();
    for (dim, k, half) in [(1, 40, 10.0), (2, 8, 10.0), (3, 8, 1e4), (5, 8, 10.0)] {
        let wide = PublicBox::cube(dim, -half, half).expect("valid");
        for finds_k in [false, true] {
            let settings = PrivateKMeansSettings { finds_k, ..Default::default() };
            let plan = PrivateKMeans::new(wide.clone(), k, budget(), settings).expect("valid");
            let passes = same(&plan, &records(900, dim));
            assert!((7 + 1 + 2..=7 + 10 + 16).contains(&passes), "{passes}");
            starts.extend(plan.starts().map(|(_, start)| format!("{start:?}")));
        }
    }
    starts.sort();
    starts.dedup();
    assert_eq!(starts, ["Even", "Map", "Rings"]);
}

/// Few records in a tiny part of the box, which a search finds, and every seventh of all in the opposite corner, which it may not see: rings do.
#[test]
fn a_release_by_passes_goes_on_where_rings_are_beyond_the_box_found() {
    let wide = PublicBox::cube(4, 0.0, 1.0).expect("valid");
    for rows in 400..440_u32 {
        let settings =
            PrivateKMeansSettings { expected_records: Some(rows.into()), ..Default::default() };
        let plan = PrivateKMeans::new(wide.clone(), 3, budget(), settings).expect("valid");
        let near = |i: u32| f64::from(i % 11) * 1e-4;
        let row = |i: u32| [if i.is_multiple_of(7) { 1.0 } else { near(i) }; 4];
        let coords: Vec<f64> = (0..rows).flat_map(row).collect();
        let points = Points::new(coords, 4).expect("whole rows");
        same_in_parts(&plan, &points, 1_000);
    }
}

#[test]
fn odd_records_make_possible_tables() {
    for (name, points) in adversarial(2, 60) {
        let points = &points;
        for k in [2, 9] {
            let settings = PrivateKMeansSettings { finds_k: k == 9, ..Default::default() };
            let plan = PrivateKMeans::new(cube(2), k, budget(), settings).expect("valid");
            assert!(same(&plan, points) > 0, "{name}");
        }
        let plan = PrivateKMeans::new(cube(2), 3, budget(), even()).expect("valid");
        assert!(same(&plan, points) > 0, "{name}");
        let settings = DpmRecentredSettings { max_depth: 3, ..Default::default() };
        let plan = DpmRecentred::new(cube(2), budget(), settings).expect("valid");
        assert!(same(&plan, points) > 0, "{name}");
        same(
            &Dpm::new(cube(2), budget(), DpmSettings { max_depth: 3, ..Default::default() })
                .expect("valid"),
            points,
        );
    }
}

#[test]
fn an_estimated_interval_size_has_no_table() {
    let interval_size = IntervalSize::Estimated;
    let settings = DpmSettings { interval_size, ..Default::default() };
    let plan = Dpm::new(cube(2), budget(), settings).expect("valid");
    assert_eq!(Passes::new(plan).err(), Some(TableError::NoTable));
    let settings = DpmRecentredSettings { interval_size, ..Default::default() };
    let plan = DpmRecentred::new(cube(2), budget(), settings).expect("valid");
    assert_eq!(Passes::new(plan).err(), Some(TableError::NoTable));
}

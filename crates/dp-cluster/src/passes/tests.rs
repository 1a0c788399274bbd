//! By passes as from memory; tables that are none; questions that come from anywhere.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use dp_geometry::{Points, PointsView, PublicBall, PublicBox};
use dp_mechanism::passes::Question as _;
use dp_mechanism::{Algorithm, ChaCha20Rng, Draws, Mechanism, Nearby, Private, SecureSource};
use rand::{RngExt, SeedableRng};
use serde_json::Value;

use super::*;
use crate::dpm::{Dpm, DpmSettings, IntervalSize};
use crate::lsh_splits::{Form, LshSplits, LshSplitsSettings};
use crate::map::{PrivateMap, PrivateMapSettings};
use crate::private_box::PrivateBox;
use crate::private_kmeans::{PrivateKMeans, PrivateKMeansSettings};
use crate::recentring::{DpmRecentred, DpmRecentredSettings, Rounds};
use crate::rings::{RingRounds, RingRoundsSettings};
use crate::testing::adversarial;
use crate::{Budget, ClusterError, Receipt};

fn rng(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

fn cube(dim: usize) -> PublicBox {
    PublicBox::cube(dim, -10.0, 10.0).expect("valid")
}

fn budget() -> Budget {
    Budget::new(3.0, 1e-6).expect("valid")
}

/// Records around eight places, some outside of the box, some no numbers.
fn records(n: usize, dim: usize) -> Points {
    let mut rng = rng(4);
    let coords = (0..n * dim).map(|i| {
        let corner = if (i / dim) >> (i % dim % 3) & 1 == 1 { 6.0 } else { -6.0 };
        match rng.random_range(0..400) {
            0 => f64::NAN,
            1 => f64::NEG_INFINITY,
            2 => 1e300,
            _ => corner + rng.random_range(-1.5..1.5),
        }
    });
    Points::new(coords.collect(), dim).expect("whole rows")
}

/// Tables of parts of the records, each as bytes of an asker's own bytes, merged the last first.
fn answer<P>(asked: &Asked<P>, points: PointsView<'_>, rows: usize) -> Table
where
    P: dp_mechanism::passes::Question
        + for<'a> dp_mechanism::passes::Question<Chunk<'a> = PointsView<'a>>,
{
    let asked: Asked<P> = Asked::from_bytes(&asked.to_bytes()).expect("whole");
    let mut all = asked.tally().expect("has a table");
    for coords in points.coords().chunks(rows * points.dim()).rev() {
        let mut part = asked.tally().expect("has a table");
        part.add(PointsView::new(coords, points.dim()).expect("rows")).expect("few rows");
        let bytes = part.into_table().to_bytes();
        all.merge(&Table::from_bytes(&bytes).expect("whole")).expect("of one question");
    }
    all.into_table()
}

/// The release by passes, kept as bytes after every pass; and how many there were.
fn by_passes<P>(plan: &P, points: PointsView<'_>, rows: usize) -> (P::Output, u32)
where
    P: ByPasses<Question = Question> + Clone,
{
    let mut rng = rng(5);
    let mut source = SecureSource::new(&mut rng);
    let mut passes = Passes::new(plan.clone()).expect("has tables");
    loop {
        let table = answer(passes.asked(), points, rows);
        let pass = passes.asked().pass();
        if let Some(output) = passes.replay(&table, &mut source).expect("of all records") {
            return (output, pass + 1);
        }
        passes = Passes::from_bytes(plan.clone(), &passes.to_bytes()).expect("whole");
    }
}

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
    for (n, dim, k, passes) in [(700, 3, 8, 7..=7), (700, 2, 1, 7..=7), (3, 2, 4, 4..=6)] {
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
            let settings = PrivateKMeansSettings {
                finds_k,
                expected_records: Some(3_000),
                ..Default::default()
            };
            let plan = PrivateKMeans::new(wide.clone(), k, budget(), settings).expect("valid");
            let passes = same(&plan, &records(900, dim));
            assert!((7 + 1 + 2..=7 + 10 + 6).contains(&passes), "{passes}");
            starts.push(format!("{:?}", plan.start()));
        }
    }
    starts.sort();
    starts.dedup();
    assert_eq!(starts, ["Map", "Rings"]);
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

/// Every question refuses a table with one count more or less in any place, other than those that add up again.
#[test]
fn tables_that_no_records_make_are_refused() {
    let settings = DpmRecentredSettings { max_depth: 2, ..Default::default() };
    let plan = DpmRecentred::new(cube(2), budget(), settings).expect("valid");
    assert_eq!(refused_in_all_passes(plan, &records(200, 2)), 3);
    let settings = PrivateKMeansSettings { finds_k: true, ..Default::default() };
    let budget = Budget::new(8.0, 1e-6).expect("valid");
    let plan = PrivateKMeans::new(cube(5), 6, budget, settings).expect("valid");
    assert_eq!(refused_in_all_passes(plan, &records(900, 5)), 5);
}

/// The number of different questions of a plan.
fn refused_in_all_passes<P>(plan: P, points: &Points) -> usize
where
    P: ByPasses<Question = Question>,
{
    let n = points.len() as u64;
    let mut rng = rng(5);
    let mut source = SecureSource::new(&mut rng);
    let mut passes = Passes::new(plan).expect("has tables");
    let mut names = BTreeSet::new();
    loop {
        let asked = passes.asked();
        let table = answer(asked, points.view(), 50);
        let (question, bytes) = (asked.question(), table.to_bytes());
        names.insert(question.name());
        let (numbers, _) = bytes[40..bytes.len() - 8].as_chunks::<8>();
        let entries: Vec<i64> = numbers.iter().map(|entry| i64::from_le_bytes(*entry)).collect();
        // Sums say less of how many records there are than counts do.
        let is_sum = ["sums", "places"].iter().any(|word| question.name().starts_with(word));
        assert!(question.is_possible(n, &entries), "{}", question.name());
        assert!(is_sum || !question.is_possible(n - 1, &entries), "{}", question.name());
        for place in [0, entries.len() / 2, entries.len() - 1] {
            for other in [-1, i64::MAX, i64::MIN, entries[place] + (1 << 40)] {
                let mut entries = entries.clone();
                entries[place] = other;
                let refused = !question.is_possible(n, &entries);
                assert!(refused || (other == -1 && is_sum), "{}", question.name());
            }
        }
        if passes.replay(&table, &mut source).expect("of all records").is_some() {
            return names.len();
        }
    }
}

/// The last question that a plan asks of records, and its answer.
fn last<P>(plan: P, points: &Points) -> (Asked<Question>, Vec<i64>)
where
    P: ByPasses<Question = Question>,
{
    let mut rng = rng(5);
    let mut source = SecureSource::new(&mut rng);
    let mut passes = Passes::new(plan).expect("has tables");
    loop {
        let asked = passes.asked().clone();
        let table = answer(&asked, points.view(), 50);
        let bytes = table.to_bytes();
        let (numbers, _) = bytes[40..bytes.len() - 8].as_chunks::<8>();
        if passes.replay(&table, &mut source).expect("of all records").is_some() {
            return (asked, numbers.iter().map(|entry| i64::from_le_bytes(*entry)).collect());
        }
    }
}

/// Records of one corner lie as far from the middle of their leaf as any can; together they can be no further.
#[test]
fn sums_of_leaves_that_no_records_make_are_refused() {
    let points = records(200, 2);
    let settings = DpmSettings { max_depth: 2, ..Default::default() };
    let plan = Dpm::new(cube(2), budget(), settings).expect("valid");
    let (asked, entries) = last(plan, &points);
    let question = asked.question();
    assert!(question.name() == "sums of the leaves" && entries.len() >= 4, "{}", entries.len());
    assert!(question.is_possible(200, &entries));
    let with = |changes: &[(usize, i64)]| {
        let mut entries = vec![0; entries.len()];
        for &(place, sum) in changes {
            entries[place] = sum;
        }
        entries
    };
    let most = 200 << 18;
    assert!(question.is_possible(200, &with(&[(0, most), (1, -most)])), "one per dimension");
    for lie in [
        with(&[(0, most + 1)]),
        with(&[(1, -most - 1)]),
        // Each of them could be, but a record is in one leaf.
        with(&[(0, most), (2, 1)]),
        with(&[(1, most / 2), (3, -most / 2 - 1)]),
        with(&[(0, i64::MIN)]),
        with(&[(0, i64::MAX), (2, i64::MAX)]),
    ] {
        assert!(!question.is_possible(200, &lie));
    }
    assert!(!question.is_possible(0, &with(&[(0, 1)])) && question.is_possible(0, &with(&[])));
}

/// On each level all records are shared out, and nobody has less than nothing.
#[test]
fn shares_of_a_map_that_no_records_make_are_refused() {
    let points = records(200, 2);
    let settings = PrivateMapSettings { levels: Some(1..=3), ..Default::default() };
    let map = PrivateMap::add_remove(cube(2), budget(), settings).expect("valid");
    let (asked, entries) = last(map, &points);
    let question = asked.question();
    // 3 x 3, 5 x 5 and 9 x 9 vertices.
    assert_eq!(entries.len(), 9 + 25 + 81);
    assert!(question.is_possible(200, &entries));
    let with = |changes: &[(usize, i64)]| {
        let mut entries = entries.clone();
        for &(place, change) in changes {
            entries[place] = entries[place].saturating_add(change);
        }
        entries
    };
    for lie in [
        with(&[(0, 1)]),
        with(&[(114, -1)]),
        // From one level to another, in which the sum of all stays.
        with(&[(0, 1), (9, -1)]),
        with(&[(8, -1), (114, 1)]),
        // Below zero, and back in another vertex of the same level.
        with(&[(0, -entries[0] - 1), (1, entries[0] + 1)]),
        with(&[(0, i64::MAX), (1, i64::MAX)]),
    ] {
        assert!(!question.is_possible(200, &lie));
    }
    assert!(
        question.is_possible(200, &with(&[(4, -entries[4]), (5, entries[4])])),
        "elsewhere on a level"
    );
    assert!(!question.is_possible(199, &entries) && !question.is_possible(u64::MAX, &entries));
}

/// Questions with changed bytes and a sum that fits: each is refused, or counts records into a table of a stated size.
#[test]
fn any_question_is_refused_or_counts() {
    let kmeans = |settings| PrivateKMeans::new(cube(4), 3, budget(), settings).expect("valid");
    let finds = PrivateKMeansSettings { finds_k: true, ..Default::default() };
    let recentred = DpmRecentred::new(cube(4), budget(), DpmRecentredSettings::default());
    let lsh = LshSplitsSettings::default();
    let ball = PublicBall::new(vec![0.0; 4], 20.0).expect("valid");
    let map = PrivateMap::add_remove(cube(2), budget(), PrivateMapSettings::default());
    let mut tried = [0, 0];
    odd_questions(kmeans(finds), 4, &mut tried);
    odd_questions(kmeans(PrivateKMeansSettings::default()), 4, &mut tried);
    odd_questions(recentred.expect("valid"), 4, &mut tried);
    odd_questions(LshSplits::new(ball, 3, budget(), lsh).expect("valid"), 4, &mut tried);
    odd_questions(map.expect("valid"), 2, &mut tried);
    let [counted, refused] = tried;
    assert!(counted > 500 && refused > 500, "{counted} counted, {refused} refused");
}

fn odd_questions<P>(plan: P, dim: usize, [counted, refused]: &mut [u32; 2])
where
    P: ByPasses<Question = Question>,
{
    let (points, mut rng) = (records(300, dim), rng(9));
    let mut passes = Passes::new(plan).expect("has tables");
    loop {
        let whole = passes.asked().to_bytes();
        for _ in 0..60 {
            let mut bytes = whole[..whole.len() - 8].to_vec();
            for _ in 0..rng.random_range(1..3) {
                let at = rng.random_range(8..bytes.len());
                bytes[at] = match rng.random_range(0..3) {
                    0 => rng.random(),
                    1 => [0, 0x7f, 0x80, 0xff][rng.random_range(0..4)],
                    _ => bytes[at] ^ (1 << rng.random_range(0..8)),
                };
            }
            // The sum finds damage only; it is made to fit.
            let next =
                |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
            let sum = bytes.iter().fold(0xcbf2_9ce4_8422_2325, next);
            bytes.extend_from_slice(&sum.to_le_bytes());
            let tally = Asked::<Question>::from_bytes(&bytes).and_then(|asked| asked.tally());
            match tally {
                Ok(mut tally) => {
                    *counted += u32::from(tally.add(points.view()).is_ok());
                    assert!(tally.table().to_bytes().len() < 1 << 28);
                }
                Err(_) => *refused += 1,
            }
        }
        let table = answer(passes.asked(), points.view(), 300);
        if passes.simulate(&table, &mut rng).expect("of all records").is_some() {
            return;
        }
    }
}

/// The bytes of a state or a question with a checksum that fits them: 64-bit FNV-1a of all but the last eight.
fn with_a_fitting_checksum(mut bytes: Vec<u8>) -> Vec<u8> {
    let next = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let end = bytes.len() - 8;
    let sum = bytes[..end].iter().fold(0xcbf2_9ce4_8422_2325, next);
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// Changes bytes of every state that a release goes through, but for what has been drawn, and makes the checksum fit: each of them is refused
/// when it is read, or is as good as one that was left behind. How many were refused and how many went on.
fn forged<P>(plan: &P, points: &Points) -> [usize; 2]
where
    P: ByPasses<Question = Question> + Clone,
{
    let mut rng = rng(6);
    let (mut passes, mut found) = (Passes::new(plan.clone()).expect("has tables"), [0; 2]);
    loop {
        let bytes = passes.to_bytes();
        let rows = [&[1], &(points.len() as u64).to_le_bytes()[..]].concat();
        let public = bytes.windows(rows.len()).rposition(|here| here == rows);
        let places = 16..public.unwrap_or(bytes.len() - 10);
        for at in places.clone().step_by((places.len() / 60).max(1)) {
            for change in [1, 0x80, rng.random_range(1..=u8::MAX)] {
                let mut bytes = bytes.clone();
                bytes[at] ^= change;
                let read = Passes::from_bytes(plan.clone(), &with_a_fitting_checksum(bytes));
                let Ok(mut passes) = read else {
                    found[0] += 1;
                    continue;
                };
                let mut tally = passes.asked().tally().expect("a question that was read");
                if passes.asked().question().dim() == points.dim() {
                    tally.add(points.view()).expect("few");
                    let _ = passes.replay(tally.table(), &mut SecureSource::new(&mut rng));
                    found[1] += 1;
                }
            }
        }
        let table = answer(passes.asked(), points.view(), points.len());
        if passes.replay(&table, &mut SecureSource::new(&mut rng)).expect("its own").is_some() {
            return found;
        }
    }
}

#[test]
fn states_that_were_made_up_are_refused_or_go_on() {
    let points = records(60, 2);
    let small = |found: [usize; 2]| assert!(found[0] > 50 && found[1] > 0, "{found:?}");
    let settings = DpmSettings { max_depth: 3, ..Default::default() };
    small(forged(&Dpm::new(cube(2), budget(), settings).expect("valid"), &points));
    let one_by_one = DpmSettings { counters: 1, ..settings };
    small(forged(&Dpm::new(cube(2), budget(), one_by_one).expect("valid"), &points));
    let rounds = Rounds { shares: vec![1.0; 3], merge_after: 1, ..Rounds::default() };
    let settings = DpmRecentredSettings { max_depth: 2, rounds, ..Default::default() };
    small(forged(&DpmRecentred::new(cube(2), budget(), settings).expect("valid"), &points));
    let ring_settings = RingRoundsSettings { rounds: 2, most_planes: 2, ..Default::default() };
    small(forged(&RingRounds::new(cube(2), 2, budget(), ring_settings).expect("valid"), &points));
    small(forged(&PrivateBox::plan(cube(2), budget()).expect("valid"), &points));
    let ball = PublicBall::new(vec![0.0; 2], 10.0).expect("valid");
    let settings = LshSplitsSettings { depth: 4, ..Default::default() };
    small(forged(&LshSplits::new(ball, 2, budget(), settings).expect("valid"), &points));
    for finds_k in [false, true] {
        let settings = PrivateKMeansSettings { finds_k, ..Default::default() };
        let plan = PrivateKMeans::new(cube(2), 3, budget(), settings).expect("valid");
        small(forged(&plan, &points));
    }
}

/// Which value, and which limit.
#[test]
fn a_state_that_was_made_up_says_what_is_wrong_with_it() {
    let plan = Dpm::new(cube(1), budget(), DpmSettings::default()).expect("valid");
    let rings = RingRounds::new(cube(1), 2, budget(), RingRoundsSettings::default());
    let rings = rings.expect("valid");
    let (_, other) = plan.first();
    let (state, _) = rings.first();
    assert_eq!(rings.fits(&state, &other), Err(TableError::OtherQuestion));
    assert!(rings.fits(&state, &rings.first().1).is_ok());
    let within = StateError::unless_within("radius", 7.0, [0.0, 4.5]);
    let text = "no run of this plan leaves this state: radius is 7, the limit is 4.5";
    assert_eq!(within.expect_err("above").to_string(), text);
    assert!(StateError::unless_within("radius", f64::NAN, [0.0, 4.5]).is_err());
}

/// A plan that looks at each state with which it goes on: what it says of other numbers and other lengths in it.
struct Watched<P> {
    plan: P,
    /// Where a number or a length was changed, and how: refused at least once, and the changes that went on.
    seen: Rc<RefCell<BTreeMap<String, [usize; 2]>>>,
}

impl<P: Clone> Clone for Watched<P> {
    fn clone(&self) -> Self {
        Self { plan: self.plan.clone(), seen: Rc::clone(&self.seen) }
    }
}

impl<P: Algorithm> Algorithm for Watched<P> {
    type Relation = P::Relation;
    type Data<'a> = P::Data<'a>;
    type Shape = P::Shape;
    type Output = P::Output;
    type Error = P::Error;

    fn cost(&self) -> Receipt<P::Relation> {
        self.plan.cost()
    }

    fn shape(data: &P::Data<'_>) -> P::Shape {
        P::shape(data)
    }

    fn check(&self, shape: &P::Shape) -> Result<(), P::Error> {
        self.plan.check(shape)
    }

    fn run(&self, data: Private<P::Data<'_>>, draws: &mut Draws<'_>) -> P::Output {
        self.plan.run(data, draws)
    }
}

impl<P: ByPasses<Question = Question>> ByPasses for Watched<P> {
    type Question = Question;
    type State = P::State;

    fn identity(&self) -> impl serde::Serialize {
        self.plan.identity()
    }

    fn shape_of(&self, question: &Question, rows: u64) -> P::Shape {
        self.plan.shape_of(question, rows)
    }

    fn fits(&self, state: &P::State, question: &Question) -> Result<(), TableError> {
        let whole = serde_json::to_value(state).expect("a state has plain fields");
        let mut seen = self.seen.borrow_mut();
        for (place, pointer) in places(&whole) {
            for change in CHANGES {
                let mut other = whole.clone();
                let Some(name) = change(other.pointer_mut(&pointer).expect("a place")) else {
                    continue;
                };
                let read: Result<P::State, _> = serde_json::from_value(other);
                let went_on = read.is_ok_and(|state| self.plan.fits(&state, question).is_ok());
                seen.entry(format!("{place} {name}")).or_default()[usize::from(went_on)] += 1;
            }
        }
        self.plan.fits(state, question)
    }

    fn first(&self) -> (P::State, Question) {
        self.plan.first()
    }

    fn answer(
        &self,
        state: P::State,
        counted: &Counted,
        draws: &mut Draws<'_>,
    ) -> Next<P::State, Question, P::Output> {
        self.plan.answer(state, counted, draws)
    }
}

/// Numbers and lists of a value, each by its name and where it is: of every list the first and the last entry.
fn places(value: &Value) -> BTreeMap<String, String> {
    fn go(value: &Value, name: &str, pointer: &str, found: &mut BTreeMap<String, String>) {
        match value {
            Value::Number(_) => {
                found.insert(name.to_owned(), pointer.to_owned());
            }
            Value::Array(all) => {
                found.insert(format!("{name}[]"), pointer.to_owned());
                for at in [Some(0), all.len().checked_sub(1)].into_iter().flatten() {
                    if let Some(one) = all.get(at) {
                        go(
                            one,
                            &format!("{name}/{}", usize::from(at > 0)),
                            &format!("{pointer}/{at}"),
                            found,
                        );
                    }
                }
            }
            Value::Object(fields) => fields.iter().for_each(|(field, one)| {
                go(one, &format!("{name}/{field}"), &format!("{pointer}/{field}"), found);
            }),
            Value::Null | Value::Bool(_) | Value::String(_) => {}
        }
    }
    let mut found = BTreeMap::new();
    go(value, "", "", &mut found);
    found
}

/// Changes a number or a list, and says how; nothing if it is of another kind.
type ChangeOf = fn(&mut Value) -> Option<&'static str>;

const CHANGES: [ChangeOf; 4] = [
    |value| {
        let huge = if value.is_f64() { Value::from(1e300) } else { Value::from(i64::MAX) };
        value.is_number().then(|| *value = huge).map(|()| "huge")
    },
    |value| {
        let below = if value.is_f64() { Value::from(-1e300) } else { Value::from(-7) };
        value.is_number().then(|| *value = below).map(|()| "below 0")
    },
    |value| value.as_array_mut().and_then(Vec::pop).map(|_| "shorter"),
    |value| {
        let all = value.as_array_mut()?;
        let last = all.last()?.clone();
        all.push(last);
        Some("longer")
    },
];

/// Changes of the states of a plan with which it goes on: of numbers that noise may have made of any size, in which it can only be checked that nothing fails.
fn may_be_anything<P>(plan: P, points: &Points) -> Vec<String>
where
    P: ByPasses<Question = Question> + Clone,
{
    let seen = Rc::default();
    let plan = Watched { plan, seen: Rc::clone(&seen) };
    by_passes(&plan, points.view(), 50);
    let seen = seen.borrow();
    assert!(seen.values().filter(|[refused, _]| *refused > 0).count() > 5, "{seen:?}");
    let went_on = seen.iter().filter(|(_, [_, went_on])| *went_on > 0);
    // The field, without which entry it is of.
    let is_field = |part: &&str| !part.starts_with(|first: char| first.is_ascii_digit());
    let name = |place: &String| {
        let (field, change) = place.split_once(' ').expect("a place and a change");
        format!("{} {change}", field.split('/').rfind(is_field).unwrap_or_default())
    };
    let names: BTreeSet<String> = went_on.map(|(place, _)| name(place)).collect();
    names.into_iter().collect()
}

#[test]
fn every_number_and_list_of_a_state_has_limits() {
    let points = records(60, 2);
    let settings = DpmSettings { max_depth: 3, ..Default::default() };
    let dpm = Dpm::new(cube(2), budget(), settings).expect("valid");
    assert_eq!(may_be_anything(dpm, &points), [""; 0]);
    let ball = PublicBall::new(vec![0.0; 2], 10.0).expect("valid");
    let settings = LshSplitsSettings { depth: 4, ..Default::default() };
    let splits = LshSplits::new(ball, 2, budget(), settings).expect("valid");
    assert_eq!(may_be_anything(splits, &points), ["noisy_counts below 0", "noisy_counts huge"]);
    let settings = RingRoundsSettings { rounds: 2, most_planes: 2, ..Default::default() };
    let rings = RingRounds::new(cube(2), 2, budget(), settings).expect("valid");
    assert_eq!(
        may_be_anything(rings, &points),
        ["solver_words huge", "total below 0", "total huge"]
    );
    let found = PrivateBox::plan(cube(2), budget()).expect("valid");
    let of_box = ["counts below 0", "counts huge", "total below 0", "total huge"];
    assert_eq!(may_be_anything(found, &points), of_box);
    let rounds = Rounds { shares: vec![1.0; 3], merge_after: 1, ..Rounds::default() };
    let settings = DpmRecentredSettings { max_depth: 2, rounds, ..Default::default() };
    let recentred = DpmRecentred::new(cube(2), budget(), settings).expect("valid");
    let of_rounds = ["count_variance", "counted_variance", "target", "variance"];
    let mut of_rounds: BTreeSet<String> = of_rounds.map(|field| format!("{field} huge")).into();
    of_rounds.insert("target below 0".to_owned());
    assert_eq!(may_be_anything(recentred, &points), Vec::from_iter(of_rounds.clone()));
    // From a map on a plane, from rings elsewhere.
    of_rounds.extend(of_box.map(str::to_owned));
    let mut of_rings = of_rounds.clone();
    of_rings.extend(["of_start huge", "reach huge", "solver_words huge"].map(str::to_owned));
    for (dim, all) in [(2, of_rounds), (5, of_rings)] {
        for finds_k in [false, true] {
            let settings = PrivateKMeansSettings { finds_k, ..Default::default() };
            let plan = PrivateKMeans::new(cube(dim), 3, budget(), settings).expect("valid");
            let found = may_be_anything(plan, &records(200, dim));
            assert_eq!(found, Vec::from_iter(all.clone()), "{dim} {finds_k}");
        }
    }
}

/// A table that was made for one plan is none of that with another budget.
#[test]
fn tables_are_those_of_one_plan() {
    fn refused<P: ByPasses<Question = Question>>(plan: impl Fn(Budget) -> P) {
        let passes = |delta| {
            let budget = Budget::new(3.0, delta).expect("valid");
            Passes::new(plan(budget)).expect("has tables")
        };
        let table = passes(1e-6).asked().tally().expect("has a table").into_table();
        assert_eq!(passes(1e-6).check(&table), Ok(()));
        assert_eq!(passes(2e-6).check(&table), Err(TableError::OtherPlan));
    }
    let public_box = cube(2);
    refused(|budget| {
        let settings = DpmSettings::default();
        Dpm::new(public_box.clone(), budget, settings).expect("valid")
    });
    refused(|budget| {
        let settings = DpmRecentredSettings::default();
        DpmRecentred::new(public_box.clone(), budget, settings).expect("valid")
    });
    refused(|budget| {
        let settings = RingRoundsSettings::default();
        RingRounds::new(public_box.clone(), 3, budget, settings).expect("valid")
    });
    refused(|budget| PrivateBox::plan(public_box.clone(), budget).expect("valid"));
    refused(|budget| {
        let settings = PrivateMapSettings::default();
        PrivateMap::add_remove(public_box.clone(), budget, settings).expect("valid")
    });
    refused(|budget| {
        let ball = PublicBall::new(vec![0.0; 2], 10.0).expect("valid");
        LshSplits::new(ball, 3, budget, LshSplitsSettings::default()).expect("valid")
    });
    refused(|budget| {
        let settings = PrivateKMeansSettings::default();
        PrivateKMeans::new(public_box.clone(), 3, budget, settings).expect("valid")
    });
}

/// One side further out, too narrow, of another dimension.
#[test]
fn a_box_that_was_found_is_in_that_of_the_plan() {
    let of_plan = cube(2);
    let inside = |sides: [f64; 2]| {
        let found = PublicBox::new(vec![-1.0, sides[0]], vec![1.0, sides[1]]).expect("valid");
        is_inside(&found, &of_plan).is_ok()
    };
    assert!(inside([-10.0, 10.0]) && inside([-1.0, 0.0]));
    assert!(!inside([-11.0, 0.0]) && !inside([-1.0, 11.0]) && !inside([0.0, 1e-15]));
    assert!(is_inside(&of_plan, &of_plan).is_ok() && is_inside(&cube(1), &of_plan).is_err());
}

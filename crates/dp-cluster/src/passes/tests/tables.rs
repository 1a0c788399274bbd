//! Tables that no records make, and those of other plans.

use std::collections::BTreeSet;

use super::*;

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
pub(super) fn refused_in_all_passes<P>(plan: P, points: &Points) -> usize
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

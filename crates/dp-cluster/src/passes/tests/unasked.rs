//! Questions that nobody asks, each different in one thing from one that a release asks: a counter that is made for one would fail on records.

use serde_json::json;

use super::changed::Left;
use super::made_up::{at, left_behind, list, twice};
use super::*;
use crate::residual::UNITS;

type Change = fn(&mut Value);

/// The first question that has something counts, and with each of these changes does not.
fn refused_if_changed(left: &[Left], there: &str, changes: &[(&str, Change)]) {
    let own = left.iter().find(|[_, question]| question.pointer(there).is_some());
    let [_, own] = own.unwrap_or_else(|| panic!("{there} in one of {}", left.len()));
    let counts = |question: &Value| {
        let question: Question = serde_json::from_value(question.clone()).expect("a question");
        question.counter().is_some()
    };
    assert!(counts(own), "{there}");
    for (name, change) in changes {
        let mut other = own.clone();
        change(&mut other);
        assert!(other != *own, "{name}");
        assert!(!counts(&other), "{name}");
    }
}

/// As many levels of a tree, each of which cuts all nodes.
fn all_cut(levels: u32) -> Value {
    let cut = |left: u32| json!({ "Cut": { "dimension": 0, "cut": 1, "left": 2 * left } });
    (0..levels).map(|level| (0..1 << level).map(cut).collect()).collect::<Vec<Value>>().into()
}

#[test]
fn questions_of_trees_and_centres_that_nobody_asks_have_no_counter() {
    let points = records(400, 2);
    let settings = DpmSettings { max_depth: 3, ..Default::default() };
    let mut left = left_behind(Dpm::new(cube(2), budget(), settings).expect("valid"), &points);
    let rounds = Rounds { shares: vec![1.0; 3], merge_after: 1, ..Rounds::default() };
    let settings = DpmRecentredSettings { max_depth: 2, rounds, ..Default::default() };
    let recentred = DpmRecentred::new(cube(2), budget(), settings).expect("valid");
    left.extend(left_behind(recentred, &points));
    refused_if_changed(
        &left,
        "/what/Level",
        &[
            ("counted otherwise", |all| *at(all, "/counting") = json!(999)),
            ("of another dimension", |all| *at(all, "/dim") = json!(3)),
            ("of no dimension", |all| {
                *all = json!({ "counting": all["counting"], "dim": 0, "what": "Rows" });
            }),
            ("nodes beyond the last", |all| *at(all, "/what/Level/nodes") = json!(2)),
            ("nodes from beyond the last", |all| *at(all, "/what/Level/first") = json!(u64::MAX)),
            ("one interval", |all| *at(all, "/what/Level/path/intervals") = json!(1)),
            ("a level of nothing", |all| *at(all, "/what/Level/path/levels") = json!([[]])),
            ("too many nodes", |all| *at(all, "/what/Level/path/levels") = all_cut(16)),
        ],
    );
    refused_if_changed(
        &left,
        "/what/LeafSums",
        &[
            ("a middle less", |all| drop(list(all, "/what/LeafSums/middles").pop())),
            ("a middle more", |all| twice(all, "/what/LeafSums/middles")),
            ("before the first", |all| *at(all, "/what/LeafSums/middles/0") = json!(-1)),
            ("beyond the last", |all| *at(all, "/what/LeafSums/middles/0") = json!(1_u64 << 40)),
        ],
    );
    refused_if_changed(
        &left,
        "/what/Radii/labels/tree/levels",
        &[
            ("a centre less", |all| {
                let centres = list(all, "/what/Radii/labels/centres");
                centres.truncate(centres.len() - 2);
            }),
            ("a tree of one dimension", |all| {
                let side = |x: f64| vec![x];
                let tree = at(all, "/what/Radii/labels/tree");
                *at(tree, "/public_box/min") = json!(side(-10.0));
                *at(tree, "/public_box/max") = json!(side(10.0));
                let leaves = json!([{ "Leaf": { "number": 0 } }]);
                *at(tree, "/levels") = json!([leaves]);
                *at(all, "/what/Radii/labels/centres") = json!([0.0, 0.0]);
            }),
        ],
    );
    refused_if_changed(
        &left,
        "/what/Sums",
        &[
            ("a clip less", |all| drop(list(all, "/what/Sums/clip").pop())),
            ("a far less", |all| drop(list(all, "/what/Sums/far").pop())),
            ("a clip more", |all| twice(all, "/what/Sums/clip")),
            ("a far more", |all| twice(all, "/what/Sums/far")),
            ("no centres", |all| {
                *at(all, "/what/Sums/labels/tree") = Value::Null;
                list(all, "/what/Sums/labels/centres").clear();
                list(all, "/what/Sums/clip").clear();
                list(all, "/what/Sums/far").clear();
            }),
        ],
    );
}

/// Of boxes, rings and hyperplanes.
#[test]
fn other_questions_that_nobody_asks_have_no_counter() {
    let points = records(400, 2);
    let mut left = left_behind(PrivateBox::plan(cube(2), budget()).expect("valid"), &points);
    let rings = RingRounds::new(cube(2), 2, budget(), RingRoundsSettings::default());
    left.extend(left_behind(rings.expect("valid"), &points));
    let ball = PublicBall::new(vec![0.0; 2], 10.0).expect("valid");
    let settings = LshSplitsSettings { depth: 4, ..Default::default() };
    left.extend(left_behind(LshSplits::new(ball, 2, budget(), settings).expect("valid"), &points));
    refused_if_changed(
        &left,
        "/what/Nest",
        &[
            ("a middle of one dimension", |all| drop(list(all, "/what/Nest/middle").pop())),
            ("a middle of three dimensions", |all| twice(all, "/what/Nest/middle")),
        ],
    );
    refused_if_changed(
        &left,
        "/what/RingCells",
        &[
            ("rings of nobody", |all| twice(all, "/what/RingCells/planes")),
            ("too many cells", |all| {
                let dim = list(all, "/what/RingCells/labels/public_box/min").len();
                let planes = list(all, "/what/RingCells/normals").len() / dim;
                let planes = planes.min(RingRounds::MAX_PLANES);
                *at(all, "/what/RingCells/planes") = json!(vec![planes; 1 << 14]);
                *at(all, "/what/RingCells/labels/centres") = json!(vec![0.5; dim << 14]);
            }),
            ("more planes than there are", |all| {
                list(all, "/what/RingCells/normals").truncate(2);
                list(all, "/what/RingCells/planes").fill(json!(3));
            }),
            ("rings that end too early", |all| {
                *at(all, "/what/RingCells/nearly_all") = json!(1e-300);
            }),
        ],
    );
    refused_if_changed(
        &left,
        "/what/GroupSums",
        &[
            ("a cell less", |all| drop(list(all, "/what/GroupSums/of_cell").pop())),
            ("a cell more", |all| twice(all, "/what/GroupSums/of_cell")),
            ("a group less", |all| drop(list(all, "/what/GroupSums/radii").pop())),
        ],
    );
    refused_if_changed(
        &left,
        "/what/PartSums",
        &[
            ("no leaves", |all| *at(all, "/what/PartSums/leaves") = json!(0)),
            ("no parts", |all| list(all, "/what/PartSums/fates").clear()),
            ("a part of itself", |all| {
                *at(all, "/what/PartSums/fates/0") =
                    json!({ "Cut": { "level": 0, "sides": [0, 0] } });
            }),
            ("a part of one that is not there", |all| {
                *at(all, "/what/PartSums/fates/0") =
                    json!({ "Cut": { "level": 0, "sides": [99, 99] } });
            }),
            ("beyond the last bit", |all| {
                let sides = at(all, "/what/PartSums/fates/0/Cut/sides").clone();
                *at(all, "/what/PartSums/fates/0") =
                    json!({ "Cut": { "level": 32, "sides": sides } });
            }),
        ],
    );
    refused_if_changed(
        &left,
        "/what/Codes",
        &[("too many planes", |all| {
            for _ in 0..40 {
                twice(all, "/what/Codes/normals");
            }
        })],
    );
}

/// Records of another dimension are none of a question, and from the root of a tree all of them are seen.
#[test]
fn records_are_those_that_are_asked_for() {
    let settings = DpmSettings { max_depth: 3, ..Default::default() };
    let plan = Dpm::new(cube(2), budget(), settings).expect("valid");
    let (_, question) = plan.first();
    assert_eq!(question.rows(records(6, 2).view()), Some(6));
    assert_eq!(question.rows(records(4, 3).view()), None);
    let mut entries = vec![0; question.entries()];
    let mut counter = question.counter().expect("a question");
    Question::count(&mut counter, records(6, 2).view(), &mut entries);
    let possible = [5, 6, 7].map(|rows| question.is_possible(rows, &entries));
    assert_eq!(possible, [false, true, false]);
}

/// Counts that are no whole records, of more or fewer than there are; sums that are too large for them.
#[test]
fn sums_that_no_records_make_are_refused() {
    let points = records(200, 2);
    let rounds = Rounds { shares: vec![1.0; 3], merge_after: 1, ..Rounds::default() };
    let settings = DpmRecentredSettings { max_depth: 2, rounds, ..Default::default() };
    let recentred = DpmRecentred::new(cube(2), budget(), settings).expect("valid");
    let ball = PublicBall::new(vec![0.0; 2], 10.0).expect("valid");
    let settings = LshSplitsSettings { depth: 4, ..Default::default() };
    let splits = LshSplits::new(ball, 2, budget(), settings).expect("valid");
    for (asked, entries) in [last(recentred.clone(), &points), last(splits, &points)] {
        let (question, name) = (asked.question(), asked.question().name());
        assert!(question.is_possible(200, &entries), "{name}");
        assert!(!question.is_possible(20, &entries), "{name}");
        for place in 0..entries.len() {
            for change in [1_i64 << 40, -(1 << 40)] {
                let mut other = entries.clone();
                other[place] += change;
                assert!(!question.is_possible(200, &other), "{name} {place} {change}");
            }
        }
        let part = entries.iter().enumerate().filter(|(place, _)| {
            let mut other = entries.clone();
            other[*place] += 1;
            !question.is_possible(200, &other)
        });
        assert!(part.count() * 4 >= entries.len(), "{name}");
    }
    // Three records of one centre, all of which are as far as they count, and some of them beyond.
    let (asked, mut entries) = last(recentred, &points);
    entries.fill(0);
    let three = |away: i64| [3 * UNITS + away, 0, UNITS * 3 / 10, 2 * (UNITS * 3 / 10)];
    let mut is_possible = |rows, away| {
        entries[..4].copy_from_slice(&three(away));
        asked.question().is_possible(rows, &entries)
    };
    assert_eq!([-1, 0, 1].map(|away| is_possible(3, away)), [true, true, false]);
    assert_eq!([2, 3, 4].map(|rows| is_possible(rows, 0)), [false, true, false]);
    let settings = LshSplitsSettings { depth: 4, ..Default::default() };
    let ball = PublicBall::new(vec![0.0; 2], 10.0).expect("valid");
    let (_, codes) = LshSplits::new(ball, 2, budget(), settings).expect("valid").first();
    let mut entries = vec![0; codes.entries()];
    entries[0] = 200;
    assert_eq!([199, 200, 201].map(|rows| codes.is_possible(rows, &entries)), [false, true, false]);
}

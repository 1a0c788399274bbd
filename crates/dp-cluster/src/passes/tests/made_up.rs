//! States and questions that nobody leaves behind, each different in one thing from one with which a release goes on. The state and its question change
//! together, as somebody would change them who makes them up.

use std::rc::Rc;

use serde_json::json;

use super::changed::{Left, Watched};
use super::*;

/// States with their questions, in the order in which a release goes through them.
pub(super) fn left_behind<P>(plan: P, points: &Points) -> Vec<Left>
where
    P: ByPasses<Question = Question> + Clone,
{
    let (state, question) = plan.first();
    let (state, question) = (serde_json::to_value(state), serde_json::to_value(question));
    let first = [state.expect("plain fields"), question.expect("plain fields")];
    let left = Rc::default();
    let plan = Watched { plan, seen: Rc::default(), left: Rc::clone(&left) };
    by_passes(&plan, points.view(), 50);
    let all: Vec<Left> = std::iter::once(first).chain(left.take()).collect();
    // None goes on with the question of another.
    for [state, question] in &all {
        for [_, other] in all.iter().filter(|[_, other]| other != question) {
            assert_ne!(goes_on(&plan.plan, &[state.clone(), other.clone()]), Some(true));
        }
    }
    all
}

/// Of one dimension or more, the sides of a box that is twice as wide as that of the plan.
fn widen(value: &mut Value, public_box: &str) {
    for (side, end) in [("min", -20.0), ("max", 20.0)] {
        list(value, &format!("{public_box}/{side}")).fill(json!(end));
    }
}

/// Whether a release goes on from there; none if these are of other types.
fn goes_on<P: ByPasses<Question = Question>>(plan: &P, [state, question]: &Left) -> Option<bool> {
    let state: P::State = serde_json::from_value(state.clone()).ok()?;
    let question: Question = serde_json::from_value(question.clone()).ok()?;
    Some(question.counter().is_some() && plan.fits(&state, &question).is_ok())
}

pub(super) fn at<'a>(value: &'a mut Value, pointer: &str) -> &'a mut Value {
    assert!(value.pointer(pointer).is_some(), "{pointer} in {value}");
    value.pointer_mut(pointer).expect("just looked at")
}

fn number(value: &mut Value, pointer: &str) -> f64 {
    at(value, pointer).as_f64().expect("a number")
}

/// Gives the first centre of a question for sums this radius and clip, in its state as well.
fn clip(state: &mut Value, question: &mut Value, [radius, clip]: [f64; 2]) {
    *at(state, "/Rounds/centres/standings/0/radius") = json!(radius);
    *at(state, "/Rounds/centres/standings/0/clip") = json!(clip);
    *at(question, "/what/Sums/far/0") = json!(2.0 * radius);
    *at(question, "/what/Sums/clip/0") = json!(clip);
}

pub(super) fn list<'a>(value: &'a mut Value, pointer: &str) -> &'a mut Vec<Value> {
    at(value, pointer).as_array_mut().expect("a list")
}

/// Of a list, the first entry once more at its end.
pub(super) fn twice(value: &mut Value, pointer: &str) {
    let list = list(value, pointer);
    list.push(list[0].clone());
}

type Change = fn(&mut Value, &mut Value);

/// The first state where there is something goes on as it is, and with each of these changes only if it says so.
fn decides<P>(plan: &P, left: &[Left], there: &str, changes: &[(&str, bool, Change)])
where
    P: ByPasses<Question = Question>,
{
    // What is infinite is not read back from JSON.
    let own = left.iter().find(|own| {
        let found = own.iter().find_map(|value| value.pointer(there));
        found.is_some_and(|found| !found.is_null()) && goes_on(plan, own).is_some()
    });
    let own = own.unwrap_or_else(|| panic!("{there} in one of {}", left.len()));
    assert_eq!(goes_on(plan, own), Some(true), "{there}");
    for (name, goes, change) in changes {
        let mut other = own.clone();
        let [state, question] = &mut other;
        change(state, question);
        assert!(other != *own, "{name}");
        assert_eq!(goes_on(plan, &other), Some(*goes), "{name}");
    }
}

#[test]
fn states_of_a_search_for_a_box_are_those_of_one() {
    let plan = PrivateBox::plan(cube(2), budget()).expect("valid");
    let left = left_behind(plan.clone(), &records(60, 2));
    decides(
        &plan,
        &left,
        "/round",
        &[("a number of records before it is drawn", false, |state, _| {
            *at(state, "/total") = json!(5.0);
        })],
    );
    decides(
        &plan,
        &left,
        "/of_mean",
        &[
            ("no number of records", false, |state, _| *at(state, "/total") = Value::Null),
            ("perhaps nobody", true, |state, _| {
                *at(state, "/of_mean/is_sure") = json!(false);
                *at(state, "/total") = json!(0.5);
            }),
            ("surely nobody", false, |state, _| {
                *at(state, "/of_mean/is_sure") = json!(true);
                *at(state, "/total") = json!(0.5);
            }),
            ("more than can be", false, |state, _| {
                *at(state, "/of_mean/is_sure") = json!(false);
                *at(state, "/total") = json!(1e31);
            }),
            ("in another box", false, |state, question| {
                widen(state, "/nest/public_box");
                widen(question, "/what/Nest/public_box");
            }),
            ("around a place beyond the box", false, |state, question| {
                list(state, "/nest/middle").fill(json!(1e3));
                list(question, "/what/Nest/middle").fill(json!(1e3));
            }),
            ("wider than all", false, |state, question| {
                *at(state, "/of_mean/half") = json!(1.5);
                *at(question, "/what/Nest/half") = json!(1.5);
            }),
        ],
    );
    let last = &left[left.len() - 1..];
    decides(
        &plan,
        last,
        "/round",
        &[
            ("a mean after the last round", false, |state, question| {
                twice(state, "/looks");
                *at(state, "/of_mean") = json!({ "half": 0.5, "is_sure": false });
                *at(question, "/what/Nest/half") = json!(0.5);
            }),
            ("another round", false, |state, _| {
                twice(state, "/looks");
                *at(state, "/round") = json!(last_round() + 1);
            }),
        ],
    );
    assert_eq!(last[0][0]["round"], json!(last_round()));
}

/// Of the search for a box.
const fn last_round() -> u64 {
    3
}

#[test]
fn states_of_a_tree_are_those_of_one() {
    let settings = DpmSettings { max_depth: 3, ..Default::default() };
    let of = |settings| Dpm::new(cube(2), budget(), settings).expect("valid");
    let (plan, points) = (of(settings), records(400, 2));
    let left = left_behind(plan.clone(), &points);
    decides(
        &plan,
        &left,
        "/Tree/Level/nodes/0",
        &[
            ("a finished level", false, |state, question| {
                let nodes = list(state, "/Tree/Level/nodes").clone();
                let leaf = |number: usize| json!({ "Leaf": { "number": number } });
                *at(state, "/Tree/Level/fates") = (0..nodes.len()).map(leaf).collect();
                *at(question, "/what/Level/first") = json!(nodes.len());
                *at(state, "/Tree/Level/leaves") = json!(nodes);
                *at(question, "/what/Level/nodes") = json!(0);
            }),
            ("a number of records alone", false, |state, question| {
                *at(state, "/Tree") = json!({ "Interval": { "total": 5 } });
                *at(question, "/what") = json!("Rows");
            }),
        ],
    );
    decides(
        &plan,
        &left,
        "/Tree/Level/nodes/1",
        &[
            ("in another box", false, |state, question| {
                widen(state, "/Tree/Level/path/public_box");
                widen(question, "/what/Level/path/public_box");
            }),
            ("a cell beyond the box", false, |state, _| {
                *at(state, "/Tree/Level/nodes/0/cell/high/0") = json!(u16::MAX);
            }),
            ("a cell that ends before it begins", false, |state, _| {
                let high = at(state, "/Tree/Level/nodes/0/cell/high/0").as_u64();
                let low = high.expect("an end") + 1;
                *at(state, "/Tree/Level/nodes/0/cell/low/0") = json!(low);
            }),
            ("a node is lost", false, |state, question| {
                let nodes = list(state, "/Tree/Level/nodes");
                nodes.pop();
                *at(question, "/what/Level/nodes") = json!(nodes.len());
            }),
        ],
    );
    // A pass for each node: some of a level are cut.
    let one_by_one = of(DpmSettings { counters: 1, ..settings });
    let of_nodes = left_behind(one_by_one.clone(), &points);
    decides(
        &one_by_one,
        &of_nodes,
        "/Tree/Level/fates/0",
        &[
            ("fates that do not follow", false, |state, _| {
                *at(state, "/Tree/Level/fates") = json!([{ "Leaf": { "number": 7 } }]);
                *at(state, "/Tree/Level/leaves") = json!([]);
                *at(state, "/Tree/Level/next") = at(state, "/Tree/Level/nodes").clone();
            }),
            ("one next node more", false, |state, _| twice(state, "/Tree/Level/next")),
            ("a next cell beyond the box", false, |state, _| {
                *at(state, "/Tree/Level/next/0/cell/high/0") = json!(u16::MAX);
            }),
        ],
    );
    // Of a deeper tree as far as it has no more levels than one of the plan.
    let flat = of(DpmSettings { max_depth: 2, ..settings });
    let mut seen = [0, 0];
    for own in &left {
        let [state, _] = own;
        let levels = |place: &str| state.pointer(place)?.as_array().map(Vec::len);
        let fits = levels("/Tree/Level/path/levels").is_none_or(|levels| levels < 2)
            && levels("/Sums/path/levels").is_none_or(|levels| levels <= 2);
        assert_eq!(goes_on(&plan, own), Some(true));
        assert_eq!(goes_on(&flat, own), Some(fits), "{state}");
        seen[usize::from(fits)] += 1;
    }
    assert_eq!(seen, [2, 2]);
}

#[test]
fn states_of_ring_rounds_are_those_of_some() {
    let settings = RingRoundsSettings { rounds: 2, most_planes: 2, ..Default::default() };
    let plan = RingRounds::new(cube(2), 2, budget(), settings).expect("valid");
    let left = left_behind(plan.clone(), &records(60, 2));
    decides(
        &plan,
        &left,
        "/groups",
        &[
            ("no groups", false, |state, question| {
                list(state, "/groups/all").clear();
                list(state, "/groups/of_cell").fill(json!(u32::MAX));
                list(question, "/what/GroupSums/radii").clear();
                list(question, "/what/GroupSums/of_cell").fill(json!(u32::MAX));
            }),
            ("more words than there are", false, |state, _| {
                *at(state, "/solver_words") = json!(u64::MAX);
            }),
        ],
    );
    decides(
        &plan,
        &left,
        "/what/RingCells",
        &[("more centres than there may be", false, |state, question| {
            for _ in 0..64 {
                for side in [0, 1] {
                    let x = at(state, &format!("/centres/points/coords/{side}")).clone();
                    list(state, "/centres/points/coords").push(x.clone());
                    list(question, "/what/RingCells/labels/centres").push(x);
                }
                twice(state, "/centres/counts");
                twice(question, "/what/RingCells/planes");
            }
        })],
    );
    // Several centres of nobody, however their rings are cut.
    for planes in 0..=2 {
        let mut left = left
            .iter()
            .find(|[state, question]| {
                question.pointer("/what/RingCells/planes/1").is_some() && state["groups"].is_null()
            })
            .expect("a second round")
            .clone();
        let [state, question] = &mut left;
        list(state, "/centres/counts").fill(json!(0.0));
        list(question, "/what/RingCells/planes").fill(json!(planes));
        assert_eq!(goes_on(&plan, &left), Some(false), "{planes}");
    }
}

#[test]
fn states_of_other_plans_are_refused() {
    let ball = PublicBall::new(vec![0.0; 2], 10.0).expect("valid");
    let settings = LshSplitsSettings { depth: 4, ..Default::default() };
    let splits = LshSplits::new(ball, 2, budget(), settings).expect("valid");
    let left = left_behind(splits.clone(), &records(60, 2));
    decides(
        &splits,
        &left,
        "/fates",
        &[("no leaves", false, |state, question| {
            *at(state, "/fates") = json!(["Dropped"]);
            *at(state, "/noisy_counts") = json!([]);
            *at(question, "/what/PartSums/fates") = json!(["Dropped"]);
            *at(question, "/what/PartSums/leaves") = json!(0);
        })],
    );
    let rounds = Rounds { shares: vec![1.0; 3], merge_after: 1, ..Rounds::default() };
    let settings = DpmRecentredSettings { max_depth: 2, rounds, ..Default::default() };
    let recentred = DpmRecentred::new(cube(2), budget(), settings).expect("valid");
    let left = left_behind(recentred.clone(), &records(60, 2));
    decides(
        &recentred,
        &left,
        "/Rounds",
        &[("centres of one dimension", false, |state, _| {
            *at(state, "/Rounds/centres/dim") = json!(1);
            let standings = list(state, "/Rounds/centres/standings");
            let others = standings.clone();
            standings.extend(others);
        })],
    );
    decides(
        &recentred,
        &left,
        "/what/Sums",
        &[
            ("residuals that are clipped beyond the radius", false, |state, question| {
                let radius = number(state, "/Rounds/centres/standings/0/radius");
                clip(state, question, [radius, radius.next_up()]);
            }),
            ("and to next to nothing", false, |state, question| {
                let radius = number(state, "/Rounds/centres/standings/0/radius");
                clip(state, question, [radius, 0.59 * radius]);
            }),
            ("to no less than where noise is long", true, |state, question| {
                let radius = number(state, "/Rounds/centres/standings/0/radius");
                clip(state, question, [radius, 0.61 * radius]);
            }),
            ("to nothing, of no radius", false, |state, question| {
                clip(state, question, [0.0, 0.0]);
            }),
            ("another clip than that of the state", false, |_, question| {
                let clip = number(question, "/what/Sums/clip/0");
                *at(question, "/what/Sums/clip/0") = json!(0.9 * clip);
            }),
            ("far from another length on", false, |_, question| {
                let far = number(question, "/what/Sums/far/0");
                *at(question, "/what/Sums/far/0") = json!(0.9 * far);
            }),
        ],
    );
    let map = |levels| {
        let settings = PrivateMapSettings { levels: Some(levels), ..Default::default() };
        PrivateMap::add_remove(cube(2), budget(), settings).expect("valid")
    };
    let left = left_behind(map(1..=3), &records(60, 2));
    let on = [1..=3, 1..=2].map(|levels| goes_on(&map(levels), &left[0]));
    assert_eq!(on, [Some(true), Some(false)]);
}

/// A state of private k-means is in a way of the plan from the count on, and in none before it.
#[test]
fn states_of_private_kmeans_are_in_a_way_of_the_plan() {
    let kmeans = |dim| {
        let settings = PrivateKMeansSettings::default();
        PrivateKMeans::new(cube(dim), 3, budget(), settings).expect("valid")
    };
    let (plane, space) = (kmeans(2), kmeans(5));
    let [on_plane, in_space] =
        [(&plane, 2), (&space, 5)].map(|(plan, dim)| left_behind(plan.clone(), &records(200, dim)));
    let wide: Change = |state, question| {
        for place in ["/what/Radii/labels/public_box", "/what/Sums/labels/public_box"] {
            if question.pointer(place).is_some() {
                widen(question, place);
            }
        }
        widen(state, "/In/at/Rounds/public_box");
    };
    let map: Change = |state, _| {
        let public_box = at(state, "/In/at/Box/nest/public_box").clone();
        *at(state, "/In/at") = json!({ "Map": public_box });
    };
    decides(&plane, &on_plane, "/In/at/Rounds", &[("a box beyond that of the plan", false, wide)]);
    decides(&space, &in_space, "/In/at/Rounds", &[("a box beyond that of the plan", false, wide)]);
    let first: &[(&str, bool, Change)] = &[
        ("a way before the count", false, |state, _| {
            let search = at(state, "/Counting").clone();
            *state = json!({ "In": { "way": 1, "at": { "Box": search } } });
        }),
        ("a number of records before the count", false, |state, _| {
            *at(state, "/Counting/total") = json!(50.0);
        }),
    ];
    decides(&space, &in_space, "/Counting", first);
    let later: &[(&str, bool, Change)] = &[
        ("a map, of a way with rings", false, map),
        ("no way after the count", false, |state, _| {
            let search = at(state, "/In/at/Box").clone();
            *state = json!({ "Counting": search });
        }),
        ("a way that looks for nothing", false, |state, _| *at(state, "/In/way") = json!(0)),
        ("a way that there is not", false, |state, _| *at(state, "/In/way") = json!(99)),
        ("another way with the same questions", true, |state, _| {
            let way = at(state, "/In/way").as_u64().expect("a way");
            *at(state, "/In/way") = json!(way + 1);
        }),
    ];
    decides(&space, &in_space, "/In/at/Box", later);
}

//! States in which one number or list is another.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::*;

/// A state with its question, as plain values.
pub(super) type Left = [Value; 2];

/// A plan that looks at each state with which it goes on: what it says of other numbers and other lengths in it, with its question and with one
/// that has the same change, and of other questions.
pub(super) struct Watched<P> {
    pub(super) plan: P,
    /// Where a number or a length was changed, and how: refused at least once, and the changes that went on.
    pub(super) seen: Rc<RefCell<BTreeMap<String, [usize; 2]>>>,
    /// States and questions before.
    pub(super) left: Rc<RefCell<Vec<Left>>>,
}

impl<P: Clone> Clone for Watched<P> {
    fn clone(&self) -> Self {
        let (seen, left) = (Rc::clone(&self.seen), Rc::clone(&self.left));
        Self { plan: self.plan.clone(), seen, left }
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
        let public = serde_json::to_value(question).expect("a question has plain fields");
        for [_, other] in self.left.borrow().iter().filter(|[_, other]| *other != public) {
            let other: Question = serde_json::from_value(other.clone()).expect("a question");
            assert!(self.plan.fits(state, &other).is_err(), "{}", other.name());
        }
        self.left.borrow_mut().push([whole.clone(), public.clone()]);
        let mut seen = self.seen.borrow_mut();
        for (place, pointer) in places(&whole) {
            for change in CHANGES {
                let mut other = whole.clone();
                let Some(name) = change(other.pointer_mut(&pointer).expect("a place")) else {
                    continue;
                };
                let mut with_it = public.clone();
                replace(&mut with_it, whole.pointer(&pointer), other.pointer(&pointer));
                let mut questions = vec![question.clone()];
                questions.extend(serde_json::from_value::<Question>(with_it));
                questions.retain(|question| question.counter().is_some());
                let read: Result<P::State, _> = serde_json::from_value(other);
                let went_on = read.is_ok_and(|state| {
                    questions.iter().any(|question| self.plan.fits(&state, question).is_ok())
                });
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

/// Puts the new value everywhere where there is the old one.
fn replace(all: &mut Value, old: Option<&Value>, new: Option<&Value>) {
    if let (true, Some(new)) = (Some(&*all) == old, new) {
        *all = new.clone();
        return;
    }
    match all {
        Value::Array(entries) => entries.iter_mut().for_each(|one| replace(one, old, new)),
        Value::Object(fields) => fields.values_mut().for_each(|one| replace(one, old, new)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
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
    let plan = Watched { plan, seen: Rc::clone(&seen), left: Rc::default() };
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
    let mut found: Vec<(&str, Vec<String>, Vec<String>)> = Vec::new();
    let mut has = |plan, names: Vec<String>, want: &[&str]| {
        found.push((plan, names, want.iter().map(|name| (*name).to_owned()).collect()));
    };
    let settings = DpmSettings { max_depth: 3, ..Default::default() };
    let dpm = Dpm::new(cube(2), budget(), settings).expect("valid");
    let mut of_tree = may_be_anything(dpm, &points);
    // Some levels are as good as none, if draws made any: of nodes that all stay.
    of_tree.retain(|name| name != "levels[] shorter");
    has("tree", of_tree, &[]);
    let ball = PublicBall::new(vec![0.0; 2], 10.0).expect("valid");
    let settings = LshSplitsSettings { depth: 4, ..Default::default() };
    let splits = LshSplits::new(ball, 2, budget(), settings).expect("valid");
    // So are parts of nothing.
    let of_parts =
        ["fates[] longer", "fates[] shorter", "noisy_counts below 0", "noisy_counts huge"];
    has("splits", may_be_anything(splits, &points), &of_parts);
    let settings = RingRoundsSettings { rounds: 2, most_planes: 2, ..Default::default() };
    let rings = RingRounds::new(cube(2), 2, budget(), settings).expect("valid");
    let of_ring_rounds = ["solver_words huge", "total below 0", "total huge"];
    has("rings", may_be_anything(rings, &points), &of_ring_rounds);
    let search = PrivateBox::plan(cube(2), budget()).expect("valid");
    let of_box = ["counts below 0", "counts huge", "total below 0", "total huge"];
    has("box", may_be_anything(search, &points), &of_box);
    let rounds = Rounds { shares: vec![1.0; 3], merge_after: 1, ..Rounds::default() };
    let settings = DpmRecentredSettings { max_depth: 2, rounds, ..Default::default() };
    let recentred = DpmRecentred::new(cube(2), budget(), settings).expect("valid");
    let of_rounds = [
        "count_variance huge",
        "counted_variance huge",
        "target below 0",
        "target huge",
        "variance huge",
    ];
    // Hints, which tables are the same without.
    let of_moves = ["moved[] longer", "moved[] shorter"];
    let mut all = [&of_rounds[..], &of_moves].concat();
    all.sort_unstable();
    has("rounds", may_be_anything(recentred, &points), &all);
    // From a map on a plane, from rings elsewhere.
    let mut on_plane = [&of_box[..], &of_rounds].concat();
    on_plane.sort_unstable();
    let of_rings = ["of_start huge", "reach huge", "solver_words huge"];
    let mut in_space = [&on_plane[..], &of_moves, &of_rings].concat();
    in_space.sort_unstable();
    // And where there are many, from rings after a map.
    let mut second = [&on_plane[..], &["solver_words huge"]].concat();
    second.sort_unstable();
    for (dim, second, all) in [(2, second, on_plane), (5, in_space.clone(), in_space)] {
        for (finds_k, all) in [(false, &second), (true, &all)] {
            let settings = PrivateKMeansSettings { finds_k, ..Default::default() };
            let plan = PrivateKMeans::new(cube(dim), 3, budget(), settings).expect("valid");
            has("k-means", may_be_anything(plan, &records(300, dim)), all);
        }
    }
    let plan = PrivateKMeans::new(cube(2), 3, budget(), even()).expect("valid");
    let mut of_even = [&of_rounds[..], &of_moves, &of_ring_rounds, &["reach huge"]].concat();
    of_even.sort_unstable();
    has("k-means from even centres", may_be_anything(plan, &points), &of_even);
    // A map of few records, in the part of the box that all of them are in.
    let plan = PrivateKMeans::new(cube(2), 3, budget(), PrivateKMeansSettings::default());
    let plan = plan.expect("valid");
    let mut of_few = [&of_rounds[..], &of_ring_rounds].concat();
    of_few.sort_unstable();
    has("k-means from a map of few", may_be_anything(plan, &points), &of_few);
    found.retain(|(_, names, want)| names != want);
    assert_eq!(found, []);
}

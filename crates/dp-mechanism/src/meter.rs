//! What of a receipt has been drawn.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use dp_accounting::{Loss, Receipt, Relation, Step};
use serde::{Deserialize, Serialize};

/// The leaves of a receipt, and how often each was drawn.
#[derive(Clone, Debug)]
pub(crate) struct Meter {
    leaves: Vec<Leaf>,
    /// Positions in `leaves`, ascending.
    by_name: BTreeMap<String, Vec<usize>>,
    /// The steps of this name.
    below: BTreeMap<String, Vec<Scope>>,
    last: Option<Named>,
    /// Of each choice among ways, the way that was drawn from.
    taken: Vec<Option<usize>>,
    /// Of a run that goes on from a state.
    resumed: bool,
}

/// What was drawn from last, by its name: runs draw from the same leaf many times over.
#[derive(Clone, Debug)]
struct Named {
    name: &'static str,
    range: Range<usize>,
    leaf: usize,
}

/// A step of the receipt, by the leaves below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scope {
    pub(crate) leaves: Range<usize>,
    /// How many steps it is below the root.
    depth: usize,
}

impl Scope {
    /// Of draws that no receipt stands behind.
    pub(crate) const NONE: Self = Self { leaves: 0..0, depth: 0 };
}

/// Draws that a receipt pays for under one name.
#[derive(Clone, Debug)]
struct Leaf {
    /// From the root, for people.
    path: String,
    /// Of the spend that pays.
    loss: Loss,
    most: Most,
    /// The ways that it is in, of the choices above it.
    within: Vec<Way>,
    /// Whether its loss is that of these draws by themselves between neighbours: not what several kinds of draws cost together, nor what
    /// one change of a group costs, nor what holds outside of a mass.
    alone: bool,
    uses: u64,
    /// Parts of a partition that have had their draw.
    parts: BTreeSet<u64>,
}

/// One of the ways of which a run takes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Way {
    /// Position in the meter's choices.
    choice: usize,
    number: usize,
}

/// What is above a step.
#[derive(Clone)]
struct Below {
    /// A partition of the records.
    parts: bool,
    /// Into how many parts of one the difference between two neighbours reaches.
    touched: usize,
    /// A group of changes, or a mass outside of which losses hold.
    conditions: bool,
    within: Vec<Way>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Most {
    /// So many on all records.
    Times(u64),
    /// One for each part of a partition of the records.
    OncePerPart,
    /// One for one part: where neighbours differ in two parts the receipt adds up the dearest two that it lists, so none stands for others.
    OfOnePart,
    /// Kept per record by whoever draws.
    Unbounded,
}

/// What has been drawn of a receipt in the part of a run that is over; of no leaf, if that is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Spent {
    leaves: Vec<(u64, BTreeSet<u64>)>,
}

impl Spent {
    /// Whether it is of a run under this receipt, as far as its leaves tell.
    pub(crate) fn is_of<L: Relation>(&self, receipt: &Receipt<L>) -> bool {
        let leaves = Meter::new(receipt.spent(), L::PARTS_TOUCHED).leaves.len();
        self.leaves.is_empty() || self.leaves.len() == leaves
    }

    /// Whether no leaf was drawn more often than this receipt allows.
    pub(crate) fn is_within<L: Relation>(&self, receipt: &Receipt<L>) -> bool {
        let mut meter = Meter::new(receipt.spent(), L::PARTS_TOUCHED);
        (0..meter.leaves.len()).zip(&self.leaves).all(|(number, (uses, parts))| {
            let leaf = &meter.leaves[number];
            let is_within = match leaf.most {
                Most::Times(times) => *uses <= times && parts.is_empty(),
                Most::OfOnePart => *uses <= 1 && parts.is_empty(),
                Most::OncePerPart => *uses == parts.len() as u64,
                Most::Unbounded => *uses < u64::MAX / 2 && parts.is_empty(),
            };
            is_within && (*uses == 0 || meter.take(number).is_ok())
        })
    }

    /// Whether nothing has been drawn.
    pub(crate) fn is_nothing(&self) -> bool {
        self.leaves.iter().all(|(uses, _)| *uses == 0)
    }
}

/// How often each leaf of a receipt was drawn in one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Names from the root to the leaf, and the number of draws.
    pub leaves: Vec<(String, u64)>,
}

impl Usage {
    /// The leaves that were never drawn: an audit that did not reach them has shown nothing about them.
    pub fn unreached(&self) -> impl Iterator<Item = &str> {
        self.leaves.iter().filter(|(_, uses)| *uses == 0).map(|(path, _)| path.as_str())
    }

    /// Adds what another run of the same plan has drawn.
    pub fn merge(&mut self, other: &Self) {
        if self.leaves.is_empty() {
            self.leaves.clone_from(&other.leaves);
            return;
        }
        for ((_, uses), (_, more)) in self.leaves.iter_mut().zip(&other.leaves) {
            *uses += more;
        }
    }
}

impl Meter {
    /// Of the steps of a receipt under a relation that touches so many parts of a partition.
    pub(crate) fn new(spent: &Step, touched: usize) -> Self {
        let mut meter = Self {
            leaves: Vec::new(),
            by_name: BTreeMap::new(),
            below: BTreeMap::new(),
            last: None,
            taken: Vec::new(),
            resumed: false,
        };
        let below = Below { parts: false, touched, conditions: false, within: Vec::new() };
        meter.add(spent, "", 0, &below);
        meter
    }

    fn add(&mut self, step: &Step, above: &str, depth: usize, below: &Below) {
        let path = if above.is_empty() {
            step.name().to_owned()
        } else {
            format!("{above} / {}", step.name())
        };
        let first = self.leaves.len();
        match step {
            Step::Spend { loss, covers, .. } if covers.is_empty() => {
                let most = match below {
                    Below { parts: false, .. } => Most::Times(1),
                    Below { touched: 1, .. } => Most::OncePerPart,
                    _ => Most::OfOnePart,
                };
                self.leaf(step.name(), path, (*loss, !below.conditions), most, below);
            }
            Step::Spend { loss, covers, .. } => {
                for covered in covers {
                    let most = covered.draws.map_or(Most::Unbounded, Most::Times);
                    let path = format!("{path} / {}", covered.name);
                    self.leaf(&covered.name, path, (*loss, false), most, below);
                }
            }
            Step::Sequential { steps, .. } | Step::Composed { steps, .. } => {
                for step in steps {
                    self.add(step, &path, depth + 1, below);
                }
            }
            Step::Parallel { steps, .. } => {
                for step in steps {
                    self.add(step, &path, depth + 1, &Below { parts: true, ..below.clone() });
                }
            }
            Step::OneOf { steps, .. } => {
                let choice = self.taken.len();
                self.taken.push(None);
                for (number, step) in steps.iter().enumerate() {
                    let mut below = below.clone();
                    below.within.push(Way { choice, number });
                    self.add(step, &path, depth + 1, &below);
                }
            }
            // Changes that are spread over parts below cost no more than as many in the dearest; parts above are still two.
            Step::Group { step, .. } => {
                let touched = if below.parts { below.touched } else { 1 };
                let below = Below { conditions: true, touched, ..below.clone() };
                self.add(step, &path, depth + 1, &below);
            }
            Step::Outside { step, .. } => {
                self.add(step, &path, depth + 1, &Below { conditions: true, ..below.clone() });
            }
            // A step of a kind that came later has no leaves here, so its draws are refused.
            _ => {}
        }
        let scope = Scope { leaves: first..self.leaves.len(), depth };
        self.below.entry(step.name().to_owned()).or_default().push(scope);
    }

    fn leaf(
        &mut self,
        name: &str,
        path: String,
        (loss, alone): (Loss, bool),
        most: Most,
        below: &Below,
    ) {
        self.by_name.entry(name.to_owned()).or_default().push(self.leaves.len());
        let within = below.within.clone();
        self.leaves.push(Leaf { path, loss, most, within, alone, uses: 0, parts: BTreeSet::new() });
    }

    pub(crate) fn all(&self) -> Scope {
        Scope { leaves: 0..self.leaves.len(), depth: 0 }
    }

    /// The first of the highest steps of this name below another step: one mechanism may hold another of the same kind.
    pub(crate) fn within(&self, scope: &Scope, name: &str) -> Option<Scope> {
        let (outer, is_below) = (&scope.leaves, |depth| depth > scope.depth);
        let inside = |below: &&Scope| {
            outer.start <= below.leaves.start
                && below.leaves.end <= outer.end
                && is_below(below.depth)
        };
        self.below.get(name)?.iter().filter(inside).min_by_key(|below| below.depth).cloned()
    }

    /// The leaves of this name in a range.
    fn named(&self, range: &Range<usize>, name: &str) -> &[usize] {
        let all = self.by_name.get(name).map_or(&[][..], Vec::as_slice);
        let ends = [range.start, range.end].map(|end| all.partition_point(|&leaf| leaf < end));
        &all[ends[0]..ends[1]]
    }

    /// The leaf of this name and number in a range.
    pub(crate) fn find(&self, range: &Range<usize>, name: &str, number: usize) -> Option<usize> {
        self.named(range, name).get(number).copied()
    }

    /// The first leaf of this name in a range that has a draw left.
    #[inline]
    pub(crate) fn next(&mut self, range: &Range<usize>, name: &'static str) -> Option<usize> {
        match &self.last {
            // Those before it stay used up.
            Some(last)
                if std::ptr::eq(last.name, name)
                    && last.range == *range
                    && !self.leaves[last.leaf].is_used_up() =>
            {
                Some(last.leaf)
            }
            _ => self.next_by_name(range, name),
        }
    }

    fn next_by_name(&mut self, range: &Range<usize>, name: &'static str) -> Option<usize> {
        let named = self.named(range, name);
        // Used ones come first, because they are used in order.
        let place = named.partition_point(|&leaf| self.leaves[leaf].is_used_up());
        let leaf = named.get(place).copied();
        self.last = leaf.map(|leaf| Named { name, range: range.clone(), leaf });
        leaf
    }

    /// Charges a draw of this loss to a leaf.
    ///
    /// # Errors
    /// Why the receipt does not pay for it.
    #[inline]
    pub(crate) fn charge(&mut self, number: usize, part: u64, loss: Loss) -> Result<(), String> {
        let leaf = &mut self.leaves[number];
        if leaf.loss != loss {
            return Err(format!("`{}` costs {:?}, the draw {loss:?}", leaf.path, leaf.loss));
        }
        let free = match leaf.most {
            Most::Times(times) => part == 0 && leaf.uses < times,
            Most::OncePerPart => leaf.parts.insert(part),
            Most::OfOnePart => leaf.uses == 0,
            Most::Unbounded => true,
        };
        if !free {
            return Err(format!("`{}` has been drawn already (part {part})", leaf.path));
        }
        leaf.uses += 1;
        if leaf.within.is_empty() { Ok(()) } else { self.take(number) }
    }

    /// Goes the ways that a leaf is in.
    ///
    /// # Errors
    /// That another one of the same choice has been gone.
    fn take(&mut self, leaf: usize) -> Result<(), String> {
        let Leaf { path, within, .. } = &self.leaves[leaf];
        for way in within {
            let taken = *self.taken[way.choice].get_or_insert(way.number);
            if taken != way.number {
                return Err(format!("`{path}` is in way {}, the run in way {taken}", way.number));
            }
        }
        Ok(())
    }

    /// What the draws of a leaf cost by themselves, if it says.
    pub(crate) fn alone(&self, leaf: usize) -> Option<Loss> {
        self.leaves[leaf].alone.then_some(self.leaves[leaf].loss)
    }

    /// What has been drawn, for another part of the same run.
    pub(crate) fn spent(self) -> Spent {
        Spent { leaves: self.leaves.into_iter().map(|leaf| (leaf.uses, leaf.parts)).collect() }
    }

    /// Takes what an earlier part of the run has drawn as drawn.
    pub(crate) fn resume(&mut self, spent: &Spent) {
        self.resumed = true;
        for (leaf, (uses, parts)) in self.leaves.iter_mut().zip(&spent.leaves) {
            leaf.uses = *uses;
            leaf.parts.clone_from(parts);
            for way in leaf.within.iter().filter(|_| *uses > 0) {
                self.taken[way.choice] = Some(way.number);
            }
        }
    }

    /// Whether what has been drawn comes from a state.
    pub(crate) fn is_resumed(&self) -> bool {
        self.resumed
    }

    pub(crate) fn usage(&self) -> Usage {
        Usage { leaves: self.leaves.iter().map(|leaf| (leaf.path.clone(), leaf.uses)).collect() }
    }
}

impl Leaf {
    fn is_used_up(&self) -> bool {
        match self.most {
            Most::Times(times) => self.uses >= times,
            Most::OfOnePart => self.uses > 0,
            Most::OncePerPart | Most::Unbounded => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use dp_accounting::{AddRemove, Budget, Covered, Delta, Epsilon, ReplaceOne};

    use super::*;

    #[test]
    fn a_mechanism_within_one_of_its_own_kind_finds_its_own_steps() {
        let pure = |x| Loss::Pure { epsilon: Epsilon::new(x).expect("valid") };
        let whole = |start: Step, loss| {
            let rounds = Step::composed("rounds", pure(9.0), vec![Step::spend("sum", pure(loss))]);
            Step::sequential("all steps", vec![Step::sequential("start", vec![start]), rounds])
        };
        let mut meter = Meter::new(&whole(whole(Step::spend("count", pure(1.0)), 2.0), 3.0), 1);
        let all = meter.all();
        let outer = meter.within(&all, "start").expect("there");
        let inner = meter.within(&outer, "start").expect("there");
        let rounds = [&all, &outer].map(|scope| meter.within(scope, "rounds").expect("there"));
        assert_eq!(rounds.map(|rounds| rounds.leaves), [2..3, 1..2]);
        assert_eq!((inner.leaves.clone(), meter.within(&inner, "rounds")), (0..1, None));
        // A composed step is paid for by its own loss; its leaves know theirs.
        assert!(meter.charge(2, 0, pure(9.0)).is_err());
        assert!(meter.charge(2, 0, pure(3.0)).is_ok() && meter.charge(2, 0, pure(3.0)).is_err());
    }

    #[test]
    fn a_step_of_any_kind_is_below_the_step_that_holds_it() {
        let pure = Loss::Pure { epsilon: Epsilon::new(1.0).expect("valid") };
        let leaf = || Step::spend("count", pure);
        let two = std::num::NonZeroU32::MIN.saturating_add(1);
        let kinds: [&dyn Fn(Step) -> Step; 6] = [
            &|step| Step::sequential("mine", vec![step]),
            &|step| Step::composed("mine", pure, vec![step]),
            &|step| Step::parallel("mine", vec![step]),
            &|step| Step::one_of("mine", vec![step]),
            &|step| Step::group("mine", two, step),
            &|step| Step::outside("mine", Delta::ZERO, step),
        ];
        for kind in kinds {
            let meter = Meter::new(&Step::sequential("all", vec![kind(kind(leaf()))]), 1);
            let outer = meter.within(&meter.all(), "mine").expect("there");
            let inner = meter.within(&outer, "mine").expect("there");
            assert_eq!(meter.within(&inner, "mine"), None);
            assert_eq!(inner.leaves, 0..1);
        }
    }

    /// Of leaves of one name, the next is one of the step at hand, also where another step has some left.
    #[test]
    fn the_next_of_a_name_is_in_the_step_at_hand() {
        let pure = Loss::Pure { epsilon: Epsilon::new(1.0).expect("valid") };
        let covered = Covered { name: "tests".into(), draws: Some(2) };
        let round = |name: &str| {
            Step::sequential(name, vec![Step::spend_on("paid", pure, vec![covered.clone()])])
        };
        let mut meter = Meter::new(&Step::one_of("ways", vec![round("a"), round("b")]), 1);
        let [a, b] = ["a", "b"].map(|name| meter.within(&meter.all(), name).expect("there").leaves);
        let next: Vec<_> = [&a, &b, &b, &a].map(|step| meter.next(step, "tests")).into();
        assert_eq!(next, [Some(0), Some(1), Some(1), Some(0)]);
    }

    /// A receipt adds up the dearest two parts that it lists, so one that lists a part does not pay for all.
    #[test]
    fn a_part_stands_for_others_only_where_neighbours_differ_in_one() {
        let pure = Loss::Pure { epsilon: Epsilon::new(1.0).expect("valid") };
        let part = || Step::spend("count", pure);
        let drawn = |step: Step, touched| {
            let mut meter = Meter::new(&step, touched);
            (0..3).filter(|part| meter.charge(0, *part, pure).is_ok()).count()
        };
        assert_eq!(drawn(Step::parallel("towns", vec![part()]), 1), 3);
        assert_eq!(drawn(Step::parallel("towns", vec![part()]), 2), 1);
        let mut again = Meter::new(&Step::parallel("towns", vec![part()]), 1);
        let twice = [4, 5, 4].map(|part| again.charge(0, part, pure).is_ok());
        assert_eq!(twice, [true, true, false], "a part has one draw");
        let two = std::num::NonZeroU32::MIN.saturating_add(1);
        let group = Step::group("replace", two, Step::parallel("towns", vec![part()]));
        assert_eq!(drawn(group, 2), 3);
        let group = Step::group("g", std::num::NonZeroU32::MIN, part());
        assert_eq!(drawn(Step::parallel("towns", vec![group]), 2), 1, "two towns change");
        let mut both = Meter::new(&Step::parallel("towns", vec![part(), part()]), 2);
        let all = both.all().leaves;
        let next = [0, 1, 2].map(|_| {
            let leaf = both.next(&all, "count")?;
            both.charge(leaf, 0, pure).ok()
        });
        assert_eq!(next, [Some(()), Some(()), None]);
    }

    #[test]
    fn a_run_draws_from_one_of_several_ways() {
        let pure = Loss::Pure { epsilon: Epsilon::new(1.0).expect("valid") };
        let leaf = |name: &str| Step::spend(name, pure);
        // Leaves 0; 1, 2 or 3, or 4; and 5.
        let inner = Step::one_of("inner", vec![leaf("b"), leaf("c")]);
        let ways = vec![Step::sequential("few", vec![leaf("a"), inner]), leaf("many")];
        let steps = vec![leaf("count"), Step::one_of("ways", ways), leaf("end")];
        let steps = Step::sequential("all", steps);
        let drawn = |leaves: &[usize]| {
            let mut meter = Meter::new(&steps, 1);
            let charge = |&leaf: &usize| meter.charge(leaf, 0, pure).is_ok();
            let charged: Vec<bool> = leaves.iter().map(charge).collect();
            (charged, meter.spent())
        };
        let all = |leaves| drawn(leaves).0;
        assert_eq!(all(&[0, 1, 2, 5]), [true; 4]);
        assert_eq!(all(&[0, 1, 3, 5]), [true; 4]);
        assert_eq!(all(&[4, 5, 0]), [true; 3]);
        assert_eq!(all(&[1, 4]), [true, false]);
        assert_eq!(all(&[4, 0, 2]), [true, true, false]);
        assert_eq!(all(&[2, 3]), [true, false]);
        // A run that goes on is in its way still.
        let go_on = |before: &[usize], leaf| {
            let mut meter = Meter::new(&steps, 1);
            meter.resume(&drawn(before).1);
            meter.charge(leaf, 0, pure).is_ok()
        };
        assert!(go_on(&[0, 1], 2) && go_on(&[0], 4) && !go_on(&[0, 1], 4) && !go_on(&[2], 3));
        // And no state may say that it was in two.
        let budget = Budget::new(4.0, 0.0).expect("valid");
        let receipt = Receipt::new("mine", AddRemove, budget, steps.clone());
        let was = |uses: [u64; 6]| {
            let leaves = uses.map(|uses| (uses, BTreeSet::new())).to_vec();
            Spent { leaves }.is_within(&receipt)
        };
        assert!(was([1, 1, 1, 0, 0, 1]) && was([1, 0, 0, 0, 1, 0]) && was([0; 6]));
        assert!(!was([1, 1, 0, 0, 1, 0]) && !was([1, 0, 1, 1, 0, 0]) && !was([0, 0, 1, 0, 1, 0]));
    }

    /// Of three ways a run goes one, whatever kind of step a draw is in, before a state and after it.
    #[test]
    fn a_draw_in_a_way_is_in_it_whatever_is_between() {
        let pure = Loss::Pure { epsilon: Epsilon::new(1.0).expect("valid") };
        let leaf = |name: &str| Step::spend(name, pure);
        let covers = |draws| {
            let covered = Covered { name: "b".to_owned(), draws };
            Step::spend_on("together", pure, vec![covered])
        };
        let two = std::num::NonZeroU32::MIN.saturating_add(1);
        let kinds = [
            leaf("b"),
            Step::sequential("mine", vec![leaf("b")]),
            Step::composed("mine", pure, vec![leaf("b")]),
            Step::parallel("mine", vec![leaf("b")]),
            Step::one_of("mine", vec![leaf("b")]),
            Step::group("mine", two, leaf("b")),
            Step::outside("mine", Delta::ZERO, leaf("b")),
            covers(Some(3)),
            covers(None),
        ];
        for kind in kinds {
            let steps = Step::one_of("ways", vec![leaf("a"), kind.clone(), leaf("c")]);
            for [first, second] in [[0, 1], [1, 0], [1, 2], [2, 1], [0, 2], [2, 0]] {
                let mut meter = Meter::new(&steps, 1);
                assert!(meter.charge(first, 0, pure).is_ok());
                let mut after = Meter::new(&steps, 1);
                after.resume(&meter.clone().spent());
                let another = [meter, after].map(|mut meter| meter.charge(second, 0, pure).is_ok());
                assert_eq!(another, [false; 2], "{first}, {second}: {kind:?}");
            }
        }
    }

    /// A release by passes is one release: what was drawn before the last pass is not drawn again after it.
    #[test]
    fn a_meter_that_goes_on_knows_what_was_drawn_before() {
        let pure = Loss::Pure { epsilon: Epsilon::new(1.0).expect("valid") };
        let leaf = |name: &str| Step::spend(name, pure);
        let steps = vec![Step::parallel("towns", vec![leaf("town")]), leaf("total")];
        let steps = Step::sequential("all", steps);
        let mut first = Meter::new(&steps, 1);
        assert!(first.charge(0, 4, pure).is_ok() && first.charge(1, 0, pure).is_ok());
        let mut second = Meter::new(&steps, 1);
        second.resume(&first.spent());
        let charged = [(0, 4), (0, 5), (1, 0)].map(|(leaf, part)| second.charge(leaf, part, pure));
        assert_eq!(charged.map(|charged| charged.is_ok()), [false, true, false]);
        let uses: Vec<u64> = second.usage().leaves.iter().map(|leaf| leaf.1).collect();
        assert_eq!(uses, [2, 1]);
    }

    /// What a state may say of a leaf of each kind: at most its draws, and parts only of a partition, one draw for each.
    #[test]
    fn draws_that_no_run_makes_are_refused() {
        fn within<L: Relation>(receipt: &Receipt<L>, uses: u64, parts: &[u64]) -> bool {
            Spent { leaves: vec![(uses, parts.iter().copied().collect())] }.is_within(receipt)
        }
        let pure = Loss::Pure { epsilon: Epsilon::new(1.0).expect("valid") };
        let leaf = || Step::spend("count", pure);
        let towns = || Step::parallel("towns", vec![leaf()]);
        let covers = vec![Covered { name: "count".to_owned(), draws: None }];
        let budget = Budget::new(2.0, 0.0).expect("valid");
        let once = Receipt::new("mine", AddRemove, budget, leaf());
        let of_a_part = Receipt::new("mine", ReplaceOne, budget, towns());
        let per_part = Receipt::new("mine", AddRemove, budget, towns());
        let any = Receipt::new("mine", AddRemove, budget, Step::spend_on("all", pure, covers));
        for uses in 0..4 {
            assert_eq!(within(&once, uses, &[]), uses <= 1);
            assert_eq!(within(&of_a_part, uses, &[]), uses <= 1);
            assert_eq!(within(&per_part, uses, &[4, 7]), uses == 2);
            assert!(within(&any, uses, &[]));
            assert!(!within(&once, uses, &[4]) && !within(&of_a_part, uses, &[4]));
            assert!(!within(&any, uses, &[4]));
        }
        // So many that counting on would wrap.
        assert!(!within(&any, u64::MAX / 2, &[]) && !within(&any, u64::MAX, &[]));
    }

    #[test]
    fn uses_of_two_runs_add_up() {
        let usage = |uses: u64| Usage { leaves: vec![("count".to_owned(), uses)] };
        let mut both = Usage::default();
        both.merge(&usage(0));
        assert_eq!(both.unreached().collect::<Vec<_>>(), ["count"]);
        both.merge(&usage(3));
        both.merge(&usage(2));
        assert_eq!((both.unreached().count(), both), (0, usage(5)));
    }
}

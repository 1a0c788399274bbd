//! What is maximised: a sum over records of what each gets out of a set of elements.

use super::Matroid;

/// A sum over private records of monotone submodular functions, in integers.
///
/// # Contract
/// Privacy of every mechanism of this module rests on it:
/// - A run over some of the records ([`start`](Self::start)) shows the sum of what each of them
///   contributes; what a record contributes depends on that record and on the elements picked so far,
///   and on nothing else.
/// - A record never contributes less than zero to the gain of an element.
/// - Over a whole run, what a record contributes to the gains of the elements *that are picked*, at the
///   time when they are, sums to at most [`most_credit`](Self::most_credit), whatever is picked and in
///   whatever order, elements that were picked before included.
///
/// Utility rests on submodularity: no gain rises when something is picked. The objectives of this
/// module, [`Oracle`](super::Oracle) around any function included, keep the contract by construction.
pub trait Objective: Sync {
    /// The number of elements. Public.
    fn elements(&self) -> usize;

    /// The most that one record is credited in a run. Public: declared, not computed from records.
    fn most_credit(&self) -> u64;

    /// The number of records. Private.
    fn records(&self) -> usize;

    /// A run in which nothing is picked yet, over the records whose entry in `kept` is true.
    ///
    /// # Panics
    /// If there is not one entry per record.
    fn start(&self, kept: &[bool]) -> Box<dyn Gains + '_>;
}

/// What is public of an objective: both numbers are declared, not computed from records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectiveShape {
    /// The number of elements.
    pub elements: usize,
    /// The most that one record is credited in a run.
    pub most_credit: u64,
}

impl ObjectiveShape {
    pub(super) fn of(objective: &dyn Objective) -> Self {
        Self { elements: objective.elements(), most_credit: objective.most_credit() }
    }
}

/// The state of a run.
pub trait Gains {
    /// What picking each element would add. Private.
    fn gains(&self) -> &[i64];

    /// Picks an element.
    fn pick(&mut self, element: usize);
}

/// The value of a set on all records. Not private. What is no element adds nothing.
pub fn exact_value(objective: &dyn Objective, set: &[usize]) -> i64 {
    value_on(objective, &vec![true; objective.records()], set)
}

/// The value of a set on the records kept.
pub(super) fn value_on(objective: &dyn Objective, kept: &[bool], set: &[usize]) -> i64 {
    let mut run = objective.start(kept);
    let mut value = 0_i64;
    for &element in set.iter().filter(|element| **element < objective.elements()) {
        value = value.saturating_add(run.gains()[element]);
        run.pick(element);
    }
    value
}

/// Greedy on all records: the element of largest gain that the constraint allows, the first of equals,
/// until nothing can be added. Not private.
///
/// At least `1 - 1/e` of the best value under a cardinality constraint, half of it under any matroid.
///
/// # Panics
/// If the constraint is not about the objective's elements.
///
/// # Source
/// Nemhauser, Wolsey, Fisher (1978); Fisher, Nemhauser, Wolsey (1978) for matroids.
pub fn exact_greedy<M: Matroid + ?Sized>(objective: &dyn Objective, matroid: &M) -> Vec<usize> {
    assert_eq!(objective.elements(), matroid.elements(), "two different ground sets");
    let mut run = objective.start(&vec![true; objective.records()]);
    let mut chosen = Vec::new();
    // An oracle that is no matroid might go on for ever.
    for _ in 0..matroid.rank() {
        let best = matroid.addable(&chosen).into_iter().rev().max_by_key(|&c| run.gains()[c]);
        let Some(best) = best else { break };
        run.pick(best);
        chosen.push(best);
    }
    chosen
}

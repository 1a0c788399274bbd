//! Which two data sets an audit may hold against which receipt.

use std::cmp::Ordering;
use std::fmt;
use std::ops::Range;

use dp_accounting::{AnyRelation, Receipt, Relation};
use dp_mechanism::Source;
use serde::Serialize;

use crate::bits::append;
use crate::promises::Promises;
use crate::{Law, Window, exact_law};

/// How two data sets are tried.
type Tried<'a, D> = Box<dyn Fn(&D, &D) -> Result<(), NotNeighbours> + 'a>;

/// Under which relation the data sets of an audit are neighbours, and how to tell.
///
/// A loss says something about a receipt only if both speak about the same neighbours: noise for a record that comes or goes shows half the
/// loss of a record that is replaced, so a replace-one claim would look kept. Each plan says which relation its receipt is about when it
/// begins; what is compared must be neighbours under it.
///
/// ```
/// use dp_accounting::{AddRemove, ReplaceOne};
/// use dp_audit::Neighbours;
///
/// let replaced = Neighbours::of_records(ReplaceOne, |data: &Vec<u8>| data.clone());
/// assert!(replaced.tell(&vec![1, 2], &vec![7, 1]).is_ok()); // in any order
/// assert!(replaced.tell(&vec![1, 2], &vec![1, 2, 7]).is_err());
/// let one_more = Neighbours::of_records(AddRemove, |data: &Vec<u8>| data.clone());
/// assert!(one_more.tell(&vec![1, 2], &vec![1, 2, 7]).is_ok());
/// ```
pub struct Neighbours<'a, D: ?Sized> {
    relation: AnyRelation,
    /// Whether no receipt stands behind the draws.
    unplanned: bool,
    tried: Option<Tried<'a, D>>,
}

impl<D: ?Sized> fmt::Debug for Neighbours<'_, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Neighbours");
        shown.field("relation", &self.relation).field("tried", &self.tried.is_some());
        shown.finish_non_exhaustive()
    }
}

/// Why a comparison says nothing about a claim.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NotNeighbours {
    /// The receipt is about other neighbours.
    #[error("neighbours under {compared}, but the receipt is about {promised}")]
    Relation {
        /// Under which the data sets are neighbours.
        compared: AnyRelation,
        /// That of the receipt.
        promised: AnyRelation,
    },
    /// No plan began, so nothing says which relation the noise is for.
    #[error("neighbours under {compared}, but no receipt says what the noise is for")]
    NoReceipt {
        /// Under which the data sets are neighbours.
        compared: AnyRelation,
    },
    /// A plan began, and something was drawn beside it: no receipt says what that noise is for.
    #[error("neighbours under {compared}, but no receipt stands behind a draw beside the plan")]
    BesidePlan {
        /// Under which the data sets are neighbours.
        compared: AnyRelation,
    },
    /// So many records are in one of the two data sets only.
    #[error(
        "not neighbours under {compared}: {first} and {second} records are in one of the two only"
    )]
    Records {
        /// Under which they were said to be neighbours.
        compared: AnyRelation,
        /// In the first data set only.
        first: usize,
        /// In the second data set only.
        second: usize,
    },
    /// The caller's own test refuses them.
    #[error("not neighbours under {compared}")]
    Other {
        /// Under which they were said to be neighbours.
        compared: AnyRelation,
    },
}

impl<'a, D: ?Sized> Neighbours<'a, D> {
    /// Pairs that were made from the relation itself.
    pub(crate) fn made_from<L: Relation>(relation: L) -> Self {
        Self { relation: relation.any(), unplanned: false, tried: None }
    }

    /// Data sets that are made of records, in any order: it counts those that are in one of two only.
    ///
    /// Under relations in which a record moves by a distance, or within its group, how far it moved remains the caller's word.
    pub fn of_records<L: Relation, R: Serialize>(
        relation: L,
        records: impl Fn(&D) -> Vec<R> + 'a,
    ) -> Self {
        let one_each =
            move |data: &D| records(data).into_iter().map(|record| (record, 1)).collect();
        Self::of_counts(relation, one_each)
    }

    /// The same of records that come with how many of them there are: a table of millions is quickly told.
    pub fn of_counts<L: Relation, R: Serialize>(
        relation: L,
        records: impl Fn(&D) -> Vec<(R, usize)> + 'a,
    ) -> Self {
        let compared = relation.any();
        let tried = move |a: &D, b: &D| {
            let (first, second) = in_one_only(&Records::new(records(a)), &Records::new(records(b)));
            // More than fit count as the most that do: it is far more than one.
            let [first, second] = [first, second].map(|n| usize::try_from(n).unwrap_or(usize::MAX));
            let fits = match compared {
                AnyRelation::AddRemove => matches!((first, second), (1, 0) | (0, 1)),
                AnyRelation::AddOnly => (first, second) == (1, 0),
                // A record may be replaced by one of the same value.
                _ => first == second && first <= 1,
            };
            if fits { Ok(()) } else { Err(NotNeighbours::Records { compared, first, second }) }
        };
        Self { tried: Some(Box::new(tried)), ..Self::made_from(relation) }
    }

    /// Data sets of any form, and the caller's own test.
    pub fn tested<L: Relation>(relation: L, are: impl Fn(&D, &D) -> bool + 'a) -> Self {
        let compared = relation.any();
        let tried = move |a: &D, b: &D| {
            if are(a, b) { Ok(()) } else { Err(NotNeighbours::Other { compared }) }
        };
        Self { tried: Some(Box::new(tried)), ..Self::made_from(relation) }
    }

    /// For primitives on their own, whose loss the caller accounts for: no plan begins, so nothing else says what the noise is for.
    #[must_use]
    pub fn without_receipt(self) -> Self {
        Self { unplanned: true, ..self }
    }

    /// Whether these two are neighbours, as far as that can be told.
    ///
    /// # Errors
    /// Why they are not.
    pub fn tell(&self, first: &D, second: &D) -> Result<(), NotNeighbours> {
        self.tried.as_ref().map_or(Ok(()), |tried| tried(first, second))
    }

    /// Whether what is found on such data sets may be held against the claims of this receipt.
    ///
    /// # Errors
    /// [`NotNeighbours::Relation`] if it is about others.
    pub fn may_be_held_against<L: Relation>(
        &self,
        receipt: &Receipt<L>,
    ) -> Result<(), NotNeighbours> {
        let (compared, promised) = (self.relation, receipt.relation().any());
        if promised.covers(compared) {
            Ok(())
        } else {
            Err(NotNeighbours::Relation { compared, promised })
        }
    }

    /// Whether they fit what a run promised; where nothing was drawn, nothing need be promised.
    pub(crate) fn keep(&self, promised: &Promises) -> Result<(), NotNeighbours> {
        if self.unplanned {
            promised.cover(self.relation)
        } else {
            promised.cover_all_draws(self.relation)
        }
    }

    pub(crate) fn relation(&self) -> AnyRelation {
        self.relation
    }
}

/// Records as bytes, sorted, and how many there are of each: a sum of counts has more digits than one.
struct Records {
    bytes: Vec<u8>,
    /// Where each begins and ends.
    sorted: Vec<(Range<usize>, u128)>,
}

impl Records {
    fn new(records: Vec<(impl Serialize, usize)>) -> Self {
        let mut bytes = Vec::new();
        let mut sorted: Vec<(Range<usize>, u128)> = Vec::new();
        for (record, count) in records {
            let start = bytes.len();
            bytes = append(&record, bytes);
            match sorted.last_mut() {
                // The same as the one before it, as most are in a data set of few places: there is less to sort.
                Some((last, before)) if bytes[last.clone()] == bytes[start..] => {
                    *before += count as u128;
                    bytes.truncate(start);
                }
                _ => sorted.push((start..bytes.len(), count as u128)),
            }
        }
        sorted.sort_unstable_by(|(a, _), (b, _)| bytes[a.clone()].cmp(&bytes[b.clone()]));
        sorted.dedup_by(|(later, more), (first, count)| {
            let same = bytes[later.clone()] == bytes[first.clone()];
            *count += if same { *more } else { 0 };
            same
        });
        Self { bytes, sorted }
    }

    fn get(&self, place: usize) -> Option<(&[u8], u128)> {
        self.sorted.get(place).map(|(range, count)| (&self.bytes[range.clone()], *count))
    }
}

/// How many records of each of the two are in that one only.
fn in_one_only(a: &Records, b: &Records) -> (u128, u128) {
    let (mut i, mut j, mut first, mut second) = (0, 0, 0, 0);
    loop {
        let (of_a, of_b, order) = match (a.get(i), b.get(j)) {
            (Some((x, of_a)), Some((y, of_b))) => (of_a, of_b, x.cmp(y)),
            (Some((_, of_a)), None) => (of_a, 0, Ordering::Less),
            (None, Some((_, of_b))) => (0, of_b, Ordering::Greater),
            (None, None) => return (first, second),
        };
        // The one that is not at this record has none of it.
        let of_a = if order.is_le() { of_a } else { 0 };
        let of_b = if order.is_ge() { of_b } else { 0 };
        first += of_a.saturating_sub(of_b);
        second += of_b.saturating_sub(of_a);
        (i, j) = (i + usize::from(order.is_le()), j + usize::from(order.is_ge()));
    }
}

/// The exact laws of what `run` returns on two neighbours, one beside the other; each as [`exact_law`] has it.
///
/// # Errors
/// If they are not neighbours, or the receipt is about others.
///
/// # Panics
/// As [`exact_law`].
pub fn exact_laws<D: ?Sized, O: Ord>(
    neighbours: &Neighbours<'_, D>,
    window: Window,
    run: impl Fn(&D, &mut dyn Source) -> O,
    first: &D,
    second: &D,
) -> Result<(Law<O>, Law<O>), NotNeighbours> {
    neighbours.tell(first, second)?;
    let law = |data: &D| {
        let law = exact_law(window, |source| run(data, source));
        let law = if neighbours.unplanned { law.without_receipt() } else { law };
        law.held_under(neighbours.relation)
    };
    Ok((law(first)?, law(second)?))
}

#[cfg(test)]
mod tests {
    use dp_accounting::{AddOnly, AddRemove, ReplaceOne, Within};

    use super::*;

    fn told<L: Relation>(relation: L, a: &[f64], b: &[f64]) -> bool {
        Neighbours::of_records(relation, <[f64]>::to_vec).tell(a, b).is_ok()
    }

    #[test]
    fn records_are_counted_bit_for_bit_in_any_order() {
        let (two, three) = ([1.0, f64::NAN], [f64::NAN, 0.0, 1.0]);
        assert!(told(AddRemove, &two, &three) && told(AddRemove, &three, &two));
        assert!(told(AddOnly, &three, &two) && !told(AddOnly, &two, &three));
        assert!(!told(AddRemove, &two, &two) && told(ReplaceOne, &two, &two));
        assert!(!told(ReplaceOne, &two, &three) && told(ReplaceOne, &[0.0, 1.0], &[1.0, -0.0]));
        assert!(!told(AddRemove, &[0.0], &[-0.0]) && !told(ReplaceOne, &[1.0, 2.0], &[3.0, 4.0]));
        let near = Within::new(1.0).expect("valid");
        assert!(
            told(AddRemove, &[1.0, 1.0, 2.0], &[1.0, 2.0]) && !told(AddRemove, &[1.0; 3], &[1.0])
        );
        assert!(told(near, &[1.0, 2.0], &[1.0, 2.5]) && !told(near, &[1.0], &[1.0, 2.0]));
    }

    /// A count of two is the record twice, whatever else is in between; one of none is nothing.
    #[test]
    fn counted_records_are_as_many_records() {
        let counted = |a: &[(u8, usize)], b: &[(u8, usize)]| {
            Neighbours::of_counts(AddRemove, <[(u8, usize)]>::to_vec).tell(a, b)
        };
        let a = [(1, 2), (7, 1_000_000), (1, 3), (9, 0)];
        assert!(counted(&a, &[(7, 999_999), (1, 5)]).is_ok());
        assert!(counted(&a, &[(1, 5), (7, 1_000_000), (3, 1)]).is_ok());
        let refused = |first, second| {
            Err(NotNeighbours::Records { compared: AddRemove.any(), first, second })
        };
        assert_eq!(counted(&a, &[(1, 4), (7, 1_000_001)]), refused(1, 1));
        assert_eq!(counted(&a, &[(1, 5), (7, 999_998)]), refused(2, 0));
        assert_eq!(counted(&a, &[(7, 5), (1, 1_000_000)]), refused(999_995, 999_995));
        // None of these sums may wrap around to one record, or to none.
        let most = usize::MAX;
        assert_eq!(counted(&[(1, most)], &[(2, 2)]), refused(most, 2));
        assert_eq!(counted(&[(1, most), (1, 3)], &[(1, 1)]), refused(most, 0));
        assert_eq!(counted(&[(1, most), (2, 2)], &[]), refused(most, 0));
    }

    /// Whatever a run promises, its laws are compared on neighbours only, and held against receipts about them.
    #[test]
    fn laws_and_receipts_are_those_of_neighbours() {
        use dp_accounting::{Budget, Epsilon, Loss, Step};
        let list = |n: usize| vec![0_u8; n];
        let raw = Neighbours::of_records(AddRemove, Vec::clone).without_receipt();
        let tested =
            Neighbours::tested(AddRemove, |a: &Vec<u8>, b: &Vec<u8>| a.len() == b.len() + 1);
        let run = |data: &Vec<u8>, _: &mut dyn Source| data.len().min(1);
        for (neighbours, [a, b], stands) in [
            (&raw, [1, 2], true),
            (&raw, [1, 3], false),
            (&raw, [1, 1], false),
            (&tested, [2, 1], true),
            (&tested, [1, 2], false),
        ] {
            let laws = exact_laws(neighbours, Window::none(), run, &list(a), &list(b));
            assert_eq!(laws.is_ok(), stands, "{a} and {b}");
        }
        let step = Step::spend("x", Loss::Pure { epsilon: Epsilon::new(1.0).expect("valid") });
        let budget = Budget::new(1.0, 0.0).expect("valid");
        let (add, replace) = (
            Receipt::new("x", AddRemove, budget, step.clone()),
            Receipt::new("x", ReplaceOne, budget, step),
        );
        assert!(raw.may_be_held_against(&add).is_ok());
        assert_eq!(
            raw.may_be_held_against(&replace),
            Err(NotNeighbours::Relation { compared: AddRemove.any(), promised: ReplaceOne.any() })
        );
    }

    #[test]
    fn narrower_neighbours_may_be_held_against_wider_promises_only() {
        let within = |rho| Within::new(rho).expect("valid").any();
        let all = [AddRemove.any(), AddOnly.any(), ReplaceOne.any(), within(1.0), within(2.0)];
        let covered = |wide: AnyRelation| all.map(|narrow| wide.covers(narrow));
        assert_eq!(covered(all[0]), [true, true, false, false, false]);
        assert_eq!(covered(all[1]), [false, true, false, false, false]);
        assert_eq!(covered(all[2]), [false, false, true, true, true]);
        assert_eq!(covered(all[3]), [false, false, false, true, false]);
        assert_eq!(covered(all[4]), [false, false, false, true, true]);
    }
}

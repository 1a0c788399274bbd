//! Public constraints: which sets of elements may be chosen together.

mod graphic;
mod laminar;
mod partition;
mod probe;
mod transversal;
mod uniform;

pub use graphic::Graphic;
pub use laminar::Laminar;
pub use partition::Partition;
pub use probe::{MOST_CHECKED_ELEMENTS, check_matroid, probe_matroid};
pub use transversal::Transversal;
pub use uniform::Uniform;

use std::fmt::Debug;

use crate::CombinatorialError;

/// A matroid on the elements `0..elements()`, given by what may be added to an independent set.
///
/// It is public: nothing about it may come from private records.
///
/// # Contract
/// `can_add` must depend on the set and not on its order, the empty set is independent, subsets of
/// independent sets are independent, and of two independent sets the smaller can be extended by an
/// element of the larger. [`check_matroid`] tries all of that for small ground sets, [`probe_matroid`]
/// some of it for large ones. An oracle that breaks the contract costs utility, never privacy: what
/// may be chosen next is still a function of what was released.
pub trait Matroid: Debug + Send + Sync {
    /// The size of the ground set.
    fn elements(&self) -> usize;

    /// Whether an independent `set` stays independent with `element`. False for one of the set.
    fn can_add(&self, set: &[usize], element: usize) -> bool;

    /// All elements that can be added to an independent set, in ascending order.
    fn addable(&self, set: &[usize]) -> Vec<usize> {
        (0..self.elements()).filter(|&element| self.can_add(set, element)).collect()
    }

    /// A base: elements in ascending order, each taken if it can be added.
    fn base(&self) -> Vec<usize> {
        let mut base = Vec::new();
        for element in 0..self.elements() {
            if self.can_add(&base, element) {
                base.push(element);
            }
        }
        base
    }

    /// The size of every base.
    fn rank(&self) -> usize {
        self.base().len()
    }

    /// Whether a set is independent: whether it can be put together one by one.
    fn is_independent(&self, set: &[usize]) -> bool {
        (0..set.len()).all(|i| set[i] < self.elements() && self.can_add(&set[..i], set[i]))
    }
}

impl<M: Matroid + ?Sized> Matroid for &M {
    fn elements(&self) -> usize {
        (**self).elements()
    }

    fn can_add(&self, set: &[usize], element: usize) -> bool {
        (**self).can_add(set, element)
    }

    fn addable(&self, set: &[usize]) -> Vec<usize> {
        (**self).addable(set)
    }

    fn base(&self) -> Vec<usize> {
        (**self).base()
    }

    fn rank(&self) -> usize {
        (**self).rank()
    }
}

/// Refuses what would need more memory than a constraint that somebody means.
pub(super) fn check_size(name: &'static str, got: usize) -> Result<(), CombinatorialError> {
    if got > 1 << 24 {
        let got = got as i128;
        return Err(CombinatorialError::OutOfRange { name, got, want: "at most 2^24" });
    }
    Ok(())
}

/// Which of `0..elements` are in the set.
fn members(elements: usize, set: &[usize]) -> Vec<bool> {
    let mut members = vec![false; elements];
    for &element in set {
        members[element] = true;
    }
    members
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Small matroids of all five families.
    pub(in crate::submodular) fn examples() -> Vec<Box<dyn Matroid>> {
        let laminar = [(vec![0, 1, 2], 2), (vec![0, 1], 1), (vec![3, 4, 5, 6], 3), (vec![4, 5], 1)];
        let edges = vec![(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 2), (1, 1), (3, 4)];
        let slots = vec![vec![0], vec![0, 1], vec![1], vec![1, 2], vec![2, 3], vec![], vec![3, 3]];
        vec![
            Box::new(Uniform::new(6, 3).expect("valid")),
            Box::new(Partition::new(vec![0, 0, 1, 1, 1, 2, 2], vec![1, 2, 0]).expect("valid")),
            Box::new(Laminar::new(7, laminar.to_vec()).expect("valid")),
            Box::new(Graphic::new(5, edges).expect("valid")),
            Box::new(Transversal::new(4, slots).expect("valid")),
        ]
    }

    #[test]
    fn all_families_are_matroids_and_their_fast_answers_are_the_plain_ones() {
        for matroid in examples() {
            check_matroid(&*matroid).expect("a matroid");
            let m = matroid.elements();
            for set in 0..1_usize << m {
                let set: Vec<usize> = (0..m).filter(|i| set >> i & 1 == 1).collect();
                if matroid.is_independent(&set) {
                    let plain = (0..m).filter(|&element| matroid.can_add(&set, element));
                    assert_eq!(
                        matroid.addable(&set),
                        plain.collect::<Vec<_>>(),
                        "{matroid:?} {set:?}"
                    );
                    let full = matroid.addable(&set).is_empty();
                    assert_eq!(full, set.len() == matroid.rank(), "{matroid:?} {set:?}");
                }
            }
        }
    }

    #[test]
    fn ranks_are_those_counted_by_hand() {
        let ranks: Vec<usize> = examples().iter().map(|matroid| matroid.rank()).collect();
        assert_eq!(ranks, [3, 3, 5, 4, 4]);
    }
}

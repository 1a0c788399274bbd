//! Elements that can all be given a slot of their own.

use serde::{Deserialize, Serialize};

use super::Matroid;
use crate::CombinatorialError;

/// Sets of elements that can be assigned to different slots, each to one that it fits: people to
/// tasks, for example.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked", into = "Unchecked")]
pub struct Transversal {
    slots: usize,
    fits: Vec<Vec<usize>>,
}

impl Transversal {
    /// `fits[element]` lists the slots that an element could have.
    ///
    /// # Errors
    /// [`CombinatorialError::Index`] if a slot is not below `slots`, or
    /// [`CombinatorialError::OutOfRange`] if there are more than `2^24` slots.
    pub fn new(slots: usize, fits: Vec<Vec<usize>>) -> Result<Self, CombinatorialError> {
        super::check_size("slots", slots)?;
        if let Some(&slot) = fits.iter().flatten().find(|&&slot| slot >= slots) {
            return Err(CombinatorialError::index("slot", slot, "the number of slots", slots));
        }
        Ok(Self { slots, fits })
    }

    /// Who has each slot, when all of an independent set are given one.
    fn holders(&self, set: &[usize]) -> Vec<Option<usize>> {
        let mut holders = vec![None; self.slots];
        for &element in set {
            self.place(element, &mut holders, &mut vec![false; self.slots]);
        }
        holders
    }

    /// Gives `element` a slot, moving others if need be; slots that were `tried` are left alone.
    fn place(&self, element: usize, holders: &mut [Option<usize>], tried: &mut [bool]) -> bool {
        for &slot in &self.fits[element] {
            if !std::mem::replace(&mut tried[slot], true) {
                let free = match holders[slot] {
                    Some(holder) => self.place(holder, holders, tried),
                    None => true,
                };
                if free {
                    holders[slot] = Some(element);
                    return true;
                }
            }
        }
        false
    }

    /// The slots that could be made free by moving holders along.
    fn can_be_freed(&self, holders: &[Option<usize>]) -> Vec<bool> {
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); self.slots];
        for (slot, holder) in holders.iter().enumerate() {
            for &other in holder.iter().flat_map(|&holder| &self.fits[holder]) {
                users[other].push(slot);
            }
        }
        let mut found: Vec<bool> = holders.iter().map(Option::is_none).collect();
        let mut queue: Vec<usize> = (0..self.slots).filter(|&slot| found[slot]).collect();
        while let Some(slot) = queue.pop() {
            for &other in &users[slot] {
                if !std::mem::replace(&mut found[other], true) {
                    queue.push(other);
                }
            }
        }
        found
    }
}

impl Matroid for Transversal {
    fn elements(&self) -> usize {
        self.fits.len()
    }

    fn can_add(&self, set: &[usize], element: usize) -> bool {
        let mut holders = self.holders(set);
        !set.contains(&element) && self.place(element, &mut holders, &mut vec![false; self.slots])
    }

    fn addable(&self, set: &[usize]) -> Vec<usize> {
        let members = super::members(self.elements(), set);
        let open = self.can_be_freed(&self.holders(set));
        let fits = |&element: &usize| {
            !members[element] && self.fits[element].iter().any(|&slot| open[slot])
        };
        (0..self.elements()).filter(fits).collect()
    }

    fn base(&self) -> Vec<usize> {
        let mut holders = vec![None; self.slots];
        let mut place =
            |element: &usize| self.place(*element, &mut holders, &mut vec![false; self.slots]);
        (0..self.elements()).filter(|element| place(element)).collect()
    }
}

/// The file form; reading it goes through [`Transversal::new`].
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    slots: usize,
    fits: Vec<Vec<usize>>,
}

impl TryFrom<Unchecked> for Transversal {
    type Error = CombinatorialError;

    fn try_from(raw: Unchecked) -> Result<Self, CombinatorialError> {
        Self::new(raw.slots, raw.fits)
    }
}

impl From<Transversal> for Unchecked {
    fn from(matroid: Transversal) -> Self {
        Self { slots: matroid.slots, fits: matroid.fits }
    }
}

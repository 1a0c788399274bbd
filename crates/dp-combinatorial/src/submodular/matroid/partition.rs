//! So many of each block.

use serde::{Deserialize, Serialize};

use super::Matroid;
use crate::CombinatorialError;

/// Sets with at most `capacities[b]` elements of each block `b`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked", into = "Unchecked")]
pub struct Partition {
    block_of: Vec<usize>,
    capacities: Vec<usize>,
}

impl Partition {
    /// `block_of[element]` is the block of an element, `capacities[block]` how many of it may be
    /// chosen.
    ///
    /// # Errors
    /// [`CombinatorialError::Index`] if a block has no capacity listed.
    pub fn new(block_of: Vec<usize>, capacities: Vec<usize>) -> Result<Self, CombinatorialError> {
        if let Some(&block) = block_of.iter().find(|&&block| block >= capacities.len()) {
            let count = capacities.len();
            return Err(CombinatorialError::index(
                "block",
                block,
                "the number of capacities",
                count,
            ));
        }
        Ok(Self { block_of, capacities })
    }

    fn left(&self, set: &[usize]) -> Vec<usize> {
        let mut left = self.capacities.clone();
        for &element in set {
            let block = &mut left[self.block_of[element]];
            *block = block.saturating_sub(1);
        }
        left
    }
}

impl Matroid for Partition {
    fn elements(&self) -> usize {
        self.block_of.len()
    }

    fn can_add(&self, set: &[usize], element: usize) -> bool {
        let block = self.block_of[element];
        let used = set.iter().filter(|&&other| self.block_of[other] == block).count();
        used < self.capacities[block] && !set.contains(&element)
    }

    fn addable(&self, set: &[usize]) -> Vec<usize> {
        let (members, left) = (super::members(self.elements(), set), self.left(set));
        let fits = |&element: &usize| !members[element] && left[self.block_of[element]] > 0;
        (0..self.elements()).filter(fits).collect()
    }

    fn rank(&self) -> usize {
        let mut sizes = vec![0; self.capacities.len()];
        for &block in &self.block_of {
            sizes[block] += 1;
        }
        sizes.iter().zip(&self.capacities).map(|(size, capacity)| size.min(capacity)).sum()
    }
}

/// The file form; reading it goes through [`Partition::new`].
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    block_of: Vec<usize>,
    capacities: Vec<usize>,
}

impl TryFrom<Unchecked> for Partition {
    type Error = CombinatorialError;

    fn try_from(raw: Unchecked) -> Result<Self, CombinatorialError> {
        Self::new(raw.block_of, raw.capacities)
    }
}

impl From<Partition> for Unchecked {
    fn from(matroid: Partition) -> Self {
        Self { block_of: matroid.block_of, capacities: matroid.capacities }
    }
}

//! At most so many elements.

use serde::{Deserialize, Serialize};

use super::Matroid;
use crate::CombinatorialError;

/// All sets of at most `rank` elements: a cardinality constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked", into = "Unchecked")]
pub struct Uniform {
    elements: usize,
    rank: usize,
}

impl Uniform {
    /// At most `rank` of `elements`.
    ///
    /// # Errors
    /// [`CombinatorialError::OutOfRange`] if there are more than `2^24` elements, [`CombinatorialError::AboveLimit`] if `rank` is above
    /// `elements`.
    pub fn new(elements: usize, rank: usize) -> Result<Self, CombinatorialError> {
        super::check_size("elements", elements)?;
        if rank > elements {
            let (got, most) = (rank as u64, elements as u64);
            let most_name = "the number of elements";
            return Err(CombinatorialError::AboveLimit { name: "rank", got, most_name, most });
        }
        Ok(Self { elements, rank })
    }
}

impl Matroid for Uniform {
    fn elements(&self) -> usize {
        self.elements
    }

    fn can_add(&self, set: &[usize], element: usize) -> bool {
        set.len() < self.rank && !set.contains(&element)
    }

    fn addable(&self, set: &[usize]) -> Vec<usize> {
        if set.len() >= self.rank {
            return Vec::new();
        }
        let members = super::members(self.elements, set);
        (0..self.elements).filter(|&element| !members[element]).collect()
    }

    fn rank(&self) -> usize {
        self.rank
    }
}

/// The file form; reading it goes through [`Uniform::new`].
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    elements: usize,
    rank: usize,
}

impl TryFrom<Unchecked> for Uniform {
    type Error = CombinatorialError;

    fn try_from(raw: Unchecked) -> Result<Self, CombinatorialError> {
        Self::new(raw.elements, raw.rank)
    }
}

impl From<Uniform> for Unchecked {
    fn from(matroid: Uniform) -> Self {
        Self { elements: matroid.elements, rank: matroid.rank }
    }
}

//! A box between cuts, in half-intervals.

use dp_mechanism::passes::{StateError, TableError};
use serde::{Deserialize, Serialize};

/// The part of the public box that a node of the tree covers: per dimension the half-intervals
/// `low..high`. Cuts are released, so cells are public.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cell {
    low: Vec<u16>,
    high: Vec<u16>,
}

impl Cell {
    pub(super) fn whole(dim: usize, half_intervals: usize) -> Self {
        let high = u16::try_from(half_intervals).expect("at most 256");
        Self { low: vec![0; dim], high: vec![high; dim] }
    }

    /// The parts left and right of `cut`. A cut outside of the cell leaves one of them flat.
    pub(super) fn split(&self, dimension: usize, cut: u16) -> (Self, Self) {
        let cut = cut.clamp(self.low[dimension], self.high[dimension]);
        let (mut left, mut right) = (self.clone(), self.clone());
        left.high[dimension] = cut;
        right.low[dimension] = cut;
        (left, right)
    }

    /// That it is one of so many dimensions, and within so many half-intervals.
    pub(super) fn fits(&self, dim: usize, half_intervals: usize) -> Result<(), TableError> {
        StateError::unless_equal("dimension of a cell", self.low.len(), dim)?;
        StateError::unless_equal("dimension of a cell", self.high.len(), dim)?;
        self.low.iter().zip(&self.high).try_for_each(|(&low, &high)| {
            let ends = [f64::from(low), half_intervals as f64];
            StateError::unless_within("end of a cell", f64::from(high), ends)
        })
    }

    /// Middle and half of the width in one dimension, in half-cells of a grid with this many cells
    /// per half-interval: integers both.
    pub(crate) fn middle_and_radius(&self, dimension: usize, cells_per_bin: u32) -> (i64, i64) {
        let (low, high) = (i64::from(self.low[dimension]), i64::from(self.high[dimension]));
        let cells = i64::from(cells_per_bin);
        ((low + high) * cells, (high - low) * cells)
    }
}

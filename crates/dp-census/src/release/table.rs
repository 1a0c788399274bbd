use serde::{Deserialize, Serialize};

use crate::RegionTree;

/// Released numbers of groups by region and size. Whatever is computed from them alone is free.
///
/// Consistent: every region has the sum of its parts, no number is negative, and all columns of the first region add up to the public
/// number of groups.
///
/// # Shape and units
/// Row-major `(regions, columns)`, in groups; regions in the order of the hierarchy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GroupTable {
    pub(super) columns: usize,
    pub(super) counts: Vec<i64>,
}

impl GroupTable {
    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Groups by size in one region.
    ///
    /// # Panics
    /// If there is no such region.
    pub fn row(&self, region: usize) -> &[i64] {
        &self.counts[region * self.columns..(region + 1) * self.columns]
    }

    /// The whole table.
    pub fn counts(&self) -> &[i64] {
        &self.counts
    }

    /// The whole table, without its shape.
    pub fn into_counts(self) -> Vec<i64> {
        self.counts
    }

    /// Whether the table is consistent over `tree` and has so many groups.
    pub fn is_consistent(&self, tree: &RegionTree, groups: i64) -> bool {
        if self.columns == 0 || self.counts.len() != tree.len() * self.columns {
            return false;
        }
        let adds_up = |region: usize| {
            let parts = tree.children(region);
            let sum = |column| parts.clone().map(|part| self.row(part)[column]).sum::<i64>();
            self.row(region).iter().enumerate().all(|(column, &count)| count == sum(column))
        };
        self.counts.iter().all(|&count| count >= 0)
            && self.row(0).iter().sum::<i64>() == groups
            && (0..tree.leaves().start).all(adds_up)
    }
}

/// As [`GroupTable`], but in real numbers: they add up to the last digits of a float, and are not whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RealGroupTable {
    pub(super) columns: usize,
    pub(super) counts: Vec<f64>,
}

impl RealGroupTable {
    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Groups by size in one region.
    ///
    /// # Panics
    /// If there is no such region.
    pub fn row(&self, region: usize) -> &[f64] {
        &self.counts[region * self.columns..(region + 1) * self.columns]
    }

    /// The whole table.
    pub fn counts(&self) -> &[f64] {
        &self.counts
    }

    /// Each number rounded by itself, as the paper does. The result adds up no longer.
    #[expect(clippy::cast_possible_truncation, reason = "far below 2^53 in absolute value")]
    pub fn rounded(&self) -> Vec<i64> {
        self.counts.iter().map(|count| count.round() as i64).collect()
    }
}

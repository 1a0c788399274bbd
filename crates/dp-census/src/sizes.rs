use serde::{Deserialize, Serialize};

use crate::solve::MAX_VALUE;
use crate::{Bins, CensusError, Hierarchy, RegionTree};

/// How many groups of each size there are in each region of the lowest level. Private: this is what a release hides.
///
/// # Shape and units
/// Row-major `(leaf regions, columns)`, in groups.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Rows", into = "Rows")]
pub struct GroupSizes {
    columns: usize,
    counts: Vec<i64>,
}

impl GroupSizes {
    /// There are fewer groups than this, so that every sum of a solver is exact.
    pub const GROUPS_LIMIT: i64 = MAX_VALUE;

    /// From a finished table, one row per leaf region in the order of the hierarchy.
    ///
    /// # Errors
    /// [`CensusError::Shape`] if the rows are not whole. [`CensusError::NegativeCount`] or [`CensusError::TooManyGroups`] if there
    /// are no groups that have this table: no count is below 0, and all of them together stay below `2^36`. The message has neither
    /// value nor place.
    pub fn from_table(counts: Vec<i64>, columns: usize) -> Result<Self, CensusError> {
        if columns == 0 || !counts.len().is_multiple_of(columns) {
            return Err(CensusError::Shape { expected: columns, got: counts.len() });
        }
        if counts.iter().any(|&count| count < 0) {
            return Err(CensusError::NegativeCount);
        }
        let total: i128 = counts.iter().map(|&count| i128::from(count)).sum();
        if total >= i128::from(Self::GROUPS_LIMIT) {
            return Err(CensusError::TooManyGroups);
        }
        Ok(Self { columns, counts })
    }

    /// From rows of (leaf region, size, number of groups), added up.
    ///
    /// Sizes above the last column count there. Sizes below the first one are left out: with [`From1`](crate::From1), an empty group
    /// is no group.
    ///
    /// # Errors
    /// [`CensusError::UnknownRegion`], as where groups are is public; and as [`from_table`](Self::from_table).
    pub fn from_rows<'a, B: Bins>(
        hierarchy: &Hierarchy,
        bins: B,
        rows: impl IntoIterator<Item = (&'a str, u64, i64)>,
    ) -> Result<Self, CensusError> {
        let columns = bins.count();
        let mut counts = vec![0_i64; hierarchy.tree().leaves().len() * columns];
        for (region, size, groups) in rows {
            if groups < 0 {
                return Err(CensusError::NegativeCount);
            }
            let row = hierarchy.leaf(region)? * columns;
            if let Some(column) = bins.column(size) {
                let count = &mut counts[row + column];
                *count = count.checked_add(groups).ok_or(CensusError::TooManyGroups)?;
            }
        }
        Self::from_table(counts, columns)
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of leaf regions.
    pub fn regions(&self) -> usize {
        self.counts.len() / self.columns
    }

    /// Number of groups. It is the same for all neighbours.
    pub fn groups(&self) -> i64 {
        self.counts.iter().sum()
    }

    /// Number of groups of each leaf region. These are the same for all neighbours.
    pub fn groups_of_regions(&self) -> Vec<i64> {
        self.counts.chunks_exact(self.columns).map(|row| row.iter().sum()).collect()
    }

    /// The table, row-major.
    pub fn counts(&self) -> &[i64] {
        &self.counts
    }

    /// The table of all regions of `tree`, not private: every region has the sum of its children.
    ///
    /// # Panics
    /// If the table has not one row per leaf.
    pub fn exact_totals(&self, tree: &RegionTree) -> Vec<i64> {
        assert_eq!(self.regions(), tree.leaves().len(), "one row per leaf region");
        let columns = self.columns;
        let mut totals = vec![0; tree.leaves().start * columns];
        totals.extend_from_slice(&self.counts);
        for region in (1..tree.len()).rev() {
            let parent = tree.parent(region).expect("only the first region has none");
            let (above, from_here) = totals.split_at_mut(region * columns);
            let parent = &mut above[parent * columns..(parent + 1) * columns];
            for (total, count) in parent.iter_mut().zip(&from_here[..columns]) {
                *total += count;
            }
        }
        totals
    }
}

/// The file form. Reading it checks everything again.
#[derive(Serialize, Deserialize)]
#[serde(rename = "GroupSizes", deny_unknown_fields)]
struct Rows {
    columns: usize,
    counts: Vec<i64>,
}

impl TryFrom<Rows> for GroupSizes {
    type Error = CensusError;
    fn try_from(rows: Rows) -> Result<Self, CensusError> {
        Self::from_table(rows.counts, rows.columns)
    }
}

impl From<GroupSizes> for Rows {
    fn from(sizes: GroupSizes) -> Self {
        Self { columns: sizes.columns, counts: sizes.counts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{From0, From1};

    fn nation() -> Hierarchy {
        Hierarchy::new([("US", None), ("GA", Some("US")), ("NY", Some("US"))]).expect("valid")
    }

    /// The running example of the paper: sizes 3, 1, 1 in Georgia, 3, 1, 2 in New York.
    #[test]
    fn rows_are_added_up_and_open_at_the_top() {
        let rows = [("GA", 3, 1), ("NY", 9, 1), ("GA", 1, 2), ("NY", 1, 1), ("NY", 2, 1)];
        let sizes = GroupSizes::from_rows(&nation(), From0::up_to(3).expect("valid"), rows);
        let sizes = sizes.expect("valid");
        assert_eq!(sizes.counts(), [0, 2, 0, 1, 0, 1, 1, 1]);
        assert_eq!((sizes.groups(), sizes.groups_of_regions()), (6, vec![3, 3]));
        let totals = sizes.exact_totals(nation().tree());
        assert_eq!(totals, [0, 3, 1, 2, 0, 2, 0, 1, 0, 1, 1, 1]);
    }

    #[test]
    fn empty_groups_are_left_out_where_there_is_no_column_for_them() {
        let bins = From1::up_to(2).expect("valid");
        let sizes = GroupSizes::from_rows(&nation(), bins, [("GA", 0, 7), ("NY", 2, 1)]);
        assert_eq!(sizes.expect("valid").counts(), [0, 0, 0, 1]);
    }

    #[test]
    fn what_no_groups_can_have_is_refused() {
        let bins = From0::up_to(2).expect("valid");
        let error = |rows: &[(&'static str, u64, i64)]| {
            GroupSizes::from_rows(&nation(), bins, rows.iter().copied()).expect_err("refused")
        };
        assert_eq!(error(&[("GA", 1, -1)]), CensusError::NegativeCount);
        assert_eq!(error(&[("US", 1, 1)]), CensusError::UnknownRegion { region: "US".into() });
        assert_eq!(error(&[("XX", 1, 1)]), CensusError::UnknownRegion { region: "XX".into() });
        assert_eq!(error(&[("GA", 1, 1 << 62), ("GA", 1, 1 << 62)]), CensusError::TooManyGroups);
        assert_eq!(error(&[("GA", 1, 1 << 35), ("NY", 1, 1 << 35)]), CensusError::TooManyGroups);
        let shape = GroupSizes::from_table(vec![0; 5], 3).expect_err("not whole");
        assert_eq!(shape, CensusError::Shape { expected: 3, got: 5 });
        assert!(GroupSizes::from_table(vec![], 0).is_err());
        assert!(serde_json::from_str::<GroupSizes>(r#"{"columns":1,"counts":[-1]}"#).is_err());
    }

    #[test]
    fn a_billion_groups_in_one_column_and_none_elsewhere() {
        let rows = [("GA", 2, 1_000_000_000)];
        let sizes = GroupSizes::from_rows(&nation(), From0::up_to(2).expect("valid"), rows);
        let sizes = sizes.expect("valid");
        assert_eq!(sizes.groups_of_regions(), [1_000_000_000, 0]);
        assert_eq!(sizes.exact_totals(nation().tree())[2], 1_000_000_000);
    }
}

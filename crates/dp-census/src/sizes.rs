use std::fmt;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::solve::MAX_VALUE;
use crate::{Bins, CensusError, From0, Hierarchy, RegionTree};

/// How many groups of each size there are in each region of the lowest level. Private: this is what a release hides.
///
/// The columns are part of the type, as the neighbouring relation follows from them: a table without a column for empty groups cannot be
/// released by a plan that protects whoever is alone in a group.
///
/// `Debug` prints what is public: columns, regions, groups and quantity. The serialised form holds the counts.
///
/// # Shape and units
/// Row-major `(leaf regions, columns)`, in groups.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "B: Bins", try_from = "Rows<B>", into = "Rows<B>")]
pub struct GroupSizes<B: Bins = From0> {
    bins: B,
    most_quantity: NonZeroU32,
    counts: Vec<i64>,
}

impl<B: Bins> GroupSizes<B> {
    /// From a finished table, one row per leaf region in the order of the hierarchy, of groups to which each individual added 1 at
    /// most; see [`with_most_quantity`](Self::with_most_quantity) for others.
    ///
    /// # Errors
    /// [`CensusError::PartialRow`] if the rows are not whole. [`CensusError::NegativeCount`] or [`CensusError::TooManyGroups`] if there
    /// are no groups that have this table: no count is below 0, and all of them together are at most
    /// [`MAX_VALUE`]. The message has neither value nor place.
    pub fn from_table(bins: B, counts: Vec<i64>) -> Result<Self, CensusError> {
        let columns = bins.count();
        if !counts.len().is_multiple_of(columns) {
            return Err(CensusError::PartialRow { columns, entries: counts.len() });
        }
        if counts.iter().any(|&count| count < 0) {
            return Err(CensusError::NegativeCount);
        }
        let total: i128 = counts.iter().map(|&count| i128::from(count)).sum();
        if total > i128::from(MAX_VALUE) {
            return Err(CensusError::TooManyGroups);
        }
        Ok(Self { bins, most_quantity: NonZeroU32::MIN, counts })
    }

    /// Says that one individual added up to `quantity` to the size of a group. A plan for less refuses the table.
    ///
    /// What a table says can only grow, so that a table of people who brought three cannot be passed off as one of people who brought
    /// one: a quantity below [`most_quantity`](Self::most_quantity) changes nothing.
    #[must_use]
    pub fn with_most_quantity(mut self, quantity: NonZeroU32) -> Self {
        self.most_quantity = self.most_quantity.max(quantity);
        self
    }

    /// From rows of (leaf region, size, number of groups), added up.
    ///
    /// Sizes above the last column count there. Sizes below the first one are left out: with [`From1`](crate::From1), an empty group
    /// is no group.
    ///
    /// # Errors
    /// [`CensusError::UnknownRegion`], as where groups are is public; [`CensusError::OutOfRange`] for a table of more than `2^32` cells; and as
    /// [`from_table`](Self::from_table).
    pub fn from_rows<'a>(
        hierarchy: &Hierarchy,
        bins: B,
        rows: impl IntoIterator<Item = (&'a str, u64, i64)>,
    ) -> Result<Self, CensusError> {
        let columns = bins.count();
        let mut counts = vec![0_i64; cells_of(hierarchy.tree().leaves().len(), columns)?];
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
        Self::from_table(bins, counts)
    }

    /// The columns.
    pub fn bins(&self) -> B {
        self.bins
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.bins.count()
    }

    /// The most that one individual added to the size of a group.
    pub fn most_quantity(&self) -> NonZeroU32 {
        self.most_quantity
    }

    /// Number of leaf regions.
    pub fn regions(&self) -> usize {
        self.counts.len() / self.columns()
    }

    /// Number of groups. It is the same for all neighbours.
    pub fn groups(&self) -> i64 {
        self.counts.iter().sum()
    }

    /// Number of groups of each leaf region. These are the same for all neighbours.
    pub fn groups_of_regions(&self) -> Vec<i64> {
        self.counts.chunks_exact(self.columns()).map(|row| row.iter().sum()).collect()
    }

    /// All that is public of the table.
    pub fn shape(&self) -> TableShape {
        TableShape {
            columns: self.columns(),
            most_quantity: self.most_quantity,
            groups_of_regions: self.groups_of_regions(),
        }
    }

    /// The table, row-major.
    pub fn counts(&self) -> &[i64] {
        &self.counts
    }

    /// The table of all regions of `tree`, not private: every region has the sum of its children.
    ///
    /// # Errors
    /// [`CensusError::Shape`] if the table has not one row per leaf.
    pub fn exact_totals(&self, tree: &RegionTree) -> Result<Vec<i64>, CensusError> {
        let [expected, got] = [tree.leaves().len(), self.regions()].map(|of| (of, self.columns()));
        if got != expected {
            return Err(CensusError::Shape { expected, got });
        }
        Ok(totals(tree, self.columns(), &self.counts))
    }
}

/// Of all regions, from the rows of the leaves.
pub(crate) fn totals(tree: &RegionTree, columns: usize, leaves: &[i64]) -> Vec<i64> {
    let mut totals = vec![0; tree.leaves().start * columns];
    totals.extend_from_slice(leaves);
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

/// What of a private table is public: it is the same for all neighbours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableShape {
    /// Number of columns.
    pub columns: usize,
    /// The most that one individual added to the size of a group.
    pub most_quantity: NonZeroU32,
    /// Number of groups of each leaf region.
    pub groups_of_regions: Vec<i64>,
}

impl TableShape {
    /// Number of groups.
    pub fn groups(&self) -> i64 {
        self.groups_of_regions.iter().sum()
    }
}

/// Equal for all neighbours: counts stay out of logs.
impl<B: Bins> fmt::Debug for GroupSizes<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GroupSizes")
            .field("bins", &self.bins)
            .field("regions", &self.regions())
            .field("groups", &self.groups())
            .field("most_quantity", &self.most_quantity)
            .finish_non_exhaustive()
    }
}

/// The file form, with its columns and its quantity. Reading it checks everything again.
#[derive(Serialize, Deserialize)]
#[serde(bound = "B: Bins", rename = "GroupSizes", deny_unknown_fields)]
struct Rows<B: Bins> {
    bins: B,
    most_quantity: NonZeroU32,
    counts: Vec<i64>,
}

impl<B: Bins> TryFrom<Rows<B>> for GroupSizes<B> {
    type Error = CensusError;
    fn try_from(rows: Rows<B>) -> Result<Self, CensusError> {
        let sizes = Self::from_table(rows.bins, rows.counts)?;
        Ok(sizes.with_most_quantity(rows.most_quantity))
    }
}

impl<B: Bins> From<GroupSizes<B>> for Rows<B> {
    fn from(sizes: GroupSizes<B>) -> Self {
        let GroupSizes { bins, most_quantity, counts } = sizes;
        Self { bins, most_quantity, counts }
    }
}

/// The number of cells of a table, if some memory may hold them.
pub(crate) fn cells_of(regions: usize, columns: usize) -> Result<usize, CensusError> {
    let cells = regions.saturating_mul(columns);
    if cells > 1 << 32 {
        let (name, got) = ("regions times columns", cells as i128);
        return Err(CensusError::OutOfRange { name, got, want: "at most 2^32" });
    }
    Ok(cells)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::From1;

    fn nation() -> Hierarchy {
        Hierarchy::new([("US", None), ("GA", Some("US")), ("NY", Some("US"))]).expect("valid")
    }

    /// The running example of the paper: sizes 3, 1, 1 in Georgia, 3, 1, 2 in New York.
    #[test]
    fn rows_are_added_up_and_open_at_the_top() {
        let rows = [
            ("GA", 3, 1),
            ("NY", 9, 1),
            ("GA", 1, 2),
            ("NY", 1, 1),
            ("NY", 2, 1),
            // None of this size is a row like others.
            ("NY", 0, 0),
        ];
        let sizes = GroupSizes::from_rows(&nation(), From0::up_to(3).expect("valid"), rows);
        let sizes = sizes.expect("valid");
        assert_eq!(sizes.counts(), [0, 2, 0, 1, 0, 1, 1, 1]);
        assert_eq!((sizes.groups(), sizes.groups_of_regions()), (6, vec![3, 3]));
        let totals = sizes.exact_totals(nation().tree()).unwrap();
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
        assert_eq!(
            error(&[("GA", 1, 1 << 35), ("NY", 1, (1 << 35) + 1)]),
            CensusError::TooManyGroups
        );
        let shape = GroupSizes::from_table(bins, vec![0; 5]).expect_err("not whole");
        assert_eq!(shape, CensusError::PartialRow { columns: 3, entries: 5 });
        let most = GroupSizes::from_table(bins, vec![0, MAX_VALUE, 0]);
        assert!(most.is_ok() && GroupSizes::from_table(bins, vec![1, MAX_VALUE, 0]).is_err());
    }

    #[test]
    fn neighbours_print_alike() {
        let bins = From0::up_to(2).expect("valid");
        let text = |counts: [i64; 6]| {
            let sizes = GroupSizes::from_table(bins, counts.to_vec()).expect("valid");
            (format!("{sizes:?}"), format!("{sizes:#?}"))
        };
        let (line, lines) = text([0, 7, 0, 0, 0, 3]);
        assert_eq!((line.clone(), lines), text([0, 6, 1, 0, 0, 3]));
        assert_eq!(
            line,
            "GroupSizes { bins: From0 { largest: 2 }, regions: 2, groups: 10, most_quantity: 1, .. }"
        );
    }

    #[test]
    fn a_billion_groups_in_one_column_and_none_elsewhere() {
        let rows = [("GA", 2, 1_000_000_000)];
        let sizes = GroupSizes::from_rows(&nation(), From0::up_to(2).expect("valid"), rows);
        let sizes = sizes.expect("valid");
        assert_eq!(sizes.groups_of_regions(), [1_000_000_000, 0]);
        assert_eq!(sizes.exact_totals(nation().tree()).unwrap()[2], 1_000_000_000);
    }

    /// A file of one kind of columns is not read as one of another, whatever the number of columns.
    #[test]
    fn a_file_keeps_the_relation_and_is_checked() {
        let bins = From1::up_to(3).expect("valid");
        let sizes = GroupSizes::from_table(bins, vec![1, 2, 3]).expect("valid");
        let sizes = sizes.with_most_quantity(NonZeroU32::new(2).expect("above 0"));
        let text = serde_json::to_string(&sizes).expect("plain data");
        assert_eq!(serde_json::from_str::<GroupSizes<From1>>(&text).expect("valid"), sizes);
        assert!(serde_json::from_str::<GroupSizes<From0>>(&text).is_err());
        assert!(serde_json::from_str::<GroupSizes<From1>>(&text.replace("[1,", "[-1,")).is_err());
    }
}

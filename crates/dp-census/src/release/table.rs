use std::ops::Index;

use serde::{Deserialize, Serialize};

use crate::solve::MAX_VALUE;
use crate::{CensusError, RegionTree};

/// Released numbers of groups by region and size. Whatever is computed from them alone is free.
///
/// A file is read as a table if it has whole rows of numbers from 0 to [`MAX_VALUE`]; whether it fits a hierarchy, says
/// [`is_consistent`](Self::is_consistent).
///
/// Consistent: every region has the sum of its parts, no number is negative, and all columns of the first region add up to the public
/// number of groups.
///
/// # Shape and units
/// Row-major `(regions, columns)`, in groups; regions in the order of the hierarchy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "Unchecked<i64>")]
pub struct GroupTable {
    pub(super) columns: usize,
    pub(super) counts: Vec<i64>,
}

impl GroupTable {
    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Groups by size in one region; `None` if there is no such region. `table[region]` is for those who know that there is.
    pub fn get(&self, region: usize) -> Option<&[i64]> {
        row(&self.counts, self.columns, region)
    }

    /// The whole table.
    pub fn counts(&self) -> &[i64] {
        &self.counts
    }

    /// The whole table, without its shape.
    pub fn into_counts(self) -> Vec<i64> {
        self.counts
    }

    /// Whether the table is consistent over `tree` and has so many groups, for any numbers that it may hold.
    pub fn is_consistent(&self, tree: &RegionTree, groups: i64) -> bool {
        if self.columns == 0 || self.counts.len() != tree.len() * self.columns {
            return false;
        }
        let adds_up = |region: usize| {
            let parts = tree.children(region);
            let sum = |column| total(parts.clone().map(|part| self[part][column]));
            self[region].iter().enumerate().all(|(column, &count)| sum(column) == count.into())
        };
        self.counts.iter().all(|&count| count >= 0)
            && total(self[0].iter().copied()) == groups.into()
            && (0..tree.leaves().start).all(adds_up)
    }
}

/// No list in memory is long enough to overflow it.
fn total(counts: impl Iterator<Item = i64>) -> i128 {
    counts.map(i128::from).sum()
}

/// As [`GroupTable`], but in real numbers: they add up to the last digits of a float, and are not whole. In a file, each is finite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked<f64>")]
pub struct RealGroupTable {
    pub(super) columns: usize,
    pub(super) counts: Vec<f64>,
}

impl RealGroupTable {
    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Groups by size in one region; `None` if there is no such region. `table[region]` is for those who know that there is.
    pub fn get(&self, region: usize) -> Option<&[f64]> {
        row(&self.counts, self.columns, region)
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

/// The file form of both.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked<T> {
    columns: usize,
    counts: Vec<T>,
}

impl<T> Unchecked<T> {
    fn check_rows(&self) -> Result<(), CensusError> {
        let (columns, entries) = (self.columns, self.counts.len());
        if columns == 0 {
            return Err(CensusError::NoBins);
        }
        if entries == 0 || !entries.is_multiple_of(columns) {
            return Err(CensusError::PartialRow { columns, entries });
        }
        Ok(())
    }
}

impl TryFrom<Unchecked<i64>> for GroupTable {
    type Error = CensusError;

    fn try_from(file: Unchecked<i64>) -> Result<Self, CensusError> {
        file.check_rows()?;
        if file.counts.iter().any(|&count| count < 0) {
            return Err(CensusError::NegativeCount);
        }
        if file.counts.iter().any(|&count| count > MAX_VALUE) {
            return Err(CensusError::TooManyGroups);
        }
        Ok(Self { columns: file.columns, counts: file.counts })
    }
}

impl TryFrom<Unchecked<f64>> for RealGroupTable {
    type Error = CensusError;

    fn try_from(file: Unchecked<f64>) -> Result<Self, CensusError> {
        file.check_rows()?;
        if file.counts.iter().any(|count| !count.is_finite()) {
            return Err(CensusError::NotFinite);
        }
        Ok(Self { columns: file.columns, counts: file.counts })
    }
}

fn row<T>(counts: &[T], columns: usize, region: usize) -> Option<&[T]> {
    counts.get(region.checked_mul(columns)?..)?.get(..columns)
}

/// As with a slice, there has to be such a region.
impl Index<usize> for GroupTable {
    type Output = [i64];

    fn index(&self, region: usize) -> &[i64] {
        &self.counts[region * self.columns..(region + 1) * self.columns]
    }
}

/// As with a slice, there has to be such a region.
impl Index<usize> for RealGroupTable {
    type Output = [f64];

    fn index(&self, region: usize) -> &[f64] {
        &self.counts[region * self.columns..(region + 1) * self.columns]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal<T: serde::de::DeserializeOwned + std::fmt::Debug>(text: &str) -> String {
        let mut text = serde_json::from_str::<T>(text).expect_err("refused").to_string();
        text.truncate(text.find(" at line").unwrap_or(text.len()));
        text
    }

    #[test]
    fn files_of_tables_are_checked() {
        let table = GroupTable { columns: 2, counts: vec![0, MAX_VALUE, 3, 4] };
        let text = serde_json::to_string(&table).expect("plain data");
        assert_eq!(text, r#"{"columns":2,"counts":[0,68719476736,3,4]}"#);
        assert_eq!(serde_json::from_str::<GroupTable>(&text).expect("valid"), table);
        for (text, want) in [
            (r#"{"columns":0,"counts":[]}"#, "a table needs at least one bin"),
            (
                r#"{"columns":2,"counts":[]}"#,
                "the table has 0 entries, which are no whole rows of 2",
            ),
            (
                r#"{"columns":2,"counts":[1,2,3]}"#,
                "the table has 3 entries, which are no whole rows of 2",
            ),
            (r#"{"columns":2,"counts":[1,-1]}"#, "no number of groups may be negative"),
            (
                r#"{"columns":2,"counts":[1,68719476737]}"#,
                "there must be at most 68719476736 groups",
            ),
            (
                r#"{"columns":1,"counts":[1],"more":2}"#,
                "unknown field `more`, expected `columns` or `counts`",
            ),
        ] {
            assert_eq!(refusal::<GroupTable>(text), want);
        }
    }

    #[test]
    fn files_of_real_tables_are_checked() {
        let table = RealGroupTable { columns: 2, counts: vec![-1e-13, 2.5] };
        let text = serde_json::to_string(&table).expect("plain data");
        assert_eq!(serde_json::from_str::<RealGroupTable>(&text).expect("valid"), table);
        assert_eq!(
            refusal::<RealGroupTable>(r#"{"columns":2,"counts":[1.5]}"#),
            "the table has 1 entries, which are no whole rows of 2"
        );
        // JSON has no such numbers; other formats do.
        for bad in [f64::NAN, f64::INFINITY] {
            let file = Unchecked { columns: 1, counts: vec![1.0, bad] };
            assert_eq!(RealGroupTable::try_from(file), Err(CensusError::NotFinite));
        }
    }

    #[test]
    fn no_table_overflows_the_sums() {
        let tree = RegionTree::from_parents(&[None, Some(0), Some(0)]).expect("valid");
        let consistent = |counts: &[i64], groups| {
            let table = GroupTable { columns: 2, counts: counts.to_vec() };
            table.is_consistent(&tree, groups)
        };
        assert!(consistent(&[3, 4, 1, 4, 2, 0], 7));
        assert!(!consistent(&[3, 4, 1, 4, 2, 0], 8));
        // As sums of 64 bits these would overflow, or come round to the right number.
        assert!(!consistent(&[i64::MAX; 6], -2));
        assert!(!consistent(&[i64::MAX, i64::MAX, i64::MAX, i64::MAX, 0, 0], -2));
        assert!(!consistent(&[0, 0, i64::MIN, 0, i64::MIN, 0], 0));
    }
}

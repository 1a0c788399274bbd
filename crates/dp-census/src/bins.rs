use std::fmt;

use dp_accounting::{FurtherMemberOfGroup, MemberOfGroup, Relation};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::CensusError;

mod sealed {
    pub trait Sealed {}
}

/// Which sizes have a column of their own, and with that, who is protected.
///
/// The last column is open: it counts the groups of that size *or more*, so that no group falls out of the table when it grows.
/// Sealed: what the first column is decides the neighbouring relation.
pub trait Bins:
    Copy
    + fmt::Debug
    + PartialEq
    + Serialize
    + DeserializeOwned
    + Send
    + Sync
    + 'static
    + sealed::Sealed
{
    /// The neighbours that a table with these columns can protect.
    type Relation: Relation + Default;

    /// The size of the first column.
    const SMALLEST: u32;

    /// The size at which the last column begins.
    fn largest(self) -> u32;

    /// How many columns there are.
    fn count(self) -> usize {
        (self.largest() - Self::SMALLEST) as usize + 1
    }

    /// The column of a group of this size; `None` for a size below the first column. What is above the last counts as the last.
    fn column(self, size: u64) -> Option<usize> {
        let size = u32::try_from(size).unwrap_or(u32::MAX).min(self.largest());
        size.checked_sub(Self::SMALLEST).map(|column| column as usize)
    }
}

/// The file form. The smallest size keeps columns of one relation from being read as those of another.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    smallest: u32,
    largest: u32,
}

/// Declares the columns from one smallest size on.
macro_rules! bins {
    ($(#[$doc:meta])* $name:ident, $smallest:literal, $want:literal, $relation:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(try_from = "Unchecked", into = "Unchecked")]
        pub struct $name {
            largest: u32,
        }

        impl $name {
            /// Columns up to `largest` "or more": at least two of them, at most 2^24.
            ///
            /// # Errors
            /// [`CensusError::OutOfRange`] for every other number.
            pub fn up_to(largest: u32) -> Result<Self, CensusError> {
                if ($smallest + 1..1 << 24).contains(&largest) {
                    Ok(Self { largest })
                } else {
                    let (name, got) = ("the largest size", largest.into());
                    Err(CensusError::OutOfRange { name, got, want: $want })
                }
            }
        }

        impl sealed::Sealed for $name {}

        impl Bins for $name {
            type Relation = $relation;
            const SMALLEST: u32 = $smallest;

            fn largest(self) -> u32 {
                self.largest
            }
        }

        impl TryFrom<Unchecked> for $name {
            type Error = CensusError;
            fn try_from(raw: Unchecked) -> Result<Self, CensusError> {
                if raw.smallest == $smallest {
                    Self::up_to(raw.largest)
                } else {
                    Err(CensusError::SmallestSize { got: raw.smallest, expected: $smallest })
                }
            }
        }

        impl From<$name> for Unchecked {
            fn from(bins: $name) -> Self {
                Self { smallest: $smallest, largest: bins.largest }
            }
        }
    };
}

bins! {
    /// Sizes `0, 1, .., N or more`. The default: empty groups have a column, so everybody is protected, also whoever is alone.
    From0, 0, "between 1 and 2^24 - 1", MemberOfGroup
}

bins! {
    /// Sizes `1, 2, .., N or more`, for tables that do not know their empty groups.
    ///
    /// # A weaker promise
    /// Which groups have a size above 0 counts as public: under [`FurtherMemberOfGroup`] nothing is promised to an individual who makes up
    /// the whole size of a group. If such a group were to vanish with its member, every cumulative count of its region would change.
    From1, 1, "between 2 and 2^24 - 1", FurtherMemberOfGroup
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_columns_that_the_type_says() {
        let from0 = From0::up_to(3).expect("valid");
        let columns: Vec<_> = [0, 1, 3, 4, u64::MAX].map(|size| from0.column(size)).into();
        assert_eq!(
            (from0.count(), columns),
            (4, vec![Some(0), Some(1), Some(3), Some(3), Some(3)])
        );
        let from1 = From1::up_to(3).expect("valid");
        let columns: Vec<_> = [0, 1, 3, 4].map(|size| from1.column(size)).into();
        assert_eq!((from1.count(), columns), (3, vec![None, Some(0), Some(2), Some(2)]));
    }

    #[test]
    fn fewer_than_two_columns_or_far_too_many_are_refused() {
        assert_eq!(
            From0::up_to(0).expect_err("one column").to_string(),
            "the largest size must be between 1 and 2^24 - 1, got 0"
        );
        assert!(From1::up_to(1).is_err() && From1::up_to(2).is_ok());
        assert!(From0::up_to(1 << 24).is_err());
        let text = serde_json::to_string(&From0::up_to(7).expect("valid")).expect("plain data");
        assert_eq!(text, r#"{"smallest":0,"largest":7}"#);
        assert_eq!(serde_json::from_str::<From0>(&text).expect("valid"), From0 { largest: 7 });
        assert!(serde_json::from_str::<From1>(&text).is_err());
        assert!(serde_json::from_str::<From0>(&text.replace('7', "0")).is_err());
    }
}

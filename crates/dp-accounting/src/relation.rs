//! Which data sets are neighbours. Each relation is a type, so costs of different relations do not add up by accident.

use std::fmt;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::ParamError;

mod sealed {
    pub trait Sealed {}
}

/// A neighbouring relation: the pairs of data sets that a guarantee speaks about.
///
/// A guarantee "under `R`" holds for every pair `(D, D')` that the documentation of `R` lists, in that order.
/// The trait is sealed: a new relation needs its rules of composition worked out in this crate first.
pub trait Relation:
    Copy
    + Clone
    + fmt::Debug
    + fmt::Display
    + PartialEq
    + Serialize
    + DeserializeOwned
    + Send
    + Sync
    + 'static
    + sealed::Sealed
{
    /// Into how many parts of a partition the difference between two neighbours can reach: 1 where a record comes or
    /// goes, 2 where it can leave one part and enter another. Parallel steps charge for that many parts.
    const PARTS_TOUCHED: usize;

    /// Whether `(D, D')` being neighbours makes `(D', D)` neighbours. A pure loss becomes a useful zCDP loss only then.
    const TWO_SIDED: bool;

    /// The name that receipts are stored under.
    fn name(&self) -> &'static str;

    /// The same relation where a type cannot go.
    fn any(&self) -> AnyRelation;

    /// The distance that belongs to the relation, if one does.
    fn distance(&self) -> Option<f64> {
        None
    }
}

/// A relation as a value: what is told to somebody who holds no receipt.
///
/// ```
/// use dp_accounting::{AddOnly, AddRemove, Relation, ReplaceOne};
///
/// assert!(AddRemove.any().covers(AddOnly.any()));
/// assert!(!ReplaceOne.any().covers(AddRemove.any()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AnyRelation {
    /// [`AddRemove`].
    AddRemove,
    /// [`ReplaceOne`].
    ReplaceOne,
    /// [`AddOnly`].
    AddOnly,
    /// [`MemberOfGroup`].
    MemberOfGroup,
    /// [`FurtherMemberOfGroup`].
    FurtherMemberOfGroup,
    /// [`Within`].
    Within(Within),
}

impl AnyRelation {
    /// Whether all neighbours under `narrower`, in their order, are neighbours under this relation: only then does a guarantee under this
    /// one speak about them.
    pub fn covers(self, narrower: Self) -> bool {
        match (self, narrower) {
            (Self::Within(most), Self::Within(moved)) => moved.rho() <= most.rho(),
            (Self::AddRemove, Self::AddOnly)
            | (Self::ReplaceOne, Self::Within(_))
            | (Self::MemberOfGroup, Self::FurtherMemberOfGroup) => true,
            (here, there) => here == there,
        }
    }
}

impl fmt::Display for AnyRelation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AddRemove => AddRemove.fmt(f),
            Self::ReplaceOne => ReplaceOne.fmt(f),
            Self::AddOnly => AddOnly.fmt(f),
            Self::MemberOfGroup => MemberOfGroup.fmt(f),
            Self::FurtherMemberOfGroup => FurtherMemberOfGroup.fmt(f),
            Self::Within(within) => within.fmt(f),
        }
    }
}

/// Declares a relation without a parameter; its file form is its name, and no other name is accepted.
macro_rules! relation {
    ($(#[$doc:meta])* $name:ident, $label:literal, parts: $parts:literal, two_sided: $two_sided:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name;

        impl sealed::Sealed for $name {}

        impl Relation for $name {
            const PARTS_TOUCHED: usize = $parts;
            const TWO_SIDED: bool = $two_sided;

            fn name(&self) -> &'static str {
                $label
            }

            fn any(&self) -> AnyRelation {
                AnyRelation::$name
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($label)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str($label)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let found = String::deserialize(deserializer)?;
                if found == $label {
                    Ok(Self)
                } else {
                    Err(D::Error::custom(format_args!(
                        concat!("the relation is `{}`, expected `", $label, "`"),
                        found
                    )))
                }
            }
        }
    };
}

relation! {
    /// `(D, D')` where one of the two is the other plus one record: somebody takes part or does not.
    ///
    /// The number of records is private.
    AddRemove, "add-remove", parts: 1, two_sided: true
}

relation! {
    /// `(D, D')` of equal size that differ in one record, which may take any value in both.
    ///
    /// The number of records is public. A part of a partition still changes its size when a record moves across,
    /// so a loss below a parallel step must hold for a part that gains, loses or swaps one record.
    ReplaceOne, "replace-one", parts: 2, two_sided: true
}

relation! {
    /// `(D + x, D)` in this order only: adding one record makes no output much more likely ("add-DP").
    ///
    /// An epsilon under this relation means `Pr[M(D + x) in S] <= e^epsilon Pr[M(D) in S]` for every `D`, `x`, `S`, with
    /// `+ delta` on the right where there is a delta. Nothing is claimed about `Pr[M(D) in S] / Pr[M(D + x) in S]`,
    /// which may be unbounded, so this alone is not differential privacy.
    AddOnly, "add-only", parts: 1, two_sided: false
}

relation! {
    /// `(D, D')` with the same groups in the same places, where one individual more belongs to one of the groups in one of the two.
    ///
    /// The groups, their number and where they are is public, and so is that a group may be empty. Who belongs to them is private, and
    /// so is what an individual brings to the size of the group, up to a public most (1 where people are counted) that the mechanism states.
    /// An individual belongs to one group at most; one who moves from group to group makes two changes.
    MemberOfGroup, "member-of-group", parts: 1, two_sided: true
}

relation! {
    /// As [`MemberOfGroup`], but the group has a size of at least 1 without that individual.
    ///
    /// Weaker: which groups have a size above 0 counts as public, so nothing is promised to whoever makes up the whole size of a group.
    /// A member who brings nothing to the size does not count as company.
    FurtherMemberOfGroup, "further-member-of-group", parts: 1, two_sided: true
}

/// `(D, D')` of equal size that differ in one record, which lies at distance at most `rho` from its counterpart.
///
/// The metric and the number of records are public. Like [`ReplaceOne`], a moved record may cross from one part of a
/// partition into another.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "Tagged", into = "Tagged")]
pub struct Within {
    rho: f64,
}

impl Within {
    /// Records may move by at most `rho`, which is finite and above 0.
    ///
    /// # Errors
    /// [`ParamError::OutOfRange`] for every other value.
    pub fn new(rho: f64) -> Result<Self, ParamError> {
        if rho.is_finite() && rho > 0.0 {
            Ok(Self { rho })
        } else {
            Err(ParamError::OutOfRange { name: "distance", got: rho, want: "finite and > 0" })
        }
    }

    /// The largest protected distance, in the units of the metric.
    pub const fn rho(self) -> f64 {
        self.rho
    }
}

impl sealed::Sealed for Within {}

impl Relation for Within {
    const PARTS_TOUCHED: usize = 2;
    const TWO_SIDED: bool = true;

    fn name(&self) -> &'static str {
        "within"
    }

    fn any(&self) -> AnyRelation {
        AnyRelation::Within(*self)
    }

    fn distance(&self) -> Option<f64> {
        Some(self.rho)
    }
}

impl fmt::Display for Within {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "within {}", self.rho)
    }
}

/// The file form of [`Within`]; the variant name is what keeps relations apart.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Tagged {
    Within { rho: f64 },
}

impl TryFrom<Tagged> for Within {
    type Error = ParamError;
    fn try_from(raw: Tagged) -> Result<Self, ParamError> {
        let Tagged::Within { rho } = raw;
        Self::new(rho)
    }
}

impl From<Within> for Tagged {
    fn from(relation: Within) -> Self {
        Self::Within { rho: relation.rho }
    }
}

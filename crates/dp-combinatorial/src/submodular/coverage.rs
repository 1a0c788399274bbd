//! Weighted maximum coverage.

use std::fmt;

use super::levels::{Extension, LevelGains, Levels, Ranked, RankedRecord, ranked_credit};
use super::{Gains, Objective};
use crate::{CombinatorialError, Incidence};

/// How much weight the users have of whom at least one set is chosen.
///
/// The elements are the sets of the family, a record is one user with all of its memberships and its
/// weight. A user without memberships counts for nothing.
///
/// # Complexity
/// A whole run takes `O(memberships)`: a user is taken out of the gains of its sets once, when the
/// first of them is picked.
#[derive(Clone)]
pub struct Coverage {
    incidence: Incidence,
    /// Empty if all weights are 1.
    weights: Vec<u32>,
    most_weight: u32,
}

/// What is public of it: users and their weights stay out of logs.
impl fmt::Debug for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Coverage")
            .field("incidence", &self.incidence)
            .field("most_weight", &self.most_weight)
            .finish_non_exhaustive()
    }
}

impl Coverage {
    /// Weights are at most this.
    pub const MOST_WEIGHT: u32 = 1 << 24;

    /// Every user counts the same.
    pub fn new(incidence: Incidence) -> Self {
        Self { incidence, weights: Vec::new(), most_weight: 1 }
    }

    /// `weight(user)` for each user, cut at `most_weight`, which is public and what one user is
    /// credited. It must follow from that user alone: numbers of users may be others if one more is there, so look it up by who they are.
    ///
    /// # Errors
    /// [`CombinatorialError`] if `most_weight` is zero or above [`MOST_WEIGHT`](Self::MOST_WEIGHT).
    pub fn weighted(
        incidence: Incidence,
        weight: impl Fn(usize) -> u32,
        most_weight: u32,
    ) -> Result<Self, CombinatorialError> {
        let name = "most weight";
        if most_weight == 0 {
            return Err(CombinatorialError::OutOfRange { name, got: 0, want: "at least 1" });
        }
        if most_weight > Self::MOST_WEIGHT {
            let got = most_weight.into();
            return Err(CombinatorialError::OutOfRange { name, got, want: "at most 2^24" });
        }
        let weights = (0..incidence.users()).map(|user| weight(user).min(most_weight)).collect();
        Ok(Self { incidence, weights, most_weight })
    }

    /// Who is in which set.
    pub fn incidence(&self) -> &Incidence {
        &self.incidence
    }

    fn weight(&self, user: usize) -> u32 {
        self.weights.get(user).copied().unwrap_or(1)
    }
}

impl Objective for Coverage {
    fn elements(&self) -> usize {
        self.incidence.sets()
    }

    fn most_credit(&self) -> u64 {
        self.most_weight.into()
    }

    fn records(&self) -> usize {
        self.incidence.users()
    }

    fn start(&self, kept: &[bool]) -> Box<dyn Gains + '_> {
        assert_eq!(kept.len(), self.records(), "one entry per user");
        let mut gains = vec![0; self.elements()];
        for (user, _) in kept.iter().enumerate().filter(|(_, kept)| **kept) {
            let weight = i64::from(self.weight(user));
            for &set in self.incidence.sets_of(user) {
                gains[set as usize] += weight;
            }
        }
        Box::new(Run { coverage: self, left: kept.to_vec(), gains })
    }
}

struct Run<'a> {
    coverage: &'a Coverage,
    /// Users that take part and are not covered yet.
    left: Vec<bool>,
    gains: Vec<i64>,
}

impl Gains for Run<'_> {
    fn gains(&self) -> &[i64] {
        &self.gains
    }

    fn pick(&mut self, element: usize) {
        let incidence = &self.coverage.incidence;
        for &user in incidence.users_of(element) {
            let user = user as usize;
            if std::mem::replace(&mut self.left[user], false) {
                let weight = i64::from(self.coverage.weight(user));
                for &set in incidence.sets_of(user) {
                    self.gains[set as usize] -= weight;
                }
            }
        }
    }
}

impl Ranked for Coverage {
    fn record(&self, record: usize) -> RankedRecord<'_> {
        RankedRecord {
            items: self.incidence.sets_of(record),
            values: &[],
            value: self.weight(record),
        }
    }

    fn records_of(&self, element: usize) -> &[u32] {
        self.incidence.users_of(element)
    }
}

impl Extension for Coverage {
    fn level_credit(&self) -> u64 {
        ranked_credit(self.most_credit())
    }

    fn start_levels(&self, kept: &[bool], steps: u32) -> Box<dyn LevelGains + '_> {
        Box::new(Levels::new(self, kept, steps))
    }
}

//! What a set cover is, and what it costs.

use serde::{Deserialize, Serialize};

use crate::Incidence;

/// Sets in the order in which users look for the first that holds them.
///
/// Which sets are needed would tell who is there. An order of the sets is what can be released: each
/// user alone knows which set serves them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cover {
    /// Each set once. All of them, unless the cover is partial.
    pub order: Vec<u32>,
    /// For the first sets of the order, noisy counts of users who were waiting for them among those
    /// that took part. Empty unless the sets were chosen by
    /// [`NoisyMax`](dp_mechanism::SelectionRule::NoisyMax).
    pub noisy_gains: Vec<i64>,
}

/// What an order of sets costs on given users: for evaluation, not private.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoverCost {
    /// How many sets serve somebody.
    pub sets_used: usize,
    /// How many users are in none of the sets of the order.
    pub unserved: usize,
}

impl Cover {
    /// What the order costs on these users. Not private.
    ///
    /// # Complexity
    /// `O(memberships + sets)`.
    #[must_use]
    pub fn exact_cost(&self, incidence: &Incidence) -> CoverCost {
        exact_cost(&self.order, incidence)
    }
}

/// What an order of sets costs: how many distinct sets serve somebody if each user takes the first
/// set of the order that holds them. Not private.
///
/// Sets out of range serve nobody.
///
/// # Complexity
/// `O(memberships + sets)`.
#[must_use]
pub fn exact_cost(order: &[u32], incidence: &Incidence) -> CoverCost {
    let mut rank = vec![usize::MAX; incidence.sets()];
    for (place, &set) in order.iter().enumerate() {
        if let Some(rank) = rank.get_mut(set as usize) {
            *rank = (*rank).min(place);
        }
    }
    let mut used = vec![false; order.len()];
    let mut unserved = 0;
    for user in 0..incidence.users() {
        let ranks = incidence.sets_of(user).iter().map(|&set| rank[set as usize]);
        match ranks.min() {
            Some(first) if first < order.len() => used[first] = true,
            _ => unserved += 1,
        }
    }
    CoverCost { sets_used: used.iter().filter(|&&used| used).count(), unserved }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_user_takes_the_first_set_that_holds_them() {
        let users: [&[u32]; 5] = [&[0, 1], &[1], &[1, 2], &[], &[3]];
        let incidence = Incidence::from_slices(4, users).unwrap();
        let cost = |order: &[u32]| exact_cost(order, &incidence);
        assert_eq!(cost(&[1, 3, 0, 2]), CoverCost { sets_used: 2, unserved: 1 });
        assert_eq!(cost(&[0, 2, 1, 3]), CoverCost { sets_used: 4, unserved: 1 });
        assert_eq!(cost(&[2, 9]), CoverCost { sets_used: 1, unserved: 4 });
        assert_eq!(cost(&[]), CoverCost { sets_used: 0, unserved: 5 });
    }
}

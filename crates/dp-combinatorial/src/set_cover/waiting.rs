//! How many users each set would still serve.

use crate::Incidence;

/// The users who take part and are in no chosen set yet, and how many of them each set holds.
///
/// A user counts for all sets that hold them until one of those is chosen, and never again: that is
/// the contract of a [`CreditedRun`](dp_mechanism::CreditedRun) with a most credit of 1.
///
/// Everything here is private. All updates of a run together take as long as one pass over the
/// memberships.
pub(super) struct Waiting<'a> {
    incidence: &'a Incidence,
    waits: Vec<bool>,
    gains: Vec<i64>,
    left: usize,
    /// Room for the gains of the sets that are left.
    scores: Vec<i64>,
}

impl<'a> Waiting<'a> {
    /// Of the users, those that `takes_part` says; it is asked once about each.
    pub(super) fn new(incidence: &'a Incidence, mut takes_part: impl FnMut(usize) -> bool) -> Self {
        let mut waiting = Self {
            incidence,
            waits: vec![false; incidence.users()],
            gains: vec![0; incidence.sets()],
            left: 0,
            scores: Vec::new(),
        };
        for user in 0..incidence.users() {
            let sets = incidence.sets_of(user);
            // Users in no set take the coin like all others, but nothing can serve them.
            if takes_part(user) && !sets.is_empty() {
                waiting.waits[user] = true;
                waiting.left += 1;
                for &set in sets {
                    waiting.gains[set as usize] += 1;
                }
            }
        }
        waiting
    }

    /// How many waiting users are in a set.
    pub(super) fn gain(&self, set: u32) -> i64 {
        self.gains[set as usize]
    }

    /// The gains of these sets, or `None` if nobody waits, so that all are 0 for good.
    pub(super) fn gains(&mut self, sets: &[u32]) -> Option<&[i64]> {
        if self.left == 0 {
            return None;
        }
        // Borrowed apart from the scores, so that the loop need not look up where they are.
        let gains = self.gains.as_slice();
        self.scores.clear();
        self.scores.extend(sets.iter().map(|&set| gains[set as usize]));
        Some(&self.scores)
    }

    /// Serves the waiting users of a set.
    pub(super) fn choose(&mut self, set: u32) {
        for &user in self.incidence.users_of(set as usize) {
            let user = user as usize;
            if std::mem::replace(&mut self.waits[user], false) {
                self.left -= 1;
                for &set in self.incidence.sets_of(user) {
                    self.gains[set as usize] -= 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Gains are counts of waiting users, and over all choices nobody is counted twice.
        #[test]
        fn gains_are_counts_and_every_user_is_credited_once(
            lists in prop::collection::vec(prop::collection::vec(0_u32..6, 0..5), 0..12),
            order in Just((0_u32..6).collect::<Vec<_>>()).prop_shuffle(),
            absent in 0_usize..12,
        ) {
            let incidence = Incidence::from_slices(6, lists.iter().map(Vec::as_slice)).unwrap();
            let mut waiting = Waiting::new(&incidence, |user| user != absent);
            let mut plain: Vec<usize> =
                (0..lists.len()).filter(|&user| user != absent).collect();
            let servable = plain.iter().filter(|&&user| !lists[user].is_empty()).count();
            let mut credited = 0;
            for &chosen in &order {
                for set in 0..6 {
                    let count = plain.iter().filter(|&&user| lists[user].contains(&set)).count();
                    prop_assert_eq!(waiting.gain(set), i64::try_from(count).unwrap());
                }
                credited += waiting.gain(chosen);
                waiting.choose(chosen);
                plain.retain(|&user| !lists[user].contains(&chosen));
                let over = plain.iter().all(|&user| lists[user].is_empty());
                prop_assert_eq!(waiting.gains(&[0, 5]).is_none(), over);
            }
            prop_assert_eq!(credited, i64::try_from(servable).unwrap());
        }
    }
}

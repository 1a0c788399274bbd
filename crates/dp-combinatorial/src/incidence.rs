//! Which user is in which set, readable from both sides.

use std::fmt;

use crate::CombinatorialError;

/// The memberships of private users in the sets of a public family.
///
/// Both directions are flat lists: the sets of each user in ascending order, and the users of each
/// set in ascending order. A membership that is listed twice counts once. A membership outside of
/// the declared range is a bad record and is left out without a word, because a message would tell
/// something about the records; [`Incidence::check`] lists such memberships for whoever may see
/// them. `Debug` prints the number of sets, which is public, and nothing else.
///
/// # Complexity
/// Built in `O(users + sets + memberships)` apart from sorting the list of each user; 8 bytes per
/// membership and one word per user and set.
///
/// ```
/// use dp_combinatorial::Incidence;
///
/// // Two users and three sets; set 7 does not exist, and user 1 names set 2 twice.
/// let incidence = Incidence::from_slices(3, [&[0, 2, 7][..], &[2, 2]])?;
/// assert_eq!(incidence.sets_of(0), [0, 2]);
/// assert_eq!(incidence.users_of(2), [0, 1]);
/// assert_eq!(incidence.memberships(), 3);
/// # Ok::<(), dp_combinatorial::CombinatorialError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Incidence {
    by_user: Lists,
    by_set: Lists,
}

/// Memberships stay out of logs, and so does how many users there are.
impl fmt::Debug for Incidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Incidence").field("sets", &self.sets()).finish_non_exhaustive()
    }
}

fn check_sets(sets: u32) -> Result<(), CombinatorialError> {
    let want = match sets {
        0 => "at least 1",
        1..=0x1000_0000 => return Ok(()),
        _ => "at most 2^28",
    };
    Err(CombinatorialError::OutOfRange { name: "sets", got: sets.into(), want })
}

impl Incidence {
    /// Builds it from pairs `(user, set)` in any order.
    ///
    /// Users are numbered from 0 to below `users`, sets from 0 to below `sets`; other pairs are
    /// left out.
    ///
    /// # Errors
    /// If there is no set, or more than `2^28` sets or `2^30` users: of each user and set a place in memory is kept, in a pair or not. `users` is a
    /// bound of their numbers, and as public as `sets`.
    pub fn from_pairs(
        users: u32,
        sets: u32,
        pairs: &[(u32, u32)],
    ) -> Result<Self, CombinatorialError> {
        check_sets(sets)?;
        if users > 1 << 30 {
            let (name, got) = ("users", users.into());
            return Err(CombinatorialError::OutOfRange { name, got, want: "at most 2^30" });
        }
        let kept = || pairs.iter().copied().filter(|&(user, set)| user < users && set < sets);
        let by_user = Lists::collect(users as usize, kept);
        Ok(Self::from_user_lists(sets, by_user))
    }

    /// Builds it from the list of sets of each user, in the order of the users.
    ///
    /// Set ids that are not below `sets` are left out, and so are users beyond [`u32::MAX`].
    ///
    /// # Errors
    /// If there is no set, or more than `2^28`.
    pub fn from_slices<'a>(
        sets: u32,
        users: impl IntoIterator<Item = &'a [u32]>,
    ) -> Result<Self, CombinatorialError> {
        check_sets(sets)?;
        let mut by_user = Lists { offsets: vec![0], ids: Vec::new() };
        for list in users.into_iter().take(u32::MAX as usize) {
            by_user.ids.extend(list.iter().filter(|&&set| set < sets));
            by_user.offsets.push(by_user.ids.len());
        }
        Ok(Self::from_user_lists(sets, by_user))
    }

    fn from_user_lists(sets: u32, mut by_user: Lists) -> Self {
        by_user.sort_and_dedup();
        let by_set = by_user.transposed(sets as usize);
        Self { by_user, by_set }
    }

    /// The pairs that [`Incidence::from_pairs`] would leave out for being out of range.
    ///
    /// Not private: for the owner of the records, before a release.
    pub fn check(
        users: u32,
        sets: u32,
        pairs: &[(u32, u32)],
    ) -> impl Iterator<Item = (u32, u32)> + '_ {
        pairs.iter().copied().filter(move |&(user, set)| user >= users || set >= sets)
    }

    /// Number of users, those in no set included. Private.
    #[must_use]
    pub fn users(&self) -> usize {
        self.by_user.len()
    }

    /// Number of sets, empty ones included. Public.
    #[must_use]
    pub fn sets(&self) -> usize {
        self.by_set.len()
    }

    /// Number of memberships. Private.
    #[must_use]
    pub fn memberships(&self) -> usize {
        self.by_user.ids.len()
    }

    /// The sets of a user, ascending. A user that does not exist is in none.
    #[must_use]
    pub fn sets_of(&self, user: usize) -> &[u32] {
        self.by_user.get(user)
    }

    /// The users of a set, ascending. A set that does not exist has none.
    #[must_use]
    pub fn users_of(&self, set: usize) -> &[u32] {
        self.by_set.get(set)
    }
}

/// Lists of ids, one after the other: list `i` is `ids[offsets[i]..offsets[i + 1]]`.
#[derive(Clone, PartialEq, Eq)]
struct Lists {
    offsets: Vec<usize>,
    ids: Vec<u32>,
}

impl Lists {
    /// Groups pairs `(list, id)` by a counting sort, which keeps their order within a list.
    fn collect<I: Iterator<Item = (u32, u32)>>(lists: usize, pairs: impl Fn() -> I) -> Self {
        let mut offsets = vec![0; lists + 1];
        for (list, _) in pairs() {
            offsets[list as usize + 1] += 1;
        }
        for list in 0..lists {
            offsets[list + 1] += offsets[list];
        }
        let mut next = offsets.clone();
        let mut ids = vec![0; offsets[lists]];
        for (list, id) in pairs() {
            let place = &mut next[list as usize];
            ids[*place] = id;
            *place += 1;
        }
        Self { offsets, ids }
    }

    fn sort_and_dedup(&mut self) {
        let mut kept = 0;
        for list in 0..self.len() {
            let (start, end) = (self.offsets[list], self.offsets[list + 1]);
            self.ids[start..end].sort_unstable();
            // Everything before `kept` is final, and `kept` never overtakes what is being read.
            self.offsets[list] = kept;
            for place in start..end {
                if place == start || self.ids[place] != self.ids[place - 1] {
                    self.ids[kept] = self.ids[place];
                    kept += 1;
                }
            }
        }
        let last = self.len();
        self.offsets[last] = kept;
        self.ids.truncate(kept);
        self.ids.shrink_to_fit();
    }

    /// List `i` of the result holds, in ascending order, the lists that hold `i`.
    fn transposed(&self, lists: usize) -> Self {
        Self::collect(lists, || {
            (0_u32..).zip(self.iter()).flat_map(|(from, ids)| ids.iter().map(move |&to| (to, from)))
        })
    }

    fn iter(&self) -> impl Iterator<Item = &[u32]> {
        self.offsets.windows(2).map(|bounds| &self.ids[bounds[0]..bounds[1]])
    }

    fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    fn get(&self, list: usize) -> &[u32] {
        match self.offsets.get(list..).unwrap_or_default() {
            [start, end, ..] => &self.ids[*start..*end],
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Also of a user in very many sets.
    #[test]
    fn lists_and_pairs_of_the_same_users_are_the_same() {
        let lists: [Vec<u32>; 3] = [(0..20_000).collect(), vec![], vec![7, 3, 7, 20_000]];
        let pairs: Vec<(u32, u32)> = (0..)
            .zip(&lists)
            .flat_map(|(user, list)| list.iter().map(move |&set| (user, set)))
            .collect();
        let of_lists = Incidence::from_slices(20_000, lists.iter().map(Vec::as_slice)).unwrap();
        assert_eq!(of_lists.memberships(), 20_002);
        assert!(of_lists == Incidence::from_pairs(3, 20_000, &pairs).unwrap());
    }

    proptest! {
        #[test]
        fn both_directions_hold_each_kept_pair_once(
            pairs in prop::collection::vec((0_u32..9, 0_u32..7), 0..80),
        ) {
            let (users, sets) = (6, 4);
            let incidence = Incidence::from_pairs(users, sets, &pairs).unwrap();
            let mut wanted: Vec<_> =
                pairs.iter().copied().filter(|&(u, s)| u < users && s < sets).collect();
            wanted.sort_unstable();
            wanted.dedup();
            let by_user: Vec<_> = (0..users)
                .flat_map(|user| incidence.sets_of(user as usize).iter().map(move |&s| (user, s)))
                .collect();
            prop_assert_eq!(&by_user, &wanted);
            let mut by_set: Vec<_> = (0..sets)
                .flat_map(|set| incidence.users_of(set as usize).iter().map(move |&u| (u, set)))
                .collect();
            by_set.sort_unstable();
            prop_assert_eq!(by_set, wanted);
            let out = Incidence::check(users, sets, &pairs).count();
            let inside = pairs.iter().filter(|&&(u, s)| u < users && s < sets).count();
            prop_assert_eq!(out + inside, pairs.len());
        }

        #[test]
        fn slices_and_pairs_agree(
            lists in prop::collection::vec(prop::collection::vec(0_u32..6, 0..5), 0..8),
        ) {
            let pairs: Vec<_> = (0_u32..)
                .zip(&lists)
                .flat_map(|(user, list)| list.iter().map(move |&set| (user, set)))
                .collect();
            let users = u32::try_from(lists.len()).unwrap();
            let slices = Incidence::from_slices(5, lists.iter().map(Vec::as_slice)).unwrap();
            prop_assert_eq!(slices, Incidence::from_pairs(users, 5, &pairs).unwrap());
        }
    }

    #[test]
    fn users_and_memberships_are_not_printed() {
        let text = |users: &[&[u32]]| {
            format!("{:?}", Incidence::from_slices(3, users.iter().copied()).unwrap())
        };
        assert_eq!(text(&[&[0, 2], &[1]]), "Incidence { sets: 3, .. }");
        assert_eq!(text(&[&[0, 2], &[1]]), text(&[&[0, 2]]));
    }

    #[test]
    fn empty_families_are_refused_and_empty_users_kept() {
        let refused = CombinatorialError::OutOfRange { name: "sets", got: 0, want: "at least 1" };
        assert_eq!(Incidence::from_pairs(3, 0, &[]), Err(refused.clone()));
        assert_eq!(Incidence::from_slices(0, []), Err(refused));
        let incidence = Incidence::from_slices(2, [&[9][..], &[]]).unwrap();
        assert_eq!((incidence.users(), incidence.sets(), incidence.memberships()), (2, 2, 0));
    }
}

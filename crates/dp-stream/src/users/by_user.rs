//! Events of the same users brought together.

use super::tail::Tail;

/// A user who shows an item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) item: u64,
    /// From the first user on.
    pub(crate) user: u32,
    /// A charge, as [`new`](Self::new) says. As wide as a user, so that an entry is copied as a whole.
    pub(crate) before: u32,
}

impl Shown {
    /// The charge is what the event found: that before the step, or that the user was busy already.
    #[inline]
    pub(crate) fn new(item: u64, user: u32, charge: u8) -> Self {
        Self { item, user, before: charge.into() }
    }

    #[inline]
    pub(crate) fn charge(&self) -> u8 {
        #[allow(clippy::cast_possible_truncation, reason = "it was given as one")]
        let charge = self.before as u8;
        charge
    }
}

/// Users of whom something is remembered, and a few others: those whose numbers end in the same bits.
pub(crate) struct SomeUsers {
    bits: Vec<u64>,
}

impl SomeUsers {
    /// Of so many users those who show these. Less than one in 200 of the others is taken for one of them, if numbers are at random.
    pub(crate) fn who_show(shown: &[Shown], users: usize) -> Self {
        let words = (4 * shown.len()).min(users.div_ceil(64)).next_power_of_two();
        let mut some = Self { bits: vec![0; words] };
        for shown in shown {
            let (word, bit) = some.place(shown.user);
            some.bits[word] |= 1 << bit;
        }
        some
    }

    #[inline]
    pub(crate) fn may_have(&self, user: u32) -> bool {
        let (word, bit) = self.place(user);
        self.bits[word] >> bit & 1 == 1
    }

    #[inline]
    fn place(&self, user: u32) -> (usize, u32) {
        ((user / u64::BITS) as usize & (self.bits.len() - 1), user % u64::BITS)
    }
}

/// Below this, a sort by comparisons takes less time than to begin one by digits.
const FEW: usize = 1 << 10;
const DIGIT_BITS: u32 = 11;

/// Sorts by user, of which there are so many; those of one user stay in order.
///
/// # Complexity
/// Linear in the events for every digit of a user's number, of which there are three at most. No user can be chosen that
/// takes longer.
pub(crate) fn sort_by_user(shown: &mut Tail<Shown>, scratch: &mut Tail<Shown>, users: usize) {
    if shown.len() < FEW {
        shown.sort_by_key(|shown| shown.user);
        return;
    }
    let bits = usize::BITS - users.leading_zeros();
    let passes = bits.div_ceil(DIGIT_BITS).max(1);
    // As few bits a pass as that number of passes needs: fewer places to write to at a time.
    let width = bits.div_ceil(passes);
    for pass in 0..passes {
        let digit = |shown: &Shown| (shown.user >> (pass * width)) as usize & ((1 << width) - 1);
        let mut starts = vec![0_u32; 1 << width];
        for shown in shown.iter() {
            starts[digit(shown)] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            (*start, sum) = (sum, sum + *start);
        }
        scratch.truncate(0);
        let sorted = scratch.room(shown.len());
        for shown in shown.iter() {
            let start = &mut starts[digit(shown)];
            sorted[*start as usize] = *shown;
            *start += 1;
        }
        scratch.keep(shown.len());
        std::mem::swap(shown, scratch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_that_of_a_stable_sort() {
        for (users, step) in
            [(1, 1), (2, 1), (700, 11), (5_000, 977), (1 << 23, 77_777), (1 << 31, 654_321)]
        {
            for events in [0, 1, FEW - 1, FEW, 5_000] {
                let shown = |i: u64| {
                    let user = u32::try_from(i * step % users).expect("below 2^31");
                    Shown::new(i, user, 0)
                };
                let mut plain: Vec<Shown> = (0..events as u64).map(shown).collect();
                let mut found = Tail::default();
                found.room(events).copy_from_slice(&plain);
                found.keep(events);
                plain.sort_by_key(|shown| shown.user);
                let users = usize::try_from(users).expect("small");
                sort_by_user(&mut found, &mut Tail::default(), users);
                assert_eq!(*found, plain);
            }
        }
    }

    #[test]
    fn who_shows_something_is_among_some_users_and_few_others_are() {
        for (shown, users) in [(1, 1), (1, 900), (70, 1 << 10), (1_000, 1 << 20), (3, 1 << 31)] {
            let step = (users - 1) / shown + 1;
            let show: Vec<Shown> = (0..shown).map(|i| Shown::new(i.into(), i * step, 0)).collect();
            let some = SomeUsers::who_show(&show, users as usize);
            assert!(show.iter().all(|shown| some.may_have(shown.user)));
            let others = (0..users.min(1 << 20)).filter(|user| user % step != 0);
            let (all, taken) = others.fold((0, 0), |(all, taken), user| {
                (all + 1, taken + u32::from(some.may_have(user)))
            });
            assert!(50 * taken <= all, "{taken} of {all} for {shown} of {users}");
        }
    }
}

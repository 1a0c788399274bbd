//! Sets that are read pass by pass, and the little that is kept of their users.

/// Sets that are too large for memory, read in passes.
///
/// Every pass shows the sets in the same order. That order, and which sets are shown, must not
/// depend on the users; a set that is never shown ends up among those that nobody asked for.
///
/// ```
/// use std::convert::Infallible;
///
/// use dp_combinatorial::set_cover::{SetCoverThresholds, SetStream};
/// use dp_combinatorial::{Budget, chacha_from_os};
///
/// /// Set `s` has the users whose number can be divided by `s + 2`; read from a disk, for example.
/// struct Multiples;
///
/// impl SetStream for Multiples {
///     type Error = Infallible; // or std::io::Error
///     fn users(&self) -> u32 {
///         10_000
///     }
///     fn pass(&mut self, visit: &mut dyn FnMut(u32, &[u32])) -> Result<(), Infallible> {
///         for set in 0..20 {
///             let users: Vec<u32> = (0..10_000).step_by(set as usize + 2).collect();
///             visit(set, &users);
///         }
///         Ok(())
///     }
/// }
///
/// let plan = SetCoverThresholds::builder(20, 10_000, Budget::new(1.0, 0.0)?).build()?;
/// let release = plan.release_stream(&mut Multiples, &mut chacha_from_os()?)?;
/// assert_eq!(release.output.order[..2], [0, 1]); // 5,000 users, then 1,667 of the others
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait SetStream {
    /// Why a pass can break off.
    type Error;

    /// Users are numbered below this. Private.
    fn users(&self) -> u32;

    /// Shows every set with its users.
    ///
    /// A user who is listed twice counts once, and users out of range do not count.
    ///
    /// # Errors
    /// Whatever keeps the sets from being read.
    fn pass(&mut self, visit: &mut dyn FnMut(u32, &[u32])) -> Result<(), Self::Error>;
}

/// One bit per user: whether they take part and wait. Private.
pub(super) struct WaitingBits {
    bits: Vec<u64>,
    /// The users of a set that was not listed in order.
    sorted: Vec<u32>,
}

impl WaitingBits {
    /// Nobody waits yet.
    pub(super) fn new(users: u32) -> Self {
        Self { bits: vec![0; users.div_ceil(64) as usize], sorted: Vec::new() }
    }

    /// Whether a user waits, to be said once about each.
    pub(super) fn put(&mut self, user: usize, waits: bool) {
        self.bits[user / 64] |= u64::from(waits) << (user % 64);
    }

    /// Serves the waiting users of a set if the answer to their number is yes.
    pub(super) fn choose_if(&mut self, users: &[u32], ask: impl FnOnce(i64) -> bool) -> bool {
        // Nobody may count twice; a list in ascending order, as most are, has no repetitions.
        let users = if users.is_sorted_by(|a, b| a < b) {
            users
        } else {
            self.sorted.clear();
            self.sorted.extend(users);
            self.sorted.sort_unstable();
            self.sorted.dedup();
            &self.sorted
        };
        // There are no bits for users out of range, or they are 0.
        let word = |user: u32| (user as usize / 64, user % 64);
        let waits = |&&user: &&u32| {
            let (word, bit) = word(user);
            self.bits.get(word).is_some_and(|word| word >> bit & 1 == 1)
        };
        let yes = ask(i64::try_from(users.iter().filter(waits).count()).expect("at most 2^32"));
        if yes {
            for &user in users {
                let (word, bit) = word(user);
                if let Some(word) = self.bits.get_mut(word) {
                    *word &= !(1 << bit);
                }
            }
        }
        yes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_and_strangers_do_not_count_and_no_serves_nobody() {
        let mut waiting = WaitingBits::new(70);
        (0..70).for_each(|user| waiting.put(user, user % 2 == 0));
        let users = [68, 68, 0, 1, 70, 71, 127, 500, 0];
        for _ in 0..2 {
            assert!(!waiting.choose_if(&users, |gain| gain != 2));
        }
        assert!(waiting.choose_if(&users, |gain| gain == 2));
        assert!(waiting.choose_if(&users, |gain| gain == 0));
        assert!(waiting.choose_if(&[2, 4, 0], |gain| gain == 2));
    }
}

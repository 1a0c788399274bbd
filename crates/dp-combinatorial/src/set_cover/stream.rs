//! Sets that are read pass by pass, and the little that is kept of their users.

use dp_mechanism::Private;

/// Sets that are too large for memory, read in passes.
///
/// Every pass shows the sets in the same order. That order, and which sets are shown, must not
/// depend on the users; a set that is never shown ends up among those that nobody asked for, and one
/// that is shown again in a pass is passed over.
///
/// ```
/// use std::convert::Infallible;
///
/// use dp_combinatorial::set_cover::{SetCoverThresholds, SetCoverThresholdsSettings, SetStream};
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
/// let plan = SetCoverThresholds::new(20, 10_000, Budget::new(1.0, 0.0)?, SetCoverThresholdsSettings::default())?;
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

    /// How many of these users wait.
    pub(super) fn gain(&mut self, users: &[u32]) -> i64 {
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
        let waits = |&&user: &&u32| {
            self.bits.get(user as usize / 64).is_some_and(|word| word >> (user % 64) & 1 == 1)
        };
        i64::try_from(users.iter().filter(waits).count()).expect("at most 2^32")
    }

    /// Serves the waiting ones of these users.
    pub(super) fn choose(&mut self, users: &[u32]) {
        for &user in users {
            if let Some(word) = self.bits.get_mut(user as usize / 64) {
                *word &= !(1 << (user % 64));
            }
        }
    }
}

/// A stream of which a run sees no user.
pub(super) struct PrivateStream<'a, S>(&'a mut S);

impl<'a, S: SetStream> PrivateStream<'a, S> {
    pub(super) fn new(stream: &'a mut S) -> Self {
        Self(stream)
    }

    pub(super) fn users(&self) -> Private<u32> {
        Private::new(self.0.users())
    }

    pub(super) fn pass(
        &mut self,
        mut visit: impl FnMut(u32, Private<&[u32]>),
    ) -> Result<(), S::Error> {
        self.0.pass(&mut |set, users| visit(set, Private::new(users)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_and_strangers_do_not_count() {
        let mut waiting = WaitingBits::new(70);
        (0..70).for_each(|user| waiting.put(user, user % 2 == 0));
        let users = [68, 68, 0, 1, 70, 71, 127, 500, 0];
        assert_eq!([waiting.gain(&users), waiting.gain(&users)], [2, 2]);
        waiting.choose(&users);
        assert_eq!([waiting.gain(&users), waiting.gain(&[2, 4, 0])], [0, 2]);
    }
}

//! Numbers for users who come by name.

use std::fmt;
use std::num::NonZeroU64;

use dp_mechanism::{ReleaseRng, SecureSource, Source};

use crate::{MonitorPlan, StreamError};

/// Numbers of a session for users who have none of their own: each is drawn among all that nobody has.
///
/// Numbers by first appearance say who came before, so one user more would move those of all who come later. Under
/// [`ItemOrder::Spread`](crate::ItemOrder::Spread) a number decides which items of its user count, and everybody's would be others. Drawn, every user's
/// number has the same law whoever else is there, and is as secret as the data.
///
/// # Complexity
/// Four bytes for each number there can be; constant time for each user.
///
/// ```
/// use std::collections::HashMap;
///
/// use dp_stream::{Budget, Method, MonitorPlan, MonitorSettings, StreamShape, Universe, UserNumbers, chacha_from_os};
///
/// let (shape, budget) = (StreamShape { universe: Universe::Bits64, users: 3, steps: 24 }, Budget::new(1.0, 0.0)?);
/// let plan = MonitorPlan::new(Method::ThreshMonitor, shape, budget, 4, MonitorSettings::default())?;
/// let (mut rng, mut numbers) = (chacha_from_os()?, UserNumbers::new(&plan));
/// let mut of_name = HashMap::new();
/// for name in ["ada", "bo", "ada", "cy", "di"] {
///     // Beyond the public bound there is none: leave such users out, in the order in which they came.
///     if !of_name.contains_key(name) && let Some(number) = numbers.draw(&mut rng) {
///         of_name.insert(name, number);
///     }
/// }
/// assert_eq!(of_name.len(), 3);
/// assert!(!of_name.contains_key("di"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct UserNumbers {
    plan: MonitorPlan,
    given: Vec<u32>,
    free: Vec<u32>,
}

/// How many users there are is private.
impl fmt::Debug for UserNumbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UserNumbers").finish_non_exhaustive()
    }
}

impl UserNumbers {
    /// Those below the public bound on users, of which nobody has one.
    pub fn new(plan: &MonitorPlan) -> Self {
        Self { plan: plan.clone(), given: Vec::new(), free: (0..plan.users()).collect() }
    }

    /// Goes on with numbers that have been [given](Self::given): a user keeps a number for the whole session.
    ///
    /// # Errors
    /// [`StreamError::OutOfRange`] if there is no such number, or two users have it.
    pub fn resume(plan: &MonitorPlan, given: Vec<u32>) -> Result<Self, StreamError> {
        let users = plan.users();
        let mut is_free = vec![true; users as usize];
        for &number in &given {
            let is_new = is_free.get_mut(number as usize).is_some_and(std::mem::take);
            if !is_new {
                let (name, want) = ("a number of a user", "below their bound, and of one user");
                return Err(StreamError::OutOfRange { name, got: number.into(), want });
            }
        }
        let free = (0..users).zip(is_free).filter(|(_, is_free)| *is_free);
        Ok(Self { plan: plan.clone(), given, free: free.map(|(number, _)| number).collect() })
    }

    /// The number of one user more; `None` beyond the bound.
    pub fn draw(&mut self, rng: &mut ReleaseRng) -> Option<u32> {
        self.draw_with(&mut SecureSource::new(rng))
    }

    /// The one code path of releases and audits: [`draw`](Self::draw) with coins from anywhere, for audits and tests.
    pub fn draw_with(&mut self, source: &mut dyn Source) -> Option<u32> {
        let left = NonZeroU64::new(self.free.len() as u64)?;
        let place = self.plan.planned(source, |draws| draws.uniform(left));
        let number = self.free.swap_remove(usize::try_from(place).expect("one of those left"));
        self.given.push(number);
        Some(number)
    }

    /// All numbers of users, in the order in which they were drawn. As confidential as the data.
    pub fn given(&self) -> &[u32] {
        &self.given
    }
}

#[cfg(test)]
mod tests {
    use dp_mechanism::{ChaCha20Rng, SecureSource};
    use rand::SeedableRng;

    use super::*;
    use crate::{MonitorSettings, StreamShape, Universe};

    fn plan(users: u32) -> MonitorPlan {
        let shape = StreamShape { universe: Universe::Range { size: 2 }, users, steps: 1 };
        crate::testing::pure(shape, 1.0, 1, MonitorSettings::default()).expect("valid")
    }

    #[test]
    fn everybody_has_a_number_of_their_own_until_there_is_none() {
        let (mut numbers, mut rng) = (UserNumbers::new(&plan(50)), ChaCha20Rng::seed_from_u64(1));
        let mut seen: Vec<_> = (0..20)
            .map(|_| numbers.draw_with(&mut SecureSource::new(&mut rng)).expect("left"))
            .collect();
        assert_eq!(numbers.given(), seen);
        let mut again = UserNumbers::resume(&plan(50), seen.clone()).expect("of a session");
        seen.extend(
            (0..30).map(|_| again.draw_with(&mut SecureSource::new(&mut rng)).expect("left")),
        );
        assert_eq!(
            (again.draw_with(&mut SecureSource::new(&mut rng)), again.given()),
            (None, &seen[..])
        );
        assert!(seen.windows(2).any(|pair| pair[0] > pair[1]), "in order: {seen:?}");
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..50));
    }

    /// Null hypothesis: the third of three users has each of five numbers in a fifth of 5,000 draws. One count is off by 170, six deviations, less than once in 10^8.
    #[test]
    fn a_number_says_nothing_of_who_came_before() {
        let plan = plan(5);
        for before in 0..3 {
            let mut counts = [0_u32; 5];
            for seed in 0..5_000 {
                let (mut numbers, mut rng) =
                    (UserNumbers::new(&plan), ChaCha20Rng::seed_from_u64(seed));
                for _ in 0..before {
                    numbers.draw_with(&mut SecureSource::new(&mut rng));
                }
                counts[numbers.draw_with(&mut SecureSource::new(&mut rng)).expect("left")
                    as usize] += 1;
            }
            assert!(counts.iter().all(|count| count.abs_diff(1_000) < 170), "{counts:?}");
        }
    }

    #[test]
    fn numbers_of_no_session_are_refused() {
        assert!(UserNumbers::resume(&plan(3), vec![2, 0]).is_ok());
        for bad in [vec![3], vec![1, 1], vec![0, 1, 2, 0]] {
            let error = UserNumbers::resume(&plan(3), bad).expect_err("no session has them");
            assert!(error.to_string().contains("of one user"), "{error}");
        }
    }
}

//! A session at rest.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Monitor;
use super::decisions::Progress;
use crate::files::{self as sealed, Checksum, Confidential, Content, Turn};
use crate::users::{Participants, Standing};
use crate::{MonitorPlan, Report, StreamError};

/// All that a [`Monitor`] needs to go on: in a file, in another process, after a crash.
///
/// It holds the secret sample and who was charged how often, so it is as confidential as the data.
///
/// # Integrity
/// The version comes first and is looked at first, so keep the fields in the order in which they were
/// written. Then the kind, the settings, the range of every
/// value, and a 64-bit checksum over all of it are checked. That finds truncation, every changed byte
/// and edits by hand. It does *not* stop a forger, who can compute the checksum too, and an old
/// state is as whole as a new one: keep states where only the service can write, or sign them, and
/// see [`resume`](Self::resume).
///
/// A reader must give back every `f64` as it was written, to the last bit, since the checksum is over the
/// bits: with `serde_json`, switch on its feature `float_roundtrip`. Otherwise a state may be refused as
/// [damaged](StreamError::Damaged).
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MonitorState(#[serde(with = "sealed")] Resting, #[serde(skip)] Turn);

#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Resting {
    progress: Progress,
    users: Confidential<Standing>,
}

/// What is public of it; charges stay out of logs.
impl fmt::Debug for MonitorState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let progress = &self.0.progress;
        f.debug_struct("MonitorState").field("progress", progress).finish_non_exhaustive()
    }
}

impl MonitorState {
    pub(crate) fn new(progress: Progress, users: Confidential<Standing>, turn: Turn) -> Self {
        Self(Resting { progress, users }, turn)
    }

    /// The next step.
    pub fn next_time(&self) -> u64 {
        self.0.progress.next
    }

    /// The reports of the last call that took a step, which may or may not have been published.
    pub fn last_reports(&self) -> &[Report] {
        &self.0.progress.last_reports
    }

    /// Goes on where the state was taken.
    ///
    /// `published` is the number of steps whose reports (or whose absence of reports) have been
    /// published, as the publisher remembers it: a state from before them does not know who was
    /// charged for them, and is refused. Two sessions that go on from one state are two answers about
    /// the same users. In memory the second is refused: this takes over from the session that the state was taken of, and
    /// from all other states of it. From the same bytes twice, publish the reports of one of them only.
    ///
    /// # Errors
    /// [`StreamError::StateOfAnotherPlan`], [`StreamError::StateTooOld`], [`StreamError::TakenOver`].
    pub fn resume(self, plan: &MonitorPlan, published: u64) -> Result<Monitor, StreamError> {
        let Self(Resting { progress, users }, mut turn) = self;
        let decisions = progress.resume(plan, published)?;
        turn.take()?;
        let admission = plan.admission();
        let users = users.into_private().map(|users| Participants::new(admission, 0, users));
        Ok(Monitor::from_parts(decisions, users, turn))
    }
}

impl Content for Resting {
    const KIND: &'static str = "monitor-state";

    fn add_to(&self, sum: &mut Checksum) {
        let Self { progress, users } = self;
        progress.add_to(sum);
        users.add_to(sum, Standing::add_to);
    }

    fn check(&self) -> Result<(), StreamError> {
        let plan = self.progress.asked.clone().plan()?;
        let possible = |users: &Standing| {
            users.charges.len() >= plan.users() as usize && users.is_possible(&plan)
        };
        let whole = self.users.could_be(possible) && self.progress.is_possible(&plan);
        if whole { Ok(()) } else { Err(Self::damaged()) }
    }
}

#[cfg(test)]
mod tests {
    use dp_mechanism::Private;

    use super::*;
    use crate::session::decisions::Decisions;
    use crate::{MonitorSettings, StreamShape, Universe};

    /// With a checksum that matches: charges that no run leaves behind are found all the same.
    #[test]
    fn impossible_charges_are_refused() {
        let shape = StreamShape { universe: Universe::Range { size: 20 }, users: 3, steps: 9 };
        let plan = crate::testing::pure(shape, 1.0, 2, MonitorSettings::default());
        let progress = Decisions::new(plan.expect("valid")).progress().clone();
        let read = |charges: &[u8], tags: &[u32]| {
            let users = Standing { charges: charges.to_vec(), tags: tags.to_vec() };
            let users = Confidential::new(Private::owned(users));
            Resting { progress: progress.clone(), users }.check().is_ok()
        };
        // A session may have grown; only where every user has an order of items of their own do they have tags.
        assert!(read(&[0, 1, 255], &[]) && read(&[0, 1, 0, 0], &[]));
        for bad in [&[0, 1][..], &[0, 2, 0], &[254, 0, 0]] {
            assert!(!read(bad, &[]), "{bad:?}");
        }
        assert!(!read(&[0, 1, 255], &[5, 6, 7]));
    }
}

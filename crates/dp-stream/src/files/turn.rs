//! Who goes on with a session: one of those in memory who could.
#![expect(
    clippy::disallowed_types,
    reason = "it counts turns, which are public, and no closure over private values holds it"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::StreamError;

/// Whose turn it is, shared by a session and the states that were taken of it.
///
/// Every step, and every resumption, takes a turn. A copy that has not seen the last one is of the past: to go on from it would be a second answer
/// about the same users. It is public: when steps are taken is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turn {
    taken: Arc<AtomicU64>,
    seen: u64,
}

impl Turn {
    /// The next turn, if nobody has taken it.
    pub(crate) fn take(&mut self) -> Result<(), StreamError> {
        let next = self.seen + 1;
        let order = Ordering::SeqCst;
        let taken = self.taken.compare_exchange(self.seen, next, order, order);
        self.seen = taken.map_err(|_| StreamError::TakenOver)? + 1;
        Ok(())
    }
}

/// No part of what a state says.
impl PartialEq for Turn {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

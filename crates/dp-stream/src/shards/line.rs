//! Which decisions a session has gone through, as one number.

use dp_mechanism::{CryptoRng, chacha_from_os};
use serde::{Deserialize, Serialize};

use crate::StreamError;
use crate::files::Checksum;
use crate::session::decisions::Progress;
use crate::shards::messages::{Decided, Decision, add_tickets};

/// What tells a decision from any other one on the same counts; its step and reports are in the
/// [`Progress`].
///
/// The history of a session is a chain: that after a decision is the checksum of it, and the decision
/// names the history before it and, by a random number, who made it. So two deciders that went on
/// from one state have different histories from their first decisions on, even if these report
/// the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Last {
    /// The history before it.
    pub(crate) after: u64,
    /// The random number of the decider that made it, until that was resumed elsewhere.
    pub(crate) maker: u64,
    /// Of its counts, in the order of shards; empty before the first one of the session.
    pub(crate) tickets: Vec<u64>,
}

impl Last {
    /// Of a session that begins with this decider: no other one begins alike.
    pub(crate) fn none(maker: u64) -> Self {
        Self { after: maker, maker, tickets: Vec::new() }
    }

    /// `None` before the first step.
    pub(crate) fn decision(&self, session: u64, progress: &Progress) -> Option<Decision> {
        let Progress { from, next, ref last_reports, .. } = *progress;
        let Self { after, maker, ref tickets } = *self;
        let (time, tickets) = (next.checked_sub(1)?, tickets.clone());
        let reports = last_reports.clone();
        Some(Decision(Decided { session, after, maker, from, time, tickets, reports }))
    }

    /// The history with it.
    pub(crate) fn history(&self, session: u64, progress: &Progress) -> u64 {
        self.decision(session, progress).map_or(self.after, |decision| decision.0.history())
    }

    pub(crate) fn add_to(&self, sum: &mut Checksum) {
        let Self { after, maker, tickets } = self;
        sum.number(*after);
        sum.number(*maker);
        add_tickets(tickets, sum);
    }
}

/// Not from the draws of a release: it must differ also where those are replayed.
pub(crate) fn fresh_ticket() -> Result<u64, StreamError> {
    fn word(rng: &mut impl CryptoRng) -> u64 {
        rng.next_u64()
    }
    Ok(word(&mut chacha_from_os().map_err(|_| StreamError::NoEntropy)?))
}

//! What shards and the decider say to each other.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::files::{self as sealed, Checksum, Confidential, Content};
use crate::session::decisions::{add_reports, are_of_steps};
use crate::{Report, StreamError};

/// From a shard to the decider: how many of its users show each item in a step.
///
/// Bound to the session, the shard, the step, the step that the shard goes on from, the decisions that it
/// was settled with, and the ticket of this count; a checksum finds damage on the way. Exact counts: as confidential as the data, but without users.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ShardCounts(#[serde(with = "sealed")] pub(crate) CountsMessage);

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CountsMessage {
    pub(crate) session: u64,
    pub(crate) shard: u32,
    /// The first step that the shard has not been settled for.
    pub(crate) from: u64,
    pub(crate) time: u64,
    /// Of the decisions that the shard has been settled with.
    pub(crate) history: u64,
    /// Random: tells these counts from those of a shard that has lost them and counted again.
    pub(crate) ticket: u64,
    /// In ascending order, each once.
    pub(crate) items: Confidential<Vec<u64>>,
    /// At least 1.
    pub(crate) counts: Confidential<Vec<u32>>,
}

impl ShardCounts {
    /// The number of the shard.
    pub fn shard(&self) -> u32 {
        self.0.shard
    }

    /// The step.
    pub fn time(&self) -> u64 {
        self.0.time
    }
}

/// Exact counts stay out of logs, and so does how many there are.
impl fmt::Debug for ShardCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShardCounts")
            .field("session", &self.0.session)
            .field("shard", &self.0.shard)
            .field("from", &self.0.from)
            .field("time", &self.0.time)
            .finish_non_exhaustive()
    }
}

impl CountsMessage {
    /// Whether a shard of so many users can have counted this.
    pub(crate) fn fits(&self, users: u32, last_item: u64) -> bool {
        self.items.could_be(|items| items.last() <= Some(&last_item))
            && self.counts.could_be(|counts| counts.iter().all(|count| *count <= users))
    }
}

impl Content for CountsMessage {
    const KIND: &'static str = "shard-counts";

    fn add_to(&self, sum: &mut Checksum) {
        let Self { session, shard, from, time, history, ticket, items, counts } = self;
        let shard = u64::from(*shard);
        for number in [*session, shard, *from, *time, *history, *ticket] {
            sum.number(number);
        }
        items.add_to(sum, |items, sum| {
            sum.number(items.len() as u64);
            counts.add_to(sum, |counts, sum| {
                for (item, count) in items.iter().zip(counts) {
                    sum.number(*item);
                    sum.number((*count).into());
                }
            });
        });
    }

    fn check(&self) -> Result<(), StreamError> {
        let possible = |items: &Vec<u64>| {
            items.is_sorted_by(|a, b| a < b)
                && self.counts.could_be(|n| n.len() == items.len() && !n.contains(&0))
        };
        let whole = self.items.could_be(possible) && self.from <= self.time;
        if whole { Ok(()) } else { Err(Self::damaged()) }
    }
}

/// From the decider to every shard, and to whoever publishes: the reports of a step.
///
/// Private by the guarantee of the plan, so free to send and to keep. Bound to the session, to all decisions
/// before it, to the decider that made it, to the steps that it decides, and to the counts that it
/// was made on, by their tickets, which are random.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Decision(#[serde(with = "sealed")] pub(crate) Decided);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Decided {
    pub(crate) session: u64,
    /// The history before it.
    pub(crate) after: u64,
    /// Random: tells it from the decision of another decider on the same counts.
    pub(crate) maker: u64,
    /// The first step decided; those before `time` were skipped.
    pub(crate) from: u64,
    pub(crate) time: u64,
    /// Of the counts that were decided, in the order of shards.
    pub(crate) tickets: Vec<u64>,
    pub(crate) reports: Vec<Report>,
}

impl Decided {
    /// The history with it.
    pub(crate) fn history(&self) -> u64 {
        let mut sum = Checksum::new();
        self.add_to(&mut sum);
        sum.finish()
    }

    /// `None` for a shard whose counts were not decided.
    pub(crate) fn ticket_of(&self, shard: u32) -> Option<u64> {
        self.tickets.get(usize::try_from(shard).ok()?).copied()
    }
}

impl Decision {
    /// The step; steps that were skipped before it are decided too.
    pub fn time(&self) -> u64 {
        self.0.time
    }

    /// In the order of times and items.
    pub fn reports(&self) -> &[Report] {
        &self.0.reports
    }
}

impl Content for Decided {
    const KIND: &'static str = "decision";

    fn add_to(&self, sum: &mut Checksum) {
        let Self { session, after, maker, from, time, tickets, reports } = self;
        for number in [*session, *after, *maker, *from, *time] {
            sum.number(number);
        }
        add_tickets(tickets, sum);
        add_reports(reports, sum);
    }

    fn check(&self) -> Result<(), StreamError> {
        let next = self.time.checked_add(1).ok_or(Self::damaged())?;
        let whole = self.from <= self.time && are_of_steps(&self.reports, &(self.from..next));
        if whole { Ok(()) } else { Err(Self::damaged()) }
    }
}

pub(crate) fn add_tickets(tickets: &[u64], sum: &mut Checksum) {
    sum.number(tickets.len() as u64);
    for ticket in tickets {
        sum.number(*ticket);
    }
}

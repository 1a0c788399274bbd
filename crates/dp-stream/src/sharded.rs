//! The same session on many machines: users are split, counts are summed.

use std::fmt;

use dp_mechanism::{CryptoRng, Draws, SecureDraws, Touched};

use crate::monitor::{Decider, Monitor, items_of};
use crate::shard::Shard;
use crate::{MonitorPlan, MonitorState, Report, StreamError};

/// Counts of several shards added up.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct MergedCounts {
    items: Vec<u64>,
    counts: Vec<u32>,
}

/// Exact counts stay out of logs, and so does how many there are.
impl fmt::Debug for MergedCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MergedCounts").finish_non_exhaustive()
    }
}

impl MergedCounts {
    /// In the form that [`Decider::decide`] takes.
    pub fn touched(&self) -> Touched<'_> {
        Touched { cells: &self.items, counts: &self.counts }
    }

    /// Without counts of 0 and without items above `last`.
    pub(crate) fn within(mut self, last: u64) -> Self {
        let pairs = self.items.iter().copied().zip(self.counts.iter().copied());
        let (items, counts) = pairs.filter(|&(item, count)| item <= last && count > 0).unzip();
        (self.items, self.counts) = (items, counts);
        self
    }
}

/// Adds up the counts of shards, in any order.
pub fn merge<'a>(parts: impl IntoIterator<Item = Touched<'a>>) -> MergedCounts {
    let mut all: Vec<(u64, u32)> = Vec::new();
    for part in parts {
        all.extend(part.cells.iter().copied().zip(part.counts.iter().copied()));
    }
    all.sort_unstable_by_key(|(item, _)| *item);
    let mut merged = MergedCounts::default();
    for (item, count) in all {
        match (merged.items.last(), merged.counts.last_mut()) {
            (Some(last), Some(sum)) if *last == item => *sum = sum.saturating_add(count),
            _ => {
                merged.items.push(item);
                merged.counts.push(count);
            }
        }
    }
    merged
}

impl MonitorPlan {
    /// Begins a stream whose users are split into shards of these sizes, in order of their numbers.
    ///
    /// Feed every event to the shard of its *user*. A split by item would let every shard grant a user
    /// the whole number of reports.
    ///
    /// # Errors
    /// [`StreamError::Shards`] if the sizes do not add up to the users of the plan.
    pub fn start_sharded<R: CryptoRng + ?Sized>(
        &self,
        sizes: &[u32],
        rng: &mut R,
    ) -> Result<(Decider, Vec<Shard>), StreamError> {
        self.start_sharded_with(sizes, &mut SecureDraws::new(rng))
    }

    /// The one code path of releases and audits: coins from anywhere.
    ///
    /// # Errors
    /// As [`start_sharded`](Self::start_sharded).
    pub fn start_sharded_with(
        &self,
        sizes: &[u32],
        draws: &mut dyn Draws,
    ) -> Result<(Decider, Vec<Shard>), StreamError> {
        let got = sizes.iter().map(|&size| u64::from(size)).sum();
        if got != u64::from(self.users()) {
            return Err(StreamError::Shards { expected: self.users(), got });
        }
        let mut first = 0;
        let shards = sizes.iter().map(|&size| {
            let sample = self.sample.as_ref();
            let shard = Shard::sampled(self.admission(), first, size, sample, draws);
            first += size;
            shard
        });
        let shards = shards.collect();
        Ok((Decider::new(self.clone()), shards))
    }
}

impl Decider {
    /// One step over shards that are all here, each of which has been given its events: counts are
    /// closed in parallel and merged, and every shard is settled.
    ///
    /// # Errors
    /// [`StreamError`] for a time that has passed or is not planned, or for shards that are not those of
    /// this session, all of them and in order; nothing has changed then.
    pub fn step_shards<R: CryptoRng + ?Sized>(
        &mut self,
        time: u64,
        shards: &mut [Shard],
        rng: &mut R,
    ) -> Result<Vec<Report>, StreamError> {
        use rayon::prelude::*;
        self.check_time(time)?;
        self.check_shards(shards)?;
        let parts: Vec<Touched<'_>> = shards.par_iter_mut().map(Shard::counts).collect();
        let merged = merge(parts);
        let reports = self.decide_on(time, merged.touched(), &mut SecureDraws::new(rng))?;
        let items = items_of(&reports, time);
        shards.par_iter_mut().for_each(|shard| shard.settle(&items));
        Ok(reports)
    }

    /// The state of the whole session: `shards` in the order in which they were made.
    ///
    /// # Errors
    /// [`StreamError`] if they are not all shards of this session in order, each settled for every step
    /// that was decided: without the charges of a step, users could be reported too often.
    pub fn state(&self, shards: &[Shard]) -> Result<MonitorState, StreamError> {
        self.check_shards(shards)?;
        let charges: Vec<u8> = shards.iter().flat_map(Shard::charges).collect();
        Ok(MonitorState::of(self, charges))
    }

    /// All users once and in order, and no step without its charges.
    fn check_shards(&self, shards: &[Shard]) -> Result<(), StreamError> {
        let users: u64 = shards.iter().map(|shard| shard.users() as u64).sum();
        if users != u64::from(self.plan().users()) {
            return Err(StreamError::Shards { expected: self.plan().users(), got: users });
        }
        let mut expected = 0;
        for shard in shards {
            if shard.first_user() != expected {
                return Err(StreamError::ShardOrder { expected, got: shard.first_user() });
            }
            expected += u32::try_from(shard.users()).expect("no more than the plan has");
            let (decided, settled) = (self.decided(), shard.settled());
            if decided != settled {
                return Err(StreamError::ShardUnsettled { decided, settled });
            }
        }
        Ok(())
    }
}

impl Monitor {
    /// Splits a session between two steps into shards of these sizes.
    ///
    /// # Errors
    /// [`StreamError::Shards`] if the sizes do not add up to the users of the plan.
    pub fn into_shards(self, sizes: &[u32]) -> Result<(Decider, Vec<Shard>), StreamError> {
        let charges = self.state().into_charges();
        let got = sizes.iter().map(|&size| u64::from(size)).sum();
        if got != charges.len() as u64 {
            return Err(StreamError::Shards { expected: self.plan().users(), got });
        }
        let (mut rest, mut first) = (charges.as_slice(), 0);
        let shards = sizes.iter().map(|&size| {
            let (here, after) = rest.split_at(size as usize);
            let shard = Shard::with_charges(self.plan().admission(), first, here.to_vec());
            (rest, first) = (after, first + size);
            shard
        });
        let shards = shards.collect();
        Ok((self.into_decider().afresh(), shards))
    }
}

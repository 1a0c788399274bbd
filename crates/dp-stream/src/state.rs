//! A session at rest.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::monitor::{Decider, Monitor};
use crate::params::{MonitorBuilder, check_count};
use crate::shard::{GONE, Shard};
use crate::{MonitorPlan, Report, StreamError};

/// All that a [`Monitor`] needs to go on: in a file, in another process, after a crash.
///
/// It holds the secret sample and who was charged how often, so it is as confidential as the data.
///
/// # Integrity
/// Reading checks the version, the settings, the range of every charge and a 64-bit checksum over all
/// of it. That catches truncation, bit flips and edits by hand. It does *not* stop a forger, who can
/// compute the checksum too: keep states where only the service can write, or sign them.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct MonitorState {
    settings: MonitorBuilder,
    next: u64,
    threshold: i64,
    charges: Vec<u8>,
    last_reports: Vec<Report>,
}

/// What is public of it; charges stay out of logs.
impl fmt::Debug for MonitorState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MonitorState")
            .field("settings", &self.settings)
            .field("next", &self.next)
            .field("threshold", &self.threshold)
            .field("last_reports", &self.last_reports)
            .finish_non_exhaustive()
    }
}

/// Of the file form. Another number means that charges or settings mean something else.
const VERSION: u32 = 1;

impl MonitorState {
    pub(crate) fn of(decider: &Decider, charges: Vec<u8>) -> Self {
        Self {
            settings: decider.plan().settings.clone(),
            next: decider.next_time(),
            threshold: decider.threshold(),
            charges,
            last_reports: decider.last_reports().to_vec(),
        }
    }

    /// The next step.
    pub fn next_time(&self) -> u64 {
        self.next
    }

    /// The reports of the step before, which may or may not have been published.
    pub fn last_reports(&self) -> &[Report] {
        &self.last_reports
    }

    /// Goes on where the state was taken.
    ///
    /// `published` is the number of steps whose reports (or whose absence of reports) have been
    /// published, as the publisher remembers it: a state from before them does not know who was
    /// charged for them, and is refused.
    ///
    /// # Errors
    /// [`StreamError::StateOfAnotherPlan`], [`StreamError::StateTooOld`].
    pub fn resume(self, plan: &MonitorPlan, published: u64) -> Result<Monitor, StreamError> {
        if self.settings != plan.settings {
            return Err(StreamError::StateOfAnotherPlan);
        }
        if self.next < published {
            return Err(StreamError::StateTooOld { next: self.next, published });
        }
        let shard = Shard::with_charges(plan.admission(), 0, self.charges);
        let decider = Decider::resumed(plan.clone(), self.next, self.threshold, self.last_reports);
        Ok(Monitor::from_parts(decider, shard))
    }

    pub(crate) fn into_charges(self) -> Vec<u8> {
        self.charges
    }

    /// FNV-1a over every field, in a fixed order.
    fn checksum(&self, version: u32) -> u64 {
        let mut sum = Checksum(0xcbf2_9ce4_8422_2325);
        sum.add(&version.to_le_bytes());
        // Debug prints floats so that they can be read back, so it tells settings apart.
        sum.add(format!("{:?}", self.settings).as_bytes());
        sum.add(&self.next.to_le_bytes());
        sum.add(&self.threshold.to_le_bytes());
        sum.add(&(self.charges.len() as u64).to_le_bytes());
        sum.add(&self.charges);
        for report in &self.last_reports {
            sum.add(&report.time.to_le_bytes());
            sum.add(&report.item.to_le_bytes());
            sum.add(&report.noisy_count.to_le_bytes());
        }
        sum.0
    }

    /// Whether a run of the plan could have left this behind.
    fn check(&self, plan: &MonitorPlan) -> Result<(), StreamError> {
        let limit = plan.limit().unwrap_or(1);
        let possible = |&charge: &u8| charge < limit || charge == GONE;
        let in_range = (plan.least_threshold()..).contains(&self.threshold);
        check_count("threshold", self.threshold).map_err(|_| StreamError::StateDamaged)?;
        let whole = self.charges.len() == plan.users() as usize
            && self.charges.iter().all(possible)
            && self.next <= plan.steps()
            && in_range;
        if whole { Ok(()) } else { Err(StreamError::StateDamaged) }
    }
}

struct Checksum(u64);

impl Checksum {
    fn add(&mut self, bytes: &[u8]) {
        self.0 = bytes
            .iter()
            .fold(self.0, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3));
    }
}

/// The file form.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    version: u32,
    settings: MonitorBuilder,
    next: u64,
    threshold: i64,
    charges: Vec<u8>,
    last_reports: Vec<Report>,
    checksum: u64,
}

impl From<MonitorState> for Written {
    fn from(state: MonitorState) -> Self {
        let checksum = state.checksum(VERSION);
        let MonitorState { settings, next, threshold, charges, last_reports } = state;
        Self { version: VERSION, settings, next, threshold, charges, last_reports, checksum }
    }
}

impl TryFrom<Written> for MonitorState {
    type Error = StreamError;

    fn try_from(written: Written) -> Result<Self, StreamError> {
        let Written { version, settings, next, threshold, charges, last_reports, checksum } =
            written;
        if version != VERSION {
            return Err(StreamError::StateVersion { got: version, expected: VERSION });
        }
        let state = Self { settings, next, threshold, charges, last_reports };
        if state.checksum(version) != checksum {
            return Err(StreamError::StateDamaged);
        }
        let plan = state.settings.clone().build()?;
        state.check(&plan)?;
        Ok(state)
    }
}

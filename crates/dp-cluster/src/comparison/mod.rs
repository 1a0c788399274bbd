//! Which of two sets of centres costs less: a comparison that is paid for.
//!
//! What was released before cannot say it: the centres that noise led to look good to that same noise. So every record counts once more, in the
//! cell of what it [saves](savings) by the second set: gain or loss, and its scale, from the most that a record anywhere can save down by powers of four. The
//! sum of what all save is within a factor of two what these counts say, however different the scales are. Noise in a count is [worth](verdict) what the
//! count's scale is, so counts that noise explains count for less.
//!
//! # Guarantee
//! A record comes or goes in one cell, so the counts cost one Gaussian count of sensitivity 1. The verdict follows from them.

mod savings;
mod verdict;

use dp_accounting::{Mu, Step};
use dp_mechanism::passes::Counted;
use dp_mechanism::{Draws, GaussianSum};

use crate::ClusterError;
pub(crate) use savings::{Savings, SavingsCounter};

/// The step of the receipt that pays for it.
const STEP: &str = "comparison of two starts";

/// Calibrated counts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Comparison {
    counts: GaussianSum,
}

impl Comparison {
    /// One that costs `mu`.
    pub(crate) fn new(mu: Mu) -> Result<Self, ClusterError> {
        Ok(Self { counts: GaussianSum::rounded(mu)? })
    }

    pub(crate) fn spent(&self) -> Step {
        Step::spend(STEP, self.counts.loss())
    }

    /// Whether the second set costs less, as far as can be seen.
    pub(crate) fn prefers_second(&self, counted: &Counted, draws: &mut Draws<'_>) -> bool {
        let counts = self.counts.release(&counted.entries, 1, &mut draws.leaf(STEP, 0));
        verdict::saved(&counts, self.counts.noise_multiplier()) > 0.0
    }
}

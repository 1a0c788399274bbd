//! Public settings of the rounds.

use serde::{Deserialize, Serialize};

use crate::ClusterError;

/// How many rounds there are, and what each is for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rounds {
    /// What the rounds get of the budget for sums, in these proportions: one entry per round, 1 to
    /// 100 of them. Default: six equal ones.
    ///
    /// What an early round finds is not lost to a later one, so equal shares waste little; they
    /// leave room for a bad start.
    pub shares: Vec<f64>,
    /// The share of all points that the radius aims at, above 0 and below 1. Default: 0.8.
    ///
    /// Points beyond it still pull, but no harder than those on the radius; and where the noise of a centre's mean is long, no harder than those on as little as six
    /// tenths of it, which shortens that noise.
    pub quantile: f64,
    /// Rounds before centres are merged for the first time. Default: 2.
    ///
    /// After the first round a coarse centre may still be anywhere in its cell.
    pub merge_after: usize,
    /// Rounds at the end in which no centre is split any more. Default: 2.
    pub settle: usize,
}

impl Default for Rounds {
    fn default() -> Self {
        Self { shares: vec![1.0; 6], quantile: 0.8, merge_after: 2, settle: 2 }
    }
}

impl Rounds {
    /// So many equal rounds that split no centre: after a start that misses no cluster splits undo more than they find.
    pub fn without_splits(rounds: usize) -> Self {
        Self { shares: vec![1.0; rounds], settle: usize::MAX, ..Self::default() }
    }

    /// Most rounds.
    pub const MAX_ROUNDS: usize = 100;

    pub(super) fn check(&self) -> Result<(), ClusterError> {
        let refuse = |name, got: f64, want| Err(ClusterError::Setting { name, got, want });
        let rounds = self.shares.len();
        if !(1..=Self::MAX_ROUNDS).contains(&rounds) {
            return refuse("rounds", rounds as f64, "between 1 and 100");
        }
        for &share in &self.shares {
            if !(share.is_finite() && share > 0.0) {
                return refuse("share of a round", share, "finite and above 0");
            }
        }
        if !(self.quantile > 0.0 && self.quantile < 1.0) {
            return refuse("quantile", self.quantile, "above 0 and below 1");
        }
        Ok(())
    }

    /// Whether centres may be split before round `t`, counted from 0. There is nothing to go by
    /// before the first.
    pub(super) fn may_split_before(&self, t: usize) -> bool {
        t > 0 && t.saturating_add(self.settle) < self.shares.len()
    }

    /// Whether centres are merged after round `t`, counted from 0.
    pub(super) fn merge_after(&self, t: usize) -> bool {
        t + 1 >= self.merge_after || t + 1 == self.shares.len()
    }
}

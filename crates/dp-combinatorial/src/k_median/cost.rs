//! Costs: distances or their squares, as integers of a chosen size.

use serde::{Deserialize, Serialize};

use super::metric::Metric;

/// What serving a user from a centre at some distance costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Power {
    /// The distance: k-median.
    Median,
    /// The squared distance: k-means.
    Means,
}

impl Power {
    /// The exponent of the distance.
    pub fn exponent(self) -> u32 {
        match self {
            Self::Median => 1,
            Self::Means => 2,
        }
    }
}

/// Costs between the nodes of a metric, in integer units. The unit is a power of two, the smallest
/// with which no cost exceeds a number of bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Costs<'a> {
    pub(super) metric: &'a Metric,
    pub(super) power: Power,
    pub(super) shift: u32,
}

impl<'a> Costs<'a> {
    /// So small that `2^38` users cannot overflow 63 bits: for private scores.
    pub(super) const SCORE_BITS: u32 = 24;
    /// As fine as 32 bits get: for the search on released weights.
    pub(super) const SEARCH_BITS: u32 = 32;

    pub(super) fn new(metric: &'a Metric, power: Power, bits: u32) -> Self {
        let longest = u64::from(metric.diameter());
        let most = longest.pow(power.exponent());
        let shift = (u64::BITS - most.leading_zeros()).saturating_sub(bits);
        Self { metric, power, shift }
    }

    /// The cost of a distance in steps.
    pub(super) fn of(&self, steps: u32) -> u32 {
        let steps = u64::from(steps);
        let cost = match self.power {
            Power::Median => steps >> self.shift,
            Power::Means => (steps * steps) >> self.shift,
        };
        u32::try_from(cost).expect("the shift sees to that")
    }

    /// The largest cost that can occur.
    pub(super) fn most(&self) -> u32 {
        self.of(self.metric.diameter())
    }

    /// A number of steps that all nodes of a cost below this are within.
    pub(super) fn reach(&self, cost: u32) -> u32 {
        let bound = (u64::from(cost) << self.shift).min(u64::from(u32::MAX).pow(2));
        let root = match self.power {
            Power::Median => bound,
            Power::Means => bound.isqrt() + 1,
        };
        u32::try_from(root).map_or(self.metric.diameter(), |root| root.min(self.metric.diameter()))
    }

    /// Costs from one node to those listed.
    pub(super) fn fill(&self, from: u32, to: &[u32], out: &mut Vec<u32>) {
        self.metric.fill(from, to, out);
        if self.power == Power::Means || self.shift > 0 {
            for cost in out {
                *cost = self.of(*cost);
            }
        }
    }

    /// The cost in the units of the caller's distances, to this power.
    pub(super) fn in_units(&self, cost: u128) -> f64 {
        let unit = self.metric.unit().powi(self.power.exponent().cast_signed());
        cost as f64 * 2_f64.powi(self.shift.cast_signed()) * unit
    }
}

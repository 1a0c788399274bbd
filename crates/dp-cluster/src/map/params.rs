//! The public settings, and the check that turns them into a plan.

use std::ops::RangeInclusive;

use dp_accounting::{AddRemove, Budget, Mu, ReplaceOne, Within};
use dp_geometry::{Cloud, NestedGrid, PublicBox};
use dp_mechanism::{Change, Coordinates, GaussianSum, Modulus, Nearby, NoisyCount};
use serde::{Deserialize, Serialize};

use super::mechanism::{Level, PrivateMap};
use super::relation::MapRelation;
use crate::ClusterError;
use crate::kmeans::{MAX_MAGNITUDE, farthest};
use crate::total_rho::total_mu;

/// Settings of a [`PrivateMap`]. Nothing here depends on data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PrivateMapSettings {
    /// About how many records there are, if their number is hidden and this is public. It only decides how fine the map is. Not for maps of a public
    /// number of records.
    pub expected_records: Option<u64>,
    /// From the coarsest to the finest level: a level has `2^level + 1` vertices per dimension. Default: by the dimension, and one level more
    /// above 20,000 records; `2..=6`, that is 5 to 65 vertices, for few records in two dimensions.
    pub levels: Option<RangeInclusive<u32>>,
    /// Spends this much of the budget and not all of it: for a map that is the first step of something else. Default: all.
    pub spend: Option<Mu>,
    /// Most steps of the fit, which ends before if it is certified to be close. Default: 3,000, which is enough for 65 vertices per dimension.
    pub fit_steps: usize,
}

impl Default for PrivateMapSettings {
    fn default() -> Self {
        Self { expected_records: None, levels: None, spend: None, fit_steps: 3_000 }
    }
}

/// What was asked for. The file form of plans, which are read back through their checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "R: MapRelation", deny_unknown_fields)]
pub(super) struct Asked<R> {
    pub(super) public_box: PublicBox,
    pub(super) relation: R,
    /// Where their number is public.
    pub(super) records: Option<u64>,
    pub(super) budget: Budget,
    pub(super) settings: PrivateMapSettings,
}

/// What the number of records gets of the square of `mu`, where it is private.
const COUNT_SHARE: f64 = 0.02;

/// Above so many records another level pays.
pub(crate) const MANY: u64 = 20_000;

/// What a level gets of the square of `mu`, as a multiple of what the next coarser one gets, if a record changes both as much: on a fine one
/// many vertices have little but noise.
const FINER: f64 = 0.75;

/// What every level gets, by the squares of its change, from the coarsest. One that a record changes twice as much as the next coarser, as
/// one that moves a little does, gets as much: its noise is that much larger.
fn shares(squared: impl Iterator<Item = f64>) -> Vec<f64> {
    let (mut share, mut before) = (1.0, f64::INFINITY);
    squared
        .map(|squared| {
            let doublings = 0.5 * (squared / before).log2();
            if before.is_finite() {
                share *= FINER.powf(1.0 - doublings.clamp(0.0, 1.0));
            }
            before = squared;
            share
        })
        .collect()
}

impl PrivateMap<AddRemove> {
    /// A map for records in this public box that hides whether anybody takes part.
    ///
    /// # Errors
    /// [`ClusterError`] names the setting, its value and what would be accepted: a budget without a delta, levels out of order, more than
    /// [`Cloud::MAX_DIM`] dimensions or [`Cloud::MAX_VERTICES`] vertices, a box whose coordinates are above `1e75`.
    pub fn add_remove(
        public_box: PublicBox,
        budget: Budget,
        settings: PrivateMapSettings,
    ) -> Result<Self, ClusterError> {
        Self::new(Asked { public_box, relation: AddRemove, records: None, budget, settings })
    }
}

impl PrivateMap<ReplaceOne> {
    /// A map for a public number of records in this public box that hides all of any one record.
    ///
    /// # Errors
    /// As [`add_remove`](PrivateMap::add_remove), and if records are expected whose number is public.
    pub fn replace_one(
        public_box: PublicBox,
        records: u64,
        budget: Budget,
        settings: PrivateMapSettings,
    ) -> Result<Self, ClusterError> {
        let records = Some(records);
        Self::new(Asked { public_box, relation: ReplaceOne, records, budget, settings })
    }
}

impl PrivateMap<Within> {
    /// A map for a public number of records in this public box that hides where any one record is, up to a distance in the unit of the
    /// box's coordinates.
    ///
    /// # Errors
    /// As [`add_remove`](PrivateMap::add_remove), and if records are expected whose number is public.
    pub fn within(
        public_box: PublicBox,
        nearby: Nearby<Coordinates>,
        records: u64,
        budget: Budget,
        settings: PrivateMapSettings,
    ) -> Result<Self, ClusterError> {
        let (relation, records) = (nearby.within(), Some(records));
        Self::new(Asked { public_box, relation, records, budget, settings })
    }
}

impl<R: MapRelation> Asked<R> {
    /// Those of the plan: all, or as many as are expected.
    pub(super) fn records(&self) -> Option<u64> {
        self.records.or(self.settings.expected_records)
    }

    fn default_levels(&self) -> RangeInclusive<u32> {
        let more = u32::from(self.records().is_some_and(|records| records > MANY));
        match self.public_box.dim() {
            1 => 3..=8,
            2 => 2..=6 + more,
            3 => 1 + more..=4 + more,
            4 => 1..=3,
            5 | 6 => 1..=2,
            _ => 0..=1,
        }
    }
}

impl<R: MapRelation> PrivateMap<R> {
    pub(super) fn new(asked: Asked<R>) -> Result<Self, ClusterError> {
        let (records, expected) = (asked.records, asked.settings.expected_records);
        if R::PUBLIC_SIZE != records.is_some() {
            let (name, want) = ("records", "given if their number is public, and only then");
            return Err(ClusterError::Setting { name, got: records.unwrap_or(0) as f64, want });
        }
        if let Some(got) = expected.filter(|_| R::PUBLIC_SIZE) {
            let (name, want) = ("expected_records", "left out, as their number is public");
            return Err(ClusterError::Setting { name, got: got as f64, want });
        }
        let farthest = farthest(&asked.public_box);
        if farthest > MAX_MAGNITUDE {
            let (name, want) = ("the public box's extent", "at most 1e75");
            return Err(ClusterError::Setting { name, got: farthest, want });
        }
        let levels = asked.settings.levels.clone().unwrap_or_else(|| asked.default_levels());
        let (coarsest, finest) = levels.into_inner();
        if coarsest > finest {
            let (name, want) = ("the coarsest level", "at most the finest");
            return Err(ClusterError::Setting { name, got: f64::from(coarsest), want });
        }
        let grid = NestedGrid::new(asked.public_box.clone())?;
        // The largest: if it is within the limits, so are all, and how many there are.
        Cloud::new(&grid, finest)?;
        let whole = total_mu(asked.budget)?;
        let total = asked.settings.spend.unwrap_or(whole);
        if total > whole {
            let (name, want) = ("mu to spend", "at most that of the budget");
            return Err(ClusterError::Setting { name, got: total.get(), want });
        }
        let level = |level| -> Result<(Cloud, Change), ClusterError> {
            let cloud = Cloud::new(&grid, level)?;
            let units = Cloud::UNITS as f64;
            let squared = Cloud::UNITS * Cloud::UNITS;
            let slope = (cloud.slope() * units).min(f64::MAX);
            let modulus = Modulus::new(slope, cloud.slack(), squared, 2 * squared)?;
            Ok((cloud, asked.relation.change(&modulus)))
        };
        let levels: Vec<_> = (coarsest..=finest).map(level).collect::<Result<_, _>>()?;
        let mut shares = shares(levels.iter().map(|(_, change)| change.squared as f64));
        if !R::PUBLIC_SIZE {
            shares.push(shares.iter().sum::<f64>() * COUNT_SHARE / (1.0 - COUNT_SHARE));
        }
        let losses = total.split(&shares)?;
        let level =
            |((cloud, change), &mu)| Ok(Level { cloud, change, noise: GaussianSum::rounded(mu)? });
        let levels =
            levels.into_iter().zip(&losses).map(level).collect::<Result<_, ClusterError>>()?;
        let count = match losses.last() {
            Some(&mu) if !R::PUBLIC_SIZE => Some(NoisyCount::rounded(mu)?),
            _ => None,
        };
        Ok(Self { asked, grid, levels, count })
    }
}

#[cfg(test)]
mod tests {
    use super::shares;

    #[test]
    fn finer_levels_get_less_where_they_do_not_change_more() {
        assert_eq!(shares([2.0; 3].into_iter()), [1.0, 0.75, 0.5625]);
        assert_eq!(shares([0.25, 1.0, 4.0].into_iter()), [1.0; 3]);
        // Twice, then by half as many doublings, then no more.
        let some = shares([1.0, 4.0, 8.0, 8.0].into_iter());
        let half = 0.75_f64.sqrt();
        assert!(some.iter().zip([1.0, 1.0, half, 0.75 * half]).all(|(a, b)| (a - b).abs() < 1e-12));
    }
}

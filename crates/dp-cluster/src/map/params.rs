//! The public settings, and the check that turns them into a plan.

use dp_accounting::{AddRemove, Budget, Mu, ReplaceOne, Within};
use dp_geometry::{Cloud, NestedGrid, PublicBox};
use dp_mechanism::{Coordinates, GaussianSum, Modulus, Nearby, NoisyCount};
use serde::{Deserialize, Serialize};

use super::mechanism::{Level, PrivateMap};
use super::relation::MapRelation;
use crate::ClusterError;
use crate::kmeans::MAX_MAGNITUDE;
use crate::total_rho::total_mu;

/// Public settings of a [`PrivateMap`]; made by [`PrivateMap::add_remove`], [`PrivateMap::replace_one`] and [`PrivateMap::within`].
///
/// Serialises as plain settings; a plan is read back through [`build`](Self::build), so that a file cannot bypass its checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "R: MapRelation")]
pub struct MapBuilder<R> {
    pub(super) public_box: PublicBox,
    pub(super) relation: R,
    pub(super) budget: Budget,
    pub(super) spend: Option<Mu>,
    pub(super) records: Option<u64>,
    pub(super) levels: Option<[u32; 2]>,
    pub(super) fit_steps: usize,
}

/// What the number of records gets of the square of `mu`, where it is private.
const COUNT_SHARE: f64 = 0.02;

/// Above so many records another level pays.
const MANY: u64 = 20_000;

impl PrivateMap<AddRemove> {
    /// A map for records in this public box that hides whether anybody takes part.
    pub fn add_remove(public_box: PublicBox, budget: Budget) -> MapBuilder<AddRemove> {
        MapBuilder::new(public_box, AddRemove, budget, None)
    }
}

impl PrivateMap<ReplaceOne> {
    /// A map for a public number of records in this public box that hides all of any one record.
    pub fn replace_one(
        public_box: PublicBox,
        records: u64,
        budget: Budget,
    ) -> MapBuilder<ReplaceOne> {
        MapBuilder::new(public_box, ReplaceOne, budget, Some(records))
    }
}

impl PrivateMap<Within> {
    /// A map for a public number of records in this public box that hides where any one record is, up to a distance in the unit of the
    /// box's coordinates.
    pub fn within(
        public_box: PublicBox,
        nearby: Nearby<Coordinates>,
        records: u64,
        budget: Budget,
    ) -> MapBuilder<Within> {
        MapBuilder::new(public_box, nearby.within(), budget, Some(records))
    }
}

impl MapBuilder<AddRemove> {
    /// About how many records there are, if that is public. It only decides how fine the map is.
    #[must_use]
    pub fn expected_records(mut self, expected_records: u64) -> Self {
        self.records = Some(expected_records);
        self
    }
}

impl<R: MapRelation> MapBuilder<R> {
    fn new(public_box: PublicBox, relation: R, budget: Budget, records: Option<u64>) -> Self {
        Self { public_box, relation, budget, spend: None, records, levels: None, fit_steps: 3_000 }
    }

    /// The coarsest and the finest level: a level has `2^level + 1` vertices per dimension. Default: by the dimension, and one level more
    /// above 20,000 records; `2..=6`, that is 5 to 65 vertices, for few records in two dimensions.
    #[must_use]
    pub fn levels(mut self, coarsest: u32, finest: u32) -> Self {
        self.levels = Some([coarsest, finest]);
        self
    }

    /// Spends this much of the budget and not all of it: for a map that is the first step of something else.
    #[must_use]
    pub fn spend(mut self, mu: Mu) -> Self {
        self.spend = Some(mu);
        self
    }

    /// Most steps of the fit, which ends before if it is certified to be close. Default: 3,000, which is enough for 65 vertices per dimension.
    #[must_use]
    pub fn fit_steps(mut self, fit_steps: usize) -> Self {
        self.fit_steps = fit_steps;
        self
    }

    fn default_levels(&self) -> [u32; 2] {
        let more = u32::from(self.records.is_some_and(|records| records > MANY));
        match self.public_box.dim() {
            1 => [3, 8],
            2 => [2, 6 + more],
            3 => [1 + more, 4 + more],
            4 => [1, 3],
            5 | 6 => [1, 2],
            _ => [0, 1],
        }
    }

    /// Checks every setting and calibrates every level; afterwards nothing can fail.
    ///
    /// # Errors
    /// [`ClusterError`] names the setting, its value and what would be accepted: a budget without a delta, levels out of order, more than
    /// [`Cloud::MAX_DIM`] dimensions or [`Cloud::MAX_VERTICES`] vertices, a box whose coordinates are above `1e75`.
    pub fn build(self) -> Result<PrivateMap<R>, ClusterError> {
        let dim = self.public_box.dim();
        let bounds = (0..dim).flat_map(|i| [self.public_box.min(i), self.public_box.max(i)]);
        let farthest = bounds.fold(0.0, |far: f64, x| far.max(x.abs()));
        if farthest > MAX_MAGNITUDE {
            let (name, want) = ("the public box's extent", "at most 1e75");
            return Err(ClusterError::Setting { name, got: farthest, want });
        }
        let [coarsest, finest] = self.levels.unwrap_or_else(|| self.default_levels());
        if coarsest > finest {
            let (name, want) = ("the coarsest level", "at most the finest");
            return Err(ClusterError::Setting { name, got: f64::from(coarsest), want });
        }
        let grid = NestedGrid::new(self.public_box.clone())?;
        // The largest: if it is within the limits, so are all, and how many there are.
        Cloud::new(&grid, finest)?;
        let whole = total_mu(self.budget)?;
        let total = self.spend.unwrap_or(whole);
        if total > whole {
            let (name, want) = ("mu to spend", "at most that of the budget");
            return Err(ClusterError::Setting { name, got: total.get(), want });
        }
        let levels = finest - coarsest + 1;
        let mut shares = vec![1.0; levels as usize];
        if !R::PUBLIC_SIZE {
            shares.push(f64::from(levels) * COUNT_SHARE / (1.0 - COUNT_SHARE));
        }
        let losses = total.split(&shares)?;
        let level = |(level, &mu)| {
            let cloud = Cloud::new(&grid, level)?;
            let units = Cloud::UNITS as f64;
            let squared = Cloud::UNITS * Cloud::UNITS;
            let slope = (cloud.slope() * units).min(f64::MAX);
            let modulus = Modulus::new(slope, cloud.slack(), squared, 2 * squared)?;
            let change = self.relation.change(&modulus);
            Ok(Level { cloud, change, noise: GaussianSum::rounded(mu)? })
        };
        let levels =
            (coarsest..=finest).zip(&losses).map(level).collect::<Result<_, ClusterError>>()?;
        let count = match losses.last() {
            Some(&mu) if !R::PUBLIC_SIZE => Some(NoisyCount::rounded(mu)?),
            _ => None,
        };
        Ok(PrivateMap { settings: self, grid, levels, count })
    }
}

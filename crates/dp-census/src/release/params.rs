use std::num::NonZeroU32;

use dp_accounting::Budget;
use serde::{Deserialize, Serialize};

use super::chosen::Model;
use super::noise::{Noise, expected_variances};
use super::{LevelShares, Method, Privacy, Query};
use crate::sizes::cells_of;
use crate::solve::{MAX_LEVELS, MAX_VALUE, MAX_WEIGHT};
use crate::{Bins, CensusError, Hierarchy};

/// How a [`Census`](super::Census) is made, beside what it is about. All of it is public.
///
/// ```
/// use dp_census::{CensusSettings, LevelShares};
///
/// let settings = CensusSettings { shares: LevelShares::RootOfRegions, ..Default::default() };
/// assert_eq!(settings.most_quantity.get(), 1);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CensusSettings {
    /// How noise becomes a table. Default: [`Method::Fitted`].
    pub method: Method,
    /// How the loss is divided among the levels. Default: [`LevelShares::Chosen`].
    ///
    /// Levels with less noise get more weight when the table is made consistent, in inverse proportion to the variance.
    pub shares: LevelShares,
    /// The most that one individual adds to the size of a group; default 1. A table that was made with more is refused: see
    /// [`GroupDirectory::count_members`](crate::GroupDirectory::count_members), which cuts what is beyond, and
    /// [`GroupSizes::with_most_quantity`](crate::GroupSizes::with_most_quantity).
    ///
    /// Cumulative noise grows in proportion, up to the number of columns less one; that of counts does not depend on it.
    pub most_quantity: NonZeroU32,
    /// Declares the number of groups of each leaf region public, which it is under the relation. Compared with the table, used by
    /// [`Method::Fitted`] and [`shrinkage`](Self::shrinkage), and exact in what these and [`Method::CumulativeTopDown`] release; with the other
    /// methods, released totals of regions stay estimates. Default: none. Give them wherever they are known: small regions gain most.
    pub region_groups: Option<Vec<i64>>,
    /// For methods other than the default, which does it by itself, level by level and by a fitted law. Draws leaf regions towards the released shape of the region above them, as far as the noise outweighs the differences between
    /// them. Default: off. Free, as it looks at noisy values and [`region_groups`](Self::region_groups) only.
    ///
    /// It helps where regions of a region are alike and the noise is large against them: on the 551 areas of `households_au_lga` at
    /// `epsilon` = 0.1 it takes a tenth to a fifth off the error of the areas. On the nation of the evaluation, whose counties differ, it
    /// costs a few per cent, and on both it gains nothing from `epsilon` = 1 on. What the default method pools upwards is no longer without
    /// bias then.
    pub shrinkage: bool,
}

impl Default for CensusSettings {
    fn default() -> Self {
        Self {
            method: Method::default(),
            shares: LevelShares::default(),
            most_quantity: NonZeroU32::MIN,
            region_groups: None,
            shrinkage: false,
        }
    }
}

/// Where the model gives the root that much of the loss, with the levels of one region below it, which are the root once more, it says that regions are mostly drowned; what is left to them then costs the root's
/// row more than it tells of theirs, so that the root gets all.
const ROOT_ALONE: f64 = 0.7;

/// What was asked for. The file form of plans, which are read back through their checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "B: Bins", deny_unknown_fields)]
pub(super) struct Asked<B: Bins> {
    pub(super) hierarchy: Hierarchy,
    pub(super) bins: B,
    pub(super) groups: i64,
    pub(super) privacy: Privacy,
    pub(super) settings: CensusSettings,
}

/// What passed the checks, with all that follows from it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan<B: Bins> {
    pub(super) asked: Asked<B>,
    pub(super) budget: Budget,
    /// The one that is carried out: the one asked for, or [`Method::RootSpread`] where chosen shares give the root most of the loss.
    pub(super) method: Method,
    pub(super) shares: Vec<f64>,
    pub(super) noise: Noise,
    pub(super) weights: Vec<u32>,
}

impl<B: Bins> Asked<B> {
    /// Checks every setting and calibrates every level; afterwards nothing can fail.
    ///
    /// # Errors
    /// [`CensusError`] names the setting, its value and what would be accepted.
    pub(super) fn plan(self) -> Result<Plan<B>, CensusError> {
        let tree = self.hierarchy.tree();
        if tree.levels() > MAX_LEVELS {
            let (name, got) = ("the number of levels", tree.levels() as i128);
            return Err(CensusError::OutOfRange { name, got, want: "at most 16" });
        }
        cells_of(tree.len(), self.bins.count())?;
        if !(0..=MAX_VALUE).contains(&self.groups) {
            let (name, got) = ("the number of groups", self.groups.into());
            return Err(CensusError::OutOfRange { name, got, want: "between 0 and 2^36" });
        }
        self.check_region_groups()?;
        self.check_shrinkage()?;
        let table = (tree, self.bins.count());
        let (query, most) = (self.settings.method.query(), self.settings.most_quantity);
        let shares = match &self.settings.shares {
            LevelShares::Chosen if tree.levels() > 1 => {
                let region_groups = self.settings.region_groups.as_deref();
                let draws = self.settings.method == Method::Fitted;
                let model = Model::new(tree, self.bins.count(), self.groups, region_groups, draws);
                model.shares(|shares| expected_variances(self.privacy, query, table, shares, most))
            }
            given => given.of(tree)?,
        };
        let of_the_root: f64 = shares
            .iter()
            .enumerate()
            .take_while(|(level, _)| tree.level(*level).len() == 1)
            .map(|(_, share)| share)
            .sum();
        let method = match (&self.settings.shares, &self.settings.region_groups) {
            (LevelShares::Chosen, Some(_))
                if self.settings.method == Method::Fitted
                    && tree.levels() > 1
                    && of_the_root >= ROOT_ALONE =>
            {
                Method::RootSpread
            }
            _ => self.settings.method,
        };
        let shares = match method {
            // Nothing is drawn below the root.
            Method::RootSpread => vec![1.0],
            _ => shares,
        };
        let noise = Noise::calibrate(self.privacy, query, table, &shares, most)?;
        let allowed = match self.privacy {
            Privacy::Pure { epsilon } => epsilon.get(),
            Privacy::Zcdp { rho, .. } => rho.get(),
            Privacy::Gaussian { mu, .. } => mu.get().powi(2),
        };
        let spent = noise.dearest_path(tree);
        assert!(spent <= allowed * (1.0 + 1e-12), "shares add up to one and were rounded down");
        let mut weights = noise.weights(MAX_WEIGHT);
        weights.resize(tree.levels(), 1);
        Ok(Plan { budget: self.privacy.budget()?, method, shares, noise, weights, asked: self })
    }

    fn check_region_groups(&self) -> Result<(), CensusError> {
        let Some(region_groups) = &self.settings.region_groups else { return Ok(()) };
        let regions = self.hierarchy.tree().leaves().len();
        if region_groups.len() != regions {
            return Err(CensusError::NumberOfRegionGroups { regions, got: region_groups.len() });
        }
        if let Some(&got) = region_groups.iter().find(|&&groups| groups < 0) {
            let name = "every number of region_groups";
            let got = got.into();
            return Err(CensusError::OutOfRange { name, got, want: "at least 0" });
        }
        let got: i128 = region_groups.iter().map(|&groups| i128::from(groups)).sum();
        if got == i128::from(self.groups) {
            Ok(())
        } else {
            Err(CensusError::SumOfRegionGroups { groups: self.groups, got })
        }
    }

    fn check_shrinkage(&self) -> Result<(), CensusError> {
        let needs = match () {
            () if !self.settings.shrinkage => return Ok(()),
            () if self.settings.region_groups.is_none() => {
                "the number of groups of each leaf region"
            }
            () if self.settings.method.query() != Query::Cumulative => "noise on cumulative counts",
            () if matches!(self.settings.method, Method::Fitted | Method::RootSpread) => {
                "a method that does not draw regions to the row above by itself"
            }
            () if self.hierarchy.tree().levels() < 2 => "at least two levels",
            () => return Ok(()),
        };
        Err(CensusError::Conflict { setting: "shrinkage", needs })
    }
}

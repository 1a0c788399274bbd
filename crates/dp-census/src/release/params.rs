use std::num::NonZeroU32;

use dp_accounting::Budget;
use serde::{Deserialize, Serialize};

use super::chosen::Model;
use super::noise::{Noise, expected_variances};
use super::question::{self, Asking, Question};
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
const ROOT_ALONE: f64 = 0.9;

/// What the lowest level gets of the loss where its rows are not drawn to those above, which are little more than their sums then.
const OWN_SHARE: f64 = 0.99;

/// What levels above the lowest get of shares by roots where that gets most of the loss.
const ABOVE: f64 = 0.5;

/// Nothing is asked, unless somebody says that it should.
fn no_question<T>(given: Option<f64>) -> Result<Option<T>, CensusError> {
    let setting = "a question about regions";
    let needs = "m-c-fitted, the number of groups of each leaf region, two levels and columns, at most 3,276 leaf regions, and between 1 and 2^32 groups";
    given.map_or(Ok(None), |_| Err(CensusError::Conflict { setting, needs }))
}

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
    /// What is said to be carried out: the method asked for, or [`Method::RootSpread`] where chosen shares give the root most of the loss.
    pub(super) method: Method,
    /// What can be carried out: one way, or those among which the question decides, in its order.
    pub(super) ways: Vec<Course>,
    pub(super) question: Option<Question>,
}

/// One way to spend the loss on levels.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Course {
    pub(super) method: Method,
    /// Of the fitted method: whether regions are drawn to the row above.
    pub(super) draws: bool,
    /// Of a root's row that is spread: whether it is smoothed. The baseline, if asked for, is not.
    pub(super) smooths: bool,
    /// Of the levels that are looked at; the rows of the last of these are spread if there are more.
    pub(super) shares: Vec<f64>,
    pub(super) noise: Noise,
    pub(super) weights: Vec<u32>,
}

impl<B: Bins> Plan<B> {
    /// The way that is meant where one is asked for: the only one, or that of the least regret.
    pub(super) fn usual(&self) -> &Course {
        &self.ways[if self.question.is_some() { question::CHOSEN } else { 0 }]
    }
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
        let model = match self.settings.shares {
            LevelShares::Chosen | LevelShares::AfterQuestion(_) if tree.levels() > 1 => {
                let region_groups = self.settings.region_groups.as_deref();
                let draws = self.settings.method == Method::Fitted;
                Some(Model::new(tree, self.bins.count(), self.groups, region_groups, draws))
            }
            _ => None,
        };
        let shares = match &model {
            Some(model) => model.shares(|shares| self.expected_variances(shares)),
            None => self.settings.shares.of(tree)?,
        };
        let of_the_root: f64 = shares
            .iter()
            .enumerate()
            .take_while(|(level, _)| tree.level(*level).len() == 1)
            .map(|(_, share)| share)
            .sum();
        let spreads = model.is_some()
            && self.settings.method == Method::Fitted
            && self.settings.region_groups.is_some()
            && of_the_root >= ROOT_ALONE;
        let method = if spreads { Method::RootSpread } else { self.settings.method };
        let budget = self.privacy.budget()?;
        if let Some((question, ways)) = self.question(model.as_ref(), method, &shares)? {
            let (method, question) = (self.settings.method, Some(question));
            return Ok(Plan { budget, method, ways, question, asked: self });
        }
        let ways = vec![self.course(self.privacy, method, true, shares)?];
        Ok(Plan { budget, method, ways, question: None, asked: self })
    }

    /// Variance of the noise of each level at these shares of the whole loss.
    fn expected_variances(&self, shares: &[f64]) -> Vec<f64> {
        let table = (self.hierarchy.tree(), self.bins.count());
        let (query, most) = (self.settings.method.query(), self.settings.most_quantity);
        expected_variances(self.privacy, query, table, shares, most)
    }

    /// What is asked before anything else, and the ways to spend what is left; none if nothing is asked.
    fn question(
        &self,
        model: Option<&Model>,
        method: Method,
        shares: &[f64],
    ) -> Result<Option<(Question, Vec<Course>)>, CensusError> {
        let tree = self.hierarchy.tree();
        let given = match self.settings.shares {
            LevelShares::AfterQuestion(share) => Some(share),
            LevelShares::Chosen => None,
            LevelShares::Equal | LevelShares::RootOfRegions | LevelShares::Fixed(_) => {
                return Ok(None);
            }
        };
        if let Some(got) = given.filter(|share| !(*share > 0.0 && *share <= 0.5)) {
            return Err(CensusError::QuestionShare { got });
        }
        let can_draw = self.settings.method == Method::Fitted
            && self.settings.region_groups.is_some()
            && self.bins.count() > 1;
        let Some(model) = model.filter(|_| can_draw) else { return no_question(given) };
        if !question::is_possible(tree.leaves().len(), self.groups) {
            return no_question(given);
        }
        // Nearly all for a level, and nothing for those below.
        let down_to = |level: usize| {
            let mut shares = vec![(1.0 - OWN_SHARE) / level as f64; level + 1];
            shares[level] = OWN_SHARE;
            shares
        };
        let own = down_to(tree.levels() - 1);
        let roots = LevelShares::RootOfRegions.of(tree)?;
        let mut most: Vec<f64> = roots.into_iter().map(|share| ABOVE * share).collect();
        if let Some(lowest) = most.last_mut() {
            *lowest += 1.0 - ABOVE;
        }
        let chosen = if method == Method::RootSpread { &[1.0] } else { shares };
        let asking = |between: Vec<usize>| {
            let first = [vec![1.0], chosen.to_vec(), own.clone(), most.clone()].into_iter();
            let ways = first.chain(between.iter().map(|&level| down_to(level)));
            let variances = ways.map(|shares| self.expected_variances(&shares)).collect();
            Asking { tree, model, privacy: self.privacy, groups: self.groups, between, variances }
        };
        let between = model.between();
        let worth = |between: Vec<usize>| {
            let asking = asking(between);
            asking.share().map(|share| (asking, share))
        };
        let found = match given {
            Some(share) => Some((asking(between), share)),
            // Where the numbers of all levels cost too much, those of fewer may not.
            None => (0..=between.len()).find_map(|without| worth(between[without..].to_vec())),
        };
        let Some((asking, share)) = found else { return Ok(None) };
        let parts = self.privacy.split(&[share, 1.0 - share])?;
        let [part, rest] = parts[..] else { unreachable!("two weights, two parts") };
        let question = asking.question(part)?;
        // In the order of the question.
        let mut ways = vec![
            self.course(rest, Method::RootSpread, true, shares.to_vec())?,
            self.course(rest, method, true, shares.to_vec())?,
            self.course(rest, Method::Fitted, false, own)?,
            self.course(rest, Method::Fitted, true, most.clone())?,
        ];
        for &level in &asking.between {
            ways.push(self.course(rest, Method::Fitted, true, down_to(level))?);
        }
        Ok(Some((question, ways)))
    }

    /// Calibrates the levels to this much of the promise.
    fn course(
        &self,
        privacy: Privacy,
        method: Method,
        draws: bool,
        shares: Vec<f64>,
    ) -> Result<Course, CensusError> {
        let tree = self.hierarchy.tree();
        let table = (tree, self.bins.count());
        let shares = match method {
            // Nothing is drawn below the root.
            Method::RootSpread => vec![1.0],
            _ => shares,
        };
        let most = self.settings.most_quantity;
        let noise = Noise::calibrate(privacy, self.settings.method.query(), table, &shares, most)?;
        let allowed = match privacy {
            Privacy::Pure { epsilon } => epsilon.get(),
            Privacy::Zcdp { rho, .. } => rho.get(),
            Privacy::Gaussian { mu, .. } => mu.get().powi(2),
        };
        let spent = noise.dearest_path(tree);
        assert!(spent <= allowed * (1.0 + 1e-12), "shares add up to one and were rounded down");
        let mut weights = noise.weights(MAX_WEIGHT);
        weights.resize(tree.levels(), 1);
        let smooths = self.settings.method == Method::Fitted;
        Ok(Course { method, draws, smooths, shares, noise, weights })
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

//! What growing a tree takes: checked settings, and the calibrated draws of every level.

use std::ops::ControlFlow;

use dp_accounting::{Epsilon, Mu, Rho, Step};
use dp_geometry::{FixedPointGrid, Points, PublicBox};
use dp_mechanism::passes::{Counted, Next, TableError};
use dp_mechanism::{Draws, ExponentialMechanism, NoisyCount};
use serde::{Deserialize, Serialize};

use super::bins::{cells_per_bin, cells_per_dimension};
use super::interval::{Gaps, score_range};
use super::path::Path;
use super::score::CutScore;
use super::tree::{Growth, Leaf};
use super::{CutWeights, Dpm, IntervalSize};
use crate::ClusterError;
use crate::passes::{Question, asks};

/// The public settings of a tree of cuts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TreeSettings {
    pub(crate) public_box: PublicBox,
    pub(crate) interval_size: IntervalSize,
    pub(crate) max_depth: usize,
    pub(crate) minimum_share: Option<f64>,
    pub(crate) weights: CutWeights,
    /// Histogram entries that one pass over the rows may count, per thread.
    pub(crate) counters: usize,
}

/// 16 MiB of them.
pub(crate) const COUNTERS: usize = 1 << 22;

/// Per step the loss of one use; counts as they are drawn.
pub(crate) struct TreeLosses {
    pub(crate) interval: Epsilon,
    /// Levels `0..=max_depth`.
    pub(crate) counts: Vec<NoisyCount>,
    /// Levels `0..max_depth`.
    pub(crate) cuts: Vec<Epsilon>,
}

/// What becomes of a node whose cut did not stand, because one side was too small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterAMiss {
    /// It is a leaf, as published.
    Leaf,
    /// It stays for the next level, where it is counted as one of that level's nodes: a record is
    /// still in one node per level, so this costs nothing more.
    TryAgain,
}

/// A checked and calibrated tree of cuts. The receipt is read off the objects that draw.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TreePlan {
    pub(crate) settings: TreeSettings,
    pub(crate) score: CutScore,
    pub(super) after_a_miss: AfterAMiss,
    pub(super) interval: Option<ExponentialMechanism>,
    /// Levels `0..=max_depth`.
    pub(super) counts: Vec<NoisyCount>,
    /// Levels `0..max_depth`.
    pub(super) cuts: Vec<ExponentialMechanism>,
}

impl TreeSettings {
    /// Checks every setting; afterwards nothing about them can fail.
    pub(crate) fn checked(&self) -> Result<CutScore, ClusterError> {
        let refuse = |name, got: f64, want| Err(ClusterError::Setting { name, got, want });
        if !(1..=Dpm::MAX_DEPTH).contains(&self.max_depth) {
            return refuse("max_depth", self.max_depth as f64, "between 1 and 14");
        }
        let share = self.least_share();
        if !(share > 0.0 && share < 1.0) {
            return refuse("minimum_share", share, "above 0 and below 1");
        }
        let intervals = self.interval_size.largest();
        if !(2..=Dpm::MAX_INTERVALS).contains(&intervals) {
            return refuse("intervals", intervals as f64, "between 2 and 128");
        }
        // Every number of intervals has a grid of the same fineness, so one check serves all.
        let finest = cells_per_dimension(Dpm::MAX_INTERVALS);
        FixedPointGrid::new(self.public_box.clone(), finest)?;
        self.weights.checked()
    }

    pub(super) fn least_share(&self) -> f64 {
        // Unchecked settings may ask for any depth; a checked one is at most 14.
        let deepest = i32::try_from(self.max_depth).unwrap_or(i32::MAX);
        self.minimum_share.unwrap_or_else(|| 0.5_f64.powi(deepest).max(f64::MIN_POSITIVE))
    }

    pub(crate) fn is_estimated(&self) -> bool {
        self.interval_size == IntervalSize::Estimated
    }
}

impl TreeLosses {
    /// Zero-concentrated shares of the three steps. Within counts and cuts, shares grow like
    /// `2^level`: the scale of the noise falls like `2^(-level/2)`.
    pub(crate) fn zcdp(
        levels: usize,
        interval: Rho,
        counts: Rho,
        cuts: Rho,
    ) -> Result<Self, ClusterError> {
        let counts = counts.split(&powers(2.0, levels + 1))?.into_iter();
        Ok(Self {
            interval: eta(interval),
            counts: counts.map(|rho| NoisyCount::rounded(mu(rho))).collect::<Result<_, _>>()?,
            cuts: cuts.split(&powers(2.0, levels))?.into_iter().map(eta).collect(),
        })
    }
}

impl TreePlan {
    pub(crate) fn new(
        settings: TreeSettings,
        losses: TreeLosses,
        after_a_miss: AfterAMiss,
    ) -> Result<Self, ClusterError> {
        let score = settings.checked()?;
        let dim = settings.public_box.dim();
        let range = score.range(dim);
        let cuts = losses.cuts.into_iter().map(|eta| ExponentialMechanism::by_range(eta, range));
        let interval = || ExponentialMechanism::by_range(losses.interval, score_range(dim));
        Ok(Self {
            score,
            after_a_miss,
            interval: settings.is_estimated().then(interval).transpose()?,
            counts: losses.counts,
            cuts: cuts.collect::<Result<_, _>>()?,
            settings,
        })
    }

    /// The itemised cost.
    pub(crate) fn spent(&self) -> Vec<Step> {
        let interval = self.interval.iter().map(|m| Step::spend("interval size", m.loss()));
        let level =
            |i, name, loss| Step::parallel(format!("level {i}"), vec![Step::spend(name, loss)]);
        let counts = self.counts.iter().enumerate();
        let counts = counts.map(|(i, m)| level(i, "count of one node", m.loss())).collect();
        let cuts = self.cuts.iter().enumerate();
        let cuts = cuts.map(|(i, m)| level(i, "cut of one node", m.loss())).collect();
        let groups = [Step::sequential("counts", counts), Step::sequential("cuts", cuts)];
        interval.chain(groups).collect()
    }

    /// What is asked first.
    pub(crate) fn first(&self) -> (TreeState, Question) {
        match self.settings.interval_size {
            IntervalSize::Fixed { intervals } => {
                // The number of records comes with the first histograms, and is released before the root is looked at.
                let level = self.level(&Growth::new(self, 0, intervals));
                (TreeState::Total, Question::level(level))
            }
            IntervalSize::Estimated => {
                (TreeState::Total, Question::rows(self.settings.public_box.dim()))
            }
        }
    }

    /// That a run can have got here, and asks this.
    pub(crate) fn fits(&self, state: &TreeState, question: &Question) -> Result<(), TableError> {
        match state {
            TreeState::Total => asks(question, &self.first().1),
            TreeState::Interval { .. } => Err(TableError::NoTable),
            TreeState::Level(growth) => {
                growth.fits(self)?;
                asks(question, &Question::level(self.level(growth)))
            }
        }
    }

    /// Draws on what was counted.
    pub(crate) fn answer(
        &self,
        state: TreeState,
        counted: &Counted,
        draws: &mut Draws<'_>,
    ) -> Next<TreeState, Question, Grown> {
        let growth = match state {
            TreeState::Total => {
                let total = self.count(0, 0, counted.rows, draws);
                match self.settings.interval_size {
                    IntervalSize::Fixed { intervals } => Growth::new(self, total, intervals),
                    IntervalSize::Estimated => {
                        let gaps = Gaps::new(&self.settings.public_box, total);
                        return Next::Ask(TreeState::Interval { total }, Question::gaps(gaps));
                    }
                }
            }
            TreeState::Interval { total } => {
                let intervals = self.choose_intervals(total, counted, draws);
                let growth = Growth::new(self, total, intervals);
                let level = self.level(&growth);
                return Next::Ask(TreeState::Level(growth), Question::level(level));
            }
            TreeState::Level(growth) => growth,
        };
        match self.grow(growth, counted, draws) {
            ControlFlow::Continue(growth) => {
                let level = self.level(&growth);
                Next::Ask(TreeState::Level(growth), Question::level(level))
            }
            ControlFlow::Break(grown) => Next::Done(grown),
        }
    }
}

/// What a tree has learnt between two questions: released values only.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum TreeState {
    /// Nothing yet.
    Total,
    /// The noisy number of records; it waits for the interval size.
    Interval {
        total: i64,
    },
    Level(Growth),
}

/// A tree whose leaves and cuts are released.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Grown {
    pub(crate) leaves: Vec<Leaf>,
    pub(crate) path: Path,
}

impl Grown {
    /// The grid that cells are counted on.
    pub(super) fn grid(&self) -> FixedPointGrid {
        self.path.grid().expect("checked when the plan was built")
    }

    /// The middles of the leaves' cells, inside of the box.
    pub(crate) fn middles(&self) -> Points {
        let grid = &self.grid();
        let cells = cells_per_bin(grid, self.path.half_intervals());
        let middle = |leaf: &Leaf, i| {
            let (middle, _) = leaf.cell.middle_and_radius(i, cells);
            // Half-cells, as everywhere in the tree.
            grid.public_box().clip_coordinate(i, grid.coordinate(i, middle as f64 / 2.0))
        };
        let leaves = self.leaves.iter();
        let coords = leaves.flat_map(|leaf| (0..grid.dim()).map(move |i| middle(leaf, i)));
        Points::new(coords.collect(), grid.dim()).expect("one row per leaf")
    }
}

/// The loss of a choice that costs `rho`: bounded range `eta` is `eta^2/8`-zCDP.
fn eta(rho: Rho) -> Epsilon {
    // One step down outweighs the rounding of the root.
    let eta = (8.0 * rho.get()).sqrt().next_down().max(0.0);
    Epsilon::new(eta).expect("the root of a valid rho")
}

/// The loss of a count that costs `rho`: Gaussian `mu` is `mu^2/2`-zCDP.
fn mu(rho: Rho) -> Mu {
    Mu::new((2.0 * rho.get()).sqrt().next_down().max(0.0)).expect("the root of a valid rho")
}

/// `1, base, base^2, ...`
pub(super) fn powers(base: f64, levels: usize) -> Vec<f64> {
    std::iter::successors(Some(1.0), |power| Some(power * base)).take(levels).collect()
}

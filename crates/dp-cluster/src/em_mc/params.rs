//! The public settings, and the check that turns them into a plan.

use dp_accounting::Budget;
use dp_geometry::PublicBox;
use dp_geometry::lsh::ShiftedGrids;
use dp_mechanism::SparseScores;
use serde::{Deserialize, Serialize};

use super::budget::Primitives;
use super::projection::Projection;
use super::{BudgetSplit, EmMc, Selection};
use crate::ClusterError;
use crate::coreset::WeightRule;
use crate::kmeans::MAX_MAGNITUDE;
use crate::local_search::Objective;
use crate::public_coins::{Purpose, public_generator};

/// Public settings of [`EmMc`]; made by [`EmMc::builder`].
///
/// Serialises as plain settings; a plan is read back through [`build`](Self::build), so that a file
/// cannot bypass its checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EmMcBuilder {
    pub(super) public_box: PublicBox,
    pub(super) k: usize,
    pub(super) budget: Budget,
    pub(super) objective: Objective,
    pub(super) split: BudgetSplit,
    pub(super) selection: Selection,
    pub(super) projected_dim: usize,
    pub(super) shifts: usize,
    pub(super) finest_halvings: u32,
    pub(super) picks_per_scale: Option<usize>,
    pub(super) weight_rule: WeightRule,
    pub(super) public_seed: u64,
}

impl EmMcBuilder {
    /// Most clusters.
    pub const MAX_CLUSTERS: usize = 1 << 13;
    /// Most choices per scale.
    pub const MAX_PICKS: usize = 1 << 14;

    pub(super) fn new(public_box: PublicBox, k: usize, budget: Budget) -> Self {
        Self {
            public_box,
            k,
            budget,
            objective: Objective::KMeans,
            split: BudgetSplit::default(),
            selection: Selection::default(),
            projected_dim: 10,
            shifts: 8,
            finest_halvings: 5,
            picks_per_scale: None,
            weight_rule: WeightRule::default(),
            public_seed: 0,
        }
    }

    /// k-means, the default, or k-median. The latter needs
    /// [`projected_dim`](Self::projected_dim) to be at least the dimension, and spends nothing on
    /// means.
    #[must_use]
    pub fn objective(mut self, objective: Objective) -> Self {
        self.objective = objective;
        self
    }

    /// How epsilon is divided among the steps. Default: [`BudgetSplit::default`].
    #[must_use]
    pub fn split(mut self, split: BudgetSplit) -> Self {
        self.split = split;
        self
    }

    /// What certifies the choices. Default: [`Selection::Pure`].
    #[must_use]
    pub fn selection(mut self, selection: Selection) -> Self {
        self.selection = selection;
        self
    }

    /// Data of more dimensions is projected to this many for the choices, 1 to 32. Default: 10.
    #[must_use]
    pub fn projected_dim(mut self, projected_dim: usize) -> Self {
        self.projected_dim = projected_dim;
        self
    }

    /// Grids per scale, 1 to 64: more of them find cells that hold a cluster whole. Default: 8.
    #[must_use]
    pub fn shifts(mut self, shifts: usize) -> Self {
        self.shifts = shifts;
        self
    }

    /// The finest cells are the domain halved this often in every dimension, 1 to 30; fewer times if
    /// the cells could not be numbered in 62 bits otherwise. The scales are all numbers of halvings
    /// from there down to 1. Default: 5.
    #[must_use]
    pub fn finest_halvings(mut self, finest_halvings: u32) -> Self {
        self.finest_halvings = finest_halvings;
        self
    }

    /// Choices per scale. Default: `2 k`.
    #[must_use]
    pub fn picks_per_scale(mut self, picks_per_scale: usize) -> Self {
        self.picks_per_scale = Some(picks_per_scale);
        self
    }

    /// What is made of noisy numbers of records. Default: [`WeightRule::Threshold`].
    #[must_use]
    pub fn weight_rule(mut self, weight_rule: WeightRule) -> Self {
        self.weight_rule = weight_rule;
        self
    }

    /// Decides projection, grids and the random choices of the solver. It hides nothing and may be
    /// published, and must not be chosen by looking at the data. Default: 0.
    #[must_use]
    pub fn public_seed(mut self, public_seed: u64) -> Self {
        self.public_seed = public_seed;
        self
    }

    /// Checks every setting and calibrates every step; afterwards nothing can fail.
    ///
    /// # Errors
    /// [`ClusterError`] names the setting, its value and what would be accepted.
    pub fn build(self) -> Result<EmMc, ClusterError> {
        let check = |name, got: usize, most: usize, want| {
            if (1..=most).contains(&got) {
                Ok(())
            } else {
                Err(ClusterError::Setting { name, got: got as f64, want })
            }
        };
        check("k", self.k, Self::MAX_CLUSTERS, "between 1 and 8192")?;
        check("projected_dim", self.projected_dim, 32, "between 1 and 32")?;
        check("shifts", self.shifts, 64, "between 1 and 64")?;
        check("finest_halvings", self.finest_halvings as usize, 30, "between 1 and 30")?;
        check("picks_per_scale", self.picks(), Self::MAX_PICKS, "between 1 and 16384")?;
        let dim = self.public_box.dim();
        if self.objective == Objective::KMedian && self.projected_dim < dim {
            let (name, want) = ("projected_dim", "at least the dimension, for k-median");
            return Err(ClusterError::Setting { name, got: self.projected_dim as f64, want });
        }
        let bounds = (0..dim).flat_map(|i| [self.public_box.min(i), self.public_box.max(i)]);
        let farthest = bounds.fold(0.0, |far: f64, x| far.max(x.abs()));
        let narrowest = (0..dim).map(|i| self.public_box.width(i)).fold(f64::INFINITY, f64::min);
        if farthest > MAX_MAGNITUDE || narrowest < 1.0 / MAX_MAGNITUDE {
            let want = "at most 1e75, with sides of at least 1e-75";
            return Err(ClusterError::Setting {
                name: "the public box's extent",
                got: farthest,
                want,
            });
        }
        let projection = Projection::new(&self.public_box, self.projected_dim, self.public_seed);
        let scales = self.scales(&projection)?;
        let choices = self.picks() * scales.len();
        let primitives = Primitives::calibrate(&self, choices as u64)?;
        Ok(EmMc { settings: self, primitives, projection, scales })
    }

    /// Grids of all scales whose cells can be numbered, fine to coarse.
    fn scales(&self, projection: &Projection) -> Result<Vec<ShiftedGrids>, ClusterError> {
        let mut rng = public_generator(self.public_seed, Purpose::Grids);
        let (dim, shifts) = (projection.dim(), self.shifts);
        let cells = |halvings: &u32| ShiftedGrids::cells_of(dim, shifts, *halvings);
        let numbered =
            |halvings: &u32| cells(halvings).is_some_and(|all| all < SparseScores::MAX_CANDIDATES);
        let scale = |halvings| {
            let half_widths = projection.half_widths().to_vec();
            Ok(ShiftedGrids::new(half_widths, shifts, halvings, &mut rng)?)
        };
        (1..=self.finest_halvings).rev().filter(numbered).map(scale).collect()
    }

    pub(super) fn picks(&self) -> usize {
        self.picks_per_scale.unwrap_or(2 * self.k)
    }
}

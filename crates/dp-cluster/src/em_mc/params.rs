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

/// Settings of [`EmMc`]. Nothing here depends on data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EmMcSettings {
    /// k-means, the default, or k-median. The latter needs
    /// [`projected_dim`](Self::projected_dim) to be at least the dimension, and spends nothing on
    /// means.
    pub objective: Objective,
    /// How epsilon is divided among the steps. Default: [`BudgetSplit::default`].
    pub split: BudgetSplit,
    /// What certifies the choices. Default: [`Selection::Pure`].
    pub selection: Selection,
    /// Data of more dimensions is projected to this many for the choices, 1 to 32. Default: 10.
    pub projected_dim: usize,
    /// Grids per scale, 1 to 64: more of them find cells that hold a cluster whole. Default: 8.
    pub shifts: usize,
    /// The finest cells are the domain halved this often in every dimension, 1 to 30; fewer times if
    /// the cells could not be numbered in 62 bits otherwise. The scales are all numbers of halvings
    /// from there down to 1. Default: 5.
    pub finest_halvings: u32,
    /// Choices per scale. Default: `2 k`.
    pub picks_per_scale: Option<usize>,
    /// What is made of noisy numbers of records. Default: [`WeightRule::Threshold`].
    pub weight_rule: WeightRule,
    /// Decides projection, grids and the random choices of the solver. It hides nothing and may be
    /// published, and must not be chosen by looking at the data. Default: 0.
    pub public_seed: u64,
}

impl Default for EmMcSettings {
    fn default() -> Self {
        Self {
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
}

pub(super) type Asked = crate::asked::Asked<EmMcSettings>;

impl EmMc {
    /// Most clusters.
    pub const MAX_CLUSTERS: usize = 1 << 13;
    /// Most choices per scale.
    pub const MAX_PICKS: usize = 1 << 14;

    /// For points in this public box, to be put in `k` clusters within this budget.
    ///
    /// Checks every setting and calibrates every step; afterwards nothing can fail.
    ///
    /// # Errors
    /// [`ClusterError`] names the setting, its value and what would be accepted.
    pub fn new(
        public_box: PublicBox,
        k: usize,
        budget: Budget,
        settings: EmMcSettings,
    ) -> Result<Self, ClusterError> {
        let asked = Asked { public_box, k, budget, settings };
        let check = |name, got: usize, most: usize, want| {
            if (1..=most).contains(&got) {
                Ok(())
            } else {
                Err(ClusterError::Setting { name, got: got as f64, want })
            }
        };
        check("k", asked.k, Self::MAX_CLUSTERS, "between 1 and 8192")?;
        check("projected_dim", asked.settings.projected_dim, 32, "between 1 and 32")?;
        check("shifts", asked.settings.shifts, 64, "between 1 and 64")?;
        check("finest_halvings", asked.settings.finest_halvings as usize, 30, "between 1 and 30")?;
        check("picks_per_scale", asked.picks(), Self::MAX_PICKS, "between 1 and 16384")?;
        let dim = asked.public_box.dim();
        if asked.settings.objective == Objective::KMedian && asked.settings.projected_dim < dim {
            let (name, want) = ("projected_dim", "at least the dimension, for k-median");
            return Err(ClusterError::Setting {
                name,
                got: asked.settings.projected_dim as f64,
                want,
            });
        }
        let bounds = (0..dim).flat_map(|i| [asked.public_box.min(i), asked.public_box.max(i)]);
        let farthest = bounds.fold(0.0, |far: f64, x| far.max(x.abs()));
        let narrowest = (0..dim).map(|i| asked.public_box.width(i)).fold(f64::INFINITY, f64::min);
        if farthest > MAX_MAGNITUDE || narrowest < 1.0 / MAX_MAGNITUDE {
            let want = "at most 1e75, with sides of at least 1e-75";
            return Err(ClusterError::Setting {
                name: "the public box's extent",
                got: farthest,
                want,
            });
        }
        let projection = Projection::new(
            &asked.public_box,
            asked.settings.projected_dim,
            asked.settings.public_seed,
        );
        let scales = asked.scales(&projection)?;
        let choices = asked.picks() * scales.len();
        let primitives = Primitives::calibrate(&asked, choices as u64)?;
        Ok(Self { asked, primitives, projection, scales })
    }
}

impl Asked {
    /// Grids of all scales whose cells can be numbered, fine to coarse.
    fn scales(&self, projection: &Projection) -> Result<Vec<ShiftedGrids>, ClusterError> {
        let mut rng = public_generator(self.settings.public_seed, Purpose::Grids);
        let (dim, shifts) = (projection.dim(), self.settings.shifts);
        let cells = |halvings: &u32| ShiftedGrids::cells_of(dim, shifts, *halvings);
        let numbered =
            |halvings: &u32| cells(halvings).is_some_and(|all| all < SparseScores::MAX_CANDIDATES);
        let scale = |halvings| {
            let half_widths = projection.half_widths().to_vec();
            Ok(ShiftedGrids::new(half_widths, shifts, halvings, &mut rng)?)
        };
        (1..=self.settings.finest_halvings).rev().filter(numbered).map(scale).collect()
    }

    pub(super) fn picks(&self) -> usize {
        self.settings.picks_per_scale.unwrap_or(2 * self.k)
    }
}

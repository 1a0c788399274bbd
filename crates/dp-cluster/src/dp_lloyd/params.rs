//! The public settings, and the check that turns them into a plan.

use dp_accounting::Budget;
use dp_geometry::{Points, PublicBox};
use serde::{Deserialize, Serialize};

use super::budget::Primitives;
use super::start::spread;
use super::{BudgetSplit, DpLloyd};
use crate::ClusterError;
use crate::kmeans::{MAX_MAGNITUDE, farthest};

/// Settings of [`DpLloyd`]. Nothing here depends on data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DpLloydSettings {
    /// How each iteration divides its part of the budget. Default: [`BudgetSplit::Joint`].
    pub split: BudgetSplit,
    /// The number of iterations. Default: from [`expected_records`](Self::expected_records) if given,
    /// else 5.
    pub iterations: Option<usize>,
    /// About how many records there are, if that is public. It only decides how many iterations are
    /// worth their noise: between 2 and 7.
    pub expected_records: Option<u64>,
    /// `k` centres to start from, which must not come from the records. Default: places in the box
    /// far away from each other.
    pub start: Option<Points>,
    /// Decides the default start. It hides nothing and may be published, and must not be chosen by
    /// looking at the data. Default: 0.
    pub public_seed: u64,
}

pub(super) type Asked = crate::asked::Asked<DpLloydSettings>;

impl DpLloyd {
    /// Most clusters.
    pub const MAX_CLUSTERS: usize = 1 << 16;
    /// Most iterations.
    pub const MAX_ITERATIONS: usize = 1_000;

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
        settings: DpLloydSettings,
    ) -> Result<Self, ClusterError> {
        let asked = Asked { public_box, k, budget, settings };
        let refuse = |name, got: f64, want| Err(ClusterError::Setting { name, got, want });
        if !(1..=Self::MAX_CLUSTERS).contains(&asked.k) {
            return refuse("k", asked.k as f64, "between 1 and 65536");
        }
        if let Some(iterations) = asked.settings.iterations
            && !(1..=Self::MAX_ITERATIONS).contains(&iterations)
        {
            return refuse("iterations", iterations as f64, "between 1 and 1000");
        }
        let dim = asked.public_box.dim();
        let farthest = farthest(&asked.public_box);
        if farthest > MAX_MAGNITUDE || asked.public_box.diagonal() < 1.0 / MAX_MAGNITUDE {
            let want = "at most 1e75, with a diagonal of at least 1e-75";
            return refuse("the public box's extent", farthest, want);
        }
        if let Some(start) = &asked.settings.start {
            if start.dim() != dim {
                return Err(ClusterError::Dimension { expected: dim, got: start.dim() });
            }
            if start.len() != asked.k {
                return refuse("start", start.len() as f64, "k centres");
            }
            if !start.view().rows().all(|centre| asked.public_box.contains(centre)) {
                return Err(ClusterError::Coordinate);
            }
        }
        let primitives = Primitives::calibrate(&asked)?;
        let start = asked.settings.start.clone();
        let start =
            start.unwrap_or_else(|| spread(&asked.public_box, asked.k, asked.settings.public_seed));
        Ok(Self { asked, primitives, start })
    }
}

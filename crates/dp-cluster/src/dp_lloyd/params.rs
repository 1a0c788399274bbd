//! The public settings, and the check that turns them into a plan.

use dp_accounting::Budget;
use dp_geometry::{Points, PublicBox};
use serde::{Deserialize, Serialize};

use super::budget::Primitives;
use super::start::spread;
use super::{BudgetSplit, DpLloyd};
use crate::ClusterError;
use crate::kmeans::MAX_MAGNITUDE;

/// Public settings of [`DpLloyd`]; made by [`DpLloyd::builder`].
///
/// Serialises as plain settings; a plan is read back through [`build`](Self::build), so that a file
/// cannot bypass its checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DpLloydBuilder {
    pub(super) public_box: PublicBox,
    pub(super) k: usize,
    pub(super) budget: Budget,
    pub(super) split: BudgetSplit,
    pub(super) iterations: Option<usize>,
    pub(super) expected_records: Option<u64>,
    pub(super) start: Option<Points>,
    pub(super) public_seed: u64,
}

impl DpLloydBuilder {
    /// Most clusters.
    pub const MAX_CLUSTERS: usize = 1 << 16;
    /// Most iterations.
    pub const MAX_ITERATIONS: usize = 1_000;

    pub(super) fn new(public_box: PublicBox, k: usize, budget: Budget) -> Self {
        Self {
            public_box,
            k,
            budget,
            split: BudgetSplit::default(),
            iterations: None,
            expected_records: None,
            start: None,
            public_seed: 0,
        }
    }

    /// How each iteration divides its part of the budget. Default: [`BudgetSplit::Joint`].
    #[must_use]
    pub fn split(mut self, split: BudgetSplit) -> Self {
        self.split = split;
        self
    }

    /// The number of iterations. Default: from [`expected_records`](Self::expected_records) if given,
    /// else 5.
    #[must_use]
    pub fn iterations(mut self, iterations: usize) -> Self {
        self.iterations = Some(iterations);
        self
    }

    /// About how many records there are, if that is public. It only decides how many iterations are
    /// worth their noise: between 2 and 7.
    #[must_use]
    pub fn expected_records(mut self, expected_records: u64) -> Self {
        self.expected_records = Some(expected_records);
        self
    }

    /// `k` centres to start from, which must not come from the records. Default: places in the box
    /// far away from each other.
    #[must_use]
    pub fn start(mut self, start: Points) -> Self {
        self.start = Some(start);
        self
    }

    /// Decides the default start. It hides nothing and may be published, and must not be chosen by
    /// looking at the data. Default: 0.
    #[must_use]
    pub fn public_seed(mut self, public_seed: u64) -> Self {
        self.public_seed = public_seed;
        self
    }

    /// Checks every setting and calibrates every step; afterwards nothing can fail.
    ///
    /// # Errors
    /// [`ClusterError`] names the setting, its value and what would be accepted.
    pub fn build(self) -> Result<DpLloyd, ClusterError> {
        let refuse = |name, got: f64, want| Err(ClusterError::Setting { name, got, want });
        if !(1..=Self::MAX_CLUSTERS).contains(&self.k) {
            return refuse("k", self.k as f64, "between 1 and 65536");
        }
        if let Some(iterations) = self.iterations
            && !(1..=Self::MAX_ITERATIONS).contains(&iterations)
        {
            return refuse("iterations", iterations as f64, "between 1 and 1000");
        }
        let dim = self.public_box.dim();
        let bounds = (0..dim).flat_map(|i| [self.public_box.min(i), self.public_box.max(i)]);
        let farthest = bounds.fold(0.0, |far: f64, x| far.max(x.abs()));
        if farthest > MAX_MAGNITUDE || self.public_box.diagonal() < 1.0 / MAX_MAGNITUDE {
            let want = "at most 1e75, with a diagonal of at least 1e-75";
            return refuse("the public box's extent", farthest, want);
        }
        if let Some(start) = &self.start {
            if start.dim() != dim {
                return Err(ClusterError::Dimension { expected: dim, got: start.dim() });
            }
            if start.len() != self.k {
                return refuse("start", start.len() as f64, "k centres");
            }
            if !start.view().rows().all(|centre| self.public_box.contains(centre)) {
                return Err(ClusterError::Coordinate);
            }
        }
        let primitives = Primitives::calibrate(&self)?;
        let start = self.start.clone();
        let start = start.unwrap_or_else(|| spread(&self.public_box, self.k, self.public_seed));
        Ok(DpLloyd { settings: self, primitives, start })
    }
}

//! DPM's cuts, then re-centring.

use dp_accounting::{AddRemove, Budget, Receipt, Step, budget_to_zcdp};
use dp_geometry::{PointsView, PublicBox};
use dp_mechanism::{Draws, Mechanism};
use serde::{Deserialize, Serialize};

use super::plan::{Recentring, Start};
use super::settings::Rounds;
use crate::ClusterError;
use crate::dpm::{Clustering, CutWeights, IntervalSize, TreeLosses, TreePlan, TreeSettings};

/// Public settings of [`DpmRecentred`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DpmRecentredBuilder {
    budget: Budget,
    clusters: Option<usize>,
    counts: f64,
    cuts: f64,
    rounds: Rounds,
    tree: TreeSettings,
}

/// A checked and calibrated plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "DpmRecentredBuilder", into = "DpmRecentredBuilder")]
pub struct DpmRecentred {
    settings: DpmRecentredBuilder,
    tree: TreePlan,
    recentring: Recentring,
}

impl DpmRecentred {
    /// Settings for points in this public box, to be clustered within this budget.
    pub fn builder(public_box: PublicBox, budget: Budget) -> DpmRecentredBuilder {
        DpmRecentredBuilder {
            budget,
            clusters: None,
            counts: 0.2,
            cuts: 0.2,
            rounds: Rounds::default(),
            tree: TreeSettings::new(public_box),
        }
    }
}

impl DpmRecentredBuilder {
    /// k
    #[must_use]
    pub fn clusters(mut self, k: usize) -> Self {
        self.clusters = Some(k);
        self
    }
    /// shares
    #[must_use]
    pub fn shares(mut self, counts: f64, cuts: f64) -> Self {
        (self.counts, self.cuts) = (counts, cuts);
        self
    }
    /// rounds
    #[must_use]
    pub fn rounds(mut self, rounds: Rounds) -> Self {
        self.rounds = rounds;
        self
    }
    /// depth
    #[must_use]
    pub fn max_depth(mut self, max_depth: usize) -> Self {
        self.tree.max_depth = max_depth;
        self
    }
    /// share
    #[must_use]
    pub fn minimum_share(mut self, share: f64) -> Self {
        self.tree.minimum_share = Some(share);
        self
    }
    /// intervals
    #[must_use]
    pub fn interval_size(mut self, interval_size: IntervalSize) -> Self {
        self.tree.interval_size = interval_size;
        self
    }
    /// weights
    #[must_use]
    pub fn weights(mut self, weights: CutWeights) -> Self {
        self.tree.weights = weights;
        self
    }

    /// Checks
    pub fn build(self) -> Result<DpmRecentred, ClusterError> {
        self.tree.checked()?;
        let total = budget_to_zcdp(self.budget).expect("delta is positive");
        let rest = 1.0 - self.counts - self.cuts;
        let parts = total.split(&[self.counts, self.cuts, rest])?;
        let losses = TreeLosses::zcdp(self.tree.max_depth, parts[0], parts[0], parts[1])?;
        let tree = TreePlan::new(self.tree.clone(), losses)?;
        let public_box = self.tree.public_box.clone();
        let recentring = Recentring::new(public_box, self.rounds.clone(), self.clusters, parts[2])?;
        Ok(DpmRecentred { settings: self, tree, recentring })
    }
}

impl Mechanism for DpmRecentred {
    type Relation = AddRemove;
    type Data<'a> = PointsView<'a>;
    type Output = Clustering;
    type Error = ClusterError;

    fn receipt(&self) -> Receipt<AddRemove> {
        let mut steps = self.tree.spent();
        steps.push(self.recentring.spent());
        let spent = Step::sequential("all steps", steps);
        Receipt::new("dpm-recentred", AddRemove, self.settings.budget, spent)
    }

    fn check(&self, points: &PointsView<'_>) -> Result<(), ClusterError> {
        let (expected, got) = (self.settings.tree.public_box.dim(), points.dim());
        if got == expected { Ok(()) } else { Err(ClusterError::Dimension { expected, got }) }
    }

    fn run(&self, points: PointsView<'_>, draws: &mut dyn Draws) -> Clustering {
        let grown = self.tree.run(points, draws);
        let start = Start {
            centres: grown.middles(),
            counts: grown.tree.leaves.iter().map(|leaf| leaf.noisy_count).collect(),
            labels: Some(grown.tree.leaf_of.iter().map(|&leaf| u32::from(leaf)).collect()),
        };
        self.recentring.run(points, start, draws)
    }
}

impl TryFrom<DpmRecentredBuilder> for DpmRecentred {
    type Error = ClusterError;

    fn try_from(settings: DpmRecentredBuilder) -> Result<Self, ClusterError> {
        settings.build()
    }
}

impl From<DpmRecentred> for DpmRecentredBuilder {
    fn from(plan: DpmRecentred) -> Self {
        plan.settings
    }
}

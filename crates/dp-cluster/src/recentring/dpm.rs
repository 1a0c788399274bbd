//! DPM's cuts, then re-centring: the plan and its one code path.

use dp_accounting::{AddRemove, Receipt, Step};
use dp_geometry::PointsView;
use dp_mechanism::passes::{ByPasses, Counted, Next, TableError};
use dp_mechanism::{Algorithm, Draws, Private};
use serde::{Deserialize, Serialize};

use super::dpm_params::Asked;
use super::plan::{Recentring, RoundState, Start};
use crate::dpm::{Grown, TreePlan, TreeState};
use crate::passes::{Question, in_memory};
use crate::{ClusterError, Clustering};

/// A checked and calibrated plan: the cuts of [`Dpm`](crate::dpm::Dpm), then rounds of re-centring.
/// See the [module](super).
///
/// # Complexity
/// The tree takes `O(n d)` per level. A round takes `O(n d)` for points well inside of their
/// cluster and `O(n k d)` at worst. Joining centres takes `O(m^2 d)` for `m` leaves. Memory: as for
/// the tree, and 16 bytes per point.
///
/// # Shapes and units
/// Points `(n, d)`; centres `(k, d)` in the units of the points, inside the public box; at most as
/// many as asked for.
///
/// # Bad records
/// A coordinate outside of the box counts as on its boundary; NaN counts as the middle of the box.
/// Whether a release succeeds does not depend on the data, which may be empty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Asked", into = "Asked")]
pub struct DpmRecentred {
    pub(super) asked: Asked,
    pub(super) tree: TreePlan,
    pub(super) recentring: Recentring,
}

impl Algorithm for DpmRecentred {
    type Relation = AddRemove;
    type Data<'a> = PointsView<'a>;
    /// The dimension.
    type Shape = usize;
    type Output = Clustering;
    type Error = ClusterError;

    fn cost(&self) -> Receipt<AddRemove> {
        let mut steps = self.tree.spent();
        steps.push(self.recentring.spent());
        let spent = Step::sequential("all steps", steps);
        Receipt::new("dpm-recentred", AddRemove, self.asked.budget, spent)
    }

    fn shape(points: &PointsView<'_>) -> usize {
        points.dim()
    }

    /// # Errors
    /// [`ClusterError::Dimension`] if the points do not have the dimension of the public box.
    fn check(&self, &dim: &usize) -> Result<(), ClusterError> {
        self.recentring.check(dim)
    }

    fn run(&self, points: Private<PointsView<'_>>, draws: &mut Draws<'_>) -> Clustering {
        in_memory(points, self.first(), |state, counted| self.answer(state, counted, draws))
    }
}

/// Where a release stands between two questions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RecentredState(At);

#[derive(Clone, Debug, Serialize, Deserialize)]
enum At {
    Tree(TreeState),
    Rounds(RoundState),
}

/// A pass per level of the tree and two per round; more where a level has more than 32 MiB of counts.
impl ByPasses for DpmRecentred {
    type Question = Question;
    type State = RecentredState;

    fn identity(&self) -> impl Serialize {
        &self.asked
    }

    fn shape_of(&self, question: &Question, _: u64) -> usize {
        question.dim()
    }

    fn has_tables(&self) -> bool {
        !self.tree.settings.is_estimated()
    }

    fn fits(&self, state: &RecentredState, question: &Question) -> Result<(), TableError> {
        match &state.0 {
            At::Tree(state) => self.tree.fits(state, question),
            At::Rounds(state) => self.recentring.fits(state, question),
        }
    }

    fn first(&self) -> (RecentredState, Question) {
        let (state, question) = self.tree.first();
        (RecentredState(At::Tree(state)), question)
    }

    fn answer(
        &self,
        state: RecentredState,
        counted: &Counted,
        draws: &mut Draws<'_>,
    ) -> Next<RecentredState, Question, Clustering> {
        let rounds = match state.0 {
            At::Tree(state) => match self.tree.answer(state, counted, draws) {
                Next::Ask(state, question) => {
                    return Next::Ask(RecentredState(At::Tree(state)), question);
                }
                Next::Done(grown) => {
                    let (state, question) = self.recentring.first(start(grown));
                    return Next::Ask(RecentredState(At::Rounds(state)), question);
                }
            },
            At::Rounds(rounds) => rounds,
        };
        match self.recentring.answer(rounds, counted, draws) {
            Next::Ask(state, question) => Next::Ask(RecentredState(At::Rounds(state)), question),
            Next::Done(centres) => Next::Done(centres.release()),
        }
    }
}

/// The middles of the cells are nobody's data, so the first round starts there, with the points that the cuts sent to each: no coarse means
/// are paid for.
fn start(grown: Grown) -> Start {
    let counts = grown.leaves.iter().map(|leaf| leaf.noisy_count).collect();
    let middles = grown.middles();
    Start { tree: Some(grown.path), ..Start::at(middles, counts) }
}

impl TryFrom<Asked> for DpmRecentred {
    type Error = ClusterError;

    fn try_from(asked: Asked) -> Result<Self, ClusterError> {
        Self::new(asked.public_box, asked.budget, asked.settings)
    }
}

impl From<DpmRecentred> for Asked {
    fn from(plan: DpmRecentred) -> Self {
        plan.asked
    }
}

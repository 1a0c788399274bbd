//! The plan and its one code path.

use dp_accounting::{AddRemove, Receipt};
use dp_geometry::PointsView;
use dp_mechanism::passes::{ByPasses, Counted, Next, TableError};
use dp_mechanism::{Algorithm, Draws, GaussianSum, Private};
use serde::{Deserialize, Serialize};

use super::params::Asked;
use super::plan::{Grown, TreePlan, TreeState};
use super::sums::leaf_sums;
use crate::passes::{Question, asks, in_memory};
use crate::{ClusterError, Clustering};

/// A checked and calibrated DPM plan. See the [module](super).
///
/// # Complexity
/// `O(n d)` per level of the tree, in integer increments; `n (d + 2)` bytes beyond the input, plus per
/// thread the histograms of one pass (48 MiB, or 24 bytes per interval and dimension if one node
/// needs more) and 8 bytes per leaf and dimension. [`IntervalSize::Estimated`](super::IntervalSize)
/// sorts a copy of one column per thread before that: `4 n` bytes each.
///
/// # Shapes and units
/// Points `(n, d)`; centres `(k, d)` in the units of the points, inside the public box.
///
/// # Bad records
/// A coordinate outside of the box counts as on its boundary; NaN counts as the middle of the box.
/// Whether a release succeeds does not depend on the data, which may be empty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Asked", into = "Asked")]
pub struct Dpm {
    pub(super) asked: Asked,
    pub(super) tree: TreePlan,
    pub(super) sums: GaussianSum,
}

impl Dpm {
    /// Standard deviation of the noise in a leaf's sum, as a multiple of half its diagonal.
    pub fn sum_noise_multiplier(&self) -> f64 {
        self.sums.noise_multiplier()
    }
}

impl Algorithm for Dpm {
    type Relation = AddRemove;
    type Data<'a> = PointsView<'a>;
    /// The dimension.
    type Shape = usize;
    type Output = Clustering;
    type Error = ClusterError;

    fn cost(&self) -> Receipt<AddRemove> {
        Receipt::new("dpm", AddRemove, self.asked.budget, self.spent())
    }

    fn shape(points: &PointsView<'_>) -> usize {
        points.dim()
    }

    /// # Errors
    /// [`ClusterError::Dimension`] if the points do not have the dimension of the public box.
    fn check(&self, &dim: &usize) -> Result<(), ClusterError> {
        ClusterError::unless_equal(self.asked.public_box.dim(), dim)
    }

    fn run(&self, points: Private<PointsView<'_>>, draws: &mut Draws<'_>) -> Clustering {
        in_memory(points, self.first(), |state, counted| self.answer(state, counted, draws))
    }
}

/// Where a release stands between two questions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DpmState(At);

#[derive(Clone, Debug, Serialize, Deserialize)]
enum At {
    Tree(TreeState),
    Sums(Grown),
}

/// A pass per level of the tree and one for the sums of its leaves; more where a level has more than 32 MiB of counts.
impl ByPasses for Dpm {
    type Question = Question;
    type State = DpmState;

    fn identity(&self) -> impl Serialize {
        &self.asked
    }

    fn shape_of(&self, question: &Question, _: u64) -> usize {
        question.dim()
    }

    fn has_tables(&self) -> bool {
        !self.tree.settings.is_estimated()
    }

    fn fits(&self, state: &DpmState, question: &Question) -> Result<(), TableError> {
        match &state.0 {
            At::Tree(state) => self.tree.fits(state, question),
            At::Sums(grown) => {
                grown.fits(&self.tree)?;
                asks(question, &Question::leaf_sums(leaf_sums(grown)))
            }
        }
    }

    fn first(&self) -> (DpmState, Question) {
        let (state, question) = self.tree.first();
        (DpmState(At::Tree(state)), question)
    }

    fn answer(
        &self,
        state: DpmState,
        counted: &Counted,
        draws: &mut Draws<'_>,
    ) -> Next<DpmState, Question, Clustering> {
        match state.0 {
            At::Tree(state) => match self.tree.answer(state, counted, draws) {
                Next::Ask(state, question) => Next::Ask(DpmState(At::Tree(state)), question),
                Next::Done(grown) => {
                    let question = Question::leaf_sums(leaf_sums(&grown));
                    Next::Ask(DpmState(At::Sums(grown)), question)
                }
            },
            At::Sums(grown) => Next::Done(self.centres(&grown, counted, draws)),
        }
    }
}

impl TryFrom<Asked> for Dpm {
    type Error = ClusterError;

    fn try_from(asked: Asked) -> Result<Self, ClusterError> {
        Self::new(asked.public_box, asked.budget, asked.settings)
    }
}

impl From<Dpm> for Asked {
    fn from(dpm: Dpm) -> Self {
        dpm.asked
    }
}

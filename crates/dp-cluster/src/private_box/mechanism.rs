//! The search for a box as a mechanism of its own.

use dp_accounting::{AddRemove, Budget, Receipt, Step};
use dp_geometry::{PointsView, PublicBox};
use dp_mechanism::passes::{ByPasses, Counted, Next, TableError};
use dp_mechanism::{Algorithm, Draws, Private};
use serde::{Deserialize, Serialize};

use super::{BoxSearch, BoxState, Surely};
use crate::ClusterError;
use crate::passes::{Question, in_memory};
use crate::total_rho::total_mu;

/// A checked and calibrated plan of a search for a box. See the [module](super).
///
/// # Complexity
/// Seven passes over the records, `O(n d)` each; memory does not depend on `n`.
///
/// # Shapes and units
/// Records `(n, d)` in the units of the public box, and so is the box found, which is inside of the public one.
///
/// # Bad records
/// A coordinate outside of the public box counts as on its boundary; NaN counts as the middle of its side. Whether a release succeeds does
/// not depend on the data, which may be empty: then the public box comes back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Settings", into = "Settings")]
pub struct PrivateBox {
    settings: Settings,
    search: BoxSearch,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Settings {
    public_box: PublicBox,
    budget: Budget,
}

/// A released box; everything computed from it is free.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FoundBox {
    /// Inside of the box that the plan was made for, or that box.
    pub public_box: PublicBox,
    /// Noisy share of the records outside of it: what an algorithm in this box clips.
    pub share_outside: f64,
}

impl PrivateBox {
    /// A search inside of this box within this budget.
    ///
    /// # Errors
    /// [`ClusterError`] without a delta, or if the budget is too small for any noise, or the box so wide that its width is no number.
    pub fn plan(public_box: PublicBox, budget: Budget) -> Result<Self, ClusterError> {
        let search = BoxSearch::new(&public_box, total_mu(budget)?, Surely::WELL)?;
        Ok(Self { settings: Settings { public_box, budget }, search })
    }
}

impl Algorithm for PrivateBox {
    type Relation = AddRemove;
    type Data<'a> = PointsView<'a>;
    /// The dimension.
    type Shape = usize;
    type Output = FoundBox;
    type Error = ClusterError;

    fn cost(&self) -> Receipt<AddRemove> {
        let spent = Step::sequential("all steps", vec![self.search.spent()]);
        Receipt::new("private-box", AddRemove, self.settings.budget, spent)
    }

    fn shape(points: &PointsView<'_>) -> usize {
        points.dim()
    }

    /// # Errors
    /// [`ClusterError::Dimension`] if the points do not have the dimension of the public box.
    fn check(&self, &dim: &usize) -> Result<(), ClusterError> {
        ClusterError::unless_equal(self.settings.public_box.dim(), dim)
    }

    fn run(&self, points: Private<PointsView<'_>>, draws: &mut Draws<'_>) -> FoundBox {
        in_memory(points, self.first(), |state, counted| self.answer(state, counted, draws))
    }
}

/// Where a search stands between two questions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BoxSearchState(BoxState);

/// Seven passes.
impl ByPasses for PrivateBox {
    type Question = Question;
    type State = BoxSearchState;

    fn identity(&self) -> impl Serialize {
        &self.settings
    }

    fn shape_of(&self, question: &Question, _: u64) -> usize {
        question.dim()
    }

    fn fits(&self, state: &BoxSearchState, question: &Question) -> Result<(), TableError> {
        BoxSearch::fits(&self.settings.public_box, &state.0, question)
    }

    fn first(&self) -> (BoxSearchState, Question) {
        let (state, question) = BoxSearch::first(&self.settings.public_box);
        (BoxSearchState(state), question)
    }

    fn answer(
        &self,
        BoxSearchState(state): BoxSearchState,
        counted: &Counted,
        draws: &mut Draws<'_>,
    ) -> Next<BoxSearchState, Question, FoundBox> {
        self.search.answer(state, 1.0, counted, draws).map_state(BoxSearchState)
    }
}

impl TryFrom<Settings> for PrivateBox {
    type Error = ClusterError;

    fn try_from(settings: Settings) -> Result<Self, ClusterError> {
        Self::plan(settings.public_box, settings.budget)
    }
}

impl From<PrivateBox> for Settings {
    fn from(plan: PrivateBox) -> Self {
        plan.settings
    }
}

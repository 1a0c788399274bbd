//! The plan and its one code path.

use dp_accounting::{AddRemove, Receipt};
use dp_geometry::{Points, PointsView};
use dp_mechanism::passes::{ByPasses, Counted, Next, TableError};
use dp_mechanism::{Algorithm, Cells, Draws, Private};
use serde::{Deserialize, Serialize};

use super::LshSplitsSettings;
use super::budget::Primitives;
use super::codes::{Codes, MOST_COUNTED};
use super::params::Asked;
use super::sums::PartSums;
use super::tree::{Records, Tree};
use crate::coreset::PrivateCoreset;
use crate::kmeans::KMeans;
use crate::passes::{Question, asks};
use crate::public_coins::{Purpose, public_generator};
use crate::{ClusterError, Clustering};

/// A checked and calibrated LSH-Splits plan. See the [module](super).
///
/// # Complexity
/// `O(n d depth)` for the sides of all records, in one pass, and `O(n (d + depth))` for the sums; at most `24 n` bytes
/// beyond the input and `8 (d + 1)` per leaf and thread. The final k-means works on the leaves only.
///
/// # Shapes and units
/// Points `(n, d)`; at most `k` centres `(k, d)` in the units of the points, inside the public ball.
/// There are fewer than `k` if there are fewer leaves; there is always one.
///
/// # Bad records
/// A record outside of the ball is moved to its surface; a NaN coordinate counts as the centre's.
/// Whether a release succeeds does not depend on the data, which may be empty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Asked", into = "Asked")]
pub struct LshSplits {
    pub(super) asked: Asked,
    pub(super) primitives: Primitives,
    pub(super) solver: KMeans,
}

impl LshSplits {
    /// Standard deviation of the noise in a leaf's sum, as a multiple of the length of the longest
    /// vector that a record adds (the radius, and a share for the size).
    pub fn sum_noise_multiplier(&self) -> f64 {
        self.primitives.sums.noise_multiplier()
    }

    /// Standard deviation of the noise in a count of the tree, in records.
    pub fn count_standard_deviation(&self) -> f64 {
        self.primitives.counts[0].standard_deviation()
    }

    /// Weighted k-means on the leaves: post-processing with public randomness.
    fn post_centres(&self, coreset: &PrivateCoreset) -> Points {
        let mut rng = public_generator(self.asked.settings.public_seed, Purpose::LshSolver);
        let solver = if coreset.len() < self.solver.k() {
            // Fewer leaves than clusters: they are the centres.
            return coreset.points().to_points();
        } else {
            &self.solver
        };
        let fit = solver.post_fit(coreset, &mut rng).expect("released points are finite");
        let (mut coords, dim) = (fit.centres.into_coords(), self.asked.public_ball.dim());
        // A mean can round to just outside of the ball.
        coords
            .chunks_exact_mut(dim)
            .for_each(|centre| self.asked.public_ball.clip(centre).expect("as many coordinates"));
        Points::new(coords, dim).expect("whole rows")
    }
}

impl Algorithm for LshSplits {
    type Relation = AddRemove;
    type Data<'a> = PointsView<'a>;
    /// The dimension.
    type Shape = usize;
    /// The coreset are the leaves: noisy means and noisy sizes.
    type Output = Clustering;
    type Error = ClusterError;

    fn cost(&self) -> Receipt<AddRemove> {
        let spent = self.primitives.spent.clone();
        Receipt::new("lsh-splits", AddRemove, self.asked.budget, spent)
    }

    fn shape(points: &PointsView<'_>) -> usize {
        points.dim()
    }

    /// # Errors
    /// [`ClusterError::Dimension`] if the points do not have the dimension of the public ball.
    fn check(&self, &dim: &usize) -> Result<(), ClusterError> {
        ClusterError::unless_equal(self.asked.public_ball.dim(), dim)
    }

    fn run(&self, points: Private<PointsView<'_>>, draws: &mut Draws<'_>) -> Clustering {
        let asked = self.codes();
        let codes = points.map(|points| asked.of(points));
        let depth = self.asked.settings.depth;
        let records = codes.as_ref().map(|codes| Records::of_codes(codes, depth));
        let tree = self.grow(records, draws);
        let asked = part_sums(asked, &tree);
        let sums = points.zip(codes.as_ref()).map(|(points, codes)| asked.sums(points, codes));
        self.released(&tree, &sums.cells(asked.entries()), draws)
    }
}

/// Where a release stands between two questions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SplitsState(Option<Tree>);

/// Two passes, for trees of at most 20 levels: the codes of all records, then the sums of the leaves.
impl ByPasses for LshSplits {
    type Question = Question;
    type State = SplitsState;

    fn identity(&self) -> impl Serialize {
        &self.asked
    }

    fn shape_of(&self, question: &Question, _: u64) -> usize {
        question.dim()
    }

    fn has_tables(&self) -> bool {
        self.asked.settings.depth <= MOST_COUNTED
    }

    fn fits(&self, state: &SplitsState, question: &Question) -> Result<(), TableError> {
        let Some(tree) = &state.0 else { return asks(question, &self.first().1) };
        tree.fits()?;
        asks(question, &Question::part_sums(part_sums(self.codes(), tree)))
    }

    fn first(&self) -> (SplitsState, Question) {
        (SplitsState(None), Question::codes(self.codes()))
    }

    fn answer(
        &self,
        SplitsState(tree): SplitsState,
        counted: &Counted,
        draws: &mut Draws<'_>,
    ) -> Next<SplitsState, Question, Clustering> {
        if let Some(tree) = tree {
            return Next::Done(self.released(&tree, &counted.entries, draws));
        }
        let records = counted.entries.view().into_private().map(Records::of_counts);
        let tree = self.grow(records, draws);
        let question = Question::part_sums(part_sums(self.codes(), &tree));
        Next::Ask(SplitsState(Some(tree)), question)
    }
}

impl LshSplits {
    fn codes(&self) -> Codes {
        let LshSplitsSettings { depth, public_seed, .. } = self.asked.settings;
        Codes::new(self.asked.public_ball.clone(), depth, public_seed)
    }

    fn released(&self, tree: &Tree, sums: &Cells<i64>, draws: &mut Draws<'_>) -> Clustering {
        let coreset = self.coreset(tree, sums, draws);
        Clustering::of_coreset(self.post_centres(&coreset), coreset)
    }
}

fn part_sums(codes: Codes, tree: &Tree) -> PartSums {
    PartSums { codes, fates: tree.fates.clone(), leaves: tree.noisy_counts.len() }
}

impl TryFrom<Asked> for LshSplits {
    type Error = ClusterError;

    fn try_from(asked: Asked) -> Result<Self, ClusterError> {
        Self::new(asked.public_ball, asked.k, asked.budget, asked.settings)
    }
}

impl From<LshSplits> for Asked {
    fn from(plan: LshSplits) -> Self {
        plan.asked
    }
}

//! The plan and its one code path.

use dp_accounting::{AddRemove, Receipt, Step};
use dp_geometry::{Points, PointsView, PublicBox};
use dp_mechanism::{Algorithm, Draws, NoisyCount, Private};
use serde::{Deserialize, Serialize};

use super::StemmerKaplanSettings;
use super::farthest::farthest;
use super::params::Asked;
use crate::clustering::sizes;
use crate::nearest::squared_distance;
use crate::private_centres::{CandidatePlan, Candidates};
use crate::private_local_search::{SIZE, SwapPlan};
use crate::{ClusterError, Clustering};

/// The whole algorithm of Stemmer and Kaplan within one budget. See the [module](super).
///
/// # Guarantee
/// `(epsilon, delta)`-DP under [`AddRemove`] for the budget given, by zCDP outside of the mass of the thresholds. A record more or less
/// changes the farthest so many by one that comes and one that goes: rounds after the first have the noise for such a change.
///
/// # Utility
/// Sizes below the threshold of a cell are lost; a choice among candidates costs the square of the diagonal over its epsilon.
///
/// # Complexity
/// `O(n (d + log n))` for each grid of the first round, and `O(n m d)` for each swap over `m` candidates.
///
/// # Shapes and units
/// Points `(n, d)`; at most `k` centres with noisy sizes, in the units of the points and inside of the public box. There is always one.
///
/// # Bad records
/// A coordinate outside of the box counts as on its boundary; NaN counts as the middle of the box.
/// Whether a release succeeds does not depend on the data, which may be empty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Asked", into = "Asked")]
pub struct StemmerKaplan {
    pub(super) asked: Asked,
    pub(super) rounds: Vec<CandidatePlan>,
    pub(super) farthest: usize,
    pub(super) search: SwapPlan,
    pub(super) sizes: NoisyCount,
}

impl StemmerKaplan {
    /// How many of the farthest records rounds after the first look at.
    pub fn farthest(&self) -> usize {
        self.farthest
    }

    fn public_box(&self) -> &PublicBox {
        &self.asked.public_box
    }

    fn name(round: usize) -> String {
        format!("round {} of candidates", round + 1)
    }

    /// The candidates of each round.
    fn candidates(
        &self,
        points: Private<PointsView<'_>>,
        draws: &mut Draws<'_>,
    ) -> Vec<Candidates> {
        let public_box = self.public_box();
        let StemmerKaplanSettings { repetitions, public_seed, .. } = self.asked.settings;
        let mut all: Vec<Candidates> = Vec::new();
        let mut coords: Vec<f64> = Vec::new();
        for (round, plan) in self.rounds.iter().enumerate() {
            let draws = &mut draws.within(&Self::name(round));
            let found = if round == 0 {
                plan.run(points, draws)
            } else {
                let so_far = PointsView::new(&coords, public_box.dim()).expect("whole rows");
                let far = points.map(|points| farthest(points, so_far, public_box, self.farthest));
                plan.run(far.as_ref().map(Points::view), draws)
            };
            coords.extend_from_slice(found.0.view().coords());
            all.push(Candidates::new(found, repetitions, self.asked.k, public_seed));
        }
        all
    }
}

/// For each centre, the nearest candidate that is not taken yet; then the first ones, up to `k`.
fn nearest_candidates(centres: PointsView<'_>, candidates: PointsView<'_>, k: usize) -> Vec<usize> {
    let mut free: Vec<usize> = (0..candidates.len()).collect();
    let mut chosen = Vec::new();
    for centre in centres.rows().take(k) {
        let far = |&place: &usize| squared_distance(&candidates[free[place]], centre);
        let nearest = (0..free.len()).min_by(|a, b| far(a).total_cmp(&far(b)));
        chosen.extend(nearest.map(|place| free.remove(place)));
    }
    let missing = k.saturating_sub(chosen.len());
    chosen.extend(free.into_iter().take(missing));
    chosen
}

impl Algorithm for StemmerKaplan {
    type Relation = AddRemove;
    type Data<'a> = PointsView<'a>;
    /// The dimension.
    type Shape = usize;
    type Output = Clustering;
    type Error = ClusterError;

    fn cost(&self) -> Receipt<AddRemove> {
        let rounds = self.rounds.iter().enumerate();
        let rounds = rounds.map(|(i, plan)| Step::sequential(Self::name(i), vec![plan.spent()]));
        let sizes = Step::parallel("sizes", vec![Step::spend(SIZE, self.sizes.loss())]);
        let steps = rounds.chain([self.search.spent(), sizes]).collect();
        let spent = Step::sequential("all steps", steps);
        Receipt::new("stemmer-kaplan", AddRemove, self.asked.budget, spent)
    }

    fn shape(points: &PointsView<'_>) -> usize {
        points.dim()
    }

    /// # Errors
    /// [`ClusterError::Dimension`] if the points do not have the dimension of the public box.
    fn check(&self, &dim: &usize) -> Result<(), ClusterError> {
        ClusterError::unless_equal(self.public_box().dim(), dim)
    }

    fn run(&self, points: Private<PointsView<'_>>, draws: &mut Draws<'_>) -> Clustering {
        let dim = self.public_box().dim();
        let rounds = self.candidates(points, draws);
        let most = self.asked.settings.most_candidates / self.rounds.len();
        let coords = rounds.iter().flat_map(|round| round.post_select(most).into_coords());
        let mut coords: Vec<f64> = coords.collect();
        if coords.is_empty() {
            // Nothing was found: one centre in the middle.
            coords = (0..dim).map(|i| self.public_box().middle(i)).collect();
        }
        let candidates = Points::new(coords, dim).expect("whole rows");
        let guess = Clustering::from(rounds[0].clone());
        let start = nearest_candidates(guess.centres.view(), candidates.view(), self.asked.k);
        let centres = self.search.run(points, candidates.view(), start, draws);
        sizes(points, centres, self.public_box(), &self.sizes, SIZE, draws)
    }
}

impl TryFrom<Asked> for StemmerKaplan {
    type Error = ClusterError;

    fn try_from(asked: Asked) -> Result<Self, ClusterError> {
        Self::new(asked.public_box, asked.k, asked.budget, asked.settings)
    }
}

impl From<StemmerKaplan> for Asked {
    fn from(plan: StemmerKaplan) -> Self {
        plan.asked
    }
}

//! The plan and its one code path.

use dp_accounting::{AddRemove, Receipt, Step};
use dp_geometry::PointsView;
use dp_mechanism::{Algorithm, Draws, Private};
use serde::{Deserialize, Serialize};

use super::number::NumberSearch;
use super::params::{Asked, Choices, Start};
use crate::map::PrivateMap;
use crate::private_box::BoxSearch;
use crate::public_coins::{Purpose, public_generator};
use crate::recentring::{self, Recentring};
use crate::rings::RingPlan;
use crate::{ClusterError, Clustering};

/// A checked and calibrated plan. See the [module](super).
///
/// # Complexity
/// That of [`RingRounds`](crate::rings::RingRounds) or of [`PrivateMap`], and `O(n k d)` per round of re-centring at worst; points well inside of
/// their cluster take `O(d)`. With [`finds_k`](super::PrivateKMeansSettings::finds_k), one more pass, and `O(k^3 d)` at worst to join parts, whatever `n` is.
///
/// # Shapes and units
/// Points `(n, d)`; at most `k` centres `(k, d)` in the units of the points, inside the public box. There is always one.
///
/// # Bad records
/// A coordinate outside of the box counts as on its boundary; NaN counts as the middle of the box.
/// Whether a release succeeds does not depend on the data, which may be empty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Asked", into = "Asked")]
pub struct PrivateKMeans {
    pub(super) asked: Asked,
    pub(super) choices: Choices,
    pub(super) search: BoxSearch,
    pub(super) start: StartPlan,
    /// Where the number of clusters is to be found.
    pub(super) number: Option<NumberSearch>,
    pub(super) recentring: Recentring,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum StartPlan {
    Rings(RingPlan),
    Map(PrivateMap<AddRemove>),
}

/// The step of the receipt that pays for a map. Ring rounds bring their own.
const MAP: &str = "map as a start";

impl PrivateKMeans {
    /// How it starts.
    pub fn start(&self) -> Start {
        self.choices.start
    }

    /// By what part the squared inertia will be above that of k-means without privacy, if there are as many records as expected, in
    /// separate round clusters of like size; `None` without a number of records or of clusters, and infinite where a start may miss clusters, as
    /// what that costs depends on how far apart they are, or where noise [hides](Self::is_hopeless) all.
    ///
    /// With `rho` for the sums, a cluster of `m` points in `d` dimensions and a radius `r` gets an error of squared length
    /// `1.09 d r^2 / (2 rho m^2)`. `r` holds four fifths of the points, and of the rounds, the first works at a larger one. The weaker the signal,
    /// the more rounds that takes, as measured; and of few records, so do radii that noise has chosen. A [map](Start::Map) loses all in a box that
    /// is too wide, so that there is a forecast only where the search for a better one is sure of it.
    ///
    /// It never grows with the budget or with the number of records. Where the choices change, the formula says up to a quarter more for a larger
    /// budget than for one just below; what is forecast then is the less of both, which is well within the factor of two that a forecast is good for.
    pub fn forecast(&self) -> Option<f64> {
        self.number.is_none().then(|| self.asked.forecast(self.choices.whole))?
    }

    /// Whether nothing is to be expected: the noise in a cluster's sum is about as long as the sum. Below that and where
    /// [`forecast`](Self::forecast) is finite, some clusters are found. `false` without a number of records.
    pub fn is_hopeless(&self) -> bool {
        self.asked.is_hopeless(self.choices.whole)
    }
}

impl Algorithm for PrivateKMeans {
    type Relation = AddRemove;
    type Data<'a> = PointsView<'a>;
    /// The dimension.
    type Shape = usize;
    type Output = Clustering;
    type Error = ClusterError;

    fn cost(&self) -> Receipt<AddRemove> {
        let start = match &self.start {
            StartPlan::Rings(rings) => rings.spent(),
            StartPlan::Map(map) => Step::sequential(MAP, vec![map.cost().spent().clone()]),
        };
        let mut steps = vec![self.search.spent(), start];
        steps.extend(self.number.as_ref().map(NumberSearch::spent));
        steps.push(self.recentring.spent());
        let spent = Step::sequential("all steps", steps);
        Receipt::new("private-kmeans", AddRemove, self.asked.budget, spent)
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
        let declared = &self.asked.public_box;
        let found = self.search.run(points, declared, self.choices.widest, draws);
        let public_box = found.public_box;
        let (start, hints, reach) = match &self.start {
            StartPlan::Rings(rings) => {
                let found = rings.in_box(public_box.clone()).locate(points, draws);
                (found.clustering, Some(found.near), Some(found.reach))
            }
            StartPlan::Map(map) => {
                let map = map.in_box(public_box.clone()).run(points, &mut draws.within(MAP));
                let mut rng = public_generator(self.asked.settings.public_seed, Purpose::MapSolver);
                let found = map.clustering(self.asked.k, &mut rng).expect("k was checked");
                (found, None, None)
            }
        };
        let Clustering { centres, counts, .. } = start;
        let start = recentring::Start { centres, counts, tree: None, reach };
        let (start, hints) = match &self.number {
            Some(number) => (number.run(points, &public_box, start, draws), None),
            None => (start, hints),
        };
        self.recentring.in_box(public_box).run_near(points, start, hints, draws)
    }
}

impl TryFrom<Asked> for PrivateKMeans {
    type Error = ClusterError;

    fn try_from(asked: Asked) -> Result<Self, ClusterError> {
        Self::new(asked.public_box, asked.k, asked.budget, asked.settings)
    }
}

impl From<PrivateKMeans> for Asked {
    fn from(plan: PrivateKMeans) -> Self {
        plan.asked
    }
}

//! The plan and its one code path.

use dp_accounting::{AddRemove, Receipt, Step};
use dp_geometry::{PointsView, PublicBox};
use dp_mechanism::passes::{ByPasses, Counted, Next, StateError, TableError};
use dp_mechanism::{Algorithm, Draws, Private};
use serde::{Deserialize, Serialize};

use super::even::Even;
use super::number;
use super::on_map::OnMap;
use super::params::{self, Asked, Choices};
use crate::map::PrivateMap;
use crate::passes::{Question, asks, in_memory, is_inside, is_there};
use crate::private_box::{BoxSearch, BoxState, FoundBox};
use crate::recentring::{Recentring, RoundState, Start};
use crate::rings::{self, RingPlan, RingState};
use crate::{ClusterError, Clustering};

/// A checked and calibrated plan. See the [module](super).
///
/// # Complexity
/// That of [`RingRounds`](crate::rings::RingRounds) or of [`PrivateMap`], and `O(n k d)` per round of re-centring at worst; points well inside of
/// their cluster take `O(d)`. With [`finds_k`](super::PrivateKMeansSettings::finds_k) after rings, `O(k^2 d)` to join parts that lie apart, and `O(k^3 d)` at worst, where noise hides how far apart they are.
/// After a map, with it or for at most 48 clusters, `O(k)` looks at each vertex for each part that is joined, whatever `n` is: .05 s for 15 clusters, .5 s for 40.
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
    pub(super) start: StartPlan,
    pub(super) recentring: Recentring,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum StartPlan {
    Rings(BoxSearch, RingPlan),
    Map(BoxSearch, PrivateMap<AddRemove>),
    Even(Even),
}

/// No box found has a shorter diagonal: the shortest that a public one may have, over `2^49`.
const SHORTEST: f64 = 1e-100;

/// The step of the receipt that pays for a map. Ring rounds bring their own.
const MAP: &str = "map as a start";

impl PrivateKMeans {
    /// How it starts.
    pub fn start(&self) -> params::Start {
        self.choices.start
    }

    /// By what part the squared inertia will be above that of k-means without privacy, if there are as many records as expected, in
    /// separate round clusters of like size; `None` without a number of records or of clusters, and infinite where a start may miss clusters, as
    /// what that costs depends on how far apart they are, or where noise [hides](Self::is_hopeless) all.
    ///
    /// With `rho` for the sums, a cluster of `m` points in `d` dimensions and a radius `r` gets an error of squared length
    /// `1.09 d r^2 / (2 rho m^2)`. `r` holds four fifths of the points, and of the rounds, the first works at a larger one. The weaker the signal,
    /// the more rounds that takes, as measured; and of few records, so do radii that noise has chosen. A [map](super::Start::Map) loses all in a box that
    /// is too wide, so that there is a forecast only where the search for a better one is sure of it.
    ///
    /// It never grows with the budget or with the number of records. Where the choices change, the formula says up to a quarter more for a larger
    /// budget than for one just below; what is forecast then is the less of both, which is well within the factor of two that a forecast is good for.
    pub fn forecast(&self) -> Option<f64> {
        (!self.asked.settings.finds_k).then(|| self.asked.forecast(self.choices.whole))?
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
        let mut steps = match &self.start {
            StartPlan::Rings(search, rings) => vec![search.spent(), rings.spent()],
            StartPlan::Map(search, map) => {
                vec![search.spent(), Step::sequential(MAP, vec![map.cost().spent().clone()])]
            }
            StartPlan::Even(_) => vec![],
        };
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
        in_memory(points, self.first(), |state, counted| self.answer(state, counted, draws))
    }
}

/// Where a release stands between two questions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KMeansState(At);

/// All but the first with a part of the box that nearly all records are in. The last rounds are in that part, unless there surely are records outside of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum At {
    Box(BoxState),
    Rings(PublicBox, RingState),
    Map(PublicBox),
    Rounds { public_box: PublicBox, longest: f64, state: RoundState },
}

type Asks = Next<KMeansState, Question, Clustering>;

/// Seven passes for the box and two for each ring round or one for a map, unless it looks for nothing, and two for each round.
impl ByPasses for PrivateKMeans {
    type Question = Question;
    type State = KMeansState;

    fn identity(&self) -> impl Serialize {
        &self.asked
    }

    fn shape_of(&self, question: &Question, _: u64) -> usize {
        question.dim()
    }

    fn fits(&self, KMeansState(at): &KMeansState, question: &Question) -> Result<(), TableError> {
        let box_of =
            |found: &PublicBox| is_inside(found, &self.asked.public_box).map(|()| found.clone());
        match (at, &self.start) {
            (At::Box(state), StartPlan::Rings(..) | StartPlan::Map(..)) => {
                BoxSearch::fits(&self.asked.public_box, state, question)
            }
            (At::Rings(found, state), StartPlan::Rings(_, rings)) => {
                rings.finer_in(box_of(found)?).fits(state, question)
            }
            (At::Map(found), StartPlan::Map(_, map)) => {
                asks(question, &map.finer_in(&box_of(found)?).first().1)
            }
            (At::Box(_) | At::Rings(..) | At::Map(_), _) => {
                is_there("the start of the plan", false)
            }
            (At::Rounds { public_box, longest, state }, start) => {
                let diagonal = public_box.diagonal();
                if let StartPlan::Even(_) = start {
                    let all = &self.asked.public_box;
                    let is_all = public_box == all && longest.to_bits() == diagonal.to_bits();
                    is_there("the box of the plan", is_all)?;
                }
                StateError::unless_within("longest radius", *longest, [SHORTEST, diagonal])?;
                self.recentring.in_box(box_of(public_box)?, *longest).fits(state, question)
            }
        }
    }

    fn first(&self) -> (KMeansState, Question) {
        let public_box = &self.asked.public_box;
        if let StartPlan::Even(even) = &self.start {
            return self.rounds(public_box.clone(), public_box.diagonal(), even.start());
        }
        let (state, question) = BoxSearch::first(public_box);
        (KMeansState(At::Box(state)), question)
    }

    fn answer(
        &self,
        KMeansState(at): KMeansState,
        counted: &Counted,
        draws: &mut Draws<'_>,
    ) -> Asks {
        let ask = |at, question| Next::Ask(KMeansState(at), question);
        let widest = self.choices.widest;
        match (at, &self.start) {
            (At::Box(state), StartPlan::Rings(search, rings)) => {
                match search.answer(state, widest, counted, draws) {
                    Next::Ask(state, question) => ask(At::Box(state), question),
                    Next::Done(FoundBox { public_box, .. }) => {
                        let rings = rings.finer_in(public_box.clone());
                        let (state, question) = rings.first(counted.rows, draws);
                        ask(At::Rings(public_box, state), question)
                    }
                }
            }
            (At::Box(state), StartPlan::Map(search, map)) => {
                match search.answer(state, widest, counted, draws) {
                    Next::Ask(state, question) => ask(At::Box(state), question),
                    Next::Done(FoundBox { public_box, .. }) => {
                        let ((), question) = map.finer_in(&public_box).first();
                        ask(At::Map(public_box), question)
                    }
                }
            }
            (At::Rings(public_box, state), StartPlan::Rings(_, rings)) => {
                match rings.finer_in(public_box.clone()).answer(state, counted, draws) {
                    Next::Ask(state, question) => ask(At::Rings(public_box, state), question),
                    Next::Done(found) => {
                        let finds_k = self.asked.settings.finds_k;
                        let found = if finds_k { number::clusters(found) } else { found };
                        let rings::Found { clustering, of_cells, reach, noise, .. } = found;
                        let is_inside = |centre: &[f64]| public_box.contains(centre);
                        let are_inside = clustering.centres.view().rows().all(is_inside);
                        let last_box =
                            if are_inside { &public_box } else { &self.asked.public_box };
                        let start = Start::at(clustering.centres, clustering.counts);
                        let (reach, noise) = (Some(reach), Some(noise));
                        let start = Start { reach, noise, of_cells, ..start };
                        self.last(last_box.clone(), public_box.diagonal(), start)
                    }
                }
            }
            (At::Map(public_box), StartPlan::Map(_, map)) => {
                let draws = &mut draws.within(MAP);
                let map = map.finer_in(&public_box);
                let levels = map.levels();
                let map = map.release_sums(&counted.entries, counted.rows, draws);
                let on_map = OnMap::new(&map, levels);
                let last_box = on_map.last_box(self.asked.settings.finds_k);
                let longest = last_box.diagonal();
                self.last(last_box, longest, on_map.start(self.asked.k, self.asked.settings))
            }
            (At::Rounds { public_box, longest, state }, _) => {
                let rounds = self.recentring.in_box(public_box.clone(), longest);
                match rounds.answer(state, counted, draws) {
                    Next::Ask(state, question) => {
                        ask(At::Rounds { public_box, longest, state }, question)
                    }
                    Next::Done(centres) => Next::Done(centres.release()),
                }
            }
            _ => unreachable!("a state is bound to its plan"),
        }
    }
}

impl PrivateKMeans {
    /// What the last rounds ask first.
    fn rounds(&self, public_box: PublicBox, longest: f64, start: Start) -> (KMeansState, Question) {
        let (state, question) = self.recentring.in_box(public_box.clone(), longest).first(start);
        (KMeansState(At::Rounds { public_box, longest, state }), question)
    }

    fn last(&self, public_box: PublicBox, longest: f64, start: Start) -> Asks {
        let (state, question) = self.rounds(public_box, longest, start);
        Next::Ask(state, question)
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

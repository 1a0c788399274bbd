//! The plan and its one code path.

use dp_accounting::{AddRemove, Mu, Receipt, Step};
use dp_geometry::PointsView;
use dp_mechanism::passes::{ByPasses, Counted, Next, TableError};
use dp_mechanism::{Algorithm, Draws, NoisyCount, Private};
use serde::{Deserialize, Serialize};

use super::params::{Asked, Start};
use super::way::{At, Way};
use crate::passes::{Question, in_memory, is_there};
use crate::private_box::{BoxSearch, BoxState};
use crate::{ClusterError, Clustering};

/// A checked and calibrated plan. See the [module](super).
///
/// # Complexity
/// That of [`RingRounds`](crate::rings::RingRounds) or of [`PrivateMap`](crate::map::PrivateMap), and `O(n k d)` per round of re-centring at worst; points well inside of
/// their cluster take `O(d)`. With [`finds_k`](super::PrivateKMeansSettings::finds_k) after rings, `O(k^2 d)` to join parts that lie apart, and `O(k^3 d)` at worst, where noise hides how far apart they are.
/// After a map, with it or for at most 48 clusters, `O(k)` looks at each vertex for each part that is joined, whatever `n` is: .05 s for 15 clusters, .5 s for 40.
/// Where few records are counted, k-means of 1,024 to 4,096 places of the box: 4 ms for 5 clusters on a plane, .24 s for 64 in a hundred dimensions.
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
    pub(super) whole: Mu,
    /// Of the records, if it decides which way to go; the first draw.
    pub(super) count: Option<NoisyCount>,
    /// By ascending number of records, the first for any; one, if nothing is counted first.
    pub(super) ways: Vec<Way>,
}

/// The step of the receipt that pays for a count of records which decides on the way.
const COUNT: &str = "about how many records";
const WAYS: &str = "a way for so many";

impl PrivateKMeans {
    /// From how many records on, as counted with noise, it starts how: one start, from 0 on, if no count decides.
    pub fn starts(&self) -> impl ExactSizeIterator<Item = (u64, Start)> {
        self.ways.iter().map(|way| (way.least, way.choices.start))
    }

    /// By what part the squared inertia of a usual release will be above that of k-means without privacy, if there are as many records as expected, in
    /// separate round clusters of like size; `None` without a number of records or of clusters, and infinite where a start misses a cluster now and
    /// then, as what that costs depends on how far apart they are, or where noise [hides](Self::is_hopeless) all.
    ///
    /// With `rho` for the sums, a cluster of `m` points in `d` dimensions and a radius `r` gets an error of squared length
    /// `1.09 d r^2 / (2 rho m^2)`. `r` holds four fifths of the points, and of the rounds after rings, the first works at a larger one. The weaker the signal,
    /// the more rounds that takes, as measured.
    ///
    /// On 99 kinds of such sets (6 to 60 of each, other ones than it was fitted to, 1 to 100 dimensions, 1 to 64 clusters, `epsilon` .1 to 1, boxes up to 100 times
    /// too wide) 85 had a forecast. Where the usual excess, that of half of the releases, was above .005, it was .54 to 1.7 times what was forecast, and 2.2 times where
    /// clusters are a hundred deviations apart and more in fifty dimensions at `epsilon` .1. On some of these one of twenty to forty releases lost a cluster all the
    /// same: near the number of records from which on there is a forecast, and of small sets on a line or a plane.
    ///
    /// It never grows with the budget or with the number of records. Where the choices change, the formula says up to three fifths more for a larger
    /// budget than for one just below; what is forecast then is the less of both, which is within the factor of two that a forecast is good for.
    pub fn forecast(&self) -> Option<f64> {
        (!self.asked.settings.finds_k).then(|| self.asked.forecast(self.whole))?
    }

    /// Whether nothing is to be expected: the noise in a cluster's sum is about as long as the sum. Below that and where
    /// [`forecast`](Self::forecast) is finite, some clusters are found. `false` without a number of records.
    pub fn is_hopeless(&self) -> bool {
        self.asked.is_hopeless(self.whole)
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
        let steps = match &self.count {
            None => self.ways.iter().flat_map(Way::spent).collect(),
            Some(count) => {
                let way =
                    |(number, way): (usize, &Way)| Step::sequential(self.name(number), way.spent());
                let ways = self.ways.iter().enumerate().map(way).collect();
                vec![Step::spend(COUNT, count.loss()), Step::one_of(WAYS, ways)]
            }
        };
        let spent = Step::sequential("all steps", steps);
        Receipt::new("private-kmeans", AddRemove, self.asked.budget, spent)
    }

    fn shape(points: &PointsView<'_>) -> usize {
        points.dim()
    }

    /// # Errors
    /// [`ClusterError::Dimension`] if the points do not have the dimension of the public box.
    fn check(&self, &dim: &usize) -> Result<(), ClusterError> {
        self.ways[0].check(dim)
    }

    fn run(&self, points: Private<PointsView<'_>>, draws: &mut Draws<'_>) -> Clustering {
        in_memory(points, self.first(), |state, counted| self.answer(state, counted, draws))
    }
}

impl PrivateKMeans {
    /// Which way is gone for so many records.
    pub(super) fn way_for(&self, records: i64) -> usize {
        let is_enough = |way: &&Way| i64::try_from(way.least).is_ok_and(|least| least <= records);
        self.ways.iter().skip(1).take_while(is_enough).count()
    }

    /// The name of a way in a receipt.
    fn name(&self, way: usize) -> String {
        match way {
            0 => format!("fewer than {} records", self.ways[1].least),
            _ => format!("{} records and more", self.ways[way].least),
        }
    }
}

/// Where a release stands between two questions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KMeansState(Stand);

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Stand {
    /// Before the count that decides on the way. What is asked is what all searches for a box ask first; a way without one leaves the answer but for
    /// the number of rows.
    Counting(BoxState),
    In {
        way: usize,
        at: At,
    },
}

/// Up to seven passes for the box and two for each ring round or one for a map, after which a second start may take up to seven, and two for each
/// round; where so few are counted that it looks for no clusters, one pass, up to six for the part of the box that all are in, and two for each round.
impl ByPasses for PrivateKMeans {
    type Question = Question;
    type State = KMeansState;

    fn identity(&self) -> impl Serialize {
        &self.asked
    }

    fn shape_of(&self, question: &Question, _: u64) -> usize {
        question.dim()
    }

    fn fits(
        &self,
        KMeansState(stand): &KMeansState,
        question: &Question,
    ) -> Result<(), TableError> {
        let public_box = &self.asked.public_box;
        let counts_first = self.count.is_some();
        match stand {
            Stand::Counting(state) => {
                is_there("the number of records", counts_first && state.is_first())?;
                BoxSearch::fits(public_box, state, question)
            }
            Stand::In { way, at } => {
                let is_first = matches!(at, At::Box(state) if state.is_first());
                is_there("the number of records", !(counts_first && is_first))?;
                let way = self.ways.get(*way);
                is_there("the way of the plan", way.is_some())?;
                way.map_or(Ok(()), |way| way.fits(public_box, at, question))
            }
        }
    }

    fn first(&self) -> (KMeansState, Question) {
        let public_box = &self.asked.public_box;
        if self.count.is_some() {
            let (state, question) = BoxSearch::first(public_box);
            return (KMeansState(Stand::Counting(state)), question);
        }
        let (at, question) = self.ways[0].first(public_box);
        (KMeansState(Stand::In { way: 0, at }), question)
    }

    fn answer(
        &self,
        KMeansState(stand): KMeansState,
        counted: &Counted,
        draws: &mut Draws<'_>,
    ) -> Next<KMeansState, Question, Clustering> {
        let asked = &self.asked;
        let (number, next) = match (stand, &self.count) {
            (Stand::Counting(state), Some(count)) => {
                let records = count.release(counted.rows, &mut draws.leaf(COUNT, 0));
                let number = self.way_for(records);
                let way = &self.ways[number];
                if way.searches() {
                    let draws = &mut draws.within(&self.name(number));
                    (number, way.answer(asked, At::Box(state), counted, draws))
                } else {
                    let (at, question) = way.first(&asked.public_box);
                    (number, Next::Ask(at, question))
                }
            }
            (Stand::In { way, at }, Some(_)) => {
                let draws = &mut draws.within(&self.name(way));
                (way, self.ways[way].answer(asked, at, counted, draws))
            }
            (Stand::In { way, at }, None) => {
                (way, self.ways[way].answer(asked, at, counted, draws))
            }
            (Stand::Counting(_), None) => unreachable!("a state is bound to its plan"),
        };
        match next {
            Next::Ask(at, question) => {
                Next::Ask(KMeansState(Stand::In { way: number, at }), question)
            }
            Next::Done(clustering) => Next::Done(clustering),
        }
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

//! All rounds in a row, on any private centres.

use dp_accounting::{Mu, Step};
use dp_geometry::{Points, PointsView, PublicBox};
use dp_mechanism::{Draws, Private};

use super::Rounds;
use super::centres::Centres;
use super::merge::Until;
use super::radius::{radii, target};
use super::round::Round;
use super::sums::{COUNTS, exact_sums};
use crate::kmeans::KMeans;
use crate::located::Located;
use crate::{ClusterError, Clustering};

/// A checked and calibrated sequence of rounds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Recentring {
    public_box: PublicBox,
    settings: Rounds,
    clusters: Option<usize>,
    rounds: Vec<Round>,
    radii: Vec<f64>,
}

/// Where to start: released centres and counts.
pub(crate) struct Start {
    pub(crate) centres: Points,
    pub(crate) counts: Vec<i64>,
    pub(crate) labels: Labels,
}

/// Which centre each point is at to begin with: a function of the point and of released values.
pub(crate) enum Labels {
    /// The nearest.
    Nearest,
    /// The nearest, about which there is a hint.
    Hints(Private<Vec<u32>>),
    /// These in the first round, and then the nearest.
    Given(Private<Vec<u32>>),
}

/// The step of the receipt that pays for all rounds.
const STEP: &str = "re-centring";
/// Without a given number of clusters, centres closer than this many radii are one.
const TOGETHER: f64 = 1.0;
/// A count below this many standard deviations of its noise could be nothing.
const NOTHING: f64 = 2.0;
/// The step between two centres that come of one, in radii: small, so that only its direction counts.
const SPLIT_STEP: f64 = 0.1;

impl Recentring {
    /// Rounds that cost these: all of their noise is Gaussian.
    pub(crate) fn new(
        public_box: PublicBox,
        settings: Rounds,
        clusters: Option<usize>,
        [radii_mu, sums_mu]: [Mu; 2],
    ) -> Result<Self, ClusterError> {
        settings.check()?;
        let sums = sums_mu.split(&settings.shares)?;
        let radius = radii_mu.split(&vec![1.0; sums.len()])?;
        let rounds = radius.into_iter().zip(sums).map(|(radius, sums)| Round::new(radius, sums));
        let rounds = rounds.collect::<Result<_, _>>()?;
        if let Some(got) = clusters.filter(|k| !(1..=KMeans::MAX_CLUSTERS).contains(k)) {
            return Err(ClusterError::ClusterCount { got });
        }
        let diagonal = public_box.diagonal();
        if !(1e-100..=1e100).contains(&diagonal) {
            let (name, want) = ("diagonal of the public box", "between 1e-100 and 1e100");
            return Err(ClusterError::Setting { name, got: diagonal, want });
        }
        let radii = radii(&public_box);
        Ok(Self { public_box, settings, clusters, rounds, radii })
    }

    /// The same rounds in another box.
    pub(crate) fn in_box(&self, public_box: PublicBox) -> Self {
        Self { radii: radii(&public_box), public_box, ..self.clone() }
    }

    pub(super) fn rounds(&self) -> usize {
        self.rounds.len()
    }

    /// The itemised cost.
    pub(crate) fn spent(&self) -> Step {
        let rounds = self.rounds.iter().zip(1..).map(|(round, number)| round.spent(number));
        Step::sequential(STEP, rounds.collect())
    }

    /// Shapes only.
    pub(crate) fn check(&self, dim: usize) -> Result<(), ClusterError> {
        ClusterError::unless_equal(self.public_box.dim(), dim)
    }

    pub(crate) fn run(
        &self,
        points: Private<PointsView<'_>>,
        start: Start,
        draws: &mut Draws<'_>,
    ) -> Clustering {
        self.settle(points, start, draws).release()
    }

    /// The same with all that the rounds have learnt.
    pub(crate) fn settle(
        &self,
        points: Private<PointsView<'_>>,
        start: Start,
        draws: &mut Draws<'_>,
    ) -> Centres {
        let mut centres = Centres::new(&start, &self.public_box);
        let counts = centres.standings.iter().map(|one| one.count);
        let target = target(self.settings.quantile, counts);
        let mut search = !matches!(start.labels, Labels::Given(_));
        let labels = match start.labels {
            Labels::Nearest => points.map(|points| vec![0; points.len()]),
            Labels::Hints(labels) | Labels::Given(labels) => labels,
        };
        let mut located = points.zip(labels).map(|(points, labels)| Located::at(points, labels));
        let draws = &mut draws.within(STEP);
        let width = self.public_box.dim() + COUNTS;
        let mut radius = 0.0;
        for (t, round) in self.rounds.iter().enumerate() {
            if self.settings.may_split_before(t) {
                let wanted = self.clusters.unwrap_or(0);
                centres.split(wanted, SPLIT_STEP * radius, t, &self.public_box);
            }
            located.update(|located| located.update(&self.public_box, centres.view(), search));
            search = true;
            radius = round.choose_radius(t, &self.radii, &located, target, draws);
            centres.set_radii(round, radius);
            let vectors =
                located.as_ref().map(|located| exact_sums(located, &self.public_box, &centres));
            let vectors = vectors.cells(centres.len() * width);
            let vectors = round.noisy_sums(t, &vectors, width, draws);
            centres.update(round, self.settings.quantile, &vectors, &self.public_box);
            if self.settings.merge_after(t) {
                let least = NOTHING * round.count_noise();
                let moved = centres.drop_below(least, self.clusters.unwrap_or(1));
                located.update(|located| located.renumber(&moved));
                let apart = Until::Apart(TOGETHER * radius);
                let moved = centres.merge(self.clusters.map_or(apart, Until::Clusters));
                located.update(|located| located.renumber(&moved));
            }
        }
        centres
    }
}

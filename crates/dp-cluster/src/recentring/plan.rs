//! All rounds in a row, on any private centres.

use dp_accounting::{Mu, Step};
use dp_geometry::{Points, PointsView, PublicBox};
use dp_mechanism::passes::{Counted, Next, StateError, TableError};
use dp_mechanism::{Draws, Private};
use serde::{Deserialize, Serialize};

use super::Rounds;
use super::centres::Centres;
use super::merge::Until;
use super::questions::{Hint, Labels, Radii, Sums};
use super::radius::{few_within, radii, target};
use super::round::Round;
use super::sums::COUNTS;
use crate::dpm::Path;
use crate::kmeans::KMeans;
use crate::passes::{Question, asks, in_memory};
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
    /// A released tree with a leaf for every centre: in the first round a point belongs to that of its leaf, without a tree to the nearest.
    pub(crate) tree: Option<Path>,
    /// How far most records are from the centres, at most, as far as is known.
    pub(crate) reach: Option<f64>,
    /// How far centres may be from where they belong, at most, if that is known without any record: noise of that length and more moves them less.
    pub(crate) within: Option<f64>,
    /// Squared length of the noise in the place of each centre, as far as is known.
    pub(crate) noise: Option<Vec<f64>>,
    /// After ring rounds: the centre that records of each cell are likely to be nearest to.
    pub(crate) of_cells: Hint,
}

impl Start {
    /// At these centres, of which nothing else is known.
    pub(crate) fn at(centres: Points, counts: Vec<i64>) -> Self {
        Self {
            centres,
            counts,
            tree: None,
            reach: None,
            within: None,
            noise: None,
            of_cells: Hint(None),
        }
    }
}

/// The step of the receipt that pays for all rounds.
const STEP: &str = "re-centring";
/// Without a given number of clusters, centres closer than this many radii are one.
const TOGETHER: f64 = 1.0;
/// A count below this many standard deviations of its noise could be nothing.
const NOTHING: f64 = 2.0;
/// If the noise in a count within a radius is above this share of all points, a search among all radii ends anywhere.
const FAINT: f64 = 0.1;
/// Then no later radius is above so many times an earlier one, as centres get better.
const WIDER: f64 = 2.0;
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
        let radii = radii(diagonal);
        Ok(Self { public_box, settings, clusters, rounds, radii })
    }

    /// The same rounds in another box. The radius for all centres is this one at most; one of which more noise is known may have a longer one.
    pub(crate) fn in_box(&self, public_box: PublicBox, longest: f64) -> Self {
        Self { radii: radii(longest), public_box, ..self.clone() }
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
        let answer = |state, counted: &Counted| self.answer(state, counted, draws);
        in_memory(points, self.first(start), answer).release()
    }

    /// What is asked first: how far the records are from where it starts.
    pub(crate) fn first(&self, start: Start) -> (RoundState, Question) {
        let mut centres = Centres::new(&start, &self.public_box);
        let counts = centres.standings.iter().map(|one| one.count);
        let target = target(self.settings.quantile, counts);
        let all = target as f64 / self.settings.quantile;
        let is_faint = self.rounds.iter().any(|round| round.radius_noise() > FAINT * all);
        let Start { tree, reach, within, of_cells, .. } = start;
        let reach = reach.filter(|_| is_faint);
        if let Some(within) = within.or(reach) {
            centres.are_within(within);
        }
        let state = RoundState {
            number: 0,
            centres,
            target,
            tree,
            moved: None,
            radius: None,
            reach,
            last: None,
        };
        let labels = Labels { of_cells, ..self.labels(&state) };
        let question = Question::radii(Radii { labels, radii: self.radii.clone() });
        (state, question)
    }

    /// Draws on what was counted.
    pub(crate) fn answer(
        &self,
        mut state: RoundState,
        counted: &Counted,
        draws: &mut Draws<'_>,
    ) -> Next<RoundState, Question, Centres> {
        let draws = &mut draws.within(STEP);
        let number = state.number;
        let Some(round) = self.rounds.get(number) else { return Next::Done(state.centres) };
        let centres = &mut state.centres;
        let Some(radius) = state.radius.take() else {
            let among = match state.reach {
                Some(reach) => few_within(&self.radii, reach),
                None => (0..self.radii.len()).collect(),
            };
            let among = (&*self.radii, &*among);
            let chosen = round.choose_radius(number, among, counted, state.target, draws);
            // Centres get better, and noise in the search may end anywhere.
            let radius = state.last.map_or(chosen, |last| last.min(chosen));
            state.reach = state.reach.map(|reach| reach.min(WIDER * radius));
            centres.set_radii(round, radius, self.public_box.diagonal());
            state.radius = Some(radius);
            let question = self.question(&state);
            return Next::Ask(state, question);
        };
        let width = self.public_box.dim() + COUNTS;
        let before = centres.len();
        let vectors = round.noisy_sums(number, counted, width, draws);
        centres.update(round, self.settings.quantile, &vectors, &self.public_box);
        state.moved = self.settings.merge_after(number).then(|| {
            let least = NOTHING * round.count_noise();
            let moved = centres.drop_below(least, self.clusters.unwrap_or(1));
            let apart = Until::Apart(TOGETHER * radius);
            let joined = centres.merge(self.clusters.map_or(apart, Until::Clusters));
            moved.iter().map(|&place| joined[place as usize]).collect()
        });
        if state.reach.is_some() {
            // The start's counts are no better than what these centres have counted.
            let counts = state.centres.standings.iter().map(|one| one.count);
            state.target = target(self.settings.quantile, counts);
        }
        state.number += 1;
        state.tree = None;
        if state.number == self.rounds.len() {
            return Next::Done(state.centres);
        }
        if self.settings.may_split_before(state.number) {
            let wanted = self.clusters.unwrap_or(0);
            let step = SPLIT_STEP * radius;
            state.centres.split(wanted, step, state.number, &self.public_box);
        }
        // Of as many centres as before, most are where they were.
        state.last = (state.centres.len() == before).then_some(radius);
        let question = self.radii(&state);
        Next::Ask(state, question)
    }

    /// That a run can have got here, and asks this.
    pub(crate) fn fits(&self, state: &RoundState, question: &Question) -> Result<(), TableError> {
        let last = self.rounds.len() as f64 - 1.0;
        StateError::unless_within("number of the round", state.number as f64, [0.0, last])?;
        state.centres.fits(&self.public_box)?;
        let lengths = [0.0, self.public_box.diagonal()];
        StateError::unless_all_within("radius", state.radius, lengths)?;
        let chosen_from = [self.radii[0], self.radii[self.radii.len() - 1]];
        StateError::unless_all_within("radius of the round before", state.last, chosen_from)?;
        if state.radius.is_some() {
            state.centres.have_radii()?;
        }
        StateError::unless_all_within("reach", state.reach, [0.0, f64::INFINITY])?;
        asks(question, &self.question(state))
    }

    /// What is asked in this state.
    fn question(&self, state: &RoundState) -> Question {
        if state.radius.is_none() {
            return self.radii(state);
        }
        let (clip, far) = state.centres.asked();
        Question::sums(Sums { labels: self.labels(state), clip, far })
    }

    fn radii(&self, state: &RoundState) -> Question {
        Question::radii(Radii { labels: self.labels(state), radii: self.radii.clone() })
    }

    fn labels(&self, state: &RoundState) -> Labels {
        Labels {
            public_box: self.public_box.clone(),
            centres: state.centres.coords.clone(),
            tree: state.tree.clone(),
            moved: state.moved.clone(),
            of_cells: Hint(None),
        }
    }
}

/// What rounds have learnt between two questions: released values only.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RoundState {
    /// Of the round, from 0.
    number: usize,
    centres: Centres,
    /// How many points the radius aims at.
    target: i64,
    /// In the first round, the tree that says which centre a record belongs to.
    tree: Option<Path>,
    /// Where each centre of the last round is now, if they moved.
    moved: Option<Vec<u32>>,
    /// Once it is chosen, while the sums of the round are counted.
    radius: Option<f64>,
    /// The longest radius to choose from, where noise is too large for a search among all.
    #[serde(default)]
    reach: Option<f64>,
    /// The radius of the round before, if that had as many centres.
    #[serde(default)]
    last: Option<f64>,
}

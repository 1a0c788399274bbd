//! All ring rounds in a row.

use std::iter;

use dp_accounting::{Mu, Step};
use dp_geometry::lsh::normal_directions;
use dp_geometry::{Points, PublicBox};
use dp_mechanism::passes::{Counted, Next, StateError, TableError};
use dp_mechanism::{Draws, NoisyCount, Private};
use serde::{Deserialize, Serialize};

use super::cells::{Layout, MOST_CELLS, RingCells, ring_radii};
use super::groups::Groups;
use super::round::RingRound;
use super::seen::Seen;
use super::{RingRounds, RingRoundsSettings};
use crate::clustering::{inside, labelled_weights, records};
use crate::coreset::PrivateCoreset;
use crate::in_pool;
use crate::kmeans::{KMeans, KMeansSettings};
use crate::nearest::assign;
use crate::passes::{LARGEST, Question, are_in, asks, is_there};
use crate::public_coins::{Purpose, public_generator};
use crate::recentring::{Hint, Labels};
use crate::sized_sum::NO_GROUP;
use crate::{ClusterError, Clustering};

/// The step of the receipt that pays for all rounds.
const STEP: &str = "ring rounds";
/// And for the number of records, before them.
const TOTAL: &str = "number of records";
/// What that gets of the budget.
const TOTAL_SHARE: f64 = 0.01;
/// A solver draws no more words than a generator has.
const MOST_WORDS: f64 = (1_u64 << 63) as f64;

/// A mean's noise is at most this part of its radius on each side, or there are fewer planes.
const RADIUS_OVER_NOISE: f64 = 3.0;
/// A cell holds this many standard deviations of a count's noise, or there are fewer planes.
const COUNT_OVER_NOISE: f64 = 4.5;
/// A centre with fewer records than this many times the need of one cell gets no extra planes.
const ENOUGH_FOR_MORE: f64 = 1.5;

/// But a plane cuts a centre whose halves hold this many standard deviations of a count's noise: one cluster would still be seen on either side.
const HALF_OVER_NOISE: f64 = 6.0;

/// Noise in cells may hide so many times the records that it does not, at most.
const MOST_UNGROUPED: f64 = 1.0;

/// A centre with more records than so many usual ones may stand for two clusters, which one plane through it leaves together in every third case or so,
const HEAVY: f64 = 1.7;
/// and so many in every tenth. More of them cut single clusters into cells that noise hides: measured,
const HEAVY_PLANES: usize = 2;
/// and so it was for fewer clusters.
const SOME_CLUSTERS: usize = 16;

/// A checked and calibrated sequence of ring rounds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RingPlan {
    public_box: PublicBox,
    /// The box that nearly all records are in, as far as is known.
    part: PublicBox,
    k: usize,
    settings: RingRoundsSettings,
    /// None if about how many records there are is known before the first round.
    total: Option<NoisyCount>,
    /// Whether the first round looks around centres that are known, and not around the middle of the box.
    at_centres: bool,
    rounds: Vec<RingRound>,
    /// For twice as many centres as wanted, and for as many as wanted.
    solvers: [KMeans; 2],
}

/// Centres between rounds, with their noisy counts: released values.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Centres {
    points: Points,
    counts: Vec<f64>,
}

/// What rounds have found out between two questions: released values only.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RingState {
    /// Of the round, from 0.
    number: usize,
    /// Noisy number of all records.
    total: i64,
    centres: Centres,
    /// While their sums are asked for.
    groups: Option<Groups>,
    /// How far most records are from the centres, at most.
    reach: f64,
    /// And from each other: by what is known of the box, and what the first round has seen.
    apart: f64,
    /// How much of the solver's public randomness is used.
    solver_words: u128,
    /// Of rounds around one centre so far, if no cell had records for sure, so that it stayed where it is.
    unseen: Option<Unseen>,
}

/// The last so many rounds together: of each cell, the mean of its noisy counts by precision.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Unseen {
    rounds: usize,
    counts: Vec<f64>,
}

/// What all rounds have found: released values only.
pub(crate) struct Found {
    pub(crate) clustering: Clustering,
    /// The centre that records of each cell of the last round are likely to be nearest to.
    pub(crate) of_cells: Hint,
    /// How far most records are from these centres, at most.
    pub(crate) reach: f64,
    /// Squared length of the noise in the place of each centre, as expected; infinite where that is not known.
    pub(crate) noise: Vec<f64>,
    /// What the groups of the last round say.
    pub(crate) seen: Seen,
}

impl RingPlan {
    /// A plan that costs `mu`.
    pub(crate) fn new(
        public_box: PublicBox,
        k: usize,
        settings: RingRoundsSettings,
        mu: Mu,
    ) -> Result<Self, ClusterError> {
        let parts = mu.split(&[TOTAL_SHARE, 1.0 - TOTAL_SHARE])?;
        let plan = Self::around_the_middle(public_box, k, settings, parts[1])?;
        Ok(Self { total: Some(NoisyCount::rounded(parts[0])?), ..plan })
    }

    /// One that costs `mu`, where about how many records there are is known.
    pub(crate) fn around_the_middle(
        public_box: PublicBox,
        k: usize,
        settings: RingRoundsSettings,
        mu: Mu,
    ) -> Result<Self, ClusterError> {
        let plan = Self::around_centres(public_box, k, settings, mu)?;
        Ok(Self { at_centres: false, ..plan })
    }

    /// One that costs `mu` and begins at centres which are known, with about how many records are at each.
    pub(crate) fn around_centres(
        public_box: PublicBox,
        k: usize,
        settings: RingRoundsSettings,
        mu: Mu,
    ) -> Result<Self, ClusterError> {
        let RingRoundsSettings { rounds, growth, count_weight, most_planes, .. } = settings;
        let dim = public_box.dim();
        let count_weight = count_weight.unwrap_or_else(|| usual_count_weight(dim));
        let refuse = |name, got, want| Err(ClusterError::Setting { name, got, want });
        if !(1..=KMeans::MAX_CLUSTERS).contains(&k) {
            return Err(ClusterError::ClusterCount { got: k });
        }
        if !(1..=RingRounds::MAX_ROUNDS).contains(&rounds) {
            return refuse("rounds", rounds as f64, "between 1 and 20");
        }
        if !(1.0..=2.0).contains(&growth) {
            return refuse("growth", growth, "between 1 and 2");
        }
        if !(0.01..=100.0).contains(&count_weight) {
            return refuse("count_weight", count_weight, "between 0.01 and 100");
        }
        if most_planes > RingRounds::MAX_PLANES {
            return refuse("most_planes", most_planes as f64, "at most 10");
        }
        let diagonal = public_box.diagonal();
        let far = crate::kmeans::farthest(&public_box);
        if far > crate::kmeans::MAX_MAGNITUDE || diagonal < 1.0 / crate::kmeans::MAX_MAGNITUDE {
            let want = "at most 1e75, with a diagonal of at least 1e-75";
            return refuse("the public box's extent", far, want);
        }
        let parts = mu.split(&shares(rounds, growth))?.into_iter();
        let rounds = parts.map(|mu| RingRound::new(mu, count_weight)).collect::<Result<_, _>>()?;
        let solvers = [solver((2 * k).min(KMeans::MAX_CLUSTERS), k)?, solver(k, k)?];
        let (part, at_centres) = (public_box.clone(), true);
        Ok(Self { public_box, part, k, settings, total: None, at_centres, rounds, solvers })
    }

    /// The same rounds where nearly all records are in this part of the box.
    pub(crate) fn finer_in(&self, part: PublicBox) -> Self {
        Self { part, ..self.clone() }
    }

    /// Shapes only.
    pub(crate) fn check(&self, dim: usize) -> Result<(), ClusterError> {
        ClusterError::unless_equal(self.public_box.dim(), dim)
    }

    /// The itemised cost.
    pub(crate) fn spent(&self) -> Step {
        let rounds = self.rounds.iter().zip(1..).map(|(round, number)| round.spent(number));
        let total = self.total.iter().map(|total| Step::spend(TOTAL, total.loss()));
        Step::sequential(STEP, total.chain(rounds).collect())
    }

    /// Of a cell's count in the last round, in records.
    pub(crate) fn count_standard_deviation(&self) -> f64 {
        self.rounds.last().expect("one round at least").count_noise()
    }

    pub(crate) fn public_box(&self) -> &PublicBox {
        &self.public_box
    }

    /// For how many clusters.
    pub(crate) fn k(&self) -> usize {
        self.k
    }

    /// Draws the number of records, and what is asked first.
    pub(crate) fn first(&self, rows: Private<u64>, draws: &mut Draws<'_>) -> (RingState, Question) {
        let total = self.total.as_ref().expect("the number is not known");
        self.first_of(total.release(rows, &mut draws.within(STEP).leaf(TOTAL, 0)))
    }

    /// What is asked first of about so many records.
    pub(crate) fn first_of(&self, total: i64) -> (RingState, Question) {
        let (part, dim) = (&self.part, self.part.dim());
        let middle = (0..dim).map(|i| part.middle(i)).collect();
        let points = Points::new(middle, dim).expect("one row");
        self.begin(total, Centres { points, counts: vec![total.max(0) as f64] })
    }

    /// What is asked first around centres that are known, at most as many as wanted.
    pub(crate) fn first_at(&self, points: Points, counts: &[i64]) -> (RingState, Question) {
        let total = counts.iter().fold(0, |sum: i64, &count| sum.saturating_add(count));
        // A centre may have records, also if noise says that it has none.
        let counts = counts.iter().map(|&count| (count as f64).max(0.5)).collect();
        self.begin(total, Centres { points, counts })
    }

    fn begin(&self, total: i64, centres: Centres) -> (RingState, Question) {
        let part = &self.part;
        let reach = 0.5 * part.diagonal();
        let apart = part.diagonal();
        let state = RingState {
            number: 0,
            total,
            centres,
            groups: None,
            reach,
            apart,
            solver_words: 0,
            unseen: None,
        };
        let question = Question::ring_cells(self.cells(&state, Hint(None)));
        (state, question)
    }

    /// That a run can have got here, and asks this.
    pub(crate) fn fits(&self, state: &RingState, question: &Question) -> Result<(), TableError> {
        let within = StateError::unless_within;
        let (public_box, Centres { points, counts }) = (&self.public_box, &state.centres);
        within("number of the round", state.number as f64, [0.0, self.rounds.len() as f64 - 1.0])?;
        within("number of centres", points.len() as f64, [1.0, self.solvers[0].k() as f64])?;
        StateError::unless_equal("dimension of the centres", points.dim(), public_box.dim())?;
        StateError::unless_equal("number of counts", counts.len(), points.len())?;
        are_in(points.view().coords(), public_box)?;
        StateError::unless_all_within("count of a centre", counts.iter().copied(), [0.0, LARGEST])?;
        // Several centres are those of groups, each of which has a record.
        let least = if points.len() > 1 { 0.5 } else { 0.0 };
        within("number of records of all centres", counts.iter().sum(), [least, f64::MAX])?;
        within("reach", state.reach, [0.0, public_box.diagonal()])?;
        within("how far records are apart", state.apart, [0.0, self.part.diagonal()])?;
        #[allow(clippy::cast_precision_loss, reason = "a number of words, far below the limit")]
        within("words of the solver", state.solver_words as f64, [0.0, MOST_WORDS])?;
        let cells = self.cells(state, Hint(None));
        if let Some(Unseen { rounds, counts }) = &state.unseen {
            is_there("rounds that saw nothing", self.k == 1 && state.groups.is_none())?;
            within("rounds that saw nothing", *rounds as f64, [1.0, state.number as f64])?;
            StateError::unless_equal("number of cells", counts.len(), cells.entries())?;
            let counts = counts.iter().copied();
            StateError::unless_all_within("count of a cell", counts, [-LARGEST, LARGEST])?;
        }
        let Some(groups) = &state.groups else {
            return asks(question, &Question::ring_cells(cells));
        };
        let layout = cells.layout().ok_or(TableError::NoTable)?;
        groups.fits(&layout)?;
        let round = &self.rounds[state.number];
        asks(question, &Question::group_sums(groups.sums(cells, &layout, round)))
    }

    /// Draws on what was counted.
    pub(crate) fn answer(
        &self,
        mut state: RingState,
        counted: &Counted,
        draws: &mut Draws<'_>,
    ) -> Next<RingState, Question, Found> {
        let draws = &mut draws.within(STEP);
        let (public_box, t) = (&self.public_box, state.number);
        let round = &self.rounds[t];
        let asked = self.cells(&state, Hint(None));
        let layout = asked.layout().expect("cells of this plan");
        let Some(groups) = state.groups.take() else {
            let counts = round.noisy_counts(t, &counted.entries, draws);
            let counts = counts.into_iter().map(|count| count as f64).collect();
            let (unseen, noise) = self.with_those_before(state.unseen.take(), counts, t);
            let alone = self.k == 1;
            let groups = Groups::new(&layout, &unseen.counts, noise, alone, state.apart);
            if groups.all.is_empty() {
                state.unseen = alone.then_some(unseen);
                return self.nothing_seen(state, &layout);
            }
            let sums = groups.sums(asked, &layout, round);
            state.groups = Some(groups);
            return Next::Ask(state, Question::group_sums(sums));
        };
        let sums = round.noisy_sums(t, &counted.entries, public_box.dim(), draws);
        let (mut means, variances) = groups.means(&layout, &sums, round, public_box);
        state.reach = if self.k == 1 {
            groups.reach_alone(&layout, round.count_noise())
        } else {
            groups.reach(&layout)
        };
        if t == 0 && !self.at_centres {
            // All are around one centre.
            let farthest = groups.farthest(&layout, round.count_noise());
            state.apart = farthest.map_or(state.apart, |radius| state.apart.min(2.0 * radius));
        }
        let mut weights: Vec<f64> = groups.all.iter().map(|group| group.count).collect();
        let before = &state.centres.counts;
        let stay = if t == 0 && self.at_centres {
            // Noise hides their records, or they are spread thinly.
            let unseen = groups.unseen(before.len(), layout.rings() - 1).into_iter();
            unseen.map(|centre| (centre, before[centre])).collect()
        } else if t > 0 && self.k >= SOME_CLUSTERS {
            groups.hidden(&layout, before, round.count_noise())
        } else {
            // In the middle of the box nothing has been seen yet, and of few clusters noise hides one as seldom as it makes one: measured.
            vec![]
        };
        for (centre, count) in stay {
            means.extend_from_slice(layout.centre(centre));
            weights.push(count);
        }
        let means = Points::new(means, public_box.dim()).expect("whole rows");
        let weighted = PrivateCoreset::released(means, weights);
        let (mut next, of_groups) = self.solve(&weighted, &mut state);
        let (of, at) = ((&groups, &layout), (&weighted, &*variances));
        let mut seen = Seen::default();
        if self.is_last(t) {
            let public = (public_box, self.settings.public_seed);
            seen = Seen::new(of, at, (&next.points, &of_groups), round.count_noise(), public);
            // Records in no group are near some centre too.
            let grouped: f64 = next.counts.iter().sum();
            let missing = (state.total as f64 - grouped).clamp(0.0, MOST_UNGROUPED * grouped);
            let noise = round.count_noise();
            groups.add_missing(&layout, (missing, noise), &of_groups, &mut next.counts);
        }
        // A record is likely to be where the mean of its group is, or the centre that it was at.
        let moved = assign(state.centres.points.view(), next.points.view()).labels;
        let of_cells = of_cells(&layout, &moved, |cell| match groups.of_cell[cell] {
            NO_GROUP => None,
            group => Some(of_groups[group as usize]),
        });
        state.centres = next;
        self.next(state, of_cells, seen)
    }

    /// Noisy counts of this round and those of the same cells from before, and the standard deviation of their noise.
    fn with_those_before(
        &self,
        before: Option<Unseen>,
        mut counts: Vec<f64>,
        t: usize,
    ) -> (Unseen, f64) {
        let precision = |round: &RingRound| round.count_noise().powi(-2);
        let here = precision(&self.rounds[t]);
        let Some(Unseen { rounds, counts: means }) = before else {
            return (Unseen { rounds: 1, counts }, self.rounds[t].count_noise());
        };
        let there: f64 = self.rounds[t - rounds..t].iter().map(precision).sum();
        for (count, mean) in counts.iter_mut().zip(means) {
            *count = (*count * here + mean * there) / (here + there);
        }
        (Unseen { rounds: rounds + 1, counts }, (here + there).sqrt().recip())
    }

    /// Nobody says who is where: the centres of the round before, in the end as many as wanted, and their shares.
    fn nothing_seen(
        &self,
        mut state: RingState,
        layout: &Layout,
    ) -> Next<RingState, Question, Found> {
        if !self.is_last(state.number) {
            return self.next(state, Hint(None), Seen::default());
        }
        let Centres { points, counts } = state.centres.clone();
        let before = PrivateCoreset::released(points, counts);
        let (mut fewer, moved) = self.solve(&before, &mut state);
        let grouped: f64 = fewer.counts.iter().sum();
        let all = (state.total as f64 / grouped).clamp(1.0, 1.0 + MOST_UNGROUPED);
        fewer.counts.iter_mut().for_each(|count| *count *= all);
        state.centres = fewer;
        self.next(state, of_cells(layout, &moved, |_| None), Seen::default())
    }

    /// The question of the next round, or what there is.
    fn next(
        &self,
        mut state: RingState,
        of_cells: Hint,
        seen: Seen,
    ) -> Next<RingState, Question, Found> {
        if self.is_last(state.number) {
            let RingState { centres: Centres { points, counts }, reach, .. } = state;
            let counts = counts.into_iter().map(records).collect();
            let clustering = Clustering::of(points, counts);
            let noise = seen.noise(clustering.counts.len());
            return Next::Done(Found { clustering, of_cells, reach, noise, seen });
        }
        state.number += 1;
        let question = Question::ring_cells(self.cells(&state, of_cells));
        Next::Ask(state, question)
    }

    fn is_last(&self, number: usize) -> bool {
        number + 1 == self.rounds.len()
    }

    /// The cells of a round; `of_cells` is a hint about those of the round before.
    fn cells(&self, state: &RingState, of_cells: Hint) -> RingCells {
        let RingRoundsSettings { most_planes, public_seed, .. } = self.settings;
        let dim = self.public_box.dim();
        let mut directions = public_generator(public_seed, Purpose::RingPlanes);
        let mut normals = Vec::new();
        for _ in 0..=state.number {
            normals = normal_directions(most_planes.max(1), dim, &mut directions);
        }
        let centres = state.centres.points.view().coords().to_vec();
        let labels = Labels { of_cells, ..Labels::nearest(self.public_box.clone(), centres) };
        let (nearly_all, planes) =
            (self.part.diagonal(), self.planes(&state.centres, state.number));
        RingCells { labels, nearly_all, normals, planes }
    }

    /// How many hyperplanes cut the rings of each centre: the more, the more records it has, and some extra in early rounds, whose cells
    /// need not be large.
    fn planes(&self, centres: &Centres, t: usize) -> Vec<usize> {
        let (round, dim) = (&self.rounds[t], self.public_box.dim() as f64);
        let need = (RADIUS_OVER_NOISE * dim.sqrt() * round.sum_noise())
            .max(COUNT_OVER_NOISE * round.count_noise());
        let extra = self.rounds.len() - t;
        // Planes tell clusters apart, of which there is one.
        let most_planes = if self.k == 1 { 0 } else { self.settings.most_planes };
        let mut sorted = centres.counts.clone();
        sorted.sort_by(f64::total_cmp);
        let heavy =
            if self.k < SOME_CLUSTERS { f64::INFINITY } else { HEAVY * sorted[sorted.len() / 2] };
        let of = |&count: &f64| {
            let cells = count / need;
            let more = if cells < ENOUGH_FOR_MORE { 0 } else { extra };
            // Clusters that no plane has told apart yet would stay together, however short the noise of their sums is.
            let apart = halvings(count / (HALF_OVER_NOISE * round.count_noise()));
            let least = if count > heavy { HEAVY_PLANES } else { 0 };
            (halvings(cells) + more).max(apart.min(extra)).max(least).min(most_planes)
        };
        let mut planes: Vec<usize> = centres.counts.iter().map(of).collect();
        // Fewer for all, where so many centres have so many records that there would be too many cells.
        let mut most = most_planes;
        let rings = ring_radii(self.part.diagonal(), &self.public_box).len();
        while most > 0 && planes.iter().map(|planes| rings << planes).sum::<usize>() > MOST_CELLS {
            most -= 1;
            for planes in &mut planes {
                *planes = most.min(*planes);
            }
        }
        planes
    }

    /// Weighted k-means on the groups' means, and which centre is nearest to each of these: post-processing with public randomness.
    fn solve(&self, means: &PrivateCoreset, state: &mut RingState) -> (Centres, Vec<u32>) {
        let solver = &self.solvers[usize::from(self.is_last(state.number))];
        if means.len() <= solver.k() {
            // Fewer groups than clusters: they are the centres.
            let counts = means.weights().to_vec();
            let labels = (0..).take(means.len()).collect();
            return (Centres { points: means.points().to_points(), counts }, labels);
        }
        let mut rng = public_generator(self.settings.public_seed, Purpose::RingSolver);
        rng.set_word_pos(state.solver_words);
        let fit = in_pool(|| solver.post_fit(means, &mut rng)).expect("released points are finite");
        state.solver_words = rng.get_word_pos();
        let points = inside(fit.centres, &self.public_box);
        let labels = assign(means.points(), points.view()).labels;
        let counts = labelled_weights(means, &labels, points.len());
        let counts = counts.into_iter().map(|count| count as f64).collect();
        (Centres { points, counts }, labels)
    }
}

/// Finds so many centres of all that was seen of `k` clusters.
pub(crate) fn solver(centres: usize, k: usize) -> Result<KMeans, ClusterError> {
    // Few swaps, since each costs a pass over groups and centres.
    let local_search_steps = (4 * k).min(200);
    KMeans::new(centres, KMeansSettings { restarts: 5, local_search_steps, ..Default::default() })
}

/// How often a number can be halved before it is below 1.
fn halvings(number: f64) -> usize {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 64")]
    let halvings = number.max(1.0).log2() as usize;
    halvings
}

/// What each round gets of the square of `mu`: so many times as much as the one before.
fn shares(rounds: usize, growth: f64) -> Vec<f64> {
    let parts: Vec<f64> =
        iter::successors(Some(1.0), |part| Some(part * growth)).take(rounds).collect();
    let all: f64 = parts.iter().sum();
    parts.into_iter().map(|part| part / all).collect()
}

/// The more dimensions, the longer is the noise of a sum, and of a count it is the same: measured.
pub(crate) fn usual_count_weight(dim: usize) -> f64 {
    match dim {
        ..=8 => 1.2,
        9..=20 => 0.8,
        _ => 0.8 * (20.0 / dim as f64).sqrt().sqrt(),
    }
}

/// The centre that records of each cell are likely to be nearest to: that of their group, or where their centre is now.
fn of_cells(layout: &Layout, moved: &[u32], of_group: impl Fn(usize) -> Option<u32>) -> Hint {
    let centres = layout.of_centres().zip(moved);
    let cells = centres.flat_map(|(cells, &moved)| cells.map(move |cell| (cell, moved)));
    Hint(Some(cells.map(|(cell, moved)| of_group(cell).unwrap_or(moved)).collect()))
}

#[cfg(test)]
mod tests {
    use super::super::cells::RINGS;
    use super::*;

    /// Many centres with many records each: one plane less for all, so that a table holds the cells of all of them.
    #[test]
    fn cells_of_many_centres_fit_into_a_table() {
        let public_box = PublicBox::cube(2, -1.0, 1.0).expect("valid");
        let settings = RingRoundsSettings::default();
        let mu = Mu::new(1.0).expect("valid");
        let plan = RingPlan::new(public_box, 5000, settings, mu).expect("valid");
        let planes = |number: usize| {
            let points = Points::new(vec![0.0; 2 * number], 2).expect("whole rows");
            plan.planes(&Centres { points, counts: vec![1e15; number] }, 0)
        };
        let most = settings.most_planes;
        assert_eq!(planes(10), [most; 10]);
        let fits = |planes: usize| 5000 * (RINGS << planes) <= MOST_CELLS;
        let fewer = planes(5000)[0];
        assert!(fewer < most && fits(fewer) && !fits(fewer + 1), "{fewer} of {most}");
        assert!(planes(5000).iter().all(|&planes| planes == fewer));
    }

    /// Rounds around one centre count together by the precision of each, and a state that says something else of them is none of a run.
    #[test]
    fn rounds_that_saw_nothing_count_with_the_next() {
        let public_box = PublicBox::cube(2, -1.0, 1.0).expect("valid");
        let settings = RingRoundsSettings { growth: 2.0, ..Default::default() };
        let plan = |k| {
            let mu = Mu::new(1.0).expect("valid");
            RingPlan::around_the_middle(public_box.clone(), k, settings, mu).expect("valid")
        };
        let one = plan(1);
        let noise: Vec<f64> = one.rounds.iter().map(RingRound::count_noise).collect();
        let (first, of_first) = one.with_those_before(None, vec![3.0], 0);
        assert_eq!((first.rounds, of_first.to_bits()), (1, noise[0].to_bits()));
        let (second, of_both) = one.with_those_before(Some(first), vec![6.0], 1);
        let (third, of_all) = one.with_those_before(Some(second), vec![-1.0], 2);
        // Each has twice the budget of the one before.
        assert!((third.counts[0] - (3.0 + 2.0 * 6.0 - 4.0) / 7.0).abs() < 0.1, "{third:?}");
        assert!((of_both / noise[0] - 3_f64.recip().sqrt()).abs() < 0.01, "{of_both}");
        assert!((of_all / noise[0] - 7_f64.recip().sqrt()).abs() < 0.01, "{of_all}");
        let fits = |plan: &RingPlan, number, unseen| {
            let state = RingState { number, unseen: Some(unseen), ..plan.first_of(100).0 };
            let question = Question::ring_cells(plan.cells(&state, Hint(None)));
            plan.fits(&state, &question).is_ok()
        };
        let of = |rounds, counts: f64| Unseen { rounds, counts: vec![counts; RINGS] };
        assert!(fits(&one, 2, of(1, 5.0)) && fits(&one, 2, of(2, -5.0)));
        assert!(!fits(&one, 0, of(1, 5.0)) && !fits(&one, 2, of(0, 5.0)));
        assert!(!fits(&one, 2, of(3, 5.0)) && !fits(&one, 2, of(1, f64::NAN)));
        assert!(!fits(&one, 2, of(1, f64::INFINITY)));
        assert!(!fits(&one, 2, Unseen { rounds: 1, counts: vec![5.0; RINGS - 1] }));
        let three = plan(3);
        let unseen = Unseen {
            rounds: 1,
            counts: vec![0.0; three.cells(&three.first_of(100).0, Hint(None)).entries()],
        };
        assert!(!fits(&three, 0, unseen));
    }

    /// In the last round: of a centre whose cells need many records, one plane if its halves would still be seen, and two if it has nearly twice the
    /// records of the usual one of many.
    #[test]
    fn planes_cut_centres_that_may_stand_for_two_clusters() {
        let public_box = PublicBox::cube(784, -1.0, 1.0).expect("valid");
        let planes = |k: usize, most_planes: usize, counts: Vec<f64>| {
            let settings = RingRoundsSettings { most_planes, ..Default::default() };
            let mu = Mu::new(1.0).expect("valid");
            let plan = RingPlan::new(public_box.clone(), k, settings, mu).expect("valid");
            let points = Points::new(vec![0.0; 784 * counts.len()], 784).expect("whole rows");
            plan.planes(&Centres { points, counts }, plan.rounds.len() - 1)
        };
        let settings = RingRoundsSettings::default();
        let round = &RingPlan::new(public_box.clone(), 3, settings, Mu::new(1.0).expect("valid"));
        let round = round.as_ref().expect("valid").rounds.last().expect("three");
        let need = RADIUS_OVER_NOISE * 784_f64.sqrt() * round.sum_noise();
        let halves = HALF_OVER_NOISE * round.count_noise();
        assert!(need > 4.0 * halves, "{need}, {halves}");
        assert_eq!(planes(3, 8, vec![1.9 * halves, 2.1 * halves, 0.99 * need]), [0, 1, 1]);
        let usual = |heavy: f64| [vec![1.0; 15], vec![heavy]].concat();
        let cut = |planes: usize| [vec![0; 15], vec![planes]].concat();
        assert_eq!(planes(16, 8, usual(1.8)), cut(2));
        assert_eq!(planes(16, 8, usual(1.6)), cut(0));
        assert_eq!(planes(16, 1, usual(1.8)), cut(1));
        assert_eq!(planes(16, 0, usual(1.8)), cut(0));
        assert_eq!(planes(15, 8, usual(1.8)), cut(0), "fewer clusters");
    }
}

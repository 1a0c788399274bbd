//! All ring rounds in a row.

use dp_accounting::{Mu, Step};
use dp_geometry::{Points, PointsView, PublicBox};
use dp_mechanism::{Draws, NoisyCount, Private};
use rand::rngs::ChaCha20Rng;

use super::cells::{Layout, RINGS, exact_counts, exact_sums, ring_radii};
use super::groups::Groups;
use super::round::RingRound;
use super::{RingRounds, RingRoundsSettings};
use crate::clustering::{labelled_weights, records};
use crate::coreset::PrivateCoreset;
use crate::kmeans::{KMeans, KMeansSettings};
use crate::located::Located;
use crate::public_coins::{Purpose, public_generator};
use crate::sized_sum::NO_GROUP;
use crate::{ClusterError, Clustering, nearest};
use dp_geometry::lsh::{SignProjections, normal_directions};

/// The step of the receipt that pays for all rounds.
const STEP: &str = "ring rounds";
/// And for the number of records, before them.
const TOTAL: &str = "number of records";
/// What that gets of the budget.
const TOTAL_SHARE: f64 = 0.01;

/// A mean's noise is at most this part of its radius on each side, or there are fewer planes.
const RADIUS_OVER_NOISE: f64 = 3.0;
/// A cell holds this many standard deviations of a count's noise, or there are fewer planes.
const COUNT_OVER_NOISE: f64 = 4.5;
/// A centre with fewer records than this many times the need of one cell gets no extra planes.
const ENOUGH_FOR_MORE: f64 = 1.5;

/// Noise in cells may hide so many times the records that it does not, at most.
const MOST_UNGROUPED: f64 = 1.0;

/// Most cells of a round, unless there are more centres than a 22nd of that: what has to fit memory.
const MOST_CELLS: usize = 1 << 24;

/// A checked and calibrated sequence of ring rounds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RingPlan {
    public_box: PublicBox,
    k: usize,
    settings: RingRoundsSettings,
    total: NoisyCount,
    rounds: Vec<RingRound>,
    radii: Vec<f64>,
    /// For twice as many centres as wanted, and for as many as wanted.
    solvers: [KMeans; 2],
}

/// Centres between rounds, with their noisy counts: released values.
struct Centres {
    points: Points,
    counts: Vec<f64>,
}

/// What all rounds have found.
pub(crate) struct Found {
    pub(crate) clustering: Clustering,
    /// The centre that each record is likely to be nearest to: a function of this record and of released values.
    pub(crate) near: Private<Vec<u32>>,
    /// How far most records are from these centres, at most: released values only.
    pub(crate) reach: f64,
}

impl RingPlan {
    /// A plan that costs `mu`.
    pub(crate) fn new(
        public_box: PublicBox,
        k: usize,
        settings: RingRoundsSettings,
        mu: Mu,
    ) -> Result<Self, ClusterError> {
        let RingRoundsSettings { rounds, count_weight, most_planes, .. } = settings;
        let dim = public_box.dim();
        let count_weight = count_weight.unwrap_or(if dim <= 8 { 1.2 } else { 0.8 });
        let refuse = |name, got, want| Err(ClusterError::Setting { name, got, want });
        if !(1..=KMeans::MAX_CLUSTERS).contains(&k) {
            return Err(ClusterError::ClusterCount { got: k });
        }
        if !(1..=RingRounds::MAX_ROUNDS).contains(&rounds) {
            return refuse("rounds", rounds as f64, "between 1 and 20");
        }
        if !(0.01..=100.0).contains(&count_weight) {
            return refuse("count_weight", count_weight, "between 0.01 and 100");
        }
        if most_planes > RingRounds::MAX_PLANES {
            return refuse("most_planes", most_planes as f64, "at most 10");
        }
        let diagonal = public_box.diagonal();
        let far = (0..dim).map(|i| public_box.min(i).abs().max(public_box.max(i).abs()));
        let far = far.fold(0.0, f64::max);
        if far > crate::kmeans::MAX_MAGNITUDE || diagonal < 1.0 / crate::kmeans::MAX_MAGNITUDE {
            let want = "at most 1e75, with a diagonal of at least 1e-75";
            return refuse("the public box's extent", far, want);
        }
        let each = (1.0 - TOTAL_SHARE) / rounds as f64;
        let shares = [vec![TOTAL_SHARE], vec![each; rounds]].concat();
        let parts = mu.split(&shares)?;
        let total = NoisyCount::rounded(parts[0])?;
        let rounds = parts[1..].iter().map(|&mu| RingRound::new(mu, count_weight));
        let rounds = rounds.collect::<Result<_, _>>()?;
        let radii = ring_radii(&public_box);
        // Few swaps, since each costs a pass over groups and centres.
        let solver = |wanted| {
            let local_search_steps = (4 * k).min(200);
            let settings = KMeansSettings { restarts: 5, local_search_steps, ..Default::default() };
            KMeans::new(wanted, settings)
        };
        let solvers = [solver((2 * k).min(KMeans::MAX_CLUSTERS))?, solver(k)?];
        Ok(Self { public_box, k, settings, total, rounds, radii, solvers })
    }

    /// The same rounds in another box.
    pub(crate) fn in_box(&self, public_box: PublicBox) -> Self {
        Self { radii: ring_radii(&public_box), public_box, ..self.clone() }
    }

    /// Shapes only.
    pub(crate) fn check(&self, dim: usize) -> Result<(), ClusterError> {
        ClusterError::unless_equal(self.public_box.dim(), dim)
    }

    /// The itemised cost.
    pub(crate) fn spent(&self) -> Step {
        let rounds = self.rounds.iter().zip(1..).map(|(round, number)| round.spent(number));
        let total = Step::spend(TOTAL, self.total.loss());
        Step::sequential(STEP, [total].into_iter().chain(rounds).collect())
    }

    /// Of a cell's count, in records.
    pub(crate) fn count_standard_deviation(&self) -> f64 {
        self.rounds[0].count_noise()
    }

    pub(crate) fn run(&self, points: Private<PointsView<'_>>, draws: &mut Draws<'_>) -> Clustering {
        self.locate(points, draws).clustering
    }

    /// The same, with what else the rounds have found.
    pub(crate) fn locate(&self, points: Private<PointsView<'_>>, draws: &mut Draws<'_>) -> Found {
        let draws = &mut draws.within(STEP);
        let RingRoundsSettings { most_planes, public_seed, .. } = self.settings;
        let (public_box, dim) = (&self.public_box, self.public_box.dim());
        let size = points.map(|points| points.len() as u64);
        let total = self.total.release(size, &mut draws.leaf(TOTAL, 0));
        let middle = (0..dim).map(|i| public_box.middle(i)).collect();
        let middle = Points::new(middle, dim).expect("one row");
        let mut centres = Centres { points: middle, counts: vec![total.max(0) as f64] };
        let mut reach = 0.5 * public_box.diagonal();
        let mut directions = public_generator(public_seed, Purpose::RingPlanes);
        let mut solver_rng = public_generator(public_seed, Purpose::RingSolver);
        let mut located = points.map(|points| Located::at(points, vec![0; points.len()]));
        for (t, round) in self.rounds.iter().enumerate() {
            let normals = normal_directions(most_planes.max(1), dim, &mut directions);
            let normals = PointsView::new(&normals, dim).expect("whole rows");
            let hyperplanes = SignProjections::new(normals).expect("at most ten");
            let planes = self.planes(&centres, t);
            let view = centres.points.view();
            let layout = Layout::new(view, &self.radii, &hyperplanes, planes);
            located.update(|located| located.update(public_box, view, true));
            let cells = located.as_ref().map(|located| layout.cells(located, public_box));
            let counts = cells.as_ref().map(|cells| exact_counts(cells, layout.len()));
            let counts = round.noisy_counts(t, &counts.cells(layout.len()), draws);
            let alone = self.k == 1;
            let groups = Groups::new(&layout, &counts, round.count_noise(), alone);
            let radii = groups.radii(&layout);
            let sums = located.as_ref().zip(cells.as_ref()).map(|(located, cells)| {
                exact_sums((located, cells), public_box, view, &groups.of_cell, &radii)
            });
            let sums = round.noisy_sums(t, &sums.cells(radii.len() * dim), dim, draws);
            let means = groups.means(&layout, &sums, round, public_box);
            let is_last = t + 1 == self.rounds.len();
            if !groups.all.is_empty() {
                reach = groups.reach(&layout);
                let means = Points::new(means, dim).expect("whole rows");
                let weights = groups.all.iter().map(|group| group.count).collect();
                let means = PrivateCoreset::released(means, weights);
                let (mut next, of_groups) = self.solve(&means, is_last, &mut solver_rng);
                if is_last {
                    // Records in no group are near some centre too.
                    let grouped: f64 = next.counts.iter().sum();
                    let missing = (total as f64 - grouped).clamp(0.0, MOST_UNGROUPED * grouped);
                    groups.add_missing(missing, round.count_noise(), &of_groups, &mut next.counts);
                }
                // A record is likely to be where the mean of its group is, or the centre that it was at.
                let moved = nearest(view, next.points.view()).labels;
                let labels = located.as_ref().zip(cells.as_ref()).map(|(located, cells)| {
                    let near = |(&cell, &label): (&u32, &u32)| match groups.of_cell[cell as usize] {
                        NO_GROUP => moved[label as usize],
                        group => of_groups[group as usize],
                    };
                    cells.iter().zip(&located.labels).map(near).collect()
                });
                located = points.zip(labels).map(|(points, labels)| Located::at(points, labels));
                centres = next;
            } else if is_last {
                // Nothing is seen of who is where: the centres of the round before, as many as wanted, and their shares.
                let before = PrivateCoreset::released(centres.points, centres.counts);
                let (fewer, moved) = self.solve(&before, true, &mut solver_rng);
                let labels = located.as_ref().map(|located| {
                    located.labels.iter().map(|&label| moved[label as usize]).collect()
                });
                located = points.zip(labels).map(|(points, labels)| Located::at(points, labels));
                centres = fewer;
                let grouped: f64 = centres.counts.iter().sum();
                let all = (total as f64 / grouped).clamp(1.0, 1.0 + MOST_UNGROUPED);
                centres.counts.iter_mut().for_each(|count| *count *= all);
            }
        }
        let counts = centres.counts.into_iter().map(records).collect();
        let near = located.map(|located| located.labels);
        Found { clustering: Clustering::new(centres.points, counts), near, reach }
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
        let of = |&count: &f64| {
            let cells = (count / need).max(1.0);
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 64")]
            let halvings = cells.log2() as usize;
            let extra = if cells < ENOUGH_FOR_MORE { 0 } else { extra };
            (halvings + extra).min(most_planes)
        };
        let mut planes: Vec<usize> = centres.counts.iter().map(of).collect();
        // Fewer for all, where so many centres have so many records that there would be too many cells.
        let mut most = most_planes;
        while most > 0 && planes.iter().map(|planes| RINGS << planes).sum::<usize>() > MOST_CELLS {
            most -= 1;
            for planes in &mut planes {
                *planes = most.min(*planes);
            }
        }
        planes
    }

    /// Weighted k-means on the groups' means, and which centre is nearest to each of these: post-processing with public randomness.
    fn solve(
        &self,
        means: &PrivateCoreset,
        is_last: bool,
        rng: &mut ChaCha20Rng,
    ) -> (Centres, Vec<u32>) {
        let solver = &self.solvers[usize::from(is_last)];
        if means.len() <= solver.k() {
            // Fewer groups than clusters: they are the centres.
            let counts = means.weights().to_vec();
            let labels = (0..).take(means.len()).collect();
            return (Centres { points: means.points().to_points(), counts }, labels);
        }
        let fit = solver.post_fit(means, rng).expect("released points are finite");
        let (mut coords, public_box) = (fit.centres.into_coords(), &self.public_box);
        // A mean can round to just outside of the box.
        coords.chunks_exact_mut(public_box.dim()).for_each(|centre| public_box.clip(centre));
        let points = Points::new(coords, public_box.dim()).expect("whole rows");
        let labels = nearest(means.points(), points.view()).labels;
        let counts = labelled_weights(means, &labels, points.len());
        let counts = counts.into_iter().map(|count| count as f64).collect();
        (Centres { points, counts }, labels)
    }
}

//! Looking for the worst pair of data sets for a cut of DPM.
//!
//! The scores of the first cut depend on the data only through one histogram per dimension, so a
//! data set is described by its histograms, and its neighbour by the bins that one more point falls
//! in. The description is turned into real points and the real plan is run on them.

use std::collections::BTreeSet;

use crate::neighbours::one_more;
use dp_accounting::{AnyRelation, Budget};
use dp_audit::harness::{Effort, Found};
use dp_audit::{
    Comparison, Scripted, choice_log_probabilities, climb, compare, first_choice, multisets,
    statistical,
};
use dp_cluster::Clustering;
use dp_cluster::dpm::{BudgetSplit, CutWeights, Dpm, DpmSettings, IntervalSize};
use dp_geometry::{Points, PublicBox};
use dp_mechanism::{
    ChaCha20Rng, DiscreteGaussian, Geometric, Law, Mechanism, SecureSource, Source,
};
use rand::{RngExt, SeedableRng};

/// Intervals per dimension; a histogram has two bins for each.
const INTERVALS: usize = 3;
const BINS: usize = 2 * INTERVALS;

/// Epsilon of the one cut.
const CUT: f64 = 1.0;

/// A data set, a point more, and the noisy count that has been released for it.
#[derive(Clone, Debug)]
pub(crate) struct SplitCase {
    /// Per dimension, points per half-interval; all dimensions hold the same number.
    histograms: Vec<[u32; BINS]>,
    /// Per dimension, the half-interval of the added point.
    added: Vec<usize>,
    noisy_count: i64,
}

/// How the plan's draws reach the source; a mutant puts something in between.
pub(crate) type Through = fn(&Dpm, &Points, &mut dyn Source) -> Clustering;

/// The plan as it is.
pub(crate) fn honest(dpm: &Dpm, points: &Points, draws: &mut dyn Source) -> Clustering {
    dpm.replay(points.view(), draws).0
}

/// One cut with an epsilon of exactly [`CUT`].
fn plan(dim: usize, weights: CutWeights) -> Dpm {
    let public_box = PublicBox::cube(dim, 0.0, 1.0).expect("valid");
    Dpm::new(
        public_box,
        Budget::new(4.0, 1e-6).expect("valid"),
        DpmSettings {
            interval_size: IntervalSize::Fixed { intervals: INTERVALS },
            split: BudgetSplit::Pure { interval: 0.0, counts: 0.25, cuts: CUT / 4.0 },
            weights,
            max_depth: 1,
            ..Default::default()
        },
    )
    .expect("valid settings")
}

/// Other weights than the paper's: without emptiness, with little of it, and with flat quantiles.
/// They reach branches of the range that the default does not.
pub(crate) fn worst_cut_of_other_weights(effort: Effort) -> Found {
    let mut found = Found::claim(CUT);
    for (t, q, alpha) in [(0.3, 1.0 / 12.0, 0.0), (0.8, 0.1, 0.5), (0.5, 0.25, 2.0)] {
        for dim in [1, 2] {
            let weights = CutWeights { t, q, alpha };
            let one = worst(effort, dim, weights, honest);
            found.see(one.worst, || format!("{weights:?}: {}", one.witness));
            found.cases += one.cases;
        }
    }
    found
}

/// With the paper's weights.
pub(crate) fn worst_cut(effort: Effort, dim: usize, through: Through) -> Found {
    worst(effort, dim, CutWeights::default(), through)
}

/// The largest exact loss of the cut over all tiny data sets and what climbing finds from every
/// start.
fn worst(effort: Effort, dim: usize, weights: CutWeights, through: Through) -> Found {
    let dpm = plan(dim, weights);
    let mut found = Found::claim(CUT);
    for case in tiny(dim, if dim == 1 { effort.of(3, 4) } else { 2 }) {
        found.see(case.cut_loss(&dpm, through), || format!("{case:?}"));
    }
    let mut rng = effort.rng(dim as u64);
    let steps = effort.of(1_500, 6_000);
    for start in starts(dim, &mut rng, effort.of(4, 6)) {
        let cut_loss = |case: &SplitCase| case.cut_loss(&dpm, through);
        let (case, loss) = climb(start, steps, &mut rng, SplitCase::mutate, cut_loss);
        found.see(loss, || format!("{case:?}"));
        found.cases += u64::from(steps);
    }
    found
}

/// The cut as samples show it: the index that the real draws choose, on the pair of data sets that
/// gives the most evidence per run for a `suspect`, and a lower bound on epsilon from that alone.
/// The event to count is known from the exact law; whether it happens is up to the sampler.
pub(crate) fn sampled_cut(effort: Effort, through: Through, suspect: Through) -> Found {
    let dpm = plan(2, CutWeights::default());
    let mut rng = effort.rng(7);
    let nats = |case: &SplitCase| case.evidence(&dpm, suspect).nats;
    let (case, _) = climb(balanced(), effort.of(3_000, 20_000), &mut rng, SplitCase::mutate, nats);
    let evidence = case.evidence(&dpm, suspect);
    let [without, with] = [false, true].map(|added| case.points(added));
    let runs = effort.of(30_000, 300_000);
    let bound = statistical::epsilon_lower_bound_of_event(runs, effort.seed, |first, rng| {
        let points = if first == evidence.likelier_without { &without } else { &with };
        let mut released = SecureSource::new(rng);
        let mut chosen = ChosenCut { draws: &mut released, count: Some(case.noisy_count), cut: 0 };
        through(&dpm, points, &mut chosen);
        evidence.event.contains(&chosen.cut)
    });
    let mut found = Found::claim(CUT);
    found.see(bound.epsilon.max(0.0), || {
        format!("{} hits of cuts {:?} on {case:?}", bound.hits, evidence.event)
    });
    found.cases = bound.runs;
    found
}

/// What an event on a pair of data sets is worth against the claim.
struct Evidence {
    /// Expected log fortune per run of a gambler who bets against the claim.
    nats: f64,
    event: BTreeSet<i64>,
    likelier_without: bool,
}

/// Prescribes the first count and remembers the first choice; all else is drawn for real.
struct ChosenCut<'a> {
    draws: &'a mut dyn Source,
    count: Option<i64>,
    cut: i64,
}

impl Source for ChosenCut<'_> {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.draws.promised(relation);
    }

    fn draw(&mut self, law: Law<'_>) -> i64 {
        if let Some(count) = self.count.take() {
            return count;
        }
        let released = self.draws.draw(law);
        if matches!(law, Law::Choice { .. }) {
            self.cut = released;
        }
        released
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        self.draws.noisy_vector(values, noise);
    }

    fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
        self.draws.noisy_max(scores, noise)
    }
}

/// All data sets of up to `most` points in one or two dimensions, with every point more and several
/// noisy counts. Exhaustive, and blind to losses that need many points: hence the climbing.
fn tiny(dim: usize, most: usize) -> Vec<SplitCase> {
    let places = BINS.pow(u32::try_from(dim).expect("small"));
    let bins = |place: usize| {
        (0..dim).map(move |i| place / BINS.pow(u32::try_from(i).expect("small")) % BINS)
    };
    let mut cases = Vec::new();
    for points in multisets(places, most) {
        let mut histograms = vec![[0; BINS]; dim];
        for &point in &points {
            histograms.iter_mut().zip(bins(point)).for_each(|(histogram, bin)| histogram[bin] += 1);
        }
        for added in 0..places {
            for noisy_count in [1, 3, 50] {
                let (histograms, added) = (histograms.clone(), bins(added).collect());
                cases.push(SplitCase { histograms, added, noisy_count });
            }
        }
    }
    cases
}

/// A pair on which both outcomes are likely enough to be met: nearly all choices fall on two empty
/// intervals, one of which the new point makes more central, while it lies in the other and makes
/// it less so.
fn balanced() -> SplitCase {
    SplitCase {
        histograms: vec![[0, 17, 0, 0, 283, 0], [0, 275, 0, 0, 25, 0]],
        added: vec![0, 2],
        noisy_count: 300,
    }
}

/// The pair that is known to be the worst for a cut in two or more dimensions, thinner versions of
/// it, and random ones.
fn starts(dim: usize, rng: &mut ChaCha20Rng, random: usize) -> Vec<SplitCase> {
    // One dominant mode, a thin other side, and the new point in the thin part of one dimension
    // and at the far edge of the other.
    let known = SplitCase {
        histograms: [[0, 24, 0, 0, 276, 0], [6, 90, 150, 0, 54, 0]]
            .into_iter()
            .cycle()
            .take(dim)
            .collect(),
        added: [0, 4].into_iter().cycle().take(dim).collect(),
        noisy_count: 300,
    };
    let empty = SplitCase { histograms: vec![[0; BINS]; dim], added: vec![0; dim], noisy_count: 1 };
    let mut starts = vec![known, empty];
    for _ in 0..random {
        let n = rng.random_range(1..400);
        let mut case = SplitCase {
            histograms: vec![[0; BINS]; dim],
            added: (0..dim).map(|_| rng.random_range(0..BINS)).collect(),
            noisy_count: rng.random_range(1..500),
        };
        for histogram in &mut case.histograms {
            (0..n).for_each(|_| histogram[rng.random_range(0..BINS)] += 1);
        }
        starts.push(case);
    }
    starts
}

impl SplitCase {
    /// Loss of the cut on the pair, given the noisy count; infinite if the runs part ways.
    fn cut_loss(&self, dpm: &Dpm, through: Through) -> f64 {
        let comparison = self.compare(dpm, through);
        match comparison.steps.get(1) {
            Some(step) if comparison.diverged.is_none() && comparison.outputs_equal => {
                step.forward.max(step.backward)
            }
            _ => f64::INFINITY,
        }
    }

    fn compare(&self, dpm: &Dpm, through: Through) -> Comparison {
        let (without, with) = (self.points(false), self.points(true));
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let mut honest = SecureSource::new(&mut rng);
        let mut outcomes = Scripted::new([self.noisy_count].into_iter(), &mut honest);
        compare(
            &one_more(),
            |points, draws| through(dpm, points, draws),
            &without,
            &with,
            &mut outcomes,
        )
    }

    /// The best event against the claim: with `a` and `b` its probabilities on the two sets, hits come
    /// from the first with odds `a : b`, against `e^claim : 1` at most.
    fn evidence(&self, dpm: &Dpm, through: Through) -> Evidence {
        let law = |with_added| {
            let points = self.points(with_added);
            let mut rng = ChaCha20Rng::seed_from_u64(1);
            let mut honest = SecureSource::new(&mut rng);
            let mut outcomes = Scripted::new([self.noisy_count].into_iter(), &mut honest);
            let choice = first_choice(|draws| through(dpm, &points, draws), &mut outcomes);
            choice_log_probabilities(&choice.scores, choice.rate)
        };
        let laws = [law(false), law(true)];
        let mut best = Evidence { nats: 0.0, event: BTreeSet::new(), likelier_without: true };
        for likelier_without in [true, false] {
            let [p, q] = if likelier_without { [&laws[0], &laws[1]] } else { [&laws[1], &laws[0]] };
            let mut order: Vec<usize> = (0..p.len()).collect();
            order.sort_by(|&i, &j| (p[j] - q[j]).total_cmp(&(p[i] - q[i])));
            let (mut a, mut b) = (0.0, 0.0);
            for (size, &i) in (1..).zip(&order) {
                (a, b) = (a + p[i].exp(), b + q[i].exp());
                let nats = 0.5 * (a + b) * surprise(a / (a + b));
                if nats > best.nats {
                    let event = order[..size].iter().map(|&i| i64::try_from(i).expect("small"));
                    best = Evidence { nats, event: event.collect(), likelier_without };
                }
            }
        }
        best
    }

    /// Points in the middles of their half-intervals; how dimensions are paired does not matter, nor
    /// should it matter whether the new point comes first or last.
    fn points(&self, with_added: bool) -> Points {
        let dim = self.histograms.len();
        let middle = |bin: usize| (bin as f64 + 0.5) / BINS as f64;
        let columns: Vec<Vec<f64>> = self
            .histograms
            .iter()
            .zip(&self.added)
            .map(|(histogram, &added)| {
                let bins = histogram.iter().enumerate();
                let column =
                    bins.flat_map(|(bin, &n)| std::iter::repeat_n(middle(bin), n as usize));
                let mut column: Vec<f64> = column.collect();
                if with_added {
                    let place = if self.noisy_count % 2 == 0 { 0 } else { column.len() };
                    column.insert(place, middle(added));
                }
                column
            })
            .collect();
        let coords = (0..columns[0].len()).flat_map(|row| columns.iter().map(move |c| c[row]));
        Points::new(coords.collect(), dim).expect("whole rows")
    }

    /// A small change: move points between two bins, add or drop points, move the new point, or
    /// change the noisy count.
    fn mutate(&mut self, rng: &mut ChaCha20Rng) {
        let dimension = rng.random_range(0..self.histograms.len());
        match rng.random_range(0..5) {
            0 | 1 => {
                let (from, to) = (rng.random_range(0..BINS), rng.random_range(0..BINS));
                let histogram = &mut self.histograms[dimension];
                let moved = rng.random_range(0..=histogram[from]);
                histogram[from] -= moved;
                histogram[to] += moved;
            }
            2 => {
                let n = rng.random_range(1..20);
                for histogram in &mut self.histograms {
                    histogram[rng.random_range(0..BINS)] += n;
                }
            }
            3 => self.added[dimension] = rng.random_range(0..BINS),
            _ => {
                let factor: f64 = rng.random_range(0.5..2.0);
                #[allow(clippy::cast_possible_truncation, reason = "at most a few thousand")]
                let scaled = (self.noisy_count as f64 * factor).round() as i64;
                self.noisy_count = scaled.clamp(1, 5_000);
            }
        }
    }
}

/// Divergence of a coin with this share of heads from the most one-sided coin that the claim
/// allows; zero if it is not more one-sided than that.
fn surprise(share: f64) -> f64 {
    let allowed = 1.0 / (1.0 + (-CUT).exp());
    if share <= allowed {
        return 0.0;
    }
    let term = |p: f64, q: f64| if p > 0.0 { p * (p / q).ln() } else { 0.0 };
    term(share, allowed) + term(1.0 - share, 1.0 - allowed)
}

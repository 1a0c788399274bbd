//! Checks of re-centring: its rounds on given centres, and DPM's cuts with rounds as a whole.

use std::cell::RefCell;

use dp_accounting::{AddRemove, AnyRelation, Budget, Epsilon, Receipt, Rho, Step};
use dp_audit::harness::{Check, Effort, Found, TOLERANCE};
use dp_audit::{Comparison, DrawKind, Method, compare, statistical};
use dp_cluster::dpm::IntervalSize;
use dp_cluster::recentring::{
    DpmRecentred, DpmRecentredSettings, Recentred, RecentredSplit, Rounds,
};
use dp_cluster::{ClusterError, Clustering};
use dp_geometry::{Points, PointsView, PublicBox};
use dp_mechanism::{
    Algorithm, ChaCha20Rng, DiscreteGaussian, Draws, Geometric, Law, Mechanism, Noise, Private,
    RoundedGaussian, SecureSource, Source,
};
use rand::RngExt;

use crate::dpm::spends;
use crate::neighbours::{one_more, replay};
use crate::private_centres::variance;
use crate::rings::is_of_sum;

pub(crate) fn checks() -> Vec<Check> {
    let check = |id: &str, mechanism: &str, method, resolution, run: fn(Effort) -> Found| {
        Check::new(id, mechanism, "add-remove", method, run).resolution(resolution)
    };
    let exact = TOLERANCE;
    vec![
        check("recentred-vector", "Recentred, the vector of a centre", Method::Exact, exact, |e| {
            vectors(e, honest)
        }),
        check("recentred-rounds", "Recentred, rounds as a whole", Method::Exact, exact, |e| {
            rounds(e, honest)
        }),
        check("recentred-mu", "Recentred, one round as drawn", Method::Statistical, 1.25, |e| {
            one_round_as_drawn(e, |noise| noise)
        }),
        check(
            "recentred-transcript",
            "DpmRecentred, a whole run",
            Method::Exact,
            exact,
            transcripts,
        ),
        check("recentred-steps", "DpmRecentred, each step of a run", Method::Exact, exact, steps),
        check("recentred-receipt", "DpmRecentred, receipt", Method::Ledger, exact, receipts),
    ]
}

/// Centres that everybody knows: a start that costs nothing, so that rounds stand alone.
#[derive(Debug)]
pub(crate) struct Given {
    centres: Points,
    counts: Vec<i64>,
}

impl Algorithm for Given {
    type Relation = AddRemove;
    type Data<'a> = PointsView<'a>;
    type Shape = usize;
    type Output = Clustering;
    type Error = ClusterError;

    fn cost(&self) -> Receipt<AddRemove> {
        let nothing = Step::sequential("given", vec![]);
        Receipt::new("given", AddRemove, Budget::new(1.0, 0.5).expect("valid"), nothing)
    }

    fn shape(points: &PointsView<'_>) -> usize {
        points.dim()
    }

    fn check(&self, _: &usize) -> Result<(), ClusterError> {
        Ok(())
    }

    fn run(&self, _: Private<PointsView<'_>>, _: &mut Draws<'_>) -> Clustering {
        Clustering::new(self.centres.clone(), self.counts.clone()).expect("one count per centre")
    }
}

pub(crate) type Plan = Recentred<Given>;

/// How the plan's draws reach the source; a mutant puts something in between.
pub(crate) type Through = fn(&Plan, &Points, &mut dyn Source) -> Clustering;

/// The plan as it is.
pub(crate) fn honest(plan: &Plan, points: &Points, draws: &mut dyn Source) -> Clustering {
    plan.replay(points.view(), draws).0
}

fn cube(dim: usize) -> PublicBox {
    PublicBox::cube(dim, -10.0, 10.0).expect("valid")
}

/// Rounds of equal shares on these centres, each taken for one of this many points.
fn plan(centres: Vec<f64>, dim: usize, count: i64, rounds: usize, epsilon: f64) -> Plan {
    let centres = Points::new(centres, dim).expect("whole rows");
    let counts = vec![count; centres.len()];
    let rounds = Rounds { shares: vec![1.0; rounds], merge_after: 1, ..Rounds::default() };
    let budget = Budget::new(epsilon, 1e-6).expect("valid");
    let k = centres.len();
    Recentred::new(Given { centres, counts }, cube(dim), budget, rounds, Some(k))
        .expect("valid settings")
}

/// Two centres at the same distance from the middle, and one that no point is near to.
fn mirrored(dim: usize) -> Vec<f64> {
    [vec![-4.0; dim], vec![4.0; dim], vec![9.9; dim]].concat()
}

/// The privacy costs of the counts that radii are searched with, and of the vectors, as claimed.
fn claims(receipt: &Receipt<AddRemove>) -> (Vec<Rho>, Vec<Rho>) {
    let of = |name| spends(receipt.spent(), name);
    (of("count within a radius"), of("sum and counts of one centre"))
}

/// What the vector of one centre gives away, as a share of its claim: the squared length of the new
/// point's part over the bound. New points lie inside of the radius, on it, beyond it, and on the
/// border of two centres.
pub(crate) fn vectors(effort: Effort, through: Through) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(80);
    for dim in [1, 2, 5, 40] {
        let plan = plan(mirrored(dim), dim, 20, 1, 8.0);
        let (searches, claimed) = claims(&plan.receipt());
        for case in 0..effort.of(30, 1_000) {
            let spread = [1e-6, 0.1, 3.0, 8.0][case % 4];
            let near = |rng: &mut ChaCha20Rng| -> Vec<f64> {
                (0..40 * dim)
                    .map(|i| {
                        let side = if (i / dim) % 2 == 0 { -4.0 } else { 4.0 };
                        side + rng.random_range(-spread..=spread)
                    })
                    .collect()
            };
            let added: Vec<f64> = match case % 5 {
                0 => vec![0.0; dim],
                1 => vec![-4.0 + spread; dim],
                2 => vec![f64::INFINITY; dim],
                3 => [vec![10.0], vec![4.0; dim - 1]].concat(),
                _ => (0..dim).map(|_| rng.random_range(-11.0..11.0)).collect(),
            };
            let without = near(&mut rng);
            let with = [without.as_slice(), &added].concat();
            let [a, b] = [without, with].map(|x| Points::new(x, dim).expect("whole rows"));
            let run = |points: &Points, draws: &mut dyn Source| through(&plan, points, draws);
            let seen = compare(&one_more(), run, &a, &b, &mut SecureSource::new(&mut rng));
            let cost: f64 = if seen.failed() {
                f64::INFINITY
            } else {
                seen.steps.iter().skip(searches.len()).map(|step| step.rho).sum()
            };
            found.see(cost / claimed[0].get(), || format!("{dim}: spread {spread}, {added:.2?}"));
        }
    }
    found
}

/// Several rounds on given centres: what all draws give away, as a share of the receipt.
pub(crate) fn rounds(effort: Effort, through: Through) -> Found {
    let mut found = Found::claim(1.0);
    for shape in effort.of([(1, 499), (2, 200), (5, 100)], [(1, 1_999), (3, 10_000), (40, 2_000)]) {
        let dim = shape.0;
        // About as many as there are, and as many as a start can report.
        let count = i64::try_from(shape.1 / 3).expect("small");
        for (rounds, epsilon, count) in [(1, 4.0, count), (4, 30.0, count), (2, 9.0, i64::MAX)] {
            let plan = plan(mirrored(dim), dim, count, rounds, epsilon);
            let claimed = plan.receipt().zcdp().expect("all steps are Gaussian").get();
            let run = |points: &Points, draws: &mut dyn Source| through(&plan, points, draws);
            replay(effort, 81, shape, run, |seen, text| found.see(seen.rho() / claimed, text));
        }
    }
    found
}

/// One round on one centre, ten points at it and one far away that may be missing: the place of the
/// noisy vector between what is expected without and with that point tells the two apart as well
/// as one Gaussian can, with `mu = sqrt(2 rho)`. A mutant has another noise.
pub(crate) fn one_round_as_drawn(
    effort: Effort,
    change: fn(RoundedGaussian) -> RoundedGaussian,
) -> Found {
    let plan = plan(vec![-9.0], 1, 10, 1, 6.0);
    let rho = claims(&plan.receipt()).1[0].get();
    let mut found = Found::claim((2.0 * rho).sqrt());
    let runs = effort.of(6_000_u64, 100_000);
    let mut rng = effort.rng(82);
    let mut above = |far: bool| {
        let far = if far { vec![10.0] } else { vec![] };
        let points = Points::new([vec![-9.0; 10], far].concat(), 1).expect("whole rows");
        let place = |_: &u64| {
            let mut draws = SecureSource::new(&mut rng);
            let mut watched = Watched::new(&mut draws, change);
            plan.replay(points.view(), &mut watched);
            watched.place > 0.5
        };
        (0..runs).filter(place).count() as u64
    };
    let (false_alarms, hits) = (above(false), above(true));
    let bound = statistical::mu_lower_bound(false_alarms, runs - hits, runs);
    found.see(bound.max(0.0), || format!("{false_alarms} and {hits} of {runs} above the middle"));
    found
}

/// Notes where the released vector lies, from 0 without the far point to 1 with it.
struct Watched<'a> {
    draws: &'a mut dyn Source,
    change: fn(RoundedGaussian) -> RoundedGaussian,
    /// The radii that are left of the search.
    radii: [usize; 2],
    /// Numbers of the vector that have been drawn.
    drawn: usize,
    place: f64,
}

impl<'a> Watched<'a> {
    /// The far point adds a radius, and one to the count of those far beyond it.
    const FAR_POINT: [f64; 3] = [1_048_576.0, 0.0, 314_572.0];

    fn new(draws: &'a mut dyn Source, change: fn(RoundedGaussian) -> RoundedGaussian) -> Self {
        Self { draws, change, radii: [0, 160], drawn: 0, place: 0.0 }
    }
}

impl Source for Watched<'_> {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.draws.promised(relation);
    }

    fn draw(&mut self, law: Law<'_>) -> i64 {
        /// A quarter of the diagonal: two octaves of eight steps below the longest.
        const RADIUS: usize = 160 - 16;
        let Law::Noisy { value, noise: Noise::Rounded(noise) } = law else {
            panic!("rounds draw nothing else")
        };
        if !is_of_sum(noise) {
            // The radius is another step: here it is always the same.
            let [low, high] = self.radii;
            let middle = usize::midpoint(low, high);
            let too_short = middle < RADIUS;
            self.radii = if too_short { [(middle + 1).min(high), high] } else { [low, middle] };
            return if too_short { i64::MIN } else { i64::MAX };
        }
        let noise = Noise::Rounded((self.change)(noise));
        let noisy = self.draws.draw(Law::Noisy { value, noise });
        let far = Self::FAR_POINT;
        self.place += noisy as f64 * far[self.drawn] / far.iter().map(|x| x * x).sum::<f64>();
        self.drawn += 1;
        noisy
    }

    fn noisy_vector(&mut self, _: &mut [i64], _: DiscreteGaussian) {
        panic!("rounds draw nothing else")
    }

    fn noisy_max(&mut self, _: &[i64], _: Geometric) -> (usize, i64) {
        panic!("rounds draw nothing else")
    }
}

fn planned(
    dim: usize,
    epsilon: f64,
    settings: DpmRecentredSettings,
) -> Result<DpmRecentred, ClusterError> {
    DpmRecentred::new(cube(dim), Budget::new(epsilon, 1e-6).expect("valid"), settings)
}

/// What a draw of a run is for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Draw {
    /// A choice, or a count of the tree.
    Tree,
    /// A count of records within a radius; of this variance.
    Count(f64),
    /// One number of the vector of a centre.
    OfVector,
}

/// Notes what draws are for.
struct Noted<'a> {
    draws: &'a mut dyn Source,
    kinds: Vec<Draw>,
}

impl Source for Noted<'_> {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.draws.promised(relation);
    }

    fn draw(&mut self, law: Law<'_>) -> i64 {
        self.kinds.push(match law {
            Law::Noisy { noise: Noise::Rounded(noise), .. } if is_of_sum(noise) => Draw::OfVector,
            Law::Noisy { noise: Noise::Rounded(noise), .. } => Draw::Count(variance(noise)),
            _ => Draw::Tree,
        });
        self.draws.draw(law)
    }

    fn noisy_vector(&mut self, _: &mut [i64], _: DiscreteGaussian) {
        panic!("nothing draws whole vectors")
    }

    fn noisy_max(&mut self, _: &[i64], _: Geometric) -> (usize, i64) {
        panic!("nothing draws a maximum")
    }
}

fn whole_runs(
    effort: Effort,
    mut visit: impl FnMut(&DpmRecentred, &Comparison, &[Draw], &dyn Fn() -> String),
) {
    let shapes = effort.of([(1, 50), (2, 300), (5, 200)], [(1, 500), (2, 5_000), (10, 3_000)]);
    for shape in shapes {
        let d = DpmRecentredSettings::default;
        let (clusters, minimum_share) = (Some(3), Some(0.01));
        let interval_size = IntervalSize::Estimated;
        for plan in [
            planned(shape.0, 8.0, DpmRecentredSettings { max_depth: 3, clusters, ..d() }),
            planned(shape.0, 1.0, DpmRecentredSettings { interval_size, ..d() }),
            planned(shape.0, 40.0, DpmRecentredSettings { minimum_share, max_depth: 5, ..d() }),
        ] {
            let plan = plan.expect("valid settings");
            let kinds = RefCell::new(Vec::new());
            let run = |points: &Points, draws: &mut dyn Source| {
                let mut noted = Noted { draws, kinds: Vec::new() };
                let output = plan.replay(points.view(), &mut noted).0;
                // All searches of a run have the same noise, and every run ends with one.
                let counts = |kind: &Draw| matches!(kind, Draw::Count(_));
                let search = noted.kinds.iter().copied().rfind(counts);
                let kind = |kind| {
                    let of_tree = counts(&kind) && Some(kind) != search;
                    if of_tree { Draw::Tree } else { kind }
                };
                *kinds.borrow_mut() = noted.kinds.into_iter().map(kind).collect();
                output
            };
            replay(effort, 83, shape, run, |seen, text| visit(&plan, seen, &kinds.borrow(), text));
        }
    }
}

/// What all draws of a run give away together, as a share of what the receipt says.
fn transcripts(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    whole_runs(effort, |plan, seen, _, text| {
        let claimed = plan.receipt().zcdp().expect("all steps are zCDP").get();
        found.see(seen.rho() / claimed, text);
    });
    found
}

/// The same runs, step by step: a cheap step that overspends does not show in the total.
fn steps(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    whole_runs(effort, |plan, seen, kinds, text| found.see(worst_step(plan, seen, kinds), text));
    found
}

/// The largest share of a step's own claim that its draws give away. Cuts are of the level of the last count that has changed.
fn worst_step(plan: &DpmRecentred, seen: &Comparison, kinds: &[Draw]) -> f64 {
    if seen.failed() {
        return f64::INFINITY;
    }
    let receipt = plan.receipt();
    let claims_of = |name: &str| spends(receipt.spent(), name);
    let (counts, cuts) = (claims_of("counts"), claims_of("cuts"));
    let interval = claims_of("interval size");
    let (searches, vectors) = claims(&receipt);
    let per_round = searches.len() / vectors.len();
    let (mut level, mut searched) = (0, 0);
    let mut of_vectors = vec![0.0; vectors.len()];
    let mut worst = 0.0_f64;
    for (position, (step, kind)) in seen.steps.iter().zip(kinds).enumerate() {
        let claim = match (step.kind, kind) {
            (DrawKind::Noisy, Draw::Count(_)) => {
                searched += 1;
                searches.get(searched - 1)
            }
            (DrawKind::Noisy, Draw::OfVector) => {
                of_vectors[(searched - 1) / per_round] += step.rho;
                continue;
            }
            (DrawKind::Noisy, Draw::Tree) if step.rho > 0.0 => {
                level += 1;
                counts.get(level - 1)
            }
            (DrawKind::Choice, _) if position == 1 && !interval.is_empty() => interval.first(),
            (DrawKind::Choice, _) if step.rho > 0.0 => cuts.get(level - 1),
            // Of the nodes of the tree, only those on the new point's own path change.
            (DrawKind::Noisy | DrawKind::Choice, _) => continue,
            _ => None,
        };
        worst = worst.max(claim.map_or(f64::INFINITY, |claim| step.rho / claim.get()));
    }
    let vectors = of_vectors.iter().zip(&vectors).map(|(cost, claim)| cost / claim.get());
    vectors.fold(worst, f64::max)
}

/// What receipts add up to, as a share of the budget asked for, over random settings.
fn receipts(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(84);
    for i in 0..effort.of(1_000_usize, 20_000) {
        let epsilon = 10_f64.powf(rng.random_range(-2.0..2.0));
        let delta = 10_f64.powf(rng.random_range(-15.0..-1.0));
        let mut share = || rng.random_range(0.01..0.3);
        let split = RecentredSplit {
            interval: share(),
            counts: share(),
            cuts: share(),
            radii: share(),
            sums: share(),
        };
        let shares = (0..=i % 8).map(|_| share()).collect();
        let size = [IntervalSize::Estimated, IntervalSize::default()][i % 2];
        let budget = Budget::new(epsilon, delta).expect("valid");
        let settings = DpmRecentredSettings {
            split,
            rounds: Rounds { shares, ..Rounds::default() },
            interval_size: size,
            max_depth: 1 + i % 10,
            ..Default::default()
        };
        let receipt =
            DpmRecentred::new(cube(1 + i % 7), budget, settings).expect("valid settings").receipt();
        let spent = receipt.epsilon().map_or(f64::INFINITY, Epsilon::get);
        let over = !receipt.within_budget();
        found.see(if over { f64::INFINITY } else { spent / epsilon }, || {
            format!("epsilon {epsilon}, delta {delta}, {split:?}")
        });
    }
    found
}

//! Every mechanism with every setting, on tiny data: boxes near and far from the origin, rows in one piece and one row in each, few
//! counters and many. What all draws of a run give away, against the receipt; and whether every step of the receipt was reached.

use crate::neighbours::{many_records, one_more};
use crate::private_kmeans::Counting;
use dp_accounting::{Budget, Step};
use dp_audit::harness::{Check, Effort, Found};
use dp_audit::{Comparison, DrawKind, Method, compare};
use dp_cluster::coreset::{CoresetFromCentres, CoresetFromCentresSettings, WeightRule};
use dp_cluster::dp_lloyd::{self, DpLloyd, DpLloydSettings};
use dp_cluster::dpm::{self, Dpm, DpmSettings, IntervalSize};
use dp_cluster::em_mc::{EmMc, EmMcSettings, Selection};
use dp_cluster::local_search::Objective;
use dp_cluster::lsh_splits::{self, Form, LshSplits, LshSplitsSettings};
use dp_cluster::private_kmeans::{PrivateKMeans, PrivateKMeansSettings, Start};
use dp_cluster::recentring::{DpmRecentred, DpmRecentredSettings, Recentred, Rounds, part_of};
use dp_cluster::rings::{RingRounds, RingRoundsSettings};
use dp_cluster::{ClusterError, Points, PointsView, PublicBall, PublicBox};
use dp_mechanism::{ChaCha20Rng, Mechanism, SecureSource, Source, Usage};
use serde::Serialize;

use crate::dpm::{added_points, families};

pub(crate) fn checks() -> Vec<Check> {
    let check = |id: &str, mechanism: &str, subjects: fn(&Domain) -> Vec<Subject>| {
        Check::new(id, mechanism, "add-remove", Method::Exact, move |effort| all(effort, subjects))
    };
    vec![
        check("dpm-settings", "Dpm, every setting", dpm_subjects),
        check("recentred-settings", "DpmRecentred, every setting", recentred_subjects),
        check("recentred-starts", "Recentred, every start", starts),
        check("lsh-settings", "LshSplits, every setting", lsh_subjects),
        check("lloyd-settings", "DpLloyd, every setting", lloyd_subjects),
        check("private-kmeans-settings", "PrivateKMeans, every setting", plan_subjects),
        check("rings-settings", "RingRounds, every setting", ring_subjects),
        check("em-mc-settings", "EmMc, every setting", em_mc_subjects),
        check("coreset-settings", "CoresetFromCentres, every setting", coreset_subjects),
    ]
}

/// A box of two dimensions, and the usual places moved into it.
struct Domain {
    min: f64,
    max: f64,
}

/// The middle of the second box is one of its ends; in the third, `f64` has a few thousand places.
const DOMAINS: [Domain; 3] = [
    Domain { min: -10.0, max: 10.0 },
    Domain { min: 1e16, max: 1e16 + 2.0 },
    Domain { min: 1e9, max: 1e9 + 0.001 },
];

const DIM: usize = 2;

impl Domain {
    fn public_box(&self) -> PublicBox {
        PublicBox::cube(DIM, self.min, self.max).expect("valid")
    }

    fn ball(&self) -> PublicBall {
        PublicBall::around(&self.public_box()).expect("valid")
    }

    /// From the cube of ten around the origin.
    fn place(&self, x: f64) -> f64 {
        self.min + (x + 10.0) / 20.0 * (self.max - self.min)
    }
}

/// A run in one of the ways of a plan.
type Run = Box<dyn Fn(&Points, usize, &mut dyn Source) -> (String, Usage) + Send + Sync>;

/// A plan, and what it says that it costs.
struct Subject {
    name: String,
    cost: Cost,
    ways: usize,
    run: Run,
}

enum Cost {
    Pure(f64),
    Zcdp(f64),
    /// Of the draws after sparse choices, which have checks of their own.
    AfterChoices(f64),
}

impl Cost {
    fn share(&self, seen: &Comparison) -> f64 {
        let later =
            seen.steps.iter().filter(|s| matches!(s.kind, DrawKind::Noisy | DrawKind::Vector));
        match self {
            Self::Pure(claimed) => seen.pure_loss() / claimed,
            Self::Zcdp(claimed) => seen.rho() / claimed,
            Self::AfterChoices(_) if seen.rho().is_infinite() => f64::INFINITY,
            Self::AfterChoices(claimed) => later.map(|step| step.rho).sum::<f64>() / claimed,
        }
    }

    /// What the steps of a receipt add up to, those that were composed apart as well.
    fn of(spent: &Step) -> Self {
        let spent = match spent {
            Step::Composed { name, steps, .. } => Step::sequential(name.as_str(), steps.clone()),
            other => other.clone(),
        };
        match (spent.pure(), spent.zcdp(), &spent) {
            (Some(pure), ..) => Self::Pure(pure.get()),
            (None, Some(rho), _) => Self::Zcdp(rho.get()),
            (None, None, Step::Sequential { steps, .. }) => {
                let later = Step::sequential("later", steps[1..].to_vec());
                Self::AfterChoices(later.zcdp().expect("counts and sums are zCDP").get())
            }
            _ => unreachable!("all steps are in sequence"),
        }
    }
}

fn subject<M>(name: String, plan: Result<M, ClusterError>) -> Subject
where
    M: for<'a> Mechanism<Data<'a> = PointsView<'a>, Output: Serialize> + Send + Sync + 'static,
{
    let plan = plan.unwrap_or_else(|error| panic!("{name}: {error}"));
    let cost = Cost::of(plan.receipt().spent());
    let run = move |points: &Points, _, source: &mut dyn Source| run(&plan, points, source);
    Subject { name, cost, ways: 1, run: Box::new(run) }
}

fn run<M>(plan: &M, points: &Points, source: &mut dyn Source) -> (String, Usage)
where
    M: for<'a> Mechanism<Data<'a> = PointsView<'a>, Output: Serialize>,
{
    let (output, usage) = plan.replay(points.view(), source);
    (serde_json::to_string(&output).expect("plain numbers"), usage)
}

/// Runs the subjects of all domains on the adversarial library of tiny sets, with threads for one, two and three pieces; then the first and the
/// last of them on many records, so that nothing counts otherwise because it comes late.
fn all(effort: Effort, subjects: fn(&Domain) -> Vec<Subject>) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(90);
    let mut turn = 0;
    let mut see = |subject: &Subject, what: &str, pair: &[Points; 2], rng: &mut ChaCha20Rng| {
        let [without, with] = pair;
        turn += 1;
        let way = turn % subject.ways;
        let output =
            |points: &Points, source: &mut dyn Source| (subject.run)(points, way, source).0;
        for (a, b) in [(without, with), (with, without)] {
            let seen = compare(&one_more(), output, a, b, &mut SecureSource::new(&mut *rng));
            found.see(subject.cost.share(&seen), || {
                format!("{}, way {way}: {what}: {seen:?}", subject.name).chars().take(400).collect()
            });
        }
        (subject.run)(with, way, &mut SecureSource::new(rng)).1
    };
    let mut unreached = Vec::new();
    let shapes = effort.of(vec![(1, 7), (2, 3), (3, 3)], vec![(1, 60), (2, 9), (3, 20), (9, 9)]);
    for domain in &DOMAINS {
        for subject in subjects(domain) {
            let mut usage = Usage::default();
            for &(threads, n) in &shapes {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                pool.expect("threads").install(|| {
                    for (what, pair) in neighbours(domain, n, effort, &mut rng) {
                        let what = format!("{what} at {}", domain.min);
                        usage.merge(&see(&subject, &what, &pair, &mut rng));
                    }
                });
            }
            let steps = usage.unreached();
            unreached
                .extend(steps.map(|step| format!("{}: `{step}` was never drawn", subject.name)));
        }
    }
    let (pair, subjects) = (many_records(|x| DOMAINS[0].place(x)), subjects(&DOMAINS[0]));
    for subject in [&subjects[0], &subjects[subjects.len() - 1]] {
        see(subject, "many records", &pair, &mut rng);
    }
    for step in unreached {
        found.see(f64::INFINITY, || step);
    }
    found
}

/// The adversarial library in a domain, each set without a new point and with it, first or last.
fn neighbours(
    domain: &Domain,
    n: usize,
    effort: Effort,
    rng: &mut ChaCha20Rng,
) -> Vec<(String, [Points; 2])> {
    let placed = |coords: Vec<f64>| {
        let coords = coords.into_iter().map(|x| domain.place(x)).collect();
        Points::new(coords, DIM).expect("whole rows")
    };
    let mut pairs = Vec::new();
    for (family, without) in families(DIM, n, rng) {
        let added = added_points(DIM, n, rng);
        // Few of them at a time; which ones depends on the size.
        for (i, added) in added.iter().cycle().skip(n).take(effort.of(2, 5)).enumerate() {
            let (first, last) = if i % 2 == 0 { (added, &without) } else { (&without, added) };
            let with = [first.as_slice(), last].concat();
            pairs.push((
                format!("{family} and {added:.2?}"),
                [placed(without.clone()), placed(with)],
            ));
        }
    }
    pairs
}

fn budget(epsilon: f64) -> Budget {
    Budget::new(epsilon, 1e-6).expect("valid")
}

/// Budgets large enough that two levels of a tree are reached on a few points.
const LARGE: f64 = 100.0;

const INTERVALS: [IntervalSize; 3] = [
    IntervalSize::Fixed { intervals: 2 },
    IntervalSize::Fixed { intervals: 128 },
    IntervalSize::Estimated,
];

/// A kind of setting that is new does not compile here: it belongs into the lists of this file.
#[allow(dead_code, reason = "it is there to be compiled")]
fn every_kind_is_listed(
    dpm: dpm::BudgetSplit,
    lsh: (lsh_splits::BudgetSplit, Form),
    lloyd: dp_lloyd::BudgetSplit,
    em_mc: (Selection, Objective),
    rest: (IntervalSize, WeightRule),
    start: Start,
) {
    match start {
        Start::Rings | Start::Map | Start::Even => {}
    }
    match dpm {
        dpm::BudgetSplit::Zcdp { .. } | dpm::BudgetSplit::Pure { .. } => {}
    }
    match lsh {
        (
            lsh_splits::BudgetSplit::Gaussian { .. } | lsh_splits::BudgetSplit::Joint { .. },
            form,
        ) => match form {
            Form::Improved | Form::Published => {}
        },
    }
    match lloyd {
        dp_lloyd::BudgetSplit::Joint | dp_lloyd::BudgetSplit::Pure => {}
    }
    match em_mc {
        (Selection::Pure | Selection::Approximate, Objective::KMeans | Objective::KMedian) => {}
    }
    match rest {
        (IntervalSize::Fixed { .. } | IntervalSize::Estimated, rule) => match rule {
            WeightRule::Clamp | WeightRule::Threshold | WeightRule::Simplex => {}
        },
    }
}

fn trees(domain: &Domain, epsilon: f64) -> Vec<(String, Result<Dpm, ClusterError>)> {
    let mut all = Vec::new();
    for split in [dpm::BudgetSplit::default(), dpm::BudgetSplit::PAPER] {
        for intervals in INTERVALS {
            // One node in a pass over the rows, two, and all of them.
            for counters in [1, 2 * 2 * intervals_of(intervals) * DIM, usize::MAX] {
                all.push((
                    format!("{split:?}, {intervals:?}, {counters} counters"),
                    Dpm::new(
                        domain.public_box(),
                        budget(epsilon),
                        DpmSettings {
                            split,
                            interval_size: intervals,
                            counters,
                            max_depth: 2,
                            minimum_share: Some(0.01),
                            ..Default::default()
                        },
                    ),
                ));
            }
        }
    }
    all
}

/// The most half-intervals over two.
fn intervals_of(size: IntervalSize) -> usize {
    match size {
        IntervalSize::Fixed { intervals } => intervals,
        IntervalSize::Estimated => 128,
    }
}

fn dpm_subjects(domain: &Domain) -> Vec<Subject> {
    let trees = trees(domain, LARGE).into_iter();
    trees.map(|(name, plan)| subject(name, plan)).collect()
}

fn rounds(shares: usize, merge_after: usize, settle: usize) -> Rounds {
    Rounds { shares: vec![1.0; shares], merge_after, settle, ..Rounds::default() }
}

fn recentred_subjects(domain: &Domain) -> Vec<Subject> {
    let mut all = Vec::new();
    for intervals in INTERVALS {
        for clusters in [None, Some(1), Some(5)] {
            for rounds in [rounds(1, 2, 2), rounds(3, 1, 0)] {
                let name = format!("{intervals:?}, {clusters:?} clusters, {rounds:?}");
                let settings = DpmRecentredSettings {
                    interval_size: intervals,
                    max_depth: 2,
                    minimum_share: Some(0.01),
                    rounds,
                    clusters,
                    ..Default::default()
                };
                let plan = DpmRecentred::new(domain.public_box(), budget(LARGE), settings);
                all.push(subject(name, plan));
            }
        }
    }
    all
}

/// Every start, in all ways that a count may lead to; for a number of clusters, and for one that is to be found.
fn plan_subjects(domain: &Domain) -> Vec<Subject> {
    let mut all = Vec::new();
    let mut add = |settings: PrivateKMeansSettings| {
        let plan = PrivateKMeans::new(domain.public_box(), 2, budget(LARGE), settings);
        let plan = plan.expect("valid settings");
        let (cost, ways) = (Cost::of(plan.receipt().spent()), plan.starts().len());
        let run = move |points: &Points, way, source: &mut dyn Source| {
            run(&plan, points, &mut Counting::so_many(&plan, way, source))
        };
        all.push(Subject { name: format!("{settings:?}"), cost, ways, run: Box::new(run) });
    };
    for (start, finds_k) in [
        (None, false),
        (Some(Start::Map), true),
        (Some(Start::Rings), false),
        (Some(Start::Rings), true),
    ] {
        add(PrivateKMeansSettings { start, finds_k, ..Default::default() });
    }
    for records in [0, 3, 1 << 40] {
        let (expected_records, start) = (Some(records), Some(Start::Even));
        add(PrivateKMeansSettings { expected_records, start, ..Default::default() });
    }
    all
}

/// One ring cell per centre and many; counts that are cheap and dear.
fn ring_subjects(domain: &Domain) -> Vec<Subject> {
    let mut all = Vec::new();
    for (k, rounds, growth) in [(1, 1, 1.5), (3, 2, 1.0), (3, 2, 2.0)] {
        for planes in [0, 1, 3] {
            for weight in [0.1, 1.2, 10.0] {
                let name =
                    format!("{k} clusters, {rounds} rounds, {growth}, {planes} planes, {weight}");
                all.push(subject(
                    name,
                    RingRounds::new(
                        domain.public_box(),
                        k,
                        budget(LARGE),
                        RingRoundsSettings {
                            rounds,
                            growth,
                            most_planes: planes,
                            count_weight: Some(weight),
                            ..Default::default()
                        },
                    ),
                ));
            }
        }
    }
    all
}

/// Re-centring after DPM, after LSH-Splits in both forms, after ring rounds, and after re-centring.
fn starts(domain: &Domain) -> Vec<Subject> {
    let public_box = || domain.public_box();
    let whole = budget(LARGE);
    let half = |whole| part_of(whole, 0.5).expect("valid");
    let again = || rounds(2, 1, 0);
    let dpm = |whole| {
        let settings =
            DpmSettings { max_depth: 2, minimum_share: Some(0.01), ..Default::default() };
        Dpm::new(public_box(), half(whole), settings)
    };
    let after = |clusters| {
        dpm(whole).and_then(|start| Recentred::new(start, public_box(), whole, again(), clusters))
    };
    let twice = dpm(half(whole))
        .and_then(|start| Recentred::new(start, public_box(), half(whole), again(), None))
        .and_then(|start| Recentred::new(start, public_box(), whole, again(), Some(2)));
    let mut all = vec![
        subject("after DPM".to_owned(), after(None)),
        subject("after DPM, 3 clusters".to_owned(), after(Some(3))),
        subject("after re-centring".to_owned(), twice),
    ];
    for clusters in [None, Some(2)] {
        let settings = RingRoundsSettings { rounds: 2, most_planes: 1, ..Default::default() };
        let plan = RingRounds::new(public_box(), 2, half(whole), settings)
            .and_then(|s| Recentred::new(s, public_box(), whole, again(), clusters));
        all.push(subject(format!("after ring rounds, {clusters:?}"), plan));
    }
    for form in [Form::Improved, Form::Published] {
        for clusters in [None, Some(2)] {
            let start = lsh(domain, form, lsh_splits::BudgetSplit::default(), half(whole));
            let plan =
                start.and_then(|s| Recentred::new(s, public_box(), whole, again(), clusters));
            all.push(subject(format!("after LSH-Splits, {form:?}, {clusters:?}"), plan));
        }
    }
    all
}

fn lsh(
    domain: &Domain,
    form: Form,
    split: lsh_splits::BudgetSplit,
    budget: Budget,
) -> Result<LshSplits, ClusterError> {
    let settings =
        LshSplitsSettings { form, split, depth: 2, least_leaf: 0.01, ..Default::default() };
    LshSplits::new(domain.ball(), 2, budget, settings)
}

fn lsh_subjects(domain: &Domain) -> Vec<Subject> {
    let splits = [lsh_splits::BudgetSplit::default(), lsh_splits::BudgetSplit::PAPER];
    let both = |split| [Form::Improved, Form::Published].map(|form| (form, split));
    let all = splits.into_iter().flat_map(both);
    all.map(|(form, split)| {
        let name = format!("{form:?}, {split:?}");
        // Exact composition needs budgets of the usual size.
        let joint = matches!(split, lsh_splits::BudgetSplit::Joint { .. });
        subject(name, lsh(domain, form, split, budget(if joint { 20.0 } else { LARGE })))
    })
    .collect()
}

fn lloyd_subjects(domain: &Domain) -> Vec<Subject> {
    use dp_lloyd::BudgetSplit::{Joint, Pure};
    let mut all = Vec::new();
    for split in [Joint, Pure] {
        for (k, iterations) in [(1, 1), (1, 3), (5, 2)] {
            let name = format!("{split:?}, {k} clusters, {iterations} iterations");
            let settings =
                DpLloydSettings { split, iterations: Some(iterations), ..Default::default() };
            all.push(subject(name, DpLloyd::new(domain.public_box(), k, budget(LARGE), settings)));
        }
    }
    all
}

const RULES: [WeightRule; 3] = [WeightRule::Clamp, WeightRule::Threshold, WeightRule::Simplex];

/// With the approximate certificate: the pure one tosses secret coins, which are not compared but summed over.
fn em_mc_subjects(domain: &Domain) -> Vec<Subject> {
    let mut all = Vec::new();
    for rule in RULES {
        for projected in [1, 2] {
            let settings = EmMcSettings {
                weight_rule: rule,
                selection: Selection::Approximate,
                finest_halvings: 2,
                shifts: 2,
                ..Default::default()
            };
            let plan = |settings| EmMc::new(domain.public_box(), 2, budget(LARGE), settings);
            let name = format!("{rule:?}, {projected} dimensions");
            if projected == DIM {
                let median = plan(EmMcSettings { objective: Objective::KMedian, ..settings });
                all.push(subject(format!("k-median, {name}"), median));
            }
            let plan = plan(EmMcSettings { projected_dim: projected, ..settings });
            all.push(subject(name, plan));
        }
    }
    all
}

fn coreset_subjects(domain: &Domain) -> Vec<Subject> {
    let places = [-8.0, -8.0, 0.0, 0.0, 0.0, 0.0, 9.0, -9.0].map(|x| domain.place(x)).to_vec();
    let centres = Points::new(places, DIM).expect("whole rows");
    let mut all = Vec::new();
    for rule in RULES {
        // Geometric noise, and Gaussian noise, which is narrower for a large delta.
        for (epsilon, delta) in [(0.5, 0.0), (0.5, 1e-6), (0.5, 0.1)] {
            let budget = Budget::new(epsilon, delta).expect("valid");
            all.push(subject(
                format!("{rule:?}, delta {delta}"),
                CoresetFromCentres::new(
                    centres.clone(),
                    budget,
                    CoresetFromCentresSettings { weight_rule: rule },
                ),
            ));
        }
    }
    all
}

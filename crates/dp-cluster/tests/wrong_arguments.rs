//! Every public constructor and every setting with 0, tiny and huge numbers, and what is no number: nothing panics, and what is refused is
//! named with its value.
//!
//! Budgets, boxes, balls and distances are checked where they are made, by the crates below.
#![allow(clippy::print_stderr, reason = "of a test that fails")]

use std::fmt::Display;

use dp_accounting::Mu;
use dp_cluster::coreset::CoresetFromCentres;
use dp_cluster::distance::{NoisedPoints, RegionCoreset, RegionCoresetSettings, RegionRule};
use dp_cluster::dp_lloyd::{DpLloyd, DpLloydSettings};
use dp_cluster::dpm::{self, CutWeights, Dpm, DpmSettings, IntervalSize};
use dp_cluster::em_mc::{EmMc, EmMcSettings};
use dp_cluster::kmeans::{KMeans, KMeansSettings};
use dp_cluster::kmedian::{KMedian, KMedianSettings};
use dp_cluster::local_search::{LocalSearch, LocalSearchSettings, Objective};
use dp_cluster::lsh_splits::{LshSplits, LshSplitsSettings};
use dp_cluster::map::{PrivateMap, PrivateMapSettings};
use dp_cluster::private_centres::{PrivateCentres, PrivateCentresSettings};
use dp_cluster::private_kmeans::{PrivateKMeans, PrivateKMeansSettings, Start};
use dp_cluster::private_local_search::{PrivateLocalSearch, PrivateLocalSearchSettings};
use dp_cluster::recentring::{
    DpmRecentred, DpmRecentredSettings, Recentred, RecentredSplit, Rounds,
};
use dp_cluster::rings::{RingRounds, RingRoundsSettings};
use dp_cluster::stemmer_kaplan::{StemmerKaplan, StemmerKaplanSettings};
use dp_cluster::{
    AddRemove, Budget, ClusterError, Points, PublicBall, PublicBox, metrics, nearest,
};
use dp_mechanism::{ChaCha20Rng, Coordinates, Nearby};
use rand::SeedableRng;

const SIZES: [usize; 7] = [0, 1, 2, 1000, 1 << 20, 1 << 40, usize::MAX];
const LEVELS: [u32; 6] = [0, 1, 5, 30, 64, u32::MAX];
const NUMBERS: [f64; 10] = [
    f64::NAN,
    f64::NEG_INFINITY,
    -1.0,
    0.0,
    f64::MIN_POSITIVE,
    0.5,
    1.0,
    1e9,
    f64::MAX,
    f64::INFINITY,
];

/// Of each value: `+` if it is accepted, `-` if it is refused with its value in the message, `?` by what
/// follows from it, or because a message never has a coordinate.
fn outcomes<V: Copy + Display, T, E: Display>(
    values: &[V],
    number: impl Fn(V) -> f64,
    of: impl Fn(V) -> Result<T, E>,
) -> String {
    let outcome = |&value: &V| match of(value) {
        Ok(_) => '+',
        Err(error) => {
            let (error, as_number) = (error.to_string(), number(value));
            let said = [value.to_string(), as_number.to_string(), format!("{as_number:e}")];
            if said.iter().any(|said| error.contains(said)) {
                return '-';
            }
            eprintln!("{value}: {error}");
            '?'
        }
    };
    values.iter().map(outcome).collect()
}

fn sizes<T, E: Display>(of: impl Fn(usize) -> Result<T, E>) -> String {
    outcomes(&SIZES, |size| size as f64, of)
}

fn numbers<T, E: Display>(of: impl Fn(f64) -> Result<T, E>) -> String {
    outcomes(&NUMBERS, |number| number, of)
}

/// The coarsest level with the finest one above it, and the finest with the coarsest 0.
fn levels<T, E: Display>(of: impl Fn(u32, u32) -> Result<T, E>) -> String {
    let coarsest = outcomes(
        &LEVELS,
        |level| f64::from(level) + 1.0,
        |level| of(level, level.saturating_add(1)),
    );
    let finest = outcomes(&LEVELS, f64::from, |level| of(0, level));
    format!("{coarsest} {finest}")
}

fn square() -> PublicBox {
    PublicBox::cube(2, -1.0, 1.0).expect("valid")
}

fn ball() -> PublicBall {
    PublicBall::around(&square()).expect("valid")
}

fn budget() -> Budget {
    Budget::new(1.0, 1e-6).expect("valid")
}

fn corners() -> Points {
    Points::new(vec![-1.0, -1.0, 1.0, 1.0, 0.0, 0.5], 2).expect("whole rows")
}

fn near() -> Nearby<Coordinates> {
    Nearby::new(0.1).expect("valid")
}

/// What changes the usual settings.
type Set<'a, S> = &'a dyn Fn(&mut S);

fn with<S: Default>(set: Set<'_, S>) -> S {
    let mut settings = S::default();
    set(&mut settings);
    settings
}

fn usual<S: Default>() -> S {
    S::default()
}

fn dpm(set: Set<'_, DpmSettings>) -> Result<Dpm, ClusterError> {
    Dpm::new(square(), budget(), with(set))
}

fn recentred(set: Set<'_, DpmRecentredSettings>) -> Result<DpmRecentred, ClusterError> {
    DpmRecentred::new(square(), budget(), with(set))
}

fn splits(set: Set<'_, LshSplitsSettings>) -> Result<LshSplits, ClusterError> {
    LshSplits::new(ball(), 3, budget(), with(set))
}

fn lloyd(set: Set<'_, DpLloydSettings>) -> Result<DpLloyd, ClusterError> {
    DpLloyd::new(square(), 3, budget(), with(set))
}

fn centres(set: Set<'_, PrivateCentresSettings>) -> Result<PrivateCentres, ClusterError> {
    PrivateCentres::new(square(), 3, budget(), with(set))
}

fn paper(set: Set<'_, StemmerKaplanSettings>) -> Result<StemmerKaplan, ClusterError> {
    StemmerKaplan::new(square(), 3, budget(), with(set))
}

fn swaps(set: Set<'_, PrivateLocalSearchSettings>) -> Result<PrivateLocalSearch, ClusterError> {
    PrivateLocalSearch::new(corners(), square(), 2, budget(), with(set))
}

fn regions(set: Set<'_, RegionCoresetSettings>) -> Result<RegionCoreset, ClusterError> {
    RegionCoreset::new(square(), near(), 100, 3, budget(), with(set))
}

fn means(set: Set<'_, KMeansSettings>) -> Result<KMeans, ClusterError> {
    KMeans::new(3, with(set))
}

fn medians(set: Set<'_, KMedianSettings>) -> Result<KMedian, ClusterError> {
    KMedian::new(3, with(set))
}

fn search(set: Set<'_, LocalSearchSettings>) -> Result<LocalSearch, ClusterError> {
    LocalSearch::new(3, Objective::KMedian, with(set))
}

fn cover(set: Set<'_, EmMcSettings>) -> Result<EmMc, ClusterError> {
    EmMc::new(square(), 3, budget(), with(set))
}

fn rings(set: Set<'_, RingRoundsSettings>) -> Result<RingRounds, ClusterError> {
    RingRounds::new(square(), 3, budget(), with(set))
}

fn plan(set: Set<'_, PrivateKMeansSettings>) -> Result<PrivateKMeans, ClusterError> {
    PrivateKMeans::new(square(), 3, budget(), with(set))
}

fn map(set: Set<'_, PrivateMapSettings>) -> Result<PrivateMap<AddRemove>, ClusterError> {
    PrivateMap::add_remove(square(), budget(), with(set))
}

/// Ends with all that differ, so that one run shows them.
fn compare(seen: &[(&str, String, &str)]) {
    let differ = seen.iter().filter(|(_, seen, want)| seen != want);
    let differ: Vec<String> =
        differ.map(|(name, seen, want)| format!("{name}: {seen}, not {want}")).collect();
    assert!(differ.is_empty(), "\n{}", differ.join("\n"));
}

#[test]
fn numbers_of_clusters() {
    compare(&[
        ("KMeans", sizes(|k| KMeans::new(k, usual())), "-++++--"),
        ("KMedian", sizes(|k| KMedian::new(k, usual())), "-++++--"),
        ("LocalSearch", sizes(|k| LocalSearch::new(k, Objective::KMeans, usual())), "-++++--"),
        ("DpmRecentred", sizes(|k| recentred(&|s| s.clusters = Some(k))), "-++++--"),
        ("PrivateKMeans", sizes(|k| PrivateKMeans::new(square(), k, budget(), usual())), "-++++--"),
        ("RingRounds", sizes(|k| RingRounds::new(square(), k, budget(), usual())), "-++++--"),
        ("LshSplits", sizes(|k| LshSplits::new(ball(), k, budget(), usual())), "-++++--"),
        ("EmMc", sizes(|k| EmMc::new(square(), k, budget(), usual())), "-+++---"),
        ("DpLloyd", sizes(|k| DpLloyd::new(square(), k, budget(), usual())), "-+++---"),
        (
            "PrivateCentres",
            sizes(|k| PrivateCentres::new(square(), k, budget(), usual())),
            "-++++--",
        ),
        ("StemmerKaplan", sizes(|k| StemmerKaplan::new(square(), k, budget(), usual())), "-++++--"),
        (
            "PrivateLocalSearch",
            sizes(|k| PrivateLocalSearch::new(corners(), square(), k, budget(), usual())),
            "-++++--",
        ),
        (
            "RegionCoreset",
            sizes(|k| RegionCoreset::new(square(), near(), 100, k, budget(), usual())),
            "-++++--",
        ),
        (
            "Recentred",
            sizes(|k| {
                let start = Dpm::new(square(), Budget::new(0.5, 1e-7)?, usual())?;
                Recentred::new(start, square(), budget(), Rounds::default(), Some(k))
            }),
            "-++++--",
        ),
    ]);
}

#[test]
fn sizes_of_other_settings() {
    compare(&[
        ("KMeans restarts", sizes(|n| means(&|s| s.restarts = n)), "-++++++"),
        ("KMeans trials", sizes(|n| means(&|s| s.trials_per_step = Some(n))), "-++++++"),
        ("KMeans iterations", sizes(|n| means(&|s| s.max_iterations = n)), "+++++--"),
        ("KMeans steps", sizes(|n| means(&|s| s.local_search_steps = n)), "+++++--"),
        ("KMedian iterations", sizes(|n| medians(&|s| s.max_iterations = n)), "+++++--"),
        ("KMedian steps", sizes(|n| medians(&|s| s.local_search_steps = Some(n))), "+++++--"),
        ("KMedian restarts", sizes(|n| medians(&|s| s.restarts = n)), "-++++++"),
        ("Dpm depth", sizes(|n| dpm(&|s| s.max_depth = n)), "-++----"),
        ("Dpm counters", sizes(|n| dpm(&|s| s.counters = n)), "+++++++"),
        (
            "Dpm intervals",
            sizes(|intervals| dpm(&|s| s.interval_size = IntervalSize::Fixed { intervals })),
            "--+----",
        ),
        ("DpmRecentred depth", sizes(|n| recentred(&|s| s.max_depth = n)), "-++----"),
        (
            "PrivateKMeans records",
            sizes(|n| plan(&|s| s.expected_records = Some(n as u64))),
            "+++++++",
        ),
        ("RingRounds rounds", sizes(|n| rings(&|s| s.rounds = n)), "-++----"),
        ("RingRounds planes", sizes(|n| rings(&|s| s.most_planes = n)), "+++----"),
        ("LshSplits depth", sizes(|n| splits(&|s| s.depth = n)), "-++----"),
        ("EmMc dimensions", sizes(|n| cover(&|s| s.projected_dim = n)), "-++----"),
        ("EmMc shifts", sizes(|n| cover(&|s| s.shifts = n)), "-++----"),
        ("EmMc picks", sizes(|n| cover(&|s| s.picks_per_scale = Some(n))), "-+++---"),
        (
            "EmMc halvings",
            outcomes(&LEVELS, f64::from, |n| cover(&|s| s.finest_halvings = n)),
            "-+++--",
        ),
        ("DpLloyd iterations", sizes(|n| lloyd(&|s| s.iterations = Some(n))), "-+++---"),
        ("DpLloyd records", sizes(|n| lloyd(&|s| s.expected_records = Some(n as u64))), "+++++++"),
        ("PrivateCentres repetitions", sizes(|n| centres(&|s| s.repetitions = n)), "-+++---"),
        ("PrivateCentres levels", levels(|a, b| centres(&|s| s.levels = a..=b)), "+++--- +++---"),
        ("StemmerKaplan rounds", sizes(|n| paper(&|s| s.rounds = n)), "-++----"),
        ("StemmerKaplan farthest", sizes(|n| paper(&|s| s.farthest = Some(n))), "-++++++"),
        ("StemmerKaplan swaps", sizes(|n| paper(&|s| s.swaps = Some(n))), "-+++---"),
        ("StemmerKaplan candidates", sizes(|n| paper(&|s| s.most_candidates = n)), "--+++++"),
        ("StemmerKaplan repetitions", sizes(|n| paper(&|s| s.repetitions = n)), "-+++---"),
        ("StemmerKaplan levels", levels(|a, b| paper(&|s| s.levels = a..=b)), "+++--- +++---"),
        ("PrivateLocalSearch rounds", sizes(|n| swaps(&|s| s.rounds = Some(n))), "-+++---"),
        ("PrivateLocalSearch start", sizes(|n| swaps(&|s| s.start = Some(vec![0, n]))), "-++----"),
        (
            "RegionCoreset repetitions",
            outcomes(&LEVELS, f64::from, |n| regions(&|s| s.repetitions = n)),
            "-++++-",
        ),
        (
            "RegionCoreset levels",
            levels(|a, b| regions(&|s| (s.coarse_level, s.finest_level) = (Some(a), Some(b)))),
            "+++--- -++---",
        ),
        (
            "RegionCoreset least cell",
            sizes(|n| regions(&|s| s.least_cell = Some(n as u64))),
            "-++++++",
        ),
        (
            "RegionCoreset records",
            sizes(|n| RegionCoreset::new(square(), near(), n as u64, 3, budget(), usual())),
            "-++++++",
        ),
        (
            "NoisedPoints records",
            sizes(|n| NoisedPoints::new(square(), near(), n as u64, budget())),
            "+++++++",
        ),
        ("map levels", levels(|a, b| map(&|s| s.levels = Some(a..=b))), "+++--- +++---"),
        (
            "map records",
            sizes(|n| PrivateMap::replace_one(square(), n as u64, budget(), usual())),
            "+++++++",
        ),
        ("map steps", sizes(|n| map(&|s| s.fit_steps = n)), "+++++++"),
    ]);
}

#[test]
fn numbers_of_other_settings() {
    let weights = |weights| dpm(&|s| s.weights = weights);
    compare(&[
        ("KMeans tolerance", numbers(|x| means(&|s| s.relative_tolerance = x)), "---+++----"),
        ("KMedian tolerance", numbers(|x| medians(&|s| s.relative_tolerance = x)), "---+++----"),
        ("LocalSearch tolerance", numbers(|x| search(&|s| s.tolerance = x)), "---+++----"),
        ("Dpm share", numbers(|x| dpm(&|s| s.minimum_share = Some(x))), "----++----"),
        (
            "Dpm split",
            numbers(|cuts| {
                let split = dpm::BudgetSplit::Zcdp { interval: 0.1, counts: 0.1, cuts, sums: 0.7 };
                dpm(&|s| s.split = split)
            }),
            "----?+++?-",
        ),
        ("Dpm t", numbers(|t| weights(CutWeights { t, ..CutWeights::default() })), "-----++---"),
        ("Dpm q", numbers(|q| weights(CutWeights { q, ..CutWeights::default() })), "----------"),
        (
            "Dpm alpha",
            numbers(|alpha| weights(CutWeights { alpha, ..CutWeights::default() })),
            "---++++---",
        ),
        (
            "DpmRecentred split",
            numbers(|radii| {
                let split = RecentredSplit { radii, ..RecentredSplit::default() };
                recentred(&|s| s.split = split)
            }),
            "----?++??-",
        ),
        ("Rounds share", numbers(|x| recentred(&|s| s.rounds.shares = vec![x])), "----+++++-"),
        ("RingRounds growth", numbers(|x| rings(&|s| s.growth = x)), "------+---"),
        ("RingRounds weight", numbers(|x| rings(&|s| s.count_weight = Some(x))), "-----++---"),
        ("LshSplits leaf", numbers(|x| splits(&|s| s.least_leaf = x)), "----+++---"),
        ("RegionCoreset spacing", numbers(|x| regions(&|s| s.spacing = Some(x))), "----+++++-"),
        (
            "RegionCoreset far",
            numbers(|x| regions(&|s| (s.rule, s.far) = (RegionRule::TruePoint, Some(x)))),
            "----+++++-",
        ),
        (
            "CoresetFromCentres",
            numbers(|x| {
                let centres = Points::new(vec![x, 0.0], 2)?;
                CoresetFromCentres::new(centres, budget(), usual())
            }),
            "??++++++??",
        ),
    ]);
}

#[test]
fn boxes_and_starts_that_do_not_fit() {
    let line = PublicBox::cube(1, 0.0, 1.0).expect("valid");
    let wide = PublicBox::cube(50, -1.0, 1.0).expect("valid");
    let pure = Budget::new(1.0, 0.0).expect("valid");
    let none = Points::new(Vec::new(), 2).expect("no row");
    let refused = [
        PrivateMap::add_remove(wide.clone(), budget(), usual()).err(),
        PrivateMap::add_remove(square(), pure, usual()).err(),
        PrivateKMeans::new(
            wide,
            3,
            budget(),
            with(&|s: &mut PrivateKMeansSettings| s.start = Some(Start::Map)),
        )
        .err(),
        PrivateLocalSearch::new(none.clone(), square(), 2, budget(), usual()).err(),
        PrivateLocalSearch::new(corners(), line.clone(), 2, budget(), usual()).err(),
        PrivateLocalSearch::new(
            corners(),
            square(),
            2,
            budget(),
            with(&|s: &mut PrivateLocalSearchSettings| s.start = Some(vec![0])),
        )
        .err(),
        DpLloyd::new(line, 3, budget(), with(&|s: &mut DpLloydSettings| s.start = Some(corners())))
            .err(),
        StemmerKaplan::new(square(), 3, pure, usual()).err(),
        DpmRecentred::new(
            square(),
            budget(),
            with(&|s: &mut DpmRecentredSettings| {
                s.rounds = Rounds { shares: Vec::new(), ..Rounds::default() }
            }),
        )
        .err(),
    ];
    for (number, error) in refused.iter().enumerate() {
        assert!(error.as_ref().is_some_and(|error| !error.to_string().is_empty()), "{number}");
    }
}

fn said<T, E: Display>(outcome: Result<T, E>) -> String {
    outcome.map_or_else(|error| error.to_string(), |_| "accepted".to_owned())
}

/// What takes points, weights and numbers of clusters after a release. A message never has a coordinate or a weight of somebody's data.
#[test]
#[allow(clippy::too_many_lines, reason = "one entry for each refusal")]
fn solvers_and_what_is_made_of_releases() {
    use dp_cluster::coreset::{PrivateCoreset, WeightRule};
    use dp_cluster::distance::{NearbyKMeans, SoftRecentred, SoftStep};
    use dp_cluster::kmedian::exact_geometric_median;
    use dp_cluster::metrics::reference_clusterings;
    use dp_cluster::recentring::part_of;
    use dp_cluster::{Clustering, Mechanism};
    use rand::{SeedableRng, rngs::ChaCha20Rng};

    let rng = || ChaCha20Rng::seed_from_u64(1);
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    let means = KMeans::new(2, usual()).expect("valid");
    let medians = KMedian::new(2, usual()).expect("valid");
    let search = LocalSearch::new(2, Objective::KMeans, usual()).expect("valid");
    let fit = |weights: &[f64]| said(means.exact_fit(corners().view(), Some(weights), &mut rng()));
    let fit_median =
        |weights: &[f64]| said(medians.exact_fit(corners().view(), Some(weights), &mut rng()));
    let middle = |weights: &[f64]| said(exact_geometric_median(corners().view(), Some(weights), 9));
    let row = |x: f64| Points::new(vec![x, 0.0], 2).expect("a row");
    let of_row = |x: f64| said(means.exact_fit(row(x).view(), None, &mut rng()));
    let three = Points::new(vec![0.0; 6], 3).expect("rows");
    let swaps = |candidates: &Points| {
        said(search.exact_fit(corners().view(), None, candidates.view(), &mut rng()))
    };
    let references =
        |k: &[usize]| said(reference_clusterings(corners().view(), k, 1, 1, 10, &mut rng()));
    let public = |weights: &[f64]| said(PrivateCoreset::assume_public(corners(), weights.to_vec()));
    let step = |radius, softness| said(SoftStep::new(square(), corners(), radius, softness));
    let plan = PrivateMap::add_remove(square(), budget(), usual()).expect("valid");
    let map = plan.simulate(corners().view(), &mut rng()).expect("a map").output;
    let nearby = |k| said(NearbyKMeans::new(square(), near(), 100, k, budget(), 1));
    let soft = |k| said(SoftRecentred::new(square(), near(), 100, k, budget(), 1));
    let count = |counts: &[i64]| said(Clustering::new(corners(), counts.to_vec()));
    let share = |share| said(part_of(budget(), share));
    let (weights, weight) = ("one weight per point, got", "between 0 and 1e75");
    let clusters = "between 1 and 16777216, got";
    let (mut seen, mut differ) = (0, Vec::new());
    for (said, wanted) in [
        (fit(&[]), format!("{weights} 0 for 3 points")),
        (fit(&[1.0; 4]), format!("{weights} 4 for 3 points")),
        (fit(&[1.0, nan, 1.0]), weight.to_owned()),
        (fit(&[1.0, -1.0, 1.0]), weight.to_owned()),
        (fit(&[1.0, inf, 1.0]), weight.to_owned()),
        (fit(&[1e300; 3]), weight.to_owned()),
        (fit(&[0.0; 3]), "accepted".to_owned()),
        (fit(&[5e-324; 3]), "accepted".to_owned()),
        (fit_median(&[1.0]), format!("{weights} 1 for 3 points")),
        (fit_median(&[nan; 3]), weight.to_owned()),
        (fit_median(&[-5e-324, 1.0, 1.0]), weight.to_owned()),
        (fit_median(&[0.0; 3]), "accepted".to_owned()),
        (middle(&[1.0; 2]), format!("{weights} 2 for 3 points")),
        (middle(&[inf; 3]), weight.to_owned()),
        (middle(&[0.0; 3]), "accepted".to_owned()),
        (middle(&[5e-324, 0.0, 1e75]), "accepted".to_owned()),
        (of_row(nan), "coordinate".to_owned()),
        (of_row(inf), "coordinate".to_owned()),
        (of_row(-1e300), "coordinate".to_owned()),
        (of_row(1e75), "accepted".to_owned()),
        (swaps(&three), "the points have 2 coordinates each, the public domain has 3".to_owned()),
        (swaps(&Points::new(vec![], 2).expect("none")), "accepted".to_owned()),
        (swaps(&row(nan)), "coordinate".to_owned()),
        (references(&[0]), format!("{clusters} 0")),
        (references(&[2, usize::MAX]), format!("{clusters} 18446744073709551615")),
        (references(&[]), "accepted".to_owned()),
        (public(&[1.0]), format!("{weights} 1 for 3 points")),
        (public(&[nan; 3]), weight.to_owned()),
        (public(&[-0.5; 3]), weight.to_owned()),
        (public(&[inf; 3]), weight.to_owned()),
        (step(0.0, 1.0), "radius must be finite and > 0, got 0".to_owned()),
        (step(nan, 1.0), "radius must be finite and > 0, got NaN".to_owned()),
        (step(1.0, -1.0), "softness must be finite and > 0, got -1".to_owned()),
        (step(1.0, inf), "softness must be finite and > 0, got inf".to_owned()),
        (
            said(SoftStep::new(square(), three.clone(), 1.0, 1.0)),
            "have 3 coordinates each".to_owned(),
        ),
        (
            said(SoftStep::new(square(), Points::new(vec![], 2).expect("none"), 1.0, 1.0)),
            "`centres` must be at least 1, got 0".to_owned(),
        ),
        (said(map.kmeans(0, &mut rng())), format!("{clusters} 0")),
        (said(map.kmeans(usize::MAX, &mut rng())), format!("{clusters} 18446744073709551615")),
        (said(map.kmedian(0, &mut rng())), format!("{clusters} 0")),
        (said(map.kmedian(1 << 40, &mut rng())), format!("{clusters} 1099511627776")),
        (said(map.clustering(0, &mut rng())), format!("{clusters} 0")),
        (nearby(0), format!("{clusters} 0")),
        (nearby(usize::MAX), format!("{clusters} 18446744073709551615")),
        (soft(0), "k must be between 1 and 65536, got 0".to_owned()),
        (soft(65_537), "k must be between 1 and 65536, got 65537".to_owned()),
        (count(&[]), "one count per centre, got 0 for 3 centres".to_owned()),
        (count(&[1; 4]), "one count per centre, got 4 for 3 centres".to_owned()),
        (count(&[i64::MIN, 0, i64::MAX]), "accepted".to_owned()),
        (share(0.0), "above 0 and at most 1, got 0".to_owned()),
        (share(-0.5), "above 0 and at most 1, got -0.5".to_owned()),
        (share(1.5), "above 0 and at most 1, got 1.5".to_owned()),
        (share(nan), "above 0 and at most 1, got NaN".to_owned()),
        (said(part_of(Budget::new(1.0, 0.0).expect("pure"), 0.5)), "delta".to_owned()),
    ] {
        seen += 1;
        if !said.contains(&wanted) {
            differ.push(format!("{said}, not {wanted}"));
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
    assert_eq!(seen, 53);
    for rule in [WeightRule::Clamp, WeightRule::Threshold, WeightRule::Simplex] {
        for noise in [0.0, nan, -1.0, inf] {
            assert!(rule.post_weights(&[], noise).is_empty());
            let weights = rule.post_weights(&[i64::MIN, -1, 0, i64::MAX], noise);
            assert!(weights.iter().all(|weight| *weight >= 0.0), "{rule:?} {noise}: {weights:?}");
        }
    }
    let swaps = PrivateLocalSearch::new(corners(), square(), 2, budget(), usual()).expect("valid");
    for beta in [nan, -1.0, 0.0, 5e-324, 0.5, 1.0, inf] {
        let cost = swaps.forecast(beta);
        assert!(cost >= 0.0, "{beta}: {cost}");
    }
}

/// What somebody else has written of a release.
#[test]
fn releases_that_are_none() {
    let read = |text: &str| said(serde_json::from_str::<dp_cluster::Clustering>(text));
    let centre = r#""centres":{"coords":[1,2],"dim":2},"counts":[3]"#;
    let errors = |errors: &str| read(&format!("{{{centre},\"errors\":{errors}}}"));
    let coreset = |dim: &str| {
        let points = format!("{{\"coords\":[1,2,3,4,5,6],\"dim\":{dim}}}");
        let weights = if dim == "2" { "[1,1,1]" } else { "[1,1]" };
        read(&format!("{{{centre},\"coreset\":{{\"points\":{points},\"weights\":{weights}}}}}"))
    };
    for (said, wanted) in [
        (read(&format!("{{{centre}}}")), "accepted"),
        (read(r#"{"centres":{"coords":[1,2],"dim":2},"counts":[]}"#), "got 0 for 1 centres"),
        (read(r#"{"centres":{"coords":[1,2],"dim":2},"counts":[1,4]}"#), "got 2 for 1 centres"),
        (read(r#"{"centres":{"coords":[1,2],"dim":3},"counts":[1]}"#), "cut into rows of 3"),
        (read(r#"{"centres":{"coords":[1,2],"dim":2}}"#), "missing field `counts`"),
        (errors(r#"[{"at":[1,1],"count":1,"signal":true}]"#), "accepted"),
        (errors("[]"), "one error per centre, got 0 for 1 centres"),
        (errors(r#"[{"at":[1],"count":1,"signal":true}]"#), "have 1 coordinates each"),
        (coreset("2"), "accepted"),
        (coreset("3"), "have 3 coordinates each"),
        (coreset("0"), "the dimension must be at least 1, got 0"),
    ] {
        assert!(said.contains(wanted), "{said}, not {wanted}");
    }
}

/// Records of another dimension are refused by every plan, before anything is drawn.
#[test]
fn records_of_another_dimension() {
    use dp_cluster::Mechanism;
    use dp_cluster::passes::Passes;
    use dp_cluster::private_box::PrivateBox;
    use rand::{SeedableRng, rngs::ChaCha20Rng};

    macro_rules! refuse {
        ($($plan:expr),* $(,)?) => {
            [$({
                let plan = $plan.expect("valid");
                [1_usize, 3].map(|dim| {
                    let points = Points::new(vec![0.0; 3 * dim], dim).expect("rows");
                    let mut rng = ChaCha20Rng::seed_from_u64(1);
                    let outcome = plan.simulate(points.view(), &mut rng);
                    assert_eq!(rng.get_word_pos(), 0, "nothing is drawn");
                    (dim, said(outcome))
                })
            }),*]
        };
    }
    let centres = CoresetFromCentres::new(corners(), budget(), usual());
    let seen = refuse![
        dpm(&|_| ()),
        recentred(&|_| ()),
        splits(&|_| ()),
        lloyd(&|_| ()),
        self::centres(&|_| ()),
        paper(&|_| ()),
        swaps(&|_| ()),
        cover(&|_| ()),
        rings(&|_| ()),
        plan(&|_| ()),
        map(&|_| ()),
        PrivateBox::plan(square(), budget()),
        centres,
    ];
    for (dim, said) in seen.iter().flatten() {
        let wanted = format!("have {dim} coordinates each, the public domain has 2 dimensions");
        assert!(said.contains(&wanted), "{said}");
    }
    assert_eq!(2 * seen.len(), 26);
    let passes = Passes::new(plan(&|_| ()).expect("valid")).expect("has tables");
    let mut tally = passes.asked().tally().expect("has a table");
    for dim in [1, 3] {
        let points = Points::new(vec![0.0; 3 * dim], dim).expect("rows");
        assert!(said(tally.add(points.view())).contains("do not have the shape"), "{dim}");
    }
}

/// What looks at points beside centres, references, labels or a domain of another shape: refused with both numbers.
#[test]
fn shapes_that_do_not_fit_each_other() {
    let plane = Points::new(vec![0.0; 8], 2).unwrap();
    let line = Points::new(vec![0.0; 3], 1).unwrap();
    let (plane, line) = (plane.view(), line.view());
    let references = [line.to_points()];
    let rng = &mut ChaCha20Rng::seed_from_u64(1);
    let mu = Mu::new(1.0).unwrap();
    let unlike = ClusterError::CentresDimension { points: 2, centres: 1 };
    assert_eq!(unlike.to_string(), "the points have 2 coordinates each, the centres 1");
    assert_eq!(nearest(plane, line), Err(unlike.clone()));
    let numbers = [
        metrics::squared_inertia(plane, line),
        metrics::inertia(plane, line),
        metrics::accuracy(plane, &[0; 4], line),
        metrics::silhouette(plane, line, 10, rng),
        metrics::information_floor(plane, line, mu),
        metrics::distinct_clusters_found(plane, line).map(|found| found as f64),
    ];
    assert!(numbers.iter().all(|number| *number == Err(unlike.clone())), "{numbers:?}");
    assert_eq!(metrics::kmeans_distance(plane, &references), Err(unlike.clone()));
    let labels = ClusterError::LabelsLength { points: 4, labels: 3 };
    assert_eq!(metrics::accuracy(plane, &[0; 3], plane), Err(labels));
    let domain = PublicBox::cube(3, 0.0, 1.0).unwrap();
    let found = metrics::normalised_kmeans_distance(plane, &[plane.to_points()], &domain);
    assert_eq!(found, Err(ClusterError::Dimension { expected: 3, got: 2 }));
    // No centres at all are another matter: they have a dimension.
    let none = Points::new(vec![], 1).unwrap();
    assert_eq!(nearest(plane, none.view()), Err(unlike));
}

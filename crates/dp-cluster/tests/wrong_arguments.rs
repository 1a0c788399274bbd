//! Every public constructor and every setting with 0, tiny and huge numbers, and what is no number: nothing panics, and what is refused is
//! named with its value.
//!
//! Budgets, boxes, balls and distances are checked where they are made, by the crates below.

use std::fmt::Display;

use dp_cluster::coreset::CoresetFromCentres;
use dp_cluster::distance::{NoisedPoints, RegionCoreset, RegionRule};
use dp_cluster::dp_lloyd::DpLloyd;
use dp_cluster::dpm::{self, CutWeights, Dpm, IntervalSize};
use dp_cluster::em_mc::EmMc;
use dp_cluster::kmeans::KMeans;
use dp_cluster::kmedian::KMedian;
use dp_cluster::local_search::{LocalSearch, Objective};
use dp_cluster::lsh_splits::LshSplits;
use dp_cluster::map::PrivateMap;
use dp_cluster::private_centres::PrivateCentres;
use dp_cluster::private_kmeans::{PrivateKMeans, Start};
use dp_cluster::private_local_search::PrivateLocalSearch;
use dp_cluster::recentring::{DpmRecentred, Recentred, RecentredSplit, Rounds};
use dp_cluster::rings::RingRounds;
use dp_cluster::stemmer_kaplan::StemmerKaplan;
use dp_cluster::{Budget, Points, PublicBall, PublicBox};
use dp_mechanism::{Coordinates, Nearby};

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
        ("KMeans", sizes(|k| KMeans::builder(k).build()), "-++++--"),
        ("KMedian", sizes(|k| KMedian::builder(k).build()), "-++++--"),
        ("LocalSearch", sizes(|k| LocalSearch::builder(k, Objective::KMeans).build()), "-++++--"),
        (
            "DpmRecentred",
            sizes(|k| DpmRecentred::builder(square(), budget()).clusters(k).build()),
            "-++++--",
        ),
        (
            "PrivateKMeans",
            sizes(|k| PrivateKMeans::builder(square(), k, budget()).build()),
            "-++++--",
        ),
        ("RingRounds", sizes(|k| RingRounds::builder(square(), k, budget()).build()), "-++++--"),
        ("LshSplits", sizes(|k| LshSplits::builder(ball(), k, budget()).build()), "-++++--"),
        ("EmMc", sizes(|k| EmMc::builder(square(), k, budget()).build()), "-+++---"),
        ("DpLloyd", sizes(|k| DpLloyd::builder(square(), k, budget()).build()), "-+++---"),
        (
            "PrivateCentres",
            sizes(|k| PrivateCentres::builder(square(), k, budget()).build()),
            "-++++--",
        ),
        (
            "StemmerKaplan",
            sizes(|k| StemmerKaplan::builder(square(), k, budget()).build()),
            "-++++--",
        ),
        (
            "PrivateLocalSearch",
            sizes(|k| PrivateLocalSearch::builder(corners(), square(), k, budget()).build()),
            "-++++--",
        ),
        (
            "RegionCoreset",
            sizes(|k| RegionCoreset::builder(square(), near(), 100, k, budget()).build()),
            "-++++--",
        ),
        (
            "Recentred",
            sizes(|k| {
                let start = Dpm::builder(square(), Budget::new(0.5, 1e-7)?).build()?;
                Recentred::new(start, square(), budget(), Rounds::default(), Some(k))
            }),
            "-++++--",
        ),
    ]);
}

#[test]
fn sizes_of_other_settings() {
    let dpm = || Dpm::builder(square(), budget());
    let recentred = || DpmRecentred::builder(square(), budget());
    let splits = || LshSplits::builder(ball(), 3, budget());
    let lloyd = || DpLloyd::builder(square(), 3, budget());
    let centres = || PrivateCentres::builder(square(), 3, budget());
    let paper = || StemmerKaplan::builder(square(), 3, budget());
    let swaps = || PrivateLocalSearch::builder(corners(), square(), 2, budget());
    let regions = || RegionCoreset::builder(square(), near(), 100, 3, budget());
    let means = || KMeans::builder(3);
    let cover = || EmMc::builder(square(), 3, budget());
    let rings = || RingRounds::builder(square(), 3, budget());
    compare(&[
        ("KMeans restarts", sizes(|n| means().restarts(n).build()), "-++++++"),
        ("KMeans trials", sizes(|n| means().trials_per_step(Some(n)).build()), "-++++++"),
        ("KMedian restarts", sizes(|n| KMedian::builder(3).restarts(n).build()), "-++++++"),
        ("Dpm depth", sizes(|n| dpm().max_depth(n).build()), "-++----"),
        ("Dpm counters", sizes(|n| dpm().counters(n).build()), "+++++++"),
        (
            "Dpm intervals",
            sizes(|intervals| dpm().interval_size(IntervalSize::Fixed { intervals }).build()),
            "--+----",
        ),
        ("DpmRecentred depth", sizes(|n| recentred().max_depth(n).build()), "-++----"),
        (
            "PrivateKMeans records",
            sizes(|n| {
                PrivateKMeans::builder(square(), 3, budget()).expected_records(n as u64).build()
            }),
            "+++++++",
        ),
        ("RingRounds rounds", sizes(|n| rings().rounds(n).build()), "-++----"),
        ("RingRounds planes", sizes(|n| rings().most_planes(n).build()), "+++----"),
        ("LshSplits depth", sizes(|n| splits().depth(n).build()), "-++----"),
        ("EmMc dimensions", sizes(|n| cover().projected_dim(n).build()), "-++----"),
        ("EmMc shifts", sizes(|n| cover().shifts(n).build()), "-++----"),
        ("EmMc picks", sizes(|n| cover().picks_per_scale(n).build()), "-+++---"),
        (
            "EmMc halvings",
            outcomes(&LEVELS, f64::from, |n| cover().finest_halvings(n).build()),
            "-+++--",
        ),
        ("DpLloyd iterations", sizes(|n| lloyd().iterations(n).build()), "-+++---"),
        ("DpLloyd records", sizes(|n| lloyd().expected_records(n as u64).build()), "+++++++"),
        ("PrivateCentres repetitions", sizes(|n| centres().repetitions(n).build()), "-+++---"),
        ("PrivateCentres levels", levels(|a, b| centres().levels(a, b).build()), "+++--- +++---"),
        ("StemmerKaplan rounds", sizes(|n| paper().rounds(n).build()), "-++----"),
        ("StemmerKaplan farthest", sizes(|n| paper().farthest(n).build()), "-++++++"),
        ("StemmerKaplan swaps", sizes(|n| paper().swaps(n).build()), "-+++---"),
        ("StemmerKaplan candidates", sizes(|n| paper().most_candidates(n).build()), "--+++++"),
        ("StemmerKaplan repetitions", sizes(|n| paper().repetitions(n).build()), "-+++---"),
        ("StemmerKaplan levels", levels(|a, b| paper().levels(a, b).build()), "+++--- +++---"),
        ("PrivateLocalSearch rounds", sizes(|n| swaps().rounds(n).build()), "-+++---"),
        ("PrivateLocalSearch start", sizes(|n| swaps().start(vec![0, n]).build()), "+++----"),
        (
            "RegionCoreset repetitions",
            outcomes(&LEVELS, f64::from, |n| regions().repetitions(n).build()),
            "-++++-",
        ),
        ("RegionCoreset levels", levels(|a, b| regions().levels(a, b).build()), "+++--- -++---"),
        ("RegionCoreset least cell", sizes(|n| regions().least_cell(n as u64).build()), "-++++++"),
        (
            "RegionCoreset records",
            sizes(|n| RegionCoreset::builder(square(), near(), n as u64, 3, budget()).build()),
            "+++++++",
        ),
        (
            "NoisedPoints records",
            sizes(|n| NoisedPoints::new(square(), near(), n as u64, budget())),
            "+++++++",
        ),
        (
            "map levels",
            levels(|a, b| PrivateMap::add_remove(square(), budget()).levels(a, b).build()),
            "+++--- +++---",
        ),
        (
            "map records",
            sizes(|n| PrivateMap::replace_one(square(), n as u64, budget()).build()),
            "+++++++",
        ),
        (
            "map steps",
            sizes(|n| PrivateMap::add_remove(square(), budget()).fit_steps(n).build()),
            "+++++++",
        ),
    ]);
}

#[test]
fn numbers_of_other_settings() {
    let dpm = || Dpm::builder(square(), budget());
    let rounds = |rounds| DpmRecentred::builder(square(), budget()).rounds(rounds).build();
    let weights = |weights| dpm().weights(weights).build();
    let regions = || RegionCoreset::builder(square(), near(), 100, 3, budget());
    compare(&[
        (
            "KMeans tolerance",
            numbers(|x| KMeans::builder(3).relative_tolerance(x).build()),
            "---+++----",
        ),
        (
            "KMedian tolerance",
            numbers(|x| KMedian::builder(3).relative_tolerance(x).build()),
            "---+++----",
        ),
        (
            "LocalSearch tolerance",
            numbers(|x| LocalSearch::builder(3, Objective::KMedian).tolerance(x).build()),
            "---+++----",
        ),
        ("Dpm share", numbers(|x| dpm().minimum_share(x).build()), "----++----"),
        (
            "Dpm split",
            numbers(|cuts| {
                let split = dpm::BudgetSplit::Zcdp { interval: 0.1, counts: 0.1, cuts, sums: 0.7 };
                dpm().split(split).build()
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
                DpmRecentred::builder(square(), budget()).split(split).build()
            }),
            "----?++??-",
        ),
        (
            "Rounds share",
            numbers(|x| rounds(Rounds { shares: vec![x], ..Rounds::default() })),
            "----+++++-",
        ),
        (
            "RingRounds weight",
            numbers(|x| RingRounds::builder(square(), 3, budget()).count_weight(x).build()),
            "-----++---",
        ),
        (
            "LshSplits leaf",
            numbers(|x| LshSplits::builder(ball(), 3, budget()).least_leaf(x).build()),
            "----+++---",
        ),
        ("RegionCoreset spacing", numbers(|x| regions().spacing(x).build()), "----+++++-"),
        (
            "RegionCoreset far",
            numbers(|x| regions().rule(RegionRule::TruePoint).far(x).build()),
            "----+++++-",
        ),
        (
            "CoresetFromCentres",
            numbers(|x| {
                let centres = Points::new(vec![x, 0.0], 2)?;
                CoresetFromCentres::builder(centres, budget()).build()
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
        PrivateMap::add_remove(wide.clone(), budget()).build().err(),
        PrivateMap::add_remove(square(), pure).build().err(),
        PrivateKMeans::builder(wide, 3, budget()).start(Start::Map).build().err(),
        PrivateLocalSearch::builder(none.clone(), square(), 2, budget()).build().err(),
        PrivateLocalSearch::builder(corners(), line.clone(), 2, budget()).build().err(),
        PrivateLocalSearch::builder(corners(), square(), 2, budget()).start(vec![0]).build().err(),
        DpLloyd::builder(line, 3, budget()).start(corners()).build().err(),
        StemmerKaplan::builder(square(), 3, pure).build().err(),
        DpmRecentred::builder(square(), budget())
            .rounds(Rounds { shares: Vec::new(), ..Rounds::default() })
            .build()
            .err(),
    ];
    for (number, error) in refused.iter().enumerate() {
        assert!(error.as_ref().is_some_and(|error| !error.to_string().is_empty()), "{number}");
    }
}

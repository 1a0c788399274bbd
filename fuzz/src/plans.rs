//! Plans as people keep them in files. What is read knows its receipt, and releases or says why not.

use crate::{Kind, Target, json, rng};
use dp_accounting::{AddRemove, Budget};
use dp_census::{
    Bins, Census, CensusSettings, From0, From1, GroupSizes, Hierarchy, LevelShares, Method,
    Privacy, RealCensus,
};
use dp_cluster::coreset::{CoresetFromCentres, CoresetFromCentresSettings};
use dp_cluster::dp_lloyd::{DpLloyd, DpLloydSettings};
use dp_cluster::dpm::{Dpm, DpmSettings};
use dp_cluster::em_mc::{EmMc, EmMcSettings};
use dp_cluster::lsh_splits::{LshSplits, LshSplitsSettings};
use dp_cluster::map::{PrivateMap, PrivateMapSettings};
use dp_cluster::private_box::PrivateBox;
use dp_cluster::private_centres::{PrivateCentres, PrivateCentresSettings};
use dp_cluster::private_kmeans::{PrivateKMeans, PrivateKMeansSettings};
use dp_cluster::private_local_search::{PrivateLocalSearch, PrivateLocalSearchSettings};
use dp_cluster::recentring::{DpmRecentred, DpmRecentredSettings};
use dp_cluster::rings::{RingRounds, RingRoundsSettings};
use dp_cluster::stemmer_kaplan::{StemmerKaplan, StemmerKaplanSettings};
use dp_cluster::{Clustering, Points, PointsView, PublicBall, PublicBox};
use dp_combinatorial::set_cover::{
    SetCoverGreedyScaling, SetCoverGreedyScalingSettings, SetCoverSelect, SetCoverSelectSettings,
    SetCoverThresholds, SetCoverThresholdsSettings,
};
use dp_combinatorial::submodular::{
    ContinuousGreedy, ContinuousGreedySettings, Coverage, Credits, Extension, Graphic, Greedy,
    GreedySettings, Objective, Partition, Transversal, Uniform,
};
use dp_combinatorial::{ChaCha20Rng, Incidence};
use dp_local::{LocalKMeans, LocalKMeansSettings};
use dp_mechanism::{Algorithm, Mechanism};
use dp_stream::{Event, MonitorPlan, MonitorSettings, StreamShape, Threshold, Universe};
use rand::RngExt;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::LazyLock;

macro_rules! plans {
    ($($name:literal $seeds:expr, $run:expr;)*) => {
        [$(Target { name: $name, kind: Kind::Json, seeds: || $seeds, run: $run },)*]
    };
}

pub(crate) const TARGETS: [Target; 27] = plans! {
    "plan-dpm" seeds(Dpm::new(square(), budget(), DpmSettings::default())), of_points::<Dpm>;
    "plan-map" {
        let settings = PrivateMapSettings { fit_steps: 30, ..Default::default() };
        seeds(PrivateMap::add_remove(square(), budget(), settings))
    }, of_points::<PrivateMap<AddRemove>>;
    "plan-lsh-splits" seeds(LshSplits::new(ball(), 3, budget(), LshSplitsSettings::default())), of_points::<LshSplits>;
    "plan-recentred" {
        let settings = DpmRecentredSettings { clusters: Some(3), ..Default::default() };
        seeds(DpmRecentred::new(square(), budget(), settings))
    }, of_points::<DpmRecentred>;
    "plan-lloyd" seeds(DpLloyd::new(square(), 3, budget(), DpLloydSettings::default())), of_points::<DpLloyd>;
    "plan-rings" seeds(RingRounds::new(square(), 3, budget(), RingRoundsSettings::default())), of_points::<RingRounds>;
    "plan-kmeans" {
        let plan = |finds_k| {
            let settings = PrivateKMeansSettings { expected_records: Some(100), finds_k, ..Default::default() };
            seeds(PrivateKMeans::new(square(), 3, budget(), settings))
        };
        [plan(true), plan(false)].concat()
    }, of_points::<PrivateKMeans>;
    "plan-em-mc" seeds(EmMc::new(square(), 3, budget(), EmMcSettings::default())), of_points::<EmMc>;
    "plan-box" seeds(PrivateBox::plan(square(), budget())), of_points::<PrivateBox>;
    "plan-centres" seeds(PrivateCentres::new(square(), 3, budget(), PrivateCentresSettings::default())), of_points::<PrivateCentres>;
    "plan-local-search" {
        seeds(PrivateLocalSearch::new(corners(), square(), 2, budget(), PrivateLocalSearchSettings::default()))
    }, of_points::<PrivateLocalSearch>;
    "plan-stemmer-kaplan" seeds(StemmerKaplan::new(square(), 2, budget(), StemmerKaplanSettings::default())), of_points::<StemmerKaplan>;
    "plan-coreset" seeds(CoresetFromCentres::new(corners(), budget(), CoresetFromCentresSettings::default())), of_points::<CoresetFromCentres>;
    "plan-local" {
        let plan = |dim| LocalKMeans::new(cube(dim), 3, 2.0, 400, LocalKMeansSettings::default());
        [seeds(plan(2)), seeds(plan(7))].concat()
    }, of_clients;
    "plan-cover-select" seeds(SetCoverSelect::new(SETS, budget(), SetCoverSelectSettings::default())), of_sets::<SetCoverSelect>;
    "plan-cover-thresholds" {
        seeds(SetCoverThresholds::new(SETS, 200, budget(), SetCoverThresholdsSettings::default()))
    }, of_sets::<SetCoverThresholds>;
    "plan-cover-scaling" seeds(SetCoverGreedyScaling::new(SETS, budget(), SetCoverGreedyScalingSettings::default())), of_sets::<SetCoverGreedyScaling>;
    "plan-greedy-uniform" {
        let matroid = Uniform::new(SETS as usize, 3).expect("valid");
        seeds(Greedy::new(matroid, 1, budget(), GreedySettings::default()))
    }, of_objective::<Greedy<Uniform>>;
    "plan-greedy-graphic" {
        let matroid = Graphic::new(4, vec![(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 1)]).expect("valid");
        seeds(Greedy::new(matroid, 1, budget(), GreedySettings::default()))
    }, of_objective::<Greedy<Graphic>>;
    "plan-greedy-transversal" {
        let sets = vec![vec![0, 1], vec![1], vec![], vec![2, 0], vec![1], vec![2]];
        seeds(Greedy::new(Transversal::new(3, sets).expect("valid"), 1, budget(), GreedySettings::default()))
    }, of_objective::<Greedy<Transversal>>;
    "plan-continuous-greedy" {
        let halves = Partition::new(vec![0, 0, 0, 1, 1, 1], vec![1, 2]).expect("valid");
        let settings = ContinuousGreedySettings { steps: 2, roundings: 3, ..Default::default() };
        seeds(ContinuousGreedy::new(halves, Credits::ranked(1), budget(), settings))
    }, of_extension::<ContinuousGreedy<Partition>>;
    "plan-census" {
        let privacy = Privacy::pure(1.0).expect("valid");
        let plan = |settings| seeds(Census::new(nation(), whole(), data(whole()).groups(), privacy, settings));
        let counts = CensusSettings { method: Method::Counts, ..Default::default() };
        let shares = CensusSettings {
            shares: LevelShares::Fixed(vec![0.25, 0.75]),
            most_quantity: std::num::NonZeroU32::new(3).expect("above 0"),
            ..Default::default()
        };
        let asked = CensusSettings {
            shares: LevelShares::AfterQuestion(0.1),
            region_groups: Some(data(whole()).groups_of_regions()),
            ..Default::default()
        };
        [plan(CensusSettings::default()), plan(counts), plan(shares), plan(asked)].concat()
    }, |bytes| used::<Census>(bytes, &[], |plan, rng| plan.simulate(&data(whole()), rng).is_ok());
    "plan-census-real" {
        let privacy = Privacy::within(budget()).expect("valid");
        let settings = CensusSettings { method: Method::Cumulative, ..Default::default() };
        seeds(RealCensus::new(nation(), real(), data(real()).groups(), privacy, settings))
    }, |bytes| used::<RealCensus<From1>>(bytes, &[], |plan, rng| plan.simulate(&data(real()), rng).is_ok());
    "plan-monitor" monitors(dp_stream::Method::ThreshMonitor, Universe::Range { size: 7 }), of_steps;
    "plan-monitor-seen" monitors(dp_stream::Method::ThreshMonitorSeen, Universe::Bits64), of_steps;
    "plan-monitor-charging" monitors(dp_stream::Method::TargetCharging, Universe::Bits64), of_steps;
    "plan-monitor-histograms" {
        let names = Universe::BoundedNames { alphabet: "abc".to_owned(), max_bytes: 3 };
        monitors(dp_stream::Method::BasicHistograms, names)
    }, of_steps;
};

/// Sizes that a plan may ask for here: a million centres or four thousand million users are no fault, and take long.
const MOST: u64 = 300;

fn seeds<P: serde::Serialize, E: std::fmt::Debug>(plan: Result<P, E>) -> Vec<Vec<u8>> {
    vec![json(&plan.expect("valid"))]
}

/// Reads a plan, unless one of the settings of these names is large, and lets it release.
fn used<P: DeserializeOwned + Algorithm>(
    bytes: &[u8],
    large: &[&str],
    release: impl FnOnce(&P, &mut ChaCha20Rng) -> bool,
) -> bool {
    let Ok(text) = serde_json::from_slice::<Value>(bytes) else { return false };
    let is_large = |value: &Value| value.as_u64().is_some_and(|size| size > MOST);
    let parts = [&text, &text["settings"], &text["shape"]];
    if large.iter().any(|name| parts.iter().any(|part| is_large(&part[*name]))) {
        return false;
    }
    let Ok(plan) = serde_json::from_slice::<P>(bytes) else { return false };
    assert!(!format!("{:?}", plan.receipt()).is_empty());
    release(&plan, &mut rng())
}

fn of_points<P>(bytes: &[u8]) -> bool
where
    P: DeserializeOwned + for<'a> Algorithm<Data<'a> = PointsView<'a>>,
{
    let large =
        ["k", "clusters", "repetitions", "restarts", "swaps", "picks_per_scale", "fit_steps"];
    used::<P>(bytes, &large, |plan, rng| plan.simulate(records().view(), rng).is_ok())
}

fn of_clients(bytes: &[u8]) -> bool {
    let Ok(text) = serde_json::from_slice::<Value>(bytes) else { return false };
    // Every client is simulated, and a start of many centres is long.
    if text["clients"].as_u64() > Some(1_000) || text["k"].as_u64() > Some(8) {
        return false;
    }
    let Ok(plan) = serde_json::from_slice::<LocalKMeans>(bytes) else { return false };
    assert!(!format!("{:?}", plan.receipt()).is_empty());
    let records = Points::new(vec![0.25; 7 * plan.public_box().dim()], plan.public_box().dim());
    plan.simulate(1, records.expect("whole rows").view(), &mut rng()).is_ok()
}

fn of_sets<P>(bytes: &[u8]) -> bool
where
    P: DeserializeOwned + for<'a> Algorithm<Data<'a> = &'a Incidence>,
{
    used::<P>(bytes, &[], |plan, rng| plan.simulate(&USERS, rng).is_ok())
}

fn of_objective<P>(bytes: &[u8]) -> bool
where
    P: DeserializeOwned + for<'a> Algorithm<Data<'a> = &'a dyn Objective>,
{
    let coverage = Coverage::new(USERS.clone());
    used::<P>(bytes, &[], |plan, rng| plan.simulate(&coverage, rng).is_ok())
}

fn of_extension<P>(bytes: &[u8]) -> bool
where
    P: DeserializeOwned + for<'a> Algorithm<Data<'a> = &'a dyn Extension>,
{
    let coverage = Coverage::new(USERS.clone());
    let large = ["steps", "roundings", "samples"];
    used::<P>(bytes, &large, |plan, rng| plan.simulate(&coverage, rng).is_ok())
}

fn of_steps(bytes: &[u8]) -> bool {
    let event = |step: u64, user: u32| Event { user, item: (u64::from(user) * step) % 7 };
    let step = |step| (0..60).map(|user| event(step, user)).collect();
    let steps: Vec<Vec<Event>> = (0..5).map(step).collect();
    used::<MonitorPlan>(bytes, &["users"], |plan, rng| plan.simulate(&steps[..], rng).is_ok())
}

pub(crate) fn monitor(method: dp_stream::Method, universe: Universe) -> MonitorPlan {
    let shape = StreamShape { universe, users: 40, steps: 5 };
    let threshold = Threshold::Count { count: 4 };
    let low = MonitorSettings { threshold, ..Default::default() };
    let usual = MonitorSettings::default();
    let plan = |settings| MonitorPlan::new(method, shape.clone(), budget(), 3, settings);
    plan(low).or_else(|_| plan(usual)).expect("valid")
}

fn monitors(method: dp_stream::Method, universe: Universe) -> Vec<Vec<u8>> {
    vec![json(&monitor(method, universe))]
}

const SETS: u32 = 6;

static USERS: LazyLock<Incidence> = LazyLock::new(|| {
    let sets = |user: u32| vec![user % SETS, user * user % SETS, user / 20 % SETS];
    let lists: Vec<Vec<u32>> = (0..90).map(sets).collect();
    Incidence::from_slices(SETS, lists.iter().map(Vec::as_slice)).expect("sets that there are")
});

pub(crate) fn budget() -> Budget {
    Budget::new(2.0, 1e-6).expect("valid")
}

pub(crate) fn cube(dim: usize) -> PublicBox {
    PublicBox::cube(dim, -10.0, 10.0).expect("valid")
}

fn square() -> PublicBox {
    cube(2)
}

pub(crate) fn ball() -> PublicBall {
    PublicBall::new(vec![0.0; 2], 20.0).expect("valid")
}

/// A released one.
pub(crate) fn any_clustering() -> Clustering {
    let plan = Dpm::new(square(), budget(), DpmSettings::default()).expect("valid");
    plan.simulate(records().view(), &mut rng()).expect("two dimensions").output
}

fn corners() -> Points {
    Points::new(vec![-1.0, -1.0, 1.0, 1.0, 0.0, 0.5], 2).expect("whole rows")
}

/// Some outside of the box, some no numbers.
pub(crate) fn records() -> Points {
    let mut rng = rng();
    let coordinate =
        |i: usize| if i.is_multiple_of(31) { f64::NAN } else { rng.random_range(-12.0..12.0) };
    Points::new((0..200).map(coordinate).collect(), 2).expect("pairs")
}

pub(crate) fn nation() -> Hierarchy {
    Hierarchy::new([("US", None), ("GA", Some("US")), ("NY", Some("US"))]).expect("valid")
}

pub(crate) fn whole() -> From0 {
    From0::up_to(6).expect("valid")
}

fn real() -> From1 {
    From1::up_to(5).expect("valid")
}

pub(crate) fn data<B: Bins>(bins: B) -> GroupSizes<B> {
    let of_a_region = |scale: i64| (0..bins.count()).map(move |bin| scale * [0, 1, 2][bin % 3]);
    let counts = [4, 9].into_iter().flat_map(of_a_region).collect();
    GroupSizes::from_table(bins, counts).expect("valid")
}

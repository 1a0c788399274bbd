//! Plans as people keep them in files, with changes: each is refused, or releases. None panics.

use dp_audit::hostile::changed_plans;
use dp_cluster::dp_lloyd::{DpLloyd, DpLloydSettings};
use dp_cluster::dpm::{Dpm, DpmSettings};
use dp_cluster::lsh_splits::{LshSplits, LshSplitsSettings};
use dp_cluster::map::{PrivateMap, PrivateMapSettings};
use dp_cluster::private_kmeans::{PrivateKMeans, PrivateKMeansSettings};
use dp_cluster::recentring::{DpmRecentred, DpmRecentredSettings};
use dp_cluster::rings::{RingRounds, RingRoundsSettings};
use dp_cluster::{Budget, ChaCha20Rng, Mechanism, Points, PointsView, PublicBall, PublicBox};
use rand::{RngExt, SeedableRng};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Centres that a plan may ask for here: a million are no fault, and take long.
const MOST_CENTRES: u64 = 300;

fn released_or_refused<P>(plan: &P)
where
    P: Serialize + DeserializeOwned + for<'a> Mechanism<Data<'a> = PointsView<'a>>,
{
    let mut rng = ChaCha20Rng::seed_from_u64(7);
    let mut coordinate =
        |i: usize| if i.is_multiple_of(31) { f64::NAN } else { rng.random_range(-12.0..12.0) };
    let points = Points::new((0..200).map(&mut coordinate).collect(), 2).expect("pairs");
    let accepted = changed_plans(plan, 600, &mut rng).expect("a plan is read back");
    let (refused, mut released) = (600 - accepted.len(), 0);
    for (plan, asked) in accepted {
        let many = |k: &Value| k.as_u64().is_some_and(|k| k > MOST_CENTRES);
        if many(&asked["k"]) || many(&asked["settings"]["clusters"]) {
            continue;
        }
        assert!(!format!("{:?}", plan.receipt()).is_empty());
        released += u32::from(plan.simulate(points.view(), &mut rng).is_ok());
    }
    assert!(released > 20 && refused > 200, "{released} released, {refused} refused");
}

fn budget() -> Budget {
    Budget::new(2.0, 1e-6).expect("valid")
}

fn cube() -> PublicBox {
    PublicBox::cube(2, -10.0, 10.0).expect("valid")
}

#[test]
fn of_trees_and_maps() {
    released_or_refused(&Dpm::new(cube(), budget(), DpmSettings::default()).expect("valid"));
    let map = PrivateMap::add_remove(cube(), budget(), PrivateMapSettings::default());
    released_or_refused(&map.expect("valid"));
    let ball = PublicBall::new(vec![0.0; 2], 20.0).expect("valid");
    let lsh = LshSplits::new(ball, 3, budget(), LshSplitsSettings::default());
    released_or_refused(&lsh.expect("valid"));
}

#[test]
fn of_rounds() {
    let settings = DpmRecentredSettings { clusters: Some(3), ..Default::default() };
    released_or_refused(&DpmRecentred::new(cube(), budget(), settings).expect("valid"));
    let lloyd = DpLloyd::new(cube(), 3, budget(), DpLloydSettings::default());
    released_or_refused(&lloyd.expect("valid"));
    let rings = RingRounds::new(cube(), 3, budget(), RingRoundsSettings::default());
    released_or_refused(&rings.expect("valid"));
}

#[test]
fn of_the_recommended_plan() {
    let settings = PrivateKMeansSettings { expected_records: Some(100), ..Default::default() };
    released_or_refused(&PrivateKMeans::new(cube(), 3, budget(), settings).expect("valid"));
}

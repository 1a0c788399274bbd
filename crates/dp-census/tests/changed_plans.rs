//! Plans as people keep them in files, with changes: each is refused, or releases. None panics.

use std::num::NonZeroU32;

use dp_accounting::Budget;
use dp_audit::hostile::changed_plans;
use dp_census::{
    Bins, Census, CensusSettings, From0, From1, GroupSizes, Hierarchy, LevelShares, Method,
    Privacy, RealCensus,
};
use dp_mechanism::{ChaCha20Rng, Mechanism};
use rand::SeedableRng;
use serde::Serialize;
use serde::de::DeserializeOwned;

fn nation() -> Hierarchy {
    Hierarchy::new([("US", None), ("GA", Some("US")), ("NY", Some("US"))]).expect("valid")
}

fn sizes<B: Bins>(bins: B) -> GroupSizes<B> {
    let of_a_region = |scale: i64| (0..bins.count()).map(move |bin| scale * [0, 1, 2][bin % 3]);
    let counts = [4, 9].into_iter().flat_map(of_a_region).collect();
    GroupSizes::from_table(bins, counts).expect("valid")
}

/// Of another hierarchy or other sizes than the data have, a plan refuses to release: that is public on both sides.
fn released_or_refused<P: Serialize + DeserializeOwned>(
    plan: &P,
    releases: impl Fn(&P, &mut ChaCha20Rng) -> bool,
) {
    let mut rng = ChaCha20Rng::seed_from_u64(13);
    let accepted = changed_plans(plan, 1_000, &mut rng).expect("a plan is read back");
    let refused = 1_000 - accepted.len();
    let released = accepted.iter().filter(|(plan, _)| releases(plan, &mut rng)).count();
    assert!(released > 20 && refused > 300, "{released} released, {refused} refused");
}

#[test]
fn of_groups_in_whole_numbers() {
    let (bins, privacy) = (From0::up_to(6).expect("valid"), Privacy::pure(1.0).expect("valid"));
    let data = sizes(bins);
    let groups = data.groups();
    for settings in [
        CensusSettings::default(),
        CensusSettings { method: Method::Counts, ..Default::default() },
        CensusSettings {
            shares: LevelShares::Fixed(vec![0.25, 0.75]),
            most_quantity: NonZeroU32::new(3).expect("above 0"),
            ..Default::default()
        },
    ] {
        let plan = Census::new(nation(), bins, groups, privacy, settings).expect("valid");
        released_or_refused(&plan, |plan, rng| plan.simulate(&data, rng).is_ok());
    }
}

#[test]
fn of_groups_in_real_numbers() {
    let privacy = Privacy::within(Budget::new(1.0, 1e-7).expect("valid")).expect("valid");
    let bins = From1::up_to(5).expect("valid");
    let settings = CensusSettings { method: Method::Cumulative, ..Default::default() };
    let data = sizes(bins);
    let plan = RealCensus::new(nation(), bins, data.groups(), privacy, settings).expect("valid");
    released_or_refused(&plan, |plan, rng| plan.simulate(&data, rng).is_ok());
}

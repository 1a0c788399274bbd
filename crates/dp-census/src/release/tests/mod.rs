//! What a plan refuses, what every release must be, and how the loss is spent.

mod accuracy;
mod plans;
mod proofs;
mod tables;
mod ways;

use super::{Census, CensusSettings, LevelShares, Method, Privacy, Query, RealCensus};
use crate::{CensusError, From0, GroupSizes, Hierarchy};
use dp_mechanism::ChaCha20Rng;
use rand::{RngExt, SeedableRng};

fn rng(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

fn pure(epsilon: f64) -> Privacy {
    Privacy::pure(epsilon).expect("valid")
}

fn up_to(largest: u32) -> From0 {
    From0::up_to(largest).expect("valid")
}

/// A nation of two states with two and three counties.
fn nation() -> Hierarchy {
    let states = ["GA", "NY"].map(|state| (state, Some("US")));
    let counties = [("a", "GA"), ("b", "GA"), ("c", "NY"), ("d", "NY"), ("e", "NY")];
    let counties = counties.map(|(county, state)| (county, Some(state)));
    Hierarchy::new([("US", None)].into_iter().chain(states).chain(counties)).expect("valid")
}

/// A plan for that nation.
fn plan(groups: i64, settings: CensusSettings) -> Result<Census, CensusError> {
    Census::new(nation(), up_to(4), groups, pure(1.0), settings)
}

fn real(groups: i64, settings: CensusSettings) -> Result<RealCensus, CensusError> {
    RealCensus::new(nation(), up_to(4), groups, pure(1.0), settings)
}

fn usual() -> CensusSettings {
    CensusSettings::default()
}

fn by(method: Method) -> CensusSettings {
    CensusSettings { method, ..usual() }
}

fn may_shrink(method: Method) -> bool {
    method.query() == Query::Cumulative && !matches!(method, Method::Fitted | Method::RootSpread)
}

fn shared(shares: LevelShares) -> CensusSettings {
    CensusSettings { shares, ..usual() }
}

fn with_totals(region_groups: Vec<i64>) -> CensusSettings {
    CensusSettings { region_groups: Some(region_groups), ..usual() }
}

/// Five counties with about `most` groups of each size.
fn sizes(most: i64, columns: u32, seed: u64) -> GroupSizes {
    let mut rng = rng(seed);
    let counts = (0..5 * columns).map(|_| rng.random_range(0..=most));
    GroupSizes::from_table(up_to(columns - 1), counts.collect()).expect("valid")
}

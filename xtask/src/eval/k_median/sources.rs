//! The instances of the suite. Everything here is public.

use crate::eval::settings::Effort;
use dp_combinatorial::k_median::Power;

/// A metric with users, and what is asked of it.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(super) id: String,
    pub(super) origin: Origin,
    pub(super) power: Power,
    /// Users, roughly; for tables their number of rows.
    pub(super) users: usize,
    pub(super) k: usize,
}

/// Where metric and users come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Origin {
    /// Points in a square; users of a Zipf law with exponent 1.5 over nodes in random order.
    GeoZipf { nodes: usize },
    /// A random graph as in the OR-Library; users around thirty of its nodes.
    PmedHotspots { nodes: usize },
    /// Points in a square; users around thirty of them.
    GeoSmooth { nodes: usize },
    /// An instance of the OR-Library; so many users per node on average, by a Zipf law with exponent 1.
    OrLibrary { instance: &'static str, nodes: usize, per_node: usize },
    /// Pick-ups at the nearest corner of a grid over the city.
    PickUps,
}

impl Origin {
    /// The set of the manifest and the file in it.
    pub(super) fn file(self) -> Option<(&'static str, String)> {
        match self {
            Self::OrLibrary { instance, .. } => {
                Some(("orlib_pmed", format!("orlib_pmed/{instance}.txt.gz")))
            }
            Self::PickUps => {
                Some(("uber_apr14_part", "uber_apr14_part/uber_apr14_part.csv.gz".to_owned()))
            }
            _ => None,
        }
    }

    pub(super) fn nodes(self) -> usize {
        match self {
            Self::GeoZipf { nodes }
            | Self::PmedHotspots { nodes }
            | Self::GeoSmooth { nodes }
            | Self::OrLibrary { nodes, .. } => nodes,
            Self::PickUps => SITES.2 * SITES.3,
        }
    }
}

/// The grid of the pick-ups: south, west, rows and columns of corners, a hundredth of a degree apart.
pub(super) const SITES: (f64, f64, usize, usize) = (40.58, -74.06, 32, 32);

/// Quick: three generated instances. Fuller: a grid of sizes and both powers, and real metrics.
pub(super) fn all(effort: Effort) -> Vec<Source> {
    if effort == Effort::Quick {
        return vec![
            generated(Origin::GeoZipf { nodes: 600 }, Power::Median, 1_000, 10),
            generated(Origin::PmedHotspots { nodes: 400 }, Power::Median, 10_000, 10),
            generated(Origin::GeoSmooth { nodes: 600 }, Power::Means, 10_000, 10),
        ];
    }
    let sizes: &[usize] = match effort {
        Effort::Full => &[1_000, 10_000, 100_000, 1_000_000],
        _ => &[1_000, 10_000, 100_000],
    };
    let mut all = Vec::new();
    for origin in [
        Origin::GeoZipf { nodes: 3_000 },
        Origin::PmedHotspots { nodes: 2_000 },
        Origin::GeoSmooth { nodes: 3_000 },
    ] {
        for power in [Power::Median, Power::Means] {
            all.extend(sizes.iter().map(|&users| generated(origin, power, users, 20)));
        }
    }
    for (instance, nodes, k) in
        [("pmed1", 100, 5), ("pmed8", 200, 20), ("pmed17", 400, 10), ("pmed30", 600, 200)]
    {
        for per_node in [1, 10, 100, 1_000, 10_000] {
            let origin = Origin::OrLibrary { instance, nodes, per_node };
            let id = format!("orlib_pmed-{instance}-{per_node}");
            let users = nodes * per_node;
            all.push(Source { id, origin, power: Power::Median, users, k });
        }
    }
    for power in [Power::Median, Power::Means] {
        let id = format!("uber_apr14_part-q{}", power.exponent());
        all.push(Source { id, origin: Origin::PickUps, power, users: 99_997, k: 20 });
    }
    all
}

fn generated(origin: Origin, power: Power, users: usize, k: usize) -> Source {
    let family = match origin {
        Origin::GeoZipf { .. } => "geo-zipf",
        Origin::PmedHotspots { .. } => "pmed-hotspots",
        _ => "geo-smooth",
    };
    let id = format!("{family}-q{}-n{users}", power.exponent());
    Source { id, origin, power, users, k }
}

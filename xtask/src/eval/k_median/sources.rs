//! The instances of the suite. Everything here is public.

use crate::eval::settings::Effort;
use dp_combinatorial::k_median::Power;
use quietus_datasets::sets::k_median::{Origin, Source};

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

//! Metrics and users, generated or read.

use super::{Shelf, numbers_of, text_of};
use crate::Error;
use crate::files;
use crate::seed::named_rng;
use crate::store;
use dp_combinatorial::k_median::{Edge, Metric, Power, exact_weights};
use dp_mechanism::ChaCha20Rng;
use rand::RngExt;
use rand::seq::SliceRandom as _;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// A metric with users, and what is asked of it.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its name.
    pub id: String,
    /// Where metric and users come from.
    pub origin: Origin,
    /// What a distance costs.
    pub power: Power,
    /// Users, roughly; for tables their number of rows.
    pub users: usize,
    /// How many centres.
    pub k: usize,
}

/// Where metric and users come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Origin {
    /// Points in a square; users of a Zipf law with exponent 1.5 over nodes in random order.
    GeoZipf {
        /// Of the metric.
        nodes: usize,
    },
    /// A random graph as in the OR-Library; users around thirty of its nodes.
    PmedHotspots {
        /// Of the metric.
        nodes: usize,
    },
    /// Points in a square; users around thirty of them.
    GeoSmooth {
        /// Of the metric.
        nodes: usize,
    },
    /// An instance of the OR-Library; so many users per node on average, by a Zipf law with exponent 1.
    OrLibrary {
        /// Its name there.
        instance: &'static str,
        /// Of the metric.
        nodes: usize,
        /// Users.
        per_node: usize,
    },
    /// Pick-ups at the nearest corner of a grid over the city.
    PickUps,
}

impl Origin {
    /// The set of the manifest and the file in it.
    pub fn file(self) -> Option<(&'static str, String)> {
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

    /// Nodes of the metric.
    pub fn nodes(self) -> usize {
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
pub const SITES: (f64, f64, usize, usize) = (40.58, -74.06, 32, 32);

/// A metric with users in memory.
#[derive(Debug)]
pub struct Instance {
    /// What it was made from.
    pub source: Source,
    /// Public.
    pub metric: Arc<Metric>,
    /// The node of each.
    pub users: Vec<u32>,
    /// SHA-256 of distances to the centre and of the users.
    pub checksum: String,
}

/// The instance, or `None` if its file is not here.
///
/// # Errors
/// If there is no such set, or its file is not the one of the manifest.
pub fn read(source: Source, shelf: &Shelf<'_>) -> Result<Option<Instance>, Error> {
    // Instances of one family share its metric.
    let mut metrics = named_rng(&["k-median", "metric", &format!("{:?}", source.origin)]);
    let mut users = named_rng(&["k-median", "users", &source.id]);
    let (metric, users) = match source.origin {
        Origin::GeoZipf { nodes } => {
            let metric = square(nodes, &mut metrics)?;
            let users = zipf(nodes, source.users, 1.5, &mut users);
            (metric, users)
        }
        Origin::GeoSmooth { nodes } => {
            let metric = square(nodes, &mut metrics)?;
            let users = hotspots(&metric, source.users, &mut users);
            (metric, users)
        }
        Origin::PmedHotspots { nodes } => {
            let metric = graph(nodes, &mut metrics)?;
            let users = hotspots(&metric, source.users, &mut users);
            (metric, users)
        }
        Origin::OrLibrary { nodes, .. } => {
            let (set, file) = source.origin.file().expect("it is a file");
            let Some((bytes, path)) = shelf.bytes(set, Some(&file))? else { return Ok(None) };
            let metric = or_library(&text_of(&bytes, &path)?, &path)?;
            (metric, zipf(nodes, source.users, 1.0, &mut users))
        }
        Origin::PickUps => {
            let set = shelf.manifest.set("uber_apr14_part")?;
            let Some((table, _)) = store::read_table(shelf.folder, set)? else { return Ok(None) };
            (corners()?, pick_ups(&table.values, table.columns.len()))
        }
    };
    let mut bytes = Vec::new();
    let nodes = u32::try_from(metric.nodes()).expect("ids are u32");
    let centre = metric.centre().0;
    let distance = |node| metric.distance(node, centre).expect("both are nodes");
    bytes.extend((0..nodes).flat_map(|node| distance(node).to_le_bytes()));
    bytes.extend(users.iter().flat_map(|user| user.to_le_bytes()));
    let checksum = files::sha256_hex(&bytes);
    Ok(Some(Instance { source, metric: Arc::new(metric), users, checksum }))
}

fn no_metric(error: impl std::fmt::Display) -> Error {
    Error::library("metric", &error.to_string())
}

fn square(nodes: usize, rng: &mut ChaCha20Rng) -> Result<Metric, Error> {
    let coordinates: Vec<f64> = (0..2 * nodes).map(|_| rng.random_range(0.0..1.0)).collect();
    Metric::from_points(&coordinates, 2).map_err(no_metric)
}

/// A random tree and three times as many edges again, with lengths of 1 to 100.
fn graph(nodes: usize, rng: &mut ChaCha20Rng) -> Result<Metric, Error> {
    let last = u32::try_from(nodes).expect("ids are u32");
    let mut edges: Vec<Edge> =
        (1..last).map(|a| (a, rng.random_range(0..a), rng.random_range(1..=100))).collect();
    for _ in 0..3 * nodes {
        let mut end = || rng.random_range(0..last);
        edges.push((end(), end(), rng.random_range(1..=100)));
    }
    Metric::from_graph(nodes, &edges, Some(65_535)).map_err(no_metric)
}

/// Users at nodes by their weight.
fn by_weight(weights: &[f64], users: usize, rng: &mut ChaCha20Rng) -> Vec<u32> {
    let mut total = 0.0;
    let add = |weight: &f64| {
        total += weight;
        total
    };
    let sums: Vec<f64> = weights.iter().map(add).collect();
    let mut node = || {
        let at = rng.random_range(0.0..total);
        u32::try_from(sums.partition_point(|&sum| sum <= at)).expect("ids are u32")
    };
    (0..users).map(|_| node()).collect()
}

fn zipf(nodes: usize, users: usize, exponent: f64, rng: &mut ChaCha20Rng) -> Vec<u32> {
    let mut weights: Vec<f64> = (1..=nodes).map(|rank| (rank as f64).powf(-exponent)).collect();
    weights.shuffle(rng);
    by_weight(&weights, users, rng)
}

/// Weights fall off like a Gaussian around thirty random nodes; a ten-thousandth is everywhere.
fn hotspots(metric: &Metric, users: usize, rng: &mut ChaCha20Rng) -> Vec<u32> {
    let nodes = u32::try_from(metric.nodes()).expect("ids are u32");
    let spots: Vec<(u32, f64)> =
        (0..30).map(|_| (rng.random_range(0..nodes), rng.random_range(0.2..1.0))).collect();
    let width = 0.08 * f64::from(metric.centre().1);
    let weight = |node: u32| {
        let of = |&(spot, height): &(u32, f64)| {
            let distance = metric.distance(node, spot).expect("both are nodes");
            height * (-(f64::from(distance) / width).powi(2)).exp()
        };
        spots.iter().map(of).sum::<f64>() + 1e-4
    };
    let weights: Vec<f64> = (0..nodes).map(weight).collect();
    by_weight(&weights, users, rng)
}

/// Vertices, edges and p; then edges with lengths, counted from 1. The last of a repeated edge counts.
///
/// # Errors
/// If there is no such set, or its file is not the one of the manifest.
pub fn or_library(text: &str, path: &Path) -> Result<Metric, Error> {
    let numbers = numbers_of(text, path)?;
    let [nodes, _, _, ref rest @ ..] = numbers[..] else {
        return Err(Error::malformed(path, "the first line is missing"));
    };
    let mut edges: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for edge in rest.chunks_exact(3) {
        let (a, b) = (edge[0].wrapping_sub(1), edge[1].wrapping_sub(1));
        edges.insert((a.min(b), a.max(b)), edge[2]);
    }
    let edges: Vec<Edge> = edges.into_iter().map(|((a, b), length)| (a, b, length)).collect();
    Metric::from_graph(nodes as usize, &edges, None).map_err(no_metric)
}

/// Corners of the grid in kilometres.
fn corners() -> Result<Metric, Error> {
    let (_, _, rows, columns) = SITES;
    let corner = |at: usize| [(at / columns) as f64 * 1.112, (at % columns) as f64 * 0.844];
    let coordinates: Vec<f64> = (0..rows * columns).flat_map(corner).collect();
    Metric::from_points(&coordinates, 2).map_err(no_metric)
}

fn pick_ups(values: &[f64], columns_of_table: usize) -> Vec<u32> {
    let (south, west, rows, columns) = SITES;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    let place = |x: f64, from: f64, cells: usize| {
        ((x - from) * 100.0).round().clamp(0.0, cells as f64 - 1.0) as usize
    };
    let corner = |row: &[f64]| place(row[0], south, rows) * columns + place(row[1], west, columns);
    let rows = values.chunks_exact(columns_of_table);
    rows.map(|row| u32::try_from(corner(row)).expect("a small grid")).collect()
}

/// Of all users.
pub fn weights(instance: &Instance) -> Vec<u64> {
    exact_weights(&instance.metric, &instance.users)
}

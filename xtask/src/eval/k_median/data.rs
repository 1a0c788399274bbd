//! Metrics and users, generated or read.

use crate::data::store;
use crate::error::Error;
use crate::eval::k_median::sources::{Origin, SITES, Source};
use crate::eval::suite::Context;
use crate::files;
use crate::seed::named_rng;
use dp_combinatorial::k_median::{Edge, Metric, exact_weights};
use dp_mechanism::ChaCha20Rng;
use flate2::read::MultiGzDecoder;
use rand::RngExt;
use rand::seq::SliceRandom as _;
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

/// A metric with users in memory.
pub(super) struct Instance {
    pub(super) source: Source,
    pub(super) metric: Arc<Metric>,
    pub(super) users: Vec<u32>,
    /// SHA-256 of distances to the centre and of the users.
    pub(super) checksum: String,
}

/// The instance, or `None` if its file is not here.
pub(super) fn read(source: Source, context: &Context) -> Result<Option<Instance>, Error> {
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
            let Some(text) = text_of(&source, context)? else { return Ok(None) };
            let (_, name) = source.origin.file().expect("it is a file");
            let metric = or_library(&text, &context.settings.datasets.join(name))?;
            (metric, zipf(nodes, source.users, 1.0, &mut users))
        }
        Origin::PickUps => {
            let set = context.manifest.set("uber_apr14_part")?;
            let Some((table, _)) = store::read_table(&context.settings.datasets, set)? else {
                return Ok(None);
            };
            (corners()?, pick_ups(&table.values, table.columns.len()))
        }
    };
    let mut bytes = Vec::new();
    let nodes = u32::try_from(metric.nodes()).expect("ids are u32");
    let centre = metric.centre().0;
    bytes.extend((0..nodes).flat_map(|node| metric.distance(node, centre).to_le_bytes()));
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
            height * (-(f64::from(metric.distance(node, spot)) / width).powi(2)).exp()
        };
        spots.iter().map(of).sum::<f64>() + 1e-4
    };
    let weights: Vec<f64> = (0..nodes).map(weight).collect();
    by_weight(&weights, users, rng)
}

fn text_of(source: &Source, context: &Context) -> Result<Option<String>, Error> {
    let (set, name) = source.origin.file().expect("it is a file");
    let set = context.manifest.set(set)?;
    let entry = set.files.iter().find(|file| file.path == name);
    let entry = entry.ok_or_else(|| Error::library("manifest", &format!("no file {name}")))?;
    let folder = &context.settings.datasets;
    let Some(bytes) = store::read_checked(folder, entry)? else { return Ok(None) };
    let mut text = String::new();
    let path = folder.join(&entry.path);
    MultiGzDecoder::new(&bytes[..]).read_to_string(&mut text).map_err(Error::io("read", &path))?;
    Ok(Some(text))
}

/// Vertices, edges and p; then edges with lengths, counted from 1. The last of a repeated edge counts.
pub(super) fn or_library(text: &str, path: &Path) -> Result<Metric, Error> {
    let malformed = |reason: String| Error::Malformed { path: path.to_owned(), reason };
    let numbers: Vec<u32> = text
        .split_whitespace()
        .map(|word| word.parse().map_err(|_| malformed(format!("`{word}` is not a number"))))
        .collect::<Result<_, _>>()?;
    let [nodes, _, _, ref rest @ ..] = numbers[..] else {
        return Err(malformed("the first line is missing".to_owned()));
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
pub(super) fn weights(instance: &Instance) -> Vec<u64> {
    exact_weights(&instance.metric, &instance.users)
}

//! Plans of which a release goes by passes, and records for them.

mod changed;
mod forged;
mod from_memory;
mod made_up;
mod questions;
mod tables;
mod unasked;

use dp_geometry::{Points, PointsView, PublicBall, PublicBox};
use dp_mechanism::passes::Question as _;
use dp_mechanism::{Algorithm, ChaCha20Rng, Draws, Mechanism, Nearby, Private, SecureSource};
use rand::{RngExt, SeedableRng};
use serde_json::Value;

use super::*;
use crate::dpm::{Dpm, DpmSettings, IntervalSize};
use crate::lsh_splits::{Form, LshSplits, LshSplitsSettings};
use crate::map::{PrivateMap, PrivateMapSettings};
use crate::private_box::PrivateBox;
use crate::private_kmeans::{PrivateKMeans, PrivateKMeansSettings, Start};
use crate::recentring::{DpmRecentred, DpmRecentredSettings, Rounds};
use crate::rings::{RingRounds, RingRoundsSettings};
use crate::testing::adversarial;
use crate::{Budget, ClusterError, Receipt};

fn rng(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

/// Settings of a plan that looks for no clusters.
fn even() -> PrivateKMeansSettings {
    PrivateKMeansSettings {
        expected_records: Some(60),
        start: Some(Start::Even),
        ..Default::default()
    }
}

fn cube(dim: usize) -> PublicBox {
    PublicBox::cube(dim, -10.0, 10.0).expect("valid")
}

fn budget() -> Budget {
    Budget::new(3.0, 1e-6).expect("valid")
}

/// Records around eight places, some outside of the box, some no numbers.
fn records(n: usize, dim: usize) -> Points {
    let mut rng = rng(4);
    let coords = (0..n * dim).map(|i| {
        let corner = if (i / dim) >> (i % dim % 3) & 1 == 1 { 6.0 } else { -6.0 };
        match rng.random_range(0..400) {
            0 => f64::NAN,
            1 => f64::NEG_INFINITY,
            2 => 1e300,
            _ => corner + rng.random_range(-1.5..1.5),
        }
    });
    Points::new(coords.collect(), dim).expect("whole rows")
}

/// Tables of parts of the records, each as bytes of an asker's own bytes, merged the last first.
fn answer<P>(asked: &Asked<P>, points: PointsView<'_>, rows: usize) -> Table
where
    P: dp_mechanism::passes::Question
        + for<'a> dp_mechanism::passes::Question<Chunk<'a> = PointsView<'a>>,
{
    let asked: Asked<P> = Asked::from_bytes(&asked.to_bytes()).expect("whole");
    let mut all = asked.tally().expect("has a table");
    for coords in points.coords().chunks(rows * points.dim()).rev() {
        let mut part = asked.tally().expect("has a table");
        part.add(PointsView::new(coords, points.dim()).expect("rows")).expect("few rows");
        let bytes = part.into_table().to_bytes();
        all.merge(&Table::from_bytes(&bytes).expect("whole")).expect("of one question");
    }
    all.into_table()
}

/// The release by passes, kept as bytes after every pass; and how many there were.
fn by_passes<P>(plan: &P, points: PointsView<'_>, rows: usize) -> (P::Output, u32)
where
    P: ByPasses<Question = Question> + Clone,
{
    let mut rng = rng(5);
    let mut source = SecureSource::new(&mut rng);
    let mut passes = Passes::new(plan.clone()).expect("has tables");
    loop {
        let table = answer(passes.asked(), points, rows);
        let pass = passes.asked().pass();
        if let Some(output) = passes.replay(&table, &mut source).expect("of all records") {
            return (output, pass + 1);
        }
        passes = Passes::from_bytes(plan.clone(), &passes.to_bytes()).expect("whole");
    }
}

/// The last question that a plan asks of records, and its answer.
fn last<P>(plan: P, points: &Points) -> (Asked<Question>, Vec<i64>)
where
    P: ByPasses<Question = Question>,
{
    let mut rng = rng(5);
    let mut source = SecureSource::new(&mut rng);
    let mut passes = Passes::new(plan).expect("has tables");
    loop {
        let asked = passes.asked().clone();
        let table = answer(&asked, points.view(), 50);
        let bytes = table.to_bytes();
        let (numbers, _) = bytes[40..bytes.len() - 8].as_chunks::<8>();
        if passes.replay(&table, &mut source).expect("of all records").is_some() {
            return (asked, numbers.iter().map(|entry| i64::from_le_bytes(*entry)).collect());
        }
    }
}

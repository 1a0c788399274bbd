//! Records, sessions and releases to compare.

use std::fs::File;
use std::future::Future;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Float64Array, RecordBatch};
use datafusion::datasource::MemTable;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::file::properties::WriterProperties;
use datafusion::prelude::{SessionConfig, SessionContext};
use dp_cluster::dpm::{Dpm, DpmSettings};
use dp_cluster::map::{PrivateMap, PrivateMapSettings};
use dp_cluster::passes::{ByPasses, Question};
use dp_cluster::private_kmeans::{PrivateKMeans, PrivateKMeansSettings};
use dp_cluster::recentring::{DpmRecentred, DpmRecentredSettings};
use dp_cluster::{Budget, ChaCha20Rng, ClusterError, Mechanism, Points, PointsView, PublicBox};
use dp_datafusion::{Error, KeepNothing, Records, Run};
use dp_mechanism::Algorithm;
use dp_mechanism::passes::ReleaseOf;
use rand::{RngExt, SeedableRng};
use serde::Serialize;

/// What is released by passes and from memory alike.
pub(crate) trait Plan:
    ByPasses<Question = Question>
    + for<'a> Algorithm<Data<'a> = PointsView<'a>, Error = ClusterError, Output: Serialize>
    + Clone
{
}

impl<P> Plan for P where
    P: ByPasses<Question = Question>
        + for<'a> Algorithm<Data<'a> = PointsView<'a>, Error = ClusterError, Output: Serialize>
        + Clone
{
}

pub(crate) fn rng(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(2).enable_all().build().expect("threads").block_on(future)
}

fn budget() -> Budget {
    Budget::new(3.0, 1e-6).expect("valid")
}

fn cube(dim: usize) -> PublicBox {
    PublicBox::cube(dim, -10.0, 10.0).expect("valid")
}

pub(crate) fn dpm(dim: usize) -> Dpm {
    Dpm::new(cube(dim), budget(), DpmSettings { max_depth: 3, ..Default::default() })
        .expect("valid")
}

pub(crate) fn recentred(dim: usize) -> DpmRecentred {
    let settings = DpmRecentredSettings { max_depth: 3, clusters: Some(8), ..Default::default() };
    DpmRecentred::new(cube(dim), budget(), settings).expect("valid")
}

pub(crate) fn kmeans(dim: usize) -> PrivateKMeans {
    let settings = PrivateKMeansSettings { expected_records: Some(700), ..Default::default() };
    PrivateKMeans::new(cube(dim), 8, budget(), settings).expect("valid")
}

pub(crate) fn map() -> PrivateMap<dp_cluster::AddRemove> {
    let settings = PrivateMapSettings { levels: Some(1..=4), ..Default::default() };
    PrivateMap::add_remove(cube(2), budget(), settings).expect("valid")
}

/// Records around eight places, some outside of the box, some no numbers.
pub(crate) fn records(n: usize, dim: usize) -> Points {
    let mut rng = rng(4);
    let coords = (0..n * dim).map(|i| {
        let corner = if (i / dim) >> (i % dim % 3) & 1 == 1 { 6.0 } else { -6.0 };
        match rng.random_range(0..100) {
            0 => f64::NAN,
            1 => f64::NEG_INFINITY,
            2 => f64::INFINITY,
            3 => 1e300,
            4 => -0.0,
            _ => corner + rng.random_range(-1.5..1.5),
        }
    });
    Points::new(coords.collect(), dim).expect("whole rows")
}

pub(crate) const NAMES: [&str; 3] = ["x", "Second One", "z.1"];

/// Some of the records as columns; NaN is a null in every other row.
pub(crate) fn batch(points: &Points, rows: Range<usize>) -> RecordBatch {
    let all: Vec<&[f64]> = points.view().rows().collect();
    let column = |place: usize| {
        let cell = |row: usize| {
            let x = all[row][place];
            (!x.is_nan() || row.is_multiple_of(2)).then_some(x)
        };
        let column: Float64Array = rows.clone().map(cell).collect();
        Arc::new(column) as ArrayRef
    };
    // In another order than they are asked for, with a column that nobody asks for.
    let mut columns: Vec<(&str, ArrayRef)> =
        (0..points.dim()).map(|place| (NAMES[place], column(place))).collect();
    columns.reverse();
    let names = rows.clone().map(|row| Some(format!("person {row}")));
    let names: datafusion::arrow::array::StringArray = names.collect();
    columns.insert(1, ("name", Arc::new(names)));
    RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, column)| (name, column, true)),
    )
    .expect("columns of one length")
}

pub(crate) fn write_parquet(path: &Path, batch: &RecordBatch) {
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(40)).build();
    let file = File::create(path).expect("a file");
    let mut writer =
        ArrowWriter::try_new(file, batch.schema(), Some(properties)).expect("known types");
    writer.write(batch).expect("rows");
    writer.close().expect("a footer");
}

/// As people write it: NaN is an empty cell, or a word.
pub(crate) fn write_csv(path: &Path, points: &Points, rows: Range<usize>) {
    let mut text = NAMES[..points.dim()].join(",") + ",note\n";
    for (row, record) in points.view().rows().enumerate().skip(rows.start).take(rows.len()) {
        for x in record {
            let cell = match (x.is_nan(), row % 3) {
                (false, 0) => format!("{x}"),
                (false, _) => format!(" {x:e}"),
                (true, 0) => String::new(),
                (true, 1) => "unknown".to_owned(),
                (true, _) => "NaN".to_owned(),
            };
            text += &cell;
            text.push(',');
        }
        text += "\"two\nlines, a comma\"\n";
    }
    std::fs::write(path, text).expect("a file");
}

pub(crate) fn session(partitions: usize) -> SessionContext {
    let mut config = SessionConfig::new().with_target_partitions(partitions).with_batch_size(64);
    // Small files are cut as large ones are.
    config.options_mut().optimizer.repartition_file_min_size = 0;
    SessionContext::new_with_config(config)
}

/// A table in memory whose partitions are these.
pub(crate) fn table(partitions: Vec<Vec<RecordBatch>>, columns: &[&str]) -> Records {
    let schema = partitions.iter().flatten().next().expect("a batch").schema();
    let table = MemTable::try_new(schema, partitions).expect("one schema");
    let frame = session(8).read_table(Arc::new(table)).expect("a table");
    Records::frame(frame, columns).expect("columns")
}

pub(crate) fn from_memory<P: Plan>(plan: &P, points: &Points) -> Vec<u8> {
    bytes::<P>(&plan.simulate(points.view(), &mut rng(5)).expect("the shape fits"))
}

pub(crate) fn through<P: Plan>(plan: &P, records: &Records) -> Result<Vec<u8>, Error> {
    let run = Run::new(plan.clone(), records.clone())?;
    Ok(bytes::<P>(&wait(run.simulate(&mut rng(5), &mut KeepNothing))?))
}

/// Of the release, its receipt included.
pub(crate) fn bytes<P: Plan>(release: &ReleaseOf<P>) -> Vec<u8> {
    let receipt = format!("{:?}", release.receipt).into_bytes();
    [postcard::to_allocvec(&release.output).expect("numbers"), receipt].concat()
}

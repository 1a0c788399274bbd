//! CPU time per row of each pass, against ten plain sums: `cargo run --release --example speed -- ROWS FILE PARTITIONS`.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Float64Array, RecordBatch};
use datafusion::functions_aggregate::expr_fn::sum;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::Compression;
use datafusion::parquet::file::properties::WriterProperties;
use datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext, ident};
use dp_cluster::recentring::{DpmRecentred, DpmRecentredSettings};
use dp_cluster::{Budget, ChaCha20Rng, PublicBox, chacha_from_os};
use dp_datafusion::{Records, Run};
use rand::{RngExt, SeedableRng};

const DIM: usize = 10;
const CLUSTERS: usize = 64;

#[expect(clippy::print_stdout, reason = "it is a measurement")]
fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [rows, file, partitions] = &words[..] else {
        return Err("give ROWS, FILE and PARTITIONS".into());
    };
    let (rows, partitions): (usize, usize) = (rows.parse()?, partitions.parse()?);
    let names: Vec<String> = (0..DIM).map(|i| format!("x{i}")).collect();
    if !std::path::Path::new(file).exists() {
        write(file, rows, &names)?;
    }
    let threads = tokio::runtime::Builder::new_multi_thread().worker_threads(partitions).build()?;
    threads.block_on(async {
        let config = SessionConfig::new().with_target_partitions(partitions);
        let session = SessionContext::new_with_config(config);
        let columns: Vec<&str> = names.iter().map(String::as_str).collect();
        let records = Records::parquet(&session, &[file], &columns).await?;
        let public_box = PublicBox::cube(DIM, -10.0, 10.0)?;
        let settings = DpmRecentredSettings { clusters: Some(CLUSTERS), ..Default::default() };
        let plan = DpmRecentred::new(public_box, Budget::new(1.0, 1e-7)?, settings)?;
        let mut run = Run::new(plan, records)?;
        let mut rng = chacha_from_os()?;
        let mut all: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        loop {
            // Side by side, so that what else the machine does is in both.
            let start = cpu()?;
            let frame = session.read_parquet(file.as_str(), ParquetReadOptions::default()).await?;
            let sums = columns.iter().map(|name| sum(ident(*name))).collect();
            frame.aggregate(vec![], sums)?.collect().await?;
            let ten_sums = cpu()? - start;
            let start = cpu()?;
            let answer = run.count().await?;
            let pass = cpu()? - start;
            let per_row = |seconds: f64| seconds * 1e9 / rows as f64;
            let (number, name) = (run.asked().pass(), run.asked().question().name());
            let size = answer.to_bytes().len();
            println!(
                "pass {number}, {name}: {:.0} ns per row, ten sums {:.0}: {:.2}; {size} bytes",
                per_row(pass),
                per_row(ten_sums),
                pass / ten_sums
            );
            all.entry(name.to_owned()).or_default().push(pass / ten_sums);
            if run.answer(&answer, &mut rng)?.is_some() {
                break;
            }
        }
        for (name, mut ratios) in all {
            ratios.sort_by(f64::total_cmp);
            let (n, most) = (ratios.len(), ratios[ratios.len() - 1]);
            println!("{name}: {n} passes, median {:.2}, most {most:.2} of ten sums", ratios[n / 2]);
        }
        println!("peak memory {}", memory()?);
        Ok(())
    })
}

/// Seconds of the whole process so far, in user code and in the kernel; of Linux.
fn cpu() -> Result<f64, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/self/stat")?;
    let (_, rest) = text.rsplit_once(')').ok_or("an unknown format")?;
    let mut fields = rest.split_whitespace().skip(11);
    let mut next = || -> Result<f64, Box<dyn Error>> {
        Ok(fields.next().ok_or("an unknown format")?.parse()?)
    };
    Ok((next()? + next()?) / 100.0)
}

fn memory() -> Result<String, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/self/status")?;
    let line = text.lines().find(|line| line.starts_with("VmHWM"));
    Ok(line.unwrap_or_default().trim_start_matches("VmHWM:").trim().to_owned())
}

/// Records around 64 places.
fn write(file: &str, rows: usize, names: &[String]) -> Result<(), Box<dyn Error>> {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut place = || -> Vec<f64> { (0..DIM).map(|_| rng.random_range(-8.0..8.0)).collect() };
    let places: Vec<Vec<f64>> = (0..CLUSTERS).map(|_| place()).collect();
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer: Option<ArrowWriter<File>> = None;
    for first in (0..rows).step_by(100_000) {
        let part = first..rows.min(first + 100_000);
        let columns = names.iter().enumerate().map(|(at, name)| {
            let mut cell = |i: usize| places[i % CLUSTERS][at] + rng.random_range(-1.0..1.0);
            let column: Float64Array = part.clone().map(|i| Some(cell(i))).collect();
            (name.as_str(), Arc::new(column) as ArrayRef)
        });
        let batch = RecordBatch::try_from_iter(columns.collect::<Vec<_>>())?;
        let mut to = match writer.take() {
            Some(to) => to,
            None => {
                ArrowWriter::try_new(File::create(file)?, batch.schema(), Some(properties.clone()))?
            }
        };
        to.write(&batch)?;
        writer = Some(to);
    }
    writer.ok_or("no rows")?.close()?;
    Ok(())
}

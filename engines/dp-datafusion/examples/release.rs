//! A private clustering of people in Parquet: `cargo run --example release`.

use std::error::Error;
use std::fs::File;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Float64Array, RecordBatch};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::prelude::SessionContext;
use dp_cluster::recentring::{DpmRecentred, DpmRecentredSettings};
use dp_cluster::{Budget, Mechanism, PublicBox, chacha_from_os};
use dp_datafusion::{KeepFile, Records, Run};

#[expect(clippy::print_stdout, reason = "it shows a release")]
fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    for part in 0..3 {
        write(&folder.path().join(format!("people-{part}.parquet")), part)?;
    }

    // All that is public: the box, how many groups, and the budget.
    let map = PublicBox::cube(2, -10.0, 10.0)?;
    let settings = DpmRecentredSettings { clusters: Some(3), ..Default::default() };
    let plan = DpmRecentred::new(map, Budget::new(1.0, 1e-7)?, settings)?;
    println!("{}", plan.receipt());

    tokio::runtime::Runtime::new()?.block_on(async {
        let session = SessionContext::new();
        let files = format!("{}/", folder.path().display());
        let people = Records::parquet(&session, &[&files], &["east", "north"]).await?;
        // What a run that dies goes on from: as confidential as the records.
        let state = folder.path().join("state");
        let (mut keep, kept) = KeepFile::open(&state)?;
        let run = match kept {
            None => Run::new(plan, people)?,
            Some(kept) => Run::resume(plan, people, &kept)?,
        };
        let release = run.release(&mut chacha_from_os()?, &mut keep).await?;
        let found = release.output;
        for (centre, count) in found.centres.view().rows().zip(&found.counts) {
            println!("about {count} people around {centre:.2?}");
        }
        Ok(())
    })
}

/// 10,000 people around three places.
fn write(path: &std::path::Path, part: u32) -> Result<(), Box<dyn Error>> {
    let places = [[-6.0, 2.0], [1.0, -5.0], [7.0, 6.0]];
    let person = |i: u32| {
        let ([x, y], angle) = (places[i as usize % 3], f64::from(i));
        (x + angle.sin(), y + angle.cos())
    };
    let people = || (part * 10_000..(part + 1) * 10_000).map(person);
    let east: Float64Array = people().map(|(x, _)| Some(x)).collect();
    let north: Float64Array = people().map(|(_, y)| Some(y)).collect();
    let columns: [(&str, ArrayRef); 2] = [("east", Arc::new(east)), ("north", Arc::new(north))];
    let batch = RecordBatch::try_from_iter(columns)?;
    let mut writer = ArrowWriter::try_new(File::create(path)?, batch.schema(), None)?;
    writer.write(&batch)?;
    writer.close()?;
    Ok(())
}

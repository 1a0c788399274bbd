//! A release by workers: `cargo run --release --features workers --example by_workers -- FOLDER COLUMN,COLUMN LEAST MOST CLUSTERS URL URL`.
//!
//! Each URL is that of a `dp-datafusion-worker ADDRESS:PORT`, which reads the Parquet files of the folder by the same name. Kill one: the pass is
//! asked again.

use std::error::Error;
use std::io;
use std::time::Instant;

use datafusion::prelude::SessionConfig;
use dp_cluster::recentring::{DpmRecentred, DpmRecentredSettings};
use dp_cluster::{Budget, Mechanism, PublicBox, chacha_from_os};
use dp_datafusion::workers::Workers;
use dp_datafusion::{Keep, Records, Run};

/// Says when a pass is answered. A release of people has a `KeepFile`.
struct Says(Instant, u32);

impl Keep for Says {
    #[expect(clippy::print_stdout, reason = "it shows progress")]
    fn keep(&mut self, _: &[u8]) -> io::Result<()> {
        self.1 += 1;
        println!("pass {}: {:.1} s", self.1, self.0.elapsed().as_secs_f64());
        self.0 = Instant::now();
        Ok(())
    }
}

#[expect(clippy::print_stdout, reason = "it shows a release")]
#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [folder, columns, least, most, clusters, urls @ ..] = &words[..] else {
        return Err("give FOLDER COLUMN,COLUMN LEAST MOST CLUSTERS URL URL".into());
    };
    let columns: Vec<&str> = columns.split(',').collect();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    let workers = Workers::connect(&urls).await?;
    println!("{} of {} workers answer", workers.count(), urls.len());

    let public_box = PublicBox::cube(columns.len(), least.parse()?, most.parse()?)?;
    let settings = DpmRecentredSettings { clusters: Some(clusters.parse()?), ..Default::default() };
    let plan = DpmRecentred::new(public_box, Budget::new(1.0, 1e-7)?, settings)?;
    println!("{}", plan.receipt());

    let session = workers.session(SessionConfig::new())?;
    let records = Records::parquet(&session, &[&format!("{folder}/")], &columns).await?;
    let run = Run::new(plan, records)?.attempts(3);
    let found = run.release(&mut chacha_from_os()?, &mut Says(Instant::now(), 0)).await?.output;
    for (centre, count) in found.centres.view().rows().zip(&found.counts).take(10) {
        println!("about {count} records around {centre:.2?}");
    }
    Ok(())
}

//! A private clustering of people in a file that the engine reads, pass by pass.

use datafusion::prelude::SessionContext;
use dp_cluster::recentring::{DpmRecentred, DpmRecentredSettings};
use dp_cluster::{Budget, PublicBox};
use dp_datafusion::{KeepFile, Records, Run};
use dp_mechanism::{Mechanism, chacha_from_os};
use std::error::Error;

#[expect(clippy::print_stdout, reason = "it shows a release")]
fn main() -> Result<(), Box<dyn Error>> {
    // 30,000 people around three places.
    let folder = std::env::temp_dir().join("people-of-an-example");
    std::fs::create_dir_all(&folder)?;
    let line = |person: u32| {
        let (x, y) = [(-6.0, 2.0), (1.0, -5.0), (7.0, 6.0)][person as usize % 3];
        let angle = f64::from(person);
        format!("{},{}", x + angle.sin(), y + angle.cos())
    };
    let lines: Vec<String> = (0..30_000).map(line).collect();
    std::fs::write(folder.join("people.csv"), format!("east,north\n{}\n", lines.join("\n")))?;

    // All that is public: the box, how many clusters, and the budget.
    let map = PublicBox::cube(2, -10.0, 10.0)?;
    let settings = DpmRecentredSettings { clusters: Some(3), ..Default::default() };
    let plan = DpmRecentred::new(map, Budget::new(1.0, 1e-7)?, settings)?;
    println!("{}", plan.receipt());

    tokio::runtime::Runtime::new()?.block_on(async {
        let session = SessionContext::new();
        let files = format!("{}/", folder.display());
        let people = Records::csv(&session, &[&files], &["east", "north"]).await?; // listed once
        // What a run that dies goes on from: as confidential as the records.
        let (mut keep, kept) = KeepFile::open(&folder.join("state"))?;
        let run = match kept {
            None => Run::new(plan, people)?,
            Some(kept) => Run::resume(plan, people, &kept)?,
        };
        let found = run.release(&mut chacha_from_os()?, &mut keep).await?.output;
        for (centre, count) in found.centres.view().rows().zip(&found.counts) {
            println!("about {count} people around {centre:.2?}");
        }
        Ok(std::fs::remove_dir_all(&folder)?)
    })
}

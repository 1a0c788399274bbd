//! The private clusterings over n and d on one thread, beside the times of published code.
//!
//! Each row runs in a process of its own: peak memory would otherwise be that of the largest row
//! so far.

use crate::Ending;
use crate::cli::{BenchArgs, BenchRowArgs};
use crate::error::Error;
use crate::eval::clustering::algorithms;
use crate::eval::speed::{Beside, Clusters, Row};
use dp_geometry::{Points, PublicBox};
use quietus_datasets::catalogue::{Origin, Recipe};
use quietus_datasets::prepare::Dataset;
use quietus_datasets::seed::named_rng;
use quietus_datasets::synth::blobs;
use serde::{Deserialize, Serialize};
use std::process::Command;
use std::time::Instant;

const RANGE: (f64, f64) = (-100.0, 100.0);

/// An algorithm at a size, with the seconds of published code there if it gets that far, and those it should take.
struct Size(&'static str, Clusters, &'static str, Option<f64>, Option<f64>);

const DPM: &str = "published DPM code";
const LSH: &str = "open-source library, core";
const IBM: &str = "IBM library";
const NOBODY: &str = "nobody";

/// Smallest first.
#[rustfmt::skip]
const SIZES: [Size; 19] = [
    Size("dpm", of(100_000, 10, 64), DPM, Some(6.4), Some(0.012)),
    Size("dpm", of(100_000, 100, 64), DPM, Some(17.1), Some(0.12)),
    Size("lsh-splits", of(100_000, 10, 64), LSH, Some(0.38), Some(0.019)),
    Size("lsh-splits", of(100_000, 100, 64), LSH, Some(0.9), Some(0.090)),
    Size("dp-lloyd", of(100_000, 10, 64), IBM, Some(1.15), None),
    Size("dp-lloyd", of(100_000, 100, 64), IBM, Some(7.5), None),
    Size("em-mc", of(100_000, 100, 64), NOBODY, None, None),
    Size("dpm-recentred", of(100_000, 10, 64), NOBODY, None, None),
    Size("dpm-recentred", of(100_000, 100, 64), NOBODY, None, Some(0.3)),
    Size("private-kmeans", of(100_000, 10, 8), NOBODY, None, None),
    Size("private-kmeans", of(100_000, 10, 64), NOBODY, None, None),
    Size("private-kmeans", of(100_000, 10, 512), NOBODY, None, None),
    Size("private-kmeans", of(100_000, 100, 64), NOBODY, None, None),
    Size("dpm", of(1_000_000, 10, 64), DPM, Some(86.0), Some(0.11)),
    Size("dpm-recentred", of(1_000_000, 10, 64), NOBODY, None, None),
    Size("private-kmeans", of(1_000_000, 10, 64), NOBODY, None, None),
    Size("lsh-splits", of(1_000_000, 100, 64), LSH, None, Some(0.71)),
    Size("dpm", of(10_000_000, 10, 64), DPM, None, Some(1.3)),
    Size("dpm-recentred", of(10_000_000, 10, 64), NOBODY, None, Some(12.0)),
];

const fn of(n: usize, d: usize, k: usize) -> Clusters {
    Clusters { n, d, k }
}

impl Size {
    fn id(&self) -> String {
        let Self(algorithm, Clusters { n, d, k }, ..) = self;
        let clusters = if *k == 64 { String::new() } else { format!("-k{k}") };
        format!("{algorithm}-{n:e}x{d}{clusters}")
    }
}

/// What a child process prints.
#[derive(Debug, Serialize, Deserialize)]
struct Measured {
    seconds: f64,
    peak_rss_mib: Option<f64>,
}

/// Measures the rows that the arguments select, smallest first.
pub(crate) fn measure(args: &BenchArgs) -> Result<Vec<Row>, Error> {
    let selected = |size: &&Size| args.filter.as_ref().is_none_or(|part| size.id().contains(part));
    let count = if args.quick { 1 } else { SIZES.len() };
    SIZES.iter().take(count).filter(selected).map(measure_apart).collect()
}

fn measure_apart(size: &Size) -> Result<Row, Error> {
    let Size(algorithm, clusters, ..) = size;
    let [n, d, k] = [clusters.n, clusters.d, clusters.k].map(|number| number.to_string());
    let words = ["bench-row", "--algorithm", algorithm, "--n", &n, "--d", &d, "--k", &k];
    let failed = |reason: String| Error::Process { command: words.join(" "), reason };
    let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let output = Command::new(program)
        .args(words)
        .stderr(std::process::Stdio::inherit())
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(format!("ended with {}", output.status)));
    }
    let measured: Measured =
        serde_json::from_slice(&output.stdout).map_err(|error| failed(error.to_string()))?;
    Ok(row(size, &measured))
}

fn row(size: &Size, measured: &Measured) -> Row {
    let &Size(algorithm, clusters, holder, holder_seconds, target_seconds) = size;
    let beside = Beside { holder, holder_seconds, target_seconds };
    let row = Row::new(size.id(), Some((algorithm, clusters)), measured.seconds, beside);
    Row { peak_rss_mib: measured.peak_rss_mib, ..row }
}

/// The child's side: one size on one thread, the median of some repeats, as JSON on stdout.
pub(crate) fn row_command(args: &BenchRowArgs) -> Result<Ending, Error> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .map_err(|error| Error::library("a pool of one thread", &error))?;
    let measured = pool.install(|| measure_here(args))?;
    let text = serde_json::to_string(&measured)
        .map_err(|error| Error::library("writing a row as JSON", &error))?;
    println!("{text}");
    Ok(Ending::Complete)
}

fn measure_here(args: &BenchRowArgs) -> Result<Measured, Error> {
    let all = algorithms::all();
    let algorithm = all.iter().find(|one| one.id() == args.algorithm).ok_or_else(|| {
        Error::unknown("algorithm", &args.algorithm, all.iter().map(|one| one.id()))
    })?;
    let dataset = dataset(of(args.n, args.d, args.k))?;
    let mut rng = named_rng(&["bench release"]);
    let mut seconds = Vec::new();
    for _ in 0..args.repeats.max(1) {
        let start = Instant::now();
        let outcome = algorithm.run(&dataset, 1.0, &mut rng)?;
        seconds.push(start.elapsed().as_secs_f64());
        drop(std::hint::black_box(outcome));
    }
    seconds.sort_by(f64::total_cmp);
    let peak_rss_mib = crate::eval::memory::peak_mib();
    Ok(Measured { seconds: seconds[seconds.len() / 2], peak_rss_mib })
}

/// Blobs, as in the evaluation.
fn dataset(Clusters { n, d, k }: Clusters) -> Result<Dataset, Error> {
    let recipe =
        Recipe { id: "bench", origin: Origin::Blobs, n, d, k, range: RANGE, k_search: [k; 5] };
    // One per process, and a data set keeps its recipe for ever.
    let recipe: &'static Recipe = Box::leak(Box::new(recipe));
    let made = blobs(&recipe.blobs(), &mut named_rng(&["bench", &n.to_string(), &d.to_string()]));
    let points = Points::new(made.points, d).map_err(|error| Error::library("points", &error))?;
    let domain = PublicBox::cube(d, RANGE.0, RANGE.1)
        .map_err(|error| Error::library("declared range", &error))?;
    let checksum = String::new();
    Ok(Dataset { recipe, points, labels: None, true_centres: None, domain, checksum })
}

//! The private clusterings over n and d on one thread, beside the times of published code.
//!
//! Each row runs in a process of its own: peak memory would otherwise be that of the largest row
//! so far.

use crate::Ending;
use crate::cli::{BenchArgs, BenchRowArgs};
use crate::error::Error;
use crate::eval::aims::Size;
use crate::eval::clustering::algorithms;
use crate::eval::speed::{Clusters, Row};
use dp_geometry::{Points, PublicBox};
use quietus_datasets::catalogue::{Origin, Recipe};
use quietus_datasets::prepare::Dataset;
use quietus_datasets::seed::named_rng;
use quietus_datasets::synth::blobs;
use serde::{Deserialize, Serialize};
use std::process::Command;
use std::time::Instant;

const RANGE: (f64, f64) = (-100.0, 100.0);

fn id(size: &Size) -> String {
    let Size { algorithm, n, d, k, .. } = size;
    let clusters = if *k == 64 { String::new() } else { format!("-k{k}") };
    format!("{algorithm}-{n:e}x{d}{clusters}")
}

/// What a child process prints.
#[derive(Debug, Serialize, Deserialize)]
struct Measured {
    seconds: f64,
    peak_rss_mib: Option<f64>,
}

/// Measures the rows that the arguments select, smallest first.
pub(crate) fn measure(sizes: &[Size], args: &BenchArgs) -> Result<Vec<Row>, Error> {
    let selected = |size: &&Size| args.filter.as_ref().is_none_or(|part| id(size).contains(part));
    let count = if args.quick { 1 } else { sizes.len() };
    sizes.iter().take(count).filter(selected).map(measure_apart).collect()
}

fn measure_apart(size: &Size) -> Result<Row, Error> {
    let algorithm = &size.algorithm;
    let [n, d, k] = [size.n, size.d, size.k].map(|number| number.to_string());
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
    let &Size { n, d, k, ref algorithm, ref known } = size;
    let row = Row::new(id(size), Some((algorithm, Clusters { n, d, k })), measured.seconds, known);
    Row { peak_rss_mib: measured.peak_rss_mib, ..row }
}

/// The child's side: one size on one thread, the median of some repeats, as JSON on stdout.
pub(crate) fn row_command(args: &BenchRowArgs) -> Result<Ending, Error> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let measured = pool.install(|| measure_here(args))?;
    println!("{}", serde_json::to_string(&measured)?);
    Ok(Ending::Complete)
}

fn measure_here(args: &BenchRowArgs) -> Result<Measured, Error> {
    let all = algorithms::all();
    let algorithm = all.iter().find(|one| one.id() == args.algorithm).ok_or_else(|| {
        Error::unknown("algorithm", &args.algorithm, all.iter().map(|one| one.id()))
    })?;
    let dataset = dataset(Clusters { n: args.n, d: args.d, k: args.k })?;
    let mut rng = named_rng(&["bench release"]);
    let mut seconds = Vec::new();
    // What takes milliseconds runs for half a second, or its median would be one of a cold process.
    while seconds.len() < args.repeats.max(1) || seconds.iter().sum::<f64>() < 0.5 {
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
    let points = Points::new(made.points, d)?;
    let domain = PublicBox::cube(d, RANGE.0, RANGE.1)?;
    let checksum = String::new();
    Ok(Dataset { recipe, points, labels: None, true_centres: None, domain, checksum })
}

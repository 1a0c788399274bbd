//! DPM over n and d on one thread, beside the time of the published code.
//!
//! Each row runs in a process of its own: peak memory would otherwise be that of the largest row
//! so far.

use crate::Ending;
use crate::cli::{BenchArgs, BenchRowArgs};
use crate::data::synth::{BlobSpec, blobs};
use crate::error::Error;
use crate::eval::clustering::algorithms::dpm_plan;
use crate::report::number::significant;
use crate::seed::named_rng;
use dp_geometry::{Points, PublicBox};
use dp_mechanism::Mechanism;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::process::Command;
use std::time::Instant;

const RANGE: (f64, f64) = (-100.0, 100.0);
const HOLDER: &str = "published DPM code";

/// A size with the seconds of the published code at that size.
struct Size {
    id: &'static str,
    n: usize,
    d: usize,
    holder_seconds: f64,
}

const SIZES: [Size; 3] = [
    Size { id: "dpm-1e5x10", n: 100_000, d: 10, holder_seconds: 6.4 },
    Size { id: "dpm-1e5x100", n: 100_000, d: 100, holder_seconds: 17.1 },
    Size { id: "dpm-1e6x10", n: 1_000_000, d: 10, holder_seconds: 86.0 },
];

/// One row of bench.json. The order of the fields is the order in the file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Row {
    id: &'static str,
    n: usize,
    d: usize,
    threads: usize,
    seconds: f64,
    peak_rss_mib: Option<f64>,
    holder: &'static str,
    holder_seconds: f64,
    /// How many times faster than the holder.
    ratio: f64,
}

/// What a child process prints.
#[derive(Debug, Serialize, Deserialize)]
struct Measured {
    seconds: f64,
    peak_rss_mib: Option<f64>,
}

/// Measures the rows that the arguments select, smallest first.
pub(crate) fn measure(args: &BenchArgs) -> Result<Vec<Row>, Error> {
    let selected = |size: &&Size| args.filter.as_ref().is_none_or(|part| size.id.contains(part));
    let count = if args.quick { 1 } else { SIZES.len() };
    SIZES.iter().take(count).filter(selected).map(measure_apart).collect()
}

fn measure_apart(size: &Size) -> Result<Row, Error> {
    let words = ["bench-row", "--n", &size.n.to_string(), "--d", &size.d.to_string()];
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
    Row {
        id: size.id,
        n: size.n,
        d: size.d,
        threads: 1,
        seconds: measured.seconds,
        peak_rss_mib: measured.peak_rss_mib,
        holder: HOLDER,
        holder_seconds: size.holder_seconds,
        ratio: size.holder_seconds / measured.seconds,
    }
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
    let spec = BlobSpec { n: args.n, d: args.d, k: 64, range: RANGE };
    let made = blobs(&spec, &mut named_rng(&["bench", &args.n.to_string(), &args.d.to_string()]));
    let points =
        Points::new(made.points, args.d).map_err(|error| Error::library("points", &error))?;
    let domain = PublicBox::cube(args.d, RANGE.0, RANGE.1)
        .map_err(|error| Error::library("declared range", &error))?;
    let plan = dpm_plan(&domain, 1.0, (args.n as f64).powf(-1.5))?;
    let mut rng = named_rng(&["bench release"]);
    let mut seconds = Vec::new();
    for _ in 0..args.repeats.max(1) {
        let start = Instant::now();
        let release = plan.release(points.view(), &mut rng);
        seconds.push(start.elapsed().as_secs_f64());
        drop(std::hint::black_box(release.map_err(|error| Error::library("dpm", &error))?));
    }
    seconds.sort_by(f64::total_cmp);
    let peak_rss_mib = crate::eval::memory::peak_mib();
    Ok(Measured { seconds: seconds[seconds.len() / 2], peak_rss_mib })
}

/// The rows for the terminal.
pub(crate) fn table(rows: &[Row]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "\n{:12} {:>9} {:>4} {:>9} {:>9} {:>20} {:>7}\n",
        "row", "n", "d", "seconds", "peak MiB", HOLDER, "ratio"
    );
    for row in rows {
        let peak = row.peak_rss_mib.map_or("–".to_owned(), |peak| format!("{peak:.0}"));
        writeln!(
            text,
            "{:12} {:>9} {:>4} {:>9} {peak:>9} {:>18} s {:>7}",
            row.id,
            row.n,
            row.d,
            significant(row.seconds, 3),
            row.holder_seconds,
            significant(row.ratio, 3),
        )
        .expect("writing to a String cannot fail");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Measured, SIZES, row, table};

    #[test]
    fn a_row_has_the_fields_of_the_contract() {
        let rows = [row(&SIZES[0], &Measured { seconds: 0.2, peak_rss_mib: Some(40.0) })];
        insta::assert_snapshot!(serde_json::to_string(&rows).unwrap(), @r#"[{"id":"dpm-1e5x10","n":100000,"d":10,"threads":1,"seconds":0.2,"peak_rss_mib":40.0,"holder":"published DPM code","holder_seconds":6.4,"ratio":32.0}]"#);
        insta::assert_snapshot!(table(&rows), @r"
        row                  n    d   seconds  peak MiB   published DPM code   ratio
        dpm-1e5x10      100000   10     0.200        40                6.4 s    32.0
        ");
    }
}

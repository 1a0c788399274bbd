//! `cargo xtask bench`: the criterion benches, then the scaling table; what has a holder or a target stands beside it.

mod criterion;
pub(crate) mod scaling;

use crate::Ending;
use crate::cli::BenchArgs;
use crate::error::Error;
use crate::eval::{aims, speed};
use crate::report::terminal::aligned;
use quietus_datasets::{files, workspace};
use std::process::Command;

/// Runs both parts; OUT/bench.json holds their rows, and the next report shows them.
pub(crate) fn command(args: &BenchArgs) -> Result<Ending, Error> {
    let out = args.out.clone().unwrap_or_else(workspace::default_out);
    files::create_folder(&out)?;
    let benches = criterion_arguments(args);
    println!("cargo {}", benches.join(" "));
    let status = cargo()
        .args(&benches)
        // The rows are of one thread; benches of more have pools of their own.
        .env("RAYON_NUM_THREADS", "1")
        .current_dir(workspace::root())
        .status()
        .map_err(|error| failed(&benches, error.to_string()))?;
    if !status.success() {
        return Err(failed(&benches, format!("ended with {status}")));
    }
    let folder = workspace::root().join("target/criterion");
    let aims = aims::read()?;
    let mut rows = criterion::rows(&aims.bench, &folder, args.filter.as_deref())?;
    rows.extend(scaling::measure(&aims.size, args)?);
    // Quality and trust are the work of `eval` and `audit`; what they left in this folder is put beside the targets.
    rows.extend(aims::in_folder(&out)?);
    let tables = [speed::lines(&rows), speed::powers(&rows, &aims.growth), speed::values(&rows)];
    print!("\n{}", tables.map(|table| aligned(&table)).join("\n"));
    let path = out.join("bench.json");
    files::write_atomically(&path, |writer| {
        serde_json::to_writer_pretty(&mut *writer, &rows)?;
        writer.write_all(b"\n")
    })?;
    println!("written to {}", workspace::shown(&path));
    if args.peers {
        peers(args.filter.as_deref())?;
    }
    Ok(Ending::Complete)
}

/// Each script installs a peer, times it beside ours and prints the ratio, or says that it cannot be had.
fn peers(filter: Option<&str>) -> Result<(), Error> {
    for script in files::below(&workspace::root().join("benches/peers"), "sh")? {
        let name = workspace::shown(&script);
        if filter.is_none_or(|part| name.contains(part)) {
            println!("\nsh {name}");
            let run = Command::new("sh").arg(&script).status();
            run.map_err(|error| Error::Process { command: name, reason: error.to_string() })?;
        }
    }
    Ok(())
}

/// The cargo that runs us, so that a pinned toolchain stays pinned.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

fn criterion_arguments(args: &BenchArgs) -> Vec<String> {
    let mut words = vec!["bench", "-p", "quietus-benches", "--"];
    if args.quick {
        words.push("--quick");
    }
    words.extend(args.filter.as_deref());
    words.into_iter().map(str::to_owned).collect()
}

fn failed(words: &[String], reason: String) -> Error {
    Error::Process { command: format!("cargo {}", words.join(" ")), reason }
}

#[cfg(test)]
mod tests {
    use super::criterion_arguments;
    use crate::cli::BenchArgs;

    #[test]
    fn the_filter_and_quick_reach_criterion() {
        let args = BenchArgs { quick: true, filter: Some("dpm".into()), ..Default::default() };
        assert_eq!(criterion_arguments(&args).join(" "), "bench -p quietus-benches -- --quick dpm");
        assert_eq!(
            criterion_arguments(&BenchArgs::default()).join(" "),
            "bench -p quietus-benches --"
        );
    }
}

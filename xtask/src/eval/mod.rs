//! `cargo xtask eval`: every algorithm of a suite on every data set, one cell after another.

pub(crate) mod aims;
mod cell;
mod census;
pub(crate) mod clustering;
mod compare;
mod distance;
mod evaluation;
mod family;
mod frame;
mod growth;
mod heavy_hitters;
mod k_median;
mod local;
pub(crate) mod memory;
mod papers;
mod provenance;
pub(crate) mod record;
mod results;
mod robust;
pub(crate) mod runner;
mod session;
mod set_cover;
pub(crate) mod settings;
pub(crate) mod speed;
mod stable;
mod submodular;
pub(crate) mod suite;
pub(crate) mod summary;
mod tables;
mod verdict;

use crate::Ending;
use crate::cli::{EvalArgs, EvalCommand};
use crate::error::Error;
use quietus_datasets::workspace;
use session::Session;
use settings::Settings;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Runs the evaluation and writes its report.
pub(crate) fn command(args: &EvalArgs) -> Result<Ending, Error> {
    if let Some(EvalCommand::Compare(folders)) = &args.command {
        return compare::command(folders);
    }
    let settings = Settings::new(args)?;
    let stop = stop_on_interrupt()?;
    // 0 lets rayon count the cores.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(settings.jobs.unwrap_or(0)).build()?;
    pool.install(|| evaluate(&settings, &stop))
}

fn evaluate(settings: &Settings, stop: &AtomicBool) -> Result<Ending, Error> {
    let mut suites = suite::all();
    suites.retain(|suite| settings.suites.contains(&suite.id()));
    let mut session = Session::open(settings, stop, suites)?;
    let ran = session.run();
    let finished = session.finished_cells();
    if let Err(error) = ran {
        // Typically a full disk: say what is safe before saying what went wrong.
        if finished > 0 {
            let out = workspace::shown(&settings.out);
            eprintln!(
                "{finished} finished cells are kept in {out}/results.jsonl; --resume goes on"
            );
        }
        return Err(error);
    }
    let evaluation = session.close();
    evaluation::write(&evaluation)?;
    print!("{}", evaluation::closing_tables(&evaluation));
    println!("report: {}", workspace::shown(&settings.out.join("report.html")));
    for left_out in &evaluation.left_out {
        println!("left out: {}", left_out.reason);
    }
    for failure in &evaluation.failures {
        eprintln!("error: {} failed: {}", failure.what, failure.reason);
    }
    if evaluation.interrupted {
        eprintln!("interrupted; the same command with --resume goes on after {finished} cells");
        Ok(Ending::Interrupted)
    } else if evaluation.failures.is_empty() {
        Ok(Ending::Complete)
    } else {
        Ok(Ending::Incomplete)
    }
}

/// The first Ctrl-C ends the run after the current cell; a second one ends it at once, which loses
/// that cell only.
fn stop_on_interrupt() -> Result<Arc<AtomicBool>, Error> {
    let stop = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if seen.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        eprintln!("\nstopping after the current cell; Ctrl-C again stops at once");
    })
    .map_err(|error| Error::library("listening for Ctrl-C", &error))?;
    Ok(stop)
}

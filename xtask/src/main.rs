//! Evaluation, audits, data, benchmarks and CI of the workspace: `cargo xtask --help`.
//!
//! Everything that reads files, keeps time, prints or draws plots lives here, so that the library
//! crates never have to.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is the command line tool: printing is its face"
)]

mod audit;
mod bench;
mod ci;
mod cli;
mod datasets;
mod error;
mod eval;
mod mutants;
mod progress;
mod report;

use clap::Parser;
use std::io::Write;
use std::process::ExitCode;

/// How a command ended when nothing stopped it outright.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// All that was asked for was done.
    Complete,
    /// Something was left undone or was refused; it has been named on stderr.
    Incomplete,
    /// The user pressed Ctrl-C; what was finished is kept.
    Interrupted,
}

fn main() -> ExitCode {
    match dispatch(cli::Cli::parse().command) {
        Ok(Ending::Complete) => ExitCode::SUCCESS,
        Ok(Ending::Incomplete) => ExitCode::FAILURE,
        Ok(Ending::Interrupted) => ExitCode::from(130), // the shell's number for SIGINT
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(command: cli::Command) -> Result<Ending, error::Error> {
    match command {
        cli::Command::Eval(args) => eval::command(&args),
        cli::Command::Audit(args) => audit::command(&args),
        cli::Command::Data { command } => datasets::command(&command),
        cli::Command::Bench(args) => bench::command(&args),
        cli::Command::BenchRow(args) => bench::scaling::row_command(&args),
        cli::Command::Mutants(args) => mutants::command(&args),
        cli::Command::Ci(args) => ci::command(&args),
    }
}

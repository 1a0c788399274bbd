//! The command line, as other tools rely on it. Parsing only: no command does its work here.

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Evaluation, audits, data, benchmarks and CI of the workspace.
#[derive(Debug, Parser)]
#[command(name = "xtask", bin_name = "cargo xtask", version)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run algorithms and baselines on data sets; write results.jsonl, report.md and report.html
    Eval(EvalArgs),
    /// Check every privacy claim, broken mutants included; write audit.json
    Audit(AuditArgs),
    /// List, generate and import data sets
    Data {
        #[command(subcommand)]
        command: DataCommand,
    },
    /// Criterion benches and the scaling table; write bench.json
    Bench(BenchArgs),
    /// One row of the scaling table in its own process, so that peak memory is that row's alone
    #[command(hide = true)]
    BenchRow(BenchRowArgs),
    /// Make one-line slips in the source and see which are noticed (installs cargo-mutants in target/tools)
    Mutants(MutantsArgs),
    /// Exactly what CI runs, one named step after the other
    Ci(CiArgs),
}

#[derive(Clone, Debug, Default, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct EvalArgs {
    #[command(subcommand)]
    pub(crate) command: Option<EvalCommand>,
    /// Suites to run; without any, a quick pass over all that exist
    #[arg(value_name = "SUITE")]
    pub(crate) suites: Vec<String>,
    /// Two runs and small samples: a minute or two for all suites on two cores, once it is built
    #[arg(long, conflicts_with = "full")]
    pub(crate) quick: bool,
    /// As many runs as the papers report (20)
    #[arg(long)]
    pub(crate) full: bool,
    /// Runs of each algorithm on each data set
    #[arg(long, value_name = "N")]
    pub(crate) runs: Option<u32>,
    /// Seed of every algorithm's randomness; the data sets have fixed seeds of their own
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Privacy budget of the private algorithms
    #[arg(long, value_name = "E", default_value_t = 1.0, allow_negative_numbers = true)]
    pub(crate) epsilon: f64,
    /// Folder of real data sets, as `SET/FILE` (default: what `data import` copied)
    #[arg(long, value_name = "DIR")]
    pub(crate) datasets: Option<PathBuf>,
    /// Where results and reports go (default: target/eval)
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Keep the finished cells of an earlier, interrupted run in the same folder
    #[arg(long)]
    pub(crate) resume: bool,
    /// Worker threads (default: one per core); results do not depend on it
    #[arg(long, value_name = "J")]
    pub(crate) jobs: Option<usize>,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum EvalCommand {
    /// Two folders of results beside each other, with a test of whether they differ
    Compare(CompareArgs),
}

#[derive(Clone, Debug, Args)]
pub(crate) struct CompareArgs {
    /// Folder of the one evaluation (or its results.jsonl)
    pub(crate) a: PathBuf,
    /// Folder of the other
    pub(crate) b: PathBuf,
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct AuditArgs {
    /// Larger universes, more runs, fresh seeds
    #[arg(long)]
    pub(crate) deep: bool,
    /// Only these claims or mutants
    #[arg(long, value_name = "ID", num_args = 1..)]
    pub(crate) only: Vec<String>,
    /// Run nothing: put together what `DP_AUDIT_REPORTS=DIR cargo test` has left in this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["deep", "only"])]
    pub(crate) found: Option<PathBuf>,
    /// Where audit.json goes (default: target/eval)
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum DataCommand {
    /// Show every data set: shape, whether it is present, where it is published, licence
    List {
        /// Only this set, with all that the manifest says about it
        name: Option<String>,
        /// Folder to look in (default: the workspace's cache, target/datasets)
        #[arg(long, value_name = "DIR")]
        datasets: Option<PathBuf>,
    },
    /// Write a generated data set as a compressed table
    Generate {
        /// `synth-10d`, `synth-100d` or `census-synthetic`
        name: String,
        /// Seed; 0 is the data that `eval` uses
        #[arg(long, value_name = "S", default_value_t = 0)]
        seed: u64,
        /// Number of points, or of groups (default: as in the evaluation)
        #[arg(long, value_name = "N")]
        n: Option<usize>,
        /// Folder to write to (default: target/datasets)
        #[arg(long, value_name = "DIR")]
        to: Option<PathBuf>,
    },
    /// Copy data sets from a local folder into the cache, each checked against the manifest
    Import {
        /// Folder that holds `SET/FILE`
        dir: PathBuf,
        /// Folder to copy to (default: target/datasets)
        #[arg(long, value_name = "DIR")]
        to: Option<PathBuf>,
    },
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct BenchArgs {
    /// Short measurements and the first row of the scaling table only
    #[arg(long)]
    pub(crate) quick: bool,
    /// Also time the peers, each installed by name into a folder of its own, and print the ratios
    #[arg(long)]
    pub(crate) peers: bool,
    /// Only benches, rows and peers whose name contains this
    pub(crate) filter: Option<String>,
    /// Where bench.json goes (default: target/eval)
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct MutantsArgs {
    /// Crates whose source is changed; without any, all that handle records
    #[arg(value_name = "CRATE")]
    pub(crate) crates: Vec<String>,
    /// About so many mutants of each crate instead of all, always the same ones
    #[arg(long, value_name = "N")]
    pub(crate) sample: Option<usize>,
    /// A look instead: one of the crates, chosen by the commit as the mutants are, and as many of those as there is time for. It says what
    /// survived, and does not fail for it
    #[arg(long, value_name = "M", conflicts_with = "sample")]
    pub(crate) minutes: Option<u64>,
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct CiArgs {
    /// Only the steps whose name contains this; what they read must be there from an earlier run
    pub(crate) step: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct BenchRowArgs {
    /// A clustering algorithm by its id
    #[arg(long)]
    pub(crate) algorithm: String,
    /// Number of points
    #[arg(long)]
    pub(crate) n: usize,
    /// Dimension
    #[arg(long)]
    pub(crate) d: usize,
    /// Number of clusters
    #[arg(long, default_value_t = 64)]
    pub(crate) k: usize,
    /// How often to repeat; the median counts
    #[arg(long, default_value_t = 3)]
    pub(crate) repeats: usize,
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::{CommandFactory, Parser};

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn quick_and_full_exclude_each_other() {
        let error = Cli::try_parse_from(["xtask", "eval", "--quick", "--full"]).unwrap_err();
        assert!(error.to_string().contains("cannot be used with"), "{error}");
    }
}

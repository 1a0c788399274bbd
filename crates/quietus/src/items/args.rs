//! What is said on the command line.

use crate::catalogue::CatalogueArgs;
use crate::cli::{FileArgs, LossArgs, TargetArgs};
use clap::Args;
use std::path::PathBuf;

/// `items`.
#[derive(Clone, Debug, Args)]
#[command(group = clap::ArgGroup::new("cut").required(true).args(["step", "boundaries", "boundaries_from"]))]
#[command(group = clap::ArgGroup::new("settings").required(true).args(["find", "reports_per_user"]))]
pub struct ItemsArgs {
    /// The column that says whose row it is: a user is protected in all rows of all steps
    #[arg(long, value_name = "COLUMN")]
    pub user: String,
    /// What rows are about.
    #[command(flatten)]
    pub catalogue: CatalogueArgs,
    /// The column that says when
    #[arg(long, value_name = "COLUMN")]
    pub time: String,
    /// Public: where the first step begins: a whole number, or a date as 2024-01-01 or 2024-01-01T06:00
    #[arg(long, value_name = "TIME", requires = "step", allow_hyphen_values = true)]
    pub from: Option<String>,
    /// Public: how long a step is: as 7d, 12h, 30m or 90s for dates, else a whole number
    #[arg(long, value_name = "LENGTH", requires_all = ["from", "steps"])]
    pub step: Option<String>,
    /// Public: how many steps the session has at most
    #[arg(long, value_name = "N", requires = "step")]
    pub steps: Option<u64>,
    /// Public, in place of --step: where steps begin and end, between commas
    #[arg(long, value_name = "TIMES", value_delimiter = ',', allow_hyphen_values = true)]
    pub boundaries: Vec<String>,
    /// Public, in place of --step: where steps begin and end, in the column `time` of a file
    #[arg(long, value_name = "FILE")]
    pub boundaries_from: Option<PathBuf>,
    /// Public: until when the log is complete. Steps that have ended by then are released, if they have not been
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub until: Option<String>,
    /// An item that so many users show in a step should be found; the settings follow
    #[arg(long, value_name = "USERS", conflicts_with_all = ["reports_per_user", "items_per_step"])]
    pub find: Option<u64>,
    /// In how many steps it should be found, if it is shown in each of them
    #[arg(long, value_name = "STEPS", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub within: u64,
    /// Public: about how many items a user shows in a step
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub items_per_user: u32,
    /// With --find: of how many reports a user should be able to be part, over all steps, at least
    #[arg(long, value_name = "REPORTS", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=254))]
    pub stay_for: u8,
    /// In place of --find: of how many reports a user can be part
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=254))]
    pub reports_per_user: Option<u8>,
    /// How many items of a user count in a step; by default as many as reports
    #[arg(long, value_name = "N", requires = "reports_per_user", value_parser = clap::value_parser!(u8).range(1..=254))]
    pub items_per_step: Option<u8>,
    /// What it costs: the whole session, however many runs it takes.
    #[command(flatten)]
    pub loss: LossArgs,
    /// The delta of differential privacy, well below one over the number of users; with one, only items that somebody shows are released
    #[arg(long, value_name = "D", default_value_t = 0.0, allow_negative_numbers = true)]
    pub delta: f64,
    /// What is read.
    #[command(flatten)]
    pub file: FileArgs,
    /// Where it goes.
    #[command(flatten)]
    pub target: TargetArgs,
}

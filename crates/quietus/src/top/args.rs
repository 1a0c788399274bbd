//! What is said on the command line.

use crate::catalogue::CatalogueArgs;
use crate::cli::{FileArgs, LossArgs, TargetArgs};
use clap::Args;

/// `top`.
#[derive(Clone, Debug, Args)]
pub struct TopArgs {
    /// The column that says whose row it is: a person is protected in all rows
    #[arg(long, value_name = "COLUMN")]
    pub person: String,
    /// What rows are about.
    #[command(flatten)]
    pub catalogue: CatalogueArgs,
    /// How many items of a person count
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=254))]
    pub items_per_person: u8,
    /// What it costs: of pure differential privacy.
    #[command(flatten)]
    pub loss: LossArgs,
    /// What is read.
    #[command(flatten)]
    pub file: FileArgs,
    /// Where it goes.
    #[command(flatten)]
    pub target: TargetArgs,
}

//! What is said on the command line.

use crate::cli::{FileArgs, TargetArgs};
use clap::Args;
use std::path::PathBuf;

/// `top`.
#[derive(Clone, Debug, Args)]
#[command(group = clap::ArgGroup::new("which").required(true).args(["items", "items_from", "numbers_below"]))]
pub struct TopArgs {
    /// The column that says whose row it is: a person is protected in all rows
    #[arg(long, value_name = "COLUMN")]
    pub person: String,
    /// The column that says which item a row is about
    #[arg(long, value_name = "COLUMN")]
    pub item: String,
    /// Public: the items there could be, between commas; from elsewhere, never from the people
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub items: Vec<String>,
    /// Public: the items there could be, in the column `item` of a file; from elsewhere, never from the people
    #[arg(long, value_name = "FILE")]
    pub items_from: Option<PathBuf>,
    /// Public: items are the whole numbers from 0 to below this one
    #[arg(long, value_name = "N")]
    pub numbers_below: Option<u64>,
    /// Public: the file names at most so many persons. The promise is for files that do not name more; further ones are left out
    #[arg(long, value_name = "N")]
    pub users: u32,
    /// How many items of a person count
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=254))]
    pub items_per_person: u8,
    /// Pure differential privacy
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    pub epsilon: f64,
    /// What is read.
    #[command(flatten)]
    pub file: FileArgs,
    /// Where it goes.
    #[command(flatten)]
    pub target: TargetArgs,
}

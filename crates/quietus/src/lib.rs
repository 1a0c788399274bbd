//! Private releases from one's own files, with a ledger that counts every one of them.
//!
//! A file goes in, a folder comes out: noisy numbers with their errors, the receipt of what they cost, the plan. Nothing is lost or
//! drawn unrecorded, and nothing that anybody could read is drawn twice, whatever dies in between.
//!
//! ```
//! use clap::Parser;
//! use quietus::cli::{Cli, Command};
//! use quietus::{Gate, RealDisk, release};
//!
//! let home = tempfile::tempdir()?;
//! let file = home.path().join("people.csv");
//! std::fs::write(&file, "town,age\nA,31\nB,57\nA,8\n")?;
//! let out = home.path().join("out");
//! let words = ["quietus", "release", "count", "--by", "town", "--groups", "A,B,C", "--epsilon", "1", "--no-ledger"];
//! let files = ["--data", file.to_str().unwrap(), "--out", out.to_str().unwrap()];
//! let Command::Release { family } = Cli::parse_from(words.into_iter().chain(files)).command else { unreachable!() };
//! let said = release(&family, &Gate::default(), &RealDisk)?;
//! assert!(said.text.contains("epsilon"));
//! assert!(out.join("groups.csv").exists() && out.join("receipt.json").exists());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What matters
//! - [`table`]: rows of CSV, CSV in gzip and Parquet, with limits, by rules that no row can break.
//! - [`groups`]: counts, histograms and means by public groups.
//! - [`release_census`]: numbers of groups by size in every region of a hierarchy.
//! - [`cluster`]: points to centres and counts. [`map`]: places to a map of which every clustering is free.
//! - [`top`]: a log of persons and items to the most popular items. [`items`]: the same step after step, in a session that goes on.
//! - [`sets`]: public sets that serve people. [`locate`]: public places near to where people are.
//! - [`passes`]: the same releases from files that do not fit into memory, which go on when they were stopped.
//! - [`meaning()`]: what an epsilon and a delta mean for one person.
//! - [`Order`]: one release from receipt to folder. [`LedgerFile`]: the account of a data set.
//! - [`Disk`]: every call that changes something on disk, so that tests let each of them fail.
//!
//! Unlike the crates below, this one reads files, prints, and listens for signals.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod catalogue;
mod census;
mod centres;
pub mod cli;
pub mod cluster;
mod disk;
mod error;
mod folder;
pub mod groups;
pub mod items;
mod lease;
pub mod ledger;
pub mod locate;
pub mod map;
mod meaning;
mod order;
pub mod passes;
mod persons;
mod picture;
mod points;
mod run;
mod search;
mod session;
pub mod sets;
mod settings_file;
mod shown;
mod stop;
pub mod table;
pub mod top;
pub mod value;
mod verify;

pub use census::release_census;
pub use disk::{Disk, RealDisk};
pub use error::Error;
pub use ledger::LedgerFile;
pub use meaning::{MeaningArgs, meaning};
pub use order::{Draw, FillOf, Named, Order, Target, random_name};
pub use run::{
    GroupJob, PRIVATE, Said, check, group_job, ledger as run_ledger, plan, release, release_groups,
    set_args,
};
pub use settings_file::with_settings;
pub use stop::Gate;
pub use verify::verify;

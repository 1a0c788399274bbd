//! Releases of [`dp_cluster::passes`] over records that `DataFusion` reads, with the bytes of the release from memory.
//!
//! The engine computes tables of integers where the records are; this process checks them, draws the noise and asks the next question.
//!
//! - [`Records`]: files of Parquet or CSV, listed once, or any table of a session; and which columns are coordinates;
//! - [`Run`]: a plan and its records, from the first question to the release;
//! - [`CountPass`]: the one aggregate function of all passes;
//! - [`PassCodec`]: how it comes to executors;
//! - [`count_groups`]: the table of a census, which is one pass, from a directory of groups and their people;
//! - [`Keep`]: where the state after a pass is, before the next one is asked;
//! - `workers`, a feature: processes on other machines that count, by `datafusion-distributed`.
//!
//! # What is not protected
//! Answers are exact. What lies between the records and this process, its network, logs, spill files and the history of its queries, is as
//! private as the records; only the release is not. The README of this crate says which of them hold what.
//!
//! # Counting twice
//! A record that counts twice is protected half as well. So files are listed once, and looked at before and after each pass; the number of
//! records is that of the Parquet footers and of the first pass; and every answer carries a checksum of the records that it is of, which
//! neither their order nor their partition changes and which has to be that of the first pass. An engine keeps one attempt of each
//! partition; the answer of a pass that failed is not looked at, and the pass can be asked again.

mod codec;
mod error;
mod function;
mod groups;
mod keep;
mod records;
mod run;
#[cfg(feature = "workers")]
pub mod workers;

pub use codec::PassCodec;
pub use error::Error;
pub use function::{Answer, CountPass, NAME};
pub use groups::count_groups;
pub use keep::{Keep, KeepFile, KeepNothing};
pub use records::Records;
pub use run::Run;

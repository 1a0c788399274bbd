//! The private mechanisms: plan, release, receipt.

mod chosen;
mod evidence;
mod mechanism;
mod method;
mod noise;
mod params;
mod post;
mod privacy;
mod question;
mod shares;
mod shrink;
mod table;
#[cfg(test)]
mod tests;

pub use evidence::{Certificate, Evidence};
pub use mechanism::{Census, RealCensus, Way, WithEvidence};
pub use method::Method;
pub use noise::Query;
pub use params::CensusSettings;
pub use privacy::Privacy;
pub use question::{unlikeness, unlikeness_between, unlikeness_length};
pub use shares::{LevelShares, dearest_path};
pub use table::{GroupTable, RealGroupTable};

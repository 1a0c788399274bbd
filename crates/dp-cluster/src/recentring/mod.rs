//! Re-centring with a shrinking, privately chosen radius.

mod centres;
mod dpm;
mod dpm_params;
mod generic;
mod locate;
mod merge;
mod plan;
mod radius;
mod round;
mod rounds;
mod split;
mod sums;
#[cfg(test)]
mod tests;

pub use dpm::DpmRecentred;
pub use dpm_params::{DpmRecentredBuilder, RecentredSplit};
pub use generic::{Recentred, part_of};
pub use rounds::Rounds;

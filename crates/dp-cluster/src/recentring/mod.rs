//! Re-centring.

mod centres;
mod dpm;
mod locate;
mod merge;
mod plan;
mod round;
mod settings;
mod split;

pub use dpm::{DpmRecentred, DpmRecentredBuilder};
pub use settings::Rounds;

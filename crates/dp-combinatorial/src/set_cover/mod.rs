//! Set cover: an order of public sets in which few are the first to hold some private user.
//!
//! To name the sets that are needed would tell too much about single users, so what is released is an
//! order of all sets. Each user takes the first set that holds them, and the cost is how many
//! different sets are taken.
//!
//! - [`SetCoverSelect`]: chooses one set after the other. The one to use; also for covering most
//!   users with a few sets.
//! - [`SetCoverThresholds`]: chooses in passes, also over sets that do not fit into memory.
//! - [`SetCoverGreedyScaling`]: the published algorithm with a proved cost, for reference.
//! - [`exact_greedy`], [`exact_cost`]: not private, to compare with.
//!
//! ```
//! use dp_combinatorial::set_cover::{SetCoverSelect, SetCoverSelectSettings, exact_cost, exact_greedy};
//! use dp_combinatorial::{Budget, Incidence, Mechanism, chacha_from_os};
//!
//! // Each of 5,000 users is in three of 40 sets, and in one of the first four.
//! let lists: Vec<[u32; 3]> =
//!     (0..5_000).map(|i: u32| [i % 4, 4 + i % 31, 4 + i % 36]).collect();
//! let incidence = Incidence::from_slices(40, lists.iter().map(|list| &list[..]))?;
//!
//! let plan = SetCoverSelect::new(40, Budget::new(0.5, 0.0)?, SetCoverSelectSettings::default())?;
//! let cover = plan.release(&incidence, &mut chacha_from_os()?)?.output;
//! // For the owner of the data alone:
//! assert_eq!(exact_cost(&exact_greedy(&incidence), &incidence).sets_used, 4);
//! assert!(cover.exact_cost(&incidence).sets_used < 8);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Bad records
//! A user in no set changes nothing but the count of [`SetCoverGreedyScaling`]. What an
//! [`Incidence`](crate::Incidence) does with repetitions and sets out of range is said there.
//!
//! # What is not protected
//! Running time and memory access patterns depend on the data.

mod cover;
mod greedy;
mod greedy_scaling;
mod select;
mod stream;
#[cfg(test)]
mod tests;
mod thresholds;
mod uniform;
mod waiting;

pub use cover::{Cover, CoverCost, exact_cost};
pub use greedy::exact_greedy;
pub use greedy_scaling::{ScalingThresholds, SetCoverGreedyScaling, SetCoverGreedyScalingSettings};
pub use select::{SetCoverSelect, SetCoverSelectSettings};
pub use stream::SetStream;
pub use thresholds::{SetCoverThresholds, SetCoverThresholdsSettings};

use crate::CombinatorialError;

/// Whether a plan for so many sets fits a family of `got` sets.
fn check_sets(expected: u32, got: usize) -> Result<(), CombinatorialError> {
    if got == expected as usize {
        Ok(())
    } else {
        Err(CombinatorialError::SetCount { expected, got })
    }
}

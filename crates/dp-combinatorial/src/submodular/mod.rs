//! Submodular maximisation: a few elements that serve as many users as well as possible.
//!
//! The objective is a sum over private users of what each gets out of the chosen elements
//! ([`Coverage`], [`FacilityLocation`], [`Oracle`] for anything else), the constraint is a public
//! [`Matroid`]: a number of elements ([`Uniform`]), so many of each kind ([`Partition`]), and others.
//! A user that is served adds nothing more, so it pays for being served once, not once per element.
//!
//! ```
//! use dp_accounting::Budget;
//! use dp_combinatorial::Incidence;
//! use dp_combinatorial::submodular::{Coverage, Greedy, GreedySettings, Uniform};
//! use dp_mechanism::{Mechanism, chacha_from_os};
//!
//! // Three thousand users, most of them in one of the sets 0, 4 and 7, out of a public family of ten.
//! let users: Vec<[u32; 1]> = (0..3_000).map(|i| [[0, 4, 7, 7][i % 4]]).collect();
//! let coverage = Coverage::new(Incidence::from_slices(10, users.iter().map(|u| &u[..]))?);
//!
//! let greedy = Greedy::new(Uniform::new(10, 3)?, 1, Budget::new(1.0, 0.0)?, GreedySettings::default())?;
//! println!("{}", greedy.receipt()); // the whole cost, before any data is touched
//! let release = greedy.release(&coverage, &mut chacha_from_os()?)?;
//! println!("chosen: {:?}", release.output.elements);
//! # assert_eq!(release.output.elements[0], 7);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Greedy`] is the default. [`ContinuousGreedy`] has the better worst case under matroids other than
//! [`Uniform`], `1 - 1/e` instead of half, but each of its steps sees scores that are divided by the
//! number of steps while the noise stays, so it rarely wins in practice.
//!
//! # What is not protected
//! Running time and memory access patterns depend on the data.

mod continuous_greedy;
mod coverage;
mod dense_facility_location;
mod facility_location;
mod greedy;
mod levels;
mod matroid;
mod objective;
mod oracle;
mod sampled;
mod swap_rounding;
#[cfg(test)]
mod tests;

pub use continuous_greedy::{ContinuousGreedy, ContinuousGreedySettings, Credits, Rounded};
pub use coverage::Coverage;
pub use dense_facility_location::DenseFacilityLocation;
pub use facility_location::FacilityLocation;
pub use greedy::{Chosen, Greedy, GreedySettings};
pub use levels::{Extension, LevelGains};
pub use matroid::{
    Graphic, Laminar, MOST_CHECKED_ELEMENTS, Matroid, Partition, Transversal, Uniform,
    check_matroid, probe_matroid,
};
pub use objective::{Gains, Objective, ObjectiveShape, exact_greedy, exact_value};
pub use oracle::Oracle;
pub use sampled::Sampled;
pub use swap_rounding::swap_round;

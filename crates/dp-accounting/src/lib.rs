//! Privacy vocabulary and arithmetic: who is a neighbour of whom, what a step costs, how costs compose, and what is left.
//!
//! There is no randomness here and no data. A mechanism states its loss; this crate adds losses up, rounding to the safe
//! side, writes them on an itemised receipt, and keeps a ledger that refuses to overspend.
//!
//! ```
//! use dp_accounting::{AddRemove, Budget, Ledger, Loss, Receipt, Step, budget_to_zcdp};
//!
//! let budget = Budget::new(1.0, 1e-6)?;
//! // As zCDP, split between a count and a sum, three to one for the sum.
//! let rho = budget_to_zcdp(budget).expect("the budget has a delta");
//! let [count, sum] = rho.split(&[1.0, 3.0])?[..] else { unreachable!("two weights, two shares") };
//! let spent = Step::sequential(
//!     "mean",
//!     vec![Step::spend("count", Loss::from(count)), Step::spend("sum", Loss::from(sum))],
//! );
//! let receipt = Receipt::new("mean", AddRemove, budget, spent);
//! assert!(receipt.within_budget());
//!
//! let mut ledger = Ledger::new(AddRemove, Budget::new(1.5, 1e-6)?);
//! ledger.spend(&receipt)?;
//! assert!(ledger.spend(&receipt).is_ok(), "zCDP adds up in rho: twice costs 1.45, not 2");
//! assert!(ledger.spend(&receipt).is_err(), "the third is refused and changes nothing");
//! assert_eq!(ledger.entries().len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The types that matter
//! - [`Relation`]: which data sets are neighbours, as a type: [`AddRemove`], [`ReplaceOne`], [`AddOnly`], [`Within`],
//!   [`MemberOfGroup`], [`FurtherMemberOfGroup`].
//! - [`Loss`]: what one step costs, in the measure of its proof.
//! - [`Step`] and [`Receipt`]: losses composed in a stated way, and the release that they belong to.
//! - [`Ledger`]: a limit, and the receipts spent against it.
//!
//! [`Epsilon`], [`Delta`], [`Rho`], [`Mu`] and [`Budget`] are the numbers; no NaN can get into them, through a file either.
//! Conversions: [`zcdp_to_epsilon`], [`zcdp_to_delta`], [`budget_to_zcdp`], [`gaussian_delta`],
//! [`gaussian_noise_multiplier`], [`gaussian_epsilon`], [`mu_to_epsilon`], [`budget_to_mu`].
//!
//! # What is asked first
//! - [`epsilon_for`], [`noise_for`], [`uses_for`]: what so many uses cost, how much noise a budget takes, how often it lets one ask.
//! - [`Meaning`]: what an epsilon and a delta mean for one person; [`Composition::attack_success`] for one release.
//!
//! # Numerical composition
//! - [`Event`]: one use of one mechanism, as the pair of output laws that is worst for it.
//! - [`Composition`]: events and counts. `epsilon(delta)`, `delta(epsilon)`, `deltas(..)` and `trade_off(..)` answer with a [`Bound`]: both sides,
//!   with rounding, truncation, wrap-around, quadrature, and the placing of atoms on lattices carried in.
//! - [`calibrate`]: the least scale of any one event of a mix; [`Receipt::total`]: a receipt as a composition.
//! - [`Profile`]: many questions about one composition, as accurate as [`Accuracy`] says, each [`Answer`] with what proves it.
//! - [`Filter`] and [`Odometer`] in zCDP, [`BasicFilter`] and [`BasicOdometer`] in (epsilon, delta): spending whose amounts depend on earlier outputs.
//!
//! # Rounding
//! Results are upper bounds on what is lost (or lower bounds on what may be spent), rounding of the floats included. What is taken on
//! trust is the accuracy of the elementary functions (`exp`, `log`, `sin`, `erfc` and their kin, one or two units), and that the transforms
//! of `rustfft` multiply each input by one factor per level.
//!
//! # Out of scope
//! Tree aggregation and random allocation. Whether a mechanism really has the loss that it states is
//! for its proof and its audit; nothing here can tell.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests compare plain numbers"))]

mod basic_filter;
mod bisection;
mod budget;
mod calibration;
mod certificates;
mod cost;
mod display;
mod error;
mod filter;
mod gaussian;
mod ledger;
mod loss;
mod meaning;
mod outward;
mod params;
mod pld;
mod pure_composition;
mod questions;
mod rdp;
mod receipt;
mod relation;
mod rounding;
mod sampling;
mod special;
mod step;
mod total;
mod zcdp;

pub use basic_filter::{BasicFilter, BasicOdometer};
pub use budget::Budget;
pub use calibration::calibrate;
pub use certificates::{
    repeated_selection_epsilon, repeated_selection_loss, target_charging_delta,
    target_charging_loss,
};
pub use error::{ParamError, plain_number};
pub use filter::{Filter, Odometer};
pub use gaussian::{
    budget_to_mu, gaussian_delta, gaussian_epsilon, gaussian_log_delta, gaussian_noise_multiplier,
    mu_to_epsilon, normal_tail,
};
pub use ledger::{BudgetExceeded, Ledger, SpendError};
pub use loss::Loss;
pub use meaning::Meaning;
pub use params::{Delta, Epsilon, Mu, Rho};
pub use pld::{
    Accuracy, Answer, Bound, Composition, Contradiction, Direction, Event, LatticeEvidence,
    LineEvidence, Method, Piece, Profile, Proof, Question,
};
pub use pure_composition::{
    advanced_composition_epsilon, bounded_range_composition_by_zcdp, bounded_range_optimal_delta,
    near_optimal_composition_epsilon, optimal_composition_delta, optimal_composition_epsilon,
    pure_composition_by_zcdp,
};
pub use questions::{epsilon_for, noise_for, uses_for};
pub use rdp::{renyi_divergence, renyi_epsilon, renyi_to_epsilon};
pub use receipt::Receipt;
pub use relation::{
    AddOnly, AddRemove, AnyRelation, FurtherMemberOfGroup, MemberOfGroup, Relation, ReplaceOne,
    Within,
};
pub use sampling::{
    one_sided_to_two_sided, poisson_sampling, sampling_with_replacement,
    sampling_without_replacement,
};
pub use step::{Covered, Step};
pub use total::Total;
pub use zcdp::{budget_to_zcdp, zcdp_to_delta, zcdp_to_epsilon, zcdp_to_log_delta};

/// The program of the README, which the doc tests run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

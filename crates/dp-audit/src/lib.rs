//! Checks a privacy claim on the very code that makes the release.
//!
//! Behind the draws of every mechanism is a [`Source`](dp_mechanism::Source). Here are some
//! that do not release but examine:
//!
//! - [`Audit`]: one call for a mechanism, in all of its settings, on data sets of [`hostile`] records. Start here.
//! - [`exact_law`]: walks every outcome of every draw and returns the exact law of the output, for
//!   mechanisms small enough; [`Law::pure_loss`], [`Law::delta`], [`Law::zcdp`] and others compare
//!   two such laws. [`exact_rational_law`] does it without rounding, [`exact_law_of_steps`] merges
//!   equal states of longer runs.
//! - [`compare`]: runs a mechanism of any size on a data set, replays the released values on a
//!   neighbour, and adds up what each draw gives away. It also fails a mechanism whose control flow
//!   or output depends on the data in any way but through its draws. It, and [`exact_laws`], take [`Neighbours`]: under which relation two data
//!   sets are neighbours. A receipt about others is refused, and so is a draw that no receipt pays for. The law of a plan says nothing until it is said
//!   [under](Law::under) which relation it is compared.
//! - [`range_of_change`]: how far the scores of a choice, or any integer statistic, can move.
//! - [`statistical`]: lower bounds from samples alone, for everything else: epsilon, delta, the `mu` of
//!   a Gaussian claim, a test that stops as soon as it is sure, and the law of a sampler.
//!
//! An auditor must be audited too: each of these has tests on broken mechanisms that it must catch.
//!
//! Auditing a mechanism of your own takes a function that draws from `&mut dyn Source`:
//!
//! ```
//! use dp_audit::{Law, Window, exact_law};
//! use dp_mechanism::{Coin, Source, Ratio};
//!
//! // Randomised response: the truth with probability 3/4, else its opposite. ln 3 private.
//! let honest = |truth: bool, draws: &mut dyn Source| {
//!     truth == draws.keep(Coin::Rational(Ratio::new(3, 4).expect("valid")))
//! };
//! // Broken: whoever has nothing to hide is spared the coin.
//! let broken = |truth: bool, draws: &mut dyn Source| truth && honest(truth, draws);
//!
//! let loss = |a: Law<bool>, b: Law<bool>| a.pure_loss(&b).max(b.pure_loss(&a));
//! // Nobody has planned these draws, so somebody has to say that the two answers are what is compared.
//! let law = |truth| exact_law(Window::none(), |draws| honest(truth, draws)).without_receipt();
//! assert!(loss(law(true), law(false)) <= 3_f64.ln() + 1e-12);
//! let law = |truth| exact_law(Window::none(), |draws| broken(truth, draws)).without_receipt();
//! assert!(loss(law(true), law(false)).is_infinite());
//! ```
//!
//! Out of scope: proving anything about inputs that were not tried. Passing an audit is evidence;
//! failing one is proof.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod audit;
mod binomial;
mod bits;
mod claim;
pub mod harness;
pub mod hostile;
mod law;
mod noise_law;
mod numbers;
mod promises;
mod range;
mod rational_law;
mod relation;
mod search;
pub mod statistical;
mod steer;
mod steps;
mod tape;
mod transcript;

pub use audit::{Audit, Finding, Findings};
pub use binomial::{lower_confidence_limit, upper_confidence_limit};
pub use bits::same_bits;
pub use claim::{AuditReport, Claim, Method, Mutant};
pub use law::Law;
pub use noise_law::{
    choice_log_probabilities, flip_log_probabilities, gaussian_renyi_divergence,
    sparse_choice_log_ratios,
};
pub use range::{Change, SeenChoice, first_choice, range_of_change};
pub use rational_law::{RationalLaw, power_within};
pub use relation::{Neighbours, NotNeighbours, exact_laws};
pub use search::{climb, multisets};
pub use steer::Steered;
pub use steps::{Progress, exact_law_of_steps};
pub use tape::{Window, exact_law, exact_rational_law};
pub use transcript::{Comparison, DrawKind, Overdrawn, Scripted, StepLoss, compare};

pub use num_rational::BigRational;

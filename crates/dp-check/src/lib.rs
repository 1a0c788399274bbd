//! A second opinion on privacy accounting: laws from their definitions, curves in intervals of big integers.
//!
//! `dp-accounting` answers within milliseconds by transforms of floats, and carries its errors into bounds. This crate shares no code with it
//! and no method: numbers are pairs of big integers that enclose the exact result of every operation, masses on a lattice are composed by
//! multiplying huge integers, and what is continuous has its closed form or is cut into cells whose two readings bound the curve from both sides.
//! It is slow, refuses what is too much work, and is used in tests and by hand.
//!
//! ```
//! use dp_check::{Composed, Effort, Law, Side};
//!
//! // Two uses of randomised response with odds e: delta at epsilon 1 is e^2 / (1 + e)^2 (1 - 1/e).
//! let law = Law::RandomisedResponse { epsilon: 1.0 };
//! let effort = Effort { atoms: 1000, cells: 100, terms: 1000, places: 200 };
//! let delta = Composed::new(&[(law, 2)], Side::Remove, effort).expect("three atoms").delta(1.0);
//! let e = 1.0_f64.exp();
//! let truth = (e / (1.0 + e)).powi(2) * (1.0 - 1.0 / e);
//! assert!((delta.approximate() - truth).abs() < 1e-15 && delta.relative_width() < 1e-50);
//! ```
//!
//! # What is known how
//! | uses | method |
//! |---|---|
//! | Gaussians | the normal tail, by a series or a continued fraction |
//! | randomised response, approximate, discrete Laplace and Gaussian | masses as the digits of huge integers, multiplied |
//! | Laplace noise and bounded range, few uses | sums over the corners of a box |
//! | one sampled use | the curve without sampling, at another epsilon |
//! | atoms beside one of these | the curve at one epsilon per atom |
//! | any number of uses, from above | moments: sums, closed forms, and quadrature with a bound on its error |
//! | other mixes | cells: bounds from both sides, the closer the more of them |
//! | conversions, composition of like mechanisms, samples | the field's formulas in intervals |
//!
//! # Taken on trust
//! The integers of `num-bigint`. Floats occur only as what is asked and as guesses, and guesses are checked.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod big;
mod cells;
mod curve;
mod formulas;
mod interval;
mod lattice;
mod law;
mod moment;
mod normal;
mod spline;

pub use curve::{Composed, Effort};
pub use formulas::{
    charge, exp_m1, hidden, ln_1p, optimal_composition, renyi_epsilon, sampled, tanh_half,
    zcdp_epsilon, zcdp_log_delta,
};
pub use interval::Interval;
pub use law::{Law, Side};
pub use moment::{delta_by_moment, epsilon_by_moment, log_moment};
pub use normal::hockey_stick;

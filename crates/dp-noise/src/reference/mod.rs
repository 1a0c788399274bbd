//! The plain forms of the samplers, from uniform integers alone.
//!
//! They follow the published algorithms step by step, have no table, no fixed point and no second
//! look, and are slower. The forms at the root of the crate have the same laws; tests enumerate
//! both. Use these to check, or where a line-by-line reading matters more than speed.
//!
//! The time of all of them depends on the value drawn: not timing-safe.

mod choice;
mod coin;
mod gaussian;
mod geometric;
mod laplace;

pub use choice::choose_exponentially;
pub use coin::bernoulli_exp;
pub use gaussian::DiscreteGaussian;
pub(crate) use gaussian::accept as accept_gaussian;
pub use geometric::Geometric;
pub use laplace::DiscreteLaplace;

//! Privacy loss distributions: numerical composition with bounds on both sides.

mod bound;
mod composition;
mod event;
mod factor;
mod grid;
mod law;
mod line;
mod mix;
mod moments;
mod pair;
mod rule;
mod smooth;
mod spectrum;

pub use bound::Bound;
pub use composition::Composition;
pub(crate) use composition::{least_epsilon_by_moments, log_moment};
pub use event::{Direction, Event};

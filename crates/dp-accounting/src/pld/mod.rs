//! Privacy loss distributions: numerical composition with bounds on both sides.

mod bound;
mod composition;
mod contour;
mod event;
mod grid;
mod law;
mod moments;
mod pair;
mod smooth;
mod spectrum;

pub use bound::Bound;
pub use composition::Composition;
pub(crate) use composition::{least_epsilon_by_moments, log_moment};
pub use event::{Direction, Event};

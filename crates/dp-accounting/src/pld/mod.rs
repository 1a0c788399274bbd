//! Privacy loss distributions: numerical composition with bounds on both sides.

mod bound;
mod closed;
mod composed;
mod composition;
mod convex;
mod curve;
mod event;
mod factor;
mod grid;
mod law;
mod line;
mod mix;
mod moments;
mod outline;
mod pair;
mod rule;
mod smooth;
mod spectrum;
mod split;
mod trade_off;
mod walk;

pub use bound::{Bound, Contradiction};
pub use composition::Composition;
pub(crate) use composition::{divergence, least_epsilon_by_moments};
pub use event::{Direction, Event};

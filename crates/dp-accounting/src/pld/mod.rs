//! Privacy loss distributions: numerical composition with bounds on both sides.

mod accuracy;
mod bound;
mod closed;
mod composed;
mod composition;
mod convex;
mod curve;
mod event;
mod evidence;
mod factor;
mod grid;
mod law;
mod line;
mod mix;
mod moments;
mod outline;
mod pair;
mod profile;
mod rule;
mod smooth;
mod spectrum;
mod split;
mod trade_off;
mod walk;

pub use accuracy::Accuracy;
pub use bound::{Bound, Contradiction};
pub use composition::Composition;
pub(crate) use composition::{divergence, least_epsilon_by_moments};
pub use event::{Direction, Event};
pub use evidence::{Answer, LatticeEvidence, LineEvidence, Method, Piece, Proof, Question};
pub use profile::Profile;

//! Privacy loss distributions: numerical composition with bounds on both sides.
//!
//! # What is computed
//! A mechanism on two neighbours is a pair `(P, Q)` of output laws. Its privacy loss is `L = ln(dP / dQ)` under `P`; its curve
//! `delta(e) = E (1 - e^(e - L))_+` is the mass by which `P` can exceed `e^e Q` (the hockey-stick divergence), and what leaks without any
//! finite loss counts in full. The loss of a composition is the sum of independent losses, so all that is needed is the law of a sum:
//! a convolution, or a product of transforms. The worst pair of each mechanism is in `event`; `pair` takes it apart into atoms and a density.
//!
//! # How it is computed
//! | file | quantity | where its bound comes from |
//! |---|---|---|
//! | `closed` | the curve of one Gaussian, or of one use of sampled noise | the closed form, with its argument moved by the rounding |
//! | `moments` | `K(s) = ln E e^(s L)`, the cumulant generating function | Markov's inequality for `e^(s L)`: from above, at every order |
//! | `law`, `convex` | laws on a lattice whose curves lie above and below that of a pair | chords and tangents of a convex curve |
//! | `spectrum`, `composed` | the tilted law of the sum, by fast Fourier transform, and its curve | rounding of transforms, Chernoff for what the window misses |
//! | `rule`, `factor`, `outline` | the characteristic function of one tilted use, and how large it can be | quadrature of analytic functions; integration by parts |
//! | `walk`, `line` | the inversion integral of the curve along a vertical line | Poisson summation: what wraps around is positive and small |
//! | `split` | few uses of Laplace noise, whose characteristic function does not die out | the terms in which atoms dominate are sums |
//!
//! `curve` decides which of these answers a question, `grid` how fine a lattice is and `mix` where a line runs; `profile` asks both
//! directions and adds what leaks. Tilting (the Esscher transform) is used throughout: masses times `e^(c L)`, with `c` near the saddle
//! point of the question, so that rounding is relative to the delta in question, however small.

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

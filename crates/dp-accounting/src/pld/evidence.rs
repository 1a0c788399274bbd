//! An answer together with what proves it, for a checker that shares no code with this crate.

use serde::{Deserialize, Serialize};

use super::bound::Bound;
use super::composition::Composition;
use super::event::Direction;
use crate::params::{Delta, Epsilon};

/// What can be asked of a [`Composition`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Question {
    /// The least epsilon at this delta.
    Epsilon(Delta),
    /// The delta at this epsilon.
    Delta(Epsilon),
}

/// A bound, and what it follows from.
///
/// In each direction the answer follows from its pieces: every piece is a bound by itself, and the best of each side counts. The
/// larger direction is the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// What was asked.
    pub question: Question,
    /// Of what.
    pub composition: Composition,
    /// The answer; [`Bound::gap`] says how close its sides are.
    pub bound: Bound,
    /// Per direction that had to be looked at, what the bound follows from.
    pub proofs: Vec<Proof>,
}

/// What proves a bound in one direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    /// The direction. A composition without sampling has the same curve in both and is looked at in one.
    pub direction: Direction,
    /// The mass that has no finite loss. The pieces are about the rest: the whole curve is `leaked + (1 - leaked) delta`.
    pub leaked: Bound,
    /// The bounds, in the order in which they were found.
    pub pieces: Vec<Piece>,
}

/// One bound on a curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Piece {
    /// What the piece was asked: for an epsilon, the delta that the leaks leave over, rounded to the side that is needed.
    pub question: Question,
    /// What it answers; no upper side is given where it has none.
    pub bound: Bound,
    /// Why.
    pub by: Method,
}

/// How a bound was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Method {
    /// No output loses more than the sum of the largest losses: at most this.
    LargestLoss {
        /// The sum, rounded up.
        sum: f64,
    },
    /// The curve has a closed form: it is that of one Gaussian, or of a single use of noise.
    ClosedForm,
    /// Some of the noise is Gaussian and not sampled: the whole costs at least that.
    GaussianPart,
    /// Markov's inequality for `e^(order L)`.
    Moment {
        /// The order, above 0; the Renyi order is larger by 1.
        order: f64,
        /// `ln E e^(order L)`, rounded up.
        log_moment: f64,
    },
    /// Inversion along a line.
    Line(Box<LineEvidence>),
    /// Convolution on lattices, one that bounds the curve from below and one from above.
    Lattices {
        /// The law from below.
        lower: Box<LatticeEvidence>,
        /// The law from above.
        upper: Box<LatticeEvidence>,
    },
}

/// The trapezoid rule along the line of real part `tilt`, with what it leaves out.
///
/// `delta(e) = 1/(2 pi) * integral of exp(K(s) - s e) / (s (s + 1))` over `s = tilt + i t`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LineEvidence {
    /// The real part.
    pub tilt: f64,
    /// Copies of the curve at this distance are negligible: the frequencies are multiples of `2 pi / period`.
    pub period: f64,
    /// `K(tilt)`, with the variance that was added.
    pub log_scale: f64,
    /// How far that may be off.
    pub log_error: f64,
    /// Gaussian variance of the loss that was added so that the transform dies out: the upper side pays for it.
    pub added_variance: f64,
    /// Mass that was cut off the laws.
    pub cut: f64,
    /// The epsilon that the line was made for.
    pub center: f64,
    /// The multiples that were computed, as runs from the first to the last.
    pub frequencies: Vec<(u64, u64)>,
    /// A bound on the sum of what was not computed, with the kernel, in units of the scale.
    pub rest: f64,
    /// Uses of Laplace noise of which at most one between its extremes was summed by formula and left out of the transform: their number.
    pub by_formula: Option<f64>,
}

/// A composed law on a lattice, tilted: masses `m e^(tilt l - log_scale)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatticeEvidence {
    /// The spacing.
    pub step: f64,
    /// The loss of the first point.
    pub start: f64,
    /// How many points there are: the period is as many steps.
    pub points: usize,
    /// The tilt.
    pub tilt: f64,
    /// The logarithm of the tilted mass.
    pub log_scale: f64,
    /// Tilted mass outside of the window, which also wraps into it.
    pub missed: f64,
    /// Mass that was cut off the laws before they were composed.
    pub cut: f64,
    /// Every tilted mass may be off by this.
    pub entry_error: f64,
    /// Every mass may be off by this, relative to itself.
    pub relative_error: f64,
    /// Every loss may be off by this.
    pub loss_error: f64,
}

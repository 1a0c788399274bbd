//! The pairs of output laws, each from its definition.

use crate::interval::Interval;

/// One use of one mechanism: the laws `P` and `Q` of its output on two neighbours.
#[derive(Clone, Debug, PartialEq)]
pub enum Law {
    /// `N(1, s^2)` and `N(0, s^2)`.
    Gaussian {
        /// `s`.
        multiplier: f64,
    },
    /// Densities `e^(-|x| / b) / 2b` and `e^(-|x - 1| / b) / 2b`.
    Laplace {
        /// `b`.
        scale: f64,
    },
    /// `P` tells the truth with odds `e^epsilon`, `Q` lies with them.
    RandomisedResponse {
        /// The logarithm of the odds.
        epsilon: f64,
    },
    /// With probability `delta` each shows itself, otherwise randomised response.
    Approximate {
        /// The logarithm of the odds.
        epsilon: f64,
        /// The probability of showing itself.
        delta: f64,
    },
    /// Masses in proportion to `e^(-rate |x|)` and `e^(-rate |x - d|)` on the integers.
    DiscreteLaplace {
        /// The rate of the fall.
        rate: f64,
        /// `d`.
        sensitivity: u32,
    },
    /// Masses in proportion to `e^(-x^2 / 2v)` and `e^(-(x - d)^2 / 2v)` on the integers.
    DiscreteGaussian {
        /// `v`.
        variance: f64,
        /// `d`.
        sensitivity: u32,
    },
    /// The pair whose curve is `(1 - e^((x - eta) / 2))^2 / (1 - e^-eta)`: the density of its loss `l` under `P` is
    /// `e^((l - eta) / 2) / 2 (1 - e^-eta)` between `-eta` and `eta`.
    BoundedRange {
        /// The width of the range.
        eta: f64,
    },
    /// `(rate P + (1 - rate) Q, Q)` for the pair of Gaussian or Laplace noise, and its reverse.
    Sampled {
        /// The probability with which a record takes part.
        rate: f64,
        /// What is sampled.
        of: Box<Law>,
    },
}

/// Which of the two neighbours the output comes from; the two differ for sampled laws only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The law with the record against the one without it.
    Remove,
    /// The law without the record against the one with it.
    Add,
}

impl Law {
    pub(crate) fn width(&self) -> Option<Interval> {
        match self {
            Self::Laplace { scale } => Some(&Interval::one() / &Interval::of(*scale)),
            Self::BoundedRange { eta } => Some(Interval::of(*eta)),
            _ => None,
        }
    }

    /// The mass under `P` that `Q` does not have at all.
    pub(crate) fn leak(&self) -> Interval {
        match self {
            Self::Approximate { delta, .. } => Interval::of(*delta),
            _ => Interval::zero(),
        }
    }
}

//! The numbers that a privacy claim is made of, each a type of its own.
//!
//! No value can be NaN or infinite, and reading one from a file runs the same checks as `new`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::display::digits;
use crate::error::ParamError;
use crate::outward::{Upper, larger, smaller};
use crate::rounding::{split_down, sqrt_down};

/// Declares one checked `f64`; the checks are the constructor's and serde goes through it.
macro_rules! param {
    ($(#[$doc:meta])* $name:ident, $label:literal, $want:literal, $accepts:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
        #[serde(try_from = "f64", into = "f64")]
        pub struct $name(f64);

        impl $name {
            /// Nothing spent.
            pub const ZERO: Self = Self(0.0);

            #[doc = concat!("Accepts a value that is ", $want, "; `-0.0` becomes `0.0`.")]
            ///
            /// # Errors
            /// [`ParamError::OutOfRange`] for every other value, NaN included.
            pub fn new(value: f64) -> Result<Self, ParamError> {
                let accepts: fn(f64) -> bool = $accepts;
                if accepts(value) {
                    // Adding zero turns -0.0 into 0.0, so that equal values also print alike.
                    Ok(Self(value + 0.0))
                } else {
                    Err(ParamError::OutOfRange { name: $label, got: value, want: $want })
                }
            }

            /// The plain number.
            pub const fn get(self) -> f64 {
                self.0
            }

            /// For results of our own arithmetic: `None` where `new` would refuse.
            pub(crate) fn of(value: f64) -> Option<Self> {
                Self::new(value).ok()
            }
        }

        impl TryFrom<f64> for $name {
            type Error = ParamError;
            fn try_from(value: f64) -> Result<Self, ParamError> {
                Self::new(value)
            }
        }

        impl From<$name> for f64 {
            fn from(value: $name) -> f64 {
                value.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&digits(self.0))
            }
        }
    };
}

/// Declares `split` for a cost that adds up.
macro_rules! splits {
    ($name:ident) => {
        impl $name {
            /// Shares in proportion to `weights`, rounded down so that they add up to at most `self`
            /// even when [`Step`](crate::Step) rounds the sum up.
            ///
            /// Dividing by hand can overshoot in the last digit, and a receipt would then rightly say
            /// that its budget was exceeded.
            ///
            /// # Errors
            /// [`ParamError`] if `weights` is empty, or if a weight is negative, not finite, or all are 0.
            pub fn split(self, weights: &[f64]) -> Result<Vec<Self>, ParamError> {
                Ok(split_down(self.0, weights)?.into_iter().map(Self).collect())
            }
        }
    };
}

param! {
    /// A pure-DP loss: no output becomes more than `e^epsilon` times as likely. A total may be 0.
    Epsilon, "epsilon", "finite and >= 0", |x| x.is_finite() && x >= 0.0
}

param! {
    /// The probability mass that an approximate claim leaves out.
    Delta, "delta", "at least 0 and below 1", |x| (0.0..1.0).contains(&x)
}

param! {
    /// A zero-concentrated (zCDP) loss: the Renyi divergence of order `a` is at most `a * rho`, for every `a > 1`.
    ///
    /// # Source
    /// Bun and Steinke (TCC 2016), Definition 1.1.
    Rho, "rho", "finite and >= 0", |x| x.is_finite() && x >= 0.0
}

param! {
    /// A Gaussian-DP loss: telling the neighbours apart is at least as hard as telling `N(0, 1)` from `N(mu, 1)`.
    ///
    /// Noise of standard deviation `s` times the sensitivity in the 2-norm has `mu = 1 / s`.
    ///
    /// # Source
    /// Dong, Roth, Su (JRSS B 2022), Definition 4.
    Mu, "mu", "finite and >= 0", |x| x.is_finite() && x >= 0.0
}

splits!(Epsilon);
splits!(Delta);
splits!(Rho);

impl Mu {
    /// Shares whose *squares* are in proportion to `weights`: squares are what adds up. Rounded down, so that the composition of
    /// the shares stays within `self`.
    ///
    /// # Errors
    /// [`ParamError`] if `weights` is empty, or if a weight is negative, not finite, or all are 0.
    pub fn split(self, weights: &[f64]) -> Result<Vec<Self>, ParamError> {
        // At most the true square, so that the root of whatever stays within it is at most `self`.
        let square = larger((self.0 * self.0).next_down(), 0.0);
        let squares = split_down(square, weights)?;
        if weights.len() == 1 {
            return Ok(vec![self]);
        }
        Ok(squares.into_iter().map(|square| Self(sqrt_down(square))).collect())
    }

    /// The loss that `square`, a sum of squares, comes to, rounded up; `None` where it overflows.
    pub(crate) fn of_square(square: Upper) -> Option<Self> {
        Self::of(square.sqrt().get())
    }
}

impl Delta {
    /// The largest value below 1. As the result of a conversion it reads "nothing is guaranteed".
    pub const MAX: Self = Self(1.0 - f64::EPSILON / 2.0);

    /// Rounds a computed upper bound into the type; everything from 1 on becomes [`Delta::MAX`].
    pub(crate) fn saturating(value: f64) -> Self {
        Self::of(value).unwrap_or(Self::MAX)
    }
}

impl Epsilon {
    pub(crate) fn min(self, other: Self) -> Self {
        Self(smaller(self.0, other.0))
    }

    pub(crate) fn max(self, other: Self) -> Self {
        Self(larger(self.0, other.0))
    }
}

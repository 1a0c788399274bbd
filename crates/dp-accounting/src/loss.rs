//! What one step costs, in the measure in which its proof states it.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::outward::{LEAST, Upper};
use crate::params::{Delta, Epsilon, Mu, Rho};

/// The privacy loss of one step for one pair of neighbours `(P, Q)` of output laws, as its proof states it.
///
/// Conversions go from the stated measure to weaker ones and round up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Loss {
    /// `P(S) <= e^epsilon Q(S)` for every set `S` of outputs.
    Pure {
        /// The bound on the log-ratio.
        epsilon: Epsilon,
    },
    /// There is a `t` with `e^(t - eta) Q(S) <= P(S) <= e^t Q(S)` for every `S`, as the exponential mechanism has it.
    BoundedRange {
        /// The width of the interval that holds the log-ratio.
        eta: Epsilon,
    },
    /// The Renyi divergence of order `a` of `P` from `Q` is at most `a * rho`, for every `a > 1`.
    Zcdp {
        /// The slope in the order.
        rho: Rho,
    },
    /// Telling `P` from `Q` is at least as hard as telling `N(0, 1)` from `N(mu, 1)`, in both directions.
    Gaussian {
        /// The distance in standard deviations.
        mu: Mu,
    },
    /// `P(S) <= e^epsilon Q(S) + delta` for every `S`.
    Approximate {
        /// The bound on the log-ratio outside of the mass `delta`.
        epsilon: Epsilon,
        /// The mass that is left out.
        delta: Delta,
    },
    /// Nothing is claimed. A group that is too large for an approximate loss ends here.
    Unbounded,
}

impl Loss {
    /// The loss as pure DP, if it is one.
    ///
    /// Bounded range `eta` is `eta`-pure: `P` and `Q` both have mass 1, so 0 lies between `t - eta` and `t`.
    pub fn pure(self) -> Option<Epsilon> {
        match self {
            Self::Pure { epsilon } => Some(epsilon),
            Self::BoundedRange { eta } => Some(eta),
            Self::Zcdp { rho } => (rho == Rho::ZERO).then_some(Epsilon::ZERO),
            Self::Gaussian { mu } => (mu == Mu::ZERO).then_some(Epsilon::ZERO),
            Self::Approximate { epsilon, delta } => (delta == Delta::ZERO).then_some(epsilon),
            Self::Unbounded => None,
        }
    }

    /// The loss as zCDP under a two-sided relation, if it is one.
    ///
    /// Pure `epsilon` gives `epsilon tanh(epsilon / 2)`, which is at most `epsilon^2 / 2` and cannot be improved.
    /// Bounded range `eta` gives `eta^2 / 8`, and Gaussian `mu` gives `mu^2 / 2`. Under [`AddOnly`](crate::AddOnly) the pure case does not hold, because the
    /// other direction is not bounded; a [`Receipt`](crate::Receipt) knows and does not use it there.
    ///
    /// # Proof of the pure case
    /// Every pair that is `e`-pure in both directions is a processing of randomised response with odds `e^e`, whose
    /// divergence of order `a` is `f(a) / (a - 1)` with `f(a) = ln(cosh((a - 1/2) e) / cosh(e / 2))`. Compare `f` with
    /// `g(a) = a (a - 1) e tanh(e / 2)`: at `a = 1` both are 0 and both slopes are `e tanh(e / 2)`. For `a >= 1`,
    /// `f'' = e^2 / cosh^2((a - 1/2) e) <= e^2 / cosh^2(e / 2) <= 2 e tanh(e / 2) = g''`, the last step being
    /// `e <= sinh(e)`. So `f <= g`, which is the claim; orders near 1 show that it is tight.
    ///
    /// # Source
    /// Randomised response as the worst pair: Kairouz, Oh, Viswanath (ICML 2015). Bounded range: Cesar and Rogers (ALT 2021).
    pub fn zcdp(self) -> Option<Rho> {
        match self {
            Self::Zcdp { rho } => Some(rho),
            Self::Gaussian { mu } => {
                let mu = Upper::new(mu.get());
                Rho::of(mu.times(mu).times(Upper::new(0.5)).get())
            }
            Self::BoundedRange { eta } => {
                Rho::of(bounded_range_rho(eta.get()).or(pure_rho(eta.get())).get())
            }
            other => other.pure().and_then(|epsilon| Rho::of(pure_rho(epsilon.get()).get())),
        }
    }

    /// The loss when the two data sets are joined by a chain of `size` neighbours instead of one.
    ///
    /// Pure: `size * epsilon`. Bounded range: log-ratios along the chain add up, and so do their intervals: `size * eta`.
    /// zCDP: `size^2 * rho`. Gaussian: `size * mu`. Approximate: `size * epsilon` and `delta * (1 + e^epsilon + .. + e^((size - 1) epsilon))`,
    /// which becomes [`Loss::Unbounded`] once that reaches 1.
    ///
    /// # Source
    /// zCDP: Bun and Steinke (TCC 2016), Proposition 1.9. Gaussian: Dong, Roth, Su (JRSS B 2022), Theorem 7.
    #[must_use]
    pub fn scaled_to_group(self, size: u32) -> Self {
        self.scaled_to(Some(u64::from(size)))
    }

    /// As [`Loss::scaled_to_group`]; nothing is claimed for a group whose size did not fit an integer.
    pub(crate) fn scaled_to(self, size: Option<u64>) -> Self {
        let Some(size) = size else { return Self::Unbounded };
        if size == 1 {
            return self;
        }
        let k = count_up(size);
        let times = |x: f64| Upper::new(x).times(k).get();
        let scaled = match self {
            Self::Pure { epsilon } => {
                Epsilon::of(times(epsilon.get())).map(|epsilon| Self::Pure { epsilon })
            }
            Self::BoundedRange { eta } => {
                Epsilon::of(times(eta.get())).map(|eta| Self::BoundedRange { eta })
            }
            Self::Zcdp { rho } => {
                Rho::of(Upper::new(rho.get()).times(k.times(k)).get()).map(|rho| Self::Zcdp { rho })
            }
            Self::Gaussian { mu } => Mu::of(times(mu.get())).map(|mu| Self::Gaussian { mu }),
            Self::Approximate { epsilon, delta } => {
                let grown = Upper::new(delta.get()).times(group_factor(epsilon.get(), size));
                Epsilon::of(times(epsilon.get()))
                    .zip(Delta::of(grown.get()))
                    .map(|(epsilon, delta)| Self::Approximate { epsilon, delta })
            }
            Self::Unbounded => None,
        };
        scaled.unwrap_or(Self::Unbounded)
    }
}

impl From<Epsilon> for Loss {
    fn from(epsilon: Epsilon) -> Self {
        Self::Pure { epsilon }
    }
}

impl From<Rho> for Loss {
    fn from(rho: Rho) -> Self {
        Self::Zcdp { rho }
    }
}

impl From<Mu> for Loss {
    fn from(mu: Mu) -> Self {
        Self::Gaussian { mu }
    }
}

/// `epsilon tanh(epsilon / 2)`.
pub(crate) fn pure_rho(epsilon: f64) -> Upper {
    // The floor covers the underflow of epsilon / 2: a loss above 0 must not become free.
    let slope = Upper::new(libm::tanh(epsilon / 2.0)).raised(8.0).max(Upper::new(LEAST));
    Upper::new(epsilon).times(slope)
}

/// `eta^2 / 8`.
fn bounded_range_rho(eta: f64) -> Upper {
    let eta = Upper::new(eta);
    eta.times(eta).times(Upper::new(0.125))
}

/// A count.
pub(crate) fn count_up(count: u64) -> Upper {
    let near = count as f64;
    Upper::new(if count < 1 << f64::MANTISSA_DIGITS { near } else { near.next_up() })
}

/// The size of a group of `outer` groups of `inner`; nothing where it does not fit.
pub(crate) fn nested(outer: Option<u64>, inner: NonZeroU32) -> Option<u64> {
    outer?.checked_mul(u64::from(inner.get()))
}

/// `1 + e^epsilon + .. + e^((size - 1) epsilon)`.
pub(crate) fn group_factor(epsilon: f64, size: u64) -> Upper {
    let k = count_up(size);
    if epsilon == 0.0 || size <= 1 {
        return k;
    }
    let top = k.get() * epsilon;
    // The rounding of `top` comes back as a relative error of about `top` units. Next to the least floats, quotients keep no digits: there
    // the sum is at most its largest term, `size` times.
    let factor = Upper::new(libm::expm1(top) / libm::expm1(epsilon)).raised(16.0 + 2.0 * top);
    if epsilon < 1e-290 { k.times(Upper::new(top).exp()) } else { factor.max(k) }
}

//! What one step costs, in the measure in which its proof states it.

use std::f64::consts::{LN_2, PI, SQRT_2};
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::outward::{LEAST, Lower, Upper};
use crate::params::{Delta, Epsilon, Mu, Rho};
use crate::special::erfcx;

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

    /// The loss as Gaussian DP under a two-sided relation, if it is one: the least `mu` whose pair covers every pair that has the loss.
    ///
    /// Pure `epsilon` gives `2 Phi^-1(e^epsilon / (1 + e^epsilon))`, about `1.2533 epsilon` where it is small and less everywhere. Bounded
    /// range `eta` gives what pure `eta / 2` does, and needs no second side. So a choice beside Gaussian steps can be one more of them, and
    /// all together have one exact curve.
    ///
    /// ```
    /// use dp_accounting::{Epsilon, Loss};
    ///
    /// let choice = Loss::BoundedRange { eta: Epsilon::new(0.2)? };
    /// assert_eq!(format!("{:.5}", choice.gaussian().expect("a choice").get()), "0.12531");
    /// # Ok::<(), dp_accounting::ParamError>(())
    /// ```
    ///
    /// # Proof
    /// A pair with log-ratio in `[t - eta, t]` is a processing of the pair of coins that has its two ends: given `Q`, the density is a
    /// number in `[e^(t - eta), e^t]` with mean 1, and spreading it to the ends makes the two easier to tell apart. These coins show heads with
    /// probability `q = (e^-t - e^-eta) / (1 - e^-eta)` under `Q` and `p = e^t q` under `P`, where `0 <= t <= eta`. All that can be
    /// reached by tests lies below the two lines through `(q, p)` from `(0, 0)` and to `(1, 1)`; the curve of the Gaussian pair,
    /// `Phi(Phi^-1(x) + mu)`, is concave through the same ends. So it covers the coins if and only if it passes above `(q, p)`:
    /// `mu >= m(t) = z(p) - z(q)`, with `z = Phi^-1`.
    ///
    /// It remains that `m` is largest at `t = eta / 2`, where `p = 1 - q = e^(eta/2) / (1 + e^(eta/2))`. With `I = phi(z(.))`, the
    /// density at the quantile, and `dp/dt = -e^(t - eta) / (1 - e^-eta)`, `dq/dt = -e^-t / (1 - e^-eta)`, the slope `m' = (dp/dt) / I(p) - (dq/dt) / I(q)` has the sign of `e^(eta - t) I(p) - e^t I(q)`. Since
    /// `e^t = p / q` and `e^(eta - t) = (1 - q) / (1 - p)`, that is the sign of `J(p) - J(q)` with `J(x) = I(x) / (x (1 - x))`. For `t < eta / 2`
    /// is `p + q > 1` and `p > q`, so `p` is further from 1/2 than `q`, and `J` grows with the distance from 1/2: as a function of `z > 0`,
    /// `(ln J)' = r(z) - r(-z) - z` with the hazard rate `r(z) = phi(z) / Phi(-z)`; it is 0 at `z = 0`, and its slope `r'(z) + r'(-z) - 1` is at least
    /// `2 r'(0) - 1 = 4 / pi - 1 > 0` because `r` is convex. So `m` rises up to `eta / 2`; and `m(t) = m(eta - t)`, as `p` and `q` trade places with
    /// `1 - q` and `1 - p`.
    ///
    /// Pure `epsilon` in both directions is a processing of the coins with `t = epsilon`, `eta = 2 epsilon`, which are that largest case.
    ///
    /// # Source
    /// Coins as the worst pair: Kairouz, Oh, Viswanath (ICML 2015); of bounded range, Dong, Durfee, Rogers (ICML 2020). What covers what, and that covers
    /// compose: Dong, Roth, Su (JRSS B 2022), Theorems 2 and 4. The hazard rate is convex: Sampford (Ann. Math. Statist. 1953).
    pub fn gaussian(self) -> Option<Mu> {
        match self {
            Self::Gaussian { mu } => Some(mu),
            Self::BoundedRange { eta } => Mu::of(bounded_range_mu(eta.get()).get()),
            other => other.pure().and_then(|epsilon| Mu::of(pure_mu(epsilon.get()).get())),
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

/// `2 Phi^-1(e^epsilon / (1 + e^epsilon))`, see [`Loss::gaussian`].
pub(crate) fn pure_mu(epsilon: f64) -> Upper {
    if epsilon == 0.0 {
        return Upper::ZERO;
    }
    // Next to the least floats nothing keeps its digits. For mu up to 2, Phi(mu / 2) - 1/2 >= phi(1) mu / 2, and at 2.1 epsilon that is more
    // than epsilon / 4 >= tanh(epsilon / 2) / 2.
    if epsilon < 1e-290 {
        return Upper::new(epsilon).times(Upper::new(2.1));
    }
    // With mu = 2 sqrt(2) x, the condition is erf(x) >= tanh(epsilon / 2), or erfc(x) <= 2 / (1 + e^epsilon). As erfc(x) <= e^(-x^2), and
    // (1 + e^epsilon) / 2 <= e^epsilon, x = sqrt(epsilon) is enough.
    let enough = Upper::new(epsilon).sqrt();
    let half_mu = |x: Upper| x.times(Upper::new(SQRT_2)).raised(2.0);
    let (mut x, covers): (f64, fn(f64, f64) -> bool) = if epsilon < 1.0 {
        (near_root(epsilon), covers_small)
    } else {
        (far_root(epsilon), covers_large)
    };
    // Newton ends within a few units of the root, on either side.
    for _ in 0..16 {
        if covers(x, epsilon) {
            return half_mu(Upper::new(x).or(enough)).times(Upper::new(2.0));
        }
        x *= 1.0 + 8.0 * f64::EPSILON;
    }
    half_mu(enough).times(Upper::new(2.0))
}

fn covers_small(x: f64, epsilon: f64) -> bool {
    Lower::new(libm::erf(x)).lowered(8.0).get()
        >= Upper::new(libm::tanh(epsilon / 2.0)).raised(8.0).get()
}

fn covers_large(x: f64, epsilon: f64) -> bool {
    let odds = Upper::ONE + Upper::new(epsilon).exp();
    // Multiplied out, so that nothing is divided; both sides are infinite where the exponential overflows, and that covers nothing.
    let tail = Upper::new(libm::erfc(x)).raised(8.0).times(odds);
    tail.is_known() && tail.get() <= 2.0
}

/// Newton on `erf(x) = tanh(epsilon / 2)`, from the left: `erf` is concave, so it climbs to the root.
fn near_root(epsilon: f64) -> f64 {
    let target = libm::tanh(epsilon / 2.0);
    let mut x = target * PI.sqrt() / 2.0;
    for _ in 0..8 {
        x += (target - libm::erf(x)) * libm::exp(x * x) * PI.sqrt() / 2.0;
    }
    x
}

/// Newton on `ln erfc(x) = ln(2 / (1 + e^epsilon))`, from the right: the logarithm is concave, so it descends to the root.
fn far_root(epsilon: f64) -> f64 {
    let target = LN_2 - epsilon - libm::log1p(libm::exp(-epsilon));
    let mut x = epsilon.sqrt();
    for _ in 0..8 {
        let scaled = erfcx(x);
        x += (libm::log(scaled) - x * x - target) * scaled * PI.sqrt() / 2.0;
    }
    x
}

/// As [`pure_mu`] of half of it; half of what is next to the least float is rounded up.
pub(crate) fn bounded_range_mu(eta: f64) -> Upper {
    pure_mu(Upper::new(eta).times(Upper::new(0.5)).get())
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What a root is checked by knows the one side of it from the other, and covers nothing where it overflows.
    #[test]
    fn roots_are_told_from_what_is_just_below_them() {
        for epsilon in [1e-6, 0.1, 0.9, 1.0, 3.0, 40.0, 600.0] {
            let (root, covers): (f64, fn(f64, f64) -> bool) = if epsilon < 1.0 {
                (near_root(epsilon), covers_small)
            } else {
                (far_root(epsilon), covers_large)
            };
            assert!(covers(root * (1.0 + 1e-9), epsilon), "{epsilon}");
            assert!(!covers(root * (1.0 - 1e-9), epsilon), "{epsilon}");
        }
        assert!(!covers_large(20.0, 800.0) && !covers_large(f64::NAN, 3.0));
    }
}

use std::fmt;

use dp_accounting::{
    Budget, Delta, Epsilon, Mu, ParamError, Rho, budget_to_mu, mu_to_epsilon, zcdp_to_epsilon,
};
use serde::{Deserialize, Serialize};

use crate::CensusError;

/// What a release promises, and with that, the law of its noise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Privacy {
    /// `epsilon`-DP; two-sided geometric noise.
    Pure {
        /// No table becomes more than `e^epsilon` times as likely.
        epsilon: Epsilon,
    },
    /// `rho`-zCDP, which is a weaker promise than `epsilon`-DP with `rho = epsilon^2 / 2`; discrete Gaussian noise.
    Zcdp {
        /// The bound on the Renyi divergence of order `a`, divided by `a`.
        rho: Rho,
        /// The delta at which receipts say what `rho` comes to as an epsilon.
        delta: Delta,
    },
    /// No more than telling `N(0, 1)` from `N(mu, 1)`; Gaussian noise rounded to whole numbers. Within the same `(epsilon, delta)` it has
    /// 6 to 9 % less noise than zCDP, which bounds it loosely.
    Gaussian {
        /// The distance in standard deviations.
        mu: Mu,
        /// The delta at which receipts say what `mu` comes to as an epsilon.
        delta: Delta,
    },
}

impl Privacy {
    /// `epsilon`-DP for an epsilon above 0, at most [`Budget::MAX_EPSILON`].
    ///
    /// # Errors
    /// [`CensusError::Param`] for every other value.
    pub fn pure(epsilon: f64) -> Result<Self, CensusError> {
        Ok(Self::Pure { epsilon: Budget::new(epsilon, 0.0)?.epsilon() })
    }

    /// `rho`-zCDP for a rho above 0. Receipts show it as an epsilon at `delta`, which is above 0.
    ///
    /// # Errors
    /// [`CensusError::Param`] for every other value, and if that epsilon is above [`Budget::MAX_EPSILON`].
    pub fn zcdp(rho: f64, delta: f64) -> Result<Self, CensusError> {
        let privacy = Self::Zcdp { rho: Rho::new(rho)?, delta: Delta::new(delta)? };
        privacy.budget().map(|_| privacy)
    }

    /// A Gaussian `mu` above 0. Receipts show it as an epsilon at `delta`, which is above 0.
    ///
    /// # Errors
    /// [`CensusError::Param`] for every other value, and if that epsilon is above [`Budget::MAX_EPSILON`].
    pub fn gaussian(mu: f64, delta: f64) -> Result<Self, CensusError> {
        let privacy = Self::Gaussian { mu: Mu::new(mu)?, delta: Delta::new(delta)? };
        privacy.budget().map(|_| privacy)
    }

    /// The least Gaussian noise within `(epsilon, delta)`-DP, by the exact curve of Balle and Wang (2018).
    ///
    /// ```
    /// use dp_accounting::Budget;
    /// use dp_census::Privacy;
    ///
    /// let Privacy::Gaussian { mu, .. } = Privacy::within(Budget::new(1.0, 1e-6)?)? else { unreachable!() };
    /// assert_eq!(format!("{:.3}", mu.get()), "0.237"); // zCDP would allow 0.221
    /// # Ok::<(), dp_census::CensusError>(())
    /// ```
    ///
    /// # Errors
    /// [`CensusError::Conflict`] for a budget without a delta, or too small for any noise.
    pub fn within(budget: Budget) -> Result<Self, CensusError> {
        let (setting, tiny) = ("Gaussian noise", "an epsilon above 1e-150");
        let needs = if budget.delta().get() > 0.0 { tiny } else { "a delta above 0" };
        let mu = budget_to_mu(budget).ok_or(CensusError::Conflict { setting, needs })?;
        Ok(Self::Gaussian { mu, delta: budget.delta() })
    }

    /// Parts of it in proportion to these weights, which together promise no less: squares of mu add up, so that weights are of these.
    pub(super) fn split(self, weights: &[f64]) -> Result<Vec<Self>, CensusError> {
        Ok(match self {
            Self::Pure { epsilon } => {
                let parts = epsilon.split(weights)?.into_iter();
                parts.map(|epsilon| Self::Pure { epsilon }).collect()
            }
            Self::Zcdp { rho, delta } => {
                let parts = rho.split(weights)?.into_iter();
                parts.map(|rho| Self::Zcdp { rho, delta }).collect()
            }
            Self::Gaussian { mu, delta } => {
                let parts = mu.split(weights)?.into_iter();
                parts.map(|mu| Self::Gaussian { mu, delta }).collect()
            }
        })
    }

    /// The promise as `(epsilon, delta)`, for zCDP and Gaussian noise at the delta that was given.
    ///
    /// # Errors
    /// [`CensusError::Param`] or [`CensusError::Conflict`] for numbers that [`pure`](Self::pure), [`zcdp`](Self::zcdp) and
    /// [`gaussian`](Self::gaussian) refuse.
    pub fn budget(self) -> Result<Budget, CensusError> {
        match self {
            Self::Pure { epsilon } => Ok(Budget::new(epsilon.get(), 0.0)?),
            Self::Zcdp { rho, delta } => {
                at_delta("rho", rho.get(), zcdp_to_epsilon(rho, delta), delta)
            }
            Self::Gaussian { mu, delta } => {
                at_delta("mu", mu.get(), mu_to_epsilon(mu, delta), delta)
            }
        }
    }
}

/// What was given is named by a refusal, not its epsilon.
fn at_delta(
    name: &'static str,
    got: f64,
    epsilon: Option<Epsilon>,
    delta: Delta,
) -> Result<Budget, CensusError> {
    if delta.get() <= 0.0 {
        let (setting, needs) = ("Gaussian noise", "a delta above 0");
        return Err(CensusError::Conflict { setting, needs });
    }
    // There is none where it would be no number.
    let budget = epsilon.and_then(|epsilon| Budget::new(epsilon.get(), delta.get()).ok());
    let want = "such that its epsilon at delta is above 0 and at most 100";
    Ok(budget.ok_or(ParamError::OutOfRange { name, got, want })?)
}

impl fmt::Display for Privacy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pure { epsilon } => write!(f, "epsilon {epsilon}"),
            Self::Zcdp { rho, .. } => write!(f, "zCDP rho {rho}"),
            Self::Gaussian { mu, .. } => write!(f, "Gaussian mu {mu}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promises_out_of_range_are_refused() {
        for epsilon in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, 101.0] {
            assert!(Privacy::pure(epsilon).is_err(), "{epsilon}");
        }
        for rho in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, 1e3] {
            assert!(Privacy::zcdp(rho, 1e-6).is_err(), "{rho}");
        }
        for delta in [0.0, -1e-9, 1.0, f64::NAN] {
            assert!(Privacy::zcdp(0.5, delta).is_err(), "{delta}");
        }
        for rho in [0.0, 1e-300, 1e3, f64::MAX] {
            let text = Privacy::zcdp(rho, 1e-6).expect_err("out of range").to_string();
            let want = "rho must be such that its epsilon at delta is above 0 and at most 100, got";
            assert_eq!(text, format!("{want} {}", dp_accounting::plain_number(rho)));
        }
        let error = Privacy::within(Budget::new(1.0, 0.0).expect("valid")).expect_err("no delta");
        assert_eq!(error.to_string(), "Gaussian noise needs a delta above 0");
    }

    /// A budget is used whole by its Gaussian noise, and never exceeded.
    #[test]
    fn noise_within_a_budget_costs_that_budget() {
        for (epsilon, delta) in [(0.01, 1e-9), (0.3, 1e-6), (1.0, 1e-12), (8.0, 0.01), (90.0, 1e-6)]
        {
            let within = Privacy::within(Budget::new(epsilon, delta).expect("valid"));
            let cost = within.and_then(Privacy::budget).expect("valid").epsilon().get();
            assert!(cost <= epsilon && cost > epsilon * (1.0 - 1e-4), "{cost} of {epsilon}");
        }
    }

    #[test]
    fn zcdp_is_labelled_as_what_it_is() {
        assert_eq!(Privacy::pure(0.5).expect("valid").to_string(), "epsilon 0.5");
        let zcdp = Privacy::zcdp(0.5, 1e-10).expect("valid");
        assert_eq!(zcdp.to_string(), "zCDP rho 0.5");
        let epsilon = zcdp.budget().expect("valid").epsilon().get();
        assert!((6.8..6.9).contains(&epsilon), "{epsilon}");
    }
}

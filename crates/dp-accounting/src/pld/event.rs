//! What is composed: one use of one mechanism, as a pair of laws.

use serde::{Deserialize, Serialize};

use crate::error::ParamError;
use crate::outward::{Upper, smaller};
use crate::params::{Delta, Epsilon};
use crate::rounding::UNIT;

/// Which of the two neighbours the output comes from.
///
/// A two-sided guarantee needs both; they differ only where records are subsampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Outputs of the data set with the record, judged against the one without it.
    Remove,
    /// Outputs of the data set without the record, judged against the one with it.
    Add,
}

/// A pair of output laws that is worst for the neighbours of one mechanism.
///
/// Additive noise is described by the pair `(noise, noise shifted by the sensitivity)`, which is worst for every relation under
/// which the sensitivity holds. Subsampled noise speaks about [`AddRemove`](crate::AddRemove) neighbours.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "Unchecked", into = "Unchecked")]
pub struct Event {
    pub(crate) kind: Kind,
    /// Each record takes part with this probability; 1 where nothing is sampled.
    pub(crate) rate: f64,
}

/// The mechanism itself, before sampling.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Kind {
    Gaussian { noise_multiplier: f64 },
    Laplace { epsilon: f64 },
    RandomisedResponse { epsilon: f64 },
    DiscreteLaplace { rate: f64, sensitivity: u32 },
    DiscreteGaussian { variance: f64, sensitivity: u32 },
    Approximate { epsilon: f64, delta: f64 },
    BoundedRange { eta: f64 },
}

/// Losses above this say nothing and would only make the arithmetic overflow.
const MOST_LOSS: f64 = 200.0;
/// Losses below this are lost in the rounding of the sums.
const LEAST_LOSS: f64 = 1e-9;

fn check(
    name: &'static str,
    got: f64,
    low: f64,
    high: f64,
    want: &'static str,
) -> Result<f64, ParamError> {
    if got >= low && got <= high {
        Ok(got)
    } else {
        Err(ParamError::OutOfRange { name, got, want })
    }
}

fn check_loss(name: &'static str, got: f64) -> Result<f64, ParamError> {
    check(name, got, LEAST_LOSS, MOST_LOSS, "between 1e-9 and 200")
}

impl Event {
    fn whole(kind: Kind) -> Self {
        Self { kind, rate: 1.0 }
    }

    pub(crate) fn is_plain_gaussian(&self) -> bool {
        matches!(self.kind, Kind::Gaussian { .. }) && self.rate >= 1.0
    }

    /// Gaussian noise with standard deviation `noise_multiplier` times the sensitivity in the 2-norm.
    ///
    /// # Errors
    /// [`ParamError`] unless it lies between `0.01` and `1e7`; that excludes 0, subnormals, infinities and NaN.
    pub fn gaussian(noise_multiplier: f64) -> Result<Self, ParamError> {
        let want = "between 0.01 and 1e7";
        let noise_multiplier = check("noise multiplier", noise_multiplier, 0.01, 1e7, want)?;
        Ok(Self::whole(Kind::Gaussian { noise_multiplier }))
    }

    /// Laplace noise with scale `scale` times the sensitivity in the 1-norm: the loss is at most `1 / scale`.
    ///
    /// # Errors
    /// [`ParamError`] unless `scale` lies between `0.005` and `1e9`.
    pub fn laplace(scale: f64) -> Result<Self, ParamError> {
        let scale = check("scale", scale, 0.005, 1e9, "between 0.005 and 1e9")?;
        Ok(Self::whole(Kind::Laplace { epsilon: 1.0 / scale }))
    }

    /// The worst pair of a mechanism that is `epsilon`-pure in both directions.
    ///
    /// # Source
    /// Kairouz, Oh, Viswanath (ICML 2015), Theorem 2.
    ///
    /// # Errors
    /// [`ParamError`] unless `epsilon` lies between `1e-9` and `200`.
    pub fn randomised_response(epsilon: Epsilon) -> Result<Self, ParamError> {
        let epsilon = check_loss("epsilon", epsilon.get())?;
        Ok(Self::whole(Kind::RandomisedResponse { epsilon }))
    }

    /// Discrete Laplace noise on the integers, `Pr[x]` proportional to `e^(-rate |x|)`, on a value that moves by
    /// `sensitivity`.
    ///
    /// # Errors
    /// [`ParamError`] for a sensitivity of 0 or above 100,000, and unless `rate` and `rate * sensitivity` lie between `1e-9` and `200`.
    pub fn discrete_laplace(rate: f64, sensitivity: u32) -> Result<Self, ParamError> {
        check_loss("rate", rate)?;
        check_sensitivity(sensitivity)?;
        check_loss("rate times sensitivity", rate * f64::from(sensitivity))?;
        Ok(Self::whole(Kind::DiscreteLaplace { rate, sensitivity }))
    }

    /// Discrete Gaussian noise on the integers, `Pr[x]` proportional to `e^(-x^2 / (2 variance))`, on a value that moves
    /// by `sensitivity`.
    ///
    /// # Errors
    /// [`ParamError`] for a sensitivity of 0 or above 100,000, unless `variance` lies between `0.01` and `1e10`, or if the sensitivity
    /// is above 100 times the standard deviation.
    pub fn discrete_gaussian(variance: f64, sensitivity: u32) -> Result<Self, ParamError> {
        let variance = check("variance", variance, 0.01, 1e10, "between 0.01 and 1e10")?;
        check_sensitivity(sensitivity)?;
        let want = "at most 100 standard deviations";
        check("sensitivity", f64::from(sensitivity), 1.0, 100.0 * variance.sqrt(), want)?;
        Ok(Self::whole(Kind::DiscreteGaussian { variance, sensitivity }))
    }

    /// The worst pair of a mechanism that is `(epsilon, delta)`-private in both directions.
    ///
    /// # Source
    /// Kairouz, Oh, Viswanath (ICML 2015), Theorem 3.
    ///
    /// # Errors
    /// [`ParamError`] unless `epsilon` lies between `1e-9` and `200`.
    pub fn approximate(epsilon: Epsilon, delta: Delta) -> Result<Self, ParamError> {
        let epsilon = check_loss("epsilon", epsilon.get())?;
        Ok(Self::whole(Kind::Approximate { epsilon, delta: delta.get() }))
    }

    /// A pair that is at least as bad as every pair of bounded range `eta`, at every epsilon.
    ///
    /// The exponential mechanism with loss `eta` is one; permute-and-flip is not, it is [`Event::randomised_response`].
    /// `delta(e) = (1 - e^((e - eta) / 2))^2 / (1 - e^-eta)`, the largest over the position of the interval.
    ///
    /// # Source
    /// Pairs: Dong, Durfee, Rogers (ICML 2020). Their envelope is convex in `e^epsilon`, so it is the curve of a pair.
    ///
    /// # Errors
    /// [`ParamError`] unless `eta` lies between `1e-9` and `200`.
    pub fn bounded_range(eta: Epsilon) -> Result<Self, ParamError> {
        Ok(Self::whole(Kind::BoundedRange { eta: check_loss("eta", eta.get())? }))
    }

    /// The same Gaussian or Laplace noise over a sample that holds each record with probability `rate`, independently.
    ///
    /// Relation: [`AddRemove`](crate::AddRemove). The pair is `(rate P + (1 - rate) Q, Q)`, and its reverse.
    ///
    /// # Source
    /// Zhu, Dong, Wang (AISTATS 2022), Theorem 11.
    ///
    /// # Errors
    /// [`ParamError`] unless `1e-9 <= rate <= 1`, for other mechanisms, if something was sampled before, and for Gaussian noise
    /// multipliers below 0.125.
    pub fn poisson_sampled(self, rate: f64) -> Result<Self, ParamError> {
        let rate = check("sampling rate", rate, 1e-9, 1.0, "between 1e-9 and 1")?;
        let sampleable = match self.kind {
            Kind::Gaussian { noise_multiplier } => noise_multiplier >= 0.125,
            Kind::Laplace { epsilon } => epsilon <= 50.0,
            _ => false,
        };
        if !sampleable || self.rate < 1.0 {
            let want = "of Gaussian noise with multiplier >= 0.125 or Laplace noise with loss <= 50, sampled once";
            return Err(ParamError::OutOfRange { name: "sampling", got: rate, want });
        }
        Ok(Self { rate, ..self })
    }

    /// The largest loss that one use can show, apart from the mass `delta`; infinite for Gaussian noise.
    pub(crate) fn most_loss(self) -> Upper {
        let whole = match self.kind {
            Kind::Gaussian { .. } | Kind::DiscreteGaussian { .. } => return Upper::UNKNOWN,
            Kind::Laplace { epsilon }
            | Kind::RandomisedResponse { epsilon }
            | Kind::Approximate { epsilon, .. } => epsilon,
            Kind::DiscreteLaplace { rate, sensitivity } => rate * f64::from(sensitivity),
            Kind::BoundedRange { eta } => eta,
        };
        // Sampling: ln(1 + q (e^x - 1)) upwards, and -ln(1 - q + q e^-x) downwards, which is never more.
        if self.rate >= 1.0 {
            return Upper::new(whole).raised(8.0);
        }
        let sampled = libm::log1p(self.rate * libm::expm1(whole));
        // The loss before sampling is off by a unit of itself, which counts in proportion to the sampled mass.
        let share = smaller(self.rate * libm::exp(whole), 1.0);
        Upper::near(sampled, 8.0 * UNIT * (sampled + whole * share))
    }
}

fn check_sensitivity(got: u32) -> Result<(), ParamError> {
    check("sensitivity", f64::from(got), 1.0, 1e5, "between 1 and 100,000").map(|_| ())
}

/// The file form; reading it goes through the constructors.
#[derive(Serialize, Deserialize)]
#[serde(rename = "Event", deny_unknown_fields)]
struct Unchecked {
    kind: Kind,
    rate: f64,
}

impl TryFrom<Unchecked> for Event {
    type Error = ParamError;
    fn try_from(raw: Unchecked) -> Result<Self, ParamError> {
        let whole = match raw.kind {
            Kind::Gaussian { noise_multiplier } => Self::gaussian(noise_multiplier),
            Kind::Laplace { epsilon } => {
                check("loss", epsilon, LEAST_LOSS, MOST_LOSS, "between 1e-9 and 200")
                    .map(|epsilon| Self::whole(Kind::Laplace { epsilon }))
            }
            Kind::RandomisedResponse { epsilon } => {
                Self::randomised_response(Epsilon::new(epsilon)?)
            }
            Kind::DiscreteLaplace { rate, sensitivity } => {
                Self::discrete_laplace(rate, sensitivity)
            }
            Kind::DiscreteGaussian { variance, sensitivity } => {
                Self::discrete_gaussian(variance, sensitivity)
            }
            Kind::Approximate { epsilon, delta } => {
                Self::approximate(Epsilon::new(epsilon)?, Delta::new(delta)?)
            }
            Kind::BoundedRange { eta } => Self::bounded_range(Epsilon::new(eta)?),
        }?;
        if raw.rate.to_bits() == 1.0_f64.to_bits() {
            Ok(whole)
        } else {
            whole.poisson_sampled(raw.rate)
        }
    }
}

impl From<Event> for Unchecked {
    fn from(event: Event) -> Self {
        Self { kind: event.kind, rate: event.rate }
    }
}

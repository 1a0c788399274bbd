//! A count with integer noise.

use dp_accounting::{Epsilon, Loss, Mu, Rho};
use dp_noise::{DiscreteGaussian, DiscreteLaplace, RoundedGaussian};

use crate::rational::{mu_of_square, ratio_at_most, square_at_most, to_f64};
use crate::source::value_of;
use crate::{Draws, MechanismError, Noise, Private};

/// Adds integer noise to a count that one record changes by at most 1.
///
/// # Guarantee
/// For `|c(D) - c(D')| <= 1`:
/// - [`geometric`](Self::geometric): `epsilon`-DP. With `a = e^(-epsilon)`,
///   `Pr[Z = z] = (1 - a)/(1 + a) a^|z|`, and shifting `z` by one changes it by a factor of at most
///   `e^epsilon`.
/// - [`gaussian`](Self::gaussian): `rho`-zCDP with `Pr[Z = z]` proportional to
///   `e^(-z^2 / (2 v))`, `v = 1 / (2 rho)`.
/// - [`rounded`](Self::rounded): `mu`-Gaussian-DP, with the exact curve of the Gaussian mechanism: `c + round(N) = round(c + N)`
///   for normal `N` of variance `v = 1 / mu^2`.
///
/// # Utility
/// Unbiased; [`standard_deviation`](Self::standard_deviation) is `sqrt(2a)/(1 - a)`, `sqrt(v)` or `sqrt(v + 1/12)`.
///
/// # Precision
/// Exact integers. The loss is rounded down to 32 bits when built and reported as rounded.
///
/// # Source
/// Ghosh, Roughgarden, Sundararajan (2009); Canonne, Kamath, Steinke (2020), Theorem 4; Dong, Roth, Su (JRSS B 2022), Theorem 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoisyCount {
    noise: Noise,
    loss: Loss,
    /// Of the receipt, if that pays for many counts together.
    leaf: Option<&'static str>,
}

impl NoisyCount {
    /// Two-sided geometric noise of scale `1 / epsilon`.
    ///
    /// # Errors
    /// [`MechanismError`] if `epsilon` is zero or below about `2^-32`.
    pub fn geometric(epsilon: Epsilon) -> Result<Self, MechanismError> {
        let name = "epsilon of a count";
        let (rounded, scale) = invert(name, epsilon.get(), 1.0)?;
        let laplace = DiscreteLaplace::new(scale).map_err(|_| too_much(name, epsilon.get()))?;
        let epsilon = Epsilon::new(rounded).expect("rounded down from a valid one");
        Ok(Self { noise: Noise::Laplace(laplace), loss: Loss::Pure { epsilon }, leaf: None })
    }

    /// Discrete Gaussian noise of variance `1 / (2 rho)`.
    ///
    /// # Errors
    /// [`MechanismError`] if `rho` is zero or below `2^-61`.
    pub fn gaussian(rho: Rho) -> Result<Self, MechanismError> {
        let name = "rho of a count";
        let (rounded, variance) = invert(name, rho.get(), 2.0)?;
        let gaussian = DiscreteGaussian::new(variance).map_err(|_| too_much(name, rho.get()))?;
        let rho = Rho::new(rounded / 2.0).expect("rounded down from a valid one");
        Ok(Self { noise: Noise::Gaussian(gaussian), loss: Loss::Zcdp { rho }, leaf: None })
    }

    /// The nearest integer to normal noise of variance `1 / mu^2`.
    ///
    /// # Errors
    /// [`MechanismError`] if `mu` is zero or below `2^-30`.
    pub fn rounded(mu: Mu) -> Result<Self, MechanismError> {
        let name = "mu of a count";
        if mu == Mu::ZERO {
            return Err(MechanismError::NotPositive { name });
        }
        let square = square_at_most(mu).ok_or(too_much(name, mu.get()))?;
        let rounded = square.recip().and_then(|variance| RoundedGaussian::new(variance).ok());
        let rounded = rounded.ok_or(too_much(name, mu.get()))?;
        let loss = Loss::Gaussian { mu: mu_of_square(square) };
        Ok(Self { noise: Noise::Rounded(rounded), loss, leaf: None })
    }

    /// One of many counts of which a record changes so few that the leaf of this name, with this loss, pays for all of them.
    #[must_use]
    pub fn among(self, leaf: &'static str, together: Loss) -> Self {
        Self { loss: together, leaf: Some(leaf), ..self }
    }

    /// What one release costs, or all those together that it is [among](Self::among).
    pub fn loss(&self) -> Loss {
        self.loss
    }

    /// Of the noise, in records.
    pub fn standard_deviation(&self) -> f64 {
        match self.noise {
            Noise::Laplace(laplace) => {
                let a = (-1.0 / to_f64(laplace.scale())).exp();
                (2.0 * a).sqrt() / (1.0 - a)
            }
            Noise::Gaussian(gaussian) => to_f64(gaussian.variance()).sqrt(),
            Noise::Rounded(rounded) => (to_f64(rounded.variance()) + 1.0 / 12.0).sqrt(),
        }
    }

    /// The noisy count. It may be negative; clamping it is post-processing and the caller's choice.
    pub fn release(&self, count: impl Into<Private<u64>>, draws: &mut Draws<'_>) -> i64 {
        let count = value_of(count.into().into_draw());
        match self.leaf {
            Some(leaf) => draws.next(leaf).charge(self.loss).noisy(count, self.noise),
            None => draws.charge(self.loss).noisy(count, self.noise),
        }
    }
}

/// `factor * loss` rounded down, and one over that.
fn invert(
    name: &'static str,
    loss: f64,
    factor: f64,
) -> Result<(f64, dp_noise::Ratio), MechanismError> {
    if loss <= 0.0 {
        return Err(MechanismError::NotPositive { name });
    }
    let ratio = ratio_at_most(factor * loss).ok_or(too_much(name, loss))?;
    Ok((to_f64(ratio), ratio.recip().ok_or(too_much(name, loss))?))
}

fn too_much(name: &'static str, got: f64) -> MechanismError {
    MechanismError::TooMuchNoise { name, got }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plan divides its budget and takes the parts at their word.
    #[test]
    fn a_count_costs_what_it_was_asked_for_and_no_more() {
        for asked in [1e-4, 0.3, 1.0, 7.0] {
            let counts = [
                NoisyCount::geometric(Epsilon::new(asked).expect("valid")),
                NoisyCount::gaussian(Rho::new(asked).expect("valid")),
                NoisyCount::rounded(Mu::new(asked).expect("valid")),
            ];
            for count in counts {
                let loss = count.expect("moderate noise").loss();
                let costs = match loss {
                    Loss::Pure { epsilon } => epsilon.get(),
                    Loss::Zcdp { rho } => rho.get(),
                    Loss::Gaussian { mu } => mu.get(),
                    _ => f64::INFINITY,
                };
                assert!(costs <= asked && costs > asked * (1.0 - 1e-8), "{loss:?} for {asked}");
            }
        }
    }

    /// For the geometric noise of a loss of 1/2, `sqrt(2 a) / (1 - a)` with `a = e^(-1/2)`, by hand.
    #[test]
    fn the_standard_deviation_is_that_of_the_noise() {
        let deviations = [
            (NoisyCount::geometric(Epsilon::new(0.5).expect("valid")), 2.799_178),
            (NoisyCount::gaussian(Rho::new(0.02).expect("valid")), 5.0),
            (NoisyCount::rounded(Mu::new(0.2).expect("valid")), (25.0_f64 + 1.0 / 12.0).sqrt()),
        ];
        for (count, expected) in deviations {
            let deviation = count.expect("moderate noise").standard_deviation();
            assert!((deviation - expected).abs() < 1e-5, "{deviation} for {expected}");
        }
    }
}

//! The least noise for a budget, whatever else is in the mix.

use crate::budget::Budget;
use crate::error::ParamError;
use crate::outward::{larger, within};
use crate::pld::{Accuracy, Composition, Question};

/// How close the result comes to the least scale, relative to it.
const PRECISION: f64 = 1e-6;

/// The least scale in `low..=high` for which `mix(scale)` keeps `budget`, up to `1e-6` of itself; `None` if even `high` does not.
///
/// Any one number of the mix can be the scale, as long as more of it never costs more. The scale that is returned was
/// evaluated and fits: the upper side of its epsilon is at most that of the budget.
///
/// ```
/// use dp_accounting::{Budget, Composition, Event, calibrate};
///
/// let budget = Budget::new(1.0, 1e-6)?;
/// let sigma = calibrate(budget, 0.5, 500.0, |sigma| {
///     let other = Event::discrete_laplace(0.1, 1)?;
///     Composition::new().with(Event::gaussian(sigma)?, 10)?.with(other, 2)
/// })?.expect("500 is plenty");
/// assert!(sigma > 13.36, "more than the Gaussians alone would need: {sigma}");
/// # Ok::<(), dp_accounting::ParamError>(())
/// ```
///
/// # Complexity
/// Some thirty compositions, each of a twentieth of [`Accuracy::DEFAULT_EFFORT`] at most: about a second.
///
/// # Panics
/// As [`Composition::epsilon`].
///
/// # Errors
/// [`ParamError`] unless `0 < low < high` are finite, and whatever `mix` refuses.
pub fn calibrate(
    budget: Budget,
    low: f64,
    high: f64,
    mix: impl Fn(f64) -> Result<Composition, ParamError>,
) -> Result<Option<f64>, ParamError> {
    for (name, got) in [("low", low), ("high", high)] {
        if !(got.is_finite() && got > 0.0 && low < high) {
            let want = "finite, above 0, and low below high";
            return Err(ParamError::OutOfRange { name, got, want });
        }
    }
    let (question, log_budget) =
        (Question::Epsilon(budget.delta()), libm::log(budget.epsilon().get()));
    // Some thirty mixes are looked at.
    let accuracy = Accuracy::default().with_effort(Accuracy::DEFAULT_EFFORT / 20)?;
    // The logarithm of what is spent over what may be: falls with the scale, and is close to a line in its logarithm.
    let excess = |scale: f64| -> Result<f64, ParamError> {
        let answer = mix(scale)?.profile(accuracy).ask(question);
        let spent = answer.unwrap_or_else(|contradiction| panic!("{contradiction}")).bound.upper();
        Ok(within(libm::log(larger(spent, 1e-300)) - log_budget, -1e3, 1e3))
    };
    // The least scale that was seen to fit: the very number that was evaluated.
    let mut least = high;
    let mut at_fits = excess(high)?;
    if at_fits > 0.0 {
        return Ok(None);
    }
    let mut at_fails = excess(low)?;
    if at_fails <= 0.0 {
        return Ok(Some(low));
    }
    let (mut fails, mut fits) = (libm::log(low), libm::log(high));
    let mut narrowed = true;
    while fits - fails > PRECISION {
        // Secant, a quarter of the precision to the safe side; a bisection where it was too timid.
        let secant = fits - at_fits * (fits - fails) / (at_fits - at_fails);
        let middle = f64::midpoint(fails, fits);
        let next = if narrowed { secant + PRECISION / 4.0 } else { middle };
        let next = if next > fails && next < fits { next } else { middle };
        let width = fits - fails;
        let scale = libm::exp(next);
        let value = excess(scale)?;
        if value <= 0.0 {
            (fits, at_fits, least) = (next, value, scale);
            // The other end is likely just below: one look there ends the search.
            let below = next - PRECISION / 2.0;
            if below > fails && value > -PRECISION {
                let scale = libm::exp(below);
                let value = excess(scale)?;
                if value > 0.0 {
                    break;
                }
                (fits, at_fits, least) = (below, value, scale);
            }
        } else {
            (fails, at_fails) = (next, value);
        }
        narrowed = fits - fails < 0.5 * width;
    }
    Ok(Some(least))
}

//! What is asked first: how much does it cost, how much noise does it take, how often may I.

use crate::budget::Budget;
use crate::calibration::calibrate;
use crate::error::ParamError;
use crate::params::Delta;
use crate::pld::{Accuracy, Bound, Composition, Event, Question};

/// The epsilon at `delta` of `uses` uses of `event`, both sides; the upper one is the claim.
///
/// ```
/// use dp_accounting::{Delta, Event, epsilon_for};
///
/// // Training: 10,000 steps of Gaussian noise 1 on samples of one record in a hundred.
/// let step = Event::gaussian(1.0)?.poisson_sampled(0.01)?;
/// let epsilon = epsilon_for(step, 10_000, Delta::new(1e-6)?)?;
/// assert!((epsilon.upper() - 6.907_384_5).abs() < 1e-5);
/// # Ok::<(), dp_accounting::ParamError>(())
/// ```
///
/// # Errors
/// As [`Composition::with`].
pub fn epsilon_for(event: Event, uses: u64, delta: Delta) -> Result<Bound, ParamError> {
    Ok(Composition::new().with(event, uses)?.epsilon(delta))
}

/// Whether a composition is seen to keep a budget by one of many looks: by a fortieth of the default effort.
fn is_within(mix: &Composition, budget: Budget) -> bool {
    let accuracy = Accuracy::default().with_effort(Accuracy::DEFAULT_EFFORT / 40);
    let mut profile = mix.profile(accuracy.expect("in range"));
    let answer = profile.ask(Question::Epsilon(budget.delta()));
    let answer = answer.unwrap_or_else(|contradiction| panic!("{contradiction}"));
    answer.bound.upper() <= budget.epsilon().get()
}

/// The least scale for which `uses` uses of `noise(scale)` keep `budget`, up to `1e-6` of itself and never less than is needed.
/// `None` if no scale that `noise` accepts does.
///
/// More noise must never cost more. The other way round from [`epsilon_for`]; for mixes of several events, see [`calibrate`].
///
/// # Complexity
/// At most some twenty compositions, each of a fortieth of [`Accuracy::DEFAULT_EFFORT`], and those of [`calibrate`]: about two seconds.
///
/// # Panics
/// As [`Composition::epsilon`].
///
/// ```
/// use dp_accounting::{Budget, Event, noise_for};
///
/// let budget = Budget::new(1.0, 1e-6)?;
/// let one = noise_for(budget, 1, Event::gaussian)?.expect("there is a delta");
/// assert!((one - 4.224_679).abs() < 1e-5);
/// let training = noise_for(budget, 1000, |s| Event::gaussian(s)?.poisson_sampled(0.01))?;
/// assert!(training.expect("there is a delta") < 2.0);
/// # Ok::<(), dp_accounting::ParamError>(())
/// ```
///
/// # Errors
/// [`ParamError`] where `noise` refuses a scale of 1, and for a number of uses that [`Composition::with`] refuses.
pub fn noise_for(
    budget: Budget,
    uses: u64,
    noise: impl Fn(f64) -> Result<Event, ParamError>,
) -> Result<Option<f64>, ParamError> {
    let mix = |scale: f64| Composition::new().with(noise(scale)?, uses);
    let keeps = |mix: &Composition| is_within(mix, budget);
    let (mut low, mut high) = (1.0, 1.0);
    if keeps(&mix(1.0)?) {
        while let Ok(less) = mix(high / 2.0) {
            if !keeps(&less) {
                low = high / 2.0;
                break;
            }
            high /= 2.0;
        }
        if low >= high {
            // Half of it is not accepted.
            return Ok(Some(high));
        }
    } else {
        loop {
            let Ok(more) = mix(2.0 * low) else { return Ok(None) };
            if keeps(&more) {
                high = 2.0 * low;
                break;
            }
            low *= 2.0;
        }
    }
    calibrate(budget, low, high, mix)
}

/// How often `event` may be used within `budget`: the largest number, up to the most that a [`Composition`] takes, or 0.
///
/// By the upper side, which is rounded up: where the last use would fit exactly, it counts as one too many.
///
/// # Complexity
/// At most eighty compositions, each of a fortieth of [`Accuracy::DEFAULT_EFFORT`]: two seconds.
///
/// # Panics
/// As [`Composition::epsilon`].
///
/// ```
/// use dp_accounting::{Budget, Event, uses_for};
///
/// // Counts with an epsilon of a tenth each: adding up allows 29, composition more than half as many again.
/// let count = Event::laplace(10.0)?;
/// assert_eq!(uses_for(Budget::new(2.95, 0.0)?, count), 29);
/// assert!(uses_for(Budget::new(2.95, 1e-6)?, count) > 44);
/// # Ok::<(), dp_accounting::ParamError>(())
/// ```
pub fn uses_for(budget: Budget, event: Event) -> u64 {
    let fits =
        |uses: u64| Composition::new().with(event, uses).is_ok_and(|mix| is_within(&mix, budget));
    // Costs never fall with the number of uses: double, then halve the interval.
    let (mut fitting, mut failing) = (0, 1);
    while fits(failing) {
        (fitting, failing) = (failing, 2 * failing);
    }
    while failing - fitting > 1 {
        let middle = fitting + (failing - fitting) / 2;
        if fits(middle) { fitting = middle } else { failing = middle }
    }
    fitting
}

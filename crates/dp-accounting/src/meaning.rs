//! What epsilon and delta mean for one person, in numbers that need no logarithm.

use std::fmt;

use crate::outward::{Between, LEAST, Lower, Upper, larger, smaller};
use crate::params::{Delta, Epsilon};
use crate::pld::{Bound, Composition};
use crate::rounding::UNIT;

/// What an (epsilon, delta) guarantee leaves to an attacker who knows all records but one, and looks at the output for that one.
///
/// Every number is the exact limit, rounded up by a few units: no attack does better on any mechanism with the guarantee, and for one
/// mechanism, the worst, an attack does as well. That one publishes the record with probability `delta`, and otherwise answers
/// truthfully with odds `e^epsilon` (Kairouz, Oh, Viswanath, ICML 2015, Theorem 3).
///
/// ```
/// use dp_accounting::{Delta, Epsilon, Meaning};
///
/// let meaning = Meaning::new(Epsilon::new(1.0)?, Delta::new(1e-6)?);
/// // Whoever tosses a coin first is right in 73 of 100 cases at most, with the output in hand.
/// assert!((meaning.attack_success(0.5) - 0.731_06).abs() < 1e-5);
/// // Of those who take part, a test finds at most 2.7 % that accuses 1 % of the others.
/// assert!((meaning.detection(0.01) - 0.027_18).abs() < 1e-5);
/// // A suspicion of 10 % becomes 23 % at most, but for one case in a million.
/// assert!((meaning.belief(0.1) - 0.231_97).abs() < 1e-5);
/// println!("{meaning}");
/// # Ok::<(), dp_accounting::ParamError>(())
/// ```
///
/// # Source
/// Trade-offs of tests: Wasserman and Zhou (2010); Kairouz, Oh, Viswanath (ICML 2015).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Meaning {
    epsilon: Epsilon,
    delta: Delta,
}

/// A probability as it was given; NaN counts as 1/2, the hardest case.
pub(crate) fn share(probability: f64) -> f64 {
    if probability.is_nan() { 0.5 } else { smaller(larger(probability, 0.0), 1.0) }
}

/// A computed probability, off by a few roundings.
fn at_most(probability: f64) -> Upper {
    Upper::new(probability).raised(8.0).or(Upper::ONE)
}

impl Meaning {
    /// The meaning of a guarantee for two-sided neighbours.
    pub const fn new(epsilon: Epsilon, delta: Delta) -> Self {
        Self { epsilon, delta }
    }

    /// `e^-epsilon` from below.
    fn least_odds(self) -> Lower {
        Lower::new(-self.epsilon.get()).exp()
    }

    /// `delta + (1 - delta) p`.
    fn unless_shown(self, probability: Upper) -> f64 {
        let delta = self.delta.get();
        let kept = Upper::ONE - Lower::new(delta);
        (Upper::new(delta) + kept.times(probability)).or(Upper::ONE).get()
    }

    /// The part of those who take part that a test can find, if it accuses a part `false_alarm` of those who do not: the power of the best test at a
    /// level. `min(e^epsilon a + delta, 1 - e^-epsilon (1 - delta - a), 1)`.
    pub fn detection(self, false_alarm: f64) -> f64 {
        let (a, delta) = (Upper::new(share(false_alarm)), Upper::new(self.delta.get()));
        let grown = Upper::new(self.epsilon.get()).exp().times(a) + delta;
        let rest = (Lower::new(1.0) - delta - a).at_least_0();
        let missed = self.least_odds().times(rest);
        grown.or(Upper::ONE - missed).get()
    }

    /// How often an attacker is right who guesses whether a person takes part, and thought so with probability `prior` before.
    ///
    /// The larger of `delta + (1 - delta) e^epsilon / (1 + e^epsilon)`, for which the output decides, and of what sticking to the prior
    /// gives unless the output shows the record.
    pub fn attack_success(self, prior: f64) -> f64 {
        let p = share(prior);
        let truth = Upper::ONE.over(Lower::new(1.0) + self.least_odds());
        self.unless_shown(truth.max(Upper::new(p)).max(Upper::ONE - Lower::new(p)))
    }

    /// The largest difference between how often a test accuses those who take part and those who do not: `(e^epsilon - 1 + 2 delta) / (e^epsilon + 1)`.
    pub fn advantage(self) -> f64 {
        // The half of the smallest epsilon underflows.
        let half = Upper::new(self.epsilon.get() / 2.0).max(Upper::new(self.least_epsilon()));
        self.unless_shown(at_most(libm::tanh(half.get())))
    }

    fn least_epsilon(self) -> f64 {
        if self.epsilon == Epsilon::ZERO { 0.0 } else { LEAST }
    }

    /// How sure an attacker can become who thought it likely with probability `prior` that a person takes part: odds grow by
    /// `e^epsilon` at most, except with probability `delta`, when nothing is promised.
    ///
    /// The exception is that of the worst mechanism, of which every other with the guarantee is a processing: the output that it
    /// processes changes the odds by more with probability `delta`, whoever takes part.
    pub fn belief(self, prior: f64) -> f64 {
        let p = share(prior);
        let q = (Lower::new(1.0) - Upper::new(p)).times(self.least_odds());
        Upper::new(p).over(Lower::new(p) + q).or(Upper::ONE).get()
    }
}

/// With two digits, rounded up.
struct Percent(f64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = self.0 * 100.0;
        let digits = if percent >= 10.0 { 1 } else { 2 };
        let unit = 10.0_f64.powi(digits);
        // What is a whole number of units, up to rounding, stays one.
        let up = (percent * unit * (1.0 - 1e-12)).ceil() / unit;
        write!(f, "{} %", smaller(up, 100.0))
    }
}

impl fmt::Display for Meaning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { epsilon, delta } = *self;
        writeln!(f, "Epsilon {epsilon} at delta {delta}, for one person, whatever else is known:")?;
        let success = Percent(self.attack_success(0.5));
        writeln!(
            f,
            "- Who takes part, and who does not? A guess is right in {success} of the cases at most, where chance is 50 %."
        )?;
        let [low, high] = [0.01, 0.1].map(|a| Percent(self.detection(a)));
        writeln!(
            f,
            "- A test that accuses 1 % of those who do not take part finds {low} of those who do; at 10 % it finds {high}."
        )?;
        let [rare, even] = [0.01, 0.5].map(|p| Percent(self.belief(p)));
        write!(
            f,
            "- Whoever thought it 1 % likely can be {rare} sure afterwards, and {even} after 50 %"
        )?;
        if self.delta == Delta::ZERO {
            return write!(f, ", always.");
        }
        write!(f, ", but for a chance of {delta} that nothing is promised.")
    }
}

impl Composition {
    /// How often an attacker is right who guesses whether a person takes part, and thought so with probability `prior` before: exactly for these
    /// mechanisms, in the worse direction, where [`Meaning::attack_success`] knows one point of their curve only.
    ///
    /// With `p` the smaller of the prior and its opposite, that is `1 - p + p delta(ln((1 - p) / p))`: a guess is right on `1 - p` of the
    /// cases without a look at the output, and accusing on a set `S` of outputs gains `p P(S) - (1 - p) Q(S)`.
    ///
    /// ```
    /// use dp_accounting::{Budget, Composition, Delta, Epsilon, Event, Meaning, noise_for};
    ///
    /// let budget = Budget::new(1.0, 1e-6)?;
    /// let noise = noise_for(budget, 1, Event::gaussian)?.expect("there is a delta");
    /// let release = Composition::new().with(Event::gaussian(noise)?, 1)?;
    /// // The budget alone promises 73.1 %; the Gaussian that spends it keeps an attacker to 54.8 %.
    /// assert!(release.attack_success(0.5).upper() < 0.548);
    /// assert!(Meaning::new(budget.epsilon(), budget.delta()).attack_success(0.5) > 0.731);
    /// # Ok::<(), dp_accounting::ParamError>(())
    /// ```
    pub fn attack_success(&self, prior: f64) -> Bound {
        let p = smaller(share(prior), 1.0 - share(prior));
        let log_odds = libm::log1p(-p) - libm::log(p);
        let Some(epsilon) = Epsilon::of(log_odds) else {
            // Nothing is left to guess.
            return Bound::proved(Between { lower: Lower::new(1.0), upper: Upper::ONE });
        };
        let delta = self.delta(epsilon);
        // A step of epsilon moves the value by less than 1 - p times the step, and its logarithms are off by some units.
        let error = 16.0 * UNIT * (1.0 + epsilon.get());
        let at = |delta: f64| 1.0 - p + p * delta;
        Bound::proved(Between {
            lower: Lower::near(at(delta.lower()), error),
            upper: Upper::near(at(delta.upper()), error).or(Upper::ONE),
        })
    }
}

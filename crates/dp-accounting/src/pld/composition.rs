//! The composition of events, and what it costs.

use serde::{Deserialize, Serialize};

use super::accuracy::Accuracy;
use super::bound::{Bound, Contradiction};
use super::curve::best_order;
use super::event::{Direction, Event, Kind};
use super::evidence::{Answer, Question};
use super::grid::Query;
use super::mix::{Mix, Whole};
use super::moments::{Moments, epsilon_by_moment};
use super::pair::leak;
use crate::error::ParamError;
use crate::outward::{Between, Lower, Upper, sum, total};
use crate::params::{Delta, Epsilon};
use crate::rounding::LongSum;

/// Uses of mechanisms on the same records, each free to depend on the outputs before it.
///
/// What is asked may depend on earlier outputs; which events come, and how often, must not.
///
/// # Guarantee
/// Every answer is a [`Bound`]: `lower <= exact value of the composed pairs <= upper`. The upper side is a claim for
/// [`AddRemove`](crate::AddRemove) neighbours where something is sampled, and otherwise for every two-sided relation for
/// which the events were stated. Both directions are computed and the larger counts.
///
/// # Paths
/// Only Gaussians, or a single use of noise: closed form. Losses on a common lattice: exact convolution. Everything whose transform dies out:
/// inversion along a line. Laplace noise up to 1000 times, where it does not: the same for what the atoms leave. Atoms too many for a lattice: a Gaussian that
/// ends the transform is added, at a price within the accuracy. The rest (few uses, where
/// atoms or steep densities dominate): a lattice above and one below. All but the first are within `1e-6` (relative above 1) for what
/// was tested; where the effort would be too large, the bound by moments is what remains on the upper side.
///
/// # Complexity
/// A question takes at most about the effort of [`Accuracy::default`], a second, and most take milliseconds; `deltas` and `trade_off` take that
/// per epsilon. [`Composition::profile`] takes an accuracy and an effort.
///
/// ```
/// use dp_accounting::{Composition, Delta, Event};
///
/// let noisy_steps = Event::gaussian(1.0)?.poisson_sampled(0.01)?;
/// let training = Composition::new().with(noisy_steps, 1000)?;
/// let epsilon = training.epsilon(Delta::new(1e-5)?);
/// assert!(epsilon.lower() <= 1.8282366665 && 1.8282366665 <= epsilon.upper());
/// assert!(epsilon.gap() <= 2e-6);
/// # Ok::<(), dp_accounting::ParamError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<(Event, u64)>", into = "Vec<(Event, u64)>")]
pub struct Composition {
    /// Sorted, each event once.
    parts: Vec<(Event, u64)>,
}

/// One event at most this often.
const MOST_USES: u64 = 1_000_000_000_000;

impl Composition {
    /// Nothing spent yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with `count` more uses of `event`.
    ///
    /// # Errors
    /// [`ParamError`] for a count of 0 or above `1e12` in total.
    pub fn with(mut self, event: Event, count: u64) -> Result<Self, ParamError> {
        let place = self.parts.binary_search_by(|part| {
            part.0.partial_cmp(&event).expect("the numbers of an event are not NaN")
        });
        let before = place.map_or(0, |at| self.parts[at].1);
        let total = before.saturating_add(count);
        if count == 0 || total > MOST_USES {
            let got = if count == 0 { 0.0 } else { total as f64 };
            let want = "at least 1 and at most 1e12";
            return Err(ParamError::OutOfRange { name: "number of uses", got, want });
        }
        match place {
            Ok(at) => self.parts[at].1 = total,
            Err(at) => self.parts.insert(at, (event, count)),
        }
        Ok(self)
    }

    /// The events and how often each is used, in a canonical order.
    pub fn parts(&self) -> &[(Event, u64)] {
        &self.parts
    }

    /// The least epsilon at `delta`, in the worse direction; infinite if there is none. As accurate as [`Accuracy::default`] says.
    ///
    /// # Panics
    /// If two bounds contradict each other, which [`Profile::ask`](crate::Profile::ask) has as an error.
    pub fn epsilon(&self, delta: Delta) -> Bound {
        sound(self.profile(Accuracy::default()).ask(Question::Epsilon(delta)))
    }

    /// The delta at `epsilon`, in the worse direction. An upper side of 0 is exact: no output loses more than `epsilon`.
    ///
    /// # Panics
    /// As [`Composition::epsilon`].
    pub fn delta(&self, epsilon: Epsilon) -> Bound {
        sound(self.profile(Accuracy::default()).ask(Question::Delta(epsilon)))
    }

    /// The least epsilon at `delta` in one direction.
    ///
    /// # Panics
    /// As [`Composition::epsilon`].
    pub fn epsilon_in(&self, direction: Direction, delta: Delta) -> Bound {
        sound(self.profile(Accuracy::default()).ask_in(direction, Question::Epsilon(delta)))
    }

    /// The delta at `epsilon` in one direction.
    ///
    /// # Panics
    /// As [`Composition::epsilon`].
    pub fn delta_in(&self, direction: Direction, epsilon: Epsilon) -> Bound {
        sound(self.profile(Accuracy::default()).ask_in(direction, Question::Delta(epsilon)))
    }

    /// The deltas at several epsilons, in the worse direction each: as [`Composition::delta`], but what was composed for one is used for
    /// the others where it is as good.
    ///
    /// # Panics
    /// As [`Composition::epsilon`].
    pub fn deltas(&self, epsilons: &[Epsilon]) -> Vec<Bound> {
        let mut profile = self.profile(Accuracy::default());
        epsilons.iter().map(|epsilon| sound(profile.ask(Question::Delta(*epsilon)))).collect()
    }

    /// Whether both directions have the same curve.
    pub(crate) fn is_symmetric(&self) -> bool {
        self.parts.iter().all(|(event, _)| event.rate >= 1.0)
    }

    /// The sum of the largest losses.
    pub(crate) fn most_loss(&self) -> Upper {
        let losses = self.parts.iter();
        total(losses.map(|(e, k)| e.most_loss().of_uses(*k as f64)))
    }

    /// The mass that has no finite loss.
    pub(crate) fn leaked(&self) -> Between {
        let log = sum(self.parts.iter().map(|(e, k)| *k as f64 * libm::log1p(-leak(*e))));
        let leaked = -libm::expm1(log);
        let units = 16.0 + 2.0 * self.parts.len() as f64;
        let (lower, upper) = (Lower::new(leaked).lowered(units), Upper::new(leaked).raised(units));
        Between { lower, upper: upper.or(Upper::ONE) }
    }

    /// The parts with their leaks taken out, all unsampled Gaussians as one.
    pub(crate) fn finite_parts(&self) -> Vec<(Event, f64)> {
        let mut variance = LongSum::default();
        let mut parts = Vec::new();
        for &(event, count) in &self.parts {
            let count = count as f64;
            match event.kind {
                Kind::Gaussian { noise_multiplier } if event.rate >= 1.0 => {
                    variance.add(count / (noise_multiplier * noise_multiplier));
                }
                _ => parts.push((event, count)),
            }
        }
        let variance = variance.get();
        if variance > 0.0 {
            let noise_multiplier = 1.0 / variance.sqrt();
            parts.push((Event { kind: Kind::Gaussian { noise_multiplier }, rate: 1.0 }, 1.0));
        }
        parts
    }
}

impl TryFrom<Vec<(Event, u64)>> for Composition {
    type Error = ParamError;
    fn try_from(parts: Vec<(Event, u64)>) -> Result<Self, ParamError> {
        parts.into_iter().try_fold(Self::new(), |all, (event, count)| all.with(event, count))
    }
}

impl From<Composition> for Vec<(Event, u64)> {
    fn from(composition: Composition) -> Self {
        composition.parts
    }
}

fn sound(answer: Result<Answer, Contradiction>) -> Bound {
    answer.unwrap_or_else(|contradiction| panic!("{contradiction}")).bound
}

/// The Renyi divergence of order `1 + s`; infinite where mass has no finite loss. None is above the largest loss.
pub(crate) fn divergence(composition: &Composition, direction: Direction, s: f64) -> Upper {
    if composition.leaked().upper.get() > 0.0 {
        return Upper::UNKNOWN;
    }
    let most = composition.most_loss();
    let mix = Mix::of_moments(&composition.finite_parts(), direction);
    if s > mix.most_order() { most } else { most.or(Whole(&mix).upper(s).over(Lower::new(s))) }
}

/// The least epsilon over all orders.
pub(crate) fn least_epsilon_by_moments(
    composition: &Composition,
    direction: Direction,
    delta: Delta,
) -> Upper {
    let leaked = composition.leaked().upper.get();
    let left = Lower::new((delta.get() - leaked) / (1.0 - leaked)).lowered(8.0).get();
    if left <= 0.0 {
        let pure = delta == Delta::ZERO && leaked == 0.0;
        return if pure { composition.most_loss() } else { Upper::UNKNOWN };
    }
    let parts = composition.finite_parts();
    if parts.is_empty() {
        return Upper::ZERO;
    }
    let mix = Mix::of_moments(&parts, direction);
    let order = best_order(&mix, Query::Epsilon(left));
    epsilon_by_moment(&Whole(&mix), order, left).or(composition.most_loss())
}

//! The composition of events, and what it costs.

use serde::{Deserialize, Serialize};

use super::bound::Bound;
use super::curve::{Curve, MOST_ORDER};
use super::event::{Direction, Event, Kind};
use super::grid::Query;
use super::mix::Mix;
use super::moments::order_for_delta;
use super::pair::leak;
use crate::error::ParamError;
use crate::params::{Delta, Epsilon};
use crate::rounding::{LongSum, UNIT, raise};

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
/// inversion along a line. Laplace noise up to 1000 times, where it does not: the same for what the atoms leave. The rest (few uses, where
/// atoms or steep densities dominate): a lattice above and one below. All but the first are within `1e-6` (relative above 1) for what
/// was tested; where the effort would be too large, the bound by moments is what remains on the upper side.
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

    /// The least epsilon at `delta`, in the worse direction; infinite if there is none.
    pub fn epsilon(&self, delta: Delta) -> Bound {
        self.worse(
            |direction| self.epsilon_in(direction, delta),
            |direction| least_epsilon_by_moments(self, direction, delta),
        )
    }

    /// The delta at `epsilon`, in the worse direction.
    pub fn delta(&self, epsilon: Epsilon) -> Bound {
        self.worse(|direction| self.delta_in(direction, epsilon), |_| 1.0)
    }

    /// The larger of both directions; the second is left out where `most` says that it cannot be.
    fn worse(&self, answer: impl Fn(Direction) -> Bound, most: impl Fn(Direction) -> f64) -> Bound {
        let remove = answer(Direction::Remove);
        // A single use has a closed form: looking is cheaper than asking whether to look.
        let single = matches!(self.parts[..], [(_, 1)]);
        if self.is_symmetric() || (!single && most(Direction::Add) <= remove.lower()) {
            return remove;
        }
        remove.max(answer(Direction::Add))
    }

    /// The least epsilon at `delta` in one direction.
    pub fn epsilon_in(&self, direction: Direction, delta: Delta) -> Bound {
        let pure = self.most_loss();
        if delta == Delta::ZERO {
            let leaks = self.parts.iter().any(|(event, _)| leak(*event) > 0.0);
            let pure = if leaks { f64::INFINITY } else { pure };
            return Bound::new(pure * (1.0 - 1e-14), pure);
        }
        let leaked = self.leaked();
        // What the leaks leave over of delta, rounded both ways.
        let (most, least) = (
            raise((delta.get() - leaked.lower()) / (1.0 - leaked.lower()), 8.0)
                .min(Delta::MAX.get()),
            (delta.get() - leaked.upper()) / (1.0 - leaked.upper()) * (1.0 - 8.0 * UNIT),
        );
        let cap = Bound::new(0.0, pure);
        if least <= 0.0 {
            let lower = if most <= 0.0 { f64::INFINITY } else { 0.0 };
            return Bound::new(lower, f64::INFINITY);
        }
        let mut curve = Curve::new(self.finite_parts(), direction);
        let tight = curve.answer(Query::Epsilon(least)).and(cap);
        if leaked.upper() <= 0.0 {
            return tight;
        }
        Bound::new(curve.answer(Query::Epsilon(most)).lower(), tight.upper())
    }

    /// The delta at `epsilon` in one direction.
    pub fn delta_in(&self, direction: Direction, epsilon: Epsilon) -> Bound {
        self.delta_on(&mut Curve::new(self.finite_parts(), direction), epsilon)
    }

    fn delta_on(&self, curve: &mut Curve, epsilon: Epsilon) -> Bound {
        let leaked = self.leaked();
        let inner = if epsilon.get() >= self.most_loss() {
            Bound::new(0.0, 0.0)
        } else {
            curve.answer(Query::Delta(epsilon.get()))
        };
        let join = |leaked: f64, inner: f64| leaked + (1.0 - leaked) * inner;
        let lower = join(leaked.lower(), inner.lower()) * (1.0 - 4.0 * UNIT);
        let upper = raise(join(leaked.upper(), inner.upper()), 4.0);
        Bound::new(lower, upper.min(1.0))
    }

    /// The deltas at several epsilons, in the worse direction each: as [`Composition::delta`], but what was composed for one is used for
    /// the others where it is as good.
    pub fn deltas(&self, epsilons: &[Epsilon]) -> Vec<Bound> {
        let directions = if self.is_symmetric() {
            vec![Direction::Remove]
        } else {
            vec![Direction::Remove, Direction::Add]
        };
        let mut worst = vec![Bound::new(0.0, 0.0); epsilons.len()];
        for direction in directions {
            let mut curve = Curve::new(self.finite_parts(), direction);
            for (bound, epsilon) in worst.iter_mut().zip(epsilons) {
                *bound = bound.max(self.delta_on(&mut curve, *epsilon));
            }
        }
        worst
    }

    /// Whether both directions have the same curve.
    fn is_symmetric(&self) -> bool {
        self.parts.iter().all(|(event, _)| event.rate >= 1.0)
    }

    /// The sum of the largest losses, rounded up.
    fn most_loss(&self) -> f64 {
        let sum: f64 = self.parts.iter().map(|(event, k)| event.most_loss() * *k as f64).sum();
        raise(sum, 8.0 + 2.0 * self.parts.len() as f64)
    }

    /// The mass that has no finite loss.
    fn leaked(&self) -> Bound {
        let log: f64 = self.parts.iter().map(|(e, k)| *k as f64 * libm::log1p(-leak(*e))).sum();
        let leaked = -libm::expm1(log);
        let error = (16.0 + 2.0 * self.parts.len() as f64) * UNIT;
        Bound::new(leaked * (1.0 - error), (leaked * (1.0 + error)).min(1.0))
    }

    /// The parts with their leaks taken out, all unsampled Gaussians as one.
    fn finite_parts(&self) -> Vec<(Event, f64)> {
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

/// `ln E e^(s L)` of a composition, rounded up; infinite where mass has no finite loss.
pub(crate) fn log_moment(composition: &Composition, direction: Direction, s: f64) -> f64 {
    let sampled = composition.parts.iter().any(|(event, _)| event.rate < 1.0);
    if composition.leaked().upper() > 0.0 || (sampled && s > MOST_ORDER) {
        return f64::INFINITY;
    }
    let mix = Mix::new(&composition.finite_parts(), direction, 700.0);
    let (moment, error) = mix.log_moment_and_error(s);
    moment + error
}

/// The least epsilon over all orders, rounded up.
pub(crate) fn least_epsilon_by_moments(
    composition: &Composition,
    direction: Direction,
    delta: Delta,
) -> f64 {
    let leaked = composition.leaked().upper();
    let left = (delta.get() - leaked) / (1.0 - leaked) * (1.0 - 8.0 * UNIT);
    if left <= 0.0 {
        return if delta == Delta::ZERO && leaked == 0.0 {
            composition.most_loss()
        } else {
            f64::INFINITY
        };
    }
    let parts = composition.finite_parts();
    if parts.is_empty() {
        return 0.0;
    }
    let mix = Mix::new(&parts, direction, 700.0);
    let (_, epsilon) = order_for_delta(&mix, libm::log(left), MOST_ORDER);
    (epsilon + 1e-12 * (1.0 + epsilon.abs())).clamp(0.0, composition.most_loss())
}

//! Compositions whose curve has a closed form: Gaussians, and a single use of sampled or plain noise.

use super::event::{Direction, Event, Kind};
use super::grid::Query;
use crate::bisection::bisect;
use crate::gaussian::{gaussian_delta, gaussian_epsilon};
use crate::outward::{Between, Lower, Upper, larger, smaller};
use crate::params::{Delta, Epsilon};
use crate::rounding::UNIT;

/// The answer, where there is a closed form.
pub(crate) fn closed(
    parts: &[(Event, f64)],
    direction: Direction,
    query: Query,
) -> Option<Between> {
    match parts {
        [] => Some(Between::ZERO),
        [(event, count)] => match (event.kind, event.rate >= 1.0) {
            (Kind::Gaussian { noise_multiplier }, true) => Some(gaussian(noise_multiplier, query)),
            (Kind::Gaussian { .. } | Kind::Laplace { .. }, _) if *count <= 1.0 => {
                Some(Single { event: *event, direction }.answer(query))
            }
            _ => None,
        },
        _ => None,
    }
}

/// All Gaussians as one. Each variance is off by three roundings, their sum by two, the root and its inverse by two more: less than
/// six units of the multiplier.
fn gaussian(noise_multiplier: f64, query: Query) -> Between {
    let slack = 8.0 * UNIT;
    let (less, more) = (noise_multiplier * (1.0 - slack), noise_multiplier * (1.0 + slack));
    match query {
        Query::Epsilon(delta) => {
            let upper = Delta::of(delta).and_then(|delta| gaussian_epsilon(less, delta));
            // The closed form is at most 1e-13 above the truth.
            let lower = Delta::of(delta * (1.0 + 2e-13)).and_then(|d| gaussian_epsilon(more, d));
            Between {
                lower: lower.map_or(Lower::ZERO, |e| Lower::new(e.get()).lowered(8.0)),
                upper: upper.map_or(Upper::UNKNOWN, |e| Upper::new(e.get())),
            }
        }
        Query::Delta(epsilon) => Between {
            lower: Lower::new(gaussian_from_below(more, epsilon)),
            upper: Upper::new(gaussian_from_above(less, epsilon)),
        },
    }
}

fn at_least_0(epsilon: f64) -> Epsilon {
    Epsilon::of(larger(epsilon, 0.0)).unwrap_or(Epsilon::ZERO)
}

/// A delta type ends just below 1, and so close to it the truth may lie above.
fn gaussian_from_above(noise_multiplier: f64, epsilon: f64) -> f64 {
    let delta = gaussian_delta(noise_multiplier, at_least_0(epsilon));
    if delta == Delta::MAX { 1.0 } else { delta.get() }
}

fn gaussian_from_below(noise_multiplier: f64, epsilon: f64) -> f64 {
    if !epsilon.is_finite() {
        return 0.0;
    }
    let delta = gaussian_delta(noise_multiplier, at_least_0(epsilon));
    // Next to 1 above the mean of the loss, where delta is at most 1/2: nothing was known.
    if delta == Delta::MAX && epsilon * noise_multiplier >= 0.5 / noise_multiplier {
        return 0.0;
    }
    let delta = delta.get() * (1.0 - 2e-13);
    // Below, the rounding of subnormals counts.
    if delta < 1e-300 { 0.0 } else { delta }
}

/// One use of noise, perhaps sampled.
///
/// With `r` the likelihood ratio of the plain pair and `q` the rate, the curve is `E (1 - q + q r - e^e)_+ = q d(e')` in the direction of
/// removal, `e^e' = 1 + (e^e - 1) / q`; and `E (1 - e^e (1 - q + q r))_+ = k d(e'')` in the other, `k = 1 - e^e (1 - q)`, `e^e'' = e^e q / k`,
/// where `d` is the curve of the plain pair, which is its own mirror image.
#[derive(Debug)]
struct Single {
    event: Event,
    direction: Direction,
}

/// Units that cover the rounding of a shifted epsilon.
const SHIFT: f64 = 16.0 * UNIT;

impl Single {
    /// The plain curve on one side; `epsilon` may be a few units off.
    fn plain(&self, epsilon: f64, upper: bool) -> f64 {
        let room = SHIFT * (1.0 + epsilon.abs());
        let at = if upper { larger(epsilon - room, 0.0) } else { epsilon + room };
        match self.event.kind {
            Kind::Gaussian { noise_multiplier } if upper => {
                gaussian_from_above(noise_multiplier, at)
            }
            Kind::Gaussian { noise_multiplier } => gaussian_from_below(noise_multiplier, at),
            // 1 - e^((e - loss) / 2).
            Kind::Laplace { epsilon: loss } => {
                let room = if upper { SHIFT } else { -SHIFT };
                -libm::expm1(smaller(at - loss * (1.0 + room), 0.0) / 2.0) * (1.0 + room)
            }
            _ => unreachable!("only noise with a continuous law is asked for"),
        }
    }

    /// A factor before the plain curve, and the epsilon at which it is read. Where the factor is 0 no mass is left: the curve is 0.
    fn reduced(&self, epsilon: f64, upper: bool) -> Option<(f64, f64)> {
        let q = self.event.rate;
        if q >= 1.0 {
            return Some((1.0, epsilon));
        }
        if self.direction == Direction::Remove {
            // No overflow: e^600 / 1e-9. Above, the 1 is below all rounding.
            let shifted = if epsilon > 600.0 {
                epsilon - libm::log(q)
            } else {
                libm::log1p(libm::expm1(epsilon) / q)
            };
            return Some((q, shifted));
        }
        let grown = (1.0 - q) * libm::expm1(epsilon);
        let k = q - grown + if upper { SHIFT } else { -SHIFT } * (q + grown);
        // One logarithm: those of a small rate and of `k` would each be off by more than their difference may be.
        (k > 0.0).then(|| (k, larger(epsilon + libm::log(q / k), 0.0)))
    }

    fn upper(&self, epsilon: f64) -> Upper {
        let Some((factor, at)) = self.reduced(epsilon, true) else { return Upper::ZERO };
        Upper::new(factor).raised(32.0).times(Upper::new(self.plain(at, true))).or(Upper::ONE)
    }

    fn lower(&self, epsilon: f64) -> Lower {
        let Some((factor, at)) = self.reduced(epsilon, false) else { return Lower::ZERO };
        Lower::new(factor).lowered(32.0).times(Lower::new(self.plain(at, false)))
    }

    fn answer(&self, query: Query) -> Between {
        match query {
            Query::Delta(epsilon) => {
                Between { lower: self.lower(epsilon), upper: self.upper(epsilon) }
            }
            Query::Epsilon(delta) => {
                let fits = |epsilon: f64| self.upper(epsilon).get() <= delta;
                let exceeds = |epsilon: f64| self.lower(epsilon).get() >= delta;
                if fits(0.0) {
                    return Between::ZERO;
                }
                let mut high = 1.0;
                while !fits(high) {
                    high *= 2.0;
                    if high > 1e9 {
                        return Between::ANY;
                    }
                }
                let upper = bisect(high, 0.0, fits).0;
                let lower = if exceeds(0.0) { bisect(0.0, upper, exceeds).0 } else { 0.0 };
                Between { lower: Lower::new(lower), upper: Upper::new(upper) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use dp_check::{Interval, hockey_stick};

    use super::*;

    /// A delta between both sides of the curve at 0: nothing is known to be lost.
    #[test]
    fn where_rounding_decides_nothing_is_claimed_from_below() {
        for direction in [Direction::Remove, Direction::Add] {
            let event = Event::laplace(1.0).unwrap().poisson_sampled(0.5).unwrap();
            let single = Single { event, direction };
            let (lower, upper) = (single.lower(0.0).get(), single.upper(0.0).get());
            let delta = f64::midpoint(lower, upper);
            assert!(lower < delta && delta < upper, "{lower} {upper}");
            let found = single.answer(Query::Epsilon(delta));
            assert!(found.lower.get() <= 0.0 && found.upper.get() > 0.0, "{found:?}");
        }
    }

    /// Values to 20 digits. The logarithms of a small rate and of the mass that is left are larger than what they differ by, and so is their rounding.
    #[test]
    fn rarely_added_records_are_priced_on_the_right_side() {
        for (rate, loss, epsilon, whole, rest) in [
            (1.84e-8, 0.0062, 1.137e-10, 1.354_087_878_901_558_4e-14, -5.667e-32),
            (3.26e-9, 0.0068, 2.209e-11, 1.399_676_099_969_369_5e-15, 1.537e-31),
            (3.42e-8, 0.0046, 1.568e-10, 7.935_918_753_190_775e-14, 2.097e-29),
            (2.94e-9, 0.0059, 1.725e-11, 2.246_498_013_413_492_3e-14, 5.633e-31),
        ] {
            let kind = Kind::Laplace { epsilon: loss };
            let single = Single { event: Event { kind, rate }, direction: Direction::Add };
            let (below, above) = (single.lower(epsilon).get(), single.upper(epsilon).get());
            let off = [(below - whole) - rest, (above - whole) - rest];
            assert!(off[0] <= 0.0 && off[1] >= 0.0, "{rate}: {off:?}");
            assert!(above - below <= 1e-8 * whole, "{rate}: {off:?}");
        }
    }

    /// In intervals of big integers, without a logarithm: `e^e'` is `1 + (e^e - 1) / q` and `e^e q / k`.
    #[test]
    fn one_use_is_enclosed_wherever_it_is_asked() {
        let of = Interval::of;
        let one = of(1.0);
        for i in 0..300_u32 {
            let share =
                |steps: u32| f64::from(i.wrapping_mul(2_654_435_761) / steps % 1000) / 1000.0;
            let (rate, loss) = (libm::exp(-20.0 * share(1)), libm::exp(4.0 * share(1000) - 3.0));
            let direction = if i % 2 == 0 { Direction::Remove } else { Direction::Add };
            let kind = if i % 10 == 0 {
                Kind::Gaussian { noise_multiplier: 1.0 / loss }
            } else {
                Kind::Laplace { epsilon: loss }
            };
            let single = Single { event: Event { kind, rate }, direction };
            // Up to the largest loss, and next to it.
            let near = libm::exp(-20.0 * share(1_000_000));
            let most = Event { kind: Kind::Laplace { epsilon: loss }, rate }.most_loss().get();
            let most =
                if direction == Direction::Remove { most } else { rate * -libm::expm1(-loss) };
            let epsilon = most * (1.0 - near);
            let (q, grown) = (of(rate), of(epsilon).exp());
            let (factor, place) = if direction == Direction::Remove {
                (q.clone(), &one + &(&(&grown - &one) / &q))
            } else {
                let left = &one - &(&grown * &(&one - &q));
                let place = &(&grown * &q) / &left;
                (left, place)
            };
            let plain = if i % 10 == 0 {
                hockey_stick(&(&one / &of(1.0 / loss)), &place.ln())
            } else {
                (&one - &(&place / &of(loss).exp()).sqrt()).positive_part()
            };
            let truth = &factor * &plain;
            let (lower, upper) = (single.lower(epsilon).get(), single.upper(epsilon).get());
            assert!(
                !truth.reaches_below(lower) && !truth.reaches_above(upper),
                "{single:?} {epsilon}: {lower} {upper} {truth}"
            );
            // Both sides of an epsilon are those of the curve.
            if upper > 0.0 {
                let found = single.answer(Query::Epsilon(upper));
                assert!(single.upper(found.upper.get()).get() <= upper, "{single:?} {upper}");
                assert!(found.lower.get() <= epsilon, "{single:?} {upper}: {found:?}");
            }
        }
    }
}

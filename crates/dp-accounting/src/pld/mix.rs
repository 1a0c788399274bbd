//! A composition as transforms: its moments, and the line along which it is inverted.

use super::event::{Direction, Event, Kind};
use super::factor::{Factor, Lattice, Ready};
use super::grid::Query;
use super::line::{Course, LOG_MISSED, Line};
use super::moments::{LogPoints, Moments, log_peak, order_for_delta, order_for_epsilon};
use super::pair::Pair;
use super::split::{Known, MOST_USES, split};
use super::walk::QUIET;
use crate::bisection::bisect;
use crate::outward::{Lower, Upper, larger, smaller, sum, total, within};
use crate::rounding::UNIT;

const MOST_TILT: f64 = 1e6;
/// Times the standard deviation of the loss, no tilt is below this: the period is its inverse.
const LEAST_TILT: f64 = 0.3;
/// Mixes of more parts are inverted at the first tilt.
const MOST_CHOICE: usize = 8;
/// `ln` of what a tilt that is not the best may cost in precision, of what the roundings of all uses leave.
const MOST_DIGITS: f64 = 12.0;
/// About the rounding error of one use, and the error that is aimed at.
const ONE_USE: f64 = 3e-14;
const AIM: f64 = 5e-7;

/// Gaussian variance of the loss, and the rest.
pub(crate) struct Mix {
    variance: f64,
    factors: Vec<(Factor, f64)>,
    cut: Upper,
}

impl Moments for Mix {
    fn log_moment_and_error(&self, s: f64) -> (f64, f64) {
        let gaussian = self.gaussian_moment(s);
        let (mut log, mut error) = (gaussian, 16.0 * UNIT * gaussian.abs());
        for (factor, count) in &self.factors {
            let (one, off) = factor.log_moment_and_error(s);
            log += count * one;
            error += count * (off + UNIT * (4.0 + self.factors.len() as f64 / 4.0) * one.abs());
        }
        (log, error)
    }
}

/// A mix with the mass that its laws were cut by: what a claim by moments alone is made of.
pub(crate) struct Whole<'a>(pub(crate) &'a Mix);

impl Moments for Whole<'_> {
    fn log_moment_and_error(&self, s: f64) -> (f64, f64) {
        (self.upper(s).get(), 0.0)
    }

    fn upper(&self, s: f64) -> Upper {
        let gaussian = self.0.gaussian_moment(s);
        let factors = self.0.factors.iter();
        let others = total(factors.map(|(factor, k)| factor.whole_moment(s).of_uses(*k)));
        Upper::near(gaussian, 16.0 * UNIT * gaussian.abs()) + others
    }
}

/// A mix with one more Gaussian.
struct Smoothed<'a>(&'a Mix, f64);

impl Moments for Smoothed<'_> {
    fn log_moment_and_error(&self, s: f64) -> (f64, f64) {
        let (log, error) = self.0.log_moment_and_error(s);
        let more = 0.5 * self.1 * (s * s + s);
        (log + more, error + UNIT * (2.0 * log.abs() + 16.0 * more))
    }
}

impl Mix {
    /// Takes the parts of a mix apart; discrete Gaussians are cut where the mass left out is about `e^(-log_cut)`.
    pub(crate) fn new(parts: &[(Event, f64)], direction: Direction, log_cut: f64) -> Self {
        let mut mix = Self { variance: 0.0, factors: Vec::new(), cut: Upper::ZERO };
        for &(event, count) in parts {
            let factor = match event.kind {
                Kind::Gaussian { noise_multiplier } if event.rate >= 1.0 => {
                    // At most one part is a Gaussian: they were added up before.
                    mix.variance += count / (noise_multiplier * noise_multiplier);
                    continue;
                }
                Kind::Laplace { epsilon } if event.rate >= 1.0 => Factor::Laplace(epsilon),
                Kind::BoundedRange { eta } => Factor::Range(eta),
                _ => {
                    let pair = Pair::new(event, direction, log_cut);
                    if let Some(smooth) = pair.smooth {
                        Factor::Sampled(smooth, pair.atoms)
                    } else {
                        mix.cut = mix.cut + Upper::new(pair.cut).of_uses(count);
                        let whole = match event.kind {
                            Kind::DiscreteGaussian { variance, sensitivity } => {
                                Some(Lattice { variance, shift: f64::from(sensitivity) })
                            }
                            _ => None,
                        };
                        Factor::Atoms(LogPoints::new(pair.atoms), whole)
                    }
                }
            };
            mix.factors.push((factor, count));
        }
        // Wide ones first: their product vanishes soonest.
        mix.factors.sort_by_cached_key(|(factor, _)| {
            std::cmp::Reverse(larger(factor.log_moment(1.0), 0.0).to_bits())
        });
        mix
    }

    /// Orders above this are not searched, and no moment is computed: sampled noise takes too many points there.
    pub(crate) fn most_order(&self) -> f64 {
        let mut most = MOST_TILT;
        for (factor, _) in &self.factors {
            most = smaller(most, factor.most_order());
        }
        most
    }

    fn gaussian_moment(&self, s: f64) -> f64 {
        if self.variance > 0.0 { 0.5 * self.variance * (s * s + s) } else { 0.0 }
    }

    /// Whether this is one kind of sampled Laplace noise whose atoms keep the transform alive for ever: lattices are cheaper then.
    fn stays_alive(&self, query: Query) -> bool {
        let [(Factor::Sampled(_, atoms), count)] = &self.factors[..] else { return false };
        let (tilt, _) = self.first_course(query);
        let log_moment = self.factors[0].0.log_moment(tilt);
        let single = sum(atoms.iter().map(|(loss, m)| m * libm::exp(tilt * loss - log_moment)));
        self.variance <= 0.0 && count * libm::log(single) > -QUIET
    }

    /// The tilt and the epsilon around which a line is good.
    fn course(&self, query: Query) -> (f64, f64) {
        let (tilt, epsilon) = self.first_course(query);
        (self.shorten(tilt, epsilon), epsilon)
    }

    /// The best tilt, however long the period.
    fn first_course(&self, query: Query) -> (f64, f64) {
        let (tilt, epsilon) = match query {
            Query::Epsilon(delta) => {
                let (tilt, epsilon) = order_for_delta(self, libm::log(delta), self.most_order());
                if epsilon > 0.0 {
                    (tilt, epsilon)
                } else {
                    (order_for_epsilon(self, 0.0, self.most_order()).0, 0.0)
                }
            }
            Query::Delta(epsilon) => {
                (order_for_epsilon(self, epsilon, self.most_order()).0, epsilon)
            }
        };
        let normal = self.normal();
        let least = LEAST_TILT / normal.1;
        if tilt >= least || least.is_nan() {
            return (tilt, epsilon);
        }
        // A delta next to 1: moments say nothing there, and the tilt need not be small. The losses are about normal.
        match query {
            Query::Epsilon(delta) => (least, normal_epsilon(normal, delta)),
            Query::Delta(epsilon) => (least, epsilon),
        }
    }

    /// Mean and standard deviation of the loss, roughly.
    fn normal(&self) -> (f64, f64) {
        let (above, below) = (self.log_moment(1e-3), self.log_moment(-1e-3));
        ((above - below) / 2e-3, larger((above + below) / 1e-6, 1e-12).sqrt())
    }

    /// A line for a few uses of Laplace noise, whose atoms keep the transform alive.
    pub(crate) fn split(&self, query: Query) -> Option<Line> {
        let [(factor, count)] = &self.factors[..] else { return None };
        let &Factor::Laplace(end) = factor else { return None };
        if self.variance > 0.0 || !(2.0..=MOST_USES).contains(count) {
            return None;
        }
        let (tilt, center) = self.course(query);
        let known = Known { end, count: *count };
        // Where the tilt is as large as it gets, the bound by moments may be past the largest loss.
        let center = match query {
            Query::Epsilon(delta) if center >= end * count => known.epsilon(delta),
            _ => center,
        };
        let (log_scale, log_error) = self.log_moment_and_error(tilt);
        let course = Course {
            tilt,
            period: period(self, tilt, center)?,
            variance: 0.0,
            extra: 0.0,
            log_scale,
            log_error,
            cut: self.cut,
            center,
        };
        // What may be left out, relative to the curve, which falls at about the rate of the tilt.
        let aim = match query {
            Query::Epsilon(_) => within(1e-9 * center * tilt, 1e-9, 1e-7),
            Query::Delta(_) => 1e-7,
        };
        split(known, factor.log_moment(tilt), course, aim)
    }

    /// A line that is good around the answer to `query`, or nothing if it would take too much work.
    pub(crate) fn invert(&self, query: Query, gap: f64, effort: f64) -> Option<Line> {
        if self.stays_alive(query) {
            return None;
        }
        let (tilt, epsilon) = self.course(query);
        // The added Gaussian moves epsilon by about its variance times 1 + tilt.
        let added = 0.5 * gap * larger(epsilon, 1.0) / (1.0 + tilt);
        let mut factors = self
            .factors
            .iter()
            .map(|(factor, count)| Ready::new(factor, *count, tilt))
            .collect::<Option<Vec<_>>>()?;
        let extras = if self.factors.len() > 1 { 4 } else { 1 };
        [0.0, added, 4.0 * added, 64.0 * added]
            .into_iter()
            .take(extras)
            .find_map(|extra| self.line(&mut factors, (tilt, epsilon), extra, effort))
    }

    /// A tilt at most `tilt` for which the period is short. Where rare large losses begin to dominate, a little less tilt makes it
    /// much shorter, and costs some digits of the many that there are.
    fn shorten(&self, tilt: f64, epsilon: f64) -> f64 {
        if self.factors.len() > MOST_CHOICE {
            return tilt;
        }
        let height = |s: f64| self.log_moment(s) - s * epsilon + log_peak(s);
        let lowest = height(tilt);
        let uses = sum(self.factors.iter().map(|(_, count)| *count));
        let most_digits = within(libm::log(AIM / (uses * ONE_USE)), 0.0, MOST_DIGITS);
        let cost = |s: f64| {
            let digits = height(s) - lowest;
            let period = period(self, s, epsilon).unwrap_or(f64::INFINITY);
            if digits > most_digits { f64::INFINITY } else { libm::log(period) + digits / 16.0 }
        };
        let mut best = (tilt, cost(tilt));
        for _ in 0..6 {
            let next = best.0 * std::f64::consts::FRAC_1_SQRT_2;
            let value = cost(next);
            if value >= best.1 {
                break;
            }
            best = (next, value);
        }
        best.0
    }

    fn line(
        &self,
        factors: &mut [Ready<'_>],
        (tilt, epsilon): (f64, f64),
        extra: f64,
        effort: f64,
    ) -> Option<Line> {
        let smoothed = Smoothed(self, extra);
        let (_, log_error) = self.log_moment_and_error(tilt);
        let course = Course {
            tilt,
            period: period(&smoothed, tilt, epsilon)?,
            variance: self.variance + extra,
            extra,
            log_scale: smoothed.log_moment(tilt),
            log_error,
            cut: self.cut,
            center: epsilon,
        };
        Line::new(course, factors, effort)
    }
}

/// About where the curve of a normal loss reaches `delta`.
fn normal_epsilon((mean, deviation): (f64, f64), delta: f64) -> f64 {
    let above = |x: f64| 0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2);
    let curve = |epsilon: f64| {
        let place = (mean - epsilon) / deviation;
        let log = epsilon - mean + 0.5 * deviation * deviation;
        above(place) - libm::exp(smaller(log, 700.0)) * above(place - deviation)
    };
    bisect(0.0, larger(mean, 0.0) + 40.0 * deviation, |epsilon| curve(epsilon) >= delta).0
}

/// A period after which the copies are negligible: each side by the best of a few orders, an order that overflows by none.
fn period(mix: &dyn Moments, tilt: f64, epsilon: f64) -> Option<f64> {
    let here = mix.lower(tilt) - Upper::near(tilt * epsilon, UNIT * tilt * epsilon);
    let more = |order: f64, x: f64, peak: f64| {
        let off = UNIT * order * epsilon + 8.0 * UNIT * peak.abs();
        let copy = mix.upper(order) + Upper::near(peak - order * epsilon, off);
        (copy - here + Upper::new(LOG_MISSED)).max(Upper::ONE).over(Lower::new(x))
    };
    let (mut up, mut down) = (Upper::UNKNOWN, Upper::UNKNOWN);
    for power in -6..8 {
        let x = libm::exp2(f64::from(power)) * smaller(0.3 + tilt, 8.0);
        // A copy at `epsilon + period`: Chernoff at a larger order. Further copies fall by `e^(-x period)`.
        up = up.or(more(tilt + x, x, log_peak(tilt + x)));
        if x < tilt {
            down = down.or(more(tilt - x, x, 0.0));
        }
    }
    // No curve is above 1.
    let whole = (Upper::new(LOG_MISSED) - here).max(Upper::ONE).over(Lower::new(tilt));
    let period = up.max(down.or(whole)).max(Upper::new(1e-6));
    // Queries a little off the centre must be covered, too.
    period.is_known().then(|| 1.1 * period.get())
}

//! A composition as transforms: its moments, and the line along which it is inverted.

use super::event::{Direction, Event, Kind};
use super::factor::{Factor, Ready};
use super::grid::Query;
use super::line::{Course, LOG_MISSED, Line};
use super::moments::{Moments, log_peak, order_for_delta, order_for_epsilon};
use super::pair::Pair;
use super::split::{Known, MOST_USES, split};
use crate::rounding::UNIT;

const MOST_TILT: f64 = 1e6;
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
    cut: f64,
}

impl Moments for Mix {
    fn log_moment(&self, s: f64) -> f64 {
        self.log_moment_and_error(s).0
    }
}

/// A mix with one more Gaussian.
struct Smoothed<'a>(&'a Mix, f64);

impl Moments for Smoothed<'_> {
    fn log_moment(&self, s: f64) -> f64 {
        self.0.log_moment(s) + 0.5 * self.1 * (s * s + s)
    }
}

impl Mix {
    /// Takes the parts of a mix apart; discrete Gaussians are cut where the mass left out is about `e^(-log_cut)`.
    pub(crate) fn new(parts: &[(Event, f64)], direction: Direction, log_cut: f64) -> Self {
        let mut mix = Self { variance: 0.0, factors: Vec::new(), cut: 0.0 };
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
                        mix.cut += count * pair.cut;
                        Factor::Atoms(pair.atoms)
                    }
                }
            };
            mix.factors.push((factor, count));
        }
        // Wide ones first: their product vanishes soonest.
        mix.factors.sort_by_cached_key(|(factor, _)| {
            std::cmp::Reverse(factor.log_moment(1.0).max(0.0).to_bits())
        });
        mix
    }

    /// `ln E e^(s L)` and how far it may be off.
    pub(crate) fn log_moment_and_error(&self, s: f64) -> (f64, f64) {
        let gaussian = 0.5 * self.variance * (s * s + s);
        let (mut log, mut error) = (gaussian, 16.0 * UNIT * gaussian.abs());
        for (factor, count) in &self.factors {
            let (one, off) = factor.log_moment_and_error(s);
            log += count * one;
            error += count * (off + UNIT * (4.0 + self.factors.len() as f64 / 4.0) * one.abs());
        }
        (log, error)
    }

    /// The tilt and the epsilon around which a line is good.
    fn course(&self, query: Query) -> (f64, f64) {
        let (tilt, epsilon) = match query {
            Query::Epsilon(delta) => {
                let (tilt, epsilon) = order_for_delta(self, libm::log(delta), MOST_TILT);
                if epsilon > 0.0 {
                    (tilt, epsilon)
                } else {
                    (order_for_epsilon(self, 0.0, MOST_TILT).0, 0.0)
                }
            }
            Query::Delta(epsilon) => (order_for_epsilon(self, epsilon, MOST_TILT).0, epsilon),
        };
        (self.shorten(tilt, epsilon), epsilon)
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
            Query::Epsilon(_) => (1e-9 * center * tilt).clamp(1e-9, 1e-7),
            Query::Delta(_) => 1e-7,
        };
        split(known, factor.log_moment(tilt), course, aim)
    }

    /// A line that is good around the answer to `query`, or nothing if it would take too much work.
    pub(crate) fn invert(&self, query: Query, gap: f64) -> Option<Line> {
        let (tilt, epsilon) = self.course(query);
        // The added Gaussian moves epsilon by about its variance times 1 + tilt.
        let added = 0.5 * gap * epsilon.max(1.0) / (1.0 + tilt);
        let mut factors = self
            .factors
            .iter()
            .map(|(factor, count)| Ready::new(factor, *count, tilt))
            .collect::<Option<Vec<_>>>()?;
        let extras = if self.factors.len() > 1 { 4 } else { 1 };
        [0.0, added, 4.0 * added, 64.0 * added]
            .into_iter()
            .take(extras)
            .find_map(|extra| self.line(&mut factors, tilt, epsilon, extra))
    }

    /// A tilt at most `tilt` for which the period is short. Where rare large losses begin to dominate, a little less tilt makes it
    /// much shorter, and costs some digits of the many that there are.
    fn shorten(&self, tilt: f64, epsilon: f64) -> f64 {
        if self.factors.len() > MOST_CHOICE {
            return tilt;
        }
        let height = |s: f64| self.log_moment(s) - s * epsilon + log_peak(s);
        let lowest = height(tilt);
        let uses: f64 = self.factors.iter().map(|(_, count)| count).sum();
        let most_digits = libm::log(AIM / (uses * ONE_USE)).clamp(0.0, MOST_DIGITS);
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

    fn line(&self, factors: &mut [Ready<'_>], tilt: f64, epsilon: f64, extra: f64) -> Option<Line> {
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
        Line::new(course, factors)
    }
}

/// A period after which the copies are negligible.
fn period(mix: &dyn Moments, tilt: f64, epsilon: f64) -> Option<f64> {
    let here = mix.log_moment(tilt) - tilt * epsilon;
    let (mut up, mut down) = (f64::INFINITY, f64::INFINITY);
    for power in -6..8 {
        let x = libm::exp2(f64::from(power)) * (0.3 + tilt).min(8.0);
        // A copy at `epsilon + period`: Chernoff at a larger order. Further copies fall by `e^(-x period)`.
        let order = tilt + x;
        let excess = mix.log_moment(order) - order * epsilon + log_peak(order) - here + LOG_MISSED;
        up = up.min(excess.max(1.0) / x);
        if x < tilt {
            let order = tilt - x;
            let excess = mix.log_moment(order) - order * epsilon - here + LOG_MISSED;
            down = down.min(excess.max(1.0) / x);
        }
    }
    // No curve is above 1.
    down = down.min((LOG_MISSED - here).max(1.0) / tilt);
    let period = up.max(down).max(1e-6);
    // Queries a little off the centre must be covered, too.
    period.is_finite().then_some(1.1 * period)
}

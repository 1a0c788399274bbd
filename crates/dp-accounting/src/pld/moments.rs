//! `K(s) = ln E e^(s L)` of pairs and of laws: where to tilt, how far the mass reaches, and a bound at every epsilon.

use super::law::Law;
use crate::outward::{Lower, Upper, larger, largest, least as least_of, sum, within};
use crate::rounding::UNIT;

/// Something with a logarithmic moment.
pub(crate) trait Moments {
    /// `ln E e^(s L)` for real `s`, and how far it may be off.
    fn log_moment_and_error(&self, s: f64) -> (f64, f64);

    /// The computed value, for choosing an order.
    fn log_moment(&self, s: f64) -> f64 {
        self.log_moment_and_error(s).0
    }

    fn upper(&self, s: f64) -> Upper {
        let (log, error) = self.log_moment_and_error(s);
        Upper::near(log, error)
    }

    fn lower(&self, s: f64) -> Lower {
        let (log, error) = self.log_moment_and_error(s);
        Lower::near(log, error)
    }
}

/// `ln` of `sup_x e^(-s x) (1 - e^-x) = s^s / (1 + s)^(1 + s)`, for `s > 0`.
pub(crate) fn log_peak(s: f64) -> f64 {
    -s * libm::log1p(1.0 / s) - libm::log1p(s)
}

/// A bound on the epsilon at `delta > 0` by the moment of order `s > 0`.
pub(crate) fn epsilon_by_moment(sum: &dyn Moments, s: f64, delta: f64) -> Upper {
    let (log_delta, peak) = (libm::log(delta), log_peak(s));
    let rest = Upper::near(peak - log_delta, 8.0 * UNIT * (1.0 + peak.abs() + log_delta.abs()));
    let total = sum.upper(s) + rest;
    if total.get() <= 0.0 { Upper::ZERO } else { total.over(Lower::new(s)) }
}

/// A bound on the delta at `epsilon` by the moment of order `s > 0`.
pub(crate) fn delta_by_moment(sum: &dyn Moments, s: f64, epsilon: f64) -> Upper {
    let peak = log_peak(s);
    let off = 8.0 * UNIT * (1.0 + peak.abs() + s * epsilon);
    (sum.upper(s) + Upper::near(peak - s * epsilon, off)).exp().or(Upper::ONE)
}

/// A sum of losses, as far as its moments go: `count` times each part.
pub(crate) struct Sum<'a> {
    pub(crate) parts: Vec<(&'a dyn Moments, f64)>,
}

impl Moments for Sum<'_> {
    fn log_moment_and_error(&self, s: f64) -> (f64, f64) {
        let (mut log, mut error) = (0.0, 0.0);
        let units = sum_units(self.parts.len());
        for (part, count) in &self.parts {
            let (one, off) = part.log_moment_and_error(s);
            log += count * one;
            error += count * (off + UNIT * units * one.abs());
        }
        (log, error)
    }
}

/// What each term of a sum may be off by, in units of itself: its product, and as many partial sums as there are terms, none larger than the whole.
pub(crate) fn sum_units(terms: usize) -> f64 {
    3.25 + terms as f64
}

/// Orders that are searched: `e^-7 .. e^most`.
const LEAST_LOG: f64 = -7.0;

/// Least of a function that falls and then rises, by golden section over `ln s`.
fn least(low: f64, high: f64, mut f: impl FnMut(f64) -> f64) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_894_8;
    let (mut a, mut b) = (low, high);
    let (mut x, mut y) = (b - GOLDEN * (b - a), a + GOLDEN * (b - a));
    let (mut fx, mut fy) = (f(libm::exp(x)), f(libm::exp(y)));
    while b - a > 1e-4 {
        // Infinite values lie at the high end.
        if fx <= fy || fy.is_nan() {
            (b, y, fy) = (y, x, fx);
            x = b - GOLDEN * (b - a);
            fx = f(libm::exp(x));
        } else {
            (a, x, fx) = (x, y, fy);
            y = a + GOLDEN * (b - a);
            fy = f(libm::exp(y));
        }
    }
    libm::exp(f64::midpoint(a, b))
}

/// The order `s` whose bound on the epsilon at `ln(delta)` is least, and that bound.
pub(crate) fn order_for_delta(sum: &dyn Moments, log_delta: f64, most: f64) -> (f64, f64) {
    let bound = |s: f64| (sum.log_moment(s) - log_delta + log_peak(s)) / s;
    let s = least(LEAST_LOG, libm::log(most), bound);
    (s, bound(s))
}

/// The order `s` whose bound on `ln(delta)` at `epsilon` is least, and that bound.
pub(crate) fn order_for_epsilon(sum: &dyn Moments, epsilon: f64, most: f64) -> (f64, f64) {
    let bound = |s: f64| sum.log_moment(s) - s * epsilon + log_peak(s);
    let s = least(LEAST_LOG, libm::log(most), bound);
    (s, bound(s))
}

/// A law thinned to few points, each mass split between the ends of its bin so that the mean stays: its moments are bounds from above.
#[derive(Clone, Debug)]
pub(crate) struct Thin {
    points: LogPoints,
}

/// So many bins for all laws of a mix together, but no law has more than [`MOST_BINS`] or less than [`LEAST_BINS`].
const BINS: usize = 8192;
const MOST_BINS: usize = 768;
const LEAST_BINS: usize = 16;

impl Thin {
    /// Of the upper or of the lower masses of one of so many laws.
    pub(crate) fn new(law: &Law, masses: &[f64], laws: usize) -> Self {
        let bins = (BINS / laws).clamp(LEAST_BINS, MOST_BINS);
        let at = |i: usize| law.origin + law.index[i] as f64 * law.step;
        let n = law.index.len();
        let raise = 1.0 + law.slack;
        if n <= 2 * bins {
            return Self { points: LogPoints::new((0..n).map(|i| (at(i), masses[i] * raise))) };
        }
        // By count of knots, so that the bins are fine where the knots are.
        let size = n.div_ceil(bins);
        let mut points = Vec::with_capacity(2 * bins + 2);
        for start in (0..n).step_by(size) {
            let end = (start + size).min(n) - 1;
            let (low, high) = (at(start), at(end));
            let (mut mass, mut moment) = (0.0, 0.0);
            for (i, one) in masses.iter().enumerate().take(end + 1).skip(start) {
                mass += one;
                moment += one * (at(i) - low);
            }
            let up = if high > low { moment / (high - low) } else { 0.0 };
            // A difference that rounding made negative counts as much as it can be off.
            points.push((low, larger(mass - up, 4.0 * UNIT * mass) * raise));
            points.push((high, up * raise));
        }
        Self { points: LogPoints::new(points) }
    }
}

impl Moments for Thin {
    fn log_moment_and_error(&self, s: f64) -> (f64, f64) {
        self.points.log_moment_and_error(s)
    }
}

/// Losses, and the logarithms of their masses: no mass is too small to count when it is tilted.
#[derive(Clone, Debug)]
pub(crate) struct LogPoints(pub(crate) Vec<(f64, f64)>);

impl LogPoints {
    /// Masses of 0 are left out.
    pub(crate) fn new(points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let points = points.into_iter().filter(|(_, mass)| *mass != 0.0);
        Self(points.map(|(loss, mass)| (loss, libm::log(mass))).collect())
    }

    /// Half the distance between the smallest and the largest loss.
    pub(crate) fn half_range(&self) -> f64 {
        let losses = || self.0.iter().map(|point| point.0);
        (largest(losses()) - least_of(losses())) / 2.0
    }
}

impl Moments for LogPoints {
    /// The error of an exponent is a few units of its two terms. Weighed by their shares `w`, the logarithms of the masses are at most
    /// `|log| + |s| far + ln n`, since `sum w |ln w| <= ln n`.
    fn log_moment_and_error(&self, s: f64) -> (f64, f64) {
        let exponent = |&(loss, log): &(f64, f64)| s * loss + log;
        let top = largest(self.0.iter().map(exponent));
        let total = sum(self.0.iter().map(|point| libm::exp(exponent(point) - top)));
        let log = top + libm::log(total);
        let far = largest(self.0.iter().map(|point| point.0.abs()));
        let n = self.0.len() as f64;
        let units = 64.0 + n + libm::log(n) + 14.0 * s.abs() * far + 4.0 * log.abs();
        (log, UNIT * units)
    }
}

/// `-ln` of the mass that the window of an exact lattice may miss, relative to the tilted whole.
pub(crate) const LOG_MISSED: f64 = 34.0;

/// Where nearly all of a tilted sum lies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach {
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// The orders, relative to the tilt, whose moments say so.
    pub(crate) down: f64,
    pub(crate) up: f64,
}

impl Reach {
    pub(crate) fn length(self) -> f64 {
        self.high - self.low
    }
}

pub(crate) fn reach(sum: &dyn Moments, tilt: f64, log_missed: f64) -> Reach {
    let here = sum.log_moment(tilt);
    let nudge = 1e-3 * within(tilt, 1e-2, 1.0);
    let (above, below) = (sum.log_moment(tilt + nudge), sum.log_moment(tilt - nudge));
    let spread = larger((above - 2.0 * here + below) / (nudge * nudge), 1e-12).sqrt();
    let (low, high) = (f64::NEG_INFINITY, f64::INFINITY);
    let mut reach = Reach { low, high, down: 0.0, up: 0.0 };
    for half_powers in -10..14 {
        let x = libm::exp2(f64::from(half_powers) / 2.0) / spread;
        let high = (sum.log_moment(tilt + x) - here + log_missed) / x;
        if high < reach.high {
            (reach.high, reach.up) = (high, x);
        }
        let low = -(sum.log_moment(tilt - x) - here + log_missed) / x;
        if low > reach.low {
            (reach.low, reach.down) = (low, x);
        }
    }
    reach
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A moment that is known.
    struct Exact(f64);

    impl Moments for Exact {
        fn log_moment_and_error(&self, _: f64) -> (f64, f64) {
            (self.0, 0.0)
        }
    }

    /// Each of many small parts is less than what a sum next to a large one rounds to: it would be lost.
    #[test]
    fn what_a_sum_of_many_parts_rounds_off_is_counted() {
        let (large, small) = (Exact(1024.0), Exact(0.999 * 1024.0 * UNIT));
        for many in [1, 10, 1_000] {
            let small = std::iter::repeat_n((&small as &dyn Moments, 1.0), many);
            let parts =
                Sum { parts: [(&large as &dyn Moments, 1.0)].into_iter().chain(small).collect() };
            assert_eq!(parts.log_moment(1.0).to_bits(), 1024.0_f64.to_bits());
            let lost = many as f64 * 0.999 * 1024.0 * UNIT;
            let room = parts.upper(1.0).get() - 1024.0;
            assert!(lost <= room && room <= 16.0 * lost, "{many}: {lost:e} {room:e}");
        }
    }
}

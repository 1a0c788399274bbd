//! `K(s) = ln E e^(s L)` of pairs and of laws: where to tilt, how far the mass reaches, and a bound at every epsilon.

use super::law::Law;

/// Something with a logarithmic moment.
pub(crate) trait Moments {
    /// `ln E e^(s L)` for real `s`.
    fn log_moment(&self, s: f64) -> f64;
}

/// `ln` of `sup_x e^(-s x) (1 - e^-x) = s^s / (1 + s)^(1 + s)`, for `s > 0`.
pub(crate) fn log_peak(s: f64) -> f64 {
    -s * libm::log1p(1.0 / s) - libm::log1p(s)
}

/// A sum of losses, as far as its moments go: `count` times each part.
pub(crate) struct Sum<'a> {
    pub(crate) parts: Vec<(&'a dyn Moments, f64)>,
}

impl Moments for Sum<'_> {
    fn log_moment(&self, s: f64) -> f64 {
        self.parts.iter().map(|(part, count)| count * part.log_moment(s)).sum()
    }
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
    points: Vec<(f64, f64)>,
}

const BINS: usize = 768;

impl Thin {
    /// Of the upper or of the lower masses.
    pub(crate) fn new(law: &Law, masses: &[f64]) -> Self {
        let at = |i: usize| law.origin + law.index[i] as f64 * law.step;
        let n = law.index.len();
        let raise = 1.0 + law.slack;
        if n <= 2 * BINS {
            let points = (0..n).map(|i| (at(i), masses[i] * raise)).collect();
            return Self { points };
        }
        // By count of knots, so that the bins are fine where the knots are.
        let size = n.div_ceil(BINS);
        let mut points = Vec::with_capacity(2 * BINS + 2);
        for start in (0..n).step_by(size) {
            let end = (start + size).min(n) - 1;
            let (low, high) = (at(start), at(end));
            let (mut mass, mut moment) = (0.0, 0.0);
            for (i, one) in masses.iter().enumerate().take(end + 1).skip(start) {
                mass += one;
                moment += one * (at(i) - low);
            }
            let up = if high > low { moment / (high - low) } else { 0.0 };
            points.push((low, (mass - up).max(0.0) * raise));
            points.push((high, up * raise));
        }
        Self { points }
    }
}

impl Moments for Thin {
    fn log_moment(&self, s: f64) -> f64 {
        log_sum(&self.points, s)
    }
}

/// `ln` of the sum of `mass e^(s loss)`.
pub(crate) fn log_sum(points: &[(f64, f64)], s: f64) -> f64 {
    let top = points
        .iter()
        .filter(|point| point.1 > 0.0)
        .map(|point| s * point.0)
        .fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = points.iter().map(|&(loss, mass)| mass * libm::exp(s * loss - top)).sum();
    top + libm::log(sum)
}

/// `ln` of the mass that a window may miss, relative to the tilted whole.
const LOG_MISSED: f64 = 34.0;

/// Where nearly all of a tilted sum lies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach {
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// The orders, relative to the tilt, whose moments say so.
    pub(crate) down: f64,
    pub(crate) up: f64,
}

pub(crate) fn reach(sum: &dyn Moments, tilt: f64) -> Reach {
    let here = sum.log_moment(tilt);
    let nudge = 1e-3 * tilt.clamp(1e-2, 1.0);
    let (above, below) = (sum.log_moment(tilt + nudge), sum.log_moment(tilt - nudge));
    let spread = ((above - 2.0 * here + below) / (nudge * nudge)).max(1e-12).sqrt();
    let (low, high) = (f64::NEG_INFINITY, f64::INFINITY);
    let mut reach = Reach { low, high, down: 0.0, up: 0.0 };
    for half_powers in -10..14 {
        let x = libm::exp2(f64::from(half_powers) / 2.0) / spread;
        let high = (sum.log_moment(tilt + x) - here + LOG_MISSED) / x;
        if high < reach.high {
            (reach.high, reach.up) = (high, x);
        }
        let low = -(sum.log_moment(tilt - x) - here + LOG_MISSED) / x;
        if low > reach.low {
            (reach.low, reach.down) = (low, x);
        }
    }
    reach
}

//! Composition on a lattice: tilt, transform, raise to powers, and one transform back.
//!
//! The masses `m_i` become `m_i e^(c l_i)`, scaled to sum 1, with `c` near the saddle point of the query: then the
//! delta that is asked for is a sum of the largest numbers around, and rounding is relative to it, however small it is.
//! What can go wrong is bounded and carried: the rounding of the transforms (a multiple of `log2(n)` units of the sum of
//! magnitudes, for every entry), of the powers, of the sums, mass that wraps around the window, and mass beyond it.

use std::cell::RefCell;

use realfft::RealFftPlanner;
use realfft::num_complex::Complex;

use super::composed::{Composed, Side};
use super::law::Law;
use super::moments::{Moments, Sum, Thin, reach};
use crate::outward::{Upper, larger, largest, smaller, sum, total};
use crate::rounding::{LongSum, UNIT};

/// Rounding of a transform of `n` numbers: every output is off by at most this, relative to the sum of magnitudes.
///
/// An output is the sum of the inputs, each multiplied by one factor per level (there are at most `log2(n)`, and one more for a real transform)
/// and added to others once or twice. A factor is the sine and cosine of a rounded angle of at most `2 pi`: off by `4 pi + 2` units. A complex
/// product is off by `sqrt(5)` units, an addition by one. That makes 20 units per level (Higham, 2002, Section 24.1).
fn transform_noise(n: usize) -> f64 {
    20.0 * (larger((n as f64).log2(), 1.0) + 2.0) * UNIT
}

thread_local! {
    /// Tables of the transforms take longer to make than a transform.
    static PLANNER: RefCell<RealFftPlanner<f64>> = RefCell::new(RealFftPlanner::new());
}

/// Below this a magnitude of the composed spectrum is taken to be 0.
const NEGLIGIBLE: f64 = 1e-30;

/// On a lattice of this step no more tilt is allowed: one entry has all the weight, and powers of `e^(tilt step)` stay far from overflow.
pub(crate) fn most_tilt(step: f64) -> f64 {
    16.0 / step
}

/// Laws on lattices of one step, with their counts.
pub(crate) struct Plan<'a> {
    pub(crate) laws: Vec<(&'a Law, f64)>,
    thin_lower: Vec<Thin>,
    thin_upper: Vec<Thin>,
}

/// The window and the tilt of one evaluation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    tilt: f64,
    /// Index of the first point of the window, counted from the sum of the origins.
    first: i64,
    size: usize,
    /// Orders that bound the tilted mass below and above the window; infinite where there is none.
    down: f64,
    up: f64,
}

impl Window {
    /// The length of a transform.
    pub(crate) fn points(self) -> f64 {
        self.size as f64
    }
}

/// Supports of at most this many points are taken whole.
const SHORT: f64 = 16384.0;

/// Transforms longer than this are refused.
pub(crate) const MOST_POINTS: usize = 1 << 22;

impl<'a> Plan<'a> {
    pub(crate) fn new(laws: Vec<(&'a Law, f64)>) -> Self {
        let thin = |law: &Law, masses: &[f64]| Thin::new(law, masses, laws.len());
        let thin_lower = laws.iter().map(|(law, _)| thin(law, &law.lower)).collect();
        let thin_upper = laws.iter().map(|(law, _)| thin(law, &law.upper)).collect();
        Self { laws, thin_lower, thin_upper }
    }

    /// The moments of the upper or of the lower laws, from above.
    pub(crate) fn moments(&self, side: Side) -> Sum<'_> {
        let counts = self.laws.iter().map(|(_, count)| *count);
        let thin = if side == Side::Upper { &self.thin_upper } else { &self.thin_lower };
        Sum { parts: thin.iter().map(|thin| thin as &dyn Moments).zip(counts).collect() }
    }

    pub(crate) fn step(&self) -> f64 {
        self.laws[0].0.step
    }

    fn origin(&self) -> f64 {
        let mut origin = LongSum::default();
        for (law, count) in &self.laws {
            origin.add(law.origin * count);
        }
        origin.get()
    }

    /// The window for `tilt`, or nothing if it would be too long or the tilt too large.
    pub(crate) fn window(&self, tilt: f64, log_missed: f64) -> Option<Window> {
        let (step, origin) = (self.step(), self.origin());
        if tilt > 1.001 * most_tilt(step) {
            return None;
        }
        let reach = reach(&self.moments(Side::Upper), tilt, log_missed);
        let end = |pick: fn(&Law) -> i64| -> f64 {
            sum(self.laws.iter().map(|(law, count)| pick(law) as f64 * count))
        };
        let first = end(|law| law.index.first().copied().unwrap_or(0));
        let last = end(|law| law.index.last().copied().unwrap_or(0));
        let from = ((reach.low - origin) / step).floor();
        let to = ((reach.high - origin) / step).ceil();
        let down = if from > first { reach.down } else { f64::INFINITY };
        let up = if to < last { reach.up } else { f64::INFINITY };
        let (from, to) = (larger(from, first), smaller(to, last));
        // A short support is cheap as a whole, and then nothing is missed.
        let whole = last - first <= SHORT;
        let (from, to) = if whole { (first, last) } else { (from, to) };
        let (down, up) = if whole { (f64::INFINITY, f64::INFINITY) } else { (down, up) };
        let points = to - from + 2.0;
        // NaN comes from moments that overflow.
        if points.is_nan() || points > MOST_POINTS as f64 || from.abs() > 1e15 {
            return None;
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
        let size = {
            let two = (larger(points, 4.0) as usize).next_power_of_two();
            // Three quarters of it, where that is enough.
            if points <= two as f64 * 0.75 && two >= 8 { two / 4 * 3 } else { two }
        };
        #[allow(clippy::cast_possible_truncation, reason = "checked above")]
        let first = from as i64;
        Some(Window { tilt, first, size, down, up })
    }

    /// The tilted law of the sum, within the window.
    pub(crate) fn compose(&self, window: Window, side: Side) -> Composed {
        let Window { tilt, first, size, down, up } = window;
        let step = self.step();
        let (forward, inverse) = PLANNER.with_borrow_mut(|planner| {
            (planner.plan_fft_forward(size), planner.plan_fft_inverse(size))
        });
        let noise = transform_noise(size);
        let mut log_scale = LongSum::default();
        let mut product: Vec<Complex<f64>> = Vec::new();
        // Per frequency, the logarithm of a bound on the magnitude with its error.
        let mut spectrum = forward.make_output_vec();
        let mut scratch = forward.make_scratch_vec();
        let mut blur: Vec<f64> = Vec::new();
        let mut input = vec![0.0; size];
        for (law, count) in &self.laws {
            input.fill(0.0);
            let masses = if side == Side::Upper { &law.upper } else { &law.lower };
            // One origin per law keeps the exponents small; powers of it go into the scale.
            let top = law
                .index
                .iter()
                .zip(masses)
                .filter(|(_, mass)| **mass > 0.0)
                .map(|(i, mass)| tilt * (*i as f64 * step) + libm::log(*mass));
            let top = largest(top);
            let mut whole = LongSum::default();
            for (i, mass) in law.index.iter().zip(masses) {
                if *mass > 0.0 {
                    let tilted = libm::exp(tilt * (*i as f64 * step) + libm::log(*mass) - top);
                    whole.add(tilted);
                    input[wrap(*i, size)] += tilted;
                }
            }
            let whole = whole.get();
            let scale = 1.0 / whole;
            for x in &mut input {
                *x *= scale;
            }
            log_scale.add(count * (top + libm::log(whole) + tilt * law.origin));
            forward
                .process_with_scratch(&mut input, &mut spectrum, &mut scratch)
                .expect("the buffers were made for this transform");
            multiply(&mut product, &mut blur, &spectrum, *count, noise);
        }
        let log_scale = log_scale.get();
        let error_sum = 2.0 * sum(blur);
        let magnitude = 2.0 * sum(product.iter().map(|x| x.norm_sqr().sqrt()));
        // The ends of the spectrum of a real law are real.
        product[0].im = 0.0;
        if let Some(last) = product.last_mut() {
            last.im = 0.0;
        }
        let mut scratch = inverse.make_scratch_vec();
        let mut mass = input;
        inverse
            .process_with_scratch(&mut product, &mut mass, &mut scratch)
            .expect("the buffers were made for this transform");
        let n = size as f64;
        let entry_error = (error_sum + (noise + 4.0 * UNIT) * magnitude) / n;
        for x in &mut mass {
            *x = larger(*x / n, 0.0);
        }
        mass.rotate_left(wrap(first, size));
        let start = self.origin() + first as f64 * step;
        // Chernoff, with moments from above and the scale of this very law, which is off by less than the term says.
        let moments = self.moments(side);
        let outside = |order: f64, signed: f64, end: f64| {
            if order.is_infinite() {
                return Upper::ZERO;
            }
            let room = 1e-6 + UNIT * (16.0 * log_scale.abs() + 4.0 * (signed * end).abs());
            (moments.upper(tilt + signed) + Upper::near(-log_scale - signed * end, room)).exp()
        };
        let missed = outside(up, up, start + n * step) + outside(down, -down, start);
        let far = |law: &Law| {
            let index = law.index.iter().map(|i| i.unsigned_abs()).max().unwrap_or(0);
            index as f64 * law.step
        };
        // The masses, and their tilting: an exponent is off by a few units of its size.
        let uses = sum(self
            .laws
            .iter()
            .map(|(law, count)| count * (law.slack + UNIT * (16.0 + 4.0 * tilt * far(law)))));
        let shift = sum(self
            .laws
            .iter()
            .map(|(law, count)| count * (law.snap + 8.0 * UNIT * (law.origin.abs() + far(law)))));
        Composed {
            side,
            tilt,
            step,
            start,
            mass,
            log_scale,
            entry_error,
            missed,
            relative: uses + 16.0 * UNIT * (1.0 + log_scale.abs()),
            shift,
            cut: total(self.laws.iter().map(|(law, count)| Upper::new(law.cut).of_uses(*count))),
        }
    }
}

fn wrap(index: i64, size: usize) -> usize {
    let size = i64::try_from(size).expect("a transform is at most 2^22 long");
    usize::try_from(index.rem_euclid(size)).expect("a remainder is not negative")
}

/// Multiplies `product` by the `count`-th power of `spectrum`, keeping a bound on the error of every entry in `blur`.
fn multiply(
    product: &mut Vec<Complex<f64>>,
    blur: &mut Vec<f64>,
    spectrum: &[Complex<f64>],
    count: f64,
    noise: f64,
) {
    let fresh = product.is_empty();
    if fresh {
        product.resize(spectrum.len(), Complex::new(1.0, 0.0));
        blur.resize(spectrum.len(), 0.0);
    }
    // Magnitudes, squared, whose power is negligible even with their error.
    let least = larger(libm::exp(libm::log(NEGLIGIBLE) / count) - noise, 0.0);
    let least = least * least * (1.0 - 1e-9);
    for ((x, error), factor) in product.iter_mut().zip(blur.iter_mut()).zip(spectrum) {
        let square = factor.norm_sqr();
        let so_far = x.norm_sqr().sqrt();
        let bound = so_far + *error;
        // The cheap way out, for almost all frequencies of a long composition; no factor is above 1.
        if square < least || bound < NEGLIGIBLE {
            *x = Complex::new(0.0, 0.0);
            *error = if square < least { bound * NEGLIGIBLE } else { bound };
            continue;
        }
        let power = if count <= 1.0 {
            *factor
        } else {
            let log = 0.5 * libm::log(square);
            let angle = libm::atan2(factor.im, factor.re);
            let size = libm::exp(count * log);
            let (sin, cos) = libm::sincos(count * angle);
            Complex::new(size * cos, size * sin)
        };
        let size = power.norm_sqr().sqrt();
        let relative = noise / larger(square.sqrt(), f64::MIN_POSITIVE) + 24.0 * UNIT;
        // (1 + r)^k - 1, the error of a power.
        let wobble = size * libm::expm1(smaller(count * relative, 700.0));
        *error = so_far * wobble + *error * (size + wobble) + 4.0 * UNIT * so_far * size;
        *x *= power;
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::{Direction, Event};
    use super::super::pair::Pair;
    use super::*;

    /// A window that is short on purpose: what is counted as missed on either side is at least the tilted mass there, a binomial tail.
    #[test]
    fn mass_beyond_a_window_is_counted() {
        let (loss, uses, tilt) = (0.01, 100_000.0, 2.0);
        let event = Event::discrete_laplace(loss, 1).unwrap();
        let pair = Pair::new(event, Direction::Remove, 60.0);
        let law = Law::exact(&pair, -loss, 2.0 * loss);
        let plan = Plan::new(vec![(&law, uses)]);
        let short = plan.window(tilt, 2.0).unwrap();
        let (first, last) = (short.first as f64, short.first as f64 + short.points() - 1.0);
        assert!(first > 0.0 && last < uses, "{first} {last}");
        // The odds of the larger loss under the tilt.
        let up = 1.0 / (1.0 + libm::exp(-(2.0 * tilt + 1.0) * loss));
        let log_choose = |i: f64| {
            libm::lgamma(uses + 1.0) - libm::lgamma(i + 1.0) - libm::lgamma(uses - i + 1.0)
        };
        let weight =
            |i: f64| libm::exp(log_choose(i) + i * libm::log(up) + (uses - i) * libm::log1p(-up));
        let below = sum((0..).map(f64::from).take_while(|i| *i < first).map(weight));
        let above = sum((1..).map(|i| last + f64::from(i)).take_while(|i| *i <= uses).map(weight));
        for (window, truth) in [
            (Window { down: f64::INFINITY, ..short }, above),
            (Window { up: f64::INFINITY, ..short }, below),
        ] {
            let missed = plan.compose(window, Side::Upper).missed.get();
            assert!(truth > 1e-6 && missed >= truth && missed < 1.0, "{missed} {truth}");
        }
    }

    /// All mass on one loss: no frequency is smaller than another, and both transforms may be off by their noise at each.
    #[test]
    fn both_transforms_count_into_the_error_of_an_entry() {
        let loss = 40.0;
        let event = Event::discrete_laplace(loss, 1).unwrap();
        let pair = Pair::new(event, Direction::Remove, 60.0);
        let law = Law::exact(&pair, -loss, 2.0 * loss);
        let plan = Plan::new(vec![(&law, 1.0)]);
        let (down, up) = (f64::INFINITY, f64::INFINITY);
        let error = |size: usize| {
            let window = Window { tilt: 0.01, first: 0, size, down, up };
            plan.compose(window, Side::Upper).entry_error
        };
        for size in [4, 64, 1024] {
            let (error, noise) = (error(size), transform_noise(size));
            assert!(error >= 2.0 * noise && error < 8.0 * noise, "{size}: {error:e} {noise:e}");
        }
    }
}

//! Inversion along a vertical line, with both bounds: no lattice, and no error but rounding where the transform dies out.
//!
//! `delta(e) = 1/(2 pi) * integral over t of exp(K(s) - s e) / (s (s + 1))` at `s = c + i t`, for any `c > 0`. The trapezoid
//! rule with step `2 pi / period` adds the curve at `e + m period`, times `e^(c m period)`: positive terms, bounded by the
//! moments. Of its samples only those are computed where the transform of the composed law is not certainly negligible. The
//! others are bounded stretch by stretch: one value in the middle and the standard deviation of every factor bound all values in between; and
//! from some frequency on a bound that falls for good takes over.
//!
//! Where atoms keep the transform alive, a Gaussian of variance `v` is added to end it: that is one more mechanism, so the
//! result is an upper bound; and it is too large by at most `v e^(v/8)` times `1/(2 pi) * integral exp(K(s) + v (s^2 + s) / 2 - s e)`.
//!
//! # Proof of the last bound
//! Adding the mechanism turns `f(x) = (1 - e^-x)_+` into `g(x) = Phi(d) - e^-x Phi(d - w)` with `w^2 = v`, `d = x/w + w/2`. As a function
//! of `w`, `g` grows at the rate of the normal density `phi(d)`, and `d^2 >= x^2/w^2 + x`, so
//! `g(x) - f(x) <= w phi(x/w) e^(-x/2)`, the integrand whose transform is stated.
//!
//! # Source
//! Formula: Alghamdi, Gomez, Asoodeh, Calmon, Kosut, Sankar (ICML 2023). Error terms: ours.

use std::f64::consts::PI;

use super::factor::{Complex, Ready, over, power, size, times};
use crate::rounding::UNIT;

/// More samples than this are refused.
const MOST_SAMPLES: usize = 262_144;
/// More sines and cosines than this are refused.
const MOST_WORK: usize = 6_000_000;
/// `-ln` of a size of the transform that may be left out.
const QUIET: f64 = 32.0;
/// `-ln` of what the wrapped copies may add, relative to the integrand at its peak.
pub(crate) const LOG_MISSED: f64 = 46.0;

/// The integrand at one frequency, relative to its value at 0, and how far it may be off.
#[derive(Clone, Copy, Debug)]
struct Sample {
    t: f64,
    value: Complex,
    error: f64,
}

/// What fixes a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Course {
    pub(crate) tilt: f64,
    pub(crate) period: f64,
    /// Gaussian variance of the loss, with what was added.
    pub(crate) variance: f64,
    /// Variance that was added.
    pub(crate) extra: f64,
    pub(crate) log_scale: f64,
    /// How far `log_scale` may be off.
    pub(crate) log_error: f64,
    /// Mass that was cut off.
    pub(crate) cut: f64,
    /// The epsilon for which the period was chosen.
    pub(crate) center: f64,
}

/// The integrand along a line, sampled.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    course: Course,
    step: f64,
    samples: Vec<Sample>,
    /// Bounds on the sums over all samples that are not in the list, with the kernel of the curve and without.
    rest: f64,
    rest_density: f64,
}

/// Walks up the line and remembers what was left out.
struct Walk<'a, 'b> {
    course: Course,
    step: f64,
    factors: &'b mut [Ready<'a>],
    samples: Vec<Sample>,
    rest: f64,
    rest_density: f64,
    work: usize,
}

impl Line {
    /// Samples the integrand; nothing if that would be too much work.
    pub(crate) fn new(course: Course, factors: &mut [Ready<'_>]) -> Option<Self> {
        let step = 2.0 * PI / course.period;
        let last_size = |t: f64| -> f64 {
            factors.iter().map(|factor| factor.count * libm::log(factor.settled(t))).sum()
        };
        if course.variance <= 0.0 && last_size(f64::MAX) > -QUIET {
            return None;
        }
        let mut walk = Walk {
            course,
            step,
            factors,
            samples: Vec::new(),
            rest: 0.0,
            rest_density: 0.0,
            work: 0,
        };
        walk.run()?;
        let Walk { samples, rest, rest_density, .. } = walk;
        Some(Self { course, step, samples, rest, rest_density })
    }
}

impl Walk<'_, '_> {
    fn run(&mut self) -> Option<()> {
        let spread: f64 = self.factors.iter().map(|f| f.count * f.spread * f.spread).sum();
        // About where the transform dies out.
        let alive = 12.0 / (spread + self.course.variance).sqrt();
        let mut half = 2.0 * self.step;
        let mut index = 0.0;
        let mut quiet = false;
        loop {
            let t = index * self.step;
            if quiet && self.rest_is_quiet(t) {
                return Some(());
            }
            self.reach(t.max(alive))?;
            if quiet && half >= 2.0 * self.step {
                self.reach(t + half)?;
                if self.stretch_is_quiet(t, half) {
                    self.leave_out(t, 2.0 * half, libm::exp(-QUIET));
                    index = ((t + 2.0 * half) / self.step).floor().max(index + 1.0);
                    half *= 1.5;
                    continue;
                }
                half *= 0.5;
                continue;
            }
            let sample = self.sample(t);
            let largest = size(sample.value) + sample.error;
            quiet = largest < libm::exp(-QUIET) && t > 0.0;
            if quiet {
                self.leave_out(t, 0.0, largest);
                half = half.max(2.0 * self.step);
            } else {
                self.samples.push(sample);
            }
            index += 1.0;
            if self.samples.len() > MOST_SAMPLES || self.work > MOST_WORK {
                return None;
            }
        }
    }

    /// Makes all factors good for frequencies up to `t`, in octaves.
    fn reach(&mut self, t: f64) -> Option<()> {
        let octave = libm::exp2(libm::log2(t).ceil());
        self.factors.iter_mut().all(|factor| factor.reach(octave)).then_some(())
    }

    /// Notes samples in `[from, from + width]` that are at most `largest` in size.
    fn leave_out(&mut self, from: f64, width: f64, largest: f64) {
        let c = self.course.tilt;
        let sum = (width + self.step) * largest;
        self.rest_density += sum;
        self.rest += sum / (from * from).max(c * (c + 1.0));
    }

    /// Whether all samples from `t` on are negligible; if so they are noted.
    fn rest_is_quiet(&mut self, t: f64) -> bool {
        let gaussian = 0.5 * self.course.variance * t * t;
        let mut log = -gaussian;
        for factor in self.factors.iter() {
            if log <= -QUIET {
                break;
            }
            log += factor.count * libm::log(factor.settled(t));
        }
        if log > -QUIET {
            return false;
        }
        let largest = libm::exp(log);
        // The sum of 1 / t^2, and of a Gaussian tail.
        self.rest += largest * (1.0 / t + self.step / (t * t));
        self.rest_density += largest * (self.step + 1.0 / (self.course.variance * t));
        true
    }

    /// Whether all values in `[t, t + 2 half]` are negligible.
    fn stretch_is_quiet(&mut self, t: f64, half: f64) -> bool {
        let mut log = -0.5 * self.course.variance * t * t;
        for factor in self.factors.iter() {
            if log <= -QUIET {
                break;
            }
            self.work += factor.work();
            log += factor.count * libm::log(factor.around(t + half, half).min(1.0));
        }
        log <= -QUIET
    }

    fn sample(&mut self, t: f64) -> Sample {
        let Course { tilt, variance, .. } = self.course;
        let decay = libm::exp(-0.5 * variance * t * t);
        let turn = 0.5 * variance * (2.0 * tilt + 1.0) * t;
        let (sin, cos) = libm::sincos(turn);
        let mut value = (decay * cos, decay * sin);
        // Relative, in excess of 1.
        let mut error = UNIT * (16.0 + 8.0 * variance * t * t + 16.0 * turn);
        for factor in self.factors.iter() {
            let base = factor.at(t);
            let (near, off) = (size(base), factor.error(t));
            self.work += factor.work();
            let count = factor.count;
            // All factors are at most 1: what is negligible stays so.
            let largest = size(value) * libm::exp(count * libm::log(near + off).min(0.0) + error);
            if largest < libm::exp(-QUIET - 8.0) || near <= 0.0 {
                return Sample { t, value: (0.0, 0.0), error: largest };
            }
            value = times(value, power(base, count));
            error += count * (off / near + 24.0 * UNIT);
        }
        let error = size(value) * libm::expm1(error.min(700.0));
        Sample { t, value, error }
    }
}

/// The integrals that a line gives, in units of its scale, and how far they may be off.
#[derive(Clone, Copy, Debug)]
struct Sums {
    delta: f64,
    delta_error: f64,
    density: f64,
    density_error: f64,
}

impl Line {
    fn sums(&self, epsilon: f64) -> Sums {
        let c = self.course.tilt;
        let (mut delta, mut density) = (0.0, 0.0);
        let (mut delta_error, mut density_error) = (0.0, 0.0);
        for (j, sample) in self.samples.iter().enumerate() {
            let t = sample.t;
            let (sin, cos) = libm::sincos(-t * epsilon);
            let turned = times(sample.value, (cos, sin));
            let weight = if j == 0 { 0.5 } else { 1.0 };
            // s (s + 1) at s = c + i t.
            let kernel = (c * (c + 1.0) - t * t, t * (2.0 * c + 1.0));
            let term = over(turned, kernel);
            delta += weight * term.0;
            density += weight * turned.0;
            let rounding = 32.0 + 4.0 * t * epsilon.abs() + j as f64 / 16.0;
            let error = weight * (sample.error + size(sample.value) * UNIT * rounding);
            delta_error += error / size(kernel);
            density_error += error;
        }
        let unit = self.step / PI;
        Sums {
            delta: delta * unit,
            delta_error: delta_error * unit + self.rest / PI,
            density: density * unit,
            density_error: density_error * unit + self.rest_density / PI,
        }
    }

    fn scale(&self, epsilon: f64) -> f64 {
        libm::exp(self.course.log_scale - self.course.tilt * epsilon)
    }

    /// Relative error of the scale.
    fn relative(&self, epsilon: f64) -> f64 {
        let exponent = self.course.log_scale.abs() + (self.course.tilt * epsilon).abs();
        libm::expm1((self.course.log_error + UNIT * (16.0 + 4.0 * exponent)).min(700.0))
    }

    /// Never below the curve.
    pub(crate) fn upper(&self, epsilon: f64) -> f64 {
        let sums = self.sums(epsilon);
        let inside = (sums.delta + sums.delta_error).max(0.0);
        self.scale(epsilon) * inside * (1.0 + self.relative(epsilon)) + self.course.cut
    }

    /// Never above the curve; may be negative.
    pub(crate) fn lower(&self, epsilon: f64) -> f64 {
        let sums = self.sums(epsilon);
        let extra = self.course.extra;
        let excess = extra * libm::exp(extra / 8.0);
        let too_much =
            if extra > 0.0 { excess * (sums.density.max(0.0) + sums.density_error) } else { 0.0 };
        // Copies on both sides, each a geometric sum; more of them away from the centre.
        let drift = libm::exp((epsilon - self.course.center).abs() * (1.0 + self.course.tilt));
        let copies = 4.0 * libm::exp(-LOG_MISSED) * drift;
        let inside = sums.delta - sums.delta_error - too_much - copies;
        self.scale(epsilon) * inside * (1.0 - self.relative(epsilon))
    }

    /// The epsilon at which `curve` reaches `delta`; on the side where it is at most (`upper`) or at least `delta`.
    pub(crate) fn solve(&self, delta: f64, curve: impl Fn(&Self, f64) -> f64, upper: bool) -> f64 {
        let target = libm::log(delta);
        let value = |e: f64| libm::log(curve(self, e).max(1e-320)) - target;
        // The curve falls at about the rate of the tilt.
        let (mut e, mut rate) = (self.course.center, self.course.tilt);
        let mut seen: Option<(f64, f64)> = None;
        for _ in 0..30 {
            let v = value(e);
            if let Some((before, at)) = seen {
                let slope = (at - v) / (e - before);
                if slope.is_finite() && slope > 0.0 {
                    rate = slope;
                }
            }
            seen = Some((e, v));
            let next = (e + v / rate).max(0.0);
            let done = (next - e).abs() <= 1e-13 * e.abs().max(1e-3);
            e = next;
            if done {
                break;
            }
        }
        // A small step to the safe side, doubled until it is safe.
        let mut margin = 4.0 * UNIT * e.max(1.0) + 1e-13 * e;
        for _ in 0..60 {
            let at = if upper { e + margin } else { e - margin };
            if at <= 0.0 && !upper {
                return 0.0;
            }
            let v = value(at);
            if (upper && v <= 0.0) || (!upper && v >= 0.0) {
                return at;
            }
            margin *= 2.0;
        }
        if upper { f64::INFINITY } else { 0.0 }
    }
}

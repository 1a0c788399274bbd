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

use super::evidence::LineEvidence;
use super::factor::{Ready, over, size, times};
use super::grid::Query;
use super::mix::Period;
use super::split::Known;
use super::walk::{Sample, Sampled, walk};
use crate::outward::{Between, LEAST, Lower, Upper, larger};
use crate::rounding::{LongSum, UNIT};

/// `-ln` of what the wrapped copies may add, relative to the integrand at its peak.
pub(crate) const LOG_MISSED: f64 = 46.0;

/// What fixes a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Course {
    pub(crate) tilt: f64,
    pub(crate) period: Period,
    /// Gaussian variance of the loss, with what was added.
    pub(crate) variance: f64,
    /// Variance that was added.
    pub(crate) extra: f64,
    pub(crate) log_scale: f64,
    /// How far `log_scale` may be off.
    pub(crate) log_error: f64,
    /// Mass that was cut off.
    pub(crate) cut: Upper,
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
    /// A part of the curve that the samples leave out.
    known: Option<Known>,
}

impl Line {
    /// Samples the integrand; nothing if that would be too much work.
    pub(crate) fn new(course: Course, factors: &mut [Ready<'_>], left: &mut f64) -> Option<Self> {
        let step = 2.0 * PI / course.period.length;
        let Sampled { samples, rest, rest_density } = walk(course, step, factors, left)?;
        Some(Self { course, step, samples, rest, rest_density, known: None })
    }

    /// Samples of a part of the law; the curve of the other part is known. No variance may have been added.
    pub(crate) fn with_known(course: Course, step: f64, sampled: Sampled, known: Known) -> Self {
        let Sampled { samples, rest, rest_density } = sampled;
        Self { course, step, samples, rest, rest_density, known: Some(known) }
    }

    pub(crate) fn evidence(&self) -> LineEvidence {
        let mut frequencies: Vec<(u64, u64)> = Vec::new();
        for sample in &self.samples {
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a multiple of the step, far below 2^53 of them"
            )]
            let index = (sample.t / self.step).round() as u64;
            match frequencies.last_mut() {
                Some((_, last)) if *last + 1 == index => *last = index,
                _ => frequencies.push((index, index)),
            }
        }
        LineEvidence {
            tilt: self.course.tilt,
            period: self.course.period.length,
            log_scale: self.course.log_scale,
            log_error: self.course.log_error,
            added_variance: self.course.extra,
            cut: self.course.cut.get(),
            center: self.course.center,
            frequencies,
            rest: self.rest,
            by_formula: self.known.map(|known| known.count),
        }
    }

    pub(crate) fn into_samples(self) -> Vec<Sample> {
        self.samples
    }

    /// Whether what was left out is at most `aim` of the curve at the centre.
    pub(crate) fn is_settled(&self, aim: f64) -> bool {
        let epsilon = self.course.center;
        let known =
            self.known.map_or(0.0, |known| known.lower(epsilon).get()) / self.scale(epsilon);
        let curve = self.sums(epsilon).delta + known;
        self.rest / PI <= aim * curve
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
        let (mut delta, mut density) = (LongSum::default(), LongSum::default());
        let (mut delta_error, mut density_error) = (0.0, 0.0);
        for (j, sample) in self.samples.iter().enumerate() {
            let t = sample.t;
            let (sin, cos) = libm::sincos(-t * epsilon);
            let turned = times(sample.value, (cos, sin));
            let weight = if j == 0 { 0.5 } else { 1.0 };
            // s (s + 1) at s = c + i t.
            let kernel = (c * (c + 1.0) - t * t, t * (2.0 * c + 1.0));
            let term = over(turned, kernel);
            delta.add(weight * term.0);
            density.add(weight * turned.0);
            let rounding = 32.0 + 4.0 * t * epsilon.abs() + j as f64 / 16.0;
            let error = weight * (sample.error + size(sample.value) * UNIT * rounding);
            delta_error += error / size(kernel);
            density_error += error;
        }
        let unit = self.step / PI;
        Sums {
            delta: delta.get() * unit,
            delta_error: delta_error * unit + self.rest / PI,
            density: density.get() * unit,
            density_error: density_error * unit + self.rest_density / PI,
        }
    }

    fn scale(&self, epsilon: f64) -> f64 {
        libm::exp(self.course.log_scale - self.course.tilt * epsilon)
    }

    /// The logarithm of the scale, and how far it may be off.
    fn log_scale(&self, epsilon: f64) -> (f64, f64) {
        let (log, turn) = (self.course.log_scale, self.course.tilt * epsilon);
        (log - turn, self.course.log_error + UNIT * (16.0 + 4.0 * (log.abs() + turn.abs())))
    }

    /// Never below the curve.
    fn upper(&self, epsilon: f64) -> Upper {
        let sums = self.sums(epsilon);
        let (log, off) = self.log_scale(epsilon);
        // The curve is positive, whatever the sums come to.
        let inside = Upper::near(sums.delta, sums.delta_error).max(Upper::new(LEAST));
        let known = self.known.map_or(Upper::ZERO, |known| known.upper(epsilon));
        Upper::near(log, off).exp().times(inside) + known + self.course.cut
    }

    /// Never above the curve.
    fn lower(&self, epsilon: f64) -> Lower {
        let sums = self.sums(epsilon);
        let (log, off) = self.log_scale(epsilon);
        let extra = self.course.extra;
        let density = Upper::near(sums.density, sums.density_error).at_least_0();
        let too_much = Upper::new(extra).times(Upper::new(extra / 8.0).exp()).times(density);
        // Copies on both sides, each a geometric sum; more of them away from the centre.
        let period = self.course.period;
        let away = (epsilon - self.course.center).abs() - period.margin();
        let drift = Upper::new(larger(away, 0.0) * period.rate).raised(4.0);
        let copies = Upper::new(4.0).times((drift - Lower::new(LOG_MISSED)).exp());
        let inside = Lower::near(sums.delta, sums.delta_error) - too_much - copies;
        let known = self.known.map_or(Lower::ZERO, |known| known.lower(epsilon));
        Lower::near(log, off).exp().times(inside) + known
    }

    /// Both bounds, anywhere; they are close to each other around the epsilon that the line was made for.
    pub(crate) fn read(&self, query: Query) -> Between {
        match query {
            Query::Epsilon(delta) => {
                let upper = self.solve(delta, |epsilon| self.upper(epsilon).get(), true);
                let lower = self.solve(delta, |epsilon| self.lower(epsilon).get(), false);
                Between { lower: Lower::new(lower), upper: Upper::new(upper) }
            }
            Query::Delta(epsilon) => {
                Between { lower: self.lower(epsilon), upper: self.upper(epsilon) }
            }
        }
    }

    /// The epsilon at which `curve` reaches `delta`; on the side where it is at most (`upper`) or at least `delta`.
    fn solve(&self, delta: f64, curve: impl Fn(f64) -> f64, upper: bool) -> f64 {
        let target = libm::log(delta);
        let value = |e: f64| libm::log(larger(curve(e), LEAST)) - target;
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
            let next = larger(e + v / rate, 0.0);
            let done = (next - e).abs() <= 1e-13 * larger(e.abs(), 1e-3);
            e = next;
            if done {
                break;
            }
        }
        // A small step to the safe side, doubled until it is safe.
        let mut margin = 4.0 * UNIT * larger(e, 1.0) + 1e-13 * e;
        for _ in 0..60 {
            let at = if upper { e + margin } else { e - margin };
            if at <= 0.0 && !upper {
                return 0.0;
            }
            // The comparison itself, not its logarithm.
            let here = curve(at);
            if (upper && here <= delta) || (!upper && here >= delta) {
                return at;
            }
            margin *= 2.0;
        }
        if upper { f64::INFINITY } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use dp_check::Interval;

    use super::*;

    fn line(tilt: f64, log_scale: f64, samples: Vec<Sample>) -> Line {
        let course = Course {
            tilt,
            period: Period { length: 1.0, rate: 1.0 },
            variance: 1.0,
            extra: 0.0,
            log_scale,
            log_error: 0.0,
            cut: Upper::ZERO,
            center: 0.0,
        };
        Line { course, step: 1.0, samples, rest: 0.0, rest_density: 0.0, known: None }
    }

    /// At high frequencies it is the rounding of the angle that counts: against the angle with what its product lacks.
    #[test]
    fn sums_are_off_by_no_more_than_is_said() {
        let (tilt, value) = (0.7, (0.6, 0.8));
        let mut worst = [0.0, 0.0];
        for i in 0..500 {
            let (t, epsilon) = (1e5 + 0.37 * f64::from(i), 1.3 + 0.01 * f64::from(i));
            let sums = line(tilt, 0.0, vec![Sample { t, value, error: 0.0 }]).sums(epsilon);
            let angle = -t * epsilon;
            let ((sin, cos), lacks) = (angle.sin_cos(), (-t).mul_add(epsilon, -angle));
            let turned = times(value, (cos - lacks * sin, sin + lacks * cos));
            let kernel = (tilt * (tilt + 1.0) - t * t, t * (2.0 * tilt + 1.0));
            // Of frequency 0, which comes first, there is one half only.
            let off = [
                ((sums.delta - over(turned, kernel).0 * 0.5 / PI).abs(), sums.delta_error),
                ((sums.density - turned.0 * 0.5 / PI).abs(), sums.density_error),
            ];
            for (worst, (off, error)) in worst.iter_mut().zip(off) {
                assert!(off <= error, "{t} {epsilon}: {off:e} of {error:e}");
                *worst = larger(*worst, off / error);
            }
        }
        assert!(worst.iter().all(|share| *share > 0.125), "{worst:?}");
    }

    #[test]
    fn the_scale_of_a_line_is_off_by_no_more_than_is_said() {
        let of = Interval::of;
        let mut worst = 0.0;
        for i in 0..500 {
            let (tilt, epsilon) = (30.1 + 0.37 * f64::from(i), 1.3 + 0.01 * f64::from(i));
            let log_scale = -100.3 * f64::from(i % 7);
            let (log, error) = line(tilt, log_scale, Vec::new()).log_scale(epsilon);
            let truth = &of(log_scale) - &(&of(tilt) * &of(epsilon));
            let off = (&of(log) - &truth).approximate().abs();
            assert!(off <= error, "{tilt} {epsilon}: {off:e} of {error:e}");
            worst = larger(worst, off / error);
        }
        assert!(worst > 0.2, "{worst}");
    }
}

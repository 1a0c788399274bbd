//! Few uses of Laplace noise, by how many of them end strictly between the two extreme losses.
//!
//! With `e` the largest loss of one use, a use has loss `e` with probability `1/2`, `-e` with probability `e^-e / 2`, and otherwise the density
//! `e^((x - e) / 2) / 4`. Write `A` and `C` for the transforms of the atoms and of the density. Then `(A + C)^k - A^k - k A^(k-1) C` is the
//! transform of what two or more uses between the extremes contribute: a law with a density, whose transform is at most
//! `(k |C|)^2 / 2 (|A| + |C|)^(k-2)` and dies out like `t^-2`, the kernel of the curve with it like `t^-4`. It is inverted along a line. The two
//! terms taken out are sums over binomial weights.
//!
//! # Derivation of the terms
//! `j = 0`: the losses are `(2 i - k) e`. `j = 1`: such a sum of `k - 1` atoms, and one loss with the density, which leaves
//! `h(y)`, the integral of `e^((x - e) / 2) (1 - e^(y - x))_+ / 4` over `[-e, e]`: `(1 - e^((y - e) / 2))^2 / 2` for `y >= -e` and
//! `(1 - e^-e) (1 - e^y) / 2` below.

use super::factor::{Complex, power, times};
use super::line::{Course, Line};
use super::walk::{Sample, Sampled};
use crate::bisection::bisect;
use crate::outward::{Lower, Upper, smaller};
use crate::rounding::UNIT;

/// Above this the weights underflow.
pub(crate) const MOST_USES: f64 = 1000.0;
/// More samples than this are refused.
const MOST_SAMPLES: usize = 1 << 17;

/// The curve of at most one use between the extremes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    pub(crate) end: f64,
    pub(crate) count: f64,
}

impl Known {
    /// Losses are off by a few units: the curve is read at a safe epsilon.
    fn room(self, epsilon: f64) -> f64 {
        16.0 * UNIT * (self.count * self.end + epsilon.abs())
    }

    /// Each weight is the product of at most `count` steps of six roundings.
    fn relative(self) -> f64 {
        UNIT * (64.0 + 10.0 * self.count)
    }

    pub(crate) fn upper(self, epsilon: f64) -> Upper {
        let value = self.at(epsilon - self.room(epsilon));
        // Weights that underflow are lost.
        Upper::near(value, value * self.relative() + 1e-300)
    }

    pub(crate) fn lower(self, epsilon: f64) -> Lower {
        let value = self.at(epsilon + self.room(epsilon));
        Lower::near(value, value * self.relative() + 1e-300).at_least_0()
    }

    /// About where this part alone reaches `delta`.
    pub(crate) fn epsilon(self, delta: f64) -> f64 {
        bisect(0.0, self.end * self.count, |epsilon| self.at(epsilon) >= delta).0
    }

    fn at(self, epsilon: f64) -> f64 {
        let e = self.end;
        let none = |y: f64| -libm::expm1(smaller(y, 0.0));
        let one = |y: f64| {
            if y >= -e {
                let root = libm::expm1(smaller(y - e, 0.0) / 2.0);
                root * root / 2.0
            } else {
                libm::expm1(-e) * libm::expm1(y) / 2.0
            }
        };
        self.sum(self.count, epsilon, 0.0, none)
            + self.count * self.sum(self.count - 1.0, epsilon, e, one)
    }

    /// The sum over the atoms of `uses` uses, from the largest down to `epsilon - reach`, of weight times `stick(epsilon - loss)`.
    fn sum(self, uses: f64, epsilon: f64, reach: f64, stick: impl Fn(f64) -> f64) -> f64 {
        let decay = libm::exp(-self.end);
        let mut weight = libm::exp2(-uses);
        let (mut total, mut down) = (0.0, 0.0);
        while down <= uses {
            let loss = (uses - 2.0 * down) * self.end;
            if loss + reach <= epsilon {
                break;
            }
            total += weight * stick(epsilon - loss);
            down += 1.0;
            weight *= (uses - down + 1.0) / down * decay;
        }
        total
    }
}

/// The transforms of one use under the tilt, in units of the moment.
struct Tilted {
    known: Known,
    /// `tilt + 1/2`.
    x: f64,
    top: f64,
    bottom: f64,
}

impl Tilted {
    fn new(known: Known, tilt: f64, log_moment: f64) -> Self {
        let x = tilt + 0.5;
        let top = 0.5 * libm::exp(tilt * known.end - log_moment);
        Self { known, x, top, bottom: top * libm::exp(-2.0 * x * known.end) }
    }

    /// Two or more uses between the extremes.
    fn sample(&self, t: f64) -> Sample {
        let (end, k) = (self.known.end, self.known.count);
        let (sin, cos) = libm::sincos(t * end);
        let atoms = ((self.top + self.bottom) * cos, (self.top - self.bottom) * sin);
        // Half the mass of an atom per unit of loss, over x + i t.
        let jump = (0.5 * (self.top - self.bottom) * cos, 0.5 * (self.top + self.bottom) * sin);
        let square = self.x * self.x + t * t;
        let smooth =
            ((jump.0 * self.x + jump.1 * t) / square, (jump.1 * self.x - jump.0 * t) / square);
        let both = (atoms.0 + smooth.0, atoms.1 + smooth.1);
        let all = power(both, k);
        let before = power(atoms, k - 1.0);
        let none = times(before, atoms);
        let one = times(before, smooth);
        let value: Complex = (all.0 - none.0 - k * one.0, all.1 - none.1 - k * one.1);
        // At t = 0 the parts are positive and sum to 1, elsewhere they are no larger: so the derivative of the value by either part is at
        // most 2 k. Each of the three powers adds at most 24 units per use.
        let base = UNIT * (160.0 + 32.0 * self.x * end + 8.0 * t * end);
        let error = k * (6.0 * base + 96.0 * UNIT);
        Sample { t, value, error }
    }

    /// A bound on the sum, times the step and with the kernel of the curve, of all samples after the one at `t`.
    fn rest(&self, t: f64) -> f64 {
        let k = self.known.count;
        let fall = 0.5 * (self.top + self.bottom) * (1.0 + 1e-9);
        let base = smaller(self.top + self.bottom + fall / t, 1.0) * (1.0 + 1e-12);
        let most = 0.5 * (k * fall) * (k * fall) * libm::exp((k - 2.0) * libm::log(base));
        // The kernel is at most 1 / t^2 and 1 / tilt^2.
        let tilt = self.x - 0.5;
        most / t * smaller(1.0 / (3.0 * t * t), 1.0 / (tilt * tilt)) * (1.0 + 1e-6)
    }
}

/// The line of `known.count` uses, at least 2 of them, sampled until what is left out is at most `aim` of the curve;
/// nothing if that takes too many samples.
pub(crate) fn split(known: Known, log_moment: f64, course: Course, aim: f64) -> Option<Line> {
    let tilted = Tilted::new(known, course.tilt, log_moment);
    let step = 2.0 * std::f64::consts::PI / course.period.length;
    let mut samples: Vec<Sample> = Vec::new();
    let mut most = 256;
    loop {
        samples.extend((samples.len()..most).map(|j| tilted.sample(j as f64 * step)));
        let last = samples[most - 1].t;
        let rest = tilted.rest(last);
        let sampled = Sampled { samples, rest, rest_density: f64::INFINITY };
        let line = Line::with_known(course, step, sampled, known);
        if line.is_settled(aim) {
            return Some(line);
        }
        most *= 2;
        if most > MOST_SAMPLES {
            return None;
        }
        samples = line.into_samples();
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;
    use dp_check::Interval;

    use super::super::factor::{Factor, size};
    use super::super::moments::Moments;
    use super::*;
    use crate::outward::larger;

    /// All cases by hand, two extremes for each use and at most one use between them: every term of the sums.
    #[test]
    fn at_most_one_use_between_the_extremes() {
        let (e, n) = (0.7, 20_000_u32);
        let weak = libm::exp(-e) / 2.0;
        let width = 2.0 * e / f64::from(n);
        // Losses of so many uses at the extremes, and their probabilities.
        let extremes = |uses: u32| {
            (0..1_u32 << uses).map(move |low| {
                let low = low.count_ones();
                let loss = f64::from(uses) * e - 2.0 * f64::from(low) * e;
                (
                    loss,
                    0.5_f64.powi((uses - low).try_into().unwrap())
                        * weak.powi(low.try_into().unwrap()),
                )
            })
        };
        for (count, epsilon) in
            (2..=4).flat_map(|count| [0.0, 0.3, 0.9, 1.2, 1.7].map(|epsilon| (count, epsilon)))
        {
            let known = Known { end: e, count: f64::from(count) };
            let stick = |loss: f64| larger(1.0 - libm::exp(epsilon - loss), 0.0);
            let mut want: f64 = extremes(count).map(|(loss, p)| p * stick(loss)).sum();
            for (loss, p) in extremes(count - 1) {
                for i in 0..n {
                    let x = -e + (f64::from(i) + 0.5) * width;
                    let mass = width * libm::exp((x - e) / 2.0) / 4.0;
                    want += f64::from(count) * p * mass * stick(x + loss);
                }
            }
            assert_abs_diff_eq!(known.at(epsilon), want, epsilon = 1e-8);
            let (lower, upper) = (known.lower(epsilon).get(), known.upper(epsilon).get());
            assert!(lower <= known.at(epsilon) && known.at(epsilon) < upper);
            assert!(upper - lower <= 1e-12 * upper + 2e-300, "{count} {epsilon}");
        }
    }

    #[test]
    fn the_rest_is_bounded() {
        for (end, count, tilt) in [(0.1, 10.0, 50.0), (0.01, 1000.0, 20.0), (1.0, 5.0, 3.0)] {
            let known = Known { end, count };
            let log = |s: f64| Factor::Laplace(end).log_moment_and_error(s).0;
            let tilted = Tilted::new(known, tilt, log(tilt));
            // At 0 the transforms sum to 1.
            let smooth = 0.5 * (tilted.top - tilted.bottom) / tilted.x;
            assert_abs_diff_eq!(tilted.top + tilted.bottom + smooth, 1.0, epsilon = 1e-12);
            let (step, from) = (3.0, 3000.0);
            let sum: f64 = (1..200_000_u32)
                .map(|j| from + step * f64::from(j))
                .map(|t| step * size(tilted.sample(t).value) / (t * t))
                .sum();
            let bound = tilted.rest(from);
            assert!(sum <= bound && sum > 1e-4 * bound, "{sum:e} {bound:e}");
        }
    }

    /// The same sums in intervals of big integers, term by term.
    #[test]
    fn at_most_one_use_between_the_extremes_is_enclosed() {
        let of = Interval::of;
        let (one, half) = (of(1.0), of(0.5));
        for (end, count) in [(0.01, 70_u32), (0.7, 5), (0.3, 40), (9.0, 12)] {
            let known = Known { end, count: f64::from(count) };
            let grown = of(end).exp();
            for i in 0..25_u32 {
                // On the losses and between them.
                let epsilon = end * f64::from(count) * f64::from(i) / 24.0
                    * if i % 3 == 0 { 1.0 } else { 0.99 };
                let sum = |uses: u32, stick: &dyn Fn(&Interval) -> Interval| {
                    let (mut weight, mut total) = (half.power(u64::from(uses)), of(0.0));
                    for down in 0..=uses {
                        let loss = grown.power(u64::from(uses.abs_diff(2 * down)));
                        let loss = if 2 * down > uses { &one / &loss } else { loss };
                        total = &total + &(&weight * &stick(&(&of(epsilon).exp() / &loss)));
                        let next = &weight * &Interval::whole(u64::from(uses - down));
                        weight = &(&next / &Interval::whole(u64::from(down + 1))) / &grown;
                    }
                    total
                };
                // Of `e^y`.
                let none = |y: &Interval| (&one - y).positive_part();
                let inner = |y: &Interval| {
                    if y.reaches_below(libm::exp(-end)) {
                        &(&(&one - &(&one / &grown)) * &(&one - y)) * &half
                    } else {
                        let root = (&one - &(y / &grown).sqrt()).positive_part();
                        &(&root * &root) * &half
                    }
                };
                let apart = &Interval::whole(u64::from(count)) * &sum(count - 1, &inner);
                let truth = &sum(count, &none) + &apart;
                let (lower, upper) = (known.lower(epsilon).get(), known.upper(epsilon).get());
                assert!(
                    !truth.reaches_below(lower) && !truth.reaches_above(upper),
                    "{end} {count} {epsilon}: {lower} {upper} {truth}"
                );
                assert!(
                    upper - lower <= 1e-10 * upper + 1e-13,
                    "{end} {count} {epsilon}: {lower} {upper}"
                );
            }
        }
    }
}

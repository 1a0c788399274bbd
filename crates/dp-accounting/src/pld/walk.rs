//! Sampling the integrand where the transform lives, and bounding the samples where it does not.

use super::factor::{Complex, Ready, power, size, times};
use super::line::Course;
use crate::outward::{larger, smaller, sum};
use crate::rounding::UNIT;

/// More samples than this are refused.
const MOST_SAMPLES: usize = 262_144;
/// More sines and cosines than this are refused, for all lines that are tried.
pub(crate) const MOST_WORK: f64 = 4e7;
/// One try takes at most this part of what is left, so that something is left for the next.
const MOST_OF_IT: f64 = 0.7;
/// Before so many frequencies nothing is said about how it goes on.
const LEAST_SEEN: f64 = 64.0;
/// A walk ends early if it would take so many times what is left.
const FAR_FROM_ENOUGH: f64 = 2.0;
/// Sines and cosines that making a point of a rule is worth.
const POINT_OF_RULE: f64 = 5.0;
/// `-ln` of a size of the transform that may be left out.
pub(crate) const QUIET: f64 = 32.0;
/// The integrand at one frequency, relative to its value at 0, and how far it may be off.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) t: f64,
    pub(crate) value: Complex,
    pub(crate) error: f64,
}

/// The samples of a line.
#[derive(Debug)]
pub(crate) struct Sampled {
    pub(crate) samples: Vec<Sample>,
    /// Bounds on the sums over all samples that are not in the list, with the kernel of the curve and without.
    pub(crate) rest: f64,
    pub(crate) rest_density: f64,
}

/// Samples the integrand at multiples of `step`; nothing if that would be too much work. What it took is taken off `left`.
pub(crate) fn walk(
    course: Course,
    step: f64,
    factors: &mut [Ready<'_>],
    left: &mut f64,
) -> Option<Sampled> {
    let at_the_end =
        sum(factors.iter().map(|factor| factor.count * libm::log(factor.settled(f64::MAX))));
    if course.variance <= 0.0 && at_the_end > -QUIET {
        return None;
    }
    let done = Sampled { samples: Vec::new(), rest: 0.0, rest_density: 0.0 };
    let mut walk = Walk { course, step, factors, done, work: 0.0, most: MOST_OF_IT * *left };
    let found = walk.run();
    *left -= walk.work;
    found.map(|()| walk.done)
}

/// Walks up the line and remembers what was left out.
struct Walk<'a, 'b> {
    course: Course,
    step: f64,
    factors: &'b mut [Ready<'a>],
    done: Sampled,
    work: f64,
    most: f64,
}

impl Walk<'_, '_> {
    fn run(&mut self) -> Option<()> {
        let spread = sum(self.factors.iter().map(|f| f.count * f.spread * f.spread));
        // About where the transform dies out.
        let alive = 12.0 / (spread + self.course.variance).sqrt();
        let mut half = 2.0 * self.step;
        let mut index = 0.0;
        let mut quiet = false;
        // Where it was last looked at whether to go on, and the samples until there. Without a Gaussian that was added there is no cheaper line.
        let mut seen = (0.0, 0);
        loop {
            let t = index * self.step;
            if self.course.extra > 0.0 && index >= larger(2.0 * seen.0, LEAST_SEEN) {
                let samples = self.done.samples.len();
                if self.is_hopeless(t, (samples - seen.1) as f64 / (index - seen.0)) {
                    return None;
                }
                seen = (index, samples);
            }
            if quiet && self.rest_is_quiet(t) {
                return Some(());
            }
            self.reach(larger(t, alive))?;
            if quiet && half >= 2.0 * self.step {
                self.reach(t + half)?;
                if self.stretch_is_quiet(t, half) {
                    self.leave_out(t, 2.0 * half, libm::exp(-QUIET));
                    index = larger(((t + 2.0 * half) / self.step).floor(), index + 1.0);
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
                half = larger(half, 2.0 * self.step);
            } else {
                self.done.samples.push(sample);
            }
            index += 1.0;
            if self.done.samples.len() > MOST_SAMPLES || self.work > self.most {
                return None;
            }
        }
    }

    /// Whether what is left of the work is far from enough if as many of the frequencies ahead are alive as of the last ones.
    fn is_hopeless(&self, t: f64, alive: f64) -> bool {
        let mut end = t;
        while end < 1e15 && self.log_rest(end) > -QUIET {
            end *= 2.0;
        }
        let per_sample = sum(self.factors.iter().map(|factor| factor.work() as f64));
        let ahead = alive * (0.5 * end - t) / self.step;
        larger(ahead, 0.0) * per_sample > FAR_FROM_ENOUGH * (self.most - self.work)
    }

    /// `ln` of a bound on all values from `t` on, as far as it matters.
    fn log_rest(&self, t: f64) -> f64 {
        let mut log = -0.5 * self.course.variance * t * t;
        for factor in self.factors.iter() {
            if log <= -QUIET {
                break;
            }
            log += factor.count * libm::log(factor.settled(t));
        }
        log
    }

    /// Makes all factors good for frequencies up to `t`, in octaves.
    fn reach(&mut self, t: f64) -> Option<()> {
        let octave = libm::exp2(libm::log2(t).ceil());
        for factor in self.factors.iter_mut() {
            let before = factor.work();
            if !factor.reach(octave) {
                return None;
            }
            let after = factor.work();
            self.work += if after == before { 0.0 } else { POINT_OF_RULE * after as f64 };
        }
        (self.work <= self.most).then_some(())
    }

    /// Notes samples in `[from, from + width]` that are at most `largest` in size.
    fn leave_out(&mut self, from: f64, width: f64, largest: f64) {
        let c = self.course.tilt;
        let sum = (width + self.step) * largest;
        self.done.rest_density += sum;
        self.done.rest += sum / larger(from * from, c * (c + 1.0));
    }

    /// Whether all samples from `t` on are negligible; if so they are noted.
    fn rest_is_quiet(&mut self, t: f64) -> bool {
        let log = self.log_rest(t);
        if log > -QUIET {
            return false;
        }
        let largest = libm::exp(log);
        // The sum of 1 / t^2, and of a Gaussian tail.
        self.done.rest += largest * (1.0 / t + self.step / (t * t));
        self.done.rest_density += largest * (self.step + 1.0 / (self.course.variance * t));
        true
    }

    /// Whether all values in `[t, t + 2 half]` are negligible.
    fn stretch_is_quiet(&mut self, t: f64, half: f64) -> bool {
        let mut log = -0.5 * self.course.variance * t * t;
        for factor in self.factors.iter() {
            if log <= -QUIET {
                break;
            }
            self.work += factor.work() as f64;
            log += factor.count * libm::log(smaller(factor.around(t + half, half), 1.0));
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
            self.work += factor.work() as f64;
            let count = factor.count;
            // All factors are at most 1: what is negligible stays so.
            let largest =
                size(value) * libm::exp(count * smaller(libm::log(near + off), 0.0) + error);
            if largest < libm::exp(-QUIET - 8.0) || near <= 0.0 {
                return Sample { t, value: (0.0, 0.0), error: largest };
            }
            value = times(value, power(base, count));
            error += count * (off / near + 24.0 * UNIT);
        }
        let error = size(value) * libm::expm1(smaller(error, 700.0));
        Sample { t, value, error }
    }
}

#[cfg(test)]
mod tests {
    use dp_check::Interval;

    use super::super::event::{Direction, Event};
    use super::super::factor::Factor;
    use super::super::mix::Period;
    use super::super::pair::Pair;
    use super::super::rule::Rule;
    use super::*;
    use crate::outward::Upper;

    fn course(tilt: f64) -> Course {
        Course {
            tilt,
            period: Period { length: 1.0, rate: 1.0 },
            variance: 1.0,
            extra: 0.0,
            log_scale: 0.0,
            log_error: 0.0,
            cut: Upper::ZERO,
            center: 0.0,
        }
    }

    /// Where a factor would take too many points the walk ends: those that it has are not good there.
    #[test]
    fn no_walk_goes_where_a_factor_takes_too_many_points() {
        let event = Event::gaussian(1.0).unwrap().poisson_sampled(0.1).unwrap();
        let pair = Pair::new(event, Direction::Remove, 60.0);
        let factor = Factor::Sampled(pair.smooth.unwrap(), pair.atoms);
        let mut factors = [Ready::new(&factor, 1.0, 0.5).unwrap()];
        let done = Sampled { samples: Vec::new(), rest: 0.0, rest_density: 0.0 };
        let (course, most) = (course(0.5), f64::INFINITY);
        let mut walk = Walk { course, step: 0.25, factors: &mut factors, done, work: 0.0, most };
        assert!(walk.reach(100.0).is_some() && walk.reach(1e9).is_none());
    }

    /// At every frequency the factors have points enough for it, as a rule for all of them has.
    #[test]
    fn samples_are_those_of_the_law() {
        let event = Event::gaussian(1.0).unwrap().poisson_sampled(0.1).unwrap();
        let smooth = Pair::new(event, Direction::Remove, 60.0).smooth.unwrap();
        let factor = Factor::Sampled(smooth, Vec::new());
        let mut factors = [Ready::new(&factor, 1.0, 0.5).unwrap()];
        let course = Course { variance: 1e-3, ..course(0.5) };
        let samples = walk(course, 0.25, &mut factors, &mut 1e9).unwrap().samples;
        let rule = Rule::sampled(&smooth, &[], 0.5, 300.0).unwrap();
        for &Sample { t, value, error } in &samples {
            let (sin, cos) = (0.5 * course.variance * 2.0 * t).sin_cos();
            let decay = libm::exp(-0.5 * course.variance * t * t);
            let want = times(rule.at(t), (decay * cos, decay * sin));
            let off = size((value.0 - want.0, value.1 - want.1));
            assert!(off <= error + 1e-13 && error < 1e-9, "{t}: {off} {error}");
        }
        assert!(samples.len() > 500 && samples.iter().all(|sample| sample.t < 300.0));
    }

    /// A steep tilt turns it far, a high frequency makes it small: in intervals of big integers.
    #[test]
    fn samples_of_a_gaussian_are_off_by_no_more_than_is_said() {
        let of = Interval::of;
        for (tilt, variance, at) in [(1e6, 0.013, 0.37), (1e-3, 1.6, 20.1)] {
            let mut worst = 0.0;
            for i in 0..300 {
                let t = at + 1e-3 * f64::from(i);
                let course = Course { variance, ..course(tilt) };
                let done = Sampled { samples: Vec::new(), rest: 0.0, rest_density: 0.0 };
                let factors = &mut [];
                let mut walk = Walk { course, step: 0.25, factors, done, work: 0.0, most: 0.0 };
                let Sample { value, error, .. } = walk.sample(t);
                let half = &of(0.5 * variance) * &of(t);
                let decay = (-&(&half * &of(t))).exp().approximate();
                let turn = &half * &(&(&of(2.0) * &of(tilt)) + &of(1.0));
                let near = turn.approximate();
                let ((sin, cos), lacks) = (near.sin_cos(), (&turn - &of(near)).approximate());
                let truth = (decay * (cos - lacks * sin), decay * (sin + lacks * cos));
                let off = size((value.0 - truth.0, value.1 - truth.1)) / decay;
                assert!(off <= error / decay, "{tilt} {t}: {off:e} of {:e}", error / decay);
                worst = larger(worst, off / error * decay);
            }
            assert!(worst > 0.06, "{tilt}: {worst}");
        }
    }

    /// Against plain sums over the frequencies, with the kernel of the curve and without.
    #[test]
    fn what_is_left_out_adds_up() {
        let (tilt, step) = (0.5, 0.25);
        let done = Sampled { samples: Vec::new(), rest: 0.0, rest_density: 0.0 };
        let course = course(tilt);
        let mut walk = Walk { course, step, factors: &mut [], done, work: 0.0, most: 0.0 };
        let (mut curve, mut density) = (0.0, 0.0);
        for (from, steps, largest) in [(0.25, 0, 1e-3), (1.0, 8, 1e-4), (40.0, 32, 1e-2)] {
            walk.leave_out(from, step * f64::from(steps), largest);
            for place in 0..=steps {
                let t = from + step * f64::from(place);
                let kernel = (t * t + tilt * tilt) * (t * t + (tilt + 1.0) * (tilt + 1.0));
                curve += step * largest / kernel.sqrt();
                density += step * largest;
            }
            let Sampled { rest, rest_density, .. } = walk.done;
            assert!((curve..4.0 * curve).contains(&rest), "{rest} {curve}");
            assert!((0.999..1.001).contains(&(rest_density / density)), "{rest_density}");
        }
    }
}

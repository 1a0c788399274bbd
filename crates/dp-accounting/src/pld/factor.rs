//! The transform of one part of a mix along a vertical line, and how large it can be where it is not looked at.

use super::moments::{LogPoints, Moments};
use super::rule::Rule;
use super::smooth::Smooth;
use crate::outward::{Upper, larger, largest, smaller, sum};
use crate::rounding::UNIT;

pub(crate) type Complex = (f64, f64);

pub(crate) fn times(a: Complex, b: Complex) -> Complex {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

pub(crate) fn over(a: Complex, b: Complex) -> Complex {
    let square = b.0 * b.0 + b.1 * b.1;
    ((a.0 * b.0 + a.1 * b.1) / square, (a.1 * b.0 - a.0 * b.1) / square)
}

pub(crate) fn size(a: Complex) -> f64 {
    (a.0 * a.0 + a.1 * a.1).sqrt()
}

/// `base^count`, `|base| <= 1`.
pub(crate) fn power(base: Complex, count: f64) -> Complex {
    if count <= 1.0 {
        return base;
    }
    let square = base.0 * base.0 + base.1 * base.1;
    if square == 0.0 {
        return (0.0, 0.0);
    }
    let size = libm::exp(0.5 * count * libm::log(square));
    let (sin, cos) = libm::sincos(count * libm::atan2(base.1, base.0));
    (size * cos, size * sin)
}

/// One part of a mix.
#[derive(Clone, Debug)]
pub(crate) enum Factor {
    /// Masses at single losses, and what the list was cut from, if it was cut.
    Atoms(LogPoints, Option<Lattice>),
    /// As the former, of which only moments are asked.
    Whole(Lattice),
    Laplace(f64),
    Range(f64),
    /// A continuous part, and atoms at its ends.
    Sampled(Smooth, Vec<(f64, f64)>),
}

/// Discrete Gaussian noise on the integers, and how far it is shifted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lattice {
    pub(crate) variance: f64,
    pub(crate) shift: f64,
}

impl Lattice {
    /// `ln E e^(s L)` of the whole law.
    ///
    /// The loss at `shift + y` is `shift (2 y + shift) / (2 v)`: completing the square, the moment is `e^(s (s + 1) shift^2 / (2 v))` times
    /// `W(s shift) / W(0)`, where `W(c)` sums `e^(-(y - c)^2 / (2 v))` over the integers. `W` has period 1 and is largest at 0 (its Fourier
    /// coefficients are positive), so the second factor is at most 1, and it is 1 up to `4 e^(-2 pi^2 v)`.
    fn whole_moment(self, s: f64) -> Upper {
        let Self { variance, shift } = self;
        let square = s * (s + 1.0) * shift * shift / (2.0 * variance);
        let first = Upper::near(square, 8.0 * UNIT * square.abs());
        if variance >= 2.0 {
            return first;
        }
        let place = s * shift;
        let off = place - place.round();
        // The place itself is off by a unit of its size; past 2^40 that is left at the bound.
        if place.abs() >= 1e12 || place.is_nan() {
            return first;
        }
        let weights = |c: f64| {
            sum((-40_i32..=40).map(|y| {
                let x = f64::from(y) - c;
                libm::exp(-x * x / (2.0 * variance))
            }))
        };
        // The slope of `ln W` is at most `1 / (2 v)` in size where `|c| <= 1/2`, twice that with room; 40 is 28 standard deviations.
        let error = 64.0 * UNIT + 2.0 * UNIT * (1.0 + place.abs()) / variance;
        first + Upper::near(libm::log(weights(off) / weights(0.0)), error)
    }
}

/// `ln(2 sinh(a e) / a)`.
fn log_sinh_ratio(a: f64, e: f64) -> f64 {
    let a = larger(a.abs(), 1e-12);
    a * e + libm::log(-libm::expm1(-2.0 * a * e) / a)
}

fn log_laplace(e: f64, s: f64) -> f64 {
    let terms = [
        s * e + libm::log(0.5),
        -(s + 1.0) * e + libm::log(0.5),
        log_sinh_ratio(s + 0.5, e) - e / 2.0 + libm::log(0.25),
    ];
    let top = largest(terms);
    top + libm::log(sum(terms.map(|x| libm::exp(x - top))))
}

impl Moments for Factor {
    /// `ln E e^(s L)`, as far as the factor was not cut, and how far it may be off.
    fn log_moment_and_error(&self, s: f64) -> (f64, f64) {
        let closed = |end: f64| UNIT * (64.0 + 8.0 * (s.abs() + 1.0) * end);
        match self {
            Self::Atoms(points, _) => points.log_moment_and_error(s),
            Self::Whole(lattice) => (lattice.whole_moment(s).get(), 0.0),
            &Self::Laplace(e) => (log_laplace(e, s), closed(e)),
            &Self::Range(eta) => {
                let scale = -0.5 / libm::expm1(-eta) * libm::exp(-eta / 2.0);
                let log = libm::log(scale);
                (log + log_sinh_ratio(s + 0.5, eta), closed(eta) + 8.0 * UNIT * log.abs())
            }
            Self::Sampled(smooth, atoms) => match Rule::sampled(smooth, atoms, s, 0.0) {
                Some(rule) => (rule.log_moment, rule.error),
                None => (f64::INFINITY, 0.0),
            },
        }
    }
}

/// A moment of sampled noise takes about so many points at most: a search evaluates a hundred.
const MOMENT_POINTS: f64 = 1500.0;

impl Factor {
    /// `ln E e^(s L)` of the whole law, with what was cut off.
    pub(crate) fn whole_moment(&self, s: f64) -> Upper {
        match self {
            Self::Atoms(_, Some(lattice)) | Self::Whole(lattice) => lattice.whole_moment(s),
            _ => self.upper(s),
        }
    }

    /// The order up to which a moment takes few points.
    pub(crate) fn most_order(&self) -> f64 {
        let Self::Sampled(smooth, _) = self else { return f64::INFINITY };
        let mut order = 1e6;
        let few = |order: f64| Rule::size(smooth, order, 0.0) <= MOMENT_POINTS;
        while order > 1.0 && !few(order) {
            order *= std::f64::consts::FRAC_1_SQRT_2;
        }
        order
    }

    /// Half the distance between the smallest and the largest loss.
    fn half_range(&self) -> f64 {
        match self {
            Self::Atoms(points, _) => points.half_range(),
            Self::Laplace(end) | Self::Range(end) => *end,
            Self::Whole(_) | Self::Sampled(..) => f64::INFINITY,
        }
    }

    /// A bound on the standard deviation of the loss under the tilt: `x^2 <= 2 (cosh(h x) - 1) / h^2`, for any `h`.
    fn spread(&self, tilt: f64) -> f64 {
        let (here, mut error) = self.log_moment_and_error(tilt);
        let mut least = self.half_range();
        let mut nudge = 0.5 * tilt;
        for _ in 0..6 {
            let (above, error_above) = self.log_moment_and_error(tilt + nudge);
            let (below, error_below) = self.log_moment_and_error(tilt - nudge);
            error = largest([error, error_above, error_below]);
            let mean = (above - below) / (2.0 * nudge);
            let excess = |moment: f64, way: f64| libm::expm1(moment - here - way * nudge * mean);
            let sum = excess(above, 1.0) + excess(below, -1.0) + 16.0 * (error + UNIT);
            let spread = larger(sum, 0.0).sqrt() / nudge * (1.0 + 1e-9);
            if spread < least {
                least = spread;
            }
            // Small next to the inverse, or rare large losses count too much; not so small that rounding decides.
            let next = smaller(0.003 / least, 0.9 * tilt);
            if !next.is_finite() || (next / nudge - 1.0).abs() < 0.3 {
                break;
            }
            nudge = next;
        }
        least
    }
}

/// What the transform is made of, divided by its value on the real axis.
#[derive(Clone, Debug)]
enum Form {
    Points(Rule),
    /// Ends at `+-end` with masses `top`, `bottom`, and `(up e^(i t end) - down e^(-i t end)) / (x + i t)`.
    Ends {
        end: f64,
        x: f64,
        top: f64,
        bottom: f64,
        sum: f64,
        difference: f64,
        error: f64,
    },
}

/// A factor on one line.
#[derive(Clone, Debug)]
pub(crate) struct Ready<'a> {
    factor: &'a Factor,
    pub(crate) count: f64,
    tilt: f64,
    form: Form,
    /// Frequencies for which the form is good.
    most: f64,
    /// The size changes at most this fast.
    pub(crate) spread: f64,
    /// `(still, fall)`: the size is at most `still + fall / t`.
    settled: Vec<(f64, f64)>,
}

impl<'a> Ready<'a> {
    /// Nothing if the factor has too many points.
    pub(crate) fn new(factor: &'a Factor, count: f64, tilt: f64) -> Option<Self> {
        let log_moment = factor.log_moment(tilt);
        if !log_moment.is_finite() {
            return None;
        }
        let mut deviation = f64::INFINITY;
        let (form, most, settled) = match factor {
            Factor::Atoms(atoms, _) => {
                (Form::Points(Rule::atoms(atoms, tilt)), f64::INFINITY, Vec::new())
            }
            // It has no transform.
            Factor::Whole(_) => return None,
            &Factor::Laplace(end) => {
                let up = 0.25 * libm::exp(tilt * end - log_moment);
                let down = up * libm::exp(-2.0 * (tilt + 0.5) * end);
                ends(end, tilt, 2.0 * up, 2.0 * down, up)
            }
            &Factor::Range(end) => {
                let up = -0.5 / libm::expm1(-end) * libm::exp(tilt * end - log_moment);
                ends(end, tilt, 0.0, 0.0, up)
            }
            Factor::Sampled(smooth, atoms) => {
                let rule = Rule::sampled(smooth, atoms, tilt, 0.0)?;
                let outline = smooth.outline(atoms, tilt, log_moment);
                deviation = outline.deviation;
                (Form::Points(rule), 0.0, outline.settled)
            }
        };
        let spread = if deviation.is_finite() { deviation } else { factor.spread(tilt) };
        Some(Self { factor, count, tilt, form, most, spread, settled })
    }

    /// Makes the factor good for frequencies up to `most`; false if that takes too many points.
    pub(crate) fn reach(&mut self, most: f64) -> bool {
        let (true, Factor::Sampled(smooth, atoms)) = (most > self.most, self.factor) else {
            return true;
        };
        let Some(rule) = Rule::sampled(smooth, atoms, self.tilt, most) else { return false };
        (self.form, self.most) = (Form::Points(rule), most);
        true
    }

    /// `E e^((c + i t) L)` divided by its value at `t = 0`.
    pub(crate) fn at(&self, t: f64) -> Complex {
        match &self.form {
            Form::Points(rule) => {
                debug_assert!(t <= self.most * (1.0 + 1e-9), "points too few for {t}");
                rule.at(t)
            }
            Form::Ends { end, x, top, bottom, sum, difference, .. } => {
                let (sin, cos) = (t * end).sin_cos();
                let inner = over((difference * cos, sum * sin), (*x, t));
                ((top + bottom) * cos + inner.0, (top - bottom) * sin + inner.1)
            }
        }
    }

    /// How far [`Self::at`] may be off at `t`.
    pub(crate) fn error(&self, t: f64) -> f64 {
        match &self.form {
            Form::Points(rule) => rule.error + t * rule.turn,
            Form::Ends { end, error, .. } => error + 4.0 * UNIT * t * end,
        }
    }

    /// Sines and cosines that one evaluation takes.
    pub(crate) fn work(&self) -> usize {
        match &self.form {
            Form::Points(rule) => rule.points.len(),
            Form::Ends { .. } => 1,
        }
    }

    /// A bound on the size at every frequency from `t` on.
    pub(crate) fn settled(&self, t: f64) -> f64 {
        let mut least = 1.0;
        for (still, fall) in &self.settled {
            let bound = still + fall / t;
            if bound < least {
                least = bound;
            }
        }
        least
    }

    /// A bound on the size at every frequency within `half` of `middle`: it changes at most as fast as the standard deviation says.
    pub(crate) fn around(&self, middle: f64, half: f64) -> f64 {
        let near = size(self.at(middle)) + self.error(middle) + self.spread * half;
        Upper::new(near).or(Upper::new(self.settled(middle - half))).get()
    }
}

fn ends(end: f64, tilt: f64, top: f64, bottom: f64, up: f64) -> (Form, f64, Vec<(f64, f64)>) {
    let x = tilt + 0.5;
    let sum = up * (1.0 + libm::exp(-2.0 * x * end));
    let difference = up * -libm::expm1(-2.0 * x * end);
    let slack = 1.0 + 1e-9;
    let settled = vec![((top + bottom) * slack, sum * slack)];
    let error = UNIT * (128.0 + 16.0 * x * end);
    (Form::Ends { end, x, top, bottom, sum, difference, error }, f64::INFINITY, settled)
}

#[cfg(test)]
mod tests {
    use dp_check::Interval;

    use super::*;

    /// At high frequencies it is the rounding of the angle that counts: against the angle with what its product lacks.
    #[test]
    fn the_error_of_ends_holds_at_high_frequencies() {
        for factor in [Factor::Laplace(1.1), Factor::Range(0.7)] {
            let ready = Ready::new(&factor, 1.0, 0.3).unwrap();
            let Form::Ends { end, x, top, bottom, sum, difference, error } = ready.form else {
                panic!("{factor:?} has ends");
            };
            let mut worst = 0.0;
            for i in 0..2000 {
                let t = 1e7 + 0.37 * f64::from(i);
                let angle = t * end;
                let ((sin, cos), lacks) = (angle.sin_cos(), t.mul_add(end, -angle));
                let (sin, cos) = (sin + lacks * cos, cos - lacks * sin);
                let inner = over((difference * cos, sum * sin), (x, t));
                let truth = ((top + bottom) * cos + inner.0, (top - bottom) * sin + inner.1);
                let at = ready.at(t);
                let off = (at.0 - truth.0).hypot(at.1 - truth.1);
                assert!(off <= ready.error(t), "{t}: {off:e}");
                worst = larger(worst, off);
            }
            // Laplace noise has atoms, whose share does not fall with the frequency: there is something to see.
            assert!(worst > error || top == 0.0, "{worst:e} {error:e}");
        }
    }

    /// At frequency 0 the transform of any law is 1: a moment in the thousands, which the ends are divided by, is rounded like it.
    #[test]
    fn the_error_of_ends_holds_for_steep_tilts() {
        for make in [Factor::Laplace, Factor::Range] {
            let mut worst = 0.0;
            for i in 0..2000 {
                let factor = make(1.1 + 1e-3 * f64::from(i));
                let ready = Ready::new(&factor, 1.0, 3000.3 + f64::from(i)).unwrap();
                let off = size((ready.at(0.0).0 - 1.0, ready.at(0.0).1));
                assert!(off <= ready.error(0.0), "{factor:?}: {off:e}");
                worst = larger(worst, off / UNIT);
            }
            assert!(worst > 256.0, "more than that of a transform without a tilt: {worst}");
        }
    }

    /// All mass is some mass, and the other one is what Simpson's rule says of the density.
    #[test]
    fn moments_of_a_range_are_those_of_its_density() {
        for eta in [0.01, 0.7, 5.0] {
            let (n, factor) = (2_000_u32, Factor::Range(eta));
            let scale = -0.5 / libm::expm1(-eta);
            for s in [0.0, 0.3, 2.0] {
                let width = 2.0 * eta / f64::from(n);
                let whole = sum((0..=n).map(|i| {
                    let x = -eta + width * f64::from(i);
                    let weight = if i == 0 || i == n { 1.0 } else { f64::from(2 + 2 * (i % 2)) };
                    weight * width / 3.0 * scale * libm::exp(-0.5 * (x + eta) + (s + 1.0) * x)
                }));
                let off = (factor.log_moment(s) - libm::log(whole)).abs();
                assert!(off < 1e-9, "{eta} {s}: {off:e}");
            }
        }
    }

    /// `E e^(s L)` in intervals of big integers.
    #[test]
    fn moments_are_off_by_no_more_than_is_said() {
        let of = Interval::of;
        let half = of(0.5);
        let mut worst = 0.0;
        for (i, end) in [1e-60, 1e-45, 1e-9, 0.013, 0.7, 3.1, 49.7, 190.0].into_iter().enumerate() {
            for j in 0..40_u32 {
                let s = if j < 10 {
                    -0.93 + 0.17 * f64::from(j)
                } else {
                    1e-2 * libm::exp(0.6 * f64::from(j - 10))
                };
                let (e, a) = (of(end), &of(s) + &half);
                // The integral does not change with the sign.
                let a = if s < -0.5 { -&a } else { a };
                let ends = (&a * &e).exp();
                let between = &(&ends - &(&of(1.0) / &ends)) / &a;
                let fall = (-&(&e * &half)).exp();
                let masses =
                    &(&(&of(s) * &e).exp() + &(-&(&(&of(s) + &of(1.0)) * &e)).exp()) * &half;
                let laplace = &masses + &(&(&between * &fall) * &of(0.25));
                let scale = &half / &(&of(1.0) - &(-&e).exp());
                let range = &(&between * &fall) * &scale;
                for (factor, moment) in
                    [(Factor::Laplace(end), laplace), (Factor::Range(end), range)]
                {
                    let (truth, (log, error)) = (moment.ln(), factor.log_moment_and_error(s));
                    let off = (&of(log) - &truth).approximate().abs();
                    assert!(off <= error, "{i} {factor:?} {s}: {off:e} of {error:e}");
                    worst = larger(worst, off / error);
                }
            }
        }
        // A thirty-second part of the margin would not do.
        assert!(worst > 1.0 / 32.0, "{worst}");
    }

    /// The sum over the integers, in intervals, as it stands.
    fn whole(variance: f64, shift: f64, orders: &[f64]) -> Vec<Interval> {
        let of = Interval::of;
        let weight = |x: f64| (-&(&(&of(x) * &of(x)) / &(&of(2.0) * &of(variance)))).exp();
        let all: Vec<(f64, Interval)> = (-90..=90).map(f64::from).map(|y| (y, weight(y))).collect();
        let total = all.iter().fold(of(0.0), |sum, (_, weight)| &sum + weight);
        // The loss at `shift + y`.
        let loss = |y: f64| &(&of(shift) * &(&of(2.0 * y) + &of(shift))) / &of(2.0 * variance);
        let losses: Vec<(Interval, &Interval)> =
            all.iter().map(|(y, weight)| (loss(*y), weight)).collect();
        let moment = |s: &f64| {
            let terms = losses.iter().map(|(loss, weight)| *weight * &(&of(*s) * loss).exp());
            (&terms.fold(of(0.0), |sum, term| &sum + &term) / &total).ln()
        };
        orders.iter().map(moment).collect()
    }

    /// The same completed to a square. Next to a moment of nearly 0 it is the sums that round, not the square.
    #[test]
    fn whole_moments_are_rounded_up_by_little() {
        let small: Vec<f64> = (1..40).map(|i| 1e-3 * f64::from(i)).collect();
        for (variance, shift, orders) in [
            (0.3, 1.0, &[-0.4, 1.0, 4.7][..]),
            (1.7, 3.0, &[-0.4, 1.0, 4.7]),
            (2.5, 2.0, &[-0.4, 1.0, 4.7]),
            (20.0, 3.0, &[-0.4, 1.0, 4.7]),
            (1.9, 1.0, &small),
        ] {
            for (s, truth) in orders.iter().zip(whole(variance, shift, orders)) {
                let upper = Lattice { variance, shift }.whole_moment(*s).get();
                assert!(!truth.reaches_above(upper + 1e-30), "{variance} {s}: {upper} {truth}");
                assert!(
                    upper - truth.approximate() <= 1e-2 + 1e-12 * upper,
                    "{variance} {s}: {upper} {truth}"
                );
            }
        }
    }

    /// Of an order next to -1 the square is nearly nothing, and it is the place that rounds.
    #[test]
    fn whole_moments_of_large_shifts_are_rounded_up() {
        let of = Interval::of;
        let (variance, s) = (0.3, -1.0 + 1e-12);
        let twice = of(2.0 * variance);
        let weights = |c: &Interval| {
            let weight = |y: i32| {
                let x = &of(f64::from(y)) - c;
                (-&(&(&x * &x) / &twice)).exp()
            };
            (-20..=20).map(weight).fold(of(0.0), |sum, weight| &sum + &weight)
        };
        let all = weights(&of(0.0));
        for i in 0..200 {
            let shift = 1e6 + 0.377 * f64::from(i);
            let place = &of(s) * &of(shift);
            let off = &place - &of((s * shift).round());
            let square = &(&(&place * &(&of(s) + &of(1.0))) * &of(shift)) / &twice;
            let truth = &square + &(&weights(&off) / &all).ln();
            let upper = Lattice { variance, shift }.whole_moment(s).get();
            assert!(!truth.reaches_above(upper), "{shift}: {upper} {truth}");
            assert!(upper - truth.approximate() < 1e-8, "{shift}: {upper} {truth}");
        }
    }
}

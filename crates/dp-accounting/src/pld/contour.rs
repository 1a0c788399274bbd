//! Inversion along a vertical line: mixes whose losses share no lattice, with both bounds.
//!
//! `delta(e) = 1/(2 pi) * integral over t of exp(K(s) - s e) / (s (s + 1))` at `s = c + i t`, for any `c > 0`. The trapezoid
//! rule with step `2 pi / period` adds the curve at `e + m period`, times `e^(c m period)`: positive terms, bounded by the
//! moments. Where the mix has no Gaussian of its own to end the integral, one of variance `v` is added: that is one more mechanism, so the
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

use super::bound::Bound;
use super::event::{Direction, Event, Kind};
use super::grid::Query;
use super::moments::{Moments, log_peak, log_sum, order_for_delta, order_for_epsilon};
use super::pair::Pair;
use crate::rounding::UNIT;

/// More frequencies than this are refused.
const MOST_FREQUENCIES: f64 = 262_144.0;
/// `ln` of what the wrapped copies and the cut frequencies may add, relative to the integrand at its peak.
const LOG_MISSED: f64 = 46.0;
/// Products below this are taken to be 0.
const NEGLIGIBLE: f64 = 1e-24;
const MOST_TILT: f64 = 1e6;

/// The transform of one part of the mix.
enum Factor {
    /// Masses at losses: exact, or a rule that is exact to rounding.
    Points(Vec<(f64, f64)>),
    Laplace(f64),
    Range(f64),
}

impl Moments for Factor {
    fn log_moment(&self, s: f64) -> f64 {
        match self {
            Self::Points(points) => log_sum(points, s),
            Self::Laplace(e) => log_laplace(*e, s),
            Self::Range(eta) => {
                let scale = -0.5 / libm::expm1(-eta) * libm::exp(-eta / 2.0);
                libm::log(scale) + log_sinh_ratio(s + 0.5, *eta)
            }
        }
    }
}

/// `ln(2 sinh(a e) / a)`.
fn log_sinh_ratio(a: f64, e: f64) -> f64 {
    let a = a.abs().max(1e-12);
    a * e + libm::log(-libm::expm1(-2.0 * a * e) / a)
}

fn log_laplace(e: f64, s: f64) -> f64 {
    let terms = [
        s * e + libm::log(0.5),
        -(s + 1.0) * e + libm::log(0.5),
        log_sinh_ratio(s + 0.5, e) - e / 2.0 + libm::log(0.25),
    ];
    let top = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    top + libm::log(terms.iter().map(|x| libm::exp(x - top)).sum::<f64>())
}

type Complex = (f64, f64);

fn times(a: Complex, b: Complex) -> Complex {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

fn over(a: Complex, b: Complex) -> Complex {
    let square = b.0 * b.0 + b.1 * b.1;
    ((a.0 * b.0 + a.1 * b.1) / square, (a.1 * b.0 - a.0 * b.1) / square)
}

/// A factor on one line, divided by its value on the real axis: what does not change with the frequency is ready.
enum Ready {
    /// Losses and tilted masses.
    Points(Vec<(f64, f64)>),
    /// Ends at `+-end` with masses `top`, `bottom`, and `middle * (e^(a end) - e^(-a end)) / a` with `a = x + i t`.
    Ends { end: f64, x: f64, top: f64, bottom: f64, up: f64, down: f64 },
}

impl Factor {
    fn ready(&self, c: f64, log: f64) -> Ready {
        let x = c + 0.5;
        match self {
            Self::Points(points) => Ready::Points(
                points
                    .iter()
                    .map(|&(loss, mass)| (loss, mass * libm::exp(c * loss - log)))
                    .collect(),
            ),
            &Self::Laplace(end) => {
                let up = 0.25 * libm::exp(c * end - log);
                let down = up * libm::exp(-2.0 * x * end);
                Ready::Ends { end, x, top: 2.0 * up, bottom: 2.0 * down, up, down }
            }
            &Self::Range(end) => {
                let up = -0.5 / libm::expm1(-end) * libm::exp(c * end - log);
                let down = up * libm::exp(-2.0 * x * end);
                Ready::Ends { end, x, top: 0.0, bottom: 0.0, up, down }
            }
        }
    }
}

impl Ready {
    /// `E e^((c + i t) L)` divided by its value at `t = 0`.
    fn at(&self, t: f64) -> Complex {
        match self {
            Self::Points(points) => {
                let (mut re, mut im) = (0.0, 0.0);
                for &(loss, mass) in points {
                    let (sin, cos) = (t * loss).sin_cos();
                    re += mass * cos;
                    im += mass * sin;
                }
                (re, im)
            }
            Self::Ends { end, x, top, bottom, up, down } => {
                let (sin, cos) = (t * end).sin_cos();
                let inner = over(((up - down) * cos, (up + down) * sin), (*x, t));
                ((top + bottom) * cos + inner.0, (top - bottom) * sin + inner.1)
            }
        }
    }
}

/// A mix: Gaussian variance of the loss, and the rest.
pub(crate) struct Mix {
    variance: f64,
    factors: Vec<(Factor, f64)>,
    cut: f64,
}

impl Moments for Mix {
    fn log_moment(&self, s: f64) -> f64 {
        let rest: f64 = self.factors.iter().map(|(f, count)| count * f.log_moment(s)).sum();
        0.5 * self.variance * (s * s + s) + rest
    }
}

struct Smoothed<'a>(&'a Mix, f64);

impl Moments for Smoothed<'_> {
    fn log_moment(&self, s: f64) -> f64 {
        self.0.log_moment(s) + 0.5 * self.1 * (s * s + s)
    }
}

impl Mix {
    /// Takes the parts of a mix apart; `frequency` bounds where rules must be exact.
    pub(crate) fn new(parts: &[(Event, f64)], direction: Direction, log_cut: f64) -> Self {
        let mut mix = Self { variance: 0.0, factors: Vec::new(), cut: 0.0 };
        for &(event, count) in parts {
            if let (Kind::Gaussian { noise_multiplier }, true) = (event.kind, event.rate >= 1.0) {
                mix.variance += count / (noise_multiplier * noise_multiplier);
            }
        }
        // Rules for continuous parts must follow the oscillation up to where the Gaussian ends it.
        let fastest = (2.0 * LOG_MISSED / mix.variance.max(1e-12)).sqrt().clamp(500.0, 2e3);
        for &(event, count) in parts {
            let factor = match event.kind {
                Kind::Gaussian { .. } if event.rate >= 1.0 => continue,
                Kind::Laplace { epsilon } if event.rate >= 1.0 => Factor::Laplace(epsilon),
                Kind::BoundedRange { eta } => Factor::Range(eta),
                _ => {
                    let pair = Pair::new(event, direction, log_cut);
                    mix.cut += count * pair.cut;
                    let mut points = pair.atoms;
                    if let Some(smooth) = pair.smooth {
                        points.extend(smooth.nodes(fastest));
                    }
                    Factor::Points(points)
                }
            };
            mix.factors.push((factor, count));
        }
        // Wide ones first: their product vanishes soonest.
        mix.factors.sort_by(|a, b| b.0.log_moment(1.0).total_cmp(&a.0.log_moment(1.0)));
        mix
    }

    /// Whether the rules hold at every frequency that the inversion may need.
    fn rules_hold(&self, fastest: f64) -> bool {
        let limit = (2.0 * LOG_MISSED / self.variance.max(1e-12)).sqrt().clamp(500.0, 2e3);
        let has_rules = self
            .factors
            .iter()
            .any(|(factor, _)| matches!(factor, Factor::Points(points) if points.len() > 400));
        !has_rules || fastest <= limit
    }

    /// Both bounds, or nothing if it would take too many frequencies.
    pub(crate) fn answer(&self, query: Query, gap: f64) -> Option<Bound> {
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
        // The added Gaussian moves epsilon by about its variance times 1 + tilt.
        let added = 0.5 * gap * epsilon.max(1.0) / (1.0 + tilt);
        let mut line = None;
        for extra in [0.0, added, 4.0 * added, 64.0 * added] {
            line = self.line(tilt, epsilon, extra);
            if line.is_some() {
                break;
            }
        }
        let line = line?;
        Some(match query {
            Query::Epsilon(delta) => {
                let upper = line.solve(epsilon, delta, Line::upper, true);
                let lower = line.solve(epsilon, delta, Line::lower, false);
                Bound::new(lower, upper)
            }
            Query::Delta(epsilon) => Bound::new(line.lower(epsilon).max(0.0), line.upper(epsilon)),
        })
    }

    /// Samples the integrand; nothing if there would be too many frequencies.
    fn line(&self, tilt: f64, epsilon: f64, extra: f64) -> Option<Line> {
        let total = self.variance + extra;
        let last = (2.0 * LOG_MISSED / total.max(1e-300)).sqrt();
        if !self.rules_hold(last.max(tilt)) {
            return None;
        }
        let smoothed = Smoothed(self, extra);
        let period = period(&smoothed, tilt, epsilon)?;
        let step = 2.0 * PI / period;
        let frequencies = (last / step).ceil();
        if frequencies.is_nan() || frequencies > MOST_FREQUENCIES {
            return None;
        }
        let logs: Vec<f64> =
            self.factors.iter().map(|(factor, _)| factor.log_moment(tilt)).collect();
        let ready: Vec<(Ready, f64)> = self
            .factors
            .iter()
            .zip(logs)
            .map(|((factor, count), log)| (factor.ready(tilt, log), *count))
            .collect();
        let uses: f64 = self.factors.iter().map(|(_, count)| count).sum();
        let mut values = Vec::new();
        let mut dropped = 0.0;
        let mut t = 0.0;
        while t <= last {
            let decay = libm::exp(-0.5 * total * t * t);
            let turn = 0.5 * total * (2.0 * tilt + 1.0) * t;
            let (sin, cos) = libm::sincos(turn);
            let mut value = (decay * cos, decay * sin);
            for (factor, count) in &ready {
                value = times(value, power(factor.at(t), *count));
                if value.0.abs() + value.1.abs() < NEGLIGIBLE {
                    break;
                }
            }
            if value.0.abs() + value.1.abs() < NEGLIGIBLE {
                dropped += 2.0 * NEGLIGIBLE;
                value = (0.0, 0.0);
            }
            values.push(value);
            t = values.len() as f64 * step;
        }
        while values.last().is_some_and(|value| value.0 == 0.0 && value.1 == 0.0) {
            values.pop();
        }
        let log_scale = smoothed.log_moment(tilt);
        Some(Line {
            tilt,
            step,
            values,
            log_scale,
            extra,
            // What the frequencies past the last could add: a Gaussian tail.
            dropped: dropped + 2.0 * libm::exp(-LOG_MISSED) * (1.0 + 1.0 / (total * last * step)),
            relative: UNIT * (64.0 * uses + 64.0 + 8.0 * log_scale.abs()),
            cut: self.cut,
            center: epsilon,
        })
    }
}

/// `base^count`, `|base| <= 1`.
fn power(base: Complex, count: f64) -> Complex {
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

/// A period after which the copies are negligible.
fn period(mix: &dyn Moments, tilt: f64, epsilon: f64) -> Option<f64> {
    let here = mix.log_moment(tilt) - tilt * epsilon;
    let (mut up, mut down) = (f64::INFINITY, f64::INFINITY);
    for halves in -12..16 {
        let x = libm::exp2(f64::from(halves) / 2.0) * (0.3 + tilt).min(8.0);
        // A copy at `epsilon + period`: Chernoff at a larger order.
        let order = tilt + x;
        up = up.min(
            (mix.log_moment(order) - order * epsilon + log_peak(order) - here + LOG_MISSED) / x,
        );
        if x < tilt {
            let order = tilt - x;
            down = down.min((mix.log_moment(order) - order * epsilon - here + LOG_MISSED) / x);
        }
    }
    // No curve is above 1.
    down = down.min((LOG_MISSED - here) / tilt);
    let period = up.max(down).max(1e-6);
    // Queries a little off the centre must be covered, too.
    period.is_finite().then_some(1.1 * period)
}

/// The integrand along a line, sampled.
struct Line {
    tilt: f64,
    step: f64,
    /// From frequency 0 on, relative to the value there.
    values: Vec<Complex>,
    log_scale: f64,
    extra: f64,
    dropped: f64,
    relative: f64,
    cut: f64,
    center: f64,
}

impl Line {
    /// The two integrals at `epsilon`, and the sum of magnitudes of the first, in units of the scale.
    fn sums(&self, epsilon: f64) -> (f64, f64, f64, f64) {
        let c = self.tilt;
        let (mut delta, mut density) = (0.0, 0.0);
        let (mut delta_size, mut density_size) = (0.0, 0.0);
        for (j, value) in self.values.iter().enumerate() {
            let t = j as f64 * self.step;
            let (sin, cos) = libm::sincos(-t * epsilon);
            let turned = times(*value, (cos, sin));
            let weight = if j == 0 { 0.5 } else { 1.0 };
            // s (s + 1) at s = c + i t.
            let kernel = (c * (c + 1.0) - t * t, t * (2.0 * c + 1.0));
            let term = over(turned, kernel);
            delta += weight * term.0;
            density += weight * turned.0;
            // The turning itself is off by the rounding of the angle.
            let size = weight * (value.0.abs() + value.1.abs()) * (1.0 + t * epsilon.abs() / 64.0);
            delta_size += size / (kernel.0 * kernel.0 + kernel.1 * kernel.1).sqrt();
            density_size += size;
        }
        let unit = self.step / PI;
        (delta * unit, delta_size * unit, density * unit, density_size * unit)
    }

    fn scale(&self, epsilon: f64) -> f64 {
        libm::exp(self.log_scale - self.tilt * epsilon)
    }

    /// Cut frequencies and rounding, in units of the scale.
    fn error(&self, size: f64, kernel: f64) -> f64 {
        self.dropped * self.step / PI * kernel + self.relative * size
    }

    fn upper(&self, epsilon: f64) -> f64 {
        let (delta, size, _, _) = self.sums(epsilon);
        let kernel = 1.0 / (self.tilt * (self.tilt + 1.0));
        let inside = delta + self.error(size, kernel);
        (self.scale(epsilon) * inside).max(0.0) * (1.0 + self.relative) + self.cut
    }

    fn lower(&self, epsilon: f64) -> f64 {
        let (delta, size, density, density_size) = self.sums(epsilon);
        let kernel = 1.0 / (self.tilt * (self.tilt + 1.0));
        let excess = self.extra * libm::exp(self.extra / 8.0);
        let too_much = excess * (density.max(0.0) + self.error(density_size, 1.0));
        // Copies on both sides, each a geometric sum; more of them away from the centre.
        let drift = libm::exp((epsilon - self.center).abs() * (1.0 + self.tilt));
        let copies = 4.0 * libm::exp(-LOG_MISSED) * drift;
        let inside = delta - self.error(size, kernel) - too_much - copies;
        self.scale(epsilon) * inside * (1.0 - self.relative)
    }

    /// The epsilon at which `curve` reaches `delta`; on the side where it is at most (`upper`) or at least `delta`.
    fn solve(&self, start: f64, delta: f64, curve: impl Fn(&Self, f64) -> f64, upper: bool) -> f64 {
        let target = libm::log(delta);
        let value = |e: f64| libm::log(curve(self, e).max(1e-320)) - target;
        let tiny = 4.0 * UNIT;
        // The curve falls at about the rate of the tilt.
        let (mut e, mut rate) = (start, self.tilt);
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
        let mut margin = tiny * e.max(1.0) + 1e-13 * e;
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

//! Tilted laws of a pair as finitely many points, with a bound on what that costs.
//!
//! A law tilted by `order` has mass in proportion to `e^(order L)` times its own. The points of a [`Rule`] stand for it: their
//! characteristic function is that of the tilted law up to [`Rule::error`], at every frequency up to the one that was asked for.
//!
//! # Proof of the bounds
//! Sampled Gaussian noise: the integrand is `N(z) u(z)^(p + i t)` with `u = 1 - q + q e^g`, `g` linear in `z`, and `p = 1 + order` or
//! `-order`. It is analytic where the imaginary part `a slope` of `g` stays below pi. There the argument of `u` is at most `a slope`,
//! `|u|` is at most its value on the real axis and at least `cos(a slope / 2)` times that, so the integral of the magnitude along
//! the line at height `a` is at most `e^(a^2/2 + t a slope) cos(a slope / 2)^min(p, 0)` times the moment. The trapezoid rule with step `w`
//! is then off by at most `2 / (e^(2 pi a / w) - 1)` times that (Trefethen and Weideman, 2014, Theorem 5.1). Outside of the nodes the
//! logarithm of the integrand falls at a rate of at least 10: a geometric sum.
//!
//! Sampled Laplace noise: on panels of half-width `h` the Gauss rule with ten nodes is off by `64/15 h M r^-20 / (1 - r^-2)` where `M` is the
//! largest magnitude on the ellipse with parameter `r` (the Chebyshev coefficients fall like `r^-k`). With
//! `h (1/2 + 2 |p| + t) <= 1` and `r = 20`, `M` is at most `e^11` times the least value on the panel.

use std::f64::consts::{LN_2, PI};

use super::event::Direction;
use super::moments::LogPoints;
use super::smooth::{Density, LEGENDRE_10, Smooth, sampled_loss};
use crate::outward::{larger, largest, smaller, sum};
use crate::rounding::UNIT;

/// The law of one use of a mechanism under a tilt, as points.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    /// Losses, and masses that sum to 1.
    pub(crate) points: Vec<(f64, f64)>,
    /// `ln E e^(order L)`.
    pub(crate) log_moment: f64,
    /// How far the moment is off, relative to itself, and each value of the characteristic function.
    pub(crate) error: f64,
    /// How much further off the latter is, per unit of frequency.
    pub(crate) turn: f64,
}

/// `-ln` of the error that the rules aim at.
const LOG_ERROR: f64 = 41.0;
/// More points than this are refused.
const MOST_POINTS: f64 = 262_144.0;
/// Masses below this part of the largest are left out.
const NEGLIGIBLE: f64 = 1e-25;
/// Standard deviations that are covered on both sides of where the integrand can have its weight.
const REACH: f64 = 10.0;
/// Error of the Gauss panels, see above.
const PANEL_ERROR: f64 = 1e-17;
/// Half-width of a panel for which the ellipse stays where `u` is analytic and its argument below `pi / 2`.
const MOST_HALF: f64 = 0.157;

/// One point before it is scaled: its mass is `e^exponent`, with rounding errors in units.
struct Term {
    loss: f64,
    exponent: f64,
    exponent_error: f64,
    loss_error: f64,
}

impl Rule {
    /// Masses at single losses, tilted. The losses may be a few units off, the masses 32.
    pub(crate) fn atoms(atoms: &LogPoints, order: f64) -> Self {
        let terms: Vec<Term> = atoms.0.iter().map(|atom| atom_term(*atom, order)).collect();
        Self::gather(&terms, 0.0)
    }

    /// Sampled noise, tilted by `order >= 0`, good for frequencies up to `most`; nothing if that takes too many points.
    pub(crate) fn sampled(
        smooth: &Smooth,
        atoms: &[(f64, f64)],
        order: f64,
        most: f64,
    ) -> Option<Self> {
        match smooth.density {
            Density::Normal => Self::normal(smooth, order, most),
            Density::Falling { scale, end } => {
                Self::falling(smooth, scale, end, atoms, order, most)
            }
        }
    }

    /// The points that [`Rule::sampled`] takes.
    pub(crate) fn size(smooth: &Smooth, order: f64, most: f64) -> f64 {
        match smooth.density {
            Density::Normal => {
                let (low, high) = smooth.span(order);
                ((high - low) / trapezoid_step(smooth.slope, smooth.power(order), most)).ceil()
            }
            Density::Falling { end, .. } => 10.0 * panels(smooth, end, order, most),
        }
    }

    fn normal(smooth: &Smooth, order: f64, most: f64) -> Option<Self> {
        let (low, _) = smooth.span(order);
        let step = trapezoid_step(smooth.slope, smooth.power(order), most);
        let count = Self::size(smooth, order, most);
        if count.is_nan() || count > MOST_POINTS {
            return None;
        }
        let log_step = libm::log(step);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
        let terms: Vec<Term> = (0..=count as u32)
            .map(|i| smooth.term(low + f64::from(i) * step, order, log_step))
            .collect();
        let share = |term: &Term, rule: &Self| {
            libm::exp(term.exponent - rule.log_moment) / -libm::expm1(-REACH * step)
        };
        let mut rule = Self::gather(&terms, libm::exp(-LOG_ERROR));
        let outside = terms.first().into_iter().chain(terms.last()).map(|term| share(term, &rule));
        rule.error += 1.01 * sum(outside);
        Some(rule)
    }

    fn falling(
        smooth: &Smooth,
        scale: f64,
        end: f64,
        atoms: &[(f64, f64)],
        order: f64,
        most: f64,
    ) -> Option<Self> {
        let panels = panels(smooth, end, order, most);
        if panels.is_nan() || 10.0 * panels > MOST_POINTS {
            return None;
        }
        let half = end / panels;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
        let middles = (0..panels as u32).map(|i| -end + half * (2.0 * f64::from(i) + 1.0));
        debug_assert!(scale > 0.0);
        let mut terms: Vec<Term> = middles
            .flat_map(|middle| LEGENDRE_10.iter().map(move |rule| (middle, rule)))
            .map(|(middle, (node, weight))| {
                smooth.term(middle + half * node, order, libm::log(half * weight))
            })
            .collect();
        terms.extend(
            LogPoints::new(atoms.iter().copied()).0.iter().map(|atom| atom_term(*atom, order)),
        );
        Some(Self::gather(&terms, PANEL_ERROR))
    }

    fn gather(terms: &[Term], analytic: f64) -> Self {
        let top = largest(terms.iter().map(|term| term.exponent));
        let mut points = Vec::with_capacity(terms.len());
        let (mut total, mut error, mut turn) = (0.0, 0.0, 0.0);
        for term in terms {
            let mass = libm::exp(term.exponent - top);
            if mass >= NEGLIGIBLE {
                total += mass;
                error += mass * (term.exponent_error + 2.0 * (term.exponent - top).abs());
                turn += mass * (term.loss_error + 2.0 * term.loss.abs());
                points.push((term.loss, mass));
            }
        }
        for point in &mut points {
            point.1 /= total;
        }
        let n = terms.len() as f64;
        // The sums over the points, here and at every frequency, go by blocks: see `sum`.
        let rounding = UNIT * (error / total + 4.0 * n.sqrt() + n / 16.0 + 64.0 + 2.0 * top.abs());
        Self {
            points,
            log_moment: top + libm::log(total),
            error: rounding + analytic + NEGLIGIBLE * n,
            turn: UNIT * turn / total,
        }
    }

    /// `E e^(i t L)` of the tilted law.
    pub(crate) fn at(&self, t: f64) -> (f64, f64) {
        let mut sum = (0.0, 0.0);
        for block in self.points.chunks(16) {
            let (mut re, mut im) = (0.0, 0.0);
            for &(loss, mass) in block {
                let (sin, cos) = (t * loss).sin_cos();
                re += mass * cos;
                im += mass * sin;
            }
            sum = (sum.0 + re, sum.1 + im);
        }
        sum
    }
}

fn panels(smooth: &Smooth, end: f64, order: f64, most: f64) -> f64 {
    let steepness = 0.5 + 2.0 * smooth.power(order).abs() + most;
    (end / smaller(1.0 / steepness, MOST_HALF)).ceil()
}

fn atom_term((loss, log_mass): (f64, f64), order: f64) -> Term {
    let exponent = order * loss + log_mass;
    Term {
        loss,
        exponent,
        exponent_error: 40.0 + 10.0 * (order * loss).abs() + exponent.abs(),
        loss_error: 8.0 * loss.abs(),
    }
}

/// The widest step of the trapezoid rule whose error is below `e^-LOG_ERROR`.
fn trapezoid_step(slope: f64, power: f64, most: f64) -> f64 {
    let widest_angle: f64 = if power > 0.0 { 3.0 } else { 2.0 };
    let steps = (0..24)
        .map(|thirds| smaller(widest_angle, 8.0 * slope) * libm::exp2(-f64::from(thirds) / 3.0))
        .map(|angle| {
            let height = angle / slope;
            let thin = smaller(power, 0.0) * libm::log(libm::cos(angle / 2.0));
            let growth = height * height / 2.0 + most * angle + thin;
            2.0 * PI * height / (growth + LOG_ERROR + 2.0 * LN_2)
        });
    largest(steps)
}

impl Smooth {
    /// The exponent of `u` in the moment of this order.
    pub(crate) fn power(&self, order: f64) -> f64 {
        if self.direction == Direction::Remove { 1.0 + order } else { -order }
    }

    /// Coordinates outside of which the tilted density falls at a rate of at least [`REACH`] (or is 0).
    pub(crate) fn span(&self, order: f64) -> (f64, f64) {
        match self.density {
            Density::Falling { end, .. } => (-end, end),
            Density::Normal => {
                let pull = self.power(order) * self.slope;
                (smaller(pull, 0.0) - REACH, larger(pull, 0.0) + REACH)
            }
        }
    }

    /// `ln u`, its derivative, and a bound on the rounding of the former in units.
    pub(crate) fn log_ratio(&self, z: f64) -> (f64, f64, f64) {
        let g = self.slope * z + self.shift;
        let q = self.rate;
        let log = sampled_loss(q, g);
        let rate = self.slope * q * libm::exp(g - log);
        let error = 4.0 * log.abs()
            + 4.0 * rate / self.slope * ((self.slope * z).abs() + self.shift.abs() + 1.0);
        (log, rate, error)
    }

    /// The tilted mass at `z` of an interval of width `e^log_width`.
    fn term(&self, z: f64, order: f64, log_width: f64) -> Term {
        let (log, _, log_error) = self.log_ratio(z);
        let power = self.power(order);
        let weight = self.log_weight(z);
        Term {
            loss: if self.direction == Direction::Remove { log } else { -log },
            exponent: weight + power * log + log_width,
            exponent_error: 8.0 + 6.0 * z * z + power.abs() * log_error + 2.0 * log_width.abs(),
            loss_error: log_error,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use dp_check::Interval;

    use super::super::event::Event;
    use super::super::pair::Pair;
    use super::*;

    /// Composite Simpson on a grid so fine that it cannot be far off.
    fn plain(pair: &Pair, order: f64, t: f64) -> (f64, f64) {
        let smooth = pair.smooth.as_ref().unwrap();
        let (low, high) = smooth.span(order);
        let n = 400_000_u32;
        let width = (high - low) / f64::from(n);
        let mut sum = (0.0, 0.0);
        for i in 0..=n {
            let weight = if i == 0 || i == n {
                1.0
            } else if i % 2 == 1 {
                4.0
            } else {
                2.0
            };
            let term = smooth.term(low + width * f64::from(i), order, 0.0);
            let mass = weight * width / 3.0 * libm::exp(term.exponent);
            sum.0 += mass * libm::cos(t * term.loss);
            sum.1 += mass * libm::sin(t * term.loss);
        }
        for &(loss, mass) in &pair.atoms {
            let mass = mass * libm::exp(order * loss);
            sum.0 += mass * libm::cos(t * loss);
            sum.1 += mass * libm::sin(t * loss);
        }
        sum
    }

    pub(in super::super) fn pairs() -> Vec<Pair> {
        let mut all = Vec::new();
        for direction in [Direction::Remove, Direction::Add] {
            for (multiplier, rate) in [(1.0, 0.01), (0.3, 0.2), (20.0, 1.0_f64.next_down())] {
                let event = Event::gaussian(multiplier).unwrap().poisson_sampled(rate).unwrap();
                all.push(Pair::new(event, direction, 700.0));
            }
            for (scale, rate) in [(1.0, 0.1), (0.25, 0.5)] {
                let event = Event::laplace(scale).unwrap().poisson_sampled(rate).unwrap();
                all.push(Pair::new(event, direction, 700.0));
            }
        }
        all
    }

    #[test]
    fn rules_agree_with_a_plain_sum_within_their_error() {
        for pair in pairs() {
            let smooth = pair.smooth.as_ref().unwrap();
            for (order, most) in [(0.5, 30.0), (6.0, 100.0)] {
                let rule = Rule::sampled(smooth, &pair.atoms, order, most).unwrap();
                let whole = plain(&pair, order, 0.0).0;
                assert!((libm::exp(rule.log_moment) / whole - 1.0).abs() < 1e-10);
                for t in [0.0, 0.3 * most, most] {
                    let (got, want) = (rule.at(t), plain(&pair, order, t));
                    let off = (got.0 - want.0 / whole).hypot(got.1 - want.1 / whole);
                    // The plain sum has 400,000 roundings of its own.
                    assert!(off < 1e-10 && rule.error < 1e-12, "{off:e} {:e}", rule.error);
                }
                // A control: past its frequency the rule may be, and here is, wrong.
                let far = 400.0 * most;
                if matches!(smooth.density, Density::Normal)
                    && smooth.rate > 0.1
                    && let Some(fine) = Rule::sampled(smooth, &pair.atoms, order, far)
                {
                    let (fine, coarse) = (fine.at(far), rule.at(far));
                    assert!((fine.0 - coarse.0).hypot(fine.1 - coarse.1) > 1e-6);
                }
            }
        }
    }

    /// Values to 100 digits, as a number and what it lacks. A rate next to 1 leaves little of the 1, which only a sum that never saw it keeps.
    #[test]
    fn losses_of_a_sample_are_off_by_no_more_than_is_said() {
        let (most, least) = (1.0 - 1e-12, 1.0 - UNIT);
        let values = [
            (0.3, 1.9, -0.356_674_808_901_071_6, -2.339e-17),
            (0.3, 9.1, 39.210_228_379_106_01, 1.582e-15),
            (0.99, 0.3, -4.605_170_185_847_193, 2.252e-16),
            (0.99, 9.1, 40.404_150_847_578_45, -3.940e-16),
            (1.0 - 1e-6, 1.9, -13.541_607_292_851_236, -4.944e-17),
            (most, -3.7, -27.631_043_237_893_298, 1.111e-15),
            (most, 0.3, -26.745_937_300_092_066, -1.713e-15),
            (most, 1.9, -14.970_411_027_542_077, -5.740e-18),
            (least, -3.7, -36.736_800_569_121_26, -1.864e-15),
            (least, 0.3, -27.278_028_503_519_48, -1.513e-15),
            (least, 9.1, 40.414_201_183_431_95, 1.597e-15),
        ];
        for (rate, z, whole, rest) in values {
            let smooth = Smooth::gaussian(0.13, rate, Direction::Remove, 60.0);
            let (log, _, units) = smooth.log_ratio(z);
            let off = ((log - whole) - rest).abs() / UNIT;
            assert!(off <= units && units < 1000.0, "{rate} {z}: {off} of {units}");
            // The way back: the coordinate has this loss.
            let blur = smooth.blur();
            let (from, to) = (smooth.coordinate(whole - blur), smooth.coordinate(whole + blur));
            assert!(from <= z && z <= to, "{rate} {z}: {from} to {to}");
        }
    }

    /// A Gaussian that is not sampled has the moment `s (s + 1) / 2` over its variance. What points far out lose counts.
    #[test]
    fn moments_of_a_gaussian_are_off_by_no_more_than_is_said() {
        let mut worst = 0.0;
        for (multiplier, direction) in
            [(0.37, Direction::Remove), (1.3, Direction::Add), (7.1, Direction::Remove)]
        {
            let smooth = Smooth::gaussian(multiplier, 1.0, direction, 700.0);
            for i in 0..60 {
                let s = 0.3 * libm::exp(0.12 * f64::from(i));
                let rule = Rule::sampled(&smooth, &[], s, 0.0).unwrap();
                let truth = s * (s + 1.0) / (2.0 * multiplier * multiplier);
                let (off, own) = ((rule.log_moment - truth).abs(), 4.0 * UNIT * truth);
                assert!(off <= rule.error + own, "{multiplier} {s}: {off:e} {:e}", rule.error);
                worst = larger(worst, (off - own) / rule.error);
            }
        }
        assert!(worst > 0.01, "{worst}");
    }

    /// Where large exponents all but cancel: of one atom, in intervals of big integers.
    #[test]
    fn exponents_of_atoms_are_off_by_no_more_than_is_said() {
        let of = Interval::of;
        let mut worst = 0.0;
        for i in 0..500 {
            let (loss, log, s) = (7.1 + 0.01 * f64::from(i), -700.3, 97.3 - 0.11 * f64::from(i));
            let rule = Rule::atoms(&LogPoints(vec![(loss, log)]), s);
            let truth = &(&of(s) * &of(loss)) + &of(log);
            let off = (&of(rule.log_moment) - &truth).approximate().abs();
            assert!(off <= rule.error, "{loss} {s}: {off:e} {:e}", rule.error);
            worst = larger(worst, off / rule.error);
        }
        assert!(worst > 0.05, "{worst}");
    }

    /// The same of a rare sample: at whole powers of its ratio, the sum over how many of them are of the rare kind.
    #[test]
    fn exponents_of_samples_are_off_by_no_more_than_is_said() {
        let of = Interval::of;
        let mut worst = 0.0;
        for i in 0..40 {
            let (multiplier, rate) = (1.1 + 0.03 * f64::from(i), 1e-9);
            let half = &of(0.5) / &(&of(multiplier) * &of(multiplier));
            let rest = &of(1.0) - &of(rate);
            // There the moment is about 2: as much of it comes from where all are.
            let power = (1.0 - 2.0 * multiplier * multiplier * libm::log(rate)).round();
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "hundreds")]
            let many = power as u64;
            let (mut ways, mut moment) = (of(1.0), of(0.0));
            for k in 0..=many {
                let grown = (&Interval::whole(k * k.saturating_sub(1)) * &half).exp();
                let share = &of(rate).power(k) * &rest.power(many - k);
                moment = &moment + &(&(&ways * &share) * &grown);
                ways = &(&ways * &Interval::whole(many - k)) / &Interval::whole(k + 1);
            }
            let smooth = Smooth::gaussian(multiplier, rate, Direction::Remove, 700.0);
            let rule = Rule::sampled(&smooth, &[], power - 1.0, 0.0).unwrap();
            let off = (&of(rule.log_moment) - &moment.ln()).approximate().abs();
            assert!(off <= rule.error, "{multiplier}: {off:e} {:e}", rule.error);
            worst = larger(worst, off / rule.error);
        }
        assert!(worst > 0.01, "{worst}");
    }
}

//! The Gaussian mechanism, exactly: its delta at an epsilon, and the least noise for a budget.
//!
//! With `s` the standard deviation divided by the sensitivity (in the 2-norm),
//! `delta = 1/2 (erfc(a) - e^epsilon erfc(b))` where `a, b = (epsilon s -/+ 1 / (2 s)) / sqrt(2)`. Since
//! `b^2 - a^2 = epsilon`, this is `1/2 exp(-a^2) (erfcx(a) - erfcx(b))`, which neither overflows nor cancels once the
//! difference is formed by itself.
//!
//! These formulas are for noise from the continuous Gaussian law, and hence for what is computed from a value with such noise: an
//! integer with the noise rounded to an integer is such a thing. The discrete Gaussian on the integers can lose slightly
//! more at small `s`; its zCDP bound `1 / (2 s^2)` is a safe substitute.
//!
//! # Source
//! Balle and Wang (ICML 2018), Theorem 8.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use crate::bisection::bisect;
use crate::budget::Budget;
use crate::outward::{LEAST, Upper, larger, smaller, total};
use crate::params::{Delta, Epsilon, Mu};
use crate::rounding::{UNIT, recip_down};
use crate::special::{erfcx, erfcx_drop};

/// Covers the relative error of [`profile`]. The largest that was measured is `2.2e-15`, over 1500 random settings with
/// multipliers from 0.06 to 1e5 and deltas down to `1e-300`, against a 60-digit evaluation.
const SAFETY: f64 = 4e-14;

/// Covers the relative error of [`normal_tail`].
const TAIL_SAFETY: f64 = 1e-11;

/// How far the place at which the curve is read may be off before it is moved to the safe side.
const MOST_SHIFT: f64 = 2e-14;

/// How large a correction of the exponent may be: its square must not matter.
const MOST_EXPONENT_ERROR: f64 = 1e-3;

/// Below this a product has lost digits that its logarithm still has.
const FEW_DIGITS: f64 = 1e-290;

/// `delta` as `factor * exp(-exponent)`, so that it can be far below the smallest float.
#[derive(Clone, Copy)]
struct Profile {
    factor: f64,
    exponent: f64,
    /// `-d ln(delta) / d ln(s)`.
    steepness: f64,
    /// `-d ln(delta) / d epsilon`, roughly.
    fall: f64,
}

impl Profile {
    fn log(self) -> f64 {
        libm::log(self.factor) - self.exponent
    }

    /// `ln(delta)`: the logarithms are off by a few units of their sizes.
    fn log_upper(self) -> Upper {
        let (log, exponent) = (libm::log(self.factor), self.exponent);
        Upper::near(log - exponent, SAFETY + 4.0 * UNIT * (log.abs() + exponent))
    }
}

/// The exact delta of noise multiplier `s` at `epsilon`.
fn profile(s: f64, epsilon: f64) -> Profile {
    // a = (p - q) / sqrt(2), with the rounding errors of p, q and p - q kept: a^2 reaches 700 and goes into exp.
    let (p, q) = (epsilon * s, 0.5 / s);
    let p_error = epsilon.mul_add(s, -p);
    let q_error = q.mul_add(-s, 0.5) / s;
    let z = p - q;
    let q_part = p - z;
    let z_error = (p - (z + q_part)) + (q_part - q) + (p_error - q_error);
    // Far out, where p and q are large, `a` itself would be off by too much: it is read on the safe side, where delta is larger.
    let (z, z_error) = if z_error.abs() <= MOST_SHIFT {
        (z, z_error)
    } else {
        ((z - 1.01 * z_error.abs()).next_down(), 0.0)
    };
    let square = z * z;
    let square_error = z.mul_add(z, -square) + 2.0 * z * z_error;
    let (exponent, exponent_error) = (square / 2.0, square_error / 2.0);
    // The same for the exponent, where delta is far below the smallest float.
    let (exponent, exponent_error) = if exponent_error.abs() <= MOST_EXPONENT_ERROR {
        (exponent, exponent_error)
    } else {
        ((exponent - 1.01 * exponent_error.abs()).next_down(), 0.0)
    };
    if z > 0.0 && !square.is_finite() {
        // delta is at most e^(-z^2 / 2), and the exponent more than the largest float.
        let exponent = f64::MAX / 2.0;
        return Profile { factor: 1.0, exponent, steepness: f64::INFINITY, fall: f64::INFINITY };
    }
    let (a, width) = (z * FRAC_1_SQRT_2, FRAC_1_SQRT_2 / s);
    // -d delta / d ln(s) = exp(-a^2) / (s sqrt(2 pi)).
    let density = 1.0 / (s * (2.0 * PI).sqrt());
    if a < 0.0 && width >= 1.0 {
        // exp(a^2) may overflow here, and erfc(a) > 1 makes the plain form safe.
        let weight = libm::exp(-exponent);
        let factor = 0.5 * (libm::erfc(a) - weight * erfcx(a + width));
        let fall = 0.5 * weight * erfcx(a + width) / factor;
        return Profile { factor, exponent: 0.0, steepness: density * weight / factor, fall };
    }
    let scaled = 0.5 * erfcx_drop(a, width);
    let factor = scaled * (1.0 - exponent_error);
    let fall = 0.5 * erfcx(a + width) / scaled;
    Profile { factor, exponent, steepness: density / scaled, fall }
}

/// The delta at which noise with standard deviation `noise_multiplier * sensitivity` is `epsilon`-indistinguishable, rounded up.
///
/// An infinite multiplier gives 0; one that is 0, negative or NaN gives [`Delta::MAX`], "nothing is guaranteed". A finite one never
/// gives 0, even where the value underflows.
///
/// # Precision
/// At most `1e-13` above the true value (relative), down to `1e-300`; never below it.
pub fn gaussian_delta(noise_multiplier: f64, epsilon: Epsilon) -> Delta {
    Delta::saturating(delta_of(noise_multiplier, epsilon).get())
}

/// As [`gaussian_delta`], which has no number for what is next to 1.
fn delta_of(noise_multiplier: f64, epsilon: Epsilon) -> Upper {
    if noise_multiplier == f64::INFINITY {
        return Upper::ZERO;
    }
    if noise_multiplier.is_nan() || noise_multiplier <= 0.0 {
        return Upper::ONE;
    }
    let profile = profile(noise_multiplier, epsilon.get());
    let plain = profile.factor * libm::exp(-profile.exponent);
    let delta = if plain < FEW_DIGITS {
        profile.log_upper().exp()
    } else {
        Upper::near(plain, SAFETY * plain)
    };
    delta.max(Upper::new(LEAST)).or(Upper::ONE)
}

/// `ln` of the delta of [`gaussian_delta`], rounded up, for deltas far below the smallest float.
///
/// `-infinity` for an infinite multiplier; at most 0, which is also what a multiplier that is 0, negative or NaN gives.
pub fn gaussian_log_delta(noise_multiplier: f64, epsilon: Epsilon) -> f64 {
    if noise_multiplier == f64::INFINITY {
        return f64::NEG_INFINITY;
    }
    if noise_multiplier.is_nan() || noise_multiplier <= 0.0 {
        return 0.0;
    }
    profile(noise_multiplier, epsilon.get()).log_upper().or(Upper::ZERO).get()
}

/// The probability that a standard normal variable is at least `z`, rounded up; [`Delta::MAX`] for NaN.
///
/// A finite `z` never gives 0, even where the value underflows.
///
/// ```
/// use dp_accounting::normal_tail;
///
/// assert!((normal_tail(5.0).get() / 2.866_515_718_791_939e-7 - 1.0).abs() < 1e-10);
/// ```
///
/// # Precision
/// At most `1e-10` above the true value (relative), down to `1e-300`; never below it.
pub fn normal_tail(z: f64) -> Delta {
    if z == f64::INFINITY {
        return Delta::ZERO;
    }
    // The rounding of the argument, 1.5 units, is worth its square as much in the exponent: at most 1400 units.
    let tail = 0.5 * libm::erfc(z * FRAC_1_SQRT_2);
    Delta::saturating(Upper::near(tail, TAIL_SAFETY * tail).max(Upper::new(LEAST)).get())
}

/// The least noise multiplier (standard deviation divided by sensitivity) that keeps `budget`, rounded up.
///
/// Guaranteed: `gaussian_delta(result, budget.epsilon()) <= budget.delta()`. Without a delta no finite noise is enough
/// and the result is infinite.
///
/// ```
/// use dp_accounting::{Budget, gaussian_noise_multiplier};
///
/// let s = gaussian_noise_multiplier(Budget::new(1.0, 1e-6)?);
/// assert!((s - 4.224678889326835).abs() < 1e-12);
/// # Ok::<(), dp_accounting::ParamError>(())
/// ```
pub fn gaussian_noise_multiplier(budget: Budget) -> f64 {
    let (epsilon, delta) = (budget.epsilon(), budget.delta());
    if delta == Delta::ZERO {
        return f64::INFINITY;
    }
    let keeps = |s: f64| delta_of(s, epsilon).get() <= delta.get();
    let enough = enough_noise(epsilon.get(), delta.get());
    let newton = descend(enough, epsilon.get(), libm::log(delta.get()) - SAFETY);
    // Newton ends within a few units of the root, on either side.
    let mut s = newton;
    for _ in 0..8 {
        if keeps(s) {
            return s;
        }
        s *= 1.0 + 4.0 * f64::EPSILON;
    }
    // Flat ends of the curve (delta next to 1): slow and certain.
    let mut most = enough;
    while !keeps(most) && most < f64::MAX {
        most = smaller(2.0 * most, f64::MAX);
    }
    bisect(most, 0.0, keeps).0
}

/// A multiplier that is certainly enough, up to rounding.
fn enough_noise(epsilon: f64, delta: f64) -> f64 {
    // delta <= exp(-a^2) / 2: solve a = z for s.
    let z = (-libm::log(delta)).sqrt();
    let by_tail = (z + (z * z + epsilon).sqrt()) * FRAC_1_SQRT_2 / epsilon;
    // delta at epsilon is at most delta at 0, which is at most 1 / (s sqrt(2 pi)).
    let by_distance = 1.0 / (delta * (2.0 * PI).sqrt());
    smaller(smaller(by_tail, by_distance), f64::MAX)
}

/// Newton on `ln(delta)` as a function of `ln(s)`, which falls ever faster: from the right it cannot overshoot.
fn descend(start: f64, epsilon: f64, log_target: f64) -> f64 {
    let mut s = start;
    for _ in 0..64 {
        let here = profile(s, epsilon);
        let step = (here.log() - log_target) / here.steepness;
        if !step.is_finite() {
            break;
        }
        s *= libm::exp(step);
        if step.abs() < 4.0 * f64::EPSILON {
            break;
        }
    }
    s
}

/// The least epsilon of the Gaussian mechanism at `delta`, rounded up; `None` if there is none.
///
/// There is none without a delta (unless the multiplier is infinite), or if the multiplier is not above 0.
pub fn gaussian_epsilon(noise_multiplier: f64, delta: Delta) -> Option<Epsilon> {
    let fits = |epsilon: f64| {
        Epsilon::of(epsilon)
            .is_some_and(|epsilon| delta_of(noise_multiplier, epsilon).get() <= delta.get())
    };
    if fits(0.0) {
        return Some(Epsilon::ZERO);
    }
    let positive = noise_multiplier > 0.0;
    if positive && delta != Delta::ZERO {
        // Newton ends within a few units of the root, on either side.
        let mut epsilon = approach(noise_multiplier, libm::log(delta.get()) - SAFETY);
        for _ in 0..8 {
            if fits(epsilon) {
                return Epsilon::of(epsilon);
            }
            epsilon += 4.0 * f64::EPSILON * epsilon;
        }
    }
    let mut high = 1.0;
    while !fits(high) {
        high *= 2.0;
        if high > f64::MAX / 2.0 || delta == Delta::ZERO {
            return None;
        }
    }
    Epsilon::of(bisect(high, 0.0, fits).0)
}

/// The least epsilon of a `mu`-Gaussian loss at `delta`, rounded up; `None` if `delta` is 0 and `mu` is not.
///
/// ```
/// use dp_accounting::{Delta, Mu, mu_to_epsilon};
///
/// let epsilon = mu_to_epsilon(Mu::new(1.0 / 4.224678889326835)?, Delta::new(1e-6)?);
/// assert!((epsilon.expect("delta is above 0").get() - 1.0).abs() < 1e-12);
/// # Ok::<(), dp_accounting::ParamError>(())
/// ```
pub fn mu_to_epsilon(mu: Mu, delta: Delta) -> Option<Epsilon> {
    if mu == Mu::ZERO {
        return Some(Epsilon::ZERO);
    }
    gaussian_epsilon(recip_down(mu.get()), delta)
}

/// The largest `mu` whose exact curve fits into `budget`, rounded down; `None` if `budget` has no delta.
///
/// Guaranteed: a receipt whose steps are Gaussian and whose squares sum to at most that of the result is within `budget`.
/// Relative to the largest, `mu` lacks at most `1e-12` for deltas up to 0.5.
///
/// ```
/// use dp_accounting::{Budget, budget_to_mu, budget_to_zcdp};
///
/// let budget = Budget::new(1.0, 1e-6)?;
/// let mu = budget_to_mu(budget).expect("delta is above 0").get();
/// let rho = budget_to_zcdp(budget).expect("delta is above 0").get();
/// assert_eq!(format!("{:.3} {:.3}", 1.0 / mu, 1.0 / (2.0 * rho).sqrt()), "4.225 4.531");
/// # Ok::<(), dp_accounting::ParamError>(())
/// ```
pub fn budget_to_mu(budget: Budget) -> Option<Mu> {
    let (epsilon, delta) = (budget.epsilon(), budget.delta());
    if delta == Delta::ZERO {
        return None;
    }
    let fits = |mu: f64| {
        // As a receipt counts it: squared, and the root taken again.
        let counted = Mu::of_square(Upper::new(mu).times(Upper::new(mu)));
        counted.and_then(|mu| mu_to_epsilon(mu, delta)).is_some_and(|got| got <= epsilon)
    };
    // Computed deltas are off by a few units, not always the same way; less noise than this is then never judged to cost more.
    let lowered = Budget::new(epsilon.get(), delta.get() * (1.0 - SAFETY)).ok()?;
    let closest = 1.0 / gaussian_noise_multiplier(lowered);
    // What is lost on the way back and forth is a few units.
    let near =
        (0..32).map(|units| closest * (1.0 - f64::from(units) * f64::EPSILON)).find(|mu| fits(*mu));
    let mu = near.unwrap_or_else(|| bisect(0.0, closest, fits).0);
    if mu > 0.0 { Mu::of(mu) } else { None }
}

/// So many terms are added up one by one.
const ONE_BY_ONE: u64 = 64;

/// At least the mass that a chain of `size` neighbours leaves out, each of them Gaussian with `mu` outside of a mass `delta`: the sum over `j < size`
/// of `h_j(delta)`, where `h_j(x) = Phi(Phi^-1(x) + j mu)` is the most that an event of probability `x` can have at distance `j mu`.
pub(crate) fn group_delta(mu: Mu, size: u64, delta: Delta) -> Upper {
    let x = Upper::new(delta.get());
    if delta == Delta::ZERO {
        return x;
    }
    // The likelihood ratio at the boundary of the event. h(x) <= e^e x + delta(e) at any e >= 0, and there they are equal.
    let (place, _) = bisect(0.0, 40.0, |z| 0.5 * libm::erfc(z * FRAC_1_SQRT_2) >= delta.get());
    let grown = |links: f64| {
        let far = Upper::new(links).times(Upper::new(mu.get())).get();
        if far == 0.0 {
            return x;
        }
        let at = smaller(larger(far * (place - far / 2.0), 0.0), f64::MAX);
        let beyond = Epsilon::of(at).map(|at| delta_of(recip_down(far), at));
        Upper::new(at).exp().times(x) + beyond.unwrap_or(Upper::UNKNOWN)
    };
    // The last is the largest.
    let few = total((0..size.min(ONE_BY_ONE)).map(|links| grown(links as f64)));
    let (more, last) = (size.saturating_sub(ONE_BY_ONE), (size.saturating_sub(1) as f64).next_up());
    if more == 0 { few } else { few + grown(last).times(Upper::new((more as f64).next_up())) }
}

/// Newton on `ln(delta)` as a function of epsilon, from a point where it is below the target: it falls ever faster, so the next points lie
/// to the left of the root and come closer from there.
fn approach(s: f64, log_target: f64) -> f64 {
    // delta <= e^(-a^2): enough, by the tail alone.
    let mut epsilon = 0.5 / (s * s) + larger(-2.0 * log_target, 0.0).sqrt() / s;
    for _ in 0..40 {
        let here = profile(s, epsilon);
        let step = (here.log() - log_target) / here.fall;
        if !step.is_finite() {
            break;
        }
        epsilon = larger(epsilon + step, 0.0);
        if step.abs() <= 4.0 * f64::EPSILON * epsilon {
            break;
        }
    }
    epsilon
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mass of a chain link by link, on both sides of the size from where on all further links count as the last, which is the largest.
    #[test]
    fn the_mass_of_a_group_is_no_less_than_that_of_its_links() {
        for (mu, mass) in [(0.005, 1e-9), (0.02, 1e-12), (0.3, 1e-6)] {
            // The place whose upper tail is the mass, from above: its links are then no larger than they are.
            let (_, place) = bisect(0.0, 40.0, |z| 0.5 * libm::erfc(z * FRAC_1_SQRT_2) >= mass);
            for size in [1, 2, ONE_BY_ONE - 1, ONE_BY_ONE, ONE_BY_ONE + 1, 200, 1_000] {
                let link = |j: u64| 0.5 * libm::erfc((place - j as f64 * mu) * FRAC_1_SQRT_2);
                let links: f64 = (0..size).map(link).sum();
                let known = (Mu::of(mu).expect("valid"), Delta::of(mass).expect("valid"));
                let bound = group_delta(known.0, size, known.1).get();
                assert!(bound >= links * (1.0 - 1e-12), "{mu} {size}: {bound} {links}");
                let few = size <= ONE_BY_ONE;
                assert!(bound <= links * 1.001 || !few, "{mu} {size}: {bound} {links}");
            }
        }
    }

    /// The closest floats.
    #[test]
    fn tails_are_rounded_up_by_little() {
        for (z, truth) in [
            (-1.0, 0.841_344_746_068_542_9),
            (0.5, 0.308_537_538_725_986_9),
            (1.0, 0.158_655_253_931_457_05),
            (5.0, 2.866_515_718_791_939e-7),
            (10.0, 7.619_853_024_160_525e-24),
            (30.0, 4.906_713_927_148_187e-198),
        ] {
            let tail = normal_tail(z).get();
            assert!((truth..truth * (1.0 + 1e-10)).contains(&tail), "{z}: {tail}");
        }
        assert_eq!(normal_tail(f64::INFINITY), Delta::ZERO);
        assert_eq!(normal_tail(f64::NAN), Delta::MAX);
        assert!(normal_tail(1e3) > Delta::ZERO);
    }
}

//! Conversions between zCDP and (epsilon, delta).
//!
//! A `rho`-zCDP pair has `delta(epsilon) <= exp((a-1)(a rho - epsilon)) / (a-1) * (1 - 1/a)^a` for every order `a > 1`
//! (Canonne, Kamath, Steinke, NeurIPS 2020, Proposition 12 in its optimised form). Both directions are evaluated at the
//! best order. Any order gives a valid bound, so an order that is slightly off costs tightness and never privacy; the
//! rounding of the evaluation itself is added on top.

use crate::bisection::bisect;
use crate::budget::Budget;
use crate::outward::{Upper, larger, smaller, within};
use crate::params::{Delta, Epsilon, Rho};
use crate::rounding::UNIT;

/// How many roundings a sum of a few elementary functions may be off by, relative to the sum of their magnitudes.
const ROUNDINGS: f64 = 8.0;

/// Larger orders are not looked at: their squares would overflow.
const MOST_ORDER: f64 = 1e150;

/// The least epsilon that this conversion gives for `rho`-zCDP at `delta`, rounded up.
///
/// `None` if `delta` is 0 and `rho` is not: zCDP promises nothing pure.
///
/// ```
/// use dp_accounting::{Delta, Rho, zcdp_to_epsilon};
///
/// let epsilon = zcdp_to_epsilon(Rho::new(0.5)?, Delta::new(1e-6)?).expect("delta is above 0");
/// assert!((epsilon.get() - 5.221534444530).abs() < 1e-11);
/// # Ok::<(), dp_accounting::ParamError>(())
/// ```
///
/// # Precision
/// About `1e-15`, relative to the largest term; the error is on the upper side.
pub fn zcdp_to_epsilon(rho: Rho, delta: Delta) -> Option<Epsilon> {
    if rho == Rho::ZERO {
        return Some(Epsilon::ZERO);
    }
    if delta == Delta::ZERO {
        return None;
    }
    let rho = rho.get();
    let log_inverse = -libm::log(delta.get());
    // With x = a - 1: epsilon(x) = (1+x) rho - ln(1 + 1/x) + (ln(1/delta) - ln(1+x)) / x.
    let x = best_order_for_delta(rho, log_inverse);
    let slope = (1.0 + x) * rho;
    let gain = libm::log1p(1.0 / x);
    let (tail, shift) = (log_inverse / x, libm::log1p(x) / x);
    let epsilon = slope - gain + (tail - shift);
    let error = ROUNDINGS * UNIT * (slope + gain + tail + shift);
    Epsilon::of(Upper::near(epsilon, error).at_least_0().get())
}

/// The `x = a - 1` with `rho x^2 + ln(1+x) = ln(1/delta)`, where the derivative of epsilon in `x` vanishes.
fn best_order_for_delta(rho: f64, log_inverse: f64) -> f64 {
    let from_square = smaller(log_inverse.sqrt() / rho.sqrt(), MOST_ORDER);
    let mut x = smaller(from_square, libm::expm1(log_inverse));
    // In ln x the left side is convex and increasing, and x starts to the right of the root: Newton descends onto it.
    for _ in 0..64 {
        let square = rho * x * x;
        let step = (square + libm::log1p(x) - log_inverse) / (2.0 * square + x / (1.0 + x));
        if !step.is_finite() {
            break;
        }
        x = smaller(x * libm::exp(-step), MOST_ORDER);
        // epsilon is flat here: an error of 1e-9 in x moves it by 1e-18.
        if step.abs() < 1e-9 {
            break;
        }
    }
    x
}

/// The least delta that this conversion gives for `rho`-zCDP at `epsilon`, rounded up.
///
/// [`Delta::MAX`] reads "nothing is guaranteed". A `rho` above 0 never gives 0, even where the bound underflows.
///
/// # Precision
/// About `1e-15 * ln(1/delta)`, relative; the error is on the upper side.
pub fn zcdp_to_delta(rho: Rho, epsilon: Epsilon) -> Delta {
    if rho == Rho::ZERO {
        return Delta::ZERO;
    }
    let log_delta = log_zcdp_delta(rho.get(), epsilon.get());
    Delta::saturating(log_delta.exp().get())
}

/// `ln` of the delta of [`zcdp_to_delta`], rounded up, for deltas far below the smallest float.
pub fn zcdp_to_log_delta(rho: Rho, epsilon: Epsilon) -> f64 {
    if rho == Rho::ZERO {
        return f64::NEG_INFINITY;
    }
    log_zcdp_delta(rho.get(), epsilon.get()).or(Upper::ZERO).get()
}

/// `ln(delta)` at the best order, rounded up.
fn log_zcdp_delta(rho: f64, epsilon: f64) -> Upper {
    // With x = a - 1: ln(delta) = x ((1+x) rho - epsilon - ln(1 + 1/x)) - ln(1+x), whose derivative is the predicate.
    let right = within(f64::midpoint(epsilon, 1.0) / rho, 1.0, MOST_ORDER);
    let (x, _) = bisect(f64::MIN_POSITIVE, right, |x| {
        (2.0 * x + 1.0) * rho - epsilon - libm::log1p(1.0 / x) < 0.0
    });
    let (slope, gain) = ((1.0 + x) * rho, libm::log1p(1.0 / x));
    let last = libm::log1p(x);
    let log_delta = x * (slope - epsilon - gain) - last;
    let error = ROUNDINGS * UNIT * (x * (slope + epsilon + gain) + last);
    Upper::near(log_delta, error)
}

/// The largest `rho` whose conversion fits into `budget`, rounded down.
///
/// Guaranteed: `zcdp_to_epsilon(rho, budget.delta()) <= budget.epsilon()`. `None` if nothing but a loss of 0 fits: without a delta,
/// and for a budget so small that its `rho` is below the smallest float (an epsilon of `1e-160` or less).
///
/// ```
/// use dp_accounting::{Budget, budget_to_zcdp};
///
/// let rho = budget_to_zcdp(Budget::new(1.0, 1e5_f64.powf(-1.5))?).expect("delta is above 0");
/// assert_eq!(format!("{:.5}", rho.get()), "0.01858");
/// # Ok::<(), dp_accounting::ParamError>(())
/// ```
pub fn budget_to_zcdp(budget: Budget) -> Option<Rho> {
    let (epsilon, delta) = (budget.epsilon(), budget.delta());
    if delta == Delta::ZERO {
        return None;
    }
    let fits = |rho: f64| {
        Rho::of(rho).and_then(|rho| zcdp_to_epsilon(rho, delta)).is_some_and(|got| got <= epsilon)
    };
    // The textbook conversion rho + 2 sqrt(rho ln(1/delta)) is weaker, so its solution fits up to rounding.
    let log_inverse = -libm::log(delta.get());
    let root = epsilon.get() / ((epsilon.get() + log_inverse).sqrt() + log_inverse.sqrt());
    let textbook = root * root * (1.0 - 1e-9);
    let mut fitting = if fits(textbook) { textbook } else { 0.0 };
    let mut failing = larger(textbook, f64::MIN_POSITIVE);
    loop {
        failing *= 1.25;
        if !fits(failing) {
            break;
        }
        fitting = failing;
    }
    let (rho, _) = bisect(fitting, failing, fits);
    if rho > 0.0 { Rho::of(rho) } else { None }
}

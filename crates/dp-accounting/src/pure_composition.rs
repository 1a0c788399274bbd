//! Composition of mechanisms that are all alike, by formula.
//!
//! Relation: any two-sided one under which the single loss holds. Every result is rounded up.

use crate::bisection::bisect;
use crate::error::ParamError;
use crate::outward::{LEAST, Upper, larger, smaller, within};
use crate::params::{Delta, Epsilon, Rho};
use crate::rounding::{UNIT, raise};
use crate::zcdp::zcdp_to_epsilon;

/// Uses above this are refused where a sum runs over them.
const MOST_TERMS: u32 = 10_000_000;

fn check_uses(uses: u32) -> Result<f64, ParamError> {
    if (1..=MOST_TERMS).contains(&uses) {
        Ok(f64::from(uses))
    } else {
        let want = "at least 1 and at most 1e7";
        Err(ParamError::OutOfRange { name: "number of uses", got: f64::from(uses), want })
    }
}

/// `ln` of the binomial coefficient.
fn log_choose(n: f64, k: f64) -> f64 {
    libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0)
}

/// Sum over `i` of `C(k, i) e^(i a + (k - i) b) (1 - e^(epsilon - loss(i)))_+`. `a, b` are logarithms of probabilities, and the losses, at most
/// `most` in size, may be off by a few units. It is 0 only where no loss is above epsilon.
fn binomial_excess(
    k: f64,
    (a, b): (f64, f64),
    epsilon: f64,
    most: f64,
    loss: impl Fn(f64) -> f64,
) -> Upper {
    if epsilon >= raise(most, 8.0) {
        return Upper::ZERO;
    }
    // Read at an epsilon on the safe side.
    let room = 8.0 * UNIT * most;
    let mut sum = 0.0;
    let mut i = k;
    while i >= 0.0 {
        let above = loss(i) - epsilon + room;
        if above <= 0.0 {
            break;
        }
        sum += libm::exp(log_choose(k, i) + i * a + (k - i) * b) * -libm::expm1(-above);
        i -= 1.0;
    }
    let sizes = smaller(a.abs(), 700.0) + smaller(b.abs(), 700.0);
    let logs = 2.0 * libm::lgamma(k + 2.0) + k * sizes;
    Upper::new(sum).raised(64.0 + 4.0 * logs).max(Upper::new(LEAST))
}

/// The exact delta at `epsilon` of `uses` mechanisms that are `(each, each_delta)`-private: no bound in these terms is lower.
///
/// # Rounding
/// Up, by about `uses ln(uses)` units.
///
/// # Source
/// Kairouz, Oh, Viswanath (ICML 2015), Theorems 2 and 3.
///
/// # Errors
/// [`ParamError`] unless `1 <= uses <= 1e7`.
pub fn optimal_composition_delta(
    each: Epsilon,
    each_delta: Delta,
    uses: u32,
    epsilon: Epsilon,
) -> Result<Delta, ParamError> {
    let k = check_uses(uses)?;
    let e = each.get();
    // ln of 1 / (1 + e^-e) and of the other outcome.
    let (truth, lie) = (-libm::log1p(libm::exp(-e)), -e - libm::log1p(libm::exp(-e)));
    let logs = (truth, lie);
    let inner = binomial_excess(k, logs, epsilon.get(), k * e, |i| (2.0 * i - k) * e);
    let log_kept = k * libm::log1p(-each_delta.get());
    let leaked = raise(-libm::expm1(log_kept), 8.0);
    let kept = Upper::new(1.0 - leaked).at_least_0();
    Ok(Delta::saturating((Upper::new(leaked) + kept.times(inner)).raised(8.0).get()))
}

/// The least epsilon at `delta` of `uses` mechanisms that are `(each, each_delta)`-private, rounded up; `None` if the deltas
/// alone leak more than `delta`.
///
/// # Source
/// As [`optimal_composition_delta`], solved by bisection.
///
/// # Errors
/// [`ParamError`] unless `1 <= uses <= 1e7`.
pub fn optimal_composition_epsilon(
    each: Epsilon,
    each_delta: Delta,
    uses: u32,
    delta: Delta,
) -> Result<Option<Epsilon>, ParamError> {
    let most = raise(check_uses(uses)? * each.get(), 16.0);
    let at = |epsilon: f64| {
        Epsilon::new(epsilon).and_then(|e| optimal_composition_delta(each, each_delta, uses, e))
    };
    if at(most)? > delta {
        return Ok(None);
    }
    let fits = |epsilon: f64| at(epsilon).is_ok_and(|got| got <= delta);
    if fits(0.0) {
        return Ok(Some(Epsilon::ZERO));
    }
    Ok(Epsilon::of(bisect(most, 0.0, fits).0))
}

/// The first advanced composition bound, for comparison: `k e (e^e - 1) + e sqrt(2 k ln(1/delta))`, rounded up.
///
/// `None` without a delta. It can be above the plain sum `k e`.
///
/// # Source
/// Dwork, Rothblum, Vadhan (FOCS 2010), Theorem III.3.
pub fn advanced_composition_epsilon(each: Epsilon, uses: u64, delta: Delta) -> Option<Epsilon> {
    let (e, k) = (each.get(), uses as f64);
    if delta == Delta::ZERO {
        return None;
    }
    let spread = e * (2.0 * k * -libm::log(delta.get())).sqrt();
    Epsilon::of(raise(k * e * libm::expm1(e) + spread, 16.0))
}

/// The closed form close to the optimum, rounded up: the least of `k e` and
/// `k e tanh(e/2) + e sqrt(2 k min(ln(1/delta), ln(E + e sqrt(k) / delta)))`, `E` being Euler's number.
///
/// # Source
/// Kairouz, Oh, Viswanath (ICML 2015), Theorem 3.4 with `delta = 0` per use.
pub fn near_optimal_composition_epsilon(each: Epsilon, uses: u64, delta: Delta) -> Option<Epsilon> {
    let (e, k) = (each.get(), uses as f64);
    let sum = raise(k * e, 2.0);
    if delta == Delta::ZERO {
        return Epsilon::of(sum);
    }
    let drift = k * e * libm::tanh(e / 2.0);
    let d = delta.get();
    let log = smaller(-libm::log(d), libm::log(std::f64::consts::E + k.sqrt() * e / d));
    Epsilon::of(smaller(sum, raise(drift + e * (2.0 * k * log).sqrt(), 16.0)))
}

/// `uses` pure mechanisms by way of zCDP with `e^2 / 2` each, never above the plain sum; rounded up.
///
/// # Source
/// Bun and Steinke (TCC 2016), Proposition 1.4; conversion as [`zcdp_to_epsilon`](crate::zcdp_to_epsilon).
pub fn pure_composition_by_zcdp(each: Epsilon, uses: u64, delta: Delta) -> Option<Epsilon> {
    by_zcdp(each, uses, 2.0, delta)
}

/// `uses` mechanisms of bounded range `eta`, each free to depend on earlier outputs, by way of zCDP with
/// `eta^2 / 8` each, never above the plain sum; rounded up.
///
/// # Source
/// Cesar and Rogers (ALT 2021); conversion as [`zcdp_to_epsilon`](crate::zcdp_to_epsilon).
pub fn bounded_range_composition_by_zcdp(eta: Epsilon, uses: u64, delta: Delta) -> Option<Epsilon> {
    by_zcdp(eta, uses, 8.0, delta)
}

fn by_zcdp(each: Epsilon, uses: u64, divisor: f64, delta: Delta) -> Option<Epsilon> {
    let (e, k) = (each.get(), uses as f64);
    let sum = Epsilon::of(raise(k * e, 2.0))?;
    let rho = Rho::of(raise(k * e * e / divisor, 4.0))?;
    Some(zcdp_to_epsilon(rho, delta).map_or(sum, |converted| converted.min(sum)))
}

/// The exact delta at `epsilon` of `uses` mechanisms of bounded range `eta` that were all chosen beforehand, rounded up.
///
/// Each pair has losses `t` and `t - eta`; the worst `t` is the same for all and one of
/// `(epsilon + (l + 1) eta) / (uses + 1)`, cut to `[0, eta]`. Mechanisms chosen from earlier outputs can lose more: use
/// [`Event::bounded_range`](crate::Event::bounded_range) or [`bounded_range_composition_by_zcdp`] for those.
///
/// # Source
/// Dong, Durfee, Rogers (ICML 2020), Theorem 3.
///
/// # Errors
/// [`ParamError`] unless `1 <= uses <= 10,000` and `eta > 0`.
pub fn bounded_range_optimal_delta(
    eta: Epsilon,
    uses: u32,
    epsilon: Epsilon,
) -> Result<Delta, ParamError> {
    if !(1..=10_000).contains(&uses) {
        let want = "at least 1 and at most 10,000";
        return Err(ParamError::OutOfRange { name: "number of uses", got: f64::from(uses), want });
    }
    let (eta, k) = (eta.get(), f64::from(uses));
    if eta <= 0.0 {
        return Err(ParamError::OutOfRange { name: "eta", got: eta, want: "above 0" });
    }
    let mut worst = Upper::ZERO;
    for l in 0..uses {
        let t = within((epsilon.get() + (f64::from(l) + 1.0) * eta) / (k + 1.0), 0.0, eta);
        // Mass of the loss t under the first law.
        let high = libm::expm1(t - eta) / libm::expm1(-eta);
        let logs = (libm::log(high), libm::log1p(-high));
        if high <= 0.0 || high >= 1.0 {
            let sure = if high >= 1.0 { k * t } else { k * (t - eta) } - epsilon.get();
            worst = worst.max(Upper::new(-libm::expm1(-larger(sure, 0.0))));
            continue;
        }
        let loss = |i: f64| k * t - (k - i) * eta;
        worst = worst.max(binomial_excess(k, logs, epsilon.get(), k * eta, loss));
    }
    Ok(Delta::saturating(worst.raised(64.0).get()))
}

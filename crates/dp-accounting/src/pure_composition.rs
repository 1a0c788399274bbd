//! Composition of mechanisms that are all alike, by formula.
//!
//! Relation: any two-sided one under which the single loss holds. Every result is rounded up.

use crate::bisection::bisect;
use crate::error::ParamError;
use crate::loss::count_up;
use crate::outward::{LEAST, Lower, Upper, larger, smaller, within};
use crate::params::{Delta, Epsilon, Rho};
use crate::rounding::UNIT;
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

/// `-ln` of a weight that is left to the smallest number.
const LOG_NOTHING: f64 = 800.0;

/// Sum over `i` of `C(k, i) e^(i a + (k - i) b) (1 - e^(epsilon - loss(i)))_+`. `a, b` are logarithms of probabilities that sum to 1; the losses rise
/// with `i`, are at most `most` in size, and may be off by a few units. It is 0 only where no loss is above epsilon.
///
/// From the largest loss down, each weight from the one above it: `C(k, i - 1) = C(k, i) i / (k - i + 1)`.
fn binomial_excess(
    k: f64,
    (a, b): (f64, f64),
    epsilon: f64,
    most: f64,
    loss: impl Fn(f64) -> f64,
) -> Upper {
    if epsilon >= Upper::new(most).raised(8.0).get() {
        return Upper::ZERO;
    }
    // Read at an epsilon on the safe side.
    let room = 8.0 * UNIT * most;
    let weight = |i: f64| {
        let others = if i < k { (k - i) * b } else { 0.0 };
        log_choose(k, i) + i * a + others
    };
    let likeliest = within(((k + 1.0) * libm::exp(a)).floor(), 0.0, k);
    let mut top = k;
    if weight(k) < -LOG_NOTHING {
        // Above the likeliest the weights fall.
        let (mut counts, mut nothing) = (likeliest, k);
        while nothing - counts > 1.0 {
            let middle = f64::midpoint(counts, nothing).floor();
            if weight(middle) < -LOG_NOTHING { nothing = middle } else { counts = middle }
        }
        top = nothing;
    }
    let odds = libm::exp(b - a);
    // The sum in units of e^scale.
    let (mut sum, mut scale, mut own, mut i) = (0.0, weight(top), 1.0, top);
    while i >= 0.0 {
        let above = loss(i) - epsilon + room;
        if above <= 0.0 {
            break;
        }
        // All that is left, and falls.
        if i < likeliest && own * (i + 1.0) <= UNIT * UNIT * sum {
            sum += own * (i + 1.0);
            break;
        }
        sum += own * -libm::expm1(-above);
        own *= i / (k - i + 1.0) * odds;
        i -= 1.0;
        if sum > LARGE {
            (sum, own) = (sum / LARGE, own / LARGE);
            scale += libm::log(LARGE);
        }
    }
    let logs = if top < k { 3.0 * libm::lgamma(k + 2.0) } else { 0.0 };
    let first = logs + top * a.abs() + if top < k { (k - top) * b.abs() } else { 0.0 };
    let steps = (top - i) * (8.0 + 2.0 * smaller((b - a).abs(), 800.0));
    let error = UNIT * (64.0 + 8.0 * first + steps + 4.0 * scale.abs());
    // What was too small to be counted.
    let nothing = Upper::new(LEAST).of_uses(k + 1.0);
    if sum > 0.0 { Upper::near(libm::log(sum) + scale, error).exp() + nothing } else { nothing }
}

/// Sums are kept below this.
const LARGE: f64 = 1e200;

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
    optimal_delta(each, each_delta, uses, epsilon).map(|delta| Delta::saturating(delta.get()))
}

/// As [`optimal_composition_delta`], which has no number for what is next to 1.
pub(crate) fn optimal_delta(
    each: Epsilon,
    each_delta: Delta,
    uses: u32,
    epsilon: Epsilon,
) -> Result<Upper, ParamError> {
    let k = check_uses(uses)?;
    let e = each.get();
    // ln of 1 / (1 + e^-e) and of the other outcome.
    let (truth, lie) = (-libm::log1p(libm::exp(-e)), -e - libm::log1p(libm::exp(-e)));
    let logs = (truth, lie);
    let inner = binomial_excess(k, logs, epsilon.get(), k * e, |i| (2.0 * i - k) * e);
    let log_kept = k * libm::log1p(-each_delta.get());
    let leaked = -libm::expm1(log_kept);
    let kept = Upper::ONE - Lower::new(leaked).lowered(8.0);
    let leaked = Upper::new(leaked).raised(8.0).or(Upper::ONE);
    Ok(leaked + kept.times(inner))
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
    let most = Upper::new(each.get()).of_uses(check_uses(uses)?).raised(16.0).get();
    let at =
        |epsilon: f64| Epsilon::new(epsilon).and_then(|e| optimal_delta(each, each_delta, uses, e));
    let fits = |epsilon: f64| at(epsilon).is_ok_and(|got| got.get() <= delta.get());
    at(most)?;
    if !fits(most) {
        return Ok(None);
    }
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
    if delta == Delta::ZERO {
        return None;
    }
    let (e, k) = (Upper::new(each.get()), count_up(uses));
    let log = Upper::new(-libm::log(delta.get())).raised(4.0);
    let drift = k.times(e).times(Upper::new(libm::expm1(each.get())).raised(4.0));
    Epsilon::of((drift + e.times(k.times(log).of_uses(2.0).sqrt())).get())
}

/// The closed form close to the optimum, rounded up: the least of `k e` and
/// `k e tanh(e/2) + e sqrt(2 k min(ln(1/delta), ln(E + e sqrt(k) / delta)))`, `E` being Euler's number.
///
/// # Source
/// Kairouz, Oh, Viswanath (ICML 2015), Theorem 3.4 with `delta = 0` per use.
pub fn near_optimal_composition_epsilon(each: Epsilon, uses: u64, delta: Delta) -> Option<Epsilon> {
    let (e, k) = (Upper::new(each.get()), count_up(uses));
    let sum = e.times(k);
    if delta == Delta::ZERO {
        return Epsilon::of(sum.get());
    }
    // The half of the smallest epsilon underflows.
    let half = Upper::new(libm::tanh(each.get() / 2.0)).raised(4.0).max(Upper::new(LEAST));
    let grown = Upper::new(std::f64::consts::E).raised(1.0)
        + e.times(k.sqrt()).over(Lower::new(delta.get()));
    let log = Upper::new(-libm::log(delta.get())).or(Upper::new(libm::log(grown.get())));
    let spread = e.times(k.times(log.raised(4.0)).of_uses(2.0).sqrt());
    Epsilon::of(sum.or(k.times(e).times(half) + spread).get())
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
    let (e, k) = (Upper::new(each.get()), count_up(uses));
    let sum = Epsilon::of(e.times(k).get())?;
    let rho = Rho::of(k.times(e.times(e)).over(Lower::new(divisor)).get());
    let converted = rho.and_then(|rho| zcdp_to_epsilon(rho, delta));
    Some(converted.map_or(sum, |converted| converted.min(sum)))
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
    // It is 0 only where no loss is above epsilon.
    let most = Upper::new(eta).of_uses(k);
    let mut worst = Upper::new(if epsilon.get() < most.get() { LEAST } else { 0.0 });
    for l in 0..uses {
        let place = (epsilon.get() + (f64::from(l) + 1.0) * eta) / (k + 1.0);
        let t = within(place, 0.0, eta);
        // Masses of the losses t and t - eta under the first law. Next to eta the first is as small as what rounding has done to t, and a smaller t gives more.
        let whole = libm::expm1(-eta);
        let high = libm::expm1(within(place - 8.0 * UNIT * place, 0.0, eta) - eta) / whole;
        let low = libm::exp(t - eta) * (libm::expm1(-t) / whole);
        if high <= 0.0 {
            // Without any loss.
            continue;
        }
        if low <= 0.0 {
            // All but certain to be the larger one; the sum is never above `k` of it.
            let sure = k * t - epsilon.get() + 8.0 * UNIT * (k * eta + epsilon.get());
            worst = worst.max(Upper::new(-libm::expm1(-larger(sure, 0.0))).raised(2.0));
            continue;
        }
        let logs = (libm::log(high), libm::log(low));
        let loss = |i: f64| k * t - (k - i) * eta;
        worst = worst.max(binomial_excess(k, logs, epsilon.get(), k * eta, loss));
    }
    Ok(Delta::saturating(worst.raised(64.0).get()))
}

#[cfg(test)]
mod tests {
    use std::f64::consts::LN_2;

    use super::*;

    /// `sum C(k, i) p^i q^(k - i) (1 - e^(epsilon - loss(i)))_+` as it is written.
    fn plain(k: u32, [p, q]: [f64; 2], epsilon: f64, loss: impl Fn(f64) -> f64) -> f64 {
        let (mut choose, mut sum) = (1.0, 0.0);
        for i in 0..=k {
            let above = -libm::expm1(epsilon - loss(f64::from(i)));
            let weight = choose * p.powi(i.cast_signed()) * q.powi((k - i).cast_signed());
            sum += weight * larger(above, 0.0);
            choose *= f64::from(k - i) / f64::from(i + 1);
        }
        sum
    }

    /// Few uses of small and of large losses, at all epsilons up to the largest loss there is.
    #[test]
    fn few_uses_leak_what_the_sum_says() {
        for e in [0.01, 0.3, 1.0, 2.0, 6.0] {
            let each = Epsilon::new(e).expect("valid");
            for uses in [1, 2, 3, 10, 40] {
                let k = f64::from(uses);
                for part in [0.0, 0.1, 0.5, 0.9, 0.999] {
                    let epsilon = Epsilon::new(part * k * e).expect("valid");
                    let truth = (1.0 + (-e).exp()).recip();
                    let loss = |i: f64| (2.0 * i - k) * e;
                    let exact = plain(uses, [truth, 1.0 - truth], epsilon.get(), loss);
                    for leak in [0.0, 1e-3] {
                        let leaks = Delta::new(leak).expect("valid");
                        let got = optimal_composition_delta(each, leaks, uses, epsilon);
                        let got = got.expect("valid").get();
                        let leaked = -libm::expm1(k * libm::log1p(-leak));
                        let all = leaked + (1.0 - leaked) * exact;
                        let close = got >= all * (1.0 - 1e-9) && got <= all * (1.0 + 1e-9) + 1e-12;
                        assert!(
                            close,
                            "{uses} of {e}, {leak} at {}: {got} for {all}",
                            epsilon.get()
                        );
                    }
                    // Whatever the range of a choice is cut at, as many choices leak no more.
                    let choices = bounded_range_optimal_delta(each, uses, epsilon);
                    let choices = choices.expect("valid").get();
                    for cut in [0.05, 0.3, 0.5, 0.8, 0.95] {
                        let t = cut * e;
                        let whole = libm::expm1(-e);
                        let high = libm::expm1(t - e) / whole;
                        let loss = |i: f64| k * t - (k - i) * e;
                        let exact = plain(uses, [high, 1.0 - high], epsilon.get(), loss);
                        assert!(
                            choices >= exact * (1.0 - 1e-9),
                            "{uses} of {e}: {choices} {exact}"
                        );
                    }
                }
            }
        }
    }

    /// A loss that was rounded down by some units takes nothing from the excess over an epsilon just below it.
    #[test]
    fn losses_that_are_a_few_units_too_low_count_as_they_are() {
        let epsilon = 1.0 - 64.0 * UNIT;
        let even = (-LN_2, -LN_2);
        let excess = |units: f64| {
            let loss = |i: f64| if i > 0.0 { 1.0 - units * UNIT } else { -1.0 };
            binomial_excess(1.0, even, epsilon, 1.0, loss)
        };
        // One of two outcomes, at 64 units above epsilon.
        let truth = 0.5 * 64.0 * UNIT;
        for units in [0.0, 6.0] {
            let excess = excess(units).get();
            assert!(excess >= truth * (1.0 - 1e-9) && excess < 2.0 * truth, "{excess} {truth}");
        }
        // A control: too low by more than is allowed for, it is less.
        assert!(excess(16.0).get() < truth * (1.0 - 1e-9));
    }
}

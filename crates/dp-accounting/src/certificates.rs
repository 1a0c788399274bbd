//! Certificates for mechanisms that stop charging a record once it was served.

use crate::bisection::bisect;
use crate::error::ParamError;
use crate::params::{Delta, Epsilon};
use crate::pure_composition::optimal_composition_delta;
use crate::rounding::raise;

/// `min over s > 0 of (s + ln(1/delta)) / (1 - e^-s)`, rounded up: the charge that a record exceeds with probability `delta` at most.
fn charge(delta: f64) -> f64 {
    let log_inverse = -libm::log(delta);
    let at = |s: f64| (s + log_inverse) / -libm::expm1(-s);
    // The derivative has the sign of e^s - 1 - s - ln(1/delta), which rises.
    let (s, _) = bisect(1e-12, 800.0, |s| libm::expm1(s) - s - log_inverse < 0.0);
    raise(at(s), 16.0)
}

/// The epsilon at `delta` of repeated exponential-mechanism selections with loss `each` per unit of score, for scores that are monotone and
/// credit every record at most one unit over the whole run; rounded up, `None` without a delta.
///
/// `max(each, (e^each - 1) T)` with `T` the least of `(s + ln(1/delta)) / (1 - e^-s)`. No subsampling, any number of rounds fixed
/// beforehand. Relation: [`AddRemove`](crate::AddRemove).
///
/// # Proof
/// Adding a record costs at most `each`. Removing: with `Y` the credits and `m` their conditional means, the log-ratio is at most
/// `(e^each - 1) sum m`; `E e^(-s Y) <= e^(-(1 - e^-s) m)` and `sum Y <= 1` give `Pr[sum m > T] <= e^(s - (1 - e^-s) T)`.
pub fn repeated_selection_epsilon(each: Epsilon, delta: Delta) -> Option<Epsilon> {
    if delta == Delta::ZERO {
        return None;
    }
    let charged = raise(libm::expm1(each.get()) * charge(delta.get()), 8.0);
    Epsilon::of(charged.max(each.get()))
}

/// The largest loss per unit of score for which [`repeated_selection_epsilon`] stays within `epsilon`, rounded down.
///
/// `None` without a delta.
pub fn repeated_selection_loss(epsilon: Epsilon, delta: Delta) -> Option<Epsilon> {
    let fits = |each: f64| {
        Epsilon::of(each)
            .and_then(|each| repeated_selection_epsilon(each, delta))
            .is_some_and(|got| got <= epsilon)
    };
    if !fits(0.0) {
        return None;
    }
    Epsilon::of(bisect(0.0, epsilon.get().next_up(), fits).0)
}

/// Where so many tests are needed for `limit` hits, no delta below 1 is looked for: a loss per test that needs
/// them is far too large for a budget in range.
const MOST_TESTS: u32 = 200_000;

/// The delta at `epsilon` of threshold tests with `each`-private answers over records that leave after `limit` positive ones, rounded up.
///
/// `min over M of Pr[Bin(M, 1/(e^each + 1)) < limit] + delta of M pure mechanisms`: each charged test is positive
/// with at least that probability, so more than `M` of them are unlikely, and `M` of them compose exactly. The noise must be two-sided (Laplace
/// or symmetric geometric). Relation: [`AddRemove`](crate::AddRemove) on users.
///
/// # Source
/// Target charging: Cohen and Lyu (NeurIPS 2023), in a form of our own for this case.
///
/// # Errors
/// [`ParamError`] unless `1 <= limit <= 10,000`.
pub fn target_charging_delta(
    each: Epsilon,
    limit: u32,
    epsilon: Epsilon,
) -> Result<Delta, ParamError> {
    if !(1..=10_000).contains(&limit) {
        let want = "at least 1 and at most 10,000";
        return Err(ParamError::OutOfRange { name: "limit", got: f64::from(limit), want });
    }
    let total = |uses: u32| -> Result<f64, ParamError> {
        let composed = optimal_composition_delta(each, Delta::ZERO, uses, epsilon)?;
        Ok(charged_more(each.get(), uses, limit) + composed.get())
    };
    // One term falls and the other rises in M: the sum is flat around its least value, and any M is valid.
    let k = f64::from(limit);
    let mut best = 1.0_f64;
    let mut widest = 0.0;
    while widest <= 64.0 {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "small and positive"
        )]
        let uses = ((1.0 + libm::exp(each.get())) * k + widest * (k.sqrt() + 1.0)) as u32;
        if uses > MOST_TESTS {
            break;
        }
        best = best.min(total(uses.max(limit))?);
        widest += 0.25;
    }
    Ok(Delta::saturating(raise(best, 8.0)))
}

/// `Pr[Bin(uses, 1/(e^e + 1)) < limit]`, rounded up.
fn charged_more(e: f64, uses: u32, limit: u32) -> f64 {
    let n = f64::from(uses);
    let (hit, miss) = (-e - libm::log1p(libm::exp(-e)), -libm::log1p(libm::exp(-e)));
    let mut sum = 0.0;
    for i in 0..limit.min(uses + 1) {
        let i = f64::from(i);
        let choose = libm::lgamma(n + 1.0) - libm::lgamma(i + 1.0) - libm::lgamma(n - i + 1.0);
        sum += libm::exp(choose + i * hit + (n - i) * miss);
    }
    raise(sum, 64.0 + 16.0 * libm::lgamma(n + 2.0) + 4.0 * n * miss.abs())
}

/// The largest `each` for which [`target_charging_delta`] stays within `delta` at `epsilon`, rounded down to 1e-6 of itself.
///
/// The noise scale of the tests is its inverse.
///
/// # Errors
/// As [`target_charging_delta`].
pub fn target_charging_loss(
    epsilon: Epsilon,
    delta: Delta,
    limit: u32,
) -> Result<Epsilon, ParamError> {
    target_charging_delta(epsilon, limit, epsilon)?;
    let fits = |each: f64| {
        Epsilon::new(each)
            .and_then(|each| target_charging_delta(each, limit, epsilon))
            .is_ok_and(|got| got <= delta)
    };
    let (mut low, mut high) = (0.0, epsilon.get());
    while high - low > 1e-6 * high {
        let middle = f64::midpoint(low, high);
        if fits(middle) {
            low = middle;
        } else {
            high = middle;
        }
        if high < 1e-9 {
            break;
        }
    }
    Epsilon::new(low)
}

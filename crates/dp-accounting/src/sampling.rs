//! Privacy of a mechanism that only sees a sample.

use crate::error::ParamError;
use crate::outward::{larger, smaller};
use crate::params::{Delta, Epsilon};
use crate::rounding::raise;

fn check_rate(rate: f64) -> Result<(), ParamError> {
    if rate > 0.0 && rate <= 1.0 {
        Ok(())
    } else {
        let want = "above 0 and at most 1";
        Err(ParamError::OutOfRange { name: "sampling rate", got: rate, want })
    }
}

/// `ln(1 + q (e^epsilon - 1))`, rounded up.
fn amplified(epsilon: f64, rate: f64) -> f64 {
    if epsilon > 700.0 {
        return raise(epsilon + libm::log(rate), 8.0);
    }
    raise(libm::log1p(rate * libm::expm1(epsilon)), 16.0)
}

/// The loss of an `(epsilon, delta)` mechanism on a Poisson sample at `rate`, rounded up.
///
/// Relation: [`AddRemove`](crate::AddRemove) for both; the mechanism must be private in both directions.
///
/// # Source
/// Balle, Barthe, Gaboardi (NeurIPS 2018), Theorem 8.
///
/// # Errors
/// [`ParamError`] unless `0 < rate <= 1`.
pub fn poisson_sampling(
    epsilon: Epsilon,
    delta: Delta,
    rate: f64,
) -> Result<(Epsilon, Delta), ParamError> {
    check_rate(rate)?;
    let epsilon = Epsilon::new(amplified(epsilon.get(), rate))?;
    Ok((epsilon, Delta::saturating(raise(rate * delta.get(), 2.0))))
}

/// The loss of an `(epsilon, delta)` mechanism on a uniform sample of `size` out of `population` records, rounded up.
///
/// Relation: [`ReplaceOne`](crate::ReplaceOne) for both.
///
/// # Source
/// Balle, Barthe, Gaboardi (NeurIPS 2018), Theorem 9.
///
/// # Errors
/// [`ParamError`] unless `1 <= size <= population`.
pub fn sampling_without_replacement(
    epsilon: Epsilon,
    delta: Delta,
    size: u64,
    population: u64,
) -> Result<(Epsilon, Delta), ParamError> {
    if size == 0 || size > population {
        let want = "at least 1 and at most the population";
        return Err(ParamError::OutOfRange { name: "sample size", got: size as f64, want });
    }
    poisson_sampling(epsilon, delta, smaller(raise(size as f64 / population as f64, 2.0), 1.0))
}

/// The loss of a mechanism on `draws` independent uniform draws out of `population` records, rounded up.
///
/// A record can be drawn more than once, so the delta of a group enters: `group_delta(j)` must bound the delta at `epsilon` of
/// the mechanism when `j` records are replaced. Relation: [`ReplaceOne`](crate::ReplaceOne) for both.
///
/// # Source
/// Balle, Barthe, Gaboardi (NeurIPS 2018), Theorem 10.
///
/// # Errors
/// [`ParamError`] unless `1 <= draws <= 1e6` and `population >= 1`.
pub fn sampling_with_replacement(
    epsilon: Epsilon,
    draws: u32,
    population: u64,
    group_delta: impl Fn(u32) -> Delta,
) -> Result<(Epsilon, Delta), ParamError> {
    if draws == 0 || draws > 1_000_000 {
        let want = "at least 1 and at most 1e6";
        return Err(ParamError::OutOfRange { name: "draws", got: f64::from(draws), want });
    }
    if population == 0 {
        return Err(ParamError::OutOfRange { name: "population", got: 0.0, want: "at least 1" });
    }
    let (n, m) = (population as f64, f64::from(draws));
    let miss = libm::log1p(-1.0 / n);
    let rate =
        if population == 1 { 1.0 } else { smaller(raise(-libm::expm1(m * miss), 16.0), 1.0) };
    let mut delta = 0.0;
    for j in 1..=draws {
        let j_real = f64::from(j);
        let log_choose =
            libm::lgamma(m + 1.0) - libm::lgamma(j_real + 1.0) - libm::lgamma(m - j_real + 1.0);
        let rest = if draws == j { 0.0 } else { (m - j_real) * miss };
        let weight = libm::exp(log_choose - j_real * libm::log(n) + rest);
        // What is left of the weights falls faster than geometrically here.
        if weight < 1e-300 && j_real > m / n {
            break;
        }
        delta += weight * group_delta(j).get();
    }
    let slack = 64.0 + 16.0 * libm::lgamma(m + 2.0);
    Ok((Epsilon::new(amplified(epsilon.get(), rate))?, Delta::saturating(raise(delta, slack))))
}

/// The two-sided loss of a mechanism on a Poisson sample at `rate`, when adding a record to its input costs `add` and removing one
/// `remove` (infinite if nothing bounds it), rounded up.
///
/// `max(ln(1 + p (e^add - 1)), -ln(1 - p (1 - e^-remove)))`; without a bound on the remove side the second is `-ln(1 - p)`.
/// Relation: [`AddOnly`](crate::AddOnly) for `add`, [`AddRemove`](crate::AddRemove) for the result.
///
/// # Source
/// The audit's P4 for the finite form; the rule itself: Lemma 3.1 of the paper on individualised guarantees, where `remove` is infinite.
///
/// # Errors
/// [`ParamError`] unless `0 < rate < 1` (`rate = 1` only with a finite `remove`) and `remove >= 0`.
pub fn one_sided_to_two_sided(add: Epsilon, remove: f64, rate: f64) -> Result<Epsilon, ParamError> {
    check_rate(rate)?;
    if remove.is_nan() || remove < 0.0 {
        let want = "at least 0, or infinite";
        return Err(ParamError::OutOfRange { name: "remove side", got: remove, want });
    }
    let shown = -rate * -libm::expm1(-remove);
    let removed = raise(-libm::log1p(shown), 4.0);
    if !removed.is_finite() {
        let want = "below 1 where the remove side is not bounded";
        return Err(ParamError::OutOfRange { name: "sampling rate", got: rate, want });
    }
    Epsilon::new(larger(amplified(add.get(), rate), removed))
}

/// The largest rate and the largest one-sided loss whose two-sided loss is `target`: `p = 1 - e^-target`, `ln(1 + e^target)`,
/// both rounded down.
///
/// Both branches of [`one_sided_to_two_sided`] then equal `target`, so neither can grow.
///
/// # Errors
/// [`ParamError`] for a target of 0.
pub fn one_sided_pairing(target: Epsilon) -> Result<(f64, Epsilon), ParamError> {
    let e = target.get();
    if e <= 0.0 {
        return Err(ParamError::OutOfRange { name: "epsilon", got: e, want: "above 0" });
    }
    let down = 1.0 - 32.0 * f64::EPSILON;
    let rate = -libm::expm1(-e * down);
    let inner = e + libm::log1p(libm::exp(-e));
    Ok((rate, Epsilon::new(inner * down - 32.0 * f64::EPSILON * smaller(e, 1.0))?))
}

//! Privacy of a mechanism that only sees a sample.

use crate::error::ParamError;
use crate::outward::{Lower, Upper, larger};
use crate::params::{Delta, Epsilon};
use crate::rounding::UNIT;

fn check_rate(rate: f64) -> Result<(), ParamError> {
    if rate > 0.0 && rate <= 1.0 {
        Ok(())
    } else {
        let want = "above 0 and at most 1";
        Err(ParamError::OutOfRange { name: "sampling rate", got: rate, want })
    }
}

/// `ln(1 + q (e^epsilon - 1))`.
fn amplified(epsilon: f64, rate: f64) -> Upper {
    if epsilon > 600.0 {
        // At most ln(1 + e^t) with t = epsilon + ln q, the larger of t and 0 first.
        let t = epsilon + libm::log(rate);
        let more = libm::log1p(libm::exp(-t.abs()));
        let error = 8.0 * UNIT * (epsilon + libm::log(rate).abs() + more);
        return Upper::near(larger(t, 0.0) + more, error).or(Upper::new(epsilon));
    }
    let grown = Upper::new(rate).times(Upper::new(libm::expm1(epsilon)).raised(4.0));
    Upper::new(libm::log1p(grown.get())).raised(4.0).or(Upper::new(epsilon))
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
    let epsilon = Epsilon::new(amplified(epsilon.get(), rate).get())?;
    Ok((epsilon, Delta::saturating(Upper::new(rate).times(Upper::new(delta.get())).get())))
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
    let rate = Upper::new(size as f64 / population as f64).raised(4.0).or(Upper::ONE);
    poisson_sampling(epsilon, delta, rate.get())
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
    let drawn = Upper::new(-libm::expm1(m * miss)).raised(16.0);
    let rate = if population == 1 { Upper::ONE } else { drawn.or(Upper::ONE) };
    // The logarithms of the weights are off by a few units of the largest factorial, and of what they subtract.
    let (log_n, error) = (libm::log(n), UNIT * (64.0 + 16.0 * libm::lgamma(m + 2.0)));
    let mut delta = Upper::ZERO;
    for j in 1..=draws {
        let j_real = f64::from(j);
        let log_choose =
            libm::lgamma(m + 1.0) - libm::lgamma(j_real + 1.0) - libm::lgamma(m - j_real + 1.0);
        let rest = if draws == j { 0.0 } else { (m - j_real) * miss };
        let taken = j_real * log_n;
        let weight = Upper::near(log_choose - taken + rest, error + 4.0 * UNIT * taken).exp();
        // Each further weight is at most this part of the one before, and no delta is above 1.
        let fall = (m - j_real) / ((j_real + 1.0) * (n - 1.0));
        if weight.get() < 1e-300 && fall <= 0.5 {
            delta = delta + weight.of_uses(2.0);
            break;
        }
        delta = delta + weight.times(Upper::new(group_delta(j).get()));
    }
    Ok((Epsilon::new(amplified(epsilon.get(), rate.get()).get())?, Delta::saturating(delta.get())))
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
    let removed = hidden(rate, remove);
    if !removed.is_known() {
        let want = "below 1 where the remove side is not bounded";
        return Err(ParamError::OutOfRange { name: "sampling rate", got: rate, want });
    }
    Epsilon::new(amplified(add.get(), rate).max(removed).get())
}

/// `-ln(1 - p (1 - e^-remove))`.
fn hidden(rate: f64, remove: f64) -> Upper {
    let shown = Upper::new(rate).times(Upper::new(-libm::expm1(-remove)).raised(4.0));
    if shown.get() < 0.5 {
        return Upper::new(-libm::log1p(-shown.get())).raised(8.0);
    }
    // Next to 1 the difference keeps no digits, but both terms of 1 - p + p e^-remove are positive.
    let kept =
        (Lower::new(1.0) - Upper::new(rate)) + Lower::new(rate).times(Lower::new(-remove).exp());
    if kept.get() <= 0.0 { Upper::UNKNOWN } else { Upper::new(-libm::log(kept.get())).raised(8.0) }
}

#[cfg(test)]
mod tests {
    use dp_check::Interval;

    use super::*;

    /// All draws are the record: `n^-6`, whose logarithm is six times one that is rounded, the wrong way for this `n`.
    #[test]
    fn weights_of_many_draws_of_one_record_are_rounded_up() {
        let population = 4_708_199_457_356_080_128;
        let all = |j: u32| if j == 6 { Delta::MAX } else { Delta::ZERO };
        let (_, delta) = sampling_with_replacement(Epsilon::ZERO, 6, population, all).unwrap();
        let truth = 9.180_596_128_091_293e-113;
        assert!((truth..truth * (1.0 + 1e-12)).contains(&delta.get()), "{delta:?}");
    }

    /// Each weight by itself, in intervals of big integers. Of many draws out of two the factorials are rounded most.
    #[test]
    fn weights_of_draws_are_rounded_up_by_little() {
        let of = Interval::of;
        for (draws, population) in
            [(2, 2), (3, 10), (7, 1_000_003), (40, 41), (60, 999_999_999_989), (300, 2)]
        {
            let miss = &of(1.0) - &(&of(1.0) / &Interval::whole(population));
            let mut choose = of(1.0);
            for j in 1..=draws {
                choose = &(&choose * &Interval::whole(draws - j + 1)) / &Interval::whole(j);
                let truth =
                    &(&choose / &Interval::whole(population).power(j)) * &miss.power(draws - j);
                if truth.approximate() < 1e-290 {
                    continue;
                }
                let only = |i: u32| if u64::from(i) == j { Delta::MAX } else { Delta::ZERO };
                let uses = u32::try_from(draws).unwrap();
                let (_, delta) =
                    sampling_with_replacement(Epsilon::ZERO, uses, population, only).unwrap();
                // The largest delta is below 1 by a unit.
                let truth = &truth * &of(Delta::MAX.get());
                assert!(
                    !truth.reaches_above(delta.get()),
                    "{draws} {population} {j}: {delta} {truth}"
                );
                assert!(
                    delta.get() <= truth.approximate() * (1.0 + 1e-11),
                    "{draws} {population} {j}: {delta}"
                );
            }
        }
    }

    /// Where the first weights are next to nothing and the likeliest are far on: if any group gives all away, so does a record that is drawn, and
    /// groups of half of the draws are not left out. Nor is anything added where the likely groups give nothing.
    #[test]
    fn weights_that_begin_next_to_nothing_are_all_added_up() {
        for (draws, population) in [(1_100, 2), (2_000, 2), (30_000, 7), (1_000_000, 1_000)] {
            let (m, n) = (f64::from(draws), population as f64);
            let (drawn, usual) = (-(m * (-1.0 / n).ln_1p()).exp_m1(), m / n);
            let delta = |gives: &dyn Fn(f64) -> bool| {
                let group = |j| if gives(f64::from(j)) { Delta::MAX } else { Delta::ZERO };
                sampling_with_replacement(Epsilon::ZERO, draws, population, group).unwrap().1.get()
            };
            assert!(delta(&|_| true) >= drawn * (1.0 - 1e-12), "{draws} {population}");
            assert!(delta(&|j| j >= usual.floor()) >= 0.45, "{draws} {population}");
            let far = delta(&|j| (j - usual).abs() >= 6.0 * usual.sqrt());
            assert!(far < 1e-6, "{draws} {population}: {far}");
        }
    }

    /// Where `epsilon` and the logarithm of the rate nearly cancel: `ln(1 + e^t)` for `t` between, which has neither of both alone, and with the
    /// form for smaller `epsilon` on the other side of 600.
    #[test]
    fn large_losses_on_rare_samples_are_amplified_as_they_are() {
        for epsilon in [100.0, 599.0, 600.0, 601.0, 650.0, 700.0] {
            for t in (-40..=40).map(f64::from) {
                let rate = (t - epsilon).exp();
                if rate <= 1.0 {
                    // In the logarithm of the rate as it is, which is known to 2^-53 of its value.
                    let least = (epsilon + rate.ln()).exp().ln_1p();
                    let told = amplified(epsilon, rate).get();
                    assert!(told >= least * (1.0 - 1e-12), "{epsilon} {t}: {told} {least}");
                    assert!(told <= least * (1.0 + 1e-9) + 1e-11, "{epsilon} {t}: {told} {least}");
                }
            }
        }
    }
}

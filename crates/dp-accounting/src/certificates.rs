//! Certificates for mechanisms that stop charging a record once it was served.

use crate::bisection::bisect;
use crate::error::ParamError;
use crate::outward::Upper;
use crate::params::{Delta, Epsilon};
use crate::pure_composition::optimal_delta;
use crate::rounding::UNIT;

/// `min over s > 0 of (s + ln(1/delta)) / (1 - e^-s)`: the charge that a record exceeds with probability `delta` at most.
fn charge(delta: f64) -> Upper {
    let log_inverse = -libm::log(delta);
    let at = |s: f64| (s + log_inverse) / -libm::expm1(-s);
    // The derivative has the sign of e^s - 1 - s - ln(1/delta), which rises.
    let (s, _) = bisect(1e-12, 800.0, |s| libm::expm1(s) - s - log_inverse < 0.0);
    Upper::new(at(s)).raised(16.0)
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
    let grown = Upper::new(libm::expm1(each.get())).raised(4.0);
    Epsilon::of(grown.times(charge(delta.get())).max(Upper::new(each.get())).get())
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
    check_limit(limit)?;
    let mut best = Upper::ONE;
    for uses in numbers_of_tests(each, limit) {
        match total(each, uses, limit, (epsilon, best.get()))? {
            Total::Is(total) => best = best.or(total),
            Total::NotBelow => {}
            Total::NeverBelow => break,
        }
    }
    Ok(Delta::saturating(best.get()))
}

fn check_limit(limit: u32) -> Result<(), ParamError> {
    if (1..=10_000).contains(&limit) {
        return Ok(());
    }
    let want = "at least 1 and at most 10,000";
    Err(ParamError::OutOfRange { name: "limit", got: f64::from(limit), want })
}

/// Whether [`target_charging_delta`] is at most `delta`, by the first number of tests that shows it.
fn stays_within(
    each: Epsilon,
    limit: u32,
    epsilon: Epsilon,
    delta: Delta,
) -> Result<bool, ParamError> {
    for uses in numbers_of_tests(each, limit) {
        match total(each, uses, limit, (epsilon, delta.get()))? {
            Total::Is(total) if total.get() <= delta.get() => return Ok(true),
            Total::NeverBelow => break,
            Total::Is(_) | Total::NotBelow => {}
        }
    }
    Ok(false)
}

/// The numbers that the least is looked for among, ascending. One term of the total falls and the other rises: the
/// sum is flat around its least value, and any number is valid.
fn numbers_of_tests(each: Epsilon, limit: u32) -> impl Iterator<Item = u32> {
    let k = f64::from(limit);
    (0..=256_u32)
        .map(move |quarters| {
            let widest = f64::from(quarters) * 0.25;
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "small and positive"
            )]
            let uses = ((1.0 + libm::exp(each.get())) * k + widest * (k.sqrt() + 1.0)) as u32;
            uses
        })
        .take_while(|uses| *uses <= MOST_TESTS)
        .map(move |uses| uses.max(limit))
}

/// What so many tests come to, as far as it can be below what was asked for.
enum Total {
    Is(Upper),
    NotBelow,
    /// Nor for more tests.
    NeverBelow,
}

/// The delta at an epsilon, unless it is seen not to be below a number: the first term is cheap, and the second
/// never falls, apart from rounding.
fn total(
    each: Epsilon,
    uses: u32,
    limit: u32,
    (epsilon, below): (Epsilon, f64),
) -> Result<Total, ParamError> {
    let more = charged_more(each.get(), uses, limit);
    if more.get() > below {
        return Ok(Total::NotBelow);
    }
    let composed = optimal_delta(each, Delta::ZERO, uses, epsilon)?;
    // Far above what rounding can do.
    if composed.get() > below * 1.001 {
        return Ok(Total::NeverBelow);
    }
    Ok(Total::Is(more + composed))
}

/// `Pr[Bin(uses, 1/(e^e + 1)) < limit]`.
fn charged_more(e: f64, uses: u32, limit: u32) -> Upper {
    let n = f64::from(uses);
    let (hit, miss) = (-e - libm::log1p(libm::exp(-e)), -libm::log1p(libm::exp(-e)));
    // The logarithms are off by a few units of the largest factorial, and of what they sum.
    let error = UNIT * (64.0 + 16.0 * libm::lgamma(n + 2.0) + 4.0 * n * miss.abs());
    let term = |i: u32| {
        let i = f64::from(i);
        let choose = libm::lgamma(n + 1.0) - libm::lgamma(i + 1.0) - libm::lgamma(n - i + 1.0);
        Upper::near(choose + i * hit + (n - i) * miss, error + 4.0 * UNIT * i * hit.abs()).exp()
    };
    // From the largest down: below the likeliest number of hits each term is at most the one above it, and soon none counts.
    let rising = (n + 1.0) * libm::exp(hit) * (1.0 - 1e-9);
    let mut sum = Upper::ZERO;
    for i in (0..limit.min(uses.saturating_add(1))).rev() {
        let (here, below) = (term(i), f64::from(i));
        sum = sum + here;
        let rest = here.of_uses(below);
        if below <= rising && rest.get() <= UNIT * sum.get() {
            return sum + rest;
        }
    }
    sum
}

/// The largest `each` for which [`target_charging_delta`] stays within `delta` at `epsilon`, rounded down to 1e-6 of itself.
///
/// The noise scale of the tests is its inverse.
///
/// # Complexity
/// Some twenty steps of a search, each with a few sums over a number of tests of the order of `limit`.
///
/// # Errors
/// As [`target_charging_delta`]; [`ParamError`] for a delta that no loss stays within (below `1e-39`, and the less
/// the higher the limit) and for an epsilon that leaves less than `1e-9` to a test.
pub fn target_charging_loss(
    epsilon: Epsilon,
    delta: Delta,
    limit: u32,
) -> Result<Epsilon, ParamError> {
    check_limit(limit)?;
    let fits = |each: f64| {
        Epsilon::new(each)
            .and_then(|each| stays_within(each, limit, epsilon, delta))
            .unwrap_or(false)
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
    if low > 0.0 {
        return Epsilon::new(low);
    }
    // Tests without any loss compose to nothing: what is left is how many there are.
    if stays_within(Epsilon::ZERO, limit, epsilon, delta)? {
        let want = "large enough to leave 1e-9 to a test";
        return Err(ParamError::OutOfRange { name: "epsilon", got: epsilon.get(), want });
    }
    let want = "at least 1e-39 for tests that are charged by so few hits";
    Err(ParamError::OutOfRange { name: "delta", got: delta.get(), want })
}

#[cfg(test)]
mod tests {
    use dp_check::Interval;

    use super::*;

    /// All numbers of tests, each in full: what the search must agree with.
    fn plain_delta(each: Epsilon, limit: u32, epsilon: Epsilon) -> Delta {
        let total = |uses| {
            let composed = optimal_delta(each, Delta::ZERO, uses, epsilon);
            charged_more(each.get(), uses, limit) + composed.expect("in range")
        };
        let totals = numbers_of_tests(each, limit).map(total);
        Delta::saturating(totals.fold(Upper::ONE, Upper::or).get())
    }

    /// What is left out of the sum is put back as more than it is.
    #[test]
    fn hits_are_summed_from_above() {
        for (e, uses, limit) in
            [(0.1, 30, 9), (1.0, 400, 100), (0.01, 25_000, 10_000), (3.0, 20, 20)]
        {
            let (n, hit) = (f64::from(uses), -e - libm::log1p(libm::exp(-e)));
            let miss = -libm::log1p(libm::exp(-e));
            let mut plain = 0.0;
            for i in (0..limit).map(f64::from) {
                let choose =
                    libm::lgamma(n + 1.0) - libm::lgamma(i + 1.0) - libm::lgamma(n - i + 1.0);
                plain += libm::exp(choose + i * hit + (n - i) * miss);
            }
            let got = charged_more(e, uses, limit).get();
            assert!(
                got >= plain * (1.0 - 1e-10) && got <= plain * (1.0 + 1e-7),
                "{e} {uses} {limit}: {got:e} {plain:e}"
            );
        }
    }

    /// To the last bit, from losses that are far too small to such that nothing fits.
    #[test]
    fn deltas_are_those_of_all_numbers_of_tests() {
        let mut cases = 0;
        for epsilon in [0.01, 1.0, 8.0, 20.0, 100.0].map(|x| Epsilon::new(x).expect("valid")) {
            for limit in [1, 4, 64] {
                for share in [0.002, 0.03, 0.1, 0.3] {
                    let each = Epsilon::new(share * epsilon.get().min(15.0)).expect("valid");
                    let got = target_charging_delta(each, limit, epsilon).expect("in range");
                    let plain = plain_delta(each, limit, epsilon);
                    assert_eq!(got, plain, "{each:?}, {limit}, {epsilon:?}");
                    let below = if plain > Delta::ZERO { plain.get().next_down() } else { 0.0 };
                    for delta in [1e-12, 1e-6, 0.01, plain.get(), below] {
                        let delta = Delta::new(delta).expect("valid");
                        let within = stays_within(each, limit, epsilon, delta);
                        // What is next to 1 is within nothing.
                        let keeps = plain <= delta && plain < Delta::MAX;
                        assert_eq!(within, Ok(keeps), "{each:?}, {limit}, {epsilon:?}");
                        cases += u32::from(keeps);
                    }
                }
            }
        }
        assert!(cases > 50, "{cases} cases are within: a test about little");
    }

    /// The binomial tail in intervals of big integers.
    #[test]
    fn the_chance_of_more_tests_is_rounded_up_by_little() {
        let one = Interval::of(1.0);
        for (e, uses, limit) in [(0.1, 30, 9), (1.0, 400, 100), (3.0, 20, 20), (0.013, 900, 300)] {
            let hit = &one / &(&one + &Interval::of(e).exp());
            let miss = &one - &hit;
            let mut term = miss.power(uses);
            let mut truth = Interval::of(0.0);
            for i in 0..limit {
                truth = &truth + &term;
                let odds =
                    &(&hit * &Interval::whole(uses - i)) / &(&miss * &Interval::whole(i + 1));
                term = &term * &odds;
            }
            let count = |n: u64| u32::try_from(n).expect("small");
            let bound = charged_more(e, count(uses), count(limit)).get();
            assert!(!truth.reaches_above(bound), "{e} {uses}: {bound} {truth}");
            assert!(bound <= truth.approximate() * (1.0 + 1e-9), "{e} {uses}: {bound} {truth}");
        }
    }
}

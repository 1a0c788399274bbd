//! The field's formulas for single losses, each evaluated once more: conversions, composition of mechanisms that are all alike, samples.
//!
//! A formula with a free order is evaluated at one that floats found; as every order gives a bound, a claim below the value there by more than the
//! square of a float's rounding is below all of them.

use crate::interval::Interval;

/// Below this size a power series takes over: next to 0 a difference from 1 keeps no digits.
const SMALL: f64 = 1.0 / (1_u64 << 60) as f64;

fn is_small(x: &Interval) -> bool {
    !x.reaches_above(SMALL) && !x.reaches_below(-SMALL)
}

/// What a series leaves out after its third power.
fn fourth_power(x: &Interval) -> Interval {
    let square = x * x;
    let rest = &square * &square;
    (-&rest).hull(&rest)
}

/// `e^x - 1`.
#[must_use]
pub fn exp_m1(x: &Interval) -> Interval {
    if !is_small(x) {
        return &x.exp() - &Interval::one();
    }
    let cube = &(&(x * x) * x) / &Interval::whole(6);
    &(&(x + &(x * x).scaled(-1)) + &cube) + &fourth_power(x)
}

/// `ln(1 + x)`.
#[must_use]
pub fn ln_1p(x: &Interval) -> Interval {
    if !is_small(x) {
        return (&Interval::one() + x).ln();
    }
    let cube = &(&(x * x) * x) / &Interval::whole(3);
    &(&(x - &(x * x).scaled(-1)) + &cube) + &fourth_power(x)
}

/// `tanh(x / 2)`, for `x >= 0`.
#[must_use]
pub fn tanh_half(x: &Interval) -> Interval {
    let down = -&exp_m1(&-x);
    &down / &(&Interval::one().scaled(1) - &down)
}

/// Where a function that is negative first changes its sign.
fn crossing(mut low: f64, mut high: f64, is_negative: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..200 {
        let middle = (0.5 * (low.ln() + high.ln())).exp();
        if is_negative(middle) { low = middle } else { high = middle }
    }
    low
}

/// The least epsilon that a Renyi divergence `divergence(a)` gives at `delta`, at the order `1 + x`:
/// `divergence - ln(1 + 1/x) - (ln(delta) + ln(1 + x)) / x` (Canonne, Kamath, Steinke 2020, Proposition 12).
#[must_use]
pub fn renyi_epsilon(divergence: &Interval, x: f64, delta: f64) -> Interval {
    let (x, one) = (Interval::of(x), Interval::one());
    let tail = &(&-&Interval::of(delta).ln() - &ln_1p(&x)) / &x;
    (&(divergence - &ln_1p(&(&one / &x))) + &tail).positive_part()
}

/// The least epsilon of `rho`-zCDP at `delta`.
#[must_use]
pub fn zcdp_epsilon(rho: f64, delta: f64) -> Interval {
    let log = if delta > 0.5 { -(delta - 1.0).ln_1p() } else { -delta.ln() };
    let x = crossing(1e-300, 1e300, |x| (rho * x) * x + x.ln_1p() < log);
    let divergence = &Interval::of(rho) * &(&Interval::one() + &Interval::of(x));
    renyi_epsilon(&divergence, x, delta)
}

/// The least `ln(delta)` of `rho`-zCDP at `epsilon`.
#[must_use]
pub fn zcdp_log_delta(rho: f64, epsilon: f64) -> Interval {
    let x = crossing(1e-300, 1e300, |x| (2.0 * x + 1.0) * rho - epsilon - (1.0 / x).ln_1p() < 0.0);
    let (x, one) = (Interval::of(x), Interval::one());
    let slope = &Interval::of(rho) * &(&one + &x);
    let inner = &(&slope - &Interval::of(epsilon)) - &ln_1p(&(&one / &x));
    &(&x * &inner) - &ln_1p(&x)
}

/// The delta at `total` of `uses` mechanisms that are `(epsilon, delta)`-private (Kairouz, Oh, Viswanath 2015, Theorem 3): one sum, in which each
/// term follows from the one before.
#[must_use]
pub fn optimal_composition(epsilon: f64, delta: f64, uses: u64, total: f64) -> Interval {
    let (one, e) = (Interval::one(), Interval::of(epsilon));
    let odds = (-&e).exp();
    let log_truth = -&ln_1p(&odds);
    let count = Interval::whole(uses);
    // The largest loss first; `decay` is e^(total - loss).
    let mut weight = (&count * &log_truth).exp();
    let mut decay = (&Interval::of(total) - &(&count * &e)).exp();
    let step = e.scaled(1).exp();
    let mut sum = Interval::zero();
    for i in (0..=uses).rev() {
        let part = (&one - &decay).positive_part();
        if !part.reaches_above(0.0) {
            break;
        }
        sum = &sum + &(&weight * &part);
        let ratio = &Interval::whole(i) / &Interval::whole(uses - i + 1);
        weight = &(&weight * &ratio) * &odds;
        decay = &decay * &step;
    }
    let kept = (&count * &ln_1p(&-&Interval::of(delta))).exp();
    &(&one - &kept) + &(&kept * &sum)
}

/// `ln(1 + rate (e^epsilon - 1))`: a record takes part with probability `rate`.
#[must_use]
pub fn sampled(epsilon: f64, rate: &Interval) -> Interval {
    ln_1p(&(rate * &exp_m1(&Interval::of(epsilon))))
}

/// `-ln(1 - rate (1 - e^-epsilon))`, with `None` for an epsilon without limit: the same seen from the other side.
#[must_use]
pub fn hidden(epsilon: Option<f64>, rate: f64) -> Interval {
    let (one, p) = (Interval::one(), Interval::of(rate));
    let shown = epsilon.map_or(one.clone(), |epsilon| -&exp_m1(&-&Interval::of(epsilon)));
    let shown = &p * &shown;
    if shown.is_below(0.5) {
        return -&ln_1p(&-&shown);
    }
    // Two positive terms, where a difference would be next to 0.
    let kept = epsilon.map_or(Interval::zero(), |epsilon| (-&Interval::of(epsilon)).exp());
    -&(&(&one - &p) + &(&p * &kept)).ln()
}

/// The least charge that is exceeded with probability `delta` at most: `(s + ln(1/delta)) / (1 - e^-s)` at the best `s`.
#[must_use]
pub fn charge(delta: f64) -> Interval {
    let log = if delta > 0.5 { -(delta - 1.0).ln_1p() } else { -delta.ln() };
    let s = crossing(1e-12, 800.0, |s| s.exp_m1() - s < log);
    let s = Interval::of(s);
    &(&s - &Interval::of(delta).ln()) / &-&exp_m1(&-&s)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: &Interval, want: f64) {
        assert!((got.approximate() / want - 1.0).abs() < 1e-14, "{got}, want {want:e}");
        assert!(got.relative_width() < 1e-25, "{got}");
    }

    #[test]
    fn both_forms_agree_where_they_meet() {
        for x in [SMALL, SMALL.next_up(), -SMALL, 1e-300, 1e-10, -0.5, 3.0] {
            let size = |y: Interval| if x < 0.0 { -&y } else { y };
            close(&size(exp_m1(&Interval::of(x))), x.exp_m1().abs());
            close(&size(ln_1p(&Interval::of(x))), x.ln_1p().abs());
        }
        close(&tanh_half(&Interval::of(1e-30)), 5e-31);
        close(&tanh_half(&Interval::of(2.0)), 1.0_f64.tanh());
    }

    /// The series and the function share nothing, so a number that both enclose is in both, to the last bit that either has.
    #[test]
    fn short_series_enclose_what_they_leave_out() {
        let meet = |a: &Interval, b: &Interval| a.lo <= b.hi && b.lo <= a.hi;
        for share in [1.0, 0.9, 0.37, -0.37, -1.0] {
            let x = Interval::of(SMALL * share);
            assert!(is_small(&x));
            assert!(meet(&exp_m1(&x), &(&x.exp() - &Interval::one())), "{share}");
            assert!(meet(&ln_1p(&x), &(&Interval::one() + &x).ln()), "{share}");
        }
    }

    /// The formula for mechanisms that are all alike, and the composed law.
    #[test]
    fn like_mechanisms_compose_as_their_laws_do() {
        use crate::{Composed, Effort, Law, Side};
        let effort = Effort { atoms: 1_000, cells: 100, terms: 1_000, places: 200 };
        for (delta, uses) in [0.0, 1e-9, 0.1].into_iter().flat_map(|d| [1, 2, 5].map(|n| (d, n))) {
            let law = Law::Approximate { epsilon: 0.7, delta };
            let all = Composed::new(&[(law, uses)], Side::Remove, effort).expect("few atoms");
            for total in [0.0, 0.3, 1.0, 2.9, 30.0] {
                let (formula, law) =
                    (optimal_composition(0.7, delta, uses, total), all.delta(total));
                let off = &formula - &law;
                assert!(
                    off.is_above(-1e-50) && off.is_below(1e-50),
                    "{delta} {uses} {total}: {off}"
                );
            }
        }
    }

    /// Values from the literature, and from counting by hand.
    #[test]
    fn known_values() {
        close(&zcdp_epsilon(0.5, 1e-6), 5.221_534_444_530_169);
        let (e, y) = (1.0_f64.exp(), 0.5_f64.exp());
        let truth = (e / (1.0 + e)).powi(2) * (1.0 - y / (e * e));
        close(&optimal_composition(1.0, 0.0, 2, 0.5), truth);
        close(&sampled(1.0, &Interval::of(0.5)), f64::midpoint(1.0, e).ln());
        close(&hidden(None, 0.25), (4.0_f64 / 3.0).ln());
        close(&hidden(Some(1.0), 0.25), -(0.75 + 0.25 / e).ln());
    }
}

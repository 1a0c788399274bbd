//! The upper tail of the normal law.

use std::sync::LazyLock;

use crate::interval::{Interval, pi};

/// Above this, a continued fraction converges fast enough; below, a series does not cancel too much.
const FAR: f64 = 9.0;
/// Levels of the continued fraction: at [`FAR`], the error is about `e^(-2 x sqrt(2 n))`, below `2^-256`.
const LEVELS: u64 = 60;

fn inverse_root() -> &'static Interval {
    static VALUE: LazyLock<Interval> = LazyLock::new(|| &Interval::one() / &pi().scaled(1).sqrt());
    &VALUE
}

/// `e^(-x^2 / 2) / sqrt(2 pi)`.
fn density(x: &Interval) -> Interval {
    &(-&(x * x).scaled(-1)).exp() * inverse_root()
}

/// `Pr[Z > x]` of a standard normal `Z`.
pub(crate) fn upper_tail(x: &Interval) -> Interval {
    if !x.is_positive() {
        let there = &Interval::one() - &upper_tail_from_zero(&-x);
        return there;
    }
    upper_tail_from_zero(x)
}

fn upper_tail_from_zero(x: &Interval) -> Interval {
    if x.is_above(FAR) {
        // density / (x + 1/(x + 2/(x + 3/(..)))), where what follows a level lies between 0 and the next quotient.
        let first = &Interval::whole(LEVELS + 1) / x;
        let mut below = x + &Interval::zero().hull(&first);
        for n in (1..=LEVELS).rev() {
            below = x + &(&Interval::whole(n) / &below);
        }
        return &density(x) / &below;
    }
    // 1/2 - density (x + x^3/3 + x^5/(3 5) + ..): positive terms for positive x, and odd.
    let square = x * x;
    let (mut term, mut sum, mut n) = (x.clone(), x.clone(), 1);
    loop {
        let ratio = &square / &Interval::whole(2 * n + 1);
        term = &term * &ratio;
        sum = &sum + &term;
        n += 1;
        let size = term.lo.neg().max(term.hi.clone());
        if ratio.is_below(0.5) && size.top() < sum.hi.top().max(sum.lo.neg().top()) - 300 {
            // Each further term is less than half of the one before.
            sum = &sum + &Interval { lo: size.neg(), hi: size };
            break;
        }
        if size.is_zero() {
            break;
        }
    }
    &Interval::of(0.5) - &(&density(x) * &sum)
}

/// `sup over S of P(S) - y Q(S)` for `P` and `Q` normal, `mu` standard deviations apart, with `loss = ln y`.
///
/// The likelihood ratio exceeds `y` where the output under `P` is above `ln(y) / mu - mu / 2` standard deviations.
pub fn hockey_stick(mu: &Interval, loss: &Interval) -> Interval {
    let (middle, half) = (loss / mu, mu.scaled(-1));
    let (p, q) = (upper_tail(&(&middle - &half)), upper_tail(&(&middle + &half)));
    (&p - &(&loss.exp() * &q)).positive_part()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_known_values() {
        // Tables of the normal law to 15 digits.
        for (x, want) in [
            (0.0, "5.00000000000000e-1"),
            (1.0, "1.58655253931457e-1"),
            (-1.0, "8.41344746068543e-1"),
            (3.0, "1.34989803163009e-3"),
            (10.0, "7.61985302416053e-24"),
        ] {
            assert_eq!(format!("{:.14e}", upper_tail(&Interval::of(x)).approximate()), want);
        }
    }

    /// The series and the fraction share nothing.
    #[test]
    fn both_ways_agree_where_they_meet() {
        let (before, after) = (Interval::of(FAR), Interval::of(FAR.next_up()));
        let (series, fraction) = (upper_tail(&before), upper_tail(&after));
        // The tail falls by the density times the step: one part in 10^14 here, up to a millionth of that.
        let fall = &density(&before) * &(&after - &before);
        let off = &(&series - &fraction) - &fall;
        let share = &off / &fall;
        assert!(share.is_above(-1e-6) && share.is_below(1e-6), "{share}");
        assert!(series.relative_width() < 1e-45 && fraction.relative_width() < 1e-45, "{fraction}");
    }
}

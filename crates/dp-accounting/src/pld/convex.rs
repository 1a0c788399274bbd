//! A curve with the negative masses of its law taken out: convex, and nowhere higher.

use crate::outward::sum;

/// The share of a mass at distance `x` into a gap of `width` that goes to the far end, so that both laws keep their mass.
fn share(x: f64, width: f64) -> f64 {
    libm::expm1(-x) / libm::expm1(-width)
}

/// Removes negative masses by taking their knots out; the curve only gets lower.
pub(crate) fn convex(index: &[i64], step: f64, mass: &mut [f64]) {
    let n = mass.len();
    // Neighbours among the knots that are left; `n` stands for none.
    let mut before: Vec<usize> = (0..n).map(|i| if i == 0 { n } else { i - 1 }).collect();
    let mut after: Vec<usize> = (1..=n).collect();
    let gap = |a: usize, b: usize| (index[b] - index[a]) as f64 * step;
    let mut open: Vec<usize> = (0..n).filter(|&i| mass[i] < 0.0).collect();
    while let Some(knot) = open.pop() {
        let debt = mass[knot];
        if debt >= 0.0 {
            continue;
        }
        let (prior, next) = (before[knot], after[knot]);
        if next == n {
            // The curve is below 0 at the knot before. It becomes 0 at the last knot where it was not.
            let mut last = prior;
            let height = |last: usize, mass: &[f64]| -> f64 {
                sum((last + 1..n).map(|k| mass[k] * -libm::expm1(-gap(last, k))))
            };
            while last < n && height(last, mass) < 0.0 {
                last = before[last];
            }
            let base = if last < n { before[last] } else { n };
            let (mut to_last, mut to_base) = (0.0, 0.0);
            let from = if last < n { last + 1 } else { 0 };
            for (k, m) in mass.iter_mut().enumerate().skip(from) {
                if base < n && *m != 0.0 {
                    // Below the base nothing changes: mass and barycentre are kept.
                    let up = share(gap(base, k), gap(base, last));
                    to_last += *m * up;
                    to_base += *m * (1.0 - up);
                }
                *m = 0.0;
            }
            if last < n {
                after[last] = n;
                mass[last] += to_last;
                if mass[last] < 0.0 {
                    open.push(last);
                }
            }
            if base < n {
                mass[base] += to_base;
                if mass[base] < 0.0 {
                    open.push(base);
                }
            }
            continue;
        }
        mass[knot] = 0.0;
        if prior < n {
            let up = share(gap(prior, knot), gap(prior, next));
            mass[next] += debt * up;
            mass[prior] += debt * (1.0 - up);
            after[prior] = next;
            if mass[prior] < 0.0 {
                open.push(prior);
            }
        } else {
            // Taking mass away further up lowers the curve more.
            mass[next] += debt;
        }
        before[next] = prior;
        if mass[next] < 0.0 {
            open.push(next);
        }
    }
}

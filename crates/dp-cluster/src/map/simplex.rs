//! The nearest weights of a given total.

use crate::lanes::sum_of;

/// Moves `values` to the nearest list of numbers that are at least 0 and have this total: all are lowered by a threshold, which is
/// returned, and negative ones become 0. `guess` is where the search starts.
///
/// The sum of what is above a threshold is convex and falls with it, so that every step of Newton's method ends below the root, and after
/// finitely many rising ones nothing changes.
///
/// # Source
/// Michelot (1986); Condat (2016).
pub(super) fn project(values: &mut [f64], total: f64, guess: f64) -> f64 {
    let mut threshold = guess;
    // Twice as many steps as there are digits is more than it ever takes; rounding could go on forever.
    for step in 0..128 {
        let above = sum_of([values], |[value]| if value > threshold { 1.0 } else { 0.0 });
        let excess = sum_of([values], |[value]| (value - threshold).max(0.0));
        let next = if above == 0.0 {
            // Everything was below: the largest alone would carry the total.
            values.iter().fold(f64::NEG_INFINITY, |most, v| v.max(most)) - total
        } else {
            threshold + (excess - total) / above
        };
        if step > 0 && next <= threshold {
            break;
        }
        threshold = next;
    }
    for value in values.iter_mut() {
        *value = (*value - threshold).max(0.0);
    }
    threshold
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against the definition by sorting, from any guess.
        #[test]
        fn it_is_the_nearest_list_of_this_total(
            values in prop::collection::vec(-5.0..5.0_f64, 1..40),
            total in 0.0..20.0_f64,
            guess in -20.0..20.0_f64,
        ) {
            let mut sorted = values.clone();
            sorted.sort_by(|a, b| b.total_cmp(a));
            let mut sum = 0.0;
            let mut exact = f64::NEG_INFINITY;
            for (i, value) in sorted.iter().enumerate() {
                sum += value;
                let candidate = (sum - total) / (i + 1) as f64;
                if i == 0 || *value > candidate {
                    exact = candidate;
                }
            }
            let mut found = values.clone();
            let threshold = project(&mut found, total, guess);
            prop_assert!((threshold - exact).abs() < 1e-9, "{threshold} {exact}");
            prop_assert!((found.iter().sum::<f64>() - total).abs() < 1e-9);
            prop_assert!(found.iter().all(|v| *v >= 0.0));
        }
    }
}

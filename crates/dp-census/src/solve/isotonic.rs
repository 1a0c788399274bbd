//! Isotonic regression in integers: the closest nondecreasing integers within bounds.
//!
//! Pool adjacent violators (Ayer, Brunk, Ewing, Reid, Silverman, 1955) finds the real solution as a list of blocks with a common
//! value, their weighted mean. Rounding each mean half up and clamping it gives an integer optimum. The reason is the threshold
//! decomposition: which items of an optimum exceed `t` depends only on the sign of each item's marginal cost of going from `t` to
//! `t + 1`, that is, on the real problem cut at height `t + 1/2`; and the cuts of the real solution solve all heights at once.
//!
//! All comparisons are between exact integers. Time is linear; memory is one entry per block on the stack, not per item.

use std::ops::RangeInclusive;

/// The largest absolute mean of an item: that of noisy cells, with much room for multipliers.
const MAX_MEAN: u64 = 1 << 52;

/// Items with one common value: the next piece of the solution, or of what is known of it so far.
#[derive(Debug, Clone, Copy)]
struct Block {
    weighted_sum: i128,
    weight: u64,
    items: usize,
}

/// Pool adjacent violators over a stream of items.
///
/// An item is a set of cells tied to one value, given by the weighted sum of what was observed and by the total weight.
///
/// ```
/// use dp_census::solve::isotonic::Isotonic;
///
/// let mut fit = Isotonic::default();
/// for value in [3, -2, 5, 4, 4] {
///     fit.push(value, 1);
/// }
/// let pieces: Vec<(i64, usize)> = fit.pieces(0..=10).collect();
/// assert_eq!(pieces, [(1, 2), (4, 3)]); // the means are 1/2 and 13/3
/// ```
#[derive(Debug, Clone, Default)]
pub struct Isotonic {
    blocks: Vec<Block>,
}

impl Isotonic {
    /// Forgets all items and keeps the memory.
    pub fn clear(&mut self) {
        self.blocks.clear();
    }

    /// Appends an item. Amortised constant time.
    ///
    /// # Panics
    /// If the weight is 0, or all weights together exceed `2^60`, or the item's mean is above `2^52` in absolute value.
    pub fn push(&mut self, weighted_sum: i128, weight: u64) {
        assert!(weight > 0, "an item needs a weight");
        assert!(
            weighted_sum.unsigned_abs() <= u128::from(weight) * u128::from(MAX_MEAN),
            "the mean of an item is above the limit"
        );
        self.push_block(Block { weighted_sum, weight, items: 1 });
    }

    /// Appends the items of another fit. Pooling may go on in any order, so this is as if they had been pushed one by one.
    ///
    /// # Panics
    /// If all weights together exceed `2^60`.
    pub fn append(&mut self, other: &Self) {
        other.blocks.iter().for_each(|&block| self.push_block(block));
    }

    fn push_block(&mut self, mut last: Block) {
        while let Some(before) = self.blocks.last().filter(|before| mean_at_least(before, &last)) {
            last.weighted_sum += before.weighted_sum;
            last.weight += before.weight;
            last.items += before.items;
            self.blocks.pop();
        }
        assert!(last.weight <= 1 << 60, "the total weight is above the limit");
        self.blocks.push(last);
    }

    /// The optimal integers within the bounds as pieces `(value, number of items)`, in order.
    ///
    /// Neighbouring pieces can have the same value. A half is rounded up.
    pub fn pieces(
        &self,
        bounds: RangeInclusive<i64>,
    ) -> impl Iterator<Item = (i64, usize)> + use<'_> {
        let (low, high) = bounds.into_inner();
        self.blocks.iter().map(move |block| (rounded_mean(block).min(high).max(low), block.items))
    }
}

/// The closest nondecreasing integers to `values` within `bounds`, for one positive weight per value.
///
/// # Panics
/// If there is not one weight per value, and as [`Isotonic::push`].
pub fn solve(values: &[i64], weights: &[u32], bounds: RangeInclusive<i64>) -> Vec<i64> {
    assert_eq!(values.len(), weights.len(), "one weight per value");
    let mut fit = Isotonic::default();
    for (&value, &weight) in values.iter().zip(weights) {
        fit.push(i128::from(value) * i128::from(weight), u64::from(weight));
    }
    fit.pieces(bounds).flat_map(|(value, items)| std::iter::repeat_n(value, items)).collect()
}

fn mean_at_least(left: &Block, right: &Block) -> bool {
    if let (Ok(a), Ok(b)) = (i64::try_from(left.weighted_sum), i64::try_from(right.weighted_sum)) {
        return i128::from(a) * i128::from(right.weight) >= i128::from(b) * i128::from(left.weight);
    }
    // The products may not fit: compare whole parts first, then fractions, whose products do.
    let split = |block: &Block| {
        let weight = i128::from(block.weight);
        (block.weighted_sum.div_euclid(weight), block.weighted_sum.rem_euclid(weight), weight)
    };
    let ((a, a_rest, a_weight), (b, b_rest, b_weight)) = (split(left), split(right));
    if a == b { a_rest * b_weight >= b_rest * a_weight } else { a > b }
}

fn rounded_mean(block: &Block) -> i64 {
    let weight = i128::from(block.weight);
    let twice = 2 * block.weighted_sum + weight;
    let mean = match i64::try_from(twice) {
        Ok(twice) => twice.div_euclid(2 * block.weight.cast_signed()),
        Err(_) => i64::try_from(twice.div_euclid(2 * weight)).expect("a mean is below the limit"),
    };
    debug_assert!(mean.unsigned_abs() <= MAX_MEAN);
    mean
}

/// What the objective gains or loses by the best unit step away from a solution.
///
/// The objective is L-natural-convex on the lattice of nondecreasing integers, so a solution is optimal if and only if no set of
/// items can be raised by one, and none lowered by one, at a gain. A raised set is the end of some runs of equal values, a lowered
/// one the beginning of some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Certificate {
    /// Nondecreasing and within the bounds.
    pub feasible: bool,
    /// Least increase of the objective when the end of a run is raised by one; 0 if no run can be.
    pub raise: i128,
    /// Least increase of the objective when the beginning of a run is lowered by one; 0 if no run can be.
    pub lower: i128,
}

impl Certificate {
    /// Whether the solution is proved optimal.
    pub fn is_optimal(&self) -> bool {
        self.feasible && self.raise >= 0 && self.lower >= 0
    }
}

/// Certificate of `values` for items `(weighted sum, weight)`. Linear time, exact.
///
/// # Panics
/// If there is not one value per item.
pub fn certify(items: &[(i128, u64)], values: &[i64], bounds: RangeInclusive<i64>) -> Certificate {
    assert_eq!(items.len(), values.len(), "one value per item");
    let feasible = values.is_sorted() && values.iter().all(|value| bounds.contains(value));
    let mut certificate = Certificate { feasible, raise: 0, lower: 0 };
    let mut start = 0;
    for run in values.chunk_by(|a, b| a == b) {
        let value = run[0];
        let items = &items[start..start + run.len()];
        start += run.len();
        if value < *bounds.end() {
            let steps = items.iter().rev().map(|&item| unit_step(item, value, 1));
            certificate.raise = certificate.raise.min(least_partial_sum(steps));
        }
        if value > *bounds.start() {
            let steps = items.iter().map(|&item| unit_step(item, value, -1));
            certificate.lower = certificate.lower.min(least_partial_sum(steps));
        }
    }
    certificate
}

/// Change of `sum of w (x - y)^2` over an item when `x` goes to `x + sign`.
fn unit_step((weighted_sum, weight): (i128, u64), value: i64, sign: i128) -> i128 {
    let weight = i128::from(weight);
    2 * sign * (weight * i128::from(value) - weighted_sum) + weight
}

fn least_partial_sum(steps: impl Iterator<Item = i128>) -> i128 {
    let mut sum = 0;
    steps.fold(0, |least, step| {
        sum += step;
        least.min(sum)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::MAX_VALUE;
    use proptest::prelude::*;

    fn objective(values: &[i64], weights: &[u32], fit: &[i64]) -> i64 {
        let cells = values.iter().zip(weights).zip(fit);
        cells.map(|((y, &w), x)| i64::from(w) * (x - y).pow(2)).sum()
    }

    /// Full table over all values of the last item: no convexity and no pooling.
    fn optimum_by_table(values: &[i64], weights: &[u32], bounds: RangeInclusive<i64>) -> i64 {
        let mut best: Vec<i64> = bounds.clone().map(|_| 0).collect();
        for (y, &w) in values.iter().zip(weights) {
            let mut least = i64::MAX;
            for (cost, x) in best.iter_mut().zip(bounds.clone()) {
                least = least.min(*cost);
                *cost = least + i64::from(w) * (x - y).pow(2);
            }
        }
        best.into_iter().min().expect("the bounds hold a value")
    }

    fn item(value: i64, weight: u32) -> (i128, u64) {
        (i128::from(value) * i128::from(weight), u64::from(weight))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn optimal_and_certified(
            cells in prop::collection::vec((-12_i64..24, 1_u32..6), 0..14),
            high in 0_i64..12,
        ) {
            let (values, weights): (Vec<i64>, Vec<u32>) = cells.into_iter().unzip();
            let fit = solve(&values, &weights, 0..=high);
            let optimum = optimum_by_table(&values, &weights, 0..=high);
            prop_assert_eq!(objective(&values, &weights, &fit), optimum);
            let items: Vec<_> = values.iter().zip(&weights).map(|(&y, &w)| item(y, w)).collect();
            prop_assert!(certify(&items, &fit, 0..=high).is_optimal());
        }

        /// The certificate accepts a feasible solution exactly if the table says that it is optimal.
        #[test]
        fn the_certificate_decides(
            cells in prop::collection::vec((-3_i64..6, 1_u32..4, 0_i64..4), 1..6),
        ) {
            let values: Vec<i64> = cells.iter().map(|cell| cell.0).collect();
            let weights: Vec<u32> = cells.iter().map(|cell| cell.1).collect();
            let mut guess: Vec<i64> = cells.iter().map(|cell| cell.2).collect();
            guess.sort_unstable();
            let items: Vec<_> = values.iter().zip(&weights).map(|(&y, &w)| item(y, w)).collect();
            let optimal = objective(&values, &weights, &guess) == optimum_by_table(&values, &weights, 0..=3);
            prop_assert_eq!(certify(&items, &guess, 0..=3).is_optimal(), optimal);
        }
    }

    #[test]
    fn infeasible_values_have_no_certificate() {
        let items = [item(2, 1), item(1, 1)];
        assert!(!certify(&items, &[2, 1], 0..=3).is_optimal());
        assert!(!certify(&items, &[4, 4], 0..=3).is_optimal());
    }

    #[test]
    fn means_beyond_64_bits_are_compared_exactly() {
        let huge = u64::from(u32::MAX) << 20;
        let mut fit = Isotonic::default();
        // Two means that differ by less than f64 can tell, in falling and then in rising order.
        let sum = i128::from(MAX_VALUE) * i128::from(huge);
        fit.push(sum - 1, huge);
        fit.push(sum - 2, huge);
        assert_eq!(fit.pieces(0..=MAX_VALUE).collect::<Vec<_>>(), [(MAX_VALUE, 2)]);
        fit.clear();
        fit.push(sum - 2, huge);
        fit.push(sum - 1, huge);
        assert_eq!(fit.pieces(0..=MAX_VALUE).map(|piece| piece.1).collect::<Vec<_>>(), [1, 1]);
    }

    #[test]
    fn halves_go_up_and_memory_follows_the_blocks() {
        let mut fit = Isotonic::default();
        (0..1_000_000).for_each(|i| fit.push(-(i % 2), 1));
        assert!(fit.blocks.len() <= 2);
        assert_eq!(solve(&[0, 1, 0, -1], &[1; 4], -5..=5), [0, 0, 0, 0]);
        assert_eq!(solve(&[1, 0], &[1; 2], -5..=5), [1, 1]);
        assert_eq!(solve(&[0, -1], &[1; 2], -5..=5), [0, 0]);
    }
}

//! Arithmetic on privacy costs, rounded to the safe side.

use crate::error::ParamError;
use crate::outward::larger;

/// Half the distance between 1 and the next float: the relative error of one rounding.
pub(crate) const UNIT: f64 = f64::EPSILON / 2.0;

/// Below this, the error term of a product is no longer exact, so products are simply moved one step up.
const EXACT_PRODUCT: f64 = 1e-280;

/// `a + b`: the least float that is not below the true sum; NaN only for opposite infinities.
pub(crate) fn add_up(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if !sum.is_finite() {
        return sum;
    }
    // Two-sum: the rounding error of an addition is itself a float.
    let b_part = sum - a;
    let error = (a - (sum - b_part)) + (b - b_part);
    if error <= 0.0 { sum } else { sum.next_up() }
}

/// `a * b` for non-negative `a`, `b`: never below the true product.
pub(crate) fn mul_up(a: f64, b: f64) -> f64 {
    let product = a * b;
    if !product.is_finite() || a == 0.0 || b == 0.0 {
        return product;
    }
    if product < EXACT_PRODUCT || a.mul_add(b, -product) > 0.0 {
        product.next_up()
    } else {
        product
    }
}

/// `sqrt(a)` for `a >= 0`: the least float that is not below the true root.
pub(crate) fn sqrt_up(a: f64) -> f64 {
    let root = a.sqrt();
    if root > 0.0 && root.is_finite() && (a < EXACT_PRODUCT || root.mul_add(root, -a) < 0.0) {
        root.next_up()
    } else {
        root
    }
}

/// `sqrt(a)` for `a >= 0`: never above the true root.
pub(crate) fn sqrt_down(a: f64) -> f64 {
    let root = a.sqrt();
    if root > 0.0 && (a < EXACT_PRODUCT || root.mul_add(root, -a) > 0.0) {
        root.next_down()
    } else {
        root
    }
}

/// `1 / a` for `a > 0`: never above the true quotient.
pub(crate) fn recip_down(a: f64) -> f64 {
    (1.0 / a).next_down()
}

/// Shares of `total` in proportion to `weights`, so that adding them with [`add_up`], in any order, stays within `total`.
pub(crate) fn split_down(total: f64, weights: &[f64]) -> Result<Vec<f64>, ParamError> {
    let want = "finite and >= 0, not all 0, with a finite sum";
    if weights.is_empty() {
        return Err(ParamError::Empty { name: "weights" });
    }
    if let Some(&got) = weights.iter().find(|w| !(w.is_finite() && **w >= 0.0)) {
        return Err(ParamError::OutOfRange { name: "weight", got, want });
    }
    let mut sum = 0.0;
    for weight in weights {
        sum = add_up(sum, *weight);
    }
    if !(sum > 0.0 && sum.is_finite()) {
        return Err(ParamError::OutOfRange { name: "sum of weights", got: sum, want });
    }
    if weights.len() == 1 {
        return Ok(vec![total]);
    }
    // Each of the n - 1 additions may go up by two units, and each share is rounded three times.
    let keep = 1.0 - (2.0 * weights.len() as f64 + 6.0) * UNIT;
    Ok(weights.iter().map(|w| larger((total * (w / sum) * keep).next_down(), 0.0)).collect())
}

/// A sum of positive numbers that is off by two units at most, however many there are (below `2^40`).
///
/// Source: Neumaier (1974): the roundings, which are floats themselves, are added up on the side.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LongSum {
    sum: f64,
    roundings: f64,
}

impl LongSum {
    pub(crate) fn add(&mut self, x: f64) {
        let sum = self.sum + x;
        let part = sum - self.sum;
        self.roundings += (self.sum - (sum - part)) + (x - part);
        self.sum = sum;
    }

    pub(crate) fn get(self) -> f64 {
        self.sum + self.roundings
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;

    use super::*;

    #[test]
    fn sums_and_products_are_the_least_float_above() {
        assert_eq!(add_up(0.25, 0.5).to_bits(), 0.75_f64.to_bits());
        assert_eq!(add_up(1.0, 1e-30).to_bits(), 1.0_f64.next_up().to_bits());
        assert_eq!(add_up(1e-30, 1.0).to_bits(), 1.0_f64.next_up().to_bits());
        assert_eq!(mul_up(0.5, 3.0).to_bits(), 1.5_f64.to_bits());
        // (1 + u)^2 = 1 + 2u + u^2 lies just above a float.
        let above_one = 1.0_f64.next_up();
        assert_eq!(mul_up(above_one, above_one).to_bits(), (1.0 + 3.0 * f64::EPSILON).to_bits());
        assert!(mul_up(1e-200, 1e-200) > 0.0, "underflow");
        assert!(add_up(f64::MAX, f64::MAX).is_infinite());
        assert!(mul_up(f64::MAX, 2.0).is_infinite());
    }

    #[test]
    fn roots_enclose() {
        for a in [2.0, 3.0, 0.1, 1e-3, 1e100, 7.0_f64.next_up()] {
            let (low, high) = (sqrt_down(a), sqrt_up(a));
            assert!(low.mul_add(low, -a) <= 0.0 && high.mul_add(high, -a) >= 0.0, "{a}");
            assert!(high.to_bits() - low.to_bits() <= 1, "{a}");
        }
        assert_eq!(sqrt_up(4.0).to_bits(), sqrt_down(4.0).to_bits());
        assert!(sqrt_up(5e-324) > 0.0 && sqrt_down(0.0) <= 0.0 && sqrt_up(0.0) <= 0.0);
        assert!(sqrt_up(f64::INFINITY).is_infinite());
        assert!(recip_down(3.0).mul_add(3.0, -1.0) < 0.0);
    }

    #[test]
    fn long_sums_do_not_drift() {
        let (mut long, mut plain) = (LongSum::default(), 0.0);
        for _ in 0..1_000_000 {
            long.add(0.1);
            plain += 0.1;
        }
        // 0.1 as a float is more than a tenth by 5.6e-18.
        assert_abs_diff_eq!(long.get(), 100_000.0, epsilon = 2e-11);
        assert!((plain - 100_000.0_f64).abs() > 1e-8, "the plain sum drifts");
    }
}

//! Expectations of the largest of some normal numbers.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// For `K` from 1 to `n - 1`, the expected sum of the `K` largest of `n` independent standard normal numbers.
///
/// The `j + 1`st largest is at `x` if `j` of the others are above: `n` times the integral of `x f(x) P[Bin(n - 1, 1 - F(x)) = j]`, by the
/// trapezoidal rule, which is good to a dozen digits on functions that vanish at both ends.
pub(super) fn sums_of_largest(n: u32) -> Vec<f64> {
    const STEP: f64 = 1.0 / 128.0;
    let others = n - 1;
    let mut means = vec![0.0; n as usize];
    let choices: Vec<f64> = (0..n).map(|j| log_choose(others, j)).collect();
    for i in -1152..=1152_i32 {
        let x = f64::from(i) * STEP;
        let density = (-0.5 * x * x).exp() / (2.0 * PI).sqrt();
        let above = 0.5 * libm::erfc(x * FRAC_1_SQRT_2);
        let below = 0.5 * libm::erfc(-x * FRAC_1_SQRT_2);
        // In logarithms, so that no power vanishes before it is used.
        for ((j, mean), choices) in (0_u32..).zip(&mut means).zip(&choices) {
            let log = choices + power(above, j) + power(below, others - j);
            *mean += f64::from(n) * x * density * STEP * log.exp();
        }
    }
    let mut sum = 0.0;
    means
        .iter()
        .take(others as usize)
        .map(|mean| {
            sum += mean;
            sum
        })
        .collect()
}

/// The logarithm of a power; anything to the power of nothing is 1.
fn power(base: f64, exponent: u32) -> f64 {
    if exponent == 0 { 0.0 } else { f64::from(exponent) * base.ln() }
}

fn log_choose(n: u32, k: u32) -> f64 {
    let log_factorial = |m: u32| libm::lgamma(f64::from(m) + 1.0);
    log_factorial(n) - log_factorial(k) - log_factorial(n - k)
}

#[cfg(test)]
mod tests {
    use super::sums_of_largest;
    use approx::assert_abs_diff_eq;

    #[test]
    fn small_numbers_have_known_expectations() {
        // Of two: 1 / sqrt(pi); of three: 3 / (2 sqrt(pi)); the sum of the two largest of three is minus the smallest.
        let root = std::f64::consts::PI.sqrt();
        let close = |a: f64, b: f64| assert_abs_diff_eq!(a, b, epsilon = 1e-10);
        close(sums_of_largest(2)[0], 1.0 / root);
        close(sums_of_largest(3)[0], 1.5 / root);
        close(sums_of_largest(3)[1], 1.5 / root);
        let many = sums_of_largest(256);
        close(many[0], many[254]);
        assert!((many[0] - 2.826).abs() < 0.01, "{}", many[0]);
    }
}

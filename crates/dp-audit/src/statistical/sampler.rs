//! Whether a sampler draws from the law it claims.

/// How far the empirical distribution function of `n` draws may stray from the true one except with
/// probability `alpha`: any `n`, any law.
///
/// # Source
/// Massart's form of the Dvoretzky-Kiefer-Wolfowitz inequality (1990).
pub fn dkw_bound(n: usize, alpha: f64) -> f64 {
    ((2.0 / alpha).ln() / (2.0 * n as f64)).sqrt()
}

/// Largest distance between the empirical distribution function of integer draws and a claimed one.
/// `cdf(x)` is `Pr[X <= x]`. Infinite if there are no draws.
///
/// Both are step functions on the integers, so the largest distance is found at a drawn value or just
/// before one.
pub fn largest_cdf_distance(draws: &mut [i64], cdf: impl Fn(i64) -> f64) -> f64 {
    if draws.is_empty() {
        return f64::INFINITY;
    }
    draws.sort_unstable();
    let n = draws.len() as f64;
    let mut largest = 0.0_f64;
    let mut seen = 0;
    for equal in draws.chunk_by(|a, b| a == b) {
        let x = equal[0];
        largest = largest.max((cdf(x.saturating_sub(1)) - f64::from(seen) / n).abs());
        seen += u32::try_from(equal.len()).expect("fewer than 2^32 draws");
        largest = largest.max((cdf(x) - f64::from(seen) / n).abs());
    }
    largest
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    #[test]
    fn distances_of_a_die_by_hand() {
        let die = |x: i64| (x.clamp(0, 6) as f64) / 6.0;
        let mut fair: Vec<i64> = (1..=6).collect();
        assert!(largest_cdf_distance(&mut fair, die) < 1e-12);
        let mut ones = [1; 6];
        assert_abs_diff_eq!(largest_cdf_distance(&mut ones, die), 5.0 / 6.0, epsilon = 1e-12);
        // What is too high shows just below it, a hole at both of its ends.
        let mut sixes = [6; 6];
        assert_abs_diff_eq!(largest_cdf_distance(&mut sixes, die), 5.0 / 6.0, epsilon = 1e-12);
        let mut ends = [1, 1, 1, 6, 6, 6];
        assert_abs_diff_eq!(largest_cdf_distance(&mut ends, die), 1.0 / 3.0, epsilon = 1e-12);
        assert!(largest_cdf_distance(&mut [], die).is_infinite());
        // ln(2e6) / 2 / 1e6 under the root.
        assert_abs_diff_eq!(dkw_bound(1_000_000, 1e-6), 0.002_693, epsilon = 1e-6);
    }
}

//! Exact confidence limits for a binomial probability.

/// Clopper-Pearson: the largest `p` such that `hits` or more out of `trials` has probability at
/// most `alpha`; the true probability is below it with probability at most `alpha`.
pub fn lower_confidence_limit(hits: u64, trials: u64, alpha: f64) -> f64 {
    if hits == 0 {
        return 0.0;
    }
    bisect(|p| upper_tail(hits, trials, p) <= alpha)
}

/// The limit on the other side: the true probability is above it with probability at most `alpha`.
pub fn upper_confidence_limit(hits: u64, trials: u64, alpha: f64) -> f64 {
    1.0 - lower_confidence_limit(trials - hits, trials, alpha)
}

/// The largest `p` in `[0, 1]` for which a condition holds that holds up to some point.
fn bisect(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if holds(middle) { low = middle } else { high = middle }
    }
    low
}

/// `Pr[Binomial(trials, p) >= hits]`, summed from the largest term outwards.
fn upper_tail(hits: u64, trials: u64, p: f64) -> f64 {
    let (h, n) = (hits as f64, trials as f64);
    if h <= n * p {
        // Above the median almost: the complement is the smaller tail.
        return 1.0 - lower_tail(hits, trials, p);
    }
    let first = log_term(h, n, p).exp();
    // Ratio of successive terms falls, so the sum converges geometrically.
    let (mut term, mut sum, mut i) = (first, first, h);
    while i < n && term > sum * 1e-17 {
        term *= (n - i) / (i + 1.0) * p / (1.0 - p);
        i += 1.0;
        sum += term;
    }
    sum
}

/// `Pr[Binomial(trials, p) < hits]` for `hits <= trials p`.
fn lower_tail(hits: u64, trials: u64, p: f64) -> f64 {
    if hits == 0 {
        return 0.0;
    }
    let (n, mut i) = (trials as f64, hits as f64 - 1.0);
    let first = log_term(i, n, p).exp();
    let (mut term, mut sum) = (first, first);
    while i > 0.0 && term > sum * 1e-17 {
        term *= i / (n - i + 1.0) * (1.0 - p) / p;
        i -= 1.0;
        sum += term;
    }
    sum
}

fn log_term(h: f64, n: f64, p: f64) -> f64 {
    let log_choose = libm::lgamma(n + 1.0) - libm::lgamma(h + 1.0) - libm::lgamma(n - h + 1.0);
    log_choose + h * p.ln() + (n - h) * (-p).ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    #[test]
    fn limits_match_their_closed_forms() {
        // All hits: p^n = alpha. No hits: the upper limit is 1 - alpha^(1/n).
        let alpha = 1e-6;
        for n in [1, 14, 1_000] {
            let root = alpha_root(alpha, n);
            assert_abs_diff_eq!(lower_confidence_limit(n, n, alpha), root, epsilon = 1e-9);
            assert_abs_diff_eq!(upper_confidence_limit(0, n, alpha), 1.0 - root, epsilon = 1e-9);
        }
        assert!(lower_confidence_limit(0, 10, alpha).abs() < 1e-15);
    }

    fn alpha_root(alpha: f64, n: u64) -> f64 {
        (alpha.ln() / n as f64).exp()
    }

    #[test]
    fn tails_agree_with_a_plain_sum() {
        for p in [0.01, 0.3, 0.5, 0.9] {
            for hits in 0..=30 {
                let plain: f64 = (hits..=30).map(|h| log_term(h as f64, 30.0, p).exp()).sum();
                assert_abs_diff_eq!(upper_tail(hits, 30, p), plain, epsilon = 1e-12);
            }
        }
    }

    #[test]
    fn a_limit_at_half_covers_large_counts() {
        let limit = lower_confidence_limit(500_000, 1_000_000, 1e-6);
        assert!(limit < 0.5 && limit > 0.497, "{limit}");
    }
}

//! Numbers as people compare them: three significant digits, powers of ten when large or small.

/// Metrics below this are rounding errors of something that is exactly zero.
const ROUNDING: f64 = 1e-12;

/// A mean with its standard deviation, to three and two significant digits; no spread, none shown.
pub(crate) fn mean_sd(mean: f64, sd: Option<f64>) -> String {
    let shown = significant(mean, 3);
    match sd {
        None => shown,
        Some(sd) if sd < ROUNDING => shown,
        // A large spread beside a power of ten is one too: 2.55e6 ± 7.1e4, not ± 70711.
        Some(sd) if shown.contains('e') && sd >= 1e3 => format!("{shown} ± {sd:.1e}"),
        Some(sd) => format!("{shown} ± {}", significant(sd, 2)),
    }
}

/// A mean of counts: one decimal, unless every run counted the same.
pub(crate) fn count(mean: f64, sd: Option<f64>) -> String {
    match sd {
        None | Some(0.0) => format!("{mean:.0}"),
        Some(sd) => format!("{mean:.1} ± {sd:.1}"),
    }
}

/// `digits` significant digits, without trailing zeros after the point of small numbers cut off:
/// "0.990" and "0.991" line up.
pub(crate) fn significant(value: f64, digits: usize) -> String {
    if value.abs() < ROUNDING {
        return "0".to_owned();
    }
    let scientific = format!("{value:.*e}", digits - 1);
    // Rounding may have moved the exponent (9.999 -> 10.0); take it from the rounded form.
    let exponent: i32 =
        scientific.rsplit_once('e').and_then(|(_, power)| power.parse().ok()).unwrap_or_default();
    if !(-4..5).contains(&exponent) {
        return scientific;
    }
    let digits = i32::try_from(digits).unwrap_or(i32::MAX);
    format!("{value:.*}", usize::try_from(digits - 1 - exponent).unwrap_or_default())
}

/// An axis label: as short as the value allows.
pub(crate) fn tick(value: f64) -> String {
    let exponent = if value == 0.0 { 0.0 } else { value.abs().log10().floor() };
    if (-3.0..5.0).contains(&exponent) {
        // Ticks are 1, 2, 2.5 or 5 times a power of ten: nine decimals hide the last bits.
        let text = format!("{value:.9}");
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    let text = format!("{value:.6e}");
    match text.split_once('e') {
        Some((digits, power)) => {
            format!("{}e{power}", digits.trim_end_matches('0').trim_end_matches('.'))
        }
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::{count, mean_sd, significant, tick};

    #[test]
    fn digits_are_significant_and_large_numbers_use_powers() {
        let shown: Vec<String> = [
            1e-20, 1.0, 0.99, 0.0107, 0.00601, 63.6, 18720.0, 2.78e6, 1.48e10, 99999.0, 2e-5, -0.13,
        ]
        .map(|value| significant(value, 3))
        .to_vec();
        assert_eq!(
            shown.join(" "),
            "0 1.00 0.990 0.0107 0.00601 63.6 18720 2.78e6 1.48e10 1.00e5 2.00e-5 -0.130"
        );
        assert_eq!(mean_sd(1.8e7, Some(2.7e7)), "1.80e7 ± 2.7e7");
        assert_eq!(mean_sd(0.96, Some(0.02)), "0.960 ± 0.020");
        assert_eq!(mean_sd(2.55e6, Some(70711.0)), "2.55e6 ± 7.1e4");
        assert_eq!(mean_sd(2.47e7, Some(3.0)), "2.47e7 ± 3.0");
        assert_eq!(mean_sd(0.5, Some(0.0)), "0.500");
    }

    #[test]
    fn counts_show_a_fraction_only_if_they_have_one() {
        let shown = [(64.0, Some(0.0)), (63.6, Some(0.5)), (2.0, None), (104.2, Some(3.0))]
            .map(|(mean, sd)| count(mean, sd));
        assert_eq!(shown.join(", "), "64, 63.6 ± 0.5, 2, 104.2 ± 3.0");
    }

    #[test]
    fn ticks_are_short() {
        let shown = [0.0, 1e6, 2.5e7, 0.005, 0.1 + 0.2, 1000.0, -50.0].map(tick);
        assert_eq!(shown.join(" "), "0 1e6 2.5e7 0.005 0.3 1000 -50");
    }
}

//! Numbers and dates as people write them.

/// How numbers are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Decimal {
    /// As in 1.5.
    #[default]
    Point,
    /// As in 1,5.
    Comma,
}

/// A number; what is none, "not a number" included, is `None`.
pub fn number(text: &str, decimal: Decimal) -> Option<f64> {
    let text = text.trim();
    let value: f64 = match decimal {
        Decimal::Point => text.parse().ok()?,
        Decimal::Comma if text.contains('.') => return None,
        Decimal::Comma => text.replacen(',', ".", 1).parse().ok()?,
    };
    (!value.is_nan()).then_some(value)
}

/// A number as short as it can be said to six digits behind the point, or to six digits at all where it is small, as in `2.5e-7`.
pub(crate) fn short(value: f64) -> String {
    if value != 0.0 && value.abs() < SMALL {
        let text = format!("{value:.5e}");
        let Some((digits, exponent)) = text.split_once('e') else { return text };
        let digits = digits.trim_end_matches('0').trim_end_matches('.');
        return format!("{digits}e{exponent}");
    }
    let text = format!("{value:.6}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A number in a table: to so many digits behind the point, or with an exponent where nothing would be left of it.
pub(crate) fn in_column(value: f64, digits: usize) -> String {
    if value != 0.0 && value.abs() < 10.0 * 0.1_f64.powi(i32::try_from(digits).unwrap_or(i32::MAX))
    {
        format!("{value:.2e}")
    } else {
        format!("{value:.digits$}")
    }
}

/// Below this, six digits behind the point would be few.
const SMALL: f64 = 1e-3;

/// Days from 1970-01-01 to a date, written YYYY-MM-DD; a time of day behind it is not looked at.
///
/// # Source
/// Hinnant, "chrono-compatible low-level date algorithms": years begin in March, so that the leap day is the last.
pub fn days(text: &str) -> Option<f64> {
    let date = text.trim().get(..10)?;
    let (year, rest) = date.split_once('-')?;
    let (month, day) = rest.split_once('-')?;
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !(year.len() == 4 && month.len() == 2 && [year, month, day].into_iter().all(digits)) {
        return None;
    }
    let (year, month, day): (i64, i64, i64) =
        (year.parse().ok()?, month.parse().ok()?, day.parse().ok()?);
    let days = days_of(year, month, day);
    // Days that there are not, such as 30 February, come back as others.
    (civil(days) == (year, month, day)).then_some(days as f64)
}

/// The date so many days after 1970-01-01.
pub fn date(days: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "dates are printed for public bounds within a few thousand years, others saturate"
    )]
    let (year, month, day) = civil((days.floor() as i64).clamp(-700_000, 3_000_000));
    format!("{year:04}-{month:02}-{day:02}")
}

fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::{Decimal, date, days, in_column, number, short};

    #[test]
    fn small_numbers_keep_their_digits() {
        for (value, text) in [
            (0.0, "0"),
            (-0.25, "-0.25"),
            (1.0 / 3.0, "0.333333"),
            (1e9, "1000000000"),
            (1e-3, "0.001"),
            (9.999_999_9e-4, "1e-3"),
            (-2.5e-7, "-2.5e-7"),
            (1e-7 / 3.0, "3.33333e-8"),
            (f64::MIN_POSITIVE, "2.22507e-308"),
        ] {
            assert_eq!(short(value), text);
            let read = number(&short(value), Decimal::Point).unwrap();
            assert!((read - value).abs() <= 1e-5 * value.abs(), "{value} {read}");
        }
        assert_eq!(
            [0.0, 12.3, 0.002, 9e-5].map(|value| in_column(value, 4)),
            ["0.0000", "12.3000", "0.0020", "9.00e-5"]
        );
    }

    #[test]
    fn numbers_are_read_with_point_or_comma() {
        assert_eq!(number(" 1.5 ", Decimal::Point), Some(1.5));
        assert_eq!(number("1,5", Decimal::Comma), Some(1.5));
        assert_eq!(number("-1e3", Decimal::Point), Some(-1000.0));
        assert_eq!(number("inf", Decimal::Point), Some(f64::INFINITY), "and is clipped");
        for text in ["", "NaN", "1.500,00", "one", "1 2"] {
            assert_eq!(number(text, Decimal::Comma), None, "{text}");
        }
    }

    #[test]
    fn dates_are_days_and_days_that_there_are_not_are_none() {
        assert_eq!((days("1970-01-01"), days("2000-03-01")), (Some(0.0), Some(11_017.0)));
        for day in (-200_000..200_000).step_by(97) {
            let day = f64::from(day);
            assert_eq!(days(&date(day)), Some(day));
        }
        assert_eq!(days("2024-02-29 12:00"), days("2024-02-29"));
        for text in [
            "2023-02-29",
            "2024-13-01",
            "2024-1-1",
            "24-01-01",
            "yesterday",
            "",
            "2024-01-+1",
            "2024-00-10",
        ] {
            assert_eq!(days(text), None, "{text}");
        }
    }
}

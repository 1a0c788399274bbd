//! The smallest epsilon that is accurate enough.

use crate::error::Error;
use dp_accounting::plain_number;

/// Epsilons that a plan is tried at.
pub(crate) const EPSILONS: [f64; 7] = [0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0];

/// The smallest epsilon, to three digits and rounded up, whose error is at most the target. Errors fall with epsilon; an epsilon that a plan refuses as too
/// small has none.
///
/// # Errors
/// If the target is not above 0, or no epsilon up to 100 reaches it.
pub(crate) fn smallest_epsilon(
    target: f64,
    error_at: impl Fn(f64) -> Result<f64, Error>,
) -> Result<f64, Error> {
    if !(target.is_finite() && target > 0.0) {
        let (name, got) = ("--accuracy", plain_number(target));
        return Err(Error::Setting { name, got, want: "finite and above 0" });
    }
    let good = |epsilon: f64| error_at(epsilon).is_ok_and(|error| error <= target);
    let most = 100.0;
    if !good(most) {
        // What is wrong with the other settings is said in their own words.
        error_at(1.0)?;
        let (name, got) = ("--accuracy", plain_number(target));
        return Err(Error::Setting {
            name,
            got,
            want: "one that an epsilon of 100 at most can have",
        });
    }
    Ok(smallest((1e-4, most), good))
}

/// A plan; where it is refused because its epsilon is too small, the least that is not.
///
/// # Errors
/// Those of the plan, if a larger epsilon does not help.
pub(crate) fn plan_or_least<P>(
    epsilon: f64,
    plan_at: impl Fn(f64) -> Result<P, Error>,
) -> Result<P, Error> {
    let large = 1.0;
    let refused = match plan_at(epsilon) {
        Err(refused @ Error::Library { what: "the plan", .. }) if epsilon < large => refused,
        other => return other,
    };
    if plan_at(large).is_err() {
        return Err(refused);
    }
    let least = smallest((epsilon, large), |epsilon| plan_at(epsilon).is_ok());
    let [least, got] = [least, epsilon].map(plain_number);
    Err(Error::library(
        "--epsilon",
        &format!(
            "must be at least {least} with these settings, got {got}: noise in 64-bit integers ends there"
        ),
    ))
}

/// The smallest number in a range that is good, to three digits and rounded up, where all above a good one are, and the end is.
fn smallest((mut low, mut high): (f64, f64), good: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..60 {
        let middle = (low * high).sqrt();
        if good(middle) { high = middle } else { low = middle }
    }
    // Rounding up keeps it good.
    let last = high.log10().floor() - 2.0;
    let digits = (high / 10_f64.powf(last) - 1e-6).ceil();
    let rounded: f64 = format!("{digits:.0}e{last:.0}").parse().unwrap_or(high);
    if good(rounded) { rounded } else { high }
}

/// The plan with the smallest epsilon that finds an item of so many people, and the sentence that says so.
///
/// # Errors
/// Those of [`smallest_epsilon`].
pub(crate) fn plan_that_finds<P>(
    (people, whom): (f64, &str),
    plan_at: impl Fn(f64) -> Result<P, Error>,
    smallest_count: impl Fn(&P) -> u64,
) -> Result<(P, String), Error> {
    let found = |epsilon| Ok(smallest_count(&plan_at(epsilon)?) as f64);
    let epsilon = smallest_epsilon(people, found)?;
    let said = format!(
        "Epsilon {epsilon} is the smallest with which an item of {people} {whom} is found.\n\n"
    );
    Ok((plan_at(epsilon)?, said))
}

#[cfg(test)]
mod tests {
    use super::{plan_or_least, smallest_epsilon};
    use crate::error::Error;
    use approx::assert_abs_diff_eq;

    #[test]
    fn the_smallest_epsilon_is_found_and_rounded_up() {
        let found = smallest_epsilon(7.0, |epsilon| Ok(1.0 / epsilon)).unwrap();
        assert_abs_diff_eq!(found, 0.143, epsilon = 1e-12);
        let error = smallest_epsilon(1e-300, |epsilon| Ok(1.0 / epsilon)).unwrap_err().to_string();
        assert!(error.ends_with("got 1e-300"), "{error}");
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = smallest_epsilon(wrong, |_| Ok(0.0)).unwrap_err().to_string();
            assert!(error.contains("--accuracy"), "{error}");
        }
    }

    #[test]
    fn an_epsilon_that_is_too_small_is_told_the_least() {
        let refused = |what| Error::Library { what, reason: "noise".to_owned() };
        let plan_at = |epsilon: f64| {
            if epsilon < 1.234_5e-5 { Err(refused("the plan")) } else { Ok(epsilon) }
        };
        let error = plan_or_least(1e-9, plan_at).unwrap_err().to_string();
        assert!(error.starts_with("--epsilon: must be at least 1.24e-5"), "{error}");
        assert!(error.contains("got 1e-9"), "{error}");
        assert_eq!(plan_or_least(1.24e-5, plan_at).unwrap().to_bits(), 1.24e-5_f64.to_bits());
        // What another epsilon does not help is said in its own words.
        let other = |_| -> Result<(), Error> { Err(refused("the plan")) };
        assert_eq!(plan_or_least(1e-9, other).unwrap_err().to_string(), "the plan: noise");
        let axis = |epsilon| if epsilon < 1.0 { Err(refused("--range")) } else { Ok(()) };
        assert_eq!(plan_or_least(1e-9, axis).unwrap_err().to_string(), "--range: noise");
    }
}

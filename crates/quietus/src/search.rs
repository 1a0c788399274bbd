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
    let (mut low, mut high) = (1e-4_f64, 100.0_f64);
    if !good(high) {
        // What is wrong with the other settings is said in their own words.
        error_at(1.0)?;
        let (name, got) = ("--accuracy", plain_number(target));
        return Err(Error::Setting {
            name,
            got,
            want: "one that an epsilon of 100 at most can have",
        });
    }
    for _ in 0..60 {
        let middle = (low * high).sqrt();
        if good(middle) { high = middle } else { low = middle }
    }
    // Rounding up keeps the accuracy.
    let digit = 10_f64.powf(high.log10().floor() - 2.0);
    let rounded: f64 =
        format!("{:.6}", (high / digit - 1e-6).ceil() * digit).parse().unwrap_or(high);
    Ok(if good(rounded) { rounded } else { high })
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
    use super::smallest_epsilon;
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
}

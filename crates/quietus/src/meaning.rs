//! What an epsilon and a delta mean for one person.

use crate::error::Error;
use clap::Args;
use dp_accounting::{Budget, Composition, Epsilon, Event, Meaning, noise_for};
use std::fmt::Write as _;

/// `meaning`.
#[derive(Clone, Debug, Args)]
pub struct MeaningArgs {
    /// Of one release, or of all releases together
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    pub epsilon: f64,
    /// The chance that nothing is promised; 0 for pure differential privacy
    #[arg(long, value_name = "D", default_value_t = 0.0, allow_negative_numbers = true)]
    pub delta: f64,
}

/// Rates of false accusations at which attacks are compared.
const ALARMS: [f64; 6] = [0.001, 0.01, 0.1, 0.3, 0.5, 0.9];

/// `quietus meaning`: the best guess, the best test and the surest belief that the promise leaves to an attacker, and what one Gaussian release
/// that spends it leaves in fact.
///
/// # Errors
/// [`Error::Library`] if epsilon or delta is out of range.
///
/// ```
/// use quietus::{MeaningArgs, meaning};
///
/// let said = meaning(&MeaningArgs { epsilon: 1.0, delta: 1e-6 })?;
/// assert!(said.contains("right in 73.2 % of the cases at most"));
/// # Ok::<(), quietus::Error>(())
/// ```
pub fn meaning(arguments: &MeaningArgs) -> Result<String, Error> {
    let refuse = |error| Error::library("the budget", &error);
    let budget = Budget::new(arguments.epsilon, arguments.delta).map_err(refuse)?;
    let promise = Meaning::new(budget.epsilon(), budget.delta());
    let noise = noise_for(budget, 1, Event::gaussian).map_err(refuse)?;
    let release = noise
        .map(|noise| Composition::new().with(Event::gaussian(noise)?, 1))
        .transpose()
        .map_err(refuse)?;
    // Where the curve of one Gaussian is looked at: closely up to well above its epsilon.
    let most = 2.0 * budget.epsilon().get() + 1.0;
    let epsilons = (0..=200)
        .map(|i| Epsilon::new(most * f64::from(i) / 200.0))
        .collect::<Result<Vec<_>, _>>()
        .map_err(refuse)?;
    let found = release.as_ref().map(|release| release.trade_off(&epsilons, &ALARMS));
    let mut said = format!(
        "{promise}\n\nA test accuses people of taking part. Of those who do, it finds at most:\n\n"
    );
    let one = if found.is_some() { "one Gaussian release" } else { "" };
    line(&mut said, ["wrongly accused", "promised", one]);
    for (i, alarm) in ALARMS.into_iter().enumerate() {
        let wrongly = format!("{:.1} %", 100.0 * alarm);
        let in_fact = found.as_ref().and_then(|missed| missed.get(i));
        let in_fact = in_fact.map_or_else(String::new, |missed| percent(1.0 - missed.lower()));
        line(&mut said, [&wrongly, &percent(promise.detection(alarm)), &in_fact]);
    }
    let _ = match (noise, release) {
        (Some(noise), Some(release)) => {
            let guess = percent(release.attack_success(0.5).upper());
            // One over the least deltas would be infinite.
            let people = (1.0 / budget.delta().get()).min(f64::MAX);
            let people =
                if people < 1e10 { format!("{people:.0}") } else { format!("{people:.0e}") };
            write!(
                said,
                "\nGaussian noise of {noise:.3} times the sensitivity spends it in one release, after which a guess is right in {guess} of the cases.\n\
                 A delta of {} is for data of far fewer than {people} people: who shows one record in so many keeps the promise, too.\n",
                budget.delta()
            )
        }
        _ if budget.delta().get() > 0.0 => writeln!(
            said,
            "\nGaussian noise that spends as little has more than can be stated; this is for Laplace noise and choices."
        ),
        _ => writeln!(
            said,
            "\nWith a delta above 0, Gaussian noise could spend it as well; this is for Laplace noise and choices."
        ),
    };
    Ok(said)
}

fn line(said: &mut String, [wrongly, promised, in_fact]: [&str; 3]) {
    let _ =
        writeln!(said, "{}", format!("{wrongly:>16}  {promised:>12}  {in_fact:>22}").trim_end());
}

/// Rounded up.
fn percent(share: f64) -> String {
    format!("{:.2} %", (share * 1e4 * (1.0 - 1e-12)).ceil() / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(epsilon: f64, delta: f64) -> String {
        meaning(&MeaningArgs { epsilon, delta }).expect("in range")
    }

    /// At epsilon ln 3 and no delta: odds grow threefold, by the definition.
    #[test]
    fn what_is_promised_follows_from_the_definition() {
        let said = said(3.0_f64.ln(), 0.0);
        let row = |of: &str| {
            let line = said.lines().find(|line| line.trim_start().starts_with(of));
            line.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        };
        assert!(said.contains("right in 75 % of the cases"), "{said}");
        assert_eq!(row("0.1 %").as_deref(), Some("0.1 % 0.30 %"));
        assert_eq!(row("30.0 %").as_deref(), Some("30.0 % 76.67 %"), "1 - .7 / 3 is less than .9");
        assert_eq!(row("90.0 %").as_deref(), Some("90.0 % 96.67 %"));
    }

    /// One Gaussian release shows less than the promise at every rate, and that in the order of the rates.
    #[test]
    fn one_release_shows_less_than_is_promised() {
        for (epsilon, delta) in
            [(1.0, 1e-6), (0.1, 1e-9), (8.0, 1e-3), (100.0, 1e-300), (1.0, 0.99)]
        {
            let said = said(epsilon, delta);
            let rows: Vec<Vec<f64>> = said
                .lines()
                .map(|line| line.split(" %").filter_map(|cell| cell.trim().parse().ok()).collect())
                .filter(|row: &Vec<f64>| row.len() == 3)
                .collect();
            assert_eq!(rows.len(), ALARMS.len(), "{said}");
            assert!(rows.iter().all(|row| row[2] <= row[1] && row[1] <= 100.0), "{said}");
            assert!(rows.is_sorted_by(|a, b| a[2] <= b[2]), "{said}");
            if (epsilon, delta) == (1.0, 1e-6) {
                // The normal distribution function at its quantile plus .2367, the inverse of the noise.
                let truth = [0.216, 1.832, 14.805, 38.679, 59.356, 93.553];
                let near =
                    |(row, truth): (&Vec<f64>, &f64)| (truth - 0.01..truth + 0.2).contains(&row[2]);
                assert!(rows.iter().zip(&truth).all(near), "{said}");
            }
        }
    }

    #[test]
    fn the_smallest_budgets_are_told_as_they_are() {
        let least = said(1.0, 1e-320);
        assert!(least.contains("fewer than 2e308 people"), "{least}");
        for (delta, want) in [(0.0, "\nWith a delta above 0"), (1e-300, "\nGaussian noise that")] {
            let least = said(1e-300, delta);
            assert!(least.contains(want), "{least}");
        }
    }

    #[test]
    fn what_is_out_of_range_is_refused_by_name() {
        for (epsilon, delta, want) in [
            (f64::NAN, 0.0, "epsilon must be finite and > 0 and at most 100, got NaN"),
            (0.0, 0.0, "epsilon must be finite and > 0 and at most 100, got 0"),
            (101.0, 0.0, "epsilon must be finite and > 0 and at most 100, got 101"),
            (1.0, 1.0, "delta must be at least 0 and below 1, got 1"),
            (1.0, -0.1, "delta must be at least 0 and below 1, got -0.1"),
        ] {
            let error = meaning(&MeaningArgs { epsilon, delta }).expect_err("out of range");
            assert!(error.to_string().contains(want), "{error}");
        }
    }

    /// A bound that is said is not below the one that holds.
    #[test]
    fn shares_are_rounded_up() {
        let said = [0.0, 0.123_401, 0.5, 0.999_901].map(percent);
        assert_eq!(said, ["0.00 %", "12.35 %", "50.00 %", "100.00 %"]);
    }
}

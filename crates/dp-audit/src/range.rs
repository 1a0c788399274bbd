//! How far integer statistics move between neighbouring data sets.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use dp_mechanism::{DiscreteGaussian, Geometric, Law, Ratio, Source};

/// The change of a vector of statistics from a data set to a neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Largest increase of an entry; negative if all decrease.
    pub up: i64,
    /// Largest decrease of an entry; negative if all increase.
    pub down: i64,
}

impl Change {
    /// `max - min` of the changes: what the exponential mechanism is calibrated by.
    pub fn range(self) -> i64 {
        self.up + self.down
    }

    /// Largest absolute change: the sensitivity.
    pub fn sensitivity(self) -> i64 {
        self.up.max(self.down)
    }
}

/// Compares two vectors of statistics entry by entry.
///
/// # Panics
/// If they are empty or differ in length, which no audit should read as "no change".
pub fn range_of_change(statistics: &[i64], neighbour: &[i64]) -> Change {
    assert_eq!(statistics.len(), neighbour.len(), "the number of statistics must be public");
    assert!(!statistics.is_empty(), "no statistics, nothing audited");
    let changes = statistics.iter().zip(neighbour).map(|(a, b)| b - a);
    let up = changes.clone().max().expect("not empty");
    let down = changes.map(|change| -change).max().expect("not empty");
    Change { up, down }
}

/// The scores and the rate of a choice that a mechanism made, by whatever rule.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenChoice {
    /// One score per candidate. Private.
    pub scores: Vec<i64>,
    /// The factor in the exponent.
    pub rate: Ratio,
}

/// The first choice that `run` makes, seen through its own draws, when the draws before it come out
/// as in `outcomes`.
///
/// # Panics
/// If the run ends without a choice.
pub fn first_choice<O>(
    run: impl Fn(&mut dyn Source) -> O,
    outcomes: &mut dyn Source,
) -> SeenChoice {
    let mut observer = Observer { outcomes, seen: None };
    match catch_unwind(AssertUnwindSafe(|| run(&mut observer))) {
        Ok(_) => panic!("the run made no choice"),
        Err(thrown) => match observer.seen {
            Some(choice) => choice,
            None => resume_unwind(thrown),
        },
    }
}

struct Observer<'a> {
    outcomes: &'a mut dyn Source,
    seen: Option<SeenChoice>,
}

impl Source for Observer<'_> {
    fn draw(&mut self, law: Law<'_>) -> i64 {
        if let Law::Choice { scores, rate } | Law::Flip { scores, rate } = law {
            self.seen = Some(SeenChoice { scores: scores.to_vec(), rate });
            resume_unwind(Box::new("enough has been seen"));
        }
        self.outcomes.draw(law)
    }

    fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
        let rate = noise.scale().recip().expect("scales are positive");
        self.seen = Some(SeenChoice { scores: scores.to_vec(), rate });
        resume_unwind(Box::new("enough has been seen"));
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        self.outcomes.noisy_vector(values, noise);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The range is what a choice is charged for, not the larger of both sides.
    #[test]
    fn a_change_has_two_sides() {
        let change = range_of_change(&[5, 5, 5], &[7, 2, 5]);
        assert_eq!((change.up, change.down, change.range(), change.sensitivity()), (2, 3, 5, 3));
        assert_eq!(range_of_change(&[1, 4], &[2, 6]).range(), 1, "all scores rise");
    }
}

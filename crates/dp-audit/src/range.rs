//! How far integer statistics move between neighbouring data sets.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use dp_mechanism::{DiscreteGaussian, Draws, Law};

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

/// The scores of the first `wanted` choices that `run` makes, seen through its own draws, when its
/// draws come out as in `outcomes`.
///
/// # Panics
/// If the run ends before.
pub fn scores_of_choices<O>(
    run: impl Fn(&mut dyn Draws) -> O,
    outcomes: &mut dyn Draws,
    wanted: usize,
) -> Vec<Vec<i64>> {
    let mut observer = Observer { outcomes, scores: Vec::new(), wanted };
    match catch_unwind(AssertUnwindSafe(|| run(&mut observer))) {
        Ok(_) => panic!("the run made {} choices, {wanted} were wanted", observer.scores.len()),
        Err(thrown) if thrown.is::<Seen>() => observer.scores,
        Err(panic) => resume_unwind(panic),
    }
}

/// Thrown through the mechanism when enough has been seen.
struct Seen;

struct Observer<'a> {
    outcomes: &'a mut dyn Draws,
    scores: Vec<Vec<i64>>,
    wanted: usize,
}

impl Draws for Observer<'_> {
    fn draw(&mut self, law: Law<'_>) -> i64 {
        if let Law::Choice { scores, .. } = law {
            self.scores.push(scores.to_vec());
            if self.scores.len() == self.wanted {
                resume_unwind(Box::new(Seen));
            }
        }
        self.outcomes.draw(law)
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        self.outcomes.noisy_vector(values, noise);
    }
}

//! The law of an output, and what two laws give away.

use std::collections::BTreeMap;

/// Probabilities of all outputs of one run of a mechanism on one data set.
#[derive(Clone, Debug, PartialEq)]
pub struct Law<O: Ord> {
    probabilities: BTreeMap<O, f64>,
    paths: u64,
}

impl<O: Ord> Law<O> {
    /// Collects `(output, probability)` of disjoint paths.
    ///
    /// # Panics
    /// If the probabilities do not add up to 1 within `1e-9`: such a law proves nothing.
    pub(crate) fn from_paths(paths: impl IntoIterator<Item = (O, f64)>) -> Self {
        let mut law = Self { probabilities: BTreeMap::new(), paths: 0 };
        for (output, probability) in paths {
            *law.probabilities.entry(output).or_insert(0.0) += probability;
            law.paths += 1;
        }
        let total: f64 = law.probabilities.values().sum();
        assert!((total - 1.0).abs() < 1e-9, "the law sums to {total}, not to 1");
        law
    }

    /// How many paths were walked.
    pub fn paths(&self) -> u64 {
        self.paths
    }

    /// Outputs and their probabilities, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&O, f64)> {
        self.probabilities.iter().map(|(output, &p)| (output, p))
    }

    /// Probability of one output.
    pub fn probability(&self, output: &O) -> f64 {
        self.probabilities.get(output).copied().unwrap_or(0.0)
    }

    /// The least `epsilon` with `self(S) <= e^epsilon other(S)` for all sets: the largest log ratio.
    /// Infinite if some output is possible here and impossible there. One direction only.
    pub fn pure_loss(&self, other: &Self) -> f64 {
        self.iter()
            .filter(|(_, p)| *p > 0.0)
            .map(|(output, p)| (p / other.probability(output)).ln())
            .fold(f64::NEG_INFINITY, f64::max)
    }

    /// The least `delta` with `self(S) <= e^epsilon other(S) + delta` for all sets: the hockey-stick
    /// divergence. One direction only.
    pub fn delta(&self, other: &Self, epsilon: f64) -> f64 {
        let excess = |(output, p): (&O, f64)| p - epsilon.exp() * other.probability(output);
        self.iter().map(excess).filter(|excess| *excess > 0.0).sum()
    }
}

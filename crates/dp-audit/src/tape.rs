//! A source of draws that takes every outcome in turn.

use std::panic::resume_unwind;

use dp_mechanism::{Coin, DiscreteGaussian, Draws, Law as DrawLaw, Noise};

use crate::Law;
use crate::noise_law::{NoiseLaw, choice_log_probabilities, ratio_to_f64};

/// The released values between which noise of infinite range is followed.
///
/// Values beyond an end are taken as the end, with the exact mass of the tail. That is the law of
/// the mechanism followed by a public clamp: a loss found on it is a loss of the mechanism, and for
/// discrete Laplace noise the clamp hides nothing, since every tail value has the same ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    low: i64,
    high: i64,
}

impl Window {
    /// From `low` to `high`, both included.
    ///
    /// # Panics
    /// If `low > high`.
    pub fn new(low: i64, high: i64) -> Self {
        assert!(low <= high, "an empty window");
        Self { low, high }
    }

    /// For mechanisms that release no noisy integers: all of them count as zero.
    pub fn none() -> Self {
        Self::new(0, 0)
    }
}

/// The exact law of what `run` returns, by running it once for every sequence of outcomes.
///
/// # Complexity
/// One run per path; a path with probability zero is not followed.
///
/// # Panics
/// If `run` panics, or if its draws depend on anything but the outcomes so far.
pub fn exact_law<O: Ord>(window: Window, run: impl Fn(&mut dyn Draws) -> O) -> Law<O> {
    let mut tape = Tape { path: Vec::new(), position: 0, window };
    let mut paths = Vec::new();
    loop {
        tape.position = 0;
        let output = run(&mut tape);
        assert_eq!(tape.position, tape.path.len(), "a replay drew less than the run before it");
        paths.push((output, tape.path.iter().map(Branching::probability).product()));
        if !tape.advance() {
            return Law::from_paths(paths);
        }
    }
}

struct Tape {
    path: Vec<Branching>,
    position: usize,
    window: Window,
}

/// One draw: its possible outcomes with their probabilities, and which of them is being followed.
struct Branching {
    outcomes: Vec<(i64, f64)>,
    chosen: usize,
}

impl Branching {
    fn probability(&self) -> f64 {
        self.outcomes[self.chosen].1
    }
}

impl Tape {
    /// Steps to the next path; false when all have been walked.
    fn advance(&mut self) -> bool {
        while let Some(last) = self.path.last_mut() {
            last.chosen += 1;
            if last.chosen < last.outcomes.len() {
                return true;
            }
            self.path.pop();
        }
        false
    }

    fn outcomes(&self, law: DrawLaw<'_>) -> Vec<(i64, f64)> {
        let bit = |p: f64| vec![(0, 1.0 - p), (1, p)];
        match law {
            DrawLaw::Choice { scores, rate } => (0..)
                .zip(choice_log_probabilities(scores, rate).into_iter().map(f64::exp))
                .collect(),
            DrawLaw::Noisy { value, noise } => {
                let law = NoiseLaw::new(noise);
                let Window { low, high } = self.window;
                (low..=high).map(|y| (y, within(&law, y - value, y == low, y == high))).collect()
            }
            DrawLaw::Exceeds { value, threshold, noise } => {
                bit(NoiseLaw::new(noise).tail(threshold - value + 1))
            }
            DrawLaw::Keep { coin: Coin::Rational(p) } => bit(ratio_to_f64(p).min(1.0)),
            DrawLaw::Keep { coin: Coin::OneMinusExp(x) } => bit(-(-ratio_to_f64(x)).exp_m1()),
            _ => resume_unwind(Box::new("a draw that this auditor does not know")),
        }
    }
}

/// Mass at noise value `z`, with the whole tail beyond it at an end of the window.
fn within(law: &NoiseLaw, z: i64, lowest: bool, highest: bool) -> f64 {
    match (lowest, highest) {
        (true, true) => 1.0,
        (true, false) => law.tail(-z), // Pr[Z <= z], by symmetry
        (false, true) => law.tail(z),
        (false, false) => law.probability(z),
    }
}

impl Draws for Tape {
    fn draw(&mut self, law: DrawLaw<'_>) -> i64 {
        if self.position == self.path.len() {
            let mut outcomes = self.outcomes(law);
            outcomes.retain(|(_, p)| *p > 0.0);
            assert!(!outcomes.is_empty(), "a draw without outcomes");
            self.path.push(Branching { outcomes, chosen: 0 });
        }
        self.position += 1;
        let here = &self.path[self.position - 1];
        here.outcomes[here.chosen].0
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        for value in values {
            *value = self.noisy(*value, Noise::Gaussian(noise));
        }
    }
}

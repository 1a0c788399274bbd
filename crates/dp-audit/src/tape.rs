//! A source of draws that takes every outcome in turn.

use dp_mechanism::{
    Coin, DiscreteGaussian, Geometric, Law as DrawLaw, Noise, Ratio, ReportNoise, Source,
};

use crate::noise_law::{
    NoiseLaw, flip_probabilities, is_possible_maximum, noisy_max_probability, noisy_max_tail,
    power, report_tail,
};
use crate::numbers::{Floats, Numbers, Rationals};
use crate::{Law, RationalLaw};

/// The released values between which noise of infinite range is followed.
///
/// Values beyond an end are taken as the end, with the exact mass of the tail. That is the law of
/// the mechanism followed by a public clamp: a loss found on it is a loss of the mechanism, and for
/// discrete Laplace noise the clamp hides nothing, since every tail value has the same ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    ends: Option<(i64, i64)>,
}

impl Window {
    /// From `low` to `high`, both included.
    ///
    /// # Panics
    /// If `low > high`.
    pub fn new(low: i64, high: i64) -> Self {
        assert!(low <= high, "an empty window");
        Self { ends: Some((low, high)) }
    }

    /// For mechanisms that release no noisy integers; one that does panics rather than look private.
    pub fn none() -> Self {
        Self { ends: None }
    }
}

/// The exact law of what `run` returns, by running it once for every sequence of outcomes.
///
/// # Complexity
/// One run per path; a path with probability zero is not followed.
///
/// # Panics
/// If `run` panics, or if its draws depend on anything but the outcomes so far; if it releases noisy
/// integers and there is no window for them; if a probability is too small for `f64`, since a path
/// that is dropped would look like no loss (Gaussian noise beyond 39 standard deviations excepted).
pub fn exact_law<O: Ord>(window: Window, run: impl Fn(&mut dyn Source) -> O) -> Law<O> {
    let mut paths = Vec::new();
    for_each_path(&Floats, window, run, |output, probability| paths.push((output, probability)));
    Law::from_paths(paths)
}

/// The same in rational arithmetic, with `e^unit` taken to be the integer `odds`.
///
/// Nothing is rounded, so a claim of `e^(k unit)` can be compared with `odds^k` exactly. Every
/// exponent that comes up, `rate * score` of a choice or `z / scale` of Laplace noise, must be a
/// multiple of `unit`; Gaussian noise has no rational law.
///
/// # Panics
/// As [`exact_law`]; if an exponent is not a multiple of `unit`; for Gaussian noise.
pub fn exact_rational_law<O: Ord>(
    unit: Ratio,
    odds: u32,
    window: Window,
    run: impl Fn(&mut dyn Source) -> O,
) -> RationalLaw<O> {
    let numbers = Rationals { unit, odds };
    let mut paths = Vec::new();
    for_each_path(&numbers, window, run, |output, probability| paths.push((output, probability)));
    RationalLaw::from_paths(paths)
}

/// Runs once for every sequence of outcomes, and reports each output with its probability.
pub(crate) fn for_each_path<N: Numbers, O>(
    numbers: &N,
    window: Window,
    run: impl Fn(&mut dyn Source) -> O,
    mut report: impl FnMut(O, N::P),
) {
    let mut tape = Tape { numbers, path: Vec::new(), position: 0, window };
    loop {
        tape.position = 0;
        let output = run(&mut tape);
        assert_eq!(tape.position, tape.path.len(), "a replay drew less than the run before it");
        let probabilities = tape.path.iter().map(Branching::probability);
        report(output, probabilities.fold(numbers.integer(1), |product, p| product * p.clone()));
        if !tape.advance() {
            return;
        }
    }
}

struct Tape<'n, N: Numbers> {
    numbers: &'n N,
    path: Vec<Branching<N::P>>,
    position: usize,
    window: Window,
}

/// One draw: its possible outcomes with their probabilities, and which of them is being followed.
struct Branching<P> {
    outcomes: Vec<(i64, P)>,
    chosen: usize,
}

impl<P> Branching<P> {
    fn probability(&self) -> &P {
        &self.outcomes[self.chosen].1
    }
}

impl<N: Numbers> Tape<'_, N> {
    /// The outcome of the next draw on this path. A draw that is new has these outcomes; the bit says
    /// whether all of them are possible, so that a probability of zero is a rounded one.
    fn follow(&mut self, law: impl FnOnce(&Self) -> (Vec<(i64, N::P)>, bool)) -> i64 {
        if self.position == self.path.len() {
            let (mut outcomes, full) = law(self);
            let (all, zero) = (outcomes.len(), self.numbers.integer(0));
            outcomes.retain(|(_, p)| *p > zero);
            let dropped = outcomes.len() < all;
            assert!(
                !(dropped && N::UNDERFLOWS && full),
                "a probability is too small for f64: use a smaller instance"
            );
            assert!(!outcomes.is_empty(), "a draw without outcomes");
            self.path.push(Branching { outcomes, chosen: 0 });
        }
        self.position += 1;
        let here = &self.path[self.position - 1];
        here.outcomes[here.chosen].0
    }

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

    fn outcomes(&self, law: DrawLaw<'_>) -> Vec<(i64, N::P)> {
        let numbers = self.numbers;
        let bit = |p: N::P| vec![(0, numbers.integer(1) - p.clone()), (1, p)];
        match law {
            DrawLaw::Choice { scores, rate } => {
                let best = scores.iter().copied().max().expect("a choice has candidates");
                let weight = |score: &i64| power(numbers, rate, best.abs_diff(*score));
                let weights: Vec<N::P> = scores.iter().map(weight).collect();
                let total = weights.iter().fold(numbers.integer(0), |sum, w| sum + w.clone());
                (0..).zip(weights).map(|(index, w)| (index, w / total.clone())).collect()
            }
            DrawLaw::Flip { scores, rate } => {
                (0..).zip(flip_probabilities(numbers, scores, rate)).collect()
            }
            DrawLaw::SparseChoice { scores, rate } => {
                let candidates = scores.candidates();
                assert!(candidates <= 1 << 16, "too many candidates to try them all");
                let score = |candidate| scores.score(candidate).cast_signed();
                let best = (0..candidates).map(score).max().expect("there are candidates");
                let weight = |candidate| power(numbers, rate, best.abs_diff(score(candidate)));
                let weights: Vec<N::P> = (0..candidates).map(weight).collect();
                let total = weights.iter().fold(numbers.integer(0), |sum, w| sum + w.clone());
                (0..).zip(weights).map(|(index, w)| (index, w / total.clone())).collect()
            }
            DrawLaw::Noisy { value, noise } => {
                let law = NoiseLaw::new(numbers, noise);
                let (low, high) = self.window.ends.expect("noisy integers need a window");
                // At an end of the window stands the whole tail beyond it.
                let mass = |y: i64| match (y == low, y == high) {
                    (true, true) => numbers.integer(1),
                    (true, false) => law.tail(value - y), // Pr[Z <= y - value], by symmetry
                    (false, true) => law.tail(y - value),
                    (false, false) => law.probability(y - value),
                };
                (low..=high).map(|y| (y, mass(y))).collect()
            }
            DrawLaw::Exceeds { value, threshold, noise } => {
                bit(NoiseLaw::new(numbers, noise).tail(threshold - value + 1))
            }
            DrawLaw::Report { value, threshold, noise } => {
                let (_, high) = self.window.ends.expect("noisy counts need a window");
                assert!(high >= threshold, "the window ends below the threshold");
                let tail = |y: i64| report_tail(numbers, noise, y - value);
                let silent = (threshold - 1, numbers.integer(1) - tail(threshold));
                let at = |y: i64| if y == high { tail(y) } else { tail(y) - tail(y + 1) };
                std::iter::once(silent).chain((threshold..=high).map(|y| (y, at(y)))).collect()
            }
            DrawLaw::Keep { coin: Coin::Rational(p) } => {
                let p = numbers.ratio(p);
                bit(if p > numbers.integer(1) { numbers.integer(1) } else { p })
            }
            DrawLaw::Keep { coin: Coin::OneMinusExp(x) } => {
                bit(numbers.integer(1) - numbers.exp_minus(x))
            }
            DrawLaw::Keep { coin: Coin::ScaledExp { shift, numerator, denominator } } => {
                let x = Ratio::new(numerator, denominator.get()).expect("a small instance");
                let scale = Ratio::new(1 << shift, 1).expect("below 2^96");
                let (p, one) = (numbers.ratio(scale) * numbers.exp_minus(x), numbers.integer(1));
                bit(if p > one { one } else { p })
            }
            DrawLaw::Keep { coin: Coin::Logistic(x) } => {
                bit(numbers.integer(1) / (numbers.integer(1) + numbers.exp_minus(x)))
            }
            _ => panic!("a draw that this auditor does not know"),
        }
    }
}

/// Whether every outcome of the draw is possible, so that a probability of zero is a rounded one.
fn has_full_support(law: DrawLaw<'_>) -> bool {
    match law {
        DrawLaw::Noisy { noise, .. } | DrawLaw::Exceeds { noise, .. } => {
            matches!(noise, Noise::Laplace(_))
        }
        // One-sided noise only adds: silence is impossible from the threshold on.
        DrawLaw::Report { value, threshold, noise: ReportNoise::OneSided(_) } => value < threshold,
        DrawLaw::Keep { .. } => false, // a coin may be certain
        _ => true,
    }
}

impl<N: Numbers> Source for Tape<'_, N> {
    fn draw(&mut self, law: DrawLaw<'_>) -> i64 {
        self.follow(|tape| (tape.outcomes(law), has_full_support(law)))
    }

    /// A maximum beyond the end of the window is told as one at the end, in its place.
    fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
        let (_, end) = self.window.ends.expect("noisy maxima need a window");
        let best = scores.iter().copied().max().expect("a choice has candidates");
        assert!(end >= best, "the window ends below a score");
        let places = i64::try_from(scores.len()).expect("few candidates");
        let told = self.follow(|tape| {
            let at = |place: i64, value: i64| {
                let index = usize::try_from(place).expect("an index");
                noisy_max_probability(tape.numbers, scores, noise, index, value)
            };
            let inside = (best..end).flat_map(|value| (0..places).map(move |i| (i, value)));
            let possible = |(i, value): &(i64, i64)| {
                is_possible_maximum(scores, usize::try_from(*i).expect("an index"), *value)
            };
            let mut outcomes: Vec<(i64, N::P)> = inside
                .filter(possible)
                .map(|(i, value)| (value * places + i, at(i, value)))
                .collect();
            let beyond = |place: i64| {
                let index = usize::try_from(place).expect("an index");
                noisy_max_tail(tape.numbers, scores, noise, index, end)
            };
            outcomes.extend((0..places).map(|i| (end * places + i, beyond(i))));
            (outcomes, true)
        });
        (usize::try_from(told.rem_euclid(places)).expect("an index"), told.div_euclid(places))
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        for value in values {
            *value = self.noisy(*value, Noise::Gaussian(noise));
        }
    }
}

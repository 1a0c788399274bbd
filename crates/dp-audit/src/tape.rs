//! A source of draws that takes every outcome in turn.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use dp_accounting::AnyRelation;
use dp_mechanism::{
    Coin, DiscreteGaussian, Geometric, Law as DrawLaw, Noise, Ratio, ReportNoise, Source,
};

use crate::noise_law::{
    NoiseLaw, flip_probabilities, is_possible_maximum, noise_scale, noisy_max_probability,
    noisy_max_tail, power, report_scale, report_tail,
};
use crate::numbers::{Floats, Numbers, Rationals, ratio_to_f64};
use crate::promises::Promises;
use crate::{Law, RationalLaw};

/// The released values between which noise of infinite range is followed value by value.
///
/// An end stands for itself and all beyond it, with their exact mass, by a value some scales further out, so code that
/// runs only for a draw beyond the window does run. That is the law of a mechanism whose noise is coarser out there by a
/// public rule, which for discrete Laplace noise hides nothing: all values of a tail have the same ratio. Code could
/// look for a value that nothing stands for; [`Law::outside`] says how likely any draw was out there, and
/// [`Law::charged_delta`] charges it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    ends: Option<(i64, i64)>,
}

impl Window {
    /// From `low` to `high`, both included.
    ///
    /// # Panics
    /// If `low > high`, or they are beyond `2^61`.
    pub fn new(low: i64, high: i64) -> Self {
        assert!(low <= high, "an empty window");
        assert!(-(1 << 61) <= low && high <= 1 << 61, "no room beyond the window");
        Self { ends: Some((low, high)) }
    }

    #[cfg(test)]
    pub(crate) fn holds(self, value: i64) -> bool {
        self.ends.is_some_and(|(low, high)| low < value && value < high)
    }

    /// For mechanisms that release no noisy integers; one that does panics rather than look private.
    pub fn none() -> Self {
        Self { ends: None }
    }
}

/// One possible outcome of a draw.
#[derive(Clone)]
struct Outcome<P> {
    value: i64,
    probability: P,
    /// Beyond the window, where it stands for others too.
    outside: bool,
}

impl<P> Outcome<P> {
    fn inside((value, probability): (i64, P)) -> Self {
        Self { value, probability, outside: false }
    }

    fn outside((value, probability): (i64, P)) -> Self {
        Self { value, probability, outside: true }
    }
}

/// How many scales beyond its end a window goes on.
const FURTHER: f64 = 12.0;

/// The value that stands for all from this upper end on.
fn beyond(end: i64, scale: f64) -> i64 {
    #[allow(clippy::cast_possible_truncation, reason = "saturates, and is cut")]
    let further = ((FURTHER * scale).ceil() as i64).clamp(1, 1 << 61);
    end + further
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
    let mut report = |output, p, outside| paths.push((output, p, outside));
    let promises = for_each_path(&Floats, window, &run, &mut report);
    Law::from_paths(paths, promises)
}

/// The same if it takes so many paths at most, and all probabilities are within the range of `f64`.
pub(crate) fn exact_law_within<O: Ord>(
    window: Window,
    most_paths: u64,
    run: impl Fn(&mut dyn Source) -> O,
) -> Option<Law<O>> {
    let mut paths = Vec::new();
    let mut tape = Tape::new(&Floats, window);
    tape.gives_up = true;
    let all = catch_unwind(AssertUnwindSafe(|| {
        tape.walk(most_paths, &run, &mut |output, p, outside| paths.push((output, p, outside)))
    }));
    match all {
        Ok(all) => all.then(|| Law::from_paths(paths, tape.of_all_runs)),
        Err(thrown) if thrown.is::<GivenUp>() => None,
        Err(panic) => resume_unwind(panic),
    }
}

/// Thrown through a mechanism of which there will be no law.
struct GivenUp;

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
    let mut report = |output, probability, _| paths.push((output, probability));
    let promises = for_each_path(&numbers, window, &run, &mut report);
    RationalLaw::from_paths(paths, promises)
}

/// Runs once for every sequence of outcomes, and reports each output with its probability, and whether a draw
/// was outside of the window. What all of them promised comes back.
pub(crate) fn for_each_path<N: Numbers, O>(
    numbers: &N,
    window: Window,
    run: &dyn Fn(&mut dyn Source) -> O,
    report: &mut dyn FnMut(O, N::P, bool),
) -> Promises {
    let mut tape = Tape::new(numbers, window);
    tape.walk(u64::MAX, run, report);
    tape.of_all_runs
}

struct Tape<'n, N: Numbers> {
    numbers: &'n N,
    path: Vec<Branching<N::P>>,
    position: usize,
    window: Window,
    /// Rather than to panic.
    gives_up: bool,
    /// Of the present run, and of those before it.
    promises: Promises,
    of_all_runs: Promises,
}

/// One draw: its possible outcomes with their probabilities, and which of them is being followed.
struct Branching<P> {
    outcomes: Vec<Outcome<P>>,
    chosen: usize,
}

impl<'n, N: Numbers> Tape<'n, N> {
    fn new(numbers: &'n N, window: Window) -> Self {
        let (promises, of_all_runs) = (Promises::default(), Promises::default());
        let (path, position, gives_up) = (Vec::new(), 0, false);
        Self { numbers, path, position, window, gives_up, promises, of_all_runs }
    }

    /// False if there are more paths than that. Compiled once for a type of output: claims have many runs.
    fn walk<O>(
        &mut self,
        most: u64,
        run: &dyn Fn(&mut dyn Source) -> O,
        report: &mut dyn FnMut(O, N::P, bool),
    ) -> bool {
        for _ in 0..most {
            self.position = 0;
            self.promises = Promises::default();
            let output = run(self);
            self.of_all_runs.merge(&self.promises);
            assert_eq!(self.position, self.path.len(), "a replay drew less than the run before it");
            let taken = || self.path.iter().map(|draw| &draw.outcomes[draw.chosen]);
            let one = self.numbers.integer(1);
            let probability = taken().fold(one, |product, draw| product * draw.probability.clone());
            report(output, probability, taken().any(|draw| draw.outside));
            if !self.advance() {
                return true;
            }
        }
        false
    }

    /// Panics unless this is so.
    fn demand(&self, holds: bool, why: &str) {
        if !holds && self.gives_up {
            resume_unwind(Box::new(GivenUp));
        }
        assert!(holds, "{why}");
    }

    /// The outcome of the next draw on this path. A draw that is new has these outcomes; the bit says
    /// whether all of them are possible, so that a probability of zero is a rounded one.
    fn follow(&mut self, law: impl FnOnce(&Self) -> (Vec<Outcome<N::P>>, bool)) -> i64 {
        self.promises.draw();
        if self.position == self.path.len() {
            let (mut outcomes, full) = law(self);
            let (all, zero) = (outcomes.len(), self.numbers.integer(0));
            outcomes.retain(|outcome| outcome.probability > zero);
            let dropped = outcomes.len() < all;
            self.demand(
                !(dropped && N::UNDERFLOWS && full),
                "a probability is too small for f64: use a smaller instance",
            );
            assert!(!outcomes.is_empty(), "a draw without outcomes");
            self.path.push(Branching { outcomes, chosen: 0 });
        }
        self.position += 1;
        let here = &self.path[self.position - 1];
        here.outcomes[here.chosen].value
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

    fn outcomes(&self, law: DrawLaw<'_>) -> Vec<Outcome<N::P>> {
        let numbers = self.numbers;
        let bit =
            |p: N::P| [(0, numbers.integer(1) - p.clone()), (1, p)].map(Outcome::inside).to_vec();
        match law {
            DrawLaw::Choice { scores, rate } => {
                let best = scores.iter().copied().max().expect("a choice has candidates");
                let weight = |score: &i64| power(numbers, rate, best.abs_diff(*score));
                let weights: Vec<N::P> = scores.iter().map(weight).collect();
                let total = weights.iter().fold(numbers.integer(0), |sum, w| sum + w.clone());
                let share = |(index, w)| Outcome::inside((index, w / total.clone()));
                (0..).zip(weights).map(share).collect()
            }
            DrawLaw::Flip { scores, rate } => {
                let probabilities = flip_probabilities(numbers, scores, rate);
                (0..).zip(probabilities).map(Outcome::inside).collect()
            }
            DrawLaw::SparseChoice { scores, rate } => {
                let candidates = scores.candidates();
                self.demand(candidates <= 1 << 16, "too many candidates to try them all");
                let score = |candidate| scores.score(candidate).cast_signed();
                let best = (0..candidates).map(score).max().expect("there are candidates");
                let weight = |candidate| power(numbers, rate, best.abs_diff(score(candidate)));
                let weights: Vec<N::P> = (0..candidates).map(weight).collect();
                let total = weights.iter().fold(numbers.integer(0), |sum, w| sum + w.clone());
                let share = |(index, w)| Outcome::inside((index, w / total.clone()));
                (0..).zip(weights).map(share).collect()
            }
            DrawLaw::Noisy { value, noise } => {
                let law = NoiseLaw::new(numbers, noise);
                self.demand(self.window.ends.is_some(), "noisy integers need a window");
                let (low, high) = self.window.ends.expect("there is one");
                let scale = noise_scale(noise);
                let inside = (low.saturating_add(1)..high).map(|y| (y, law.probability(y - value)));
                // Pr[Z <= low - value] is Pr[Z >= value - low], by symmetry; an only value is split in two.
                let below = law.tail(value - low + i64::from(low == high));
                let outside =
                    [(-beyond(-low, scale), below), (beyond(high, scale), law.tail(high - value))];
                inside.map(Outcome::inside).chain(outside.map(Outcome::outside)).collect()
            }
            DrawLaw::Exceeds { value, threshold, noise } => {
                bit(NoiseLaw::new(numbers, noise).tail(threshold - value + 1))
            }
            DrawLaw::Report { value, threshold, noise } => {
                self.demand(self.window.ends.is_some(), "noisy counts need a window");
                let (_, high) = self.window.ends.expect("there is one");
                self.demand(high >= threshold, "the window ends below the threshold");
                let tail = |y: i64| report_tail(numbers, noise, y - value);
                let silent = (threshold - 1, numbers.integer(1) - tail(threshold));
                let at = |y: i64| tail(y) - tail(y + 1);
                let told = (threshold..high).map(|y| (y, at(y)));
                let outside = [(beyond(high, report_scale(noise)), tail(high))];
                std::iter::once(silent)
                    .chain(told)
                    .map(Outcome::inside)
                    .chain(outside.map(Outcome::outside))
                    .collect()
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
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.promises.note(relation);
    }

    fn draw(&mut self, law: DrawLaw<'_>) -> i64 {
        self.follow(|tape| (tape.outcomes(law), has_full_support(law)))
    }

    fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
        self.demand(self.window.ends.is_some(), "noisy maxima need a window");
        let (_, end) = self.window.ends.expect("there is one");
        let best = scores.iter().copied().max().expect("a choice has candidates");
        self.demand(end >= best, "the window ends below a score");
        let places = i64::try_from(scores.len()).expect("few candidates");
        let index = |place: i64| usize::try_from(place).expect("an index");
        let told = self.follow(|tape| {
            let numbers = tape.numbers;
            let further = beyond(end, ratio_to_f64(noise.scale()));
            let inside = (best..end).flat_map(|value| (0..places).map(move |i| (i, value)));
            let possible =
                |place: &(i64, i64)| is_possible_maximum(scores, index(place.0), place.1);
            let inside = inside.filter(possible).map(|(i, value)| {
                let p = noisy_max_probability(numbers, scores, noise, index(i), value);
                Outcome::inside((value * places + i, p))
            });
            let outside = (0..places).map(|i| {
                let p = noisy_max_tail(numbers, scores, noise, index(i), end);
                Outcome::outside((further * places + i, p))
            });
            (inside.chain(outside).collect(), true)
        });
        (index(told.rem_euclid(places)), told.div_euclid(places))
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        for value in values {
            *value = self.noisy(*value, Noise::Gaussian(noise));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;

    use approx::assert_abs_diff_eq;
    use dp_mechanism::SparseScores;

    use super::*;
    use crate::exact_law;

    fn probabilities(outcomes: i64, draw: impl Fn(&mut dyn Source) -> i64) -> Vec<f64> {
        let law = exact_law(Window::none(), draw);
        (0..outcomes).map(|outcome| law.probability(&outcome)).collect()
    }

    #[test]
    fn a_choice_prefers_high_scores_whether_they_are_listed_or_not() {
        let (scores, rate) = ([0, 5, 2, 0], Ratio::new(2, 5).expect("valid"));
        let sparse = SparseScores::new(4, [(1, 5), (2, 2)]);
        let dense = probabilities(4, |s| s.draw(DrawLaw::Choice { scores: &scores, rate }));
        let listed = probabilities(4, |s| s.draw(DrawLaw::SparseChoice { scores: &sparse, rate }));
        let weights = scores.map(|score| (0.4 * score as f64).exp());
        let total: f64 = weights.iter().sum();
        for (i, weight) in weights.iter().enumerate() {
            assert_abs_diff_eq!(dense[i], weight / total, epsilon = 1e-14);
            assert_abs_diff_eq!(listed[i], weight / total, epsilon = 1e-14);
        }
    }

    /// Silence and numbers alike: a draw with an outcome that rounds to nothing has no law, rather than one without it.
    #[test]
    fn a_draw_is_not_followed_without_its_unlikely_outcomes() {
        use dp_mechanism::DiscreteLaplace;
        let one = Ratio::new(1, 1).expect("valid");
        let geometric = Geometric::new(one).expect("positive");
        let laplace = DiscreteLaplace::new(one).expect("positive");
        let noise = Noise::Laplace(laplace);
        let report = |value, threshold, noise| DrawLaw::Report { value, threshold, noise };
        let sparse = SparseScores::new(3, [(1, 1_000)]);
        for (number, law) in [
            DrawLaw::Choice { scores: &[0, 1_000], rate: one },
            DrawLaw::Flip { scores: &[0, 1_000], rate: one },
            DrawLaw::SparseChoice { scores: &sparse, rate: one },
            DrawLaw::Noisy { value: 1_000, noise },
            DrawLaw::Exceeds { value: 0, threshold: 1_000, noise },
            report(0, 1_000, ReportNoise::OneSided(geometric)),
            report(0, 1_000, ReportNoise::TwoSided(laplace)),
            report(1_000, 1, ReportNoise::TwoSided(laplace)),
        ]
        .into_iter()
        .enumerate()
        {
            let found = catch_unwind(|| exact_law(Window::new(-3, 1_003), |s| s.draw(law)));
            let why = found.expect_err("too small");
            let why = crate::harness::panic_message(&*why).to_owned();
            assert!(why.contains("too small for f64"), "draw {number}: {why}");
        }
    }

    /// What a run draws follows from what it has drawn, and from nothing else that changes from run to run.
    #[test]
    fn runs_that_draw_more_or_less_than_before_have_no_law() {
        for draws in [[2, 2], [2, 1], [1, 2]] {
            let runs = std::cell::Cell::new(0);
            let law = catch_unwind(AssertUnwindSafe(|| {
                exact_law(Window::none(), |source| {
                    let run = runs.replace(runs.get() + 1);
                    (0..draws[run.min(1)]).for_each(|_| {
                        source.draw(DrawLaw::Choice {
                            scores: &[0, 0],
                            rate: Ratio::new(1, 1).expect("valid"),
                        });
                    });
                })
            }));
            assert_eq!(law.is_ok(), draws != [2, 1], "{draws:?}");
        }
    }

    #[test]
    fn coins_fall_as_often_as_they_say() {
        let ratio = |n, d| Ratio::new(n, d).expect("valid");
        let scaled = |shift, numerator, denominator| Coin::ScaledExp {
            shift,
            numerator,
            denominator: NonZero::new(denominator).expect("above 0"),
        };
        let coins = [
            (Coin::Rational(ratio(3, 7)), 3.0 / 7.0),
            (Coin::Rational(ratio(9, 7)), 1.0),
            (Coin::OneMinusExp(ratio(1, 3)), -(-1.0_f64 / 3.0).exp_m1()),
            (scaled(2, 7, 2), 4.0 * (-3.5_f64).exp()),
            (scaled(2, 1, 2), 1.0),
            (Coin::Logistic(ratio(3, 2)), 1.0 / (1.0 + (-1.5_f64).exp())),
        ];
        for (coin, expected) in coins {
            let found = probabilities(2, |s| s.draw(DrawLaw::Keep { coin }));
            assert_abs_diff_eq!(found[1], expected, epsilon = 1e-14);
            assert_abs_diff_eq!(found[0], 1.0 - expected, epsilon = 1e-14);
        }
    }
}

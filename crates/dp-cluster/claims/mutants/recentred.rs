//! Broken variants of re-centring: the real code with something put between it and its draws.

use dp_audit::harness::MutantCode;
use dp_cluster::Clustering;
use dp_geometry::Points;
use dp_mechanism::{DiscreteGaussian, Geometric, Law, Mechanism, Ratio, Source};

use crate::recentred::{Plan, honest, one_round_as_drawn, rounds, vectors};

pub(crate) fn code() -> [MutantCode; 5] {
    [
        ("M30", |effort| rounds(effort, radius_of_the_farthest), |effort| rounds(effort, honest)),
        ("M31", |effort| vectors(effort, nothing_for_the_empty), |effort| vectors(effort, honest)),
        ("M32", |effort| rounds(effort, each_round_as_if_alone), |effort| rounds(effort, honest)),
        (
            "M32-sampled",
            |effort| one_round_as_drawn(effort, part(4)),
            |effort| one_round_as_drawn(effort, part(1)),
        ),
        ("M33", |effort| vectors(effort, exact_counts), |effort| vectors(effort, honest)),
    ]
}

/// One part in so many of the variance that belongs there.
fn part(parts: u128) -> Ratio {
    Ratio::new(1, parts).expect("at least one part")
}

/// The radius is the distance of the farthest point, read off the scores instead of drawn.
fn radius_of_the_farthest(plan: &Plan, points: &Points, draws: &mut dyn Source) -> Clustering {
    struct Farthest<'a>(&'a mut dyn Source);
    impl Source for Farthest<'_> {
        fn draw(&mut self, law: Law<'_>) -> i64 {
            let Law::Choice { scores, .. } = law else { return self.0.draw(law) };
            // Beyond the farthest point scores only fall by the price of a step.
            let price = scores[scores.len() - 2] - scores[scores.len() - 1];
            let last = scores.windows(2).rposition(|pair| pair[0] - pair[1] != price);
            i64::try_from(last.map_or(0, |last| last + 1)).expect("small")
        }
        fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
            self.0.noisy_vector(values, noise);
        }

        fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
            self.0.noisy_max(scores, noise)
        }
    }
    plan.replay(points.view(), &mut Farthest(draws)).0
}

/// A centre without points gets no noise, neither on its sum nor on its counts.
fn nothing_for_the_empty(plan: &Plan, points: &Points, draws: &mut dyn Source) -> Clustering {
    struct Lazy<'a>(&'a mut dyn Source);
    impl Source for Lazy<'_> {
        fn draw(&mut self, law: Law<'_>) -> i64 {
            self.0.draw(law)
        }
        fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
            if values.iter().any(|value| *value != 0) {
                self.0.noisy_vector(values, noise);
            }
        }

        fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
            self.0.noisy_max(scores, noise)
        }
    }
    plan.replay(points.view(), &mut Lazy(draws)).0
}

/// Every one of four rounds gets the noise of a budget that it has for itself. A plan of one round
/// is as it should be.
fn each_round_as_if_alone(plan: &Plan, points: &Points, draws: &mut dyn Source) -> Clustering {
    struct Alone<'a> {
        draws: &'a mut dyn Source,
        rounds: u128,
    }
    impl Source for Alone<'_> {
        fn draw(&mut self, law: Law<'_>) -> i64 {
            self.draws.draw(law)
        }
        fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
            let variance = noise.variance().checked_mul(part(self.rounds)).expect("in range");
            self.draws.noisy_vector(values, DiscreteGaussian::new(variance).expect("positive"));
        }

        fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
            self.draws.noisy_max(scores, noise)
        }
    }
    let rounds = plan.rounds() as u128;
    plan.replay(points.view(), &mut Alone { draws, rounds }).0
}

/// Merging goes by the exact numbers of points: the last two entries of a vector get no noise.
fn exact_counts(plan: &Plan, points: &Points, draws: &mut dyn Source) -> Clustering {
    struct Exact<'a>(&'a mut dyn Source);
    impl Source for Exact<'_> {
        fn draw(&mut self, law: Law<'_>) -> i64 {
            self.0.draw(law)
        }
        fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
            let coordinates = values.len() - 2;
            self.0.noisy_vector(&mut values[..coordinates], noise);
        }

        fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
            self.0.noisy_max(scores, noise)
        }
    }
    plan.replay(points.view(), &mut Exact(draws)).0
}

//! Broken ring rounds and plans on them: the real code with something put between it and its draws, or with a box that should have been public.

use dp_accounting::{AnyRelation, Loss, Step};
use dp_audit::harness::MutantCode;
use dp_cluster::private_kmeans::PrivateKMeans;
use dp_cluster::rings::{RingRounds, RingRoundsSettings};
use dp_cluster::{Clustering, Points, PublicBox};
use dp_mechanism::{
    DiscreteGaussian, Geometric, Law, Mechanism, Noise, Ratio, RoundedGaussian, Source,
};

use crate::private_kmeans;
use crate::rings::{borders, honest, is_of_sum, kinds, transcripts};

pub(crate) fn code() -> [MutantCode; 7] {
    [
        ("M34", |effort| transcripts(effort, nothing_for_the_empty), |e| transcripts(e, honest)),
        ("M35", |effort| transcripts(effort, exact_threshold), |e| transcripts(e, honest)),
        ("M36", |effort| borders(effort, radii_of_the_records), |e| borders(e, honest)),
        ("M37", |effort| kinds(effort, counts_for_nothing), |e| kinds(e, honest)),
        ("M38", |effort| transcripts(effort, first_count_not_charged), |e| transcripts(e, honest)),
        (
            "M39",
            |effort| private_kmeans::choices(effort, way_of_the_records),
            |effort| private_kmeans::choices(effort, private_kmeans::honest),
        ),
        (
            "M297",
            |effort| private_kmeans::second_starts(effort, savings_for_little),
            |effort| private_kmeans::second_starts(effort, private_kmeans::honest),
        ),
    ]
}

/// Which of two starts after a map is taken goes by counts with a tenth of their noise.
fn savings_for_little(plan: &PrivateKMeans, points: &Points, draws: &mut dyn Source) -> Clustering {
    let mut losses = Vec::new();
    losses_of("comparison of two starts", plan.receipt().spent(), &mut losses);
    plan.replay(points.view(), &mut LittleNoiseFor { draws, losses, is_one: false }).0
}

fn losses_of(name: &str, step: &Step, found: &mut Vec<Loss>) {
    match step {
        Step::Spend { name: of, loss, .. } if of == name => found.push(*loss),
        Step::Sequential { steps, .. } | Step::OneOf { steps, .. } => {
            for step in steps {
                losses_of(name, step, found);
            }
        }
        _ => {}
    }
}

/// Leaves of these losses have a tenth of their noise.
struct LittleNoiseFor<'a> {
    draws: &'a mut dyn Source,
    losses: Vec<Loss>,
    is_one: bool,
}

impl Source for LittleNoiseFor<'_> {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.draws.promised(relation);
    }

    fn charged(&mut self, loss: Option<Loss>) {
        self.is_one = loss.is_some_and(|loss| self.losses.contains(&loss));
        self.draws.charged(loss);
    }

    fn draw(&mut self, law: Law<'_>) -> i64 {
        match law {
            Law::Noisy { value, noise: Noise::Rounded(noise) } if self.is_one => {
                let noise = Noise::Rounded(scaled(noise, (1, 100)));
                self.draws.draw(Law::Noisy { value, noise })
            }
            law => self.draws.draw(law),
        }
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        self.draws.noisy_vector(values, noise);
    }

    fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
        self.draws.noisy_max(scores, noise)
    }
}

/// The count that decides on the way is exact.
fn way_of_the_records(plan: &PrivateKMeans, points: &Points, draws: &mut dyn Source) -> Clustering {
    let law = |number, _, noise| (number > 0).then_some(noise);
    plan.replay(points.view(), &mut Instead { draws, law, number: 0 }).0
}

/// Puts another draw in the place of each.
pub(super) struct Instead<'a, F> {
    pub(super) draws: &'a mut dyn Source,
    /// From the number of the draw, its value and noise: the value with or without noise, and which.
    pub(super) law: F,
    pub(super) number: usize,
}

impl<F: Fn(usize, i64, RoundedGaussian) -> Option<RoundedGaussian>> Source for Instead<'_, F> {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.draws.promised(relation);
    }

    fn draw(&mut self, law: Law<'_>) -> i64 {
        let Law::Noisy { value, noise: Noise::Rounded(noise) } = law else {
            panic!("ring rounds draw nothing else")
        };
        self.number += 1;
        match (self.law)(self.number - 1, value, noise) {
            Some(noise) => self.draws.draw(Law::Noisy { value, noise: Noise::Rounded(noise) }),
            None => value,
        }
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        self.draws.noisy_vector(values, noise);
    }

    fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
        self.draws.noisy_max(scores, noise)
    }
}

fn through(
    plan: &RingRounds,
    points: &Points,
    draws: &mut dyn Source,
    law: impl Fn(usize, i64, RoundedGaussian) -> Option<RoundedGaussian>,
) -> Clustering {
    plan.replay(points.view(), &mut Instead { draws, law, number: 0 }).0
}

pub(super) fn scaled(
    noise: RoundedGaussian,
    (numerator, denominator): (u128, u128),
) -> RoundedGaussian {
    let factor = Ratio::new(numerator, denominator).expect("valid");
    let variance = noise.variance().checked_mul(factor).expect("in range");
    RoundedGaussian::new(variance).expect("positive")
}

/// Cells without records get no noise.
fn nothing_for_the_empty(plan: &RingRounds, points: &Points, draws: &mut dyn Source) -> Clustering {
    through(plan, points, draws, |_, value, noise| (value != 0).then_some(noise))
}

/// Which cells are groups goes by exact counts.
fn exact_threshold(plan: &RingRounds, points: &Points, draws: &mut dyn Source) -> Clustering {
    through(plan, points, draws, |_, _, noise| is_of_sum(noise).then_some(noise))
}

/// Rings, and with them the radii that residuals are clipped to, end at the farthest record.
fn radii_of_the_records(plan: &RingRounds, points: &Points, draws: &mut dyn Source) -> Clustering {
    let far = |far: f64, x: &f64| if x.is_finite() { far.max(x.abs().min(10.0)) } else { far };
    let far = points.view().coords().iter().fold(1e-9, far);
    let budget = plan.receipt().budget();
    let dim = points.view().dim();
    let public_box = PublicBox::cube(dim, -far, far).expect("valid");
    RingRounds::new(
        public_box,
        2,
        budget,
        RingRoundsSettings { most_planes: 1, rounds: 2, ..Default::default() },
    )
    .expect("valid settings")
    .replay(points.view(), draws)
    .0
}

/// Sums have the noise of a whole round, and counts theirs besides.
fn counts_for_nothing(plan: &RingRounds, points: &Points, draws: &mut dyn Source) -> Clustering {
    through(plan, points, draws, |_, _, noise| {
        Some(if is_of_sum(noise) { scaled(noise, (100, 244)) } else { noise })
    })
}

/// The number of records has the noise of the whole budget.
fn first_count_not_charged(
    plan: &RingRounds,
    points: &Points,
    draws: &mut dyn Source,
) -> Clustering {
    through(plan, points, draws, |number, _, noise| {
        Some(if number == 0 { scaled(noise, (1, 100)) } else { noise })
    })
}

//! Broken maps: the real code on records or with draws that something was done to.

use dp_accounting::{AnyRelation, Within};
use dp_audit::harness::{Effort, Found, MutantCode};
use dp_cluster::{Points, PublicBox};
use dp_mechanism::{
    DiscreteGaussian, Geometric, Law, Mechanism, Nearby, Noise, Ratio, RoundedGaussian, Source,
};

use crate::map::{Plan, budget, domain, honest, moves, pair_of, pairs, plan, weights};
use dp_cluster::map::{PrivateMap, PrivateMapSettings};

pub(crate) fn code() -> [MutantCode; 5] {
    [
        ("M70", |effort| short_moves(effort, hard_cells), |effort| short_moves(effort, honest)),
        ("M71", |effort| in_degrees(effort, true), |effort| in_degrees(effort, false)),
        ("M72", |effort| moves(effort, each_level_as_if_alone), |effort| moves(effort, honest)),
        ("M73", |effort| moves(effort, nothing_for_the_empty), |effort| moves(effort, honest)),
        (
            "M74",
            |effort| moves(effort, as_if_outside_did_not_count),
            |effort| moves(effort, honest),
        ),
    ]
}

/// A move of a hundredth of a cell across the middle between two vertices.
fn short_moves(effort: Effort, run: fn(&Plan, &Points, &mut dyn Source) -> Vec<u64>) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(125);
    let (plan, rho) = plan(2, 0, 30, (2, 2), 0.01);
    let claimed = plan.receipt().zcdp().expect("Gaussian").get();
    for pair in pairs(&domain(2, 0), 2, rho, &mut rng) {
        let run = |points: &Points, draws: &mut dyn Source| run(&plan, points, draws);
        let seen = pair_of(Within::new(rho).expect("above 0"), &[1.0; 58], &pair, 2, run, &mut rng);
        found.see(seen.rho() / claimed, || format!("{pair:?}"));
    }
    found
}

/// Every record counts for the nearest vertex alone, with the noise of shares.
fn hard_cells(plan: &Plan, points: &Points, draws: &mut dyn Source) -> Vec<u64> {
    let snapped = points.view().coords().iter().map(|x| (x / 5.0).round() * 5.0).collect();
    honest(plan, &Points::new(snapped, points.dim()).expect("rows"), draws)
}

/// Two degrees of latitude and longitude, and neighbours 50 metres apart: an honest map has places in metres. The mutant has them in degrees, and
/// takes 50 metres for 1/2200 of a degree in every direction, which east to west, at 60 degrees north, are 25 metres.
fn in_degrees(effort: Effort, mixed: bool) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(126);
    let metres = 110_000.0;
    let (public_box, rho) = if mixed {
        (PublicBox::new(vec![59.0, 10.0], vec![61.0, 12.0]).expect("valid"), 50.0 / metres)
    } else {
        let max = vec![2.0 * metres, metres];
        (PublicBox::new(vec![0.0, 0.0], max).expect("valid"), 50.0)
    };
    let near = Nearby::new(rho).expect("above 0");
    let settings = PrivateMapSettings { levels: Some(1..=3), fit_steps: 20, ..Default::default() };
    let plan = PrivateMap::within(public_box.clone(), near, 2, budget(), settings).expect("valid");
    let claimed = plan.receipt().zcdp().expect("Gaussian").get();
    for angle in 0..effort.of(16, 64) {
        let (sine, cosine) = (f64::from(angle) / 16.0 * std::f64::consts::TAU).sin_cos();
        // In the middle of the box, a vertex of all levels.
        let middle = [public_box.middle(0), public_box.middle(1)];
        let (north, east) = (49.999_999 * cosine, 49.999_999 * sine);
        let moved = if mixed {
            vec![middle[0] + north / metres, middle[1] + east / (metres / 2.0)]
        } else {
            vec![middle[0] + north, middle[1] + east]
        };
        let pair = [middle.to_vec(), moved];
        let run = |points: &Points, draws: &mut dyn Source| honest(&plan, points, draws);
        let seen = pair_of(Within::new(rho).expect("above 0"), &middle, &pair, 2, run, &mut rng);
        found.see(seen.rho() / claimed, || format!("50 m in direction {angle}"));
    }
    found
}

/// Between the map and its draws: what happens to noise.
struct Changed<'a> {
    draws: &'a mut dyn Source,
    change: fn(i64, RoundedGaussian) -> Option<RoundedGaussian>,
}

impl Source for Changed<'_> {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.draws.promised(relation);
    }

    fn draw(&mut self, law: Law<'_>) -> i64 {
        let Law::Noisy { value, noise: Noise::Rounded(noise) } = law else {
            panic!("a map draws nothing else")
        };
        match (self.change)(value, noise) {
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

fn part(noise: RoundedGaussian, parts: u128) -> Option<RoundedGaussian> {
    let variance = noise.variance().checked_mul(Ratio::new(1, parts).ok()?)?;
    RoundedGaussian::new(variance).ok()
}

/// Each of up to four levels gets the noise of the whole budget.
fn each_level_as_if_alone(plan: &Plan, points: &Points, draws: &mut dyn Source) -> Vec<u64> {
    let change = match plan.levels().len() {
        1 => |_, noise| part(noise, 1),
        2 => |_, noise| part(noise, 2),
        _ => |_, noise| part(noise, 4),
    };
    weights(&plan.replay(points.view(), &mut Changed { draws, change }).0)
}

/// A vertex without any share gets no noise.
fn nothing_for_the_empty(plan: &Plan, points: &Points, draws: &mut dyn Source) -> Vec<u64> {
    let change = |value, noise| if value == 0 { None } else { part(noise, 1) };
    weights(&plan.replay(points.view(), &mut Changed { draws, change }).0)
}

/// A record outside of the box is dropped: whoever moves across the border comes or goes.
fn as_if_outside_did_not_count(plan: &Plan, points: &Points, draws: &mut dyn Source) -> Vec<u64> {
    let inside = points.view().rows().filter(|row| row.iter().all(|x| *x >= -10.0 && *x <= 10.0));
    let kept: Vec<f64> = inside.flatten().copied().collect();
    honest(plan, &Points::new(kept, points.dim()).expect("rows"), draws)
}

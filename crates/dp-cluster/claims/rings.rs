//! Checks of ring rounds as a whole.

use dp_accounting::{AnyRelation, Budget, Epsilon};
use dp_audit::harness::{Check, Effort, Found};
use dp_audit::{Method, compare};
use dp_cluster::rings::{RingRounds, RingRoundsSettings};
use dp_cluster::{ClusterError, Clustering, Points, PublicBox};
use dp_mechanism::{
    DiscreteGaussian, Geometric, Law, Mechanism, Noise, RoundedGaussian, SecureSource, Source,
};
use rand::RngExt;

use crate::neighbours::{one_more, replay};

pub(crate) fn checks() -> Vec<Check> {
    let check = |id: &str, mechanism: &str, method, run: fn(Effort) -> Found| {
        Check::new(id, mechanism, "add-remove", method, run)
    };
    vec![
        check("rings-transcript", "RingRounds, a whole run", Method::Exact, |e| {
            transcripts(e, honest)
        }),
        check("rings-kinds", "RingRounds, counts and sums apart", Method::Exact, |e| {
            kinds(e, honest)
        }),
        check("rings-borders", "RingRounds, records on borders", Method::Exact, |e| {
            borders(e, honest)
        }),
        check("rings-receipt", "RingRounds, receipt against budget", Method::Ledger, receipts),
    ]
}

/// How the draws of a plan reach the source; a mutant puts something in between.
pub(crate) type Through = fn(&RingRounds, &Points, &mut dyn Source) -> Clustering;

/// The plan as it is.
pub(crate) fn honest(plan: &RingRounds, points: &Points, draws: &mut dyn Source) -> Clustering {
    plan.replay(points.view(), draws).0
}

/// In the cube of ten around the origin.
pub(crate) fn plan(
    dim: usize,
    k: usize,
    epsilon: f64,
    settings: RingRoundsSettings,
) -> Result<RingRounds, ClusterError> {
    let public_box = PublicBox::cube(dim, -10.0, 10.0).expect("valid");
    RingRounds::new(public_box, k, Budget::new(epsilon, 1e-6).expect("valid"), settings)
}

/// Few planes and many, no group and many.
fn plans(dim: usize) -> [RingRounds; 3] {
    [
        plan(dim, 3, 8.0, RingRoundsSettings { most_planes: 3, rounds: 2, ..Default::default() }),
        plan(dim, 2, 100.0, RingRoundsSettings { most_planes: 2, ..Default::default() }),
        plan(dim, 1, 1.0, RingRoundsSettings { most_planes: 0, ..Default::default() }),
    ]
    .map(|plan| plan.expect("valid settings"))
}

/// What all draws of a run give away together, as a share of what the receipt says.
pub(crate) fn transcripts(effort: Effort, through: Through) -> Found {
    let mut found = Found::claim(1.0);
    for shape in effort.of([(1, 50), (2, 300), (5, 200)], [(1, 2_000), (3, 5_000), (40, 1_000)]) {
        for plan in plans(shape.0) {
            let claimed = claimed(&plan);
            let run = |points: &Points, draws: &mut dyn Source| through(&plan, points, draws);
            replay(effort, 66, shape, run, |seen, text| found.see(seen.rho() / claimed, text));
        }
    }
    found
}

fn claimed(plan: &RingRounds) -> f64 {
    plan.receipt().zcdp().expect("all steps are Gaussian").get()
}

/// Noise above this variance is that of a sum, in units of a radius; below, of a count, in records.
pub(crate) const LEAST_OF_SUMS: u128 = 1 << 25;

pub(crate) fn is_of_sum(noise: RoundedGaussian) -> bool {
    noise.variance().numerator() / noise.variance().denominator().get() >= LEAST_OF_SUMS
}

/// Notes which draws are those of sums.
struct Noted<'a> {
    draws: &'a mut dyn Source,
    of_sums: Vec<bool>,
}

impl Source for Noted<'_> {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.draws.promised(relation);
    }

    fn draw(&mut self, law: Law<'_>) -> i64 {
        let Law::Noisy { noise: Noise::Rounded(noise), .. } = law else {
            panic!("ring rounds draw nothing else")
        };
        self.of_sums.push(is_of_sum(noise));
        self.draws.draw(law)
    }

    fn noisy_vector(&mut self, _: &mut [i64], _: DiscreteGaussian) {
        panic!("ring rounds draw nothing else")
    }

    fn noisy_max(&mut self, _: &[i64], _: Geometric) -> (usize, i64) {
        panic!("ring rounds draw nothing else")
    }
}

/// What counts give away of their own part of the receipt, and sums of theirs: one that overspends does not show in the total if the
/// other is cheap.
pub(crate) fn kinds(effort: Effort, through: Through) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(67);
    for dim in [1, 2, 5] {
        for plan in plans(dim) {
            // The default weight: counts of a round cost 1.44 of 2.44, and the number of records 1 of 100.
            let whole = claimed(&plan);
            let of_sums = 0.99 * whole / 2.44;
            for case in 0..effort.of(15, 500) {
                let spread = [1e-3, 0.1, 3.0, 9.0][case % 4];
                let side = |i: usize| if (i / dim).is_multiple_of(2) { -4.0 } else { 4.0 };
                let without = (0..100 * dim).map(|i| side(i) + rng.random_range(-spread..spread));
                let without: Vec<f64> = without.collect();
                let added: Vec<f64> = (0..dim).map(|_| rng.random_range(-11.0..11.0)).collect();
                let with = [without.as_slice(), &added].concat();
                let [a, b] = [without, with].map(|x| Points::new(x, dim).expect("whole rows"));
                let run = |points: &Points, draws: &mut dyn Source| through(&plan, points, draws);
                let mut draws = SecureSource::new(&mut rng);
                let mut noted = Noted { draws: &mut draws, of_sums: Vec::new() };
                let seen = compare(&one_more(), run, &a, &b, &mut noted);
                let broken = seen.rho().is_infinite();
                for (sums, claimed) in [(true, of_sums), (false, whole - of_sums)] {
                    let steps = seen.steps.iter().zip(&noted.of_sums);
                    let steps = steps.filter(|(_, of_sum)| **of_sum == sums);
                    let cost = steps.map(|(step, _)| step.rho).sum::<f64>() / claimed;
                    let text = || format!("{dim}: sums {sums}: {added:?}");
                    found.see(if broken { f64::INFINITY } else { cost }, text);
                }
            }
        }
    }
    found
}

/// A new record exactly on a ring around the middle, a step of a float inside and outside of it, on the planes, far away, and no number,
/// beside enough others that its cell is a group.
pub(crate) fn borders(effort: Effort, through: Through) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(68);
    for dim in [1, 2, 7] {
        let settings = RingRoundsSettings { most_planes: 1, rounds: 2, ..Default::default() };
        let plan = plan(dim, 2, 50.0, settings).expect("valid settings");
        let claimed = claimed(&plan);
        let diagonal = 20.0 * (dim as f64).sqrt();
        for halvings in [1, 2, 3, 10, 21] {
            let radius = diagonal / f64::from(1 << halvings);
            let mut places = vec![radius, radius.next_down(), radius.next_up(), -radius];
            places.extend([0.0, -0.0, f64::NAN, f64::INFINITY, 1e300, 5e-324]);
            for place in places {
                let along = |x: f64| [vec![x], vec![0.0; dim - 1]].concat();
                let others = (0..effort.of(20, 200)).flat_map(|_| along(0.9 * place));
                let others: Vec<f64> = others.collect();
                let with = [others.as_slice(), &along(place)].concat();
                let [a, b] = [others, with].map(|x| Points::new(x, dim).expect("whole rows"));
                let run = |points: &Points, draws: &mut dyn Source| through(&plan, points, draws);
                for (a, b) in [(&a, &b), (&b, &a)] {
                    let seen = compare(&one_more(), run, a, b, &mut SecureSource::new(&mut rng));
                    found.see(seen.rho() / claimed, || format!("{dim}: {place} at {radius}"));
                }
            }
        }
    }
    found
}

/// What receipts add up to, as a share of the budget asked for, over random settings.
fn receipts(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(69);
    for i in 0..effort.of(1_000_usize, 20_000) {
        let epsilon = 10_f64.powf(rng.random_range(-2.0..2.0));
        let delta = 10_f64.powf(rng.random_range(-15.0..-1.0));
        let public_box = PublicBox::cube(1 + i % 11, 0.0, 1.0).expect("valid");
        let budget = Budget::new(epsilon, delta).expect("valid");
        let rounds = 1 + i % 20;
        // Any growth, but a first round that has a thousandth of the last at least.
        let settings = RingRoundsSettings {
            rounds,
            growth: rng.random_range(1.0..2.0_f64.min(1e3_f64.powf(1.0 / rounds as f64))),
            count_weight: Some(10_f64.powf(rng.random_range(-1.0..1.0))),
            ..Default::default()
        };
        let plan = RingRounds::new(public_box, 2, budget, settings).expect("valid settings");
        let receipt = plan.receipt();
        let spent = receipt.epsilon().map_or(f64::INFINITY, Epsilon::get);
        let over = !receipt.within_budget();
        found.see(if over { f64::INFINITY } else { spent / epsilon }, || {
            format!("epsilon {epsilon}, delta {delta}, {settings:?}")
        });
    }
    found
}

//! Broken variants of the baselines: the real code, with something put between it and its draws, or
//! with an input that should have been public.

use crate::neighbours::one_more;
use dp_accounting::{AnyRelation, Budget};
use dp_audit::harness::{Effort, Found, MutantCode};
use dp_audit::{Comparison, compare};
use dp_cluster::Clustering;
use dp_cluster::dp_lloyd::{BudgetSplit, DpLloyd};
use dp_cluster::em_mc::{EmMc, EmMcSettings};
use dp_cluster::local_search::Objective;
use dp_cluster::lsh_splits::{LshSplits, LshSplitsSettings};
use dp_geometry::{Points, PublicBall};
use dp_mechanism::{
    DiscreteGaussian, DiscreteLaplace, Geometric, Law, Mechanism, Noise, Ratio, SecureSource,
    Source,
};

use crate::{coreset, dp_lloyd, em_mc};

pub(crate) fn code() -> [MutantCode; 8] {
    [
        ("M20", |effort| swapped(effort, 10, true), |effort| swapped(effort, 10, false)),
        ("M20-wide", |effort| swapped(effort, 100, true), |effort| swapped(effort, 100, false)),
        ("M21", |effort| empty_clusters(effort, true), |effort| empty_clusters(effort, false)),
        ("M22", |effort| centred(effort, true), |effort| centred(effort, false)),
        ("M23", |effort| empty_centres(effort, true), |effort| empty_centres(effort, false)),
        (
            "M24",
            |effort| em_mc::choices(effort, forgotten_between_scales),
            |effort| em_mc::choices(effort, em_mc::honest),
        ),
        (
            "M25",
            |effort| em_mc::choices(effort, stopped_when_idle),
            |effort| em_mc::choices(effort, em_mc::honest),
        ),
        (
            "M26",
            |effort| em_mc::choices(effort, on_all_records),
            |effort| em_mc::choices(effort, em_mc::honest),
        ),
    ]
}

/// Gives each coordinate the noise of the share of a size, and each size that of a coordinate.
struct Swapped<'a> {
    draws: &'a mut dyn Source,
    /// Share of a size over share of a coordinate.
    ratio: Ratio,
}

impl Source for Swapped<'_> {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.draws.promised(relation);
    }

    fn draw(&mut self, law: Law<'_>) -> i64 {
        let Law::Noisy { value, noise: Noise::Laplace(noise) } = law else {
            panic!("the pure form draws nothing else")
        };
        // A coordinate is counted in fine units, a size in records.
        let is_coordinate = noise.scale().numerator() / noise.scale().denominator() > 50_000;
        let factor = if is_coordinate { self.ratio.recip().expect("positive") } else { self.ratio };
        let scale = noise.scale();
        // Scales have up to 48 bits; cutting the factor's product to 16 after the point is enough.
        let scaled = scale.checked_mul(factor).expect("in range");
        let whole = (scaled.numerator() << 16) / scaled.denominator();
        let scale = Ratio::new(whole, 1 << 16).expect("in range");
        let noise = DiscreteLaplace::new(scale).expect("positive");
        self.draws.draw(Law::Noisy { value, noise: Noise::Laplace(noise) })
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        self.draws.noisy_vector(values, noise);
    }

    fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
        self.draws.noisy_max(scores, noise)
    }
}

/// One record in the corner of the box, more or less, in a pure run.
fn swapped(effort: Effort, dim: usize, swap: bool) -> Found {
    let plan = dp_lloyd::plan(dim, 1, BudgetSplit::Pure, 2);
    let mut found = Found::claim(plan.receipt().pure().expect("all steps are pure").get());
    let ratio = (4.0 * dim as f64 * 0.225 * 0.225).cbrt();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 3, in 2^-20")]
    let ratio = Ratio::new((ratio * 1_048_576.0) as u128, 1 << 20).expect("positive");
    let run = |points: &Points, draws: &mut dyn Source| {
        if swap {
            plan.replay(points.view(), &mut Swapped { draws, ratio }).0
        } else {
            plan.replay(points.view(), draws).0
        }
    };
    let mut rng = effort.rng(80);
    for corner in [-10.0, 10.0] {
        let without = Points::new(vec![0.0; 20 * dim], dim).expect("whole rows");
        let with = [without.view().coords(), &vec![corner; dim]].concat();
        let with = Points::new(with, dim).expect("whole rows");
        let comparison =
            compare(&one_more(), run, &with, &without, &mut SecureSource::new(&mut rng));
        found.see(comparison.pure_loss(), || format!("a record at {corner} in {dim} dimensions"));
    }
    found
}

/// Leaves sums and sizes of clusters without records as they are.
struct NoNoiseOnZero<'a>(&'a mut dyn Source);

impl Source for NoNoiseOnZero<'_> {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.0.promised(relation);
    }

    fn draw(&mut self, law: Law<'_>) -> i64 {
        if matches!(law, Law::Noisy { value: 0, .. }) { 0 } else { self.0.draw(law) }
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

/// Copies of one record, and one more far away: DP-Lloyd with four clusters.
fn empty_clusters(effort: Effort, silent: bool) -> Found {
    let plan = dp_lloyd::plan(2, 4, BudgetSplit::Joint, 3);
    let run = |points: &Points, draws: &mut dyn Source| -> Clustering {
        let plan: &DpLloyd = &plan;
        if silent {
            plan.replay(points.view(), &mut NoNoiseOnZero(draws)).0
        } else {
            plan.replay(points.view(), draws).0
        }
    };
    let claimed = plan.receipt().zcdp().expect("all steps are zCDP").get();
    far_record(effort, claimed, run, Comparison::rho)
}

/// The same for the sizes of released centres.
fn empty_centres(effort: Effort, silent: bool) -> Found {
    let budget = Budget::new(0.5, 0.0).expect("valid");
    let plan = coreset::plan(vec![-8.0, -8.0, 0.0, 0.0, 9.0, 9.0], 2, budget);
    let run = |points: &Points, draws: &mut dyn Source| {
        if silent {
            plan.replay(points.view(), &mut NoNoiseOnZero(draws)).0
        } else {
            plan.replay(points.view(), draws).0
        }
    };
    let claimed = plan.receipt().pure().expect("a pure loss").get();
    far_record(effort, claimed, run, Comparison::pure_loss)
}

fn far_record<O: PartialEq + serde::Serialize>(
    effort: Effort,
    claimed: f64,
    run: impl Fn(&Points, &mut dyn Source) -> O,
    loss: impl Fn(&Comparison) -> f64,
) -> Found {
    let mut found = Found::claim(claimed);
    let mut rng = effort.rng(81);
    let copies = vec![-8.0; 400];
    let with = [copies.as_slice(), &[10.0, 10.0]].concat();
    let [without, with] = [copies, with].map(|c| Points::new(c, 2).expect("whole rows"));
    for _ in 0..effort.of(5, 50) {
        let comparison =
            compare(&one_more(), &run, &with, &without, &mut SecureSource::new(&mut rng));
        found.see(loss(&comparison), || "200 copies and one far record".to_owned());
    }
    found
}

/// Takes the ball around the true mean of the records for a public one.
fn centred(effort: Effort, on_the_mean: bool) -> Found {
    let (dim, radius) = (2, 9.0);
    let budget = Budget::new(1.0, 1e-6).expect("valid");
    let plan = |points: &Points| {
        let mean = |i: usize| {
            let sum: f64 = points.view().rows().map(|row| row[i]).sum();
            sum / points.len().max(1) as f64
        };
        let centre = if on_the_mean { (0..dim).map(mean).collect() } else { vec![0.0; dim] };
        let ball = PublicBall::new(centre, radius).expect("valid");
        LshSplits::new(ball, 2, budget, LshSplitsSettings::default()).expect("valid settings")
    };
    let run = |points: &Points, draws: &mut dyn Source| -> Clustering {
        plan(points).replay(points.view(), draws).0
    };
    let origin = Points::new(vec![0.0; dim], dim).expect("whole rows");
    let claimed = plan(&origin).receipt().zcdp().expect("all steps are zCDP").get();
    // Records of all directions close to the mean: moving it moves many to the other side.
    let mut found = Found::claim(claimed);
    let mut rng = effort.rng(82);
    let around = (0..1_000).flat_map(|i| {
        let (sine, cosine) = (f64::from(i) * std::f64::consts::TAU / 1_000.0).sin_cos();
        [1e-3 * cosine, 1e-3 * sine]
    });
    let around: Vec<f64> = around.collect();
    let with = [around.as_slice(), &[6.0, 6.0]].concat();
    let [without, with] = [around, with].map(|c| Points::new(c, dim).expect("whole rows"));
    for _ in 0..effort.of(3, 30) {
        let comparison =
            compare(&one_more(), run, &with, &without, &mut SecureSource::new(&mut rng));
        found.see(comparison.rho(), || {
            "1,000 records in a small circle, and one far away".to_owned()
        });
    }
    found
}

/// Lets records count again at the next scale: each scale is a run of its own, for the price of one.
fn forgotten_between_scales(plan: &EmMc, points: &Points, draws: &mut dyn Source) -> Vec<i64> {
    let mut chosen = Vec::new();
    for _scale in 0..2 {
        chosen.extend(em_mc::honest(&one_scale(plan), points, draws));
    }
    chosen
}

/// The same epsilon for the choices, and one scale.
fn one_scale(plan: &EmMc) -> EmMc {
    let budget = plan.receipt().budget();
    let settings = EmMcSettings {
        objective: Objective::KMedian,
        shifts: 1,
        finest_halvings: 1,
        picks_per_scale: Some(1),
        ..Default::default()
    };
    em_mc::plan(1, 1, budget, settings).expect("valid settings")
}

/// Keeps every record, at the rate that is made for a sample.
fn on_all_records(plan: &EmMc, points: &Points, draws: &mut dyn Source) -> Vec<i64> {
    struct KeepAll<'a>(&'a mut dyn Source);
    impl Source for KeepAll<'_> {
        fn promised(&mut self, relation: Option<AnyRelation>) {
            self.0.promised(relation);
        }

        fn draw(&mut self, law: Law<'_>) -> i64 {
            if matches!(law, Law::Keep { .. }) { 1 } else { self.0.draw(law) }
        }

        fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
            self.0.noisy_vector(values, noise);
        }

        fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
            self.0.noisy_max(scores, noise)
        }
    }
    em_mc::honest(plan, points, &mut KeepAll(draws))
}

/// Ends the list of choices where nothing is left to cover.
fn stopped_when_idle(plan: &EmMc, points: &Points, draws: &mut dyn Source) -> Vec<i64> {
    let mut only = em_mc::ChoicesOnly { draws, chosen: Vec::new(), idle_from: None };
    plan.replay(points.view(), &mut only);
    only.chosen.truncate(only.idle_from.unwrap_or(usize::MAX));
    only.chosen
}

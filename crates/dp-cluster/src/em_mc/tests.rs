//! Settings, odd data, receipts, scores against plain counts, and quality.

use dp_accounting::{AnyRelation, Budget, Epsilon};
use dp_geometry::{PointsView, PublicBox};
use dp_mechanism::{
    DiscreteGaussian, Draws, Geometric, Law, Mechanism, Private, SecureSource, Source,
};
use rand::RngExt;

use super::cover::cover;
use super::{BudgetSplit, EmMc, EmMcSettings, Selection};
use crate::ClusterError;
use crate::local_search::Objective;
use crate::metrics::{inertia, squared_inertia};
use crate::testing::{adversarial, blobs, rng};

fn cube(dim: usize) -> PublicBox {
    PublicBox::cube(dim, -10.0, 10.0).expect("valid")
}

fn budget(epsilon: f64) -> Budget {
    Budget::new(epsilon, 1e-6).expect("valid")
}

fn pure(epsilon: f64) -> Budget {
    Budget::new(epsilon, 0.0).expect("valid")
}

fn planned(dim: usize, k: usize, settings: EmMcSettings) -> Result<EmMc, ClusterError> {
    EmMc::new(cube(dim), k, budget(1.0), settings)
}

#[test]
fn settings_out_of_range_are_refused_with_their_value() {
    let split = |cover, weights| BudgetSplit { cover, weights };
    let d = EmMcSettings::default();
    let of = |settings| planned(2, 2, settings);
    for (plan, want) in [
        (planned(2, 0, d), "k must be between 1 and 8192, got 0"),
        (
            of(EmMcSettings { projected_dim: 33, ..d }),
            "projected_dim must be between 1 and 32, got 33",
        ),
        (of(EmMcSettings { shifts: 0, ..d }), "shifts must be between 1 and 64, got 0"),
        (
            of(EmMcSettings { finest_halvings: 31, ..d }),
            "finest_halvings must be between 1 and 30, got 31",
        ),
        (
            of(EmMcSettings { picks_per_scale: Some(0), ..d }),
            "picks_per_scale must be between 1 and 16384, got 0",
        ),
        (
            of(EmMcSettings { split: split(0.0, 0.1), ..d }),
            "cover must be a share above 0 and below 1, got 0",
        ),
        (
            of(EmMcSettings { split: split(0.1, f64::NAN), ..d }),
            "weights must be a share above 0 and below 1, got NaN",
        ),
        (
            of(EmMcSettings { split: split(0.75, 0.5), ..d }),
            "cover + weights must be below 1, got 1.25",
        ),
        (
            planned(3, 2, EmMcSettings { objective: Objective::KMedian, projected_dim: 2, ..d }),
            "projected_dim must be at least the dimension, for k-median, got 2",
        ),
        (
            EmMc::new(cube(2), 2, pure(1.0), d),
            "delta must be above 0, unless for k-median with pure selection, got 0",
        ),
    ] {
        assert_eq!(plan.expect_err("out of range").to_string(), want);
    }
}

/// Whatever the records, at most `k` centres come out, all of them in the box.
#[test]
fn odd_data_is_released_like_any_other() {
    for dim in [1, 2, 7] {
        for settings in [
            planned(dim, 3, EmMcSettings::default()),
            planned(dim, 150, EmMcSettings { picks_per_scale: Some(20), ..Default::default() }),
            planned(
                dim,
                5,
                EmMcSettings {
                    selection: Selection::Approximate,
                    projected_dim: 1,
                    ..Default::default()
                },
            ),
            EmMc::new(
                cube(dim),
                4,
                pure(0.5),
                EmMcSettings { objective: Objective::KMedian, ..Default::default() },
            ),
            EmMc::new(
                cube(dim),
                4,
                Budget::new(1e-2, 1e-12).expect("valid"),
                EmMcSettings::default(),
            ),
            EmMc::new(
                cube(dim),
                4,
                budget(100.0),
                EmMcSettings { split: BudgetSplit::PAPER, ..Default::default() },
            ),
        ] {
            let plan = settings.expect("valid");
            for (name, points) in adversarial(dim, 600) {
                let output = plan.simulate(points.view(), &mut rng(3)).expect("it fits").output;
                let centres = output.centres.view();
                assert!((1..=plan.asked.k).contains(&centres.len()), "{name}");
                assert!(centres.rows().all(|centre| cube(dim).contains(centre)), "{name}");
                let coreset = output.coreset.map(|coreset| coreset.len());
                assert_eq!(coreset, plan.projection.is_identity().then(|| plan.picks()), "{name}");
            }
        }
    }
    let settings = EmMcSettings { picks_per_scale: Some(4), ..Default::default() };
    let plan = planned(784, 10, settings).expect("valid");
    for (name, points) in adversarial(784, 40) {
        let output = plan.simulate(points.view(), &mut rng(4)).expect("it fits").output;
        assert!(output.centres.view().rows().all(|c| cube(784).contains(c)), "{name}");
    }
}

/// The receipt stays within the budget to the last digit and uses it, whatever the settings.
#[test]
fn receipts_stay_within_the_budget() {
    let mut rng = rng(5);
    for i in 0..1_000_usize {
        let epsilon = 10_f64.powf(rng.random_range(-2.0..2.0));
        let delta = 10_f64.powf(rng.random_range(-15.0..-1.0));
        let (cover, weights) = (rng.random_range(0.02..0.4), rng.random_range(0.02..0.4));
        let median = i % 3 == 0;
        let selection = if i % 2 == 0 { Selection::Pure } else { Selection::Approximate };
        let zero = median && selection == Selection::Pure;
        let budget = Budget::new(epsilon, if zero { 0.0 } else { delta }).expect("valid");
        let settings = EmMcSettings {
            split: BudgetSplit { cover, weights },
            selection,
            objective: if median { Objective::KMedian } else { Objective::KMeans },
            ..Default::default()
        };
        let plan = EmMc::new(cube(1), 1, budget, settings).expect("valid settings");
        let receipt = plan.receipt();
        let spent = receipt.epsilon().map_or(f64::INFINITY, Epsilon::get);
        assert!(receipt.within_budget(), "{epsilon} {delta}: {spent}");
        let pure = receipt.pure().map_or(0.0, Epsilon::get);
        // At a large delta, losses that were given out as pure add up to less.
        let uses_all = !median || zero;
        assert!(!uses_all || spent.max(pure) > 0.99 * epsilon, "{epsilon} {delta}: {spent}");
    }
}

/// Passes on draws, and compares the scores of every choice with counts made afresh.
struct Recount<'a> {
    plan: &'a EmMc,
    projected: &'a [f64],
    draws: &'a mut dyn Source,
    kept: Vec<bool>,
    next: usize,
    choices: usize,
}

impl Recount<'_> {
    fn cells(&self, scale: usize, record: usize) -> Vec<u64> {
        let (grids, dim) = (&self.plan.scales[scale], self.plan.projection.dim());
        let mut cells = vec![0; grids.shifts()];
        let point = &self.projected[record * dim..][..dim];
        grids.cells(point, &mut cells);
        cells
    }
}

impl Source for Recount<'_> {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.draws.promised(relation);
    }

    fn draw(&mut self, law: Law<'_>) -> i64 {
        let drawn = self.draws.draw(law);
        match law {
            Law::Keep { .. } => {
                self.kept[self.next] = drawn == 1;
                self.next += 1;
            }
            Law::SparseChoice { scores, .. } => {
                let scale = self.choices / self.plan.asked.picks();
                self.choices += 1;
                let mut counts = std::collections::BTreeMap::new();
                for record in (0..self.kept.len()).filter(|&record| self.kept[record]) {
                    for cell in self.cells(scale, record) {
                        *counts.entry(cell).or_insert(0) += 1;
                    }
                }
                let listed = scores.listed().filter(|listed| listed.1 > 0);
                assert!(listed.eq(counts), "choice {}", self.choices);
                let chosen = u64::try_from(drawn).expect("a cell");
                for record in 0..self.kept.len() {
                    if self.cells(scale, record).contains(&chosen) {
                        self.kept[record] = false;
                    }
                }
            }
            _ => {}
        }
        drawn
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        self.draws.noisy_vector(values, noise);
    }

    fn noisy_max(&mut self, _: &[i64], _: Geometric) -> (usize, i64) {
        unreachable!("nothing draws a noisy maximum")
    }
}

/// Scores count exactly the records that are in the sample and in no chosen cell of any scale so far,
/// and the number of choices is fixed.
#[test]
fn scores_are_counts_of_uncovered_records() {
    for (selection, n) in
        [(Selection::Pure, 300), (Selection::Approximate, 200), (Selection::Pure, 0)]
    {
        let settings = EmMcSettings { selection, finest_halvings: 4, ..Default::default() };
        let plan = EmMc::new(cube(2), 3, budget(8.0), settings).expect("valid");
        let (points, _) = blobs(n, 2, 4, 8.0, 6);
        let projected =
            points.view().coords().iter().map(|x| x.clamp(-10.0, 10.0)).collect::<Vec<_>>();
        let mut rng = rng(7);
        let mut recount = Recount {
            plan: &plan,
            projected: &projected,
            draws: &mut SecureSource::new(&mut rng),
            kept: vec![true; n],
            next: 0,
            choices: 0,
        };
        let picks = plan.asked.picks();
        let run = (&plan.primitives.cover, &plan.primitives.choice);
        let view = Private::new(PointsView::new(&projected, 2).expect("whole rows"));
        let middles = cover(run, &plan.scales, picks, view, &mut Draws::unplanned(&mut recount));
        assert_eq!((recount.choices, middles.len()), (plan.picks(), 2 * plan.picks()));
        assert_eq!(plan.picks(), 6 * 4);
        assert!(n == 0 || recount.kept.iter().filter(|kept| !**kept).count() > n / 2);
    }
}

#[test]
fn threads_do_not_matter() {
    let (points, _) = blobs(3_000, 15, 5, 8.0, 8);
    let plan = planned(15, 5, EmMcSettings::default()).expect("valid");
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| plan.simulate(points.view(), &mut rng(9)).expect("it fits").output)
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn a_plan_is_read_back_through_its_checks() {
    let plan = planned(2, 4, EmMcSettings { public_seed: 9, ..Default::default() }).expect("valid");
    let text = serde_json::to_string(&plan).expect("serialises");
    assert_eq!(serde_json::from_str::<EmMc>(&text).expect("valid"), plan);
    let broken = text.replace("\"k\":4", "\"k\":0");
    assert_ne!(broken, text);
    assert!(serde_json::from_str::<EmMc>(&broken).is_err());
}

/// Well-separated clusters in few and in many dimensions: near their own spread.
#[test]
fn clusters_are_found_through_the_projection_too() {
    for dim in [4, 30] {
        let (points, truth) = blobs(30_000, dim, 8, 10.0, 10);
        let plan = planned(dim, 8, EmMcSettings::default()).expect("valid");
        let output = plan.simulate(points.view(), &mut rng(1)).expect("it fits").output;
        let found = squared_inertia(points.view(), output.centres.view()).unwrap();
        let best = squared_inertia(points.view(), truth.view()).unwrap();
        assert!(found < 2.0 * best, "{dim}: {found:.3e} against {best:.3e}");
    }
    // k-median, pure: no better than the middles of cells, far better than one centre.
    let (points, truth) = blobs(30_000, 2, 5, 10.0, 11);
    let settings =
        EmMcSettings { objective: Objective::KMedian, finest_halvings: 8, ..Default::default() };
    let plan = EmMc::new(cube(2), 5, pure(1.0), settings).expect("valid");
    let output = plan.simulate(points.view(), &mut rng(1)).expect("it fits").output;
    let found = inertia(points.view(), output.centres.view()).unwrap();
    let best = inertia(points.view(), truth.view()).unwrap();
    assert!(found < 2.0 * best, "{found:.3e} against {best:.3e}");
}

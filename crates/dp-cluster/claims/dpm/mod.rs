//! Checks of DPM as a whole.

pub(crate) mod gaps;
pub(crate) mod splits;

use std::cell::RefCell;

use crate::neighbours::one_more;
use crate::private_centres::variance;
use dp_accounting::{AnyRelation, Budget, Epsilon, Rho, Step};
use dp_audit::harness::{Check, Effort, Found, TOLERANCE};
use dp_audit::{Comparison, DrawKind, Method, compare};
use dp_cluster::dpm::{BudgetSplit, Dpm, DpmSettings, IntervalSize};
use dp_geometry::{Points, PublicBox};
use dp_mechanism::{
    ChaCha20Rng, DiscreteGaussian, Geometric, Law, Mechanism, Noise, SecureSource, Source,
};
use rand::RngExt;

use crate::mutants;

pub(crate) fn checks() -> Vec<Check> {
    let check = |id: &str, mechanism: &str, method, resolution, run: fn(Effort) -> Found| {
        Check::new(id, mechanism, "add-remove", method, run).resolution(resolution)
    };
    let exact = TOLERANCE;
    vec![
        check("dpm-cut", "Dpm, the cut of a node", Method::Exact, exact, |effort| {
            splits::worst_cut(effort, 2, splits::honest)
        }),
        check("dpm-cut-1d", "Dpm, the cut in one dimension", Method::Exact, exact, |effort| {
            splits::worst_cut(effort, 1, splits::honest)
        }),
        check("dpm-cut-weights", "Dpm, cuts with other weights", Method::Exact, exact, |effort| {
            splits::worst_cut_of_other_weights(effort)
        }),
        check("dpm-interval", "Dpm, the estimated interval size", Method::Exact, exact, |effort| {
            gaps::estimated_interval(effort, splits::honest)
        }),
        check("dpm-transcript", "Dpm, a whole run, zCDP", Method::Exact, exact, transcripts),
        check("dpm-steps", "Dpm, each step of a run", Method::Exact, exact, steps),
        check("dpm-receipt", "Dpm, receipt against budget", Method::Ledger, exact, receipts),
        check("dpm-cut-sampled", "Dpm, the cut as drawn", Method::Statistical, 1.25, |effort| {
            splits::sampled_cut(effort, splits::honest, mutants::with_printed_sensitivity)
        }),
    ]
}

/// Runs that release the same values on neighbouring sets: what all draws give away together, as a
/// share of what the receipt says. The worst transcripts are those on which the new point's own
/// path is long; they are met by running.
fn transcripts(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    replay(effort, |dpm, comparison, _, describe| {
        let claimed = dpm.receipt().zcdp().expect("all steps are zCDP").get();
        found.see(comparison.rho() / claimed, describe);
    });
    found
}

/// The same runs, step by step: a cheap step that overspends does not show in the total.
fn steps(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    replay(effort, |dpm, comparison, of_sums, describe| {
        found.see(worst_step(dpm, comparison, of_sums), describe);
    });
    found
}

/// The largest share of a step's own claim that its draw gives away. The nodes of a level are
/// disjoint, so the new point shows in one count and one cut per level and in one sum; draws come
/// level by level.
fn worst_step(dpm: &Dpm, comparison: &Comparison, of_sums: &[bool]) -> f64 {
    if comparison.failed() {
        return f64::INFINITY;
    }
    let receipt = dpm.receipt();
    let claims = |name: &str| -> Vec<f64> {
        spends(receipt.spent(), name).into_iter().map(Rho::get).collect()
    };
    let (counts, cuts, sums) = (claims("counts"), claims("cuts"), claims("sums of the leaves"));
    let interval = claims("interval size");
    let (mut next, mut of_sum) = ([0; 3], 0.0);
    let mut worst = 0.0_f64;
    for (position, (step, in_sum)) in comparison.steps.iter().zip(of_sums).enumerate() {
        if step.rho <= 0.0 {
            continue;
        }
        // The coordinates of one sum are draws of their own.
        if *in_sum {
            of_sum += step.rho;
            continue;
        }
        let (slot, claims) = match step.kind {
            DrawKind::Noisy => (0, &counts),
            // The first draw after the root's count, if it is estimated at all.
            DrawKind::Choice if position == 1 && !interval.is_empty() => (1, &interval),
            DrawKind::Choice => (2, &cuts),
            _ => return f64::INFINITY,
        };
        // A cut belongs to the level of the last count that has changed.
        let level = if slot == 2 { next[0] - 1 } else { next[slot] };
        next[slot] += 1;
        worst = worst.max(claims.get(level).map_or(f64::INFINITY, |claim| step.rho / claim));
    }
    worst.max(of_sum / sums[0])
}

/// Notes which draws are those of sums: normal noise of a variance that no count has.
struct Noted<'a> {
    draws: &'a mut dyn Source,
    of_counts: &'a [f64],
    of_sums: Vec<bool>,
}

impl Source for Noted<'_> {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.draws.promised(relation);
    }

    fn draw(&mut self, law: Law<'_>) -> i64 {
        self.of_sums.push(match law {
            Law::Noisy { noise: Noise::Rounded(noise), .. } => {
                let here = variance(noise);
                !self.of_counts.iter().any(|count| (count / here - 1.0).abs() < 1e-9)
            }
            _ => false,
        });
        self.draws.draw(law)
    }

    fn noisy_vector(&mut self, _: &mut [i64], _: DiscreteGaussian) {
        panic!("nothing draws whole vectors")
    }

    fn noisy_max(&mut self, _: &[i64], _: Geometric) -> (usize, i64) {
        panic!("nothing draws a maximum")
    }
}

/// zCDP costs of all spends below the step of this name, in order; or of the spend itself.
pub(crate) fn spends(step: &Step, name: &str) -> Vec<Rho> {
    match step {
        Step::Spend { loss, .. } if step.name() == name || name.is_empty() => {
            vec![loss.zcdp().expect("all steps are zCDP")]
        }
        Step::Sequential { steps, .. }
        | Step::Parallel { steps, .. }
        | Step::OneOf { steps, .. } => {
            let below = if step.name() == name { "" } else { name };
            steps.iter().flat_map(|step| spends(step, below)).collect()
        }
        _ => Vec::new(),
    }
}

/// Runs several plans on the adversarial library, with the new point first and last, and hands over
/// each comparison with a way to describe it.
fn replay(effort: Effort, mut visit: impl FnMut(&Dpm, &Comparison, &[bool], &dyn Fn() -> String)) {
    let mut rng = effort.rng(40);
    let shapes = effort.of(
        [(1, 50), (2, 400), (5, 300), (2, 20_000)],
        [(1, 500), (2, 5_000), (10, 3_000), (3, 200_000)],
    );
    for (dim, n) in shapes {
        let public_box = PublicBox::cube(dim, -10.0, 10.0).expect("valid");
        let plan = |epsilon, delta, settings| {
            Dpm::new(public_box.clone(), Budget::new(epsilon, delta).expect("valid"), settings)
        };
        let (d, size) = (DpmSettings::default(), IntervalSize::Estimated);
        for dpm in [
            plan(8.0, 1e-6, DpmSettings { max_depth: 4, ..d }),
            plan(1.0, 1e-6, DpmSettings { interval_size: size, ..d }),
            plan(
                30.0,
                1e-3,
                DpmSettings {
                    split: BudgetSplit::PAPER,
                    minimum_share: Some(1e-6),
                    max_depth: 6,
                    ..d
                },
            ),
        ] {
            let dpm = dpm.expect("valid settings");
            let receipt = dpm.receipt();
            let of_counts = spends(receipt.spent(), "counts");
            let of_counts: Vec<f64> = of_counts.into_iter().map(|rho| 0.5 / rho.get()).collect();
            let of_sums = RefCell::new(Vec::new());
            let run = |points: &Points, draws: &mut dyn Source| {
                let mut noted = Noted { draws, of_counts: &of_counts, of_sums: Vec::new() };
                let output = dpm.replay(points.view(), &mut noted).0;
                *of_sums.borrow_mut() = noted.of_sums;
                output
            };
            for (name, without) in families(dim, n, &mut rng) {
                for (i, added) in added_points(dim, n, &mut rng).into_iter().enumerate() {
                    let (first, last) =
                        if i % 2 == 0 { (&added, &without) } else { (&without, &added) };
                    let with = [first.as_slice(), last].concat();
                    let [a, b] = [without.clone(), with]
                        .map(|coords| Points::new(coords, dim).expect("whole rows"));
                    // Outcomes typical of the set without the point, then of the set with it.
                    for (a, b) in [(&a, &b), (&b, &a)] {
                        let comparison =
                            compare(&one_more(), run, a, b, &mut SecureSource::new(&mut rng));
                        visit(&dpm, &comparison, &of_sums.borrow(), &|| {
                            let text = format!("{n}: {name}, {added:.2?}: {comparison:?}");
                            text.chars().take(400).collect()
                        });
                    }
                }
            }
        }
    }
}

/// The adversarial library: empty, one point, copies, far outliers, lattices, records that are not
/// numbers.
pub(crate) fn families(
    dim: usize,
    n: usize,
    rng: &mut ChaCha20Rng,
) -> Vec<(&'static str, Vec<f64>)> {
    let two = (0..n).flat_map(|i| vec![if i % 2 == 0 { -5.0 } else { 5.0 }; dim]).collect();
    vec![
        ("nothing", vec![]),
        ("one point", vec![0.1; dim]),
        ("copies", vec![7.0; n * dim]),
        ("copies on a cut", vec![0.312_5; n * dim]),
        ("two places", two),
        ("random points", (0..n * dim).map(|_| rng.random_range(-12.0..12.0)).collect()),
        ("lattice points", (0..n * dim).map(|_| f64::from(rng.random_range(-4..4))).collect()),
        ("not numbers", vec![f64::NAN; n * dim]),
    ]
}

pub(crate) fn added_points(dim: usize, n: usize, rng: &mut ChaCha20Rng) -> Vec<Vec<f64>> {
    let all = vec![
        vec![-10.0; dim],
        vec![f64::INFINITY; dim],
        vec![0.0; dim],
        vec![f64::NAN; dim],
        (0..dim).map(|_| rng.random_range(-10.0..10.0)).collect(),
    ];
    // Large sets take long; two points are enough to see what depends on the size.
    all.into_iter().take(if n > 10_000 { 2 } else { 5 }).collect()
}

/// What receipts add up to, as a share of the budget asked for, over random settings.
fn receipts(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(41);
    for i in 0..effort.of(1_000_usize, 20_000) {
        let epsilon = 10_f64.powf(rng.random_range(-2.0..2.0));
        let delta = 10_f64.powf(rng.random_range(-15.0..-1.0));
        let mut share = || rng.random_range(0.01..0.3);
        let split = if i % 2 == 0 {
            BudgetSplit::Zcdp { interval: share(), counts: share(), cuts: share(), sums: share() }
        } else {
            BudgetSplit::Pure { interval: share(), counts: share(), cuts: share() }
        };
        let public_box = PublicBox::cube(1 + i % 7, 0.0, 1.0).expect("valid");
        let settings = DpmSettings {
            split,
            interval_size: if i % 3 == 0 {
                IntervalSize::Estimated
            } else {
                IntervalSize::default()
            },
            max_depth: 1 + i % 14,
            ..Default::default()
        };
        let dpm = Dpm::new(public_box, Budget::new(epsilon, delta).expect("valid"), settings)
            .expect("the shares leave something for the sums");
        let receipt = dpm.receipt();
        let spent = receipt.epsilon().map_or(f64::INFINITY, Epsilon::get);
        let over = !receipt.within_budget();
        found.see(if over { f64::INFINITY } else { spent / epsilon }, || {
            format!("epsilon {epsilon}, delta {delta}, {split:?}")
        });
    }
    found
}

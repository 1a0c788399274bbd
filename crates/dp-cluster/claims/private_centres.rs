//! Checks of candidates, of the choice among them, and of both within one budget.

use std::cell::RefCell;
use std::ops::Range;

use dp_accounting::{AnyRelation, Budget, Epsilon, Receipt, Rho, Step};
use dp_audit::harness::{Check, Effort, Found};
use dp_audit::{Method, Window, compare, exact_law};
use dp_cluster::local_search::Objective;
use dp_cluster::private_centres::{Payment, PrivateCentres, PrivateCentresSettings};
use dp_cluster::private_local_search::{PrivateLocalSearch, PrivateLocalSearchSettings};
use dp_cluster::stemmer_kaplan::{StemmerKaplan, StemmerKaplanSettings};
use dp_cluster::{AddRemove, Points, PublicBox};
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
        check(
            "private-centres-known",
            "PrivateCentres, cells that both have",
            Method::Exact,
            |e| known_cells(e, plainly),
        ),
        check("private-centres-new", "PrivateCentres, a cell of one record", Method::Exact, |e| {
            new_cells(e, plainly)
        }),
        check("private-centres-receipt", "PrivateCentres, receipt", Method::Ledger, receipts),
        check("private-local-search-choices", "PrivateLocalSearch, a run", Method::Exact, |e| {
            searches(e, plainly)
        }),
        check("private-local-search-pure", "PrivateLocalSearch, pure", Method::Exact, pure),
        check("stemmer-kaplan-farthest", "StemmerKaplan, its second round", Method::Exact, |e| {
            second_rounds(e, plainly)
        }),
        check("stemmer-kaplan-transcript", "StemmerKaplan, a whole run", Method::Exact, whole),
    ]
}

/// What a mutant makes of a draw, with the variances asked for so far.
pub(crate) type Instead = fn(&[f64], Law<'_>, &mut dyn Source) -> i64;

pub(crate) fn plainly(_: &[f64], law: Law<'_>, draws: &mut dyn Source) -> i64 {
    draws.draw(law)
}

/// Hands every draw to a mutant, and notes the variance that the mechanism asked for.
pub(crate) struct Through<'a> {
    draws: &'a mut dyn Source,
    instead: Instead,
    variances: Vec<f64>,
}

impl<'a> Through<'a> {
    pub(crate) fn new(draws: &'a mut dyn Source, instead: Instead) -> Self {
        Self { draws, instead, variances: Vec::new() }
    }
}

pub(crate) fn variance(noise: RoundedGaussian) -> f64 {
    let variance = noise.variance();
    variance.numerator() as f64 / variance.denominator().get() as f64
}

impl Source for Through<'_> {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.draws.promised(relation);
    }

    fn draw(&mut self, law: Law<'_>) -> i64 {
        self.variances.push(match law {
            Law::Noisy { noise: Noise::Rounded(noise), .. } => variance(noise),
            _ => 0.0,
        });
        (self.instead)(&self.variances, law, self.draws)
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        self.draws.noisy_vector(values, noise);
    }

    fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
        self.draws.noisy_max(scores, noise)
    }
}

/// How many cells show does not depend on noise in sums, which has too many values to go through: they get none.
struct CountsOnly<'a>(&'a mut dyn Source);

impl Source for CountsOnly<'_> {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.0.promised(relation);
    }

    fn draw(&mut self, law: Law<'_>) -> i64 {
        match law {
            Law::Noisy { value, noise: Noise::Rounded(noise) } if variance(noise) > 1e6 => value,
            other => self.0.draw(other),
        }
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        self.0.noisy_vector(values, noise);
    }

    fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
        self.0.noisy_max(scores, noise)
    }
}

fn inside(receipt: &Receipt<AddRemove>) -> f64 {
    receipt.zcdp_outside().map_or(f64::INFINITY, |(rho, _)| Rho::get(rho))
}

const PAYMENTS: [Payment; 2] = [Payment::AllRecords, Payment::Subsamples];

pub(crate) fn centres(dim: usize, epsilon: f64, delta: f64, payment: Payment) -> PrivateCentres {
    let public_box = PublicBox::cube(dim, -10.0, 10.0).expect("valid");
    let budget = Budget::new(epsilon, delta).expect("valid");
    let settings =
        PrivateCentresSettings { payment, levels: 1..=2, repetitions: 2, ..Default::default() };
    PrivateCentres::new(public_box, 2, budget, settings).expect("valid settings")
}

/// So many records at each of a few places.
fn crowds(places: &[Vec<f64>], each: usize) -> Vec<f64> {
    (0..each).flat_map(|_| places.concat()).collect()
}

fn points(coords: Vec<f64>, dim: usize) -> Points {
    Points::new(coords, dim).expect("whole rows")
}

/// A record where there are many: counts and sums of cells that both data sets have, as a share of what the receipt says beside the mass.
pub(crate) fn known_cells(effort: Effort, instead: Instead) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(120);
    for dim in [1, 3] {
        for payment in PAYMENTS {
            let plan = centres(dim, 8.0, 1e-3, payment);
            let claimed = inside(&plan.receipt());
            for case in 0..effort.of(40, 1_000) {
                let places: Vec<Vec<f64>> = (0..3)
                    .map(|_| (0..dim).map(|_| rng.random_range(-11.0..11.0)).collect())
                    .collect();
                let without = crowds(&places, 200);
                let with = [places[case % 3].as_slice(), &without].concat();
                let (without, with) = (points(without, dim), points(with, dim));
                let run = |points: &Points, draws: &mut dyn Source| {
                    plan.replay(points.view(), &mut Through::new(draws, instead)).0
                };
                for (a, b) in [(&without, &with), (&with, &without)] {
                    let seen = compare(&one_more(), run, a, b, &mut SecureSource::new(&mut rng));
                    found.see(seen.rho() / claimed, || format!("{payment:?} {places:?}"));
                }
            }
        }
    }
    found
}

/// A record where there is none: the probability that any cell shows, as a share of the mass that the receipt leaves out.
pub(crate) fn new_cells(_: Effort, instead: Instead) -> Found {
    let mut found = Found::claim(1.0);
    let public_box = PublicBox::cube(1, -10.0, 10.0).expect("valid");
    for payment in PAYMENTS {
        for (epsilon, delta) in [(1.0, 0.4), (2.0, 0.1), (5.0, 0.1), (0.7, 0.02), (30.0, 0.3)] {
            for repetitions in [1, 2] {
                let budget = Budget::new(epsilon, delta).expect("valid");
                let settings = PrivateCentresSettings {
                    payment,
                    levels: 1..=1,
                    repetitions,
                    ..Default::default()
                };
                let plan = PrivateCentres::new(public_box.clone(), 1, budget, settings)
                    .expect("valid settings");
                let (_, outside) = plan.receipt().zcdp_outside().expect("Gaussian");
                // The window begins below the threshold, so that both answers have a path.
                let window = Window::new(plan.threshold() - 3, plan.threshold() + 2);
                let shown = |coords: Vec<f64>| {
                    let points = points(coords, 1);
                    exact_law(window, |draws| {
                        let counts_only = &mut CountsOnly(draws);
                        let draws = &mut Through::new(counts_only, instead);
                        plan.replay(points.view(), draws).0.points().len()
                    })
                };
                let (none, one) = (shown(vec![]), shown(vec![0.3]));
                // At epsilon 0 that is the distance in total variation: from silence, the probability of anything else.
                let share = one.under(AddRemove).delta(&none.under(AddRemove), 0.0) / outside.get();
                found.see(share, || format!("{payment:?} {epsilon} {delta} {repetitions}"));
            }
        }
    }
    found
}

fn receipts(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(121);
    for i in 0..effort.of(200_usize, 5_000) {
        let epsilon = 10_f64.powf(rng.random_range(-1.0..2.0));
        let delta = 10_f64.powf(rng.random_range(-12.0..-1.0));
        let budget = Budget::new(epsilon, delta).expect("valid");
        let cube = || PublicBox::cube(1 + i % 3, 0.0, 1.0).expect("valid");
        let receipts = [
            PrivateCentres::new(
                cube(),
                2,
                budget,
                PrivateCentresSettings {
                    payment: PAYMENTS[i % 2],
                    repetitions: 1 + i % 4,
                    ..Default::default()
                },
            )
            .expect("valid settings")
            .receipt(),
            StemmerKaplan::new(
                cube(),
                2,
                budget,
                StemmerKaplanSettings {
                    payment: PAYMENTS[i % 2],
                    rounds: 1 + i % 3,
                    ..Default::default()
                },
            )
            .expect("valid settings")
            .receipt(),
        ];
        for receipt in receipts {
            let spent = receipt.epsilon().map_or(f64::INFINITY, Epsilon::get);
            let over = !receipt.within_budget();
            found.see(if over { f64::INFINITY } else { spent / epsilon }, || {
                format!("{} {epsilon} {delta}", receipt.mechanism())
            });
        }
    }
    found
}

pub(crate) fn search(
    dim: usize,
    k: usize,
    budget: Budget,
    objective: Objective,
) -> PrivateLocalSearch {
    let public_box = PublicBox::cube(dim, -10.0, 10.0).expect("valid");
    // Two opposite corners, and places between.
    let candidates = (0..5 * dim).map(|at| [-10.0, 10.0, 0.0, 3.0, -7.0][at / dim]).collect();
    let settings = PrivateLocalSearchSettings { objective, rounds: Some(3), ..Default::default() };
    PrivateLocalSearch::new(points(candidates, dim), public_box, k, budget, settings)
        .expect("valid settings")
}

/// Whole runs, as a share of what the receipt says in zCDP.
pub(crate) fn searches(effort: Effort, instead: Instead) -> Found {
    let mut found = Found::claim(1.0);
    for shape in effort.of([(1, 60), (2, 300)], [(2, 3_000), (9, 2_000)]) {
        for objective in [Objective::KMeans, Objective::KMedian] {
            for k in [1, 2] {
                let budget = Budget::new(0.5, 1e-6).expect("valid");
                let plan = search(shape.0, k, budget, objective);
                let claimed = plan.receipt().zcdp().expect("choices and counts").get();
                let run = |points: &Points, draws: &mut dyn Source| {
                    plan.replay(points.view(), &mut Through::new(draws, instead)).0
                };
                replay(effort, 122, shape, run, |seen, text| {
                    found.see(seen.rho() / claimed, text);
                });
            }
        }
    }
    found
}

/// The same without a delta, as pure losses.
fn pure(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    for shape in effort.of([(1, 60), (2, 300)], [(2, 3_000), (9, 2_000)]) {
        let plan = search(shape.0, 1, Budget::new(0.5, 0.0).expect("valid"), Objective::KMeans);
        let claimed = plan.receipt().pure().expect("pure").get();
        let run = |points: &Points, draws: &mut dyn Source| plan.replay(points.view(), draws).0;
        replay(effort, 123, shape, run, |seen, text| found.see(seen.pure_loss() / claimed, text));
    }
    found
}

pub(crate) fn stemmer_kaplan(dim: usize, farthest: usize) -> StemmerKaplan {
    let public_box = PublicBox::cube(dim, -10.0, 10.0).expect("valid");
    let settings = StemmerKaplanSettings {
        levels: 2..=3,
        repetitions: 1,
        farthest: Some(farthest),
        swaps: Some(2),
        ..Default::default()
    };
    let budget = Budget::new(8.0, 1e-3).expect("valid");
    StemmerKaplan::new(public_box, 2, budget, settings).expect("valid settings")
}

/// Crowds of which one is too small to be found at first, so that it is among the farthest, and ends in the middle of another.
fn crowds_around(dim: usize, shift: f64) -> (Vec<f64>, Vec<Vec<f64>>) {
    let places: Vec<Vec<f64>> =
        [-9.0, 9.0, 3.5, -4.0].map(|x| (0..dim).map(|i| x + shift * i as f64).collect()).to_vec();
    (crowds(&places, 60), places)
}

/// The draws on the farthest records, as a share of what the receipt says about them: a record more pushes another one out.
pub(crate) fn second_rounds(effort: Effort, instead: Instead) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(124);
    for dim in [1, 2] {
        for case in 0..effort.of(30_usize, 500) {
            // The last of them is in the middle of a crowd of equal records, so no cell becomes empty.
            let plan = stemmer_kaplan(dim, [90, 150, 210][case % 3]);
            let receipt = plan.receipt();
            let Step::Sequential { steps, .. } = receipt.spent() else {
                unreachable!("all steps are in sequence")
            };
            let second = Receipt::new("second", AddRemove, receipt.budget(), steps[1].clone());
            let claimed = inside(&second);
            let (without, places) = crowds_around(dim, rng.random_range(-0.5..0.5));
            let with = [places[case / 3 % 4].as_slice(), &without].concat();
            let (without, with) = (points(without, dim), points(with, dim));
            let variances = RefCell::new(Vec::new());
            let run = |points: &Points, draws: &mut dyn Source| {
                let mut through = Through::new(draws, instead);
                let output = plan.replay(points.view(), &mut through).0;
                variances.replace(through.variances);
                output
            };
            for (a, b) in [(&without, &with), (&with, &without)] {
                let seen = compare(&one_more(), run, a, b, &mut SecureSource::new(&mut rng));
                let of_second = second_round(&variances.borrow());
                let cost: f64 = seen.steps[of_second].iter().map(|step| step.rho).sum();
                let broken = seen.rho().is_infinite();
                found.see(if broken { f64::INFINITY } else { cost / claimed }, || {
                    format!("{dim}, {case}: {places:?}")
                });
            }
        }
    }
    found
}

/// Whether the last draw counts a cell of the second round: twice the variance of the first round.
pub(crate) fn counts_again(variances: &[f64]) -> bool {
    (1.5..3.0).contains(&(variances[variances.len() - 1] / variances[0]))
}

/// From the first count of the second round to the last draw before the choices.
fn second_round(variances: &[f64]) -> Range<usize> {
    let choices = variances.iter().position(|v| *v == 0.0).unwrap_or(variances.len());
    let first = (1..=choices).find(|n| counts_again(&variances[..*n]));
    first.map_or(choices, |n| n - 1)..choices
}

/// Whole runs, as a share of what the receipt says beside the mass.
fn whole(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(125);
    for dim in [1, 2] {
        let plan = stemmer_kaplan(dim, 150);
        let claimed = inside(&plan.receipt());
        for case in 0..effort.of(30_usize, 500) {
            let (without, places) = crowds_around(dim, rng.random_range(-0.5..0.5));
            let with = [places[case % 4].as_slice(), &without].concat();
            let (without, with) = (points(without, dim), points(with, dim));
            let run = |points: &Points, draws: &mut dyn Source| plan.replay(points.view(), draws).0;
            for (a, b) in [(&without, &with), (&with, &without)] {
                let seen = compare(&one_more(), run, a, b, &mut SecureSource::new(&mut rng));
                found.see(seen.rho() / claimed, || format!("{dim}, {case}: {places:?}"));
            }
        }
    }
    found
}

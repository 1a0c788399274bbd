//! Checks of private maps under every relation.

use std::ops::RangeInclusive;

use dp_accounting::{AddRemove, Budget, Epsilon, Mu, Relation, ReplaceOne, Within, budget_to_mu};
use dp_audit::harness::{Check, Effort, Found};
use dp_audit::{Comparison, Method, Neighbours, compare};
use dp_cluster::map::{MapRelation, PrivateMap, PrivateMapSettings};
use dp_cluster::{Points, PublicBox};
use dp_mechanism::{ChaCha20Rng, Mechanism, Nearby, SecureSource, Source, Usage};
use rand::RngExt;

use crate::neighbours::{records, replay};

pub(crate) fn checks() -> Vec<Check> {
    let check = |id: &str, mechanism: &str, relation: &str, method, run: fn(Effort) -> Found| {
        Check::new(id, mechanism, relation, method, run)
    };
    vec![
        check("map-transcript", "PrivateMap, a whole run", "add-remove", Method::Exact, added),
        check("map-replaced", "PrivateMap, a whole run", "replace-one", Method::Exact, replaced),
        check("map-within", "PrivateMap, a whole run", "within", Method::Exact, |effort| {
            moves(effort, honest)
        }),
        check("map-counted", "CountedMap, a whole run", "add-remove", Method::Exact, counted),
        check("map-settings", "PrivateMap, every setting", "within", Method::Exact, settings),
        check("map-receipt", "PrivateMap, receipt", "all", Method::Ledger, receipts),
    ]
}

/// A box around the origin, one far away that `f64` resolves badly, and a long one.
pub(crate) fn domain(dim: usize, which: usize) -> PublicBox {
    let (low, high) = [(-10.0, 10.0), (1e9, 1e9 + 0.001), (-10.0, 10.0)][which];
    let mut max = vec![high; dim];
    if which == 2 {
        max[dim - 1] = 190.0;
    }
    PublicBox::new(vec![low; dim], max).expect("valid")
}

pub(crate) fn budget() -> Budget {
    Budget::new(1.0, 1e-6).expect("valid")
}

const SHAPES: [(usize, usize); 4] = [(1, 40), (2, 60), (3, 20), (4, 5)];
const DEEP_SHAPES: [(usize, usize); 4] = [(1, 2_000), (2, 3_000), (3, 300), (5, 50)];

/// One record more or less, with the number of records.
fn added(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    for shape in effort.of(SHAPES, DEEP_SHAPES) {
        for levels in [(0, 0), (1, 2), (0, 3)] {
            let settings = of_levels(levels.0..=levels.1);
            let plan =
                PrivateMap::add_remove(domain(shape.0, 0), budget(), settings).expect("valid");
            let claimed = plan.receipt().zcdp().expect("Gaussian").get();
            let run = |points: &Points, draws: &mut dyn Source| plan.replay(points.view(), draws).0;
            replay(effort, 120, shape, run, |seen, text| found.see(seen.rho() / claimed, text));
        }
    }
    found
}

/// The same from counts of two halves.
fn counted(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    for shape in effort.of(SHAPES, DEEP_SHAPES) {
        let settings = of_levels(0..=2);
        let plan = PrivateMap::add_remove(domain(shape.0, 0), budget(), settings).expect("valid");
        let released = plan.clone().counted();
        let claimed = released.receipt().zcdp().expect("Gaussian").get();
        let run = |points: &Points, draws: &mut dyn Source| {
            let (left, right) = points.view().coords().split_at(points.len() / 2 * shape.0);
            let part = |coords: &[f64]| {
                let part = Points::new(coords.to_vec(), shape.0).expect("whole rows");
                plan.count(part.view()).expect("the same dimension")
            };
            let mut counts = part(left);
            counts.merge(&part(right)).expect("the same plan");
            released.replay(&counts, draws).0
        };
        replay(effort, 133, shape, run, |seen, text| found.see(seen.rho() / claimed, text));
    }
    found
}

/// One record replaced by any other: from vertex to vertex, from outside, from what is no number.
fn replaced(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(121);
    for (dim, n) in effort.of(SHAPES, DEEP_SHAPES) {
        for levels in [(0, 0), (1, 2), (0, 3)] {
            let public_box = domain(dim, 0);
            let settings = of_levels(levels.0..=levels.1);
            let plan = PrivateMap::replace_one(public_box.clone(), n as u64, budget(), settings)
                .expect("valid");
            let claimed = plan.receipt().zcdp().expect("Gaussian").get();
            for _ in 0..effort.of(4, 20) {
                let others = random_rows(dim, n - 1, &mut rng);
                let odd =
                    [f64::NAN, f64::INFINITY, -10.0, 10.0, 5.0, rng.random_range(-12.0..12.0)];
                let place = |rng: &mut ChaCha20Rng| -> Vec<f64> {
                    (0..dim).map(|_| odd[rng.random_range(0..odd.len())]).collect()
                };
                let pair = [place(&mut rng), place(&mut rng)];
                let run =
                    |points: &Points, draws: &mut dyn Source| plan.replay(points.view(), draws).0;
                let seen = pair_of(ReplaceOne, &others, &pair, dim, run, &mut rng);
                found.see(seen.rho() / claimed, || format!("{pair:?}"));
            }
        }
    }
    found
}

fn random_rows(dim: usize, n: usize, rng: &mut ChaCha20Rng) -> Vec<f64> {
    (0..n * dim).map(|_| rng.random_range(-12.0..12.0)).collect()
}

/// Two sets that differ in one record, compared with the first one's outcomes.
pub(crate) fn pair_of<O: PartialEq + serde::Serialize>(
    relation: impl Relation,
    others: &[f64],
    pair: &[Vec<f64>; 2],
    dim: usize,
    run: impl Fn(&Points, &mut dyn Source) -> O,
    rng: &mut ChaCha20Rng,
) -> Comparison {
    let [a, b] = [0, 1].map(|i| Points::new([others, &pair[i]].concat(), dim).expect("whole rows"));
    compare(&Neighbours::of_records(relation, records), run, &a, &b, &mut SecureSource::new(rng))
}

pub(crate) type Plan = PrivateMap<Within>;

pub(crate) fn honest(plan: &Plan, points: &Points, draws: &mut dyn Source) -> Vec<u64> {
    weights(&plan.replay(points.view(), draws).0)
}

/// All bits of a map.
pub(crate) fn weights(map: &dp_cluster::map::ReleasedMap) -> Vec<u64> {
    map.fit().weights.iter().map(|weight| weight.to_bits()).collect()
}

pub(crate) fn of_levels(levels: RangeInclusive<u32>) -> PrivateMapSettings {
    PrivateMapSettings { levels: Some(levels), fit_steps: 20, ..Default::default() }
}

/// A plan for moves of up to `rho`, which is a share of the narrowest cell of the coarsest level.
pub(crate) fn plan(
    dim: usize,
    which: usize,
    n: usize,
    levels: (u32, u32),
    share: f64,
) -> (Plan, f64) {
    let public_box = domain(dim, which);
    let width = (0..dim).map(|i| public_box.width(i)).fold(f64::MAX, f64::min);
    let rho = share * width / f64::from(1 << levels.0);
    let near = Nearby::new(rho).expect("above 0");
    let settings = of_levels(levels.0..=levels.1);
    (PrivateMap::within(public_box, near, n as u64, budget(), settings).expect("valid"), rho)
}

/// Pairs at a distance of at most `rho`: at a vertex of all levels along the diagonal of the cell, across a border, at the border of the box,
/// across the middle between two vertices, and anywhere in any direction.
pub(crate) fn pairs(
    public_box: &PublicBox,
    level: u32,
    rho: f64,
    rng: &mut ChaCha20Rng,
) -> Vec<[Vec<f64>; 2]> {
    let dim = public_box.dim();
    let cell = |i: usize| public_box.width(i) / f64::from(1 << level);
    let vertex = |i: usize| public_box.min(i) + cell(i) * if level > 0 { 1.0 } else { 0.0 };
    // The steepest direction: axes count by how narrow their cells are.
    let diagonal: Vec<f64> = (0..dim).map(|i| 1.0 / cell(i)).collect();
    let any: Vec<f64> = (0..dim).map(|_| rng.random_range(-1.0..1.0)).collect();
    let axis: Vec<f64> = (0..dim).map(|i| if i == 0 { 1.0 } else { 0.0 }).collect();
    let at = |offset: f64| -> Vec<f64> { (0..dim).map(|i| vertex(i) + offset * cell(i)).collect() };
    let anywhere: Vec<f64> = (0..dim)
        .map(|i| public_box.min(i) + rng.random_range(0.0..1.0) * public_box.width(i))
        .collect();
    let corner: Vec<f64> = (0..dim).map(|i| public_box.max(i)).collect();
    let starts = [
        (at(0.0), &diagonal, 0.0),
        (at(0.0), &axis, 0.5),
        (at(0.0), &any, 0.5),
        (at(0.5), &axis, 0.5),
        (corner, &any, 0.5),
        (anywhere.clone(), &any, 0.0),
        (anywhere, &diagonal, 0.3),
    ];
    let pair = |(from, direction, back): (Vec<f64>, &Vec<f64>, f64)| {
        let length = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
        // A little less than rho: how far apart two numbers are is rounded, too.
        let step = |share: f64| -> Vec<f64> {
            let moved = |(x, d): (&f64, &f64)| x + share * rho * (1.0 - 1e-9) / length * d;
            from.iter().zip(direction).map(moved).collect()
        };
        [step(-back), step(1.0 - back)]
    };
    starts.map(pair).to_vec()
}

/// Whole runs on records that move by little, as a share of the receipt.
pub(crate) fn moves(
    effort: Effort,
    run: impl Fn(&Plan, &Points, &mut dyn Source) -> Vec<u64>,
) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(122);
    for (dim, n) in effort.of(SHAPES, DEEP_SHAPES) {
        for levels in [(0, 0), (1, 2), (0, 3)] {
            for share in [1e-4, 0.01, 0.2, 0.7, 3.0] {
                for which in [0, 2] {
                    let (plan, rho) = plan(dim, which, n, levels, share);
                    let claimed = plan.receipt().zcdp().expect("Gaussian").get();
                    let others = random_rows(dim, n - 1, &mut rng);
                    for pair in pairs(&domain(dim, which), levels.0, rho, &mut rng) {
                        let run =
                            |points: &Points, draws: &mut dyn Source| run(&plan, points, draws);
                        let seen = pair_of(
                            Within::new(rho).expect("above 0"),
                            &others,
                            &pair,
                            dim,
                            run,
                            &mut rng,
                        );
                        found.see(seen.rho() / claimed, || {
                            format!("{dim} dimensions, levels {levels:?}, rho {rho}: {pair:?}")
                        });
                    }
                }
            }
        }
    }
    found
}

/// Far from the origin, where a move of `rho` may round to a longer one and is then not a move of `rho`; one piece of rows and many; every step
/// of every relation's receipt is drawn.
fn settings(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(123);
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            for n in [1, 2, 9] {
                let (plan, rho) = plan(2, 1, n, (1, 2), 0.3);
                let claimed = plan.receipt().zcdp().expect("Gaussian").get();
                let others: Vec<f64> = (0..2 * (n - 1)).map(|i| 1e9 + 1e-4 * i as f64).collect();
                for mut pair in pairs(&domain(2, 1), 1, 0.5 * rho, &mut rng) {
                    for x in pair.iter_mut().flatten() {
                        *x = x.clamp(1e9, 1e9 + 0.001);
                    }
                    let run =
                        |points: &Points, draws: &mut dyn Source| honest(&plan, points, draws);
                    let seen = pair_of(
                        Within::new(rho).expect("above 0"),
                        &others,
                        &pair,
                        2,
                        run,
                        &mut rng,
                    );
                    found.see(seen.rho() / claimed, || format!("{n} records at 1e9: {pair:?}"));
                }
                let cube = || domain(2, 0);
                let set = || PrivateMapSettings { levels: Some(1..=2), ..Default::default() };
                let near = Nearby::new(0.1).expect("valid");
                let points = Points::new(vec![1.0; 2 * n], 2).expect("rows");
                let usages = [
                    usage(
                        &PrivateMap::add_remove(cube(), budget(), set()).expect("valid"),
                        &points,
                        &mut rng,
                    ),
                    usage(
                        &PrivateMap::replace_one(cube(), n as u64, budget(), set()).expect("valid"),
                        &points,
                        &mut rng,
                    ),
                    usage(
                        &PrivateMap::within(cube(), near, n as u64, budget(), set())
                            .expect("valid"),
                        &points,
                        &mut rng,
                    ),
                ];
                for usage in usages {
                    for step in usage.unreached() {
                        found.see(f64::INFINITY, || format!("`{step}` was never drawn"));
                    }
                }
            }
        });
    }
    found
}

fn usage<R: MapRelation>(plan: &PrivateMap<R>, points: &Points, rng: &mut ChaCha20Rng) -> Usage {
    plan.replay(points.view(), &mut SecureSource::new(rng)).1
}

/// What receipts add up to, as a share of the budget asked for, over random settings.
fn receipts(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(124);
    for i in 0..effort.of(300_usize, 5_000) {
        let epsilon = 10_f64.powf(rng.random_range(-2.0..1.5));
        let delta = 10_f64.powf(rng.random_range(-12.0..-1.0));
        let budget = Budget::new(epsilon, delta).expect("valid");
        let coarsest = rng.random_range(0..3);
        let levels = Some(coarsest..=coarsest + rng.random_range(0..3));
        // All of the budget, or a part of it.
        let whole = budget_to_mu(budget).expect("a delta above 0");
        let spend = (i % 2 == 0).then(|| Mu::new(whole.get() * rng.random_range(0.1..0.9)));
        let spend = spend.map(|mu| mu.expect("above 0"));
        let settings = PrivateMapSettings { levels: levels.clone(), spend, ..Default::default() };
        let public_box = PublicBox::cube(1 + i % 3, 0.0, 1.0).expect("valid");
        let near = Nearby::new(10_f64.powf(rng.random_range(-5.0..1.0))).expect("valid");
        let (spent, within, mu) = match i % 3 {
            0 => spent::<AddRemove>(
                &PrivateMap::add_remove(public_box, budget, settings).expect("valid"),
            ),
            1 => spent::<ReplaceOne>(
                &PrivateMap::replace_one(public_box, 9, budget, settings).expect("valid"),
            ),
            _ => spent::<Within>(
                &PrivateMap::within(public_box, near, 9, budget, settings).expect("valid"),
            ),
        };
        found.see(if within { spent / epsilon } else { f64::INFINITY }, || {
            format!("epsilon {epsilon}, delta {delta}, levels {levels:?}")
        });
        if let Some(asked) = spend {
            found.see(mu / asked.get(), || format!("{asked} of {whole}, levels {levels:?}"));
        }
    }
    found
}

fn spent<R: MapRelation>(plan: &PrivateMap<R>) -> (f64, bool, f64) {
    let receipt = plan.receipt();
    let epsilon = receipt.epsilon().map_or(f64::INFINITY, Epsilon::get);
    (epsilon, receipt.within_budget(), receipt.gaussian().map_or(f64::INFINITY, Mu::get))
}

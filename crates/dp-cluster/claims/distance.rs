//! Checks of noise on every record.

use dp_accounting::{Budget, Epsilon, Receipt, Within};
use dp_audit::Method;
use dp_audit::harness::{Check, Effort, Found};
use dp_cluster::coreset::PrivateCoreset;
use dp_cluster::distance::{
    NearbyKMeans, NoisedPoints, RegionCoreset, RegionCoresetSettings, RegionRule, SoftRecentred,
    SoftStep, Way,
};
use dp_cluster::{Clustering, Points};
use dp_mechanism::{Coordinates, Mechanism, Nearby, SecureSource, Source};
use rand::RngExt;

use crate::map::{budget, domain, pair_of, pairs};
use crate::private_centres::{Instead, Through, plainly};

pub(crate) fn checks() -> Vec<Check> {
    let check = |id: &str, mechanism: &str, method, run: fn(Effort) -> Found| {
        Check::new(id, mechanism, "within", method, run)
    };
    vec![
        check("noised-within", "NoisedPoints, a whole run", Method::Exact, |effort| {
            moves(effort, honest)
        }),
        check("soft-step", "SoftStep, what a record adds", Method::Range, |effort| {
            steps(effort, as_it_is)
        }),
        check("soft-within", "SoftRecentred, a whole run", Method::Exact, soft_moves),
        check("nearby-within", "NearbyKMeans, a whole run of each way", Method::Exact, |effort| {
            chosen_moves(effort, as_chosen)
        }),
        check("nearby-receipt", "NearbyKMeans, receipt", Method::Ledger, nearby_receipts),
        check(
            "regions-noised",
            "RegionCoreset, regions by noised points",
            Method::Exact,
            |effort| regions(effort, RegionRule::NoisedPoint, plainly),
        ),
        check("regions-true", "RegionCoreset, regions by true points", Method::Exact, |effort| {
            regions(effort, RegionRule::TruePoint, plainly)
        }),
        check("regions-receipt", "RegionCoreset, receipt", Method::Ledger, regions_receipts),
        check("noised-receipt", "NoisedPoints, receipt", Method::Ledger, receipts),
    ]
}

pub(crate) fn honest(
    plan: &NoisedPoints,
    points: &Points,
    draws: &mut dyn Source,
) -> Vec<PrivateCoreset> {
    vec![plan.replay(points.view(), draws).0]
}

/// Whole runs on records that move by up to `rho`, from next to nothing to beyond the box.
pub(crate) fn moves(
    effort: Effort,
    run: fn(&NoisedPoints, &Points, &mut dyn Source) -> Vec<PrivateCoreset>,
) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(127);
    for (dim, n) in
        effort.of([(1, 9), (2, 5), (7, 2), (50, 1)], [(1, 900), (2, 90), (7, 20), (50, 9)])
    {
        for which in [0, 2] {
            let public_box = domain(dim, which);
            let diagonal = public_box.diagonal();
            for rho in [1e-12 * diagonal, 1e-5, 0.05, 3.0, diagonal, 1e3 * diagonal] {
                let near = Nearby::new(rho).expect("above 0");
                let plan = NoisedPoints::new(public_box.clone(), near, n as u64, budget());
                let plan = plan.expect("valid");
                let claimed = plan.receipt().zcdp().expect("Gaussian").get();
                let others: Vec<f64> =
                    (0..(n - 1) * dim).map(|_| rng.random_range(-12.0..12.0)).collect();
                let mut all = pairs(&public_box, 2, rho, &mut rng);
                all.push([0, 1].map(|end| {
                    let ends = |i| if end == 0 { public_box.min(i) } else { public_box.max(i) };
                    (0..dim).map(ends).collect()
                }));
                // The corners are neighbours from the diagonal on.
                let kept = if rho >= diagonal { all.len() } else { all.len() - 1 };
                for pair in &all[..kept] {
                    let run = |points: &Points, draws: &mut dyn Source| run(&plan, points, draws);
                    let seen = pair_of(
                        Within::new(rho).expect("above 0"),
                        &others,
                        pair,
                        dim,
                        run,
                        &mut rng,
                    );
                    found.see(seen.rho() / claimed, || {
                        format!("{dim} dimensions, rho {rho}: {pair:?}")
                    });
                }
            }
        }
    }
    found
}

/// What a record adds to one step, and the bound that is claimed for a move.
pub(crate) struct Setting {
    pub(crate) step: SoftStep,
    /// With twice the radius.
    pub(crate) longer: SoftStep,
}

/// A step, a record: what it adds.
pub(crate) type Adds = fn(&Setting, &[f64]) -> Vec<i64>;

pub(crate) fn as_it_is(setting: &Setting, row: &[f64]) -> Vec<i64> {
    added(&setting.step, row)
}

pub(crate) fn added(step: &SoftStep, row: &[f64]) -> Vec<i64> {
    let mut sums = vec![0; step.width()];
    step.add(row, &mut step.scratch(), &mut sums);
    sums
}

/// How far the vector of a record moves, as a share of the bound: on the plane between two centres, at a centre, anywhere, and from anywhere to
/// anywhere; one centre, centres in one place, and many. Moves as short as rounding are of many entries.
pub(crate) fn steps(effort: Effort, adds: Adds) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(129);
    for number in 0..effort.of(4_000, 100_000) {
        let is_short = number % 2 == 0;
        let dim = rng.random_range(1..if is_short { 21 } else { 5 });
        let k = rng.random_range(1..if is_short { 41 } else { 6 });
        let mut centres: Vec<f64> = (0..k * dim).map(|_| rng.random_range(-9.0..9.0)).collect();
        if k > 1 && rng.random_range(0..if is_short { 2 } else { 4 }) == 0 {
            let (first, others) = centres.split_at_mut(dim);
            let alike = if is_short { k - 1 } else { 1 };
            others.chunks_exact_mut(dim).take(alike).for_each(|other| other.copy_from_slice(first));
        }
        let radius = 10_f64.powf(rng.random_range(-1.0..1.0));
        let softness = radius / 10_f64.powf(rng.random_range(-0.5..1.5));
        let exponents = if is_short { -8.0..-5.0 } else { -3.0..2.5 };
        let rho = softness * 10_f64.powf(rng.random_range(exponents));
        let public_box = domain(dim, 0);
        let [step, longer] = [radius, 2.0 * radius].map(|radius| {
            let step = SoftStep::new(public_box.clone(), points(&centres, dim), radius, softness);
            step.expect("valid")
        });
        let setting = Setting { step, longer };
        let near = Nearby::new(rho).expect("above 0");
        let change = setting.step.modulus().expect("finite").moved(near);
        let two: Vec<&[f64]> = centres.chunks_exact(dim).cycle().take(2).collect();
        let between: Vec<f64> = two[0].iter().zip(two[1]).map(|(a, b)| 0.5 * (a + b)).collect();
        let anywhere: Vec<f64> = (0..dim).map(|_| rng.random_range(-11.0..11.0)).collect();
        let across: Vec<f64> = two[0].iter().zip(two[1]).map(|(a, b)| b - a).collect();
        let any: Vec<f64> = (0..dim).map(|_| rng.random_range(-1.0..1.0)).collect();
        for (middle, towards) in [
            (&between, &across),
            (&between, &any),
            (&two[0].to_vec(), &any),
            (&anywhere, &any),
            (&anywhere, &across),
        ] {
            let length = towards.iter().map(|x| x * x).sum::<f64>().sqrt().max(1e-12);
            let at = |share: f64| -> Vec<f64> {
                let moved = |(x, t): (&f64, &f64)| x + share * rho * (1.0 - 1e-9) / length * t;
                middle.iter().zip(towards).map(moved).collect()
            };
            let (a, b) = (adds(&setting, &at(-0.5)), adds(&setting, &at(0.5)));
            let squares: f64 = a.iter().zip(&b).map(|(a, b)| ((a - b) as f64).powi(2)).sum();
            found.see((squares / change.squared as f64).sqrt(), || {
                format!(
                    "{k} centres, {dim} dimensions, radius {radius}, softness {softness}, rho {rho}"
                )
            });
        }
    }
    found
}

fn points(coords: &[f64], dim: usize) -> Points {
    Points::new(coords.to_vec(), dim).expect("whole rows")
}

/// Whole runs, after a map and after noised points, soft rounds and hard ones: two clusters, and a record between them that moves.
fn soft_moves(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(130);
    for (dim, n) in effort.of([(1, 41), (2, 21), (5, 41)], [(1, 401), (2, 201), (9, 401)]) {
        for rho in [1e-4, 0.05, 2.0, 100.0] {
            for k in [1, 2, 5] {
                let public_box = domain(dim, 0);
                let near = Nearby::new(rho).expect("above 0");
                let plan = SoftRecentred::new(public_box.clone(), near, n as u64, k, budget(), 1);
                let plan = plan.expect("valid");
                let claimed = plan.receipt().zcdp().expect("Gaussian").get();
                let place = |i: usize| if (i / dim).is_multiple_of(2) { -4.0 } else { 4.0 };
                let others: Vec<f64> = (0..(n - 1) * dim).map(place).collect();
                let all = pairs(&public_box, 1, rho, &mut rng);
                for pair in all.iter().take(effort.of(3, 7)) {
                    let run = |points: &Points, draws: &mut dyn Source| {
                        plan.replay(points.view(), draws).0
                    };
                    let seen = pair_of(
                        Within::new(rho).expect("above 0"),
                        &others,
                        pair,
                        dim,
                        run,
                        &mut rng,
                    );
                    found.see(seen.rho() / claimed, || {
                        format!("{dim} dimensions, rho {rho}: {pair:?}")
                    });
                }
                let set = points(&[others.as_slice(), &vec![0.0; dim]].concat(), dim);
                let usage = plan.replay(set.view(), &mut SecureSource::new(&mut rng)).1;
                for step in usage.unreached() {
                    found.see(f64::INFINITY, || format!("`{step}` was never drawn"));
                }
            }
        }
    }
    found
}

pub(crate) type RunChosen = fn(&NearbyKMeans, &Points, &mut dyn Source) -> Clustering;

pub(crate) fn as_chosen(
    plan: &NearbyKMeans,
    points: &Points,
    draws: &mut dyn Source,
) -> Clustering {
    plan.replay(points.view(), draws).0
}

/// Whole runs of a plan that chooses: two clusters, and a record between or within them that moves. All three ways are taken.
pub(crate) fn chosen_moves(effort: Effort, chosen: RunChosen) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(134);
    let mut ways = Vec::new();
    for (dim, n) in effort.of([(2, 21), (4, 41), (5, 41)], [(2, 201), (4, 401), (9, 401)]) {
        for rho in [1e-4, 0.05, 2.0, 100.0] {
            let public_box = domain(dim, 0);
            let near = Nearby::new(rho).expect("above 0");
            let plan = NearbyKMeans::new(public_box.clone(), near, n as u64, 2, eager(), 1);
            let plan = plan.expect("valid");
            ways.push(plan.way());
            let claimed = plan.receipt().zcdp().expect("Gaussian").get();
            let place = |i: usize| if (i / dim).is_multiple_of(2) { -4.0 } else { 4.0 };
            let others: Vec<f64> = (0..(n - 1) * dim).map(place).collect();
            let mut all = pairs(&public_box, 1, rho, &mut rng);
            all.truncate(effort.of(3, 7));
            if rho >= 20.0 {
                // From one cluster to the other.
                all.push([vec![-4.0; dim], vec![4.0; dim]]);
            }
            for pair in &all {
                let run = |points: &Points, draws: &mut dyn Source| chosen(&plan, points, draws);
                let relation = Within::new(rho).expect("above 0");
                let seen = pair_of(relation, &others, pair, dim, run, &mut rng);
                found.see(seen.rho() / claimed, || {
                    format!("{:?}, {dim} dimensions, rho {rho}: {pair:?}", plan.way())
                });
            }
        }
    }
    for way in [Way::Map, Way::Soft, Way::Whole] {
        if !ways.contains(&way) {
            found.see(f64::INFINITY, || format!("{way:?} was never chosen"));
        }
    }
    found
}

/// So much that both ways are taken with few records.
fn eager() -> Budget {
    Budget::new(8.0, 1e-6).expect("valid")
}

fn nearby_receipts(effort: Effort) -> Found {
    let sizes = (135, effort.of(200_usize, 5_000), -6.0);
    spent_within_budget(effort, sizes, |i, near, budget| {
        let records = 10_u64.pow(1 + u32::try_from(i % 6).expect("few"));
        let plan = NearbyKMeans::new(domain(2 + i % 5, 0), near, records, 1 + i % 9, budget, 0);
        plan.expect("valid").receipt()
    })
}

fn receipts(effort: Effort) -> Found {
    let sizes = (128, effort.of(300_usize, 5_000), -9.0);
    spent_within_budget(effort, sizes, |i, near, budget| {
        NoisedPoints::new(domain(1 + i % 9, 0), near, 9, budget).expect("valid").receipt()
    })
}

fn regions_receipts(effort: Effort) -> Found {
    let sizes = (132, effort.of(100_usize, 2_000), -6.0);
    spent_within_budget(effort, sizes, |i, near, budget| {
        let rule = if i % 2 == 0 { RegionRule::NoisedPoint } else { RegionRule::TruePoint };
        RegionCoreset::new(
            domain(1 + i % 9, 0),
            near,
            9,
            1 + i % 5,
            budget,
            RegionCoresetSettings { rule, ..Default::default() },
        )
        .expect("valid")
        .receipt()
    })
}

/// The share of the budget that receipts spend, over random budgets and distances from `10^least` on.
fn spent_within_budget(
    effort: Effort,
    (stream, cases, least): (u64, usize, f64),
    receipt_of: impl Fn(usize, Nearby<Coordinates>, Budget) -> Receipt<Within>,
) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(stream);
    for i in 0..cases {
        let epsilon = 10_f64.powf(rng.random_range(-2.0..1.5));
        let delta = 10_f64.powf(rng.random_range(-12.0..-1.0));
        let near = Nearby::new(10_f64.powf(rng.random_range(least..4.0))).expect("valid");
        let receipt = receipt_of(i, near, Budget::new(epsilon, delta).expect("valid"));
        let spent = receipt.epsilon().map_or(f64::INFINITY, Epsilon::get);
        found.see(if receipt.within_budget() { spent / epsilon } else { f64::INFINITY }, || {
            format!("epsilon {epsilon}, delta {delta}")
        });
    }
    found
}

/// Whole runs on crowds at both ends of a move: from a vertex along the diagonal, across borders of cells, across the bisector of two crude centres. All
/// that changes are counts of cells that both data sets have.
pub(crate) fn regions(effort: Effort, rule: RegionRule, instead: Instead) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(131);
    let (rho, mut cases) = (1.0, 0);
    for (dim, seed) in (1..3).flat_map(|dim| (0..effort.of(2, 40)).map(move |seed| (dim, seed))) {
        let public_box = domain(dim, 0);
        for pair in pairs(&public_box, 2, rho, &mut rng) {
            let others: Vec<f64> = (0..600).flat_map(|_| pair.concat()).collect();
            let near = Nearby::new(rho).expect("above 0");
            let budget = Budget::new(2.0, 0.01).expect("valid");
            // Cells of fine levels are narrower than the move, and a region that is looked at has records from both ends.
            let settings = RegionCoresetSettings {
                rule,
                repetitions: 2,
                coarse_level: Some(6),
                finest_level: Some(8),
                far: Some(1.0),
                least_cell: Some(30),
                public_seed: seed,
                ..Default::default()
            };
            let plan = RegionCoreset::new(public_box.clone(), near, 1_201, 1, budget, settings);
            let plan = plan.expect("valid");
            let in_table = plan.clone().with_tree_from(usize::MAX);
            // The nearest centre from a tree, as where there are many.
            let plan = plan.with_tree_from([1, 2, 3][cases % 3]);
            cases += 1;
            let (claimed, _) = plan.receipt().zcdp_outside().expect("Gaussian");
            let run = |points: &Points, draws: &mut dyn Source| {
                plan.replay(points.view(), &mut Through::new(draws, instead)).0
            };
            let relation = Within::new(rho).expect("above 0");
            let seen = pair_of(relation, &others, &pair, dim, run, &mut rng);
            found.see(seen.rho() / claimed.get(), || format!("{rule:?}, {pair:?}"));
            let set = points(&[others.as_slice(), pair[0].as_slice()].concat(), dim);
            let released = [&plan, &in_table].map(|plan| {
                plan.simulate(set.view(), &mut effort.rng(133)).expect("so many records").output
            });
            if released[0] != released[1] {
                found.see(f64::INFINITY, || format!("{rule:?}, {pair:?}: tree and table differ"));
            }
            let usage = plan.replay(set.view(), &mut SecureSource::new(&mut rng)).1;
            for step in usage.unreached() {
                found.see(f64::INFINITY, || format!("`{step}` was never drawn"));
            }
        }
    }
    found
}

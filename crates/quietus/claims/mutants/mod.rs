//! Releases by groups as they are made by hand.

use crate::groups::plan;
use dp_accounting::{AddRemove, Budget, Epsilon, Within};
use dp_audit::harness::{Effort, Found, MutantCheck, MutantCode};
use dp_audit::{Neighbours, compare};
use dp_cluster::map::{PrivateMap, PrivateMapSettings};
use dp_cluster::{Points, PublicBox};
use dp_mechanism::{Draws, GeometricSum, Mechanism, Nearby, Private, SecureSource, Source};
use quietus::groups::{GroupPlan, Measure, Noisy};
use quietus::locate::{Distances, LocatePlan, LocateSettings};
use rand::RngExt;
use std::num::NonZeroU64;

/// Every mutant with its twin.
pub(crate) fn all() -> Vec<MutantCheck> {
    let code: [MutantCode; 8] = [
        ("M90-found", |effort| tables(effort, true), |effort| tables(effort, false)),
        ("M90-persons", |effort| persons(effort, 3), |effort| persons(effort, 1)),
        (
            "M151",
            |effort| crate::top::numbered(effort, true),
            |effort| crate::top::numbered(effort, false),
        ),
        ("M200", |effort| outside(effort, 1), |effort| outside(effort, 3)),
        ("M201", |effort| kilometres(effort, 5.0), |effort| kilometres(effort, 50.0)),
        (
            "M260",
            |effort| crate::items::copied(effort, true),
            |effort| crate::items::copied(effort, false),
        ),
        (
            "M261",
            |effort| crate::items::numbered_anew(effort, true),
            |effort| crate::items::numbered_anew(effort, false),
        ),
        ("M263", |effort| at_places(effort, true), |effort| at_places(effort, false)),
    ];
    dp_audit::harness::mutants(include_str!("mutants.toml"), &code)
}

/// Numbers of points outside of three ranges, with noise for so many of them.
fn outside(effort: Effort, paid: u64) -> Found {
    let noise =
        GeometricSum::new(Epsilon::new(1.0).expect("valid"), NonZeroU64::new(paid).expect("not 0"));
    let noise = noise.expect("valid");
    let (mut found, mut rng) = (Found::claim(1.0), effort.rng(98));
    for points in (0_i64..).take(effort.of(6, 40)) {
        let run = |outside: &Vec<i64>, source: &mut dyn Source| {
            let cells = Private::owned(outside.clone()).cells(3);
            noise.release(&cells, &mut Draws::unplanned(source))
        };
        let (before, after) = (vec![points; 3], vec![points + 1; 3]);
        // One point more, which is outside of each of them.
        let one_range_each = |a: &Vec<i64>, b: &Vec<i64>| {
            [a.len(), b.len()] == [3; 2] && a.iter().zip(b).all(|(a, b)| b - a == 1)
        };
        let comparison = compare(
            &Neighbours::tested(AddRemove, one_range_each).without_receipt(),
            run,
            &before,
            &after,
            &mut SecureSource::new(&mut rng),
        );
        found.see(comparison.pure_loss(), || format!("{points} points"));
    }
    found
}

/// Places near people, where each row of a person counts.
fn at_places(effort: Effort, by_row: bool) -> Found {
    let plan = LocatePlan::new(LocateSettings {
        places: ["A", "B"].map(str::to_owned).to_vec(),
        distances: Distances::Points { dim: 1, coordinates: vec![0.0, 1.0] },
        column: "place".to_owned(),
        person: Some("who".to_owned()),
        k: 1,
        squares: false,
        people: 4,
        epsilon: 1.0,
    });
    let plan = plan.expect("valid");
    let (mut found, mut rng) = (Found::claim(1.0), effort.rng(97));
    for others in 0..effort.of(6, 40) {
        // The places of each person.
        let before = vec![vec![0_u32]; others];
        let mut after = before.clone();
        after.push(vec![1; if by_row { 3 } else { 1 }]);
        let run = |people: &Vec<Vec<u32>>, source: &mut dyn Source| {
            let found = plan.replay(&people.concat(), source).0;
            (found.centres, found.users.iter().map(|users| users.to_bits()).collect::<Vec<_>>())
        };
        let comparison = compare(
            &Neighbours::of_records(AddRemove, Vec::clone),
            run,
            &before,
            &after,
            &mut SecureSource::new(&mut rng),
        );
        found.see(comparison.pure_loss(), || format!("{others} others"));
    }
    found
}

/// A map of kilometres in which somebody moves by 50 metres, hidden for so many.
fn kilometres(effort: Effort, hidden: f64) -> Found {
    let plan = |metres: f64| {
        let budget = Budget::new(1.0, 1e-6).expect("valid");
        let nearby = Nearby::new(metres).expect("valid");
        let public_box = PublicBox::cube(1, 0.0, 10_000.0).expect("valid");
        PrivateMap::within(public_box, nearby, 4, budget, PrivateMapSettings::default())
            .expect("valid")
    };
    let claimed = plan(50.0).receipt().zcdp().expect("Gaussian").get();
    let plan = plan(hidden);
    let (mut found, mut rng) = (Found::claim(1.0), effort.rng(99));
    for _ in 0..effort.of(40, 400) {
        let from: f64 = rng.random_range(0.0..9_950.0);
        // Whatever unit the plan takes the distance for.
        let by_50_metres = |from: &f64, to: &f64| (to - from - 50.0).abs() < 1e-9;
        let run = |own: &f64, source: &mut dyn Source| {
            let places = Points::new(vec![1.0, 5_000.0, 7_777.0, *own], 1).expect("whole");
            plan.replay(places.view(), source)
                .0
                .fit()
                .weights
                .iter()
                .map(|w| w.to_bits())
                .collect::<Vec<_>>()
        };
        let comparison = compare(
            &Neighbours::tested(Within::new(hidden).expect("above 0"), by_50_metres),
            run,
            &from,
            &(from + 50.0),
            &mut SecureSource::new(&mut rng),
        );
        found.see(comparison.rho() / claimed, || format!("from {from}"));
    }
    found
}

type Rows = Vec<(usize, f64)>;

fn on_pairs(
    effort: Effort,
    all: &[(usize, f64)],
    run: impl Fn(&Rows, &mut dyn Source) -> Noisy,
) -> Found {
    let (mut found, mut rng) = (Found::claim(1.0), effort.rng(96));
    for row in all {
        for size in 0..effort.of(4, 12) {
            let before: Rows = all.iter().copied().cycle().take(size).collect();
            let mut after = before.clone();
            after.push(*row);
            let comparison = compare(
                &Neighbours::of_records(AddRemove, Vec::clone),
                &run,
                &before,
                &after,
                &mut SecureSource::new(&mut rng),
            );
            found.see(comparison.pure_loss(), || format!("{before:?} and {row:?}"));
        }
    }
    found
}

/// Counts of two groups, or of those that somebody is in.
fn tables(effort: Effort, only_found: bool) -> Found {
    on_pairs(effort, &[(0, 0.0), (1, 0.0)], |rows, source| {
        let there = (0..2).filter(|group| rows.iter().any(|(own, _)| own == group)).count();
        if only_found && there == 0 {
            return Noisy { counts: Vec::new(), sums: Vec::new() };
        }
        let groups = if only_found { there } else { 2 };
        replayed(&plan(groups, Measure::Count, 1.0), rows, source)
    })
}

/// Means where all rows of a person count, and the noise is for one.
fn persons(effort: Effort, rows_of_each: usize) -> Found {
    let measure = Measure::Mean { column: "x".to_owned(), bounds: (-1.0, 1.0) };
    let plan = plan(1, measure, 1.0);
    on_pairs(effort, &[(0, 1.0), (0, -1.0)], |people, source| {
        let of_person = |person| std::iter::repeat_n(person, rows_of_each);
        let rows: Rows = people.iter().copied().flat_map(of_person).collect();
        replayed(&plan, &rows, source)
    })
}

fn replayed(plan: &GroupPlan, rows: &Rows, source: &mut dyn Source) -> Noisy {
    let mut tally = plan.tally();
    for (group, value) in rows {
        plan.add(&mut tally, Some(*group), Some(*value));
    }
    plan.replay(&tally, source).0
}

//! Releases by groups as they are made by hand.

use crate::groups::plan;
use dp_audit::compare;
use dp_audit::harness::{Effort, Found, MutantCheck, MutantCode};
use dp_mechanism::{Mechanism, SecureSource, Source};
use quietus::groups::{GroupPlan, Measure, Noisy};

/// Every mutant with its twin.
pub(crate) fn all() -> Vec<MutantCheck> {
    let code: [MutantCode; 3] = [
        ("M90-found", |effort| tables(effort, true), |effort| tables(effort, false)),
        ("M90-persons", |effort| persons(effort, 3), |effort| persons(effort, 1)),
        (
            "M151",
            |effort| crate::top::numbered(effort, true),
            |effort| crate::top::numbered(effort, false),
        ),
    ];
    dp_audit::harness::mutants(include_str!("mutants.toml"), &code)
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
            let comparison = compare(&run, &before, &after, &mut SecureSource::new(&mut rng));
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

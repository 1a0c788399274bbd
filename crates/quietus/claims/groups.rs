//! Counts, histograms and means: every measure, with one cell and several, small and large losses, on odd records.

use dp_audit::harness::{Check, Effort, Found};
use dp_audit::{Audit, Method as By};
use dp_mechanism::Mechanism;
use quietus::groups::{GroupPlan, GroupSettings, Measure, Tally};

pub(crate) fn checks() -> Vec<Check> {
    let what = "GroupPlan: count, histogram and mean by public groups";
    vec![Check::new("quietus-groups", what, "add-remove", By::Exact, by_groups)]
}

/// A row, after its cells were read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) group: Option<usize>,
    pub(crate) value: Option<f64>,
}

pub(crate) fn odd_rows() -> Vec<Row> {
    let groups = [Some(0), Some(1), Some(usize::MAX), None];
    let values = [
        None,
        Some(f64::NAN),
        Some(f64::NEG_INFINITY),
        Some(-0.0),
        Some(0.3),
        Some(1.0),
        Some(1e300),
    ];
    let row = |group| values.map(|value| Row { group, value });
    groups.into_iter().flat_map(row).collect()
}

pub(crate) fn plan(groups: usize, measure: Measure, epsilon: f64) -> GroupPlan {
    let (by, person) = (Some("town".to_owned()), None);
    let groups = (0..groups).map(|group| group.to_string()).collect();
    GroupPlan::new(GroupSettings { by, person, groups, measure, dates: false, epsilon })
        .expect("valid")
}

pub(crate) fn measures() -> Vec<Measure> {
    let column = || "x".to_owned();
    let mut measures = vec![Measure::Count];
    for bounds in [(0.0, 1.0), (-1e6, 1e-3), (1e15, 1e15 + 2.0)] {
        measures.extend([1, 3].map(|bins| Measure::Histogram { column: column(), bounds, bins }));
        measures.push(Measure::Mean { column: column(), bounds });
    }
    measures
}

pub(crate) fn tally(plan: &GroupPlan, rows: &[Row]) -> Tally {
    let mut tally = plan.tally();
    for row in rows {
        plan.add(&mut tally, row.group, row.value);
    }
    tally
}

fn by_groups(effort: Effort) -> Found {
    let mut settings = Vec::new();
    for measure in measures() {
        for groups in [1, 2] {
            for epsilon in [0.1, 1.0, 3.0] {
                let plan = plan(groups, measure.clone(), epsilon);
                assert!(plan.receipt().within_budget());
                settings.push((format!("{measure:?} of {groups}, epsilon {epsilon}"), plan));
            }
        }
    }
    let mut found = Found::claim(1.0);
    for (name, plan) in settings {
        let audit = Audit::new(odd_rows()).sizes([0, 1, 2, 20]).effort(effort);
        let findings = audit.run(&plan, |rows, run| run(&tally(&plan, rows)));
        let one = findings.found();
        found = found.and(Found { witness: format!("{name}: {}", one.witness), ..one });
    }
    found
}

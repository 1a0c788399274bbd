//! What was proved about the releases, and whether the default mechanism meets its targets.

use super::{error_of, setting};
use crate::eval::summary::Row;
use crate::report::number::significant;
use crate::report::page::Page;
use dp_census::Method;
use quietus_datasets::nation;

/// What a proof of a mechanism is a proof of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Whole numbers, closest to the noise.
    Exact,
    /// Whole numbers near to a fit that was solved twice.
    Fitted,
    /// Whole numbers, level by level or one step after the other.
    Steps,
    /// Real numbers closest to the noise, and whole ones near them.
    Rounded,
    /// Real numbers, closest to the noise.
    Real,
}

impl Kind {
    const ALL: [Self; 5] = [Self::Exact, Self::Steps, Self::Fitted, Self::Rounded, Self::Real];

    fn of(algorithm: &str) -> Option<Self> {
        match algorithm {
            "m-h-real" | "m-c-real" => Some(Self::Real),
            id => Method::ALL.into_iter().find(|method| method.id() == id).map(
                |method| match method {
                    Method::Counts | Method::Chain => Self::Exact,
                    Method::Cumulative => Self::Rounded,
                    Method::Fitted | Method::RootSpread => Self::Fitted,
                    _ => Self::Steps,
                },
            ),
        }
    }

    fn says(self) -> &'static str {
        match self {
            Self::Exact => "closest table of whole numbers: no exchange of a unit gains",
            Self::Steps => "each step closest to what it was given; not the closest table",
            Self::Fitted => {
                "the same table when it is solved again, and how far real rows were from adding up"
            }
            Self::Rounded => {
                "real optimum, and whole numbers within `l + 1/2` of it at level `l`, root 0"
            }
            Self::Real => "closest table of real numbers",
        }
    }
}

/// The worst of all proofs, by what they prove.
pub(super) fn proofs(rows: &[Row], page: &mut Page) {
    let mut lines = Vec::new();
    for kind in Kind::ALL {
        let of_kind: Vec<&Row> =
            rows.iter().filter(|row| Kind::of(&row.algorithm) == Some(kind)).collect();
        let values = |metric: &str| -> Vec<f64> {
            of_kind.iter().filter_map(|row| row.values.get(metric)).flatten().copied().collect()
        };
        let worst = |metric: &str| significant(values(metric).into_iter().fold(0.0, f64::max), 2);
        let releases = values("certificate_residual").len();
        if releases == 0 {
            continue;
        }
        let mut names: Vec<&str> = Vec::new();
        for row in &of_kind {
            if !names.contains(&row.algorithm.as_str()) {
                names.push(&row.algorithm);
            }
        }
        let distance = match kind {
            Kind::Rounded | Kind::Real => worst("certificate_distance"),
            _ => super::ABSENT.to_owned(),
        };
        let refused = values("certificate_infeasible").into_iter().filter(|&one| one > 0.0).count();
        let refused = if refused > 0 { format!("**{refused}**") } else { "none".to_owned() };
        let says = kind.says().to_owned();
        let residual = worst("certificate_residual");
        lines.push(vec![says, names.join(", "), releases.to_string(), refused, residual, distance]);
    }
    page.paragraph(
        "Proofs, computed from the noise and the table alone. *Residual*: the worst broken optimality condition of any release; in whole \
         numbers by how much a unit step lowers the weighted squared distance to what was given, in real numbers in groups. *Distance*: \
         how far a real optimum may at most be from the true one, as a weighted distance over the whole table, where that is bounded \
         (cumulative tables).",
    );
    let headings = ["what is proved", "mechanisms", "releases", "refused", "residual", "distance"];
    page.table(&headings, 2, &lines);
}

/// What `m-c-top-down` is held to on the whole nation at ε = 1, in thousands of groups: equal shares by level, and the total of
/// the better of two other shares.
const TARGET_BY_LEVEL: [f64; 3] = [0.18, 3.6, 147.0];
const TARGET_TOTAL: f64 = 70.0;

/// Beside the targets, whether they were met.
pub(super) fn targets(id: &str, rows: &[Row], page: &mut Page) {
    let at_one = |row: &&Row| {
        id == nation::ID
            && row.algorithm == Method::CumulativeTopDown.id()
            && setting(row).is_some_and(|setting| (setting - 1.0).abs() < 1e-12)
    };
    let rows: Vec<&Row> = rows.iter().filter(at_one).collect();
    let mean = |row: &Row, metric: &str| row.statistic(metric).map(|found| found.mean / 1e3);
    let mut lines = Vec::new();
    let mut line = |what: String, found: Option<f64>, target: f64| {
        let Some(found) = found else { return };
        let met = if found <= target { "met" } else { "missed" };
        lines.push(vec![what, significant(found, 3), target.to_string(), met.to_owned()]);
    };
    if let Some(equal) = rows.iter().find(|row| row.variant == "default") {
        for (level, target) in (1..).zip(TARGET_BY_LEVEL) {
            line(format!("level {level}, equal shares"), mean(equal, &error_of(level)), target);
        }
    }
    let shared = rows.iter().filter(|row| ["10/20/70", "roots"].contains(&row.variant.as_str()));
    let best = shared.filter_map(|row| mean(row, "l1_error_total")).reduce(f64::min);
    line("total, other shares".to_owned(), best, TARGET_TOTAL);
    if !lines.is_empty() {
        page.table(&["target at ε = 1, m-c-top-down", "found", "at most", ""], 1, &lines);
    }
}

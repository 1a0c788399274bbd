//! The closing table on the terminal: the few numbers that people look for first.

use crate::report::Evaluation;
use crate::report::number::{mean_sd, significant};
use crate::report::summary::{self, Row};
use std::fmt::Write as _;

/// One line per data set and algorithm.
pub(crate) fn table(evaluation: &Evaluation) -> String {
    let heading = [
        "data set",
        "algorithm",
        "runs",
        "squared inertia",
        "x baseline",
        "KMeans distance",
        "seconds",
    ];
    let mut lines = vec![heading.map(str::to_owned)];
    for id in evaluation.datasets() {
        let rows = summary::rows(&evaluation.records, id);
        let baseline = rows.iter().find(|row| !row.private).and_then(inertia);
        for row in &rows {
            let ratio = match (inertia(row), baseline) {
                (Some(mean), Some(baseline)) if baseline > 0.0 => significant(mean / baseline, 3),
                _ => String::new(),
            };
            lines.push([
                id.to_owned(),
                row.label(),
                row.runs.to_string(),
                shown(row, "inertia_squared"),
                ratio,
                shown(row, "kmeans_distance_normalised"),
                row.statistic("seconds").map_or(String::new(), |found| significant(found.mean, 2)),
            ]);
        }
    }
    aligned(&lines)
}

fn inertia(row: &Row) -> Option<f64> {
    row.statistic("inertia_squared").map(|found| found.mean)
}

fn shown(row: &Row, metric: &str) -> String {
    row.statistic(metric).map_or(String::new(), |found| mean_sd(found.mean, found.sd))
}

fn aligned(lines: &[[String; 7]]) -> String {
    let width = |column: usize| {
        lines.iter().map(|line| line[column].chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..7).map(width).collect();
    let mut text = String::new();
    for line in lines {
        let mut row = String::new();
        for (index, (cell, width)) in line.iter().zip(&widths).enumerate() {
            let written = if index < 2 {
                write!(row, "{cell:width$}  ")
            } else {
                write!(row, "{cell:>width$}  ")
            };
            written.expect("writing to a String cannot fail");
        }
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::table;
    use crate::cli::EvalArgs;
    use crate::eval::record::tests::example;
    use crate::eval::settings::Settings;
    use crate::report::Evaluation;

    #[test]
    fn the_closing_table_lines_up() {
        let args = EvalArgs { epsilon: 1.0, seed: 1, ..EvalArgs::default() };
        let evaluation = Evaluation {
            settings: Settings::new(&args).unwrap(),
            records: vec![
                example("synth-10d", "dpm", 0),
                example("synth-10d", "dpm", 1),
                example("synth-10d", "kmeans++", 0),
                example("letter", "dpm", 0),
            ],
            sections: Vec::new(),
            left_out: Vec::new(),
            failures: Vec::new(),
            interrupted: false,
        };
        insta::assert_snapshot!(table(&evaluation), @r"
        data set   algorithm  runs  squared inertia  x baseline  KMeans distance  seconds
        synth-10d  kmeans++      1           2.50e6        1.00          0.00500     0.25
        synth-10d  dpm, ε 1      2   2.55e6 ± 7.1e4        1.02          0.00500     0.25
        letter     dpm, ε 1      1           2.50e6                      0.00500     0.25
        ");
    }
}

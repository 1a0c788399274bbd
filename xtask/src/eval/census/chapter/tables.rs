//! The tables of errors by epsilon, and what real mechanisms violate.

use super::{ABSENT, error_of, levels, name, promise, setting, settings, thousands};
use crate::eval::census::Section;
use crate::eval::summary::Row;
use crate::report::number::significant;
use crate::report::page::Page;

/// The line of the paper below ours.
fn published(row: &Row, levels: usize) -> Option<Vec<String>> {
    let paper = &row.first.as_ref()?.paper;
    let of_level = |level| paper.get(&error_of(level)).map(|error| error / 1e3);
    let errors: Vec<f64> = (1..=levels).map(of_level).collect::<Option<_>>()?;
    if errors.is_empty() {
        return None;
    }
    let mut line = vec![format!("{}, *published*", name(row)), String::new(), "30".to_owned()];
    line.extend(errors.iter().map(|&error| significant(error, 3)));
    line.push(significant(errors.iter().sum(), 3));
    let violations = paper.get("constraint_violations");
    line.push(violations.map_or(ABSENT.to_owned(), |&count| significant(count, 4)));
    line.extend([ABSENT; 3].map(str::to_owned));
    Some(line)
}

const VIOLATIONS: &str = "constraint_violations";
/// The mechanisms whose tables are real numbers.
const REAL: [&str; 2] = ["m-h-real", "m-c-real"];

/// All mechanisms at one epsilon, with published values below ours.
pub(super) fn table(rows: &[Row], epsilon: f64, page: &mut Page) {
    let of_setting = |row: &&Row| setting(row).is_some_and(|s| s.to_bits() == epsilon.to_bits());
    let rows: Vec<&Row> = rows.iter().filter(of_setting).collect();
    let levels = rows.first().map_or(0, |row| levels(row));
    let level_names: Vec<String> = (1..=levels).map(|level| format!("level {level}")).collect();
    let mut headings = vec!["mechanism", "promise", "runs"];
    headings.extend(level_names.iter().map(String::as_str));
    headings.extend(["total", "violations", "negative", "missing", "seconds"]);
    let mut lines = Vec::new();
    for row in rows {
        let plain = |metric: &str, digits| {
            row.statistic(metric).map_or(ABSENT.to_owned(), |s| significant(s.mean, digits))
        };
        let mut line = vec![format!("**{}**", name(row)), promise(row), row.runs.to_string()];
        line.extend((1..=levels).map(|level| thousands(row.statistic(&error_of(level)))));
        line.push(thousands(row.statistic("l1_error_total")));
        line.extend(
            ["constraint_violations", "negative_cells", "groups_missing"].map(|m| plain(m, 4)),
        );
        line.push(plain("seconds", 2));
        lines.push(line);
        lines.extend(published(row, levels));
    }
    page.table(&headings, 2, &lines);
}

/// How many sums of parts the real mechanisms break once they are rounded cell by cell.
pub(super) fn violations(rows: &[Row], section: Option<&Section>, page: &mut Page) {
    let Some((_, above)) = section.and_then(|section| section.recipe.levels.split_last()) else {
        return;
    };
    let inner: usize = above.iter().map(|(_, regions)| regions).sum();
    let epsilons = settings(rows);
    let shown = |count: Option<f64>| count.map_or(ABSENT.to_owned(), |x| significant(x, 4));
    let mut lines = Vec::new();
    for id in REAL {
        let at = |epsilon: &f64| {
            let same = |row: &&Row| row.algorithm == id && setting(row) == Some(*epsilon);
            rows.iter().find(same)
        };
        let ours = |epsilon| Some(at(epsilon)?.statistic(VIOLATIONS)?.mean);
        let paper = |epsilon| at(epsilon)?.first.as_ref()?.paper.get(VIOLATIONS).copied();
        let line = |name: String, counts: Vec<Option<f64>>| {
            [name].into_iter().chain(counts.into_iter().map(shown)).collect()
        };
        lines.push(line(format!("**{id}**"), epsilons.iter().map(ours).collect()));
        let published: Vec<Option<f64>> = epsilons.iter().map(paper).collect();
        if published.iter().any(Option::is_some) {
            lines.push(line(format!("{id}, *published*"), published));
        }
    }
    if inner == 0 || lines.is_empty() {
        return;
    }
    page.paragraph("What real mechanisms violate, once they are rounded cell by cell:");
    let sums = rows.first().map_or(0, |row| inner * row.d);
    let headings = epsilons.iter().map(|epsilon| format!("ε = {epsilon}"));
    let headings: Vec<String> =
        [format!("violations of {sums} sums of parts")].into_iter().chain(headings).collect();
    page.table(&headings.iter().map(String::as_str).collect::<Vec<_>>(), 1, &lines);
}

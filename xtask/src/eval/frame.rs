//! What stands around the chapters of a report: what was asked for, what is missing and why.

use crate::eval::evaluation::Evaluation;
use crate::eval::provenance::Provenance;
use crate::eval::settings::Effort;
use crate::report::page::Page;

/// Title and settings.
pub(crate) fn opening(evaluation: &Evaluation, page: &mut Page) {
    let settings = &evaluation.context.settings;
    page.text.push_str("# Quietus evaluation\n\n");
    if evaluation.interrupted {
        page.paragraph(
            "**Interrupted.** What is below is complete; the same command with `--resume` adds \
             the rest.",
        );
    }
    page.paragraph(
        "Everything here is computed from the raw data, to judge algorithms on public data sets: \
         the report, its metrics and its plots are no private release.",
    );
    let effort = match settings.effort {
        Effort::Quick => "quick",
        Effort::Standard => "standard",
        Effort::Full => "full",
    };
    let provenance = Provenance::now();
    let rows = [
        ("made", provenance.time),
        ("revision", provenance.revision),
        ("machine", provenance.machine),
        ("suites", settings.suites.join(", ")),
        ("effort", effort.to_owned()),
        ("runs", settings.runs.to_string()),
        ("seed", settings.seed.to_string()),
        (
            "epsilon of private algorithms, where no sweep says otherwise",
            settings.epsilon.to_string(),
        ),
    ];
    let lines: Vec<_> =
        rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect();
    page.table(&["setting", "value"], 2, &lines);
}

/// What is missing and why.
pub(crate) fn closing(evaluation: &Evaluation, page: &mut Page) {
    let left_out = evaluation.left_out.iter().map(|set| (&set.dataset, &set.reason));
    let failures = evaluation.failures.iter().map(|failure| (&failure.what, &failure.reason));
    list("Left out", left_out, page);
    list("Failed", failures, page);
}

fn list<'a>(title: &str, rows: impl Iterator<Item = (&'a String, &'a String)>, page: &mut Page) {
    let mut rows = rows.peekable();
    if rows.peek().is_none() {
        return;
    }
    page.chapter(title);
    rows.for_each(|(what, reason)| page.bullet(&format!("**{what}**: {reason}")));
    page.gap();
}

//! The report's text, in Markdown.

use crate::eval::settings::Effort;
use crate::report::summary::Row;
use crate::report::table::table;
use crate::report::{Evaluation, Receipts};
use std::fmt::Write as _;

const LEGEND: &str = "\
## What the columns mean

Means over runs ± standard deviation. Everything here is computed from the raw data, to judge \
algorithms on public data sets: the report, its metrics and its plots are no private release.

- **squared inertia**: sum of squared distances of all points to their nearest centre; what the \
published tables hold. **x baseline** is its ratio to the non-private k-means++ of the same source.
- **KMeans distance**, normalised: mean distance from a centre to the nearest one of a non-private \
reference clustering, over several of these, as a share of the diagonal of the declared range.
- **silhouette**: on a sample, 1 is best, -1 for a single cluster. **accuracy**: share of points \
whose class is the majority class of their cluster.
- **centres**: how many there are; **found**: how many of the true clusters are the nearest one of \
some centre, where the truth is known.
- **seconds**: the algorithm alone, without metrics. **peak MiB**: of the whole process while the \
algorithm ran, data included.
- *paper*: as printed (20 runs, epsilon 1). *public code, re-run*: the code that the authors or \
libraries publish, at the same epsilon and delta (5 runs).
";

/// Title and settings.
pub(crate) fn opening(evaluation: &Evaluation) -> String {
    let settings = &evaluation.settings;
    let mut text = String::from("# Quietus evaluation\n\n");
    if evaluation.interrupted {
        text.push_str("**Interrupted.** What is below is complete; the same command with `--resume` adds the rest.\n\n");
    }
    let effort = match settings.effort {
        Effort::Quick => "quick",
        Effort::Standard => "standard",
        Effort::Full => "full",
    };
    let rows = [
        ("suites", settings.suites.join(", ")),
        ("effort", effort.to_owned()),
        ("runs", settings.runs.to_string()),
        ("seed", settings.seed.to_string()),
        ("epsilon of private algorithms", settings.epsilon.to_string()),
        ("delta", "n^-1.5; the number of points is public".to_owned()),
        ("reference clusterings", settings.effort.references().to_string()),
        ("silhouette sample", settings.effort.silhouette_sample().to_string()),
    ];
    text.push_str("| setting | value |\n|---|---|\n");
    for (name, value) in rows {
        line(&mut text, format_args!("| {name} | {value} |"));
    }
    text.push('\n');
    text
}

/// One data set: facts, table, plots, receipts.
pub(crate) fn dataset(
    evaluation: &Evaluation,
    id: &str,
    rows: &[Row],
    figures: &[(String, String)],
    receipts: &Receipts,
) -> String {
    let mut text = format!("## {id}\n\n");
    if let Some(row) = rows.first() {
        write!(text, "{} points in {} dimensions", row.n, row.d).expect(STRING);
        if let Some(section) = evaluation.section(id) {
            let (low, high) = section.range;
            write!(text, ", k = {}, declared range {low} to {high}", section.k).expect(STRING);
            write!(text, ", delta {:.2e}", section.delta).expect(STRING);
            write!(text, ", points sha256 `{}`", &section.checksum[..16]).expect(STRING);
        }
        text.push_str(".\n\n");
    }
    text.push_str(&table(id, rows));
    text.push('\n');
    for (caption, path) in figures {
        line(&mut text, format_args!("![{caption}]({path})"));
    }
    for (label, receipt) in receipts {
        write!(
            text,
            "\n<details><summary>Receipt of the first release of {label}</summary>\n\n```text\n{}\n```\n\n</details>\n",
            receipt.trim_end()
        )
        .expect(STRING);
    }
    text.push('\n');
    text
}

/// What is missing and why, then the legend.
pub(crate) fn closing(evaluation: &Evaluation) -> String {
    let mut text = String::new();
    if !evaluation.left_out.is_empty() {
        text.push_str("## Left out\n\n");
        for left_out in &evaluation.left_out {
            line(&mut text, format_args!("- **{}**: {}", left_out.dataset, left_out.reason));
        }
        text.push('\n');
    }
    if !evaluation.failures.is_empty() {
        text.push_str("## Failed\n\n");
        for failure in &evaluation.failures {
            line(&mut text, format_args!("- **{}**: {}", failure.what, failure.reason));
        }
        text.push('\n');
    }
    text.push_str(LEGEND);
    text
}

const STRING: &str = "writing to a String cannot fail";

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect(STRING);
}

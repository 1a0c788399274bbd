//! The suite's chapter of the report: per data set facts, a table, plots and receipts.

use crate::error::Error;
use crate::eval::clustering::centres::{self, FirstRun};
use crate::eval::clustering::{Section, published, scatter, strip, studies, table};
use crate::eval::record::Record;
use crate::eval::settings::Settings;
use crate::eval::summary::{self, Row};
use crate::report::page::Page;
use std::path::Path;

const INTRODUCTION: &str = "\
delta is n^-1.5; the number of points is public. Means over runs ± standard deviation.

- **squared inertia**: sum of squared distances of all points to their nearest centre; what the \
published tables hold. **x baseline** is its ratio to the non-private k-means++ of the same source; **floor** is what the \
same ratio would be for one round of noise around known clusters: no method here can be expected below it. `public-uniform` shares out the \
public box evenly and does not look at the points.
- **KMeans distance**, normalised: mean distance from a centre to the nearest one of a non-private \
reference clustering, over several of these, as a share of the diagonal of the declared range.
- **silhouette**: on a sample, 1 is best, -1 for a single cluster. **accuracy**: share of points \
whose class is the majority class of their cluster.
- **centres**: how many there are; **found**: how many of the true clusters are the nearest one of \
some centre, where the truth is known.
- **seconds**: the algorithm alone, without metrics. **peak MiB**: of the whole process while the \
algorithm ran, data included.
- *paper*: as printed (20 runs, epsilon 1). *public code, re-run*: the code that the authors or \
libraries publish, at the same epsilon and delta (5 runs).";

/// Writes the chapter.
pub(super) fn write(
    sections: &[Section],
    records: &[Record],
    settings: &Settings,
    page: &mut Page,
) -> Result<(), Error> {
    page.chapter("Clustering");
    page.paragraph(INTRODUCTION);
    page.paragraph(&format!(
        "Reference clusterings: {}; silhouettes on {} points.",
        settings.effort.references(),
        settings.effort.silhouette_sample()
    ));
    let of_tables: Vec<Record> =
        records.iter().filter(|record| studies::of_table(record)).cloned().collect();
    for id in datasets(sections, &of_tables) {
        let section = sections.iter().find(|section| section.id == id);
        let rows = summary::rows(&of_tables, id);
        page.section(id);
        page.paragraph(&facts(&rows, section));
        page.paragraph(&table::table(id, &rows));
        figures(id, &rows, section, &settings.out, page)?;
        for row in &rows {
            if let Some(receipt) = first_run(&settings.out, row).and_then(|first| first.receipt) {
                let title = format!("Receipt of the first release of {}", row.label());
                page.folded(&title, &receipt);
            }
        }
        page.gap();
    }
    studies::report(records, settings, page)
}

/// Data sets with anything to show: opened ones first, then those of an earlier run.
fn datasets<'a>(sections: &'a [Section], records: &'a [Record]) -> Vec<&'a str> {
    let mut ids: Vec<&str> = sections.iter().map(|section| section.id.as_str()).collect();
    let others = summary::datasets(records).into_iter().filter(|id| !ids.contains(id));
    let others: Vec<&str> = others.collect();
    ids.extend(others);
    ids
}

fn facts(rows: &[Row], section: Option<&Section>) -> String {
    let Some(row) = rows.first() else { return String::new() };
    let points = format!("{} points in {} dimensions", row.n, row.d);
    match section {
        None => points + ".",
        Some(section) => format!(
            "{points}, k = {}, declared range {} to {}, delta {:.2e}, points sha256 `{}`.",
            section.k,
            section.range.0,
            section.range.1,
            section.delta,
            &section.checksum[..16]
        ),
    }
}

fn figures(
    id: &str,
    rows: &[Row],
    section: Option<&Section>,
    out: &Path,
    page: &mut Page,
) -> Result<(), Error> {
    for (metric, title, log) in [
        ("inertia_squared", "Squared inertia, log scale", true),
        ("kmeans_distance_normalised", "KMeans distance, normalised", false),
        ("seconds", "Running time in seconds, log scale", true),
    ] {
        let strips = strip::strips(rows, published::for_dataset(id), metric);
        if !strips.is_empty() {
            let caption = format!("{title}, per algorithm on {id}");
            page.figure(&format!("{id}-{metric}"), &caption, strip::draw(title, &strips, log)?);
        }
    }
    let Some(section) = section else { return Ok(()) };
    let baseline = rows.iter().find(|row| row.algorithm == "kmeans++");
    let baseline = baseline.and_then(|row| first_run(out, row));
    for row in rows.iter().filter(|row| row.private) {
        let Some(first) = first_run(out, row) else { continue };
        let caption = format!("{id}: points and the private centres of {}", row.label());
        let name = format!("{id}-centres-{}", row.file_name());
        let svg = scatter::draw(&section.cloud, &row.label(), &first, baseline.as_ref())?;
        page.figure(&name, &caption, svg);
    }
    Ok(())
}

fn first_run(out: &Path, row: &Row) -> Option<FirstRun> {
    centres::find(out, row.first.as_ref()?)
}

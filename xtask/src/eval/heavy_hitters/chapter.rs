//! The suite's chapter of the report.

use crate::error::Error;
use crate::eval::heavy_hitters::{figures, throughput};
use crate::eval::record::Record;
use crate::eval::settings::Settings;
use crate::eval::summary::{self, Row};
use crate::eval::tables::{self, Column};
use crate::report::number::significant;
use crate::report::page::Page;
use quietus_datasets::sets::heavy_hitters as data;

const INTRODUCTION: &str = "\
Which items do many users show in a step? Guarantees are for the whole history of a user. Means over \
runs ± standard deviation.

- **k**: in how many reports a user can be. **recall**: share of the items of at least *heavy* users (per \
step) that were reported. **precision**: share of the reports whose item had at least half as many.
- **smallest count found**: every item of at least so many users was reported in this run. \
**promised**: from so many on an item is missed at most once in a thousand times, while its users are active.
- **unseen**: reports of items that nobody showed. **users dropped**: share of the sampled users who \
had no report left at the end; their later events do not count any more.
- `exact` is not private: it reports the items of at least *heavy* users.
- Methods that draw for every item of every step run on small universes only.";

const COLUMNS: [Column; 8] = [
    ("recall", "recall"),
    ("precision", "precision"),
    ("smallest_count_found", "smallest count found"),
    ("smallest_count_promised", "promised"),
    ("reports", "reports"),
    ("unseen_reported", "unseen"),
    ("users_dropped", "users dropped"),
    ("seconds", "seconds"),
];

pub(super) fn write(records: &[Record], settings: &Settings, page: &mut Page) -> Result<(), Error> {
    page.chapter("Heavy hitters");
    page.paragraph(INTRODUCTION);
    for id in summary::datasets(records).into_iter().filter(|id| *id != throughput::DATASET) {
        let source = data::source(id)?;
        page.section(id);
        let heavy = records
            .iter()
            .find(|record| record.dataset == id)
            .and_then(|record| record.metrics.get("heavy_hitters"));
        page.paragraph(&format!(
            "{} steps, {} items, at most {} users; {} (step, item) pairs have {} users or more.",
            source.steps,
            source.items,
            source.users,
            heavy.map_or("some".to_owned(), |count| format!("{count:.0}")),
            source.heavy
        ));
        tables::of_metrics(&summary::rows(records, id), &COLUMNS, page);
    }
    if records.iter().any(|record| record.dataset == "zipf-drift") {
        figures::timeline(data::source("zipf-drift")?, settings, page)?;
    }
    figures::crossover(settings, page)?;
    speed(records, page);
    Ok(())
}

fn speed(records: &[Record], page: &mut Page) {
    let rows = summary::rows(records, throughput::DATASET);
    if rows.is_empty() {
        return;
    }
    page.section("Speed and memory");
    page.paragraph(
        "One thread, one million users, 2^32 items, k = 16; events per second of processor time (of time on the \
         wall where the system does not tell), the best of five spells in every run, since others share \
         the machine. Memory is that of the session between two steps: one byte per user and the \
         tables of the largest step.",
    );
    let best = |row: &Row, metric: &str| {
        let values = row.values.get(metric).into_iter().flatten();
        values.copied().fold(f64::NAN, f64::max)
    };
    let lines: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            vec![
                row.variant.clone(),
                significant(best(row, "events_per_second") / 1e6, 3),
                significant(best(row, "memory_bytes") / 1e6, 3),
                significant(best(row, "memory_bytes_per_user"), 3),
            ]
        })
        .collect();
    let headings = ["step", "million events per second", "memory, MB", "bytes per user"];
    page.table(&headings, 1, &lines);
}

/// The closing table on the terminal.
pub(super) fn summary(records: &[Record]) -> Vec<Vec<String>> {
    let of_streams = records.iter().filter(|record| record.dataset != throughput::DATASET);
    let [recall, precision, smallest, ..] = COLUMNS;
    tables::closing(&of_streams.cloned().collect::<Vec<_>>(), &[recall, precision, smallest])
}

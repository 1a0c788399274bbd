//! The suite's chapter of the report.

use crate::eval::growth;
use crate::eval::record::Record;
use crate::eval::summary;
use crate::report::number::significant;
use crate::report::page::Page;

const INTRODUCTION: &str = "\
k-means of clients who trust nobody: each randomises its own record, so the guarantee holds against the server. Eight \
clusters in a cube of side 2, generated or of real sets (all columns scaled from one declared range), one record per client. **cost** is the true cost of the centres as a multiple of that of the best of three \
k-means++ with the records in hand; mean over runs ± standard deviation, and the worst.

- `kmeans++` sees the records and is not private; `private-kmeans` trusts one place with them (delta 1e-6); `public-uniform` asks nobody and clusters uniform points of the cube.
- `local-k-means` asks each client once, for one byte or two; *one histogram* has one round and no re-centring.
- `local-private-centers` is the protocol that the paper sketches: heavy buckets of shifted grids at four radii, their sums, a vote for \
candidates, a vote for those that are left; *one round* stops at the buckets.
- `laplace-records` lets each client add Laplace noise to its coordinates: what first comes to mind, and what it costs.";

pub(super) fn write(records: &[Record], page: &mut Page) {
    page.chapter("Clients who trust nobody");
    page.paragraph(INTRODUCTION);
    for id in summary::datasets(records) {
        page.section(id);
        let lines: Vec<Vec<String>> = lines(records, id);
        let headings = ["algorithm", "runs", "cost", "worst", "bytes", "rounds", "seconds"];
        page.table(&headings, 1, &lines);
    }
    let of = "the planted clusters of two dimensions";
    growth::powers(records, of, |id| id.starts_with("local-planted-d2-"), page);
}

fn lines(records: &[Record], id: &str) -> Vec<Vec<String>> {
    let of = |row: &summary::Row| {
        let mean = |metric: &str, digits| {
            let found = row.statistic(metric);
            found.map_or("–".to_owned(), |found| significant(found.mean, digits))
        };
        let worst = row
            .values
            .get("cost_ratio")
            .map_or(f64::NAN, |values| values.iter().copied().fold(f64::NEG_INFINITY, f64::max));
        vec![
            row.label(),
            row.runs.to_string(),
            row.shown("cost_ratio"),
            significant(worst, 4),
            mean("bytes_per_client", 2),
            mean("rounds", 2),
            mean("seconds", 2),
        ]
    };
    summary::rows(records, id).iter().map(of).collect()
}

/// The closing table on the terminal.
pub(super) fn summary(records: &[Record]) -> Vec<Vec<String>> {
    let mut all =
        vec![["data set", "algorithm", "runs", "cost", "worst"].map(str::to_owned).to_vec()];
    for id in summary::datasets(records) {
        for line in lines(records, id) {
            all.push([&[id.to_owned()], &line[..4]].concat());
        }
    }
    all
}

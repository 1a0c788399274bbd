//! The suite's chapter of the report.

use crate::eval::growth;
use crate::eval::record::Record;
use crate::eval::summary;
use crate::eval::tables;
use crate::report::page::Page;

const INTRODUCTION: &str = "\
k-means with a constant factor (Stemmer and Kaplan), on planted clusters in a cube of side 2, at delta 1e-6. **cost** is the squared \
inertia as a multiple of that of the clusters' own means; mean over runs ± standard deviation. **additive** is what it is above that, in \
squared diagonals of the cube: what theory bounds by a polynomial of k and d, whatever the number of records.

- `private-centres` is k-means on means of cells with many records, from grids that all records are in, or subsamples of them as in the \
paper; `stemmer-kaplan` chooses among such means privately; *recentred* with half of the budget for the rounds after it.
- `dpm-recentred` and `private-kmeans` are what to use instead. `local-k-means` has no collector, and no delta.
- `public-uniform` looks at no record.";

/// Clusters in the table of crossovers.
const CLUSTERS: [f64; 5] = [2.0, 8.0, 32.0, 128.0, 1024.0];
/// No dimension beyond is looked at.
const MOST_DIMENSIONS: u32 = 1_000_000;

/// Of `k` and `d`.
type Formula = fn(f64, f64) -> f64;

/// Additive errors of the paper's Table 1, without constants and logarithms, by k and d.
const RIVALS: [(&str, Formula); 3] = [
    ("Feldman et al. 2017, d^.5 k^1.5 (factor k log n)", |k, d| d.sqrt() * k.powf(1.5)),
    ("Balcan et al. 2017, d + k^2 (factor log^3 n)", |k, d| d + k * k),
    ("Nissim, Stemmer 2018, d^.51 k^1.51", |k, d| d.powf(0.51) * k.powf(1.51)),
];

fn this_work(k: f64, d: f64) -> f64 {
    k.powf(1.01) * d.powf(0.51) + k.powf(1.5)
}

pub(super) fn write(records: &[Record], page: &mut Page) {
    page.chapter("k-means with a constant factor");
    page.paragraph(INTRODUCTION);
    crossovers(page);
    let of = "the sets of four dimensions and eight clusters";
    growth::powers(records, of, |id| id.ends_with("-d4-k8"), page);
    for id in summary::datasets(records) {
        page.section(id);
        let rows = summary::rows(records, id);
        tables::costs_by_epsilon(&rows, page);
        let columns = [("additive", "additive"), ("seconds", "seconds")];
        tables::of_metrics(&rows, &columns, page);
    }
}

/// The number of dimensions from which on the paper's additive error is below another one.
fn first_dimension(rival: Formula, k: f64) -> Option<u32> {
    (1..=MOST_DIMENSIONS).find(|d| this_work(k, f64::from(*d)) < rival(k, f64::from(*d)))
}

fn crossovers(page: &mut Page) {
    page.paragraph(
        "The paper's Table 1 as formulas, constants and logarithms left out: from how many dimensions on its additive error, k^1.01 d^.51 \
         + k^1.5, is below that of others.",
    );
    let line = |(name, rival): &(&str, Formula)| {
        let cell = |k: &f64| {
            first_dimension(*rival, *k).map_or("never".to_owned(), |first| first.to_string())
        };
        [(*name).to_owned()].into_iter().chain(CLUSTERS.iter().map(cell)).collect()
    };
    let lines: Vec<Vec<String>> = RIVALS.iter().map(line).collect();
    let headings: Vec<String> = CLUSTERS.iter().map(|k| format!("k {k}")).collect();
    let headings = ["below"].into_iter().chain(headings.iter().map(String::as_str));
    page.table(&headings.collect::<Vec<_>>(), 1, &lines);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crossovers_are_those_of_their_formulas() {
        for (name, rival) in RIVALS {
            for k in CLUSTERS {
                let Some(first) = first_dimension(rival, k) else { continue };
                let below = |d: u32| this_work(k, f64::from(d)) < rival(k, f64::from(d));
                assert!(below(first) && (first == 1 || !below(first - 1)), "{name}, k {k}");
            }
        }
    }
}

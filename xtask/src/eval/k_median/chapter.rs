//! The suite's chapter of the report.

use crate::error::Error;
use crate::eval::record::Record;
use crate::eval::summary::{self, Row};
use crate::eval::tables;
use crate::report::page::Page;
use crate::report::plot::lines::{Labels, Place, Series, draw};

const INTRODUCTION: &str = "\
Where to put k centres among the nodes of a public metric, for private users at its nodes (q1: sum of \
distances, q2: of squares). Guarantees are for adding or removing a user. **cost** is the true cost as a \
multiple of that of the same local search on the true weights; mean over runs ± standard deviation.

- `faster-pam` is that search and is not private; `public-uniform` does not look at the users.
- `metric-clustering` is the one to use, by public facts: `metric-histogram`, in a plane and with few users with half of \
the budget for counts of cells of nodes; or `metric-bicriteria`.
- `metric-histogram` counts every node and searches with posterior means of the counts; *one prior* does not \
look at neighbourhoods, *clipped* takes positive counts as they are, *best threshold* the smallest noisy cost of \
four thresholds.
- `metric-bicriteria` picks places privately and counts who is near them; *as published* with the paper's \
constants (and a public number of picks). `approximate-greedy` has delta 1e-6 and no sample; \
`composition-greedy` divides epsilon among k picks.";

/// The one to use, and what it is compared with.
const OURS: &str = "metric-clustering";
const OTHERS: [&str; 2] = ["approximate-greedy", "public-uniform"];

pub(super) fn write(records: &[Record], page: &mut Page) -> Result<(), Error> {
    page.chapter("Metric k-median and k-means");
    page.paragraph(INTRODUCTION);
    page.paragraph(&crossover(records));
    for id in summary::datasets(records) {
        let Some(first) = records.iter().find(|record| record.dataset == id) else { continue };
        page.section(id);
        let k = first.params.get("k").map_or(String::new(), ToString::to_string);
        page.paragraph(&format!("{} nodes, {} users, k = {k}.", first.d, first.n));
        let rows = summary::rows(records, id);
        tables::costs_by_epsilon(&rows, page);
        if tables::epsilons(&rows).len() > 1 {
            let series = curves(&rows);
            let labels =
                Labels { title: "Cost over epsilon", x: "epsilon", x_log: true, y_log: true };
            page.figure(
                &format!("k-median-{id}"),
                &format!("Cost on {id}"),
                draw(labels, &series)?,
            );
            page.gap();
        }
    }
    Ok(())
}

fn curves(rows: &[Row]) -> Vec<Series> {
    let curve = |name: String| {
        let of = rows.iter().filter(|row| row.name() == name);
        let mut places: Vec<Place> = of.filter_map(|row| row.place("cost_ratio")).collect();
        places.sort_by(|a, b| a.x.total_cmp(&b.x));
        Series { name, places }
    };
    tables::names(rows).into_iter().map(curve).filter(|series| series.places.len() > 1).collect()
}

/// In how many cells others are ahead of the one to use.
fn crossover(records: &[Record]) -> String {
    let ahead = OTHERS.map(|other| {
        let (mut cells, mut behind) = (0, Vec::new());
        for id in summary::datasets(records) {
            let rows = summary::rows(records, id);
            for epsilon in tables::epsilons(&rows) {
                let cost = |algorithm: &str| {
                    let row = rows.iter().find(|row| {
                        let is_at = |e: f64| e.to_bits() == epsilon.to_bits();
                        row.algorithm == algorithm
                            && row.variant == "default"
                            && row.epsilon.is_none_or(is_at)
                    })?;
                    row.statistic("cost_ratio").map(|found| found.mean)
                };
                if let (Some(ours), Some(others)) = (cost(OURS), cost(other)) {
                    cells += 1;
                    if others < ours {
                        behind.push(format!("{id} at ε {epsilon}"));
                    }
                }
            }
        }
        let where_behind =
            if behind.is_empty() { String::new() } else { format!(": {}", behind.join(", ")) };
        format!(
            "`{OURS}` costs more than `{other}` in {} of {cells} cells{where_behind}.",
            behind.len()
        )
    });
    ahead.join(" ")
}

//! The suite's chapter of the report.

use crate::error::Error;
use crate::eval::record::Record;
use crate::eval::set_cover::methods::{DELTA, MAIN};
use crate::eval::summary::{self, Row};
use crate::eval::tables::{self, Column};
use crate::report::page::Page;
use crate::report::plot::lines::{Labels, Series, draw};
use quietus_datasets::sets::set_cover as data;

const INTRODUCTION: &str = "\
Users are private, sets are public. An order of all sets is released and every user takes the first set \
that holds them; the cost is how many different sets are taken. Means over runs ± standard deviation.

- **cost / greedy**: against the greedy order, which is not private. `random` looks at nobody.
- **served**: share of the users who are served by the first sets of the order, as many as greedy needs \
for all. It tells how good the order is for a partial cover.
- `scp…` are instances of the OR-Library without their costs, every row as 10 or 100 users; `random` is \
generated alike. Baskets (`retail`) and ratings (`movielens_small`) have users in many sets each; in \
`mushroom` one item is in every row, so it is left out.
- `set-cover-as-published` has the published thresholds, whose constants are for far more users, with \
the noise of its count corrected; `set-cover-greedy-scaling` has smaller thresholds.
- On families of many sets only the main algorithms are run.";

const COLUMNS: [Column; 3] = [
    ("cost_ratio", "cost / greedy"),
    ("share_served_by_as_many", "served"),
    ("seconds", "seconds"),
];

pub(super) fn write(records: &[Record], page: &mut Page) -> Result<(), Error> {
    page.chapter("Set cover");
    page.paragraph(INTRODUCTION);
    for id in summary::datasets(records) {
        let source = data::source(id)?;
        let rows = summary::rows(records, id);
        page.section(id);
        let greedy = rows.iter().find_map(|row| row.statistic("greedy_cost"));
        page.paragraph(&format!(
            "{} users, {} sets; greedy uses {}. {}",
            source.users,
            source.sets,
            greedy.map_or("some".to_owned(), |found| format!("{:.0}", found.mean)),
            crossing(&rows)
        ));
        tables::of_metrics(&rows, &COLUMNS, page);
        let series = curves(&rows);
        if series.iter().any(|one| one.places.len() > 1) {
            let title = format!("Cost over greedy, {id}");
            let labels = Labels { title: &title, x: "epsilon", x_log: true, y_log: false };
            page.figure(&format!("set-cover-{id}"), &title, draw(labels, &series)?);
            page.gap();
        }
    }
    Ok(())
}

/// Rows of an algorithm without a variant, by epsilon.
fn by_epsilon<'a>(rows: &'a [Row], algorithm: &str) -> Vec<(f64, &'a Row)> {
    let of = |row: &&Row| row.algorithm == algorithm && row.variant == "default";
    let mut found: Vec<(f64, &Row)> =
        rows.iter().filter(of).filter_map(|row| Some((row.epsilon?, row))).collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found
}

/// The ratio over epsilon with a band of one standard deviation.
fn curves(rows: &[Row]) -> Vec<Series> {
    let series = |algorithm: &&str| {
        let places = by_epsilon(rows, algorithm)
            .iter()
            .filter_map(|(_, row)| row.place("cost_ratio"))
            .collect();
        Series { name: (*algorithm).to_owned(), places }
    };
    MAIN.iter().map(series).filter(|one| !one.places.is_empty()).collect()
}

/// Where the approximate form does better than the pure one, by more than chance would have it.
fn crossing(rows: &[Row]) -> String {
    let pure = by_epsilon(rows, "set-cover-select");
    let approximate = by_epsilon(rows, "set-cover-gupta");
    if pure.is_empty() || approximate.is_empty() {
        return String::new();
    }
    let cost = |row: &Row| {
        let found = row.statistic("cost_ratio")?;
        Some((found.mean, found.sd.unwrap_or(0.0).powi(2) / row.runs as f64))
    };
    let is_better = |pure: &Row, approximate: &Row| {
        let (Some(a), Some(b)) = (cost(pure), cost(approximate)) else { return false };
        b.0 + 2.0 * (a.1 + b.1).sqrt() < a.0
    };
    let better = pure.iter().zip(&approximate).filter(|(a, b)| is_better(a.1, b.1));
    let epsilons: Vec<String> = better.map(|(a, _)| a.0.to_string()).collect();
    let places = match epsilons.as_slice() {
        [] => "at no epsilon here".to_owned(),
        some => format!("at epsilon {}", some.join(", ")),
    };
    format!(
        "The approximate form (delta {DELTA:e}) costs less than the pure one, by two standard errors, {places}."
    )
}

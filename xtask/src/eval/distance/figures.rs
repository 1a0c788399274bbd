//! Figures 1 and 2 of the paper, with our rows, and bands of three standard errors.

use crate::error::Error;
use crate::eval::distance::sources::{FIGURE_1, FIGURE_2_K};
use crate::eval::record::Record;
use crate::eval::summary::{self, Row};
use crate::report::number::mean_sd;
use crate::report::page::Page;
use crate::report::plot::lines::{Labels, Place, Series, draw};
use std::collections::BTreeMap;

/// Of the paper.
const EPSILON: f64 = 1.0;

/// The paper's two baselines, its algorithm, its baseline of noised points, soft steps, and the map.
const ALGORITHMS: [&str; 7] = [
    "kmeans++",
    "dpm-recentred",
    "noised-points",
    "region-coreset",
    "region-coreset-true",
    "soft-recentred",
    "map",
];

/// One figure: what is on the horizontal axis, and which rows are in it.
struct Figure {
    number: u32,
    x: &'static str,
    title: String,
    /// The place of a row on the axis, or that it is at all of them.
    at: fn(&Row) -> Option<At>,
}

enum At {
    Place(f64),
    Everywhere,
}

pub(super) fn write(records: &[Record], page: &mut Page) -> Result<(), Error> {
    let mut sets: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for id in summary::datasets(records) {
        for row in summary::rows(records, id) {
            let of = row.first.as_ref().and_then(|first| first.params.get("set")?.as_str());
            if let Some(set) = of.map(str::to_owned) {
                sets.entry(set).or_default().push(row);
            }
        }
    }
    let figures = [
        Figure {
            number: 1,
            x: "k",
            title: format!("the number of clusters, at ρ {}", FIGURE_1[0]),
            at: |row| {
                let here = rho(row).is_none_or(|rho| rho.to_bits() == FIGURE_1[0].to_bits());
                here.then_some(At::Place(number(row, "k")?))
            },
        },
        Figure {
            number: 2,
            x: "ρ",
            title: format!("the distance, at k {FIGURE_2_K}"),
            at: |row| {
                let here = number(row, "k")?.to_bits() == (FIGURE_2_K as f64).to_bits();
                here.then_some(rho(row).map_or(At::Everywhere, At::Place))
            },
        },
    ];
    figures.iter().try_for_each(|figure| figure.write(&sets, page))
}

fn number(row: &Row, name: &str) -> Option<f64> {
    row.first.as_ref()?.params.get(name)?.as_f64()
}

pub(super) fn rho(row: &Row) -> Option<f64> {
    number(row, "rho")
}

impl Figure {
    fn write(&self, sets: &BTreeMap<String, Vec<Row>>, page: &mut Page) -> Result<(), Error> {
        let drawn: Vec<(&String, Vec<f64>, Vec<Series>)> = sets
            .iter()
            .map(|(set, rows)| {
                let (xs, series) = self.series(rows);
                (set, xs, series)
            })
            .filter(|(_, xs, _)| xs.len() > 1)
            .collect();
        if drawn.is_empty() {
            return Ok(());
        }
        let Self { number, x, title, .. } = self;
        page.section(&format!("Figure {number}: cost by {title}"));
        page.paragraph("At epsilon 1; mean over runs ± three standard errors.");
        for (set, xs, series) in drawn {
            let title = format!("Figure {number}, {set}");
            let labels = Labels { title: &title, x, x_log: true, y_log: true };
            page.figure(&format!("distance-figure-{number}-{set}"), &title, draw(labels, &series)?);
            page.gap();
            let headings: Vec<String> = xs.iter().map(|value| format!("{x} {value}")).collect();
            let headings = [set.as_str()].into_iter().chain(headings.iter().map(String::as_str));
            let line = |one: &Series| {
                let cell = |x: &f64| {
                    let place = one.places.iter().find(|place| place.x.to_bits() == x.to_bits());
                    place.map_or("–".to_owned(), |place| {
                        mean_sd(place.mean, Some(place.high - place.mean))
                    })
                };
                [one.name.clone()].into_iter().chain(xs.iter().map(cell)).collect()
            };
            let lines: Vec<Vec<String>> = series.iter().map(line).collect();
            page.table(&headings.collect::<Vec<_>>(), 1, &lines);
        }
        Ok(())
    }

    /// The places on the axis, and a curve for each algorithm.
    fn series(&self, rows: &[Row]) -> (Vec<f64>, Vec<Series>) {
        let at_epsilon = |row: &&Row| row.epsilon.is_none_or(|e| e.to_bits() == EPSILON.to_bits());
        let rows: Vec<&Row> = rows.iter().filter(at_epsilon).collect();
        let of = |algorithm: &str| {
            let same: Vec<&Row> =
                rows.iter().copied().filter(|row| row.algorithm == algorithm).collect();
            same
        };
        let mut xs: Vec<f64> = of("noised-points")
            .iter()
            .filter_map(|row| match (self.at)(row)? {
                At::Place(x) => Some(x),
                At::Everywhere => None,
            })
            .collect();
        xs.sort_by(f64::total_cmp);
        xs.dedup();
        let places = |row: &Row| -> Vec<Place> {
            match (self.at)(row) {
                Some(At::Place(x)) => vec![x],
                Some(At::Everywhere) => xs.clone(),
                None => Vec::new(),
            }
            .into_iter()
            .filter_map(|x| place(row, x))
            .collect()
        };
        let series = |algorithm: &&str| {
            let mut places: Vec<Place> = of(algorithm).into_iter().flat_map(places).collect();
            places.sort_by(|a, b| a.x.total_cmp(&b.x));
            Series { name: (*algorithm).to_owned(), places }
        };
        let series = ALGORITHMS.iter().map(series).filter(|one| !one.places.is_empty());
        let series = series.collect();
        (xs, series)
    }
}

/// The mean with three standard errors.
fn place(row: &Row, x: f64) -> Option<Place> {
    let cost = row.statistic("cost_ratio")?;
    let errors = 3.0 * cost.sd.unwrap_or(0.0) / (row.runs as f64).sqrt();
    Some(Place { x, mean: cost.mean, low: cost.mean - errors, high: cost.mean + errors })
}

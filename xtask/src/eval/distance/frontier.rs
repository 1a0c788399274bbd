//! From which number of records on, and up to which distance, to hide no more than where somebody is costs less.

use crate::error::Error;
use crate::eval::distance::chapter::{STANDARD, is_lower};
use crate::eval::distance::figures::rho;
use crate::eval::distance::sources::FRONTIER_EPSILON;
use crate::eval::record::Record;
use crate::eval::summary::{self, Row, shown};
use crate::report::number::tick;
use crate::report::page::Page;
use crate::report::plot::axis::Axis;
use crate::report::plot::canvas::{self, Anchor, Ink, Svg};

const SIZE: (u32, u32) = (560, 400);
const X: (f64, f64) = (64.0, 540.0);
const Y: (f64, f64) = (330.0, 46.0);

/// The map at one distance, beside the best row that hides all of a record.
struct Cell {
    n: usize,
    rho: f64,
    pays: bool,
    map: Row,
    standard: Row,
}

/// `ids` are the data sets of the frontier.
pub(super) fn write(records: &[Record], ids: &[&str], page: &mut Page) -> Result<(), Error> {
    let cells: Vec<Cell> = ids.iter().flat_map(|id| cells(records, id)).collect();
    if cells.is_empty() {
        return Ok(());
    }
    page.section("Where distance privacy pays");
    page.paragraph(&format!(
        "Generated sets at epsilon {FRONTIER_EPSILON}. A distance pays where the map costs less than the best of {}, by more than three standard \
         errors (full dots; the line joins the largest such distance of every size).",
        STANDARD.join(", ")
    ));
    page.figure("distance-frontier", "Where distance privacy pays", picture(&cells)?);
    page.gap();
    let mut rhos: Vec<f64> = cells.iter().map(|cell| cell.rho).collect();
    rhos.sort_by(f64::total_cmp);
    rhos.dedup();
    let headings: Vec<String> = rhos.iter().map(|rho| format!("map, ρ {rho}")).collect();
    let headings =
        ["n", "best that hides all"].into_iter().chain(headings.iter().map(String::as_str));
    let mut lines: Vec<Vec<String>> = Vec::new();
    for id in ids {
        let of: Vec<&Cell> = cells.iter().filter(|cell| is_of(records, id, cell.n)).collect();
        let Some(first) = of.first() else { continue };
        let cost = |row: &Row| shown(row.statistic("cost_ratio"));
        let cell = |rho: &f64| {
            let same = of.iter().find(|cell| cell.rho.to_bits() == rho.to_bits());
            same.map_or("–".to_owned(), |cell| cost(&cell.map))
        };
        let fixed = [
            first.n.to_string(),
            format!("{} {}", first.standard.algorithm, cost(&first.standard)),
        ];
        lines.push(fixed.into_iter().chain(rhos.iter().map(cell)).collect());
    }
    page.table(&headings.collect::<Vec<_>>(), 2, &lines);
    Ok(())
}

fn is_of(records: &[Record], id: &str, n: usize) -> bool {
    records.iter().any(|record| record.dataset == id && record.n == n)
}

fn cells(records: &[Record], id: &str) -> Vec<Cell> {
    let rows = summary::rows(records, id);
    let mean = |row: &Row| row.statistic("cost_ratio").map_or(f64::INFINITY, |cost| cost.mean);
    let standard = rows.iter().filter(|row| STANDARD.contains(&row.algorithm.as_str()));
    let Some(standard) = standard.min_by(|a, b| mean(a).total_cmp(&mean(b))) else {
        return Vec::new();
    };
    let maps = rows.iter().filter(|row| row.algorithm == "map");
    let cell = |map: &Row| {
        let (rho, pays) = (rho(map)?, is_lower(map, standard));
        Some(Cell { n: map.n, rho, pays, map: map.clone(), standard: standard.clone() })
    };
    maps.filter_map(cell).collect()
}

/// The number of records times epsilon to the right, the distance up.
fn picture(cells: &[Cell]) -> Result<Svg, Error> {
    let title = "Where distance privacy pays";
    let size = |cell: &Cell| cell.n as f64 * FRONTIER_EPSILON;
    let x = Axis::log(&cells.iter().map(size).collect::<Vec<_>>(), X);
    let y = Axis::log(&cells.iter().map(|cell| cell.rho).collect::<Vec<_>>(), Y);
    canvas::draw(title, SIZE, |canvas| {
        canvas.text(title, (10.0, 20.0), Anchor::Start, 15.0, Ink::Text)?;
        for value in y.ticks() {
            let Some(at) = y.at(value) else { continue };
            canvas.line((X.0, at), (X.1, at), Ink::Grid, 1)?;
            canvas.text(&tick(value), (X.0 - 8.0, at), Anchor::End, 12.0, Ink::Muted)?;
        }
        for value in x.ticks() {
            let Some(at) = x.at(value) else { continue };
            canvas.line((at, Y.0), (at, Y.1), Ink::Grid, 1)?;
            canvas.text(&tick(value), (at, Y.0 + 14.0), Anchor::Middle, 12.0, Ink::Muted)?;
        }
        let below = (X.0.midpoint(X.1), Y.0 + 36.0);
        canvas.text(
            "n ε; upwards ρ, in half sides of the box",
            below,
            Anchor::Middle,
            12.0,
            Ink::Muted,
        )?;
        let mut frontier: Vec<(f64, f64)> = Vec::new();
        for cell in cells {
            let Some(at) = x.at(size(cell)).zip(y.at(cell.rho)) else { continue };
            if cell.pays {
                canvas.dot(at, 5, Ink::First, 1.0)?;
                match frontier.iter_mut().find(|place| place.0.to_bits() == at.0.to_bits()) {
                    Some(place) => place.1 = place.1.min(at.1),
                    None => frontier.push(at),
                }
            } else {
                canvas.ring(at, 5, Ink::Muted)?;
            }
        }
        frontier.sort_by(|a, b| a.0.total_cmp(&b.0));
        frontier.windows(2).try_for_each(|pair| canvas.line(pair[0], pair[1], Ink::Second, 2))
    })
}

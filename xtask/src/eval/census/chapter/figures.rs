//! Errors by level and by epsilon, and a region before and after.

use super::{error_of, levels, name, setting, settings};
use crate::error::Error;
use crate::eval::census::Section;
use crate::eval::summary::{Row, Statistic};
use crate::report::page::Page;
use crate::report::plot::lines::{self, Labels, Place, Series};

pub(super) fn place(x: f64, statistic: Statistic, scale: f64) -> Place {
    let (mean, sd) = (statistic.mean / scale, statistic.sd.unwrap_or(0.0) / scale);
    Place { x, mean, low: mean - sd, high: mean + sd }
}

/// The figures of one data set.
pub(super) fn figures(
    id: &str,
    rows: &[Row],
    section: Option<&Section>,
    page: &mut Page,
) -> Result<(), Error> {
    let Some(&largest) = settings(rows).last() else { return Ok(()) };
    let levels = rows.first().map_or(0, levels);
    let at_largest = |row: &&Row| setting(row).is_some_and(|s| s.to_bits() == largest.to_bits());
    // A log scale has no place for an error of exactly nothing.
    let by_level = rows.iter().filter(at_largest).map(|row| Series {
        name: name(row),
        places: (1..=levels)
            .filter_map(|level| Some((level, row.statistic(&error_of(level))?)))
            .filter(|(_, statistic)| statistic.mean > 0.0)
            .map(|(level, statistic)| place(level as f64, statistic, 1e3))
            .collect(),
    });
    if levels > 1 {
        let title = "Error by level, thousands of groups";
        let labels = Labels { title, x: "level", x_log: false, y_log: true };
        let caption = format!("{title}: {id} at ε = {largest}");
        let svg = lines::draw(labels, &by_level.collect::<Vec<_>>())?;
        page.figure(&format!("{id}-error-by-level"), &caption, svg);
    }
    for (metric, title, scale) in [
        ("l1_error_total", "Error over all levels, thousands of groups", 1e3),
        ("seconds", "Seconds for a release", 1.0),
    ] {
        let labels = Labels { title, x: "epsilon", x_log: true, y_log: true };
        let svg = lines::draw(labels, &by_setting(rows, metric, scale))?;
        page.figure(&format!("{id}-{metric}"), &format!("{title}: {id}"), svg);
    }
    if let Some(portrait) = section.and_then(|section| section.portrait.as_ref()) {
        page.figure(&format!("{id}-region"), &portrait.caption(), portrait.draw()?);
    }
    Ok(())
}

/// A metric of each mechanism over the epsilons of the tables.
fn by_setting(rows: &[Row], metric: &str, scale: f64) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    for row in rows {
        let Some((x, statistic)) = setting(row).zip(row.statistic(metric)) else { continue };
        if statistic.mean <= 0.0 {
            continue;
        }
        let place = place(x, statistic, scale);
        match all.iter_mut().find(|series| series.name == name(row)) {
            Some(series) => series.places.push(place),
            None => all.push(Series { name: name(row), places: vec![place] }),
        }
    }
    for series in &mut all {
        series.places.sort_by(|a, b| a.x.total_cmp(&b.x));
    }
    all
}

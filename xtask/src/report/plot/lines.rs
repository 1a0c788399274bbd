//! Curves over a numeric setting: a mean with its band per series.

use crate::error::Error;
use crate::report::number::tick;
use crate::report::plot::axis::Axis;
use crate::report::plot::canvas::{self, Anchor, Canvas, Ink, Svg};

const WIDTH: u32 = 560;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 540.0;
const TOP: f64 = 46.0;
const BOTTOM: f64 = 330.0;
const LEGEND_LINE: f64 = 20.0;
const LEGEND_COLUMNS: usize = 2;

/// What a plot says besides its curves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Labels<'a> {
    pub(crate) title: &'a str,
    pub(crate) x: &'a str,
    pub(crate) x_log: bool,
    pub(crate) y_log: bool,
}

/// One place on a curve, with the ends of its band (equal to the mean for none).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Place {
    pub(crate) x: f64,
    pub(crate) mean: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// One curve; its places are joined in their order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) places: Vec<Place>,
}

/// Draws the curves under a title, with a legend below.
pub(crate) fn draw(labels: Labels<'_>, series: &[Series]) -> Result<Svg, Error> {
    let places = || series.iter().flat_map(|one| &one.places);
    let xs: Vec<f64> = places().map(|place| place.x).collect();
    // On a log scale a band that reaches zero is cut at a tenth of its mean.
    let ys: Vec<f64> =
        places().flat_map(|place| [place.mean, low_end(place, labels.y_log), place.high]).collect();
    let x = if labels.x_log { Axis::log } else { Axis::linear }(&xs, (LEFT, RIGHT));
    let y = if labels.y_log { Axis::log } else { Axis::linear }(&ys, (BOTTOM, TOP));
    canvas::draw(labels.title, (WIDTH, height(series.len())), |canvas| {
        canvas.text(labels.title, (10.0, 20.0), Anchor::Start, 15.0, Ink::Text)?;
        grid(canvas, &x, &y)?;
        let middle = (LEFT.midpoint(RIGHT), BOTTOM + 34.0);
        canvas.text(labels.x, middle, Anchor::Middle, 12.0, Ink::Muted)?;
        for (index, one) in series.iter().enumerate() {
            curve(canvas, one, index, (&x, &y), labels.y_log)?;
        }
        legend(canvas, series)
    })
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a few hundred pixels, positive"
)]
fn height(series: usize) -> u32 {
    (BOTTOM + 62.0 + LEGEND_LINE * series.div_ceil(LEGEND_COLUMNS) as f64) as u32
}

fn low_end(place: &Place, log: bool) -> f64 {
    if log { place.low.max(0.1 * place.mean) } else { place.low }
}

fn grid(canvas: &mut Canvas<'_>, x: &Axis, y: &Axis) -> Result<(), Error> {
    for value in y.ticks() {
        let Some(at) = y.at(value) else { continue };
        canvas.line((LEFT, at), (RIGHT, at), Ink::Grid, 1)?;
        canvas.text(&tick(value), (LEFT - 8.0, at), Anchor::End, 12.0, Ink::Muted)?;
    }
    for value in x.ticks() {
        let Some(at) = x.at(value) else { continue };
        canvas.line((at, TOP), (at, BOTTOM), Ink::Grid, 1)?;
        canvas.text(&tick(value), (at, BOTTOM + 14.0), Anchor::Middle, 12.0, Ink::Muted)?;
    }
    Ok(())
}

fn curve(
    canvas: &mut Canvas<'_>,
    series: &Series,
    index: usize,
    (x, y): (&Axis, &Axis),
    log: bool,
) -> Result<(), Error> {
    let ink = Ink::SERIES[index % Ink::SERIES.len()];
    let at = |place: &Place, value: f64| Some((x.at(place.x)?, y.at(value)?));
    if series.places.iter().any(|place| place.high > place.low) {
        let upper = series.places.iter().filter_map(|place| at(place, place.high));
        let lower = series.places.iter().rev().filter_map(|p| at(p, low_end(p, log)));
        canvas.band(&upper.chain(lower).collect::<Vec<_>>(), ink)?;
    }
    let points: Vec<(f64, f64)> =
        series.places.iter().filter_map(|place| at(place, place.mean)).collect();
    for pair in points.windows(2) {
        canvas.line(pair[0], pair[1], ink, 2)?;
    }
    points.iter().try_for_each(|&point| mark(canvas, point, index, ink))
}

/// Colours repeat after six series; marks then differ.
fn mark(canvas: &mut Canvas<'_>, at: (f64, f64), index: usize, ink: Ink) -> Result<(), Error> {
    match index / Ink::SERIES.len() {
        0 => canvas.dot(at, 3, ink, 1.0),
        1 => canvas.ring(at, 4, ink),
        _ => canvas.cross(at, 4.0, ink),
    }
}

fn legend(canvas: &mut Canvas<'_>, series: &[Series]) -> Result<(), Error> {
    let width = (RIGHT - LEFT) / LEGEND_COLUMNS as f64;
    for (index, one) in series.iter().enumerate() {
        let ink = Ink::SERIES[index % Ink::SERIES.len()];
        let left = LEFT + width * (index % LEGEND_COLUMNS) as f64;
        let y = BOTTOM + 58.0 + LEGEND_LINE * (index / LEGEND_COLUMNS) as f64;
        canvas.line((left, y), (left + 18.0, y), ink, 2)?;
        mark(canvas, (left + 9.0, y), index, ink)?;
        canvas.text(&one.name, (left + 26.0, y), Anchor::Start, 12.0, Ink::Text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Labels, Place, Series, draw};

    fn series(name: &str, shift: f64) -> Series {
        let place = |x: f64| {
            let mean = shift / x;
            Place { x, mean, low: mean - 0.2 * shift, high: mean + 0.2 * shift }
        };
        Series { name: name.to_owned(), places: [0.1, 1.0, 10.0].map(place).to_vec() }
    }

    #[test]
    fn every_series_has_its_marks_its_band_and_its_name() {
        let labels = Labels { title: "Error", x: "epsilon", x_log: true, y_log: true };
        let all: Vec<Series> =
            (1..=8).map(|i| series(&format!("series {i}"), f64::from(i))).collect();
        let svg = draw(labels, &all).unwrap().standalone();
        assert_eq!(svg.matches("<polygon").count(), 8);
        assert!(all.iter().all(|one| svg.contains(&one.name)), "the legend");
        assert_eq!(svg.matches("<circle").count(), 8 * 4, "three places and the legend each");
        assert!(svg.contains("epsilon") && !svg.contains("NaN"));
    }

    #[test]
    fn nothing_to_draw_is_still_a_plot() {
        let labels = Labels { title: "Empty", x: "n", x_log: true, y_log: false };
        assert!(draw(labels, &[]).unwrap().standalone().contains("Empty"));
    }
}

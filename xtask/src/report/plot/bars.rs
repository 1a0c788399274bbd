//! Histograms side by side: for each whole number one bar per series.

use crate::error::Error;
use crate::report::number::tick;
use crate::report::plot::axis::Axis;
use crate::report::plot::canvas::{self, Anchor, Canvas, Ink, Svg};

const SIZE: (u32, u32) = (560, 412);
const LEFT: f64 = 64.0;
const RIGHT: f64 = 540.0;
const TOP: f64 = 46.0;
const BOTTOM: f64 = 330.0;
/// Share of a number's width that its bars fill.
const FILLED: f64 = 0.8;

/// One histogram: the heights at 0, 1, 2, ...
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Heights {
    pub(crate) name: String,
    pub(crate) values: Vec<f64>,
}

/// Draws the histograms under a title, with a legend below; heights below zero hang from the zero line.
pub(crate) fn draw(title: &str, x_label: &str, series: &[Heights]) -> Result<Svg, Error> {
    let numbers = series.iter().map(|one| one.values.len()).max().unwrap_or_default();
    let all: Vec<f64> = series.iter().flat_map(|one| one.values.iter().copied()).collect();
    let y = Axis::linear(&all, (BOTTOM, TOP));
    let width = (RIGHT - LEFT) / numbers.max(1) as f64;
    canvas::draw(title, SIZE, |canvas| {
        canvas.text(title, (10.0, 20.0), Anchor::Start, 15.0, Ink::Text)?;
        for value in y.ticks() {
            let Some(at) = y.at(value) else { continue };
            canvas.line((LEFT, at), (RIGHT, at), Ink::Grid, 1)?;
            canvas.text(&tick(value), (LEFT - 8.0, at), Anchor::End, 12.0, Ink::Muted)?;
        }
        for number in 0..numbers {
            let middle = LEFT + width * (number as f64 + 0.5);
            canvas.text(
                &number.to_string(),
                (middle, BOTTOM + 14.0),
                Anchor::Middle,
                12.0,
                Ink::Muted,
            )?;
        }
        let middle = (LEFT.midpoint(RIGHT), BOTTOM + 34.0);
        canvas.text(x_label, middle, Anchor::Middle, 12.0, Ink::Muted)?;
        let bar = FILLED * width / series.len().max(1) as f64;
        for (index, one) in series.iter().enumerate() {
            let inset = 0.5 * (1.0 - FILLED) * width + bar * index as f64;
            bars(canvas, one, ink_of(index), &y, (LEFT + inset, width, bar))?;
        }
        if let Some(zero) = y.at(0.0) {
            canvas.line((LEFT, zero), (RIGHT, zero), Ink::Muted, 1)?;
        }
        legend(canvas, series)
    })
}

fn ink_of(index: usize) -> Ink {
    Ink::SERIES[index % Ink::SERIES.len()]
}

fn bars(
    canvas: &mut Canvas<'_>,
    series: &Heights,
    ink: Ink,
    y: &Axis,
    (left, step, width): (f64, f64, f64),
) -> Result<(), Error> {
    for (number, &value) in series.values.iter().enumerate().filter(|(_, value)| **value != 0.0) {
        let Some((end, zero)) = y.at(value).zip(y.at(0.0)) else { continue };
        let from = left + step * number as f64;
        canvas.block((from, zero), (from + width - 1.0, end), ink)?;
    }
    Ok(())
}

fn legend(canvas: &mut Canvas<'_>, series: &[Heights]) -> Result<(), Error> {
    let width = (RIGHT - LEFT) / series.len().max(1) as f64;
    for (index, one) in series.iter().enumerate() {
        let (left, y) = (LEFT + width * index as f64, BOTTOM + 60.0);
        canvas.block((left, y - 5.0), (left + 12.0, y + 5.0), ink_of(index))?;
        canvas.text(&one.name, (left + 20.0, y), Anchor::Start, 12.0, Ink::Text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Heights, draw};

    #[test]
    fn every_height_but_zero_has_a_bar_and_every_series_its_name() {
        let heights =
            |name: &str, values: &[f64]| Heights { name: name.to_owned(), values: values.to_vec() };
        let all = [heights("true", &[0.0, 3.0, 1.0]), heights("noisy", &[-2.0, 4.0, 0.0])];
        let svg = draw("Groups", "size", &all).unwrap().standalone();
        // The panel, four bars and two marks of the legend.
        assert_eq!(svg.matches("<rect").count(), 1 + 4 + 2);
        assert!(svg.contains("true") && svg.contains("noisy") && svg.contains("size"));
        assert!(!svg.contains("NaN"));
        assert!(draw("Empty", "size", &[]).unwrap().standalone().contains("Empty"));
    }
}

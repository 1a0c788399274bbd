//! One metric, one line per algorithm: every run a dot, the mean a bar, published values hollow.

use crate::error::Error;
use crate::eval::clustering::published::Published;
use crate::eval::summary::Row;
use crate::report::number::tick;
use crate::report::plot::axis::Axis;
use crate::report::plot::canvas::{self, Anchor, Canvas, Ink, Svg};

const WIDTH: u32 = 620;
const LEFT: f64 = 210.0;
const RIGHT: f64 = 595.0;
const TOP: f64 = 46.0;
const ROW: f64 = 34.0;

/// One line of the plot.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Strip {
    label: String,
    private: bool,
    runs: Vec<f64>,
    mean: Option<f64>,
    paper: Option<f64>,
    rerun: Option<f64>,
}

/// Our rows in their order, then algorithms that are only published.
pub(crate) fn strips(
    rows: &[Row],
    published: impl Iterator<Item = &'static Published>,
    metric: &str,
) -> Vec<Strip> {
    let mut strips: Vec<(String, Strip)> = Vec::new();
    for row in rows {
        if let Some(found) = row.statistic(metric) {
            strips.push((
                row.algorithm.clone(),
                Strip {
                    label: row.label(),
                    private: row.private,
                    runs: row.values.get(metric).cloned().unwrap_or_default(),
                    mean: Some(found.mean),
                    ..Default::default()
                },
            ));
        }
    }
    if strips.is_empty() {
        return Vec::new();
    }
    for row in published {
        let Some((value, _)) = row.metric(metric) else { continue };
        let at = strips.iter().position(|(name, _)| *name == row.algorithm).unwrap_or_else(|| {
            let label = row.algorithm.clone();
            let strip = Strip { label, private: true, ..Default::default() };
            strips.push((row.algorithm.clone(), strip));
            strips.len() - 1
        });
        let strip = &mut strips[at].1;
        *(if row.is_of_the_paper() { &mut strip.paper } else { &mut strip.rerun }) = Some(value);
    }
    strips.into_iter().map(|(_, strip)| strip).collect()
}

/// Draws the lines under a title.
pub(crate) fn draw(title: &str, strips: &[Strip], log: bool) -> Result<Svg, Error> {
    let bottom = TOP + ROW * strips.len() as f64;
    // On a linear scale one published value far beyond all of ours would leave no room for them: it is written at the end instead.
    let ours = strips.iter().flat_map(|strip| &strip.runs).fold(0.0, |a: f64, &b| a.max(b));
    let end = if log || ours <= 0.0 { f64::INFINITY } else { 2.0 * ours };
    let values: Vec<f64> = strips
        .iter()
        .flat_map(|strip| strip.runs.iter().copied().chain(strip.paper).chain(strip.rerun))
        .filter(|&value| value <= end)
        .collect();
    let axis = if log { Axis::log } else { Axis::linear }(&values, (LEFT, RIGHT));
    canvas::draw(title, (WIDTH, height(strips.len())), |canvas| {
        canvas.text(title, (10.0, 20.0), Anchor::Start, 15.0, Ink::Text)?;
        for value in axis.ticks() {
            let Some(x) = axis.at(value) else { continue };
            canvas.line((x, TOP), (x, bottom), Ink::Grid, 1)?;
            canvas.text(&tick(value), (x, bottom + 14.0), Anchor::Middle, 12.0, Ink::Muted)?;
        }
        for (index, strip) in strips.iter().enumerate() {
            draw_strip(canvas, strip, (&axis, end), TOP + ROW * (index as f64 + 0.5))?;
        }
        legend(canvas, bottom + 42.0)
    })
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a few hundred pixels, positive"
)]
fn height(lines: usize) -> u32 {
    (TOP + ROW * lines as f64 + 80.0) as u32
}

fn draw_strip(
    canvas: &mut Canvas<'_>,
    strip: &Strip,
    (axis, end): (&Axis, f64),
    y: f64,
) -> Result<(), Error> {
    let ink = if strip.private { Ink::Second } else { Ink::First };
    canvas.line((LEFT, y), (RIGHT, y), Ink::Grid, 1)?;
    canvas.text(&strip.label, (LEFT - 10.0, y), Anchor::End, 13.0, Ink::Text)?;
    for (index, &run) in strip.runs.iter().enumerate() {
        if let Some(x) = axis.at(run) {
            // Neighbouring runs step off the line by turns, so that equal ones stay countable.
            let step = [0.0, -5.0, 5.0][index % 3];
            canvas.dot((x, y + step), 4, ink, 0.65)?;
        }
    }
    if let Some(x) = strip.mean.and_then(|mean| axis.at(mean)) {
        canvas.line((x, y - 11.0), (x, y + 11.0), ink, 3)?;
    }
    for (value, shape) in [(strip.paper, diamond as Shape), (strip.rerun, square)] {
        let Some(value) = value else { continue };
        if value > end {
            shape(canvas, (RIGHT, y))?;
            canvas.text(&tick(value), (RIGHT - 12.0, y), Anchor::End, 12.0, Ink::Muted)?;
        } else if let Some(x) = axis.at(value) {
            shape(canvas, (x, y))?;
        }
    }
    Ok(())
}

type Shape = fn(&mut Canvas<'_>, (f64, f64)) -> Result<(), Error>;

fn diamond(canvas: &mut Canvas<'_>, (x, y): (f64, f64)) -> Result<(), Error> {
    let corners = [(x - 7.0, y), (x, y - 7.0), (x + 7.0, y), (x, y + 7.0)];
    canvas.outline(&corners, Ink::Text)
}

fn square(canvas: &mut Canvas<'_>, (x, y): (f64, f64)) -> Result<(), Error> {
    let corners = [(x - 5.0, y - 5.0), (x + 5.0, y - 5.0), (x + 5.0, y + 5.0), (x - 5.0, y + 5.0)];
    canvas.outline(&corners, Ink::Third)
}

fn legend(canvas: &mut Canvas<'_>, y: f64) -> Result<(), Error> {
    let say = |text: &str, x: f64, canvas: &mut Canvas<'_>| {
        canvas.text(text, (x, y), Anchor::Start, 12.0, Ink::Muted)
    };
    canvas.dot((LEFT, y), 4, Ink::Second, 0.65)?;
    say("one run", LEFT + 10.0, canvas)?;
    canvas.line((LEFT + 78.0, y - 8.0), (LEFT + 78.0, y + 8.0), Ink::Second, 3)?;
    say("mean", LEFT + 86.0, canvas)?;
    diamond(canvas, (LEFT + 142.0, y))?;
    say("paper", LEFT + 154.0, canvas)?;
    square(canvas, (LEFT + 214.0, y))?;
    say("public code, re-run", LEFT + 226.0, canvas)?;
    let below = y + 20.0;
    for (left, ink, text) in
        [(LEFT, Ink::Second, "private"), (LEFT + 78.0, Ink::First, "not private")]
    {
        canvas.block((left - 4.0, below - 4.0), (left + 4.0, below + 4.0), ink)?;
        canvas.text(text, (left + 10.0, below), Anchor::Start, 12.0, Ink::Muted)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Strip, draw, strips};
    use crate::eval::clustering::published;
    use crate::eval::record::tests::example;
    use crate::eval::summary::rows;

    #[test]
    fn ours_come_first_then_those_that_are_only_published() {
        let records = [
            example("synth-10d", "dpm", 0),
            example("synth-10d", "dpm", 1),
            example("synth-10d", "kmeans++", 0),
        ];
        let rows = rows(&records, "synth-10d");
        let found = strips(&rows, published::for_dataset("synth-10d"), "inertia_squared");
        let labels: Vec<&str> = found.iter().map(|strip| strip.label.as_str()).collect();
        assert_eq!(labels, ["kmeans++", "dpm, ε 1", "dp-lloyd", "em-mc", "lsh-splits"]);
        assert_eq!((found[1].paper, found[1].rerun), (Some(1.8e7), Some(1.35e7)));
        let svg = draw("Squared inertia", &found, true).unwrap().standalone();
        assert_eq!(svg.matches("<circle").count(), 3 + 1, "three runs and the legend");
    }

    #[test]
    fn a_published_value_far_beyond_ours_leaves_them_their_scale() {
        let strip = |paper| Strip {
            label: "a".to_owned(),
            private: true,
            runs: vec![0.1, 0.2],
            mean: Some(0.15),
            paper: Some(paper),
            rerun: None,
        };
        let near = draw("Distance", &[strip(0.3)], false).unwrap().standalone();
        let far = draw("Distance", &[strip(15.0)], false).unwrap().standalone();
        assert!(far.contains("\n15") && far.contains("\n0.2\n"), "{far}");
        assert!(!near.contains("\n15") && near.contains("not private"), "{near}");
    }

    #[test]
    fn without_a_value_of_ours_there_is_no_plot() {
        assert!(strips(&[], published::for_dataset("synth-10d"), "inertia_squared").is_empty());
    }
}

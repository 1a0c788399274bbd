//! One picture of released numbers: bars, and on each the interval in which the truth is.

use crate::groups::Estimate;
use crate::value::in_column;
use std::fmt::Write as _;

/// One number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bar {
    /// What it is about.
    pub(crate) name: String,
    /// What was released.
    pub(crate) estimate: Estimate,
}

/// More bars than these are not drawn: nobody could read them.
const MOST_BARS: usize = 100;

/// An SVG of up to 100 bars, one below the other.
pub(crate) fn bars(title: &str, all: impl ExactSizeIterator<Item = Bar>) -> String {
    const LEFT: f64 = 200.0;
    const WIDTH: f64 = 560.0;
    const ROW: f64 = 18.0;
    let left_out = all.len().saturating_sub(MOST_BARS);
    let shown: Vec<Bar> = all.take(MOST_BARS).collect();
    let ends = shown.iter().flat_map(|bar| {
        [bar.estimate.value, bar.estimate.interval.low, bar.estimate.interval.high]
    });
    let (low, high) = ends.fold((0.0_f64, 0.0_f64), |(low, high), x| (low.min(x), high.max(x)));
    let width = if high > low { high - low } else { 1.0 };
    let x = |value: f64| LEFT + (value - low) / width * WIDTH;
    let height = ROW * (shown.len() as f64 + 3.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"800\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"800\" height=\"{height}\" fill=\"white\"/>\n\
         <text x=\"10\" y=\"20\" font-size=\"14\">{}; lines: 95 % intervals</text>\n",
        escaped(title)
    );
    for (row, bar) in shown.iter().enumerate() {
        let Estimate { value, interval, signal, .. } = bar.estimate;
        let y = ROW * (row as f64 + 2.0);
        let (from, to) = (x(value.min(0.0).max(low)), x(value.max(0.0)));
        let colour = if signal { "#4477aa" } else { "#bbbbbb" };
        let name: String = bar.name.chars().take(28).collect();
        let middle = y + ROW / 2.0;
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\
             <rect x=\"{from:.1}\" y=\"{y}\" width=\"{:.1}\" height=\"{}\" fill=\"{colour}\"/>\
             <line x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{middle}\" y2=\"{middle}\" stroke=\"black\"/>",
            LEFT - 8.0,
            y + 12.0,
            escaped(&name),
            to - from,
            ROW - 4.0,
            x(interval.low),
            x(interval.high),
        );
    }
    if left_out > 0 {
        let y = height - 6.0;
        let _ = writeln!(svg, "<text x=\"10\" y=\"{y}\">{left_out} more are in the table</text>");
    }
    let [low, high] = [low, high].map(|end| in_column(end, 4));
    let _ = writeln!(
        svg,
        "<text x=\"{LEFT}\" y=\"{0}\">{low}</text><text x=\"{1}\" y=\"{0}\" text-anchor=\"end\">{high}</text>\n</svg>",
        height - ROW,
        LEFT + WIDTH,
    );
    svg
}

/// A centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Dot {
    /// In two columns.
    pub(crate) at: [f64; 2],
    /// How far the truth may be, either way, in both; infinite where nothing is known.
    pub(crate) reach: [f64; 2],
    /// How many points it stands for.
    pub(crate) count: i64,
    /// Whether noise alone does not explain it.
    pub(crate) signal: bool,
}

/// An SVG of centres over two columns, each with its name and bounds; areas are in proportion to counts, lines say where the truth may be.
pub(crate) fn dots(axes: [(&str, f64, f64); 2], all: impl Iterator<Item = Dot>) -> String {
    const LEFT: f64 = 80.0;
    const SIDE: f64 = 480.0;
    let dots: Vec<Dot> = all.collect();
    let most = dots.iter().map(|dot| dot.count).max().unwrap_or(1).max(1) as f64;
    let place =
        |axis: usize, value: f64| (value - axes[axis].1) / (axes[axis].2 - axes[axis].1) * SIDE;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"600\" height=\"580\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"600\" height=\"580\" fill=\"white\"/>\n\
         <rect x=\"{LEFT}\" y=\"40\" width=\"{SIDE}\" height=\"{SIDE}\" fill=\"none\" stroke=\"black\"/>\n"
    );
    let across = |value: f64| LEFT + place(0, value.clamp(axes[0].1, axes[0].2));
    let up = |value: f64| 40.0 + SIDE - place(1, value.clamp(axes[1].1, axes[1].2));
    for Dot { at, reach, count, signal } in &dots {
        let (x, y) = (across(at[0]), up(at[1]));
        let radius = 3.0 + 27.0 * (count.max(&0).to_owned() as f64 / most).sqrt();
        let colour = if *signal { "#4477aa" } else { "#bbbbbb" };
        let _ = writeln!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" fill=\"{colour}\" fill-opacity=\"0.5\"/>"
        );
        if *signal {
            let _ = writeln!(
                svg,
                "<path d=\"M{:.1} {y:.1}H{:.1}M{x:.1} {:.1}V{:.1}\" stroke=\"black\"/>",
                across(at[0] - reach[0]),
                across(at[0] + reach[0]),
                up(at[1] - reach[1]),
                up(at[1] + reach[1]),
            );
        }
    }
    let [(across, left, right), (up, bottom, top)] = axes;
    let _ = writeln!(
        svg,
        "<text x=\"{LEFT}\" y=\"540\">{left}</text><text x=\"560\" y=\"540\" text-anchor=\"end\">{right}</text>\
         <text x=\"320\" y=\"560\" text-anchor=\"middle\">{}</text><text x=\"72\" y=\"520\" text-anchor=\"end\">{bottom}</text>\
         <text x=\"72\" y=\"50\" text-anchor=\"end\">{top}</text><text x=\"{LEFT}\" y=\"30\">{}</text>\n</svg>",
        escaped(across),
        escaped(up),
    );
    svg
}

/// A number over steps.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    /// What it is about.
    pub(crate) name: String,
    /// Step, number and its standard error, where something is known.
    pub(crate) points: Vec<(u64, f64, f64)>,
}

/// Colours of lines; further lines are not drawn.
const COLOURS: [&str; 8] =
    ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bb5566", "#000000"];

/// An SVG of the first eight lines over so many steps; bars are two standard errors either way, and lines join steps that follow each other.
pub(crate) fn lines(
    title: &str,
    ends: &[String; 2],
    steps: u64,
    all: impl ExactSizeIterator<Item = Line>,
) -> String {
    const LEFT: f64 = 70.0;
    const TOP: f64 = 40.0;
    const WIDTH: f64 = 540.0;
    const HEIGHT: f64 = 300.0;
    let left_out = all.len().saturating_sub(COLOURS.len());
    let shown: Vec<Line> = all.take(COLOURS.len()).collect();
    let points = shown.iter().flat_map(|line| &line.points);
    let most = points.fold(1.0_f64, |most, point| most.max(point.1 + 2.0 * point.2));
    let x = |step: u64| LEFT + (step as f64 + 0.5) / steps.max(1) as f64 * WIDTH;
    let y = |value: f64| TOP + HEIGHT - value.max(0.0) / most * HEIGHT;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"800\" height=\"390\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"800\" height=\"390\" fill=\"white\"/>\n\
         <text x=\"10\" y=\"20\" font-size=\"14\">{}; bars: two standard errors</text>\n\
         <rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"none\" stroke=\"black\"/>\n",
        escaped(title)
    );
    for ((line, colour), place) in shown.iter().zip(COLOURS).zip(0_u32..) {
        for pair in line.points.windows(2) {
            let [(from, a, _), (to, b, _)] = [pair[0], pair[1]];
            if to == from + 1 {
                let [x1, y1, x2, y2] = [x(from), y(a), x(to), y(b)];
                let _ = writeln!(
                    svg,
                    "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{colour}\"/>"
                );
            }
        }
        for &(step, value, error) in &line.points {
            let (x, low, high) = (x(step), y(value - 2.0 * error), y(value + 2.0 * error));
            let _ = writeln!(
                svg,
                "<circle cx=\"{x:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{colour}\"/>\
                 <path d=\"M{x:.1} {low:.1}V{high:.1}\" stroke=\"{colour}\"/>",
                y(value)
            );
        }
        let name: String = line.name.chars().take(22).collect();
        let _ = writeln!(
            svg,
            "<text x=\"620\" y=\"{}\" fill=\"{colour}\">{}</text>",
            52.0 + 18.0 * f64::from(place),
            escaped(&name)
        );
    }
    if left_out > 0 {
        let _ = writeln!(svg, "<text x=\"620\" y=\"210\">and {left_out} more in the table</text>");
    }
    let [from, to] = ends.each_ref().map(|end| escaped(end));
    let _ = writeln!(
        svg,
        "<text x=\"{LEFT}\" y=\"358\">{from}</text><text x=\"610\" y=\"358\" text-anchor=\"end\">{to}</text>\
         <text x=\"62\" y=\"340\" text-anchor=\"end\">0</text><text x=\"62\" y=\"50\" text-anchor=\"end\">{most:.0}</text>\n</svg>"
    );
    svg
}

fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // What XML does not have.
            '\u{fffe}' | '\u{ffff}' => escaped.push(' '),
            control if control.is_control() => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::{Bar, bars};
    use crate::groups::{Estimate, Interval};

    #[test]
    fn names_cannot_break_out_and_what_is_left_out_is_said() {
        let estimate = Estimate {
            value: 3.0,
            standard_error: 1.0,
            interval: Interval { low: 1.0, high: 5.0 },
            signal: true,
        };
        let bar = Bar { name: "<b>\"&\u{fffe}".to_owned(), estimate };
        let svg = bars("a < b", vec![bar; 130].into_iter());
        assert!(svg.contains("&lt;b&gt;&quot;&amp; </text>") && svg.contains("a &lt; b"));
        assert!(svg.contains("30 more are in the table") && svg.matches("<line").count() == 100);
    }
}

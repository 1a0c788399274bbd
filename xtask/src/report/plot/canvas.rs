//! A thin layer over plotters' SVG backend: shapes and text in named colours.
//!
//! The backend writes text as text, so no font is needed to draw; the reader's browser picks one.

use crate::error::Error;
use plotters::backend::SVGBackend;
use plotters::prelude::{DrawingBackend, RGBColor, ShapeStyle};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, TextStyle};

/// What a colour is for. In the page these are style variables, in a file of its own fixed values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    Panel,
    Text,
    Muted,
    Grid,
    First,
    Second,
    Third,
    Fourth,
    Fifth,
    Sixth,
}

impl Ink {
    const ALL: [Self; 10] = [
        Self::Panel,
        Self::Text,
        Self::Muted,
        Self::Grid,
        Self::First,
        Self::Second,
        Self::Third,
        Self::Fourth,
        Self::Fifth,
        Self::Sixth,
    ];

    /// Colours for series, to be used in turn.
    pub(crate) const SERIES: [Self; 6] =
        [Self::First, Self::Second, Self::Third, Self::Fourth, Self::Fifth, Self::Sixth];

    /// The colour that stands for this one while drawing: no real plot uses it.
    fn placeholder(self) -> RGBColor {
        RGBColor(1, 2, 3 + self as u8)
    }

    fn placeholder_text(self) -> String {
        let RGBColor(r, g, b) = self.placeholder();
        format!("#{r:02X}{g:02X}{b:02X}")
    }

    fn variable(self) -> &'static str {
        match self {
            Self::Panel => "var(--panel)",
            Self::Text => "var(--ink)",
            Self::Muted => "var(--muted)",
            Self::Grid => "var(--grid)",
            Self::First => "var(--first)",
            Self::Second => "var(--second)",
            Self::Third => "var(--third)",
            Self::Fourth => "var(--fourth)",
            Self::Fifth => "var(--fifth)",
            Self::Sixth => "var(--sixth)",
        }
    }

    /// The Okabe-Ito palette, darkened where small marks would be too pale.
    fn fixed(self) -> &'static str {
        match self {
            Self::Panel => "#ffffff",
            Self::Text => "#1c2126",
            Self::Muted => "#69727c",
            Self::Grid => "#dde1e6",
            Self::First => "#0072b2",
            Self::Second => "#d55e00",
            Self::Third => "#007a5a",
            Self::Fourth => "#a8548a",
            Self::Fifth => "#a87400",
            Self::Sixth => "#3d8fbd",
        }
    }
}

/// Where text sits relative to its point.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A finished plot.
#[derive(Clone, Debug)]
pub(crate) struct Svg {
    raw: String,
}

impl Svg {
    /// Takes an SVG document and the words for those who cannot see it.
    pub(crate) fn from_raw(description: &str, raw: &str) -> Self {
        let description = description.replace('&', "&amp;").replace('"', "&quot;");
        let labelled = format!("<svg role=\"img\" aria-label=\"{description}\" ");
        Self { raw: raw.replacen("<svg ", &labelled, 1) }
    }

    /// For a page that defines the style variables.
    pub(crate) fn inline(&self) -> String {
        let text = self.coloured(Ink::variable);
        // A blank line would end the HTML block that Markdown puts it in.
        text.lines()
            .filter(|line| !line.trim().is_empty())
            .map(|line| line.to_owned() + "\n")
            .collect()
    }

    /// For a file of its own.
    pub(crate) fn standalone(&self) -> String {
        self.coloured(Ink::fixed)
    }

    fn coloured(&self, colour: fn(Ink) -> &'static str) -> String {
        Ink::ALL
            .iter()
            .fold(self.raw.clone(), |text, &ink| text.replace(&ink.placeholder_text(), colour(ink)))
    }
}

/// Something to draw on; coordinates are pixels from the top left.
pub(crate) struct Canvas<'a> {
    backend: SVGBackend<'a>,
}

/// Draws on a panel of this size.
pub(crate) fn draw(
    description: &str,
    size: (u32, u32),
    paint: impl FnOnce(&mut Canvas<'_>) -> Result<(), Error>,
) -> Result<Svg, Error> {
    let mut raw = String::new();
    {
        let mut canvas = Canvas { backend: SVGBackend::with_string(&mut raw, size) };
        let whole = (pixels(size.0), pixels(size.1));
        let style = canvas.style(Ink::Panel, 1.0, 1);
        drawn(canvas.backend.draw_rect((0, 0), whole, &style, true))?;
        paint(&mut canvas)?;
        drawn(canvas.backend.present())?;
    }
    Ok(Svg::from_raw(description, &raw))
}

impl Canvas<'_> {
    pub(crate) fn line(
        &mut self,
        from: (f64, f64),
        to: (f64, f64),
        ink: Ink,
        width: u32,
    ) -> Result<(), Error> {
        let style = self.style(ink, 1.0, width);
        drawn(self.backend.draw_line(pixel(from), pixel(to), &style))
    }

    /// A filled rectangle between two corners.
    pub(crate) fn block(
        &mut self,
        from: (f64, f64),
        to: (f64, f64),
        ink: Ink,
    ) -> Result<(), Error> {
        let style = self.style(ink, 1.0, 1);
        let (left, right) = (from.0.min(to.0), from.0.max(to.0));
        let (top, bottom) = (from.1.min(to.1), from.1.max(to.1));
        drawn(self.backend.draw_rect(pixel((left, top)), pixel((right, bottom)), &style, true))
    }

    pub(crate) fn dot(
        &mut self,
        at: (f64, f64),
        radius: u32,
        ink: Ink,
        alpha: f64,
    ) -> Result<(), Error> {
        let style = self.style(ink, alpha, 1);
        drawn(self.backend.draw_circle(pixel(at), radius, &style, true))
    }

    pub(crate) fn ring(&mut self, at: (f64, f64), radius: u32, ink: Ink) -> Result<(), Error> {
        let style = self.style(ink, 1.0, 2);
        drawn(self.backend.draw_circle(pixel(at), radius, &style, false))
    }

    /// Two crossed strokes.
    pub(crate) fn cross(&mut self, at: (f64, f64), arm: f64, ink: Ink) -> Result<(), Error> {
        let (x, y) = at;
        self.line((x - arm, y - arm), (x + arm, y + arm), ink, 2)?;
        self.line((x - arm, y + arm), (x + arm, y - arm), ink, 2)
    }

    /// A filled closed shape, see-through enough for what lies under it.
    pub(crate) fn band(&mut self, corners: &[(f64, f64)], ink: Ink) -> Result<(), Error> {
        let style = self.style(ink, 0.15, 1);
        drawn(self.backend.fill_polygon(corners.iter().map(|&corner| pixel(corner)), &style))
    }

    /// A hollow closed shape.
    pub(crate) fn outline(&mut self, corners: &[(f64, f64)], ink: Ink) -> Result<(), Error> {
        let style = self.style(ink, 1.0, 2);
        let path = corners.iter().chain(corners.first()).map(|&corner| pixel(corner));
        drawn(self.backend.draw_path(path, &style))
    }

    pub(crate) fn text(
        &mut self,
        text: &str,
        at: (f64, f64),
        anchor: Anchor,
        size: f64,
        ink: Ink,
    ) -> Result<(), Error> {
        let horizontal = match anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        // The backend divides sizes by 1.24 on their way to the file.
        let colour = ink.placeholder();
        let style = TextStyle::from(("sans-serif", size * 1.24))
            .color(&colour)
            .pos(Pos::new(horizontal, VPos::Center));
        drawn(self.backend.draw_text(text, &style, pixel(at)))
    }

    #[allow(clippy::unused_self, reason = "reads as part of the drawing calls")]
    fn style(&self, ink: Ink, alpha: f64, width: u32) -> ShapeStyle {
        ShapeStyle { color: ink.placeholder().mix(alpha), filled: true, stroke_width: width }
    }
}

fn drawn<E: std::fmt::Display>(result: Result<(), E>) -> Result<(), Error> {
    result.map_err(|error| Error::library("drawing a plot", &error))
}

fn pixel((x, y): (f64, f64)) -> (i32, i32) {
    (rounded(x), rounded(y))
}

#[allow(clippy::cast_possible_truncation, reason = "clamped to a range that fits")]
fn rounded(value: f64) -> i32 {
    value.round().clamp(-1e6, 1e6) as i32
}

fn pixels(length: u32) -> i32 {
    i32::try_from(length).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::{Anchor, Ink, draw};

    #[test]
    fn text_is_text_and_colours_follow_the_reader() {
        let svg = draw("a \"word\"", (100, 50), |canvas| {
            canvas.text("ε < 1", (50.0, 25.0), Anchor::Middle, 12.0, Ink::Text)?;
            canvas.dot((10.0, 10.0), 3, Ink::First, 0.5)
        })
        .unwrap();
        let (inline, file) = (svg.inline(), svg.standalone());
        assert!(inline.contains("aria-label=\"a &quot;word&quot;\""), "{inline}");
        assert!(inline.contains("ε &lt; 1") && inline.contains("fill=\"var(--ink)\""), "{inline}");
        assert!(file.contains("fill=\"#0072b2\"") && !file.contains("var("), "{file}");
        assert!(!file.contains("#0102"), "every placeholder is replaced");
    }
}

//! Plots as SVG, in colours that colour-blind readers can tell apart, on light and on dark.

pub(crate) mod axis;
pub(crate) mod bars;
pub(crate) mod canvas;
pub(crate) mod lines;

pub(crate) use canvas::Svg;

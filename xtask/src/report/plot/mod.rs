//! Plots as SVG, in colours that colour-blind readers can tell apart, on light and on dark.

mod axis;
mod canvas;
pub(crate) mod scatter;
pub(crate) mod strip;

pub(crate) use canvas::Svg;

//! Answers, checked a second time by `dp-check`, which shares no code with the library: both sides, without any tolerance of ours.

#![allow(clippy::disallowed_methods, reason = "tests compare plain numbers")]

mod certificates;
mod controls;
mod corners;
mod formulas;
mod golden;
mod queries;
mod random;

//! Answers, checked a second time by `dp-check`, which shares no code with the library: both sides, without any tolerance of ours.

mod controls;
mod corners;
mod golden;
mod queries;
mod random;

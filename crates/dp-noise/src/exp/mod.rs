//! `exp(-x)` in integers: to 64 bits for the hot paths, to any number of bits to settle the rest.

mod big;
mod fixed;
mod tables;

pub(crate) use big::{Enclosure, exp_minus, shift_up};
pub(crate) use fixed::{
    Strip, exp_minus_one_powers, exp_strip, few_points_below, first_block, up_to_block,
};
pub(crate) use tables::{BLOCKS_PER_DEVIATION, FEW};

//! Broken forms of noise on every record.

use dp_audit::harness::MutantCode;
use dp_cluster::Points;
use dp_cluster::coreset::PrivateCoreset;
use dp_cluster::distance::NoisedPoints;
use dp_mechanism::Source;

use crate::distance::{honest, moves};

pub(crate) fn code() -> [MutantCode; 1] {
    [("M75", |effort| moves(effort, drawn_twice), |effort| moves(effort, honest))]
}

/// Both algorithms of the paper draw the noised points, each its own, for the price of one draw.
fn drawn_twice(
    plan: &NoisedPoints,
    points: &Points,
    draws: &mut dyn Source,
) -> Vec<PrivateCoreset> {
    [honest(plan, points, draws), honest(plan, points, draws)].concat()
}

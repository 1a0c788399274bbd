//! From a noisy table to a consistent one: which solver serves which method.

use super::Method;
use crate::solve::{Problem, chain, tree};

/// The consistent table of counts, in whole numbers.
pub(super) fn whole_numbers(method: Method, problem: &Problem<'_>) -> Vec<i64> {
    match method {
        Method::Counts => tree::solve(problem),
        _ => chain::solve(problem),
    }
}

/// The closest consistent table of counts, in real numbers.
pub(super) fn real_numbers(_method: Method, problem: &Problem<'_>) -> Vec<f64> {
    chain::solve(problem).into_iter().map(|x| x as f64).collect()
}

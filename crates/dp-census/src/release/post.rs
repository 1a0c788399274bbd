//! From a noisy table to a consistent one: which solver serves which method.

use super::Method;
use crate::solve::{Problem, chain, cumulative, edf, monotone_rows, top_down, tree};

/// The consistent table of counts, in whole numbers.
pub(super) fn whole_numbers(method: Method, problem: &Problem<'_>) -> Vec<i64> {
    match method {
        Method::Cumulative => {
            let real = cumulative::solve(problem).rows;
            let mut table = edf::round(problem.tree(), &real, problem.groups());
            table.chunks_exact_mut(problem.bins()).for_each(|row| difference(row, |a, b| a - b));
            table
        }
        Method::CumulativeThenTree => monotone_rows::solve(problem),
        Method::Counts => tree::solve(problem),
        Method::TopDown => top_down::solve(problem),
        Method::Chain => chain::solve(problem),
    }
}

/// The closest consistent table of counts, in real numbers.
pub(super) fn real_numbers(method: Method, problem: &Problem<'_>) -> Vec<f64> {
    if method == Method::Counts {
        return tree::solve_real(problem);
    }
    let mut table = cumulative::solve(problem).rows;
    table.chunks_exact_mut(problem.bins()).for_each(|row| difference(row, |a, b| a - b));
    table
}

/// Counts from running sums.
fn difference<T: Copy>(row: &mut [T], minus: fn(T, T) -> T) {
    for column in (1..row.len()).rev() {
        row[column] = minus(row[column], row[column - 1]);
    }
}

//! From a noisy table to a consistent one: which solver serves which method.

use super::Method;
use super::evidence::Proof;
use super::params::Course;
use crate::solve::{
    Problem, chain, cumulative, cumulative_top_down, edf, fitted, monotone_rows, top_down, tree,
};

/// The consistent table of counts, in whole numbers. `totals` of leaf regions, if public, are kept to by the default method.
pub(super) fn whole_numbers(
    course: &Course,
    problem: &Problem<'_>,
    totals: Option<&[i64]>,
) -> (Vec<i64>, Proof) {
    let table = match course.method {
        Method::Fitted => {
            fitted::solve_upper(problem, &course.noise.variances(), totals, course.draws).counts
        }
        Method::CumulativeTopDown => {
            let solution = cumulative_top_down::solve(problem, totals);
            return (solution.counts, Proof::Multipliers(solution.multipliers));
        }
        Method::Cumulative => {
            let real = cumulative::solve(problem);
            let mut table = edf::round(problem.tree(), &real.rows, problem.groups());
            table.chunks_exact_mut(problem.bins()).for_each(|row| difference(row, |a, b| a - b));
            return (table, Proof::Real(real));
        }
        Method::CumulativeThenTree => monotone_rows::solve(problem),
        Method::Counts => tree::solve(problem),
        Method::TopDown => top_down::solve(problem),
        Method::RootSpread => spread(course, problem, totals),
        Method::Chain => chain::solve(problem),
    };
    (table, Proof::None)
}

/// The table of the root's row alone.
pub(super) fn spread(course: &Course, problem: &Problem<'_>, totals: Option<&[i64]>) -> Vec<i64> {
    let of_root = course.noise.variances().first().copied().filter(|_| course.smooths);
    match of_root {
        Some(variance) => fitted::spread_smoothed(problem, variance, totals),
        None => fitted::spread(problem, totals),
    }
}

/// The closest consistent table of counts, in real numbers, and the cumulative one if it came from there.
pub(super) fn real_numbers(method: Method, problem: &Problem<'_>) -> (Vec<f64>, Proof) {
    if method == Method::Counts {
        return (tree::solve_real(problem), Proof::None);
    }
    let real = cumulative::solve(problem);
    let mut table = real.rows.clone();
    table.chunks_exact_mut(problem.bins()).for_each(|row| difference(row, |a, b| a - b));
    (table, Proof::Real(real))
}

/// Counts from running sums.
fn difference<T: Copy>(row: &mut [T], minus: fn(T, T) -> T) {
    for column in (1..row.len()).rev() {
        row[column] = minus(row[column], row[column - 1]);
    }
}

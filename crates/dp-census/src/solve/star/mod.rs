//! The cumulative model in integers, exactly, for a root and its children.
//!
//! For two levels the problem of [`super::cumulative`] in integers is a minimum cost flow with convex
//! costs. A unit of flow is a group: it leaves a hub for one of the children, runs down the child's
//! sizes (the flow over size `s` is the child's cumulative count at `s`), leaves at its own size for
//! the root's sizes, and runs up those (the flow over `s` is the root's cumulative count) back to
//! the hub. So the sets whose sizes cost something are two laminar families, prefixes within each
//! child and prefixes of the whole; with a third level there are three and no such network.
//!
//! Starting from the rounded real optimum, unit flows are sent around negative cycles of the residual
//! network until there are none. Labels that leave every residual arc a nonnegative reduced cost
//! prove it; they start from the multipliers of the real optimum, so that few need correcting.
//!
//! The objective is an integer that falls with every unit sent, so the search ends; how long it takes
//! depends on how many units the rounding has put in another place than the optimum, and there is no
//! useful bound. A root with 52 children and a thousand sizes takes 0.05 s, one with 3,144 children
//! and twenty sizes seconds. Rounding alone costs little more and takes linear time.

mod network;

use self::network::Network;
use super::problem::adds_up;
use super::{Problem, cumulative, edf, isotonic};
use crate::CensusError;

/// An integral optimum with the labels that prove it.
#[derive(Debug, Clone)]
pub struct Solution {
    /// Cumulative counts, row-major.
    pub rows: Vec<i64>,
    /// One label per cell and one for the hub; empty for a root alone.
    pub labels: Vec<i128>,
}

/// What labels prove about a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Certificate {
    /// Rows nonnegative and nondecreasing, children add up, and the right number of groups.
    pub feasible: bool,
    /// The smallest reduced cost of a residual arc. If it is not negative, no unit steps around any
    /// cycle gain, which for convex costs is optimality.
    pub reduced_cost: i128,
}

impl Certificate {
    /// Whether the solution is proved optimal.
    pub fn is_optimal(&self) -> bool {
        self.feasible && self.reduced_cost >= 0
    }
}

/// The exact integer optimum.
///
/// # Errors
/// A tree of more than two levels.
pub fn solve(problem: &Problem<'_>) -> Result<Solution, CensusError> {
    let levels = problem.tree().levels();
    if levels > 2 {
        return Err(CensusError::NotAStar { levels });
    }
    if levels == 1 {
        return Ok(Solution { rows: root_alone(problem), labels: Vec::new() });
    }
    let real = cumulative::solve(problem).rows;
    let rows = edf::round(problem.tree(), &real, problem.groups());
    let mut network = Network::new(*problem, rows, initial_labels(problem, &real));
    network.cancel_all_negative_cycles();
    Ok(Solution { rows: network.rows, labels: network.labels })
}

/// Certificate of a solution; linear time, exact.
///
/// # Errors
/// A tree of more than two levels.
///
/// # Panics
/// If the solution is for another shape.
pub fn certify(problem: &Problem<'_>, solution: &Solution) -> Result<Certificate, CensusError> {
    let (tree, bins, groups) = (problem.tree(), problem.bins(), problem.groups());
    let Solution { rows, labels } = solution;
    assert_eq!(rows.len(), problem.noisy().len(), "a table of the same shape");
    let row = |node: usize| &rows[node * bins..][..bins];
    let feasible = row(0)[bins - 1] == groups
        && (0..tree.len()).all(|node| row(node)[0] >= 0 && row(node).is_sorted())
        && adds_up(tree, bins, rows);
    let reduced_cost = match tree.levels() {
        1 => {
            let items: Vec<_> =
                problem.row(0)[..bins - 1].iter().map(|&y| (i128::from(y), 1)).collect();
            let proof = isotonic::certify(&items, &rows[..bins - 1], 0..=groups);
            proof.raise.min(proof.lower)
        }
        2 if labels.len() == rows.len() + 1 => {
            Network::new(*problem, rows.clone(), labels.clone()).smallest_reduced_cost()
        }
        2 => i128::MIN,
        levels => return Err(CensusError::NotAStar { levels }),
    };
    Ok(Certificate { feasible, reduced_cost })
}

fn root_alone(problem: &Problem<'_>) -> Vec<i64> {
    let free = &problem.row(0)[..problem.bins() - 1];
    let mut row = isotonic::solve(free, &vec![1; free.len()], 0..=problem.groups());
    row.push(problem.groups());
    row
}

/// Labels under which the arcs of the real optimum would have no reduced costs: the marginal cost of
/// a group from the hub down to each size.
fn initial_labels(problem: &Problem<'_>, real: &[f64]) -> Vec<i128> {
    let bins = problem.bins();
    let weight = i128::from(problem.level_weights()[1]);
    let mut labels = vec![0; real.len() + 1];
    let (root, children) = labels.split_at_mut(bins);
    root.fill(i128::MAX);
    for child in problem.tree().leaves() {
        let mut label = 0;
        for bin in (0..bins).rev() {
            let distance = real[child * bins + bin] - problem.row(child)[bin] as f64;
            #[expect(clippy::cast_possible_truncation, reason = "bounded by the problem's limits")]
            let twice = (2.0 * distance).round() as i64;
            label += weight * i128::from(twice);
            children[(child - 1) * bins + bin] = label;
            root[bin] = root[bin].min(label);
        }
    }
    labels
}

#[cfg(test)]
mod tests;

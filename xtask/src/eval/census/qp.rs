//! The same problems by a general solver: what a user without the structure would reach for.
//!
//! The relaxations of Models 1 and 2 as quadratic programs for the interior point solver Clarabel.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus, ZeroConeT,
};
use dp_census::solve::Problem;

use crate::error::Error;

/// What the rows of a table are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rows {
    /// Numbers of groups of each size, not negative.
    Counts,
    /// Numbers of groups up to each size, nondecreasing.
    Cumulative,
}

/// The closest consistent real table to the noisy one.
///
/// # Errors
/// If the solver does not reach its tolerance.
pub(super) fn relaxed(problem: &Problem<'_>, rows: Rows) -> Result<Vec<f64>, Error> {
    let (tree, bins) = (problem.tree(), problem.bins());
    let mut program = Program::new(tree.len() * bins);
    for node in 0..tree.len() {
        let weight = f64::from(problem.level_weights()[tree.level_of(node)]);
        for (bin, &noisy) in problem.row(node).iter().enumerate() {
            program.quadratic[node * bins + bin] = 2.0 * weight;
            program.linear[node * bins + bin] = -2.0 * weight * noisy as f64;
        }
    }
    let fixed: Vec<(usize, f64)> = match rows {
        Rows::Counts => (0..bins).map(|bin| (bin, 1.0)).collect(),
        Rows::Cumulative => vec![(bins - 1, 1.0)],
    };
    program.equal(&fixed, problem.groups() as f64);
    for node in 0..tree.leaves().start {
        for bin in 0..bins {
            let parts = tree.children(node).map(|child| (child * bins + bin, -1.0));
            let sum: Vec<_> = [(node * bins + bin, 1.0)].into_iter().chain(parts).collect();
            program.equal(&sum, 0.0);
        }
    }
    for leaf in tree.leaves() {
        for cell in leaf * bins..(leaf + 1) * bins {
            match rows {
                Rows::Cumulative if cell > leaf * bins => {
                    program.at_most(&[(cell - 1, 1.0), (cell, -1.0)], 0.0);
                }
                _ => program.at_most(&[(cell, -1.0)], 0.0),
            }
        }
    }
    program.solve()
}

/// A convex program with a diagonal quadratic part, in the solver's form.
#[derive(Debug)]
pub(super) struct Program {
    quadratic: Vec<f64>,
    pub(super) linear: Vec<f64>,
    equal: Sparse,
    at_most: Sparse,
}

/// Sparse rows with their right sides.
#[derive(Debug, Default)]
struct Sparse {
    rows: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
    right: Vec<f64>,
}

impl Sparse {
    fn push(&mut self, terms: &[(usize, f64)], right: f64) {
        for &(column, value) in terms {
            self.rows.push(self.right.len());
            self.columns.push(column);
            self.values.push(value);
        }
        self.right.push(right);
    }
}

impl Program {
    pub(super) fn new(variables: usize) -> Self {
        let zeros = vec![0.0; variables];
        let (equal, at_most) = (Sparse::default(), Sparse::default());
        Self { quadratic: zeros.clone(), linear: zeros, equal, at_most }
    }

    pub(super) fn equal(&mut self, terms: &[(usize, f64)], right: f64) {
        self.equal.push(terms, right);
    }

    pub(super) fn at_most(&mut self, terms: &[(usize, f64)], right: f64) {
        self.at_most.push(terms, right);
    }

    pub(super) fn solve(self) -> Result<Vec<f64>, Error> {
        let n = self.linear.len();
        let squares: Vec<usize> = (0..n).filter(|&i| self.quadratic[i] != 0.0).collect();
        let values = squares.iter().map(|&i| self.quadratic[i]).collect();
        let quadratic = CscMatrix::new_from_triplets(n, n, squares.clone(), squares, values);
        let cones = [ZeroConeT(self.equal.right.len()), NonnegativeConeT(self.at_most.right.len())];
        let Sparse { mut rows, mut columns, mut values, mut right } = self.equal;
        rows.extend(self.at_most.rows.iter().map(|row| row + right.len()));
        columns.extend(self.at_most.columns);
        values.extend(self.at_most.values);
        right.extend(self.at_most.right);
        let constraints = CscMatrix::new_from_triplets(right.len(), n, rows, columns, values);
        let settings = DefaultSettings { verbose: false, ..DefaultSettings::default() };
        let refused = |reason: String| Error::library("the quadratic solver", &reason);
        let mut solver =
            DefaultSolver::new(&quadratic, &self.linear, &constraints, &right, &cones, settings)
                .map_err(|error| refused(error.to_string()))?;
        solver.solve();
        match solver.solution.status {
            SolverStatus::Solved | SolverStatus::AlmostSolved => Ok(solver.solution.x),
            status => Err(refused(status.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Rows, relaxed};
    use dp_census::RegionTree;
    use dp_census::solve::{Problem, cumulative, tree};
    use quietus_datasets::seed::named_rng;
    use rand::RngExt;

    /// The general solver and ours agree on both models, so that the times are of the same work.
    #[test]
    fn finds_the_same_optima() {
        let parents = [None, Some(0), Some(0), Some(1), Some(1), Some(2), Some(2), Some(2)];
        let hierarchy = RegionTree::from_parents(&parents).unwrap();
        let mut rng = named_rng(&["census-qp"]);
        for groups in [0, 7, 40] {
            let bins = 5;
            let noisy: Vec<i64> =
                (0..8 * bins).map(|_| rng.random_range(-6..=groups / 2 + 6)).collect();
            let problem = Problem::new(&hierarchy, bins, &noisy, &[3, 1, 2], groups).unwrap();
            let same = |a: &[f64], b: &[f64]| {
                let off = a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
                assert!(off < 1e-4, "{off}: {a:?} {b:?}");
            };
            same(&relaxed(&problem, Rows::Counts).unwrap(), &tree::solve_real(&problem));
            let ours = cumulative::solve(&problem).rows;
            same(&relaxed(&problem, Rows::Cumulative).unwrap(), &ours);
        }
    }
}

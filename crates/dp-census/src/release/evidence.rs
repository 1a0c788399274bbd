use super::params::Course;
use super::{GroupTable, Method, RealGroupTable, post};
use crate::solve::{
    Problem, chain, cumulative, cumulative_top_down, edf, fitted, monotone_rows, top_down, tree,
};
use crate::tree::RegionTree;

/// What a table was made from, kept so that [`Census::certify`](super::Census::certify) can prove the table.
///
/// It holds noisy numbers and what follows from them, so it is as private as the release.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// The hierarchy that it is about.
    pub(super) tree: RegionTree,
    pub(super) noisy: Vec<i64>,
    pub(super) way: usize,
    pub(super) proof: Proof,
}

/// What a solver leaves behind for its certificate.
#[derive(Clone, Debug)]
pub(super) enum Proof {
    /// The table is proof enough.
    None,
    /// The optimum in real numbers, for methods that pass through it.
    Real(cumulative::Solution),
    /// The multipliers of each split.
    Multipliers(Vec<Vec<i128>>),
}

/// How good a released table is for the noise that it was made from. Computed without the solver's own state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Certificate {
    /// Nothing is negative, and whole numbers add up without error and have the public number of groups. For
    /// [`Method::Cumulative`] also: each cumulative number is within `l + 1/2` of the real optimum at level `l`, root 0.
    pub feasible: bool,
    /// By how much the worst optimality condition is broken. For methods that are solved in whole numbers, all at once or step by step: by
    /// how much a unit step lowers the weighted squared distance; 0, but for splits too large for that
    /// ([`cumulative_top_down`](crate::solve::cumulative_top_down)). In groups, and of the order of rounding errors, for those solved in
    /// real numbers; for [`Method::Fitted`], which is solved again, by how much real rows did not add up before they became whole: a hundredth
    /// of a group, unless a search was given up.
    pub residual: f64,
    /// Bound of the weighted distance of the real optimum of [`Method::Cumulative`] to the true one, in groups over the whole
    /// table; 0 for other methods.
    pub distance: f64,
}

impl Evidence {
    /// The noisy table that the released one is closest to, on what the method counts; row-major as the table, regions of the lowest
    /// level drawn towards those above them if that was asked for.
    pub fn noisy(&self) -> &[i64] {
        &self.noisy
    }

    /// Which of the plan's [`Census::ways`](super::Census::ways) was gone.
    pub fn way(&self) -> usize {
        self.way
    }

    pub(super) fn certify(
        &self,
        course: &Course,
        problem: &Problem<'_>,
        totals: Option<&[i64]>,
        table: &GroupTable,
    ) -> Certificate {
        let counts = table.counts();
        let of_exchange = |proof: tree::Certificate| exact(proof.feasible, proof.gain as f64);
        match (course.method, &self.proof) {
            (Method::CumulativeTopDown, Proof::Multipliers(multipliers)) => {
                let proof = cumulative_top_down::certify(problem, totals, counts, multipliers);
                exact(proof.feasible, proof.gain)
            }
            (Method::Cumulative, Proof::Real(real)) => {
                let proof = of_cumulative(problem, real);
                let sums = sums_of_rows(counts, problem.bins());
                let rounded = edf::certify(problem.tree(), &real.rows, &sums, problem.groups());
                let close = |(level, &off): (usize, &f64)| off < level as f64 + 0.5 + 1e-6;
                let near = rounded.distance.iter().enumerate().all(close);
                Certificate { feasible: rounded.feasible && near && proof.feasible, ..proof }
            }
            (Method::Fitted, _) => {
                // Nothing shorter proves that a table is the one that was fitted.
                let variances = course.noise.variances();
                let solution = fitted::solve_upper(problem, &variances, totals, course.draws);
                exact(solution.counts == counts, solution.residual)
            }
            (Method::RootSpread, _) => exact(post::spread(course, problem, totals) == counts, 0.0),
            (Method::CumulativeTopDown | Method::Cumulative, _) => exact(false, f64::INFINITY),
            (Method::CumulativeThenTree, _) => of_exchange(monotone_rows::certify(problem, counts)),
            (Method::Counts, _) => of_exchange(tree::certify(problem, counts)),
            (Method::TopDown, _) => of_exchange(top_down::certify(problem, counts)),
            (Method::Chain, _) => match chain::certify(problem, counts) {
                Some(proof) => {
                    let gain = (-proof.raise.min(proof.lower)).max(0);
                    exact(proof.feasible, gain as f64)
                }
                None => exact(false, f64::INFINITY),
            },
        }
    }

    pub(super) fn certify_real(
        &self,
        problem: &Problem<'_>,
        table: &RealGroupTable,
    ) -> Certificate {
        if let Proof::Real(real) = &self.proof {
            let proof = of_cumulative(problem, real);
            let same = same_differences(&real.rows, table.counts(), problem.bins());
            return Certificate { feasible: proof.feasible && same, ..proof };
        }
        let proof = tree::certify_real(problem, table.counts());
        Certificate { feasible: proof.nonnegative, residual: proof.residual, distance: 0.0 }
    }
}

fn exact(feasible: bool, residual: f64) -> Certificate {
    Certificate { feasible, residual, distance: 0.0 }
}

fn of_cumulative(problem: &Problem<'_>, real: &cumulative::Solution) -> Certificate {
    let proof = cumulative::certify(problem, real);
    let residual = proof.inconsistency.max(proof.leaf_violation);
    Certificate { feasible: proof.monotone, residual, distance: proof.distance }
}

/// Whether the counts are those that the cumulative rows say.
#[expect(clippy::float_cmp, reason = "the same subtraction of the same numbers")]
fn same_differences(rows: &[f64], counts: &[f64], columns: usize) -> bool {
    rows.chunks_exact(columns).zip(counts.chunks_exact(columns)).all(|(row, counts)| {
        let before = std::iter::once(&0.0).chain(row);
        row.iter().zip(before).zip(counts).all(|((sum, before), &count)| sum - before == count)
    })
}

fn sums_of_rows(counts: &[i64], columns: usize) -> Vec<i64> {
    let mut sums = counts.to_vec();
    for row in sums.chunks_exact_mut(columns) {
        for column in 1..columns {
            row[column] += row[column - 1];
        }
    }
    sums
}

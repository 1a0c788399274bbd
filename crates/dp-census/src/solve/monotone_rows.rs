//! Each cumulative row made nondecreasing alone, then consistency on the differences.
//!
//! Fioretto, Van Hentenryck, Zhu (2021), Algorithm 2 followed by the tree of their Section 7: the
//! cheap approximation of [`super::cumulative`]. Both steps are exact, their composition is not the
//! optimum of either model.

use rayon::prelude::*;

use super::isotonic::{self, Isotonic};
use super::{Problem, tree};

/// Consistent nonnegative counts from noisy cumulative counts.
pub fn solve(problem: &Problem<'_>) -> Vec<i64> {
    tree::solve(&second_step(problem, &differences(problem)))
}

/// Certificate of both steps: not feasible if the first one is not optimal. Linear time, exact.
///
/// # Panics
/// If the table has another shape.
pub fn certify(problem: &Problem<'_>, counts: &[i64]) -> tree::Certificate {
    let bins = problem.bins();
    let monotone = differences(problem);
    let (mut items, mut values) = (Vec::new(), Vec::new());
    let mut optimal = true;
    for (row, noisy) in monotone.chunks_exact(bins).zip(problem.noisy().chunks_exact(bins)) {
        items.clear();
        items.extend(noisy.iter().map(|&value| (i128::from(value), 1)));
        values.clear();
        let sums = row.iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        });
        values.extend(sums);
        optimal &= isotonic::certify(&items, &values, 0..=problem.groups()).is_optimal();
    }
    let proof = tree::certify(&second_step(problem, &monotone), counts);
    tree::Certificate { feasible: proof.feasible && optimal, ..proof }
}

fn second_step<'a>(problem: &Problem<'a>, counts: &'a [i64]) -> Problem<'a> {
    let (weights, groups) = (problem.level_weights(), problem.groups());
    Problem::new(problem.tree(), problem.bins(), counts, weights, groups)
        .expect("the shape of a valid problem, with cells up to its groups")
}

/// The differences of the closest nondecreasing integers from 0 to `groups`, row by row (Algorithm
/// 2). Linear time.
pub fn differences(problem: &Problem<'_>) -> Vec<i64> {
    let bins = problem.bins();
    let mut counts = vec![0; problem.noisy().len()];
    let rows = counts.par_chunks_mut(bins).zip(problem.noisy().par_chunks(bins));
    rows.for_each_init(Isotonic::default, |fit, (row, noisy)| {
        fit.clear();
        for &value in noisy {
            fit.push(i128::from(value), 1);
        }
        let (mut bin, mut before) = (0, 0);
        for (value, width) in fit.pieces(0..=problem.groups()) {
            row[bin] = value - before;
            before = value;
            bin += width;
        }
    });
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::random::{self, Shape};

    #[test]
    fn both_steps_are_certified() {
        let mut rng = random::generator(63);
        let shape = Shape { levels: 4, fan_out: 4, bins: 9, weight: 5, groups: 60, noise: 30 };
        let mut refused = 0;
        for _ in 0..1_000 {
            let case = random::case(&mut rng, shape);
            let problem = case.problem();
            let counts = solve(&problem);
            assert!(certify(&problem, &counts).is_optimal(), "{case:?}");
            // Optimal for other noise, and feasible: only the second step can tell.
            let mut noisy = case.noisy.clone();
            noisy.reverse();
            let other = solve(&random::Case { noisy, ..case.clone() }.problem());
            if problem.objective(&other) != problem.objective(&counts) && other != counts {
                refused += usize::from(!certify(&problem, &other).is_optimal());
            }
        }
        assert!(refused > 300, "{refused}");
    }
}

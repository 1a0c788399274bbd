//! Each cumulative row made nondecreasing alone, then consistency on the differences.
//!
//! Fioretto, Van Hentenryck, Zhu (2021), Algorithm 2 followed by the tree of their Section 7: the
//! cheap approximation of [`super::cumulative`]. Both steps are exact, their composition is not the
//! optimum of either model; [`super::isotonic::certify`] and [`super::tree::certify`] prove a step.

use rayon::prelude::*;

use super::isotonic::Isotonic;
use super::{Problem, tree};

/// Consistent nonnegative counts from noisy cumulative counts.
pub fn solve(problem: &Problem<'_>) -> Vec<i64> {
    let counts = differences(problem);
    let (weights, groups) = (problem.level_weights(), problem.groups());
    let problem = Problem::new(problem.tree(), problem.bins(), &counts, weights, groups)
        .expect("the shape of a valid problem, with cells up to its groups");
    tree::solve(&problem)
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
    use crate::solve::isotonic;
    use crate::solve::random::{self, Shape};

    #[test]
    fn both_steps_are_certified() {
        let mut rng = random::generator(63);
        let shape = Shape { levels: 4, fan_out: 4, bins: 9, weight: 5, groups: 60, noise: 30 };
        for _ in 0..1_000 {
            let case = random::case(&mut rng, shape);
            let problem = case.problem();
            let counts = differences(&problem);
            for (row, noisy) in
                counts.chunks_exact(case.bins).zip(case.noisy.chunks_exact(case.bins))
            {
                let items: Vec<_> = noisy.iter().map(|&y| (i128::from(y), 1)).collect();
                let sums: Vec<i64> = row
                    .iter()
                    .scan(0, |sum, n| {
                        *sum += n;
                        Some(*sum)
                    })
                    .collect();
                assert!(isotonic::certify(&items, &sums, 0..=case.groups).is_optimal());
            }
            let step = random::Case { noisy: counts, ..case.clone() };
            assert!(tree::certify(&step.problem(), &solve(&problem)).is_optimal());
        }
    }
}

use crate::RegionTree;
use crate::solve::cumulative_top_down::totals_of;
use crate::solve::whole_rows::Targets;
use crate::solve::{Problem, cumulative};

/// The closest consistent real table over all levels at once, [`cumulative`].
///
/// It knows more about sums of regions than their noisy sums do where order holds most of the cells in place, and is off where it makes
/// thousands of regions too large. Which of these it is, noisy values say: see [`risk`](Self::risk).
pub(super) struct Joint {
    /// Cumulative, row-major.
    pub(super) rows: Vec<f64>,
    pub(super) residual: f64,
}

/// Cells of a table up to which leaves are rounded where noise is small. Beyond, it would take most of the time of a release.
const MOST_CELLS: usize = 1 << 19;
/// Cells up to which the joint table is asked for sums. With a thousand columns, of which most are flat, the risk on average says little
/// about those that are not, and drawing to its rows takes long.
const MOST_CELLS_TRUSTED: usize = 1 << 17;
/// Estimated risk, as a share of that of the noisy sums, up to which the joint table is trusted.
const TRUSTED: f64 = 0.35;
/// Variance of a cell of a leaf up to which whole numbers say more than what is drawn to a row above.
const NEARLY_WHOLE: f64 = 0.25;

impl Joint {
    /// None for tables that are too large, and for one level, which has nothing to be joined. `of_leaf` is the variance of the noise of leaves.
    pub(super) fn new(problem: &Problem<'_>, of_leaf: f64) -> Option<Self> {
        let most = if is_nearly_whole(of_leaf) { MOST_CELLS } else { MOST_CELLS_TRUSTED };
        if problem.tree().levels() < 2 || problem.noisy().len() > most {
            return None;
        }
        let cumulative::Solution { rows, residual, .. } = cumulative::solve(problem);
        Some(Self { rows, residual })
    }

    pub(super) fn is_trusted(&self, problem: &Problem<'_>, variances: &[f64]) -> bool {
        self.risk(problem, variances) <= TRUSTED
    }

    /// Estimated mean square error of the counts of the inner rows, over that of the best linear estimate without bias.
    ///
    /// With `u` that estimate, of variance `V`, and `j` the joint one, the risk of `j` is `E (j - u)^2 - V + 2 Cov(j, u)`. Errors are compared
    /// in counts, which are differences of cells, as what is off by the same in neighbouring cells costs nothing there.
    fn risk(&self, problem: &Problem<'_>, variances: &[f64]) -> f64 {
        let (tree, bins) = (problem.tree(), problem.bins());
        let inner = tree.leaves().start;
        let mut linear: Vec<f64> = problem.noisy().iter().map(|&noisy| noisy as f64).collect();
        let of_level = |level: usize| tree.level(level).map(move |_| variances[level].max(1e-9));
        let mut variance: Vec<f64> = (0..tree.levels()).flat_map(of_level).collect();
        let mut squares = 0.0;
        for node in (0..inner).rev() {
            let below: f64 = tree.children(node).map(|child| variance[child]).sum();
            let own = variance[node];
            variance[node] = own * below / (own + below);
            let mut before = 0.0;
            for column in 0..bins {
                let of_children =
                    tree.children(node).map(|child| linear[child * bins + column]).sum::<f64>();
                let cell = &mut linear[node * bins + column];
                *cell = (*cell * below + of_children * own) / (own + below);
                let off = *cell - self.rows[node * bins + column];
                // The first count is one cell, the others are differences of two.
                let cells = if column == 0 { 1.0 } else { 2.0 };
                squares += (off - before).powi(2) / (cells * variance[node]);
                before = off;
            }
        }
        squares / (inner * bins) as f64 - 1.0 + 2.0 * self.follows(tree, bins)
    }

    /// How much a count of a joint row follows its own noise, on average: by Stein's identity, a cell of a piece of `n` cells that are held
    /// together follows that of each of them by `1 / n`.
    fn follows(&self, tree: &RegionTree, bins: usize) -> f64 {
        let mut follows = 0.0;
        for row in self.rows[tree.leaves().start * bins..].chunks_exact(bins) {
            let mut before = None;
            #[expect(clippy::float_cmp, reason = "pieces are filled with one value")]
            for piece in row.chunk_by(|a, b| a == b) {
                let own = if piece[0] > 0.0 { 1.0 / piece.len() as f64 } else { 0.0 };
                follows += before.map_or(own, |before| f64::midpoint(own, before));
                before = Some(own);
            }
        }
        follows / (tree.leaves().len() * bins) as f64
    }
}

/// Whether the noise of leaves is so small that [`Joint::rounded`] is closer than anything that is drawn to a row above.
pub(super) fn is_nearly_whole(of_leaf: f64) -> bool {
    of_leaf <= NEARLY_WHOLE
}

impl Joint {
    /// The leaves' rows rounded cell by cell, and their sums: where noise is mostly less than half a group, each cell is mostly right by
    /// itself, and the error of all cells together gains nothing by having sums in mind. Inner rows pay for it: their error is that of the sum of
    /// their leaves, not of their own noise. `totals` are the numbers of groups of the leaves, if public.
    pub(super) fn rounded(&self, problem: &Problem<'_>, totals: Option<&[i64]>) -> Vec<i64> {
        let (tree, bins) = (problem.tree(), problem.bins());
        let leaves = tree.leaves();
        let ends = if let Some(totals) = totals {
            totals_of(tree, totals, problem.groups()).split_off(leaves.start)
        } else {
            let ends = leaves.clone().map(|leaf| self.rows[leaf * bins + bins - 1]);
            let values: Vec<f64> = ends.collect();
            let (weights, sum) = (vec![1.0; values.len()], [problem.groups()]);
            Targets { totals: &sum, values: &values, weights: &weights, ends: None }.rows()
        };
        let mut counts = vec![0; self.rows.len()];
        let (inner, lowest) = counts.split_at_mut(leaves.start * bins);
        let rows = self.rows[leaves.start * bins..].chunks_exact(bins);
        for ((counts, row), &end) in lowest.chunks_exact_mut(bins).zip(rows).zip(&ends) {
            let mut before = 0;
            for (column, (count, value)) in counts.iter_mut().zip(row).enumerate() {
                #[expect(clippy::cast_possible_truncation, reason = "saturates, then the clamp")]
                let near = if column + 1 == bins { end } else { (value.round() as i64).min(end) };
                *count = near.max(before) - before;
                before += *count;
            }
        }
        for node in (0..leaves.start).rev() {
            for child in tree.children(node) {
                for column in 0..bins {
                    let of_child = if child < leaves.start {
                        inner[child * bins + column]
                    } else {
                        lowest[(child - leaves.start) * bins + column]
                    };
                    inner[node * bins + column] += of_child;
                }
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::problem::adds_up;
    use crate::solve::random::{self, Shape};
    use rand::RngExt;

    #[test]
    fn rounded_rows_are_feasible_whatever_the_noise() {
        let mut rng = random::generator(94);
        let shape = Shape { levels: 4, fan_out: 4, bins: 7, weight: 5, groups: 60, noise: 30 };
        for round in 0..300 {
            let case = random::case(&mut rng, shape);
            let problem = case.problem();
            let Some(joint) = Joint::new(&problem, 1.0) else {
                assert_eq!(case.tree.levels(), 1);
                continue;
            };
            let mut totals = vec![0; case.tree.leaves().len()];
            for _ in 0..case.groups {
                let leaf = rng.random_range(0..totals.len());
                totals[leaf] += 1;
            }
            let totals = (round % 2 == 0).then_some(&totals[..]);
            let counts = joint.rounded(&problem, totals);
            assert!(counts.iter().all(|&count| count >= 0), "{case:?}");
            assert!(adds_up(&case.tree, case.bins, &counts), "{case:?}");
            assert_eq!(counts[..case.bins].iter().sum::<i64>(), case.groups);
            for (row, &total) in
                counts.chunks_exact(case.bins).rev().zip(totals.iter().flat_map(|t| t.iter().rev()))
            {
                assert_eq!(row.iter().sum::<i64>(), total);
            }
        }
    }

    /// Sixty zones of a few sizes each, and as many columns that are empty: order holds most cells, so that joint sums are close. Forty
    /// large noises on regions that are empty: none can be negative, so that joint sums are too large.
    #[test]
    fn risk_tells_where_sums_may_be_trusted() {
        let mut rng = random::generator(95);
        let parents: Vec<Option<u32>> = std::iter::once(None).chain([Some(0); 60]).collect();
        let tree = RegionTree::from_parents(&parents).expect("valid");
        let bins = 40;
        let mut risk = |groups_of: &dyn Fn(usize) -> i64, noise: i64| {
            let groups: i64 = (0..60).map(groups_of).sum();
            let of_zone =
                |zone: usize, column: usize| if column < zone % 5 { 0 } else { groups_of(zone) };
            let of_root = |column: usize| (0..60).map(|zone| of_zone(zone, column)).sum::<i64>();
            let truth: Vec<i64> = (0..=60)
                .flat_map(|node| (0..bins).map(move |column| (node, column)))
                .map(
                    |(node, column)| {
                        if node == 0 { of_root(column) } else { of_zone(node - 1, column) }
                    },
                )
                .collect();
            let noisy: Vec<i64> =
                truth.iter().map(|cell| cell + rng.random_range(-noise..=noise)).collect();
            let problem = Problem::new(&tree, bins, &noisy, &[1, 1], groups).expect("valid");
            let variance = (noise * (noise + 1)) as f64 / 3.0;
            Joint::new(&problem, variance).expect("two levels").risk(&problem, &[variance; 2])
        };
        let trusted = risk(&|_| 500, 20);
        assert!(trusted < TRUSTED, "{trusted}");
        let off = risk(&|zone| if zone == 0 { 500 } else { 0 }, 400);
        assert!(off > trusted, "{off}");
    }
}

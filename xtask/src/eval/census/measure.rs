//! How far a released table is from the truth, and which promises about tables it breaks.

use dp_census::Certificate;
use dp_census::solve::Problem;
use quietus_datasets::sets::census::Dataset;
use std::collections::BTreeMap;

/// The metrics of one release, by the names that results.jsonl uses.
pub(super) fn metrics_of(data: &Dataset, counts: &[i64]) -> BTreeMap<String, f64> {
    let (tree, columns) = (data.hierarchy.tree(), data.sizes.columns());
    let mut found = BTreeMap::new();
    let mut total = 0.0;
    for level in 0..tree.levels() {
        let regions = tree.level(level);
        let cells = regions.start * columns..regions.end * columns;
        let off = data.totals[cells.clone()].iter().zip(&counts[cells]);
        let error: u64 = off.map(|(a, b)| a.abs_diff(*b)).sum();
        found.insert(format!("l1_error_level_{}", level + 1), error as f64);
        total += error as f64;
    }
    found.insert("l1_error_total".to_owned(), total);
    found.insert("constraint_violations".to_owned(), violations(data, counts) as f64);
    let negative = counts.iter().filter(|&&count| count < 0).count();
    found.insert("negative_cells".to_owned(), negative as f64);
    let groups: i64 = counts[..columns].iter().sum();
    found.insert("groups_missing".to_owned(), groups.abs_diff(data.sizes.groups()) as f64);
    found
}

/// The weighted sum of squared distances of a real table to the noisy one.
pub(super) fn objective(problem: &Problem<'_>, table: &[f64]) -> f64 {
    let (tree, bins) = (problem.tree(), problem.bins());
    let of_level = |(level, &weight): (usize, &u32)| {
        let regions = tree.level(level);
        let cells = regions.start * bins..regions.end * bins;
        let off = table[cells.clone()].iter().zip(&problem.noisy()[cells]);
        let squares: f64 = off.map(|(x, &y)| (x - y as f64).powi(2)).sum();
        f64::from(weight) * squares
    };
    problem.level_weights().iter().enumerate().map(of_level).sum()
}

/// What a proof says about its release: not proved at all, by how much its worst condition is broken, and how far from the real optimum.
pub(super) fn metrics_of_certificate(proof: Certificate) -> BTreeMap<String, f64> {
    BTreeMap::from([
        ("certificate_infeasible".to_owned(), f64::from(u8::from(!proof.feasible))),
        ("certificate_residual".to_owned(), proof.residual.min(1e300)),
        ("certificate_distance".to_owned(), proof.distance),
    ])
}

/// Cells of regions with parts that are not the sum of the cells of their parts.
fn violations(data: &Dataset, counts: &[i64]) -> usize {
    let (tree, columns) = (data.hierarchy.tree(), data.sizes.columns());
    let inner = 0..tree.leaves().start;
    let broken = |region: usize| {
        let parts = tree.children(region);
        let sum = |column: usize| parts.clone().map(|p| counts[p * columns + column]).sum::<i64>();
        (0..columns).filter(|&column| counts[region * columns + column] != sum(column)).count()
    };
    inner.map(broken).sum()
}

#[cfg(test)]
mod tests {
    use super::metrics_of;
    use crate::eval::census::tests::tiny;

    #[test]
    fn errors_are_by_level_and_violations_by_cell() {
        let data = tiny();
        let mut counts = data.totals.clone();
        let metrics = metrics_of(&data, &counts);
        assert!(metrics.values().all(|value| value.abs() < 0.5), "{metrics:?}");
        // One group more in the last region, and three less in the first.
        let last = counts.len() - 1;
        counts[last] += 1;
        counts[0] -= 3;
        let metrics = metrics_of(&data, &counts);
        let lowest = format!("l1_error_level_{}", data.hierarchy.tree().levels());
        for (name, want) in [
            (lowest.as_str(), 1.0),
            ("l1_error_level_1", 3.0),
            ("l1_error_total", 4.0),
            ("constraint_violations", 2.0),
            ("negative_cells", 1.0),
            ("groups_missing", 3.0),
        ] {
            assert!((metrics[name] - want).abs() < 0.5, "{name}: {metrics:?}");
        }
    }
}

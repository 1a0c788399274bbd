//! A data set as two-dimensional people see it: a sample along its first two principal axes.

use dp_geometry::PointsView;
use nalgebra::{DMatrix, SymmetricEigen};
use quietus_datasets::prepare::Dataset;

/// Points drawn.
const SHOWN: usize = 1_500;
/// Points that the axes are computed from.
const MEASURED: usize = 20_000;

/// A projected sample and the projection.
#[derive(Debug)]
pub(crate) struct Cloud {
    mean: Vec<f64>,
    axes: [Vec<f64>; 2],
    pub(crate) points: Vec<(f64, f64)>,
    pub(crate) true_centres: Option<Vec<(f64, f64)>>,
}

impl Cloud {
    /// Takes evenly spaced rows: no randomness, and every class of an ordered file is seen.
    pub(crate) fn of(dataset: &Dataset) -> Self {
        let view = dataset.points.view();
        let mut cloud = Self::axes_of(view);
        cloud.points = evenly(view, SHOWN).map(|row| cloud.project(row)).collect();
        cloud.true_centres =
            dataset.true_centres.as_ref().map(|centres| cloud.project_all(centres.view()));
        cloud
    }

    /// All points of a view along the axes.
    pub(crate) fn project_all(&self, view: PointsView<'_>) -> Vec<(f64, f64)> {
        view.rows().map(|row| self.project(row)).collect()
    }

    fn project(&self, row: &[f64]) -> (f64, f64) {
        let along = |axis: &[f64]| {
            row.iter().zip(&self.mean).zip(axis).map(|((x, mean), a)| (x - mean) * a).sum()
        };
        (along(&self.axes[0]), along(&self.axes[1]))
    }

    fn axes_of(view: PointsView<'_>) -> Self {
        let d = view.dim();
        let rows: Vec<&[f64]> = evenly(view, MEASURED).collect();
        let n = rows.len().max(1) as f64;
        let mut mean = vec![0.0; d];
        for row in &rows {
            mean.iter_mut().zip(*row).for_each(|(sum, x)| *sum += x / n);
        }
        let centred =
            DMatrix::from_fn(rows.len(), d, |row, column| rows[row][column] - mean[column]);
        let eigen = SymmetricEigen::new(centred.tr_mul(&centred) / n);
        let mut order: Vec<usize> = (0..d).collect();
        order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
        let axis = |rank: usize| match order.get(rank) {
            Some(&column) => upright(eigen.eigenvectors.column(column).iter().copied().collect()),
            None => vec![0.0; d], // one dimension: everything lies on the first axis
        };
        Self { axes: [axis(0), axis(1)], mean, points: Vec::new(), true_centres: None }
    }
}

/// An axis has no sign of its own; fix it, so that equal data gives equal plots.
fn upright(mut axis: Vec<f64>) -> Vec<f64> {
    let largest = axis.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(1.0);
    if largest < 0.0 {
        for a in &mut axis {
            *a = -*a;
        }
    }
    axis
}

fn evenly(view: PointsView<'_>, at_most: usize) -> impl Iterator<Item = &[f64]> {
    let (n, shown) = (view.len(), at_most.min(view.len()));
    (0..shown).filter_map(move |i| view.get(i * n / shown))
}

#[cfg(test)]
mod tests {
    use super::Cloud;
    use dp_geometry::Points;

    #[test]
    fn the_first_axis_is_where_the_points_spread_most() {
        let rows: Vec<f64> = (0..100)
            .flat_map(|i| {
                let t = f64::from(i) - 49.5;
                [3.0 * t, if i % 2 == 0 { 1.0 } else { -1.0 }, 4.0 * t]
            })
            .collect();
        let points = Points::new(rows, 3).unwrap();
        let cloud = Cloud::axes_of(points.view());
        let direction: Vec<f64> = cloud.axes[0].iter().map(|a| (a * 1e3).round() / 1e3).collect();
        assert_eq!(direction, [0.6, 0.0, 0.8]);
        let (x, y) = cloud.project(&points[99]);
        assert!((x - 247.5).abs() < 0.1 && (y.abs() - 1.0).abs() < 0.1, "{x} {y}");
    }

    #[test]
    fn one_dimension_and_equal_points_are_no_obstacle() {
        for (values, d) in [(vec![1.0, 2.0], 1), (vec![5.0; 8], 2)] {
            let points = Points::new(values, d).unwrap();
            let cloud = Cloud::axes_of(points.view());
            let all = cloud.project_all(points.view());
            assert!(all.iter().all(|(x, y)| x.is_finite() && y.is_finite()));
        }
    }
}

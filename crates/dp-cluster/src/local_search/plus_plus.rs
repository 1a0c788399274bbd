//! Local search after a k-means++ seeding.

use dp_geometry::PointsView;
use rand::Rng;

use super::Objective;
use super::algorithm::draw;
use super::nearest_three::NearestThree;
use crate::kmeans::data::WeightedPoints;
use crate::nearest::squared_distance;

/// `steps` tries: a point drawn with probability proportional to its cost replaces the centre that
/// is missed least, if that lowers the cost.
///
/// # Source
/// Lattanzi and Sohler (ICML 2019), Algorithm 2.
pub(crate) fn improve_seeding(
    data: &WeightedPoints<'_>,
    centres: &mut [f64],
    objective: Objective,
    steps: usize,
    rng: &mut (impl Rng + ?Sized),
) {
    if steps == 0 {
        return;
    }
    let points = data.points();
    let dim = points.dim();
    let mut nearest = NearestThree::new(data, view(centres, dim), objective);
    let mut cost = nearest.cost(data);
    for _ in 0..steps {
        let mass: Vec<f64> =
            nearest.of.iter().enumerate().map(|(i, n)| data.weight(i) * n[0].cost).collect();
        let Some(i) = draw(&mass, rng) else { return };
        let new = points.row(i);
        let to_new: Vec<f64> =
            points.rows().map(|row| objective.of_squared(squared_distance(row, new))).collect();
        let removal = nearest.best_removal(data, centres.len() / dim, &to_new);
        if removal.cost < cost {
            let replaced = removal.centres[0];
            centres[replaced * dim..][..dim].copy_from_slice(new);
            nearest.replace(data, view(centres, dim), objective, (replaced, &to_new));
            cost = nearest.cost(data);
        }
    }
}

fn view(centres: &[f64], dim: usize) -> PointsView<'_> {
    PointsView::new(centres, dim).expect("whole rows")
}

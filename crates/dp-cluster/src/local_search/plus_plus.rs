//! Local search after a k-means++ seeding.

use dp_geometry::PointsView;
use rand::Rng;

use super::Objective;
use super::algorithm::draw;
use super::nearest_three::NearestThree;
use crate::kmeans::data::WeightedPoints;
use crate::kmeans::pairs::Pairs;

/// `steps` tries: a point drawn with probability proportional to its cost replaces the centre that
/// is missed least, if that lowers the cost.
///
/// # Source
/// Lattanzi and Sohler (ICML 2019), Algorithm 2.
pub(crate) fn improve_seeding(
    data: &WeightedPoints<'_>,
    pairs: &mut Pairs<'_>,
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
    let (mut cost, mut mass) = (nearest.cost(data), nearest.costs(data));
    let mut to_new = vec![0.0; points.len()];
    for _ in 0..steps {
        let Some(i) = draw(&mass, rng) else { return };
        let new = &points[i];
        for (cost, &squared) in to_new.iter_mut().zip(pairs.of(i)) {
            *cost = objective.of_squared(squared);
        }
        let removal = nearest.best_removal(data, centres.len() / dim, &to_new);
        if removal.cost < cost {
            let replaced = removal.centres[0];
            centres[replaced * dim..][..dim].copy_from_slice(new);
            nearest.replace(data, view(centres, dim), objective, (replaced, &to_new));
            (cost, mass) = (nearest.cost(data), nearest.costs(data));
        }
    }
}

fn view(centres: &[f64], dim: usize) -> PointsView<'_> {
    PointsView::new(centres, dim).expect("whole rows")
}

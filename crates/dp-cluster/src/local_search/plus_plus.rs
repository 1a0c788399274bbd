//! Local search after a k-means++ seeding.

use dp_geometry::PointsView;
use rand::Rng;

use super::Objective;
use super::nearest_three::NearestThree;
use crate::kmeans::data::WeightedPoints;
use crate::kmeans::draw;
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
    let mut masses = masses_of(&nearest, data);
    let mut room = Vec::new();
    for _ in 0..steps {
        let mass_of = |i| nearest.cost_of(data, i);
        let Some(i) = draw(&masses, CHUNK, points.len(), mass_of, rng) else { return };
        let squared = pairs.of(i);
        let to_new = match objective {
            Objective::KMeans => squared,
            Objective::KMedian => {
                room.clear();
                room.extend(squared.iter().map(|&squared| objective.of_squared(squared)));
                &room
            }
        };
        if !nearest.may_cost(data, to_new, nearest.cost()) {
            continue;
        }
        let removal = nearest.best_removal(data, to_new);
        if removal.cost < nearest.cost() {
            let replaced = removal.centres[0];
            centres[replaced * dim..][..dim].copy_from_slice(&points[i]);
            nearest.replace(data, view(centres, dim), objective, (replaced, to_new));
            masses = masses_of(&nearest, data);
        }
    }
}

/// Points whose costs are added up together, so that a draw passes over most of them at once.
const CHUNK: usize = 64;

fn masses_of(nearest: &NearestThree, data: &WeightedPoints<'_>) -> Vec<f64> {
    let n = data.points().len();
    let mass_of =
        |start: usize| (start..n.min(start + CHUNK)).map(|i| nearest.cost_of(data, i)).sum();
    (0..n).step_by(CHUNK).map(mass_of).collect()
}

fn view(centres: &[f64], dim: usize) -> PointsView<'_> {
    PointsView::new(centres, dim).expect("whole rows")
}

//! Which centre each point belongs to, and how far away it is: the private state of the rounds.

use dp_geometry::{PointsView, PublicBox};
use rayon::prelude::*;

use crate::nearest::{HintedTable, squared_distance};
use crate::table::rows_per_task;

/// The points, the centre of each and the distance to it.
pub(crate) struct Located<'a> {
    pub(crate) points: PointsView<'a>,
    pub(crate) labels: Vec<u32>,
    pub(crate) distances: Vec<f64>,
}

impl<'a> Located<'a> {
    /// Every point at the centre that it is told to be at.
    pub(crate) fn at(points: PointsView<'a>, labels: Vec<u32>) -> Self {
        Self { points, distances: vec![0.0; labels.len()], labels }
    }

    /// Follows centres that have moved to other numbers.
    pub(crate) fn renumber(&mut self, moved: &[u32]) {
        for label in &mut self.labels {
            *label = moved[*label as usize];
        }
    }

    /// Measures the distance of every point to its centre. With `search` that becomes the nearest
    /// one first, the lowest index in a tie.
    ///
    /// A point is taken as moved into the box, so that the result is a function of this one record
    /// and public values, whatever the record holds. The label it had is a hint only.
    pub(crate) fn update(&mut self, public_box: &PublicBox, centres: PointsView<'_>, search: bool) {
        let (dim, rows) = (self.points.dim(), rows_per_task(self.points.len()));
        let table = HintedTable::new(centres);
        self.labels
            .par_chunks_mut(rows)
            .zip(self.distances.par_chunks_mut(rows))
            .zip(self.points.coords().par_chunks(rows * dim))
            .for_each(|((labels, distances), rows)| {
                let mut clipped = vec![0.0; dim];
                let rows = rows.chunks_exact(dim);
                for ((label, distance), row) in labels.iter_mut().zip(distances).zip(rows) {
                    clip_into(public_box, row, &mut clipped);
                    let squared = if search {
                        let (nearest, squared) = table.nearest_from(&clipped, *label);
                        *label = nearest;
                        squared
                    } else {
                        squared_distance(&clipped, table.centre(*label as usize))
                    };
                    *distance = squared.sqrt();
                }
            });
    }
}

/// The point of the box that a record counts as.
#[inline]
pub(crate) fn clip_into(public_box: &PublicBox, row: &[f64], clipped: &mut [f64]) {
    public_box.clip_to(row, clipped);
}

#[cfg(test)]
mod tests {
    use dp_geometry::Points;
    use dp_mechanism::ChaCha20Rng;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::nearest;

    /// Few distinct coordinates make ties and equal centres common.
    #[test]
    fn hints_do_not_change_the_outcome() {
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        for dim in [1, 2, 5] {
            let mut lattice = |n: usize| {
                let coords = (0..n * dim).map(|_| f64::from(rng.random_range(-4..=4)) / 3.0);
                Points::new(coords.collect(), dim).expect("whole rows")
            };
            let (points, centres) = (lattice(2_500), lattice(17));
            let public_box = PublicBox::cube(dim, -1.4, 1.4).expect("valid");
            let plain = nearest(points.view(), centres.view());
            for _ in 0..5 {
                let hints = (0..points.len()).map(|_| rng.random_range(0..17)).collect();
                let mut located = Located::at(points.view(), hints);
                located.update(&public_box, centres.view(), true);
                assert_eq!(located.labels, plain.labels);
                let squares = plain.squared_distances.iter().map(|d| d.sqrt());
                assert!(located.distances.iter().copied().eq(squares));
            }
        }
    }

    #[test]
    fn records_that_are_no_numbers_count_as_points_of_the_box() {
        let public_box = PublicBox::cube(1, 0.0, 10.0).expect("valid");
        let points = Points::new(vec![f64::NAN, f64::INFINITY, -7.0, 1e300], 1).expect("rows");
        let centres = Points::new(vec![1.0, 4.0, 9.0], 1).expect("rows");
        let mut located = Located::at(points.view(), vec![0; 4]);
        located.update(&public_box, centres.view(), true);
        assert_eq!(located.labels, [1, 2, 0, 2]);
        let distances = [1.0, 1.0, 1.0, 1.0];
        assert!(located.distances.iter().zip(distances).all(|(a, b)| (a - b).abs() < 1e-12));
    }
}

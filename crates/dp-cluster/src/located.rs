//! Which centre each point belongs to, and how far away it is: the private state of the rounds.

use dp_geometry::{PointsView, PublicBox};
use rayon::prelude::*;

use crate::inside::Inside;
use crate::nearest::{HintedTable, four_squared_distances};
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
        let inside = &Inside::of(self.points, public_box);
        let nothing = &mut vec![(); self.labels.len()];
        self.update_each(inside, centres, search, nothing, |_, _, ()| ());
    }

    /// The same, and something else of each: `also` gets the point of the box, its centre and the distance to it.
    pub(crate) fn update_each<T: Send>(
        &mut self,
        inside: &Inside,
        centres: PointsView<'_>,
        search: bool,
        found: &mut [T],
        also: impl Fn(&[f64], (u32, f64), &mut T) + Sync,
    ) {
        let (dim, rows) = (self.points.dim(), rows_per_task(self.points.len()));
        let table = HintedTable::new(centres);
        self.labels
            .par_chunks_mut(rows)
            .zip(self.distances.par_chunks_mut(rows))
            .zip(found.par_chunks_mut(rows))
            .zip(self.points.coords().par_chunks(rows * dim))
            .enumerate()
            .for_each(|(task, (((labels, distances), found), records))| {
                let mut room = [(); TOGETHER].map(|()| vec![0.0; dim]);
                let together = labels.chunks_mut(TOGETHER).zip(distances.chunks_mut(TOGETHER));
                let together = together.zip(found.chunks_mut(TOGETHER));
                let numbers = (task * rows..).step_by(TOGETHER);
                let together = together.zip(records.chunks(TOGETHER * dim)).zip(numbers);
                for ((((labels, distances), found), records), number) in together {
                    // The last one once more, where there are not enough.
                    let at = |i: usize| i.min(labels.len() - 1);
                    let [a, b, c, d] = &mut room;
                    let point = |i: usize, room| {
                        inside.point(number + at(i), &records[at(i) * dim..][..dim], room)
                    };
                    let points = [point(0, a), point(1, b), point(2, c), point(3, d)];
                    let own = |i: usize| table.centre(labels[at(i)] as usize);
                    let squares = four_squared_distances(points, [own(0), own(1), own(2), own(3)]);
                    let places = labels.iter_mut().zip(distances).zip(found);
                    let of_each = points.into_iter().zip(squares);
                    for (((label, distance), found), (point, squared)) in places.zip(of_each) {
                        let nearest = || table.nearest_known(point, *label, squared);
                        let (nearest, squared) = if search { nearest() } else { (*label, squared) };
                        (*label, *distance) = (nearest, squared.sqrt());
                        also(point, (*label, *distance), found);
                    }
                }
            });
    }
}

/// Records whose distances are measured together.
const TOGETHER: usize = 4;

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
    use crate::nearest::assign;

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
            let plain = assign(points.view(), centres.view());
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

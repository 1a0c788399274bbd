//! Splitting centres that hold more than one cluster.

use dp_geometry::PublicBox;

use super::centres::{Centres, Standing};

/// Directions in which a centre between clusters is split at once.
const DIRECTIONS: usize = 2;

impl Centres {
    /// Puts two centres in place of one that lies in the middle of nowhere: most of its points are
    /// beyond the radius that holds most points of standings. In place of standings too, those with most
    /// points beyond the radius first, while there are fewer than `wanted`.
    ///
    /// The two differ by a small step in a public direction, so in the next round the plane between
    /// them sends the points on either side to centres of their own.
    pub(super) fn split(&mut self, wanted: usize, step: f64, salt: usize, public_box: &PublicBox) {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by(|&a, &b| self.standings[b].count.total_cmp(&self.standings[a].count));
        let spare = wanted.saturating_sub(self.len());
        for (rank, &i) in order.iter().enumerate() {
            if self.standings[i].is_lost || rank < spare {
                self.split_one(i, step, DIRECTIONS.min(self.dim), salt, public_box);
            }
        }
    }

    fn split_one(
        &mut self,
        i: usize,
        step: f64,
        directions: usize,
        salt: usize,
        public_box: &PublicBox,
    ) {
        let dim = self.dim;
        let length = step / (dim as f64).sqrt();
        let centre = self.row(i).to_vec();
        let children = 2 * directions;
        let Standing { count, beyond, .. } = self.standings[i];
        let share = children as f64;
        let other = Standing {
            count: count / share,
            // Either may have all of them.
            count_variance: self.standings[i].count_variance + (count / share).powi(2),
            beyond: beyond / share,
            variance: f64::INFINITY,
            ..self.standings[i]
        };
        for child in 0..children {
            // A row of a Hadamard matrix: every dimension takes part, and patterns are orthogonal.
            let pattern = (i + 5 * salt + child / 2) % dim.next_power_of_two();
            let side = if child % 2 == 0 { length } else { -length };
            let coords = centre.iter().enumerate().map(|(x, c)| {
                let sign = if (x & pattern).count_ones().is_multiple_of(2) { side } else { -side };
                public_box.clip_coordinate(x, c + sign)
            });
            if child == 0 {
                let row: Vec<f64> = coords.collect();
                self.coords[i * dim..][..dim].copy_from_slice(&row);
                self.standings[i] = other;
            } else {
                self.coords.extend(coords);
                self.standings.push(other);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use dp_geometry::Points;

    use super::super::plan::Start;
    use super::*;
    use crate::nearest::squared_distance;

    fn three(dim: usize) -> Centres {
        let coords = [vec![-5.0; dim], vec![0.0; dim], vec![10.0; dim]].concat();
        let centres = Points::new(coords, dim).expect("whole rows");
        Centres::new(&Start::at(centres, vec![10, 30, 20]), &cube(dim))
    }

    fn cube(dim: usize) -> PublicBox {
        PublicBox::cube(dim, -10.0, 10.0).expect("valid")
    }

    #[test]
    fn nothing_is_split_without_a_reason() {
        let mut centres = three(3);
        centres.split(3, 0.5, 1, &cube(3));
        assert_eq!(centres.len(), 3);
    }

    #[test]
    fn a_lost_centre_becomes_pairs_a_step_away_and_inside_of_the_box() {
        for dim in [1, 2, 3, 10] {
            let mut centres = three(dim);
            centres.standings[1].is_lost = true;
            centres.standings[2].is_lost = true;
            centres.split(1, 0.5, 1, &cube(dim));
            let pairs = DIRECTIONS.min(dim);
            assert_eq!(centres.len(), 1 + 2 * (2 * pairs));
            assert!(centres.view().rows().all(|row| cube(dim).contains(row)));
            let step = squared_distance(centres.row(1), &vec![0.0; dim]).sqrt();
            assert!((step - 0.5).abs() < 1e-12, "{dim}: {step}");
            assert_eq!(centres.row(0), vec![-5.0; dim], "the others stay");
        }
    }

    #[test]
    fn the_largest_is_split_if_centres_are_missing() {
        let mut centres = three(2);
        centres.split(4, 0.5, 1, &cube(2));
        assert_eq!((centres.row(0), centres.row(2)), (&[-5.0; 2][..], &[10.0; 2][..]));
        assert!(centres.len() > 3 && centres.row(1) != [0.0; 2]);
    }
}

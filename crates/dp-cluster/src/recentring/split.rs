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

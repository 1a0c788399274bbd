//! Splitting centres that hold more than one cluster.

use dp_geometry::PublicBox;

use super::centres::{Centres, Standing};

impl Centres {
    /// Puts two centres in place of one that lies in the middle of nowhere: most of its points are
    /// beyond the radius that holds most points of others. In place of others too, those with most
    /// points beyond the radius first, while there are fewer than `wanted`.
    ///
    /// The two differ by a small step in a public direction, so in the next round the plane between
    /// them sends the points on either side to centres of their own.
    pub(super) fn split(
        &mut self,
        wanted: usize,
        step: f64,
        salt: usize,
        public_box: &PublicBox,
    ) {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by(|&a, &b| self.others[b].beyond.total_cmp(&self.others[a].beyond));
        let spare = wanted.saturating_sub(self.len());
        for (rank, &i) in order.iter().enumerate() {
            if rank < spare || self.others[i].lost {
                self.split_one(i, step, salt, public_box);
            }
        }
    }

    fn split_one(&mut self, i: usize, step: f64, salt: usize, public_box: &PublicBox) {
        let dim = self.dim;
        let length = step / (dim as f64).sqrt();
        let pattern = (i + 5 * salt) % dim.next_power_of_two();
        let mut second = self.row(i).to_vec();
        for (x, second) in second.iter_mut().enumerate() {
            // A row of a Hadamard matrix: every dimension takes part, and patterns are orthogonal.
            let sign = if (x & pattern).count_ones() % 2 == 0 { length } else { -length };
            let first = &mut self.coords[i * dim + x];
            *first = public_box.clip_coordinate(x, *first + sign);
            *second = public_box.clip_coordinate(x, *second - sign);
        }
        self.coords.extend(second);
        let other = self.others[i];
        self.others[i] = Standing {
            count: other.count / 2.0,
            beyond: other.beyond / 2.0,
            variance: f64::INFINITY,
            ..other
        };
        self.others.push(self.others[i]);
    }
}

//! The leaves' noisy sums and sizes.

use dp_geometry::{Points, PointsView};
use dp_mechanism::Draws;

use super::tree::Tree;
use super::{Form, LshSplits};
use crate::coreset::PrivateCoreset;
use crate::sized_sum::{InBall, SizedSum};

impl LshSplits {
    /// Sums residuals per leaf, adds noise to every leaf, empty or not, and divides by the noisy size.
    pub(super) fn coreset(
        &self,
        points: PointsView<'_>,
        tree: &Tree,
        draws: &mut Draws<'_>,
    ) -> PrivateCoreset {
        let (ball, dim) = (&self.settings.public_ball, points.dim());
        let (sized, in_ball) = (SizedSum::new(dim, ball.radius()), InBall::new(ball));
        let leaves = tree.noisy_counts.len();
        let mut sums =
            sized.sums(points, &tree.leaf_of, leaves, |row, out| in_ball.residual(row, out));
        let (mut coords, mut weights) = (Vec::new(), Vec::new());
        let mut largest = (f64::NEG_INFINITY, Vec::new());
        for (sum, &count) in sums.chunks_exact_mut(sized.width()).zip(&tree.noisy_counts) {
            let size = match self.settings.form {
                Form::Improved => {
                    sized.release(sum, &self.primitives.sums, draws);
                    sized.size(sum)
                }
                // As published, the size is a count of the tree and the sum is released alone.
                Form::Published => {
                    let bound = sized.length_squared_without_size();
                    let noisy = self.primitives.sums.release(&sum[..dim], bound, draws);
                    sum[..dim].copy_from_slice(&noisy);
                    count as f64
                }
            };
            let weight = size.max(1.0);
            let coordinates = sum.iter().zip(ball.centre());
            let mut centre: Vec<f64> =
                coordinates.map(|(&units, &c)| c + sized.length(units) / weight).collect();
            ball.clip(&mut centre);
            if size > largest.0 {
                largest = (size, centre.clone());
            }
            // A leaf that turns out to hold next to nothing would put its noise anywhere.
            if self.settings.form == Form::Published || size >= 0.5 * tree.least_count as f64 {
                coords.extend(centre);
                weights.push(weight);
            }
        }
        if weights.is_empty() {
            (coords, weights) = (largest.1, vec![largest.0.max(1.0)]);
        }
        let points = Points::new(coords, dim).expect("whole rows");
        PrivateCoreset::released(points, weights)
    }
}

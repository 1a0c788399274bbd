//! The leaves' noisy sums and sizes.

use dp_geometry::{Points, PointsView};
use dp_mechanism::{Draws, Private};

use super::budget::LEAF;
use super::tree::Tree;
use super::{Form, LshSplits};
use crate::coreset::PrivateCoreset;
use crate::sized_sum::{InBall, SizedSum};

impl LshSplits {
    /// Sums residuals per leaf, adds noise to every leaf, empty or not, and divides by the noisy size.
    pub(super) fn coreset(
        &self,
        points: Private<PointsView<'_>>,
        tree: &Tree,
        draws: &mut Draws<'_>,
    ) -> PrivateCoreset {
        let ball = &self.asked.public_ball;
        let dim = ball.dim();
        let (sized, in_ball) = (SizedSum::new(dim, ball.radius()), InBall::new(ball));
        let leaves = tree.noisy_counts.len();
        let sums = points.zip(tree.leaf_of.as_ref()).map(|(points, leaf_of)| {
            sized.sums(points, leaf_of, leaves, |row, out| in_ball.residual(row, out))
        });
        let sums = sums.cells(leaves * sized.width());
        let (mut coords, mut weights) = (Vec::new(), Vec::new());
        let mut largest = (f64::NEG_INFINITY, Vec::new());
        for (leaf, &count) in tree.noisy_counts.iter().enumerate() {
            let (first, draw) = (leaf * sized.width(), &mut draws.part(LEAF, 0, leaf as u64));
            let noise = &self.primitives.sums;
            let (sum, size) = match self.asked.settings.form {
                Form::Improved => {
                    let sum = sized.release(sums.range(first..first + sized.width()), noise, draw);
                    let size = sized.size(&sum);
                    (sum, size)
                }
                // As published, the size is a count of the tree and the sum is released alone.
                Form::Published => {
                    let bound = sized.length_squared_without_size();
                    (noise.release(sums.range(first..first + dim), bound, draw), count as f64)
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
            if self.asked.settings.form == Form::Published || size >= 0.5 * tree.least_count as f64
            {
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

//! The leaves' noisy sums and sizes.

use dp_geometry::{Points, PointsView};
use dp_mechanism::{Cells, Draws};
use serde::{Deserialize, Serialize};

use super::budget::LEAF;
use super::codes::{Coder, Codes};
use super::tree::{Fates, Tree};
use super::{Form, LshSplits};
use crate::coreset::PrivateCoreset;
use crate::passes::within;
use crate::sized_sum::{InBall, NO_GROUP, SizedSum, UNITS};

/// Per leaf, the sum of residuals and the number of records: released values and public numbers only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PartSums {
    pub(super) codes: Codes,
    pub(super) fates: Fates,
    pub(super) leaves: usize,
}

impl PartSums {
    pub(crate) fn dim(&self) -> usize {
        self.codes.dim()
    }

    fn sized(&self) -> SizedSum {
        SizedSum::new(self.dim(), self.codes.ball().radius())
    }

    pub(crate) fn entries(&self) -> usize {
        self.leaves.saturating_mul(self.sized().width())
    }

    pub(crate) fn counter(&self) -> Option<PartCounter> {
        let (coder, fits) = (self.codes.coder()?, self.fates.are_of(self.leaves));
        fits.then(|| PartCounter { coder, fates: self.fates.clone(), sized: self.sized() })
    }

    /// A record is in one leaf at most, and adds a radius to each coordinate at most.
    pub(crate) fn is_possible(&self, rows: u64, entries: &[i64]) -> bool {
        let sized = self.sized();
        let mut all = 0_u64;
        entries.chunks(sized.width()).all(|sum| {
            let Some(records) = sized.whole_records(sum) else { return false };
            all = all.saturating_add(records);
            sum[..self.dim()].iter().all(|&sum| within(sum, records, UNITS))
        }) && all <= rows
    }

    /// The answer of records of these codes.
    pub(super) fn sums(&self, points: PointsView<'_>, codes: &[u32]) -> Vec<i64> {
        let in_ball = InBall::new(self.codes.ball());
        let leaf_of = |number: usize| self.fates.leaf(codes[number]);
        self.sized().sums(points, leaf_of, self.leaves, |row, out| in_ball.residual(row, out))
    }
}

pub(crate) struct PartCounter {
    coder: Coder,
    fates: Fates,
    sized: SizedSum,
}

impl PartCounter {
    #[inline]
    pub(crate) fn add(&mut self, row: &[f64], entries: &mut [i64]) {
        let leaf = self.fates.leaf(self.coder.code(row));
        if leaf != NO_GROUP {
            let sum = leaf as usize * self.sized.width();
            self.sized.add(&self.coder.residual, &mut entries[sum..][..self.sized.width()]);
        }
    }
}

impl LshSplits {
    /// Adds noise to the sum of every leaf, empty or not, and divides by the noisy size.
    pub(super) fn coreset(
        &self,
        tree: &Tree,
        sums: &Cells<i64>,
        draws: &mut Draws<'_>,
    ) -> PrivateCoreset {
        let ball = &self.asked.public_ball;
        let dim = ball.dim();
        let sized = SizedSum::new(dim, ball.radius());
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
            ball.clip(&mut centre).expect("as many coordinates");
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

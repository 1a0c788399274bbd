//! The number of intervals per dimension, given or estimated.

use dp_geometry::{FixedPointGrid, PointsView, PublicBox};
use dp_mechanism::Draws;
use dp_mechanism::passes::Counted;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::plan::TreePlan;

/// How many intervals every dimension is divided into; a cut lies in the middle of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IntervalSize {
    /// This many, 2 to 128. Costs nothing.
    Fixed {
        /// Per dimension.
        intervals: usize,
    },
    /// Chosen from a public list by the exponential mechanism, so that the gaps between neighbouring
    /// coordinates look like those of one Gaussian cluster two intervals wide.
    ///
    /// # Guarantee
    /// The score of a candidate compares with its target the number of gaps, over all `d`
    /// dimensions, of at most its threshold. A new point splits or appends one gap per dimension,
    /// which raises that number by 0 to 2 per dimension, so scores change within a range of `4 d`.
    /// (Averaging gaps over dimensions position by position, as published, has no such bound.)
    ///
    /// # Complexity
    /// Sorts every dimension: `O(d n log n)`, and `4 n` bytes per thread while it runs.
    Estimated,
}

impl Default for IntervalSize {
    fn default() -> Self {
        Self::Fixed { intervals: 32 }
    }
}

/// Candidates of the estimate.
const CANDIDATES: [usize; 11] = [4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128];

/// The share of gaps whose size is compared: the paper's percentile.
const PERCENTILE: f64 = 0.65;

/// Gaps are measured in cells of the finest grid there is.
const GAP_CELLS: u32 = FixedPointGrid::MAX_CELLS;

/// Range of the change of the scores when a point is added or removed.
pub(super) fn score_range(dim: usize) -> u64 {
    4 * dim as u64
}

impl IntervalSize {
    pub(super) fn largest(self) -> usize {
        match self {
            Self::Fixed { intervals } => intervals,
            Self::Estimated => CANDIDATES[CANDIDATES.len() - 1],
        }
    }
}

/// How many gaps between neighbouring coordinates are at most so long. They are between all records at once, so no table answers this.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Gaps {
    public_box: PublicBox,
    thresholds: [u32; CANDIDATES.len()],
}

impl Gaps {
    pub(super) fn new(public_box: &PublicBox, total: i64) -> Self {
        Self { public_box: public_box.clone(), thresholds: thresholds(total) }
    }

    pub(crate) fn dim(&self) -> usize {
        self.public_box.dim()
    }

    pub(crate) fn entries() -> usize {
        CANDIDATES.len()
    }

    pub(crate) fn count(&self, points: PointsView<'_>) -> Vec<i64> {
        let grid = FixedPointGrid::new(self.public_box.clone(), GAP_CELLS)
            .expect("checked when the plan was built");
        small_gaps(points, &grid, &self.thresholds).to_vec()
    }
}

impl TreePlan {
    /// The number of intervals per dimension, where it is to be estimated.
    pub(super) fn choose_intervals(
        &self,
        total: i64,
        counted: &Counted,
        draws: &mut Draws<'_>,
    ) -> usize {
        let Some(mechanism) = &self.interval else {
            return self.settings.interval_size.largest();
        };
        let gaps = self.settings.public_box.dim() as f64 * (total - 1) as f64;
        #[allow(clippy::cast_possible_truncation, reason = "the noisy count is at most 2^36")]
        let target = (PERCENTILE * gaps).round() as i64;
        let scores = counted.entries.view().into_private();
        let scores = scores
            .map(|counts| counts.iter().map(|count| -(count - target).abs()).collect::<Vec<_>>());
        let scores = scores.cells(CANDIDATES.len());
        let chosen = mechanism.release(&scores, &mut draws.leaf("interval size", 0));
        CANDIDATES[chosen.expect("there are candidates")]
    }
}

/// Per candidate, the [`PERCENTILE`] of the gaps of `total` draws from one Gaussian whose standard
/// deviation is two intervals, in cells. A function of public values.
fn thresholds(total: i64) -> [u32; CANDIDATES.len()] {
    let unit = gap_percentile(total as f64);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    CANDIDATES.map(|intervals| (unit * 2.0 / intervals as f64 * f64::from(GAP_CELLS)) as u32)
}

/// The [`PERCENTILE`] of the gaps of `n` standard normal draws. Around `x` the points come at rate
/// `n phi(x)`, so a gap is at most `v` with probability `1 - exp(-n phi(x) v)`.
fn gap_percentile(n: f64) -> f64 {
    let share_up_to = |v: f64| -> f64 {
        let step = 1.0 / 8.0;
        let density = |x: f64| (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt();
        (-64..=64)
            .map(|i| density(f64::from(i) * step))
            .map(|p| p * -(-n * p * v).exp_m1() * step)
            .sum()
    };
    // In log space from far below the smallest gap to the whole line.
    let (mut low, mut high) = ((1e-6 / n).ln(), 16_f64.ln());
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        if share_up_to(middle.exp()) < PERCENTILE { low = middle } else { high = middle }
    }
    high.exp()
}

/// Per threshold, the number of gaps of at most that many cells, over all dimensions.
fn small_gaps(
    points: PointsView<'_>,
    grid: &FixedPointGrid,
    thresholds: &[u32; CANDIDATES.len()],
) -> [i64; CANDIDATES.len()] {
    (0..points.dim())
        .into_par_iter()
        .map(|i| {
            let mut column: Vec<u32> = points.rows().map(|row| grid.cell(i, row[i])).collect();
            column.sort_unstable();
            thresholds.map(|threshold| {
                let small = column.windows(2).filter(|pair| pair[1] - pair[0] <= threshold);
                i64::try_from(small.count()).expect("fewer gaps than bytes of memory")
            })
        })
        .reduce(
            || [0; CANDIDATES.len()],
            |a, b| std::array::from_fn(|candidate| a[candidate] + b[candidate]),
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_of_normal_draws_shrink_like_one_over_n() {
        let (few, many) = (gap_percentile(1e3), gap_percentile(1e5));
        assert!((few / many - 100.0).abs() < 2.0, "{few} {many}");
        // For a uniform density 1/w the percentile would be -ln(.35) w / n; a normal is close to
        // uniform over about four standard deviations.
        assert!((3.0..6.0).contains(&(many * 1e5 / -0.35_f64.ln())), "{many}");
        assert!(gap_percentile(1.0).is_finite());
    }
}

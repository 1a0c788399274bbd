//! The plan and its one code path.

use dp_accounting::{AddRemove, Receipt};
use dp_geometry::lsh::ShiftedGrids;
use dp_geometry::{Points, PointsView};
use dp_mechanism::{Algorithm, Draws, GaussianSum, Private};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::budget::{MEAN, Primitives, WEIGHT};
use super::cover::cover;
use super::params::Asked;
use super::projection::Projection;
use crate::clustering::{nearest_weights, records};
use crate::coreset::PrivateCoreset;
use crate::kmeans::{KMeans, KMeansSettings};
use crate::kmedian::{KMedian, KMedianSettings};
use crate::local_search::Objective;
use crate::nearest::assign;
use crate::public_coins::{Purpose, public_generator};
use crate::sized_sum::{SizedSum, box_radius, box_residual};
use crate::table::{count_labels, noisy_counts, rows_per_task};
use crate::{ClusterError, Clustering};

/// A checked and calibrated EM-MC plan. See the [module](super).
///
/// # Complexity
/// With `p` projected dimensions, `s` grids per scale and `m` choices in total: `O(n d p)` to project,
/// `O(n s log(n s))` per scale, `O(m sqrt(n))` for the choices, and `O(n m p)` for the weights.
/// `8 n p + 32 n s` bytes beyond the input.
///
/// # Shapes and units
/// Points `(n, d)`; at most `k` centres `(k, d)` in the units of the points, inside the public box.
/// There are fewer than `k` if some parts turn out to be empty; there is always one.
///
/// # Bad records
/// A coordinate outside of the box counts as on its boundary; NaN counts as the middle of the box.
/// Whether a release succeeds does not depend on the data, which may be empty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Asked", into = "Asked")]
pub struct EmMc {
    pub(super) asked: Asked,
    pub(super) primitives: Primitives,
    pub(super) projection: Projection,
    /// Shifted grids of one scale after the other, fine to coarse.
    pub(super) scales: Vec<ShiftedGrids>,
}

impl EmMc {
    /// The number of choices, whatever the records.
    pub fn picks(&self) -> usize {
        self.asked.picks() * self.scales.len()
    }

    fn project(&self, points: PointsView<'_>) -> Points {
        let (dim, projected) = (points.dim(), self.projection.dim());
        let rows = rows_per_task(points.len());
        let mut coords = vec![0.0; points.len() * projected];
        coords
            .par_chunks_mut(rows * projected)
            .zip(points.coords().par_chunks(rows * dim))
            .for_each(|(out, rows)| {
                let mut residual = vec![0.0; dim];
                for (out, row) in out.chunks_exact_mut(projected).zip(rows.chunks_exact(dim)) {
                    self.projection.project(row, &mut residual, out);
                }
            });
        Points::new(coords, projected).expect("whole rows")
    }

    /// Counts the records nearest to each middle, with noise.
    fn weigh(
        &self,
        projected: Private<PointsView<'_>>,
        middles: Points,
        draws: &mut Draws<'_>,
    ) -> PrivateCoreset {
        let records = projected
            .map(|projected| count_labels(&assign(projected, middles.view()).labels, middles.len()))
            .cells(middles.len());
        let count = &self.primitives.weights;
        let noisy = noisy_counts(&records, count, WEIGHT, draws);
        let weights =
            self.asked.settings.weight_rule.post_weights(&noisy, count.standard_deviation());
        PrivateCoreset::released(middles, weights)
    }

    /// `k` centres in the projected dimensions: post-processing with public randomness.
    fn post_solve(&self, coreset: &PrivateCoreset) -> Points {
        let mut rng = public_generator(self.asked.settings.public_seed, Purpose::EmMcSolver);
        let k = self.asked.k;
        match self.asked.settings.objective {
            Objective::KMeans => {
                let settings =
                    KMeansSettings { restarts: 5, local_search_steps: 2 * k, ..Default::default() };
                let solver = KMeans::new(k, settings);
                let fit = solver.expect("k was checked").post_fit(coreset, &mut rng);
                fit.expect("released points are finite").centres
            }
            Objective::KMedian => {
                let settings = KMedianSettings { restarts: 5, ..Default::default() };
                let solver = KMedian::new(k, settings).expect("k was checked");
                solver.post_fit(coreset, &mut rng).expect("released points are finite").centres
            }
        }
    }

    /// Noisy means of the records nearest to each projected centre, with noise for each, empty or not.
    fn lift(
        &self,
        points: Private<PointsView<'_>>,
        projected: Private<PointsView<'_>>,
        solution: &Points,
        noise: &GaussianSum,
        draws: &mut Draws<'_>,
    ) -> Clustering {
        let public_box = &self.asked.public_box;
        let dim = public_box.dim();
        let sized = SizedSum::new(dim, box_radius(public_box));
        let sums = points.zip(projected).map(|(points, projected)| {
            let part_of = assign(projected, solution.view()).labels;
            sized.sums(
                points,
                |number| part_of[number],
                solution.len(),
                |row, out| {
                    box_residual(public_box, row, out);
                },
            )
        });
        let sums = sums.cells(solution.len() * sized.width());
        // Below this, a mean would be mostly noise.
        let least = (2.0 * sized.size_standard_deviation(noise)).max(1.0);
        let (mut coords, mut counts) = (Vec::new(), Vec::new());
        let mut largest = (f64::NEG_INFINITY, Vec::new());
        for (part, sum) in (0..).zip(sums.view().chunks(sized.width())) {
            let sum = sized.release(sum, noise, &mut draws.part(MEAN, 0, part));
            let size = sized.size(&sum);
            let mean = |(i, &units): (usize, &i64)| {
                let x = public_box.middle(i) + sized.length(units) / size.max(1.0);
                public_box.clip_coordinate(i, x)
            };
            let centre: Vec<f64> = sum[..dim].iter().enumerate().map(mean).collect();
            if size > largest.0 {
                largest = (size, centre.clone());
            }
            if size >= least {
                coords.extend(centre);
                counts.push(records(size));
            }
        }
        if counts.is_empty() {
            (coords, counts) = (largest.1, vec![records(largest.0)]);
        }
        Clustering::of(Points::new(coords, dim).expect("whole rows"), counts)
    }

    /// Released points, moved from around the middle of the box to where they belong.
    fn back(&self, points: Points) -> Points {
        let public_box = &self.asked.public_box;
        let dim = public_box.dim();
        let back = |(at, x): (usize, f64)| {
            let i = at % dim;
            public_box.clip_coordinate(i, public_box.middle(i) + x)
        };
        let coords = points.into_coords().into_iter().enumerate().map(back).collect();
        Points::new(coords, dim).expect("whole rows")
    }
}

impl Algorithm for EmMc {
    type Relation = AddRemove;
    type Data<'a> = PointsView<'a>;
    /// The dimension.
    type Shape = usize;
    /// The coreset are middles of the chosen cells with noisy numbers of records; none if the choices were made in fewer
    /// dimensions than the points have.
    type Output = Clustering;
    type Error = ClusterError;

    fn cost(&self) -> Receipt<AddRemove> {
        Receipt::new("em-mc", AddRemove, self.asked.budget, self.primitives.spent())
    }

    fn shape(points: &PointsView<'_>) -> usize {
        points.dim()
    }

    /// # Errors
    /// [`ClusterError::Dimension`] if the points do not have the dimension of the public box.
    fn check(&self, &dim: &usize) -> Result<(), ClusterError> {
        ClusterError::unless_equal(self.asked.public_box.dim(), dim)
    }

    fn run(&self, points: Private<PointsView<'_>>, draws: &mut Draws<'_>) -> Clustering {
        let projected = points.map(|points| self.project(points));
        let projected = projected.as_ref().map(Points::view);
        let Primitives { cover: run, choice, means, .. } = &self.primitives;
        let picks = self.asked.picks();
        let middles = cover((run, choice), &self.scales, picks, projected, draws);
        let middles = Points::new(middles, self.projection.dim()).expect("whole rows");
        let coreset = self.weigh(projected, middles, draws);
        let solution = self.post_solve(&coreset);
        let clustering = if let Some(noise) = means {
            self.lift(points, projected, &solution, noise, draws)
        } else {
            let counts = nearest_weights(&coreset, solution.view());
            Clustering::of(self.back(solution), counts)
        };
        let coreset = self.projection.is_identity().then(|| {
            let weights = coreset.weights().to_vec();
            PrivateCoreset::released(self.back(coreset.points().to_points()), weights)
        });
        Clustering { coreset, ..clustering }
    }
}

impl TryFrom<Asked> for EmMc {
    type Error = ClusterError;

    fn try_from(asked: Asked) -> Result<Self, ClusterError> {
        Self::new(asked.public_box, asked.k, asked.budget, asked.settings)
    }
}

impl From<EmMc> for Asked {
    fn from(plan: EmMc) -> Self {
        plan.asked
    }
}

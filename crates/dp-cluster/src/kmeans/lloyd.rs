//! Lloyd's iteration with Hamerly's bounds.

use dp_geometry::{Points, PointsView};
use rayon::prelude::*;

use super::algorithm::{KMeansFit, StopReason};
use super::data::WeightedPoints;
use super::params::KMeans;
use crate::nearest::{CentreTable, NearestCentre, rounding_slack, squared_distance};

/// Improves centres until the cost settles. `labels` may be any guess at the nearest centre of each
/// point; a good one saves work.
///
/// An iteration assigns every point (ties to the lowest index), then moves each centre to the
/// weighted mean of its points; a centre without points moves to a point with the largest `w d^2`.
/// The returned centres are those of the lowest cost seen, so the cost never rises.
pub(super) fn lloyd(
    solver: &KMeans,
    data: &WeightedPoints<'_>,
    centres: Vec<f64>,
    labels: Vec<u32>,
) -> KMeansFit {
    let mut state = State::new(data, solver.k(), centres, labels);
    let mut previous = f64::INFINITY;
    let mut iterations = 0;
    loop {
        let sums = state.assign();
        let cost = sums.cost;
        if cost > previous {
            // Only rounding can do this: the spread of a cluster is down to the spacing of numbers.
            return state.finish_with_previous(previous, iterations, StopReason::Converged);
        }
        let settled = previous.is_finite()
            && previous - cost <= solver.asked.settings.relative_tolerance * previous;
        if cost == 0.0 || (settled && !sums.has_empty_cluster()) {
            return state.finish(cost, iterations, StopReason::Converged);
        }
        if iterations == solver.asked.settings.max_iterations {
            return state.finish(cost, iterations, StopReason::IterationLimit);
        }
        state.update(&sums);
        previous = cost;
        iterations += 1;
    }
}

struct State<'a> {
    data: &'a WeightedPoints<'a>,
    chunk: usize,
    centres: Vec<f64>,
    previous_centres: Vec<f64>,
    labels: Vec<u32>,
    squared: Vec<f64>,
    /// At most the distance of each point to every centre but its own.
    lower: Vec<f64>,
    drift: Drift,
}

/// How far the centres moved in the last update.
#[derive(Clone, Copy, Default)]
struct Drift {
    largest: f64,
    /// Which centre moved most.
    mover: u32,
    /// The largest move of all others.
    second: f64,
}

/// What a pass over the points adds up.
struct ClusterSums {
    cost: f64,
    weight: Vec<f64>,
    /// `sum w (x - c)` per cluster. Residuals, not coordinates: for data far from the origin the
    /// mean then loses nothing to rounding.
    residual: Vec<f64>,
}

impl ClusterSums {
    fn new(k: usize, dim: usize) -> Self {
        Self { cost: 0.0, weight: vec![0.0; k], residual: vec![0.0; k * dim] }
    }

    fn add(&mut self, other: &Self) {
        self.cost += other.cost;
        for (sum, x) in self.weight.iter_mut().zip(&other.weight) {
            *sum += x;
        }
        for (sum, x) in self.residual.iter_mut().zip(&other.residual) {
            *sum += x;
        }
    }

    fn has_empty_cluster(&self) -> bool {
        self.weight.contains(&0.0)
    }
}

impl<'a> State<'a> {
    fn new(data: &'a WeightedPoints<'a>, k: usize, centres: Vec<f64>, labels: Vec<u32>) -> Self {
        let n = data.points().len();
        Self {
            data,
            chunk: data.chunk_rows(k),
            previous_centres: centres.clone(),
            centres,
            labels,
            squared: vec![0.0; n],
            lower: vec![0.0; n],
            drift: Drift::default(),
        }
    }

    fn dim(&self) -> usize {
        self.data.points().dim()
    }

    /// Finds the nearest centre of each point.
    ///
    /// A point keeps its centre without a look at the others if it is nearer to it than to all of
    /// them by the bounds. These leave a margin for rounding, so the outcome is that of the plain
    /// comparison with every centre.
    fn assign(&mut self) -> ClusterSums {
        let (data, dim, chunk) = (self.data, self.dim(), self.chunk);
        let points = data.points();
        let (centres, drift) = (&self.centres, self.drift);
        let table = CentreTable::new(
            PointsView::new(centres, dim).expect("centres have the dimension of the points"),
        );
        let slack = rounding_slack(dim);
        // Inside of half the distance to the next centre nothing else can be nearer. Not worth to know of hardly more points than centres.
        let few = points.len() < 2 * table.len();
        let safe: Vec<f64> = centres
            .par_chunks_exact(dim)
            .map(|c| if few { 0.0 } else { table.two_nearest(c).second_squared })
            .map(|squared| 0.5 * (1.0 - slack) * squared.sqrt())
            .collect();

        let sums: Vec<ClusterSums> = self
            .labels
            .par_chunks_mut(chunk)
            .zip(self.squared.par_chunks_mut(chunk))
            .zip(self.lower.par_chunks_mut(chunk))
            .enumerate()
            .map(|(c, ((labels, squared), lower))| {
                let mut sums = ClusterSums::new(safe.len(), dim);
                let states = labels.iter_mut().zip(squared).zip(lower);
                for (i, ((label, squared), lower)) in (c * chunk..).zip(states) {
                    let row = &points[i];
                    let moved = if *label == drift.mover { drift.second } else { drift.largest };
                    *lower = (*lower - moved * (1.0 + slack)) * (1.0 - slack);
                    *squared = squared_distance(row, centre(centres, dim, *label));
                    let bound = lower.max(safe[*label as usize]);
                    if squared.sqrt() * (1.0 + slack) >= bound {
                        let two = table.two_nearest(row);
                        (*label, *squared) = (two.label, two.squared);
                        *lower = two.second_squared.sqrt() * (1.0 - slack);
                    }
                    let (own, weight) = (*label as usize, data.weight(i));
                    sums.cost += weight * *squared;
                    sums.weight[own] += weight;
                    let residual = &mut sums.residual[own * dim..][..dim];
                    for ((r, x), c) in residual.iter_mut().zip(row).zip(&centres[own * dim..]) {
                        *r += weight * (x - c);
                    }
                }
                sums
            })
            .collect();

        let mut total = ClusterSums::new(safe.len(), dim);
        for part in &sums {
            total.add(part);
        }
        total
    }

    /// Moves the centres.
    fn update(&mut self, sums: &ClusterSums) {
        let dim = self.dim();
        self.previous_centres.clone_from(&self.centres);
        let rows = self.centres.chunks_exact_mut(dim).zip(sums.residual.chunks_exact(dim));
        for ((row, residual), &weight) in rows.zip(&sums.weight) {
            if weight > 0.0 {
                for (x, r) in row.iter_mut().zip(residual) {
                    *x += r / weight;
                }
            }
        }
        self.reseed_empty(&sums.weight);

        self.drift = Drift::default();
        let pairs = self.centres.chunks_exact(dim).zip(self.previous_centres.chunks_exact(dim));
        for (mover, (new, old)) in (0..).zip(pairs) {
            let moved = squared_distance(new, old).sqrt();
            if moved > self.drift.largest {
                self.drift = Drift { largest: moved, mover, second: self.drift.largest };
            } else {
                self.drift.second = self.drift.second.max(moved);
            }
        }
    }

    /// Sends the `m` centres without points to the `m` points of the largest `w d^2`, the earliest
    /// of equals.
    fn reseed_empty(&mut self, weight: &[f64]) {
        let empty: Vec<usize> = (0..weight.len()).filter(|&j| weight[j] == 0.0).collect();
        if empty.is_empty() {
            return;
        }
        let points = self.data.points();
        let mut far: Vec<(f64, usize)> =
            (0..points.len()).map(|i| (self.data.weight(i) * self.squared[i], i)).collect();
        far.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let dim = self.dim();
        for (&j, &(_, i)) in empty.iter().zip(&far) {
            self.centres[j * dim..][..dim].copy_from_slice(&points[i]);
        }
    }

    fn finish(self, squared_inertia: f64, iterations: usize, stop: StopReason) -> KMeansFit {
        let centres = Points::new(self.centres, self.data.points().dim())
            .expect("centres have the dimension of the points");
        KMeansFit { centres, squared_inertia, iterations, stop }
    }

    fn finish_with_previous(
        mut self,
        squared_inertia: f64,
        iterations: usize,
        stop: StopReason,
    ) -> KMeansFit {
        self.centres = std::mem::take(&mut self.previous_centres);
        self.finish(squared_inertia, iterations - 1, stop)
    }
}

#[inline]
fn centre(centres: &[f64], dim: usize, label: u32) -> &[f64] {
    &centres[label as usize * dim..][..dim]
}

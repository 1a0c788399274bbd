//! Seeding and alternation.

use dp_geometry::{Points, PointsView};
use rand::Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::KMedian;
use super::median::median_of;
use crate::Assignment;
use crate::ClusterError;
use crate::coreset::PrivateCoreset;
use crate::kmeans::StopReason;
use crate::kmeans::data::WeightedPoints;
use crate::kmeans::pairs::Pairs;
use crate::kmeans::{cheapest, draw};
use crate::local_search::{Objective, improve_seeding};
use crate::nearest::assign;
use crate::nearest::squared_distance;

/// Weiszfeld steps per cluster and update.
const MEDIAN_STEPS: usize = 200;

/// The best run of [`KMedian::exact_fit`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KMedianFit {
    /// The centres, shape `(k, dim)`.
    pub centres: Points,
    /// `sum w |x - c|` over the points and their nearest centres.
    pub inertia: f64,
    /// Updates of the centres that led here, in the run that was kept.
    pub iterations: usize,
    /// Why that run stopped.
    pub stop: StopReason,
}

impl KMedian {
    /// [`exact_fit`](Self::exact_fit) on what has been released: post-processing, free of charge.
    ///
    /// # Errors
    /// None in practice: a coreset has been checked when it was made.
    pub fn post_fit(
        &self,
        coreset: &PrivateCoreset,
        rng: &mut (impl Rng + ?Sized),
    ) -> Result<KMedianFit, ClusterError> {
        self.exact_fit(coreset.points(), Some(coreset.weights()), rng)
    }

    /// Seeding with probability proportional to the distance, local search, then alternately nearest
    /// centres and geometric medians; the cheapest of all restarts.
    ///
    /// **Not private.** Give it a private release, or data that needs no protection.
    ///
    /// Points of weight zero are dropped; with at most `k` distinct points they are the centres, and
    /// copies of the heaviest fill up. A centre without points moves to the point that costs most.
    ///
    /// # Shapes
    /// `points` is `(n_points, dim)`; `weights`, if given, `(n_points,)`, each 1 if not.
    ///
    /// # Complexity
    /// `O(n k dim)` per seeding and iteration, and `O(n dim)` per Weiszfeld step. The result does
    /// not depend on the number of threads.
    ///
    /// # Errors
    /// As [`KMeans::exact_fit`](crate::kmeans::KMeans::exact_fit). Missing convergence is no error.
    pub fn exact_fit(
        &self,
        points: PointsView<'_>,
        weights: Option<&[f64]>,
        rng: &mut (impl Rng + ?Sized),
    ) -> Result<KMedianFit, ClusterError> {
        let data = WeightedPoints::new(points, weights)?;
        if let Some(centres) = data.distinct_points_if_at_most(self.asked.k) {
            let stop = StopReason::FewDistinctPoints;
            return Ok(KMedianFit { centres, inertia: 0.0, iterations: 0, stop });
        }
        let run = |rng: &mut dyn Rng| self.one_run(&data, rng);
        Ok(cheapest(self.asked.settings.restarts, rng, run, |fit| fit.inertia))
    }

    fn one_run(&self, data: &WeightedPoints<'_>, rng: &mut dyn Rng) -> KMedianFit {
        let mut centres = seed(data, self.asked.k, rng);
        let steps = self.asked.local_search_steps();
        let pairs = &mut Pairs::new(data.points());
        improve_seeding(data, pairs, &mut centres, Objective::KMedian, steps, rng);
        let view =
            |centres: Vec<f64>| Points::new(centres, data.points().dim()).expect("whole rows");
        let mut centres = view(centres);
        let mut assignment = assign(data.points(), centres.view());
        let mut inertia = cost(data, &assignment);
        let mut iterations = 0;
        loop {
            if iterations == self.asked.settings.max_iterations {
                let stop = StopReason::IterationLimit;
                return KMedianFit { centres, inertia, iterations, stop };
            }
            let next = view(update(data, centres.view(), &assignment));
            let next_assignment = assign(data.points(), next.view());
            let next_inertia = cost(data, &next_assignment);
            let settled = next_inertia >= inertia * (1.0 - self.asked.settings.relative_tolerance);
            if next_inertia < inertia {
                (centres, assignment, inertia) = (next, next_assignment, next_inertia);
                iterations += 1;
            }
            if settled {
                let stop = StopReason::Converged;
                return KMedianFit { centres, inertia, iterations, stop };
            }
        }
    }
}

fn cost(data: &WeightedPoints<'_>, assignment: &Assignment) -> f64 {
    let squared = assignment.squared_distances.iter().enumerate();
    squared.map(|(i, squared)| data.weight(i) * squared.sqrt()).sum()
}

/// `k` points, each drawn with probability proportional to weight times distance to those before.
fn seed(data: &WeightedPoints<'_>, k: usize, rng: &mut (impl Rng + ?Sized)) -> Vec<f64> {
    let points = data.points();
    let mut centres: Vec<f64> = Vec::with_capacity(k * points.dim());
    let mut far = vec![f64::INFINITY; points.len()];
    for step in 0..k {
        let mass = |i: usize| data.weight(i) * if step == 0 { 1.0 } else { far[i] };
        let mass: Vec<f64> = (0..points.len()).map(mass).collect();
        // Without mass all points are centres already, as far as distances can tell.
        let i = draw(&mass, 1, mass.len(), |i| mass[i], rng).unwrap_or(0);
        for (far, row) in far.iter_mut().zip(points.rows()) {
            *far = far.min(squared_distance(row, &points[i]).sqrt());
        }
        centres.extend_from_slice(&points[i]);
    }
    centres
}

/// The median of every cluster; one without points goes to the point that costs most, the second one
/// to the second of these, and so on.
fn update(data: &WeightedPoints<'_>, centres: PointsView<'_>, assignment: &Assignment) -> Vec<f64> {
    let mut members = vec![Vec::new(); centres.len()];
    for (i, &label) in assignment.labels.iter().enumerate() {
        members[label as usize].push(i);
    }
    let mut dearest: Vec<usize> = Vec::new();
    if members.iter().any(Vec::is_empty) {
        let price = |i: usize| data.weight(i) * assignment.squared_distances[i].sqrt();
        dearest = (0..data.points().len()).collect();
        dearest.sort_by(|&a, &b| price(b).total_cmp(&price(a)).then(a.cmp(&b)));
    }
    let mut replacements = dearest.into_iter();
    let replaced: Vec<Option<usize>> = members
        .iter()
        .map(|members| if members.is_empty() { replacements.next() } else { None })
        .collect();
    let medians: Vec<Vec<f64>> = members
        .par_iter()
        .zip(replaced)
        .map(|(members, replaced)| match replaced {
            Some(i) => data.points()[i].to_vec(),
            None => median_of(data, members, MEDIAN_STEPS).centre,
        })
        .collect();
    medians.concat()
}

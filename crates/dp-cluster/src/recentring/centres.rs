//! The centres between rounds: released values and public noise levels only.

use dp_geometry::{Points, PointsView, PublicBox};

use super::round::{COUNT_UNITS, COUNTS, Released, Round, UNITS};

/// By how much the radius of a centre grows that most of its points lie beyond.
const GROWTH: f64 = 4.0;

/// Private centres; nothing here touches a record.
#[derive(Clone, Debug)]
pub(super) struct Centres {
    pub(super) coords: Vec<f64>,
    pub(super) dim: usize,
    pub(super) others: Vec<Standing>,
}

/// What is known about one centre besides where it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing {
    /// Noisy number of points.
    pub(super) count: f64,
    /// Noisy number of them beyond the radius of the last round.
    pub(super) beyond: f64,
    /// Variance per coordinate that the noise has left in its position; infinite before any round.
    pub(super) variance: f64,
    /// Radius of its next round, as a multiple of the one chosen for all.
    pub(super) reach: f64,
}

impl Centres {
    pub(super) fn new(centres: &Points, counts: &[i64]) -> Self {
        let others = counts.iter().map(|&count| Standing {
            count: count.max(1) as f64,
            beyond: 0.0,
            variance: f64::INFINITY,
            reach: 1.0,
        });
        Self {
            coords: centres.view().coords().to_vec(),
            dim: centres.dim(),
            others: others.collect(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.others.len()
    }

    pub(super) fn view(&self) -> PointsView<'_> {
        PointsView::new(&self.coords, self.dim).expect("whole rows")
    }

    pub(super) fn row(&self, i: usize) -> &[f64] {
        &self.coords[i * self.dim..][..self.dim]
    }

    /// Moves every centre by its noisy mean residual, as far as that is more than noise.
    ///
    /// Each round measures where a cluster lies, with a known variance. What earlier rounds found
    /// keeps its weight: the step is the gain of a Kalman filter, whose prior variance grows if the
    /// residual is longer than noise explains.
    pub(super) fn update(&mut self, round: &Round, released: &Released, public_box: &PublicBox) {
        let (dim, least) = (self.dim, round.count_noise());
        let unit = released.radius / f64::from(UNITS);
        let lost = 3.0 * least;
        let vectors = released.vectors.chunks_exact(dim + COUNTS);
        for ((row, other), vector) in
            self.coords.chunks_exact_mut(dim).zip(&mut self.others).zip(vectors)
        {
            let (residual, counts) = vector.split_at(dim);
            let records = |units: i64| units as f64 / f64::from(COUNT_UNITS);
            other.beyond = records(counts[1]);
            other.count = (records(counts[0]) + other.beyond).max(least);
            let step = unit * other.reach / other.count;
            // Points that are all far away pull by no more than the radius: let them pull harder.
            let is_lost = other.beyond > lost && 2.0 * other.beyond > other.count;
            other.reach = if is_lost { GROWTH * other.reach } else { 1.0 };
            let variance = (round.noise() * step).powi(2);
            let squares = residual.iter().map(|&v| (v as f64 * step).powi(2));
            let excess = squares.sum::<f64>() / dim as f64 - variance;
            let prior = other.variance.max(excess);
            let gain = if prior.is_finite() { prior / (prior + variance) } else { 1.0 };
            other.variance = gain * variance;
            for (i, (x, &v)) in row.iter_mut().zip(residual).enumerate() {
                *x = public_box.clip_coordinate(i, *x + gain * step * v as f64);
            }
        }
    }
}

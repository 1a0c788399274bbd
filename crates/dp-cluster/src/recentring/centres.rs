//! The centres between rounds: released values and public noise levels only.

use dp_geometry::{Points, PointsView, PublicBox};

use super::round::{COUNT_UNITS, COUNTS, Round, UNITS};

/// By how much the radius of a centre grows that most of its points lie beyond.
const GROWTH: f64 = 4.0;

/// Private centres; nothing here touches a record.
#[derive(Clone, Debug)]
pub(super) struct Centres {
    pub(super) coords: Vec<f64>,
    pub(super) dim: usize,
    pub(super) others: Vec<Standing>,
    pub(super) largest_radius: f64,
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
    /// Its radius in the last round.
    pub(super) radius: f64,
    /// Whether most of its points were far beyond that.
    pub(super) lost: bool,
}

impl Centres {
    pub(super) fn new(centres: &Points, counts: &[i64], largest_radius: f64) -> Self {
        let others = counts.iter().map(|&count| Standing {
            count: count.max(1) as f64,
            beyond: 0.0,
            variance: f64::INFINITY,
            radius: 0.0,
            lost: false,
        });
        Self {
            coords: centres.view().coords().to_vec(),
            dim: centres.dim(),
            others: others.collect(),
            largest_radius,
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

    /// Gives every centre its radius for this round: the one chosen for all, or more where the last
    /// round left more noise than usual, or found next to nobody within its radius.
    pub(super) fn set_radii(&mut self, round: &Round, chosen: f64) {
        let mut variances: Vec<f64> = self.others.iter().map(|other| other.variance).collect();
        variances.sort_by(f64::total_cmp);
        let usual = variances.get(variances.len() / 2).copied().unwrap_or(0.0);
        for other in &mut self.others {
            let excess = self.dim as f64 * (other.variance - usual);
            let mut radius = chosen;
            if excess.is_finite() && excess > 0.0 {
                radius = (chosen * chosen + 2.0 * excess).sqrt();
            }
            if other.lost {
                // Not so far that the noise of one round would be as long as the radius.
                let noise = round.noise() * (self.dim as f64).sqrt()
                    / (other.count * f64::from(UNITS));
                let growth = (knob("gf", 0.5) / noise).clamp(1.0, GROWTH);
                radius = radius.max(growth * other.radius);
            }
            other.radius = radius.min(self.largest_radius);
        }
    }

    /// Moves every centre by its noisy mean residual, as far as that is more than noise.
    ///
    /// Each round measures where a cluster lies, with a known variance. What earlier rounds found
    /// keeps its weight: the step is the gain of a Kalman filter, whose prior variance grows if the
    /// residual is longer than noise explains.
    pub(super) fn update(&mut self, round: &Round, vectors: &[i64], public_box: &PublicBox) {
        let (dim, least) = (self.dim, round.count_noise());
        let vectors = vectors.chunks_exact(dim + COUNTS);
        for ((row, other), vector) in
            self.coords.chunks_exact_mut(dim).zip(&mut self.others).zip(vectors)
        {
            let (residual, counts) = vector.split_at(dim);
            let records = |units: i64| units as f64 / f64::from(COUNT_UNITS);
            other.beyond = records(counts[1]);
            other.count = (records(counts[0]) + other.beyond).max(least);
            other.lost = other.beyond > 3.0 * least && 2.0 * other.beyond > other.count;
            let step = other.radius / f64::from(UNITS) / other.count;
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

pub(crate) fn knob(name: &str, default: f64) -> f64 {
    std::env::var(name).ok().and_then(|x| x.parse().ok()).unwrap_or(default)
}

//! What a record adds to every centre, when it belongs to several of them.

use dp_accounting::ParamError;
use dp_geometry::{Points, PublicBox};
use dp_mechanism::{Coordinates, Modulus};

use crate::ClusterError;

/// A record shared among all centres, and its residual from each: a vector that changes slowly with the record.
///
/// With distances `D_j` from the centres, a record belongs to centre `j` with weight `w_j = exp(-D_j / h) / sum_i exp(-D_i / h)`, and adds
/// `w_j v_j` and `kappa r w_j` to what is summed there: `v_j` is its residual, scaled back to length `r` where it is longer. A record on the border
/// between two centres changes both sums by its whole residual if it is sent to the nearest; here, by little. Distances and not their
/// squares are in the exponent, so that weights change equally fast however far apart the centres are.
///
/// # Sensitivity
/// With `R = r sqrt(1 + kappa^2)`, a record that moves by `rho` changes the vector of all centres by at most `rho L`, `L = (1 + R/h) / sqrt 2`
/// if `R >= h/2`, else `1 + R/h`; one that is replaced by any other, by at most `max(2 r, sqrt 2 R)`; for every number and position of centres, in
/// every dimension.
///
/// For the first, take the derivative along a unit vector `u`: `w_j (u', 0) + w_j' (v_j, kappa r)` with `|u'| <= 1`, since scaling back is a
/// contraction, and `w_j' = -w_j (y_j - y)`, `y_j` the part of `u` away from centre `j`, over `h`, and `y` their mean with weights `w`. Let the centres with
/// `y_j > y` have mass `p`; their first moment around `y` is that of the others, at most `2 p (1 - p) / h`. So the first part has
/// length at most `sqrt(p^2 + (1 - p)^2)` and the second at most `2 sqrt 2 p (1 - p) R / h`; the sum is largest at `p = 1/2` or at 0.
/// For the second, with `q = sum w_j w_j'` of the two records the squared length is at most `2 R^2 (1 - q) + 4 r^2 q`.
#[derive(Clone, Debug, PartialEq)]
pub struct SoftStep {
    public_box: PublicBox,
    centres: Points,
    radius: f64,
    softness: f64,
    /// Whether all of a record belongs to the nearest centre: for neighbours that may be replaced.
    hard: bool,
}

/// Room to work in, per thread.
#[derive(Clone, Debug)]
pub struct SoftScratch {
    weights: Vec<f64>,
    record: Vec<f64>,
    residual: Vec<f64>,
}

impl SoftStep {
    /// Units per radius, in which all is summed.
    pub const UNITS: f64 = (1_u64 << 22) as f64;

    /// What a record adds to the counts, in radii.
    pub const KAPPA: f64 = 0.3;

    /// For released centres, a released radius and a public softness, in the units of the box.
    ///
    /// # Errors
    /// [`ClusterError`] if there is no centre or one of another dimension, or if radius or softness are not above 0 and finite.
    pub fn new(
        public_box: PublicBox,
        centres: Points,
        radius: f64,
        softness: f64,
    ) -> Result<Self, ClusterError> {
        ClusterError::unless_equal(public_box.dim(), centres.dim())?;
        if centres.is_empty() {
            return Err(ClusterError::ZeroSetting { name: "centres" });
        }
        for (name, got) in [("radius", radius), ("softness", softness)] {
            if !(got > 0.0 && got.is_finite()) {
                return Err(ClusterError::Setting { name, got, want: "finite and > 0" });
            }
        }
        Ok(Self { public_box, centres, radius, softness, hard: false })
    }

    /// The same, sending every record to its nearest centre: it takes the bound of a replaced record.
    #[must_use]
    pub fn hard(self) -> Self {
        Self { hard: true, ..self }
    }

    /// Numbers that a record adds to: per centre the coordinates and the count.
    pub fn width(&self) -> usize {
        self.centres.len() * (self.centres.dim() + 1)
    }

    /// How fast the vector of one record changes.
    ///
    /// Every entry is rounded, by less than half a unit; in two records that is up to one unit in each entry. Weights and residuals carry
    /// a relative error far below `2^-40`.
    ///
    /// # Errors
    /// [`ParamError`] if the softness is so small, against the radius, that the slope overflows.
    pub fn modulus(&self) -> Result<Modulus<Coordinates>, ParamError> {
        let lengthened = (1.0 + Self::KAPPA * Self::KAPPA).sqrt() * self.radius;
        let ratio = lengthened / self.softness;
        let slope =
            if ratio >= 0.5 { (1.0 + ratio) / std::f64::consts::SQRT_2 } else { 1.0 + ratio };
        let slack = 1.01 * (self.width() as f64).sqrt() + 1.0;
        let replaced = (2.0 * Self::UNITS + slack).powi(2).ceil();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "about 2^46")]
        let replaced = replaced as u64;
        // A hard step has no slope: any two records are as good as replaced.
        let slope = if self.hard { f64::MAX } else { slope * Self::UNITS / self.radius };
        Modulus::new(slope, slack, replaced, replaced)
    }

    /// Room for [`add`](Self::add).
    pub fn scratch(&self) -> SoftScratch {
        let dim = self.centres.dim();
        let weights = vec![0.0; self.centres.len()];
        SoftScratch { weights, record: vec![0.0; dim], residual: vec![0.0; dim] }
    }

    /// Adds what a record adds: for each centre the weighted residual, then the weighted count. A coordinate outside of the box counts as on its
    /// boundary, NaN as the middle.
    ///
    /// # Panics
    /// If lengths differ.
    pub fn add(&self, row: &[f64], scratch: &mut SoftScratch, sums: &mut [i64]) {
        assert_eq!(sums.len(), self.width(), "coordinates and a count per centre");
        let SoftScratch { weights, record, residual } = scratch;
        record.copy_from_slice(row);
        self.public_box.clip(record).expect("as many coordinates");
        let centres = self.centres.view();
        for (weight, centre) in weights.iter_mut().zip(centres.rows()) {
            let squares = record.iter().zip(centre).map(|(x, c)| (x - c) * (x - c));
            *weight = squares.sum::<f64>().sqrt();
        }
        let nearest = weights.iter().fold(f64::INFINITY, |least, d| d.min(least));
        if self.hard {
            let first = weights.iter().position(|d| *d <= nearest).unwrap_or(0);
            weights.iter_mut().enumerate().for_each(|(j, w)| *w = f64::from(u8::from(j == first)));
        } else {
            for weight in &mut *weights {
                *weight = (-(*weight - nearest) / self.softness).exp();
            }
            let total: f64 = weights.iter().sum();
            for weight in &mut *weights {
                *weight /= total;
            }
        }
        let per_centre = centres.dim() + 1;
        for ((centre, weight), sums) in
            centres.rows().zip(&*weights).zip(sums.chunks_exact_mut(per_centre))
        {
            let mut squares = 0.0;
            for ((r, x), c) in residual.iter_mut().zip(&*record).zip(centre) {
                *r = x - c;
                squares += *r * *r;
            }
            let length = squares.sqrt();
            let kept = if length > self.radius { self.radius / length } else { 1.0 };
            let factor = weight * kept * Self::UNITS / self.radius;
            let (count, coordinates) = sums.split_last_mut().expect("the count");
            for (sum, r) in coordinates.iter_mut().zip(&*residual) {
                *sum += whole(factor * r);
            }
            *count += whole(Self::KAPPA * Self::UNITS * weight);
        }
    }

    /// The centres after a round: moved by their mean residuals, where the released counts are above `least`.
    pub(super) fn moved(&self, released: &[i64], least: f64) -> (Points, Vec<f64>) {
        let dim = self.centres.dim();
        let mut coords = self.centres.view().coords().to_vec();
        let mut counts = Vec::with_capacity(self.centres.len());
        for (centre, sums) in coords.chunks_exact_mut(dim).zip(released.chunks_exact(dim + 1)) {
            let count = sums[dim] as f64 / (Self::KAPPA * Self::UNITS);
            if count > least {
                for (i, (c, sum)) in centre.iter_mut().zip(sums).enumerate() {
                    let mean = *sum as f64 / Self::UNITS * self.radius / count;
                    let most = self.radius;
                    *c = self.public_box.clip_coordinate(i, *c + mean.clamp(-most, most));
                }
            }
            counts.push(count);
        }
        (Points::new(coords, dim).expect("whole rows"), counts)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "at most 2^24 in absolute value")]
fn whole(x: f64) -> i64 {
    x.round() as i64
}

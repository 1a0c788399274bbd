//! What every private clustering releases.

use dp_geometry::{Points, PointsView, PublicBox};
use dp_mechanism::{Draws, NoisyCount, Private};
use serde::{Deserialize, Serialize};

use crate::ClusterError;
use crate::coreset::PrivateCoreset;
use crate::located::Located;
use crate::nearest::assign;
use crate::table::{count_labels, noisy_counts};

/// Private centres with private counts: the output of every private clustering of this crate. Everything computed from it alone is free.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
#[non_exhaustive]
pub struct Clustering {
    /// One row per cluster, inside the public domain.
    pub centres: Points,
    /// The noisy number of points of each cluster, at least 0.
    pub counts: Vec<i64>,
    /// The released weighted points that the centres were computed from, where there are any: finer than the centres, in the units of the
    /// points. Any other solver may work on them for free.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coreset: Option<PrivateCoreset>,
    /// How far each centre and its count may be off, where the mechanism knows: rounds of [re-centring](crate::recentring) do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<Vec<CentreError>>,
}

/// The serialised form, before it is checked.
#[derive(Deserialize)]
#[serde(rename = "Clustering")]
struct Unchecked {
    centres: Points,
    counts: Vec<i64>,
    #[serde(default)]
    coreset: Option<PrivateCoreset>,
    #[serde(default)]
    errors: Option<Vec<CentreError>>,
}

impl TryFrom<Unchecked> for Clustering {
    type Error = ClusterError;

    fn try_from(raw: Unchecked) -> Result<Self, ClusterError> {
        let Unchecked { centres, counts, coreset, errors } = raw;
        let (dim, number) = (centres.dim(), centres.len());
        if let Some(coreset) = &coreset {
            ClusterError::unless_equal(dim, coreset.points().dim())?;
        }
        if let Some(errors) = &errors {
            if errors.len() != number {
                let (centres, errors) = (number, errors.len());
                return Err(ClusterError::ErrorsLength { centres, errors });
            }
            errors.iter().try_for_each(|one| ClusterError::unless_equal(dim, one.at.len()))?;
        }
        Ok(Self { coreset, errors, ..Self::new(centres, counts)? })
    }
}

/// Standard errors of a released centre, from public noise levels and released counts: free.
///
/// They are for the mean of the records that are nearest to the centre, and for their number; how far that mean is from the one of a
/// population is not in them. A guide only where clusters overlap or are lopsided: noise is all that they know of, not that a centre may
/// be in the wrong place, or that clipping pulls it to where most of its records are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CentreError {
    /// Of each coordinate, in the units of the points.
    pub at: Vec<f64>,
    /// Of the count.
    pub count: f64,
    /// Whether there is more than noise explains: a count clear of its error, at a place that is known to within its records.
    pub signal: bool,
}

/// So many standard errors a count is above 0 where noise does not explain it: of four thousand centres with nothing but noise one is.
const CLEAR: f64 = 3.5;
/// What clipping makes of the difference between a mean and what rounds settle at, as a part of a mean's own variance.
const CLIPPING: f64 = 0.03;

impl CentreError {
    /// Of rounds that move a centre to the mean of so many records, clipped to a radius: with the variance that their noise gives each
    /// coordinate and the count.
    pub(crate) fn of_noise(
        dim: usize,
        (variance, radius): (f64, f64),
        (records, count_variance): (f64, f64),
    ) -> Self {
        let clipping = CLIPPING * radius.powi(2) / (dim as f64 * records);
        let (at, count) = ((variance + clipping).sqrt(), count_variance.sqrt());
        let signal = records > CLEAR * count && at * (dim as f64).sqrt() < radius;
        Self { at: vec![at; dim], count, signal }
    }
}

impl Clustering {
    /// Centres and counts that have been released or were public all along; nothing is made private here.
    ///
    /// # Errors
    /// [`ClusterError::CountsLength`] if there is not one count per centre.
    pub fn new(centres: Points, counts: Vec<i64>) -> Result<Self, ClusterError> {
        if centres.len() != counts.len() {
            let (centres, counts) = (centres.len(), counts.len());
            return Err(ClusterError::CountsLength { centres, counts });
        }
        Ok(Self::of(centres, counts))
    }

    /// The same, where there is one count per centre.
    pub(crate) fn of(centres: Points, counts: Vec<i64>) -> Self {
        debug_assert_eq!(centres.len(), counts.len(), "one count per centre");
        Self { centres, counts, coreset: None, errors: None }
    }

    /// Centres that were computed from a coreset: the weight of the points nearest to a centre is its count.
    pub(crate) fn of_coreset(centres: Points, coreset: PrivateCoreset) -> Self {
        let counts = nearest_weights(&coreset, centres.view());
        Self { coreset: Some(coreset), ..Self::of(centres, counts) }
    }
}

/// The weight of the points of a coreset that are nearest to each centre.
pub(crate) fn nearest_weights(coreset: &PrivateCoreset, centres: PointsView<'_>) -> Vec<i64> {
    labelled_weights(coreset, &assign(coreset.points(), centres).labels, centres.len())
}

/// The same, where it is known which centre is the nearest to each point.
pub(crate) fn labelled_weights(
    coreset: &PrivateCoreset,
    labels: &[u32],
    centres: usize,
) -> Vec<i64> {
    let mut weights = vec![0.0; centres];
    for (label, weight) in labels.iter().zip(coreset.weights()) {
        weights[*label as usize] += weight;
    }
    weights.into_iter().map(records).collect()
}

/// These centres in the public box: a mean of what is in it can round to just outside.
pub(crate) fn inside(centres: Points, public_box: &PublicBox) -> Points {
    let mut coords = centres.into_coords();
    let rows = coords.chunks_exact_mut(public_box.dim());
    rows.for_each(|centre| public_box.clip(centre).expect("as many coordinates"));
    Points::new(coords, public_box.dim()).expect("whole rows")
}

/// These centres with a noisy number of the records nearest to each, which a leaf pays for part by part.
pub(crate) fn sizes(
    points: Private<PointsView<'_>>,
    centres: Points,
    public_box: &PublicBox,
    noise: &NoisyCount,
    leaf: &str,
    draws: &mut Draws<'_>,
) -> Clustering {
    let counts = points.map(|points| {
        let mut located = Located::at(points, vec![0; points.len()]);
        located.update(public_box, centres.view(), true);
        count_labels(&located.labels, centres.len())
    });
    let counts = noisy_counts(&counts.cells(centres.len()), noise, leaf, draws);
    let counts = counts.into_iter().map(|count| count.max(0)).collect();
    Clustering::of(centres, counts)
}

/// A noisy number of records as an integer, at least 0.
#[allow(clippy::cast_possible_truncation, reason = "saturates")]
pub(crate) fn records(noisy: f64) -> i64 {
    noisy.round().max(0.0) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_centre_counts_what_is_nearest_to_it() {
        let points = |coords| Points::new(coords, 1).expect("rows");
        let coreset = PrivateCoreset::released(points(vec![0.0, 1.0, 9.0]), vec![2.25, 1.5, 7.0]);
        let clustering = Clustering::of_coreset(points(vec![0.0, 10.0, 99.0]), coreset);
        assert_eq!(clustering.counts, [4, 7, 0]);
        assert_eq!([f64::NAN, -3.0, 1e300].map(records), [0, 0, i64::MAX]);
    }
}

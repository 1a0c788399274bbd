//! Centres that share out a box evenly: the public one, or a part of it around most records.
//!
//! Where the noise of the whole budget is as long as a typical cluster's sum, nothing finds clusters. A start that looks for them spends most of the budget on centres that
//! are anywhere, and rounds then begin from there. Even centres cost nothing, and all of the budget moves them as far as records say more than noise. Where all records together
//! are, and how far they reach, is seen all the same, by ring rounds of one centre, for a tenth of the budget or so; and in a box that is ten times too wide, all depends on it.

use dp_geometry::{Points, PublicBox};
use rand::RngExt;

use super::together::Ball;
use crate::ClusterError;
use crate::coreset::PrivateCoreset;
use crate::kmeans::{KMeans, KMeansSettings, MAX_MAGNITUDE, farthest};
use crate::public_coins::{Purpose, public_generator};
use crate::recentring::Start;

/// Places of the box that centres are k-means of: so many for each, within limits; and starts of that.
const PLACES_EACH: usize = 256;
const PLACES: [usize; 2] = [1024, 4096];
/// No more coordinates of places than this, or as there are of two for each centre: in 200 to 784 dimensions, more of them cost as much and take up to three times as long.
const COORDINATES: usize = 1 << 19;
const RUNS: usize = 3;
/// A run ends when it gains less than that: nobody needs to know better what even is, and a plan for 512 centres in a hundred dimensions takes a second.
const LEAST_GAIN: f64 = 1e-3;

/// Even centres share out a cube so many times as wide as the one inside of the ball that most records are in. If records are all over a cube, it is 1.1 to 1.7 times as
/// wide,
const WIDER: f64 = 1.3;
/// and the public box if that is no more than so many times as wide: a part that is too small costs more.
const MOST_TIMES: f64 = 2.0;

/// Where a plan starts that looks for no clusters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Even {
    k: usize,
    /// Of each centre, as far as is known.
    count: i64,
    public_seed: u64,
}

impl Even {
    /// So many centres at most.
    pub(super) const MOST: usize = 512;

    /// For so many records at most.
    pub(super) fn new(
        public_box: &PublicBox,
        k: usize,
        records: u64,
        public_seed: u64,
    ) -> Result<Self, ClusterError> {
        let farthest = farthest(public_box);
        if farthest > MAX_MAGNITUDE {
            let (name, want) = ("the public box's extent", "at most 1e75");
            return Err(ClusterError::Setting { name, got: farthest, want });
        }
        let count = i64::try_from(records / k as u64).unwrap_or(i64::MAX).max(1);
        Ok(Self { k, count, public_seed })
    }

    /// The part of a box that they share out, if most records are in this ball.
    pub(super) fn part_around(ball: &Ball, public_box: &PublicBox) -> PublicBox {
        let sides = 2.0 * WIDER / (public_box.dim() as f64).sqrt();
        ball.part_of(public_box, sides, MOST_TIMES)
    }

    /// The centres, with the root of the mean square of how far places of the box are from the nearest as their reach.
    pub(super) fn start(&self, public_box: &PublicBox) -> Start {
        let mut rng = public_generator(self.public_seed, Purpose::EvenCentres);
        let dim = public_box.dim();
        let number = places(self.k, dim);
        let coords = (0..number * dim).map(|place| {
            let axis = place % dim;
            public_box.clip_coordinate(
                axis,
                public_box.min(axis) + public_box.width(axis) * rng.random::<f64>(),
            )
        });
        let places = Points::new(coords.collect(), dim).expect("whole rows");
        let places = PrivateCoreset::released(places, vec![1.0; number]);
        let settings =
            KMeansSettings { restarts: RUNS, relative_tolerance: LEAST_GAIN, ..Default::default() };
        let solver = KMeans::new(self.k, settings).expect("1 to 512 clusters");
        let fit =
            solver.post_fit(&places, &mut rng).expect("places in a box that re-centring takes");
        let mut coords = fit.centres.into_coords();
        // A mean can round to just outside of the box.
        for (place, x) in coords.iter_mut().enumerate() {
            *x = public_box.clip_coordinate(place % dim, *x);
        }
        let centres = Points::new(coords, dim).expect("whole rows");
        let reach = (fit.squared_inertia / number as f64).sqrt();
        let counts = vec![self.count; centres.len()];
        let (reach, within) = (Some(reach), Some(reach));
        Start { reach, within, ..Start::at(centres, counts) }
    }
}

/// So many in so many dimensions for so many centres.
fn places(k: usize, dim: usize) -> usize {
    let usual = (PLACES_EACH * k).clamp(PLACES[0], PLACES[1]);
    usual.min(COORDINATES / dim).max(2 * k)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_very_many_dimensions_are_few() {
        let of = |k| [1, 8_192, 16_384, 1 << 20, 1 << 30].map(|dim| places(k, dim));
        assert_eq!(of(1), [1_024, 64, 32, 2, 2]);
        assert_eq!(of(512), [4_096, 1_024, 1_024, 1_024, 1_024]);
    }
}

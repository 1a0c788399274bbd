//! Centres that share out the public box evenly: public numbers only.
//!
//! Where the noise of the whole budget is as long as a typical cluster's sum, nothing finds clusters. A start that looks for them spends most of the budget on centres that
//! are anywhere, and rounds then begin from there. Even centres cost nothing, and all of the budget moves them as far as records say more than noise.

use dp_geometry::{Points, PublicBox};
use rand::RngExt;

use crate::ClusterError;
use crate::coreset::PrivateCoreset;
use crate::kmeans::{KMeans, KMeansSettings};
use crate::public_coins::{Purpose, public_generator};
use crate::recentring::Start;

/// Places of the box that centres are k-means of, and starts of that.
const PLACES: usize = 4096;
const RUNS: usize = 3;
/// A run ends when it gains less than that: nobody needs to know better what even is, and a plan for 512 centres in a hundred dimensions takes a second.
const LEAST_GAIN: f64 = 1e-3;

/// Where a plan starts that looks for nothing.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Even {
    centres: Points,
    /// The root of the mean square of how far places are from the nearest centre.
    reach: f64,
    /// Of each centre, as far as is known.
    count: i64,
}

impl Even {
    /// So many centres at most.
    pub(super) const MOST: usize = 512;

    pub(super) fn new(
        public_box: &PublicBox,
        k: usize,
        records: u64,
        public_seed: u64,
    ) -> Result<Self, ClusterError> {
        let mut rng = public_generator(public_seed, Purpose::EvenCentres);
        let dim = public_box.dim();
        let coords = (0..PLACES * dim).map(|place| {
            let axis = place % dim;
            public_box.clip_coordinate(
                axis,
                public_box.min(axis) + public_box.width(axis) * rng.random::<f64>(),
            )
        });
        let places = Points::new(coords.collect(), dim).expect("whole rows");
        let places = PrivateCoreset::released(places, vec![1.0; PLACES]);
        let settings =
            KMeansSettings { restarts: RUNS, relative_tolerance: LEAST_GAIN, ..Default::default() };
        let solver = KMeans::new(k, settings)?;
        let fit = solver.post_fit(&places, &mut rng)?;
        let mut coords = fit.centres.into_coords();
        // A mean can round to just outside of the box.
        for (place, x) in coords.iter_mut().enumerate() {
            *x = public_box.clip_coordinate(place % dim, *x);
        }
        let centres = Points::new(coords, dim).expect("whole rows");
        let reach = (fit.squared_inertia / PLACES as f64).sqrt();
        let each = records / k as u64;
        Ok(Self { centres, reach, count: i64::try_from(each).unwrap_or(i64::MAX).max(1) })
    }

    pub(super) fn start(&self) -> Start {
        let counts = vec![self.count; self.centres.len()];
        let (reach, within) = (Some(self.reach), Some(self.reach));
        Start { reach, within, ..Start::at(self.centres.clone(), counts) }
    }
}

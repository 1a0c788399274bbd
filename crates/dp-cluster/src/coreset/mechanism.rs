//! From private centres to a private coreset: a noisy size for every centre.

use dp_accounting::{AddRemove, Budget, Receipt, Step, budget_to_mu};
use dp_geometry::{Points, PointsView};
use dp_mechanism::{Algorithm, Draws, NoisyCount, Private};
use serde::{Deserialize, Serialize};

use super::{PrivateCoreset, WeightRule};
use crate::ClusterError;
use crate::kmeans::MAX_MAGNITUDE;
use crate::nearest::assign;
use crate::table::{count_labels, noisy_counts};

/// The step of the receipt that pays for one size.
const SIZE: &str = "size of one centre";

/// Counts the records nearest to each of some centres, with noise. See the [module](super).
///
/// # Guarantee
/// `(epsilon, delta)`-DP under [`AddRemove`] for the budget given, and `epsilon`-DP if delta is zero:
/// a record counts for its nearest centre alone, so all counts cost as much as one. Every centre
/// gets noise, also one without records. The centres must be public or released already; what
/// they cost comes on top.
///
/// # Utility
/// With `F` the centres and exact weights, the k-median cost of any `C` on the coreset is within the
/// k-median cost of `F` of that on the records; for k-means, `cost' <= (1 + g) cost + (1 + 1/g)
/// cost(F)` and the same with the sides exchanged, for every `g > 0`. Noise adds at most
/// `sum |noise_j| distance(f_j, C)^z`.
///
/// # Complexity
/// `O(n m d)`; `12 n` bytes beyond the input.
///
/// # Shapes and units
/// Records `(n, d)`, centres `(m, d)`, `m` weights in records.
///
/// # Bad records
/// A record with a coordinate that is not a finite number counts for the first centre.
///
/// # Source
/// Feldman, Fiat, Kaplan, Nissim (2009); Stemmer and Kaplan (2018).
///
/// # Example
/// ```
/// use dp_cluster::coreset::{CoresetFromCentres, CoresetFromCentresSettings};
/// use dp_cluster::kmedian::{KMedian, KMedianSettings};
/// use dp_cluster::{Budget, Mechanism, Points, chacha_from_os};
///
/// let records = Points::new((0..3_000).map(|i| f64::from(i % 3)).collect(), 1)?;
/// let centres = Points::new(vec![0.0, 1.0, 2.0, 50.0], 1)?; // public, or from a release
/// let plan = CoresetFromCentres::new(centres, Budget::new(1.0, 0.0)?, CoresetFromCentresSettings::default())?;
/// let mut rng = chacha_from_os()?;
/// let coreset = plan.release(records.view(), &mut rng)?.output;
/// let fit = KMedian::new(1, KMedianSettings::default())?.post_fit(&coreset, &mut rng)?; // free
/// println!("{:?}", &fit.centres[0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Asked", into = "Asked")]
pub struct CoresetFromCentres {
    asked: Asked,
    count: NoisyCount,
}

/// Settings of [`CoresetFromCentres`]. Nothing here depends on data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CoresetFromCentresSettings {
    /// What is made of noisy sizes. Default: [`WeightRule::Threshold`].
    pub weight_rule: WeightRule,
}

/// What was asked for. The file form of plans, which are read back through their checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    centres: Points,
    budget: Budget,
    settings: CoresetFromCentresSettings,
}

impl CoresetFromCentres {
    /// For these centres, which must be public or released already.
    ///
    /// Checks the settings and calibrates the noise; afterwards nothing can fail.
    ///
    /// The noise is geometric or Gaussian, whichever has the smaller variance for the budget.
    ///
    /// # Errors
    /// No centre, or a centre with a coordinate that is not a number of at most `1e75`; noise that
    /// does not fit in 64-bit integers.
    pub fn new(
        centres: Points,
        budget: Budget,
        settings: CoresetFromCentresSettings,
    ) -> Result<Self, ClusterError> {
        if centres.is_empty() {
            return Err(ClusterError::ZeroSetting { name: "centres" });
        }
        if !centres.view().coords().iter().all(|x| x.abs() <= MAX_MAGNITUDE) {
            return Err(ClusterError::Coordinate);
        }
        let geometric = NoisyCount::geometric(budget.epsilon());
        let gaussian = budget_to_mu(budget).map(NoisyCount::rounded);
        let count = match (geometric, gaussian) {
            (Ok(geometric), Some(Ok(gaussian))) => {
                let wider = gaussian.standard_deviation() > geometric.standard_deviation();
                if wider { geometric } else { gaussian }
            }
            (Err(_), Some(Ok(gaussian))) => gaussian,
            (geometric, _) => geometric?,
        };
        Ok(Self { asked: Asked { centres, budget, settings }, count })
    }

    /// Standard deviation of the noise of a size, in records.
    pub fn standard_deviation(&self) -> f64 {
        self.count.standard_deviation()
    }
}

impl Algorithm for CoresetFromCentres {
    type Relation = AddRemove;
    type Data<'a> = PointsView<'a>;
    /// The dimension.
    type Shape = usize;
    type Output = PrivateCoreset;
    type Error = ClusterError;

    fn cost(&self) -> Receipt<AddRemove> {
        let size = Step::spend(SIZE, self.count.loss());
        let spent = Step::parallel("sizes of all centres", vec![size]);
        Receipt::new("coreset-from-centres", AddRemove, self.asked.budget, spent)
    }

    fn shape(points: &PointsView<'_>) -> usize {
        points.dim()
    }

    /// # Errors
    /// [`ClusterError::Dimension`] if the records do not have the dimension of the centres.
    fn check(&self, &dim: &usize) -> Result<(), ClusterError> {
        ClusterError::unless_equal(self.asked.centres.dim(), dim)
    }

    fn run(&self, points: Private<PointsView<'_>>, draws: &mut Draws<'_>) -> PrivateCoreset {
        let centres = &self.asked.centres;
        let sizes = points
            .map(|points| count_labels(&assign(points, centres.view()).labels, centres.len()))
            .cells(centres.len());
        let noisy = noisy_counts(&sizes, &self.count, SIZE, draws);
        let weights =
            self.asked.settings.weight_rule.post_weights(&noisy, self.standard_deviation());
        PrivateCoreset::released(centres.clone(), weights)
    }
}

impl TryFrom<Asked> for CoresetFromCentres {
    type Error = ClusterError;

    fn try_from(asked: Asked) -> Result<Self, ClusterError> {
        Self::new(asked.centres, asked.budget, asked.settings)
    }
}

impl From<CoresetFromCentres> for Asked {
    fn from(plan: CoresetFromCentres) -> Self {
        plan.asked
    }
}

//! Re-centring after any private clustering.

use dp_accounting::{AddRemove, Budget, Epsilon, Receipt, Rho, Step, zcdp_to_epsilon};
use dp_geometry::{PointsView, PublicBox};
use dp_mechanism::{Algorithm, Draws, Mechanism, Private};

use super::Rounds;
use super::plan::{Recentring, Start};
use crate::clustering::records;
use crate::total_rho::{total_mu, total_rho};
use crate::{ClusterError, Clustering};

/// What the choice of radii gets of what re-centring may spend.
const RADII: f64 = 0.05;

/// The step of the receipt that pays for the start.
const START: &str = "start";

/// Any mechanism that releases centres with counts, then rounds of re-centring.
///
/// `S` is the mechanism that starts. Its cost may be any that adds up with Gaussian noise: Gaussian, zCDP or pure, and each of them outside of
/// a mass, as that of a start with thresholds.
/// Where it releases a coreset, the rounds start from that, which is finer than its centres. [`part_of`] makes the budget to build it with.
///
/// # Guarantee
/// `(epsilon, delta)`-DP under [`AddRemove`] for the budget given, if the start keeps its own claim. The rounds get all that
/// [`Receipt::mu_left`] finds: after a start that has Gaussian noise only, the whole is one exact curve.
///
/// # Complexity, shapes, bad records
/// Those of the start, and of the rounds as for [`DpmRecentred`](super::DpmRecentred). Centres that
/// the start puts outside of the public box are moved into it.
///
/// # Example
/// ```
/// use dp_accounting::Budget;
/// use dp_cluster::dpm::{Dpm, DpmSettings};
/// use dp_cluster::recentring::{Recentred, Rounds, part_of};
/// use dp_geometry::{Points, PublicBox};
/// use dp_mechanism::{Mechanism, chacha_from_os};
///
/// let public_box = PublicBox::cube(1, -10.0, 10.0)?;
/// let budget = Budget::new(1.0, 1e-6)?;
/// let settings = DpmSettings { max_depth: 2, ..Default::default() };
/// let start = Dpm::new(public_box.clone(), part_of(budget, 0.5)?, settings)?;
/// let plan = Recentred::new(start, public_box, budget, Rounds::default(), Some(2))?;
/// assert!(plan.receipt().within_budget());
///
/// let coords = (0..10_000).map(|i| if i % 2 == 0 { -5.0 } else { 5.0 }).collect();
/// let points = Points::new(coords, 1)?;
/// let release = plan.release(points.view(), &mut chacha_from_os()?)?;
/// assert!(release.output.centres.len() <= 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Recentred<S> {
    start: S,
    budget: Budget,
    recentring: Recentring,
}

/// The budget whose zCDP cost is this share of that of `budget`, at the same delta.
///
/// # Errors
/// [`ClusterError`] if `budget` has no delta, or `share` is not above 0 and at most 1.
pub fn part_of(budget: Budget, share: f64) -> Result<Budget, ClusterError> {
    if !(share > 0.0 && share <= 1.0) {
        let want = "above 0 and at most 1";
        return Err(ClusterError::Setting { name: "share", got: share, want });
    }
    let part = Rho::new(total_rho(budget)?.get() * share)?;
    let epsilon = zcdp_to_epsilon(part, budget.delta()).expect("the delta is above 0");
    Ok(Budget::new(epsilon.get().min(budget.epsilon().get()), budget.delta().get())?)
}

impl<S> Recentred<S>
where
    S: for<'a> Mechanism<
            Relation = AddRemove,
            Data<'a> = PointsView<'a>,
            Shape = usize,
            Output: Into<Clustering>,
            Error = ClusterError,
        >,
{
    /// Gives the rounds all that `start` leaves of `budget`.
    ///
    /// # Errors
    /// [`ClusterError`] if the cost of `start` leaves nothing, or names the setting that is out of range.
    pub fn new(
        start: S,
        public_box: PublicBox,
        budget: Budget,
        rounds: Rounds,
        clusters: Option<usize>,
    ) -> Result<Self, ClusterError> {
        total_mu(budget)?;
        let spent = start.receipt();
        let left = spent.mu_left(budget).ok_or_else(|| {
            let got = spent.epsilon_at(budget.delta()).map_or(f64::INFINITY, Epsilon::get);
            let want = "an epsilon below that of the budget, at its delta";
            ClusterError::Setting { name: "cost of the start", got, want }
        })?;
        let parts = left.split(&[RADII, 1.0 - RADII])?;
        let recentring = Recentring::new(public_box, rounds, clusters, [parts[0], parts[1]])?;
        Ok(Self { start, budget, recentring })
    }

    /// Number of rounds.
    pub fn rounds(&self) -> usize {
        self.recentring.rounds()
    }
}

impl<S> Algorithm for Recentred<S>
where
    S: for<'a> Mechanism<
            Relation = AddRemove,
            Data<'a> = PointsView<'a>,
            Shape = usize,
            Output: Into<Clustering>,
            Error = ClusterError,
        >,
{
    type Relation = AddRemove;
    type Data<'a> = PointsView<'a>;
    /// The dimension.
    type Shape = usize;
    type Output = Clustering;
    type Error = ClusterError;

    fn cost(&self) -> Receipt<AddRemove> {
        let start = self.start.receipt();
        let first = Step::sequential(START, vec![start.spent().clone()]);
        let steps = vec![first, self.recentring.spent()];
        let name = format!("{}-recentred", start.mechanism());
        Receipt::new(name, AddRemove, self.budget, Step::sequential("all steps", steps))
    }

    fn shape(points: &PointsView<'_>) -> usize {
        points.dim()
    }

    /// # Errors
    /// Those of the start, and [`ClusterError::Dimension`] if the points do not have the dimension of
    /// the public box.
    fn check(&self, &dim: &usize) -> Result<(), ClusterError> {
        self.recentring.check(dim)?;
        self.start.check(&dim)
    }

    fn run(&self, points: Private<PointsView<'_>>, draws: &mut Draws<'_>) -> Clustering {
        let start: Clustering = self.start.run(points, &mut draws.within(START)).into();
        let (centres, counts) = match start.coreset {
            None => (start.centres, start.counts),
            Some(finer) => {
                let counts = finer.weights().iter().map(|&weight| records(weight)).collect();
                (finer.points().to_points(), counts)
            }
        };
        self.recentring.run(points, Start::at(centres, counts), draws)
    }
}

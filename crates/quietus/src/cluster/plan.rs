//! The mechanism that does what is asked for.

use super::settings::{Axis, ClusterSettings, Method};
use crate::error::Error;
use crate::map::{Hides, known, only_distances};
use dp_accounting::{Epsilon, Loss, Mu, Rho, Step, Within, plain_number};
use dp_cluster::distance::{NearbyKMeans, Way};
use dp_cluster::dp_lloyd::{BudgetSplit, DpLloyd, DpLloydSettings};
use dp_cluster::dpm::{Dpm, DpmSettings};
use dp_cluster::private_kmeans::{PrivateKMeans, PrivateKMeansSettings};
use dp_cluster::recentring::{DpmRecentred, DpmRecentredSettings};
use dp_cluster::{
    AddRemove, Budget, ClusterError, Clustering, Points, PointsView, PublicBox, Receipt,
};
use dp_mechanism::{Algorithm, Draws, GeometricSum, Mechanism, Nearby, Private};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

/// Points as the mechanism takes them, and how many were outside of each range: private.
#[derive(Clone)]
pub struct Records {
    points: Points,
    outside: Vec<i64>,
}

impl Records {
    /// Points in a mechanism's own coordinates, and how many of them were outside of each range.
    pub(super) fn new(points: Points, outside: Vec<i64>) -> Self {
        Self { points, outside }
    }

    /// In the mechanism's own coordinates.
    pub(super) fn points(&self) -> PointsView<'_> {
        self.points.view()
    }
}

/// Nothing of the records.
impl std::fmt::Debug for Records {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Records").field("dim", &self.outside.len()).finish_non_exhaustive()
    }
}

/// What was drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Clusters {
    /// Centres and counts, as the mechanism gives them.
    pub clustering: Clustering,
    /// Of each column a noisy number of points outside of its bounds, if that was paid for.
    pub outside: Option<Vec<i64>>,
}

/// A release of centres and their counts.
///
/// # Guarantee
/// That of the mechanism: the budget, under `R` for a point, with distances in the unit of the columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "ClusterSettings", into = "ClusterSettings", bound = "R: Clustered")]
pub struct ClusterPlan<R: Clustered> {
    settings: ClusterSettings,
    run: R::Run,
    outside: Option<GeometricSum>,
    receipt: Receipt<R>,
}

/// What clusters can hide.
pub trait Clustered: Hides {
    /// The mechanisms that do.
    type Run: for<'a> Algorithm<
            Relation = Self,
            Data<'a> = PointsView<'a>,
            Shape = Self::Shape,
            Output = Clustering,
            Error = ClusterError,
        > + Clone
        + std::fmt::Debug
        + PartialEq
        + Sync;

    /// The one that is asked for, in this box and for this part of the budget.
    ///
    /// # Errors
    /// Names the setting and its limits.
    fn run(
        settings: &ClusterSettings,
        bounds: PublicBox,
        budget: Budget,
    ) -> Result<Self::Run, Error>;

    /// The relation of this distance, which a release may be charged for.
    ///
    /// # Errors
    /// If no distance is hidden here, or the number is none.
    fn shorter(distance: f64) -> Result<Self, Error>;

    /// Whether what it releases says how far it may be off.
    fn knows_errors(run: &Self::Run) -> bool;
}

/// A mechanism that hides whether a point is there.
#[derive(Clone, Debug, PartialEq)]
pub enum Presence {
    /// [`Method::PrivateKmeans`].
    PrivateKmeans(Box<PrivateKMeans>),
    /// [`Method::Recentred`].
    Recentred(DpmRecentred),
    /// [`Method::Dpm`].
    Dpm(Dpm),
    /// [`Method::Lloyd`].
    Lloyd(DpLloyd),
}

/// A mechanism that goes by passes.
pub(super) enum Stepwise<'a> {
    PrivateKmeans(&'a PrivateKMeans),
    Recentred(&'a DpmRecentred),
    Dpm(&'a Dpm),
}

impl<R: Clustered> TryFrom<ClusterSettings> for ClusterPlan<R> {
    type Error = Error;

    fn try_from(settings: ClusterSettings) -> Result<Self, Error> {
        Self::new(settings)
    }
}

impl<R: Clustered> From<ClusterPlan<R>> for ClusterSettings {
    fn from(plan: ClusterPlan<R>) -> Self {
        plan.settings
    }
}

/// Centres that a release may have; beyond it a plan takes minutes, and centres have nobody near them.
const MOST_CENTRES: usize = 4096;

impl<R: Clustered> ClusterPlan<R> {
    /// Checks all settings.
    ///
    /// # Errors
    /// Names the setting and its limits.
    pub fn new(settings: ClusterSettings) -> Result<Self, Error> {
        Axis::check(&settings.axes)?;
        let ends = |of: fn(&Axis) -> f64| settings.axes.iter().map(of).collect();
        let bounds = PublicBox::new(ends(|axis| axis.low), ends(|axis| axis.high));
        let bounds = bounds.map_err(|error| Error::library("--range", &error))?;
        let bounds = if settings.scaled {
            PublicBox::cube(bounds.dim(), 0.0, 1.0).expect("a box of as many dimensions")
        } else {
            bounds
        };
        let (outside, budget) = divided(&settings)?;
        let ClusterSettings { k, at_most, .. } = settings;
        for (name, k) in [("--k", k), ("--at-most", at_most)] {
            if let Some(k) = k.filter(|k| !(1..=MOST_CENTRES).contains(k)) {
                return Err(Error::Setting { name, got: k.to_string(), want: "1 to 4096 centres" });
            }
        }
        if let Some(most) = at_most
            && (k.is_some() || settings.method != Method::PrivateKmeans)
        {
            let (name, got) = ("--at-most", most.to_string());
            let want = "asked of private-kmeans alone, and without --k";
            return Err(Error::Setting { name, got, want });
        }
        let run = R::run(&settings, bounds, budget)?;
        let receipt = Self::itemised(&run, outside, settings.budget);
        let receipt = match settings.charged {
            None => receipt,
            Some(distance) => R::charged_as(receipt, R::shorter(distance)?)?,
        };
        Ok(Self { settings, run, outside, receipt })
    }

    fn itemised(run: &R::Run, outside: Option<GeometricSum>, budget: Budget) -> Receipt<R> {
        let clusters = run.receipt();
        let Some(outside) = outside else { return clusters };
        let steps = vec![
            Step::sequential(Self::CLUSTERS, vec![clusters.spent().clone()]),
            Step::spend(Self::OUTSIDE, outside.loss()),
        ];
        let name = format!("{} and what is outside", clusters.mechanism());
        let spent = Step::sequential("clusters, and what is outside", steps);
        Receipt::new(name, clusters.relation(), budget, spent)
    }

    /// What was asked for.
    pub fn settings(&self) -> &ClusterSettings {
        &self.settings
    }

    /// What is hidden, which may be more than is charged for.
    pub(super) fn hidden(&self) -> R {
        self.run.receipt().relation()
    }

    /// Whether what is released says how far it may be off.
    pub(super) fn knows_errors(&self) -> bool {
        R::knows_errors(&self.run)
    }

    /// The same for another number of points, if it is public how many there are.
    pub(super) fn of_records(&self, records: u64) -> Result<Self, Error> {
        if !R::PUBLIC_SIZE {
            return Ok(self.clone());
        }
        Self::new(ClusterSettings { records: Some(records), ..self.settings.clone() })
    }

    /// The noise of the numbers of points outside, if they are paid for.
    pub(super) fn outside_noise(&self) -> Option<GeometricSum> {
        self.outside
    }
}

impl ClusterPlan<AddRemove> {
    /// The mechanism, if it needs no more of the points than a few tables.
    pub(super) fn stepwise(&self) -> Result<Stepwise<'_>, Error> {
        let refuse = |got: &str, want| {
            let (name, got) = ("--out-of-core", got.to_owned());
            Err(Error::Setting { name, got, want })
        };
        if self.outside.is_some() {
            return refuse("--outside", "without --outside, for which no pass is made");
        }
        match &self.run {
            Presence::Dpm(plan) => Ok(Stepwise::Dpm(plan)),
            Presence::Recentred(plan) => Ok(Stepwise::Recentred(plan)),
            Presence::PrivateKmeans(plan) => Ok(Stepwise::PrivateKmeans(plan)),
            Presence::Lloyd(_) => refuse(
                "with --method lloyd, which needs all points at once",
                "used with another method: all others need tables of them only",
            ),
        }
    }

    /// By what part the squared inertia will be above that of k-means without privacy, as far as the plan can say.
    pub(super) fn forecast(&self) -> Option<f64> {
        match &self.run {
            Presence::PrivateKmeans(plan) => plan.forecast(),
            _ => None,
        }
    }

    /// Whether noise hides all that might be found.
    pub(super) fn is_hopeless(&self) -> bool {
        matches!(&self.run, Presence::PrivateKmeans(plan) if plan.is_hopeless())
    }
}

fn no_k(method: Method) -> Error {
    let (name, got) = ("--k", format!("nothing with {}", method.name()));
    Error::Setting { name, got, want: "the number of clusters" }
}

impl Clustered for AddRemove {
    type Run = Presence;

    fn run(
        settings: &ClusterSettings,
        bounds: PublicBox,
        budget: Budget,
    ) -> Result<Presence, Error> {
        let ClusterSettings { k, at_most, .. } = *settings;
        if let Some(rho) = settings.within {
            let (name, got) = ("--within", plain_number(rho));
            return Err(Error::Setting { name, got, want: "left out where presence is hidden" });
        }
        let refuse = |error: ClusterError| Error::library("the plan", &error);
        Ok(match (settings.method, k.or(at_most)) {
            (Method::PrivateKmeans, Some(most)) => {
                let settings = PrivateKMeansSettings {
                    finds_k: at_most.is_some(),
                    expected_records: settings.records,
                    ..Default::default()
                };
                let plan = PrivateKMeans::new(bounds, most, budget, settings);
                Presence::PrivateKmeans(Box::new(plan.map_err(refuse)?))
            }
            (Method::Recentred, k) => {
                let settings = DpmRecentredSettings { clusters: k, ..Default::default() };
                Presence::Recentred(DpmRecentred::new(bounds, budget, settings).map_err(refuse)?)
            }
            (Method::Dpm, None) => {
                Presence::Dpm(Dpm::new(bounds, budget, DpmSettings::default()).map_err(refuse)?)
            }
            (Method::Dpm, Some(k)) => {
                let (name, got) = ("--k", format!("{k} with dpm"));
                let want = "left out, as it finds the number of clusters itself; or use recentred";
                return Err(Error::Setting { name, got, want });
            }
            (Method::Lloyd, Some(k)) => {
                let pure = budget.delta().get() <= 0.0;
                let split = if pure { BudgetSplit::Pure } else { BudgetSplit::default() };
                let settings = DpLloydSettings { split, ..Default::default() };
                Presence::Lloyd(DpLloyd::new(bounds, k, budget, settings).map_err(refuse)?)
            }
            (Method::NearbyKmeans, _) => {
                let (name, got) = ("--method", settings.method.name().to_owned());
                return Err(Error::Setting { name, got, want: "another one without --within" });
            }
            (method, None) => return Err(no_k(method)),
        })
    }

    fn shorter(_: f64) -> Result<Self, Error> {
        only_distances()
    }

    fn knows_errors(run: &Presence) -> bool {
        matches!(run, Presence::PrivateKmeans(_) | Presence::Recentred(_))
    }
}

impl Clustered for Within {
    type Run = NearbyKMeans;

    fn run(
        settings: &ClusterSettings,
        bounds: PublicBox,
        budget: Budget,
    ) -> Result<NearbyKMeans, Error> {
        let wrong = |name, got: String, want| Err(Error::Setting { name, got, want });
        let rho = settings.within.unwrap_or(0.0);
        let Ok(nearby) = Nearby::new(rho) else {
            let want = "a distance in the unit of the columns, finite and above 0: at 0, nothing would be hidden";
            return wrong("--within", plain_number(rho), want);
        };
        if settings.scaled {
            let want = "said with --unscaled, by which all columns count in one unit: a distance is none between years and incomes, \
                        which are to be brought to one scale, by a public rule, first";
            return wrong("--within", format!("{rho} for scaled columns"), want);
        }
        Axis::no_degrees(&settings.axes)?;
        if settings.method != Method::NearbyKmeans {
            let want = "left out with --within, or nearby-kmeans: all others hide whether somebody is there";
            return wrong("--method", settings.method.name().to_owned(), want);
        }
        if let Some(person) = &settings.person {
            let want =
                "left out with --within, as the number of rows is public and each of them a point";
            return wrong("--person", format!("`{person}`"), want);
        }
        let (records, k) = (known(settings.records)?, settings.k);
        let k = k.ok_or_else(|| no_k(settings.method))?;
        NearbyKMeans::new(bounds, nearby, records, k, budget, 0)
            .map_err(|error| Error::library("the plan", &error))
    }

    fn shorter(distance: f64) -> Result<Self, Error> {
        Self::new(distance).map_err(|_| Error::Setting {
            name: "--charge-within",
            got: plain_number(distance),
            want: "a distance in the unit of the columns, finite and above 0",
        })
    }

    fn knows_errors(run: &NearbyKMeans) -> bool {
        run.way() == Way::Whole
    }
}

impl Algorithm for Presence {
    type Relation = AddRemove;
    type Data<'a> = PointsView<'a>;
    type Shape = usize;
    type Output = Clustering;
    type Error = ClusterError;

    fn cost(&self) -> Receipt<AddRemove> {
        match self {
            Self::PrivateKmeans(plan) => plan.receipt(),
            Self::Recentred(plan) => plan.receipt(),
            Self::Dpm(plan) => plan.receipt(),
            Self::Lloyd(plan) => plan.receipt(),
        }
    }

    fn shape(points: &PointsView<'_>) -> usize {
        points.dim()
    }

    fn check(&self, dim: &usize) -> Result<(), ClusterError> {
        match self {
            Self::PrivateKmeans(plan) => plan.check(dim),
            Self::Recentred(plan) => plan.check(dim),
            Self::Dpm(plan) => plan.check(dim),
            Self::Lloyd(plan) => plan.check(dim),
        }
    }

    fn run(&self, points: Private<PointsView<'_>>, draws: &mut Draws<'_>) -> Clustering {
        match self {
            Self::PrivateKmeans(plan) => plan.run(points, draws),
            Self::Recentred(plan) => plan.run(points, draws),
            Self::Dpm(plan) => plan.run(points, draws),
            Self::Lloyd(plan) => plan.run(points, draws),
        }
    }
}

impl<R: Clustered> ClusterPlan<R> {
    const CLUSTERS: &str = "clusters";
    const OUTSIDE: &str = "points outside of each range";
}

impl<R: Clustered> Algorithm for ClusterPlan<R> {
    type Relation = R;
    type Data<'a> = &'a Records;
    type Shape = R::Shape;
    type Output = Clusters;
    type Error = ClusterError;

    fn cost(&self) -> Receipt<R> {
        self.receipt.clone()
    }

    fn shape(records: &&Records) -> R::Shape {
        R::shape(records.points())
    }

    fn check(&self, shape: &R::Shape) -> Result<(), ClusterError> {
        self.run.check(shape)
    }

    fn run(&self, records: Private<&Records>, draws: &mut Draws<'_>) -> Clusters {
        let points = records.map(|records| records.points.view());
        let Some(noise) = self.outside else {
            return Clusters { clustering: self.run.run(points, draws), outside: None };
        };
        let clustering = self.run.run(points, &mut draws.within(Self::CLUSTERS));
        // A point is outside of each column once at most, so one that comes, goes or moves changes each number by one at most.
        let outside = records.map(|records| records.outside.clone());
        let outside = outside.cells(self.settings.axes.len());
        let outside = noise.release(&outside, &mut draws.leaf(Self::OUTSIDE, 0));
        Clusters { clustering, outside: Some(outside) }
    }
}

/// The noise of the numbers of points outside, and what is left of the budget: both as parts of the whole as zCDP, or of epsilon where there is no delta.
fn divided(settings: &ClusterSettings) -> Result<(Option<GeometricSum>, Budget), Error> {
    let budget = settings.budget;
    let Some(share) = settings.outside else { return Ok((None, budget)) };
    if !(share > 0.0 && share < 1.0) {
        let (name, got) = ("--outside", plain_number(share));
        return Err(Error::Setting {
            name,
            got,
            want: "a part of the budget, above 0 and below 1",
        });
    }
    let refuse = |error: &dyn std::fmt::Display| Error::library("--outside", error);
    let (epsilon, delta) = (budget.epsilon().get(), budget.delta());
    let (part, rest) = if delta.get() > 0.0 {
        let rho = whole_rho(budget);
        // A pure loss is at most half of its square as zCDP.
        let left = Rho::new(rho * (1.0 - share)).map_err(|error| refuse(&error))?;
        // Each plan is one Gaussian mechanism, or covered by one, whose own curve is below that of its zCDP: they are asked for what is left as zCDP.
        let mu = Mu::new((2.0 * left.get()).sqrt()).map_err(|error| refuse(&error))?;
        let loss = Loss::Gaussian { mu };
        let Some(rest) = epsilon_of(loss, budget).filter(|rest| *rest > 0.0) else {
            let (name, got) = ("--delta", plain_number(delta.get()));
            let want = "smaller with --outside: at this delta, what it leaves of the budget has no epsilon above 0";
            return Err(Error::Setting { name, got, want });
        };
        ((2.0 * rho * share).sqrt(), rest)
    } else {
        (epsilon * share, epsilon * (1.0 - share))
    };
    // The last digits are for the rounding of a sum of both.
    let [part, rest] = [part, rest].map(|epsilon| epsilon * (1.0 - 1e-6));
    let each = NonZeroU64::new(settings.axes.len() as u64).unwrap_or(NonZeroU64::MIN);
    let part = Epsilon::new(part).map_err(|error| refuse(&error))?;
    let noise = GeometricSum::new(part, each).map_err(|error| refuse(&error))?;
    let rest = Budget::new(rest, delta.get()).map_err(|error| refuse(&error))?;
    Ok((Some(noise), rest))
}

/// The epsilon of a loss at the budget's delta.
fn epsilon_of(loss: Loss, budget: Budget) -> Option<f64> {
    let step = Step::spend("whole", loss);
    let receipt = Receipt::new("whole", AddRemove, budget, step);
    receipt.epsilon().map(Epsilon::get)
}

/// The most zCDP within the budget.
fn whole_rho(budget: Budget) -> f64 {
    let (mut low, mut high) = (0.0, budget.epsilon().get());
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        let epsilon = Rho::new(middle).ok().and_then(|rho| epsilon_of(Loss::from(rho), budget));
        if epsilon.is_some_and(|epsilon| epsilon <= budget.epsilon().get()) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::{Axis, ClusterPlan, ClusterSettings, Clustered, Error, Method};
    use dp_accounting::{AddRemove, Epsilon, Within};
    use dp_cluster::Budget;
    use dp_mechanism::{GeometricSum, Mechanism};
    use std::num::NonZeroU64;

    fn asked(method: Method, delta: f64) -> ClusterSettings {
        let axis = |column: &str| Axis { column: column.to_owned(), low: 0.0, high: 10.0 };
        ClusterSettings {
            axes: ["w", "x", "y", "z"].map(axis).into(),
            person: None,
            k: (method != Method::Dpm).then_some(2),
            at_most: None,
            method,
            scaled: method != Method::NearbyKmeans,
            within: (method == Method::NearbyKmeans).then_some(0.1),
            charged: None,
            records: (method == Method::NearbyKmeans).then_some(100),
            outside: None,
            budget: Budget::new(1.0, delta).unwrap(),
        }
    }

    /// Epsilon, if it is within the budget.
    fn spent(settings: ClusterSettings) -> Result<f64, Error> {
        fn of<R: Clustered>(settings: ClusterSettings) -> Result<f64, Error> {
            let receipt = ClusterPlan::<R>::new(settings)?.receipt();
            assert!(receipt.within_budget());
            Ok(receipt.epsilon().unwrap().get())
        }
        match settings.within {
            Some(_) => of::<Within>(settings),
            None => of::<AddRemove>(settings),
        }
    }

    #[test]
    fn what_is_outside_is_paid_from_the_same_budget() {
        for (method, delta) in
            Method::ALL.map(|(_, method)| (method, 1e-6)).into_iter().chain([(Method::Lloyd, 0.0)])
        {
            for (epsilon, share) in [(0.1, 0.5), (1.0, 0.05), (1.0, 0.9), (8.0, 0.2)] {
                let finds_k = method == Method::PrivateKmeans && epsilon > 0.5;
                // From a map, from noised points, by hiding whole ones.
                for (within, axes) in [(0.1, 3), (0.001, 4), (9.0, 4)] {
                    let asked = asked(method, delta);
                    let settings = ClusterSettings {
                        axes: asked.axes[..axes].to_vec(),
                        k: asked.k.filter(|_| !finds_k),
                        at_most: finds_k.then_some(9),
                        within: asked.within.map(|_| within),
                        budget: Budget::new(epsilon, delta).unwrap(),
                        ..asked
                    };
                    let paid =
                        |share| spent(ClusterSettings { outside: Some(share), ..settings.clone() });
                    let spent = paid(share).unwrap();
                    assert!(spent > 0.4 * epsilon, "{method:?} {epsilon} {share}: {spent}");
                    assert!(
                        [0.0, -0.5, 1.0, f64::NAN].into_iter().all(|share| paid(share).is_err())
                    );
                    if method != Method::NearbyKmeans {
                        break;
                    }
                }
            }
        }
    }

    /// What a distance needs, and what has none: each is refused under its flag.
    #[test]
    fn a_distance_is_in_one_unit_and_of_a_public_number_of_rows() {
        let good = asked(Method::NearbyKmeans, 1e-6);
        assert!(spent(good.clone()).unwrap() <= 1.0);
        let columns = |name: &str| {
            let axis = Axis { column: name.to_owned(), low: 0.0, high: 10.0 };
            [vec![axis], good.axes[1..].to_vec()].concat()
        };
        let of = |within| ClusterSettings { within: Some(within), ..good.clone() };
        let wrong = [
            ("--within", of(0.0)),
            ("--within", of(-1.0)),
            ("--within", of(f64::NAN)),
            ("--within", of(f64::INFINITY)),
            ("--within", ClusterSettings { scaled: true, ..good.clone() }),
            ("--range", ClusterSettings { axes: columns("Lat"), ..good.clone() }),
            ("--method", ClusterSettings { method: Method::Lloyd, ..good.clone() }),
            ("--person", ClusterSettings { person: Some("who".to_owned()), ..good.clone() }),
            ("--rows", ClusterSettings { records: None, ..good.clone() }),
            ("--k", ClusterSettings { k: None, ..good.clone() }),
            ("--at-most", ClusterSettings { k: None, at_most: Some(3), ..good.clone() }),
            ("--method", ClusterSettings { within: None, ..good.clone() }),
        ];
        for (name, settings) in wrong {
            let error = spent(settings).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{name} must be ")), "{name}: {error}");
        }
        // A plan that was changed by hand is of the other relation, or of none.
        assert!(ClusterPlan::<AddRemove>::new(good).is_err());
        assert!(ClusterPlan::<Within>::new(asked(Method::PrivateKmeans, 1e-6)).is_err());
    }

    /// A record may be outside of every range, and changes the count of each.
    #[test]
    fn noise_of_what_is_outside_is_for_all_columns_at_once() {
        let all = ClusterSettings { outside: Some(0.5), ..asked(Method::Lloyd, 0.0) };
        let columns = NonZeroU64::new(all.axes.len() as u64).unwrap();
        let noise = ClusterPlan::<AddRemove>::new(all).unwrap().outside_noise().unwrap();
        let epsilon = Epsilon::new(0.5 * (1.0 - 1e-6)).unwrap();
        let want = GeometricSum::new(epsilon, columns).unwrap();
        assert!((noise.variance() / want.variance() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_delta_that_leaves_nothing_is_named() {
        let error = spent(ClusterSettings {
            outside: Some(0.5),
            ..asked(Method::PrivateKmeans, 0.999_999)
        });
        let error = error.unwrap_err().to_string();
        assert!(error.starts_with("--delta must be smaller"), "{error}");
    }
}

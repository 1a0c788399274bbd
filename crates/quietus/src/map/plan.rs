//! What is asked for, and the mechanism that does it.

use crate::cluster::Axis;
use crate::error::Error;
use dp_accounting::ReplaceOne;
use dp_accounting::Within;
use dp_cluster::map::{MapRelation, PrivateMap, PrivateMapSettings, ReleasedMap};
use dp_cluster::{AddRemove, Budget, ClusterError, PointsView, PublicBox, Receipt};
use dp_mechanism::{Algorithm, Draws, Mechanism, Nearby, Private};
use serde::{Deserialize, Serialize};

/// What a column counts in. Distances are in metres, in plans, receipts and ledgers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Metres.
    M,
    /// Kilometres.
    Km,
}

impl Unit {
    /// In metres.
    pub fn metres(self) -> f64 {
        match self {
            Self::M => 1.0,
            Self::Km => 1000.0,
        }
    }
}

/// All that is public.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "R: Hides")]
pub struct MapSettings<R: Hides> {
    /// The columns that make a place, all in the same unit.
    pub axes: Vec<Axis>,
    /// What they count in.
    pub unit: Unit,
    /// What is hidden; a distance is in metres.
    pub relation: R,
    /// The smaller distance that the release is charged for, as its ledger is about that: who hides more hides less too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charged: Option<R>,
    /// The column that says whose row it is.
    pub person: Option<String>,
    /// How many rows there are: public where nobody comes or goes, else perhaps about known.
    pub records: Option<u64>,
    /// Numbers of centres.
    pub k: Vec<usize>,
    /// Whether centres are as near as can be, and not as near in squares.
    pub median: bool,
    /// What may be spent.
    pub budget: Budget,
}

/// What a map can hide.
pub trait Hides: MapRelation {
    /// A map that hides this.
    ///
    /// # Errors
    /// Names the setting and its limits.
    fn map(
        self,
        bounds: PublicBox,
        records: Option<u64>,
        budget: Budget,
    ) -> Result<PrivateMap<Self>, Error>;

    /// The same release, charged for less.
    ///
    /// # Errors
    /// If it is not less.
    fn charged_as(receipt: Receipt<Self>, less: Self) -> Result<Receipt<Self>, Error>;

    /// For the report: what is hidden, and what is not. Distances are in this unit.
    fn in_words(self, unit: &str) -> String;
}

fn refuse(error: &ClusterError) -> Error {
    Error::library("the plan", error)
}

/// Where nobody comes or goes the number of rows is public.
pub(crate) fn known(records: Option<u64>) -> Result<u64, Error> {
    records.ok_or_else(|| Error::Setting {
        name: "--rows",
        got: "nothing".to_owned(),
        want: "the public number of rows, as only what a row says is hidden",
    })
}

/// No other relation has a smaller one that a release could be charged for.
pub(crate) fn only_distances<T>() -> Result<T, Error> {
    let (name, got) = ("--charge-within", "another kind of release".to_owned());
    Err(Error::Setting { name, got, want: "with --within alone" })
}

impl Hides for AddRemove {
    fn map(
        self,
        bounds: PublicBox,
        records: Option<u64>,
        budget: Budget,
    ) -> Result<PrivateMap<Self>, Error> {
        let settings = PrivateMapSettings { expected_records: records, ..Default::default() };
        PrivateMap::add_remove(bounds, budget, settings).map_err(|error| refuse(&error))
    }

    fn charged_as(_: Receipt<Self>, _: Self) -> Result<Receipt<Self>, Error> {
        only_distances()
    }

    fn in_words(self, _: &str) -> String {
        "Hidden: whether anybody is in the file, and where. Not hidden: nothing of a single one."
            .to_owned()
    }
}

impl Hides for ReplaceOne {
    fn map(
        self,
        bounds: PublicBox,
        records: Option<u64>,
        budget: Budget,
    ) -> Result<PrivateMap<Self>, Error> {
        PrivateMap::replace_one(bounds, known(records)?, budget, PrivateMapSettings::default())
            .map_err(|error| refuse(&error))
    }

    fn charged_as(_: Receipt<Self>, _: Self) -> Result<Receipt<Self>, Error> {
        only_distances()
    }

    fn in_words(self, _: &str) -> String {
        "Hidden: where anybody is, however far away it might be. Not hidden: how many rows there are."
            .to_owned()
    }
}

impl Hides for Within {
    fn map(
        self,
        bounds: PublicBox,
        records: Option<u64>,
        budget: Budget,
    ) -> Result<PrivateMap<Self>, Error> {
        let nearby = Nearby::new(self.rho());
        let nearby = nearby.map_err(|error| Error::library("--within", &error))?;
        PrivateMap::within(bounds, nearby, known(records)?, budget, PrivateMapSettings::default())
            .map_err(|error| refuse(&error))
    }

    fn charged_as(receipt: Receipt<Self>, less: Self) -> Result<Receipt<Self>, Error> {
        receipt.for_shorter(less).map_err(|error| Error::library("--charge-within", &error))
    }

    fn in_words(self, unit: &str) -> String {
        format!(
            "Hidden: where anybody is, to within {} {unit}; a row that lay so far away would have given much the same release. \
             Not hidden: that somebody is in the file, how many rows there are, and where everybody is as far as places farther apart are told from each \
             other.",
            self.rho()
        )
    }
}

/// A release of a map.
///
/// # Guarantee
/// That of [`PrivateMap`]: the budget, under `R`, with distances in metres.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "MapSettings<R>", into = "MapSettings<R>", bound = "R: Hides")]
pub struct MapPlan<R: Hides> {
    settings: MapSettings<R>,
    map: PrivateMap<R>,
    receipt: Receipt<R>,
}

impl<R: Hides> TryFrom<MapSettings<R>> for MapPlan<R> {
    type Error = Error;

    fn try_from(settings: MapSettings<R>) -> Result<Self, Error> {
        Self::new(settings)
    }
}

impl<R: Hides> From<MapPlan<R>> for MapSettings<R> {
    fn from(plan: MapPlan<R>) -> Self {
        plan.settings
    }
}

impl<R: Hides> MapPlan<R> {
    /// Checks all settings.
    ///
    /// # Errors
    /// Names the setting and its limits.
    pub fn new(settings: MapSettings<R>) -> Result<Self, Error> {
        Axis::no_degrees(&settings.axes)?;
        Axis::check(&settings.axes)?;
        let metres = settings.unit.metres();
        let ends = |of: fn(&Axis) -> f64| settings.axes.iter().map(|a| of(a) * metres).collect();
        let bounds = PublicBox::new(ends(|axis| axis.low), ends(|axis| axis.high));
        let bounds = bounds.map_err(|error| Error::library("--range", &error))?;
        if let Some(k) = settings.k.iter().find(|k| !(1..=MOST_CENTRES).contains(*k)) {
            let (name, got) = ("--k", k.to_string());
            return Err(Error::Setting { name, got, want: "1 to 1000 centres" });
        }
        if let Some(person) = settings.person.as_ref().filter(|_| R::PUBLIC_SIZE) {
            let want = "left out where the number of rows is public, as each of them is a point";
            return Err(Error::Setting { name: "--person", got: format!("`{person}`"), want });
        }
        let map = settings.relation.map(bounds, settings.records, settings.budget)?;
        let receipt = match settings.charged {
            None => map.receipt(),
            Some(less) => R::charged_as(map.receipt(), less)?,
        };
        Ok(Self { settings, map, receipt })
    }

    /// What was asked for.
    pub fn settings(&self) -> &MapSettings<R> {
        &self.settings
    }

    /// The map alone.
    pub(super) fn map(&self) -> &PrivateMap<R> {
        &self.map
    }
}

/// What a column of a map must be.
pub(crate) const NO_DEGREES: &str = "a distance on the ground: degrees are none, a degree of longitude is shorter the further from the equator; \
     project the places first, by a public rule such as UTM";

/// Centres for one number of them.
const MOST_CENTRES: usize = 1000;

impl<R: Hides> Algorithm for MapPlan<R> {
    type Relation = R;
    type Data<'a> = PointsView<'a>;
    type Shape = R::Shape;
    type Output = ReleasedMap;
    type Error = ClusterError;

    fn cost(&self) -> Receipt<R> {
        self.receipt.clone()
    }

    fn shape(points: &PointsView<'_>) -> R::Shape {
        R::shape(*points)
    }

    fn check(&self, shape: &R::Shape) -> Result<(), ClusterError> {
        self.map.check(shape)
    }

    fn run(&self, points: Private<PointsView<'_>>, draws: &mut Draws<'_>) -> ReleasedMap {
        self.map.run(points, draws)
    }
}

#[cfg(test)]
mod tests {
    use super::{AddRemove, Axis, Hides, MapPlan, MapSettings, ReplaceOne, Unit, Within};
    use dp_accounting::Budget;

    /// Rows that are left out, as those of nobody, would change a number that is public.
    #[test]
    fn whose_row_it_is_is_not_asked_where_every_row_is_a_point() {
        fn said<R: Hides>(relation: R, person: Option<&str>) -> Result<(), String> {
            let plan = MapPlan::new(MapSettings {
                axes: ["x", "y"]
                    .map(|name| Axis { column: name.to_owned(), low: 0.0, high: 9.0 })
                    .to_vec(),
                unit: Unit::Km,
                relation,
                charged: None,
                person: person.map(str::to_owned),
                records: Some(90),
                k: vec![3],
                median: false,
                budget: Budget::new(1.0, 1e-6).unwrap(),
            });
            plan.map(drop).map_err(|error| error.to_string())
        }
        assert_eq!(said(AddRemove, Some("who")), Ok(()));
        for relation in
            [said(ReplaceOne, Some("who")), said(Within::new(5.0).unwrap(), Some("who"))]
        {
            let error = relation.unwrap_err();
            assert!(
                error.contains("--person") && error.contains("each of them is a point"),
                "{error}"
            );
        }
        assert_eq!(
            (said(ReplaceOne, None), said(Within::new(5.0).unwrap(), None)),
            (Ok(()), Ok(()))
        );
    }

    #[test]
    fn every_relation_says_what_it_hides_and_what_not() {
        let words = [
            AddRemove.in_words("metres"),
            ReplaceOne.in_words("metres"),
            Within::new(250.0).unwrap().in_words("metres"),
        ];
        for words in &words {
            assert!(words.starts_with("Hidden: ") && words.contains(". Not hidden: "), "{words}");
        }
        assert!(
            words[1].contains("however far away") && words[1].ends_with("how many rows there are.")
        );
        assert!(words[2].contains("within 250 metres"));
    }
}

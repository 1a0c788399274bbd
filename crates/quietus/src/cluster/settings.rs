//! What is asked for: all of it is public.

use dp_cluster::Budget;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::map::NO_DEGREES;

/// A column and its public bounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// Its name.
    pub column: String,
    /// Numbers below count as this,
    pub low: f64,
    /// and numbers above as this.
    pub high: f64,
}

/// Names of columns that hold degrees.
const DEGREES: [&str; 6] = ["lat", "latitude", "lon", "long", "lng", "longitude"];

impl Axis {
    /// Refuses columns of degrees, by their names.
    pub(crate) fn no_degrees(axes: &[Self]) -> Result<(), Error> {
        let named = |axis: &&Self| DEGREES.contains(&axis.column.to_lowercase().as_str());
        match axes.iter().find(named) {
            Some(Self { column, .. }) => {
                let (name, got) = ("--range", format!("`{column}`"));
                Err(Error::Setting { name, got, want: NO_DEGREES })
            }
            None => Ok(()),
        }
    }

    /// Refuses a column that is named twice, and bounds that are none.
    pub(crate) fn check(axes: &[Self]) -> Result<(), Error> {
        for (place, axis) in axes.iter().enumerate() {
            let Self { column, low, high } = axis;
            let refuse = |want| {
                let got = format!("`{column}={low},{high}`");
                Err(Error::Setting { name: "--range", got, want })
            };
            if axes[..place].iter().any(|before| before.column == *column) {
                return refuse("given once for each column");
            }
            if !(low.is_finite() && high.is_finite() && low < high) {
                return refuse("two finite numbers, the lower one first");
            }
        }
        Ok(())
    }
}

/// Which mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The plan that chooses its own steps, for a number of clusters or for as many as there are.
    PrivateKmeans,
    /// The cuts of DPM, then rounds that move centres to where the points are.
    Recentred,
    /// The cuts of DPM alone.
    Dpm,
    /// Lloyd's iteration with noise; needs no delta, but a number of clusters.
    Lloyd,
    /// What hides how far a point is from where it says: from a map, from noised points, or by hiding whole ones.
    NearbyKmeans,
}

impl Method {
    /// All of them, with their names.
    pub const ALL: [(&str, Self); 5] = [
        ("private-kmeans", Self::PrivateKmeans),
        ("recentred", Self::Recentred),
        ("dpm", Self::Dpm),
        ("lloyd", Self::Lloyd),
        ("nearby-kmeans", Self::NearbyKmeans),
    ];

    /// What it is called.
    pub(super) fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, known)| *known == self).map_or("", |(name, _)| name)
    }

    /// What suits best, by what is public alone.
    pub(super) fn auto(within: Option<f64>, delta: f64) -> Self {
        match within {
            Some(_) => Self::NearbyKmeans,
            None if delta > 0.0 => Self::PrivateKmeans,
            None => Self::Lloyd,
        }
    }
}

/// All that is public.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterSettings {
    /// The columns that make a point.
    pub axes: Vec<Axis>,
    /// The column that says whose row it is; without it each is of somebody else.
    pub person: Option<String>,
    /// How many clusters; without it the mechanism finds how many there are.
    pub k: Option<usize>,
    /// Of at most how many it does so, if it is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<usize>,
    /// How.
    pub method: Method,
    /// Whether a range counts as long as another, however it is measured; centres are released in the columns' own units.
    pub scaled: bool,
    /// Up to which distance it is hidden where a point is, in the unit of the columns; without it, whether it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<f64>,
    /// The smaller distance that the release is charged for, as its ledger is about that: who hides more hides less too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charged: Option<f64>,
    /// How many points there are: exactly, where it is hidden up to a distance where they are. Else about how many, if that is public; it
    /// decides how the budget is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub records: Option<u64>,
    /// The part of the budget that pays for how many points are outside of the bounds, column by column; without it nobody is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outside: Option<f64>,
    /// What may be spent.
    pub budget: Budget,
}

impl ClusterSettings {
    /// A number of a column as the mechanism takes it.
    pub(super) fn inwards(&self, axis: usize, value: f64) -> f64 {
        let Axis { low, high, .. } = self.axes[axis];
        let value = value.clamp(low, high);
        if self.scaled { (value - low) / (high - low) } else { value }
    }

    /// The range of a column as the mechanism takes it.
    pub(super) fn ends(&self, axis: usize) -> [f64; 2] {
        let Axis { low, high, .. } = self.axes[axis];
        [low, high].map(|end| self.inwards(axis, end))
    }

    /// A length along an axis in the unit of its column.
    pub(super) fn length(&self, axis: usize, released: f64) -> f64 {
        let Axis { low, high, .. } = self.axes[axis];
        if self.scaled { released * (high - low) } else { released }
    }

    /// A released coordinate in the unit of its column.
    pub(super) fn outwards(&self, axis: usize, released: f64) -> f64 {
        let Axis { low, high, .. } = self.axes[axis];
        if self.scaled { low + released * (high - low) } else { released }
    }
}

//! What is asked for, what it costs, and the draws.

use crate::error::Error;
use dp_accounting::{AddRemove, Budget, Epsilon, Receipt, Step};
use dp_geometry::{FixedPointGrid, PublicBox};
use dp_mechanism::{Algorithm, Draws, GeometricSum, Private};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU64;

/// What is released about each group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Measure {
    /// How many records.
    Count,
    /// How many records in each of so many equal parts of a range.
    Histogram {
        /// Which column.
        column: String,
        /// Public: where the range begins and ends.
        bounds: (f64, f64),
        /// How many parts.
        bins: u32,
    },
    /// How many records, and the mean of a column.
    Mean {
        /// Which column.
        column: String,
        /// Public: numbers outside count as the closer end.
        bounds: (f64, f64),
    },
}

impl Measure {
    /// Its name on the command line.
    pub fn family(&self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Histogram { .. } => "histogram",
            Self::Mean { .. } => "mean",
        }
    }

    /// The column whose numbers are read.
    pub fn column(&self) -> Option<&str> {
        match self {
            Self::Count => None,
            Self::Histogram { column, .. } | Self::Mean { column, .. } => Some(column),
        }
    }
}

/// All that is public.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupSettings {
    /// The column that says of which group a record is; without it all are of one.
    pub by: Option<String>,
    /// The column that says whose record it is; without it each is of somebody else.
    pub person: Option<String>,
    /// The groups there are, from elsewhere than the records; one without a name if there is no `by`.
    pub groups: Vec<String>,
    /// What is released about each.
    pub measure: Measure,
    /// Whether the column holds dates, YYYY-MM-DD; bounds are then days since 1970-01-01.
    #[serde(default)]
    pub dates: bool,
    /// Pure differential privacy.
    pub epsilon: f64,
}

/// Cells that a release may have.
const MOST_CELLS: usize = 1 << 24;

/// Into how many steps the range of a mean is cut.
const STEPS: u32 = 1 << 20;

/// A release of counts, histograms or means.
///
/// # Guarantee
/// `epsilon`-DP under [`AddRemove`]: one record, or all rows of one person where there is a column that names them, changes one count by 1
/// and one sum by at most the number of steps that half of the range has.
///
/// # Utility
/// Every count is unbiased with variance near `2 / epsilon^2`; with a mean, counts take a quarter of epsilon and sums the rest.
///
/// # Complexity
/// One draw per cell, two with means; memory for the cells.
///
/// # Source
/// Dwork, McSherry, Nissim, Smith (2006), Section 3; the noise is that of Ghosh, Roughgarden, Sundararajan (2009).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "GroupSettings", into = "GroupSettings")]
pub struct GroupPlan {
    settings: GroupSettings,
    count: GeometricSum,
    sum: Option<GeometricSum>,
    budget: Budget,
    /// Of a histogram its bins, of a mean its steps.
    grid: Option<FixedPointGrid>,
    places: BTreeMap<String, usize>,
}

impl TryFrom<GroupSettings> for GroupPlan {
    type Error = Error;

    fn try_from(settings: GroupSettings) -> Result<Self, Error> {
        Self::new(settings)
    }
}

impl From<GroupPlan> for GroupSettings {
    fn from(plan: GroupPlan) -> Self {
        plan.settings
    }
}

/// The table of one data set: private.
#[derive(Clone, Default, PartialEq)]
pub struct Tally {
    counts: Vec<i64>,
    pub(super) sums: Vec<i64>,
}

impl fmt::Debug for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tally").finish_non_exhaustive()
    }
}

/// What was drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Noisy {
    /// Of each group and bin.
    pub counts: Vec<i64>,
    /// Of each group, in steps from the middle of the range; empty without a mean.
    pub sums: Vec<i64>,
}

impl GroupPlan {
    const COUNTS: &str = "counts";
    const SUMS: &str = "sums";

    /// Checks all settings.
    ///
    /// # Errors
    /// Names the setting and its limits.
    pub fn new(settings: GroupSettings) -> Result<Self, Error> {
        let budget = Budget::new(settings.epsilon, 0.0)
            .map_err(|error| Error::library("--epsilon", &error))?;
        let (bins, grid) = match &settings.measure {
            Measure::Count => (1, None),
            Measure::Histogram { bounds, bins, .. } => {
                (*bins, Some(grid(*bounds, *bins, "--bins")?))
            }
            Measure::Mean { bounds, .. } => (1, Some(grid(*bounds, STEPS, "--bounds")?)),
        };
        let places = places(&settings.groups)?;
        let cells = settings.groups.len().saturating_mul(bins as usize);
        if !(1..=MOST_CELLS).contains(&cells) {
            let (name, got) = ("groups times bins", cells.to_string());
            return Err(Error::Setting { name, got, want: "1 to 16777216 cells" });
        }
        let noise = |share: f64, length: u32| {
            let length = NonZeroU64::new(length.into()).expect("at least one step");
            let epsilon = Epsilon::new(settings.epsilon * share);
            let epsilon = epsilon.map_err(|error| Error::library("--epsilon", &error))?;
            let sum = GeometricSum::new(epsilon, length);
            sum.map_err(|error| Error::library("--epsilon", &error))
        };
        let (count, sum) = match settings.measure {
            Measure::Mean { .. } => (noise(0.25, 1)?, Some(noise(0.75, STEPS - 1)?)),
            _ => (noise(1.0, 1)?, None),
        };
        Ok(Self { settings, count, sum, budget, grid, places })
    }

    /// What was asked for.
    pub fn settings(&self) -> &GroupSettings {
        &self.settings
    }

    /// Parts of each group.
    pub fn bins(&self) -> usize {
        match self.settings.measure {
            Measure::Histogram { bins, .. } => bins as usize,
            _ => 1,
        }
    }

    /// Counts that are released.
    pub fn cells(&self) -> usize {
        self.settings.groups.len() * self.bins()
    }

    /// The noise of counts, and of sums.
    pub(super) fn noise(&self) -> (GeometricSum, Option<GeometricSum>) {
        (self.count, self.sum)
    }

    pub(super) fn grid(&self) -> Option<&FixedPointGrid> {
        self.grid.as_ref()
    }

    /// The most that one record moves a sum, either way from the middle of the range.
    pub(super) const HALF: i64 = STEPS as i64 - 1;

    /// A table of nobody.
    pub fn tally(&self) -> Tally {
        let sums = if self.sum.is_some() { self.settings.groups.len() } else { 0 };
        Tally { counts: vec![0; self.cells()], sums: vec![0; sums] }
    }

    /// Where a group is; `None` if there is none of this name.
    pub fn group(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    /// One record more: its group, and its number if one is asked for. What is missing leaves it out; whether it was counted is private.
    pub fn add(&self, tally: &mut Tally, group: Option<usize>, value: Option<f64>) -> bool {
        let Some(group) = group.filter(|group| *group < self.settings.groups.len()) else {
            return false;
        };
        let (mut place, mut steps) = (group * self.bins(), 0);
        if let Some(grid) = &self.grid {
            let Some(value) = value.filter(|value| !value.is_nan()) else { return false };
            let cell = grid.cell(0, value);
            match self.sum {
                None => place += cell as usize,
                Some(_) => steps = 2 * i64::from(cell) - Self::HALF,
            }
        }
        tally.counts[place] = tally.counts[place].saturating_add(1);
        if let Some(sum) = tally.sums.get_mut(group) {
            *sum = sum.saturating_add(steps);
        }
        true
    }
}

impl Algorithm for GroupPlan {
    type Relation = AddRemove;
    type Data<'a> = &'a Tally;
    type Shape = (usize, usize);
    type Output = Noisy;
    type Error = Error;

    fn cost(&self) -> Receipt<AddRemove> {
        let counts = Step::spend(Self::COUNTS, self.count.loss());
        let spent = match self.sum {
            None => counts,
            Some(sum) => {
                Step::sequential("mean", vec![counts, Step::spend(Self::SUMS, sum.loss())])
            }
        };
        let name = format!("quietus-{}", self.settings.measure.family());
        Receipt::new(name, AddRemove, self.budget, spent)
    }

    fn shape(data: &&Tally) -> (usize, usize) {
        (data.counts.len(), data.sums.len())
    }

    fn check(&self, shape: &(usize, usize)) -> Result<(), Error> {
        let Tally { counts, sums } = self.tally();
        if *shape == (counts.len(), sums.len()) {
            return Ok(());
        }
        let reason =
            format!("{shape:?} counts and sums, the plan has {}, {}", counts.len(), sums.len());
        Err(Error::Library { what: "the table", reason })
    }

    fn run(&self, data: Private<&Tally>, draws: &mut Draws<'_>) -> Noisy {
        let counts = data.map(|tally| tally.counts.clone()).cells(self.cells());
        let counts = self.count.release(&counts, &mut draws.leaf(Self::COUNTS, 0));
        let sums = self.sum.map(|noise| {
            let sums = data.map(|tally| tally.sums.clone()).cells(self.settings.groups.len());
            noise.release(&sums, &mut draws.leaf(Self::SUMS, 0))
        });
        Noisy { counts, sums: sums.unwrap_or_default() }
    }
}

fn grid((low, high): (f64, f64), cells: u32, name: &'static str) -> Result<FixedPointGrid, Error> {
    let bounds = PublicBox::new(vec![low], vec![high]);
    let bounds = bounds.map_err(|error| Error::library("--bounds", &error))?;
    FixedPointGrid::new(bounds, cells).map_err(|error| Error::library(name, &error))
}

fn places(groups: &[String]) -> Result<BTreeMap<String, usize>, Error> {
    let mut places = BTreeMap::new();
    for (place, name) in groups.iter().enumerate() {
        if places.insert(name.clone(), place).is_some() {
            let reason = format!("`{name}` is there twice");
            return Err(Error::Library { what: "the groups", reason });
        }
    }
    Ok(places)
}

//! Tables for run times: the zones of a city, and as many columns as asked for.

use crate::error::Error;
use crate::eval::census::solvers::Shape;
use crate::eval::settings::Effort;
use dp_census::{From0, GroupSizes, Hierarchy};
use quietus_datasets::nation::Scale;
use quietus_datasets::seed::named_rng;
use quietus_datasets::sets::census::{Dataset, Origin, Recipe};
use rand::RngExt;

pub(super) const ID: &str = "census-scaling";
/// The numbers of the taxi data of the paper: 13,282 groups in 263 zones of 6 boroughs.
pub(super) const GROUPS: i64 = 13_282;
pub(super) const REGIONS_BY_LEVEL: [usize; 3] = [1, 6, 263];
pub(super) const EPSILON: f64 = 0.1;

/// Beyond this, a general solver takes minutes.
pub(super) const MOST_COLUMNS_OF_A_GENERAL_SOLVER: usize = 200;

/// Numbers of columns: those of the paper's figure, and where they go on in practice.
pub(super) fn columns(effort: Effort) -> Vec<usize> {
    let mut columns = vec![5, 10, 20, 30, 40, 50];
    if effort != Effort::Quick {
        columns.extend([200, 1_000, 5_000]);
    }
    columns
}

pub(super) fn variant(columns: usize) -> String {
    format!("N = {columns}")
}

/// The zones of the city.
pub(super) fn city(columns: usize) -> Shape {
    let [_, middle, leaves] = REGIONS_BY_LEVEL;
    Shape { middle, leaves, columns }
}

/// Groups in random zones with uniform sizes.
pub(super) fn table(shape: Shape) -> Result<Dataset, Error> {
    let Shape { middle: boroughs, leaves: zones, columns } = shape;
    let name =
        |zone: usize| (format!("zone {zone}"), format!("borough {}", zone * boroughs / zones));
    let zone_names: Vec<(String, String)> = (0..zones).map(name).collect();
    let borough_names: Vec<String> = (0..boroughs).map(|i| format!("borough {i}")).collect();
    let above = borough_names.iter().map(|borough| (borough.as_str(), Some("city")));
    let below = zone_names.iter().map(|(zone, borough)| (zone.as_str(), Some(borough.as_str())));
    let hierarchy = Hierarchy::new([("city", None)].into_iter().chain(above).chain(below))?;
    let mut rng = named_rng(&[ID, &columns.to_string()]);
    let mut counts = vec![0; zones * columns];
    for _ in 0..GROUPS {
        counts[rng.random_range(0..zones) * columns + rng.random_range(0..columns)] += 1;
    }
    let largest = u32::try_from(columns - 1).unwrap_or(u32::MAX);
    let bins = From0::up_to(largest)?;
    let sizes = GroupSizes::from_table(bins, counts)?;
    // Only its id and its columns are looked at.
    let origin = Origin::Nation(Scale { states: 0, counties: 0, groups: 0, largest });
    let recipe = Recipe { id: ID, origin, groups: GROUPS, largest, levels: &[], who: "", units: 1 };
    Ok(Dataset::new(recipe, hierarchy, sizes)?)
}

//! Tables of groups in regions: a made-up nation and three public data sets.

use super::Shelf;
use crate::Error;
use crate::files;
use crate::nation::{self, Scale};
use dp_census::{From0, GroupDirectory, GroupSizes, Hierarchy};
use quietus::table::{TableError, TableProblem, for_each_row};
use sha2::{Digest, Sha256};
use std::num::NonZeroU32;
use std::path::PathBuf;

/// A data set before it is read: everything here is public.
#[derive(Clone, Copy, Debug)]
pub struct Recipe {
    /// Its name.
    pub id: &'static str,
    /// Where its tables come from.
    pub origin: Origin,
    /// Number of groups.
    pub groups: i64,
    /// The size at which the last column begins.
    pub largest: u32,
    /// Names of the levels and how many regions they have, the widest first.
    pub levels: &'static [(&'static str, usize)],
    /// Who is a group and who is protected, in a sentence.
    pub who: &'static str,
    /// Work of one cell, roughly; only ratios matter.
    pub units: u64,
}

/// Where a data set comes from.
#[derive(Clone, Copy, Debug)]
pub enum Origin {
    /// Made up, of this size.
    Nation(Scale),
    /// Households by size in Australian areas, as a table.
    Areas,
    /// One row per household in a part of Oregon.
    Households,
    /// One row per trip; a group is an hour in a zone.
    Trips,
}

const HOUSEHOLD: &str = "A group is a household, and the individual is a person who lives in it.";

/// The made-up nation.
pub const NATION: Recipe = Recipe {
    id: nation::ID,
    origin: Origin::Nation(nation::WHOLE),
    groups: nation::WHOLE.groups,
    largest: nation::WHOLE.largest,
    levels: &[("nation", 1), ("states", 52), ("counties", 3_144)],
    who: HOUSEHOLD,
    units: 3_200,
};
/// One of a tenth of its size.
pub const TENTH: Recipe = Recipe {
    id: "census-synthetic-tenth",
    origin: Origin::Nation(nation::TENTH),
    groups: nation::TENTH.groups,
    largest: nation::TENTH.largest,
    levels: &[("nation", 1), ("states", 12), ("counties", 314)],
    who: HOUSEHOLD,
    units: 66,
};
/// Those that are read from files.
pub const PUBLIC: [Recipe; 3] = [
    Recipe {
        id: "households_au_lga",
        origin: Origin::Areas,
        groups: 8_284_551,
        largest: 8,
        levels: &[("nation", 1), ("states", 8), ("areas", 551)],
        who: HOUSEHOLD,
        units: 5,
    },
    Recipe {
        id: "households_pums_oregon",
        origin: Origin::Households,
        groups: 4_841,
        largest: 20,
        levels: &[("area", 1)],
        who: HOUSEHOLD,
        units: 1,
    },
    Recipe {
        id: "nyc_green_2022_01",
        origin: Origin::Trips,
        groups: 265 * HOURS,
        largest: 60,
        levels: &[("city", 1), ("boroughs", 7), ("zones", 265)],
        who: "A group is an hour in a zone, and the individual is a trip that begins there and then, not a rider: whoever takes \
              several trips is protected for each of them alone.",
        units: 28,
    },
];

impl Recipe {
    /// How many regions each level has.
    pub fn regions_by_level(&self) -> Vec<usize> {
        self.levels.iter().map(|(_, regions)| *regions).collect()
    }

    /// Whether its files seem to be there.
    ///
    /// # Errors
    /// If the manifest does not know it.
    pub fn is_here(&self, shelf: &Shelf<'_>) -> Result<bool, Error> {
        if matches!(self.origin, Origin::Nation(_)) {
            return Ok(true);
        }
        let set = shelf.manifest.set(self.id)?;
        Ok(set.files.iter().all(|file| shelf.folder.join(&file.path).is_file()))
    }
}

/// Hours of January.
const HOURS: i64 = 744;

/// A data set in memory.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// What it was made from.
    pub recipe: Recipe,
    /// Public.
    pub hierarchy: Hierarchy,
    /// Public: the columns.
    pub bins: From0,
    /// The table of the lowest level.
    pub sizes: GroupSizes,
    /// The table of all regions.
    pub totals: Vec<i64>,
    /// SHA-256 of the table of the lowest level.
    pub checksum: String,
}

impl Dataset {
    /// A table with what is known of it.
    ///
    /// # Errors
    /// For no column, or a table of other regions.
    pub fn new(recipe: Recipe, hierarchy: Hierarchy, sizes: GroupSizes) -> Result<Self, Error> {
        let bins = From0::up_to(recipe.largest).map_err(|error| refused(&error))?;
        let totals = sizes.exact_totals(hierarchy.tree()).map_err(|error| refused(&error))?;
        let mut hash = Sha256::new();
        sizes.counts().iter().for_each(|count| hash.update(count.to_le_bytes()));
        let checksum = files::hex(&hash.finalize());
        Ok(Self { recipe, hierarchy, bins, sizes, totals, checksum })
    }
}

/// Reads or generates it; `None` if its files are not here.
///
/// # Errors
/// If there is no such set, its files are not those of the manifest, or its tables are not as announced.
pub fn read(recipe: Recipe, shelf: &Shelf<'_>) -> Result<Option<Dataset>, Error> {
    let file = |path| {
        let found = shelf.bytes(recipe.id, path)?;
        Ok::<_, Error>(found.map(|(bytes, path)| File { path, bytes }))
    };
    let made = match recipe.origin {
        Origin::Nation(scale) => Some(nation::generate(scale, nation::SEED)?),
        Origin::Areas => file(None)?.map(|file| areas(&file)).transpose()?,
        Origin::Households => {
            file(None)?.map(|file| households(&file, recipe.largest)).transpose()?
        }
        Origin::Trips => {
            let both = file(None)?.zip(file(Some("nyc_green_2022_01/taxi_zones.csv.gz"))?);
            both.map(|(rows, zones)| trips(&rows, &zones, recipe.largest)).transpose()?
        }
    };
    let Some((hierarchy, sizes)) = made else { return Ok(None) };
    let dataset = Dataset::new(recipe, hierarchy, sizes)?;
    let count = |groups: i64| usize::try_from(groups).unwrap_or_default();
    let groups = (count(dataset.sizes.groups()), count(recipe.groups));
    let tree = dataset.hierarchy.tree();
    let regions = (tree.len(), recipe.regions_by_level().iter().sum());
    // What is public must be as announced; true epsilons are computed from it.
    let differs = [groups, regions].into_iter().find(|(got, want)| got != want);
    let Some((got, want)) = differs else { return Ok(Some(dataset)) };
    let problem = TableProblem::Rows { got, want };
    Err(TableError { path: PathBuf::from(recipe.id), line: 0, problem }.into())
}

/// A file of the manifest whose checksum is right.
struct File {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl File {
    fn rows(&self, columns: &[&str], visit: impl FnMut(&[i64])) -> Result<usize, Error> {
        Ok(for_each_row(self.bytes.as_slice(), &self.path, columns, visit)?)
    }
}

type Made = (Hierarchy, GroupSizes);

fn named(rows: &[(String, Option<String>)]) -> Result<Hierarchy, Error> {
    Hierarchy::new(rows.iter().map(|(name, parent)| (name.as_str(), parent.as_deref())))
        .map_err(|error| Error::library("the hierarchy", &error))
}

fn refused(error: &dp_census::CensusError) -> Error {
    Error::library("the table", error)
}

fn areas(file: &File) -> Result<Made, Error> {
    let columns = [
        "state",
        "lga",
        "size1",
        "size2",
        "size3",
        "size4",
        "size5",
        "size6",
        "size7",
        "size8plus",
    ];
    let mut names = vec![("nation".to_owned(), None)];
    let mut rows: Vec<(String, Vec<i64>)> = Vec::new();
    file.rows(&columns, |row| {
        let (state, area) = (format!("state {}", row[0]), format!("area {}", row[1]));
        names.push((state.clone(), Some("nation".to_owned())));
        names.push((area.clone(), Some(state)));
        rows.push((area, row[2..].to_vec()));
    })?;
    let hierarchy = named(&names)?;
    let bins = From0::up_to(8).map_err(|error| refused(&error))?;
    let cells = rows.iter().flat_map(|(area, counts)| {
        counts.iter().zip(1..).map(move |(&count, size)| (area.as_str(), size, count))
    });
    let sizes = GroupSizes::from_rows(&hierarchy, bins, cells).map_err(|error| refused(&error))?;
    Ok((hierarchy, sizes))
}

fn households(file: &File, largest: u32) -> Result<Made, Error> {
    let mut rows = Vec::new();
    file.rows(&["size"], |row| rows.push(u64::try_from(row[0]).unwrap_or(0)))?;
    // All of them lie in one area.
    let hierarchy = named(&[("area".to_owned(), None)])?;
    let bins = From0::up_to(largest).map_err(|error| refused(&error))?;
    let cells = rows.into_iter().map(|size| ("area", size, 1));
    let sizes = GroupSizes::from_rows(&hierarchy, bins, cells).map_err(|error| refused(&error))?;
    Ok((hierarchy, sizes))
}

/// A group is an hour in a zone, and an individual is a trip that begins there and then.
fn trips(trips: &File, zones: &File, largest: u32) -> Result<Made, Error> {
    let zone = |number: i64| format!("zone {number}");
    let mut names = vec![("city".to_owned(), None)];
    let mut numbers = Vec::new();
    zones.rows(&["zone", "borough"], |row| {
        let borough = format!("borough {}", row[1]);
        names.push((borough.clone(), Some("city".to_owned())));
        names.push((zone(row[0]), Some(borough)));
        numbers.push(row[0]);
    })?;
    let hierarchy = named(&names)?;
    let zone_names: Vec<(i64, String)> = numbers.iter().map(|&n| (n, zone(n))).collect();
    let groups = zone_names
        .iter()
        .flat_map(|(number, name)| (0..HOURS).map(move |hour| ((*number, hour), name.as_str())));
    let directory = GroupDirectory::new(&hierarchy, groups).map_err(|error| refused(&error))?;
    let mut members = directory.count_members(NonZeroU32::MIN);
    trips.rows(&["pickup_zone", "hour"], |row| members.add(&(row[0], row[1]), 1))?;
    let bins = From0::up_to(largest).map_err(|error| refused(&error))?;
    let sizes = members.into_sizes(bins, NonZeroU32::MIN).map_err(|error| refused(&error))?;
    Ok((hierarchy, sizes))
}

#[cfg(test)]
mod tests {
    use super::{File, HOURS, areas, households, trips};

    fn file(text: &str) -> File {
        File { path: "a.csv".into(), bytes: text.as_bytes().to_vec() }
    }

    #[test]
    fn a_trip_counts_in_its_zone_and_hour_and_hours_without_any_are_groups_too() {
        let zones = file("zone,borough\n1,0\n2,1\n3,0\n");
        let rows = "hour,borough,pickup_zone,dropoff_zone\n5,0,1,3\n5,0,1,2\n6,1,2,1\n5,0,9,1\n";
        let (hierarchy, sizes) = trips(&file(rows), &zones, 1).unwrap();
        assert_eq!((hierarchy.tree().levels(), sizes.groups()), (3, 3 * HOURS));
        let leaf = |zone: &str| hierarchy.leaf(zone).unwrap();
        let row = |zone: &str| &sizes.counts()[2 * leaf(zone)..][..2];
        assert_eq!(row("zone 1"), [HOURS - 1, 1], "two trips are one or more");
        assert_eq!((row("zone 2"), row("zone 3")), (&[HOURS - 1, 1][..], &[HOURS, 0][..]));
    }

    #[test]
    fn households_of_one_area_are_a_hierarchy_of_one_region() {
        let rows = "puma,size,weight\n600,1,1\n600,2,7\n600,12,1\n600,-3,1\n";
        let (hierarchy, sizes) = households(&file(rows), 3).unwrap();
        assert_eq!(hierarchy.tree().levels(), 1);
        assert_eq!(sizes.counts(), [1, 1, 1, 1]);
    }

    #[test]
    fn areas_lie_in_their_states() {
        let header = "state,lga,size1,size2,size3,size4,size5,size6,size7,size8plus,total\n";
        let rows = header.to_owned()
            + "0,5,1,2,3,4,5,6,7,8,0\n1,6,0,0,0,0,0,0,0,0,0\n0,7,1,0,0,0,0,0,0,1,2\n";
        let (hierarchy, sizes) = areas(&file(&rows)).unwrap();
        assert_eq!(hierarchy.tree().level(1).len(), 2);
        assert_eq!(sizes.groups_of_regions(), [36, 2, 0]);
        assert_eq!(sizes.counts()[..9], [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(hierarchy.leaf("area 6").unwrap(), 2);
    }
}

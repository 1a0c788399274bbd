//! The instances of the suite: generated coverage, baskets, ratings, attributes and pick-ups.

use super::{Shelf, checksum_of, numbers_of, text_of};
use crate::Error;
use crate::files;
use crate::seed::named_rng;
use dp_combinatorial::Incidence;
use dp_combinatorial::submodular::{Coverage, DenseFacilityLocation, Objective};
use quietus::table::numbers;
use rand::RngExt;
use std::path::Path;

/// Users and elements. Everything here is public.
#[derive(Debug)]
pub struct Source {
    /// Its name.
    pub id: &'static str,
    origin: Origin,
    /// Users.
    pub users: usize,
    /// Elements.
    pub elements: usize,
    /// How many elements are chosen.
    pub ks: &'static [usize],
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Origin {
    /// Users of forty latent types.
    Types,
    /// Lines of numbered items.
    Lines,
    /// A table of user, item.
    Ratings,
    /// Latitude and longitude, each of another user; elements are the places of a grid.
    PickUps,
}

const KS: &[usize] = &[5, 20, 100];

/// All of them.
pub static SOURCES: [Source; 15] = [
    types("coverage-1e3x1e2", 1_000, 100, &[5, 20]),
    types("coverage-1e3x1e3", 1_000, 1_000, KS),
    types("coverage-1e3x1e4", 1_000, 10_000, KS),
    types("coverage-1e4x1e2", 10_000, 100, &[5, 20]),
    types("coverage-1e4x1e3", 10_000, 1_000, KS),
    types("coverage-1e4x1e4", 10_000, 10_000, KS),
    types("coverage-1e5x1e2", 100_000, 100, &[5, 20]),
    types("coverage-1e5x1e3", 100_000, 1_000, KS),
    types("coverage-1e5x1e4", 100_000, 10_000, KS),
    types("coverage-1e6x1e3", 1_000_000, 1_000, KS),
    types("coverage-1e6x1e4", 1_000_000, 10_000, KS),
    file("retail", Origin::Lines, 88_162, 16_470, &[20, 100]),
    file("movielens_small", Origin::Ratings, 610, 9_724, &[5, 20]),
    file("mushroom", Origin::Lines, 8_124, 120, &[3, 5]),
    file("uber_apr14_part", Origin::PickUps, 99_997, SIDE * SIDE, &[5, 20]),
];

/// Sites on a grid of so many rows and columns, over a box given by its south-west and north-east.
const SIDE: usize = 20;
const BOX: [[f64; 2]; 2] = [[40.60, -74.05], [40.90, -73.75]];

const fn types(id: &'static str, users: usize, elements: usize, ks: &'static [usize]) -> Source {
    Source { id, origin: Origin::Types, users, elements, ks }
}

const fn file(
    id: &'static str,
    origin: Origin,
    users: usize,
    elements: usize,
    ks: &'static [usize],
) -> Source {
    Source { id, origin, users, elements, ks }
}

/// The instance of this name.
///
/// # Errors
/// If there is no such set, or its file is not the one of the manifest.
pub fn source(id: &str) -> Result<&'static Source, Error> {
    let unknown = || {
        let what = "data set of the suite submodular";
        Error::unknown(what, id, SOURCES.iter().map(|source| source.id))
    };
    SOURCES.iter().find(|source| source.id == id).ok_or_else(unknown)
}

impl Source {
    /// Whether it needs no file.
    pub fn is_generated(&self) -> bool {
        self.origin == Origin::Types
    }

    /// Whether users count or not, rather than by how much.
    pub fn is_coverage(&self) -> bool {
        self.origin != Origin::PickUps
    }
}

/// What is maximised.
#[derive(Debug)]
pub enum Function {
    /// Users with an element that they like.
    Coverage(Coverage),
    /// How much nearer users are to the nearest site than to the default.
    Facilities(DenseFacilityLocation),
}

impl Function {
    /// As what greedy takes.
    pub fn objective(&self) -> &dyn Objective {
        match self {
            Self::Coverage(coverage) => coverage,
            Self::Facilities(facilities) => facilities,
        }
    }
}

/// The function, with the SHA-256 over what it was made from; `None` if the file is not there.
///
/// # Errors
/// If there is no such set, or its file is not the one of the manifest.
pub fn read(source: &Source, shelf: &Shelf<'_>) -> Result<Option<(Function, String)>, Error> {
    if source.is_generated() {
        return covered(source, &of_types(source)).map(Some);
    }
    let Some((bytes, path)) = shelf.bytes(source.id, None)? else { return Ok(None) };
    Ok(Some(match source.origin {
        Origin::PickUps => {
            let table = numbers::parse(&bytes, &path)?;
            (facilities(&table.values, table.columns.len())?, files::sha256_hex(&bytes))
        }
        _ => covered(source, &lists(source, &bytes, &path)?)?,
    }))
}

fn covered(source: &Source, lists: &[Vec<u32>]) -> Result<(Function, String), Error> {
    let sets = u32::try_from(source.elements).expect("few");
    let incidence = Incidence::from_slices(sets, lists.iter().map(Vec::as_slice))
        .map_err(|error| Error::library("memberships", &error))?;
    let checksum = checksum_of(&incidence);
    Ok((Function::Coverage(Coverage::new(incidence)), checksum))
}

/// Each type likes the sets in an order of its own, the one at rank `r` with weight `1 / r`; types are
/// drawn with weight `1 / rank` too. A user draws 5 to 15 sets after the taste of its type.
fn of_types(source: &Source) -> Vec<Vec<u32>> {
    const TYPES: usize = 40;
    let mut rng = named_rng(&["submodular", source.id]);
    let sets = u32::try_from(source.elements).expect("few");
    let orders: Vec<Vec<u32>> = (0..TYPES)
        .map(|_| {
            let mut order: Vec<u32> = (0..sets).collect();
            for i in (1..order.len()).rev() {
                order.swap(i, rng.random_range(0..=i));
            }
            order
        })
        .collect();
    let (of_types, of_sets) = (harmonic(TYPES), harmonic(source.elements));
    let mut draw = |sums: &[f64]| {
        let u = rng.random::<f64>() * sums[sums.len() - 1];
        sums.partition_point(|sum| *sum <= u).min(sums.len() - 1)
    };
    (0..source.users)
        .map(|user| {
            let order = &orders[draw(&of_types)];
            (0..5 + user % 11).map(|_| order[draw(&of_sets)]).collect()
        })
        .collect()
}

/// `1`, `1 + 1/2`, `1 + 1/2 + 1/3`, and so on.
fn harmonic(n: usize) -> Vec<f64> {
    let terms = (1..=n).map(|rank| 1.0 / rank as f64);
    terms
        .scan(0.0, |sum, term| {
            *sum += term;
            Some(*sum)
        })
        .collect()
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "casts saturate, and what is out of range is left out"
)]
fn lists(source: &Source, bytes: &[u8], path: &Path) -> Result<Vec<Vec<u32>>, Error> {
    if source.origin == Origin::Ratings {
        let table = numbers::parse(bytes, path)?;
        let mut lists = vec![Vec::new(); source.users];
        for row in table.values.chunks_exact(table.columns.len()) {
            if let Some(list) = lists.get_mut((row[0] as usize).wrapping_sub(1)) {
                list.push(row[1] as u32);
            }
        }
        return Ok(lists);
    }
    // Item 85 of the mushrooms is in every row: covering would end with it.
    let counts = |item: &u32| source.id != "mushroom" || *item != 85;
    let list = |line: &str| -> Result<Vec<u32>, Error> {
        Ok(numbers_of(line, path)?.into_iter().filter(counts).collect())
    };
    text_of(bytes, path)?.lines().map(list).collect()
}

/// How much nearer than the middle of the box a site is, in units of a 60,000th of the box's half
/// diagonal: a user who is in the box gains no more than that. Users outside are taken to its border.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 2^16")]
fn facilities(values: &[f64], columns: usize) -> Result<Function, Error> {
    const MOST: u16 = 60_000;
    let [south_west, north_east] = BOX;
    // Degrees of longitude are shorter here.
    let scale = [1.0, 0.757];
    let at = |row: f64, column: f64| -> [f64; 2] {
        let share = |i: usize, of: f64| south_west[i] + (north_east[i] - south_west[i]) * of;
        [share(0, row) * scale[0], share(1, column) * scale[1]]
    };
    let distance =
        |a: [f64; 2], b: [f64; 2]| ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)).sqrt();
    let (middle, unit) = (at(0.5, 0.5), distance(at(0.0, 0.0), at(0.5, 0.5)) / f64::from(MOST));
    let place = |i: usize| (i as f64 + 0.5) / SIDE as f64;
    let sites: Vec<[f64; 2]> =
        (0..SIDE * SIDE).map(|i| at(place(i / SIDE), place(i % SIDE))).collect();
    let mut table = Vec::with_capacity(values.len() / columns * sites.len());
    for row in values.chunks_exact(columns) {
        let user = [0, 1].map(|i| row[i].clamp(south_west[i], north_east[i]) * scale[i]);
        let nearer = |site: &[f64; 2]| (distance(user, middle) - distance(user, *site)) / unit;
        table.extend(sites.iter().map(|site| nearer(site) as u16));
    }
    DenseFacilityLocation::new(sites.len(), table, |_| 0, MOST)
        .map(Function::Facilities)
        .map_err(|error| Error::library("similarities", &error))
}

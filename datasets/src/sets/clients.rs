//! Records of clients, one for each: planted clusters, and real sets whose every record is somebody's.

use super::Shelf;
use super::planted::{Set, Shape};
use crate::Error;
use crate::catalogue::{CLUSTERING, Recipe};
use crate::prepare::prepare;
use dp_geometry::{Points, PublicBox};

/// The number of clusters of all of them.
pub const K: usize = 8;

/// Where records come from.
#[derive(Clone, Debug)]
pub enum Source {
    /// Generated.
    Planted(Set),
    /// Of a file.
    Real(&'static Recipe),
}

/// Records in the cube `[-1, 1]^d`.
#[derive(Clone, Debug)]
pub struct Clients {
    /// One of each client.
    pub records: Points,
    /// The cube.
    pub public_box: PublicBox,
    /// SHA-256 of all coordinates as they were before they were scaled.
    pub checksum: String,
}

/// Planted clusters of several shapes with `n` clients each; the first of them with each of `others` in place of `n`; real sets.
pub fn sources(n: usize, others: &[usize]) -> Vec<Source> {
    let of = |n, dim, width, shape, name: &str| {
        let id = format!("local-{name}-d{dim}-n{n}");
        Source::Planted(Set { id, suite: "local", n, dim, k: K, shape, width, within: 0.9 })
    };
    let mut all = vec![of(n, 2, 0.06, Shape::Equal, "planted")];
    all.extend(others.iter().map(|&n| of(n, 2, 0.06, Shape::Equal, "planted")));
    all.extend([
        of(n, 3, 0.12, Shape::Equal, "planted"),
        of(n, 4, 0.08, Shape::Equal, "planted"),
        of(n, 4, 0.08, Shape::Unequal, "unequal"),
        of(n, 3, 0.06, Shape::HeavyTails, "heavy-tails"),
        of(n, 10, 0.05, Shape::Equal, "planted"),
    ]);
    let real = CLUSTERING.iter().filter(|recipe| ["birch1", "skin"].contains(&recipe.id));
    all.extend(real.map(Source::Real));
    all
}

impl Source {
    /// Its name: `local-...`.
    pub fn id(&self) -> String {
        match self {
            Self::Planted(set) => set.id.clone(),
            Self::Real(recipe) => format!("local-{}", recipe.id),
        }
    }

    /// Clients, and coordinates of each.
    pub fn size(&self) -> (usize, usize) {
        match self {
            Self::Planted(set) => (set.n, set.dim),
            Self::Real(recipe) => (recipe.n, recipe.d),
        }
    }

    /// The set of the manifest and its file, if it has one.
    ///
    /// # Errors
    /// If the manifest does not know it.
    pub fn file(&self, shelf: &Shelf<'_>) -> Result<Option<(&'static str, String)>, Error> {
        let Self::Real(recipe) = self else { return Ok(None) };
        let file = shelf.manifest.set(recipe.id)?.files.first();
        Ok(file.map(|file| (recipe.id, file.path.clone())))
    }

    /// The records; `None` without their file.
    ///
    /// # Errors
    /// If the file is not the one of the manifest.
    pub fn open(&self, shelf: &Shelf<'_>) -> Result<Option<Clients>, Error> {
        match self {
            Self::Planted(set) => {
                let planted = set.generate()?;
                let (records, public_box) = (planted.records, planted.public_box);
                Ok(Some(Clients { records, public_box, checksum: planted.checksum }))
            }
            Self::Real(recipe) => {
                let Some(set) = prepare(recipe, shelf)? else { return Ok(None) };
                let (low, high) = recipe.range;
                let scaled = set.points.view().coords().iter().map(|x| {
                    let share = (x - low) / (high - low);
                    (2.0 * share - 1.0).clamp(-1.0, 1.0)
                });
                let records = Points::new(scaled.collect(), recipe.d);
                let records = records.map_err(|error| Error::library("points", &error))?;
                let public_box = PublicBox::cube(recipe.d, -1.0, 1.0);
                let public_box = public_box.map_err(|error| Error::library("cube", &error))?;
                Ok(Some(Clients { records, public_box, checksum: set.checksum }))
            }
        }
    }
}

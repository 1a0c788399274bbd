//! Records in public boxes, for methods that hide them up to a distance: each set with the numbers of clusters that are asked for.

use super::Shelf;
use crate::seed::named_rng;
use crate::synth::{BlobSpec, blobs};
use crate::{Error, files};
use dp_geometry::{Points, PublicBox};
use quietus::table::{TableError, TableProblem, numbers};
use rand::seq::SliceRandom as _;

/// A data set with a number of clusters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Source {
    /// The set.
    pub set: &'static Set,
    /// How many clusters.
    pub k: usize,
}

/// Records in a public box, which is scaled to the side `[-1, 1]` in every dimension, as in the paper.
#[derive(Debug, PartialEq)]
pub struct Set {
    /// In results.
    pub name: &'static str,
    /// Where the records come from.
    pub origin: Origin,
    /// How many there are.
    pub n: usize,
    /// Per dimension; chosen from what the columns mean.
    pub sides: &'static [(f64, f64)],
    /// Numbers of clusters: of Figure 1 of the paper, or the one of the table.
    pub ks: &'static [usize],
    /// What it is for.
    pub role: Role,
}

/// What a set is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The figures of the paper.
    Figures,
    /// From which distance on a record is as well hidden altogether; at one epsilon.
    Frontier,
}

/// Where records come from.
#[derive(Debug, PartialEq)]
pub enum Origin {
    /// Gaussian blobs from a named seed, for where no file is.
    Blobs,
    /// A file of a set of the manifest; so many rows of it, drawn without replacement from a named seed.
    File {
        /// The set.
        set: &'static str,
        /// Which of its files.
        file: usize,
    },
}

/// Records in memory, scaled.
#[derive(Debug)]
pub struct Scaled {
    /// What they are of.
    pub source: Source,
    /// In the cube `[-1, 1]^d`.
    pub points: Points,
    /// The cube.
    pub public_box: PublicBox,
    /// SHA-256 of all coordinates.
    pub checksum: String,
}

/// The numbers of clusters of Figure 1.
const FIGURE_1_KS: &[usize] = &[4, 6, 8, 12, 16];

const SENSOR: (f64, f64) = (-128.0, 128.0);
const COLOUR: (f64, f64) = (0.0, 255.0);

const fn generated(name: &'static str, n: usize, ks: &'static [usize], role: Role) -> Set {
    Set { name, origin: Origin::Blobs, n, sides: &[(-20.0, 20.0); 2], ks, role }
}

const fn of_file(
    name: &'static str,
    (set, file): (&'static str, usize),
    n: usize,
    sides: &'static [(f64, f64)],
    ks: &'static [usize],
) -> Set {
    Set { name, origin: Origin::File { set, file }, n, sides, ks, role: Role::Figures }
}

/// All of them.
pub static SETS: [Set; 14] = [
    generated("blobs", 5_000, FIGURE_1_KS, Role::Figures),
    of_file(
        "gowalla_nyc_latest",
        ("gowalla_nyc_latest", 0),
        7_115,
        &[(40.4, 41.0), (-74.3, -73.7)],
        FIGURE_1_KS,
    ),
    of_file(
        "foursquare_latest",
        ("foursquare_latest", 0),
        4_969,
        &[(24.0, 50.0), (-125.0, -66.0)],
        FIGURE_1_KS,
    ),
    of_file("s1", ("s_sets", 0), 5_000, &[(0.0, 1e6); 2], FIGURE_1_KS),
    of_file("s3", ("s_sets", 1), 5_000, &[(0.0, 1e6); 2], FIGURE_1_KS),
    of_file("skin-5000", ("skin", 0), 5_000, &[COLOUR; 3], &[8]),
    of_file("skin", ("skin", 0), 245_057, &[COLOUR; 3], FIGURE_1_KS),
    of_file("birch1", ("birch1", 0), 100_000, &[(0.0, 1e6); 2], &[16, 100]),
    of_file("shuttle", ("shuttle", 0), 58_000, &[SENSOR; 9], FIGURE_1_KS),
    generated("blobs-1000", 1_000, &[8], Role::Frontier),
    generated("blobs-3000", 3_000, &[8], Role::Frontier),
    generated("blobs-10000", 10_000, &[8], Role::Frontier),
    generated("blobs-30000", 30_000, &[8], Role::Frontier),
    generated("blobs-100000", 100_000, &[8], Role::Frontier),
];

impl Source {
    /// Its name, with the number of clusters.
    pub fn id(&self) -> String {
        format!("{}-k{}", self.set.name, self.k)
    }

    /// Coordinates of a record.
    pub fn dim(&self) -> usize {
        self.set.sides.len()
    }

    /// The records, or `None` if their file is not here.
    ///
    /// # Errors
    /// If the file is not the one of the manifest, or has other columns.
    pub fn read(&self, shelf: &Shelf<'_>) -> Result<Option<Scaled>, Error> {
        let (set, dim) = (self.set, self.dim());
        // The frontier is one population, of which there are more and more records.
        let name = if set.role == Role::Frontier { "frontier" } else { set.name };
        let mut rng = named_rng(&["distance", name]);
        let mut values = match set.origin {
            Origin::Blobs => {
                let range = set.sides[0];
                blobs(&BlobSpec { n: set.n, d: dim, k: 12, range }, &mut rng).points
            }
            Origin::File { set: name, file } => {
                let listed = shelf.manifest.set(name)?;
                let file = &listed.files[file].path;
                let Some((bytes, path)) = shelf.bytes(name, Some(file))? else { return Ok(None) };
                let mut table = numbers::parse(&bytes, &path)?;
                if let Some(label) = &listed.label {
                    table.take_labels(label, &path)?;
                }
                let got = table.columns.len();
                if got != dim {
                    let problem = TableProblem::Columns { got, want: dim };
                    return Err(TableError { path, line: 0, problem }.into());
                }
                table.values
            }
        };
        if values.len() > set.n * dim {
            let mut rows: Vec<usize> = (0..values.len() / dim).collect();
            rows.shuffle(&mut rng);
            rows.truncate(set.n);
            values = rows.into_iter().flat_map(|row| values[row * dim..][..dim].to_vec()).collect();
        }
        for (at, value) in values.iter_mut().enumerate() {
            let (low, high) = set.sides[at % dim];
            *value = (2.0 * (*value - low) / (high - low) - 1.0).clamp(-1.0, 1.0);
        }
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let refused = |error: dp_geometry::GeometryError| Error::library("points", &error);
        Ok(Some(Scaled {
            source: *self,
            points: Points::new(values, dim).map_err(refused)?,
            public_box: PublicBox::cube(dim, -1.0, 1.0).map_err(refused)?,
            checksum: files::sha256_hex(&bytes),
        }))
    }
}

//! The data sets of the evaluation and how each is made: everything here is public.

use crate::Error;
use crate::nation;
use crate::synth::BlobSpec;

/// One data set of a suite.
#[derive(Debug)]
pub struct Recipe {
    /// Stable id, as in results.jsonl.
    pub id: &'static str,
    /// How its rows come about.
    pub origin: Origin,
    /// Number of rows after preparation; public, and what delta is computed from.
    pub n: usize,
    /// Dimension.
    pub d: usize,
    /// Number of clusters asked of algorithms that need one.
    pub k: usize,
    /// Declared range of every coordinate.
    pub range: (f64, f64),
    /// Numbers of clusters that the search for reference clusterings tries.
    pub k_search: [usize; 5],
}

/// How a data set's rows come about.
#[derive(Debug)]
pub enum Origin {
    /// Gaussian blobs from a named seed.
    Blobs,
    /// A table of the manifest, as it is.
    Table,
    /// A table of the manifest with every value clipped into the declared range, for sensors whose
    /// few wild readings would otherwise be all that squared distances see.
    ClippedTable,
    /// A table with classes: this many rows of each, drawn with replacement from a named seed.
    RowsPerClass(usize),
}

impl Recipe {
    /// delta = n^-1.5, the papers' choice; of fewer than a hundred records, a thousandth.
    pub fn delta(&self) -> f64 {
        (self.n as f64).powf(-1.5).min(1e-3)
    }

    /// The parameters of the generator, for a generated set.
    pub fn blobs(&self) -> BlobSpec {
        BlobSpec { n: self.n, d: self.d, k: self.k, range: self.range }
    }

    /// Whether the set needs no file.
    pub fn is_generated(&self) -> bool {
        matches!(self.origin, Origin::Blobs)
    }
}

/// The data sets of the clustering suites, in the order of the reports.
pub static CLUSTERING: [Recipe; 8] = [
    blobs("synth-10d", 100_000, 10),
    blobs("synth-100d", 100_000, 100),
    Recipe {
        id: "letter",
        origin: Origin::RowsPerClass(720),
        n: 18_720,
        d: 16,
        k: 26,
        range: (0.0, 15.0),
        k_search: [13, 19, 26, 32, 39],
    },
    table("gas_turbine", (36_733, 11), 2, (-6.23, 1100.9), [2, 3, 4, 6, 8]),
    table("mnist_emb40", (60_000, 40), 10, (-1.0, 1.0), [5, 8, 10, 12, 15]),
    table("birch1", (100_000, 2), 100, (0.0, 1e6), [50, 75, 100, 125, 150]),
    Recipe {
        origin: Origin::ClippedTable,
        ..table("shuttle", (58_000, 9), 7, (-128.0, 128.0), [3, 5, 7, 9, 11])
    },
    table("skin", (245_057, 3), 8, (0.0, 255.0), [4, 6, 8, 12, 16]),
];

/// Blobs of other sizes, for the curves over the number of points.
pub static OVER_N: [Recipe; 4] = [
    blobs("synth-10d-n1e4", 10_000, 10),
    blobs("synth-10d-n3e4", 30_000, 10),
    blobs("synth-10d-n3e5", 300_000, 10),
    blobs("synth-10d-n1e6", 1_000_000, 10),
];

/// Blobs of other dimensions, for the curves over the dimension.
pub static OVER_D: [Recipe; 4] = [
    blobs("synth-2d", 100_000, 2),
    blobs("synth-5d", 100_000, 5),
    blobs("synth-20d", 100_000, 20),
    blobs("synth-50d", 100_000, 50),
];

const fn blobs(id: &'static str, n: usize, d: usize) -> Recipe {
    let k_search = [32, 48, 64, 80, 96];
    Recipe { id, origin: Origin::Blobs, n, d, k: 64, range: (-100.0, 100.0), k_search }
}

const fn table(
    id: &'static str,
    (n, d): (usize, usize),
    k: usize,
    range: (f64, f64),
    k_search: [usize; 5],
) -> Recipe {
    Recipe { id, origin: Origin::Table, n, d, k, range, k_search }
}

/// The recipe of a generated set of points.
///
/// # Errors
/// If there is no generated set of this name.
pub fn generated(name: &str) -> Result<&'static Recipe, Error> {
    let all = || CLUSTERING.iter().filter(|recipe| recipe.is_generated());
    all().find(|recipe| recipe.id == name).ok_or_else(|| Error::Unknown {
        what: "generated data set",
        got: name.to_owned(),
        known: all().map(|recipe| recipe.id).chain([nation::ID]).map(str::to_owned).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::{CLUSTERING, Origin, generated};

    #[test]
    fn letters_is_its_classes_times_its_rows() {
        let letter = &CLUSTERING[2];
        assert!(
            matches!(letter.origin, Origin::RowsPerClass(per_class) if per_class * 26 == letter.n)
        );
    }

    #[test]
    fn every_search_contains_the_k_of_its_set() {
        assert!(CLUSTERING.iter().all(|recipe| recipe.k_search.contains(&recipe.k)));
    }

    #[test]
    fn a_set_that_cannot_be_generated_is_answered_with_those_that_can() {
        insta::assert_snapshot!(
            generated("letter").unwrap_err(),
            @"there is no generated data set `letter`; these exist: synth-10d, synth-100d, census-synthetic"
        );
    }
}

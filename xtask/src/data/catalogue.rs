//! The data sets of the evaluation and how each is made: everything here is public.

use crate::data::synth::BlobSpec;
use crate::error::Error;

/// One data set of a suite.
#[derive(Debug)]
pub(crate) struct Recipe {
    /// Stable id, as in results.jsonl.
    pub(crate) id: &'static str,
    /// How its rows come about.
    pub(crate) origin: Origin,
    /// Number of rows after preparation; public, and what delta is computed from.
    pub(crate) n: usize,
    /// Dimension.
    pub(crate) d: usize,
    /// Number of clusters asked of algorithms that need one.
    pub(crate) k: usize,
    /// Declared range of every coordinate.
    pub(crate) range: (f64, f64),
    /// Numbers of clusters that the search for reference clusterings tries.
    pub(crate) k_search: [usize; 5],
}

/// How a data set's rows come about.
#[derive(Debug)]
pub(crate) enum Origin {
    /// Gaussian blobs from a named seed.
    Blobs,
    /// A table of the manifest, as it is.
    Table,
    /// A table with classes: this many rows of each, drawn with replacement from a named seed.
    RowsPerClass(usize),
}

impl Recipe {
    /// delta = n^-1.5, the papers' choice.
    pub(crate) fn delta(&self) -> f64 {
        (self.n as f64).powf(-1.5)
    }

    /// The parameters of the generator, for a generated set.
    pub(crate) fn blobs(&self) -> BlobSpec {
        BlobSpec { n: self.n, d: self.d, k: self.k, range: self.range }
    }

    /// Whether the set needs no file.
    pub(crate) fn is_generated(&self) -> bool {
        matches!(self.origin, Origin::Blobs)
    }
}

/// The data sets of the clustering suites, in the order of the reports.
pub(crate) static CLUSTERING: [Recipe; 4] = [
    Recipe {
        id: "synth-10d",
        origin: Origin::Blobs,
        n: 100_000,
        d: 10,
        k: 64,
        range: (-100.0, 100.0),
        k_search: [32, 48, 64, 80, 96],
    },
    Recipe {
        id: "synth-100d",
        origin: Origin::Blobs,
        n: 100_000,
        d: 100,
        k: 64,
        range: (-100.0, 100.0),
        k_search: [32, 48, 64, 80, 96],
    },
    Recipe {
        id: "letter",
        origin: Origin::RowsPerClass(720),
        n: 18_720,
        d: 16,
        k: 26,
        range: (0.0, 15.0),
        k_search: [13, 19, 26, 32, 39],
    },
    Recipe {
        id: "gas_turbine",
        origin: Origin::Table,
        n: 36_733,
        d: 11,
        k: 2,
        range: (-6.23, 1100.9),
        k_search: [2, 3, 4, 6, 8],
    },
];

/// The recipe of a generated set.
pub(crate) fn generated(name: &str) -> Result<&'static Recipe, Error> {
    let all = || CLUSTERING.iter().filter(|recipe| recipe.is_generated());
    all().find(|recipe| recipe.id == name).ok_or_else(|| Error::Unknown {
        what: "generated data set",
        got: name.to_owned(),
        known: all().map(|recipe| recipe.id.to_owned()).collect(),
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
            @"there is no generated data set `letter`; these exist: synth-10d, synth-100d"
        );
    }
}

//! The data sets with their public boxes, and the numbers of clusters.

use crate::eval::settings::Effort;

/// A data set with a number of clusters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Source {
    pub(super) set: &'static Set,
    pub(super) k: usize,
}

/// Records in a public box, which is scaled to the side `[-1, 1]` in every dimension, as in the paper.
#[derive(Debug, PartialEq)]
pub(crate) struct Set {
    /// In results.
    pub(super) name: &'static str,
    pub(super) origin: Origin,
    pub(super) n: usize,
    /// Per dimension; chosen from what the columns mean.
    pub(super) sides: &'static [(f64, f64)],
    /// Of Figure 1, or the one of the table.
    pub(super) ks: &'static [usize],
    pub(super) role: Role,
}

/// What a set is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The figures of the paper.
    Figures,
    /// From which distance on a record is as well hidden altogether; at one epsilon.
    Frontier,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Origin {
    /// Gaussian blobs from a named seed, for where no file is.
    Blobs,
    /// A file of a set of the manifest; so many rows of it, drawn without replacement from a named seed.
    File { set: &'static str, file: usize },
}

/// The distances of Figure 2 and that of Figure 1, as shares of half a side.
pub(super) const FIGURE_2: [f64; 5] = [1.0, 0.08, 0.05, 0.008, 0.0001];
pub(super) const FIGURE_1: [f64; 2] = [0.05, 0.008];

/// Of the frontier.
const FRONTIER: [f64; 7] = [0.002, 0.008, 0.02, 0.05, 0.1, 0.2, 0.5];
pub(super) const FRONTIER_EPSILON: f64 = 0.1;

/// The number of clusters of Figure 2.
pub(super) const FIGURE_2_K: usize = 8;

/// The other one that is always looked at, beside that of Figure 2, unless it should be quick.
const TABLE_K: usize = 16;

/// Those of Figure 1.
const FIGURE_1_KS: &[usize] = &[4, 6, 8, 12, 16];

const SENSOR: (f64, f64) = (-128.0, 128.0);
const COLOUR: (f64, f64) = (0.0, 255.0);

const fn generated(name: &'static str, n: usize, ks: &'static [usize], role: Role) -> Set {
    Set { name, origin: Origin::Blobs, n, sides: &[(-20.0, 20.0); 2], ks, role }
}

const fn read(
    name: &'static str,
    (set, file): (&'static str, usize),
    n: usize,
    sides: &'static [(f64, f64)],
    ks: &'static [usize],
) -> Set {
    Set { name, origin: Origin::File { set, file }, n, sides, ks, role: Role::Figures }
}

static SETS: [Set; 14] = [
    generated("blobs", 5_000, FIGURE_1_KS, Role::Figures),
    read(
        "gowalla_nyc_latest",
        ("gowalla_nyc_latest", 0),
        7_115,
        &[(40.4, 41.0), (-74.3, -73.7)],
        FIGURE_1_KS,
    ),
    read(
        "foursquare_latest",
        ("foursquare_latest", 0),
        4_969,
        &[(24.0, 50.0), (-125.0, -66.0)],
        FIGURE_1_KS,
    ),
    read("s1", ("s_sets", 0), 5_000, &[(0.0, 1e6); 2], FIGURE_1_KS),
    read("s3", ("s_sets", 1), 5_000, &[(0.0, 1e6); 2], FIGURE_1_KS),
    read("skin-5000", ("skin", 0), 5_000, &[COLOUR; 3], &[8]),
    read("skin", ("skin", 0), 245_057, &[COLOUR; 3], FIGURE_1_KS),
    read("birch1", ("birch1", 0), 100_000, &[(0.0, 1e6); 2], &[16, 100]),
    read("shuttle", ("shuttle", 0), 58_000, &[SENSOR; 9], FIGURE_1_KS),
    generated("blobs-1000", 1_000, &[8], Role::Frontier),
    generated("blobs-3000", 3_000, &[8], Role::Frontier),
    generated("blobs-10000", 10_000, &[8], Role::Frontier),
    generated("blobs-30000", 30_000, &[8], Role::Frontier),
    generated("blobs-100000", 100_000, &[8], Role::Frontier),
];

/// One number of clusters per set, or two, or with `Full` all of the figures; the frontier unless it should be `Quick`.
pub(super) fn all(effort: Effort) -> Vec<Source> {
    let ks = |set: &'static Set| match effort {
        Effort::Full => set.ks.to_vec(),
        Effort::Standard if set.role == Role::Figures => {
            let ks = set.ks.iter().copied();
            ks.filter(|k| [FIGURE_2_K, TABLE_K].contains(k)).collect()
        }
        _ if set.ks.contains(&FIGURE_2_K) => vec![FIGURE_2_K],
        _ => set.ks[..1].to_vec(),
    };
    let wanted = |set: &&Set| set.role == Role::Figures || effort != Effort::Quick;
    SETS.iter()
        .filter(wanted)
        .flat_map(|set| ks(set).into_iter().map(move |k| Source { set, k }))
        .collect()
}

/// Ids of all sources with this role.
pub(super) fn ids(role: Role) -> Vec<String> {
    let of_role = all(Effort::Full).into_iter().filter(|source| source.set.role == role);
    of_role.map(|source| source.id()).collect()
}

impl Source {
    pub(super) fn id(&self) -> String {
        format!("{}-k{}", self.set.name, self.k)
    }

    pub(super) fn dim(&self) -> usize {
        self.set.sides.len()
    }

    /// The distances that are looked at.
    pub(super) fn distances(&self) -> &'static [f64] {
        match self.set.role {
            Role::Frontier => &FRONTIER,
            Role::Figures if self.k == FIGURE_2_K => &FIGURE_2,
            Role::Figures => &FIGURE_1,
        }
    }
}

//! Which of the data sets are run, and at which distances.

use crate::eval::settings::Effort;
use quietus_datasets::sets::distance::{Role, SETS, Set, Source};

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

/// The distances that are looked at.
pub(super) fn distances(source: &Source) -> &'static [f64] {
    match source.set.role {
        Role::Frontier => &FRONTIER,
        Role::Figures if source.k == FIGURE_2_K => &FIGURE_2,
        Role::Figures => &FIGURE_1,
    }
}

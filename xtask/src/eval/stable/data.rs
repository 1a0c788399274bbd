//! Clusters of equal size, by the number of records, of dimensions and of clusters.

use crate::eval::settings::Effort;
use quietus_datasets::sets::planted::{Set, Shape};

/// All sets, of as many records as there is time for.
pub(super) fn sets(effort: Effort) -> Vec<Set> {
    let of = |n, dim, k| Set {
        id: format!("stable-n{n}-d{dim}-k{k}"),
        suite: "stable",
        n,
        dim,
        k,
        shape: Shape::InTurn,
        width: 0.05,
        within: 0.8,
    };
    let mut all = vec![of(10_000, 4, 8)];
    if effort != Effort::Quick {
        all.extend([of(100_000, 4, 8), of(1_000_000, 4, 8)]);
        all.extend([of(100_000, 4, 2), of(100_000, 4, 32), of(100_000, 2, 8), of(100_000, 10, 8)]);
    }
    if effort == Effort::Full {
        all.push(of(10_000_000, 4, 8));
    }
    all
}

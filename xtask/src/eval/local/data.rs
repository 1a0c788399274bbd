//! Generated clusters, one record per client.

use crate::eval::settings::Effort;
use quietus_datasets::sets::planted::{Set, Shape};

/// The number of clusters of all sets.
pub(super) const K: usize = 8;

/// All sets, of as many clients as there is time for.
pub(super) fn sets(effort: Effort) -> Vec<Set> {
    let n = match effort {
        Effort::Quick => 100_000,
        Effort::Standard | Effort::Full => 1_000_000,
    };
    let of = |dim, width, shape, name: &str| {
        let id = format!("local-{name}-d{dim}-n{n}");
        Set { id, suite: "local", n, dim, k: K, shape, width, within: 0.9 }
    };
    let mut all = vec![
        of(2, 0.06, Shape::Equal, "planted"),
        of(3, 0.12, Shape::Equal, "planted"),
        of(4, 0.08, Shape::Equal, "planted"),
        of(4, 0.08, Shape::Unequal, "unequal"),
        of(3, 0.06, Shape::HeavyTails, "heavy-tails"),
        of(10, 0.05, Shape::Equal, "planted"),
    ];
    if effort == Effort::Quick {
        all.truncate(1);
    }
    all
}

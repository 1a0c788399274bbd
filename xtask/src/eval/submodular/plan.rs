//! What there is to run on an instance.

use crate::eval::settings::Effort;
use crate::eval::submodular::methods::{CONTINUOUS, Constraint, MAIN, METHODS, Method};
use quietus_datasets::sets::submodular::Source;

/// Partitions that stand for matroids, on these instances.
const BLOCKS: [(&str, usize, usize); 4] = [
    ("coverage-1e3x1e3", 20, 1),
    ("coverage-1e4x1e3", 20, 1),
    ("coverage-1e4x1e3", 5, 4),
    ("coverage-1e5x1e3", 20, 1),
];

/// Numbers of elements with the main methods, in a full evaluation with all; blocks with continuous
/// greedy beside greedy.
pub(super) fn methods_of(source: &Source, effort: Effort) -> Vec<(Constraint, Method)> {
    let ks = if effort == Effort::Quick { &source.ks[..2] } else { source.ks };
    let methods = if effort == Effort::Full { &METHODS[..] } else { &METHODS[..MAIN] };
    let fits = |method: &&Method| source.is_coverage() || !method.is_as_published();
    let plain = ks.iter().flat_map(|&k| {
        methods.iter().filter(fits).map(move |method| (Constraint::Any(k), *method))
    });
    let blocks =
        BLOCKS.iter().filter(|(id, ..)| *id == source.id).flat_map(|&(_, blocks, each)| {
            let continuous = CONTINUOUS.iter().filter(|_| effort != Effort::Quick);
            let continuous =
                continuous.chain(CONTINUOUS.iter().skip(3).filter(|_| effort == Effort::Quick));
            let methods = METHODS[..4].iter().filter(|method| !method.is_random());
            methods.chain(continuous).map(move |method| (Constraint::Blocks(blocks, each), *method))
        });
    plain.chain(blocks).collect()
}

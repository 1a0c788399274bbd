//! Choices that favour nobody.

use dp_mechanism::{Draws, Ratio, SparseScores};

/// A place below `candidates`, all equally likely. Released.
pub(super) fn uniform(candidates: usize, draws: &mut dyn Draws) -> usize {
    let scores = SparseScores::new(candidates as u64, []);
    let rate = Ratio::new(1, 1).expect("1 is a ratio"); // of no effect: all scores are 0
    usize::try_from(draws.choose_sparse(&scores, rate)).expect("below a usize")
}

/// Takes everything out in random order.
pub(super) fn shuffled(mut rest: Vec<u32>, draws: &mut dyn Draws) -> Vec<u32> {
    (0..rest.len()).map(|_| rest.swap_remove(uniform(rest.len(), draws))).collect()
}

//! Choices that favour nobody.

use std::num::NonZeroU64;

use dp_mechanism::Draws;

/// A place below `candidates`, all equally likely. Released.
pub(super) fn uniform(candidates: usize, draws: &mut Draws<'_>) -> usize {
    let candidates = NonZeroU64::new(candidates as u64).expect("there is a candidate");
    usize::try_from(draws.uniform(candidates)).expect("below a usize")
}

/// Takes everything out in random order.
pub(super) fn shuffled(mut rest: Vec<u32>, draws: &mut Draws<'_>) -> Vec<u32> {
    (0..rest.len()).map(|_| rest.swap_remove(uniform(rest.len(), draws))).collect()
}

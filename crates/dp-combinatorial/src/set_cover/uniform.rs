//! An order that favours nobody.

use std::num::NonZeroU64;

use dp_mechanism::Draws;

/// Takes everything out in random order.
pub(super) fn shuffled(mut rest: Vec<u32>, draws: &mut Draws<'_>) -> Vec<u32> {
    let mut order = Vec::with_capacity(rest.len());
    while let Some(candidates) = NonZeroU64::new(rest.len() as u64) {
        let place = usize::try_from(draws.uniform(candidates)).expect("below a usize");
        order.push(rest.swap_remove(place));
    }
    order
}

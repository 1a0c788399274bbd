//! Counts whose noise has a scale where a rate belongs.

use dp_audit::{Law, Window, exact_law};
use dp_mechanism::{DiscreteLaplace, Noise};

use dp_audit::harness::toys::{laplace, ratio};
use dp_audit::harness::{Effort, Found};

/// Half of this is meant for the count of the greedy cover.
const COVER: f64 = 1.0;
/// Of the count of a node.
const NODE: f64 = 0.4;

/// `Lap(0.5 / epsilon)`, as printed: a scale.
pub(super) fn half_over_epsilon() -> Noise {
    laplace(COVER / 0.5)
}

/// `Lap(1 / (0.5 epsilon))`: the scale of half the budget.
pub(super) fn one_over_half_epsilon() -> Noise {
    laplace(0.5 * COVER)
}

/// `Lap(epsilon)`, read as a scale by a text whose convention is scales.
pub(super) fn epsilon_as_scale() -> Noise {
    Noise::Laplace(DiscreteLaplace::new(ratio(NODE)).expect("positive"))
}

/// `Lap(1 / epsilon)`.
pub(super) fn epsilon_as_rate() -> Noise {
    laplace(NODE)
}

/// Only the number of rounds is looked at: how often the noisy count can be halved.
pub(super) fn rounds(effort: Effort, noise: fn() -> Noise) -> Found {
    neighbours(effort, 0.5 * COVER, |n| {
        exact_law(Window::new(-60, 60), |draws| draws.noisy(n, noise()).max(1).ilog2())
            .without_receipt()
    })
}

pub(super) fn released(effort: Effort, noise: fn() -> Noise) -> Found {
    neighbours(effort, NODE, |n| {
        exact_law(Window::new(-60, 60), |draws| draws.noisy(n, noise())).without_receipt()
    })
}

fn neighbours<O: Ord>(effort: Effort, claimed: f64, law: impl Fn(i64) -> Law<O>) -> Found {
    let mut found = Found::claim(claimed);
    for n in 0..effort.of(10, 50) {
        let (here, there) = (law(n), law(n + 1));
        let loss = here.pure_loss(&there).max(there.pure_loss(&here));
        found.see(loss, || format!("{n} records and {}", n + 1));
    }
    found
}

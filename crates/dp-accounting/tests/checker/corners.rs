//! Places where arithmetic goes wrong first.

use dp_check::Law;

use crate::queries::{Ask, Query, Verdict, sides};

fn holds(law: Law, count: u64, ask: Ask) {
    let query = Query { parts: vec![(law, count)], ask };
    let bound = query.answer();
    assert_eq!(query.verdict_with(20_000, sides(bound)), Verdict::Holds, "{query:?}: {bound}");
}

const DELTAS: [f64; 7] = [1e-300, 1e-100, 1e-16, 1e-6, 0.5, 0.999, 1.0 - 1e-9];

#[test]
fn losses_from_tiny_to_huge() {
    for epsilon in [1e-9, 1e-3, 1.0, 30.0, 200.0] {
        for delta in DELTAS {
            let laws = [
                Law::RandomisedResponse { epsilon },
                Law::DiscreteLaplace { rate: epsilon, sensitivity: 1 },
                Law::Approximate { epsilon, delta: 1e-7 },
                Law::Laplace { scale: 1.0 / epsilon },
            ];
            for law in laws {
                holds(law, 1, Ask::Epsilon { delta });
            }
            holds(Law::RandomisedResponse { epsilon }, 40, Ask::Epsilon { delta });
        }
    }
}

#[test]
fn gaussians_from_little_noise_to_much_and_from_one_use_to_many() {
    for multiplier in [0.01, 0.3, 1.0, 50.0, 1e7] {
        for count in [1, 1000, 1_000_000_000] {
            for delta in DELTAS {
                holds(Law::Gaussian { multiplier }, count, Ask::Epsilon { delta });
            }
            for epsilon in [0.0, 1e-9, 1.0, 40.0] {
                holds(Law::Gaussian { multiplier }, count, Ask::Delta { epsilon });
            }
        }
    }
}

#[test]
fn discrete_gaussians_from_hardly_any_noise_to_a_lot() {
    for variance in [0.02, 0.3, 7.0, 1e3] {
        for delta in [1e-100, 1e-6, 0.3] {
            holds(Law::DiscreteGaussian { variance, sensitivity: 1 }, 1, Ask::Epsilon { delta });
        }
    }
}

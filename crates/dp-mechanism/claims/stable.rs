//! Checks of histograms over keys that nobody can list.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use dp_accounting::{Delta, Epsilon, Mu, gaussian_delta};
use dp_audit::harness::{Check, Effort, Found};
use dp_audit::{Method, Window, exact_law};
use dp_mechanism::{Draws, Private, StableHistogram};

pub(super) fn checks() -> Vec<Check> {
    let check = |id: &str, relation, keys: u32| {
        Check::new(id, "StableHistogram", relation, Method::Exact, move |effort| {
            neighbours(effort, keys, keys)
        })
    };
    vec![
        check("stable-histogram-added", "add-remove", 1),
        check("stable-histogram-replaced", "replace-one", 2),
    ]
}

/// So many that nothing is rare any more.
const MANY: u64 = 1_000_000;

/// The delta of neighbours at several epsilons, as a share of that of the Gaussian part and the mass outside of it. The noise is that for
/// `planned` keys of which a record changes `changed`.
pub(crate) fn neighbours(_: Effort, planned: u32, changed: u32) -> Found {
    let mut found = Found::claim(1.0);
    for (mu, delta) in [(1.0, 0.05), (2.0, 0.01), (0.8, 0.2), (3.0, 1e-4)] {
        let keys = NonZeroU32::new(planned).expect("not 0");
        let outside = Delta::new(delta).expect("valid");
        let histogram = StableHistogram::new(Mu::new(mu).expect("valid"), outside, keys);
        let histogram = histogram.expect("in range");
        let law = |counts: [u64; 2]| {
            // Around a large count, or around none and the threshold.
            let window = if counts[0] < MANY / 2 {
                Window::new(-6, histogram.threshold() + 8)
            } else {
                Window::new(MANY.cast_signed() - 12, MANY.cast_signed() + 12)
            };
            let counts: BTreeMap<u32, u64> = (0..).zip(counts).collect();
            exact_law(window, |draws| {
                let counts = Private::new(&counts);
                histogram.release(counts, &mut Draws::unplanned(draws))
            })
            .without_receipt()
        };
        let pairs: &[[[u64; 2]; 2]] = match changed {
            1 => &[
                [[0, 0], [1, 0]],
                [[2, 0], [3, 0]],
                [[5, 0], [5, 1]],
                [[4, 4], [5, 4]],
                [[MANY, 0], [MANY + 1, 0]],
            ],
            _ => &[
                [[1, 0], [0, 1]],
                [[2, 0], [1, 1]],
                [[2, 3], [3, 2]],
                [[1, 5], [0, 6]],
                [[MANY, MANY], [MANY + 1, MANY - 1]],
            ],
        };
        for [a, b] in pairs {
            let (here, there) = (law(*a), law(*b));
            for epsilon in [0.0, 0.3, 1.0, 3.0, 8.0] {
                let at = Epsilon::new(epsilon).expect("valid");
                let claimed = delta + gaussian_delta(1.0 / mu, at).get();
                let seen = here.delta(&there, epsilon).max(there.delta(&here, epsilon));
                found.see(seen / claimed, || format!("{mu} {delta}: {a:?} and {b:?} at {epsilon}"));
            }
        }
    }
    found
}

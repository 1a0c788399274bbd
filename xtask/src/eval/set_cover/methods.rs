//! The algorithms of the suite with their settings.

use crate::error::Error;
use dp_accounting::{Budget, Delta, Epsilon, repeated_selection_epsilon};
use dp_combinatorial::set_cover::{
    Cover, ScalingThresholds, SetCoverGreedyScaling, SetCoverSelect, SetCoverThresholds,
    exact_greedy,
};
use dp_combinatorial::{Certificate, ChaCha20Rng, Incidence, Mechanism, SelectionRule};
use rand::seq::SliceRandom;

/// Of every method that has one.
pub(super) const DELTA: f64 = 1e-6;

/// An algorithm with a variant of it; `default` is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Method {
    pub(super) algorithm: &'static str,
    pub(super) variant: &'static str,
}

const fn method(algorithm: &'static str, variant: &'static str) -> Method {
    Method { algorithm, variant }
}

/// Without and with privacy; the first two have no epsilon.
pub(super) const METHODS: [Method; 13] = [
    method("greedy", "default"),
    method("random", "default"),
    method("set-cover-select", "default"),
    method("set-cover-select", "exponential"),
    method("set-cover-select", "noisy max"),
    method("set-cover-thresholds", "default"),
    method("set-cover-thresholds", "ratio 1.5"),
    method("set-cover-thresholds", "ratio 2"),
    method("set-cover-gupta", "default"),
    method("set-cover-gupta", "published constant"),
    method("set-cover-composition", "default"),
    method("set-cover-greedy-scaling", "default"),
    method("set-cover-as-published", "noise corrected"),
];

/// Those whose curves are drawn, and which are run on large families.
pub(super) const MAIN: [&str; 5] =
    ["greedy", "random", "set-cover-select", "set-cover-thresholds", "set-cover-gupta"];

impl Method {
    /// Whether it looks at the users, under a guarantee.
    pub(super) fn has_epsilon(self) -> bool {
        !["greedy", "random"].contains(&self.algorithm)
    }

    pub(super) fn is_main(self) -> bool {
        MAIN.contains(&self.algorithm) && self.variant == "default"
    }

    pub(super) fn delta(self) -> Option<f64> {
        let delta = if self.algorithm == "set-cover-gupta" { DELTA } else { 0.0 };
        self.has_epsilon().then_some(delta)
    }

    pub(super) fn run(
        self,
        family: &Incidence,
        epsilon: f64,
        rng: &mut ChaCha20Rng,
    ) -> Result<Cover, Error> {
        let failed = |error: &dyn std::error::Error| Error::library(self.algorithm, &error);
        let sets = u32::try_from(family.sets()).expect("sets are numbered in 32 bits");
        let budget = |epsilon, delta| Budget::new(epsilon, delta).map_err(|e| failed(&e));
        let released = |plan: SetCoverSelect, rng: &mut ChaCha20Rng| {
            plan.simulate(family, rng).map(|release| release.output).map_err(|e| failed(&e))
        };
        match self.algorithm {
            "greedy" => Ok(Cover { order: exact_greedy(family), noisy_gains: Vec::new() }),
            "random" => {
                let mut order: Vec<u32> = (0..sets).collect();
                order.shuffle(rng);
                Ok(Cover { order, noisy_gains: Vec::new() })
            }
            "set-cover-select" => {
                let plan = SetCoverSelect::builder(sets, budget(epsilon, 0.0)?);
                let plan = match self.variant {
                    "exponential" => plan.rule(SelectionRule::Exponential),
                    "noisy max" => plan.rule(SelectionRule::NoisyMax),
                    _ => plan,
                };
                released(plan.build().map_err(|e| failed(&e))?, rng)
            }
            "set-cover-composition" => {
                let plan = SetCoverSelect::builder(sets, budget(epsilon, 0.0)?)
                    .certificate(Certificate::Composition);
                released(plan.build().map_err(|e| failed(&e))?, rng)
            }
            "set-cover-gupta" => {
                let delta = Delta::new(DELTA).map_err(|e| failed(&e))?;
                // The published constant is that of a smaller epsilon under our bound.
                let epsilon = if self.variant == "default" {
                    epsilon
                } else {
                    let published = epsilon / (2.0 * (1.0 - DELTA.ln()));
                    let rate = Epsilon::new(published).map_err(|e| failed(&e))?;
                    repeated_selection_epsilon(rate, delta).map_or(epsilon, Epsilon::get)
                };
                let plan = SetCoverSelect::builder(sets, budget(epsilon, DELTA)?)
                    .certificate(Certificate::Approximate { delta })
                    .rule(SelectionRule::Exponential);
                released(plan.build().map_err(|e| failed(&e))?, rng)
            }
            "set-cover-thresholds" => {
                // A public bound: the next power of two above a number that is not public here.
                let users = u32::try_from(family.users()).expect("users are numbered in 32 bits");
                let most_users = users.checked_next_power_of_two().unwrap_or(u32::MAX);
                let plan = SetCoverThresholds::builder(sets, most_users, budget(epsilon, 0.0)?);
                let plan = match self.variant {
                    "ratio 1.5" => plan.ratio(1.5),
                    "ratio 2" => plan.ratio(2.0),
                    _ => plan,
                };
                let plan = plan.build().map_err(|e| failed(&e))?;
                plan.simulate(family, rng).map(|release| release.output).map_err(|e| failed(&e))
            }
            _ => {
                let thresholds = match self.algorithm {
                    "set-cover-as-published" => ScalingThresholds::Proof,
                    _ => ScalingThresholds::Practical,
                };
                let plan = SetCoverGreedyScaling::builder(sets, budget(epsilon, 0.0)?);
                let plan = plan.thresholds(thresholds).build().map_err(|e| failed(&e))?;
                plan.simulate(family, rng).map(|release| release.output).map_err(|e| failed(&e))
            }
        }
    }
}

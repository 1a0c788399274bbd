//! The algorithms of the suite with their settings.

use crate::error::Error;
use crate::eval::family::{Label, Named, method};
use dp_accounting::{Budget, Delta, Epsilon, repeated_selection_epsilon};
use dp_combinatorial::set_cover::{
    Cover, ScalingThresholds, SetCoverGreedyScaling, SetCoverGreedyScalingSettings, SetCoverSelect,
    SetCoverSelectSettings, SetCoverThresholds, SetCoverThresholdsSettings, exact_greedy,
};
use dp_combinatorial::{Certificate, ChaCha20Rng, Incidence, Mechanism, SelectionRule};
use rand::seq::SliceRandom;

/// Of every method that has one.
pub(super) const DELTA: f64 = 1e-6;

/// One algorithm at one setting.
pub(crate) type Method = Named<How>;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum How {
    /// Without privacy.
    Greedy,
    /// Looks at nobody.
    Random,
    Select(SelectionRule),
    /// Every choice pays for itself.
    Composition,
    /// All choices for one price under approximate privacy, at the epsilon that was asked for or the one that the published constant
    /// comes to under our bound.
    Gupta {
        published: bool,
    },
    /// With thresholds that fall by this ratio, if it is not the usual one.
    Thresholds(Option<f64>),
    Scaling(ScalingThresholds),
}

pub(super) const METHODS: [Method; 13] = [
    method("greedy", "default", How::Greedy),
    method("random", "default", How::Random),
    method("set-cover-select", "default", How::Select(SelectionRule::PermuteAndFlip)),
    method("set-cover-select", "exponential", How::Select(SelectionRule::Exponential)),
    method("set-cover-select", "noisy max", How::Select(SelectionRule::NoisyMax)),
    method("set-cover-thresholds", "default", How::Thresholds(None)),
    method("set-cover-thresholds", "ratio 1.5", How::Thresholds(Some(1.5))),
    method("set-cover-thresholds", "ratio 2", How::Thresholds(Some(2.0))),
    method("set-cover-gupta", "default", How::Gupta { published: false }),
    method("set-cover-gupta", "published constant", How::Gupta { published: true }),
    method("set-cover-composition", "default", How::Composition),
    method("set-cover-greedy-scaling", "default", How::Scaling(ScalingThresholds::Practical)),
    method("set-cover-as-published", "noise corrected", How::Scaling(ScalingThresholds::Proof)),
];

/// Those whose curves are drawn, and which are run on large families.
pub(super) const MAIN: [&str; 5] =
    ["greedy", "random", "set-cover-select", "set-cover-thresholds", "set-cover-gupta"];

impl Method {
    pub(super) fn is_main(self) -> bool {
        MAIN.contains(&self.algorithm) && self.variant == "default"
    }

    pub(super) fn label(self) -> Label {
        let has_epsilon = !matches!(self.how, How::Greedy | How::Random);
        let is_greedy = self.how == How::Greedy;
        let delta = if matches!(self.how, How::Gupta { .. }) { DELTA } else { 0.0 };
        Label {
            algorithm: self.algorithm,
            variant: self.variant.to_owned(),
            relation: (!is_greedy).then_some("add-remove"),
            has_epsilon,
            delta: has_epsilon.then_some(delta),
            once: is_greedy,
            ..Default::default()
        }
    }

    pub(super) fn run(
        self,
        family: &Incidence,
        epsilon: f64,
        rng: &mut ChaCha20Rng,
    ) -> Result<Cover, Error> {
        let sets = u32::try_from(family.sets()).expect("sets are numbered in 32 bits");
        let unnoised = |order| Ok(Cover { order, noisy_gains: Vec::new() });
        let pure = Budget::new(epsilon, 0.0)?;
        let (budget, settings) = match self.how {
            How::Greedy => return unnoised(exact_greedy(family)),
            How::Random => {
                let mut order: Vec<u32> = (0..sets).collect();
                order.shuffle(rng);
                return unnoised(order);
            }
            How::Select(rule) => (pure, SetCoverSelectSettings { rule, ..Default::default() }),
            How::Composition => {
                let certificate = Certificate::Composition;
                (pure, SetCoverSelectSettings { certificate, ..Default::default() })
            }
            How::Gupta { published } => {
                let delta = Delta::new(DELTA)?;
                // The published constant is that of a smaller epsilon under our bound.
                let rate = Epsilon::new(epsilon / (2.0 * (1.0 - DELTA.ln())))?;
                let bound = repeated_selection_epsilon(rate, delta).map_or(epsilon, Epsilon::get);
                let budget = Budget::new(if published { bound } else { epsilon }, DELTA)?;
                let certificate = Certificate::Approximate { delta };
                let rule = SelectionRule::Exponential;
                (budget, SetCoverSelectSettings { certificate, rule, partial: None })
            }
            How::Thresholds(ratio) => {
                // A public bound: the next power of two above a number that is not public here.
                let users = u32::try_from(family.users()).expect("users are numbered in 32 bits");
                let most_users = users.checked_next_power_of_two().unwrap_or(u32::MAX);
                let usual = SetCoverThresholdsSettings::default();
                let settings =
                    SetCoverThresholdsSettings { ratio: ratio.unwrap_or(usual.ratio), ..usual };
                let plan = SetCoverThresholds::new(sets, most_users, pure, settings)?;
                return Ok(plan.simulate(family, rng)?.output);
            }
            How::Scaling(thresholds) => {
                return Ok(SetCoverGreedyScaling::new(
                    sets,
                    pure,
                    SetCoverGreedyScalingSettings { thresholds, ..Default::default() },
                )?
                .simulate(family, rng)?
                .output);
            }
        };
        Ok(SetCoverSelect::new(sets, budget, settings)?.simulate(family, rng)?.output)
    }
}

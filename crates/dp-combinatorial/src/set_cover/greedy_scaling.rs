//! Set cover with a fresh sample in every round: the published algorithm, for reference.

use dp_accounting::{AddRemove, Budget, Epsilon, Receipt, Step};
use dp_mechanism::{
    Algorithm, Certificate, CreditedReports, CreditedRun, Draws, NoisyCount, Part, Private,
};
use serde::{Deserialize, Serialize};

use super::Cover;
use super::waiting::Waiting;
use crate::error::in_terms_of;
use crate::{CombinatorialError, Incidence};

/// Which thresholds [`SetCoverGreedyScaling`] uses. `b = log2(sets / beta)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScalingThresholds {
    /// Those of the proof: with `n` the noisy number of users, at least `100 b`, there are
    /// `R = log2(n / (100 b))` rounds and the sample must show `1000 n / 2^r` users in round `r`,
    /// with noise of rate `ln 2`. Of interest only for very many users.
    Proof,
    /// The smallest for which the noise of all sets together stays in place: `2 (b + R - r + 3)`
    /// users of the sample, with noise of all that a round may spend, and as many rounds as it takes
    /// to come from the noisy number of users down to there.
    #[default]
    Practical,
}

/// The published set cover algorithm with a proved cost, with its noise corrected; for reference.
///
/// Use [`SetCoverThresholds`](super::SetCoverThresholds): the same idea with one sample for all
/// rounds, which leaves far more users in every one of them.
///
/// # Guarantee
/// Pure `epsilon`-DP under [`AddRemove`] of users: half for the number of users, with noise of scale
/// `2 / epsilon`, and at most half for all rounds, of which the last has `epsilon / 4` and each
/// before it half of the next.
///
/// # Utility
/// With the thresholds of the proof, `O(log(users) + log(sets / beta) / epsilon)` times the least
/// cost with probability `1 - beta`, with large constants.
///
/// # Complexity
/// `O(rounds * (memberships + sets))`.
///
/// # Source
/// Ghazi, Kamath, Kumar, Manurangsi, Sealfon (2024), Algorithm 4 and Theorem 1.4. As printed, the count
/// has noise of scale `1 / (2 epsilon)` and costs four times what it may; see the errata page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Asked", into = "Asked")]
pub struct SetCoverGreedyScaling {
    asked: Asked,
    count: NoisyCount,
    /// By how many rounds follow.
    rounds: Vec<Round>,
    /// `log2(sets / beta)`.
    bits: f64,
}

/// What a round draws with.
#[derive(Clone, Debug, PartialEq)]
struct Round {
    /// On the receipt.
    name: String,
    run: CreditedRun,
    reports: CreditedReports,
}

/// On the receipt.
const COUNT: &str = "number of users";

/// Users are numbered in 32 bits, so no more rounds are of use.
const MOST_ROUNDS: usize = 32;

/// Settings of [`SetCoverGreedyScaling`]. Nothing here depends on data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SetCoverGreedyScalingSettings {
    /// Default: [`ScalingThresholds::Practical`].
    pub thresholds: ScalingThresholds,
    /// With which probability the cost may miss its bound, above 0 and below 1. Default: .1.
    pub beta: f64,
}

impl Default for SetCoverGreedyScalingSettings {
    fn default() -> Self {
        Self { thresholds: ScalingThresholds::default(), beta: 0.1 }
    }
}

/// What was asked for. The file form of plans, which are read back through their checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    sets: u32,
    budget: Budget,
    settings: SetCoverGreedyScalingSettings,
}

impl SetCoverGreedyScaling {
    /// For a family of so many sets, to be ordered within this budget.
    ///
    /// Checks every setting and calibrates all rounds; afterwards nothing can fail.
    ///
    /// # Errors
    /// [`CombinatorialError`] if there is no set, if beta is out of range, or if epsilon is too small
    /// to be divided among 32 rounds.
    pub fn new(
        sets: u32,
        budget: Budget,
        settings: SetCoverGreedyScalingSettings,
    ) -> Result<Self, CombinatorialError> {
        if sets == 0 {
            return Err(CombinatorialError::OutOfRange {
                name: "sets",
                got: 0,
                want: "at least 1",
            });
        }
        if !(settings.beta >= 1e-100 && settings.beta < 1.0) {
            let (name, want) = ("beta", "at least 1e-100 and below 1");
            return Err(CombinatorialError::real(name, settings.beta, want));
        }
        let epsilon = budget.epsilon().get();
        let too_little = in_terms_of(budget);
        let count = NoisyCount::geometric(Epsilon::new(0.5 * epsilon)?).map_err(&too_little)?;
        let round = |following: usize| {
            let halvings = i32::try_from(following).expect("few rounds");
            let epsilon = Epsilon::new(epsilon / 4.0 / 2_f64.powi(halvings))?;
            let inner = epsilon.get() + (-epsilon.get()).exp().ln_1p();
            let share = match settings.thresholds {
                ScalingThresholds::Proof => 2_f64.ln() / inner,
                ScalingThresholds::Practical => 1.0,
            };
            let part = Part { name: "tests of sets", share, rounds: sets.into() };
            let run =
                CreditedRun::new(Certificate::Subsampled, epsilon, &[part]).map_err(&too_little)?;
            let reports = run.reports(0, 1).map_err(&too_little)?;
            Ok(Round { name: format!("round before {following} more"), run, reports })
        };
        let rounds = (0..MOST_ROUNDS).map(round).collect::<Result<_, CombinatorialError>>()?;
        let bits = (f64::from(sets) / settings.beta).log2();
        Ok(Self { asked: Asked { sets, budget, settings }, count, rounds, bits })
    }

    /// The thresholds of all rounds, in users of the sample, given the noisy number of users.
    fn thresholds(&self, noisy_users: i64) -> Vec<i64> {
        let users = (noisy_users as f64).clamp(0.0, f64::from(u32::MAX));
        let thresholds: Vec<f64> = match self.asked.settings.thresholds {
            ScalingThresholds::Proof => {
                let least = 100.0 * self.bits;
                let halved = |round: i32| users.max(least) / 2_f64.powi(round);
                let rounds = (1..).take_while(|&round| halved(round) >= least);
                rounds.take(MOST_ROUNDS).map(|round| 1000.0 * halved(round)).collect()
            }
            ScalingThresholds::Practical => {
                let sampled = |following: usize| 2.0 * (self.bits + following as f64 + 3.0);
                let reaches = |following: usize| {
                    sampled(following) / self.rounds[following].run.keep_rate() >= users
                };
                let first = (0..MOST_ROUNDS).find(|&following| reaches(following));
                (0..=first.unwrap_or(MOST_ROUNDS - 1)).rev().map(sampled).collect()
            }
        };
        #[allow(clippy::cast_possible_truncation, reason = "at most 1000 * 2^32")]
        thresholds.into_iter().map(|threshold| threshold.ceil() as i64).collect()
    }
}

impl Algorithm for SetCoverGreedyScaling {
    type Relation = AddRemove;
    type Data<'a> = &'a Incidence;
    type Shape = usize;
    type Output = Cover;
    type Error = CombinatorialError;

    /// As many rounds as there can be; how many there are is released.
    fn cost(&self) -> Receipt<AddRemove> {
        let step = |round: &Round| Step::sequential(&round.name, vec![round.run.step()]);
        let rounds = self.rounds.iter().rev().map(step).collect();
        let steps = vec![Step::spend(COUNT, self.count.loss()), Step::sequential("rounds", rounds)];
        let spent = Step::sequential("all steps", steps);
        Receipt::new("set-cover-greedy-scaling", AddRemove, self.asked.budget, spent)
    }

    fn shape(incidence: &&Incidence) -> usize {
        incidence.sets()
    }

    /// # Errors
    /// [`CombinatorialError::SetCount`] if the family has another number of sets than the plan.
    fn check(&self, sets: &usize) -> Result<(), CombinatorialError> {
        super::check_sets(self.asked.sets, *sets)
    }

    fn run(&self, incidence: Private<&Incidence>, draws: &mut Draws<'_>) -> Cover {
        let users = incidence.map(Incidence::users);
        let count = users.map(|users| users as u64);
        let noisy_users = self.count.release(count, &mut draws.leaf(COUNT, 0));
        let thresholds = self.thresholds(noisy_users);
        let mut covered = users.map(|users| vec![false; users]);
        let mut rest: Vec<u32> = (0..self.asked.sets).collect();
        let mut order = Vec::with_capacity(rest.len());
        let rounds = self.rounds[..thresholds.len()].iter().rev();
        for (round, &threshold) in rounds.zip(&thresholds) {
            let draws = &mut draws.within(&round.name);
            // A fresh coin for everybody; for whom an earlier round has served it has no effect.
            let kept = round.run.sample(users, draws);
            let mut waiting =
                incidence.zip(kept.zip(covered.as_ref())).map(|(incidence, (kept, covered))| {
                    Waiting::new(incidence, |user| kept[user] && !covered[user])
                });
            let mut left = Vec::new();
            for set in rest {
                let gain = waiting.as_ref().map(|waiting| waiting.gain(set));
                if round.reports.release(gain, threshold, draws).is_none() {
                    left.push(set);
                    continue;
                }
                order.push(set);
                waiting.update(|waiting| waiting.choose(set));
                let _ = covered.as_mut().zip(incidence).map(|(covered, incidence)| {
                    for &user in incidence.users_of(set as usize) {
                        covered[user as usize] = true;
                    }
                });
            }
            rest = left;
        }
        order.extend(rest);
        Cover { order, noisy_gains: Vec::new() }
    }
}

impl TryFrom<Asked> for SetCoverGreedyScaling {
    type Error = CombinatorialError;

    fn try_from(asked: Asked) -> Result<Self, CombinatorialError> {
        Self::new(asked.sets, asked.budget, asked.settings)
    }
}

impl From<SetCoverGreedyScaling> for Asked {
    fn from(plan: SetCoverGreedyScaling) -> Self {
        plan.asked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    /// Thresholds of a round stay within reach of what the noise of all sets can do, and the first round
    /// asks for more users than there seem to be.
    #[test]
    fn rounds_of_the_reference_begin_above_the_users_and_end_above_the_noise() {
        for epsilon in [0.01, 0.1, 1.0] {
            let plan = SetCoverGreedyScaling::new(
                1_000,
                Budget::new(epsilon, 0.0).unwrap(),
                SetCoverGreedyScalingSettings::default(),
            )
            .unwrap();
            for users in [-5, 0, 100, 10_000, 1 << 30, i64::MAX] {
                let thresholds = plan.thresholds(users);
                let rounds = thresholds.len();
                assert!((1..=32).contains(&rounds));
                let noise = (1_000.0_f64 / 0.1).ln() / plan.rounds[0].reports.rate();
                let last = *thresholds.last().unwrap() as f64;
                assert!(last >= noise && last < 4.0 * noise, "{last} against {noise}");
                let first = thresholds[0] as f64 / plan.rounds[rounds - 1].run.keep_rate();
                let users = users.clamp(0, u32::MAX.into());
                assert!(rounds == 32 || first >= users as f64);
            }
            let proof = SetCoverGreedyScaling::new(
                1_000,
                Budget::new(epsilon, 0.0).unwrap(),
                SetCoverGreedyScalingSettings {
                    thresholds: ScalingThresholds::Proof,
                    ..Default::default()
                },
            )
            .unwrap();
            assert!(proof.thresholds(1_000).is_empty());
            let bits = (1_000.0_f64 / 0.1).log2();
            let thresholds = proof.thresholds(1 << 20);
            // log2(2^20 / (100 bits)) = 9.6
            assert_eq!(thresholds.len(), 9);
            assert!(thresholds.iter().all(|&threshold| threshold as f64 >= 1e5 * bits));
            assert_abs_diff_eq!(proof.rounds[3].reports.rate(), 2_f64.ln(), epsilon = 1e-8);
        }
    }
}

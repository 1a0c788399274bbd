//! Private continuous greedy with swap rounding.

use dp_accounting::{AddRemove, Budget, Receipt};
use dp_mechanism::{
    Algorithm, Cells, Certificate, CreditedRun, CreditedSelection, Draws, Part, Private,
    SelectionRule,
};
use serde::{Deserialize, Serialize};

use super::greedy::{check_credit, check_objective, checked_rank};
use super::levels::ranked_credit;
use super::objective::value_on;
use super::{Extension, Matroid, Objective, ObjectiveShape, swap_round};
use crate::CombinatorialError;
use crate::error::check_delta;

/// What one record is credited at most, in the two units that [`ContinuousGreedy`] uses. Public.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credits {
    /// In units of [`Objective`](super::Objective).
    pub most_credit: u64,
    /// In units of [`Extension`].
    pub level_credit: u64,
}

impl Credits {
    /// For [`Coverage`](super::Coverage) and [`FacilityLocation`](super::FacilityLocation).
    pub fn ranked(most_credit: u32) -> Self {
        let most_credit = most_credit.into();
        Self { most_credit, level_credit: ranked_credit(most_credit) }
    }

    /// For [`Sampled`](super::Sampled) with so many samples.
    pub fn sampled(most_credit: u64, samples: usize) -> Self {
        Self { most_credit, level_credit: most_credit.saturating_mul(samples as u64) }
    }
}

/// Settings of [`ContinuousGreedy`]. Nothing here depends on data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ContinuousGreedySettings {
    /// Steps, at least 1. Default: 4.
    pub steps: u32,
    /// Roundings among which the best is chosen privately, at least 1. Default: 8. With one, nothing is
    /// spent on the choice.
    pub roundings: u32,
    /// The share of the budget for choosing among roundings, above 0 and below 1. Default: 0.1.
    pub rounding_share: f64,
    /// Which proof pays. Default: [`Certificate::Subsampled`].
    pub certificate: Certificate,
    /// How a pick favours high gains. Default: [`SelectionRule::PermuteAndFlip`].
    pub rule: SelectionRule,
}

impl Default for ContinuousGreedySettings {
    fn default() -> Self {
        Self {
            steps: 4,
            roundings: 8,
            rounding_share: 0.1,
            certificate: Certificate::Subsampled,
            rule: SelectionRule::PermuteAndFlip,
        }
    }
}

/// What was asked for. The file form of plans, which are read back through their checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked<M> {
    matroid: M,
    credits: Credits,
    budget: Budget,
    settings: ContinuousGreedySettings,
}

/// Goes in `steps` steps from nothing to a mixture of bases, each step adding a base that private greedy
/// picks by the gains of the multilinear extension, and rounds the mixture to the best of several bases.
///
/// # Guarantee
/// `epsilon`-DP under [`AddRemove`] of records, by one [`CreditedRun`] for all picks of all steps and for
/// the final choice among the roundings; `(epsilon, delta)`-DP under [`Certificate::Approximate`].
///
/// # Utility
/// `1 - 1/e` of the best value under any matroid, up to `O(1 / steps)`, the noise of `steps * rank` picks
/// whose gains are divided by `steps`, and sampling. With one step it is [`Greedy`](super::Greedy) with
/// another certificate for its guarantee; that is usually better.
///
/// # Complexity
/// `steps * rank` picks, each the time of [`Extension`]: for coverage the memberships of all users of the
/// element that is raised. Rounding asks the matroid `steps * rank^2` times per rounding.
///
/// # Shapes and units
/// Elements are `0..m`.
///
/// # Bad records
/// As the objective says; none can make a release fail.
///
/// # Errors
/// A release is refused if the objective has another number of elements than the constraint, or credits
/// a record more than was declared. Both are public.
///
/// # Example
/// ```
/// use dp_accounting::Budget;
/// use dp_combinatorial::Incidence;
/// use dp_combinatorial::submodular::{ContinuousGreedy, ContinuousGreedySettings, Coverage, Credits, Partition};
/// use dp_mechanism::{Mechanism, chacha_from_os};
///
/// // One set of each half of a public family of ten; user `i` is in set `i % 7`.
/// let halves = Partition::new((0..10).map(|set| set / 5).collect(), vec![1, 1])?;
/// let users: Vec<[u32; 1]> = (0..1_000).map(|i| [i % 7]).collect();
/// let coverage = Coverage::new(Incidence::from_slices(10, users.iter().map(|u| &u[..]))?);
///
/// let budget = Budget::new(1.0, 0.0)?;
/// let plan = ContinuousGreedy::new(halves, Credits::ranked(1), budget, ContinuousGreedySettings { steps: 3, ..Default::default() })?;
/// let release = plan.release(&coverage, &mut chacha_from_os()?)?;
/// assert_eq!(release.output.elements.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Source
/// Călinescu, Chekuri, Pál, Vondrák (2011); Chaturvedi, Nguyen, Zakynthinou (2021) for the private form;
/// Ghazi, Kamath, Kumar, Manurangsi, Sealfon (2024), Algorithm 5, with steps of exactly `1 / steps`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Asked<M>", into = "Asked<M>")]
#[serde(bound = "M: Matroid + Clone + Serialize + serde::de::DeserializeOwned")]
pub struct ContinuousGreedy<M> {
    asked: Asked<M>,
    rank: u32,
    run: CreditedRun,
    picks: CreditedSelection,
    /// Absent if there is one rounding only.
    final_choice: Option<CreditedSelection>,
}

/// A released base, and the mixture from which it was rounded.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Rounded {
    /// Ascending.
    pub elements: Vec<usize>,
    /// The base of each step, in the order of its picks. All have the same weight; more roundings of
    /// them by [`swap_round`] are free.
    pub bases: Vec<Vec<usize>>,
}

impl<M: Matroid> ContinuousGreedy<M> {
    /// Most picks of all steps together.
    pub const MOST_PICKS: u64 = 1 << 24;
    /// Most roundings.
    pub const MOST_ROUNDINGS: u32 = 1 << 16;

    /// For a public constraint, and for objectives that credit a record no more than declared.
    ///
    /// Checks every setting; afterwards nothing can fail.
    ///
    /// # Errors
    /// [`CombinatorialError`] names the setting, its value and what would be accepted.
    pub fn new(
        matroid: M,
        credits: Credits,
        budget: Budget,
        settings: ContinuousGreedySettings,
    ) -> Result<Self, CombinatorialError> {
        let rank = checked_rank(&matroid)?;
        check_delta(settings.certificate, budget)?;
        for (name, got) in [("steps", settings.steps), ("roundings", settings.roundings)] {
            if got == 0 {
                return Err(CombinatorialError::OutOfRange { name, got: 0, want: "at least 1" });
            }
        }
        if settings.roundings > Self::MOST_ROUNDINGS {
            let (name, got) = ("roundings", settings.roundings.into());
            return Err(CombinatorialError::OutOfRange { name, got, want: "at most 2^16" });
        }
        let picks = u64::from(rank) * u64::from(settings.steps);
        if picks > Self::MOST_PICKS {
            let (name, got) = ("steps times elements to choose", picks.into());
            return Err(CombinatorialError::OutOfRange { name, got, want: "at most 2^24" });
        }
        let share = settings.rounding_share;
        if !(share > 0.0 && share < 1.0) {
            let (name, want) = ("rounding share", "above 0 and below 1");
            return Err(CombinatorialError::real(name, share, want));
        }
        let for_rounding = if settings.roundings > 1 { share } else { 0.0 };
        let mut parts = vec![Part { name: "steps", share: 1.0 - for_rounding, rounds: picks }];
        if settings.roundings > 1 {
            parts.push(Part { name: "rounding", share, rounds: 1 });
        }
        let run = CreditedRun::new(settings.certificate, budget.epsilon(), &parts)?;
        let picks = run.selection(0, settings.rule, credits.level_credit)?;
        let choice = || run.selection(1, settings.rule, credits.most_credit);
        let final_choice = (settings.roundings > 1).then(choice).transpose()?;
        Ok(Self {
            asked: Asked { matroid, credits, budget, settings },
            rank,
            run,
            picks,
            final_choice,
        })
    }

    /// One base per step.
    fn bases(
        &self,
        on: Private<(&dyn Extension, &Vec<bool>)>,
        draws: &mut Draws<'_>,
    ) -> Vec<Vec<usize>> {
        let steps = self.asked.settings.steps;
        let mut path = on.map(|(objective, kept)| objective.start_levels(kept, steps));
        let mut gains = Cells::default();
        let mut bases = Vec::new();
        for _ in 0..steps {
            let mut base = Vec::new();
            for _ in 0..self.rank {
                // Public. Never empty for a matroid.
                let candidates = self.asked.matroid.addable(&base);
                if candidates.is_empty() {
                    break;
                }
                gains.refill(&path, &candidates, |path, &element| path.gains()[element]);
                let pick = self.picks.release(&gains, draws).expect("not empty");
                let element = candidates[pick.index];
                path.update(|path| path.raise(element));
                base.push(element);
            }
            bases.push(base);
        }
        bases
    }

    /// A base out of the mixture. Public coins on released bases.
    fn rounded(&self, bases: &[Vec<usize>], draws: &mut Draws<'_>) -> Vec<usize> {
        let mixture: Vec<(Vec<usize>, u32)> = bases.iter().map(|base| (base.clone(), 1)).collect();
        // Only an oracle that is no matroid fails here; any of its sets will do.
        swap_round(&self.asked.matroid, &mixture, draws).unwrap_or_else(|_| bases[0].clone())
    }
}

impl<M: Matroid> Algorithm for ContinuousGreedy<M> {
    type Relation = AddRemove;
    type Data<'a> = &'a dyn Extension;
    type Shape = (ObjectiveShape, u64);
    type Output = Rounded;
    type Error = CombinatorialError;

    fn cost(&self) -> Receipt<AddRemove> {
        let name = "submodular continuous greedy";
        Receipt::new(name, AddRemove, self.asked.budget, self.run.step())
    }

    fn shape(objective: &&dyn Extension) -> (ObjectiveShape, u64) {
        (ObjectiveShape::of(*objective), objective.level_credit())
    }

    fn check(&self, (shape, got): &(ObjectiveShape, u64)) -> Result<(), CombinatorialError> {
        let Credits { most_credit, level_credit } = self.asked.credits;
        check_objective(shape, self.asked.matroid.elements(), most_credit)?;
        check_credit("level credit of the objective", *got, level_credit)
    }

    fn run(&self, objective: Private<&dyn Extension>, draws: &mut Draws<'_>) -> Rounded {
        let kept = self.run.sample(objective.map(Objective::records), draws);
        let on = objective.zip(kept.as_ref());
        let bases = self.bases(on, draws);
        let mut roundings: Vec<Vec<usize>> =
            (0..self.asked.settings.roundings).map(|_| self.rounded(&bases, draws)).collect();
        let best = self.final_choice.map_or(0, |choice| {
            let values = Cells::table(&on, &roundings, |(objective, kept), set| {
                value_on(*objective, kept, set)
            });
            choice.release(&values, draws).expect("at least one rounding").index
        });
        Rounded { elements: roundings.swap_remove(best), bases }
    }
}

impl<M: Matroid> TryFrom<Asked<M>> for ContinuousGreedy<M> {
    type Error = CombinatorialError;

    fn try_from(asked: Asked<M>) -> Result<Self, CombinatorialError> {
        Self::new(asked.matroid, asked.credits, asked.budget, asked.settings)
    }
}

impl<M> From<ContinuousGreedy<M>> for Asked<M> {
    fn from(greedy: ContinuousGreedy<M>) -> Self {
        greedy.asked
    }
}

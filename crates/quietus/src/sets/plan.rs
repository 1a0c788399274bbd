//! What is asked for, and the mechanism that does it.

use crate::error::Error;
use dp_accounting::{AddRemove, Budget, Receipt};
use dp_combinatorial::set_cover::{SetCoverSelect, SetCoverSelectSettings};
use dp_combinatorial::submodular::{Coverage, Greedy, GreedySettings, Objective, Uniform};
use dp_combinatorial::{CombinatorialError, Incidence};
use dp_mechanism::{Algorithm, Draws, Mechanism, Private};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the sets are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aim {
    /// To serve everybody early: an order of the sets, or the first so many of it.
    Cover(Option<u32>),
    /// To serve as many as possible with so many sets.
    Coverage(u32),
}

impl Aim {
    /// Its name on the command line.
    pub fn family(self) -> &'static str {
        match self {
            Self::Cover(_) => "cover",
            Self::Coverage(_) => "coverage",
        }
    }
}

/// All that is public.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetSettings {
    /// What the sets are for.
    pub aim: Aim,
    /// The column that says who is in a set.
    pub person: String,
    /// The column that says in which.
    pub column: String,
    /// The sets there are, from elsewhere than the people.
    pub sets: Vec<String>,
    /// Pure differential privacy.
    pub epsilon: f64,
}

/// A release of sets.
///
/// # Guarantee
/// `epsilon`-DP under [`AddRemove`] of a person with all their rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SetSettings", into = "SetSettings")]
pub struct SetPlan {
    settings: SetSettings,
    run: Run,
    places: BTreeMap<String, u32>,
}

#[derive(Clone, Debug, PartialEq)]
enum Run {
    Cover(SetCoverSelect),
    Coverage(Greedy<Uniform>),
}

impl TryFrom<SetSettings> for SetPlan {
    type Error = Error;

    fn try_from(settings: SetSettings) -> Result<Self, Error> {
        Self::new(settings)
    }
}

impl From<SetPlan> for SetSettings {
    fn from(plan: SetPlan) -> Self {
        plan.settings
    }
}

/// Sets that a release may choose from.
const MOST_SETS: u32 = 1 << 24;

impl SetPlan {
    /// Checks all settings.
    ///
    /// # Errors
    /// Names the setting and its limits.
    pub fn new(settings: SetSettings) -> Result<Self, Error> {
        let budget = Budget::new(settings.epsilon, 0.0)
            .map_err(|error| Error::library("--epsilon", &error))?;
        let mut places = BTreeMap::new();
        for (place, name) in (0..).zip(&settings.sets) {
            if places.insert(name.clone(), place).is_some() {
                let reason = format!("`{name}` is there twice");
                return Err(Error::Library { what: "the sets", reason });
            }
        }
        let sets = u32::try_from(settings.sets.len()).unwrap_or(u32::MAX);
        if !(1..=MOST_SETS).contains(&sets) {
            let (name, got) = ("the sets", settings.sets.len().to_string());
            return Err(Error::Setting { name, got, want: "1 to 16777216" });
        }
        if let Aim::Cover(Some(k)) | Aim::Coverage(k) = settings.aim
            && !(1..=sets).contains(&k)
        {
            let reason = format!("must be 1 to {sets}, as many as there are sets, got {k}");
            return Err(Error::Library { what: "--k", reason });
        }
        let refuse = |error: CombinatorialError| Error::library("the plan", &error);
        let run = match settings.aim {
            Aim::Cover(k) => {
                let settings = SetCoverSelectSettings { partial: k, ..Default::default() };
                Run::Cover(SetCoverSelect::new(sets, budget, settings).map_err(refuse)?)
            }
            Aim::Coverage(k) => {
                let any = Uniform::new(sets as usize, k as usize).map_err(refuse)?;
                Run::Coverage(
                    Greedy::new(any, 1, budget, GreedySettings::default()).map_err(refuse)?,
                )
            }
        };
        Ok(Self { settings, run, places })
    }

    /// What was asked for.
    pub fn settings(&self) -> &SetSettings {
        &self.settings
    }

    /// How many sets there are.
    pub fn sets(&self) -> u32 {
        u32::try_from(self.settings.sets.len()).unwrap_or(u32::MAX)
    }

    /// Where a set is; `None` if there is none of this name.
    pub fn set(&self, name: &str) -> Option<u32> {
        self.places.get(name).copied()
    }

    /// How many sets are chosen.
    pub(super) fn choices(&self) -> u32 {
        match self.settings.aim {
            Aim::Cover(k) => k.unwrap_or(self.sets()),
            Aim::Coverage(k) => k,
        }
    }

    /// A chosen set serves at most so many persons fewer than the best one there was: in 95 of 100 releases, all choices at once.
    ///
    /// Of the persons a secret share takes part, `1 - exp(-epsilon)`, and among them a choice is within
    /// `ln(choices * sets / 0.05) / ln(1 + exp(epsilon))` of the best.
    pub fn most_lost(&self) -> f64 {
        let epsilon = self.settings.epsilon;
        let cases = f64::from(self.choices()) * f64::from(self.sets()) / 0.05;
        let among = cases.ln() / epsilon.exp().ln_1p();
        among / -(-epsilon).exp_m1()
    }
}

impl Algorithm for SetPlan {
    type Relation = AddRemove;
    type Data<'a> = &'a Incidence;
    type Shape = usize;
    type Output = Vec<u32>;
    type Error = CombinatorialError;

    fn cost(&self) -> Receipt<AddRemove> {
        match &self.run {
            Run::Cover(plan) => plan.receipt(),
            Run::Coverage(plan) => plan.receipt(),
        }
    }

    fn shape(people: &&Incidence) -> usize {
        people.sets()
    }

    fn check(&self, sets: &usize) -> Result<(), CombinatorialError> {
        if *sets == self.sets() as usize {
            Ok(())
        } else {
            Err(CombinatorialError::SetCount { expected: self.sets(), got: *sets })
        }
    }

    fn run(&self, people: Private<&Incidence>, draws: &mut Draws<'_>) -> Vec<u32> {
        match &self.run {
            Run::Cover(plan) => plan.run(people, draws).order,
            Run::Coverage(plan) => {
                let coverage = people.map(|people| Coverage::new(people.clone()));
                let coverage = coverage.as_ref().map(|coverage| coverage as &dyn Objective);
                let chosen = plan.run(coverage, draws).elements;
                chosen.into_iter().map(|set| u32::try_from(set).unwrap_or(u32::MAX)).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Aim, SetPlan, SetSettings};
    use approx::assert_abs_diff_eq;

    /// By hand: `ln(3 * 10 / 0.05) / ln(1 + e) / (1 - 1 / e)` for three of ten sets, and with `ln(10 * 10 / 0.05)` for an order of all.
    #[test]
    fn what_a_choice_may_lose_counts_all_choices_and_those_who_take_no_part() {
        for (aim, want) in [(Aim::Coverage(3), 7.7058), (Aim::Cover(None), 9.1562)] {
            let plan = SetPlan::new(SetSettings {
                aim,
                person: "who".to_owned(),
                column: "set".to_owned(),
                sets: (0..10).map(|set| set.to_string()).collect(),
                epsilon: 1.0,
            });
            let plan = plan.unwrap();
            assert_abs_diff_eq!(plan.most_lost(), want, epsilon = 1e-3);
            let said = super::super::report::report(&plan);
            let whole = format!("more than {:.0} persons fewer", want.ceil());
            assert!(said.contains(&whole), "not less than it is: {said}");
        }
    }
}

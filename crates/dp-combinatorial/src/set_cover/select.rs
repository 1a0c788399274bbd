//! Set cover by choosing one set after the other.

use dp_accounting::{AddRemove, Budget, Receipt};
use dp_mechanism::{
    Algorithm, Certificate, CreditedRun, CreditedSelection, Draws, Part, Private, SelectionRule,
};
use serde::{Deserialize, Serialize};

use super::Cover;
use super::waiting::Waiting;
use crate::error::check_delta;
use crate::{CombinatorialError, Incidence};

/// A private order of all sets, or the first sets of one, by repeated selection.
///
/// Every step chooses a set that serves many waiting users, at random with a preference for more.
/// It goes on to the end, also when nobody waits any more.
///
/// # Guarantee
/// Pure `epsilon`-DP under [`AddRemove`] of users, whatever the number of sets, by
/// [`Certificate::Subsampled`] (the default): a user counts until a set of theirs is chosen and pays
/// for that one choice. [`Certificate::Composition`] is pure too, with noise that grows with the
/// number of sets, and [`Certificate::Approximate`] is `(epsilon, delta)`-DP.
///
/// # Utility
/// Each choice is within `ln(sets / beta) / ln(1 + e^epsilon)` waiting users of the best with
/// probability `1 - beta`, among the `1 - e^(-epsilon)` of users that take part. The known bound on
/// the cost is `O(log(users) log(sets) / epsilon)` times the least one; in practice it comes close to
/// greedy as soon as most sets serve more than a few dozen users over `epsilon`.
///
/// # Complexity
/// `O(memberships + steps * sets)`, where steps after everyone is served take constant time.
///
/// # Source
/// Gupta, Ligett, McSherry, Roth, Talwar (2010) for the algorithm; Ghazi, Kamath, Kumar,
/// Manurangsi, Sealfon (2024), Appendix F, for the sample, with a sharper pairing of sample and
/// noise, and with permute-and-flip in place of the exponential mechanism.
///
/// ```
/// use dp_combinatorial::set_cover::{SetCoverSelect, SetCoverSelectSettings};
/// use dp_combinatorial::{Budget, Incidence, Mechanism, chacha_from_os};
///
/// // 900 users, each in two of three sets; nobody is in all of them.
/// let lists: [&[u32]; 3] = [&[0, 1], &[0, 2], &[0, 1]];
/// let incidence = Incidence::from_slices(3, (0..900).map(|user| lists[user % 3]))?;
/// let plan = SetCoverSelect::new(3, Budget::new(1.0, 0.0)?, SetCoverSelectSettings::default())?;
/// let release = plan.release(&incidence, &mut chacha_from_os()?)?;
/// assert_eq!(release.output.order[0], 0); // 900 users wait for it, 600 and 300 for the others
/// assert!(release.receipt.within_budget());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Asked", into = "Asked")]
pub struct SetCoverSelect {
    asked: Asked,
    run: CreditedRun,
    selection: CreditedSelection,
}

/// Settings of [`SetCoverSelect`]. Nothing here depends on data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SetCoverSelectSettings {
    /// Which proof pays. Default: [`Certificate::Subsampled`].
    pub certificate: Certificate,
    /// How a choice favours sets that serve many. Default: [`SelectionRule::PermuteAndFlip`].
    ///
    /// [`SelectionRule::NoisyMax`] chooses a little worse and also says, for free, about how many
    /// users each set serves.
    pub rule: SelectionRule,
    /// Only the first `sets` sets of the order: for a cover of most users. Default: all.
    pub partial: Option<u32>,
}

impl Default for SetCoverSelectSettings {
    fn default() -> Self {
        Self {
            certificate: Certificate::Subsampled,
            rule: SelectionRule::PermuteAndFlip,
            partial: None,
        }
    }
}

/// What was asked for. The file form of plans, which are read back through their checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    sets: u32,
    budget: Budget,
    settings: SetCoverSelectSettings,
}

impl SetCoverSelect {
    /// For a family of so many sets, to be ordered within this budget.
    ///
    /// Checks every setting and calibrates the choices; afterwards nothing can fail.
    ///
    /// # Errors
    /// [`CombinatorialError`] if there is no set, if the partial cover has none or more than there
    /// are, if `delta` of the certificate is above that of the budget, or if there is no proof for
    /// the rule under the certificate.
    pub fn new(
        sets: u32,
        budget: Budget,
        settings: SetCoverSelectSettings,
    ) -> Result<Self, CombinatorialError> {
        let steps = settings.partial.unwrap_or(sets);
        if sets == 0 || steps == 0 {
            let name = if sets == 0 { "sets" } else { "partial" };
            return Err(CombinatorialError::OutOfRange { name, got: 0, want: "at least 1" });
        }
        if steps > sets {
            let (got, most) = (steps.into(), sets.into());
            let most_name = "the number of sets";
            return Err(CombinatorialError::AboveLimit { name: "partial", got, most_name, most });
        }
        check_delta(settings.certificate, budget)?;
        let part = Part { name: "choices of sets", share: 1.0, rounds: steps.into() };
        let run = CreditedRun::new(settings.certificate, budget.epsilon(), &[part])?;
        let selection = run.selection(0, settings.rule, 1)?;
        Ok(Self { asked: Asked { sets, budget, settings }, run, selection })
    }

    /// About how many users the first one, two, three, ... sets of the order serve, from the noisy
    /// gains of a release of this plan; costs nothing. Where it first reaches a share of a public
    /// number of users, a partial cover of that share can end.
    ///
    /// Too low on average rather than too high: what is taken off each gain is the mean of the
    /// largest noise among all candidates, `(1 + 1/2 + ... + 1/candidates) / rate`. Empty if there
    /// are no noisy gains.
    #[must_use]
    pub fn post_users_served(&self, cover: &Cover) -> Vec<f64> {
        let harmonic = |n: u32| (1..=n).map(|i| f64::from(i).recip()).sum::<f64>();
        let candidates = (1..=self.asked.sets).rev();
        let mut largest_noise = harmonic(self.asked.sets);
        let mut served: f64 = 0.0;
        let of_gain = |(&gain, candidates): (&i64, u32)| {
            let noise = largest_noise / self.selection.rate();
            largest_noise -= f64::from(candidates).recip();
            served += (gain as f64 - noise) / self.run.keep_rate();
            served
        };
        cover.noisy_gains.iter().zip(candidates).map(of_gain).collect()
    }
}

impl Algorithm for SetCoverSelect {
    type Relation = AddRemove;
    type Data<'a> = &'a Incidence;
    type Shape = usize;
    type Output = Cover;
    type Error = CombinatorialError;

    fn cost(&self) -> Receipt<AddRemove> {
        Receipt::new("set-cover-select", AddRemove, self.asked.budget, self.run.step())
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
        let kept = self.run.sample(incidence.map(Incidence::users), draws);
        let mut waiting =
            incidence.zip(kept).map(|(incidence, kept)| Waiting::new(incidence, |user| kept[user]));
        let mut rest: Vec<u32> = (0..self.asked.sets).collect();
        let mut cover = Cover::default();
        for _ in 0..self.asked.settings.partial.unwrap_or(self.asked.sets) {
            let gains = waiting.as_mut().map(|waiting| waiting.gains(&rest));
            let selected = self.selection.release_unless_zero(rest.len(), gains, draws);
            let selected = selected.expect("not more rounds than sets");
            let set = rest.swap_remove(selected.index);
            waiting.update(|waiting| waiting.choose(set));
            cover.order.push(set);
            cover.noisy_gains.extend(selected.noisy_score);
        }
        cover
    }
}

impl TryFrom<Asked> for SetCoverSelect {
    type Error = CombinatorialError;

    fn try_from(asked: Asked) -> Result<Self, CombinatorialError> {
        Self::new(asked.sets, asked.budget, asked.settings)
    }
}

impl From<SetCoverSelect> for Asked {
    fn from(plan: SetCoverSelect) -> Self {
        plan.asked
    }
}

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
/// use dp_combinatorial::set_cover::SetCoverSelect;
/// use dp_combinatorial::{Budget, Incidence, Mechanism, chacha_from_os};
///
/// // 900 users, each in two of three sets; nobody is in all of them.
/// let lists: [&[u32]; 3] = [&[0, 1], &[0, 2], &[0, 1]];
/// let incidence = Incidence::from_slices(3, (0..900).map(|user| lists[user % 3]))?;
/// let plan = SetCoverSelect::builder(3, Budget::new(1.0, 0.0)?).build()?;
/// let release = plan.release(&incidence, &mut chacha_from_os()?)?;
/// assert_eq!(release.output.order[0], 0); // 900 users wait for it, 600 and 300 for the others
/// assert!(release.receipt.within_budget());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SetCoverSelectBuilder", into = "SetCoverSelectBuilder")]
pub struct SetCoverSelect {
    settings: SetCoverSelectBuilder,
    run: CreditedRun,
    selection: CreditedSelection,
}

/// Public settings of [`SetCoverSelect`]; made by [`SetCoverSelect::builder`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SetCoverSelectBuilder {
    sets: u32,
    budget: Budget,
    certificate: Certificate,
    rule: SelectionRule,
    partial: Option<u32>,
}

impl SetCoverSelectBuilder {
    /// Which proof pays. Default: [`Certificate::Subsampled`].
    #[must_use]
    pub fn certificate(mut self, certificate: Certificate) -> Self {
        self.certificate = certificate;
        self
    }

    /// How a choice favours sets that serve many. Default: [`SelectionRule::PermuteAndFlip`].
    ///
    /// [`SelectionRule::NoisyMax`] chooses a little worse and also says, for free, about how many
    /// users each set serves.
    #[must_use]
    pub fn rule(mut self, rule: SelectionRule) -> Self {
        self.rule = rule;
        self
    }

    /// Only the first `sets` sets of the order: for a cover of most users. Default: all.
    #[must_use]
    pub fn partial(mut self, sets: u32) -> Self {
        self.partial = Some(sets);
        self
    }

    /// Checks every setting and calibrates the choices; afterwards nothing can fail.
    ///
    /// # Errors
    /// [`CombinatorialError`] if there is no set, if the partial cover has none or more than there
    /// are, if `delta` of the certificate is above that of the budget, or if there is no proof for
    /// the rule under the certificate.
    pub fn build(self) -> Result<SetCoverSelect, CombinatorialError> {
        let steps = self.partial.unwrap_or(self.sets);
        if self.sets == 0 || steps == 0 {
            let name = if self.sets == 0 { "sets" } else { "partial" };
            return Err(CombinatorialError::OutOfRange { name, got: 0, want: "at least 1" });
        }
        if steps > self.sets {
            let (got, most) = (steps.into(), self.sets.into());
            let most_name = "the number of sets";
            return Err(CombinatorialError::AboveLimit { name: "partial", got, most_name, most });
        }
        check_delta(self.certificate, self.budget)?;
        let part = Part { name: "choices of sets", share: 1.0, rounds: steps.into() };
        let run = CreditedRun::new(self.certificate, self.budget.epsilon(), &[part])?;
        let selection = run.selection(0, self.rule, 1)?;
        Ok(SetCoverSelect { settings: self, run, selection })
    }
}

impl SetCoverSelect {
    /// Settings for a family of so many sets, to be ordered within this budget.
    pub fn builder(sets: u32, budget: Budget) -> SetCoverSelectBuilder {
        SetCoverSelectBuilder {
            sets,
            budget,
            certificate: Certificate::Subsampled,
            rule: SelectionRule::PermuteAndFlip,
            partial: None,
        }
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
        let candidates = (1..=self.settings.sets).rev();
        let mut largest_noise = harmonic(self.settings.sets);
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
        Receipt::new("set-cover-select", AddRemove, self.settings.budget, self.run.step())
    }

    fn shape(incidence: &&Incidence) -> usize {
        incidence.sets()
    }

    /// # Errors
    /// [`CombinatorialError::SetCount`] if the family has another number of sets than the plan.
    fn check(&self, sets: &usize) -> Result<(), CombinatorialError> {
        super::check_sets(self.settings.sets, *sets)
    }

    fn run(&self, incidence: Private<&Incidence>, draws: &mut Draws<'_>) -> Cover {
        let kept = self.run.sample(incidence.map(Incidence::users), draws);
        let mut waiting =
            incidence.zip(kept).map(|(incidence, kept)| Waiting::new(incidence, |user| kept[user]));
        let mut rest: Vec<u32> = (0..self.settings.sets).collect();
        let mut cover = Cover::default();
        for _ in 0..self.settings.partial.unwrap_or(self.settings.sets) {
            let gains = waiting.as_mut().map(|waiting| waiting.gains(&rest));
            let selected = self.selection.release_unless_zero(rest.len(), gains, draws);
            let set = rest.swap_remove(selected.index);
            waiting.update(|waiting| waiting.choose(set));
            cover.order.push(set);
            cover.noisy_gains.extend(selected.noisy_score);
        }
        cover
    }
}

impl TryFrom<SetCoverSelectBuilder> for SetCoverSelect {
    type Error = CombinatorialError;

    fn try_from(settings: SetCoverSelectBuilder) -> Result<Self, CombinatorialError> {
        settings.build()
    }
}

impl From<SetCoverSelect> for SetCoverSelectBuilder {
    fn from(plan: SetCoverSelect) -> Self {
        plan.settings
    }
}

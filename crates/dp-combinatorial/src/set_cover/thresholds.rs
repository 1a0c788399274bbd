//! Set cover by falling thresholds, which needs no more than passes over the sets.

use std::convert::Infallible;

use dp_accounting::{AddRemove, Budget, Receipt};
use dp_mechanism::{
    Algorithm, Certificate, CreditedReports, CreditedRun, CryptoRng, Draws, Mechanism, Part,
    Private, Release, ReleaseRng, SecureSource, Source, Usage,
};
use serde::{Deserialize, Serialize};

use super::Cover;
use super::stream::{PrivateStream, SetStream, WaitingBits};
use super::uniform::shuffled;
use super::waiting::Waiting;
use crate::{CombinatorialError, Incidence};

/// A private order of all sets, by tests against thresholds that fall from pass to pass.
///
/// Every pass goes over the sets that have not been chosen and chooses those that serve, up to
/// noise, as many waiting users as its threshold says. The sets that are left after the last pass
/// follow in random order.
///
/// # Guarantee
/// Pure `epsilon`-DP under [`AddRemove`] of users, whatever the number of sets and passes: a user
/// counts until a set of theirs is chosen and pays for that one choice. A test that says no costs
/// nothing, since the noise is one-sided; the secret sample makes up for that.
///
/// # Utility
/// A set is chosen for certain in a pass whose threshold its waiting users in the sample reach, and
/// with probability `exp(-rate * missing)` if some are missing; `rate = ln(1 + e^epsilon)`. Without noise, the order costs at most
/// about `ratio` times what greedy may cost. That the cost is within
/// `O(log(users) + log(sets) / epsilon)` of the least is proved for a fresh sample in every pass
/// ([`SetCoverGreedyScaling`](super::SetCoverGreedyScaling)), not for the one sample here, which
/// does far better in practice.
///
/// # Complexity
/// `O(memberships + passes * sets)` in memory; [`release_stream`](Self::release_stream) takes
/// `O(passes * memberships)` and holds one bit per user and a word per set.
///
/// # Source
/// Ghazi, Kamath, Kumar, Manurangsi, Sealfon (2024), Algorithms 2 and 4, with one sample for all
/// passes and on integers; Kumar, Moseley, Vassilvitskii, Vattani (2015) for the passes.
///
/// ```
/// use dp_combinatorial::set_cover::{SetCoverThresholds, SetCoverThresholdsSettings};
/// use dp_combinatorial::{Budget, Incidence, Mechanism, chacha_from_os};
///
/// let lists: [&[u32]; 3] = [&[0, 1], &[0, 2], &[0, 1]];
/// let incidence = Incidence::from_slices(3, (0..900).map(|user| lists[user % 3]))?;
/// // That there are no more than a thousand users is public.
/// let plan = SetCoverThresholds::new(3, 1_000, Budget::new(1.0, 0.0)?, SetCoverThresholdsSettings::default())?;
/// let release = plan.release(&incidence, &mut chacha_from_os()?)?;
/// assert_eq!(release.output.order[0], 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Asked", into = "Asked")]
pub struct SetCoverThresholds {
    asked: Asked,
    run: CreditedRun,
    reports: CreditedReports,
    /// In users of the sample, falling.
    thresholds: Vec<i64>,
}

/// Settings of [`SetCoverThresholds`]. Nothing here depends on data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SetCoverThresholdsSettings {
    /// By what factor the threshold falls from pass to pass, from 1.001 to 1000. Default: 1.25.
    pub ratio: f64,
    /// Where the thresholds end, in users of the sample (a share `1 - e^(-epsilon)` of all), at
    /// least 1. Default: half of the noise that some set in ten runs exceeds,
    /// `ln(10 sets) / (2 ln(1 + e^epsilon))`, or where they begin if that is lower.
    pub floor: Option<f64>,
}

impl Default for SetCoverThresholdsSettings {
    fn default() -> Self {
        Self { ratio: 1.25, floor: None }
    }
}

/// What was asked for. The file form of plans, which are read back through their checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    sets: u32,
    most_users: u32,
    budget: Budget,
    settings: SetCoverThresholdsSettings,
}

/// From `start` down by factors of `ratio`, ending with `floor`, rounded up, each once.
fn falling(start: f64, ratio: f64, floor: f64) -> Vec<i64> {
    let above = std::iter::successors(Some(start), |threshold| Some(threshold / ratio));
    let above = above.take_while(|&threshold| threshold > floor);
    #[allow(clippy::cast_possible_truncation, reason = "between 1 and 2^32")]
    let mut thresholds: Vec<i64> =
        above.chain([floor]).map(|threshold| threshold.ceil() as i64).collect();
    thresholds.dedup();
    thresholds
}

impl SetCoverThresholds {
    /// For a family of so many sets, at most so many users, and this budget.
    ///
    /// The bound on the users must be public. It only says where the thresholds begin: with more
    /// users than that, the guarantee is the same and the cover may be worse.
    ///
    /// Checks every setting and calibrates the tests; afterwards nothing can fail.
    ///
    /// # Errors
    /// [`CombinatorialError`] if there is no set or no user, or if the ratio or the floor is out of
    /// range.
    pub fn new(
        sets: u32,
        most_users: u32,
        budget: Budget,
        settings: SetCoverThresholdsSettings,
    ) -> Result<Self, CombinatorialError> {
        for (name, count) in [("sets", sets), ("most_users", most_users)] {
            if count == 0 {
                return Err(CombinatorialError::OutOfRange { name, got: 0, want: "at least 1" });
            }
        }
        if !(1.001..=1000.0).contains(&settings.ratio) {
            let (name, want) = ("ratio", "from 1.001 to 1000");
            return Err(CombinatorialError::real(name, settings.ratio, want));
        }
        // The thresholds depend on the rate, the rate not on how many tests there are.
        let run = |rounds| {
            let part = Part { name: "tests of sets", share: 1.0, rounds };
            CreditedRun::new(Certificate::Subsampled, budget.epsilon(), &[part])
        };
        let start = (f64::from(most_users) * run(1)?.keep_rate()).max(1.0);
        let usual = 0.5 * (f64::from(sets) * 10.0).ln() / run(1)?.reports(0, 1)?.rate();
        let floor = settings.floor.unwrap_or(usual.clamp(1.0, start));
        if !(floor >= 1.0 && floor <= start) {
            return Err(CombinatorialError::Floor { got: floor, most: start });
        }
        let thresholds = falling(start, settings.ratio, floor);
        let run = run(thresholds.len() as u64 * u64::from(sets))?;
        let reports = run.reports(0, 1)?;
        Ok(Self { asked: Asked { sets, most_users, budget, settings }, run, reports, thresholds })
    }

    /// The thresholds of the passes, in users of the sample. Public.
    pub fn thresholds(&self) -> &[i64] {
        &self.thresholds
    }

    /// One run over sets that are read pass by pass.
    fn run_stream<S: SetStream>(
        &self,
        stream: &mut S,
        draws: &mut Draws<'_>,
    ) -> Result<Cover, S::Error> {
        let mut stream = PrivateStream::new(stream);
        let nobody = stream.users().map(|users| (users as usize, WaitingBits::new(users)));
        let mut waiting = self.run.sample_into(nobody, WaitingBits::put, draws);
        let mut chosen = vec![false; self.asked.sets as usize];
        let mut order = Vec::new();
        for &threshold in &self.thresholds {
            let mut tested = vec![false; chosen.len()];
            stream.pass(|set, users| {
                let at = set as usize;
                // A pass has one test for every set: what is shown again is passed over.
                if at >= chosen.len() || chosen[at] || std::mem::replace(&mut tested[at], true) {
                    return;
                }
                let gain = waiting.as_mut().zip(users).map(|(waiting, users)| waiting.gain(users));
                if self.reports.release(gain, threshold, draws).is_some() {
                    let _ =
                        waiting.as_mut().zip(users).map(|(waiting, users)| waiting.choose(users));
                    chosen[at] = true;
                    order.push(set);
                }
            })?;
        }
        Ok(Self::with_the_rest(order, &chosen, draws))
    }

    /// One fresh release from sets that are read pass by pass, with its receipt. Its law is that of
    /// [`release`](Mechanism::release) on the same memberships.
    ///
    /// # Errors
    /// The first error of the stream. What it says about the data is up to the stream, and so is
    /// whether it may be seen: the run counts as spent.
    pub fn release_stream<S: SetStream>(
        &self,
        stream: &mut S,
        rng: &mut ReleaseRng,
    ) -> Result<Release<Cover, AddRemove>, S::Error> {
        self.simulate_stream(stream, rng)
    }

    /// The same with a generator of the caller's choice, for tests and evaluations on data that may be
    /// published: who knows the seed knows the noise.
    ///
    /// # Errors
    /// As [`release_stream`](Self::release_stream).
    pub fn simulate_stream<S: SetStream, R: CryptoRng + ?Sized>(
        &self,
        stream: &mut S,
        rng: &mut R,
    ) -> Result<Release<Cover, AddRemove>, S::Error> {
        let (output, _) = self.replay_stream(stream, &mut SecureSource::new(rng));
        Ok(Release { output: output?, receipt: self.receipt() })
    }

    /// The same with any source of draws, for audits.
    pub fn replay_stream<S: SetStream>(
        &self,
        stream: &mut S,
        source: &mut dyn Source,
    ) -> (Result<Cover, S::Error>, Usage) {
        Draws::planned(source, &self.cost(), |draws| self.run_stream(stream, draws))
    }

    fn with_the_rest(mut order: Vec<u32>, chosen: &[bool], draws: &mut Draws<'_>) -> Cover {
        let rest = (0..).zip(chosen).filter(|(_, chosen)| !**chosen).map(|(set, _)| set);
        order.extend(shuffled(rest.collect(), draws));
        Cover { order, noisy_gains: Vec::new() }
    }
}

impl Algorithm for SetCoverThresholds {
    type Relation = AddRemove;
    type Data<'a> = &'a Incidence;
    type Shape = usize;
    type Output = Cover;
    type Error = CombinatorialError;

    fn cost(&self) -> Receipt<AddRemove> {
        Receipt::new("set-cover-thresholds", AddRemove, self.asked.budget, self.run.step())
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
        let mut chosen = vec![false; self.asked.sets as usize];
        let mut order = Vec::new();
        for &threshold in &self.thresholds {
            for (set, chosen) in (0..).zip(&mut chosen).filter(|(_, chosen)| !**chosen) {
                let gain = waiting.as_ref().map(|waiting| waiting.gain(set));
                if self.reports.release(gain, threshold, draws).is_some() {
                    waiting.update(|waiting| waiting.choose(set));
                    *chosen = true;
                    order.push(set);
                }
            }
        }
        Self::with_the_rest(order, &chosen, draws)
    }
}

/// Sets in memory are a stream that never fails.
impl SetStream for &Incidence {
    type Error = Infallible;

    fn users(&self) -> u32 {
        u32::try_from(Incidence::users(self)).expect("users are numbered in 32 bits")
    }

    fn pass(&mut self, visit: &mut dyn FnMut(u32, &[u32])) -> Result<(), Infallible> {
        for (set, id) in (0..self.sets()).zip(0..) {
            visit(id, self.users_of(set));
        }
        Ok(())
    }
}

impl TryFrom<Asked> for SetCoverThresholds {
    type Error = CombinatorialError;

    fn try_from(asked: Asked) -> Result<Self, CombinatorialError> {
        Self::new(asked.sets, asked.most_users, asked.budget, asked.settings)
    }
}

impl From<SetCoverThresholds> for Asked {
    fn from(plan: SetCoverThresholds) -> Self {
        plan.asked
    }
}

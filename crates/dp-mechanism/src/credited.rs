//! A run of selections that a record pays for once, because it counts only until it is served.

use std::num::NonZeroU64;

use dp_accounting::{
    Covered, Delta, Epsilon, Loss, Step, repeated_selection_epsilon, repeated_selection_loss,
};
use dp_noise::{Geometric, Ratio};
use serde::{Deserialize, Serialize};

use crate::rational::{ratio_at_most, sum_up, to_f64};
use crate::reports::ReportNoise;
use crate::source::value_of;
use crate::{CellsRef, Draws, Law, MechanismError, PoissonSample, Private, Source, SparseScores};

/// Which proof pays for a run of selections.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Certificate {
    /// Every selection pays for itself, on all records.
    Composition,
    /// The run sees a secret sample of the records and is pure.
    Subsampled,
    /// The run sees all records and is approximate.
    Approximate {
        /// The probability that a record is charged more often than the proof allows for.
        delta: Delta,
    },
}

/// How a selection favours high scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SelectionRule {
    /// Probability proportional to `exp(rate * score)`.
    Exponential,
    /// Permute-and-flip: never further from the best score in expectation, up to twice as close.
    PermuteAndFlip,
    /// The largest score with one-sided geometric noise, released with that noisy score.
    NoisyMax,
}

/// A part of a run with its share of what the run may spend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// What it is for, on the receipt.
    pub name: &'static str,
    /// Its share; those of all parts add up to 1 at most.
    pub share: f64,
    /// How many draws it makes at most: public, fixed beforehand.
    pub rounds: u64,
}

/// Selections, threshold tests and counts over records that are credited a bounded amount in all.
///
/// # Contract
/// A record adds a non-negative amount to every score, and the amounts that it adds to the *chosen*
/// candidates of a part (to the reported values, for tests) sum to at most the `most_credit` of that
/// part, whatever is chosen. What is scored, in which order and how often follows from public numbers
/// and from what was released before. Coverage has this by nature: a record counts for the sets that
/// hold it until one of them is chosen, and then never again. Each part is used for one thing, and makes
/// at most its number of rounds.
///
/// # Guarantee
/// Under [`AddRemove`](dp_accounting::AddRemove), for the `epsilon` given:
/// - [`Subsampled`](Certificate::Subsampled): pure. A record more raises the log probability of any
///   sequence of outputs by at most `inner = ln(1 + e^epsilon)`: each part spends its share of that per
///   credit, and all other factors only fall. The secret sample makes this one-sided guarantee
///   two-sided, see [`PoissonSample`]. One sample serves all parts.
/// - [`Composition`](Certificate::Composition): pure, `share * epsilon / rounds` for each selection.
///   Here `most_credit` need only bound the credit of one selection.
/// - [`Approximate`](Certificate::Approximate): `(epsilon, delta)`, by [`repeated_selection_loss`].
///
/// # Utility
/// A selection is within `most_credit * ln(candidates / beta) / share / inner` of the best score, on the
/// sample, with probability `1 - beta`; the sample keeps `1 - e^(-epsilon)` of the records.
///
/// # Precision
/// Exact; what may be spent per credit is rounded down to 32 bits.
///
/// # Source
/// Ghazi, Kamath, Kumar, Manurangsi, Sealfon (2024), Theorems 4.3 and 5.3 and Lemma 3.1, with the
/// sharper pairing of rate and sample; Gupta, Ligett, McSherry, Roth, Talwar (2010) for the
/// approximate form.
#[derive(Clone, Debug, PartialEq)]
pub struct CreditedRun {
    certificate: Certificate,
    sample: Option<PoissonSample>,
    parts: Vec<Planned>,
    epsilon: Epsilon,
}

/// A part with what it spends per unit of its most credit: in all, or per round under composition.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Planned {
    name: &'static str,
    rounds: u64,
    spends: Ratio,
}

impl CreditedRun {
    /// The largest credit of a record.
    pub const MOST_CREDIT: u64 = 1 << 62;

    /// A run of these parts.
    ///
    /// # Errors
    /// [`MechanismError`] if `epsilon`, a share or a number of rounds is zero, if `epsilon` is too small
    /// for the shares and rounds, if the shares add up to more than 1, or if `delta` is zero.
    pub fn new(
        certificate: Certificate,
        epsilon: Epsilon,
        parts: &[Part],
    ) -> Result<Self, MechanismError> {
        if let Some(part) = parts.iter().find(|part| part.share.is_nan() || part.share <= 0.0) {
            return Err(MechanismError::Shares { got: part.share });
        }
        if parts.iter().any(|part| part.rounds == 0) {
            return Err(MechanismError::NotPositive { name: "rounds of a part" });
        }
        // Shares such as ten times .1 add up to 1 only roughly; the excess, if there may be one, is divided out below.
        let total = sum_up(parts.iter().map(|part| part.share));
        if parts.is_empty() || total > 1.0 + 1e-9 {
            return Err(MechanismError::Shares { got: total });
        }
        let (sample, inner) = match certificate {
            Certificate::Subsampled => {
                let sample = PoissonSample::new(epsilon)?;
                (Some(sample), sample.inner())
            }
            Certificate::Composition => (None, epsilon),
            Certificate::Approximate { delta } => {
                let name = "delta of the certificate";
                let each = repeated_selection_loss(epsilon, delta);
                (None, each.ok_or(MechanismError::NotPositive { name })?)
            }
        };
        let planned = |part: &Part| {
            let mut spends = inner.get() * part.share / total.max(1.0) * (1.0 - 1e-14);
            if certificate == Certificate::Composition {
                spends *= (1.0 - 1e-14) / part.rounds as f64;
            }
            let spends = ratio_at_most(spends).ok_or_else(|| too_little(epsilon))?;
            Ok(Planned { name: part.name, rounds: part.rounds, spends })
        };
        let parts = parts.iter().map(planned).collect::<Result<_, _>>()?;
        Ok(Self { certificate, sample, parts, epsilon })
    }

    /// The proof that pays for it.
    pub fn certificate(&self) -> Certificate {
        self.certificate
    }

    /// What the run costs, for a receipt under [`AddRemove`](dp_accounting::AddRemove).
    pub fn step(&self) -> Step {
        match (self.certificate, &self.sample) {
            (Certificate::Composition, _) => {
                let rounds = |part: &Planned| {
                    let epsilon = Epsilon::new(to_f64(part.spends)).expect("positive");
                    let each = Step::spend(part.name, Loss::Pure { epsilon });
                    let rounds = usize::try_from(part.rounds).unwrap_or(usize::MAX);
                    Step::sequential(part.name, vec![each; rounds])
                };
                Step::sequential("selections", self.parts.iter().map(rounds).collect())
            }
            (Certificate::Approximate { delta }, _) => {
                // The rounded rates cost no more than what was asked for.
                let spends = self.parts.iter().map(|part| to_f64(part.spends));
                let spent = Epsilon::new(sum_up(spends)).ok();
                let spent = spent.and_then(|each| repeated_selection_epsilon(each, delta));
                let epsilon = spent.unwrap_or(self.epsilon);
                let loss = Loss::Approximate { epsilon, delta };
                Step::spend_on(self.names("on all records"), loss, self.covers())
            }
            (Certificate::Subsampled, sample) => {
                let epsilon = sample.as_ref().map_or(self.epsilon, PoissonSample::epsilon);
                let loss = Loss::Pure { epsilon };
                Step::spend_on(self.names("on one secret sample"), loss, self.covers())
            }
        }
    }

    /// All parts are paid for together.
    fn covers(&self) -> Vec<Covered> {
        let part = |part: &Planned| Covered { name: part.name.into(), draws: Some(part.rounds) };
        self.parts.iter().map(part).collect()
    }

    /// The loss on the receipt that pays for the draws of a part.
    fn paid_by(&self, part: &Planned) -> Loss {
        match self.step() {
            Step::Spend { loss, .. } => loss,
            _ => Loss::Pure { epsilon: Epsilon::new(to_f64(part.spends)).expect("positive") },
        }
    }

    fn names(&self, on: &str) -> String {
        let names: Vec<&str> = self.parts.iter().map(|part| part.name).collect();
        format!("{} {on}", names.join(", "))
    }

    /// For each of `n` records, whether it takes part. To be asked once about a record.
    pub fn sample(
        &self,
        n: impl Into<Private<usize>>,
        draws: &mut Draws<'_>,
    ) -> Private<Vec<bool>> {
        match &self.sample {
            Some(sample) => sample.sample(n, draws),
            None => n.into().map(|n| vec![true; n]),
        }
    }

    /// The same into a state of the caller's, which comes with the number of records: `put` gets it, the number of a record, and
    /// whether that takes part.
    pub fn sample_into<T>(
        &self,
        state: Private<(usize, T)>,
        put: impl Fn(&mut T, usize, bool) + Sync,
        draws: &mut Draws<'_>,
    ) -> Private<T> {
        match &self.sample {
            Some(sample) => sample.sample_into(state, put, draws),
            None => state.map(|(n, mut state)| {
                (0..n).for_each(|record| put(&mut state, record, true));
                state
            }),
        }
    }

    /// The rate at which records take part, for estimates.
    pub fn keep_rate(&self) -> f64 {
        self.sample.as_ref().map_or(1.0, PoissonSample::rate)
    }

    /// The selections of a part, counted from 0.
    ///
    /// # Errors
    /// [`MechanismError`] if there is no such part, if `most_credit` is zero or too large, and if there is no proof for the rule:
    /// [`NoisyMax`](SelectionRule::NoisyMax) lets out more than an index, which nothing but the sample
    /// makes good; the approximate certificate is proved for [`Exponential`](SelectionRule::Exponential).
    pub fn selection(
        &self,
        part: usize,
        rule: SelectionRule,
        most_credit: u64,
    ) -> Result<CreditedSelection, MechanismError> {
        let proved = match self.certificate {
            Certificate::Subsampled => true,
            Certificate::Composition => rule != SelectionRule::NoisyMax,
            Certificate::Approximate { .. } => rule == SelectionRule::Exponential,
        };
        if !proved {
            let what = match rule {
                SelectionRule::NoisyMax => "a noisy maximum without the subsampled certificate",
                _ => "any rule but the exponential one under the approximate certificate",
            };
            return Err(MechanismError::NoProof { what });
        }
        let rate = self.rate(part, most_credit)?;
        let noise = match rule {
            SelectionRule::NoisyMax => Some(self.geometric(rate, most_credit)?),
            SelectionRule::Exponential | SelectionRule::PermuteAndFlip => None,
        };
        let planned = &self.parts[part];
        Ok(CreditedSelection {
            name: planned.name,
            paid_by: self.paid_by(planned),
            rule,
            rate,
            noise,
        })
    }

    /// The threshold tests or counts of a part.
    ///
    /// # Errors
    /// As [`selection`](Self::selection); their noise is one-sided, so they need the sample.
    pub fn reports(
        &self,
        part: usize,
        most_credit: u64,
    ) -> Result<CreditedReports, MechanismError> {
        if self.certificate != Certificate::Subsampled {
            return Err(MechanismError::NoProof {
                what: "one-sided noise without a secret sample",
            });
        }
        let rate = self.rate(part, most_credit)?;
        let planned = &self.parts[part];
        Ok(CreditedReports {
            name: planned.name,
            paid_by: self.paid_by(planned),
            rate,
            noise: ReportNoise::OneSided(self.geometric(rate, most_credit)?),
        })
    }

    fn rate(&self, part: usize, most_credit: u64) -> Result<Ratio, MechanismError> {
        let parts = self.parts.len();
        let planned = self.parts.get(part).ok_or(MechanismError::Part { got: part, parts })?;
        let name = "most credit of a record";
        let credit = NonZeroU64::new(most_credit).ok_or(MechanismError::NotPositive { name })?;
        // Scores are sums of credits in `i64`.
        let credit_fits = credit.get() <= Self::MOST_CREDIT;
        let per_credit = Ratio::new(1, credit.get().into()).ok().filter(|_| credit_fits);
        let rate = per_credit.and_then(|per_credit| planned.spends.checked_mul(per_credit));
        rate.ok_or(MechanismError::TooMuchNoise { name, got: credit.get() as f64 })
    }

    /// The noise of a rate. If it is too much, the error names what was asked for: the credit, or
    /// `epsilon` where that is 1.
    fn geometric(&self, rate: Ratio, most_credit: u64) -> Result<Geometric, MechanismError> {
        let (name, got) = ("most credit of a record", most_credit as f64);
        let too_much = match most_credit {
            1 => too_little(self.epsilon),
            _ => MechanismError::TooMuchNoise { name, got },
        };
        rate.recip().and_then(|scale| Geometric::new(scale).ok()).ok_or(too_much)
    }
}

fn too_little(epsilon: Epsilon) -> MechanismError {
    MechanismError::TooMuchNoise { name: "epsilon", got: epsilon.get() }
}

/// What a selection released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selected {
    /// The candidate, by its place among the scores.
    pub index: usize,
    /// Its score with noise, under [`SelectionRule::NoisyMax`].
    pub noisy_score: Option<i64>,
}

/// The selections of a part of a [`CreditedRun`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CreditedSelection {
    name: &'static str,
    paid_by: Loss,
    rule: SelectionRule,
    rate: Ratio,
    /// Of a noisy maximum.
    noise: Option<Geometric>,
}

impl CreditedSelection {
    /// One selection.
    ///
    /// # Errors
    /// [`MechanismError::NoCandidates`]. Their number is public; nothing is drawn or charged then.
    pub fn release<'s>(
        &self,
        scores: impl Into<CellsRef<'s, i64>>,
        draws: &mut Draws<'_>,
    ) -> Result<Selected, MechanismError> {
        let scores = scores.into().0;
        if scores.is_empty() {
            return Err(MechanismError::NoCandidates);
        }
        Ok(self.choose(scores, draws.charge_next(self.name, self.paid_by)))
    }

    fn choose(&self, scores: &[i64], source: &mut dyn Source) -> Selected {
        let only = |index| Selected { index, noisy_score: None };
        match self.rule {
            SelectionRule::Exponential => only(source.choose(scores, self.rate)),
            SelectionRule::PermuteAndFlip => only(source.flip(scores, self.rate)),
            SelectionRule::NoisyMax => {
                let noise = self.noise.expect("made for this rule");
                let (index, noisy_score) = source.noisy_max(scores, noise);
                Selected { index, noisy_score: Some(noisy_score) }
            }
        }
    }

    /// One selection among far more candidates than could be listed, always
    /// [exponential](SelectionRule::Exponential): all certificates are proved for that.
    pub fn release_sparse(&self, scores: Private<&SparseScores>, draws: &mut Draws<'_>) -> u64 {
        draws.charge_next(self.name, self.paid_by).choose_sparse(scores.into_draw(), self.rate)
    }

    /// One selection among so many candidates, whose scores are `None` if all are 0: a choice of an index alone is then made without
    /// going through them, with the same law. Missing scores are 0, and those beyond the candidates are left out.
    ///
    /// # Errors
    /// [`MechanismError::NoCandidates`]. Their number is public; nothing is drawn or charged then.
    pub fn release_unless_zero(
        &self,
        candidates: usize,
        scores: Private<Option<&[i64]>>,
        draws: &mut Draws<'_>,
    ) -> Result<Selected, MechanismError> {
        if candidates == 0 {
            return Err(MechanismError::NoCandidates);
        }
        let source = draws.charge_next(self.name, self.paid_by);
        Ok(match scores.into_draw() {
            Some(scores) if scores.len() == candidates => self.choose(scores, source),
            None if self.rule != SelectionRule::NoisyMax => {
                let index = source.choose_among_zeros(candidates, self.rule, self.rate);
                Selected { index, noisy_score: None }
            }
            scores => {
                let mut scores = scores.unwrap_or_default().to_vec();
                scores.resize(candidates, 0);
                self.choose(&scores, source)
            }
        })
    }

    /// How it favours high scores.
    pub fn rule(&self) -> SelectionRule {
        self.rule
    }

    /// What one unit of score is worth in the logarithm of a probability.
    pub fn rate(&self) -> f64 {
        to_f64(self.rate)
    }

    /// The mean of the noise of one score under [`SelectionRule::NoisyMax`]; that of the winner is larger.
    pub fn mean_noise(&self) -> f64 {
        self.rate().exp_m1().recip()
    }
}

/// The threshold tests or counts of a part of a [`CreditedRun`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CreditedReports {
    name: &'static str,
    paid_by: Loss,
    rate: Ratio,
    noise: ReportNoise,
}

impl CreditedReports {
    /// The value with one-sided noise if that reaches the threshold.
    pub fn release(
        &self,
        value: impl Into<Private<i64>>,
        threshold: i64,
        draws: &mut Draws<'_>,
    ) -> Option<i64> {
        let value = value.into().into_draw();
        let source = draws.charge_next(self.name, self.paid_by);
        let noisy = source.draw(Law::Report { value, threshold, noise: self.noise });
        (noisy >= threshold).then_some(noisy)
    }

    /// A count, which is never negative, with one-sided noise.
    pub fn count(&self, count: impl Into<Private<u64>>, draws: &mut Draws<'_>) -> i64 {
        let count = value_of(count.into().into_draw());
        let source = draws.charge_next(self.name, self.paid_by);
        source.draw(Law::Report { value: count, threshold: 0, noise: self.noise })
    }

    /// What one unit of value is worth in the logarithm of a probability.
    pub fn rate(&self) -> f64 {
        to_f64(self.rate)
    }

    /// The mean of the noise.
    pub fn mean_noise(&self) -> f64 {
        self.rate().exp_m1().recip()
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;
    use rand::SeedableRng;

    use super::*;
    use crate::SecureSource;

    fn epsilon(x: f64) -> Epsilon {
        Epsilon::new(x).expect("valid")
    }

    fn parts(shares: &[f64], rounds: u64) -> Vec<Part> {
        shares.iter().map(|&share| Part { name: "picks", share, rounds }).collect()
    }

    #[test]
    fn rates_are_those_of_the_guarantee() {
        let inner = (1.0 + 0.2_f64.exp()).ln();
        let run = CreditedRun::new(Certificate::Subsampled, epsilon(0.2), &parts(&[0.75, 0.25], 9))
            .expect("in range");
        let rate = |part, credit| {
            run.selection(part, SelectionRule::NoisyMax, credit).expect("in range").rate()
        };
        assert_abs_diff_eq!(rate(0, 1), 0.75 * inner, epsilon = 1e-8);
        assert_abs_diff_eq!(rate(1, 10), 0.025 * inner, epsilon = 1e-8);
        assert_abs_diff_eq!(run.keep_rate(), 1.0 - (-0.2_f64).exp(), epsilon = 1e-8);
        let spent = run.step().pure().expect("pure").get();
        assert!(spent <= 0.2 && spent > 0.2 * (1.0 - 1e-8));

        let run = CreditedRun::new(Certificate::Composition, epsilon(0.2), &parts(&[0.5, 0.5], 4))
            .expect("in range");
        let selection = run.selection(1, SelectionRule::PermuteAndFlip, 2).expect("in range");
        assert_abs_diff_eq!(selection.rate(), 0.2 / 16.0, epsilon = 1e-9);
        let spent = run.step().pure().expect("pure").get();
        assert!(spent <= 0.2 && spent > 0.2 * (1.0 - 1e-8));

        let delta = Delta::new(1e-6).expect("valid");
        let certificate = Certificate::Approximate { delta };
        let run = CreditedRun::new(certificate, epsilon(1.0), &parts(&[1.0], 5)).expect("valid");
        let selection = run.selection(0, SelectionRule::Exponential, 1).expect("in range");
        // e^rate - 1 = 1 / 17.7, as computed by hand.
        assert_abs_diff_eq!(selection.rate(), (1.0 + 1.0 / 17.7_f64).ln(), epsilon = 1e-4);
        let spent = run.step().epsilon(delta).expect("approximate").get();
        assert!(spent <= 1.0 && spent > 1.0 - 1e-6);
    }

    /// Shares are decimal numbers, so their sum may be a little above 1; what all parts spend together may not be.
    #[test]
    fn parts_spend_no_more_together_than_there_is() {
        let delta = Delta::new(1e-6).expect("valid");
        for certificate in
            [Certificate::Composition, Certificate::Subsampled, Certificate::Approximate { delta }]
        {
            for (asked, number) in [(0.1, 3_u32), (0.3, 7), (1.0, 2), (1.7, 10)] {
                let share = (1.0 + 9e-10) / f64::from(number);
                let parts = parts(&vec![share; number as usize], 1);
                let run = CreditedRun::new(certificate, epsilon(asked), &parts).expect("in range");
                let all = match certificate {
                    Certificate::Subsampled => run.sample.expect("a sample").inner(),
                    Certificate::Composition => epsilon(asked),
                    Certificate::Approximate { delta } => {
                        repeated_selection_loss(epsilon(asked), delta).expect("a delta")
                    }
                };
                let spent: f64 = run.parts.iter().map(|part| to_f64(part.spends)).sum();
                assert!(spent <= all.get() && spent > all.get() * (1.0 - 2e-9), "{certificate:?}");
            }
        }
    }

    /// Two thousand shares that are nothing beside the largest one, if they are added to it one by one, and yet a part of what there is.
    #[test]
    fn small_shares_beside_a_whole_one_are_divided_out() {
        let shares = [&[1.0][..], &[1.1e-16; 2_000]].concat();
        let one_by_one: f64 = shares.iter().sum();
        assert_eq!(one_by_one.to_bits(), 1.0_f64.to_bits());
        for step in 0..64 {
            let asked = epsilon(0.650_033_950_805_664_1 + f64::from(step) * 1e-3);
            let run = CreditedRun::new(Certificate::Subsampled, asked, &parts(&shares, 1));
            let run = run.expect("in range");
            let spent = sum_up(run.parts.iter().map(|part| to_f64(part.spends)));
            assert!(spent <= run.sample.expect("a sample").inner().get(), "{asked}: {spent}");
        }
    }

    /// Forty parts that are less than what a sum next to the largest one rounds to: the receipt has them.
    #[test]
    fn small_parts_beside_a_large_one_are_on_the_receipt() {
        let delta = Delta::new(1e-6).expect("valid");
        let mut shares = vec![6e-17; 41];
        shares[20] = 0.9;
        let certificate = Certificate::Approximate { delta };
        let run = CreditedRun::new(certificate, epsilon(1.0), &parts(&shares, 1)).expect("valid");
        let large = to_f64(run.parts[20].spends);
        let small = 40.0 * to_f64(run.parts[0].spends);
        assert!(small > 10.0 * f64::EPSILON * large, "{small:e} {large}");
        let plain = large + to_f64(run.parts[0].spends);
        assert_eq!(plain.to_bits(), large.to_bits(), "one by one they are lost");
        let least = Epsilon::new(large + small).expect("valid");
        let stated = run.step().epsilon(delta).expect("approximate");
        assert!(stated >= repeated_selection_epsilon(least, delta).expect("a delta"), "{stated}");
    }

    #[test]
    fn what_has_no_proof_is_refused() {
        let delta = Delta::new(1e-6).expect("valid");
        let no_proof = |certificate, rule| {
            let run = CreditedRun::new(certificate, epsilon(1.0), &parts(&[1.0], 5)).expect("ok");
            matches!(run.selection(0, rule, 1), Err(MechanismError::NoProof { .. }))
        };
        let approximate = Certificate::Approximate { delta };
        assert!(no_proof(Certificate::Composition, SelectionRule::NoisyMax));
        assert!(no_proof(approximate, SelectionRule::PermuteAndFlip));
        assert!(!no_proof(approximate, SelectionRule::Exponential));
        assert!(!no_proof(Certificate::Subsampled, SelectionRule::NoisyMax));
        let run = CreditedRun::new(approximate, epsilon(1.0), &parts(&[1.0], 5)).expect("valid");
        assert!(matches!(run.reports(0, 1), Err(MechanismError::NoProof { .. })));
    }

    /// The number of candidates is public; how many scores a record list makes is not.
    #[test]
    fn a_selection_is_among_all_candidates_whatever_is_scored() {
        let run = CreditedRun::new(Certificate::Subsampled, epsilon(0.1), &parts(&[1.0], 9));
        let run = run.expect("in range");
        let mut rng = dp_noise::ChaCha20Rng::seed_from_u64(1);
        for rule in
            [SelectionRule::Exponential, SelectionRule::PermuteAndFlip, SelectionRule::NoisyMax]
        {
            let selection = run.selection(0, rule, 1).expect("in range");
            for scored in [vec![], vec![1, 2], vec![1; 9]] {
                let chosen: std::collections::BTreeSet<usize> = (0..200)
                    .map(|_| {
                        let source = &mut SecureSource::new(&mut rng);
                        let scores = Private::new(Some(scored.as_slice()));
                        selection
                            .release_unless_zero(4, scores, &mut Draws::unplanned(source))
                            .expect("four candidates")
                            .index
                    })
                    .collect();
                assert_eq!(chosen, (0..4).collect(), "{rule:?} of {scored:?}");
            }
        }
    }

    #[test]
    fn without_a_sample_everybody_takes_part() {
        let run = CreditedRun::new(Certificate::Composition, epsilon(1.0), &parts(&[1.0], 1));
        let run = run.expect("in range");
        let mut rng = dp_noise::ChaCha20Rng::seed_from_u64(3);
        let draws = &mut SecureSource::new(&mut rng);
        let draws = &mut Draws::unplanned(draws);
        let put = |all: &mut Vec<(usize, bool)>, record, takes_part| all.push((record, takes_part));
        let all = run.sample_into(Private::owned((3, Vec::new())), put, draws);
        assert_eq!(all.into_draw(), [(0, true), (1, true), (2, true)]);
        assert_eq!(run.sample(2_usize, draws).into_draw(), [true; 2]);
    }

    /// Noise of one side is often 0 here.
    #[test]
    fn a_value_at_the_threshold_is_always_reported() {
        let run = CreditedRun::new(Certificate::Subsampled, epsilon(3.0), &parts(&[1.0], 9));
        let reports = run.expect("in range").reports(0, 1).expect("in range");
        let mut rng = dp_noise::ChaCha20Rng::seed_from_u64(2);
        let noisy: Vec<Option<i64>> = (0..50)
            .map(|_| {
                let source = &mut SecureSource::new(&mut rng);
                reports.release(7, 7, &mut Draws::unplanned(source))
            })
            .collect();
        assert!(noisy.contains(&Some(7)) && noisy.iter().all(|noisy| *noisy >= Some(7)));
    }

    #[test]
    fn settings_out_of_range_are_refused() {
        let build = |shares: &[f64], rounds| {
            CreditedRun::new(Certificate::Subsampled, epsilon(1.0), &parts(shares, rounds))
        };
        assert!(matches!(build(&[], 1), Err(MechanismError::Shares { .. })));
        assert!(matches!(build(&[0.6, 0.5], 1), Err(MechanismError::Shares { .. })));
        assert!(matches!(build(&[f64::NAN], 1), Err(MechanismError::Shares { .. })));
        assert_eq!(build(&[0.5, 0.0], 1), Err(MechanismError::Shares { got: 0.0 }));
        // Their sum is fine; the error is about the one that is not.
        assert_eq!(build(&[1.5, -0.5], 1), Err(MechanismError::Shares { got: -0.5 }));
        let name = "rounds of a part";
        assert_eq!(build(&[0.5], 0), Err(MechanismError::NotPositive { name }));
        let small = CreditedRun::new(Certificate::Composition, epsilon(1e-19), &parts(&[1.0], 9));
        assert_eq!(small, Err(MechanismError::TooMuchNoise { name: "epsilon", got: 1e-19 }));
        assert!(build(&[0.1; 10], 1).is_ok());
        let run = build(&[1.0], 1).expect("valid");
        assert!(matches!(run.reports(0, 0), Err(MechanismError::NotPositive { .. })));
        assert!(matches!(run.reports(0, u64::MAX), Err(MechanismError::TooMuchNoise { .. })));
        let none = CreditedRun::new(Certificate::Subsampled, Epsilon::ZERO, &parts(&[1.0], 1));
        assert!(matches!(none, Err(MechanismError::NotPositive { .. })));
    }
}

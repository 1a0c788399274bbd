//! Comparing two runs that release the same values.
//!
//! By adaptive composition, the privacy loss of a run is the sum over its draws of what each gives
//! away given the values released before it. So run the mechanism on `D`, keep the released values,
//! run it on a neighbour `D'` with those values forced on it, and compare the laws of the draws one
//! by one. No law of the whole output is needed, so the size of the mechanism does not matter.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use dp_accounting::{AnyRelation, Epsilon, Loss, Receipt, Relation, Rho};
use dp_mechanism::{
    DiscreteGaussian, Geometric, Law, Noise, Ratio, ReportNoise, Source, SparseScores,
};

use serde::Serialize;

use crate::bits::same_bits;
use crate::harness::TOLERANCE;
use crate::noise_law::{
    NoiseLaw, choice_log_probabilities, flip_log_probabilities, noisy_max_log_probability,
    report_log_probability, sparse_choice_log_ratios,
};
use crate::numbers::{Floats, ratio_to_f64, worse};
use crate::promises::Promises;
use crate::relation::{Neighbours, NotNeighbours};

/// What a comparison says when it meets a secret coin.
pub(crate) const SECRET: &str = "a secret draw cannot be compared; use the exact law";

/// Which kind of draw a step was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DrawKind {
    /// An index chosen by exponential weights.
    Choice,
    /// An index by permute-and-flip.
    Flip,
    /// The place and the value of a noisy maximum. Its losses are those of the pair that *was*
    /// released, with their sign.
    NoisyMax,
    /// An integer with noise.
    Noisy,
    /// A comparison with a threshold.
    Exceeds,
    /// A vector with Gaussian noise.
    Vector,
    /// A noisy count that is only released from a threshold on. Its pure losses are those of the value
    /// that *was* released, with their sign: a monitor pays for what it says. Its zero-concentrated cost is
    /// an average over what could have been released, so it is bounded by the worst of that.
    Report,
}

/// What one draw gives away, given all values released before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepLoss {
    /// Which kind of draw it was.
    pub kind: DrawKind,
    /// Largest log ratio over all values of this draw, data set over neighbour; infinite for
    /// Gaussian noise on unequal values.
    pub forward: f64,
    /// The same, neighbour over data set.
    pub backward: f64,
    /// Its zero-concentrated cost: `loss tanh(loss/2)` for the largest loss if that is finite, for a choice whose log
    /// ratios have a range at most `range^2/8`, and `shift^2/(2 v)` for Gaussian noise.
    pub rho: f64,
}

/// A leaf of a receipt whose draws cost more than it says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overdrawn {
    /// The number of its first draw.
    pub draw: usize,
    /// How many times what it says.
    pub share: f64,
    /// What all draws would cost if every leaf were overspent as much, as pure loss; infinite if that is not known.
    pub pure: f64,
    /// The same in one direction, for the leaf that is overspent most in it; 0 if none is.
    pub forward: f64,
    /// The same in zCDP.
    pub rho: f64,
}

/// What two runs with equal released values have shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Under which relation the two data sets are neighbours.
    pub relation: AnyRelation,
    /// Why nothing follows from it: the data sets are not neighbours, or not those that the receipt is about. There are no steps then.
    pub refused: Option<NotNeighbours>,
    /// One entry per draw, in order.
    pub steps: Vec<StepLoss>,
    /// The number of the first draw that has no counterpart: another kind of draw, other public
    /// parameters, or none at all. Such control flow gives the data away outright.
    pub diverged: Option<usize>,
    /// The leaf of the receipt that is overspent most, if its loss is that of its draws by themselves and not of more: what one leaf
    /// overspends no other makes up for, however right their total is.
    pub overdrawn: Option<Overdrawn>,
    /// Whether the two outputs are [the same](same_bits), as they must be if they depend on the data only through
    /// the released values. True if the runs diverged.
    pub outputs_equal: bool,
}

impl Comparison {
    /// Whether the runs depend on the data in any way but through their draws, or were not to be compared: nothing that a step says counts then.
    pub fn failed(&self) -> bool {
        self.refused.is_some() || self.diverged.is_some() || !self.outputs_equal
    }

    /// What was found as a share of what a receipt claims: of its pure loss, else of its zCDP; infinite if it claims neither, or is about other
    /// neighbours.
    pub fn share_of<L: Relation>(&self, receipt: &Receipt<L>) -> f64 {
        if !receipt.relation().any().covers(self.relation) {
            return f64::INFINITY;
        }
        match (receipt.pure(), receipt.zcdp()) {
            (Some(epsilon), _) if L::TWO_SIDED => self.pure_loss() / epsilon.get(),
            (Some(epsilon), _) => self.forward_loss() / epsilon.get(),
            (None, Some(rho)) => self.rho() / rho.get(),
            (None, None) => f64::INFINITY,
        }
    }

    /// Sum of the pure losses, the worse direction; infinite if the runs diverged or were [refused](Self::refused), or if nothing was
    /// drawn: a comparison of nothing must not read as no loss. If a leaf of the receipt is [overdrawn](Self::overdrawn), at least what
    /// all would cost that are overspent as much. Of [reports](DrawKind::Report) it is what
    /// the released values cost, which other values may exceed.
    pub fn pure_loss(&self) -> f64 {
        let sum = |side: fn(&StepLoss) -> f64| self.steps.iter().map(side).sum::<f64>();
        let total = self.or_infinite(worse(sum(|s| s.forward), sum(|s| s.backward)));
        total.max(self.overdrawn.map_or(0.0, |leaf| leaf.pure))
    }

    /// The same in one direction: how much likelier the data set makes what was released than its neighbour does.
    pub fn forward_loss(&self) -> f64 {
        let total = self.or_infinite(self.steps.iter().map(|s| s.forward).sum());
        total.max(self.overdrawn.map_or(0.0, |leaf| leaf.forward))
    }

    /// Sum of the zero-concentrated costs; infinite as above.
    pub fn rho(&self) -> f64 {
        let total = self.or_infinite(self.steps.iter().map(|s| s.rho).sum());
        total.max(self.overdrawn.map_or(0.0, |leaf| leaf.rho))
    }

    fn or_infinite(&self, loss: f64) -> f64 {
        // Infinite losses of both signs have no sum, and what is no number must not pass for a small one.
        let failed = self.failed() || self.steps.is_empty() || loss.is_nan();
        if failed { f64::INFINITY } else { loss }
    }
}

/// Runs on `data` with outcomes from `outcomes`, replays on `neighbour`, and compares.
///
/// The two have to be neighbours, and those that the receipt is about: the plan says so when it begins, and no draw is made beside it. What is not
/// so is refused, and that is no pass. [`Audit`](crate::Audit) makes the pairs by itself.
///
/// ```
/// use dp_accounting::{AddRemove, Budget, Epsilon, Receipt, ReplaceOne, Step};
/// use dp_audit::{Neighbours, compare};
/// use dp_mechanism::{Draws, NoisyCount, SecureSource, Source, chacha_from_os};
///
/// // Noise for a record that comes or goes.
/// let count = NoisyCount::geometric(Epsilon::new(0.5)?)?;
/// let step = Step::spend("count", count.loss());
/// let honest = Receipt::new("count", AddRemove, Budget::new(0.5, 0.0)?, step.clone());
/// let broken = Receipt::new("count", ReplaceOne, Budget::new(0.5, 0.0)?, step);
///
/// let neighbours = Neighbours::of_records(AddRemove, |data: &Vec<u8>| data.clone());
/// let (data, one_more) = (vec![1, 2], vec![1, 2, 3]);
/// let mut rng = chacha_from_os()?;
/// let mut source = SecureSource::new(&mut rng);
/// let run = |data: &Vec<u8>, source: &mut dyn Source| {
///     let n = data.len() as u64;
///     Draws::planned(source, &honest, |draws| count.release(n, &mut draws.leaf("count", 0))).0
/// };
/// let seen = compare(&neighbours, run, &data, &one_more, &mut source);
/// assert!(seen.share_of(&honest) <= 1.0 + 1e-9 && seen.share_of(&broken).is_infinite());
///
/// let run = |data: &Vec<u8>, source: &mut dyn Source| {
///     let n = data.len() as u64;
///     Draws::planned(source, &broken, |draws| count.release(n, &mut draws.leaf("count", 0))).0
/// };
/// assert!(compare(&neighbours, run, &data, &one_more, &mut source).pure_loss().is_infinite());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
/// If a run panics, or draws a secret coin: what is secret must be summed over
/// ([`exact_law`](crate::exact_law)), not compared.
pub fn compare<D: ?Sized, O: PartialEq + Serialize>(
    neighbours: &Neighbours<'_, D>,
    run: impl Fn(&D, &mut dyn Source) -> O,
    data: &D,
    neighbour: &D,
    outcomes: &mut dyn Source,
) -> Comparison {
    let relation = neighbours.relation();
    let refuse = |why| Comparison {
        relation,
        refused: Some(why),
        steps: Vec::new(),
        diverged: Some(0),
        overdrawn: None,
        outputs_equal: true,
    };
    if let Err(why) = neighbours.tell(data, neighbour) {
        return refuse(why);
    }
    let promises = Promises::default;
    let (entries, charges) = (Vec::new(), Vec::new());
    let mut recorder = Recorder { outcomes, entries, charges, promises: promises() };
    let output = run(data, &mut recorder);
    let Recorder { entries, charges, promises: of_first, .. } = recorder;
    let mut replay = Replay { entries, steps: Vec::new(), diverged: None, promises: promises() };
    let replayed = catch_unwind(AssertUnwindSafe(|| run(neighbour, &mut replay)));
    let outputs_equal = match replayed {
        Ok(other) => {
            if replay.diverged.is_none() && replay.steps.len() < replay.entries.len() {
                replay.diverged = Some(replay.steps.len());
            }
            replay.diverged.is_some() || same_bits(&other, &output)
        }
        Err(thrown) if thrown.is::<Diverged>() => true,
        Err(panic) => resume_unwind(panic),
    };
    for promises in [&of_first, &replay.promises] {
        if let Err(why) = neighbours.keep(promises) {
            return refuse(why);
        }
    }
    let overdrawn = overdrawn(&charges, &replay.steps);
    let Replay { steps, diverged, .. } = replay;
    Comparison { relation, refused: None, steps, diverged, overdrawn, outputs_equal }
}

/// The leaf that is overspent most. What was charged when, as draw numbers and losses.
fn overdrawn(charges: &[(usize, Option<Loss>)], steps: &[StepLoss]) -> Option<Overdrawn> {
    let ends = charges.iter().skip(1).map(|charge| charge.0).chain([steps.len()]);
    let mut worst: Option<(usize, f64)> = None;
    let mut most_forward = 0.0_f64;
    for (&(from, loss), end) in charges.iter().zip(ends) {
        let Some(loss) = loss else { continue };
        let draws = || steps.iter().take(end).skip(from);
        let sum = |side: fn(&StepLoss) -> f64| draws().map(side).sum::<f64>();
        let (forward, backward) = (sum(|step| step.forward), sum(|step| step.backward));
        let (spent, most) = match loss {
            Loss::Pure { epsilon } => (worse(forward, backward), epsilon.get()),
            Loss::BoundedRange { eta } => (forward + backward, eta.get()),
            Loss::Zcdp { rho } => (sum(|step| step.rho), rho.get()),
            Loss::Gaussian { mu } => ((2.0 * sum(|step| step.rho)).sqrt(), mu.get()),
            _ => continue,
        };
        // What is no number must not pass for a small one.
        let of = |spent: f64| {
            let share = spent / most;
            if share.is_nan() && spent != 0.0 { f64::INFINITY } else { share }
        };
        if matches!(loss, Loss::Pure { .. } | Loss::BoundedRange { .. }) {
            most_forward = most_forward.max(of(forward));
        }
        let share = of(spent);
        if share > TOLERANCE && worst.is_none_or(|(_, before)| share > before) {
            worst = Some((from, share));
        }
    }
    let (draw, share) = worst?;
    let all = |measure: fn(Loss) -> Option<f64>| {
        let losses = charges.iter().map(|(_, loss)| loss.and_then(measure));
        losses.sum::<Option<f64>>().unwrap_or(f64::INFINITY)
    };
    let pure = all(|loss| loss.pure().map(Epsilon::get));
    let forward = if most_forward > TOLERANCE { most_forward * pure } else { 0.0 };
    let rho = share * all(|loss| loss.zcdp().map(Rho::get));
    Some(Overdrawn { draw, share, pure: share * pure, forward, rho })
}

/// A draw that was made: the private values in it, and what was released.
enum Entry {
    Choice { scores: Vec<i64>, rate: Ratio, chosen: i64 },
    Flip { scores: Vec<i64>, rate: Ratio, chosen: i64 },
    NoisyMax { scores: Vec<i64>, noise: Geometric, released: (usize, i64) },
    SparseChoice { scores: SparseScores, rate: Ratio, chosen: i64 },
    Noisy { value: i64, noise: Noise, released: i64 },
    Exceeds { value: i64, threshold: i64, noise: Noise, released: i64 },
    Vector { values: Vec<i64>, noise: DiscreteGaussian, released: Vec<i64> },
    Report { value: i64, threshold: i64, noise: ReportNoise, released: i64 },
}

struct Recorder<'a> {
    outcomes: &'a mut dyn Source,
    entries: Vec<Entry>,
    /// From which draw on which loss pays.
    charges: Vec<(usize, Option<Loss>)>,
    promises: Promises,
}

impl Source for Recorder<'_> {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.promises.note(relation);
    }

    fn charged(&mut self, loss: Option<Loss>) {
        self.charges.push((self.entries.len(), loss));
    }

    fn draw(&mut self, law: Law<'_>) -> i64 {
        self.promises.draw();
        let released = self.outcomes.draw(law);
        self.entries.push(match law {
            Law::Choice { scores, rate } => {
                Entry::Choice { scores: scores.to_vec(), rate, chosen: released }
            }
            Law::Flip { scores, rate } => {
                Entry::Flip { scores: scores.to_vec(), rate, chosen: released }
            }
            Law::SparseChoice { scores, rate } => {
                Entry::SparseChoice { scores: scores.clone(), rate, chosen: released }
            }
            Law::Noisy { value, noise } => Entry::Noisy { value, noise, released },
            Law::Exceeds { value, threshold, noise } => {
                Entry::Exceeds { value, threshold, noise, released }
            }
            Law::Report { value, threshold, noise } => {
                Entry::Report { value, threshold, noise, released }
            }
            _ => panic!("{SECRET}"),
        });
        released
    }

    fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
        self.promises.draw();
        let released = self.outcomes.noisy_max(scores, noise);
        self.entries.push(Entry::NoisyMax { scores: scores.to_vec(), noise, released });
        released
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        self.promises.draw();
        let before = values.to_vec();
        self.outcomes.noisy_vector(values, noise);
        self.entries.push(Entry::Vector { values: before, noise, released: values.to_vec() });
    }
}

/// Thrown through the mechanism once its draws cannot be matched any more.
struct Diverged;

struct Replay {
    entries: Vec<Entry>,
    steps: Vec<StepLoss>,
    diverged: Option<usize>,
    promises: Promises,
}

impl Replay {
    fn diverge(&mut self) -> ! {
        self.diverged = Some(self.steps.len());
        resume_unwind(Box::new(Diverged))
    }
}

impl Source for Replay {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.promises.note(relation);
    }

    fn draw(&mut self, law: Law<'_>) -> i64 {
        self.promises.draw();
        let matched = match (self.entries.get(self.steps.len()), law) {
            (
                Some(Entry::Choice { scores, rate, chosen }),
                Law::Choice { scores: others, rate: other_rate },
            ) if *rate == other_rate && scores.len() == others.len() => {
                Some((choice_loss(scores, others, *rate), *chosen))
            }
            (
                Some(Entry::Flip { scores, rate, chosen }),
                Law::Flip { scores: others, rate: other_rate },
            ) if *rate == other_rate && scores.len() == others.len() => {
                Some((flip_loss(scores, others, *rate), *chosen))
            }
            (
                Some(Entry::SparseChoice { scores, rate, chosen }),
                Law::SparseChoice { scores: others, rate: other_rate },
            ) if *rate == other_rate && scores.candidates() == others.candidates() => {
                let ratios = sparse_choice_log_ratios(scores, others, *rate);
                Some((loss_of_ratios(ratios.into_iter()), *chosen))
            }
            (
                Some(Entry::Noisy { value, noise, released }),
                Law::Noisy { value: other, noise: other_noise },
            ) if *noise == other_noise => Some((noise_loss(*value, other, *noise), *released)),
            (
                Some(Entry::Exceeds { value, threshold, noise, released }),
                Law::Exceeds { value: other, threshold: other_threshold, noise: other_noise },
            ) if *noise == other_noise && *threshold == other_threshold => {
                Some((exceeds_loss(*value, other, *threshold, *noise), *released))
            }
            (
                Some(Entry::Report { value, threshold, noise, released }),
                Law::Report { value: other, threshold: other_threshold, noise: other_noise },
            ) if *noise == other_noise && *threshold == other_threshold => {
                let ratio = |released| {
                    let log = |v| report_log_probability(v, *threshold, *noise, released);
                    log(*value) - log(other)
                };
                let worst = report_worst(ratio, *value, other, *threshold);
                Some((released_loss(DrawKind::Report, ratio(*released), worst), *released))
            }
            _ => None,
        };
        let Some((loss, released)) = matched else { self.diverge() };
        self.steps.push(loss);
        released
    }

    fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
        self.promises.draw();
        let Some(Entry::NoisyMax { scores: before, noise: other, released }) =
            self.entries.get(self.steps.len())
        else {
            self.diverge()
        };
        if *other != noise || before.len() != scores.len() {
            self.diverge();
        }
        let (index, value) = *released;
        let log = |scores: &[i64]| noisy_max_log_probability(scores, noise, index, value);
        // One-sided noise: a value below a score is impossible, so unequal scores are told apart.
        let worst = if before == scores { 0.0 } else { f64::INFINITY };
        let loss = released_loss(DrawKind::NoisyMax, log(before) - log(scores), worst);
        self.steps.push(loss);
        (index, value)
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        self.promises.draw();
        let Some(Entry::Vector { values: before, noise: other, released }) =
            self.entries.get(self.steps.len())
        else {
            self.diverge()
        };
        if *other != noise || before.len() != values.len() {
            self.diverge();
        }
        let length_squared = before.iter().zip(values.iter()).map(|(a, b)| squared(*a, *b)).sum();
        values.copy_from_slice(released);
        self.steps.push(gaussian_loss(DrawKind::Vector, length_squared, noise.variance()));
    }
}

fn choice_loss(scores: &[i64], others: &[i64], rate: Ratio) -> StepLoss {
    let here = choice_log_probabilities(scores, rate);
    let there = choice_log_probabilities(others, rate);
    loss_of_ratios(here.iter().zip(&there).map(|(p, q)| p - q))
}

fn flip_loss(scores: &[i64], others: &[i64], rate: Ratio) -> StepLoss {
    let here = flip_log_probabilities(scores, rate);
    let there = flip_log_probabilities(others, rate);
    let loss = loss_of_ratios(here.iter().zip(&there).map(|(p, q)| p - q));
    // Its range is not bounded as that of a choice is.
    StepLoss { kind: DrawKind::Flip, rho: pure_rho(loss.forward.max(loss.backward)), ..loss }
}

/// The loss of a choice whose outcomes have these log ratios.
fn loss_of_ratios(ratios: impl Iterator<Item = f64>) -> StepLoss {
    let ends = |(low, high): (f64, f64), ratio: f64| {
        // What cannot be compared must not pass for no loss.
        if ratio.is_nan() {
            (f64::NEG_INFINITY, f64::INFINITY)
        } else {
            (low.min(ratio), high.max(ratio))
        }
    };
    let (low, high) = ratios.fold((f64::INFINITY, f64::NEG_INFINITY), ends);
    let (forward, backward) = (high.max(0.0), (-low).max(0.0));
    // Both bounds hold; a range is worth less than a loss only while it is small.
    let rho = ((high - low).powi(2) / 8.0).min(pure_rho(forward.max(backward)));
    StepLoss { kind: DrawKind::Choice, forward, backward, rho }
}

fn noise_loss(value: i64, other: i64, noise: Noise) -> StepLoss {
    match noise {
        Noise::Laplace(laplace) => {
            let loss = value.abs_diff(other) as f64 / ratio_to_f64(laplace.scale());
            StepLoss { kind: DrawKind::Noisy, forward: loss, backward: loss, rho: pure_rho(loss) }
        }
        Noise::Gaussian(gaussian) => {
            gaussian_loss(DrawKind::Noisy, squared(value, other), gaussian.variance())
        }
        Noise::Rounded(rounded) => {
            gaussian_loss(DrawKind::Noisy, squared(value, other), rounded.variance())
        }
    }
}

fn exceeds_loss(value: i64, other: i64, threshold: i64, noise: Noise) -> StepLoss {
    if value == other {
        return StepLoss { kind: DrawKind::Exceeds, forward: 0.0, backward: 0.0, rho: 0.0 };
    }
    let law = NoiseLaw::new(&Floats, noise);
    // Both answers from their own tail, so that a small probability keeps its digits.
    let yes = |value: i64| law.log_tail(threshold.saturating_sub(value).saturating_add(1));
    let no = |value: i64| law.log_tail(value.saturating_sub(threshold));
    let ratios = [yes(value) - yes(other), no(value) - no(other)];
    // What is too small to be compared must not pass for no loss.
    let known = |ratio: f64| if ratio.is_nan() { f64::INFINITY } else { ratio };
    let forward = known(ratios[0]).max(known(ratios[1]));
    let backward = known(-ratios[0]).max(known(-ratios[1]));
    // The answer is computed from the noisy value, so it cannot give away more than that.
    let rho = pure_rho(forward.max(backward)).min(noise_loss(value, other, noise).rho);
    StepLoss { kind: DrawKind::Exceeds, forward, backward, rho }
}

/// The largest log ratio, either way, over all that could be released: silence, and values whose
/// ratio is monotone between the threshold, the two counts and beyond.
fn report_worst(ratio: impl Fn(i64) -> f64, value: i64, other: i64, threshold: i64) -> f64 {
    let ends = [threshold - 1, threshold, value.max(threshold), other.max(threshold)];
    // What is impossible on both sides has no ratio.
    ends.into_iter().map(ratio).filter(|x| !x.is_nan()).fold(0.0, |worst, x| worst.max(x.abs()))
}

/// Of one released value, and of the worst that could have been released.
fn released_loss(kind: DrawKind, loss: f64, worst: f64) -> StepLoss {
    // As above.
    let (loss, worst) = if loss.is_nan() { (f64::INFINITY, f64::INFINITY) } else { (loss, worst) };
    StepLoss {
        kind,
        forward: loss,
        backward: -loss,
        rho: if worst.is_finite() { pure_rho(worst) } else { f64::INFINITY },
    }
}

/// Of discrete and of rounded noise alike: half the square of the `mu` of a normal pair is its zCDP.
fn gaussian_loss(kind: DrawKind, length_squared: f64, variance: Ratio) -> StepLoss {
    let pure = if length_squared > 0.0 { f64::INFINITY } else { 0.0 };
    let rho = length_squared / (2.0 * ratio_to_f64(variance));
    StepLoss { kind, forward: pure, backward: pure, rho }
}

/// The zero-concentrated cost of a pure loss; randomised response attains it.
fn pure_rho(loss: f64) -> f64 {
    loss * (loss / 2.0).tanh()
}

fn squared(a: i64, b: i64) -> f64 {
    (a.abs_diff(b) as f64).powi(2)
}

/// Outcomes of which the first are prescribed: it puts a mechanism into a chosen public state.
#[allow(missing_debug_implementations, reason = "a source of draws has nothing to show")]
pub struct Scripted<'a, I> {
    script: I,
    then: &'a mut dyn Source,
}

impl<'a, I: Iterator<Item = i64>> Scripted<'a, I> {
    /// The values of `script`, one per scalar draw, then draws from `then`.
    pub fn new(script: I, then: &'a mut dyn Source) -> Self {
        Self { script, then }
    }
}

impl<I: Iterator<Item = i64>> Source for Scripted<'_, I> {
    fn draw(&mut self, law: Law<'_>) -> i64 {
        self.script.next().unwrap_or_else(|| self.then.draw(law))
    }

    fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
        self.then.noisy_max(scores, noise)
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        self.then.noisy_vector(values, noise);
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;
    use dp_mechanism::{DiscreteLaplace, Geometric};

    use super::*;
    use crate::{Law as ExactLaw, Window, exact_law};

    const THRESHOLD: i64 = 3;

    fn raw<D: ?Sized>() -> Neighbours<'static, D> {
        Neighbours::made_from(dp_accounting::AddRemove).without_receipt()
    }

    fn noises() -> [ReportNoise; 2] {
        let scale = Ratio::new(5, 3).expect("valid");
        [
            ReportNoise::OneSided(Geometric::new(scale).expect("positive")),
            ReportNoise::TwoSided(DiscreteLaplace::new(scale).expect("positive")),
        ]
    }

    fn report(value: i64, noise: ReportNoise, draws: &mut dyn Source) -> i64 {
        draws.draw(Law::Report { value, threshold: THRESHOLD, noise })
    }

    /// What two counts cost when this is released.
    fn step(values: [i64; 2], noise: ReportNoise, released: i64) -> StepLoss {
        let run = |value: &i64, draws: &mut dyn Source| report(*value, noise, draws);
        let mut end = NoMore;
        let mut outcome = Scripted::new(std::iter::once(released), &mut end);
        compare(&raw(), run, &values[0], &values[1], &mut outcome).steps[0]
    }

    fn law(value: i64, noise: ReportNoise) -> ExactLaw<i64> {
        exact_law(Window::new(0, 60), |draws| report(value, noise, draws))
    }

    /// `D_alpha(P | Q) / alpha`, over what is not lumped together at the end of the window.
    fn renyi_over_alpha(p: &ExactLaw<i64>, q: &ExactLaw<i64>, alpha: f64) -> f64 {
        let term = |(y, p): (&i64, f64)| p.powf(alpha) * q.probability(y).powf(1.0 - alpha);
        let sum: f64 = p.iter().filter(|(_, p)| *p > 0.0).map(term).sum();
        sum.ln() / (alpha - 1.0) / alpha
    }

    /// Whatever was released, the zero-concentrated cost covers the divergence of the two laws of the draw, and
    /// the pure loss is the log ratio of what was released. The control: the cost of the loss of a
    /// silence, which is smaller than the divergence.
    #[test]
    fn reports_cost_what_their_laws_say() {
        let mut too_small = 0;
        for noise in noises() {
            for (value, other) in (0..6).flat_map(|v| [(v, v + 1), (v + 1, v), (v, v)]) {
                let (p, q) = (law(value, noise), law(other, noise));
                for released in [THRESHOLD - 1, THRESHOLD, THRESHOLD + 4] {
                    let (here, there) = (p.probability(&released), q.probability(&released));
                    let step = step([value, other], noise, released);
                    if here > 0.0 && there > 0.0 {
                        let loss = (here / there).ln();
                        assert_abs_diff_eq!(step.forward, loss, epsilon = 1e-9);
                        assert!((step.backward + loss).abs() < 1e-9, "{step:?} for {loss}");
                    }
                    let divergence = [1.01, 2.0, 8.0]
                        .map(|alpha| {
                            renyi_over_alpha(&p, &q, alpha).max(renyi_over_alpha(&q, &p, alpha))
                        })
                        .into_iter()
                        .fold(0.0, f64::max);
                    assert!(step.rho >= divergence - 1e-9, "{step:?} for {divergence}");
                    too_small += u32::from(pure_rho(step.forward.abs()) < divergence - 1e-3);
                }
            }
        }
        assert!(too_small > 5, "no power: {too_small}");
    }

    /// Several reports: the pure loss is that of the whole transcript, in its own direction.
    #[test]
    fn the_loss_of_a_transcript_is_the_ratio_of_its_probabilities() {
        for noise in noises() {
            let run = |values: &[i64; 3], draws: &mut dyn Source| {
                values.map(|value| report(value, noise, draws))
            };
            let (data, neighbour) = ([0, 1, 1], [1, 1, 2]);
            let law = |values: &[i64; 3]| exact_law(Window::new(0, 9), |draws| run(values, draws));
            let (p, q) = (law(&data), law(&neighbour));
            for script in [[2, 2, 2], [3, 2, 5], [4, 4, 4], [2, 3, 3]] {
                let mut end = NoMore;
                let mut outcomes = Scripted::new(script.into_iter(), &mut end);
                let comparison = compare(&raw(), run, &data, &neighbour, &mut outcomes);
                let loss = (p.probability(&script) / q.probability(&script)).ln();
                assert!((comparison.pure_loss() - loss.abs()).abs() < 1e-9, "{script:?}: {loss}");
            }
        }
    }

    /// A small range is worth an eighth of its square, a long one no more than the loss to one side; what is no number is an unbounded loss.
    #[test]
    fn a_choice_costs_by_its_range_or_by_its_loss() {
        let loss = |ratios: &[f64]| loss_of_ratios(ratios.iter().copied());
        let small = loss(&[0.25, -0.5, 0.0]);
        assert_abs_diff_eq!(small.rho, 0.75 * 0.75 / 8.0, epsilon = 1e-15);
        assert_abs_diff_eq!(small.forward, 0.25, epsilon = 0.0);
        assert_abs_diff_eq!(small.backward, 0.5, epsilon = 0.0);
        let long = loss(&[-20.0, 3.0]);
        assert_abs_diff_eq!(long.rho, 20.0 * 10.0_f64.tanh(), epsilon = 1e-12);
        let none = loss(&[0.0, f64::NAN]);
        assert!([none.rho, none.forward, none.backward].iter().all(|loss| loss.is_infinite()));
    }

    /// Step by step, what a replay says is what the exact laws of the draw say: on both sides, for values on either side of a threshold.
    #[test]
    fn a_draw_costs_what_its_exact_laws_say() {
        use dp_mechanism::DiscreteGaussian;
        type Run<'a> = &'a dyn Fn(i64, &mut dyn Source) -> i64;
        let ratio = |a, b| Ratio::new(a, b).expect("valid");
        let laplace = Noise::Laplace(DiscreteLaplace::new(ratio(5, 3)).expect("positive"));
        let gaussian = Noise::Gaussian(DiscreteGaussian::new(ratio(4, 1)).expect("positive"));
        let sparse = |value: i64| SparseScores::new(5, [(1, value.unsigned_abs()), (3, 2)]);
        let runs: [Run<'_>; 6] = [
            &|value, source| source.draw(Law::Choice { scores: &[value, 2, 0], rate: ratio(2, 5) }),
            &|value, source| source.draw(Law::Flip { scores: &[value, 2, 0], rate: ratio(2, 5) }),
            &|value, source| {
                source.draw(Law::SparseChoice { scores: &sparse(value), rate: ratio(2, 5) })
            },
            &|value, source| source.draw(Law::Exceeds { value, threshold: 2, noise: laplace }),
            &|value, source| source.draw(Law::Exceeds { value, threshold: 2, noise: gaussian }),
            &|value, source| source.draw(Law::Noisy { value, noise: laplace }),
        ];
        for (number, run) in runs.iter().enumerate() {
            let law = |value| {
                exact_law(Window::new(-40, 40), |source| run(value, source)).without_receipt()
            };
            for (value, other) in (0..6).flat_map(|value| (0..6).map(move |other| (value, other))) {
                let replayed = |value: &i64, source: &mut dyn Source| run(*value, source);
                let mut end = NoMore;
                let mut first = Scripted::new(std::iter::once(1), &mut end);
                let step = compare(&raw(), replayed, &value, &other, &mut first).steps[0];
                let (p, q) = (law(value), law(other));
                let at = format!("draw {number}, {value} and {other}: {step:?}");
                assert!((step.forward - p.pure_loss(&q)).abs() < 1e-9, "{at}");
                assert!((step.backward - q.pure_loss(&p)).abs() < 1e-9, "{at}");
                assert!(step.rho >= p.zcdp(&q) * (1.0 - 1e-9) - 1e-12, "{at}: {}", p.zcdp(&q));
            }
        }
    }

    fn of_loss(forward: f64, backward: f64, rho: f64) -> StepLoss {
        StepLoss { kind: DrawKind::Noisy, forward, backward, rho }
    }

    fn losses(spent: f64) -> [Loss; 4] {
        let epsilon = Epsilon::new(spent).expect("valid");
        [
            Loss::Pure { epsilon },
            Loss::BoundedRange { eta: epsilon },
            Loss::Zcdp { rho: Rho::new(spent).expect("valid") },
            Loss::Gaussian { mu: dp_accounting::Mu::new(spent).expect("valid") },
        ]
    }

    /// Each in its own measure, whichever side it loses on, as often as the leaf pays for draws.
    #[test]
    fn a_leaf_of_any_loss_may_be_overdrawn() {
        for (loss, spent) in losses(0.25).into_iter().zip([0.6, 0.9, 0.36, 0.72_f64.sqrt()]) {
            for [forward, backward] in [[0.3, 0.6], [0.6, 0.3]] {
                let steps = [of_loss(forward / 2.0, backward / 2.0, 0.18); 2];
                let leaf = overdrawn(&[(0, Some(loss))], &steps).expect("overdrawn");
                assert_abs_diff_eq!(leaf.share, 4.0 * spent, epsilon = 1e-12);
            }
        }
        for loss in losses(0.9) {
            assert_eq!(overdrawn(&[(0, Some(loss))], &[of_loss(0.3, 0.6, 0.18); 1]), None);
            // What is no number is no small share.
            for none in [
                of_loss(f64::NAN, 0.1, f64::NAN),
                of_loss(f64::INFINITY, f64::NEG_INFINITY, f64::NAN),
            ] {
                let leaf = overdrawn(&[(0, Some(loss))], &[none]).expect("overdrawn");
                assert!(leaf.share.is_infinite(), "{loss:?}: {leaf:?}");
            }
        }
    }

    /// A claim for one side is broken by a leaf that costs more on that side, whatever another leaf saves; and not by one that costs more on the other.
    #[test]
    fn a_leaf_may_be_overdrawn_on_one_side() {
        for loss in losses(0.5).into_iter().take(2) {
            let charges = [(0, Some(loss)), (1, Some(loss))];
            let of = |forward, backward| {
                let steps = [of_loss(forward, backward, 0.0), of_loss(-0.9, 0.1, 0.0)];
                overdrawn(&charges, &steps).expect("overdrawn").forward
            };
            assert_abs_diff_eq!(of(0.7, 0.2), 1.4, epsilon = 1e-12);
            assert_abs_diff_eq!(of(0.2, 0.7), 0.0);
            assert!(of(f64::NAN, 0.7).is_infinite());
        }
    }

    /// Of several leaves the worst, wherever it is; what others cost is not known if one of them does not say.
    #[test]
    fn the_worst_of_all_leaves_is_told() {
        let [half, ..] = losses(0.5);
        for worst in 0..3 {
            let steps: Vec<StepLoss> = (0..3)
                .map(|place| of_loss(if place == worst { 2.0 } else { 0.75 }, 0.1, 0.0))
                .collect();
            let charges: Vec<(usize, Option<Loss>)> =
                (0..3).map(|place| (place, Some(half))).collect();
            let leaf = overdrawn(&charges, &steps).expect("overdrawn");
            assert_eq!((leaf.draw, leaf.share, leaf.pure), (worst, 4.0, 6.0));
            let mut unsaid = charges.clone();
            unsaid[(worst + 1) % 3].1 = None;
            let leaf = overdrawn(&unsaid, &steps).expect("overdrawn");
            assert!(leaf.draw == worst && leaf.pure.is_infinite() && leaf.rho.is_infinite());
        }
    }

    /// A claim for one side is held against that side, one for both against the worse; an overdrawn leaf against what all would cost.
    #[test]
    fn what_was_found_is_a_share_of_what_the_receipt_claims() {
        use dp_accounting::{AddOnly, AddRemove, Budget, Delta, Step};
        let seen = Comparison {
            relation: AddOnly.any(),
            refused: None,
            steps: vec![of_loss(0.2, 0.3, 0.1), of_loss(-0.1, 0.3, 0.1)],
            diverged: None,
            overdrawn: None,
            outputs_equal: true,
        };
        let budget = Budget::new(1.0, 1e-6).expect("valid");
        let [pure, _, zcdp, gaussian] = losses(0.5);
        let (one, both) = (
            |loss| Receipt::new("x", AddOnly, budget, Step::spend("x", loss)),
            |loss| Receipt::new("x", AddRemove, budget, Step::spend("x", loss)),
        );
        let close =
            |share: f64, expected: f64| assert_abs_diff_eq!(share, expected, epsilon = 1e-12);
        close(seen.share_of(&one(pure)), 0.2);
        close(seen.share_of(&both(pure)), 1.2);
        close(seen.share_of(&one(zcdp)), 0.4);
        close(seen.share_of(&both(gaussian)), 1.6);
        let epsilon = Epsilon::new(0.5).expect("valid");
        let delta = Delta::new(1e-9).expect("valid");
        for nothing in [Loss::Unbounded, Loss::Approximate { epsilon, delta }] {
            assert!(seen.share_of(&both(nothing)).is_infinite(), "{nothing:?}");
        }
        let leaf = Overdrawn { draw: 0, share: 4.0, pure: 2.0, forward: 1.5, rho: 3.0 };
        let more = Comparison { overdrawn: Some(leaf), ..seen };
        close(more.share_of(&one(pure)), 3.0);
        close(more.share_of(&both(pure)), 4.0);
        close(more.share_of(&both(zcdp)), 6.0);
    }

    #[test]
    fn a_report_that_is_no_number_is_an_unbounded_loss() {
        for (loss, worst) in [(f64::NAN, 0.5), (f64::NAN, f64::NAN), (0.5, f64::INFINITY)] {
            let step = released_loss(DrawKind::Report, loss, worst);
            assert!(step.rho.is_infinite() && (step.forward.is_infinite() || !loss.is_nan()));
        }
    }

    struct NoMore;

    impl Source for NoMore {
        fn draw(&mut self, _: Law<'_>) -> i64 {
            unreachable!("the script is long enough")
        }

        fn noisy_max(&mut self, _: &[i64], _: Geometric) -> (usize, i64) {
            unreachable!("there are no maxima")
        }

        fn noisy_vector(&mut self, _: &mut [i64], _: DiscreteGaussian) {
            unreachable!("there are no vectors")
        }
    }
}

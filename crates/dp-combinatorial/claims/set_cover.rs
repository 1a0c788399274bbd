//! Checks of set cover: exact laws of whole runs on all tiny families, and what a user is credited.

use approx::assert_abs_diff_eq;
use std::convert::Infallible;

use dp_accounting::{
    AddRemove, AnyRelation, Budget, Delta, Epsilon, Receipt, Step, repeated_selection_loss,
};
use dp_audit::{Law as OutputLaw, Method, Scripted, Window, exact_law};
use dp_combinatorial::Incidence;
use dp_combinatorial::set_cover::{
    Cover, ScalingThresholds, SetCoverGreedyScaling, SetCoverGreedyScalingSettings, SetCoverSelect,
    SetCoverSelectSettings, SetCoverThresholds, SetCoverThresholdsSettings, SetStream,
};
use dp_mechanism::{
    Certificate, Coin, DiscreteGaussian, Geometric, Law, Mechanism, SecureSource, SelectionRule,
    Source,
};
use rand::rngs::ChaCha20Rng;
use rand::{RngExt, SeedableRng};

use dp_audit::harness::toys::{
    Side, for_each_one_more, nothing_of_who_is_left_out, pure_loss_of_one_more,
};
use dp_audit::harness::{Check, Effort, Found};

pub(crate) fn checks() -> Vec<Check> {
    let check = |id: &str, mechanism: &str, method, run: fn(Effort) -> Found| {
        Check::new(id, mechanism, "add-remove", method, run)
    };
    vec![
        check("cover-select", "SetCoverSelect: all orders, sample included", Method::Exact, |e| {
            let most = e.of(2, 3);
            worst_of(
                [SelectionRule::PermuteAndFlip, SelectionRule::Exponential]
                    .map(|rule| selected(&select(by(rule)), most)),
            )
        }),
        check("cover-noisy-max", "SetCoverSelect with noisy gains", Method::Exact, noisy_gains),
        check("cover-composition", "SetCoverSelect by composition", Method::Exact, |effort| {
            selected(&select(under(Certificate::Composition)), effort.of(3, 4))
        }),
        check("cover-approximate", "SetCoverSelect: share of delta", Method::Exact, approximate),
        check("cover-thresholds", "SetCoverThresholds: all orders", Method::Exact, thresholds),
        check("cover-stream", "SetCoverThresholds in passes", Method::Exact, stream),
        check("cover-scaling", "SetCoverGreedyScaling: count and orders", Method::Exact, scaling),
        check(
            "cover-scaling-rounds",
            "SetCoverGreedyScaling: up to three rounds",
            Method::Exact,
            scaling_rounds,
        ),
        check(
            "cover-scaling-samples",
            "SetCoverGreedyScaling: every round's sample is the one that it pays for",
            Method::Range,
            samples_of_rounds,
        ),
        check(
            "cover-scaling-credit",
            "SetCoverGreedyScaling, ScalingThresholds: what a user is credited",
            Method::Range,
            credit_of_rounds,
        ),
        check("cover-credit", "SetCoverSelect, what a user is credited", Method::Range, credit),
        check(
            "cover-credit-tests",
            "SetCoverThresholds, what a user is credited",
            Method::Range,
            credit_of_tests,
        ),
        check(
            "cover-left-out",
            "SetCoverSelect, SetCoverThresholds, SetCoverGreedyScaling: a user who is not in the sample",
            Method::Exact,
            left_out,
        ),
        check(
            "cover-receipt",
            "SetCoverSelect, SetCoverThresholds, SetCoverGreedyScaling: receipts against budgets",
            Method::Ledger,
            receipts,
        ),
    ]
}

/// A user is the sets that hold them, as bits; there are eight kinds.
const SETS: u32 = 3;
const KINDS: usize = 1 << SETS;

fn budget() -> Budget {
    Budget::new(1.0, 0.0).expect("valid")
}

pub(crate) fn select(settings: SetCoverSelectSettings) -> SetCoverSelect {
    SetCoverSelect::new(SETS, budget(), settings).expect("valid settings")
}

fn under(certificate: Certificate) -> SetCoverSelectSettings {
    SetCoverSelectSettings { certificate, ..Default::default() }
}

pub(crate) fn by(rule: SelectionRule) -> SetCoverSelectSettings {
    SetCoverSelectSettings { rule, ..Default::default() }
}

pub(crate) fn family(sets: u32, users: &[usize]) -> Incidence {
    let lists: Vec<Vec<u32>> =
        users.iter().map(|user| (0..sets).filter(|set| user >> set & 1 == 1).collect()).collect();
    Incidence::from_slices(sets, lists.iter().map(Vec::as_slice)).expect("there are sets")
}

pub(crate) fn claimed(receipt: &Receipt<dp_accounting::AddRemove>) -> f64 {
    receipt.pure().expect("a pure form").get()
}

/// The loss over all families of up to `most` users and one more, in its own units.
fn all_families<O: Ord>(
    claimed: f64,
    most: usize,
    law: impl Fn(&Incidence) -> OutputLaw<O>,
) -> Found {
    let law = |users: &[usize]| law(&family(SETS, users));
    let found = pure_loss_of_one_more(Side::Both, claimed, (KINDS, most), law);
    Found { claimed, worst: found.worst * claimed, ..found }
}

/// What loses exactly what it claims, to nine digits: less would be a claim about something else.
fn tight(found: Found) -> Found {
    let share = found.worst / found.claimed;
    assert_abs_diff_eq!(share, 1.0, epsilon = 1e-9);
    found
}

fn worst_of(found: [Found; 2]) -> Found {
    let [a, b] = found;
    let cases = a.cases + b.cases;
    let worse = if a.worst / a.claimed >= b.worst / b.claimed { a } else { b };
    Found { cases, ..worse }
}

fn selected(plan: &SetCoverSelect, most: usize) -> Found {
    all_families(claimed(&plan.receipt()), most, |family| {
        exact_law(Window::none(), |draws| plan.replay(family, draws).0.order)
    })
}

/// Two choices with their noisy gains, which have been followed up to 5.
fn noisy_gains(effort: Effort) -> Found {
    let two = SetCoverSelectSettings { partial: Some(2), ..by(SelectionRule::NoisyMax) };
    let plan = select(two);
    tight(all_families(claimed(&plan.receipt()), effort.of(1, 2), |family| {
        exact_law(Window::new(-1, 5), |draws| {
            let Cover { order, noisy_gains } = plan.replay(family, draws).0;
            (order, noisy_gains)
        })
    }))
}

/// The exact delta of Gupta et al.'s form at the epsilon of its receipt, as a share of its delta, and
/// the exact loss of an added user, as a share of the rate.
fn approximate(effort: Effort) -> Found {
    let delta = Delta::new(0.02).expect("valid");
    let plan = SetCoverSelect::new(
        SETS,
        Budget::new(1.0, 0.02).expect("valid"),
        SetCoverSelectSettings {
            certificate: Certificate::Approximate { delta },
            rule: SelectionRule::Exponential,
            ..Default::default()
        },
    )
    .expect("valid settings");
    let epsilon = plan.receipt().epsilon().expect("within its delta").get();
    let rate = repeated_selection_loss(budget().epsilon(), delta).expect("in range").get();
    let mut found = Found::claim(1.0);
    let law = |users: &[usize]| {
        let family = family(SETS, users);
        exact_law(Window::none(), |draws| plan.replay(&family, draws).0.order)
    };
    for_each_one_more((KINDS, effort.of(2, 4)), law, |without, with, witness| {
        let delta_share =
            without.delta(with, epsilon).max(with.delta(without, epsilon)) / delta.get();
        // The bound on an added user, which the proof starts from, is the rate itself.
        found.see(delta_share.max(with.pure_loss(without) / rate), || witness.to_owned());
    });
    found
}

/// Thresholds 2 and 1.
pub(crate) fn tiny_thresholds() -> SetCoverThresholds {
    SetCoverThresholds::new(
        SETS,
        2,
        budget(),
        SetCoverThresholdsSettings { ratio: 1000.0, floor: Some(1.0) },
    )
    .expect("valid settings")
}

fn thresholds(effort: Effort) -> Found {
    let plan = tiny_thresholds();
    assert_eq!(plan.thresholds(), [2, 1]);
    tight(all_families(claimed(&plan.receipt()), effort.of(2, 3), |family| {
        exact_law(Window::new(0, 2), |draws| plan.replay(family, draws).0.order)
    }))
}

/// A stream that shows users twice, in order and out of order, users who do not exist, a set that does not, and each set twice.
struct Untidy<'a>(&'a Incidence);

impl SetStream for Untidy<'_> {
    type Error = Infallible;

    fn users(&self) -> u32 {
        u32::try_from(self.0.users()).expect("few")
    }

    fn pass(&mut self, visit: &mut dyn FnMut(u32, &[u32])) -> Result<(), Infallible> {
        for set in 0..=SETS {
            let users = if set < SETS { self.0.users_of(set as usize) } else { &[] };
            let mut twice: Vec<u32> = users.iter().flat_map(|&user| [user; 2]).collect();
            twice.extend([64, u32::MAX, u32::MAX]);
            if set % 2 == 1 {
                twice.reverse();
            }
            visit(set, &twice);
            visit(set, &twice);
        }
        Ok(())
    }
}

/// The law of a tidy stream is that of memory, and that of an untidy one as well.
fn stream(effort: Effort) -> Found {
    let plan = tiny_thresholds();
    let window = Window::new(0, 2);
    tight(all_families(claimed(&plan.receipt()), effort.of(2, 3), |family| {
        let in_memory = exact_law(window, |draws| plan.replay(family, draws).0.order);
        let tidy = exact_law(window, |draws| {
            let Ok(cover) = plan.replay_stream(&mut &*family, draws).0;
            cover.order
        });
        let untidy = exact_law(window, |draws| {
            let Ok(cover) = plan.replay_stream(&mut Untidy(family), draws).0;
            cover.order
        });
        let [in_memory, tidy, untidy] = [in_memory, tidy, untidy].map(|law| law.under(AddRemove));
        for other in [&tidy, &untidy] {
            assert!(in_memory.pure_loss(other).max(other.pure_loss(&in_memory)) < 1e-9);
        }
        untidy
    }))
}

/// Two sets and a large epsilon, with which one to three rounds are within reach of the noise of the count.
fn scaling_rounds(effort: Effort) -> Found {
    let plan = SetCoverGreedyScaling::new(
        2,
        Budget::new(8.0, 0.0).expect("valid"),
        SetCoverGreedyScalingSettings { beta: 0.999, ..Default::default() },
    )
    .expect("valid settings");
    let law = |users: &[usize]| {
        let family = family(2, users);
        exact_law(Window::new(0, 13), |draws| {
            let mut notes = NotesCounts { draws, counts: Vec::new() };
            let order = plan.replay(&family, &mut notes).0.order;
            (notes.counts, order)
        })
    };
    let claimed = claimed(&plan.receipt());
    let found = pure_loss_of_one_more(Side::Both, claimed, (4, effort.of(1, 2)), law);
    Found { claimed, worst: found.worst * claimed, ..found }
}

/// Notes noisy integers.
struct NotesCounts<'a> {
    draws: &'a mut dyn Source,
    counts: Vec<i64>,
}

impl Source for NotesCounts<'_> {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.draws.promised(relation);
    }

    fn draw(&mut self, law: Law<'_>) -> i64 {
        let drawn = self.draws.draw(law);
        if let Law::Noisy { .. } = law {
            self.counts.push(drawn);
        }
        drawn
    }

    fn noisy_max(&mut self, _: &[i64], _: Geometric) -> (usize, i64) {
        unreachable!("no rule here has noisy scores")
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        self.draws.noisy_vector(values, noise);
    }
}

/// The noisy number of users and the order, for so few users that there is one round, against what
/// the receipt has for the number and the last round.
fn scaling(effort: Effort) -> Found {
    let plan = SetCoverGreedyScaling::new(SETS, budget(), SetCoverGreedyScalingSettings::default())
        .expect("valid settings");
    let receipt = plan.receipt();
    let Step::Sequential { steps, .. } = receipt.spent() else { unreachable!("a sequence") };
    let Step::Sequential { steps: rounds, .. } = &steps[1] else { unreachable!("a sequence") };
    let last = rounds.last().expect("there are rounds");
    let pure = |step: &Step| step.pure().expect("pure").get();
    // ceil(2 (log2(30) + 3)): the window ends at the only threshold, so tests have two outcomes.
    let window = Window::new(0, 16);
    all_families(pure(&steps[0]) + pure(last), effort.of(1, 2), |family| {
        exact_law(window, |draws| {
            let mut notes = NotesCounts { draws, counts: Vec::new() };
            let order = plan.replay(family, &mut notes).0.order;
            (notes.counts, order)
        })
    })
}

/// A choice or a test.
struct Seen {
    scores: Vec<i64>,
    drawn: i64,
    /// Which of the scores a user is credited for.
    chosen: Option<usize>,
}

/// Notes what every choice and every test looks at; everybody takes part. Numbers with noise pay for themselves.
struct Notes<'a> {
    draws: &'a mut dyn Source,
    seen: Vec<Seen>,
}

impl Source for Notes<'_> {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.draws.promised(relation);
    }

    fn draw(&mut self, law: Law<'_>) -> i64 {
        if let Law::Keep { .. } = law {
            return 1;
        }
        let drawn = self.draws.draw(law);
        let index = usize::try_from(drawn).ok();
        let (scores, chosen) = match law {
            Law::Flip { scores, .. } => (scores.to_vec(), index),
            Law::Report { value, threshold, .. } => {
                (vec![value], (drawn >= threshold).then_some(0))
            }
            Law::Noisy { .. } => (Vec::new(), None),
            // The short way where all scores are 0: another draw with the same law.
            Law::SparseChoice { scores, .. } => {
                (vec![0; usize::try_from(scores.candidates()).expect("few")], index)
            }
            _ => unreachable!("set covers draw nothing else"),
        };
        self.seen.push(Seen { scores, drawn, chosen });
        drawn
    }

    fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
        self.draws.noisy_max(scores, noise)
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        self.draws.noisy_vector(values, noise);
    }
}

/// Random families; the new user is in no set, in one, in some, and in all.
fn credits(
    effort: Effort,
    check: u64,
    run: impl Fn(&Incidence, &mut dyn Source) -> Cover,
    eager: Option<i64>,
) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(check);
    for _ in 0..effort.of(40, 1_000) {
        let crowd = rng.random_range(0..60_usize);
        let users: Vec<usize> = (0..crowd)
            .map(|_| rng.random_range(0..1 << FAMILY) & rng.random_range(0..1 << FAMILY))
            .collect();
        for added in [0, 1 << 3, rng.random_range(0..1 << FAMILY), (1 << FAMILY) - 1] {
            let without = family(FAMILY, &users);
            let with = family(FAMILY, &[users.as_slice(), &[added]].concat());
            let yes = ChaCha20Rng::from_rng(&mut rng);
            let mut secure = SecureSource::new(&mut rng);
            let first = match eager {
                Some(count) => noted(&mut Eager { count, yes }, |draws| run(&without, draws)),
                None => noted(&mut secure, |draws| run(&without, draws)),
            };
            let script: Vec<i64> = first.iter().map(|seen| seen.drawn).collect();
            let mut scripted = Scripted::new(script.into_iter(), &mut secure);
            let second = noted(&mut scripted, |draws| run(&with, draws));
            let credit = credited(&first, &second);
            found.see(credit.unwrap_or(f64::INFINITY), || format!("{users:?} and {added}"));
        }
    }
    found
}

fn noted(draws: &mut dyn Source, run: impl FnOnce(&mut dyn Source) -> Cover) -> Vec<Seen> {
    let mut notes = Notes { draws, seen: Vec::new() };
    run(&mut notes);
    notes.seen
}

/// Sets of the larger families.
const FAMILY: u32 = 10;

/// What the new user adds to all that is chosen; `None` where the premise is broken.
fn credited(without: &[Seen], with: &[Seen]) -> Option<f64> {
    if without.len() != with.len() || without.is_empty() {
        return None;
    }
    let mut total = 0.0;
    for (without, with) in without.iter().zip(with) {
        if without.scores.len() != with.scores.len() {
            return None;
        }
        let added = with.scores.iter().zip(&without.scores).map(|(with, without)| with - without);
        let added: Vec<i64> = added.collect();
        if added.iter().any(|added| !(0..=1).contains(added)) {
            return None;
        }
        total += without.chosen.map_or(0.0, |chosen| added[chosen] as f64);
    }
    Some(total)
}

fn credit(effort: Effort) -> Found {
    let plan = SetCoverSelect::new(FAMILY, budget(), SetCoverSelectSettings::default())
        .expect("valid settings");
    credits(effort, 101, |family, draws| plan.replay(family, draws).0, None)
}

/// Says yes to every fourth test, whatever the noise, and that there are many users: so all rounds are seen, with any
/// answers.
struct Eager {
    count: i64,
    yes: ChaCha20Rng,
}

impl Source for Eager {
    fn draw(&mut self, law: Law<'_>) -> i64 {
        match law {
            Law::Noisy { .. } => self.count,
            Law::Report { threshold, .. } => threshold - i64::from(self.yes.random_range(0..4) > 0),
            _ => unreachable!("this mechanism draws nothing else"),
        }
    }

    fn noisy_max(&mut self, _: &[i64], _: Geometric) -> (usize, i64) {
        unreachable!("no rule here has noisy scores")
    }

    fn noisy_vector(&mut self, _: &mut [i64], _: DiscreteGaussian) {
        unreachable!("nor are there vectors")
    }
}

/// Notes the secret coins. Numbers with noise are what it says, and no test is passed.
struct NotesCoins {
    count: i64,
    coins: Vec<Coin>,
}

impl Source for NotesCoins {
    fn draw(&mut self, law: Law<'_>) -> i64 {
        match law {
            Law::Noisy { .. } => self.count,
            Law::Report { threshold, .. } => threshold - 1,
            Law::Keep { coin } => {
                self.coins.push(coin);
                1
            }
            _ => unreachable!("this mechanism draws nothing else"),
        }
    }

    fn noisy_max(&mut self, _: &[i64], _: Geometric) -> (usize, i64) {
        unreachable!("no rule here has noisy scores")
    }

    fn noisy_vector(&mut self, _: &mut [i64], _: DiscreteGaussian) {
        unreachable!("nor are there vectors")
    }
}

/// A test is paid for by the sample that it is made on, which exact laws of small families leave room to get wrong:
/// the coin of a user is kept with probability `1 - e^-x`, and a round with that sample costs `x`.
fn samples_of_rounds(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    for epsilon in [0.1, 1.0, 8.0] {
        for thresholds in [ScalingThresholds::Proof, ScalingThresholds::Practical] {
            let budget = Budget::new(epsilon, 0.0).expect("valid");
            let plan = SetCoverGreedyScaling::new(
                SETS,
                budget,
                SetCoverGreedyScalingSettings { thresholds, ..Default::default() },
            )
            .expect("valid settings");
            let receipt = plan.receipt();
            let Step::Sequential { steps, .. } = receipt.spent() else {
                unreachable!("a sequence")
            };
            let Step::Sequential { steps: rounds, .. } = &steps[1] else { unreachable!("rounds") };
            for count in
                effort.of(vec![0, 2_000, 1 << 24], vec![0, 300, 2_000, 1 << 16, 1 << 24, i64::MAX])
            {
                let mut notes = NotesCoins { count, coins: Vec::new() };
                plan.replay(&family(SETS, &[0b11]), &mut notes);
                // One user, so one coin a round; the dearest round is the last.
                let taken = &rounds[rounds.len() - notes.coins.len()..];
                for (coin, round) in notes.coins.iter().zip(taken) {
                    let Coin::OneMinusExp(kept) = coin else { unreachable!("a sample") };
                    let sampled = kept.numerator() as f64 / kept.denominator().get() as f64;
                    let paid = round.pure().expect("pure").get();
                    found.see(sampled / paid, || {
                        format!("epsilon {epsilon}, {count} users, {}", round.name())
                    });
                }
            }
        }
    }
    found
}

/// Both kinds of thresholds, few rounds and many: over all rounds together a user is credited once.
fn credit_of_rounds(effort: Effort) -> Found {
    let mut all = Found::claim(1.0);
    for (thresholds, number) in
        [(ScalingThresholds::Practical, 104), (ScalingThresholds::Proof, 105)]
    {
        let plan = SetCoverGreedyScaling::new(
            FAMILY,
            budget(),
            SetCoverGreedyScalingSettings { thresholds, ..Default::default() },
        )
        .expect("valid settings");
        for count in [0, 100, 2_000, 1 << 24, i64::MAX] {
            let run = |family: &Incidence, draws: &mut dyn Source| plan.replay(family, draws).0;
            all = all.and(credits(effort, number, run, Some(count)));
        }
    }
    all
}

fn credit_of_tests(effort: Effort) -> Found {
    let plan = SetCoverThresholds::new(
        FAMILY,
        60,
        budget(),
        SetCoverThresholdsSettings { floor: Some(1.0), ..Default::default() },
    )
    .expect("valid settings");
    credits(effort, 102, |family, draws| plan.replay(family, draws).0, None)
}

type Run<'a> = dyn Fn(&[usize], &mut dyn Source) -> Cover + 'a;

/// Who is not in the sample leaves no trace in any draw; in rounds with samples of their own, who is in none of them.
fn left_out(effort: Effort) -> Found {
    let select = SetCoverSelect::new(FAMILY, budget(), SetCoverSelectSettings::default())
        .expect("valid settings");
    let tests = SetCoverThresholds::new(
        FAMILY,
        60,
        budget(),
        SetCoverThresholdsSettings { floor: Some(1.0), ..Default::default() },
    )
    .expect("valid settings");
    let scaling =
        SetCoverGreedyScaling::new(FAMILY, budget(), SetCoverGreedyScalingSettings::default())
            .expect("valid settings");
    let mut found = Found::claim(1e-9);
    let mut rng = effort.rng(106);
    for _ in 0..effort.of(40, 1_000) {
        let all: Vec<usize> =
            (0..rng.random_range(1..60)).map(|_| rng.random_range(0..1 << FAMILY)).collect();
        // The number of users pays for itself.
        let count = rng.random_range(0..2_000);
        let runs: [(&str, &Run<'_>); 4] = [
            ("select", &|users, draws| select.replay(&family(FAMILY, users), draws).0),
            ("tests", &|users, draws| tests.replay(&family(FAMILY, users), draws).0),
            ("passes", &|users, draws| {
                let Ok(cover) = tests.replay_stream(&mut &family(FAMILY, users), draws).0;
                cover
            }),
            ("rounds", &|users, draws| {
                scaling.replay(&family(FAMILY, users), &mut Counted { draws, count }).0
            }),
        ];
        for (name, run) in runs {
            let none = nothing_of_who_is_left_out(&all, &mut SecureSource::new(&mut rng), run);
            found.see(if none { 0.0 } else { f64::INFINITY }, || format!("{name}: {all:?}"));
        }
    }
    found
}

/// Answers numbers with noise by a public one.
struct Counted<'a> {
    draws: &'a mut dyn Source,
    count: i64,
}

impl Source for Counted<'_> {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.draws.promised(relation);
    }

    fn draw(&mut self, law: Law<'_>) -> i64 {
        if let Law::Noisy { .. } = law { self.count } else { self.draws.draw(law) }
    }

    fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
        self.draws.noisy_max(scores, noise)
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        self.draws.noisy_vector(values, noise);
    }
}

/// What receipts add up to, as a share of the budget asked for, over random settings.
fn receipts(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(103);
    for i in 0..effort.of(300_usize, 10_000) {
        let epsilon = 10_f64.powf(rng.random_range(-2.0..1.5));
        let delta = 10_f64.powf(rng.random_range(-12.0..-1.0));
        let sets = rng.random_range(1..40);
        let budget = Budget::new(epsilon, delta).expect("valid");
        let (exponential, flip) = (SelectionRule::Exponential, SelectionRule::PermuteAndFlip);
        let select = |certificate, rule| {
            SetCoverSelect::new(
                sets,
                budget,
                SetCoverSelectSettings { certificate, rule, ..Default::default() },
            )
            .expect("valid settings")
            .receipt()
        };
        let receipt = match i % 5 {
            0 => select(Certificate::Subsampled, flip),
            1 => select(Certificate::Composition, flip),
            2 => select(Certificate::Approximate { delta: budget.delta() }, exponential),
            3 => {
                let most_users = rng.random_range(1..1 << 30);
                let plan = SetCoverThresholds::new(
                    sets,
                    most_users,
                    budget,
                    SetCoverThresholdsSettings::default(),
                );
                plan.expect("valid settings").receipt()
            }
            _ => {
                let plan = SetCoverGreedyScaling::new(
                    sets,
                    budget,
                    SetCoverGreedyScalingSettings::default(),
                );
                plan.expect("valid settings").receipt()
            }
        };
        let spent = receipt.epsilon().map_or(f64::INFINITY, Epsilon::get);
        let over = !receipt.within_budget();
        found.see(if over { f64::INFINITY } else { spent / epsilon }, || {
            format!("epsilon {epsilon}, delta {delta}, {}", receipt.mechanism())
        });
    }
    found
}

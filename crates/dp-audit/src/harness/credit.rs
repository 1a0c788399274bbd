//! What a record is credited over a run, whatever its size.

use dp_accounting::AnyRelation;
use dp_mechanism::{DiscreteGaussian, Geometric, Law, Ratio, ReportNoise, Source};

use crate::numbers::ratio_to_f64;
use crate::promises::Promises;

/// What a record more adds to the log probability of the choices and reports of a run on the sample, over two runs that release the same;
/// infinite where the premise of [`CreditedRun`](dp_mechanism::CreditedRun) is broken: if any score falls, if anything but scores
/// differs, or if the outputs do; and where a receipt is not about records that come or go, or a draw of either run has none.
///
/// Everybody takes part: secret coins come up.
///
/// # Panics
/// If a run draws anything else than choices, reports, and public choices among equals.
pub fn added_loss<O: PartialEq>(
    outcomes: &mut dyn Source,
    without: impl Fn(&mut dyn Source) -> O,
    with: impl Fn(&mut dyn Source) -> O,
) -> f64 {
    let mut first = Notes { outcomes, seen: Vec::new(), promises: Promises::default() };
    let output = without(&mut first);
    let Notes { seen, promises: of_first, .. } = first;
    let mut second = Again { seen: seen.into_iter(), loss: 0.0, promises: Promises::default() };
    let same = with(&mut second) == output && second.seen.next().is_none();
    let has_receipt = |all: &Promises| all.cover_all_draws(AnyRelation::AddOnly).is_ok();
    let covered = has_receipt(&of_first) && has_receipt(&second.promises);
    if same && covered { second.loss } else { f64::INFINITY }
}

/// What a draw looked at, which of it was released, and what came out.
struct Seen {
    scores: Vec<i64>,
    public: Public,
    chosen: Option<usize>,
    drawn: (usize, i64),
}

/// All of a draw but its scores: what both runs must have in common.
#[derive(Clone, Copy, PartialEq)]
enum Public {
    Choice { rate: Ratio },
    Flip { rate: Ratio },
    Report { threshold: i64, noise: Geometric },
    Maximum { noise: Geometric },
    Uniform { candidates: u64 },
}

impl Public {
    /// What a unit of a score is worth.
    fn rate(self) -> f64 {
        match self {
            Self::Choice { rate } | Self::Flip { rate } => ratio_to_f64(rate),
            Self::Report { noise, .. } | Self::Maximum { noise } => {
                ratio_to_f64(noise.scale()).recip()
            }
            Self::Uniform { .. } => 0.0,
        }
    }

    /// Which score was released.
    fn chosen(self, drawn: i64) -> Option<usize> {
        match self {
            Self::Report { threshold, .. } => (drawn >= threshold).then_some(0),
            _ => usize::try_from(drawn).ok(),
        }
    }
}

/// The scores of a draw, and the rest of it.
fn scores_of(law: Law<'_>) -> (Vec<i64>, Public) {
    match law {
        Law::Flip { scores, rate } => (scores.to_vec(), Public::Flip { rate }),
        Law::Choice { scores, rate } => (scores.to_vec(), Public::Choice { rate }),
        Law::Report { value, threshold, noise: ReportNoise::OneSided(noise) } => {
            (vec![value], Public::Report { threshold, noise })
        }
        Law::SparseChoice { scores, .. } if scores.listed().count() == 0 => {
            (Vec::new(), Public::Uniform { candidates: scores.candidates() })
        }
        _ => unreachable!("a credited run draws nothing else"),
    }
}

struct Notes<'a> {
    outcomes: &'a mut dyn Source,
    seen: Vec<Seen>,
    promises: Promises,
}

impl Source for Notes<'_> {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.promises.note(relation);
    }

    fn draw(&mut self, law: Law<'_>) -> i64 {
        self.promises.draw();
        if let Law::Keep { .. } = law {
            return 1;
        }
        let (scores, public) = scores_of(law);
        let drawn = self.outcomes.draw(law);
        self.seen.push(Seen { scores, public, chosen: public.chosen(drawn), drawn: (0, drawn) });
        drawn
    }

    fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
        self.promises.draw();
        let drawn = self.outcomes.noisy_max(scores, noise);
        let (scores, public) = (scores.to_vec(), Public::Maximum { noise });
        self.seen.push(Seen { scores, public, chosen: Some(drawn.0), drawn });
        drawn
    }

    fn noisy_vector(&mut self, _: &mut [i64], _: DiscreteGaussian) {
        unreachable!("a credited run draws nothing else")
    }
}

struct Again<I> {
    seen: I,
    loss: f64,
    promises: Promises,
}

impl<I: Iterator<Item = Seen>> Again<I> {
    fn compare(&mut self, scores: &[i64], public: Public) -> (usize, i64) {
        let Some(seen) = self.seen.next() else {
            self.loss = f64::INFINITY;
            return (0, 0);
        };
        let comparable = seen.scores.len() == scores.len() && seen.public == public;
        let added = || scores.iter().zip(&seen.scores).map(|(with, without)| with - without);
        if !comparable || added().any(|added| added < 0) {
            self.loss = f64::INFINITY;
        } else if let Some(added) = seen.chosen.and_then(|chosen| added().nth(chosen)) {
            self.loss += public.rate() * added as f64;
        }
        seen.drawn
    }
}

impl<I: Iterator<Item = Seen>> Source for Again<I> {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.promises.note(relation);
    }

    fn draw(&mut self, law: Law<'_>) -> i64 {
        self.promises.draw();
        if let Law::Keep { .. } = law {
            return 1;
        }
        let (scores, public) = scores_of(law);
        self.compare(&scores, public).1
    }

    fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
        self.promises.draw();
        self.compare(scores, Public::Maximum { noise })
    }

    fn noisy_vector(&mut self, _: &mut [i64], _: DiscreteGaussian) {
        unreachable!("a credited run draws nothing else")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use dp_accounting::{AddRemove, Relation as _};
    use dp_mechanism::{ChaCha20Rng, Coin, SecureSource};
    use rand::SeedableRng;

    fn loss(without: [i64; 2], with: [i64; 2]) -> f64 {
        let rate = Ratio::new(1, 2).expect("valid");
        // The second choice is among what the first has left.
        let run = |scores: [i64; 2], source: &mut dyn Source| {
            source.promised(Some(AddRemove.any()));
            let first = source.flip(&scores, rate);
            let both = (first, source.flip(&scores[1 - first..=1 - first], rate));
            source.promised(None);
            both
        };
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let mut source = SecureSource::new(&mut rng);
        added_loss(&mut source, |source| run(without, source), |source| run(with, source))
    }

    /// What an added record is credited says nothing about one that is replaced.
    #[test]
    fn a_receipt_about_others_is_refused() {
        use dp_accounting::{AddOnly, ReplaceOne};
        let loss = |promised: AnyRelation| {
            let run = |scores: [i64; 2], source: &mut dyn Source| {
                source.promised(Some(promised));
                let chosen = source.flip(&scores, Ratio::new(1, 2).expect("valid"));
                source.promised(None);
                chosen
            };
            let mut rng = ChaCha20Rng::seed_from_u64(1);
            let mut source = SecureSource::new(&mut rng);
            added_loss(&mut source, |source| run([3, 3], source), |source| run([4, 4], source))
        };
        assert!(
            [AddRemove.any(), AddOnly.any()].iter().all(|one| (loss(*one) - 0.5).abs() < 1e-12)
        );
        assert!(loss(ReplaceOne.any()).is_infinite());
    }

    type Drawing<'a> = &'a dyn Fn(&mut dyn Source);

    /// A draw that no receipt stands behind is no step of a credited run, in whichever of the two runs it is.
    #[test]
    fn a_draw_without_a_receipt_is_refused() {
        let coin = |source: &mut dyn Source| {
            source.keep(Coin::Rational(Ratio::new(1, 2).expect("valid")));
        };
        let noise = Geometric::new(Ratio::new(1, 1).expect("valid")).expect("positive");
        let loss = |planned: bool, beside: [Drawing<'_>; 2]| {
            let run = |scores: [i64; 2], also: Drawing<'_>, source: &mut dyn Source| {
                if planned {
                    source.promised(Some(AddRemove.any()));
                }
                let chosen = source.flip(&scores, Ratio::new(1, 2).expect("valid"));
                if planned {
                    source.promised(None);
                }
                also(source);
                chosen
            };
            let mut rng = ChaCha20Rng::seed_from_u64(1);
            let mut source = SecureSource::new(&mut rng);
            let [first, second] = beside;
            let without = |source: &mut dyn Source| run([3, 3], first, source);
            added_loss(&mut source, without, |source| run([4, 4], second, source))
        };
        let nothing = |_: &mut dyn Source| {};
        let maximum = |source: &mut dyn Source| {
            source.noisy_max(&[1], noise);
        };
        assert_abs_diff_eq!(loss(true, [&nothing; 2]), 0.5, epsilon = 1e-12);
        assert!(loss(false, [&nothing; 2]).is_infinite(), "no plan at all");
        assert!(loss(true, [&maximum; 2]).is_infinite());
        assert!(loss(true, [&coin; 2]).is_infinite());
        assert!(loss(true, [&coin, &nothing]).is_infinite());
        assert!(loss(true, [&nothing, &coin]).is_infinite());
    }

    /// Brings out this value, and of candidates the first.
    struct Says(i64);

    impl Source for Says {
        fn draw(&mut self, _: Law<'_>) -> i64 {
            self.0
        }

        fn noisy_max(&mut self, _: &[i64], _: Geometric) -> (usize, i64) {
            (0, self.0)
        }

        fn noisy_vector(&mut self, _: &mut [i64], _: DiscreteGaussian) {
            unreachable!("there are no vectors")
        }
    }

    fn half() -> Ratio {
        Ratio::new(1, 2).expect("valid")
    }

    fn noise(scale: u128) -> Geometric {
        Geometric::new(Ratio::new(scale, 1).expect("valid")).expect("positive")
    }

    fn report(value: i64, threshold: i64, noise: Geometric, source: &mut dyn Source) -> i64 {
        source.draw(Law::Report { value, threshold, noise: ReportNoise::OneSided(noise) })
    }

    type Run<'a> = &'a dyn Fn(i64, &mut dyn Source) -> i64;

    /// Of a run that is told how many records there are of the one that is added.
    fn loss_of(run: Run<'_>, says: i64) -> f64 {
        let planned = |more: i64| {
            move |source: &mut dyn Source| {
                source.promised(Some(AddRemove.any()));
                let output = run(more, source);
                source.promised(None);
                output
            }
        };
        added_loss(&mut Says(says), planned(0), planned(1))
    }

    /// Whatever kind of draw it was; a report from its threshold on, and what stays silent not at all.
    #[test]
    fn every_kind_of_draw_is_credited() {
        let draws: [Run<'_>; 4] = [
            &|more, source| source.draw(Law::Choice { scores: &[3 + more, 5], rate: half() }),
            &|more, source| source.draw(Law::Flip { scores: &[3 + more, 5], rate: half() }),
            &|more, source| source.noisy_max(&[3 + more, 5], noise(2)).1,
            &|more, source| report(3 + more, 0, noise(2), source),
        ];
        for (number, draw) in draws.iter().enumerate() {
            assert!((loss_of(draw, 0) - 0.5).abs() < 1e-12, "draw {number}");
        }
        assert!(loss_of(&|more, source| report(3 + more, 8, noise(2), source), 7).abs() < 1e-12);
    }

    /// A record that changes anything but scores is credited nothing: what it says by that has no price.
    #[test]
    fn a_record_may_change_nothing_but_scores() {
        use dp_mechanism::SparseScores;
        let rate = |more: i64| Ratio::new(1 + u128::from(more.unsigned_abs()), 2).expect("valid");
        let scores = |more: i64| vec![3; 2 + usize::from(more == 1)];
        let uniform = |candidates: i64, source: &mut dyn Source| {
            let scores = SparseScores::new(candidates.unsigned_abs(), []);
            source.draw(Law::SparseChoice { scores: &scores, rate: half() })
        };
        let scale = |more: i64| 2 + u128::from(more.unsigned_abs());
        let runs: [Run<'_>; 14] = [
            &|more, source| source.draw(Law::Choice { scores: &[3, 5], rate: rate(more) }),
            &|more, source| source.draw(Law::Flip { scores: &[3, 5], rate: rate(more) }),
            &|more, source| source.draw(Law::Choice { scores: &scores(more), rate: half() }),
            &|more, source| source.draw(Law::Flip { scores: &scores(more), rate: half() }),
            &|more, source| source.noisy_max(&scores(more), noise(2)).1,
            &|more, source| source.noisy_max(&[3, 5], noise(scale(more))).1,
            &|more, source| report(3, 0, noise(scale(more)), source),
            &|more, source| report(3, more, noise(2), source),
            &|more, source| uniform(4 + more, source),
            // Another kind of draw that is worth as much.
            &|more, source| {
                let scores = &[3, 5];
                let (choice, flip) =
                    (Law::Choice { scores, rate: half() }, Law::Flip { scores, rate: half() });
                source.draw(if more == 1 { choice } else { flip })
            },
            &|more, source| match more {
                1 => source.noisy_max(&[3, 5], noise(2)).1,
                _ => source.draw(Law::Flip { scores: &[3, 5], rate: half() }),
            },
            // A draw more, or one less.
            &|more, source| (0..=more).map(|_| report(3, 0, noise(2), source)).sum(),
            &|more, source| (more..2).map(|_| report(3, 0, noise(2), source)).sum(),
            &|more, source| report(3, 0, noise(2), source) + more,
        ];
        for (number, run) in runs.iter().enumerate() {
            assert!(loss_of(run, 0).is_infinite(), "run {number}");
        }
    }

    #[test]
    fn credits_of_what_was_chosen_add_up() {
        assert_abs_diff_eq!(loss([3, 4], [4, 6]), 1.5, epsilon = 1e-12);
        assert!(loss([3, 4], [3, 4]).abs() < 1e-12);
        assert!(loss([3, 4], [9, 3]).is_infinite());
    }
}

//! The only door to randomness that a mechanism has, with a meter on it.

use std::fmt;
use std::num::{NonZeroU32, NonZeroU64};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use dp_accounting::{Loss, Receipt, Relation};
use dp_noise::Ratio;

use crate::meter::{Meter, Scope, Spent, Usage};
use crate::{Noise, Private, Source, SparseScores};

/// What a mechanism draws with, through the primitives of this crate.
///
/// A draw is a step of the receipt: a mechanism names the leaf that pays for it, and the meter compares its loss, counts it, and refuses
/// one too many. Nothing here shows a private value, and no raw noise comes out.
///
/// ```
/// use dp_accounting::{AddRemove, Budget, Epsilon, Receipt, Step};
/// use dp_mechanism::{Draws, NoisyCount, SecureSource, chacha_from_os};
///
/// let count = NoisyCount::geometric(Epsilon::new(0.5)?)?;
/// let towns = Step::parallel("towns", vec![Step::spend("count of one town", count.loss())]);
/// let receipt = Receipt::new("towns", AddRemove, Budget::new(0.5, 0.0)?, towns);
/// let mut rng = chacha_from_os()?;
/// let (noisy, usage) = Draws::planned(&mut SecureSource::new(&mut rng), &receipt, |draws| {
///     [800_u64, 0, 75].iter().zip(0..).map(|(&people, town)| {
///         count.release(people, &mut draws.part("count of one town", 0, town))
///     }).collect::<Vec<i64>>()
/// });
/// println!("about {noisy:?} people, with {} draws", usage.leaves[0].1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Draws<'a> {
    source: &'a mut dyn Source,
    /// None outside of a plan.
    meter: Option<&'a mut Meter>,
    /// The leaves that may be named.
    scope: Scope,
    /// The leaf that pays for the next draw, and which part of the records that is on.
    leaf: Option<(usize, u64)>,
}

impl fmt::Debug for Draws<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Draws").field("scope", &self.scope.leaves).finish_non_exhaustive()
    }
}

impl<'a> Draws<'a> {
    /// Draws that no receipt stands behind: for a primitive used on its own, whose loss the caller accounts for.
    pub fn unplanned(source: &'a mut dyn Source) -> Self {
        Self { source, meter: None, scope: Scope::NONE, leaf: None }
    }

    /// Runs with draws that this receipt pays for, and says which of its leaves were drawn how often.
    ///
    /// # Panics
    /// If `run` makes a draw that the receipt does not pay for. Which draws are made follows from the plan and from released values, so
    /// that tells nothing about records.
    pub fn planned<L: Relation, O>(
        source: &mut dyn Source,
        receipt: &Receipt<L>,
        run: impl FnOnce(&mut Draws<'_>) -> O,
    ) -> (O, Usage) {
        let meter = Meter::new(receipt.spent(), L::PARTS_TOUCHED);
        let (output, meter) = Self::metered(source, receipt, meter, run);
        (output, meter.usage())
    }

    /// The same for a run that was interrupted, of whose receipt so much has been drawn already; nothing, if it makes a draw that is not paid for.
    /// What was drawn comes from a state that somebody may have made up, so that is no mistake of the mechanism: the run ends there, and all
    /// that it has drawn is dropped.
    pub(crate) fn resumed<L: Relation, O>(
        source: &mut dyn Source,
        receipt: &Receipt<L>,
        spent: &mut Spent,
        run: impl FnOnce(&mut Draws<'_>) -> O,
    ) -> Option<O> {
        let mut meter = Meter::new(receipt.spent(), L::PARTS_TOUCHED);
        meter.resume(spent);
        // Nothing that is left behind is looked at again but the source, which has been told that the plan is over.
        let run = AssertUnwindSafe(|| Self::metered(source, receipt, meter, run));
        match catch_unwind(run) {
            Ok((output, meter)) => {
                *spent = meter.spent();
                Some(output)
            }
            Err(end) if end.is::<NotPaid>() => None,
            Err(end) => resume_unwind(end),
        }
    }

    fn metered<L: Relation, O>(
        source: &mut dyn Source,
        receipt: &Receipt<L>,
        mut meter: Meter,
        run: impl FnOnce(&mut Draws<'_>) -> O,
    ) -> (O, Meter) {
        let scope = meter.all();
        let promised = Promised::new(source, receipt);
        let source = &mut *promised.source;
        let output = run(&mut Draws { source, meter: Some(&mut meter), scope, leaf: None });
        drop(promised);
        (output, meter)
    }
}

/// A plan that has begun. It ends with this, also if the run panics and somebody catches that: draws that follow are not its own.
struct Promised<'a> {
    source: &'a mut dyn Source,
}

impl<'a> Promised<'a> {
    fn new<L: Relation>(source: &'a mut dyn Source, receipt: &Receipt<L>) -> Self {
        source.promised(Some(receipt.relation().any()));
        Self { source }
    }
}

impl Drop for Promised<'_> {
    fn drop(&mut self) {
        self.source.promised(None);
    }
}

/// Ends a run that goes on from a state, without a word: see [`Draws::resumed`].
struct NotPaid;

#[cold]
fn refused(meter: &Meter, why: &str) -> ! {
    if meter.is_resumed() {
        resume_unwind(Box::new(NotPaid));
    }
    panic!("the receipt does not pay for this draw: {why}");
}

#[cold]
fn none_left(meter: &Meter, name: &str) -> ! {
    if meter.is_resumed() {
        resume_unwind(Box::new(NotPaid));
    }
    panic!("the receipt has no draw `{name}` left");
}

impl Draws<'_> {
    /// The draws below the first of the highest steps of this name, lower than the present one: those of a mechanism within another.
    ///
    /// # Panics
    /// If the receipt has no such step.
    pub fn within(&mut self, name: &str) -> Draws<'_> {
        let scope = match &self.meter {
            Some(meter) => meter
                .within(&self.scope, name)
                .unwrap_or_else(|| panic!("the receipt has no step `{name}` here")),
            None => Scope::NONE,
        };
        Draws { source: self.source, meter: self.meter.as_deref_mut(), scope, leaf: None }
    }

    /// The draw that the leaf of this name pays for; `number` counts the leaves of this name from 0.
    ///
    /// # Panics
    /// If the receipt has no such leaf.
    pub fn leaf(&mut self, name: &str, number: usize) -> Draws<'_> {
        self.part(name, number, 0)
    }

    /// The same, on one part of a partition of the records: each part has one draw. Where neighbours differ in two parts, as where a record is
    /// replaced, the receipt lists all parts, and each leaf has one draw.
    ///
    /// # Panics
    /// If the receipt has no such leaf.
    pub fn part(&mut self, name: &str, number: usize, part: u64) -> Draws<'_> {
        let leaf = self.meter.as_ref().map(|meter| {
            let leaf = meter.find(&self.scope.leaves, name, number);
            let leaf =
                leaf.unwrap_or_else(|| panic!("the receipt has no leaf `{name}` number {number}"));
            (leaf, part)
        });
        self.at(leaf)
    }

    /// The next draw of those that the leaves of this name pay for, in order.
    ///
    /// # Panics
    /// If none is left.
    #[inline]
    pub fn next(&mut self, name: &'static str) -> Draws<'_> {
        let leaf = self.meter.as_mut().map(|meter| {
            let leaf = meter.next(&self.scope.leaves, name);
            (leaf.unwrap_or_else(|| none_left(meter, name)), 0)
        });
        self.at(leaf)
    }

    #[inline]
    fn at(&mut self, leaf: Option<(usize, u64)>) -> Draws<'_> {
        let scope = self.scope.clone();
        Draws { source: self.source, meter: self.meter.as_deref_mut(), scope, leaf }
    }

    /// One of so many candidates, all equally likely. It looks at no record, so nothing pays for it.
    pub fn uniform(&mut self, candidates: NonZeroU64) -> u64 {
        let any = Ratio::new(1, 1).expect("one over one");
        self.source.charged(None);
        self.source.choose_sparse(&SparseScores::new(candidates.get(), []), any)
    }

    /// For each of `n` records one of so many candidates, all equally likely and independent. Secret, as `n` may be; they look at no record, so
    /// nothing pays for them.
    pub fn uniform_each(
        &mut self,
        n: impl Into<Private<usize>>,
        candidates: NonZeroU32,
    ) -> Private<Vec<u32>> {
        let any = Ratio::new(1, 1).expect("one over one");
        let candidates = SparseScores::new(candidates.get().into(), []);
        self.source.charged(None);
        let source = self.free();
        n.into().map_once(|n| {
            let one = || u32::try_from(source.choose_sparse(&candidates, any)).expect("below");
            std::iter::repeat_with(one).take(n).collect()
        })
    }

    /// A public number with noise. It looks at no record, so nothing pays for it.
    pub fn around(&mut self, public: i64, noise: Noise) -> i64 {
        self.source.charged(None);
        self.source.noisy(public, noise)
    }

    /// What has been drawn so far.
    pub fn usage(&self) -> Usage {
        self.meter.as_ref().map_or_else(Usage::default, |meter| meter.usage())
    }

    /// Charges a draw of this loss, and opens the source for it.
    #[inline]
    pub(crate) fn charge(&mut self, loss: Loss) -> &mut dyn Source {
        if let Some(meter) = &mut self.meter {
            let Some((leaf, part)) = self.leaf else { refused(meter, "it names no leaf") };
            meter.charge(leaf, part, loss).unwrap_or_else(|why| refused(meter, &why));
            self.source.charged(meter.alone(leaf));
        }
        self.source
    }

    /// As [`next`](Self::next) and then [`charge`](Self::charge), for draws of which there are many.
    #[inline]
    pub(crate) fn charge_next(&mut self, name: &'static str, loss: Loss) -> &mut dyn Source {
        if let Some(meter) = &mut self.meter {
            let leaf = meter.next(&self.scope.leaves, name);
            let leaf = leaf.unwrap_or_else(|| none_left(meter, name));
            meter.charge(leaf, 0, loss).unwrap_or_else(|why| refused(meter, &why));
            self.source.charged(meter.alone(leaf));
        }
        self.source
    }

    /// For what nothing pays: secret coins, whose price is in the loss of what is drawn from the sample.
    pub(crate) fn free(&mut self) -> &mut dyn Source {
        self.source
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use dp_accounting::{AddRemove, Budget, Covered, Delta, Epsilon, Loss, Mu, ReplaceOne, Step};
    use dp_noise::ChaCha20Rng;
    use rand::SeedableRng;

    use super::*;
    use crate::{
        Certificate, CreditedRun, GaussianSum, NoisyCount, Part, SecureSource, SelectionRule,
    };

    fn count(epsilon: f64) -> NoisyCount {
        NoisyCount::geometric(Epsilon::new(epsilon).expect("valid")).expect("in range")
    }

    /// Why a run is refused that draws under these steps, if it is.
    fn refusal<L: Relation>(
        relation: L,
        steps: Step,
        run: impl FnOnce(&mut Draws<'_>),
    ) -> Option<String> {
        let receipt = Receipt::new("mine", relation, Budget::new(1.0, 0.0).expect("valid"), steps);
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let mut source = SecureSource::new(&mut rng);
        let drawn = catch_unwind(AssertUnwindSafe(|| {
            Draws::planned(&mut source, &receipt, run);
        }));
        drawn.err().map(|panic| panic.downcast_ref::<String>().cloned().unwrap_or_default())
    }

    #[test]
    fn a_draw_that_the_receipt_does_not_pay_for_is_refused() {
        let paid = count(0.5);
        let step = || Step::spend("count", paid.loss());
        let of = |run: &dyn Fn(&mut Draws<'_>)| refusal(AddRemove, step(), run);
        let says = |refused: Option<String>, why: &str| {
            assert!(refused.as_ref().is_some_and(|said| said.contains(why)), "{refused:?}");
        };
        let once = |draws: &mut Draws<'_>| {
            paid.release(3_u64, draws);
        };
        assert_eq!(of(&|draws| once(&mut draws.leaf("count", 0))), None);
        assert_eq!(of(&|draws| once(&mut draws.next("count"))), None);
        let twice = of(&|draws| {
            paid.release(3_u64, &mut draws.leaf("count", 0));
            paid.release(3_u64, &mut draws.leaf("count", 0));
        });
        says(twice, "has been drawn already");
        let next = of(&|draws| {
            paid.release(3_u64, &mut draws.next("count"));
            paid.release(3_u64, &mut draws.next("count"));
        });
        says(next, "no draw `count` left");
        let other = count(0.6);
        let of_other = of(&|draws| {
            other.release(3_u64, &mut draws.next("count"));
        });
        says(of_other, "costs");
        // No pure loss tells these apart.
        let sum = |mu| GaussianSum::rounded(Mu::new(mu).expect("valid")).expect("in range");
        let of_sum = |drawn: f64| {
            refusal(AddRemove, Step::spend("sum", sum(0.5).loss()), |draws| {
                sum(drawn).release(&[3_i64, 4], 1, &mut draws.next("sum"));
            })
        };
        assert_eq!(of_sum(0.5), None);
        says(of_sum(0.6), "costs");
        says(of_sum(0.4), "costs");
        says(of(&once), "it names no leaf");
        says(of(&|draws| once(&mut draws.leaf("count", 1))), "no leaf `count`");
        says(of(&|draws| once(&mut draws.within("other"))), "no step `other`");
    }

    #[test]
    fn selections_of_a_run_are_charged_one_by_one() {
        let part = Part { name: "picks", share: 1.0, rounds: 2 };
        let epsilon = Epsilon::new(0.5).expect("valid");
        let run = CreditedRun::new(Certificate::Subsampled, epsilon, &[part]).expect("in range");
        let selection = run.selection(0, SelectionRule::Exponential, 1).expect("in range");
        let draws = |times: usize| {
            refusal(AddRemove, run.step(), |draws| {
                for _ in 0..times {
                    selection.release(&[1, 2], draws).expect("two candidates");
                }
            })
        };
        assert_eq!(draws(2), None);
        assert!(draws(3).is_some_and(|why| why.contains("no draw `picks` left")));
    }

    /// An audit can tell which draws have a receipt.
    #[test]
    fn a_plan_says_where_it_begins_and_ends() {
        struct Told(Vec<Option<dp_accounting::AnyRelation>>);
        impl Source for Told {
            fn promised(&mut self, relation: Option<dp_accounting::AnyRelation>) {
                self.0.push(relation);
            }
            fn draw(&mut self, _: crate::Law<'_>) -> i64 {
                7
            }
            fn noisy_vector(&mut self, _: &mut [i64], _: dp_noise::DiscreteGaussian) {}
            fn noisy_max(&mut self, _: &[i64], _: dp_noise::Geometric) -> (usize, i64) {
                (0, 0)
            }
        }
        let mut told = Told(Vec::new());
        let steps = Step::spend("count", count(0.5).loss());
        let receipt = Receipt::new("c", AddRemove, Budget::new(0.5, 0.0).expect("valid"), steps);
        let dies = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            Draws::planned(&mut told, &receipt, |_| std::panic::resume_unwind(Box::new(())))
        }));
        let dies: Result<((), Usage), _> = dies;
        assert!(dies.is_err() && told.0.len() == 2 && told.0[1].is_none(), "an end is an end");
        told.0.clear();
        let paid = |draws: &mut Draws<'_>| count(0.5).release(3_u64, &mut draws.next("count"));
        let (noisy, usage) = Draws::planned(&mut told, &receipt, paid);
        assert_eq!((noisy, usage.leaves[0].1), (7, 1));
        assert_eq!(told.0, [Some(AddRemove.any()), None]);
    }

    /// A run that goes on ends without a word where draws are not paid for, and only there.
    #[test]
    fn a_mistake_of_a_run_that_goes_on_is_told() {
        let step = Step::spend("count", count(0.5).loss());
        let receipt = Receipt::new("c", AddRemove, Budget::new(0.5, 0.0).expect("valid"), step);
        let resumed = |run: &dyn Fn(&mut Draws<'_>)| {
            let mut rng = dp_noise::ChaCha20Rng::seed_from_u64(1);
            let mut source = SecureSource::new(&mut rng);
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                Draws::resumed(&mut source, &receipt, &mut Spent::default(), run)
            }))
        };
        let once = |draws: &mut Draws<'_>| {
            count(0.5).release(3_u64, &mut draws.next("count"));
        };
        assert!(matches!(resumed(&once), Ok(Some(()))));
        assert!(matches!(
            resumed(&|draws| [once, once].iter().for_each(|draw| draw(draws))),
            Ok(None)
        ));
        let mistake = |_: &mut Draws<'_>| std::panic::resume_unwind(Box::new("a mistake"));
        let told = resumed(&mistake).expect_err("nothing is made of it");
        assert_eq!(told.downcast_ref(), Some(&"a mistake"));
    }

    /// What an audit holds draws to is what they cost by themselves: neither the price of a group or of several kinds of draws, nor that of
    /// the draws before.
    #[test]
    fn a_leaf_says_what_it_costs_by_itself_or_nothing() {
        struct Told(Vec<Option<Loss>>);
        impl Source for Told {
            fn charged(&mut self, loss: Option<Loss>) {
                self.0.push(loss);
            }
            fn draw(&mut self, _: crate::Law<'_>) -> i64 {
                0
            }
            fn noisy_vector(&mut self, _: &mut [i64], _: dp_noise::DiscreteGaussian) {}
            fn noisy_max(&mut self, _: &[i64], _: dp_noise::Geometric) -> (usize, i64) {
                (0, 0)
            }
        }
        let paid = count(0.5);
        let half = dp_noise::Ratio::new(1, 2).expect("valid");
        let noise = Noise::Laplace(dp_noise::DiscreteLaplace::new(half).expect("positive"));
        let leaf = || Step::spend("count", paid.loss());
        let covers = vec![Covered { name: "count".to_owned(), draws: Some(1) }];
        let group = Step::group("two", std::num::NonZeroU32::MIN.saturating_add(1), leaf());
        let outside = Step::outside("rare", Delta::ZERO, leaf());
        for (step, alone) in [
            (leaf(), true),
            (Step::sequential("all", vec![leaf()]), true),
            (Step::parallel("towns", vec![leaf()]), true),
            (Step::spend_on("several", paid.loss(), covers), false),
            (group, false),
            (Step::sequential("all", vec![outside]), false),
        ] {
            let receipt =
                Receipt::new("mine", AddRemove, Budget::new(1.0, 0.0).expect("valid"), step);
            let mut told = Told(Vec::new());
            Draws::planned(&mut told, &receipt, |draws| {
                paid.release(3_u64, &mut draws.next("count"));
                draws.uniform(NonZeroU64::MIN);
                let _ = draws.uniform_each(2, NonZeroU32::MIN);
                draws.around(3, noise);
            });
            assert_eq!(told.0, [alone.then_some(paid.loss()), None, None, None], "{receipt:?}");
        }
    }

    /// A record that is replaced is in two towns, so one listed town does not stand for all.
    #[test]
    fn the_relation_of_the_receipt_says_how_many_parts_are_touched() {
        let paid = count(0.5);
        let towns = || Step::parallel("towns", vec![Step::spend("town", paid.loss())]);
        let run = |draws: &mut Draws<'_>| {
            for town in 0..2 {
                paid.release(3_u64, &mut draws.part("town", 0, town));
            }
        };
        assert_eq!(refusal(AddRemove, towns(), run), None);
        assert!(refusal(ReplaceOne, towns(), run).is_some());
    }
}

//! The only door to randomness that a mechanism has, with a meter on it.

use std::fmt;
use std::num::NonZeroU64;

use dp_accounting::{Loss, Receipt, Relation};
use dp_noise::Ratio;

use crate::meter::{Meter, Scope, Usage};
use crate::{Noise, Source, SparseScores};

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
        source.promised(receipt.relation().any());
        let mut meter = Meter::new(receipt.spent(), L::PARTS_TOUCHED);
        let scope = meter.all();
        let output = run(&mut Draws { source, meter: Some(&mut meter), scope, leaf: None });
        (output, meter.usage())
    }
}

#[cold]
fn refused(why: &str) -> ! {
    panic!("the receipt does not pay for this draw: {why}");
}

#[cold]
fn none_left(name: &str) -> ! {
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
            (meter.next(&self.scope.leaves, name).unwrap_or_else(|| none_left(name)), 0)
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
            let Some((leaf, part)) = self.leaf else { refused("it names no leaf") };
            meter.charge(leaf, part, loss).unwrap_or_else(|why| refused(&why));
            self.source.charged(meter.alone(leaf));
        }
        self.source
    }

    /// As [`next`](Self::next) and then [`charge`](Self::charge), for draws of which there are many.
    #[inline]
    pub(crate) fn charge_next(&mut self, name: &'static str, loss: Loss) -> &mut dyn Source {
        if let Some(meter) = &mut self.meter {
            let leaf = meter.next(&self.scope.leaves, name).unwrap_or_else(|| none_left(name));
            meter.charge(leaf, 0, loss).unwrap_or_else(|why| refused(&why));
            self.source.charged(meter.alone(leaf));
        }
        self.source
    }

    /// For what nothing pays: secret coins, whose price is in the loss of what is drawn from the sample.
    pub(crate) fn free(&mut self) -> &mut dyn Source {
        self.source
    }
}

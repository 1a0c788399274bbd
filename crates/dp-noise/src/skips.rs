//! Keeping each of many records by an independent coin, by jumping from one kept to the next.

use std::iter::FusedIterator;

use crate::digits::{Decay, Digits};
use crate::{Bits, NoiseError, Ratio};

/// A Poisson sample: every one of `n` records is kept with the same probability `p`, independently.
///
/// The gap between two kept records is geometric with ratio `1 - p`, so the work is that of the
/// records kept, not of all.
///
/// # Complexity
/// About `(log2(1/p) + 7) / 3 + 1` words for every record kept, and as many once. Not timing-safe: the time
/// tells how many were kept. Construction computes one probability per word in big integers, about
/// 0.1 ms.
///
/// # Precision
/// Exact. The probability is used as given.
///
/// # Source
/// The jumps are Fan, Muller, Rezucha (1962); the gap is drawn as in
/// [`TimingSafeGeometric`](crate::TimingSafeGeometric).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoissonSkips {
    gaps: Gaps,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Gaps {
    /// `p = 0`.
    Endless,
    /// `p = 1`.
    None,
    Geometric(Digits),
}

impl Gaps {
    fn geometric(decay: Decay, got: Ratio) -> Result<Self, NoiseError> {
        let digits = Digits::all_but_impossible(decay).ok_or(NoiseError::TooRare { got })?;
        Ok(Self::Geometric(digits))
    }
}

impl PoissonSkips {
    /// Keeps with probability exactly `p`.
    ///
    /// # Errors
    /// If `p` is above 1, or positive but below about `2^-56`.
    pub fn with_probability(p: Ratio) -> Result<Self, NoiseError> {
        let (a, b) = (p.numerator(), p.denominator().get());
        let Some(rest) = b.checked_sub(a) else {
            return Err(NoiseError::TooLarge { what: "probability", most: 1, got: p });
        };
        let gaps = match (a, rest) {
            (0, _) => Gaps::Endless,
            (_, 0) => Gaps::None,
            _ => Gaps::geometric(Decay::Power(Ratio::new(rest, b)?), p)?,
        };
        Ok(Self { gaps })
    }

    /// Keeps with probability exactly `1 - exp(-x)`.
    ///
    /// # Errors
    /// If `x` is positive but below about `2^-56`.
    pub fn with_one_minus_exp(x: Ratio) -> Result<Self, NoiseError> {
        let gaps = match x.numerator() {
            0 => Gaps::Endless,
            _ => Gaps::geometric(Decay::Exp(x), x)?,
        };
        Ok(Self { gaps })
    }

    /// The positions kept out of `0..n`, in order. Drawing happens as it advances.
    pub fn indexes<'a, B: Bits + ?Sized>(&'a self, n: u64, bits: &'a mut B) -> KeptIndexes<'a, B> {
        KeptIndexes { gaps: &self.gaps, next: 0, n, bits }
    }

    /// How many of `n` are kept: a binomial variable, exactly.
    ///
    /// # Complexity
    /// One gap per success; for a `p` above 1/2 ask for the failures instead.
    pub fn count<B: Bits + ?Sized>(&self, n: u64, bits: &mut B) -> u64 {
        match self.gaps {
            Gaps::None => n,
            _ => self.indexes(n, bits).fold(0, |count, _| count + 1),
        }
    }
}

/// The positions kept, made by [`PoissonSkips::indexes`].
#[derive(Debug)]
pub struct KeptIndexes<'a, B: Bits + ?Sized> {
    gaps: &'a Gaps,
    /// The first position not yet decided.
    next: u64,
    n: u64,
    bits: &'a mut B,
}

impl<B: Bits + ?Sized> Iterator for KeptIndexes<'_, B> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        if self.next >= self.n {
            return None; // nothing left to decide, so nothing is drawn
        }
        let gap = match self.gaps {
            Gaps::Endless => u128::MAX,
            Gaps::None => 0,
            Gaps::Geometric(digits) => digits.sample_unbounded(self.bits),
        };
        let kept = u128::from(self.next).saturating_add(gap);
        let kept = u64::try_from(kept).ok().filter(|&kept| kept < self.n);
        self.next = kept.map_or(self.n, |kept| kept + 1);
        kept
    }
}

impl<B: Bits + ?Sized> FusedIterator for KeptIndexes<'_, B> {}

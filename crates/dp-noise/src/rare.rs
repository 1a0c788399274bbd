//! Rare events on huge grids: which cells are hit, and coins far below one in a word.

use std::num::NonZero;

use crate::digits::{Decay, Digits};
use crate::exp::exp_minus;
use crate::lazy::coin;
use crate::{Bits, NoiseError, Ratio};

/// Every cell of a grid is hit with probability exactly `2^-m`, independently; the cells in between
/// are jumped over.
///
/// With [`bernoulli_exp_scaled`] a hit becomes an event of any smaller probability: draw the hits,
/// and confirm each with `2^m p`. So a grid of `2^104` cells whose events have probability `2^-90`
/// costs what its hits cost.
///
/// # Complexity
/// `m + 8` words for a gap. Construction computes as many probabilities in big integers, about
/// 1 ms at `m = 64`.
///
/// # Precision
/// Exact.
///
/// # Source
/// The jumps are Fan, Muller, Rezucha (1962); the gap is drawn by its binary digits, as in
/// [`PoissonSkips`](crate::PoissonSkips).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RareHits {
    exponent: u32,
    /// `None` for `m = 0`: every cell is hit.
    gaps: Option<Digits>,
}

impl RareHits {
    /// The largest `m`.
    pub const MAX_EXPONENT: u32 = 95;

    /// Hits of probability `2^-exponent`.
    ///
    /// # Errors
    /// If the exponent is above [`MAX_EXPONENT`](Self::MAX_EXPONENT).
    pub fn new(exponent: u32) -> Result<Self, NoiseError> {
        let got = Ratio::new(exponent.into(), 1)?;
        let too_large =
            NoiseError::TooLarge { what: "exponent", most: Self::MAX_EXPONENT.into(), got };
        let gaps = match exponent {
            0 => None,
            1..=Self::MAX_EXPONENT => {
                let size = 1_u128 << exponent;
                let decay = Decay::Power(Ratio::new(size - 1, size)?);
                Some(Digits::all_but_impossible_wide(decay).ok_or(too_large)?)
            }
            _ => return Err(too_large),
        };
        Ok(Self { exponent, gaps })
    }

    /// `m`.
    pub fn exponent(&self) -> u32 {
        self.exponent
    }

    /// The number of cells before the next hit; the hit itself is not counted.
    #[inline]
    pub fn gap<B: Bits + ?Sized>(&self, bits: &mut B) -> u128 {
        self.gaps.as_ref().map_or(0, |gaps| gaps.sample_unbounded(bits))
    }
}

/// True with probability `2^shift exp(-numerator / denominator)`, exactly; always true from 1 on.
///
/// # Complexity
/// One word, and one exponential to `shift + 80` bits in big integers, some microseconds: for rare
/// use. Without a shift use [`bernoulli_exp`](crate::bernoulli_exp).
pub fn bernoulli_exp_scaled<B: Bits + ?Sized>(
    bits: &mut B,
    shift: u32,
    numerator: u128,
    denominator: NonZero<u128>,
) -> bool {
    const GUARD: u64 = 16;
    let (numerator, denominator) = (numerator.into(), denominator.get().into());
    // In units of 2^-precision, after multiplication by 2^shift.
    let scaled = |precision: u64| exp_minus(&numerator, &denominator, precision + u64::from(shift));
    let near = scaled(64 + GUARD);
    if near.low.bits() > 64 + GUARD {
        return true;
    }
    coin(bits, near.strip(GUARD), scaled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::{Interval, ONE, Tape, enumerate, exp_minus as truth};

    #[test]
    fn gaps_between_hits_are_geometric() {
        for m in [1, 2] {
            let hits = RareHits::new(m).expect("small");
            let law = enumerate(28, |tape: &mut Tape<3>| hits.gap(tape).min(6));
            let miss = Interval::ratio((1 << m) - 1, 1 << m);
            let mut before = Interval::ratio(1, 1);
            for gap in 0..6 {
                let p = before.times(Interval::ratio(1, 1 << m));
                let found = law.found[&gap];
                assert!(found <= p.high && p.low <= found + law.unresolved, "{m}: {gap}");
                before = before.times(miss);
            }
            assert!(law.unresolved < ONE >> 10, "{}", law.unresolved_share());
            assert_eq!(hits.exponent(), m);
        }
        assert!(RareHits::new(96).is_err());
    }

    /// Null: the gap divided by 2^80 is exponential, to within 2^-80. Massart's inequality holds
    /// the empirical CDF of 20,000 draws within .0191 of it except with probability 1e-6; the
    /// control, half of the rate, is off by .25 at the median.
    #[test]
    fn gaps_of_a_huge_grid_are_close_to_exponential() {
        use rand::SeedableRng;
        let hits = RareHits::new(80).expect("in range");
        let mut rng = crate::ChaCha20Rng::seed_from_u64(5);
        let mut bits = crate::SecureBits::new(&mut rng);
        let unit = 1_u128 << 80;
        let draws: Vec<u128> = (0..20_000).map(|_| hits.gap(&mut bits)).collect();
        // Pr[gap <= x unit] in millionths: 1 - e^-x.
        let cdf = [(4, 221_199), (2, 393_469), (1, 632_121)];
        let off = |scale: u128| {
            let share = |d: u128| draws.iter().filter(|&&g| g * scale <= unit / d).count() * 50;
            let off = |(d, p): (u128, usize)| share(d).abs_diff(p);
            cdf.into_iter().map(off).max()
        };
        assert!(off(1) <= Some(19_100), "{:?}", off(1));
        assert!(off(2) > Some(19_100));
    }

    /// `2^m e^-x` against its enclosure, for short words; and a shift too many is noticed.
    #[test]
    fn scaled_coins_have_their_probability() {
        for (shift, a, b) in [(0, 1, 1), (1, 1, 1), (1, 7, 3), (2, 3, 2), (3, 9, 4)] {
            let p = truth(a, b);
            let p = Interval { low: p.low << shift, high: p.high << shift };
            let agrees = |shift: u32| {
                let law = enumerate(40, |tape: &mut Tape<4>| {
                    bernoulli_exp_scaled(tape, shift, a, NonZero::new(b).expect("positive"))
                });
                let heads = law.found.get(&true).copied().unwrap_or(0);
                heads <= p.high && p.low <= heads + law.unresolved
            };
            assert!(agrees(shift), "2^{shift} e^-({a}/{b})");
            assert!(!agrees(shift + 1), "no power at 2^{shift} e^-({a}/{b})");
        }
        let sure = |tape: &mut Tape<4>| {
            bernoulli_exp_scaled(tape, 2, 1, NonZero::new(1).expect("positive"))
        };
        assert_eq!(enumerate(20, sure).found.get(&true), Some(&ONE));
    }
}

//! The source of randomness: words from a cryptographic generator, and uniform integers from them.

use std::num::NonZero;

use num_bigint::BigUint;
use rand::CryptoRng;

/// Where samplers get their randomness.
///
/// A release uses [`SecureBits`]. A proof by enumeration implements the trait with a tape that
/// branches `n` ways at [`Bits::below`] and so walks every path of the very same sampler.
pub trait Bits {
    /// The number of bits in a word: 64, and only in a proof less, so that *every* word can be
    /// tried and the rare second words of a sampler come up. At most 64.
    const WORD_BITS: u32 = 64;

    /// [`WORD_BITS`](Self::WORD_BITS) uniform random bits, the other bits zero.
    fn word(&mut self) -> u64;

    /// A uniform integer in `0..n`.
    #[inline]
    fn below(&mut self, n: NonZero<u128>) -> u128 {
        if let Ok(n) = NonZero::<u64>::try_from(n) {
            return uniform_by_words::<64, _>(self, |bits| bits.word().into(), n).into();
        }
        // Keep as many bits as n - 1 has and redo what is too large: fewer than two tries.
        let mask = u128::MAX >> (n.get() - 1).leading_zeros();
        self.retry(|bits| {
            let wide = (u128::from(bits.word()) << 64) | u128::from(bits.word());
            (wide & mask < n.get()).then_some(wide & mask)
        })
    }

    /// Runs independent rounds until one accepts, that is, returns `Some`.
    ///
    /// Every loop and every reusable coin of this crate goes through here. To a release it is a
    /// loop; an enumerating source replaces it by the exact law of one round given acceptance,
    /// which turns a tree of unbounded depth into one branching.
    #[inline]
    fn retry<T: Ord + Clone + 'static>(&mut self, round: impl Fn(&mut Self) -> Option<T>) -> T {
        loop {
            if let Some(accepted) = round(self) {
                return accepted;
            }
        }
    }
}

/// Random bits from a cryptographic generator.
///
/// The bound `R: CryptoRng` keeps fast statistical generators out of releases at compile time:
/// ```compile_fail
/// use rand::SeedableRng;
/// let mut weak = rand::rngs::SmallRng::seed_from_u64(1);
/// let bits = dp_noise::SecureBits::new(&mut weak);
/// ```
#[derive(Debug)]
pub struct SecureBits<'a, R: CryptoRng + ?Sized> {
    rng: &'a mut R,
}

impl<'a, R: CryptoRng + ?Sized> SecureBits<'a, R> {
    /// Draws from `rng` for as long as the borrow lasts; nothing is buffered.
    pub fn new(rng: &'a mut R) -> Self {
        Self { rng }
    }
}

impl<R: CryptoRng + ?Sized> Bits for SecureBits<'_, R> {
    #[inline]
    fn word(&mut self) -> u64 {
        self.rng.next_u64()
    }
}

/// A uniform integer in `0..n` from words of `WORD_BITS` uniform bits (multiply, keep the high
/// half, redo in the short strip that would bias it).
///
/// Releases use 64-bit words. The width is a parameter so that a test can enumerate all words of
/// 3 to 6 bits through the code that runs at 64.
///
/// # Panics
/// If `n` does not fit in a word.
///
/// # Source
/// Lemire, "Fast Random Integer Generation in an Interval" (2019).
#[inline]
pub fn uniform_by_words<const WORD_BITS: u32, B: Bits + ?Sized>(
    bits: &mut B,
    word: impl Fn(&mut B) -> u128,
    n: NonZero<u64>,
) -> u64 {
    let size = 1_u128 << WORD_BITS;
    let n = u128::from(n.get());
    assert!(WORD_BITS <= 64 && n <= size, "n must fit in a word");
    if n == 1 {
        return 0; // no draw needed, none taken
    }
    let high = bits.retry(|bits| {
        let product = word(bits) * n;
        let low = product & (size - 1);
        // The division is only needed in the strip below n, which is rarely entered.
        (low >= n || low >= size % n).then_some(product >> WORD_BITS)
    });
    u64::try_from(high).expect("the high half is below n")
}

/// A uniform integer in `0..n`, for `n > 0` of any length.
pub(crate) fn uniform_below_big<B: Bits + ?Sized>(bits: &mut B, n: &BigUint) -> BigUint {
    let length = (n - 1_u32).bits();
    bits.retry(|bits| {
        let mut candidate = BigUint::ZERO;
        let mut missing = length;
        while missing > 0 {
            let take = missing.min(64);
            let digit = bits.below(NonZero::new(1_u128 << take).expect("a power of two"));
            candidate = (candidate << take) | BigUint::from(digit);
            missing -= take;
        }
        (candidate < *n).then_some(candidate)
    })
}

#[cfg(test)]
mod tests {
    use rand::{SeedableRng, rngs::ChaCha20Rng};

    use super::*;

    /// Null: uniform on 16 equal cells of `0..n` for an `n` of 102 bits. By Massart's inequality
    /// the empirical CDF of 40,000 draws stays within 0.0135 of it except with probability 1e-6;
    /// the control, one missing top bit, is off by a third.
    #[test]
    fn wide_uniform_integers_are_uniform() {
        let n = NonZero::new(3_u128 << 100).expect("positive");
        let mut rng = ChaCha20Rng::seed_from_u64(11);
        let mut bits = SecureBits::new(&mut rng);
        let draws: Vec<u128> = (0..40_000).map(|_| bits.below(n)).collect();
        let distance = |draws: &[u128]| {
            (1..16_u128)
                .map(|i| {
                    let edge = n.get() / 16 * i;
                    let below = draws.iter().filter(|&&x| x < edge).count() as u128;
                    (below * 16).abs_diff(i * 40_000)
                })
                .max()
        };
        let bound = 135 * 16 * 40_000 / 10_000;
        assert!(distance(&draws) <= Some(bound));
        let short: Vec<u128> = draws.iter().map(|x| x % (1 << 101)).collect();
        assert!(distance(&short) > Some(bound));
        assert!(draws.iter().all(|&x| x < n.get()));
    }

    /// Cells of the upper digits do not tell two words from one that was taken twice.
    #[test]
    fn a_wide_integer_has_the_digits_of_two_words() {
        struct Script(Vec<u64>);
        impl Bits for Script {
            fn word(&mut self) -> u64 {
                self.0.pop().expect("no more than two words")
            }
        }
        let below = |n: u128, first: u64, second: u64| {
            Script(vec![second, first]).below(NonZero::new(n).expect("positive"))
        };
        let (first, second) = (0x0123_4567_89ab_cdef_u64, 0xfedc_ba98_7654_3210_u64);
        let both = u128::from(first) << 64 | u128::from(second);
        assert_eq!(below(u128::MAX, first, second), both);
        for digits in 65..128 {
            assert_eq!(below(1 << digits, first, second), both % (1 << digits), "{digits}");
        }
    }
}

//! Which of several enclosed weights a uniform real falls into, to any precision.

use num_bigint::BigUint;

use crate::Bits;
use crate::exp::{Enclosure, shift_up};

/// The index whose share of the total weight holds the uniform real that begins with two words,
/// `prefix`. Takes more and more digits of the real, and of `count` weights that `weight` encloses to a
/// given number of bits.
#[cold]
pub(crate) fn settle<B: Bits + ?Sized>(
    bits: &mut B,
    prefix: u128,
    count: usize,
    weight: impl Fn(usize, u64) -> Enclosure,
) -> usize {
    let mut point = BigUint::from(prefix);
    let mut length = u64::from(2 * B::WORD_BITS);
    loop {
        let weights: Vec<Enclosure> = (0..count).map(|i| weight(i, length)).collect();
        if let Some(index) = index_at(&weights, &point, length) {
            return index;
        }
        point = (point << B::WORD_BITS) | BigUint::from(bits.word());
        length += u64::from(B::WORD_BITS);
    }
}

/// The index of a uniform real with these first digits, if they decide it.
pub(crate) fn index_at(weights: &[Enclosure], point: &BigUint, length: u64) -> Option<usize> {
    let total_low: BigUint = weights.iter().map(|weight| &weight.low).sum();
    let total_high: BigUint = weights.iter().map(|weight| &weight.high).sum();
    let lowest = (point * total_low) >> length;
    let highest = shift_up((point + 1_u32) * total_high, length);
    let (mut sum, mut edge) = (BigUint::ZERO, BigUint::ZERO);
    for (index, weight) in weights.iter().enumerate() {
        sum += &weight.low;
        if sum >= highest {
            return (edge <= lowest).then_some(index);
        }
        edge += &weight.high;
    }
    None
}

//! Poisson counts, in integers.

use std::num::NonZero;

use num_bigint::BigUint;

use crate::exp::{Enclosure, exp_minus, shift_up, unit_poisson_below};
use crate::lazy::Uniform;
use crate::{Bits, bernoulli};

/// `Pr[N = n] = e^(-m) m^n / n!` for the rational mean `m = numerator / denominator`.
///
/// # Complexity
/// In proportion to `m + 1`.
#[inline]
pub(crate) fn poisson<B: Bits + ?Sized>(
    bits: &mut B,
    numerator: u128,
    denominator: NonZero<u128>,
) -> u64 {
    bits.retry(|bits| {
        let (mut rest, mut count) = (numerator, 0);
        while rest >= denominator.get() {
            rest -= denominator.get();
            count += unit_poisson(bits);
        }
        // Points of mean 1, each kept with the probability `rest / denominator`, have that mean.
        for _ in 0..unit_poisson(bits) {
            count += u64::from(bernoulli(bits, rest, denominator));
        }
        Some(count)
    })
}

/// Of mean 1: the number of `n` for which one uniform real is not below `Pr[N <= n]`.
#[inline]
fn unit_poisson<B: Bits + ?Sized>(bits: &mut B) -> u64 {
    bits.retry(|bits| {
        let mut uniform = Uniform::draw(bits);
        let mut n = 0_u32;
        loop {
            if uniform.is_below(bits, unit_poisson_below(n), |precision| at_most(n, precision)) {
                return Some(n.into());
            }
            n += 1;
        }
    })
}

/// `Pr[N <= n]` for the mean 1, which is `(1 + 1/1! + .. + 1/n!) / e`.
fn at_most(n: u32, bits: u64) -> Enclosure {
    let (mut sum, mut factorial) = (BigUint::from(1_u32), BigUint::from(1_u32));
    for i in 1..=n {
        sum = sum * i + 1_u32;
        factorial *= i;
    }
    // The sum is below e, so a unit of 1/e becomes less than three.
    let inverse = exp_minus(&1_u32.into(), &1_u32.into(), bits + 8);
    let low = inverse.low * &sum / &factorial;
    let high = inverse.high * sum / factorial + 1_u32;
    Enclosure { low: low >> 8_u32, high: shift_up(high, 8) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::{Interval, ONE, Tape, enumerate, exp_minus as truth};

    #[test]
    fn the_table_holds_its_values() {
        for n in 0..40 {
            let (strip, truth) = (unit_poisson_below(n), at_most(n, 80));
            assert!(BigUint::from(strip.low) << 16_u32 <= truth.high, "{n}");
            assert!(truth.low <= (BigUint::from(strip.low) + strip.width) << 16_u32, "{n}");
            assert!(strip.width <= 1 && &truth.high - &truth.low <= 2_u32.into(), "{n}");
        }
    }

    /// Whether enumeration finds the law of mean `a / b` in the counts of mean `found_a / found_b`.
    fn agrees<const W: u32>((found_a, found_b): (u128, u128), (a, b): (u128, u128)) -> bool {
        let denominator = NonZero::new(found_b).expect("positive");
        let law = enumerate(32, |tape: &mut Tape<W>| poisson(tape, found_a, denominator));
        assert!(law.unresolved <= ONE >> 20, "{found_a}/{found_b}: {:e}", law.unresolved_share());
        law.found.iter().all(|(&n, &found)| {
            let mut p = truth(a, b);
            for i in 1..=u128::from(n) {
                p = p.times(Interval::ratio(a, b * i));
            }
            found <= p.high && p.low <= found + law.unresolved
        })
    }

    #[test]
    fn counts_have_their_law() {
        for mean in [(1, 9), (5, 7), (1, 1), (4, 3)] {
            assert!(agrees::<3>(mean, mean), "{mean:?}");
        }
        assert!(agrees::<6>((5, 7), (5, 7)));
        assert!(!agrees::<3>((1, 2), (5, 9)), "the control");
        assert!(!agrees::<3>((4, 3), (1, 1)), "the control");
    }
}

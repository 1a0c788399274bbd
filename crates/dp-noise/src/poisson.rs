//! Poisson counts, in integers.

use std::num::NonZero;

use num_bigint::BigUint;

use crate::exp::{Enclosure, FEW, exp_minus, few_points_below, shift_up};
use crate::lazy::Uniform;
use crate::{Bits, bernoulli};

/// `Pr[N = n] = e^(-m) m^n / n!` for the rational mean `m = numerator / denominator`.
///
/// # Complexity
/// Mostly one word for a small mean; in proportion to it for a large one. Means of `2^125 / denominator` and more are held there.
#[inline]
pub(crate) fn poisson<B: Bits + ?Sized>(
    bits: &mut B,
    numerator: u128,
    denominator: NonZero<u128>,
) -> u64 {
    bits.retry(|bits| {
        let (mut rest, mut count) = (numerator.saturating_mul(FEW), 0);
        while rest >= denominator.get() {
            rest -= denominator.get();
            count += few_points(bits);
        }
        // Points of mean `1 / FEW`, each kept with the probability `rest / denominator`, have that share of it.
        for _ in 0..few_points(bits) {
            count += u64::from(bernoulli(bits, rest, denominator));
        }
        Some(count)
    })
}

/// Of mean `1 / FEW`: the number of `n` for which one uniform real is not below `Pr[N <= n]`.
#[inline]
fn few_points<B: Bits + ?Sized>(bits: &mut B) -> u64 {
    bits.retry(|bits| {
        let mut uniform = Uniform::draw(bits);
        let mut n = 0_u32;
        loop {
            if uniform.is_below(bits, few_points_below(n), |precision| at_most(n, precision)) {
                return Some(n.into());
            }
            n += 1;
        }
    })
}

/// `Pr[N <= n]` for the mean `x = 1 / FEW`, which is `(1 + x/1! + .. + x^n/n!) exp(-x)`.
fn at_most(n: u32, bits: u64) -> Enclosure {
    let few = BigUint::from(FEW);
    let (mut sum, mut factorial) = (BigUint::from(1_u32), BigUint::from(1_u32));
    for i in 1..=n {
        let times = &few * i;
        sum = sum * &times + 1_u32;
        factorial *= times;
    }
    // The sum is below 2, so a unit of the power becomes less than two.
    let power = exp_minus(&1_u32.into(), &few, bits + 8);
    let low = power.low * &sum / &factorial;
    let high = power.high * sum / factorial + 1_u32;
    Enclosure { low: low >> 8_u32, high: shift_up(high, 8) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::{Interval, ONE, Tape, enumerate, exp_minus as truth};

    #[test]
    fn the_table_holds_its_values() {
        for n in 0..40 {
            let (strip, truth) = (few_points_below(n), at_most(n, 80));
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
        for mean in [(1, 1000), (1, 9), (1, 8), (3, 5)] {
            assert!(agrees::<3>(mean, mean), "{mean:?}");
        }
        assert!(agrees::<6>((1, 20), (1, 20)));
        assert!(!agrees::<3>((1, 10), (1, 9)), "the control");
        assert!(!agrees::<3>((3, 5), (4, 7)), "the control");
    }
}

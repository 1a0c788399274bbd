//! From `f64` parameters to the rationals of the samplers, always towards more noise.

use dp_accounting::Mu;
use dp_noise::Ratio;

/// Rounded ratios keep this many bits, so rounding costs at most one part in `2^31`.
const BITS: i32 = 32;

/// The largest ratio of at most [`BITS`] significant bits that is not above `x`.
///
/// `None` unless `2^-60 <= x < 2^62`.
pub(crate) fn ratio_at_most(x: f64) -> Option<Ratio> {
    if !(2_f64.powi(-60)..2_f64.powi(62)).contains(&x) {
        return None;
    }
    // Scaling by a power of two is exact, so the floor is the only rounding.
    let shift = BITS - 1 - exponent(x);
    let scaled = (x * 2_f64.powi(shift)).floor();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 2^32")]
    let scaled = scaled as u128;
    let (above, below) = if shift >= 0 { (scaled, 1 << shift) } else { (scaled << -shift, 1) };
    Ratio::new(above, below).ok()
}

/// The value of a ratio made by [`ratio_at_most`]: exact, since both parts fit in 53 bits.
pub(crate) fn to_f64(ratio: Ratio) -> f64 {
    ratio.numerator() as f64 / ratio.denominator().get() as f64
}

/// A sum of numbers that are not negative, rounded up where it has to be: from the smallest on, so that many small ones are not lost beside a large one.
pub(crate) fn sum_up(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let mut parts: Vec<f64> = numbers.into_iter().collect();
    parts.sort_unstable_by(f64::total_cmp);
    parts.into_iter().fold(0.0, |sum, part| {
        let near = sum + part;
        // What an addition rounds off is itself a float.
        let kept = near - sum;
        let lost = (sum - (near - kept)) + (part - kept);
        if lost > 0.0 { near.next_up() } else { near }
    })
}

/// The loss `mu` of noise with `length^2 / variance` equal to this ratio, rounded up by at most the last digit.
pub(crate) fn mu_of_square(ratio: Ratio) -> Mu {
    let square = to_f64(ratio);
    let root = square.sqrt();
    let up = if root.mul_add(root, -square) < 0.0 { root.next_up() } else { root };
    Mu::new(up).expect("the root of a positive number below 2^62")
}

/// The largest ratio of at most [`BITS`] significant bits that is not above the square of `mu`; `None` as for [`ratio_at_most`].
pub(crate) fn square_at_most(mu: Mu) -> Option<Ratio> {
    ratio_at_most((mu.get() * mu.get()).next_down())
}

fn exponent(x: f64) -> i32 {
    let biased = (x.to_bits() >> 52) & 0x7ff;
    i32::try_from(biased).expect("eleven bits") - 1023
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_goes_down_and_costs_next_to_nothing() {
        for x in [1.0, 0.1, 1.0 / 3.0, 0.007_2, 1e-9, 123_456.789, 1e18, 2_f64.powi(-60)] {
            let rounded = to_f64(ratio_at_most(x).expect("in range"));
            assert!(rounded <= x, "{x} went up to {rounded}");
            assert!(rounded >= x * (1.0 - 2_f64.powi(-31)), "{x} fell to {rounded}");
        }
        assert_eq!(ratio_at_most(0.75), Ratio::new(3, 4).ok());
    }

    #[test]
    fn a_loss_goes_down_on_the_way_to_a_ratio_and_not_below_on_the_way_back() {
        for mu in [1.0, 0.1, 1.0 / 3.0, 0.236_7, 1e-5, 44_721.359_5, 2e9, 2_f64.powi(-29)] {
            let ratio = square_at_most(Mu::new(mu).expect("valid")).expect("in range");
            let back = mu_of_square(ratio).get();
            assert!(back <= mu && back >= mu * (1.0 - 2_f64.powi(-31)), "{mu} became {back}");
            assert!(back.mul_add(back, -to_f64(ratio)) >= 0.0, "{mu}: the noise is what it is");
        }
        assert_eq!(square_at_most(Mu::ZERO), None);
    }

    /// Against whole numbers of the smallest digit that any of them has.
    #[test]
    fn a_sum_is_never_below_the_exact_one_and_close_to_it() {
        const DIGIT: f64 = 1.0 / (1_u64 << 60) as f64;
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let exact = u128::from(state >> 11) << (state % 17);
            (exact, exact as f64 * DIGIT)
        };
        for parts in [1, 2, 3, 10, 200] {
            for _ in 0..200 {
                let (exact, parts): (Vec<u128>, Vec<f64>) = (0..parts).map(|_| next()).unzip();
                let exact: u128 = exact.into_iter().sum();
                let sum = sum_up(parts.iter().copied());
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                let above = (sum / DIGIT) as u128;
                assert!(above >= exact, "{parts:?}: {above} for {exact}");
                assert!(above - exact <= (parts.len() as u128) << 30, "{above} for {exact}");
            }
        }
    }

    #[test]
    fn out_of_range_is_none() {
        for x in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300, 2_f64.powi(62)] {
            assert_eq!(ratio_at_most(x), None, "{x}");
        }
    }

    /// In whole units of `2^-100`, of which all are made.
    #[test]
    fn sums_are_no_less_than_they_are_and_hardly_more() {
        let unit = 2_f64.powi(100);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole")]
        let exact = |x: f64| (x * unit) as u128;
        for (large, small, many) in
            [(0.9, 4e-17, 40_usize), (0.9, 6e-17, 40), (0.7, 1e-9, 300), (0.3, 0.3, 3)]
        {
            let mut ratios = vec![ratio_at_most(small).expect("in range"); many];
            ratios.insert(many / 2, ratio_at_most(large).expect("in range"));
            let truth: u128 = ratios.iter().map(|ratio| exact(to_f64(*ratio))).sum();
            let sum = sum_up(ratios.into_iter().map(to_f64));
            assert!(exact(sum) >= truth, "{large} {small}: {sum}");
            assert!(exact(sum.next_down().next_down()) < truth, "{large} {small}: {sum}");
        }
    }

    /// Also where the product of a root with itself is rounded up, to a number that needs few bits.
    #[test]
    fn a_square_is_no_more_than_that_of_its_root() {
        let mut rounded_up = 0;
        for i in 1..2_000_u32 {
            let wanted = f64::from(i) / 1_024.0;
            let root = wanted.sqrt();
            rounded_up += u32::from(root * root >= wanted && root.mul_add(root, -wanted) < 0.0);
            let square = to_f64(square_at_most(Mu::new(root).expect("valid")).expect("in range"));
            assert!(root.mul_add(root, -square) >= 0.0, "{root}: {square}");
        }
        assert!(rounded_up > 100, "{rounded_up}");
    }
}

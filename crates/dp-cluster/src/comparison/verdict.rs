//! What noisy counts of savings say. Released values only.

use super::savings::SCALES;

/// A count of so many deviations of its noise is taken as it is. What is less counts by the square of that share: most such counts are noise, but losses of some records that the
/// second set has left far away must not be taken for none. Measured.
const SURE: f64 = 3.0;

/// Losses are worth so many times as much: where both sets are about as good, the first stays. Measured.
const OF_LOSSES: f64 = 1.2;

/// Whether records gain more by the second set than they lose, as far as counts with this deviation say: above 0 if so, as a part of what one record saves at most.
pub(super) fn saved(counts: &[i64], noise: f64) -> f64 {
    let worth = |(scale, &count): (i32, &i64)| {
        // Half of the scale's end: its middle, as a ratio.
        0.5 * 0.25_f64.powi(scale) * likely(count as f64, noise)
    };
    let sum = |counts: &[i64]| (0..).zip(counts).map(worth).sum::<f64>();
    sum(&counts[..SCALES]) - OF_LOSSES * sum(&counts[SCALES..2 * SCALES])
}

/// So many records are likely to be there.
fn likely(count: f64, noise: f64) -> f64 {
    count.max(0.0) * (count / (SURE * noise)).clamp(0.0, 1.0).powi(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(of: &[(usize, i64)]) -> Vec<i64> {
        let mut counts = vec![0; 2 * SCALES + 1];
        for &(cell, count) in of {
            counts[cell] = count;
        }
        counts
    }

    #[test]
    fn many_small_gains_outweigh_few_large_losses_if_they_are_more() {
        // Of 2,000 records half a 4^-5th each, and of 80 half a 4^-3rd or a 4^-2nd.
        let gain = (5, 2_000);
        assert!(saved(&counts(&[gain, (SCALES + 3, 80)]), 10.0) > 0.0);
        assert!(saved(&counts(&[gain, (SCALES + 2, 80)]), 10.0) < 0.0);
        // As much is not enough.
        assert!(saved(&counts(&[(4, 90), (SCALES + 4, 80)]), 10.0) < 0.0);
        // What saves next to nothing has no say.
        let nothing = saved(&counts(&[(2 * SCALES, 1_000_000)]), 10.0);
        assert_eq!(nothing.to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    fn what_noise_explains_counts_for_less() {
        for (count, is) in [(-30.0, 0.0), (0.0, 0.0), (15.0, 3.75), (30.0, 30.0), (31.0, 31.0)] {
            assert!((likely(count, 10.0) - is).abs() < 1e-12, "{count}");
        }
        // A deviation of noise in the largest scale of losses is less than 200 records that gain half a 4^-3rd.
        let noise = (SCALES, 10);
        assert!(saved(&counts(&[(3, 200), noise]), 10.0) > 0.0);
    }
}

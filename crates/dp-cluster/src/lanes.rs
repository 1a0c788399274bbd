//! Sums of many terms whose additions need not wait for each other.

/// Partial sums that are independent of each other.
const LANES: usize = 8;

/// The sum over the places of lists of one length of the term that the numbers of a place give. The order is fixed.
///
/// By loops: maps over arrays are as fast when all is optimised, but claims of private k-means, which are not, took three times as long.
#[inline]
pub(crate) fn sum_of<const LISTS: usize>(
    lists: [&[f64]; LISTS],
    term: impl Fn([f64; LISTS]) -> f64,
) -> f64 {
    let parts = lists.map(<[f64]>::as_chunks::<LANES>);
    let chunks = parts.iter().map(|(chunks, _)| chunks.len()).min().unwrap_or(0);
    let (mut sums, mut numbers) = ([0.0; LANES], [0.0; LISTS]);
    let mut at = [&[0.0; LANES]; LISTS];
    for chunk in 0..chunks {
        for list in 0..LISTS {
            at[list] = &parts[list].0[chunk];
        }
        for lane in 0..LANES {
            for list in 0..LISTS {
                numbers[list] = at[list][lane];
            }
            sums[lane] += term(numbers);
        }
    }
    let left = parts.iter().map(|(_, rest)| rest.len()).min().unwrap_or(0);
    let rest: f64 = (0..left).map(|i| term(parts.map(|(_, rest)| rest[i]))).sum();
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;

    use super::*;

    #[test]
    fn every_place_counts_once() {
        for length in 0..40 {
            let x: Vec<f64> = (1..=length).map(|i| f64::from(i * i)).collect();
            let y: Vec<f64> = (1..=length).map(|i| f64::from(i % 3)).collect();
            let plain: f64 = x.iter().zip(&y).map(|(x, y)| x * y + y).sum();
            assert_abs_diff_eq!(sum_of([&x, &y], |[x, y]| x * y + y), plain);
        }
    }
}

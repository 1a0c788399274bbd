/// One constant piece of a nondecreasing fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Piece {
    pub(super) sum: f64,
    pub(super) start: u32,
    pub(super) len: u32,
}

impl Piece {
    pub(super) fn end(&self) -> u32 {
        self.start + self.len
    }

    /// Zero if the mean is negative.
    pub(super) fn value(&self) -> f64 {
        if self.sum > 0.0 { self.sum / f64::from(self.len) } else { 0.0 }
    }
}

/// A piece while pooling goes on.
#[derive(Debug, Clone, Copy)]
struct Block {
    sum: f64,
    len: f64,
    start: u32,
    /// Of its values less their mean, the smallest sum of a beginning: negative if it is not known.
    least: f64,
}

/// Up to which length a guess is not cut.
const SHORT: usize = 8;
/// How often a guess is cut before its values are pooled one by one.
const MAX_CUTS: usize = 16;

/// Pool adjacent violators in real numbers for one row at a time.
#[derive(Debug, Default)]
pub(super) struct Pool {
    blocks: Vec<Block>,
}

impl Pool {
    /// Fits nondecreasing values to `row`.
    ///
    /// A guess at its pieces makes it faster. Pooling may go on in any order, so values that are one piece by themselves are pooled
    /// as a whole. Looking whether they are one, and where they fall apart if not, takes no unforeseeable branch, which pooling
    /// values one by one does.
    pub(super) fn fit(&mut self, row: &[f64], guess: &[Piece]) {
        self.blocks.clear();
        if guess.is_empty() {
            self.push_pieces(row, 0, MAX_CUTS);
        }
        for piece in guess {
            self.push_pieces(
                &row[piece.start as usize..piece.end() as usize],
                piece.start,
                MAX_CUTS,
            );
        }
    }

    /// Pushes the pieces of these values, which start at a bin.
    fn push_pieces(&mut self, mut values: &[f64], mut start: u32, cuts: usize) {
        for _ in 0..cuts {
            // One block, if no beginning of it has a mean below that of the whole: then pooling would join it whatever the order.
            let Ok(bins @ 2..) = u32::try_from(values.len()) else { break };
            let (sum, len) = (total(values), f64::from(bins));
            let (least, cut) = least_beginning(values, sum / len);
            if least >= 0.0 {
                self.push(Block { sum, len, start, least });
                return;
            }
            if values.len() <= SHORT {
                break;
            }
            // The beginning with the least sum beside the mean ends where a piece ends.
            self.push_pieces(&values[..cut], start, cuts / 2);
            values = &values[cut..];
            start += u32::try_from(cut).expect("the number of bins fits");
        }
        for (&value, start) in values.iter().zip(start..) {
            self.push(Block { sum: value, len: 1.0, start, least: f64::INFINITY });
        }
    }

    fn push(&mut self, mut last: Block) {
        while let Some(before) =
            self.blocks.last().filter(|before| before.sum * last.len >= last.sum * before.len)
        {
            let (sum, len) = (before.sum + last.sum, before.len + last.len);
            last = Block { sum, len, start: before.start, least: -1.0 };
            self.blocks.pop();
        }
        self.blocks.push(last);
    }

    /// The pieces of the last fit to a row of this many bins, ascending.
    pub(super) fn pieces(&self, bins: usize) -> impl Iterator<Item = Piece> + '_ {
        let bins = u32::try_from(bins).expect("the number of bins fits");
        self.blocks.iter().enumerate().map(move |(i, &Block { sum, start, .. })| {
            let end = self.blocks.get(i + 1).map_or(bins, |next| next.start);
            Piece { sum, start, len: end - start }
        })
    }

    /// How much each value of the `row` that was fitted may change, and the pieces stay where they are and on the same side of zero.
    /// May be 0 in place of what is less than `useful`.
    pub(super) fn slack(&self, row: &[f64], useful: f64) -> f64 {
        let (mut slack, mut before) = (f64::INFINITY, f64::NEG_INFINITY);
        for block in &self.blocks {
            let mean = block.sum / block.len;
            // Both means may move towards each other, or one past zero.
            slack = slack.min((mean - before) / 2.0).min(mean.abs());
            if slack < useful {
                return 0.0;
            }
            before = mean;
        }
        let bins = u32::try_from(row.len()).expect("the number of bins fits");
        let mut ends = self.blocks.iter().skip(1).map(|block| block.start);
        for block in &self.blocks {
            let end = ends.next().unwrap_or(bins);
            if slack < useful {
                return 0.0;
            }
            let least = if block.least < 0.0 {
                least_beginning(&row[block.start as usize..end as usize], block.sum / block.len).0
            } else {
                block.least
            };
            // The sum of `k` of `n` values less their mean moves by `2 k (n - k) / n` at most.
            slack = slack.min(2.0 * least / block.len);
        }
        slack
    }
}

/// Of the values less their mean, the smallest sum of a beginning other than all, and where that ends: the sum is not negative if
/// they are one piece.
fn least_beginning(values: &[f64], mean: f64) -> (f64, usize) {
    let (mut sum, mut least, mut end) = (0.0, f64::INFINITY, 0);
    for (i, value) in values[..values.len() - 1].iter().enumerate() {
        sum += value - mean;
        (least, end) = if sum < least { (sum, i + 1) } else { (least, end) };
    }
    (least, end)
}

fn total(values: &[f64]) -> f64 {
    if values.len() < 8 {
        return values.iter().sum();
    }
    // Independent partial sums: the order is fixed, and the additions need not wait for each other.
    let chunks = values.chunks_exact(8);
    let rest: f64 = chunks.remainder().iter().sum();
    let mut sums = [0.0; 8];
    for chunk in chunks {
        sums.iter_mut().zip(chunk).for_each(|(sum, value)| *sum += value);
    }
    sums.iter().sum::<f64>() + rest
}

/// How far `fit` is from being the closest nondecreasing nonnegative row to `row`: the largest
/// violation of the optimality conditions.
///
/// The cone is generated by the indicators of `k..`, so the fit is optimal if and only if each
/// suffix of `row - fit` sums to at most 0, and to 0 wherever the fit rises. If the last value of
/// the fit reaches `limit`, the run at the limit is held down by a multiplier, its own suffix sum.
pub(super) fn violation(row: impl DoubleEndedIterator<Item = f64>, fit: &[f64], limit: f64) -> f64 {
    let at_limit = fit.iter().rev().take_while(|&&value| value >= limit).count();
    let mut worst: f64 = 0.0;
    let (mut suffix, mut multiplier) = (0.0, 0.0);
    for ((i, &value), observed) in fit.iter().enumerate().rev().zip(row.rev()) {
        suffix += observed - value;
        let before = if i == 0 { 0.0 } else { fit[i - 1] };
        if fit.len() - i == at_limit {
            multiplier = suffix.max(0.0);
        }
        if fit.len() - i >= at_limit {
            worst = worst.max(suffix - multiplier);
            if value > before {
                worst = worst.max(multiplier - suffix);
            }
        }
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::random;
    use rand::RngExt;

    fn values(pool: &Pool, bins: usize) -> Vec<f64> {
        let pieces = pool.pieces(bins);
        pieces.flat_map(|piece| std::iter::repeat_n(piece.value(), piece.len as usize)).collect()
    }

    fn fitted(row: &[f64]) -> Vec<f64> {
        let mut pool = Pool::default();
        pool.fit(row, &[]);
        values(&pool, row.len())
    }

    #[test]
    fn pieces_are_means_and_negative_ones_are_zero() {
        assert_eq!(fitted(&[-3.0, 1.0, 4.0, 2.0, 7.0, 6.0]), [0.0, 1.0, 3.0, 3.0, 6.5, 6.5]);
        assert_eq!(fitted(&[5.0, -9.0]), [0.0, 0.0]);
        assert!(fitted(&[]).is_empty());
    }

    fn random_row(rng: &mut rand::rngs::ChaCha20Rng) -> Vec<f64> {
        let bins = rng.random_range(1..=40);
        (0..bins).map(|_| f64::from(rng.random_range(-9..=9_i32)) / 2.0).collect()
    }

    /// Good and bad guesses lead to the same fit.
    #[test]
    fn a_guess_makes_no_difference() {
        let mut rng = random::generator(39);
        let mut kept = 0;
        for _ in 0..2_000 {
            let row = random_row(&mut rng);
            let mut pool = Pool::default();
            pool.fit(&row, &[]);
            let own: Vec<Piece> = pool.pieces(row.len()).collect();
            let mut any = Vec::new();
            let (mut start, bins) = (0, u32::try_from(row.len()).expect("small"));
            while start < bins {
                let len = rng.random_range(1..=(bins - start).min(6));
                any.push(Piece { sum: 0.0, start, len });
                start += len;
            }
            let fresh = values(&pool, row.len());
            for guess in [&own, &any] {
                pool.fit(&row, guess);
                // Equal neighbours may stand as one piece or as two: compare cell by cell.
                let again = values(&pool, row.len());
                assert!(
                    fresh.iter().zip(&again).all(|(a, b)| (a - b).abs() < 1e-12),
                    "{row:?} {guess:?}"
                );
            }
            kept += usize::from(own.iter().any(|piece| piece.len > 3));
        }
        assert!(kept > 500, "{kept}");
    }

    /// Within the slack, pieces stay; beyond three times the slack, some change can move them.
    #[test]
    fn pieces_stay_within_the_slack() {
        let mut rng = random::generator(40);
        let shape = |pool: &Pool, bins| -> Vec<(u32, u32, bool)> {
            pool.pieces(bins).map(|piece| (piece.start, piece.len, piece.sum > 0.0)).collect()
        };
        let (mut stayed, mut moved) = (0, 0);
        for _ in 0..2_000 {
            let row = random_row(&mut rng)
                .into_iter()
                .map(|x| x + rng.random_range(-0.3..0.3))
                .collect::<Vec<f64>>();
            let mut pool = Pool::default();
            pool.fit(&row, &[]);
            let (slack, before) = (pool.slack(&row, 0.0), shape(&pool, row.len()));
            assert!(slack >= 0.0);
            for factor in [0.999, 30.0] {
                let size = factor * slack;
                let other: Vec<f64> = row
                    .iter()
                    .map(|x| x + if rng.random_bool(0.5) { size } else { -size })
                    .collect();
                pool.fit(&other, &[]);
                let same = shape(&pool, row.len()) == before;
                if factor < 1.0 {
                    assert!(same, "{row:?} {slack}");
                    stayed += 1;
                } else {
                    moved += usize::from(!same);
                }
            }
        }
        assert!(stayed == 2_000 && moved > 1_000, "{stayed} {moved}");
    }

    #[test]
    fn the_optimality_conditions_tell_right_from_wrong() {
        let row = [-3.0, 1.0, 4.0, 2.0, 7.0, 6.0];
        let check = |fit: &[f64], limit| violation(row.into_iter(), fit, limit);
        assert!(check(&fitted(&row), f64::INFINITY) < 1e-12);
        assert!(check(&[0.0, 1.0, 3.0, 3.0, 5.0, 5.0], 5.0) < 1e-12);
        assert!(check(&[0.0, 1.0, 3.0, 3.0, 5.0, 5.0], f64::INFINITY) > 0.5);
        assert!(check(&[0.0, 1.0, 2.0, 3.0, 6.5, 6.5], f64::INFINITY) > 0.5);
        assert!(check(&[0.5, 1.0, 3.0, 3.0, 6.5, 6.5], f64::INFINITY) > 0.4);
    }
}

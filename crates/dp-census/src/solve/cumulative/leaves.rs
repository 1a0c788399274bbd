use super::pool::{Piece, Pool};
use super::reaction::Reaction;

/// The fits of the leaves below one node at some multipliers.
#[derive(Debug, Default)]
pub(super) struct Leaves {
    /// How all of them together react.
    pub(super) reaction: Reaction,
    /// Those of the first leaf, then those of the next.
    pieces: Vec<Piece>,
    each: Vec<Leaf>,
}

#[derive(Debug, Clone, Copy)]
struct Leaf {
    /// One past its last piece.
    end: usize,
    /// How far each multiplier may move, and the pieces stay the same.
    slack: f64,
}

/// Multipliers of a node that have moved from where its leaves were fitted.
struct Move<'a> {
    from: &'a Leaves,
    largest: f64,
    /// Sums of the first 0, 1, ... moves.
    sums: &'a [f64],
}

/// Working memory of [`Leaves::fit`].
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pool: Pool,
    target: Vec<f64>,
    steps: Vec<f64>,
    sums: Vec<f64>,
    counts: Vec<u32>,
}

/// Numbers of bins up to which pieces with the same bins are counted and not listed: below, there are more leaves than such pieces.
const FEW_BINS: usize = 24;

impl Leaves {
    /// Fits leaves to their `noisy` rows plus the multipliers, and subtracts the fits from `gradient`.
    ///
    /// Leaves `from` elsewhere, with the multipliers there, make it faster: where a leaf has room for the move, only the means of
    /// its pieces change, and elsewhere its pieces are a guess.
    pub(super) fn fit(
        &mut self,
        noisy: &[i64],
        multipliers: &[f64],
        from: Option<(&Self, &[f64])>,
        scratch: &mut Scratch,
        gradient: &mut [f64],
    ) {
        let bins = multipliers.len();
        self.pieces.clear();
        self.each.clear();
        self.reaction.clear(bins);
        let Scratch { pool, target, steps, sums, counts } = scratch;
        target.resize(bins, 0.0);
        steps.clear();
        steps.resize(bins + 1, 0.0);
        // How far the multipliers moved, as prefix sums: the sum of a block then follows from two of them.
        let step = from.map(|(from, before)| {
            sums.clear();
            sums.push(0.0);
            let (mut sum, mut largest): (f64, f64) = (0.0, 0.0);
            for (after, before) in multipliers.iter().zip(before) {
                sum += after - before;
                largest = largest.max((after - before).abs());
                sums.push(sum);
            }
            Move { from, largest, sums }
        });
        let leaves = noisy.len() / bins;
        self.each.reserve(leaves);
        self.pieces.reserve(leaves * bins.min(8));
        // The generalised Hessian of the leaves is a sum over blocks; blocks with the same bins are one term.
        let few = bins <= FEW_BINS;
        counts.resize(if few { bins * bins } else { 0 }, 0);
        for (i, noisy) in noisy.chunks_exact(bins).enumerate() {
            let mut below = 0.0;
            let mut take = |piece: Piece| {
                let (value, end) = (piece.value(), piece.end());
                // The fits of all leaves are added as jumps, one per block instead of one per bin.
                steps[piece.start as usize] += value - below;
                below = value;
                if value > 0.0 {
                    if few {
                        counts[piece.start as usize * bins + end as usize - 1] += 1;
                    } else {
                        self.reaction.push(piece.start, end, 1.0);
                    }
                }
                self.pieces.push(piece);
            };
            let before = step.as_ref().map(|step| (step, step.from.leaf(i)));
            let slack = match before {
                // No block can have merged, split or crossed zero: the active set is the same, and the fit is linear in the move.
                Some((step, (pieces, slack))) if step.largest < slack => {
                    for &piece in pieces {
                        take(step.moved(piece));
                    }
                    slack - step.largest
                }
                _ => {
                    let cells = target.iter_mut().zip(noisy).zip(multipliers);
                    cells.for_each(|((target, &noisy), u)| *target = noisy as f64 + u);
                    // Pool adjacent violators, with the blocks of the other point as a guess at these.
                    pool.fit(target, before.map_or(&[], |(_, (guess, _))| guess));
                    pool.pieces(bins).for_each(take);
                    // The next move is hardly ever less than a tenth of this one, and the first is a large one.
                    pool.slack(
                        target,
                        before.map_or(f64::INFINITY, |(step, _)| step.largest / 10.0),
                    )
                }
            };
            self.each.push(Leaf { end: self.pieces.len(), slack });
        }
        for (start, counts) in (0..).zip(counts.chunks_exact_mut(bins)) {
            for (end, count) in (1..).zip(counts).filter(|(_, count)| **count > 0) {
                self.reaction.push(start, end, f64::from(*count));
                *count = 0;
            }
        }
        // From jumps to values: the sum of the leaves, which is what the parent is compared with.
        let mut sum = 0.0;
        for (missing, step) in gradient.iter_mut().zip(steps) {
            sum += *step;
            *missing -= sum;
        }
    }

    /// Pieces and slack of a leaf.
    fn leaf(&self, i: usize) -> (&[Piece], f64) {
        let start = i.checked_sub(1).map_or(0, |before| self.each[before].end);
        (&self.pieces[start..self.each[i].end], self.each[i].slack)
    }

    pub(super) fn pieces(&self, i: usize) -> &[Piece] {
        self.leaf(i).0
    }
}

impl Move<'_> {
    fn moved(&self, piece: Piece) -> Piece {
        let change = self.sums[piece.end() as usize] - self.sums[piece.start as usize];
        Piece { sum: piece.sum + change, ..piece }
    }
}

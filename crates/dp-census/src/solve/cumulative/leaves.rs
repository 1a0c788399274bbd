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
}

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
        let Scratch { pool, target, steps, sums } = scratch;
        target.resize(bins, 0.0);
        steps.clear();
        steps.resize(bins + 1, 0.0);
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
        for (i, noisy) in noisy.chunks_exact(bins).enumerate() {
            let before = step.as_ref().map(|step| (step, step.from.leaf(i)));
            let slack = match before {
                Some((step, (pieces, slack))) if step.largest < slack => {
                    self.pieces.extend(pieces.iter().map(|&piece| step.moved(piece)));
                    slack - step.largest
                }
                _ => {
                    let cells = target.iter_mut().zip(noisy).zip(multipliers);
                    cells.for_each(|((target, &noisy), u)| *target = noisy as f64 + u);
                    pool.fit(target, before.map_or(&[], |(_, (guess, _))| guess));
                    self.pieces.extend(pool.pieces(bins));
                    pool.slack(target)
                }
            };
            let start = self.each.last().map_or(0, |leaf| leaf.end);
            self.each.push(Leaf { end: self.pieces.len(), slack });
            let mut below = 0.0;
            for piece in &self.pieces[start..] {
                let value = piece.value();
                steps[piece.start as usize] += value - below;
                below = value;
                if value > 0.0 {
                    self.reaction.push(piece);
                }
            }
        }
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

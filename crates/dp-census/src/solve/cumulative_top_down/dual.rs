use super::split::Split;
use crate::solve::newton::{self, Dual};

/// Steps over which a child's fit is constant. One that cannot move has infinite weight.
#[derive(Debug, Clone, Copy)]
pub(in crate::solve) struct Piece {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) value: f64,
    weight: f64,
}

impl Split {
    /// The row that the multipliers ask of a child, by pooling adjacent violators: its positive pieces, the last first.
    pub(super) fn fit(
        &self,
        child: usize,
        multipliers: &[f64],
        pool: &mut Vec<(f64, f64, usize)>,
        mut piece: impl FnMut(Piece),
    ) {
        pool.clear();
        let (mut end, mut limit) = (self.steps(), f64::INFINITY);
        if let Some(ends) = &self.ends {
            end -= 1;
            limit = ends[child] as f64;
            piece(Piece { start: end, end: end + 1, value: limit, weight: f64::INFINITY });
        }
        // Pool adjacent violators on weighted means (Ayer, Brunk, Ewing, Reid, Silverman, 1955): a step joins the block before it as long as
        // that has the larger mean. The pool holds sum, weight and first step of each block.
        let weights = &self.weights[child * self.steps()..][..end];
        let cells = self.targets_of(child)[..end].iter().zip(multipliers).zip(&self.lengths);
        for (step, (((target, multiplier), &length), &weight)) in cells.zip(weights).enumerate() {
            let mut last = (target * weight + multiplier * length, weight, step);
            while let Some(&before) = pool.last().filter(|b| b.0 * last.1 >= last.0 * b.1) {
                last = (last.0 + before.0, last.1 + before.1, before.2);
                pool.pop();
            }
            pool.push(last);
        }
        // Blocks below zero are cut off there, and those above the limit at it; both keep their place when a multiplier moves a little, so
        // that they do not react. A block of infinite weight is one that is held.
        for &(sum, weight, start) in pool.iter().rev().take_while(|(sum, ..)| *sum > 0.0) {
            let free = sum / weight;
            let (value, weight) =
                if free < limit { (free, weight) } else { (limit, f64::INFINITY) };
            piece(Piece { start, end, value, weight });
            end = start;
        }
    }

    /// For each step the sum over the pieces that it lies in.
    fn constant_on(&self, pieces: &[Piece], value: impl Fn(&Piece) -> f64) -> Vec<f64> {
        let mut jumps = vec![0.0; self.steps() + 1];
        for piece in pieces {
            let value = value(piece);
            jumps[piece.start] += value;
            jumps[piece.end] -= value;
        }
        for step in 1..self.steps() {
            jumps[step] += jumps[step - 1];
        }
        jumps.pop();
        jumps
    }
}

/// The pieces of all fits.
type Pieces = Vec<Piece>;
type Point = newton::Point<Pieces>;

impl Dual for Split {
    // A step costs little here, and where noise outweighs what there is, most fits are at zero or at their end for long.
    const MAX_STEPS: usize = 3_000;
    const MAX_STALLED: usize = 600;
    const LEAST_DAMPING: f64 = 1e-2;

    type Reaction = Pieces;
    /// Its diagonal.
    type Factors = Vec<f64>;

    /// Optimal if no row is held up by its neighbours or by zero.
    fn start(&self) -> Vec<f64> {
        let missing = |(step, &total): (usize, &i64)| {
            let rows = self.targets.chunks_exact(self.steps());
            (total as f64 - rows.map(|row| row[step]).sum::<f64>()) / self.freedom[step]
        };
        self.totals.iter().enumerate().map(missing).collect()
    }

    fn evaluate(&self, point: &mut Point, _: Option<&Point>) {
        let Point { multipliers, gradient, reaction: pieces } = point;
        let mut pool = Vec::new();
        pieces.clear();
        for child in 0..self.children() {
            self.fit(child, multipliers, &mut pool, |piece| pieces.push(piece));
        }
        let sums = self.constant_on(pieces, |piece| piece.value);
        let cells = self.lengths.iter().zip(&self.totals).zip(sums);
        gradient.clear();
        gradient.extend(cells.map(|((length, &total), sum)| length * (total as f64 - sum)));
    }

    fn react(
        &self,
        point: &Point,
        damping: f64,
        direction: &[f64],
        out: &mut [f64],
        _: &mut [f64],
    ) {
        // The generalised Hessian: each free block moves by the sum of the direction over it, over its weight.
        let mut up_to = vec![0.0; self.steps() + 1];
        for (step, (value, length)) in direction.iter().zip(&self.lengths).enumerate() {
            up_to[step + 1] = up_to[step] + value * length;
        }
        let moved = self.constant_on(&point.reaction, |piece| {
            (up_to[piece.end] - up_to[piece.start]) / piece.weight
        });
        let damping = damping * self.mean_freedom;
        let cells = out.iter_mut().zip(direction).zip(&self.lengths).zip(moved);
        cells.for_each(|(((out, value), length), moved)| *out = length * (damping * value + moved));
    }

    fn precondition(&self, point: &Point, damping: f64) -> Vec<f64> {
        let moved = self.constant_on(&point.reaction, |piece| 1.0 / piece.weight);
        let damping = damping * self.mean_freedom;
        let cells = self.lengths.iter().zip(moved);
        // Any positive number keeps it correct where no fit can move.
        cells.map(|(length, moved)| (length * (damping + length * moved)).max(1e-12)).collect()
    }

    fn solve_approximately(&self, diagonal: &Vec<f64>, rhs: &mut [f64], _: &mut [f64]) {
        rhs.iter_mut().zip(diagonal).for_each(|(cell, pivot)| *cell /= pivot);
    }
}

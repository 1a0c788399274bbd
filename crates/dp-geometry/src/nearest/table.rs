//! All centres, eight at a time.

use super::{NearestCentre, TwoNearest};
use crate::points::PointsView;

/// Centres per block. Eight sums of squares are four registers of the oldest 64-bit machines, which
/// is what a portable build may use; the compiler turns the inner loop into such code by itself.
const LANES: usize = 8;

/// Centres in blocks of so many as are searched at once, coordinate by coordinate inside of a block.
///
/// One coordinate of a point is then compared with the same coordinate of eight centres at once.
/// Direct differences, not `|x|^2 - 2 x c + |c|^2`: the latter loses all digits of a small
/// distance between points that are far from the origin.
///
/// What is left over is a narrower block: the few candidates of a seeding should not pay for eight.
#[derive(Clone, Debug)]
pub struct CentreTable {
    /// `(blocks, dim)` groups of [`LANES`].
    full: Vec<[f64; LANES]>,
    /// `dim` groups of [`rest_width`](Self::rest_width); an unused lane is infinite.
    rest: Vec<f64>,
    dim: usize,
    len: usize,
}

impl CentreTable {
    /// A table of these centres.
    pub fn new(centres: PointsView<'_>) -> Self {
        let (dim, len) = (centres.dim(), centres.len());
        let mut table =
            Self { full: vec![[0.0; LANES]; len / LANES * dim], rest: vec![], dim, len };
        let width = table.rest_width();
        table.rest = vec![f64::INFINITY; width * dim];
        for (i, row) in centres.rows().enumerate() {
            let (block, lane) = (i / LANES, i % LANES);
            if block < len / LANES {
                let block = &mut table.full[block * dim..][..dim];
                block.iter_mut().zip(row).for_each(|(group, &x)| group[lane] = x);
            } else {
                let groups = table.rest.chunks_exact_mut(width);
                groups.zip(row).for_each(|(group, &x)| group[lane] = x);
            }
        }
        table
    }

    /// Lanes of the last block: two make a register.
    fn rest_width(&self) -> usize {
        (self.len % LANES).next_multiple_of(2)
    }

    /// Number of entries that [`distances`](Self::distances) writes.
    pub fn padded_len(&self) -> usize {
        self.len.next_multiple_of(2)
    }

    /// Squared distances of each row to all centres, row after row; the padding is infinite.
    ///
    /// Several rows at once have the processor wait for one while it works on another.
    pub fn distances<const ROWS: usize>(&self, rows: [&[f64]; ROWS], out: &mut [f64]) {
        for (number, block) in self.full.chunks_exact(self.dim).enumerate() {
            self.write(number * LANES, &block_distances(rows, block), out);
        }
        match self.rest_width() {
            0 => {}
            2 => self.write_rest::<ROWS, 2>(rows, out),
            4 => self.write_rest::<ROWS, 4>(rows, out),
            6 => self.write_rest::<ROWS, 6>(rows, out),
            _ => self.write_rest::<ROWS, LANES>(rows, out),
        }
    }

    #[inline]
    fn write_rest<const ROWS: usize, const WIDTH: usize>(
        &self,
        rows: [&[f64]; ROWS],
        out: &mut [f64],
    ) {
        let distances = block_distances(rows, self.rest.as_chunks::<WIDTH>().0);
        self.write(self.len / LANES * LANES, &distances, out);
    }

    /// Writes the distances of each row to the centres from `start` on.
    #[inline]
    fn write<const ROWS: usize, const WIDTH: usize>(
        &self,
        start: usize,
        distances: &[[f64; WIDTH]; ROWS],
        out: &mut [f64],
    ) {
        for (out, distances) in out.chunks_exact_mut(self.padded_len()).zip(distances) {
            out[start..][..WIDTH].copy_from_slice(distances);
        }
    }

    /// The nearest centre and its squared distance, where `best` is one of them, or the first at infinity.
    pub(super) fn nearest_below(&self, point: &[f64], mut best: (u32, f64)) -> (u32, f64) {
        for (first, block) in (0..).step_by(LANES).zip(self.full.chunks_exact(self.dim)) {
            see_below(point, block, first, &mut best);
        }
        let rest = u32::try_from(self.len / LANES * LANES).expect("labels fit");
        match self.rest_width() {
            0 => {}
            2 => see_below(point, self.rest.as_chunks::<2>().0, rest, &mut best),
            4 => see_below(point, self.rest.as_chunks::<4>().0, rest, &mut best),
            6 => see_below(point, self.rest.as_chunks::<6>().0, rest, &mut best),
            _ => see_below(point, self.rest.as_chunks::<LANES>().0, rest, &mut best),
        }
        best
    }
}

impl NearestCentre for CentreTable {
    fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn two_nearest(&self, point: &[f64]) -> TwoNearest {
        let mut best = TwoNearest::NONE;
        for (first, block) in (0..).step_by(LANES).zip(self.full.chunks_exact(self.dim)) {
            best.see(point, block, first);
        }
        let rest = u32::try_from(self.len / LANES * LANES).expect("labels fit");
        match self.rest_width() {
            0 => {}
            2 => best.see(point, self.rest.as_chunks::<2>().0, rest),
            4 => best.see(point, self.rest.as_chunks::<4>().0, rest),
            6 => best.see(point, self.rest.as_chunks::<6>().0, rest),
            _ => best.see(point, self.rest.as_chunks::<LANES>().0, rest),
        }
        best
    }
}

impl TwoNearest {
    /// Takes note of the centres of a block, of which the first is number `label`.
    #[inline]
    fn see<const WIDTH: usize>(&mut self, point: &[f64], block: &[[f64; WIDTH]], label: u32) {
        let [distances] = block_distances([point], block);
        // All of them, so that they are compared at once.
        let nearer = distances.iter().filter(|squared| **squared < self.second_squared).count();
        if nearer == 0 {
            return;
        }
        for (label, &squared) in (label..).zip(&distances) {
            if squared < self.second_squared {
                if squared < self.squared {
                    *self = Self { label, squared, second_squared: self.squared };
                } else {
                    self.second_squared = squared;
                }
            }
        }
    }
}

#[inline]
fn block_distances<const ROWS: usize, const WIDTH: usize>(
    rows: [&[f64]; ROWS],
    block: &[[f64; WIDTH]],
) -> [[f64; WIDTH]; ROWS] {
    let mut sums = [[0.0; WIDTH]; ROWS];
    let rows = rows.map(|row| &row[..block.len()]);
    for (at, centres) in block.iter().enumerate() {
        for (sums, row) in sums.iter_mut().zip(&rows) {
            for (sum, c) in sums.iter_mut().zip(centres) {
                let difference = row[at] - c;
                *sum += difference * difference;
            }
        }
    }
    sums
}

/// Coordinates between two looks at whether a block can still win.
const LOOK: usize = 8;

/// Takes note of a centre of this block, of which the first is number `label`, if it is nearer, or as near and before.
///
/// Sums of squares only grow, so a block all of whose sums are above the best, or no numbers, is left before its last coordinate.
#[inline]
fn see_below<const WIDTH: usize>(
    point: &[f64],
    block: &[[f64; WIDTH]],
    label: u32,
    best: &mut (u32, f64),
) {
    let mut sums = [0.0; WIDTH];
    for (block, point) in block.chunks(LOOK).zip(point.chunks(LOOK)) {
        for (centres, x) in block.iter().zip(point) {
            for (sum, c) in sums.iter_mut().zip(centres) {
                let difference = x - c;
                *sum += difference * difference;
            }
        }
        // All of them, so that they are compared at once.
        let may_win = sums.iter().filter(|sum| **sum <= best.1).count();
        if may_win == 0 {
            return;
        }
    }
    for (label, &squared) in (label..).zip(&sums) {
        if squared < best.1 || (squared <= best.1 && label < best.0) {
            *best = (label, squared);
        }
    }
}

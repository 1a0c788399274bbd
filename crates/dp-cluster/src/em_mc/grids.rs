//! Randomly shifted grids, and the numbers of their cells.

use dp_mechanism::SparseScores;
use rand::RngExt;

use crate::public_directions::{Purpose, public_generator};

/// Grids of one scale after the other, fine to coarse.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Grids {
    half_widths: Vec<f64>,
    shifts: usize,
    pub(super) scales: Vec<Scale>,
}

/// Some grids with cells of the same size; their cells are numbered together.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scale {
    /// Cells per dimension that meet the domain, in every grid.
    cells: u64,
    /// Cells of one grid.
    cells_per_grid: u64,
    /// How far the first cell begins before the domain, in cells: one number in `[0, 1)` per grid and
    /// dimension.
    offsets: Vec<f64>,
    /// Cells per full width of the domain.
    divisions: f64,
}

impl Grids {
    /// The domain is `[-h, h]` in each dimension.
    pub(super) fn new(
        half_widths: Vec<f64>,
        shifts: usize,
        finest_halvings: u32,
        public_seed: u64,
    ) -> Self {
        let mut rng = public_generator(public_seed, Purpose::Grids);
        let dim = half_widths.len();
        let mut scales = Vec::new();
        for halvings in (1..=finest_halvings).rev() {
            // A shifted grid of w cells meets the domain in w + 1 of them.
            let cells = (1_u64 << halvings) + 1;
            let of_grid = u32::try_from(dim).ok().and_then(|dim| cells.checked_pow(dim));
            let all = of_grid.and_then(|cells| cells.checked_mul(shifts as u64));
            if let (Some(cells_per_grid), Some(all)) = (of_grid, all)
                && all < SparseScores::MAX_CANDIDATES
            {
                let offsets = (0..shifts * dim).map(|_| rng.random::<f64>()).collect();
                let divisions = (cells - 1) as f64;
                scales.push(Scale { cells, cells_per_grid, offsets, divisions });
            }
        }
        Self { half_widths, shifts, scales }
    }

    /// How many grids a scale has.
    pub(super) fn shifts(&self) -> usize {
        self.shifts
    }

    /// The number of all cells of a scale: public.
    pub(super) fn candidates(&self, scale: &Scale) -> u64 {
        scale.cells_per_grid * self.shifts as u64
    }

    /// The cells that hold a projected record: one per grid.
    pub(super) fn cells(&self, scale: &Scale, projected: &[f64], out: &mut [u64]) {
        let dim = projected.len();
        for (grid, (cell, offsets)) in
            (0..).zip(out.iter_mut().zip(scale.offsets.chunks_exact(dim)))
        {
            let mut number = 0;
            for ((x, half), offset) in projected.iter().zip(&self.half_widths).zip(offsets) {
                let position = f64::midpoint(x / half, 1.0) * scale.divisions + offset;
                #[allow(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "the saturating cast is the clamp"
                )]
                let along = (position as u64).min(scale.cells - 1);
                number = number * scale.cells + along;
            }
            *cell = grid * scale.cells_per_grid + number;
        }
    }

    /// The middle of a cell, moved into the domain.
    pub(super) fn middle(&self, scale: &Scale, cell: u64) -> Vec<f64> {
        let dim = self.half_widths.len();
        let grid = usize::try_from(cell / scale.cells_per_grid).expect("one of at most 64");
        let mut number = cell % scale.cells_per_grid;
        let mut middle = vec![0.0; dim];
        for i in (0..dim).rev() {
            let (along, half) = ((number % scale.cells) as f64, self.half_widths[i]);
            number /= scale.cells;
            let position = (along + 0.5 - scale.offsets[grid * dim + i]) / scale.divisions;
            middle[i] = ((2.0 * position - 1.0) * half).clamp(-half, half);
        }
        middle
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::rng;

    /// A record's cell is the one around it, in every grid, and numbers are in range.
    #[test]
    fn cells_hold_their_records() {
        let grids = Grids::new(vec![3.0, 0.5, 100.0], 5, 6, 9);
        assert_eq!(grids.scales.len(), 6);
        let mut rng = rng(3);
        for scale in &grids.scales {
            for case in 0..300 {
                let point: Vec<f64> = match case {
                    0 => vec![-3.0, -0.5, -100.0],
                    1 => vec![3.0, 0.5, 100.0],
                    _ => grids.half_widths.iter().map(|h| rng.random_range(-h..=*h)).collect(),
                };
                let mut cells = [0; 5];
                grids.cells(scale, &point, &mut cells);
                for (grid, &cell) in cells.iter().enumerate() {
                    assert!(cell < grids.candidates(scale));
                    assert_eq!(usize::try_from(cell / scale.cells_per_grid).unwrap(), grid);
                    let middle = grids.middle(scale, cell);
                    for ((x, m), h) in point.iter().zip(&middle).zip(&grids.half_widths) {
                        // Half a cell, and what moving the middle into the domain may add.
                        assert!((x - m).abs() <= 2.0 * h / scale.divisions * 1.000_001);
                    }
                }
            }
        }
    }

    #[test]
    fn scales_that_cannot_be_numbered_are_left_out() {
        assert_eq!(Grids::new(vec![1.0; 10], 4, 30, 0).scales.len(), 5);
        // The most that settings allow still has its coarsest scale.
        assert_eq!(Grids::new(vec![1.0; 32], 64, 30, 0).scales.len(), 1);
    }
}

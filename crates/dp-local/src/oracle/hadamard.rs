//! Hadamard response: one bit of a row of a Hadamard matrix.

use dp_accounting::Epsilon;
use dp_mechanism::SubsetResponse;

use super::{FrequencyOracle, check_cells};
use crate::{LocalError, SymbolCounts};

/// A client of class `j` sends the sign of entry `j` in the row of its cell, flipped with probability `1 / (1 + e^epsilon)`.
///
/// # Guarantee
/// `epsilon`-DP under [`ReplaceOne`](dp_accounting::ReplaceOne): two symbols, of weights `e^epsilon` and 1.
///
/// # Utility
/// The estimate is unbiased over the classes of clients, which must be drawn without regard to cells; its variance is
/// [`variance`](FrequencyOracle::variance): by client `c^2 - share`, with `c = (e^epsilon + 1) / (e^epsilon - 1)`; 4.68, 1.72 and 1.08 at
/// epsilon 1, 2 and 4. Rows are orthogonal, so nothing collides.
///
/// # Complexity
/// A client: one parity. Decoding: `O(K log K)` with `K` the power of two above the number of cells.
///
/// # Source
/// Acharya, Sun, Zhang (2019), in the form with one bit.
#[derive(Clone, Debug, PartialEq)]
pub struct HadamardResponse {
    cells: u32,
    /// The size of the matrix, a power of two above the number of cells: row 0 is constant and nobody's.
    size: u32,
    response: SubsetResponse,
}

impl HadamardResponse {
    /// The most cells.
    pub const MAX_CELLS: u32 = (1 << 22) - 1;

    /// The question for so many cells.
    ///
    /// # Errors
    /// No cells, more than [`MAX_CELLS`](Self::MAX_CELLS), an epsilon that a response cannot have.
    pub fn new(epsilon: Epsilon, cells: u32) -> Result<Self, LocalError> {
        check_cells(cells, Self::MAX_CELLS)?;
        let response = SubsetResponse::new(epsilon, 2, 1)?;
        Ok(Self { cells, size: (cells + 1).next_power_of_two(), response })
    }

    /// One over the expectation of a sign that is true.
    fn scale(&self) -> f64 {
        1.0 / (2.0 * self.response.favours() - 1.0)
    }
}

impl FrequencyOracle for HadamardResponse {
    fn cells(&self) -> u32 {
        self.cells
    }

    fn classes(&self) -> u32 {
        self.size
    }

    fn response(&self) -> &SubsetResponse {
        &self.response
    }

    fn symbol(&self, class: u32, cell: u32) -> u32 {
        (class & (cell.min(self.cells - 1) + 1)).count_ones() & 1
    }

    fn estimate(&self, counts: &SymbolCounts) -> Result<Vec<f64>, LocalError> {
        counts.expect(self.size, 2)?;
        let mut signs: Vec<i64> =
            counts.rows().map(|row| i64::from(row[0]) - i64::from(row[1])).collect();
        transform(&mut signs);
        let cells = self.cells as usize;
        Ok(signs[1..=cells].iter().map(|&sum| sum as f64 * self.scale()).collect())
    }

    fn variance(&self, share: f64, _: f64) -> f64 {
        self.scale() * self.scale() - share
    }
}

/// The Walsh-Hadamard transform, in place.
fn transform(values: &mut [i64]) {
    let mut half = 1;
    while half < values.len() {
        for block in values.chunks_exact_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            for (a, b) in low.iter_mut().zip(high) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::transform;

    #[test]
    fn the_fast_transform_is_the_sum_over_all_signs() {
        let values: Vec<i64> = (0..64).map(|i| (i * i * 7 + 3 * i) % 101 - 50).collect();
        let mut fast = values.clone();
        transform(&mut fast);
        for (row, sum) in (0_u32..).zip(fast) {
            let sign = |j: u32| if (row & j).count_ones().is_multiple_of(2) { 1 } else { -1 };
            let plain: i64 = (0_u32..).zip(&values).map(|(j, value)| sign(j) * value).sum();
            assert_eq!(sum, plain);
        }
    }
}

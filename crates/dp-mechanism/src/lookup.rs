//! The count of a cell, for a few questions or for many.

use crate::reports::Touched;

/// Touched cells that can be asked for.
///
/// # Complexity
/// A question goes through all cells at first; later on it takes the logarithm of their number, after one
/// sort. So a step with one hit does not sort, and one with a million hits does not search a million
/// times.
pub(crate) struct Lookup<'a> {
    touched: Touched<'a>,
    /// Questions that are still answered without an order.
    scans: u32,
    /// Empty until then.
    sorted: Vec<(u64, u32)>,
}

impl<'a> Lookup<'a> {
    pub(crate) fn new(touched: Touched<'a>, scans: u32) -> Self {
        Self { touched, scans, sorted: Vec::new() }
    }

    pub(crate) fn count(&mut self, cell: u64) -> u32 {
        if let Some(left) = self.scans.checked_sub(1) {
            self.scans = left;
            return self.touched.count(cell);
        }
        if self.sorted.is_empty() {
            self.sorted = self.touched.sorted(|_| true);
        }
        let place = self.sorted.binary_search_by_key(&cell, |(here, _)| *here);
        place.map_or(0, |place| self.sorted[place].1)
    }
}

#[cfg(test)]
mod tests {
    use dp_accounting::Epsilon;
    use dp_noise::ChaCha20Rng;
    use rand::SeedableRng;

    use super::*;
    use crate::{Grid, JumpSizes, Reported, SecureSource, ThresholdReports};

    /// Cells out of order, with gaps between them.
    fn cells(number: u64) -> (Vec<u64>, Vec<u32>) {
        (0..number).map(|i| (i * 37 % 101 * 3, u32::try_from(i % 9 + 1).expect("small"))).unzip()
    }

    #[test]
    fn every_question_has_the_answer_of_going_through_the_cells() {
        for number in [0, 1, 2, 100] {
            let (cells, mut counts) = cells(number);
            if let Some(first) = counts.first_mut() {
                *first = u32::MAX;
            }
            let touched = Touched { cells: &cells, counts: &counts };
            for scans in [0, 1, 64, u32::MAX] {
                let mut lookup = Lookup::new(touched, scans);
                // Up, and down again.
                for cell in (0..310).chain((0..310).rev()) {
                    assert_eq!(lookup.count(cell), touched.count(cell), "{cell} of {number}");
                }
            }
        }
    }

    /// From one seed: whatever the way in which counts are had, so many hits that it changes on the way, reports
    /// are the same to the last.
    #[test]
    fn reports_do_not_depend_on_how_counts_are_had() {
        let (cells, counts) = cells(100);
        let touched = Touched { cells: &cells, counts: &counts };
        let each = Epsilon::new(0.2).expect("valid");
        let grid = Grid::Cells(400);
        for law in [
            ThresholdReports::one_sided(each, grid, 2).expect("in range"),
            ThresholdReports::two_sided(each, grid, 2).expect("in range"),
        ] {
            for (steps, threshold) in [(1, 2_i64), (3, 5), (1_000, 20)] {
                let reports = |scans| -> Vec<Reported> {
                    let mut rng = ChaCha20Rng::seed_from_u64(threshold.unsigned_abs());
                    let sizes = JumpSizes { scans, ..JumpSizes::default() };
                    let mut source = SecureSource::new(&mut rng);
                    law.by_jumps(touched, steps, threshold, sizes, &mut source)
                };
                let plain = reports(u32::MAX);
                assert!(plain.len() > 20, "{} reports: a test about little", plain.len());
                for scans in [0, 1, 64] {
                    assert_eq!(reports(scans), plain, "{law:?} at {threshold}");
                }
            }
        }
    }
}

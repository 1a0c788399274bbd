//! What each record saves by the second of two sets of centres: the question.

use dp_geometry::{PointsView, PublicBox};
use serde::{Deserialize, Serialize};

use crate::passes::add_up;
use crate::recentring::{Labeller, Labels};
use crate::table::sum_rows;

/// Scales of gains, and as many of losses: squared distances fall by four from one to the next.
pub(super) const SCALES: usize = 32;

/// How many records save how much: released values and public numbers only.
///
/// Entries are the scales of gains, the largest first, those of losses, and what is less than any of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Savings {
    first: Labels,
    second: Labels,
}

impl Savings {
    /// Of two sets of centres, row-major.
    pub(crate) fn new(public_box: &PublicBox, [first, second]: [Vec<f64>; 2]) -> Self {
        let nearest = |centres| Labels::nearest(public_box.clone(), centres);
        Self { first: nearest(first), second: nearest(second) }
    }

    pub(crate) fn dim(&self) -> usize {
        self.first.dim()
    }

    pub(crate) const fn entries() -> usize {
        2 * SCALES + 1
    }

    /// None if this is no question of a plan.
    pub(crate) fn counter(&self) -> Option<SavingsCounter> {
        let labellers = [self.first.labeller()?, self.second.labeller()?];
        let is_one_box = self.first.public_box == self.second.public_box;
        let largest = self.first.public_box.diagonal().powi(2);
        is_one_box.then_some(SavingsCounter { labellers, largest })
    }

    pub(crate) fn count(&self, points: PointsView<'_>) -> Vec<i64> {
        let counter = || self.counter().expect("a question of a plan");
        sum_rows(points, Self::entries(), counter, |counter, _, row, sums| counter.add(row, sums))
    }

    /// A record is in one cell.
    pub(crate) fn is_possible(rows: u64, entries: &[i64]) -> bool {
        add_up(entries) == Some(rows)
    }
}

pub(crate) struct SavingsCounter {
    labellers: [Labeller; 2],
    /// Squared diagonal of the box: no record saves more.
    largest: f64,
}

impl SavingsCounter {
    #[inline]
    pub(crate) fn add(&mut self, row: &[f64], entries: &mut [i64]) {
        let [first, second] = self.labellers.each_mut().map(|labeller| {
            let (_, distance) = labeller.locate(row);
            distance * distance
        });
        entries[cell((first - second) / self.largest)] += 1;
    }
}

/// The cell of what a record saves, as a part of the most that one can. The scale `e` ends at `4^-e`.
fn cell(saved: f64) -> usize {
    let ends = std::iter::successors(Some(0.25), |end| Some(0.25 * end));
    match ends.take(SCALES).position(|end| saved.abs() >= end) {
        None => 2 * SCALES,
        Some(scale) if saved > 0.0 => scale,
        Some(scale) => SCALES + scale,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dp_geometry::Points;

    #[test]
    fn a_record_is_in_the_cell_of_its_sign_and_scale() {
        for (saved, is_in) in [
            (1.0, 0),
            (0.25, 0),
            (0.2499, 1),
            (-0.9, SCALES),
            (-1e-3, SCALES + 4),
            (1e-3, 4),
            (0.0, 2 * SCALES),
            (1e-30, 2 * SCALES),
            (-1e-30, 2 * SCALES),
            (f64::NAN, 2 * SCALES),
        ] {
            assert_eq!(cell(saved), is_in, "{saved}");
        }
    }

    /// On a box with a squared diagonal of 400: the second set is 10 nearer to the first record, and 4 further from the last; NaN is the middle.
    #[test]
    fn records_count_by_what_they_save_wherever_they_are() {
        let public_box = PublicBox::cube(1, -10.0, 10.0).expect("valid");
        let savings = Savings::new(&public_box, [vec![-10.0, 6.0], vec![0.0, 8.0]]);
        let points = Points::new(vec![0.0, 8.0, 6.0, 1e9, f64::NAN], 1).expect("rows");
        let mut sums = vec![0; Savings::entries()];
        // 36 and 4 of 400, -4 of 400; at the end of the box 16 - 4; and 36 again.
        for saved in [36.0, 4.0, -4.0, 12.0, 36.0] {
            sums[cell(saved / 400.0)] += 1;
        }
        assert_eq!(savings.count(points.view()), sums);
        let mut counter = savings.counter().expect("of a plan");
        let mut one_by_one = vec![0; Savings::entries()];
        points.view().rows().for_each(|row| counter.add(row, &mut one_by_one));
        assert_eq!(one_by_one, sums);
        assert!(Savings::is_possible(5, &sums) && !Savings::is_possible(4, &sums));
    }
}

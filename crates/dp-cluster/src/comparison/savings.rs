//! What each record saves by the second of two sets of centres: the question.

use dp_geometry::{Cloud, NestedGrid, PointsView, PublicBox};
use serde::{Deserialize, Serialize};

use crate::passes::add_up;
use crate::recentring::{Labeller, Labels};
use crate::table::sum_rows;

/// Scales of gains, and as many of losses: squared distances fall by four from one to the next.
pub(super) const SCALES: usize = 32;

/// What a record can save is looked up at the vertices of the finest grid that has at most about so many.
const PLACES: f64 = 4096.0;
/// Less than this part of the squared diagonal is nothing.
const NEXT_TO_NOTHING: f64 = 1e-30;

/// How many records save how much: released values and public numbers only.
///
/// Entries are the scales of gains, the largest first, those of losses, and what is less than any of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Savings {
    first: Labels,
    second: Labels,
    /// What a record saves or loses at most, as far as places all over the box say, as a part of the squared diagonal.
    most: f64,
}

impl Savings {
    /// Of two sets of centres, row-major.
    pub(crate) fn new(public_box: &PublicBox, [first, second]: [Vec<f64>; 2]) -> Self {
        let nearest = |centres| Labels::nearest(public_box.clone(), centres);
        let [first, second] = [first, second].map(nearest);
        let most = most(public_box, [&first, &second]);
        Self { first, second, most }
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
        let is_part = (NEXT_TO_NOTHING..=1.0).contains(&self.most);
        let diagonal = self.first.public_box.diagonal();
        (is_one_box && is_part).then_some(SavingsCounter { labellers, diagonal, most: self.most })
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
    diagonal: f64,
    most: f64,
}

impl SavingsCounter {
    #[inline]
    pub(crate) fn add(&mut self, row: &[f64], entries: &mut [i64]) {
        entries[cell(saved(&mut self.labellers, self.diagonal, row) / self.most)] += 1;
    }
}

/// What a record here saves by the second set, as a part of the squared diagonal.
#[inline]
fn saved(labellers: &mut [Labeller; 2], diagonal: f64, row: &[f64]) -> f64 {
    let [first, second] = labellers.each_mut().map(|labeller| {
        let (_, distance) = labeller.locate(row);
        (distance / diagonal).powi(2)
    });
    first - second
}

/// The largest gain or loss at any of many places. Where two sets differ little, that is far less than the squared diagonal, and noise in scales that nobody
/// can be in does not count.
fn most(public_box: &PublicBox, labels: [&Labels; 2]) -> f64 {
    let (dim, diagonal) = (public_box.dim(), public_box.diagonal());
    let level = (1..).take_while(|&level| f64::from(1_u32 << level).powf(dim as f64) <= PLACES);
    let places = NestedGrid::new(public_box.clone())
        .and_then(|grid| Cloud::new(&grid, level.last().unwrap_or(0)))
        .map(|cloud| cloud.places());
    let (Ok(places), [Some(first), Some(second)]) = (places, labels.map(Labels::labeller)) else {
        return 1.0;
    };
    let mut labellers = [first, second];
    let saved = places.chunks_exact(dim).map(|place| saved(&mut labellers, diagonal, place).abs());
    saved.fold(0.0, f64::max).clamp(NEXT_TO_NOTHING, 1.0)
}

/// The cell of what a record saves, as a part of the most that one can. The scale `e` ends at `4^-e`, and the first has what is above all.
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

    /// At the lower end of the box a record would lose 100, and nowhere more; NaN is the middle.
    #[test]
    fn records_count_by_what_they_save_wherever_they_are() {
        let public_box = PublicBox::cube(1, -10.0, 10.0).expect("valid");
        let savings = Savings::new(&public_box, [vec![-10.0, 6.0], vec![0.0, 8.0]]);
        let points = Points::new(vec![0.0, 8.0, 6.0, 1e9, f64::NAN], 1).expect("rows");
        let mut sums = vec![0; Savings::entries()];
        // 36, 4 and -4; at the end of the box 16 - 4; and 36 again.
        for saved in [36.0, 4.0, -4.0, 12.0, 36.0] {
            sums[cell(saved / 100.0)] += 1;
        }
        assert_eq!(savings.count(points.view()), sums);
        let mut counter = savings.counter().expect("of a plan");
        let mut one_by_one = vec![0; Savings::entries()];
        points.view().rows().for_each(|row| counter.add(row, &mut one_by_one));
        assert_eq!(one_by_one, sums);
        assert!(Savings::is_possible(5, &sums) && !Savings::is_possible(4, &sums));
    }

    /// One of two centres a little off, whichever box they are in; and not at all.
    #[test]
    fn the_most_is_what_centres_differ_by() {
        for half in [10.0, 100.0] {
            let public_box = PublicBox::cube(2, -half, half).expect("valid");
            let at = |x: f64| vec![x, -1.0, 5.0, half];
            let savings = Savings::new(&public_box, [at(-1.0), at(-2.0)]);
            // At the end of the box, from `half + 1` to `half + 2`.
            let most = (2.0 * half + 3.0) / (8.0 * half * half);
            assert!((savings.most / most - 1.0).abs() < 1e-9, "{} {most}", savings.most);
            let same = Savings::new(&public_box, [at(-1.0), at(-1.0)]);
            let points = Points::new(vec![0.0, 0.0, 1e300, f64::NAN], 2).expect("rows");
            assert_eq!(same.count(points.view())[2 * SCALES], 2);
        }
        // Of so many dimensions there are no places to look at, and of a box whose square is no number neither.
        let public_box = PublicBox::cube(9, -1.0, 1.0).expect("valid");
        let savings = Savings::new(&public_box, [vec![0.0; 9], vec![0.5; 9]]);
        assert_eq!(savings.most.to_bits(), 1.0_f64.to_bits());
        let public_box = PublicBox::cube(2, -1e200, 1e200).expect("valid");
        let savings = Savings::new(&public_box, [vec![0.0; 2], vec![1e100; 2]]);
        assert!(savings.counter().is_some());
    }

    #[test]
    fn a_question_without_a_scale_is_none_of_a_plan() {
        let public_box = PublicBox::cube(2, -1.0, 1.0).expect("valid");
        for most in [f64::NAN, f64::INFINITY, -1.0, 0.0, 1.1] {
            let savings = Savings::new(&public_box, [vec![0.0; 2], vec![0.5; 2]]);
            assert!(Savings { most, ..savings }.counter().is_none(), "{most}");
        }
    }
}

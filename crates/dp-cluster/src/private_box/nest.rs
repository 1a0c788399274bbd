//! What a search for a box asks of all records: how many are in each of nested boxes, and their mean in one of them.

use dp_geometry::{PointsView, PublicBox};
use serde::{Deserialize, Serialize};

use crate::located::clip_into;
use crate::passes::{add_up, within};
use crate::table::sum_rows;

/// Nested boxes, each narrower than the one before by root 2: down to a `10^14`th of the public box.
pub(super) const BOXES: usize = 96;
/// Units of a sum per half a width.
pub(super) const UNITS: i64 = 1 << 20;

/// Of the box that ends ring `ring`, in widths of the public box. The first holds all of it, wherever the middle is.
pub(super) fn half_width(ring: usize) -> f64 {
    2_f64.powf(-0.5 * ring as f64)
}

/// Boxes around one middle, and what is asked about them: released values only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Nest {
    pub(super) public_box: PublicBox,
    pub(super) middle: Vec<f64>,
    /// Of the box that records are moved into to be added up, in widths of the public one; without it, records are counted per ring.
    pub(super) half: Option<f64>,
}

impl Nest {
    /// Around the middle of a box.
    pub(super) fn new(public_box: &PublicBox) -> Self {
        let middle = (0..public_box.dim()).map(|i| public_box.middle(i)).collect();
        Self { public_box: public_box.clone(), middle, half: None }
    }

    pub(crate) fn dim(&self) -> usize {
        self.public_box.dim()
    }

    pub(crate) fn entries(&self) -> usize {
        if self.half.is_some() { self.dim() } else { BOXES }
    }

    pub(crate) fn counter(&self) -> Option<NestCounter> {
        let ends = (1..BOXES).map(half_width).collect();
        let clipped = vec![0.0; self.dim()];
        (self.middle.len() == self.dim()).then(|| NestCounter { nest: self.clone(), ends, clipped })
    }

    /// The answer of all records.
    pub(crate) fn sums(&self, points: PointsView<'_>) -> Vec<i64> {
        let add = |counter: &mut Option<NestCounter>, _, row: &[f64], sums: &mut [i64]| {
            if let Some(counter) = counter {
                counter.add(row, sums);
            }
        };
        sum_rows(points, self.entries(), || self.counter(), add)
    }

    /// A record is in one ring, and adds at most half a width to each coordinate of a sum.
    pub(crate) fn is_possible(&self, rows: u64, entries: &[i64]) -> bool {
        match self.half {
            None => add_up(entries) == Some(rows),
            Some(_) => entries.iter().all(|&sum| within(sum, rows, UNITS)),
        }
    }

    pub(super) fn move_by(&mut self, half: f64, halves: impl Fn(usize) -> f64) {
        for (i, x) in self.middle.iter_mut().enumerate() {
            let step = halves(i) * half * self.public_box.width(i);
            *x = self.public_box.clip_coordinate(i, *x + step);
        }
    }

    /// One of the boxes, as far as it is in the public one; none if that has no width in floating point.
    pub(super) fn cut(&self, half: f64) -> Option<PublicBox> {
        let side = |i: usize, sign: f64| {
            let end = self.middle[i] + sign * half * self.public_box.width(i);
            self.public_box.clip_coordinate(i, end)
        };
        let [min, max] =
            [-1.0, 1.0].map(|sign| (0..self.middle.len()).map(|i| side(i, sign)).collect());
        PublicBox::new(min, max).ok()
    }
}

pub(crate) struct NestCounter {
    nest: Nest,
    /// Where rings end.
    ends: Vec<f64>,
    /// The point of the public box that a record counts as.
    clipped: Vec<f64>,
}

impl NestCounter {
    #[inline]
    pub(crate) fn add(&mut self, row: &[f64], entries: &mut [i64]) {
        let Nest { public_box, middle, half } = &self.nest;
        clip_into(public_box, row, &mut self.clipped);
        let places = self.clipped.iter().zip(middle).enumerate();
        let Some(half) = half else {
            let far = places.map(|(i, (x, m))| (x - m).abs() / public_box.width(i));
            let far = far.fold(0.0, f64::max);
            entries[self.ends.partition_point(|&end| far <= end)] += 1;
            return;
        };
        for (sum, (i, (x, m))) in entries.iter_mut().zip(places) {
            let halves = ((x - m) / (half * public_box.width(i))).clamp(-1.0, 1.0);
            #[allow(clippy::cast_possible_truncation, reason = "towards zero, at most UNITS")]
            {
                *sum += (halves * UNITS as f64) as i64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use dp_geometry::Points;

    use super::super::search::length_squared;
    use super::*;
    use crate::testing::adversarial;

    /// A record is in one ring and adds at most a unit box to a mean, whatever it holds and wherever the middle is.
    #[test]
    fn what_a_record_adds_is_bounded_and_the_bound_is_reached() {
        let mut longest = [0_u64; 2];
        for (which, dim) in [1, 3].into_iter().enumerate() {
            for (min, max) in [(-10.0, 10.0), (1e16, 1e16 + 2.0)] {
                let public_box = PublicBox::cube(dim, min, max).expect("valid");
                for middle in [min, 0.5 * (min + max), max] {
                    let nest = |half| Nest {
                        public_box: public_box.clone(),
                        middle: vec![middle; dim],
                        half,
                    };
                    for (_, points) in adversarial(dim, 60) {
                        for row in points.view().rows() {
                            let one = Points::new(row.to_vec(), dim).expect("a row");
                            let counts = nest(None).sums(one.view());
                            assert_eq!((counts.len(), counts.iter().sum()), (BOXES, 1));
                            assert!(nest(None).is_possible(1, &counts));
                            for ring in [0, 7, BOXES - 1] {
                                let nest = nest(Some(half_width(ring)));
                                let sums = nest.sums(one.view());
                                let squared: i64 = sums.iter().map(|s| s * s).sum();
                                assert!(squared.unsigned_abs() <= length_squared(dim), "{row:?}");
                                longest[which] = longest[which].max(squared.unsigned_abs());
                                assert!(nest.is_possible(1, &sums));
                            }
                        }
                    }
                }
            }
        }
        assert_eq!(longest, [length_squared(1), length_squared(3)]);
    }
}

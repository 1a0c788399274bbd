//! What a search for a box asks of all records: how many are in each of nested boxes, and their mean in one of them.

use dp_geometry::{PointsView, PublicBox};
use serde::{Deserialize, Serialize};

use crate::buckets::Buckets;
use crate::inside::Inside;
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
        let widths = (0..self.dim()).map(|i| self.half.unwrap_or(1.0) * self.public_box.width(i));
        let ends = Buckets::new((1..BOXES).rev().map(half_width).collect());
        let (widths, nest): (Vec<f64>, _) = (widths.collect(), self.clone());
        let first = widths.first().copied().unwrap_or(1.0);
        let width = widths.iter().all(|width| width.to_bits() == first.to_bits()).then_some(first);
        let [clipped, units] = [(); 2].map(|()| vec![0.0; self.dim()]);
        let is_one = self.middle.len() == self.dim();
        is_one.then_some(NestCounter { nest, widths, width, ends, clipped, units })
    }

    /// The answer of all records, of which some are inside of the box.
    pub(crate) fn sums(&self, points: PointsView<'_>, inside: &Inside) -> Vec<i64> {
        let scratch = || (self.counter(), vec![0.0; self.dim()]);
        sum_rows(points, self.entries(), scratch, |(counter, room), number, row, sums| {
            if let Some(counter) = counter {
                counter.add_point(inside.point(number, row, room), sums);
            }
        })
    }

    pub(crate) fn public_box(&self) -> &PublicBox {
        &self.public_box
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
    /// Of the public box, or halves of the box that records are moved into.
    widths: Vec<f64>,
    /// If they are all the same.
    width: Option<f64>,
    /// Where rings end, the innermost first.
    ends: Buckets,
    /// The point of the public box that a record counts as.
    clipped: Vec<f64>,
    /// What it adds to a sum, before that is rounded: two coordinates are worked out at once.
    units: Vec<f64>,
}

impl NestCounter {
    #[inline]
    pub(crate) fn add(&mut self, row: &[f64], entries: &mut [i64]) {
        let mut clipped = std::mem::take(&mut self.clipped);
        clip_into(&self.nest.public_box, row, &mut clipped);
        self.add_point(&clipped, entries);
        self.clipped = clipped;
    }

    /// Adds a point of the public box.
    #[inline]
    fn add_point(&mut self, point: &[f64], entries: &mut [i64]) {
        let Nest { middle, half, .. } = &self.nest;
        if half.is_none() {
            let far = match self.width {
                // Division by one number keeps the order, rounded or not: the same to the last bit.
                Some(width) => farthest(point, middle, &[]) / width,
                None => farthest(point, middle, &self.widths),
            };
            entries[BOXES - 1 - self.ends.find(far)] += 1;
            return;
        }
        let places = point.iter().zip(middle).zip(&self.widths);
        for (units, ((x, m), width)) in self.units.iter_mut().zip(places) {
            *units = ((x - m) / width).clamp(-1.0, 1.0) * UNITS as f64;
        }
        for (sum, &units) in entries.iter_mut().zip(&self.units) {
            #[allow(clippy::cast_possible_truncation, reason = "towards zero, at most UNITS")]
            {
                *sum += i64::from(units as i32);
            }
        }
    }
}

/// Coordinates that are looked at together.
const LANES: usize = 4;

/// The largest distance from the middle along any axis, in widths; without these, as it is.
#[inline]
fn farthest(point: &[f64], middle: &[f64], widths: &[f64]) -> f64 {
    // No distance is NaN; a comparison is one instruction for two of them, which `max` is not.
    let larger = |a: f64, b: f64| if a > b { a } else { b };
    let mut far = [0.0; LANES];
    if widths.is_empty() {
        let mut see = |x: &[f64], m: &[f64]| {
            for (far, (x, m)) in far.iter_mut().zip(x.iter().zip(m)) {
                *far = larger((x - m).abs(), *far);
            }
        };
        let [x, m] = [point, middle].map(<[f64]>::as_chunks::<LANES>);
        x.0.iter().zip(m.0).for_each(|(x, m)| see(x, m));
        see(x.1, m.1);
    } else {
        let mut see = |x: &[f64], m: &[f64], width: &[f64]| {
            for (far, ((x, m), width)) in far.iter_mut().zip(x.iter().zip(m).zip(width)) {
                *far = larger((x - m).abs() / width, *far);
            }
        };
        let [x, m, width] = [point, middle, widths].map(<[f64]>::as_chunks::<LANES>);
        for ((x, m), width) in x.0.iter().zip(m.0).zip(width.0) {
            see(x, m, width);
        }
        see(x.1, m.1, width.1);
    }
    far.into_iter().fold(0.0, larger)
}

#[cfg(test)]
mod tests {
    use dp_geometry::Points;

    use super::super::search::length_squared;
    use super::*;
    use crate::testing::adversarial;

    /// In a cube all distances are divided by the same width: once, after the largest is known, or each of them.
    #[test]
    fn one_division_says_the_same_as_many() {
        for dim in [1, 2, 5, 9] {
            for (min, max) in [(-10.0, 10.0), (-0.3, 0.1), (1e16, 1e16 + 2.0)] {
                let public_box = PublicBox::cube(dim, min, max).expect("valid");
                let at = |i: usize| min + (max - min) * (0.2 + 0.07 * i as f64);
                let middle = (0..dim).map(at).collect();
                let nest = Nest { public_box: public_box.clone(), middle, half: None };
                let mut once = nest.counter().expect("a nest");
                let mut each = NestCounter { width: None, ..nest.counter().expect("a nest") };
                assert!(once.width.is_some());
                for (name, points) in adversarial(dim, 200) {
                    let mut counts = [(); 2].map(|()| vec![0; BOXES]);
                    for row in points.view().rows() {
                        let row: Vec<f64> = row.iter().map(|x| at(0) + x / 30.0).collect();
                        once.add(&row, &mut counts[0]);
                        each.add(&row, &mut counts[1]);
                    }
                    assert_eq!(counts[0], counts[1], "{name}");
                }
            }
        }
    }

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
                            let inside = Inside::of(one.view(), &public_box);
                            let counts = nest(None).sums(one.view(), &inside);
                            assert_eq!((counts.len(), counts.iter().sum()), (BOXES, 1));
                            assert!(nest(None).is_possible(1, &counts));
                            for ring in [0, 7, BOXES - 1] {
                                let nest = nest(Some(half_width(ring)));
                                let sums = nest.sums(one.view(), &inside);
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

    /// Ring and sum of one record, one coordinate after the other.
    fn plain(nest: &Nest, row: &[f64]) -> Vec<i64> {
        let mut entries = vec![0; nest.entries()];
        let clip = |(i, &x): (usize, &f64)| nest.public_box.clip_coordinate(i, x);
        let offsets = row.iter().enumerate().map(clip).zip(&nest.middle).map(|(x, m)| x - m);
        let offsets: Vec<f64> = offsets.collect();
        let width = |i| nest.public_box.width(i);
        let Some(half) = nest.half else {
            let far = offsets.iter().enumerate().map(|(i, x)| x.abs() / width(i));
            let far = far.fold(0.0, f64::max);
            entries[(1..BOXES).take_while(|&ring| far <= half_width(ring)).count()] += 1;
            return entries;
        };
        for (i, (sum, x)) in entries.iter_mut().zip(offsets).enumerate() {
            let halves = (x / (half * width(i))).clamp(-1.0, 1.0);
            #[allow(clippy::cast_possible_truncation, reason = "towards zero, at most UNITS")]
            {
                *sum = (halves * UNITS as f64) as i64;
            }
        }
        entries
    }

    /// In 1 to 11 dimensions, on borders of rings, beyond the box, and where nothing is a number.
    #[test]
    fn counts_are_those_of_the_plain_loop() {
        for dim in 1..=11 {
            let side = |i: usize| f64::from(u8::try_from(i).expect("few")) + 0.5;
            let (min, max) = ((0..dim).map(|i| -side(i)), (0..dim).map(|i| 3.0 * side(i)));
            let public_box = PublicBox::new(min.collect(), max.collect()).expect("valid");
            let mut points: Vec<Vec<f64>> = adversarial(dim, 60)
                .iter()
                .flat_map(|(_, points)| {
                    points.view().rows().map(<[f64]>::to_vec).collect::<Vec<_>>()
                })
                .collect();
            for ring in 0..BOXES {
                let end = |i: usize, up: f64| side(i) + up * half_width(ring) * 4.0 * side(i);
                points.push((0..dim).map(|i| end(i, 1.0)).collect());
                points.push(
                    (0..dim).map(|i| end(i, if i == ring % dim { -1.0 } else { 0.1 })).collect(),
                );
            }
            for half in [None, Some(1.0), Some(half_width(9)), Some(half_width(95))] {
                let nest = Nest { half, ..Nest::new(&public_box) };
                for row in &points {
                    let one = PointsView::new(row, dim).expect("a row");
                    let found = nest.sums(one, &Inside::of(one, &public_box));
                    assert_eq!(found, plain(&nest, row), "{row:?} {half:?}");
                }
            }
        }
    }
}

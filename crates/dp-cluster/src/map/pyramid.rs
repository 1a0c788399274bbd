//! The sums that weights on the finest vertices would have on every level, and the gradient of the misfit.

use super::fit::Measured;
use crate::lanes::sum_of;

/// Room for one list per level between the coarsest and the finest that was measured.
///
/// Hats of a level are sums of hats of the next finer one, so the sums of a level follow from those of the next finer one, axis by axis: a
/// vertex gets all of the vertex in its place and half of each neighbour. Everything is linear in the number of vertices.
#[derive(Clone, Debug)]
pub(super) struct Pyramid {
    dim: usize,
    coarsest: u32,
    /// Of the finest level.
    vertices: usize,
    /// Of all levels above the finest, from the coarsest.
    above: Vec<Vec<f64>>,
    precision: Vec<f64>,
    room: [Vec<f64>; 2],
}

impl Pyramid {
    /// For consecutive levels, the coarsest first.
    pub(super) fn new(dim: usize, measured: &[Measured]) -> Self {
        let above = &measured[..measured.len().saturating_sub(1)];
        Self {
            dim,
            coarsest: measured.first().map_or(0, |level| level.level),
            vertices: measured.last().map_or(0, |level| level.sums.len()),
            above: above.iter().map(|level| vec![0.0; level.sums.len()]).collect(),
            precision: measured.iter().map(|level| level.precision).collect(),
            room: [Vec::new(), Vec::new()],
        }
    }

    /// Of the finest level.
    pub(super) fn vertices(&self) -> usize {
        self.vertices
    }

    /// Half of the squared differences of these weights' sums from the measured ones, in variances of their noise.
    pub(super) fn misfit(&mut self, measured: &[Measured], weights: &[f64]) -> f64 {
        self.spread(weights);
        let above = self.above.iter().map(Vec::as_slice).chain([weights]);
        let levels = above.zip(measured).map(|(sums, level)| {
            let squares = sum_of([sums, &level.sums], |[sum, measured]| (sum - measured).powi(2));
            0.5 * level.precision * squares
        });
        levels.sum()
    }

    /// The gradient of the misfit at these weights.
    pub(super) fn gradient(
        &mut self,
        measured: &[Measured],
        weights: &[f64],
        gradient: &mut [f64],
    ) {
        self.spread(weights);
        let (finest, coarser) = measured.split_last().expect("a level at least");
        for (sums, level) in self.above.iter_mut().zip(coarser) {
            for (sum, measured) in sums.iter_mut().zip(&level.sums) {
                *sum = (*sum - measured) * level.precision;
            }
        }
        for ((g, weight), measured) in gradient.iter_mut().zip(weights).zip(&finest.sums) {
            *g = (weight - measured) * finest.precision;
        }
        self.collect(gradient);
    }

    /// The largest curvature of the misfit, from above: of the products of a positive vector with a matrix without negative entries, the
    /// largest ratio is at least the largest eigenvalue (Collatz and Wielandt).
    pub(super) fn steepest(&mut self) -> f64 {
        let mut x = vec![1.0; self.vertices()];
        let mut y = x.clone();
        let mut most = f64::INFINITY;
        for _ in 0..30 {
            self.spread(&x);
            let (finest, coarser) = self.precision.split_last().expect("a level at least");
            for (sums, precision) in self.above.iter_mut().zip(coarser) {
                for sum in sums {
                    *sum *= precision;
                }
            }
            y.iter_mut().zip(&x).for_each(|(y, x)| *y = x * finest);
            self.collect(&mut y);
            let ratio = y.iter().zip(&x).fold(0.0, |most: f64, (y, x)| most.max(y / x));
            most = most.min(ratio);
            let largest = y.iter().fold(0.0, |most: f64, y| most.max(*y));
            // Any positive vector gives a bound; tiny entries would make it a bad one.
            x.iter_mut().zip(&y).for_each(|(x, y)| *x = (y / largest).max(1e-6));
        }
        most
    }

    /// From weights on the finest level up.
    fn spread(&mut self, weights: &[f64]) {
        for level in (0..self.above.len()).rev() {
            let (above, below) = self.above.split_at_mut(level + 1);
            let from = below.first().map_or(weights, Vec::as_slice);
            let fine = self.coarsest + u32::try_from(level).expect("few levels") + 1;
            coarser(self.dim, fine, from, &mut above[level], &mut self.room);
        }
    }

    /// The transposed map of all levels at once: from the coarsest level down, what comes from above and what is there.
    fn collect(&mut self, finest: &mut [f64]) {
        for level in 0..self.above.len() {
            let (above, below) = self.above.split_at_mut(level + 1);
            let to = below.first_mut().map_or(&mut *finest, Vec::as_mut_slice);
            let fine = self.coarsest + u32::try_from(level).expect("few levels") + 1;
            add_finer(self.dim, fine, &above[level], to, &mut self.room);
        }
    }
}

/// Vertices of a level.
pub(super) fn vertices(dim: usize, level: u32) -> usize {
    per_axis(level).pow(axis_u32(dim))
}

/// Vertices of a level along one axis.
fn per_axis(level: u32) -> usize {
    (1 << level) + 1
}

/// The sums of the next coarser level from those of level `fine`.
fn coarser(dim: usize, fine: u32, from: &[f64], to: &mut [f64], room: &mut [Vec<f64>; 2]) {
    let (many, few) = (per_axis(fine), per_axis(fine - 1));
    for axis in 0..dim {
        // Axes before this one are coarse, those after it fine.
        let (outer, inner) = (few.pow(axis_u32(axis)), many.pow(axis_u32(dim - axis - 1)));
        let [before, next] = &mut *room;
        let source = if axis == 0 { from } else { before };
        let target = if axis + 1 == dim { &mut *to } else { sized(next, outer * few * inner) };
        let slabs = source.chunks_exact(many * inner).zip(target.chunks_exact_mut(few * inner));
        for (source, target) in slabs {
            halve(source, target, inner);
        }
        room.swap(0, 1);
    }
}

/// Adds what the transposed map takes to level `fine` from the next coarser one: values in between are means.
fn add_finer(dim: usize, fine: u32, from: &[f64], to: &mut [f64], room: &mut [Vec<f64>; 2]) {
    let (many, few) = (per_axis(fine), per_axis(fine - 1));
    for axis in 0..dim {
        let (outer, inner) = (many.pow(axis_u32(axis)), few.pow(axis_u32(dim - axis - 1)));
        let [before, next] = &mut *room;
        let source = if axis == 0 { from } else { before };
        if axis + 1 == dim {
            double(source, to, few, inner, |to, value| *to += value);
        } else {
            let next = sized(next, outer * many * inner);
            double(source, next, few, inner, |to, value| *to = value);
        }
        room.swap(0, 1);
    }
}

/// Room for so many numbers, which are all written before they are read.
fn sized(room: &mut Vec<f64>, length: usize) -> &mut [f64] {
    room.resize(length, 0.0);
    room
}

/// Every other row, with half of both of its neighbours.
fn halve(source: &[f64], target: &mut [f64], inner: usize) {
    let few = target.len() / inner;
    // The last axis has rows of one number.
    if inner == 1 {
        let (pairs, last) = source.as_chunks::<2>();
        let mut before = 0.0;
        for (target, [at, between]) in target.iter_mut().zip(pairs) {
            let half = 0.5 * between;
            *target = at + before + half;
            before = half;
        }
        target[few - 1] = last[0] + before;
        return;
    }
    for (i, target) in target.chunks_exact_mut(inner).enumerate() {
        let row = |j: usize| &source[j * inner..][..inner];
        target.copy_from_slice(row(2 * i));
        if i > 0 {
            target.iter_mut().zip(row(2 * i - 1)).for_each(|(t, s)| *t += 0.5 * s);
        }
        if i + 1 < few {
            target.iter_mut().zip(row(2 * i + 1)).for_each(|(t, s)| *t += 0.5 * s);
        }
    }
}

/// Of so `few` rows each, and the mean of it and the next in between, which are put into the target.
fn double(
    source: &[f64],
    target: &mut [f64],
    few: usize,
    inner: usize,
    put: impl Fn(&mut f64, f64),
) {
    let many = 2 * few - 1;
    let slabs = source.chunks_exact(few * inner).zip(target.chunks_exact_mut(many * inner));
    for (source, target) in slabs {
        if inner == 1 {
            let (pairs, last) = target.as_chunks_mut::<2>();
            for ([at, between], next) in pairs.iter_mut().zip(source.windows(2)) {
                put(at, next[0]);
                put(between, 0.5 * (next[0] + next[1]));
            }
            put(&mut last[0], source[few - 1]);
            continue;
        }
        for (i, target) in target.chunks_exact_mut(inner).enumerate() {
            let row = |j: usize| &source[j * inner..][..inner];
            if i % 2 == 0 {
                target.iter_mut().zip(row(i / 2)).for_each(|(t, s)| put(t, *s));
            } else {
                let pair = row(i / 2).iter().zip(row(i / 2 + 1));
                target.iter_mut().zip(pair).for_each(|(t, (a, b))| put(t, 0.5 * (a + b)));
            }
        }
    }
}

fn axis_u32(axis: usize) -> u32 {
    u32::try_from(axis).expect("few dimensions")
}

#[cfg(test)]
mod tests {
    use dp_geometry::{Cloud, NestedGrid, PublicBox};

    use super::*;

    fn measured(dim: usize, levels: std::ops::RangeInclusive<u32>) -> Vec<Measured> {
        let zero = |level| Measured {
            level,
            sums: vec![0.0; per_axis(level).pow(axis_u32(dim))],
            precision: 1.0 + f64::from(level),
        };
        levels.map(zero).collect()
    }

    /// The sums of a coarse level are those that records at the fine vertices have there.
    #[test]
    fn spreading_is_what_records_do() {
        for dim in 1..=3 {
            let grid =
                NestedGrid::new(PublicBox::cube(dim, -1.0, 1.0).expect("valid")).expect("valid");
            let levels = measured(dim, 1..=3);
            let mut pyramid = Pyramid::new(dim, &levels);
            let fine = Cloud::new(&grid, 3).expect("small");
            let weights: Vec<f64> = (0..fine.vertices()).map(|i| (i * i % 17) as f64).collect();
            pyramid.spread(&weights);
            for (number, level) in (1..=3).enumerate() {
                let cloud = Cloud::new(&grid, level).expect("small");
                let mut sums = vec![0.0; cloud.vertices()];
                for (place, weight) in fine.places().chunks_exact(dim).zip(&weights) {
                    let (mut positions, mut shares) = (vec![0; dim], vec![0; cloud.vertices()]);
                    grid.positions(place, &mut positions);
                    cloud.add(&positions, &mut shares);
                    for (sum, share) in sums.iter_mut().zip(shares) {
                        *sum += weight * share as f64 / Cloud::UNITS as f64;
                    }
                }
                let spread = pyramid.above.get(number).unwrap_or(&weights);
                for (a, b) in sums.iter().zip(spread) {
                    assert!((a - b).abs() < 1e-4, "{dim}, {level}: {a} {b}");
                }
            }
        }
    }

    /// `<A x, y> = <x, A' y>`, and the curvature along any direction is at most the steepest.
    #[test]
    fn the_gradient_is_that_of_the_misfit() {
        for dim in 1..=3 {
            let mut levels = measured(dim, 0..=2);
            for level in &mut levels {
                level.sums.iter_mut().enumerate().for_each(|(i, sum)| *sum = (i * 7 % 5) as f64);
            }
            let mut pyramid = Pyramid::new(dim, &levels);
            let steepest = pyramid.steepest();
            let x: Vec<f64> = (0..pyramid.vertices()).map(|i| (i * 3 % 11) as f64).collect();
            let (mut at_x, mut at_y) = (vec![0.0; x.len()], vec![0.0; x.len()]);
            for moved in 0..x.len() {
                let mut y = x.clone();
                y[moved] += 2.0;
                pyramid.gradient(&levels, &x, &mut at_x);
                pyramid.gradient(&levels, &y, &mut at_y);
                let [from, to] = [&x, &y].map(|at| pyramid.misfit(&levels, at));
                // A quadratic changes by the mean of its gradients.
                let expected = at_x[moved] + at_y[moved];
                assert!((to - from - expected).abs() < 1e-6, "{dim}: {} {expected}", to - from);
                assert!(at_y[moved] - at_x[moved] <= 2.0 * steepest * (1.0 + 1e-12));
            }
        }
    }
}

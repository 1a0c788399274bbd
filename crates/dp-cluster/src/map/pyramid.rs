//! The sums that weights on the finest vertices would have on every level, and the gradient of the misfit.

use super::fit::Measured;

/// Room for one list per level between the coarsest and the finest that was measured.
///
/// Hats of a level are sums of hats of the next finer one, so the sums of a level follow from those of the next finer one, axis by axis: a
/// vertex gets all of the vertex in its place and half of each neighbour. Everything is linear in the number of vertices.
#[derive(Clone, Debug)]
pub(super) struct Pyramid {
    dim: usize,
    coarsest: u32,
    /// From the coarsest.
    sums: Vec<Vec<f64>>,
    precision: Vec<f64>,
    room: [Vec<f64>; 2],
}

impl Pyramid {
    /// For consecutive levels, the coarsest first.
    pub(super) fn new(dim: usize, measured: &[Measured]) -> Self {
        Self {
            dim,
            coarsest: measured.first().map_or(0, |level| level.level),
            sums: measured.iter().map(|level| vec![0.0; level.sums.len()]).collect(),
            precision: measured.iter().map(|level| level.precision).collect(),
            room: [Vec::new(), Vec::new()],
        }
    }

    /// Of the finest level.
    pub(super) fn vertices(&self) -> usize {
        self.sums.last().map_or(0, Vec::len)
    }

    /// The misfit of these weights and its gradient.
    pub(super) fn gradient(
        &mut self,
        measured: &[Measured],
        weights: &[f64],
        gradient: &mut [f64],
    ) -> f64 {
        self.spread(weights);
        let mut misfit = 0.0;
        for (sums, level) in self.sums.iter_mut().zip(measured) {
            let mut squares = 0.0;
            for (sum, measured) in sums.iter_mut().zip(&level.sums) {
                let off = *sum - measured;
                squares += off * off;
                *sum = off * level.precision;
            }
            misfit += 0.5 * level.precision * squares;
        }
        self.collect(gradient);
        misfit
    }

    /// The largest curvature of the misfit, from above: of the products of a positive vector with a matrix without negative entries, the
    /// largest ratio is at least the largest eigenvalue (Collatz and Wielandt).
    pub(super) fn steepest(&mut self) -> f64 {
        let mut x = vec![1.0; self.vertices()];
        let mut y = x.clone();
        let mut most = f64::INFINITY;
        for _ in 0..30 {
            self.spread(&x);
            for (sums, precision) in self.sums.iter_mut().zip(&self.precision) {
                for sum in sums {
                    *sum *= precision;
                }
            }
            self.collect(&mut y);
            let ratio = y.iter().zip(&x).fold(0.0, |most: f64, (y, x)| most.max(y / x));
            most = most.min(ratio);
            let largest = y.iter().fold(0.0, |most: f64, y| most.max(*y));
            // Any positive vector gives a bound; tiny entries would make it a bad one.
            x.iter_mut().zip(&y).for_each(|(x, y)| *x = (y / largest).max(1e-6));
        }
        most
    }

    /// From the finest level up.
    fn spread(&mut self, weights: &[f64]) {
        let finest = self.sums.len() - 1;
        self.sums[finest].copy_from_slice(weights);
        for level in (0..finest).rev() {
            let (above, below) = self.sums.split_at_mut(level + 1);
            let fine = self.coarsest + u32::try_from(level).expect("few levels") + 1;
            coarser(self.dim, fine, &below[0], &mut above[level], &mut self.room);
        }
    }

    /// The transposed map of all levels at once: from the coarsest level down, what comes from above and what is there.
    fn collect(&mut self, out: &mut [f64]) {
        let finest = self.sums.len() - 1;
        for level in 0..finest {
            let (above, below) = self.sums.split_at_mut(level + 1);
            let fine = self.coarsest + u32::try_from(level).expect("few levels") + 1;
            add_finer(self.dim, fine, &above[level], &mut below[0], &mut self.room);
        }
        out.copy_from_slice(&self.sums[finest]);
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
        let target = sized(next, outer * many * inner);
        let slabs = source.chunks_exact(few * inner).zip(target.chunks_exact_mut(many * inner));
        for (source, target) in slabs {
            double(source, target, inner);
        }
        room.swap(0, 1);
    }
    to.iter_mut().zip(&room[0]).for_each(|(to, from)| *to += from);
}

/// Room for so many numbers, which are all written before they are read.
fn sized(room: &mut Vec<f64>, length: usize) -> &mut [f64] {
    room.resize(length, 0.0);
    room
}

/// Every other row, with half of both of its neighbours.
fn halve(source: &[f64], target: &mut [f64], inner: usize) {
    // The last axis has rows of one number.
    if inner == 1 {
        let last = source.len() - 1;
        for (i, target) in target.iter_mut().enumerate() {
            let at = 2 * i;
            let before = if at > 0 { source[at - 1] } else { 0.0 };
            let after = if at < last { source[at + 1] } else { 0.0 };
            *target = source[at] + 0.5 * before + 0.5 * after;
        }
        return;
    }
    let few = target.len() / inner;
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

/// Each row, and the mean of it and the next in between.
fn double(source: &[f64], target: &mut [f64], inner: usize) {
    if inner == 1 {
        for (i, target) in target.iter_mut().enumerate() {
            let at = i / 2;
            *target = if i % 2 == 0 { source[at] } else { 0.5 * (source[at] + source[at + 1]) };
        }
        return;
    }
    for (i, target) in target.chunks_exact_mut(inner).enumerate() {
        let row = |j: usize| &source[j * inner..][..inner];
        if i % 2 == 0 {
            target.copy_from_slice(row(i / 2));
        } else {
            let pair = row(i / 2).iter().zip(row(i / 2 + 1));
            target.iter_mut().zip(pair).for_each(|(t, (a, b))| *t = 0.5 * (a + b));
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
                for (a, b) in sums.iter().zip(&pyramid.sums[number]) {
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
                let from = pyramid.gradient(&levels, &x, &mut at_x);
                let to = pyramid.gradient(&levels, &y, &mut at_y);
                // A quadratic changes by the mean of its gradients.
                let expected = at_x[moved] + at_y[moved];
                assert!((to - from - expected).abs() < 1e-6, "{dim}: {} {expected}", to - from);
                assert!(at_y[moved] - at_x[moved] <= 2.0 * steepest * (1.0 + 1e-12));
            }
        }
    }
}

//! A k-d tree of centres: most of them need not be looked at in few dimensions.

use super::{NearestCentre, TwoNearest, squared_distance};
use crate::points::PointsView;

/// Centres per leaf: so few cost less than one more division.
const LEAF: usize = 8;

/// Centres in a k-d tree, for searches among many of them in up to [`MAX_DIM`](Self::MAX_DIM) dimensions or so;
/// in more, boxes around them hardly rule anything out, and a [`CentreTable`](super::CentreTable) is faster.
///
/// A box is ruled out without any margin for rounding. Let `c` be a centre of the box and `x` the point. In each
/// dimension the gap between `x` and the box is at most `|x - c|`, exactly; rounding never turns around the order
/// of two numbers, nor does adding or multiplying numbers that are not negative in the same order. So the computed
/// distance to the box is at most the computed distance to `c`, and whoever is farther away than the second best
/// is so in the plain computation, too.
#[derive(Clone, Debug)]
pub struct CentreTree {
    dim: usize,
    /// In the order of the tree: each subtree has a contiguous range.
    coords: Vec<f64>,
    /// The index of the centre at a place.
    labels: Vec<u32>,
    /// Low and high corner of each subtree; the children of `i` are `2 i + 1` and `2 i + 2`.
    corners: Vec<f64>,
}

impl CentreTree {
    /// In more dimensions a table is as fast, for every number of centres.
    pub const MAX_DIM: usize = 8;

    /// A tree of these centres.
    ///
    /// # Complexity
    /// `O(k log k)` for `k` centres, once.
    pub fn new(centres: PointsView<'_>) -> Self {
        let dim = centres.dim();
        let mut labels: Vec<u32> = (0..).take(centres.len()).collect();
        let mut levels = 0;
        while labels.len() >> levels > LEAF {
            levels += 1;
        }
        let mut corners = vec![0.0; ((2 << levels) - 1) * 2 * dim];
        divide(centres, &mut labels, 0, levels, &mut corners);
        let coords = labels.iter().flat_map(|&label| &centres[label as usize]).copied().collect();
        Self { dim, coords, labels, corners }
    }

    fn is_leaf(&self, number: usize) -> bool {
        2 * number + 1 >= self.corners.len() / (2 * self.dim)
    }

    /// Squared distance from a point to the box of a subtree, in the order of the dimensions.
    #[inline]
    fn to_box(&self, point: &[f64], number: usize) -> f64 {
        let corners = &self.corners[number * 2 * self.dim..][..2 * self.dim];
        let (low, high) = corners.split_at(self.dim);
        // Of a NaN coordinate the gap is 0, so that nothing is ruled out.
        point.iter().zip(low.iter().zip(high)).fold(0.0, |sum, (x, (low, high))| {
            let gap = (low - x).max(x - high).max(0.0);
            sum + gap * gap
        })
    }

    /// Looks at the places `first..end` of a subtree whose box is this far away.
    fn search(
        &self,
        point: &[f64],
        (number, first, end): (usize, usize, usize),
        to_box: f64,
        best: &mut TwoNearest,
    ) {
        // At equal distance there could be a lower index, if it is the best that is so far away.
        if to_box >= best.second_squared && to_box > best.squared {
            return;
        }
        if self.is_leaf(number) {
            let rows = self.coords[first * self.dim..end * self.dim].chunks_exact(self.dim);
            for (row, &label) in rows.zip(&self.labels[first..end]) {
                best.compare(label, squared_distance(point, row));
            }
            return;
        }
        let middle = usize::midpoint(first, end);
        let halves = [(2 * number + 1, first, middle), (2 * number + 2, middle, end)];
        let gaps = halves.map(|(child, ..)| self.to_box(point, child));
        // The nearer half first: what it finds rules out more of the other.
        let order = if gaps[1] < gaps[0] { [1, 0] } else { [0, 1] };
        for half in order {
            self.search(point, halves[half], gaps[half], best);
        }
    }
}

impl TwoNearest {
    /// Takes note of one centre, in any order of the labels.
    #[inline]
    fn compare(&mut self, label: u32, squared: f64) {
        if squared < self.squared {
            *self = Self { label, squared, second_squared: self.squared };
        } else if squared < self.second_squared {
            self.second_squared = squared;
        }
        // A tie, also with what has just been found. Infinitely far from everything is label 0.
        if squared <= self.squared && label < self.label {
            self.label = label;
        }
    }
}

impl NearestCentre for CentreTree {
    fn len(&self) -> usize {
        self.labels.len()
    }

    fn two_nearest(&self, point: &[f64]) -> TwoNearest {
        let (point, mut best) = (&point[..self.dim], TwoNearest::NONE);
        self.search(point, (0, 0, self.labels.len()), 0.0, &mut best);
        best
    }
}

/// Puts the labels of a subtree in order and fills in its corners: halves along its widest side.
fn divide(
    centres: PointsView<'_>,
    labels: &mut [u32],
    number: usize,
    levels: usize,
    corners: &mut [f64],
) {
    let dim = centres.dim();
    let at = |label: u32, axis: usize| centres[label as usize][axis];
    let mut widest = (0, -1.0);
    for axis in 0..dim {
        let column = labels.iter().map(|&label| at(label, axis));
        // NaN is left out: a centre that has it is never the nearest.
        let start = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = column.fold(start, |(low, high), x| (x.min(low), x.max(high)));
        corners[number * 2 * dim + axis] = low;
        corners[number * 2 * dim + dim + axis] = high;
        if high - low > widest.1 {
            widest = (axis, high - low);
        }
    }
    if levels == 0 {
        return;
    }
    let middle = labels.len() / 2;
    let order = |a: &u32, b: &u32| at(*a, widest.0).total_cmp(&at(*b, widest.0)).then(a.cmp(b));
    labels.select_nth_unstable_by(middle, order);
    let (left, right) = labels.split_at_mut(middle);
    divide(centres, left, 2 * number + 1, levels - 1, corners);
    divide(centres, right, 2 * number + 2, levels - 1, corners);
}

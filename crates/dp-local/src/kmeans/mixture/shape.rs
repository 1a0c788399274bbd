//! The share of a Gaussian cluster that each cell has, as a product over axes, so that inner products of clusters are products too.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// One axis of a cluster: a number for each cell from `first` on.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub(super) first: usize,
    /// The share, its derivative by the place, and that by the logarithm of the width.
    pub(super) rows: [Vec<f64>; 3],
}

/// Widths beyond which a cluster has no share worth counting.
const REACH: f64 = 5.0;

impl Axis {
    /// A cluster at a place, of a width, both in cells. Clients outside of the box are in its outermost cells.
    pub(super) fn new(cells: usize, at: f64, width: f64) -> Self {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
        let cell = |x: f64| x.clamp(0.0, cells as f64) as usize;
        let first = cell((at - REACH * width).floor()).min(cells - 1);
        let last = cell((at + REACH * width).ceil()).max(first + 1);
        let edge = |edge: usize| {
            if edge == 0 || edge == cells {
                return [if edge == 0 { 0.0 } else { 1.0 }, 0.0, 0.0];
            }
            let z = (edge as f64 - at) / width;
            let density = (-0.5 * z * z).exp() / (2.0 * PI).sqrt();
            [0.5 * libm::erfc(-z * FRAC_1_SQRT_2), -density / width, -density * z]
        };
        let mut rows = [(); 3].map(|()| Vec::with_capacity(last - first));
        let mut below = edge(first);
        for next in first + 1..=last {
            let above = edge(next);
            for ((row, above), below) in rows.iter_mut().zip(above).zip(below) {
                row.push(above - below);
            }
            below = above;
        }
        Self { first, rows }
    }

    /// The same share for all cells: one client in each.
    pub(super) fn level(cells: usize) -> Self {
        Self { first: 0, rows: [vec![1.0; cells], vec![0.0; cells], vec![0.0; cells]] }
    }

    fn end(&self) -> usize {
        self.first + self.rows[0].len()
    }

    /// Inner products of all rows with all rows of another.
    fn products(&self, other: &Self) -> [[f64; 3]; 3] {
        let (first, end) = (self.first.max(other.first), self.end().min(other.end()));
        let part = |axis: &'_ Self, row: usize| -> (usize, usize, usize) {
            (row, first.saturating_sub(axis.first), end.saturating_sub(first))
        };
        let mut table = [[0.0; 3]; 3];
        for (i, line) in table.iter_mut().enumerate() {
            for (j, entry) in line.iter_mut().enumerate() {
                let ((a, from, len), (b, other_from, _)) = (part(self, i), part(other, j));
                let one = self.rows[a].iter().skip(from).take(len);
                *entry = one.zip(other.rows[b].iter().skip(other_from)).map(|(x, y)| x * y).sum();
            }
        }
        table
    }
}

/// A cluster's shares on all axes. Its terms are the share itself, then its derivatives by each place, then by the logarithm of each axis'
/// width.
pub(super) type Shape = Vec<Axis>;

/// Which row of an axis belongs to a term.
fn row(term: usize, axis: usize, axes: usize) -> usize {
    match term {
        _ if term == 1 + axis => 1,
        _ if term == 1 + axes + axis => 2,
        _ => 0,
    }
}

/// Whether any cell has a share of both; all inner products are 0 otherwise.
pub(super) fn overlap(one: &Shape, other: &Shape) -> bool {
    one.iter().zip(other).all(|(a, b)| a.first < b.end() && b.first < a.end())
}

/// The inner products of all terms of two clusters, row-major.
pub(super) fn products(one: &Shape, other: &Shape) -> Vec<f64> {
    let axes = one.len();
    let tables: Vec<_> = one.iter().zip(other).map(|(a, b)| a.products(b)).collect();
    let terms = 2 * axes + 1;
    let entry = |place: usize| {
        let (i, j) = (place / terms, place % terms);
        tables
            .iter()
            .enumerate()
            .map(|(axis, table)| table[row(i, axis, axes)][row(j, axis, axes)])
            .product()
    };
    (0..terms * terms).map(entry).collect()
}

/// The inner products of all terms of a cluster with values of cells, the first axis fastest.
pub(super) fn contracted(shape: &Shape, values: &[f64], cells: usize) -> Vec<f64> {
    let axes = shape.len();
    let mut terms = vec![0.0; 2 * axes + 1];
    // Where lines along the first axis start.
    let (mut lines, mut stride) = (vec![shape[0].first], cells);
    for axis in &shape[1..] {
        lines = (axis.first..axis.end())
            .flat_map(|at| lines.iter().map(move |line| line + at * stride))
            .collect();
        stride *= cells;
    }
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(x, y)| x * y).sum() };
    let along = |row: &[f64]| -> Vec<f64> {
        lines.iter().map(|&line| dot(row, &values[line..line + row.len()])).collect()
    };
    let [share, place, width] = &shape[0].rows;
    let mut whole = along(share);
    let mut begun = vec![(1, along(place)), (1 + axes, along(width))];
    for (at, axis) in shape.iter().enumerate().skip(1) {
        let [share, place, width] = &axis.rows;
        let along = |row: &[f64], lines: &[f64]| -> Vec<f64> {
            lines.chunks_exact(row.len()).map(|line| dot(row, line)).collect()
        };
        for (_, lines) in &mut begun {
            *lines = along(share, lines);
        }
        begun.push((1 + at, along(place, &whole)));
        begun.push((1 + axes + at, along(width, &whole)));
        whole = along(share, &whole);
    }
    terms[0] = whole[0];
    for (term, sum) in begun {
        terms[term] = sum[0];
    }
    terms
}

/// Adds so many clients of a cluster to each cell.
pub(super) fn add(shape: &Shape, size: f64, values: &mut [f64], cells: usize) {
    let mut places = vec![(0, size)];
    let mut stride = 1;
    for axis in shape {
        places = axis.rows[0]
            .iter()
            .enumerate()
            .flat_map(|(at, share)| {
                let place = (axis.first + at) * stride;
                places.iter().map(move |(other, part)| (other + place, part * share))
            })
            .collect();
        stride *= cells;
    }
    for (place, part) in places {
        values[place] += part;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    const CELLS: usize = 7;

    fn shape(at: [f64; 2], width: f64) -> Shape {
        at.iter().map(|x| Axis::new(CELLS, *x, width)).collect()
    }

    fn cells_of(shape: &Shape) -> Vec<f64> {
        let mut values = vec![0.0; CELLS * CELLS];
        add(shape, 1.0, &mut values, CELLS);
        values
    }

    /// Shares add up to one, also at an edge; terms are the derivatives of the cells by difference; products are sums over cells.
    #[test]
    fn terms_are_derivatives_and_products_are_sums() {
        let values: Vec<f64> = (0..CELLS * CELLS).map(|i| ((i * 37) % 11) as f64).collect();
        let sum = |cells: &[f64]| -> f64 { cells.iter().zip(&values).map(|(a, b)| a * b).sum() };
        for (at, width) in [([2.3, 4.1], 0.8), ([0.1, 6.9], 0.4), ([3.0, 3.5], 2.5)] {
            let one = shape(at, width);
            let cells = cells_of(&one);
            assert_abs_diff_eq!(cells.iter().sum::<f64>(), 1.0, epsilon = 1e-5);
            let terms = contracted(&one, &values, CELLS);
            assert_abs_diff_eq!(terms[0], sum(&cells), epsilon = 1e-9);
            let step = 1e-5;
            for axis in 0..2 {
                let moved = |by: f64| {
                    let mut at = at;
                    at[axis] += by;
                    sum(&cells_of(&shape(at, width)))
                };
                let slope = (moved(step) - moved(-step)) / (2.0 * step);
                assert_abs_diff_eq!(terms[1 + axis], slope, epsilon = 1e-3);
            }
            let wider = |by: f64| sum(&cells_of(&shape(at, width * by.exp())));
            let slope = (wider(step) - wider(-step)) / (2.0 * step);
            assert_abs_diff_eq!(terms[3] + terms[4], slope, epsilon = 1e-3);
            let other = shape([3.1, 2.2], 1.1);
            let of_cells: f64 = cells.iter().zip(cells_of(&other)).map(|(a, b)| a * b).sum();
            let table = products(&one, &other);
            assert_abs_diff_eq!(table[0], of_cells, epsilon = 1e-12);
            let against = contracted(&one, &cells_of(&other), CELLS);
            for (i, term) in against.iter().enumerate() {
                assert_abs_diff_eq!(table[5 * i], term, epsilon = 1e-12);
            }
        }
    }
}

//! Centres that explain a noisy histogram: a mixture of equally wide Gaussian clusters by least squares.
//!
//! k-means on cells that stand out can put two centres into one cluster, or one between two that are faint. Least squares on all cells sees
//! that, because noise in cells far from all clusters does not enter the comparison of two mixtures.

use std::f64::consts::FRAC_1_SQRT_2;

use dp_geometry::FixedPointGrid;

/// A histogram with noise of one size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Noisy<'h> {
    pub(super) grid: &'h FixedPointGrid,
    pub(super) estimates: &'h [f64],
    pub(super) sd: f64,
}

/// Clusters that explain it.
#[derive(Clone, Debug)]
pub(super) struct Mixture {
    /// Row-major.
    pub(super) centres: Vec<f64>,
    /// Clients of each cluster, and the variance of that.
    pub(super) sizes: Vec<f64>,
    pub(super) size_variances: Vec<f64>,
    /// Standard deviation of a cluster along an axis, in cells.
    width: f64,
    /// The shape of each cluster, a number for each cell.
    shapes: Vec<Vec<f64>>,
    /// The sum of squares that is left.
    left: f64,
}

/// Steps of fitting between two tries to move a centre elsewhere.
const STEPS: usize = 6;
/// So many places are tried for a centre before none is moved any more: what is largest may be what Gaussian clusters cannot explain.
const PLACES: usize = 10;
/// No fit with more products than this: it would take longer than the answers.
const MOST: usize = 1 << 29;

impl Noisy<'_> {
    /// The mixture that is found from these centres.
    ///
    /// None if there are so many centres and cells that it would take too long, or if a shape vanishes.
    pub(super) fn fitted(&self, centres: &[f64]) -> Option<Mixture> {
        let axes = self.grid.dim();
        let k = centres.len() / axes;
        if k * k * k * self.estimates.len() > MOST {
            return None;
        }
        let mut best = self.settled(self.mixture(centres.to_vec(), 1.0)?)?;
        // What noise gains by the choice of a place is a few of its variances.
        let gain = 9.0 * self.sd * self.sd;
        for _ in 0..2 * k {
            let better = self.places(&best).into_iter().find_map(|place| {
                let next = self.settled(self.with_one_moved(&best, &place)?)?;
                (next.left < best.left - gain).then_some(next)
            });
            match better {
                Some(next) => best = next,
                None => break,
            }
        }
        Some(best)
    }

    /// The sizes that fit best for these centres, given in coordinates of the grid's box.
    fn mixture(&self, centres: Vec<f64>, width: f64) -> Option<Mixture> {
        let axes = self.grid.dim();
        let shapes: Vec<Vec<f64>> =
            centres.chunks_exact(axes).map(|centre| self.shape(centre, width)).collect();
        let k = shapes.len();
        let mut matrix = vec![0.0; k * k];
        for i in 0..k {
            for j in i..k {
                let product = dot(&shapes[i], &shapes[j]);
                (matrix[i * k + j], matrix[j * k + i]) = (product, product);
            }
            // Centres that coincide share a size.
            matrix[i * k + i] *= 1.0 + 1e-6;
            if matrix[i * k + i] <= 0.0 {
                return None;
            }
        }
        let right: Vec<f64> = shapes.iter().map(|shape| dot(shape, self.estimates)).collect();
        let size_variances = (0..k).map(|i| self.sd * self.sd / matrix[i * k + i]).collect();
        let sizes: Vec<f64> = solved(matrix, right).into_iter().map(|x| x.max(0.0)).collect();
        let mut mixture = Mixture { centres, sizes, size_variances, width, shapes, left: 0.0 };
        mixture.left = self.residual(&mixture).iter().map(|x| x * x).sum();
        Some(mixture)
    }

    /// The share of a cluster that each cell has.
    fn shape(&self, centre: &[f64], width: f64) -> Vec<f64> {
        let cells = self.grid.cells();
        let mut shape = vec![1.0];
        for (axis, &x) in centre.iter().enumerate() {
            let at = self.in_cells(axis, x);
            let below = |edge: u32| 0.5 * libm::erf((f64::from(edge) - at) / width * FRAC_1_SQRT_2);
            let along: Vec<f64> = (0..cells).map(|cell| below(cell + 1) - below(cell)).collect();
            // The first axis varies fastest.
            shape = along.iter().flat_map(|a| shape.iter().map(move |s| a * s)).collect();
        }
        shape
    }

    fn in_cells(&self, axis: usize, x: f64) -> f64 {
        (x - self.grid.public_box().min(axis)) / self.grid.cell_width(axis)
    }

    /// What a mixture leaves unexplained.
    fn residual(&self, mixture: &Mixture) -> Vec<f64> {
        let mut left = self.estimates.to_vec();
        for (shape, size) in mixture.shapes.iter().zip(&mixture.sizes) {
            left.iter_mut().zip(shape).for_each(|(left, share)| *left -= size * share);
        }
        left
    }

    /// Centres and width after some steps of expectation and maximisation. Cells count with their noise, also where that is negative, and
    /// hardly where no cluster is above it, so noise shifts centres and does not draw them anywhere.
    fn settled(&self, mut mixture: Mixture) -> Option<Mixture> {
        let (axes, cells) = (self.grid.dim(), self.grid.cells() as usize);
        for _ in 0..STEPS {
            let mut total = vec![self.sd; self.estimates.len()];
            for (shape, size) in mixture.shapes.iter().zip(&mixture.sizes) {
                total.iter_mut().zip(shape).for_each(|(total, share)| *total += size * share);
            }
            let (mut spread, mut mass) = (0.0, 0.0);
            let mut centres = mixture.centres.clone();
            for (j, (shape, &size)) in mixture.shapes.iter().zip(&mixture.sizes).enumerate() {
                let (mut sum, mut noise) = (0.0, 0.0);
                let (mut first, mut second) = (vec![0.0; axes], vec![0.0; axes]);
                for (cell, ((share, total), x)) in
                    shape.iter().zip(&total).zip(self.estimates).enumerate()
                {
                    let trust = size * share / total;
                    if trust < 1e-3 {
                        continue;
                    }
                    let weight = trust * x;
                    sum += weight;
                    noise += trust * trust;
                    let mut rest = cell;
                    for axis in 0..axes {
                        let at = (rest % cells) as f64 + 0.5;
                        first[axis] += weight * at;
                        second[axis] += weight * at * at;
                        rest /= cells;
                    }
                }
                if sum <= 3.0 * self.sd * noise.sqrt() {
                    continue; // too little to go by
                }
                for axis in 0..axes {
                    let mean = (first[axis] / sum).clamp(0.0, cells as f64);
                    centres[j * axes + axis] = self.grid.coordinate(axis, mean);
                    spread += second[axis] - sum * mean * mean;
                }
                mass += sum * axes as f64;
            }
            let square = if mass > 0.0 { spread / mass - 1.0 / 12.0 } else { 1.0 };
            let widest = 0.25 * cells as f64;
            let width = square.max(0.1).sqrt().clamp(0.3, widest.max(0.3));
            mixture = self.mixture(centres, width)?;
        }
        Some(mixture)
    }

    /// The mixture with the centre that is missed least put elsewhere.
    fn with_one_moved(&self, mixture: &Mixture, place: &[f64]) -> Option<Mixture> {
        let axes = self.grid.dim();
        let moved = |j: usize| {
            let mut centres = mixture.centres.clone();
            centres[j * axes..(j + 1) * axes].copy_from_slice(place);
            self.mixture(centres, mixture.width)
        };
        (0..mixture.sizes.len()).filter_map(moved).min_by(|a, b| a.left.total_cmp(&b.left))
    }

    /// The middles of the cells around which most is unexplained, seen through the width of a cluster; the largest first, and not two of one
    /// neighbourhood.
    fn places(&self, mixture: &Mixture) -> Vec<Vec<f64>> {
        let (left, width) = (self.residual(mixture), mixture.width);
        let (axes, cells) = (self.grid.dim(), self.grid.cells() as usize);
        let kernel: Vec<f64> =
            (0..cells).map(|away| (-0.5 * (away as f64 / width).powi(2)).exp()).collect();
        let (mut smooth, mut stride) = (left, 1);
        // Divided by the root of the sum of squares, also where the kernel is cut off by the edge.
        let norms: Vec<f64> = (0..cells)
            .map(|at| (0..cells).map(|to| kernel[at.abs_diff(to)].powi(2)).sum::<f64>().sqrt())
            .collect();
        for _ in 0..axes {
            let mut next = vec![0.0; smooth.len()];
            for (place, value) in next.iter_mut().enumerate() {
                let at = place / stride % cells;
                let start = place - at * stride;
                let sum: f64 = (0..cells)
                    .map(|to| smooth[start + to * stride] * kernel[at.abs_diff(to)])
                    .sum();
                *value = sum / norms[at];
            }
            smooth = next;
            stride *= cells;
        }
        let place = |mut cell: usize| -> Vec<usize> {
            let along = |_| {
                let at = cell % cells;
                cell /= cells;
                at
            };
            (0..axes).map(along).collect()
        };
        let mut order: Vec<usize> = (0..smooth.len()).collect();
        order.sort_by(|a, b| smooth[*b].total_cmp(&smooth[*a]));
        let mut found: Vec<Vec<usize>> = Vec::new();
        for cell in order {
            let at = place(cell);
            let near = |other: &Vec<usize>| {
                at.iter().zip(other).all(|(a, b)| a.abs_diff(*b) as f64 <= 1.5 * width)
            };
            if !found.iter().any(near) {
                found.push(at);
            }
            if found.len() == PLACES {
                break;
            }
        }
        let middle = |(axis, at): (usize, &usize)| self.grid.coordinate(axis, *at as f64 + 0.5);
        found.iter().map(|at| at.iter().enumerate().map(middle).collect()).collect()
    }
}

impl Mixture {
    /// Mean squared distance of a client from its centre along one axis, in squared cells.
    pub(super) fn squared_width(&self) -> f64 {
        self.width * self.width
    }

    /// Of a coordinate of each centre, by the noise of the cells, in squared cells.
    pub(super) fn centre_variances(&self) -> impl Iterator<Item = f64> {
        let shift = 2.0 * self.width * self.width;
        self.sizes.iter().zip(&self.size_variances).map(move |(size, variance)| {
            // A size that is not known leaves the place unknown by the width of a cluster, and more; and clusters are not Gaussian, which
            // the grid lets through to about a fourteenth of a cell.
            shift * variance / (size * size).max(*variance) + 1.0 / 192.0
        })
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// The solution of a symmetric positive definite system, by elimination; zero where a pivot vanishes.
fn solved(mut matrix: Vec<f64>, mut right: Vec<f64>) -> Vec<f64> {
    let k = right.len();
    for i in 0..k {
        let pivot = matrix[i * k + i];
        if pivot <= f64::MIN_POSITIVE {
            continue;
        }
        for row in i + 1..k {
            let factor = matrix[row * k + i] / pivot;
            for column in i..k {
                matrix[row * k + column] -= factor * matrix[i * k + column];
            }
            right[row] -= factor * right[i];
        }
    }
    for i in (0..k).rev() {
        let known: f64 = (i + 1..k).map(|j| matrix[i * k + j] * right[j]).sum();
        let pivot = matrix[i * k + i];
        right[i] = if pivot <= f64::MIN_POSITIVE { 0.0 } else { (right[i] - known) / pivot };
    }
    right
}

#[cfg(test)]
mod tests {
    use dp_geometry::PublicBox;

    use super::*;

    #[test]
    fn two_centres_in_one_cluster_are_parted() {
        let grid = FixedPointGrid::new(PublicBox::cube(2, 0.0, 10.0).expect("a box"), 10);
        let grid = grid.expect("cells");
        let none = vec![0.0; 100];
        let clean = Noisy { grid: &grid, estimates: &none, sd: 1.0 };
        let mut estimates = none.clone();
        for (centre, size) in [([2.3, 2.6], 300.0), ([7.2, 7.7], 200.0), ([7.0, 2.0], 400.0)] {
            let shape = clean.shape(&centre, 0.8);
            assert!((shape.iter().sum::<f64>() - 1.0).abs() < 0.02);
            estimates.iter_mut().zip(shape).for_each(|(sum, share)| *sum += size * share);
        }
        // Small noise without a pattern.
        let noise = |i: usize| ((i * 7_919 + 13) % 101) as f64 / 50.0 - 1.0;
        estimates.iter_mut().enumerate().for_each(|(i, x)| *x += noise(i));
        let noisy = Noisy { grid: &grid, estimates: &estimates, sd: 0.6 };
        let found = noisy.fitted(&[2.0, 2.0, 3.0, 3.0, 7.0, 5.0]).expect("a fit");
        for centre in [[2.3, 2.6], [7.2, 7.7], [7.0, 2.0]] {
            let near = found
                .centres
                .chunks_exact(2)
                .any(|at| (at[0] - centre[0]).abs() < 0.15 && (at[1] - centre[1]).abs() < 0.15);
            assert!(near, "{:?} misses {centre:?}", found.centres);
        }
    }
}

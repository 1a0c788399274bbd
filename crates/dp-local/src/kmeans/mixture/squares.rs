//! Least squares over places, widths and sizes of clusters (Levenberg, Marquardt).

use super::shape::{self, Axis, Shape};
use super::{Mixture, Noisy};

/// Widths of clusters differ by so much, in the logarithm, unless cells say otherwise: a standard deviation.
const SPREAD_OF_WIDTHS: f64 = 0.5;
/// The smallest width in cells. What is much narrower lies within a cell, where nothing says in which direction to move it; and a cluster
/// that is narrower than its fit gets too many clients, because the fit expects some in cells where there are none.
pub(super) const NARROWEST: f64 = 0.1;
/// A step moves a cluster by no more than so many cells, and a logarithm of a width by no more than half of it.
const LONGEST_STEP: f64 = 1.0;

/// The equations of a step: normal matrix, right side, and what the mixture leaves, in variances of a cell.
struct Equations {
    /// Its lower triangle, row-major.
    matrix: Vec<f64>,
    right: Vec<f64>,
    left: f64,
}

impl Noisy<'_> {
    /// The mixture after at most so many steps.
    pub(super) fn settled(&self, mut mixture: Mixture, steps: usize) -> Mixture {
        let usual = mixture.usual_log_width();
        let mut now = self.equations(&mixture, usual);
        let mut damping = 1e-3;
        for _ in 0..steps {
            let Some(step) = damped(&now, damping) else { break };
            let next = self.stepped(&mixture, &step);
            let then = self.equations(&next, usual);
            if then.left < now.left {
                let small = now.left - then.left < 1e-3;
                (mixture, now) = (next, then);
                damping = (0.2 * damping).max(1e-9);
                if small {
                    break;
                }
            } else {
                damping *= 8.0;
                if damping > 1e8 {
                    break;
                }
            }
        }
        mixture.left = now.left;
        mixture
    }

    /// Puts the variances of places and sizes into a mixture, as far as the noise of cells goes.
    pub(super) fn with_variances(&self, mut mixture: Mixture) -> Mixture {
        let axes = self.axes;
        let equations = self.equations(&mixture, mixture.usual_log_width());
        let factor = certain(&equations);
        let of = |place: usize| variance(factor.as_ref(), equations.right.len(), place);
        for (at, cluster) in mixture.clusters.iter_mut().enumerate() {
            let first = at * (axes + 2);
            // Crowded cells have more noise: that of so many more clients who are sampled.
            let crowd = self.crowding / cluster.size.max(self.crowding);
            let spread = cluster.width().powi(2) + 1.0 / 12.0;
            let places: f64 = (first..first + axes).map(of).sum();
            cluster.place_variance = places / axes as f64 + crowd * spread;
            cluster.size_variance = of(first + axes + 1) + self.crowding * cluster.size;
        }
        mixture.level_variance = of(mixture.clusters.len() * (axes + 2));
        mixture
    }

    fn equations(&self, mixture: &Mixture, usual: f64) -> Equations {
        let (axes, k) = (self.axes, mixture.clusters.len());
        let sizes: Vec<f64> =
            mixture.clusters.iter().map(|one| one.size).chain([mixture.level]).collect();
        let own = axes + 2;
        let all = k * own + 1;
        let first = |at: usize| at * own;
        let count = |at: usize| if at == k { 1 } else { own };
        // From terms of a shape to parameters: places and width change as many cells as there are clients.
        let collapse = |at: usize, terms: &dyn Fn(usize) -> f64| -> Vec<f64> {
            if at == k {
                return vec![terms(0)];
            }
            let size = sizes[at];
            let mut list: Vec<f64> = (1..=axes).map(|term| size * terms(term)).collect();
            list.push(size * (axes + 1..=2 * axes).map(terms).sum::<f64>());
            list.push(terms(0));
            list
        };
        let mut matrix = vec![0.0; all * all];
        let mut right = vec![0.0; all];
        let mut left = 0.0;
        let terms = 2 * axes + 1;
        for view in &self.views {
            let precision = 1.0 / (view.sd * view.sd);
            left += view.squares * precision;
            let level = vec![Axis::level(view.cells); axes];
            let shapes: Vec<Shape> =
                mixture.clusters.iter().map(|one| view.shape(one)).chain([level]).collect();
            for i in 0..=k {
                let seen = shape::contracted(&shapes[i], view.estimates, view.cells);
                left -= 2.0 * sizes[i] * seen[0] * precision;
                for (sum, x) in right[first(i)..].iter_mut().zip(collapse(i, &|term| seen[term])) {
                    *sum += x * precision;
                }
                for j in 0..=i {
                    if !shape::overlap(&shapes[i], &shapes[j]) {
                        continue;
                    }
                    let table = shape::products(&shapes[i], &shapes[j]);
                    let both = if i == j { 1.0 } else { 2.0 };
                    left += both * sizes[i] * sizes[j] * table[0] * precision;
                    // What the mixture itself has there.
                    let explained = collapse(i, &|term| table[term * terms]);
                    for (sum, x) in right[first(i)..].iter_mut().zip(explained) {
                        *sum -= sizes[j] * x * precision;
                    }
                    if i != j {
                        let explained = collapse(j, &|term| table[term]);
                        for (sum, x) in right[first(j)..].iter_mut().zip(explained) {
                            *sum -= sizes[i] * x * precision;
                        }
                    }
                    // The lower triangle is all that is read of the matrix.
                    let rows: Vec<Vec<f64>> = (0..terms)
                        .map(|term| collapse(j, &|other| table[term * terms + other]))
                        .collect();
                    for column in 0..count(j) {
                        let entries = collapse(i, &|term| rows[term][column]);
                        for (row, x) in entries.into_iter().enumerate() {
                            matrix[(first(i) + row) * all + first(j) + column] += x * precision;
                        }
                    }
                }
            }
        }
        let belief = 1.0 / (SPREAD_OF_WIDTHS * SPREAD_OF_WIDTHS);
        for (at, cluster) in mixture.clusters.iter().enumerate() {
            let place = first(at) + axes;
            let off = cluster.log_width - usual;
            matrix[place * all + place] += belief;
            right[place] -= belief * off;
            left += belief * off * off;
        }
        Equations { matrix, right, left }
    }

    /// The mixture with a step added, within what is allowed.
    fn stepped(&self, mixture: &Mixture, step: &[f64]) -> Mixture {
        let (axes, mut next) = (self.axes, mixture.clone());
        let most = self.cells as f64;
        let widest = (0.25 * most).max(NARROWEST);
        for (cluster, step) in next.clusters.iter_mut().zip(step.chunks(axes + 2)) {
            for (x, by) in cluster.at.iter_mut().zip(step) {
                *x = (*x + by.clamp(-LONGEST_STEP, LONGEST_STEP)).clamp(0.0, most);
            }
            let by = step[axes].clamp(-0.5 * LONGEST_STEP, 0.5 * LONGEST_STEP);
            cluster.log_width = (cluster.log_width + by).clamp(NARROWEST.ln(), widest.ln());
            cluster.size = (cluster.size + step[axes + 1]).max(0.0);
        }
        next.level = (next.level + step.last().copied().unwrap_or(0.0)).max(0.0);
        next
    }
}

/// The step of the equations with a damped diagonal; none if they are not positive definite then.
fn damped(equations: &Equations, damping: f64) -> Option<Vec<f64>> {
    let all = equations.right.len();
    let mut matrix = equations.matrix.clone();
    for i in 0..all {
        // A parameter that nothing depends on, such as the place of a cluster without clients, stays.
        matrix[i * all + i] = matrix[i * all + i] * (1.0 + damping) + 1e-12;
    }
    let factor = factored(matrix, all)?;
    Some(solved(&factor, equations.right.clone()))
}

/// The factor of which [`variance`] is read; none if the parameters are not determined.
fn certain(equations: &Equations) -> Option<Vec<f64>> {
    let all = equations.right.len();
    let mut matrix = equations.matrix.clone();
    for i in 0..all {
        matrix[i * all + i] = matrix[i * all + i] * (1.0 + 1e-9) + 1e-12;
    }
    factored(matrix, all)
}

/// The variance of a parameter; infinite without a factor.
fn variance(factor: Option<&Vec<f64>>, all: usize, place: usize) -> f64 {
    let mut unit = vec![0.0; all];
    unit[place] = 1.0;
    factor.map_or(f64::INFINITY, |factor| solved(factor, unit)[place])
}

/// The lower factor of a positive definite matrix (Cholesky).
fn factored(mut matrix: Vec<f64>, all: usize) -> Option<Vec<f64>> {
    for i in 0..all {
        for j in 0..=i {
            let (above, below) = matrix.split_at(i * all);
            let other = if j == i { &below[..j] } else { &above[j * all..j * all + j] };
            let known: f64 = below[..j].iter().zip(other).map(|(x, y)| x * y).sum();
            let rest = below[j] - known;
            matrix[i * all + j] = if i == j {
                if rest <= 0.0 || !rest.is_finite() {
                    return None;
                }
                rest.sqrt()
            } else {
                rest / matrix[j * all + j]
            };
        }
    }
    Some(matrix)
}

fn solved(factor: &[f64], mut right: Vec<f64>) -> Vec<f64> {
    let all = right.len();
    for i in 0..all {
        let known: f64 = (0..i).map(|j| factor[i * all + j] * right[j]).sum();
        right[i] = (right[i] - known) / factor[i * all + i];
    }
    for i in (0..all).rev() {
        let known: f64 = (i + 1..all).map(|j| factor[j * all + i] * right[j]).sum();
        right[i] = (right[i] - known) / factor[i * all + i];
    }
    right
}

//! Seeding, Lloyd and the optimum, written for clarity: all points with all centres, no bounds, no
//! threads.

use dp_geometry::PointsView;
use rand::{RngExt, rngs::ChaCha20Rng};

use crate::nearest::squared_distance;

pub(super) fn assign(points: PointsView<'_>, centres: &[f64]) -> (Vec<usize>, Vec<f64>) {
    points
        .rows()
        .map(|row| {
            let mut best = (0, f64::INFINITY);
            for (j, c) in centres.chunks_exact(points.dim()).enumerate() {
                let squared = squared_distance(row, c);
                if squared < best.1 {
                    best = (j, squared);
                }
            }
            best
        })
        .unzip()
}

/// Lloyd's iteration as in the docs of `lloyd`; centres, cost, updates.
pub(super) fn lloyd(
    points: PointsView<'_>,
    weights: &[f64],
    mut centres: Vec<f64>,
    tolerance: f64,
    max_iterations: usize,
) -> (Vec<f64>, f64, usize) {
    let dim = points.dim();
    let mut previous: Option<(Vec<f64>, f64)> = None;
    for iterations in 0.. {
        let (labels, squared) = assign(points, &centres);
        let cost: f64 = weights.iter().zip(&squared).map(|(w, d)| w * d).sum();
        let mut mass = vec![0.0; centres.len() / dim];
        let mut residual = vec![0.0; centres.len()];
        for (i, row) in points.rows().enumerate() {
            mass[labels[i]] += weights[i];
            for (j, x) in row.iter().enumerate() {
                let at = labels[i] * dim + j;
                residual[at] += weights[i] * (x - centres[at]);
            }
        }
        if let Some((old, old_cost)) = previous {
            if cost > old_cost {
                return (old, old_cost, iterations - 1);
            }
            if old_cost - cost <= tolerance * old_cost && !mass.contains(&0.0) {
                return (centres, cost, iterations);
            }
        }
        if cost == 0.0 || iterations == max_iterations {
            return (centres, cost, iterations);
        }
        previous = Some((centres.clone(), cost));
        let mut far: Vec<usize> = (0..points.len()).collect();
        far.sort_by(|&a, &b| {
            (weights[b] * squared[b]).total_cmp(&(weights[a] * squared[a])).then(a.cmp(&b))
        });
        let mut far = far.into_iter();
        for (c, &mass) in mass.iter().enumerate() {
            let fresh = if mass == 0.0 { far.next() } else { None };
            for j in 0..dim {
                let at = c * dim + j;
                match fresh {
                    Some(i) => centres[at] = points[i][j],
                    None => centres[at] += residual[at] / mass,
                }
            }
        }
    }
    unreachable!("the loop has no other end")
}

/// Greedy seeding by running sums over all points.
pub(super) fn seed(
    points: PointsView<'_>,
    weights: &[f64],
    k: usize,
    trials: usize,
    rng: &mut ChaCha20Rng,
) -> Vec<f64> {
    let draw = |masses: &[f64], rng: &mut ChaCha20Rng| {
        let target = rng.random::<f64>() * masses.iter().sum::<f64>();
        let mut running = 0.0;
        masses
            .iter()
            .position(|mass| {
                running += mass;
                target < running
            })
            .unwrap()
    };
    let mut centres = points[draw(weights, rng)].to_vec();
    for _ in 1..k {
        let (_, squared) = assign(points, &centres);
        let masses: Vec<f64> = weights.iter().zip(&squared).map(|(w, d)| w * d).collect();
        let mut best: Option<(f64, usize)> = None;
        for _ in 0..trials {
            let candidate = draw(&masses, rng);
            let with = [&centres[..], &points[candidate]].concat();
            let (_, squared) = assign(points, &with);
            let cost = weights.iter().zip(&squared).map(|(w, d)| w * d).sum();
            if best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, candidate));
            }
        }
        centres.extend_from_slice(&points[best.unwrap().1]);
    }
    centres
}

/// The least cost of any partition into at most `k` parts, by trying all of them.
pub(super) fn optimum(points: PointsView<'_>, weights: &[f64], k: usize) -> f64 {
    let n = points.len();
    let cost_of = |code: usize| {
        let part = |i: usize| code / k.pow(u32::try_from(i).unwrap()) % k;
        (0..k)
            .map(|c| {
                let members: Vec<usize> = (0..n).filter(|&i| part(i) == c).collect();
                let mass: f64 = members.iter().map(|&i| weights[i]).sum();
                let mean: Vec<f64> = (0..points.dim())
                    .map(|j| members.iter().map(|&i| weights[i] * points[i][j]).sum::<f64>() / mass)
                    .collect();
                members
                    .iter()
                    .map(|&i| weights[i] * squared_distance(&points[i], &mean))
                    .sum::<f64>()
            })
            .sum::<f64>()
    };
    (0..k.pow(u32::try_from(n).unwrap())).map(cost_of).fold(f64::INFINITY, f64::min)
}

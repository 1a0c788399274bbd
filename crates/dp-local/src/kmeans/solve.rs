//! Weighted k-means on points that are public: cells with estimated weights.

use dp_geometry::nearest::squared_distance;

use crate::PublicCoins;
use crate::kmeans::session::nearest;

/// Starts, of which the cheapest is kept.
const STARTS: u64 = 16;
/// Steps of Lloyd at most.
const STEPS: usize = 60;

/// Centres of weighted points, row-major; repeated ones if there are fewer points than centres.
///
/// Greedy k-means++ and Lloyd, and Lloyd from a guess if there is one. Weights are positive, and there is a point.
pub(super) fn centres(
    points: &[f64],
    weights: &[f64],
    (dim, k): (usize, usize),
    guess: Option<&[f64]>,
    coins: PublicCoins,
) -> Vec<f64> {
    let run = |start: Vec<f64>| {
        let mut centres = start;
        let mut cost = f64::INFINITY;
        for _ in 0..STEPS {
            let (next, now) = step(points, weights, dim, &centres);
            let small = now >= cost * (1.0 - 1e-9);
            (centres, cost) = (next, now);
            if small {
                break;
            }
        }
        (centres, cost)
    };
    let seeds = (0..STARTS).map(|start| seeds(points, weights, dim, k, coins.of(start)));
    let starts = guess.map(<[f64]>::to_vec).into_iter().chain(seeds);
    let best = starts.map(run).min_by(|a, b| a.1.total_cmp(&b.1));
    best.expect("there is a start").0
}

/// What weighted points cost with these centres.
pub(super) fn cost(points: &[f64], weights: &[f64], dim: usize, centres: &[f64]) -> f64 {
    step(points, weights, dim, centres).1
}

/// Greedy k-means++: each next centre is the best of a few draws.
fn seeds(points: &[f64], weights: &[f64], dim: usize, k: usize, coins: PublicCoins) -> Vec<f64> {
    let rows: Vec<&[f64]> = points.chunks_exact(dim).collect();
    let mut place = 0;
    let mut draw = |mass: &[f64]| {
        let total: f64 = mass.iter().sum();
        place += 1;
        let mut left = total * (coins.word(place) >> 11) as f64 / 2_f64.powi(53);
        let hit = mass.iter().position(|m| {
            left -= m;
            left < 0.0
        });
        hit.unwrap_or(mass.len() - 1)
    };
    let first = draw(weights);
    let mut centres = rows[first].to_vec();
    let mut apart: Vec<f64> = rows.iter().map(|row| squared_distance(row, rows[first])).collect();
    let trials = 2 + k.ilog2();
    for _ in 1..k {
        let mass: Vec<f64> = apart.iter().zip(weights).map(|(d, w)| d * w).collect();
        let with = |candidate: usize| -> (f64, Vec<f64>) {
            let closer: Vec<f64> = rows
                .iter()
                .zip(&apart)
                .map(|(row, d)| d.min(squared_distance(row, rows[candidate])))
                .collect();
            (closer.iter().zip(weights).map(|(d, w)| d * w).sum(), closer)
        };
        let best = (0..trials)
            .map(|_| {
                let candidate = draw(&mass);
                (candidate, with(candidate))
            })
            .min_by(|a, b| a.1.0.total_cmp(&b.1.0))
            .expect("two trials or more");
        centres.extend_from_slice(rows[best.0]);
        apart = best.1.1;
    }
    centres
}

/// One step of Lloyd, and the cost before it. A centre that nothing is nearest to stays.
fn step(points: &[f64], weights: &[f64], dim: usize, centres: &[f64]) -> (Vec<f64>, f64) {
    let mut sums = vec![0.0; centres.len()];
    let mut masses = vec![0.0; centres.len() / dim];
    let mut cost = 0.0;
    for (row, weight) in points.chunks_exact(dim).zip(weights) {
        let at = nearest(row, centres);
        cost += weight * squared_distance(row, &centres[at * dim..(at + 1) * dim]);
        masses[at] += weight;
        sums[at * dim..(at + 1) * dim].iter_mut().zip(row).for_each(|(s, x)| *s += weight * x);
    }
    let mut next = centres.to_vec();
    for (at, mass) in masses.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
        for j in at * dim..(at + 1) * dim {
            next[j] = sums[j] / mass;
        }
    }
    (next, cost)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heavy_points_are_found_and_few_points_repeat() {
        let points = [0.0, 0.1, 5.0, 5.1, 9.0];
        let weights = [3.0, 1.0, 1.0, 1.0, 0.5];
        let mut found = centres(&points, &weights, (1, 3), None, PublicCoins::new(1));
        found.sort_by(f64::total_cmp);
        let close = found.iter().zip([0.025, 5.05, 9.0]).all(|(a, b)| (a - b).abs() < 1e-9);
        assert!(close, "{found:?}");
        let one = centres(&[2.0, 3.0], &[1.0], (2, 3), None, PublicCoins::new(1));
        assert_eq!(one, [2.0, 3.0].repeat(3));
        // No start is worse than the guess.
        let guess = [0.025, 5.05, 9.0];
        let found = centres(&points, &weights, (1, 3), Some(&guess), PublicCoins::new(1));
        let of = |centres: &[f64]| cost(&points, &weights, 1, centres);
        assert!(of(&found) <= of(&guess) && of(&guess) < of(&[0.0, 0.1, 9.0]));
    }
}

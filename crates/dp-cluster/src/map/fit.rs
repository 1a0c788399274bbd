//! The weights of the finest vertices that explain the noisy sums of all levels best: post-processing.

use serde::{Deserialize, Serialize};

use super::pyramid::Pyramid;
use super::simplex::project;

/// The noisy sums of one level, with what they are worth.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub(super) level: u32,
    /// In records, one per vertex.
    pub(super) sums: Vec<f64>,
    /// One over the variance of their noise.
    pub(super) precision: f64,
}

/// What the fit has found, and how far it can be off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MapFit {
    /// In records, one per vertex of the finest level, at least 0.
    pub weights: Vec<f64>,
    /// Half of the sum over all levels of squared differences from the noisy sums, in variances of their noise.
    pub misfit: f64,
    /// The least possible misfit is at most so much smaller: a certificate.
    pub gap: f64,
    /// Steps taken.
    pub steps: usize,
}

/// The fit ends when its gap is below this share of the number of records.
const GAP_PER_RECORD: f64 = 1e-6;

/// Steps between two looks at the gap.
const LOOK: usize = 10;

/// Least squares over weights of at least zero with this total, by accelerated projected gradients with restarts.
///
/// The gap is `<g, p> - total min g` for the gradient `g` at `p`: the misfit is convex, and its linear approximation at `p` falls by that
/// much at most on all weights of this total (Frank and Wolfe, 1956; Jaggi, ICML 2013).
///
/// # Source
/// Beck and Teboulle (2009); restarts by O'Donoghue and Candes (2015).
pub(super) fn fit(dim: usize, measured: &[Measured], total: f64, most_steps: usize) -> MapFit {
    let mut pyramid = Pyramid::new(dim, measured);
    let vertices = pyramid.vertices();
    let even = total / vertices as f64;
    let mut weights = vec![even; vertices];
    let step = pyramid.steepest().recip();
    let mut ahead = weights.clone();
    let mut gradient = vec![0.0; vertices];
    let mut next = vec![0.0; vertices];
    let (mut momentum, mut threshold) = (1.0_f64, 0.0);
    let mut steps = 0;
    loop {
        if steps % LOOK == 0 || steps == most_steps {
            let misfit = pyramid.gradient(measured, &weights, &mut gradient);
            let least = gradient.iter().fold(f64::INFINITY, |least, g| g.min(least));
            let along: f64 = gradient.iter().zip(&weights).map(|(g, p)| (g - least) * p).sum();
            let gap = along.max(0.0);
            if gap <= GAP_PER_RECORD * total || steps >= most_steps {
                return MapFit { weights, misfit, gap, steps };
            }
        }
        pyramid.gradient(measured, &ahead, &mut gradient);
        for ((next, p), g) in next.iter_mut().zip(&ahead).zip(&gradient) {
            *next = p - step * g;
        }
        threshold = project(&mut next, total, threshold);
        // Momentum that points uphill is dropped.
        let uphill: f64 = (ahead.iter().zip(&next).zip(&weights))
            .map(|((ahead, next), p)| (ahead - next) * (next - p))
            .sum();
        if uphill > 0.0 {
            momentum = 1.0;
        }
        let grown = f64::midpoint(1.0, (1.0 + 4.0 * momentum * momentum).sqrt());
        let carry = (momentum - 1.0) / grown;
        momentum = grown;
        for ((ahead, next), p) in ahead.iter_mut().zip(&next).zip(&weights) {
            *ahead = next + carry * (next - p);
        }
        std::mem::swap(&mut weights, &mut next);
        steps += 1;
    }
}

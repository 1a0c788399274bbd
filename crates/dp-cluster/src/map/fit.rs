//! The weights of the finest vertices that explain the noisy sums of all levels best: post-processing.

use serde::{Deserialize, Serialize};

use super::pyramid::Pyramid;
use super::simplex::project;
use crate::lanes::sum_of;

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
/// The gap: the sums of the finest level are the weights themselves, so that the misfit curves at least as much as that level alone. At every `q` of this
/// total it is at least `misfit(p) + <g, q - p> + precision |q - p|^2 / 2`, whose least value is at the projection of `p - g / precision`. (Its linear
/// part alone, the gap of Frank and Wolfe, takes the worst vertex for all records, and is a thousand times as large when little is left to gain.)
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
    let flattest = measured.last().map_or(1.0, |level| level.precision);
    let mut steps = 0;
    loop {
        if steps % LOOK == 0 || steps == most_steps {
            pyramid.gradient(measured, &weights, &mut gradient);
            for ((next, p), g) in next.iter_mut().zip(&weights).zip(&gradient) {
                *next = p - g / flattest;
            }
            project(&mut next, total, threshold);
            let falls = sum_of([&next, &weights, &gradient], |[q, p, g]| {
                let moved = p - q;
                moved * (g - 0.5 * flattest * moved)
            });
            // What is no number certifies nothing.
            let gap = if falls < 0.0 { 0.0 } else { falls };
            if gap <= GAP_PER_RECORD * total || steps >= most_steps {
                let misfit = pyramid.misfit(measured, &weights);
                return MapFit { weights, misfit, gap, steps };
            }
        }
        pyramid.gradient(measured, &ahead, &mut gradient);
        for ((next, p), g) in next.iter_mut().zip(&ahead).zip(&gradient) {
            *next = p - step * g;
        }
        threshold = project(&mut next, total, threshold);
        // Momentum that points uphill is dropped.
        let uphill =
            sum_of([&ahead, &next, &weights], |[ahead, next, p]| (ahead - next) * (next - p));
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

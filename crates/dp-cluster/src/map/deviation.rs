//! How far noise moves a sum over a released map: post-processing.

use super::fit::Measured;
use super::pyramid::{Pyramid, vertices};
use crate::lanes::sum_of;

/// Conjugate gradients end at this share of the residual that they begin with, or after so many steps.
const RESIDUAL: f64 = 1e-6;
const MOST_STEPS: usize = 200;

/// The deviation of `sum_v function(v) weight(v)` for weights that were fitted to noisy sums.
///
/// The fit is least squares among weights of at least 0. Where a weight is 0, noise that lowers its sums changes nothing, and noise that raises them does
/// only once there is enough of it: of a map that is mostly empty, noise moves much less than its sums. The other weights move as in least squares for them
/// alone: with `A` the shares of their vertices in all sums, and `H = A' diag(precision) A`, they have the covariance `H^-1`. So the variance is
/// `f' H^-1 f`, which takes one system, by conjugate gradients with a pass over the levels each step.
///
/// Weights of 0 that could as well be above it move in truth: where most are 0, the deviation can be twice this. What is beyond doubles is NaN.
///
/// `levels` are the number of each level that was released, the coarsest first, with the variance of the noise of its vertices.
pub(super) fn deviation(
    dim: usize,
    levels: impl Iterator<Item = (u32, f64)>,
    weights: &[f64],
    function: &[f64],
) -> f64 {
    let mut moving = Moving::new(dim, levels, weights);
    let function = moving.of(function);
    dot(&function, &moving.solve(&function)).sqrt()
}

/// The weights that move, and the Hessian of the misfit over them.
struct Moving<'a> {
    weights: &'a [f64],
    pyramid: Pyramid,
    /// Levels whose sums are 0.
    zero: Vec<Measured>,
}

impl<'a> Moving<'a> {
    fn new(dim: usize, levels: impl Iterator<Item = (u32, f64)>, weights: &'a [f64]) -> Self {
        let zero: Vec<Measured> = levels
            .map(|(level, variance)| Measured {
                level,
                sums: vec![0.0; vertices(dim, level)],
                precision: variance.recip(),
            })
            .collect();
        Self { weights, pyramid: Pyramid::new(dim, &zero), zero }
    }

    /// The entries of weights that move, and 0 for the others.
    fn of(&self, all: &[f64]) -> Vec<f64> {
        let entry = |(x, weight): (&f64, &f64)| if *weight > 0.0 { *x } else { 0.0 };
        all.iter().zip(self.weights).map(entry).collect()
    }

    /// `H x`: the gradient at `x` of the misfit from sums of 0.
    fn times(&mut self, x: &[f64]) -> Vec<f64> {
        let mut product = vec![0.0; x.len()];
        self.pyramid.gradient(&self.zero, x, &mut product);
        self.of(&product)
    }

    /// `H^-1 b`, by conjugate gradients.
    fn solve(&mut self, b: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; b.len()];
        let (mut residual, mut direction) = (b.to_vec(), b.to_vec());
        let mut squared = dot(b, b);
        let enough = squared * RESIDUAL * RESIDUAL;
        for _ in 0..MOST_STEPS {
            if squared <= enough {
                break;
            }
            let product = self.times(&direction);
            let step = squared / dot(&direction, &product);
            for (i, x) in x.iter_mut().enumerate() {
                *x += step * direction[i];
                residual[i] -= step * product[i];
            }
            let next = dot(&residual, &residual);
            for (direction, residual) in direction.iter_mut().zip(&residual) {
                *direction = residual + next / squared * *direction;
            }
            squared = next;
        }
        x
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    sum_of([a, b], |[a, b]| a * b)
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;
    use dp_accounting::Budget;
    use dp_geometry::{Points, PublicBox};
    use dp_mechanism::Mechanism;
    use nalgebra::{DMatrix, DVector};

    use super::*;
    use crate::map::{PrivateMap, PrivateMapSettings};
    use crate::testing::rng;

    /// The covariance written out, for weights of which some are 0.
    #[test]
    fn it_is_that_of_least_squares_for_the_weights_that_move() {
        for dim in 1..=2 {
            let levels = [(1, 4.0), (2, 2.0), (3, 9.0)];
            let all = vertices(dim, 3);
            let weights: Vec<f64> = (0..all).map(|i| (i * i % 5) as f64).collect();
            let function: Vec<f64> = (0..all).map(|i| (i * 7 % 11) as f64 - 3.0).collect();
            let mut moving = Moving::new(dim, levels.into_iter(), &weights);
            let places: Vec<usize> = (0..all).filter(|&i| weights[i] > 0.0).collect();
            assert!(places.len() < all && places.len() > all / 2);
            let mut hessian = DMatrix::zeros(places.len(), places.len());
            for (j, &place) in places.iter().enumerate() {
                let mut unit = vec![0.0; all];
                unit[place] = 1.0;
                let column = moving.times(&unit);
                places.iter().enumerate().for_each(|(i, &place)| hessian[(i, j)] = column[place]);
            }
            let f = DVector::from_iterator(places.len(), places.iter().map(|&i| function[i]));
            let inverse = hessian.try_inverse().expect("every vertex has noise of its own");
            let found = deviation(dim, levels.into_iter(), &weights, &function);
            assert_relative_eq!(found, f.dot(&(inverse * &f)).sqrt(), max_relative = 1e-5);
            assert!(deviation(dim, levels.into_iter(), &vec![0.0; all], &function) <= 0.0);
        }
    }

    /// Null hypothesis: the sums of a function over 300 maps of the same records deviate by what maps say. Of 300 their deviation is within 15 % of the
    /// truth with probability `1 - 2e-4`. With records all over the box no weight is 0 and every map says the same; with records at one end most are 0.
    #[test]
    fn sums_of_many_maps_deviate_by_it() {
        let (all_over, said) = deviations(1.0);
        assert!((all_over / said - 1.0).abs() < 0.15, "{all_over}, said {said}");
        let (one_end, said_there) = deviations(0.05);
        assert!(said_there < one_end && one_end < 2.5 * said_there, "{one_end}: {said_there}");
        assert!(one_end < 0.7 * all_over, "{one_end} where most is empty, {all_over} elsewhere");
    }

    /// The deviation of sums, and the median of what maps say.
    fn deviations(spread: f64) -> (f64, f64) {
        let coords = (0..3_000).map(|i| f64::from(i % 97) / 96.0 * spread).collect();
        let points = Points::new(coords, 1).expect("whole rows");
        let side = PublicBox::cube(1, 0.0, 1.0).expect("valid");
        let settings = PrivateMapSettings { levels: Some(2..=6), ..Default::default() };
        let budget = Budget::new(1.0, 1e-6).expect("valid");
        let plan = PrivateMap::add_remove(side, budget, settings).expect("valid");
        let function = |place: &[f64]| (place[0] - 0.3).powi(2);
        let mut random = rng(3);
        let maps = (0..300).map(|_| {
            let map = plan.simulate(points.view(), &mut random).expect("released").output;
            let core = map.coreset();
            let rows = core.points().coords().iter().zip(core.weights());
            let sum: f64 = rows.map(|(x, weight)| weight * function(&[*x])).sum();
            (sum, map.deviation(&plan.levels(), function))
        });
        let (sums, mut said): (Vec<f64>, Vec<f64>) = maps.unzip();
        let mean = sums.iter().sum::<f64>() / 300.0;
        let variance = sums.iter().map(|sum| (sum - mean).powi(2)).sum::<f64>() / 299.0;
        said.sort_by(f64::total_cmp);
        (variance.sqrt(), said[150])
    }
}

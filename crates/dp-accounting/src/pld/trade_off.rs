//! The curve of a composition as a trade-off between the two errors of a test.

use super::bound::Bound;
use super::composition::Composition;
use crate::meaning::share;
use crate::outward::{Between, Lower, Upper, larger};
use crate::params::Epsilon;
use crate::rounding::UNIT;

/// One point of the curve of delta over `y = e^epsilon`.
#[derive(Clone, Copy)]
struct Point {
    y: f64,
    delta: Bound,
}

impl Composition {
    /// The type II error at each of the given type I errors, for the trade-off function that is equivalent to the curve of delta in both
    /// directions: no test between neighbours, either way round, makes fewer errors.
    ///
    /// That is `sup over e >= 0 of max(1 - delta(e) - e^e a, e^-e (1 - delta(e) - a), 0)` at `a`. The lower side, the claim, takes the supremum over the given
    /// epsilons only (0 is always among them). The upper side bounds it in between: delta is convex in `e^e`, so it lies above the
    /// chord of the next two points, drawn on. More epsilons bring the sides together. An error is cut to `[0, 1]`, and one that is NaN counts as 1/2. Relation: as for [`Composition::epsilon`].
    ///
    /// # Source
    /// Wasserman and Zhou (2010); Dong, Roth, Su (2022), Proposition 6.
    pub fn trade_off(&self, epsilons: &[Epsilon], type_one: &[f64]) -> Vec<Bound> {
        let mut epsilons: Vec<Epsilon> = [&[Epsilon::ZERO], epsilons].concat();
        epsilons.sort_unstable_by(|a, b| a.get().total_cmp(&b.get()));
        epsilons.dedup();
        let curve: Vec<Point> = epsilons
            .iter()
            .zip(self.deltas(&epsilons))
            .map(|(epsilon, delta)| Point { y: libm::exp(epsilon.get()), delta })
            .filter(|point| point.y.is_finite())
            .collect();
        type_one
            .iter()
            .map(|a| {
                let a = share(*a);
                let (lower, upper) = (from_below(&curve, a), from_above(&curve, a));
                Bound::proved(Between { lower, upper })
            })
            .collect()
    }
}

fn largest(delta: f64, y: f64, a: f64) -> f64 {
    larger(1.0 - delta - y * a, (1.0 - delta - a) / y)
}

fn from_below(curve: &[Point], a: f64) -> Lower {
    let mut most = Lower::ZERO;
    for point in curve {
        // The terms are at most 1 where they matter.
        most = most.max(Lower::near(largest(point.delta.upper(), point.y, a), 20.0 * UNIT));
    }
    most
}

fn from_above(curve: &[Point], a: f64) -> Upper {
    // Past the last point delta is at least 0, and both terms fall.
    let mut most = curve.last().map_or(1.0, |last| largest(0.0, last.y, a));
    for (i, pair) in curve.windows(2).enumerate() {
        let (here, next) = (pair[0], pair[1]);
        let slope = curve.get(i + 2).map_or(0.0, |after| {
            larger((next.delta.lower() - after.delta.upper()) / (after.y - next.y), 0.0)
        });
        // Over `y`, one term is a line and the other falls or rises throughout: the ends decide.
        let drawn = next.delta.lower() + slope * (next.y - here.y) * (1.0 - 16.0 * UNIT);
        most = larger(most, largest(drawn, here.y, a));
        most = larger(most, largest(next.delta.lower(), next.y, a));
    }
    Upper::near(most, 20.0 * UNIT * larger(most, 1.0)).at_least_0().or(Upper::ONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One point says nothing about the curve past it, which may fall to 0 there at once.
    #[test]
    fn past_the_last_point_delta_may_be_nothing() {
        let delta = Bound::proved(Between { lower: Lower::new(0.3), upper: Upper::new(0.3) });
        let curve = [Point { y: 1.0, delta }];
        for a in [0.0, 0.2, 0.5] {
            let (below, above) = (from_below(&curve, a).get(), from_above(&curve, a).get());
            assert!(above >= 1.0 - a && below <= 0.7 - a, "{a}: {below} {above}");
        }
    }
}

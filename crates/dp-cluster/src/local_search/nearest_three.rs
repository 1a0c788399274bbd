//! Per point the three cheapest centres: enough to price every single and double swap in one pass.

use dp_geometry::PointsView;

use super::Objective;
use crate::kmeans::data::WeightedPoints;
use crate::nearest::squared_distance;

/// A centre (its position among the centres) and what a unit of weight costs there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Server {
    pub(super) centre: usize,
    pub(super) cost: f64,
}

const NOBODY: Server = Server { centre: usize::MAX, cost: f64::INFINITY };

/// The cheapest three servers of every point; missing ones cost infinity.
pub(super) struct NearestThree {
    pub(super) of: Vec<[Server; 3]>,
}

/// The cheapest removal to go with an addition, and the cost of all points afterwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Removal {
    pub(super) centres: [usize; 2],
    pub(super) cost: f64,
}

impl NearestThree {
    pub(super) fn new(
        data: &WeightedPoints<'_>,
        centres: PointsView<'_>,
        objective: Objective,
    ) -> Self {
        let of = data.points().rows().map(|row| {
            let mut three = [NOBODY; 3];
            for (centre, other) in centres.rows().enumerate() {
                let cost = objective.of_squared(squared_distance(row, other));
                if cost < three[2].cost {
                    three[2] = Server { centre, cost };
                    // Ties stay in the order of the centres.
                    if three[2].cost < three[1].cost {
                        three.swap(1, 2);
                    }
                    if three[1].cost < three[0].cost {
                        three.swap(0, 1);
                    }
                }
            }
            three
        });
        Self { of: of.collect() }
    }

    /// The cost of all points.
    pub(super) fn cost(&self, data: &WeightedPoints<'_>) -> f64 {
        self.of.iter().enumerate().map(|(i, three)| data.weight(i) * three[0].cost).sum()
    }

    /// The best single centre of `k` to give up for a new one at these costs per point.
    ///
    /// Whoever is not nearest to the one that leaves only gains; the others go to the new one or to
    /// their second choice.
    pub(super) fn best_removal(
        &self,
        data: &WeightedPoints<'_>,
        k: usize,
        to_new: &[f64],
    ) -> Removal {
        let (mut base, mut loss) = (0.0, vec![0.0; k]);
        for (i, ([first, second, _], &new)) in self.of.iter().zip(to_new).enumerate() {
            let (weight, now) = (data.weight(i), first.cost.min(new));
            base += weight * now;
            loss[first.centre] += weight * (second.cost.min(new) - now);
        }
        let best = (0..k).fold(0, |best, a| if loss[a] < loss[best] { a } else { best });
        Removal { centres: [best; 2], cost: base + loss[best] }
    }

    /// The best two centres of `k >= 2` to give up for two new ones, `to_new` being the cheaper of
    /// both for each point.
    pub(super) fn best_double_removal(
        &self,
        data: &WeightedPoints<'_>,
        k: usize,
        to_new: &[f64],
    ) -> Removal {
        let (mut base, mut loss, mut pair) = (0.0, vec![0.0; k], vec![0.0; k * k]);
        for (i, ([first, second, third], &new)) in self.of.iter().zip(to_new).enumerate() {
            let (weight, now) = (data.weight(i), first.cost.min(new));
            base += weight * now;
            let alone = second.cost.min(new);
            loss[first.centre] += weight * (alone - now);
            let (a, b) = (first.centre.min(second.centre), first.centre.max(second.centre));
            pair[a * k + b] += weight * (third.cost.min(new) - alone);
        }
        let mut best = Removal { centres: [0, 1], cost: f64::INFINITY };
        for a in 0..k {
            for b in a + 1..k {
                let cost = base + loss[a] + loss[b] + pair[a * k + b];
                if cost < best.cost {
                    best = Removal { centres: [a, b], cost };
                }
            }
        }
        best
    }
}

//! Per point the three cheapest centres: enough to price every single and double swap in one pass.

use dp_geometry::PointsView;

use super::Objective;
use crate::kmeans::data::WeightedPoints;
use crate::nearest::{CentreTable, NearestCentre};

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
    /// What a unit of weight of each point costs at its second server: a list of its own, since a try at a swap looks at this first.
    second: Vec<f64>,
    /// The cost of all points,
    cost: f64,
    /// and what would come to it for each centre that leaves, if no new one came.
    loss: Vec<f64>,
}

/// The cheapest removal to go with an addition, and the cost of all points afterwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Removal {
    pub(super) centres: [usize; 2],
    pub(super) cost: f64,
}

/// All centres, and room for the distances of a point to them.
struct Servers {
    table: CentreTable,
    squares: Vec<f64>,
    objective: Objective,
}

impl Servers {
    fn new(centres: PointsView<'_>, objective: Objective) -> Self {
        let table = CentreTable::new(centres);
        Self { squares: vec![0.0; table.padded_len()], table, objective }
    }

    fn three_of(&mut self, row: &[f64]) -> [Server; 3] {
        self.table.distances([row], &mut self.squares);
        let mut three = [NOBODY; 3];
        let centres = self.table.len();
        for (first, squares) in (0..).step_by(BLOCK).zip(self.squares[..centres].chunks(BLOCK)) {
            let cost = |squared: &f64| self.objective.of_squared(*squared);
            // All of them, so that they are compared at once.
            let cheaper = squares.iter().filter(|squared| cost(squared) <= three[2].cost).count();
            if cheaper > 0 {
                for (centre, cost) in (first..).zip(squares.iter().map(cost)) {
                    see(&mut three, Server { centre, cost });
                }
            }
        }
        three
    }
}

/// Centres that are compared with the third at once.
const BLOCK: usize = 8;

/// Puts a server among the three if it is cheaper than one of them, or as cheap and earlier among the centres.
#[inline]
fn see(three: &mut [Server; 3], server: Server) {
    let before = |a: Server, b: Server| {
        a.cost < b.cost || (a.cost <= b.cost && a.cost < f64::INFINITY && a.centre < b.centre)
    };
    if before(server, three[2]) {
        three[2] = server;
        if before(three[2], three[1]) {
            three.swap(1, 2);
        }
        if before(three[1], three[0]) {
            three.swap(0, 1);
        }
    }
}

impl NearestThree {
    /// Of no point.
    pub(super) fn nobody() -> Self {
        Self { of: Vec::new(), second: Vec::new(), cost: 0.0, loss: Vec::new() }
    }

    pub(super) fn new(
        data: &WeightedPoints<'_>,
        centres: PointsView<'_>,
        objective: Objective,
    ) -> Self {
        let mut servers = Servers::new(centres, objective);
        let of = data.points().rows().map(|row| servers.three_of(row)).collect();
        let mut nearest = Self { of, ..Self::nobody() };
        nearest.add_up(data, centres.len());
        nearest
    }

    /// What follows from the servers of `k` centres.
    fn add_up(&mut self, data: &WeightedPoints<'_>, k: usize) {
        self.second.clear();
        self.second.extend(self.of.iter().map(|three| three[1].cost));
        self.cost = 0.0;
        self.loss.clear();
        self.loss.resize(k, 0.0);
        for (i, [first, second, _]) in self.of.iter().enumerate() {
            let weight = data.weight(i);
            self.cost += weight * first.cost;
            if let Some(loss) = self.loss.get_mut(first.centre) {
                *loss += weight * (second.cost - first.cost);
            }
        }
    }

    /// After centre `replaced` has moved, to where points cost `to_new`: the same as [`new`](Self::new) for the centres as they are now.
    ///
    /// Only points that had it among their three look at all centres again: three of `k`, where clusters are of like size.
    pub(super) fn replace(
        &mut self,
        data: &WeightedPoints<'_>,
        centres: PointsView<'_>,
        objective: Objective,
        (replaced, to_new): (usize, &[f64]),
    ) {
        let mut servers = None;
        for ((three, row), &cost) in self.of.iter_mut().zip(data.points().rows()).zip(to_new) {
            if three.iter().any(|server| server.centre == replaced) {
                let servers = servers.get_or_insert_with(|| Servers::new(centres, objective));
                *three = servers.three_of(row);
            } else {
                see(three, Server { centre: replaced, cost });
            }
        }
        self.add_up(data, centres.len());
    }

    /// The cost of all points.
    pub(super) fn cost(&self) -> f64 {
        self.cost
    }

    /// The cost of a point.
    pub(super) fn cost_of(&self, data: &WeightedPoints<'_>, point: usize) -> f64 {
        data.weight(point) * self.of[point][0].cost
    }

    /// Whether one of the centres may be given up for a new one at these costs per point, and all points cost at most so much then. If it says no, they
    /// cost more by [`best_removal`](Self::best_removal) too, which looks at every point.
    ///
    /// A point that would rather go to its second server than to the new one costs, and would lose, what it does anyway. Few are nearer to the new one.
    pub(super) fn may_cost(&self, data: &WeightedPoints<'_>, to_new: &[f64], most: f64) -> bool {
        let (mut gain, mut loss) = (0.0, self.loss.clone());
        let blocks = self.second.chunks(BLOCK).zip(to_new.chunks(BLOCK));
        for (start, (second, new)) in (0..).step_by(BLOCK).zip(blocks) {
            // All of them, so that they are compared at once.
            let near = new.iter().zip(second).filter(|(new, second)| new < second).count();
            if near == 0 {
                continue;
            }
            for (i, &new) in (start..).zip(new) {
                let [first, second, _] = self.of[i];
                if new < second.cost {
                    let weight = data.weight(i);
                    gain += weight * (first.cost - new).max(0.0);
                    loss[first.centre] -= weight * (second.cost - new.max(first.cost));
                }
            }
        }
        // Sums of so many numbers are right up to this share of the sum of their magnitudes, twice over.
        let rounding = 8.0 * (self.of.len() + 8) as f64 * f64::EPSILON;
        let surely_costs_more = |(after, before): (&f64, &f64)| {
            self.cost - gain + after - most > rounding * (self.cost + before + most)
        };
        // Of a single centre the loss is infinite, or no number: then it may.
        !loss.iter().zip(&self.loss).all(surely_costs_more)
    }

    /// The best single centre to give up for a new one at these costs per point.
    ///
    /// Whoever is not nearest to the one that leaves only gains; the others go to the new one or to
    /// their second choice.
    pub(super) fn best_removal(&self, data: &WeightedPoints<'_>, to_new: &[f64]) -> Removal {
        let k = self.loss.len();
        let (mut base, mut loss) = (0.0, vec![0.0; k]);
        for (i, ([first, second, _], &new)) in self.of.iter().zip(to_new).enumerate() {
            let (weight, now) = (data.weight(i), first.cost.min(new));
            base += weight * now;
            loss[first.centre] += weight * (second.cost.min(new) - now);
        }
        let best = (0..k).fold(0, |best, a| if loss[a] < loss[best] { a } else { best });
        Removal { centres: [best; 2], cost: base + loss[best] }
    }

    /// The best two centres, of at least two, to give up for two new ones, `to_new` being the cheaper of
    /// both for each point.
    pub(super) fn best_double_removal(&self, data: &WeightedPoints<'_>, to_new: &[f64]) -> Removal {
        let k = self.loss.len();
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

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
    pub(super) fn new(
        data: &WeightedPoints<'_>,
        centres: PointsView<'_>,
        objective: Objective,
    ) -> Self {
        let mut servers = Servers::new(centres, objective);
        Self { of: data.points().rows().map(|row| servers.three_of(row)).collect() }
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
    }

    /// The cost of all points.
    pub(super) fn cost(&self, data: &WeightedPoints<'_>) -> f64 {
        self.of.iter().enumerate().map(|(i, three)| data.weight(i) * three[0].cost).sum()
    }

    /// The cost of each point.
    pub(super) fn costs(&self, data: &WeightedPoints<'_>) -> Vec<f64> {
        self.of.iter().enumerate().map(|(i, three)| data.weight(i) * three[0].cost).collect()
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

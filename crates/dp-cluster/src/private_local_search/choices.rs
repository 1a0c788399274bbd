//! The calibrated choices: swaps, then one of all sets seen.

use dp_accounting::{Epsilon, Loss, Rho, Step};
use dp_geometry::{Points, PointsView, PublicBox};
use dp_mechanism::{Draws, ExponentialMechanism, Private};

use super::costs::{Table, UNITS};
use crate::ClusterError;
use crate::kmeans::KMeans;
use crate::local_search::Objective;
use crate::nearest::squared_distance;

/// What choices may cost: pure, or as zCDP, of which `eta`-bounded range costs `eta^2 / 8`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Spending {
    Pure(Epsilon),
    Zcdp(Rho),
}

/// A checked and calibrated sequence of choices, without the candidates.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SwapPlan {
    public_box: PublicBox,
    objective: Objective,
    k: usize,
    rounds: usize,
    choice: ExponentialMechanism,
}

const STEP: &str = "local search";
const SWAP: &str = "swap";
const BEST: &str = "one of all sets";

impl SwapPlan {
    pub(crate) const MAX_ROUNDS: usize = 100_000;

    pub(crate) fn new(
        public_box: PublicBox,
        objective: Objective,
        k: usize,
        rounds: usize,
        spending: Spending,
    ) -> Result<Self, ClusterError> {
        if !(1..=KMeans::MAX_CLUSTERS).contains(&k) {
            return Err(ClusterError::ClusterCount { got: k });
        }
        let refuse = |name, got: f64, want| Err(ClusterError::Setting { name, got, want });
        if !(1..=Self::MAX_ROUNDS).contains(&rounds) {
            return refuse("rounds", rounds as f64, "between 1 and 100000");
        }
        let diagonal = public_box.diagonal();
        if !(1e-75..=1e75).contains(&diagonal) {
            let want = "between 1e-75 and 1e75";
            return refuse("diagonal of the public box", diagonal, want);
        }
        let shares = vec![1.0; rounds + 1];
        let eta = match spending {
            Spending::Pure(epsilon) => epsilon.split(&shares)?[0],
            Spending::Zcdp(rho) => {
                let each = rho.split(&shares)?[0];
                // The last digits are for the rounding of the square.
                Epsilon::new((8.0 * each.get()).sqrt() * (1.0 - 1e-12))?
            }
        };
        // Costs move by 0 to UNITS with one record: that is their range.
        let choice = ExponentialMechanism::by_range(eta, UNITS.unsigned_abs().into())?;
        Ok(Self { public_box, objective, k, rounds, choice })
    }

    /// The itemised cost.
    pub(crate) fn spent(&self) -> Step {
        let loss: Loss = self.choice.loss();
        let swaps = (0..self.rounds).map(|_| Step::spend(SWAP, loss));
        Step::sequential(STEP, swaps.chain([Step::spend(BEST, loss)]).collect())
    }

    /// The cost above the best, of any set, that a choice among so many stays below except with probability `beta`: in units of the
    /// records' coordinates, squared for squares.
    pub(crate) fn forecast(&self, candidates: usize, beta: f64) -> f64 {
        let most = self.objective.of_squared(self.public_box.diagonal().powi(2));
        let Loss::BoundedRange { eta } = self.choice.loss() else { return f64::INFINITY };
        if beta.is_nan() || beta <= 0.0 {
            return f64::INFINITY;
        }
        let choices = (self.k * candidates).max(self.rounds + 1) as f64;
        most / eta.get() * (choices / beta).ln().max(0.0)
    }

    /// `k` of the candidates, or all of them if there are no more; `start` says where to begin.
    pub(crate) fn run(
        &self,
        points: Private<PointsView<'_>>,
        candidates: PointsView<'_>,
        start: Vec<usize>,
        draws: &mut Draws<'_>,
    ) -> Points {
        let dim = candidates.dim();
        let chosen = self.choose(points, candidates, start, draws);
        let rows = chosen.iter().flat_map(|&i| candidates[i].iter().enumerate());
        let rows = rows.map(|(i, &x)| self.public_box.clip_coordinate(i, x)).collect();
        Points::new(rows, dim).expect("whole rows")
    }

    fn choose(
        &self,
        points: Private<PointsView<'_>>,
        candidates: PointsView<'_>,
        start: Vec<usize>,
        draws: &mut Draws<'_>,
    ) -> Vec<usize> {
        // How many candidates there are is public.
        if candidates.len() <= self.k {
            return (0..candidates.len()).collect();
        }
        let draws = &mut draws.within(STEP);
        let table = Table::new(self.public_box.clone(), self.objective, candidates);
        let mut chosen = start;
        let mut sets = vec![chosen.clone()];
        let mut costs = points.map(|_| Vec::new());
        for round in 0..self.rounds {
            let swaps = points.map(|points| {
                table.swaps(points, &chosen).into_iter().map(|cost| -cost).collect::<Vec<_>>()
            });
            let swaps = swaps.cells(chosen.len() * table.len());
            if round == 0 {
                // No swap: the first centre for itself.
                costs = add(costs, swaps.at(chosen[0]).map(|score| *score));
            }
            let swap = self.choice.release(&swaps, &mut draws.leaf(SWAP, round));
            let swap = swap.expect("more than k candidates");
            chosen[swap / table.len()] = swap % table.len();
            sets.push(chosen.clone());
            costs = add(costs, swaps.at(swap).map(|score| *score));
        }
        let best = self.choice.release(&costs.cells(sets.len()), &mut draws.leaf(BEST, 0));
        sets.swap_remove(best.expect("the start is one"))
    }
}

fn add(list: Private<Vec<i64>>, one: Private<i64>) -> Private<Vec<i64>> {
    list.zip(one).map(|(mut list, one)| {
        list.push(one);
        list
    })
}

/// So many of the candidates, each as far as possible from those before; the first is nearest to the middle of the box.
pub(crate) fn farthest_first(
    candidates: PointsView<'_>,
    public_box: &PublicBox,
    k: usize,
) -> Vec<usize> {
    let middle: Vec<f64> = (0..public_box.dim()).map(|i| public_box.middle(i)).collect();
    let to_middle: Vec<f64> =
        candidates.rows().map(|row| -squared_distance(row, &middle)).collect();
    let farthest =
        |from: &[f64]| (0..from.len()).max_by(|&a, &b| from[a].total_cmp(&from[b]).then(b.cmp(&a)));
    let mut chosen: Vec<usize> = farthest(&to_middle).into_iter().collect();
    let mut distances = vec![f64::INFINITY; candidates.len()];
    while !chosen.is_empty() && chosen.len() < k.min(candidates.len()) {
        let last = &candidates[chosen[chosen.len() - 1]];
        for (distance, row) in distances.iter_mut().zip(candidates.rows()) {
            *distance = distance.min(squared_distance(row, last));
        }
        for &taken in &chosen {
            distances[taken] = -1.0;
        }
        chosen.extend(farthest(&distances));
    }
    chosen
}

//! Swaps until none helps enough.

use dp_geometry::{Points, PointsView};
use rand::Rng;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use super::nearest_three::{NearestThree, Removal};
use super::{LocalSearch, Objective};
use crate::ClusterError;
use crate::coreset::PrivateCoreset;
use crate::kmeans::MAX_MAGNITUDE;
use crate::kmeans::data::WeightedPoints;
use crate::kmeans::draw;
use crate::nearest::squared_distance;

/// What [`LocalSearch::exact_fit`] found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LocalSearchFit {
    /// The chosen candidates, in the order of `chosen`.
    pub centres: Points,
    /// Their positions among the candidates, ascending: `k`, or all if there are no more.
    pub chosen: Vec<usize>,
    /// The objective.
    pub cost: f64,
    /// Swaps that were made.
    pub swaps: usize,
    /// Why it stopped.
    pub stop: SearchStop,
}

/// Why a search stopped. None of these is an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SearchStop {
    /// No swap lowers the cost by the tolerance.
    LocalOptimum,
    /// The limit on swaps came first.
    SwapLimit,
    /// There are no more candidates than centres wanted, and they were all taken.
    FewCandidates,
}

impl LocalSearch {
    /// [`exact_fit`](Self::exact_fit) on what has been released: post-processing, free of charge if
    /// the candidates are public or released too.
    ///
    /// # Errors
    /// As [`exact_fit`](Self::exact_fit), about the candidates.
    pub fn post_fit(
        &self,
        coreset: &PrivateCoreset,
        candidates: PointsView<'_>,
        rng: &mut (impl Rng + ?Sized),
    ) -> Result<LocalSearchFit, ClusterError> {
        self.exact_fit(coreset.points(), Some(coreset.weights()), candidates, rng)
    }

    /// Chooses `k` of the candidates by swaps, from a start drawn like k-means++.
    ///
    /// **Not private.** Give it a private release, or data that needs no protection.
    ///
    /// # Shapes
    /// `points` is `(n_points, dim)`, `candidates` `(n_candidates, dim)`; `weights`, if given,
    /// `(n_points,)`.
    ///
    /// # Complexity
    /// `O(n_points (dim + 1))` per candidate and pass and `O(n_points k dim)` per swap; a pass of
    /// double swaps takes `O(n_points + k^2)` per pair of candidates.
    ///
    /// # Errors
    /// [`ClusterError::WeightsLength`], [`ClusterError::Weight`], [`ClusterError::Coordinate`], and
    /// [`ClusterError::Dimension`] if candidates and points differ in dimension.
    pub fn exact_fit(
        &self,
        points: PointsView<'_>,
        weights: Option<&[f64]>,
        candidates: PointsView<'_>,
        rng: &mut (impl Rng + ?Sized),
    ) -> Result<LocalSearchFit, ClusterError> {
        let data = WeightedPoints::new(points, weights)?;
        if candidates.dim() != points.dim() {
            let (expected, got) = (candidates.dim(), points.dim());
            return Err(ClusterError::Dimension { expected, got });
        }
        if !candidates.coords().iter().all(|x| x.abs() <= MAX_MAGNITUDE) {
            return Err(ClusterError::Coordinate);
        }
        let mut search = Search::new(&data, candidates, self.asked.objective);
        if candidates.len() <= self.asked.k {
            search.take((0..candidates.len()).collect());
            return Ok(search.finish(0, SearchStop::FewCandidates));
        }
        search.start(self.asked.k, rng);
        let enough = 1.0 - self.asked.settings.tolerance / self.asked.k as f64;
        let doubles = self.asked.settings.double_swaps
            && self.asked.k >= 2
            && candidates.len() <= Self::MAX_DOUBLE_CANDIDATES;
        let mut swaps = 0;
        loop {
            // Zero cannot be improved, and it would be "improved" for ever.
            if search.cost == 0.0 {
                return Ok(search.finish(swaps, SearchStop::LocalOptimum));
            }
            let wanted = enough * search.cost;
            let better = search.single_swap(wanted, rng);
            let better = better.or_else(|| doubles.then(|| search.double_swap(wanted))?);
            let Some(chosen) = better else {
                return Ok(search.finish(swaps, SearchStop::LocalOptimum));
            };
            if swaps == self.asked.settings.max_swaps {
                return Ok(search.finish(swaps, SearchStop::SwapLimit));
            }
            search.take(chosen);
            swaps += 1;
        }
    }
}

struct Search<'a> {
    data: &'a WeightedPoints<'a>,
    candidates: PointsView<'a>,
    objective: Objective,
    chosen: Vec<usize>,
    nearest: NearestThree,
    cost: f64,
}

impl<'a> Search<'a> {
    fn new(data: &'a WeightedPoints<'a>, candidates: PointsView<'a>, objective: Objective) -> Self {
        let nearest = NearestThree::nobody();
        Self { data, candidates, objective, chosen: Vec::new(), nearest, cost: 0.0 }
    }

    fn centres(&self) -> Points {
        let rows = self.chosen.iter().flat_map(|&c| &self.candidates[c]).copied().collect();
        Points::new(rows, self.candidates.dim()).expect("whole rows")
    }

    fn take(&mut self, chosen: Vec<usize>) {
        self.chosen = chosen;
        self.nearest = NearestThree::new(self.data, self.centres().view(), self.objective);
        // Without any candidate there is no centre to pay for.
        self.cost = if self.chosen.is_empty() { 0.0 } else { self.nearest.cost() };
    }

    /// What a unit of weight costs at candidate `c`, for every point.
    fn costs_at(&self, c: usize) -> Vec<f64> {
        let row = &self.candidates[c];
        let cost = |point| self.objective.of_squared(squared_distance(point, row));
        self.data.points().rows().map(cost).collect()
    }

    /// A start of `k` candidates: the nearest one, not yet taken, to a point that is drawn with
    /// probability proportional to its present cost.
    fn start(&mut self, k: usize, rng: &mut (impl Rng + ?Sized)) {
        let n = self.data.points().len();
        let mut cost = vec![1.0; n];
        let mut chosen: Vec<usize> = Vec::with_capacity(k);
        for step in 0..k {
            let mass: Vec<f64> = (0..n).map(|i| self.data.weight(i) * cost[i]).collect();
            let points = self.data.points();
            let target = draw(&mass, 1, mass.len(), |i| mass[i], rng).map(|i| &points[i]);
            let free = (0..self.candidates.len()).filter(|c| !chosen.contains(c));
            // Without mass, any candidate will do.
            let far = |c: usize| target.map_or(0.0, |x| squared_distance(x, &self.candidates[c]));
            let next = free.map(|c| (far(c), c)).min_by(|a, b| a.0.total_cmp(&b.0));
            let next = next.expect("there are more candidates than centres").1;
            for (cost, new) in cost.iter_mut().zip(self.costs_at(next)) {
                *cost = if step == 0 { new } else { cost.min(new) };
            }
            chosen.push(next);
        }
        chosen.sort_unstable();
        self.take(chosen);
    }

    /// The first candidate, in random order, that lowers the cost to `wanted` with the best removal.
    fn single_swap(&self, wanted: f64, rng: &mut (impl Rng + ?Sized)) -> Option<Vec<usize>> {
        let free = |c: &usize| self.chosen.binary_search(c).is_err();
        let mut order: Vec<usize> = (0..self.candidates.len()).filter(free).collect();
        order.shuffle(rng);
        order.into_iter().find_map(|c| {
            let to_new = self.costs_at(c);
            if !self.nearest.may_cost(self.data, &to_new, wanted) {
                return None;
            }
            let removal = self.nearest.best_removal(self.data, &to_new);
            (removal.cost <= wanted).then(|| self.swapped(removal, &[c]))
        })
    }

    /// The first pair of candidates that lowers the cost to `wanted`.
    fn double_swap(&self, wanted: f64) -> Option<Vec<usize>> {
        let free = |c: &usize| self.chosen.binary_search(c).is_err();
        let order: Vec<usize> = (0..self.candidates.len()).filter(free).collect();
        let costs: Vec<Vec<f64>> = order.iter().map(|&c| self.costs_at(c)).collect();
        (0..order.len()).flat_map(|b| (0..b).map(move |a| (a, b))).find_map(|(a, b)| {
            let cheaper: Vec<f64> =
                costs[a].iter().zip(&costs[b]).map(|(x, y)| x.min(*y)).collect();
            let removal = self.nearest.best_double_removal(self.data, &cheaper);
            (removal.cost <= wanted).then(|| self.swapped(removal, &[order[a], order[b]]))
        })
    }

    fn swapped(&self, removal: Removal, added: &[usize]) -> Vec<usize> {
        let kept = |position: &usize| !removal.centres.contains(position);
        let kept = (0..self.chosen.len()).filter(kept).map(|position| self.chosen[position]);
        let mut chosen: Vec<usize> = kept.chain(added.iter().copied()).collect();
        chosen.sort_unstable();
        chosen
    }

    fn finish(self, swaps: usize, stop: SearchStop) -> LocalSearchFit {
        LocalSearchFit {
            centres: self.centres(),
            chosen: self.chosen,
            cost: self.cost,
            swaps,
            stop,
        }
    }
}

//! Clusters that explain a noisy histogram: Gaussian ones of any place, width and size, and a level, by least squares.
//!
//! k-means on cells that stand out can put two centres into one cluster, or one between two that are faint. Least squares on all cells sees
//! that, because noise in cells far from all clusters does not enter the comparison of two mixtures; and it finds places to a fraction of
//! a cell. A cluster is added where most is left unexplained, all are fitted together, and each in turn is tried elsewhere.

mod places;
mod shape;
mod squares;

use rayon::prelude::*;
use shape::{Axis, Shape};

/// A noisy histogram of shares. Lengths are in cells, places from the lower end of the box.
#[derive(Clone, Debug)]
pub(super) struct View<'h> {
    /// Along each axis.
    cells: usize,
    /// By so much the grid begins below the box.
    shift: f64,
    /// The first axis fastest.
    estimates: &'h [f64],
    /// The sum of their squares.
    squares: f64,
    /// Of an empty cell.
    sd: f64,
}

/// Histograms of clients of one kind, each by a grid of its own.
#[derive(Clone, Debug)]
pub(super) struct Noisy<'h> {
    /// That the box has along each axis.
    cells: usize,
    axes: usize,
    views: Vec<View<'h>>,
    /// What all clients, were they in one cell, would add to its variance.
    crowding: f64,
}

/// One cluster.
#[derive(Clone, Debug)]
pub(super) struct Cluster {
    /// Its middle.
    pub(super) at: Vec<f64>,
    log_width: f64,
    /// The share of the clients.
    pub(super) size: f64,
    /// Of each coordinate, by noise.
    pub(super) place_variance: f64,
    pub(super) size_variance: f64,
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Mixture {
    pub(super) clusters: Vec<Cluster>,
    /// The share of each cell that is of no cluster.
    pub(super) level: f64,
    level_variance: f64,
    /// The sum of squares that is left, in variances of a cell.
    left: f64,
}

/// Steps of fitting after a change, and at the end.
const STEPS: usize = 12;
const LAST_STEPS: usize = 60;
/// A cluster in another place must explain so much more, in variances of a cell.
const GAIN: f64 = 2.0;
/// Deviations of noise below which a cluster is none. One that is not clear is kept: there is no better guess.
const FAINT: f64 = 1.0;
/// Deviations below which there is no level.
const FLAT: f64 = 5.0;
/// So many clusters are tried elsewhere at a time, and so many times: all of few.
const MOST_TRIED: usize = 8;
/// Deviations of noise above which there are more clusters than were asked for.
const CLEAR: f64 = 5.0;
/// So many clusters may be needed to explain a group that is not Gaussian before a smaller one is what stands out most.
const MOST_PIECES: usize = 32;
/// No fit has more parameters: it would take longer than the answers.
const MOST_PARAMETERS: usize = 300;

impl<'h> View<'h> {
    /// A histogram whose empty cells have noise of this size.
    pub(super) fn new(cells: usize, shift: f64, estimates: &'h [f64], sd: f64) -> Self {
        let squares = estimates.iter().map(|x| x * x).sum();
        Self { cells, shift, estimates, squares, sd }
    }

    fn shape(&self, cluster: &Cluster) -> Shape {
        let axis = |at: &f64| Axis::new(self.cells, at + self.shift, cluster.width());
        cluster.at.iter().map(axis).collect()
    }

    /// What a mixture leaves of the histogram.
    fn residual(&self, mixture: &Mixture) -> Vec<f64> {
        let mut left: Vec<f64> = self.estimates.iter().map(|x| x - mixture.level).collect();
        for cluster in &mixture.clusters {
            shape::add(&self.shape(cluster), -cluster.size, &mut left, self.cells);
        }
        left
    }
}

impl<'h> Noisy<'h> {
    pub(super) fn new(cells: usize, axes: usize, views: Vec<View<'h>>, crowding: f64) -> Self {
        Self { cells, axes, views, crowding }
    }

    /// The clusters that are seen: `k` if as many stand out at all, and more that do clearly.
    pub(super) fn explained(&self, k: usize) -> Mixture {
        let most = MOST_PARAMETERS / (self.axes + 2);
        let mut best = self.settled(Mixture::default(), STEPS);
        while best.clusters.len() < k.min(most) {
            match self.with_one_more(&best) {
                Some(next) => best = next,
                None => break,
            }
        }
        best = self.improved(best);
        while best.clusters.len() < (4 * k).max(MOST_PIECES).min(most) {
            let clear = self.best_place(&best).filter(|(_, score)| *score > CLEAR);
            match clear {
                Some((cluster, _)) => best = self.settled(best.with(cluster), STEPS),
                None => break,
            }
        }
        self.without_faint(best)
    }

    fn with_one_more(&self, mixture: &Mixture) -> Option<Mixture> {
        let (cluster, _) = self.best_place(mixture)?;
        Some(self.settled(mixture.with(cluster), STEPS))
    }

    /// Tries clusters elsewhere, those first that explain least, as long as that explains more.
    fn improved(&self, mut best: Mixture) -> Mixture {
        let most = best.clusters.len().min(MOST_TRIED);
        for _ in 0..most {
            best = self.with_variances(best);
            let mut order: Vec<usize> = (0..best.clusters.len()).collect();
            order.sort_by(|a, b| best.clusters[*a].score().total_cmp(&best.clusters[*b].score()));
            let tried: Vec<Mixture> = order[..most]
                .into_par_iter()
                .copied()
                .filter_map(|at| {
                    let without = self.settled(best.without(at), STEPS);
                    self.with_one_more(&without)
                })
                .collect();
            let next = tried.into_iter().min_by(|a, b| a.left.total_cmp(&b.left));
            match next {
                Some(next) if next.left < best.left - GAIN => best = next,
                _ => break,
            }
        }
        best
    }

    /// The mixture of what is more than noise.
    fn without_faint(&self, mixture: Mixture) -> Mixture {
        let mut best = self.with_variances(self.settled(mixture, LAST_STEPS));
        loop {
            let score = |at: &usize| best.clusters[*at].score();
            let faintest = (0..best.clusters.len()).min_by(|a, b| score(a).total_cmp(&score(b)));
            match faintest {
                Some(at) if score(&at) < FAINT => {
                    best = self.with_variances(self.settled(best.without(at), STEPS));
                }
                _ => break,
            }
        }
        if best.level * best.level < FLAT * FLAT * best.level_variance {
            best.level = 0.0;
        }
        best
    }
}

impl Cluster {
    fn new(at: Vec<f64>, width: f64, size: f64) -> Self {
        let unknown = f64::INFINITY;
        Self { at, log_width: width.ln(), size, place_variance: unknown, size_variance: unknown }
    }

    /// Its size in deviations of noise; their square is what a mixture explains less without it.
    fn score(&self) -> f64 {
        self.size / self.size_variance.sqrt()
    }

    /// Standard deviation of its clients along each axis.
    pub(super) fn width(&self) -> f64 {
        self.log_width.exp()
    }
}

impl Mixture {
    fn with(&self, cluster: Cluster) -> Self {
        let mut more = self.clone();
        more.clusters.push(cluster);
        more
    }

    fn without(&self, at: usize) -> Self {
        let mut fewer = self.clone();
        fewer.clusters.remove(at);
        fewer
    }

    /// What k-means would lose if two clusters had one centre, those two of which that is least, in squares of a cell; nothing if there are
    /// fewer clusters than centres already.
    pub(super) fn cheapest_merger(&self, k: usize) -> f64 {
        if self.clusters.len() < k {
            return 0.0;
        }
        let mut least = f64::INFINITY;
        for (number, a) in self.clusters.iter().enumerate() {
            for b in &self.clusters[..number] {
                let apart: f64 = a.at.iter().zip(&b.at).map(|(x, y)| (x - y) * (x - y)).sum();
                least = least.min(a.size * b.size / (a.size + b.size).max(1e-12) * apart);
            }
        }
        least
    }

    /// The mean logarithm of a client's width.
    fn usual_log_width(&self) -> f64 {
        let clients: f64 = self.clusters.iter().map(|cluster| cluster.size).sum();
        let sum: f64 = self.clusters.iter().map(|one| one.size * one.log_width).sum();
        if clients > 0.0 { sum / clients } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PublicCoins;
    use crate::codebook::normal;
    use approx::assert_abs_diff_eq;

    const CELLS: usize = 8;

    /// Two shifted histograms of clusters, with noise.
    fn noisy(truth: &[Cluster], sd: f64, seed: u64) -> Vec<(f64, Vec<f64>)> {
        let view = |at: u64| {
            let shift = 0.25 + 0.5 * at as f64;
            let cells = CELLS + 1;
            let coins = PublicCoins::new(seed).of(at);
            let mut values: Vec<f64> =
                (0..(cells * cells) as u64).map(|cell| sd * normal(coins, cell)).collect();
            for cluster in truth {
                let shape: Shape = cluster
                    .at
                    .iter()
                    .map(|x| Axis::new(cells, x + shift, cluster.width()))
                    .collect();
                shape::add(&shape, cluster.size, &mut values, cells);
            }
            (shift, values)
        };
        vec![view(0), view(1)]
    }

    fn explained(histograms: &[(f64, Vec<f64>)], sd: f64, k: usize) -> Mixture {
        let views = histograms
            .iter()
            .map(|(shift, values)| View::new(CELLS + 1, *shift, values, sd))
            .collect();
        Noisy::new(CELLS, 2, views, 0.0).explained(k)
    }

    /// Neighbours that share cells, one narrow, one wide, of different sizes: each is found, and as well as is stated.
    #[test]
    fn clusters_are_found_to_a_fraction_of_a_cell() {
        let truth = [
            Cluster::new(vec![1.4, 1.5], 0.4, 0.3),
            Cluster::new(vec![2.9, 1.9], 0.5, 0.1),
            Cluster::new(vec![6.2, 5.7], 1.2, 0.5),
            Cluster::new(vec![0.3, 7.8], 0.3, 0.1),
        ];
        let mut off = 0.0;
        for seed in 0..8 {
            let found = explained(&noisy(&truth, 0.002, seed), 0.002, 4);
            assert_eq!((found.clusters.len(), found.level), (4, 0.0), "{found:?}");
            for one in &truth {
                let apart = |other: &Cluster| -> f64 {
                    one.at.iter().zip(&other.at).map(|(x, y)| (x - y) * (x - y)).sum()
                };
                let near = found.clusters.iter().min_by(|a, b| apart(a).total_cmp(&apart(b)));
                let near = near.expect("four");
                assert!(apart(near) < 0.04, "{one:?} {near:?}");
                off += apart(near) / near.place_variance / 64.0;
                let wrong = (near.size - one.size) / near.size_variance.sqrt();
                assert!(wrong.abs() < 5.0, "{one:?} {near:?}");
            }
        }
        // Squares of 64 normal errors, two with each of 32: 1 on average, with a standard deviation of .18.
        assert!((0.3..2.0).contains(&off), "{off}");
    }

    /// In 20 histograms of noise nothing is as clear as four deviations but once or twice, and a level of all clients is no cluster either.
    #[test]
    fn noise_has_no_clear_clusters_and_neither_has_a_level() {
        let clear = |seed| {
            let found = explained(&noisy(&[], 0.01, seed), 0.01, 3).clusters;
            found.iter().filter(|one| one.size > 4.5 * one.size_variance.sqrt()).count()
        };
        let clear: usize = (0..20).map(clear).sum();
        assert!(clear <= 2, "{clear}");
        let mut level = noisy(&[], 0.001, 3);
        for (_, values) in &mut level {
            for x in values {
                *x += 0.01;
            }
        }
        let found = explained(&level, 0.001, 3);
        assert_abs_diff_eq!(found.level, 0.01, epsilon = 0.002);
    }
}

//! What noisy counts say about true ones, once it is known how true ones are spread. Post-processing.

use std::collections::BTreeMap;

use super::metric::Metric;
use super::net::Net;

/// A sum of noisy counts.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Noisy {
    count: i64,
    blur: Blur,
}

/// What was added to a count.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Blur {
    /// Two-sided geometric noise of this epsilon.
    Geometric {
        /// Of the noise.
        epsilon: f64,
    },
    /// A sum of many such, by its standard deviation.
    Gaussian {
        /// In users.
        standard_deviation: f64,
    },
}

impl Noisy {
    /// Of so many counts.
    fn sum(count: i64, terms: u32, epsilon: f64) -> Self {
        if terms == 1 {
            return Self { count, blur: Blur::Geometric { epsilon } };
        }
        let decay = (-epsilon).exp();
        let variance = 2.0 * decay / (1.0 - decay).powi(2);
        // A floor for noise so small that it is hardly there.
        let standard_deviation = (f64::from(terms) * variance).sqrt().max(0.1);
        Self { count, blur: Blur::Gaussian { standard_deviation } }
    }

    /// The same for what is equally likely.
    fn key(self) -> (i64, u64) {
        let blur = match self.blur {
            Blur::Geometric { epsilon } => epsilon,
            Blur::Gaussian { standard_deviation } => standard_deviation,
        };
        (self.count, blur.to_bits())
    }

    /// Of true counts, as multiples of the largest.
    fn likelihoods(self, counts: &[f64]) -> Vec<f64> {
        let log = |count: &f64| {
            let error = self.count as f64 - count;
            match self.blur {
                Blur::Geometric { epsilon } => -epsilon * error.abs(),
                Blur::Gaussian { standard_deviation } => {
                    -0.5 * (error / standard_deviation).powi(2)
                }
            }
        };
        let logs: Vec<f64> = counts.iter().map(log).collect();
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // Nothing is impossible, which keeps all sums above zero.
        logs.into_iter().map(|log| (log - largest).exp().max(1e-300)).collect()
    }
}

/// Iterations of the fit. It is far from converged then in places where the likelihood is flat, which is
/// where it does not matter.
const ITERATIONS: usize = 60;

/// Another prior has to gain so much in log-likelihood, as one for fewer cells follows their noise. Measured.
const GAIN: f64 = 8.0;
/// Groups of cells that have priors of their own, at most.
const MOST_GROUPS: usize = 8;

/// How true counts are spread, as far as noisy ones say.
struct Prior {
    grid: Vec<f64>,
    weights: Vec<f64>,
    /// The log-likelihood of the noisy counts that it was fitted to.
    evidence: f64,
}

impl Prior {
    /// What makes these noisy counts likely, by expectation and maximisation.
    fn fit(noisy: &[Noisy]) -> Self {
        let grid = grid(noisy.iter().map(|noisy| noisy.count).max().unwrap_or(0));
        // Equal counts with equal noise are equally likely.
        let mut copies: BTreeMap<(i64, u64), (Noisy, f64)> = BTreeMap::new();
        for &one in noisy {
            copies.entry(one.key()).or_insert((one, 0.0)).1 += 1.0;
        }
        let likelihoods: Vec<(Vec<f64>, f64)> =
            copies.values().map(|&(one, copies)| (one.likelihoods(&grid), copies)).collect();
        let mut weights = vec![1.0 / grid.len() as f64; grid.len()];
        for _ in 0..ITERATIONS {
            let mut next = vec![0.0; grid.len()];
            for (likelihoods, copies) in &likelihoods {
                let share = copies / dot(likelihoods, &weights) / noisy.len() as f64;
                for ((next, weight), likelihood) in next.iter_mut().zip(&weights).zip(likelihoods) {
                    *next += share * weight * likelihood;
                }
            }
            weights = next;
        }
        let evidence = likelihoods.iter().map(|(all, copies)| copies * dot(all, &weights).ln());
        let evidence = evidence.sum();
        Self { grid, weights, evidence }
    }

    /// The posterior mean of the true count behind a noisy one.
    fn mean(&self, noisy: Noisy) -> f64 {
        self.mean_of_part(noisy, 1.0)
    }

    /// The same where only this part of what the prior is for was counted: of the part.
    fn mean_of_part(&self, noisy: Noisy, part: f64) -> f64 {
        let grid: Vec<f64> = self.grid.iter().map(|count| part * count).collect();
        let likelihoods = noisy.likelihoods(&grid);
        let posterior: Vec<f64> =
            self.weights.iter().zip(&likelihoods).map(|(weight, one)| weight * one).collect();
        dot(&posterior, &grid) / posterior.iter().sum::<f64>()
    }

    /// The mean before anything is counted.
    fn mean_before(&self) -> f64 {
        dot(&self.weights, &self.grid)
    }
}

/// Posterior means of true counts given noisy ones, under the spread of counts that makes the noisy ones
/// likely.
///
/// The sum of posterior means times costs is the expected cost of a set of centres, so that a search with
/// these weights needs no threshold: a few nodes with many users stand out, and hundreds of nodes
/// that may have one user each weigh what they weigh together.
///
/// # Source
/// Robbins (1956) for empirical Bayes; fitted as by Laird (1978), on a grid that grows by an eighth.
pub(super) fn posterior_means(noisy: &[i64], epsilon: f64) -> Vec<f64> {
    let noisy: Vec<Noisy> = noisy.iter().map(|&count| Noisy::sum(count, 1, epsilon)).collect();
    means_by(&Prior::fit(&noisy), &noisy)
}

fn means_by(prior: &Prior, noisy: &[Noisy]) -> Vec<f64> {
    let mut means = BTreeMap::new();
    noisy.iter().map(|&one| *means.entry(one.key()).or_insert_with(|| prior.mean(one))).collect()
}

/// Cells of one size with what was counted in them, and the priors that say what is in them.
struct Level {
    /// Of each node, the node that its cell is around.
    cell_of: Vec<u32>,
    /// Of each cell, at the place of that node: the sum of noisy counts, and of how many nodes.
    sums: Vec<i64>,
    sizes: Vec<u32>,
    priors: Vec<Prior>,
    /// Which of them is for a cell.
    prior_of: Vec<usize>,
}

impl Level {
    /// Priors for groups of cells by how busy what is around them is.
    ///
    /// As many groups, in powers of two, as the counts give reason for: users may be anywhere, and a prior for an eighth of all cells follows their noise.
    fn new(
        cell_of: Vec<u32>,
        (noisy, epsilon): (&[i64], f64),
        fewest: usize,
        wider: Option<&Self>,
    ) -> Self {
        let nodes = cell_of.len();
        let (mut sums, mut sizes) = (vec![0_i64; nodes], vec![0_u32; nodes]);
        for (&cell, &count) in cell_of.iter().zip(noisy) {
            let cell = cell as usize;
            sums[cell] = sums[cell].saturating_add(count);
            sizes[cell] += 1;
        }
        let around = match wider {
            Some(wider) => wider.around(&cell_of, noisy, epsilon),
            None => vec![0.0; nodes],
        };
        let mut order: Vec<usize> = (0..nodes).filter(|&cell| sizes[cell] > 0).collect();
        order.sort_by(|&a, &b| around[a].total_cmp(&around[b]).then(a.cmp(&b)));
        let counts: Vec<Noisy> =
            order.iter().map(|&cell| Noisy::sum(sums[cell], sizes[cell], epsilon)).collect();
        let most = (order.len() / fewest).clamp(1, MOST_GROUPS);
        let fit = |groups: usize| -> Vec<Prior> {
            counts.chunks(counts.len().div_ceil(groups)).map(Prior::fit).collect()
        };
        let worth = |priors: &[Prior]| {
            let evidence: f64 = priors.iter().map(|prior| prior.evidence).sum();
            evidence - GAIN * priors.len() as f64
        };
        let mut priors = fit(1);
        let mut groups = 2;
        while groups <= most {
            let finer = fit(groups);
            if worth(&finer) > worth(&priors) {
                priors = finer;
            }
            groups *= 2;
        }
        let mut prior_of = vec![0; nodes];
        for (group, members) in order.chunks(order.len().div_ceil(priors.len())).enumerate() {
            for &cell in members {
                prior_of[cell] = group;
            }
        }
        Self { cell_of, sums, sizes, priors, prior_of }
    }

    /// For each of these smaller cells, users per node of the cell around it, as far as known without its own count: with it, where noise is high would look busy.
    fn around(&self, smaller: &[u32], noisy: &[i64], epsilon: f64) -> Vec<f64> {
        let nodes = smaller.len();
        let (mut own, mut own_sizes) = (vec![0_i64; nodes], vec![0_u32; nodes]);
        for (node, (&cell, &count)) in smaller.iter().zip(noisy).enumerate() {
            let cell = cell as usize;
            if self.cell_of[node] == self.cell_of[cell] {
                own[cell] = own[cell].saturating_add(count);
                own_sizes[cell] += 1;
            }
        }
        let of_cell = |cell: usize| {
            if own_sizes[cell] == 0 {
                return 0.0;
            }
            let wider = self.cell_of[cell] as usize;
            let (prior, size) = (&self.priors[self.prior_of[wider]], f64::from(self.sizes[wider]));
            let others = self.sizes[wider] - own_sizes[cell];
            if others == 0 {
                return prior.mean_before() / size;
            }
            let sum = self.sums[wider].saturating_sub(own[cell]);
            let part = f64::from(others) / size;
            prior.mean_of_part(Noisy::sum(sum, others, epsilon), part) / f64::from(others)
        };
        (0..nodes).map(of_cell).collect()
    }
}

/// The same with a prior for each of up to eight groups of nodes, by how busy their surroundings are. How
/// busy those are is found in the same way for larger surroundings, down from cells of 64 nodes.
///
/// # Complexity
/// That of the [nets](Net::nested) of cells, which have at most 4,096 points: with more
/// than four times as many nodes the smallest cells are larger than 4 nodes.
pub(super) fn posterior_means_by_neighbourhood(
    metric: &Metric,
    epsilon: f64,
    noisy: &[i64],
) -> Vec<f64> {
    /// Cells of so many nodes on average.
    const SCALES: [usize; 3] = [64, 16, 4];
    let (nodes, limits) = (noisy.len(), metric.sizes());
    let points = SCALES.iter().map(|scale| (nodes / scale).min(limits.net));
    let mut sizes: Vec<usize> = points.filter(|&points| points >= 16).collect();
    sizes.dedup();
    let mut level = None;
    let single = (0..u32::try_from(nodes).expect("ids are u32")).collect();
    let nets = Net::nested(metric, &sizes).into_iter().map(|net| net.nearest);
    for cell_of in nets.chain([single]) {
        level = Some(Level::new(cell_of, (noisy, epsilon), limits.prior, level.as_ref()));
    }
    let Level { priors, prior_of, .. } = level.expect("of single nodes");
    let mut means = vec![0.0; nodes];
    for (group, prior) in priors.iter().enumerate() {
        let members: Vec<usize> = (0..nodes).filter(|&node| prior_of[node] == group).collect();
        let counts: Vec<Noisy> =
            members.iter().map(|&node| Noisy::sum(noisy[node], 1, epsilon)).collect();
        for (node, mean) in members.into_iter().zip(means_by(prior, &counts)) {
            means[node] = mean;
        }
    }
    means
}

/// Every count up to 16, then steps of an eighth, up to the first that is not below the largest.
fn grid(largest: i64) -> Vec<f64> {
    let mut grid = vec![0.0];
    let mut next = 1.0_f64;
    while *grid.last().expect("not empty") < largest as f64 || grid.len() < 2 {
        grid.push(next);
        next = (next + 1.0).max((next * 1.125).round());
    }
    grid
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use dp_accounting::Epsilon;
    use dp_mechanism::{ChaCha20Rng, Draws, NoisyCount, SecureSource};
    use rand::{RngExt, SeedableRng};

    use super::*;

    fn noisy(counts: &[u64], epsilon: f64, rng: &mut ChaCha20Rng) -> Vec<i64> {
        let noise = NoisyCount::geometric(Epsilon::new(epsilon).unwrap()).unwrap();
        counts
            .iter()
            .map(|&count| noise.release(count, &mut Draws::unplanned(&mut SecureSource::new(rng))))
            .collect()
    }

    fn squared_error(counts: &[u64], means: &[f64]) -> f64 {
        counts.iter().zip(means).map(|(&count, mean)| (count as f64 - mean).powi(2)).sum()
    }

    /// Against what is best with one number per value when the truth is known: the mean true count of
    /// all nodes with that noisy count. 20,000 nodes of which one in twenty has 10 users, others none.
    #[test]
    fn means_come_near_those_of_somebody_who_knows() {
        let mut rng = ChaCha20Rng::seed_from_u64(9);
        let counts: Vec<u64> =
            (0..20_000).map(|_| if rng.random_range(0..20) == 0 { 10 } else { 0 }).collect();
        let noisy = noisy(&counts, 0.5, &mut rng);
        let mut known: BTreeMap<i64, (u64, u64)> = BTreeMap::new();
        for (&noisy, &count) in noisy.iter().zip(&counts) {
            let (sum, nodes) = known.entry(noisy).or_default();
            (*sum, *nodes) = (*sum + count, *nodes + 1);
        }
        let best: Vec<f64> =
            noisy.iter().map(|noisy| known[noisy].0 as f64 / known[noisy].1 as f64).collect();
        let clipped: Vec<f64> = noisy.iter().map(|&noisy| noisy.max(0) as f64).collect();
        let [best, found, clipped] = [best, posterior_means(&noisy, 0.5), clipped]
            .map(|means| squared_error(&counts, &means));
        assert!(found < 1.05 * best, "{found} for {best}");
        assert!(found < 0.6 * clipped, "{found} for {clipped}");
    }

    /// Users in one corner of a field: a prior by neighbourhood sees it, one for all nodes does not.
    #[test]
    fn neighbourhoods_help_where_users_are_neighbours() {
        let mut rng = ChaCha20Rng::seed_from_u64(10);
        let points: Vec<f64> = (0..4_000).map(|_| rng.random_range(0.0..1.0)).collect();
        let metric = Metric::from_points(&points, 2).unwrap();
        let count = |point: &[f64]| if point[0] + point[1] < 0.5 { 10 } else { 0 };
        let counts: Vec<u64> = points.chunks(2).map(count).collect();
        let noisy = noisy(&counts, 0.3, &mut rng);
        let alone = squared_error(&counts, &posterior_means(&noisy, 0.3));
        let together = posterior_means_by_neighbourhood(&metric, 0.3, &noisy);
        let together = squared_error(&counts, &together);
        assert!(together < 0.7 * alone, "{together} for {alone}");
    }

    /// Users who are anywhere have no neighbourhoods, and none is made of noise: a cell that has its own noise in what is around it, or more priors than counts
    /// give reason for, would be further off.
    #[test]
    fn neighbourhoods_do_no_harm_where_users_are_anywhere() {
        let mut rng = ChaCha20Rng::seed_from_u64(12);
        let points: Vec<f64> = (0..4_000).map(|_| rng.random_range(0.0..1.0)).collect();
        let metric = Metric::from_points(&points, 2).unwrap();
        let (mut alone, mut together) = (0.0, 0.0);
        for _ in 0..4 {
            let counts: Vec<u64> =
                (0..2_000).map(|_| if rng.random_range(0..10) == 0 { 12 } else { 1 }).collect();
            let noisy = noisy(&counts, 0.2, &mut rng);
            alone += squared_error(&counts, &posterior_means(&noisy, 0.2));
            let means = posterior_means_by_neighbourhood(&metric, 0.2, &noisy);
            together += squared_error(&counts, &means);
        }
        assert!(together < 1.04 * alone, "{together} for {alone}");
    }

    /// Cells of eight nodes with ten users each, hardly any noise: without a node's own count, what is around it has ten users per node, too.
    #[test]
    fn what_is_around_a_node_is_users_per_node_of_the_others() {
        let cell_of: Vec<u32> = (0..64).map(|node| node / 8 * 8).collect();
        let (noisy, single) = ([10; 64], (0..64).collect::<Vec<u32>>());
        let level = Level::new(cell_of, (&noisy, 50.0), 256, None);
        let around = level.around(&single, &noisy, 50.0);
        assert!(around.iter().all(|users| (users - 10.0).abs() < 0.5), "{around:?}");
        // Where nobody else is in the cell, it is what is usual.
        let mixed: Vec<i64> = (0..64).map(|node| node % 2 * 10).collect();
        let alone = Level::new(single.clone(), (&mixed, 50.0), 256, None);
        let around = alone.around(&single, &mixed, 50.0);
        assert!(around.iter().all(|users| (users - 5.0).abs() < 0.1), "{around:?}");
    }

    #[test]
    fn edges_of_the_range() {
        for noisy in [vec![], vec![0], vec![-5; 9], vec![i64::MAX, i64::MIN, 0], vec![1 << 40; 3]] {
            for epsilon in [1e-6, 1.0, 100.0] {
                let means = posterior_means(&noisy, epsilon);
                assert_eq!(means.len(), noisy.len());
                assert!(means.iter().all(|mean| mean.is_finite() && *mean >= 0.0), "{means:?}");
            }
        }
        let metric = Metric::from_points(&[0.0, 1.0], 1).unwrap();
        let means = posterior_means_by_neighbourhood(&metric, 100.0, &[7, 0]);
        assert!((means[0] - 7.0).abs() < 1e-6 && means[1].abs() < 1e-6, "{means:?}");
    }
}

//! What noisy counts say about true ones, once it is known how true ones are spread. Post-processing.

use std::collections::BTreeMap;

use super::metric::Metric;
use super::net::Net;

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

impl Blur {
    /// Of a sum of so many noisy counts.
    fn of_a_sum(terms: u32, epsilon: f64) -> Self {
        if terms == 1 {
            return Self::Geometric { epsilon };
        }
        let decay = (-epsilon).exp();
        let variance = 2.0 * decay / (1.0 - decay).powi(2);
        // A floor for noise so small that it is hardly there.
        let standard_deviation = (f64::from(terms) * variance).sqrt().max(0.1);
        Self::Gaussian { standard_deviation }
    }

    /// The logarithm of the likelihood of an error, up to a constant.
    fn log_likelihood(self, error: f64) -> f64 {
        match self {
            Self::Geometric { epsilon } => -epsilon * error.abs(),
            Self::Gaussian { standard_deviation } => -0.5 * (error / standard_deviation).powi(2),
        }
    }
}

/// Iterations of the fit. It is far from converged then in places where the likelihood is flat, which is
/// where it does not matter.
const ITERATIONS: usize = 60;

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
    means_of(noisy, |_| Blur::Geometric { epsilon })
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
    let mut cells: Vec<Vec<u32>> =
        Net::nested(metric, &sizes).into_iter().map(|net| net.nearest).collect();
    cells.push((0..u32::try_from(nodes).expect("ids are u32")).collect());
    // Users per node, as far as known.
    let mut density = vec![0.0_f64; nodes];
    for cell_of in cells {
        let (mut sums, mut sizes) = (vec![0_i64; nodes], vec![0_u32; nodes]);
        for (&cell, &count) in cell_of.iter().zip(noisy) {
            sums[cell as usize] = sums[cell as usize].saturating_add(count);
            sizes[cell as usize] += 1;
        }
        let mut order: Vec<usize> = (0..nodes).filter(|&cell| sizes[cell] > 0).collect();
        order.sort_by(|&a, &b| density[a].total_cmp(&density[b]).then(a.cmp(&b)));
        let mut means = vec![0.0; nodes];
        let groups = (order.len() / limits.prior).clamp(1, 8);
        for members in order.chunks(order.len().div_ceil(groups)) {
            let counts: Vec<i64> = members.iter().map(|&cell| sums[cell]).collect();
            let blur = |at: usize| Blur::of_a_sum(sizes[members[at]], epsilon);
            for (&cell, mean) in members.iter().zip(means_of(&counts, blur)) {
                means[cell] = mean / f64::from(sizes[cell]);
            }
        }
        density = cell_of.iter().map(|&cell| means[cell as usize]).collect();
    }
    density
}

fn means_of(noisy: &[i64], blur: impl Fn(usize) -> Blur) -> Vec<f64> {
    let grid = grid(noisy.iter().copied().max().unwrap_or(0));
    // Equal counts with equal noise have equal means.
    let key = |at: usize| match blur(at) {
        Blur::Geometric { epsilon } => (noisy[at], epsilon.to_bits()),
        Blur::Gaussian { standard_deviation } => (noisy[at], standard_deviation.to_bits()),
    };
    let mut groups: BTreeMap<(i64, u64), (usize, f64)> = BTreeMap::new();
    for at in 0..noisy.len() {
        groups.entry(key(at)).or_insert((at, 0.0)).1 += 1.0;
    }
    let likelihoods: Vec<Vec<f64>> =
        groups.values().map(|&(at, _)| likelihoods(noisy[at], blur(at), &grid)).collect();
    let mut prior = vec![1.0 / grid.len() as f64; grid.len()];
    for _ in 0..ITERATIONS {
        let mut next = vec![0.0; grid.len()];
        for (likelihoods, &(_, copies)) in likelihoods.iter().zip(groups.values()) {
            let total = dot(likelihoods, &prior);
            let share = copies / total / noisy.len() as f64;
            for ((next, prior), likelihood) in next.iter_mut().zip(&prior).zip(likelihoods) {
                *next += share * prior * likelihood;
            }
        }
        prior = next;
    }
    let weighted: Vec<f64> = prior.iter().zip(&grid).map(|(p, count)| p * count).collect();
    let mean = |likelihoods: &Vec<f64>| dot(likelihoods, &weighted) / dot(likelihoods, &prior);
    let means: BTreeMap<(i64, u64), f64> =
        groups.keys().copied().zip(likelihoods.iter().map(mean)).collect();
    (0..noisy.len()).map(|at| means[&key(at)]).collect()
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

/// Likelihoods of the true counts of the grid, as multiples of the largest.
fn likelihoods(noisy: i64, blur: Blur, grid: &[f64]) -> Vec<f64> {
    let logs: Vec<f64> =
        grid.iter().map(|count| blur.log_likelihood(noisy as f64 - count)).collect();
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // Nothing is impossible, which keeps all sums above zero.
    logs.into_iter().map(|log| (log - largest).exp().max(1e-300)).collect()
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

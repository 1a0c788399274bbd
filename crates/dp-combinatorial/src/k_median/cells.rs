//! Counts of cells of nodes, beside those of the nodes: where users are spread over many nodes, the noise of a cell is that of one count,
//! and not that of all of its nodes together.

use std::collections::BTreeMap;

use dp_accounting::{Epsilon, Step};
use dp_mechanism::{Draws, MechanismError, NoisyCount, Private};

use super::metric::Metric;
use super::net::Net;

/// On the receipt.
const CELLS: &str = "counts of the cells";
const ONE_CELL: &str = "count of one cell";

/// So many cells for each centre: fewer do not say where a centre should be, more have few users each. Measured.
const FOR_EACH_CENTRE: usize = 8;
/// Users of cells are spread over a few nodes at least, or counts of cells are hardly better than those of nodes.
const FEWEST_NODES: usize = 4;
/// Nodes are at most so many times as far from the middle of a cell as from one of as many points as there are centres: .29 on a plane, .41 in three dimensions, .46 in four,
/// where cells help at small epsilon only, .65 in a random graph, where users near each other have no cell in common.
const NEAR: f64 = 0.43;
/// With more users for each node than this over epsilon, noise in the count of a node is little.
const MANY_USERS: f64 = 4.0;

/// The users of each cell of a partition, which is public.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cells {
    /// The cell of each node.
    of_nodes: Vec<u32>,
    /// How many nodes each cell has.
    sizes: Vec<u32>,
    count: NoisyCount,
}

/// How many points a net of cells has, at most.
fn wanted(metric: &Metric, k: usize) -> usize {
    k.saturating_mul(FOR_EACH_CENTRE).min(metric.nodes()).min(metric.sizes().net).max(1)
}

/// Whether counts of cells are likely to help: a rule of public facts.
pub(super) fn help(metric: &Metric, k: usize, epsilon: f64, users_hint: u64) -> bool {
    let (nodes, cells) = (metric.nodes(), wanted(metric, k));
    if nodes < FEWEST_NODES * cells || users_hint as f64 * epsilon > MANY_USERS * nodes as f64 {
        return false;
    }
    let nets = Net::nested(metric, &[k.min(cells), cells]);
    let total = |net: &Net| -> f64 {
        let nodes = (0..).zip(&net.nearest);
        nodes.map(|(node, &point)| f64::from(metric.between(node, point))).sum()
    };
    total(&nets[1]) < NEAR * total(&nets[0])
}

impl Cells {
    pub(super) fn new(metric: &Metric, k: usize, epsilon: Epsilon) -> Result<Self, MechanismError> {
        let count = NoisyCount::geometric(epsilon)?;
        let net = Net::nested(metric, &[wanted(metric, k)]).pop().expect("one was asked for");
        let mut numbers = BTreeMap::new();
        let mut sizes = Vec::new();
        let mut number = |point: &u32| {
            let cell = *numbers.entry(*point).or_insert_with(|| {
                sizes.push(0);
                u32::try_from(sizes.len() - 1).expect("no more cells than nodes")
            });
            sizes[cell as usize] += 1;
            cell
        };
        let of_nodes = net.nearest.iter().map(&mut number).collect();
        Ok(Self { of_nodes, sizes, count })
    }

    /// The cost of all counts: a user is in one cell.
    pub(super) fn spent(&self) -> Step {
        Step::parallel(CELLS, vec![Step::spend(ONE_CELL, self.count.loss())])
    }

    pub(super) fn release(
        &self,
        users_of_nodes: Private<&Vec<u64>>,
        draws: &mut Draws<'_>,
    ) -> Vec<i64> {
        let users = users_of_nodes.map(|users_of_nodes| {
            let mut sums = vec![0_u64; self.sizes.len()];
            for (&cell, &users) in self.of_nodes.iter().zip(users_of_nodes) {
                let sum = &mut sums[cell as usize];
                *sum = sum.saturating_add(users);
            }
            sums
        });
        let users = users.cells(self.sizes.len());
        let noisy = |cell: usize| {
            let draws = &mut draws.part(ONE_CELL, 0, cell as u64);
            self.count.release(users.at(cell).map(|&users| users), draws)
        };
        (0..users.len()).map(noisy).collect()
    }

    /// Sums over the nodes of each cell.
    fn sums(&self, of_nodes: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut sums = vec![0.0; self.sizes.len()];
        for (&cell, value) in self.of_nodes.iter().zip(of_nodes) {
            sums[cell as usize] += value;
        }
        sums
    }

    /// Estimates of the users of nodes, made without the counts of cells, corrected by these.
    ///
    /// How far the estimates are off shows in the counts, whose noise is independent of them: the mean square of the difference is that of the noise and
    /// that of the error. Each cell goes as far towards its count as that makes best; busy cells and others are judged apart.
    pub(super) fn corrected(&self, mut estimates: Vec<f64>, counts: &[i64]) -> Vec<f64> {
        let noise = self.count.standard_deviation().powi(2);
        let expected = self.sums(estimates.iter().copied());
        let density = |cell: usize| expected[cell] / f64::from(self.sizes[cell]);
        let mut order: Vec<usize> = (0..self.sizes.len()).collect();
        order.sort_by(|&a, &b| density(a).total_cmp(&density(b)).then(a.cmp(&b)));
        let mut found = vec![0.0; self.sizes.len()];
        for half in order.chunks(order.len().div_ceil(2)) {
            let off = |cell: usize| counts[cell] as f64 - expected[cell];
            let squares: f64 = half.iter().map(|&cell| off(cell).powi(2)).sum();
            let error = squares / half.len() as f64 - noise;
            let part = if error > 0.0 { error / (error + noise) } else { 0.0 };
            for &cell in half {
                found[cell] = (expected[cell] + part * off(cell)).max(0.0);
            }
        }
        for (estimate, &cell) in estimates.iter_mut().zip(&self.of_nodes) {
            let cell = cell as usize;
            let share = if expected[cell] > 0.0 {
                *estimate / expected[cell]
            } else {
                1.0 / f64::from(self.sizes[cell])
            };
            *estimate = share * found[cell];
        }
        estimates
    }

    /// What a node's count takes over of how far the count of its cell is from the sum of those of its nodes, as makes the variance of all sums the least.
    fn taken_over(&self, cell: usize, noise_of_a_node: f64) -> f64 {
        let noise = self.count.standard_deviation().powi(2);
        let of_all = f64::from(self.sizes[cell]) * noise_of_a_node;
        // A budget may be so large that there is no noise to speak of.
        if of_all > 0.0 { noise_of_a_node / (of_all + noise) } else { 0.0 }
    }

    /// Counts of nodes, without bias, that agree better with those of their cells.
    pub(super) fn agreed(&self, of_nodes: &[i64], of_cells: &[i64], noise: f64) -> Vec<f64> {
        let sums = self.sums(of_nodes.iter().map(|&count| count as f64));
        let agreed = |(&count, &cell): (&i64, &u32)| {
            let cell = cell as usize;
            count as f64 + self.taken_over(cell, noise) * (of_cells[cell] as f64 - sums[cell])
        };
        of_nodes.iter().zip(&self.of_nodes).map(agreed).collect()
    }

    /// The variance of the sum of [`agreed`](Self::agreed) counts of these nodes, each of which was drawn with so much noise.
    ///
    /// Of `a` nodes of a cell that has variance `V` for each and where each takes over `g`, it is `a V (1 - a g)`.
    pub(super) fn variance(&self, nodes: &[u32], noise: f64) -> f64 {
        let mut inside = vec![0.0; self.sizes.len()];
        for &node in nodes {
            inside[self.of_nodes[node as usize] as usize] += 1.0;
        }
        let of_cell = |(cell, &a): (usize, &f64)| a * (1.0 - a * self.taken_over(cell, noise));
        noise * inside.iter().enumerate().map(of_cell).sum::<f64>()
    }

    /// The most that the variance of one such count is.
    pub(super) fn most_variance(&self, noise: f64) -> f64 {
        let of_cell = |cell| noise * (1.0 - self.taken_over(cell, noise));
        (0..self.sizes.len()).map(of_cell).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sixteen cells of eight nodes or so on a line.
    fn cells() -> Cells {
        let places: Vec<f64> = (0..128).map(f64::from).collect();
        let metric = Metric::from_points(&places, 1).unwrap();
        Cells::new(&metric, 2, Epsilon::new(0.1).unwrap()).unwrap()
    }

    fn corrected_sums(cells: &Cells, estimate: f64, count: impl Fn(f64, usize) -> f64) -> Vec<f64> {
        #[allow(clippy::cast_possible_truncation, reason = "small")]
        let of_cell = |(cell, &size): (usize, &u32)| count(f64::from(size), cell).round() as i64;
        let counts: Vec<i64> = cells.sizes.iter().enumerate().map(of_cell).collect();
        cells.sums(cells.corrected(vec![estimate; 128], &counts).into_iter())
    }

    /// Deviations of the noise are 14.1 users. Where counts differ by less than that, nothing is changed; where by far more, counts are right.
    #[test]
    fn estimates_go_towards_counts_as_far_as_they_are_off() {
        let cells = cells();
        assert!(cells.sizes.len() == 16 && cells.sizes.iter().all(|&size| size >= 4));
        let kept = corrected_sums(&cells, 5.0, |size, cell| {
            5.0 * size + if cell % 2 == 0 { 13.0 } else { -13.0 }
        });
        let moved = corrected_sums(&cells, 5.0, |size, cell| {
            5.0 * size + if cell % 2 == 0 { 1_000.0 } else { -1_000.0 }
        });
        let from_nothing = corrected_sums(&cells, 0.0, |size, _| 100.0 * size);
        for (cell, &size) in cells.sizes.iter().enumerate() {
            let size = f64::from(size);
            assert!((kept[cell] - 5.0 * size).abs() < 1e-9, "{kept:?}");
            let there = if cell % 2 == 0 { 5.0 * size + 1_000.0 } else { 0.0 };
            assert!((moved[cell] - there).abs() < 1.0, "{moved:?}");
            assert!((from_nothing[cell] / size / 100.0 - 1.0).abs() < 1e-3, "{from_nothing:?}");
        }
    }

    /// Busy cells and others are judged apart: with the former off and the latter right, these stay.
    #[test]
    fn busy_cells_do_not_move_the_others() {
        let cells = cells();
        let is_busy = |cell: usize| cell < 8;
        let estimates: Vec<f64> = cells
            .of_nodes
            .iter()
            .map(|&cell| if is_busy(cell as usize) { 50.0 } else { 5.0 })
            .collect();
        let expected = cells.sums(estimates.iter().copied());
        #[allow(clippy::cast_possible_truncation, reason = "small")]
        let counts: Vec<i64> = (0..16)
            .map(|cell| expected[cell].round() as i64 + if is_busy(cell) { 900 } else { 10 })
            .collect();
        let found = cells.sums(cells.corrected(estimates, &counts).into_iter());
        for cell in 0..16 {
            let moved = found[cell] - expected[cell];
            assert!(if is_busy(cell) { moved > 890.0 } else { moved.abs() < 1e-9 }, "{moved}");
        }
    }

    #[test]
    fn without_noise_to_speak_of_counts_are_kept_as_they_are() {
        let places: Vec<f64> = (0..128).map(f64::from).collect();
        let metric = Metric::from_points(&places, 1).unwrap();
        let cells = Cells::new(&metric, 2, Epsilon::new(800.0).unwrap()).unwrap();
        let agreed = cells.agreed(&[3; 128], &[24; 16], 0.0);
        assert!(agreed.iter().all(|&count| (count - 3.0).abs() < 1e-12));
        assert!(cells.variance(&[1, 2], 0.0).abs() < 1e-12);
        let corrected = cells.corrected(vec![0.0; 128], &[i64::MAX; 16]);
        assert!(corrected.iter().all(|mean| mean.is_finite() && *mean >= 0.0));
    }
}

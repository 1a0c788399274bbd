//! Rows that are off by little from column to column, corrected by others that are not off at all but have more noise.
//!
//! The closest table over all levels at once has far less noise in inner rows than their best linear estimates, and a bias: order and zero hold the cells of
//! thousands of parts away from where they belong, on the same side in all of them. Its cumulative cells may be off by several deviations of the
//! linear ones. Its counts are not, as neighbouring cells are off by about the same. So the bias is taken for a random walk along the row,
//! seen in the difference of both through the noise of the linear estimate, and taken away.

use rayon::prelude::*;

/// How far the bias may go, as a variance per column in units of that of the linear estimate.
const FACTORS: [f64; 6] = [0.0, 1e-3, 0.03, 1.0, 30.0, 1e3];
/// What cells are off by each for itself, in units of the variance of the difference's noise. Order does that where rows have lumps.
const LONE: [f64; 8] = [0.0, 0.5, 1.0, 2.0, 8.0, 32.0, 128.0, 1_024.0];
/// Up to this much of it, the row is taken as it is: going part of the way to a row that jumps up and down costs more counts than squares say.
const LONE_IS_LEFT: f64 = 0.5;
/// The part of the walk that is the same in all columns. The rest is where groups are, and where the row's freedom changes, in equal halves.
const EVEN: f64 = 0.1;
/// The noise of a difference is at least this part of that of the linear estimate.
const LEAST_NOISE: f64 = 0.05;

/// Two estimates of a cumulative row.
#[derive(Clone, Copy)]
pub(super) struct Pair<'e> {
    /// Without bias.
    pub(super) linear: &'e [f64],
    /// Of each of its cells.
    pub(super) variance: f64,
    /// With less noise, and a bias.
    pub(super) other: &'e [f64],
    /// How much of the noise of the linear one each of its cells follows, as a share.
    pub(super) follows: &'e [f64],
}

/// What comes of a pair.
pub(super) struct Corrected {
    pub(super) row: Vec<f64>,
    /// Expected squares of what its cells are off by, which are their covariances with the linear estimate, too.
    pub(super) risks: Vec<f64>,
}

/// The second row of each pair without its bias, whose law is the likeliest one for all of them together: regions of a level are alike in that.
pub(super) fn corrected(pairs: &[Pair<'_>]) -> Vec<Corrected> {
    let seen: Vec<Difference> = pairs.par_iter().map(Difference::new).collect();
    let of_pairs: Vec<_> = seen.par_iter().map(Difference::likelihoods).collect();
    let mut best = (f64::NEG_INFINITY, 0.0, 0.0);
    for (i, factor) in FACTORS.into_iter().enumerate() {
        for (j, lone) in LONE.into_iter().enumerate() {
            // In a fixed order, so that threads do not matter.
            let all = of_pairs.iter().map(|likelihoods| likelihoods[i][j]).sum();
            if all > best.0 {
                best = (all, factor, lone);
            }
        }
    }
    let (_, factor, lone) = best;
    pairs.par_iter().zip(seen).map(|(pair, seen)| seen.corrected(pair, factor, lone)).collect()
}

/// A linear row less the other one, column by column.
struct Difference {
    cells: Vec<Cell>,
}

struct Cell {
    value: f64,
    /// Of the noise: what the other row does not follow.
    variance: f64,
    /// How far the walk goes from the column before to here, as a variance.
    step: f64,
}

impl Difference {
    fn new(pair: &Pair<'_>) -> Self {
        let columns = pair.other.len() as f64;
        let counts = || steps(pair.other, 0.0).map(|count| count.max(0.0));
        // Before the first column no row can be off.
        let freed = || steps(pair.follows, 1.0).map(|step| step * step);
        let part = |of: f64, all: f64| if all > 0.0 { of / all } else { 0.0 };
        let (groups, all): (f64, f64) = (counts().sum(), freed().sum());
        let shares = counts().zip(freed()).map(|(count, freed)| {
            let uneven = f64::midpoint(part(count, groups), part(freed, all));
            EVEN / columns + (1.0 - EVEN) * uneven
        });
        let cells = pair.linear.iter().zip(pair.other).zip(pair.follows).zip(shares).map(
            |(((linear, other), follows), share)| Cell {
                value: linear - other,
                variance: pair.variance * (1.0 - follows).max(LEAST_NOISE),
                step: pair.variance * columns * share,
            },
        );
        Self { cells: cells.collect() }
    }

    /// Logarithms of the likelihood of each law, but for a constant, by Kalman's filter. Those of a factor go side by side: none waits for another's divisions, and one
    /// logarithm serves several columns.
    fn likelihoods(&self) -> [[f64; LONE.len()]; FACTORS.len()] {
        const LAWS: usize = LONE.len();
        FACTORS.map(|factor| {
            let (mut means, mut variances) = ([0.0; LAWS], [0.0; LAWS]);
            let (mut twice, mut spreads) = ([0.0; LAWS], [1.0; LAWS]);
            for (column, cell) in self.cells.iter().enumerate() {
                for law in 0..LAWS {
                    let noise = cell.variance * (1.0 + LONE[law]);
                    let variance = variances[law] + factor * cell.step;
                    let spread = variance + noise;
                    let precision = 1.0 / spread;
                    let off = cell.value - means[law];
                    spreads[law] *= spread;
                    twice[law] += off * off * precision;
                    means[law] += variance * precision * off;
                    variances[law] = variance * noise * precision;
                }
                // Variances are below 2^200, so that products stay in range.
                if column % 4 == 3 || column + 1 == self.cells.len() {
                    twice
                        .iter_mut()
                        .zip(&spreads)
                        .for_each(|(twice, spread)| *twice += spread.ln());
                    spreads = [1.0; LAWS];
                }
            }
            twice.map(|twice| -0.5 * twice)
        })
    }

    /// Means and variances of the walk given the whole row: Rauch's, Tung's and Striebel's smoother.
    fn walk(&self, factor: f64, lone: f64) -> Vec<(f64, f64)> {
        let (mut mean, mut variance) = (0.0, 0.0);
        let filtered = self.cells.iter().map(|cell| {
            let noise = cell.variance * (1.0 + lone);
            variance += factor * cell.step;
            let gain = variance / (variance + noise);
            mean += gain * (cell.value - mean);
            variance = gain * noise;
            (mean, variance)
        });
        let mut walk: Vec<(f64, f64)> = filtered.collect();
        for column in (1..walk.len()).rev() {
            let (mean, variance) = walk[column - 1];
            let ahead = variance + factor * self.cells[column].step;
            let gain = if ahead > 0.0 { variance / ahead } else { 0.0 };
            let (next, of_next) = walk[column];
            walk[column - 1] =
                (mean + gain * (next - mean), variance + gain * gain * (of_next - ahead));
        }
        walk
    }

    fn corrected(&self, pair: &Pair<'_>, factor: f64, lone: f64) -> Corrected {
        let back = if lone > LONE_IS_LEFT { lone / (1.0 + lone) } else { 0.0 };
        let (mut row, mut risks) = (Vec::new(), Vec::new());
        let walk = self.walk(factor, lone);
        let cells = self.cells.iter().zip(walk).zip(pair.other).zip(pair.follows);
        for (((cell, (mean, variance)), other), follows) in cells {
            row.push(other + mean + back * (cell.value - mean));
            let of_bias = (1.0 - back).powi(2) * variance + back * cell.variance;
            risks.push(follows * pair.variance + of_bias);
        }
        Corrected { row, risks }
    }
}

/// From column to column, the first from a value before it.
fn steps(row: &[f64], mut before: f64) -> impl Iterator<Item = f64> {
    row.iter().map(move |&value| {
        let step = value - before;
        before = value;
        step
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::random;
    use rand::RngExt;

    const COLUMNS: usize = 200;

    /// Mean squares of what cells and counts of the corrected row are off by, where the linear one has noise of deviation 10, the other one this bias and half of that noise.
    fn errors(bias: impl Fn(usize) -> f64) -> [f64; 2] {
        let mut rng = random::generator(98);
        let (mut cells, mut counts) = (0.0, 0.0);
        let rounds = 40;
        for _ in 0..rounds {
            let width = 10.0 * 3.0_f64.sqrt();
            let mut noise = || -> Vec<f64> {
                (0..COLUMNS).map(|_| rng.random_range(-width..width) / 2.0_f64.sqrt()).collect()
            };
            let truth = |column: usize| 50.0 * column as f64;
            let (shared, own) = (noise(), noise());
            let linear: Vec<f64> = (0..COLUMNS).map(|c| truth(c) + shared[c] + own[c]).collect();
            let other: Vec<f64> = (0..COLUMNS).map(|c| truth(c) + shared[c] + bias(c)).collect();
            let follows = vec![0.5; COLUMNS];
            let pair = Pair { linear: &linear, variance: 100.0, other: &other, follows: &follows };
            let found = &corrected(&[pair])[0];
            let off: Vec<f64> = (0..COLUMNS).map(|c| found.row[c] - truth(c)).collect();
            cells += off.iter().map(|off| off * off).sum::<f64>();
            counts += steps(&off, 0.0).map(|off| off * off).sum::<f64>();
        }
        [cells, counts].map(|sum| sum / (rounds * COLUMNS) as f64)
    }

    /// What both rows share stays, 50 a cell and 100 a count; of what the linear one has besides, little comes in.
    #[test]
    fn a_smooth_bias_is_taken_away_without_the_noise() {
        let [cells, counts] = errors(|_| 0.0);
        assert!(cells < 52.0 && counts < 102.0, "{cells} {counts}");
        // Eight times the deviation of the linear cells, which have 100 and 200.
        let [cells, counts] = errors(|column| 80.0 * (column as f64 / 40.0).sin());
        assert!(cells < 75.0 && counts < 115.0, "{cells} {counts}");
    }

    #[test]
    fn where_each_cell_is_off_by_itself_the_linear_row_is_kept() {
        let [cells, counts] = errors(|column| if column % 2 == 0 { 60.0 } else { -60.0 });
        assert!(cells < 110.0 && counts < 220.0, "{cells} {counts}");
    }

    #[test]
    fn risks_are_what_rows_are_off_by() {
        let pair = |row: &'static [f64], follows: &'static [f64]| Pair {
            linear: row,
            variance: 4.0,
            other: row,
            follows,
        };
        let found = corrected(&[pair(&[1.0, 2.0, 9.0], &[0.25, 0.5, 0.5]); 30]);
        // Nothing is seen of a bias in thirty rows.
        for Corrected { row, risks } in found {
            assert_eq!(row, [1.0, 2.0, 9.0]);
            assert_eq!(risks, [1.0, 2.0, 2.0]);
        }
        assert!(corrected(&[]).is_empty());
    }

    #[test]
    fn likelihoods_are_those_of_one_law_at_a_time() {
        let mut rng = random::generator(99);
        for columns in 1..30 {
            let mut row =
                || -> Vec<f64> { (0..columns).map(|_| rng.random_range(0.0..90.0)).collect() };
            let (linear, other) = (row(), row());
            let follows: Vec<f64> = row().iter().map(|value| value / 90.0).collect();
            let pair = Pair { linear: &linear, variance: 70.0, other: &other, follows: &follows };
            let seen = Difference::new(&pair);
            let found = seen.likelihoods();
            for (factor, found) in FACTORS.into_iter().zip(found) {
                for (lone, found) in LONE.into_iter().zip(found) {
                    let (mut mean, mut variance, mut twice) = (0.0, 0.0, 0.0);
                    for cell in &seen.cells {
                        variance += factor * cell.step;
                        let noise = cell.variance * (1.0 + lone);
                        let spread: f64 = variance + noise;
                        let off = cell.value - mean;
                        twice += spread.ln() + off * off / spread;
                        mean += variance / spread * off;
                        variance *= noise / spread;
                    }
                    let off: f64 = found + 0.5 * twice;
                    assert!(off.abs() < 1e-9 * (1.0 + twice.abs()), "{found} {twice}");
                }
            }
        }
    }
}

//! The root's row without the lumps that noise gives it, where it is smooth.
//!
//! The closest nondecreasing row to a noisy one is level for some columns and then jumps: groups stand in lumps, and the lumps go down to every region
//! that is drawn to the row. Where sizes next to each other have about as many groups, a row that knows it is closer. Whether they have, the noisy
//! row says itself, by the likelihood of several laws; a row that is not smooth is left as it is.

use super::pooled::pool;

/// How far the level of counts goes from one size to the next, as a variance in units of the square of the count that is usual there.
const WALKS: [f64; 5] = [1e-5, 1e-3, 0.01, 0.1, 1.0];
/// How far counts are from that level each by itself, in the same units.
const LONE: [f64; 8] = [1e-4, 0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0];
/// Up to this much of it a row is smooth. Smoothing one that jumps takes groups from the sizes that have them, which costs more counts than squares say.
const MOST_LONE: f64 = 0.05;
/// What count is usual at a size is told from as many sizes around as have that many deviations of the noise.
const SEEN: f64 = 8.0;
/// But it is not taken for less than that.
const LEAST_COUNT: f64 = 1e-3;
/// Variance of the known number of groups at the end, so that nothing is divided by zero.
const OF_END: f64 = 1e-6;
/// Laws that are less likely than that share of the likeliest do not count.
const UNLIKELY: f64 = 0.01;

/// The cumulative row closer to the truth, as far as it is smooth. `variances` are those of the noise of its cells, above 0.
pub(super) fn smoothed(row: &[f64], variances: &[f64], groups: i64) -> Vec<f64> {
    if row.len() < 3 || groups <= 0 {
        return row.to_vec();
    }
    let groups = groups as f64;
    let usual = usual_counts(row, variances, groups);
    let seen = Seen { row, variances, usual, groups };
    let laws = WALKS.iter().flat_map(|&walk| LONE.map(|lone| Law { walk, lone }));
    let laws: Vec<(f64, Law)> = laws.map(|law| (seen.filtered(law, |_, _| {}), law)).collect();
    let most = laws.iter().map(|(logarithm, _)| *logarithm).fold(f64::NEG_INFINITY, f64::max);
    let (mut smooth, mut total) = (vec![0.0; row.len()], 0.0);
    for (logarithm, law) in laws {
        let weight = (logarithm - most).exp();
        if weight < UNLIKELY {
            continue;
        }
        total += weight;
        let add = |(sum, value): (&mut f64, &f64)| *sum += weight * value;
        if law.lone > MOST_LONE {
            smooth.iter_mut().zip(row).for_each(add);
        } else {
            smooth.iter_mut().zip(&seen.smoothed(law)).for_each(add);
        }
    }
    smooth.into_iter().map(|sum| sum / total).collect()
}

/// What counts are usual around each size: a mean over as many sizes to either side as have [`SEEN`] deviations in the closest nondecreasing row.
fn usual_counts(row: &[f64], variances: &[f64], groups: f64) -> Vec<f64> {
    let mut blocks = Vec::new();
    pool(row, variances, &mut blocks);
    // One place for each column, and one before the first.
    let columns = row.len();
    let (mut sums, mut end) = (vec![0.0; columns + 1], columns);
    for block in blocks.iter().rev() {
        sums[block.start + 1..=end].fill(block.mean().clamp(0.0, groups));
        end = block.start;
    }
    sums[columns] = groups;
    let usual = |(column, variance): (usize, &f64)| {
        let least = SEEN * variance.sqrt();
        let around =
            |width: usize| (column.saturating_sub(width), (column + 1 + width).min(columns));
        let mass = |(from, to): (usize, usize)| sums[to] - sums[from];
        // The least width with enough, or all columns: there is no less in a wider one.
        let (mut low, mut high) = (0, columns);
        while low < high {
            let middle = low.midpoint(high);
            if mass(around(middle)) >= least {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        let (from, to) = around(low);
        (mass((from, to)) / (to - from) as f64).max(LEAST_COUNT)
    };
    variances.iter().enumerate().map(usual).collect()
}

/// Of counts along a row: `walk` and `lone` are those of [`WALKS`] and [`LONE`].
#[derive(Clone, Copy)]
struct Law {
    walk: f64,
    lone: f64,
}

/// A cumulative cell and the level of the counts there: their means, and the variance of the first, the covariance, and the variance of the second.
#[derive(Clone, Copy)]
struct State {
    cell: f64,
    level: f64,
    of_cell: f64,
    both: f64,
    of_level: f64,
}

struct Seen<'a> {
    row: &'a [f64],
    variances: &'a [f64],
    usual: Vec<f64>,
    groups: f64,
}

impl Seen<'_> {
    /// Kalman's filter along the row: `out` gets the state of each column before its cell is seen, and after. Returns the logarithm of the likelihood, but for a constant.
    fn filtered(&self, law: Law, mut out: impl FnMut(State, State)) -> f64 {
        let first = self.usual[0];
        let mut state =
            State { cell: 0.0, level: first, of_cell: 0.0, both: 0.0, of_level: first * first };
        let mut twice = 0.0;
        for (column, &usual) in self.usual.iter().enumerate() {
            let unit = usual * usual;
            // The level moves, and the cell grows by it and by what this count has alone.
            let of_level = state.of_level + law.walk * unit;
            let before = State {
                cell: state.cell + state.level,
                level: state.level,
                of_cell: state.of_cell + 2.0 * state.both + of_level + law.lone * unit,
                both: state.both + of_level,
                of_level,
            };
            let (value, noise) = if column + 1 == self.row.len() {
                (self.groups, OF_END)
            } else {
                (self.row[column], self.variances[column])
            };
            let spread = before.of_cell + noise;
            let off = value - before.cell;
            twice += spread.ln() + off * off / spread;
            state = State {
                cell: before.cell + before.of_cell / spread * off,
                level: before.level + before.both / spread * off,
                of_cell: before.of_cell * noise / spread,
                both: before.both * noise / spread,
                of_level: before.of_level - before.both * before.both / spread,
            };
            out(before, state);
        }
        -0.5 * twice
    }

    /// The means of all cells given the whole row: Rauch's, Tung's and Striebel's smoother.
    fn smoothed(&self, law: Law) -> Vec<f64> {
        let mut states = Vec::with_capacity(self.row.len());
        self.filtered(law, |before, after| states.push((before, after)));
        let mut row = vec![self.groups; states.len()];
        let Some(&(mut ahead, last)) = states.last() else { return row };
        let (mut cell, mut level) = (last.cell, last.level);
        for (value, &(before, state)) in row.iter_mut().zip(&states).rev().skip(1) {
            // What the state here and the one expected next have in common, over the variance of the latter.
            let [a, b] = [state.of_cell + state.both, state.both];
            let [c, d] = [state.both + state.of_level, state.of_level];
            let determinant =
                (ahead.of_cell * ahead.of_level - ahead.both * ahead.both).max(1e-300);
            let [off, of_level] = [cell - ahead.cell, level - ahead.level];
            let along = (ahead.of_level * off - ahead.both * of_level) / determinant;
            let across = (ahead.of_cell * of_level - ahead.both * off) / determinant;
            cell = state.cell + a * along + b * across;
            level = state.level + c * along + d * across;
            *value = cell;
            ahead = before;
        }
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::random;
    use rand::RngExt;

    const COLUMNS: usize = 120;
    const DEVIATION: f64 = 60.0;

    /// What counts are off by in all, over some draws of noise: of the closest nondecreasing row, and of that to the smoothed one.
    fn errors(counts: impl Fn(usize) -> i64) -> [f64; 2] {
        let mut rng = random::generator(103);
        let counts: Vec<i64> = (0..COLUMNS).map(counts).collect();
        let groups: i64 = counts.iter().sum();
        let variances = vec![DEVIATION * DEVIATION; COLUMNS];
        let width = DEVIATION * 3.0_f64.sqrt();
        let mut errors = [0.0; 2];
        for _ in 0..20 {
            let mut sum = 0;
            let noisy = counts.iter().map(|count| {
                sum += count;
                sum as f64 + rng.random_range(-width..width)
            });
            let noisy: Vec<f64> = noisy.collect();
            let smooth = smoothed(&noisy, &variances, groups);
            for (error, row) in errors.iter_mut().zip([&noisy, &smooth]) {
                let found = crate::solve::cumulative_top_down::closest_root(row, groups);
                let off = found.iter().zip(&counts).map(|(a, b)| a.abs_diff(*b) as f64);
                *error += off.sum::<f64>();
            }
        }
        errors
    }

    #[test]
    fn a_smooth_row_has_less_than_half_of_the_error_and_one_of_a_few_sizes_what_it_had() {
        let bell = |column: usize| {
            let off = (column as f64 - 50.0) / 20.0;
            #[expect(clippy::cast_possible_truncation, reason = "up to 100")]
            let count = (100.0 * (-0.5 * off * off).exp()) as i64;
            count
        };
        let [plain, smooth] = errors(bell);
        assert!(smooth < plain / 2.0, "{plain} {smooth}");
        let [plain, smooth] = errors(|column| if column % 17 == 3 { 700 } else { 0 });
        assert!((smooth / plain - 1.0).abs() < 0.01, "{plain} {smooth}");
    }

    /// The same row by the law of all cells at once: the mean given what is seen solves a dense system.
    #[test]
    fn smoothing_is_the_mean_given_the_whole_row() {
        let mut rng = random::generator(104);
        let columns = 9;
        let row: Vec<f64> = (0..columns).map(|_| rng.random_range(0.0..90.0)).collect();
        let variances: Vec<f64> = (0..columns).map(|_| rng.random_range(1.0..90.0)).collect();
        let usual: Vec<f64> = (0..columns).map(|_| rng.random_range(1.0..9.0)).collect();
        let seen = Seen { row: &row, variances: &variances, usual: usual.clone(), groups: 77.0 };
        let law = Law { walk: 0.3, lone: 0.2 };
        // Covariance of cells: each is a sum over independent steps.
        let part =
            |cell: usize, step: usize| if step <= cell { (cell - step + 1) as f64 } else { 0.0 };
        let covariance = |i: usize, j: usize| {
            let of_start = (i + 1) as f64 * (j + 1) as f64 * usual[0].powi(2);
            let of_steps = (0..=i.min(j))
                .map(|k| usual[k].powi(2) * (law.walk * part(i, k) * part(j, k) + law.lone));
            of_start + of_steps.sum::<f64>()
        };
        let mean = |i: usize| (i + 1) as f64 * usual[0];
        let noise = |i: usize| if i + 1 == columns { OF_END } else { variances[i] };
        let value = |i: usize| if i + 1 == columns { 77.0 } else { row[i] };
        let mut system: Vec<Vec<f64>> = (0..columns)
            .map(|i| {
                let cells =
                    (0..columns).map(|j| covariance(i, j) + if i == j { noise(i) } else { 0.0 });
                cells.chain([value(i) - mean(i)]).collect()
            })
            .collect();
        for pivot in 0..columns {
            let of_pivot = system[pivot].clone();
            for (_, line) in system.iter_mut().enumerate().filter(|(i, _)| *i != pivot) {
                let factor = line[pivot] / of_pivot[pivot];
                line.iter_mut().zip(&of_pivot).for_each(|(a, b)| *a -= factor * b);
            }
        }
        let weights: Vec<f64> = (0..columns).map(|i| system[i][columns] / system[i][i]).collect();
        for (i, found) in seen.smoothed(law).into_iter().enumerate().take(columns - 1) {
            let want = mean(i) + (0..columns).map(|j| covariance(i, j) * weights[j]).sum::<f64>();
            assert!((found - want).abs() < 1e-4 * (1.0 + want.abs()), "{i}: {found} {want}");
        }
    }

    #[test]
    fn odd_rows_stay_finite() {
        let most = crate::solve::MAX_VALUE as f64;
        for groups in [0, 1, 5, crate::solve::MAX_VALUE] {
            for row in
                [vec![], vec![3.0], vec![-9.0, 4.0], vec![0.0; 30], vec![most, -most, most, 0.0]]
            {
                for variance in [1e-9, 1.0, 1e20] {
                    let smooth = smoothed(&row, &vec![variance; row.len()], groups);
                    assert_eq!(smooth.len(), row.len());
                    assert!(smooth.iter().all(|cell| cell.is_finite()), "{row:?} {smooth:?}");
                }
            }
        }
    }
}

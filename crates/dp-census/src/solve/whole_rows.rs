//! Rows of whole numbers that add up, near to real ones: one column after the other, then exchanges that gain.
//!
//! Each column is closest to its targets given the column before it, which is a choice of the cheapest units. What a column could not
//! know of those after it is mended by exchanges: in one column, a child gets a unit that another gives. Every pass is of linear time
//! in the cells, but for sorting where something gains. Rows keep their order and their ends throughout, so that the result is feasible
//! whatever the targets are.

/// Passes of exchanges over all columns. Where noise is small the first one finds nothing to do.
const MOST_PASSES: usize = 8;

/// What the rows are to be near to, column by column.
pub(super) struct Targets<'a> {
    /// What the rows add up to, nondecreasing.
    pub(super) totals: &'a [i64],
    /// Row-major: a row per child, a column per total.
    pub(super) values: &'a [f64],
    /// What the square of a distance counts, cell by cell, above 0.
    pub(super) weights: &'a [f64],
    /// Where each row must end, if that is given; they add up to the last total.
    pub(super) ends: Option<&'a [i64]>,
}

impl Targets<'_> {
    /// Nondecreasing nonnegative rows that add up to the totals, row-major.
    pub(super) fn rows(&self) -> Vec<i64> {
        let mut rows = vec![0; self.values.len()];
        self.fill(&mut rows);
        self.exchange(&mut rows);
        rows
    }

    fn columns(&self) -> usize {
        self.totals.len()
    }

    fn end(&self, child: usize) -> i64 {
        self.ends.map_or(i64::MAX, |ends| ends[child])
    }

    /// What one unit more costs, and one less.
    fn slopes(&self, cell: usize, value: i64) -> (f64, f64) {
        let slope = 2.0 * (value as f64 - self.values[cell]);
        (self.weights[cell] * (1.0 + slope), self.weights[cell] * (1.0 - slope))
    }

    /// Each column as near to its targets as the one before it allows.
    fn fill(&self, rows: &mut [i64]) {
        let columns = self.columns();
        let children = rows.len() / columns.max(1);
        let mut before = vec![0_i64; children];
        let mut now = before.clone();
        let mut order: Vec<(f64, usize)> = Vec::with_capacity(children);
        for column in 0..columns {
            for (child, value) in now.iter_mut().enumerate() {
                let target = self.values[child * columns + column];
                // Targets that are whole but for rounding errors count as whole.
                #[expect(clippy::cast_possible_truncation, reason = "saturates, then the clamp")]
                let floor = (target + 1e-7).floor() as i64;
                *value = floor.min(self.totals[column]).min(self.end(child)).max(before[child]);
            }
            let sum: i128 = now.iter().map(|&value| i128::from(value)).sum();
            let mut missing = i128::from(self.totals[column]) - sum;
            while missing != 0 {
                let up = missing > 0;
                order.clear();
                order.extend((0..children).filter_map(|child| {
                    let value = now[child];
                    let free = if up { value < self.end(child) } else { value > before[child] };
                    let (raise, lower) = self.slopes(child * columns + column, value);
                    free.then_some((if up { raise } else { lower }, child))
                }));
                let units = usize::try_from(missing.unsigned_abs()).unwrap_or(usize::MAX);
                // Totals do not fall and are not above the ends, so that somebody can take or give a unit.
                let Some(each) = units.checked_div(order.len()) else { break };
                if each == 0 {
                    let cheapest = |a: &(f64, usize), b: &(f64, usize)| {
                        a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
                    };
                    order.select_nth_unstable_by(units - 1, cheapest);
                    order.truncate(units);
                }
                let each = i64::try_from(each.max(1)).unwrap_or(i64::MAX);
                for &(_, child) in &order {
                    let value = &mut now[child];
                    let limit = if up { self.end(child) } else { before[child] };
                    let room = if up { limit.saturating_sub(*value) } else { *value - limit };
                    let moved = each.min(room);
                    *value += if up { moved } else { -moved };
                    missing += i128::from(if up { -moved } else { moved });
                }
            }
            for (child, &value) in now.iter().enumerate() {
                rows[child * columns + column] = value;
            }
            before.copy_from_slice(&now);
        }
    }

    /// Lets a child give a unit of a column to another one as long as that comes closer.
    fn exchange(&self, rows: &mut [i64]) {
        let columns = self.columns();
        let children = rows.len() / columns.max(1);
        let last = if self.ends.is_some() { columns.saturating_sub(1) } else { columns };
        let (mut raises, mut lowers) = (Vec::new(), Vec::new());
        for pass in 0..MOST_PASSES {
            let mut gained = false;
            for i in 0..last {
                // A row that is flat can be lowered from its left and raised from its right.
                let column = if pass % 2 == 0 { i } else { last - 1 - i };
                raises.clear();
                lowers.clear();
                for child in 0..children {
                    let cell = child * columns + column;
                    let value = rows[cell];
                    let (raise, lower) = self.slopes(cell, value);
                    let next = if column + 1 < columns { rows[cell + 1] } else { i64::MAX };
                    let before = if column == 0 { 0 } else { rows[cell - 1] };
                    if value < next {
                        raises.push((raise, child));
                    }
                    if value > before {
                        lowers.push((lower, child));
                    }
                }
                let least = |moves: &[(f64, usize)]| {
                    moves.iter().fold(f64::INFINITY, |least, (cost, _)| least.min(*cost))
                };
                if least(&raises) + least(&lowers) >= -1e-9 {
                    continue;
                }
                raises.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                lowers.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                // A child that gains by a unit more loses by one less, so that none is in a pair of either kind.
                for ((raise, up), (lower, down)) in raises.iter().zip(&lowers) {
                    if raise + lower >= -1e-9 || up == down {
                        break;
                    }
                    rows[up * columns + column] += 1;
                    rows[down * columns + column] -= 1;
                    gained = true;
                }
            }
            if !gained {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::random;
    use rand::RngExt;

    /// The least cost of whole rows, by trying all of them.
    fn least(targets: &Targets<'_>, children: usize) -> f64 {
        let columns = targets.totals.len();
        let mut best = f64::INFINITY;
        let mut rows = vec![0; children * columns];
        try_all(targets, columns, 0, 0, &mut rows, &mut best);
        best
    }

    fn try_all(
        targets: &Targets<'_>,
        columns: usize,
        cell: usize,
        used: i64,
        rows: &mut [i64],
        best: &mut f64,
    ) {
        let children = rows.len() / columns;
        let (column, child) = (cell / children, cell % children);
        if column == columns {
            *best = best.min(cost(targets, rows));
            return;
        }
        let before = if column == 0 { 0 } else { rows[child * columns + column - 1] };
        let total = targets.totals[column];
        let range =
            if child + 1 == children { total - used..=total - used } else { before..=total - used };
        for value in range {
            let ends = targets.ends.map_or(i64::MAX, |ends| ends[child]);
            if value < before || value > ends {
                continue;
            }
            rows[child * columns + column] = value;
            let used = if child + 1 == children { 0 } else { used + value };
            try_all(targets, columns, cell + 1, used, rows, best);
        }
    }

    fn cost(targets: &Targets<'_>, rows: &[i64]) -> f64 {
        let cells = rows.iter().zip(targets.values).zip(targets.weights);
        cells.map(|((&x, t), w)| w * (x as f64 - t).powi(2)).sum()
    }

    /// Near to the best there are where targets nearly add up, and feasible wherever they lie.
    #[test]
    fn near_to_the_best_and_always_feasible() {
        let mut rng = random::generator(91);
        let (mut ours, mut bests) = (0.0, 0.0);
        for case in 0..400 {
            let (children, columns) = (rng.random_range(1..4), rng.random_range(1..4));
            let mut truth = vec![0_i64; children * columns];
            for row in truth.chunks_exact_mut(columns) {
                let mut sum = 0;
                for cell in row {
                    sum += rng.random_range(0..3);
                    *cell = sum;
                }
            }
            let totals: Vec<i64> =
                (0..columns).map(|c| truth.iter().skip(c).step_by(columns).sum()).collect();
            let wild = if case % 4 == 0 { 50.0 } else { 0.8 };
            let values: Vec<f64> =
                truth.iter().map(|&x| x as f64 + rng.random_range(-wild..wild)).collect();
            let weights: Vec<f64> = truth.iter().map(|_| rng.random_range(0.5..2.0)).collect();
            let ends: Vec<i64> = truth.iter().skip(columns - 1).step_by(columns).copied().collect();
            let ends = (case % 2 == 0).then_some(&ends[..]);
            let targets = Targets { totals: &totals, values: &values, weights: &weights, ends };
            let rows = targets.rows();
            for (column, &total) in totals.iter().enumerate() {
                assert_eq!(rows.iter().skip(column).step_by(columns).sum::<i64>(), total);
            }
            for (child, row) in rows.chunks_exact(columns).enumerate() {
                assert!(row[0] >= 0 && row.is_sorted(), "{row:?}");
                assert!(ends.is_none_or(|ends| row[columns - 1] == ends[child]));
            }
            if wild < 1.0 {
                ours += cost(&targets, &rows);
                bests += least(&targets, children);
            }
        }
        assert!(ours < 1.1 * bests, "{ours} {bests}");
    }

    #[test]
    fn whole_targets_come_back_and_nothing_is_nothing() {
        let weights = [1.0; 4];
        let values = [1.0, 3.0, 0.0, 5.0];
        let targets = Targets { totals: &[1, 8], values: &values, weights: &weights, ends: None };
        assert_eq!(targets.rows(), [1, 3, 0, 5]);
        let nothing = Targets { totals: &[], values: &[], weights: &[], ends: None };
        assert!(nothing.rows().is_empty());
        let far = Targets { totals: &[0, 1 << 36], values: &[-1e18, 1e18, 1e18, -1e18], ..targets };
        let rows = far.rows();
        assert_eq!((rows[0] + rows[2], rows[1] + rows[3]), (0, 1 << 36));
    }
}

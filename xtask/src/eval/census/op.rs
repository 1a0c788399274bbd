//! `M_dp^OP`, which the paper times against: the dynamic program over cost tables, every entry of which a general solver finds.
//!
//! The paper's domains have thousands of values each and its solver did not finish. Here each domain has a few values around the optimum,
//! which another solver has found: less work than any domain chosen without knowing it.

use crate::error::Error;
use crate::eval::cell::{Cost, measured};
use crate::eval::census::algorithms::noisy_table;
use crate::eval::census::qp::Program;
use crate::eval::census::{measure, scaling};
use crate::eval::record::Record;
use crate::eval::settings::Effort;
use dp_census::Query;
use dp_census::solve::cost_table::CostTable;
use dp_census::solve::{Problem, tree};
use quietus_datasets::sets::census::Dataset;
use rand::rngs::ChaCha20Rng;
use serde_json::Value;
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

pub(super) const ID: &str = "m-dp-op";
/// Numbers of columns that it is run on.
pub(super) const COLUMNS: [usize; 2] = [5, 10];
/// It is stopped after this time.
pub(super) const TIME_LIMIT: Duration = Duration::from_mins(1);
/// The settings of a cell.
pub(super) const AROUND: &str = "values_around_optimum";
pub(super) const LIMIT: &str = "time_limit_seconds";
/// The metric that says whether it was stopped.
pub(super) const STOPPED: &str = "time_limit_hit";

/// Values on either side of the optimum in each domain.
pub(super) fn around(effort: Effort) -> u32 {
    if effort == Effort::Quick { 5 } else { 25 }
}

/// Values in a domain of the paper at the noise of these cells: `3 ceil(2 lambda^2)` on either side.
pub(super) fn width_of_the_paper() -> f64 {
    let scale = 2.0 * scaling::REGIONS_BY_LEVEL.len() as f64 / scaling::EPSILON;
    2.0 * 3.0 * (2.0 * scale * scale).ceil() + 1.0
}

/// One release on the table of a city; finding the centres of the domains is not timed.
pub(super) fn run(data: &Dataset, cell: &Record, rng: &mut ChaCha20Rng) -> Result<Record, Error> {
    let around = cell.params.get(AROUND).and_then(Value::as_i64).unwrap_or(1);
    let (tree, columns) = (data.hierarchy.tree(), data.sizes.columns());
    let noise = || noisy_table(tree, &data.sizes, Query::Counts, scaling::EPSILON, rng);
    let (noisy, of_noise) = measured(noise)?;
    let weights = vec![1; tree.levels()];
    let problem = Problem::new(tree, columns, &noisy, &weights, data.sizes.groups())?;
    let optimum = tree::solve(&problem);
    let (solution, Cost { seconds, peak_rss_mib }) =
        measured(|| solve(&problem, &optimum, around, TIME_LIMIT))?;
    let stopped = solution.counts.is_none();
    let mut metrics = solution.counts.map_or_else(Default::default, |counts| {
        let mut metrics = measure::metrics_of(data, &counts);
        let [found, least] = [&counts, &optimum].map(|counts| objective(&problem, counts));
        metrics.insert("objective_excess".to_owned(), (found - least) as f64);
        metrics
    });
    metrics.insert(STOPPED.to_owned(), f64::from(u8::from(stopped)));
    metrics.insert("programs".to_owned(), solution.programs as f64);
    let seconds = of_noise.seconds + seconds;
    Ok(Record { metrics, seconds, peak_rss_mib, ..cell.clone() })
}

fn objective(problem: &Problem<'_>, counts: &[i64]) -> i128 {
    let (tree, columns) = (problem.tree(), problem.bins());
    let of_region = |region: usize| {
        let weight = i128::from(problem.level_weights()[tree.level_of(region)]);
        let row = counts[region * columns..].iter().zip(problem.row(region));
        weight * row.map(|(x, y)| i128::from(x - y).pow(2)).sum::<i128>()
    };
    (0..tree.len()).map(of_region).sum()
}

/// What came out in time, and how many programs it took.
struct Solution {
    counts: Option<Vec<i64>>,
    programs: u64,
}

/// The closest table of whole numbers among those within `around` of `centre`: tables of costs from the leaves up, one program for each
/// entry, then values from the root down, one program for each region.
fn solve(
    problem: &Problem<'_>,
    centre: &[i64],
    around: i64,
    limit: Duration,
) -> Result<Solution, Error> {
    let mut clock = Clock { begin: Instant::now(), limit, programs: 0 };
    let counts = tables(problem, centre, around, &mut clock)?;
    let counts = counts.map(|tables| values(problem, &tables, &mut clock)).transpose()?.flatten();
    Ok(Solution { counts, programs: clock.programs })
}

/// Counts programs, and says when there is no time for another.
struct Clock {
    begin: Instant,
    limit: Duration,
    programs: u64,
}

impl Clock {
    fn least_sum(
        &mut self,
        parts: &[&CostTable],
        total: i64,
    ) -> Result<Option<(i128, Vec<i64>)>, Error> {
        if self.begin.elapsed() > self.limit {
            return Ok(None);
        }
        self.programs += 1;
        least_sum(parts, total).map(Some)
    }
}

/// The cost table of every region and column; nothing if time is up.
fn tables(
    problem: &Problem<'_>,
    centre: &[i64],
    around: i64,
    clock: &mut Clock,
) -> Result<Option<Vec<CostTable>>, Error> {
    let (tree, columns) = (problem.tree(), problem.bins());
    let mut tables = vec![CostTable::new(0, Vec::new()); tree.len() * columns];
    for region in (0..tree.len()).rev() {
        let weight = problem.level_weights()[tree.level_of(region)];
        for (column, &noisy) in problem.row(region).iter().enumerate() {
            let cell = region * columns + column;
            let domain = (centre[cell] - around).max(0)..=centre[cell] + around;
            let parts: Vec<&CostTable> =
                tree.children(region).map(|part| &tables[part * columns + column]).collect();
            tables[cell] = if parts.is_empty() {
                CostTable::leaf(noisy, weight, domain)
            } else {
                let Some(mut table) = merge(&parts, domain, clock)? else { return Ok(None) };
                table.add_node(noisy, weight);
                table
            };
        }
    }
    Ok(Some(tables))
}

/// The least cost of the parts for each total of the domain.
fn merge(
    parts: &[&CostTable],
    domain: RangeInclusive<i64>,
    clock: &mut Clock,
) -> Result<Option<CostTable>, Error> {
    let first = *domain.start();
    let mut costs = Vec::new();
    for total in domain {
        let Some((cost, _)) = clock.least_sum(parts, total)? else { return Ok(None) };
        costs.push(cost);
    }
    Ok(Some(CostTable::new(first, costs)))
}

/// The best value of every region and column, from the number of groups down; nothing if time is up.
fn values(
    problem: &Problem<'_>,
    tables: &[CostTable],
    clock: &mut Clock,
) -> Result<Option<Vec<i64>>, Error> {
    let (tree, columns) = (problem.tree(), problem.bins());
    let mut counts = vec![0; tables.len()];
    let roots: Vec<&CostTable> = tables[..columns].iter().collect();
    let Some((_, whole)) = clock.least_sum(&roots, problem.groups())? else { return Ok(None) };
    counts[..columns].copy_from_slice(&whole);
    for region in 0..tree.leaves().start {
        for column in 0..columns {
            let cells: Vec<usize> =
                tree.children(region).map(|part| part * columns + column).collect();
            let parts: Vec<&CostTable> = cells.iter().map(|&cell| &tables[cell]).collect();
            let total = counts[region * columns + column];
            let Some((_, split)) = clock.least_sum(&parts, total)? else { return Ok(None) };
            cells.into_iter().zip(split).for_each(|(cell, value)| counts[cell] = value);
        }
    }
    Ok(Some(counts))
}

/// The least cost of parts with this total, and values that have it, by one program: each cost is at least every line through two
/// neighbouring entries of its table. Values and costs are counted from the least of their table, for the solver's precision.
fn least_sum(parts: &[&CostTable], total: i64) -> Result<(i128, Vec<i64>), Error> {
    let least = |table: &CostTable| table.costs().iter().copied().min().unwrap_or_default();
    let start: i64 = parts.iter().map(|table| table.first()).sum();
    // A value and a cost for each part.
    let mut program = Program::new(2 * parts.len());
    let values: Vec<_> = (0..parts.len()).map(|part| (2 * part, 1.0)).collect();
    program.equal(&values, (total - start) as f64);
    for (part, table) in parts.iter().enumerate() {
        let (value, cost) = (2 * part, 2 * part + 1);
        program.linear[cost] = 1.0;
        program.at_most(&[(value, 1.0)], (table.costs().len() - 1) as f64);
        program.at_most(&[(value, -1.0)], 0.0);
        program.at_most(&[(cost, -1.0)], 0.0);
        for (left, pair) in table.costs().windows(2).enumerate() {
            let slope = (pair[1] - pair[0]) as f64;
            let at_zero = (pair[0] - least(table)) as f64 - slope * left as f64;
            program.at_most(&[(value, slope), (cost, -1.0)], -at_zero);
        }
    }
    let solution = program.solve()?;
    let cost: f64 = solution.iter().skip(1).step_by(2).sum();
    let values: Vec<f64> = solution.iter().step_by(2).copied().collect();
    let whole = whole(&values, total - start);
    let split = parts.iter().zip(whole).map(|(table, value)| table.first() + value).collect();
    #[expect(clippy::cast_possible_truncation, reason = "costs of small tables")]
    let cost = cost.round() as i128 + parts.iter().map(|table| least(table)).sum::<i128>();
    Ok((cost, split))
}

/// Whole numbers with this sum: floors, and one more for the largest remainders. Where an optimum is not whole, the costs of all such parts
/// have the same slope there, so it does not matter which ones get more.
#[expect(clippy::cast_possible_truncation, reason = "values of small tables")]
fn whole(values: &[f64], total: i64) -> Vec<i64> {
    let floor = |value: f64| (value + 1e-4).floor();
    let mut parts: Vec<i64> = values.iter().map(|&value| floor(value) as i64).collect();
    let mut order: Vec<usize> = (0..values.len()).collect();
    let rest = |part: usize| values[part] - floor(values[part]);
    order.sort_by(|&a, &b| rest(b).total_cmp(&rest(a)));
    let missing = usize::try_from(total - parts.iter().sum::<i64>()).unwrap_or_default();
    order.into_iter().take(missing).for_each(|part| parts[part] += 1);
    parts
}

#[cfg(test)]
mod tests {
    use super::{Clock, merge, objective, solve, width_of_the_paper};
    use dp_census::RegionTree;
    use dp_census::solve::cost_table::CostTable;
    use dp_census::solve::{Problem, tree};
    use quietus_datasets::seed::named_rng;
    use rand::RngExt;
    use std::time::{Duration, Instant};

    const LONG: Duration = Duration::from_hours(1);

    /// One program per entry gives the table that one sort gives.
    #[test]
    fn merges_the_same_cost_tables() {
        let merged = |tables: &[CostTable; 2], first: i64| {
            let mut clock = Clock { begin: Instant::now(), limit: LONG, programs: 0 };
            let want = CostTable::merge(tables);
            let last = first + i64::try_from(want.costs().len()).unwrap() - 1;
            let parts: Vec<&CostTable> = tables.iter().collect();
            let found = merge(&parts, first..=last, &mut clock).unwrap().unwrap();
            assert_eq!((found, clock.programs), (want.clone(), want.costs().len() as u64));
            want
        };
        let tables = [CostTable::leaf(3, 1, 0..=5), CostTable::leaf(-2, 2, 1..=4)];
        let mut inner = merged(&tables, 1);
        inner.add_node(4, 3);
        merged(&[inner, CostTable::leaf(1, 1, 0..=3)], 1);
    }

    #[test]
    fn domains_of_the_paper_are_wide() {
        assert!((width_of_the_paper() - 43_201.0).abs() < 7.0, "{}", width_of_the_paper());
    }

    /// With the optimum inside of the domains it is found; without time nothing is.
    #[test]
    fn finds_a_closest_table_or_says_that_time_is_up() {
        let parents = [None, Some(0), Some(0), Some(1), Some(1), Some(2), Some(2), Some(2)];
        let hierarchy = RegionTree::from_parents(&parents).unwrap();
        let mut rng = named_rng(&["census-op"]);
        for groups in [0, 7, 40, 41] {
            let noisy: Vec<i64> =
                (0..8 * 4).map(|_| rng.random_range(-6..=groups / 2 + 6)).collect();
            let problem = Problem::new(&hierarchy, 4, &noisy, &[3, 1, 2], groups).unwrap();
            let optimum = tree::solve(&problem);
            // Off the middle, so that it is not the optimum because it is the centre.
            let centre: Vec<i64> = optimum.iter().map(|value| value + 1).collect();
            let found = solve(&problem, &centre, 3, LONG).unwrap();
            let counts = found.counts.unwrap();
            assert_eq!(objective(&problem, &counts), objective(&problem, &optimum), "{counts:?}");
            assert_eq!(counts[..4].iter().sum::<i64>(), groups);
            let stopped = solve(&problem, &centre, 3, Duration::ZERO).unwrap();
            assert!(stopped.counts.is_none() && stopped.programs == 0);
        }
    }
}

//! The solvers alone, on tables that have been noised already: beside the general solver, and on one and two threads.

use crate::error::Error;
use crate::eval::census::algorithms::noisy_table;
use crate::eval::census::large::{self, Nation};
use crate::eval::census::{measure, plan, qp, scaling};
use crate::eval::record::Record;
use crate::eval::settings::Effort;
use crate::eval::suite::Workbench;
use dp_census::solve::{Problem, chain, cumulative, cumulative_top_down, edf, tree};
use dp_census::{GroupSizes, Query, RegionTree};
use quietus_datasets::nation::{self, Scale};
use quietus_datasets::seed::named_rng;
use std::time::Instant;

pub(super) const ID: &str = "census-solvers";

/// A table for a comparison: regions of the middle level, leaf regions, columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) middle: usize,
    pub(super) leaves: usize,
    pub(super) columns: usize,
}

/// From the zones of a city to the counties of a nation, up to what the general solver does in a minute.
pub(super) fn shapes(effort: Effort) -> Vec<Shape> {
    let shape = |middle, leaves, columns| Shape { middle, leaves, columns };
    let mut shapes = vec![shape(6, 263, 5), shape(6, 263, 20)];
    if effort == Effort::Full {
        shapes.extend([50, 200, 500, 1_000].map(|columns| shape(6, 263, columns)));
        shapes.extend([5, 20, 50].map(|columns| shape(52, 3_144, columns)));
    }
    shapes
}

/// Numbers of threads at which the solvers are timed on the whole nation.
pub(super) const THREADS: [usize; 2] = [1, 2];
/// With much noise and with little: the solvers take as long.
pub(super) const EPSILONS: [f64; 2] = [0.1, 1.0];
/// Repetitions of these, of which the fastest counts: whoever else uses the machine only adds to a time.
const REPETITIONS: usize = 7;
/// The models that both solvers solve, by the names of the mechanisms that need them.
pub(super) const MODELS: [&str; 2] = ["m-h-real", "m-c-real"];
/// The mechanisms whose solvers are timed on threads.
pub(super) const SOLVERS: [&str; 4] = ["m-c-chain", "m-h-dp", "m-c-exact", "m-c-top-down"];

#[derive(Default)]
pub(super) struct SolverBench {
    /// Made when the first cell asks for it.
    nation: Option<(RegionTree, GroupSizes)>,
    large: Option<Nation>,
}

impl SolverBench {
    fn nation(&mut self, scale: Scale) -> Result<&(RegionTree, GroupSizes), Error> {
        let nation = match self.nation.take() {
            Some(nation) => nation,
            None => nation::generate(scale, nation::SEED)
                .map(|(hierarchy, sizes)| (hierarchy.tree().clone(), sizes))?,
        };
        Ok(self.nation.insert(nation))
    }

    fn on_ten_nations(&mut self, cell: &Record) -> Result<Record, Error> {
        // The peak of memory is that of the whole process.
        self.nation = None;
        let large = match self.large.take() {
            Some(large) => large,
            None => Nation::new(large::SCALE)?,
        };
        self.large.insert(large).release(cell)
    }

    fn on_threads(&mut self, cell: &Record) -> Result<Record, Error> {
        let number = |name: &str| cell.params.get(name).and_then(serde_json::Value::as_u64);
        let threads = usize::try_from(number("threads").unwrap_or(1)).unwrap_or(1);
        let scale = if cell.d > 1_000 { nation::WHOLE } else { nation::TENTH };
        let (tree, sizes) = self.nation(scale)?;
        let query = match cell.algorithm.as_str() {
            "m-c-chain" => Query::Chain,
            "m-h-dp" => Query::Counts,
            _ => Query::Cumulative,
        };
        let setting = cell.params.get(plan::SETTING).and_then(serde_json::Value::as_f64);
        let epsilon = setting.unwrap_or(scaling::EPSILON);
        let mut rng = named_rng(&[ID, &cell.algorithm, &epsilon.to_string()]);
        let noisy = noisy_table(tree, sizes, query, epsilon, &mut rng)?;
        let weights = vec![1; tree.levels()];
        let problem = Problem::new(tree, sizes.columns(), &noisy, &weights, sizes.groups())?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let solve = || match query {
            Query::Chain => chain::solve(&problem),
            Query::Counts => tree::solve(&problem),
            Query::Cumulative if cell.algorithm == "m-c-top-down" => {
                cumulative_top_down::solve(&problem, None).counts
            }
            Query::Cumulative => {
                edf::round(tree, &cumulative::solve(&problem).rows, problem.groups())
            }
        };
        let mut seconds = f64::INFINITY;
        for _ in 0..REPETITIONS {
            let start = Instant::now();
            drop(pool.install(solve));
            seconds = seconds.min(start.elapsed().as_secs_f64());
        }
        Ok(Record { seconds, ..cell.clone() })
    }
}

impl Workbench for SolverBench {
    fn checksum(&self) -> &'static str {
        "generated"
    }

    fn run(&mut self, cell: &Record) -> Result<Record, Error> {
        if cell.variant == large::VARIANT {
            return self.on_ten_nations(cell);
        }
        if cell.params.contains_key("threads") {
            return self.on_threads(cell);
        }
        side_by_side(cell)
    }
}

/// One problem, both solvers, on one thread each: processor time, objectives, the proof of ours, and how far apart they are.
fn side_by_side(cell: &Record) -> Result<Record, Error> {
    let number = |name: &str| cell.params.get(name).and_then(serde_json::Value::as_u64);
    let [middle, leaves] = ["middle", "leaves"].map(|name| {
        number(name).and_then(|number| usize::try_from(number).ok()).unwrap_or_default()
    });
    let data = scaling::table(Shape { middle, leaves, columns: cell.d })?;
    let (tree, columns) = (data.hierarchy.tree(), cell.d);
    let (query, rows) = if cell.algorithm == "m-h-real" {
        (Query::Counts, qp::Rows::Counts)
    } else {
        (Query::Cumulative, qp::Rows::Cumulative)
    };
    let mut rng = named_rng(&[ID, &cell.algorithm, &cell.variant]);
    let noisy = noisy_table(tree, &data.sizes, query, scaling::EPSILON, &mut rng)?;
    let weights = vec![1; tree.levels()];
    let problem = Problem::new(tree, columns, &noisy, &weights, data.sizes.groups())?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let ((ours, proved), seconds) = pool.install(|| {
        processor_time(|| match rows {
            qp::Rows::Counts => Ok((tree::solve_real(&problem), None)),
            qp::Rows::Cumulative => {
                let solution = cumulative::solve(&problem);
                Ok((solution.rows.clone(), Some(solution)))
            }
        })
    })?;
    let (general, general_seconds) =
        pool.install(|| processor_time(|| qp::relaxed(&problem, rows)))?;
    let residual = match proved {
        None => tree::certify_real(&problem, &ours).residual,
        Some(solution) => {
            let proof = cumulative::certify(&problem, &solution);
            proof.inconsistency.max(proof.leaf_violation)
        }
    };
    let apart = ours.iter().zip(&general).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let metrics = [
        ("general_seconds", general_seconds),
        ("ratio", general_seconds / seconds),
        ("objective", measure::objective(&problem, &ours)),
        ("general_objective", measure::objective(&problem, &general)),
        ("certificate_residual", residual),
        ("largest_difference", apart),
    ];
    let metrics = metrics.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Ok(Record { metrics, seconds, ..cell.clone() })
}

/// The work's result and the processor time of this thread for it: the mean over as many repetitions as fill half a second.
fn processor_time<T>(work: impl Fn() -> Result<T, Error>) -> Result<(T, f64), Error> {
    let begin = Instant::now();
    let clock = || processor_seconds().unwrap_or_else(|| begin.elapsed().as_secs_f64());
    let (start, mut repetitions) = (clock(), 0);
    loop {
        let made = work()?;
        repetitions += 1;
        let seconds = clock() - start;
        if seconds >= 0.5 {
            return Ok((made, seconds / f64::from(repetitions)));
        }
    }
}

/// Processor time of this thread so far, to some milliseconds, where the system tells; others who use the machine do not count.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split(' ').next()?.parse::<f64>().ok()? * 1e-9)
}

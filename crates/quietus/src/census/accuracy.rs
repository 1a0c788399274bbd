//! How far each cell may be from the truth: the plan is carried out again on what it released, which is free.

use super::Job;
use dp_census::GroupTable;
use dp_mechanism::ChaCha20Rng;
use rand::SeedableRng;
use std::num::NonZeroU32;

/// Each standard error is then known to 16 %.
const RUNS: NonZeroU32 = NonZeroU32::new(20).expect("above 0");
/// Twenty runs that all give the same number leave an error of more than none possible: by the rule of three, in 3 of 20 cells.
const LEAST_ERROR: f64 = 0.39;
/// Cells of a table beyond which the runs would take minutes. The table is drawn by then, and a run that dies in between has spent its budget.
const MOST_CELLS: usize = 1 << 22;

/// What noise does to a cell, as far as the release itself tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CellError {
    pub(super) standard_error: f64,
    /// The whole numbers within two standard errors, and a half, of what was released.
    pub(super) low: i64,
    pub(super) high: i64,
}

/// For each cell, row-major; `None` for tables that are too large, or not consistent. Where it starts is public and fixed: equal tables have equal errors.
pub(super) fn errors(job: &Job, table: &GroupTable) -> Option<Vec<CellError>> {
    if table.counts().len() > MOST_CELLS {
        return None;
    }
    let mut rng = ChaCha20Rng::seed_from_u64(0);
    let errors = job.plan.standard_errors(table, RUNS, &mut rng).ok()?;
    let cell = |(&groups, standard_error): (&i64, f64)| {
        #[expect(clippy::cast_possible_truncation, reason = "saturates, and errors are far below")]
        let within = (2.0 * standard_error.max(LEAST_ERROR) + 0.5).floor() as i64;
        let (low, high) = ((groups - within).max(0), (groups + within).min(job.groups));
        CellError { standard_error, low, high }
    };
    Some(table.counts().iter().zip(errors).map(cell).collect())
}

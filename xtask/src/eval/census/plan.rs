//! What there is to run: cells with all their settings, before anything is measured.

use crate::error::Error;
use crate::eval::census::algorithms::{self, Algorithm};
use crate::eval::census::solvers::Shape;
use crate::eval::census::{large, op, published, scaling, solvers};
use crate::eval::record::Record;
use crate::eval::settings::{Effort, Settings};
use crate::eval::suite::{Context, Plan};
use dp_census::Method;
use quietus_datasets::nation::{self, Scale};
use quietus_datasets::sets::census::Recipe;
use serde_json::Value;
use std::collections::BTreeMap;

/// The suite's name on the command line.
pub(super) const SUITE: &str = "census";

/// The setting of a cell that its table is made by; the promise of the mechanism stands in the record's own field.
pub(super) const SETTING: &str = "epsilon_setting";

/// The epsilons of the paper, unless another one is asked for.
pub(super) fn epsilons(settings: &Settings) -> Vec<f64> {
    if (settings.epsilon - 1.0).abs() < 1e-12 {
        vec![0.1, 0.5, 1.0]
    } else {
        vec![settings.epsilon]
    }
}

/// A table of fewer counts takes no time, and so few of them add up that one draw of noise is mostly chance.
const SMALL: usize = 1_000;
/// So many draws tell a tenth of its error apart.
const RUNS_OF_SMALL: u32 = 100;

/// Noise draws per cell: thirty in full, as in the paper, and more for a small table.
fn runs(settings: &Settings, counts: usize) -> u32 {
    let default = match settings.effort {
        Effort::Quick => settings.runs,
        _ if counts < SMALL => RUNS_OF_SMALL,
        Effort::Standard => settings.runs,
        Effort::Full => 30,
    };
    settings.runs_asked.unwrap_or(default)
}

/// All cells of a data set.
pub(super) fn of(recipe: &Recipe, context: &Context) -> Result<Plan, Error> {
    let settings = &context.settings;
    let levels = recipe.levels.len();
    let columns = recipe.largest as usize + 1;
    let tree = recipe.regions_by_level();
    let mut cells = Vec::new();
    for run in 0..runs(settings, columns * tree.iter().sum::<usize>()) {
        for epsilon in epsilons(settings) {
            let wanted = |one: &&Algorithm| one.applies(levels);
            for algorithm in algorithms::all().iter().filter(wanted) {
                let params = BTreeMap::from([
                    (SETTING.to_owned(), epsilon.into()),
                    ("columns".to_owned(), columns.into()),
                    ("levels".to_owned(), levels.into()),
                ]);
                let shape = (recipe.groups, columns);
                let mut cell = cell(recipe.id, shape, algorithm, &tree, epsilon, params)?;
                cell.run = run;
                cell.seed = settings.seed;
                cells.push(cell);
            }
        }
    }
    Ok(Plan {
        dataset: recipe.id.to_owned(),
        cells,
        units: recipe.units,
        warm_up_steps: 0,
        here: recipe.is_here(&context.shelf())?,
    })
}

/// Cells that are about run time: every mechanism on tables of more and more columns.
pub(super) fn of_scaling(context: &Context) -> Result<Plan, Error> {
    let settings = &context.settings;
    let mut cells = Vec::new();
    for run in 0..runs(settings, usize::MAX).min(3) {
        for columns in scaling::columns(settings.effort) {
            let ours = algorithms::all().into_iter().filter(|one| one.variant == "default");
            let general = algorithms::by_general_solver().into_iter();
            let general = general.filter(|_| columns <= scaling::MOST_COLUMNS_OF_A_GENERAL_SOLVER);
            let op = algorithms::by_cost_tables().filter(|_| op::COLUMNS.contains(&columns));
            for algorithm in &ours.chain(general).chain(op).collect::<Vec<_>>() {
                let mut params = BTreeMap::from([
                    (SETTING.to_owned(), scaling::EPSILON.into()),
                    ("columns".to_owned(), columns.into()),
                ]);
                if algorithm.id == op::ID {
                    params.insert(op::AROUND.to_owned(), op::around(settings.effort).into());
                    params.insert(op::LIMIT.to_owned(), op::TIME_LIMIT.as_secs().into());
                }
                let shape = (scaling::GROUPS, columns);
                let tree = scaling::REGIONS_BY_LEVEL;
                let mut cell =
                    cell(scaling::ID, shape, algorithm, &tree, scaling::EPSILON, params)?;
                cell.variant = scaling::variant(columns);
                cell.run = run;
                cell.seed = settings.seed;
                cells.push(cell);
            }
        }
    }
    let dataset = scaling::ID.to_owned();
    Ok(Plan { dataset, cells, units: 3, warm_up_steps: 0, here: true })
}

/// Cells that are about the solvers alone, beside the general solver and on threads, and in full about ten nations.
pub(super) fn of_solvers(context: &Context) -> Result<Plan, Error> {
    let settings = &context.settings;
    let known = algorithms::all();
    let mut cells = Vec::new();
    let mut add =
        |id: &str, variant: String, shape: (i64, usize), epsilon: f64, params: &[(&str, usize)]| {
            let Some(algorithm) = known.iter().find(|one| one.id == id) else { return Ok(()) };
            let mut params: BTreeMap<String, Value> =
                params.iter().map(|&(name, value)| (name.to_owned(), value.into())).collect();
            params.insert(SETTING.to_owned(), epsilon.into());
            let tree = [1, 1, 1];
            let mut cell = cell(solvers::ID, shape, algorithm, &tree, epsilon, params)?;
            cell.variant = variant;
            cell.seed = settings.seed;
            cells.push(cell);
            Ok::<(), Error>(())
        };
    for Shape { middle, leaves, columns } in solvers::shapes(settings.effort) {
        for id in solvers::MODELS {
            let variant = format!("{leaves} regions, {columns} columns");
            let params = [("middle", middle), ("leaves", leaves), ("columns", columns)];
            add(id, variant, (scaling::GROUPS, columns), scaling::EPSILON, &params)?;
        }
    }
    let full = settings.effort == Effort::Full;
    let of_scale = |scale: Scale| {
        let shape = (scale.groups, scale.largest as usize + 1);
        (shape, 1 + scale.states + scale.counties)
    };
    let (shape, regions) = of_scale(if full { nation::WHOLE } else { nation::TENTH });
    for id in solvers::SOLVERS {
        for epsilon in solvers::EPSILONS {
            for threads in solvers::THREADS {
                let params = [("threads", threads), ("regions", regions)];
                add(id, format!("{threads} threads"), shape, epsilon, &params)?;
            }
        }
    }
    if full {
        let (shape, regions) = of_scale(large::SCALE);
        for id in large::METHODS.map(Method::id) {
            let params = [("threads", 1), ("regions", regions)];
            add(id, large::VARIANT.to_owned(), shape, large::EPSILON, &params)?;
        }
    }
    let dataset = solvers::ID.to_owned();
    Ok(Plan { dataset, cells, units: 30, warm_up_steps: 0, here: true })
}

fn cell(
    dataset: &str,
    (groups, columns): (i64, usize),
    algorithm: &Algorithm,
    regions_by_level: &[usize],
    epsilon: f64,
    mut params: BTreeMap<String, Value>,
) -> Result<Record, Error> {
    let private = algorithm.is_private();
    let (promised, delta) = algorithm.promise(regions_by_level, epsilon)?;
    if !private {
        params.insert("true_epsilon".to_owned(), promised.into());
    }
    if let Some(rho) = algorithm.rho(epsilon) {
        params.insert("rho".to_owned(), rho.into());
    }
    Ok(Record {
        suite: SUITE.to_owned(),
        dataset: dataset.to_owned(),
        n: usize::try_from(groups).unwrap_or_default(),
        d: columns,
        algorithm: algorithm.id.to_owned(),
        variant: algorithm.variant.to_owned(),
        private,
        relation: private.then(|| "member-of-group".to_owned()),
        epsilon: Some(promised),
        delta: private.then_some(delta),
        params,
        run: 0,
        seed: 0,
        metrics: BTreeMap::new(),
        seconds: 0.0,
        peak_rss_mib: None,
        paper: published::values(dataset, algorithm.id, algorithm.variant, epsilon),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::EvalArgs;

    #[test]
    fn small_tables_have_more_draws_unless_a_number_is_asked_for() {
        let of = |args: EvalArgs| {
            let settings = Settings::new(&args).unwrap();
            [SMALL - 1, SMALL].map(|counts| runs(&settings, counts))
        };
        let args = || EvalArgs {
            suites: vec![SUITE.to_owned()],
            epsilon: 1.0,
            seed: 1,
            ..EvalArgs::default()
        };
        let standard = of(args());
        assert!(standard[0] == RUNS_OF_SMALL && standard[1] < 30);
        assert_eq!(of(EvalArgs { full: true, ..args() }), [RUNS_OF_SMALL, 30]);
        assert_eq!(of(EvalArgs { runs: Some(4), ..args() }), [4; 2]);
        let quick = of(EvalArgs { quick: true, ..args() });
        assert!(quick[0] == quick[1] && quick[0] < 5);
    }
}

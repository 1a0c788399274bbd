//! What there is to run on an instance.

use crate::eval::record::Record;
use crate::eval::settings::{Effort, Settings};
use crate::eval::submodular::SUITE;
use crate::eval::submodular::data::Source;
use crate::eval::submodular::methods::{CONTINUOUS, Constraint, MAIN, METHODS, Method};
use crate::eval::suite::{Context, Plan};
use std::collections::BTreeMap;

/// Most runs of an instance of a million users, unless asked for.
const RUNS_IF_LARGE: u32 = 3;

/// Partitions that stand for matroids, on these instances.
const BLOCKS: [(&str, usize, usize); 4] = [
    ("coverage-1e3x1e3", 20, 1),
    ("coverage-1e4x1e3", 20, 1),
    ("coverage-1e4x1e3", 5, 4),
    ("coverage-1e5x1e3", 20, 1),
];

pub(super) fn of(source: &'static Source, context: &Context) -> Plan {
    let settings = &context.settings;
    let fewer = source.users >= 1_000_000 && settings.runs_asked.is_none();
    let mut cells = Vec::new();
    for run in 0..if fewer { settings.runs.min(RUNS_IF_LARGE) } else { settings.runs } {
        for (constraint, method) in settings_of(source, settings.effort) {
            if method.has_epsilon() {
                let of = |epsilon| cell(settings, source, constraint, method, Some(epsilon), run);
                cells.extend(epsilons(settings).into_iter().map(of));
            } else if run == 0 || method.algorithm != "greedy" {
                cells.push(cell(settings, source, constraint, method, None, run));
            }
        }
    }
    let here = source.is_generated() || {
        let set = context.manifest.set(source.id).ok();
        let file = set.and_then(|set| set.files.first());
        file.is_some_and(|file| context.settings.datasets.join(&file.path).is_file())
    };
    let units = (source.users / 10_000 + source.elements / 100 + 1) as u64;
    Plan { dataset: source.id.to_owned(), cells, units, warm_up_steps: 0, here }
}

/// Numbers of elements with the main methods, in a full evaluation with all; blocks with continuous
/// greedy beside greedy.
fn settings_of(source: &Source, effort: Effort) -> Vec<(Constraint, Method)> {
    let ks = if effort == Effort::Quick { &source.ks[..2] } else { source.ks };
    let methods = if effort == Effort::Full { &METHODS[..] } else { &METHODS[..MAIN] };
    let coverage_only = |method: &Method| method.variant != "published constant";
    let fits = |method: &&Method| source.is_coverage() || coverage_only(method);
    let plain = ks.iter().flat_map(|&k| {
        methods.iter().filter(fits).map(move |method| (Constraint::Any(k), *method))
    });
    let blocks =
        BLOCKS.iter().filter(|(id, ..)| *id == source.id).flat_map(|&(_, blocks, each)| {
            let continuous = CONTINUOUS.iter().filter(|_| effort != Effort::Quick);
            let continuous =
                continuous.chain(CONTINUOUS.iter().skip(3).filter(|_| effort == Effort::Quick));
            let methods = METHODS[..4].iter().filter(|method| method.algorithm != "random");
            methods.chain(continuous).map(move |method| (Constraint::Blocks(blocks, each), *method))
        });
    plain.chain(blocks).collect()
}

/// The epsilon asked for, and a grid around it in fuller evaluations.
fn epsilons(settings: &Settings) -> Vec<f64> {
    let mut all = vec![settings.epsilon];
    match settings.effort {
        Effort::Quick => {}
        Effort::Standard => all.extend([0.1, 1.0, 4.0]),
        Effort::Full => all.extend([0.1, 0.5, 1.0, 2.0, 4.0]),
    }
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

/// The constraint, and the variant of the method if there is one.
pub(super) fn variant(constraint: Constraint, method: Method) -> String {
    match method.variant {
        "default" => constraint.name(),
        variant => format!("{}; {variant}", constraint.name()),
    }
}

/// The constraint and the method that a cell was planned with.
pub(super) fn setting_of(source: &Source, cell: &Record) -> Option<(Constraint, Method)> {
    let named = |(constraint, method): &(Constraint, Method)| {
        method.algorithm == cell.algorithm && variant(*constraint, *method) == cell.variant
    };
    settings_of(source, Effort::Full).into_iter().find(named)
}

fn cell(
    settings: &Settings,
    source: &Source,
    constraint: Constraint,
    method: Method,
    epsilon: Option<f64>,
    run: u32,
) -> Record {
    let private = method.algorithm != "greedy";
    Record {
        suite: SUITE.to_owned(),
        dataset: source.id.to_owned(),
        n: source.users,
        d: source.elements,
        algorithm: method.algorithm.to_owned(),
        variant: variant(constraint, method),
        private,
        relation: private.then(|| "add-remove".to_owned()),
        epsilon,
        delta: method.delta(),
        params: BTreeMap::from([("constraint".to_owned(), constraint.name().into())]),
        run,
        seed: settings.seed,
        metrics: BTreeMap::new(),
        seconds: 0.0,
        peak_rss_mib: None,
        paper: BTreeMap::new(),
    }
}

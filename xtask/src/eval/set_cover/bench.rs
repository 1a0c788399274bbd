//! What there is to run on a family, and how single cells are run and measured.

use crate::error::Error;
use crate::eval::cell::{Cost, measured, rng_of};
use crate::eval::record::Record;
use crate::eval::set_cover::SUITE;
use crate::eval::set_cover::data::{Family, Source};
use crate::eval::set_cover::methods::{METHODS, Method};
use crate::eval::settings::{Effort, Settings};
use crate::eval::suite::{Context, Plan, Workbench};
use dp_combinatorial::set_cover::{Cover, exact_cost, exact_greedy};
use std::collections::BTreeMap;

/// Most runs of a family on which a run takes seconds.
const RUNS_IF_LARGE: u32 = 5;

pub(super) fn plan(source: &'static Source, context: &Context) -> Plan {
    let settings = &context.settings;
    let mut cells = Vec::new();
    let fewer = source.is_large() && settings.runs_asked.is_none();
    for run in 0..if fewer { settings.runs.min(RUNS_IF_LARGE) } else { settings.runs } {
        for method in METHODS.into_iter().filter(|m| m.is_main() || !source.is_large()) {
            // Greedy is always the same.
            if method.algorithm == "greedy" && run > 0 {
                continue;
            }
            if method.has_epsilon() {
                let of = |epsilon| cell(settings, source, method, Some(epsilon), run);
                cells.extend(epsilons(settings).into_iter().map(of));
            } else {
                cells.push(cell(settings, source, method, None, run));
            }
        }
    }
    let here = source
        .file()
        .is_none_or(|(set, file)| context.settings.datasets.join(set).join(file).is_file());
    let units = u64::from(source.sets) * u64::from(source.sets) / 1_000_000 + 1;
    Plan { dataset: source.id.to_owned(), cells, units, warm_up_steps: 0, here }
}

/// The epsilon asked for, and a grid around it in fuller evaluations.
fn epsilons(settings: &Settings) -> Vec<f64> {
    let mut all = vec![settings.epsilon];
    if settings.effort != Effort::Quick {
        all.extend([0.1, 0.5, 1.0, 2.0, 4.0]);
    }
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

fn cell(
    settings: &Settings,
    source: &Source,
    method: Method,
    epsilon: Option<f64>,
    run: u32,
) -> Record {
    let private = method.algorithm != "greedy";
    Record {
        suite: SUITE.to_owned(),
        dataset: source.id.to_owned(),
        n: source.users as usize,
        d: source.sets as usize,
        algorithm: method.algorithm.to_owned(),
        variant: method.variant.to_owned(),
        private,
        relation: private.then(|| "add-remove".to_owned()),
        epsilon,
        delta: method.delta(),
        params: BTreeMap::from([("sets".to_owned(), source.sets.into())]),
        run,
        seed: settings.seed,
        metrics: BTreeMap::new(),
        seconds: 0.0,
        peak_rss_mib: None,
        paper: BTreeMap::new(),
    }
}

pub(super) struct Bench {
    family: Family,
    /// Sets that greedy uses.
    greedy: usize,
    /// Users who are in no set.
    unservable: usize,
}

impl Bench {
    pub(super) fn new(family: Family) -> Self {
        let greedy = exact_cost(&exact_greedy(&family.incidence), &family.incidence);
        Self { family, greedy: greedy.sets_used, unservable: greedy.unserved }
    }

    fn measure(&self, cover: &Cover) -> BTreeMap<String, f64> {
        let family = &self.family.incidence;
        let cost = cover.exact_cost(family).sets_used as f64;
        // How good the order is for a partial cover of as many sets as greedy takes for all.
        let first = &cover.order[..self.greedy.min(cover.order.len())];
        let left = exact_cost(first, family).unserved - self.unservable;
        let servable = (family.users() - self.unservable).max(1);
        let metrics = [
            ("cost", cost),
            ("greedy_cost", self.greedy as f64),
            ("cost_ratio", cost / self.greedy.max(1) as f64),
            ("share_served_by_as_many", 1.0 - left as f64 / servable as f64),
        ];
        metrics.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

impl Workbench for Bench {
    fn checksum(&self) -> &str {
        &self.family.checksum
    }

    fn run(&mut self, cell: &Record) -> Result<Record, Error> {
        let named =
            |method: &&Method| method.algorithm == cell.algorithm && method.variant == cell.variant;
        let method = METHODS.iter().find(named).ok_or_else(|| Error::Unknown {
            what: "algorithm",
            got: format!("{} ({})", cell.algorithm, cell.variant),
            known: METHODS.iter().map(|method| method.algorithm.to_owned()).collect(),
        })?;
        let mut rng = rng_of(cell);
        let (cover, Cost { seconds, peak_rss_mib }) =
            measured(|| method.run(&self.family.incidence, cell.epsilon.unwrap_or(1.0), &mut rng))?;
        let metrics = self.measure(&cover);
        Ok(Record { metrics, seconds, peak_rss_mib, ..cell.clone() })
    }
}

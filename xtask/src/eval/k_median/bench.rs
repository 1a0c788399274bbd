//! What there is to run on an instance, and how single cells are run and measured.

use crate::error::Error;
use crate::eval::cell::{Cost, measured, rng_of};
use crate::eval::k_median::SUITE;
use crate::eval::k_median::data::{Instance, weights};
use crate::eval::k_median::methods::{METHODS, Method};
use crate::eval::k_median::sources::Source;
use crate::eval::record::Record;
use crate::eval::settings::{Effort, Settings};
use crate::eval::suite::{Context, Plan, Workbench};
use dp_combinatorial::k_median::{FasterPam, exact_cost};
use std::collections::BTreeMap;

pub(super) fn plan(source: &Source, context: &Context) -> Plan {
    let settings = &context.settings;
    let mut cells = Vec::new();
    for run in 0..settings.runs {
        for method in METHODS {
            if method.has_epsilon() {
                let of = |epsilon| cell(settings, source, method, Some(epsilon), run);
                cells.extend(epsilons(settings).into_iter().map(of));
            } else if run == 0 {
                cells.push(cell(settings, source, method, None, run));
            }
        }
    }
    let folder = &settings.datasets;
    let here = source.origin.file().is_none_or(|(_, file)| folder.join(file).is_file());
    let units = (source.origin.nodes() as u64).pow(2) / 1_000_000 + 1;
    Plan { dataset: source.id.clone(), cells, units, warm_up_steps: 0, here }
}

/// The epsilon asked for, and those of the tables in fuller evaluations.
fn epsilons(settings: &Settings) -> Vec<f64> {
    let mut all = vec![settings.epsilon];
    if settings.effort != Effort::Quick {
        all.extend([0.1, 0.5, 1.0]);
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
    let private = method.is_private();
    Record {
        suite: SUITE.to_owned(),
        dataset: source.id.clone(),
        n: source.users,
        d: source.origin.nodes(),
        algorithm: method.algorithm.to_owned(),
        variant: method.variant.to_owned(),
        private,
        relation: private.then(|| "add-remove".to_owned()),
        epsilon,
        delta: method.delta(),
        params: BTreeMap::from([
            ("k".to_owned(), source.k.into()),
            ("power".to_owned(), source.power.exponent().into()),
        ]),
        run,
        seed: settings.seed,
        metrics: BTreeMap::new(),
        seconds: 0.0,
        peak_rss_mib: None,
        paper: BTreeMap::new(),
    }
}

pub(super) struct Bench {
    instance: Instance,
    weights: Vec<u64>,
    /// The cost of the search on the true weights.
    best: f64,
}

impl Bench {
    pub(super) fn new(instance: Instance) -> Result<Self, Error> {
        let weights = weights(&instance);
        let (k, power) = (instance.source.k, instance.source.power);
        let found = FasterPam::new(k, power).post_search(&instance.metric, &weights);
        let best = found.map_err(|error| Error::library("faster-pam", &error))?.cost;
        Ok(Self { instance, weights, best })
    }
}

impl Workbench for Bench {
    fn checksum(&self) -> &str {
        &self.instance.checksum
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
        let (centres, Cost { seconds, peak_rss_mib }) =
            measured(|| method.run(&self.instance, cell.epsilon.unwrap_or(1.0), &mut rng))?;
        let power = self.instance.source.power;
        let cost = exact_cost(&self.instance.metric, power, &self.weights, &centres);
        let metrics = BTreeMap::from([
            ("cost".to_owned(), cost),
            ("cost_ratio".to_owned(), cost / self.best),
        ]);
        Ok(Record { metrics, seconds, peak_rss_mib, ..cell.clone() })
    }
}

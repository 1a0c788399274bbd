//! What there is to run on a data set, and how single cells are run and measured.

use crate::error::Error;
use crate::eval::cell::{Cost, measured, rng_of};
use crate::eval::distance::SUITE;
use crate::eval::distance::data::Scaled;
use crate::eval::distance::methods::{self, DELTA, Method};
use crate::eval::distance::sources::{Origin, Source};
use crate::eval::record::Record;
use crate::eval::settings::{Effort, Settings};
use crate::eval::suite::{Context, Plan, Workbench};
use crate::seed::named_rng;
use dp_cluster::metrics::squared_inertia;
use std::collections::BTreeMap;

/// As in the paper.
const RUNS: u32 = 10;

pub(super) fn plan(source: &Source, context: &Context) -> Result<Plan, Error> {
    let settings = &context.settings;
    let quick = settings.effort == Effort::Quick;
    let usual = if quick { settings.runs } else { RUNS };
    let mut cells = Vec::new();
    for run in 0..settings.runs_asked.unwrap_or(usual) {
        for method in methods::all(source) {
            if method.has_epsilon() {
                let of = |epsilon| cell(settings, source, method, Some(epsilon), run);
                cells.extend(epsilons(settings).into_iter().map(of));
            } else if run == 0 {
                cells.push(cell(settings, source, method, None, run));
            }
        }
    }
    let here = match source.set.origin {
        Origin::Blobs => true,
        Origin::File { set, file } => {
            settings.datasets.join(&context.manifest.set(set)?.files[file].path).is_file()
        }
    };
    let units = (source.set.n * source.dim() * source.k / 100_000).max(1) as u64;
    Ok(Plan { dataset: source.id(), cells, units, warm_up_steps: 0, here })
}

/// The epsilon asked for, and those of the tables in fuller evaluations.
fn epsilons(settings: &Settings) -> Vec<f64> {
    let mut all = vec![settings.epsilon];
    if settings.effort != Effort::Quick {
        all.extend([0.1, 1.0]);
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
    Record {
        suite: SUITE.to_owned(),
        dataset: source.id(),
        n: source.set.n,
        d: source.dim(),
        algorithm: method.algorithm.to_owned(),
        variant: method.variant(),
        private: method.relation().is_some(),
        relation: method.relation().map(str::to_owned),
        epsilon,
        delta: epsilon.map(|_| DELTA),
        params: BTreeMap::from([("k".to_owned(), source.k.into())]),
        run,
        seed: settings.seed,
        metrics: BTreeMap::new(),
        seconds: 0.0,
        peak_rss_mib: None,
        paper: BTreeMap::new(),
    }
}

pub(super) struct Bench {
    data: Scaled,
    methods: Vec<Method>,
    /// The cost of the best run that is not private.
    best: f64,
}

impl Bench {
    pub(super) fn new(data: Scaled) -> Result<Self, Error> {
        let methods = methods::all(&data.source);
        let mut rng = named_rng(&["distance", "best", &data.source.id()]);
        let best = methods[0].run(&data, 1.0, &mut rng)?;
        let best = squared_inertia(data.points.view(), best.view());
        Ok(Self { data, methods, best })
    }
}

impl Workbench for Bench {
    fn checksum(&self) -> &str {
        &self.data.checksum
    }

    fn run(&mut self, cell: &Record) -> Result<Record, Error> {
        let named = |method: &&Method| {
            method.algorithm == cell.algorithm && method.variant() == cell.variant
        };
        let method = self.methods.iter().find(named).ok_or_else(|| Error::Unknown {
            what: "algorithm",
            got: format!("{} ({})", cell.algorithm, cell.variant),
            known: self.methods.iter().map(|method| method.algorithm.to_owned()).collect(),
        })?;
        let mut rng = rng_of(cell);
        let (centres, Cost { seconds, peak_rss_mib }) =
            measured(|| method.run(&self.data, cell.epsilon.unwrap_or(1.0), &mut rng))?;
        let cost = squared_inertia(self.data.points.view(), centres.view());
        let metrics = BTreeMap::from([
            ("inertia_squared".to_owned(), cost),
            ("cost_ratio".to_owned(), cost / self.best),
        ]);
        Ok(Record { metrics, seconds, peak_rss_mib, ..cell.clone() })
    }
}

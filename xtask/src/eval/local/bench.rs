//! What there is to run on a set, and how single cells are run and measured.

use crate::error::Error;
use crate::eval::cell::{Cost, measured, rng_of};
use crate::eval::local::SUITE;
use crate::eval::local::data::{Family, K, generate};
use crate::eval::local::methods::{METHODS, Method};
use crate::eval::record::Record;
use crate::eval::settings::{Effort, Settings};
use crate::eval::suite::{Context, Plan, Workbench};
use dp_cluster::kmeans::KMeans;
use dp_cluster::metrics::squared_inertia;
use dp_geometry::Points;
use std::collections::BTreeMap;

pub(super) fn plan(family: &Family, context: &Context) -> Plan {
    let settings = &context.settings;
    let mut cells = Vec::new();
    for run in 0..settings.runs {
        for method in METHODS {
            if method.has_epsilon() {
                let of = |epsilon| cell(settings, family, method, Some(epsilon), run);
                cells.extend(epsilons(settings).into_iter().map(of));
            } else {
                cells.push(cell(settings, family, method, None, run));
            }
        }
    }
    let units = (family.n * family.dim / 100_000) as u64 + 1;
    Plan { dataset: family.id.clone(), cells, units, warm_up_steps: 0, here: true }
}

/// The epsilon asked for, and those of the tables in fuller evaluations.
fn epsilons(settings: &Settings) -> Vec<f64> {
    let mut all = vec![settings.epsilon];
    if settings.effort != Effort::Quick {
        all.extend([1.0, 2.0, 4.0]);
    }
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

fn cell(
    settings: &Settings,
    family: &Family,
    method: Method,
    epsilon: Option<f64>,
    run: u32,
) -> Record {
    let private = method.is_private();
    Record {
        suite: SUITE.to_owned(),
        dataset: family.id.clone(),
        n: family.n,
        d: family.dim,
        algorithm: method.algorithm.to_owned(),
        variant: method.variant.to_owned(),
        private,
        relation: private.then(|| "replace-one".to_owned()),
        epsilon,
        delta: private.then_some(0.0),
        params: BTreeMap::from([("k".to_owned(), K.into())]),
        run,
        seed: settings.seed,
        metrics: BTreeMap::new(),
        seconds: 0.0,
        peak_rss_mib: None,
        paper: BTreeMap::new(),
    }
}

pub(super) struct Bench {
    records: Points,
    checksum: String,
    /// The cost of k-means with the records in hand.
    best: f64,
}

impl Bench {
    pub(super) fn new(family: &Family) -> Result<Self, Error> {
        let (records, checksum) = generate(family)?;
        let mut rng = crate::seed::named_rng(&["local", "reference", &family.id]);
        let failed = |error: &dyn std::fmt::Display| Error::library("kmeans++", &error.to_string());
        let solver = KMeans::builder(K).build().map_err(|error| failed(&error))?;
        let mut best = f64::INFINITY;
        for _ in 0..3 {
            let fit =
                solver.exact_fit(records.view(), None, &mut rng).map_err(|error| failed(&error))?;
            best = best.min(squared_inertia(records.view(), fit.centres.view()));
        }
        Ok(Self { records, checksum, best })
    }
}

impl Workbench for Bench {
    fn checksum(&self) -> &str {
        &self.checksum
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
        let epsilon = cell.epsilon.unwrap_or(1.0);
        let (centres, Cost { seconds, peak_rss_mib }) =
            measured(|| method.run(&self.records, epsilon, &mut rng))?;
        let cost = squared_inertia(self.records.view(), centres.view());
        let mut metrics = BTreeMap::from([
            ("inertia_squared".to_owned(), cost),
            ("cost_ratio".to_owned(), cost / self.best),
        ]);
        if let Some((bytes, rounds)) = method.sends(self.records.dim(), epsilon) {
            metrics.insert("bytes_per_client".to_owned(), bytes as f64);
            metrics.insert("rounds".to_owned(), rounds as f64);
        }
        Ok(Record { metrics, seconds, peak_rss_mib, ..cell.clone() })
    }
}

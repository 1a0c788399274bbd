//! Suites that run methods on data sets, at some epsilons, run after run.
//!
//! A [`Family`] says what is its own: which data sets there are, which methods run on them, what a method is called in records, and how
//! one is run and measured. Plans, records, finding the method of a cell and what is said of files that are not here are the same for
//! all, and here. A cell is found by what it was planned as: no setting is read back out of a name.

use crate::error::Error;
use crate::eval::cell::{Cost, measured, rng_of};
use crate::eval::record::{Key, Record};
use crate::eval::settings::{Effort, Settings};
use crate::eval::suite::{Context, Opened, Plan, Suite, Workbench};
use crate::report::page::Page;
use dp_mechanism::ChaCha20Rng;
use serde_json::Value;
use std::collections::BTreeMap;

/// A family of methods with its data sets.
pub(crate) trait Family {
    /// Its name on the command line and in results.jsonl.
    const ID: &'static str;

    /// A data set with what is asked of it.
    type Source;

    /// One method at one setting, without epsilon.
    type Method: Copy + 'static;

    /// A data set in memory.
    type Bench: Bench<Method = Self::Method> + 'static;

    /// The data sets of an evaluation of this effort.
    fn sources(effort: Effort) -> Vec<Self::Source>;

    /// The same in the words of records.
    fn card(source: &Self::Source, context: &Context) -> Result<Card, Error>;

    /// How often everything runs.
    fn runs(_: &Self::Source, settings: &Settings) -> u32 {
        settings.runs
    }

    /// What runs on a data set, in order.
    fn methods(source: &Self::Source, effort: Effort) -> Vec<Self::Method>;

    /// A method in the words of records.
    fn label(method: Self::Method) -> Label;

    /// Epsilons beside the one that was asked for.
    fn more_epsilons(effort: Effort) -> &'static [f64];

    /// Every method at each of its epsilons, in order.
    fn cells(source: &Self::Source, settings: &Settings) -> Vec<(Self::Method, Option<f64>)> {
        let mut epsilons = vec![settings.epsilon];
        epsilons.extend(Self::more_epsilons(settings.effort));
        epsilons.sort_by(f64::total_cmp);
        epsilons.dedup();
        let at = |method| {
            let paid = epsilons.iter().map(|&epsilon| (method, Some(epsilon)));
            if Self::label(method).has_epsilon { paid.collect() } else { vec![(method, None)] }
        };
        Self::methods(source, settings.effort).into_iter().flat_map(at).collect()
    }

    /// Reads or generates a data set; `None` if its file is not here.
    fn open(source: Self::Source, context: &Context) -> Result<Option<Self::Bench>, Error>;

    /// See [`Suite::report`].
    fn report(records: &[Record], context: &Context, page: &mut Page) -> Result<(), Error>;

    /// See [`Suite::summary`].
    fn summary(records: &[Record]) -> Vec<Vec<String>>;
}

/// A data set before it is read.
#[derive(Debug)]
pub(crate) struct Card {
    pub(crate) id: String,
    pub(crate) n: usize,
    pub(crate) d: usize,
    /// Settings of all of its cells.
    pub(crate) params: Vec<(&'static str, Value)>,
    /// See [`Plan::units`].
    pub(crate) units: u64,
    /// The set of the manifest and the file in the folder of data; `None` if it is generated.
    pub(crate) file: Option<(&'static str, String)>,
}

/// A method in the words of records.
#[derive(Debug, Default)]
pub(crate) struct Label {
    pub(crate) algorithm: &'static str,
    pub(crate) variant: String,
    /// What it keeps private; `None` if nothing.
    pub(crate) relation: Option<&'static str>,
    /// Whether it pays for what it draws.
    pub(crate) has_epsilon: bool,
    pub(crate) delta: Option<f64>,
    /// Whether all its runs are the same, so that the first is enough.
    pub(crate) once: bool,
    /// Settings of its cells.
    pub(crate) params: Vec<(&'static str, Value)>,
}

/// An algorithm with a variant of it, and what that comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Named<H> {
    pub(crate) algorithm: &'static str,
    pub(crate) variant: &'static str,
    pub(crate) how: H,
}

pub(crate) const fn method<H: Copy>(
    algorithm: &'static str,
    variant: &'static str,
    how: H,
) -> Named<H> {
    Named { algorithm, variant, how }
}

/// One data set in memory: runs single methods and measures what they found.
pub(crate) trait Bench {
    type Method;
    type Found;

    /// SHA-256 of the data in hexadecimal.
    fn checksum(&self) -> &str;

    /// The method alone: this is timed. Epsilon is 1 where none is paid.
    fn run(
        &self,
        method: Self::Method,
        epsilon: f64,
        rng: &mut ChaCha20Rng,
    ) -> Result<Self::Found, Error>;

    /// How good that was.
    fn measure(
        &mut self,
        method: Self::Method,
        epsilon: f64,
        found: &Self::Found,
    ) -> Result<Vec<(&'static str, f64)>, Error>;
}

/// A cell before it runs: a method with epsilon, and the record without measurements.
type Cell<M> = ((M, f64), Record);

fn cells<F: Family>(source: &F::Source, card: &Card, settings: &Settings) -> Vec<Cell<F::Method>> {
    let mut cells = Vec::new();
    for run in 0..F::runs(source, settings) {
        for (method, epsilon) in F::cells(source, settings) {
            let label = F::label(method);
            if run > 0 && label.once {
                continue;
            }
            let params = card.params.iter().chain(&label.params);
            let record = Record {
                suite: F::ID.to_owned(),
                dataset: card.id.clone(),
                n: card.n,
                d: card.d,
                algorithm: label.algorithm.to_owned(),
                variant: label.variant.clone(),
                private: label.relation.is_some(),
                relation: label.relation.map(str::to_owned),
                epsilon,
                delta: label.delta,
                params: params.map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
                run,
                seed: settings.seed,
                metrics: BTreeMap::new(),
                seconds: 0.0,
                peak_rss_mib: None,
                paper: BTreeMap::new(),
            };
            cells.push(((method, epsilon.unwrap_or(1.0)), record));
        }
    }
    cells
}

impl<F: Family> Suite for F {
    fn id(&self) -> &'static str {
        F::ID
    }

    fn plan(&self, context: &Context) -> Result<Vec<Plan>, Error> {
        let settings = &context.settings;
        let plan = |source: &F::Source| {
            let card = F::card(source, context)?;
            let cells = cells::<F>(source, &card, settings).into_iter().map(|cell| cell.1);
            let is_here = |(_, path): &(_, String)| settings.datasets.join(path).is_file();
            Ok(Plan {
                cells: cells.collect(),
                here: card.file.as_ref().is_none_or(is_here),
                dataset: card.id,
                units: card.units,
                warm_up_steps: 0,
            })
        };
        F::sources(settings.effort).iter().map(plan).collect()
    }

    fn open(&mut self, dataset: &str, context: &Context) -> Result<Opened, Error> {
        let mut known = Vec::new();
        for source in F::sources(context.settings.effort) {
            let card = F::card(&source, context)?;
            if card.id != dataset {
                known.push(card.id);
                continue;
            }
            let cells = cells::<F>(&source, &card, &context.settings).into_iter();
            let planned = cells.map(|(method, record)| (record.key(), method)).collect();
            if let Some(bench) = F::open(source, context)? {
                return Ok(Opened::Ready(Box::new(Planned { bench, planned })));
            }
            return context.left_out(card.file.map_or(F::ID, |(set, _)| set));
        }
        Err(Error::unknown("data set of this suite", dataset, known.iter().map(String::as_str)))
    }

    fn report(&self, records: &[Record], context: &Context, page: &mut Page) -> Result<(), Error> {
        F::report(records, context, page)
    }

    fn summary(&self, records: &[Record]) -> Vec<Vec<String>> {
        F::summary(records)
    }
}

/// A data set with the cells that are planned on it.
struct Planned<B: Bench> {
    bench: B,
    planned: BTreeMap<Key, (B::Method, f64)>,
}

impl<B: Bench<Method: Copy>> Workbench for Planned<B> {
    fn checksum(&self) -> &str {
        self.bench.checksum()
    }

    fn run(&mut self, cell: &Record) -> Result<Record, Error> {
        let &(method, epsilon) = self.planned.get(&cell.key()).ok_or_else(|| {
            let got = format!("{} ({})", cell.algorithm, cell.variant);
            Error::unknown("cell", &got, self.planned.keys().map(|key| key.algorithm.as_str()))
        })?;
        let mut rng = rng_of(cell);
        let (found, Cost { seconds, peak_rss_mib }) =
            measured(|| self.bench.run(method, epsilon, &mut rng))?;
        let metrics = self.bench.measure(method, epsilon, &found)?;
        let metrics = metrics.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Ok(Record { metrics, seconds, peak_rss_mib, ..cell.clone() })
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use crate::cli::EvalArgs;
    use crate::eval::record::Record;
    use crate::eval::settings::{Effort, Settings};
    use crate::eval::suite::{Context, Opened, Suite};
    use crate::report::page::Page;
    use quietus_datasets::manifest::Manifest;
    use std::path::Path;

    /// An evaluation of one suite in a folder, without data and with seed 3.
    pub(crate) fn context(suite: &str, folder: &Path, args: &EvalArgs) -> Context {
        let args = EvalArgs {
            suites: vec![suite.to_owned()],
            seed: 3,
            datasets: Some(folder.to_owned()),
            out: Some(folder.join("out")),
            ..args.clone()
        };
        let settings = Settings::new(&args).unwrap();
        Context { settings, manifest: Manifest::of_workspace().unwrap() }
    }

    pub(crate) fn args(effort: Effort, epsilon: f64) -> EvalArgs {
        let (quick, full) = (effort == Effort::Quick, effort == Effort::Full);
        EvalArgs { quick, full, epsilon, ..EvalArgs::default() }
    }

    /// How many data sets are planned, and how many are not here; these are left out with their publisher.
    pub(crate) fn left_out(suite: &mut impl Suite, effort: Effort) -> (usize, usize) {
        let folder = tempfile::tempdir().unwrap();
        let context = context(suite.id(), folder.path(), &args(effort, 1.0));
        let plans = suite.plan(&context).unwrap();
        let missing: Vec<_> = plans.iter().filter(|plan| !plan.here).collect();
        for plan in &missing {
            let Opened::LeftOut { reason } = suite.open(&plan.dataset, &context).unwrap() else {
                panic!("{} is not here", plan.dataset)
            };
            assert!(reason.contains("published at"), "{reason}");
        }
        (plans.len(), missing.len())
    }

    /// Run 0 of all cells of a data set that is generated; those that are picked run twice, to the same numbers. With the chapter of the
    /// report on them.
    pub(crate) fn first_run(
        suite: &mut impl Suite,
        (dataset, epsilon): (&str, f64),
        twice: impl Fn(&Record) -> bool,
    ) -> (Vec<Record>, Page) {
        let folder = tempfile::tempdir().unwrap();
        let context = context(suite.id(), folder.path(), &args(Effort::Quick, epsilon));
        let plans = suite.plan(&context).unwrap();
        let plan = plans.iter().find(|plan| plan.dataset == dataset).unwrap();
        let Opened::Ready(mut bench) = suite.open(dataset, &context).unwrap() else {
            panic!("generated")
        };
        let run = |cell: &Record| {
            let record = bench.run(cell).unwrap();
            if twice(cell) {
                let again = bench.run(cell).unwrap().metrics;
                assert_eq!(record.metrics, again, "{}, {}", cell.algorithm, cell.variant);
            }
            record
        };
        let records: Vec<Record> =
            plan.cells.iter().filter(|cell| cell.run == 0).map(run).collect();
        let page = reported(suite, &records);
        (records, page)
    }

    /// The chapter of the report, beside a closing table.
    pub(crate) fn reported(suite: &impl Suite, records: &[Record]) -> Page {
        let folder = tempfile::tempdir().unwrap();
        let mut page = Page::default();
        let context = context(suite.id(), folder.path(), &args(Effort::Quick, 1.0));
        suite.report(records, &context, &mut page).unwrap();
        assert!(suite.summary(records).len() > 3);
        page
    }

    /// A metric of the first record of an algorithm, in this variant if one is given.
    pub(crate) fn metric(
        records: &[Record],
        (algorithm, variant): (&str, &str),
        name: &str,
    ) -> f64 {
        let is = |record: &&Record| {
            record.algorithm == algorithm && (variant.is_empty() || record.variant == variant)
        };
        records.iter().find(is).unwrap().metrics[name]
    }
}

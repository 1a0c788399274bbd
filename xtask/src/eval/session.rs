//! One evaluation from its settings to what the report needs.

use crate::data::catalogue::Recipe;
use crate::data::manifest::Manifest;
use crate::data::prepare::{Dataset, Prepared, prepare};
use crate::error::Error;
use crate::eval::algorithms::{self, Algorithm};
use crate::eval::progress::Progress;
use crate::eval::record::Record;
use crate::eval::results::Results;
use crate::eval::runner::{Failure, guarded, run_cells};
use crate::eval::settings::Settings;
use crate::eval::{centres, measure, memory, plan, references};
use crate::report::cloud::Cloud;
use crate::report::{Evaluation, LeftOut, Section};
use crate::seed::named_rng;
use dp_geometry::Points;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// A running evaluation.
pub(crate) struct Session<'a> {
    settings: &'a Settings,
    stop: &'a AtomicBool,
    recipes: &'static [Recipe],
    manifest: Manifest,
    results: Results,
    progress: Progress,
    sections: Vec<Section>,
    left_out: Vec<LeftOut>,
    failures: Vec<Failure>,
    interrupted: bool,
}

impl<'a> Session<'a> {
    /// Opens OUT and checks everything that can be checked before computing.
    pub(crate) fn open(
        settings: &'a Settings,
        stop: &'a AtomicBool,
        recipes: &'static [Recipe],
    ) -> Result<Self, Error> {
        let results = Results::open(&settings.out, settings.resume)?;
        results.notices.iter().for_each(|notice| eprintln!("note: {notice}"));
        results.check_seed(settings.seed)?;
        let manifest = Manifest::of_workspace()?;
        let mut work = 0;
        for suite in &settings.suites {
            for recipe in recipes {
                let pending = pending_cells(settings, suite, recipe, &results)?;
                if is_here(settings, &manifest, recipe)? {
                    work += plan::units(recipe)
                        * (pending + fits_to_make(settings, recipe, pending)) as u64;
                }
            }
        }
        Ok(Self {
            settings,
            stop,
            recipes,
            manifest,
            results,
            progress: Progress::new(work),
            sections: Vec::new(),
            left_out: Vec::new(),
            failures: Vec::new(),
            interrupted: false,
        })
    }

    /// Runs all data sets of all suites. Only results that cannot be written, or that belong to
    /// other settings, end this with an error.
    pub(crate) fn run(&mut self) -> Result<(), Error> {
        for suite in self.settings.suites.clone() {
            for recipe in self.recipes {
                if self.interrupted || self.stop.load(Ordering::Relaxed) {
                    self.interrupted = true;
                    return Ok(());
                }
                self.progress.doing(&format!("{}: preparing", recipe.id));
                match guarded(|| prepare(recipe, &self.manifest, &self.settings.datasets)) {
                    Ok(Prepared::Ready(dataset)) => self.run_dataset(suite, &dataset)?,
                    Ok(Prepared::LeftOut { reason }) => {
                        self.left_out.push(LeftOut { dataset: recipe.id, reason });
                    }
                    Err(reason) => self.fail(recipe.id, reason),
                }
            }
        }
        Ok(())
    }

    /// Cells on disk.
    pub(crate) fn finished_cells(&self) -> usize {
        self.results.records().len()
    }

    /// What the report is made from.
    pub(crate) fn close(self) -> Evaluation {
        Evaluation {
            settings: self.settings.clone(),
            records: self.results.records().to_vec(),
            sections: self.sections,
            left_out: self.left_out,
            failures: self.failures,
            interrupted: self.interrupted,
        }
    }

    fn run_dataset(&mut self, suite: &str, dataset: &Dataset) -> Result<(), Error> {
        let recipe = dataset.recipe;
        self.sections.push(Section::of(dataset, Cloud::of(dataset)));
        let algorithms = algorithms::of_suite(suite);
        let mut cells = plan::cells(self.settings, suite, recipe, &algorithms);
        for cell in &mut cells {
            cell.params.insert("data".to_owned(), short_checksum(dataset).into());
        }
        let mut pending = 0;
        for cell in &cells {
            pending += usize::from(!self.results.has(cell)?);
        }
        if pending == 0 {
            return Ok(());
        }
        let Some(references) = self.references(dataset, pending) else { return Ok(()) };
        let settings = self.settings;
        let work = |cell: &Record| run_cell(cell, dataset, &algorithms, &references, settings);
        let tally = run_cells(
            &cells,
            work,
            &mut self.results,
            self.stop,
            &mut self.progress,
            plan::units(recipe),
        )?;
        self.failures.extend(tally.failures);
        self.interrupted |= tally.interrupted;
        Ok(())
    }

    /// The reference clusterings; `None` if they failed, which is noted, or on Ctrl-C.
    fn references(&mut self, dataset: &Dataset, pending: usize) -> Option<Vec<Points>> {
        let recipe = dataset.recipe;
        let name = format!("{}: reference clusterings", recipe.id);
        self.progress.doing(&name);
        let (settings, stop, progress) = (self.settings, self.stop, &mut self.progress);
        let mut promised = fits_to_make(settings, recipe, pending);
        let made = guarded(|| {
            references::load_or_make(dataset, settings.effort, &settings.out, || {
                progress.advance(if promised > 0 { plan::units(recipe) } else { 0 }, &name);
                promised = promised.saturating_sub(1);
                !stop.load(Ordering::Relaxed)
            })
        });
        match made {
            Ok(Some(references)) => return Some(references),
            Ok(None) => self.interrupted = true,
            Err(reason) => {
                self.progress.shrink(plan::units(recipe) * (promised + pending) as u64);
                self.fail(&name, reason);
            }
        }
        None
    }

    fn fail(&mut self, what: &str, reason: String) {
        self.failures.push(Failure { what: what.to_owned(), reason });
    }
}

/// One run of one algorithm with all its measurements.
fn run_cell(
    cell: &Record,
    dataset: &Dataset,
    algorithms: &[Box<dyn Algorithm>],
    references: &[Points],
    settings: &Settings,
) -> Result<Record, Error> {
    let algorithm = algorithms
        .iter()
        .find(|algorithm| algorithm.id() == cell.algorithm && algorithm.variant() == cell.variant)
        .ok_or_else(|| Error::Unknown {
            what: "algorithm",
            got: cell.algorithm.clone(),
            known: algorithms.iter().map(|algorithm| algorithm.id().to_owned()).collect(),
        })?;
    let mut rng = named_rng(&[
        "cell",
        &cell.seed.to_string(),
        &cell.dataset,
        &cell.algorithm,
        &cell.variant,
        &cell.run.to_string(),
    ]);
    memory::reset_peak();
    let start = Instant::now();
    let outcome = algorithm.run(dataset, settings.epsilon, &mut rng)?;
    let seconds = start.elapsed().as_secs_f64();
    let peak_rss_mib = memory::peak_mib();
    let sample = settings.effort.silhouette_sample();
    let metrics = measure::metrics_of(&outcome.centres, dataset, references, sample);
    centres::keep(&settings.out, cell, &outcome)?;
    Ok(Record { metrics, seconds, peak_rss_mib, ..cell.clone() })
}

/// Cells still to run; refuses results of other settings before anything is computed.
fn pending_cells(
    settings: &Settings,
    suite: &str,
    recipe: &Recipe,
    results: &Results,
) -> Result<usize, Error> {
    let mut pending = 0;
    for cell in plan::cells(settings, suite, recipe, &algorithms::of_suite(suite)) {
        pending += usize::from(!results.has_whatever_the_data(&cell)?);
    }
    Ok(pending)
}

fn fits_to_make(settings: &Settings, recipe: &Recipe, pending: usize) -> usize {
    let cached = references::likely_cached(&settings.out, recipe.id);
    if pending == 0 || cached { 0 } else { references::fits(settings.effort) }
}

fn is_here(settings: &Settings, manifest: &Manifest, recipe: &Recipe) -> Result<bool, Error> {
    if recipe.is_generated() {
        return Ok(true);
    }
    let set = manifest.set(recipe.id)?;
    Ok(set.files.iter().all(|file| settings.datasets.join(&file.path).is_file()))
}

/// Enough of the checksum to tell two versions of a data set apart.
fn short_checksum(dataset: &Dataset) -> &str {
    &dataset.checksum[..16]
}

#[cfg(test)]
mod tests {
    use super::{Session, run_cell};
    use crate::cli::EvalArgs;
    use crate::data::catalogue::{Origin, Recipe};
    use crate::data::manifest::Manifest;
    use crate::data::prepare::{Dataset, Prepared, prepare};
    use crate::eval::algorithms;
    use crate::eval::plan;
    use crate::eval::record::Record;
    use crate::eval::results::FILE;
    use crate::eval::settings::Settings;
    use crate::report;
    use std::path::Path;
    use std::sync::atomic::AtomicBool;

    static TINY: [Recipe; 1] = [Recipe {
        id: "tiny",
        origin: Origin::Blobs,
        n: 3_000,
        d: 3,
        k: 4,
        range: (-100.0, 100.0),
        k_search: [2, 3, 4, 5, 6],
    }];

    fn settings(out: &Path, resume: bool) -> Settings {
        let args = EvalArgs {
            suites: vec!["dpm".to_owned()],
            quick: true,
            epsilon: 1.0,
            seed: 3,
            out: Some(out.to_owned()),
            resume,
            ..EvalArgs::default()
        };
        Settings::new(&args).unwrap()
    }

    fn tiny() -> Box<Dataset> {
        let manifest = Manifest::of_workspace().unwrap();
        match prepare(&TINY[0], &manifest, Path::new("unused")).unwrap() {
            Prepared::Ready(dataset) => dataset,
            Prepared::LeftOut { reason } => panic!("{reason}"),
        }
    }

    /// A record without what differs from machine to machine.
    fn timeless(record: &Record) -> Record {
        Record { seconds: 0.0, peak_rss_mib: None, ..record.clone() }
    }

    #[test]
    fn results_depend_on_neither_the_order_nor_the_threads() {
        let out = tempfile::tempdir().unwrap();
        let (settings, dataset) = (settings(out.path(), false), tiny());
        let algorithms = algorithms::of_suite("dpm");
        let references = [dataset.true_centres.clone().unwrap()];
        let cells = plan::cells(&settings, "dpm", &TINY[0], &algorithms);
        let run = |threads: usize, backwards: bool| -> Vec<Record> {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut order: Vec<&Record> = cells.iter().collect();
            if backwards {
                order.reverse();
            }
            let one = |cell: &&Record| {
                timeless(&run_cell(cell, &dataset, &algorithms, &references, &settings).unwrap())
            };
            let mut records: Vec<Record> = pool.install(|| order.iter().map(one).collect());
            if backwards {
                records.reverse();
            }
            records
        };
        let alone = run(1, false);
        assert_eq!(alone.len(), 4);
        assert_ne!(alone[1].metrics, alone[3].metrics, "runs differ");
        assert_eq!(run(2, false), alone);
        assert_eq!(run(7, true), alone);
    }

    #[test]
    fn an_evaluation_resumes_to_the_same_results_and_report() {
        let out = tempfile::tempdir().unwrap();
        let evaluate = |resume: bool, stop: bool| {
            let (settings, stop) = (settings(out.path(), resume), AtomicBool::new(stop));
            let mut session = Session::open(&settings, &stop, &TINY).unwrap();
            session.run().unwrap();
            let evaluation = session.close();
            report::write(out.path(), &evaluation).unwrap();
            evaluation
        };
        let read = |name: &str| std::fs::read_to_string(out.path().join(name)).unwrap();

        let first = evaluate(false, false);
        assert!(first.failures.is_empty() && !first.interrupted);
        let (results, page) = (read(FILE), read("report.html"));
        assert_eq!(results.lines().count(), 4);
        assert!(page.matches("<svg").count() == 3, "two strips and a scatter");
        assert!(page.contains("add-remove"), "the receipt");

        // Nothing is left to do: the file stays as it is and the plots come from the kept centres.
        evaluate(true, false);
        assert_eq!((read(FILE), read("report.html")), (results.clone(), page));

        // The last line is cut, and then Ctrl-C comes at once: three cells and a report remain.
        std::fs::write(out.path().join(FILE), &results[..results.len() - 30]).unwrap();
        let stopped = evaluate(true, true);
        assert!(stopped.interrupted && stopped.records.len() == 3);
        assert!(read("report.md").contains("**Interrupted.**"));

        let last = evaluate(true, false);
        let all = |records: &[Record]| records.iter().map(timeless).collect::<Vec<_>>();
        assert_eq!(all(&last.records), all(&first.records));
    }
}

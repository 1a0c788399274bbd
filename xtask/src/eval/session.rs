//! One evaluation from its settings to what the report needs.

use crate::error::Error;
use crate::eval::evaluation::{Evaluation, LeftOut};
use crate::eval::record::Record;
use crate::eval::results::Results;
use crate::eval::runner::{Failure, guarded, run_cells};
use crate::eval::settings::Settings;
use crate::eval::suite::{Context, Opened, Plan, Suite, Workbench};
use crate::progress::Progress;
use quietus_datasets::manifest::Manifest;
use std::sync::atomic::{AtomicBool, Ordering};

/// A running evaluation.
pub(crate) struct Session<'a> {
    context: Context,
    stop: &'a AtomicBool,
    suites: Vec<Box<dyn Suite>>,
    results: Results,
    progress: Progress,
    left_out: Vec<LeftOut>,
    failures: Vec<Failure>,
    interrupted: bool,
}

impl<'a> Session<'a> {
    /// Opens OUT and checks everything that can be checked before computing.
    pub(crate) fn open(
        settings: &Settings,
        stop: &'a AtomicBool,
        suites: Vec<Box<dyn Suite>>,
    ) -> Result<Self, Error> {
        let results = Results::open(&settings.out, settings.resume)?;
        results.notices.iter().for_each(|notice| eprintln!("note: {notice}"));
        results.check_seed(settings.seed)?;
        let context = Context { settings: settings.clone(), manifest: Manifest::of_workspace()? };
        let mut work = 0;
        for suite in &suites {
            for plan in suite.plan(&context)? {
                let mut pending = 0;
                for cell in &plan.cells {
                    pending += u64::from(!results.has_whatever_the_data(cell)?);
                }
                if plan.here && pending > 0 {
                    work += plan.units * (pending + plan.warm_up_steps);
                }
            }
        }
        Ok(Self {
            context,
            stop,
            suites,
            results,
            progress: Progress::new(work),
            left_out: Vec::new(),
            failures: Vec::new(),
            interrupted: false,
        })
    }

    /// Runs all data sets of all suites. Only results that cannot be written, or that belong to
    /// other settings, end this with an error.
    pub(crate) fn run(&mut self) -> Result<(), Error> {
        for index in 0..self.suites.len() {
            for plan in self.suites[index].plan(&self.context)? {
                if self.interrupted || self.stop.load(Ordering::Relaxed) {
                    self.interrupted = true;
                    return Ok(());
                }
                self.progress.doing(&format!("{}: preparing", plan.dataset));
                let (suite, context) = (&mut self.suites[index], &self.context);
                match guarded(|| suite.open(&plan.dataset, context)) {
                    Ok(Opened::Ready(bench)) => self.run_dataset(plan, bench)?,
                    Ok(Opened::LeftOut { reason }) => {
                        self.left_out.push(LeftOut { dataset: plan.dataset, reason });
                    }
                    Err(reason) => self.fail(&plan.dataset, reason),
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
            context: self.context,
            suites: self.suites,
            records: self.results.records().to_vec(),
            left_out: self.left_out,
            failures: self.failures,
            interrupted: self.interrupted,
        }
    }

    fn run_dataset(&mut self, mut plan: Plan, mut bench: Box<dyn Workbench>) -> Result<(), Error> {
        let data = short(bench.checksum()).to_owned();
        let mut pending = 0;
        for cell in &mut plan.cells {
            cell.params.insert("data".to_owned(), data.as_str().into());
            pending += u64::from(!self.results.has(cell)?);
        }
        if pending == 0 || !self.warm_up(&plan, pending, bench.as_mut()) {
            return Ok(());
        }
        let work = |cell: &Record| bench.run(cell);
        let (results, progress) = (&mut self.results, &mut self.progress);
        let tally = run_cells(&plan.cells, work, results, self.stop, progress, plan.units)?;
        self.failures.extend(tally.failures);
        self.interrupted |= tally.interrupted;
        Ok(())
    }

    /// False if it failed, which is noted, or on Ctrl-C.
    fn warm_up(&mut self, plan: &Plan, pending: u64, bench: &mut dyn Workbench) -> bool {
        let name = format!("{}: shared work", plan.dataset);
        self.progress.doing(&name);
        let (stop, progress) = (self.stop, &mut self.progress);
        let mut promised = plan.warm_up_steps;
        let done = guarded(|| {
            bench.warm_up(&mut || {
                progress.advance(if promised > 0 { plan.units } else { 0 }, &name);
                promised = promised.saturating_sub(1);
                !stop.load(Ordering::Relaxed)
            })
        });
        match done {
            Ok(true) => return true,
            Ok(false) => self.interrupted = true,
            Err(reason) => {
                self.progress.shrink(plan.units * (promised + pending));
                self.fail(&name, reason);
            }
        }
        false
    }

    fn fail(&mut self, what: &str, reason: String) {
        self.failures.push(Failure { what: what.to_owned(), reason });
    }
}

/// Enough of a checksum to tell two versions of a data set apart.
fn short(checksum: &str) -> &str {
    checksum.get(..16).unwrap_or(checksum)
}

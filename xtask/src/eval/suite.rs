//! What a suite is: a family of algorithms with its data sets, its cells and its part of the report.
//!
//! A new suite is a folder beside `clustering/` and a line in [`all`]. It says what there is to run
//! ([`Suite::plan`]), opens one data set at a time ([`Suite::open`]), measures single cells
//! ([`Workbench::run`]) and writes its chapter ([`Suite::report`]). Order, resumption, Ctrl-C,
//! progress and failures are the session's.

use crate::error::Error;
use crate::eval::census::Census;
use crate::eval::clustering::Clustering;
use crate::eval::distance::Distance;
use crate::eval::heavy_hitters::HeavyHitters;
use crate::eval::k_median::KMedian;
use crate::eval::local::Local;
use crate::eval::record::Record;
use crate::eval::robust::Robust;
use crate::eval::set_cover::SetCover;
use crate::eval::settings::Settings;
use crate::eval::stable::Stable;
use crate::eval::submodular::Submodular;
use crate::report::page::Page;
use quietus_datasets::manifest::Manifest;
use quietus_datasets::sets::Shelf;

/// What every suite may look at.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) settings: Settings,
    pub(crate) manifest: Manifest,
}

impl Context {
    /// Real sets, and where they may be.
    pub(crate) fn shelf(&self) -> Shelf<'_> {
        Shelf { manifest: &self.manifest, folder: &self.settings.datasets }
    }

    /// Goes on without a set of the manifest whose files are not here.
    pub(crate) fn left_out(&self, set: &str) -> Result<Opened, Error> {
        let reason = self.shelf().how_to_get(set)?;
        Ok(Opened::LeftOut { reason })
    }
}

/// What there is to run on one data set, before any of it is read.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) dataset: String,
    /// Cells without measurements, in the order in which they run: run by run, so that an
    /// interrupted evaluation has as many complete runs as possible.
    pub(crate) cells: Vec<Record>,
    /// Work of one cell, roughly; only ratios matter.
    pub(crate) units: u64,
    /// Work before the first cell, in the same unit: how many steps [`Workbench::warm_up`] takes.
    pub(crate) warm_up_steps: u64,
    /// Whether the data seem to be there, by a cheap look.
    pub(crate) here: bool,
}

/// An opened data set, or why there is none.
pub(crate) enum Opened {
    Ready(Box<dyn Workbench>),
    /// Its file is not here; this is no error, the evaluation goes on without it.
    LeftOut {
        reason: String,
    },
}

/// One data set in memory with what runs on it.
pub(crate) trait Workbench {
    /// SHA-256 of the data in hexadecimal.
    fn checksum(&self) -> &str;

    /// Work that all cells share, done only if a cell is going to run. Calls `step` after each of
    /// [`Plan::warm_up_steps`]; false from `step` asks to stop, and then this returns false too.
    fn warm_up(&mut self, _step: &mut dyn FnMut() -> bool) -> Result<bool, Error> {
        Ok(true)
    }

    /// Runs one planned cell: the same record with its measurements.
    fn run(&mut self, cell: &Record) -> Result<Record, Error>;
}

/// A family of algorithms.
pub(crate) trait Suite {
    /// Its name on the command line and in results.jsonl.
    fn id(&self) -> &'static str;

    /// What there is to run, data set by data set.
    fn plan(&self, context: &Context) -> Result<Vec<Plan>, Error>;

    /// Reads or generates a data set of the plan. Whatever the report needs of the data is kept.
    fn open(&mut self, dataset: &str, context: &Context) -> Result<Opened, Error>;

    /// Its chapter, from the records of this suite; earlier runs are among them after `--resume`.
    fn report(&self, records: &[Record], context: &Context, page: &mut Page) -> Result<(), Error>;

    /// The few numbers that people look for first: a heading line, then one line per result.
    fn summary(&self, records: &[Record]) -> Vec<Vec<String>>;
}

/// All suites in the order of the reports.
pub(crate) fn all() -> Vec<Box<dyn Suite>> {
    vec![
        Box::new(Clustering::default()),
        Box::new(Robust),
        Box::new(Submodular),
        Box::new(SetCover),
        Box::new(KMedian),
        Box::new(Distance),
        Box::new(Stable),
        Box::new(Local),
        Box::new(HeavyHitters),
        Box::new(Census::default()),
    ]
}

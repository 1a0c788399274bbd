//! What became of an evaluation, as its pages: OUT/report.md and OUT/report.html.

use crate::error::Error;
use crate::eval::record::Record;
use crate::eval::runner::Failure;
use crate::eval::suite::{Context, Suite};
use crate::eval::{aims, frame, papers, speed, verdict};
use crate::report::page::Page;
use crate::report::{publish, terminal};

/// What became of an evaluation.
pub(crate) struct Evaluation {
    pub(crate) context: Context,
    /// The suites that were asked for, with what they kept for their chapters.
    pub(crate) suites: Vec<Box<dyn Suite>>,
    pub(crate) records: Vec<Record>,
    pub(crate) left_out: Vec<LeftOut>,
    pub(crate) failures: Vec<Failure>,
    pub(crate) interrupted: bool,
}

/// A data set that is not here.
#[derive(Debug)]
pub(crate) struct LeftOut {
    pub(crate) dataset: String,
    pub(crate) reason: String,
}

impl Evaluation {
    /// Each suite with its records; suites without any are left out.
    pub(crate) fn chapters(&self) -> impl Iterator<Item = (&dyn Suite, Vec<Record>)> {
        self.suites.iter().filter_map(|suite| {
            let of_suite = |record: &&Record| record.suite == suite.id();
            let records: Vec<Record> = self.records.iter().filter(of_suite).cloned().collect();
            (!records.is_empty()).then_some((suite.as_ref(), records))
        })
    }
}

/// Writes both reports and the plots of the first one.
pub(crate) fn write(evaluation: &Evaluation) -> Result<(), Error> {
    let out = &evaluation.context.settings.out;
    let mut page = Page::default();
    frame::opening(evaluation, &mut page);
    let chapters: Vec<_> = evaluation.chapters().collect();
    let families = chapters.iter().map(|(suite, records)| (suite.id(), records.as_slice()));
    verdict::write(families, &mut page);
    let mut below = Page::default();
    for (suite, records) in chapters {
        suite.report(&records, &evaluation.context, &mut below)?;
    }
    speed::write_values(&aims::measured(&evaluation.records, out)?, &mut page);
    papers::write(&evaluation.records, &below.text, &mut page);
    page.append(below);
    speed::write(out, &mut page)?;
    if out.join("audit.html").is_file() {
        page.chapter("Audit");
        page.paragraph("The last audit of these algorithms: [audit.html](audit.html).");
    }
    frame::closing(evaluation, &mut page);
    publish(out, "report", "Quietus evaluation", &page)
}

/// The closing tables on the terminal, suite after suite.
pub(crate) fn closing_tables(evaluation: &Evaluation) -> String {
    let tables = evaluation.chapters().map(|(suite, records)| suite.summary(&records));
    tables.map(|lines| terminal::aligned(&lines)).collect::<Vec<_>>().join("\n")
}

//! Pages from finished work: OUT/report.md and OUT/report.html from cells, OUT/audit.html from an
//! audit. Nothing here computes a result.

pub(crate) mod audit;
mod frame;
mod html;
pub(crate) mod number;
pub(crate) mod page;
pub(crate) mod plot;
pub(crate) mod summary;
pub(crate) mod terminal;

use crate::error::Error;
use crate::eval::record::Record;
use crate::eval::runner::Failure;
use crate::eval::suite::{Context, Suite};
use crate::files;
use page::Page;
use std::path::Path;

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
    for (suite, records) in evaluation.chapters() {
        suite.report(&records, &evaluation.context, &mut page)?;
    }
    if out.join("audit.html").is_file() {
        page.chapter("Audit");
        page.paragraph("The last audit of these algorithms: [audit.html](audit.html).");
    }
    frame::closing(evaluation, &mut page);
    publish(out, "report", "Quietus evaluation", &page)
}

/// Writes OUT/NAME.md, OUT/NAME.html and the plots.
fn publish(out: &Path, name: &str, title: &str, page: &Page) -> Result<(), Error> {
    if !page.plots.is_empty() {
        files::create_folder(&out.join("plots"))?;
    }
    for (path, svg) in &page.plots {
        files::write_atomically(&out.join(path), |writer| {
            writer.write_all(svg.standalone().as_bytes())
        })?;
    }
    files::write_atomically(&out.join(format!("{name}.md")), |writer| {
        writer.write_all(page.text.as_bytes())
    })?;
    let html = html::page(title, &page.text, &page.plots);
    files::write_atomically(&out.join(format!("{name}.html")), |writer| {
        writer.write_all(html.as_bytes())
    })
}

/// The closing tables on the terminal, suite after suite.
pub(crate) fn closing_tables(evaluation: &Evaluation) -> String {
    let tables = evaluation.chapters().map(|(suite, records)| suite.summary(&records));
    tables.map(|lines| terminal::aligned(&lines)).collect::<Vec<_>>().join("\n")
}

//! Pages from finished work: OUT/report.md and OUT/report.html from cells, OUT/audit.html from an
//! audit. Nothing here computes a result.

pub(crate) mod audit;
pub(crate) mod cloud;
mod document;
mod html;
pub(crate) mod number;
mod plot;
mod summary;
mod table;
pub(crate) mod terminal;

use crate::data::prepare::Dataset;
use crate::error::Error;
use crate::eval::record::Record;
use crate::eval::runner::Failure;
use crate::eval::settings::Settings;
use crate::eval::{centres, published};
use crate::files;
use cloud::Cloud;
use plot::Svg;
use std::collections::BTreeMap;
use std::path::Path;
use summary::Row;

/// Everything that a report says.
#[derive(Debug)]
pub(crate) struct Evaluation {
    pub(crate) settings: Settings,
    pub(crate) records: Vec<Record>,
    /// Data sets that were prepared, in order.
    pub(crate) sections: Vec<Section>,
    pub(crate) left_out: Vec<LeftOut>,
    pub(crate) failures: Vec<Failure>,
    pub(crate) interrupted: bool,
}

/// What a report needs of a data set once its points are gone.
#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) id: String,
    pub(crate) k: usize,
    pub(crate) range: (f64, f64),
    pub(crate) delta: f64,
    pub(crate) checksum: String,
    pub(crate) cloud: Cloud,
}

/// A data set that is not here.
#[derive(Debug)]
pub(crate) struct LeftOut {
    pub(crate) dataset: &'static str,
    pub(crate) reason: String,
}

impl Section {
    pub(crate) fn of(dataset: &Dataset, cloud: Cloud) -> Self {
        Self {
            id: dataset.recipe.id.to_owned(),
            k: dataset.recipe.k,
            range: dataset.recipe.range,
            delta: dataset.recipe.delta(),
            checksum: dataset.checksum.clone(),
            cloud,
        }
    }
}

impl Evaluation {
    /// Ids of all data sets with anything to show: prepared ones first, then those of an earlier run.
    fn datasets(&self) -> Vec<&str> {
        let mut ids: Vec<&str> = self.sections.iter().map(|section| section.id.as_str()).collect();
        for record in &self.records {
            if !ids.contains(&record.dataset.as_str()) {
                ids.push(&record.dataset);
            }
        }
        ids
    }

    fn section(&self, id: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.id == id)
    }
}

/// Plots by their path relative to OUT.
type Plots = BTreeMap<String, Svg>;

/// A first release's receipt: whose it is, and its text.
type Receipts = Vec<(String, String)>;

/// Writes both reports and the plots of the first one.
pub(crate) fn write(out: &Path, evaluation: &Evaluation) -> Result<(), Error> {
    let mut plots = Plots::new();
    let mut text = document::opening(evaluation);
    for id in evaluation.datasets() {
        let rows = summary::rows(&evaluation.records, id);
        let figures = draw(out, evaluation, id, &rows, &mut plots)?;
        let receipts = receipts(out, &rows);
        text.push_str(&document::dataset(evaluation, id, &rows, &figures, &receipts));
    }
    if out.join("audit.html").is_file() {
        text.push_str(
            "## Audit\n\nThe last audit of these algorithms: [audit.html](audit.html).\n\n",
        );
    }
    text.push_str(&document::closing(evaluation));

    files::create_folder(&out.join("plots"))?;
    for (path, svg) in &plots {
        files::write_atomically(&out.join(path), |writer| {
            writer.write_all(svg.standalone().as_bytes())
        })?;
    }
    files::write_atomically(&out.join("report.md"), |writer| writer.write_all(text.as_bytes()))?;
    let page = html::page("Quietus evaluation", &text, &plots);
    files::write_atomically(&out.join("report.html"), |writer| writer.write_all(page.as_bytes()))
}

/// Draws the plots of a data set and returns their captions and paths in order.
fn draw(
    out: &Path,
    evaluation: &Evaluation,
    id: &str,
    rows: &[Row],
    plots: &mut Plots,
) -> Result<Vec<(String, String)>, Error> {
    let mut figures = Vec::new();
    let mut add = |name: String, caption: String, svg: Svg| {
        let path = format!("plots/{id}-{name}.svg");
        plots.insert(path.clone(), svg);
        figures.push((caption, path));
    };
    for (metric, title, log) in [
        ("inertia_squared", "Squared inertia, log scale", true),
        ("kmeans_distance_normalised", "KMeans distance, normalised", false),
    ] {
        let strips = plot::strip::strips(rows, published::for_dataset(id), metric);
        if !strips.is_empty() {
            let caption = format!("{title}, per algorithm on {id}");
            add(metric.to_owned(), caption, plot::strip::draw(title, &strips, log)?);
        }
    }
    if let Some(section) = evaluation.section(id) {
        let baseline = rows.iter().find(|row| !row.private).and_then(|row| first_run(out, row));
        for row in rows.iter().filter(|row| row.private) {
            let Some(first) = first_run(out, row) else { continue };
            let caption = format!("{id}: points and the private centres of {}", row.label());
            let name = format!("centres-{}", row.file_name());
            let svg = plot::scatter::draw(&section.cloud, &row.label(), &first, baseline.as_ref())?;
            add(name, caption, svg);
        }
    }
    Ok(figures)
}

fn first_run(out: &Path, row: &Row) -> Option<centres::FirstRun> {
    centres::find(out, row.first.as_ref()?)
}

fn receipts(out: &Path, rows: &[Row]) -> Receipts {
    let receipt = |row: &Row| Some((row.label(), first_run(out, row)?.receipt?));
    rows.iter().filter_map(receipt).collect()
}

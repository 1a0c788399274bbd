//! How a page is made: Markdown and HTML with plots, tables on the terminal, numbers, and the page of an audit. Nothing here computes a
//! result or knows where one comes from.

pub(crate) mod audit;
mod html;
pub(crate) mod number;
pub(crate) mod page;
pub(crate) mod plot;
pub(crate) mod terminal;

use crate::error::Error;
use page::Page;
use quietus_datasets::files;
use std::path::Path;

/// Writes OUT/NAME.md, OUT/NAME.html and the plots.
pub(crate) fn publish(out: &Path, name: &str, title: &str, page: &Page) -> Result<(), Error> {
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
    })?;
    Ok(())
}

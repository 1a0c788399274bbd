//! The report as one self-contained page: the same Markdown, with the plots inside.

use crate::report::page::Plots;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// Renders the Markdown; an image that is one of the plots becomes its SVG.
pub(crate) fn page(title: &str, markdown: &str, plots: &Plots) -> String {
    let mut body = String::new();
    pulldown_cmark::html::push_html(&mut body, events(markdown, plots).into_iter());
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )
}

fn events<'a>(markdown: &'a str, plots: &Plots) -> Vec<Event<'a>> {
    let mut found = Vec::new();
    let mut inside_plot = false;
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Image { ref dest_url, .. }) => match plots.get(dest_url.as_ref()) {
                Some(svg) => {
                    inside_plot = true;
                    found.push(Event::InlineHtml("<figure>".into()));
                    found.push(Event::InlineHtml(svg.inline().into()));
                }
                None => found.push(event),
            },
            Event::End(TagEnd::Image) if inside_plot => {
                inside_plot = false;
                found.push(Event::InlineHtml("</figure>".into()));
            }
            // The alternative text is in the SVG already.
            Event::Text(_) if inside_plot => {}
            Event::Start(Tag::Table(_)) => {
                found.push(Event::Html("<div class=\"scroll\">".into()));
                found.push(event);
            }
            Event::End(TagEnd::Table) => {
                found.push(event);
                found.push(Event::Html("</div>\n".into()));
            }
            _ => found.push(event),
        }
    }
    found
}

/// Colours are variables, so that the plots follow the reader's light or dark preference.
const STYLE: &str = "\
:root { color-scheme: light dark; --panel: #ffffff; --ink: #1c2126; --muted: #69727c; --grid: #dde1e6;
  --first: #0072b2; --second: #d55e00; --third: #007a5a; --fourth: #a8548a; --fifth: #a87400;
  --sixth: #3d8fbd; --stripe: #f5f7f9; }
@media (prefers-color-scheme: dark) {
  :root { --panel: #15191d; --ink: #e4e8ec; --muted: #98a2ac; --grid: #343b43;
    --first: #56b4e9; --second: #f0954a; --third: #3cc9a0; --fourth: #d795be; --fifth: #e0b040;
    --sixth: #9ccdec; --stripe: #1c2126; }
}
body { margin: 0; background: var(--panel); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 1240px; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.8rem; margin: 0.5rem 0 1rem; }
h2 { font-size: 1.5rem; margin: 2.5rem 0 0.5rem; padding-bottom: 0.3rem; border-bottom: 1px solid var(--grid); }
h3 { font-size: 1.15rem; margin: 2rem 0 0.5rem; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: 0.875rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.3rem 0.6rem; border-bottom: 1px solid var(--grid); white-space: nowrap; }
th { color: var(--muted); font-weight: 600; text-align: left; }
tbody tr:nth-child(even) { background: var(--stripe); }
td em { color: var(--muted); }
figure { display: inline-block; margin: 0 1rem 1rem 0; max-width: 100%; vertical-align: top; }
figure svg { display: block; max-width: 100%; height: auto; }
details { margin: 0.5rem 0; }
summary { cursor: pointer; color: var(--first); }
pre { overflow-x: auto; padding: 0.8rem 1rem; background: var(--stripe); border: 1px solid var(--grid);
  border-radius: 4px; font-size: 0.8rem; }
code { font-size: 0.9em; }
";

#[cfg(test)]
mod tests {
    use super::page;
    use crate::report::plot::Svg;
    use std::collections::BTreeMap;

    #[test]
    fn plots_move_into_the_page_and_tables_can_scroll() {
        let svg = Svg::from_raw("dots", "<svg width=\"1\"></svg>");
        let plots = BTreeMap::from([("plots/a.svg".to_owned(), svg)]);
        let html = page("Dots", "![dots](plots/a.svg)\n\n| a |\n|---|\n| 1 |\n", &plots);
        assert!(
            html.contains(
                "<figure><svg role=\"img\" aria-label=\"dots\" width=\"1\"></svg>\n</figure>"
            ),
            "{html}"
        );
        assert!(html.contains("<div class=\"scroll\"><table>"), "{html}");
        assert!(!html.contains("<img") && !html.contains("http"), "nothing from elsewhere");
    }
}

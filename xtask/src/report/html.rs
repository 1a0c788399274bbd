//! The report as one self-contained page: the same Markdown, with the plots inside, a list of contents, and tables that sort.

use crate::report::page::Plots;
use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use std::fmt::Write as _;

const STRING: &str = "writing to a String cannot fail";

/// Renders the Markdown; an image that is one of the plots becomes its SVG.
pub(crate) fn page(title: &str, markdown: &str, plots: &Plots) -> String {
    let headings = headings(markdown);
    let mut body = String::new();
    pulldown_cmark::html::push_html(&mut body, events(markdown, plots, &headings).into_iter());
    let contents = contents(&headings);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n{contents}<main>\n{body}</main>\n<script>\n{SORT}</script>\n</body>\n</html>\n"
    )
}

/// A heading of the Markdown with the name that links to it.
struct Heading {
    level: HeadingLevel,
    text: String,
    id: String,
}

/// All headings in order. A text that comes twice gets a number, so that every link leads somewhere of its own.
fn headings(markdown: &str) -> Vec<Heading> {
    let mut found: Vec<Heading> = Vec::new();
    let mut open: Option<(HeadingLevel, String)> = None;
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        match (event, &mut open) {
            (Event::Start(Tag::Heading { level, .. }), _) => open = Some((level, String::new())),
            (Event::End(TagEnd::Heading(_)), _) => {
                if let Some((level, text)) = open.take() {
                    let name = file_name(&text);
                    let same = found.iter().filter(|other| other.text == text).count();
                    let id = if same == 0 { name } else { format!("{name}-{}", same + 1) };
                    found.push(Heading { level, text, id });
                }
            }
            (Event::Text(part) | Event::Code(part), Some((_, text))) => text.push_str(&part),
            _ => {}
        }
    }
    found
}

/// Chapters, each with its sections folded below it.
fn contents(headings: &[Heading]) -> String {
    let chapters = || headings.iter().filter(|heading| heading.level == HeadingLevel::H2);
    if chapters().count() < 2 {
        return String::new();
    }
    let mut text = String::from("<nav aria-label=\"Contents\">\n<strong>Contents</strong>\n");
    let mut rest = headings;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if first.level != HeadingLevel::H2 {
            continue;
        }
        let sections = after.iter().take_while(|heading| heading.level > HeadingLevel::H2);
        let sections: Vec<&Heading> =
            sections.filter(|heading| heading.level == HeadingLevel::H3).collect();
        if sections.is_empty() {
            writeln!(text, "<p>{}</p>", link(first)).expect(STRING);
        } else {
            let links: Vec<String> = sections.into_iter().map(link).collect();
            let (chapter, links) = (link(first), links.join("\n"));
            write!(text, "<details><summary>{chapter}</summary>\n{links}\n</details>\n")
                .expect(STRING);
        }
    }
    text.push_str("</nav>\n");
    text
}

fn link(heading: &Heading) -> String {
    let text = heading.text.replace('&', "&amp;").replace('<', "&lt;");
    format!("<a href=\"#{}\">{text}</a>", heading.id)
}

/// A name for a file or a link: lower-case letters, digits and hyphens, so that no place that it is written to has to quote it.
pub(crate) fn file_name(text: &str) -> String {
    let mut name = String::new();
    for c in text.chars() {
        match c {
            'ε' => name.push_str("epsilon"),
            'δ' => name.push_str("delta"),
            _ if c.is_ascii_alphanumeric() || c == '.' || c == '_' => {
                name.push(c.to_ascii_lowercase());
            }
            _ if name.ends_with('-') => {}
            _ => name.push('-'),
        }
    }
    name.trim_matches('-').to_owned()
}

fn events<'a>(markdown: &'a str, plots: &Plots, headings: &'a [Heading]) -> Vec<Event<'a>> {
    let mut found = Vec::new();
    let mut inside_plot = false;
    let mut headings = headings.iter();
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { level, classes, attrs, .. }) => {
                let id = headings.next().map(|heading| CowStr::from(heading.id.as_str()));
                found.push(Event::Start(Tag::Heading { level, id, classes, attrs }));
            }
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
                found.push(Event::Html("<div class=\"scroll\" tabindex=\"0\">".into()));
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

/// A click on a heading of a column sorts by it: numbers by the first number of a cell, dashes last.
const SORT: &str = "\
document.querySelectorAll('table').forEach(table => {
  const body = table.tBodies[0];
  if (!body || body.rows.length < 2) return;
  const number = text => { const found = text.match(/-?\\d+(\\.\\d+)?(e-?\\d+)?/); return found ? parseFloat(found[0]) : Infinity; };
  [...table.tHead.rows[0].cells].forEach((cell, column) => {
    cell.tabIndex = 0;
    cell.setAttribute('role', 'button');
    const sort = () => {
      const down = cell.getAttribute('aria-sort') === 'ascending';
      [...table.tHead.rows[0].cells].forEach(other => other.removeAttribute('aria-sort'));
      cell.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      const text = row => row.cells[column].textContent.trim();
      const rows = [...body.rows];
      const numeric = rows.some(row => /^[-\\d.]/.test(text(row)));
      rows.sort((a, b) => (numeric ? number(text(a)) - number(text(b)) : text(a).localeCompare(text(b))) * (down ? -1 : 1));
      rows.forEach(row => body.append(row));
    };
    cell.addEventListener('click', sort);
    cell.addEventListener('keydown', event => { if (event.key === 'Enter') sort(); });
  });
});
addEventListener('beforeprint', () => document.querySelectorAll('nav details').forEach(one => one.open = true));
";

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
* { box-sizing: border-box; }
body { margin: 0; background: var(--panel); color: var(--ink); font: 16px/1.5 system-ui, sans-serif;
  overflow-wrap: anywhere; }
main { max-width: 1320px; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
nav { padding: 1rem; font-size: 0.9rem; border-bottom: 1px solid var(--grid); }
nav p, nav details { margin: 0.3rem 0; }
nav details > a { display: block; margin-left: 1.1rem; }
a { color: var(--first); }
h1 { font-size: 1.8rem; margin: 0.5rem 0 1rem; }
h2 { font-size: 1.5rem; margin: 2.5rem 0 0.5rem; padding-bottom: 0.3rem; border-bottom: 1px solid var(--grid); }
h3 { font-size: 1.15rem; margin: 2rem 0 0.5rem; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: 0.8125rem; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
th, td { padding: 0.3rem 0.5rem; border-bottom: 1px solid var(--grid); white-space: nowrap; background: var(--panel); }
th { color: var(--muted); font-weight: 600; text-align: left; white-space: normal; vertical-align: bottom; cursor: pointer; }
th[aria-sort]::after { content: ' \\2191'; }
th[aria-sort=descending]::after { content: ' \\2193'; }
th:first-child, td:first-child { position: sticky; left: 0; }
td:first-child { white-space: normal; min-width: 9rem; max-width: 15rem; }
td:not([style]):not(:first-child) { white-space: normal; min-width: 8rem; max-width: 22rem; }
tbody tr:nth-child(even) td { background: var(--stripe); }
td em { color: var(--muted); }
figure { display: inline-block; margin: 0 1rem 1rem 0; max-width: 100%; vertical-align: top; }
figure svg { display: block; max-width: 100%; height: auto; }
details { margin: 0.5rem 0; }
summary { cursor: pointer; color: var(--first); }
pre { overflow-x: auto; padding: 0.8rem 1rem; background: var(--stripe); border: 1px solid var(--grid);
  border-radius: 4px; font-size: 0.8rem; overflow-wrap: normal; }
code { font-size: 0.9em; }
@media (min-width: 1600px) {
  nav { position: fixed; top: 0; left: 0; bottom: 0; width: 15rem; overflow-y: auto; border: 0;
    border-right: 1px solid var(--grid); }
  main { margin-left: max(15rem, calc((100vw - 1320px) / 2)); }
}
@media (max-width: 600px) {
  body { font-size: 15px; }
  th, td { padding: 0.25rem 0.4rem; }
  td:first-child { min-width: 7.5rem; max-width: 9.5rem; }
  td:not([style]):not(:first-child) { min-width: 6rem; max-width: 11rem; }
}
@media print {
  body { font-size: 10pt; }
  .scroll { overflow: visible; }
  table { font-size: 7.5pt; }
  th:first-child, td:first-child { position: static; }
  figure, tr { break-inside: avoid; }
}
";

#[cfg(test)]
mod tests {
    use super::{file_name, page};
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
        assert!(html.contains("<div class=\"scroll\" tabindex=\"0\"><table>"), "{html}");
        assert!(!html.contains("<img") && !html.contains("http"), "nothing from elsewhere");
    }

    #[test]
    fn the_contents_lead_to_every_chapter_and_section_also_to_those_of_one_name() {
        let text = "# All\n\n## One\n\n### letter\n\n## Two & more\n\n### letter\n";
        let html = page("All", text, &BTreeMap::new());
        for (id, name) in [
            ("one", "One"),
            ("letter", "letter"),
            ("two-more", "Two &amp; more"),
            ("letter-2", "letter"),
        ] {
            assert!(html.contains(&format!("<a href=\"#{id}\">{name}</a>")), "{html}");
            assert!(html.contains(&format!("id=\"{id}\"")), "{html}");
        }
        assert!(!page("One", "# All\n\n## One\n", &BTreeMap::new()).contains("<nav"));
    }

    #[test]
    fn names_need_no_quotes() {
        assert_eq!(file_name("dpm (k = 3), ε 0.1"), "dpm-k-3-epsilon-0.1");
        assert_eq!(file_name("  "), "");
    }
}

//! A report while it is being written: Markdown with plots, for the file and for the page.

use crate::report::html::file_name;
use crate::report::plot::Svg;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Plots by their path relative to OUT.
pub(crate) type Plots = BTreeMap<String, Svg>;

const STRING: &str = "writing to a String cannot fail";

/// Text and plots so far.
#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(crate) text: String,
    pub(crate) plots: Plots,
}

impl Page {
    /// A chapter is `##`, what is inside it `###`.
    pub(crate) fn chapter(&mut self, title: &str) {
        write!(self.text, "## {title}\n\n").expect(STRING);
    }

    pub(crate) fn section(&mut self, title: &str) {
        write!(self.text, "### {title}\n\n").expect(STRING);
    }

    /// Markdown as it is, then an empty line.
    pub(crate) fn paragraph(&mut self, text: &str) {
        write!(self.text, "{}\n\n", text.trim_end()).expect(STRING);
    }

    pub(crate) fn bullet(&mut self, text: &str) {
        writeln!(self.text, "- {text}").expect(STRING);
    }

    /// A table; the first `text_columns` are aligned left, and so are columns of words; the others right.
    pub(crate) fn table(&mut self, headings: &[&str], text_columns: usize, lines: &[Vec<String>]) {
        writeln!(self.text, "| {} |", headings.join(" | ")).expect(STRING);
        let is_word = |cell: &String| cell == "–" || cell.starts_with(char::is_alphabetic);
        let is_words = |at| lines.iter().all(|line| line.get(at).is_none_or(is_word));
        let rule =
            |index: usize| if index < text_columns || is_words(index) { "---" } else { "---:" };
        let rules: Vec<&str> = (0..headings.len()).map(rule).collect();
        writeln!(self.text, "|{}|", rules.join("|")).expect(STRING);
        for line in lines {
            writeln!(self.text, "| {} |", line.join(" | ")).expect(STRING);
        }
        self.text.push('\n');
    }

    /// A plot under a name that is unique in the report; it becomes OUT/plots/NAME.svg, with hyphens for all that a link would have
    /// to quote.
    pub(crate) fn figure(&mut self, name: &str, caption: &str, svg: Svg) {
        let path = format!("plots/{}.svg", file_name(name));
        writeln!(self.text, "![{caption}]({path})").expect(STRING);
        self.plots.insert(path, svg);
    }

    /// Text that is folded away until asked for.
    pub(crate) fn folded(&mut self, title: &str, text: &str) {
        write!(
            self.text,
            "\n<details><summary>{title}</summary>\n\n```text\n{}\n```\n\n</details>\n",
            text.trim_end()
        )
        .expect(STRING);
    }

    /// What was written apart, below what is here.
    pub(crate) fn append(&mut self, below: Self) {
        self.text.push_str(&below.text);
        self.plots.extend(below.plots);
    }

    /// An empty line between a run of figures or bullets and what follows.
    pub(crate) fn gap(&mut self) {
        self.text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::Page;
    use crate::report::plot::Svg;

    #[test]
    fn the_parts_of_a_page_are_markdown() {
        let mut page = Page::default();
        page.chapter("Toys");
        page.paragraph("Two of them.\n");
        page.table(&["toy", "n"], 1, &[vec!["bear".into(), "2".into()]]);
        page.figure("bear", "A bear", Svg::from_raw("bear", "<svg></svg>"));
        page.folded("Receipt", "epsilon 1\n");
        insta::assert_snapshot!(page.text, @r"
        ## Toys

        Two of them.

        | toy | n |
        |---|---:|
        | bear | 2 |

        ![A bear](plots/bear.svg)

        <details><summary>Receipt</summary>

        ```text
        epsilon 1
        ```

        </details>
        ");
        assert!(page.plots.contains_key("plots/bear.svg"));
    }

    #[test]
    fn a_name_with_blanks_is_still_a_picture_of_the_page() {
        let mut page = Page::default();
        page.figure("two bears, ε 1", "Bears", Svg::from_raw("bears", "<svg></svg>"));
        assert_eq!(page.text, "![Bears](plots/two-bears-epsilon-1.svg)\n");
        let html = crate::report::html::page("Toys", &page.text, &page.plots);
        assert!(html.contains("<svg") && !html.contains("<img"), "{html}");
    }
}

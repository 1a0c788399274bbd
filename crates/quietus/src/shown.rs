//! Names and cells as errors show them.

/// A name or a cell on one line: control characters escaped, and cut where it is long.
pub(crate) fn shown(text: &str) -> String {
    cut(text, 60)
}

/// As [`shown`], of a sentence that may hold names.
pub(crate) fn in_words(reason: &str) -> String {
    cut(reason, 300)
}

pub(crate) fn names(header: &[String]) -> String {
    let mut names: Vec<String> = header.iter().take(20).map(|name| shown(name)).collect();
    if header.len() > names.len() {
        names.push(format!("and {} more", header.len() - names.len()));
    }
    names.join(", ")
}

fn cut(text: &str, most: usize) -> String {
    let mut shown = String::new();
    for (i, letter) in text.chars().enumerate() {
        if i == most {
            shown.push_str("...");
            break;
        }
        match letter {
            '"' | '\'' | '\\' => shown.push(letter),
            other => shown.extend(other.escape_debug()),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::{cut, names};
    use crate::table::TableProblem;

    #[test]
    fn names_stay_on_one_line_and_short() {
        assert_eq!(cut("O'Hara \\ \"x\" \u{e9}", 60), "O'Hara \\ \"x\" \u{e9}");
        assert_eq!(cut("a\n\u{1b}[31mb", 60), "a\\n\\u{1b}[31mb");
        assert_eq!(cut("abcdef", 3), "abc...");
        let reason = format!("`{}\r`", "x".repeat(1000));
        let refused = TableProblem::Refused { reason }.to_string();
        assert!(refused.len() < 310 && !refused.contains('\r'), "{refused}");
        let header: Vec<String> = (0..1000).map(|i| format!("{i}\n")).collect();
        assert!(names(&header).ends_with("19\\n, and 980 more"), "{}", names(&header));
    }
}

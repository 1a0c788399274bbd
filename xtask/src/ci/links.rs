//! Links of our documents to each other: every file is there, every heading too, and the book has every page.

use crate::error::Error;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use quietus_datasets::{files, workspace};
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// Complaints about all Markdown of the workspace.
pub(super) fn check_workspace() -> Result<Vec<String>, Error> {
    let root = workspace::root();
    let mut pages = Vec::new();
    for folder in ["docs", "crates", "datasets", "engines"] {
        pages.extend(files::below(&root.join(folder), "md")?);
    }
    let top = std::fs::read_dir(&root).map_err(Error::io("list", &root))?;
    for entry in top {
        let path = entry.map_err(Error::io("list", &root))?.path();
        if path.extension().is_some_and(|ending| ending == "md") {
            pages.push(path);
        }
    }
    let mut found = Vec::new();
    for page in &pages {
        found.extend(complaints(&root, page)?);
    }
    found.extend(not_in_the_book(&root.join("docs"))?);
    println!("      {} documents", pages.len());
    Ok(found)
}

/// Links of one page that lead nowhere.
fn complaints(root: &Path, page: &Path) -> Result<Vec<String>, Error> {
    let text = read(page)?;
    let shown = page.strip_prefix(root).unwrap_or(page).display().to_string();
    let mut found = Vec::new();
    for link in links(&text) {
        if link.contains("://") || link.starts_with("mailto:") {
            continue;
        }
        let (file, heading) = link.split_once('#').unwrap_or((&link, ""));
        let folder = page.parent().unwrap_or(root);
        let target = if file.is_empty() { page.to_path_buf() } else { flat(&folder.join(file)) };
        if !target.exists() {
            found.push(format!("{shown}: {link} is not there"));
        } else if !heading.is_empty() && !headings(&read(&target)?).contains(heading) {
            found.push(format!("{shown}: {link}: there is no such heading"));
        }
    }
    Ok(found)
}

/// Pages of the book's folder that its contents do not name.
fn not_in_the_book(docs: &Path) -> Result<Vec<String>, Error> {
    let summary = docs.join("SUMMARY.md");
    let named: BTreeSet<PathBuf> =
        links(&read(&summary)?).iter().map(|link| flat(&docs.join(link))).collect();
    let pages = files::below(docs, "md")?;
    let missing = pages.iter().filter(|page| **page != summary && !named.contains(*page));
    Ok(missing.map(|page| format!("{} is not in SUMMARY.md", page.display())).collect())
}

fn read(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(Error::io("read", path))
}

fn links(text: &str) -> Vec<String> {
    let link = |event| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            Some(dest_url.into_string())
        }
        _ => None,
    };
    Parser::new_ext(text, Options::ENABLE_TABLES).filter_map(link).collect()
}

/// Names of headings as forges and mdBook make them: lower-case letters, digits, hyphens for blanks; a name that comes again has a number.
fn headings(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open: Option<String> = None;
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match (event, &mut open) {
            (Event::Start(Tag::Heading { .. }), _) => open = Some(String::new()),
            (Event::End(TagEnd::Heading(_)), _) => {
                let name = open.take().unwrap_or_default();
                let mut own = name.clone();
                let mut number = 0;
                while !found.insert(own) {
                    number += 1;
                    own = format!("{name}-{number}");
                }
            }
            (Event::Text(part) | Event::Code(part), Some(name)) => {
                name.extend(part.chars().filter_map(|c| match c {
                    ' ' => Some('-'),
                    _ if c.is_alphanumeric() || c == '-' || c == '_' => c.to_lowercase().next(),
                    _ => None,
                }));
            }
            _ => {}
        }
    }
    found
}

/// Without `..`, so that two ways to a file are one path.
fn flat(path: &Path) -> PathBuf {
    let mut flat = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            flat.pop();
        } else {
            flat.push(part);
        }
    }
    flat
}

#[cfg(test)]
mod tests {
    use super::{complaints, headings, not_in_the_book};

    #[test]
    fn what_leads_nowhere_is_named() {
        let home = tempfile::tempdir().unwrap();
        let (root, docs) = (home.path(), home.path().join("docs"));
        std::fs::create_dir_all(docs.join("guide")).unwrap();
        let write = |name: &str, text: &str| std::fs::write(docs.join(name), text).unwrap();
        write("SUMMARY.md", "- [A](a.md)\n");
        write(
            "a.md",
            "# A `b`, c\n\n## A b, c\n\n[own](#a-b-c-1) [web](https://example.org/x) [b](guide/b.md#no) [no](no.md)",
        );
        write("guide/b.md", "# B\n\n[up](../a.md#a-b-c)");
        assert_eq!(
            complaints(root, &docs.join("a.md")).unwrap(),
            ["docs/a.md: guide/b.md#no: there is no such heading", "docs/a.md: no.md is not there"]
        );
        assert_eq!(complaints(root, &docs.join("guide/b.md")).unwrap(), Vec::<String>::new());
        assert_eq!(not_in_the_book(&docs).unwrap().len(), 1, "guide/b.md");
        assert!(headings("# Who is hidden: the relation").contains("who-is-hidden-the-relation"));
    }

    #[test]
    fn the_documents_of_this_workspace_lead_somewhere() {
        assert_eq!(super::check_workspace().unwrap(), Vec::<String>::new());
    }
}

//! A net below the claims: what releases, by name, from the source text.
//!
//! From text, since Rust has no list of a trait's implementors: a constant in `Algorithm` that names a claim would not compile when it is
//! forgotten, but would when it is copied from another mechanism, and primitives that draw have no trait.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

/// Methods that let something out.
const RELEASING: [&str; 8] =
    ["release", "select", "step", "steps", "finish", "decide", "step_shards", "count"];

/// The trait whose implementors release; `Mechanism` is sealed and implemented for all of them at once.
const TRAIT: &str = " Algorithm for ";

/// The types of a crate with a release of their own: those whose `impl` has a method that begins so, and
/// those that implement a mechanism.
///
/// # Errors
/// If its sources cannot be read.
pub fn releasing_types(crate_folder: &Path) -> io::Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    let mut folders = vec![crate_folder.join("src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.ends_with("tests") || path.ends_with("tests.rs") {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.append(&mut in_text(&std::fs::read_to_string(&path)?));
            }
        }
    }
    Ok(found)
}

fn in_text(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut block = String::new();
    for line in text.lines().take_while(|line| *line != "#[cfg(test)]") {
        let implements = line.starts_with("impl").then(|| line.split_once(TRAIT)).flatten();
        if let Some((_, name)) = implements {
            found.insert(first_word(name));
        } else if let Some(name) = line.strip_prefix("impl").and_then(after_generics) {
            block = first_word(name);
        } else if releases(line) {
            found.insert(block.clone());
        }
    }
    found
}

/// Whether a releasing method begins here. One that takes its type by value only sets something.
fn releases(line: &str) -> bool {
    let Some(method) = line.strip_prefix("    pub fn ") else { return false };
    let name: String = method.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    RELEASING.contains(&name.as_str()) && !method[name.len()..].starts_with("(mut self")
}

/// What follows `<...>`, if it is there, and a space.
fn after_generics(text: &str) -> Option<&str> {
    let mut depth = 0;
    let end = text.char_indices().find(|&(_, c)| {
        depth += i32::from(c == '<') - i32::from(c == '>');
        depth == 0 && c == ' '
    });
    end.map(|(at, _)| &text[at + 1..])
}

fn first_word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_and_traits_that_release_name_their_type() {
        let text = "impl<'a> Algorithm for Sorted<'a> {\nimpl Count {\n    pub fn release(\nimpl Plan {\n    pub fn build(\n\
                    #[cfg(test)]\nimpl Algorithm for Toy {\n";
        assert_eq!(in_text(text), ["Count", "Sorted"].map(str::to_owned).into());
        let text = "impl<'a, M: Matroid<Of = Vec<u8>>> Greedy<M> {\n    pub fn release(\n";
        assert_eq!(in_text(text), ["Greedy".to_owned()].into());
        assert!(
            in_text("impl Builder {\n    pub fn steps(mut self, steps: u32) -> Self {\n")
                .is_empty()
        );
        // The generics of the impl may hold the word too.
        assert_eq!(in_text("impl<T> Algorithm for Wide<T> {"), ["Wide".to_owned()].into());
    }

    /// In whatever folder a type is, but those of tests.
    #[test]
    fn all_folders_below_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        for (path, name) in [
            ("src/lib.rs", "Root"),
            ("src/inner/mod.rs", "Inner"),
            ("src/inner/deep/er.rs", "Deeper"),
            ("src/inner/tests.rs", "Tried"),
            ("src/tests/all.rs", "TriedToo"),
            ("src/notes.txt", "Noted"),
            ("claims/main.rs", "Claimed"),
        ] {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a new folder");
            let text = format!("impl {name} {{\n    pub fn release(\n");
            std::fs::write(path, text).expect("a new file");
        }
        let expected = ["Root", "Inner", "Deeper"].map(str::to_owned);
        assert_eq!(releasing_types(folder.path()).expect("sources"), expected.into());
    }

    #[test]
    fn a_folder_without_sources_is_an_error_not_a_crate_without_releases() {
        assert!(releasing_types(Path::new("/nonexistent")).is_err());
    }
}

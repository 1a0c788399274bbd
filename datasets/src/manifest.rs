//! datasets/manifest.toml: which real data sets exist, where they come from, their checksums.

use crate::Error;
use crate::workspace;
use serde::Deserialize;
use std::path::Path;

/// The manifest; unknown keys are refused, so that a misspelt one is noticed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// All sets.
    #[serde(rename = "set")]
    pub sets: Vec<Set>,
}

/// One data set.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Set {
    /// Its name, and that of its folder.
    pub name: String,
    /// Rows x columns in words, where one number pair does not say it.
    pub shape: String,
    /// Column names, or the layout for files that are not tables.
    pub columns: String,
    /// The column that holds classes.
    pub label: Option<String>,
    /// What may be done with it.
    pub licence: String,
    /// Who published it.
    pub publisher: String,
    /// Where the publisher has it.
    pub published: String,
    /// The public copies that the prepared files were made from.
    pub copied_from: Vec<String>,
    /// Its prepared files.
    #[serde(rename = "file")]
    pub files: Vec<FileEntry>,
}

/// One prepared file; `path` is relative to the folder of all sets.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// Below the folder of all sets.
    pub path: String,
    /// Rows, without the heading.
    pub rows: usize,
    /// Size.
    pub bytes: u64,
    /// Of its bytes, in lower-case hexadecimal.
    pub sha256: String,
}

impl Manifest {
    /// Reads the workspace's own manifest.
    ///
    /// # Errors
    /// If it cannot be read, does not parse, or has no such set.
    pub fn of_workspace() -> Result<Self, Error> {
        let path = workspace::root().join("datasets").join("manifest.toml");
        let text = std::fs::read_to_string(&path).map_err(Error::io("read", &path))?;
        Self::parse(&text, &path)
    }

    /// Reads a manifest from text; `path` names it in errors.
    ///
    /// # Errors
    /// If it cannot be read, does not parse, or has no such set.
    pub fn parse(text: &str, path: &Path) -> Result<Self, Error> {
        toml::from_str(text).map_err(|error| Error::Malformed {
            path: path.to_path_buf(),
            reason: error.to_string().trim_end().replace('\n', " "),
        })
    }

    /// The set with this name.
    ///
    /// # Errors
    /// If it cannot be read, does not parse, or has no such set.
    pub fn set(&self, name: &str) -> Result<&Set, Error> {
        self.sets.iter().find(|set| set.name == name).ok_or_else(|| Error::Unknown {
            what: "data set",
            got: name.to_owned(),
            known: self.sets.iter().map(|set| set.name.clone()).collect(),
        })
    }

    /// All files of all sets.
    pub fn files(&self) -> impl Iterator<Item = &FileEntry> {
        self.sets.iter().flat_map(|set| &set.files)
    }
}

#[cfg(test)]
mod tests {
    use super::Manifest;
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn the_workspace_manifest_is_consistent() {
        let manifest = Manifest::of_workspace().unwrap();
        let names: BTreeSet<_> = manifest.sets.iter().map(|set| &set.name).collect();
        assert_eq!(names.len(), manifest.sets.len(), "names are unique");
        for set in &manifest.sets {
            assert!(!set.files.is_empty(), "{}", set.name);
            assert!(!set.licence.is_empty() && !set.published.is_empty(), "{}", set.name);
            assert!(!set.copied_from.is_empty() && !set.columns.is_empty(), "{}", set.name);
            for file in &set.files {
                assert!(file.path.starts_with(&format!("{}/", set.name)), "{}", file.path);
                assert!(!file.path.contains(".."), "{}", file.path);
                assert!(file.sha256.len() == 64, "{}", file.path);
                assert!(file.rows > 0 && file.bytes > 0, "{}", file.path);
            }
        }
    }

    #[test]
    fn a_misspelt_key_is_refused() {
        let error = Manifest::parse("[[set]]\nnaem = \"x\"\n", Path::new("m.toml")).unwrap_err();
        assert!(error.to_string().contains("unknown field `naem`"), "{error}");
    }
}

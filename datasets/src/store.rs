//! A folder of real data sets: finding a file, and refusing one that is not what it should be.

use crate::Error;
use crate::files;
use crate::manifest::{FileEntry, Set};
use quietus::table::numbers::{self, Table};
use quietus::table::{TableError, TableProblem};
use std::io;
use std::path::{Path, PathBuf};

/// Reads a file of the manifest and checks it; `None` if it is not there. What is parsed later are
/// the very bytes that were checked.
///
/// # Errors
/// If the file is not the one of the manifest, or cannot be read.
pub fn read_checked(folder: &Path, entry: &FileEntry) -> Result<Option<Vec<u8>>, Error> {
    let path = folder.join(&entry.path);
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io("read", &path)(error)),
    };
    let got = files::sha256_hex(&bytes);
    if got == entry.sha256 {
        Ok(Some(bytes))
    } else {
        Err(Error::Checksum { path, want: entry.sha256.clone(), got })
    }
}

/// Reads the table of a set that has just one; `None` if it is not there.
///
/// # Errors
/// If the file is not the one of the manifest, or cannot be read.
pub fn read_table(folder: &Path, set: &Set) -> Result<Option<(Table, PathBuf)>, Error> {
    let Some(entry) = set.files.first() else { return Ok(None) };
    let path = folder.join(&entry.path);
    match read_checked(folder, entry)? {
        None => Ok(None),
        Some(bytes) => {
            let table = numbers::parse(&bytes, &path)?;
            if table.rows() == entry.rows {
                return Ok(Some((table, path)));
            }
            let problem = TableProblem::Rows { got: table.rows(), want: entry.rows };
            Err(TableError { path, line: 0, problem }.into())
        }
    }
}

/// How much of a set a folder holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Presence {
    /// All files.
    All,
    /// Some files.
    Some {
        /// So many, with the right content.
        right: usize,
        /// Of so many.
        of: usize,
    },
    /// A file that is not what it should be.
    Wrong,
    /// No file.
    Missing,
}

/// Looks for all files of a set.
pub fn presence(folder: &Path, set: &Set) -> Presence {
    let mut right = 0;
    for entry in &set.files {
        match read_checked(folder, entry) {
            Ok(Some(_)) => right += 1,
            Ok(None) => {}
            Err(_) => return Presence::Wrong,
        }
    }
    match right {
        0 => Presence::Missing,
        _ if right == set.files.len() => Presence::All,
        _ => Presence::Some { right, of: set.files.len() },
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{Presence, presence, read_table};
    use crate::files::sha256_hex;
    use crate::manifest::Manifest;
    use std::path::Path;

    /// A manifest of one two-row set `toy` and one missing set `far`.
    pub(crate) fn toy_manifest(content: &str) -> Manifest {
        let text = format!(
            r#"
[[set]]
name = "toy"
shape = "2 x 2"
columns = "x, y"
licence = "CC0-1.0"
publisher = "tests"
published = "nowhere"
copied_from = ["nowhere"]
[[set.file]]
path = "toy/toy.csv"
rows = 2
bytes = {}
sha256 = "{}"
[[set]]
name = "far"
shape = "1 x 1"
columns = "x"
licence = "CC0-1.0"
publisher = "tests"
published = "nowhere"
copied_from = ["nowhere"]
[[set.file]]
path = "far/far.csv"
rows = 1
bytes = 4
sha256 = "0000000000000000000000000000000000000000000000000000000000000000"
"#,
            content.len(),
            sha256_hex(content.as_bytes())
        );
        Manifest::parse(&text, Path::new("toy.toml")).unwrap()
    }

    /// Writes the file of `toy` into a folder.
    pub(crate) fn put_toy(folder: &Path, content: &str) {
        std::fs::create_dir_all(folder.join("toy")).unwrap();
        std::fs::write(folder.join("toy/toy.csv"), content).unwrap();
    }

    #[test]
    fn a_file_with_another_checksum_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = toy_manifest("x,y\n1,2\n3,4\n");
        put_toy(folder.path(), "x,y\n1,2\n3,5\n");
        let error = read_table(folder.path(), manifest.set("toy").unwrap()).unwrap_err();
        let shown = error.to_string().replace(&folder.path().display().to_string(), "DIR");
        insta::assert_snapshot!(shown, @"DIR/toy/toy.csv is refused: sha256 is cb6f7fdf2fe7edcdbba83863997b170e9080078ef8ef409da0f88a13668797ab, the manifest says 2a2b86e74ffd5e6a9b75e52a105cf9d02920837179f8e8961aa15411d380f7a3");
        assert_eq!(presence(folder.path(), manifest.set("toy").unwrap()), Presence::Wrong);
    }

    #[test]
    fn a_missing_file_is_not_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = toy_manifest("x,y\n1,2\n3,4\n");
        let far = manifest.set("far").unwrap();
        assert!(read_table(folder.path(), far).unwrap().is_none());
        assert_eq!(presence(folder.path(), far), Presence::Missing);
    }
}

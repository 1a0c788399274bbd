//! `cargo xtask data import DIR`: copies what the manifest knows, checked; names everything else.

use crate::Error;
use crate::files;
use crate::manifest::Manifest;
use crate::store;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// What happened to each file.
#[derive(Debug, Default)]
pub struct Import {
    /// Paths that were copied, with their sizes.
    pub copied: Vec<(String, u64)>,
    /// Paths that were in the target already, with the right content.
    pub present: Vec<String>,
    /// Paths of the manifest that the folder does not have.
    pub missing: Vec<String>,
    /// Paths in the folder that the manifest does not know.
    pub unknown: Vec<String>,
    /// Files with a wrong checksum, or that could not be read or copied.
    pub refused: Vec<Error>,
}

/// Copies every file of the manifest found in `from` to `to`. Only an unusable folder is an error;
/// a bad file is refused by name and the others go on.
///
/// # Errors
/// If a folder is not usable, or has no file of the manifest.
pub fn run(manifest: &Manifest, from: &Path, to: &Path) -> Result<Import, Error> {
    if !from.is_dir() {
        return Err(Error::NotAFolder { path: from.to_path_buf() });
    }
    files::create_folder(to)?;
    let mut import = Import::default();
    for entry in manifest.files() {
        if matches!(store::read_checked(to, entry), Ok(Some(_))) {
            import.present.push(entry.path.clone());
            continue;
        }
        match store::read_checked(from, entry).and_then(|bytes| match bytes {
            Some(bytes) => copy(&bytes, &to.join(&entry.path)).map(|()| Some(bytes.len() as u64)),
            None => Ok(None),
        }) {
            Ok(Some(size)) => import.copied.push((entry.path.clone(), size)),
            Ok(None) => import.missing.push(entry.path.clone()),
            Err(error) => import.refused.push(error),
        }
    }
    if import.copied.is_empty() && import.present.is_empty() && import.refused.is_empty() {
        return Err(Error::NothingToImport { path: from.to_path_buf() });
    }
    let known: BTreeSet<&str> = manifest.files().map(|entry| entry.path.as_str()).collect();
    import.unknown = relative_files(from)?;
    import.unknown.retain(|path| !known.contains(path.as_str()));
    Ok(import)
}

fn copy(bytes: &[u8], target: &Path) -> Result<(), Error> {
    files::create_folder(target.parent().unwrap_or(target))?;
    files::write_atomically(target, |writer| writer.write_all(bytes))
}

/// All files below a folder, as paths with `/`, sorted.
fn relative_files(folder: &Path) -> Result<Vec<String>, Error> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(inner) = open.pop() {
        let path = folder.join(&inner);
        for entry in std::fs::read_dir(&path).map_err(Error::io("list", &path))? {
            let entry = entry.map_err(Error::io("list", &path))?;
            let name = inner.join(entry.file_name());
            if entry.path().is_dir() {
                open.push(name);
            } else {
                found.push(name.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    found.sort();
    Ok(found)
}

impl Import {
    /// One line per copied or skipped file and a closing line of counts.
    pub fn summary(&self, to: &str) -> String {
        let mut text = String::new();
        let mut line = |line: std::fmt::Arguments<'_>| {
            writeln!(text, "{line}").expect("writing to a String cannot fail");
        };
        for (path, size) in &self.copied {
            line(format_args!("copied   {path} ({size} bytes, checksum right)"));
        }
        for path in &self.present {
            line(format_args!("present  {path}"));
        }
        for path in &self.missing {
            line(format_args!("skipped  {path}: missing in the folder"));
        }
        for path in &self.unknown {
            line(format_args!("skipped  {path}: not in the manifest"));
        }
        line(format_args!(
            "{} copied to {to}, {} already there, {} missing, {} unknown, {} refused",
            self.copied.len(),
            self.present.len(),
            self.missing.len(),
            self.unknown.len(),
            self.refused.len()
        ));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::run;
    use crate::store::tests::{put_toy, toy_manifest};

    const RIGHT: &str = "x,y\n1,2\n3,4\n";

    #[test]
    fn right_files_are_copied_and_everything_else_is_named() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        put_toy(from.path(), RIGHT);
        std::fs::write(from.path().join("toy/NOTES.md"), "hello").unwrap();
        let manifest = toy_manifest(RIGHT);
        let import = run(&manifest, from.path(), to.path()).unwrap();
        insta::assert_snapshot!(import.summary("CACHE"), @r"
        copied   toy/toy.csv (12 bytes, checksum right)
        skipped  far/far.csv: missing in the folder
        skipped  toy/NOTES.md: not in the manifest
        1 copied to CACHE, 0 already there, 1 missing, 1 unknown, 0 refused
        ");
        assert_eq!(std::fs::read_to_string(to.path().join("toy/toy.csv")).unwrap(), RIGHT);

        let again = run(&manifest, from.path(), to.path()).unwrap();
        assert_eq!((again.copied.len(), again.present.len()), (0, 1));
    }

    #[test]
    fn a_wrong_checksum_is_refused_with_both_values_and_nothing_is_kept() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        put_toy(from.path(), "x,y\n1,2\n3,5\n");
        let import = run(&toy_manifest(RIGHT), from.path(), to.path()).unwrap();
        let shown = import.refused[0].to_string();
        let shown = shown.replace(&from.path().display().to_string(), "DIR");
        insta::assert_snapshot!(shown, @"DIR/toy/toy.csv is refused: sha256 is cb6f7fdf2fe7edcdbba83863997b170e9080078ef8ef409da0f88a13668797ab, the manifest says 2a2b86e74ffd5e6a9b75e52a105cf9d02920837179f8e8961aa15411d380f7a3");
        assert!(!to.path().join("toy").exists());
    }

    #[test]
    fn a_corrupt_copy_in_the_cache_is_replaced() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        put_toy(from.path(), RIGHT);
        put_toy(to.path(), "x,y\n1,");
        let import = run(&toy_manifest(RIGHT), from.path(), to.path()).unwrap();
        assert_eq!(import.copied.len(), 1);
        assert_eq!(std::fs::read_to_string(to.path().join("toy/toy.csv")).unwrap(), RIGHT);
    }

    #[test]
    fn a_folder_without_any_known_file_or_no_folder_at_all_is_an_error() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let error = run(&toy_manifest(RIGHT), from.path(), to.path()).unwrap_err();
        assert!(error.to_string().ends_with("holds no file of datasets/manifest.toml"), "{error}");
        let nowhere = from.path().join("nowhere");
        let error = run(&toy_manifest(RIGHT), &nowhere, to.path()).unwrap_err();
        assert!(error.to_string().ends_with("nowhere is not a folder"), "{error}");
    }
}

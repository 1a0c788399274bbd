//! A folder that is there with all its files or not at all, and is never replaced.

use crate::error::Error;
use crate::files;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The file that tells a release from another folder.
pub(super) const RECEIPT: &str = "receipt.json";

/// Writes the content of one file.
pub(super) type Fill<'a> = &'a dyn Fn(&mut dyn Write) -> io::Result<()>;

/// A place for a release: an empty folder next to it, which is gone when this is dropped.
#[derive(Debug)]
pub(super) struct Reserved {
    path: PathBuf,
    part: PathBuf,
    traces: Traces,
}

/// What is on disk before there is a release.
#[derive(Clone, Debug)]
pub(super) struct Traces {
    /// `None` until it is ours.
    part: Option<PathBuf>,
    /// Folders above it that were not there before, the lowest first.
    parents: Vec<PathBuf>,
}

impl Traces {
    /// Errors have nobody to go to: another one is on its way, or somebody else has done it.
    pub(super) fn remove(&self) {
        if let Some(part) = &self.part {
            let _ = fs::remove_dir_all(part);
        }
        for parent in &self.parents {
            // Fails if it holds something, as it should.
            let _ = fs::remove_dir(parent);
        }
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.traces.remove();
    }
}

impl Reserved {
    /// Refuses what is no new or empty folder, and finds out whether one can be made there.
    pub(super) fn new(path: &Path) -> Result<Self, Error> {
        // Without a slash at the end, behind which a link would not be seen.
        let path: PathBuf = path.components().collect();
        check(&path)?;
        let part = files::part_path(&path);
        let above = path.ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty());
        let parents = above.take_while(|parent| !parent.exists()).map(Path::to_path_buf).collect();
        let mut reserved = Self { path, part, traces: Traces { part: None, parents } };
        if let Some(parent) = reserved.traces.parents.first() {
            files::create_folder(parent)?;
        }
        let part = &reserved.part;
        fs::create_dir(part).map_err(Error::io("create the folder", part))?;
        reserved.traces.part = Some(part.clone());
        Ok(reserved)
    }

    pub(super) fn traces(&self) -> &Traces {
        &self.traces
    }

    /// Writes all files, then gives the folder its name.
    pub(super) fn write(self, contents: &[(&str, Fill<'_>)]) -> Result<(), Error> {
        let part = &self.part;
        for (name, fill) in contents {
            files::write_atomically(&part.join(name), fill)?;
        }
        check(&self.path)?;
        // Renaming fails if something has come into the folder since.
        if self.path.exists() {
            fs::remove_dir(&self.path).map_err(Error::io("replace the folder", &self.path))?;
        }
        fs::rename(part, &self.path).map_err(Error::io("write", &self.path))
    }
}

fn check(path: &Path) -> Result<(), Error> {
    if path.file_name().is_none() {
        let (name, got) = ("--out", path.display().to_string());
        return Err(Error::Setting { name, got, want: "a folder with a name" });
    }
    if path.is_symlink() {
        let (name, got) = ("--out", format!("{}, a symbolic link", path.display()));
        return Err(Error::Setting { name, got, want: "a new folder" });
    }
    if !path.exists() {
        return Ok(());
    }
    if !path.is_dir() {
        return Err(Error::NotAFolder { path: path.to_path_buf() });
    }
    let mut entries = fs::read_dir(path).map_err(Error::io("list", path))?;
    if entries.next().is_some() {
        let release = path.join(RECEIPT).exists();
        return Err(Error::Taken { path: path.to_path_buf(), release });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Fill, RECEIPT, Reserved};
    use crate::error::Error;
    use crate::files;
    use std::fs;
    use std::io;
    use std::path::Path;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn write(path: &Path, contents: &[(&str, Fill<'_>)]) -> Result<(), Error> {
        Reserved::new(path)?.write(contents)
    }

    #[test]
    fn all_files_or_none() {
        let home = tempfile::tempdir().unwrap();
        let out = home.path().join("deep/er");
        let good: Fill<'_> = &|to| to.write_all(b"right");
        let full: Fill<'_> = &|_| Err(io::Error::from(io::ErrorKind::StorageFull));
        assert!(write(&out, &[("a", good), ("b", full)]).is_err());
        assert_eq!(names(home.path()), [""; 0]);
        write(&out, &[("a", good), ("b", good)]).unwrap();
        assert_eq!(
            (names(out.parent().unwrap()), names(&out)),
            (vec!["er".to_owned()], vec!["a".to_owned(), "b".to_owned()])
        );
        assert!(write(&out, &[("a", good)]).is_err(), "never replaced");
        assert_eq!(names(out.parent().unwrap()), ["er"]);
    }

    #[test]
    fn a_place_is_taken_at_once_and_left_without_a_trace() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("old")).unwrap();
        let reserved = Reserved::new(&home.path().join("old/a/b/out")).unwrap();
        assert_eq!(names(&home.path().join("old/a/b")).len(), 1);
        reserved.traces().remove();
        assert!(names(&home.path().join("old")).is_empty());
        drop(reserved);
        assert_eq!(names(home.path()), ["old"]);

        // What has come into a folder in the meantime stays.
        let reserved = Reserved::new(&home.path().join("new/out")).unwrap();
        fs::write(home.path().join("new/other"), "").unwrap();
        drop(reserved);
        assert_eq!(names(&home.path().join("new")), ["other"]);
        // Nor is a folder removed that somebody else has made.
        fs::create_dir(files::part_path(&home.path().join("out"))).unwrap();
        assert!(Reserved::new(&home.path().join("out")).is_err());
        fs::remove_dir(files::part_path(&home.path().join("out"))).unwrap();
        let below_a_file = Reserved::new(&home.path().join("new/other/out"));
        assert!(below_a_file.is_err() && names(home.path()) == ["new", "old"]);
    }

    #[test]
    fn an_empty_folder_is_fine_and_a_full_one_is_named_for_what_it_is() {
        let home = tempfile::tempdir().unwrap();
        let out = home.path().join("out");
        let shown = |path: &Path| {
            let error = Reserved::new(path).unwrap_err().to_string();
            error.replace(&home.path().display().to_string(), "HOME")
        };
        fs::create_dir(&out).unwrap();
        write(&out, &[("letter", &|to| to.write_all(b"dear"))]).unwrap();
        insta::assert_snapshot!(shown(&out), @"HOME/out is not empty: choose another --out");
        fs::write(out.join(RECEIPT), "{}").unwrap();
        insta::assert_snapshot!(shown(&out), @"HOME/out holds a release; another one of the same people costs its budget again, and the costs add up: choose another --out");
        insta::assert_snapshot!(shown(Path::new("/")), @"--out must be a folder with a name, got /");
        insta::assert_snapshot!(shown(&out.join(RECEIPT)), @"HOME/out/receipt.json is not a folder");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_refused_wherever_they_lead() {
        let home = tempfile::tempdir().unwrap();
        let (empty, link) = (home.path().join("empty"), home.path().join("link"));
        fs::create_dir(&empty).unwrap();
        for target in [empty, home.path().join("nowhere")] {
            std::os::unix::fs::symlink(target, &link).unwrap();
            for path in [link.clone(), link.join("")] {
                let error = Reserved::new(&path).unwrap_err().to_string();
                assert!(error.contains("link, a symbolic link"), "{error}");
            }
            fs::remove_file(&link).unwrap();
        }
    }
}

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

/// Refuses a folder that has something in it.
pub(super) fn check(path: &Path) -> Result<(), Error> {
    if path.file_name().is_none() {
        let (name, got) = ("--out", path.display().to_string());
        return Err(Error::Setting { name, got, want: "a folder with a name" });
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

/// Writes all files next to the folder, then gives them its name.
pub(super) fn write(path: &Path, contents: &[(&str, Fill<'_>)]) -> Result<(), Error> {
    check(path)?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Some(parent) = parent {
        files::create_folder(parent)?;
    }
    let part = part_path(path);
    fs::create_dir(&part).map_err(Error::io("create the folder", &part))?;
    let written = contents
        .iter()
        .try_for_each(|(name, fill)| files::write_atomically(&part.join(name), fill))
        .and_then(|()| put(&part, path));
    if written.is_err() {
        // It is ours and useless to anyone; the first error is the one to report.
        let _ = fs::remove_dir_all(&part);
    }
    written
}

/// Renaming fails if something has come into the folder since it was checked.
fn put(part: &Path, path: &Path) -> Result<(), Error> {
    if path.exists() {
        fs::remove_dir(path).map_err(Error::io("replace the folder", path))?;
    }
    fs::rename(part, path).map_err(Error::io("write", path))
}

fn part_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.part", std::process::id()));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::{RECEIPT, check, write};
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

    #[test]
    fn all_files_or_none() {
        let home = tempfile::tempdir().unwrap();
        let out = home.path().join("deep/er");
        let good: super::Fill<'_> = &|to| to.write_all(b"right");
        let full: super::Fill<'_> = &|_| Err(io::Error::from(io::ErrorKind::StorageFull));
        assert!(write(&out, &[("a", good), ("b", full)]).is_err());
        assert_eq!(names(out.parent().unwrap()), [""; 0]);
        write(&out, &[("a", good), ("b", good)]).unwrap();
        assert_eq!(
            (names(out.parent().unwrap()), names(&out)),
            (vec!["er".to_owned()], vec!["a".to_owned(), "b".to_owned()])
        );
        assert!(write(&out, &[("a", good)]).is_err(), "never replaced");
        assert_eq!(names(out.parent().unwrap()), ["er"]);
    }

    #[test]
    fn an_empty_folder_is_fine_and_a_full_one_is_named_for_what_it_is() {
        let home = tempfile::tempdir().unwrap();
        let out = home.path().join("out");
        let shown = || {
            check(&out).unwrap_err().to_string().replace(&home.path().display().to_string(), "HOME")
        };
        fs::create_dir(&out).unwrap();
        assert!(check(&out).is_ok());
        write(&out, &[("letter", &|to| to.write_all(b"dear"))]).unwrap();
        insta::assert_snapshot!(shown(), @"HOME/out is not empty: choose another --out");
        fs::write(out.join(RECEIPT), "{}").unwrap();
        insta::assert_snapshot!(shown(), @"HOME/out holds a release; another one of the same people costs its budget again, and the costs add up: choose another --out");
        assert!(check(Path::new("/")).is_err() && check(&out.join(RECEIPT)).is_err());
    }
}

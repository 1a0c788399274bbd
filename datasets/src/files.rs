//! Files that are either complete or not there, and their checksums.

use crate::Error;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Lower-case hexadecimal SHA-256.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a String cannot fail");
        text
    })
}

/// Creates a folder with its parents; says so plainly when a file is in the way.
///
/// # Errors
/// If the operating system refuses.
pub fn create_folder(path: &Path) -> Result<(), Error> {
    if path.exists() && !path.is_dir() {
        return Err(Error::NotAFolder { path: path.to_path_buf() });
    }
    fs::create_dir_all(path).map_err(Error::io("create the folder", path))
}

/// Writes next to the target and renames: a reader, or a crash, never sees half a file.
///
/// # Errors
/// If the operating system refuses.
pub fn write_atomically(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    let part = part_path(path);
    let written = fill_and_sync(&part, fill).and_then(|()| fs::rename(&part, path));
    if written.is_err() {
        // The partial file is useless to anyone; the first error is the one to report.
        let _ = fs::remove_file(&part);
    }
    written.map_err(Error::io("write", path))
}

fn fill_and_sync(
    part: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut writer = BufWriter::new(File::create(part)?);
    fill(&mut writer)?;
    writer.flush()?;
    writer.get_ref().sync_all()
}

/// All files with this extension in a folder and below it, in order.
///
/// # Errors
/// If the operating system refuses.
pub fn below(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(Error::io("list", folder))? {
        let path = entry.map_err(Error::io("list", folder))?.path();
        if path.is_dir() {
            found.extend(below(&path, extension)?);
        } else if path.extension().is_some_and(|own| own == extension) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Where something is written until it is whole, beside its place.
pub fn part_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.part", std::process::id()));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::{create_folder, sha256_hex, write_atomically};
    use std::io;

    #[test]
    fn the_checksum_is_the_standard_one() {
        // FIPS 180-4, the message "abc".
        assert_eq!(
            sha256_hex(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[test]
    fn a_write_that_fails_leaves_the_old_file_and_no_part() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kept");
        std::fs::write(&path, "old").unwrap();
        let error = write_atomically(&path, |writer| {
            writer.write_all(b"half")?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        })
        .unwrap_err();
        assert!(error.to_string().starts_with("cannot write "), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_in_the_way_of_a_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("taken");
        std::fs::write(&path, "").unwrap();
        let error = create_folder(&path).unwrap_err();
        assert!(error.to_string().ends_with("taken is not a folder"), "{error}");
    }
}

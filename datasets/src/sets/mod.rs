//! Sets that are no points of one domain, each read from the manifest's files or generated from a named seed.

pub mod census;
pub mod clients;
pub mod distance;
pub mod heavy_hitters;
pub mod k_median;
pub mod planted;
pub mod robust;
pub mod set_cover;
pub mod submodular;

use crate::Error;
use crate::files;
use crate::manifest::Manifest;
use crate::{store, workspace};
use dp_combinatorial::Incidence;
use flate2::read::MultiGzDecoder;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Real sets: which there are, and the folder in which they may be.
#[derive(Clone, Copy, Debug)]
pub struct Shelf<'a> {
    /// Which there are.
    pub manifest: &'a Manifest,
    /// Where their files are looked for.
    pub folder: &'a Path,
}

impl Shelf<'_> {
    /// A file of a set, checked, with its place; the first one of the set if none is named. `None` if it is not there.
    pub(crate) fn bytes(
        &self,
        set: &str,
        file: Option<&str>,
    ) -> Result<Option<(Vec<u8>, PathBuf)>, Error> {
        let mut files = self.manifest.set(set)?.files.iter();
        let Some(entry) = files.find(|entry| file.is_none_or(|path| entry.path == path)) else {
            return Ok(None);
        };
        let bytes = store::read_checked(self.folder, entry)?;
        Ok(bytes.map(|bytes| (bytes, self.folder.join(&entry.path))))
    }

    /// What to tell somebody who lacks the files of a set.
    ///
    /// # Errors
    /// If the manifest does not know it.
    pub fn how_to_get(&self, set: &str) -> Result<String, Error> {
        let published = &self.manifest.set(set)?.published;
        Ok(format!(
            "`{set}` is not in {}; published at {published}; `cargo xtask data import DIR` takes a local copy, `--datasets DIR` reads \
             one in place",
            workspace::shown(self.folder)
        ))
    }
}

/// The text of a file, compressed or not.
fn text_of(bytes: &[u8], path: &Path) -> Result<String, Error> {
    let mut text = String::new();
    MultiGzDecoder::new(bytes).read_to_string(&mut text).map_err(Error::io("read", path))?;
    Ok(text)
}

/// All numbers of a text.
fn numbers_of(text: &str, path: &Path) -> Result<Vec<u32>, Error> {
    let number = |word: &str| {
        word.parse().map_err(|_| Error::malformed(path, format!("`{word}` is not a number")))
    };
    text.split_whitespace().map(number).collect()
}

/// SHA-256 over all memberships.
fn checksum_of(incidence: &Incidence) -> String {
    let mut bytes = Vec::new();
    for user in 0..incidence.users() {
        let sets = incidence.sets_of(user);
        bytes.extend((sets.len() as u64).to_le_bytes());
        bytes.extend(sets.iter().flat_map(|set| set.to_le_bytes()));
    }
    files::sha256_hex(&bytes)
}

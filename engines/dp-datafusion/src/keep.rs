//! Where the state between two passes is kept.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Keeps the newest state of a run; the one before is of no use then.
///
/// What it is given is as confidential as the records.
pub trait Keep {
    /// Returns once the state outlives the process.
    ///
    /// # Errors
    /// If it does not; the run ends then.
    fn keep(&mut self, state: &[u8]) -> io::Result<()>;
}

/// Keeps nothing: a run that dies begins anew, and is spent anew.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeepNothing;

impl Keep for KeepNothing {
    fn keep(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }
}

/// One file, which is replaced as a whole, and a lock beside it for as long as this lives: of two processes one goes on.
///
/// Nothing here knows of copies of the file that somebody has put aside.
#[derive(Debug)]
pub struct KeepFile {
    path: PathBuf,
    _lock: File,
}

impl KeepFile {
    /// The file, and what is in it if it is there.
    ///
    /// # Errors
    /// If it cannot be read, or another process has it.
    pub fn open(path: &Path) -> io::Result<(Self, Option<Vec<u8>>)> {
        let lock = private(&beside(path, "lock"))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(io::Error::new(io::ErrorKind::ResourceBusy, "another process has it"));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let state = match std::fs::read(path) {
            Ok(state) => Some(state),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        Ok((Self { path: path.to_path_buf(), _lock: lock }, state))
    }
}

impl Keep for KeepFile {
    fn keep(&mut self, state: &[u8]) -> io::Result<()> {
        let new = beside(&self.path, "new");
        let mut file = private(&new)?;
        file.set_len(0)?;
        file.write_all(state)?;
        file.sync_all()?;
        std::fs::rename(&new, &self.path)?;
        // The name as well: without it the old state may come back.
        let folder = self.path.parent().filter(|folder| *folder != Path::new(""));
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    name.into()
}

/// A file that only its owner reads.
fn private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

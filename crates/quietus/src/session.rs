//! The folder of a session: public files that grow, and a private state, each of them replaced as a whole.

use crate::disk::{Disk, folder_of, sync_folder};
use crate::error::Error;
use crate::folder::{PART, RELEASE, lock};
use crate::ledger::sha256_hex;
use crate::order::Named;
use serde::Deserialize;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// What a session goes on from. As confidential as the data.
pub(crate) const STATE: &str = "PRIVATE-state.json";

/// What the beginning of a state says about it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct Head {
    session: String,
    generation: u64,
    lease: String,
}

/// A state by its hash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) generation: u64,
    pub(crate) lease: String,
    /// SHA-256; empty for the one of generation 0, which is none.
    pub(crate) hash: String,
}

/// The state of a session in a folder; `None` if the folder is not of this session.
pub(crate) fn newest(folder: &Path, session: &str) -> Result<Option<Found>, Error> {
    let release = fs::read(folder.join(RELEASE)).ok();
    let named = release.and_then(|text| serde_json::from_slice::<Named>(&text).ok());
    if named.is_none_or(|named| named.release != session) {
        return Ok(None);
    }
    let path = folder.join(STATE);
    match fs::read(&path) {
        Ok(bytes) => found(&path, session, &bytes).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Some(Found::default())),
        Err(error) => Err(Error::io("read", &path)(error)),
    }
}

/// Which state this is.
pub(crate) fn found(path: &Path, session: &str, bytes: &[u8]) -> Result<Found, Error> {
    match serde_json::from_slice::<Head>(bytes) {
        Ok(head) if head.session == session => {
            let (generation, lease) = (head.generation, head.lease);
            Ok(Found { generation, lease, hash: sha256_hex(&[bytes]) })
        }
        Ok(_) => Err(damaged(path, "it is of another session")),
        Err(error) => Err(damaged(path, &error.to_string())),
    }
}

pub(crate) fn damaged(path: &Path, reason: &str) -> Error {
    Error::NotVerified { path: path.to_path_buf(), reason: reason.to_owned() }
}

fn at_work(path: &Path) -> Error {
    damaged(path, "another process is at work on the session")
}

/// Whether an open folder is the one that is there by this name.
fn is_at(folder: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let there = |found: io::Result<fs::Metadata>| found.ok().map(|at| (at.dev(), at.ino()));
        there(folder.metadata()) == there(path.metadata())
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        path.is_dir()
    }
}

/// A folder that nobody else works on, as long as this is there.
#[derive(Debug)]
pub(crate) struct SessionFolder<'a> {
    disk: &'a dyn Disk,
    path: PathBuf,
    /// Folders that were made for it, the lowest first.
    made: Vec<PathBuf>,
    /// Says so to others.
    lock: Option<File>,
}

impl Drop for SessionFolder<'_> {
    fn drop(&mut self) {
        for folder in &self.made {
            // Fails if it holds something, as it should.
            let _ = self.disk.remove_empty(folder);
        }
    }
}

impl<'a> SessionFolder<'a> {
    /// Makes the folder if it is not there.
    pub(crate) fn open(path: &Path, disk: &'a dyn Disk) -> Result<Self, Error> {
        let path = std::path::absolute(path).map_err(Error::io("find", path))?;
        // Without a slash at the end, behind which a link would not be seen.
        let path: PathBuf = path.components().collect();
        if path.is_symlink() || path.file_name().is_none() {
            let (name, got) = ("--out", path.display().to_string());
            return Err(Error::Setting { name, got, want: "a folder with a name, and no link" });
        }
        let mut folder = Self { disk, path: path.clone(), made: Vec::new(), lock: None };
        let missing: Vec<&Path> = path.ancestors().take_while(|path| !path.exists()).collect();
        for new in missing.into_iter().rev() {
            match disk.create_folder(new) {
                Ok(()) => folder.made.insert(0, new.to_path_buf()),
                // Somebody was faster.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && new.is_dir() => {}
                Err(error) => return Err(Error::io("create the folder", new)(error)),
            }
            sync_folder(disk, folder_of(new)).map_err(Error::io("create the folder", new))?;
        }
        if !path.is_dir() {
            return Err(Error::NotAFolder { path });
        }
        match lock(&path) {
            // Whoever made it and came second to the lock may have taken it away again, and somebody have made another one.
            Ok(Some(lock)) if !is_at(&lock, &path) => {
                folder.made.clear();
                return Err(at_work(&path));
            }
            Ok(lock) => folder.lock = lock,
            Err(error) => {
                // It is theirs who have the lock, and so is what it is in.
                folder.made.clear();
                return Err(match error.kind() {
                    io::ErrorKind::WouldBlock => at_work(&path),
                    _ => Error::io("lock the folder", &path)(error),
                });
            }
        }
        // What a run that died has left of a private file.
        let part = folder.part(STATE);
        if part.exists() {
            disk.remove_file(&part).map_err(Error::io("remove", &part))?;
        }
        Ok(folder)
    }

    /// Where a file is while it is written.
    fn part(&self, name: &str) -> PathBuf {
        self.path.join(format!("{}{name}{}", PART.0, PART.1))
    }

    /// The length of the private state says something about people: nobody else may list a folder that was there before.
    pub(crate) fn close_to_others(&self) -> Result<(), Error> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(&self.path, fs::Permissions::from_mode(0o700))
                .map_err(Error::io("close to others", &self.path))?;
        }
        Ok(())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Folders that were made for it, the lowest first.
    pub(crate) fn made(&self) -> &[PathBuf] {
        &self.made
    }

    /// Removes what is private first, and what says whose it is last.
    pub(crate) fn clear(&self) -> Result<(), Error> {
        let (disk, path) = (self.disk, &self.path);
        let clear = || {
            for name in [STATE, RELEASE] {
                let path = path.join(name);
                if path.exists() {
                    disk.remove_file(&path)?;
                }
            }
            disk.remove_empty(path)?;
            sync_folder(disk, folder_of(path))
        };
        clear().map_err(Error::io("remove", path))
    }

    /// Which session it holds; `None` if it is empty, but for files that nobody has finished.
    pub(crate) fn named(&self) -> Result<Option<Named>, Error> {
        let path = self.path.join(RELEASE);
        match fs::read(&path) {
            Ok(text) => {
                let named: Named = serde_json::from_slice(&text)
                    .map_err(|error| damaged(&path, &error.to_string()))?;
                Ok(Some(named))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let entries = fs::read_dir(&self.path).map_err(Error::io("list", &self.path))?;
                for entry in entries {
                    let name = entry.map_err(Error::io("list", &self.path))?.file_name();
                    let name = name.to_string_lossy();
                    if !(name.starts_with(PART.0) && name.ends_with(PART.1)) {
                        return Err(Error::Taken { path: self.path.clone(), release: false });
                    }
                }
                Ok(None)
            }
            Err(error) => Err(Error::io("read", &path)(error)),
        }
    }

    /// What a file holds; `None` if there is none.
    pub(crate) fn read(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        let path = self.path.join(name);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io("read", &path)(error)),
        }
    }

    /// Waits until the names of what is there are on the disk.
    pub(crate) fn settle(&self) -> Result<(), Error> {
        sync_folder(self.disk, &self.path).map_err(Error::io("be sure of", &self.path))
    }

    /// Sees to it that a file, which only the owner can read, holds this: in the place of one that holds something else, and on the disk.
    pub(crate) fn keep(&self, name: &str, content: &[u8]) -> Result<(), Error> {
        if self.read(name)?.is_some_and(|there| there == content) {
            return Ok(());
        }
        let (disk, path) = (self.disk, self.path.join(name));
        let part = self.part(name);
        let write = || {
            if part.exists() {
                disk.remove_file(&part)?;
            }
            let mut file = disk.create_file(&part)?;
            disk.write(&mut file, content)?;
            disk.sync(&file)?;
            disk.rename(&part, &path)?;
            sync_folder(disk, &self.path)
        };
        write().map_err(Error::io("write", &path))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::{Disk, SessionFolder, is_at};
    use crate::disk::RealDisk;
    use std::cell::RefCell;
    use std::fs::{self, File};
    use std::io;
    use std::path::Path;

    /// Somebody else is faster to lock whatever folder is made.
    #[derive(Debug, Default)]
    struct Overtaken(RefCell<Option<File>>);

    impl Disk for Overtaken {
        fn create_folder(&self, path: &Path) -> io::Result<()> {
            RealDisk.create_folder(path)?;
            *self.0.borrow_mut() = super::lock(path)?;
            Ok(())
        }

        fn create_file(&self, path: &Path) -> io::Result<File> {
            RealDisk.create_file(path)
        }

        fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
            RealDisk.write(file, bytes)
        }

        fn sync(&self, file: &File) -> io::Result<()> {
            RealDisk.sync(file)
        }

        fn cut(&self, file: &File, len: u64) -> io::Result<()> {
            RealDisk.cut(file, len)
        }

        fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
            RealDisk.rename(from, to)
        }

        fn remove_file(&self, path: &Path) -> io::Result<()> {
            RealDisk.remove_file(path)
        }

        fn remove_empty(&self, path: &Path) -> io::Result<()> {
            RealDisk.remove_empty(path)
        }

        fn remove_all(&self, path: &Path) -> io::Result<()> {
            RealDisk.remove_all(path)
        }
    }

    /// Were it taken away, whoever has it would work in a folder that is not there, or in one that somebody else has made since.
    #[test]
    fn a_folder_that_somebody_else_has_locked_is_not_taken_away() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("session");
        let error = SessionFolder::open(&path, &Overtaken::default()).unwrap_err().to_string();
        assert!(error.contains("another process is at work") && path.is_dir(), "{error}");
        // One that nobody has goes, as before.
        drop(SessionFolder::open(&home.path().join("mine"), &RealDisk).unwrap());
        assert!(!home.path().join("mine").exists());
    }

    #[test]
    fn another_folder_of_the_same_name_is_another_one() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("session");
        fs::create_dir(&path).unwrap();
        let folder = File::open(&path).unwrap();
        assert!(is_at(&folder, &path));
        fs::rename(&path, home.path().join("elsewhere")).unwrap();
        assert!(!is_at(&folder, &path));
        fs::create_dir(&path).unwrap();
        assert!(!is_at(&folder, &path));
    }
}

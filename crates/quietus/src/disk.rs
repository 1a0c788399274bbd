//! Every call that changes something on disk, behind one trait: so that tests can let each of them fail, or be the last one.

use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// What changes files and folders.
pub trait Disk: fmt::Debug {
    /// Makes a folder that only its owner can enter.
    ///
    /// # Errors
    /// Those of the operating system, as everywhere here.
    fn create_folder(&self, path: &Path) -> io::Result<()>;
    /// Makes a file that was not there, which only its owner can read.
    ///
    /// # Errors
    /// As above.
    fn create_file(&self, path: &Path) -> io::Result<File>;
    /// Writes at the end of what has been written.
    ///
    /// # Errors
    /// As above.
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()>;
    /// Waits until a file or a folder is on the disk.
    ///
    /// # Errors
    /// As above.
    fn sync(&self, file: &File) -> io::Result<()>;
    /// Cuts a file.
    ///
    /// # Errors
    /// As above.
    fn cut(&self, file: &File, len: u64) -> io::Result<()>;
    /// Gives a file or a folder another name; a file takes the place of one that has it.
    ///
    /// # Errors
    /// As above.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    ///
    /// # Errors
    /// As above.
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    /// Removes an empty folder.
    ///
    /// # Errors
    /// As above.
    fn remove_empty(&self, path: &Path) -> io::Result<()>;
    /// Removes a folder with all that is in it.
    ///
    /// # Errors
    /// As above.
    fn remove_all(&self, path: &Path) -> io::Result<()>;
}

/// The file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(path)
    }

    fn create_file(&self, path: &Path) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path)
    }

    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    fn cut(&self, file: &File, len: u64) -> io::Result<()> {
        file.set_len(len)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_empty(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    fn remove_all(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir_all(path)
    }
}

/// Waits until the entries of a folder are on the disk.
pub(crate) fn sync_folder(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    disk.sync(&File::open(path)?)
}

/// The folder that a path is in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A file as something to write to.
pub(crate) struct Writer<'a> {
    pub(crate) disk: &'a dyn Disk,
    pub(crate) file: File,
}

impl Write for Writer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.disk.write(&mut self.file, bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod failing {
    //! A disk that fails.

    use super::{Disk, RealDisk};
    use std::cell::Cell;
    use std::fs::File;
    use std::io;
    use std::path::Path;

    /// A disk that never fails, and waits for nothing.
    pub(crate) fn unsynced() -> FailingDisk {
        FailingDisk::new(usize::MAX, Fault::Once)
    }

    /// What happens at the call of a given number.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Fault {
        /// It fails, and those after it do not.
        Once,
        /// The process dies in it: nothing is done any more, and of what was to be written the first half is there.
        Death,
    }

    /// The file system until call number `at`, from 0.
    #[derive(Debug)]
    pub(crate) struct FailingDisk {
        at: usize,
        fault: Fault,
        calls: Cell<usize>,
    }

    impl FailingDisk {
        pub(crate) fn new(at: usize, fault: Fault) -> Self {
            Self { at, fault, calls: Cell::new(0) }
        }

        /// Whether the call has come that was to fail.
        pub(crate) fn failed(&self) -> bool {
            self.calls.get() > self.at
        }

        fn call<T>(
            &self,
            real: impl FnOnce(&RealDisk) -> io::Result<T>,
            half: impl FnOnce(),
        ) -> io::Result<T> {
            let call = self.calls.replace(self.calls.get() + 1);
            if call == self.at {
                half();
            }
            let fails = call == self.at || call > self.at && self.fault == Fault::Death;
            if fails { Err(io::Error::other(format!("call {call}"))) } else { real(&RealDisk) }
        }
    }

    impl Disk for FailingDisk {
        fn create_folder(&self, path: &Path) -> io::Result<()> {
            self.call(|disk| disk.create_folder(path), || ())
        }

        fn create_file(&self, path: &Path) -> io::Result<File> {
            self.call(|disk| disk.create_file(path), || ())
        }

        fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
            let mut half = file.try_clone()?;
            let (file, write_half) = (file, || {
                // It is torn in the middle.
                let _ = RealDisk.write(&mut half, &bytes[..bytes.len() / 2]);
            });
            self.call(|disk| disk.write(file, bytes), write_half)
        }

        /// It fails or not; whether it is on the disk [`WaitingDisk`](super::waiting::WaitingDisk) sees.
        fn sync(&self, _: &File) -> io::Result<()> {
            self.call(|_| Ok(()), || ())
        }

        fn cut(&self, file: &File, len: u64) -> io::Result<()> {
            self.call(|disk| disk.cut(file, len), || ())
        }

        fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
            self.call(|disk| disk.rename(from, to), || ())
        }

        fn remove_file(&self, path: &Path) -> io::Result<()> {
            self.call(|disk| disk.remove_file(path), || ())
        }

        fn remove_empty(&self, path: &Path) -> io::Result<()> {
            self.call(|disk| disk.remove_empty(path), || ())
        }

        fn remove_all(&self, path: &Path) -> io::Result<()> {
            self.call(|disk| disk.remove_all(path), || ())
        }
    }
}

#[cfg(all(test, unix))]
pub(crate) mod waiting {
    //! A disk that knows what nobody has waited for.

    use super::{Disk, RealDisk, folder_of};
    use crate::folder::PART;
    use std::cell::RefCell;
    use std::fs::{self, File, Metadata};
    use std::io;
    use std::os::unix::fs::MetadataExt as _;
    use std::path::{Path, PathBuf};

    /// Which file or folder, whatever its name.
    type Id = (u64, u64);

    /// The file system, which knows what a loss of power would take: what is written, made or named and has not been waited for. It panics where more is
    /// built on that: a name for it, or a line of a ledger.
    #[derive(Debug, Default)]
    pub(crate) struct WaitingDisk {
        /// What would have to be waited for, and what would be lost.
        lost: RefCell<Vec<(Id, PathBuf)>>,
    }

    impl WaitingDisk {
        pub(crate) fn nothing_would_be_lost(&self, before: &str) {
            assert!(self.lost.borrow().is_empty(), "{before}: {:?}", self.lost.borrow());
        }

        fn id(found: io::Result<Metadata>) -> Id {
            let found = found.expect("it is there");
            (found.dev(), found.ino())
        }

        fn would_be_lost(&self, unless: io::Result<Metadata>, what: &Path) {
            self.lost.borrow_mut().push((Self::id(unless), what.to_path_buf()));
        }
    }

    impl Disk for WaitingDisk {
        fn create_folder(&self, path: &Path) -> io::Result<()> {
            RealDisk.create_folder(path)?;
            // One that nothing is in yet, and that gets another name, may be lost.
            if !path.to_string_lossy().ends_with(PART.1) {
                self.would_be_lost(folder_of(path).metadata(), path);
            }
            Ok(())
        }

        fn create_file(&self, path: &Path) -> io::Result<File> {
            let file = RealDisk.create_file(path)?;
            self.would_be_lost(file.metadata(), path);
            self.would_be_lost(folder_of(path).metadata(), path);
            Ok(file)
        }

        fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
            let text = String::from_utf8_lossy(bytes);
            if text.contains("{\"entry\":") && !text.contains("{\"entry\":\"new\"") {
                self.nothing_would_be_lost(&text);
            }
            RealDisk.write(file, bytes)?;
            self.would_be_lost(file.metadata(), Path::new("what was written"));
            Ok(())
        }

        fn sync(&self, file: &File) -> io::Result<()> {
            let id = Self::id(file.metadata());
            self.lost.borrow_mut().retain(|(unless, _)| *unless != id);
            Ok(())
        }

        fn cut(&self, file: &File, len: u64) -> io::Result<()> {
            RealDisk.cut(file, len)?;
            self.would_be_lost(file.metadata(), Path::new("where it was cut"));
            Ok(())
        }

        fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
            let within = fs::read_dir(from).into_iter().flatten().map(|entry| entry?.metadata());
            let all: Vec<Id> = within.chain([from.metadata()]).map(Self::id).collect();
            let lost = |(unless, what): &(Id, PathBuf)| {
                assert!(!all.contains(unless), "{} before {}", to.display(), what.display());
            };
            self.lost.borrow().iter().for_each(lost);
            RealDisk.rename(from, to)?;
            self.would_be_lost(folder_of(to).metadata(), to);
            Ok(())
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
}

//! A folder that is there with all its files or not at all, and is never replaced.

use crate::disk::{Disk, RealDisk, Writer, folder_of, sync_folder};
use crate::error::Error;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The file that tells a release from another folder, and says which one it is.
pub(crate) const RELEASE: &str = "release.json";

/// Writes the content of one file.
pub(crate) type Fill<'a> = Box<dyn Fn(&mut dyn Write) -> io::Result<()> + 'a>;

/// How names of unfinished folders begin and end.
pub(crate) const PART: (&str, &str) = (".quietus-", ".part");

/// A place for a release: an empty folder beside it that only its owner can enter. It is gone when this is dropped.
#[derive(Debug)]
pub(crate) struct Reserved<'a> {
    disk: &'a dyn Disk,
    path: PathBuf,
    traces: Traces,
    /// Says to others that the folder is not left over, whatever its name.
    lock: Option<File>,
}

/// What is on disk before there is a release.
#[derive(Clone, Debug)]
pub(crate) struct Traces {
    /// `None` until it is ours, and when it has become the release.
    part: Option<PathBuf>,
    /// Folders above it that were not there before, the lowest first.
    parents: Vec<PathBuf>,
}

impl Traces {
    /// Errors have nobody to go to: another one is on its way, or somebody else has done it.
    pub(crate) fn remove(&self, disk: &dyn Disk) {
        if let Some(part) = &self.part {
            let _ = disk.remove_all(part);
        }
        for parent in &self.parents {
            // Fails if it holds something, as it should.
            let _ = disk.remove_empty(parent);
        }
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        self.traces.remove(self.disk);
    }
}

impl<'a> Reserved<'a> {
    /// Refuses what is no new or empty folder, and finds out whether one can be made there. `id` is random, so that no two runs meet.
    pub(crate) fn new(path: &Path, id: &str, disk: &'a dyn Disk) -> Result<Self, Error> {
        let path = std::path::absolute(path).map_err(Error::io("find", path))?;
        // Without a slash at the end, behind which a link would not be seen.
        let path: PathBuf = path.components().collect();
        empty_or_new(&path)?;
        let part = part_beside(&path, id);
        let missing: Vec<&Path> =
            path.ancestors().skip(1).take_while(|parent| !parent.exists()).collect();
        let traces = Traces { part: None, parents: Vec::new() };
        let mut reserved = Self { disk, path: path.clone(), traces, lock: None };
        for parent in missing.into_iter().rev() {
            let make = || {
                disk.create_folder(parent)?;
                sync_folder(disk, folder_of(parent))
            };
            let above = folder_of(parent);
            if above.exists() && !above.is_dir() {
                return Err(Error::NotAFolder { path: above.to_path_buf() });
            }
            reserved.traces.parents.insert(0, parent.to_path_buf());
            make().map_err(Error::io("create the folder", parent))?;
        }
        if !folder_of(&path).is_dir() {
            return Err(Error::NotAFolder { path: folder_of(&path).to_path_buf() });
        }
        disk.create_folder(&part).map_err(Error::io("create the folder", &part))?;
        reserved.traces.part = Some(part.clone());
        reserved.lock = lock(&part).map_err(Error::io("lock the folder", &part))?;
        Ok(reserved)
    }

    /// These folders go too when this is dropped, if they are empty then; the lowest first.
    pub(crate) fn with_empty(mut self, folders: &[PathBuf]) -> Self {
        self.traces.parents.extend_from_slice(folders);
        self
    }

    pub(crate) fn traces(&self) -> &Traces {
        &self.traces
    }

    /// Where the release will be, and where it is being written.
    pub(crate) fn places(&self) -> (&Path, &Path) {
        (&self.path, self.traces.part.as_deref().unwrap_or(&self.path))
    }

    /// Writes all files in this order, waits until they are on the disk, then gives the folder its name.
    pub(crate) fn write(&mut self, contents: &[(&str, Fill<'_>)]) -> Result<(), Error> {
        let (disk, part) = (self.disk, self.places().1.to_path_buf());
        for (name, fill) in contents {
            let path = part.join(name);
            let write = || {
                let file = disk.create_file(&path)?;
                let mut writer = BufWriter::with_capacity(1 << 16, Writer { disk, file });
                fill(&mut writer)?;
                writer.flush()?;
                disk.sync(&writer.get_ref().file)
            };
            write().map_err(Error::io("write", &path))?;
        }
        sync_folder(disk, &part).map_err(Error::io("write", &part))?;
        empty_or_new(&self.path)?;
        // Renaming fails if something has come into the folder since.
        disk.rename(&part, &self.path).map_err(Error::io("write", &self.path))?;
        self.traces = Traces { part: None, parents: Vec::new() };
        Ok(())
    }

    /// Waits until the name is on the disk too.
    pub(crate) fn settle(&self) -> Result<(), Error> {
        sync_folder(self.disk, folder_of(&self.path)).map_err(Error::io("be sure of", &self.path))
    }
}

fn part_beside(path: &Path, id: &str) -> PathBuf {
    path.with_file_name(format!("{}{id}{}", PART.0, PART.1))
}

/// Where the release of this name is while it is written.
pub(crate) fn part_of(path: &Path, id: &str) -> Result<PathBuf, Error> {
    let path = std::path::absolute(path).map_err(Error::io("find", path))?;
    Ok(part_beside(&path.components().collect::<PathBuf>(), id))
}

/// Whether a folder holds the release of this name.
pub(crate) fn holds(folder: &Path, release: &str) -> bool {
    let text = fs::read(folder.join(RELEASE)).ok();
    let said = text.and_then(|text| serde_json::from_slice::<serde_json::Value>(&text).ok());
    said.is_some_and(|said| said["release"] == release)
}

/// `None` where folders cannot be locked.
pub(crate) fn lock(folder: &Path) -> io::Result<Option<File>> {
    if !cfg!(unix) {
        return Ok(None);
    }
    let file = File::open(folder)?;
    file.try_lock()?;
    Ok(Some(file))
}

/// Whether somebody may still write to a folder: also where a lock is refused for another reason than that.
pub(crate) fn in_use(folder: &Path) -> bool {
    cfg!(unix) && File::open(folder).is_ok_and(|file| file.try_lock().is_err())
}

/// Whether a path has the name of an unfinished folder.
fn is_part(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with(PART.0) && name.ends_with(PART.1)
}

/// Unfinished folders beside a place, which nobody writes to.
pub(crate) fn left_over(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder_of(path)) else { return Vec::new() };
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| is_part(path) && path.is_dir() && !in_use(path))
        .collect();
    found.sort();
    found
}

/// Removes empty folders that were taken for a release beside this place, if nobody holds them. They are locked meanwhile, so that whoever has
/// just made one either has the lock already, or fails to get it and has drawn nothing.
pub(crate) fn remove_empty(path: &Path, disk: &dyn Disk) -> Result<(), Error> {
    for part in left_over(path) {
        let Ok(_lock) = lock(&part) else { continue };
        let is_empty = fs::read_dir(&part).is_ok_and(|mut entries| entries.next().is_none());
        if is_empty {
            disk.remove_empty(&part).map_err(Error::io("remove", &part))?;
        }
    }
    Ok(())
}

/// Removes what an unfinished release has left; whether there was anything. A path comes from a ledger, which others may have written: nothing
/// else goes.
pub(crate) fn remove_part(part: &Path, disk: &dyn Disk) -> Result<bool, Error> {
    if !part.exists() || !is_part(part) {
        return Ok(false);
    }
    disk.remove_all(part).map_err(Error::io("remove", part))?;
    Ok(true)
}

impl Traces {
    /// For a signal, which has no other disk.
    pub(crate) fn remove_now(&self) {
        self.remove(&RealDisk);
    }
}

/// Refuses what is no new or empty folder.
pub(crate) fn empty_or_new(path: &Path) -> Result<(), Error> {
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
        let release = path.join(RELEASE).exists();
        return Err(Error::Taken { path: path.to_path_buf(), release });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Fill, RELEASE, Reserved};
    use crate::disk::{Disk, RealDisk};
    use crate::error::Error;
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
        Reserved::new(path, "1", &RealDisk)?.write(contents)
    }

    fn good<'a>() -> Fill<'a> {
        Box::new(|to| to.write_all(b"right"))
    }

    #[test]
    fn all_files_or_none() {
        let home = tempfile::tempdir().unwrap();
        let out = home.path().join("deep/er");
        let full: Fill<'_> = Box::new(|_| Err(io::Error::from(io::ErrorKind::StorageFull)));
        assert!(write(&out, &[("a", good()), ("b", full)]).is_err());
        assert_eq!(names(home.path()), [""; 0]);
        write(&out, &[("a", good()), ("b", good())]).unwrap();
        assert_eq!(
            (names(out.parent().unwrap()), names(&out)),
            (vec!["er".to_owned()], vec!["a".to_owned(), "b".to_owned()])
        );
        assert!(write(&out, &[("a", good())]).is_err(), "never replaced");
        assert_eq!(names(out.parent().unwrap()), ["er"]);
    }

    #[test]
    fn a_place_is_taken_at_once_and_left_without_a_trace() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("old")).unwrap();
        let reserved = Reserved::new(&home.path().join("old/a/b/out"), "1", &RealDisk).unwrap();
        assert_eq!(names(&home.path().join("old/a/b")).len(), 1);
        reserved.traces().remove(&RealDisk);
        assert!(names(&home.path().join("old")).is_empty());
        drop(reserved);
        assert_eq!(names(home.path()), ["old"]);

        // What has come into a folder in the meantime stays.
        let reserved = Reserved::new(&home.path().join("new/out"), "1", &RealDisk).unwrap();
        fs::write(home.path().join("new/other"), "").unwrap();
        drop(reserved);
        assert_eq!(names(&home.path().join("new")), ["other"]);
        // Nor is a folder removed that somebody else has made.
        let kept = home.path().join(".quietus-2.part");
        RealDisk.create_folder(&kept).unwrap();
        assert!(Reserved::new(&home.path().join("out"), "2", &RealDisk).is_err());
        assert_eq!(super::left_over(&home.path().join("out")), std::slice::from_ref(&kept));
        fs::remove_dir(kept).unwrap();
        let below_a_file = Reserved::new(&home.path().join("new/other/out"), "1", &RealDisk);
        assert!(below_a_file.is_err() && names(home.path()) == ["new", "old"]);
    }

    /// A folder that is somebody else's is not removed for half of its name.
    #[test]
    fn only_what_begins_and_ends_as_an_unfinished_folder_is_removed() {
        let home = tempfile::tempdir().unwrap();
        let others = [".quietus-1", "1.part", "quietus-1.part"].map(|name| home.path().join(name));
        for other in &others {
            fs::create_dir(other).unwrap();
            assert!(!super::remove_part(other, &RealDisk).unwrap());
        }
        super::remove_empty(&home.path().join("out"), &RealDisk).unwrap();
        assert!(others.iter().all(|other| other.exists()));
    }

    #[test]
    fn an_empty_folder_is_fine_and_a_full_one_is_named_for_what_it_is() {
        let home = tempfile::tempdir().unwrap();
        let out = home.path().join("out");
        let shown = |path: &Path| {
            let error = Reserved::new(path, "1", &RealDisk).unwrap_err().to_string();
            error.replace(&home.path().display().to_string(), "HOME")
        };
        fs::create_dir(&out).unwrap();
        write(&out, &[("letter", good())]).unwrap();
        insta::assert_snapshot!(shown(&out), @"HOME/out is not empty: choose another --out");
        fs::write(out.join(RELEASE), "{}").unwrap();
        insta::assert_snapshot!(shown(&out), @"HOME/out holds a release; another one of the same people costs its budget again, and the costs add up: choose another --out");
        insta::assert_snapshot!(shown(Path::new("/")), @"--out must be a folder with a name, got /");
        insta::assert_snapshot!(shown(&out.join(RELEASE)), @"HOME/out/release.json is not a folder");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_refused_and_only_the_owner_can_read() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().unwrap();
        let (empty, link) = (home.path().join("empty"), home.path().join("link"));
        fs::create_dir(&empty).unwrap();
        for target in [empty, home.path().join("nowhere")] {
            std::os::unix::fs::symlink(target, &link).unwrap();
            for path in [link.clone(), link.join("")] {
                let error = Reserved::new(&path, "1", &RealDisk).unwrap_err().to_string();
                assert!(error.contains("link, a symbolic link"), "{error}");
            }
            fs::remove_file(&link).unwrap();
        }
        let out = home.path().join("out");
        let reserved = Reserved::new(&out, "1", &RealDisk).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let part = reserved.places().1.to_path_buf();
        assert_eq!(mode(&part), 0o700);
        assert!(super::in_use(&part) && super::left_over(&out).is_empty());
        drop(reserved);
        write(&out, &[("a", good())]).unwrap();
        assert_eq!((mode(&out), mode(&out.join("a"))), (0o700, 0o600));
    }
}

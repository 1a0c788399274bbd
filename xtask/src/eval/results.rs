//! OUT/results.jsonl: each finished cell is on disk before the next one starts, and none is ever lost.

use crate::error::Error;
use crate::eval::record::{Key, Record};
use quietus_datasets::files;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Name of the file in OUT.
pub(crate) const FILE: &str = "results.jsonl";

/// Where lines go. A trait so that tests can fill up the disk.
pub(crate) trait Sink {
    /// Appends whole lines and makes them durable; on failure nothing of them may stay behind.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
}

struct AppendFile {
    file: File,
    /// Length up to the last complete line.
    complete: u64,
}

impl Sink for AppendFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let written = self.file.write_all(bytes).and_then(|()| self.file.sync_data());
        if written.is_ok() {
            self.complete += bytes.len() as u64;
        } else {
            // Half a line would be dropped on resume anyway; take it back while we can.
            let _ = self.file.set_len(self.complete);
        }
        written
    }
}

/// The results so far, and the file that the next one is appended to.
pub(crate) struct Results {
    path: PathBuf,
    sink: Box<dyn Sink>,
    /// In the order of the file.
    records: Vec<Record>,
    /// Position in `records`.
    by_key: BTreeMap<Key, usize>,
    /// Lines on what was found when opening, for the user.
    pub(crate) notices: Vec<String>,
    /// Held while this evaluation writes here; the operating system lets go of it whatever happens.
    lock: Option<File>,
}

impl Results {
    /// Opens OUT/results.jsonl. With `resume` its cells are kept; without it a file that holds
    /// anything is moved aside, so that starting afresh by mistake costs nothing.
    pub(crate) fn open(out: &Path, resume: bool) -> Result<Self, Error> {
        files::create_folder(out)?;
        let lock = only_writer(out)?;
        let path = out.join(FILE);
        let mut notices = Vec::new();
        let mut records = Vec::new();
        if fs::metadata(&path).is_ok_and(|found| found.len() > 0) {
            if resume {
                records = read_for_resume(&path, &mut notices)?;
            } else {
                let aside = out.join("results.jsonl.bak");
                fs::rename(&path, &aside).map_err(Error::io("move aside", &path))?;
                notices.push(format!("earlier results are now in {}", aside.display()));
            }
        }
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .map_err(Error::io("write", &path))?;
        let complete = file.metadata().map_err(Error::io("read", &path))?.len();
        let sink = Box::new(AppendFile { file, complete });
        let mut results = Self::with_sink(path, sink);
        results.notices = notices;
        results.lock = Some(lock);
        for record in records {
            results.remember(record);
        }
        Ok(results)
    }

    /// Results in memory with a writer of the caller's choice.
    pub(crate) fn with_sink(path: PathBuf, sink: Box<dyn Sink>) -> Self {
        let (records, by_key, notices) = Default::default();
        Self { path, sink, records, by_key, notices, lock: None }
    }

    /// Appends one finished cell.
    pub(crate) fn push(&mut self, record: Record) -> Result<(), Error> {
        let mut line = serde_json::to_vec(&record)?;
        line.push(b'\n');
        self.sink.append(&line).map_err(Error::io("append to", &self.path))?;
        self.remember(record);
        Ok(())
    }

    pub(crate) fn records(&self) -> &[Record] {
        &self.records
    }

    /// Whether this cell is finished. A finished cell with other settings is an error: the report
    /// would mix what cannot be compared.
    pub(crate) fn has(&self, planned: &Record) -> Result<bool, Error> {
        let Some(&index) = self.by_key.get(&planned.key()) else { return Ok(false) };
        match self.records[index].different_setting(planned) {
            None => Ok(true),
            Some((field, found, now)) => Err(Error::OtherSettings {
                path: self.path.clone(),
                line: index + 1,
                field,
                found,
                now,
            }),
        }
    }

    /// As [`Results::has`] for a cell whose data set has not been prepared yet, so that its checksum
    /// is not known.
    pub(crate) fn has_whatever_the_data(&self, planned: &Record) -> Result<bool, Error> {
        let found = self.by_key.get(&planned.key()).map(|&index| &self.records[index]);
        let mut planned = planned.clone();
        if let Some(data) = found.and_then(|record| record.params.get("data")) {
            planned.params.insert("data".to_owned(), data.clone());
        }
        self.has(&planned)
    }

    /// Refuses to add to results that were made with another seed.
    pub(crate) fn check_seed(&self, seed: u64) -> Result<(), Error> {
        match self.records.iter().position(|record| record.seed != seed) {
            None => Ok(()),
            Some(index) => Err(Error::OtherSettings {
                path: self.path.clone(),
                line: index + 1,
                field: "seed".to_owned(),
                found: self.records[index].seed.to_string(),
                now: seed.to_string(),
            }),
        }
    }

    fn remember(&mut self, record: Record) {
        self.by_key.insert(record.key(), self.records.len());
        self.records.push(record);
    }
}

/// All results of a file.
pub(crate) fn read(path: &Path) -> Result<Vec<Record>, Error> {
    let text = fs::read_to_string(path).map_err(Error::io("read", path))?;
    let read = |(line, number): (&str, usize)| {
        serde_json::from_str(line)
            .map_err(|error| Error::malformed(path, format!("line {number}: {error}")))
    };
    text.lines().zip(1..).map(read).collect()
}

/// Two evaluations that append to one file would run, and count, every cell twice.
fn only_writer(out: &Path) -> Result<File, Error> {
    let path = out.join("results.lock");
    let lock = File::create(&path).map_err(Error::io("write", &path))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(Error::Busy { path: out.to_path_buf() }),
        Err(TryLockError::Error(source)) => Err(Error::io("lock", &path)(source)),
    }
}

/// Reads all lines; cuts off a last line that a crash or a full disk left without its end.
fn read_for_resume(path: &Path, notices: &mut Vec<String>) -> Result<Vec<Record>, Error> {
    let bytes = fs::read(path).map_err(Error::io("read", path))?;
    let mut records = Vec::new();
    let mut complete = 0;
    for (line, number) in bytes.split_inclusive(|&byte| byte == b'\n').zip(1..) {
        let ended = line.ends_with(b"\n");
        match serde_json::from_slice(line) {
            Ok(record) => records.push(record),
            Err(_) if !ended => break,
            Err(error) => {
                let (path, reason) = (path.to_path_buf(), error.to_string());
                return Err(Error::CorruptResults { path, line: number, reason });
            }
        }
        complete += line.len();
    }
    let torn = bytes.len() > complete;
    let unended = complete > 0 && bytes[complete - 1] != b'\n';
    if torn {
        notices.push(format!(
            "line {} of {} was cut short; that cell runs again",
            records.len() + 1,
            path.display()
        ));
    }
    if torn || unended {
        files::write_atomically(path, |writer| {
            writer.write_all(&bytes[..complete])?;
            if unended { writer.write_all(b"\n") } else { Ok(()) }
        })?;
    }
    Ok(records)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{FILE, Results, Sink};
    use crate::eval::record::tests::example;
    use std::io;
    use std::path::Path;

    /// A disk with room for this many bytes.
    pub(crate) struct SmallDisk(pub(crate) usize);

    impl Sink for SmallDisk {
        fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
            match self.0.checked_sub(bytes.len()) {
                Some(left) => self.0 = left,
                None => return Err(io::Error::from(io::ErrorKind::StorageFull)),
            }
            Ok(())
        }
    }

    fn three_finished(out: &Path) {
        let mut results = Results::open(out, false).unwrap();
        for run in 0..3 {
            results.push(example("synth-10d", "dpm", run)).unwrap();
        }
    }

    #[test]
    fn finished_cells_are_kept_on_resume() {
        let out = tempfile::tempdir().unwrap();
        three_finished(out.path());
        let results = Results::open(out.path(), true).unwrap();
        assert!(results.notices.is_empty());
        assert!((0..3).all(|run| results.has(&example("synth-10d", "dpm", run)).unwrap()));
        assert!(!results.has(&example("synth-10d", "dpm", 3)).unwrap());
    }

    #[test]
    fn a_line_cut_short_is_dropped_wherever_the_cut_is() {
        let out = tempfile::tempdir().unwrap();
        three_finished(out.path());
        let path = out.path().join(FILE);
        let whole = std::fs::read(&path).unwrap();
        let line = whole.len() / 3;
        for cut in [2 * line + 1, 2 * line + 40, whole.len() - 2] {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let mut results = Results::open(out.path(), true).unwrap();
            assert_eq!(results.records().len(), 2);
            let notice = results.notices[0].replace(&out.path().display().to_string(), "OUT");
            assert_eq!(notice, "line 3 of OUT/results.jsonl was cut short; that cell runs again");
            results.push(example("synth-10d", "dpm", 2)).unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), whole, "as if nothing had happened");
        }
    }

    #[test]
    fn a_last_line_that_only_misses_its_end_is_complete() {
        let out = tempfile::tempdir().unwrap();
        three_finished(out.path());
        let path = out.path().join(FILE);
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        let results = Results::open(out.path(), true).unwrap();
        assert_eq!((results.records().len(), results.notices.len()), (3, 0));
        assert_eq!(std::fs::read(&path).unwrap(), whole);
    }

    #[test]
    fn garbage_in_the_middle_is_refused_by_line() {
        let out = tempfile::tempdir().unwrap();
        three_finished(out.path());
        let path = out.path().join(FILE);
        let text = std::fs::read_to_string(&path).unwrap().replacen("\"run\":1", "\"run\":", 1);
        std::fs::write(&path, text).unwrap();
        let error = Results::open(out.path(), true).err().unwrap().to_string();
        assert!(error.contains("results.jsonl, line 2 is not a result: "), "{error}");
    }

    #[test]
    fn other_settings_are_not_mixed_in() {
        let out = tempfile::tempdir().unwrap();
        three_finished(out.path());
        let results = Results::open(out.path(), true).unwrap();
        let mut planned = example("synth-10d", "dpm", 1);
        planned.params.insert("k".to_owned(), 65.into());
        let shown = |error: crate::error::Error| {
            error.to_string().replace(&out.path().display().to_string(), "OUT")
        };
        insta::assert_snapshot!(shown(results.has(&planned).unwrap_err()), @"cannot resume: OUT/results.jsonl, line 2 was made with k = 64, this run has 65; repeat the earlier settings, choose another --out, or leave out --resume");
        insta::assert_snapshot!(shown(results.check_seed(2).unwrap_err()), @"cannot resume: OUT/results.jsonl, line 1 was made with seed = 1, this run has 2; repeat the earlier settings, choose another --out, or leave out --resume");
        assert!(results.check_seed(1).is_ok());
    }

    #[test]
    fn starting_afresh_moves_old_results_aside() {
        let out = tempfile::tempdir().unwrap();
        three_finished(out.path());
        let results = Results::open(out.path(), false).unwrap();
        assert!(results.records().is_empty());
        let old = std::fs::read_to_string(out.path().join("results.jsonl.bak")).unwrap();
        assert_eq!(old.lines().count(), 3);
    }

    #[test]
    fn a_second_evaluation_in_the_same_folder_is_refused_while_the_first_runs() {
        let out = tempfile::tempdir().unwrap();
        let first = Results::open(out.path(), true).unwrap();
        let error = Results::open(out.path(), true).err().unwrap().to_string();
        assert!(
            error.ends_with("is in use by another evaluation; choose another --out"),
            "{error}"
        );
        drop(first);
        assert!(Results::open(out.path(), true).is_ok());
    }

    #[test]
    fn a_full_disk_names_the_file_and_keeps_what_was_written() {
        let room = serde_json::to_vec(&example("synth-10d", "dpm", 0)).unwrap().len() + 10;
        let mut results = Results::with_sink("OUT/results.jsonl".into(), Box::new(SmallDisk(room)));
        results.push(example("synth-10d", "dpm", 0)).unwrap();
        let error = results.push(example("synth-10d", "dpm", 1)).unwrap_err();
        insta::assert_snapshot!(error, @"cannot append to OUT/results.jsonl: no storage space");
        assert_eq!(results.records().len(), 1);
    }

    /// The real thing, where the system has a device that is always full.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_device_without_space_is_an_error_and_no_panic() {
        let out = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/dev/full", out.path().join(FILE)).unwrap();
        let mut results = Results::open(out.path(), false).unwrap();
        let error = results.push(example("synth-10d", "dpm", 0)).unwrap_err().to_string();
        assert!(error.contains("results.jsonl: No space left on device"), "{error}");
    }

    #[test]
    fn an_out_that_cannot_be_a_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        let error = Results::open(&file, false).err().unwrap().to_string();
        assert!(error.ends_with("file is not a folder"), "{error}");
        let error = Results::open(&file.join("below"), false).err().unwrap().to_string();
        assert!(error.starts_with("cannot create the folder "), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn an_out_without_permission_is_named() {
        use std::os::unix::fs::PermissionsExt;
        let out = tempfile::tempdir().unwrap();
        std::fs::set_permissions(out.path(), PermissionsExt::from_mode(0o555)).unwrap();
        if std::fs::write(out.path().join("probe"), "").is_ok() {
            return; // The superuser writes everywhere; there is nothing to see.
        }
        let error = Results::open(out.path(), false).err().unwrap().to_string();
        assert!(error.starts_with("cannot write "), "{error}");
    }
}

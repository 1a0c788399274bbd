//! The account of a data set in a file: what may be spent on it, and every release that was.
//!
//! A line is a hash and an entry; the hash is of the hash before it and the entry, so that a line that was changed, removed from the
//! middle or put elsewhere is seen. The file only grows, under a lock, and each line is on the disk before what it allows is done.
//! What a process that died has half written, a last line without its end, allowed nothing: the next one writes over it.
//!
//! What it cannot see is a file that was put back to an earlier state as a whole. Keep it where that does not happen.

use crate::disk::{Disk, folder_of, sync_folder};
use crate::error::Error;
use crate::folder::{empty_or_new, holds, in_use, remove_empty, remove_part};
use crate::shown::shown;
use dp_accounting::{
    AddOnly, AddRemove, Budget, Ledger, MemberOfGroup, Receipt, Relation, ReplaceOne, Within,
    plain_number,
};
use hmac_sha256::Hash;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The one form of file that there is.
const FORMAT: u32 = 1;

/// A line of a ledger.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Entry {
    /// The first line.
    New {
        /// Of the file.
        format: u32,
        /// Random: which ledger it is.
        ledger: String,
        /// What the holder calls the data.
        dataset: String,
        /// Between which data sets releases promise something.
        relation: Value,
        /// The most that may be spent.
        limit: Budget,
    },
    /// A release is about to be drawn. From here on it is spent.
    Intent {
        /// Random: which release it is.
        release: String,
        /// Of which kind.
        family: String,
        /// Where it will be.
        out: String,
        /// Where it is until it is whole.
        part: String,
        /// SHA-256 of its plan.
        plan: String,
        /// What it costs.
        receipt: Value,
    },
    /// A release, or that of a session, is in its place.
    Outcome {
        /// Which.
        release: String,
    },
    /// A release came to nothing, and nothing is left of it; it stays spent.
    Lost {
        /// Which.
        release: String,
    },
    /// A session is about to take its first steps. From here on all of them are spent.
    Session {
        /// Random: which session it is.
        session: String,
        /// Of which kind.
        family: String,
        /// SHA-256 of its plan.
        plan: String,
        /// What it costs, whole.
        receipt: Value,
    },
    /// The next steps of a session are about to be drawn, from its newest state.
    Lease {
        /// Of which session.
        session: String,
        /// Of the state that comes out: one more than that of the newest.
        generation: u64,
        /// Random: who draws.
        lease: String,
        /// The session's folder.
        out: String,
    },
    /// The steps of a lease are in their place.
    Advance {
        /// Of which session.
        session: String,
        /// Of the state that is now the newest.
        generation: u64,
        /// SHA-256 of that state.
        state: String,
    },
    /// Whoever had a lease died before anything of its steps was there for anybody.
    Withdrawn {
        /// Of which session.
        session: String,
        /// That it would have had.
        generation: u64,
    },
}

/// What became of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing is known yet: it is being written, or its process died.
    Open,
    /// It is in its place.
    Done,
    /// It is gone.
    Lost,
}

/// A ledger in a file.
#[derive(Clone, Debug)]
pub struct LedgerFile {
    path: PathBuf,
}

/// All whole lines of a ledger.
#[derive(Clone, Debug)]
pub struct Book {
    pub(crate) path: PathBuf,
    entries: Vec<Entry>,
    last: String,
    /// In bytes.
    len: u64,
}

/// What `recover` has done about one release that had no outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// Which release.
    pub release: String,
    /// Where it was to be.
    pub out: PathBuf,
    /// `Open` if it is still being written.
    pub state: State,
    /// A folder that was removed.
    pub removed: Option<PathBuf>,
}

/// Lower-case hexadecimal SHA-256.
pub(crate) fn sha256_hex(parts: &[&[u8]]) -> String {
    let mut digest = Hash::new();
    for part in parts {
        digest.update(part);
    }
    digest.finalize().iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a String cannot fail");
        text
    })
}

fn line(last: &str, entry: &Entry) -> (String, String) {
    let text = serde_json::to_string(entry).expect("entries have no maps with other keys");
    let hash = sha256_hex(&[last.as_bytes(), text.as_bytes()]);
    (format!("{hash} {text}\n"), hash)
}

impl LedgerFile {
    /// A new ledger in a new file.
    ///
    /// # Errors
    /// If there is a file already, or none can be made.
    pub fn create<R: Relation>(
        path: &Path,
        dataset: &str,
        relation: R,
        limit: Budget,
        id: &str,
        disk: &dyn Disk,
    ) -> Result<Self, Error> {
        let relation = serde_json::to_value(relation).expect("a relation is a name");
        let (ledger, dataset) = (id.to_owned(), dataset.to_owned());
        let entry = Entry::New { format: FORMAT, ledger, dataset, relation, limit };
        let failed = || Error::io("create the ledger", path);
        let mut file = disk.create_file(path).map_err(failed())?;
        let mut write = || {
            disk.write(&mut file, line("", &entry).0.as_bytes())?;
            disk.sync(&file)?;
            sync_folder(disk, folder_of(path))
        };
        if let Err(error) = write() {
            // Half a ledger would only be in the way of the next try.
            let _ = disk.remove_file(path);
            return Err(failed()(error));
        }
        Ok(Self { path: path.to_path_buf() })
    }

    /// A ledger that is there.
    pub fn at(path: &Path) -> Self {
        Self { path: path.to_path_buf() }
    }

    /// Reads all of it, also where nobody may write.
    ///
    /// # Errors
    /// If it cannot be read, or a line does not follow from the one before it.
    pub fn read(&self) -> Result<Book, Error> {
        self.open(|| {
            let file = File::open(&self.path)?;
            file.lock_shared()?;
            Ok(file)
        })
        .map(|(_, book)| book)
    }

    /// As [`read`](Self::read), for whoever is about to write: if that cannot be, it is found out now.
    pub(crate) fn read_to_write(&self) -> Result<Book, Error> {
        self.locked(|_, book| Ok(book))
    }

    pub(crate) fn locked<T>(
        &self,
        work: impl FnOnce(File, Book) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let (file, book) = self.open(|| {
            let file = OpenOptions::new().read(true).append(true).open(&self.path)?;
            file.lock()?;
            Ok(file)
        })?;
        work(file, book)
    }

    fn open(&self, locked: impl FnOnce() -> io::Result<File>) -> Result<(File, Book), Error> {
        let read = || {
            let (mut file, mut bytes) = (locked()?, Vec::new());
            file.read_to_end(&mut bytes)?;
            Ok((file, bytes))
        };
        let (file, bytes) = read().map_err(Error::io("open the ledger", &self.path))?;
        Ok((file, Book::parse(&self.path, &bytes)?))
    }

    /// Writes that a release is about to be drawn, if it still fits. When this is back without an error, it is spent.
    ///
    /// # Errors
    /// Those of [`Book::fits`], and of the disk; then nothing may be drawn.
    pub fn intend<R: Relation>(
        &self,
        receipt: &Receipt<R>,
        intent: impl FnOnce(Value) -> Entry,
        disk: &dyn Disk,
    ) -> Result<(), Error> {
        self.locked(|mut file, mut book| {
            book.fits(receipt)?;
            let receipt = serde_json::to_value(receipt).expect("a receipt has plain fields");
            let entry = intent(receipt);
            if let Entry::Intent { out, .. } = &entry {
                book.place_is_free(out)?;
            }
            book.append(&mut file, entry, disk)
        })
    }

    /// Writes what became of a release.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn conclude(&self, entry: Entry, disk: &dyn Disk) -> Result<(), Error> {
        self.locked(|mut file, mut book| book.append(&mut file, entry, disk))
    }

    /// Finds what processes that died have left behind, and says in the ledger what became of their releases. All stay spent.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn recover(&self, disk: &dyn Disk) -> Result<Vec<Recovered>, Error> {
        let mut done = Vec::new();
        for (release, out, part) in self.read()?.open_releases() {
            let out = PathBuf::from(out);
            if in_use(Path::new(&part)) || in_use(&out) {
                done.push(Recovered { release, out, state: State::Open, removed: None });
                continue;
            }
            let part = PathBuf::from(part);
            let removed = remove_part(&part, disk)?.then_some(part);
            let (state, entry) = if holds(&out, &release) {
                (State::Done, Entry::Outcome { release: release.clone() })
            } else {
                (State::Lost, Entry::Lost { release: release.clone() })
            };
            self.conclude(entry, disk)?;
            done.push(Recovered { release, out, state, removed });
        }
        // Places that a process took and died before its intent: nothing was drawn for them.
        for out in self.read()?.places() {
            remove_empty(&out, disk)?;
        }
        Ok(done)
    }
}

impl Book {
    fn parse(path: &Path, bytes: &[u8]) -> Result<Self, Error> {
        let refuse = |reason: String| Error::Ledger { path: path.to_path_buf(), reason };
        let (mut entries, mut last, mut len) = (Vec::new(), String::new(), 0_u64);
        for (bytes, number) in bytes.split_inclusive(|byte| *byte == b'\n').zip(1_u64..) {
            let Some(bytes) = bytes.strip_suffix(b"\n") else { break };
            let broken = || {
                refuse(format!(
                    "line {number} does not follow from those before it: the file was changed or damaged"
                ))
            };
            let text = std::str::from_utf8(bytes).map_err(|_| broken())?;
            let (hash, text) = text.split_once(' ').ok_or_else(broken)?;
            if sha256_hex(&[last.as_bytes(), text.as_bytes()]) != hash {
                return Err(broken());
            }
            let entry = serde_json::from_str(text)
                .map_err(|error| refuse(format!("line {number} is of another version: {error}")))?;
            entries.push(entry);
            hash.clone_into(&mut last);
            len += bytes.len() as u64 + 1;
        }
        match entries.first() {
            Some(Entry::New { format: FORMAT, .. }) => {}
            Some(Entry::New { format, .. }) => {
                return Err(refuse(format!(
                    "it is of format {format}, this program knows {FORMAT}"
                )));
            }
            _ => {
                return Err(refuse(
                    "it has no first line: it is no ledger, or was never finished".to_owned(),
                ));
            }
        }
        Ok(Self { path: path.to_path_buf(), entries, last, len })
    }

    /// One line more, on the disk; or the file as it was, as far as the disk lets us.
    pub(crate) fn append(
        &mut self,
        file: &mut File,
        entry: Entry,
        disk: &dyn Disk,
    ) -> Result<(), Error> {
        self.append_all(file, vec![entry], disk)
    }

    /// Several in one piece: all are there, or none.
    pub(crate) fn append_all(
        &mut self,
        file: &mut File,
        entries: Vec<Entry>,
        disk: &dyn Disk,
    ) -> Result<(), Error> {
        let (mut lines, mut last) = (String::new(), self.last.clone());
        for entry in &entries {
            let (line, hash) = line(&last, entry);
            lines.push_str(&line);
            last = hash;
        }
        let there = file.metadata().map_err(Error::io("write the ledger", &self.path))?.len();
        let mut write = || {
            if there > self.len {
                disk.cut(file, self.len)?;
            }
            disk.write(file, lines.as_bytes())?;
            disk.sync(file)
        };
        if let Err(error) = write() {
            // What cannot be taken back counts as spent, or is written over by the next one.
            let _ = disk.cut(file, self.len);
            return Err(Error::io("write the ledger", &self.path)(error));
        }
        self.entries.extend(entries);
        self.last = last;
        self.len += lines.len() as u64;
        Ok(())
    }

    /// The lines, oldest first.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The random name of the ledger.
    pub fn id(&self) -> &str {
        match self.entries.first() {
            Some(Entry::New { ledger, .. }) => ledger,
            _ => "",
        }
    }

    /// The account, if it is one under `R`.
    ///
    /// # Errors
    /// If the ledger is of another relation, or holds more than its limit.
    pub fn account<R: Relation>(&self) -> Result<Ledger<R>, Error> {
        let Some(Entry::New { relation, limit, .. }) = self.entries.first() else {
            unreachable!("a book begins with a new ledger");
        };
        let receipt = |entry: &Entry| match entry {
            Entry::Intent { receipt, .. } | Entry::Session { receipt, .. } => Some(receipt.clone()),
            _ => None,
        };
        let receipts: Vec<Value> = self.entries.iter().filter_map(receipt).collect();
        let whole = json!({ "relation": relation, "limit": limit, "entries": receipts });
        serde_json::from_value(whole).map_err(|error| {
            let path = self.path.clone();
            Error::Ledger {
                path,
                reason: format!("{error}; a release and its ledger must be of one relation"),
            }
        })
    }

    /// Of whatever relation it is.
    fn relation_name(&self) -> String {
        match self.entries.first() {
            Some(Entry::New { relation: Value::String(name), .. }) => name.clone(),
            Some(Entry::New { relation, .. }) => {
                relation.as_object().and_then(|of| of.keys().next()).cloned().unwrap_or_default()
            }
            _ => String::new(),
        }
    }

    /// Whether a release still fits.
    ///
    /// # Errors
    /// If it does not, with what is spent; or if the ledger is of another relation.
    pub fn fits<R: Relation>(&self, receipt: &Receipt<R>) -> Result<(), Error> {
        let refuse = |reason: String| Error::Ledger { path: self.path.clone(), reason };
        let (ledger, release) = (self.relation_name(), receipt.relation().name());
        if ledger != release {
            return Err(refuse(format!(
                "it is under {ledger}, the release under {release}; a release and its ledger must be of one relation"
            )));
        }
        self.account::<R>()?.spend(receipt).map_err(|error| refuse(error.to_string()))
    }

    /// What became of each release, oldest first: its name, its kind, its place, its state.
    fn states(&self) -> Vec<(&str, &str, &str, State)> {
        let mut ends = BTreeMap::new();
        for entry in &self.entries {
            match entry {
                Entry::Outcome { release } => ends.insert(release.as_str(), State::Done),
                Entry::Lost { release } => ends.insert(release.as_str(), State::Lost),
                _ => None,
            };
        }
        let mut states = Vec::new();
        for entry in &self.entries {
            if let Entry::Intent { release, family, out, .. } = entry {
                let state = ends.get(release.as_str()).copied().unwrap_or(State::Open);
                states.push((release.as_str(), family.as_str(), out.as_str(), state));
            }
        }
        states
    }

    /// Where releases were to go.
    fn places(&self) -> Vec<PathBuf> {
        let place = |entry: &Entry| match entry {
            Entry::Intent { out, .. } => Some(PathBuf::from(out)),
            _ => None,
        };
        let mut places: Vec<PathBuf> = self.entries.iter().filter_map(place).collect();
        // One of each folder is enough to find what is beside it.
        places.sort_by(|a, b| a.parent().cmp(&b.parent()));
        places.dedup_by(|a, b| a.parent() == b.parent());
        places
    }

    /// Release, place and unfinished place of those without an outcome.
    fn open_releases(&self) -> Vec<(String, String, String)> {
        let open: Vec<&str> = self
            .states()
            .into_iter()
            .filter_map(|(release, .., state)| (state == State::Open).then_some(release))
            .collect();
        let found = |entry: &Entry| match entry {
            Entry::Intent { release, out, part, .. } if open.contains(&release.as_str()) => {
                Some((release.clone(), out.clone(), part.clone()))
            }
            _ => None,
        };
        self.entries.iter().filter_map(found).collect()
    }

    /// Whether a release can come to this place: of several that are made for it at once the first one is paid for, and no other.
    fn place_is_free(&self, wanted: &str) -> Result<(), Error> {
        empty_or_new(Path::new(wanted))?;
        let writes = |(_, out, part): &(String, String, String)| {
            out == wanted && (in_use(Path::new(part)) || in_use(Path::new(out)))
        };
        if self.open_releases().iter().any(writes) {
            let reason =
                format!("another release is being written to {wanted}: choose another --out");
            return Err(Error::Ledger { path: self.path.clone(), reason });
        }
        Ok(())
    }

    /// How many releases, and steps of sessions, have no outcome and are not being written.
    pub fn unfinished(&self) -> usize {
        let open = self.open_releases();
        let sessions = self.open_sessions().filter(|out| !in_use(out)).count();
        let dead = |(_, out, part): &&(String, String, String)| {
            !in_use(Path::new(part)) && !in_use(Path::new(out))
        };
        open.iter().filter(dead).count() + sessions
    }

    /// The plan's digest in the line of a release.
    pub fn plan_of(&self, wanted: &str) -> Option<(&str, &Value)> {
        self.entries.iter().find_map(|entry| match entry {
            Entry::Intent { release: name, plan, receipt, .. }
            | Entry::Session { session: name, plan, receipt, .. }
                if name == wanted =>
            {
                Some((plan.as_str(), receipt))
            }
            _ => None,
        })
    }

    /// What is spent, what is left and what became of every release, in words.
    ///
    /// # Errors
    /// Those of [`account`](Self::account).
    pub fn show(&self) -> Result<String, Error> {
        let Some(Entry::New { dataset, relation, limit, ledger, .. }) = self.entries.first() else {
            unreachable!("a book begins with a new ledger");
        };
        let name = self.relation_name();
        let spent = match name.as_str() {
            "within" => spent(&self.account::<Within>()?),
            "add-remove" => spent(&self.account::<AddRemove>()?),
            "add-only" => spent(&self.account::<AddOnly>()?),
            "replace-one" => spent(&self.account::<ReplaceOne>()?),
            "member-of-group" => spent(&self.account::<MemberOfGroup>()?),
            other => {
                let (path, reason) = (self.path.clone(), format!("it is of relation `{other}`"));
                return Err(Error::Ledger { path, reason });
            }
        };
        let mut text = format!(
            "{}, ledger {ledger}, under {relation}\nspent: {spent} of epsilon {} at delta {}\n",
            shown(dataset),
            limit.epsilon(),
            limit.delta(),
            relation = match relation["within"]["rho"].as_f64() {
                Some(rho) => {
                    format!(
                        "within {} metres, or units of the columns of clusters",
                        plain_number(rho)
                    )
                }
                None => name,
            },
        );
        let states = self.states();
        for (number, (_, family, out, state)) in states.iter().enumerate() {
            let state = match state {
                State::Done => "in its place",
                State::Lost => "lost, and spent",
                State::Open => "no outcome yet, and spent",
            };
            let _ = writeln!(text, "{:4}  {family:10} {state}: {out}", number + 1);
        }
        for (number, session) in self.sessions().enumerate() {
            let _ =
                writeln!(text, "{:4}  {}", states.len() + number + 1, self.session_shown(session));
        }
        let open = states.iter().filter(|state| state.3 == State::Open).count();
        let open = open + self.open_sessions().count();
        if open > 0 {
            let _ = writeln!(
                text,
                "{open} without an outcome: if nothing is running, `quietus ledger recover` says what became of them"
            );
        }
        Ok(text)
    }
}

fn spent<R: Relation>(ledger: &Ledger<R>) -> String {
    ledger
        .spent()
        .map_or("more than any epsilon".to_owned(), |epsilon| format!("epsilon {epsilon}"))
}

//! Releases from files that do not fit into memory: one reading of the file for each pass, and a release that goes on when it was stopped.
//!
//! What a pass asks of the rows is a table of integers ([`dp_cluster::passes`]). The file is read anew for each; no rows are kept. The
//! release has the bytes of that from memory with the same draws.
//!
//! # What happens when a run dies
//! With a ledger, a run is a session of leases as those of [`items`](crate::items): the passes are its steps, and they are spent together
//! before the first draw. After each pass what it goes on from is on the disk, in a private folder beside that of the release, and its hash
//! in the ledger, before the next question, which follows from what was drawn, is put to anybody. A run that dies before has shown nothing of that
//! pass, which is drawn again; whoever goes on does so from the newest state, of which no copy can go on as well. After the last pass the
//! state has the files of the release. Without a ledger nothing is kept, and a run that died begins anew, and is spent anew.

use crate::disk::Disk;
use crate::error::Error;
use crate::folder::{Fill, RELEASE, holds, part_of, remove_part};
use crate::lease::{Standing, Wanted};
use crate::ledger::{Book, Entry, LedgerFile, sha256_hex};
use crate::order::{FillOf, Named, Order, Target, random_name, write_json};
use crate::run::Said;
use crate::session::{Found, STATE, SessionFolder, damaged, found};
use crate::stop::{Gate, Phase};
use dp_accounting::{Receipt, Relation};
use dp_cluster::PointsView;
use dp_cluster::passes::{Asked, ByPasses, Passes, Question, Table, TableError, Tally};
use dp_mechanism::{Algorithm, Source};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

mod sql;

pub(crate) use dp_cluster::passes::sql_double;
pub(crate) use sql::{Columns, explain, headed, name, quoted, read, refuse_person, relation};

/// Where the draws of a pass come from: it is given the number of the pass, and lets it draw.
pub type PassDraws<'a> = dyn FnMut(u32, &mut dyn FnMut(&mut dyn Source)) + 'a;

/// Is told the number of a pass from 0, and what it asks, before the file is read for it. Both are public.
pub type PassTold<'a> = dyn FnMut(u32, &str) + 'a;

/// Reads all records once, in the same order each time.
pub(crate) type Scan<'a> =
    dyn FnMut(&mut dyn FnMut(&[f64]) -> Result<(), Error>) -> Result<(), Error> + 'a;

/// A release that is to be made.
pub(crate) struct Job<'a, R: Relation, P> {
    pub(crate) family: &'static str,
    pub(crate) target: &'a Target,
    pub(crate) receipt: Receipt<R>,
    pub(crate) plan: &'a P,
    pub(crate) resume: bool,
    /// Where the table of one pass is, if somebody else counts.
    pub(crate) table: Option<&'a Path>,
    pub(crate) gate: &'a Gate,
    pub(crate) disk: &'a dyn Disk,
}

/// Of the name of a release's folder, that of the folder that it goes on from.
const STATE_OF: &str = ".PRIVATE-state";

/// What a release goes on from. As confidential as the data.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    session: String,
    generation: u64,
    lease: String,
    /// Random and in no other place: without it, the hash in the ledger would tell whoever guesses a state whether it is right.
    salt: String,
    /// SHA-256 of the plan.
    plan: String,
    /// Of all records in their order; of fixed length, as all here that is private.
    checksum: String,
    /// As bytes, in hexadecimal.
    passes: String,
    /// Names and contents, when all is drawn.
    files: Option<Vec<(String, String)>>,
}

/// Where a run keeps what it goes on from, and how far it is.
struct Held<'a> {
    folder: SessionFolder<'a>,
    ledger: LedgerFile,
    /// Of a run that goes on.
    named: Option<Named>,
    standing: Standing,
    state: Option<State>,
}

/// The folder that a release goes on from.
fn state_of(out: &Path) -> Result<PathBuf, Error> {
    let path = std::path::absolute(out).map_err(Error::io("find", out))?;
    let path: PathBuf = path.components().collect();
    let Some(name) = path.file_name() else {
        return setting("--out", &path.display().to_string(), "a folder with a name");
    };
    let mut name = name.to_owned();
    name.push(STATE_OF);
    Ok(path.with_file_name(name))
}

/// The folder of the release that goes on from there.
pub(crate) fn out_of(state: &Path) -> PathBuf {
    let name = state.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    state.with_file_name(name.strip_suffix(STATE_OF).unwrap_or(name))
}

pub(crate) fn setting<T>(name: &'static str, got: &str, want: &'static str) -> Result<T, Error> {
    Err(Error::Setting { name, got: got.to_owned(), want })
}

/// What the ledger has of a place where there is nothing to go on with: what it has is spent.
fn nothing_to_go_on_with(book: &Book, state: &Path) -> Error {
    let out = out_of(state);
    if out.join(RELEASE).exists() {
        return Error::Taken { path: out, release: true };
    }
    let here = |session: &&str| {
        !book.goes_on(session) && book.place(session).is_some_and(|place| Path::new(place) == state)
    };
    match book.sessions().filter(here).last() {
        Some(session) if book.is_done(session) => {
            let path = out;
            let reason = "the ledger has a release in this place, which is spent, and it is not there any more".to_owned();
            Error::NotVerified { path, reason }
        }
        Some(_) => damaged(
            state,
            "the ledger has a release that was begun here and is spent, and what it goes on from is not there: put it back",
        ),
        None => Error::Setting {
            name: "--resume",
            got: "nothing to go on with".to_owned(),
            want: "left out: no release has been begun here, and nothing of one is spent",
        },
    }
}

impl<'a> Held<'a> {
    /// `None` without a ledger, which alone could refuse to go on from an old or copied state.
    fn of<R: Relation>(
        target: &Target,
        (resume, by_hand): (bool, Option<&Path>),
        receipt: &Receipt<R>,
        of: (&str, &str),
        disk: &'a dyn Disk,
    ) -> Result<Option<Self>, Error> {
        let Some(ledger) = &target.ledger else {
            if resume || by_hand.is_some() {
                let want =
                    "given: without one nobody could refuse to go on from an old or copied state";
                return setting("--ledger", "nothing", want);
            }
            return Ok(None);
        };
        let ledger = LedgerFile::at(ledger);
        if !resume {
            ledger.read()?.fits(receipt)?;
        }
        Self::open(&target.out, ledger, resume, of, disk).map(Some)
    }

    /// Finds out whether there is something to go on from, and whether it is the newest.
    fn open(
        out: &Path,
        ledger: LedgerFile,
        resume: bool,
        (family, digest): (&str, &str),
        disk: &'a dyn Disk,
    ) -> Result<Self, Error> {
        let path = state_of(out)?;
        let book = ledger.read_to_write()?;
        let nothing = || nothing_to_go_on_with(&book, &path);
        if resume && !path.is_dir() {
            return Err(nothing());
        }
        let folder = SessionFolder::open(&path, disk)?;
        let bytes = folder.read(STATE)?;
        let named = folder.named()?;
        if resume && named.is_none() {
            return Err(nothing());
        }
        // Until the ledger knows of it nothing is spent: it has no more than a name, and begins.
        let begun =
            named.filter(|named| bytes.is_some() || book.standing(&named.release).is_some());
        let Some(named) = begun else {
            folder.close_to_others()?;
            let (named, standing, state) = (None, Standing::default(), None);
            return Ok(Self { folder, ledger, named, standing, state });
        };
        let refuse = |reason: &str| damaged(&path, reason);
        if !resume {
            return Err(refuse(
                "it holds a release that was begun and is spent: give --resume to go on with it",
            ));
        }
        if named.ledger.as_deref() != Some(book.id()) {
            return Err(refuse("its release is of another ledger"));
        }
        if named.family != family || named.plan != digest {
            return Err(refuse("its release has another plan: give the same flags as before"));
        }
        if holds(out, &named.release) {
            // It is in its place, and its run died while it removed what it came from.
            let (named, standing, state) = (Some(named), Standing::default(), None);
            return Ok(Self { folder, ledger, named, standing, state });
        }
        let (here, state) = match bytes {
            None => (Found::default(), None),
            Some(bytes) => {
                let path = path.join(STATE);
                let here = found(&path, &named.release, &bytes)?;
                let state: State = serde_json::from_slice(&bytes)
                    .map_err(|error| damaged(&path, &error.to_string()))?;
                if state.plan != named.plan {
                    return Err(refuse("its state is of another plan"));
                }
                (here, Some(state))
            }
        };
        folder.settle()?;
        let standing =
            ledger.settle(&named.release, Some(folder.path()), disk)?.unwrap_or_default();
        if (here.generation, &here.hash) != (standing.generation, &standing.state) {
            return Err(refuse(&format!(
                "it has the state after pass {} of the release, or a copy that was changed, and the ledger has pass {}: an old or copied state cannot go on",
                here.generation, standing.generation
            )));
        }
        Ok(Self { folder, ledger, named: Some(named), standing, state })
    }

    /// Writes into the ledger that a pass is about to be drawn; with the first one, that the release is spent.
    fn lease<R: Relation>(
        &self,
        named: &Named,
        lease: &str,
        receipt: &Receipt<R>,
        disk: &dyn Disk,
    ) -> Result<(), Error> {
        if self.standing == Standing::default() {
            let mut text = Vec::new();
            write_json(&mut text, named).map_err(|error| Error::library("the state", &error))?;
            self.folder.keep(RELEASE, &text)?;
        }
        let path = self.folder.path();
        let Some(out) = path.to_str() else {
            let want = "a name in Unicode, as the ledger holds it";
            return setting("--out", &path.display().to_string(), want);
        };
        let Named { release, family, plan, .. } = named;
        let from = &self.standing;
        let wanted = Wanted { session: release, family, plan, from, lease, out };
        self.ledger.lease(&wanted, receipt, disk)
    }

    /// Keeps what a pass has drawn, and then lets the ledger know which state is the newest.
    fn keep(&mut self, state: State, disk: &dyn Disk) -> Result<(), Error> {
        let text =
            serde_json::to_vec(&state).map_err(|error| Error::library("the state", &error))?;
        self.folder.keep(STATE, &text)?;
        let (session, path) = (&state.session, self.folder.path());
        let now = self.ledger.settle(session, Some(path), disk)?.unwrap_or_default();
        if (now.generation, &now.state) != (state.generation, &sha256_hex(&[&text])) {
            return Err(damaged(path, "somebody else has gone on with the release"));
        }
        self.standing = now;
        self.state = Some(state);
        Ok(())
    }
}

/// Records at once.
const PART: usize = 4096;

/// A table that is being counted.
struct Counting {
    tally: Tally<Question>,
    dim: usize,
    /// Records at once.
    at_once: usize,
    part: Vec<f64>,
    checksum: u64,
}

impl Counting {
    fn new(asked: &Asked<Question>, at_once: usize) -> Result<Self, TableError> {
        let (tally, dim) = (asked.tally()?, asked.question().dim());
        Ok(Self { tally, dim, at_once, part: Vec::with_capacity(at_once * dim), checksum: 0 })
    }

    fn add(&mut self, record: &[f64]) -> Result<(), Error> {
        self.checksum = record.iter().fold(self.checksum, |sum, x| {
            // An odd factor loses nothing; turning brings high bits, where differences gather, back to where they count.
            (sum ^ x.to_bits()).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
        });
        self.part.extend_from_slice(record);
        if self.part.len() >= self.at_once * self.dim { self.count() } else { Ok(()) }
    }

    fn count(&mut self) -> Result<(), Error> {
        let refuse = |error: TableError| Error::library("the records", &error);
        let part = PointsView::new(&self.part, self.dim);
        let part = part.map_err(|error| Error::library("the records", &error))?;
        self.tally.add(part).map_err(refuse)?;
        self.part.clear();
        Ok(())
    }
}

fn counted(asked: &Asked<Question>, scan: &mut Scan<'_>) -> Result<(Table, String), Error> {
    let counting = Counting::new(asked, PART);
    let mut counting = counting.map_err(|error| Error::library("the plan", &error))?;
    scan(&mut |record| counting.add(record))?;
    counting.count()?;
    Ok((counting.tally.into_table(), checksum_text(counting.checksum)))
}

/// Of fixed length, whatever the records are.
fn checksum_text(checksum: u64) -> String {
    format!("{checksum:016x}")
}

/// Where a command has come to.
pub(crate) struct Ended {
    aside: String,
    /// Whether the release is there.
    done: bool,
}

impl Ended {
    /// With the words that the release says of itself.
    pub(crate) fn said(self, text: String) -> Said {
        let text = if self.done { text } else { String::new() };
        Said { text, aside: self.aside, unproved: false }
    }
}

/// Of records that somebody else has counted, of whom nothing is known but that.
const NO_CHECKSUM: &str = "by hand: no rows";

/// From a file to a folder, pass by pass; what the holder should know. `made` is what follows from what was drawn, `files` what is written
/// of it.
pub(crate) fn release<P, S: Serialize, T>(
    job: Job<'_, P::Relation, S>,
    mechanism: P,
    scan: &mut Scan<'_>,
    (draws, told): (&mut PassDraws<'_>, &mut PassTold<'_>),
    made: impl Fn(P::Output) -> T,
    files: &[(&'static str, FillOf<'_, T>)],
) -> Result<Ended, Error>
where
    P: ByPasses<Question = Question> + Algorithm,
{
    let Job { family, target, receipt, plan, resume, table: by_hand, gate, disk } = job;
    let text =
        serde_json::to_string_pretty(plan).map_err(|error| Error::library("the plan", &error))?;
    let digest = sha256_hex(&[text.as_bytes()]);
    let held = Held::of(target, (resume, by_hand), &receipt, (family, &digest), disk);
    let mut held = held?;
    let going_on = held.as_ref().and_then(|held| held.named.clone());
    let written = format!("Written to {}; only you can read it.\n", target.out.display());
    if let (Some(held), Some(named)) = (&held, &going_on)
        && holds(&target.out, &named.release)
    {
        ended(held, &named.release, disk).map_err(|cause| Error::Released {
            out: target.out.clone(),
            ledger: true,
            cause: Box::new(cause),
        })?;
        return Ok(Ended { aside: written, done: true });
    }
    let made_folders = held.as_ref().map_or(&[][..], |held| held.folder.made()).to_vec();
    let name = going_on.as_ref().map(|named| named.release.as_str());
    let mut order =
        Order::of(name, &made_folders, family, target, receipt.clone(), plan, gate, disk)?;
    let mut aside = order.notes().iter().fold(String::new(), |text, note| text + note + "\n");
    let named = order.named().clone();

    let kept = held.is_some();
    let mut spent = going_on.is_some();
    let passes = passes_of(mechanism, held.as_ref().and_then(|held| held.state.as_ref()));
    let mut passes = passes.map_err(|error| Error::library("the state", &error))?;
    let mut checksum = held.as_ref().and_then(|held| Some(held.state.as_ref()?.checksum.clone()));
    let mut released = held.as_mut().and_then(|held| held.state.as_mut()?.files.take());
    while released.is_none() {
        let mut pass = || {
            let number = passes.asked().pass();
            told(number, passes.asked().question().name());
            let (table, sum) = match by_hand {
                None => counted(passes.asked(), scan)?,
                Some(path) => (sql::read(path, passes.asked())?.0, NO_CHECKSUM.to_owned()),
            };
            if checksum.as_ref().is_some_and(|before| *before != sum) {
                return Err(Error::Library { what: "the file", reason: CHANGED.to_owned() });
            }
            passes.check(&table).map_err(|error| Error::library("the rows", &error))?;
            let (lease, salt) = (random_name()?, random_name()?);
            let phase = if kept { Phase::Kept } else { Phase::Drawn };
            gate.undisturbed(phase, || {
                if let Some(held) = &held {
                    held.lease(&named, &lease, &receipt, disk)?;
                }
                Ok(((), None))
            })?;
            spent = true;
            let mut drawn = Ok(None);
            draws(number, &mut |source| drawn = passes.replay(&table, source));
            let drawn = drawn.map_err(|error| Error::library("the rows", &error))?;
            let contents = drawn.map(|output| contents(&made(output), files)).transpose()?;
            gate.undisturbed(phase, || {
                if let Some(held) = &mut held {
                    let state = State {
                        session: named.release.clone(),
                        generation: held.standing.generation + 1,
                        lease,
                        salt,
                        plan: named.plan.clone(),
                        checksum: sum.clone(),
                        passes: hex(&passes.to_bytes()),
                        files: contents.clone(),
                    };
                    held.keep(state, disk)?;
                }
                Ok(((), None))
            })?;
            checksum = Some(sum);
            Ok(contents)
        };
        let ended = pass();
        released = ended.map_err(|error| if spent { stopped(error, kept) } else { error })?;
        if by_hand.is_some() {
            break;
        }
    }
    let Some(released) = released else {
        let _ = writeln!(
            aside,
            "Pass {} is answered; --explain-sql with the same flags asks the next one.",
            passes.asked().pass()
        );
        return Ok(Ended { aside, done: false });
    };
    gate.undisturbed(Phase::Written, || {
        Ok((write(&mut order, &released, disk, held.as_ref())?, None))
    })?;
    aside.push_str(&written);
    Ok(Ended { aside, done: true })
}

/// What stopped a release after its first draw.
fn stopped(error: Error, kept: bool) -> Error {
    let cause = Box::new(error);
    if kept { Error::Unfinished { cause } } else { Error::Lost { cause } }
}

/// Puts a release in its place; what it came from goes.
fn write<R: Relation>(
    order: &mut Order<'_, R>,
    files: &[(String, String)],
    disk: &dyn Disk,
    held: Option<&Held<'_>>,
) -> Result<(), Error> {
    let mut fills: Vec<(&str, Fill<'_>)> = Vec::new();
    for (name, content) in files {
        fills.push((name, Box::new(move |to| to.write_all(content.as_bytes()))));
    }
    order.write(fills).map_err(|error| stopped(error, held.is_some()))?;
    // From here on it is there.
    let settled = order.settle();
    let ended = settled
        .and_then(|()| held.map_or(Ok(()), |held| ended(held, &order.named().release, disk)));
    ended.map_err(|cause| order.released(cause))
}

/// Writes into the ledger that a release is in its place; what it came from goes.
fn ended(held: &Held<'_>, release: &str, disk: &dyn Disk) -> Result<(), Error> {
    conclude(&held.ledger, release, disk)?;
    held.folder.clear()
}

const CHANGED: &str =
    "its rows are not those of the first pass: a release is of one file; put that back";

/// Where a release begins, or goes on.
fn passes_of<P: ByPasses<Question = Question>>(
    mechanism: P,
    state: Option<&State>,
) -> Result<Passes<P>, TableError> {
    match state {
        None => Passes::new(mechanism),
        Some(state) => {
            let bytes = unhex(&state.passes).ok_or(TableError::Damaged)?;
            Passes::from_bytes(mechanism, &bytes)
        }
    }
}

fn contents<T>(
    made: &T,
    files: &[(&'static str, FillOf<'_, T>)],
) -> Result<Vec<(String, String)>, Error> {
    let content = |(name, fill): &(&'static str, FillOf<'_, T>)| {
        let mut bytes = Vec::new();
        fill(made, &mut bytes).map_err(|error| Error::library("the release", &error))?;
        let text =
            String::from_utf8(bytes).map_err(|error| Error::library("the release", &error))?;
        Ok(((*name).to_owned(), text))
    };
    files.iter().map(content).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a String cannot fail");
        text
    })
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    let byte = |[high, low]: &[u8; 2]| u8::try_from(digit(*high)? << 4 | digit(*low)?).ok();
    pairs.iter().map(byte).collect()
}

/// Writes into the ledger that a release is in its place, once.
fn conclude(ledger: &LedgerFile, release: &str, disk: &dyn Disk) -> Result<(), Error> {
    if ledger.read()?.is_done(release) {
        return Ok(());
    }
    ledger.conclude(Entry::Outcome { release: release.to_owned() }, disk)
}

/// Finds out what a run that died has left, and writes it down; `None` if there is nothing to say.
///
/// # Errors
/// If somebody is at work on it, or its state is not where the ledger says.
pub(crate) fn recover(
    session: &str,
    state: &Path,
    ledger: &LedgerFile,
    disk: &dyn Disk,
) -> Result<Option<String>, Error> {
    let done = ledger.read()?.is_done(session);
    let out = out_of(state);
    let in_place = format!("is in its place, {}", out.display());
    if !state.is_dir() {
        if done {
            return Ok(None);
        }
        if holds(&out, session) {
            conclude(ledger, session, disk)?;
            return Ok(Some(in_place));
        }
        return Err(damaged(state, "what it goes on from is not there: put it back"));
    }
    if done && !holds(state, session) {
        // Of another release in the same place; or it holds nothing, and goes.
        let _ = disk.remove_empty(state);
        return Ok(None);
    }
    let folder = SessionFolder::open(state, disk)?;
    if folder.named()?.is_none_or(|named| named.release != session) {
        return Err(damaged(state, "it holds another release"));
    }
    remove_part(&part_of(&out, session)?, disk)?;
    if done || holds(&out, session) {
        conclude(ledger, session, disk)?;
        folder.clear()?;
        return Ok(Some(in_place));
    }
    let standing = ledger.settle(session, Some(folder.path()), disk)?.unwrap_or_default();
    let (passes, out) = (standing.generation, out.display());
    Ok(Some(format!(
        "for {out} is not finished: {passes} passes are answered, and its command with --resume goes on"
    )))
}

#[cfg(test)]
mod tests;

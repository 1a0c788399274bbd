//! One release from its receipt to its folder, such that whatever dies, nothing is drawn that the ledger does not count.
//!
//! 1. A place is taken and the ledger is asked whether the receipt still fits, before any private file is opened.
//! 2. The data are read.
//! 3. The ledger gets the intent. When that is on the disk the release is spent.
//! 4. It is drawn.
//! 5. Receipt, then all else, is written into a folder that only the owner can enter, and is on the disk before that gets its name.
//! 6. The ledger gets the outcome.

use crate::disk::Disk;
use crate::error::Error;
use crate::folder::{Fill, RELEASE, Reserved, empty_or_new, left_over, part_of, remove_part};
use crate::ledger::{Entry, LedgerFile, sha256_hex};
use crate::run::large_delta;
use crate::stop::{Gate, Phase};
use dp_accounting::{Receipt, Relation};
use dp_mechanism::Mechanism;
use rand::Rng;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The receipt of a release in a form that programs read.
pub(crate) const RECEIPT: &str = "receipt.json";
/// What was asked for; a receipt follows from it.
pub(crate) const PLAN: &str = "plan.json";

/// Which release a folder holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Named {
    /// Random.
    pub release: String,
    /// Of which kind.
    pub family: String,
    /// The name of its ledger; `None` if it was made without.
    pub ledger: Option<String>,
    /// SHA-256 of its plan.
    pub plan: String,
}

/// Writes the content of one file about what was drawn.
pub type FillOf<'a, T> = Box<dyn Fn(&T, &mut dyn Write) -> io::Result<()> + 'a>;

/// Draws, whatever the plan is: its release, or in a claim its replay.
pub trait Draw {
    /// Of this plan, which has checked the data.
    fn draw<M: Mechanism<Error: std::fmt::Debug>>(self, plan: &M, data: M::Data<'_>) -> M::Output;
}

/// What every release says about where it goes.
#[derive(Clone, Debug)]
pub struct Target {
    /// The folder of the release.
    pub out: PathBuf,
    /// The ledger that pays; `None` if the holder has said that there is none.
    pub ledger: Option<PathBuf>,
}

/// A release that may be made.
#[derive(Debug)]
pub struct Order<'a, R: Relation> {
    gate: &'a Gate,
    disk: &'a dyn Disk,
    reserved: Reserved<'a>,
    ledger: Option<LedgerFile>,
    named: Named,
    receipt: Receipt<R>,
    plan: String,
    notes: Vec<String>,
}

/// A name that no other release has.
///
/// # Errors
/// If the operating system has no randomness.
pub fn random_name() -> Result<String, Error> {
    let mut rng = dp_mechanism::chacha_from_os()
        .map_err(|error| Error::library("system randomness", &error))?;
    Ok(format!("{:016x}{:016x}", rng.next_u64(), rng.next_u64()))
}

impl<'a, R: Relation> Order<'a, R> {
    /// Takes the place and asks the ledger; no private file is open yet.
    ///
    /// # Errors
    /// If there is no such place, or the ledger refuses.
    pub fn new(
        family: &str,
        target: &Target,
        receipt: Receipt<R>,
        plan: &impl Serialize,
        gate: &'a Gate,
        disk: &'a dyn Disk,
    ) -> Result<Self, Error> {
        Self::of(None, &[], family, target, receipt, plan, gate, disk)
    }

    /// The same of a release that has a name already: the ledger counts it, or its first draw will ask whether it does. What an earlier
    /// run has left is removed; what this one `made` for itself goes with a signal, if it is empty.
    #[expect(clippy::too_many_arguments, reason = "one more than a new one")]
    pub(crate) fn of(
        going_on: Option<&str>,
        made: &[PathBuf],
        family: &str,
        target: &Target,
        receipt: Receipt<R>,
        plan: &impl Serialize,
        gate: &'a Gate,
        disk: &'a dyn Disk,
    ) -> Result<Self, Error> {
        if !receipt.within_budget() {
            let reason = "its receipt is above its own budget; please report this".to_owned();
            return Err(Error::Library { what: "the plan", reason });
        }
        let release = match going_on {
            Some(release) => release.to_owned(),
            None => random_name()?,
        };
        let plan = serde_json::to_string_pretty(plan)
            .map_err(|error| Error::library("the plan", &error))?;
        let mut notes: Vec<String> =
            large_delta(receipt.budget().delta().get()).into_iter().collect();
        let ledger = target.ledger.as_deref().map(LedgerFile::at);
        let mut ledger_id = None;
        if let Some(ledger) = &ledger {
            let book = ledger.read_to_write()?;
            if going_on.is_none() {
                book.fits(&receipt)?;
            }
            ledger_id = Some(book.id().to_owned());
            let unfinished = book.unfinished();
            if unfinished > 0 {
                notes.push(format!("{unfinished} earlier release(s) of this ledger were never finished and count as spent; `quietus ledger recover` removes what they left"));
            }
        }
        if going_on.is_some() {
            remove_part(&part_of(&target.out, &release)?, disk)?;
        }
        let phase = if going_on.is_some() { Phase::Kept } else { Phase::Before };
        let reserved = gate.undisturbed(phase, || {
            let reserved = Reserved::new(&target.out, &release, disk)?.with_empty(made);
            let traces = reserved.traces().clone();
            Ok((reserved, Some(traces)))
        })?;
        let left = left_over(&target.out);
        if !left.is_empty() && ledger.is_none() {
            let names: Vec<_> = left.iter().map(|path| path.display().to_string()).collect();
            notes.push(format!("left over by releases that were never finished, to be counted as spent and removed: {}", names.join(", ")));
        }
        let (family, digest) = (family.to_owned(), sha256_hex(&[plan.as_bytes()]));
        let named = Named { release, family, ledger: ledger_id, plan: digest };
        Ok(Self { gate, disk, reserved, ledger, named, receipt, plan, notes })
    }

    /// What the holder should know about earlier releases.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Records, draws, writes, records.
    ///
    /// # Errors
    /// If the ledger refuses, nothing is drawn. If the disk does, nothing is released.
    pub fn carry_out<T>(
        mut self,
        draw: impl FnOnce() -> T,
        files: &[(&'static str, FillOf<'_, T>)],
    ) -> Result<T, Error> {
        self.gate.undisturbed(Phase::Drawn, || Ok((self.intend()?, None)))?;
        let drawn = draw();
        let (gate, disk) = (self.gate, self.disk);
        gate.undisturbed(Phase::Written, || {
            let drawn = &drawn;
            let mut contents: Vec<(&str, Fill<'_>)> = Vec::new();
            for (name, fill) in files {
                contents.push((name, Box::new(move |to| fill(drawn, to))));
            }
            self.write(contents).map_err(|cause| Error::Lost { cause: Box::new(cause) })?;
            self.conclude(disk).map_err(|cause| self.released(cause))?;
            Ok(((), None))
        })?;
        Ok(drawn)
    }

    /// What failed when the release was in its place.
    pub(crate) fn released(&self, cause: Error) -> Error {
        let (out, ledger) = (self.reserved.places().0.to_path_buf(), self.ledger.is_some());
        Error::Released { out, ledger, cause: Box::new(cause) }
    }

    /// Writes the folder, whole or not at all.
    pub(crate) fn write(&mut self, files: Vec<(&str, Fill<'_>)>) -> Result<(), Error> {
        let (receipt, named, plan) = (&self.receipt, &self.named, &self.plan);
        let mut contents: Vec<(&str, Fill<'_>)> = vec![
            (RECEIPT, Box::new(move |to| write_json(to, receipt))),
            (RELEASE, Box::new(move |to| write_json(to, named))),
            ("receipt.txt", Box::new(move |to| writeln!(to, "{receipt:#}"))),
            (PLAN, Box::new(move |to| to.write_all(plan.as_bytes()))),
        ];
        contents.extend(files);
        self.reserved.write(&contents)
    }

    /// Waits until its name is on the disk.
    pub(crate) fn settle(&self) -> Result<(), Error> {
        self.reserved.settle()
    }

    /// The same, and writes into the ledger that it is.
    fn conclude(&self, disk: &dyn Disk) -> Result<(), Error> {
        self.settle()?;
        let Some(ledger) = &self.ledger else { return Ok(()) };
        ledger.conclude(Entry::Outcome { release: self.named.release.clone() }, disk)
    }

    /// Which release it is.
    pub(crate) fn named(&self) -> &Named {
        &self.named
    }

    fn intend(&self) -> Result<(), Error> {
        let (out, part) = self.reserved.places();
        let Some(ledger) = &self.ledger else { return empty_or_new(out) };
        let text = |path: &Path| match path.to_str() {
            Some(text) => Ok(text.to_owned()),
            None => Err(Error::Setting {
                name: "--out",
                got: path.display().to_string(),
                want: "a name in Unicode, as the ledger holds it",
            }),
        };
        let (out, part) = (text(out)?, text(part)?);
        let Named { release, family, plan, .. } = self.named.clone();
        let intent = |receipt| Entry::Intent { release, family, out, part, plan, receipt };
        ledger.intend(&self.receipt, intent, self.disk)
    }
}

pub(crate) fn write_json(to: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *to, value)?;
    writeln!(to)
}

#[cfg(test)]
mod tests;

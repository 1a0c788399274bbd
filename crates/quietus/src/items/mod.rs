//! A log of users, items and times to the items that many users show, step after step.
//!
//! A session in a folder: each run releases the steps that have ended since the one before. What is spent is spent once for all of them. The ledger knows
//! which state of the session is the newest, and nobody goes on from another.
//!
//! # What happens when a run dies
//! The state that comes out of new steps is on the disk, and its hash in the ledger, before anything that is public is written, and what is public follows
//! from it. A run whose state is not there has shown nothing to anybody; its lease is withdrawn, and the next run draws these steps. One that dies later has
//! drawn them; the next run, or `quietus ledger recover`, writes what is missing. So nobody has read a step that could still be drawn from an older state.

mod args;
mod clock;
mod plan;
mod read;
mod report;

use crate::catalogue::Catalogue;
use crate::disk::Disk;
use crate::error::Error;
use crate::folder::RELEASE;
use crate::lease::{Standing, Wanted};
use crate::ledger::{LedgerFile, sha256_hex};
use crate::order::{Named, PLAN, RECEIPT, random_name, write_json};
use crate::run::{PRIVATE, Said, different_files, form, target};
use crate::search::{EPSILONS, plan_that_finds};
use crate::session::{Found, STATE, SessionFolder, damaged, found};
use crate::stop::{Gate, Phase};
use crate::table::{Form, Rows, Secrecy};
use dp_accounting::Budget;
use dp_mechanism::{Mechanism, Source};
use dp_stream::{Event, Monitor, MonitorState, Report};
use read::{Met, Users, read};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::path::Path;

pub use args::ItemsArgs;
pub use clock::{Clock, Said as SaidClock, Steps, seconds};
pub use plan::{ItemsPlan, ItemsSettings, Sizes};

/// The kind of release.
pub(crate) const FAMILY: &str = "items";

/// What a session goes on from. As confidential as the data.
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
    /// Of all steps so far: public, as the only part of a state.
    reports: Vec<Report>,
    /// Names in the order in which they came.
    users: Vec<Box<str>>,
    monitor: MonitorState,
}

/// Where the draws of a session come from: it is given the step, or nothing for the start and for users who are new, and lets it draw.
pub type Drawing<'a> = dyn FnMut(Option<u64>, &mut dyn FnMut(&mut dyn Source)) + 'a;

/// Checks all that is public.
///
/// # Errors
/// Names the setting and what was wanted.
pub fn items_plan(args: &ItemsArgs) -> Result<ItemsPlan, Error> {
    plan_at(args, args.loss.epsilon()?)
}

fn plan_at(args: &ItemsArgs, epsilon: f64) -> Result<ItemsPlan, Error> {
    different_files(
        &[
            ("--items-from", args.catalogue.items_from.as_deref()),
            ("--boundaries-from", args.boundaries_from.as_deref()),
        ],
        &[("--data", Some(&args.file.data))],
    )?;
    let items = Catalogue::said(&args.catalogue)?;
    let clock = clock_said(args)?;
    let budget = Budget::new(epsilon, args.delta)
        .map_err(|error| Error::library("--epsilon and --delta", &error))?;
    let sizes = match (args.find, args.reports_per_user) {
        (_, Some(reports_per_user)) => {
            Sizes::Given { reports_per_user, items_per_step: args.items_per_step }
        }
        (Some(users), None) => Sizes::Find { users, stay_for: args.stay_for },
        (None, None) => {
            let (name, got) = ("--find", "nothing".to_owned());
            return Err(Error::Setting { name, got, want: "given, or --reports-per-user" });
        }
    };
    let (items_per_user, within) = (args.items_per_user, args.within);
    let monitor = plan::monitor((&items, &clock), (items_per_user, within), sizes, budget)?;
    ItemsPlan::try_from(ItemsSettings {
        user: args.user.clone(),
        item: args.catalogue.item.clone(),
        time: args.time.clone(),
        items,
        clock,
        items_per_user,
        within,
        monitor,
    })
}

/// A time as it was said; whether it is a date.
fn said_time(name: &'static str, text: &str) -> Result<(i64, bool), Error> {
    let text = text.trim();
    let number = text.parse().ok().map(|time| (time, false));
    number.or_else(|| seconds(text).map(|time| (time, true))).ok_or_else(|| Error::Setting {
        name,
        got: format!("`{text}`"),
        want: "a whole number, or a date as 2024-01-01 or 2024-01-01T06:00",
    })
}

fn clock_said(args: &ItemsArgs) -> Result<Clock, Error> {
    if let (Some(from), Some(step), Some(count)) = (&args.from, &args.step, args.steps) {
        let (from, dates) = said_time("--from", from)?;
        let length = clock::length(step, dates)?;
        return SaidClock { dates, steps: Steps::Equal { from, length, count } }.try_into();
    }
    let listed = match &args.boundaries_from {
        None => args.boundaries.clone(),
        Some(path) => {
            let mut rows = Rows::open(path, Secrecy::Public, &Form::default())?;
            rows.choose(&["time"])?;
            let mut listed = Vec::new();
            while rows.advance()? {
                listed.push(rows.name(0)?.into_owned());
            }
            listed
        }
    };
    let times = listed.iter().map(|text| said_time("--boundaries", text));
    let times: Vec<(i64, bool)> = times.collect::<Result<_, _>>()?;
    let dates = times.first().is_some_and(|time| time.1);
    if times.iter().any(|time| time.1 != dates) {
        let (name, got) = ("--boundaries", "both".to_owned());
        return Err(Error::Setting { name, got, want: "either dates or whole numbers" });
    }
    let ends = times.into_iter().map(|time| time.0).collect();
    SaidClock { dates, steps: Steps::Between(ends) }.try_into()
}

/// How many steps have ended when the log is complete.
fn goal(args: &ItemsArgs, clock: &Clock) -> Result<u64, Error> {
    let wrong = |got| Error::Setting {
        name: "--until",
        got,
        want: "a time, of the kind of --from: until when the log is complete is public, and is not taken from it",
    };
    let text = args.until.as_deref().ok_or_else(|| wrong("nothing".to_owned()))?;
    match said_time("--until", text)? {
        (time, dates) if dates == clock.dates() => Ok(clock.ended(time)),
        _ => Err(wrong(format!("`{text}`"))),
    }
}

/// A session between two runs, in a folder that nobody else works on.
struct Session<'a> {
    folder: SessionFolder<'a>,
    plan: ItemsPlan,
    named: Named,
    standing: Standing,
    /// `None` before the first step.
    state: Option<State>,
}

impl<'a> Session<'a> {
    /// The one that is in the folder, or a new one.
    fn open(
        plan: ItemsPlan,
        out: &Path,
        ledger: &LedgerFile,
        disk: &'a dyn Disk,
    ) -> Result<Self, Error> {
        let text = serde_json::to_string_pretty(&plan)
            .map_err(|error| Error::library("the plan", &error))?;
        let digest = sha256_hex(&[text.as_bytes()]);
        let book = ledger.read_to_write()?;
        if !out.exists() {
            book.fits(&plan.receipt())?;
        }
        let folder = SessionFolder::open(out, disk)?;
        let named = match folder.named()? {
            Some(named) if named.family != FAMILY => {
                return Err(Error::Taken { path: folder.path().to_path_buf(), release: true });
            }
            Some(named) if named.ledger.as_deref() != Some(book.id()) => {
                return Err(damaged(folder.path(), "its session is of another ledger"));
            }
            // Flags may still be put right while there is nothing of the session but its name.
            Some(named)
                if named.plan != digest
                    && (book.standing(&named.release).is_some()
                        || folder.read(STATE)?.is_some()) =>
            {
                let reason = "its session has another plan, which is in its plan.json: give the same flags as before";
                return Err(damaged(folder.path(), reason));
            }
            Some(named) if named.plan == digest => named,
            _ => {
                book.fits(&plan.receipt())?;
                folder.close_to_others()?;
                let (family, ledger) = (FAMILY.to_owned(), Some(book.id().to_owned()));
                let named = Named { release: random_name()?, family, ledger, plan: digest };
                // The first one: whoever comes after somebody who died finds out what the folder is, and writes the others.
                folder.keep(RELEASE, &json(&named)?)?;
                named
            }
        };
        let receipt = plan.receipt();
        folder.keep(RECEIPT, &json(&receipt)?)?;
        folder.keep("receipt.txt", format!("{receipt:#}\n").as_bytes())?;
        folder.keep(PLAN, text.as_bytes())?;
        Self::standing(folder, plan, named, ledger, disk)
    }

    /// Finds out how far it is, and that its state is the newest.
    fn standing(
        folder: SessionFolder<'a>,
        plan: ItemsPlan,
        named: Named,
        ledger: &LedgerFile,
        disk: &dyn Disk,
    ) -> Result<Self, Error> {
        let (bytes, path) = (folder.read(STATE)?, folder.path().join(STATE));
        let refuse = |reason: String| damaged(&path, &reason);
        let (here, state) = match bytes {
            None => (Found::default(), None),
            Some(bytes) => {
                let here = found(&path, &named.release, &bytes)?;
                let state: State =
                    serde_json::from_slice(&bytes).map_err(|error| refuse(error.to_string()))?;
                if state.plan != named.plan {
                    return Err(refuse("it is of another plan".to_owned()));
                }
                (here, Some(state))
            }
        };
        let mut session = Self { folder, plan, named, standing: Standing::default(), state };
        session.folder.settle()?;
        let held = Some(session.folder.path());
        let standing = ledger.settle(&session.named.release, held, disk)?.unwrap_or_default();
        if (here.generation, &here.hash) != (standing.generation, &standing.state) {
            return Err(refuse(format!(
                "it is the state after run {} of the session, or a copy that was changed, and the ledger has run {}: an old or copied state cannot go on",
                here.generation, standing.generation
            )));
        }
        session.standing = standing;
        // It is the newest: what its run has not written of it follows.
        session.publish()?;
        Ok(session)
    }

    /// How many steps have been released.
    fn taken(&self) -> u64 {
        self.state.as_ref().map_or(0, |state| state.monitor.next_time())
    }

    /// Takes in users who are new, then the steps of these events after the newest state.
    fn draw(
        &self,
        lease: &str,
        events: &[Vec<Event>],
        users: &Users,
        draws: &mut Drawing<'_>,
    ) -> Result<State, Error> {
        let refuse = |error: dp_stream::StreamError| Error::library("the session", &error);
        let taken = self.taken();
        let plan = &self.plan.settings().monitor;
        let (monitor, mut reports) = match &self.state {
            None => {
                let mut started: Option<Monitor> = None;
                draws(None, &mut |source| started = Some(plan.start_with(source)));
                (started, Vec::new())
            }
            Some(state) => {
                let monitor = state.monitor.clone().resume(plan, taken).map_err(refuse)?;
                (Some(monitor), state.reports.clone())
            }
        };
        let mut monitor = monitor.expect("whoever is asked to let it draw does");
        draws(None, &mut |source| monitor.grow_to_with(users.number(), source));
        for (step, events) in (taken..).zip(events) {
            let mut found = Ok(Vec::new());
            draws(Some(step), &mut |source| found = monitor.step_with(step, events, source));
            reports.extend(found.map_err(refuse)?);
        }
        Ok(State {
            session: self.named.release.clone(),
            generation: self.standing.generation + 1,
            lease: lease.to_owned(),
            salt: random_name()?,
            plan: self.named.plan.clone(),
            reports,
            users: users.names().to_vec(),
            monitor: monitor.state(),
        })
    }

    /// Writes what is public, as far as it is not there.
    fn publish(&self) -> Result<(), Error> {
        let Some(state) = &self.state else { return Ok(()) };
        for (name, content) in public(&self.plan, state)? {
            self.folder.keep(name, &content)?;
        }
        Ok(())
    }
}

fn json(value: &impl Serialize) -> Result<Vec<u8>, Error> {
    let mut text = Vec::new();
    write_json(&mut text, value).map_err(|error| Error::library("the session", &error))?;
    Ok(text)
}

/// All that is public and follows from a state.
fn public(plan: &ItemsPlan, state: &State) -> Result<[(&'static str, Vec<u8>); 3], Error> {
    let taken = state.monitor.next_time();
    let mut table = Vec::new();
    report::table(plan, &state.reports, &mut table)
        .map_err(|error| Error::library("the table", &error))?;
    let picture = report::picture(plan, &state.reports, taken).into_bytes();
    let words = report::report(plan, taken).into_bytes();
    Ok([("items.csv", table), ("items.svg", picture), ("report.txt", words)])
}

/// From a log to the steps that are new. `draws` is the secure source of the operating system, or in a claim one that examines.
///
/// # Errors
/// [`Error`]. What rows say is never one.
pub fn release_items(
    args: &ItemsArgs,
    gate: &Gate,
    disk: &dyn Disk,
    draws: &mut Drawing<'_>,
) -> Result<Said, Error> {
    let (target, form, plan) = (target(&args.target)?, form(&args.file.form)?, items_plan(args)?);
    let goal = goal(args, &plan.settings().clock)?;
    let Some(ledger) = target.ledger.as_deref().map(LedgerFile::at) else {
        let (name, got) = ("--ledger", "nothing".to_owned());
        let want = "given: without one nobody could refuse to go on from an old or copied state";
        return Err(Error::Setting { name, got, want });
    };
    let mut session = Session::open(plan, &target.out, &ledger, disk)?;
    let taken = session.taken();
    let mut aside = String::new();
    if goal <= taken {
        let _ = writeln!(aside, "No step is new; {} is as it was.", target.out.display());
        let text = report::report(&session.plan, taken);
        return Ok(Said { text, aside, unproved: false });
    }
    let known = session.state.as_ref().map_or(&[][..], |state| &state.users);
    let mut users = Users::new(known.to_vec());
    let events = read(args, &session.plan, &form, taken..goal, &mut users, &mut Met::default())?;
    let lease = random_name()?;
    let out = session.folder.path().to_str().map(str::to_owned).ok_or_else(|| Error::Setting {
        name: "--out",
        got: target.out.display().to_string(),
        want: "a name in Unicode, as the ledger holds it",
    })?;
    gate.undisturbed(Phase::Drawn, || {
        let Named { release, family, plan, .. } = &session.named;
        let from = &session.standing;
        let wanted = Wanted { session: release, family, plan, from, lease: &lease, out: &out };
        Ok((ledger.lease(&wanted, &session.plan.receipt(), disk)?, None))
    })?;
    let kept = |cause| Error::Interrupted { cause: Box::new(cause) };
    let state = session.draw(&lease, &events, &users, draws).map_err(kept)?;
    let written = gate.undisturbed(Phase::Written, || {
        let text =
            serde_json::to_vec(&state).map_err(|error| Error::library("the state", &error))?;
        session.folder.keep(STATE, &text)?;
        let (generation, hash) = (state.generation, sha256_hex(&[&text]));
        session.state = Some(state);
        // Nobody reads a step before the ledger knows the state that it belongs to: then no older state can draw it again.
        let folder = session.folder.path();
        let now = ledger.settle(&session.named.release, Some(folder), disk)?.unwrap_or_default();
        if (now.generation, &now.state) != (generation, &hash) {
            return Err(damaged(folder, "somebody else has gone on with the session"));
        }
        session.publish()?;
        Ok(((), None))
    });
    written.map_err(kept)?;
    let _ = writeln!(
        aside,
        "Steps {taken} to {} are in {}; only you can read it. Show nobody its {STATE}.",
        goal - 1,
        target.out.display()
    );
    let text = report::report(&session.plan, goal);
    Ok(Said { text, aside, unproved: false })
}

/// Writes what a session's last run has not written; whether its newest steps are there.
///
/// # Errors
/// If somebody is at work on it, or the folder is not what the ledger says.
pub(crate) fn recover(
    session: &str,
    out: &Path,
    ledger: &LedgerFile,
    disk: &dyn Disk,
) -> Result<Standing, Error> {
    if !out.is_dir() {
        return Err(damaged(out, "the folder of its session is not there: put it back"));
    }
    let folder = SessionFolder::open(out, disk)?;
    let (Some(named), Some(plan)) = (folder.named()?, folder.read(PLAN)?) else {
        return Err(damaged(out, "it holds no session"));
    };
    if named.release != session {
        return Err(damaged(out, "it holds another session"));
    }
    let plan: ItemsPlan =
        serde_json::from_slice(&plan).map_err(|error| damaged(out, &error.to_string()))?;
    Ok(Session::standing(folder, plan, named, ledger, disk)?.standing)
}

/// Whether what is public in a folder follows from its state, and its state is the newest, as far as they are there.
///
/// # Errors
/// Says what does not.
pub(crate) fn verify_state(
    folder: &Path,
    (named, plan): (&Named, &str),
    ledger: Option<&Path>,
) -> Result<(), String> {
    let plan: ItemsPlan = serde_json::from_str(plan).map_err(|error| error.to_string())?;
    let Ok(bytes) = std::fs::read(folder.join(STATE)) else { return Ok(()) };
    let state: State =
        serde_json::from_slice(&bytes).map_err(|error| format!("{STATE}: {error}"))?;
    if (&state.session, &state.plan) != (&named.release, &named.plan) {
        return Err(format!("{STATE} is of another session"));
    }
    for (name, content) in public(&plan, &state).map_err(|error| error.to_string())? {
        if std::fs::read(folder.join(name)).ok() != Some(content) {
            return Err(format!("{name} does not follow from {STATE}"));
        }
    }
    if let Some(ledger) = ledger {
        let book = LedgerFile::at(ledger).read().map_err(|error| error.to_string())?;
        let standing = book.standing(&state.session).unwrap_or_default();
        if (standing.generation, standing.state) != (state.generation, sha256_hex(&[&bytes])) {
            return Err(format!("{STATE} is not the newest that the ledger has"));
        }
    }
    Ok(())
}

/// The state in a folder; `None` if it has none.
fn state_in(folder: &Path) -> Result<Option<State>, Error> {
    let path = folder.join(STATE);
    match std::fs::read(&path) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|error| damaged(&path, &error.to_string())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("read", &path)(error)),
    }
}

/// What the next run would use, for the holder only.
///
/// # Errors
/// [`Error`].
pub(crate) fn check(args: &ItemsArgs) -> Result<String, Error> {
    let (form, plan) = (form(&args.file.form)?, items_plan(args)?);
    let clock = &plan.settings().clock;
    let goal = match &args.until {
        Some(_) => goal(args, clock)?,
        None => clock.length(),
    };
    let state = match &args.target.out {
        Some(out) => state_in(out)?,
        None => None,
    };
    let taken = state.as_ref().map_or(0, |state| state.monitor.next_time());
    let mut text = PRIVATE.to_owned();
    let rows = Rows::open(&args.file.data, Secrecy::Private, &form)?;
    let _ = writeln!(text, "columns: {}", crate::shown::names(rows.header()));
    let _ = writeln!(text, "steps {taken} to before {} would be released", goal.max(taken));
    let known = state.map(|state| state.users).unwrap_or_default();
    let (mut met, mut users) = (Met::default(), Users::new(known));
    let events = read(args, &plan, &form, taken..goal.max(taken), &mut users, &mut met)?;
    let most = u64::from(plan.settings().monitor.items_per_step());
    let crowded = met.shown.values().filter(|rows| **rows > most).count() as u64;
    let empty = events.iter().filter(|events| events.is_empty()).count() as u64;
    let Met { used, nobodys, no_time, unknown, outside, late, early, passed_over, .. } = met;
    let all = used + nobodys + no_time + unknown + outside + late + early + passed_over;
    for (number, what) in [
        (all, "rows"),
        (used, "count, or show an item again"),
        (users.names().len() as u64, "users so far"),
        (crowded, "times a user has more rows in a step than items of theirs may count"),
        (empty, "of these steps have no rows"),
        (no_time, "rows left out: no time"),
        (outside, "rows left out: before the first step or after the last"),
        (late, "rows left out: of steps that have been released"),
        (early, "rows of later steps, for a later run"),
        (unknown, "rows left out: not one of the public items"),
        (nobodys, "rows left out: nobody's"),
        (
            passed_over,
            "rows left out: too few or too many cells, a line break in one, or above 1 MB",
        ),
    ] {
        let _ = writeln!(text, "{number:12}  {what}");
    }
    Ok(text)
}

/// What a session costs, and what it finds.
///
/// # Errors
/// [`Error`].
pub(crate) fn plan_text(args: &ItemsArgs) -> Result<String, Error> {
    let (plan, mut text) = match args.loss.accuracy {
        None => (items_plan(args)?, String::new()),
        Some(people) => {
            let at = |epsilon| plan_at(args, epsilon);
            plan_that_finds((people, "users"), at, ItemsPlan::smallest_count)?
        }
    };
    let ItemsSettings { items_per_user, within, clock, .. } = plan.settings();
    let _ = writeln!(
        text,
        "{}\n\nOne pass over the log in each run; 250 bytes of memory for each user and 100 for each row of a new step.\n\
         {} steps, from {} to {}.\n{}\n\
         The same at other epsilons; error: of its number of users.\n\
         {:>8} {:>10} {:>10} {:>8} {:>6}  method",
        plan.receipt(),
        clock.length(),
        clock.shown(clock.start(0)),
        clock.shown(clock.start(clock.length())),
        report::promise(plan.smallest_count(), *items_per_user, *within),
        "epsilon",
        "found from",
        "error",
        "reports",
        "items",
    );
    for epsilon in EPSILONS {
        if let Ok(at) = plan_at(args, epsilon) {
            report::row(&mut text, epsilon, &at);
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests;

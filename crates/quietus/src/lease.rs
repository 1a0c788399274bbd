//! Who goes on with a session: of all states that there are, copies and old ones among them, one.
//!
//! Whoever takes steps has a lease in the ledger before the first draw, for the generation after the newest. It is followed by an advance, with the hash of the
//! state that came out, or, if its holder died before that state was there, by its withdrawal. A state goes on only if the ledger names its generation and its
//! hash as the newest, and no lease is open.

use crate::disk::Disk;
use crate::error::Error;
use crate::folder::{in_use, lock};
use crate::items;
use crate::ledger::{Book, Entry, LedgerFile};
use crate::passes::out_of;
use crate::run::same_file;
use crate::session::newest;
use dp_accounting::{Receipt, Relation};
use std::path::{Path, PathBuf};

/// How far a session is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Standing {
    /// Of its newest state; 0 before the first.
    pub(crate) generation: u64,
    /// The hash of that; empty before the first.
    pub(crate) state: String,
    /// Who may be drawing, and where.
    pub(crate) open: Option<(String, PathBuf)>,
}

/// Steps that somebody wants to draw.
#[derive(Clone, Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) session: &'a str,
    pub(crate) family: &'a str,
    pub(crate) plan: &'a str,
    /// Where the state is that they go on from.
    pub(crate) from: &'a Standing,
    pub(crate) lease: &'a str,
    pub(crate) out: &'a str,
}

impl Book {
    /// All sessions, oldest first.
    pub(crate) fn sessions(&self) -> impl Iterator<Item = &str> {
        self.entries().iter().filter_map(|entry| match entry {
            Entry::Session { session, .. } => Some(session.as_str()),
            _ => None,
        })
    }

    /// How far a session is; `None` if there is none of this name.
    pub(crate) fn standing(&self, wanted: &str) -> Option<Standing> {
        let mut standing = None;
        for entry in self.entries() {
            match entry {
                Entry::Session { session, .. } if session == wanted => {
                    standing = Some(Standing::default());
                }
                Entry::Lease { session, lease, out, .. } if session == wanted => {
                    standing.get_or_insert_default().open = Some((lease.clone(), out.into()));
                }
                Entry::Advance { session, generation, state } if session == wanted => {
                    let (generation, state) = (*generation, state.clone());
                    standing = Some(Standing { generation, state, open: None });
                }
                Entry::Withdrawn { session, .. } if session == wanted => {
                    standing.get_or_insert_default().open = None;
                }
                _ => {}
            }
        }
        standing
    }

    /// The folders of leases that have no end, and of releases by passes that have not come to theirs.
    pub(crate) fn open_sessions(&self) -> impl Iterator<Item = PathBuf> {
        self.sessions().filter_map(|session| {
            if self.goes_on(session) {
                Some(self.standing(session)?.open?.1)
            } else {
                self.place(session).filter(|_| !self.is_done(session)).map(PathBuf::from)
            }
        })
    }

    /// Whether it is a session of many releases, and not of the passes of one.
    pub(crate) fn goes_on(&self, wanted: &str) -> bool {
        self.kind(wanted) == items::FAMILY
    }

    fn kind(&self, wanted: &str) -> &str {
        let found = self.entries().iter().find_map(|entry| match entry {
            Entry::Session { session, family, .. } if session == wanted => Some(family.as_str()),
            _ => None,
        });
        found.unwrap_or_default()
    }

    /// Whether the release of a session by passes is in its place.
    pub(crate) fn is_done(&self, session: &str) -> bool {
        let done =
            |entry: &Entry| matches!(entry, Entry::Outcome { release } if release == session);
        self.entries().iter().any(done)
    }

    /// Where its last run was.
    pub(crate) fn place(&self, session: &str) -> Option<&str> {
        self.entries().iter().rev().find_map(|entry| match entry {
            Entry::Lease { session: of, out, .. } if of == session => Some(out.as_str()),
            _ => None,
        })
    }

    pub(crate) fn session_shown(&self, session: &str) -> String {
        let place = self.place(session);
        let Standing { generation, open, .. } = self.standing(session).unwrap_or_default();
        if !self.goes_on(session) {
            let state =
                if self.is_done(session) { "in its place" } else { "not finished, and spent" };
            let (kind, place) = (self.kind(session), out_of(Path::new(place.unwrap_or_default())));
            let place = place.display();
            return format!("{kind:10} by passes, {generation} answered, {state}: {place}");
        }
        let open = if open.is_some() { ", and one without an outcome" } else { "" };
        format!("{:10} session of {generation} runs{open}: {}", "items", place.unwrap_or_default())
    }

    pub(crate) fn refuse(&self, reason: &str) -> Error {
        Error::Ledger { path: self.path.clone(), reason: reason.to_owned() }
    }
}

impl LedgerFile {
    /// Writes that steps are about to be drawn, if nobody has gone on from there; with the first ones, that their session is spent.
    ///
    /// # Errors
    /// If somebody has, the session does not fit any more, or the disk refuses; then nothing may be drawn.
    pub(crate) fn lease<R: Relation>(
        &self,
        wanted: &Wanted<'_>,
        receipt: &Receipt<R>,
        disk: &dyn Disk,
    ) -> Result<(), Error> {
        self.locked(|mut file, mut book| {
            let session = wanted.session.to_owned();
            let mut entries = Vec::with_capacity(2);
            match book.standing(wanted.session) {
                Some(standing) if standing != *wanted.from => {
                    return Err(book.refuse("somebody else has gone on with the session"));
                }
                None if *wanted.from != Standing::default() => {
                    return Err(book.refuse("it does not have the session"));
                }
                Some(_)
                    if book.plan_of(wanted.session).is_none_or(|(plan, _)| plan != wanted.plan) =>
                {
                    return Err(book.refuse("its session has another plan"));
                }
                Some(_) => {}
                None => {
                    book.fits(receipt)?;
                    entries.push(Entry::Session {
                        session: session.clone(),
                        family: wanted.family.to_owned(),
                        plan: wanted.plan.to_owned(),
                        receipt: serde_json::to_value(receipt).expect("a receipt has plain fields"),
                    });
                }
            }
            let (lease, out) = (wanted.lease.to_owned(), wanted.out.to_owned());
            let generation = wanted.from.generation + 1;
            entries.push(Entry::Lease { session, generation, lease, out });
            // In one piece: a session without a lease would be spent for nothing.
            book.append_all(&mut file, entries, disk)
        })
    }

    /// Finds out what became of a lease whose holder has died, and writes it down. `held` is a folder that the caller has locked.
    ///
    /// # Errors
    /// If its holder is at work, or the folder does not have what the ledger says it has.
    pub(crate) fn settle(
        &self,
        session: &str,
        held: Option<&Path>,
        disk: &dyn Disk,
    ) -> Result<Option<Standing>, Error> {
        self.locked(|mut file, mut book| {
            let Some(standing) = book.standing(session) else { return Ok(None) };
            let Some((lease, out)) = &standing.open else { return Ok(Some(standing)) };
            let _lock = match held {
                Some(held) if held == out || same_file(held, out) => None,
                _ if in_use(out) => return Err(book.refuse("somebody is at work on the session")),
                // A folder that is not there is told from one that has nothing new below.
                _ => lock(out).ok().flatten(),
            };
            let generation = standing.generation + 1;
            let name = session.to_owned();
            let entry = match newest(out, session)? {
                Some(found) if found.generation == generation && found.lease == *lease => {
                    Entry::Advance { session: name, generation, state: found.hash }
                }
                Some(found)
                    if found.generation == standing.generation && found.hash == standing.state =>
                {
                    Entry::Withdrawn { session: name, generation }
                }
                _ => {
                    let what = "does not hold the session's newest state, so nobody knows what became of its last steps: put it back";
                    return Err(book.refuse(&format!("{} {what}", out.display())));
                }
            };
            book.append(&mut file, entry, disk)?;
            Ok(book.standing(session))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::RealDisk;
    use crate::folder::RELEASE;
    use crate::session::STATE;
    use dp_accounting::{AddRemove, Budget, Epsilon, Loss, Step};

    fn session_ledger(folder: &Path) -> (LedgerFile, Receipt<AddRemove>) {
        let limit = Budget::new(1.0, 0.0).unwrap();
        let path = folder.join("ledger");
        let ledger = LedgerFile::create(&path, "log", AddRemove, limit, "id", &RealDisk).unwrap();
        let spent = Step::spend("all steps", Loss::Pure { epsilon: Epsilon::new(0.7).unwrap() });
        (ledger, Receipt::new("items", AddRemove, limit, spent))
    }

    fn wanted<'a>(from: &'a Standing, lease: &'a str, out: &'a str) -> Wanted<'a> {
        Wanted { session: "mine", family: "items", plan: "plan", from, lease, out }
    }

    /// Each of two sessions asked whether its receipt fits before the other began: the second of them is asked again.
    #[test]
    fn of_two_sessions_that_fit_by_themselves_one_begins() {
        let folder = tempfile::tempdir().unwrap();
        let epsilon = |x| Epsilon::new(x).unwrap();
        let limit = Budget::new(1.0, 0.0).unwrap();
        let path = folder.path().join("ledger");
        let ledger = LedgerFile::create(&path, "log", AddRemove, limit, "id", &RealDisk).unwrap();
        let spent = Step::spend("all steps", Loss::Pure { epsilon: epsilon(0.7) });
        let receipt = Receipt::new("items", AddRemove, Budget::new(0.7, 0.0).unwrap(), spent);
        let begins = |session: &str| {
            let from = &Standing::default();
            let (family, plan, lease, out) = ("items", "plan", "lease", "out");
            let wanted = Wanted { session, family, plan, from, lease, out };
            ledger.lease(&wanted, &receipt, &RealDisk).is_ok()
        };
        assert_eq!(["one", "two"].map(begins), [true, false]);
        assert_eq!(ledger.read().unwrap().sessions().collect::<Vec<_>>(), ["one"]);
    }

    /// What goes on is the plan that was paid for, from the state that the ledger names: when a holder has died, another state of the same
    /// generation in its folder is none to go on from.
    #[test]
    fn a_session_goes_on_by_its_own_plan_from_the_state_that_it_left() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        std::fs::create_dir(&out).unwrap();
        let named = r#"{"release":"mine","family":"items","ledger":null,"plan":"plan"}"#;
        std::fs::write(out.join(RELEASE), named).unwrap();
        let (ledger, receipt) = session_ledger(folder.path());
        let begin = |from: &Standing, plan: &str, lease: &str| {
            let (session, family, out) = ("mine", "items", out.to_str().unwrap());
            let wanted = Wanted { session, family, plan, from, lease, out };
            ledger.lease(&wanted, &receipt, &RealDisk)
        };
        let put = |users: u64| {
            let head = r#""session":"mine","generation":1,"lease":"one""#;
            std::fs::write(out.join(STATE), format!("{{{head},\"users\":{users}}}")).unwrap();
        };
        let settle = || ledger.settle("mine", None, &RealDisk);
        begin(&Standing::default(), "plan", "one").unwrap();
        put(5);
        let newest = settle().unwrap().unwrap();
        assert_eq!((newest.generation, &newest.open), (1, &None));
        assert!(begin(&newest, "another plan", "two").is_err());
        begin(&newest, "plan", "two").unwrap();
        put(6);
        assert!(settle().is_err(), "the ledger does not name this state");
        put(5);
        assert_eq!(settle().unwrap().unwrap(), newest);
    }

    /// Of two that begin from one state, or from none, the second finds the lease of the first.
    #[test]
    fn nobody_draws_from_where_somebody_else_has_begun() {
        let folder = tempfile::tempdir().unwrap();
        let (ledger, receipt) = session_ledger(folder.path());
        let from = &Standing::default();
        let begins = ["one", "two"]
            .map(|lease| ledger.lease(&wanted(from, lease, "out"), &receipt, &RealDisk).is_ok());
        assert_eq!(begins, [true, false]);
    }

    /// The state of another lease is not what this one has drawn, and of a folder at work nothing is settled.
    #[test]
    fn a_lease_is_settled_by_its_own_state_in_a_folder_at_rest() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        std::fs::create_dir(&out).unwrap();
        let named = r#"{"release":"mine","family":"items","ledger":null,"plan":"plan"}"#;
        std::fs::write(out.join(RELEASE), named).unwrap();
        let (ledger, receipt) = session_ledger(folder.path());
        let (from, name) = (&Standing::default(), out.to_str().unwrap());
        ledger.lease(&wanted(from, "one", name), &receipt, &RealDisk).unwrap();
        let settles = |lease: &str| {
            let head = format!(r#"{{"session":"mine","generation":1,"lease":"{lease}"}}"#);
            std::fs::write(out.join(STATE), head).unwrap();
            ledger.settle("mine", None, &RealDisk).is_ok()
        };
        assert!(!settles("another"));
        let at_work = lock(&out).unwrap();
        assert!(!settles("one"));
        drop(at_work);
        assert!(settles("one"));
    }

    /// Whoever only looks needs no right to write, and does not wait for others who look.
    #[test]
    fn of_several_that_look_nobody_waits() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger");
        let limit = Budget::new(1.0, 0.0).unwrap();
        let ledger = LedgerFile::create(&path, "log", AddRemove, limit, "id", &RealDisk).unwrap();
        let looks = std::fs::File::open(&path).unwrap();
        looks.lock_shared().unwrap();
        // One that waits would wait for ever.
        assert!(ledger.read().is_ok());
        drop(looks);
    }

    /// Two that ask and write at once would each find room for what only one of them can have.
    #[test]
    fn whoever_asks_waits_until_the_other_has_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger");
        let limit = Budget::new(1.0, 0.0).unwrap();
        let ledger = LedgerFile::create(&path, "log", AddRemove, limit, "id", &RealDisk).unwrap();
        let (done, answers) = std::sync::mpsc::channel();
        let other = LedgerFile::at(&path);
        let asks = ledger.locked(|_file, _book| {
            let asks = std::thread::spawn(move || done.send(other.read().is_ok()));
            // Much longer than a read takes. One that waits is never here, however slow the machine is.
            let early = answers.recv_timeout(std::time::Duration::from_millis(300));
            assert!(early.is_err(), "it did not wait");
            Ok(asks)
        });
        assert_eq!(answers.recv(), Ok(true));
        assert!(asks.unwrap().join().unwrap().is_ok());
    }
}

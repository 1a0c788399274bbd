//! Every command, from its arguments to what is printed.

use crate::census;
use crate::cli::{
    CountArgs, Family, FileArgs, FormArgs, GroupArgs, HistogramArgs, LedgerCommand, LossArgs,
    MeanArgs, SetArgs, TargetArgs,
};
use crate::cluster;
use crate::disk::Disk;
use crate::error::Error;
use crate::groups::{self, GroupPlan, GroupSettings, Measure, Met, Noisy, Source, Tally};
use crate::items;
use crate::ledger::{LedgerFile, State};
use crate::locate;
use crate::map;
use crate::order::{Draw, Order, Target, random_name};
use crate::passes::{self, PassDraws};
use crate::sets::{self, Aim};
use crate::shown::shown;
use crate::stop::Gate;
use crate::table::{Form, Rows, Secrecy};
use crate::top;
use crate::value::{Decimal, days};
use dp_accounting::{AddOnly, AddRemove, Budget, MemberOfGroup, ReplaceOne, Within};
use dp_mechanism::{Mechanism, ReleaseRng, SecureSource, chacha_from_os};
use std::collections::BTreeMap;
use std::fmt::{Debug, Write as _};
use std::io::{self, Write as _};
use std::path::Path;

/// What a command says when nothing stopped it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// For everybody, or for the holder alone where it says so.
    pub text: String,
    /// For the holder: where things are, and what is left over.
    pub aside: String,
    /// Whether a release is less than it should be.
    pub unproved: bool,
}

impl Said {
    /// What the program ends with: 0, or [`Error::INCOMPLETE`].
    #[must_use]
    pub fn code(&self) -> u8 {
        if self.unproved { Error::INCOMPLETE } else { 0 }
    }
}

/// What is printed before anything that a check says.
pub const PRIVATE: &str = "PRIVATE: what follows is exact and about the people in the file. Show it to nobody who may not see the file.\n";

/// `quietus release`.
///
/// # Errors
/// [`Error`]; it does not depend on what private rows say.
pub fn release(family: &Family, gate: &Gate, disk: &dyn Disk) -> Result<Said, Error> {
    data_given(family)?;
    renames_columns(family)?;
    let mut rng = chacha_from_os().map_err(|error| Error::library("system randomness", &error))?;
    match family {
        Family::Count(_) | Family::Histogram(_) | Family::Mean(_) => {
            release_groups(&group_job(family)?, gate, disk, |plan, tally| {
                plan.release(tally, &mut rng).expect("a table of this plan").output
            })
        }
        Family::Census(args) if args.explain_sql => {
            Ok(Said { text: census::explain(args)?, ..Said::default() })
        }
        Family::Census(args) => census::release_census(args, gate, disk, |plan, sizes| {
            plan.with_evidence().release(sizes, &mut rng).expect("it was checked").output
        }),
        Family::Cluster(args) if args.passes.explain_sql => {
            Ok(Said { text: cluster::explain(args, disk)?, ..Said::default() })
        }
        Family::Map(args) if args.passes.explain_sql => {
            Ok(Said { text: map::explain(args, disk)?, ..Said::default() })
        }
        Family::Cluster(args) if args.passes.by_passes() => {
            let mut source = SecureSource::new(&mut rng);
            let draws: &mut PassDraws<'_> = &mut |_, draw| draw(&mut source);
            cluster::release_cluster_by_passes(args, gate, disk, draws, &mut say_pass)
        }
        Family::Map(args) if args.passes.by_passes() => {
            let mut source = SecureSource::new(&mut rng);
            let draws: &mut PassDraws<'_> = &mut |_, draw| draw(&mut source);
            map::release_map_by_passes(args, gate, disk, draws, &mut say_pass)
        }
        Family::Cluster(args) => cluster::release_cluster(args, gate, disk, Secure(&mut rng)),
        Family::Top(args) => top::release_top(args, gate, disk, |plan, steps| {
            plan.release(steps, &mut rng).expect("one step").output
        }),
        Family::Items(args) => {
            let mut source = SecureSource::new(&mut rng);
            items::release_items(args, gate, disk, &mut |_, draw| draw(&mut source))
        }
        Family::Map(args) => map::release_map(args, gate, disk, Secure(&mut rng)),
        Family::Cover(_) | Family::Coverage(_) => {
            let (args, aim) = set_args(family);
            sets::release_sets(args, aim, gate, disk, |plan, people| {
                plan.release(people, &mut rng).expect("people of this plan").output
            })
        }
        Family::Locate(args) => locate::release_locate(args, gate, disk, |plan, people| {
            plan.release(people, &mut rng).expect("nothing to refuse").output
        }),
    }
}

/// Public: how many passes there are follows from the plan and from what was drawn before.
fn say_pass(pass: u32, what: &str) {
    // Nobody may be listening.
    let _ = writeln!(io::stderr(), "pass {}: {what}", pass.saturating_add(1));
}

/// Draws with noise that nobody can make again.
struct Secure<'a>(&'a mut ReleaseRng);

impl Draw for Secure<'_> {
    fn draw<M: Mechanism<Error: Debug>>(self, plan: &M, data: M::Data<'_>) -> M::Output {
        plan.release(data, self.0).expect("it was checked").output
    }
}

/// `quietus check`.
///
/// # Errors
/// [`Error`].
pub fn check(family: &Family) -> Result<String, Error> {
    data_given(family)?;
    renames_columns(family)?;
    if let Some(file) = family.file() {
        read_again(&file.data, "a file that can be read again, as a check reads it twice")?;
    }
    match family {
        Family::Count(_) | Family::Histogram(_) | Family::Mean(_) => {
            check_groups(&group_job(family)?)
        }
        Family::Census(args) => census::check(args),
        Family::Cluster(args) => cluster::check(args),
        Family::Top(args) => top::check(args),
        Family::Items(args) => items::check(args),
        Family::Map(args) => map::check(args),
        Family::Cover(_) | Family::Coverage(_) => {
            let (args, aim) = set_args(family);
            sets::check(args, aim)
        }
        Family::Locate(args) => locate::check(args),
    }
}

/// Everything but a plan has a private file.
fn data_given(family: &Family) -> Result<(), Error> {
    match family.file() {
        Some(file) if file.data.as_os_str().is_empty() => {
            let (name, got) = ("--data", "nothing".to_owned());
            Err(Error::Setting { name, got, want: "a file; only `quietus plan` does without" })
        }
        _ => Ok(()),
    }
}

/// What is called otherwise must be a column that is read: a wrong name would go without a word, and be found out when all is spent.
fn renames_columns(family: &Family) -> Result<(), Error> {
    let (form, columns) = (form(family.form())?, family.columns());
    let refuse = |reason: String| Err(Error::Library { what: "--column", reason });
    for (place, (here, there)) in form.renamed.iter().enumerate() {
        if form.renamed[..place].iter().any(|(before, _)| before == here) {
            return refuse(format!("`{here}` is renamed twice"));
        }
        if !columns.contains(&here.as_str()) {
            let all = if columns.is_empty() { "none".to_owned() } else { columns.join(", ") };
            return refuse(format!(
                "`{here}={there}`: there is no column `{here}` to call otherwise; these are read: {all}; the name here comes first, then that in the file"
            ));
        }
    }
    Ok(())
}

/// From here on a delta is no promise to so few people as a release is about.
const LARGE_DELTA: f64 = 1e-3;

/// What there is to say about a delta that somebody may have mistaken for something else.
pub(crate) fn large_delta(delta: f64) -> Option<String> {
    (delta >= LARGE_DELTA).then(|| {
        format!("delta {delta} is large: with that chance all that is promised may fail, and somebody be given away whole; take less than one over the number of people")
    })
}

/// `quietus plan`.
///
/// # Errors
/// [`Error`].
pub fn plan(family: &Family) -> Result<String, Error> {
    renames_columns(family)?;
    let mut text = plan_of(family)?;
    let delta = match family {
        Family::Cluster(args) => args.delta,
        Family::Map(args) => args.delta,
        Family::Items(args) => args.delta,
        Family::Census(args) => args.delta.unwrap_or(0.0),
        _ => 0.0,
    };
    if let Some(note) = large_delta(delta) {
        let _ = writeln!(text, "\nNote: {note}.");
    }
    Ok(text)
}

fn plan_of(family: &Family) -> Result<String, Error> {
    match family {
        Family::Count(args) => plan_groups(family, &args.groups.loss, None),
        Family::Histogram(args) => plan_groups(family, &args.groups.loss, None),
        Family::Mean(args) => plan_groups(family, &args.groups.loss, args.rows.map(f64::from)),
        Family::Census(args) => census::plan_text(args),
        Family::Cluster(args) => cluster::plan_text(args),
        Family::Top(args) => top::plan_text(args),
        Family::Items(args) => items::plan_text(args),
        Family::Map(args) => map::plan_text(args),
        Family::Cover(_) | Family::Coverage(_) => {
            let (args, aim) = set_args(family);
            sets::plan_text(args, aim)
        }
        Family::Locate(args) => locate::plan_text(args),
    }
}

/// What sets are for, and the rest of what was said about them.
///
/// # Panics
/// For another family.
pub fn set_args(family: &Family) -> (&SetArgs, Aim) {
    match family {
        Family::Cover(args) => (&args.sets, Aim::Cover(args.k)),
        Family::Coverage(args) => (&args.sets, Aim::Coverage(args.k)),
        _ => unreachable!("another family has other arguments"),
    }
}

fn plan_groups(family: &Family, loss: &LossArgs, rows: Option<f64>) -> Result<String, Error> {
    let Some(accuracy) = loss.accuracy else {
        return groups::plan_text(&group_job(family)?.plan, rows);
    };
    let any = group_job_at(family, |_| Ok(1.0))?.plan;
    let plan = groups::accurate_plan(&any, rows, accuracy)?;
    let epsilon = plan.settings().epsilon;
    let text = groups::plan_text(&plan, rows)?;
    Ok(format!(
        "Epsilon {epsilon} is the smallest with a standard error of {accuracy} at most.\n\n{text}"
    ))
}

/// `quietus ledger`.
///
/// # Errors
/// [`Error`].
pub fn ledger(command: &LedgerCommand, disk: &dyn Disk) -> Result<String, Error> {
    match command {
        LedgerCommand::New { file, dataset, relation, within, epsilon, delta } => {
            let limit = Budget::new(*epsilon, *delta)
                .map_err(|error| Error::library("--epsilon and --delta", &error))?;
            let id = random_name()?;
            let note = large_delta(*delta).map(|note| format!("\nNote: {note}.\n"));
            let noted = |shown: String| shown + note.as_deref().unwrap_or_default();
            if let Some(metres) = within {
                let relation =
                    Within::new(*metres).map_err(|error| Error::library("--within", &error))?;
                let ledger = LedgerFile::create(file, dataset, relation, limit, &id, disk)?;
                return ledger.read()?.show().map(noted);
            }
            match relation.as_str() {
                "add-remove" => LedgerFile::create(file, dataset, AddRemove, limit, &id, disk),
                "add-only" => LedgerFile::create(file, dataset, AddOnly, limit, &id, disk),
                "replace-one" => LedgerFile::create(file, dataset, ReplaceOne, limit, &id, disk),
                "member-of-group" => {
                    LedgerFile::create(file, dataset, MemberOfGroup, limit, &id, disk)
                }
                other => Err(Error::Unknown {
                    what: "relation",
                    got: other.to_owned(),
                    known: ["add-remove", "add-only", "replace-one", "member-of-group"]
                        .map(str::to_owned)
                        .to_vec(),
                }),
            }?
            .read()?
            .show()
            .map(noted)
        }
        LedgerCommand::Show { file } => LedgerFile::at(file).read()?.show(),
        LedgerCommand::Recover { file } => {
            let found = LedgerFile::at(file).recover(disk)?;
            let mut text = format!("{} release(s) without an outcome\n", found.len());
            text.push_str(&recover_sessions(&LedgerFile::at(file), disk)?);
            for found in found {
                let what = match found.state {
                    State::Done => "is in its place".to_owned(),
                    State::Open => "is still being written, and was left alone".to_owned(),
                    State::Lost => match &found.removed {
                        Some(part) => format!("is lost; {} was removed", part.display()),
                        None => "is lost; nothing was left of it".to_owned(),
                    },
                };
                let _ = writeln!(
                    text,
                    "{} for {} {what}; it counts as spent",
                    found.release,
                    found.out.display()
                );
            }
            Ok(text)
        }
    }
}

/// What became of the last run of every session that has no outcome; of the others, what is public is made whole without a word.
fn recover_sessions(ledger: &LedgerFile, disk: &dyn Disk) -> Result<String, Error> {
    let book = ledger.read()?;
    let mut text = String::new();
    for session in book.sessions() {
        let Some(place) = book.place(session) else { continue };
        if !book.goes_on(session) {
            let _ = match passes::recover(session, Path::new(place), ledger, disk) {
                Ok(Some(said)) => {
                    writeln!(text, "release {session} by passes {said}; it counts as spent")
                }
                Ok(None) => Ok(()),
                Err(error) => writeln!(text, "release {session} by passes was left alone: {error}"),
            };
            continue;
        }
        let open = book.standing(session).is_some_and(|standing| standing.open.is_some());
        let recovered = items::recover(session, Path::new(place), ledger, disk);
        if !open {
            continue;
        }
        let _ = match recovered {
            Ok(standing) => writeln!(
                text,
                "session {session} in {place} is whole, after {} runs; what nobody could read of a run that died is drawn by the next one",
                standing.generation
            ),
            Err(error) => writeln!(text, "session {session} in {place} was left alone: {error}"),
        };
    }
    Ok(text)
}

/// Where a release goes; a ledger, or the words that there is none, must be given.
pub(crate) fn target(args: &TargetArgs) -> Result<Target, Error> {
    let missing = |name, want| Error::Setting { name, got: "nothing".to_owned(), want };
    let out = args.out.clone().ok_or_else(|| missing("--out", "a new folder"))?;
    if args.ledger.is_none() && !args.no_ledger {
        return Err(missing("--ledger", "given; or, in so many words, --no-ledger"));
    }
    Ok(Target { out, ledger: args.ledger.clone() })
}

pub(crate) fn form(args: &FormArgs) -> Result<Form, Error> {
    let delimiter = match args.delimiter.as_bytes() {
        b"tab" => b'\t',
        b"semicolon" => b';',
        [byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r') => *byte,
        _ => {
            let (name, got) = ("--delimiter", format!("`{}`", args.delimiter));
            return Err(Error::Setting {
                name,
                got,
                want: "one character, or one of the words tab and semicolon",
            });
        }
    };
    let renamed = args.columns.iter().map(|text| match text.split_once('=') {
        Some((here, there)) if !here.is_empty() && !there.is_empty() => {
            Ok((here.to_owned(), there.to_owned()))
        }
        _ => {
            let (name, got) = ("--column", format!("`{text}`"));
            Err(Error::Setting { name, got, want: "NAME=THERE, such as unit=household_id" })
        }
    });
    Ok(Form { delimiter, renamed: renamed.collect::<Result<_, _>>()?, most_bytes: args.most_bytes })
}

/// Refuses what is gone when it was read once, such as a pipe, where that would be found out too late. A file that is not there is named when
/// it is read.
pub(crate) fn read_again(data: &Path, want: &'static str) -> Result<(), Error> {
    if data.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        let (name, got) = ("--data", data.display().to_string());
        return Err(Error::Setting { name, got, want });
    }
    Ok(())
}

/// A file cannot be public and private: by its name, or by what it is.
pub(crate) fn different_files(
    public: &[(&str, Option<&Path>)],
    private: &[(&str, Option<&Path>)],
) -> Result<(), Error> {
    for (open, path) in public {
        for (secret, other) in private {
            if let (Some(path), Some(other)) = (path, other)
                && same_file(path, other)
            {
                let reason = format!(
                    "{open} and {secret} are the same file, but what is public must not come from the people"
                );
                return Err(Error::Library { what: "the files", reason });
            }
        }
    }
    Ok(())
}

/// One that does not exist is named when it is read.
pub(crate) fn same_file(a: &Path, b: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let file = |path: &Path| path.metadata().ok().map(|found| (found.dev(), found.ino()));
        file(a).is_some() && file(a) == file(b)
    }
    #[cfg(not(unix))]
    {
        a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b))
    }
}

/// A release of groups, before its file is opened.
pub struct GroupJob {
    /// What is asked for.
    pub plan: GroupPlan,
    source: Source,
    target: TargetArgs,
}

impl std::fmt::Debug for GroupJob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GroupJob").field("plan", &self.plan).finish_non_exhaustive()
    }
}

/// Checks all that is public.
///
/// # Errors
/// [`Error`].
///
/// # Panics
/// For another family.
pub fn group_job(family: &Family) -> Result<GroupJob, Error> {
    group_job_at(family, LossArgs::epsilon)
}

fn group_job_at(
    family: &Family,
    epsilon: impl FnOnce(&LossArgs) -> Result<f64, Error>,
) -> Result<GroupJob, Error> {
    let (measure, dates, file, groups, target) = match family {
        Family::Count(CountArgs { file, groups, target }) => {
            (Measure::Count, false, file, groups, target)
        }
        Family::Histogram(HistogramArgs { of, bounds, bins, file, groups, target }) => {
            let (bounds, dates) = ends(bounds)?;
            let (column, bins) = (of.clone(), *bins);
            (Measure::Histogram { column, bounds, bins }, dates, file, groups, target)
        }
        Family::Mean(MeanArgs { of, bounds, file, groups, target, .. }) => {
            let (bounds, dates) = ends(bounds)?;
            if dates {
                let (name, got) = ("--bounds", "dates".to_owned());
                return Err(Error::Setting {
                    name,
                    got,
                    want: "numbers: a mean of dates is not released",
                });
            }
            (Measure::Mean { column: of.clone(), bounds }, false, file, groups, target)
        }
        _ => unreachable!("another family has another job"),
    };
    let FileArgs { data, form: form_args, decimal_comma } = file;
    let form = form(form_args)?;
    different_files(
        &[("--groups-from", groups.groups_from.as_deref())],
        &[("--data", Some(data))],
    )?;
    let settings = GroupSettings {
        by: groups.by.clone(),
        person: groups.person.clone(),
        groups: names(groups)?,
        measure,
        dates,
        epsilon: epsilon(&groups.loss)?,
    };
    let decimal = if *decimal_comma { Decimal::Comma } else { Decimal::Point };
    let source = Source { path: data.clone(), form, decimal };
    Ok(GroupJob { plan: GroupPlan::new(settings)?, source, target: target.clone() })
}

/// Public names of groups.
fn names(args: &GroupArgs) -> Result<Vec<String>, Error> {
    if args.by.is_none() {
        return Ok(vec![String::new()]);
    }
    if args.groups.is_empty() && args.groups_from.is_none() {
        let (name, got) = ("--by", "no groups".to_owned());
        let want = "with --groups or --groups-from: which groups there are is public, and is not taken from private data";
        return Err(Error::Setting { name, got, want });
    }
    public_names(&args.groups, args.groups_from.as_deref(), "group")
}

/// Names that were listed, or are in this column of a public file.
pub(crate) fn public_names(
    listed: &[String],
    file: Option<&Path>,
    column: &str,
) -> Result<Vec<String>, Error> {
    let Some(path) = file else {
        return Ok(listed.iter().map(|name| name.trim().to_owned()).collect());
    };
    let mut rows = Rows::open(path, Secrecy::Public, &Form::default())?;
    rows.choose(&[column])?;
    let mut names = Vec::new();
    while rows.advance()? {
        names.push(rows.text(0)?.into_owned());
    }
    Ok(names)
}

/// Two numbers, or two dates.
fn ends(text: &str) -> Result<((f64, f64), bool), Error> {
    let two = text.split_once(',').and_then(|(low, high)| {
        let both = |read: &dyn Fn(&str) -> Option<f64>| Some((read(low)?, read(high)?));
        let numbers =
            both(&|text| text.trim().parse().ok().filter(|value: &f64| value.is_finite()));
        numbers.map(|ends| (ends, false)).or_else(|| both(&days).map(|ends| (ends, true)))
    });
    two.filter(|((low, high), _)| low < high).ok_or_else(|| Error::Setting {
        name: "--bounds",
        got: format!("`{text}`"),
        want: "two numbers as 0,100 or two dates as 2024-01-01,2025-01-01, the lower one first",
    })
}

/// From a job to its folder, with draws from anywhere: for the claim about this command as well.
///
/// # Errors
/// [`Error`].
pub fn release_groups(
    job: &GroupJob,
    gate: &Gate,
    disk: &dyn Disk,
    draw: impl FnOnce(&GroupPlan, &Tally) -> Noisy,
) -> Result<Said, Error> {
    let (target, family) = (target(&job.target)?, job.plan.settings().measure.family());
    let order = Order::new(family, &target, job.plan.receipt(), &job.plan, gate, disk)?;
    let mut aside = order.notes().iter().fold(String::new(), |text, note| text + note + "\n");
    let (tally, _) = groups::read(&job.plan, &job.source, &mut |_| ())?;
    let text = groups::report(&job.plan);
    order.carry_out(|| draw(&job.plan, &tally), &groups::files(&job.plan, &text))?;
    let _ = writeln!(aside, "Written to {}; only you can read it.", target.out.display());
    Ok(Said { text, aside, unproved: false })
}

/// Examples of unknown groups that a check shows.
const EXAMPLES: usize = 10;

fn check_groups(job: &GroupJob) -> Result<String, Error> {
    let mut text = PRIVATE.to_owned();
    let rows = Rows::open(&job.source.path, Secrecy::Private, &job.source.form)?;
    let _ = writeln!(text, "columns: {}", crate::shown::names(rows.header()));
    let [mut counted, mut below, mut above, mut unknown, mut no_number, mut no_person, mut again] =
        [0_u64; 7];
    let mut names: BTreeMap<String, u64> = BTreeMap::new();
    let (_, passed_over) = groups::read(&job.plan, &job.source, &mut |met| match met {
        Met::Counted => counted += 1,
        Met::Below => below += 1,
        Met::Above => above += 1,
        Met::NoNumber => no_number += 1,
        Met::NoPerson => no_person += 1,
        Met::Again => again += 1,
        Met::UnknownGroup(name) => {
            unknown += 1;
            if names.len() < EXAMPLES || names.contains_key(&name) {
                *names.entry(name).or_default() += 1;
            }
        }
    })?;
    let used = counted + below + above;
    let all = used + unknown + no_number + no_person + again + passed_over;
    for (number, what) in [
        (all, "rows"),
        (used, "count"),
        (below, "of them as the lower bound, being below it"),
        (above, "of them as the upper bound, being above it"),
        (unknown, "left out: of no public group"),
        (no_number, "left out: no number"),
        (no_person, "left out: nobody's"),
        (again, "left out: not the first of their person"),
        (passed_over, "left out: too few or too many cells, a line break in one, or above 1 MB"),
    ] {
        let _ = writeln!(text, "{number:12}  {what}");
    }
    for (name, rows) in names {
        let _ = writeln!(text, "{rows:12}  rows of `{}`, which is no public group", shown(&name));
    }
    if used * 10 < all * 9 {
        text.push_str("Less than 90 % of the rows count: is this what you mean?\n");
    }
    Ok(text)
}

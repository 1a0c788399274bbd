//! Where people are, among public places, to a few places that they are near to.

mod plan;

use crate::cli::LocateArgs;
use crate::disk::Disk;
use crate::error::Error;
use crate::order::{FillOf, Order};
use crate::persons::{Persons, Whose};
use crate::run::{PRIVATE, Said, different_files, form, target};
use crate::search::{EPSILONS, smallest_epsilon};
use crate::stop::Gate;
use crate::table::{Form, Rows, Secrecy, TableProblem};
use crate::value::{Decimal, number, short};
use dp_combinatorial::k_median::Clustering;
use dp_mechanism::Mechanism;
pub use plan::{Distances, LocatePlan, LocateSettings};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::Path;

/// Checks all that is public.
///
/// # Errors
/// Names the setting, or the line of a public file.
pub fn locate_plan(args: &LocateArgs) -> Result<LocatePlan, Error> {
    LocatePlan::new(settings(args, args.loss.epsilon()?)?)
}

fn settings(args: &LocateArgs, epsilon: f64) -> Result<LocateSettings, Error> {
    different_files(
        &[("--places", Some(&args.places)), ("--roads", args.roads.as_deref())],
        &[("--data", Some(&args.file.data))],
    )?;
    let (places, coordinates) = places(&args.places, &args.at)?;
    let distances = match &args.roads {
        Some(path) => Distances::Roads(roads(path, &places)?),
        None if args.at.is_empty() => {
            let (name, got) = ("--at", "nothing".to_owned());
            let want = "the columns of --places with their coordinates, or --roads";
            return Err(Error::Setting { name, got, want });
        }
        None => Distances::Points { dim: args.at.len(), coordinates },
    };
    Ok(LocateSettings {
        places,
        distances,
        column: args.place.clone(),
        person: args.person.clone(),
        k: args.k,
        squares: args.squares,
        people: args.rows,
        epsilon,
    })
}

/// Public places, and their coordinates.
fn places(path: &Path, at: &[String]) -> Result<(Vec<String>, Vec<f64>), Error> {
    let mut rows = Rows::open(path, Secrecy::Public, &Form::default())?;
    let columns: Vec<&str> =
        std::iter::once("place").chain(at.iter().map(String::as_str)).collect();
    rows.choose(&columns)?;
    let (mut places, mut coordinates) = (Vec::new(), Vec::new());
    while rows.advance()? {
        places.push(rows.name(0)?.into_owned());
        for column in 1..columns.len() {
            let text = rows.text(column)?;
            let read = number(&text, Decimal::Point).filter(|number| number.is_finite());
            let wrong =
                || rows.refuse(TableProblem::Refused { reason: format!("`{text}` is no number") });
            coordinates.push(read.ok_or_else(wrong)?);
        }
    }
    Ok((places, coordinates))
}

/// Public roads: columns `from`, `to` and `length`, in whole units.
fn roads(path: &Path, places: &[String]) -> Result<Vec<(u32, u32, u32)>, Error> {
    let numbers: BTreeMap<&str, u32> = places.iter().map(String::as_str).zip(0..).collect();
    let mut rows = Rows::open(path, Secrecy::Public, &Form::default())?;
    rows.choose(&["from", "to", "length"])?;
    let mut roads = Vec::new();
    while rows.advance()? {
        let refuse = |reason| rows.refuse(TableProblem::Refused { reason });
        let end = |column| -> Result<u32, Error> {
            let name = rows.name(column)?;
            let found = numbers.get(&*name).copied();
            Ok(found.ok_or_else(|| refuse(format!("there is no place `{name}`")))?)
        };
        let (from, to) = (end(0)?, end(1)?);
        let length = u32::try_from(rows.natural(2)?)
            .map_err(|_| refuse("a length above 4294967295".to_owned()))?;
        roads.push((from, to, length));
    }
    Ok(roads)
}

/// How many rows met what end. Private.
#[derive(Clone, Default)]
struct Met {
    used: u64,
    nobodys: u64,
    again: u64,
    unknown: u64,
    passed_over: u64,
}

/// Reads at which place people are. Rows of a wrong shape, of no public place, without a person where one is asked for, and all but the first
/// of each are left out.
fn read(args: &LocateArgs, plan: &LocatePlan, met: &mut Met) -> Result<Vec<u32>, Error> {
    let settings = plan.settings();
    let mut rows = Rows::open(&args.file.data, Secrecy::Private, &form(&args.file.form)?)?;
    let columns = std::iter::once(settings.column.as_str()).chain(settings.person.as_deref());
    rows.choose(&columns.collect::<Vec<_>>())?;
    let mut persons = Persons::new(settings.person.is_some());
    let mut people = Vec::new();
    while rows.advance()? {
        if persons.whose(|| rows.name_or_none(1)) != Whose::First {
            continue;
        }
        match rows.text_or_none(0).and_then(|name| plan.place(&name)) {
            Some(place) => people.push(place),
            None => met.unknown += 1,
        }
    }
    (met.nobodys, met.again) = (persons.nobodys, persons.again);
    (met.used, met.passed_over) = (people.len() as u64, rows.passed_over());
    Ok(people)
}

/// From a file to a folder. `draw` is the plan's release, or in a claim its replay.
///
/// # Errors
/// [`Error`]. What rows say is never one.
pub fn release_locate(
    args: &LocateArgs,
    gate: &Gate,
    disk: &dyn Disk,
    draw: impl FnOnce(&LocatePlan, &[u32]) -> Clustering,
) -> Result<Said, Error> {
    let (target, plan) = (target(&args.target)?, locate_plan(args)?);
    let order = Order::new("locate", &target, plan.receipt(), &plan, gate, disk)?;
    let mut aside = order.notes().iter().fold(String::new(), |text, note| text + note + "\n");
    let people = read(args, &plan, &mut Met::default())?;
    let text = report(&plan);
    let files: [(&str, FillOf<'_, Clustering>); 2] = [
        ("centres.csv", Box::new(|found, to| table(&plan, found, to))),
        ("report.txt", Box::new(|_, to| to.write_all(text.as_bytes()))),
    ];
    order.carry_out(|| draw(&plan, &people), &files)?;
    drop(files);
    let _ = writeln!(aside, "Written to {}; only you can read it.", target.out.display());
    Ok(Said { text, aside, unproved: false })
}

fn report(plan: &LocatePlan) -> String {
    let LocateSettings { places, column, person, .. } = plan.settings();
    let who = match person {
        Some(column) => format!(
            "a person, of whom only the first row counts (column `{column}` says whose row it is; rows without are left out)"
        ),
        None => "whoever is in one row; somebody in several rows is protected in each of them only"
            .to_owned(),
    };
    let error = match plan.place_error() {
        Some(error) => format!(
            "The number of people at each place has a standard error of {error:.2} at most; that of a centre is in the table. Centres were chosen where noise \
             happened to be high, so that counts are a little high."
        ),
        None => "How far the numbers of people are from the truth is not known.".to_owned(),
    };
    format!(
        "{}\n\nProtected: {who}.\nPlaces: the {} public ones; rows of another `{column}` are left out.\n{error}\n\
         The budget is spent: add this receipt to those of all other releases about the same people.\n",
        plan.receipt(),
        places.len(),
    )
}

/// An interval reaches so many standard errors.
const REACH: f64 = 1.96;

fn table(plan: &LocatePlan, found: &Clustering, to: &mut dyn io::Write) -> io::Result<()> {
    let mut lines = csv::Writer::from_writer(to);
    lines.write_record([
        "centre",
        "people",
        "people_error",
        "people_low",
        "people_high",
        "signal",
    ])?;
    for (centre, (people, error)) in found.centres.iter().zip(plan.served(found)) {
        let name = plan.settings().places.get(*centre as usize).map_or("", String::as_str);
        let mut record = vec![name.to_owned(), short(people)];
        match error {
            Some(error) => {
                let reach = REACH * error;
                record.extend(
                    [error, (people - reach).max(0.0), (people + reach).max(0.0)].map(short),
                );
                record.push(if people > reach { "yes" } else { "no" }.to_owned());
            }
            None => record.extend(["", "", "", ""].map(str::to_owned)),
        }
        lines.write_record(record)?;
    }
    lines.flush()
}

/// What a release would use, for the holder only.
///
/// # Errors
/// [`Error`].
pub(crate) fn check(args: &LocateArgs) -> Result<String, Error> {
    let plan = locate_plan(args)?;
    let mut text = PRIVATE.to_owned();
    let rows = Rows::open(&args.file.data, Secrecy::Private, &form(&args.file.form)?)?;
    let _ = writeln!(text, "columns: {}", crate::shown::names(rows.header()));
    let mut met = Met::default();
    read(args, &plan, &mut met)?;
    let Met { used, nobodys, again, unknown, passed_over } = met;
    for (number, what) in [
        (used + nobodys + again + unknown + passed_over, "rows"),
        (used, "people"),
        (unknown, "left out: at no public place"),
        (nobodys, "left out: nobody's"),
        (again, "left out: not the first of their person"),
        (passed_over, "left out: too few or too many cells, a line break in one, or above 1 MB"),
    ] {
        let _ = writeln!(text, "{number:12}  {what}");
    }
    Ok(text)
}

/// What a release costs, and how much noise there is.
///
/// # Errors
/// [`Error`].
pub(crate) fn plan_text(args: &LocateArgs) -> Result<String, Error> {
    let error = |epsilon: f64| -> Result<f64, Error> {
        let plan = LocatePlan::new(settings(args, epsilon)?)?;
        Ok(plan.place_error().unwrap_or(f64::INFINITY))
    };
    let mut text = String::new();
    let epsilon = match args.loss.accuracy {
        None => args.loss.epsilon()?,
        Some(target) => {
            let epsilon = smallest_epsilon(target, error)?;
            let _ = writeln!(
                text,
                "Epsilon {epsilon} is the smallest with a standard error of {target} people at most at every place.\n"
            );
            epsilon
        }
    };
    let plan = LocatePlan::new(settings(args, epsilon)?)?;
    let _ = writeln!(
        text,
        "{}\n\nOne pass over the file; then 4 bytes of memory for each row, and up to 4 bytes for each pair of places.",
        plan.receipt()
    );
    if plan.place_error().is_none() {
        text.push_str("How good the centres will be is not known: there are too many places to count people at each.\n");
        return Ok(text);
    }
    let _ = writeln!(text, "{:>8} {:>24}", "epsilon", "error of people at a place");
    for epsilon in EPSILONS {
        if let Ok(error) = error(epsilon) {
            let _ = writeln!(text, "{epsilon:>8} {error:>24.2}");
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::{Clustering, Distances, LocatePlan, LocateSettings, table};
    use dp_mechanism::{ChaCha20Rng, Mechanism};
    use rand::SeedableRng;

    fn plan(squares: bool, coordinates: &[f64]) -> LocatePlan {
        let places = (0..coordinates.len()).map(|place| place.to_string()).collect();
        LocatePlan::new(LocateSettings {
            places,
            distances: Distances::Points { dim: 1, coordinates: coordinates.to_vec() },
            column: "place".to_owned(),
            person: None,
            k: 1,
            squares,
            people: 1_000,
            epsilon: 20.0,
        })
        .unwrap()
    }

    /// An interval is of 95 %, and a count within it of none is noise.
    #[test]
    fn what_is_said_of_a_centre_follows_from_its_error() {
        let plan = plan(false, &[0.0, 9.0]);
        let found = |people| Clustering { centres: vec![0], places: vec![0], users: vec![people] };
        let error = plan.served(&found(0.0))[0].1.unwrap();
        for (errors, signal) in [(1.5, "no"), (1.9, "no"), (2.0, "yes"), (9.0, "yes")] {
            let mut written = Vec::new();
            table(&plan, &found(errors * error), &mut written).unwrap();
            let text = String::from_utf8(written).unwrap();
            let cells: Vec<&str> = text.lines().nth(1).unwrap().split(',').collect();
            assert_eq!(cells[5], signal, "{text}");
            let high: f64 = cells[4].parse().unwrap();
            assert!((high / error - errors - 1.96).abs() < 1e-2, "{text}");
        }
    }

    /// Three people at one place and two at another: the middle place is nearest in squares, and that of most people in distance.
    #[test]
    fn centres_are_near_as_was_asked_for() {
        let people: Vec<u32> = [[0; 3].as_slice(), &[2; 2]].concat().repeat(200);
        for (squares, centre) in [(false, 0), (true, 1)] {
            let plan = plan(squares, &[0.0, 4.0, 10.0]);
            let mut rng = ChaCha20Rng::seed_from_u64(1);
            let found = plan.simulate(&people, &mut rng).unwrap().output;
            assert_eq!(found.centres, [centre], "{squares}");
        }
    }
}

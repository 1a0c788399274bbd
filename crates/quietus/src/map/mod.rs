//! Places to a map: one release, from which centres for every number of them are free.
//!
//! What is hidden is chosen: whether somebody is in the file, where somebody is, or where somebody is to within a distance in metres.

mod accuracy;
mod plan;
mod report;

use crate::centres::CentreError;
use crate::cli::MapArgs;
use crate::cluster::axes;
use crate::disk::Disk;
use crate::error::Error;
use crate::order::{FillOf, Order};
use crate::passes::{self, Columns, Job, PassDraws, PassTold, refuse_person};
use crate::persons::{Persons, Whose};
use crate::run::{PRIVATE, Said, form, target};
use crate::stop::Gate;
use crate::table::{Rows, Secrecy, is_binary};
use crate::value::Decimal;
use accuracy::{errors, solve};
use dp_accounting::{AddRemove, ReplaceOne, Within};
use dp_cluster::map::ReleasedMap;
use dp_cluster::{Budget, Clustering, Points};
use dp_mechanism::{Algorithm, Mechanism};
use plan::NO_DEGREES;
pub use plan::{Hides, MapPlan, MapSettings, Unit};
pub(crate) use report::plan_text;
use std::fmt::Write as _;

/// A plan under whichever relation was asked for.
#[derive(Clone, Debug)]
pub enum AnyMap {
    /// Whether somebody is there is hidden.
    AddRemove(MapPlan<AddRemove>),
    /// What a row says is hidden.
    ReplaceOne(MapPlan<ReplaceOne>),
    /// Where somebody is, to within a distance.
    Within(MapPlan<Within>),
}

/// Checks all that is public.
///
/// # Errors
/// Names the setting and what was wanted.
pub fn map_plan(args: &MapArgs) -> Result<AnyMap, Error> {
    map_plan_at(args, args.loss.epsilon()?)
}

fn map_plan_at(args: &MapArgs, epsilon: f64) -> Result<AnyMap, Error> {
    let within = |name, metres: f64| {
        Within::new(metres).map_err(|_| Error::Setting {
            name,
            got: metres.to_string(),
            want: "metres, finite and above 0: at 0, nothing would be hidden",
        })
    };
    Ok(match (args.within, args.replace_one) {
        (Some(metres), _) => {
            let less = args.charge_within.map(|metres| within("--charge-within", metres));
            let (relation, charged) = (within("--within", metres)?, less.transpose()?);
            AnyMap::Within(MapPlan::new(settings(args, epsilon, relation, charged)?)?)
        }
        (None, true) => {
            AnyMap::ReplaceOne(MapPlan::new(settings(args, epsilon, ReplaceOne, None)?)?)
        }
        (None, false) => {
            AnyMap::AddRemove(MapPlan::new(settings(args, epsilon, AddRemove, None)?)?)
        }
    })
}

fn settings<R: Hides>(
    args: &MapArgs,
    epsilon: f64,
    relation: R,
    charged: Option<R>,
) -> Result<MapSettings<R>, Error> {
    let unit = match args.unit.as_str() {
        "m" => Unit::M,
        "km" => Unit::Km,
        "deg" | "degree" | "degrees" | "\u{b0}" => {
            let (name, got) = ("--unit", args.unit.clone());
            return Err(Error::Setting { name, got, want: NO_DEGREES });
        }
        other => {
            let known = ["m", "km"].map(str::to_owned).to_vec();
            return Err(Error::Unknown { what: "unit", got: other.to_owned(), known });
        }
    };
    let budget = Budget::new(epsilon, args.delta);
    Ok(MapSettings {
        axes: axes(&args.range)?,
        unit,
        relation,
        charged,
        person: args.person.clone(),
        records: args.rows,
        k: args.k.clone(),
        median: args.median,
        budget: budget.map_err(|error| Error::library("--epsilon and --delta", &error))?,
    })
}

/// How many rows met what end. Private.
#[derive(Clone, Debug, Default)]
struct Met {
    places: u64,
    no_number: u64,
    nobodys: u64,
    again: u64,
    passed_over: u64,
    outside: u64,
}

/// Reads places, and keeps them: see [`each_place`].
fn read<R: Hides>(args: &MapArgs, plan: &MapPlan<R>, met: &mut Met) -> Result<Points, Error> {
    let mut coords = Vec::new();
    each_place(args, plan, met, &mut |place| {
        coords.extend_from_slice(place);
        Ok(())
    })?;
    let places = Points::new(coords, plan.settings().axes.len());
    places.map_err(|error| Error::library("the places", &error))
}

/// Reads places, in metres. Where somebody may come or go, rows without a number in every column are left out; where their number is public
/// every row is a place, and what is no number is the middle of its range. Numbers outside of the bounds count as the closer bound.
fn each_place<R: Hides>(
    args: &MapArgs,
    plan: &MapPlan<R>,
    met: &mut Met,
    each: &mut dyn FnMut(&[f64]) -> Result<(), Error>,
) -> Result<(), Error> {
    let settings = plan.settings();
    let decimal = if args.file.decimal_comma { Decimal::Comma } else { Decimal::Point };
    let mut rows = Rows::open(&args.file.data, Secrecy::Private, &form(&args.file.form)?)?;
    let columns = settings.axes.iter().map(|axis| axis.column.as_str());
    let chosen: Vec<&str> = columns.chain(settings.person.as_deref()).collect();
    rows.choose(&chosen)?;
    if R::PUBLIC_SIZE && rows.header().len() == 1 && !is_binary(&args.file.data) {
        // A reader of text skips blank lines, so one empty place would change the number of rows, and with it whether there is a release.
        return Err(Error::Setting {
            name: "--data",
            got: "a file of one column".to_owned(),
            want: "a file of two columns or more where the number of rows is public: in one, an empty row is a blank line",
        });
    }
    let (dim, metres) = (settings.axes.len(), settings.unit.metres());
    let mut persons = Persons::new(settings.person.is_some());
    let middle = |axis: &crate::cluster::Axis| f64::midpoint(axis.low, axis.high);
    let (mut place, mut inside_of) = (Vec::with_capacity(dim), Vec::with_capacity(dim));
    while rows.advance()? {
        if persons.whose(|| rows.name_or_none(dim)) != Whose::First {
            continue;
        }
        place.clear();
        place.extend((0..dim).map(|axis| rows.number_or_none(axis, decimal)));
        if place.contains(&None) {
            met.no_number += 1;
            if !R::PUBLIC_SIZE {
                continue;
            }
        }
        met.places += 1;
        let inside = |(axis, x): (&crate::cluster::Axis, &Option<f64>)| {
            x.is_none_or(|x| (axis.low..=axis.high).contains(&x))
        };
        met.outside += u64::from(!settings.axes.iter().zip(&place).all(inside));
        inside_of.clear();
        inside_of.extend(
            settings
                .axes
                .iter()
                .zip(&place)
                .map(|(axis, x)| x.map_or(middle(axis), |x| x.clamp(axis.low, axis.high)) * metres),
        );
        each(&inside_of)?;
    }
    (met.nobodys, met.again) = (persons.nobodys, persons.again);
    met.passed_over = rows.passed_over();
    if R::PUBLIC_SIZE {
        // A row of a wrong shape is a row.
        met.places += met.passed_over;
        let middles: Vec<f64> = settings.axes.iter().map(|axis| middle(axis) * metres).collect();
        for _ in 0..met.passed_over {
            each(&middles)?;
        }
    }
    Ok(())
}

/// Draws, for whichever relation: the plan's release, or in a claim its replay.
pub trait DrawMap {
    /// Of this plan and these places.
    fn draw<R: Hides>(self, plan: &MapPlan<R>, places: &Points) -> ReleasedMap;
}

/// From a file to a folder.
///
/// # Errors
/// [`Error`]. What rows say is never one; another number of rows than the public one is.
pub fn release_map(
    args: &MapArgs,
    gate: &Gate,
    disk: &dyn Disk,
    draw: impl DrawMap,
) -> Result<Said, Error> {
    match map_plan(args)? {
        AnyMap::AddRemove(plan) => release_one(args, &plan, gate, disk, draw),
        AnyMap::ReplaceOne(plan) => release_one(args, &plan, gate, disk, draw),
        AnyMap::Within(plan) => release_one(args, &plan, gate, disk, draw),
    }
}

/// What was drawn, and what follows from it.
struct Released {
    map: ReleasedMap,
    /// For each number of centres.
    clusterings: Vec<(Clustering, Vec<CentreError>)>,
}

fn release_one<R: Hides>(
    args: &MapArgs,
    plan: &MapPlan<R>,
    gate: &Gate,
    disk: &dyn Disk,
    draw: impl DrawMap,
) -> Result<Said, Error> {
    let target = target(&args.target)?;
    let order = Order::new("map", &target, plan.receipt(), plan, gate, disk)?;
    let mut aside = order.notes().iter().fold(String::new(), |text, note| text + note + "\n");
    let places = read(args, plan, &mut Met::default())?;
    // The number of rows, where it is public: before anything is spent.
    plan.check(&MapPlan::<R>::shape(&places.view()))
        .map_err(|error| Error::library("--rows", &error))?;
    let text = report::report(plan);
    let drawn = || released(args, plan, draw.draw(plan, &places));
    order.carry_out(drawn, &files(plan, &text))?;
    let _ = writeln!(aside, "Written to {}; only you can read it.", target.out.display());
    Ok(Said { text, aside, unproved: false })
}

/// The same in a pass over the file, of which nothing is kept.
///
/// # Errors
/// Those of [`release_map`].
pub fn release_map_by_passes(
    args: &MapArgs,
    gate: &Gate,
    disk: &dyn Disk,
    draws: &mut PassDraws<'_>,
    told: &mut PassTold<'_>,
) -> Result<Said, Error> {
    match map_plan(args)? {
        AnyMap::AddRemove(plan) => by_passes(args, &plan, gate, disk, (draws, told)),
        AnyMap::ReplaceOne(plan) => by_passes(args, &plan, gate, disk, (draws, told)),
        AnyMap::Within(plan) => by_passes(args, &plan, gate, disk, (draws, told)),
    }
}

fn by_passes<R: Hides>(
    args: &MapArgs,
    plan: &MapPlan<R>,
    gate: &Gate,
    disk: &dyn Disk,
    with: (&mut PassDraws<'_>, &mut PassTold<'_>),
) -> Result<Said, Error> {
    let (target, text) = (target(&args.target)?, report::report(plan));
    let (family, resume, table) = ("map", args.passes.resume, args.passes.from_tables.as_deref());
    if table.is_some() {
        refuse_person(plan.settings().person.as_deref())?;
    }
    let receipt = plan.receipt();
    let job = Job { family, target: &target, receipt, plan, resume, table, gate, disk };
    let mut scan = |each: &mut dyn FnMut(&[f64]) -> Result<(), Error>| {
        each_place(args, plan, &mut Met::default(), each)
    };
    let made = |map| released(args, plan, map);
    let files = files(plan, &text);
    let ended = passes::release(job, plan.map().clone(), &mut scan, with, made, &files)?;
    drop(files);
    Ok(ended.said(text))
}

/// The SQL of the pass.
///
/// # Errors
/// [`Error`].
pub(crate) fn explain(args: &MapArgs, disk: &dyn Disk) -> Result<String, Error> {
    match map_plan(args)? {
        AnyMap::AddRemove(plan) => explain_one(args, &plan, disk),
        AnyMap::ReplaceOne(plan) => explain_one(args, &plan, disk),
        AnyMap::Within(plan) => explain_one(args, &plan, disk),
    }
}

fn explain_one<R: Hides>(
    args: &MapArgs,
    plan: &MapPlan<R>,
    disk: &dyn Disk,
) -> Result<String, Error> {
    let (form, settings) = (form(&args.file.form)?, plan.settings());
    let target = args.target.out.is_some().then(|| target(&args.target)).transpose()?;
    let metres = settings.unit.metres();
    let inwards =
        |_: &crate::cluster::Axis, x: &str| format!("{x} * {}", passes::sql_double(metres));
    let middle = |axis: &crate::cluster::Axis| f64::midpoint(axis.low, axis.high) * metres;
    let (axes, person) = (&settings.axes, settings.person.as_deref());
    let missing: Option<&dyn Fn(&crate::cluster::Axis) -> f64> =
        if R::PUBLIC_SIZE { Some(&middle) } else { None };
    let columns = Columns { axes, form: &form, person, inwards: &inwards, missing };
    let from = (&columns, args.file.data.as_path());
    passes::explain(plan.map().clone(), ("map", plan), target.as_ref(), from, disk)
}

fn released<R: Hides>(args: &MapArgs, plan: &MapPlan<R>, map: ReleasedMap) -> Released {
    let solved = solve(plan, &map);
    let errors = errors(plan, &map, &solved, args.simulations);
    Released { map, clusterings: solved.into_iter().zip(errors).collect() }
}

/// What follows from a release, and what it says of itself.
fn files<'a, R: Hides>(
    plan: &'a MapPlan<R>,
    text: &'a str,
) -> [(&'static str, FillOf<'a, Released>); 4] {
    [
        ("centres.csv", Box::new(|released, to| report::centres(plan, released, to))),
        ("map.csv", Box::new(|released, to| report::map(plan, released, to))),
        ("report.txt", Box::new(|_, to| to.write_all(text.as_bytes()))),
        (
            "map.svg",
            Box::new(|released, to| to.write_all(report::picture(plan, released).as_bytes())),
        ),
    ]
}

/// What a release would use, for the holder only.
///
/// # Errors
/// [`Error`].
pub(crate) fn check(args: &MapArgs) -> Result<String, Error> {
    match map_plan(args)? {
        AnyMap::AddRemove(plan) => check_one(args, &plan),
        AnyMap::ReplaceOne(plan) => check_one(args, &plan),
        AnyMap::Within(plan) => check_one(args, &plan),
    }
}

fn check_one<R: Hides>(args: &MapArgs, plan: &MapPlan<R>) -> Result<String, Error> {
    let mut text = PRIVATE.to_owned();
    let rows = Rows::open(&args.file.data, Secrecy::Private, &form(&args.file.form)?)?;
    let _ = writeln!(text, "columns: {}", crate::shown::names(rows.header()));
    let mut met = Met::default();
    read(args, plan, &mut met)?;
    let left_out = if R::PUBLIC_SIZE { "in the middle" } else { "left out" };
    for (number, what) in [
        (met.places, "places".to_owned()),
        (met.outside, "of them outside of the bounds".to_owned()),
        (met.no_number, format!("{left_out}: no number in some column")),
        (met.nobodys, "left out: nobody's".to_owned()),
        (met.again, "left out: not the first of their person".to_owned()),
        (met.passed_over, format!("{left_out}: too few or too many cells, or a line break in one")),
    ] {
        let _ = writeln!(text, "{number:12}  {what}");
    }
    if R::PUBLIC_SIZE && plan.settings().records != Some(met.places) {
        let _ = writeln!(text, "--rows must be {}.", met.places);
    }
    if 2 * met.outside > met.places {
        text.push_str("More than half of the places are outside: are the bounds in their unit?\n");
    }
    Ok(text)
}

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
use crate::order::{Draw, FillOf, Order};
use crate::passes::{self, Columns, Job, PassDraws, PassTold, refuse_person};
use crate::points::{Met, PointRows};
use crate::run::{Said, form, target};
use crate::search::plan_or_least;
use crate::stop::Gate;
use accuracy::{errors, solve};
use dp_accounting::{AddRemove, ReplaceOne, Within};
use dp_cluster::map::ReleasedMap;
use dp_cluster::{Budget, Clustering};
use dp_mechanism::{Algorithm, Mechanism};
pub use plan::{Hides, MapPlan, MapSettings, Unit};
pub(crate) use plan::{NO_DEGREES, known, only_distances};
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
    plan_or_least(args.loss.epsilon()?, |epsilon| map_plan_at(args, epsilon))
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

/// Reads places, in metres.
fn rows<'a, R: Hides>(args: &'a MapArgs, settings: &'a MapSettings<R>) -> PointRows<'a> {
    let metres = settings.unit.metres();
    PointRows {
        file: &args.file,
        axes: &settings.axes,
        person: settings.person.as_deref(),
        every_row: R::PUBLIC_SIZE,
        inwards: Box::new(move |_, x| x * metres),
    }
}

/// From a file to a folder.
///
/// # Errors
/// [`Error`]. What rows say is never one; another number of rows than the public one is.
pub fn release_map(
    args: &MapArgs,
    gate: &Gate,
    disk: &dyn Disk,
    draw: impl Draw,
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
    draw: impl Draw,
) -> Result<Said, Error> {
    let target = target(&args.target)?;
    let order = Order::new("map", &target, plan.receipt(), plan, gate, disk)?;
    let mut aside = order.notes().iter().fold(String::new(), |text, note| text + note + "\n");
    let places = rows(args, plan.settings()).keep(&mut Met::default())?;
    // The number of rows, where it is public: before anything is spent.
    plan.check(&MapPlan::<R>::shape(&places.view()))
        .map_err(|error| Error::library("--rows", &error))?;
    let text = report::report(plan);
    let drawn = || released(args, plan, draw.draw(plan, places.view()));
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
        rows(args, plan.settings()).each(&mut Met::default(), each)
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
    rows(args, plan.settings()).check(plan.settings().records)
}

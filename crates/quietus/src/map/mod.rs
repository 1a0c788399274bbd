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
use crate::persons::{Persons, Whose};
use crate::run::{PRIVATE, Said, form, target};
use crate::stop::Gate;
use crate::table::{Rows, Secrecy, is_binary};
use crate::value::{Decimal, number};
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

/// Reads places, in metres. Where somebody may come or go, rows without a number in every column are left out; where their number is public
/// every row is a place, and what is no number is the middle of its range. Numbers outside of the bounds count as the closer bound.
fn read<R: Hides>(args: &MapArgs, plan: &MapPlan<R>, met: &mut Met) -> Result<Points, Error> {
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
    let (mut coords, mut place) = (Vec::new(), Vec::new());
    while rows.advance()? {
        if persons.whose(|| rows.name_or_none(dim)) != Whose::First {
            continue;
        }
        place.clear();
        place.extend((0..dim).map(|axis| number(&rows.text_or_none(axis)?, decimal)));
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
        coords.extend(settings.axes.iter().zip(&place).map(|(axis, x)| {
            let middle = f64::midpoint(axis.low, axis.high);
            x.map_or(middle, |x| x.clamp(axis.low, axis.high)) * metres
        }));
    }
    (met.nobodys, met.again) = (persons.nobodys, persons.again);
    met.passed_over = rows.passed_over();
    if R::PUBLIC_SIZE {
        // A row of a wrong shape is a row.
        met.places += met.passed_over;
        for _ in 0..met.passed_over {
            coords.extend(settings.axes.iter().map(|a| f64::midpoint(a.low, a.high) * metres));
        }
    }
    Points::new(coords, dim).map_err(|error| Error::library("the places", &error))
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
    let drawn = || {
        let map = draw.draw(plan, &places);
        let solved = solve(plan, &map);
        let errors = errors(plan, &map, &solved, args.simulations);
        Released { map, clusterings: solved.into_iter().zip(errors).collect() }
    };
    let files: [(&str, FillOf<'_, Released>); 4] = [
        ("centres.csv", Box::new(|released, to| report::centres(plan, released, to))),
        ("map.csv", Box::new(|released, to| report::map(plan, released, to))),
        ("report.txt", Box::new(|_, to| to.write_all(text.as_bytes()))),
        (
            "map.svg",
            Box::new(|released, to| to.write_all(report::picture(plan, released).as_bytes())),
        ),
    ];
    order.carry_out(drawn, &files)?;
    drop(files);
    let _ = writeln!(aside, "Written to {}; only you can read it.", target.out.display());
    Ok(Said { text, aside, unproved: false })
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

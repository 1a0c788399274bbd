//! Points to centres and counts.
//!
//! A row with a number in every column is a point. Columns are scaled by their public bounds unless that is declined, so that no unit
//! outweighs another, and centres are released in the units of the columns.

mod plan;

use crate::cli::ClusterArgs;
use crate::disk::Disk;
use crate::error::Error;
use crate::order::{FillOf, Order};
use crate::persons::Persons;
use crate::picture::{Dot, dots};
use crate::run::{PRIVATE, Said, form, target};
use crate::stop::Gate;
use crate::table::{Form, Rows, Secrecy};
use crate::value::{Decimal, number};
use dp_cluster::{Budget, Clustering, Points};
use dp_mechanism::Mechanism;
pub use plan::{Axis, ClusterPlan, ClusterSettings, Method};
use std::fmt::Write as _;
use std::io;

/// How many rows met what end. Private.
#[derive(Clone, Debug, Default, PartialEq)]
struct Met {
    points: u64,
    no_number: u64,
    nobodys: u64,
    again: u64,
    passed_over: u64,
    /// By column: below and above its bounds.
    outside: Vec<(u64, u64)>,
}

/// Checks all that is public.
///
/// # Errors
/// Names the setting and what was wanted.
pub fn cluster_plan(args: &ClusterArgs) -> Result<ClusterPlan, Error> {
    let axis = |text: &String| {
        let parts = text.split_once('=').and_then(|(column, ends)| {
            let (low, high) = ends.split_once(',')?;
            Some((column.to_owned(), low.trim().parse().ok()?, high.trim().parse().ok()?))
        });
        let (column, low, high) = parts.ok_or_else(|| Error::Setting {
            name: "--range",
            got: format!("`{text}`"),
            want: "a column and its public bounds, as age=0,100",
        })?;
        Ok(Axis { column, low, high })
    };
    let axes = args.range.iter().map(axis).collect::<Result<Vec<_>, Error>>()?;
    let method = match args.method.as_str() {
        // By what is public alone.
        "auto" if args.delta > 0.0 => Method::Recentred,
        "auto" => Method::Lloyd,
        name => {
            let found = Method::ALL.into_iter().find(|(known, _)| *known == name);
            let known = || Method::ALL.map(|(name, _)| name.to_owned()).to_vec();
            let unknown =
                || Error::Unknown { what: "method", got: name.to_owned(), known: known() };
            found.ok_or_else(unknown)?.1
        }
    };
    let budget = Budget::new(args.epsilon, args.delta);
    ClusterPlan::new(ClusterSettings {
        axes,
        person: args.person.clone(),
        k: args.k,
        method,
        scaled: !args.unscaled,
        budget: budget.map_err(|error| Error::library("--epsilon and --delta", &error))?,
    })
}

/// Reads points: rows of a wrong shape, without a person where one is asked for, that are not the first of their person, or without a
/// number in some column are left out; numbers outside of the bounds count as the closer bound.
fn read(
    args: &ClusterArgs,
    plan: &ClusterPlan,
    form: &Form,
    met: &mut Met,
) -> Result<Points, Error> {
    let settings = plan.settings();
    let decimal = if args.file.decimal_comma { Decimal::Comma } else { Decimal::Point };
    let mut rows = Rows::open(&args.file.data, Secrecy::Private, form)?;
    let columns = settings.axes.iter().map(|axis| axis.column.as_str());
    let chosen: Vec<&str> = columns.chain(settings.person.as_deref()).collect();
    rows.choose(&chosen)?;
    let dim = settings.axes.len();
    let mut persons = settings.person.as_ref().map(|_| Persons::default());
    let (mut coords, mut point) = (Vec::new(), Vec::new());
    met.outside = vec![(0, 0); dim];
    while rows.advance()? {
        if let Some(persons) = &mut persons {
            match rows.name_or_none(dim).map(|name| persons.is_new(&name)) {
                None => {
                    met.nobodys += 1;
                    continue;
                }
                Some(false) => {
                    met.again += 1;
                    continue;
                }
                Some(true) => {}
            }
        }
        point.clear();
        point.extend((0..dim).map_while(|axis| number(&rows.text_or_none(axis)?, decimal)));
        if point.len() < dim {
            met.no_number += 1;
            continue;
        }
        met.points += 1;
        for (axis, &value) in point.iter().enumerate() {
            met.outside[axis].0 += u64::from(value < settings.axes[axis].low);
            met.outside[axis].1 += u64::from(value > settings.axes[axis].high);
            coords.push(plan.inwards(axis, value));
        }
    }
    met.passed_over = rows.passed_over();
    Points::new(coords, dim).map_err(|error| Error::library("the points", &error))
}

/// From a file to a folder. `draw` is the plan's release, or in a claim its replay.
///
/// # Errors
/// [`Error`]. What rows say is never one.
pub fn release_cluster(
    args: &ClusterArgs,
    gate: &Gate,
    disk: &dyn Disk,
    draw: impl FnOnce(&ClusterPlan, &Points) -> Clustering,
) -> Result<Said, Error> {
    let (target, form, plan) = (target(&args.target)?, form(&args.file.form)?, cluster_plan(args)?);
    let order = Order::new("cluster", &target, plan.receipt(), &plan, gate, disk)?;
    let mut aside = order.notes().iter().fold(String::new(), |text, note| text + note + "\n");
    let points = read(args, &plan, &form, &mut Met::default())?;
    let text = report(&plan);
    let files: [(&str, FillOf<'_, Clustering>); 3] = [
        ("centres.csv", Box::new(|clustering, to| table(&plan, clustering, to))),
        ("report.txt", Box::new(|_, to| to.write_all(text.as_bytes()))),
        (
            "centres.svg",
            Box::new(|clustering, to| to.write_all(picture(&plan, clustering).as_bytes())),
        ),
    ];
    order.carry_out(|| draw(&plan, &points), &files)?;
    drop(files);
    let _ = writeln!(aside, "Written to {}; only you can read it.", target.out.display());
    Ok(Said { text, aside, unproved: false })
}

fn report(plan: &ClusterPlan) -> String {
    let ClusterSettings { person, scaled, .. } = plan.settings();
    let who = match person {
        Some(column) => format!(
            "a person, of whom only the first row counts (column `{column}` says whose row it is; rows without are left out)"
        ),
        None => "whoever is in one row; somebody in several rows is protected in each of them only"
            .to_owned(),
    };
    let units = if *scaled {
        "Ranges were scaled to the same length; centres are in the units of their columns."
    } else {
        "Ranges were not scaled: a column of large numbers outweighs the others."
    };
    format!(
        "{}\n\nProtected: {who}.\nRows without a number in every column are left out; numbers outside of the bounds count as the closer bound.\n{units}\n\
         Counts are noisy and at least 0. What a centre is worth depends on its count: one of a few times the noise of a count may be noise alone.\n\
         The budget is spent: add this receipt to those of all other releases about the same people.\n",
        plan.receipt()
    )
}

fn table(plan: &ClusterPlan, clustering: &Clustering, to: &mut dyn io::Write) -> io::Result<()> {
    let mut lines = csv::Writer::from_writer(to);
    let columns = plan.settings().axes.iter().map(|axis| axis.column.as_str());
    lines.write_record(["centre", "count"].into_iter().chain(columns))?;
    for (number, (centre, count)) in
        clustering.centres.view().rows().zip(&clustering.counts).enumerate()
    {
        let mut record = vec![(number + 1).to_string(), count.to_string()];
        record
            .extend(centre.iter().enumerate().map(|(axis, x)| plan.outwards(axis, *x).to_string()));
        lines.write_record(record)?;
    }
    lines.flush()
}

/// The first two columns, or one.
fn picture(plan: &ClusterPlan, clustering: &Clustering) -> String {
    let axes = &plan.settings().axes;
    let ends =
        |axis: usize| axes.get(axis).map_or(("", 0.0, 1.0), |a| (a.column.as_str(), a.low, a.high));
    let dot = |(centre, count): (&[f64], &i64)| Dot {
        at: [0, 1].map(|axis| centre.get(axis).map_or(0.5, |x| plan.outwards(axis, *x))),
        count: *count,
    };
    dots([ends(0), ends(1)], clustering.centres.view().rows().zip(&clustering.counts).map(dot))
}

/// What a release would use, for the holder only.
///
/// # Errors
/// [`Error`].
pub(crate) fn check(args: &ClusterArgs) -> Result<String, Error> {
    let (form, plan) = (form(&args.file.form)?, cluster_plan(args)?);
    let mut text = PRIVATE.to_owned();
    let rows = Rows::open(&args.file.data, Secrecy::Private, &form)?;
    let _ = writeln!(text, "columns: {}", crate::shown::names(rows.header()));
    let mut met = Met::default();
    read(args, &plan, &form, &mut met)?;
    let Met { points, no_number, nobodys, again, passed_over, outside } = met;
    for (number, what) in [
        (points + no_number + nobodys + again + passed_over, "rows"),
        (points, "points"),
        (no_number, "left out: no number in some column"),
        (nobodys, "left out: nobody's"),
        (again, "left out: not the first of their person"),
        (passed_over, "left out: too few or too many cells, or a line break in one"),
    ] {
        let _ = writeln!(text, "{number:12}  {what}");
    }
    for (axis, (below, above)) in plan.settings().axes.iter().zip(outside) {
        let Axis { column, low, high } = axis;
        let _ =
            writeln!(text, "{below:12}  points below {low} in `{column}`, {above} above {high}");
        if 2 * (below + above) > points {
            let _ = writeln!(
                text,
                "More than half of the points are outside in `{column}`: are the bounds in its unit?"
            );
        }
    }
    Ok(text)
}

/// What a release costs.
///
/// # Errors
/// [`Error`].
pub(crate) fn plan_text(args: &ClusterArgs) -> Result<String, Error> {
    let plan = cluster_plan(args)?;
    let dim = plan.settings().axes.len();
    Ok(format!(
        "{}\n\nOne pass over the file; then {} bytes of memory for each row, and what the method needs.\n\
         How good the centres will be depends on how far apart the clusters are, and is not said here: try the plan on made-up data like yours, which costs nothing.\n",
        plan.receipt(),
        8 * dim + 16
    ))
}

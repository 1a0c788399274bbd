//! Points to centres and counts.
//!
//! A row with a number in every column is a point. Columns are scaled by their public bounds unless that is declined, so that no unit
//! outweighs another, and centres are released in the units of the columns.

mod accuracy;
mod plan;
mod report;

pub use crate::centres::CentreError;
use crate::cli::ClusterArgs;
use crate::disk::Disk;
use crate::error::Error;
use crate::order::{FillOf, Order};
use crate::passes::{self, Columns, Job, PassDraws, PassTold, refuse_person};
use crate::persons::{Persons, Whose};
use crate::run::{PRIVATE, Said, form, target};
use crate::stop::Gate;
use crate::table::{Form, Rows, Secrecy};
use crate::value::Decimal;
pub use accuracy::centre_errors;
use dp_cluster::{Budget, Points};
use dp_mechanism::Mechanism;
use plan::Stepwise;
pub use plan::{Axis, ClusterPlan, ClusterSettings, Clusters, Method, Records};
pub(crate) use report::plan_text;
use std::fmt::Write as _;

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
    ClusterPlan::new(settings(args, args.loss.epsilon()?)?)
}

fn settings(args: &ClusterArgs, epsilon: f64) -> Result<ClusterSettings, Error> {
    let axes = axes(&args.range)?;
    let method = match args.method.as_str() {
        "auto" => Method::auto(args.delta),
        name => {
            let found = Method::ALL.into_iter().find(|(known, _)| *known == name);
            let known = || Method::ALL.map(|(name, _)| name.to_owned()).to_vec();
            let unknown =
                || Error::Unknown { what: "method", got: name.to_owned(), known: known() };
            found.ok_or_else(unknown)?.1
        }
    };
    let budget = Budget::new(epsilon, args.delta);
    let finds_k = method == Method::PrivateKmeans && args.k.is_none();
    Ok(ClusterSettings {
        axes,
        person: args.person.clone(),
        k: args.k,
        at_most: args.at_most.or_else(|| finds_k.then(|| most(args.rows, epsilon))),
        method,
        scaled: !args.unscaled,
        records: args.rows,
        outside: args.outside,
        budget: budget.map_err(|error| Error::library("--epsilon and --delta", &error))?,
    })
}

/// How many clusters are looked for if nothing is said: up to 16, as each that is not there takes from the others, and one for each `300 /
/// epsilon` rows, as a centre that looks for a cluster needs so many of its own.
fn most(rows: Option<u64>, epsilon: f64) -> usize {
    let room = rows.map_or(f64::INFINITY, |rows| rows as f64 * epsilon / 300.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "2 to 16")]
    let most = room.clamp(2.0, 16.0) as usize;
    most
}

/// Columns and their public bounds.
pub(crate) fn axes(ranges: &[String]) -> Result<Vec<Axis>, Error> {
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
    ranges.iter().map(axis).collect()
}

/// Reads points, and keeps them: see [`each_point`].
fn read(
    args: &ClusterArgs,
    plan: &ClusterPlan,
    form: &Form,
    met: &mut Met,
) -> Result<Records, Error> {
    let mut coords = Vec::new();
    each_point(args, plan, form, met, &mut |point| {
        coords.extend_from_slice(point);
        Ok(())
    })?;
    let outside = met.outside.iter().map(|(below, above)| (below + above).cast_signed()).collect();
    let points = Points::new(coords, plan.settings().axes.len());
    let points = points.map_err(|error| Error::library("the points", &error))?;
    Ok(Records::new(points, outside))
}

/// Reads points: rows of a wrong shape, without a person where one is asked for, that are not the first of their person, or without a
/// number in some column are left out; numbers outside of the bounds count as the closer bound.
fn each_point(
    args: &ClusterArgs,
    plan: &ClusterPlan,
    form: &Form,
    met: &mut Met,
    each: &mut dyn FnMut(&[f64]) -> Result<(), Error>,
) -> Result<(), Error> {
    let settings = plan.settings();
    let decimal = if args.file.decimal_comma { Decimal::Comma } else { Decimal::Point };
    let mut rows = Rows::open(&args.file.data, Secrecy::Private, form)?;
    let columns = settings.axes.iter().map(|axis| axis.column.as_str());
    let chosen: Vec<&str> = columns.chain(settings.person.as_deref()).collect();
    rows.choose(&chosen)?;
    let dim = settings.axes.len();
    let mut persons = Persons::new(settings.person.is_some());
    let mut point = Vec::with_capacity(dim);
    met.outside = vec![(0, 0); dim];
    while rows.advance()? {
        if persons.whose(|| rows.name_or_none(dim)) != Whose::First {
            continue;
        }
        point.clear();
        point.extend((0..dim).map_while(|axis| rows.number_or_none(axis, decimal)));
        if point.len() < dim {
            met.no_number += 1;
            continue;
        }
        met.points += 1;
        for (axis, value) in point.iter_mut().enumerate() {
            met.outside[axis].0 += u64::from(*value < settings.axes[axis].low);
            met.outside[axis].1 += u64::from(*value > settings.axes[axis].high);
            *value = plan.inwards(axis, *value);
        }
        each(&point)?;
    }
    (met.nobodys, met.again) = (persons.nobodys, persons.again);
    met.passed_over = rows.passed_over();
    Ok(())
}

/// From a file to a folder. `draw` is the plan's release, or in a claim its replay.
///
/// # Errors
/// [`Error`]. What rows say is never one.
pub fn release_cluster(
    args: &ClusterArgs,
    gate: &Gate,
    disk: &dyn Disk,
    draw: impl FnOnce(&ClusterPlan, &Records) -> Clusters,
) -> Result<Said, Error> {
    let (target, form, plan) = (target(&args.target)?, form(&args.file.form)?, cluster_plan(args)?);
    let order = Order::new("cluster", &target, plan.receipt(), &plan, gate, disk)?;
    let mut aside = order.notes().iter().fold(String::new(), |text, note| text + note + "\n");
    let records = read(args, &plan, &form, &mut Met::default())?;
    let text = report::report(&plan);
    let drawn = || released(args, &plan, draw(&plan, &records));
    order.carry_out(drawn, &files(&plan, &text))?;
    let _ = writeln!(aside, "Written to {}; only you can read it.", target.out.display());
    Ok(Said { text, aside, unproved: false })
}

/// The same in passes over the file, of which nothing is kept.
///
/// # Errors
/// Those of [`release_cluster`], and that the method is none of passes, or that the file has changed between two of them.
pub fn release_cluster_by_passes(
    args: &ClusterArgs,
    gate: &Gate,
    disk: &dyn Disk,
    draws: &mut PassDraws<'_>,
    told: &mut PassTold<'_>,
) -> Result<Said, Error> {
    let (target, form, plan) = (target(&args.target)?, form(&args.file.form)?, cluster_plan(args)?);
    let text = report::report(&plan);
    let (family, resume, table) =
        ("cluster", args.passes.resume, args.passes.from_tables.as_deref());
    if table.is_some() {
        refuse_person(plan.settings().person.as_deref())?;
    }
    let job = Job {
        family,
        target: &target,
        receipt: plan.receipt(),
        plan: &plan,
        resume,
        table,
        gate,
        disk,
    };
    let mut scan = |each: &mut dyn FnMut(&[f64]) -> Result<(), Error>| {
        each_point(args, &plan, &form, &mut Met::default(), each)
    };
    let made = |clustering| released(args, &plan, Clusters { clustering, outside: None });
    let files = files(&plan, &text);
    let from = (draws, told);
    let ended = match plan.stepwise()? {
        Stepwise::Dpm(dpm) => passes::release(job, dpm.clone(), &mut scan, from, made, &files),
        _ if args.passes.from_tables.is_some() => Err(no_sql("--from-tables", &plan)),
        Stepwise::PrivateKmeans(kmeans) => {
            passes::release(job, kmeans.clone(), &mut scan, from, made, &files)
        }
        Stepwise::Recentred(recentred) => {
            passes::release(job, recentred.clone(), &mut scan, from, made, &files)
        }
    }?;
    drop(files);
    Ok(ended.said(text))
}

/// The SQL of the next pass.
///
/// # Errors
/// [`Error`].
pub(crate) fn explain(args: &ClusterArgs, disk: &dyn Disk) -> Result<String, Error> {
    let (form, plan) = (form(&args.file.form)?, cluster_plan(args)?);
    let target = args.target.out.is_some().then(|| target(&args.target)).transpose()?;
    let ClusterSettings { axes, person, scaled, .. } = plan.settings();
    let inwards = |axis: &Axis, x: &str| {
        let [low, length] = [axis.low, axis.high - axis.low].map(passes::sql_double);
        if *scaled { format!("({x} - {low}) / {length}") } else { x.to_owned() }
    };
    let person = person.as_deref();
    let columns = Columns { axes, form: &form, person, inwards: &inwards, missing: None };
    let from = (&columns, args.file.data.as_path());
    match plan.stepwise()? {
        Stepwise::Dpm(dpm) => {
            passes::explain(dpm.clone(), ("cluster", &plan), target.as_ref(), from, disk)
        }
        Stepwise::PrivateKmeans(_) | Stepwise::Recentred(_) => Err(no_sql("--explain-sql", &plan)),
    }
}

fn no_sql(name: &'static str, plan: &ClusterPlan) -> Error {
    let got = format!("--method {}", plan.settings().method.name());
    let want = "used with --method dpm: rounds of re-centring round as no SQL does";
    Error::Setting { name, got, want }
}

fn released(args: &ClusterArgs, plan: &ClusterPlan, clusters: Clusters) -> Released {
    let errors = centre_errors(plan, &clusters.clustering, args.simulations);
    Released { clusters, errors }
}

/// What follows from a release, and what it says of itself.
fn files<'a>(plan: &'a ClusterPlan, text: &'a str) -> Vec<(&'static str, FillOf<'a, Released>)> {
    let mut files: Vec<(&'static str, FillOf<'_, Released>)> = vec![
        ("centres.csv", Box::new(|released, to| report::table(plan, released, to))),
        ("report.txt", Box::new(|_, to| to.write_all(text.as_bytes()))),
        (
            "centres.svg",
            Box::new(|released, to| to.write_all(report::picture(plan, released).as_bytes())),
        ),
    ];
    if plan.outside_noise().is_some() {
        files.push((
            "outside.csv",
            Box::new(|released, to| report::outside(plan, &released.clusters, to)),
        ));
    }
    files
}

/// What was drawn, and what follows from it.
struct Released {
    clusters: Clusters,
    errors: Vec<CentreError>,
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

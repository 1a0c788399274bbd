//! Points to centres and counts.
//!
//! A row with a number in every column is a point. Columns are scaled by their public bounds unless that is declined, so that no unit
//! outweighs another, and centres are released in the units of the columns. What is hidden is chosen: whether a point is there, or where it is, up
//! to a distance in the one unit of all columns.

mod accuracy;
mod plan;
mod report;
mod settings;

pub use crate::centres::CentreError;
use crate::cli::ClusterArgs;
use crate::disk::Disk;
use crate::error::Error;
use crate::order::{Draw, FillOf, Order};
use crate::passes::{self, Columns, Job, PassDraws, PassTold, refuse_person};
use crate::points::{Met, PointRows};
use crate::run::{Said, form, read_again, target};
use crate::search::plan_or_least;
use crate::stop::Gate;
pub use accuracy::centre_errors;
use dp_accounting::{AddRemove, Within};
use dp_cluster::Budget;
use dp_mechanism::{Algorithm, Mechanism};
use plan::Stepwise;
pub use plan::{ClusterPlan, Clustered, Clusters, Presence, Records};
pub(crate) use report::plan_text;
pub use settings::{Axis, ClusterSettings, Method};
use std::fmt::Write as _;

/// A plan under whichever relation was asked for.
#[derive(Clone, Debug)]
pub enum AnyClusters {
    /// Whether a point is there is hidden.
    AddRemove(Box<ClusterPlan<AddRemove>>),
    /// Where a point is, up to a distance.
    Within(Box<ClusterPlan<Within>>),
}

/// Checks all that is public.
///
/// # Errors
/// Names the setting and what was wanted.
pub fn cluster_plan(args: &ClusterArgs) -> Result<AnyClusters, Error> {
    plan_or_least(args.loss.epsilon()?, |epsilon| cluster_plan_at(args, epsilon))
}

fn cluster_plan_at(args: &ClusterArgs, epsilon: f64) -> Result<AnyClusters, Error> {
    let settings = settings(args, epsilon)?;
    Ok(match args.within {
        Some(_) => AnyClusters::Within(Box::new(ClusterPlan::new(settings)?)),
        None => AnyClusters::AddRemove(Box::new(ClusterPlan::new(settings)?)),
    })
}

fn settings(args: &ClusterArgs, epsilon: f64) -> Result<ClusterSettings, Error> {
    let axes = axes(&args.range)?;
    let method = match args.method.as_str() {
        "auto" => Method::auto(args.within, args.delta),
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
        at_most: args.at_most.or_else(|| finds_k.then_some(MOST_LOOKED_FOR)),
        method,
        scaled: !args.unscaled,
        within: args.within,
        charged: args.charge_within,
        records: args.rows,
        outside: args.outside,
        budget: budget.map_err(|error| Error::library("--epsilon and --delta", &error))?,
    })
}

/// How many clusters are looked for, at most, if nothing is said.
const MOST_LOOKED_FOR: usize = 16;

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

/// Reads points, as the mechanism takes them.
fn rows<'a>(args: &'a ClusterArgs, settings: &'a ClusterSettings) -> PointRows<'a> {
    PointRows {
        file: &args.file,
        axes: &settings.axes,
        person: settings.person.as_deref(),
        every_row: settings.within.is_some(),
        inwards: Box::new(|axis, x| settings.inwards(axis, x)),
    }
}

/// From a file to a folder.
///
/// # Errors
/// [`Error`]. What rows say is never one; another number of rows than the public one is.
pub fn release_cluster(
    args: &ClusterArgs,
    gate: &Gate,
    disk: &dyn Disk,
    draw: impl Draw,
) -> Result<Said, Error> {
    match cluster_plan(args)? {
        AnyClusters::AddRemove(plan) => release_one(args, &*plan, gate, disk, draw),
        AnyClusters::Within(plan) => release_one(args, &*plan, gate, disk, draw),
    }
}

fn release_one<R: Clustered>(
    args: &ClusterArgs,
    plan: &ClusterPlan<R>,
    gate: &Gate,
    disk: &dyn Disk,
    draw: impl Draw,
) -> Result<Said, Error> {
    let target = target(&args.target)?;
    let order = Order::new("cluster", &target, plan.receipt(), plan, gate, disk)?;
    let mut aside = order.notes().iter().fold(String::new(), |text, note| text + note + "\n");
    let mut met = Met::default();
    let records = rows(args, plan.settings()).keep(&mut met)?;
    let records = Records::new(records, met.outside());
    // The number of rows, where it is public: before anything is spent.
    plan.check(&ClusterPlan::<R>::shape(&&records))
        .map_err(|error| Error::library("--rows", &error))?;
    let text = report::report(plan);
    let drawn = || released(args, plan, draw.draw(plan, &records));
    order.carry_out(drawn, &files(plan, &text))?;
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
    let name = if args.passes.out_of_core { "--out-of-core" } else { "--from-tables" };
    let (target, plan) = (target(&args.target)?, by_passes(args, name)?);
    let text = report::report(&plan);
    let (family, resume, table) =
        ("cluster", args.passes.resume, args.passes.from_tables.as_deref());
    if table.is_some() {
        refuse_person(plan.settings().person.as_deref())?;
    } else {
        read_again(&args.file.data, "a file that can be read again, as each pass reads it")?;
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
        rows(args, plan.settings()).each(&mut Met::default(), each)
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

/// A plan that has passes.
fn by_passes(args: &ClusterArgs, name: &'static str) -> Result<ClusterPlan<AddRemove>, Error> {
    match cluster_plan(args)? {
        AnyClusters::AddRemove(plan) => Ok(*plan),
        AnyClusters::Within(_) => {
            let (got, want) = ("with --within".to_owned(), "used with `map`, or without --within");
            Err(Error::Setting { name, got, want })
        }
    }
}

/// The SQL of the next pass.
///
/// # Errors
/// [`Error`].
pub(crate) fn explain(args: &ClusterArgs, disk: &dyn Disk) -> Result<String, Error> {
    let (form, plan) = (form(&args.file.form)?, by_passes(args, "--explain-sql")?);
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

fn no_sql(name: &'static str, plan: &ClusterPlan<AddRemove>) -> Error {
    let got = format!("--method {}", plan.settings().method.name());
    let want = "used with --method dpm: rounds of re-centring round as no SQL does";
    Error::Setting { name, got, want }
}

fn released<R: Clustered>(
    args: &ClusterArgs,
    plan: &ClusterPlan<R>,
    clusters: Clusters,
) -> Released {
    let errors = centre_errors(plan, &clusters.clustering, args.simulations);
    Released { clusters, errors }
}

/// What follows from a release, and what it says of itself.
fn files<'a, R: Clustered>(
    plan: &'a ClusterPlan<R>,
    text: &'a str,
) -> Vec<(&'static str, FillOf<'a, Released>)> {
    let settings = plan.settings();
    let mut files: Vec<(&'static str, FillOf<'_, Released>)> = vec![
        ("centres.csv", Box::new(|released, to| report::table(settings, released, to))),
        ("report.txt", Box::new(|_, to| to.write_all(text.as_bytes()))),
        (
            "centres.svg",
            Box::new(|released, to| to.write_all(report::picture(settings, released).as_bytes())),
        ),
    ];
    if let Some(noise) = plan.outside_noise() {
        files.push((
            "outside.csv",
            Box::new(move |released, to| report::outside(settings, noise, &released.clusters, to)),
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
    let of = |settings: &ClusterSettings| rows(args, settings).check(settings.records);
    match cluster_plan(args)? {
        AnyClusters::AddRemove(plan) => of(plan.settings()),
        AnyClusters::Within(plan) => of(plan.settings()),
    }
}

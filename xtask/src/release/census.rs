//! `cargo xtask release census`: numbers of groups by size in every region, released once.

use super::Gate;
use super::folder::{self, RECEIPT};
use super::input::{self, Individuals};
use super::settings::Settings;
use super::unit::Unit;
use crate::cli::CensusArgs;
use crate::error::{Error, TableProblem};
use crate::workspace;
use dp_census::{
    Census, CensusError, Certificate, GroupDirectory, GroupSizes, GroupTable, Hierarchy, Method,
};
use dp_mechanism::{Mechanism, SecureDraws, chacha_from_os};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

/// What the data holder is told in the end; none of it is private.
#[derive(Clone, Debug)]
pub(super) struct Report {
    pub(super) text: String,
    /// Whether the table is proved to be the best one for its noise.
    pub(super) proved: bool,
}

/// A plan and the data that it is for.
pub(super) struct Job {
    pub(super) hierarchy: Hierarchy,
    pub(super) plan: Census,
    pub(super) sizes: GroupSizes,
    pub(super) individuals: Individuals,
}

/// Reads, checks, releases, writes.
pub(super) fn release(args: &CensusArgs, gate: &Gate) -> Result<Report, Error> {
    folder::check(&args.out)?;
    let job = prepare(args)?;
    let (table, certificate) = run(&job)?;
    gate.write(|| write(&args.out, &job, &table))?;
    Ok(report(args, &job, certificate))
}

/// All that can go wrong with what is public comes before the private file is opened.
pub(super) fn prepare(args: &CensusArgs) -> Result<Job, Error> {
    let settings = Settings::new(args)?;
    let regions = input::regions(&args.regions)?;
    let hierarchy = regions.hierarchy;
    let shares = settings.shares.of(hierarchy.tree());
    shares.map_err(|error| Error::library("--shares", &error))?;

    let directory = match &args.units {
        Some(units) => Some(input::directory(units, &hierarchy)?),
        None => None,
    };
    let groups = number_of_groups(args, regions.groups.as_deref(), directory.as_ref())?;
    let mut plan = Census::builder(hierarchy.clone(), settings.bins, groups, settings.privacy)
        .method(settings.method)
        .shares(settings.shares)
        .most_quantity(args.most_quantity);
    if let Some(groups) = regions.groups {
        plan = plan.region_groups(groups);
    }
    let plan = plan.build().map_err(|error| Error::library("the plan", &error))?;

    let (bins, most) = (settings.bins, args.most_quantity);
    let (private, (sizes, individuals)) = match (&args.table, &args.people, &directory) {
        (Some(path), ..) => {
            (path, (input::table(path, &hierarchy, bins, most)?, Individuals::Counted))
        }
        (None, Some(path), Some(directory)) => (path, input::people(path, directory, bins, most)?),
        _ => return Err(no_data()),
    };
    // Numbers of groups are public, so that a file which disagrees may be told so.
    plan.check(&&sizes).map_err(|error| disagrees(&hierarchy, private, &error))?;
    Ok(Job { hierarchy, plan, sizes, individuals })
}

/// Public: never counted from the private file.
fn number_of_groups(
    args: &CensusArgs,
    by_region: Option<&[i64]>,
    directory: Option<&GroupDirectory<Unit>>,
) -> Result<i64, Error> {
    let listed = directory.map(|directory| i64::try_from(directory.groups()).unwrap_or(i64::MAX));
    let summed = by_region.map(|groups| groups.iter().fold(0_i64, |a, &b| a.saturating_add(b)));
    let said = [("--groups", args.groups), ("--units", listed), ("--regions", summed)];
    let mut said = said.into_iter().filter_map(|(from, groups)| Some((from, groups?)));
    let Some((first, groups)) = said.next() else {
        let (name, got) = ("--groups", "none".to_owned());
        let want = "given with --table: the number is public and is not counted from private data";
        return Err(Error::Setting { name, got, want });
    };
    match said.find(|(_, other)| *other != groups) {
        None => Ok(groups),
        Some((second, other)) => {
            let reason = format!("{groups} by {first}, {other} by {second}");
            Err(Error::Library { what: "the public number of groups", reason })
        }
    }
}

fn no_data() -> Error {
    let (name, got) = ("the data", "neither".to_owned());
    Error::Setting { name, got, want: "--table, or --units with --people" }
}

fn disagrees(hierarchy: &Hierarchy, path: &Path, error: &CensusError) -> Error {
    let reason = match *error {
        CensusError::RegionGroups { leaf, expected, got } => {
            let name = hierarchy.name(hierarchy.tree().leaves().start + leaf);
            format!("region `{name}` has {got} groups, its public number is {expected}")
        }
        ref other => other.to_string(),
    };
    let problem = TableProblem::Refused { reason };
    Error::Table { path: path.to_path_buf(), line: 0, problem }
}

fn run(job: &Job) -> Result<(GroupTable, Certificate), Error> {
    let mut rng = chacha_from_os().map_err(|error| Error::library("system randomness", &error))?;
    let (table, evidence) = job.plan.run_with_evidence(&job.sizes, &mut SecureDraws::new(&mut rng));
    let certificate = job.plan.certify(&table, &evidence);
    Ok((table, certificate))
}

fn write(out: &Path, job: &Job, table: &GroupTable) -> Result<(), Error> {
    let receipt = job.plan.receipt();
    folder::write(
        out,
        &[
            ("groups.csv", &|to| write_table(to, &job.hierarchy, table)),
            ("receipt.txt", &|to| writeln!(to, "{receipt}")),
            (RECEIPT, &|to| write_json(to, &receipt)),
            ("plan.json", &|to| write_json(to, &job.plan)),
        ],
    )
}

/// One line per region and size; level 0 is the top, and the last size means "or more".
fn write_table(to: &mut dyn Write, hierarchy: &Hierarchy, table: &GroupTable) -> io::Result<()> {
    let mut lines = csv::Writer::from_writer(to);
    lines.write_record(["level", "region", "size", "groups"])?;
    for region in 0..hierarchy.tree().len() {
        let (level, name) = (hierarchy.tree().level_of(region).to_string(), hierarchy.name(region));
        for (size, groups) in table.row(region).iter().enumerate() {
            lines.write_record([level.as_str(), name, &size.to_string(), &groups.to_string()])?;
        }
    }
    lines.flush()
}

fn write_json(to: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *to, value)?;
    writeln!(to)
}

fn report(args: &CensusArgs, job: &Job, certificate: Certificate) -> Report {
    let receipt = job.plan.receipt();
    let exact = receipt.mechanism() != Method::Cumulative.id();
    // In real numbers it is of the order of rounding errors, which grow with the number of groups.
    let allowed = if exact { 0.5 } else { 1e-6 + job.sizes.groups() as f64 * 1e-14 };
    let proved = certificate.feasible && certificate.residual < allowed;
    let mut text = format!("{receipt}\n\n");
    let mut line = |line: &str| {
        writeln!(text, "{line}").expect("writing to a String cannot fail");
    };
    line(&format!(
        "Protected: an individual who joins or leaves one group and adds up to {} to its size; {}.",
        args.most_quantity,
        job.individuals.in_words()
    ));
    line(if certificate.feasible {
        "Certificate: every region is the sum of its parts, nothing is negative, and the number of groups is the public one."
    } else {
        "Certificate: FAILED; the table is not consistent. Please report this."
    });
    line(&if !proved {
        "No proof that the table is the best one for its noise.".to_owned()
    } else if exact {
        "The table is an optimum in whole numbers: no unit step improves it.".to_owned()
    } else {
        format!(
            "The table is the closest consistent one in real numbers, up to {:.1e} groups over all cells, rounded within l + 1/2 at level l.",
            certificate.distance
        )
    });
    line(&format!(
        "Size {} means {} or more. Written to {}: groups.csv, receipt.txt, receipt.json, plan.json.",
        args.largest,
        args.largest,
        workspace::shown(&args.out)
    ));
    line(
        "The budget is spent: add this receipt to those of all other releases about the same people.",
    );
    Report { text, proved }
}

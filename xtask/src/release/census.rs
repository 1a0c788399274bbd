//! `cargo xtask release census`: numbers of groups by size in every region, released once.

use super::Gate;
use super::folder::{RECEIPT, Reserved};
use super::input::{self, Individuals};
use super::report::Report;
use super::settings::Settings;
use crate::cli::CensusArgs;
use crate::error::{Error, TableProblem};
use dp_census::{
    Census, CensusError, CensusSettings, Evidence, GroupDirectory, GroupSizes, GroupTable,
    Hierarchy, Method,
};
use dp_mechanism::{Algorithm, Mechanism, chacha_from_os};
use serde::Serialize;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A plan, and all that may be said about it. The private table is not in here, so that no report and no file can be made from it.
pub(super) struct Job {
    pub(super) hierarchy: Hierarchy,
    pub(super) method: Method,
    pub(super) plan: Census,
    pub(super) groups: i64,
    pub(super) individuals: Individuals,
    /// Whether the numbers of groups of the lowest regions are public, and not only their sum.
    pub(super) public_totals: bool,
}

/// Reads, checks, releases, writes.
pub(super) fn release(args: &CensusArgs, gate: &Gate) -> Result<Report, Error> {
    release_by(args, gate, |plan, sizes| {
        let mut rng =
            chacha_from_os().map_err(|error| Error::library("system randomness", &error))?;
        let release = plan.with_evidence().release(sizes, &mut rng);
        Ok(release.map_err(|error| Error::library("the release", &error))?.output)
    })
}

/// The same with draws from elsewhere, for the claim about this command.
pub(super) fn release_by(
    args: &CensusArgs,
    gate: &Gate,
    draw: impl FnOnce(&Census, &GroupSizes) -> Result<(GroupTable, Evidence), Error>,
) -> Result<Report, Error> {
    let folder = gate.reserve(&args.out)?;
    let (job, sizes) = prepare(args)?;
    let (table, evidence) = draw(&job.plan, &sizes)?;
    let certificate = job.plan.certify(&table, &evidence);
    let report = Report::new(args, &job, certificate);
    gate.write(|| write(folder, &job, &table, &report))?;
    Ok(report)
}

/// All that can go wrong with what is public comes before the private file is opened.
pub(super) fn prepare(args: &CensusArgs) -> Result<(Job, GroupSizes), Error> {
    let settings = Settings::new(args)?;
    different_files(args)?;
    let regions = input::regions(&args.regions)?;
    let hierarchy = regions.hierarchy;
    not_too_many_cells(hierarchy.tree().len(), args.largest)?;
    let shares = settings.shares.of(hierarchy.tree());
    shares.map_err(|error| Error::library("--shares", &error))?;

    let directory = match &args.units {
        Some(units) => Some(input::directory(units, &hierarchy)?),
        None => None,
    };
    let listed = directory.as_ref().map(GroupDirectory::groups_of_regions);
    let groups = number_of_groups(args, regions.groups.as_deref(), listed.as_deref())?;
    if let (Some(announced), Some(listed), Some(units)) = (&regions.groups, &listed, &args.units) {
        let mut pairs = announced.iter().zip(listed).enumerate();
        if let Some((leaf, (&expected, &got))) = pairs.find(|(_, (a, b))| a != b) {
            let region = hierarchy.name(hierarchy.tree().leaves().start + leaf).to_owned();
            return Err(disagrees(units, &CensusError::RegionGroups { region, expected, got }));
        }
    }
    let region_groups = regions.groups.or(listed);
    let public_totals = region_groups.is_some();
    let asked = CensusSettings {
        method: settings.method,
        shares: settings.shares,
        most_quantity: args.most_quantity,
        region_groups,
        shrinkage: false,
    };
    let plan = Census::new(hierarchy.clone(), settings.bins, groups, settings.privacy, asked);
    let plan = plan.map_err(|error| Error::library("the plan", &error))?;

    let (bins, most) = (settings.bins, args.most_quantity);
    let (private, (sizes, individuals)) = match (&args.table, &args.people, &directory) {
        (Some(path), ..) => {
            (path, (input::table(path, &hierarchy, bins, most)?, Individuals::Counted))
        }
        (None, Some(path), Some(directory)) => (path, input::people(path, directory, bins, most)?),
        _ => return Err(no_data()),
    };
    // Numbers of groups are public, so that a file which disagrees may be told so.
    plan.check(&sizes.shape()).map_err(|error| disagrees(private, &error))?;
    let method = settings.method;
    Ok((Job { hierarchy, method, plan, groups, individuals, public_totals }, sizes))
}

/// A file cannot be public and private.
fn different_files(args: &CensusArgs) -> Result<(), Error> {
    let public = [("--regions", Some(&args.regions)), ("--units", args.units.as_ref())];
    let private = [("--people", args.people.as_ref()), ("--table", args.table.as_ref())];
    // One that does not exist is named when it is read.
    let real = |path: Option<&PathBuf>| path.and_then(|path| path.canonicalize().ok());
    for (open, path) in public {
        let Some(path) = real(path) else { continue };
        if let Some((secret, _)) =
            private.iter().find(|(_, other)| real(*other).as_ref() == Some(&path))
        {
            let reason = format!(
                "{open} and {secret} are the same file, but what is public must not come from the people"
            );
            return Err(Error::Library { what: "the files", reason });
        }
    }
    Ok(())
}

/// Tables with more cells than this are refused.
const MOST_CELLS: u64 = 1 << 31;

fn not_too_many_cells(regions: usize, largest: u32) -> Result<(), Error> {
    let sizes = u64::from(largest) + 1;
    let cells = (regions as u64).saturating_mul(sizes);
    if cells <= MOST_CELLS {
        return Ok(());
    }
    // 20 to 40 bytes for each, as measured.
    let reason = format!(
        "{regions} regions times {sizes} sizes are {cells} cells, which take about {} GB of memory; at most {MOST_CELLS} cells can be released",
        cells.saturating_mul(30) / 1_000_000_000
    );
    Err(Error::Library { what: "the table", reason })
}

/// Public: never counted from the private file.
fn number_of_groups(
    args: &CensusArgs,
    announced: Option<&[i64]>,
    listed: Option<&[i64]>,
) -> Result<i64, Error> {
    let sum = |groups: &[i64]| groups.iter().fold(0_i64, |sum, &n| sum.saturating_add(n));
    let (listed, announced) = (listed.map(sum), announced.map(sum));
    let said = [("--groups", args.groups), ("--units", listed), ("--regions", announced)];
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

fn disagrees(path: &Path, error: &CensusError) -> Error {
    let problem = TableProblem::Refused { reason: error.to_string() };
    Error::Table { path: path.to_path_buf(), line: 0, problem }
}

fn write(folder: Reserved, job: &Job, table: &GroupTable, report: &Report) -> Result<(), Error> {
    let receipt = job.plan.receipt();
    folder.write(&[
        ("groups.csv", &|to| write_table(to, &job.hierarchy, table)),
        ("receipt.txt", &|to| writeln!(to, "{receipt}")),
        (RECEIPT, &|to| write_json(to, &receipt)),
        ("plan.json", &|to| write_json(to, &job.plan)),
        ("report.txt", &|to| to.write_all(report.text.as_bytes())),
    ])
}

/// One line per region and size; level 1 is the top, and `or_more` is 1 for the last size, which takes in all above.
fn write_table(to: &mut dyn Write, hierarchy: &Hierarchy, table: &GroupTable) -> io::Result<()> {
    let mut lines = csv::Writer::from_writer(to);
    lines.write_record(["level", "region", "size", "groups", "or_more"])?;
    for region in 0..hierarchy.tree().len() {
        let level = (hierarchy.tree().level_of(region) + 1).to_string();
        let name = hierarchy.name(region);
        let row = table.row(region);
        for (size, groups) in row.iter().enumerate() {
            let or_more = if size + 1 == row.len() { "1" } else { "0" };
            let (size, groups) = (size.to_string(), groups.to_string());
            lines.write_record([level.as_str(), name, &size, &groups, or_more])?;
        }
    }
    lines.flush()
}

fn write_json(to: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *to, value)?;
    writeln!(to)
}

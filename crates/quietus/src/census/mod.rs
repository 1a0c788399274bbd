//! Numbers of groups by size in every region, released once.

mod accuracy;
mod input;
mod report;
mod settings;
mod sql;
#[cfg(test)]
mod tests;
mod unit;

use crate::cli::CensusArgs;
use crate::disk::Disk;
use crate::error::Error;
use crate::order::{FillOf, Order};
use crate::run::{PRIVATE, Said, different_files, form, target};
use crate::stop::Gate;
use crate::table::{Form, TableError, TableProblem};
use accuracy::CellError;
use dp_census::{
    Census, CensusError, CensusSettings, Evidence, GroupDirectory, GroupSizes, GroupTable,
    Hierarchy, Method,
};
use dp_mechanism::{Algorithm, Mechanism};
use input::Individuals;
use report::Report;
use settings::Settings;
pub(crate) use sql::explain;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;
use unit::Unit;

/// A plan, and all that is public of it. The private table is not in here, so that no report and no file can be made from it.
#[derive(Debug)]
struct Job {
    hierarchy: Hierarchy,
    method: Method,
    plan: Census,
    groups: i64,
    directory: Option<GroupDirectory<Unit>>,
    form: Form,
    /// Whether the numbers of groups of the lowest regions are public, and not only their sum.
    public_totals: bool,
}

/// A table, how far its cells may be off, and what is said about it.
struct Released {
    table: GroupTable,
    errors: Option<Vec<CellError>>,
    report: Report,
}

/// What is released about households and the like: reads, records, draws, writes. `draw` is the plan's release, or in a claim its replay.
///
/// # Errors
/// [`Error`]. What people's rows say is never one.
pub fn release_census(
    args: &CensusArgs,
    gate: &Gate,
    disk: &dyn Disk,
    draw: impl FnOnce(&Census, &GroupSizes) -> (GroupTable, Evidence),
) -> Result<Said, Error> {
    let people = args.units.is_some() && args.data.is_some();
    if args.table.is_none() && args.from_tables.is_none() && !people {
        return Err(no_data());
    }
    let target = target(&args.target)?;
    let job = prepare(args)?;
    let order = Order::new("census", &target, job.plan.receipt(), &job.plan, gate, disk)?;
    let mut aside = order.notes().iter().fold(String::new(), |text, note| text + note + "\n");
    let (sizes, individuals) = read(args, &job, &mut |_| ())?;
    let drawn = || {
        let (table, evidence) = draw(&job.plan, &sizes);
        let certificate = job.plan.certify(&table, &evidence);
        let certificate = certificate.expect("both are of this plan");
        let errors = accuracy::errors(&job, &table);
        let report = Report::new(args, &job, individuals, certificate, errors.is_some());
        Released { table, errors, report }
    };
    let files: [(&str, FillOf<'_, Released>); 2] = [
        ("groups.csv", Box::new(|released, to| write_table(to, &job, released))),
        ("report.txt", Box::new(|released, to| to.write_all(released.report.text.as_bytes()))),
    ];
    let Released { report, .. } = order.carry_out(drawn, &files)?;
    let _ = writeln!(aside, "Written to {}; only you can read it.", target.out.display());
    Ok(Said { text: report.text, aside, unproved: !report.proved })
}

/// What a release would use, for the holder only.
///
/// # Errors
/// [`Error`].
pub(crate) fn check(args: &CensusArgs) -> Result<String, Error> {
    let job = prepare(args)?;
    let mut incomplete = 0_u64;
    let (sizes, individuals) = read(args, &job, &mut |_| incomplete += 1)?;
    let mut text = PRIVATE.to_owned();
    let columns = sizes.columns();
    let of_size = |size: usize| sizes.counts().iter().skip(size).step_by(columns).sum::<i64>();
    let _ = writeln!(text, "{:12}  groups, public", job.groups);
    let _ = writeln!(text, "{:12}  of them of size 0", of_size(0));
    let _ = writeln!(text, "{:12}  of them of size {} or more", of_size(columns - 1), args.largest);
    let members: i64 =
        (0..columns).map(|size| i64::try_from(size).unwrap_or(0) * of_size(size)).sum();
    let _ = writeln!(text, "{members:12}  in all groups, as far as sizes are told apart");
    let _ = writeln!(
        text,
        "{incomplete:12}  rows left out: no name, or no number where there must be one"
    );
    let _ = writeln!(text, "{}.", individuals.in_words());
    if 2 * of_size(0) > job.groups {
        text.push_str(
            "More than half of the groups are empty: are units written alike in both files?\n",
        );
    }
    Ok(text)
}

/// What a release costs and how accurate its noise is.
///
/// # Errors
/// [`Error`].
pub(crate) fn plan_text(args: &CensusArgs) -> Result<String, Error> {
    let job = prepare(args)?;
    let tree = job.hierarchy.tree();
    let mut text = format!("{}\n\n", job.plan.receipt());
    let cells = tree.len() as u64 * (u64::from(args.largest) + 1);
    let _ = writeln!(
        text,
        "One pass over the file, about {} MB of memory.",
        1 + cells * 40 / 1_000_000
    );
    for level in 0..tree.levels() {
        let error = job.plan.noise_variance(level).unwrap_or(f64::INFINITY).sqrt();
        let share = 100.0 * job.plan.shares().get(level).copied().unwrap_or(0.0);
        let _ = writeln!(
            text,
            "level {}: {share:.1} % of the loss; the noise of a cell has a standard error of {error:.2} groups",
            level + 1
        );
    }
    if job.plan.ways().len() > 1 {
        text.push_str(
            "First it is asked how unlike regions are, and the rest of the loss goes one of the ways of the receipt; the lines above are of shares by least regret.\n",
        );
    }
    text.push_str("What is released is closer than its noise, as it is made consistent.\n");
    Ok(text)
}

/// All that can go wrong with what is public, before the private file is opened.
fn prepare(args: &CensusArgs) -> Result<Job, Error> {
    let settings = Settings::new(args)?;
    let form = form(&args.form)?;
    sql::refuse_person(args, &form)?;
    let (regions, units) = (Some(args.regions.as_path()), args.units.as_deref());
    different_files(
        &[("--regions", regions), ("--units", units)],
        &[
            ("--data", args.data.as_deref()),
            ("--table", args.table.as_deref()),
            ("--from-tables", args.from_tables.as_deref()),
        ],
    )?;
    let regions = input::regions(&args.regions, &form)?;
    let hierarchy = regions.hierarchy;
    not_too_many_cells(hierarchy.tree().len(), args.largest)?;
    let shares = settings.shares.of(hierarchy.tree());
    shares.map_err(|error| Error::library("--shares", &error))?;

    let directory = match &args.units {
        Some(units) => Some(input::directory(units, &form, &hierarchy)?),
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
    let method = plan.method();
    Ok(Job { hierarchy, method, plan, groups, directory, form, public_totals })
}

/// Reads the private file.
fn read(
    args: &CensusArgs,
    job: &Job,
    met: &mut dyn FnMut(input::Met),
) -> Result<(GroupSizes, Individuals), Error> {
    let (bins, most) = (Settings::new(args)?.bins, args.most_quantity);
    if let Some(path) = &args.from_tables {
        return Ok((sql::table(path, &job.plan, bins, most)?, Individuals::Counted));
    }
    let (private, (sizes, individuals)) = match (&args.table, &args.data, &job.directory) {
        (Some(path), ..) => (
            path,
            (input::table(path, &job.form, &job.hierarchy, bins, most)?, Individuals::Counted),
        ),
        (None, Some(path), Some(directory)) => {
            (path, input::people(path, &job.form, directory, bins, most, met)?)
        }
        _ => return Err(no_data()),
    };
    // Numbers of groups are public, so that a file which disagrees may be told so.
    job.plan.check(&sizes.shape()).map_err(|error| disagrees(private, &error))?;
    Ok((sizes, individuals))
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
    Error::Setting { name, got, want: "--table, or --units with --data" }
}

fn disagrees(path: &Path, error: &CensusError) -> Error {
    let problem = TableProblem::Refused { reason: error.to_string() };
    Error::Table(TableError { path: path.to_path_buf(), line: 0, problem })
}

/// One line per region and size; level 1 is the top, and `or_more` is 1 for the last size, which takes in all above.
fn write_table(to: &mut dyn Write, job: &Job, released: &Released) -> io::Result<()> {
    let hierarchy = &job.hierarchy;
    let mut lines = csv::Writer::from_writer(to);
    lines.write_record([
        "level",
        "region",
        "size",
        "groups",
        "or_more",
        "standard_error",
        "low",
        "high",
    ])?;
    let mut errors = released.errors.iter().flatten();
    for region in 0..hierarchy.tree().len() {
        let level = (hierarchy.tree().level_of(region) + 1).to_string();
        let name = hierarchy.name(region);
        let row = &released.table[region];
        for (size, groups) in row.iter().enumerate() {
            let or_more = if size + 1 == row.len() { "1" } else { "0" };
            let (size, groups) = (size.to_string(), groups.to_string());
            let [error, low, high] = errors.next().map_or_else(Default::default, |error| {
                let CellError { standard_error, low, high } = error;
                [format!("{standard_error:.2}"), low.to_string(), high.to_string()]
            });
            let line = [level.as_str(), name, &size, &groups, or_more, &error, &low, &high];
            lines.write_record(line)?;
        }
    }
    lines.flush()
}

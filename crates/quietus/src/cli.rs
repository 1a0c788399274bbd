//! The command line. Parsing only: no command does its work here.

use crate::error::Error;
use clap::builder::TypedValueParser;
use clap::{Args, Parser, Subcommand};
use dp_accounting::plain_number;
use std::num::NonZeroU32;
use std::path::PathBuf;

pub use crate::items::ItemsArgs;
pub use crate::meaning::MeaningArgs;
pub use crate::top::TopArgs;

/// Private releases from your own files, with a ledger that counts every one of them.
///
/// Every command can have its flags in a TOML file, `--settings FILE`: `epsilon = 0.5`, `range = ["age=0,100", "cost=0,500"]`. What is said on
/// the command line as well overrules it.
#[derive(Debug, Parser)]
#[command(name = "quietus", version)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Clone, Debug, Subcommand)]
#[non_exhaustive]
pub enum Command {
    /// Draw and write one release; its budget is then spent
    ///
    /// Exit codes: 0, the release is written; 1 or 2, it is not (2: the command line makes no sense); 3, it is written and spent, but not
    /// proved to be as close to its noise as it should be, or something after that failed, as the message says; 130, a signal. None of them depends on one individual.
    Release {
        /// What is released.
        #[command(subcommand)]
        family: Family,
    },
    /// For the holder only: say what a release would use, clip and leave out; nothing is spent, and what is said is private
    Check {
        /// What would be released.
        #[command(subcommand)]
        family: Family,
    },
    /// Say what a release costs and how accurate it will be, before the data are read
    Plan {
        /// What would be released.
        #[command(subcommand)]
        family: Family,
    },
    /// The account of a data set: what may be spent, and what was
    Ledger {
        /// What to do with it.
        #[command(subcommand)]
        command: LedgerCommand,
    },
    /// Check that the receipt of a release follows from its plan and is within its budget; its tables are not looked at
    Verify {
        /// The folder.
        folder: PathBuf,
        /// Also that this ledger has counted it
        #[arg(long, value_name = "FILE")]
        ledger: Option<PathBuf>,
    },
    /// Say what an epsilon and a delta mean for one person: guesses, tests and beliefs of the best attacker
    Meaning(MeaningArgs),
}

/// What can be released.
#[derive(Clone, Debug, Subcommand)]
#[non_exhaustive]
pub enum Family {
    /// How many rows there are of each public group
    Count(CountArgs),
    /// How many rows have a number in each part of a public range, by public groups
    Histogram(HistogramArgs),
    /// The mean of a column within public bounds, by public groups
    Mean(MeanArgs),
    /// Numbers of groups by size (households, say) in every region of a hierarchy, consistent and in whole numbers
    Census(CensusArgs),
    /// Points to centres and noisy counts; also where only the place to within a distance is hidden
    Cluster(ClusterArgs),
    /// The items that most persons of a log show, once
    Top(TopArgs),
    /// The items that many users of a log show, step after step: each run releases the steps that are new
    Items(ItemsArgs),
    /// Places to a map, from which centres for every number of them are free; also where only the place to within a distance is hidden
    Map(MapArgs),
    /// An order of public sets in which few serve everybody
    Cover(CoverArgs),
    /// A few public sets that serve as many people as possible
    Coverage(CoverageArgs),
    /// A few of the public places, near to where people are
    Locate(LocateArgs),
}

impl Family {
    /// The private file, of all but a census.
    pub(crate) fn file(&self) -> Option<&FileArgs> {
        Some(match self {
            Self::Count(args) => &args.file,
            Self::Histogram(args) => &args.file,
            Self::Mean(args) => &args.file,
            Self::Census(_) => return None,
            Self::Cluster(args) => &args.file,
            Self::Top(args) => &args.file,
            Self::Items(args) => &args.file,
            Self::Map(args) => &args.file,
            Self::Cover(CoverArgs { sets, .. }) | Self::Coverage(CoverageArgs { sets, .. }) => {
                &sets.file
            }
            Self::Locate(args) => &args.file,
        })
    }

    /// How files are written.
    pub(crate) fn form(&self) -> &FormArgs {
        match self {
            Self::Census(args) => &args.form,
            other => &other.file().expect("all but a census have one").form,
        }
    }

    /// The columns of files that are written so, by their names here.
    pub(crate) fn columns(&self) -> Vec<&str> {
        match self {
            Self::Count(args) => args.groups.columns().collect(),
            Self::Histogram(HistogramArgs { of, groups, .. })
            | Self::Mean(MeanArgs { of, groups, .. }) => {
                groups.columns().chain([of.as_str()]).collect()
            }
            Self::Census(args) => args.columns(),
            Self::Cluster(ClusterArgs { range, person, .. })
            | Self::Map(MapArgs { range, person, .. }) => {
                columns_of(range).chain(person.as_deref()).collect()
            }
            Self::Top(args) => vec![&args.person, &args.catalogue.item],
            Self::Items(args) => vec![&args.user, &args.catalogue.item, &args.time],
            Self::Cover(CoverArgs { sets, .. }) | Self::Coverage(CoverageArgs { sets, .. }) => {
                vec![&sets.person, &sets.set]
            }
            Self::Locate(LocateArgs { place, person, .. }) => {
                person.as_deref().into_iter().chain([place.as_str()]).collect()
            }
        }
    }
}

/// What else is wrong with a range is said where it is read.
fn columns_of(ranges: &[String]) -> impl Iterator<Item = &str> {
    ranges.iter().filter_map(|range| range.split('=').next())
}

/// The private file and how it is written.
#[derive(Clone, Debug, Args)]
pub struct FileArgs {
    /// Private: CSV, CSV in gzip (.gz) or Parquet (.parquet, in a build with that feature), with names in the first line. A plan does without
    #[arg(long, value_name = "FILE", default_value = "", hide_default_value = true, value_parser = clap::builder::OsStringValueParser::new().map(PathBuf::from))]
    pub data: PathBuf,
    /// How the file is written.
    #[command(flatten)]
    pub form: FormArgs,
    /// Numbers are written 1,5 and not 1.5
    #[arg(long)]
    pub decimal_comma: bool,
}

/// How files are written.
#[derive(Clone, Debug, Args)]
pub struct FormArgs {
    /// What is between two cells: one character, or one of the words tab and semicolon
    #[arg(long, value_name = "D", default_value = ",")]
    pub delimiter: String,
    /// A column that is called otherwise in the file; may be given again
    #[arg(long = "column", value_name = "NAME=THERE")]
    pub columns: Vec<String>,
    /// Where reading ends, counted after unpacking
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 36)]
    pub most_bytes: u64,
}

/// Where a release goes, and who counts it.
#[derive(Clone, Debug, Args)]
pub struct TargetArgs {
    /// Folder of the release: a new one, or for `items` that of the session
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// The ledger that counts it
    #[arg(long, value_name = "FILE", conflicts_with = "no_ledger")]
    pub ledger: Option<PathBuf>,
    /// Nobody counts it: you add its receipt to those of all other releases
    #[arg(long)]
    pub no_ledger: bool,
}

/// How a file is read that does not fit into memory.
#[derive(Clone, Debug, Default, Args)]
pub struct PassArgs {
    /// Keep no rows: read the file once for each pass. The release is the same, and memory does not grow with the file, but for the names of
    /// --person. With a ledger, what is needed to go on is kept beside --out until it is there
    #[arg(long, group = "by-passes")]
    pub out_of_core: bool,
    /// Count a table of the next pass yourself: print the SQL that does (`DuckDB`, Spark), of the file or table --data, which is not opened. Nothing is
    /// drawn. With --out and --ledger of a release that was begun, that of its next pass
    #[arg(long, group = "by-passes")]
    pub explain_sql: bool,
    /// Answer one pass with the table that --explain-sql has counted, in CSV; --data is not opened. The table is as private as the data
    #[arg(long, value_name = "TABLE", group = "by-passes", requires = "ledger")]
    pub from_tables: Option<PathBuf>,
    /// Go on with a release --out-of-core that was stopped, with the same flags, from the last pass that it has answered; or, with
    /// --from-tables, answer its next pass
    #[arg(long, requires = "by-passes", requires = "ledger")]
    pub resume: bool,
}

impl PassArgs {
    /// Whether a release goes by passes over the file, or tables of it.
    pub(crate) fn by_passes(&self) -> bool {
        self.out_of_core || self.from_tables.is_some()
    }
}

/// Public groups.
#[derive(Clone, Debug, Args)]
pub struct GroupArgs {
    /// The column that says of which group a row is
    #[arg(long, value_name = "COLUMN")]
    pub by: Option<String>,
    /// Public: the groups there are, between commas; from elsewhere, never from the people
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "by")]
    pub groups: Vec<String>,
    /// Public: the groups there are, in the column `group` of a file; from elsewhere, never from the people
    #[arg(long, value_name = "FILE", requires = "by", conflicts_with = "groups")]
    pub groups_from: Option<PathBuf>,
    /// The column that says whose row it is: a person is then protected in all rows, and only the first one counts
    #[arg(long, value_name = "COLUMN")]
    pub person: Option<String>,
    /// What it costs.
    #[command(flatten)]
    pub loss: LossArgs,
}

impl GroupArgs {
    fn columns(&self) -> impl Iterator<Item = &str> {
        self.by.as_deref().into_iter().chain(self.person.as_deref())
    }
}

/// What a release costs, or how accurate it has to be.
#[derive(Clone, Debug, Args)]
pub struct LossArgs {
    /// The epsilon of differential privacy
    #[arg(
        long,
        value_name = "E",
        allow_negative_numbers = true,
        required_unless_present = "accuracy"
    )]
    pub epsilon: Option<f64>,
    /// For `plan`: an error that is good enough; it then says the smallest epsilon that has it
    #[arg(long, value_name = "ERROR", allow_negative_numbers = true)]
    pub accuracy: Option<f64>,
}

impl LossArgs {
    /// What is to be spent.
    ///
    /// # Errors
    /// If an accuracy is given, which is for plans.
    pub fn epsilon(&self) -> Result<f64, Error> {
        if let (Some(_), Some(accuracy)) = (self.epsilon, self.accuracy) {
            let (name, got) = ("--accuracy", plain_number(accuracy));
            let want =
                "left out, as --epsilon says what is spent; `quietus plan` says which one has it";
            return Err(Error::Setting { name, got, want });
        }
        self.epsilon.ok_or_else(|| Error::Setting {
            name: "--epsilon",
            got: "nothing".to_owned(),
            want: "given; `quietus plan` says which one has the --accuracy",
        })
    }
}

/// `count`.
#[derive(Clone, Debug, Args)]
pub struct CountArgs {
    /// What is read.
    #[command(flatten)]
    pub file: FileArgs,
    /// About whom.
    #[command(flatten)]
    pub groups: GroupArgs,
    /// Where it goes.
    #[command(flatten)]
    pub target: TargetArgs,
}

/// `histogram`.
#[derive(Clone, Debug, Args)]
pub struct HistogramArgs {
    /// The column of numbers, or of dates if the bounds are dates
    #[arg(long, value_name = "COLUMN")]
    pub of: String,
    /// Public: where the range begins and ends, as 0,100 or 2024-01-01,2025-01-01
    #[arg(long, value_name = "LOW,HIGH", allow_hyphen_values = true)]
    pub bounds: String,
    /// Into how many equal parts
    #[arg(long, value_name = "N")]
    pub bins: u32,
    /// What is read.
    #[command(flatten)]
    pub file: FileArgs,
    /// About whom.
    #[command(flatten)]
    pub groups: GroupArgs,
    /// Where it goes.
    #[command(flatten)]
    pub target: TargetArgs,
}

/// `mean`.
#[derive(Clone, Debug, Args)]
pub struct MeanArgs {
    /// The column of numbers
    #[arg(long, value_name = "COLUMN")]
    pub of: String,
    /// Public: numbers outside count as the closer end
    #[arg(long, value_name = "LOW,HIGH", allow_hyphen_values = true)]
    pub bounds: String,
    /// For `plan`: how many rows a group is expected to have
    #[arg(long, value_name = "N")]
    pub rows: Option<u32>,
    /// What is read.
    #[command(flatten)]
    pub file: FileArgs,
    /// About whom.
    #[command(flatten)]
    pub groups: GroupArgs,
    /// Where it goes.
    #[command(flatten)]
    pub target: TargetArgs,
}

/// `census`: what is public, what is private, what is asked for.
#[derive(Clone, Debug, Args)]
#[command(group = clap::ArgGroup::new("private").args(["table", "units"]))]
#[command(group = clap::ArgGroup::new("loss").required(true).args(["epsilon", "rho"]))]
pub struct CensusArgs {
    /// Public: columns region, parent (empty for the one at the top) and, if you like, groups (their public number)
    #[arg(long, value_name = "FILE")]
    pub regions: PathBuf,
    /// Private: columns region, size, groups; how many groups of each size there are. Empty groups count, as size 0: which groups there are
    /// must come from elsewhere, never from the people
    #[arg(long, value_name = "FILE")]
    pub table: Option<PathBuf>,
    /// Public: columns unit, region; which groups there are and where. It must come from elsewhere, never from the people: empty groups
    /// belong in it, and count as size 0
    #[arg(long, value_name = "FILE")]
    pub units: Option<PathBuf>,
    /// Private: columns unit and, if there are any, person and quantity; without person, each individual is in one row only
    #[arg(long, value_name = "FILE", requires = "units")]
    pub data: Option<PathBuf>,
    /// Count the table yourself: print the SQL that does (`DuckDB`, Spark) of the files or tables --units and --data, of which --data is not opened.
    /// Nothing is drawn. Every row is another individual, who adds 1, or what is in the column quantity: with --most-quantity above 1, or where
    /// --column says what it is called
    #[arg(long, requires = "data")]
    pub explain_sql: bool,
    /// Release from the table that --explain-sql has counted, in CSV; --data is not opened. The table is as private as the data
    #[arg(long, value_name = "TABLE", conflicts_with_all = ["table", "explain_sql"])]
    pub from_tables: Option<PathBuf>,
    /// How the files are written.
    #[command(flatten)]
    pub form: FormArgs,
    /// Public number of groups; by default that of --units or of the column groups in --regions. It must come from elsewhere, never from
    /// the people: empty groups count, as size 0
    #[arg(long, value_name = "G", allow_negative_numbers = true)]
    pub groups: Option<i64>,
    /// Sizes 0, 1, .. are told apart up to here; the last means "or more"
    #[arg(long, value_name = "N")]
    pub largest: u32,
    /// Pure differential privacy
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    pub epsilon: Option<f64>,
    /// Zero-concentrated differential privacy, a weaker promise
    #[arg(long, value_name = "R", requires = "delta", allow_negative_numbers = true)]
    pub rho: Option<f64>,
    /// Where the receipt says what --rho comes to as an epsilon
    #[arg(long, value_name = "D", requires = "rho", allow_negative_numbers = true)]
    pub delta: Option<f64>,
    /// How noise becomes a table: m-c-fitted (the default), m-c-top-down, m-c-exact, m-c-dp, m-h-dp, top-down, root-spread
    /// or m-c-chain
    #[arg(long, value_name = "METHOD")]
    pub method: Option<String>,
    /// How the loss is divided among the levels: chosen (by a model of the error, from public facts), equal, 10/20/70, roots, or numbers
    /// like 0.2,0.3,0.5 from the top
    #[arg(long, value_name = "SHARES", default_value = "chosen", allow_hyphen_values = true)]
    pub shares: String,
    /// The most that one individual adds to the size of a group
    #[arg(long, value_name = "Q", default_value_t = NonZeroU32::MIN)]
    pub most_quantity: NonZeroU32,
    /// Where it goes.
    #[command(flatten)]
    pub target: TargetArgs,
}

impl CensusArgs {
    fn columns(&self) -> Vec<&str> {
        let files: [(bool, &[&str]); 4] = [
            (true, &["region", "parent", "groups"]),
            (self.table.is_some(), &["region", "size", "groups"]),
            (self.units.is_some(), &["unit", "region"]),
            (self.data.is_some(), &["unit", "person", "quantity"]),
        ];
        let given = files.into_iter().filter(|(is_given, _)| *is_given);
        given.flat_map(|(_, columns)| columns).copied().collect()
    }
}

/// `cluster`.
#[derive(Clone, Debug, Args)]
pub struct ClusterArgs {
    /// A column and its public bounds, as age=0,100; once for each column
    #[arg(long, value_name = "COLUMN=LOW,HIGH", required = true)]
    pub range: Vec<String>,
    /// How many clusters; without it, as many as there are signs of
    #[arg(long, value_name = "K")]
    pub k: Option<usize>,
    /// Without --k: the most clusters there may be, a few times as many as you expect. Default: 16
    #[arg(long, value_name = "K", conflicts_with = "k")]
    pub at_most: Option<usize>,
    /// private-kmeans, recentred, dpm, lloyd, or auto: the first with a delta, the last without. With --within, nearby-kmeans
    #[arg(long, value_name = "METHOD", default_value = "auto")]
    pub method: String,
    /// Do not scale columns to ranges of equal length, as all count in one unit
    #[arg(long)]
    pub unscaled: bool,
    /// Hide where somebody is to within this distance, in the one unit of all columns (--unscaled says that there is one), and not that
    /// somebody is there
    #[arg(long, value_name = "DISTANCE", allow_negative_numbers = true)]
    pub within: Option<f64>,
    /// With --within: count it in a ledger that is about this smaller distance
    #[arg(long, value_name = "DISTANCE", requires = "within", allow_negative_numbers = true)]
    pub charge_within: Option<f64>,
    /// The column that says whose row it is: a person is then protected in all rows, and only the first one counts
    #[arg(long, value_name = "COLUMN")]
    pub person: Option<String>,
    /// About how many points there are, if that is public: `plan` then says what to expect. With
    /// --within, how many rows there are: public, and needed
    #[arg(long, value_name = "N")]
    pub rows: Option<u64>,
    /// The part of the budget that is spent on how many points are outside of the bounds, column by column; else nobody is told
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub outside: Option<f64>,
    /// With dpm, lloyd and --within: how often the plan is run on points like the released ones, to say how far centres may be off
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(..=1000))]
    pub simulations: u32,
    /// What it costs.
    #[command(flatten)]
    pub loss: LossArgs,
    /// The delta of differential privacy, well below one over the number of people
    #[arg(long, value_name = "D", default_value_t = 0.0, allow_negative_numbers = true)]
    pub delta: f64,
    /// What is read.
    #[command(flatten)]
    pub file: FileArgs,
    /// In how many passes.
    #[command(flatten)]
    pub passes: PassArgs,
    /// Where it goes.
    #[command(flatten)]
    pub target: TargetArgs,
}

/// `map`.
#[derive(Clone, Debug, Args)]
pub struct MapArgs {
    /// A column of places and its public bounds, as east=0,40000; once for each column, all in one unit
    #[arg(long, value_name = "COLUMN=LOW,HIGH", required = true)]
    pub range: Vec<String>,
    /// In what places are measured: m or km. Degrees are refused, as they are no distance
    #[arg(long, value_name = "UNIT")]
    pub unit: String,
    /// Numbers of centres, between commas
    #[arg(long, value_name = "K", value_delimiter = ',', required = true)]
    pub k: Vec<usize>,
    /// Hide where somebody is to within so many metres, and not that somebody is there
    #[arg(long, value_name = "METRES", allow_negative_numbers = true)]
    pub within: Option<f64>,
    /// Hide where somebody is, however far away, and not that somebody is there
    #[arg(long, conflicts_with_all = ["within", "person"])]
    pub replace_one: bool,
    /// With --within: count it in a ledger that is about this smaller distance
    #[arg(long, value_name = "METRES", requires = "within", allow_negative_numbers = true)]
    pub charge_within: Option<f64>,
    /// How many rows there are: public, and needed, with --within or --replace-one; else about how many, if that is public
    #[arg(long, value_name = "N")]
    pub rows: Option<u64>,
    /// Centres that are as near as can be, and not as near in squares
    #[arg(long)]
    pub median: bool,
    /// How often the plan is run on places that follow the map, to say how far centres may be off
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(..=1000))]
    pub simulations: u32,
    /// The column that says whose row it is: a person is then protected in all rows, and only the first one counts
    #[arg(long, value_name = "COLUMN", conflicts_with = "within")]
    pub person: Option<String>,
    /// What it costs.
    #[command(flatten)]
    pub loss: LossArgs,
    /// The delta of differential privacy, well below one over the number of people
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    pub delta: f64,
    /// What is read.
    #[command(flatten)]
    pub file: FileArgs,
    /// In how many passes.
    #[command(flatten)]
    pub passes: PassArgs,
    /// Where it goes.
    #[command(flatten)]
    pub target: TargetArgs,
}

/// Who is in which public sets.
#[derive(Clone, Debug, Args)]
pub struct SetArgs {
    /// The column that says who is in a set: a person is protected in all rows
    #[arg(long, value_name = "COLUMN", default_value = "person")]
    pub person: String,
    /// The column that says in which set
    #[arg(long, value_name = "COLUMN", default_value = "set")]
    pub set: String,
    /// Public: the sets there are, between commas; from elsewhere, never from the people
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub sets: Vec<String>,
    /// Public: the sets there are, in the column `set` of a file; from elsewhere, never from the people
    #[arg(long, value_name = "FILE", conflicts_with = "sets")]
    pub sets_from: Option<PathBuf>,
    /// What it costs.
    #[command(flatten)]
    pub loss: LossArgs,
    /// What is read.
    #[command(flatten)]
    pub file: FileArgs,
    /// Where it goes.
    #[command(flatten)]
    pub target: TargetArgs,
}

/// `cover`.
#[derive(Clone, Debug, Args)]
pub struct CoverArgs {
    /// Only the first so many sets of the order
    #[arg(long, value_name = "K")]
    pub k: Option<u32>,
    /// The rest.
    #[command(flatten)]
    pub sets: SetArgs,
}

/// `coverage`.
#[derive(Clone, Debug, Args)]
pub struct CoverageArgs {
    /// How many sets
    #[arg(long, value_name = "K")]
    pub k: u32,
    /// The rest.
    #[command(flatten)]
    pub sets: SetArgs,
}

/// `locate`.
#[derive(Clone, Debug, Args)]
pub struct LocateArgs {
    /// How many places are chosen
    #[arg(long, value_name = "K")]
    pub k: usize,
    /// Public: the places there are, in the column `place` of a file; from elsewhere, never from the people
    #[arg(long, value_name = "FILE")]
    pub places: PathBuf,
    /// The columns of --places with their coordinates, between commas, all in one unit
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', conflicts_with = "roads")]
    pub at: Vec<String>,
    /// Public, in place of coordinates: columns from, to and length (in whole units) of the roads between places
    #[arg(long, value_name = "FILE")]
    pub roads: Option<PathBuf>,
    /// The column that says at which place somebody is
    #[arg(long, value_name = "COLUMN", default_value = "place")]
    pub place: String,
    /// About how many people there are: public, not counted
    #[arg(long, value_name = "N")]
    pub rows: u64,
    /// Near in squares of distances
    #[arg(long)]
    pub squares: bool,
    /// The column that says whose row it is: a person is then protected in all rows, and only the first one counts
    #[arg(long, value_name = "COLUMN")]
    pub person: Option<String>,
    /// What it costs.
    #[command(flatten)]
    pub loss: LossArgs,
    /// What is read.
    #[command(flatten)]
    pub file: FileArgs,
    /// Where it goes.
    #[command(flatten)]
    pub target: TargetArgs,
}

/// What to do with a ledger.
#[derive(Clone, Debug, Subcommand)]
#[non_exhaustive]
pub enum LedgerCommand {
    /// Begin the account of a data set
    New {
        /// A new file
        file: PathBuf,
        /// What you call the data
        #[arg(long, value_name = "NAME")]
        dataset: String,
        /// Between which data sets releases promise something: add-remove (most families), replace-one, member-of-group (census)
        #[arg(long, value_name = "R", default_value = "add-remove")]
        relation: String,
        /// Instead: where somebody is to within so many metres (map), or units of the columns (cluster)
        #[arg(
            long,
            value_name = "DISTANCE",
            conflicts_with = "relation",
            allow_negative_numbers = true
        )]
        within: Option<f64>,
        /// The most that all releases together may spend
        #[arg(long, value_name = "E", allow_negative_numbers = true)]
        epsilon: f64,
        /// At this delta
        #[arg(long, value_name = "D", default_value_t = 0.0, allow_negative_numbers = true)]
        delta: f64,
    },
    /// What is spent, what is left, and what became of every release
    Show {
        /// The ledger
        file: PathBuf,
    },
    /// Remove what releases have left that were never finished, and write what became of them; they stay spent
    Recover {
        /// The ledger
        file: PathBuf,
    },
}

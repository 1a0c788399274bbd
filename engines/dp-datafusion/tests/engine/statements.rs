//! What the program prints for `--explain-sql`, run by the engine: it counts as the program does from the same files.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;
use datafusion::arrow::array::{AsArray, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int64Type};
use dp_mechanism::{Mechanism as _, SecureSource};
use quietus::cli::{Cli, Command, Family};
use quietus::{Gate, RealDisk};
use rand::RngExt;
use tempfile::TempDir;

use crate::support::{rng, session, wait};

/// A folder with files of people, and a program that reads them.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("a file");
    }

    /// What the command line says; `@` is this folder.
    fn command(&self, words: &str) -> Command {
        let words = format!("quietus {words}");
        let folder = format!("{}/", self.0.path().display());
        let words = words.split_whitespace().map(|word| word.replace('@', &folder));
        Cli::try_parse_from(words).expect("known words").command
    }

    fn release(&self, words: &str) -> Family {
        match self.command(&format!("release {words}")) {
            Command::Release { family } => family,
            other => panic!("{other:?}"),
        }
    }

    /// Runs the statement that the program prints, and writes what comes back.
    fn count(&self, words: &str, table: &str) {
        let explained = self.release(&format!("{words} --explain-sql"));
        let said = quietus::release(&explained, &Gate::default(), &RealDisk).expect("a statement");
        let engine = session(3).enable_url_table();
        let run = async { engine.sql(&said.text).await?.collect().await };
        self.write(
            table,
            &csv(&wait(run).unwrap_or_else(|error| panic!("{error}: {}", said.text))),
        );
    }
}

fn csv(batches: &[RecordBatch]) -> String {
    let mut text = "signature,entry,value\n".to_owned();
    for batch in batches {
        let word = |place: usize| cast(batch.column(place), &DataType::Utf8).expect("text");
        let (signatures, entries) = (word(0), word(1));
        let values = batch.column(2).as_primitive::<Int64Type>();
        let words = signatures.as_string::<i32>().iter().zip(entries.as_string::<i32>());
        for ((signature, entry), value) in words.zip(values) {
            let [signature, entry] = [signature, entry].map(|word| word.expect("never missing"));
            let _ = writeln!(text, "{signature},{entry},{}", value.expect("never missing"));
        }
    }
    text
}

const REGIONS: &str = "region,parent\nland,\neast,land\nit's west,land\nempty,land\n";
const CENSUS: &str = "census --regions @regions.csv --units @units.csv --largest 5 --epsilon 1 --no-ledger --out @out";

/// Units with spaces around, that are there twice or nowhere, quantities of all kinds, people who are nowhere.
fn census() -> Home {
    let home = Home::new();
    let mut rng = rng(11);
    let mut units = "unit,region\n".to_owned();
    for unit in 0..300 {
        let _ = writeln!(units, "unit {unit},{}", ["east", "it's west"][unit % 5 / 3]);
    }
    // The same line twice, a comma in a name, a group that nobody is in.
    units += " unit 5 , east\n";
    units += "\"a, b\",east\nnobody,empty\n";
    let quantities = [
        "1",
        "2",
        "0",
        "-7",
        "2.0",
        "1.5",
        "",
        "many",
        "NaN",
        "inf",
        "1e300",
        "99999999999999",
        "+1",
        " 3 ",
    ];
    let mut people = "unit,note,quantity\n".to_owned();
    for row in 0..2_000 {
        let unit = match rng.random_range(0..340) {
            330.. => String::new(),
            325.. => "\"a, b\"".to_owned(),
            unit if unit % 9 == 0 => format!(" unit {unit} "),
            unit => format!("unit {unit}"),
        };
        let quantity = quantities[rng.random_range(0..quantities.len())];
        let _ = writeln!(people, "{unit},{row},{quantity}");
    }
    home.write("regions.csv", REGIONS);
    home.write("units.csv", &units);
    home.write("people.csv", &people);
    // Without that column, every row brings 1.
    home.write("rows.csv", &people.replacen("quantity", "other", 1));
    home
}

/// The sizes that a release of the census draws on.
fn sizes(home: &Home, words: &str) -> Vec<i64> {
    let Family::Census(args) = home.release(words) else { panic!("another family") };
    let mut sizes = Vec::new();
    let draw = |plan: &dp_census::Census, table: &dp_census::GroupSizes| {
        sizes = table.counts().to_vec();
        plan.with_evidence().simulate(table, &mut rng(1)).expect("of this plan").output
    };
    quietus::release_census(&args, &Gate::default(), &RealDisk, draw).expect("released");
    fs::remove_dir_all(home.path("out")).expect("a release");
    sizes
}

#[test]
fn the_statement_of_a_census_counts_groups_as_from_files() {
    let home = census();
    for settings in ["--column quantity=quantity", "--most-quantity 3", ""] {
        let people = if settings.is_empty() { "rows.csv" } else { "people.csv" };
        let words = format!("{CENSUS} {settings} --data @{people}");
        let from_files = sizes(&home, &words);
        home.count(&words, "counted.csv");
        let from_engine = sizes(&home, &format!("{words} --from-tables @counted.csv"));
        assert_eq!(from_engine, from_files, "{settings}");
        let groups: i64 = from_files.iter().sum();
        assert_eq!(groups, 302);
        assert!(from_files.iter().filter(|&&groups| groups > 0).count() > 6, "{from_files:?}");
    }
}

/// Points around four places, some outside of the box, cells without a number.
fn points() -> Home {
    let home = Home::new();
    let mut rng = rng(12);
    let mut rows = "x,y\n".to_owned();
    for row in 0..3_000_usize {
        let mut cell = |place: f64| match rng.random_range(0..60) {
            0 => String::new(),
            1 => "unknown".to_owned(),
            2 => "NaN".to_owned(),
            3 => "-inf".to_owned(),
            4 => "1e300".to_owned(),
            _ => format!("{}", place + rng.random_range(-1.0..1.0)),
        };
        let (x, y) = (cell([1.0, 8.0][row % 2]), cell([2.0, 9.0][row / 2 % 2]));
        let _ = writeln!(rows, "{x},{y}");
    }
    home.write("points.csv", &rows);
    home
}

/// All files of a release.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
    let file = |entry: std::io::Result<fs::DirEntry>| {
        let path = entry.expect("a file").path();
        // Names of releases are random.
        (!path.ends_with("release.json"))
            .then(|| (name(&path), fs::read_to_string(&path).expect("text")))
    };
    fs::read_dir(folder).expect("a release").filter_map(file).collect()
}

#[test]
fn the_statements_of_passes_count_points_as_from_a_file() {
    const RANGES: &str = "--range x=0,10 --range y=-1e1,10 --epsilon 4 --delta 1e-6";
    for family in [
        "cluster --method dpm",
        "cluster --method dpm --unscaled",
        "map --unit km --k 4",
        "map --unit km --k 4 --replace-one --rows 3000",
    ] {
        let home = points();
        for out in ["one", "two"] {
            let new = format!("ledger new @{out}.ledger --dataset points --epsilon 9 --delta 1e-3");
            let new =
                if family.contains("replace") { new + " --relation replace-one" } else { new };
            let Command::Ledger { command } = home.command(&new) else { panic!("a ledger") };
            quietus::run_ledger(&command, &RealDisk).expect("a new ledger");
        }
        let words = |out: &str| {
            format!("{family} {RANGES} --data @points.csv --ledger @{out}.ledger --out @{out}")
        };
        let (gate, told) = (Gate::default(), &mut |_: u32, _: &str| ());
        let mut answer = |words: &str, rng: &mut dp_mechanism::ChaCha20Rng| {
            let mut source = SecureSource::new(rng);
            let draws: &mut quietus::passes::PassDraws<'_> = &mut |_, draw| draw(&mut source);
            match home.release(words) {
                Family::Cluster(args) => quietus::cluster::release_cluster_by_passes(
                    &args, &gate, &RealDisk, draws, told,
                ),
                Family::Map(args) => {
                    quietus::map::release_map_by_passes(&args, &gate, &RealDisk, draws, told)
                }
                other => panic!("{other:?}"),
            }
        };
        answer(&format!("{} --out-of-core", words("one")), &mut rng(6)).expect("released");
        let (mut generator, mut passes) = (rng(6), 0);
        while !home.path("two").exists() {
            home.count(&words("two"), "counted.csv");
            let resume = if passes > 0 { " --resume" } else { "" };
            let words = format!("{} --from-tables @counted.csv{resume}", words("two"));
            answer(&words, &mut generator).expect("counted");
            passes += 1;
            assert!(passes < 40, "{family}");
        }
        assert_eq!(files(&home.path("two")), files(&home.path("one")), "{family}");
        assert!(passes >= if family.starts_with("map") { 1 } else { 3 }, "{family}: {passes}");
    }
}

//! The census from files to files.

mod bad_input;

use super::accuracy::errors;
use super::{Job, explain, prepare, read, release_census};
use crate::cli::{CensusArgs, Cli, Command, Family};
use crate::disk::RealDisk;
use crate::error::Error;
use crate::run::Said;
use crate::stop::Gate;
use crate::verify::verify;
use clap::Parser;
use dp_accounting::{MemberOfGroup, Receipt};
use dp_census::{Census, Method};
use dp_mechanism::{ChaCha20Rng, Mechanism, chacha_from_os};
use rand::{RngExt, SeedableRng};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn release(args: &CensusArgs) -> Result<Said, Error> {
    release_census(args, &Gate::default(), &RealDisk, |plan, sizes| {
        plan.with_evidence().release(sizes, &mut chacha_from_os().unwrap()).unwrap().output
    })
}

const REGIONS: &str = "region,parent\nUS,\nGA,US\nNY,US\n";
const UNITS: &str = "unit,region\nA,GA\nB,GA\nC,NY\n";
const PEOPLE: &str = "unit\nA\nA\nC\n";
const TABLE: &str = "region,size,groups\nGA,0,1\nGA,2,1\nNY,1,1\n";
const BY_PEOPLE: &str = "--regions r.csv --units u.csv --data p.csv";
const BY_TABLE: &str = "--regions r.csv --table t.csv --groups 3";

/// A folder with files that are fine.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        for (name, text) in [("r", REGIONS), ("u", UNITS), ("p", PEOPLE), ("t", TABLE)] {
            fs::write(home.path(&format!("{name}.csv")), text).unwrap();
        }
        home
    }

    fn with(name: &str, text: &str) -> Self {
        let home = Self::new();
        fs::write(home.path(name), text).unwrap();
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// What the command line says, with files of this folder.
    fn args(&self, words: &str) -> CensusArgs {
        let mut all = words.to_owned();
        for (flag, usual) in [("--largest", "2"), ("--epsilon", "1"), ("--out", "out")] {
            if !(words.contains(flag) || flag == "--epsilon" && words.contains("--rho")) {
                all = format!("{all} {flag} {usual}");
            }
        }
        all.push_str(" --no-ledger");
        let mut args = census_args(&format!("release census {all}"));
        let files = [&mut args.table, &mut args.units, &mut args.data, &mut args.from_tables];
        let files = files.into_iter().flatten();
        let out = args.target.out.iter_mut();
        for path in files.chain(out).chain([&mut args.regions]) {
            *path = self.0.path().join(&*path);
        }
        args
    }

    fn prepared(&self, words: &str) -> Job {
        prepare(&self.args(words)).unwrap()
    }

    fn sizes(&self, words: &str) -> Vec<i64> {
        let args = self.args(words);
        let job = prepare(&args).unwrap();
        read(&args, &job, &mut |_| ()).unwrap().0.counts().to_vec()
    }

    /// The error, after which there are no files but those that were there.
    fn refused(&self, words: &str) -> String {
        let before = names(self.0.path());
        let error = release(&self.args(words)).unwrap_err();
        assert_eq!(names(self.0.path()), before, "{error}");
        error.to_string().replace(&format!("{}/", self.0.path().display()), "")
    }
}

/// As the engine that was asked would write it, from the signature in the SQL.
fn counted(sql: &str, sizes: &[i64]) -> String {
    let signature = sql.split("SELECT 'dptable1").nth(1).and_then(|rest| rest.split('\'').next());
    let signature = format!("dptable1{}", signature.unwrap());
    let cells: Vec<_> = sizes.iter().enumerate().filter(|(_, groups)| **groups != 0).collect();
    let (mut text, all) = ("signature,entry,value\n".to_owned(), sizes.iter().sum::<i64>());
    for (entry, groups) in &cells {
        let _ = writeln!(text, "{signature},{entry},{groups}");
    }
    let _ = writeln!(text, "{signature},rows,{all}\n{signature},cells,{}", cells.len());
    text
}

/// What `DataFusion` counts by the same SQL is compared in the tests of engines/dp-datafusion.
#[test]
fn a_table_that_sql_has_counted_is_that_of_the_people_and_others_are_refused() {
    let home = Home::new();
    for quantity in ["", " --most-quantity 3"] {
        let sql = explain(&home.args(&format!("{BY_PEOPLE}{quantity} --explain-sql"))).unwrap();
        let adds =
            if quantity.is_empty() { ", 1 AS brought" } else { "TRY_CAST(quantity AS DOUBLE)" };
        assert!(sql.contains("(VALUES ('GA', 0), ('NY', 1))") && sql.contains(adds), "{sql}");
        let sizes = home.sizes(&format!("{BY_PEOPLE}{quantity}"));
        let text = counted(&sql, &sizes);
        let words =
            format!("--regions r.csv --units u.csv --data gone.csv --from-tables s.csv{quantity}");
        fs::write(home.path("s.csv"), &text).unwrap();
        assert_eq!(home.sizes(&words), sizes);
        let lie = |text: String| {
            fs::write(home.path("s.csv"), text).unwrap();
            home.refused(&words)
        };
        // Groups that nobody has, in the wrong region, of another plan, lines that were lost.
        let moved = counted(&sql, &[sizes[0] - 1, 0, 1, 1, 1, 0]);
        assert!(lie(moved).contains("no records can make"));
        let more = counted(&sql, &[sizes[0], 0, 1, 0, 2, 0]);
        assert!(lie(more).contains("no records can make"));
        let fewer = counted(&sql, &[1, 0, 0, 0, 1, 0]);
        assert!(lie(fewer).contains("not one of all records"));
        assert!(lie(text.replace("-0-", "-1-")).contains("answers pass 2, wanted 1"));
        assert!(
            lie(text.lines().take(3).fold(String::new(), |all, line| all + line + "\n"))
                .contains("not a whole table")
        );
        let other =
            explain(&home.args(&format!("{BY_PEOPLE}{quantity} --epsilon 2 --explain-sql")));
        assert!(lie(counted(&other.unwrap(), &sizes)).contains("another plan"));
    }
}

/// Every part of it bounds what one individual can do: any change has to be looked at, and run by the engine.
#[test]
fn the_statement_is_the_one_that_was_compared() {
    let home = Home::new();
    let statement = |quantity: &str| {
        let sql = explain(&home.args(&format!("{BY_PEOPLE}{quantity} --explain-sql"))).unwrap();
        let sql = sql.replace(home.path("").to_str().unwrap(), "DIR/");
        let (_, from) = sql.split_once("SELECT places.region").unwrap();
        from.split_once("\nON members.unit").unwrap().0.to_owned()
    };
    insta::assert_snapshot!(statement(" --most-quantity 2"), @r"
    , COALESCE(members.size, 0) AS size
    FROM (SELECT DISTINCT leaves.leaf AS region, directory.unit FROM
    (SELECT TRIM(CAST(unit AS STRING)) AS unit, TRIM(CAST(region AS STRING)) AS name FROM 'DIR/u.csv') AS directory
    JOIN (VALUES ('GA', 0), ('NY', 1)) AS leaves(name, leaf) ON leaves.name = directory.name) AS places
    LEFT JOIN (SELECT unit, SUM(CAST(LEAST(GREATEST(brought, 0), 2) AS BIGINT)) AS size
    FROM (SELECT TRIM(CAST(unit AS STRING)) AS unit, TRY_CAST(quantity AS DOUBLE) AS brought FROM 'DIR/p.csv') AS people WHERE NOT isnan(brought) AND ABS(brought) < 1e300 AND brought = FLOOR(brought) GROUP BY unit) AS members
    ");
    insta::assert_snapshot!(statement(""), @r"
    , COALESCE(members.size, 0) AS size
    FROM (SELECT DISTINCT leaves.leaf AS region, directory.unit FROM
    (SELECT TRIM(CAST(unit AS STRING)) AS unit, TRIM(CAST(region AS STRING)) AS name FROM 'DIR/u.csv') AS directory
    JOIN (VALUES ('GA', 0), ('NY', 1)) AS leaves(name, leaf) ON leaves.name = directory.name) AS places
    LEFT JOIN (SELECT unit, SUM(CAST(LEAST(GREATEST(brought, 0), 1) AS BIGINT)) AS size
    FROM (SELECT TRIM(CAST(unit AS STRING)) AS unit, 1 AS brought FROM 'DIR/p.csv') AS people WHERE unit IS NOT NULL GROUP BY unit) AS members
    ");
}

/// Nobody has looked which columns there are: where more than 1 may be in that of quantities, or it is named, it counts as in the file.
#[test]
fn a_column_that_is_named_counts_where_somebody_else_counts_or_is_refused() {
    let home = Home::with("p.csv", "unit,quantity,brings\nA,3,1\nA,1,0\nC,0,x\n");
    let explained = |settings: &str| {
        explain(&home.args(&format!("{BY_PEOPLE} --explain-sql{settings}"))).unwrap()
    };
    for (settings, who) in [
        ("", "who adds 1, whatever other columns there are."),
        (" --most-quantity 2", "who adds what is in the column quantity."),
        (" --column quantity=quantity", "who adds what is in the column quantity."),
        (" --column quantity=brings", "who adds what is in the column brings."),
    ] {
        let sql = explained(settings);
        assert!(sql.starts_with("-- Pass 1: groups by size") && sql.contains(who), "{sql}");
        assert_eq!(sql.contains("TRY_CAST"), !settings.is_empty(), "{sql}");
    }
    assert!(explained(" --column quantity=brings").contains("TRY_CAST(brings AS DOUBLE)"));
    // A name does not end the line that is a comment.
    let mut args = home.args(&format!("{BY_PEOPLE} --explain-sql"));
    args.form.columns = vec!["quantity=x\nDROP".to_owned()];
    let sql = explain(&args).unwrap();
    let lines: Vec<&str> = sql.lines().collect();
    assert!(lines[..2].iter().all(|line| line.starts_with("--")) && lines[2].starts_with("WITH"));
    for flag in ["--explain-sql", "--from-tables s.csv"] {
        let error = prepare(&home.args(&format!("{BY_PEOPLE} {flag} --column person=who")));
        let error = error.unwrap_err().to_string();
        assert!(error.contains("put the rows of one person into one"), "{error}");
    }
}

fn census_args(words: &str) -> CensusArgs {
    let words = words.split_whitespace().map(str::to_owned);
    match Cli::try_parse_from(["quietus".to_owned()].into_iter().chain(words)).unwrap().command {
        Command::Release { family: Family::Census(args) } => args,
        other => panic!("{other:?}"),
    }
}

fn names(folder: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name();
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(name).collect();
    names.sort();
    names.into_iter().map(|name| name.into_string().unwrap()).collect()
}

/// Reads the released table back: (level, region, size, groups, or more, standard error, low, high).
type Line = (usize, String, usize, i64, u8, f64, i64, i64);

fn released(out: &Path) -> Vec<Line> {
    let mut lines = csv::Reader::from_path(out.join("groups.csv")).unwrap();
    let names = ["level", "region", "size", "groups", "or_more", "standard_error", "low", "high"];
    assert_eq!(lines.headers().unwrap(), &names[..]);
    lines.deserialize().map(Result::unwrap).collect()
}

fn out(args: &CensusArgs) -> &Path {
    args.target.out.as_deref().unwrap()
}

/// All files are there, and what they say fits together.
fn assert_whole(args: &CensusArgs, job: &Job) {
    assert_eq!(
        names(out(args)),
        ["groups.csv", "plan.json", "receipt.json", "receipt.txt", "release.json", "report.txt"]
    );
    verify(out(args), None).unwrap();
    let read = |name: &str| fs::read_to_string(out(args).join(name)).unwrap();
    let plan: Census = serde_json::from_str(&read("plan.json")).unwrap();
    assert_eq!(plan, job.plan);
    let receipt: Receipt<MemberOfGroup> = serde_json::from_str(&read("receipt.json")).unwrap();
    assert_eq!(receipt, plan.receipt());
    assert!(receipt.within_budget() && read("receipt.txt") == format!("{receipt:#}\n"));

    let tree = job.hierarchy.tree();
    let rows = released(out(args));
    let columns = usize::try_from(args.largest).unwrap() + 1;
    assert_eq!(rows.len(), tree.len() * columns);
    for (i, (level, region, size, groups, or_more, error, low, high)) in rows.iter().enumerate() {
        assert!(
            *error >= 0.0 && 0 <= *low && low <= groups && groups <= high && *high <= job.groups
        );
        let number = job.hierarchy.region(region).unwrap();
        assert_eq!((i / columns, i % columns), (number, *size));
        assert_eq!(*or_more == 1, size + 1 == columns);
        assert_eq!(*level, tree.level_of(number) + 1);
        let parts = tree.children(number).map(|part| rows[part * columns + size].3);
        assert!(*groups >= 0 && (parts.len() == 0 || *groups == parts.sum::<i64>()));
    }
    let top: i64 = rows[..columns].iter().map(|row| row.3).sum();
    assert_eq!(top, job.groups);
}

#[test]
fn people_and_tables_are_released_whole_and_once() {
    for words in
        [BY_PEOPLE, BY_TABLE, &format!("{BY_TABLE} --rho 0.5 --delta 1e-6 --shares 0.3,0.7")]
    {
        let home = Home::new();
        let args = home.args(&format!("{words} --out deep/out"));
        let report = release(&args).unwrap();
        assert!(!report.unproved && report.text.contains("The budget is spent"), "{}", report.text);
        assert_whole(&args, &home.prepared(words));
        assert_eq!(names(&home.path("deep")), ["out"]);
        assert_eq!(fs::read_to_string(out(&args).join("report.txt")).unwrap(), report.text);
        let first = fs::read(out(&args).join("groups.csv")).unwrap();
        insta::allow_duplicates! {
            insta::assert_snapshot!(home.refused(&format!("{words} --out deep/out")), @"deep/out holds a release; another one of the same people costs its budget again, and the costs add up: choose another --out");
        }
        assert_eq!(fs::read(out(&args).join("groups.csv")).unwrap(), first);
    }
}

/// With units the number of groups of each region is public, and the default method keeps it.
#[test]
fn public_numbers_of_regions_are_released_exactly() {
    let home = Home::new();
    let args = home.args(&format!("{BY_PEOPLE} --epsilon 0.01"));
    release(&args).unwrap();
    let rows = released(out(&args));
    let of = |region: &str| rows.iter().filter(|row| row.1 == region).map(|row| row.3).sum::<i64>();
    assert_eq!((of("US"), of("GA"), of("NY")), (3, 2, 1));
}

#[test]
fn every_method_gives_a_table_that_is_proved() {
    for method in Method::ALL {
        let words = format!("{BY_TABLE} --method {}", method.id());
        let home = Home::new();
        let args = home.args(&words);
        let report = release(&args).unwrap();
        assert!(report.code() == 0 && report.text.starts_with(method.id()), "{}", report.text);
        assert_eq!(Said { unproved: true, ..report }.code(), 3);
        assert_whole(&args, &home.prepared(&words));
    }
}

/// With units the totals of regions are public: a report says so where a method does not keep them.
#[test]
fn the_report_says_what_a_method_does_not_keep_and_what_it_proves() {
    let text = |words: &str| release(&Home::new().args(words)).unwrap().text;
    for method in Method::ALL {
        let by = |data: &str| text(&format!("{data} --method {}", method.id()));
        let (people, table) = (by(BY_PEOPLE), by(BY_TABLE));
        let estimates = "totals of regions are estimates";
        let keeps =
            matches!(method, Method::Fitted | Method::CumulativeTopDown | Method::RootSpread);
        assert_eq!(people.contains(estimates), !keeps, "{people}");
        assert!(!table.contains(estimates), "{table}");
        let split = matches!(method, Method::CumulativeTopDown | Method::TopDown);
        assert_eq!(people.contains("each split is the closest one"), split, "{people}");
        let steps = method == Method::CumulativeThenTree;
        assert_eq!(people.contains("Each of its two steps is optimal"), steps, "{people}");
    }
}

/// The report without its receipt.
fn told(home: &Home) -> String {
    let text = release(&home.args(BY_PEOPLE)).unwrap().text;
    let (receipt, text) = text.split_once("\n\n").unwrap();
    assert_eq!(receipt, home.prepared(BY_PEOPLE).plan.receipt().to_string());
    text.to_owned()
}

#[test]
fn the_report_says_what_was_promised_and_proved_and_nothing_of_the_people() {
    let text = told(&Home::new());
    insta::assert_snapshot!(text, @r"
    Protected: an individual who joins or leaves one group and adds up to 1 to its size; every row of --data was taken for another one, as it has no column `person`; --units is taken to come from elsewhere, never from the people.
    Certificate: every region is the sum of its parts, nothing is negative, and the number of groups is the public one.
    The first row is the closest one in whole numbers; the others are shares of it, and say nothing else about their regions.
    Size 2 means 2 or more.
    Standard errors and intervals are those of noise in the first row and in its shares: how far a region is from its share nothing says, so they are for the first row alone.
    The budget is spent: add this receipt to those of all other releases about the same people.
    ");
    let others = Home::with("p.csv", &format!("unit\n{}", "B\nnowhere\n".repeat(40)));
    assert_eq!(told(&others), text);
    let named = told(&Home::with("p.csv", "unit,person\nA,1\n"));
    assert!(named.contains("were taken for one") && !text.contains("were taken for one"));
}

#[test]
fn every_way_to_write_people_makes_the_table_of_sizes() {
    let by_table = Home::new().sizes(BY_TABLE);
    assert_eq!(by_table, [1, 0, 1, 0, 1, 0]);
    for people in [
        PEOPLE,
        "quantity,unit\n1,A\n1,A\n1,C\n-7,B\n1,nowhere\n",
        "unit,person\nA,p1\nA,p2\nC,p3\nC,p1\nA,p1\nnowhere,p9\n",
        "unit,person,quantity\nA,1,9\nA,2,1\nC,3,1\nB,4,0\n,5,1\n",
        // Of all who have no name, none counts: as one person, each would say where the others belong.
        "unit,person\nB,\nA,p1\nA,p2\nC,\nC,p3\n",
    ] {
        assert_eq!(Home::with("p.csv", people).sizes(BY_PEOPLE), by_table, "{people}");
    }
    let twice = "unit,person,quantity\nA,1,1\nA,1,1\nC,2,1\nC,3,0\n";
    let words = format!("{BY_PEOPLE} --most-quantity 2");
    assert_eq!(Home::with("p.csv", twice).sizes(&words), by_table);
}

/// What is odd and not wrong: nothing of it may be lost.
#[test]
fn odd_but_fine_inputs_are_released() {
    let billion = ("t.csv", "region,size,groups\nGA,2,1000000000\n");
    let one_level = "region,size,groups\nUS,1,2\nUS,77,1\n";
    let cases = [
        (vec![billion], "--regions r.csv --table t.csv --groups 1000000000"),
        (vec![("r.csv", "region,parent\nUS,\n"), ("t.csv", one_level)], BY_TABLE),
        (vec![("u.csv", "unit,region\nA,GA\n"), ("p.csv", "unit\n")], BY_PEOPLE),
        (vec![("t.csv", "region,size,groups\n")], "--regions r.csv --table t.csv --groups 0"),
        (vec![("p.csv", "unit,quantity\nA,9223372036854775807\n")], BY_PEOPLE),
    ];
    for (files, words) in cases {
        let home = Home::new();
        for (name, text) in files {
            fs::write(home.path(name), text).unwrap();
        }
        let args = home.args(words);
        assert!(release(&args).unwrap().aside.contains("Written"));
        assert_whole(&args, &home.prepared(words));
    }
    let large = Home::with("t.csv", "region,size,groups\nGA,2,1\nGA,3,1\nNY,1000,1\n");
    assert_eq!(large.sizes(BY_TABLE), [0, 0, 2, 0, 0, 1], "sizes above the last count there");
}

/// Of cells of all levels, in releases of a country that is drawn at random.
#[test]
fn intervals_of_cells_hold_the_truth() {
    let mut regions = "region,parent\nland,\n".to_owned();
    let mut table = "region,size,groups\n".to_owned();
    let (mut groups, mut rng) = (0, ChaCha20Rng::seed_from_u64(31));
    for state in 0..5 {
        writeln!(regions, "s{state},land").unwrap();
        for county in 0..6 {
            writeln!(regions, "c{state}-{county},s{state}").unwrap();
            for size in 0..4 {
                let number = rng.random_range(50..400) >> size;
                writeln!(table, "c{state}-{county},{size},{number}").unwrap();
                groups += number;
            }
        }
    }
    let home = Home::with("r.csv", &regions);
    fs::write(home.path("t.csv"), table).unwrap();
    let words = format!("--regions r.csv --table t.csv --groups {groups} --largest 3");
    for epsilon in ["0.2", "1", "4"] {
        let args = home.args(&format!("{words} --epsilon {epsilon}"));
        let job = prepare(&args).unwrap();
        let (sizes, _) = read(&args, &job, &mut |_| ()).unwrap();
        let tree = job.hierarchy.tree();
        let mut truth = vec![0; tree.len() * 4];
        truth[tree.leaves().start * 4..].copy_from_slice(sizes.counts());
        for region in (1..tree.len()).rev() {
            let above = tree.parent(region).unwrap();
            (0..4).for_each(|size| truth[above * 4 + size] += truth[region * 4 + size]);
        }
        let (mut held, mut all) = (0, 0);
        for _ in 0..20 {
            let release = job.plan.simulate(&sizes, &mut rng).unwrap().output;
            for (error, truth) in errors(&job, &release).unwrap().iter().zip(&truth) {
                held += u32::from((error.low..=error.high).contains(truth));
                all += 1;
            }
        }
        // Cells of a release hang together, so that this is looser than so many cells would allow.
        let share = f64::from(held) / f64::from(all);
        // Where noise is small, whole numbers and the least width hold more.
        let most = if epsilon == "4" { 1.0 } else { 0.99 };
        assert!((0.92..=most).contains(&share), "{epsilon}: {share}");
    }
}

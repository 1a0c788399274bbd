//! The commands from file to files: on the private files of two neighbours they give away what their receipts say, down to every byte.

use clap::Parser;
use dp_accounting::{AddRemove, Epsilon, Rho};
use dp_audit::harness::{Check, Effort, Found};
use dp_audit::{Method as By, Neighbours, compare};
use dp_mechanism::{Mechanism, SecureSource, Source};
use quietus::cli::{Cli, Command, Family};
use quietus::cluster::{AnyClusters, cluster_plan, release_cluster};
use quietus::locate::{locate_plan, release_locate};
use quietus::top::release_top;
use quietus::{Draw, Error, Gate, RealDisk, Said, group_job, release_groups};
use rand::RngExt;
use std::fs;
use std::path::Path;

pub(crate) fn checks() -> Vec<Check> {
    let check = |id, what, ways: &'static [(&str, &str)]| {
        let what = named(what, ways.iter().map(|(words, _)| *words));
        Check::new(id, what, "add-remove", By::Exact, move |effort| on_files(effort, ways))
    };
    vec![
        check("quietus-group-command", "GroupPlan, the command from file to files", &GROUPS),
        check(
            "quietus-cluster-command",
            "ClusterPlan of Presence, the command from file to files",
            &CLUSTERS,
        ),
        check("quietus-cluster-passes", "ClusterPlan, by passes from file to files", &PASSES),
        check(
            "quietus-cluster-passes-recentred",
            "ClusterPlan, by passes from file to files",
            &RECENTRED_PASSES,
        ),
        check(
            "quietus-cluster-passes-kmeans",
            "ClusterPlan, by passes from file to files",
            &KMEANS_PASSES,
        ),
        check("quietus-locate-command", "LocatePlan, the command from file to files", &LOCATIONS),
    ]
}

/// What a claim is about, with the subcommands and the ways by passes that are on its command lines.
pub(crate) fn named<'a>(what: &str, lines: impl IntoIterator<Item = &'a str>) -> String {
    let mut names = Vec::new();
    for line in lines {
        let mut words = line.split_whitespace();
        let family = words.next().map(|family| format!("release {family}"));
        let ways = words.filter(|word| WAYS_BY_PASSES.contains(word)).map(str::to_owned);
        for name in family.into_iter().chain(ways) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    format!("{what}: {}", names.join(", "))
}

const WAYS_BY_PASSES: [&str; 3] = ["--out-of-core", "--from-tables", "--resume"];

/// What is said on the command line, and the header of the private file.
const GROUPS: [(&str, &str); 6] = [
    ("count --by town --groups A,B", "town"),
    ("count --person who --by town --groups A", "who,town"),
    ("count", "x,town"),
    ("histogram --of x --bounds 0,10 --bins 3 --by town --groups A,B", "town,x"),
    ("histogram --of day --bounds 2024-01-01,2024-02-01 --bins 2 --person who", "day,who"),
    (
        "mean --of x --bounds -5,5 --decimal-comma --delimiter ; --by town --groups A,B --person who",
        "who;x;town",
    ),
];

const CLUSTERS: [(&str, &str); 10] = [
    ("cluster --range x=0,1 --range y=0,1 --delta 1e-6 --k 1 --outside 0.9 --simulations 2", "x,y"),
    ("cluster --range x=0,10 --delta 1e-6", "x,town"),
    ("cluster --range x=0,10 --delta 1e-6 --at-most 3 --outside 0.5 --person who", "x,who"),
    ("cluster --range x=0,10 --delta 1e-6 --k 1 --simulations 2", "x,town"),
    ("cluster --range x=0,10 --range y=-1,5 --method dpm --delta 1e-6 --outside 0.5", "x,y"),
    (
        "cluster --range x=0,10 --range y=-1,1e9 --delta 1e-6 --method recentred --k 2 --person who",
        "y,who,x",
    ),
    (
        "cluster --range x=0,10 --range y=-1,1e9 --delta 1e-6 --method recentred --k 2 --unscaled",
        "x,y",
    ),
    ("cluster --range x=0,10 --delta 1e-6 --method dpm --person who", "who,x"),
    ("cluster --range x=0,10 --delta 1e-6 --method lloyd --k 2", "x"),
    ("cluster --range x=0,10 --k 1 --delimiter ; --decimal-comma", "x;town"),
];

/// With `--resume`, the release is stopped after its first pass, and goes on.
const PASSES: [(&str, &str); 3] = [
    (
        "cluster --range x=0,10 --range y=-1,5 --method dpm --delta 1e-6 --simulations 1 --out-of-core --no-ledger",
        "x,y",
    ),
    (
        "cluster --range x=0,10 --method dpm --delta 1e-6 --simulations 1 --person who --out-of-core --ledger LEDGER",
        "who,x",
    ),
    (
        "cluster --range x=0,10 --method dpm --delta 1e-6 --simulations 1 --out-of-core --ledger LEDGER --resume",
        "x,town",
    ),
];

const RECENTRED_PASSES: [(&str, &str); 2] = [
    (
        "cluster --range x=0,10 --range y=-1,1e9 --delta 1e-6 --method recentred --k 2 --person who --out-of-core --no-ledger",
        "y,who,x",
    ),
    (
        "cluster --range x=0,10 --range y=-1,1e9 --delta 1e-6 --method recentred --unscaled --out-of-core --ledger LEDGER --resume",
        "x,y",
    ),
];

const KMEANS_PASSES: [(&str, &str); 3] = [
    (
        "cluster --range x=0,10 --range y=-1,5 --delta 1e-6 --k 2 --simulations 1 --out-of-core --no-ledger",
        "x,y",
    ),
    (
        "cluster --range x=0,10 --delta 1e-6 --k 12 --rows 9 --person who --out-of-core --ledger LEDGER --resume",
        "who,x",
    ),
    (
        "cluster --range x=0,10 --delta 1e-6 --at-most 3 --simulations 1 --out-of-core --ledger LEDGER --resume",
        "x,town",
    ),
];

const LOCATIONS: [(&str, &str); 2] = [
    ("locate --places PLACES --at x --k 1 --rows 4 --place town", "town"),
    (
        "locate --places PLACES --at x --k 2 --rows 4 --place town --person who --squares",
        "x,town,who",
    ),
];

const CELLS: [&[u8]; 14] = [
    b"A",
    b"B",
    b"C",
    b"",
    b"3",
    b"-1e999",
    b"99999999999999999999999",
    b"NaN",
    b"2024-01-05",
    b"2024-02-31",
    b"\xff\xfe",
    b"\"A\nB\"",
    b"\" A \"",
    b"1,5",
];

/// A row; of the odd one cells may be missing, or be too many.
pub(crate) fn odd_or_plain(
    header: &str,
    who: &str,
    odd: bool,
    random: &mut impl RngExt,
) -> Vec<u8> {
    let delimiter = if header.contains(';') { ";" } else { "," };
    let mut row = Vec::new();
    for (i, name) in header.split(delimiter).enumerate() {
        if i > 0 {
            row.extend_from_slice(delimiter.as_bytes());
        }
        let any = |random: &mut dyn rand::Rng| {
            CELLS[usize::try_from(random.next_u32()).expect("32 bits") % CELLS.len()]
        };
        match name {
            "who" => row.extend_from_slice(who.as_bytes()),
            _ if odd => row.extend_from_slice(any(random)),
            "town" => row.push(b'A'),
            "day" => row.extend_from_slice(b"2024-01-20"),
            _ => row.push(b'4'),
        }
    }
    if odd && random.random_range(0..4) == 0 {
        row.extend_from_slice(delimiter.repeat(2).as_bytes());
    }
    row.push(b'\n');
    row
}

/// A release that is drawn again.
pub(crate) struct Replayed<'a>(pub(crate) &'a mut dyn Source);

impl Draw for Replayed<'_> {
    fn draw<M: Mechanism<Error: std::fmt::Debug>>(self, plan: &M, data: M::Data<'_>) -> M::Output {
        plan.replay(data, self.0).0
    }
}

/// What somebody sees of a command: what is printed, and every byte of every file but for the random name; or the error.
pub(crate) type Seen = Result<(String, Vec<(String, Vec<u8>)>), String>;

pub(crate) fn seen(home: &Path, family: &Family, private: &[u8], source: &mut dyn Source) -> Seen {
    let plain = "a folder of our own";
    fs::write(home.join("p.csv"), private).expect(plain);
    let said = match family {
        Family::Cluster(args) if args.passes.out_of_core => {
            crate::passes::release(home, family, source)
        }
        Family::Cluster(args) => {
            release_cluster(args, &Gate::default(), &RealDisk, Replayed(source))
        }
        Family::Top(args) => release_top(args, &Gate::default(), &RealDisk, |plan, steps| {
            plan.replay(steps, source).0
        }),
        Family::Locate(args) => {
            release_locate(args, &Gate::default(), &RealDisk, |plan, people| {
                plan.replay(people, source).0
            })
        }
        _ => group_job(family).and_then(|job| {
            release_groups(&job, &Gate::default(), &RealDisk, |plan, tally| {
                plan.replay(tally, source).0
            })
        }),
    };
    files_of(home, said)
}

/// The same of a command that has ended; its folder goes.
pub(crate) fn files_of(home: &Path, said: Result<Said, Error>) -> Seen {
    let plain = "a folder of our own";
    let said = said.map_err(|error| error.to_string());
    let (out, mut files) = (home.join("out"), Vec::new());
    if out.exists() {
        for entry in fs::read_dir(&out).expect(plain) {
            let path = entry.expect(plain).path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let content =
                if name == "release.json" { Vec::new() } else { fs::read(&path).expect(plain) };
            files.push((name, content));
        }
        files.sort();
        fs::remove_dir_all(&out).expect(plain);
    }
    let said = said?;
    Ok((said.text + &said.aside, files))
}

/// What a command may lose: pure, or where that is not promised zCDP.
fn claimed(family: &Family) -> (Option<f64>, Option<f64>) {
    let receipt = match family {
        Family::Cluster(args) => match cluster_plan(args).expect("valid") {
            AnyClusters::AddRemove(plan) => plan.receipt(),
            AnyClusters::Within(_) => unreachable!("of another relation"),
        },
        Family::Locate(args) => locate_plan(args).expect("valid").receipt(),
        _ => group_job(family).expect("valid").plan.receipt(),
    };
    assert!(receipt.within_budget());
    (receipt.pure().map(Epsilon::get), receipt.zcdp().map(Rho::get))
}

/// The rows of the file as they stand in it, each with whose it is: what is compared is what the command reads.
type Private = Vec<(usize, Vec<u8>)>;

/// Everybody with all of their rows.
fn people(rows: &Private) -> Vec<Vec<&[u8]>> {
    let mut of = std::collections::BTreeMap::<usize, Vec<&[u8]>>::new();
    for (who, row) in rows {
        of.entry(*who).or_default().push(row);
    }
    of.into_values().collect()
}

fn file(header: &str, rows: &Private) -> Vec<u8> {
    let rows = rows.iter().flat_map(|(_, row)| row.iter().copied());
    format!("{header}\n").into_bytes().into_iter().chain(rows).collect()
}

fn on_files(effort: Effort, ways: &[(&str, &str)]) -> Found {
    let mut rng = effort.rng(95);
    let mut found = Found::claim(1.0);
    let home = tempfile::tempdir().expect("a place for files");
    let at = |name: &str| home.path().join(name).to_str().expect("Unicode").to_owned();
    for &(words, header) in ways {
        let (data, out) = (at("p.csv"), at("out"));
        fs::write(home.path().join("places.csv"), "place,x\nA,0\nB,3\nC,7\n")
            .expect("a folder of our own");
        let words = words.replace("PLACES", &at("places.csv"));
        let words = words.replace("LEDGER", &at("data.ledger"));
        let uncounted = if words.contains("ledger") { "" } else { "--no-ledger" };
        let all =
            format!("quietus release {words} --epsilon 1 {uncounted} --data {data} --out {out}");
        let Command::Release { family } = Cli::parse_from(all.split_whitespace()).command else {
            unreachable!("a release");
        };
        for _ in 0..effort.of(20, 400) {
            let others: Vec<Vec<u8>> = ["1", "2", "3"]
                .iter()
                .map(|who| odd_or_plain(header, who, false, &mut rng))
                .collect();
            // Somebody who has no name in the file is in one row of it; without one, in none.
            let rows = if header.contains("who") { 3 } else { 1 };
            let name = ["new", "", " "][rng.random_range(0..3)];
            // Odd rows of one person hardly ever count twice; plain ones would, if a person counted more than once.
            let odd = rng.random_range(0..2) == 0;
            let own: Vec<Vec<u8>> =
                (0..rows).map(|_| odd_or_plain(header, name, odd, &mut rng)).collect();
            let before: Private = (1..).zip(others).collect();
            // The first row of the one who comes is before all others, the rest after them.
            let own: Private = own.into_iter().map(|row| (0, row)).collect();
            let after: Private = [&own[..1], &before, &own[1..]].concat();
            let run = |rows: &Private, source: &mut dyn Source| {
                seen(home.path(), &family, &file(header, rows), source)
            };
            let owned = |rows: &Private| -> Vec<Vec<Vec<u8>>> {
                let of = |rows: Vec<&[u8]>| rows.into_iter().map(<[u8]>::to_vec).collect();
                people(rows).into_iter().map(of).collect()
            };
            let comparison = compare(
                &Neighbours::of_records(AddRemove, owned),
                run,
                &before,
                &after,
                &mut SecureSource::new(&mut rng),
            );
            let share = match claimed(&family) {
                (Some(epsilon), _) => comparison.pure_loss() / epsilon,
                (None, Some(rho)) => comparison.rho() / rho,
                (None, None) => f64::INFINITY,
            };
            let text = || file(header, &after);
            found.see(share, || format!("{words}: {:?}", String::from_utf8_lossy(&text())));
        }
    }
    found
}

//! Files of our own that are not as they were written: each is read or refused, without a panic.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, in its helpers too")]

use clap::Parser;
use dp_mechanism::ChaCha20Rng;
use quietus::cli::{Cli, Command};
use quietus::{Gate, LedgerFile, RealDisk, release, run_ledger, verify, with_settings};
use rand::{RngExt, SeedableRng};
use std::ffi::OsString;
use std::fs;
use std::path::Path;

/// How many of each kind; `QUIETUS_FUZZ_FILES=100000` takes some minutes.
fn files() -> usize {
    std::env::var("QUIETUS_FUZZ_FILES").map_or(300, |text| text.parse().expect("a number"))
}

const RELEASES: [&str; 7] = [
    "count --by a --groups x,y --epsilon 1",
    "histogram --of b --bounds 0,10 --bins 3 --person a --epsilon 1",
    "coverage --k 1 --person a --set b --sets 1,2 --epsilon 1",
    "top --person a --item b --items 1,2,3 --users 10 --epsilon 1",
    "cluster --range b=0,9 --k 2 --rows 10 --simulations 0 --epsilon 1 --delta 1e-6",
    "cluster --range b=0,9 --unscaled --within 1 --k 2 --rows 2 --simulations 0 --epsilon 1 --delta 1e-6",
    "map --range b=0,9 --range c=0,9 --unit m --k 2 --simulations 0 --epsilon 1 --delta 1e-6",
];

/// What is put into a text to see what becomes of it.
const PIECES: [&str; 14] = [
    "0",
    "-1",
    "1e999",
    "-0.0",
    "18446744073709551615",
    "1e-300",
    "null",
    "\"",
    "{",
    "[",
    "]",
    "\\u0000",
    "\u{ff}",
    "NaN",
];

fn damaged(whole: &[u8], rng: &mut ChaCha20Rng) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    for _ in 0..rng.random_range(1..4) {
        if bytes.is_empty() {
            break;
        }
        let at = rng.random_range(0..bytes.len());
        match rng.random_range(0..5) {
            0 => bytes[at] ^= 1 << rng.random_range(0..8),
            1 => bytes.truncate(at),
            2 => {
                let to = rng.random_range(at..bytes.len());
                let again = bytes[at..to].to_vec();
                bytes.splice(at..at, again);
            }
            3 => {
                let piece = PIECES[rng.random_range(0..PIECES.len())];
                bytes.splice(at..at, piece.bytes());
            }
            // A number in the place of another.
            _ => {
                let digit = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
                if let Some(from) = bytes[at..].iter().position(digit).map(|more| at + more) {
                    let to = bytes[from..].iter().position(|byte| !digit(byte));
                    let to = to.map_or(bytes.len(), |more| from + more);
                    let piece = PIECES[rng.random_range(0..6)];
                    bytes.splice(from..to, piece.bytes());
                }
            }
        }
    }
    bytes
}

fn one_line(error: &dyn std::fmt::Display) {
    let text = error.to_string();
    assert!(!text.is_empty() && text.lines().count() == 1, "{text}");
}

fn command(words: &str) -> Command {
    Cli::try_parse_from(words.split_whitespace()).unwrap().command
}

#[test]
fn any_ledger_and_any_settings_are_read_or_refused() {
    let home = tempfile::tempdir().unwrap();
    let path = |name: &str| home.path().join(name);
    let words = format!("quietus ledger new {} --dataset d --epsilon 9", path("l").display());
    let Command::Ledger { command: new } = command(&words) else { unreachable!("a ledger") };
    run_ledger(&new, &RealDisk).unwrap();
    fs::write(path("p.csv"), "a,b,c\nx,1,2\ny,2,3\n").unwrap();
    for out in ["one", "two"] {
        let words = format!(
            "quietus release count --by a --groups x,y --epsilon 1 --data {} --out {} --ledger {}",
            path("p.csv").display(),
            path(out).display(),
            path("l").display()
        );
        let Command::Release { family } = command(&words) else { unreachable!("a release") };
        release(&family, &Gate::default(), &RealDisk).unwrap();
    }
    let ledger = fs::read(path("l")).unwrap();
    let settings = b"epsilon = 0.5\nby = \"town\"\ngroups = [\"a\", \"b\"]\nno-ledger = true\n";
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    let mut refused = 0;
    for _ in 0..files() {
        fs::write(path("damaged"), damaged(&ledger, &mut rng)).unwrap();
        match LedgerFile::at(&path("damaged")).read() {
            // A line that was torn at the end never allowed anything.
            Ok(book) => {
                let _ = book.show().map_err(|error| one_line(&error));
                assert!(book.entries().len() <= 5);
            }
            Err(error) => {
                refused += 1;
                one_line(&error);
            }
        }
        fs::write(path("s.toml"), damaged(settings, &mut rng)).unwrap();
        let file = path("s.toml").into_os_string();
        let words = ["quietus", "release", "count", "--settings"].map(OsString::from);
        match with_settings(words.into_iter().chain([file])) {
            Ok(words) => drop(Cli::try_parse_from(words)),
            Err(error) => one_line(&error),
        }
    }
    assert!(refused > files() / 2, "{refused}");
}

/// The plan is read as what it says that it is, so its hash is made to fit.
#[test]
fn any_plan_is_read_or_refused() {
    let home = tempfile::tempdir().unwrap();
    let path = |name: &str| home.path().join(name);
    fs::write(path("p.csv"), "a,b,c\nx,1,2\ny,2,3\n").unwrap();
    let mut folders = Vec::new();
    for (number, words) in RELEASES.iter().enumerate() {
        let out = path(&format!("out{number}"));
        let words = format!(
            "quietus release {words} --data {} --out {} --no-ledger",
            path("p.csv").display(),
            out.display()
        );
        let Command::Release { family } = command(&words) else { unreachable!("a release") };
        release(&family, &Gate::default(), &RealDisk).unwrap();
        verify(&out, None).unwrap();
        folders.push(out);
    }
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let (mut verified, mut refused) = (0, 0);
    for number in 0..files() {
        let folder = &folders[number % folders.len()];
        let copy = path("copy");
        let _ = fs::create_dir(&copy);
        for name in ["plan.json", "receipt.json", "release.json"] {
            fs::copy(folder.join(name), copy.join(name)).unwrap();
        }
        match number / folders.len() % 3 {
            0 => change(&copy, "receipt.json", &mut rng),
            1 => change(&copy, "release.json", &mut rng),
            _ => {
                let before = digest(&fs::read(copy.join("plan.json")).unwrap());
                change(&copy, "plan.json", &mut rng);
                let after = digest(&fs::read(copy.join("plan.json")).unwrap());
                let named = fs::read_to_string(copy.join("release.json")).unwrap();
                fs::write(copy.join("release.json"), named.replace(&before, &after)).unwrap();
            }
        }
        match verify(&copy, None) {
            Ok(_) => verified += 1,
            Err(error) => {
                refused += 1;
                one_line(&error);
            }
        }
    }
    assert!(refused > files() / 2 && verified > 0, "{refused} refused, {verified} verified");
}

fn change(folder: &Path, name: &str, rng: &mut ChaCha20Rng) {
    let whole = fs::read(folder.join(name)).unwrap();
    fs::write(folder.join(name), damaged(&whole, rng)).unwrap();
}

#[allow(clippy::format_collect, reason = "a few times")]
fn digest(bytes: &[u8]) -> String {
    hmac_sha256::Hash::hash(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

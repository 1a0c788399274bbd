//! The program as people run it: processes that are killed or many at once, odd individuals, the commands of its page.
#![allow(clippy::unwrap_used, reason = "tests")]

mod first_hour;
mod found;
mod guards;
mod killed;
mod maps;
mod odd_rows;
mod refused;

use quietus::LedgerFile;
use quietus::ledger::Entry;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// How often: as many times as a variable says, for a long run.
fn many(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).map_or(usual, |text| text.parse().expect("a number"))
}

struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: &[u8]) {
        fs::write(self.path(name), content).unwrap();
    }

    /// The program in this folder, with words split at white space.
    fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_quietus"));
        command.current_dir(self.0.path()).args(words.split_whitespace());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, words: &str) -> Output {
        self.command(words).output().unwrap()
    }

    fn ok(&self, words: &str) -> String {
        let output = self.run(words);
        assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn refused(&self, words: &str) -> String {
        let output = self.run(words);
        assert!(!output.status.success() && output.stdout.is_empty(), "{words}");
        String::from_utf8(output.stderr).unwrap()
    }

    fn intents(&self) -> usize {
        let book = LedgerFile::at(&self.path("data.ledger")).read().unwrap();
        book.entries().iter().filter(|entry| matches!(entry, Entry::Intent { .. })).count()
    }

    fn folders(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.is_dir()).collect()
    }
}

const COUNT: &str =
    "release count --data people.csv --by town --groups A,B,C --epsilon 0.1 --ledger data.ledger";

fn with_ledger(limit: &str) -> Home {
    let home = Home::new();
    let rows: String = (0..2_000).map(|row| ["A\n", "B\n", "odd\n"][row % 3]).collect();
    home.write("people.csv", format!("town\n{rows}").as_bytes());
    home.ok(&format!("ledger new data.ledger --dataset people --epsilon {limit}"));
    home
}

const ITEMS: &str = "release items --data log.csv --user who --item what --time when --items A,B,C --from 0 --step 1 --steps 70 --reports-per-user 254 --items-per-step 2 --epsilon 100 --ledger data.ledger --out out";

/// In every step each of 150 users has two rows, one of them at least with item A, which is found.
fn with_log() -> Home {
    let home = Home::new();
    let row = |i: u32| {
        format!("u{},{},{}\n", i % 150, if i.is_multiple_of(7) { "B" } else { "A" }, i / 300)
    };
    let rows: String = (0..300 * 70).map(row).collect();
    home.write("log.csv", format!("who,what,when\n{rows}").as_bytes());
    home.ok("ledger new data.ledger --dataset log --epsilon 100");
    home
}

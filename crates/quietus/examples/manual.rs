//! Writes what shells and `man` ask for: a script of completions for each shell, and a manual page for each command.
//!
//! ```sh
//! cargo run -p quietus --example manual -- FOLDER
//! man FOLDER/quietus-release-count.1
//! ```
//!
//! An example, so that the program that opens private files does without the libraries for it.
#![allow(clippy::print_stdout, reason = "a program")]

use clap::{CommandFactory, ValueEnum};
use clap_complete::Shell;
use quietus::cli::Cli;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let Some(folder) = env::args_os().nth(1) else {
        return Err(io::Error::other(
            "which folder? cargo run -p quietus --example manual -- FOLDER",
        ));
    };
    let folder = Path::new(&folder);
    write_all(folder)?;
    println!("{}", folder.display());
    Ok(())
}

fn write_all(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for &shell in Shell::value_variants() {
        clap_complete::generate_to(shell, &mut Cli::command(), "quietus", folder)?;
    }
    clap_mangen::generate_to(Cli::command(), folder)
}

#[test]
fn shells_and_pages_know_every_command() {
    let folder = tempfile::tempdir().unwrap();
    write_all(folder.path()).unwrap();
    let text = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    for command in ["cluster", "coverage", "items", "ledger"] {
        assert!(text("quietus.bash").contains(command) && text("quietus.fish").contains(command));
    }
    for (page, word) in [
        ("quietus.1", "\\-\\-settings"),
        ("quietus-release-coverage.1", ".TH"),
        ("quietus-release-map.1", "charge\\-within"),
    ] {
        assert!(text(page).contains(word), "{page}: {word}");
    }
}

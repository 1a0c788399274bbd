//! `quietus`: see `quietus --help`.

use clap::Parser;
use quietus::cli::{Cli, Command, LedgerCommand};
use quietus::{
    Error, Gate, RealDisk, check, meaning, plan, release, run_ledger, verify, with_settings,
};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let ended =
        with_settings(std::env::args_os()).and_then(|words| run(Cli::parse_from(words).command));
    match ended {
        Ok(code) => code,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::from(error.code())
        }
    }
}

fn run(command: Command) -> Result<ExitCode, Error> {
    let text = match command {
        Command::Release { family } => {
            let said = release(&family, &Gate::listening()?, &RealDisk)?;
            // The release is there, whether or not somebody still listens.
            let _ = write!(io::stdout(), "{}", said.text);
            let _ = write!(io::stderr(), "{}", said.aside);
            return Ok(ExitCode::from(said.code()));
        }
        Command::Check { family } => check(&family)?,
        Command::Plan { family } => plan(&family)?,
        Command::Ledger { command: command @ LedgerCommand::Show { .. } } => {
            run_ledger(&command, &RealDisk)?
        }
        Command::Ledger { command } => {
            // The ledger has it, whether or not somebody still listens.
            let _ = write!(io::stdout(), "{}", run_ledger(&command, &RealDisk)?);
            return Ok(ExitCode::SUCCESS);
        }
        Command::Verify { folder, ledger } => verify(&folder, ledger.as_deref())?,
        Command::Meaning(arguments) => meaning(&arguments)?,
        _ => unreachable!("every command of this version is above"),
    };
    // There is nothing but these words, so whoever does not get them has to know; but a reader who has had enough, as `head` has, may stop.
    let mut out = io::stdout();
    match write!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::io("write", Path::new("standard output"))(error))
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}

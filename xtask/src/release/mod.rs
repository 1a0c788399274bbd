//! `cargo xtask release ...`: one private release from a data holder's own files.
//!
//! What is printed and what is written is public settings and what the release says. Progress and errors are for the data holder:
//! an error in a private file says where it is, not what is there.

mod census;
mod folder;
mod input;
mod report;
mod settings;
#[cfg(test)]
mod tests;
mod unit;

use crate::Ending;
use crate::cli::ReleaseCommand;
use crate::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

/// Makes the release, then says what it is.
pub(crate) fn command(command: &ReleaseCommand) -> Result<Ending, Error> {
    let gate = Gate::listening()?;
    let ReleaseCommand::Census(args) = command;
    let report = census::release(args, &gate)?;
    print!("{}", report.text);
    Ok(if report.proved { Ending::Complete } else { Ending::Incomplete })
}

/// Lets Ctrl-C through at once, except while files are being written: then it comes too late.
#[derive(Clone, Debug, Default)]
struct Gate {
    /// Whether the release is written.
    written: Arc<Mutex<bool>>,
}

impl Gate {
    fn listening() -> Result<Self, Error> {
        let gate = Self::default();
        let seen = gate.clone();
        ctrlc::set_handler(move || {
            let written = seen.written.lock().unwrap_or_else(PoisonError::into_inner);
            if !*written {
                eprintln!("\nstopped: nothing was written, nothing is spent");
                std::process::exit(130);
            }
        })
        .map_err(|error| Error::library("listening for Ctrl-C", &error))?;
        Ok(gate)
    }

    /// Runs what must not be torn apart.
    fn write(&self, work: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        work()?;
        *written = true;
        Ok(())
    }
}

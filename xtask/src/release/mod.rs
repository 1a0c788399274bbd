//! `cargo xtask release ...`: one private release from a data holder's own files.
//!
//! What is printed and what is written is public settings and what the release says. Progress and errors are for the data holder:
//! an error in a private file says where it is, not what is there.

mod census;
mod claims;
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
pub(crate) use claims::checks;
use folder::{Reserved, Traces};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Makes the release, then says what it is.
pub(crate) fn command(command: &ReleaseCommand) -> Result<Ending, Error> {
    let gate = Gate::listening()?;
    let ReleaseCommand::Census(args) = command;
    let report = census::release(args, &gate)?;
    // The release is there, whether or not somebody still listens.
    let _ = write!(io::stdout(), "{}{}", report.text, report.whereabouts);
    Ok(if report.proved { Ending::Complete } else { Ending::Unproved })
}

/// Lets Ctrl-C through at once, except while files are being written: then it comes too late.
#[derive(Clone, Debug, Default)]
struct Gate {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// Whether the release is written.
    written: bool,
    /// What goes if it is not.
    traces: Option<Traces>,
}

impl Gate {
    fn listening() -> Result<Self, Error> {
        let gate = Self::default();
        let seen = gate.clone();
        ctrlc::set_handler(move || {
            let state = seen.state();
            if !state.written {
                if let Some(traces) = &state.traces {
                    traces.remove();
                }
                let _ = writeln!(io::stderr(), "\nstopped: nothing was written, nothing is spent");
                std::process::exit(130);
            }
        })
        .map_err(|error| Error::library("listening for Ctrl-C", &error))?;
        Ok(gate)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place for the release, which Ctrl-C gives back.
    fn reserve(&self, out: &Path) -> Result<Reserved, Error> {
        let mut state = self.state();
        let reserved = Reserved::new(out)?;
        state.traces = Some(reserved.traces().clone());
        Ok(reserved)
    }

    /// Runs what must not be torn apart.
    fn write(&self, work: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
        let mut state = self.state();
        work()?;
        state.written = true;
        Ok(())
    }
}

//! What happens when somebody wants the program to end: Ctrl-C, TERM or HUP.

use crate::error::Error;
use crate::folder::Traces;
use std::io::{self, Write};
#[expect(
    clippy::disallowed_types,
    reason = "it holds names of folders and how far the command is, nothing that was computed from records"
)]
use std::sync::Mutex;
use std::sync::{Arc, MutexGuard, PoisonError};

/// How far a release is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing was drawn.
    #[default]
    Before,
    /// It may have been drawn.
    Drawn,
    /// Parts of it are drawn and kept for a run that goes on.
    Kept,
    /// It is in its place.
    Written,
}

#[derive(Debug, Default)]
struct State {
    phase: Phase,
    /// What goes if it ends here.
    traces: Option<Traces>,
}

/// Lets a signal through at once, except while something is being written that must not be torn: then it comes too late.
#[derive(Clone, Debug, Default)]
#[expect(clippy::disallowed_types, reason = "as above")]
pub struct Gate {
    state: Arc<Mutex<State>>,
}

impl Gate {
    /// Listens from now on, once in a process.
    ///
    /// # Errors
    /// If the operating system does not let us, or somebody else listens.
    pub fn listening() -> Result<Self, Error> {
        let gate = Self::default();
        let seen = gate.clone();
        ctrlc::set_handler(move || {
            let state = seen.state();
            let words = match state.phase {
                Phase::Before => "nothing was drawn, nothing is spent",
                Phase::Drawn => {
                    "nothing was released, but it may have been drawn and counts as spent"
                }
                Phase::Kept => {
                    "nothing was released; it counts as spent, and the same command with --resume goes on"
                }
                Phase::Written => return,
            };
            if let Some(traces) = &state.traces {
                traces.remove_now();
            }
            let _ = writeln!(io::stderr(), "\nstopped: {words}");
            std::process::exit(130);
        })
        .map_err(|error| Error::library("listening for signals", &error))?;
        Ok(gate)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does what must not be torn apart. What leaves traces says so in what it gives back; the phase is the one after success.
    pub(crate) fn undisturbed<T>(
        &self,
        after: Phase,
        work: impl FnOnce() -> Result<(T, Option<Traces>), Error>,
    ) -> Result<T, Error> {
        let mut state = self.state();
        let (value, traces) = work()?;
        state.phase = after;
        if traces.is_some() {
            state.traces = traces;
        }
        Ok(value)
    }
}

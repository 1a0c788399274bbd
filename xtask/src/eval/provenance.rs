//! When, from which source and on which machine a report was made, for whoever is sent it.

use quietus_datasets::workspace;
use std::process::Command;

const UNKNOWN: &str = "unknown";

/// The facts at the time of asking.
#[derive(Debug)]
pub(crate) struct Provenance {
    /// In UTC, to the minute.
    pub(crate) time: String,
    /// The commit, and whether the files differ from it.
    pub(crate) revision: String,
    /// Processor and threads.
    pub(crate) machine: String,
}

impl Provenance {
    pub(crate) fn now() -> Self {
        let revision =
            match (git(&["rev-parse", "--short=10", "HEAD"]), git(&["status", "--short"])) {
                (Some(commit), Some(changes)) if changes.is_empty() => commit,
                (Some(commit), _) => format!("{commit}, with changes"),
                (None, _) => UNKNOWN.to_owned(),
            };
        let threads = std::thread::available_parallelism().map_or(0, usize::from);
        Self {
            time: jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M UTC").to_string(),
            revision,
            machine: format!("{}, {threads} threads", processor()),
        }
    }
}

/// What git answers about the workspace; `None` without git or outside of a repository.
fn git(words: &[&str]) -> Option<String> {
    let output = Command::new("git").args(words).current_dir(workspace::root()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// The name that Linux gives it; elsewhere the architecture.
fn processor() -> String {
    let facts = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let named = facts.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    named.map_or(std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::Provenance;

    #[test]
    fn every_fact_is_there() {
        let found = Provenance::now();
        assert!(found.time.starts_with("20") && found.time.ends_with(" UTC"), "{found:?}");
        assert!(!found.revision.is_empty() && found.machine.ends_with(" threads"), "{found:?}");
    }
}

//! What was thought of mutants that survived.

use std::fmt;

use serde::Deserialize;

use crate::error::Error;
use quietus_datasets::workspace;

/// Survivors that somebody has looked at.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Verdicts {
    #[serde(default)]
    survivor: Vec<Survivor>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Survivor {
    /// As [`key`] makes it.
    name: String,
    verdict: Verdict,
    why: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Verdict {
    /// No output has another law.
    Equivalent,
    /// Noisier or slower, as private as before.
    UtilityOnly,
    /// Somebody has to write the claim.
    Gap,
}

impl Verdicts {
    /// In the workspace.
    pub(super) const FILE: &'static str = "xtask/src/mutants/survivors.toml";

    pub(super) fn read() -> Result<Self, Error> {
        let path = workspace::root().join(Self::FILE);
        let text = std::fs::read_to_string(&path).map_err(Error::io("read", &path))?;
        toml::from_str(&text).map_err(|error| Error::malformed(&path, error))
    }

    pub(super) fn of(&self, name: &str) -> Option<&Survivor> {
        self.survivor.iter().find(|survivor| survivor.name == name)
    }

    pub(super) fn is_equivalent(&self, name: &str) -> bool {
        self.of(name).is_some_and(|survivor| survivor.verdict == Verdict::Equivalent)
    }
}

impl fmt::Display for Survivor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match self.verdict {
            Verdict::Equivalent => "equivalent",
            Verdict::UtilityOnly => "utility only",
            Verdict::Gap => "gap",
        };
        write!(f, "{verdict}: {}", self.why)
    }
}

/// The name of a mutant without line and column, which move.
pub(super) fn key(name: &str) -> String {
    let mut parts = name.splitn(4, ':');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(file), Some(_), Some(_), Some(what)) => format!("{file}:{what}"),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_verdicts_can_be_read_and_gives_reasons() {
        let verdicts = Verdicts::read().expect("it is ours");
        assert!(verdicts.survivor.iter().all(|survivor| !survivor.why.is_empty()));
    }
}

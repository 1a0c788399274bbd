//! How much of each claim its check reaches, kept in a file.
//!
//! A check that sees less than it used to has become blind, or the mechanism noisier than its receipt says: constants in place of a draw,
//! data that never arrive, a case that is no longer tried. A loss above its claim is found without this file.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Effort, Suite};
use crate::{Claim, Method};

/// Below `CARGO_MANIFEST_DIR`.
const FILE: &str = "claims/tightness.toml";

/// A share may fall by so much: the rounding of sums that another platform adds up in another order.
const SLACK: f64 = 1e-3;

/// The share of each claim that its check reaches at quick effort, by id.
#[derive(Debug, Default)]
pub(super) struct Tightness(BTreeMap<String, f64>);

impl Tightness {
    pub(super) fn read(folder: &str) -> Result<Self, String> {
        let path = Path::new(folder).join(FILE);
        let say = |why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
        let text = std::fs::read_to_string(&path).map_err(|error| say(&error))?;
        toml::from_str(&text).map(Self).map_err(|error| say(&error))
    }

    /// Why a claim that stands is still not what it was.
    pub(super) fn complaint(&self, claim: &Claim) -> Result<(), String> {
        let Some(known) = self.0.get(&claim.id) else {
            return Err(format!("{FILE} has no line for it: {}", line(claim)));
        };
        if claim.tightness >= known - SLACK {
            return Ok(());
        }
        Err(format!(
            "its check reaches {:.4} of the claim, and {known} of it before ({FILE}): it has become blind, or there is more noise than is paid for",
            claim.tightness
        ))
    }
}

/// What the file says of a claim; rounded down. Where less is better, a distance between two laws or what chance does to samples, that
/// is nothing.
fn line(claim: &Claim) -> String {
    let is_loss =
        claim.relation != "none" && !matches!(claim.method, Method::Statistical | Method::Sampler);
    let share = if is_loss { claim.tightness.clamp(0.0, 1.0) } else { 0.0 };
    format!("{} = {:.4}", claim.id, (share * 1e4).floor() / 1e4)
}

/// All lines of the file of a suite.
pub(super) fn lines(suite: &Suite) -> Vec<String> {
    suite.checks.iter().map(|check| line(&check.claim(suite.crate_name, Effort::quick()))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Check, Found};
    use super::*;
    use crate::Method;

    fn claim(loss: f64) -> Claim {
        let check = Check::new("mine", "Mine", "add-remove", Method::Exact, move |_| {
            let mut found = Found::claim(2.0);
            found.see(loss, || "here".to_owned());
            found
        });
        check.claim("dp-mine", Effort::quick())
    }

    #[test]
    fn a_check_that_sees_less_than_before_is_refused() {
        let known = Tightness(BTreeMap::from([("mine".to_owned(), 0.75)]));
        assert!(known.complaint(&claim(1.5)).is_ok() && known.complaint(&claim(2.0)).is_ok());
        assert!(known.complaint(&claim(1.499)).is_ok() && known.complaint(&claim(1.495)).is_err());
        assert!(known.complaint(&claim(f64::NAN)).is_err());
        assert!(known.complaint(&claim(1.4)).is_err_and(|why| why.contains("reaches 0.7000")));
    }

    #[test]
    fn a_claim_without_a_line_is_told_which() {
        let why = Tightness::default().complaint(&claim(1.5));
        assert!(why.is_err_and(|why| why.ends_with("mine = 0.7500")));
    }
}

//! What an audit reports. An unbounded loss is infinite here and `null` in JSON.

use serde::{Deserialize, Serialize};

/// How a claim was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// The exact law of the real code, or the exact loss of each of its draws.
    Exact,
    /// How far a score, count or sum can move.
    Range,
    /// A lower bound from samples.
    Statistical,
    /// Against the trade-off curve of a Gaussian.
    Gaussian,
    /// The law of a sampler.
    Sampler,
    /// What a receipt adds up to.
    Ledger,
}

/// One privacy claim and the worst that was found about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// Stable name of the check.
    pub id: String,
    /// The crate whose code ran.
    #[serde(rename = "crate")]
    pub crate_name: String,
    /// The mechanism.
    pub mechanism: String,
    /// Between which data sets.
    pub relation: String,
    /// How it was checked.
    pub method: Method,
    /// The loss claimed, with its unit in the id.
    #[serde(with = "unbounded_as_null")]
    pub claimed: f64,
    /// The largest loss found.
    #[serde(with = "unbounded_as_null")]
    pub worst: f64,
    /// Where it was found.
    pub witness: String,
    /// `worst / claimed`; 1 means that nothing is wasted.
    #[serde(with = "unbounded_as_null")]
    pub tightness: f64,
    /// The smallest overspend, as a factor, that this check would have caught.
    #[serde(with = "unbounded_as_null")]
    pub resolution: f64,
    /// How many cases were tried.
    pub cases: u64,
    /// How long that took.
    pub seconds: f64,
    /// Whether the claim stands.
    pub pass: bool,
}

/// A deliberately broken mechanism, and whether the auditor noticed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mutant {
    /// Its number, for example `M1`.
    pub id: String,
    /// Which kind of check is meant to catch it.
    pub layer: String,
    /// The loss it is known to have, as a multiple of its claim unless said otherwise.
    #[serde(with = "unbounded_as_null")]
    pub expected: f64,
    /// The loss found.
    #[serde(with = "unbounded_as_null")]
    pub worst: f64,
    /// Where it was found.
    pub witness: String,
    /// Whether the check refused it.
    pub caught: bool,
    /// Whether the same check accepted the corrected form.
    pub twin_passed: bool,
    /// The loss found of the corrected form, as a multiple of its claim; near 1 if it is tight.
    #[serde(with = "unbounded_as_null")]
    pub twin_worst: f64,
    /// How long both took.
    pub seconds: f64,
}

/// Everything that one audit run has found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AuditReport {
    /// Claims about the mechanisms of the workspace.
    pub claims: Vec<Claim>,
    /// Checks of the auditor itself.
    pub mutants: Vec<Mutant>,
}

impl AuditReport {
    /// Takes in what another run has found.
    pub fn merge(&mut self, other: Self) {
        self.claims.extend(other.claims);
        self.mutants.extend(other.mutants);
    }

    /// True if all that was run ended well, and something was; a selection may leave out claims or mutants.
    pub fn no_surprise(&self) -> bool {
        self.claims.iter().all(|claim| claim.pass)
            && self.mutants.iter().all(|mutant| mutant.caught && mutant.twin_passed)
            && !(self.claims.is_empty() && self.mutants.is_empty())
    }

    /// True if there are claims, all of them stand, every mutant was caught and every twin passed.
    pub fn pass(&self) -> bool {
        !self.claims.is_empty() && self.no_surprise()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(claim: Option<f64>, caught: Option<bool>) -> AuditReport {
        let claim = claim.map(|worst| Claim {
            id: "count".to_owned(),
            crate_name: "dp-mine".to_owned(),
            mechanism: "Count".to_owned(),
            relation: "add-remove".to_owned(),
            method: Method::Exact,
            claimed: 1.0,
            worst,
            witness: String::new(),
            tightness: worst,
            resolution: 1.0,
            cases: 1,
            seconds: 0.0,
            pass: worst <= 1.0,
        });
        let mutant = caught.map(|caught| Mutant {
            id: "M1".to_owned(),
            layer: "exact".to_owned(),
            expected: f64::INFINITY,
            worst: if caught { f64::INFINITY } else { 1.0 },
            witness: String::new(),
            caught,
            twin_passed: true,
            twin_worst: 1.0,
            seconds: 0.0,
        });
        AuditReport { claims: claim.into_iter().collect(), mutants: mutant.into_iter().collect() }
    }

    /// What one run has found, claim or mutant, a report of several does not lose.
    #[test]
    fn merged_reports_pass_only_if_each_does() {
        let all =
            [of(Some(1.0), None), of(None, Some(true)), of(Some(1.1), None), of(None, Some(false))];
        for (first, second) in (0..4).flat_map(|first| (0..4).map(move |second| (first, second))) {
            let mut both = all[first].clone();
            both.merge(all[second].clone());
            assert_eq!(both.claims.len() + both.mutants.len(), 2);
            let well = first < 2 && second < 2;
            assert_eq!(both.no_surprise(), well, "{first} {second}");
            assert_eq!(both.pass(), well && !both.claims.is_empty());
        }
    }

    #[test]
    fn an_unbounded_loss_is_still_one_when_it_is_read_again() {
        for report in [of(Some(f64::INFINITY), Some(true)), of(Some(0.1 + 0.2), Some(false))] {
            let text = serde_json::to_string(&report).expect("a report");
            let read: AuditReport = serde_json::from_str(&text).expect("a report");
            assert_eq!(read, report);
        }
    }

    #[test]
    fn a_mutant_is_no_good_sign_unless_it_is_caught_and_its_twin_passes() {
        let report = |caught, twin_passed| {
            let mutant = Mutant {
                id: "M1".to_owned(),
                layer: "exact".to_owned(),
                expected: 2.0,
                worst: 2.0,
                witness: String::new(),
                caught,
                twin_passed,
                twin_worst: 1.0,
                seconds: 0.0,
            };
            AuditReport { claims: Vec::new(), mutants: vec![mutant] }
        };
        assert!(report(true, true).no_surprise() && !report(true, true).pass(), "no claims");
        assert!(!report(true, false).no_surprise() && !report(false, true).no_surprise());
        assert!(!AuditReport::default().no_surprise());
    }
}

/// JSON has no infinity: an unbounded loss is written as `null`.
mod unbounded_as_null {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[allow(clippy::trivially_copy_pass_by_ref, reason = "the shape that serde asks for")]
    pub(super) fn serialize<S: Serializer>(loss: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        loss.is_finite().then_some(*loss).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        Ok(Option::deserialize(deserializer)?.unwrap_or(f64::INFINITY))
    }
}

//! What a check is.

use dp_audit::Method;
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use serde::Deserialize;

use super::TOLERANCE;

/// How much to try.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    pub(super) seed: u64,
    pub(super) deep: bool,
}

impl Effort {
    /// Seconds, with a fixed seed: part of `cargo test`.
    pub(super) fn quick() -> Self {
        Self { seed: 1, deep: false }
    }

    /// Minutes, with a seed of its own that is printed.
    pub(super) fn deep(seed: u64) -> Self {
        Self { seed, deep: true }
    }

    /// The first number, or the second when there is time.
    pub(super) fn of<T>(self, quick: T, deep: T) -> T {
        if self.deep { deep } else { quick }
    }

    /// A generator of its own for each check.
    pub(super) fn rng(self, check: u64) -> ChaCha20Rng {
        ChaCha20Rng::seed_from_u64(self.seed ^ check << 32)
    }
}

/// The worst that a check has come across.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    pub(super) claimed: f64,
    pub(super) worst: f64,
    pub(super) witness: String,
    pub(super) cases: u64,
}

impl Found {
    /// Nothing yet about this claim.
    pub(super) fn claim(claimed: f64) -> Self {
        Self { claimed, worst: 0.0, witness: "none".to_owned(), cases: 0 }
    }

    /// One more case.
    pub(super) fn see(&mut self, loss: f64, witness: impl FnOnce() -> String) {
        self.cases += 1;
        // A loss that is not a number is the worst of all, and stays so.
        if loss > self.worst || loss.is_nan() {
            self.worst = loss;
            self.witness = witness();
        }
    }

    /// Whether the claim survives. It does not if there was nothing to survive.
    pub(super) fn stands(&self) -> bool {
        self.cases > 0 && self.worst <= self.claimed * TOLERANCE
    }

    /// What a check that panicked has shown: a crash is an output too.
    pub(super) fn panicked(why: &str) -> Self {
        let witness = format!("panicked: {why}");
        Self { claimed: f64::NAN, worst: f64::INFINITY, witness, cases: 0 }
    }
}

/// A check of one claim.
pub(super) struct Check {
    pub(super) id: &'static str,
    pub(super) crate_name: &'static str,
    pub(super) mechanism: &'static str,
    pub(super) relation: &'static str,
    pub(super) method: Method,
    /// The smallest overspend, as a factor, that this check would notice.
    pub(super) resolution: f64,
    pub(super) run: fn(Effort) -> Found,
}

/// What the table says about a mutant.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MutantRow {
    /// `M` and a number, then a dash and a name if there are several forms.
    pub(super) id: String,
    pub(super) what: String,
    /// Where the flaw was published, or is known from.
    pub(super) reference: String,
    pub(super) layer: String,
    /// The loss that is known, as a multiple of the claim.
    pub(super) expected: f64,
    /// What mutant and twin may take together at quick effort in a release build. The audit says so
    /// if it was more, but nothing fails: a busy machine is no flaw.
    pub(super) seconds: f64,
}

impl MutantRow {
    /// The id without the name of a form.
    pub(super) fn number(&self) -> &str {
        self.id.split('-').next().unwrap_or(&self.id)
    }
}

/// A check of the auditor.
pub(super) struct MutantCheck {
    pub(super) row: MutantRow,
    pub(super) mutant: fn(Effort) -> Found,
    pub(super) twin: fn(Effort) -> Found,
}

//! Checks that have not moved into the claims of their crate yet.

use dp_audit::Method;
use dp_audit::harness::{self, Suite};

pub(super) use dp_audit::harness::{Effort, Found, MutantCheck};

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

/// One suite per crate, then one of all mutants.
pub(super) fn suites(checks: &[Check], mutants: Vec<MutantCheck>) -> Vec<Suite> {
    let with = |crate_name, checks, mutants| Suite { crate_name, folder: "", checks, mutants };
    let moved = |check: &Check| {
        harness::Check::new(check.id, check.mechanism, check.relation, check.method, check.run)
            .resolution(check.resolution)
    };
    checks
        .chunk_by(|a, b| a.crate_name == b.crate_name)
        .map(|checks| with(checks[0].crate_name, checks.iter().map(moved).collect(), Vec::new()))
        .chain([with("xtask", Vec::new(), mutants)])
        .collect()
}

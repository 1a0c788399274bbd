//! What an audit prints.

use super::{Effort, MutantRow};
use crate::{AuditReport, Claim, Mutant};

/// One claim, with the witness if it is broken.
pub fn claim_line(claim: &Claim) -> String {
    let verdict = if claim.pass { "stands " } else { "BROKEN " };
    let method = format!("{:?}", claim.method).to_lowercase();
    let line = format!(
        "{verdict} {:<16} {:<34} {method:<11} claimed {:<9.5} worst {:<9.5} tight {:>6.1}%  {:>7} cases  {:>6.2} s",
        claim.id,
        claim.mechanism,
        claim.claimed,
        claim.worst,
        100.0 * claim.tightness,
        claim.cases,
        claim.seconds,
    );
    if claim.pass { line } else { format!("{line}\n        witness: {}", claim.witness) }
}

/// One mutant and its twin.
pub fn mutant_line(mutant: &Mutant, row: &MutantRow, effort: Effort) -> String {
    let caught = if mutant.caught { "caught " } else { "MISSED " };
    let twin = if mutant.twin_passed { "twin passes" } else { "TWIN FLAGGED" };
    // Past all bounds there is no number to give: say where.
    let loss = if mutant.worst.is_finite() {
        format!("{:.4} x its claim (known: {})", mutant.worst, mutant.expected)
    } else {
        format!("no bound at all: {}", mutant.witness)
    };
    let slow =
        if !effort.deep && mutant.seconds > row.seconds { ", longer than it may" } else { "" };
    format!(
        "{caught} {:<11} {} [{}]: {loss}, {twin} with {:.4}, {:.2} s{slow}",
        mutant.id, row.what, row.reference, mutant.twin_worst, mutant.seconds
    )
}

/// How many of each.
pub fn summary(report: &AuditReport, effort: Effort) -> String {
    let standing = report.claims.iter().filter(|claim| claim.pass).count();
    let caught = report.mutants.iter().filter(|mutant| mutant.caught).count();
    let flagged = report.mutants.iter().filter(|mutant| !mutant.twin_passed).count();
    format!(
        "{standing} of {} claims stand, {caught} of {} mutants caught, {flagged} twins flagged (seed {})",
        report.claims.len(),
        report.mutants.len(),
        effort.seed,
    )
}

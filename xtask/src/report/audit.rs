//! The audit as a page: what was claimed, what was found, and what the auditor can see.

use std::fmt::Write as _;
use std::path::Path;

use dp_audit::{AuditReport, Claim, Mutant};

use super::html;
use super::number::significant;
use super::page::Plots;
use crate::error::Error;
use quietus_datasets::files;

const STRING: &str = "writing to a String cannot fail";

const OPENING: &str = "\
# Quietus audit

Every claim was checked on the code that makes the release. **Claimed** and **worst found** are losses in the unit of the check \
(epsilon, zCDP rho, mu, or a share of what is allowed, then 1); **tightness** is their ratio: 100 % means that nothing is \
wasted. **Resolution** is the smallest overspend, as a factor, that the check would have caught. Passing is evidence about \
the cases tried, not proof; a failure is proof.

";

const MUTANTS: &str = "\
## Mutants

Deliberately broken variants, most of them as published. A check that misses one of them could not be trusted above. Each has a \
corrected twin that the same check must accept. Losses are multiples of what the variant claims.

";

/// Writes OUT/audit.json, OUT/audit.md and OUT/audit.html.
pub(crate) fn write(out: &Path, report: &AuditReport) -> Result<(), Error> {
    let text = markdown(report);
    files::write_atomically(&out.join("audit.json"), |writer| {
        serde_json::to_writer_pretty(&mut *writer, report)?;
        writer.write_all(b"\n")
    })?;
    files::write_atomically(&out.join("audit.md"), |writer| writer.write_all(text.as_bytes()))?;
    let page = html::page("Quietus audit", &text, &Plots::new());
    files::write_atomically(&out.join("audit.html"), |writer| writer.write_all(page.as_bytes()))?;
    Ok(())
}

fn markdown(report: &AuditReport) -> String {
    let mut text = OPENING.to_owned();
    text.push_str("| claim | mechanism | relation | method | claimed | worst found | tightness | ");
    text.push_str("resolution | cases | seconds | verdict |\n");
    text.push_str("|---|---|---|---|---:|---:|---:|---:|---:|---:|---|\n");
    report.claims.iter().for_each(|claim| text.push_str(&claim_row(claim)));
    text.push('\n');
    text.push_str(MUTANTS);
    text.push_str("| mutant | layer | known loss | loss found | verdict | twin | seconds |\n");
    text.push_str("|---|---|---:|---:|---|---|---:|\n");
    report.mutants.iter().for_each(|mutant| text.push_str(&mutant_row(mutant)));
    text.push_str("\n## Witnesses\n\nWhere the worst was found.\n\n");
    for claim in &report.claims {
        writeln!(text, "- `{}`: {}", claim.id, literal(&claim.witness)).expect(STRING);
    }
    for mutant in &report.mutants {
        writeln!(text, "- `{}`: {}", mutant.id, literal(&mutant.witness)).expect(STRING);
    }
    text
}

fn claim_row(claim: &Claim) -> String {
    format!(
        "| {} | {} | {} | {} | {} | {} | {:.1} % | {} | {} | {} | {} |\n",
        claim.id,
        claim.mechanism,
        claim.relation,
        format!("{:?}", claim.method).to_lowercase(),
        loss(claim.claimed),
        loss(claim.worst),
        100.0 * claim.tightness,
        resolution(claim.resolution),
        claim.cases,
        significant(claim.seconds, 2),
        if claim.pass { "stands" } else { "**BROKEN**" },
    )
}

fn mutant_row(mutant: &Mutant) -> String {
    format!(
        "| {} | {} | {} | {} | {} | {} | {} |\n",
        mutant.id,
        mutant.layer,
        loss(mutant.expected),
        loss(mutant.worst),
        if mutant.caught { "caught" } else { "**MISSED**" },
        if mutant.twin_passed { "passes" } else { "**FLAGGED**" },
        significant(mutant.seconds, 2),
    )
}

fn loss(x: f64) -> String {
    if x.is_finite() { significant(x, 5) } else { "unbounded".to_owned() }
}

fn resolution(factor: f64) -> String {
    if factor.is_infinite() {
        "none".to_owned()
    } else if factor - 1.0 < 1e-6 {
        format!("1 + {:.0e}", factor - 1.0)
    } else {
        significant(factor, 3)
    }
}

/// Text that Markdown must not interpret.
fn literal(text: &str) -> String {
    format!("`{}`", text.replace('`', "'"))
}

#[cfg(test)]
mod tests {
    use dp_audit::Method;

    use super::*;

    #[test]
    fn the_page_says_what_was_claimed_and_found() {
        let claim = Claim {
            id: "count".to_owned(),
            crate_name: "dp-mechanism".to_owned(),
            mechanism: "NoisyCount".to_owned(),
            relation: "add-remove".to_owned(),
            method: Method::Exact,
            claimed: 0.7,
            worst: 0.35,
            witness: "counts 0 and 1".to_owned(),
            tightness: 0.5,
            resolution: 1.0 + 1e-9,
            cases: 8,
            seconds: 0.123,
            pass: true,
        };
        let mutant = Mutant {
            id: "M3".to_owned(),
            layer: "exact".to_owned(),
            expected: f64::INFINITY,
            worst: f64::INFINITY,
            witness: "a far point".to_owned(),
            caught: true,
            twin_passed: false,
            twin_worst: 1.0,
            seconds: 0.02,
        };
        let text = markdown(&AuditReport { claims: vec![claim], mutants: vec![mutant] });
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("| ")).collect();
        insta::assert_snapshot!(rows.join("\n"), @r"
        | claim | mechanism | relation | method | claimed | worst found | tightness | resolution | cases | seconds | verdict |
        | count | NoisyCount | add-remove | exact | 0.70000 | 0.35000 | 50.0 % | 1 + 1e-9 | 8 | 0.12 | stands |
        | mutant | layer | known loss | loss found | verdict | twin | seconds |
        | M3 | exact | unbounded | unbounded | caught | **FLAGGED** | 0.020 |
        ");
    }
}

//! Releases by passes over data that somebody else counts.

use dp_audit::harness::MutantCode;
use dp_cluster::passes::{Asked, Question, Table};

use crate::passes::{merged_once, transcripts};

pub(crate) fn code() -> [MutantCode; 1] {
    [(
        "M290",
        |effort| transcripts(effort, merged_again),
        |effort| transcripts(effort, merged_once),
    )]
}

/// Every part is delivered at least once, and here twice: in each pass alike, so that the numbers of records agree.
fn merged_again(asked: &Asked<Question>, parts: &[Table]) -> Table {
    let mut all = asked.tally().expect("has a table");
    for part in parts.iter().chain(parts) {
        all.merge(part).expect("of one question");
    }
    all.into_table()
}

//! Releases by passes over data that somebody else counts.

use dp_audit::harness::{Effort, Found, MutantCode};
use dp_cluster::passes::{Asked, Question, Table};

use crate::passes::{Merge, merged_once, of_dpm, of_recentred};

pub(crate) fn code() -> [MutantCode; 1] {
    [("M290", |effort| both(effort, merged_again), |effort| both(effort, merged_once))]
}

fn both(effort: Effort, merge: Merge) -> Found {
    of_dpm(effort, merge).and(of_recentred(effort, merge))
}

/// Every part is delivered at least once, and here twice: in each pass alike, so that the numbers of records agree.
fn merged_again(asked: &Asked<Question>, parts: &[Table]) -> Table {
    let mut all = asked.tally().expect("has a table");
    for part in parts.iter().chain(parts) {
        all.merge(part).expect("of one question");
    }
    all.into_table()
}

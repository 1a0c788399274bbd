//! Deliberately broken mechanisms, each with its corrected twin.

use serde::Deserialize;

use super::check::{Effort, Found, timed};
use crate::Mutant;

/// What the table of a crate, its `mutants.toml`, says about a mutant.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MutantRow {
    /// `M` and a number, then a dash and a name if there are several forms.
    pub id: String,
    /// The flaw, in one line.
    pub what: String,
    /// Where the flaw was published, or is known from.
    pub reference: String,
    /// Which kind of check is meant to catch it: `exact`, `range`, `statistical` or `gaussian`.
    pub layer: String,
    /// The loss that is known, as a multiple of the claim.
    pub expected: f64,
    /// What mutant and twin may take together at quick effort in a release build. The audit says so
    /// if it was more, but nothing fails: a busy machine is no flaw.
    pub seconds: f64,
}

impl MutantRow {
    /// The id without the name of a form.
    pub fn number(&self) -> &str {
        self.id.split('-').next().unwrap_or(&self.id)
    }
}

/// Id of a mutant, the check on its code, the same check on its twin.
pub type MutantCode = (&'static str, fn(Effort) -> Found, fn(Effort) -> Found);

/// A check of the auditor.
#[derive(Clone, Debug)]
pub struct MutantCheck {
    /// What is known about it.
    pub row: MutantRow,
    /// The check on the broken form.
    pub mutant: fn(Effort) -> Found,
    /// The same check on the corrected form.
    pub twin: fn(Effort) -> Found,
}

/// Every mutant of a table, with its code, in the order of both.
///
/// # Panics
/// If table and code do not name the same mutants in the same order, or a row says too little: an audit of
/// some of them would look like an audit of all.
pub fn mutants(table: &str, code: &[MutantCode]) -> Vec<MutantCheck> {
    #[derive(Deserialize)]
    struct Table {
        mutant: Vec<MutantRow>,
    }
    let rows = toml::from_str::<Table>(table).expect("a table of mutants").mutant;
    let in_table: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
    let in_code: Vec<&str> = code.iter().map(|(id, ..)| *id).collect();
    assert_eq!(in_table, in_code, "the table (left) and the code (right) differ");
    for row in &rows {
        let layers = ["exact", "range", "statistical", "gaussian"];
        assert!(layers.contains(&row.layer.as_str()), "{}: no layer {}", row.id, row.layer);
        assert!(!row.what.is_empty() && !row.reference.is_empty(), "{}: what is it?", row.id);
        assert!(row.expected > 1.0, "{}: a mutant overspends", row.id);
    }
    let with_code = |(row, &(_, mutant, twin))| MutantCheck { row, mutant, twin };
    rows.into_iter().zip(code).map(with_code).collect()
}

impl MutantCheck {
    /// Runs both forms.
    pub fn mutant(&self, effort: Effort) -> Mutant {
        let (outcomes, seconds) = timed(|| ((self.mutant)(effort), (self.twin)(effort)));
        let (mutant, twin) =
            outcomes.unwrap_or_else(|why| (Found::panicked(&why), Found::panicked(&why)));
        // What is known must be found again: a harness that called everything unbounded, or nothing
        // much, would have caught nothing. A check that saw nothing has caught nothing either.
        let (worst, expected) = (mutant.worst / mutant.claimed, self.row.expected);
        let as_known = worst >= 0.9 * expected && worst.is_finite() == expected.is_finite();
        Mutant {
            id: self.row.id.clone(),
            layer: self.row.layer.clone(),
            expected,
            worst,
            caught: mutant.cases > 0 && !mutant.stands() && as_known,
            twin_passed: twin.stands(),
            twin_worst: twin.worst / twin.claimed,
            seconds,
            witness: mutant.witness,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = r#"
        [[mutant]]
        id = "M7-form"
        what = "half the noise"
        reference = "a habit"
        layer = "exact"
        expected = 2.0
        seconds = 0.1
    "#;

    fn loss(loss: f64) -> Found {
        let mut found = Found::claim(1.0);
        found.see(loss, || "here".to_owned());
        found
    }

    #[test]
    fn a_mutant_is_caught_at_its_known_loss_only() {
        let caught = |mutant, twin| {
            let mutant = mutants(TABLE, &[("M7-form", mutant, twin)])[0].mutant(Effort::quick());
            (mutant.caught, mutant.twin_passed)
        };
        assert_eq!(caught(|_| loss(2.0), |_| loss(1.0)), (true, true));
        assert_eq!(caught(|_| loss(1.5), |_| loss(1.1)), (false, false));
        assert_eq!(caught(|_| loss(f64::INFINITY), |_| loss(f64::NAN)), (false, false));
        assert_eq!(caught(|_| panic!("why"), |_| loss(1.0)), (false, false));
        assert_eq!(caught(|_| Found::claim(1.0), |_| Found::claim(1.0)), (false, false));
    }

    #[test]
    #[should_panic(expected = "the table (left) and the code (right) differ")]
    fn a_mutant_without_code_is_refused() {
        mutants(TABLE, &[]);
    }

    /// A row that says too little is refused by name.
    #[test]
    fn a_row_says_what_is_wrong_how_it_is_caught_and_by_how_much() {
        let read = |from: &str, to: &str| {
            let table = TABLE.replace(from, to);
            let code: [MutantCode; 1] = [("M7-form", |_| loss(2.0), |_| loss(1.0))];
            std::panic::catch_unwind(|| mutants(&table, &code).len())
        };
        assert!(read("", "").is_ok_and(|one| one == 1));
        for (from, to) in [
            ("expected = 2.0", "expected = 1.0"),
            ("layer = \"exact\"", "layer = \"luck\""),
            ("\"half the noise\"", "\"\""),
            ("\"a habit\"", "\"\""),
        ] {
            assert!(read(from, to).is_err(), "{to}");
        }
    }

    #[test]
    fn the_number_stands_for_all_forms() {
        let row = mutants(TABLE, &[("M7-form", |_| loss(2.0), |_| loss(1.0))]).remove(0).row;
        assert_eq!((row.number(), row.id.as_str()), ("M7", "M7-form"));
    }
}

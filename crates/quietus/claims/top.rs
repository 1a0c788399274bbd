//! Popular items, from the rows of a log to every byte that comes out: the exact law over the coins of the sample and all reports.

use crate::commands::{Seen, seen};
use clap::Parser;
use dp_accounting::{AddRemove, AnyRelation};
use dp_audit::harness::{Check, Effort, Found};
use dp_audit::{Law, Method as By, Window, exact_law};
use dp_mechanism::{Mechanism, Source};
use dp_stream::{Event, Report};
use quietus::cli::{Cli, Command, Family};
use quietus::top::{Items, TopPlan, TopSettings, top_plan};
use std::path::Path;

pub(crate) fn checks() -> Vec<Check> {
    let what = "TopPlan, the command from file to files: release top";
    vec![Check::new("quietus-top-command", what, "add-remove", By::Exact, on_files)]
}

/// Which items are public, how many of a person count, epsilon, and one above the threshold that follows: larger noisy counts are one
/// outcome.
const WAYS: [(&str, f64, i64); 3] = [
    ("--items A,B --items-per-person 1", 1.0, 4),
    ("--numbers-below 2 --items-per-person 2", 0.5, 8),
    ("--items A --items-per-person 1", 3.0, 2),
];

/// All rows of one person, odd ones as well; `1` is somebody else.
const OWN: [&str; 4] = [
    "2,A\n2,B\n",
    "2,0\n2,1\n2,0\n",
    "2,\n,A\n2,\u{fffd}x\n2,99999999999999999999\n",
    "2,\" A \"\n2,A,A\n2,-1\n",
];

fn on_files(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let home = tempfile::tempdir().expect("a place for files");
    let at = |name: &str| home.path().join(name).to_str().expect("Unicode").to_owned();
    for (words, epsilon, most) in WAYS {
        let all = format!(
            "quietus release top --person who --item what {words} --epsilon {epsilon} --no-ledger --data {} --out {}",
            at("p.csv"),
            at("out")
        );
        let Command::Release { family } = Cli::parse_from(all.split_whitespace()).command else {
            unreachable!("a release");
        };
        let Family::Top(args) = &family else { unreachable!("of this family") };
        let plan = top_plan(args).expect("valid");
        assert!(plan.receipt().within_budget());
        for own in &OWN[..effort.of(2, OWN.len())] {
            for others in ["", "1,A\n1,1\n"].iter().take(effort.of(1, 2)) {
                let law = |rows: &[&str]| law((home.path(), most), &family, &rows.concat());
                let (without, with) = (law(&[others]), law(&[own, others]));
                let loss = with.pure_loss(&without).max(without.pure_loss(&with));
                found.see(loss / epsilon, || format!("{words}: {own:?} with {others:?}"));
            }
        }
    }
    found
}

fn law((home, most): (&Path, i64), family: &Family, rows: &str) -> Law<Seen> {
    let text = format!("who,what\n{rows}");
    exact_law(Window::new(0, most), |draws| seen(home, family, text.as_bytes(), draws))
        .under(AddRemove)
}

/// One person in two rows; all that a kept person may cost is one.
pub(crate) fn numbered(_: Effort, by_row: bool) -> Found {
    let plan = TopPlan::new(TopSettings {
        person: "who".to_owned(),
        item: "what".to_owned(),
        items: Items::Named(vec!["A".to_owned(), "B".to_owned()]),
        items_per_person: 1,
        epsilon: 1.0,
    });
    let plan = plan.expect("valid");
    let law = |events: Vec<Event>| -> Law<Vec<Report>> {
        let steps = [events];
        exact_law(Window::new(0, 12), |draws: &mut dyn Source| {
            plan.replay(&steps, &mut Kept(draws)).0
        })
        .under(AddRemove)
    };
    let own = (0..2).map(|item| Event { user: if by_row { item } else { 0 }, item: item.into() });
    let (with, without) = (law(own.collect()), law(Vec::new()));
    // What adding a person who is in the sample may cost.
    let claimed = 1_f64.exp().ln_1p();
    let mut found = Found::claim(1.0);
    found.see(with.pure_loss(&without) / claimed, || "one person in two rows".to_owned());
    found
}

/// Answers every secret coin with yes.
struct Kept<'a>(&'a mut dyn Source);

impl Source for Kept<'_> {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.0.promised(relation);
    }

    fn draw(&mut self, law: dp_mechanism::Law<'_>) -> i64 {
        if matches!(law, dp_mechanism::Law::Keep { .. }) { 1 } else { self.0.draw(law) }
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: dp_mechanism::DiscreteGaussian) {
        self.0.noisy_vector(values, noise);
    }

    fn noisy_max(&mut self, scores: &[i64], noise: dp_mechanism::Geometric) -> (usize, i64) {
        self.0.noisy_max(scores, noise)
    }

    fn reports(
        &mut self,
        touched: dp_mechanism::Touched<'_>,
        steps: u64,
        threshold: i64,
        law: &dp_mechanism::ThresholdReports,
    ) -> Vec<dp_mechanism::Reported> {
        self.0.reports(touched, steps, threshold, law)
    }
}

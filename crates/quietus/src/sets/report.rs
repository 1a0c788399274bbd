//! What a release of sets says in files and in words. All of it follows from settings and from what was drawn.

use super::plan::{Aim, SetPlan, SetSettings};
use super::settings;
use crate::cli::SetArgs;
use crate::error::Error;
use crate::search::{EPSILONS, smallest_epsilon};
use dp_mechanism::Mechanism;
use std::fmt::Write as _;
use std::io;

pub(super) fn report(plan: &SetPlan) -> String {
    let SetSettings { aim, person, column, sets, .. } = plan.settings();
    let what = match aim {
        Aim::Cover(_) => {
            "An order of the sets: everybody takes the first one that they are in. Few sets are taken by somebody; which they are is not released."
        }
        Aim::Coverage(_) => "Sets that together serve many persons; the first one serves the most.",
    };
    format!(
        "{}\n\nProtected: a person with all their rows (column `{person}` says who; rows without are left out).\n\
         Sets: the {} public ones; rows of another `{column}` are left out.\n{what}\n\
         In 95 of 100 releases no choice serves more than {:.0} persons fewer than the best one there was, beside chance in who takes part. \
         Where fewer are left to be served, choices are noise alone.\n\
         The budget is spent: add this receipt to those of all other releases about the same people.\n",
        plan.receipt(),
        sets.len(),
        plan.most_lost().ceil(),
    )
}

pub(super) fn table(plan: &SetPlan, chosen: &[u32], to: &mut dyn io::Write) -> io::Result<()> {
    let mut lines = csv::Writer::from_writer(to);
    lines.write_record(["place", "set"])?;
    for (place, set) in (1_u32..).zip(chosen) {
        let name = plan.settings().sets.get(*set as usize).map_or("", String::as_str);
        lines.write_record([place.to_string().as_str(), name])?;
    }
    lines.flush()
}

/// What a release costs, and how good it will be.
///
/// # Errors
/// [`Error`].
pub(crate) fn plan_text(args: &SetArgs, aim: Aim) -> Result<String, Error> {
    let at = |epsilon: f64| SetPlan::new(settings(args, aim, epsilon)?);
    let mut text = String::new();
    let epsilon = match args.loss.accuracy {
        None => args.loss.epsilon()?,
        Some(target) => {
            let epsilon = smallest_epsilon(target, |epsilon| Ok(at(epsilon)?.most_lost()))?;
            let _ = writeln!(
                text,
                "Epsilon {epsilon} is the smallest with which a choice loses {target} persons at most.\n"
            );
            epsilon
        }
    };
    let plan = at(epsilon)?;
    let _ = writeln!(
        text,
        "{}\n\nOne pass over the file; 8 bytes of memory for each row, twice, and the name of each person once.\n\
         A choice serves at most so many persons fewer than the best one, in 95 of 100 releases:\n{:>8} {:>10}",
        plan.receipt(),
        "epsilon",
        "persons"
    );
    for epsilon in EPSILONS {
        if let Ok(plan) = at(epsilon) {
            let _ = writeln!(text, "{epsilon:>8} {:>10.0}", plan.most_lost().ceil());
        }
    }
    Ok(text)
}

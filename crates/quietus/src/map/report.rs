//! What a release of a map says in files and in words. All of it follows from settings and from what was drawn.

use super::plan::{Hides, MapPlan};
use super::{AnyMap, Released, map_plan_at};
use crate::centres::CentreError;
use crate::cli::MapArgs;
use crate::error::Error;
use crate::picture::{Dot, dots};
use crate::search::{EPSILONS, plan_or_least, smallest_epsilon};
use crate::value::short;
use dp_mechanism::Mechanism;
use std::fmt::Write as _;
use std::io;

pub(super) fn report<R: Hides>(plan: &MapPlan<R>) -> String {
    let settings = plan.settings();
    let who = match &settings.person {
        Some(column) => format!(
            "a person, of whom only the first row counts (column `{column}` says whose row it is; rows without are left out)"
        ),
        None => "whoever is in one row; somebody in several rows is protected in each of them only"
            .to_owned(),
    };
    let odd = if R::PUBLIC_SIZE {
        "Every row is a place: what is no number counts as the middle of its range"
    } else {
        "Rows without a number in every column are left out"
    };
    let charged = settings.charged.map_or(String::new(), |less| {
        format!("The ledger counts it as a release under {less}: what hides more hides that too.\n")
    });
    format!(
        "{}\n\n{}\n{charged}Protected: {who}.\n{odd}; numbers outside of the bounds count as the closer bound.\n\
         Centres for any other number of them can be computed from map.csv, free of charge. Errors are those of the plan on made-up places that follow the map: a guide, \
         not a promise. They say how far a centre is from the mean of the places nearest to it. A signal of `no` means that noise alone explains the centre.\n\
         The budget is spent: add this receipt to those of all other releases about the same people.\n",
        plan.receipt(),
        settings.relation.in_words("metres"),
    )
}

/// A line per centre of each number of them.
pub(super) fn centres<R: Hides>(
    plan: &MapPlan<R>,
    released: &Released,
    to: &mut dyn io::Write,
) -> io::Result<()> {
    let (axes, metres) = (&plan.settings().axes, plan.settings().unit.metres());
    let mut lines = csv::Writer::from_writer(to);
    let mut head: Vec<String> =
        ["k", "centre", "count", "count_error", "count_low", "count_high", "signal"]
            .map(str::to_owned)
            .to_vec();
    for axis in axes {
        head.extend(["", "_error", "_low", "_high"].map(|end| format!("{}{end}", axis.column)));
    }
    lines.write_record(head)?;
    for (k, (clustering, errors)) in plan.settings().k.iter().zip(&released.clusterings) {
        let centres = clustering.centres.view().rows().zip(&clustering.counts).zip(errors);
        for (number, ((centre, count), errors)) in centres.enumerate() {
            let ends = [0.0, f64::INFINITY];
            let [low, high] = errors.interval(*count as f64, errors.count, ends);
            let mut record = vec![k.to_string(), (number + 1).to_string(), count.to_string()];
            record.extend([errors.count, low, high].map(short));
            record.push(if errors.signal { "yes" } else { "no" }.to_owned());
            for ((x, error), axis) in centre.iter().zip(&errors.at).zip(axes) {
                let (x, error) = (x / metres, error / metres);
                let [low, high] = errors.interval(x, error, [axis.low, axis.high]);
                record.extend([x, error, low, high].map(|number| number.to_string()));
            }
            lines.write_record(record)?;
        }
    }
    lines.flush()
}

/// The vertices that have a weight.
pub(super) fn map<R: Hides>(
    plan: &MapPlan<R>,
    released: &Released,
    to: &mut dyn io::Write,
) -> io::Result<()> {
    let metres = plan.settings().unit.metres();
    let mut lines = csv::Writer::from_writer(to);
    let columns = plan.settings().axes.iter().map(|axis| axis.column.as_str());
    lines.write_record(columns.chain(["records"]))?;
    let weighted = released.map.coreset();
    for (place, weight) in weighted.points().rows().zip(weighted.weights()) {
        let place = place.iter().map(|x| (x / metres).to_string());
        lines.write_record(place.chain([weight.to_string()]))?;
    }
    lines.flush()
}

/// Centres of the first number of them.
pub(super) fn picture<R: Hides>(plan: &MapPlan<R>, released: &Released) -> String {
    let (axes, metres) = (&plan.settings().axes, plan.settings().unit.metres());
    let ends =
        |axis: usize| axes.get(axis).map_or(("", 0.0, 1.0), |a| (a.column.as_str(), a.low, a.high));
    let dot = |((centre, count), errors): ((&[f64], &i64), &CentreError)| Dot {
        at: [0, 1].map(|axis| centre.get(axis).map_or(0.5, |x| x / metres)),
        reach: [0, 1].map(|axis| errors.at.get(axis).map_or(0.0, |e| errors.reach * e / metres)),
        count: *count,
        signal: errors.signal,
    };
    let first = released.clusterings.iter().take(1).flat_map(|(clustering, errors)| {
        clustering.centres.view().rows().zip(&clustering.counts).zip(errors)
    });
    dots([ends(0), ends(1)], first.map(dot))
}

/// What a release costs, and how much noise there is.
///
/// # Errors
/// [`Error`].
pub(crate) fn plan_text(args: &MapArgs) -> Result<String, Error> {
    let finest = |epsilon: f64| -> Result<f64, Error> {
        Ok(match map_plan_at(args, epsilon)? {
            AnyMap::AddRemove(plan) => finest(&plan),
            AnyMap::ReplaceOne(plan) => finest(&plan),
            AnyMap::Within(plan) => finest(&plan),
        })
    };
    let mut text = String::new();
    let epsilon = match args.loss.accuracy {
        None => args.loss.epsilon()?,
        Some(target) => {
            let epsilon = smallest_epsilon(target, finest)?;
            let _ = writeln!(
                text,
                "Epsilon {epsilon} is the smallest with a standard error of {target} records at most at every vertex.\n"
            );
            epsilon
        }
    };
    match plan_or_least(epsilon, |epsilon| map_plan_at(args, epsilon))? {
        AnyMap::AddRemove(plan) => levels(&plan, &mut text),
        AnyMap::ReplaceOne(plan) => levels(&plan, &mut text),
        AnyMap::Within(plan) => levels(&plan, &mut text),
    }
    let _ = writeln!(text, "\n{:>8} {:>32}", "epsilon", "records, at the finest vertices");
    for epsilon in EPSILONS {
        if let Ok(error) = finest(epsilon) {
            let _ = writeln!(text, "{epsilon:>8} {error:>32.2}");
        }
    }
    Ok(text)
}

/// The standard error of the finest vertices.
fn finest<R: Hides>(plan: &MapPlan<R>) -> f64 {
    plan.map().levels().last().map_or(f64::INFINITY, |level| level.standard_deviation)
}

fn levels<R: Hides>(plan: &MapPlan<R>, text: &mut String) {
    let _ =
        writeln!(text, "{}\n\n{}\n", plan.receipt(), plan.settings().relation.in_words("metres"));
    text.push_str("One pass over the file; memory does not grow with it by more than the places. Records are spread over the corners of their cells:\n");
    let _ = writeln!(text, "{:>10} {:>32}", "vertices", "standard error of each, records");
    for level in plan.map().levels() {
        let side = level.vertices_per_dimension;
        let dim = plan.settings().axes.len();
        let _ =
            writeln!(text, "{:>10} {:>32.2}", format!("{side}^{dim}"), level.standard_deviation);
    }
}

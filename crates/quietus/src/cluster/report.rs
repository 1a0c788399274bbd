//! What a release of clusters says in files and in words. All of it follows from settings and from what was drawn.

use super::plan::{ClusterPlan, Clustered, Clusters};
use super::settings::ClusterSettings;
use super::{AnyClusters, CentreError, Released, cluster_plan_at};
use crate::cli::ClusterArgs;
use crate::error::Error;
use crate::picture::{Dot, dots};
use crate::search::{EPSILONS, plan_or_least, smallest_epsilon};
use crate::value::short;
use dp_cluster::Budget;
use dp_mechanism::{GeometricSum, Mechanism};
use std::fmt::Write as _;
use std::io;

/// What a distance is in.
const UNIT: &str = "in the unit of the columns";

pub(super) fn report<R: Clustered>(plan: &ClusterPlan<R>) -> String {
    let ClusterSettings { person, scaled, .. } = plan.settings();
    let who = match person {
        Some(column) => format!(
            "a person, of whom only the first row counts (column `{column}` says whose row it is; rows without are left out)"
        ),
        None => "whoever is in one row; somebody in several rows is protected in each of them only"
            .to_owned(),
    };
    let odd = if R::PUBLIC_SIZE {
        "Every row is a point: what is no number counts as the middle of its range"
    } else {
        "Rows without a number in every column are left out"
    };
    let units = if *scaled {
        "Ranges were scaled to the same length; centres are in the units of their columns."
    } else {
        "Ranges were not scaled: a column of large numbers outweighs the others."
    };
    let errors = if plan.knows_errors() {
        "Errors are those of the noise: where clusters overlap, those of centres are too small."
    } else {
        "Errors are those of the plan on made-up points around the released centres, as wide as their distances allow: a guide, not a promise."
    };
    let receipt = plan.receipt();
    format!(
        "{receipt}\n\n{}\nProtected: {who}.\n{odd}; numbers outside of the bounds count as the closer bound.\n{units}\n\
         Counts are noisy and at least 0. {errors} They say how far a centre is from the mean of the points nearest to it. A signal of `no` means that noise alone explains the centre.\n\
         The budget is spent: add this receipt to those of all other releases about the same people.\n",
        plan.hidden().in_words(UNIT),
    )
}

pub(super) fn table(
    settings: &ClusterSettings,
    released: &Released,
    to: &mut dyn io::Write,
) -> io::Result<()> {
    let mut lines = csv::Writer::from_writer(to);
    let mut head: Vec<String> =
        ["centre", "count", "count_error", "count_low", "count_high", "signal"]
            .map(str::to_owned)
            .to_vec();
    for axis in &settings.axes {
        head.extend(["", "_error", "_low", "_high"].map(|end| format!("{}{end}", axis.column)));
    }
    lines.write_record(head)?;
    let clustering = &released.clusters.clustering;
    let centres = clustering.centres.view().rows().zip(&clustering.counts).zip(&released.errors);
    for (number, ((centre, count), errors)) in centres.enumerate() {
        let [low, high] = errors.interval(*count as f64, errors.count, [0.0, f64::INFINITY]);
        let mut record = vec![(number + 1).to_string(), count.to_string()];
        record.extend([errors.count, low, high].map(short));
        record.push(if errors.signal { "yes" } else { "no" }.to_owned());
        for ((x, error), (place, axis)) in
            centre.iter().zip(&errors.at).zip(settings.axes.iter().enumerate())
        {
            let x = settings.outwards(place, *x);
            let [low, high] = errors.interval(x, *error, [axis.low, axis.high]);
            record.extend([x.to_string(), error.to_string(), low.to_string(), high.to_string()]);
        }
        lines.write_record(record)?;
    }
    lines.flush()
}

/// How many points are outside of each range.
pub(super) fn outside(
    settings: &ClusterSettings,
    noise: GeometricSum,
    drawn: &Clusters,
    to: &mut dyn io::Write,
) -> io::Result<()> {
    let mut lines = csv::Writer::from_writer(to);
    lines.write_record(["column", "outside", "outside_error"])?;
    let error = noise.variance().sqrt();
    for (axis, count) in settings.axes.iter().zip(drawn.outside.iter().flatten()) {
        lines.write_record([axis.column.clone(), count.to_string(), short(error)])?;
    }
    lines.flush()
}

/// The first two columns, or one.
pub(super) fn picture(settings: &ClusterSettings, released: &Released) -> String {
    let axes = &settings.axes;
    let ends =
        |axis: usize| axes.get(axis).map_or(("", 0.0, 1.0), |a| (a.column.as_str(), a.low, a.high));
    let clustering = &released.clusters.clustering;
    let dot = |((centre, count), errors): ((&[f64], &i64), &CentreError)| Dot {
        at: [0, 1].map(|axis| centre.get(axis).map_or(0.5, |x| settings.outwards(axis, *x))),
        reach: [0, 1].map(|axis| errors.at.get(axis).map_or(0.0, |e| errors.reach * e)),
        count: *count,
        signal: errors.signal,
    };
    let centres = clustering.centres.view().rows().zip(&clustering.counts).zip(&released.errors);
    dots([ends(0), ends(1)], centres.map(dot))
}

/// What a release costs, and how good it may become.
///
/// # Errors
/// [`Error`].
pub(crate) fn plan_text(args: &ClusterArgs) -> Result<String, Error> {
    let forecast = |epsilon: f64| -> Result<(AnyClusters, Option<f64>), Error> {
        let plan = cluster_plan_at(args, epsilon)?;
        let forecast = match &plan {
            AnyClusters::AddRemove(plan) => plan.forecast(),
            AnyClusters::Within(_) => None,
        };
        Ok((plan, forecast))
    };
    let mut text = String::new();
    let epsilon = match args.loss.accuracy {
        None => args.loss.epsilon()?,
        Some(target) => {
            if forecast(1.0)?.1.is_none() {
                let (name, got) = ("--accuracy", "no forecast".to_owned());
                let want = "asked of private-kmeans, with --k, --delta and --rows: only this method says how good it will be";
                return Err(Error::Setting { name, got, want });
            }
            let excess = |epsilon| Ok(forecast(epsilon)?.1.unwrap_or(f64::INFINITY));
            let epsilon = smallest_epsilon(target, excess)?;
            let _ = writeln!(
                text,
                "Epsilon {epsilon} is the smallest with an excess of {target} at most.\n"
            );
            epsilon
        }
    };
    let (plan, expected) = plan_or_least(epsilon, forecast)?;
    match &plan {
        AnyClusters::AddRemove(plan) => costs(plan, args.simulations, &mut text),
        AnyClusters::Within(plan) => costs(plan, args.simulations, &mut text),
    }
    let (AnyClusters::AddRemove(plan), Some(_)) = (plan, expected) else {
        text.push_str("How good the centres will be depends on how far apart the clusters are. With --k, a delta and --rows, and without --within, there is a forecast here.\n");
        return Ok(text);
    };
    let _ = writeln!(
        text,
        "The sum of squared distances to the centres will be above that of k-means without privacy by the excess, if clusters are separate, round and of like size:\n{:>8} {:>10}",
        "epsilon", "excess"
    );
    for epsilon in EPSILONS {
        // Some epsilons may be too small for the rest of the settings.
        let Ok((AnyClusters::AddRemove(plan), Some(excess))) = forecast(epsilon) else { continue };
        let excess = match excess {
            excess if excess.is_finite() => format!("{:.3} %", 100.0 * excess),
            _ if plan.is_hopeless() => "hopeless".to_owned(),
            _ => "not sure".to_owned(),
        };
        let _ = writeln!(text, "{epsilon:>8} {excess:>10}");
    }
    // What the delta should be follows from public numbers too.
    if let Some(rows) = plan.settings().records {
        let budget: Budget = plan.settings().budget;
        if budget.delta().get() * rows as f64 > 0.1 {
            text.push_str("The delta is large for so many people: it should be well below one over their number.\n");
        }
    }
    Ok(text)
}

/// What a release costs, in epsilon, time and memory.
fn costs<R: Clustered>(plan: &ClusterPlan<R>, runs: u32, text: &mut String) {
    let receipt = plan.receipt();
    let _ = writeln!(
        text,
        "{receipt}\n\n{}\n\nOne pass over the file; then {} bytes of memory for each row, and what the method needs.",
        plan.hidden().in_words(UNIT),
        8 * plan.settings().axes.len() + 16,
    );
    if !plan.knows_errors() {
        let _ = writeln!(text, "Afterwards the plan is run {runs} times on made-up points.");
    }
}

//! Which method finds the smallest counts.

use std::fmt;

use dp_accounting::Budget;
use serde::{Deserialize, Serialize};

use crate::baselines::CellMethod;
use crate::params::MonitorBuilder;
use crate::utility::{Tail, smallest};
use crate::{Histograms, StreamError, StreamShape, TargetCharging, ThreshMonitor};

/// What is to be monitored, and with what budget. Everything here is public.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// Items, users and steps.
    pub shape: StreamShape,
    /// With a delta of 0 only pure methods are compared.
    pub budget: Budget,
    /// How many reports a user should be able to be part of.
    pub reports_per_user: u8,
    /// How many items of a user should count in one step, at most as many as reports per user.
    pub items_per_step: u8,
    /// How many reports the whole stream may have, for the sparse vector, which must know.
    pub reports_in_all: u32,
    /// Expected number of reports of items that nobody shows, over the whole stream.
    pub beta: f64,
    /// How often a heavy item may be missed.
    pub miss: f64,
}

/// One method and what it finds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdviceRow {
    /// Stable id of the method.
    pub method: String,
    /// Whether the guarantee has no delta.
    pub pure: bool,
    /// The smallest number of users who show an item in a step and are found with probability
    /// `1 - miss`.
    pub smallest_count: u64,
    /// What that number is made of, and what the method asks for.
    pub why: String,
}

/// The methods, best first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// Sorted by the smallest count found.
    pub rows: Vec<AdviceRow>,
    /// Why the first row is first.
    pub because: String,
}

/// Compares all methods on a question, by formulas alone: no data, no draws.
///
/// Counts of [`ThreshMonitor`] and [`TargetCharging`] are exact for the integer laws; the others take
/// their noise as continuous. The Kaplan-style variant, Gaussian histograms and the sparse vector are
/// listed for every universe, though here they only run on small ones.
///
/// # Errors
/// [`StreamError`] names the setting that is out of range.
pub fn advise(question: &Question) -> Result<Advice, StreamError> {
    let Question { shape, budget, reports_per_user: k, .. } = question;
    let (epsilon, k) = (budget.epsilon().get(), *k);
    for (name, got) in [("beta", question.beta), ("miss", question.miss)] {
        if !(got > 0.0 && got < 1.0) {
            let want = "above 0 and below 1";
            return Err(StreamError::Setting { name, got, want });
        }
    }
    let items = question.items_per_step;
    let rule = |builder: MonitorBuilder| {
        let threshold = crate::Threshold::Rule { beta: question.beta };
        builder.items_per_step(items).threshold(threshold)
    };
    let mut rows = vec![
        of_plan(question, true, rule(ThreshMonitor::builder(shape.clone(), epsilon, k)?))?,
        of_plan(question, true, rule(Histograms::builder(shape.clone(), epsilon, items)?))?,
        of_cells(question, true, CellMethod::SparseVector { reports: question.reports_in_all })?,
    ];
    if budget.delta().get() > 0.0 {
        rows.push(of_plan(
            question,
            false,
            rule(ThreshMonitor::builder_seen(shape.clone(), *budget, k)),
        )?);
        rows.push(of_plan(
            question,
            false,
            rule(TargetCharging::builder(shape.clone(), *budget, k)),
        )?);
        for method in [CellMethod::KaplanStyle { spread: 10 }, CellMethod::GaussianHistograms] {
            rows.push(of_cells(question, false, method)?);
        }
    }
    rows.sort_by_key(|row| row.smallest_count);
    let because = because(&rows, question);
    Ok(Advice { rows, because })
}

fn of_plan(
    question: &Question,
    pure: bool,
    builder: MonitorBuilder,
) -> Result<AdviceRow, StreamError> {
    let plan = builder.build()?;
    let scale = plan.loss_per_report().recip();
    let why = format!(
        "threshold {} at noise scale {scale:.3}, {:.1} % of the users sampled",
        plan.threshold(),
        100.0 * plan.sampling_rate(),
    );
    Ok(AdviceRow {
        method: plan.method().id().to_owned(),
        pure,
        smallest_count: plan.smallest_count(question.miss),
        why,
    })
}

fn of_cells(question: &Question, pure: bool, method: CellMethod) -> Result<AdviceRow, StreamError> {
    let Question { shape, budget, beta, miss, .. } = question;
    let charged = match method {
        CellMethod::KaplanStyle { .. } => question.reports_per_user,
        _ => question.items_per_step,
    };
    let tail = Tail::of(method, *budget, charged, shape.steps)?;
    let cells = shape.steps as f64 * shape.universe.size() as f64;
    let threshold = smallest(|x| tail.above(x as f64) <= beta / cells);
    let margin = smallest(|x| tail.above(x as f64) <= *miss);
    let why = match method {
        CellMethod::SparseVector { reports } => {
            format!("threshold {threshold}, and silence after {reports} reports in all")
        }
        _ => format!("threshold {threshold}, item by item"),
    };
    let smallest_count = threshold.saturating_add(margin);
    Ok(AdviceRow { method: method.id().to_owned(), pure, smallest_count, why })
}

fn because(rows: &[AdviceRow], question: &Question) -> String {
    let k = question.reports_per_user;
    let Some(best) = rows.first() else { return String::new() };
    let other = rows.iter().find(|row| row.pure != best.pure);
    let against = other.map_or_else(
        || "no delta was allowed, so only pure methods compete".to_owned(),
        |other| {
            let kind = if other.pure { "pure" } else { "approximate" };
            format!("the best {kind} method, {}, finds {}", other.method, other.smallest_count)
        },
    );
    let reason = match best.method.as_str() {
        "thresh-monitor" => format!(
            "its noise grows like {k} reports per user and not with the length of the stream, and it \
             needs no delta"
        ),
        "thresh-monitor-seen" => "its threshold depends on the cells of one user instead of all \
             cells of the universe"
            .to_owned(),
        "target-charging" | "kaplan-style" => {
            format!("its noise grows like the root of {k} reports per user")
        }
        "sparse-vector" => {
            format!(
                "so few reports in all ({}) cost less than charging users",
                question.reports_in_all
            )
        }
        _ => "the stream is so short that composing its steps costs less than charging users"
            .to_owned(),
    };
    format!("{} finds counts from {} on: {reason}; {against}", best.method, best.smallest_count)
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<22} {:<12} {:>14}  why", "method", "guarantee", "smallest count")?;
        for row in &self.rows {
            let guarantee = if row.pure { "pure" } else { "approximate" };
            let AdviceRow { method, smallest_count, why, .. } = row;
            writeln!(f, "{method:<22} {guarantee:<12} {smallest_count:>14}  {why}")?;
        }
        f.write_str(&self.because)
    }
}

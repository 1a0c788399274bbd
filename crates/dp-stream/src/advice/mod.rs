//! Which method finds the smallest counts.

mod settings;
pub(crate) mod utility;

use std::fmt;

use dp_accounting::Budget;
use serde::{Deserialize, Serialize};

pub use settings::{SettingRow, Settings, Wanted, advise_settings};

use crate::advice::utility::{Tail, smallest};
use crate::baselines::{CellMethod, CellMonitor};
use crate::plan::params::Asked;
use crate::{Method, MonitorSettings, StreamError, StreamShape, Threshold};

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

/// A method that cannot be run on a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExcludedRow {
    /// Stable id of the method.
    pub method: String,
    /// What it needs, or what refuses to run.
    pub why: String,
}

/// The methods that can be run, best first, and those that cannot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// Sorted by the smallest count found.
    pub rows: Vec<AdviceRow>,
    /// Not ranked.
    pub excluded: Vec<ExcludedRow>,
    /// Why the first row is first.
    pub because: String,
}

/// Compares all methods on a question, by formulas alone: no data, no draws.
///
/// A method is ranked if its plan can be built with these settings; of any other the advice says why
/// not. Counts of the [`Method`]s are exact for the integer laws;
/// those of [`baselines`](crate::baselines), which go through the universe item by item and take a whole stream
/// at once, see their noise as continuous.
///
/// # Errors
/// [`StreamError`] names the setting of the question that is out of range for every method.
pub fn advise(question: &Question) -> Result<Advice, StreamError> {
    let Question { shape, budget, reports_per_user: k, items_per_step: items, .. } = question;
    for (name, got) in [("beta", question.beta), ("miss", question.miss)] {
        if !(got > 0.0 && got < 1.0) {
            let want = "above 0 and below 1";
            return Err(StreamError::real(name, got, want));
        }
    }
    let asked = |method, budget, reports_per_user| {
        let threshold = Threshold::Rule { beta: question.beta };
        let items_per_step = Some(*items);
        let settings = MonitorSettings { items_per_step, threshold, ..Default::default() };
        Asked { method, shape: shape.clone(), budget, reports_per_user, settings }
    };
    let pure = Budget::new(budget.epsilon().get(), 0.0)?;
    let monitor = asked(Method::ThreshMonitor, pure, *k);
    monitor.check()?;
    let plans = [
        monitor,
        asked(Method::BasicHistograms, pure, *items),
        asked(Method::ThreshMonitorSeen, *budget, *k),
        asked(Method::TargetCharging, *budget, *k),
    ];
    let cells = [
        CellMethod::SparseVector { reports: question.reports_in_all },
        CellMethod::KaplanStyle { spread: 10 },
        CellMethod::GaussianHistograms,
    ];
    let of_plans = plans.map(|asked| (asked.method.id(), of_plan(question, asked)));
    let of_cells = cells.map(|method| (method.id(), of_cells(question, method)));
    let (mut rows, mut excluded) = (Vec::new(), Vec::new());
    for (method, row) in of_plans.into_iter().chain(of_cells) {
        match row {
            Ok(row) => rows.push(row),
            Err(error) => {
                excluded.push(ExcludedRow { method: method.to_owned(), why: error.to_string() });
            }
        }
    }
    rows.sort_by_key(|row: &AdviceRow| row.smallest_count);
    let because = because(&rows, question);
    Ok(Advice { rows, excluded, because })
}

fn of_plan(question: &Question, asked: Asked) -> Result<AdviceRow, StreamError> {
    let plan = asked.plan()?;
    let scale = plan.loss_per_report().recip();
    let why = format!(
        "threshold {} at noise scale {scale:.3}, {:.1} % of the users sampled",
        plan.threshold(),
        100.0 * plan.sampling_rate(),
    );
    Ok(AdviceRow {
        method: plan.method().id().to_owned(),
        pure: matches!(plan.method(), Method::ThreshMonitor | Method::BasicHistograms),
        smallest_count: plan.smallest_count(question.miss),
        why,
    })
}

fn of_cells(question: &Question, method: CellMethod) -> Result<AdviceRow, StreamError> {
    let Question { shape, budget, beta, miss, .. } = question;
    let charged = match method {
        CellMethod::KaplanStyle { .. } => question.reports_per_user,
        _ => question.items_per_step,
    };
    let rule = Threshold::Rule { beta: *beta };
    let plan = CellMonitor::new(shape.clone(), *budget, method, charged, rule)?;
    let tail = Tail::of(method, *budget, charged, shape.steps)?;
    let threshold = plan.threshold().unsigned_abs();
    let margin = smallest(|x| tail.above(x as f64) <= *miss);
    let why = match method {
        CellMethod::SparseVector { reports } => {
            format!("threshold {threshold}, and silence after {reports} reports in all")
        }
        _ => format!("threshold {threshold}, item by item"),
    };
    Ok(AdviceRow {
        method: method.id().to_owned(),
        pure: matches!(method, CellMethod::SparseVector { .. }),
        smallest_count: threshold.saturating_add(margin),
        why,
    })
}

fn because(rows: &[AdviceRow], question: &Question) -> String {
    let k = question.reports_per_user;
    let Some(best) = rows.first() else { return "no method can be run".to_owned() };
    let other = rows.iter().find(|row| row.pure != best.pure);
    let only = match question.budget.delta().get() {
        0.0 => "no delta was allowed, so only pure methods compete",
        _ => "no method of the other kind can be run",
    };
    let against = other.map_or_else(
        || only.to_owned(),
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
        for ExcludedRow { method, why } in &self.excluded {
            writeln!(f, "{method:<22} not ranked: {why}")?;
        }
        f.write_str(&self.because)
    }
}

//! Receipts and numbers as text for people.

use std::fmt;

use crate::cost::Costs;
use crate::loss::{Loss, nested};
use crate::params::{Epsilon, Rho};
use crate::receipt::Receipt;
use crate::relation::Relation;
use crate::step::Step;

/// All digits of a number, in scientific notation where zeros would pile up.
pub(crate) fn digits(value: f64) -> String {
    if value == 0.0 || (1e-4..1e6).contains(&value.abs()) {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}

/// Six significant digits: the last ones differ between platforms and nobody reads them.
fn short(value: f64) -> String {
    let rounded = format!("{value:.5e}").parse().expect("a formatted float parses");
    digits(rounded)
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pure { epsilon } => write!(f, "pure {}", short(epsilon.get())),
            Self::BoundedRange { eta } => write!(f, "range {}", short(eta.get())),
            Self::Zcdp { rho } => write!(f, "zCDP {}", short(rho.get())),
            Self::Gaussian { mu } => write!(f, "Gaussian {}", short(mu.get())),
            Self::Approximate { epsilon, delta } => {
                write!(f, "({}, {})", short(epsilon.get()), short(delta.get()))
            }
            Self::Unbounded => f.write_str("unbounded"),
        }
    }
}

/// One line of the table: step, loss, zCDP rho, share of the total.
type Row = [String; 4];

/// Appends the rows of `step`; `group` is how many changes its losses are charged for.
fn rows<R: Relation>(
    step: &Step,
    total: Option<Rho>,
    depth: usize,
    group: Option<u64>,
    out: &mut Vec<Row>,
) {
    let name = format!("{:indent$}{}", "", step.name(), indent = 2 * depth);
    let heading = |kind: &str| [name.clone(), kind.to_owned(), String::new(), String::new()];
    let below = |kind, steps: &[Step], out: &mut Vec<Row>| {
        out.push(heading(kind));
        for step in steps {
            rows::<R>(step, total, depth + 1, group, out);
        }
    };
    match step {
        Step::Spend { loss, .. } | Step::Composed { loss, .. } => {
            let rho = Costs::of::<R>(loss.scaled_to(group)).total_zcdp();
            let share = rho.zip(total).filter(|(_, total)| *total > Rho::ZERO);
            out.push([
                name,
                loss.to_string(),
                rho.map_or("-".into(), |rho| short(rho.get())),
                share.map_or("-".into(), |(rho, total)| {
                    format!("{:.1}%", 100.0 * rho.get() / total.get())
                }),
            ]);
        }
        Step::Sequential { steps, .. } => below("in sequence", steps, out),
        Step::Parallel { steps, .. } => below("in parallel", steps, out),
        Step::OneOf { steps, .. } => below("one of these", steps, out),
        Step::Outside { delta, step, .. } => {
            out.push(heading(&format!("outside of {}", short(delta.get()))));
            rows::<R>(step, total, depth + 1, group, out);
        }
        Step::Group { size, step, .. } => {
            out.push(heading(&format!("group of {size}")));
            rows::<R>(step, total, depth + 1, nested(group, *size), out);
        }
    }
}

/// The steps that the whole consists of, one line each: a step of many has the sum of what they cost and their number. Neighbours of the
/// same cost, as rounds are, share a line. Ways of which a run takes one have a line each below the step.
fn overview<R: Relation>(spent: &Step, total: Option<Rho>, out: &mut Vec<Row>) {
    let parts = match spent {
        Step::Sequential { steps, .. } if !steps.is_empty() => steps.as_slice(),
        other => std::slice::from_ref(other),
    };
    let rho = |step: &Step| step.costs_under::<R>().total_zcdp();
    let alike = |a: &Step, b: &Step| rho(a) == rho(b) && spends(a) == spends(b);
    for run in parts.chunk_by(alike) {
        let [first, .., last] = run else {
            for one in run {
                out.push(line(one.name().to_owned(), one, 1, rho(one), total));
                if let Step::OneOf { steps, .. } = one {
                    let way = |way: &Step| format!("  {}", way.name());
                    out.extend(steps.iter().map(|one| line(way(one), one, 1, rho(one), total)));
                }
            }
            continue;
        };
        let name = format!("{} to {}", first.name(), last.name());
        out.push(line(name, first, run.len(), rho(first), total));
    }
}

/// How many single losses a step has.
fn spends(step: &Step) -> usize {
    let parts = match step {
        Step::Spend { .. } | Step::Composed { .. } => return 1,
        Step::Sequential { steps, .. } | Step::Parallel { steps, .. } => steps.as_slice(),
        // A run takes one.
        Step::OneOf { steps, .. } => return steps.iter().map(spends).max().unwrap_or(0),
        Step::Group { step, .. } | Step::Outside { step, .. } => std::slice::from_ref(&**step),
    };
    let mut all = 0;
    for part in parts {
        all += spends(part);
    }
    all
}

/// A line for `times` steps like this one.
fn line(name: String, step: &Step, times: usize, rho: Option<Rho>, total: Option<Rho>) -> Row {
    let all = rho.and_then(|rho| Rho::of(times as f64 * rho.get()));
    let share = all.zip(total).filter(|(_, total)| *total > Rho::ZERO);
    let what = match step {
        Step::Spend { loss, .. } | Step::Composed { loss, .. } if times == 1 => loss.to_string(),
        Step::OneOf { steps, .. } if times == 1 => format!("one of {}", steps.len()),
        _ => match times * spends(step) {
            1 => "1 loss".to_owned(),
            several => format!("{several} losses"),
        },
    };
    [
        name,
        what,
        all.map_or("-".into(), |rho| short(rho.get())),
        share.map_or("-".into(), |(rho, total)| format!("{:.1}%", 100.0 * rho.get() / total.get())),
    ]
}

/// What was spent, step by step with its zCDP rho as charged, then the totals and what was asked for.
///
/// `{}` has a line for each step that the whole consists of; `{:#}` is the whole tree with the loss of every step as stated. Shares are of
/// the zCDP total; parallel steps together can exceed 100%. Numbers are rounded to six digits.
impl<R: Relation> fmt::Display for Receipt<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.zcdp();
        let mut table: Vec<Row> = vec![["step", "loss", "zCDP rho", "share"].map(str::to_owned)];
        if f.alternate() {
            rows::<R>(self.spent(), total, 0, Some(1), &mut table);
        } else {
            overview::<R>(self.spent(), total, &mut table);
        }
        let width = |column: usize| {
            table.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
        };
        let (step, loss, rho, share) = (width(0), width(1), width(2), width(3));
        writeln!(f, "{} under {}", self.mechanism(), self.relation())?;
        for row in &table {
            let line = format!(
                "  {:step$}  {:loss$}  {:>rho$}  {:>share$}",
                row[0], row[1], row[2], row[3]
            );
            writeln!(f, "{}", line.trim_end())?;
        }
        let asked = self.budget();
        let delta = short(asked.delta().get());
        let show_rho = |rho: Rho| short(rho.get());
        let show_epsilon = |epsilon: Epsilon| short(epsilon.get());
        writeln!(f, "total: zCDP rho {}", total.map_or("-".into(), show_rho))?;
        writeln!(
            f,
            "total: epsilon {} at delta {delta}",
            self.epsilon().map_or("-".into(), show_epsilon)
        )?;
        let asked_rho = self.asked_rho().map(|rho| format!("zCDP rho {}, ", show_rho(rho)));
        write!(
            f,
            "asked: {}epsilon {} at delta {delta}, {}",
            asked_rho.unwrap_or_default(),
            short(asked.epsilon().get()),
            if self.within_budget() { "kept" } else { "EXCEEDED" }
        )
    }
}

//! What the monitors for shifting heavy hitters promise, and services that run them wrongly.
#![allow(clippy::disallowed_methods, reason = "toys and mutants open what a mechanism must not")]

mod baselines;
mod exact;
mod histories;
mod mutants;
mod numbers;
mod receipts;
mod setup;
mod transcripts;
mod ways;
mod wire;

use dp_audit::Method;
use dp_audit::harness::{Check, Effort, Found, Suite};

fn main() -> std::process::ExitCode {
    dp_audit::harness::main(Suite {
        crate_name: env!("CARGO_PKG_NAME"),
        folder: env!("CARGO_MANIFEST_DIR"),
        checks: [of_monitors(), of_ways(), of_cells()].concat(),
        mutants: mutants::all(),
    })
}

/// Exact, for a user more and a user less.
fn check(id: &str, mechanism: &str, run: fn(Effort) -> Found) -> Check {
    Check::new(id, mechanism, "add-remove", Method::Exact, run)
}

fn of_monitors() -> Vec<Check> {
    vec![
        check("stream-exact", "MonitorPlan: ThreshMonitor, all draws", exact::three_steps),
        check(
            "stream-several-items",
            "MonitorPlan: ThreshMonitor, several items per step",
            exact::several_items,
        ),
        check(
            "stream-empty",
            "MonitorPlan: ThreshMonitor, an item that nobody shows",
            exact::empty_item,
        ),
        Check::new(
            "stream-transcript",
            "Monitor, Decider: reports of a kept user",
            "add-only",
            Method::Exact,
            transcripts::kept_user,
        ),
        check(
            "stream-seen-delta",
            "MonitorPlan: ThreshMonitor of seen items, delta",
            exact::seen_items,
        ),
        check(
            "stream-charging-delta",
            "MonitorPlan: TargetCharging, delta of all data sets",
            exact::target_charging,
        ),
        check(
            "stream-charging-history",
            "MonitorPlan: TargetCharging, delta of a long history",
            histories::target_charging,
        ),
        Check::new(
            "stream-numbers",
            "Monitor: users as they come",
            "add-remove",
            Method::Exact,
            numbers::as_they_come,
        ),
        check("stream-shards", "Decider, Shard: states and messages as bytes", wire::shards),
        check("stream-histograms", "MonitorPlan: Histograms", exact::histograms),
        Check::new(
            "stream-receipt",
            "MonitorPlan, receipt against budget",
            "add-remove",
            Method::Ledger,
            receipts::receipts,
        ),
    ]
}

/// One per method.
fn of_ways() -> Vec<Check> {
    let of = |method: dp_stream::Method| {
        let id = format!("stream-ways-{}", method.id());
        let name = format!("MonitorPlan, Monitor, Decider, Shard: {} in every way", method.id());
        Check::new(id, name, "add-remove", Method::Exact, move |effort| ways::of(method, effort))
    };
    let mut all: Vec<Check> = ways::methods().map(of).collect();
    all.push(Check::new(
        "stream-admission",
        "MonitorPlan, Monitor, Decider, Shard: which items of a user count, by what was reported or by user",
        "add-remove",
        Method::Exact,
        ways::admission,
    ));
    all
}

fn of_cells() -> Vec<Check> {
    vec![
        check(
            "stream-kaplan-tests",
            "CellMonitor: Kaplan-style, each test",
            baselines::kaplan_style,
        ),
        check(
            "stream-kaplan",
            "CellMonitor: Kaplan-style, delta of all data sets",
            baselines::kaplan_style_delta,
        ),
        check(
            "stream-gaussian-zcdp",
            "CellMonitor: Gaussian histograms",
            baselines::gaussian_histograms,
        ),
        check("stream-sparse-vector", "CellMonitor: sparse vector", baselines::sparse_vector),
    ]
}

//! The suite on tiny tables, from cells to the report.

use super::algorithms;
use super::bench::{Bench, ScalingBench};
use super::solvers::SolverBench;
use super::{Census, Section, op, plan, scaling};
use crate::cli::EvalArgs;
use crate::eval::family::testing::left_out;
use crate::eval::record::Record;
use crate::eval::settings::{Effort, Settings};
use crate::eval::suite::{Context, Suite, Workbench};
use crate::report::page::Page;
use quietus_datasets::manifest::Manifest;
use quietus_datasets::nation::{self, Scale};
use quietus_datasets::sets::census::{Dataset, Origin, Recipe};
use std::path::Path;

const SCALE: Scale = Scale { states: 3, counties: 9, groups: 20_000, largest: 12 };

const TINY: Recipe = Recipe {
    id: "tiny",
    origin: Origin::Nation(SCALE),
    groups: 20_000,
    largest: 12,
    levels: &[("nation", 1), ("states", 3), ("counties", 9)],
    who: "A group is a made-up household.",
    units: 1,
};

pub(super) fn tiny() -> Dataset {
    let (hierarchy, sizes) = nation::generate(SCALE, 7).unwrap();
    Dataset::new(TINY, hierarchy, sizes).unwrap()
}

fn context(out: &Path) -> Context {
    let args = EvalArgs {
        suites: vec!["census".to_owned()],
        quick: true,
        epsilon: 1.0,
        seed: 3,
        out: Some(out.to_owned()),
        ..EvalArgs::default()
    };
    let settings = Settings::new(&args).unwrap();
    Context { settings, manifest: Manifest::of_workspace().unwrap() }
}

/// Every cell of a plan, on one and on two threads.
fn run(out: &Path, bench: &mut (impl Workbench + Send), cells: &[Record]) -> Vec<Record> {
    let mut run = |threads: usize| -> Vec<Record> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let records = cells.iter().map(|cell| pool.install(|| bench.run(cell)).unwrap());
        records.map(|record| Record { seconds: 0.25, peak_rss_mib: None, ..record }).collect()
    };
    let records = run(1);
    assert_eq!(run(2), records, "{}", out.display());
    records
}

#[test]
fn cells_keep_their_promises_and_become_a_chapter() {
    let out = tempfile::tempdir().unwrap();
    let context = context(out.path());
    let plan = plan::of(&TINY, &context).unwrap();
    assert_eq!(plan.cells.len(), 2 * 3 * algorithms::all().len());
    let data = tiny();
    let portrait = super::Portrait::of(&data).unwrap();
    let checksum = data.checksum.clone();
    let mut bench = Bench { data, receipts: out.path().join("receipts") };
    let mut records = run(out.path(), &mut bench, &plan.cells);
    for record in &records {
        let metric = |name: &str| record.metrics[name];
        assert_eq!(record.private, record.algorithm != "m-c-chain-as-published");
        assert_eq!(record.private, record.relation.is_some());
        let raw = record.algorithm.ends_with("raw");
        if !raw && !record.algorithm.ends_with("real") {
            for promise in ["constraint_violations", "negative_cells", "groups_missing"] {
                assert!(metric(promise).abs() < 0.5, "{record:?}");
            }
        }
        let rho = record.params.get("rho").and_then(serde_json::Value::as_f64);
        let setting = record.params[plan::SETTING].as_f64().unwrap();
        assert_eq!(rho.is_some(), record.variant.starts_with("zCDP"));
        assert!(rho.is_none_or(|rho| (rho - setting * setting / 2.0).abs() < 1e-12));
        if record.private && !raw {
            let most = if record.algorithm == "m-c-fitted" { 0.02 } else { 1e-6 };
            assert!(metric("certificate_infeasible") < 0.5, "{record:?}");
            assert!(metric("certificate_residual") < most, "{record:?}");
        }
    }
    let of = |algorithm: &str, setting: f64| -> Vec<&Record> {
        let same = |r: &&Record| {
            r.algorithm == algorithm && r.variant == "default" && r.params[plan::SETTING] == setting
        };
        records.iter().filter(same).collect()
    };
    let error = |algorithm: &str| of(algorithm, 0.1)[0].metrics["l1_error_total"];
    assert!(error("m-c-chain") > 2.0 * error("m-c-top-down"), "the price of enough noise");
    assert!(error("m-c-raw").min(error("root-spread")) > error("m-c-fitted"), "baselines");
    let published = of("m-c-chain-as-published", 0.5)[0];
    assert_eq!(published.epsilon, Some(0.5 * 13.0 / 3.0));
    assert_ne!(of("m-c-exact", 0.5)[0].metrics, of("m-c-exact", 0.5)[1].metrics, "runs differ");

    let scaling = plan::of_scaling(&context).unwrap();
    let small = |cell: &Record| cell.d <= 5 && cell.run == 0;
    let few: Vec<Record> = scaling.cells.into_iter().filter(small).collect();
    let timed = run(out.path(), &mut ScalingBench, &few);
    let by_tables: Vec<&Record> =
        timed.iter().filter(|record| record.algorithm == op::ID).collect();
    let [record] = by_tables[..] else { panic!("one run on five columns") };
    assert!(record.metrics[op::STOPPED] < 0.5 && record.metrics["programs"] > 100.0);
    assert!(record.metrics["objective_excess"].abs() < 0.5, "{record:?}");
    assert_eq!(record.params[op::LIMIT], 60);
    records.extend(timed);
    let solvers = plan::of_solvers(&context).unwrap();
    assert_eq!(solvers.cells.len(), 2 * 2 + 4 * 2 * 2);
    let one = |variant: &str| {
        let cell = |cell: &&Record| cell.algorithm != "m-h-real" && cell.variant == variant;
        SolverBench::default().run(solvers.cells.iter().find(cell).unwrap()).unwrap()
    };
    let beside = one("263 regions, 5 columns");
    let of = |metric: &str| beside.metrics[metric];
    assert!(of("ratio") > 1.0, "{beside:?}");
    assert!((of("general_objective") / of("objective") - 1.0).abs() < 1e-4, "{beside:?}");
    assert!(of("certificate_residual") < 1e-6, "{beside:?}");
    records.extend([beside, one("2 threads")]);
    let suite =
        Census { sections: vec![Section { recipe: TINY, checksum, portrait: Some(portrait) }] };
    let mut page = Page::default();
    suite.report(&records, &context, &mut page).unwrap();
    for part in [
        "### tiny",
        "1 nation, 3 states, 9 counties",
        "m-c-chain-as-published, not private**",
        "none; true ε 4.33",
        "zCDP ρ 0.5",
        "Receipt of m-c-top-down at ε = 0.1",
        "member-of-group",
        "### Run time against the number of sizes",
        "### The solvers beside a general one",
        "no exchange of a unit gains | m-h-dp, m-c-chain |",
        "step closest to what it was given; not the closest table | top-down, m-c-dp, m-c-top-down |",
        "root 0 | m-c-exact |",
        "closest table of real numbers | m-h-real, m-c-real |",
        "A group is a made-up household.",
        "| violations of 52 sums of parts | ε = 0.1 | ε = 0.5 | ε = 1 |",
        "as close to the noise as those of `m-h-dp`",
        "`m-dp-op` is the dynamic program",
        "The limit of 60 seconds was not hit",
        "| m-h-real-clarabel |",
        "### The solvers alone",
        "**a tenth** of the nation, 327 regions",
        "ε = 1, 2 threads",
    ] {
        assert!(page.text.contains(part), "{part} is missing");
    }
    assert_eq!(page.plots.len(), 5);
    assert!(page.plots.values().all(|svg| !svg.standalone().contains("NaN")));
    let summary = suite.summary(&records);
    assert_eq!(summary.len(), 1 + 3 * algorithms::all().len());
    assert_eq!(scaling::columns(context.settings.effort).len(), 6);
}

#[test]
fn sets_that_are_not_here_are_left_out() {
    assert_eq!(left_out(&mut Census::default(), Effort::Full), (6, 3));
}

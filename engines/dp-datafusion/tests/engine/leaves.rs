//! What leaves the partitions of an engine: one value of bytes each, as long as the question says.

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::physical_plan::{ExecutionPlan, StatisticsArgs, StatisticsContext};
use dp_cluster::passes::ByPasses;
use dp_cluster::passes::Question;
use dp_datafusion::{Records, Run};
use dp_mechanism::passes::Question as _;

use crate::support::{
    NAMES, batch, dpm, kmeans, map, recentred, records, session, wait, write_parquet,
};

/// Numbers of rows that a plan holds, as text or on its way to an executor.
fn rows_known(plan: &Arc<dyn ExecutionPlan>) -> Vec<usize> {
    let here = StatisticsContext::new().compute(plan.as_ref(), &StatisticsArgs::new());
    let here = here.expect("statistics").num_rows;
    let mut all = Vec::from_iter(here.get_value().copied());
    all.extend(plan.children().into_iter().flat_map(rows_known));
    all
}

/// Schemas from the result down to what reads the files.
fn schemas(plan: &Arc<dyn ExecutionPlan>) -> Vec<(String, Vec<(String, DataType)>)> {
    let fields =
        plan.schema().fields().iter().map(|f| (f.name().clone(), f.data_type().clone())).collect();
    let mut all = vec![(plan.name().to_owned(), fields)];
    for child in plan.children() {
        all.extend(schemas(child));
    }
    all
}

fn only_tables_leave<P: ByPasses<Question = Question> + Clone>(plan: &P) {
    let folder = tempfile::tempdir().expect("a folder");
    let points = records(4000, 2);
    let lengths = [9, 4000].map(|n| {
        // Several files, so that there are several partitions, however few records.
        let part = |at: usize| folder.path().join(format!("{n}-{at}.parquet"));
        let names = [0, 1, 2].map(|at| {
            write_parquet(&part(at), &batch(&points, at * n / 3..(at + 1) * n / 3));
            part(at).display().to_string()
        });
        let names = names.each_ref().map(String::as_str);
        let files = wait(Records::parquet(&session(8), &names, &NAMES[..2])).expect("columns");
        let mut run = Run::new(plan.clone(), files).expect("fits");
        let mut source = dp_cluster::chacha_from_os().expect("random");
        let mut first = 0;
        loop {
            let plan = wait(run.plan()).expect("a plan");
            // One answer of each partition, and one of all.
            assert!(rows_known(&plan).iter().all(|&rows| rows <= 8), "{:?}", rows_known(&plan));
            let all = schemas(&plan);
            let (above, read): (Vec<_>, Vec<_>) =
                all.iter().partition(|(name, _)| name != "DataSourceExec");
            let aggregates = above.iter().filter(|(name, _)| name == "AggregateExec").count();
            assert_eq!(aggregates, 2, "{all:?}");
            for (name, fields) in above {
                let [(_, DataType::Binary)] = &fields[..] else {
                    panic!("{name} puts out {fields:?}");
                };
            }
            let [(_, fields)] = &read[..] else { panic!("{read:?}") };
            let names: Vec<&str> = fields.iter().map(|(name, _)| &**name).collect();
            assert!(names.len() == 2 && NAMES[..2].iter().all(|name| names.contains(name)));
            let answer = wait(run.count()).expect("counted");
            let question = run.asked().question();
            // A checksum of the records; what it is; plan, pass, question, rows; entries; a checksum of the bytes.
            let want = 8 * (1 + 1 + 4 + question.entries() + 1);
            assert_eq!(answer.to_bytes().len(), want, "{}", question.name());
            if first == 0 {
                first = want;
            }
            if run.answer(&answer, &mut source).expect("all of them").is_some() {
                return first;
            }
        }
    });
    assert_eq!(lengths[0], lengths[1], "of 9 records and of 4,000");
}

#[test]
fn of_dpm() {
    only_tables_leave(&dpm(2));
}

#[test]
fn of_recentring() {
    only_tables_leave(&recentred(2));
}

#[test]
fn of_private_kmeans() {
    only_tables_leave(&kmeans(2));
}

#[test]
fn of_a_map() {
    only_tables_leave(&map());
}

//! Records that count twice, or not at all, are found before anything is drawn on them.

use datafusion::arrow::compute::concat_batches;
use dp_cluster::passes::TableError;
use dp_datafusion::{Error, KeepNothing, Records, Run};

use crate::support::{NAMES, batch, dpm, records, rng, session, table, wait, write_parquet};

#[test]
fn a_file_that_is_listed_twice_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("one.parquet");
    write_parquet(&file, &batch(&records(50, 2), 0..50));
    let (one, all) = (file.display().to_string(), format!("{}/", folder.path().display()));
    for names in [[&*one, &*one], [&*all, &*one]] {
        let twice = wait(Records::parquet(&session(2), &names, &NAMES[..2]));
        assert!(matches!(twice, Err(Error::FileTwice(name)) if name.ends_with("one.parquet")));
    }
}

#[test]
fn a_file_that_changes_ends_the_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let name = |file: &str| folder.path().join(file).display().to_string();
    let points = records(90, 2);
    write_parquet(name("a.parquet").as_ref(), &batch(&points, 0..50));
    write_parquet(name("b.parquet").as_ref(), &batch(&points, 50..90));
    let all = name("");
    let records = wait(Records::parquet(&session(2), &[&all], &NAMES[..2])).expect("columns");
    let run = Run::new(dpm(2), records.clone()).expect("fits");
    assert!(wait(run.count()).is_ok());
    // One that comes later is not of this run.
    write_parquet(name("c.parquet").as_ref(), &batch(&points, 0..10));
    let rows = wait(run.count()).expect("as before");
    assert_eq!(rows.table().rows(), 90);
    write_parquet(name("b.parquet").as_ref(), &batch(&points, 51..90));
    let changed =
        |error: &Error| matches!(error, Error::FileChanged(name) if name.ends_with("b.parquet"));
    assert!(wait(run.count()).is_err_and(|error| changed(&error)));
    std::fs::remove_file(name("b.parquet")).expect("there");
    assert!(wait(run.count()).is_err_and(|error| changed(&error)));
    let released = wait(run.simulate(&mut rng(1), &mut KeepNothing));
    assert!(released.is_err_and(|error| changed(&error)));
}

#[test]
fn the_number_of_records_is_that_of_the_footers() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("one.parquet");
    let points = records(50, 2);
    write_parquet(&file, &batch(&points, 0..49));
    let name = file.display().to_string();
    let records = wait(Records::parquet(&session(2), &[&name], &NAMES[..2])).expect("columns");
    let run = Run::new(dpm(2), records).expect("fits");
    let other = Run::new(dpm(2), table(vec![vec![batch(&points, 0..50)]], &NAMES[..2]));
    let other = wait(other.expect("fits").count()).expect("counted");
    assert!(matches!(run.check(&other), Err(Error::NotEachOnce)));
    assert!(run.check(&wait(run.count()).expect("counted")).is_ok());
}

/// As many records as before, but one of them twice and another one not at all.
#[test]
fn a_later_pass_is_of_the_same_records() {
    let points = records(60, 2);
    let (once, again) = (batch(&points, 0..60), batch(&points, 1..60));
    let twice = concat_batches(&once.schema(), &[again, batch(&points, 1..2)]).expect("one type");
    let records = table(vec![vec![once]], &NAMES[..2]);
    let mut run = Run::new(dpm(2), records).expect("fits");
    let (mut source, mut state) = (dp_cluster::chacha_from_os().expect("random"), vec![]);
    let first = wait(run.count()).expect("counted");
    assert!(run.answer(&first, &mut source).expect("all of them").is_none());
    state.extend(run.to_bytes());
    let other = Run::resume(dpm(2), table(vec![vec![twice]], &NAMES[..2]), &state);
    let other = wait(other.expect("the same columns").count()).expect("counted");
    assert_eq!(other.table().rows(), 60);
    assert!(matches!(run.answer(&other, &mut source), Err(Error::NotEachOnce)));
    assert_eq!(run.to_bytes(), state, "nothing was drawn");
    let fewer = Run::resume(dpm(2), table(vec![vec![batch(&points, 0..59)]], &NAMES[..2]), &state);
    let fewer = wait(fewer.expect("the same columns").count()).expect("counted");
    let refused = run.answer(&fewer, &mut source);
    assert!(matches!(refused, Err(Error::Table(TableError::OtherRows))));
    let last = wait(run.count()).expect("counted");
    assert!(run.answer(&last, &mut source).is_ok());
}

//! Runs that die: they go on from what was kept, and a pass that failed is asked again.

use std::io;
use std::sync::Arc;
#[expect(clippy::disallowed_types, reason = "counts calls, no records")]
use std::sync::atomic::{AtomicU32, Ordering};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::streaming::StreamingTable;
use datafusion::error::DataFusionError;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use dp_cluster::passes::TableError;
use dp_cluster::recentring::DpmRecentred;
use dp_datafusion::{Error, Keep, KeepFile, Records, Run};

use crate::support::{
    NAMES, batch, bytes, dpm, from_memory, recentred, records, rng, session, wait, write_parquet,
};

/// Keeps, and then the process dies.
struct Dies(KeepFile);

impl Keep for Dies {
    fn keep(&mut self, state: &[u8]) -> io::Result<()> {
        self.0.keep(state)?;
        Err(io::Error::other("died"))
    }
}

/// How many passes there are.
struct Counts(u32);

impl Keep for Counts {
    fn keep(&mut self, _: &[u8]) -> io::Result<()> {
        self.0 += 1;
        Ok(())
    }
}

#[test]
fn a_run_that_dies_after_every_pass_releases_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, state) = (folder.path().join("one.parquet"), folder.path().join("state"));
    let points = records(300, 2);
    write_parquet(&file, &batch(&points, 0..300));
    let name = file.display().to_string();
    let files = || wait(Records::parquet(&session(4), &[&name], &NAMES[..2])).expect("columns");
    let mut all = Counts(0);
    let run = Run::new(recentred(2), files()).expect("fits");
    let _ = wait(run.simulate(&mut rng(5), &mut all)).expect("released");
    let mut source = rng(5);
    let mut last = None;
    for pass in 1..=all.0 {
        let (mut keep, kept) = KeepFile::open(&state).expect("a file");
        assert!(KeepFile::open(&state).is_err(), "one process at a time");
        let run = match kept {
            None => Run::new(recentred(2), files()),
            Some(kept) => Run::resume(recentred(2), files(), &kept),
        };
        let run = run.expect("goes on");
        assert_eq!(run.asked().pass(), pass - 1);
        if pass == all.0 {
            last = Some(wait(run.simulate(&mut source, &mut keep)).expect("released"));
        } else {
            let died = wait(run.simulate(&mut source, &mut Dies(keep)));
            assert!(matches!(died, Err(Error::Keep(_))));
        }
    }
    let last = last.expect("some passes");
    assert!(bytes::<DpmRecentred>(&last) == from_memory(&recentred(2), &points));
    let done = std::fs::read(&state).expect("kept");
    let again = Run::resume(recentred(2), files(), &done);
    assert!(matches!(again, Err(Error::Table(TableError::Finished))));
    #[cfg(unix)]
    {
        let metadata = std::fs::metadata(&state).expect("there");
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777, 0o600);
    }
}

#[test]
fn a_state_is_bound_to_its_files_columns_and_plan() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("one.parquet");
    let points = records(60, 2);
    write_parquet(&file, &batch(&points, 0..60));
    let name = file.display().to_string();
    let of = |columns: &[&str]| wait(Records::parquet(&session(2), &[&name], columns));
    let files = || of(&NAMES[..2]).expect("columns");
    let mut run = Run::new(dpm(2), files()).expect("fits");
    let mut source = dp_cluster::chacha_from_os().expect("random");
    let answer = wait(run.count()).expect("counted");
    run.answer(&answer, &mut source).expect("all of them");
    let state = run.to_bytes();
    assert_eq!(Run::resume(dpm(2), files(), &state).expect("goes on").to_bytes(), state);
    let turned = of(&["Second One", "x"]).expect("columns");
    assert!(matches!(Run::resume(dpm(2), turned, &state), Err(Error::OtherRecords)));
    let other = Run::resume(recentred(2), files(), &state);
    assert!(matches!(other, Err(Error::Table(_))));
    for cut in [0, 8, 39, 48, 49, 50, 60, state.len() - 1] {
        assert!(Run::resume(dpm(2), files(), &state[..cut]).is_err(), "{cut}");
    }
    // Another run could have begun from the same bytes: nothing but its files is compared.
    write_parquet(&file, &batch(&points, 0..59));
    assert!(matches!(Run::resume(dpm(2), files(), &state), Err(Error::OtherRecords)));
}

/// One of several partitions, whose reader is killed in the middle whenever the number of its calls is a multiple of three.
#[derive(Debug)]
struct Killed {
    batch: RecordBatch,
    schema: SchemaRef,
    #[expect(clippy::disallowed_types, reason = "counts calls, no records")]
    calls: AtomicU32,
}

impl PartitionStream for Killed {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        let half = self.batch.num_rows() / 2;
        let mut parts = vec![Ok(self.batch.slice(0, half))];
        parts.push(if call.is_multiple_of(3) {
            Err(DataFusionError::Execution("killed".to_owned()))
        } else {
            Ok(self.batch.slice(half, self.batch.num_rows() - half))
        });
        let stream = futures::stream::iter(parts);
        Box::pin(RecordBatchStreamAdapter::new(self.schema.clone(), stream))
    }
}

#[test]
fn a_pass_that_failed_is_asked_again() {
    let points = records(200, 2);
    let part = |rows, calls: u32| {
        let batch = batch(&points, rows);
        let calls = calls.into();
        let part: Arc<dyn PartitionStream> =
            Arc::new(Killed { schema: batch.schema(), batch, calls });
        part
    };
    let parts = vec![part(0..120, 0), part(120..200, 1)];
    let provider = StreamingTable::try_new(parts[0].schema().clone(), parts).expect("one schema");
    let frame = session(2).read_table(Arc::new(provider)).expect("a table");
    let records = Records::frame(frame, &NAMES[..2]).expect("columns");

    let folder = tempfile::tempdir().expect("a folder");
    let state = folder.path().join("state");
    let (mut source, mut failed) = (rng(5), 0);
    let release = loop {
        let (mut keep, kept) = KeepFile::open(&state).expect("a file");
        let run = match kept {
            None => Run::new(recentred(2), records.clone()),
            Some(kept) => Run::resume(recentred(2), records.clone(), &kept),
        };
        match wait(run.expect("goes on").simulate(&mut source, &mut keep)) {
            Ok(release) => break release,
            Err(Error::Engine(_)) => failed += 1,
            Err(other) => panic!("{other}"),
        }
    };
    assert!(failed > 5, "{failed}");
    assert!(bytes::<DpmRecentred>(&release) == from_memory(&recentred(2), &points));
    let text = format!("{}", Error::from(DataFusionError::Execution("12.5".to_owned())));
    assert!(!text.contains("12.5"), "what the engine says may quote records: {text}");
}

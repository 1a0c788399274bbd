//! Two workers, each a process of its own, that count a release; one of them dies, or falls silent, in the middle of a pass.

use std::io::{self, BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use datafusion::prelude::SessionConfig;
use datafusion_distributed::{DistributedExt, display_plan_ascii};
use dp_cluster::recentring::DpmRecentred;
use dp_datafusion::workers::Workers;
use dp_datafusion::{Error, Keep, KeepNothing, Records, Run};
use tempfile::TempDir;

use crate::support::{
    NAMES, Plan, batch, bytes, dpm, from_memory, kmeans, map, recentred, records, rng, wait,
    write_parquet,
};

/// A process that counts, until it is dropped.
struct Worker {
    process: Child,
    url: String,
}

impl Worker {
    fn start() -> Self {
        let program = env!("CARGO_BIN_EXE_dp-datafusion-worker");
        let mut process = Command::new(program)
            .arg("127.0.0.1:0")
            .stdout(Stdio::piped())
            .spawn()
            .expect("it was built with the tests");
        let mut line = String::new();
        let out = process.stdout.take().expect("a pipe");
        BufReader::new(out).read_line(&mut line).expect("one line");
        let address = line.trim().strip_prefix("listening on ").expect("an address");
        Self { url: format!("http://{address}"), process }
    }

    /// `-STOP`: it is there, takes connections, and says nothing.
    fn signal(&self, signal: &'static str, after: Duration) {
        let number = self.process.id().to_string();
        let command = move || {
            std::thread::sleep(after);
            Command::new("kill").args([signal, &number]).status()
        };
        let sent = std::thread::spawn(command);
        if after.is_zero() {
            assert!(sent.join().expect("sent").expect("a command").success());
        }
    }

    fn kill(&mut self) {
        self.process.kill().and_then(|()| self.process.wait()).expect("ours");
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Files for both to read, and their records.
fn files(dim: usize) -> (TempDir, dp_cluster::Points) {
    let folder = tempfile::tempdir().expect("a folder");
    let points = records(700, dim);
    for (number, rows) in [0..300, 300..301, 301..700].into_iter().enumerate() {
        write_parquet(&folder.path().join(format!("{number}.parquet")), &batch(&points, rows));
    }
    (folder, points)
}

/// What two workers are to count: both have a part in each pass.
async fn of_workers(workers: &Workers, folder: &TempDir, dim: usize) -> Records {
    let mut config = SessionConfig::new().with_target_partitions(2).with_batch_size(64);
    config.options_mut().optimizer.repartition_file_min_size = 0;
    let mut session = workers.session(config).expect("settings");
    // Small files are split between them as large ones are.
    session.set_distributed_file_scan_config_bytes_per_partition(1).expect("valid");
    let all = format!("{}/", folder.path().display());
    Records::parquet(&session, &[&all], &NAMES[..dim]).await.expect("columns")
}

async fn shown<P: Plan>(run: &Run<P>) -> String {
    display_plan_ascii(run.plan().await.expect("a plan").as_ref(), false)
}

fn the_same_by_two<P: Plan>(plan: &P, dim: usize) {
    let (folder, points) = files(dim);
    let pair = [Worker::start(), Worker::start()];
    let found = wait(async {
        let workers = Workers::connect(&[&pair[0].url, &pair[1].url]).await.expect("both there");
        let records = of_workers(&workers, &folder, dim).await;
        let run = Run::new(plan.clone(), records).expect("fits");
        let text = shown(&run).await;
        assert!(text.contains("tasks=2"), "both have a share: {text}");
        run.simulate(&mut rng(5), &mut KeepNothing).await.expect("released")
    });
    assert!(bytes::<P>(&found) == from_memory(plan, &points));
}

#[test]
fn two_workers_count_what_is_counted_from_memory() {
    the_same_by_two(&recentred(3), 3);
    the_same_by_two(&kmeans(2), 2);
    the_same_by_two(&dpm(2), 2);
    the_same_by_two(&map(), 2);
}

/// Loses a worker once two passes are answered: it says nothing when the third one begins, which cannot end without its share.
struct Loses {
    worker: Worker,
    passes: u32,
    then_killed: bool,
}

impl Keep for Loses {
    fn keep(&mut self, _: &[u8]) -> io::Result<()> {
        self.passes += 1;
        if self.passes == 2 {
            self.worker.signal("-STOP", Duration::ZERO);
            if self.then_killed {
                self.worker.signal("-KILL", Duration::from_millis(500));
            }
        }
        Ok(())
    }
}

fn one_is_lost(then_killed: bool) {
    let plan = recentred(2);
    let (folder, points) = files(2);
    let found = [1, 2].map(|attempts| {
        let [lost, stays] = [Worker::start(), Worker::start()];
        wait(async {
            let workers = Workers::connect(&[&lost.url, &stays.url]).await.expect("both there");
            let records = of_workers(&workers, &folder, 2).await;
            let run = Run::new(plan.clone(), records).expect("fits").attempts(attempts);
            let mut keep = Loses { worker: lost, passes: 0, then_killed };
            let found = run.simulate(&mut rng(5), &mut keep).await;
            (found, keep.passes)
        })
    });
    let [(once, passes), (again, _)] = found;
    assert!(matches!(once, Err(Error::Engine(_))) && passes == 2, "it is lost in a pass");
    let again = again.expect("one is left");
    assert!(bytes::<DpmRecentred>(&again) == from_memory(&plan, &points));
}

#[test]
fn a_worker_that_is_killed_in_the_middle_of_a_pass() {
    one_is_lost(true);
}

#[test]
fn a_worker_that_falls_silent_in_the_middle_of_a_pass() {
    one_is_lost(false);
}

#[test]
fn without_workers_nothing_is_drawn() {
    let (folder, _) = files(2);
    let mut pair = [Worker::start(), Worker::start()];
    wait(async {
        let refused = Workers::connect(&["http://127.0.0.1:9", "not one"]).await;
        assert!(matches!(refused, Err(Error::Name(name)) if name == "not one"));
        let refused = Workers::connect(&["http://127.0.0.1:9"]).await;
        assert!(matches!(refused, Err(Error::NoWorker(name)) if name == "http://127.0.0.1:9"));
        let workers = Workers::connect(&[&pair[0].url, &pair[1].url]).await.expect("both there");
        let records = of_workers(&workers, &folder, 2).await;
        pair.iter_mut().for_each(Worker::kill);
        let run = Run::new(dpm(2), records.clone()).expect("fits");
        // Whether or not it is known yet that nobody is there.
        assert!(matches!(run.count().await, Err(Error::Engine(_))));
        while workers.count() > 0 {
            tokio::task::yield_now().await;
        }
        assert!(matches!(run.count().await, Err(Error::Engine(_))));
        // What it goes on from is that of a run that nothing was drawn for.
        assert_eq!(run.to_bytes(), Run::new(dpm(2), records).expect("fits").to_bytes());
    });
}

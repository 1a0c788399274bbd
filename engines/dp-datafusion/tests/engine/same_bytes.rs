//! The same release from memory and through the engine, however records are laid out.

use datafusion::physical_plan::ExecutionPlan;
use dp_cluster::Points;
use dp_datafusion::{Records, Run};

use crate::support::{
    NAMES, Plan, batch, dpm, from_memory, kmeans, map, recentred, records, session, table, through,
    wait, write_csv, write_parquet,
};

/// Partitions that the records are read in.
fn readers(plan: &dyn ExecutionPlan) -> usize {
    match plan.children().first() {
        Some(child) => readers(child.as_ref()),
        None => plan.properties().output_partitioning().partition_count(),
    }
}

fn same<P: Plan>(plan: &P, dim: usize) {
    let points = records(700, dim);
    let want = from_memory(plan, &points);
    let folder = tempfile::tempdir().expect("a folder");
    let columns = &NAMES[..dim];
    for (number, rows) in [0..300, 300..301, 301..700].into_iter().enumerate() {
        let place = folder.path().join(format!("part {number}.parquet"));
        write_parquet(&place, &batch(&points, rows.clone()));
        write_csv(&place.with_extension("csv"), &points, rows);
    }
    let all = format!("{}/", folder.path().display());
    for partitions in [1, 8] {
        let session = session(partitions);
        let parquet = wait(Records::parquet(&session, &[&all], columns)).expect("columns");
        let run = Run::new(plan.clone(), parquet.clone()).expect("has tables");
        assert_eq!(readers(wait(run.plan()).expect("a plan").as_ref()), partitions);
        assert!(through(plan, &parquet).expect("released") == want, "{partitions} partitions");
    }
    let csv = wait(Records::csv(&session(8), &[&all], columns)).expect("columns");
    assert!(through(plan, &csv).expect("released") == want, "CSV");
}

#[test]
fn dpm_is_that_from_memory() {
    same(&dpm(3), 3);
}

#[test]
fn recentring_is_that_from_memory() {
    same(&recentred(3), 3);
}

#[test]
fn private_kmeans_is_that_from_memory() {
    same(&kmeans(2), 2);
    same(&kmeans(3), 3);
}

#[test]
fn a_map_is_that_from_memory() {
    same(&map(), 2);
}

/// Another release would show that these tests can fail.
#[test]
fn one_record_less_is_another_answer() {
    let points = records(700, 2);
    let answers = [700, 699].map(|n| {
        let records = table(vec![vec![batch(&points, 0..n)]], &NAMES[..2]);
        wait(Run::new(map(), records).expect("fits").count()).expect("counted").to_bytes()
    });
    assert_eq!(answers[0].len(), answers[1].len());
    assert_ne!(answers[0], answers[1]);
}

#[test]
fn partitions_may_be_empty_or_have_everything() {
    let points = records(200, 2);
    let of = |rows| batch(&points, rows);
    let some = |n: usize| {
        let coords = points.view().rows().take(n).flatten().copied().collect();
        Points::new(coords, 2).expect("whole rows")
    };
    let layouts = [
        (200, vec![vec![of(0..200)]]),
        (200, vec![vec![], vec![of(0..200)], vec![], vec![]]),
        (200, vec![vec![of(150..200), of(7..7)], vec![of(1..150)], vec![of(0..1)]]),
        (1, vec![vec![], vec![of(0..1)]]),
        (0, vec![vec![of(0..0)], vec![]]),
    ];
    for (n, layout) in layouts {
        let (records, points) = (table(layout, &NAMES[..2]), some(n));
        assert!(through(&dpm(2), &records).expect("released") == from_memory(&dpm(2), &points));
        assert!(through(&map(), &records).expect("released") == from_memory(&map(), &points));
        assert!(
            through(&recentred(2), &records).expect("released")
                == from_memory(&recentred(2), &points)
        );
    }
}

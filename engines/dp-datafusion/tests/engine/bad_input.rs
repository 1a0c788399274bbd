//! Columns of every type, files that differ, and names that lead nowhere.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, BooleanArray, Decimal128Array, Float64Array, Int64Array, RecordBatch,
    StringArray,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::datasource::MemTable;
use dp_cluster::Points;
use dp_datafusion::{Error, Records, Run};

use crate::support::{
    NAMES, batch, dpm, from_memory, map, records, session, table, through, wait, write_csv,
    write_parquet,
};

const NUMBERS: [DataType; 11] = [
    DataType::Int8,
    DataType::Int16,
    DataType::Int32,
    DataType::Int64,
    DataType::UInt8,
    DataType::UInt16,
    DataType::UInt32,
    DataType::UInt64,
    DataType::Float16,
    DataType::Float32,
    DataType::Float64,
];

fn two(x: ArrayRef, y: ArrayRef) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable([("x", x, true), ("y", y, true)]).expect("columns")
}

#[test]
fn nulls_of_every_type_count_as_nan() {
    let cell = |row: usize| (row % 5 != 2).then_some((row % 9) as f64);
    let x: Float64Array = (0..120).map(cell).collect();
    let y: Float64Array = (0..120).map(|row| Some(f64::from(row % 4) - 2.0)).collect();
    let coords = (0..120).flat_map(|row| [cell(row).unwrap_or(f64::NAN), (row % 4) as f64 - 2.0]);
    let points = Points::new(coords.collect(), 2).expect("whole rows");
    let want = from_memory(&dpm(2), &points);
    for kind in NUMBERS {
        let typed = cast(&x, &kind).expect("small numbers");
        assert_eq!(typed.null_count(), 24);
        let records = table(vec![vec![two(typed, Arc::new(y.clone()))]], &["x", "y"]);
        assert!(through(&dpm(2), &records).expect("released") == want, "{kind}");
    }
}

#[test]
fn whole_numbers_become_the_nearest_float() {
    let numbers = [(1_i64 << 53) + 1, -(1 << 53) - 3, i64::MAX, i64::MIN, 0];
    let x: ArrayRef = Arc::new(Int64Array::from(numbers.to_vec()));
    let records = table(vec![vec![two(x.clone(), x)]], &["x", "y"]);
    let y: ArrayRef = Arc::new(numbers.iter().map(|&x| Some(x as f64)).collect::<Float64Array>());
    let same = table(vec![vec![two(y.clone(), y)]], &["x", "y"]);
    // The checksum is of all bits.
    let [ours, theirs] =
        [records, same].map(|all| wait(Run::new(map(), all).expect("fits").count()));
    assert_eq!(ours.expect("counted"), theirs.expect("counted"));
}

#[test]
fn what_is_no_number_is_refused_by_name() {
    let y: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2.0]));
    let days = cast(&Int64Array::from(vec![1, 2]), &DataType::Int32).expect("small");
    let others: [ArrayRef; 4] = [
        Arc::new(StringArray::from(vec!["1.0", "2.0"])),
        Arc::new(BooleanArray::from(vec![true, false])),
        cast(&days, &DataType::Date32).expect("days"),
        Arc::new(Decimal128Array::from(vec![1, 2])),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("one.parquet");
    for x in others {
        let (kind, batch) = (x.data_type().clone(), two(x, y.clone()));
        write_parquet(&file, &batch);
        let name = file.display().to_string();
        let parquet = wait(Records::parquet(&session(2), &[&name], &["y", "x"]));
        let table = MemTable::try_new(batch.schema(), vec![vec![batch]]).expect("a table");
        let frame = session(2).read_table(Arc::new(table)).expect("a table");
        for refused in [parquet, Records::frame(frame, &["y", "x"])] {
            let error = refused.expect_err("no number");
            assert!(
                matches!(&error, Error::NotNumeric { column, got, .. } if column == "x" && *got == kind),
                "{error}"
            );
        }
    }
}

#[test]
fn columns_are_refused_by_name() {
    let batch = batch(&records(5, 2), 0..5);
    let of = |columns: &[&str]| {
        let table = MemTable::try_new(batch.schema(), vec![vec![batch.clone()]]).expect("one");
        let frame = session(2).read_table(Arc::new(table)).expect("a table");
        Records::frame(frame, columns).map(|records| Run::new(map(), records).map(|_| ()))
    };
    assert!(matches!(of(&["x", "X"]), Err(Error::NoColumn { column, .. }) if column == "X"));
    assert!(matches!(of(&["x", "x"]), Err(Error::ColumnTwice(column)) if column == "x"));
    for columns in [&NAMES[..1], &[]] {
        let got = columns.len();
        assert!(matches!(of(columns), Ok(Err(Error::Dimension { want: 2, got: n })) if n == got));
    }
    assert!(of(&NAMES[..2]).is_ok_and(|run| run.is_ok()));
}

#[test]
fn files_that_differ_are_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let name = |file: &str| folder.path().join(file).display().to_string();
    let float: ArrayRef = Arc::new(Float64Array::from(vec![1.0]));
    let whole: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    write_parquet(name("a.parquet").as_ref(), &two(float.clone(), float.clone()));
    write_parquet(name("b.parquet").as_ref(), &two(float.clone(), whole.clone()));
    let one = RecordBatch::try_from_iter([("x", float)]).expect("a column");
    write_parquet(name("c.parquet").as_ref(), &one);
    let read = |files: &[&str], columns: &[&str]| {
        let files: Vec<String> = files.iter().map(|file| name(file)).collect();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        wait(Records::parquet(&session(2), &files, columns))
    };
    let drift = read(&["a.parquet", "b.parquet"], &["x", "y"]).expect_err("another type");
    let said = drift.to_string();
    assert!(matches!(drift, Error::Drift { column, .. } if column == "y"), "{said}");
    assert!(said.contains("b.parquet") && said.contains("Int64"), "{said}");
    let missing = read(&["a.parquet", "c.parquet"], &["x", "y"]).expect_err("no y");
    assert!(
        matches!(&missing, Error::NoColumn { column, place } if column == "y" && place.ends_with("c.parquet"))
    );
    assert!(read(&["a.parquet", "b.parquet", "c.parquet"], &["x"]).is_ok(), "what nobody asks for");
    assert!(matches!(read(&["d.parquet"], &["x"]), Err(Error::NoFile(_) | Error::Engine(_))));
    assert!(matches!(read(&[], &["x"]), Err(Error::NoFile(_))));

    write_csv(name("a.csv").as_ref(), &records(5, 2), 0..5);
    let text = std::fs::read_to_string(name("a.csv")).expect("written");
    let other = text.replacen("x,Second One", "Second One,x", 1);
    std::fs::write(name("b.csv"), other).expect("a file");
    let (a, b) = (name("a.csv"), name("b.csv"));
    let drift = wait(Records::csv(&session(2), &[&a, &b], &["x"])).expect_err("another order");
    assert!(matches!(&drift, Error::Drift { place, .. } if place.ends_with("b.csv")), "{drift}");
}

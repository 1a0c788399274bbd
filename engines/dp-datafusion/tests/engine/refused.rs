//! Tables that are not of this plan, pass or version, in the engine and after it.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, BinaryArray, Float64Array, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::logical_expr::{Accumulator, AggregateUDFImpl};
use dp_cluster::passes::TableError;
use dp_datafusion::{Answer, CountPass, Error, Run};

use crate::support::{NAMES, batch, dpm, map, recentred, records, table, wait};

/// 64-bit FNV-1a, as at the end of a table.
fn sum(bytes: &[u8]) -> [u8; 8] {
    let next = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, next).to_le_bytes()
}

/// An answer with one byte of another value, and the checksum of its bytes set right.
fn with(answer: &[u8], at: usize, byte: u8) -> Vec<u8> {
    let mut bytes = answer.to_vec();
    bytes[at] = byte;
    let end = bytes.len() - 8;
    let right = sum(&bytes[8..end]);
    bytes[end..].copy_from_slice(&right);
    bytes
}

fn answer_of(bytes: &[u8]) -> Result<Answer, Error> {
    Answer::from_bytes(bytes)
}

#[test]
fn what_is_not_the_answer_of_this_pass_is_refused() {
    let records = table(vec![vec![batch(&records(80, 2), 0..80)]], &NAMES[..2]);
    let mut run = Run::new(dpm(2), records.clone()).expect("fits");
    let mut source = dp_cluster::chacha_from_os().expect("random");
    let first = wait(run.count()).expect("counted");
    let bytes = first.to_bytes();
    assert_eq!(answer_of(&bytes).expect("whole"), first);
    assert_eq!(with(&bytes, 0, bytes[0]), bytes);

    // Version, truncation, damage.
    let damaged = |bytes: &[u8]| {
        matches!(answer_of(bytes), Err(Error::Table(TableError::Damaged) | Error::Damaged))
    };
    assert!(damaged(&with(&bytes, 15, b'2')));
    for cut in [0, 7, 8, 20, bytes.len() - 8, bytes.len() - 1] {
        assert!(damaged(&bytes[..cut]), "{cut}");
    }
    let mut one = bytes.clone();
    one[60] ^= 1;
    assert!(damaged(&one));
    // A count below zero.
    let sign = 8 + 8 + 4 * 8 + 7;
    let negative = answer_of(&with(&bytes, sign, 0x80)).expect("whole");
    assert!(matches!(run.check(&negative), Err(Error::Table(TableError::Impossible))));
    // Another plan, another number of entries.
    let other = Run::new(recentred(2), records.clone()).expect("fits");
    let other = wait(other.count()).expect("counted");
    assert!(matches!(run.answer(&other, &mut source), Err(Error::Table(TableError::OtherPlan))));
    // Another pass.
    assert!(run.answer(&first, &mut source).expect("all of them").is_none());
    let old = run.answer(&first, &mut source);
    assert!(matches!(old, Err(Error::Table(TableError::OtherPass { want: 1, got: 0 }))));
}

fn accumulator(pass: &CountPass) -> Box<dyn Accumulator> {
    let schema = Schema::empty();
    let return_field = Arc::new(Field::new("answer", DataType::Binary, false));
    let args = AccumulatorArgs {
        return_field,
        schema: &schema,
        ignore_nulls: false,
        order_bys: &[],
        is_reversed: false,
        name: "answer",
        is_distinct: false,
        exprs: &[],
        expr_fields: &[],
    };
    pass.accumulator(args).expect("has a table")
}

/// What one partition has counted, as another one gets it.
fn states(values: Vec<Option<Vec<u8>>>) -> [ArrayRef; 1] {
    let values: BinaryArray = values.into_iter().collect();
    [Arc::new(values)]
}

#[test]
fn partitions_of_another_plan_are_not_merged() {
    let records = table(vec![vec![batch(&records(80, 2), 0..80)]], &NAMES[..2]);
    let (ours, theirs) =
        (Run::new(dpm(2), records.clone()).expect("fits"), Run::new(map(), records).expect("fits"));
    let other = wait(theirs.count()).expect("counted").to_bytes();
    let own = wait(ours.count()).expect("counted").to_bytes();
    let pass = CountPass::new(ours.asked().clone());
    let mut all = accumulator(&pass);
    for bad in [other, own[..40].to_vec(), with(&own, 8 + 8 + 4 * 8 + 7, 0x80), vec![]] {
        assert!(all.merge_batch(&states(vec![Some(bad)])).is_err());
    }
    assert!(all.merge_batch(&states(vec![None])).is_err());
    assert!(all.merge_batch(&[]).is_err());
    let empty = all.evaluate().expect("a table");
    all.merge_batch(&states(vec![Some(own.clone())])).expect("its own");
    assert_eq!(all.evaluate().expect("a table"), ScalarValue::Binary(Some(own)));
    // Neighbours print the same, and take the same room.
    let fresh = accumulator(&pass);
    assert_ne!(empty, all.evaluate().expect("a table"));
    assert_eq!(format!("{all:?}"), format!("{fresh:?}"));
    assert_eq!(all.size(), fresh.size());
}

#[test]
fn columns_of_another_shape_are_not_counted() {
    let records = table(vec![vec![batch(&records(80, 2), 0..80)]], &NAMES[..2]);
    let pass = CountPass::new(Run::new(dpm(2), records).expect("fits").asked().clone());
    assert!(pass.return_type(&[DataType::Float64]).is_err());
    assert!(pass.return_type(&[DataType::Float64, DataType::Boolean]).is_err());
    assert_eq!(pass.return_type(&[DataType::Float64, DataType::Int8]).ok(), Some(DataType::Binary));
    let column: ArrayRef = Arc::new(Float64Array::from(vec![1.0]));
    assert!(accumulator(&pass).update_batch(&[column]).is_err());
}

#[test]
fn an_answer_is_one_row_of_one_column() {
    let records = table(vec![vec![batch(&records(80, 2), 0..80)]], &NAMES[..2]);
    let answer = wait(Run::new(dpm(2), records).expect("fits").count()).expect("counted");
    let rows = |n: usize| {
        let column: BinaryArray = (0..n).map(|_| Some(answer.to_bytes())).collect();
        RecordBatch::try_from_iter([("answer", Arc::new(column) as ArrayRef)]).expect("a column")
    };
    assert_eq!(Answer::of_batches(&[rows(0), rows(1)]).expect("one"), answer);
    for batches in [vec![], vec![rows(0)], vec![rows(2)], vec![rows(1), rows(1)]] {
        assert!(matches!(Answer::of_batches(&batches), Err(Error::Damaged)));
    }
}

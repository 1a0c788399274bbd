//! The aggregate function of a pass.

use std::fmt;
use std::hash::{Hash, Hasher};

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, Float64Array, PrimitiveArray, StringArray,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type};
use datafusion::common::ScalarValue;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::logical_expr::{Accumulator, AggregateUDFImpl, Signature, Volatility};
use dp_cluster::PointsView;
use dp_cluster::passes::{Asked, Question, Table, TableError, Tally};

use crate::Error;

/// What [`CountPass`] is called in plans.
pub const NAME: &str = "quietus_count_pass";

/// Counts one pass: an aggregate of as many columns as records have coordinates, whose value is one [`Answer`] as bytes.
///
/// The question is a part of the function, not an argument, which would be copied for every row. It is public, and so are the plan of a
/// query that holds it and all that is printed of it; states and values are as confidential as the records. Accumulators write nowhere, so
/// an engine may run one again.
pub struct CountPass {
    asked: Asked<Question>,
    bytes: Vec<u8>,
    signature: Signature,
}

/// What is public, in short: questions are long.
impl fmt::Debug for CountPass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CountPass").field("asks", &self.asked.signature()).finish_non_exhaustive()
    }
}

impl PartialEq for CountPass {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for CountPass {}

impl Hash for CountPass {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bytes.hash(state);
    }
}

impl CountPass {
    /// The function for one question.
    pub fn new(asked: Asked<Question>) -> Self {
        let bytes = asked.to_bytes();
        Self { asked, bytes, signature: Signature::variadic_any(Volatility::Immutable) }
    }

    /// The function that [`to_bytes`](Self::to_bytes) comes from.
    ///
    /// # Errors
    /// [`TableError::Damaged`], [`TableError::NoTable`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, TableError> {
        let asked = Asked::from_bytes(bytes)?;
        asked.tally()?;
        Ok(Self::new(asked))
    }

    /// The question as bytes: public.
    pub fn to_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Refuses columns that are no coordinates, before anything is read.
    fn check(&self, types: &[DataType]) -> Result<()> {
        let (want, got) = (self.asked.question().dim(), types.len());
        if want != got {
            return Err(refused(Error::Dimension { want, got }));
        }
        match types.iter().find(|kind| !is_number(kind) && **kind != DataType::Utf8) {
            None => Ok(()),
            Some(kind) => {
                let (column, place) = ("?".to_owned(), NAME.to_owned());
                Err(refused(Error::NotNumeric { column, place, got: kind.clone() }))
            }
        }
    }
}

/// Whether a column of this type has a number in each row, or nothing.
pub(crate) fn is_number(kind: &DataType) -> bool {
    kind.is_integer() || kind.is_floating()
}

fn refused(error: impl std::error::Error + Send + Sync + 'static) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

impl AggregateUDFImpl for CountPass {
    fn name(&self) -> &str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.check(types)?;
        Ok(DataType::Binary)
    }

    fn is_nullable(&self) -> bool {
        false
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        if args.is_distinct || !args.order_bys.is_empty() {
            let reason =
                format!("{NAME} counts every record, in no order: no DISTINCT or ORDER BY");
            return Err(DataFusionError::Plan(reason));
        }
        Ok(Box::new(Counting::new(&self.asked).map_err(refused)?))
    }
}

/// What records add up to in one pass, and a checksum of which records these were. **As confidential as the records.**
#[derive(Clone, PartialEq, Eq)]
pub struct Answer {
    pub(crate) checksum: u64,
    pub(crate) table: Table,
}

/// Neighbours print the same.
impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer").field("table", &self.table).finish_non_exhaustive()
    }
}

impl Answer {
    /// The checksum in 8 bytes, then the bytes of the table: their number depends on the question only.
    pub fn to_bytes(&self) -> Vec<u8> {
        state(self.checksum, &self.table)
    }

    /// What [`CountPass`] has returned.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::Table`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let (checksum, table) = bytes.split_first_chunk::<8>().ok_or(Error::Damaged)?;
        let table = Table::from_bytes(table)?;
        Ok(Self { checksum: u64::from_le_bytes(*checksum), table })
    }

    /// What was counted.
    pub fn table(&self) -> &Table {
        &self.table
    }
}

fn state(checksum: u64, table: &Table) -> Vec<u8> {
    [&checksum.to_le_bytes()[..], &table.to_bytes()].concat()
}

/// Records that are laid out at once: their coordinates stay in the nearest cache.
const PART: usize = 256;

struct Counting {
    tally: Tally<Question>,
    dim: usize,
    /// The sum, over the records, of a hash of their bits: it does not depend on their order, and shows records that are counted twice
    /// while others of the same number are left out.
    checksum: u64,
    part: Vec<f64>,
    /// Of each record of the part, as far as its coordinates have been seen.
    hashes: Vec<u64>,
}

/// Neighbours print the same.
impl fmt::Debug for Counting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Counting").field("tally", &self.tally).finish_non_exhaustive()
    }
}

impl Counting {
    fn new(asked: &Asked<Question>) -> Result<Self, TableError> {
        let (tally, dim) = (asked.tally()?, asked.question().dim());
        Ok(Self { tally, dim, checksum: 0, part: Vec::new(), hashes: Vec::new() })
    }

    /// Column by column, as they come; each record's hash goes on from column to column beside those of the others.
    fn add(&mut self, columns: &[Float64Array], from: usize, rows: usize) -> Result<()> {
        let Self { dim, part, hashes, .. } = self;
        part.resize(rows * *dim, 0.0);
        hashes.clear();
        hashes.resize(rows, HASH_OF_NOTHING);
        for (place, column) in columns.iter().enumerate() {
            let values = &column.values()[from..from + rows];
            let into = part.iter_mut().skip(place).step_by(*dim).zip(&mut *hashes);
            let put = |((to, hash), x): ((&mut f64, &mut u64), f64)| {
                *to = x;
                *hash = and_then(*hash, x);
            };
            match column.nulls() {
                None => into.zip(values.iter().copied()).for_each(put),
                // What stands in the place of a null is arbitrary.
                Some(nulls) => {
                    let known = |(&x, row)| if nulls.is_valid(row) { x } else { f64::NAN };
                    into.zip(values.iter().zip(from..).map(known)).for_each(put);
                }
            }
        }
        let hashes = hashes.iter().map(|&hash| finished(hash));
        self.checksum = hashes.fold(self.checksum, u64::wrapping_add);
        let part = PointsView::new(&self.part, self.dim).map_err(refused)?;
        self.tally.add(part).map_err(refused)
    }
}

const HASH_OF_NOTHING: u64 = 0x243f_6a88_85a3_08d3;

/// The hash of some coordinates with the bits of one more.
#[inline]
fn and_then(hash: u64, x: f64) -> u64 {
    // An odd factor loses nothing; turning brings high bits, where differences gather, back to where they count.
    (hash ^ x.to_bits()).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

/// Sums of hashes must not follow sums of records.
#[inline]
fn finished(hash: u64) -> u64 {
    (hash ^ hash >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

/// A column as floats: whole numbers to the nearest one, text as Rust reads it, and nothing, or what is no number, as null.
fn floats(column: &ArrayRef) -> Result<Float64Array> {
    match column.data_type() {
        DataType::Float64 => Ok(column.as_primitive::<Float64Type>().clone()),
        DataType::Utf8 => Ok(text(column.as_string::<i32>())),
        kind if is_number(kind) => {
            let column = cast(column, &DataType::Float64)?;
            Ok(column.as_primitive::<Float64Type>().clone())
        }
        kind => Err(DataFusionError::Plan(format!("{NAME}: a column of {kind}"))),
    }
}

fn text(column: &StringArray) -> PrimitiveArray<Float64Type> {
    column.iter().map(|cell| cell.and_then(|cell| cell.trim().parse::<f64>().ok())).collect()
}

impl Accumulator for Counting {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let columns: Vec<Float64Array> = values.iter().map(floats).collect::<Result<_>>()?;
        if columns.len() != self.dim {
            let (want, got) = (self.dim, columns.len());
            return Err(refused(Error::Dimension { want, got }));
        }
        let rows = columns.iter().map(Array::len).min().unwrap_or(0);
        for from in (0..rows).step_by(PART) {
            self.add(&columns, from, PART.min(rows - from))?;
        }
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let states: Option<&BinaryArray> = states.first().and_then(|all| all.as_binary_opt());
        let states = states.ok_or_else(|| refused(Error::Damaged))?;
        for bytes in states {
            let other = bytes.ok_or(Error::Damaged).and_then(Answer::from_bytes);
            let other = other.map_err(refused)?;
            self.tally.merge(&other.table).map_err(refused)?;
            self.checksum = self.checksum.wrapping_add(other.checksum);
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.evaluate()?])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(ScalarValue::Binary(Some(state(self.checksum, self.tally.table()))))
    }

    fn size(&self) -> usize {
        size_of_val(self)
            + self.tally.table().size()
            + (self.part.capacity() + self.hashes.capacity()) * size_of::<f64>()
    }
}

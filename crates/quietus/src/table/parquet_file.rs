//! Parquet: the chosen columns only, row group after row group, a few thousand rows in memory at a time.

use super::limits::{Limits, Used};
use super::parquet_footer::metadata;
use super::parquet_pages::{Bounded, Pages, Room, decoded};
use super::{Cell, Source, TableProblem};
use parquet::basic::{Compression, ConvertedType, LogicalType, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::schema::types::ColumnDescriptor;
use std::fs::File;

/// Rows that are decoded at once.
const BATCH: usize = 8192;

/// A file at one row of a batch of each column.
pub(super) struct ParquetFile {
    file: Bounded,
    metadata: ParquetMetaData,
    limits: Limits,
    room: Room,
    used: Used,
    /// Whether there is text enough in the batches for a record that is too long.
    long: bool,
    /// What is wrong with the current record, if it is too long.
    too_long: Option<TableProblem>,
    header: Vec<String>,
    columns: Vec<Column>,
    next_group: usize,
    /// Position in the rows that all batches have, and how many there are.
    at: usize,
    rows: usize,
    /// Number of the row in the file, from 1.
    line: u64,
}

/// One chosen column.
struct Column {
    place: usize,
    unsigned: bool,
    /// The definition level of a value that is there; 0 if all are.
    present: i16,
    /// Of the current row group.
    reader: Option<ColumnReader>,
    batch: Vec<Value>,
    /// The place in the batch of the first of the rows that all batches have.
    first: usize,
    /// Bytes of all values of the batch.
    bytes: usize,
}

enum Value {
    Whole(i64),
    Real(f64),
    Text(ByteArray),
    Nothing,
}

impl Value {
    /// As many as there would be in a text, about; one at least.
    fn bytes(&self) -> usize {
        match self {
            Self::Whole(_) | Self::Real(_) => size_of::<u64>(),
            Self::Text(text) => 1 + text.len(),
            Self::Nothing => 1,
        }
    }
}

impl ParquetFile {
    pub(super) fn open(file: File, limits: Limits) -> Result<Self, TableProblem> {
        Self::open_within(file, limits, Room::USUAL)
    }

    pub(super) fn open_within(
        file: File,
        limits: Limits,
        room: Room,
    ) -> Result<Self, TableProblem> {
        let file = Bounded::new(file);
        let metadata = decoded(|| metadata(&file)).map_err(|error| unreadable(&error))?;
        let columns = metadata.file_metadata().schema_descr().columns();
        let header = columns.iter().map(|column| column.path().string()).collect();
        let (columns, next_group, at, rows, line) = (Vec::new(), 0, 0, 0, 0);
        let (used, long, too_long) = (Used::new(limits), false, None);
        Ok(Self {
            file,
            metadata,
            limits,
            room,
            used,
            long,
            too_long,
            header,
            columns,
            next_group,
            at,
            rows,
            line,
        })
    }

    /// Decodes the next rows; false if there are none left.
    fn next_rows(&mut self) -> Result<bool, TableProblem> {
        loop {
            // A few bytes of a file can stand for any number of rows, and of copies of a text: what counts is what comes out.
            let (mut bytes, passed) = (0_usize, self.rows);
            let batches = || {
                self.columns.iter_mut().try_for_each(|column| {
                    bytes = bytes.saturating_add(column.pass(passed)?);
                    Ok(())
                })
            };
            decoded(batches).map_err(|error| unreadable(&error))?;
            self.used.read(bytes)?;
            let left = || self.columns.iter().map(Column::left);
            (self.at, self.rows) = (0, left().min().unwrap_or(0));
            if self.rows == 0 && left().any(|left| left > 0) {
                let reason = "columns of one row group differ in length".to_owned();
                return Err(TableProblem::Unreadable { reason });
            }
            let bytes = self.columns.iter().map(|column| column.bytes);
            let bytes = bytes.fold(0_usize, usize::saturating_add);
            self.long = bytes as u64 > self.limits.most_record;
            if self.rows > 0 || !self.open_group().map_err(|error| unreadable(&error))? {
                return Ok(self.rows > 0);
            }
        }
    }

    /// False after the last row group.
    fn open_group(&mut self) -> Result<bool, ParquetError> {
        if self.next_group == self.metadata.num_row_groups() {
            return Ok(false);
        }
        let group = self.metadata.row_group(self.next_group);
        let rows = usize::try_from(group.num_rows())?;
        let room = (self.room, self.columns.len());
        // One more than a record may have, so that its record is still too long.
        let most_text = self.used.most_record().saturating_add(1);
        for column in &mut self.columns {
            let chunk = group.column(column.place);
            column.reader = None; // Its pages make room.
            let pages = Pages::new(&self.file, chunk, rows, room, most_text)?;
            column.reader = Some(get_column_reader(chunk.column_descr_ptr(), Box::new(pages)));
        }
        self.next_group += 1;
        Ok(true)
    }
}

impl Source for ParquetFile {
    fn header(&self) -> &[String] {
        &self.header
    }

    fn choose(&mut self, places: &[usize]) -> Result<(), TableProblem> {
        let all = self.metadata.file_metadata().schema_descr().columns();
        let column = |&place: &usize| Column::new(place, &all[place]);
        self.columns = places.iter().map(column).collect::<Result<_, _>>()?;
        let mut bytes = 0_u64;
        for group in self.metadata.row_groups() {
            for &place in places {
                let chunk = group.column(place);
                check_codec(place, chunk)?;
                let unpacked = u64::try_from(chunk.uncompressed_size()).unwrap_or(u64::MAX);
                bytes = bytes.saturating_add(unpacked);
            }
        }
        if bytes > self.limits.most_bytes {
            return Err(TableProblem::TooManyBytes { most: self.limits.most_bytes });
        }
        Ok(())
    }

    fn advance(&mut self) -> Result<bool, (u64, TableProblem)> {
        self.at += 1;
        if self.at >= self.rows && !self.next_rows().map_err(|problem| (0, problem))? {
            return Ok(false);
        }
        self.line += 1;
        self.too_long = None;
        if self.long {
            self.used.next_record();
            let (used, at) = (&mut self.used, self.at);
            let mut bytes = self.columns.iter().map(|column| column.at(at).bytes());
            self.too_long = bytes.try_for_each(|bytes| used.within_record(bytes)).err();
        }
        Ok(true)
    }

    fn shape(&self) -> Option<TableProblem> {
        self.too_long.clone()
    }

    fn line(&self) -> u64 {
        self.line
    }

    fn cell(&self, chosen: usize) -> Cell<'_> {
        match self.columns[chosen].at(self.at) {
            Value::Whole(number) => Cell::Whole(*number),
            Value::Real(number) => Cell::Real(*number),
            Value::Text(text) => Cell::Text(text.data()),
            Value::Nothing => Cell::Text(b""),
        }
    }
}

impl Column {
    fn new(place: usize, column: &ColumnDescriptor) -> Result<Self, TableProblem> {
        let (logical, converted) = (column.logical_type_ref(), column.converted_type());
        let flat = column.max_rep_level() == 0 && column.path().parts().len() == 1;
        let readable = match column.physical_type() {
            Type::INT32 | Type::INT64 => is_whole(logical, converted),
            Type::BYTE_ARRAY => is_text(logical, converted),
            Type::FLOAT | Type::DOUBLE => logical.is_none() && converted == ConvertedType::NONE,
            _ => false,
        };
        if !(flat && readable) {
            let kind = match logical {
                Some(logical) => format!("{} ({logical:?})", column.physical_type()),
                None => column.physical_type().to_string(),
            };
            let (column, name) = (place + 1, column.path().string());
            return Err(TableProblem::OtherKind { column, name, kind });
        }
        let unsigned = matches!(logical, Some(LogicalType::Integer(kind)) if !kind.is_signed)
            || matches!(
                converted,
                ConvertedType::UINT_8
                    | ConvertedType::UINT_16
                    | ConvertedType::UINT_32
                    | ConvertedType::UINT_64
            );
        let present = column.max_def_level();
        Ok(Self { place, unsigned, present, reader: None, batch: Vec::new(), first: 0, bytes: 0 })
    }

    /// Values that are decoded and have not been passed.
    fn left(&self) -> usize {
        self.batch.len() - self.first
    }

    fn at(&self, at: usize) -> &Value {
        &self.batch[self.first + at]
    }

    /// Passes so many rows, and decodes the next batch behind the last one. Returns its bytes.
    fn pass(&mut self, rows: usize) -> Result<usize, ParquetError> {
        self.first += rows;
        if self.left() > 0 {
            return Ok(0);
        }
        (self.batch, self.first) = (Vec::new(), 0);
        self.next_batch()?;
        if self.batch.is_empty() {
            // It was a pause of its pages, or it is the end.
            self.next_batch()?;
        }
        self.bytes = self.batch.iter().map(Value::bytes).fold(0, usize::saturating_add);
        Ok(self.bytes)
    }

    fn next_batch(&mut self) -> Result<(), ParquetError> {
        let (present, unsigned) = (self.present, self.unsigned);
        self.batch = match &mut self.reader {
            None => Vec::new(),
            Some(ColumnReader::Int32ColumnReader(reader)) => batch(reader, present, |number| {
                let positive = i64::from(number.cast_unsigned());
                Value::Whole(if unsigned { positive } else { i64::from(number) })
            })?,
            Some(ColumnReader::Int64ColumnReader(reader)) => batch(reader, present, |number| {
                if unsigned && number < 0 {
                    // An identifier may be as large as that; it is compared by its digits.
                    Value::Text(number.cast_unsigned().to_string().into_bytes().into())
                } else {
                    Value::Whole(number)
                }
            })?,
            Some(ColumnReader::FloatColumnReader(reader)) => {
                batch(reader, present, |number| Value::Real(number.into()))?
            }
            Some(ColumnReader::DoubleColumnReader(reader)) => batch(reader, present, Value::Real)?,
            Some(ColumnReader::ByteArrayColumnReader(reader)) => {
                batch(reader, present, Value::Text)?
            }
            Some(_) => return Err(ParquetError::NYI("a column of another kind".to_owned())),
        };
        Ok(())
    }
}

/// The next values of a column, those that are missing among them.
fn batch<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    present: i16,
    value: impl Fn(T::T) -> Value,
) -> Result<Vec<Value>, ParquetError> {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    reader.read_records(BATCH, Some(&mut levels), None, &mut values)?;
    let mut values = values.into_iter().map(value);
    if present == 0 {
        return Ok(values.collect());
    }
    let at = |level: i16| if level == present { values.next() } else { None };
    Ok(levels.into_iter().map(at).map(|value| value.unwrap_or(Value::Nothing)).collect())
}

/// Refuses a compression that is not built in.
fn check_codec(place: usize, chunk: &ColumnChunkMetaData) -> Result<(), TableProblem> {
    match chunk.compression() {
        Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::GZIP(_) => Ok(()),
        Compression::ZSTD(_) if cfg!(feature = "zstd") => Ok(()),
        other => {
            let (column, name) = (place + 1, chunk.column_path().string());
            let codec = other.to_string();
            Err(TableProblem::Codec { column, name, codec })
        }
    }
}

/// Dates and decimals are stored as whole numbers too. A column in which nobody has a value may be of no kind: a single value would make it one of numbers or text.
fn is_whole(logical: Option<&LogicalType>, converted: ConvertedType) -> bool {
    matches!(logical, None | Some(LogicalType::Integer(_) | LogicalType::Unknown))
        && matches!(
            converted,
            ConvertedType::NONE
                | ConvertedType::INT_8
                | ConvertedType::INT_16
                | ConvertedType::INT_32
                | ConvertedType::INT_64
                | ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64
        )
}

/// Some writers do not say that their bytes are text; whether they are is checked cell by cell.
fn is_text(logical: Option<&LogicalType>, converted: ConvertedType) -> bool {
    matches!(logical, None | Some(LogicalType::String | LogicalType::Enum))
        && matches!(converted, ConvertedType::NONE | ConvertedType::UTF8 | ConvertedType::ENUM)
}

fn unreadable(error: &ParquetError) -> TableProblem {
    TableProblem::Unreadable { reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::check_codec;
    use parquet::basic::{Compression, Type as Physical};
    use parquet::file::metadata::ColumnChunkMetaData;
    use parquet::schema::types::{ColumnDescriptor, ColumnPath, Type};
    use std::sync::Arc;

    #[test]
    fn a_compression_that_is_not_built_in_is_refused_before_anything_is_read() {
        let unit = Type::primitive_type_builder("unit", Physical::BYTE_ARRAY).build().unwrap();
        let path = ColumnPath::new(vec!["unit".to_owned()]);
        let column = Arc::new(ColumnDescriptor::new(Arc::new(unit), 0, 0, path));
        let check = |codec| {
            let chunk = ColumnChunkMetaData::builder(Arc::clone(&column)).set_compression(codec);
            check_codec(1, &chunk.build().unwrap())
        };
        assert_eq!(check(Compression::SNAPPY), Ok(()));
        insta::assert_snapshot!(check(Compression::LZ4_RAW).unwrap_err(), @"column 2 (unit) is compressed with LZ4_RAW; snappy and gzip can be read, and zstd with `--features zstd`");
        let zstd = check(Compression::ZSTD(parquet::basic::ZstdLevel::default()));
        assert_eq!(zstd.is_ok(), cfg!(feature = "zstd"));
    }
}

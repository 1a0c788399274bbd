//! Made-up tables of several columns, in files that are written in many ways: the rows are those that were written, but for those that are too long.

use super::super::limits::Limits;
use super::super::parquet_file::ParquetFile;
use super::super::parquet_pages::Room;
use super::super::{Cell, Source};
use dp_mechanism::ChaCha20Rng;
use parquet::basic::{Compression, Encoding, GzipLevel, Repetition, Type as Physical};
use parquet::data_type::{ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, Type};
use rand::{Rng, RngExt, SeedableRng};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq)]
enum Value {
    Text(Vec<u8>),
    Whole(i64),
    Real(f64),
    Nothing,
}

impl Value {
    /// What it counts of a record.
    fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => 1 + text.len(),
            Self::Whole(_) | Self::Real(_) => 8,
            Self::Nothing => 1,
        }
    }
}

struct Column {
    kind: Physical,
    optional: bool,
    values: Vec<Value>,
}

fn one_of<T: Copy>(rng: &mut impl Rng, all: &[T]) -> T {
    all[rng.random_range(0..all.len())]
}

/// Most are short; some are about as long as a record may be, or share what they begin with with the one before.
fn text(rng: &mut impl Rng, most: usize, before: &[u8]) -> Vec<u8> {
    let length = match rng.random_range(0..200) {
        0 => rng.random_range(0..200_000),
        1..4 => most + rng.random_range(0..20) - 10,
        4..30 => 0,
        _ => rng.random_range(0..30),
    };
    match rng.random_range(0..4) {
        0 => (0..length).map(|_| rng.random()).collect(),
        1 => before[..length.min(before.len())].to_vec(),
        _ => vec![b'a'; length],
    }
}

fn column(rng: &mut impl Rng, rows: usize, most: usize) -> Column {
    let kind = one_of(
        rng,
        &[Physical::BYTE_ARRAY, Physical::BYTE_ARRAY, Physical::INT64, Physical::DOUBLE],
    );
    let (optional, missing) = (rng.random(), one_of(rng, &[0.0, 0.1, 0.9, 1.0]));
    let mut before = Vec::new();
    let value = |_| match kind {
        _ if optional && rng.random_bool(missing) => Value::Nothing,
        Physical::INT64 => Value::Whole(rng.random_range(-9..99)),
        Physical::DOUBLE => Value::Real(rng.random()),
        _ => {
            before = text(rng, most, &before);
            Value::Text(before.clone())
        }
    };
    Column { kind, optional, values: (0..rows).map(value).collect() }
}

/// Each column has an encoding, a compression and pages of its own.
fn settings(rng: &mut impl Rng, table: &[Column]) -> WriterProperties {
    let version = one_of(rng, &[WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0]);
    let mut settings = WriterProperties::builder()
        .set_writer_version(version)
        .set_statistics_truncate_length(None)
        .set_write_page_header_statistics(rng.random())
        .set_write_batch_size(rng.random_range(1..1_200));
    for (number, column) in table.iter().enumerate() {
        let at = || ColumnPath::from(number.to_string());
        let other = match column.kind {
            Physical::INT64 => Encoding::DELTA_BINARY_PACKED,
            Physical::DOUBLE => Encoding::BYTE_STREAM_SPLIT,
            _ => one_of(rng, &[Encoding::DELTA_BYTE_ARRAY, Encoding::DELTA_LENGTH_BYTE_ARRAY]),
        };
        let gzip = Compression::GZIP(GzipLevel::default());
        let codecs = [Compression::UNCOMPRESSED, Compression::SNAPPY, gzip];
        let has_few = column.kind != Physical::DOUBLE;
        settings = settings
            .set_column_encoding(at(), one_of(rng, &[Encoding::PLAIN, other]))
            .set_column_compression(at(), one_of(rng, &codecs))
            .set_column_dictionary_enabled(at(), has_few && rng.random_bool(0.4))
            .set_column_dictionary_page_size_limit(at(), one_of(rng, &[200, 5_000, 1 << 20]))
            .set_column_data_page_size_limit(at(), one_of(rng, &[100, 3_000, 1 << 20]))
            .set_column_data_page_row_count_limit(at(), one_of(rng, &[1, 7, 100, 2_000]));
    }
    settings.build()
}

fn put<T: DataType>(
    rng: &mut impl Rng,
    group: &mut SerializedRowGroupWriter<'_, File>,
    mut cells: &[Value],
    value: impl Fn(&Value) -> Option<T::T>,
) {
    let mut column = group.next_column().unwrap().unwrap();
    while !cells.is_empty() {
        let (now, later) = cells.split_at(rng.random_range(1..=cells.len().min(700)));
        let values: Vec<T::T> = now.iter().filter_map(&value).collect();
        let levels: Vec<i16> = now.iter().map(|cell| i16::from(*cell != Value::Nothing)).collect();
        column.typed::<T>().write_batch(&values, Some(&levels), None).unwrap();
        cells = later;
    }
    column.close().unwrap();
}

/// In row groups of any size, empty ones too.
fn write(rng: &mut impl Rng, path: &Path, table: &[Column]) {
    let field = |(number, column): (usize, &Column)| {
        let repetition = if column.optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let name = number.to_string();
        let field = Type::primitive_type_builder(&name, column.kind);
        Arc::new(field.with_repetition(repetition).build().unwrap())
    };
    let fields = table.iter().enumerate().map(field).collect();
    let schema = Type::group_type_builder("schema").with_fields(fields).build().unwrap();
    let (file, settings) = (File::create(path).unwrap(), settings(rng, table));
    let mut writer = SerializedFileWriter::new(file, schema.into(), settings.into()).unwrap();
    let (mut from, rows) = (0, table[0].values.len());
    while from < rows || rng.random_bool(0.2) {
        let to = rows.min(from + rng.random_range(0..10_000));
        let mut group = writer.next_row_group().unwrap();
        for Column { kind, values, .. } in table {
            let cells = &values[from..to];
            match kind {
                Physical::INT64 => put::<Int64Type>(rng, &mut group, cells, |cell| match cell {
                    Value::Whole(number) => Some(*number),
                    _ => None,
                }),
                Physical::DOUBLE => put::<DoubleType>(rng, &mut group, cells, |cell| match cell {
                    Value::Real(number) => Some(*number),
                    _ => None,
                }),
                _ => put::<ByteArrayType>(rng, &mut group, cells, |cell| match cell {
                    Value::Text(text) => Some(text.clone().into()),
                    _ => None,
                }),
            }
        }
        group.close().unwrap();
        from = to;
    }
    writer.close().unwrap();
}

fn is_same(cell: Cell<'_>, value: &Value) -> bool {
    match (cell, value) {
        (Cell::Text(text), Value::Text(want)) => text == want,
        (Cell::Text(text), Value::Nothing) => text.is_empty(),
        (Cell::Whole(number), Value::Whole(want)) => number == *want,
        (Cell::Real(number), Value::Real(want)) => number.to_bits() == want.to_bits(),
        _ => false,
    }
}

/// Columns whose pages end in different rows are read side by side, whatever room there is for them, and those that are not read do not matter.
#[test]
fn rows_are_those_that_were_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let (mut read, mut too_long) = (0, 0);
    for seed in 0..60 {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let most = rng.random_range(100..3_000);
        let most_rows = one_of(&mut rng, &[20, 300, 3_000, 12_000]);
        let (columns, rows) = (rng.random_range(1..6), rng.random_range(0..most_rows));
        let table: Vec<Column> = (0..columns).map(|_| column(&mut rng, rows, most)).collect();
        write(&mut rng, &path, &table);
        let first = rng.random_range(0..columns);
        let all = (0..columns).map(|place| (first + place) % columns);
        let chosen: Vec<usize> = all.take(rng.random_range(1..=columns)).collect();
        // What pages of numbers need, and hardly more.
        let small = Room { shared: 60_000, column: 55_000, dictionary: 1 << 28 };
        for room in [Room::USUAL, small] {
            let limits = Limits { most_bytes: 1 << 36, most_record: most as u64 };
            let mut file = ParquetFile::open_within(File::open(&path).unwrap(), limits, room);
            let file = file.as_mut().unwrap();
            file.choose(&chosen).unwrap();
            for row in 0..rows {
                assert_eq!(file.advance(), Ok(true), "{seed}, {row}");
                let bytes: usize =
                    chosen.iter().map(|&place| table[place].values[row].bytes()).sum();
                assert_eq!(file.shape().is_some(), bytes > most, "{seed}, {row}");
                if bytes > most {
                    too_long += 1;
                    continue;
                }
                for (cell, &place) in chosen.iter().enumerate() {
                    let same = is_same(file.cell(cell), &table[place].values[row]);
                    assert!(same, "{seed}, {row}, {place}");
                }
                read += 1;
            }
            assert_eq!(file.advance(), Ok(false), "{seed}");
        }
    }
    assert!(read > 50_000 && too_long > 1_000, "{read}, {too_long}");
}

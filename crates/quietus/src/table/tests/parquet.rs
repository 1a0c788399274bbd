//! Parquet against CSV: the same cells from both. The files come from the writer of the same crate.

use super::super::{Form, Rows, Secrecy, TableError};
use super::texts_of;
use crate::cli::{Cli, Command};
use crate::value::Decimal;
use clap::Parser;
use parquet::basic::{Compression, GzipLevel, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// What a column holds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Text,
    /// Bytes that nothing says are text.
    Bytes,
    Narrow,
    Wide,
    Unsigned,
    NarrowUnsigned,
    Date,
    Real,
    /// What writers say of a column in which nobody has a value.
    Nothing,
}

impl Kind {
    fn physical(self) -> Physical {
        match self {
            Self::Text | Self::Bytes => Physical::BYTE_ARRAY,
            Self::Narrow | Self::NarrowUnsigned | Self::Date | Self::Nothing => Physical::INT32,
            Self::Wide | Self::Unsigned => Physical::INT64,
            Self::Real => Physical::DOUBLE,
        }
    }

    fn logical(self) -> Option<LogicalType> {
        match self {
            Self::Text => Some(LogicalType::String),
            Self::Unsigned => Some(LogicalType::integer(64, false)),
            Self::NarrowUnsigned => Some(LogicalType::integer(32, false)),
            Self::Date => Some(LogicalType::Date),
            Self::Nothing => Some(LogicalType::Unknown),
            _ => None,
        }
    }
}

/// Writes a Parquet file with the cells of a CSV text. An empty cell is a null; a column without any cannot have one.
pub(crate) fn write(path: &Path, text: &str, kinds: &[Kind], rows_of_group: usize) {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().unwrap().clone();
    let records: Vec<_> = reader.records().map(Result::unwrap).collect();
    let optional = |column: usize| records.iter().any(|record| record[column].is_empty());
    let field = |(column, (name, kind)): (usize, (&str, &Kind))| {
        let repetition = if optional(column) { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let field = Type::primitive_type_builder(name, kind.physical()).with_repetition(repetition);
        Arc::new(field.with_logical_type(kind.logical()).build().unwrap())
    };
    let fields = header.iter().zip(kinds).enumerate().map(field).collect();
    let schema = Arc::new(Type::group_type_builder("schema").with_fields(fields).build().unwrap());
    // Small row groups in one way and large ones in another, so that all are read.
    let (codec, version) = match rows_of_group {
        0..10 => (Compression::UNCOMPRESSED, WriterVersion::PARQUET_1_0),
        10..1_000 => (Compression::SNAPPY, WriterVersion::PARQUET_2_0),
        1_000..9_000 => (Compression::SNAPPY, WriterVersion::PARQUET_1_0),
        9_000 => (Compression::GZIP(GzipLevel::default()), WriterVersion::PARQUET_1_0),
        _ => (Compression::GZIP(GzipLevel::default()), WriterVersion::PARQUET_2_0),
    };
    let settings = WriterProperties::builder().set_compression(codec).set_writer_version(version);
    // Small pages, so that a batch goes over several of them.
    let settings = settings.set_data_page_row_count_limit(3).set_write_batch_size(1).build();
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(settings)).unwrap();
    for records in records.chunks(rows_of_group) {
        let mut group = writer.next_row_group().unwrap();
        for (column, &kind) in kinds.iter().enumerate() {
            let cells: Vec<&str> = records.iter().map(|record| &record[column]).collect();
            let bytes = |cell: &str| ByteArray::from(cell.as_bytes().to_vec());
            match kind {
                Kind::Text | Kind::Bytes => put::<ByteArrayType>(&mut group, &cells, bytes),
                Kind::Narrow | Kind::Date | Kind::Nothing => {
                    put::<Int32Type>(&mut group, &cells, |cell| cell.parse().unwrap());
                }
                Kind::Wide => put::<Int64Type>(&mut group, &cells, |cell| cell.parse().unwrap()),
                Kind::Unsigned => put::<Int64Type>(&mut group, &cells, |cell| {
                    cell.parse::<u64>().unwrap().cast_signed()
                }),
                Kind::NarrowUnsigned => put::<Int32Type>(&mut group, &cells, |cell| {
                    cell.parse::<u32>().unwrap().cast_signed()
                }),
                Kind::Real => put::<DoubleType>(&mut group, &cells, |cell| cell.parse().unwrap()),
            }
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
}

fn put<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    cells: &[&str],
    value: impl Fn(&str) -> T::T,
) {
    let there = cells.iter().filter(|cell| !cell.is_empty());
    let values: Vec<T::T> = there.map(|cell| value(cell)).collect();
    let levels: Vec<i16> = cells.iter().map(|cell| i16::from(!cell.is_empty())).collect();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(&values, Some(&levels), None).unwrap();
    column.close().unwrap();
}

/// A column of whole numbers with gaps is often one of numbers with fractions.
#[test]
fn whole_numbers_of_a_type_with_fractions_are_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.parquet");
    write(&path, "a,b\n2,x\n,x\n1.5,x\n-3,x\nNaN,x\ninf,x\n1e40,x\n", &[Kind::Real, Kind::Text], 3);
    let mut rows = Rows::open(&path, Secrecy::Private, &Form::default()).unwrap();
    rows.choose(&["a"]).unwrap();
    let mut seen = Vec::new();
    while rows.advance().unwrap() {
        let number = rows.number_or_none(0, Decimal::Point);
        assert!(number.is_none_or(|number| !number.is_nan()));
        seen.push((rows.whole_or_none(0), rows.name_or_none(0).map(Cow::into_owned)));
    }
    let (numbers, names): (Vec<_>, Vec<_>) = seen.into_iter().unzip();
    assert_eq!(numbers, [Some(2), None, None, Some(-3), None, None, Some(i64::MAX)]);
    // Nobody is called "not a number".
    let are_names = names.iter().map(Option::is_some);
    assert!(are_names.eq([true, false, true, true, false, true, true]), "{names:?}");
}

/// What a file holds as a number has no decimal mark, whatever text has.
#[test]
fn numbers_stored_as_numbers_count_whatever_the_decimal_mark() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.parquet");
    write(&path, "a,b\n2.5,x\n3.5,x\n", &[Kind::Real, Kind::Text], 3);
    for family in ["mean --of a --bounds 0,10", "histogram --of a --bounds 0,10 --bins 2"] {
        let words = format!("quietus check {family} --epsilon 1 --decimal-comma --data");
        let words = words.split(' ').chain([path.to_str().unwrap()]);
        let Command::Check { family } = Cli::try_parse_from(words).unwrap().command else {
            panic!("a check")
        };
        let said = crate::run::check(&family).unwrap();
        assert!(said.contains("2  count"), "{said}");
    }
}

/// Over several row groups, pages and batches, with nulls and without.
#[test]
fn parquet_gives_the_cells_of_csv() {
    let mut text = "name,ignored,small,large,hash,raw\n".to_owned();
    for row in 0..20_000_i64 {
        let gap = |every: i64, cell: String| if row % every == 0 { String::new() } else { cell };
        let (name, small) = (gap(3, format!("unit {row}")), gap(1_000, (7 - row).to_string()));
        let hash = u64::MAX - row.unsigned_abs();
        let large = row << 40;
        writeln!(text, "{name},{row},{small},{large},{hash},x{row}").unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let (csv, parquet) = (folder.path().join("a.csv"), folder.path().join("a.parquet"));
    std::fs::write(&csv, &text).unwrap();
    let kinds = [Kind::Text, Kind::Real, Kind::Narrow, Kind::Wide, Kind::Unsigned, Kind::Bytes];
    for rows_of_group in [900, 7_000, 9_000, 15_000] {
        write(&parquet, &text, &kinds, rows_of_group);
        for columns in [&["large", "name", "small", "hash", "raw"][..], &["small"], &[]] {
            let want = texts_of(&csv, columns).unwrap();
            let want = if columns.is_empty() { Vec::new() } else { want };
            assert!(texts_of(&parquet, columns).unwrap() == want, "{rows_of_group}: {columns:?}");
        }
    }
}

/// One value more in a column makes it one of numbers or of text, which must not decide whether there is a release.
#[test]
fn a_column_in_which_nobody_has_a_value_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("n.parquet");
    for (text, kind, want) in [
        ("a,b\nx,\ny,\n", Kind::Nothing, ["", ""]),
        ("a,b\nx,\ny,7\n", Kind::Narrow, ["", "7"]),
        ("a,b\nx,z\ny,\n", Kind::Text, ["z", ""]),
        ("a,b\nx,4294967295\ny,\n", Kind::NarrowUnsigned, ["4294967295", ""]),
        ("a,b\nx,18446744073709551615\ny,\n", Kind::Unsigned, ["18446744073709551615", ""]),
    ] {
        write(&path, text, &[Kind::Text, kind], 1);
        assert_eq!(texts_of(&path, &["b"]).unwrap(), want.map(|cell| [cell]));
    }
}

#[test]
fn what_parquet_cannot_give_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let kinds = [Kind::Text, Kind::Real, Kind::Date, Kind::Narrow];
    write(&path, "a,b,c,d\nx,0.5,3,4\n,1,4,\n", &kinds, 10);
    assert_eq!(texts_of(&path, &["b"]).unwrap(), [["0.5"], ["1"]]);
    insta::assert_snapshot!(texts_of(&path, &["c"]).unwrap_err(), @"DIR/a.parquet: column 3 (c) is INT32 (Date); text and numbers can be read");
    insta::assert_snapshot!(texts_of(&path, &["e"]).unwrap_err(), @"DIR/a.parquet: there is no column `e`; these exist: a, b, c, d");
    let mut rows = Rows::open(&path, Secrecy::Public, &Form::default()).unwrap();
    rows.choose(&["d", "a"]).unwrap();
    assert!(rows.advance().unwrap() && rows.whole(0).unwrap() == 4 && rows.advance().unwrap());
    let shown =
        |error: TableError| error.to_string().replace(&folder.path().display().to_string(), "DIR");
    insta::assert_snapshot!(shown(rows.whole(0).unwrap_err()), @"DIR/a.parquet, row 2: column 4 (d): `` is not a whole number of 64 bits");
    insta::assert_snapshot!(shown(rows.name(1).unwrap_err()), @"DIR/a.parquet, row 2: column 1 (a) is empty");

    let small = Form { most_bytes: 3, ..Form::default() };
    let mut rows = Rows::open(&path, Secrecy::Private, &small).unwrap();
    let error = rows.choose(&["d", "a"]).unwrap_err().to_string();
    assert!(error.contains("there is more than 3 bytes"), "{error}");

    // A dictionary: what is in the file once comes out as often as there are rows.
    let text = "x".repeat(5_000) + ",1\n";
    write(&path, &("a,b\n".to_owned() + &text.repeat(9_000)), &[Kind::Text, Kind::Narrow], 9_000);
    assert!(std::fs::metadata(&path).unwrap().len() < 3_000_000);
    let bomb = Form { most_bytes: 30_000_000, ..Form::default() };
    let mut rows = Rows::open(&path, Secrecy::Public, &bomb).unwrap();
    rows.choose(&["a", "b"]).unwrap();
    let end = std::iter::repeat_with(|| rows.advance()).find(|next| !matches!(next, Ok(true)));
    insta::assert_snapshot!(shown(end.unwrap().unwrap_err()), @"DIR/a.parquet: there is more than 30000000 bytes; if that is right, say so with --most-bytes");
    let long = "x".repeat(1 << 19);
    write(&path, &format!("a,b\nx,y\n{long}x,{long}\n"), &[Kind::Text, Kind::Bytes], 10);
    insta::assert_snapshot!(texts_of(&path, &["a", "b"]).unwrap_err(), @"DIR/a.parquet, row 2: a record begins here that is longer than 1048576 bytes");
    // In a private file it stops nobody.
    let text = format!("a,b\nx,y\n{long}x,{long}\nz,y\n");
    write(&path, &text, &[Kind::Text, Kind::Bytes], 10);
    let mut rows = Rows::open(&path, Secrecy::Private, &Form::default()).unwrap();
    rows.choose(&["a", "b"]).unwrap();
    let mut seen = Vec::new();
    while rows.advance().unwrap() {
        seen.push(rows.name_or_none(0).unwrap().into_owned());
    }
    assert_eq!((seen, rows.passed_over()), (vec!["x".to_owned(), "z".to_owned()], 1));
    write(&path, "a,b,c,d\nx,0.5,3,4\n,1,4,\n", &kinds, 10);

    let whole = std::fs::read(&path).unwrap();
    for bytes in [&b""[..], b"unit\na\n", &whole[..whole.len() - 9]] {
        std::fs::write(&path, bytes).unwrap();
        assert!(texts_of(&path, &["a"]).unwrap_err().starts_with("DIR/a.parquet: "));
    }
}

//! Parquet with pages of texts that are larger than there is room for: the same rows as with room for them, and no harm by what a file says of itself.

use super::super::limits::Limits;
use super::super::parquet_file::ParquetFile;
use super::super::parquet_pages::{Bounded, Pages, Room};
use super::super::parquet_texts::{Levels, SmallPages, Texts};
use super::super::{Cell, Form, MOST_RECORD, Rows, Secrecy, Source, TableProblem};
use bytes::Bytes;
use parquet::basic::{Compression, Encoding, GzipLevel, Repetition, Type as Physical};
use parquet::column::page::PageReader;
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::Result;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnDescriptor, ColumnPath, Type};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

/// How a file is written.
#[derive(Clone, Copy, Debug)]
struct Way {
    codec: Compression,
    version: WriterVersion,
    /// Of texts, where they are not in a dictionary.
    encoding: Encoding,
    dictionary: bool,
    optional: bool,
    rows_of_page: usize,
}

/// The writer has no zstd.
fn codecs() -> [Compression; 3] {
    [Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::GZIP(GzipLevel::default())]
}

/// Also those by differences, which the writer of the second version turns to after a dictionary has become too large.
fn ways_and_differences(rows_of_page: usize) -> Vec<Way> {
    let plain = ways(rows_of_page);
    let mut all = plain.clone();
    for encoding in [Encoding::DELTA_LENGTH_BYTE_ARRAY, Encoding::DELTA_BYTE_ARRAY] {
        let texts = plain.iter().filter(|way| !way.dictionary);
        all.extend(texts.map(|&way| Way { encoding, ..way }));
    }
    all
}

fn ways(rows_of_page: usize) -> Vec<Way> {
    let mut all = Vec::new();
    for codec in codecs() {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            for (dictionary, optional) in
                [(false, false), (false, true), (true, false), (true, true)]
            {
                let encoding = Encoding::PLAIN;
                all.push(Way { codec, version, encoding, dictionary, optional, rows_of_page });
            }
        }
    }
    all
}

/// Writes a column `a` of texts and a column `n` of the numbers of rows.
fn write(path: &Path, texts: &[Option<Vec<u8>>], way: Way) {
    let repetition = if way.optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    let field = |name, kind, repetition| {
        let field = Type::primitive_type_builder(name, kind).with_repetition(repetition);
        Arc::new(field.build().unwrap())
    };
    let fields = vec![
        field("a", Physical::BYTE_ARRAY, repetition),
        field("n", Physical::INT64, Repetition::REQUIRED),
    ];
    let schema = Type::group_type_builder("schema").with_fields(fields).build().unwrap();
    let settings = WriterProperties::builder()
        .set_compression(way.codec)
        .set_writer_version(way.version)
        .set_dictionary_enabled(false)
        .set_column_dictionary_enabled(ColumnPath::from("a"), way.dictionary)
        .set_encoding(Encoding::PLAIN)
        .set_column_encoding(ColumnPath::from("a"), way.encoding)
        // As some writers have it: the smallest and the largest text as a whole.
        .set_statistics_truncate_length(None)
        .set_write_page_header_statistics(true)
        .set_data_page_size_limit(1 << 30)
        .set_dictionary_page_size_limit(1 << 30)
        .set_data_page_row_count_limit(way.rows_of_page)
        .set_write_batch_size(way.rows_of_page.min(1_024))
        .build();
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema.into(), settings.into()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let values: Vec<ByteArray> = texts.iter().flatten().map(|text| text.clone().into()).collect();
    let levels: Vec<i16> = texts.iter().map(|text| i16::from(text.is_some())).collect();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None).unwrap();
    column.close().unwrap();
    let numbers: Vec<i64> = (0..).take(texts.len()).collect();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<Int64Type>().write_batch(&numbers, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
}

const SMALL: Room = Room { shared: 96 << 10, column: 8 << 10, dictionary: 1 << 20 };
const LIMITS: Limits = Limits { most_bytes: 1 << 22, most_record: 1_000 };

/// All rows that are not passed over.
fn rows(path: &Path, room: Room) -> std::result::Result<Vec<(i64, Vec<u8>)>, TableProblem> {
    let mut file = ParquetFile::open_within(File::open(path).unwrap(), LIMITS, room)?;
    file.choose(&[1, 0])?;
    let mut rows = Vec::new();
    while file.advance().map_err(|(_, problem)| problem)? {
        if file.shape().is_none() {
            let (Cell::Whole(number), Cell::Text(text)) = (file.cell(0), file.cell(1)) else {
                unreachable!("a number and a text")
            };
            rows.push((number, text.to_vec()));
        }
    }
    Ok(rows)
}

/// Texts of many lengths, in one way without missing ones; a few are on either side of what a record may have beside its number.
fn mixed(optional: bool) -> Vec<Option<Vec<u8>>> {
    let most = 1_000 - 8 - 1;
    let text = |row: usize| {
        let length = match row % 500 {
            7 => most,
            8 => most + 1,
            9 => 1_001,
            10 => 1_002,
            // They share more with one another than is kept of any, and all that the fourth has.
            11..14 => 50_000 + row,
            14 => 500,
            _ => row * row % 271,
        };
        let mut text = vec![b"abcdefg"[row % 7]; length];
        if (11..15).contains(&(row % 500)) {
            text.fill(b'z');
        }
        let digits = if text.starts_with(b"z") { String::new() } else { row.to_string() };
        let shared = digits.len().min(length);
        text[..shared].copy_from_slice(&digits.as_bytes()[..shared]);
        (!optional || row % 7 > 2 || row > 2_900).then_some(text)
    };
    (0..3_000).map(text).collect()
}

/// The rows are those that were written, but for the long ones, by each codec and form of pages, whether these are handed over as they are or in parts.
#[test]
fn rows_do_not_depend_on_the_sizes_of_pages() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    for optional in [false, true] {
        let texts = mixed(optional);
        let want: Vec<(i64, Vec<u8>)> = (0..)
            .zip(texts.iter().map(|text| text.clone().unwrap_or_default()))
            .filter(|(_, text)| text.len() < 1_000 - 8)
            .collect();
        assert!((10..50).contains(&(texts.len() - want.len())));
        for way in ways_and_differences(3_000).into_iter().chain(ways_and_differences(100)) {
            if way.optional == optional {
                write(&path, &texts, way);
                assert!(rows(&path, Room::USUAL).unwrap() == want, "{way:?}");
                let pages = rows(&path, SMALL).unwrap();
                assert!(pages == want, "{way:?}: {} of {}", pages.len(), want.len());
            }
        }
    }
    // The dictionary has no room of this size, however much is cut.
    let way = Way { dictionary: true, ..ways(3_000)[0] };
    write(&path, &mixed(false), way);
    let error = rows(&path, Room { dictionary: 100_000, ..SMALL }).unwrap_err().to_string();
    assert!(error.contains("a column takes more than 100000 bytes at once"), "{error}");
}

/// A text of 41 MB, which is more than there is room for: its row is passed over, by each codec, in a page of texts and in a dictionary, also
/// where it stands before its page and at the file's end, too.
#[test]
fn a_text_that_no_page_has_room_for_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let texts: Vec<Option<Vec<u8>>> = ["x", "z", "", "y", "x"]
        .map(|text| {
            let text = if text == "z" { "z".repeat(42_000_000) } else { text.to_owned() };
            Some(text.into_bytes())
        })
        .into();
    let plain = |way: &Way| way.encoding == Encoding::PLAIN && !way.dictionary;
    let second = |way: &Way| way.version == WriterVersion::PARQUET_2_0;
    let chosen = |way: &Way| way.optional && (plain(way) || second(way));
    for way in ways_and_differences(1_000).into_iter().filter(chosen) {
        write(&path, &texts, way);
        let mut length = [0; 4];
        let mut file = File::open(&path).unwrap();
        file.seek(SeekFrom::End(-8)).unwrap();
        file.read_exact(&mut length).unwrap();
        assert!(u32::from_le_bytes(length) > 42_000_000);
        let mut rows = Rows::open(&path, Secrecy::Private, &Form::default()).unwrap();
        rows.choose(&["a", "n"]).unwrap();
        let mut seen = Vec::new();
        while rows.advance().unwrap() {
            seen.push(rows.text(0).unwrap().into_owned() + &rows.text(1).unwrap());
        }
        assert_eq!(
            (seen, rows.passed_over()),
            (["x0", "2", "y3", "x4"].map(str::to_owned).into(), 1)
        );
        let mut rows = Rows::open(&path, Secrecy::Public, &Form::default()).unwrap();
        rows.choose(&["a"]).unwrap();
        assert!(rows.advance().unwrap());
        let error = rows.advance().unwrap_err();
        assert_eq!(error.problem, TableProblem::LongRecord { most: MOST_RECORD });
    }
}

/// The smallest and the largest text of each of many row groups are 4 kB, and 40 MB all together: the end of the file is no longer for that.
#[test]
fn texts_of_row_groups_take_no_room() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let field = Type::primitive_type_builder("a", Physical::BYTE_ARRAY);
    let fields = vec![Arc::new(field.with_repetition(Repetition::REQUIRED).build().unwrap())];
    let schema = Type::group_type_builder("schema").with_fields(fields).build().unwrap();
    let settings = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_statistics_truncate_length(None)
        .set_offset_index_disabled(true)
        .set_statistics_enabled(EnabledStatistics::Chunk);
    let (file, settings) = (File::create(&path).unwrap(), Arc::new(settings.build()));
    let mut writer = SerializedFileWriter::new(file, schema.into(), settings).unwrap();
    let text = ByteArray::from(vec![b'a'; 4_096]);
    for _ in 0..5_000 {
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column
            .typed::<ByteArrayType>()
            .write_batch(std::slice::from_ref(&text), None, None)
            .unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    writer.close().unwrap();
    assert!(path.metadata().unwrap().len() > 40_000_000);
    let mut rows = Rows::open(&path, Secrecy::Private, &Form::default()).unwrap();
    rows.choose(&["a"]).unwrap();
    for _ in 0..5_000 {
        assert!(rows.advance().unwrap());
        assert_eq!(rows.text(0).unwrap().len(), 4_096);
    }
    assert!(!rows.advance().unwrap());
}

/// A small file of which one page is a single text of 300 MB.
#[test]
fn a_text_that_is_small_in_the_file_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let put = |text: &mut dyn Write| {
        text.write_all(&[2, 0, 0, 0, 6, 1]).unwrap(); // Three that are there.
        text.write_all(&[1, 0, 0, 0, b'x']).unwrap();
        text.write_all(&300_000_000_u32.to_le_bytes()).unwrap();
        let million = vec![b'y'; 1_000_000];
        (0..300).for_each(|_| text.write_all(&million).unwrap());
        text.write_all(&[1, 0, 0, 0, b'z']).unwrap();
    };
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    put(&mut packer);
    let packed = packer.finish().unwrap();
    let gzip = (Compression::GZIP(GzipLevel::default()), packed);
    #[cfg_attr(not(feature = "zstd"), expect(unused_mut, reason = "zstd is one more"))]
    let mut pages = vec![gzip];
    #[cfg(feature = "zstd")]
    {
        let mut packer = zstd::Encoder::new(Vec::new(), 3).unwrap();
        // As large as at the highest level.
        packer.window_log(27).unwrap();
        put(&mut packer);
        let codec = Compression::ZSTD(parquet::basic::ZstdLevel::default());
        pages.push((codec, packer.finish().unwrap()));
    }
    for (codec, page) in pages {
        assert!(page.len() < 3_000_000);
        let bytes = [header(300_000_020, page.len(), 3), page].concat();
        let way = Way { codec, optional: true, ..ways(1_000)[0] };
        let most = usize::try_from(MOST_RECORD).unwrap() + 1;
        let texts = read(&path, &bytes, &way, Room::USUAL, most);
        let lengths: Vec<usize> = texts.unwrap().iter().map(Vec::len).collect();
        assert_eq!(lengths, [1, most, 1], "{codec}");
    }
}

/// The header of a page of plain texts in its first form.
fn header(unpacked: usize, packed: usize, values: u32) -> Vec<u8> {
    // Numbers are doubled, so that negative ones could stand between, and of seven bits a byte.
    let number = |value: u64| {
        let mut bytes = vec![0x15];
        let mut value = value << 1;
        while value >= 0x80 {
            bytes.push(value.to_le_bytes()[0] | 0x80);
            value >>= 7;
        }
        bytes.push(value.to_le_bytes()[0]);
        bytes
    };
    let sizes = [number(0), number(unpacked as u64), number(packed as u64)].concat();
    // Its fifth field: values, plain, and twice RLE.
    let kind = [number(values.into()), number(0), number(3), number(3)].concat();
    [sizes, vec![0x2c], kind, vec![0, 0]].concat()
}

/// The texts of a file of nothing but the pages of one column.
fn read(path: &Path, bytes: &[u8], way: &Way, room: Room, most: usize) -> Result<Vec<Vec<u8>>> {
    std::fs::write(path, bytes).unwrap();
    let unit = Type::primitive_type_builder("a", Physical::BYTE_ARRAY).build().unwrap();
    let path_in_file = ColumnPath::from("a");
    let unit = ColumnDescriptor::new(Arc::new(unit), i16::from(way.optional), 0, path_in_file);
    let chunk = ColumnChunkMetaData::builder(Arc::new(unit))
        .set_compression(way.codec)
        .set_data_page_offset(0)
        .set_total_compressed_size(i64::try_from(bytes.len()).unwrap())
        .build()?;
    let file = Bounded::new(File::open(path).unwrap());
    let pages = Pages::new(&file, &chunk, 1_000, (room, 1), most)?;
    let reader = get_column_reader(chunk.column_descr_ptr(), Box::new(pages));
    let ColumnReader::ByteArrayColumnReader(mut reader) = reader else { unreachable!("texts") };
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    while reader.read_records(1_000, Some(&mut levels), None, &mut values)?.0 > 0 {}
    Ok(values.iter().map(|value| value.data().to_vec()).collect())
}

const EXAMPLE: [&str; 4] = ["x", "", "longer", "yz"];

fn plain(texts: &[&str]) -> Vec<u8> {
    let with_length = |text: &&str| {
        let length = u32::try_from(text.len()).unwrap();
        [&length.to_le_bytes(), text.as_bytes()].concat()
    };
    texts.iter().flat_map(with_length).collect()
}

/// All values of small pages of so many bytes, which keep three bytes of a text.
fn parts(bytes: &[u8], levels: Option<&[u8]>, values: u32, present: u32) -> Result<String> {
    let bytes = Bytes::copy_from_slice(bytes);
    let texts = Texts::new(Compression::UNCOMPRESSED, bytes, 3)?;
    let levels = levels.map(|levels| Levels::new(Bytes::copy_from_slice(levels)));
    let mut pages = SmallPages::new(texts, levels, values, present, 8);
    let mut all = String::new();
    while let Some(page) = pages.next_page()? {
        let bytes = page.buffer().to_vec();
        let bytes = String::from_utf8_lossy(&bytes).replace('\u{fffd}', "?");
        write!(all, "{}{bytes:?} ", page.num_values()).unwrap();
    }
    Ok(all)
}

#[test]
fn a_page_is_divided_and_long_texts_are_cut() {
    let texts = plain(&EXAMPLE);
    insta::assert_snapshot!(parts(&texts, None, 4, 4).unwrap(), @r#"2"\u{1}\0\0\0x\0\0\0\0" 2"\u{3}\0\0\0lon\u{2}\0\0\0yz" "#);
    // Five levels: one run of two that are there, one of bits.
    insta::assert_snapshot!(parts(&texts, Some(&[4, 1, 3, 0b110]), 5, 4).unwrap(), @r#"2"\u{4}\0\0\0??\0\u{3}\u{1}\0\0\0x\0\0\0\0" 3"\u{4}\0\0\0??\0\u{6}\u{3}\0\0\0lon\u{2}\0\0\0yz" "#);
    // What is behind the last value is nobody's.
    assert_eq!(parts(&texts, Some(&[0, 1, 4, 0]), 2, 0).unwrap(), "2\"\\u{4}\\0\\0\\0??\\0\\0\" ");
    assert_eq!(parts(&texts, None, 0, 0).unwrap(), "");
    // Two to the thirty that are missing are pages of as many as a small one has, and no more.
    let mut pages = SmallPages::new(
        Texts::new(Compression::UNCOMPRESSED, Bytes::new(), 3).unwrap(),
        Some(Levels::new(Bytes::from_static(&[0x80, 0x80, 0x80, 0x80, 8, 0]))),
        1 << 30,
        1 << 30,
        8,
    );
    let page = pages.next_page().unwrap().unwrap();
    assert_eq!((page.num_values(), page.buffer().len()), (1 << 16, 4 + 3 + 8_192));
}

#[test]
fn a_page_that_is_not_as_it_says_is_damaged() {
    let texts = plain(&EXAMPLE);
    let same = [&[8, 1][..]];
    let damaged = |bytes: &[u8], levels: Option<&[u8]>, values, present| {
        let error = parts(bytes, levels, values, present).unwrap_err().to_string();
        assert!(error.contains("a page does not hold what it says"), "{error}");
    };
    assert!(parts(&texts, Some(same[0]), 4, 4).is_ok());
    for cut in 1..texts.len() {
        damaged(&texts[..cut], None, 4, 4);
        damaged(&texts[..cut], Some(same[0]), 4, 4);
    }
    damaged(&texts, None, 5, 5);
    damaged(&texts, None, 4, 3);
    damaged(&u32::MAX.to_le_bytes(), None, 1, 1);
    let levels: [&[u8]; 9] = [
        &[],
        &[8],
        &[6, 1],
        &[8, 2],
        &[8, 255],
        &[3],
        &[0, 0, 1],
        &[0x80; 30],
        &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
    ];
    for levels in levels {
        damaged(&texts, Some(levels), 4, 4);
    }
    for (length, bytes) in [(5, 4), (u32::MAX, 0), (1 << 20, 5)] {
        let bytes = [&u32::to_le_bytes(length)[..], &vec![0; bytes]].concat();
        let mut texts = Texts::new(Compression::UNCOMPRESSED, bytes.into(), 3).unwrap();
        assert!(!matches!(Levels::before(&mut texts, 1 << 20), Ok(Some(_))));
    }
    for (values, room) in [(5, 1_000), (u32::MAX, 1_000), (4, 100)] {
        let texts = Texts::new(Compression::UNCOMPRESSED, texts.clone().into(), 3).unwrap();
        assert!(!matches!(texts.dictionary(values, room), Ok(Some(_))));
    }
    // More than a few bytes of snappy can be.
    let long = Bytes::from_static(&[0xff, 0xff, 0xff, 0x7f, 0, 0]);
    assert!(Texts::new(Compression::SNAPPY, long, 3).is_err());
}

/// Pages of no values, large and small, are neither the end nor any rows.
#[test]
fn pages_of_no_values_are_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let way = Way { optional: false, ..ways(1_000)[0] };
    let page = |values, bytes: Vec<u8>| [header(bytes.len(), bytes.len(), values), bytes].concat();
    let bytes = [
        page(0, Vec::new()),
        page(1, plain(&["a"])),
        page(0, vec![7; 200_000]),
        page(4, plain(&[&EXAMPLE[..3], &[&"x".repeat(200_000)]].concat())),
        page(0, Vec::new()),
        page(1, plain(&["b"])),
    ];
    let texts = read(&path, &bytes.concat(), &way, SMALL, 100).unwrap();
    let lengths: Vec<usize> = texts.iter().map(Vec::len).collect();
    assert_eq!(lengths, [1, 1, 0, 6, 100, 1]);

    // A header with a list of two to the thirty-first numbers, which are not there.
    let mut endless = page(1, plain(&["a"]));
    endless.truncate(header(5, 5, 1).len() - 1);
    endless.extend([0x99, 0xf7, 0xff, 0xff, 0xff, 0xff, 7]);
    read(&path, &endless, &way, SMALL, 100).unwrap_err();
}

/// What a page says of the lengths of its texts, which are stored by their differences, is taken for nothing.
#[test]
fn differences_that_are_not_as_they_say_are_damaged() {
    let read = |encoding: Encoding, bytes: &[u8], most: u32| -> Result<Option<Vec<u8>>> {
        let bytes = Bytes::copy_from_slice(bytes);
        let mut texts = Texts::new(Compression::UNCOMPRESSED, bytes, 3)?;
        if !texts.by_differences(encoding, most, 40)? {
            return Ok(None);
        }
        Ok(texts.dictionary(3, 1_000)?.map(|texts| texts.to_vec()))
    };
    // Blocks of 128 in four; three numbers, the first of which is 4; differences from -4 on, in three bits: of 4 and 1.
    let lengths = |first: u8, bits: u8| {
        let block = [&[0x80, 1, 4, 3, first, 7, 3, 0, 0, 0, bits][..], &[0; 11]].concat();
        assert_eq!(block.len(), 22);
        block
    };
    let (simple, shared) = (Encoding::DELTA_LENGTH_BYTE_ARRAY, Encoding::DELTA_BYTE_ARRAY);
    let whole = [&lengths(8, 0b001_100)[..], b"longlongx"].concat();
    let want = b"\x03\0\0\0lon\x03\0\0\0lon\x01\0\0\0x";
    assert_eq!(read(simple, &whole, 3).unwrap().unwrap(), want);
    // Nothing in common, then 4 and 3 bytes: the last one is `longx`.
    let with_shared = [&lengths(0, 0b011_000)[..], &whole].concat();
    assert!(read(shared, &with_shared, 3).is_err());
    let in_common = [&[0x80, 1, 4, 3, 0, 1, 3, 0, 0, 0, 0b111_101][..], &[0; 11]].concat();
    let all = [&in_common[..], &lengths(8, 0b001_100), b"longlongx"].concat();
    assert!(read(shared, &all, 3).is_err(), "-1 + 5 and then 6 more are longer than the text");
    let in_common = [&[0x80, 1, 4, 3, 0, 1, 3, 0, 0, 0, 0b000_101][..], &[0; 11]].concat();
    let all = [&in_common[..], &lengths(8, 0b001_100), b"longlongx"].concat();
    let want = b"\x03\0\0\0lon\x03\0\0\0lon\x03\0\0\0lon";
    assert_eq!(read(shared, &all, 3).unwrap().unwrap(), want);
    for cut in 0..whole.len() {
        assert!(read(simple, &whole[..cut], 3).is_err());
    }
    assert!(read(simple, &whole, 2).is_err(), "more than there can be");
    // A length below 0, widths that no length has, blocks of no size.
    let heads: [&[u8]; 7] = [
        &lengths(7, 0),
        &lengths(8, 0),
        &[0x80, 1, 4, 3, 8, 7, 33, 0, 0, 0, 1],
        &[0, 4, 3, 8, 7, 3],
        &[0x80, 1, 0, 3, 8, 7, 3],
        &[0x80, 0x80, 0x80, 0x80, 1, 4, 3, 8],
        &[0xff; 20],
    ];
    for head in heads {
        assert!(read(simple, &[head, &[0; 40]].concat(), 3).is_err(), "{head:?}");
    }
    // Lengths that take more bytes than there is room for.
    let wide = [&[0x80, 1, 1, 3, 8, 0, 32][..], &[0; 600]].concat();
    assert!(read(simple, &wide, 3).unwrap().is_none());
}

/// Files with changed bytes are read or refused. Pages are read by themselves, so that no panic of theirs is taken for one of the reader of the format.
#[test]
fn changed_bytes_of_large_pages_are_read_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let room = Room { shared: 1_000, column: 200, dictionary: 4_000 };
    let texts: Vec<Option<Vec<u8>>> = (0..40)
        .map(|row| (row % 3 > 0).then(|| vec![b'a'; if row == 20 { 1_100 } else { row }]))
        .collect();
    for mut way in ways_and_differences(1_000) {
        way.optional = true;
        write(&path, &texts, way);
        let whole = std::fs::read(&path).unwrap();
        let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        let chunk = reader.metadata().row_group(0).column(0).clone();
        let (start, length) = chunk.byte_range();
        assert_eq!(rows(&path, room).unwrap().len(), 39);
        let mut file = File::options().write(true).open(&path).unwrap();
        for at in (start..start + length).step_by(3) {
            let before = whole[usize::try_from(at).unwrap()];
            // One of these for a byte, and another one for the next.
            let changed = match at / 3 % 6 {
                0 => 0,
                1 => before ^ 1,
                2 => 0xff,
                3 => 1,
                4 => before ^ 0x80,
                _ => 0x7f,
            };
            let mut put = |value: u8| {
                file.seek(SeekFrom::Start(at)).unwrap();
                file.write_all(&[value]).unwrap();
            };
            put(changed);
            let file = Bounded::new(File::open(&path).unwrap());
            let mut pages = Pages::new(&file, &chunk, 40, (room, 1), 1_001).unwrap();
            let mut values = 0_u64;
            while let Ok(Some(page)) = pages.get_next_page() {
                values += u64::from(page.num_values());
                assert!(page.buffer().len() < 4_000);
                if values > 1 << 20 {
                    break;
                }
            }
            let _: std::result::Result<_, TableProblem> = rows(&path, room);
            put(before);
        }
    }
}

/// Columns pause for themselves, some where a batch ends, and none of it is taken for the end.
#[test]
fn many_long_texts_are_read_a_few_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let texts = |number: usize, most: usize| -> Vec<Option<Vec<u8>>> {
        (0..number).map(|row| Some(vec![b'a'; row % most])).collect()
    };
    let (long, short) = (texts(3_000, 900), texts(20_000, 9));
    for (texts, rows_of_page) in [(&long, 1), (&long, 7), (&long, 3_000), (&short, 8_192)] {
        let way = Way { rows_of_page, optional: false, ..ways(1)[0] };
        write(&path, texts, way);
        for column in [1, 10_000, 50_000, 1 << 20] {
            let room = Room { shared: 200_000, column, dictionary: 1 << 20 };
            let rows = rows(&path, room).unwrap();
            assert_eq!(rows.len(), texts.len());
            assert!(rows.iter().zip(texts).all(|((_, text), want)| Some(text) == want.as_ref()));
        }
    }
}

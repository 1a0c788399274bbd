//! Memory of releases, measured by a counting allocator. Alone in their binary and one after the other, so that nothing else allocates meanwhile.
#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(clippy::disallowed_types, reason = "a lock holds nothing here")]

use clap::Parser;
use peak_alloc::PeakAlloc;
use quietus::cli::{Cli, Command};
use quietus::{Gate, RealDisk, release};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Mutex;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Held by the test that is being measured.
static ALONE: Mutex<()> = Mutex::new(());

/// What a release takes beyond what was there before.
fn used(home: &Path, number: usize, words: &str) -> usize {
    let files = format!("--data {0}/p.csv --out {0}/out{number} --no-ledger", home.display());
    let words = format!("quietus release {words} --simulations 0 {files}");
    let Command::Release { family } = Cli::parse_from(words.split_whitespace()).command else {
        unreachable!("it is a release")
    };
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    release(&family, &Gate::default(), &RealDisk).unwrap();
    ALLOCATOR.peak_usage() - before
}

/// From memory a release keeps all points, of three times eight bytes; by passes it takes the same few megabytes, whatever their number.
#[test]
fn by_passes_memory_does_not_grow_with_the_file() {
    let _alone = ALONE.lock().unwrap();
    let home = tempfile::tempdir().unwrap();
    let dpm = "cluster --method dpm --range x=0,1000 --range y=0,1000 --range z=0,1000 --epsilon 1 --delta 1e-6";
    let map = "map --range x=0,1000 --range y=0,1000 --unit m --k 2 --epsilon 1 --delta 1e-6";
    let kmeans =
        "cluster --k 4 --range x=0,1000 --range y=0,1000 --range z=0,1000 --epsilon 1 --delta 1e-6";
    let mut number = 0;
    // Of k-means, what the tables take grows with the rows for longer.
    for (words, rows) in [(dpm, 200_000), (map, 200_000), (kmeans, 400_000_u32)] {
        let mut peaks = Vec::new();
        for n in [1_000, rows] {
            let mut file = BufWriter::new(File::create(home.path().join("p.csv")).unwrap());
            file.write_all(b"x,y,z\n").unwrap();
            for i in 0..n {
                writeln!(file, "{},{},{}", i % 997, i % 499, i % 13).unwrap();
            }
            drop(file);
            for words in [words.to_owned(), format!("{words} --out-of-core")] {
                peaks.push(used(home.path(), number, &words));
                number += 1;
            }
        }
        let [_, few, memory, many] = peaks[..] else { unreachable!("four releases") };
        assert!(memory >= rows as usize * 16, "{peaks:?}: the allocator was not counting");
        // The tables depend on the released tree, which grows with the rows as far as there are levels.
        assert!(many < 8 << 20 && few < 8 << 20 && many < memory / 2, "{peaks:?}");
    }
}

/// Columns of one file: their pages, or their dictionary, are small in the file and large out of it.
#[cfg(feature = "parquet")]
mod bombs {
    use super::{ALLOCATOR, ALONE, Cli, Command, File, Gate, Parser, Path, RealDisk, release};
    use parquet::basic::{Compression, GzipLevel, Repetition, Type as Physical};
    use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int64Type};
    use parquet::file::{properties::WriterProperties, writer::SerializedFileWriter};
    use parquet::schema::types::Type;
    use std::sync::Arc;

    /// Writes a file of one column, all of it in one page or one dictionary.
    fn write<T: DataType>(
        path: &Path,
        (kind, codec, dictionary): (Physical, Compression, bool),
        values: impl Iterator<Item = Vec<T::T>>,
    ) {
        let field = Type::primitive_type_builder("a", kind).with_repetition(Repetition::REQUIRED);
        let fields = vec![Arc::new(field.build().unwrap())];
        let schema = Type::group_type_builder("schema").with_fields(fields).build().unwrap();
        let settings = WriterProperties::builder().set_compression(codec);
        let settings = settings.set_dictionary_enabled(dictionary);
        let settings = settings.set_data_page_size_limit(1 << 30);
        let settings = settings.set_data_page_row_count_limit(usize::MAX);
        let settings = settings.set_dictionary_page_size_limit(1 << 30).build();
        let file = File::create(path).unwrap();
        let mut writer = SerializedFileWriter::new(file, schema.into(), settings.into()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        for values in values {
            column.typed::<T>().write_batch(&values, None, None).unwrap();
        }
        column.close().unwrap();
        group.close().unwrap();
        writer.close().unwrap();
        assert!(std::fs::metadata(path).unwrap().len() < 12_000_000);
    }

    /// What a release of its counts takes, and why there is none.
    fn used(path: &Path, out: usize) -> (usize, Option<String>) {
        let words = format!(
            "quietus release count --by a --groups x --epsilon 1 --no-ledger --data {} --out {}",
            path.display(),
            path.with_file_name(format!("out{out}")).display()
        );
        let Command::Release { family } = Cli::parse_from(words.split_whitespace()).command else {
            unreachable!("it is a release")
        };
        let before = ALLOCATOR.current_usage();
        ALLOCATOR.reset_peak_usage();
        let error = release(&family, &Gate::default(), &RealDisk).err();
        (ALLOCATOR.peak_usage() - before, error.map(|error| error.to_string()))
    }

    /// 200 MB of texts, and of numbers. Texts are those of individuals and are read; numbers are refused before they take as much.
    #[test]
    fn a_parquet_bomb_ends_or_is_read_before_it_takes_the_memory() {
        let _alone = ALONE.lock().unwrap();
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("bomb.parquet");
        let gzip = Compression::GZIP(GzipLevel::default());
        let texts = |number: usize, length: usize| {
            (0..number).map(move |row| {
                let mut text = vec![b'x'; length];
                text[..4].copy_from_slice(
                    &u32::try_from(row).unwrap().to_le_bytes().map(|byte| byte & 0x7f),
                );
                vec![ByteArray::from(text)]
            })
        };
        // Snappy is unpacked as a whole; a dictionary is held, but for what is cut from its texts.
        let cases = [
            (gzip, false, 400, 500_000, 100),
            (gzip, false, 1, 200_000_000, 100),
            (Compression::SNAPPY, false, 400, 500_000, 260),
            (gzip, true, 400, 500_000, 300),
            (gzip, true, 1, 200_000_000, 100),
        ];
        for (case, (codec, dictionary, number, length, most)) in cases.into_iter().enumerate() {
            let way = (Physical::BYTE_ARRAY, codec, dictionary);
            write::<ByteArrayType>(&path, way, texts(number, length));
            let (peak, error) = used(&path, case);
            assert_eq!(error, None);
            assert!(peak < most * 1_000_000, "{case}: {peak}");
        }
        for (case, codec) in [gzip, Compression::SNAPPY].into_iter().enumerate() {
            let numbers = std::iter::repeat_n(vec![7; 1_000_000], 25);
            write::<Int64Type>(&path, (Physical::INT64, codec, false), numbers);
            let (peak, error) = used(&path, 100 + case);
            let error = error.unwrap();
            assert!(error.contains("a column takes more than 41943040 bytes at once"), "{error}");
            assert!(peak < 100_000_000, "{codec}: {peak}");
        }
    }
}

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
    for words in [dpm, map, kmeans] {
        let mut peaks = Vec::new();
        for n in [1_000_u32, 400_000] {
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
        assert!(memory >= 400_000 * 16, "{peaks:?}: the allocator was not counting");
        // The tables depend on the released tree, which grows with the rows as far as there are levels.
        assert!(many < 6 << 20 && few < 6 << 20 && many < memory / 2, "{peaks:?}");
    }
}

/// Pages that are small in the file and large out of it: one page of 200 MB in gzip or snappy, and a dictionary of as much.
#[cfg(feature = "parquet")]
#[test]
fn a_parquet_bomb_ends_before_it_takes_the_memory() {
    use parquet::basic::{Compression, GzipLevel, Repetition, Type as Physical};
    use parquet::data_type::{ByteArray, ByteArrayType};
    use parquet::file::{properties::WriterProperties, writer::SerializedFileWriter};
    use parquet::schema::types::Type;

    let _alone = ALONE.lock().unwrap();
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("bomb.parquet");
    let field = Type::primitive_type_builder("a", Physical::BYTE_ARRAY);
    let field = field.with_repetition(Repetition::REQUIRED).build().unwrap();
    let schema = Type::group_type_builder("schema").with_fields(vec![field.into()]);
    let schema = std::sync::Arc::new(schema.build().unwrap());
    let gzip = Compression::GZIP(GzipLevel::default());
    for (codec, dictionary) in [(gzip, false), (Compression::SNAPPY, false), (gzip, true)] {
        let settings = WriterProperties::builder().set_compression(codec);
        let settings = settings.set_dictionary_enabled(dictionary);
        let settings = settings.set_data_page_size_limit(1 << 30);
        let settings = settings.set_dictionary_page_size_limit(1 << 30).build();
        let file = File::create(&path).unwrap();
        let mut writer = SerializedFileWriter::new(file, schema.clone(), settings.into()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        for row in 0..400_u32 {
            let mut text = vec![b'x'; 500_000];
            text[..4].copy_from_slice(&row.to_le_bytes().map(|byte| byte & 0x7f));
            let text = [ByteArray::from(text)];
            column.typed::<ByteArrayType>().write_batch(&text, None, None).unwrap();
        }
        column.close().unwrap();
        group.close().unwrap();
        writer.close().unwrap();
        assert!(std::fs::metadata(&path).unwrap().len() < 12_000_000);
        let before = ALLOCATOR.current_usage();
        ALLOCATOR.reset_peak_usage();
        let words = format!(
            "quietus release count --by a --groups x --epsilon 1 --no-ledger --data {} --out {}",
            path.display(),
            home.path().join("out").display()
        );
        let Command::Release { family } = Cli::parse_from(words.split_whitespace()).command else {
            unreachable!("it is a release")
        };
        let error = release(&family, &Gate::default(), &RealDisk).unwrap_err().to_string();
        assert!(error.contains("a column takes more than 41943040 bytes at once"), "{error}");
        let peak = ALLOCATOR.peak_usage() - before;
        assert!(peak < 100_000_000, "{codec} {dictionary}: {peak}");
    }
}

//! Files that nobody should write: each is read or refused, without a panic, and soon.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, in its helpers too")]

use clap::Parser;
use dp_mechanism::ChaCha20Rng;
use peak_alloc::PeakAlloc;
use quietus::check;
use quietus::cli::{Cli, Command, Family};
use rand::{RngExt, SeedableRng};
use std::fs;

/// How many files; `QUIETUS_FUZZ_FILES=100000` takes some minutes.
fn files() -> usize {
    std::env::var("QUIETUS_FUZZ_FILES").map_or(4_000, |text| text.parse().expect("a number"))
}

/// Memory that a small file may take, in the process, beyond what was there before. Alone in its binary, so that nothing else allocates.
const MOST_MEMORY: usize = 100 << 20;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

const WORDS: [&str; 8] = [
    "count --by a --groups x,y --epsilon 1 --data FILE",
    "histogram --of b --bounds 0,10 --bins 3 --person a --epsilon 1 --data FILE",
    "mean --of b --bounds -1,1 --by a --groups x --delimiter semicolon --decimal-comma --epsilon 1 --data FILE",
    "cluster --range a=0,1 --range b=-5,1e9 --k 2 --epsilon 1 --data FILE",
    "coverage --k 1 --person a --set b --sets x,y --epsilon 1 --data FILE",
    "map --range a=0,1 --range b=-5,1e9 --unit m --within 3 --rows 2 --k 2 --epsilon 1 --delta 1e-6 --data FILE",
    "census --regions REGIONS --units UNITS --data FILE --largest 3 --epsilon 1 --column unit=a --column person=b",
    "census --regions REGIONS --table FILE --groups 2 --largest 3 --epsilon 1 --column region=a --column size=b --column groups=c",
];

const PIECES: [&[u8]; 24] = [
    b"a",
    b"b",
    b"c",
    b"x",
    b"y",
    b",",
    b";",
    b"\"",
    b"\"\"",
    b"\n",
    b"\r\n",
    b"\r",
    b"\xef\xbb\xbf",
    b"\xff",
    b"\0",
    b"1",
    b"-9e999",
    b"0,5",
    b"NaN",
    b" ",
    b"\t",
    b"99999999999999999999",
    b"GA",
    b"a,b,c\n",
];

#[test]
fn any_file_is_read_or_refused() {
    let home = tempfile::tempdir().unwrap();
    let path = |name: &str| home.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("regions.csv"), "region,parent\nUS,\nGA,US\n").unwrap();
    fs::write(path("units.csv"), "unit,region\nx,GA\ny,GA\n").unwrap();
    let families: Vec<Family> = ["p.csv", "p.csv.gz"]
        .into_iter()
        .flat_map(|file| WORDS.map(|words| (words, file)))
        .map(|(words, file)| {
            let words =
                words.replace("REGIONS", &path("regions.csv")).replace("UNITS", &path("units.csv"));
            let words = format!("quietus check {}", words.replace("FILE", &path(file)));
            let Command::Check { family } = Cli::parse_from(words.split_whitespace()).command
            else {
                unreachable!("a check");
            };
            family
        })
        .collect();
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let (mut read, mut refused) = (0, 0);
    let files = files();
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    for number in 0..files {
        let mut bytes = Vec::new();
        if rng.random_range(0..4) > 0 {
            bytes.extend_from_slice(if number % 6 == 2 { b"a;b;c\n" } else { b"a,b,c\n" });
        }
        for _ in 0..rng.random_range(0..40) {
            bytes.extend_from_slice(PIECES[rng.random_range(0..PIECES.len())]);
        }
        fs::write(path("p.csv"), &bytes).unwrap();
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut packed, &bytes).unwrap();
        let mut packed = packed.finish().unwrap();
        if rng.random_range(0..2) == 0 {
            let at = rng.random_range(0..packed.len());
            packed[at] ^= 1 << rng.random_range(0..8);
        }
        fs::write(path("p.csv.gz"), &packed).unwrap();
        match check(&families[number % families.len()]) {
            Ok(text) => {
                assert!(text.starts_with("PRIVATE: "));
                read += 1;
            }
            Err(error) => {
                assert!(error.to_string().lines().count() == 1, "{error}");
                refused += 1;
            }
        }
    }
    let memory = ALLOCATOR.peak_usage() - before;
    assert!(memory < MOST_MEMORY, "{memory} bytes");
    assert!(read > files / 10 && refused > files / 10, "{read} read, {refused} refused");
}

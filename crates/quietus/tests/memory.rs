//! Memory of releases by passes, measured by a counting allocator. Alone in its binary, so that no other test allocates meanwhile.
#![allow(clippy::unwrap_used, reason = "tests")]

use clap::Parser;
use peak_alloc::PeakAlloc;
use quietus::cli::{Cli, Command};
use quietus::{Gate, RealDisk, release};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

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

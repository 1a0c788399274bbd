//! The corpus, and some changed inputs, through each target: `QUIETUS_FUZZ=10000 cargo test --release -p quietus-fuzz` changes so many of each.

use libtest_mimic::{Arguments, Failed, Trial};
use peak_alloc::PeakAlloc;
use quietus_fuzz::{TARGETS, Target};
use std::fs;
use std::path::Path;

/// Memory that one input may take.
const MOST_MEMORY: usize = 100 << 20;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

fn main() {
    let number = |name: &str, usual: u64| -> u64 {
        std::env::var(name).map_or(usual, |text| text.parse().expect("a number"))
    };
    let (times, first) = (number("QUIETUS_FUZZ", 100), number("QUIETUS_FUZZ_FROM", 0));
    let mut arguments = Arguments::from_args();
    // Memory is counted for the whole process.
    arguments.test_threads = Some(1);
    let trial =
        |target: Target| Trial::test(target.name, move || feed(&target, first..first + times));
    let trials = TARGETS.into_iter().flatten().map(|target| trial(*target)).collect();
    libtest_mimic::run(&arguments, trials).exit();
}

/// What is run now is always in a file, so that it is there whatever becomes of the process.
fn feed(target: &Target, numbers: std::ops::Range<u64>) -> Result<(), Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let current = folder.join(target.name);
    let run = |input: &[u8]| -> Result<bool, Failed> {
        fs::write(&current, input)?;
        let before = ALLOCATOR.current_usage();
        ALLOCATOR.reset_peak_usage();
        let outcome = std::panic::catch_unwind(|| (target.run)(input));
        let memory = ALLOCATOR.peak_usage().saturating_sub(before);
        match outcome {
            Ok(_) if memory > MOST_MEMORY => {
                Err(format!("{memory} bytes of memory for {}", current.display()).into())
            }
            Ok(used) => Ok(used),
            Err(_) => Err(format!("the input is in {}", current.display()).into()),
        }
    };
    let mut paths: Vec<_> = fs::read_dir(target.folder())?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    paths.sort();
    let corpus: Vec<Vec<u8>> = paths.iter().map(fs::read).collect::<Result<_, _>>()?;
    let mut used = 0;
    for input in &corpus {
        used += u32::from(run(input)?);
    }
    if used == 0 {
        let say = "is used: the files are of another version, and `cargo run -p quietus-fuzz` writes new ones";
        return Err(format!("none of {} {say}", target.folder().display()).into());
    }
    let (mut refused, all) = (0, numbers.end - numbers.start);
    for number in numbers {
        let whole = &corpus[usize::try_from(number).unwrap_or(0) % corpus.len()];
        let changed = target.changed(whole, number);
        let is_used = run(&changed)?;
        refused += u64::from(!is_used);
    }
    let finds_nothing = refused == 0 || refused == all;
    if all > 20 && finds_nothing {
        return Err(
            format!("of {all} changed inputs {refused} were refused: none says anything").into()
        );
    }
    fs::remove_file(&current)?;
    Ok(())
}

//! The tool as a user meets it: messages on stderr and exit codes.

use std::path::Path;
use std::process::{Command, Output};

fn xtask(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask")).args(words).output().expect("it was just built")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Runs and expects exit code 1 with this one line on stderr.
fn refused(words: &[&str]) -> String {
    let output = xtask(words);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    text.trim_end().to_owned()
}

fn path(path: &Path) -> &str {
    path.to_str().expect("temporary folders have plain names")
}

#[test]
fn an_unknown_suite_is_answered_with_those_that_exist() {
    insta::assert_snapshot!(
        refused(&["eval", "kmedian"]),
        @"error: there is no suite `kmedian`; these exist: dpm, robust, submodular, set-cover, k-median, distance, stable, local, heavy-hitters, census"
    );
}

#[test]
fn a_bad_epsilon_is_refused_before_anything_runs() {
    for (epsilon, shown) in [("0", "0"), ("-1", "-1"), ("NaN", "NaN"), ("1e9", "1000000000")] {
        let message = refused(&["eval", "dpm", "--epsilon", epsilon]);
        let want = "error: --epsilon: epsilon must be finite and > 0 and at most 100, got ";
        assert_eq!(message, format!("{want}{shown}"));
    }
}

#[test]
fn an_out_that_is_a_file_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("out");
    std::fs::write(&file, "precious").unwrap();
    let message = refused(&["eval", "dpm", "--quick", "--out", path(&file)]);
    assert!(message.ends_with("out is not a folder"), "{message}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious");
}

#[test]
fn results_of_another_seed_are_not_mixed_in_and_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("results.jsonl");
    let line = concat!(
        r#"{"suite":"dpm","dataset":"synth-10d","n":100000,"d":10,"algorithm":"dpm","variant":"default","#,
        r#""private":true,"relation":"add-remove","epsilon":1.0,"delta":3.2e-8,"params":{},"run":0,"seed":7,"#,
        r#""metrics":{},"seconds":0.1,"peak_rss_mib":null,"paper":{}}"#,
        "\n"
    );
    std::fs::write(&file, line).unwrap();
    let message = refused(&["eval", "dpm", "--resume", "--out", path(folder.path())]);
    let message = message.replace(path(folder.path()), "OUT");
    insta::assert_snapshot!(message, @"error: cannot resume: OUT/results.jsonl, line 1 was made with seed = 7, this run has 1; repeat the earlier settings, choose another --out, or leave out --resume");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), line);
}

#[test]
fn importing_from_nowhere_or_from_an_empty_folder_is_an_error() {
    let (empty, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let message = refused(&["data", "import", path(empty.path()), "--to", path(to.path())]);
    assert!(message.ends_with("holds no file of datasets/manifest.toml"), "{message}");
    let nowhere = empty.path().join("nowhere");
    let message = refused(&["data", "import", path(&nowhere), "--to", path(to.path())]);
    assert!(message.ends_with("nowhere is not a folder"), "{message}");
}

#[test]
fn a_corrupt_file_is_refused_and_not_copied() {
    let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::create_dir(from.path().join("letter")).unwrap();
    std::fs::write(from.path().join("letter/letter.csv.gz"), "not it").unwrap();
    let output = xtask(&["data", "import", path(from.path()), "--to", path(to.path())]);
    assert_eq!(output.status.code(), Some(1));
    let message = stderr(&output);
    assert!(message.contains("letter.csv.gz is refused: sha256 is "), "{message}");
    assert!(stdout(&output).contains("0 copied"), "{}", stdout(&output));
    assert!(!to.path().join("letter").exists());
}

#[test]
fn the_list_names_generated_and_real_sets() {
    let empty = tempfile::tempdir().unwrap();
    let output = xtask(&["data", "list", "--datasets", path(empty.path())]);
    let text = stdout(&output);
    assert!(output.status.success());
    for name in ["synth-10d", "synth-100d", "letter", "gas_turbine"] {
        assert!(text.lines().any(|line| line.starts_with(name)), "{text}");
    }
}

#[test]
fn a_generated_set_is_the_same_file_each_time() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let made = [&first, &second].map(|folder| {
        let words = ["data", "generate", "synth-10d", "--n", "640", "--to", path(folder.path())];
        assert!(xtask(&words).status.success());
        std::fs::read(folder.path().join("synth-10d/synth-10d.csv.gz")).unwrap()
    });
    assert!(!made[0].is_empty() && made[0] == made[1]);
    let message = refused(&["data", "generate", "letter"]);
    assert!(message.ends_with("these exist: synth-10d, synth-100d, census-synthetic"), "{message}");
}

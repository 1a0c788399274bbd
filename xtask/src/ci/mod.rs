//! `cargo xtask ci`: exactly what CI runs. Each step is named, echoed and timed; the first failure
//! ends it, and the command that failed can be repeated as it was printed.

mod browser;
mod dependencies;
mod layers;
mod links;
pub(crate) mod metadata;
mod readme;
mod toolchain;
mod tools;

use crate::Ending;
use crate::bench::cargo;
use crate::cli::CiArgs;
use crate::error::Error;
use quietus_datasets::{files, workspace};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// One step: a cargo command, or a check of our own.
struct Step {
    name: &'static str,
    work: Work,
}

enum Work {
    /// Words after `cargo`, and environment variables to set.
    Cargo(&'static str, &'static [(&'static str, &'static str)]),
    /// The same in the folder of the engine.
    Engine(&'static str, &'static [(&'static str, &'static str)]),
    /// Returns what is wrong; empty means that nothing is.
    Check(fn() -> Result<Vec<String>, Error>),
    /// The check with the oldest supported compiler.
    OldestCompiler,
    /// What the README tells people to run, as written there.
    Readme,
}

/// Steps that build in release mode name the package `xtask`, too: with its features the crates are built already.
const STEPS: [Step; 17] = [
    Step { name: "format", work: Work::Cargo("fmt --all -- --check", &[]) },
    Step {
        name: "lints",
        work: Work::Cargo(
            "clippy --workspace --all-targets --features quietus/parquet -- -D warnings",
            &[],
        ),
    },
    Step { name: "layers and documents", work: Work::Check(layers::check_workspace) },
    Step { name: "links", work: Work::Check(links::check_workspace) },
    Step { name: "spelling", work: Work::Check(tools::spelling) },
    Step { name: "book", work: Work::Check(tools::book) },
    Step { name: "dependencies", work: Work::Check(dependencies::check_workspace) },
    Step { name: "advisories", work: Work::Check(tools::advisories) },
    // What a registry would be sent: metadata, licences, files, versions of our own crates. The builds are those of the other steps.
    Step {
        name: "packages",
        work: Work::Cargo("publish --workspace --dry-run --no-verify --allow-dirty", &[]),
    },
    Step { name: "oldest compiler", work: Work::OldestCompiler },
    Step { name: "commands of the README", work: Work::Readme },
    Step { name: "examples", work: Work::Check(readme::run_examples) },
    // What the evaluation two steps before has written.
    Step { name: "report in a browser", work: Work::Check(browser::check_report) },
    // These draw more when optimised.
    Step {
        name: "statistics, optimised",
        work: Work::Cargo(
            "test --release -p xtask -p dp-noise -p dp-stream --test statistics --test stream",
            &[],
        ),
    },
    Step {
        name: "documentation",
        work: Work::Cargo("doc --workspace --no-deps", &[("RUSTDOCFLAGS", "-D warnings")]),
    },
    Step {
        name: "benches, once each",
        // With the builds of the tests: nothing is measured here. Written so, a shell leaves the star to cargo.
        work: Work::Cargo("test --workspace --bench=* -- --test", &[]),
    },
    // The claims are tests, so they have been run with the others: what they found is put together.
    Step { name: "audit", work: Work::Cargo("xtask audit --found target/claims", &[]) },
];

/// Of the crate for an engine, which has a lock file and a build of its own that takes longer than all other steps: `cargo xtask ci engine`.
const ENGINE_STEPS: [Step; 5] = [
    Step { name: "format", work: Work::Engine("fmt --all -- --check", &[]) },
    Step { name: "tests", work: Work::Engine("test --locked -F workers,statements", &[]) },
    Step { name: "example", work: Work::Engine("run --locked --example people", &[]) },
    Step {
        name: "lint",
        work: Work::Engine("clippy --all-targets -F workers,statements -- -D warnings", &[]),
    },
    Step {
        name: "documentation",
        work: Work::Engine("doc --locked --no-deps -F workers", &[("RUSTDOCFLAGS", "-D warnings")]),
    },
];

/// What they are asked for by.
const ENGINE_NAME: &str = "engine";

/// Their folder.
const ENGINE: &str = "engines/dp-datafusion";

/// Where the tests leave what the claims found; the audit reads it.
const CLAIMS: &str = "target/claims";

/// Runs all steps, or those asked for.
pub(crate) fn command(args: &CiArgs) -> Result<Ending, Error> {
    let start = Instant::now();
    let asked = |step: &&Step| args.step.as_ref().is_none_or(|part| step.name.contains(part));
    let steps: Vec<&Step> = match args.step.as_deref() {
        Some(ENGINE_NAME) => ENGINE_STEPS.iter().collect(),
        _ => STEPS.iter().filter(asked).collect(),
    };
    if steps.is_empty() {
        let part = args.step.as_deref().unwrap_or_default();
        return Err(Error::unknown(
            "step",
            part,
            STEPS.iter().map(|step| step.name).chain([ENGINE_NAME]),
        ));
    }
    for (step, number) in steps.iter().zip(1..) {
        println!("\n[{number}/{}] {}", steps.len(), step.name);
        let step_start = Instant::now();
        let passed = run(&step.work)?;
        let seconds = step_start.elapsed().as_secs_f64();
        if !passed {
            eprintln!("error: step `{}` failed after {seconds:.1} s", step.name);
            return Ok(Ending::Incomplete);
        }
        println!("      {} passed in {seconds:.1} s", step.name);
    }
    println!("\nall {} steps passed in {:.0} s", steps.len(), start.elapsed().as_secs_f64());
    Ok(Ending::Complete)
}

fn run(work: &Work) -> Result<bool, Error> {
    let root = workspace::root();
    match work {
        Work::Cargo(words, variables) => run_command(&root, cargo(), "cargo", words, variables),
        Work::Engine(words, variables) => {
            run_command(&root.join(ENGINE), cargo(), "cargo", words, variables)
        }
        Work::Check(check) => Ok(tell(&check()?)),
        Work::Readme => {
            let commands = readme::commands()?;
            let mut passed = tell(&readme::complaints(&commands));
            // Nothing that an earlier run has left may count.
            let folder = root.join(CLAIMS);
            if folder.exists() {
                std::fs::remove_dir_all(&folder).map_err(Error::io("remove", &folder))?;
            }
            files::create_folder(&folder)?;
            // Tests run in the folder of their crate, two below the root.
            let reports = format!("../../{CLAIMS}");
            for words in &commands {
                passed = passed
                    && run_command(
                        &root,
                        cargo(),
                        "cargo",
                        words,
                        &[("DP_AUDIT_REPORTS", &reports)],
                    )?;
            }
            Ok(passed)
        }
        Work::OldestCompiler => match toolchain::plan()? {
            toolchain::Plan::SameAsCurrent(version) => {
                println!("      this compiler is {version}, the oldest supported: already checked");
                Ok(true)
            }
            toolchain::Plan::Check(words) => {
                run_command(&root, Command::new("rustup"), "rustup", &words, &[])
            }
        },
    }
}

/// Prints the complaints; true if there are none.
fn tell(complaints: &[String]) -> bool {
    for complaint in complaints {
        eprintln!("error: {complaint}");
    }
    complaints.is_empty()
}

fn run_command(
    folder: &Path,
    mut command: Command,
    program: &str,
    words: &str,
    variables: &[(&str, &str)],
) -> Result<bool, Error> {
    let set = variables.iter().map(|(name, value)| format!("{name}=\"{value}\""));
    let echo: Vec<String> = set.chain([program.to_owned(), words.to_owned()]).collect();
    println!("      {}", echo.join(" "));
    let status = command
        .args(words.split(' '))
        .envs(variables.iter().copied())
        .current_dir(folder)
        .status()
        .map_err(|error| Error::Process {
            command: program.to_owned(),
            reason: format!("cannot be started: {error}"),
        })?;
    Ok(status.success())
}

#[cfg(test)]
mod tests {
    use super::{ENGINE, ENGINE_NAME, ENGINE_STEPS, STEPS, Work};
    use quietus_datasets::workspace;
    use std::collections::BTreeSet;

    #[test]
    fn every_step_has_a_name_of_its_own_and_the_audit_comes_after_all_claims() {
        let names: BTreeSet<_> = STEPS.iter().map(|step| step.name).collect();
        assert_eq!(names.len(), STEPS.len());
        assert!(matches!(
            STEPS[STEPS.len() - 1].work,
            Work::Cargo("xtask audit --found target/claims", _)
        ));
    }

    #[test]
    fn words_can_be_split_at_spaces() {
        for step in &STEPS {
            if let Work::Cargo(words, _) = step.work {
                assert!(!words.contains('"') && !words.contains("  "), "{words}");
            }
        }
    }

    /// Its crates may not come into the workspace's lock, nor its build into the workspace's steps.
    #[test]
    fn the_engine_has_a_workspace_of_its_own() {
        let text = |path: &str| std::fs::read_to_string(workspace::root().join(path)).unwrap();
        let own = text(&format!("{ENGINE}/Cargo.toml"));
        assert!(own.lines().any(|line| line == "[workspace]"));
        assert!(text(&format!("{ENGINE}/Cargo.lock")).contains("name = \"datafusion\""));
        assert!(!text("Cargo.lock").contains("name = \"datafusion\""));
        assert!(ENGINE_STEPS.iter().all(|step| matches!(step.work, Work::Engine(..))));
        assert!(!STEPS.iter().any(|step| matches!(step.work, Work::Engine(..))));
        assert!(!STEPS.iter().any(|step| step.name.contains(ENGINE_NAME)));
    }
}

//! Releases through `DataFusion`, against those from memory.

mod bad_input;
mod codec;
mod counted_twice;
mod groups;
mod kept;
mod leaves;
mod refused;
mod same_bytes;
#[cfg(feature = "statements")]
mod statements;
mod support;
#[cfg(all(feature = "workers", unix))]
mod workers;

/// So the program of the README compiles, as it is an example.
#[test]
fn the_program_of_the_readme_is_the_example() {
    let readme = include_str!("../../README.md");
    let program = readme.split("```rust\n").nth(1).and_then(|rest| rest.split("```\n").next());
    let lint = "#[expect(clippy::print_stdout, reason = \"it shows a release\")]\n";
    assert_eq!(program, Some(&*include_str!("../../examples/people.rs").replace(lint, "")));
}

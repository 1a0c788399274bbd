//! Evaluation, audits, data, benchmarks and CI of the workspace.
fn main() {}

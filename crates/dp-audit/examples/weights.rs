//! A mechanism of one's own before the auditor: right, and with the slip of a sensitivity that is too small.
//!
//! `cargo run --release -p dp-audit --example weights`
#![allow(clippy::print_stdout, reason = "a program that prints what it finds")]

use dp_accounting::{AddRemove, Budget, Epsilon, Receipt, Step};
use dp_audit::{Audit, hostile};
use dp_mechanism::{Algorithm, Draws, MechanismError, NoisyCount, Private};

/// How many of all are above a limit; `weight` says how often each is counted, for which there is no noise.
struct Above {
    count: NoisyCount,
    limit: i64,
    weight: u64,
}

impl Algorithm for Above {
    type Relation = AddRemove;
    type Data<'a> = &'a [i64];
    /// Nothing about the data is public.
    type Shape = ();
    type Output = i64;
    type Error = MechanismError;

    fn cost(&self) -> Receipt<AddRemove> {
        let budget = Budget::new(0.5, 0.0).expect("valid");
        Receipt::new("above", AddRemove, budget, Step::spend("count", self.count.loss()))
    }

    fn shape(_: &&[i64]) {}

    fn check(&self, (): &()) -> Result<(), MechanismError> {
        Ok(())
    }

    fn run(&self, values: Private<&[i64]>, draws: &mut Draws<'_>) -> i64 {
        let (limit, weight) = (self.limit, self.weight);
        let above = values.map(|all| weight * all.iter().filter(|x| **x > limit).count() as u64);
        self.count.release(above, &mut draws.leaf("count", 0))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let count = NoisyCount::geometric(Epsilon::new(0.5)?)?;
    let audit = Audit::new(hostile::integers());
    for weight in 1..=3 {
        let report = audit.run(&Above { count, limit: 10, weight }, |values, run| run(values));
        let verdict = if report.stands() { "stands" } else { "does NOT stand" };
        println!("everybody counts as {weight}: the claim {verdict}\n{report}\n");
    }
    Ok(())
}

//! Claims beside the code: what a crate's own `claims` test target is made of.
//!
//! A crate that promises something puts its checks, and mutants that break them, into a folder `claims/` with a
//! test target of its own:
//!
//! ```toml
//! [dev-dependencies]
//! dp-audit.workspace = true
//!
//! [[test]]
//! name = "claims"
//! path = "claims/main.rs"
//! harness = false
//! ```
//!
//! and a `claims/main.rs` that hands a [`Suite`] to [`main`]. `cargo test -p CRATE` then tries every claim and
//! every mutant at quick effort; `cargo xtask audit` runs the targets of all crates and merges what they
//! report. How much of each claim is reached is kept beside them, in `claims/tightness.toml`: a check that sees less than it
//! used to fails too, since it has become blind. A check is a function that goes through cases and keeps the worst:
//!
//! ```
//! use dp_accounting::Epsilon;
//! use dp_audit::harness::{Check, Effort, Found};
//! use dp_audit::{Method, Window, exact_law};
//! use dp_mechanism::{Draws, NoisyCount};
//!
//! fn count(effort: Effort) -> Found {
//!     let count = NoisyCount::geometric(Epsilon::new(0.7).expect("valid")).expect("positive");
//!     let mut found = Found::claim(count.loss().pure().expect("geometric is pure").get());
//!     let law = |n| exact_law(Window::new(-30, 30), |source| {
//!         count.release(n, &mut Draws::unplanned(source))
//!     }).without_receipt(); // the primitive on its own; a plan is compared `under` its relation
//!     for n in 0..effort.of(8, 60) {
//!         let (a, b) = (law(n), law(n + 1));
//!         found.see(a.pure_loss(&b).max(b.pure_loss(&a)), || format!("counts {n} and {}", n + 1));
//!     }
//!     found
//! }
//!
//! let check = Check::new("count", "NoisyCount", "add-remove", Method::Exact, count);
//! let claim = check.claim("dp-mine", Effort::quick());
//! assert!(claim.pass && claim.tightness > 0.99);
//! ```
//!
//! This module and nothing else in this crate reads arguments, files and clocks, and prints.

mod check;
mod credit;
mod lines;
mod main;
mod mutants;
mod sources;
mod suite;
mod tightness;
pub mod toys;

pub(crate) use check::panic_message;
pub use check::{Check, Effort, Found, TOLERANCE};
pub use credit::added_loss;
pub use lines::{claim_line, mutant_line, summary};
pub use main::main;
pub use mutants::{MutantCheck, MutantCode, MutantRow, mutants};
pub use sources::releasing_types;
pub use suite::Suite;

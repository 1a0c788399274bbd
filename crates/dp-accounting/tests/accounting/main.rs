//! What the crate promises, seen from outside.

#![allow(clippy::disallowed_methods, reason = "tests compare plain numbers")]
#![allow(clippy::float_cmp, reason = "rounding is part of what is promised")]
#![allow(clippy::unwrap_used, reason = "a test may stop; the entry or case is in the message")]
#![allow(clippy::excessive_precision, reason = "reference values keep the digits they came with")]

mod adversary;
mod composition;
mod conversions;
mod corners;
mod evidence;
mod files;
mod filters;
mod gaussian;
mod golden;
mod ledger;
mod meaning;
mod odd_arguments;
mod oracle;
mod parameters;
mod properties;
mod receipts;
mod refusals;
mod soundness;

use approx::assert_abs_diff_eq;
use dp_accounting::{Budget, Delta, Epsilon, Loss, Mu, Rho, Step};

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).expect("a valid epsilon")
}

fn delta(value: f64) -> Delta {
    Delta::new(value).expect("a valid delta")
}

fn rho(value: f64) -> Rho {
    Rho::new(value).expect("a valid rho")
}

fn mu(value: f64) -> Mu {
    Mu::new(value).expect("a valid mu")
}

fn budget(epsilon: f64, delta: f64) -> Budget {
    Budget::new(epsilon, delta).expect("a valid budget")
}

fn pure(value: f64) -> Loss {
    Loss::Pure { epsilon: epsilon(value) }
}

fn range(value: f64) -> Loss {
    Loss::BoundedRange { eta: epsilon(value) }
}

fn zcdp(value: f64) -> Loss {
    Loss::Zcdp { rho: rho(value) }
}

fn gaussian(value: f64) -> Loss {
    Loss::Gaussian { mu: mu(value) }
}

fn approximate(e: f64, d: f64) -> Loss {
    Loss::Approximate { epsilon: epsilon(e), delta: delta(d) }
}

fn step(loss: Loss) -> Step {
    Step::spend("step", loss)
}

#[track_caller]
fn close(got: f64, want: f64, relative: f64) {
    assert_abs_diff_eq!(got, want, epsilon = relative * want.abs());
}

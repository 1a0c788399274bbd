//! Tests of counts against a secret threshold, as the first part of a stream of queries that ends at the first success.

use dp_accounting::{Epsilon, Loss};
use dp_audit::harness::{Check, Effort, Found};
use dp_audit::{Method, Window, exact_law};
use dp_mechanism::{CountTest, DiscreteLaplace, Draws, Noise, Ratio};

pub(super) fn checks() -> Vec<Check> {
    vec![Check::new(
        "count-test-first",
        "CountTest: the first count to reach a secret threshold",
        "add-remove",
        Method::Exact,
        first,
    )]
}

/// One unit of loss for the threshold and one for the test that succeeds: a record raises all counts or lowers all (Lyu, Su, Li 2017, Theorem 5).
/// Against a threshold without noise, silence costs too, and the loss grows with the number of tests.
fn first(effort: Effort) -> Found {
    let each = 0.5;
    let scale = Ratio::new(2, 1).expect("two over one");
    let noise = Noise::Laplace(DiscreteLaplace::new(scale).expect("positive"));
    let loss = Loss::Pure { epsilon: Epsilon::new(each).expect("valid") };
    let test = CountTest::new(noise, "tests", loss);
    let mut found = Found::claim(2.0 * each);
    let law = |counts: &[u64]| {
        exact_law(Window::new(-40, 40), |source| {
            let draws = &mut Draws::unplanned(source);
            let threshold = test.secret(3, draws);
            counts.iter().position(|&count| test.reaches(count, threshold, draws))
        })
        .without_receipt()
    };
    let tests = effort.of(4, 6);
    for base in 0..effort.of(5, 9) {
        let counts = vec![base; tests];
        let without = law(&counts);
        for shows_up in 0..1_u32 << tests {
            let with: Vec<u64> = (0..tests).map(|i| base + u64::from(shows_up >> i & 1)).collect();
            let with = law(&with);
            let loss = without.pure_loss(&with).max(with.pure_loss(&without));
            found.see(loss, || format!("counts of {base}, one more where {shows_up:b} says so"));
        }
    }
    found
}

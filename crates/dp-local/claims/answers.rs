//! Checks of one answer: its exact law for every record that it could be about.

use dp_accounting::{Epsilon, ReplaceOne};
use dp_audit::harness::{Check, Effort, Found};
use dp_audit::{Audit, BigRational, Method, RationalLaw, Window, exact_rational_law};
use dp_local::{
    CellAnswer, CodebookVector, FrequencyOracle, HadamardResponse, LocalHashing, Mechanism, Part,
    PublicCoins,
};
use dp_mechanism::{Ratio, Source};

pub(crate) fn checks() -> Vec<Check> {
    let exact = |id: &str, mechanism: &str, run: fn(Effort) -> Found| {
        Check::new(id, mechanism, "replace-one", Method::Exact, run)
    };
    vec![
        exact("local-hashing-law", "CellAnswer of LocalHashing", hashing),
        exact("local-hadamard-law", "CellAnswer of HadamardResponse", hadamard),
        exact("local-vector-law", "VectorAnswer of CodebookVector", vectors),
        exact("local-answers-receipt", "CellAnswer and VectorAnswer, receipts", receipts),
    ]
}

pub(crate) const EPSILONS: [f64; 4] = [0.1, 1.0, 2.0, 4.0];

pub(crate) fn epsilon(x: f64) -> Epsilon {
    Epsilon::new(x).expect("valid")
}

/// The law of symbols in rational arithmetic.
pub(crate) fn rational_law(run: impl Fn(&mut dyn Source) -> u32) -> RationalLaw<u32> {
    let unit = Ratio::new(1, 1).expect("one over one");
    exact_rational_law(unit, 3, Window::none(), run).under(ReplaceOne)
}

/// The largest ratio of any two of these laws as a power of the weight that is claimed: 1 if it is that weight to the last digit, infinite
/// if it is above or if the weight is above `e^epsilon`.
pub(crate) fn see_all(
    found: &mut Found,
    asked: f64,
    weight: Ratio,
    laws: &[RationalLaw<u32>],
    text: impl Fn() -> String,
) {
    let weight = BigRational::new(weight.numerator().into(), weight.denominator().get().into());
    let within = weight <= exp_from_below(asked);
    for (a, b) in laws.iter().flat_map(|a| laws.iter().map(move |b| (a, b))) {
        let share = match a.largest_ratio(b) {
            Some(ratio) if within && ratio == weight => 1.0,
            Some(ratio) if within && ratio < weight => 0.0,
            _ => f64::INFINITY,
        };
        found.see(share, &text);
    }
}

/// The first terms of the series of `e^x`, in exact arithmetic.
fn exp_from_below(x: f64) -> BigRational {
    let x = BigRational::from_float(x).expect("finite");
    let one = BigRational::from_integer(1.into());
    let (mut sum, mut term) = (one.clone(), one);
    for i in 1..40_u32 {
        term = term * &x / BigRational::from_integer(i.into());
        sum += &term;
    }
    sum
}

fn see_oracle(found: &mut Found, asked: f64, oracle: &impl FrequencyOracle) {
    for class in 0..oracle.classes() {
        // Cells that there are, and two that there are not.
        let laws: Vec<_> = (0..oracle.cells())
            .chain([oracle.cells(), u32::MAX])
            .map(|cell| {
                rational_law(|source| CellAnswer::new(oracle, class).replay(cell, source).0)
            })
            .collect();
        see_all(found, asked, oracle.response().weight(), &laws, || {
            format!("class {class} of {} cells at {asked}", oracle.cells())
        });
    }
}

fn hashing(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    for asked in EPSILONS {
        for symbols in effort.of(vec![2, 3, 16], (2..=16).collect()) {
            let coins = PublicCoins::new(effort.seed);
            let oracle = LocalHashing::with_sizes(epsilon(asked), 9, symbols, 4, coins);
            see_oracle(&mut found, asked, &oracle.expect("valid settings"));
        }
    }
    found
}

fn hadamard(_effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    for asked in EPSILONS {
        for cells in [1, 2, 7, 8] {
            let oracle = HadamardResponse::new(epsilon(asked), cells).expect("valid settings");
            see_oracle(&mut found, asked, &oracle);
        }
    }
    found
}

/// Vectors of all kinds: none, too long, not numbers, on an axis, alike up to rounding.
pub(crate) const VECTORS: [&[f64]; 9] = [
    &[],
    &[1.0, 0.0, 0.0],
    &[-1.0, 0.0, 0.0],
    &[0.1, -0.2, 0.3],
    &[0.1, -0.2, 0.300_001],
    &[f64::NAN, 1.0, f64::INFINITY],
    &[1e300, -1e300, 5.0],
    &[0.0, 0.0, 1e-300],
    &[2.0, 2.0, 2.0, 2.0, 2.0],
];

fn vectors(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    for asked in EPSILONS {
        for symbols in effort.of(vec![2, 4, 16], (2..=16).chain([256]).collect()) {
            let coins = PublicCoins::new(effort.seed);
            let question = CodebookVector::new(epsilon(asked), 3, symbols, 3, coins);
            let question = question.expect("valid settings");
            for book in 0..3 {
                let laws: Vec<_> = VECTORS
                    .iter()
                    .flat_map(|values| [0, 1, 3, usize::MAX].map(|first| Part { first, values }))
                    .map(|part| rational_law(|source| question.answer(book).replay(part, source).0))
                    .collect();
                see_all(&mut found, asked, question.response().weight(), &laws, || {
                    format!("{symbols} symbols at {asked}, book {book}")
                });
            }
        }
    }
    found
}

/// The auditor that takes a mechanism at the word of its receipt, on one record that becomes any other.
fn receipts(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let coins = PublicCoins::new(effort.seed);
    for asked in EPSILONS {
        let hashing = LocalHashing::new(epsilon(asked), 9, 1_000, coins).expect("valid settings");
        let hadamard = HadamardResponse::new(epsilon(asked), 9).expect("valid settings");
        let audit = Audit::new([0_u32, 3, 8, u32::MAX]).sizes([1]).effort(effort);
        let audits = [
            audit.run(&CellAnswer::new(&hashing, 2), |cells, run| run(cells[0])),
            audit.run(&CellAnswer::new(&hadamard, 6), |cells, run| run(cells[0])),
        ];
        let question = CodebookVector::new(epsilon(asked), 3, effort.of(64, 256), 3, coins);
        let question = question.expect("valid settings");
        let vectors = Audit::new(VECTORS).sizes([1]).effort(effort);
        let vectors = vectors.run(&question.answer(1), |records, run| run(Part::whole(records[0])));
        for findings in audits.into_iter().chain([vectors]) {
            found = found.and(findings.found());
        }
    }
    found
}

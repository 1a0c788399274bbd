//! Deliberately broken answers, each with its corrected twin. What each one is stands in `mutants.toml`.

use dp_accounting::Epsilon;
use dp_audit::harness::{Effort, Found, MutantCheck};
use dp_audit::{Window, exact_law};
use dp_local::{CellAnswer, CodebookVector, LocalHashing, Mechanism, Part, PublicCoins};
use dp_mechanism::{Coin, Ratio, Source, SparseScores, SubsetResponse};

pub(crate) fn all() -> Vec<MutantCheck> {
    let code: [dp_audit::harness::MutantCode; 4] = [
        ("M81", |effort| subset(effort, 1), |effort| subset(effort, 6)),
        ("M82", |effort| absent(effort, true), |effort| absent(effort, false)),
        ("M83", |effort| groups(effort, 2), |effort| groups(effort, 1)),
        ("M84", |effort| classes(effort, true), |effort| classes(effort, false)),
    ];
    dp_audit::harness::mutants(include_str!("mutants.toml"), &code)
}

const EPSILON: f64 = 1.0;

fn epsilon() -> Epsilon {
    Epsilon::new(EPSILON).expect("valid")
}

/// The exact losses of what is sent for any two of these records.
fn losses<R, O: Ord + Clone>(records: &[R], send: impl Fn(&R, &mut dyn Source) -> O) -> Found {
    let mut found = Found::claim(EPSILON);
    let laws: Vec<_> = records
        .iter()
        .map(|record| exact_law(Window::none(), |source| send(record, source)))
        .collect();
    for (i, a) in laws.iter().enumerate() {
        for (j, b) in laws.iter().enumerate() {
            found.see(a.pure_loss(b), || format!("records {i} and {j}"));
        }
    }
    found
}

/// 16 symbols, of which the first `favoured` of a ranking share the probability that is meant for 6.
fn subset(_: Effort, favoured: u64) -> Found {
    let meant = SubsetResponse::new(epsilon(), 16, 6).expect("valid");
    let above = meant.weight().numerator() * 6;
    let all = above + meant.weight().denominator().get() * 10;
    let coin = Coin::Rational(Ratio::new(above, all).expect("small"));
    let any = Ratio::new(1, 1).expect("one over one");
    losses(&[0_u64, 3, 8], |first, source| {
        let top = source.keep(coin);
        let (start, among) = if top { (0, favoured) } else { (favoured, 16 - favoured) };
        (first + start + source.choose_sparse(&SparseScores::new(among, []), any)) % 16
    })
}

/// A client whose record is outside of the box, or who has none, says nothing.
fn absent(effort: Effort, silent: bool) -> Found {
    let coins = PublicCoins::new(effort.seed);
    let question = CodebookVector::new(epsilon(), 2, 16, 1, coins).expect("valid");
    let records: [&[f64]; 3] = [&[0.5, 0.1], &[-0.3, 0.9], &[]];
    losses(&records, |values, source| {
        (!silent || !values.is_empty())
            .then(|| question.answer(0).replay(Part::whole(values), source).0)
    })
}

/// A client who is in so many groups answers as often.
fn groups(effort: Effort, groups: usize) -> Found {
    let coins = PublicCoins::new(effort.seed);
    let oracle = LocalHashing::with_sizes(epsilon(), 6, 4, 2, coins).expect("valid");
    losses(&[0_u32, 1, 2, 3, 4, 5], |cell, source| {
        let answer = CellAnswer::new(&oracle, 0);
        (0..groups).map(|_| answer.replay(*cell, source).0).collect::<Vec<_>>()
    })
}

/// The class, which the server must know to decode, is the cell's instead of the client's.
fn classes(effort: Effort, of_the_cell: bool) -> Found {
    let coins = PublicCoins::new(effort.seed);
    let oracle = LocalHashing::with_sizes(epsilon(), 6, 4, 2, coins).expect("valid");
    losses(&[0_u32, 1, 2, 3, 4, 5], |cell, source| {
        let class = if of_the_cell { cell % 2 } else { 1 };
        (class, CellAnswer::new(&oracle, class).replay(*cell, source).0)
    })
}

//! Thousands of random questions.

use crate::queries::{Ask, Cases, Query, Verdict, sides};

/// Asks `number` questions about mixes of one family and returns how many answers hold; none may be wrong.
fn ask(family: u32, number: u32, seed: u64, keep: impl Fn(&Query) -> bool) -> u32 {
    let mut cases = Cases::new(seed);
    let (mut holds, mut asked) = (0, 0);
    while asked < number {
        let query = Query::random(&mut cases, family);
        if !keep(&query) {
            continue;
        }
        asked += 1;
        let bound = query.answer();
        match query.verdict(sides(bound)) {
            Verdict::Holds => holds += 1,
            Verdict::Open(_) => {}
            Verdict::Broken(why) => panic!("{query:?}: {bound}: {why}"),
        }
    }
    holds
}

#[test]
fn lattices() {
    assert!(ask(1, 1000, 1, |_| true) >= 990);
    assert!(ask(6, 200, 6, |_| true) >= 190);
}

#[test]
fn gaussians_alone_up_to_a_thousand_million_uses() {
    assert!(ask(5, 1000, 5, |_| true) >= 990);
}

#[test]
fn gaussians_with_atoms() {
    // The few that take long are those of discrete Gaussians that hardly ever move.
    let quick = |query: &Query| !format!("{query:?}").contains("DiscreteGaussian { variance: 0.");
    assert!(ask(2, 60, 2, quick) >= 55);
}

#[test]
fn one_use_of_laplace_noise() {
    let one = |query: &Query| matches!(&query.parts[..], [(dp_check::Law::Laplace { .. }, 1)]);
    assert!(ask(3, 200, 3, one) >= 195);
}

/// Both directions, and the worse of them; deltas that a float can hold.
#[test]
fn one_sampled_use() {
    let usual = |query: &Query| matches!(query.ask, Ask::Epsilon { delta } if delta > 1e-14);
    assert!(ask(4, 500, 4, usual) >= 490);
}

//! The check itself: answers that are off by a thousand-millionth, for the wrong direction, or of a law with mass left out, are caught.

use dp_accounting::{Direction, Epsilon};
use dp_check::{Law, Side};

use crate::queries::{Ask, Cases, Query, Truth, Verdict, composition, effort, sides};

fn is_broken(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Broken(_))
}

#[test]
fn a_side_that_is_off_by_a_thousand_millionth() {
    let mut cases = Cases::new(9);
    let mut caught = 0;
    for i in 0..300 {
        let query = Query::random(&mut cases, [1, 4, 5][i % 3]);
        let bound = query.answer();
        // Only where the answer is exact enough for the mistake to be one.
        if bound.lower() <= 0.0 || bound.gap() > 1e-10 * bound.lower() || bound.upper() > 0.999 {
            continue;
        }
        if let Ask::Epsilon { delta } = query.ask
            && delta < 1e-14
        {
            continue;
        }
        let [lower, upper] = sides(bound);
        let low = query.verdict([lower * (1.0 - 2e-9), upper * (1.0 - 1e-9)]);
        let high = query.verdict([lower * (1.0 + 1e-9), upper * (1.0 + 2e-9)]);
        // Next to the last atom of a law, a curve falls at once: neighbours of epsilon then have far-away deltas, on one side at least.
        assert!(is_broken(&low) && is_broken(&high), "{query:?}: {bound}: {low:?} {high:?}");
        caught += 1;
    }
    assert!(caught > 100, "{caught} were exact enough");
}

#[test]
fn the_wrong_direction() {
    let of = Box::new(Law::Laplace { scale: 0.5 });
    let parts = [(Law::Sampled { rate: 0.1, of }, 1)];
    let all = composition(&parts).expect("in range");
    let ask = Epsilon::new(0.05).expect("valid");
    let [remove, add] = [Side::Remove, Side::Add]
        .map(|side| Truth::new(&parts, &[side], effort(1e-6)).expect("one use"));
    for (truth, right, wrong) in
        [(remove, Direction::Remove, Direction::Add), (add, Direction::Add, Direction::Remove)]
    {
        assert_eq!(truth.check_delta(0.05, sides(all.delta_in(right, ask))), Verdict::Holds);
        assert!(is_broken(&truth.check_delta(0.05, sides(all.delta_in(wrong, ask)))));
    }
}

#[test]
fn mass_that_was_left_out() {
    let whole = [(Law::Approximate { epsilon: 0.5, delta: 1e-9 }, 3)];
    let without = [(Law::RandomisedResponse { epsilon: 0.5 }, 3)];
    let truth = Truth::new(&whole, &[Side::Remove], effort(1e-6)).expect("four atoms");
    let at = Epsilon::new(1.0).expect("valid");
    let [right, wrong] =
        [&whole, &without].map(|parts| sides(composition(parts).expect("in range").delta(at)));
    assert_eq!(truth.check_delta(1.0, right), Verdict::Holds);
    assert!(is_broken(&truth.check_delta(1.0, wrong)));
}

#[test]
fn one_use_less() {
    for law in [
        Law::DiscreteGaussian { variance: 3.0, sensitivity: 1 },
        Law::Gaussian { multiplier: 40.0 },
        Law::RandomisedResponse { epsilon: 0.01 },
    ] {
        let query =
            |count| Query { parts: vec![(law.clone(), count)], ask: Ask::Epsilon { delta: 1e-6 } };
        assert!(is_broken(&query(10).verdict(sides(query(9).answer()))), "{law:?}");
        assert!(is_broken(&query(10).verdict(sides(query(11).answer()))), "{law:?}");
    }
}

//! Totals against the exact trade-off of small laws, written out output by output.

use dp_accounting::{Delta, Loss, ReplaceOne, Step};

use crate::{approximate, delta, pure, range, step};

/// The two laws of one step, output by output: `(P, Q)`.
type Pair = Vec<(f64, f64)>;

/// The worst `epsilon`-pure pair.
fn response(epsilon: f64) -> Pair {
    let truth = 1.0 / (1.0 + (-epsilon).exp());
    vec![(truth, 1.0 - truth), (1.0 - truth, truth)]
}

/// The worst `(epsilon, delta)` pair: with probability `delta` each side shows itself.
fn leaky_response(epsilon: f64, delta: f64) -> Pair {
    let scale = |p: f64| (1.0 - delta) * p;
    let mut pair: Pair = response(epsilon).iter().map(|&(p, q)| (scale(p), scale(q))).collect();
    pair.extend([(delta, 0.0), (0.0, delta)]);
    pair
}

/// A bad pair of bounded range `eta`: log-ratios `t` and `t - eta`.
fn ranged(eta: f64, t: f64) -> Pair {
    let q = (1.0 - (t - eta).exp()) / (t.exp() - (t - eta).exp());
    vec![(q * t.exp(), q), (1.0 - q * t.exp(), 1.0 - q)]
}

/// The law of two independent steps.
fn product(one: &Pair, two: &Pair) -> Pair {
    one.iter().flat_map(|(p, q)| two.iter().map(move |(r, s)| (p * r, q * s))).collect()
}

/// The exact delta at `epsilon`.
fn exact(pair: &Pair, epsilon: f64) -> f64 {
    pair.iter().map(|(p, q)| (p - epsilon.exp() * q).max(0.0)).sum()
}

#[track_caller]
fn holds(laws: &[Pair], spent: &Step, at: &[f64]) {
    let law = laws.iter().fold(vec![(1.0, 1.0)], |all, one| product(&all, one));
    for &d in at {
        if let Some(claimed) = spent.epsilon(delta(d)) {
            let got = exact(&law, claimed.get());
            assert!(got <= d + NOISE, "claimed {claimed} at {d}, exact delta {got}");
        }
    }
}

/// Rounding of the oracle itself, which adds up plain products.
const NOISE: f64 = 1e-13;

const AT: [f64; 6] = [0.0, 1e-9, 1e-6, 1e-3, 0.05, 0.3];

#[test]
fn sequences_of_pure_steps() {
    for e in [0.05, 0.3, 1.0, 3.0] {
        for k in [1, 2, 5, 12] {
            let spent = Step::sequential("all", vec![step(pure(e)); k]);
            holds(&vec![response(e); k], &spent, &AT);
        }
    }
}

#[test]
fn sequences_of_bounded_range_steps() {
    for eta in [0.1, 1.0, 4.0] {
        for t in [0.1, 0.3, 0.5, 0.7, 0.9] {
            let spent = Step::sequential("all", vec![step(range(eta)); 10]);
            holds(&vec![ranged(eta, t * eta); 10], &spent, &AT);
        }
    }
}

#[test]
fn mixtures_with_approximate_steps() {
    for d in [1e-7, 1e-4, 0.02] {
        let losses: Vec<Loss> =
            [pure(0.3); 5].into_iter().chain([approximate(0.5, d), approximate(0.2, d)]).collect();
        let laws: Vec<Pair> = std::iter::repeat_n(response(0.3), 5)
            .chain([leaky_response(0.5, d), leaky_response(0.2, d)])
            .collect();
        let spent = Step::sequential("all", losses.into_iter().map(step).collect());
        holds(&laws, &spent, &AT);
        // Two leaks of d give almost 2 d: less delta must not be claimed to suffice.
        assert_eq!(spent.epsilon(delta(1.9 * d)), None);
    }
}

#[test]
fn the_oracle_can_refute() {
    let law = (0..5).fold(vec![(1.0, 1.0)], |all, _| product(&all, &response(0.3)));
    let claimed = Step::sequential("all", vec![step(pure(0.3)); 4]).epsilon(Delta::ZERO).unwrap();
    assert!(exact(&law, claimed.get()) > 0.01, "five steps are not four");
}

#[test]
fn a_move_between_parts_under_replace_one() {
    // The two parts that a record leaves and enters, five steps each; the third part never sees it.
    let part = |e: f64| Step::sequential("part", vec![step(pure(e)); 5]);
    let spent = Step::parallel("parts", vec![part(0.3), part(0.1), part(0.2)]);
    let laws = [vec![response(0.3); 5], vec![response(0.2); 5]].concat();
    let law = laws.iter().fold(vec![(1.0, 1.0)], |all, one| product(&all, one));
    for d in AT {
        let claimed = spent.epsilon_under::<ReplaceOne>(delta(d)).unwrap().get();
        assert!(exact(&law, claimed) <= d + NOISE, "{claimed} at {d}");
        let one_part = spent.epsilon(delta(d)).unwrap().get();
        assert!(exact(&law, one_part) > d || d > 1e-6, "charging one part would be wrong");
    }
}

/// The law of `centre` plus noise with the given weights on `-3..=3`, on the outputs `-5..=5`.
fn shifted(centre: i32, weight: impl Fn(i32) -> f64) -> Vec<f64> {
    let total: f64 = (-3..=3).map(&weight).sum();
    (-5..=5)
        .map(|out: i32| out - centre)
        .map(|noise| if noise.abs() <= 3 { weight(noise) / total } else { 0.0 })
        .collect()
}

#[test]
fn groups_along_a_chain_of_three_neighbours() {
    // Truncated noise on a count of 0, 1, 2: neither end knows all outputs of the other.
    let e: f64 = 0.5;
    let laws = [0, 1, 2].map(|centre| shifted(centre, |z| (-e * f64::from(z.abs())).exp()));
    let pair = |i: usize, j: usize| -> Pair {
        laws[i].iter().copied().zip(laws[j].iter().copied()).collect()
    };
    let one = [(0, 1), (1, 0), (1, 2), (2, 1)].map(|(i, j)| exact(&pair(i, j), e));
    let d = one.into_iter().fold(0.0, f64::max);
    let Loss::Approximate { epsilon, delta } = approximate(e, d).scaled_to_group(2) else {
        panic!("stays approximate")
    };
    let two = exact(&pair(0, 2), epsilon.get()).max(exact(&pair(2, 0), epsilon.get()));
    assert!(two <= delta.get() + NOISE, "{two} {delta}");
    assert!(two > 1.5 * d, "scaling epsilon alone would be wrong");
}

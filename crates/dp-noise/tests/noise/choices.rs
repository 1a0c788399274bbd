//! Laws of random indexes.

use dp_noise::{
    Geometric, Level, choose_exponentially, choose_level, noisy_max, noisy_max_with_value,
    permute_and_flip, reference,
};

use super::exact::{Interval, ONE, Tape, enumerate, exp_minus};
use super::{check, check_all_words, check_to, ratio};

const CASES: [(&[i64], u128, u128); 9] = [
    (&[7], 1, 1),
    (&[0, 0, 0], 2, 1),
    (&[0, 1], 1, 2),
    (&[-3, 2, 2, 0], 1, 3),
    (&[5, 9], 0, 1),
    (&[1, 3, 2, 3], 5, 4),
    (&[0, 40, -60], 1, 1),
    (&[0, 90, 50], 1, 40),
    (&[i64::MIN, i64::MAX], 1, 1),
];

fn gap(scores: &[i64], i: usize) -> u128 {
    scores.iter().max().expect("not empty").abs_diff(scores[i]).into()
}

#[test]
fn exponential_choices_have_their_probability() {
    for (scores, a, b) in CASES {
        let weight = |i: usize| exp_minus(gap(scores, i) * a, b);
        let total = (0..scores.len()).map(weight).reduce(Interval::plus).expect("not empty");
        let law = |i: usize| weight(i).divided_by(total);
        let name = format!("choice {scores:?} at {a}/{b}");
        check_all_words!(
            &name,
            |tape| choose_exponentially(tape, scores, ratio(a, b)).unwrap(),
            law
        );
        let plain =
            |tape: &mut Tape| reference::choose_exponentially(tape, scores, ratio(a, b)).unwrap();
        if gap(scores, 0) < 100 {
            check(&name, plain, law);
        }
    }
}

#[test]
fn levels_have_the_probability_of_all_their_candidates() {
    /// Levels with their numbers of candidates, then the rate as a fraction.
    type Case = (&'static [(i64, u64)], u128, u128);
    const LEVELS: [Case; 8] = [
        (&[(7, 3)], 1, 1),
        (&[(0, 1), (0, 2), (0, 5)], 2, 1),
        (&[(1, 1), (0, 20)], 1, 2),
        (&[(9, 0), (2, 3), (-1, 0), (0, 7)], 1, 3),
        (&[(5, 2), (9, 1)], 0, 1),
        (&[(30, 1), (0, 1 << 40)], 1, 1),
        (&[(i64::MAX, 1), (i64::MIN, 2)], 1, 1),
        // Further apart than an i64 holds, and not far at this rate.
        (&[(i64::MAX, 1), (i64::MIN, 2)], 1, 1 << 63),
    ];
    for (levels, a, b) in LEVELS {
        let levels: Vec<Level> =
            levels.iter().map(|&(score, candidates)| Level { score, candidates }).collect();
        let occupied = levels.iter().filter(|level| level.candidates > 0);
        let best = occupied.map(|level| level.score).max().expect("not empty");
        let weight = |i: usize| {
            let Level { score, candidates } = levels[i];
            let gap = if candidates > 0 { best.abs_diff(score) } else { 0 };
            exp_minus(u128::from(gap) * a, b).times(Interval::ratio(candidates.into(), 1))
        };
        let total = (0..levels.len()).map(weight).reduce(Interval::plus).expect("not empty");
        let law = |i: usize| weight(i).divided_by(total);
        let name = format!("levels {levels:?} at {a}/{b}");
        check_all_words!(&name, |tape| choose_level(tape, &levels, ratio(a, b)).unwrap(), law);
    }
}

/// `Pr[i]` by the definition: `i` is taken at a place of the order if its coin comes up and all
/// coins before it did not; averaged over all orders.
fn permute_and_flip_law(scores: &[i64], a: u128, b: u128, taken: usize) -> Interval {
    fn walk(left: &[usize], accept: &dyn Fn(usize) -> Interval, taken: usize) -> Interval {
        let mut sum = Interval::ratio(0, 1);
        for &i in left {
            let rest: Vec<usize> = left.iter().copied().filter(|&j| j != i).collect();
            let here = if i == taken {
                accept(i)
            } else if rest.is_empty() {
                Interval::ratio(0, 1)
            } else {
                accept(i).complement().times(walk(&rest, accept, taken))
            };
            sum = sum.plus(here.times(Interval::ratio(1, left.len() as u128)));
        }
        sum
    }
    let all: Vec<usize> = (0..scores.len()).collect();
    walk(&all, &|i| exp_minus(gap(scores, i) * a, b), taken)
}

#[test]
fn permute_and_flip_has_its_law() {
    for (scores, a, b) in CASES {
        check_all_words!(
            &format!("permute and flip {scores:?} at {a}/{b}"),
            |tape| permute_and_flip(tape, scores, ratio(a, b)).unwrap(),
            |i| permute_and_flip_law(scores, a, b, i)
        );
    }
}

/// `Pr[(i, v)]`: index `i` has noisy score `v`, those before it less and those after it at most.
fn noisy_max_law(scores: &[i64], t: u128, s: u128, (i, v): (usize, i128)) -> Interval {
    let below = |c: usize, bound: i128| {
        // Pr[q_c + X <= bound] = 1 - exp(-(bound - q_c + 1) s/t)
        let steps = u128::try_from(bound - i128::from(scores[c]) + 1).unwrap_or(0);
        exp_minus(steps * s, t).complement()
    };
    let steps = u128::try_from(v - i128::from(scores[i])).expect("noise is not negative");
    let own = exp_minus(steps * s, t).times(exp_minus(s, t).complement());
    let others = (0..scores.len()).filter(|&c| c != i);
    others.fold(own, |p, c| p.times(below(c, if c < i { v - 1 } else { v })))
}

#[test]
fn noisy_max_and_its_value_have_their_law() {
    let cases: [(&[i64], u128, u128); 5] =
        [(&[4], 1, 1), (&[0, 0], 1, 2), (&[2, 0], 1, 1), (&[-1, 1], 3, 2), (&[1, 0, 1], 1, 2)];
    for (scores, t, s) in cases {
        let noise = Geometric::new(ratio(t, s)).expect("valid");
        let name = format!("noisy max {scores:?} at {t}/{s}");
        let sampler = |tape: &mut Tape<3>| noisy_max_with_value(tape, scores, noise).unwrap();
        check_to(22, &name, sampler, |pair| noisy_max_law(scores, t, s, pair));
        if scores.len() == 2 {
            let index = |i: usize| {
                let values = scores[i].into()..60_i128;
                let terms = values.map(|v| noisy_max_law(scores, t, s, (i, v)));
                terms.reduce(Interval::plus).expect("not empty")
            };
            check_to(
                22,
                &name,
                |tape: &mut Tape<3>| noisy_max(tape, scores, noise).unwrap(),
                index,
            );
        }
    }
}

/// The stated factor on the law of the program: all ratios within `exp(d/b)`, to within the mass
/// not attributed; the value is bounded from the lower to the higher scores and not back.
#[test]
fn noisy_max_keeps_its_guarantee_for_scores_that_only_rise() {
    let noise = Geometric::new(ratio(1, 1)).expect("valid");
    let factor = exp_minus(1, 1); // d = 1, b = 1
    let pairs: [(&[i64], &[i64]); 4] =
        [(&[0, 0], &[1, 0]), (&[3, 1], &[3, 2]), (&[1, 1], &[2, 2]), (&[0, 2], &[1, 2])];
    for (low, high) in pairs {
        let index = |scores: &[i64]| {
            enumerate(18, |tape: &mut Tape<3>| noisy_max(tape, scores, noise).unwrap())
        };
        let (p, q) = (index(low), index(high));
        for (i, &mass) in &p.found {
            let other = q.found[i];
            assert!(mass * factor.low / ONE <= other + q.unresolved, "{low:?} to {high:?}");
            assert!(other * factor.low / ONE <= mass + p.unresolved, "{high:?} to {low:?}");
        }
        let valued = |scores: &[i64]| {
            enumerate(18, |tape: &mut Tape<3>| noisy_max_with_value(tape, scores, noise).unwrap())
        };
        let (p, q) = (valued(low), valued(high));
        for (pair, &mass) in &q.found {
            let before = p.found.get(pair).copied().unwrap_or(0);
            assert!(mass * factor.low / ONE <= before + p.unresolved, "{pair:?}");
        }
        let lost = p.found.iter().any(|(pair, &m)| m > ONE >> 8 && !q.found.contains_key(pair));
        assert_eq!(lost, high.iter().max() > low.iter().max(), "the other way is unbounded");
    }
}

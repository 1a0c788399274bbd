//! Laws of integer noise.

use dp_noise::{
    DiscreteGaussian, DiscreteLaplace, Geometric, TableGaussian, TimingSafeGeometric,
    TimingSafeLaplace, TruncatedGeometric, TruncatedLaplace, reference,
};

use super::exact::{Interval, Tape, exp_minus};
use super::{check, check_all_words, ratio};

pub(crate) const SCALES: [(u128, u128); 6] = [(1, 3), (1, 2), (1, 1), (3, 2), (2, 1), (5, 1)];
const VARIANCES: [(u128, u128); 4] = [(1, 4), (1, 1), (2, 1), (7, 3)];

pub(crate) fn geometric_law(t: u128, s: u128) -> impl Fn(u128) -> Interval {
    move |x| exp_minus(x * s, t).times(exp_minus(s, t).complement())
}

pub(crate) fn laplace_law(t: u128, s: u128) -> impl Fn(i128) -> Interval {
    let a = exp_minus(s, t);
    move |z| exp_minus(z.unsigned_abs() * s, t).times(a.complement()).divided_by(a.plus_one())
}

/// Beyond `|z| = 30` the weights sum to less than `2^-200`, below the error carried anyway.
pub(crate) fn gaussian_law(a: u128, b: u128) -> impl Fn(i128) -> Interval {
    let weight = move |z: i128| exp_minus(z.unsigned_abs().pow(2) * b, 2 * a);
    let total = (-30..=30).map(weight).reduce(Interval::plus).expect("not empty");
    move |z| weight(z).divided_by(total)
}

#[test]
fn geometric_noise_has_its_law() {
    for (t, s) in SCALES {
        let name = format!("geometric {t}/{s}");
        let law = geometric_law(t, s);
        let noise = Geometric::new(ratio(t, s)).expect("valid");
        check(&name, |tape: &mut Tape<3>| noise.sample(tape), &law);
        let noise = TimingSafeGeometric::new(ratio(t, s)).expect("valid");
        check(&name, |tape: &mut Tape<3>| noise.sample(tape), &law);
        let noise = reference::Geometric::new(ratio(t, s)).expect("valid");
        check(&name, |tape: &mut Tape| noise.sample(tape), &law);
    }
}

#[test]
fn laplace_noise_has_its_law() {
    for (t, s) in SCALES {
        let name = format!("laplace {t}/{s}");
        let law = laplace_law(t, s);
        let noise = DiscreteLaplace::new(ratio(t, s)).expect("valid");
        check(&name, |tape: &mut Tape<3>| noise.sample(tape), &law);
        let noise = TimingSafeLaplace::new(ratio(t, s)).expect("valid");
        check(&name, |tape: &mut Tape<3>| noise.sample(tape), &law);
        let noise = reference::DiscreteLaplace::new(ratio(t, s)).expect("valid");
        check(&name, |tape: &mut Tape| noise.sample(tape), &law);
    }
}

#[test]
fn gaussian_noise_has_its_law() {
    for (a, b) in VARIANCES {
        let name = format!("gaussian {a}/{b}");
        let law = gaussian_law(a, b);
        let noise = DiscreteGaussian::new(ratio(a, b)).expect("valid");
        check(&name, |tape: &mut Tape<3>| noise.sample(tape), &law);
        let noise = reference::DiscreteGaussian::new(ratio(a, b)).expect("valid");
        check(&name, |tape: &mut Tape| noise.sample(tape), &law);
    }
}

#[test]
fn table_gaussian_noise_has_its_law() {
    for (a, b) in VARIANCES {
        let name = format!("table {a}/{b}");
        let law = gaussian_law(a, b);
        let noise = TableGaussian::new(ratio(a, b)).expect("valid");
        check(&name, |tape: &mut Tape<3>| noise.sample(tape), |z| law(z.into()));
    }
}

#[test]
fn truncated_laplace_noise_has_its_law() {
    // Below, at and above the scale, where the method changes, and the empty interval.
    for (t, s, m) in [(2, 1, 0), (2, 1, 1), (2, 1, 2), (3, 2, 1), (3, 2, 2), (1, 2, 3), (5, 1, 3)] {
        let weight = |z: i128| exp_minus(z.unsigned_abs() * s, t);
        let bound = i128::from(m);
        let total = (-bound..=bound).map(weight).reduce(Interval::plus).expect("not empty");
        let noise = TruncatedLaplace::new(ratio(t, s), m).expect("valid");
        check(
            &format!("laplace {t}/{s} within {m}"),
            |tape: &mut Tape<3>| noise.sample(tape),
            |z: i128| {
                assert!(z.abs() <= bound);
                weight(z).divided_by(total)
            },
        );
    }
}

#[test]
fn truncated_geometric_noise_has_its_law() {
    for (t, s, digits) in [(1, 1, 0), (1, 1, 1), (2, 1, 2), (1, 3, 3), (5, 2, 3), (40, 1, 2)] {
        let weight = |x: u64| exp_minus(u128::from(x) * s, t);
        let total = (0..1 << digits).map(weight).reduce(Interval::plus).expect("not empty");
        let noise = TruncatedGeometric::new(ratio(t, s), digits).expect("valid");
        check(
            &format!("geometric {t}/{s} of {digits} digits"),
            |tape: &mut Tape<3>| noise.sample(tape),
            |x: u64| weight(x).divided_by(total),
        );
    }
}

/// At one parameter each, all word sizes; the others are at 3 bits, where refinement goes deepest.
#[test]
fn laws_do_not_depend_on_the_word_size() {
    let noise = Geometric::new(ratio(2, 1)).expect("valid");
    check_all_words!("geometric", |tape| noise.sample(tape), geometric_law(2, 1));
    let noise = TimingSafeGeometric::new(ratio(1, 2)).expect("valid");
    check_all_words!("digits", |tape| noise.sample(tape), geometric_law(1, 2));
    let noise = DiscreteLaplace::new(ratio(1, 1)).expect("valid");
    check_all_words!("laplace", |tape| noise.sample(tape), laplace_law(1, 1));
    let noise = TimingSafeLaplace::new(ratio(1, 2)).expect("valid");
    check_all_words!("laplace digits", |tape| noise.sample(tape), laplace_law(1, 2));
    let noise = DiscreteGaussian::new(ratio(1, 4)).expect("valid");
    check_all_words!("gaussian", |tape| noise.sample(tape), gaussian_law(1, 4));
    let noise = TableGaussian::new(ratio(1, 4)).expect("valid");
    let law = gaussian_law(1, 4);
    check_all_words!("table", |tape| noise.sample(tape), |z: i64| law(z.into()));
}

//! Laws of Poisson samples and of binomial counts.

use dp_noise::PoissonSkips;

use super::exact::{Interval, Tape, exp_minus};
use super::{check_to, ratio};

fn power(p: Interval, k: usize) -> Interval {
    (0..k).fold(Interval::ratio(1, 1), |product, _| product.times(p))
}

fn sample_law(p: Interval, n: usize) -> impl Fn(Vec<u64>) -> Interval {
    move |kept| {
        assert!(kept.is_sorted() && kept.iter().all(|&i| i < n as u64));
        power(p, kept.len()).times(power(p.complement(), n - kept.len()))
    }
}

fn check_sample<const W: u32>(skips: &PoissonSkips, p: Interval, n: usize) {
    let name = format!("{n} records in words of {W}");
    let size = n as u64;
    check_to(
        24,
        &name,
        |tape: &mut Tape<W>| skips.indexes(size, tape).collect::<Vec<_>>(),
        sample_law(p, n),
    );
    let choose = |k: usize| (0..k).fold(1_u128, |c, i| c * (n - i) as u128 / (i as u128 + 1));
    check_to(
        24,
        &name,
        |tape: &mut Tape<W>| skips.count(size, tape),
        |k| {
            let k = usize::try_from(k).expect("small");
            let one = sample_law(p, n)((0..k as u64).collect());
            Interval { low: one.low * choose(k), high: one.high * choose(k) }
        },
    );
}

#[test]
fn samples_and_counts_of_rational_probability_have_their_law() {
    for (a, b) in [(1, 2), (1, 3), (3, 4)] {
        let skips = PoissonSkips::with_probability(ratio(a, b)).expect("valid");
        for n in [0, 1, 3] {
            check_sample::<3>(&skips, Interval::ratio(a, b), n);
        }
        check_sample::<6>(&skips, Interval::ratio(a, b), 1);
    }
}

#[test]
fn samples_and_counts_of_exponential_probability_have_their_law() {
    for (a, b) in [(1, 1), (1, 2), (5, 3)] {
        let skips = PoissonSkips::with_one_minus_exp(ratio(a, b)).expect("valid");
        for n in [0, 1, 3] {
            check_sample::<3>(&skips, exp_minus(a, b).complement(), n);
        }
        check_sample::<5>(&skips, exp_minus(a, b).complement(), 1);
    }
}

#[test]
fn nothing_and_everything_are_kept_at_the_ends() {
    let never = PoissonSkips::with_probability(ratio(0, 1)).expect("valid");
    let never_either = PoissonSkips::with_one_minus_exp(ratio(0, 1)).expect("valid");
    let always = PoissonSkips::with_probability(ratio(1, 1)).expect("valid");
    assert!(PoissonSkips::with_probability(ratio(7, 2)).is_err());
    let sample = |skips: &PoissonSkips| {
        let law =
            super::enumerate(30, |tape: &mut Tape| skips.indexes(3, tape).collect::<Vec<_>>());
        assert_eq!(law.found.len(), 1);
        law.found.into_keys().next()
    };
    assert_eq!(sample(&never), Some(vec![]));
    assert_eq!(sample(&never_either), Some(vec![]));
    assert_eq!(sample(&always), Some(vec![0, 1, 2]));
}

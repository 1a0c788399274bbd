//! How many words a draw reads. For the timing-safe forms: the same whatever comes out.

use std::collections::{BTreeMap, BTreeSet};

use dp_noise::{
    Bits, DiscreteGaussian, DiscreteLaplace, RoundedGaussian, SecureBits, TableGaussian,
    TimingSafeGeometric, TimingSafeLaplace, TruncatedGeometric, choose_exponentially,
    insecure_reproducible, reference,
};

use super::ratio;

struct Counted<B> {
    bits: B,
    words: usize,
}

impl<B: Bits> Bits for Counted<B> {
    fn word(&mut self) -> u64 {
        self.words += 1;
        self.bits.word()
    }
}

/// For every value drawn, the numbers of words that its draws took.
fn words_by_value<T: Ord>(
    draws: usize,
    sample: impl Fn(&mut dyn FnMut() -> u64) -> T,
) -> BTreeMap<T, BTreeSet<usize>> {
    let mut rng = insecure_reproducible(21);
    let mut source = Counted { bits: SecureBits::new(&mut rng), words: 0 };
    let mut seen: BTreeMap<T, BTreeSet<usize>> = BTreeMap::new();
    for _ in 0..draws {
        source.words = 0;
        let value = sample(&mut || source.word());
        seen.entry(value).or_default().insert(source.words);
    }
    seen
}

struct Words<'a>(&'a mut dyn FnMut() -> u64);

impl Bits for Words<'_> {
    fn word(&mut self) -> u64 {
        (self.0)()
    }
}

#[test]
fn timing_safe_forms_read_the_same_number_of_words_whatever_comes_out() {
    for (t, s) in [(1, 2), (1, 1), (10, 1), (1000, 7), (1_000_000, 1)] {
        let geometric = TimingSafeGeometric::new(ratio(t, s)).expect("valid");
        let seen = words_by_value(5000, |word| geometric.sample(&mut Words(word)));
        let one = BTreeSet::from([geometric.words()]);
        assert!(seen.values().all(|words| *words == one), "{t}/{s}: {seen:?}");

        let laplace = TimingSafeLaplace::new(ratio(t, s)).expect("valid");
        let round = laplace.words_per_round();
        let seen = words_by_value(5000, |word| laplace.sample(&mut Words(word)));
        assert!(seen.values().flatten().all(|words| words % round == 0), "{t}/{s}");
    }
    let truncated = TruncatedGeometric::new(ratio(10, 1), 7).expect("valid");
    let seen = words_by_value(5000, |word| truncated.sample(&mut Words(word)));
    assert!(seen.values().all(|words| *words == BTreeSet::from([3])));
    let table = TableGaussian::new(ratio(100, 1)).expect("valid");
    let seen = words_by_value(5000, |word| table.sample(&mut Words(word)));
    assert!(seen.values().all(|words| *words == BTreeSet::from([1])));
    let scores = [0, 5, 3, 9, 9, 2];
    let seen = words_by_value(5000, |word| {
        choose_exponentially(&mut Words(word), &scores, ratio(1, 2)).unwrap()
    });
    assert!(seen.values().all(|words| *words == BTreeSet::from([2])) && seen.len() > 3);
}

/// The share of values that took more than one round must not depend on the value. Null: it is the
/// redo probability `(1 - e^-1)/2 = 0.316` for zero and for the rest alike; of 200,000 draws 92,000
/// are zero, so that two shares differ by 0.0021 with a standard deviation of one, and 0.0125 is
/// six. The control, the plain form, whose words grow with the value, differs by far more.
#[test]
fn the_number_of_rounds_does_not_depend_on_the_value() {
    fn gap(sample: impl Fn(&mut Words<'_>) -> i128, longer: usize) -> f64 {
        let mut rng = insecure_reproducible(22);
        let mut source = Counted { bits: SecureBits::new(&mut rng), words: 0 };
        let mut counts = [[0_u32; 2]; 2];
        for _ in 0..200_000 {
            source.words = 0;
            let value = sample(&mut Words(&mut || source.word()));
            counts[usize::from(value == 0)][usize::from(source.words > longer)] += 1;
        }
        let share = |[short, long]: [u32; 2]| f64::from(long) / f64::from(short + long);
        (share(counts[0]) - share(counts[1])).abs()
    }
    let safe = TimingSafeLaplace::new(ratio(1, 1)).expect("valid");
    assert!(gap(|words| safe.sample(words), safe.words_per_round()) < 0.0125);
    let plain = reference::DiscreteLaplace::new(ratio(1, 1)).expect("valid");
    assert!(gap(|words| plain.sample(words), 5) > 0.1);
}

/// The averages that the documents state, within 2%: 100,000 draws put the mean within 0.5%.
#[test]
fn stated_averages_hold() {
    fn average(sample: impl Fn(&mut Words<'_>)) -> f64 {
        let mut rng = insecure_reproducible(23);
        let mut source = Counted { bits: SecureBits::new(&mut rng), words: 0 };
        for _ in 0..100_000 {
            sample(&mut Words(&mut || source.word()));
        }
        source.words as f64 / 100_000.0
    }
    let laplace = |b: u128| {
        let noise = DiscreteLaplace::new(ratio(b, 1)).expect("valid");
        average(|words| {
            noise.sample(words);
        })
    };
    let gaussian = |v: u128| {
        let noise = DiscreteGaussian::new(ratio(v, 1)).expect("valid");
        average(|words| {
            noise.sample(words);
        })
    };
    let near = |found: f64, stated: f64| (found / stated - 1.0).abs() <= 0.02;
    for (b, stated) in [(1, 2.93), (10, 5.12), (1000, 5.15)] {
        let found = laplace(b);
        assert!(near(found, stated), "laplace {b}: {found}");
    }
    for (v, stated) in GAUSSIAN_WORDS {
        let found = gaussian(v);
        assert!(near(found, stated), "gaussian {v}: {found}");
    }
    for (v, stated) in ROUNDED_WORDS {
        let noise = RoundedGaussian::new(ratio(v, 1)).expect("valid");
        let found = average(|words| {
            noise.sample(words);
        });
        assert!(near(found, stated), "rounded {v}: {found}");
    }
    assert!(!near(laplace(1), 5.15), "the control");
}

/// Variance, words on average.
const ROUNDED_WORDS: [(u128, f64); 3] = [(1, 4.20), (100, 4.20), (1_000_000, 4.20)];

/// Variance, words on average.
const GAUSSIAN_WORDS: [(u128, f64); 2] = [(1, 10.7), (1_000_000, 8.06)];

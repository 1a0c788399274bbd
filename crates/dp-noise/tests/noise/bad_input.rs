//! What is refused, and what the ends of the allowed ranges do.

use dp_noise::{
    Bits, DiscreteGaussian, DiscreteLaplace, Geometric, Level, NoiseError, PoissonSkips, RareHits,
    Ratio, RoundedGaussian, SecureBits, TableGaussian, TimingSafeGeometric, TimingSafeLaplace,
    TruncatedGeometric, TruncatedLaplace, bernoulli, bernoulli_exp, choose_exponentially,
    choose_level, insecure_reproducible, noisy_max, permute_and_flip, reference,
};

use super::{nonzero, ratio};

const LARGEST: u128 = Ratio::LIMIT - 1;

fn with_bits<T>(sample: impl FnOnce(&mut SecureBits<'_, dp_noise::ChaCha20Rng>) -> T) -> T {
    sample(&mut SecureBits::new(&mut insecure_reproducible(31)))
}

#[test]
fn wrong_arguments_are_refused_with_value_and_limit() {
    fn said<T>(outcome: Result<T, NoiseError>) -> String {
        outcome.map_or_else(|error| error.to_string(), |_| "accepted".to_owned())
    }
    let most = Geometric::MAX_NUMERATOR;
    let too_large =
        "the numerator of the scale must be at most 18446744073709551615, got 18446744073709551616";
    for (said, expected) in [
        (said(Ratio::new(3, 0)), "the denominator of a ratio must not be zero, got 3/0"),
        (said(Ratio::new(0, 0)), "the denominator of a ratio must not be zero, got 0/0"),
        (
            said(Ratio::new(u128::MAX, 5)),
            "both parts of a ratio in lowest terms must be below 2^96, got 68056473384187692692674921486353642291/1",
        ),
        (
            said(Ratio::new(1, Ratio::LIMIT)),
            "both parts of a ratio in lowest terms must be below 2^96, got 1/79228162514264337593543950336",
        ),
        (said(Geometric::new(ratio(0, 1))), "the scale must be positive, got 0"),
        (said(Geometric::new(ratio(most + 1, 1))), too_large),
        (said(DiscreteLaplace::new(ratio(most + 1, 1))), too_large),
        (said(TruncatedLaplace::new(ratio(most + 1, 1), 3)), too_large),
        (said(TruncatedLaplace::new(ratio(0, 1), 3)), "the scale must be positive, got 0"),
        (said(DiscreteGaussian::new(ratio(0, 1))), "the variance must be positive, got 0"),
        (said(RoundedGaussian::new(ratio(0, 1))), "the variance must be positive, got 0"),
        (said(TableGaussian::new(ratio(0, 1))), "the variance must be positive, got 0"),
        (
            said(TableGaussian::new(ratio(2_000_001, 2))),
            "the variance must be at most 1000000, got 2000001/2",
        ),
        (said(TimingSafeGeometric::new(ratio(0, 1))), "the scale must be positive, got 0"),
        (
            said(TimingSafeLaplace::new(ratio(1 << 60, 1))),
            "the scale must be at most 72057594037927936, got 1152921504606846976",
        ),
        (said(TruncatedGeometric::new(ratio(0, 1), 3)), "the scale must be positive, got 0"),
        (
            said(TruncatedGeometric::new(ratio(1, 1), u32::MAX)),
            "the number of digits must be at most 63, got 4294967295",
        ),
        (
            said(PoissonSkips::with_probability(ratio(2, 1))),
            "the probability must be at most 1, got 2",
        ),
        (
            said(PoissonSkips::with_probability(ratio(1, 1 << 60))),
            "a positive probability must be at least about 2^-56, got 1/1152921504606846976",
        ),
        (
            said(PoissonSkips::with_one_minus_exp(ratio(1, 1 << 62))),
            "a positive probability must be at least about 2^-56, got 1/4611686018427387904",
        ),
        (said(RareHits::new(96)), "the exponent must be at most 95, got 96"),
        (said(RareHits::new(u32::MAX)), "the exponent must be at most 95, got 4294967295"),
    ] {
        assert_eq!(said, expected);
    }
}

#[test]
fn zero_is_refused_by_every_sampler() {
    let zero = ratio(0, 1);
    assert!(Geometric::new(zero).is_err());
    assert!(DiscreteLaplace::new(zero).is_err());
    assert!(DiscreteGaussian::new(zero).is_err());
    assert!(RoundedGaussian::new(zero).is_err());
    assert!(TimingSafeGeometric::new(zero).is_err());
    assert!(TimingSafeLaplace::new(zero).is_err());
    assert!(TruncatedGeometric::new(zero, 3).is_err());
    assert!(TruncatedLaplace::new(zero, 3).is_err());
    assert!(TableGaussian::new(zero).is_err());
    assert!(reference::Geometric::new(zero).is_err());
    assert!(reference::DiscreteLaplace::new(zero).is_err());
    assert!(reference::DiscreteGaussian::new(zero).is_err());
}

#[test]
fn scales_too_large_to_hold_are_refused_and_the_largest_work() {
    let most = Geometric::MAX_NUMERATOR;
    assert!(Geometric::new(ratio(most + 1, 1)).is_err());
    assert!(DiscreteLaplace::new(ratio(LARGEST, 1)).is_err());
    assert!(TimingSafeGeometric::new(ratio(1 << 57, 1)).is_err());
    assert!(TimingSafeLaplace::new(ratio(1 << 56, 1)).is_ok());
    assert!(TruncatedGeometric::new(ratio(1, 1), 64).is_err());
    assert!(TruncatedGeometric::new(ratio(LARGEST, 1), 63).is_ok());
    assert!(TableGaussian::new(ratio(1_000_001, 1)).is_err());
    assert!(TableGaussian::new(ratio(1_000_000, 1)).is_ok());
    let huge = DiscreteLaplace::new(ratio(most, 1)).expect("allowed");
    let large = (0..100).filter(|_| with_bits(|b| huge.sample(b)).unsigned_abs() > 1 << 60).count();
    assert!(large > 0);
    // The largest variance has a proposal scale of 2^48; squares go beyond 128 bits.
    let huge = DiscreteGaussian::new(ratio(LARGEST, 1)).expect("allowed");
    with_bits(|bits| {
        let draws: Vec<i128> = (0..200).map(|_| huge.sample(bits)).collect();
        let within = draws.iter().filter(|z| z.unsigned_abs() < 1 << 48).count();
        assert!((100..180).contains(&within), "{within} of 200 within one standard deviation");
    });
    // And one whose distances do not fit either.
    let wide = DiscreteGaussian::new(ratio(LARGEST, LARGEST - 2)).expect("allowed");
    with_bits(|bits| assert!((0..200).all(|_| wide.sample(bits).abs() < 12)));
}

/// The cells that it is made of are finer than integers, whatever the parts of the variance.
#[test]
fn rounded_noise_at_the_ends_of_its_range() {
    let within = |numerator: u128, denominator: u128, deviation: u128| {
        let noise = RoundedGaussian::new(ratio(numerator, denominator)).expect("allowed");
        with_bits(|bits| {
            let draws: Vec<u128> = (0..200).map(|_| noise.sample(bits).unsigned_abs()).collect();
            assert!(draws.iter().all(|z| *z <= 6 * deviation), "{numerator}/{denominator}");
            let within = draws.iter().filter(|z| **z < deviation).count();
            assert!(deviation == 0 || (55..180).contains(&within), "{within} of 200");
        });
    };
    within(LARGEST, 1, 1 << 48);
    within(1 << 94, 1, 1 << 47);
    within(LARGEST, LARGEST - 2, 1);
    within((1 << 90) + 1, (1 << 88) - 1, 2);
    within(LARGEST, (1 << 78) + 1, 1 << 9);
    within(1, 1 << 80, 0);
    within(1, LARGEST, 0);
}

#[test]
fn tiny_scales_give_zero() {
    let tiny = ratio(1, LARGEST);
    with_bits(|bits| {
        assert_eq!(Geometric::new(tiny).expect("allowed").sample(bits), 0);
        assert_eq!(DiscreteLaplace::new(tiny).expect("allowed").sample(bits), 0);
        assert_eq!(DiscreteGaussian::new(tiny).expect("allowed").sample(bits), 0);
        assert_eq!(TableGaussian::new(tiny).expect("allowed").sample(bits), 0);
        assert_eq!(TimingSafeLaplace::new(tiny).expect("allowed").sample(bits), 0);
        assert_eq!(TruncatedGeometric::new(tiny, 5).expect("allowed").sample(bits), 0);
        assert_eq!(TruncatedLaplace::new(tiny, 5).expect("allowed").sample(bits), 0);
    });
}

#[test]
fn bounds_of_truncation_at_their_ends() {
    with_bits(|bits| {
        let none = TruncatedLaplace::new(ratio(5, 1), 0).expect("allowed");
        assert_eq!(none.sample(bits), 0);
        let wide = TruncatedLaplace::new(ratio(5, 1), u64::MAX).expect("allowed");
        assert!(wide.sample(bits).abs() < 1000);
        let flat = TruncatedLaplace::new(ratio(u128::from(u64::MAX), 1), u64::MAX - 1);
        assert!(flat.expect("allowed").sample(bits).unsigned_abs() < u128::from(u64::MAX));
    });
}

#[test]
fn probabilities_at_their_ends() {
    with_bits(|bits| {
        assert!(!bernoulli(bits, 0, nonzero(u128::MAX)));
        assert!(bernoulli(bits, u128::MAX, nonzero(1)));
        assert!(bernoulli_exp(bits, 0, nonzero(u128::MAX)));
        assert!(!bernoulli_exp(bits, u128::MAX, nonzero(1)));
        assert!(bernoulli_exp(bits, 1, nonzero(u128::MAX)));
        let never = PoissonSkips::with_probability(ratio(0, 1)).expect("allowed");
        let always = PoissonSkips::with_probability(ratio(1, 1)).expect("allowed");
        assert_eq!(never.count(u64::MAX, bits), 0);
        assert_eq!(always.count(u64::MAX, bits), u64::MAX);
        assert_eq!(always.indexes(0, bits).next(), None);
        let rare = PoissonSkips::with_probability(ratio(1, 1 << 56)).expect("allowed");
        assert!(rare.count(1 << 56, bits) < 20);
        assert!(PoissonSkips::with_probability(ratio(1, 1 << 60)).is_err());
        assert!(PoissonSkips::with_one_minus_exp(ratio(1, LARGEST)).is_err());
        let surely = PoissonSkips::with_one_minus_exp(ratio(LARGEST, 1)).expect("allowed");
        assert_eq!(surely.count(1000, bits), 1000);
        let nearly = PoissonSkips::with_probability(ratio(LARGEST - 1, LARGEST)).expect("allowed");
        assert_eq!(nearly.count(1000, bits), 1000);
    });
}

#[test]
fn choices_among_one_among_equals_and_among_extremes() {
    let rates = [ratio(0, 1), ratio(1, LARGEST), ratio(1, 1), ratio(LARGEST, 1)];
    with_bits(|bits| {
        for rate in rates {
            assert_eq!(choose_exponentially(bits, &[-4], rate).unwrap(), 0);
            assert_eq!(permute_and_flip(bits, &[-4], rate).unwrap(), 0);
            let equal = [i64::MAX; 5];
            assert!(choose_exponentially(bits, &equal, rate).unwrap() < 5);
            assert!(permute_and_flip(bits, &equal, rate).unwrap() < 5);
        }
        let extremes = [i64::MIN, i64::MAX, 0];
        assert_eq!(choose_exponentially(bits, &extremes, ratio(1, 1)).unwrap(), 1);
        assert_eq!(permute_and_flip(bits, &extremes, ratio(1, 1)).unwrap(), 1);
        let noise = Geometric::new(ratio(1, 1)).expect("valid");
        assert_eq!(noisy_max(bits, &extremes, noise).unwrap(), 1);
        // Gaps times rate near one, at both ends of the exponent range.
        let far = [i64::MIN, i64::MAX];
        let counts =
            (0..400).filter(|_| choose_exponentially(bits, &far, ratio(1, 1 << 64)).unwrap() == 0);
        assert!((60..160).contains(&counts.count()), "e^-1 / (1 + e^-1) of 400 is 108");
    });
}

#[test]
fn nothing_to_choose_from() {
    let noise = Geometric::new(ratio(1, 1)).expect("valid");
    let seen = with_bits(|bits| {
        [
            choose_exponentially(bits, &[], ratio(1, 1)),
            permute_and_flip(bits, &[], ratio(1, 1)),
            noisy_max(bits, &[], noise),
            reference::choose_exponentially(bits, &[], ratio(1, 1)),
        ]
    });
    assert_eq!(seen, [Err(NoiseError::NoScores); 4]);
    let level = |candidates| Level { score: 0, candidates };
    for (levels, got) in [(vec![], 0), (vec![level(0)], 0), (vec![level(u64::MAX); 2], 2)] {
        let got = got * u128::from(u64::MAX);
        let found = with_bits(|bits| choose_level(bits, &levels, ratio(1, 1)));
        assert_eq!(found, Err(NoiseError::Candidates { got }), "{levels:?}");
    }
    let most = with_bits(|bits| choose_level(bits, &[level((1 << 62) - 1)], ratio(1, 1)));
    let more = with_bits(|bits| choose_level(bits, &[level(1 << 62)], ratio(1, 1)));
    assert_eq!((most, more), (Ok(0), Err(NoiseError::Candidates { got: 1 << 62 })));
}

#[test]
fn one_of_one_is_drawn_without_a_word() {
    struct Empty;
    impl Bits for Empty {
        fn word(&mut self) -> u64 {
            unreachable!("nothing to decide")
        }
    }
    assert_eq!(Empty.below(nonzero(1)), 0);
}

/// Ratios of every size, and what is made of them: refused with the value, or a sampler that draws.
#[test]
fn ratios_of_every_size_are_refused_with_their_value_or_sampled() {
    let parts = [0, 1, 2, 3, (1 << 56) - 1, 1 << 56, u64::MAX.into(), 1 << 64, LARGEST];
    let (mut refused, mut drawn) = (0, 0);
    for numerator in parts {
        for denominator in parts.into_iter().filter(|part| *part > 0) {
            let x = ratio(numerator, denominator);
            let shown = [x.numerator(), x.denominator().get()].map(|part| part.to_string());
            let mut see = |error: Option<NoiseError>| match error {
                None => drawn += 1,
                Some(error) => {
                    refused += 1;
                    let said = error.to_string();
                    let limit = ["must be", "must not be"].iter().any(|word| said.contains(word));
                    assert!(limit && said.contains(&shown[0]), "{numerator}/{denominator}: {said}");
                }
            };
            with_bits(|bits| {
                see(Geometric::new(x).map(|noise| noise.sample(bits)).err());
                see(DiscreteLaplace::new(x).map(|noise| noise.sample(bits)).err());
                see(DiscreteGaussian::new(x).map(|noise| noise.sample(bits)).err());
                see(RoundedGaussian::new(x).map(|noise| noise.sample(bits)).err());
                see(TimingSafeLaplace::new(x).map(|noise| noise.sample(bits)).err());
                see(TruncatedLaplace::new(x, 9).map(|noise| noise.sample(bits)).err());
                see(PoissonSkips::with_probability(x).map(|skips| skips.count(99, bits)).err());
                see(PoissonSkips::with_one_minus_exp(x).map(|skips| skips.count(99, bits)).err());
            });
        }
    }
    assert_eq!(refused + drawn, 8 * 9 * 8);
    assert!(refused > 100 && drawn > 200, "{refused} refused, {drawn} drawn");
}

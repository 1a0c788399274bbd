//! Checks of the samplers as releases use them: draws from a cryptographic generator against the
//! law that the other checks assume. (That the samplers are exact is proved by enumeration in the
//! tests of `dp-noise`; this is the check that nothing was wired wrongly in between.)

use std::num::NonZeroU128;

use dp_audit::{Law, Method, Window, choice_log_probabilities, exact_law, statistical};
use dp_mechanism::{
    Coin, DiscreteGaussian, DiscreteLaplace, Draws, GaussianSum, Geometric, Law as DrawLaw, Noise,
    RareHits, Ratio, ReportNoise, RoundedGaussian, SecureSource, SelectionRule, Source,
    SparseScores,
};
use rand::rngs::ChaCha20Rng;

use dp_audit::harness::{Check, Effort, Found};

pub(super) fn checks() -> Vec<Check> {
    let sampler = |id: &str, mechanism: &str, run: fn(Effort) -> Found| {
        Check::new(id, mechanism, "none", Method::Sampler, run).resolution(1.1)
    };
    vec![
        sampler("draws-laplace", "SecureSource, Laplace noise", laplace),
        sampler("draws-gaussian", "SecureSource, Gaussian noise", gaussian),
        sampler("draws-rounded", "SecureSource, rounded normal noise", rounded),
        sampler("draws-choice", "SecureSource, choices", choice),
        sampler("draws-others", "SecureSource, all its other draws", others),
        Check::new("sum-gaussian-mu", "GaussianSum", "add-remove", Method::Gaussian, sum_mu)
            .resolution(1.2),
        Check::new(
            "sum-rounded-mu",
            "GaussianSum::rounded",
            "add-remove",
            Method::Gaussian,
            rounded_sum_mu,
        )
        .resolution(1.2),
    ]
}

/// Distance of the empirical distribution function from the claimed one, as a share of what chance
/// may do except with probability 1e-6.
fn distance(draws: &mut [i64], cdf: impl Fn(i64) -> f64) -> f64 {
    let chance = statistical::dkw_bound(draws.len(), statistical::ALPHA);
    statistical::largest_cdf_distance(draws, cdf) / chance
}

fn ratio(a: u128, b: u128) -> Ratio {
    Ratio::new(a, b).expect("valid")
}

fn noise_distance(effort: Effort, noises: &[(String, Noise)]) -> Found {
    const REACH: i64 = 200; // ten scales of the widest; beyond, the smallest would underflow
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(60);
    let runs = effort.of(50_000, 5_000_000);
    for (name, noise) in noises {
        let run = |source: &mut dyn Source| source.noisy(0, *noise);
        let law = exact_law(Window::new(-REACH, REACH), run).without_receipt();
        found.see(from_tape(&law, runs, &mut rng, run), || name.clone());
    }
    found
}

/// Distance of draws from a cryptographic generator to the law by the tape, so that the tape is checked against the sampler as well.
fn from_tape(
    law: &Law<i64>,
    runs: usize,
    rng: &mut ChaCha20Rng,
    run: impl Fn(&mut dyn Source) -> i64,
) -> f64 {
    let mut secure = SecureSource::new(rng);
    to_law(law, &mut (0..runs).map(|_| run(&mut secure)).collect::<Vec<i64>>())
}

/// Distance of draws to a law.
fn to_law(law: &Law<i64>, draws: &mut [i64]) -> f64 {
    let cumulative: Vec<(i64, f64)> = law
        .iter()
        .scan(0.0, |sum, (value, p)| {
            *sum += p;
            Some((*value, *sum))
        })
        .collect();
    distance(draws, |x: i64| {
        let up_to = cumulative.partition_point(|(value, _)| *value <= x);
        up_to.checked_sub(1).map_or(0.0, |last| cumulative[last].1)
    })
}

/// Coordinates of one long vector of zeros with noise: each by itself, and how far it is from others, near and far, as many times as noise of
/// its own for each of them says. Noise that comes twice would make some of these differences 0, or twice as wide.
fn coordinates(effort: Effort, rng: &mut ChaCha20Rng, found: &mut Found) {
    let gaussian = DiscreteGaussian::new(ratio(2, 1)).expect("positive");
    let window = Window::new(-40, 40);
    let law = |signs: &'static [i64]| {
        exact_law(window, |source| {
            let mut vector = vec![0; signs.len()];
            source.noisy_vector(&mut vector, gaussian);
            vector.iter().zip(signs).map(|(value, sign)| value * sign).sum::<i64>()
        })
        .without_receipt()
    };
    let (one, apart) = (law(&[1]), law(&[1, -1]));
    let mut vector = vec![0; effort.of(20_000, 2_000_000) + LONGEST];
    SecureSource::new(rng).noisy_vector(&mut vector, gaussian);
    found.see(to_law(&one, &mut vector.clone()), || "one coordinate".to_owned());
    for lag in [1, 2, 3, 4, 7, 8, 16, 31, 32, 64, 100, 128, 256, 508, 512, 1_000, LONGEST] {
        let mut differences: Vec<i64> =
            vector.iter().zip(&vector[lag..]).map(|(a, b)| a - b).collect();
        // Each coordinate is in two of them, which are not independent; every second run of `lag` is.
        let mut place = 0;
        differences.retain(|_| {
            place += 1;
            (place - 1) / lag % 2 == 0
        });
        found.see(to_law(&apart, &mut differences), || format!("coordinates {lag} apart"));
    }
}

/// No block of a sampler is longer.
const LONGEST: usize = 4_096;

/// Everything else that a release may ask for, one number for each outcome.
fn others(effort: Effort) -> Found {
    type Ask<'a> = Box<dyn Fn(&mut dyn Source) -> i64 + 'a>;
    let half = ratio(1, 2);
    let sparse = SparseScores::new(9, [(2, 3), (7, 1)]);
    let geometric = Geometric::new(half).expect("positive");
    let laplace = DiscreteLaplace::new(ratio(2, 1)).expect("positive");
    let gaussian = DiscreteGaussian::new(ratio(2, 1)).expect("positive");
    let rounded = RoundedGaussian::new(ratio(5, 2)).expect("positive");
    let hits = RareHits::new(3).expect("in range");
    let index = |i: usize| i64::try_from(i).expect("few");
    let number = |a: i64, b: i64| 1_000 * a + b;
    let mut asks: Vec<(&str, Ask<'_>)> = vec![
        ("permute-and-flip", Box::new(|s| index(s.flip(&[2, 0, 1, 2], half)))),
        (
            "sparse choice",
            Box::new(|s| i64::try_from(s.choose_sparse(&sparse, half)).expect("few")),
        ),
        (
            "noisy maximum",
            Box::new(|s| {
                let (i, score) = s.noisy_max(&[3, 0, 2], geometric);
                number(index(i), score)
            }),
        ),
        (
            "noisy vector",
            Box::new(|s| {
                let mut vector = [1, -1];
                s.noisy_vector(&mut vector, gaussian);
                number(vector[0], vector[1])
            }),
        ),
        ("gap", Box::new(|s| i64::try_from(s.gap(&hits, 20)).expect("few"))),
    ];
    for rule in [SelectionRule::Exponential, SelectionRule::PermuteAndFlip] {
        asks.push(("zeros", Box::new(move |s| index(s.choose_among_zeros(5, rule, half)))));
    }
    for noise in [Noise::Laplace(laplace), Noise::Gaussian(gaussian), Noise::Rounded(rounded)] {
        asks.push(("test", Box::new(move |s| i64::from(s.exceeds(3, 4, noise)))));
    }
    for noise in [ReportNoise::OneSided(geometric), ReportNoise::TwoSided(laplace)] {
        asks.push((
            "report",
            Box::new(move |s| s.draw(DrawLaw::Report { value: 2, threshold: 3, noise })),
        ));
    }
    let (shift, numerator, denominator) = (1, 3, NonZeroU128::new(2).expect("above 0"));
    for coin in [
        Coin::Rational(ratio(1, 3)),
        Coin::OneMinusExp(half),
        Coin::ScaledExp { shift, numerator, denominator },
        Coin::Logistic(half),
    ] {
        asks.push(("coin", Box::new(move |s| i64::from(s.keep(coin)))));
    }
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(63);
    let runs = effort.of(20_000, 2_000_000);
    for (name, ask) in &asks {
        let law = exact_law(Window::new(-40, 80), |source| ask(source)).without_receipt();
        found.see(from_tape(&law, runs, &mut rng, |source| ask(source)), || (*name).to_owned());
    }
    coordinates(effort, &mut rng, &mut found);
    found
}

fn laplace(effort: Effort) -> Found {
    let scales = [(1, 3), (1, 1), (7, 2), (20, 1)].map(|(a, b)| {
        let noise = DiscreteLaplace::new(ratio(a, b)).expect("positive");
        (format!("scale {a}/{b}"), Noise::Laplace(noise))
    });
    noise_distance(effort, &scales)
}

fn gaussian(effort: Effort) -> Found {
    let variances = [(1, 4), (1, 1), (50, 3), (900, 1)].map(|(a, b)| {
        let noise = DiscreteGaussian::new(ratio(a, b)).expect("positive");
        (format!("variance {a}/{b}"), Noise::Gaussian(noise))
    });
    noise_distance(effort, &variances)
}

fn rounded(effort: Effort) -> Found {
    let variances = [(1, 4), (1, 1), (50, 3), (400, 1)].map(|(a, b)| {
        let noise = RoundedGaussian::new(ratio(a, b)).expect("positive");
        (format!("variance {a}/{b}"), Noise::Rounded(noise))
    });
    noise_distance(effort, &variances)
}

fn choice(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(61);
    let runs = effort.of(50_000, 5_000_000);
    let ramp: Vec<i64> = (0..50).collect();
    for (scores, rate) in
        [(vec![0; 7], ratio(1, 1)), (vec![5, 0, 3, 4], ratio(1, 2)), (ramp, ratio(1, 9))]
    {
        let probabilities = choice_log_probabilities(&scores, rate);
        let cdf = |x: i64| {
            let up_to = usize::try_from(x + 1).unwrap_or(0).min(probabilities.len());
            probabilities[..up_to].iter().map(|p| p.exp()).sum()
        };
        let mut secure = SecureSource::new(&mut rng);
        let mut draws: Vec<i64> = (0..runs)
            .map(|_| i64::try_from(secure.choose(&scores, rate)).expect("an index"))
            .collect();
        found.see(distance(&mut draws, cdf), || format!("scores {scores:?}"));
    }
    found
}

fn sum_mu(effort: Effort) -> Found {
    let rho = dp_accounting::Rho::new(0.5).expect("valid");
    told_apart(GaussianSum::new(rho).expect("positive"), effort)
}

fn rounded_sum_mu(effort: Effort) -> Found {
    let mu = dp_accounting::Mu::new(1.0).expect("valid");
    told_apart(GaussianSum::rounded(mu).expect("positive"), effort)
}

/// A sum of one coordinate at its length bound, told apart from an empty one by a threshold half way.
fn told_apart(sum: GaussianSum, effort: Effort) -> Found {
    const LENGTH: i64 = 1_000;
    let mut found = Found::claim((2.0 * sum.loss().zcdp().expect("Gaussian is zCDP").get()).sqrt());
    let mut rng = effort.rng(62);
    let runs = effort.of(20_000_u64, 1_000_000);
    let mut secure = SecureSource::new(&mut rng);
    let mut above = |value: i64| {
        let hits = (0..runs).filter(|_| {
            let mut draws = Draws::unplanned(&mut secure);
            sum.release(&[value], LENGTH.unsigned_abs().pow(2), &mut draws)[0] > LENGTH / 2
        });
        hits.count() as u64
    };
    let (rejected, missed) = (above(0), runs - above(LENGTH));
    let mu = statistical::mu_lower_bound(rejected, missed, runs);
    found.see(mu, || format!("a record of length {LENGTH} against none, {runs} runs of each"));
    found.cases = 2 * runs;
    found
}

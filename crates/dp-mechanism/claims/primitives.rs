//! Checks of the calibrated primitives.

use dp_accounting::{AddRemove, Epsilon, Loss, Mu, Rho, gaussian_delta};
use dp_audit::{
    BigRational, Method, Neighbours, RationalLaw, Window, compare, exact_law, exact_rational_law,
    gaussian_renyi_divergence, power_within,
};
use dp_mechanism::{
    DiscreteGaussian, DiscreteLaplace, Draws, ExponentialMechanism, GaussianSum, Geometric,
    GeometricSum, Law, Noise, NoisyCount, PoissonSample, Ratio, SecureSource, Source,
    SubsetResponse,
};
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;

use std::num::NonZeroU64;

use dp_audit::harness::{Check, Effort, Found};

pub(super) fn checks() -> Vec<Check> {
    let exact = |id: &str, mechanism: &str, run: fn(Effort) -> Found| {
        Check::new(id, mechanism, "add-remove", Method::Exact, run)
    };
    vec![
        exact("count-geometric", "NoisyCount::geometric", geometric),
        exact("count-gaussian", "NoisyCount::gaussian", gaussian),
        exact("count-rational", "NoisyCount::geometric", rational_count),
        exact("choice-rational", "ExponentialMechanism", rational_choice),
        exact("choice-by-range", "ExponentialMechanism", choice),
        exact("count-rounded", "NoisyCount::rounded", rounded_count),
        exact("sum-gaussian", "GaussianSum", sum),
        exact("sum-rounded", "GaussianSum::rounded", rounded_sum),
        exact("sum-geometric-wide", "GeometricSum", wide_geometric_sum),
        exact("sum-geometric", "GeometricSum", geometric_sum),
        exact("sample-poisson", "PoissonSample", sample),
        Check::new("response-law", "SubsetResponse", "replace-one", Method::Exact, responses),
    ]
}

fn epsilon(x: f64) -> Epsilon {
    Epsilon::new(x).expect("valid")
}

/// Exact laws of the released count for true counts that differ by one.
fn geometric(effort: Effort) -> Found {
    let count = NoisyCount::geometric(epsilon(0.7)).expect("positive");
    let Loss::Pure { epsilon: claimed } = count.loss() else { unreachable!("geometric is pure") };
    let mut found = Found::claim(claimed.get());
    let reach = effort.of(30, 200);
    let law = |n| {
        exact_law(Window::new(-reach, reach), |draws| {
            count.release(n, &mut Draws::unplanned(draws))
        })
        .without_receipt()
    };
    for n in 0..effort.of(8, 60) {
        let (a, b) = (law(n), law(n + 1));
        found.see(a.pure_loss(&b).max(b.pure_loss(&a)), || format!("counts {n} and {}", n + 1));
    }
    found
}

/// Exact laws of noisy vectors that differ by at most the length in sum of absolute values, for all such pairs of three places.
fn geometric_sum(effort: Effort) -> Found {
    let length = 2;
    let sum = GeometricSum::new(epsilon(0.7), NonZeroU64::new(length).expect("above 0"));
    let sum = sum.expect("positive");
    let Loss::Pure { epsilon: claimed } = sum.loss() else { unreachable!("geometric is pure") };
    let mut found = Found::claim(claimed.get());
    let reach = effort.of(4, 8);
    let law = |values: [i64; 3]| {
        exact_law(Window::new(-reach, reach), |draws| {
            sum.release(&values, &mut Draws::unplanned(draws))
        })
        .without_receipt()
    };
    let base = law([0, 0, 0]);
    let steps = -2_i64..=2;
    let changes = steps.clone().flat_map(|x| steps.clone().map(move |y| [x, y]));
    for [x, y] in changes.filter(|[x, y]| x.unsigned_abs() + y.unsigned_abs() <= length) {
        let other = law([x, 0, y]);
        let loss = base.pure_loss(&other).max(other.pure_loss(&base));
        found.see(loss, || format!("a change by {x} and {y}"));
    }
    found
}

/// The same in rational arithmetic at `e^epsilon = 3`: no tolerance at all.
fn rational_count(effort: Effort) -> Found {
    let unit = Ratio::new(1, 2).expect("valid");
    let count = NoisyCount::geometric(epsilon(0.5)).expect("positive");
    let mut found = Found::claim(1.0);
    let window = Window::new(-20, 20);
    let law = |n| {
        exact_rational_law(unit, 3, window, |draws| count.release(n, &mut Draws::unplanned(draws)))
            .without_receipt()
    };
    for n in 0..effort.of(5, 20) {
        let (here, there) = (law(n), law(n + 1));
        let loss = rational_loss(&here, &there, 3);
        found.see(loss, || format!("counts {n} and {}", n + 1));
    }
    found
}

/// Choices at `e^(epsilon/2) = 2`, all changes within the range of 2.
fn rational_choice(effort: Effort) -> Found {
    let unit = Ratio::new(1, 2).expect("valid");
    let mechanism = ExponentialMechanism::by_range(epsilon(1.0), 2).expect("positive");
    let mut found = Found::claim(1.0);
    let law = |scores: [i64; 3]| {
        exact_rational_law(unit, 2, Window::none(), |draws| {
            mechanism.release(&scores, &mut Draws::unplanned(draws)).expect("there are candidates")
        })
        .without_receipt()
    };
    let far = effort.of(40, 400);
    for scores in [[0, 0, 0], [far, 0, 0], [far, far, 0], [far, 1, 0]] {
        let here = law(scores);
        for change in 0..27 {
            let changes = [change % 3 - 1, change / 3 % 3 - 1, change / 9 - 1];
            let there = law(std::array::from_fn(|i| scores[i] + changes[i]));
            let loss = rational_loss(&here, &there, 4);
            found.see(loss, || format!("scores {scores:?} by {changes:?}"));
        }
    }
    found
}

/// The worse direction, as a power of `odds`, which is the claim; infinite if above it at all.
fn rational_loss<O: Ord>(here: &RationalLaw<O>, there: &RationalLaw<O>, odds: u32) -> f64 {
    let claim = BigRational::from_integer(odds.into());
    let power = |ratio| power_within(ratio, &claim, odds);
    power(here.largest_ratio(there)).max(power(there.largest_ratio(here)))
}

/// Renyi divergences of the noise that the release really asks for, shifted by one record.
fn gaussian(effort: Effort) -> Found {
    let count = NoisyCount::gaussian(Rho::new(0.04).expect("valid")).expect("positive");
    let Loss::Zcdp { rho } = count.loss() else { unreachable!("Gaussian is zCDP") };
    let mut found = Found::claim(rho.get());
    let noise = asked_noise(|draws| {
        count.release(0, &mut Draws::unplanned(draws));
    });
    for step in 1..effort.of(40, 400) {
        let alpha = 1.0 + 0.25 * f64::from(step);
        let divergence = gaussian_renyi_divergence(noise, 1, alpha);
        found.see(divergence / alpha, || format!("order {alpha}"));
    }
    found
}

/// Deltas of the exact laws of the released count, over those of the Gaussian curve that is claimed.
fn rounded_count(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    for mu in [0.3, 1.0, 2.5] {
        let count = NoisyCount::rounded(Mu::new(mu).expect("valid")).expect("positive");
        let Loss::Gaussian { mu } = count.loss() else { unreachable!("it is Gaussian") };
        let law = |n| {
            exact_law(Window::new(-60, 60), |draws| count.release(n, &mut Draws::unplanned(draws)))
                .without_receipt()
        };
        let (here, there) = (law(0), law(1));
        for step in 0..effort.of(60_u32, 600) {
            // Until a delta of about 1e-9, where rounding of floats does not count yet.
            let epsilon_at =
                mu.get() * (mu.get() / 2.0 + 6.0 * f64::from(step) / effort.of(60.0, 600.0));
            let claimed = gaussian_delta(1.0 / mu.get(), epsilon(epsilon_at)).get();
            let delta = here.delta(&there, epsilon_at).max(there.delta(&here, epsilon_at));
            found.see(delta / claimed, || format!("mu {mu} at epsilon {epsilon_at}"));
        }
    }
    found
}

/// All score vectors of three small scores, all changes within the range.
fn choice(effort: Effort) -> Found {
    const RANGE: i64 = 2;
    let mechanism =
        ExponentialMechanism::by_range(epsilon(0.8), RANGE.unsigned_abs()).expect("positive");
    let claimed = mechanism.loss().pure().expect("bounded range is pure").get();
    let mut found = Found::claim(claimed);
    // Far scores concentrate the choice, which is where the bound becomes tight.
    let far = effort.of(60, 200);
    let law = |scores: [i64; 3]| {
        exact_law(Window::none(), |draws| {
            mechanism.release(&scores, &mut Draws::unplanned(draws)).expect("there are candidates")
        })
        .without_receipt()
    };
    for scores in [[0, 0, 0], [far, 0, 0], [far, far, 0], [far, 1, 0]] {
        let here = law(scores);
        for change in 0..27 {
            let changes = [change % 3 - 1, change / 3 % 3 - 1, change / 9 - 1];
            let range = changes.iter().max().expect("three") - changes.iter().min().expect("three");
            assert!(range <= RANGE, "the cases must keep the promise that the loss is about");
            let there = law(std::array::from_fn(|i| scores[i] + changes[i]));
            let loss = here.pure_loss(&there).max(there.pure_loss(&here));
            found.see(loss, || format!("scores {scores:?} changed by {changes:?}"));
        }
    }
    found
}

fn sum(effort: Effort) -> Found {
    short_records(GaussianSum::new(Rho::new(0.1).expect("valid")).expect("positive"), effort)
}

fn rounded_sum(effort: Effort) -> Found {
    short_records(GaussianSum::rounded(Mu::new(0.4).expect("valid")).expect("positive"), effort)
}

/// All vectors on a small lattice, against the length bound that they keep. Half the square of a `mu` is its zCDP, so
/// that one number says it for both kinds of noise.
fn short_records(mechanism: GaussianSum, effort: Effort) -> Found {
    const LENGTH_SQUARED: u64 = 25;
    let mut found = Found::claim(mechanism.loss().zcdp().expect("Gaussian is zCDP").get());
    let mut rng = effort.rng(20);
    let run = |records: &Vec<[i64; 2]>, draws: &mut dyn Source| {
        let total = [0, 1].map(|i| records.iter().map(|record| record[i]).sum::<i64>());
        mechanism.release(&total, LENGTH_SQUARED, &mut Draws::unplanned(draws))
    };
    for x in -5..=5_i64 {
        for y in (-5..=5_i64).filter(|y| x * x + y * y <= 25) {
            let (without, with) = (vec![[3, 4]], vec![[3, 4], [x, y]]);
            let comparison = compare(
                &Neighbours::of_records(AddRemove, Vec::clone).without_receipt(),
                run,
                &without,
                &with,
                &mut SecureSource::new(&mut rng),
            );
            found.see(comparison.rho(), || format!("a record ({x}, {y})"));
        }
    }
    found
}

/// The whole law of a threshold run on a secret sample: every sample, every outcome.
fn sample(effort: Effort) -> Found {
    let sample = PoissonSample::new(epsilon(0.5)).expect("positive");
    let mut found = Found::claim(sample.epsilon().get());
    // The smallest scale that is not below 1 / inner.
    let denominator = 1_u128 << 30;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 2^32")]
    let scale = Ratio::new((denominator as f64 / sample.inner().get()).ceil() as u128, denominator);
    let noise = Noise::Laplace(DiscreteLaplace::new(scale.expect("in range")).expect("positive"));
    let steps = effort.of(3, 5);
    let run = |users: &[u32], draws: &mut dyn Source| {
        let kept = sample.sample(users.len(), &mut Draws::unplanned(draws)).exact();
        (0..steps).find(|step| {
            let active = users
                .iter()
                .zip(&kept)
                .filter(|(user, kept)| **kept && *user >> step & 1 == 1)
                .count();
            draws.exceeds(i64::try_from(active).expect("few"), 1, noise)
        })
    };
    let law =
        |users: &[u32]| exact_law(Window::none(), |draws| run(users, draws)).without_receipt();
    let kinds = 1_u32 << steps;
    for others in (0..kinds).map(|user| vec![user; 2]).chain([vec![], vec![kinds - 1]]) {
        let without = law(&others);
        for user in 0..kinds {
            let with = law(&[others.as_slice(), &[user]].concat());
            let loss = without.pure_loss(&with).max(with.pure_loss(&without));
            found.see(loss, || format!("users {others:?} and {user}"));
        }
    }
    found
}

/// The Gaussian noise that a release draws with.
fn asked_noise(release: impl FnOnce(&mut dyn Source)) -> DiscreteGaussian {
    struct Listener(Option<DiscreteGaussian>);
    impl Source for Listener {
        fn draw(&mut self, law: Law<'_>) -> i64 {
            if let Law::Noisy { noise: Noise::Gaussian(noise), .. } = law {
                self.0 = Some(noise);
            }
            0
        }
        fn noisy_max(&mut self, _: &[i64], _: Geometric) -> (usize, i64) {
            unreachable!("nobody asks for a maximum")
        }
        fn noisy_vector(&mut self, _: &mut [i64], noise: DiscreteGaussian) {
            self.0 = Some(noise);
        }
    }
    let mut listener = Listener(None);
    release(&mut listener);
    listener.0.expect("the release draws Gaussian noise")
}

/// A sum that moves by up to its sensitivity, as a share of the claim.
fn wide_geometric_sum(_effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    for (each, sensitivity) in [(0.7, 1_u64), (1e-3, 1 << 22), (3.0, 12_345), (0.02, 1 << 40)] {
        let length = NonZeroU64::new(sensitivity).expect("above 0");
        let sum = GeometricSum::new(epsilon(each), length).expect("in range");
        let Loss::Pure { epsilon: claimed } = sum.loss() else { unreachable!("it is pure") };
        let within = |from: &i64, to: &i64| from.abs_diff(*to) <= sensitivity;
        for moved in [1, sensitivity / 2 + 1, sensitivity] {
            for from in [0, -5, 1 << 41] {
                let to = from + i64::try_from(moved).expect("small");
                let mut rng = ChaCha20Rng::seed_from_u64(1);
                let run = |value: &i64, draws: &mut dyn Source| {
                    sum.release(&[*value], &mut Draws::unplanned(draws))
                };
                let comparison = compare(
                    &Neighbours::tested(AddRemove, within).without_receipt(),
                    run,
                    &from,
                    &to,
                    &mut SecureSource::new(&mut rng),
                );
                found.see(comparison.pure_loss() / claimed.get(), || {
                    format!("sensitivity {sensitivity}, {from} against {to}")
                });
            }
        }
    }
    found
}

/// All laws of all responses over up to 16 symbols: of two records, the largest ratio is the weight, to the last digit, and the weight is
/// not above `e^epsilon`.
fn responses(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    for symbols in effort.of(vec![2, 3, 8, 16], (2..=16).collect()) {
        for favoured in 1..symbols {
            for asked in [1e-6, 0.1, 1.0, 2.0, 4.0, 11.5] {
                let response = SubsetResponse::new(epsilon(asked), symbols, favoured);
                let response = response.expect("valid settings");
                let weight = fraction(response.weight());
                let within = weight <= exp_from_below(asked);
                let unit = Ratio::new(1, 1).expect("one over one");
                let law = |run: &dyn Fn(&mut Draws<'_>) -> u32| {
                    exact_rational_law(unit, 3, Window::none(), |source| {
                        run(&mut Draws::unplanned(source))
                    })
                    .without_receipt()
                };
                let ranked = |turn: u32| {
                    (0..symbols)
                        .map(|m| i64::from((m * 7 + turn) % symbols / 2))
                        .collect::<Vec<_>>()
                };
                let mut laws: Vec<RationalLaw<u32>> = (0..=symbols)
                    .map(|first| law(&|draws| response.release(first, draws)))
                    .collect();
                laws.extend(
                    (0..3)
                        .map(|turn| law(&|draws| response.release_by_score(&ranked(turn), draws))),
                );
                for (a, b) in laws.iter().flat_map(|a| laws.iter().map(move |b| (a, b))) {
                    let ratio = a.largest_ratio(b).filter(|ratio| within && *ratio <= weight);
                    let share = ratio
                        .as_ref()
                        .map_or(f64::INFINITY, |ratio| if *ratio == weight { 1.0 } else { 0.0 });
                    found.see(share, || format!("{favoured} of {symbols} at {asked}"));
                }
            }
        }
    }
    found
}

fn fraction(ratio: Ratio) -> BigRational {
    BigRational::new(ratio.numerator().into(), ratio.denominator().get().into())
}

/// The first terms of the series, in exact arithmetic.
fn exp_from_below(x: f64) -> BigRational {
    let x = BigRational::from_float(x).expect("finite");
    let one = BigRational::from_integer(1.into());
    let (mut sum, mut term) = (one.clone(), one);
    for i in 1..60_u32 {
        term = term * &x / BigRational::from_integer(i.into());
        sum += &term;
    }
    sum
}

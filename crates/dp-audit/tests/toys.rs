//! The auditor on mechanisms small enough to know the answer, right ones and broken ones.
#![allow(clippy::disallowed_methods, reason = "a test may look")]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "toys count to less than a hundred"
)]

use approx::assert_abs_diff_eq;
use dp_accounting::{AddRemove, Epsilon, Loss, Rho};
use dp_audit::{
    Law, Neighbours, Scripted, Window, compare, exact_law, exact_rational_law, first_choice,
    range_of_change,
};
use dp_mechanism::{
    ChaCha20Rng, DiscreteLaplace, Draws, ExponentialMechanism, GaussianSum, Geometric, Noise,
    NoisyCount, PoissonSample, Ratio, SecureSource, Source,
};
use num_rational::BigRational;
use rand::SeedableRng;

fn epsilon(x: f64) -> Epsilon {
    Epsilon::new(x).expect("valid")
}

/// Lists of which one has a record more.
fn one_more<'a, R: serde::Serialize + Clone + 'a>() -> Neighbours<'a, Vec<R>> {
    Neighbours::of_records(AddRemove, Vec::clone).without_receipt()
}

/// Counts of which one is above the other by at most so much.
fn counts<'a>(apart: u64) -> Neighbours<'a, i64> {
    let near = move |a: &i64, b: &i64| a.abs_diff(*b) <= apart;
    Neighbours::tested(AddRemove, near).without_receipt()
}

/// Scores of as many candidates, each of which moves by at most so much.
fn scores<'a>(apart: u64) -> Neighbours<'a, [i64]> {
    let near = move |a: &[i64], b: &[i64]| {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.abs_diff(*b) <= apart)
    };
    Neighbours::tested(AddRemove, near).without_receipt()
}

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(5)
}

/// Laplace noise of scale 1, so one record is worth an epsilon of 1.
fn unit_noise() -> Noise {
    let scale = Ratio::new(1, 1).expect("valid");
    Noise::Laplace(DiscreteLaplace::new(scale).expect("positive"))
}

/// Reports the first time step at which more than `threshold` users are active, with fresh noise at
/// every step. Bits in a user's word are time steps.
fn above_threshold(users: &[u8], threshold: i64, draws: &mut dyn Source) -> Option<u32> {
    (0..3).find(|step| {
        let active = users.iter().filter(|user| *user >> step & 1 == 1).count();
        draws.exceeds(i64::try_from(active).expect("few"), threshold, unit_noise())
    })
}

fn above_threshold_law(users: &[u8]) -> Law<Option<u32>> {
    exact_law(Window::none(), |draws| above_threshold(users, 1, draws)).without_receipt()
}

/// All data sets of up to two users, each with one more user.
fn neighbours() -> impl Iterator<Item = (Vec<u8>, Vec<u8>)> {
    let smaller = (0..8).flat_map(|a| (0..8).map(move |b| vec![a, b]));
    let smaller = smaller.chain((0..8).map(|a| vec![a])).chain([vec![]]);
    smaller.flat_map(|d| {
        (0..8).map(move |x| {
            let mut more = d.clone();
            more.push(x);
            (d.clone(), more)
        })
    })
}

#[test]
fn above_threshold_is_private_for_added_users_only() {
    let (mut added, mut removed) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    for (without, with) in neighbours() {
        let (without, with) = (above_threshold_law(&without), above_threshold_law(&with));
        added = added.max(with.pure_loss(&without));
        removed = removed.max(without.pure_loss(&with));
    }
    assert!(added <= 1.0 + 1e-12 && added > 0.99, "adding costs {added}");
    // Unsampled, the claim would be false for removals: three silent steps give three looks.
    assert!(removed > 1.2, "removing costs {removed}");
}

#[test]
fn a_secret_sample_makes_it_private_both_ways() {
    let sample = PoissonSample::new(epsilon(0.5)).expect("positive");
    // A threshold mechanism at the inner epsilon: as above, with the noise scale to match.
    let inner = sample.inner().get();
    let scale = Ratio::new(1 << 20, (inner * f64::from(1 << 20)) as u128).expect("valid");
    let noise = Noise::Laplace(DiscreteLaplace::new(scale).expect("positive"));
    let law = |users: &[u8]| {
        exact_law(Window::none(), |draws| {
            let kept: Vec<u8> = users
                .iter()
                .zip(sample.sample(users.len(), &mut Draws::unplanned(draws)).exact())
                .filter(|(_, kept)| *kept)
                .map(|(user, _)| *user)
                .collect();
            (0..3).find(|step| {
                let active = kept.iter().filter(|user| *user >> step & 1 == 1).count();
                draws.exceeds(i64::try_from(active).expect("few"), 1, noise)
            })
        })
        .without_receipt()
    };
    let mut worst = f64::NEG_INFINITY;
    for (without, with) in neighbours() {
        let (without, with) = (law(&without), law(&with));
        worst = worst.max(with.pure_loss(&without)).max(without.pure_loss(&with));
    }
    assert!(worst <= 0.5 + 1e-9, "two-sided loss {worst}");
    assert!(worst > 0.3, "{worst} is so small that something else is wrong");
}

#[test]
fn counts_lose_exactly_what_they_claim() {
    let count = NoisyCount::geometric(epsilon(0.7)).expect("positive");
    let Loss::Pure { epsilon: claimed } = count.loss() else { panic!("geometric is pure") };
    let law = |n| {
        exact_law(Window::new(-20, 20), |draws| count.release(n, &mut Draws::unplanned(draws)))
            .without_receipt()
    };
    for n in 0..4 {
        let (a, b) = (law(n), law(n + 1));
        let loss = a.pure_loss(&b).max(b.pure_loss(&a));
        assert!((loss - claimed.get()).abs() < 1e-9, "count {n}: {loss}");
    }
    // The control: a count that moves by two.
    assert!(law(0).pure_loss(&law(2)) > 1.3);
}

#[test]
fn a_bit_from_the_exact_law_matches_the_hockey_stick_of_its_definition() {
    let law = |p: u32| {
        exact_law(Window::none(), move |draws| {
            draws.keep(dp_mechanism::Coin::Rational(Ratio::new(p.into(), 4).expect("valid")))
        })
        .without_receipt()
    };
    let (a, b) = (law(3), law(1));
    assert_abs_diff_eq!(a.delta(&b, 1.0), 0.75 - 1.0_f64.exp() / 4.0, epsilon = 1e-12);
    assert!(a.delta(&b, 3_f64.ln()).abs() < 1e-12);
    assert_eq!(a.paths(), 2);
}

#[test]
fn comparing_adds_up_what_each_draw_gives_away() {
    let count = NoisyCount::geometric(epsilon(0.5)).expect("positive");
    let sum = GaussianSum::new(Rho::new(0.125).expect("valid")).expect("positive");
    let run = |data: &Vec<i64>, draws: &mut dyn Source| {
        let n = count.release(data.len() as u64, &mut Draws::unplanned(draws));
        let total = [data.iter().sum::<i64>()];
        let total = sum.release(&total, 100, &mut Draws::unplanned(draws));
        (n, total)
    };
    let comparison = compare(
        &one_more(),
        run,
        &vec![3, -7],
        &vec![3, -7, 10],
        &mut SecureSource::new(&mut rng()),
    );
    assert_eq!(comparison.steps.len(), 2);
    assert_abs_diff_eq!(comparison.steps[0].forward, 0.5, epsilon = 1e-9);
    // A pure loss of 0.5 for the count, and the whole rho for a record at the length bound.
    let want = 0.5 * 0.25_f64.tanh() + 0.125;
    assert!((comparison.rho() - want).abs() < 1e-6, "{}", comparison.rho());
    assert!(comparison.pure_loss().is_infinite(), "Gaussian noise is not pure");
}

#[test]
fn control_flow_that_depends_on_the_data_is_caught() {
    let count = NoisyCount::geometric(epsilon(1.0)).expect("positive");
    let run = |data: &Vec<i64>, draws: &mut dyn Source| {
        if data.is_empty() {
            0
        } else {
            count.release(data.len() as u64, &mut Draws::unplanned(draws))
        }
    };
    for (data, neighbour) in [(vec![], vec![1]), (vec![1], vec![])] {
        let comparison =
            compare(&one_more(), run, &data, &neighbour, &mut SecureSource::new(&mut rng()));
        assert_eq!(comparison.diverged, Some(0));
        assert!(comparison.pure_loss().is_infinite() && comparison.rho().is_infinite());
    }
}

#[test]
fn outputs_that_depend_on_the_data_are_caught() {
    let count = NoisyCount::geometric(epsilon(1.0)).expect("positive");
    let leaky = |data: &Vec<i64>, draws: &mut dyn Source| {
        (count.release(data.len() as u64, &mut Draws::unplanned(draws)), data.len())
    };
    let comparison =
        compare(&one_more(), leaky, &vec![], &vec![1], &mut SecureSource::new(&mut rng()));
    assert!(!comparison.outputs_equal && comparison.pure_loss().is_infinite());
}

#[test]
fn noise_fitted_to_the_data_is_caught() {
    let sum = GaussianSum::new(Rho::new(0.5).expect("valid")).expect("positive");
    let run = |data: &Vec<i64>, draws: &mut dyn Source| {
        let bound = data.iter().map(|x| x.unsigned_abs().pow(2)).max().unwrap_or(1);
        let total = [data.iter().sum::<i64>()];
        sum.release(&total, bound, &mut Draws::unplanned(draws))
    };
    let comparison =
        compare(&one_more(), run, &vec![1], &vec![1, 90], &mut SecureSource::new(&mut rng()));
    assert_eq!(comparison.diverged, Some(0));
}

#[test]
fn scripts_put_a_mechanism_into_a_chosen_state() {
    let count = NoisyCount::geometric(epsilon(1.0)).expect("positive");
    let choice = ExponentialMechanism::by_range(epsilon(1.0), 2).expect("positive");
    let run = |data: &Vec<i64>, draws: &mut dyn Source| {
        let n = count.release(data.len() as u64, &mut Draws::unplanned(draws));
        let scores: Vec<i64> =
            (0..3).map(|c| n - data.iter().filter(|x| **x == c).count() as i64).collect();
        choice.release(&scores, &mut Draws::unplanned(draws)).unwrap()
    };
    let scores = |data: &Vec<i64>| {
        let (mut rng, script) = (rng(), [7]);
        let mut honest = SecureSource::new(&mut rng);
        let mut scripted = Scripted::new(script.into_iter(), &mut honest);
        first_choice(|draws| run(data, draws), &mut scripted).scores
    };
    let (here, there) = (scores(&vec![0, 2]), scores(&vec![0, 2, 2]));
    assert_eq!(here, [6, 7, 6]);
    let change = range_of_change(&here, &there);
    assert_eq!((change.up, change.down, change.range(), change.sensitivity()), (0, 1, 1, 1));
}

/// Noise of scale 1 with `e` taken to be 2: the threshold toy is private for added users exactly,
/// with equality, and the third silent step makes it worse than `e` for removed ones.
#[test]
fn rational_laws_have_no_tolerance() {
    let one = Ratio::new(1, 1).expect("valid");
    let law = |users: &[u8]| {
        exact_rational_law(one, 2, Window::none(), |draws| above_threshold(users, 1, draws))
            .without_receipt()
    };
    let two = BigRational::from_integer(2.into());
    let (mut equal, mut removal_broken) = (false, false);
    for (without, with) in neighbours() {
        let (without, with) = (law(&without), law(&with));
        let added = with.largest_ratio(&without).expect("the same support");
        assert!(added <= two, "{added}");
        equal |= added == two;
        removal_broken |= without.largest_ratio(&with).expect("the same support") > two;
    }
    assert!(equal && removal_broken);
}

#[test]
#[should_panic(expected = "exponents must be small multiples of the unit")]
fn rational_laws_refuse_exponents_off_their_lattice() {
    let half = Ratio::new(2, 3).expect("valid");
    exact_rational_law(half, 2, Window::none(), |draws| above_threshold(&[1], 1, draws));
}

/// A loss too unlikely for `f64` must not look like none.
#[test]
fn far_thresholds_lose_as_much_as_near_ones() {
    let run = |value: &i64, draws: &mut dyn Source| draws.exceeds(*value, 1_000, unit_noise());
    let comparison = compare(&counts(5), run, &0, &5, &mut SecureSource::new(&mut rng()));
    assert!((comparison.pure_loss() - 5.0).abs() < 1e-9, "{}", comparison.pure_loss());
    // Gaussian tails do underflow: unbounded as a pure loss, never more than the noisy value in zCDP.
    let variance = Ratio::new(1, 1).expect("valid");
    let noise = Noise::Gaussian(dp_mechanism::DiscreteGaussian::new(variance).expect("positive"));
    for threshold in [5, 1_000] {
        let run =
            move |value: &i64, draws: &mut dyn Source| draws.exceeds(*value, threshold, noise);
        let comparison = compare(&counts(1), run, &0, &1, &mut SecureSource::new(&mut rng()));
        assert!(comparison.rho() <= 0.5 && comparison.pure_loss() > 1.0, "{comparison:?}");
    }
}

/// A maximum that is as far away as it never is.
struct Far;
impl Source for Far {
    fn draw(&mut self, _: dp_mechanism::Law<'_>) -> i64 {
        unreachable!("only a maximum is drawn")
    }
    fn noisy_vector(&mut self, _: &mut [i64], _: dp_mechanism::DiscreteGaussian) {}
    fn noisy_max(&mut self, _: &[i64], _: Geometric) -> (usize, i64) {
        (0, 900)
    }
}

/// The same for a candidate that permute-and-flip, or a noisy maximum, next to never takes.
#[test]
fn losing_candidates_lose_as_much_as_others() {
    let one = Ratio::new(1, 1).expect("valid");
    let run = |scores: &[i64], draws: &mut dyn Source| draws.flip(scores, one);
    let loss =
        |a: &[i64], b: &[i64]| compare(&scores(10), run, a, b, &mut SecureSource::new(&mut rng()));
    let comparison = loss(&[0, 1_000], &[10, 1_000]);
    assert_abs_diff_eq!(comparison.pure_loss(), 10.0, epsilon = 1e-9);
    let noise = Geometric::new(one).expect("positive");
    let run = |scores: &[i64], draws: &mut dyn Source| draws.noisy_max(scores, noise);
    let comparison = compare(&scores(5), run, &[0_i64, 0][..], &[5, 0][..], &mut Far);
    assert!((comparison.steps[0].forward + 5.0).abs() < 1e-9, "{comparison:?}");
    // Another value could have been released that only one of them can.
    assert!(comparison.rho().is_infinite(), "{comparison:?}");
    let alike = compare(&scores(5), run, &[0_i64, 0][..], &[0, 0][..], &mut Far);
    assert!(alike.rho() <= 0.0, "{alike:?}");
}

/// Infinite losses of both signs make no number, which is not a small one.
#[test]
fn what_is_no_number_is_no_small_loss() {
    let one = Ratio::new(1, 1).expect("valid");
    let run = |scores: &[i64], draws: &mut dyn Source| draws.flip(scores, one);
    let mut seen =
        compare(&scores(1), run, &[0_i64, 1], &[1, 1], &mut SecureSource::new(&mut rng()));
    assert!(seen.pure_loss() <= 1.0 + 1e-9 && seen.rho() <= 1.0, "{seen:?}");
    seen.steps[0].forward = f64::NAN;
    seen.steps[0].backward = f64::NAN;
    seen.steps[0].rho = f64::NAN;
    for loss in [seen.pure_loss(), seen.forward_loss(), seen.rho()] {
        assert!(loss.is_infinite(), "{seen:?}");
    }
}

#[test]
#[should_panic(expected = "a probability is too small for f64")]
fn exact_laws_refuse_to_drop_unlikely_maxima() {
    let noise = Geometric::new(Ratio::new(1, 1).expect("valid")).expect("positive");
    exact_law(Window::new(0, 905), |draws| draws.noisy_max(&[0, 900], noise).0);
}

#[test]
#[should_panic(expected = "a probability is too small for f64")]
fn exact_laws_refuse_to_drop_unlikely_paths() {
    let choice = ExponentialMechanism::by_range(epsilon(1.0), 1).expect("positive");
    exact_law(Window::none(), |draws| {
        choice.release(&[1_000, 0], &mut Draws::unplanned(draws)).unwrap()
    });
}

#[test]
#[should_panic(expected = "noisy integers need a window")]
fn noisy_integers_without_a_window_are_refused() {
    let count = NoisyCount::geometric(epsilon(1.0)).expect("positive");
    exact_law(Window::none(), |draws| count.release(100, &mut Draws::unplanned(draws)));
}

#[test]
fn a_mechanism_that_draws_nothing_is_not_audited() {
    let comparison =
        compare(&counts(1), |_: &i64, _| 7, &0, &1, &mut SecureSource::new(&mut rng()));
    assert!(comparison.steps.is_empty() && comparison.diverged.is_none());
    assert!(comparison.pure_loss().is_infinite() && comparison.rho().is_infinite());
}

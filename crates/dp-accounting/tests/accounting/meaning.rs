//! What is told a person, against the definition: all tests of the worst mechanism, output by output.

use approx::assert_abs_diff_eq;
use dp_accounting::{Budget, Composition, Event, Meaning, epsilon_for, noise_for, uses_for};

use crate::{budget, delta, epsilon};

/// The outputs of the worst mechanism, with their probabilities with and without the record: shown, and an answer with odds `e^epsilon`.
fn worst(e: f64, d: f64) -> [(f64, f64); 4] {
    let (truth, lie) = (1.0 / (1.0 + (-e).exp()), 1.0 / (1.0 + e.exp()));
    let (yes, no) = ((1.0 - d) * truth, (1.0 - d) * lie);
    [(d, 0.0), (yes, no), (no, yes), (0.0, d)]
}

/// What each test on these outputs finds and accuses falsely, randomised tests between two of them left out: `(P(S), Q(S))`.
fn tests(outputs: &[(f64, f64); 4]) -> Vec<(f64, f64)> {
    (0..16)
        .map(|set| {
            let chosen = outputs.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1);
            chosen.fold((0.0, 0.0), |sum, (_, o)| (sum.0 + o.0, sum.1 + o.1))
        })
        .collect()
}

const CASES: [(f64, f64); 6] =
    [(1.0, 1e-6), (0.1, 0.0), (3.0, 0.01), (0.0, 0.3), (30.0, 1e-9), (1e-6, 0.999)];

#[test]
fn attacks_do_as_well_as_they_say_and_no_better() {
    for (e, d) in CASES {
        let meaning = Meaning::new(epsilon(e), delta(d));
        let tests = tests(&worst(e, d));
        for prior in [0.0, 1e-3, 0.2, 0.5, 0.77, 1.0] {
            let right =
                |&(found, accused): &(f64, f64)| prior * found + (1.0 - prior) * (1.0 - accused);
            let best = tests.iter().map(right).fold(0.0, f64::max);
            let got = meaning.attack_success(prior);
            assert!((got - best).abs() < 1e-14 && got >= best - 1e-15, "{e} {d} {prior}");
        }
        let best = tests.iter().map(|(found, accused)| found - accused).fold(0.0, f64::max);
        let got = meaning.advantage();
        assert!((got - best).abs() < 1e-14 && got >= best - 1e-15, "{e} {d}: {got} {best}");
    }
}

/// The power of the best test at a level mixes two tests that are not mixed themselves.
#[test]
fn detection_is_the_hull_of_all_tests() {
    for (e, d) in CASES {
        let tests = tests(&worst(e, d));
        for alarm in [0.0, 1e-9, 0.01, 0.1, 0.4, 0.5, 0.9, 1.0] {
            let mut best = 0.0_f64;
            for a in &tests {
                for b in &tests {
                    if a.1 <= alarm && alarm <= b.1 {
                        let share = if b.1 > a.1 { (alarm - a.1) / (b.1 - a.1) } else { 1.0 };
                        best = best.max(a.0 + share * (b.0 - a.0));
                    }
                }
            }
            let got = Meaning::new(epsilon(e), delta(d)).detection(alarm);
            assert!(
                (got - best).abs() < 1e-13 && got >= best - 1e-14,
                "{e} {d} {alarm}: {got} {best}"
            );
        }
    }
}

/// Bayes' rule on the output that is not the record itself.
#[test]
fn belief_is_the_rule_of_bayes() {
    for (e, d) in CASES {
        let [_, (with, without), ..] = worst(e, d);
        for prior in [0.0, 1e-6, 0.01, 0.5, 0.99, 1.0] {
            let want = prior * with / (prior * with + (1.0 - prior) * without);
            let got = Meaning::new(epsilon(e), delta(d)).belief(prior);
            assert!((got - want).abs() < 1e-14 && got >= want * (1.0 - 1e-15), "{e} {prior}");
        }
    }
}

/// For mechanisms whose worst pair is the worst of their budget, both answers are the same; for others, the mechanism's own is better.
#[test]
fn a_mechanism_never_says_more_than_its_budget() {
    let (e, d) = (epsilon(1.0), delta(1e-6));
    let worst = Composition::new().with(Event::approximate(e, d).unwrap(), 1).unwrap();
    let noise = noise_for(budget(1.0, 1e-6), 1, Event::gaussian).unwrap().unwrap();
    let gaussian = Composition::new().with(Event::gaussian(noise).unwrap(), 1).unwrap();
    for prior in [0.0, 0.001, 0.3, 0.5, 0.9, 1.0, f64::NAN] {
        let promised = Meaning::new(e, d).attack_success(prior);
        let same = worst.attack_success(prior);
        assert!(
            same.lower() <= promised && (same.upper() - promised).abs() < 1e-9,
            "{prior}: {same}"
        );
        let less = gaussian.attack_success(prior);
        assert!(less.upper() <= promised + 1e-12 && less.gap() < 1e-9, "{prior}: {less}");
    }
    // Phi(1 / (2 sigma)) for even odds.
    let want = 1.0 - 0.5 * libm::erfc(0.5 / noise / 2.0_f64.sqrt());
    assert_abs_diff_eq!(gaussian.attack_success(0.5).upper(), want, epsilon = 1e-9);
}

#[test]
fn in_words() {
    insta::assert_snapshot!(Meaning::new(epsilon(1.0), delta(1e-6)), @r"
    Epsilon 1 at delta 1e-6, for one person, whatever else is known:
    - Who takes part, and who does not? A guess is right in 73.2 % of the cases at most, where chance is 50 %.
    - A test that accuses 1 % of those who do not take part finds 2.72 % of those who do; at 10 % it finds 27.2 %.
    - Whoever thought it 1 % likely can be 2.68 % sure afterwards, and 73.2 % after 50 %, but for a chance of 1e-6 that nothing is promised.
    ");
    insta::assert_snapshot!(Meaning::new(epsilon(0.1), delta(0.0)), @r"
    Epsilon 0.1 at delta 0, for one person, whatever else is known:
    - Who takes part, and who does not? A guess is right in 52.5 % of the cases at most, where chance is 50 %.
    - A test that accuses 1 % of those who do not take part finds 1.11 % of those who do; at 10 % it finds 11.1 %.
    - Whoever thought it 1 % likely can be 1.11 % sure afterwards, and 52.5 % after 50 %, always.
    ");
}

/// The three questions agree with each other.
#[test]
fn questions_are_inverse_to_each_other() {
    let budget: Budget = budget(1.0, 1e-6);
    let noises: [fn(f64) -> Result<Event, _>; 3] =
        [Event::gaussian, Event::laplace, |scale| Event::gaussian(scale)?.poisson_sampled(0.01)];
    for (noise, uses) in noises.into_iter().zip([7, 40, 500]) {
        let scale = noise_for(budget, uses, noise).unwrap().unwrap();
        let cost =
            |scale: f64, uses| epsilon_for(noise(scale).unwrap(), uses, budget.delta()).unwrap();
        assert!(cost(scale, uses).upper() <= 1.0);
        assert!(cost(scale * (1.0 - 1e-5), uses).upper() > 1.0, "{scale} is not the least");
        assert_eq!(uses_for(budget, noise(scale).unwrap()), uses);
    }
}

/// Where a scale of 1 is more than enough, less is looked for, and not less than is needed.
#[test]
fn less_noise_than_a_unit_keeps_the_budget() {
    let generous = budget(20.0, 1e-6);
    let noises: [fn(f64) -> Result<Event, _>; 2] = [Event::gaussian, Event::laplace];
    for noise in noises {
        let scale = noise_for(generous, 1, noise).unwrap().unwrap();
        let cost = |scale: f64| epsilon_for(noise(scale).unwrap(), 1, generous.delta()).unwrap();
        assert!(scale < 1.0 && cost(scale).upper() <= 20.0, "{scale}");
        assert!(cost(scale * (1.0 - 1e-5)).upper() > 20.0, "{scale} is not the least");
    }
}

#[test]
fn questions_at_the_ends_of_what_noise_takes() {
    // Without a delta no Gaussian is enough; of Laplace noise the plain sum.
    let pure = budget(1.0, 0.0);
    assert_eq!(noise_for(pure, 3, Event::gaussian).unwrap(), None);
    let scale = noise_for(pure, 3, Event::laplace).unwrap().unwrap();
    assert!((3.0..3.0 * (1.0 + 2e-6)).contains(&scale), "{scale}");
    assert_eq!(uses_for(pure, Event::gaussian(100.0).unwrap()), 0);
    // The least noise that is taken is already enough.
    let generous = budget(100.0, 0.9);
    let least =
        noise_for(generous, 1, |s| Event::gaussian(s)?.poisson_sampled(1e-6)).unwrap().unwrap();
    assert_eq!(least, 0.125);
    assert!(noise_for(pure, 0, Event::laplace).is_err(), "no uses");
}

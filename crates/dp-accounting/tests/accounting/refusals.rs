//! What is refused, and what the extremes give.

use dp_accounting::{
    AddRemove, Budget, Composition, Delta, Direction, Epsilon, Event, Filter, Ledger, Odometer,
    Receipt, Step, bounded_range_optimal_delta, calibrate, gaussian_delta, one_sided_to_two_sided,
    optimal_composition_delta, poisson_sampling, renyi_divergence, renyi_to_epsilon,
    repeated_selection_epsilon, repeated_selection_loss, sampling_with_replacement,
    sampling_without_replacement, target_charging_delta, target_charging_loss,
};

use crate::{budget, close, delta, epsilon, pure, rho, zcdp};

const BAD: [f64; 7] = [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE / 2.0, 1e300];

#[test]
fn scales_and_sensitivities() {
    for bad in BAD {
        assert!(Event::gaussian(bad).is_err(), "{bad}");
        assert!(Event::laplace(bad).is_err(), "{bad}");
        assert!(Event::discrete_laplace(bad, 1).is_err(), "{bad}");
        assert!(Event::discrete_gaussian(bad, 1).is_err(), "{bad}");
        assert!(Event::gaussian(1.0).unwrap().poisson_sampled(bad).is_err(), "{bad}");
    }
    assert!(Event::discrete_laplace(1.0, 0).is_err() && Event::discrete_gaussian(1.0, 0).is_err());
    assert!(Event::randomised_response(Epsilon::ZERO).is_err());
    let twice = Event::gaussian(1.0).unwrap().poisson_sampled(0.5).unwrap();
    assert!(
        twice.poisson_sampled(0.5).is_err()
            && Event::discrete_laplace(1.0, 1).unwrap().poisson_sampled(0.5).is_err()
    );
    assert_eq!(
        Event::laplace(0.0).unwrap_err().to_string(),
        "scale must be between 0.005 and 1e9, got 0"
    );
}

#[test]
fn counts() {
    let event = Event::laplace(1e6).unwrap();
    assert!(Composition::new().with(event, 0).is_err());
    assert!(Composition::new().with(event, 1_000_000_000_001).is_err());
    // 1e12 uses of a tiny loss: an answer, if not a tight one.
    let many = Composition::new().with(event, 1_000_000_000_000).unwrap();
    let bound = many.epsilon(delta(1e-6));
    assert!(
        bound.upper() > 4.0 && bound.lower() <= bound.upper() && bound.upper() <= 1e6,
        "{bound}"
    );
    let gaussians =
        Composition::new().with(Event::gaussian(1e7).unwrap(), 1_000_000_000_000).unwrap();
    assert!(gaussians.epsilon(delta(1e-6)).gap() < 1e-9);
    assert!(optimal_composition_delta(epsilon(0.1), Delta::ZERO, 0, epsilon(1.0)).is_err());
    assert!(bounded_range_optimal_delta(epsilon(0.1), 0, epsilon(1.0)).is_err());
    assert!(bounded_range_optimal_delta(epsilon(0.0), 3, epsilon(1.0)).is_err());
}

#[test]
fn the_empty_composition_and_the_extremes_of_delta() {
    let nothing = Composition::new();
    for at in [0.0, 1e-300, 0.5, Delta::MAX.get()] {
        assert_eq!(nothing.epsilon(delta(at)).upper(), 0.0);
    }
    assert_eq!(nothing.delta(epsilon(0.0)).upper(), 0.0);
    assert!(Delta::new(1.0).is_err());
    let one = Composition::new().with(Event::laplace(1.0).unwrap(), 1).unwrap();
    let bound = one.epsilon(Delta::ZERO);
    assert!(bound.lower() <= 1.0 && bound.upper() >= 1.0 && bound.gap() < 1e-12);
    assert_eq!(one.epsilon(Delta::MAX).upper(), 0.0, "anything goes");
    let gaussian = Composition::new().with(Event::gaussian(1.0).unwrap(), 1).unwrap();
    assert!(gaussian.epsilon(Delta::ZERO).upper().is_infinite());
    let leaky =
        Composition::new().with(Event::approximate(epsilon(0.5), delta(1e-3)).unwrap(), 2).unwrap();
    assert!(leaky.epsilon(delta(1e-3)).upper().is_infinite(), "two leaks of 1e-3 do not fit");
    assert!(leaky.epsilon(delta(3e-3)).upper() <= 1.0);
}

#[test]
fn renyi_orders() {
    for bad in [1.0, 0.5, 0.0, -2.0, f64::NAN, f64::INFINITY] {
        assert!(renyi_to_epsilon(bad, 0.5, delta(1e-6)).is_err(), "{bad}");
        assert!(renyi_divergence(&Composition::new(), Direction::Add, bad).is_err(), "{bad}");
    }
    assert!(renyi_to_epsilon(2.0, f64::NAN, delta(1e-6)).is_err());
    assert_eq!(renyi_to_epsilon(2.0, 0.5, Delta::ZERO).unwrap(), None);
    let gaussian = Composition::new().with(Event::gaussian(2.0).unwrap(), 3).unwrap();
    close(renyi_divergence(&gaussian, Direction::Remove, 8.0).unwrap(), 3.0, 1e-9);
}

#[test]
fn tampered_files() {
    let all = Composition::new()
        .with(Event::gaussian(1.0).unwrap().poisson_sampled(0.25).unwrap(), 10)
        .unwrap();
    let text = serde_json::to_string(&all).unwrap();
    assert_eq!(serde_json::from_str::<Composition>(&text).unwrap(), all);
    for (from, to) in
        [("0.25", "-0.25"), ("0.25", "1.5"), (",10]", ",0]"), ("1.0", "0.0"), ("1.0", "1e400")]
    {
        let tampered = text.replacen(from, to, 1);
        assert_ne!(tampered, text, "{from}");
        assert!(serde_json::from_str::<Composition>(&tampered).is_err(), "{tampered}");
    }
    let mut ledger = Ledger::new(AddRemove, budget(1.0, 0.0));
    let receipt = Receipt::new("m", AddRemove, budget(1.0, 0.0), Step::spend("s", pure(0.75)));
    ledger.spend(&receipt).unwrap();
    let text = serde_json::to_string(&ledger).unwrap();
    for to in ["1.75", "-0.75", "1e999", "null"] {
        let tampered = text.replacen("0.75", to, 1);
        assert!(serde_json::from_str::<Ledger<AddRemove>>(&tampered).is_err(), "{tampered}");
    }
}

#[test]
fn sampling_rules() {
    assert!(poisson_sampling(epsilon(1.0), Delta::ZERO, 0.0).is_err());
    assert!(sampling_without_replacement(epsilon(1.0), Delta::ZERO, 11, 10).is_err());
    let (e, d) = sampling_without_replacement(epsilon(1.0), delta(1e-6), 10, 10).unwrap();
    assert!(e.get() >= 1.0 && e.get() < 1.0 + 1e-13 && d.get() >= 1e-6 && d.get() < 1.000_001e-6);
    let (e, d) =
        sampling_with_replacement(epsilon(1.0), 2, 2, |j| delta(f64::from(j) / 8.0)).unwrap();
    // A record is drawn once with probability 1/2 and twice with 1/4.
    close(e.get(), (1.0 + 0.75 * 1.0_f64.exp_m1()).ln(), 1e-12);
    close(d.get(), 0.5 / 8.0 + 0.25 * 2.0 / 8.0, 1e-10);
    for target in [1e-3, 0.1, 0.5, 1.0, 2.0, 10.0] {
        // The rate and the loss at which both branches are equal.
        let (rate, inner) = (-f64::exp_m1(-target), target.exp().ln_1p());
        let got = one_sided_to_two_sided(epsilon(inner), f64::INFINITY, rate).unwrap().get();
        close(got, target, 1e-10);
    }
    assert!(one_sided_to_two_sided(epsilon(1.0), f64::INFINITY, 1.0).is_err());
    // With both sides bounded no sampling is needed.
    close(one_sided_to_two_sided(epsilon(0.5), 0.7, 1.0).unwrap().get(), 0.7, 1e-12);
}

#[test]
fn certificates() {
    // T(1e-6) = 17.7.
    let charged = repeated_selection_epsilon(epsilon(0.055), delta(1e-6)).unwrap().get();
    close(charged, 1.0, 0.01);
    let each = repeated_selection_loss(epsilon(1.0), delta(1e-6)).unwrap();
    close(each.get(), 0.0550, 0.005);
    assert!(repeated_selection_epsilon(each, delta(1e-6)).unwrap() <= epsilon(1.0));
    assert!(repeated_selection_epsilon(each, Delta::ZERO).is_none());
    assert!(target_charging_delta(epsilon(0.1), 0, epsilon(1.0)).is_err());
    for (limit, scale) in [(1, 18.9), (5, 25.8), (10, 31.0), (50, 54.3)] {
        let each = target_charging_loss(epsilon(1.0), delta(1e-6), limit).unwrap();
        close(1.0 / each.get(), scale, 0.01);
        assert!(target_charging_delta(each, limit, epsilon(1.0)).unwrap() <= delta(1e-6));
    }
    // Where a test could take the whole budget, e^epsilon tests would be looked at.
    let each = target_charging_loss(epsilon(31.0), delta(1e-6), 2).unwrap();
    assert!(each.get() > 0.5 && each.get() < 31.0, "{each:?}");
    assert!(target_charging_delta(each, 2, epsilon(31.0)).unwrap() <= delta(1e-6));
}

#[test]
fn calibration_is_the_least_that_fits() {
    let budget = budget(1.0, 1e-6);
    let mix = |sigma: f64| {
        Composition::new()
            .with(Event::gaussian(sigma)?, 5)?
            .with(Event::discrete_laplace(0.05, 1)?, 3)
    };
    let sigma = calibrate(budget, 0.5, 1e4, mix).unwrap().unwrap();
    assert!(mix(sigma).unwrap().epsilon(budget.delta()).upper() <= 1.0);
    assert!(mix(sigma * (1.0 - 1.1e-6)).unwrap().epsilon(budget.delta()).upper() > 1.0);
    let alone = |sigma: f64| Composition::new().with(Event::gaussian(sigma)?, 1);
    let sigma = calibrate(budget, 0.5, 1e4, alone).unwrap().unwrap();
    close(sigma, 4.224_678_889_326_835, 1.1e-6);
    assert!(gaussian_delta(sigma, epsilon(1.0)) <= delta(1e-6));
    assert_eq!(calibrate(budget, 0.1, 0.2, alone).unwrap(), None);
    assert_eq!(calibrate(budget, 10.0, 20.0, alone).unwrap(), Some(10.0));
    for (low, high) in [(0.0, 1.0), (2.0, 1.0), (1.0, f64::INFINITY), (f64::NAN, 1.0)] {
        assert!(calibrate(budget, low, high, alone).is_err(), "{low} {high}");
    }
    assert!(
        calibrate(Budget::new(1.0, 1e-6).unwrap(), 1e-5, 100.0, alone).is_err(),
        "refused by the mix"
    );
}

#[test]
fn filters_and_odometers() {
    let receipt = |value: f64| {
        Receipt::new("m", AddRemove, budget(10.0, 1e-6), Step::spend("s", zcdp(value)))
    };
    let mut filter = Filter::new(AddRemove, rho(1.0));
    assert!(
        filter.admit(&receipt(0.75))
            && !filter.admit(&receipt(0.5))
            && filter.admit(&receipt(0.25))
    );
    assert_eq!(filter.spent(), filter.limit());
    let mut odometer = Odometer::new(AddRemove, delta(1e-6), rho(0.01)).unwrap();
    let start = odometer.spent().unwrap();
    for _ in 0..10 {
        odometer.charge(&receipt(0.05));
    }
    let later = odometer.spent().unwrap();
    let plain = dp_accounting::zcdp_to_epsilon(rho(0.5), delta(1e-6)).unwrap();
    assert!(start < later && later > plain && later.get() < 2.0 * plain.get());
    assert!(Odometer::new(AddRemove, Delta::ZERO, rho(0.1)).is_err());
    let leaky = Receipt::new(
        "m",
        AddRemove,
        budget(1.0, 0.1),
        Step::spend("s", crate::approximate(0.1, 0.1)),
    );
    assert!(!filter.admit(&leaky));
    odometer.charge(&leaky);
    assert_eq!(odometer.spent(), None);
}

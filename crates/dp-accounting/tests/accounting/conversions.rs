//! Conversions against an independent multi-precision evaluation, and their guarantees over the whole range.

use dp_accounting::{
    Delta, Epsilon, Rho, budget_to_zcdp, gaussian_delta, gaussian_epsilon,
    gaussian_noise_multiplier, zcdp_to_delta, zcdp_to_epsilon,
};

use crate::{budget, close, delta, epsilon, rho};

/// Never below `want`, and at most `excess` above it (relative). `want` has been rounded to a float, hence the two units.
#[track_caller]
fn upper(got: f64, want: f64, excess: f64) {
    assert!(got >= want * (1.0 - 2.0 * f64::EPSILON), "got {got:e}, below {want:e}");
    close(got, want, excess);
}

// The values are from an independent multi-precision evaluation (60 digits, closed forms), rounded to 17 digits.

#[test]
fn gaussian_spot_values() {
    for (e, d, want) in [
        (0.1, 1e-10, 54.206_295_836_901_269),
        (1.0, 1e-6, 4.224_678_889_326_835_3),
        (10.0, 1e-5, 0.499_888_619_709_008_51),
    ] {
        upper(gaussian_noise_multiplier(budget(e, d)), want, 1e-13);
    }
    for (s, e, want) in [
        (0.5, 0.0, 0.682_689_492_137_085_9),
        (0.5, 5.0, 0.032_281_984_750_072_821),
        (20.0, 0.1, 4.461_918_648_847_143_1e-4),
        (20.0, 1.0, 1.129_033_227_097_697_0e-91),
        (2.0, 10.0, 9.855_120_610_850_165_9e-89),
    ] {
        // 0.1 as a float is not a tenth; at these depths delta feels that.
        close(gaussian_delta(s, epsilon(e)).get(), want, 1e-13);
    }
    for (s, d, want) in [
        (1.0, 1e-6, 4.886_554_117_462_212_0),
        (100.0, 1e-10, 0.053_092_033_377_843_923),
        // 10,000 uses at 20 are one use at 0.2.
        (0.2, 1e-6, 35.566_343_714_136_218),
    ] {
        upper(gaussian_epsilon(s, delta(d)).unwrap().get(), want, 1e-13);
    }
}

#[test]
fn zcdp_spot_values() {
    for (r, d, want) in [
        (0.001, 1e-5, 0.157_335_393_161_215_50),
        (0.5, 1e-6, 5.221_534_444_530_169_0),
        (5.0, 1e-10, 25.536_334_138_512_997),
    ] {
        upper(zcdp_to_epsilon(rho(r), delta(d)).unwrap().get(), want, 1e-14);
    }
    for (r, e, want) in
        [(0.001, 1.0, 3.233_853_552_015_899_9e-112), (5.0, 0.1, 0.992_813_583_158_274_19)]
    {
        upper(zcdp_to_delta(rho(r), epsilon(e)).get(), want, 2e-12);
    }
    for (e, d, want) in [
        (0.1, 1e-10, 1.536_050_373_470_881_4e-4),
        (1.0, 1e-5, 0.030_556_595_197_639_566),
        (10.0, 1e-10, 0.993_891_398_899_540_48),
    ] {
        let got = budget_to_zcdp(budget(e, d)).unwrap().get();
        assert!(got <= want * (1.0 + 2.0 * f64::EPSILON), "{got} above {want}");
        close(got, want, 1e-13);
    }
}

const EPSILONS: [f64; 7] = [1e-3, 0.03, 0.5, 1.0, 7.0, 30.0, 100.0];
const DELTAS: [f64; 8] = [1e-300, 1e-200, 1e-100, 1e-30, 1e-10, 1e-6, 1e-2, 0.5];

#[test]
fn inverses_keep_their_budget_and_waste_nothing() {
    for e in EPSILONS {
        for d in DELTAS {
            let asked = budget(e, d);
            let r = budget_to_zcdp(asked).unwrap();
            assert!(zcdp_to_epsilon(r, delta(d)).unwrap() <= epsilon(e), "{e} {d}");
            let more = rho(r.get() * (1.0 + 1e-9));
            assert!(zcdp_to_epsilon(more, delta(d)).unwrap() > epsilon(e), "{e} {d}");
            // Both directions of the conversion agree.
            close(zcdp_to_delta(r, epsilon(e)).get(), d, 1e-9);

            let s = gaussian_noise_multiplier(asked);
            assert!(gaussian_delta(s, epsilon(e)) <= delta(d), "{e} {d}");
            assert!(gaussian_delta(s * (1.0 - 1e-10), epsilon(e)) > delta(d), "{e} {d}");
            close(gaussian_epsilon(s, delta(d)).unwrap().get(), e, 1e-10);

            // A Gaussian is 1 / (2 s^2)-zCDP, so its own epsilon is the smaller one.
            let by_zcdp = zcdp_to_epsilon(rho(0.5 / (s * s)), delta(d)).unwrap().get();
            assert!(by_zcdp >= e * (1.0 - 1e-12), "{e} {d}");
        }
    }
}

#[test]
fn neighbours_on_the_grid_are_ordered() {
    for pair in EPSILONS.windows(2) {
        for d in DELTAS {
            let [low, high] = [pair[0], pair[1]].map(|e| budget(e, d));
            assert!(budget_to_zcdp(low) < budget_to_zcdp(high));
            assert!(gaussian_noise_multiplier(low) > gaussian_noise_multiplier(high));
        }
    }
    for pair in DELTAS.windows(2) {
        for e in EPSILONS {
            let [low, high] = [pair[0], pair[1]].map(|d| budget(e, d));
            assert!(budget_to_zcdp(low) < budget_to_zcdp(high));
            assert!(gaussian_noise_multiplier(low) > gaussian_noise_multiplier(high));
        }
    }
}

#[test]
fn ends_of_the_range() {
    assert_eq!(zcdp_to_epsilon(Rho::ZERO, Delta::ZERO), Some(Epsilon::ZERO));
    assert_eq!(zcdp_to_epsilon(rho(1e-9), Delta::ZERO), None);
    assert_eq!(zcdp_to_delta(Rho::ZERO, Epsilon::ZERO), Delta::ZERO);
    assert_eq!(zcdp_to_delta(rho(1e300), epsilon(1.0)), Delta::MAX);
    assert_eq!(zcdp_to_delta(rho(1e-9), epsilon(100.0)).get(), 5e-324, "never 0");
    assert_eq!(budget_to_zcdp(budget(1.0, 0.0)), None);
    assert_eq!(gaussian_noise_multiplier(budget(1.0, 0.0)), f64::INFINITY);
    assert_eq!(gaussian_delta(f64::INFINITY, epsilon(1.0)), Delta::ZERO);
    for nonsense in [0.0, -0.0, -1.0, f64::NAN, f64::NEG_INFINITY] {
        assert_eq!(gaussian_delta(nonsense, epsilon(1.0)), Delta::MAX, "{nonsense}");
        assert_eq!(gaussian_epsilon(nonsense, delta(0.5)), None, "{nonsense}");
    }
    assert_eq!(gaussian_epsilon(1.0, Delta::ZERO), None);
    assert_eq!(gaussian_epsilon(f64::INFINITY, Delta::ZERO), Some(Epsilon::ZERO));
}

#[test]
fn no_finite_input_breaks_anything() {
    let wild = [5e-324, 1e-300, 1e-20, 1e-3, 1.0, 700.0, 1e20, 1e300, f64::MAX];
    for a in wild {
        for b in wild {
            assert!(zcdp_to_delta(rho(a), epsilon(b)) > Delta::ZERO, "{a:e} {b:e}");
            assert!(gaussian_delta(a, epsilon(b)) > Delta::ZERO, "{a:e} {b:e}");
            if let Ok(d) = Delta::new(b) {
                let _ = gaussian_epsilon(a, d);
                if let Some(e) = zcdp_to_epsilon(rho(a), d) {
                    assert!(e.get() >= 0.0, "{a:e} {b:e}");
                }
                if a <= 100.0 {
                    let asked = budget(a, b);
                    let s = gaussian_noise_multiplier(asked);
                    assert!(gaussian_delta(s, epsilon(a)) <= d, "{a:e} {b:e} {s:e}");
                    if let Some(r) = budget_to_zcdp(asked) {
                        assert!(zcdp_to_epsilon(r, d).unwrap() <= epsilon(a), "{a:e} {b:e}");
                    }
                }
            }
        }
    }
    let s = gaussian_noise_multiplier(budget(1e-3, Delta::MAX.get()));
    assert!(gaussian_delta(s, epsilon(1e-3)) <= Delta::MAX);
}

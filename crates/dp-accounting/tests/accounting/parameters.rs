//! Every number at its boundary.

use dp_accounting::{Budget, Delta, Epsilon, ParamError, Rho, Within};

use crate::{delta, epsilon, rho};

const NOWHERE: [f64; 4] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0];
const SUBNORMAL: f64 = 5e-324;

#[test]
fn what_is_refused() {
    for bad in NOWHERE.into_iter().chain([-SUBNORMAL]) {
        assert!(Epsilon::new(bad).is_err(), "{bad}");
        assert!(Rho::new(bad).is_err(), "{bad}");
        assert!(Delta::new(bad).is_err(), "{bad}");
        assert!(Budget::new(bad, 0.0).is_err(), "{bad}");
        assert!(Budget::new(1.0, bad).is_err(), "{bad}");
        assert!(Within::new(bad).is_err(), "{bad}");
    }
    for bad in [1.0, 1.5, 1e308] {
        assert!(Delta::new(bad).is_err(), "{bad}");
        assert!(Budget::new(1.0, bad).is_err(), "{bad}");
    }
    for bad in [0.0, -0.0, 100.0_f64.next_up(), 1e308] {
        assert!(Budget::new(bad, 0.0).is_err(), "{bad}");
    }
    assert!(Within::new(0.0).is_err());
    assert!(Within::new(-0.0).is_err());
}

#[test]
fn what_is_accepted() {
    for good in [0.0, -0.0, SUBNORMAL, 1.0, 1e308] {
        assert_eq!(epsilon(good).get().to_bits(), (good + 0.0).to_bits());
        assert_eq!(rho(good).get().to_bits(), (good + 0.0).to_bits());
    }
    for good in [0.0, -0.0, SUBNORMAL, 0.5, 1.0_f64.next_down()] {
        assert_eq!(delta(good).get().to_bits(), (good + 0.0).to_bits());
    }
    for good in [SUBNORMAL, 1e-3, Budget::MAX_EPSILON] {
        assert!(Budget::new(good, -0.0).is_ok(), "{good}");
    }
    assert_eq!(Delta::MAX.get(), 1.0_f64.next_down());
    assert_eq!(Within::new(SUBNORMAL).unwrap().rho(), SUBNORMAL);
}

#[test]
fn errors_say_which_value_and_which_limit() {
    let messages = [
        Epsilon::new(f64::NAN).unwrap_err(),
        Delta::new(1.0).unwrap_err(),
        Budget::new(101.0, 0.0).unwrap_err(),
        Within::new(0.0).unwrap_err(),
        epsilon(1.0).split(&[]).unwrap_err(),
    ]
    .map(|error: ParamError| error.to_string());
    insta::assert_snapshot!(messages.join("\n"), @r"
    epsilon must be finite and >= 0, got NaN
    delta must be at least 0 and below 1, got 1
    epsilon must be finite and > 0 and at most 100, got 101
    distance must be finite and > 0, got 0
    weights must not be empty
    ");
}

#[test]
fn numbers_print_in_a_readable_form() {
    let shown = [epsilon(0.0), epsilon(0.1), epsilon(1e-6), epsilon(2.5e7)].map(|e| e.to_string());
    assert_eq!(shown, ["0", "0.1", "1e-6", "2.5e7"]);
    assert_eq!(crate::budget(1.0, 1e-6).to_string(), "epsilon 1 at delta 1e-6");
}

#[test]
fn shares_never_add_up_to_more_than_the_whole() {
    use dp_accounting::{Loss, Step};
    for total in [1.0, 0.1, 100.0 / 3.0, 1e-300, 7e-320] {
        for weights in [vec![1.0], vec![1.0; 3], vec![1.0; 10], vec![0.04, 0.18, 0.18, 0.6]] {
            let mut shares = epsilon(total).split(&weights).unwrap();
            for _ in 0..2 {
                let steps = shares.iter().map(|&s| Step::spend("s", Loss::from(s))).collect();
                let sum = Step::sequential("all", steps).pure().unwrap().get();
                assert!(sum <= total, "{total} {weights:?}");
                assert!(sum >= total * (1.0 - 1e-14) - 1e-322, "{total} {weights:?} {sum}");
                shares.reverse();
            }
        }
    }
    for bad in [&[0.0][..], &[1.0, -1.0], &[f64::NAN], &[1.0, f64::INFINITY], &[1e308, 1e308]] {
        assert!(epsilon(1.0).split(bad).is_err(), "{bad:?}");
    }
    assert_eq!(rho(1.0).split(&[1.0, 0.0]).unwrap()[1], dp_accounting::Rho::ZERO);
}

//! Filters and odometers in pure and approximate terms.

use dp_accounting::{
    AddRemove, BasicFilter, BasicOdometer, Filter, Loss, Odometer, Receipt, Within, zcdp_to_epsilon,
};

use crate::{approximate, budget, close, delta, epsilon, pure, rho, step, zcdp};

fn receipt(loss: Loss, e: f64, d: f64) -> Receipt<AddRemove> {
    Receipt::new("m", AddRemove, budget(e, d), step(loss))
}

#[test]
fn sums_fill_a_filter_to_the_brim() {
    let mut filter = BasicFilter::new(AddRemove, budget(1.0, 3e-6));
    assert!(filter.admit(&receipt(approximate(0.25, 1e-6), 0.25, 1e-6)));
    // Charged as pure: its own delta stays.
    assert!(filter.admit(&receipt(pure(0.5), 0.5, 1e-6)));
    assert_eq!(filter.spent(), (epsilon(0.75), delta(1e-6)));
    for refused in [
        receipt(pure(0.250_000_1), 1.0, 0.0),
        receipt(approximate(0.1, 2.000_001e-6), 0.1, 3e-6),
        receipt(Loss::Unbounded, 0.1, 1e-6),
        receipt(approximate(0.01, 1e-6), 0.1, 0.0),
        receipt(zcdp(0.3), 0.1, 1e-6),
    ] {
        assert!(!filter.admit(&refused), "{refused}");
        assert_eq!(filter.spent(), (epsilon(0.75), delta(1e-6)));
    }
    // A zCDP release counts at the epsilon that it has at its own delta.
    assert!(filter.admit(&receipt(zcdp(1e-4), 0.25, 1e-6)));
    assert_eq!((filter.spent().1, filter.limit()), (delta(2e-6), budget(1.0, 3e-6)));
}

#[test]
fn a_pure_filter_admits_pure_losses_only() {
    let mut filter = BasicFilter::new(AddRemove, budget(1.0, 0.0));
    assert!(!filter.admit(&receipt(approximate(0.1, 1e-9), 0.1, 1e-9)));
    assert!(filter.admit(&receipt(pure(1.0), 1.0, 0.0)));
    assert!(!filter.admit(&receipt(pure(1e-12), 1.0, 0.0)), "it is full");
}

#[test]
fn sums_round_up_and_other_distances_are_unknown() {
    let mut odometer = BasicOdometer::new(AddRemove);
    for _ in 0..10 {
        odometer.charge(&receipt(approximate(0.1, 1e-7), 0.1, 1e-7));
    }
    let (e, d) = odometer.spent().unwrap();
    assert!(e > epsilon(1.0) && e < epsilon(1.0 + 1e-14) && d >= delta(1e-6), "{e} {d}");
    odometer.charge(&receipt(Loss::Unbounded, 1.0, 1e-6));
    assert_eq!(odometer.spent(), None);
    let within = |distance| Within::new(distance).unwrap();
    let mut near = BasicOdometer::new(within(1.0));
    near.charge(&Receipt::new("m", within(2.0), budget(1.0, 0.0), step(pure(0.1))));
    assert_eq!(near.spent(), None);
}

/// Of a larger distance too: it covers the smaller one, but only where somebody says so.
#[test]
fn zcdp_is_counted_for_one_distance_only() {
    let within = |distance| Within::new(distance).unwrap();
    let receipt = |d| Receipt::new("m", within(d), budget(3.0, 1e-6), step(zcdp(0.1)));
    let mut filter = Filter::new(within(1.0), rho(1.0));
    assert!(!filter.admit(&receipt(2.0)) && !filter.admit(&receipt(0.5)));
    assert_eq!(filter.spent(), rho(0.0));
    assert!(filter.admit(&receipt(1.0)));
    assert!(filter.admit(&receipt(2.0).for_shorter(within(1.0)).unwrap()));
    assert!(receipt(0.5).for_shorter(within(1.0)).is_err());
    let mut odometer = Odometer::new(within(1.0), delta(1e-6), rho(0.1)).unwrap();
    odometer.charge(&receipt(1.0));
    assert!(odometer.spent().is_some());
    odometer.charge(&receipt(2.0));
    assert_eq!(odometer.spent(), None);
}

/// An odometer may be read at any level of spending, so its levels share the delta: 1/2, 1/6, 1/12, ...
#[test]
fn the_levels_of_an_odometer_share_its_delta() {
    let mut odometer = Odometer::new(AddRemove, delta(1e-6), rho(0.01)).unwrap();
    for (spent, limit, part) in [(0.009, 0.01, 2.0), (0.009, 0.02, 6.0), (0.009, 0.04, 12.0)] {
        odometer.charge(&receipt(zcdp(spent), 1.0, 1e-6));
        let expected = zcdp_to_epsilon(rho(limit), delta(1e-6 / part)).unwrap();
        close(odometer.spent().unwrap().get(), expected.get(), 1e-12);
    }
}

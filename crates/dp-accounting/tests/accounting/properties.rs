//! What holds for every composition: the sides in order, and all that must rise or fall.

use approx::assert_abs_diff_eq;
use std::num::NonZeroU32;

use dp_accounting::{
    AddRemove, Bound, Composition, Direction, Event, Receipt, ReplaceOne, Step, calibrate,
    renyi_epsilon,
};

use crate::{budget, delta, epsilon, pure, step, zcdp};

fn compositions() -> Vec<Composition> {
    let gaussian = |s: f64| Event::gaussian(s).unwrap();
    let laplace = |s: f64| Event::laplace(s).unwrap();
    let sampled = |event: Event, rate: f64| event.poisson_sampled(rate).unwrap();
    let events: [&[(Event, u64)]; 9] = [
        &[(gaussian(3.0), 7)],
        &[(Event::randomised_response(epsilon(0.2)).unwrap(), 40)],
        &[(Event::discrete_gaussian(4.0, 1).unwrap(), 9)],
        &[(Event::discrete_laplace(0.3, 2).unwrap(), 25)],
        &[(Event::bounded_range(epsilon(0.4)).unwrap(), 60)],
        &[(sampled(gaussian(1.0), 0.05), 200)],
        &[(sampled(laplace(0.8), 0.1), 100)],
        &[(Event::approximate(epsilon(0.1), delta(1e-9)).unwrap(), 30)],
        &[(sampled(gaussian(1.2), 0.1), 50), (laplace(5.0), 10), (gaussian(6.0), 3)],
    ];
    events
        .iter()
        .map(|parts| {
            parts.iter().fold(Composition::new(), |all, (event, k)| all.with(*event, *k).unwrap())
        })
        .collect()
}

#[track_caller]
fn falls(before: Bound, after: Bound, what: &str) {
    assert!(after.lower() <= before.upper(), "{what}: {before} then {after}");
    // Strictly, unless both are 0 or infinite.
    assert!(
        after.upper() < before.lower() || before.upper() <= 0.0 || before.lower().is_infinite(),
        "{what}: {before} then {after}"
    );
}

#[test]
fn the_sides_are_in_order_and_curves_fall() {
    for all in compositions() {
        let what = format!("{:?}", all.parts());
        let deltas: Vec<Bound> =
            all.deltas(&[0.0, 0.3, 0.9, 1.7, 2.6].map(epsilon)).into_iter().collect();
        for bound in &deltas {
            assert!(0.0 <= bound.lower() && bound.lower() <= bound.upper() && bound.upper() <= 1.0);
        }
        for pair in deltas.windows(2) {
            falls(pair[0], pair[1], &what);
        }
        let epsilons = [1e-2, 1e-4, 1e-7].map(|d| all.epsilon(delta(d)));
        for bound in epsilons {
            assert!(0.0 <= bound.lower() && bound.lower() <= bound.upper(), "{what} {bound}");
        }
        for pair in epsilons.windows(2) {
            falls(pair[1], pair[0], &what);
        }
        // There and back: the delta at the epsilon of a delta.
        let at = epsilons[1];
        let back = all.delta(epsilon(at.upper())).lower();
        assert!(back <= 1e-4 * (1.0 + 1e-9), "{what}: {back:e}");
        let back = all.delta(epsilon(at.lower())).upper();
        assert!(back >= 1e-4 * (1.0 - 1e-9) || at.lower() <= 0.0, "{what}: {back:e}");
        assert!(renyi_epsilon(&all, delta(1e-4)) >= at.lower(), "{what}");
    }
}

#[test]
fn several_epsilons_at_once_are_the_same_as_one_by_one() {
    for all in compositions() {
        let at = [0.0, 0.4, 1.3].map(epsilon);
        for (bound, e) in all.deltas(&at).iter().zip(at) {
            let one = all.delta(e);
            assert!(bound.lower() <= one.upper() && one.lower() <= bound.upper(), "{bound} {one}");
            assert!(bound.gap() <= 1e-4 * bound.upper() + 1e-300, "{bound}");
        }
    }
}

#[test]
fn more_uses_cost_more() {
    for all in compositions() {
        let (event, _) = all.parts()[0];
        let mut before = all.epsilon(delta(1e-5));
        for more in [1, 10, 300] {
            let after = all.clone().with(event, more).unwrap().epsilon(delta(1e-5));
            falls(after, before, &format!("{event:?} {more}"));
            before = before.max_of(after);
        }
    }
}

/// The wider of two bounds that are in order.
trait MaxOf {
    fn max_of(self, other: Self) -> Self;
}

impl MaxOf for Bound {
    fn max_of(self, other: Self) -> Self {
        if other.upper() > self.upper() { other } else { self }
    }
}

#[test]
fn more_noise_and_rarer_sampling_cost_less() {
    let at = delta(1e-6);
    let spent = |sigma: f64, rate: f64| {
        let event = Event::gaussian(sigma).unwrap().poisson_sampled(rate).unwrap();
        Composition::new().with(event, 150).unwrap().epsilon(at)
    };
    for (sigma, rate) in [(0.8, 0.02), (1.5, 0.1), (4.0, 0.5)] {
        falls(spent(sigma, rate), spent(1.01 * sigma, rate), "noise");
        falls(spent(sigma, rate), spent(sigma, 0.99 * rate), "rate");
    }
    let laplace = |scale: f64| {
        Composition::new().with(Event::laplace(scale).unwrap(), 80).unwrap().epsilon(at)
    };
    falls(laplace(4.0), laplace(4.04), "scale");
}

#[test]
fn gaussians_scale_with_the_root() {
    for (sigma, k) in [(1.0, 4_u64), (7.0, 49), (30.0, 900)] {
        let once = Event::gaussian(sigma / (k as f64).sqrt()).unwrap();
        let once = Composition::new().with(once, 1).unwrap();
        let many = Composition::new().with(Event::gaussian(sigma).unwrap(), k).unwrap();
        for d in [1e-3, 1e-6, 1e-12] {
            let (a, b) = (once.epsilon(delta(d)), many.epsilon(delta(d)));
            assert_abs_diff_eq!(a.upper(), b.upper(), epsilon = 1e-11 * a.upper());
        }
    }
}

#[test]
fn a_group_costs_at_least_its_parts_and_relations_convert() {
    let two = NonZeroU32::new(2).unwrap();
    for loss in [pure(0.3), zcdp(0.02)] {
        let one = Step::sequential("one", vec![step(loss); 5]);
        let group = Step::group("two", two, one.clone());
        let at = delta(1e-6);
        let (a, b) = (one.epsilon(at).unwrap(), group.epsilon(at).unwrap());
        assert!(a < b, "{a} {b}");
        let receipt = Receipt::new("m", AddRemove, budget(50.0, 1e-6), one);
        let replaced: Receipt<ReplaceOne> = receipt.into_replace_one();
        // Replacing a record is two changes: the same as the group.
        let swapped = replaced.spent().epsilon_under::<ReplaceOne>(at).unwrap();
        assert!(a < swapped && swapped <= b, "{a} {swapped} {b}");
    }
}

/// A mix that depends on one scale, and the rest of it.
type Mix = fn(f64, Event) -> Result<Composition, dp_accounting::ParamError>;

#[test]
fn calibration_is_least_and_fits() {
    let rest = Event::laplace(10.0).unwrap();
    let target = budget(2.0, 1e-6);
    let mixes: [(&str, Mix); 3] = [
        ("sampled gaussian", |scale, rest| {
            let event = Event::gaussian(scale)?.poisson_sampled(0.02)?;
            Composition::new().with(event, 500)?.with(rest, 3)
        }),
        ("laplace", |scale, rest| {
            Composition::new().with(Event::laplace(scale)?, 20)?.with(rest, 3)
        }),
        ("response", |scale, rest| {
            let event = Event::randomised_response(dp_accounting::Epsilon::new(1.0 / scale)?)?;
            Composition::new().with(event, 20)?.with(rest, 3)
        }),
    ];
    for (name, mix) in mixes {
        let scale = calibrate(target, 0.3, 300.0, |s| mix(s, rest)).unwrap().unwrap();
        let spent = |s: f64| mix(s, rest).unwrap().epsilon(target.delta());
        assert!(spent(scale).upper() <= 2.0, "{name} {scale}");
        assert!(spent(scale * (1.0 - 3e-6)).upper() > 2.0, "{name} {scale} is not the least");
    }
}

#[test]
fn both_directions_are_looked_at() {
    let event = Event::gaussian(1.0).unwrap().poisson_sampled(0.2).unwrap();
    let all = Composition::new().with(event, 20).unwrap();
    let at = delta(1e-6);
    let one_way = [Direction::Remove, Direction::Add].map(|way| all.epsilon_in(way, at));
    let both = all.epsilon(at);
    for way in one_way {
        assert!(both.upper() >= way.lower());
    }
    assert!((one_way[0].upper() - one_way[1].upper()).abs() > 1e-3, "the directions differ");
}

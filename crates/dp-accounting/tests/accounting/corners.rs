//! Far corners, where numbers overflow and underflow: no claim may come out too small there, and none may read as exact 0.

#![allow(clippy::unreadable_literal, reason = "settings as a checker found them")]

use dp_accounting::{
    Accuracy, Composition, Direction, Epsilon, Event, Question, renyi_divergence, renyi_epsilon,
    renyi_to_epsilon,
};

use crate::{delta, epsilon};

fn once(event: Event) -> Composition {
    Composition::new().with(event, 1).unwrap()
}

/// Four thousand million Gaussians are one of slope 30,000, whose density has `1e9` nodes: found by fuzzing, as minutes and 34 GB for the least effort.
#[test]
fn the_effort_pays_for_the_nodes_of_a_density() {
    let many =
        once(Event::laplace(3.0).unwrap()).with(Event::gaussian(2.0).unwrap(), 1 << 32).unwrap();
    let rough = Accuracy::within(0.5).unwrap().with_effort(100_000).unwrap();
    let Ok(answer) = many.profile(rough).ask(Question::Epsilon(delta(1e-6))) else {
        panic!("the bound by moments remains")
    };
    assert!(answer.bound.upper() > 5e8 && answer.bound.upper() < 6e8, "{answer:?}");
}

/// What so many largest losses may have been raised by grows with their number.
#[test]
fn the_largest_loss_of_a_thousand_parts() {
    let mut all = Composition::new();
    for i in 1..=1000_u32 {
        all = all.with(Event::laplace(f64::from(i)).unwrap(), 1).unwrap();
    }
    let answer = all.profile(Accuracy::default()).ask(Question::Epsilon(delta(0.0))).unwrap();
    // The sum of 1 / i.
    let sum = 7.485_470_860_550_345;
    let (lower, upper) = (answer.bound.lower(), answer.bound.upper());
    assert!(lower < sum && sum < upper && upper - lower < 1e-10, "{lower} {upper}");
}

/// At integer multiples of the lattice the divergence of order `a` is `a s^2 / (2 v)` exactly, and never more.
#[test]
fn renyi_divergences_of_the_discrete_gaussian() {
    for (variance, orders) in [
        (1.0, vec![2.0, 5.0, 64.0, 100.0, 1000.0, 1e5]),
        (0.05, vec![2.0, 20.0, 300.0]),
        (0.01, vec![2.0, 20.0]),
        (1e9, vec![2.0, 64.0, 1e6]),
    ] {
        let one = once(Event::discrete_gaussian(variance, 1).unwrap());
        for order in orders {
            let got = renyi_divergence(&one, Direction::Remove, order).unwrap();
            let want = order / (2.0 * variance);
            assert!(got >= want && got <= want * (1.0 + 1e-12), "{variance} {order}: {got} {want}");
        }
    }
    // Between the integers less: at order 1.5 and variance 1/20, by the sums over the integers themselves (50 digits).
    let small = once(Event::discrete_gaussian(0.05, 1).unwrap());
    let got = renyi_divergence(&small, Direction::Remove, 1.5).unwrap();
    let want = DIVERGENCE_AT_1_5;
    assert!(got >= want && got <= want * (1.0 + 1e-12), "{got} {want}");
}

const DIVERGENCE_AT_1_5: f64 = 11.386_112_773_767_262_798;

/// The loop over orders that users write, with the divergences of this crate.
#[test]
fn the_textbook_loop_over_orders_claims_no_less_than_the_truth() {
    let at = delta(1e-6);
    let one = once(Event::discrete_gaussian(1.0, 1).unwrap());
    let mut least = f64::INFINITY;
    for order in (2..=4096).map(f64::from).chain([1e5, 1e9, 1e100, f64::MAX]) {
        let divergence = renyi_divergence(&one, Direction::Remove, order).unwrap();
        if divergence.is_finite() {
            let epsilon = renyi_to_epsilon(order, divergence, at).unwrap().unwrap().get();
            least = least.min(epsilon);
        }
    }
    let exact = one.epsilon(at);
    assert!(least >= exact.lower() && least <= 1.2 * exact.upper(), "{least}, {exact}");
    assert!(exact.lower() > 4.4995 && exact.upper() < 4.4997, "{exact}");
    assert!(renyi_epsilon(&one, at) >= exact.lower());
}

/// Without a delta moments say what is always lost, and nothing where anything may happen with some probability.
#[test]
fn moments_without_a_delta() {
    let flips = Event::randomised_response(epsilon(0.5)).unwrap();
    let pure = Composition::new().with(flips, 3).unwrap();
    let lost = renyi_epsilon(&pure, delta(0.0));
    assert!((1.5..1.5 + 1e-12).contains(&lost), "{lost}");
    let rare = Event::approximate(epsilon(0.5), delta(1e-9)).unwrap();
    let rarely_all = pure.clone().with(rare, 1).unwrap();
    for at in [0.0, 1e-12, 1e-9] {
        assert_eq!(renyi_epsilon(&rarely_all, delta(at)), f64::INFINITY, "{at}");
    }
    assert!(renyi_epsilon(&rarely_all, delta(1e-6)).is_finite());
}

/// Above every order that is computed, a pure loss is still a bound, and noise without one has none.
#[test]
fn orders_without_end() {
    let pure =
        Composition::new().with(Event::randomised_response(epsilon(0.5)).unwrap(), 3).unwrap();
    let noise = Composition::new().with(Event::gaussian(1.0).unwrap(), 1).unwrap();
    for order in [1.0 + f64::EPSILON, 1.001, 2.0, 1e3, 1e7, 1e100, f64::MAX] {
        let got = renyi_divergence(&pure, Direction::Add, order).unwrap();
        assert!(got > 0.0 && got <= 1.500_001, "{order}: {got}");
        assert!(order < 1.01 || got >= 3.0 * renyi_of_response(0.5, order), "{order}: {got}");
        let got = renyi_divergence(&noise, Direction::Add, order).unwrap();
        assert!(got >= 0.5 * order, "{order}: {got}");
    }
}

fn renyi_of_response(e: f64, order: f64) -> f64 {
    // ln(p^a q^(1-a) + q^a p^(1-a)) / (a - 1), with the larger term first.
    let (p, q) = (1.0 / (1.0 + (-e).exp()), 1.0 / (1.0 + e.exp()));
    let larger = p.ln() / (order - 1.0) + e;
    larger * (1.0 - 1e-9)
        + (q / p * (-2.0 * (order - 1.0) * e).exp()).ln_1p() / (order - 1.0) * (1.0 - 1e-9)
}

/// Next to order 1 the gain of the conversion is a logarithm that cancels.
#[test]
fn conversion_next_to_order_1() {
    // (order, divergence, delta, epsilon) in 50 digits.
    for (order, divergence, at, want) in CONVERSIONS {
        let got = renyi_to_epsilon(order, divergence, delta(at)).unwrap().unwrap().get();
        assert!(got >= want && got <= want * (1.0 + 1e-13), "{order} {at}: {got} {want}");
    }
}

const CONVERSIONS: [(f64, f64, f64, f64); 4] = [
    (1.000_000_001, 40.0, 0.999_999_999, 19.276_734_134_771_663_033),
    (1.000_000_7, 20.0, 0.999_999, 6.256_386_291_017_436_410_1),
    (1.0001, 12.0, 0.9999, 2.789_659_633_023_873_821_5),
    (1.001, 10.0, 0.99, 12.142_080_741_103_693_209),
];

/// Deltas far below the smallest float are positive, and one that is 0 is exactly 0.
#[test]
fn an_answer_of_0_is_exact() {
    let many = |event: Event, count| Composition::new().with(event, count).unwrap();
    let sampled = |event: Event, rate| event.poisson_sampled(rate).unwrap();
    let response = |e| Event::randomised_response(epsilon(e)).unwrap();
    let laplace = |scale| Event::laplace(scale).unwrap();
    let gaussian = |multiplier| Event::gaussian(multiplier).unwrap();
    for (all, at) in [
        (many(Event::discrete_laplace(2.0, 1).unwrap(), 1000), 1999.0),
        (many(Event::discrete_gaussian(1.0, 1).unwrap(), 1), 90.0),
        (many(Event::discrete_gaussian(4.0, 2).unwrap(), 50), 1000.0),
        (many(response(50.0), 100), 4990.0),
        (many(laplace(0.01), 30), 2999.0),
        (many(laplace(1.0), 1000), 999.9),
        (many(gaussian(1.0), 3), 1e4),
        (many(sampled(gaussian(1.0), 1e-3), 100), 1e4),
        (many(sampled(laplace(0.1), 1e-6), 100), 2.1),
        (many(sampled(gaussian(0.5), 0.5), 1), 5e3),
        (many(response(1.0), 100).with(laplace(1.0), 100).unwrap(), 199.0),
        (many(Event::bounded_range(epsilon(1.0)).unwrap(), 1000), 999.0),
    ] {
        let bound = all.delta(epsilon(at));
        assert!(bound.upper() > 0.0, "{all:?}: {bound}");
    }
    // Controls: from the largest loss on there is nothing left.
    for (all, at) in [(many(response(2.0), 50), 100.1), (many(laplace(1.0), 7), 7.1)] {
        assert_eq!(all.delta(epsilon(at)).upper(), 0.0);
    }
    assert_eq!(Composition::new().delta(Epsilon::ZERO).upper(), 0.0);
}

/// One use of sampled Laplace noise with a delta far below the last atom: the largest loss itself must be rounded up far enough.
#[test]
fn the_largest_loss_of_sampled_noise() {
    let event = Event::laplace(0.054455072101020865).unwrap();
    let one = once(event.poisson_sampled(5.510896050960832e-9).unwrap());
    let bound = one.epsilon(delta(1.4e-150));
    // ln(1 + q (e^(1 / scale) - 1)), in 40 digits.
    let truth = LARGEST_LOSS;
    assert!(bound.lower() <= truth && truth <= bound.upper(), "{bound}");
    assert!(bound.gap() <= 1e-12, "{bound}");
    assert!(one.delta(epsilon(truth.next_down())).upper() > 0.0);
}

const LARGEST_LOSS: f64 = 0.41910395638365005172;

/// Sampled so rarely that the curve falls below the smallest float at once.
#[test]
fn rarely_sampled_noise_is_not_free() {
    for (rate, multiplier, at) in [
        (1.4713834521360004e-6, 14.715028584747285, 8.771543957419136e-4),
        (2.06e-9, 24.23, 1.703e-4),
        (6.77e-8, 9.2925, 6.88e-6),
        (5.43e-6, 48.079, 3.933e-4),
    ] {
        let event = Event::gaussian(multiplier).unwrap().poisson_sampled(rate).unwrap();
        let bound = once(event).delta(epsilon(at));
        assert!(bound.upper() > 0.0 && bound.upper() < 1e-300, "{rate} {multiplier}: {bound}");
    }
}

/// Questions whose moments overflow, or whose lattices would be finer than a float: answered, by sides that enclose each other, whatever they say.
#[test]
fn nothing_panics_where_numbers_end() {
    let gaussian = |multiplier| Event::gaussian(multiplier).unwrap();
    let laplace = |scale| Event::laplace(scale).unwrap();
    let response = |e| Event::randomised_response(epsilon(e)).unwrap();
    for (few, count, noise, uses, at) in [
        (
            Event::discrete_laplace(0.002079771700880653, 4).unwrap(),
            4,
            gaussian(77.08972826019995),
            859_892_939,
            1069.2,
        ),
        (response(0.0007364359273825671), 1, gaussian(0.40584063153884953), 30_672, 1047.4),
        (
            Event::approximate(epsilon(0.0448), delta(2.27e-6)).unwrap(),
            1,
            gaussian(3.4569),
            7_493_957,
            106_131.0,
        ),
        (response(12.830874814751764), 1, gaussian(2.17986), 768_500, 1096.6),
        (
            Event::discrete_gaussian(0.07210853596378558, 1).unwrap(),
            2,
            gaussian(6.2475),
            3_021_336,
            703.2,
        ),
    ] {
        let mix = Composition::new().with(few, count).unwrap().with(noise, uses).unwrap();
        let alone = Composition::new().with(noise, uses).unwrap().delta(epsilon(at));
        let bound = mix.delta(epsilon(at));
        assert!(bound.upper() >= alone.lower() && bound.lower() <= 1.0, "{mix:?}: {bound}");
    }
    for (event, count, at) in [
        (laplace(16045.6), 2, 6.2352216578008045e-136),
        (laplace(4713.0245), 4, 8.292312682775451e-243),
        (laplace(143.62), 2, 1.1768096400807518e-255),
        (laplace(266.89), 3, 2.519768736675057e-96),
    ] {
        let all = Composition::new().with(event, count).unwrap();
        let (bound, most) = (all.epsilon(delta(at)), all.epsilon(delta(0.0)).upper());
        assert!(bound.upper() <= most && bound.upper() >= most * (1.0 - 1e-9), "{all:?}: {bound}");
    }
}

/// On a coarse lattice a tilt that is right for a fine one makes powers underflow. The curve is above these deltas up to next to the largest loss.
#[test]
fn tiny_bounded_ranges_at_tiny_deltas() {
    for (eta, count, at) in [
        (5.246629617403346e-9, 1, 8.062340012071178e-143),
        (2.1571702622166014e-7, 5, 1.7238898517972615e-174),
        (2.149766891009722e-9, 5, 4.0886117123222246e-260),
    ] {
        let event = Event::bounded_range(epsilon(eta)).unwrap();
        let bound = Composition::new().with(event, count).unwrap().epsilon(delta(at));
        let most = eta * count as f64;
        assert!(bound.upper() >= most * (1.0 - 1e-9), "{eta}: {bound}");
        assert!(bound.upper() <= most * (1.0 + 1e-12), "{eta}: {bound}");
    }
}

//! Losses, steps and totals against small laws that can be written down in full.

use std::num::NonZeroU32;

use dp_accounting::{
    AddOnly, AddRemove, Delta, Epsilon, Loss, Mu, Receipt, Relation, ReplaceOne, Rho, Step, Within,
    zcdp_to_epsilon,
};

use crate::{approximate, budget, close, delta, epsilon, gaussian, pure, range, rho, step, zcdp};

/// Renyi divergence of order `a` between two laws on the same finite set.
fn renyi(p: &[f64], q: &[f64], a: f64) -> f64 {
    let moment: f64 = p.iter().zip(q).map(|(p, q)| p * (p / q).powf(a - 1.0)).sum();
    moment.ln() / (a - 1.0)
}

/// Randomised response: 0 and 1 with odds `e^epsilon`.
fn response(epsilon: f64) -> ([f64; 2], [f64; 2]) {
    let truth = 1.0 / (1.0 + (-epsilon).exp());
    ([truth, 1.0 - truth], [1.0 - truth, truth])
}

#[test]
fn pure_as_zcdp_covers_randomised_response_and_touches_it() {
    for e in [1e-3, 0.1, 1.0, 3.0, 10.0, 30.0] {
        let bound = pure(e).zcdp().unwrap().get();
        assert!(bound <= e * e / 2.0 * (1.0 + 1e-12), "never worse than the textbook bound");
        let (p, q) = response(e);
        for a in [1.001, 1.01, 1.1, 1.5, 2.0, 5.0, 20.0] {
            assert!(renyi(&p, &q, a) <= a * bound * (1.0 + 1e-9) + 1e-12, "{e} {a}");
        }
        close(renyi(&p, &q, 1.0 + 1e-6), bound, 1e-2);
    }
}

#[test]
fn a_one_sided_pure_loss_is_not_a_small_zcdp_loss() {
    // P sits on one output of Q: one-sided epsilon-DP, and the divergence of every order is epsilon.
    let e: f64 = 0.1;
    let (p, q) = ([1.0, 0.0], [(-e).exp(), 1.0 - (-e).exp()]);
    let a = 1.1;
    let divergence = renyi(&p, &q, a);
    close(divergence, e, 1e-12);
    let two_sided = pure(e).zcdp().unwrap().get();
    assert!(divergence > a * two_sided, "the two-sided conversion would be wrong here");
    let one_sided = step(pure(e)).zcdp_under::<AddOnly>().unwrap().get();
    assert!(divergence <= a * one_sided);
    // So a hundred of them cost what they cost as pure losses, with or without a delta.
    let many = Step::sequential("all", vec![step(pure(e)); 100]);
    close(many.epsilon_under::<AddOnly>(delta(1e-6)).unwrap().get(), 10.0, 1e-12);
    assert!(many.epsilon_under::<AddRemove>(delta(1e-6)).unwrap().get() < 5.5);
    // A bounded range bounds both directions by itself.
    let ranges = Step::sequential("all", vec![step(range(e)); 100]);
    assert!(ranges.epsilon_under::<AddOnly>(delta(1e-6)).unwrap().get() < 2.7);
}

#[test]
fn losses_convert() {
    assert_eq!(pure(0.5).pure(), Some(epsilon(0.5)));
    assert_eq!(range(0.5).pure(), Some(epsilon(0.5)));
    assert_eq!(zcdp(0.5).pure(), None);
    assert_eq!(zcdp(0.0).pure(), Some(Epsilon::ZERO));
    assert_eq!(approximate(0.5, 0.1).pure(), None);
    assert_eq!(approximate(0.5, 0.0).pure(), Some(epsilon(0.5)));
    assert_eq!(approximate(0.5, 0.1).zcdp(), None);
    assert_eq!(Loss::Unbounded.pure(), None);
    assert_eq!(Loss::Unbounded.zcdp(), None);
    assert_eq!(gaussian(0.5).pure(), None);
    assert_eq!(gaussian(0.0).pure(), Some(Epsilon::ZERO));
    assert_eq!(gaussian(0.5).zcdp(), Some(rho(0.125)));
    close(range(0.5).zcdp().unwrap().get(), 0.03125, 1e-15);
    assert!(range(100.0).zcdp().unwrap().get() <= 100.001, "a wide range is better taken as pure");
    assert!(pure(5e-324).zcdp().unwrap() > Rho::ZERO, "underflow must not make a loss free");
    assert!(pure(1e308).zcdp().is_some());
}

#[test]
fn groups() {
    assert_eq!(pure(0.5).scaled_to_group(3), pure(1.5));
    assert_eq!(range(0.5).scaled_to_group(3), range(1.5));
    assert_eq!(zcdp(0.5).scaled_to_group(3), zcdp(4.5));
    assert_eq!(gaussian(0.5).scaled_to_group(3), gaussian(1.5));
    for loss in [pure(0.3), range(0.3), zcdp(0.3), approximate(0.3, 1e-6), Loss::Unbounded] {
        assert_eq!(loss.scaled_to_group(1), loss);
    }
    let Loss::Approximate { epsilon: e, delta: d } = approximate(0.5, 1e-6).scaled_to_group(3)
    else {
        panic!("stays approximate")
    };
    assert_eq!(e, epsilon(1.5));
    close(d.get(), 1e-6 * (1.0 + 0.5_f64.exp() + 1.0_f64.exp()), 1e-13);
    let flat = approximate(0.0, 1e-6).scaled_to_group(5);
    assert_eq!(flat, approximate(0.0, 5e-6));
    assert_eq!(approximate(1.0, 0.3).scaled_to_group(2), Loss::Unbounded, "1.1 is not a delta");
    assert_eq!(approximate(1.0, 1e-9).scaled_to_group(u32::MAX), Loss::Unbounded);
    assert_eq!(pure(1e308).scaled_to_group(2), Loss::Unbounded);
}

#[test]
fn sums_round_up_only_when_they_must() {
    let quarters = Step::sequential("all", vec![step(pure(0.25)); 4]);
    assert_eq!(quarters.pure(), Some(epsilon(1.0)));
    let tenths = Step::sequential("all", vec![step(pure(0.1)); 10]);
    let total = tenths.pure().unwrap().get();
    assert!(total > 1.0 && total < 1.0 + 1e-14, "0.1 as a float is more than a tenth: {total}");
}

#[test]
fn the_best_route_is_taken() {
    let d = delta(1e-6);
    let few = Step::sequential("few", vec![step(pure(0.1)); 2]);
    assert_eq!(few.epsilon(d), Some(epsilon(0.2)), "pure");
    let many = Step::sequential("many", vec![step(pure(0.1)); 1000]);
    let by_zcdp = zcdp_to_epsilon(many.zcdp().unwrap(), d).unwrap();
    assert_eq!(many.epsilon(d), Some(by_zcdp), "zCDP");
    let mixed = Step::sequential("mixed", vec![step(pure(5.0)), step(zcdp(0.01))]);
    let as_stated = 5.0 + zcdp_to_epsilon(rho(0.01), d).unwrap().get();
    let as_zcdp = zcdp_to_epsilon(mixed.zcdp().unwrap(), d).unwrap().get();
    assert!(as_stated < as_zcdp);
    close(mixed.epsilon(d).unwrap().get(), as_stated, 1e-14);
    assert_eq!(mixed.epsilon(Delta::ZERO), None, "zCDP has no pure form");
}

/// What is known as zCDP only has no pair of laws, so it and the rest share delta: halves of it are enough for a sum that holds.
#[test]
fn a_total_shares_delta_between_pairs_and_the_rest() {
    let total = |losses: &[Loss]| {
        let steps = losses.iter().map(|loss| step(*loss)).collect();
        let all = Step::sequential("all", steps);
        let receipt = Receipt::new("m", AddRemove, budget(9.0, 1e-6), all);
        receipt.total().unwrap().epsilon(delta(1e-6))
    };
    for (loss, alone) in [
        (gaussian(0.5), total(&[gaussian(0.5)]).upper()),
        (pure(0.25), 0.25),
        (approximate(0.25, 1e-7), 0.25),
    ] {
        let both = total(&[loss, zcdp(0.05)]).upper();
        let rest = zcdp_to_epsilon(rho(0.05), delta(4e-7)).unwrap().get();
        assert!(alone < both && both < 1.05 * (alone + rest), "{loss:?}: {both}, {alone} + {rest}");
    }
}

#[test]
fn approximate_steps_use_up_delta() {
    let steps = |loss| Step::sequential("all", vec![step(zcdp(0.1)), step(loss)]);
    let all = steps(approximate(0.5, 4e-7));
    let left = zcdp_to_epsilon(rho(0.1), delta(6e-7)).unwrap().get();
    close(all.epsilon(delta(1e-6)).unwrap().get(), 0.5 + left, 1e-12);
    assert_eq!(all.epsilon(delta(3e-7)), None);
    assert_eq!(all.epsilon(delta(4e-7)), None, "nothing is left for the zCDP step");
    assert_eq!(all.pure(), None);
    assert_eq!(all.zcdp(), None);
    assert_eq!(steps(Loss::Unbounded).epsilon(delta(0.5)), None);
    let alone = step(approximate(0.5, 1e-6));
    assert_eq!(alone.epsilon(delta(1e-6)), Some(epsilon(0.5)));
}

#[test]
fn parallel_charges_the_dearest_part_in_each_measure() {
    let parts = Step::parallel("parts", vec![step(pure(1.0)), step(zcdp(0.02)), step(range(1.5))]);
    assert_eq!(parts.pure(), None);
    assert_eq!(parts.zcdp(), pure(1.0).zcdp().max_by_value(range(1.5).zcdp()));
    let at = delta(1e-6);
    let dearest = [pure(1.0), zcdp(0.02), range(1.5)]
        .map(|loss| step(loss).epsilon(at).unwrap().get())
        .into_iter()
        .fold(0.0, f64::max);
    assert_eq!(parts.epsilon(at).unwrap().get(), dearest);
    assert_eq!(Step::parallel("none", vec![]).pure(), Some(Epsilon::ZERO));
}

#[test]
fn one_of_charges_the_dearest_way_under_every_relation() {
    let ways = || vec![step(pure(1.0)), step(zcdp(0.02)), step(range(1.5))];
    let (one, parts) = (Step::one_of("ways", ways()), Step::parallel("parts", ways()));
    let at = delta(1e-6);
    // Parts of which a record is in one are no dearer, and a record that leaves one for another is in two; a run is in one way.
    assert_eq!(one.zcdp(), parts.zcdp());
    assert_eq!(one.epsilon(at), parts.epsilon(at));
    assert_eq!(one.epsilon_under::<ReplaceOne>(at), one.epsilon(at));
    assert!(parts.epsilon_under::<ReplaceOne>(at) > one.epsilon(at));
    // Parts within a way are parts still.
    let halves = Step::parallel("halves", vec![step(pure(0.3)), step(pure(0.4))]);
    let one = Step::one_of("ways", vec![step(pure(0.5)), halves]);
    assert_eq!(one.pure(), Some(epsilon(0.5)));
    close(one.pure_under::<ReplaceOne>().unwrap().get(), 0.7, 1e-15);
    // So they are for two people who are replaced.
    let receipt = Receipt::new("m", ReplaceOne, budget(1.0, 0.0), one);
    let of_two = receipt.for_groups(NonZeroU32::new(2).unwrap());
    close(of_two.pure().unwrap().get(), 2.0, 1e-15);
    // A way without a price has no price as a whole.
    assert_eq!(
        Step::one_of("ways", vec![step(pure(0.5)), step(Loss::Unbounded)]).epsilon(at),
        None
    );
    assert_eq!(Step::one_of("none", vec![]).pure(), Some(Epsilon::ZERO));
}

/// The dearest way counts wherever it stands, and what is around a choice is around each of its ways.
#[test]
fn a_choice_costs_what_its_ways_do_around_it() {
    let parts = || Step::parallel("parts", vec![step(zcdp(0.02)), step(pure(0.5))]);
    let rare = || Step::outside("rare", delta(1e-8), step(gaussian(0.1)));
    let ways = [step(pure(0.3)), step(range(0.7)), step(gaussian(0.2)), step(zcdp(0.01))];
    let ways = [&ways[..], &[rare(), parts(), step(approximate(0.2, 1e-9))]].concat();
    let around: [&dyn Fn(Step) -> Step; 5] = [
        &|step| step,
        &|step| Step::group("three", NonZeroU32::new(3).unwrap(), step),
        &|step| Step::outside("outside", delta(1e-8), step),
        &|step| Step::one_of("nested", vec![step]),
        &|step| Step::parallel("parts of a whole", vec![step]),
    ];
    let of = |step: &Step| {
        fn under<R: Relation>(step: &Step) -> [Option<f64>; 4] {
            [
                step.epsilon_under::<R>(delta(1e-6)).map(Epsilon::get),
                step.pure_under::<R>().map(Epsilon::get),
                step.zcdp_under::<R>().map(Rho::get),
                step.gaussian_under::<R>().map(Mu::get),
            ]
        }
        let all = [under::<AddRemove>(step), under::<ReplaceOne>(step), under::<AddOnly>(step)];
        all.concat().into_iter().map(|cost| cost.unwrap_or(f64::INFINITY)).collect::<Vec<f64>>()
    };
    for around in around {
        for i in 0..ways.len() {
            for j in (0..ways.len()).filter(|j| *j != i) {
                let both = [&ways[i], &ways[j]].map(Clone::clone);
                let one = of(&around(Step::one_of("ways", both.to_vec())));
                let [a, b] = both.map(|way| of(&around(way)));
                for (measure, one) in one.iter().enumerate() {
                    let dearer = a[measure].max(b[measure]);
                    let text = format!("{i} or {j}, measure {measure}: {one}, {dearer}");
                    assert!(*one >= dearer * (1.0 - 1e-12), "{text}");
                    // Ways of two kinds may have what both cost, as epsilon and under a one-sided relation.
                    assert!(
                        measure % 4 == 0 || measure > 8 || *one <= dearer * (1.0 + 1e-12),
                        "{text}"
                    );
                }
            }
        }
    }
}

/// `max` for optional numbers that cannot be NaN.
trait MaxByValue {
    fn max_by_value(self, other: Self) -> Self;
}

impl MaxByValue for Option<Rho> {
    fn max_by_value(self, other: Self) -> Self {
        if self > other { self } else { other }
    }
}

#[test]
fn a_record_that_changes_parts_is_charged_twice() {
    // Each part answers "is the record here?" by randomised response; the record moves from the first to the second.
    let (e1, e2) = (0.7, 0.4);
    let ((p1, q1), (p2, q2)) = (response(e1), response(e2));
    let mut worst: f64 = 0.0;
    for first in 0..2 {
        for second in 0..2 {
            worst = worst.max((p1[first] * q2[second] / (q1[first] * p2[second])).ln());
        }
    }
    close(worst, e1 + e2, 1e-12);
    let parts = Step::parallel("parts", vec![step(pure(0.1)), step(pure(e1)), step(pure(e2))]);
    assert_eq!(parts.pure_under::<AddRemove>(), Some(epsilon(e1)));
    assert_eq!(parts.pure_under::<AddOnly>(), Some(epsilon(e1)));
    for charged in [parts.pure_under::<ReplaceOne>(), parts.pure_under::<Within>()] {
        let charged = charged.unwrap().get();
        assert!(charged >= worst * (1.0 - 1e-12));
        close(charged, e1 + e2, 1e-15);
    }
    let alone = Step::parallel("parts", vec![step(pure(e1))]);
    assert_eq!(alone.pure_under::<ReplaceOne>(), Some(epsilon(e1)), "there is no second part");
    // Nested: once the record has left for another outer part, only one inner part sees it.
    let nested = Step::parallel("outer", vec![parts.clone(), step(pure(0.5))]);
    close(nested.pure_under::<ReplaceOne>().unwrap().get(), e1 + 0.5, 1e-15);
    close(
        Step::parallel("outer", vec![parts]).pure_under::<ReplaceOne>().unwrap().get(),
        1.1,
        1e-15,
    );
}

#[test]
fn a_group_node_scales_its_leaves_and_charges_one_part() {
    let parts = Step::parallel("parts", vec![step(pure(0.7)), step(pure(0.4))]);
    let two = NonZeroU32::new(2).unwrap();
    let group = Step::group("replace", two, parts);
    assert_eq!(group.pure_under::<ReplaceOne>(), Some(epsilon(1.4)));
    let nested = Step::group("twice", two, Step::group("replace", two, step(zcdp(0.1))));
    close(nested.zcdp().unwrap().get(), 1.6, 1e-14);
}

#[test]
fn totals_are_monotone() {
    let total = |k: usize, e: f64, r: f64, d: f64| {
        let mut steps = vec![step(pure(e)); k];
        steps.push(step(zcdp(r)));
        Step::sequential("all", steps).epsilon(delta(d)).unwrap()
    };
    assert!(total(5, 0.1, 0.01, 1e-6) < total(6, 0.1, 0.01, 1e-6));
    assert!(total(5, 0.1, 0.01, 1e-6) < total(5, 0.11, 0.01, 1e-6));
    assert!(total(5, 0.1, 0.01, 1e-6) < total(5, 0.1, 0.011, 1e-6));
    assert!(total(5, 0.1, 0.01, 1e-6) > total(5, 0.1, 0.01, 1e-5));
}

/// Sizes of nested groups multiply; what does not fit an integer is not bounded, and all totals say so.
#[test]
fn groups_of_groups() {
    let group = |size, step| Step::group("group", NonZeroU32::new(size).unwrap(), step);
    let nested = |sizes: &[u32], loss: Loss| sizes.iter().fold(step(loss), |s, n| group(*n, s));
    let receipt = |step| Receipt::new("nested", AddRemove, budget(1.0, 0.0), step);
    let twice = receipt(nested(&[1 << 16, 1 << 16, 4], pure(1e-10)));
    close(twice.pure().unwrap().get(), 1.717_986_918_4, 1e-15);
    assert!(!twice.within_budget());
    assert!(twice.to_string().contains("EXCEEDED"), "{twice}");
    assert!(twice.total().unwrap().epsilon(delta(0.0)).upper() >= 1.717_986_918_4);
    // 2^64 changes.
    for loss in [pure(1e-30), range(1e-30), zcdp(1e-60), approximate(1e-30, 1e-30)] {
        let over = receipt(nested(&[1 << 31, 1 << 31, 4], loss));
        assert_eq!((over.pure(), over.zcdp()), (None, None), "{over}");
        assert!(over.total().is_none(), "{over}");
    }
}

/// What was composed apart costs what that found, whatever the steps would add up to; they stay on the receipt.
#[test]
fn a_composed_step_costs_its_own_loss() {
    let (epsilon, delta) = (Epsilon::new(1.0).expect("valid"), Delta::new(1e-6).expect("valid"));
    let steps = vec![Step::spend("a", Loss::Pure { epsilon }); 3];
    let step = Step::composed("together", Loss::Approximate { epsilon, delta }, steps);
    assert_eq!((step.name(), step.pure(), step.epsilon(delta)), ("together", None, Some(epsilon)));
    let twice = Step::group("couples", NonZeroU32::new(2).expect("positive"), step.clone());
    assert!(twice.epsilon(delta).is_none_or(|cost| cost > epsilon));
    let text = serde_json::to_string(&step).expect("serialises");
    assert_eq!(serde_json::from_str::<Step>(&text).expect("read back"), step);
}

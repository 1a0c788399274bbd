//! Gaussian losses: one `mu` for all of them, the exact curve, and what stands beside them.

use std::num::NonZeroU32;

use dp_accounting::{
    AddOnly, AddRemove, Budget, Delta, Epsilon, Ledger, Mu, Receipt, ReplaceOne, Step,
    budget_to_mu, gaussian_delta, mu_to_epsilon, zcdp_to_epsilon,
};

use crate::{approximate, budget, close, delta, epsilon, gaussian, pure, range, rho, step, zcdp};

fn mu(value: f64) -> Mu {
    Mu::new(value).unwrap()
}

fn all(steps: Vec<Step>) -> Step {
    Step::sequential("all", steps)
}

fn budgets() -> impl Iterator<Item = Budget> {
    let epsilons = [1e-9, 1e-3, 0.1, 0.7, 1.0, 3.0, 20.0, 100.0];
    let deltas = [1e-300, 1e-30, 1e-9, 1e-6, 1e-3, 0.3, 0.999];
    epsilons.into_iter().flat_map(move |e| deltas.map(|d| budget(e, d)))
}

#[test]
fn several_steps_are_one_and_get_the_exact_curve() {
    let d = delta(1e-6);
    close(step(gaussian(1.0 / 4.224_678_889_326_835)).epsilon(d).unwrap().get(), 1.0, 1e-12);
    // The reference value of ten thousand Gaussians of multiplier 20.
    let many = all(vec![step(gaussian(0.05)); 10_000]);
    close(many.epsilon(d).unwrap().get(), 35.566_343_714_136_22, 1e-11);
    close(many.gaussian_under::<AddRemove>().unwrap().get(), 5.0, 1e-11);
    close(many.zcdp().unwrap().get(), 12.5, 1e-11);
    assert_eq!(many.pure(), None);
    assert_eq!(many.epsilon(Delta::ZERO), None);
    assert_eq!(step(gaussian(0.0)).epsilon(Delta::ZERO), Some(Epsilon::ZERO));
    // The law is the same in both directions, so one-sided neighbours pay the same.
    assert_eq!(many.epsilon_under::<AddOnly>(d), many.epsilon(d));
}

#[test]
fn a_calibrated_loss_is_within_its_budget_and_close_to_it() {
    for asked in budgets() {
        let most = budget_to_mu(asked).unwrap();
        let receipt = |mu: f64| Receipt::new("m", AddRemove, asked, step(gaussian(mu)));
        assert!(receipt(most.get()).within_budget(), "{asked}");
        let slack = if asked.delta() < delta(0.5) { 1e-12 } else { 1e-9 };
        assert!(!receipt(most.get() * (1.0 + slack)).within_budget(), "{asked}: not tight");
        let exact = gaussian_delta(1.0 / most.get(), asked.epsilon());
        assert!(exact <= Delta::new(asked.delta().get() * (1.0 + 1e-9)).unwrap(), "{asked}");
        if asked.delta() < delta(0.3) && asked.epsilon() < epsilon(50.0) {
            // Otherwise the doubled budget is cut.
            assert!(receipt(most.get()).into_replace_one().within_budget(), "{asked}");
        }
    }
    assert_eq!(budget_to_mu(budget(1.0, 0.0)), None);
}

#[test]
fn shares_of_squares_stay_within_the_whole() {
    for asked in budgets() {
        let whole = budget_to_mu(asked).unwrap();
        for weights in [&[1.0][..], &[1.0; 7], &[0.3, 0.7], &[1e-9, 1.0, 3.0], &[0.1; 100]] {
            let shares = whole.split(weights).unwrap();
            let steps = shares.iter().map(|share| step((*share).into())).collect();
            let receipt = Receipt::new("m", AddRemove, asked, all(steps));
            assert!(receipt.within_budget(), "{asked} {weights:?}");
            assert!(receipt.gaussian().unwrap().get() >= whole.get() * (1.0 - 1e-12));
        }
    }
    assert!(mu(1.0).split(&[]).is_err() && mu(1.0).split(&[0.0]).is_err());
    assert_eq!(mu(0.5).split(&[3.0]).unwrap(), [mu(0.5)]);
}

#[test]
fn one_exact_curve_spends_less_than_zcdp() {
    for asked in budgets() {
        let most = budget_to_mu(asked).unwrap();
        let by_zcdp = zcdp_to_epsilon(rho(most.get() * most.get() / 2.0), asked.delta()).unwrap();
        assert!(asked.epsilon() <= by_zcdp, "{asked}");
    }
}

#[test]
fn groups_and_parts() {
    let d = delta(1e-6);
    let two = NonZeroU32::new(2).unwrap();
    let once = step(gaussian(0.1));
    let pair = Step::group("pair", two, once.clone());
    close(pair.gaussian_under::<AddRemove>().unwrap().get(), 0.2, 1e-15);
    assert!(pair.epsilon(d) <= mu_to_epsilon(mu(0.2 * (1.0 + 1e-14)), d));
    let parts = Step::parallel("parts", vec![step(gaussian(0.3)), step(gaussian(0.4))]);
    close(parts.gaussian_under::<AddRemove>().unwrap().get(), 0.4, 1e-15);
    // A record that leaves one part for another moves both: the squares add up.
    close(parts.gaussian_under::<ReplaceOne>().unwrap().get(), 0.5, 1e-15);
    let mixed = Step::parallel("parts", vec![step(gaussian(0.3)), step(pure(0.4))]);
    close(mixed.gaussian_under::<AddRemove>().unwrap().get(), 0.4999, 1e-4);
    assert!(mixed.epsilon(d) >= step(gaussian(0.3)).epsilon(d));
    assert!(mixed.epsilon(d) >= step(pure(0.4)).epsilon(d));
}

/// Every total must be at least what the worst pairs themselves come to, by numerical composition.
#[track_caller]
fn covers_the_worst_pairs(spent: Step, d: f64) -> f64 {
    let receipt = Receipt::new("m", AddRemove, budget(10.0, d), spent);
    let (claimed, exact) = (receipt.epsilon().unwrap().get(), receipt.total().unwrap());
    let exact = exact.epsilon(delta(d));
    assert!(claimed >= exact.lower() * (1.0 - 1e-12), "{claimed} {exact:?}");
    assert!(exact.upper() <= claimed * (1.0 + 1e-5), "{claimed} {exact:?}");
    claimed / exact.upper()
}

#[test]
fn mixes_cover_the_worst_pairs() {
    let alone = covers_the_worst_pairs(step(gaussian(0.5)), 1e-6);
    assert!(alone <= 1.0 + 1e-9, "nothing is lost on Gaussians alone: {alone}");
    covers_the_worst_pairs(all(vec![step(gaussian(0.5)), step(pure(0.3))]), 1e-6);
    covers_the_worst_pairs(all(vec![step(gaussian(0.1)), step(pure(1.5))]), 1e-6);
    let both = all(vec![step(gaussian(0.2)), step(approximate(0.1, 1e-8))]);
    covers_the_worst_pairs(all(vec![both; 20]), 1e-6);
    let parts = Step::parallel("parts", vec![step(gaussian(0.3)), step(gaussian(0.4))]);
    covers_the_worst_pairs(all(vec![parts, step(pure(0.2))]), 1e-6);
    let rounds = all(vec![step(gaussian(0.3)); 2]);
    let ways = Step::one_of("ways", vec![step(gaussian(0.4)), rounds]);
    covers_the_worst_pairs(all(vec![ways.clone(), step(pure(0.2))]), 1e-6);
    close(ways.gaussian_under::<ReplaceOne>().unwrap().get(), 0.18_f64.sqrt(), 1e-15);
}

/// A choice beside Gaussian steps is one more of them, where that is cheapest, and never dearer than as zCDP or as pure.
#[test]
fn a_choice_beside_gaussians_is_covered_by_one() {
    let d = delta(1e-6);
    let sums = gaussian(0.22);
    let mut gained = 0;
    for choice in
        [range(0.02), range(0.2), range(2.0), pure(0.01), pure(0.5), pure(3.0), range(9.0)]
    {
        let covered = choice.gaussian().unwrap().get();
        let both = all(vec![step(sums), step(choice)]);
        let as_one = both.gaussian_under::<AddRemove>().unwrap();
        close(as_one.get(), covered.hypot(0.22), 1e-14);
        let got = both.epsilon(d).unwrap();
        let stated = mu_to_epsilon(mu(0.22), d).unwrap().get() + choice.pure().unwrap().get();
        let by_zcdp = zcdp_to_epsilon(both.zcdp().unwrap(), d).unwrap();
        let by_cover = mu_to_epsilon(as_one, d).unwrap();
        // The sum of squares is rounded up before its root is taken.
        let least = stated.min(by_zcdp.get()).min(by_cover.get());
        assert!(got.get() <= least * (1.0 + 1e-12), "{choice:?}");
        gained += usize::from(got == by_cover && got < by_zcdp && got.get() < stated);
        // What holds for a pair of laws is not less than what the pair loses.
        let exact = Receipt::new("m", AddRemove, budget(1.0, 1e-6), both).total().unwrap();
        assert!(got.get() >= exact.epsilon(d).lower(), "{choice:?}: {got}");
    }
    assert!(gained >= 3, "{gained}");
    // In one direction a pure loss has no cover, and a bounded range has.
    let one_sided = |loss| all(vec![step(sums), step(loss)]).gaussian_under::<AddOnly>();
    assert!(one_sided(pure(0.1)).is_none() && one_sided(range(0.1)).is_some());
    assert!(one_sided(approximate(0.1, 1e-9)).is_none());
    // Outside of its mass, an approximate loss is covered too.
    let (outside, mass) =
        Receipt::new("m", AddRemove, budget(1.0, 1e-6), step(approximate(0.1, 1e-9)))
            .gaussian_outside()
            .unwrap();
    close(outside.get(), pure(0.1).gaussian().unwrap().get(), 1e-15);
    assert_eq!(mass, delta(1e-9));
}

#[test]
fn beside_zcdp_a_gaussian_is_zcdp() {
    let d = delta(1e-6);
    let both = all(vec![step(gaussian(0.4)), step(zcdp(0.1))]);
    assert_eq!(both.gaussian_under::<AddRemove>(), None);
    close(both.zcdp().unwrap().get(), 0.18, 1e-15);
    assert_eq!(both.epsilon(d), zcdp_to_epsilon(both.zcdp().unwrap(), d));
}

#[test]
fn a_threshold_beside_a_gaussian_costs_its_mass() {
    let thresholded = all(vec![step(gaussian(0.2)), step(approximate(0.0, 4e-7))]);
    let receipt = Receipt::new("m", AddRemove, budget(1.0, 1e-6), thresholded.clone());
    let exact = mu_to_epsilon(mu(0.2), delta(6e-7)).unwrap().get();
    close(receipt.epsilon().unwrap().get(), exact, 1e-12);
    assert_eq!(receipt.gaussian(), None);
    assert_eq!(receipt.zcdp(), None);
    let (outside, mass) = receipt.zcdp_outside().unwrap();
    close(outside.get(), 0.02, 1e-15);
    assert_eq!(mass, delta(4e-7));
    assert_eq!(receipt.epsilon_at(delta(3e-7)), None);
    let total = receipt.total().unwrap();
    assert_eq!(total.left_out(), 4e-7);
    let bound = total.epsilon(delta(1e-6));
    close(bound.upper(), exact, 1e-9);
    assert!(bound.lower() <= mu_to_epsilon(mu(0.2), delta(6.000_002e-7)).unwrap().get());
    assert_eq!(total.epsilon(delta(3e-7)).upper(), f64::INFINITY);
}

#[test]
fn approximate_steps_add_up_as_zcdp_outside_of_their_mass() {
    let many = all(vec![step(approximate(0.1, 1e-9)); 100]);
    let d = delta(1e-6);
    let (outside, mass) =
        Receipt::new("m", AddRemove, budget(10.0, 1e-6), many.clone()).zcdp_outside().unwrap();
    close(outside.get(), 100.0 * 0.1 * 0.05_f64.tanh(), 1e-12);
    close(mass.get(), 1e-7, 1e-12);
    assert_eq!(many.epsilon(d), zcdp_to_epsilon(outside, delta(1e-6 - mass.get())));
    covers_the_worst_pairs(many.clone(), 1e-6);
    // Not so where only one direction is bounded.
    close(many.epsilon_under::<AddOnly>(d).unwrap().get(), 10.0, 1e-12);
}

#[test]
fn a_ledger_adds_squares() {
    let asked = budget(1.0, 1e-6);
    let halves = budget_to_mu(asked).unwrap().split(&[1.0, 1.0]).unwrap();
    let half = Receipt::new("m", AddRemove, asked, step(halves[0].into()));
    let mut ledger = Ledger::new(AddRemove, asked);
    assert!(ledger.spend(&half).is_ok() && ledger.spend(&half).is_ok());
    assert!(ledger.spend(&half).is_err());
    assert!(ledger.spent().unwrap().get() > 1.0 - 1e-11);
}

#[test]
fn extreme_losses_neither_vanish_nor_hang() {
    for value in [1e-300, 1e-170, 1e-20, 1e-9] {
        let small = step(gaussian(value));
        assert!(small.zcdp().unwrap() > rho(0.0), "{value:e}");
        assert!(small.gaussian_under::<AddRemove>().unwrap().get() >= value);
        assert!(small.epsilon(delta(1e-300)).is_some(), "{value:e}");
        assert!(small.epsilon(delta(1e-300)) >= mu_to_epsilon(mu(value), delta(1e-300)));
    }
    for value in [5e-324, 1e-310, 1e-291, 1e-290, 1e-17, 0.999, 1.0, 709.0, 710.0, 1e6, 1e300] {
        let covered = pure(value).gaussian().unwrap().get();
        assert!(covered > value || value > 1.0, "{value:e}: {covered:e}");
        assert!(covered <= 2.2 * value || value < 1e-320, "{value:e}: {covered:e}");
        assert!(covered <= 2.83 * value.sqrt(), "{value:e}: {covered:e}");
        assert!(range(value).gaussian().unwrap().get() <= covered, "{value:e}");
    }
    let large = step(gaussian(1e3)).epsilon(delta(1e-6)).unwrap();
    assert!(large > epsilon(5e5), "at least its divergence");
    assert_eq!(step(gaussian(1e200)).epsilon(delta(1e-6)), None);
    assert!(step(gaussian(1e150)).epsilon(delta(1e-6)).is_none_or(|e| e.get() > 1e299));
    assert_eq!(gaussian(1e308).scaled_to_group(2), dp_accounting::Loss::Unbounded);
    assert!(Mu::new(f64::NAN).is_err() && Mu::new(-1.0).is_err());
}

#[test]
fn a_receipt_names_it() {
    let shown = Receipt::new("sums", AddRemove, budget(1.0, 1e-6), step(gaussian(0.25)));
    insta::assert_snapshot!(shown, @r"
    sums under add-remove
      step  loss           zCDP rho   share
      step  Gaussian 0.25   0.03125  100.0%
    total: zCDP rho 0.03125
    total: epsilon 1.0607 at delta 1e-6
    asked: epsilon 1 at delta 1e-6, EXCEEDED
    ");
}

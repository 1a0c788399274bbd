//! Receipts: totals, the table, and the named conversion.

use std::num::NonZeroU32;

use dp_accounting::{
    AddOnly, AddRemove, FurtherMemberOfGroup, Ledger, MemberOfGroup, Receipt, Relation, ReplaceOne,
    Rho, Step, Within, budget_to_zcdp, zcdp_to_epsilon,
};

use crate::{approximate, budget, close, delta, gaussian, mu, pure, range, rho, step, zcdp};

fn example<R: Relation>(relation: R) -> Receipt<R> {
    let leaves = Step::parallel(
        "leaf averages",
        vec![Step::spend("left", zcdp(0.01)), Step::spend("right", zcdp(0.008))],
    );
    let steps =
        vec![Step::spend("count", pure(0.05)), Step::spend("choose a split", range(0.2)), leaves];
    Receipt::new("splitter", relation, budget(1.0, 1e-6), Step::sequential("splitter", steps))
}

fn round(number: u32) -> Step {
    let steps = vec![Step::spend("radius", range(0.1)), Step::spend("sum", zcdp(0.01))];
    Step::sequential(format!("round {number}"), steps)
}

#[test]
fn the_table_has_a_line_for_each_part_of_the_whole() {
    insta::assert_snapshot!(example(AddRemove), @r"
    splitter under add-remove
      step            loss         zCDP rho  share
      count           pure 0.05  0.00124974   7.7%
      choose a split  range 0.2       0.005  30.8%
      leaf averages   2 losses         0.01  61.5%
    total: zCDP rho 0.0162497
    total: epsilon 0.80542 at delta 1e-6
    asked: epsilon 1 at delta 1e-6, kept
    ");
    let steps = Step::sequential(
        "all",
        vec![Step::spend("start", zcdp(0.02)), round(1), round(2), round(3)],
    );
    insta::assert_snapshot!(Receipt::new("m", AddRemove, budget(1.0, 1e-6), steps), @r"
    m under add-remove
      step                loss       zCDP rho  share
      start               zCDP 0.02      0.02  37.2%
      round 1 to round 3  6 losses    0.03375  62.8%
    total: zCDP rho 0.05375
    total: epsilon 1.53013 at delta 1e-6
    asked: epsilon 1 at delta 1e-6, EXCEEDED
    ");
    let one = Step::spend("count", approximate(0.5, 1e-9));
    insta::assert_snapshot!(Receipt::new("m", AddOnly, budget(1.0, 1e-6), one), @r"
    m under add-only
      step   loss         zCDP rho  share
      count  (0.5, 1e-9)         -      -
    total: zCDP rho -
    total: epsilon 0.5 at delta 1e-6
    asked: epsilon 1 at delta 1e-6, kept
    ");
}

#[test]
fn the_table_has_a_line_for_each_way() {
    let ways =
        vec![Step::spend("few", zcdp(0.03)), Step::sequential("many", vec![round(1), round(2)])];
    let steps = vec![Step::spend("count", zcdp(0.01)), Step::one_of("by the count", ways)];
    let either =
        Receipt::new("m", AddRemove, budget(1.0, 1e-6), Step::sequential("all steps", steps));
    insta::assert_snapshot!(either, @r"
    m under add-remove
      step          loss       zCDP rho  share
      count         zCDP 0.01      0.01  25.0%
      by the count  one of 2       0.03  75.0%
        few         zCDP 0.03      0.03  75.0%
        many        4 losses     0.0225  56.3%
    total: zCDP rho 0.04
    total: epsilon 1.30499 at delta 1e-6
    asked: epsilon 1 at delta 1e-6, EXCEEDED
    ");
    insta::assert_snapshot!(format!("{either:#}"), @r"
    m under add-remove
      step            loss          zCDP rho  share
      all steps       in sequence
        count         zCDP 0.01         0.01  25.0%
        by the count  one of these
          few         zCDP 0.03         0.03  75.0%
          many        in sequence
            round 1   in sequence
              radius  range 0.1      0.00125   3.1%
              sum     zCDP 0.01         0.01  25.0%
            round 2   in sequence
              radius  range 0.1      0.00125   3.1%
              sum     zCDP 0.01         0.01  25.0%
    total: zCDP rho 0.04
    total: epsilon 1.30499 at delta 1e-6
    asked: epsilon 1 at delta 1e-6, EXCEEDED
    ");
    // In a group, each way as it is charged; in one line, as many losses as the longest has.
    let two = NonZeroU32::new(2).expect("not 0");
    let ways = vec![
        Step::spend("few", zcdp(0.01)),
        Step::one_of("many", vec![Step::spend("a", zcdp(0.01)), round(1)]),
    ];
    let ways = Step::sequential("after it", vec![Step::one_of("by the count", ways)]);
    let steps = vec![Step::spend("count", zcdp(0.01)), Step::group("two changes", two, ways)];
    let all = Step::sequential("all steps", steps);
    let grouped = Receipt::new("m", AddRemove, budget(2.0, 1e-6), all);
    insta::assert_snapshot!(grouped, @r"
    m under add-remove
      step         loss       zCDP rho  share
      count        zCDP 0.01      0.01  18.2%
      two changes  2 losses      0.045  81.8%
    total: zCDP rho 0.055
    total: epsilon 1.54923 at delta 1e-6
    asked: epsilon 2 at delta 1e-6, kept
    ");
    insta::assert_snapshot!(format!("{grouped:#}"), @r"
    m under add-remove
      step                loss          zCDP rho  share
      all steps           in sequence
        count             zCDP 0.01         0.01  18.2%
        two changes       group of 2
          after it        in sequence
            by the count  one of these
              few         zCDP 0.01         0.04  72.7%
              many        one of these
                a         zCDP 0.01         0.04  72.7%
                round 1   in sequence
                  radius  range 0.1        0.005   9.1%
                  sum     zCDP 0.01         0.04  72.7%
    total: zCDP rho 0.055
    total: epsilon 1.54923 at delta 1e-6
    asked: epsilon 2 at delta 1e-6, kept
    ");
}

#[test]
fn the_whole_table() {
    insta::assert_snapshot!(format!("{:#}", example(AddRemove)), @r"
    splitter under add-remove
      step              loss           zCDP rho  share
      splitter          in sequence
        count           pure 0.05    0.00124974   7.7%
        choose a split  range 0.2         0.005  30.8%
        leaf averages   in parallel
          left          zCDP 0.01          0.01  61.5%
          right         zCDP 0.008        0.008  49.2%
    total: zCDP rho 0.0162497
    total: epsilon 0.80542 at delta 1e-6
    asked: epsilon 1 at delta 1e-6, kept
    ");
}

#[test]
fn the_table_after_conversion() {
    insta::assert_snapshot!(format!("{:#}", example(AddRemove).into_replace_one()), @r"
    splitter under replace-one
      step                    loss           zCDP rho  share
      replace = remove + add  group of 2
        splitter              in sequence
          count               pure 0.05    0.00499584   7.7%
          choose a split      range 0.2          0.02  30.8%
          leaf averages       in parallel
            left              zCDP 0.01          0.04  61.5%
            right             zCDP 0.008        0.032  49.2%
    total: zCDP rho 0.0649958
    total: epsilon 1.59232 at delta 3.71828e-6
    asked: epsilon 2 at delta 3.71828e-6, kept
    ");
}

#[test]
fn the_table_when_something_has_no_zcdp_form() {
    let spent = Step::sequential("m", vec![step(approximate(0.9, 1e-6)), step(pure(0.2))]);
    let receipt = Receipt::new("m", AddOnly, budget(1.0, 1e-6), spent);
    insta::assert_snapshot!(format!("{receipt:#}"), @r"
    m under add-only
      step    loss         zCDP rho  share
      m       in sequence
        step  (0.9, 1e-6)         -      -
        step  pure 0.2          0.2      -
    total: zCDP rho -
    total: epsilon 1.1 at delta 1e-6
    asked: epsilon 1 at delta 1e-6, EXCEEDED
    ");
}

#[test]
fn the_relation_decides_the_total() {
    let one = example(AddRemove).zcdp().unwrap().get();
    let two = example(ReplaceOne).zcdp().unwrap().get();
    close(two - one, 0.008, 1e-12);
    assert_eq!(example(Within::new(1.0).unwrap()).zcdp().unwrap().get(), two);
    assert!(example(AddOnly).zcdp().unwrap().get() > one, "a one-sided pure loss is dear as zCDP");
    assert_eq!(example(AddRemove).mechanism(), "splitter");
    assert_eq!(example(AddRemove).spent().name(), "splitter");
}

#[test]
fn within_budget_has_no_tolerance() {
    let spends = |e: f64| Receipt::new("m", AddRemove, budget(1.0, 0.0), step(pure(e)));
    assert!(spends(1.0).within_budget());
    assert!(!spends(1.0_f64.next_up()).within_budget());
    let asked = budget(1.0, 1e-6);
    let r = budget_to_zcdp(asked).unwrap().get();
    assert!(Receipt::new("m", AddRemove, asked, step(zcdp(r))).within_budget());
    assert!(!Receipt::new("m", AddRemove, asked, step(zcdp(r * 1.000_001))).within_budget());
    assert!(!Receipt::new("m", AddRemove, budget(1.0, 0.0), step(zcdp(1e-9))).within_budget());
}

#[test]
fn zcdp_that_was_asked_for_is_said_and_kept() {
    let asked = |spent| {
        let epsilon = zcdp_to_epsilon(rho(0.5), delta(1e-9)).unwrap().get();
        Receipt::new("m", AddRemove, budget(epsilon, 1e-9), step(zcdp(spent)))
            .with_asked_rho(rho(0.5))
    };
    let text = asked(0.5).to_string();
    assert!(text.ends_with("asked: zCDP rho 0.5, epsilon 6.47407 at delta 1e-9, kept"), "{text}");
    assert!(!asked(0.5_f64.next_up()).within_budget());
    // Within the epsilon, but no zCDP.
    let pure_only = |loss| Receipt::new("m", AddOnly, budget(6.0, 1e-9), step(loss));
    assert!(pure_only(approximate(1.0, 1e-10)).within_budget());
    assert!(!pure_only(approximate(1.0, 1e-10)).with_asked_rho(rho(0.5)).within_budget());
    let twice = asked(0.5).into_replace_one();
    assert_eq!(twice.asked_rho(), Some(rho(2.0)));
    assert_eq!(twice.zcdp(), Some(rho(2.0)));
    let file = serde_json::to_string(&asked(0.5)).unwrap();
    assert_eq!(serde_json::from_str::<Receipt<AddRemove>>(&file).unwrap(), asked(0.5));
}

#[test]
fn replacing_costs_twice_and_keeps_its_budget() {
    let by_pure =
        Receipt::new("m", AddRemove, budget(0.5, 0.0), step(pure(0.5))).into_replace_one();
    assert_eq!(by_pure.budget(), budget(1.0, 0.0));
    assert_eq!(by_pure.epsilon(), Some(crate::epsilon(1.0)));
    assert!(by_pure.within_budget());
    // Calibrated to the last digit, in a measure where (epsilon, delta) of the pair is the better group bound.
    for (e, d) in [(0.1, 1e-9), (1.0, 1e-6), (3.0, 1e-5), (0.01, 1e-12)] {
        let asked = budget(e, d);
        let all = budget_to_zcdp(asked).unwrap();
        for loss in [zcdp(all.get()), approximate(e, d)] {
            let once = Receipt::new("m", AddRemove, asked, step(loss));
            assert!(once.within_budget());
            let twice = once.into_replace_one();
            close(twice.budget().epsilon().get(), 2.0 * e, 1e-15);
            close(twice.budget().delta().get(), (1.0 + e.exp()) * d, 1e-13);
            assert!(twice.within_budget(), "{e} {d}\n{twice}");
        }
    }
}

#[test]
fn a_conversion_that_leaves_the_range_asks_for_less() {
    let huge = Receipt::new("m", AddRemove, budget(60.0, 0.0), step(pure(60.0))).into_replace_one();
    assert_eq!(huge.budget(), budget(100.0, 0.0));
    assert!(!huge.within_budget());
    let vague = Receipt::new("m", AddRemove, budget(20.0, 1e-6), step(approximate(20.0, 1e-6)));
    let vague = vague.into_replace_one();
    assert!(vague.budget().delta().get() < 1.0);
    assert_eq!(vague.epsilon(), None);
    assert!(!vague.within_budget());
}

#[test]
fn replacing_is_never_cheaper_than_twice_the_dearest_part() {
    let converted = example(AddRemove).into_replace_one();
    let once = example(AddRemove);
    // A doubled pure loss is slightly less than four times as dear as zCDP.
    let (four, got) = (4.0 * once.zcdp().unwrap().get(), converted.zcdp().unwrap().get());
    assert!(got <= four && got >= 0.99 * four, "{got} {four}");
    assert!(converted.epsilon_at(delta(1e-6)) > once.epsilon_at(delta(1e-6)));
}

/// A count that is shown where it is not 0 and, with Gaussian noise, reaches a threshold: for one record, a Gaussian outside of the chance
/// that a new one shows. What is charged for a group covers the whole group appearing; a multiple of that chance would not.
#[test]
fn a_group_can_appear_over_a_threshold() {
    let above = |x: f64| 0.5 * libm::erfc(x * std::f64::consts::FRAC_1_SQRT_2);
    for (mu, threshold) in [(0.1, 50.0), (1.0, 5.0), (3.0, 2.5), (0.01, 300.0)] {
        let shows = |records: f64| above((threshold - records) * mu);
        let outside = delta(shows(1.0));
        let one = Step::outside("over a threshold", outside, step(gaussian(mu)));
        for size in [1_u32, 2, 3, 10, 100, 1000] {
            let group = Step::group("group", size.try_into().unwrap(), one.clone());
            let receipt = Receipt::new("m", AddRemove, budget(100.0, 0.0), group);
            let appears = shows(f64::from(size));
            let Some((all, charged)) = receipt.gaussian_outside() else {
                assert!(f64::from(size) * appears > 0.5, "{mu} {size}: not told");
                continue;
            };
            close(all.get(), mu * f64::from(size), 1e-12);
            assert!(charged.get() >= appears * (1.0 - 1e-12), "{mu} {size}: {charged} {appears}");
            assert!(charged.get() <= 1.001 * f64::from(size) * appears, "{mu} {size}: {charged}");
            if size > 1 && mu * f64::from(size) > 2.0 {
                assert!(appears > f64::from(size) * outside.get(), "a control: {mu} {size}");
            }
            // The whole group shows in one and not in the other.
            if let Some(epsilon) = receipt.epsilon_at(delta(appears.min(1.0 - 1e-9) * 0.99)) {
                panic!("{mu} {size}: {epsilon} where only a larger delta is proved");
            }
        }
    }
}

#[test]
fn what_holds_outside_of_a_mass_adds_up() {
    let start = Step::outside("over a threshold", delta(1e-7), step(gaussian(0.1)));
    let pure_start = Step::outside("over a threshold", delta(1e-7), step(pure(0.1)));
    let both = Step::sequential("both", vec![start.clone(), pure_start.clone()]);
    let receipt = |spent: Step| Receipt::new("m", AddRemove, budget(1.0, 1e-6), spent);
    let (all, left_out) = receipt(start.clone()).gaussian_outside().unwrap();
    assert!(all >= mu(0.1) && all < mu(0.1 * (1.0 + 1e-15)) && left_out == delta(1e-7));
    assert_eq!(receipt(start.clone()).gaussian(), None);
    assert_eq!(receipt(start.clone()).epsilon_at(delta(9e-8)), None, "less than is left out");
    assert_eq!(receipt(pure_start.clone()).epsilon_at(delta(1e-7)).unwrap().get(), 0.1);
    let (rho, left_out) = receipt(both.clone()).zcdp_outside().unwrap();
    close(rho.get(), 0.005 + 0.1 * (0.05_f64).tanh(), 1e-12);
    close(left_out.get(), 2e-7, 1e-12);
    // The same as an approximate loss, where that says all.
    for size in [1, 2, 7] {
        let group =
            |step| receipt(Step::group("g", std::num::NonZeroU32::new(size).unwrap(), step));
        let (one, other) = (group(pure_start.clone()), group(step(approximate(0.1, 1e-7))));
        let at = delta(1e-5);
        assert_eq!(one.epsilon_at(at), other.epsilon_at(at));
    }
    // With zCDP inside, a group is told through its epsilon only.
    let mixed = |other| {
        let inside = Step::sequential("all", vec![step(pure(0.1)), step(other)]);
        receipt(Step::outside("over a threshold", delta(1e-9), inside)).into_replace_one()
    };
    let covered = mixed(gaussian(0.1)).gaussian_outside().expect("a Gaussian pair covers both").0;
    close(covered.get(), 2.0 * 0.1 * (1.0 + 1.2533_f64.powi(2)).sqrt(), 1e-3);
    let two = mixed(zcdp(0.005));
    assert!(two.gaussian_outside().is_none() && two.zcdp_outside().is_none());
    let epsilon = two.epsilon_at(delta(1e-6)).expect("through its epsilon").get();
    assert!(epsilon > 0.2 && epsilon < 2.0, "{epsilon}");
    // As pairs of laws the mass is kept apart.
    let total = receipt(both).total().unwrap();
    close(total.left_out(), 2e-7, 1e-12);
    assert_eq!(total.composition().parts().len(), 2);
}

/// Whatever the start is, what is left for Gaussian steps keeps the budget and is nearly all that does.
#[test]
fn what_is_left_for_gaussian_steps() {
    let asked = budget(1.0, 1e-6);
    let after = |start: &Step, left: f64, parts: &[f64]| {
        let shares = mu(left).split(parts).unwrap().into_iter().map(|mu| step(mu.into()));
        let steps = std::iter::once(start.clone()).chain(shares).collect();
        Receipt::new("m", AddRemove, asked, Step::sequential("all", steps))
    };
    let starts = [
        step(gaussian(0.1)),
        step(zcdp(0.005)),
        step(pure(0.3)),
        step(approximate(0.3, 5e-7)),
        Step::outside("over a threshold", delta(9e-7), step(gaussian(0.2))),
        Step::outside("over a threshold", delta(1e-9), step(pure(0.9))),
        Step::outside("over a threshold", delta(1e-9), step(zcdp(0.01))),
        Step::sequential("nothing", vec![]),
    ];
    for start in &starts {
        let alone = Receipt::new("start", AddRemove, asked, start.clone());
        let left = alone.mu_left(asked).expect("something is left").get();
        for parts in [&[1.0][..], &[1.0, 3.0], &[0.05; 17]] {
            assert!(after(start, left, parts).within_budget(), "{start:?} {parts:?}");
        }
        assert!(!after(start, left * (1.0 + 1e-9), &[1.0]).within_budget(), "{start:?}");
    }
    // A pure loss of 1 leaves 1e-6 to the total variation, and that is a mu.
    for spent in [step(gaussian(0.3)), step(pure(1.0 + 1e-9)), step(approximate(0.1, 2e-6))] {
        assert_eq!(Receipt::new("start", AddRemove, asked, spent).mu_left(asked), None);
    }
}

/// What is left was tried: at a delta next to 1, a little less of it can cost more.
#[test]
fn what_is_left_fits_also_where_delta_is_next_to_one() {
    let mut found = 0;
    let near_one = [(0.01, 1.0 - 1e-9), (0.5, 1.0 - 1e-9), (0.5, 1.0 - 1e-16), (30.0, 1.0 - 1e-9)];
    for (epsilon, delta) in near_one {
        let asked = budget(epsilon, delta);
        for loss in [pure(epsilon / 3.0), range(epsilon / 2.0), gaussian(epsilon / 50.0)] {
            let start = Receipt::new("start", AddRemove, asked, Step::spend("start", loss));
            let Some(left) = start.mu_left(asked) else { continue };
            let all = vec![start.spent().clone(), Step::spend("more", left.into())];
            let whole = Receipt::new("whole", AddRemove, asked, Step::sequential("all", all));
            assert!(whole.within_budget(), "{loss:?} of {epsilon}, {delta}: {left:?}");
            found += 1;
        }
    }
    assert!(found > 3, "{found} had something left");
}

/// Three records that move, or one that moves three times as far: a Gaussian of three times the `mu`, and what that comes to at the budget's delta.
#[test]
fn groups_cost_their_size_and_keep_their_budget() {
    let three = NonZeroU32::new(3).unwrap();
    let near = Within::new(2.0).unwrap();
    let pure_one = Receipt::new("m", near, budget(0.5, 0.0), step(pure(0.5))).for_groups(three);
    assert_eq!((pure_one.relation(), pure_one.epsilon()), (near, Some(crate::epsilon(1.5))));
    for (e, d) in [(0.1, 1e-9), (1.0, 1e-6), (3.0, 1e-5)] {
        let asked = budget(e, d);
        let mu = dp_accounting::budget_to_mu(asked).unwrap();
        let once = Receipt::new("m", near, asked, step(mu.into()));
        let group = once.clone().for_groups(three);
        close(group.gaussian().unwrap().get(), 3.0 * mu.get(), 1e-12);
        close(group.budget().epsilon().get(), 3.0 * e, 1e-15);
        close(group.budget().delta().get(), (1.0 + e.exp() + (2.0 * e).exp()) * d, 1e-13);
        assert!(once.within_budget() && group.within_budget(), "{group}");
        // What fits for one record does not for three.
        let mut ledger = Ledger::new(near, asked);
        assert!(ledger.spend(&group).is_err());
        assert_eq!(once.clone().for_groups(NonZeroU32::MIN).epsilon_at(delta(d)), once.epsilon());
    }
}

/// Three moves from one part to another take three records from the first and bring three to the second: 9 times the zCDP of each.
#[test]
fn groups_that_move_between_parts_pay_for_both() {
    let three = NonZeroU32::new(3).unwrap();
    let parts = || Step::parallel("halves", vec![step(zcdp(0.01)), step(zcdp(0.01))]);
    let near = Within::new(2.0).unwrap();
    let outside = Step::outside("rare", delta(1e-9), parts());
    for spent in [parts(), Step::sequential("all", vec![parts()]), outside] {
        let moved = Receipt::new("m", near, budget(1.0, 1e-6), spent).for_groups(three);
        let rho = moved.zcdp().map_or(f64::INFINITY, Rho::get);
        assert!(rho >= 18.0 * 0.01, "{rho}");
    }
    // Who comes or goes is in one part.
    let added = Receipt::new("m", AddRemove, budget(1.0, 1e-6), parts()).for_groups(three);
    close(added.zcdp().unwrap().get(), 9.0 * 0.01, 1e-12);
}

/// What is private for a distance is so for a shorter one, and not for a longer one.
#[test]
fn a_receipt_is_not_for_a_longer_distance() {
    let within = |rho| Within::new(rho).unwrap();
    let receipt = Receipt::new("m", within(2.0), budget(1.0, 0.0), step(pure(0.5)));
    for shorter in [0.5, 2.0] {
        assert_eq!(
            receipt.clone().for_shorter(within(shorter)).unwrap().relation(),
            within(shorter)
        );
    }
    let refused = receipt.for_shorter(within(2.0_f64.next_up())).unwrap_err();
    assert!(refused.to_string().contains("at most that of the receipt"), "{refused}");
}

/// Each relation beside each: what the first promises holds for the neighbours of the second where it says so, and never the other way round.
#[test]
fn wider_promises_cover_narrower_neighbours_only() {
    let within = |rho| Within::new(rho).unwrap().any();
    let all = [
        AddRemove.any(),
        AddOnly.any(),
        ReplaceOne.any(),
        within(1.0),
        within(2.0),
        MemberOfGroup.any(),
        FurtherMemberOfGroup.any(),
    ];
    let wider = [(0, 1), (2, 3), (2, 4), (4, 3), (5, 6)];
    for (i, promised) in all.iter().enumerate() {
        for (j, narrower) in all.iter().enumerate() {
            let covers = i == j || wider.contains(&(i, j));
            assert_eq!(promised.covers(*narrower), covers, "{promised} and {narrower}");
        }
    }
}

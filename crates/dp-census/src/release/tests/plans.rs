//! Settings and tables that are refused, receipts, and plans in files.

use super::super::{Census, CensusSettings, LevelShares, Method, Privacy};
use super::{by, nation, plan, pure, real, rng, shared, sizes, up_to, usual, with_totals};
use crate::{CensusError, From1, GroupSizes, Hierarchy};
use approx::assert_relative_eq;
use dp_accounting::Budget;
use dp_mechanism::Mechanism;
use std::num::NonZeroU32;

#[test]
fn settings_out_of_range_are_refused_with_their_value() {
    let message = |groups, settings| plan(groups, settings).expect_err("refused").to_string();
    let fixed = |shares: &[f64]| shared(LevelShares::Fixed(shares.to_vec()));
    let shrunk = |settings| CensusSettings { shrinkage: true, ..settings };
    for (settings, want) in [
        (fixed(&[0.0, 0.5, 0.5]), "the share of level 1 must be finite and > 0, got 0"),
        (fixed(&[0.5, 0.4]), "there must be one share per level, got 2 for 3 levels"),
        (fixed(&[0.5, 0.4, 0.2]), "the shares of the levels must add up to 1, got 1.1"),
        (
            with_totals(vec![1, 1, 1, 1]),
            "region_groups must have 5 numbers, one per leaf region, got 4",
        ),
        (
            with_totals(vec![1, 1, 1, 1, 2]),
            "region_groups must add up to 5, the public number of groups, got 6",
        ),
        (
            with_totals(vec![i64::MAX; 5]),
            "region_groups must add up to 5, the public number of groups, got 46116860184273879035",
        ),
        (
            with_totals(vec![6, -1, 0, 0, 0]),
            "every number of region_groups must be at least 0, got -1",
        ),
        (shrunk(usual()), "shrinkage needs the number of groups of each leaf region"),
        (
            shrunk(CensusSettings { method: Method::Counts, ..with_totals(vec![1; 5]) }),
            "shrinkage needs noise on cumulative counts",
        ),
        (
            shrunk(with_totals(vec![1; 5])),
            "shrinkage needs a method that does not draw regions to the row above by itself",
        ),
    ] {
        assert_eq!(message(5, settings), want);
    }
    for groups in [-1, (1 << 36) + 1] {
        let want = format!("the number of groups must be between 0 and 2^36, got {groups}");
        assert_eq!(message(groups, usual()), want);
    }
    let quiet = message(5, fixed(&[0.5, 1e-30, 0.5]));
    assert!(quiet.starts_with("noise of level 2: epsilon of a sum = 9.99"), "{quiet}");
    let refused = |settings| real(5, settings).err().map(|error| error.to_string());
    assert_eq!(refused(by(Method::Counts)), None);
    assert_eq!(
        refused(by(Method::TopDown)).as_deref(),
        Some("a table of real numbers needs m-c-exact or m-h-dp")
    );
    let counts = CensusSettings { method: Method::Counts, ..with_totals(vec![1; 5]) };
    assert_eq!(refused(shrunk(counts)).as_deref(), Some("shrinkage needs whole numbers"));
    let deep: Vec<String> = (0..20).map(|level| level.to_string()).collect();
    let above = |level: usize| Some(deep[level.checked_sub(1)?].as_str());
    let deep = Hierarchy::new((0..20).map(|level| (deep[level].as_str(), above(level))));
    let error = Census::new(deep.expect("valid"), up_to(1), 0, pure(1.0), usual());
    assert_eq!(
        error.expect_err("too deep").to_string(),
        "the number of levels must be at most 16, got 20"
    );
}

#[test]
fn tables_that_do_not_fit_the_public_facts_are_refused() {
    let table = sizes(9, 5, 1);
    let groups = table.groups();
    let error = |plan: Result<Census, CensusError>, table: &GroupSizes| {
        plan.expect("valid").simulate(table, &mut rng(1)).expect_err("refused")
    };
    assert_eq!(
        error(plan(groups + 1, usual()), &table),
        CensusError::Groups { expected: groups + 1, got: groups }
    );
    let other = sizes(9, 4, 1);
    assert_eq!(
        error(plan(other.groups(), usual()), &other),
        CensusError::Shape { expected: (5, 5), got: (5, 4) }
    );
    // As many entries as the plan has, in other rows.
    let turned = GroupSizes::from_table(up_to(1), vec![1; 8]).expect("valid");
    let two = Hierarchy::new([("t", None), ("x", Some("t")), ("y", Some("t"))]).expect("valid");
    assert_eq!(
        error(Census::new(two, up_to(3), 8, pure(1.0), usual()), &turned).to_string(),
        "the table has 4 leaf regions and 2 columns, the plan has 2 and 4"
    );
    let mut region_groups = table.groups_of_regions();
    let got = region_groups[2];
    region_groups[2] += 1;
    region_groups[4] -= 1;
    let refused = error(plan(groups, with_totals(region_groups)), &table);
    assert_eq!(
        refused.to_string(),
        format!("region `c` has {got} groups, its public number is {}", got + 1)
    );
}

#[test]
fn a_table_of_larger_quantities_is_refused_and_the_receipt_names_the_quantity() {
    let two = NonZeroU32::new(2).expect("above 0");
    let table = sizes(9, 5, 1).with_most_quantity(two);
    let one = plan(table.groups(), usual()).expect("valid");
    assert_eq!(
        one.simulate(&table, &mut rng(1)).expect_err("too much").to_string(),
        "an individual may add up to 2 to a group of the table, the plan protects up to 1"
    );
    let settings = CensusSettings { most_quantity: two, ..usual() };
    let plan = plan(table.groups(), settings).expect("valid");
    assert!(format!("{:#}", plan.receipt()).contains("individuals who add up to 2 to the size"));
    assert!(plan.simulate(&table, &mut rng(1)).is_ok());
    assert!(plan.simulate(&sizes(9, 5, 1), &mut rng(1)).is_ok(), "less is fine");
    let lowered = table.with_most_quantity(NonZeroU32::MIN);
    assert!(one.simulate(&lowered, &mut rng(1)).is_err(), "what is recorded does not fall");
    for most in (1..9).filter_map(NonZeroU32::new) {
        let settings = CensusSettings { most_quantity: most, ..usual() };
        let plan = Census::new(nation(), up_to(4), lowered.groups(), pure(1.0), settings);
        let more = sizes(9, 5, 1).with_most_quantity(most.saturating_add(1));
        let refused = plan.expect("valid").simulate(&more, &mut rng(1)).expect_err("too much");
        assert_eq!(refused, CensusError::Quantity { most: most.get(), got: most.get() + 1 });
    }
}

#[test]
fn the_receipt_says_what_is_spent_on_which_level() {
    let plan = plan(10, shared(LevelShares::ten_twenty_seventy())).expect("valid");
    let receipt = plan.receipt();
    assert!(receipt.within_budget());
    let text = format!("{receipt:#}");
    for line in ["m-c-fitted", "member-of-group", "level 1, 1 regions", "level 3, 5 regions"] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
    let spent = receipt.pure().expect("pure").get();
    assert!((1.0 - 1e-6..=1.0).contains(&spent), "{spent}");
    let budget = Budget::new(1.0, 1e-6).expect("valid");
    let gaussian = Privacy::within(budget).expect("a delta");
    let plan = Census::new(nation(), up_to(4), 10, gaussian, usual()).expect("valid");
    assert!(plan.receipt().pure().is_none() && plan.receipt().within_budget());
    let left = plan.receipt().mu_left(budget).map_or(0.0, dp_accounting::Mu::get);
    assert!(left < 0.01, "{left} of the budget is not used");
    let zcdp = Privacy::zcdp(0.5, 1e-9).expect("valid");
    let plan = Census::new(nation(), up_to(4), 10, zcdp, usual()).expect("valid");
    let text = plan.receipt().to_string();
    assert!(text.contains("asked: zCDP rho 0.5, epsilon 6.47"), "{text}");
}

/// Noise follows the length of the query: cumulative counts need half of that of counts, and more if an individual brings more.
#[test]
fn noise_is_in_proportion_to_what_one_individual_changes() {
    let deviation = |method, quantity| {
        let most_quantity = NonZeroU32::new(quantity).expect("above 0");
        let shares = LevelShares::Equal;
        let settings = CensusSettings { shares, most_quantity, ..by(method) };
        let plan = Census::new(nation(), up_to(4), 10, pure(0.01), settings);
        plan.expect("valid").noise_variance(2).unwrap().sqrt()
    };
    let one = deviation(Method::CumulativeTopDown, 1);
    assert_relative_eq!(one, 2_f64.sqrt() * 300.0, max_relative = 1e-3);
    // Five columns: nobody moves a group further than from the first to the last.
    for (method, quantity, times) in [
        (Method::Counts, 1, 2.0),
        (Method::Counts, 3, 2.0),
        (Method::Chain, 1, 5.0),
        (Method::Chain, u32::MAX, 20.0),
        (Method::CumulativeTopDown, 3, 3.0),
        (Method::Cumulative, u32::MAX, 4.0),
    ] {
        let ratio = deviation(method, quantity) / one;
        assert!((ratio - times).abs() < 1e-3, "{method:?}, {quantity}: {ratio}");
    }
}

#[test]
fn plans_survive_a_file_and_a_file_cannot_bypass_the_checks() {
    let plan = plan(10, by(Method::TopDown)).expect("valid");
    let text = serde_json::to_string(&plan).expect("plain data");
    assert_eq!(serde_json::from_str::<Census>(&text).expect("valid"), plan);
    let broken = text.replace("\"groups\":10", "\"groups\":-10");
    assert_ne!(broken, text);
    assert!(serde_json::from_str::<Census>(&broken).is_err());
    // What was planned for one relation is not read as a plan for another.
    assert!(serde_json::from_str::<Census<From1>>(&text).is_err());
    let from1 = Census::new(nation(), From1::up_to(4).expect("valid"), 10, pure(1.0), usual());
    assert_eq!(from1.expect("valid").receipt().relation().to_string(), "further-member-of-group");
}

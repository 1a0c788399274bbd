//! Regions without signal, and standard errors.

use super::super::{Census, CensusSettings, LevelShares, Method};
use super::{nation, plan, pure, rng, sizes, up_to, usual, with_totals};
use crate::{CensusError, GroupSizes, Hierarchy};
use dp_mechanism::Mechanism;
use std::num::NonZeroU32;

/// Regions without signal get their share of the row above, and with signal their own.
#[test]
fn zones_without_signal_are_shares_of_their_parent() {
    let zones: Vec<String> = (0..40).map(|zone| format!("zone {zone}")).collect();
    let rows = zones.iter().map(|zone| (zone.as_str(), Some("city")));
    let city = Hierarchy::new([("city", None)].into_iter().chain(rows)).expect("valid");
    let counts: Vec<i64> = (0..40).flat_map(|_| [10, 20, 30, 20, 10]).collect();
    let table = GroupSizes::from_table(up_to(4), counts).expect("valid");
    let off = |method, epsilon, seed| {
        let settings = CensusSettings {
            method,
            region_groups: Some(table.groups_of_regions()),
            shares: LevelShares::Fixed(vec![0.5, 0.5]),
            ..usual()
        };
        let plan = Census::new(city.clone(), up_to(4), 3_600, pure(epsilon), settings);
        let release = plan.expect("valid").simulate(&table, &mut rng(seed)).expect("it fits");
        let truth = table.exact_totals(city.tree()).unwrap();
        let cells = release.output.into_counts().into_iter().zip(truth);
        cells.map(|(a, b)| (a - b).abs()).sum::<i64>()
    };
    let sum = |method, epsilon| (0..10).map(|seed| off(method, epsilon, seed)).sum::<i64>();
    let (fitted, plain) = (sum(Method::Fitted, 0.1), sum(Method::CumulativeTopDown, 0.1));
    assert!(3 * fitted < plain, "{fitted} {plain}");
    assert!(sum(Method::Fitted, 50.0) == 0);
}

/// Simulated errors are about those that were made.
#[test]
fn standard_errors_are_of_the_size_of_errors() {
    let table = sizes(400, 5, 21);
    let truth = table.exact_totals(nation().tree()).unwrap();
    for totals in [usual(), with_totals(table.groups_of_regions())] {
        let plan = Census::new(nation(), up_to(4), table.groups(), pure(0.3), totals);
        let plan = plan.expect("valid");
        let ten = NonZeroU32::new(10).expect("above 0");
        let (mut made, mut said) = (0.0, 0.0);
        for seed in 0..20 {
            let release = plan.simulate(&table, &mut rng(seed)).expect("it fits").output;
            let cells = release.counts().iter().zip(&truth);
            made += cells.map(|(a, b)| ((a - b) as f64).powi(2)).sum::<f64>();
            let errors =
                plan.standard_errors(&release, ten, &mut rng(100 + seed)).expect("its own");
            said += errors.iter().map(|error| error * error).sum::<f64>();
        }
        assert!((0.5..2.0).contains(&(said / made)), "{}", said / made);
        let other = Census::new(nation(), up_to(5), 10, pure(0.3), usual()).expect("valid");
        let release = plan.simulate(&table, &mut rng(1)).expect("it fits").output;
        assert!(other.standard_errors(&release, ten, &mut rng(1)).is_err());
    }
}

/// Of one run an error is the distance itself, a whole number; and a table of another plan is refused by its shape, or for its groups.
#[test]
fn standard_errors_are_of_all_runs_and_of_tables_that_fit() {
    let table = sizes(400, 5, 21);
    let release = |plan: &Census| plan.simulate(&table, &mut rng(1)).expect("it fits").output;
    let (plan, one) = (plan(table.groups(), usual()).expect("valid"), NonZeroU32::MIN);
    let errors = plan.standard_errors(&release(&plan), one, &mut rng(2)).expect("its own");
    assert!(errors.iter().all(|error| error.fract() == 0.0) && errors.iter().any(|e| *e > 0.0));
    let refused = |other: Census| {
        other.standard_errors(&release(&plan), one, &mut rng(2)).expect_err("another plan")
    };
    let columns = Census::new(nation(), up_to(5), table.groups(), pure(1.0), usual());
    let shape = CensusError::Shape { expected: (8, 6), got: (8, 5) };
    assert_eq!(refused(columns.expect("valid")), shape);
    let groups = Census::new(nation(), up_to(4), table.groups() + 1, pure(1.0), usual());
    assert!(matches!(refused(groups.expect("valid")), CensusError::Shape { .. }));
    // The rows of nation and states add up on their own, but there are more.
    let states = [("US", None), ("GA", Some("US")), ("NY", Some("US"))];
    let states = Hierarchy::new(states).expect("valid");
    assert!(!release(&plan).is_consistent(states.tree(), table.groups()));
}

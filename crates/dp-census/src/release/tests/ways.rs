//! Shares that are chosen, and questions that decide how the loss is spent.

use super::super::{Census, CensusSettings, LevelShares, Method, Privacy, unlikeness_length};
use super::{nation, plan, pure, rng, sizes, up_to, usual, with_totals};
use crate::{GroupSizes, Hierarchy};
use approx::assert_abs_diff_eq;
use dp_accounting::Budget;
use dp_mechanism::Mechanism;
use rand::RngExt;

/// Chosen shares: the same for the same public facts, for the counties where noise is small, for the nation where nothing is seen of them, and nearly
/// all of the loss for counties that are rounded and added up.
#[test]
fn shares_are_chosen_by_public_facts() {
    let shares = |groups: i64, epsilon: f64| {
        let settings = with_totals(vec![groups; 5]);
        let plan = Census::new(nation(), up_to(4), 5 * groups, pure(epsilon), settings);
        plan.expect("valid").shares().to_vec()
    };
    let (much, little) = (shares(1_000_000, 1.0), shares(20, 0.01));
    assert_eq!(much, shares(1_000_000, 1.0));
    for shares in [&much, &little] {
        assert_abs_diff_eq!(shares.iter().sum::<f64>(), 1.0, epsilon = 1e-9);
    }
    assert!(much[2] > much[0] && little[0] > 0.5, "{much:?} {little:?}");
    let rounded = shares(20, 20.0);
    assert!(rounded[2] > 0.95, "{rounded:?}");
}

/// Where nothing is seen of the regions, the default is the root's row alone, draw by draw; and not where shares are given or something is seen.
/// It smooths that row, which the baseline does not.
#[test]
fn regions_without_signal_leave_all_of_the_loss_to_the_root() {
    let table = sizes(20, 5, 21);
    let release = |method, epsilon, shares| {
        let totals = with_totals(table.groups_of_regions());
        let settings = CensusSettings { method, shares, ..totals };
        let plan = Census::new(nation(), up_to(4), table.groups(), pure(epsilon), settings);
        let plan = plan.expect("valid");
        let release = plan.with_evidence().simulate(&table, &mut rng(3)).expect("it fits");
        let (counts, evidence) = release.output;
        assert!(plan.certify(&counts, &evidence).expect("of this plan").feasible);
        (evidence.noisy().to_vec(), counts.into_counts())
    };
    let spread = |epsilon| release(Method::RootSpread, epsilon, LevelShares::Chosen);
    let chosen = |epsilon| release(Method::Fitted, epsilon, LevelShares::Chosen);
    assert_eq!(chosen(0.01).0, spread(0.01).0);
    assert_ne!(chosen(0.01).1, spread(0.01).1);
    assert_ne!(release(Method::Fitted, 0.01, LevelShares::Equal).0, spread(0.01).0);
    assert_ne!(chosen(20.0).0, spread(20.0).0);
}

/// What will be carried out stands in plan and receipt. A level of one region below the root is the root once more.
#[test]
fn a_plan_says_that_it_spreads_the_roots_row() {
    let carried_out = |parents: &[(&str, Option<&str>)], epsilon| {
        let hierarchy = Hierarchy::new(parents.iter().copied()).expect("valid");
        let settings = with_totals(vec![20; 3]);
        let plan = Census::new(hierarchy, up_to(4), 60, pure(epsilon), settings).expect("valid");
        (plan.method(), plan.receipt().to_string())
    };
    let three = [("US", None), ("GA", Some("US")), ("NY", Some("US")), ("VT", Some("US"))];
    let below = |name| (name, Some("US"));
    let chain = [("earth", None), ("US", Some("earth")), below("GA"), below("NY"), below("VT")];
    for parents in [&three[..], &chain] {
        let (method, receipt) = carried_out(parents, 0.01);
        assert_eq!(method, Method::RootSpread);
        assert!(receipt.starts_with("root-spread"), "{receipt}");
        let (method, receipt) = carried_out(parents, 20.0);
        assert_eq!(method, Method::Fitted);
        assert!(receipt.starts_with("m-c-fitted"), "{receipt}");
    }
}

/// States that have two sizes each, and counties like them, of few groups in many columns: states are looked at, whose rows noise does not hide.
#[test]
fn states_that_alone_are_unlike_are_looked_at_where_groups_are_few() {
    let (states, each, columns) = (6, 16, 300_u32);
    let row = |county: usize| {
        let state = county / each;
        let mut row = vec![0; columns as usize];
        (row[state * 7 + 3], row[state * 31 + 90]) = (20, 10);
        row
    };
    let rows: Vec<i64> = (0..states * each).flat_map(row).collect();
    let table = GroupSizes::from_table(up_to(columns - 1), rows.clone()).expect("fits");
    let off = |method| {
        let settings = CensusSettings { method, ..with_totals(table.groups_of_regions()) };
        let (hierarchy, bins) = (regions(states, each), up_to(columns - 1));
        let plan = Census::new(hierarchy, bins, table.groups(), pure(0.5), settings);
        let release = plan.expect("valid").simulate(&table, &mut rng(3)).expect("it fits");
        let found = release.output.into_counts();
        let leaves = found[found.len() - rows.len()..].iter().zip(&rows);
        leaves.map(|(a, b)| (a - b).abs()).sum::<i64>()
    };
    let [spread, chosen] = [Method::RootSpread, Method::Fitted].map(off);
    assert!(2 * chosen < spread, "{chosen} {spread}");
}

fn regions(middle: usize, each: usize) -> Hierarchy {
    let names: Vec<(String, Option<String>)> = std::iter::once(("root".to_owned(), None))
        .chain((0..middle).map(|i| (format!("state {i}"), Some("root".to_owned()))))
        .chain(
            (0..middle * each)
                .map(|i| (format!("county {i}"), Some(format!("state {}", i / each)))),
        )
        .collect();
    let names = names.iter().map(|(name, parent)| (name.as_str(), parent.as_deref()));
    Hierarchy::new(names).expect("valid")
}

/// Forty regions below five, of a thousand groups each, among this many sizes. With `unlike`, each has three of its own.
fn many_regions(columns: u32, unlike: bool) -> (Hierarchy, GroupSizes) {
    let hierarchy = regions(5, 8);
    let mut rng = rng(31);
    let (bins, columns) = (columns, columns as usize + 1);
    let mut table = vec![0; 40 * columns];
    for row in table.chunks_exact_mut(columns) {
        let own = [0; 3].map(|_| rng.random_range(0..columns));
        for group in 0..1_000 {
            row[if unlike { own[group % 3] } else { rng.random_range(0..columns) }] += 1;
        }
    }
    (hierarchy, GroupSizes::from_table(up_to(bins), table).expect("a table"))
}

#[test]
fn the_answer_decides_which_way_the_loss_goes() {
    for (unlike, epsilon, want) in [(false, 0.02, Method::RootSpread), (true, 0.2, Method::Fitted)]
    {
        let (hierarchy, table) = many_regions(200, unlike);
        let settings = CensusSettings {
            shares: LevelShares::AfterQuestion(0.2),
            ..with_totals(table.groups_of_regions())
        };
        let plan = Census::new(hierarchy, up_to(200), 40_000, pure(epsilon), settings);
        let plan = plan.expect("valid");
        assert_eq!(plan.ways().len(), 5);
        let mut right = 0;
        for seed in 0..10 {
            let (released, evidence) =
                plan.with_evidence().simulate(&table, &mut rng(seed)).expect("it fits").output;
            let way = plan.ways().nth(evidence.way()).expect("one of the ways");
            right += usize::from(way.method == want && !way.draws);
            let totals: Vec<i64> = (6..46).map(|region| released[region].iter().sum()).collect();
            assert_eq!(totals, table.groups_of_regions());
            assert!(plan.certify(&released, &evidence).expect("of this plan").feasible);
        }
        assert!(right >= 8, "{right} of 10 where unlike: {unlike}");
    }
}

/// Three fifths of the groups are empty, as hours of a zone are in which nothing begins, and the others spread over sizes of the region's own: most of the loss
/// goes to the regions, which are drawn to the row above, and is closer than what is right without an answer.
#[test]
fn regions_that_are_unlike_but_not_all_their_own_get_most_of_the_loss() {
    let (columns, groups) = (60, 1_200);
    let mut table = vec![0; 40 * columns];
    for (region, row) in table.chunks_exact_mut(columns).enumerate() {
        row[0] = groups * 3 / 5;
        (0..8).for_each(|size| row[1 + region * 7 % 40 + size] = groups / 20);
    }
    let table = GroupSizes::from_table(up_to(59), table).expect("a table");
    let settings = CensusSettings {
        shares: LevelShares::AfterQuestion(0.04),
        ..with_totals(table.groups_of_regions())
    };
    let plan = Census::new(regions(5, 8), up_to(59), 40 * groups, pure(0.1), settings);
    let plan = plan.expect("valid");
    let way = plan.ways().nth(3).expect("of five");
    // Half of what there is for the regions alone, and half by roots.
    assert!(way.draws && (0.8..0.95).contains(&way.shares[2]), "{way:?}");
    let receipt = plan.receipt().to_string();
    assert!(receipt.contains("most for the lowest level"), "{receipt}");
    let taken = |seed| {
        let release = plan.with_evidence().simulate(&table, &mut rng(seed)).expect("it fits");
        release.output.1.way()
    };
    let taken: Vec<usize> = (0..10).map(taken).collect();
    assert!(taken.iter().filter(|&&way| way == 3).count() >= 8, "{taken:?}");
}

/// So many groups that some sums move a million times as far with their multipliers as others: rows still add up to a hundredth of a group before they are whole.
#[test]
fn rows_of_very_many_groups_add_up() {
    let (columns, groups) = (40, 1_i64 << 26);
    let mut table = vec![0; 21 * columns];
    for (region, row) in table.chunks_exact_mut(columns).enumerate() {
        let [one, other] = [7 * region, 3 * region + 1].map(|size| size % columns);
        row[one] += groups * 2 / 3;
        row[other] += groups - groups * 2 / 3;
    }
    let table = GroupSizes::from_table(up_to(39), table).expect("a table");
    let settings = with_totals(table.groups_of_regions());
    let plan = Census::new(regions(3, 7), up_to(39), 21 * groups, pure(1.0), settings);
    let plan = plan.expect("valid");
    for seed in 0..6 {
        let release = plan.with_evidence().simulate(&table, &mut rng(seed)).expect("it fits");
        let (released, evidence) = release.output;
        let proof = plan.certify(&released, &evidence).expect("of this plan");
        assert!(proof.feasible && proof.residual < 0.02, "{proof:?}");
    }
}

/// Five states of three sizes each, whose counties are alike: the rows of the states are all that is drawn, and each county has its share of them.
#[test]
fn rows_of_a_level_between_are_spread_where_regions_below_are_alike() {
    let (hierarchy, columns, groups) = (regions(5, 8), 50, 400);
    let mut rng = rng(32);
    let mut table = vec![0; 40 * columns];
    let mut own = [0; 3];
    for (county, row) in table.chunks_exact_mut(columns).enumerate() {
        if county % 8 == 0 {
            own = own.map(|_| rng.random_range(0..columns));
        }
        (0..groups).for_each(|_| row[own[rng.random_range(0..3)]] += 1);
    }
    let table = GroupSizes::from_table(up_to(49), table).expect("a table");
    let privacy = pure(0.2);
    let plan = Census::new(
        hierarchy.clone(),
        up_to(49),
        40 * groups,
        privacy,
        with_totals(table.groups_of_regions()),
    );
    let plan = plan.expect("valid");
    let shares: Vec<usize> = plan.ways().map(|way| way.shares.len()).collect();
    assert_eq!(shares, [1, 3, 3, 3, 2]);
    let receipt = plan.receipt().to_string();
    assert!(receipt.contains("rows of level 2 spread"), "{receipt}");
    let exact = table.exact_totals(hierarchy.tree()).expect("of this tree");
    let mut between = 0;
    for seed in 0..10 {
        let (released, evidence) =
            plan.with_evidence().simulate(&table, &mut super::rng(seed)).expect("it fits").output;
        assert!(plan.certify(&released, &evidence).expect("of this plan").feasible);
        assert!(released.is_consistent(hierarchy.tree(), 40 * groups));
        if evidence.way() != 4 {
            continue;
        }
        between += 1;
        // Counties are not drawn, have their groups, and are off by chance and by their part of what their state is.
        assert!(evidence.noisy()[6 * columns..].iter().all(|&cell| cell == 0));
        for region in 6..46 {
            assert_eq!(released[region].iter().sum::<i64>(), groups);
        }
        let off = |cells: std::ops::Range<usize>| -> u64 {
            cells.map(|cell| released.counts()[cell].abs_diff(exact[cell])).sum()
        };
        let (states, counties) = (off(columns..6 * columns), off(6 * columns..46 * columns));
        assert!(states < 2_000 && counties < 4_000, "{states} {counties}");
    }
    assert!(between >= 8, "{between} of 10");
}

/// Of levels between, those are asked about that are neither the root nor the lowest level once more, and of more than two the lowest.
#[test]
fn levels_between_that_are_asked_about() {
    let ways = |sizes: &[usize]| {
        let mut names: Vec<(String, Option<String>)> = vec![("0.0".to_owned(), None)];
        for (level, two) in (1..).zip(sizes.windows(2)) {
            let parent = |region: usize| format!("{}.{}", level - 1, region * two[0] / two[1]);
            names.extend((0..two[1]).map(|r| (format!("{level}.{r}"), Some(parent(r)))));
        }
        let names = names.iter().map(|(name, parent)| (name.as_str(), parent.as_deref()));
        let hierarchy = Hierarchy::new(names).expect("valid");
        let leaves = hierarchy.tree().leaves().len();
        let settings = CensusSettings {
            shares: LevelShares::AfterQuestion(0.2),
            ..with_totals(vec![100; leaves])
        };
        let groups = 100 * i64::try_from(leaves).expect("few");
        let plan = Census::new(hierarchy, up_to(20), groups, pure(0.3), settings).expect("valid");
        plan.ways().skip(4).map(|way| way.shares.len()).collect::<Vec<_>>()
    };
    assert!(ways(&[1, 30]).is_empty());
    assert!(ways(&[1, 1, 30]).is_empty());
    assert!(ways(&[1, 30, 30]).is_empty());
    assert_eq!(ways(&[1, 5, 30]), [2]);
    assert_eq!(ways(&[1, 1, 5, 5, 30]), [4]);
    assert_eq!(ways(&[1, 3, 6, 30]), [2, 3]);
    assert_eq!(ways(&[1, 2, 4, 8, 30]), [3, 4]);
}

/// Whatever the answer, a receipt says the same beforehand, and every way stays within what the question leaves.
#[test]
fn all_ways_cost_the_same() {
    let (hierarchy, table) = many_regions(20, false);
    let within = Budget::new(0.5, 1e-6).expect("valid");
    let promises = [
        pure(0.3),
        Privacy::zcdp(0.01, 1e-9).expect("valid"),
        Privacy::within(within).expect("valid"),
    ];
    for privacy in promises {
        let settings = CensusSettings {
            shares: LevelShares::AfterQuestion(0.1),
            ..with_totals(table.groups_of_regions())
        };
        let plan = Census::new(hierarchy.clone(), up_to(20), 40_000, privacy, settings);
        let plan = plan.expect("valid");
        let receipt = plan.receipt();
        assert!(receipt.within_budget(), "{receipt}");
        assert_eq!(receipt.mechanism(), "m-c-fitted");
        for way in plan.ways() {
            assert_abs_diff_eq!(way.shares.iter().sum::<f64>(), 1.0, epsilon = 1e-9);
        }
        // What is told of a plan without its answer is told of the way of the least regret.
        assert_eq!(Some(plan.shares()), plan.ways().nth(1).map(|way| way.shares));
        assert!(plan.noise_variance(2).is_some_and(f64::is_finite));
        let text = serde_json::to_string(&plan).expect("a plan");
        assert_eq!(serde_json::from_str::<Census>(&text).expect("the same"), plan);
    }
}

/// Public facts say whether anything is asked: where it is cheap and the regions leave the best way open, and not elsewhere.
#[test]
fn it_is_asked_where_the_answer_is_cheap_and_decides() {
    let ways = |columns, epsilon, groups: i64| {
        let (hierarchy, _) = many_regions(columns, false);
        let settings = with_totals(vec![groups / 40; 40]);
        let plan = Census::new(hierarchy, up_to(columns), groups, pure(epsilon), settings);
        plan.expect("valid").ways().len()
    };
    assert_eq!(ways(200, 0.1, 40_000), 5);
    // A faint answer, which costs what it may.
    assert_eq!(ways(200, 0.1, 6_000), 5);
    assert_eq!(ways(200, 0.1, 400), 1);
    assert_eq!(ways(200, 1.0, 40_000), 1);
}

/// Of so many groups, a question could be asked at such a small part of a loss that no sampler has noise for it.
#[test]
fn many_groups_under_a_small_loss_have_a_plan() {
    let hierarchy = regions(50, 60);
    for (groups, columns, squared) in [
        (9_999_000, 9_999, 1e-3),
        (9_999_000, 19_999, 1e-3),
        (30_000_000, 4_999, 1e-4),
        (99_999_000, 1_999, 1e-5_f64),
    ] {
        let promises = [
            Privacy::gaussian(squared.sqrt(), 1e-9).expect("valid"),
            Privacy::zcdp(0.5 * squared, 1e-9).expect("valid"),
        ];
        for privacy in promises {
            let settings = with_totals(vec![groups / 3_000; 3_000]);
            let plan = Census::new(hierarchy.clone(), up_to(columns), groups, privacy, settings);
            assert_eq!(plan.expect("valid").ways().len(), 5, "{groups}, {columns}");
        }
    }
    // Whatever a loss allows without public numbers of groups, it allows with them.
    let (mut planned, mut refused) = (0, 0);
    for (groups, columns) in
        [(30_000, 99), (3_000_000, 999), (30_000_000, 4_999), (3_999_999_000, 99)]
    {
        for exponent in 2..32 {
            let epsilon = 10_f64.powf(-0.25 * f64::from(exponent));
            let promises = [
                pure(epsilon),
                Privacy::gaussian(epsilon, 1e-9).expect("valid"),
                Privacy::zcdp(0.5 * epsilon * epsilon, 1e-9).expect("valid"),
            ];
            for privacy in promises {
                let plan = |settings| {
                    let bins = up_to(columns);
                    Census::new(hierarchy.clone(), bins, groups, privacy, settings).is_ok()
                };
                let without = plan(usual());
                let with = plan(with_totals(vec![groups / 3_000; 3_000]));
                assert!(!without || with, "{groups}, {privacy:?}");
                if without { planned += 1 } else { refused += 1 }
            }
        }
    }
    assert!(planned > 0 && refused > 0, "{planned}, {refused}");
}

#[test]
fn a_question_that_cannot_be_asked_is_refused() {
    let asked = |share, settings: CensusSettings| {
        let settings = CensusSettings { shares: LevelShares::AfterQuestion(share), ..settings };
        plan(100, settings).map(|_| ()).map_err(|error| error.to_string())
    };
    let totals = || with_totals(vec![20; 5]);
    assert_eq!(asked(0.5, totals()), Ok(()));
    for got in [0.0, -0.1, 0.51, f64::NAN, f64::INFINITY] {
        let want = format!(
            "the share of the loss for a question must be above 0 and at most 0.5, got {got}"
        );
        assert_eq!(asked(got, totals()), Err(want));
    }
    let needs = |settings| asked(0.1, settings).expect_err("refused");
    assert!(needs(usual()).starts_with("a question about regions needs m-c-fitted"));
    let others = CensusSettings { method: Method::CumulativeTopDown, ..totals() };
    assert!(needs(others).starts_with("a question about regions needs"));
    // So small a part of a small loss allows no noise.
    let settings = CensusSettings { shares: LevelShares::AfterQuestion(1e-9), ..totals() };
    let error = Census::new(nation(), up_to(4), 100, pure(1e-9), settings).expect_err("no noise");
    assert!(error.to_string().starts_with("noise of the question how unlike regions are: "));
}

/// Where states have unequally many counties, one group changes the number of counties by as much as the most of them say, so that is what
/// the noise of the question is for. In noise, as two lengths.
#[test]
fn a_question_has_the_noise_of_the_state_with_the_most_counties() {
    let deviation = |counties: [usize; 6]| {
        let name = |state: usize| format!("state {state}");
        let leaf = |state: usize| move |county| (format!("{county} of {state}"), Some(name(state)));
        let states = (0..6).map(|state| (name(state), Some("all".to_owned())));
        let leaves = (0..6).flat_map(|state| (0..counties[state]).map(leaf(state)));
        let regions: Vec<(String, Option<String>)> =
            [("all".to_owned(), None)].into_iter().chain(states).chain(leaves).collect();
        let parents = regions.iter().map(|(region, parent)| (&**region, parent.as_deref()));
        let settings = CensusSettings {
            shares: LevelShares::AfterQuestion(0.3),
            ..with_totals(vec![10; 600])
        };
        let hierarchy = Hierarchy::new(parents).expect("valid");
        let plan = Census::new(hierarchy, up_to(99), 6_000, pure(1.0), settings).expect("valid");
        plan.plan.question.expect("it asks").noise.variance().sqrt()
    };
    let length = |counties: usize| {
        let numbers = [6, counties].map(|regions| f64::from(unlikeness_length(regions).get()));
        numbers.iter().sum::<f64>()
    };
    let ratio = deviation([1, 1, 1, 1, 1, 595]) / deviation([100; 6]);
    assert_abs_diff_eq!(ratio, length(595) / length(100), epsilon = 1e-6);
}

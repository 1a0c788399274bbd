//! What every release must be, and what it was in earlier versions.

use super::super::{Census, CensusSettings, LevelShares, Method, Privacy, RealCensus};
use super::{by, may_shrink, nation, plan, pure, real, rng, sizes, up_to, usual, with_totals};
use crate::{GroupSizes, Hierarchy};
use approx::assert_abs_diff_eq;
use dp_mechanism::Mechanism;
use std::num::NonZeroU32;

/// The same table, receipt and refusals as without evidence.
#[test]
fn a_release_with_evidence_is_a_release() {
    let table = sizes(9, 5, 14);
    let other = sizes(9, 4, 14);
    macro_rules! check {
        ($plan:expr) => {
            let plan = $plan.expect("valid");
            let alone = plan.simulate(&table, &mut rng(15)).expect("it fits");
            let both = plan.with_evidence().simulate(&table, &mut rng(15)).expect("it fits");
            assert_eq!(both.receipt, alone.receipt);
            let (output, evidence) = both.output;
            assert_eq!(output, alone.output);
            assert!(plan.certify(&output, &evidence).unwrap().feasible);
            let refused = plan.simulate(&other, &mut rng(15)).err();
            assert!(refused.is_some());
            assert_eq!(plan.with_evidence().simulate(&other, &mut rng(15)).err(), refused);
        };
    }
    check!(plan(table.groups(), usual()));
    check!(real(table.groups(), by(Method::Counts)));
}

/// Where it is public that a region has no groups, nothing of it is ever off, and the others are.
#[test]
fn standard_errors_keep_to_the_public_numbers_of_groups() {
    let rows = [[0; 5], [4, 9, 0, 3, 7], [8, 2, 2, 5, 6], [1, 7, 4, 0, 3], [6, 6, 1, 2, 2]];
    let table = GroupSizes::from_table(up_to(4), rows.concat()).expect("valid");
    let plan = plan(table.groups(), with_totals(table.groups_of_regions())).expect("valid");
    let released = plan.simulate(&table, &mut rng(3)).expect("it fits").output;
    let runs = NonZeroU32::new(3).expect("above 0");
    let errors = plan.standard_errors(&released, runs, &mut rng(4)).expect("of this plan");
    let (leaves, none) = (errors.len() - 25, errors.len() - 20);
    assert!(errors[leaves..none].iter().all(|&error| error <= 0.0), "{errors:?}");
    assert!(errors[none..].iter().any(|&error| error > 0.0), "{errors:?}");
}

/// Whatever table and loss, the release adds up, is not negative and has the public number of groups.
#[test]
fn every_release_is_consistent() {
    let tables = [
        ("nothing", GroupSizes::from_table(up_to(4), vec![0; 25])),
        ("one group", GroupSizes::from_table(up_to(4), [vec![0; 24], vec![1]].concat())),
        (
            "a billion in one cell",
            GroupSizes::from_table(
                up_to(4),
                [vec![0; 12], vec![1_000_000_000], vec![0; 12]].concat(),
            ),
        ),
        ("small", Ok(sizes(3, 5, 2))),
        ("large", Ok(sizes(1_000_000, 5, 3))),
    ];
    for (name, table) in tables {
        let table = table.expect("valid");
        let region_groups = table.groups_of_regions();
        for method in Method::ALL {
            for privacy in [
                pure(1e-6),
                pure(0.3),
                pure(50.0),
                Privacy::zcdp(1e-6, 1e-9).expect("valid"),
                Privacy::zcdp(0.5, 1e-9).expect("valid"),
                Privacy::gaussian(0.5, 1e-9).expect("valid"),
            ] {
                for shares in [LevelShares::Chosen, LevelShares::ten_twenty_seventy()] {
                    let settings = CensusSettings {
                        method,
                        shares,
                        shrinkage: may_shrink(method),
                        ..with_totals(region_groups.clone())
                    };
                    let plan = Census::new(nation(), up_to(4), table.groups(), privacy, settings)
                        .expect("valid");
                    let release = plan.simulate(&table, &mut rng(5)).expect("it fits");
                    let consistent = release.output.is_consistent(nation().tree(), table.groups());
                    assert!(consistent, "{name}, {method:?}, {privacy}: {:?}", release.output);
                    assert!(release.receipt.within_budget());
                }
            }
        }
    }
}

/// Real tables add up too, and rounding them cell by cell is what loses it.
#[test]
fn real_releases_add_up_in_real_numbers() {
    let table = sizes(20, 5, 4);
    for method in [Method::Counts, Method::Cumulative] {
        let plan = real(table.groups(), by(method)).expect("valid");
        let real = plan.simulate(&table, &mut rng(6)).expect("it fits").output;
        let tree = nation();
        let tree = tree.tree();
        for region in 0..tree.leaves().start {
            for (column, count) in real[region].iter().enumerate() {
                let parts = tree.children(region);
                let sum: f64 = parts.map(|part| real[part][column]).sum();
                assert!((sum - count).abs() < 1e-6, "{method:?} {region} {column}: {sum} {count}");
            }
        }
        let total: f64 = real[0].iter().sum();
        assert_abs_diff_eq!(total, table.groups() as f64, epsilon = 1e-6);
        assert!(real.counts().iter().all(|&count| count > -1e-6));
    }
}

#[test]
fn hierarchies_of_one_two_and_four_levels_and_regions_without_groups() {
    let one = Hierarchy::new([("all", None)]).expect("valid");
    let two = Hierarchy::new([("t", None), ("x", Some("t")), ("y", Some("t"))]).expect("valid");
    let four = [
        ("t", None),
        ("u", Some("t")),
        ("v", Some("u")),
        ("w", Some("u")),
        ("x", Some("v")),
        ("y", Some("w")),
    ];
    let four = Hierarchy::new(four).expect("valid");
    for (hierarchy, table) in
        [(one, vec![5, 0, 7]), (two, vec![5, 0, 7, 0, 0, 0]), (four, vec![0, 0, 0, 1, 2, 3])]
    {
        let table = GroupSizes::from_table(up_to(2), table).expect("valid");
        for method in Method::ALL {
            let (hierarchy, groups) = (hierarchy.clone(), table.groups());
            let plan = Census::new(hierarchy.clone(), up_to(2), groups, pure(2.0), by(method));
            let plan = plan.expect("valid");
            let release = plan.simulate(&table, &mut rng(7)).expect("it fits");
            assert!(release.output.is_consistent(hierarchy.tree(), table.groups()), "{method:?}");
        }
    }
}

/// Next to no noise: the release is the table, for every method but the chain, in which five counties share what one has elsewhere, and the
/// spread, which does not look at counties.
#[test]
fn without_noise_the_table_comes_back() {
    let table = sizes(50, 5, 8);
    let without = [Method::Chain, Method::RootSpread];
    for method in Method::ALL.into_iter().filter(|method| !without.contains(method)) {
        let plan = Census::new(nation(), up_to(4), table.groups(), pure(100.0), by(method));
        let plan = plan.expect("valid");
        let release = plan.simulate(&table, &mut rng(9)).expect("it fits");
        assert_eq!(
            release.output.counts(),
            table.exact_totals(nation().tree()).unwrap(),
            "{method:?}"
        );
    }
}

#[test]
fn the_same_seed_gives_the_same_table_for_any_number_of_threads() {
    let table = sizes(30, 5, 10);
    for method in Method::ALL {
        let plan = plan(table.groups(), by(method)).expect("valid");
        let tables = [1, 2, 7].map(|threads| {
            let pool =
                rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| plan.simulate(&table, &mut rng(11)).expect("it fits").output)
        });
        assert!(tables.windows(2).all(|pair| pair[0] == pair[1]), "{method:?}");
    }
}

/// The same seed gives the same tables as in earlier versions, whatever the settings.
#[test]
fn releases_of_a_seed_are_pinned() {
    let table = sizes(30, 5, 100);
    // FNV-1a, by numbers instead of bytes.
    let hash = |numbers: &[u64]| {
        let add = |hash: u64, number: &u64| (hash ^ number).wrapping_mul(0x0100_0000_01b3);
        numbers.iter().fold(0xcbf2_9ce4_8422_2325, add)
    };
    let promises = [pure(0.5), Privacy::zcdp(0.1, 1e-9).expect("valid")];
    let shares =
        [LevelShares::Equal, LevelShares::RootOfRegions, LevelShares::ten_twenty_seventy()];
    let whole = |method: Method| {
        let mut numbers = Vec::new();
        for privacy in promises {
            for shares in &shares {
                for (totals, shrinkage) in [(false, false), (true, false), (true, true)] {
                    for quantity in [1, 3] {
                        let settings = CensusSettings {
                            method,
                            shares: shares.clone(),
                            most_quantity: NonZeroU32::new(quantity).expect("above 0"),
                            region_groups: totals.then(|| table.groups_of_regions()),
                            shrinkage: shrinkage && may_shrink(method),
                        };
                        let plan =
                            Census::new(nation(), up_to(4), table.groups(), privacy, settings)
                                .expect("valid");
                        let release = plan.simulate(&table, &mut rng(5)).expect("it fits");
                        numbers.extend(release.output.counts().iter().map(|n| n.cast_unsigned()));
                    }
                }
            }
        }
        hash(&numbers)
    };
    assert_eq!(
        Method::ALL.map(whole),
        [
            0xd1dc_0c4c_c4ae_54bd,
            0xda86_1187_708a_8957,
            0xbf8b_cc2f_71f8_97f1,
            0x31b3_8e65_75d2_f1f3,
            0x84f9_4458_cc69_07e1,
            0xf0f5_4eb4_1de5_9a01,
            0xe4e2_803a_f81b_fd6d,
            0x7e73_a6ea_c56c_24ab,
        ]
    );
    let real = |method: Method| {
        let mut numbers = Vec::new();
        for privacy in promises {
            let settings = CensusSettings { shares: LevelShares::Equal, ..by(method) };
            let plan = RealCensus::new(nation(), up_to(4), table.groups(), privacy, settings);
            let plan = plan.expect("valid");
            let release = plan.simulate(&table, &mut rng(5)).expect("it fits");
            numbers.extend(release.output.counts().iter().map(|number| number.to_bits()));
        }
        hash(&numbers)
    };
    let reals = [Method::Cumulative, Method::Counts].map(real);
    assert_eq!(reals, [0x5b6f_e20e_4003_3ec0, 0x177c_195e_df7d_cf03]);
}

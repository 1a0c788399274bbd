//! Settings, odd tables, and what every release must be.

use approx::{assert_abs_diff_eq, assert_relative_eq};
use std::num::NonZeroU32;

use dp_accounting::Budget;
use dp_mechanism::{ChaCha20Rng, Mechanism, SecureSource};
use rand::{RngExt, SeedableRng};

use super::{Census, CensusSettings, LevelShares, Method, Privacy, Query, RealCensus};
use crate::{CensusError, From0, From1, GroupSizes, Hierarchy};

fn rng(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

fn pure(epsilon: f64) -> Privacy {
    Privacy::pure(epsilon).expect("valid")
}

fn up_to(largest: u32) -> From0 {
    From0::up_to(largest).expect("valid")
}

/// A nation of two states with two and three counties.
fn nation() -> Hierarchy {
    let states = ["GA", "NY"].map(|state| (state, Some("US")));
    let counties = [("a", "GA"), ("b", "GA"), ("c", "NY"), ("d", "NY"), ("e", "NY")];
    let counties = counties.map(|(county, state)| (county, Some(state)));
    Hierarchy::new([("US", None)].into_iter().chain(states).chain(counties)).expect("valid")
}

/// A plan for that nation.
fn plan(groups: i64, settings: CensusSettings) -> Result<Census, CensusError> {
    Census::new(nation(), up_to(4), groups, pure(1.0), settings)
}

fn real(groups: i64, settings: CensusSettings) -> Result<RealCensus, CensusError> {
    RealCensus::new(nation(), up_to(4), groups, pure(1.0), settings)
}

fn usual() -> CensusSettings {
    CensusSettings::default()
}

fn by(method: Method) -> CensusSettings {
    CensusSettings { method, ..usual() }
}

fn may_shrink(method: Method) -> bool {
    method.query() == Query::Cumulative && !matches!(method, Method::Fitted | Method::RootSpread)
}

fn shared(shares: LevelShares) -> CensusSettings {
    CensusSettings { shares, ..usual() }
}

fn with_totals(region_groups: Vec<i64>) -> CensusSettings {
    CensusSettings { region_groups: Some(region_groups), ..usual() }
}

/// Five counties with about `most` groups of each size.
fn sizes(most: i64, columns: u32, seed: u64) -> GroupSizes {
    let mut rng = rng(seed);
    let counts = (0..5 * columns).map(|_| rng.random_range(0..=most));
    GroupSizes::from_table(up_to(columns - 1), counts.collect()).expect("valid")
}

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

/// The proof of every method, with and without shrinkage, and a table of another run that it refuses.
#[test]
fn every_release_is_proved_and_another_is_not() {
    let table = sizes(40, 5, 12);
    let mut draws = rng(13);
    let mut source = SecureSource::new(&mut draws);
    for method in Method::ALL {
        for shrinkage in [false, true] {
            let shrinkage = shrinkage && may_shrink(method);
            let totals = with_totals(table.groups_of_regions());
            let settings = CensusSettings { method, shrinkage, ..totals };
            let plan = plan(table.groups(), settings).expect("valid");
            let (release, evidence) = plan.with_evidence().replay(&table, &mut source).0;
            let proof = plan.certify(&release, &evidence).unwrap();
            let most = if method == Method::Fitted { 0.05 } else { 1e-9 };
            assert!(proof.feasible && proof.residual < most && proof.distance < 1e-3, "{proof:?}");
            let (other, _) = plan.with_evidence().replay(&table, &mut source).0;
            let proof = plan.certify(&other, &evidence).unwrap();
            assert!(!proof.feasible || proof.residual > 0.5, "{method:?} {proof:?}");
        }
    }
    for method in [Method::Counts, Method::Cumulative] {
        let plan = real(table.groups(), by(method)).expect("valid");
        let (real, evidence) = plan.with_evidence().replay(&table, &mut source).0;
        let proof = plan.certify(&real, &evidence).unwrap();
        assert!(proof.feasible && proof.residual < 1e-9 && proof.distance < 1e-3, "{proof:?}");
        let (other, _) = plan.with_evidence().replay(&table, &mut source).0;
        let proof = plan.certify(&other, &evidence).unwrap();
        assert!(!proof.feasible || proof.residual > 0.1, "{method:?} {proof:?}");
    }
}

/// One group of one size more or less is told from the optimum, in both directions; and one cell of real numbers, and rows that descend.
#[test]
fn what_is_nearly_a_release_is_not_proved() {
    let (table, hierarchy) = (sizes(40, 5, 12), nation());
    let tree = hierarchy.tree();
    let mut draws = rng(13);
    let mut source = SecureSource::new(&mut draws);
    for method in [Method::Chain, Method::Counts] {
        let plan = plan(table.groups(), by(method)).expect("valid");
        let (release, evidence) = plan.with_evidence().replay(&table, &mut source).0;
        let columns = release.columns();
        let (mut moved, mut negative) = (0, 0);
        for (from, to) in [(0, columns - 1), (columns - 1, 0)] {
            for leaf in tree.leaves() {
                let mut other = release.clone();
                let mut above = Some(leaf);
                while let Some(region) = above {
                    other.counts[region * columns + from] -= 9;
                    other.counts[region * columns + to] += 9;
                    above = tree.parent(region);
                }
                let proof = plan.certify(&other, &evidence).expect("its shape");
                let is_table = other.counts.iter().all(|count| *count >= 0);
                assert_eq!(proof.feasible, is_table, "{method:?}, {from} to {to}: {proof:?}");
                assert_eq!(other.is_consistent(tree, table.groups()), is_table);
                moved += i32::from(is_table);
                negative += i32::from(!is_table);
                let said = format!("{method:?}, {from} to {to}: {proof:?}");
                assert!(!is_table || proof.residual > 0.5, "{said}");
            }
        }
        assert!(moved > 5 && negative > 0, "{moved} in both directions, {negative} negative");
    }
    let plan = real(table.groups(), by(Method::Cumulative)).expect("valid");
    let (release, evidence) = plan.with_evidence().replay(&table, &mut source).0;
    let mut other = release.clone();
    *other.counts.last_mut().expect("a cell") += 0.01;
    assert!(!plan.certify(&other, &evidence).expect("its shape").feasible);
}

/// Whole numbers near to real ones are no better than those: real rows that descend are no optimum.
#[test]
fn a_proof_that_descends_proves_nothing() {
    let table = sizes(1, 5, 12);
    let mut draws = rng(13);
    let plan = plan(table.groups(), by(Method::Cumulative)).expect("valid");
    let (release, mut evidence) =
        plan.with_evidence().replay(&table, &mut SecureSource::new(&mut draws)).0;
    assert!(plan.certify(&release, &evidence).expect("its shape").feasible);
    let super::evidence::Proof::Real(real) = &mut evidence.proof else {
        panic!("the method passes through real numbers");
    };
    // Two neighbours that are nearly the same, so that whole numbers are as near as before.
    let row = real.rows.chunks_exact_mut(5).find_map(|row| {
        let place = (0..4).find(|place| row[place + 1] - row[*place] < 0.1)?;
        Some(&mut row[place..])
    });
    let row = row.expect("sizes without groups");
    row[0] = row[1] + 0.01;
    assert!(!plan.certify(&release, &evidence).expect("its shape").feasible);
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
            0x3bbf_6597_2d10_92df,
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

/// Where nothing is seen of the regions, the default is the root's row alone, draw by draw; and not where shares are given or something is seen.
#[test]
fn regions_without_signal_leave_all_of_the_loss_to_the_root() {
    let table = sizes(20, 5, 21);
    let release = |method, epsilon, shares| {
        let totals = with_totals(table.groups_of_regions());
        let settings = CensusSettings { method, shares, ..totals };
        let plan = Census::new(nation(), up_to(4), table.groups(), pure(epsilon), settings);
        let release = plan.expect("valid").simulate(&table, &mut rng(3)).expect("it fits");
        release.output.into_counts()
    };
    let spread = |epsilon| release(Method::RootSpread, epsilon, LevelShares::Chosen);
    assert_eq!(release(Method::Fitted, 0.01, LevelShares::Chosen), spread(0.01));
    assert_ne!(release(Method::Fitted, 0.01, LevelShares::Equal), spread(0.01));
    assert_ne!(release(Method::Fitted, 20.0, LevelShares::Chosen), spread(20.0));
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
        assert_eq!(plan.ways().len(), 3);
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
    assert_eq!(ways(200, 0.1, 40_000), 3);
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
            assert_eq!(plan.expect("valid").ways().len(), 3, "{groups}, {columns}");
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

//! Every public constructor with 0, negative and huge numbers, what is no number, names that are missing or there twice, and tables of other
//! shapes: nothing panics or takes memory for it, and what is refused is named with its value or its limit.

use std::num::NonZeroU32;

use dp_accounting::Budget;
use dp_census::solve::Problem;
use dp_census::{
    Bins as _, Census, CensusError, CensusSettings, From0, From1, GroupDirectory, GroupSizes,
    Hierarchy, LevelShares, Method, Privacy, RealCensus, RegionTree,
};
use dp_mechanism::{ChaCha20Rng, Mechanism};
use rand::SeedableRng;

const NUMBERS: [f64; 12] = [
    f64::NAN,
    f64::NEG_INFINITY,
    -1.0,
    -0.0,
    0.0,
    1e-320,
    1e-9,
    0.5,
    1.0,
    1e3,
    f64::MAX,
    f64::INFINITY,
];

fn nation() -> Hierarchy {
    Hierarchy::new([("US", None), ("GA", Some("US")), ("NY", Some("US"))]).expect("valid")
}

/// Of each value: `+` if it is accepted, `-` if it is refused with one of its words or the given ones, else the message.
fn outcomes<V: Copy + std::fmt::Debug, T>(
    values: &[V],
    named: &[&str],
    of: impl Fn(V) -> Result<T, CensusError>,
) -> String {
    let outcome = |&value: &V| match of(value) {
        Ok(_) => "+".to_owned(),
        Err(error) => {
            let (error, value) = (error.to_string(), format!("{value:?}"));
            let says = |word: &&str| error.contains(*word);
            let is_said = named.iter().any(says) || error.contains(value.trim_end_matches(".0"));
            if is_said { "-".to_owned() } else { format!("[{value}: {error}]") }
        }
    };
    values.iter().map(outcome).collect()
}

fn numbers<T>(of: impl Fn(f64) -> Result<T, CensusError>) -> String {
    outcomes(&NUMBERS, &[], of)
}

#[test]
fn promises() {
    assert_eq!(numbers(Privacy::pure), "-----++++---");
    let zcdp = outcomes(&NUMBERS, &["epsilon"], |rho| Privacy::zcdp(rho, 1e-9));
    let gaussian = outcomes(&NUMBERS, &["epsilon"], |mu| Privacy::gaussian(mu, 1e-9));
    assert_eq!((&*zcdp, &*gaussian), ("------+++---", "-------++---"));
    // At a delta of a half, nothing so small has an epsilon above 0.
    for small in [Privacy::zcdp, Privacy::gaussian] {
        let deltas = outcomes(&NUMBERS, &["delta"], |delta| small(0.1, delta));
        assert_eq!(deltas, "-----++-----");
    }
    let within = |epsilon, delta| Privacy::within(Budget::new(epsilon, delta).expect("a budget"));
    assert!(within(1.0, 0.0).expect_err("no delta").to_string().contains("a delta above 0"));
    assert!(within(1e-300, 1e-9).is_ok() && within(1.0, 1e-300).is_ok());
}

#[test]
fn columns_and_tables() {
    let largest = [0, 1, 2, 1 << 20, (1 << 24) - 1, 1 << 24, u32::MAX];
    assert_eq!(outcomes(&largest, &[], From0::up_to), "-++++--");
    assert_eq!(outcomes(&largest, &[], From1::up_to), "--+++--");
    let bins = From0::up_to(2).expect("valid");
    let table = |counts: Vec<i64>| GroupSizes::from_table(bins, counts);
    assert_eq!(table(vec![]).expect("no region").regions(), 0);
    let said = |error: Result<GroupSizes, CensusError>| error.expect_err("refused").to_string();
    assert_eq!(said(table(vec![0; 4])), "the table has 4 entries, which are no whole rows of 3");
    assert_eq!(said(table(vec![0, -1, 0])), "no number of groups may be negative");
    for huge in [vec![i64::MAX; 3], vec![1 << 36, 1, 0]] {
        assert_eq!(said(table(huge)), "there must be at most 68719476736 groups");
    }
    let rows = |rows: &[(&'static str, u64, i64)]| {
        GroupSizes::from_rows(&nation(), bins, rows.iter().copied())
    };
    assert!(said(rows(&[("FL", 1, 1)])).contains("`FL`"));
    assert!(said(rows(&[("US", 1, 1)])).contains("`US` is not a region of the lowest level"));
    assert!(said(rows(&[("GA", u64::MAX, -1)])).contains("negative"));
    for more in [1, i64::MAX] {
        assert!(said(rows(&[("GA", 1, i64::MAX), ("GA", 1, more)])).contains("at most"));
    }
    assert_eq!(rows(&[("GA", u64::MAX, 1)]).expect("the last column").counts()[2], 1);
}

/// Nobody has memory for them, so they are refused before any is taken.
#[test]
fn tables_that_no_memory_holds() {
    let names: Vec<String> = (0..1_000).map(|i| i.to_string()).collect();
    let parts = names.iter().map(|name| (name.as_str(), Some("all")));
    let wide = Hierarchy::new([("all", None)].into_iter().chain(parts)).expect("valid");
    let bins = From0::up_to((1 << 24) - 1).expect("valid");
    let limit = "regions times columns must be at most 2^32, got 167";
    let said = |error: CensusError| assert!(error.to_string().contains(limit), "{error}");
    said(GroupSizes::from_rows(&wide, bins, []).expect_err("1.7e10 cells"));
    let privacy = Privacy::pure(1.0).expect("valid");
    let plan = Census::new(wide.clone(), bins, 1, privacy, CensusSettings::default());
    said(plan.expect_err("1.7e10 cells"));
    let directory = GroupDirectory::new(&wide, [("a", "7")]).expect("valid");
    let members = directory.count_members(NonZeroU32::MIN);
    said(members.into_sizes(bins, NonZeroU32::MIN).expect_err("1.7e10 cells"));
}

#[test]
fn hierarchies() {
    let said = |rows: &[(&str, Option<&str>)]| {
        Hierarchy::new(rows.iter().copied()).expect_err("refused").to_string()
    };
    assert!(said(&[]).contains("number of regions must be between 1 and"));
    assert!(said(&[("a", None), ("b", None)]).contains("`a` and `b`"));
    assert!(said(&[("a", None), ("a", Some("a"))]).contains("`a` has two parents"));
    assert!(said(&[("a", Some("a"))]).contains("circle"));
    assert!(said(&[("a", None), ("b", Some("c"))]).contains("parent `c` of region `b`"));
    assert!(said(&[("r", None), ("a", Some("b")), ("b", Some("a"))]).contains("circle"));
    let uneven = [("r", None), ("a", Some("r")), ("b", Some("r")), ("c", Some("a"))];
    assert!(said(&uneven).contains("`b` has no parts"));
    let twice = [("r", None), ("a", Some("r")), ("a", Some("r"))];
    assert_eq!(Hierarchy::new(twice).expect("one row, twice").tree().len(), 2);
    let parents = |parents: &[Option<u32>]| RegionTree::from_parents(parents).map(|_| ());
    for wrong in [
        &[][..],
        &[Some(0)],
        &[None, None],
        &[None, Some(1)],
        &[None, Some(u32::MAX)],
        &[None, Some(0), Some(1), Some(0)],
        &[None, Some(0), Some(0), Some(2)],
    ] {
        assert!(parents(wrong).is_err(), "{wrong:?}");
    }
    // Seventeen levels make a hierarchy, but no plan and no problem.
    let names: Vec<String> = (0..17).map(|i| i.to_string()).collect();
    let above = names.iter().map(String::as_str).map(Some);
    let chain = names.iter().map(String::as_str).zip([None].into_iter().chain(above));
    let deep = Hierarchy::new(chain).expect("a chain");
    let bins = From0::up_to(2).expect("valid");
    let privacy = Privacy::pure(1.0).expect("valid");
    let plan = Census::new(deep.clone(), bins, 1, privacy, CensusSettings::default());
    assert!(plan.expect_err("deep").to_string().contains("levels must be at most 16, got 17"));
    assert!(Problem::new(deep.tree(), 1, &[0; 17], &[1; 17], 1).is_err());
}

fn plan(groups: i64, set: impl Fn(&mut CensusSettings)) -> Result<Census, CensusError> {
    let mut settings = CensusSettings::default();
    set(&mut settings);
    let (bins, privacy) = (From0::up_to(2)?, Privacy::pure(1.0)?);
    Census::new(nation(), bins, groups, privacy, settings)
}

#[test]
fn plans() {
    let groups = [i64::MIN, -1, 0, 1, 1 << 36, (1 << 36) + 1, i64::MAX];
    assert_eq!(outcomes(&groups, &[], |groups| plan(groups, |_| ())), "--+++--");
    let share = |share: f64| {
        plan(9, |settings| settings.shares = LevelShares::Fixed(vec![share, 1.0 - share]))
    };
    assert_eq!(outcomes(&NUMBERS, &["share", "noise of level"], share), "------++----");
    for shares in [vec![], vec![1.0], vec![0.2, 0.3, 0.5], vec![0.5, 0.4]] {
        let fixed =
            |settings: &mut CensusSettings| settings.shares = LevelShares::Fixed(shares.clone());
        assert!(plan(9, fixed).expect_err("refused").to_string().contains("share"));
    }
    for (totals, word) in [
        (vec![], "must have 2 numbers"),
        (vec![4], "got 1"),
        (vec![4, 4], "must add up to 9"),
        (vec![-1, 10], "got -1"),
        (vec![i64::MAX, i64::MAX], "add up"),
        (vec![i64::MIN, i64::MAX], "got -9223372036854775808"),
    ] {
        let error = plan(9, |settings| settings.region_groups = Some(totals.clone()));
        let error = error.expect_err("refused").to_string();
        assert!(error.contains(word), "{totals:?}: {error}");
    }
    let most = |most: u32| {
        let most = NonZeroU32::new(most).expect("above 0");
        plan(9, |settings| settings.most_quantity = most)
    };
    assert_eq!(outcomes(&[1, 2, u32::MAX], &[], most), "+++");
    let shrunk =
        |method| plan(9, |settings| (settings.method, settings.shrinkage) = (method, true));
    assert!(Method::ALL.into_iter().all(|method| shrunk(method).is_err()), "without region_groups");
    for method in Method::ALL {
        let settings = CensusSettings { method, ..Default::default() };
        let (bins, privacy) = (From0::up_to(2).expect("valid"), Privacy::pure(1.0).expect("valid"));
        let real = RealCensus::new(nation(), bins, 9, privacy, settings);
        assert_eq!(
            real.is_ok(),
            matches!(method, Method::Counts | Method::Cumulative),
            "{method:?}"
        );
    }
}

/// A table of another shape, of other groups or of people who brought more is refused before anything is drawn.
#[test]
fn tables_of_other_plans() {
    let bins = From0::up_to(2).expect("valid");
    let plan = plan(9, |settings| settings.region_groups = Some(vec![4, 5])).expect("valid");
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let right = GroupSizes::from_table(bins, vec![4, 0, 0, 0, 5, 0]).expect("valid");
    let released = plan.simulate(&right, &mut rng).expect("fits").output;
    let three = NonZeroU32::new(3).expect("above 0");
    for (wrong, word) in [
        (vec![9, 0, 0], "1 leaf regions"),
        (vec![9, 0, 0, 0, 0, 0, 0, 0, 0], "3 leaf regions"),
        (vec![], "0 leaf regions"),
        (vec![4, 0, 0, 0, 6, 0], "10 groups"),
        (vec![5, 0, 0, 0, 4, 0], "`GA` has 5 groups"),
    ] {
        let wrong = GroupSizes::from_table(bins, wrong).expect("a table");
        let error = plan.simulate(&wrong, &mut rng).expect_err("refused").to_string();
        assert!(error.contains(word), "{error}");
    }
    let more = right.clone().with_most_quantity(three);
    let error = plan.simulate(&more, &mut rng).expect_err("refused").to_string();
    assert!(error.contains("up to 3") && error.contains("up to 1"), "{error}");
    let wider = From0::up_to(3).expect("valid");
    let wider = GroupSizes::from_table(wider, vec![0; 8]).expect("a table");
    assert!(plan.simulate(&wider, &mut rng).is_err());
    // Of a release of another plan there are no errors to be had.
    let privacy = Privacy::pure(1.0).expect("valid");
    let other = Census::new(nation(), bins, 8, privacy, CensusSettings::default()).expect("valid");
    let runs = NonZeroU32::MIN;
    assert!(other.standard_errors(&released, runs, &mut rng).is_err());
    assert!(plan.standard_errors(&released, runs, &mut rng).is_ok());
}

#[test]
fn directories_of_groups() {
    let nation = nation();
    let said = |rows: &[(&'static str, &'static str)]| {
        GroupDirectory::new(&nation, rows.iter().copied()).expect_err("refused").to_string()
    };
    assert!(said(&[("a", "FL")]).contains("`FL`") && said(&[("a", "US")]).contains("`US`"));
    let two = said(&[("a", "GA"), ("a", "NY")]);
    assert!(two.contains("both in `GA` and in `NY`"), "{two}");
    let none = GroupDirectory::<&str>::new(&nation, []).expect("no group");
    assert_eq!((none.groups(), none.groups_of_regions()), (0, vec![0, 0]));
    let directory = GroupDirectory::new(&nation, [("a", "GA")]).expect("valid");
    let most = NonZeroU32::MAX;
    let mut members = directory.count_members(most);
    for quantity in [i64::MIN, -1, 0, i64::MAX, i64::MAX] {
        members.add(&"a", quantity);
        members.add(&"nobody's", quantity);
    }
    let error = members.merge(&none.count_members(most)).expect_err("other groups").to_string();
    assert!(error.contains("the same groups"), "{error}");
    let few = directory.count_members(NonZeroU32::MIN);
    let error = members.merge(&few).expect_err("another quantity").to_string();
    assert!(error.contains("the same most quantity"), "{error}");
    let bins = From0::up_to(2).expect("valid");
    let error = members.clone().into_sizes(bins, NonZeroU32::MIN).expect_err("more").to_string();
    assert!(error.contains("up to 4294967295"), "{error}");
    assert_eq!(members.into_sizes(bins, most).expect("few").counts(), [0, 0, 1, 0, 0, 0]);
}

#[test]
fn problems_of_solvers() {
    let nation = nation();
    let problem = |bins: usize, cells: &[i64], weights: &[u32], groups: i64| {
        Problem::new(nation.tree(), bins, cells, weights, groups).map(|_| ()).err()
    };
    let said = |error: Option<CensusError>| error.expect("refused").to_string();
    assert_eq!(problem(1, &[0; 3], &[1, 1], 5), None);
    assert_eq!(said(problem(0, &[], &[1, 1], 5)), "a table needs at least one bin");
    assert!(said(problem(usize::MAX, &[0; 3], &[1, 1], 5)).contains("does not have 3 cells"));
    assert!(said(problem(1, &[0; 3], &[1], 5)).contains("2 levels need as many weights, not 1"));
    for weight in [0, (1 << 20) + 1, u32::MAX] {
        assert!(said(problem(1, &[0; 3], &[1, weight], 5)).contains(&weight.to_string()));
    }
    for groups in [-1, i64::MIN, (1 << 36) + 1] {
        assert!(said(problem(1, &[0; 3], &[1, 1], groups)).contains(&groups.to_string()));
    }
    for cell in [i64::MIN, i64::MAX, (1 << 36) + 1] {
        assert!(said(problem(1, &[0, cell, 0], &[1, 1], 5)).contains("above 68719476736"));
    }
    assert_eq!(From0::up_to(7).expect("valid").count(), 8);
}

/// What somebody else has written, with the value and the limit, or what is missing.
#[test]
fn files() {
    fn read<T: serde::de::DeserializeOwned>(text: &str) -> String {
        serde_json::from_str::<T>(text)
            .map_or_else(|error| error.to_string(), |_| "accepted".to_owned())
    }
    let whole = serde_json::to_string(&plan(9, |_| ()).expect("valid")).expect("plain fields");
    let with = |from: &str, to: &str| {
        assert!(whole.contains(from), "{from} in {whole}");
        read::<Census>(&whole.replacen(from, to, 1))
    };
    for (said, wanted) in [
        (read::<From0>("{\"smallest\":0,\"largest\":0}"), "got 0"),
        (read::<From0>("{\"smallest\":0,\"largest\":4294967295}"), "got 4294967295"),
        (read::<From0>("{\"smallest\":0,\"largest\":-1}"), "integer `-1`"),
        (read::<From0>("{}"), "missing field `smallest`"),
        (read::<From1>("{\"smallest\":1,\"largest\":1}"), "got 1"),
        (with("\"groups\":9", "\"groups\":-9"), "got -9"),
        (with("\"groups\":9", "\"groups\":9223372036854775807"), "got 9223372036854775807"),
        (with("\"groups\":9", "\"groups\":9.5"), "floating point `9.5`"),
        (with("\"most_quantity\":1", "\"most_quantity\":0"), "integer `0`"),
        (with("\"largest\":2", "\"largest\":0"), "got 0"),
        (with("\"GA\"", "\"US\""), "US"),
        (with("\"epsilon\":1.0", "\"epsilon\":0.0"), "got 0"),
        (with("\"epsilon\":1.0", "\"epsilon\":-1.0"), "got -1"),
        (
            with("\"epsilon\":1.0", "\"epsilon\":1e-320"),
            "noise of level 1: epsilon of a sum = 4.135e-321 asks for more noise",
        ),
        (with("\"epsilon\":1.0", "\"rho\":1.0"), "rho"),
    ] {
        assert!(said.contains(wanted), "{said}, not {wanted}");
    }
}

/// Tables and evidence of another plan, regions and levels that there are not.
#[test]
fn tables_that_do_not_fit_their_plan() {
    let bins = From0::up_to(2).expect("valid");
    let rows = [("GA", 2, 1), ("NY", 0, 3)];
    let sizes = GroupSizes::from_rows(&nation(), bins, rows).expect("valid");
    let privacy = || Privacy::pure(1.0).expect("valid");
    let plan = |hierarchy, bins| {
        Census::new(hierarchy, bins, 4, privacy(), CensusSettings::default()).expect("valid")
    };
    let rng = &mut ChaCha20Rng::seed_from_u64(1);
    let ours = plan(nation(), bins);
    let (table, evidence) = ours.with_evidence().simulate(&sizes, rng).expect("fits").output;
    assert!(ours.certify(&table, &evidence).is_ok_and(|proof| proof.feasible));
    assert_eq!((table.get(2).map(<[i64]>::len), table.get(3)), (Some(3), None));
    assert_eq!(table.get(usize::MAX), None);
    assert!(ours.noise_variance(1).is_some() && ours.noise_variance(2).is_none());
    let other = Hierarchy::new([("US", None), ("GA", Some("US"))]).expect("valid");
    let refused = plan(other.clone(), bins).certify(&table, &evidence);
    assert_eq!(refused, Err(CensusError::OtherHierarchy));
    // As many regions, one inside of the other.
    let chain = Hierarchy::new([("US", None), ("GA", Some("US")), ("Fulton", Some("GA"))]);
    let refused = plan(chain.expect("valid"), bins).certify(&table, &evidence);
    assert_eq!(refused, Err(CensusError::OtherHierarchy));
    let wider = plan(nation(), From0::up_to(5).expect("valid")).certify(&table, &evidence);
    let lengths = CensusError::TableLength { regions: 3, bins: 6, cells: 9 };
    assert_eq!(wider, Err(lengths));
    let shape = CensusError::Shape { expected: (1, 3), got: (2, 3) };
    assert_eq!(sizes.exact_totals(other.tree()), Err(shape));
}

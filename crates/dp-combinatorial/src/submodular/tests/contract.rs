//! The contract of objectives and extensions, on random records and random orders.

use proptest::prelude::*;
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;

use super::super::{Credits, Extension, Objective, exact_value};
use super::*;

fn records() -> impl Strategy<Value = Vec<Record>> {
    // Similarities and weights beyond the most that is declared must be cut.
    let record = (prop::array::uniform4(0_u16..14), 0_u32..14)
        .prop_map(|(similarities, weight)| Record { similarities, weight });
    prop::collection::vec(record, 0..6)
}

#[test]
fn neighbours_print_alike() {
    let record = |weight| Record { similarities: [0, 3, 0, 7], weight };
    let texts = |records: &[Record]| {
        [
            format!("{:?}", coverage(records)),
            format!("{:?}", facility_location(records)),
            format!("{:?}", dense(records)),
            format!("{:?}", oracle(records, best)),
            format!("{:?}", sampled(records, best, 3)),
        ]
    };
    let fewer = texts(&[record(5)]);
    assert_eq!(fewer, texts(&[record(5), record(2)]));
    assert_eq!(fewer[1], "FacilityLocation { elements: 4, most_credit: 9, .. }");
}

/// Follows `picks` on all records kept and on each of them alone: gains add up, none is negative, and
/// nobody is credited more than `most`. `start` gives for a mask the gains before each pick.
fn holds(
    records: usize,
    kept: &[bool],
    picks: &[usize],
    most: u64,
    gains: &dyn Fn(&[bool]) -> Vec<Vec<i64>>,
) {
    let together = gains(kept);
    let mut sums = vec![vec![0; ELEMENTS]; picks.len()];
    for record in (0..records).filter(|&record| kept[record]) {
        let mut only = vec![false; records];
        only[record] = true;
        let alone = gains(&only);
        assert!(alone.iter().flatten().all(|&gain| gain >= 0), "a negative gain");
        let credited: i64 = alone.iter().zip(picks).map(|(gains, &pick)| gains[pick]).sum();
        assert!(credited.cast_unsigned() <= most, "credited {credited} of {most}");
        for (sums, alone) in sums.iter_mut().zip(&alone) {
            sums.iter_mut().zip(alone).for_each(|(sum, gain)| *sum += gain);
        }
    }
    assert_eq!(together, sums, "what a record adds depends on the others");
}

fn gains_along(objective: &dyn Objective, kept: &[bool], picks: &[usize]) -> Vec<Vec<i64>> {
    let mut run = objective.start(kept);
    let before = |&pick: &usize| {
        let gains = run.gains().to_vec();
        run.pick(pick);
        gains
    };
    picks.iter().map(before).collect()
}

fn levels_along(
    objective: &dyn Extension,
    kept: &[bool],
    picks: &[usize],
    steps: u32,
) -> Vec<Vec<i64>> {
    let mut path = objective.start_levels(kept, steps);
    let before = |&pick: &usize| {
        let gains = path.gains().to_vec();
        path.raise(pick);
        gains
    };
    picks.iter().map(before).collect()
}

fn check_objective(objective: &dyn Objective, kept: &[bool], picks: &[usize]) {
    let gains = |kept: &[bool]| gains_along(objective, kept, picks);
    holds(objective.records(), kept, picks, objective.most_credit(), &gains);
}

fn check_extension(objective: &dyn Extension, kept: &[bool], picks: &[usize], steps: u32) {
    let gains = |kept: &[bool]| levels_along(objective, kept, picks, steps);
    holds(objective.records(), kept, picks, objective.level_credit(), &gains);
}

/// `f(S + u) - f(S)` by brute force over records.
fn plain(records: &[Record], set: &[usize], value: impl Fn(&Record, &[usize]) -> u64) -> Vec<i64> {
    let total = |set: &[usize]| records.iter().map(|r| value(r, set)).sum::<u64>().cast_signed();
    (0..ELEMENTS).map(|element| total(&[set, &[element]].concat()) - total(set)).collect()
}

type PlainValue = dyn Fn(&Record, &[usize]) -> u64;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn objectives_keep_the_contract(
        records in records(),
        kept in prop::collection::vec(any::<bool>(), 6),
        picks in prop::collection::vec(0..ELEMENTS, 1..7),
    ) {
        let kept = &kept[..records.len()];
        check_objective(&coverage(&records), kept, &picks);
        check_objective(&facility_location(&records), kept, &picks);
        check_objective(&dense(&records), kept, &picks);
        check_objective(&oracle(&records, best), kept, &picks);
        check_objective(&oracle(&records, erratic), kept, &picks);
    }

    #[test]
    fn extensions_keep_the_contract(
        records in records(),
        kept in prop::collection::vec(any::<bool>(), 6),
        picks in prop::collection::vec(0..ELEMENTS, 1..12),
        steps in 1_u32..6,
    ) {
        let kept = &kept[..records.len()];
        check_extension(&coverage(&records), kept, &picks, steps);
        check_extension(&facility_location(&records), kept, &picks, steps);
        check_extension(&sampled(&records, best, 5), kept, &picks, steps);
        check_extension(&sampled(&records, erratic, 5), kept, &picks, steps);
    }

    #[test]
    fn incremental_gains_are_the_plain_ones(
        records in records(),
        picks in prop::collection::vec(0..ELEMENTS, 1..5),
    ) {
        let kept = vec![true; records.len()];
        let cut = |record: &Record, set: &[usize]| best(record, set).min(MOST.into());
        let weight = |record: &Record, set: &[usize]| {
            let covered = set.iter().any(|&element| record.similarities[element] > 0);
            if covered { record.weight.min(MOST).into() } else { 0 }
        };
        let (covered, sparse) = (coverage(&records), facility_location(&records));
        let (table, called) = (dense(&records), oracle(&records, best));
        let objectives: [(&dyn Objective, &PlainValue); 4] =
            [(&covered, &weight), (&sparse, &cut), (&table, &cut), (&called, &cut)];
        for (objective, value) in objectives {
            let fast = gains_along(objective, &kept, &picks);
            for (i, gains) in fast.into_iter().enumerate() {
                prop_assert_eq!(gains, plain(&records, &picks[..i], value));
            }
            let total: u64 = records.iter().map(|record| value(record, &picks)).sum();
            prop_assert_eq!(exact_value(objective, &picks), total.cast_signed());
        }
    }

    /// Gains along a path add up to the extension at its end, by enumerating all random sets.
    #[test]
    fn paths_end_at_the_multilinear_extension(
        records in records(),
        picks in prop::collection::vec(0..ELEMENTS, 0..9),
        steps in 1_u32..8,
    ) {
        let kept = vec![true; records.len()];
        let point: Vec<f64> = (0..ELEMENTS)
            .map(|u| picks.iter().filter(|&&pick| pick == u).count().min(steps as usize))
            .map(|level| level as f64 / f64::from(steps))
            .collect();
        let expected = |value: &PlainValue| -> f64 {
            (0..1_usize << ELEMENTS)
                .map(|set| {
                    let holds = |u: usize| set >> u & 1 == 1;
                    let share = |u: usize| if holds(u) { point[u] } else { 1.0 - point[u] };
                    let set: Vec<usize> = (0..ELEMENTS).filter(|&u| holds(u)).collect();
                    let total: u64 = records.iter().map(|record| value(record, &set)).sum();
                    (0..ELEMENTS).map(share).product::<f64>() * total as f64
                })
                .sum()
        };
        let check = |objective: &dyn Extension, value: &PlainValue| {
            let gains = levels_along(objective, &kept, &picks, steps);
            let total: i64 = gains.iter().zip(&picks).map(|(gains, &pick)| gains[pick]).sum();
            let unit = objective.level_credit() as f64 / objective.most_credit() as f64;
            let (got, want) = (total as f64 / unit, expected(value));
            assert!((got - want).abs() <= 2e-3 * f64::from(MOST) * 6.0, "{got} for {want}");
        };
        check(&facility_location(&records), &|r, set| best(r, set).min(MOST.into()));
        check(&coverage(&records), &|r, set| {
            let covered = set.iter().any(|&element| r.similarities[element] > 0);
            if covered { r.weight.min(MOST).into() } else { 0 }
        });
    }
}

/// At the top of all coordinates everybody has been credited in full, to the last unit.
#[test]
fn telescoping_is_exact() {
    let record = Record { similarities: [9, 9, 20, 1], weight: 9 };
    let (sparse, covered) =
        (facility_location(std::slice::from_ref(&record)), coverage(std::slice::from_ref(&record)));
    for steps in [1, 2, 3, 7, 20] {
        let picks: Vec<usize> = (0..ELEMENTS * steps as usize).map(|i| i % ELEMENTS).collect();
        for objective in [&sparse as &dyn Extension, &covered] {
            let gains = levels_along(objective, &[true], &picks, steps);
            let total: i64 = gains.iter().zip(&picks).map(|(gains, &pick)| gains[pick]).sum();
            assert_eq!(total.cast_unsigned(), objective.level_credit());
        }
    }
}

#[test]
fn bad_records_are_cut_or_left_out() {
    let list: &[(u32, u32)] = &[(7, 3), (1, 2), (1, 5), (0, 100), (2, 0)];
    let objective = FacilityLocation::new(3, [list], 9).expect("valid");
    assert_eq!(objective.start(&[true]).gains(), [9, 5, 0]);
    let objective = FacilityLocation::beyond_default(3, [(4, list)], 9).expect("valid");
    assert_eq!(objective.start(&[true]).gains(), [9, 1, 0]);
    let dense = DenseFacilityLocation::new(3, vec![20, 5, 0, 7], |_| 4, 9).expect("valid");
    assert_eq!((dense.records(), dense.start(&[true]).gains()), (1, &[9, 1, 0][..]));
    assert!(FacilityLocation::new(0, [], 9).is_err());
    assert!(FacilityLocation::new(3, [], 0).is_err());
    assert!(FacilityLocation::new(3, [], u32::MAX).is_err());
    assert!(DenseFacilityLocation::new(0, vec![], |_| 0, 9).is_err());
    let empty = || Incidence::from_slices(3, []).expect("three sets");
    assert!(Coverage::weighted(empty(), |_| 1, 0).is_err());
    assert!(Coverage::weighted(empty(), |_| 1, u32::MAX).is_err());
    assert_eq!(Coverage::new(empty()).start(&[]).gains(), [0, 0, 0]);
    let nobody: [Record; 0] = [];
    assert!(Oracle::new(&nobody, 0, 1, best).is_err());
    assert!(Oracle::new(&nobody, 3, 0, best).is_err());
    assert!(Oracle::new(&nobody, 3, u64::MAX, best).is_err());
    let too_many = |samples| {
        let oracle = Oracle::new(&nobody, 3, 1 << 20, best).expect("valid");
        Sampled::new(oracle, samples, &mut ChaCha20Rng::seed_from_u64(1)).is_err()
    };
    assert!(too_many(0) && too_many(1 << 11) && !too_many(1 << 10));
    assert_eq!(Oracle::new(&nobody, 3, 1, best).expect("valid").start(&[]).gains(), [0, 0, 0]);
}

/// A plan for fewer samples has noise for less, so that each of many counts in what a record is credited.
#[test]
fn every_sample_counts_in_the_level_credit() {
    let nobody: [Record; 0] = [];
    for samples in [1, 63, 64, 65, 1_000] {
        let oracle = Oracle::new(&nobody, 3, 7, best).expect("valid");
        let sampled = Sampled::new(oracle, samples, &mut ChaCha20Rng::seed_from_u64(1));
        let credit = 7 * samples as u64;
        assert_eq!(sampled.expect("valid").level_credit(), credit);
        assert_eq!(Credits::sampled(7, samples).level_credit, credit);
    }
}

/// Of many users, each has the default of its own.
#[test]
fn every_user_of_a_table_has_a_default() {
    let users = 1_000_u16;
    let default = |user: usize| u16::try_from(user).expect("few");
    let table = DenseFacilityLocation::new(1, vec![users; users.into()], default, u16::MAX);
    let mut kept = vec![false; users.into()];
    for user in 0..usize::from(users) {
        kept[user] = true;
        let gain = i64::from(users - default(user));
        assert_eq!(table.as_ref().expect("valid").start(&kept).gains(), [gain], "{user}");
        kept[user] = false;
    }
}

/// More rows than 32 bits have room for, of the largest similarity there is.
#[test]
fn sums_of_any_number_of_rows_fit() {
    let users = (1 << 16) + 3;
    let table = DenseFacilityLocation::new(2, vec![u16::MAX; 2 * users], |_| 0, u16::MAX);
    let table = table.expect("valid");
    let mut run = table.start(&vec![true; users]);
    assert_eq!(run.gains(), [65_535 * 65_539; 2]);
    run.pick(1);
    assert_eq!(run.gains(), [0, 0]);
}

//! Certificates: of every release, and of none that is nearly one.

use super::super::{Census, CensusSettings, Method};
use super::{by, may_shrink, nation, plan, pure, real, rng, sizes, up_to, with_totals};
use crate::{GroupSizes, Hierarchy};
use dp_mechanism::{Mechanism, SecureSource};

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

/// Public numbers of groups of leaves are part of the proof: a group in another county of its state adds up, and is none.
#[test]
fn a_group_in_another_county_is_not_proved_where_their_numbers_are_public() {
    let table = sizes(40, 5, 12);
    let mut draws = rng(13);
    let settings = CensusSettings {
        method: Method::CumulativeTopDown,
        ..with_totals(table.groups_of_regions())
    };
    let plan = plan(table.groups(), settings).expect("valid");
    let (mut release, evidence) =
        plan.with_evidence().replay(&table, &mut SecureSource::new(&mut draws)).0;
    assert!(plan.certify(&release, &evidence).expect("its shape").feasible);
    let (columns, leaf) = (release.columns(), nation().tree().leaves().start);
    let column = release[leaf].iter().position(|&count| count > 0).expect("a group");
    release.counts[leaf * columns + column] -= 1;
    release.counts[(leaf + 1) * columns + column] += 1;
    assert!(release.is_consistent(nation().tree(), table.groups()));
    assert!(!plan.certify(&release, &evidence).expect("its shape").feasible);
}

/// Of a region alone, rounded numbers are within half a group of the real ones: one group of the next size is too far.
#[test]
fn a_group_beyond_rounding_is_not_proved() {
    let table = GroupSizes::from_table(up_to(4), vec![30, 9, 14, 3, 20]).expect("valid");
    let mut draws = rng(13);
    let alone = Hierarchy::new([("US", None)]).expect("valid");
    let plan = Census::new(alone, up_to(4), table.groups(), pure(1.0), by(Method::Cumulative));
    let plan = plan.expect("valid");
    let (mut release, evidence) =
        plan.with_evidence().replay(&table, &mut SecureSource::new(&mut draws)).0;
    assert!(plan.certify(&release, &evidence).expect("its shape").feasible);
    assert!(release.counts[0] > 0);
    release.counts[0] -= 1;
    release.counts[1] += 1;
    assert!(!plan.certify(&release, &evidence).expect("its shape").feasible);
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
    // Nor are rows that begin below zero.
    let mut below = evidence.clone();
    if let super::super::evidence::Proof::Real(real) = &mut below.proof {
        let row = real.rows.chunks_exact_mut(5).find(|row| row[0] < 0.1);
        row.expect("a size without groups")[0] = -0.01;
    }
    assert!(!plan.certify(&release, &below).expect("its shape").feasible);
    let super::super::evidence::Proof::Real(real) = &mut evidence.proof else {
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

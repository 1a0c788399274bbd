//! Settings, odd data, receipts, the farthest records, and the whole on planted balls.

use dp_accounting::{Budget, Epsilon};
use dp_geometry::{Points, PublicBox};
use dp_mechanism::Mechanism;
use rand::RngExt;

use super::farthest::farthest;
use super::{StemmerKaplan, StemmerKaplanSettings};
use crate::ClusterError;
use crate::kmeans::{KMeans, KMeansSettings};
use crate::local_search::Objective;
use crate::metrics::squared_inertia;
use crate::private_centres::{Payment, PrivateCentres, PrivateCentresSettings};
use crate::recentring::{Recentred, Rounds, part_of};
use crate::testing::{adversarial, blobs, rng};

fn cube(dim: usize) -> PublicBox {
    PublicBox::cube(dim, -10.0, 10.0).expect("valid")
}

fn planned(
    dim: usize,
    k: usize,
    epsilon: f64,
    settings: StemmerKaplanSettings,
) -> Result<StemmerKaplan, ClusterError> {
    StemmerKaplan::new(cube(dim), k, Budget::new(epsilon, 1e-6).expect("valid"), settings)
}

/// One record more, or another in its place, exchanges one of the farthest at most; with many ties, wherever it stands.
#[test]
fn one_record_exchanges_one_of_the_farthest() {
    let mut rng = rng(1);
    for case in 0..300 {
        let dim = 1 + case % 2;
        let mut lattice = |n: usize| -> Vec<f64> {
            (0..n * dim).map(|_| f64::from(rng.random_range(-3..=3))).collect()
        };
        let (base, added, centres) = (lattice(40), lattice(1), lattice(case % 3));
        let centres = Points::new(centres, dim).expect("rows");
        let at = case % 40 * dim;
        let (first, last) = base.split_at(at);
        let more = [first, &added, last].concat();
        let replaced = [first, &added, &last[dim..]].concat();
        let members = |coords: &[f64]| {
            let points = Points::new(coords.to_vec(), dim).expect("rows");
            let far = farthest(points.view(), centres.view(), &cube(dim), 12);
            let bits = |row: &[f64]| row.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            let mut rows: Vec<_> = far.view().rows().map(bits).collect();
            rows.sort();
            rows
        };
        let before = members(&base);
        assert_eq!(before.len(), 12);
        for neighbour in [more, replaced] {
            let mut after = members(&neighbour);
            for row in &before {
                if let Ok(place) = after.binary_search(row) {
                    after.remove(place);
                }
            }
            assert!(after.len() <= 1, "{case}: {after:?}");
        }
    }
}

#[test]
fn settings_out_of_range_are_refused_with_their_value() {
    let of = |settings| planned(2, 3, 1.0, settings);
    let d = StemmerKaplanSettings::default;
    for (plan, want) in [
        (of(StemmerKaplanSettings { rounds: 4, ..d() }), "rounds must be between 1 and 3, got 4"),
        (
            of(StemmerKaplanSettings { most_candidates: 1, ..d() }),
            "most_candidates must be at least one per round, got 1",
        ),
        (
            of(StemmerKaplanSettings { swaps: Some(0), ..d() }),
            "rounds must be between 1 and 100000, got 0",
        ),
        (planned(2, 0, 1.0, d()), "the number of clusters must lie between 1 and 16777216, got 0"),
    ] {
        assert_eq!(plan.expect_err("out of range").to_string(), want);
    }
}

#[test]
fn odd_data_is_released_like_any_other_and_receipts_stay_within_the_budget() {
    for dim in [1, 2, 5] {
        for (rounds, payment) in
            [(1, Payment::AllRecords), (2, Payment::Subsamples), (3, Payment::AllRecords)]
        {
            for epsilon in [1.0, 50.0] {
                let settings = StemmerKaplanSettings {
                    rounds,
                    payment,
                    levels: 1..=3,
                    swaps: Some(2),
                    farthest: Some(100),
                    objective: Objective::KMedian,
                    ..Default::default()
                };
                let plan = planned(dim, 3, epsilon, settings).expect("valid");
                let receipt = plan.receipt();
                let spent = receipt.epsilon().map_or(f64::INFINITY, Epsilon::get);
                assert!(receipt.within_budget() && spent > 0.9 * epsilon, "{rounds}: {spent}");
                for (name, points) in adversarial(dim, 300) {
                    let output = plan.simulate(points.view(), &mut rng(3)).expect("fits").output;
                    assert!((1..=3).contains(&output.centres.len()), "{name}");
                    assert!(output.centres.view().rows().all(|c| cube(dim).contains(c)), "{name}");
                    assert!(output.counts.iter().all(|&count| count >= 0), "{name}");
                }
                let text = serde_json::to_string(&plan).expect("serialises");
                assert_eq!(serde_json::from_str::<StemmerKaplan>(&text).expect("valid"), plan);
            }
        }
    }
}

/// With thresholds in the start, rounds of re-centring get what its mass and its noise leave, and come within a hundredth of k-means.
#[test]
fn balls_are_found_and_centred() {
    let (points, _) = blobs(50_000, 4, 5, 8.0, 3);
    let budget = Budget::new(1.0, 1e-6).expect("valid");
    let part = part_of(budget, 0.5).expect("valid");
    let best = KMeans::new(5, KMeansSettings::default()).expect("valid");
    let best = best.exact_fit(points.view(), None, &mut rng(1)).expect("fits").squared_inertia;
    let rounds = || Rounds::default();
    let start =
        StemmerKaplan::new(cube(4), 5, part, StemmerKaplanSettings::default()).expect("valid");
    let whole = Recentred::new(start, cube(4), budget, rounds(), Some(5)).expect("valid");
    let other =
        PrivateCentres::new(cube(4), 5, part, PrivateCentresSettings::default()).expect("valid");
    let other = Recentred::new(other, cube(4), budget, rounds(), Some(5)).expect("valid");
    let whole = whole.simulate(points.view(), &mut rng(2)).expect("fits");
    let other = other.simulate(points.view(), &mut rng(2)).expect("fits");
    for release in [whole, other] {
        assert!(release.receipt.within_budget());
        let (_, outside) = release.receipt.zcdp_outside().expect("Gaussian outside of a mass");
        assert!(outside.get() > 0.0 && outside.get() < 1e-6);
        let cost = squared_inertia(points.view(), release.output.centres.view()).unwrap();
        assert!(cost <= 1.01 * best, "{}: {}", release.receipt.mechanism(), cost / best);
    }
}

//! Which way a count leads to, and where noise hides every cluster.

use dp_accounting::Step;

use super::*;
use crate::private_kmeans::even::Even;
use crate::private_kmeans::params::Choices;

/// What a plan does with about so many records.
fn choices(plan: &PrivateKMeans, records: i64) -> Choices {
    plan.ways[plan.way_for(records)].choices
}

#[test]
fn the_start_follows_from_the_count_and_can_be_overruled() {
    let plan = |dim, k| planned(dim, k, 1.0, PrivateKMeansSettings::default()).expect("valid");
    for (dim, k, records, start) in [
        (1, 3, 9_000, Start::Map),
        (1, 3, 300, Start::Map),
        (1, 2, 300, Start::Rings),
        (2, 2, 2_000, Start::Rings),
        (2, 3, 200_000, Start::Map),
        (2, 5, 200, Start::Map),
        (2, 15, 20_000, Start::Map),
        (3, 15, 20_000, Start::Rings),
        (3, 15, 1_000, Start::Map),
        (4, 15, 1_000, Start::Rings),
        (50, 3, 1_000, Start::Rings),
        (2, 5, -40, Start::Even),
        (2, 5, 20, Start::Even),
        (2, 512, 8_000, Start::Even),
        (2, 513, 8_000, Start::Map),
        (2, 1 << 14, 200, Start::Map),
        (2, (1 << 14) + 1, 200, Start::Rings),
    ] {
        let chosen = choices(&plan(dim, k), records).start;
        assert_eq!(chosen, start, "{dim} dimensions, {k} clusters, {records} records");
        for other in [Start::Rings, Start::Map] {
            if dim <= 4 {
                let settings = PrivateKMeansSettings { start: Some(other), ..Default::default() };
                let plan = planned(dim, 3, 1.0, settings).expect("valid");
                assert!(plan.starts().all(|(_, start)| start == other));
            }
        }
    }
    let rings = |dim, k, n| choices(&plan(dim, k), n).rounds[0];
    let rounds = [(10, 5, 1_000), (10, 2, 400), (10, 5, 100_000), (10, 40, 3_000), (3, 5, 8_000)];
    assert_eq!(rounds.map(|(dim, k, n)| rings(dim, k, n)), [3, 2, 3, 4, 3]);
    let many = [(30, 16, 3_000), (30, 16, 1_200), (30, 3, 600), (30, 3, 300), (30, 16, 100_000)];
    assert_eq!(many.map(|(dim, k, n)| rings(dim, k, n)), [5, 4, 4, 3, 3]);
    // The longer noise is, the more rounds of re-centring.
    let after = |dim, k, n| choices(&plan(dim, k), n).rounds[1];
    assert_eq!([after(10, 5, 100_000), after(10, 5, 500), after(30, 16, 1_200)], [3, 6, 8]);
    let of_ten = plan(10, 5);
    assert!(choices(&of_ten, 1_000).share < choices(&of_ten, 100_000).share);
}

/// The first way is for any number, each next one for more than the one before, and all of them spend what the count leaves.
#[test]
fn ways_are_for_ever_more_records_and_cost_the_same() {
    for (dim, k, epsilon) in [
        (1, 1, 1.0),
        (2, 5, 0.3),
        (10, 64, 1.0),
        (50, 600, 0.1),
        (3, 20_000, 0.01),
        (1, 1, 100.0),
        (2, 16, 1e-3),
        (5, 1 << 24, 1e-2),
    ] {
        for finds_k in [false, true] {
            let settings = PrivateKMeansSettings { finds_k, ..Default::default() };
            let plan = planned(dim, k, epsilon, settings).expect("valid");
            let starts: Vec<(u64, Start)> = plan.starts().collect();
            assert!((2..=24).contains(&starts.len()), "{starts:?}");
            assert_eq!(starts[0].0, 0);
            let grows = |two: &[(u64, Start)]| two[0].0 < two[1].0;
            assert!(starts.windows(2).all(grows), "{starts:?}");
            let is_even = |(_, start): &(u64, Start)| *start == Start::Even;
            assert_eq!(is_even(&starts[0]), k <= 512 && !finds_k, "{starts:?}");
            assert!(starts.is_sorted_by_key(|start| !is_even(start)), "{starts:?}");
            let receipt = plan.receipt();
            assert!(receipt.within_budget());
            let Step::Sequential { steps, .. } = receipt.spent() else {
                unreachable!("a sequence")
            };
            let [_, Step::OneOf { steps: ways, .. }] = &steps[..] else { unreachable!("ways") };
            let costs: Vec<f64> =
                ways.iter().map(|way| way.zcdp().expect("Gaussian").get()).collect();
            assert!(costs.iter().all(|cost| (cost / costs[0] - 1.0).abs() < 1e-9), "{costs:?}");
            // The first way is gone for no records and fewer, and each from its number on.
            assert_eq!([-1_000_000, -1, 0].map(|records| plan.way_for(records)), [0; 3]);
            for (way, (least, _)) in starts.iter().enumerate().skip(1) {
                let least = i64::try_from(*least).expect("few");
                assert_eq!([least - 1, least].map(|n| plan.way_for(n)), [way - 1, way]);
            }
        }
    }
}

/// What is expected is for the forecast; what is done follows from the count, so that a guess a thousand times off costs nothing.
#[test]
fn a_wrong_guess_changes_no_centre() {
    let (points, _) = blobs(2_000, 3, 4, 90.0, 5);
    let public_box = cube(3, 100.0);
    let centres = |expected_records| {
        let settings = PrivateKMeansSettings { expected_records, ..Default::default() };
        let plan = PrivateKMeans::new(public_box.clone(), 4, budget(1.0), settings);
        plan.expect("valid").simulate(points.view(), &mut rng(3)).expect("fits").output.centres
    };
    let unknown = centres(None);
    for guess in [2, 2_000, 2_000_000] {
        assert_eq!(centres(Some(guess)), unknown);
    }
}

/// Of clusters that noise hides it is seen how wide all of them are: in a box ten or a thousand times too wide, in its middle or in a corner, most releases cost a few
/// times what those in the right box do. Centres that share out such a box as it is cost a thousand and a million times as much.
#[test]
fn even_centres_do_not_need_the_right_box() {
    let settings = PrivateKMeansSettings::default();
    let of = |width: f64, at: f64| {
        let side = [-at * (width - 1.0), 1.0 + (1.0 - at) * (width - 1.0)];
        let public_box = PublicBox::cube(2, side[0] * 100.0, side[1] * 100.0).expect("valid");
        let plan = PrivateKMeans::new(public_box, 40, budget(0.1), settings).expect("valid");
        assert_eq!(choices(&plan, 3_000).start, Start::Even);
        let mut costs: Vec<f64> = (0..9)
            .map(|seed| {
                let (points, _) = blobs(3_000, 2, 40, 90.0, seed);
                let found = plan.simulate(points.view(), &mut rng(seed + 50)).expect("fits");
                squared_inertia(points.view(), found.output.centres.view()).expect("some")
            })
            .collect();
        costs.sort_by(f64::total_cmp);
        costs[6]
    };
    let right = of(1.0, 0.5);
    for (width, at) in [(10.0, 0.5), (1e3, 0.5), (10.0, 0.0), (1e3, 0.0)] {
        let cost = of(width, at) / right;
        assert!(cost < 5.0, "{width} times, at {at}: {cost}");
    }
}

/// Nor does a map of few records. A search for a box does not see these: in one a hundred times too wide a third of all releases cost ten times as much, or more.
#[test]
fn a_map_of_few_records_does_not_need_the_right_box() {
    let settings = PrivateKMeansSettings::default();
    let of = |width: f64| {
        let middle = |x: f64| 50.0 + x * width * 50.0;
        let public_box = PublicBox::cube(2, middle(-1.0), middle(1.0)).expect("valid");
        let plan = PrivateKMeans::new(public_box, 3, budget(0.3), settings).expect("valid");
        let of_plan = choices(&plan, 350);
        assert!(of_plan.start == Start::Map && of_plan.together);
        let mut costs: Vec<f64> = (0..15)
            .map(|seed| {
                let (points, _) = blobs(350, 2, 3, 90.0, seed);
                let found = plan.simulate(points.view(), &mut rng(seed + 50)).expect("fits");
                squared_inertia(points.view(), found.output.centres.view()).expect("some")
            })
            .collect();
        costs.sort_by(f64::total_cmp);
        costs[10]
    };
    let right = of(1.0);
    for width in [10.0, 100.0] {
        let cost = of(width) / right;
        assert!(cost < 2.0, "{width} times: {cost}");
    }
}

/// Boxes that are tiny, huge, or have few numbers in them; no records, and records anywhere.
#[test]
fn a_part_of_an_odd_box_is_in_it() {
    for (min, max) in [(-1e-70, 1e-70), (-1e40, 1e40), (1e16, 1e16 + 2.0), (0.0, 1e-3)] {
        let public_box = PublicBox::cube(2, min, max).expect("valid");
        for records in [10, 300, 1 << 40] {
            let (start, expected_records) = (Some(Start::Even), Some(records));
            let even = PrivateKMeansSettings { expected_records, start, ..Default::default() };
            // Of three hundred records, a map.
            let settings = if records == 300 { PrivateKMeansSettings::default() } else { even };
            let plan = PrivateKMeans::new(public_box.clone(), 7, budget(1.0), settings);
            let plan = plan.expect("valid");
            let none = Points::new(vec![], 2).expect("no rows");
            let same = Points::new([min, max].repeat(300), 2).expect("whole rows");
            for points in
                adversarial(2, 60).into_iter().map(|(_, points)| points).chain([none, same])
            {
                let output = plan.simulate(points.view(), &mut rng(3)).expect("fits").output;
                assert!(output.centres.view().rows().all(|centre| public_box.contains(centre)));
            }
        }
    }
}

/// Few records tell where all of them are, by a tenth to a quarter of the budget; fewer tell nothing.
#[test]
fn centres_share_out_a_part_of_the_box_where_records_say_which() {
    let plan = planned(2, 40, 0.1, PrivateKMeansSettings::default()).expect("valid");
    let shares: Vec<f64> = plan
        .ways
        .iter()
        .filter(|way| way.choices.start == Start::Even)
        .map(|way| way.choices.search)
        .collect();
    assert_eq!((shares[0], shares[shares.len() - 1]), (0.0, 0.1));
    assert!(shares[1] > 0.1 && shares[1..].is_sorted_by(|a, b| a >= b), "{shares:?}");
}

/// Records that are anywhere, too few to say more: no more than a tenth behind centres that see none. Of clusters, half of what those lose is left.
#[test]
fn hidden_clusters_cost_no_more_than_centres_that_share_out_the_box() {
    let square = PublicBox::cube(2, 0.0, 100.0).expect("valid");
    let expected_records = Some(100);
    let start = Some(Start::Even);
    let settings = PrivateKMeansSettings { expected_records, start, ..Default::default() };
    let of = |cluster: Option<f64>| {
        let (mut sum, mut even) = (0.0, 0.0);
        for seed in 0..8 {
            let mut draw = rng(seed);
            let coords = (0..200).map(|i| match cluster {
                None => draw.random_range(0.0..100.0),
                Some(half) => [20.0, 70.0][i / 2 % 2] + draw.random_range(-half..half),
            });
            let points = Points::new(coords.collect(), 2).expect("whole rows");
            let plan = PrivateKMeans::new(square.clone(), 10, budget(0.3), settings);
            let plan = plan.expect("valid");
            assert!(plan.is_hopeless());
            let found = plan.simulate(points.view(), &mut rng(seed + 50)).expect("fits").output;
            let inertia = |centres| squared_inertia(points.view(), centres).expect("some");
            sum += inertia(found.centres.view());
            let start = Even::new(&square, 10, 100, 0).expect("few").start(&square);
            even += inertia(start.centres.view());
        }
        sum / even
    };
    let (anywhere, clusters) = (of(None), of(Some(2.0)));
    assert!(anywhere < 1.1 && clusters < 0.6, "{anywhere}, {clusters}");
}

/// An even start says what it needs.
#[test]
fn an_even_start_is_for_few_clusters_whose_number_is_given() {
    let even = PrivateKMeansSettings {
        start: Some(Start::Even),
        expected_records: Some(9),
        ..Default::default()
    };
    let said = |k, settings| planned(2, k, 1.0, settings).map(|_| ()).map_err(|e| e.to_string());
    assert_eq!(said(512, even), Ok(()));
    let text = "clusters of an even start must be at most 512, got 513";
    assert_eq!(said(513, even), Err(text.to_owned()));
    let finds = said(2, PrivateKMeansSettings { finds_k: true, ..even }).expect_err("no number");
    assert!(finds.contains("finds_k of an even start"), "{finds}");
    for half in [1e-90, 1e-40, 1e40, 1e90, 1e120] {
        let wide = PublicBox::cube(2, -half, half).expect("valid");
        let plan = PrivateKMeans::new(wide, 2, budget(1.0), even);
        assert_eq!(plan.is_ok(), (1e-90..=1e40).contains(&half), "{half}");
    }
    let unknown = PrivateKMeansSettings { expected_records: None, ..even };
    assert!(said(2, unknown).expect_err("none").contains("expected_records of an even start"));
}

/// Where the budget sees single records, no two ways begin at one number, and whichever is gone is paid for.
#[test]
fn ways_for_single_records_are_told_apart() {
    for (epsilon, delta) in [(40.0, 1e-6), (70.0, 1e-9), (100.0, 1e-6), (100.0, 0.3)] {
        for (dim, k) in [(1, 3), (2, 50), (5, 2), (5, 3)] {
            let budget = Budget::new(epsilon, delta).expect("valid");
            let settings = PrivateKMeansSettings::default();
            let plan = PrivateKMeans::new(cube(dim, 50.0), k, budget, settings).expect("valid");
            let least: Vec<u64> = plan.ways.iter().map(|way| way.least).collect();
            assert!(least.is_sorted_by(|a, b| a < b), "{least:?}");
            for records in [0, 1, 2, 3, 12, 20] {
                let points = Points::new(vec![0.0; records * dim], dim).expect("rows");
                let released = plan.simulate(points.view(), &mut rng(records as u64));
                assert!(released.is_ok(), "{records} records at {epsilon}");
            }
        }
    }
}

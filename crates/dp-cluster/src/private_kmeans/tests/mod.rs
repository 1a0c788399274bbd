//! Settings, choices, odd data, and what the plan finds and forecasts.

use dp_accounting::Budget;
use dp_geometry::{Points, PublicBox};
use dp_mechanism::{ChaCha20Rng, Mechanism};
use rand::RngExt;
use rayon::prelude::*;

use super::params::Asked;
use super::{PrivateKMeans, PrivateKMeansSettings, Start};
use crate::ClusterError;
use crate::kmeans::{KMeans, KMeansSettings};
use crate::metrics::{distinct_clusters_found, squared_inertia};
use crate::testing::{adversarial, blobs, normal, off_by_errors, rng};

mod ways;

fn cube(dim: usize, half: f64) -> PublicBox {
    PublicBox::cube(dim, -half, half).expect("valid")
}

fn budget(epsilon: f64) -> Budget {
    Budget::new(epsilon, 1e-6).expect("valid")
}

fn planned(
    dim: usize,
    k: usize,
    epsilon: f64,
    settings: PrivateKMeansSettings,
) -> Result<PrivateKMeans, ClusterError> {
    PrivateKMeans::new(cube(dim, 10.0), k, budget(epsilon), settings)
}

#[test]
fn settings_out_of_range_are_refused_with_their_value() {
    let pure = Budget::new(1.0, 0.0).expect("a pure budget");
    for (plan, want) in [
        (
            planned(2, 0, 1.0, PrivateKMeansSettings::default()),
            "the number of clusters must lie between 1 and 16777216, got 0",
        ),
        (
            planned(
                2,
                1_000_000,
                1.0,
                PrivateKMeansSettings { start: Some(Start::Map), ..Default::default() },
            ),
            "clusters on a map must be at most 16384, got 1000000",
        ),
        (
            PrivateKMeans::new(cube(2, 10.0), 3, pure, PrivateKMeansSettings::default()),
            "delta must be above 0: the sums have Gaussian noise, got 0",
        ),
        (
            PrivateKMeans::new(cube(5, 1e99), 3, budget(1.0), PrivateKMeansSettings::default()),
            "the public box's extent must be at most 1e75, with a diagonal of at least 1e-75, got \
             1e99",
        ),
    ] {
        let message = plan.expect_err("out of range").to_string();
        assert!(message.starts_with(&want[..40]), "{message}");
    }
    let plan = planned(3, 2, 1.0, PrivateKMeansSettings::default()).expect("valid");
    let points = Points::new(vec![0.0; 4], 2).expect("whole rows");
    let error = plan.simulate(points.view(), &mut rng(1)).expect_err("wrong shape");
    assert_eq!(error, ClusterError::Dimension { expected: 3, got: 2 });
}

/// Squared inertia over that of k-means, of these points in a box from 0 to 100.
fn lost(coords: Vec<f64>, dim: usize, k: usize, epsilon: f64, seed: u64) -> f64 {
    let points = Points::new(coords, dim).expect("whole rows");
    let solver = KMeans::new(k, KMeansSettings { restarts: 5, ..Default::default() }).expect("few");
    let best = solver.exact_fit(points.view(), None, &mut rng(7)).expect("finite").centres;
    let expected_records = Some(points.view().len() as u64);
    let settings = PrivateKMeansSettings { expected_records, ..Default::default() };
    let square = PublicBox::cube(dim, 0.0, 100.0).expect("valid");
    let plan = PrivateKMeans::new(square, k, budget(epsilon), settings).expect("valid");
    let found = plan.simulate(points.view(), &mut rng(seed)).expect("released").output;
    let of = |centres: &Points| squared_inertia(points.view(), centres.view()).expect("some");
    of(&found.centres) / of(&best)
}

/// A column of amounts: most are small, and k-means pays most for the few that are large.
#[test]
fn few_large_amounts_count() {
    let mut rng = rng(41);
    let amount = |rng: &mut ChaCha20Rng| {
        let normal = normal(rng);
        (2.0 * normal.exp()).min(100.0)
    };
    let coords: Vec<f64> = (0..60_000).map(|_| amount(&mut rng)).collect();
    let lost = [1, 2, 3].map(|seed| lost(coords.clone(), 1, 5, 1.0, seed));
    assert!(lost.iter().all(|lost| *lost < 1.5), "{lost:?}");
}

/// Noise hides four small clusters of twelve. In twenty dimensions a centre that waits in the middle of all is nearer to them than those of others, and moves there.
#[test]
fn clusters_that_noise_hides_are_not_far_from_a_centre() {
    let (dim, runs) = (20, 4);
    let mut cost = 0.0;
    for seed in 0..runs {
        let mut rng = rng(seed);
        let centres: Vec<f64> = (0..12 * dim).map(|_| rng.random_range(3.0..97.0)).collect();
        let mut coords = Vec::new();
        for (number, centre) in centres.chunks_exact(dim).enumerate() {
            for _ in 0..if number < 8 { 2_400 } else { 40 } {
                coords.extend(centre.iter().map(|x| x + normal(&mut rng)));
            }
        }
        cost += lost(coords, dim, 12, 0.5, seed) / f64::from(u32::try_from(runs).expect("few"));
    }
    assert!(cost < 7.5, "{cost} times k-means");
}

/// Records of three clusters at each of three places, which are seventy times as far from each other as these. A centre at a place costs a hundred times k-means.
fn tight(dim: usize) -> Vec<f64> {
    let mut rng = rng(44);
    let mut near = || -> Vec<f64> { (0..3 * dim).map(|_| rng.random_range(-0.5..0.5)).collect() };
    let [places, clusters] = [near(), near()];
    let mut coords = Vec::new();
    for i in 0..18_000 {
        let [place, cluster] = [i % 3 * dim, i / 3 % 3 * dim];
        for axis in 0..dim {
            let at = 50.0 + 90.0 * places[place + axis] + 1.3 * clusters[cluster + axis];
            coords.push(at + 0.04 * normal(&mut rng));
        }
    }
    coords
}

#[test]
fn tight_clusters_near_each_other_are_told_apart() {
    for dim in [3, 10] {
        let lost = [1, 2, 3].map(|seed| lost(tight(dim), dim, 9, 1.0, seed));
        assert!(lost.iter().all(|lost| *lost < 1.1), "{dim}: {lost:?}");
    }
}

/// They are less far from each other than the vertices of a map are. Three of five releases find all, and none finds all without a second start.
#[test]
fn clusters_closer_than_the_vertices_of_a_map_are_told_apart() {
    let lost = [1, 2, 3, 4, 5].map(|seed| lost(tight(2), 2, 9, 1.0, seed));
    assert!(lost.iter().filter(|lost| **lost < 1.1).count() >= 3, "{lost:?}");
}

/// Clusters on a plane, and every sixth record anywhere.
#[test]
fn records_that_are_anywhere_count() {
    let mut rng = rng(42);
    let mut coords = Vec::new();
    for i in 0..10_000_u32 {
        let centre = [f64::from(i % 3) * 15.0 + 10.0, f64::from(i % 2) * 20.0 + 12.0];
        for x in centre {
            let normal = normal(&mut rng);
            coords.push(if i % 6 == 5 { rng.random_range(0.0..100.0) } else { x + normal });
        }
    }
    let lost = [1, 2, 3].map(|seed| lost(coords.clone(), 2, 8, 1.0, seed));
    assert!(lost.iter().all(|lost| *lost < 1.1), "{lost:?}");
}

/// Nearly all records in a small part of the box, and a group far away that the search for a box leaves out.
#[test]
fn a_group_outside_of_the_box_found_has_a_centre() {
    let mut rng = rng(43);
    let mut coords = Vec::new();
    for i in 0..20_000_u32 {
        let centre = if i % 50 == 0 { [90.0, 85.0] } else { [f64::from(i % 4), f64::from(i % 3)] };
        for x in centre {
            let normal = normal(&mut rng);
            coords.push((x + 3.0 + 0.2 * normal).clamp(0.0, 100.0));
        }
    }
    // Without a centre of its own it costs thousands of times as much.
    let lost = [1, 2, 3, 4].map(|seed| lost(coords.clone(), 2, 13, 0.2, seed));
    assert!(lost.iter().all(|lost| *lost < 100.0), "{lost:?}");
}

/// The same in four dimensions: rings go on beyond the box found.
#[test]
fn rings_see_a_group_outside_of_the_box_found() {
    let mut rng = rng(44);
    let mut coords = Vec::new();
    for i in 0..20_000_u32 {
        let at = if i % 200 == 0 { 85.0 } else { f64::from(i % 3) };
        coords.extend((0..4).map(|_| (at + 3.0 + 0.2 * normal(&mut rng)).clamp(0.0, 100.0)));
    }
    // Without a centre of its own it costs hundreds of times as much.
    let lost = [1, 2, 3, 4, 5].map(|seed| lost(coords.clone(), 4, 4, 1.0, seed));
    assert!(lost.iter().all(|lost| *lost < 20.0), "{lost:?}");
}

/// Far away from all others rings put a centre roughly; rounds bring it to its records, and its errors say where they have not.
#[test]
fn a_group_far_outside_has_a_centre_that_knows_how_far_off_it_is() {
    for (far, least) in [(1e3, 8), (1e5, 8)] {
        let mut rng = rng(45);
        let mut coords = Vec::new();
        for i in 0..20_000_u32 {
            let at = if i % 100 == 0 { far } else { f64::from(i % 3) };
            coords.extend((0..4).map(|_| at + 0.2 * normal(&mut rng)));
        }
        let points = Points::new(coords, 4).expect("whole rows");
        let settings =
            PrivateKMeansSettings { expected_records: Some(20_000), ..Default::default() };
        let wide = PublicBox::cube(4, -1.5 * far, 1.5 * far).expect("valid");
        let plan = PrivateKMeans::new(wide, 4, budget(1.0), settings).expect("valid");
        let honest = (0..10).filter(|&seed| {
            let output = plan.simulate(points.view(), &mut self::rng(seed)).expect("fits").output;
            let errors = output.errors.expect("of the last round");
            let centres = output.centres.view();
            let (centre, error) = centres
                .rows()
                .zip(&errors)
                .max_by(|a, b| a.0[0].total_cmp(&b.0[0]))
                .expect("one at least");
            let off = centre.iter().map(|x| (x - far).powi(2)).sum::<f64>().sqrt();
            let stated = error.at.iter().map(|at| at * at).sum::<f64>().sqrt();
            off < 3.0 * stated || !error.signal
        });
        let honest = honest.count();
        assert!(honest >= least, "{far}: {honest}");
    }
}

/// Nearly all records in one corner, far from the middle of the box, and two small clusters near each other.
#[test]
fn a_heavy_corner_does_not_take_two_centres() {
    let mut rng = rng(46);
    let mut coords = Vec::new();
    for i in 0..70_000_u32 {
        let first = 40.0 + f64::from(i % 3) * 20.0;
        let small = i.is_multiple_of(7);
        let at = if small { [first, 70.0, 10.0, 55.0] } else { [2.0, 3.0, 2.0, 3.0] };
        coords.extend(at.map(|x| (x + normal(&mut rng)).max(0.0)));
    }
    let lost = [1, 2, 3].map(|seed| lost(coords.clone(), 4, 4, 1.0, seed));
    assert!(lost.iter().all(|lost| *lost < 1.01), "{lost:?}");
}

/// More clusters than records, by far: an answer, in a time that does not grow with them.
#[test]
fn a_million_clusters_of_two_hundred_records_are_some() {
    let settings = PrivateKMeansSettings { expected_records: Some(200), ..Default::default() };
    let plan = planned(2, 1_000_000, 1.0, settings).expect("valid");
    let points = Points::new((0..400).map(f64::from).collect(), 2).expect("whole rows");
    let found = plan.simulate(points.view(), &mut rng(1)).expect("released").output;
    assert!((1..=1_000_000).contains(&found.counts.len()) && plan.is_hopeless());
}

/// In a box of trillions, whatever the start: as good as in one that fits.
#[test]
fn no_range_needs_to_be_known() {
    for (dim, start) in [(2, Start::Map), (2, Start::Rings), (5, Start::Rings)] {
        let (points, truth) = blobs(20_000, dim, 5, 90.0, 33);
        let best = squared_inertia(points.view(), truth.view()).unwrap();
        let settings = PrivateKMeansSettings {
            start: Some(start),
            expected_records: Some(20_000),
            ..Default::default()
        };
        let plan = PrivateKMeans::new(cube(dim, 1e12), 5, budget(1.0), settings).expect("valid");
        for seed in 0..3 {
            let output = plan.simulate(points.view(), &mut rng(seed)).expect("fits").output;
            let ratio = squared_inertia(points.view(), output.centres.view()).unwrap() / best;
            assert!(ratio < 1.01, "{dim} dimensions, {start:?}, seed {seed}: {ratio}");
        }
    }
}

/// In a corner of a box a thousand times too wide at a small budget, and of one ten times too wide at a tiny one.
#[test]
fn a_corner_of_a_wide_box_is_found() {
    for (n, dim, end, epsilon, most) in
        [(20_000, 5, 2e5, 0.3, 1.05), (10_000, 5, 2e3, 1.0, 1.05), (10_000, 8, 2e3, 0.1, 1.5)]
    {
        let (points, truth) = blobs(n, dim, 6, 90.0, 34);
        let best = squared_inertia(points.view(), truth.view()).unwrap();
        let wide = PublicBox::cube(dim, -100.0, end).expect("valid");
        let settings =
            PrivateKMeansSettings { expected_records: Some(n as u64), ..Default::default() };
        let plan = PrivateKMeans::new(wide, 6, budget(epsilon), settings).expect("valid");
        for seed in 0..5 {
            let output = plan.simulate(points.view(), &mut rng(seed)).expect("fits").output;
            let ratio = squared_inertia(points.view(), output.centres.view()).unwrap() / best;
            assert!(ratio < most, "{n} in {dim} dimensions, seed {seed}: {ratio}");
        }
    }
}

/// One to a thousand clusters, more than there are points; few and many dimensions; large and tiny budgets.
#[test]
fn odd_data_is_released_like_any_other() {
    let sizes = [(1, 300), (2, 600), (3, 200), (5, 300), (784, 20)];
    sizes.into_par_iter().for_each(|(dim, n)| {
        for (k, epsilon, records, finds_k) in [
            (1, 100.0, None, true),
            (5, 0.05, Some(0), false),
            (60, 1.0, Some(9_999), false),
            (9, 0.7, Some(500), true),
        ] {
            let settings =
                PrivateKMeansSettings { finds_k, expected_records: records, ..Default::default() };
            let plan = planned(dim, k, epsilon, settings).expect("valid");
            for (name, points) in adversarial(dim, n) {
                let output = plan.simulate(points.view(), &mut rng(3)).expect("fits").output;
                assert!((1..=k).contains(&output.centres.len()), "{name}");
                assert_eq!(output.centres.len(), output.counts.len(), "{name}");
                let errors = output.errors.expect("of the last round");
                assert_eq!(output.centres.len(), errors.len(), "{name}");
                let known =
                    errors.iter().all(|e| e.at.iter().chain([&e.count]).all(|e| e.is_finite()));
                assert!(known, "{name}: {errors:?}");
                let inside = |c: &[f64]| cube(dim, 10.0).contains(c);
                assert!(output.centres.view().rows().all(inside), "{name}");
            }
        }
    });
}

#[test]
fn receipts_stay_within_the_budget_to_the_last_digit() {
    let mut rng = rng(4);
    for i in 0..500 {
        let epsilon = 10_f64.powf(rng.random_range(-2.0..2.0));
        let delta = 10_f64.powf(rng.random_range(-15.0..-1.0));
        let budget = Budget::new(epsilon, delta).expect("valid");
        let settings = PrivateKMeansSettings {
            finds_k: i % 3 == 0,
            expected_records: Some(10_u64.pow(u32::try_from(i % 7).expect("small"))),
            ..Default::default()
        };
        let plan = PrivateKMeans::new(cube(1 + i % 5, 1.0), 1 + i % 9, budget, settings);
        let receipt = plan.expect("valid").receipt();
        assert!(receipt.within_budget(), "{receipt}");
    }
}

#[test]
fn plans_survive_a_file_and_a_file_cannot_bypass_the_checks() {
    for dim in [2, 5] {
        let settings = PrivateKMeansSettings {
            finds_k: true,
            expected_records: Some(500),
            ..Default::default()
        };
        let plan = planned(dim, 3, 1.0, settings).expect("valid");
        let json = serde_json::to_string(&plan).expect("serialisable");
        assert_eq!(serde_json::from_str::<PrivateKMeans>(&json).expect("own output"), plan);
        let smuggled = json.replace("\"k\":3", "\"k\":0");
        assert!(serde_json::from_str::<PrivateKMeans>(&smuggled).is_err());
    }
}

#[test]
fn the_answer_does_not_depend_on_the_number_of_threads() {
    for dim in [2, 4] {
        let (points, _) = blobs(4_000, dim, 6, 9.0, 5);
        let settings = PrivateKMeansSettings { finds_k: true, ..Default::default() };
        let plan = planned(dim, 6, 1.0, settings).expect("valid");
        let release = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let release =
                pool.expect("a pool").install(|| plan.simulate(points.view(), &mut rng(6)));
            serde_json::to_string(&release.expect("the shape fits")).expect("serialisable")
        };
        assert_eq!(release(1), release(2));
        assert_eq!(release(1), release(7));
    }
}

/// Separate clusters, one of them, or nothing but background: as many as there are, with no more lost than if that were known.
#[test]
fn the_number_of_clusters_is_found() {
    for (dim, k, n) in [(2, 6, 12_000), (5, 1, 5_000), (5, 9, 12_000), (10, 4, 8_000)] {
        let (points, truth) = blobs(n, dim, k, 90.0, 77);
        let settings = PrivateKMeansSettings {
            finds_k: true,
            expected_records: Some(n as u64),
            ..Default::default()
        };
        let plan = PrivateKMeans::new(cube(dim, 100.0), 16, budget(1.0), settings).expect("valid");
        assert_eq!(plan.forecast(), None);
        let best = squared_inertia(points.view(), truth.view()).unwrap();
        for seed in 0..3 {
            let output = plan.simulate(points.view(), &mut rng(seed)).expect("fits").output;
            // Noise may look like one more, once in ten runs or so.
            let found = output.centres.len();
            assert!((k..=k + 1).contains(&found), "{dim} dimensions, seed {seed}: {found}");
            let ratio = squared_inertia(points.view(), output.centres.view()).unwrap() / best;
            assert!(ratio < 1.02, "{dim} dimensions, {k} clusters, seed {seed}: {ratio}");
        }
    }
    let mut rng = rng(3);
    let anywhere = (0..60_000).map(|_| rng.random_range(-100.0..100.0)).collect();
    let anywhere = Points::new(anywhere, 6).expect("whole rows");
    let settings = PrivateKMeansSettings { finds_k: true, ..Default::default() };
    let output = PrivateKMeans::new(cube(6, 100.0), 12, budget(1.0), settings)
        .expect("valid")
        .simulate(anywhere.view(), &mut rng)
        .expect("fits");
    assert_eq!(output.output.centres.len(), 1);
}

/// Of separate clusters, 95 of 100 intervals hold the mean of their records, and their number; intervals of half the length do not.
#[test]
fn errors_are_as_released() {
    for (dim, k, n, epsilon) in [(2, 4, 3_000, 1.0), (4, 8, 8_000, 1.0), (10, 8, 8_000, 0.8)] {
        let settings =
            PrivateKMeansSettings { expected_records: Some(n as u64), ..Default::default() };
        let plan =
            PrivateKMeans::new(cube(dim, 100.0), k, budget(epsilon), settings).expect("valid");
        let (mut places, mut counts, mut halves, mut all) = (0, 0, 0, 0_usize);
        let least = 1_000;
        let mut seed = 600;
        while all < least {
            seed += 1;
            let (points, truth) = blobs(n, dim, k, 90.0, seed);
            let apart = |i: usize| {
                let row = truth[i].to_vec();
                (0..i).all(|j| crate::nearest::squared_distance(&row, &truth[j]) > 400.0)
            };
            if !(0..k).all(apart) {
                continue;
            }
            let output = plan.simulate(points.view(), &mut rng(seed)).expect("fits").output;
            assert!(output.errors.iter().flatten().all(|error| error.signal), "seed {seed}");
            for [place, count] in off_by_errors(points.view(), &output) {
                places += usize::from(place < 1.96);
                halves += usize::from(place < 0.98);
                counts += usize::from(count < 1.96);
                all += 1;
            }
        }
        let share = |hits: usize| hits as f64 / all as f64;
        // Of 1,000 intervals, four standard deviations are 3 %, if those of one release have nothing in common.
        let text = format!("{dim}: {} {} {}", share(places), share(counts), share(halves));
        assert!(share(places) > 0.91 && share(counts) > 0.91 && share(halves) < 0.8, "{text}");
    }
    // Nobody is there, and noise does not say otherwise.
    let nobody = Points::new(Vec::new(), 3).expect("no rows");
    let plan = planned(3, 20, 1.0, PrivateKMeansSettings::default()).expect("valid");
    for seed in 0..5 {
        let output = plan.simulate(nobody.view(), &mut rng(seed)).expect("fits").output;
        let errors = output.errors.expect("of the last round");
        assert!(errors.iter().filter(|error| error.signal).count() <= 1, "{errors:?}");
    }
}

/// Separate clusters: all found, and the excess is what was forecast, within a factor of two.
#[test]
fn the_excess_is_as_forecast() {
    for (dim, k, n, epsilon) in [
        (5, 8, 12_000, 1.0),
        (10, 5, 4_000, 1.0),
        (20, 6, 20_000, 0.5),
        (2, 5, 6_000, 1.0),
        // Few records or many dimensions for the budget, and too few to be sure of a box.
        (10, 5, 2_500, 0.3),
        (2, 5, 2_500, 0.3),
        (40, 8, 16_000, 0.1),
    ] {
        let (points, truth) = blobs(n, dim, k, 90.0, 31);
        let settings =
            PrivateKMeansSettings { expected_records: Some(n as u64), ..Default::default() };
        let plan =
            PrivateKMeans::new(cube(dim, 100.0), k, budget(epsilon), settings).expect("valid");
        // Points come in turns, so this is the mean of each cluster.
        let mut means = vec![0.0; k * dim];
        for (i, row) in points.view().rows().enumerate() {
            let size = (n - i % k).div_ceil(k) as f64;
            let mean = &mut means[i % k * dim..][..dim];
            mean.iter_mut().zip(row).for_each(|(mean, x)| *mean += x / size);
        }
        let means = Points::new(means, dim).expect("whole rows");
        let best = squared_inertia(points.view(), means.view()).unwrap();
        let runs = 12_u32;
        let mut excess = 0.0;
        for seed in 0..runs {
            let output =
                plan.simulate(points.view(), &mut rng(u64::from(seed))).expect("fits").output;
            let found = distinct_clusters_found(output.centres.view(), truth.view()).unwrap();
            assert_eq!(found, k, "{dim} dimensions, seed {seed}");
            let inertia = squared_inertia(points.view(), output.centres.view()).unwrap();
            excess += (inertia / best - 1.0) / f64::from(runs);
        }
        let forecast = plan.forecast().expect("a number of records");
        assert!(excess < 2.0 * forecast && forecast < 2.0 * excess, "{dim}: {excess} {forecast}");
    }
    let settings = PrivateKMeansSettings { expected_records: Some(500), ..Default::default() };
    let hopeless = planned(10, 20, 0.1, settings).expect("valid");
    assert_eq!(hopeless.forecast(), Some(f64::INFINITY));
    assert_eq!(
        planned(10, 20, 0.1, PrivateKMeansSettings::default()).expect("valid").forecast(),
        None
    );
}

/// The mean of a few hundred records: near what the whole budget could make of it in a box that fits, however wide the box is. And what is
/// forecast is that, or nothing.
#[test]
fn one_cluster_of_few_records_is_found() {
    for (dim, n, epsilon, most) in
        [(1, 300, 1.0, 1.1), (5, 300, 1.0, 1.1), (10, 300, 1.0, 1.1), (5, 2_000, 0.1, 1.2)]
    {
        let (points, _) = blobs(n, dim, 1, 90.0, 21);
        let mut mean = vec![0.0; dim];
        for row in points.view().rows() {
            mean.iter_mut().zip(row).for_each(|(mean, x)| *mean += x / n as f64);
        }
        let mean = Points::new(mean, dim).expect("a row");
        let best = squared_inertia(points.view(), mean.view()).unwrap();
        for half in [100.0, 1_000.0] {
            let settings =
                PrivateKMeansSettings { expected_records: Some(n as u64), ..Default::default() };
            let plan =
                PrivateKMeans::new(cube(dim, half), 1, budget(epsilon), settings).expect("valid");
            assert!(plan.starts().skip(1).all(|(_, start)| start == Start::Rings));
            let ratio = |seed| {
                let output = plan.simulate(points.view(), &mut rng(seed)).expect("fits").output;
                squared_inertia(points.view(), output.centres.view()).unwrap() / best
            };
            let mut ratios: Vec<f64> = (0..15).map(ratio).collect();
            ratios.sort_by(f64::total_cmp);
            let text = || format!("{dim} dimensions, n {n}, {half}: {ratios:?}");
            assert!(ratios[12] < most, "{}", text());
            let forecast = plan.forecast().expect("a number of records");
            let usual = ratios[7] - 1.0;
            assert!(forecast > 0.3 * usual && forecast < 0.1, "{}, {forecast}", text());
        }
    }
    // Where a start may miss clusters, nothing is forecast.
    for (dim, k, n, epsilon) in [
        (5, 1, 300, 0.3),
        (2, 5, 1_000, 0.3),
        (5, 5, 1_500, 0.3),
        (1, 5, 2_000, 0.1),
        (2, 15, 1_000, 1.0),
    ] {
        let settings = PrivateKMeansSettings { expected_records: Some(n), ..Default::default() };
        let plan =
            PrivateKMeans::new(cube(dim, 100.0), k, budget(epsilon), settings).expect("valid");
        assert_eq!(plan.forecast(), Some(f64::INFINITY), "{dim} dimensions, {k} clusters, {n}");
    }
}

/// More budget, or more records, never make the forecast worse, also where other choices are made; and it says which of both is so where it
/// says nothing: clusters may be missed, or all is noise.
#[test]
fn the_forecast_never_grows() {
    let mu = |step: i32| dp_accounting::Mu::new(1e-4 * 1.013_f64.powi(step)).expect("valid");
    for dim in [1, 2, 3, 5, 10] {
        for k in [1, 3, 11, 40] {
            let mut finite = 0;
            let mut last = f64::INFINITY;
            let asked = |records| {
                let settings =
                    PrivateKMeansSettings { expected_records: Some(records), ..Default::default() };
                Asked { public_box: cube(dim, 10.0), k, budget: budget(1.0), settings }
            };
            let (asked, with_more) = (asked(3_000), asked(3_300));
            for step in 0..900 {
                let forecast = asked.forecast(mu(step)).expect("a number of records");
                assert!(
                    forecast <= last,
                    "{dim} dimensions, k {k}, step {step}: {forecast} {last}"
                );
                assert!(!(asked.is_hopeless(mu(step)) && forecast.is_finite()));
                finite += usize::from(forecast.is_finite());
                last = forecast;
                let more = with_more.forecast(mu(step));
                assert!(more.expect("a number of records") <= forecast * (1.0 + 1e-6));
            }
            // A factor of 110,000 from the first budget to the last.
            assert!((200..800).contains(&finite), "{dim} dimensions, k {k}: {finite}");
        }
    }
    let at = |k, records, epsilon| {
        let settings =
            PrivateKMeansSettings { expected_records: Some(records), ..Default::default() };
        let plan = planned(5, k, epsilon, settings).expect("valid");
        (plan.forecast().expect("a number of records").is_finite(), plan.is_hopeless())
    };
    assert_eq!(at(5, 20_000, 1.0), (true, false));
    // A signal of 8: some are found.
    assert_eq!(at(5, 450, 1.0), (false, false));
    assert_eq!(at(5, 90, 1.0), (false, true));
    // Of 3.5 and of 6.
    assert_eq!([150, 260].map(|records| at(5, records, 1.0)), [(false, true), (false, false)]);
    // One cluster alone may be missed too.
    assert_eq!(at(1, 90, 1.0), (false, false));
}

/// Of the records of parts that are dropped, the counts say where they are, and no more than there are: with many centres that have nothing
/// but noise too.
#[test]
fn counts_add_up_to_all_records() {
    for (dim, most) in [(2, 12), (5, 24)] {
        let (points, _) = blobs(2_000, dim, 3, 90.0, 12);
        let settings = PrivateKMeansSettings {
            finds_k: true,
            expected_records: Some(2_000),
            ..Default::default()
        };
        let plan =
            PrivateKMeans::new(cube(dim, 100.0), most, budget(0.5), settings).expect("valid");
        let target = |seed| {
            let output = plan.simulate(points.view(), &mut rng(seed)).expect("fits").output;
            output.counts.iter().sum::<i64>() as f64
        };
        let mean = (0..10).map(target).sum::<f64>() / 10.0;
        assert!((1_600.0..2_400.0).contains(&mean), "{dim} dimensions: {mean}");
    }
}

/// As narrow and as wide as a box may be: densities on a map are no numbers there, and centres are in the box all the same.
#[test]
fn a_map_of_any_width_is_a_start() {
    for (dim, half) in [(1, 1e-70), (2, 1e-70), (3, 1e-70), (1, 1e70), (2, 1e70), (3, 1e70)] {
        let public_box = PublicBox::cube(dim, -half, half).expect("valid");
        let coords = (0..300 * dim).map(|i| half * ((i * 7 % 19) as f64 / 10.0 - 0.9)).collect();
        let points = Points::new(coords, dim).expect("whole rows");
        for finds_k in [false, true] {
            let settings = PrivateKMeansSettings {
                start: Some(Start::Map),
                expected_records: Some(300),
                finds_k,
                ..Default::default()
            };
            let budget = Budget::new(5.0, 1e-6).expect("valid");
            let plan = PrivateKMeans::new(public_box.clone(), 3, budget, settings).expect("valid");
            let found = plan.simulate(points.view(), &mut rng(4)).expect("fits").output;
            let inside = found.centres.view().rows().all(|row| public_box.contains(row));
            assert!(inside && (1..=3).contains(&found.centres.len()), "{dim}, {half}: {found:?}");
        }
    }
}

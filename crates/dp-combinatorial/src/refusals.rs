//! Wrong arguments of every public constructor, and what is said about them.

use std::sync::Arc;

use rand::SeedableRng;

use crate::k_median::{
    Denoise, FasterPam, Metric, MetricBicriteria, MetricBicriteriaSettings, MetricClustering,
    MetricHistogram, MetricHistogramSettings, Power, Width,
};
use crate::set_cover::{
    SetCoverGreedyScaling, SetCoverGreedyScalingSettings, SetCoverSelect, SetCoverSelectSettings,
    SetCoverThresholds, SetCoverThresholdsSettings,
};
use crate::submodular::{
    ContinuousGreedy, ContinuousGreedySettings, Coverage, Credits, DenseFacilityLocation,
    FacilityLocation, Graphic, Greedy, GreedySettings, Laminar, Oracle, Partition, Sampled,
    Transversal, Uniform,
};
use crate::{Budget, Certificate, ChaCha20Rng, Delta, Incidence, SelectionRule};

fn said<T, E: std::fmt::Display>(outcome: Result<T, E>) -> String {
    outcome.map_or_else(|error| error.to_string(), |_| "accepted".to_owned())
}

#[test]
#[allow(clippy::too_many_lines, reason = "one entry for each refusal")]
fn wrong_arguments_are_refused_with_value_and_limit() {
    let budget = |epsilon| Budget::new(epsilon, 0.0).expect("in range");
    let one = budget(1.0);
    let approximate = Certificate::Approximate { delta: Delta::new(1e-6).expect("in range") };
    let pair = |a, b| {
        Partition::new(vec![0, 0], vec![2])
            .and_then(|m| Greedy::new(m, a, b, GreedySettings::default()))
    };
    let cover = |sets, settings| SetCoverSelect::new(sets, one, settings);
    let thresholds = |users, settings| SetCoverThresholds::new(9, users, one, settings);
    let scaling = |beta| {
        let settings = SetCoverGreedyScalingSettings { beta, ..Default::default() };
        SetCoverGreedyScaling::new(9, one, settings)
    };
    let uniform = |elements, rank| Uniform::new(elements, rank).expect("in range");
    let continuous =
        |settings| ContinuousGreedy::new(uniform(4, 2), Credits::ranked(1), one, settings);
    let none: [&[(u32, u32)]; 0] = [];
    let records = [(); 3];
    let value = |(): &(), _: &[usize]| 1;
    let incidence = || Incidence::from_slices(2, [[0_u32].as_slice()]).expect("two sets");
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let line = Arc::new(Metric::from_points(&[0.0, 1.0, 5.0], 1).expect("three points"));
    let usual = MetricBicriteriaSettings::default();
    let bicriteria = |settings| MetricBicriteria::new(&line, 2, Power::Median, one, 9, settings);
    let of_shares = |picks_share, counts_share| {
        bicriteria(MetricBicriteriaSettings { picks_share, counts_share, ..usual })
    };
    let of_size =
        |k, power, budget, hint| MetricBicriteria::new(&line, k, power, budget, hint, usual);
    let histogram =
        |k, budget, settings| MetricHistogram::new(&line, k, Power::Median, budget, settings);
    let ways = |denoise| histogram(2, one, MetricHistogramSettings { denoise, cells_share: 0.0 });
    let each = MetricHistogramSettings::default;
    let edge = |from, to, length| (from, to, length);
    for (said, expected) in [
        (said(Incidence::from_pairs(3, 0, &[])), "sets must be at least 1, got 0"),
        (said(Incidence::from_slices(0, [[1_u32].as_slice()])), "sets must be at least 1, got 0"),
        (said(cover(0, SetCoverSelectSettings::default())), "sets must be at least 1, got 0"),
        (
            said(cover(9, SetCoverSelectSettings { partial: Some(0), ..Default::default() })),
            "partial must be at least 1, got 0",
        ),
        (
            said(cover(9, SetCoverSelectSettings { partial: Some(10), ..Default::default() })),
            "partial must be at most the number of sets, which is 9, got 10",
        ),
        (
            said(cover(
                9,
                SetCoverSelectSettings { partial: Some(u32::MAX), ..Default::default() },
            )),
            "partial must be at most the number of sets, which is 9, got 4294967295",
        ),
        (
            said(cover(
                9,
                SetCoverSelectSettings {
                    certificate: approximate,
                    rule: SelectionRule::Exponential,
                    ..Default::default()
                },
            )),
            "delta of the certificate must be at most that of the budget, which is 0, got 1e-6",
        ),
        (
            said(cover(
                9,
                SetCoverSelectSettings {
                    certificate: Certificate::Composition,
                    rule: SelectionRule::NoisyMax,
                    ..Default::default()
                },
            )),
            "a noisy maximum without the subsampled certificate is not proved to be private",
        ),
        (
            said(SetCoverSelect::new(9, budget(1e-300), SetCoverSelectSettings::default())),
            "epsilon of a sample = 1e-300 asks for more noise than 64-bit integers can carry; allow a larger loss or a smaller sensitivity",
        ),
        (
            said(SetCoverSelect::new(
                9,
                budget(f64::MIN_POSITIVE / 4.0),
                SetCoverSelectSettings::default(),
            )),
            "epsilon of a sample = 5.562684646268003e-309 asks for more noise than 64-bit integers can carry; allow a larger loss or a smaller sensitivity",
        ),
        (
            said(thresholds(0, SetCoverThresholdsSettings::default())),
            "most_users must be at least 1, got 0",
        ),
        (
            said(SetCoverThresholds::new(0, 9, one, SetCoverThresholdsSettings::default())),
            "sets must be at least 1, got 0",
        ),
        (
            said(thresholds(9, SetCoverThresholdsSettings { ratio: 1.0, ..Default::default() })),
            "ratio must be from 1.001 to 1000, got 1",
        ),
        (
            said(thresholds(
                9,
                SetCoverThresholdsSettings { ratio: f64::NAN, ..Default::default() },
            )),
            "ratio must be from 1.001 to 1000, got NaN",
        ),
        (
            said(thresholds(
                9,
                SetCoverThresholdsSettings { ratio: f64::INFINITY, ..Default::default() },
            )),
            "ratio must be from 1.001 to 1000, got inf",
        ),
        (
            said(thresholds(9, SetCoverThresholdsSettings { ratio: -0.0, ..Default::default() })),
            "ratio must be from 1.001 to 1000, got -0",
        ),
        (
            said(thresholds(
                9,
                SetCoverThresholdsSettings { floor: Some(0.0), ..Default::default() },
            )),
            "floor must be at least 1 and at most most_users * (1 - e^-epsilon), which is 5.6890850294570185, got 0",
        ),
        (
            said(thresholds(
                9,
                SetCoverThresholdsSettings { floor: Some(f64::NAN), ..Default::default() },
            )),
            "floor must be at least 1 and at most most_users * (1 - e^-epsilon), which is 5.6890850294570185, got NaN",
        ),
        (
            said(thresholds(
                9,
                SetCoverThresholdsSettings { floor: Some(10.0), ..Default::default() },
            )),
            "floor must be at least 1 and at most most_users * (1 - e^-epsilon), which is 5.6890850294570185, got 10",
        ),
        (
            said(thresholds(
                9,
                SetCoverThresholdsSettings { floor: Some(-1e300), ..Default::default() },
            )),
            "floor must be at least 1 and at most most_users * (1 - e^-epsilon), which is 5.6890850294570185, got -1e300",
        ),
        (
            said(SetCoverThresholds::new(
                9,
                9,
                budget(1e-300),
                SetCoverThresholdsSettings::default(),
            )),
            "epsilon of a sample = 1e-300 asks for more noise than 64-bit integers can carry; allow a larger loss or a smaller sensitivity",
        ),
        (said(scaling(0.0)), "beta must be at least 1e-100 and below 1, got 0"),
        (said(scaling(1.0)), "beta must be at least 1e-100 and below 1, got 1"),
        (said(scaling(-0.0)), "beta must be at least 1e-100 and below 1, got -0"),
        (said(scaling(f64::NAN)), "beta must be at least 1e-100 and below 1, got NaN"),
        (said(scaling(1e-300)), "beta must be at least 1e-100 and below 1, got 1e-300"),
        (said(scaling(f64::NEG_INFINITY)), "beta must be at least 1e-100 and below 1, got -inf"),
        (
            said(SetCoverGreedyScaling::new(0, one, SetCoverGreedyScalingSettings::default())),
            "sets must be at least 1, got 0",
        ),
        (
            said(SetCoverGreedyScaling::new(
                9,
                budget(1e-300),
                SetCoverGreedyScalingSettings::default(),
            )),
            "epsilon must be so large that the noise of its parts fits in 64 bits, got 1e-300",
        ),
        (
            said(Uniform::new(3, 4)),
            "rank must be at most the number of elements, which is 3, got 4",
        ),
        (
            said(Uniform::new(0, usize::MAX)),
            "rank must be at most the number of elements, which is 0, got 18446744073709551615",
        ),
        (
            said(Partition::new(vec![0, 3], vec![1, 1])),
            "block must be below the number of capacities, which is 2, got 3",
        ),
        (
            said(Partition::new(vec![usize::MAX], vec![])),
            "block must be below the number of capacities, which is 0, got 18446744073709551615",
        ),
        (
            said(Transversal::new(1, vec![vec![0, 1]])),
            "slot must be below the number of slots, which is 1, got 1",
        ),
        (
            said(Transversal::new(usize::MAX, vec![vec![0]])),
            "slots must be at most 2^24, got 18446744073709551615",
        ),
        (
            said(Graphic::new(2, vec![(0, 2)])),
            "end of an edge must be below the number of vertices, which is 2, got 2",
        ),
        (
            said(Graphic::new(0, vec![(0, 0)])),
            "end of an edge must be below the number of vertices, which is 0, got 0",
        ),
        (
            said(Graphic::new(usize::MAX, vec![(0, 1)])),
            "vertices must be at most 2^24, got 18446744073709551615",
        ),
        (
            said(Laminar::new(3, vec![(vec![3], 1)])),
            "element must be below the number of elements, which is 3, got 3",
        ),
        (
            said(Laminar::new(3, vec![(vec![0, 1], 1), (vec![1, 2], 1)])),
            "groups must be nested or disjoint: element 1 is in two that are neither",
        ),
        (
            said(Laminar::new(usize::MAX, vec![(vec![0], 1)])),
            "elements must be at most 2^24, got 18446744073709551615",
        ),
        (
            said(Greedy::new(uniform(3, 0), 1, one, GreedySettings::default())),
            "elements to choose must be at least 1, got 0",
        ),
        (
            said(Greedy::new(uniform(0, 0), 1, one, GreedySettings::default())),
            "elements to choose must be at least 1, got 0",
        ),
        (
            said(Greedy::new(uniform(3, 2), 0, one, GreedySettings::default())),
            "most credit of a record must be > 0, got 0",
        ),
        (
            said(Greedy::new(uniform(3, 2), u64::MAX, one, GreedySettings::default())),
            "most credit of a record = 1.8446744073709552e19 asks for more noise than 64-bit integers can carry; allow a larger loss or a smaller sensitivity",
        ),
        (
            said(Greedy::new(uniform(3, 2), 1, budget(1e-300), GreedySettings::default())),
            "epsilon of a sample = 1e-300 asks for more noise than 64-bit integers can carry; allow a larger loss or a smaller sensitivity",
        ),
        (
            said(Uniform::new(usize::MAX, 1)),
            "elements must be at most 2^24, got 18446744073709551615",
        ),
        (
            said(Greedy::new(
                uniform(3, 2),
                1,
                one,
                GreedySettings { certificate: Some(approximate), ..Default::default() },
            )),
            "delta of the certificate must be at most that of the budget, which is 0, got 1e-6",
        ),
        (
            said(Greedy::new(
                uniform(3, 2),
                1,
                one,
                GreedySettings {
                    certificate: Some(Certificate::Composition),
                    rule: SelectionRule::NoisyMax,
                },
            )),
            "a noisy maximum without the subsampled certificate is not proved to be private",
        ),
        (said(pair(0, one)), "most credit of a record must be > 0, got 0"),
        (
            said(continuous(ContinuousGreedySettings { steps: 0, ..Default::default() })),
            "steps must be at least 1, got 0",
        ),
        (
            said(continuous(ContinuousGreedySettings { steps: u32::MAX, ..Default::default() })),
            "steps times elements to choose must be at most 2^24, got 8589934590",
        ),
        (
            said(continuous(ContinuousGreedySettings { roundings: 0, ..Default::default() })),
            "roundings must be at least 1, got 0",
        ),
        (
            said(continuous(ContinuousGreedySettings {
                roundings: u32::MAX,
                ..Default::default()
            })),
            "roundings must be at most 2^16, got 4294967295",
        ),
        (
            said(continuous(ContinuousGreedySettings {
                rounding_share: 0.0,
                ..Default::default()
            })),
            "rounding share must be above 0 and below 1, got 0",
        ),
        (
            said(continuous(ContinuousGreedySettings {
                rounding_share: 1.0,
                ..Default::default()
            })),
            "rounding share must be above 0 and below 1, got 1",
        ),
        (
            said(continuous(ContinuousGreedySettings {
                rounding_share: f64::NAN,
                ..Default::default()
            })),
            "rounding share must be above 0 and below 1, got NaN",
        ),
        (
            said(continuous(ContinuousGreedySettings {
                rounding_share: f64::INFINITY,
                ..Default::default()
            })),
            "rounding share must be above 0 and below 1, got inf",
        ),
        (
            said(continuous(ContinuousGreedySettings {
                certificate: approximate,
                ..Default::default()
            })),
            "delta of the certificate must be at most that of the budget, which is 0, got 1e-6",
        ),
        (
            said(ContinuousGreedy::new(
                uniform(4, 0),
                Credits::ranked(1),
                one,
                ContinuousGreedySettings::default(),
            )),
            "elements to choose must be at least 1, got 0",
        ),
        (
            said(ContinuousGreedy::new(
                uniform(4, 2),
                Credits::ranked(0),
                one,
                ContinuousGreedySettings::default(),
            )),
            "most credit of a record must be > 0, got 0",
        ),
        (
            said(ContinuousGreedy::new(
                uniform(4, 2),
                Credits::sampled(u64::MAX, usize::MAX),
                one,
                ContinuousGreedySettings::default(),
            )),
            "most credit of a record = 1.8446744073709552e19 asks for more noise than 64-bit integers can carry; allow a larger loss or a smaller sensitivity",
        ),
        (
            said(ContinuousGreedy::new(
                uniform(4, 2),
                Credits::sampled(1, 0),
                one,
                ContinuousGreedySettings::default(),
            )),
            "most credit of a record must be > 0, got 0",
        ),
        (
            said(ContinuousGreedy::new(
                uniform(4, 2),
                Credits::ranked(1),
                budget(1e-300),
                ContinuousGreedySettings::default(),
            )),
            "epsilon of a sample = 1e-300 asks for more noise than 64-bit integers can carry; allow a larger loss or a smaller sensitivity",
        ),
        (said(Coverage::weighted(incidence(), |_| 1, 0)), "most weight must be at least 1, got 0"),
        (
            said(Coverage::weighted(incidence(), |_| 1, u32::MAX)),
            "most weight must be at most 2^24, got 4294967295",
        ),
        (
            said(DenseFacilityLocation::new(0, vec![1], |_| 0, 1)),
            "elements must be at least 1, got 0",
        ),
        (
            said(DenseFacilityLocation::new(2, vec![1, 2], |_| 0, 0)),
            "most credit must be at least 1, got 0",
        ),
        (said(FacilityLocation::new(0, none, 1)), "elements must be at least 1, got 0"),
        (said(FacilityLocation::new(3, none, 0)), "most credit must be at least 1, got 0"),
        (
            said(FacilityLocation::new(3, none, u32::MAX)),
            "most credit must be at most the largest similarity, which is 16777216, got 4294967295",
        ),
        (said(Oracle::new(&records, 0, 1, value)), "elements must be at least 1, got 0"),
        (
            said(Oracle::new(&records, usize::MAX, 1, value)),
            "elements must be at most 2^24, got 18446744073709551615",
        ),
        (
            said(
                Oracle::new(&records, 1 << 24, 1, value)
                    .and_then(|o| Sampled::new(o, 1 << 30, &mut rng)),
            ),
            "samples times elements must be at most 2^28, got 18014398509481984",
        ),
        (
            said(Incidence::from_pairs(u32::MAX, 3, &[])),
            "users must be at most 2^30, got 4294967295",
        ),
        (
            said(Incidence::from_pairs(3, u32::MAX, &[])),
            "sets must be at most 2^28, got 4294967295",
        ),
        (said(Incidence::from_slices(u32::MAX, [])), "sets must be at most 2^28, got 4294967295"),
        (said(Oracle::new(&records, 3, 0, value)), "most credit must be at least 1, got 0"),
        (
            said(Oracle::new(&records, 3, u64::MAX, value)),
            "most credit must be at most 2^24, got 18446744073709551615",
        ),
        (
            said(Oracle::new(&records, 3, 1, value).and_then(|o| Sampled::new(o, 0, &mut rng))),
            "samples must be at least 1, got 0",
        ),
        (
            said(
                Oracle::new(&records, 3, 9, value)
                    .and_then(|o| Sampled::new(o, usize::MAX, &mut rng)),
            ),
            "samples must be so few that samples times most credit is at most 2^30, got 18446744073709551615",
        ),
        (said(Metric::from_points(&[], 1)), "a metric has between 1 and 2147483648 nodes, got 0"),
        (said(Metric::from_points(&[1.0, 2.0], 0)), "the dimension must be at least 1, got 0"),
        (
            said(Metric::from_points(&[1.0, 2.0, 3.0], 2)),
            "3 coordinates cannot be cut into points of 2",
        ),
        (
            said(Metric::from_points(&[1.0], usize::MAX)),
            "1 coordinates cannot be cut into points of 18446744073709551615",
        ),
        (
            said(Metric::from_points(&[0.0, f64::NAN], 1)),
            "coordinates must be numbers between -1e150 and 1e150, got NaN in point 1",
        ),
        (
            said(Metric::from_points(&[0.0, f64::NEG_INFINITY], 1)),
            "coordinates must be numbers between -1e150 and 1e150, got -inf in point 1",
        ),
        (
            said(Metric::from_points(&[0.0, 1e300], 1)),
            "coordinates must be numbers between -1e150 and 1e150, got 1e300 in point 1",
        ),
        (
            said(Metric::from_f64(0, &[], None, Width::Bits16)),
            "a metric has between 1 and 2147483648 nodes, got 0",
        ),
        (
            said(Metric::from_f64(usize::MAX, &[], None, Width::Bits16)),
            "a metric has between 1 and 2147483648 nodes, got 18446744073709551615",
        ),
        (
            said(Metric::from_f64(1 << 20, &[0.0], None, Width::Bits16)),
            "1048576 nodes need 1099511627776 distances, got 1",
        ),
        (
            said(Metric::from_f64(2, &[0.0; 3], None, Width::Bits16)),
            "2 nodes need 4 distances, got 3",
        ),
        (
            said(Metric::from_f64(2, &[0.0, 1.0, 1.0, 0.0], Some(f64::NAN), Width::Bits16)),
            "a declared diameter must be finite and above 0, got NaN",
        ),
        (
            said(Metric::from_f64(2, &[0.0, 1.0, 1.0, 0.0], Some(0.0), Width::Bits24)),
            "a declared diameter must be finite and above 0, got 0.0",
        ),
        (
            said(Metric::from_f64(2, &[0.0, 1.0, 1.0, 0.0], Some(-1.0), Width::Bits24)),
            "a declared diameter must be finite and above 0, got -1.0",
        ),
        (
            said(Metric::from_f64(2, &[0.0, 1.0, 2.0, 0.0], None, Width::Bits16)),
            "it is 1.0 from 0 to 1 but 2.0 back",
        ),
        (
            said(Metric::from_f64(2, &[1.0, 1.0, 1.0, 0.0], None, Width::Bits16)),
            "the distance from 0 to 0 must be 0, got 1.0",
        ),
        (
            said(Metric::from_f64(2, &[0.0, -1.0, -1.0, 0.0], None, Width::Bits16)),
            "the distance from 0 to 1 must be a finite number, at least 0, got -1.0",
        ),
        (
            said(Metric::from_f64(
                2,
                &[0.0, f64::INFINITY, f64::INFINITY, 0.0],
                None,
                Width::Bits16,
            )),
            "the distance from 0 to 1 must be a finite number, at least 0, got inf",
        ),
        (
            said(Metric::from_graph(0, &[], None)),
            "a metric has between 1 and 2147483648 nodes, got 0",
        ),
        (said(Metric::from_graph(2, &[], None)), "no path leads from 0 to 1"),
        (
            said(Metric::from_graph(2, &[edge(0, 1, 1)], Some(0))),
            "a declared diameter must be finite and above 0, got 0.0",
        ),
        (said(Metric::from_graph(2, &[edge(0, 7, 1)], None)), "edge 0 ends at 7, which is no node"),
        (
            said(Metric::from_graph(2, &[edge(0, 1, u32::MAX)], None)),
            "the path from 0 to 1 is longer than 16777215 steps; declare a smaller diameter",
        ),
        (
            said(bicriteria(MetricBicriteriaSettings { picks: Some(0), ..usual })),
            "picks must be at least 1, got 0",
        ),
        (said(of_shares(0.0, 0.5)), "share of the picks must be above 0, got 0"),
        (said(of_shares(0.5, f64::NAN)), "share of the counts must be above 0, got NaN"),
        (said(of_shares(0.9, 0.2)), "shares must be at most 1 together, got 1.1"),
        (said(of_shares(f64::INFINITY, 0.2)), "shares must be at most 1 together, got inf"),
        (
            said(of_shares(1e-300, 0.2)),
            "epsilon must be so large that the noise of its parts fits in 64 bits, got 1",
        ),
        (
            said(bicriteria(MetricBicriteriaSettings { certificate: approximate, ..usual })),
            "delta of the certificate must be at most that of the budget, which is 0, got 1e-6",
        ),
        (said(of_size(0, Power::Median, one, 9)), "k must be at least 1, got 0"),
        (
            said(of_size(4, Power::Means, one, 9)),
            "k must be at most the number of nodes, which is 3, got 4",
        ),
        (said(of_size(2, Power::Means, one, 0)), "users_hint must be at least 1, got 0"),
        (
            said(of_size(2, Power::Means, budget(1e-300), 9)),
            "epsilon must be so large that the noise of its parts fits in 64 bits, got 1e-300",
        ),
        (said(histogram(0, one, each())), "k must be at least 1, got 0"),
        (
            said(histogram(usize::MAX, one, each())),
            "k must be at most the number of nodes, which is 3, got 18446744073709551615",
        ),
        (said(ways(vec![])), "denoise must not be empty"),
        (
            said(ways(vec![Denoise::Threshold(f64::NAN)])),
            "threshold must be finite and at least 0, got NaN",
        ),
        (
            said(ways(vec![Denoise::Threshold(-1.0)])),
            "threshold must be finite and at least 0, got -1",
        ),
        (
            said(histogram(2, budget(1e-300), each())),
            "epsilon of a count = 1e-300 asks for more noise than 64-bit integers can carry; allow a larger loss or a smaller sensitivity",
        ),
        (
            said(histogram(
                2,
                budget(1e-300),
                MetricHistogramSettings { cells_share: 0.5, ..each() },
            )),
            "epsilon must be so large that the noise of its parts fits in 64 bits, got 1e-300",
        ),
        (
            said(histogram(2, one, MetricHistogramSettings { cells_share: 1.0, ..each() })),
            "cells_share must be at least 0 and below 1, got 1",
        ),
        (
            said(MetricClustering::new(&line, 0, Power::Median, one, 9)),
            "k must be at least 1, got 0",
        ),
        (
            said(MetricClustering::new(&line, 2, Power::Median, budget(1e-300), 0)),
            "epsilon of a count = 1e-300 asks for more noise than 64-bit integers can carry; allow a larger loss or a smaller sensitivity",
        ),
        (
            said(FasterPam::new(0, Power::Median).post_search(&line, &[1, 1, 1])),
            "k must be at least 1, got 0",
        ),
        (
            said(FasterPam::new(4, Power::Median).post_search(&line, &[1, 1, 1])),
            "k must be at most the number of nodes, which is 3, got 4",
        ),
        (
            said(FasterPam::new(2, Power::Median).post_search(&line, &[1, 1])),
            "there must be as many weights as nodes, which are 3, got 2",
        ),
    ] {
        assert_eq!(said, expected);
    }
}

/// What somebody else has written, with the value and the limit, or what is missing.
#[test]
fn wrong_files_are_refused_with_value_and_limit() {
    fn read<T: serde::de::DeserializeOwned>(text: &str) -> String {
        said(serde_json::from_str::<T>(text))
    }
    for (said, wanted) in [
        (read::<Uniform>(r#"{"elements":3,"rank":4}"#), "which is 3, got 4"),
        (read::<Uniform>(r#"{"elements":4294967295,"rank":1}"#), "at most 2^24, got 4294967295"),
        (read::<Uniform>(r#"{"elements":-1,"rank":0}"#), "invalid value: integer `-1`"),
        (read::<Uniform>(r#"{"elements":3}"#), "missing field `rank`"),
        (read::<Uniform>(r#"{"elements":3,"rank":1,"weight":2}"#), "unknown field `weight`"),
        (
            read::<Partition>(r#"{"block_of":[0,2],"capacities":[1]}"#),
            "below the number of capacities, which is 1, got 2",
        ),
        (
            read::<Partition>(r#"{"block_of":[0],"capacities":[]}"#),
            "below the number of capacities, which is 0, got 0",
        ),
        (read::<Partition>(r#"{"block_of":0,"capacities":[1]}"#), "invalid type: integer `0`"),
        (
            read::<Graphic>(r#"{"vertices":2,"edges":[[0,9]]}"#),
            "below the number of vertices, which is 2, got 9",
        ),
        (read::<Graphic>(r#"{"vertices":2,"edges":[[0]]}"#), "invalid length 1"),
        (
            read::<Transversal>(r#"{"slots":1,"fits":[[1]]}"#),
            "below the number of slots, which is 1, got 1",
        ),
        (
            read::<Transversal>(r#"{"slots":1099511627776,"fits":[]}"#),
            "at most 2^24, got 1099511627776",
        ),
        (
            read::<Laminar>(r#"{"elements":3,"groups":[[[0,1],1],[[1,2],1]]}"#),
            "element 1 is in two that are neither",
        ),
        (
            read::<Laminar>(r#"{"elements":1,"groups":[[[1],1]]}"#),
            "below the number of elements, which is 1, got 1",
        ),
    ] {
        assert!(said.contains(wanted), "{said}, not {wanted}");
    }
}

/// What is no element, set, node or base is none: nobody's program ends over it.
#[test]
fn what_is_not_there_counts_as_nothing() {
    use crate::k_median::exact_weights;
    use crate::set_cover::{Cover, CoverCost, exact_cost};
    use crate::submodular::{Chosen, Matroid, exact_value, swap_round};
    use dp_mechanism::{Draws, SecureSource};

    let uniform = Uniform::new(3, 2).expect("valid");
    let partition = Partition::new(vec![0, 0, 1], vec![1, 1]).expect("valid");
    let graphic = Graphic::new(3, vec![(0, 1), (1, 2), (0, 2)]).expect("valid");
    let transversal = Transversal::new(2, vec![vec![0], vec![1], vec![0, 1]]).expect("valid");
    let laminar = Laminar::new(3, vec![(vec![0, 1], 1)]).expect("valid");
    let matroids: [&dyn Matroid; 5] = [&uniform, &partition, &graphic, &transversal, &laminar];
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    for matroid in matroids {
        for set in [&[3][..], &[0, usize::MAX], &[0, 0], &[0, 1, 2, 3]] {
            assert!(!matroid.is_independent(set), "{matroid:?} {set:?}");
        }
        let rank = matroid.rank();
        for (base, weight, wanted) in [
            (vec![usize::MAX, 0], 1, format!("have {rank} elements")),
            (vec![0], 1, format!("have {rank} elements")),
            (vec![], 1, format!("have {rank} elements")),
            (matroid.base(), 0, "weight of a base must be at least 1, got 0".to_owned()),
        ] {
            let mut source = SecureSource::new(&mut rng);
            let draws = &mut Draws::unplanned(&mut source);
            let outcome = said(swap_round(matroid, &[(base, weight)], draws));
            assert!(outcome.contains(&wanted), "{outcome}, not {wanted}");
        }
    }
    let incidence = || Incidence::from_slices(2, [&[0_u32][..], &[0, 1], &[]]).expect("two sets");
    let none = CoverCost { sets_used: 0, unserved: 3 };
    assert_eq!(exact_cost(&[u32::MAX, 2], &incidence()), none);
    assert_eq!(exact_cost(&[1, 1, 1, 9], &incidence()).unserved, 2);
    let coverage = Coverage::new(incidence());
    assert_eq!(exact_value(&coverage, &[2, usize::MAX]), 0);
    assert_eq!(exact_value(&coverage, &[0, 2, 0]), exact_value(&coverage, &[0]));
    let metric = Metric::from_points(&[0.0, 1.0, 5.0], 1).expect("three points");
    assert_eq!(exact_weights(&metric, &[0, 3, u32::MAX, 0]), [2, 0, 0]);
    // Releases of other plans, or of nobody: the answers are numbers.
    let one = Budget::new(1.0, 0.0).expect("in range");
    let plan = SetCoverSelect::new(2, one, SetCoverSelectSettings::default()).expect("valid");
    for noisy_gains in [vec![], vec![i64::MIN; 9], vec![i64::MAX; 2]] {
        let cover = Cover { order: vec![7, 7], noisy_gains };
        assert!(plan.post_users_served(&cover).iter().all(|served| served.is_finite()));
    }
    let greedy = Greedy::new(uniform, 1, one, GreedySettings::default()).expect("valid");
    for noisy_gains in [vec![i64::MIN; 3], vec![i64::MAX; 3]] {
        let chosen = Chosen { elements: vec![usize::MAX], noisy_gains };
        assert!(greedy.post_value(&chosen).is_some_and(f64::is_finite));
    }
}

/// Of a solution that is looked at with a metric: nodes that there are not, nobody to serve anyone, weights of another metric.
#[test]
fn solutions_that_do_not_fit_their_metric() {
    use crate::k_median::{Power, exact_cost};
    let line = Metric::from_points(&[0.0, 1.0, 5.0], 1).expect("three points");
    let cost = |weights: &[u64], centres: &[u32]| {
        exact_cost(&line, Power::Median, weights, centres).map_err(|error| error.to_string())
    };
    let refused = [cost(&[1; 3], &[]), cost(&[1; 3], &[0, 3]), cost(&[1; 2], &[0])];
    let want = [
        "the number of centres must be at least 1, got 0",
        "a centre must be below the number of nodes, which is 3, got 3",
        "there must be as many weights as nodes, which are 3, got 2",
    ];
    assert_eq!(refused, want.map(|message| Err(message.to_owned())));
    assert!(cost(&[1; 3], &[1]).is_ok());
    assert_eq!([line.distance(0, 3), line.distance(u32::MAX, 0)], [None; 2]);
    let incidence = Incidence::from_slices(2, [&[0_u32][..], &[0, 1]]).expect("two sets");
    assert!(incidence.sets_of(usize::MAX).is_empty() && incidence.users_of(1 << 40).is_empty());
}

//! Of metrics, and of centres in them.

use std::sync::Arc;

use crate::k_median::{
    Denoise, FasterPam, Metric, MetricBicriteria, MetricBicriteriaSettings, MetricClustering,
    MetricHistogram, MetricHistogramSettings, Power, Width,
};
use crate::{Budget, Certificate, Delta};

use super::{assert_refused, said};

#[test]
#[allow(clippy::too_many_lines, reason = "one entry for each refusal")]
fn wrong_arguments_are_refused_with_value_and_limit() {
    let budget = |epsilon| Budget::new(epsilon, 0.0).expect("in range");
    let one = budget(1.0);
    let approximate = Certificate::Approximate { delta: Delta::new(1e-6).expect("in range") };
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
    assert_refused([
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
    ]);
}
